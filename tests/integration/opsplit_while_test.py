#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Short rounds of `while` as one task, op.while, give what single rounds give, to the byte. The oracle is a run where a
rule places the sub-operators (--placement rule): it has no such task."""
import json
import os
import re
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import TWO_DEVICES, Machine, SharedMachineTest, eventually, main  # noqa: E402

LOOP = """name: loop
vectors:
%(vectors)s
operators:
%(before)s
  - while: {condition: "%(condition)s", rounds: %(rounds)d}
    do:
%(body)s
outputs:
%(outputs)s
"""


def logic(body, vectors, outputs, condition="u < 150", rounds=1000, before=""):
    """`body` and `before`: steps, one a line; `vectors`: {name: declaration}; t counts rounds, u is known after the first."""
    declared = {"t": "{template: Var, type: i64, value: 0}", **vectors}
    return LOOP % {"vectors": "\n".join(f"  {name}: {text}" for name, text in declared.items()),
                   "before": "\n".join(f"  - {step}" for step in before.splitlines()),
                   "body": "\n".join(f"      {'' if step.startswith(' ') else '- '}{step}" for step in ['let: {t: "t + 1"}', "let: {u: t}", *body.splitlines()]),
                   "condition": condition, "rounds": rounds,
                   "outputs": "\n".join(f"  o{i}: {{columns: [{name}]}}" for i, name in enumerate(["t", *outputs]))}


VECTOR = "{template: FixValueVector, type: %s, value: %s, rows: %d}"
# 64 x 64, some 2,000 entries, rows of different lengths.
MATRIX = """fill: {value: "1", rows: 3000, out: one}
scan: {in: one, function: sum, out: number}
map: {expr: "cast(cast(number * number / 977 as i64) % 64 as u32)", out: row}
map: {expr: "cast(number * 7 % 61 as u32)", out: column}
map: {expr: "number / 1000.0 - 1", out: weight}
csr: {row: row, column: column, value: weight, rows: 64, columns: 64, out: link}"""
MATRIX_VECTORS = {"x": VECTOR % ("f64", 0.7, 64), "all": VECTOR % ("f64", 0, 64)}
LOOPS = {
    "swapped": logic("""map: {expr: "a + b", out: c}
let: {a: b, b: c}
map: {expr: "c % 1000003", out: b}""", {"a": VECTOR % ("i64", 1, 700), "b": VECTOR % ("i64", 2, 700)}, ["a", "b", "c"]),
    "carried in a chain": logic("""map: {expr: "a * 1.5 - b", out: next}
let: {c: b}
let: {b: a}
let: {a: next}
map: {expr: "a / (1 + abs(a))", out: a}""", {n: VECTOR % ("f64", v, 333) for n, v in (("a", 3), ("b", 1), ("c", 7))}, ["a", "b", "c"]),
    "written before it is read": logic("""map: {expr: "x + t", out: y}
map: {expr: "y * 2", out: z}
reduce: {in: z, function: sum, out: s}
map: {expr: "x + 1", out: x}""", {"x": VECTOR % ("f32", 0.5, 5000)}, ["x", "y", "z", "s"]),
    "single values": logic("""let: {rate: "rate * 0.97"}
let: {older: rate, half: "rate / 2 + older"}
map: {expr: "x - rate * half", out: x}""", {"x": VECTOR % ("f64", 1, 100), "rate": "{template: Var, type: f64, value: 0.3}",
                                            "older": "{template: Var, type: f64, value: 0}"}, ["x", "rate", "half", "older"]),
    "no numbers": logic("""let: {z: "z / z"}
map: {expr: "x * z", out: y}
reduce: {in: y, function: max, out: m}""", {"x": VECTOR % ("f64", -1, 10), "z": "{template: Var, type: f64, value: 0}"}, ["y", "z", "m"]),
    "a whole loop in a round": logic("""for: {index: i, from: 0, to: 3}
  do:
    - map: {expr: "x + i * t", out: x}
reduce: {in: x, function: sum, out: s}""",
                                     {"x": VECTOR % ("i64", 0, 900)}, ["x", "s"]),
    "gathered and scanned": logic("""scan: {in: x, function: sum, out: run}
