#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Partitioners and Map interfaces of logic files: which rows each component gets, as a plan and a trace show it, and that
the results have the same bytes with every partitioner. The expected rows are computed here, from the inputs."""
import json
import os
import random
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import TWO_DEVICES, Machine, SharedMachineTest, main  # noqa: E402

BLOCK = 4096  # rows of a block: sums are added up by blocks, and rows that are dealt one by one come in whole blocks
ROWS, SPLIT = 20000, 3
LOGIC = """name: cut
inputs:
  p: {{parse: csv, schema: "x:f64,y:f64,k:i64,w:i64,name:string", matrix: {{m: [x, y]}}}}
vectors:
  a: {{template: FixValueVector, type: f64, split: 3, partitioner: {partitioner}}}
  one: {{template: FixValueVector, type: f64, value: [0.5, -0.25]}}
  near: {{template: PVar, value: [[0.5, 1], [-3, 2], [4, -4]]}}
operators:
  - op: walk
    operation: {operation}
    do:
      - map: {{expr: "p.w * 2 + sqrt(cast(abs(p.k) as f64))", out: a}}
      - map: {{expr: "a / 3 + p.w", out: b}}
      - gemv: {{matrix: p.m, in: one, out: product}}
      - nearest: {{in: p.m, to: near, function: euclidean, out: cluster, distance: far}}
      - gather: {{in: near, index: cluster, out: centre}}
      - reduce: {{expr: "b * product", function: sum, out: total}}
      - scan: {{in: b, out: running}}
      - map: {{expr: "centre * 2", out: twice}}
      - let: {{c: "b - total"}}
outputs:
  out: {{format: csv, columns: {{a: a, b: b, product: product, cluster: cluster, far: far, running: running, c: c}}}}
  twice: {{format: csv, columns: [twice]}}
