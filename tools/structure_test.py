# SPDX-License-Identifier: Apache-2.0
"""tools/structure.py finds what it is for: each rule is broken once in a small tree, and once it is not."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools"))
import structure  # noqa: E402

PAGE = """# Architecture
```layers
base:
low: base
high: low, base, libuv
```
```order
high/src: first < second, third < .
```
"""
FILES = {
    "base/include/base/limits.h": "#define HAC_TEXT_BYTES_MAX 30720 /* of an expression */\n",
    "base/include/hac/query.h": "typedef enum hac_format { HAC_INPUT_NONE = 0, HAC_INPUT_CSV = 2 } hac_format;\n",
    "low/include/low/low.h": "int hac_low(void);\n",
    "low/src/low.c": '#include "low/low.h"\nint hac_low(void) { return 1; }\n',
    "low/src/private.h": "",
    "high/src/first/first.h": "int hac_first(void);\n",
    "high/src/first/first.c": '#include "first.h"\n#include "low/low.h"\nint hac_first(void) { return hac_low(); }\n',
    "high/src/second/second.h": "int hac_second(void);\n",
    "high/src/second/second.c": '#include "second.h"\n#include "first/first.h"\nint hac_second(void) { return hac_first(); }\n',
    "high/src/third/third.c": "int hac_third(void);\nint hac_third(void) { return 3; }\n",
    "high/src/main.c": '#include <uv.h>\n#include "second/second.h"\nint main(void) { return hac_second(); }\n',
}


class Structure(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.files = dict(FILES)

    def tree(self):
        for name, text in {**self.files, "ARCHITECTURE.md": PAGE}.items():
            path = pathlib.Path(self.folder.name, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return structure.Tree(self.folder.name, sorted(self.files))

    def calls(self, tree):
        commands = []
        for name in (n for n in self.files if n.endswith(".c")):
            module = name.split("/", maxsplit=1)[0]
            out = pathlib.Path(self.folder.name, "build", module, "CMakeFiles", module + ".dir", os.path.relpath(name, module) + ".o")
            out.parent.mkdir(parents=True, exist_ok=True)
            commands.append({"command": f"cc -o {os.path.relpath(out, pathlib.Path(self.folder.name, 'build'))} -c"})
            subprocess.run(["cc", "-c", "-D_UV", "-I", "low/include", "-I", "high/src", "-I", "uv", "-o", out, name],
                           cwd=self.folder.name, check=True)
        pathlib.Path(self.folder.name, "build/compile_commands.json").write_text(json.dumps(commands))
        return structure.calls_between_files(tree, "build")

    def one(self, problems, *parts):
        self.assertEqual(len(problems), 1, problems)
        for part in parts:
            self.assertIn(part, problems[0])

    def checks(self):
        pathlib.Path(self.folder.name, "uv").mkdir()
        pathlib.Path(self.folder.name, "uv/uv.h").write_text("")
        tree = self.tree()
        calls = self.calls(tree)
        return {"layers": structure.check_layers(tree), "order": structure.check_order(tree, calls),
                "circles": structure.check_circles(calls), "once": structure.check_once(tree), "flat": structure.check_flat(tree)}

    def test_a_tree_without_faults(self):
        self.assertEqual({k: v for k, v in self.checks().items() if v}, {})

    def test_an_include_of_a_module_above(self):
        self.files["low/src/low.c"] = '#include "low/low.h"\n#include "first/first.h"\nint hac_low(void) { return 1; }\n'
        self.one(structure.check_layers(self.tree()), "low/src/low.c:2: layers: low may not use high")

    def test_a_private_header_of_another_module(self):
        self.files["high/src/first/first.c"] += '#include "private.h"\n'
        self.one(structure.check_layers(self.tree()), "high/src/first/first.c:4: layers: private.h is private to low")

    def test_a_library_that_is_not_the_modules(self):
        self.files["low/src/low.c"] += "#include <uv.h>\n"
        self.one(structure.check_layers(self.tree()), "low/src/low.c:3: layers: low may not include <uv.h>")

    def test_a_header_that_is_not_there(self):
        self.files["low/src/low.c"] += '#include "nothing.h"\n'
        self.one(structure.check_layers(self.tree()), "low/src/low.c:3: layers: no file is called nothing.h")

    def test_an_include_against_the_order(self):
        self.files["high/src/first/first.c"] += '#include "second/second.h"\n'
        self.one(self.checks()["order"], "high/src/first/first.c:4: order: first may not use second/second.h",
                 "first < second,third < .")

    def test_folders_side_by_side(self):
        self.files["high/src/third/third.c"] += '#include "second/second.h"\n'
        self.one(self.checks()["order"], "third may not use second/second.h")

    def test_a_call_against_the_order(self):
        """Without an include: only the object file tells."""
        self.files["high/src/first/first.c"] = "int hac_third(void);\nint hac_first(void) { return hac_third(); }\n"
        self.one(self.checks()["order"], "high/src/first/first.c: order: first may not use third/third.c (hac_third)")

    def test_a_folder_that_the_order_lacks(self):
        self.files["high/src/fourth/fourth.c"] = '#include "first/first.h"\nint hac_4(void);\nint hac_4(void) { return hac_first(); }\n'
        self.one(self.checks()["order"], "high/src/fourth: order: this folder is missing")

    def test_files_that_call_each_other(self):
        self.files["low/src/low.c"] = '#include "low/low.h"\nint hac_low2(void);\nint hac_low(void) { return hac_low2(); }\n'
        self.files["low/src/low2.c"] = '#include "low/low.h"\nint hac_low2(void);\nint hac_low2(void) { return hac_low(); }\n'
        self.one(self.checks()["circles"], "low/src/low.c: circles: 2 files call each other",
                 "low/src/low.c -> low2.c (hac_low2); low/src/low2.c -> low.c (hac_low)")

    @unittest.skipUnless(shutil.which("ctags"), "ctags is not installed")
    def test_a_type_that_two_files_define(self):
        self.files["low/src/a.c"] = "struct reader { int a; };\n"
        self.files["high/src/first/first.c"] += "typedef struct { int b; } reader;\n"
        self.one(structure.check_once(self.tree()), "low/src/a.c:1: once: type reader is defined in high/src/first/first.c:4")

    def test_a_number_of_an_enum(self):
        self.files["low/src/low.c"] += "#define FORMAT_CSV 2\n"
        self.one(structure.check_once(self.tree()), "low/src/low.c:3: once: FORMAT_CSV 2 is HAC_INPUT_CSV (base/include/hac/query.h)")

    def test_a_limit_said_again(self):
        self.files["low/src/low.c"] += "#define EXPRESSION_TEXT_MAX (30u * 1024)\n"
        self.one(structure.check_once(self.tree()), "once: EXPRESSION_TEXT_MAX 30720 is HAC_TEXT_BYTES_MAX")

    def test_a_full_folder(self):
        for i in range(26):
            self.files[f"high/src/first/f{i}.c"] = ""
        self.one(structure.check_flat(self.tree()), "high/src/first: flat: 27 files in one folder")


if __name__ == "__main__":
    unittest.main()
