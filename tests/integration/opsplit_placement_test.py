#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`explain opsplit run`: where each sub-operator of a logic file would run, and why."""
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, PLATFORM, Machine, main  # noqa: E402
from opsplit_test import EXAMPLES, LogicTest  # noqa: E402

PLACED = """
vectors:
  i: {type: i64, value: 1, rows: 1024}
  f: {type: f64, value: 1, rows: 1024}
outputs: {o: {columns: [whole]}}
operators:
  - map: {expr: "i + 1", out: whole}
  - map: {expr: "f + 1", out: real}
  - map: {expr: "i + 2", out: pinned, device: %s}
"""

OWN = "gpu" if PLATFORM else "cpu"  # the kind of the machines' devices
ONE_GPU = (ONE_DEVICE.replace("name: cpu", "name: gpu").replace("kind: cpu", "kind: gpu")
           .replace("memory: {host: true}", "memory: {host: false}"))
SIGMOID = """
vectors:
  x: {template: FixValueVector, type: f64, value: [-3, -0.5, 0, 1, 700]}
outputs: {o: {columns: [x]}}
operators:
  - for: {index: round, from: 0, to: 3}
    do:
      - map: {expr: "1 / (1 + exp(-x))", out: guess}
      - map: {expr: "guess * 2 - x", out: x}
      - reduce: {in: x, out: sum}
"""
TURNED = """
vectors:
  x: {type: f64, value: 1.5, rows: 200000}
outputs: {o: {columns: [total]}, x: {columns: [x]}}
operators:
  - range: {rows: x, out: place}
  - map: {expr: "199999 - place", out: back}
  - for: {index: i, from: 0, to: 12}
    do:
      - map: {expr: "x + place", out: y}
      - gather: {in: y, index: back, out: x}
      - reduce: {in: x, out: total}
"""