"""
PARTITIONERS = ("range", "hash", "round-robin", "weight", "{weight: p.w}", "{hash: p.name}", "{hash: p.k}", "{hash: p.m}",
                '{expr: "p.k"}', '{expr: "p.k * 0 - 1"}', '{expr: "cast(a as i64)"}', '{expr: "2"}')


def blocks(rows):
    return -(-rows // BLOCK) * BLOCK


def random_table():
    """Rows of x, y, k, w, name: the last quarter weighs most."""
    r = random.Random(5)
    return [(r.uniform(-9, 9), r.gauss(0, 3), r.randrange(-3, 7) if i % 9 else 2, 100 if i > 15000 else i % 3,
             f"n{r.randrange(400)}") for i in range(ROWS)]


def text_of(table):
    return "x,y,k,w,name\n" + "".join(f"{x!r},{y!r},{k},{w},{n}\n" for x, y, k, w, n in table)


class CutsTest(SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.two = Machine(TWO_DEVICES)
        cls.addClassCleanup(cls.two.close)
        cls.table = random_table()
        cls.csv = cls.m.root / "p.csv"
        cls.csv.write_text(text_of(cls.table))

    def write(self, machine, text):
        path = machine.work / "cut.yaml"
        path.write_text(text)
        return path

    def run_one(self, machine, text, *options, inputs=None):
        words = [word for i in (inputs if inputs is not None else (f"p={self.csv}",)) for word in ("--input", i)]
        out = machine.work / "out"
        shutil.rmtree(out, ignore_errors=True)
        machine.good("opsplit", "run", self.write(machine, text), *words, "-o", out, *options)
        return {path.name: path.read_bytes() for path in out.iterdir()}

    def tasks(self, machine, text, name, inputs=None, options=()):
        """{codelet: [(component, first row, end)]} of a sub-operator, as explain shows it, and its line of JSON."""
        words = [word for i in inputs or (f"p={self.csv}",) for word in ("--input", i)]
        plan = json.loads(machine.good("explain", "--format", "json", "opsplit", "run", self.write(machine, text), *words,
                                       *options))
        (found,) = [s for step in plan["steps"] for s in step["sub_operators"] if name in s["writes"]]
        ranges = {}
        for task in found["placement"][0]["tasks"]:
            ranges.setdefault(task["codelet"], []).append((task["component"], *(task["rows"] or ())))
        return ranges, found


class Partitioners(CutsTest):
    """LOGIC with every partitioner."""

    def test_same_bytes(self):
        first = self.run_one(self.m, LOGIC.format(partitioner="range", operation="VectorMap"))
        rows = first["out.csv"].decode().splitlines()[1:]
        self.assertEqual(len(rows), ROWS)
        for i in (0, 4095, 4096, ROWS - 1):  # compare one with outside values: the others are compared with ranges
            _, _, k, w, _ = self.table[i]
            self.assertAlmostEqual(float(rows[i].split(",")[0]), w * 2 + abs(k) ** 0.5)
        for partitioner in PARTITIONERS:
            for machine, options in ((self.m, ()), (self.two, ()), (self.two, ("--kernels",)), (self.two, ("--placement", "rule"))):
                with self.subTest(partitioner=partitioner, devices=1 if machine is self.m else 2, options=options):
                    got = self.run_one(machine, LOGIC.format(partitioner=partitioner, operation="VectorMap"), *options)
                    self.assertEqual(sorted(got), sorted(first))
                    for name, data in first.items():
                        self.assertTrue(got[name] == data, f"{name} is another")

    def test_many_components(self):
        """More components than a job accepts for one vector."""
        wanted = self.run_one(self.m, LOGIC.format(partitioner="range", operation="VectorMap"))
        for partitioner in ("round-robin", "{hash: p.name}", "{weight: p.w}"):
            for split in (64, 65, 1024):
                text = LOGIC.format(partitioner=partitioner, operation="VectorMap").replace("split: 3", f"split: {split}")
                self.assertEqual(self.run_one(self.m, text), wanted, (partitioner, split))

    def placed(self, partitioner, component_of):
        """Rows of each component, one by one: as many whole blocks of places as its rows need."""
        counts = [0] * SPLIT
        for i, row in enumerate(self.table):
            counts[component_of(i, row)] += 1
        want, at = [], 0
        for count in counts:
            if count > 0:
                want.append((len(want), at, at + blocks(count)))
                at += blocks(count)
        tasks, line = self.tasks(self.m, LOGIC.format(partitioner=partitioner, operation="VectorMap"), "product")
        self.assertEqual(tasks["op.gemv"], want, partitioner)
        self.assertEqual(tasks["op.gather"], want)
        self.assertEqual(len(tasks["op.scatter"]), 1)
        self.assertTrue(all(t["places"] == (t["codelet"] != "op.scatter") for t in line["placement"][0]["tasks"]))
        return line

    def test_where_rows_go(self):
        line = self.placed("round-robin", lambda i, row: i % SPLIT)
        self.assertEqual((line["partitioner"], line["rows"]), ("round-robin", None))
        self.placed('{expr: "p.k"}', lambda i, row: row[2] % SPLIT)

    def test_equal_values_stay_together(self):
        """Of 400 names each component gets some; of few numbers, a component gets all rows of the numbers it has."""
        tasks, _ = self.tasks(self.m, LOGIC.format(partitioner="{hash: p.name}", operation="VectorMap"), "product")
        self.assertEqual(len(tasks["op.gemv"]), SPLIT)
        by_k, _ = self.tasks(self.m, LOGIC.format(partitioner="{hash: p.k}", operation="VectorMap"), "product")
        sizes = [end - first for _, first, end in by_k["op.gemv"]]
        counts = {}
        for row in self.table:
            counts[row[2]] = counts.get(row[2], 0) + 1
        possible = {0}
        for count in counts.values():
            possible |= {p + count for p in possible}
        for size in sizes:
            self.assertTrue(any(blocks(p) == size for p in possible), (sizes, counts))

    def test_weights(self):
        """Ranges that each have a third of the weight, as closely as whole blocks allow; sums are cut the same way."""
        total, sums = 0, [0]
        for row in self.table:
            total += row[3]
            sums.append(total)
        want, at = [], 0
        for c in range(1, SPLIT + 1):
            target = total * c / SPLIT
            row = min(range(ROWS + 1), key=lambda r: (abs(sums[r] - target), r)) if c < SPLIT else ROWS
            end = min(blocks(row), ROWS)
            if end > at:
                want.append((len(want), at, end))
                at = end
        for name, codelet in (("product", "op.gemv"), ("total", "op.reduce"), ("b", "op.map")):
            tasks, line = self.tasks(self.m, LOGIC.format(partitioner="{weight: p.w}", operation="VectorMap"), name)
            if codelet == "op.gemv":  # which may be cut at any 64 rows
                self.assertTrue(all(abs(a - b) <= BLOCK for x, y in zip(tasks[codelet], want) for a, b in zip(x, y)))
            else:
                self.assertEqual(tasks[codelet], want)
            self.assertEqual(line["partitioner"], "weight")

    def test_more_components_than_a_job_takes(self):
        """A job accepts 64 components of one sub-operator; a message fewer where each needs much text; a task waits for 64."""
        logic = LOGIC.replace("split: 3", "split: {split}")
        want = self.run_one(self.two, logic.format(partitioner="range", operation="VectorMap", split=1))
        for split in (40, 64, 65, 1024):
            for partitioner in ("range", "round-robin", "{hash: p.name}"):
                got = self.run_one(self.two, logic.format(partitioner=partitioner, operation="VectorMap", split=split))
                self.assertTrue(got == want, f"{partitioner} in {split}")
        terms = " + ".join(f"sqrt(abs(p.x)) * {i}.5 - if(p.k > {i}, p.x, p.y)" for i in range(12))
        long = """name: long
