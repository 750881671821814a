#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Short rounds of `while` are sent several at a time, before their condition is known, with the same results."""
import json
import math
import re
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, TWO_DEVICES, Machine, SharedMachineTest, eventually, main  # noqa: E402

COUNT = """name: count
vectors:
  x: {template: FixValueVector, type: i64, value: 0, rows: 100}
  seen: {template: Var, type: i64, value: 0}
operators:
  - while: {condition: "top < %d", rounds: %d}
    do:
      - let: {round: "seen + 1"}
      - let: {seen: "round"}
      - map: {expr: "x + 1", out: x}
      - reduce: {in: x, function: max, out: top}
outputs: {o: {columns: [x]}, seen: {columns: [seen]}}
"""
DOUBLE = """name: double
vectors:
  x: {template: FixValueVector, type: i64, value: 1, rows: 100}
operators:
  - while: {condition: "%s", rounds: 1000}
    do:
      - map: {expr: "x * 2", out: x}
      - reduce: {in: x, function: max, out: top}
outputs: {o: {columns: [x]}}
"""
# Sizes and an `if` that depend on what a round has written.
SIZES = """name: sizes
vectors:
  x: {template: FixValueVector, type: i64, value: 1, rows: 100}
  seen: {template: Var, type: i64, value: 0}
operators:
  - while: {condition: "top < 60", rounds: 1000}
    do:
      - map: {expr: "x + 1", out: x}
      - filter: {where: "x % 3 = 0", in: x, out: thirds}
      - reduce: {in: thirds, function: count, out: n}
      - if: {condition: "n > 0"}
        then: [{let: {seen: "seen + 1"}}]
        else: [{let: {seen: "seen + 0"}}]
      - reduce: {in: x, function: max, out: top}
outputs: {seen: {columns: [seen]}}
"""
NESTED = """name: nested
vectors:
  total: {template: FixValueVector, type: i64, value: 0, rows: 100}
operators:
  - while: {condition: "most < 400", rounds: 1000}
    do:
      - map: {expr: "total * 0", out: x}
      - while: {condition: "top < 40", rounds: 1000}
        do:
          - for: {index: i, from: 0, to: 2}
            do:
              - map: {expr: "x + i", out: x}
          - reduce: {in: x, function: max, out: top}
      - map: {expr: "total + x", out: total}
      - reduce: {in: total, function: max, out: most}
outputs: {o: {columns: [total]}}
"""
# In each inner loop a round that turns out to need a value of its own is taken back.
TAKEN_BACK = """name: taken-back
vectors:
  v: {template: FixValueVector, type: i64, value: 7, rows: 50000}
  m: {template: Var, type: i64, value: 0}
  x: {template: FixValueVector, type: i64, value: 0, rows: 100}
operators:
  - while: {condition: "m < %d", rounds: 1000}
    do:
      - let: {m: "m + 1"}
      - let: {k: "m * 0"}
      - while: {condition: "k < 40", rounds: 1000}
        do:
          - let: {k: "k + 1"}
          - map: {expr: "x + 1", out: x}
          - if: {condition: "k %% 37 = 0"}
            then: [{index: {in: v, out: ids, distinct: d}}]
            else: [{let: {z: "k"}}]
outputs: {o: {columns: [x]}}
"""
# Scalars computed from what the round before has left: whether rounds go together or not.
ROOTS = """name: roots
vectors:
  x: {template: FixValueVector, type: f64, value: 1, rows: 100}
  root: {template: Var, type: f64, value: 0}
  all: {template: Var, type: f64, value: 0}
operators:
  - while: {condition: "top < 300", rounds: 1000}
    do:
      - let: {root: "sqrt(all) + root / 3"}
      - map: {expr: "x + 1", out: x}
      - reduce: {in: x, function: sum, out: all}
      - reduce: {in: x, function: max, out: top}
outputs: {o: {columns: [root]}}
"""


# Many loops of three rounds.
SHORT = """name: short
vectors:
  total: {template: FixValueVector, type: i64, value: 0, rows: 100}
operators:
  - while: {condition: "most < 300", rounds: 1000}
    do:
      - map: {expr: "total * 0", out: x}
      - while: {condition: "top < 3", rounds: 1000}
        do:
          - map: {expr: "x + 1", out: x}
          - reduce: {in: x, function: max, out: top}
      - map: {expr: "total + x", out: total}
      - reduce: {in: total, function: max, out: most}
outputs: {o: {columns: [total]}}
"""


# Rounds of a few milliseconds, of which few are sent ahead, with an inner loop that has nothing to run.
WITHIN = """name: within
vectors:
  x: {template: FixValueVector, type: i64, value: 0, rows: %d}
  fixed: {template: Var, type: i64, value: 1}
operators:
  - while: {condition: "top < 40", rounds: 1000}
    do:
      - while: {condition: "fixed < 2", rounds: 1}
        do:
          - let: {same: fixed}
      - map: {expr: "x + 1%s", out: x}
      - reduce: {in: x, function: max, out: top}
outputs: {o: {columns: [x]}}
"""
TERMS = "".join(f" + (x + {i}) % {1000003 + i} * 0" for i in range(12))


