#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the tests that run hacctl share: a folder, and a program that is run in it.

A test is called with the program as its argument: hacctl_fake, the program with fake_hac.c behind it, which needs no
daemon and lets the test choose what goes wrong, or hacctl with libhac and a private hacd (HAC_LIBEXEC names its
folder). Only Python's standard library.
"""
import math
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
COMMANDS = ("devices calibrate tune query describe summarize sort splice pipe mapreduce parquet+query parquet+convert parquet+inspect kernels+build "
            "opsplit+run opsplit+check opsplit+op opsplit+subop run explain simulate jobs show why wait result cancel log trace "
            "doctor top metrics reload drain version completion help").split()
COMMANDS = [command.replace("+", " ") for command in COMMANDS]
CODES = {"u32": "I", "i32": "i", "f32": "f", "u64": "Q", "i64": "q", "f64": "d"}


def pack(values, kind="u32"):
    return struct.pack(f"<{len(values)}{CODES[kind]}", *values)


def key(kind):
    """Sort key of the contract's total order: -0.0 before +0.0, NaNs last."""
    if kind[0] != "f":
        return lambda v: v
    return lambda v: (math.isnan(v), 0.0 if math.isnan(v) else v, math.copysign(1.0, v))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hacctl-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = dict(os.environ, LC_ALL="C.UTF-8")

    def path(self, name):
        return str(self.folder / name)

    def put(self, name, data):
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def start(self, *words, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("env", self.environment)
        return subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=more.pop("stdout", subprocess.PIPE),
                                stderr=subprocess.PIPE, **more)

    def handles(self, process, number=signal.SIGINT):
        """Waits until the program has installed its handler: before that, the signal would just kill it."""
        status = Path("/proc", str(process.pid), "status")
        for _ in range(3000):
            caught = next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt:"))
            if int(caught, 16) >> (number - 1) & 1:
                return
            time.sleep(0.01)
        self.fail(f"{process.args} has no handler for signal {number}")

    def run_it(self, *words, data=None, **more):
        if data is not None:
            more["stdin"] = subprocess.PIPE
        process = self.start(*words, **more)
        out, err = process.communicate(data, timeout=120)
        return process.returncode, out, err.decode()

    def good(self, *words, **more):
        code, out, err = self.run_it(*words, **more)
        self.assertEqual((code, err), (0, ""), f"{words}: {err}")
        return out

    def bad(self, code, *words, says="", **more):
        """Expects this exit code, one line of error that contains `says`, and nothing on standard output."""
        got, out, err = self.run_it(*words, **more)
        self.assertEqual(got, code, f"{words}: {err}")
        self.assertRegex(err, r"\Ahacctl: [^\n]+\n\Z")
        self.assertIn(says, err)
        self.assertEqual(out, b"")
        return err


def catches(pid, signal_number):
    """Whether the process has a handler for the signal, without which the signal ends it."""
    mask = re.search(r"^SigCgt:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
    return int(mask[1], 16) >> (signal_number - 1) & 1


class Fake(Case):
    """Tests with fake_hac.c: the test chooses what the daemon answers."""

    def setUp(self):
        super().setUp()
        self.calls = Path(tempfile.mkstemp(prefix="hacctl-calls-")[1])
        self.addCleanup(self.calls.unlink)
        self.answers = Path(tempfile.mkdtemp(prefix="hacctl-answers-"))
        self.addCleanup(shutil.rmtree, self.answers)
        self.environment.update(FAKE_HAC_CALLS=str(self.calls), FAKE_HAC_ANSWERS=str(self.answers))
        self.input = self.put("in", pack([3, 1, 2]))

    def answer(self, name, text):
        (self.answers / str(name)).write_text(text)

    def called(self):
        return self.calls.read_text()

    def interrupt(self, signal_number, *words, times=1):
        self.environment["FAKE_HAC_SECONDS"] = "60"
        process = self.start(*words)
        for _ in range(3000):
            if ("sort" in self.called() or "attach" in self.called()) and catches(process.pid, signal_number):
                break
            time.sleep(0.01)
        time.sleep(0.1)
        for _ in range(times):
            process.send_signal(signal_number)
            time.sleep(0.05)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (130, b""))
        return err.decode()


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
