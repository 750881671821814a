#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the programs are linked with: hacd without OpenCL, libhac with the C library and protobuf-c only."""
import re
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, HACCTL, LIBEXEC, main  # noqa: E402


def needed(path):
    out = subprocess.run(["readelf", "-d", path], capture_output=True, check=True, text=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.+?)\]", out))


class Linkage(unittest.TestCase):
    def test_hacd(self):
        libraries = needed(LIBEXEC / "hacd")
        self.assertTrue(libraries)
        for library in libraries:
            self.assertNotRegex(library, "(?i)opencl|pocl|mesa|cuda")
        symbols = subprocess.run(["readelf", "-Ws", "--dyn-syms", LIBEXEC / "hacd"], capture_output=True, check=True,
                                 text=True).stdout
        self.assertNotRegex(symbols, r"\bcl[A-Z]\w+|\bdlopen\b")

    def test_clients(self):
        for program in (BUILD / "client-lib" / "libhac.so", HACCTL):
            for library in needed(program):
                self.assertNotRegex(library, "(?i)opencl|libuv")

    def test_executor_is_where_opencl_is(self):
        self.assertRegex(" ".join(needed(LIBEXEC / "hac-executor")), "(?i)opencl")


if __name__ == "__main__":
    main()
