#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""man3_test.py: every exported function has a manual page, no page lacks a sentence, none confuses groff, and what a
header says is on its page."""
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTS = ("client-lib/libhac.symbols", "opsplit/libhac-opsplit.symbols", "mpi/libhac-mpi.symbols")
HEADERS = sorted(path for folder in ("client-lib", "base", "opsplit") for path in (ROOT / folder / "include" / "hac").glob("*.h"))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.pages = {}
        for library, headers in (("libhac", HEADERS), ("libhac-mpi", [ROOT / "mpi/include/hac/mpi.h"])):
            folder = Path(cls.temporary.name, library)
            subprocess.run([ROOT / "tools/man3", folder, "1.2.3", *headers, "--known", *HEADERS], check=True)
            for path in folder.iterdir():
                assert path.stem not in cls.pages, path
                cls.pages[path.stem] = path.read_text(encoding="ascii")

    def test_every_function(self):
        for name in (line.split()[0] for part in LISTS for line in (ROOT / part).read_text().splitlines()):
            page = self.pages[name]
            if page.startswith(".so"):
                page = self.pages[re.fullmatch(r"\.so man3/(\w+)\.3\n", page)[1]]
            self.assertRegex(page.split(".SH SYNOPSIS")[0], rf"\b{name}\b")
            self.assertRegex(page, rf"\b{name}\(", name)

    def test_references(self):
        for name, page in self.pages.items():
            for other in re.findall(r"^\.(?:BR (\w[\w.]*) \(3\)|so man3/(.*)\.3$)", page, re.M):
                self.assertIn(other[0] or other[1], self.pages, name)

    def test_one_line_each(self):
        for name, page in self.pages.items():
            if not page.startswith(".so"):
                about = re.search(r"\.SH NAME\n.* \\- (.*)\n", page)[1]
                self.assertTrue(about and not about.startswith("see "), f"{name}: its declaration has no comment")

    def test_values(self):
        page = self.pages["hac_client_connect"]
        self.assertIn("hac_client_connect, hac_client_free \\- Connects to a daemon\n", page)
        self.assertIn(".TP\n.B HAC_NO_DAEMON\nthere is no daemon, the daemon has another protocol version", page)
        self.assertIn("hac_status hac_client_connect(const hac_connect_options *options,\n    hac_client **ret_client, hac_error *err);", page)
        self.assertNotIn("HAC_MUST_USE", page)
        self.assertEqual(self.pages["hac_client_free"], ".so man3/hac_client_connect.3\n")

    def test_layout(self):
        page = self.made("/* Text with `code`. HAC_OK: done. HAC_INVALID, HAC_IO: not.\n *\n *     .literal \\n\n *\n * - one\n *   item\n */")
        self.assertIn(".RS 4\n.EX\n\\&.literal \\en\n.EE\n.RE\n.IP \\(bu 2\none item\n", page)
        self.assertIn("Text with code.\n", page)
        self.assertIn(".TP\n.B HAC_OK\ndone.\n.TP\n.B HAC_INVALID, HAC_IO\nnot.\n", page)

    def made(self, comment):
        header = Path(self.temporary.name, "some.h")
        header.write_text(f"/* SPDX */\n/*\n * The top. */\n\n{comment}\nHAC_API int hac_some(int a);\n")
        folder = Path(self.temporary.name, "made")
        subprocess.run([ROOT / "tools/man3", folder, "1", header], check=True)
        return (folder / "hac_some.3").read_text()

    @unittest.skipUnless(shutil.which("groff"), "no groff: NOT TESTED")
    def test_groff(self):
        for folder in ("libhac", "libhac-mpi"):
            files = [path for path in Path(self.temporary.name, folder).iterdir() if not path.read_text().startswith(".so")]
            out = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", *files], capture_output=True, text=True, check=True)
            self.assertEqual(out.stdout + out.stderr, "")


if __name__ == "__main__":
    unittest.main(verbosity=2)
