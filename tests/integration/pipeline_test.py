#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl run: steps over each other's results. The oracles are DuckDB, NumPy and Python."""
import gzip
import json
import os
import random
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, SharedMachineTest, eventually, main  # noqa: E402

sys.path.insert(0, str(BUILD.parent / "python"))
try:
    import duckdb
    import numpy
except ImportError:
    duckdb = numpy = None

PIPELINE = """name: all kinds
steps:
  last: {query: "SELECT sum(m) AS m, count(*) AS n FROM 'job:groups'", output: last.csv}
  groups:
    query: job:filtered
    group-by: k
    select: [k, max(v) as m, sum(d) as d]
  filtered: {query: in.csv, where: v >= 0, select: "k, v, d"}
  sorted: {sort: job:groups, input-format: parquet, key: "m desc, k", output: sorted.csv, output-format: csv}
  keep: {convert: job:groups, output: groups.parquet}
  text: {query: job:groups, select: [k, m], output-format: csv}
  total:
    opsplit: total.yaml
    input: {t: job:text}
    output: made
  keys: {sort: keys, type: u32}
  reversed: {sort: job:keys, type: u32, descending: true, output: reversed}
"""
LOGIC = """name: total
inputs: {t: {parse: csv, schema: "k:i64,m:i64"}}
vectors: {all: {template: Var, type: i64, value: 0}}
operators: [reduce: {in: t.m, function: sum, out: all}]
outputs: {o: {columns: {sum: all}}}
"""


