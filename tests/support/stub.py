# SPDX-License-Identifier: Apache-2.0
"""Executors whose OpenCL fails, or ends the process, when a test says so (stub_opencl.c)."""
import os
import shutil
import tempfile
from pathlib import Path

from machine import BUILD, LIBEXEC

STUB = BUILD / "tests" / "stub_opencl.so"
TEXT_BYTES = 256


class StubOpenCl:
    """A folder to be $HAC_LIBEXEC: hacd, and an executor with the stub loaded into it."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hac-opencl-"))
        self.file = self.folder / "control"
        self.file.write_bytes(bytes(TEXT_BYTES + 8))
        (self.folder / "hacd").symlink_to(LIBEXEC / "hacd")
        executor = self.folder / "hac-executor"
        executor.write_text(
            f'#!/bin/bash\nexport LD_PRELOAD="{os.environ.get("LD_PRELOAD", "")} {STUB}" STUB_OPENCL_FILE={self.file}\n'
            f'exec -a hac-executor {LIBEXEC}/hac-executor "$@"\n')
        executor.chmod(0o755)
        self.environment = {"HAC_LIBEXEC": str(self.folder)}

    def failed(self):
        """How often it has failed since the last set()."""
        return int.from_bytes(self.file.read_bytes()[TEXT_BYTES:], "little")

    def set(self, text):
        """What fails from now on; returns how often it has failed since the last time."""
        failed = self.failed()
        with open(self.file, "r+b") as file:
            file.write(text.encode().ljust(TEXT_BYTES, b"\0") + bytes(8))
        return failed

    def remove(self):
        shutil.rmtree(self.folder)
