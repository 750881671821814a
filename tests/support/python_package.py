# SPDX-License-Identifier: Apache-2.0
"""The Python package of this build, in the process of a test.

Where the extension was not built, or NumPy is not there, the tests are skipped and say so.

HAC_TEST_PRELOAD, of a build with AddressSanitizer: its library, which has to be loaded before the extension. The interpreter starts
once more with it; programs that it starts do without. Python never frees everything, so leaks are not looked for.
"""
import gc
import os
import subprocess
import sys
import unittest

from machine import BUILD, SOURCE, SharedMachineTest

if os.environ.get("HAC_TEST_PRELOAD"):
    preload = os.environ.pop("HAC_TEST_PRELOAD")
    options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "LD_PRELOAD": preload, "ASAN_OPTIONS": options})
os.environ.pop("LD_PRELOAD", None)

PACKAGE = BUILD / "bindings" / "python"
ORACLES = SOURCE / "build" / "python"
sys.path[:0] = [str(PACKAGE), str(ORACLES)]


def library(name):
    """A library to compare with, or None."""
    try:
        return __import__(name)
    except ImportError:
        return None


numpy = library("numpy")
WHY_NOT = (f"{PACKAGE}/hac has no extension (python3-dev is not installed)" if not (PACKAGE / "hac" / "_hac.abi3.so").exists() else
           "NumPy is not installed (`./dev test` puts it into build/python)" if numpy is None else None)


def needs(*names):
    """Skips a test where a library is not there."""
    missing = [name for name in names if library(name) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)}: not installed (`./dev test` puts it into build/python)")


def settings_of(machine):
    return {name: value for name, value in machine.environment.items() if name.startswith(("HAC_", "XDG_", "OCL_"))}


@unittest.skipIf(WHY_NOT, WHY_NOT)
class PackageTest(SharedMachineTest):
    """Tests that call hac in this process; the machine's daemon is theirs."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.before_settings = {name: os.environ.get(name) for name in settings_of(cls.m)}
        os.environ.update(settings_of(cls.m))
        import hac
        hac._connection.thread.connection = None  # of the class before

    @classmethod
    def tearDownClass(cls):
        import hac
        hac._connection.thread.connection = None
        hac._connection.idle.clear()
        if hac._future._pool is not None:  # its threads have connections
            hac._future._pool.shutdown()
            hac._future._pool = None
        gc.collect()
        for name, value in cls.before_settings.items():
            os.environ.pop(name) if value is None else os.environ.__setitem__(name, value)
        super().tearDownClass()

    def python(self, program, *words, timeout=120, good=True, **more):
        """What a program prints that another interpreter runs; `hac` and `numpy` are imported."""
        path = self.m.path("program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write("import hac, numpy, os, sys\n" + program)
        result = subprocess.run([sys.executable, path, *map(str, words)], env=self.environment(), text=True, timeout=timeout,
                                capture_output=True, check=False, **more)
        if good and (result.returncode != 0 or result.stderr):
            raise AssertionError(f"exit {result.returncode}: {result.stdout[-2000:]}{result.stderr[-4000:]}")
        return result.stdout if good else result

    def environment(self):
        return {**self.m.environment, "PYTHONPATH": f"{PACKAGE}:{ORACLES}", "PYTHONDONTWRITEBYTECODE": "1"}
