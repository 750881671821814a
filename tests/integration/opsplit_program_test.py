#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that runs logic files on its own vectors (libhac-opsplit): opsplit_program.c. The example is in
opsplit_test.py."""
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, ONE_DEVICE, Machine, main  # noqa: E402

HERE = Path(__file__).resolve().parent


class Program(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.m = Machine(ONE_DEVICE)
        cls.addClassCleanup(cls.m.close)

    def run_it(self, program, *arguments):
        result = subprocess.run([program, *map(str, arguments)], env=self.m.environment, capture_output=True, text=True,
                                timeout=100, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_every_template(self):
        for rows in (1, 4, 70, 5000):
            folder = self.m.path(f"out{rows}")
            self.run_it(BUILD / "tests" / "opsplit_program", HERE / "opsplit_program.yaml", rows, folder)
            lines = Path(folder, "y.csv").read_text(encoding="utf-8").splitlines()
            self.assertEqual((lines[0], len(lines)), ("y", rows + 1))

    def test_what_is_refused(self):
        self.run_it(BUILD / "tests" / "opsplit_program", HERE / "opsplit_program.yaml", "wrong")


if __name__ == "__main__":
    main()
