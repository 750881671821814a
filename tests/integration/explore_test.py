#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Devices of which nothing is known yet: real jobs are enough to know them.

The machine has a CPU that is 30 times as slow as it could be, and an accelerator that hacd has never used. As soon as
the accelerator's executor runs, jobs of each kind go to it, and every answer is right whoever gave it. On an idle
machine that is the second job. Other tests may keep the cores busy, and then short jobs end before the executor runs:
a few more are allowed."""
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import PLATFORM, MachineTest, main  # noqa: E402

PAIR = """name: pair
match: {platform: "%s"}
kind: cpu
executors:
  - {name: slow, threads: 1, affinity: [0], group: core0, memory: {host: true}, testing: {slowdown: 30}}
  - {name: acc, kind: fpga, threads: 1, affinity: [1], group: core1, memory: {host: false}}
""" % (PLATFORM or "Portable Computing Language")
UNEQUAL = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
executors:
  - {name: fast, threads: 1, affinity: [0], group: core0}
  - {name: third, threads: 1, affinity: [1], group: core1, testing: {slowdown: 3.0}}
memory: {host: true}
"""
JOBS = 12  # of a kind, before the accelerator has to have most of one
ROWS = 600000
KEYS = 50
QUERY = ("--group-by", "k", "--order-by", "k", "--select", "k, count() as c, sum(v) as s, max(v) as m")
LOGIC = """
vectors:
  x: {type: f64, value: 1.5, rows: 2000000}
outputs: {o: {columns: [total]}}
operators:
  - map: {expr: "x * 3 + x / 7 - 2", out: y}
  - reduce: {in: y, out: total}
"""


class Stopped(threading.Thread):
    """Stops the executors of a device for a part of the time, as if other work kept the device busy."""

    def __init__(self, daemon, device, part):
        super().__init__(daemon=True)
        self.hacd, self.device, self.part, self.over = daemon, device, part, False

    def signal(self, number):
        for pid in self.hacd.executors().get(self.device, ()):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def run(self):
        while not self.over:
            self.signal(signal.SIGSTOP)
            time.sleep(0.02 * self.part)
            self.signal(signal.SIGCONT)
            time.sleep(0.02 * (1 - self.part))

    def __enter__(self):
        self.start()

    def __exit__(self, *_):
        self.over = True
        self.join()


