#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl sort, and what all jobs share: outputs, signals, exit codes."""
import fcntl
import json
import math
import os
import pty
import resource
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

from cli import PROGRAM, Fake, key, main, pack


class Sorts(Fake):
    def test_sorts(self):
        values = [5, 0, 4294967295, 7, 7, 1]
        self.put("in", pack(values))
        self.assertEqual(self.good("sort", "in", "--type", "u32"), pack(sorted(values)))
        self.assertEqual(self.good("sort", "in", "--type", "u32", "-o", "out"), b"")
        self.assertEqual(Path(self.path("out")).read_bytes(), pack(sorted(values)))
        self.assertEqual(self.good("sort", "-", "--type", "u32", "--descending", data=pack(values)),
                         pack(sorted(values, reverse=True)))
        self.good("sort", "in", "--type", "u32", "-o", "in")
        self.assertEqual(Path(self.path("in")).read_bytes(), pack(sorted(values)))
        self.assertEqual(self.files(), ["in", "out"])

    def test_options_reach_the_library(self):
        self.good("sort", "in", "--type=u32", "--argsort", "--descending", "--algorithm", "bitonic", "--scheme", "upper",
                  "--fold", "3,6", "--devices", "cpu,gpu", "--priority", "-5", "--deadline", "2min", "--memory", "1MiB",
                  "--determinism", "fast", "-q", "-o", "/dev/null")
        self.assertIn("items=3 type=u32 descending=1 argsort=1 algorithm=1 scheme=3 fold=2 steps=3,6, devices=cpu,gpu, "
                      "detach=0 priority=-5 deadline=120 memory=1048576 fast=1 progress=0", self.called())
        self.assertIn("--determinism has no effect any more", self.run_it("sort", "in", "--type", "u32", "--determinism", "fast", "-o", "out")[2])
        self.good("sort", "in", "--socket", "/some/where", "--no-autostart", "--type", "u32", "-o", "/dev/null")
        self.assertIn("connect socket=/some/where flags=1", self.called())

    def test_exit_codes(self):
        for status, code in ((1, 1), (2, 2), (3, 3), (4, 4), (5, 130), (6, 1), (8, 3), (9, 1), (11, 2), (13, 1)):
            for stage in ("CONNECT", "SUBMIT", "JOB"):
                self.environment[f"FAKE_HAC_{stage}"] = str(status)
                self.bad(code, "sort", "in", "--type", "u32", "-o", "out", says="fake: ")
                del self.environment[f"FAKE_HAC_{stage}"]
        self.assertEqual(self.files(), ["in"])

    def test_detach(self):
        self.environment["FAKE_HAC_SECONDS"] = "60"
        self.assertEqual(self.good("sort", "in", "--type", "u32", "--detach"), b"7\n")
        self.assertEqual(json.loads(self.good("--json", "sort", "in", "--type", "u32", "--detach")), {"job": 7})
        self.assertIn("detach=1", self.called())
        self.assertNotIn("cancel", self.called())

    def test_detach_untold(self):
        """A job is abandoned if its id cannot be printed."""
        self.environment["FAKE_HAC_SECONDS"] = "60"
        words = ("sort", "in", "--type", "u32", "--detach")
        with open("/dev/full", "wb") as full:
            code, _, err = self.run_it(*words, stdout=full)
        self.assertEqual((code, err), (1, "hacctl: standard output: no space left on device (after 0 bytes); job 7 is abandoned "
                                          "because its id could not be printed\n"))
        self.assertEqual(self.called().count("cancel"), 1)
        gone, broken = os.pipe()
        os.close(gone)
        self.assertEqual(self.run_it(*words, stdout=broken), (141, None, ""))
        os.close(broken)
        self.assertEqual(self.called().count("cancel"), 2)

    def test_all_types(self):
        cases = {"u32": [7, 0, 2**32 - 1, 7], "i32": [-1, 2**31 - 1, -2**31, 0], "u64": [2**64 - 1, 0, 5],
                 "i64": [-2**63, 2**63 - 1, -1], "f32": [1.5, -0.0, 0.0, math.inf, -math.inf, math.nan, -2.0],
                 "f64": [1e300, -0.0, 0.0, math.inf, -math.inf, math.nan, 5e-324]}
        for kind, values in cases.items():
            self.put("in", pack(values, kind))
            self.assertEqual(self.good("sort", "in", "--type", kind), pack(sorted(values, key=key(kind)), kind))
            self.assertEqual(self.good("sort", "in", "--type", kind, "--descending"),
                             pack(sorted(values, key=key(kind), reverse=True), kind))

    def test_empty_input(self):
        self.put("in", b"")
        self.assertEqual(self.good("sort", "in", "--type", "u32"), b"")
        self.good("sort", "in", "--type", "f64", "-o", "out")
        self.assertEqual(Path(self.path("out")).read_bytes(), b"")
        self.assertEqual(self.good("sort", "-", "--type", "u32", data=b""), b"")

    def test_receipt_and_trace(self):
        self.answer(5, '{"k": 0.6}')
        self.answer(7, '{"traceEvents": []}\n')
        self.good("sort", "in", "--type", "u32", "-o", "out", "--receipt", "r.json", "--trace", "t.json")
        self.assertEqual(Path(self.path("r.json")).read_text(), '{"k": 0.6}\n')
        self.assertEqual(Path(self.path("t.json")).read_text(), '{"traceEvents": []}\n')
        self.assertEqual(self.files(), ["in", "out", "r.json", "t.json"])
        (self.answers / "7").unlink()
        self.bad(2, "sort", "in", "--type", "u32", "-o", "new", "--receipt", "n.json", "--trace", "u.json")
        self.assertEqual(self.files(), ["in", "out", "r.json", "t.json"])