inputs: {{p: {{parse: csv, schema: "x:f64,y:f64,k:i64,w:i64,name:string"}}}}
vectors: {{a: {{template: FixValueVector, type: f64, split: {split}, partitioner: {partitioner}}}}}
operators: [map: {{expr: "{terms}", out: a}}]
outputs: {{o: {{format: raw, columns: [a]}}}}
"""
        (want,) = self.run_one(self.m, long.format(partitioner="range", split=1, terms=terms)).values()
        (got,) = self.run_one(self.m, long.format(partitioner="round-robin", split=64, terms=terms)).values()
        self.assertEqual(got, want)

    def test_many_to_wait_for(self):
        """Two vectors, each made by more tasks than half of those that a task may wait for."""
        logic = """name: wait
vectors: {{a: {{template: FixValueVector, type: i64, split: {split}}}}}
operators:
  - range: {{rows: 200000, out: i}}
  - map: {{expr: "i * 2", out: a}}
  - map: {{expr: "199999 - i", out: b}}
  - scatter: {{in: a, index: b, rows: 200000, out: c}}
outputs: {{o: {{format: raw, columns: [c]}}}}
"""
        want = b"".join((2 * (199999 - i)).to_bytes(8, "little") for i in range(200000))
        for split in (1, 33, 40):
            self.assertTrue(self.run_one(self.two, logic.format(split=split), inputs=())["o.bin"] == want, split)

    def test_what_says_nothing(self):
        """Rows are cut by range where the partitioner's input does not belong to these rows, or has no rows in memory."""
        for made in ("fill: {rows: 5, value: 1, out: a}", "range: {rows: 5, from: 1, out: a}"):
            logic = ('name: none\nvectors: {k: {type: i64, value: [1, 2, 3, 4, 5]}, a: {template: FixValueVector, type: i64, '
                     f'split: 3, partitioner: {{expr: "k"}}}}}}\noperators: [{made}, map: {{expr: "a * 0 + k", out: b}}]\n'
                     "outputs: {o: {format: csv, columns: [b]}}\n")
            self.assertEqual(self.run_one(self.m, logic, inputs=())["o.csv"].split(), b"b 1 2 3 4 5".split())
        before = ('name: before\ninputs: {p: {parse: csv, schema: "x:i64"}}\nvectors: {a: {template: FixValueVector, type: i64, '
                  'split: 3, partitioner: {expr: "k + j"}}, r: {type: i64, value: [1, 2, 3]}}\noperators: [let: {k: p.x, '
                  'j: p.x}, let: {j: r}, map: {expr: "r * 2", out: a}, let: {k: r}]\noutputs: {o: {format: csv, columns: [a]}}\n')
        for rows in ("5\n", "5\n6\n"):  # k has other rows than j then; one row is not one value for all
            Path(self.m.path("before.csv")).write_text("x\n" + rows)
            got = self.run_one(self.m, before, inputs=("p=before.csv",))
            self.assertEqual(got["o.csv"].split(), b"a 2 4 6".split())
        sparse = ("name: sparse\nvectors: {a: {template: SparseValueVector, type: f64, split: 3, partitioner: weight, "
                  "value: {rows: 1099511627776, indices: [1, 5], values: [2, 3]}}}\n"
                  "operators: [reduce: {in: a, function: sum, out: s}]\noutputs: {o: {format: csv, columns: [s]}}\n")
        self.assertEqual(self.run_one(self.m, sparse, inputs=())["o.csv"].split(), [b"s", b"5.0"])

    def test_failures_name_the_row(self):
        """The row of the vector, not its place in the component."""
        text = LOGIC.format(partitioner="round-robin", operation="VectorMap").replace("a / 3 + p.w", 
                                                                                "a / 3 + (9223372036854775800 + if(i = 12345, 100, 1))")
        text = text.replace("- op: walk", "- range: {rows: p.k, out: i}\n  - op: walk")
        said = self.m.bad(1, "opsplit", "run", self.write(self.m, text), "--input", f"p={self.csv}", "-o", self.m.work / "bad",
                          says="row 12345: ")
        self.assertIn("cut.yaml:", said)


