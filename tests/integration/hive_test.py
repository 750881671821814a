#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Columns in the names of folders (year=2024/), as Hive and Spark write them. The oracles are DuckDB and pyarrow."""
import csv
import io
import json
import os
import random
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "build/python")]
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq
except ImportError:
    pa = None

WHY_NOT = "pyarrow or DuckDB is not installed (`./dev test` puts them into build/python)"
YEARS, MONTHS = (2022, 2023, 2024), (1, 2, 12)


@unittest.skipIf(pa is None, WHY_NOT)
class Hive(SharedMachineTest):
    profile = TWO_DEVICES

    def put(self, name, data):
        path = Path(self.m.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())

    def table(self, name, **columns):
        path = Path(self.m.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path, row_group_size=700)

    def rows(self, *words):
        return list(csv.reader(io.StringIO(self.m.good(*words).decode())))[1:]

    def duck(self, text):
        here = os.getcwd()
        os.chdir(self.m.path(""))
        try:
            return [["" if v is None else str(v) for v in row] for row in duckdb.connect().execute(text).fetchall()]
        finally:
            os.chdir(here)

    def sales(self):
        """A folder for each month, in three formats; parts of different sizes."""
        rng = random.Random(7)
        for year in YEARS:
            for month in MONTHS:
                n = rng.choice((0, 1, 900, 3000))
                x, s = [rng.randrange(100) for _ in range(n)], [rng.choice("abc") for _ in range(n)]
                folder = f"year={year}/month={month}"
                self.table(f"p/{folder}/part-0.parquet", x=pa.array(x, pa.int64()), s=pa.array(s, pa.string()))
                self.put(f"c/{folder}/part-0.csv", "x,s\n" + "".join(f"{a},{b}\n" for a, b in zip(x, s)))
                self.put(f"j/{folder}/part-0.jsonl", "".join(json.dumps({"x": a, "s": b}) + "\n" for a, b in zip(x, s)))
        for name in ("p/_SUCCESS", "c/.crc", "j/year=2022/_temporary/month=1/part-9.jsonl"):
            self.put(name, "no data")

    def test_sorts_leave_fields(self):
        """Keys may be of a file or of a folder; other fields stay as they are written."""
        rows = []
        for year in YEARS:
            lines = [f"{n * 37 % 100 / 4:.2f}, {n % 3}" for n in range(300)]
            self.put(f"k/year={year}/a.csv", "x,y\n" + "".join(line + "\n" for line in lines))
            rows += [[*line.split(","), str(year)] for line in lines]
        for key, of in (("x", lambda r: float(r[0])), ("year desc, y", lambda r: (-int(r[2]), int(r[1]))), ("year + x", lambda r: int(r[2]) + float(r[0])),
                        ("all", lambda r: [float(v) for v in r])):
            self.assertEqual(self.rows("-q", "sort", "k", "--key", key), sorted(rows, key=of), key)

    def test_sales(self):
        """Every clause, each format, both routes of text; against DuckDB."""
        self.sales()
        for kind, suffix in (("p", "parquet"), ("c", "csv"), ("j", "jsonl")):
            for source in (f"'{kind}'", f"'{kind}/**/*.{suffix}'", f"'{kind}/*/*/*.{suffix}'"):
                duck = f"'{kind}/*/*/*.{suffix}'"
                for text in ("SELECT year, month, sum(x) AS s, count(*) AS n FROM {} GROUP BY year, month ORDER BY year, month",
                             "SELECT count(*) AS n, min(year) AS a, max(month) AS b FROM {}",
                             "SELECT year, count(*) AS n FROM {} WHERE x > 50 AND year >= 2023 GROUP BY year ORDER BY year",
                             "SELECT year * 100 + month AS ym, sum(x) AS t FROM {} WHERE (year = 2022 OR month = 12) AND s <> 'a' "
                             "GROUP BY ym ORDER BY ym",
                             "SELECT x, s, year FROM {} WHERE month = 2 AND x < 3 ORDER BY year DESC, x, s LIMIT 7",
                             "SELECT DISTINCT year FROM {} ORDER BY year"):
                    with self.subTest(source=source, text=text):
                        self.assertEqual(self.rows("query", text.format(source)), self.duck(text.format(duck)))
        want = ds.dataset(self.m.path("p"), partitioning="hive", exclude_invalid_files=True).to_table()
        self.assertEqual(self.rows("query", "p", "--select", "count() as n, sum(year) as y"),
                         [[str(want.num_rows), str(sum(want["year"].to_pylist()))]])

    def test_files_left_out(self):
        """What the names rule out is not opened: it may be damaged. Plans and receipts say how many."""
        self.sales()
        for year in YEARS[:2]:
            for month in MONTHS:
                self.put(f"p/year={year}/month={month}/part-0.parquet", b"PAR1 damaged PAR1")
        where = "year > 2022 and (month in (2, 12) or year is null) and year <> 2023 and x >= 0"
        self.m.good("query", "p", "--where", where, "--select", "count() as n", "--receipt", self.m.path("receipt"))
        query = json.loads(Path(self.m.path("receipt")).read_text())["query"]
        self.assertEqual((query["sources"], query["files_left_out"]), (2, 7))
        plan = json.loads(self.m.good("explain", "query", "p", "--where", where, "--select", "count() as n", "--format", "json"))
        self.assertEqual((plan["sources"], plan["files_left_out"]), (2, 7))
        text = self.m.good("explain", "query", "p", "--where", where, "--select", "count() as n").decode()
        self.assertIn(" in 2 of 9 files", text)
        self.assertEqual(self.rows("query", "p", "--where", "year = 2024 and year = 1", "--select", "count() as n"), [["0"]])
        text = "WITH t AS (SELECT month, x FROM 'p' WHERE year = 2024) SELECT count(*) > 0 AS b FROM t WHERE month < 13"
        self.assertEqual(self.rows("query", text), [["true"]])
        self.m.bad(1, "query", "p", "--where", "year = 2024 or x = 1", "--select", "count()", says="damaged")

    def test_values(self):
        """Types, escapes, nulls; a column that the file has, too; keys that not all files have."""
        for i, folder in enumerate(("d=2024-01-31/c=a%20b%2Fc/z=07", "d=2023-02-28/c=/z=8",
                                    "d=__HIVE_DEFAULT_PARTITION__/c=%/z=9")):
            self.table(f"v/{folder}/part-00000", x=[i], c=["own"])
        columns = "SELECT x, d, c, z FROM "
        self.assertEqual(self.rows("query", columns + "'v' ORDER BY x"),
                         self.duck(columns + "read_parquet('v/*/*/*/part-00000') ORDER BY x"))
        self.assertEqual(self.rows("describe", "v/")[1:], self.rows("describe", "v/**")[1:])
        names = [row[:2] for row in self.rows("describe", "v")]
        self.assertEqual(names, [["x", "i64"], ["d", "date"], ["c", "string"], ["z", "string"]])
        self.assertEqual(self.rows("query", "v", "--schema", "z:i64", "--select", "sum(z) as z", "--where", "z > 7"), [["17"]])
        self.m.bad(1, "query", "v", "--schema", "c:i64", "--select", "sum(c)", says="the folder c=")
        self.table("v/other.parquet", x=[9], c=["own"])
        self.assertEqual(self.rows("query", "v", "--select", "*", "--where", "x = 9"), [["9", "own"]])
        self.table("n/k=-5/a.parquet", x=[1])
        self.table("n/k=__HIVE_DEFAULT_PARTITION__/a.parquet", x=[2, 3])
        self.assertEqual(self.rows("query", "n", "--select", "min(k) as a, max(k) as b, count(k) as c, count() as n"),
                         [["-5", "-5", "1", "3"]])
        self.assertEqual(self.rows("query", "n", "--where", "k is null", "--select", "sum(x) as s"), [["5"]])
        self.assertEqual(self.rows("query", "n", "--group-by", "k", "--select", "count() as n", "--order-by", "k"),
                         [["-5", "1"], ["", "2"]])

    def test_other_commands(self):
        """mapreduce, parquet query, convert, sort and summarize read such folders; packed text is read in splits."""
        import gzip
        self.sales()
        total = self.duck("SELECT sum(x), sum(year) FROM 'p/**/*.parquet'")
        for words in (("mapreduce", "p"), ("parquet", "query", "p"), ("mapreduce", "c"), ("query", "j")):
            self.assertEqual(self.rows(*words, "--select", "sum(x) as s, sum(year) as y"), total, words)
        self.m.good("parquet", "convert", "p", self.m.path("all.parquet"))
        self.assertEqual(self.rows("query", "all.parquet", "--select", "sum(x) as s, sum(year) as y"), total)
        self.m.good("sort", "p", "--input-format", "parquet", "--key", "month desc, year, x, s", "-o", self.m.path("sorted.csv"))
        want = self.duck("SELECT x, s, year, month FROM 'p/**/*.parquet' ORDER BY month DESC, year, x, s")
        with open(self.m.path("sorted.csv"), encoding="utf-8") as file:
            self.assertEqual(list(csv.reader(file))[1:], want)
        counts = {row[0]: row[2] for row in self.rows("summarize", "p")}
        self.assertEqual(counts["year"], counts["x"])
        for path in Path(self.m.path("c")).rglob("*.csv"):
            self.put(str(path.relative_to(self.m.path(""))).replace("c/", "g/", 1) + ".gz", gzip.compress(path.read_bytes()))
        self.assertEqual(self.rows("query", "g", "--select", "sum(x) as s, sum(year) as y", "--where", "year > 0"), total)
        self.assertEqual(sorted(self.rows("query", "g", "--select", "x, s, year, month", "--where", "month = 2")),
                         sorted(self.duck("SELECT x, s, year, month FROM 'p/**/*.parquet' WHERE month = 2")))

    def test_many_files(self):
        """More files than a message has descriptors are read in parts: every kind of query, against DuckDB."""
        for i in range(600):
            kind = pa.int32() if i % 2 else pa.int64()
            self.table(f"m/k={i % 3}/part-{i:03}.parquet", x=pa.array([i, i * 7 % 50], kind), f=pa.array([i / 4, None]),
                       s=["a", f"b{i % 9}"])
        for text in ("SELECT count(*) AS n FROM {}",
                     "SELECT sum(x) AS a, avg(f) AS b, count(f) AS c, median(x) AS d FROM {} WHERE k > 0",
                     "SELECT k, s, count(*) AS n, max(x) AS m FROM {} GROUP BY k, s ORDER BY k, s",
                     "SELECT x * 2 AS y, s FROM {} WHERE y > 1100 ORDER BY y DESC, s LIMIT 5",
                     "SELECT * EXCLUDE (f) FROM {} WHERE x = 599", "SELECT DISTINCT s FROM {} ORDER BY s OFFSET 2",
                     "WITH t AS (SELECT x + k AS z FROM {} WHERE s = 'a') SELECT sum(z) AS z FROM t"):
            with self.subTest(text=text):
                self.assertEqual(self.rows("query", text.format("'m'")), self.duck(text.format("'m/*/*.parquet'")))
        self.assertEqual(self.rows("query", "SELECT * EXCEPT (f) FROM 'm' WHERE x = 599"), self.rows("query", "m", "--where", "x = 599",
                                                                                                     "--select", "x, s, k"))
        self.assertEqual([row[0] for row in self.rows("describe", "m")], ["x", "f", "s", "k"])
        self.assertEqual(self.rows("query", "m", "--where", "k = 7", "--select", "count() as n"), [["0"]])
        self.m.bad(2, "query", "m", "--select", "sum(nothing)", says="nothing")
        self.put("m/k=0/part-999.parquet", b"PAR1 damaged PAR1")
        self.m.bad(1, "query", "m", "--select", "sum(x)", says="m/k=0/part-999.parquet")
        self.m.good("explain", "query", "m", "--select", "sum(x)")

    def test_patterns(self):
        self.table("q/a/b/x.parquet", x=[1])
        self.table("q/y.parquet", x=[2])
        self.table("q/.hidden/z.parquet", x=[4])
        for pattern, total in (("q/**/*.parquet", "3"), ("q/**", "3"), ("**/b/*.parquet", "1"), ("q/**/b/x.p*", "1"),
                               ("q/*.parquet", "2")):
            self.assertEqual(self.rows("query", f"SELECT sum(x) AS s FROM '{pattern}'"), [[total]], pattern)
        self.m.bad(1, "query", "SELECT sum(x) FROM 'q/**/*.csv'", says="no file matches q/**/*.csv")


if __name__ == "__main__":
    main()