class Rounds(SharedMachineTest):
    def numbers(self, folder, name):
        return [int(line) for line in (folder / name).read_text().split()[1:]]

    def test_short_loops(self):
        """The limit on useless rounds applies to the whole run: a hundred loops do not each waste as much."""
        out, receipt, _ = self.run_logic(SHORT)
        self.assertEqual(self.numbers(out, "o.csv"), [300] * 100)
        self.assertLess(receipt["tasks"], 1300)  # some 910 rounds count, and 2 ms have room for a hundred rounds at most

    def run_logic(self, text, machine=None, *options):
        """Folder of the results, receipt, and the job's log."""
        machine = machine or self.m
        path, out, receipt = (machine.work / name for name in ("logic.yaml", "out", "receipt.json"))
        path.write_text(text)
        machine.good("opsplit", "run", path, "-o", out, "--receipt", receipt, *options)
        found = json.loads(receipt.read_text())
        return out, found, machine.good("log", found["job"]).decode()

    def check_log(self, log, name, values):
        """One line each, in order."""
        lines = re.findall(rf"round (\d+): {name} = (-?\d+), [0-9.]+ s since the loop began", log)
        self.assertEqual([(int(n), int(value)) for n, value in lines], list(enumerate(values, 1)))

    def test_ends(self):
        """The loop ends at the round whose condition is false, however many rounds were sent."""
        for end in (1, 2, 16, 17, 18, 19, *range(31, 40), 50, 64, 65, 66, 67, 99, 160, 161, 163):
            out, receipt, log = self.run_logic(COUNT % (end, 10000))
            self.assertEqual(self.numbers(out, "o.csv"), [end] * 100)
            self.assertEqual(self.numbers(out, "seen.csv"), [end])
            self.assertEqual(receipt["rounds"], end)
            self.check_log(log, "top", range(1, end + 1))
            self.assertLessEqual(receipt["graphs"], end + 1)  # the last one is useless
            self.assertLessEqual(log.count("to hand over"), end)  # rounds in one task have no such lines

    def test_several_at_a_time(self):
        """Of so many rounds, some take less than a millisecond."""
        out, receipt, _ = self.run_logic(COUNT % (1500, 10000))
        self.assertEqual(self.numbers(out, "o.csv"), [1500] * 100)
        self.assertEqual(receipt["rounds"], 1500)
        self.assertLess(receipt["graphs"], 1500)

    def test_small_vectors_share_buffers(self):
        """A graph names 32 buffers; vectors of each size up to 128 KiB share a few. None is overwritten."""
        rows = (1, 32, 33, 1000, 8192, 16384)
        steps = "".join(f"      - map: {{expr: 'x{n} + {i}', out: y{n}_{i}}}\n" for n in rows for i in range(20))
        text = ("vectors:\n" + "".join(f"  x{n}: {{type: i64, value: {n}, rows: {n}}}\n" for n in rows) +
                "operators:\n  - op: all\n    do:\n" + steps + "outputs:\n" +
                "".join(f"  o{n}: {{columns: [{', '.join(f'y{n}_{i}' for i in range(20))}]}}\n" for n in rows))
        out, receipt, _ = self.run_logic(text)
        self.assertEqual(receipt["graphs"], 1)
        for n in rows:
            lines = (out / f"o{n}.csv").read_text().split()[1:]
            self.assertEqual(lines, [",".join(str(n + i) for i in range(20))] * n)

    def test_limit(self):
        """There are never more rounds than the file allows."""
        for rounds in (1, 2, 17, 32, 33, 34, 35, 40, 66, 77, 200):
            out, receipt, log = self.run_logic(COUNT % (1 << 40, rounds))
            self.assertEqual(self.numbers(out, "o.csv"), [rounds] * 100)
            self.assertEqual(self.numbers(out, "seen.csv"), [rounds])
            self.assertEqual(receipt["rounds"], rounds)
            self.check_log(log, "top", range(1, rounds + 1))

    def test_unwanted_failure(self):
        """The round after the last one would fail."""
        out, receipt, log = self.run_logic(DOUBLE % "top < 4611686018427387904")
        self.assertEqual(self.numbers(out, "o.csv"), [1 << 62] * 100)
        self.assertEqual(receipt["rounds"], 62)
        self.check_log(log, "top", [1 << i for i in range(1, 63)])
        state = [job for job in json.loads(self.m.good("jobs", "--json"))["jobs"] if job["id"] == receipt["job"]]
        self.assertEqual([job["state"] for job in state], ["done"])

    def test_failure(self):
        """A round that counts fails."""
        path = self.m.work / "fails.yaml"
        path.write_text(DOUBLE % "top > 0")
        self.m.bad(1, "opsplit", "run", path, "-o", "nothing", says="fails.yaml:7:9: map: op.map: row 0")
        job = max(job["id"] for job in json.loads(self.m.good("jobs", "--json"))["jobs"])
        self.check_log(self.m.good("log", job).decode(), "top", [1 << i for i in range(1, 63)])

    def in_rounds(self, process):
        """The number of the job when two of its graphs are in flight."""
        def found():
            for job in self.m.json("jobs")["jobs"]:
                if job["state"] == "running" and b"round 100: " in self.m.good("log", job["id"]):
                    return job["id"]
            return None
        job = eventually(found, 30)
        self.assertIsNone(process.poll())
        self.assertTrue(job)
        return job

    def test_cancel(self):
        """With two graphs in flight, by another program or by a signal."""
        path = self.m.work / "endless.yaml"
        path.write_text(COUNT % (1 << 40, 1000000000))
        for how in (lambda process, job: self.m.good("cancel", job), lambda process, job: process.send_signal(signal.SIGINT)):
            process = self.m.start("opsplit", "run", path, "-o", "cancelled", "-q")
            job = self.in_rounds(process)
            how(process, job)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (130, b""), err)
            self.assertIn(b"cancelled", err)
            self.assertTrue(eventually(lambda j=job: self.m.json("show", j)["state"] == "cancelled"))

    def test_little_memory(self):
        """Without memory for a second graph, rounds go without it."""
        little = Machine(ONE_DEVICE, {"pool_memory_per_user": "6MiB"})
        self.addCleanup(little.close)
        out, receipt, log = self.run_logic((COUNT % (200, 1000)).replace("rows: 100", "rows: 100000"), little)
        self.assertEqual(self.numbers(out, "o.csv"), [200] * 100000)
        self.assertEqual(receipt["rounds"], 200)
        self.check_log(log, "top", range(1, 201))

    def test_values_between(self):
        """A body that reads what it writes."""
        out, receipt, _ = self.run_logic(SIZES)
        self.assertEqual(self.numbers(out, "seen.csv"), [20])
        self.assertEqual(receipt["rounds"], 59)
        self.assertGreaterEqual(receipt["graphs"], 2 * 59)

    def peak_of(self, inner_loops):
        """The largest pool memory seen during the run, in MiB."""
        path, most = self.m.work / "logic.yaml", 0
        path.write_text(TAKEN_BACK % inner_loops)
        process = self.m.start("opsplit", "run", path, "-o", "taken", "-q")
        while process.poll() is None:
            found = re.findall(r'hacd_user_memory_bytes{[^}]*kind="used"[^}]*} ([0-9.e+]+)', self.m.good("metrics").decode())
            most = max([most, *map(float, found)])
        out, err = process.communicate()
        self.assertEqual((process.returncode, out, err), (0, b"", b""))
        self.assertEqual(self.numbers(self.m.work / "taken", "o.csv"), [40 * inner_loops] * 100)
        return most / (1 << 20)

    def test_taken_back(self):
        """It leaves no memory behind."""
        few = self.peak_of(20)
        self.assertGreater(few, 0)
        self.assertLess(self.peak_of(100), few + 16)  # 0.6 MiB each would be 48

    def test_values_of_the_round_before(self):
        x, root, everything = 1.0, 0.0, 0.0
        while True:
            root = math.sqrt(everything) + root / 3
            x += 1
            everything = 100 * x
            if x >= 300:
                break
        out, receipt, _ = self.run_logic(ROOTS)
        self.assertEqual([float(line) for line in (out / "o.csv").read_text().split()[1:]], [root])
        self.assertEqual(receipt["rounds"], 299)

    def test_nested(self):
        """Inner loops end where they should in every outer round."""
        out, receipt, _ = self.run_logic(NESTED)
        self.assertEqual(self.numbers(out, "o.csv"), [400] * 100)
        self.assertEqual(receipt["rounds"], 10 * (1 + 40 * 3))

    def test_within_long_rounds(self):
        """An inner loop in a round that is sent ahead leaves the graphs in flight alone."""
        for rows in (2000, 5000, 10000, 20000, 40000):  # how long they take depends on the machine
            out, receipt, _ = self.run_logic(WITHIN % (rows, TERMS))
            self.assertEqual(self.numbers(out, "o.csv"), [40] * rows)
            self.assertEqual(receipt["rounds"], 40 * 2)

    def test_two_devices(self):
        two = Machine(TWO_DEVICES)
        self.addCleanup(two.close)
        for options in ((), ("--components", "3"), ("--placement", "rule", "--components", "2")):
            out, receipt, log = self.run_logic(COUNT % (70, 1000), two, *options)
            self.assertEqual(self.numbers(out, "o.csv"), [70] * 100)
            self.assertEqual(receipt["rounds"], 70)
            self.check_log(log, "top", range(1, 71))

    def test_kills(self):
        """Executors that die lose nothing."""
        path = self.m.work / "long.yaml"
        path.write_text(COUNT % (10000, 20000))
        daemon = self.m.daemon()
        process = self.m.start("opsplit", "run", path, "-o", "killed", "-q")
        kills = daemon.kill_executors_while(process, 3, pause=0.03)
        out, err = process.communicate()
        self.assertEqual((process.returncode, out, err), (0, b"", b""))
        self.assertGreater(kills, 0)
        self.assertEqual(self.numbers(self.m.work / "killed", "o.csv"), [10000] * 100)


if __name__ == "__main__":
    main()