map: {expr: "cast(run % 512 as u32)", out: place}
gather: {in: x, index: place, out: picked}
map: {expr: "(picked + x + t) % 97", out: x}
histogram: {in: x, bins: 16, from: 0, to: 97, out: bins}""", {"x": VECTOR % ("i64", 3, 512)}, ["x", "run", "bins"]),
    "more than eight buffers": logic("""map: {expr: "a + t", out: a}
map: {expr: "b + 3 * a", out: b}
map: {expr: "c + b", out: c}""", {name: VECTOR % ("i64", at, 40000) for at, name in enumerate("abc")}, ["a", "b", "c"]),
    "a matrix that stays": logic("""spmv: {matrix: link, in: x, out: y}
map: {expr: "all + y", out: all}
map: {expr: "y / (1 + abs(y)) + t", out: x}""", MATRIX_VECTORS, ["x", "all"], before=MATRIX),
    "a matrix that changes": logic("""spmv: {matrix: link, in: x, out: y}
map: {expr: "all + y", out: all}
transpose: {in: link, out: back}
let: {link: back}
map: {expr: "y / (1 + abs(y)) + t", out: x}""", MATRIX_VECTORS, ["x", "all"], before=MATRIX),
    "a matrix that is read by others": logic("""spmv: {matrix: link, in: x, out: y}
map: {expr: "all + y", out: all}
row_reduce: {in: link, function: sum, out: total}
map: {expr: "y / total + t", out: x}""", MATRIX_VECTORS, ["x", "all"], before=MATRIX),
}


class While(SharedMachineTest):
    def setUp(self):
        super().setUp()
        self.n = 0

    def run_logic(self, text, *options, machine=None, code=0):
        """({file: bytes}, the receipt, round lines of the log, standard error, codelets of the trace)"""
        machine = machine or self.m
        self.n += 1
        path, out, receipt, trace = (machine.work / f"{name}{self.n}" for name in ("logic.yaml", "out", "receipt", "trace"))
        path.write_text(text)
        result = machine.run("opsplit", "run", path, "-o", out, "--receipt", receipt, "--trace", trace, *options)
        self.assertEqual(result.code, code, result.err)
        files = {file.name: file.read_bytes() for file in sorted(out.iterdir())} if out.exists() else {}
        found = json.loads(receipt.read_text()) if receipt.exists() else {}
        ran = set(re.findall(r'"codelet": ?"(op\.[a-z_]+)', trace.read_text())) if trace.exists() else set()
        job = max(job["id"] for job in machine.json("jobs")["jobs"] if job["flow"] == "opsplit")
        lines = re.findall(r"round (\d+): (.*), [0-9.]+ s since the loop began", machine.good("log", job).decode())
        return files, found, lines, result.err.replace(path.name, "FILE"), ran

    def compare(self, text, *options, machine=None, code=0, tries=20):
        slow = self.run_logic(text, "--placement", "rule", *options, machine=machine, code=code)
        for turn in range(tries):  # on a busy machine a round may take too long to be tried as a task
            time.sleep(turn * 0.05)
            fast = self.run_logic(text, *options, machine=machine, code=code)
            if code != 0 or "op.while" in fast[4]:
                break
        self.assertEqual(fast[0], slow[0])
        self.assertEqual(fast[1].get("rounds"), slow[1].get("rounds"))
        self.assertEqual(fast[2], slow[2])
        self.assertEqual(fast[3], slow[3])
        self.assertNotIn("op.while", slow[4])
        if code == 0 and tries > 1:
            self.assertIn("op.while", fast[4])
        return fast

    def test_loops(self):
        for name, text in LOOPS.items():
            with self.subTest(name):
                self.compare(text)

    def test_ends(self):
        """At each round around the ends of tasks; by the condition, and by the number of rounds."""
        for end in (3, 4, 32, 33, 34, 35, 65, 66, 67, 117, 146, 147):
            for condition, rounds in ((f"s < {end * 5000}", 1000), ("s >= 0", end)):
                text = logic("""map: {expr: "x + 1", out: x}
reduce: {in: x, function: sum, out: s}""", {"x": VECTOR % ("i64", 0, 5000)}, ["x", "s"], condition, rounds)
                files, receipt, lines, _, _ = self.compare(text)
                self.assertEqual((receipt["rounds"], len(lines)), (end, end))
                self.assertEqual(files["o0.csv"].split()[1:], [b"%d" % end])

    def test_longer_rounds(self):
        """Rounds of one to five milliseconds are tried as tasks after the fourth; slower ones stay graphs."""
        tried = 0
        for end in (3, 4, 5, 6, 7, 8, 9, 12, 30):
            text = logic("""map: {expr: "x + sqrt(x + t)", out: x}
