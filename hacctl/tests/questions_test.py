#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl explain, jobs, show, devices …: questions to the daemon and what hacctl prints."""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
from pathlib import Path

from cli import Fake, main

PLAN = ('{"flow": "sort", "predicted_seconds": 2, "devices": ["a"], "tasks": '
        '[{"stage": "merge", "devices": ["a"], "predicted_start": 0, "predicted_seconds": 2}]}')


class Questions(Fake):
    def test_lists(self):
        devices = '{"devices": [{"name": "cpu", "state": "ready", "executors": [12]}]}'
        self.answer(1, devices)
        self.assertEqual(self.good("--json", "devices").decode(), devices + "\n")
        self.assertRegex(self.good("devices").decode(), r"(?m)^cpu   ready ")
        for checks, said in (('{"name": "profiles", "ok": true}', ""), ("null", ""), ('{"name": "x", "ok": false}', ""),
                             ('{"name": "profiles", "ok": false, "message": "a\\nb"}',
                              "hacctl: device profiles have problems: `hacctl doctor` tells which\n")):
            self.answer(11, f'{{"checks": [{checks}]}}')
            self.assertEqual(self.run_it("devices")[::2], (0, said))
            self.good("--json", "devices")
            self.good("-q", "devices")
        self.answer(2, '{"jobs": []}')
        self.assertEqual(self.good("jobs").decode(), "no jobs\n")
        self.answer(2, "nonsense")
        self.bad(3, "jobs", says="is not a JSON object")
        self.answer(10, "# EOF")
        self.assertEqual(self.good("metrics"), b"# EOF\n")

    def looks(self):
        self.answer(0, '{"daemon": {"version": "9", "uptime_seconds": 5, "jobs": 1, "jobs_running": 1, "connections": 2}}')
        self.answer(1, '{"devices": [{"name": "cpu", "state": "ready", "busy_seconds": 4, "running": []}]}')
        self.answer(2, '{"jobs": [{"id": 7, "state": "running", "flow": "splice", "name": "log"}]}')
        self.answer(5, '{"splice": {"marker": 1}}')

    def test_top(self):
        self.looks()
        text = self.good("top", "--once", "--interval", "100ms").decode()
        self.assertTrue(text.startswith("hacd 9, up 5 s\njobs    1 running, 0 waiting; 2 connections\n"), text)
        self.assertRegex(text, r"(?m)^cpu     ready  \[----------\]   0 %  -$")
        look = json.loads(self.good("--json", "top", "--once", "--interval", "0.1"))
        self.assertEqual((look["devices"][0]["busy_share"], look["jobs"][0]["splice"]), (0, {"marker": 1}))
        for interval in ("0", "soon", "2h", "10ms"):
            self.bad(2, "top", "--interval", interval, says="--interval")
        self.answer(1, "nonsense")
        self.bad(3, "top", "--once", says="the devices is not a JSON object")

    def test_top_goes_on(self):
        self.looks()
        process = self.start("top", "--json", "--interval", "100ms")
        for _ in range(3):
            self.assertIn("daemon", json.loads(process.stdout.readline()))
        process.send_signal(signal.SIGINT)  # is how one leaves
        _, err = process.communicate(timeout=30)
        self.assertEqual((process.returncode, err), (0, b""))
        process = self.start("top", "--interval", "100ms")
        self.assertEqual(process.stdout.readline(), b"hacd 9, up 5 s\n")
        while process.stdout.readline() != b"\n":  # a block, and the next after an empty line
            pass
        process.stdout.close()
        self.assertEqual((process.wait(30), process.stderr.read()), (141, b""))
        process.stderr.close()

    def test_top_on_a_terminal(self):
        self.looks()
        self.environment["TERM"] = "xterm"
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 8, 20, 0, 0))
        process = self.start("top", "--interval", "100ms", stdout=slave)
        os.close(slave)
        seen = b""
        while seen.count(b"\x1b[H") < 3 and select.select([master], [], [], 30)[0]:
            seen += os.read(master, 65536)
        process.send_signal(signal.SIGINT)
        process.wait(30)
        process.stderr.close()
        os.close(master)
        frames = seen.decode().split("\x1b[H")
        self.assertEqual(frames[0], "\x1b[2J")
        lines = frames[1].replace("\x1b[J", "").replace("\x1b[K", "").splitlines()
        self.assertEqual((lines[0], lines[1], len(lines)), ("hacd 9, up 5 s", "jobs    1 running, 0", 7))

    def test_plans(self):
        for number, text in enumerate(("plan", '{"n": 5}')):
            self.answer(f"plan{number}", text)
        words = ["explain", "sort", "--items", "2^20", "--type", "f32", "-o", "ignored", "--detach", "--receipt", "r"]
        self.assertEqual(self.good(*words), b"plan\n")
        self.assertEqual(self.good("--json", *words), b'{"n": 5}\n')
        self.assertEqual(self.good(*words, "--format", "json"), b'{"n": 5}\n')
        self.bad(3, *words, "--format", "svg", says="hacd's plan has no flow or no tasks")
        self.answer("plan1", PLAN)
        self.assertIn(b"<title>merge: starts at 0 \xc2\xb5s, takes 2 s</title>", self.good(*words, "--format", "svg"))
        self.assertIn("explain items=1048576 type=f32", self.called())
        self.assertIn("plan input=0", self.called())
        self.good("explain", "sort", "in", "--type", "u32")
        self.assertIn("explain items=3 type=u32", self.called())
        self.assertIn("plan input=2", self.called())
        os.mkdir(self.path("profiles"))
        self.put("profiles/g.yaml", "name: g\nmatch: {type: gpu}\nkind: gpu\ngroup: card\n")
        self.good("simulate", "--profiles", "profiles", "sort", "--items", "8", "--type", "u32")
        self.assertIn("device g group=card kind=gpu simt=1", self.called())
        self.assertEqual(self.files(), ["in", "profiles"])

    def test_calibrate(self):
        report = '{"devices":[{"name":"cpu","models":[]}],"break_even":[{"type":"u32","splits_from_items":1000000}]}'
        self.answer("calibrate", report)
        self.answer("tune", '{"devices":[{"name":"cpu","kept":false,"contests":[]}]}')
        self.assertIn("several devices are faster from 1 M items on", self.good("calibrate").decode())
        self.assertEqual(self.good("--json", "calibrate", "cpu", "gpu").decode(), report + "\n")
        self.assertIn("calibrate tune=0 devices=2 first=cpu", self.called())
        self.assertEqual(self.good("tune").decode(), "cpu: the settings stay as they are\n")
        self.assertIn("calibrate tune=1 devices=0", self.called())

    def test_tuning(self):
        self.answer(12, '{"devices":[{"name":"cpu","threads":2,"from":{"threads":"tune"}},{"name":"gpu"}]}')
        self.assertIn("cpu   2 (tune)", self.good("tune", "--show").decode())
        self.assertNotIn("gpu", self.good("tune", "--show", "cpu").decode())
        self.assertEqual(json.loads(self.good("--json", "tune", "--show"))["devices"][0]["threads"], 2)
        self.assertNotIn("revert", self.called())
        self.good("tune", "--revert", "cpu")
        self.assertIn("revert all=0 devices=1 first=cpu", self.called())
        self.good("tune", "--reset")
        self.assertIn("revert all=1 devices=0 first=-", self.called())
        self.bad(2, "tune", "--reset", "--revert", says="--revert and --reset exclude each other")

    def test_jobs(self):
        self.answer(3, '{"id": 7, "state": "done", "name": "x"}')
        self.answer(4, "because\x1b[31m")
        self.answer(5, '{"k": 1}')
        self.answer(6, "one\ntwo\n")
        self.answer(7, "{}")
        self.answer(8, "the plan")
        self.assertEqual(self.good("show", "7").decode().splitlines()[-2:], ["", "the plan"])
        self.assertEqual(json.loads(self.good("show", "7", "--json"))["state"], "done")
        self.bad(2, "show", "7", "--format", "svg", says="job 7 has no plan (any more)")
        self.answer(3, '{"id": 7, "plan": ' + PLAN + "}")
        self.assertIn(b"</svg>", self.good("show", "7", "--format", "svg"))
        self.assertEqual(self.good("show", "7", "--receipt", "-"), b'{"k": 1}\n')
        self.assertEqual(self.good("why", "7"), b"because?[31m\n")
        self.assertEqual(json.loads(self.good("--json", "why", "7")), {"job": 7, "why": "because\x1b[31m"})
        self.assertEqual(self.good("log", "7"), b"one\ntwo\n")
        self.assertEqual(self.good("log", "-f", "7"), b"one\ntwo\n")
        self.good("trace", "7", "-o", "t")
        self.assertEqual(Path(self.path("t")).read_text(), "{}\n")
        self.good("wait", "7")
        self.assertEqual(self.called().count("release"), 0)
        self.assertEqual(self.good("result", "7"), b"the result")
        self.assertEqual(self.called().count("release"), 1)
        self.bad(1, "result", "7", "-o", "/dev/full", says="no space")
        self.assertEqual(self.called().count("release"), 1)
        self.good("result", "7", "-o", "out")
        self.assertEqual(Path(self.path("out")).read_bytes(), b"the result")
        for command in ("show", "why", "wait", "result", "cancel", "log", "trace"):
            self.bad(2, command, "8", says="there is no job 8")

    def test_result_keeps_its_form(self):
        """The form was chosen when the job was started: a file name does not change it."""
        names = {"csv": ["out.csv", "out.CSV"], "json": ["out.json", "out.jsonl"], "parquet": ["out.parquet"]}
        always = ["out", "out.bin", ".parquet", "a.csv.d/../out"]
        os.mkdir(self.path("a.csv.d"))
        for form in names:
            self.answer(5, json.dumps({"query": {"output_format": form}}))
            for name in [*names[form], *always, "-", "/dev/null"]:
                self.good("result", "7", "-o", name)
            others = [name for other in names if other != form for name in names[other]]
            for name in [*others, "out.tsv", "out.md", "out.csv.gz"]:
                self.bad(2, "result", "7", "-o", name, says=f"result: the result of job 7 is {form}, but the suffix of {name} says otherwise; "
                         "choose another name, or start the job with another --output-format")
        for other in ('{"query": {"output_format": "typedbytes"}}', '{"query": {}}', '{"type": "u32"}'):
            self.answer(5, other)
            self.good("result", "7", "-o", "out.parquet")

    def test_cancel(self):
        self.answer(3, '{"state": "running"}')
        self.good("cancel", "7")
        self.assertIn("cancel", self.called())
        for end in ("done", "failed", "cancelled"):
            self.answer(3, f'{{"state": "{end}"}}')
            what = "its result is released" if end == "done" else "there is nothing to cancel"
            self.assertEqual(self.run_it("cancel", "7"), (0, b"", f"hacctl: job 7 has ended already ({end}): {what}\n"))
            self.good("--quiet", "cancel", "7")
        self.assertEqual(self.called().count("release"), 2)  # of the one that is done

    def test_log_follows(self):
        self.answer(3, '{"state": "running"}')
        self.answer(6, "one\n")
        process = self.start("log", "-f", "7")
        self.assertEqual(process.stdout.readline(), b"one\n")
        self.answer(6, "one\ntwo\n")
        self.assertEqual(process.stdout.readline(), b"two\n")
        self.answer(6, "one\ntwo\nthree\n")
        self.answer(3, '{"state": "done"}')
        self.assertEqual(process.communicate(timeout=30), (b"three\n", b""))
        self.assertEqual(process.returncode, 0)

    def test_doctor(self):
        self.answer(11, '{"checks": [{"name": "a", "ok": true}]}')
        self.assertEqual(self.good("doctor"), b"ok      a\n")
        self.answer(11, '{"checks": [{"name": "a", "ok": false, "message": "no", "hint": "do"}]}')
        code, out, err = self.run_it("doctor")
        self.assertEqual((code, out, err), (1, b"FAILED  a: no\n        do\n", "hacctl: 1 check failed\n"))

    def test_administration(self):
        self.assertEqual(self.good("reload"), b"")
        self.assertEqual(self.good("drain"), b"")
        self.assertIn("flags=1\nreload\n", self.called())
        self.assertIn("flags=1\ndrain\n", self.called())
        self.answer(0, '{"version":"9","protocol":1,"daemon":{"version":"9","pid":12,"socket":"/s","private":true}}')
        version = json.loads(self.good("version", "--json"))
        self.assertEqual((version["daemon"]["pid"], version["daemon"]["socket"]), (12, "/s"))
        self.assertIn("hacd 9, pid 12, private, /s", self.good("version").decode())


if __name__ == "__main__":
    main()
