#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl with libhac and hacd: one private daemon for the whole test."""
import array
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from cli import CODES, HERE, PROGRAM, Case, key, main, pack

sys.path.insert(0, str(HERE.parent.parent / "tests" / "support"))
from folders import make_folders, plant_programs  # noqa: E402


class Real(Case):
    """With hacd: one private daemon for the whole class."""

    @classmethod
    def setUpClass(cls):
        cls.home = Path(tempfile.mkdtemp(prefix="hacctl-home-"))
        cls.base = dict(os.environ, LC_ALL="C.UTF-8")
        cls.base.pop("HAC_SOCKET", None)
        cls.base.update(make_folders(cls.home))
        if "HAC_TEST_SEED" in os.environ:
            plant_programs(cls.home, os.environ["HAC_TEST_SEED"])

    @classmethod
    def tearDownClass(cls):
        subprocess.run([PROGRAM, "drain"], env=cls.base, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False, timeout=60)
        shutil.rmtree(cls.home, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.environment = dict(self.base)

    def check_sort(self, values, kind, *options):
        self.put("in", pack(values, kind))
        out = self.good("sort", "in", "--type", kind, *options)
        expected = sorted(values, key=key(kind), reverse="--descending" in options)
        if "--argsort" in options:
            order = array.array("I", out).tolist()
            expected = sorted(range(len(values)), key=lambda i: key(kind)(values[i]))
            if "--descending" in options:
                expected = sorted(range(len(values)), key=lambda i: key(kind)(values[i]), reverse=True)
            self.assertEqual(order, expected)
            return
        self.assertEqual(out, pack(expected, kind), f"{kind} {len(values)} {options}")

    def numbers(self, n, kind):
        state, values = 88172645463325252, []
        for _ in range(n):
            state ^= (state << 13) & (2**64 - 1)
            state ^= state >> 7
            state ^= (state << 17) & (2**64 - 1)
            values.append(state)
        if kind[0] == "f":
            return [float(v % 2000) / 8 - 100 for v in values]
        bits = int(kind[1:])
        return [v % 2**bits - (2 ** (bits - 1) if kind[0] == "i" else 0) for v in values]

    def test_sort(self):
        for kind in CODES:
            for n in (0, 1, 2, 3, 1000, 70000):
                self.check_sort(self.numbers(n, kind), kind)
            self.check_sort(self.numbers(1000, kind), kind, "--descending")
            self.check_sort(self.numbers(1000, kind), kind, "--argsort")
        self.check_sort(self.numbers(5000, "u32"), "u32", "--algorithm", "bitonic")
        self.check_sort(self.numbers(5000, "u32"), "u32", "--algorithm", "radix")

    def test_file_and_stream(self):
        values = self.numbers(300000, "u64")
        self.put("in", pack(values, "u64"))
        self.good("sort", "in", "--type", "u64", "-o", "in")
        self.assertEqual(Path(self.path("in")).read_bytes(), pack(sorted(values), "u64"))
        self.assertEqual(self.good("sort", "-", "--type", "u64", data=pack(values, "u64")), pack(sorted(values), "u64"))
        self.bad(1, "sort", "-", "--type", "u64", data=b"12345")
        self.assertEqual(self.files(), ["in"])

    def test_devices(self):
        devices = json.loads(self.good("--json", "devices"))["devices"]
        self.assertTrue(devices)
        for device in devices:
            self.assertIn(device["state"], ("ready", "untested", "building", "unusable", "quarantined"))
            self.assertIsInstance(device["executors"], list)
        self.assertIn(devices[0]["name"], self.good("devices").decode())
        self.put("in", pack([1]))
        self.bad(2, "sort", "in", "--type", "u32", "-o", "out", "--devices", "no-such-device", says="no-such-device")
        self.assertEqual(self.files(), ["in"])

    def test_version(self):
        version = json.loads(self.good("--json", "version"))
        os.kill(version["daemon"]["pid"], 0)
        self.assertTrue(os.path.exists(version["daemon"]["socket"]))

    def test_explain_and_simulate(self):
        plan = json.loads(self.good("explain", "sort", "--items", "65536", "--type", "u32", "--json"))
        for field in ("flow", "k", "k_source", "shares", "predicted_seconds", "devices", "tasks", "algorithm", "scheme",
                      "n", "N", "weaker_items", "corun_steps", "folded_steps", "parts"):
            self.assertIn(field, plan)
        self.assertTrue(self.good("explain", "sort", "--items", "65536", "--type", "u32"))
        self.assertIn(b"<svg", self.good("explain", "sort", "--items", "65536", "--type", "u32", "--format", "svg"))
        os.mkdir(self.path("p"))
        self.put("p/a.yaml", "name: strong\nmatch: {type: any}\nkind: gpu\ncapability: {\"sort.u32\": 1.0e6}\n")
        self.put("p/b.yaml", "name: weak\nmatch: {type: any}\nkind: cpu\ncapability: {\"sort.u32\": 0.6e6}\n")
        words = ["simulate", "--profiles", "p", "--json", "sort", "--items", "16", "--type", "u32", "--algorithm",
                 "bitonic", "--fold", "none"]
        for scheme, items, steps in (("proportional", 6, [[1, 1], [3, 3], [6, 6], [10, 10]]),
                                     ("lower", 4, [[1, 3], [5, 6], [9, 10]]), ("upper", 8, [[1, 6], [8, 10]])):
            plan = json.loads(self.good(*words, "--scheme", scheme))
            self.assertEqual((plan["weaker_items"], plan["corun_steps"], plan["n"], plan["N"]), (items, steps, 4, 1))
        self.bad(2, "simulate", "--profiles", "p", "sort", "--items", "16", "--type", "f64", says="sort.f64")

    def test_detached(self):
        values = self.numbers(100000, "u32")
        self.put("in", pack(values))
        job = self.good("sort", "in", "--type", "u32", "--detach").decode().strip()
        self.assertRegex(job, r"^\d+$")
        self.good("wait", job)
        self.assertEqual(self.good("result", job), pack(sorted(values)))
        self.assertIn(int(job), [j["id"] for j in json.loads(self.good("--json", "jobs"))["jobs"]])
        self.assertEqual(json.loads(self.good("--json", "show", job))["state"], "done")
        self.assertTrue(self.good("show", job))
        self.assertTrue(self.good("why", job))
        self.good("log", "-f", job)
        json.loads(self.good("trace", job))
        json.loads(self.good("show", job, "--receipt", "-"))
        for command in ("show", "why", "wait", "result", "cancel", "log", "trace"):
            self.bad(2, command, "999999999")

    def test_receipt_and_trace(self):
        self.put("in", pack([3, 1, 2]))
        self.good("sort", "in", "--type", "u32", "-o", "out", "--receipt", "r.json", "--trace", "t.json")
        json.loads(Path(self.path("r.json")).read_text())
        json.loads(Path(self.path("t.json")).read_text())
        self.assertEqual(self.files(), ["in", "out", "r.json", "t.json"])

    def test_interrupt(self):
        with open(self.path("in"), "wb") as file:
            file.truncate(1 << 28)
        process = self.start("sort", "in", "--type", "u32", "-o", "out")
        self.handles(process)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (130, b"hacctl: cancelled\n"))
        self.assertEqual(self.files(), ["in"])

    def test_interrupt_while_a_pipe_is_silent(self):
        """Ctrl-C ends the wait for the bytes that show the format, the dialect and the header."""
        self.good("devices")  # starts the daemon if need be
        statement = "select count(*) from '-'"
        for words, first in ((("query", statement), b""), (("query", statement), b"\x1f"), (("query", statement, "--parse", "csv"), b""),
                             (("query", statement, "--parse", "csv"), b"a,b\n1,2\n"), (("sort", "-", "--key", "a"), b""), (("describe", "-"), b""),
                             (("query", statement, "--parse", "csv", "--schema", "a:i64,b:i64"), b"a,")):
            with self.subTest(words=words, first=first):
                reader, writer = os.pipe()
                process = self.start(*words, stdin=reader)
                os.write(writer, first)
                self.handles(process)
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                _, err = process.communicate(timeout=10)
                self.assertEqual((process.returncode, err), (130, b"hacctl: cancelled\n"))
                os.close(reader)
                os.close(writer)

    def test_administration(self):
        self.good("devices")  # starts the daemon if need be; nothing is reloaded while devices are probed
        self.good("reload")
        self.assertTrue(self.good("metrics").decode().endswith("# EOF\n"))
        code, out, _ = self.run_it("doctor")
        self.assertIn(code, (0, 1))
        self.assertTrue(out)


if __name__ == "__main__":
    main()