reduce: {in: x, function: sum, out: s}""", {"x": VECTOR % ("f64", 1, 300000)}, ["x", "s"], "s >= 0", end)
            _, receipt, lines, _, ran = self.compare(text, tries=1)
            self.assertEqual((receipt["rounds"], len(lines)), (end, end))
            tried += "op.while" in ran
        if tried == 0:
            print("no round was short enough to be tried as a task", file=sys.stderr)

    def test_failures(self):
        """A failure in a round of a task: the message is the same, and so are the rounds before."""
        for good in (2, 3, 17, 18, 40, 99):
            text = logic("""map: {expr: "x + 1", out: x}
map: {expr: "cast(x as i32)", out: small}""", {"x": VECTOR % ("i64", 2147483647 - good, 300)}, ["x", "small"])
            _, _, lines, err, _ = self.compare(text, code=1)
            self.assertEqual(len(lines), good)
            self.assertIn("row 0", err)

    def test_two_devices(self):
        two = Machine(TWO_DEVICES)
        self.addCleanup(two.close)
        for options in ((), ("--components", "3")):
            for name in ("swapped", "written before it is read"):
                self.compare(LOOPS[name], *options, machine=two)

    def test_kills(self):
        """A task whose executor dies begins anew."""
        m = Machine(TWO_DEVICES)
        self.addCleanup(m.close)
        daemon = m.baseline()
        text = logic("""map: {expr: "(x * 3 + t) % 1000003", out: x}
reduce: {in: x, function: sum, out: s}""", {"x": VECTOR % ("i64", 1, 4000)}, ["x", "s"], "s >= 0", 6000)
        wanted, killed = self.run_logic(text, "--placement", "rule", machine=m)[0], 0
        for turn in range(4):
            path, out = m.work / "killed.yaml", m.work / f"killed{turn}"
            path.write_text(text)
            process = m.start("opsplit", "run", path, "-o", out)
            for _ in range(12):  # 20 would end the job
                time.sleep(0.1)
                for pid in daemon.executor_pids()[:1]:
                    if process.poll() is None:
                        os.kill(pid, signal.SIGKILL)
                        killed += 1
            _, err = process.communicate()
            self.assertEqual(process.returncode, 0, err)
            self.assertEqual({file.name: file.read_bytes() for file in sorted(out.iterdir())}, wanted)
        self.assertGreater(killed, 4)
        m.check_clean()

    def test_memory(self):
        """Ten thousand rounds take no more memory than a hundred."""
        def peak(rounds):
            path = self.m.work / "long.yaml"
            path.write_text(logic("""map: {expr: "(x + t) % 13", out: x}
reduce: {in: x, function: sum, out: s}""", {"x": VECTOR % ("i64", 1, 16000)}, ["x"], "s >= 0", rounds))
            process, most = self.m.start("opsplit", "run", path, "-o", "long", "-q"), 0.0
            while process.poll() is None:
                found = re.findall(r'hacd_user_memory_bytes{[^}]*kind="used"[^}]*} ([0-9.e+]+)', self.m.good("metrics").decode())
                most = max([most, *map(float, found)])
            self.assertEqual(process.communicate()[1], b"")
            return most
        few = peak(300)
        self.assertLess(peak(20000), few + (4 << 20))

    def test_cancel(self):
        path = self.m.work / "endless.yaml"
        path.write_text(logic("""map: {expr: "x + 0", out: x}
reduce: {in: x, function: max, out: top}""", {"x": VECTOR % ("i64", 0, 4000)}, ["x"], "top < 1", 1000000000))
        for how in (lambda process, job: self.m.good("cancel", job), lambda process, job: process.send_signal(signal.SIGINT)):
            process = self.m.start("opsplit", "run", path, "-o", "cancelled", "-q")
            job = eventually(lambda: next((job["id"] for job in self.m.json("jobs")["jobs"] if job["state"] == "running" and
                                           b"round 100: " in self.m.good("log", job["id"])), None), 30)
            start = time.monotonic()
            how(process, job)
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, err)
            self.assertLess(time.monotonic() - start, 20)
            self.assertTrue(eventually(lambda j=job: self.m.json("show", j)["state"] == "cancelled"))


if __name__ == "__main__":
    main()
