#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl describe and summarize. The oracles are DuckDB's aggregates over the same rows, NumPy's quantiles, and pyarrow's
schema."""
import csv
import gzip
import io
import json
import math
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from machine import BUILD, main  # noqa: E402
from output_test import OutputCase  # noqa: E402

sys.path.insert(0, str(BUILD.parent / "python"))
try:
    import duckdb
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    duckdb = np = pa = pq = None

HEADER = ["column", "type", "count", "nulls", "distinct", "min", "max", "mean", "stddev", "q25", "median", "q75"]


def make_rows(n, seed=3):
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        rows.append([rng.choice(["north", "south", "é", ""]) if rng.random() > 0.1 else None, rng.randrange(-500, 500),
                     None if rng.random() < 0.2 else rng.gauss(10, 4), f"2020-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"])
    return rows


def csv_of(rows):
    out = io.StringIO()
    out.write("region,n,x,day\n")
    for region, n, x, day in rows:
        out.write(f"{'' if region is None else chr(34) + region + chr(34)},{n},{'' if x is None else repr(x)},{day}\n")
    return out.getvalue()


class Summaries(OutputCase):
    def summary(self, *words, data=None):
        rows = list(csv.reader(io.StringIO(self.m.good("summarize", *words, data=data).decode())))
        self.assertEqual(rows[0], HEADER)
        return rows[1:]

    @unittest.skipUnless(duckdb, "DuckDB and NumPy are not there")
    def test_values(self):
        rows = make_rows(5000)
        self.put("t.csv", csv_of(rows))
        got = {row[0]: dict(zip(HEADER, row)) for row in self.summary("t.csv")}
        self.assertEqual([got[c]["type"] for c in ("region", "n", "x", "day")], ["string", "i64", "f64", "date"])
        con = duckdb.connect()
        con.execute("create table t (region varchar, n bigint, x double, day date)")
        con.executemany("insert into t values (?, ?, ?, ?)", rows)
        for name in got:
            count, distinct, low, high = con.execute(f"select count({name}), count(distinct {name}), min({name}), max({name}) from t").fetchone()
            self.assertEqual([got[name][k] for k in ("count", "nulls", "distinct")], [str(count), str(len(rows) - count), str(distinct)], name)
            if name == "x":
                self.assertEqual([float(got[name][k]) for k in ("min", "max")], [low, high])
            else:
                self.assertEqual([got[name][k] for k in ("min", "max")], [str(low), str(high)], name)
        for name, at in (("n", 1), ("x", 2)):
            values = np.array([r[at] for r in rows if r[at] is not None], dtype=float)
            wanted = [values.mean(), values.std(ddof=1), *np.quantile(values, [0.25, 0.5, 0.75])]
            for key, value in zip(("mean", "stddev", "q25", "median", "q75"), wanted):
                self.assertTrue(math.isclose(float(got[name][key]), value, rel_tol=1e-12), (name, key))
        self.assertEqual([got["region"][k] for k in ("mean", "median")], ["", ""])

    def test_every_way_in(self):
        text = csv_of(make_rows(800))
        self.put("t.csv", text)
        self.put("t.csv.gz", gzip.compress(text.encode()))
        self.m.good("parquet", "convert", "t.csv", "t.parquet", "--schema", "region:string,n:i64,x:f64,day:date")
        lines = text.splitlines(keepends=True)
        (Path(self.m.path("")) / "folder").mkdir(exist_ok=True)
        self.put("folder/a.csv", "".join(lines[:400]))
        self.put("folder/b.csv", lines[0] + "".join(lines[400:]))
        wanted = self.summary("t.csv")
        rows = list(csv.reader(io.StringIO(text)))[1:]
        first = [next(row[c] for row in rows if row[c] != "") for c in range(4)]
        for words, data in ((["t.csv.gz"], None), (["-", "--parse", "csv"], text.encode()), (["t.parquet"], None), (["folder"], None),
                            (["folder/*.csv"], None), (["folder/a.csv", "folder/b.csv"], None), (["t.csv", "--delimiter", ","], None)):
            self.assertEqual(self.summary(*words, data=data), wanted, words)
            described = list(csv.reader(io.StringIO(self.m.good("describe", *words, data=data).decode())))
            self.assertEqual([row[:2] for row in described], [["column", "type"], ["region", "string"], ["n", "i64"], ["x", "f64"], ["day", "date"]], words)
            # a pipe is read once, for the types
            self.assertEqual([row[2] for row in described[1:]], ["", "", "", ""] if data else first, words)
        self.put("u.csv", text.replace(",", ";"))
        result = self.m.run("summarize", "u.csv")
        self.assertIn("--delimiter ';'", result.err)
        self.assertEqual(list(csv.reader(io.StringIO(result.out.decode())))[1:], wanted)

    def test_other_formats(self):
        self.put("t.jsonl", '{"a": 1, "b": {"c": "x"}}\n{"a": 3}\n')
        self.assertEqual([r[:5] for r in self.summary("t.jsonl")], [["a", "i64", "2", "0", "2"], ["b.c", "string", "1", "1", "1"]])
        self.put("t.txt", "one\ntwo\ntwo\n")
        self.assertEqual([r[:7] for r in self.summary("t.txt")], [["line", "string", "3", "0", "2", "one", "two"]])
        self.put("b.bin", b"\1\0\0\0\5\0\0\0")
        self.assertEqual(self.summary("b.bin", "--parse", "fixed", "--schema", "v:u32"), [["v", "u32", "2", "0", "2", "1", "5", "3.0", "2.8284271247461903", "2.0", "3.0", "4.0"]])
        self.assertEqual(self.m.good("describe", "b.bin", "--parse", "fixed", "--schema", "v:u32"), b"column,type,example\nv,u32,1\n")

    def test_binary_formats(self):
        self.put("l.bin", b"\1\0\0\0x\2\0\0\0yz")
        self.assertEqual(self.m.good("describe", "l.bin", "--parse", "lengths"), b"column,type,example\nrecord,bytes,78\n")
        self.assertEqual([r[:5] for r in self.summary("l.bin", "--parse", "lengths")], [["record", "bytes", "2", "0", "2"]])
        self.put("t.bin", b"\7\0\0\0\1k\7\0\0\0\1v")
        self.assertEqual(self.m.good("describe", "t.bin", "--parse", "typedbytes"), b"column,type,example\nkey,string,k\nvalue,string,v\n")
        self.assertEqual([r[:7] for r in self.summary("t.bin", "--parse", "typedbytes")],
                         [["key", "string", "1", "0", "1", "k", "k"], ["value", "string", "1", "0", "1", "v", "v"]])

    def test_zero_bytes(self):
        """A zero byte in a value ends neither the value nor the row."""
        self.put("z.csv", b"a,b,c\n1,x\0y,2\n3,x\0z,4\n")
        got = self.summary("z.csv")
        self.assertEqual([(r[0], r[2], r[5], r[6]) for r in got], [("a", "2", "1", "3"), ("b", "2", "x\\0y", "x\\0z"), ("c", "2", "2", "4")])

    def test_examples(self):
        """The first value that is not null; none where the values cannot be read."""
        self.put("t.csv", "a,b,c\n,,\n,x\ty,\n7,z,\n")
        self.assertEqual(self.m.good("describe", "t.csv", "--output-format", "tsv"),
                         b"column\ttype\texample\na\ti64\t7\nb\tstring\tx\\ty\nc\tstring\t\\N\n")
        self.put("bad.csv", "a,b\n1,x\n2\n")
        got = self.m.run("describe", "bad.csv", "--schema", "a:i64,b:string")
        self.assertEqual((got.code, got.out), (0, b"column,type,example\na,i64,\nb,string,\n"))
        self.assertIn("hacctl: no example of 'a': bad.csv: line 3", got.err)
        self.put("empty.csv", "a,b\n")
        self.assertEqual(self.m.good("describe", "empty.csv"), b"column,type,example\na,string,\nb,string,\n")

    @unittest.skipUnless(pa, "pyarrow is not there")
    def test_column_without_example(self):
        """A column that cannot be read takes no examples from the others; the oracle is the values that were written."""
        nanoseconds = pa.array([1, 1_000_000_001, None], pa.timestamp("ns"))
        pq.write_table(pa.table({"i": [None, 5, 6], "t": nanoseconds, "s": ["x", "y", None]}), self.m.path("ns.parquet"))
        got = self.m.run("describe", "ns.parquet")
        self.assertEqual((got.code, got.out), (0, b"column,type,example\ni,i64,5\nt,timestamp,\ns,string,x\n"), got)
        self.assertIn("hacctl: no example of 't': ", got.err)

    def test_endless(self):
        """describe ends although its input does not."""
        for words in ((), ("--no-header", "--delimiter", ",")):
            endless = subprocess.Popen(["yes", "1,2,3"], stdout=subprocess.PIPE)
            try:
                got = self.m.run("describe", "-", "--parse", "csv", *words, stdin=endless.stdout, timeout=60)
            finally:
                endless.kill()
                endless.stdout.close()
                endless.wait()
            self.assertEqual((got.code, got.out), (0, b"column,type,example\nc1,i64,\nc2,i64,\nc3,i64,\n"), got)

    def test_named_pipe(self):
        """What is read once is summarized without a second query, on a terminal too."""
        path = self.m.path("fifo.csv")
        os.mkfifo(path)
        writer = subprocess.Popen(["sh", "-c", "printf 'a,b\\n1,2\\n3,4\\n' > fifo.csv"], cwd=self.m.path(""))
        out = self.on_terminal("summarize", "fifo.csv", columns=200, NO_COLOR="1")
        self.assertEqual(writer.wait(20), 0)
        self.assertEqual(self.cells(out)[0], HEADER)

    def test_no_rows(self):
        self.put("t.csv", "a,b\n")
        self.assertEqual([r[:5] for r in self.summary("t.csv")], [["a", "string", "0", "0", "0"], ["b", "string", "0", "0", "0"]])
        self.put("n.csv", "a\n5\n")
        self.assertEqual(self.summary("n.csv", "--where", "a > 9", "--schema", "a:i64"), [["a", "i64", "0", "0", "0", "", "", "", "", "", "", ""]])

    def test_many_columns(self):
        n = 300
        names = [f'c "{i}"' for i in range(n)]
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([names, [str(i) for i in range(n)], [str(i + 2) for i in range(n)]])
        self.put("wide.csv", out.getvalue())
        got = self.summary("wide.csv")
        self.assertEqual([(r[0], r[5], r[6], r[7]) for r in got], [(names[i], str(i), str(i + 2), f"{i + 1}.0") for i in range(n)])
        described = list(csv.reader(io.StringIO(self.m.good("describe", "wide.csv").decode())))
        self.assertEqual(described[1:], [[name, "i64", str(i)] for i, name in enumerate(names)])
        self.m.bad(1, "summarize", "-", "--parse", "csv", data=out.getvalue().encode(), says="save it first")

    def test_forms(self):
        self.put("t.csv", 'a,"b|""x"\n1,2020-01-01\n3,\n')
        got = [json.loads(line) for line in self.m.good("summarize", "t.csv", "--output-format", "jsonl").splitlines()]
        self.assertEqual((got[0]["column"], got[0]["count"], got[0]["mean"], got[1]["column"], got[1]["mean"]), ("a", 2, 2.0, 'b|"x', None))
        self.assertEqual(self.m.good("describe", "t.csv", "--output-format", "tsv"), b'column\ttype\texample\na\ti64\t1\nb|"x\tdate\t2020-01-01\n')
        self.assertEqual(self.m.good("describe", "t.csv", "--output-format", "markdown"), b'| column | type | example |\n|---|---|---|\n| a | i64 | 1 |\n| b\\|"x | date | 2020-01-01 |\n')
        self.m.good("describe", "t.csv", "-o", "d.json")
        self.assertEqual(json.loads(Path(self.m.path("d.json")).read_text().splitlines()[0]), {"column": "a", "type": "i64", "example": "1"})
        for form in ("parquet", "arrow"):
            self.m.bad(2, "summarize", "t.csv", "--output-format", form, says="the result is text")
        self.m.bad(2, "describe", "SELECT * FROM 't.csv'", says="SQL is for query")
        self.m.bad(1, "describe", "none.csv", says="none.csv")

    def test_terminal(self):
        self.put("t.csv", "a,s\n" + "".join(f"{i * i},x\n" for i in range(100)))
        out = self.on_terminal("summarize", "t.csv", columns=200, NO_COLOR="1")
        cells = self.cells(out)
        self.assertEqual(cells[0], [*HEADER, "histogram"])
        counts = [0] * 8
        for i in range(100):
            counts[min(7, int(i * i * 8 / (99 * 99)))] += 1
        bars = cells[2][-1]
        self.assertEqual((len(bars), bars[0], cells[3][-1]), (8, "█", "NULL"))
        self.assertEqual([bars[i] <= bars[i - 1] for i in range(1, 8)], [counts[i] <= counts[i - 1] for i in range(1, 8)])
        self.assertIn("│ a      │ i64    │ 0       │", self.on_terminal("describe", "t.csv", NO_COLOR="1"))


if __name__ == "__main__":
    main()