class Outputs(Fake):
    def test_straight_outputs(self):
        self.assertEqual(self.good("sort", "in", "--type", "u32", "-o", "/dev/stdout"), pack([1, 2, 3]))
        self.assertEqual(self.good("sort", "in", "--type", "u32", "-o", "-"), pack([1, 2, 3]))
        self.good("sort", "in", "--type", "u32", "-o", "/dev/null")
        os.mkfifo(self.path("fifo"))
        process = self.start("sort", "in", "--type", "u32", "-o", "fifo")
        with open(self.path("fifo"), "rb") as fifo:
            self.assertEqual(fifo.read(), pack([1, 2, 3]))
        self.assertEqual(process.wait(30), 0)
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(self.files(), ["fifo", "in"])
        self.bad(1, "sort", "in", "--type", "u32", "-o", "/dev/full", says="/dev/full: no space left on device")

    def test_redirected_output_keeps_its_place(self):
        with open(self.path("log"), "ab") as log:
            for _ in range(2):
                code, _, err = self.run_it("sort", "in", "--type", "u32", "-o", "/dev/stdout", stdout=log)
                self.assertEqual((code, err), (0, ""))
        self.assertEqual(Path(self.path("log")).read_bytes(), pack([1, 2, 3]) * 2)

    def test_standard_output_has_one_thing(self):
        self.answer(5, '{"job": 7}')
        self.answer(7, '{"traceEvents": []}')
        sort = ["sort", "in", "--type", "u32"]
        for option in ("--receipt", "--trace"):
            for words in ([], ["-o", "-"], ["-o", "/dev/stdout"]):
                self.bad(2, *sort, *words, option, "-", says=f"the result and {option} would both go to standard output")
            self.assertTrue(json.loads(self.good(*sort, "-o", "out", option, "-")))
        self.bad(2, *sort, "-o", "out", "--receipt", "-", "--trace", "/dev/stdout", says="--receipt and --trace would both")

    def test_broken_pipe(self):
        self.put("in", bytes(1 << 20))
        for words in ([], ["-o", "-"], ["-o", "/dev/stdout", "--receipt", "r.json"]):
            process = self.start("sort", "in", "--type", "u32", *words)
            process.stdout.close()
            err = process.stderr.read().decode()
            process.stderr.close()
            self.assertEqual((process.wait(30), err), (141, ""))
        self.assertEqual(self.files(), ["in"])
        line = f"set -o pipefail; '{PROGRAM}' sort in --type u32 | head -c 1"
        out = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, check=False)
        self.assertEqual((out.returncode, out.stdout, out.stderr), (141, b"\0", b""))
        os.mkfifo(self.path("fifo"))  # a name that was given is a file that could not be written
        reader = os.open(self.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
        self.environment["FAKE_HAC_SECONDS"] = "1"
        self.calls.write_text("")
        process = self.start("sort", "in", "--type", "u32", "-o", "fifo")
        while "sort" not in self.called() and process.poll() is None:  # it has opened its output
            time.sleep(0.01)
        os.close(reader)
        _, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, err), (1, b"hacctl: fifo: the reader has gone (broken pipe)\n"))

    def test_full_disk(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        self.put("in", bytes(1 << 20))
        self.put("out", "before")
        del self.environment["FAKE_HAC_CALLS"]  # it would be cut, too
        self.bad(1, "sort", "in", "--type", "u32", "-o", "out", says="nothing was written", preexec_fn=limit)
        self.assertEqual(Path(self.path("out")).read_bytes(), b"before")
        self.assertEqual(self.files(), ["in", "out"])

    def test_closed_standard_descriptors(self):
        def close():
            os.close(0)
            os.close(2)
        process = subprocess.Popen([PROGRAM, "sort", "in", "--type", "u32"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, preexec_fn=close)
        self.assertEqual(process.communicate(timeout=30)[0], pack([1, 2, 3]))
        self.assertEqual(process.returncode, 0)

    def test_closed_standard_output(self):
        code, _, err = self.run_it("sort", "in", "--type", "u32", preexec_fn=lambda: os.close(1))
        self.assertEqual((code, err), (1, "hacctl: standard output is closed\n"))
        code, _, err = self.run_it("--version", preexec_fn=lambda: os.close(1))
        self.assertEqual((code, err), (1, "hacctl: standard output is closed\n"))
        code, _, err = self.run_it("sort", "in", "--type", "u32", "-o", "out", preexec_fn=lambda: os.close(1))
        self.assertEqual((code, err), (0, ""))
        self.bad(1, "sort", "-", "--type", "u32", preexec_fn=lambda: os.close(0))

    def on_terminal(self, *words):
        """Runs with a terminal as standard error; returns the exit code and what the terminal got."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 120, 0, 0))
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        seen = b""
        while select.select([master], [], [], 30)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        os.close(master)
        return process.wait(30), seen.decode()

    def test_progress_on_terminals_only(self):
        self.environment.update(FAKE_HAC_SECONDS="0.5", TERM="xterm")
        code, seen = self.on_terminal("sort", "in", "--type", "u32")
        self.assertEqual(code, 0)
        for part in ("%", "merge 3", "118 M items/s", "left", "building kernels for cpu (2 of 5)", "\r\x1b[K"):
            self.assertIn(part, seen)
        self.assertEqual(self.on_terminal("sort", "in", "--type", "u32", "--quiet"), (0, ""))
        self.environment["TERM"] = "dumb"
        self.assertEqual(self.on_terminal("sort", "in", "--type", "u32"), (0, ""))
        self.good("sort", "in", "--type", "u32", "-o", "/dev/null")


class Signals(Fake):
    def test_interrupt_cancels(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.calls.write_text("")
            err = self.interrupt(number, "sort", "in", "--type", "u32", "-o", "out")
            self.assertEqual(err, "hacctl: cancelled\n")
            self.assertIn("cancel", self.called())
            self.assertEqual(self.files(), ["in"])

    def test_a_second_interrupt_does_not_wait(self):
        # this test's library cancels at once, so the second signal may come too late; both cases end the same way
        err = self.interrupt(signal.SIGINT, "sort", "in", "--type", "u32", "-o", "out", times=2)
        self.assertEqual(err, "hacctl: cancelled\n")
        self.assertEqual(self.files(), ["in"])

    def test_killed_leaves_the_output_alone(self):
        self.environment["FAKE_HAC_SECONDS"] = "60"
        self.put("out", "before")
        process = self.start("sort", "in", "--type", "u32", "-o", "out")
        while "sort" not in self.called():
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=30)
        self.assertEqual(Path(self.path("out")).read_bytes(), b"before")

    def test_interrupt_while_reading(self):
        process = self.start("sort", "-", "--type", "u32", "-o", "out", stdin=subprocess.PIPE)
        process.stdin.write(b"1234")
        process.stdin.flush()
        self.handles(process)
        time.sleep(0.3)  # it has read them, and waits for more
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        self.assertEqual(process.stderr.read(), b"hacctl: cancelled\n")
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
        self.assertEqual(self.files(), ["in"])

    def test_interrupted_wait_leaves_the_job(self):
        err = self.interrupt(signal.SIGINT, "wait", "7")
        self.assertEqual(err, "hacctl: interrupted; job 7 goes on\n")
        err = self.interrupt(signal.SIGINT, "result", "7", "-o", "out")
        self.assertNotIn("cancel", self.called())
        self.assertEqual(self.files(), ["in"])

    def test_ignored_signals_stay_ignored(self):
        self.environment["FAKE_HAC_SECONDS"] = "1"
        process = self.start("sort", "in", "--type", "u32",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out, err), (0, pack([1, 2, 3]), b""))


if __name__ == "__main__":
    main()
