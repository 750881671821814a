#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel that pip makes of bindings/python, over an installed libhac."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, SOURCE, main  # noqa: E402
from python_package import ORACLES, PackageTest, library  # noqa: E402

PROGRAM = """
import hac, numpy
a = numpy.random.default_rng(0).integers(0, 1 << 32, 100000, "uint32")
print(hac.__file__, bool((hac.sort(a) == numpy.sort(a)).all()), hac.query({"x": a}, select="count() as n").to_numpy()["n"][0])
"""


@unittest.skipIf(library("scikit_build_core") is None, "scikit-build-core is not installed (`./dev test` puts it into build/python)")
class Wheel(PackageTest):
    def test_pip_install(self):
        prefix, target = self.m.path("prefix"), self.m.path("target")
        for component in ("libhac", "libhac-dev"):
            subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix, "--component", component],
                           stdout=subprocess.DEVNULL, check=True)
        made = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index",
                               "--disable-pip-version-check", "--root-user-action", "ignore", "--target", target,
                               SOURCE / "bindings" / "python"], capture_output=True, text=True, check=False,
                              env={**os.environ, "CMAKE_PREFIX_PATH": prefix, "PYTHONPATH": str(ORACLES)})
        self.assertEqual(made.returncode, 0, made.stdout[-3000:] + made.stderr[-3000:])
        names = {path.name for path in Path(target, "hac").iterdir()}
        self.assertTrue({"__init__.py", "_hac.abi3.so", "_hac.pyi", "py.typed"} <= names, names)
        tag = next(Path(target).glob("hac-*.dist-info/WHEEL")).read_text()
        self.assertIn("Tag: cp311-abi3-", tag)
        out = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, text=True, check=True,
                             env={**self.m.environment, "PYTHONPATH": f"{target}:{ORACLES}"}).stdout
        self.assertEqual(out.split(), [str(Path(target, "hac", "__init__.py")), "True", "100000"])


if __name__ == "__main__":
    main()
