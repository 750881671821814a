#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The notebook of docs/examples: each cell is run in a kernel, in a copy of its folder, and gives what the file says. `--write`
renews the outputs. Plans in tables of results have times and are not compared, nor are progress bars."""
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SOURCE, main  # noqa: E402
from python_package import PackageTest, needs  # noqa: E402

NOTEBOOK = SOURCE / "docs" / "examples" / "hac.ipynb"
CELLS_MIN = 20


def kept(output):
    """The part of an output that is the same in each run, as the file has it. None: nothing."""
    kind = output["output_type"]
    if kind == "stream":
        return {"name": output["name"], "output_type": kind, "text": output["text"]} if output["name"] == "stdout" else None
    if kind not in ("execute_result", "display_data"):
        return {"output_type": kind, "text": "\n".join(output.get("traceback", ()))}
    data = {name: re.sub(r"<details>.*?</details>", "", text, flags=re.S) for name, text in output["data"].items()
            if name in ("text/plain", "text/html")}
    return {"data": data, "metadata": {}, "output_type": kind,
            **({"execution_count": output["execution_count"]} if kind == "execute_result" else {})}


class Notebook(PackageTest):
    @needs("nbclient", "ipykernel", "numpy", "pyarrow", "polars", "duckdb")
    def test_cells(self):
        import nbclient
        import nbformat
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        stored = [[dict(output) for output in cell.get("outputs", ())] for cell in notebook.cells]
        folder = self.m.path("examples")
        os.environ["JUPYTER_RUNTIME_DIR"] = self.m.path("jupyter")
        shutil.copytree(NOTEBOOK.parent, folder)
        client = nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": folder}},
                                         allow_errors=True)
        client.execute(env={**self.environment(), "IPYTHONDIR": self.m.path("ipython")})
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.assertGreaterEqual(len(code), CELLS_MIN)
        for cell in code:
            cell.outputs = [nbformat.from_dict(output) for output in map(kept, cell.outputs) if output is not None]
            cell.metadata.clear()  # times
        if WRITE:
            notebook.metadata["language_info"] = {"name": "python"}  # not the version of this interpreter
            nbformat.write(notebook, NOTEBOOK)
            return
        for cell, outputs in zip(notebook.cells, stored):
            with self.subTest(cell=cell.source):
                self.assertEqual([dict(output) for output in cell.get("outputs", ())], outputs)


WRITE = "--write" in sys.argv

if __name__ == "__main__":
    sys.argv = [word for word in sys.argv if word != "--write"]
    main()