class MapInterfaces(CutsTest):
    """What each `operation` does to how its OP is cut."""

    def cut(self, operation, name, options=()):
        logic = LOGIC.format(partitioner="range", operation=operation).replace("split: 3, ", "")
        return self.tasks(self.m, logic, name, options=options)

    def test_vectors_and_matrices(self):
        for operation in ("VectorMap", "MatrixMap", "CrossMap"):
            tasks, line = self.cut(operation, "b", ("--components", "5"))
            self.assertEqual((line["components"], len(tasks["op.map"])), (5, 5), operation)

    def test_global(self):
        """Nothing is cut, whatever the partitioner says."""
        for name in ("b", "total", "running"):
            tasks, line = self.cut("GlobalMap", name, ("--components", "5"))
            self.assertEqual(line["components"], 1)
            self.assertTrue(all(len(t) == 1 for t in tasks.values()), tasks)

    def test_tasks(self):
        """A component for each processor."""
        processors = min(os.cpu_count(), 64)
        tasks, line = self.cut("TaskMap", "b")
        self.assertEqual(line["components"], processors)
        self.assertEqual(len(tasks["op.map"]), min(processors, ROWS // BLOCK + 1))
        tasks, line = self.cut("TaskMap", "b", ("--components", "2"))
        self.assertEqual(line["components"], 2)

    def test_directory(self):
        """Components end where files end, as closely as whole blocks allow."""
        folder = self.m.work / "folder"
        folder.mkdir()
        sizes = {"a": 5 * BLOCK, "b": 100, "c": 2 * BLOCK, "d": 9 * BLOCK, "e": 1}
        for name, n in sizes.items():
            (folder / f"{name}.csv").write_text("v\n" + "".join(f"{i}\n" for i in range(n)))
        logic = """name: files
inputs:
  f: {directory: true, parse: csv, schema: "v:i64"}
operators:
  - op: count
    operation: DirMap
    do:
      - map: {expr: "f.v * 2", out: twice}
      - reduce: {in: twice, function: sum, out: total}
outputs: {o: {columns: {total: total}}}
"""
        tasks, line = self.tasks(self.m, logic, "twice", inputs=(f"f={folder}",), options=("--components", "3"))
        rows = sum(sizes.values())
        # A third of the rows is 5.4 blocks: the nearest end is that of b, five blocks and a hundred rows. Two thirds are the
        # end of c, seven blocks and a hundred.
        want = [(0, 0, 6 * BLOCK), (1, 6 * BLOCK, 8 * BLOCK), (2, 8 * BLOCK, rows)]
        self.assertEqual(tasks["op.map"], want)
        self.assertEqual(line["partitioner"], "files")
        got = self.run_one(self.m, logic, "--components", "3", inputs=(f"f={folder}",))
        self.assertEqual(got["o.csv"].decode().split()[1], str(sum(n * (n - 1) for n in sizes.values())))

    def test_what_an_operation_needs(self):
        logic = LOGIC.format(partitioner="range", operation="DirMap")
        self.m.bad(2, "opsplit", "check", self.write(self.m, logic),
                   says="DirMap walks the files of a directory, and none of its sub-operators has rows of an input")


class Plans(CutsTest):
    """The fields of every flow's plan, for a logic file: one pass through it."""
    LOGIC = LOGIC.format(partitioner="range", operation="VectorMap")

    def test_whole(self):
        plan = json.loads(self.two.good("--json", "explain", "opsplit", "run", self.write(self.two, self.LOGIC), "--input",
                                        f"p={self.csv}"))
        self.assertEqual((plan["flow"], plan["k"], plan["k_source"]), ("opsplit", None, None))
        self.assertEqual(sorted(plan["devices"]), ["cpu.0", "cpu.1"])
        self.assertAlmostEqual(sum(plan["shares"]), 1)
        placed = [t for step in plan["steps"] for s in step["sub_operators"] for p in s["placement"] for t in p["tasks"]]
        self.assertEqual([(t["codelet"], t["devices"], t["predicted_seconds"]) for t in plan["tasks"]],
                         [(t["codelet"], t["devices"].split(", "), t["predicted_seconds"]) for t in placed])
        busy = [sum(t["predicted_seconds"] for t in plan["tasks"] if name in t["devices"]) for name in plan["devices"]]
        self.assertAlmostEqual(plan["predicted_seconds"], max(busy))
        text = self.two.good("explain", "opsplit", "run", self.write(self.two, self.LOGIC), "--input", f"p={self.csv}").decode()
        self.assertRegex(text.splitlines()[-1], rf"predicted .* with {len(placed)} tasks, each loop once: cpu\.\d [0-9.]+ %, cpu")

    def test_simulate(self):
        """On a machine that does not exist; missing keys of its profiles are named."""
        profiles = self.m.work / "machine"
        profiles.mkdir()
        codelets = ("op.map", "op.gemv", "op.nearest", "op.gather", "op.reduce", "op.combine", "op.scan_sums", "op.scan")
        keys = ", ".join(f'"{codelet}.f64": 1e9' for codelet in codelets)
        for name in ("slow", "fast"):
            (profiles / f"{name}.yaml").write_text(f"name: {name}\nkind: cpu\nexecutors: [{{threads: 1}}]\n"
                                                   f"capability: {{{keys if name == 'slow' else keys.replace('1e9', '9e9')}}}\n")
        words = ("opsplit", "run", self.write(self.m, self.LOGIC), "--input", f"p={self.csv}")
        plan = json.loads(self.m.good("--json", "simulate", "--profiles", profiles, *words))
        self.assertEqual(sorted(plan["devices"]), ["fast", "slow"])
        shares = dict(zip(plan["devices"], plan["shares"]))
        work = {name: sum(t["count"] for t in plan["tasks"] if t["devices"] == [name]) for name in shares}
        self.assertGreater(work["fast"], work["slow"])
        self.assertGreater(plan["predicted_seconds"], 0)
        (profiles / "slow.yaml").write_text((profiles / "slow.yaml").read_text().replace('"op.gemv', '"op.other'))
        self.m.bad(2, "simulate", "--profiles", profiles, *words, says="profile slow has no capability \"op.gemv.f64\"")
        self.m.bad(2, "simulate", *words, says="--profiles DIR is missing")


class Trace(CutsTest):
    def test_trace(self):
        """--trace has the tasks with their rows."""
        logic = LOGIC.format(partitioner="round-robin", operation="VectorMap")
        trace = self.m.work / "trace.json"
        self.run_one(self.m, logic, "--trace", trace)
        events = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("ph") == "X" and "count" in e.get("args", {})]
        scattered = [e for e in events if e["args"]["codelet"] == "op.gemv"]
        self.assertEqual(sorted((e["args"]["first"], e["args"]["count"]) for e in scattered),
                         [(c * 2 * BLOCK, 2 * BLOCK) for c in range(SPLIT)])


if __name__ == "__main__":
    main()