class Explore(MachineTest):
    """A slow CPU and an accelerator that is not known yet."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = random.Random(5)
        cls.rows = [(rng.randrange(KEYS), rng.randrange(-1000, 1000)) for _ in range(ROWS)]
        groups = {}
        for k, v in cls.rows:
            groups.setdefault(k, []).append(v)
        cls.answer = "k,c,s,m\n" + "".join(
            f"{k},{len(v)},{sum(v)},{max(v)}\n" for k, v in sorted(groups.items()))
        cls.answer = cls.answer.encode()
        cls.text = "k,v\n" + "".join(f"{k},{v}\n" for k, v in cls.rows)

    def new_pair(self, profile=PAIR):
        m = self.machine(profile=profile, config={"executor_idle_timeout": "1min"})
        Path(m.path("t.csv")).write_text(self.text)
        return m

    @staticmethod
    def part_of(receipt):
        """The accelerator's part of the work, as the CPU's seconds are without the slowdown."""
        busy = {d["name"]: d["busy_seconds"] for d in receipt["devices"]}
        acc, slow = busy.get("acc", 0), busy.get("slow", 0) / 30
        return acc / (acc + slow)

    def run_job(self, m, words, check):
        """The receipt of one job."""
        check(m.good(*words, "--receipt", "r.json", timeout=300))
        receipt = json.loads(Path(m.path("r.json")).read_text())
        return receipt if "devices" in receipt else m.json("show", receipt["job"])["receipt"]

    def check_jobs(self, m, words, check):
        """Equal jobs go to the accelerator, and stay there."""
        receipts = []
        while not receipts or (self.part_of(receipts[-1]) <= 0.7 and len(receipts) < JOBS):
            receipts.append(self.run_job(m, words, check))
        receipts.append(self.run_job(m, words, check))
        said = [(round(self.part_of(r), 3), [(d["name"], round(d["busy_seconds"], 4), d["tasks"]) for d in r["devices"]],
                 r["predicted_seconds"], r["measured_seconds"]) for r in receipts]
        self.assertGreater(self.part_of(receipts[-2]), 0.7, f"{said}\n{m.log()[-3000:]}")
        self.assertGreater(self.part_of(receipts[-1]), 0.5, said)

    def is_answer(self, out):
        self.assertEqual(out, self.answer)

    def test_mapreduce(self):
        m = self.new_pair()
        self.check_jobs(m, ("mapreduce", "t.csv", "--schema", "k:u32,v:i64", *QUERY), self.is_answer)

    def test_splice(self):
        m = self.new_pair()
        self.check_jobs(m, ("splice", "t.csv", "--parse", "csv", "--schema", "k:u32,v:i64", *QUERY), self.is_answer)

    def test_parquet(self):
        m = self.new_pair()
        m.good("parquet", "convert", "t.csv", "t.parquet", "--schema", "k:u32,v:i64")
        self.check_jobs(m, ("parquet", "query", "t.parquet", *QUERY), self.is_answer)

    def test_sort(self):
        m = self.new_pair()
        m.generate("u32", "random", 3 << 20)

        def is_sorted(_):
            self.assertIsNone(m.wrong("u32", "in", "out"))

        self.check_jobs(m, ("sort", "in", "--type", "u32", "-o", "out"), is_sorted)

    def test_busy_at_first(self):
        """The accelerator is stopped most of the time during its first two jobs: what these measure is soon forgotten."""
        m = self.new_pair()
        m.generate("u32", "random", 3 << 20)
        query = ("mapreduce", "t.csv", "--schema", "k:u32,v:i64", *QUERY)
        sort = ("sort", "in", "--type", "u32", "-o", "out")
        m.good(*query)  # its executor starts
        with Stopped(m.daemon(), "acc", 0.95):
            for words in (query, sort, query, sort):
                m.good(*words, timeout=300)
        self.check_jobs(m, query, self.is_answer)
        self.check_jobs(m, sort, lambda _: self.assertIsNone(m.wrong("u32", "in", "out")))

    def test_opsplit(self):
        m = self.new_pair()
        Path(m.path("logic.yaml")).write_text(LOGIC)

        def is_total(_):
            self.assertAlmostEqual(float(Path(m.path("out/o.csv")).read_text().split()[-1]), 2e6 * (1.5 * 3 + 1.5 / 7 - 2), delta=1e-3)

        self.check_jobs(m, ("opsplit", "run", "logic.yaml", "-o", "out"), is_total)


class Unequal(MachineTest):
    """Two CPUs, one a third as fast: jobs find the ratio."""

    def test_first_split(self):
        m = self.machine(profile=UNEQUAL, config={"executor_idle_timeout": "1min"})
        rng = random.Random(6)
        with open(m.path("t.csv"), "w", encoding="ascii") as file:
            file.write("k,v\n")
            file.writelines(f"{rng.randrange(KEYS)},{rng.randrange(100000)}\n" for _ in range(3 * ROWS))
        answers, found = set(), []
        for _ in range(JOBS):
            answers.add(m.good("mapreduce", "t.csv", "--schema", "k:u32,v:i64", *QUERY, "--receipt", "r.json"))
            receipt = json.loads(Path(m.path("r.json")).read_text())
            found.append((receipt["k"], receipt["predicted_seconds"], receipt["measured_seconds"]))
            if 0.15 < found[-1][0] < 0.6:  # a third, but other tests may slow one of the cores
                break
        self.assertEqual(len(answers), 1)
        self.assertGreater(found[0][0], 0.95, found)  # nothing is known
        self.assertTrue(0.15 < found[-1][0] < 0.6, found)


main()