class Pipelines(SharedMachineTest):
    config = {"result_expiry": "1min"}  # results that a pipeline leaves are seen

    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        self.rows = [(rng.randrange(2000), rng.randrange(-1000, 1000), rng.randrange(10**6)) for _ in range(50000)]
        self.write("in.csv", "k,v,d\n" + "".join(f"{k},{v},{d / 100:.2f}\n" for k, v, d in self.rows))
        self.write("total.yaml", LOGIC)
        self.m.generate("u32", "random", 100000, name="keys")

    def write(self, name, text):
        (self.m.work / name).write_text(text)

    def read(self, name):
        return (self.m.work / name).read_text()

    def check_released(self):
        self.assertTrue(eventually(lambda: all(j["memory_bytes"] == 0 for j in self.m.json("jobs")["jobs"])))

    def test_all_kinds(self):
        self.write("p.yaml", PIPELINE)
        table = self.m.good("run", "p.yaml", "--receipt", "r.json").decode().splitlines()
        best = {}
        for k, v, _ in self.rows:
            if v >= 0:
                best[k] = max(best.get(k, 0), v)
        self.assertEqual(self.read("last.csv"), f"m,n\n{sum(best.values())},{len(best)}\n")
        got = [tuple(map(int, line.split(",")[:2])) for line in self.read("sorted.csv").split()[1:]]
        self.assertEqual(got, sorted(best.items(), key=lambda r: (-r[1], r[0])))
        self.assertEqual(self.read("made/o.csv"), f"sum\n{sum(best.values())}\n")
        self.assertIsNone(self.m.wrong("u32", "keys", "reversed", descending=True))
        receipt = json.loads(self.read("r.json"))
        self.assertEqual((receipt["pipeline"], len(receipt["steps"])), ("all kinds", 9))
        steps = {step["step"]: step for step in receipt["steps"]}
        self.assertEqual((steps["groups"]["rows"], steps["keys"]["rows"], steps["last"]["rows"]), (len(best), 100000, 1))
        order = [step["step"] for step in receipt["steps"]]
        self.assertLess(order.index("filtered"), order.index("groups"))
        self.assertLess(order.index("groups"), order.index("last"))
        self.assertEqual([line.split()[0] for line in table], ["STEP", *order])
        for step in steps.values():
            self.assertEqual(step["receipt"]["state"], "done")
            self.assertGreater(step["seconds"], 0)
        # results that were kept for other steps are released
        held = [job for job in self.m.json("jobs")["jobs"] if job["memory_bytes"]]
        self.assertEqual(held, [])
        if duckdb is not None:
            want = duckdb.sql(f"SELECT k, max(v) AS m, sum(d::DECIMAL(18,2)) AS d FROM '{self.m.path('in.csv')}' WHERE v >= 0 "
                              "GROUP BY k ORDER BY k").fetchall()
            have = duckdb.sql(f"SELECT k, m, d FROM '{self.m.path('groups.parquet')}' ORDER BY k").fetchall()
            self.assertEqual([(k, m, round(float(d), 2)) for k, m, d in have], [(k, m, float(d)) for k, m, d in want])
            keys = numpy.fromfile(self.m.path("keys"), dtype="<u4")
            self.assertTrue((numpy.fromfile(self.m.path("reversed"), dtype="<u4") == numpy.sort(keys)[::-1]).all())

    def test_standard_output(self):
        self.write("p.yaml", "steps: {a: {query: in.csv, select: sum(v) as s, output: '-', output-format: csv}}")
        self.assertEqual(self.m.good("run", "p.yaml").decode(), f"s\n{sum(v for _, v, _ in self.rows)}\n")
        self.write("p.yaml", "steps: {a: {query: in.csv, select: sum(v) as s, output: out.csv}}")
        self.assertEqual(self.m.good("-q", "run", "p.yaml"), b"")
        shown = self.m.json("run", "p.yaml")
        self.assertEqual((shown["pipeline"], shown["steps"][0]["rows"]), ("p.yaml", 1))

    def test_errors(self):
        step = "query: in.csv, output: out"
        for text, says in (
                ("", "p.yaml:1:1: a pipeline needs `steps`"),
                ("steps: {}", "a pipeline needs `steps`"),
                ("steps: [1]", "a pipeline needs `steps`"),
                ("step: {}", "p.yaml:1:1: unknown key `step`"),
                ("steps:\n  a: 5", "p.yaml:2:3: step `a` is no map"),
                ("steps:\n  1a: {}", "p.yaml:2:3: `1a` is no name of a step"),
                ("steps:\n  a: {output: x}", "p.yaml:2:3: step `a` is no job"),
                ("steps:\n  a: {query: in.csv, sort: x}", "p.yaml:2:22: a step is one job, and `sort` is a second one"),
                (f"steps:\n  a: {{{step}, wher: x}}", "p.yaml:2:35: `wher` is no option of this step's command"),
                (f"steps:\n  a: {{{step}, type: u32}}", "`type` is no option of this step's command"),
                (f"steps:\n  a: {{{step}, detach: true}}", "`detach` is no option of a step"),
                (f"steps:\n  a: {{{step}, distinct: 5}}", "`distinct` is true or false"),
                (f"steps:\n  a: {{{step}, select: {{x: 1}}}}", "`select` has a value that is neither a text nor a list"),
                ("steps:\n  a: {query: job:b, output: x}", "p.yaml:2:3: step `a`: there is no step `b`"),
                ("steps:\n  a: {query: job:a}", "step `a` needs its own result, in the end"),
                ("steps:\n  a: {query: job:b}\n  b: {query: job:a}", "p.yaml:2:3: step `a` needs its own result"),
                ("steps:\n  a: {query: in.csv}", "no step reads the result of `a`"),
                (f"steps:\n  a: {{{step}}}\n  b: {{query: job:a, output: x}}", "which goes to its `output`"),
                ("steps:\n  a: {convert: in.csv}", "step `a` writes files: say where with `output`"),
                ("steps:\n  a: {opsplit: l.yaml, input: 5, output: x}", "`input` is a map of inputs"),
                ("steps:\n  a: {query: [], output: x}", "`query` names the input"),
                ("steps:\n  a: &x {}", "p.yaml:2:"),
                ("steps:\n  a: {query: none.csv, output: x}", "p.yaml:2:3: step `a`: none.csv: No such file"),
                ("steps:\n  a: {query: in.csv, output-format: arrow}\n  b: {query: job:a, output: x}",
                 "p.yaml:2:22: no step reads rows as `arrow`"),
                (f"steps:\n  a: {{{step}, select: nothing}}", "p.yaml:2:3: step `a`: ")):
            with self.subTest(text=text):
                self.write("p.yaml", text)
                result = self.m.run("run", "p.yaml")
                self.assertIn(result.code, (1, 2), result)
                self.assertRegex(result.err, r"\Ahacctl: p\.yaml:\d+:\d+: [^\n]*\n\Z")
                self.assertIn(says, result.err)
        self.check_released()
        self.m.bad(2, "run", "none.yaml", says="none.yaml")

    def test_order(self):
        """The order of the file; what a step needs is taken forward, and nothing else."""
        self.write("t.csv", "v\n1\n2\n")
        self.write("p.yaml", "steps:\n  a: {query: job:z, output: x.csv}\n  c: {query: x.csv, output: y.csv}\n"
                   "  y: {query: job:z, select: sum(v) as v}\n  z: {query: t.csv, select: v + 1 as v}\n"
                   "  b: {query: job:y, output: b.csv}\n")
        steps = self.m.json("run", "p.yaml")["steps"]
        self.assertEqual([step["step"] for step in steps], ["z", "a", "c", "y", "b"])
        self.assertEqual((self.read("y.csv"), self.read("b.csv")), ("v\n2\n3\n", "v\n5\n"))
        self.write("p.yaml", "steps:\n  a: {query: job:b, output: x}\n  b: {query: job:c}\n  c: {query: job:b}\n")
        self.m.bad(2, "run", "p.yaml", says="p.yaml:3:3: step `b` needs its own result")

    def test_text_that_looks_like_a_step(self):
        """Only what a statement reads is a step: other texts, and longer names, stay as they are."""
        self.write("t.csv", "b\njob:g1\njob:none\nx\njob:g1\n")
        self.write("job:g1.csv", "b\n1\n2\n")
        self.write("p.yaml", "steps:\n  g1: {query: t.csv}\n"
                   "  n: {query: \"SELECT count(*) AS n FROM 'job:g1' WHERE b = 'job:g1'\", output: n.csv}\n"
                   "  m: {query: \"SELECT 'job:g1, FROM job:g1' AS x, b FROM 't.csv' WHERE b = 'job:none'\", output: m.csv}\n"
                   "  f: {query: 'job:g1.csv', output: f.csv}\n")
        self.m.good("run", "p.yaml")
        self.assertEqual(self.read("n.csv"), "n\n2\n")
        self.assertEqual(self.read("m.csv"), 'x,b\n"job:g1, FROM job:g1",job:none\n')
        self.assertEqual(self.read("f.csv"), "b\n1\n2\n")
        self.write("p.yaml", "steps:\n  a: {query: \"SELECT b FROM 't.csv' WHERE b =\", output: x}\n")
        self.m.bad(2, "run", "p.yaml", says="p.yaml:2:3: step `a`: SQL: ")

    def test_overwriting(self):
        """No output and no receipt takes the place of an input, of another output, or of the pipeline."""
        self.write("l", LOGIC)
        self.write("parts.csv", "v\n1\n")
        self.write("km.csv", "k,m\n1,2\n3,4\n")
        (self.m.work / "link").symlink_to("in.csv")
        good = ("steps:\n  a: {query: in.csv, select: v, output: o.csv}\n"
                "  b: {query: \"SELECT v FROM 'part*.csv'\", output: p.parquet}\n"
                "  c: {convert: o.csv, output: q.parquet}\n  d: {opsplit: l, input: {t: km.csv}, output: made, trace: d.json}\n")
        before = {path.name: path.read_bytes() for path in self.m.work.iterdir()}

        def refused(text, says, *receipt):
            with self.subTest(says=says, receipt=receipt):
                self.write("p.yaml", text)
                self.m.bad(2, "run", "p.yaml", *receipt, says=says)
                after = {path.name: path.read_bytes() for path in self.m.work.iterdir() if path.name != "p.yaml"}
                self.assertEqual((after, self.read("p.yaml")), (before, text))

        for name, step in (("in.csv", "a"), ("link", "a"), ("./parts.csv", "b"), ("l", "d"), ("km.csv", "d"),
                           (self.m.path("in.csv"), "a")):
            refused(good, f", an input of step `{step}`, which it would overwrite", "--receipt", name)
        for name, place in (("o.csv", "2:3: step `a`"), ("./q.parquet", "4:3: step `c`"), ("d.json", "5:3: step `d`")):
            refused(good, f"p.yaml:{place} and --receipt would both go to ", "--receipt", name)
        refused(good, "--receipt names p.yaml, the pipeline", "--receipt", "p.yaml")
        refused(good.replace("p.parquet", "./o.csv"), "p.yaml:3:3: step `b` would overwrite ./o.csv, which step `a` writes")
        refused(good.replace("d.json", "o.csv"), "p.yaml:5:3: step `d` would overwrite o.csv, which step `a` writes")
        refused(good.replace("output: o.csv", "output: p.yaml"), "p.yaml:2:3: step `a` would overwrite the pipeline")
        refused(good.replace("output: o.csv", "output: '-'"), "step `a` and --receipt would both go to -", "--receipt", "-")
        self.write("p.yaml", good)
        self.assertEqual(self.m.run("run", "p.yaml", "--receipt", "r.json").code, 0)
        # a step may replace what it read, and read what an earlier one wrote
        self.write("p.yaml", "steps:\n  a: {query: parts.csv, select: v + 1 as v, output: parts.csv}\n"
                   "  b: {query: parts.csv, output: r.csv}\n")
        self.m.good("run", "p.yaml", "--receipt", "r.json")
        self.assertEqual(self.read("r.csv"), "v\n2\n")

    def test_rows_that_hacctl_reads(self):
        """They do not stay with the daemon, which is said before a step runs; what a document is shows later."""
        (self.m.work / "in.csv.gz").write_bytes(gzip.compress(b"v\n1\n"))
        os.mkfifo(self.m.work / "fifo.csv")
        self.write("document.jsonl", '[\n{"v": 1},\n{"v": 2}\n]\n')
        self.write("empty", "")
        first = "steps:\n  f: {query: in.csv, output: first}\n"
        for step in ("query: in.csv.gz", "query: [in.csv.gz, in.csv.gz]", "query: fifo.csv", "query: '-', parse: csv",
                     "query: \"SELECT v FROM 'in.csv.gz'\"", "sort: in.csv.gz, input-format: csv, key: v",
                     "query: document.jsonl"):
            with self.subTest(step=step):
                document = "document" in step
                self.write("p.yaml", f"{first}  a: {{{step}}}\n  b: {{query: job:a, output: out}}\n")
                said = self.m.bad(2, "run", "p.yaml", says="p.yaml:3:3: step `a`: hacctl reads ")
                self.assertIn("; say `output: FILE`\n", said)
                self.assertNotIn("--", said)
                self.assertEqual((self.m.work / "first").exists(), document)
        self.write("p.yaml", "steps:\n  a: {query: in.csv.gz, output: a.csv}\n  s: {sort: empty, type: u32}\n"
                   "  t: {sort: job:s, type: u32, output: t}\n")
        self.m.good("run", "p.yaml")
        self.assertEqual((self.read("a.csv"), self.read("t")), ("v\n1\n", ""))

    def test_failure_releases(self):
        """The second step fails: what the first one made is released, and nothing is written."""
        self.write("p.yaml", "steps:\n  a: {query: in.csv}\n  b: {query: job:a, select: nothing, output: out}\n")
        self.m.bad(2, "run", "p.yaml", says="p.yaml:3:3: step `b`: ")
        self.assertFalse((self.m.work / "out").exists())
        self.check_released()

    def test_end_releases(self):
        """The reader of standard output goes, or a signal comes while it does not read: no result stays."""
        self.write("p.yaml", "steps:\n  a: {query: in.csv}\n  e: {query: in.csv, where: 'v > 5000'}\n"
                   "  b: {query: job:a, output: '-'}\n  c: {query: job:e, output: x}\n")
        reader, writer = os.pipe()
        os.close(reader)
        result = self.m.run("run", "p.yaml", stdout=writer)
        os.close(writer)
        self.assertEqual((result.code, result.err), (141, ""))
        self.check_released()
        for how in (signal.SIGTERM, signal.SIGINT):
            with self.m.start("run", "p.yaml") as process:
                self.assertEqual(process.stdout.read(2), b"k,")
                process.send_signal(how)
                self.assertEqual((process.wait(60), process.stderr.read()), (130, b"hacctl: cancelled\n"))
            self.check_released()


if __name__ == "__main__":
    main()
