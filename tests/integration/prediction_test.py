#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How near predictions come: from the second job of a kind on, what a plan says it takes against what it takes. On an idle
machine the goal is a factor of 1.5; the test allows 3, as other tests may keep the cores busy, and prints the figures."""
import json
import random
import statistics
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, MachineTest, main  # noqa: E402

SIZES = (10**3, 10**4, 10**5, 10**6)
JOBS = 7  # after the first
ROUNDS = 3  # of so many jobs; a busy machine may spoil one
ALLOWED = 3.0
QUERY = ("--group-by", "k", "--select", "k, count() as c, sum(v) as s")
LOGIC = """
vectors:
  x: {{type: f64, value: 1.5, rows: {rows}}}
outputs: {{o: {{columns: [total]}}}}
operators:
  - map: {{expr: "x * 3 + x / 7 - 2", out: y}}
  - reduce: {{in: y, out: total}}
"""


class Prediction(MachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.figures = []

    @classmethod
    def tearDownClass(cls):
        for line in cls.figures:
            print(line, file=sys.stderr)
        super().tearDownClass()

    def ratio(self, machine, *words):
        """Predicted by measured time. Of a run of a logic file it is that of its devices: between its graphs it waits for its
        client."""
        machine.good(*words, "--receipt", machine.path("r.json"))
        got = json.loads(Path(machine.path("r.json")).read_text())
        if got["flow"] != "opsplit":
            return got["predicted_seconds"] / got["measured_seconds"]
        devices = machine.json("show", str(got["job"]))["receipt"]["devices"]
        return sum(d["predicted_seconds"] for d in devices) / sum(d["busy_seconds"] for d in devices)

    def check(self, name, machine, prepare):
        """`prepare` returns the words of a job of that size; the sizes alternate, so that each model has seen all of them."""
        self.check_jobs(machine, {f"{name} {size}": prepare(machine, size) for size in SIZES})

    def check_jobs(self, machine, jobs):
        ratios = {name: [] for name in jobs}
        for turn in range(ROUNDS * JOBS + 1):
            for name, words in jobs.items():
                ratio = self.ratio(machine, *words)
                if turn > 0:
                    ratios[name].append(ratio)
            middles = {name: statistics.median(ratios[name][-JOBS:]) for name in jobs if ratios[name]}
            good = all(1 / ALLOWED < middle < ALLOWED for middle in middles.values())
            if turn >= JOBS and (turn - JOBS) % JOBS == 0 and good:
                break
        for name in jobs:
            spread = ", ".join(f"{ratio:.2f}" for ratio in ratios[name])
            self.figures.append(f"{name}: predicted / measured {middles[name]:.2f} ({spread})")
        self.assertTrue(good, middles)

    def rows(self, machine, size, name):
        rng = random.Random(size)
        text = "k,v\n" + "".join(f"{rng.randrange(50)},{rng.randrange(-1000, 1000)}\n" for _ in range(size))
        Path(machine.path(name)).write_text(text)
        return name

    def test_uncertainty(self):
        """What is assumed is said to be, and how far off it may be; the less so, the more of the device is known."""
        machine = self.machine(ONE_DEVICE)
        explain = ("explain", "query", self.rows(machine, 10**6, "t.csv"), *QUERY)
        before = machine.json(*explain)["uncertainty"][0]
        self.assertTrue(4 < before < 10, before)
        self.assertIn("a guess, likely within a factor of", machine.good(*explain).decode())
        Path(machine.path("t.jsonl")).write_text('{"k":1,"v":2}\n' * 200000)
        for _ in range(3):  # merges and finishes groups, too
            machine.good("query", "t.jsonl", *QUERY, "--order-by", "k", "-o", "out.csv")
        time.sleep(1.1)  # how often hacd looks at what it has learnt
        after = machine.json(*explain)["uncertainty"][0]
        if after is not None:
            self.assertLess(after, before)
        for _ in range(3):
            machine.good("query", "t.csv", *QUERY, "-o", "out.csv")
        self.assertEqual(machine.json(*explain)["uncertainty"], [None])
        self.assertNotIn("a guess, likely", machine.good(*explain).decode())

    def test_start(self):
        """An executor that is not running, and programs that it has not loaded, are part of a job's prediction, and said."""
        machine = self.machine(ONE_DEVICE)
        machine.generate("u32", "random", 1000)
        sort = ("sort", "in", "--type", "u32")
        for _ in range(3):
            machine.good(*sort, "-o", "out")
        warm = machine.json("explain", *sort)
        self.assertEqual(warm["start_seconds"], 0)
        self.assertLess(warm["predicted_seconds"], 0.02)
        ratios = []
        for _ in range(3):
            self.wait_idle(machine)
            cold = machine.json("explain", *sort)
            self.assertGreater(cold["start_seconds"], 0.005)
            self.assertGreater(cold["predicted_seconds"], cold["start_seconds"])
            self.assertRegex(machine.good("explain", *sort).decode(), r"predicted [0-9.]+ [mµ]?s with 1 task, [0-9.]+ [mµ]?s of it to start")
            ratios.append(self.ratio(machine, *sort, "-o", "out"))
        self.figures.append(f"sort 1000, executor not running: predicted / measured {', '.join(f'{ratio:.2f}' for ratio in ratios)}")
        self.assertTrue(0.1 < statistics.median(ratios) < 10, ratios)

    def wait_idle(self, machine):
        """Until hacd's executors have ended (machine.CONFIG)."""
        for _ in range(100):
            if not any(e for d in machine.devices() for e in d.get("executors", [])):
                return
            time.sleep(0.1)
        self.fail("executors do not end")

    def test_sort(self):
        def prepare(machine, size):
            rng = random.Random(size)
            Path(machine.path(f"keys{size}")).write_bytes(struct.pack(f"<{size}I", *(rng.getrandbits(32) for _ in range(size))))
            return ("sort", f"keys{size}", "--type", "u32", "-o", "out")
        self.check("sort", self.machine(ONE_DEVICE), prepare)

    def test_csv(self):
        def prepare(machine, size):
            return ("query", self.rows(machine, size, f"t{size}.csv"), *QUERY, "-o", "out.csv")
        self.check("query csv", self.machine(ONE_DEVICE), prepare)

    def test_parquet(self):
        def prepare(machine, size):
            rows = self.rows(machine, size, f"t{size}.csv")
            machine.good("-q", "parquet", "convert", rows, f"t{size}.parquet")
            return ("parquet", "query", f"t{size}.parquet", *QUERY, "-o", "out.csv")
        self.check("query parquet", self.machine(ONE_DEVICE), prepare)

    def test_kinds_in_turns(self):
        """Each query is predicted by what queries like it took, though others of the same format take ten times as long."""
        machine, jobs = self.machine(ONE_DEVICE), {}
        for size in (10**4, 10**5):
            rows = self.rows(machine, size, f"t{size}.csv")
            jobs[f"groups {size}"] = ("query", rows, *QUERY, "-o", "out.csv")
            jobs[f"rows {size}"] = ("query", rows, "--where", "v > 990", "--select", "k, v", "-o", "out.csv")
            jobs[f"order {size}"] = ("query", rows, "--order-by", "v", "--select", "k, v", "-o", "out.csv")
            jobs[f"convert {size}"] = ("-q", "parquet", "convert", rows, "out.parquet")
        self.check_jobs(machine, jobs)

    def test_statistics(self):
        """The answer stands in the file's statistics, and no row is read."""
        def prepare(machine, size):
            rows = self.rows(machine, size, f"t{size}.csv")
            machine.good("-q", "parquet", "convert", rows, f"t{size}.parquet", "--row-group-size", "256KiB")
            return ("parquet", "query", f"t{size}.parquet", "--select", "count() as c, max(v) as m", "-o", "out.csv")
        machine = self.machine(ONE_DEVICE)
        for _ in range(2):  # what reading them takes is known as well
            rows = self.rows(machine, SIZES[-1], "all.csv")
            machine.good("-q", "parquet", "convert", rows, "all.parquet")
            machine.good("parquet", "query", "all.parquet", "--select", "sum(v) as s, max(k) as m", "-o", "out.csv")
        self.check("query parquet statistics", machine, prepare)

    def test_opsplit(self):
        def prepare(machine, size):
            Path(machine.path(f"l{size}.yaml")).write_text(LOGIC.format(rows=size))
            return ("opsplit", "run", f"l{size}.yaml", "-o", "out")
        self.check("opsplit", self.machine(ONE_DEVICE), prepare)


if __name__ == "__main__":
    main()