class Placement(LogicTest):
    """`explain opsplit run`: where each sub-operator would run, and why."""

    def placed(self, machine, logic, *options):
        """(tasks, open questions) of each sub-operator, in the file's order; nothing ran for it."""
        path = machine.root / "placed.yaml"
        path.write_text(logic)
        before = [job["id"] for job in machine.json("jobs")["jobs"]]
        answer = machine.json("explain", "opsplit", "run", path, *options)
        after = [job for job in machine.json("jobs")["jobs"] if job["flow"] == "opsplit" and job["id"] not in before]
        self.assertEqual(after, [])
        found = []

        def walk(steps):
            for step in steps:
                for piece in step.get("sub_operators", ()):
                    (placement,) = piece["placement"]
                    found.append((placement["tasks"], placement["open"]))
                walk(step.get("body", ()))
                walk(step.get("otherwise", ()))

        walk(answer["steps"])
        return found

    def ran(self, machine, *options):
        """The sub-operators of the last graph of a run of that file, from its receipt."""
        machine.good("opsplit", "run", machine.root / "placed.yaml", *options, "--receipt", "receipt", "-q")
        job = json.loads((machine.work / "receipt").read_text())["job"]
        return machine.json("show", str(job))["receipt"]["opsplit"]["sub_operators"]

    def test_rule(self):
        """The source's four cases at the threshold itself, with and without the type of processor."""
        gpu = Machine(ONE_DEVICE.replace("name: cpu", "name: other").replace("kind: cpu", "kind: gpu"))
        self.addCleanup(gpu.close)
        absent = ", of which there is none; measured"
        for machine, own in ((self.m, OWN), (gpu, "gpu")):
            for threshold, kinds in ((16384, ("gpu", "cpu")), (16385, ("cpu", "gpu"))):
                placed = self.placed(machine, PLACED % own, "--placement", "rule", "--threshold", str(threshold))
                for (tasks, still_open), kind, family in zip(placed, kinds, ("integer", "float")):
                    (task,) = tasks
                    self.assertIsNone(still_open)
                    self.assertEqual((task["codelet"], task["memory"], task["rows"], task["at_most"]),
                                     ("op.map", 16384, [0, 1024], False))
                    self.assertIn(f"rule: {family}, 0.0156 MiB {'≥' if threshold == 16384 else '<'} ", task["reason"])
                    says = f": {kind}" + ("" if kind == own else absent)
                    self.assertTrue(task["reason"].endswith(says), (task["reason"], says))
                ((pinned,), still_open) = placed[2]
                self.assertEqual((pinned["reason"], still_open), (f"pinned to {own}", None))
            placed = self.placed(machine, PLACED % "fpga", "--placement", "rule")
            self.assertIn("a run would fail: 9:5: map: no device that can run it is called 'fpga'", placed[2][1])

    def only_a_gpu(self, more=""):
        """A machine without a CPU device. Its programs are those of the seed."""
        gpu = Machine(ONE_GPU + more)
        self.addCleanup(gpu.close)
        return gpu

    def same_as_a_cpu(self, gpu, logic):
        """Runs a logic file on both machines; returns the log of the GPU's job, and why it ran as it did."""
        path = gpu.work / "logic.yaml"
        path.write_text(logic)
        receipt = gpu.work / "receipt"
        want = self.outcome(self.m, path, {})
        self.assertEqual(self.outcome(gpu, path, {}, "--receipt", receipt), want)
        job = str(json.loads(receipt.read_text())["job"])
        return gpu.good("log", job).decode(), gpu.good("why", job).decode()

    def test_only_a_gpu(self):
        """Host codelets do what kernels do differently, and explain knows it beforehand."""
        gpu = self.only_a_gpu()
        log, why = self.same_as_a_cpu(gpu, SIGMOID)
        self.assertNotIn("goes on with", log)
        self.assertIn("; by its host codelet", why)
        placed = self.placed(gpu, SIGMOID)
        self.assertEqual([[task["reason"].endswith("; by its host codelet") for task in tasks] for tasks, _ in placed[:2]],
                         [[True], [False]])
        self.assertEqual([task["devices"] for tasks, _ in placed for task in tasks], ["gpu"] * 3)
        path = gpu.work / "pinned.yaml"
        path.write_text(SIGMOID.replace("out: guess", "out: guess, device: gpu"))
        self.assertEqual(self.outcome(gpu, path, {}), self.outcome(gpu, gpu.work / "logic.yaml", {}))

    def test_kernels_refuse(self):
        """Host codelets also do what only the run shows to be impossible for kernels."""
        gpu = self.only_a_gpu("limits: {max_allocation: 1MiB}\n")
        log, why = self.same_as_a_cpu(gpu, TURNED)
        notes = [line for line in log.splitlines() if "goes on with the host codelet on gpu: " in line]
        self.assertTrue(all("op.gather.f64: op.gather.cl: operand 1 does not fit a window of 1048576 bytes" in line
                            for line in notes), log)
        self.assertEqual(len(notes), 8)  # though there are 12 rounds
        self.assertIn("It ran on gpu (100 %).", why)

    def test_measured(self):
        """With two devices both prices are shown; with a pin only the pinned device's."""
        placed = self.placed(self.two, PLACED % "cpu.1")
        for (task,), still_open in placed[:2]:
            self.assertRegex(task["reason"], r"measured: .*cpu\.0 [0-9.e-]+ ms.*, cpu\.1 [0-9.e-]+ ms")
            self.assertGreater(task["predicted_seconds"], 0)
            self.assertIsNone(still_open)
        (task,), _ = placed[2]
        self.assertEqual((task["devices"], task["reason"]), ("cpu.1", "pinned to cpu.1"))

    def as_a_run(self, machine, logic, options, n_tasks, piece=0):
        """explain and the receipt of a run agree on all sub-operators from one on."""
        said = [task for tasks, _ in self.placed(machine, logic, *options)[piece:] for task in tasks]
        said.sort(key=lambda task: task["sub_loop"])  # in the order of the run's graph
        ran = self.ran(machine, *options)
        self.assertEqual(len(said), n_tasks)
        said *= max(len(ran) // n_tasks, 1)  # batched rounds of a loop come several in a graph
        for key in ("codelet", "memory"):
            self.assertEqual([task[key] for task in said], [task[key] for task in ran])
        prices = re.compile(r"[0-9.e+-]+ ms( \(a guess\))?")  # a run of anything may teach the models
        self.assertEqual([prices.sub("_", task["reason"]) for task in said],
                         [prices.sub("_", task["reason"]) for task in ran])

    def test_as_a_run(self):
        """Graphs with components and dependencies, with sub-loops, and runs of several graphs."""
        chain = PLACED.replace("1024", "20000") % OWN + ("  - map: {expr: \"whole * 2\", out: twice}\n"
                                                           "  - reduce: {in: twice, out: sum}\n")
        loop = PLACED.replace("1024", "20000") % OWN + ("  - for: {index: j, from: 0, to: 10, split: 5}\n"
                                                          "    do: [{map: {expr: \"f * j\", out: scaled}}]\n")
        rounds = PLACED.replace("1024", "20000") % OWN + ("  - while: {condition: \"left > 3000\", rounds: 9}\n"
                                                            "    do:\n"
                                                            "      - map: {expr: \"f / 2\", out: half}\n"
                                                            "      - reduce: {in: half, out: left}\n"
                                                            "      - let: {f: half}\n")
        for machine in (self.m, self.two):
            for placement, most in (("rule", 9), ("measured", 2)):  # more that are measured may be one task
                options = ("--placement", placement, "--components", "3")
                self.as_a_run(machine, chain, options, 3 * 5 + 1)
                self.as_a_run(machine, rounds.replace("rounds: 9", f"rounds: {most}"), options, 3 + 3 + 1, piece=3)
        self.as_a_run(self.m, loop.replace("to: 10", "to: 5"), ("--placement", "rule"), 3 + 5)

    def test_open(self):
        """What only data can decide is marked as open, and the rest is not."""
        logic = """
inputs:
  t: {parse: csv, schema: "i:i64,f:f64"}
outputs: {o: {columns: [along]}}
operators:
  - filter: {where: "t.f > 0.5", in: [t.i, t.f], out: [ki, kf]}
  - map: {expr: "kf + 1", out: more}
  - sort: {in: t.f, out: sorted}
  - map: {expr: "sorted + 1", out: along}
  - reduce: {in: t.i, out: sum}
  - for: {index: j, from: 0, to: sum}
    do: [{map: {expr: "t.f * j", out: scaled}}]
  - if: {condition: "sum > 1"}
    then: [{let: {x: "1"}}]
    else: [{let: {x: "2"}}]
  - for: {index: j, from: 0, to: 0}
    do: [{map: {expr: "t.f * j", out: never}}]
  - fill: {value: 1, rows: sum, out: ones}
  - map: {expr: "ones + 1", out: twos}
"""
        placed = self.placed(self.m, logic)
        self.assertEqual([tasks for tasks, _ in placed[:6]], [[]] * 6)
        self.assertEqual(placed[0][1], "decided when the rows of `t.f` are known: --input t=FILE")
        self.assertEqual(placed[3][1], "decided when the rows of `sorted` are known")
        data = self.m.work / "t.csv"
        data.write_text("i,f\n" + "".join(f"{i},{i / 5000}\n" for i in range(5000)))
        kept, more, sort, along, total, scaled, one, two, never, ones, twos = self.placed(
            self.m, logic, "--input", f"t={data}")
        self.assertEqual([(task["codelet"], task["rows"], task["at_most"]) for task in kept[0] + more[0]],
                         [("op.filter_count", [0, 5000], False), ("op.filter_copy", [0, 5000], True),
                          ("op.filter_copy", [0, 5000], True), ("op.map", [0, 5000], True)])
        self.assertEqual(sort, ([], "a sort of 5000 f64, planned as a job of its own: hacctl explain sort --items "
                                    "5000 --type f64"))
        for (task,), still_open in (along, scaled):
            self.assertEqual((task["codelet"], task["rows"], task["at_most"], still_open), ("op.map", [0, 5000], False, None))
        self.assertEqual([task["codelet"] for task in total[0]], ["op.reduce", "op.combine"])
        self.assertEqual((one, two), (([], None), ([], None)))
        self.assertEqual(never, ([], "not run: the loop has no iterations"))
        self.assertEqual((ones, twos), (([], None), ([], "decided when the rows of `ones` are known")))
        self.m.bad(2, "explain", "opsplit", "run", self.m.root / "placed.yaml", "--input", "u=x", says="has no input")
        self.m.bad(1, "explain", "opsplit", "run", self.m.root / "placed.yaml", "--input", "t=none", says="none")

    def test_pagerank(self):
        """An example whose sizes all depend on the data: nothing stays open, and a run's rounds are the same tasks."""
        edges = self.m.work / "edges"
        edges.write_text("".join(f"{a} {a // 2}\n" for a in range(1, 60)))
        logic = (EXAMPLES / "pagerank.yaml").read_text().replace("1e-12", "1e-2")
        placed = self.placed(self.m, logic, "--input", f"edges={edges}")
        self.assertEqual([still_open for _, still_open in placed], [None] * len(placed))
        self.assertEqual([task["at_most"] for task in placed[0][0]], [False])
        last = [task for tasks, _ in placed[5:] for task in tasks]
        self.assertEqual({task["at_most"] for task in last}, {True})
        ran = [task["codelet"] for task in self.ran(self.m, "--placement", "rule", "--input", f"edges={edges}")]
        self.assertEqual(sorted(set(ran)), sorted({task["codelet"] for task in last} - {"op.combine"}))

    REDUCED = """
vectors:
  i: {type: i64, value: 1, rows: 200000}
  f: {type: f64, value: 2, rows: 200000}
operators:
  - range: {rows: i, out: k}
  - let: {single: "1"}
reducer: {key: k, keys: key, values: {%s}}
outputs: {o: {columns: [key]}}
"""

    def test_reducer(self):
        """Its keys, then value by value, each as in a run: cut as its key is, whatever ran before."""
        values = ("a: {function: sum, in: i}", "b: {function: max, in: f}", "c: {function: count}")
        for machine in (self.m, self.two):
            for first in range(3):  # the last one is in a run's receipt
                logic = self.REDUCED % ", ".join(values[first:] + values[:first])
                self.as_a_run(machine, logic, ("--components", "3"), 3 + 3, piece=-1)
            index = self.placed(machine, logic)[2]
            self.assertEqual([(task["codelet"], task["rows"], task["at_most"], task["components"]) for task in index[0]],
                             [("op.index", None, False, 1)])
            self.assertEqual(machine.json("explain", "opsplit", "run", machine.root / "placed.yaml")["steps"][-1]["kind"],
                             "reducer")

    def test_reducer_open(self):
        """At most as many keys as rows; nothing about an unknown number of rows."""
        logic = """
inputs: {t: {parse: csv, schema: "k:string,i:i64"}}
operators: [{map: {expr: "t.i + 1", out: more}}]
reducer: {key: t.k, keys: key, values: {sum: {function: sum, in: more}, n: {function: count}}}
outputs: {o: {columns: [key, sum, n]}}
"""
        self.assertEqual(self.placed(self.m, logic)[1:],
                         [([], "decided when the rows of `t.k` are known: --input t=FILE")] * 3)
        data = self.m.work / "t.csv"
        for rows in (5000, 0):
            data.write_text("k,i\n" + "".join(f"w{i % 7},{i}\n" for i in range(rows)))
            index, *values = self.placed(self.m, logic, "--input", f"t={data}")[1:]
            self.assertEqual([(task["codelet"], task["at_most"]) for task in index[0]], [("op.index", False)])
            want = [("op.keys", [0, 5000], True), ("op.keys_combine", [0, 5000], True)] if rows else []
            for tasks, still_open in values:
                self.assertEqual([(task["codelet"], task["rows"], task["at_most"]) for task in tasks], want)
                self.assertIsNone(still_open)
            self.ran(self.m, "--input", f"t={data}")

    def test_many(self):
        """More tasks than one graph takes."""
        logic = PLACED.replace("1024", "20000") % OWN + "".join(
            f"  - map: {{expr: \"real + {i}\", out: r{i}}}\n" for i in range(90))
        placed = self.placed(self.m, logic, "--components", "4")
        self.assertEqual({(len(tasks), still_open) for tasks, still_open in placed}, {(4, None)})

    def test_no_folder(self):
        """Nothing is written, and that is reported once, unless it is not wanted."""
        rows = "inputs: {t: {parse: csv, schema: 'v:i64'}}\n"
        device = "operators: [{map: {expr: t.v + 1, out: b}}]\noutputs: {o: {columns: [b]}}\n"
        (self.m.work / "v.csv").write_text("v\n1\n2\n")
        (self.m.work / "some.yaml").write_text(rows + device)
        (self.m.work / "none.yaml").write_text(rows + "outputs: {o: {columns: [t.v]}}\n")
        for logic in ("some.yaml", "none.yaml"):
            words = ("opsplit", "run", logic, "--input", "t=v.csv")
            done = self.m.run(*words)
            self.assertEqual((done.code, done.out, done.err), (0, b"", "hacctl: no output is written without -o DIR\n"))
            self.m.good(*words, "-q")
            self.m.good(*words, "-o", "folder")
        self.m.bad(1, "opsplit", "run", "some.yaml", "--input", "t=absent.csv", says="absent.csv")
        done = self.m.run("opsplit", "run", "some.yaml", "--input", "t=v.csv", "--detach")
        self.assertEqual((done.code, done.err), (0, "hacctl: no output is written without -o DIR\n"))
        self.m.good("wait", done.out.decode().strip())


if __name__ == "__main__":
    main()
