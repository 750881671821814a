#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files whose columns differ: columns go by their names, and a column that a file lacks is null in its rows. The oracle is
DuckDB with union_by_name."""
import gzip
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
import duck  # noqa: E402
from duck import duckdb  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

FILES = {"1": {"a": [1, 2, None], "b": ["x", "y", "z"]}, "2": {"c": [7, 8], "a": [3, 4], "b": ["p", None]},
         "3": {"b": ["q"], "a": [9]}, "4": {"a": [5, 6]}, "5": {"b": ["r"], "d": ["2024-05-06"]}}


def shown(value):
    return "" if value is None else str(value)


@unittest.skipIf(duckdb is None, duck.WHY_NOT)
class Differ(SharedMachineTest):
    profile = ONE_DEVICE

    def write(self, ending):
        folder = Path(self.m.path(ending))
        folder.mkdir(exist_ok=True)
        for name, columns in FILES.items():
            values = ", ".join(f"unnest({list(v)!r}) AS {k}".replace("None", "NULL") for k, v in columns.items())
            values = values.replace("'2024-05-06']) AS d", "'2024-05-06'])::DATE AS d")
            duckdb.sql(f"COPY (SELECT {values}) TO '{folder}/{name}.{ending}'")
        return folder

    def same(self, ending, sql):
        folder = self.m.path(ending)
        done = self.m.run("query", sql.replace("FILES", f"'{folder}/*.{ending}'"))
        self.assertEqual(done.code, 0, (sql, done.err))
        rows = duck.read_csv(done.out.decode())
        wanted = duckdb.sql(sql.replace("FILES", f"read_{ending}('{folder}/*.{ending}', union_by_name=true)"))
        self.assertEqual(sorted(tuple(shown(cell) for cell in row) for row in rows[1:]),
                         sorted(tuple(map(shown, row)) for row in wanted.fetchall()), sql)
        self.assertEqual(rows[0], tuple(wanted.columns), sql)
        return done.err

    def test_by_name(self):
        for ending in ("csv", "parquet"):
            self.write(ending)
            note = self.same(ending, "SELECT * FROM FILES")
            self.assertIn("not in all files, and null in the others: a, b, c, d", note)
            self.assertNotIn("null", self.same(ending, "SELECT count(*) AS n FROM FILES"))
            for sql in ("SELECT a, c FROM FILES WHERE c IS NULL", "SELECT count(c) AS n, sum(c) AS s, max(a) AS m, min(d) AS d FROM FILES",
                        "SELECT c, count(*) AS n FROM FILES GROUP BY c", "SELECT b, a, c FROM FILES WHERE a > 2 ORDER BY a DESC LIMIT 3",
                        "SELECT * EXCLUDE (a) FROM FILES WHERE c > 0 OR d >= DATE '2024-01-01'", "SELECT min(b) AS l, max(b) AS h FROM FILES",
                        "SELECT max(c) AS m FROM FILES WHERE a IS NOT NULL", "SELECT d, c FROM FILES WHERE c = 8", "SELECT DISTINCT d FROM FILES"):
                self.same(ending, sql)
            folder = self.m.path(ending)
            self.assertEqual(self.m.good("--quiet", "query", f"SELECT count(*) AS n FROM read_{ending}('{folder}/*.{ending}', union_by_name = true)"), b"n\n9\n")
            self.m.bad(2, "query", f"SELECT * FROM read_{ending}('{folder}/*.{ending}', delim = ';')", says="for delim write --delimiter ';'")
            self.m.bad(2, "query", f"SELECT * FROM read_{ending}('{folder}/*.{ending}', union_by_name = false)", says="union_by_name = true is what hac does")
            self.m.bad(2, "query", f"SELECT e FROM '{ending}/*.{ending}'", says="unknown column 'e'; there are: a, b, c, d")

    def test_unions(self):
        for ending in ("csv", "parquet"):
            folder = self.write(ending)
            one, two = f"'{folder}/1.{ending}'", f"'{folder}/2.{ending}'"
            rows = duck.read_csv(self.m.good("--quiet", "query", f"SELECT * FROM {one} UNION ALL BY NAME SELECT * FROM {two}").decode())
            wanted = duckdb.sql(f"SELECT * FROM {one} UNION ALL BY NAME SELECT * FROM {two}").fetchall()
            self.assertEqual([tuple(shown(cell) for cell in row) for row in rows[1:]], [tuple(map(shown, row)) for row in wanted])
            self.m.bad(2, "query", f"SELECT * FROM {one} UNION ALL SELECT * FROM {two}", says="'c' is in one file only; write UNION ALL BY NAME")
            self.m.bad(2, "query", f"SELECT * FROM {two} UNION ALL SELECT * FROM {one}", says="'c' is in one file only; write UNION ALL BY NAME")

    def test_many_files(self):
        """All headers are looked at, also of files whose records are not."""
        folder = Path(self.m.path("many"))
        folder.mkdir()
        for i in range(120):
            (folder / f"{i:03}.csv").write_text(f"a,{'late,' if i == 77 else ''}b\n{i},{'5,' if i == 77 else ''}x\n")
        self.assertEqual(self.m.good("--quiet", "query", "SELECT sum(a) AS s, sum(late) AS l, count(b) AS n FROM 'many'"), b"s,l,n\n7140,5,120\n")

    def test_header_goes_on(self):
        """A header of which that of the first file is the begin."""
        folder = Path(self.m.path("prefix"))
        folder.mkdir()
        for i in range(100):
            (folder / f"{i:03}.csv").write_text("a,b,c\n1,2,3\n" if i == 51 else "a,b\n1,2\n")
        out = self.m.good("--quiet", "query", "SELECT * FROM 'prefix'").decode().splitlines()
        self.assertEqual((out[0], len(out), out.count("1,2,3"), out.count("1,2,")), ("a,b,c", 101, 1, 99))
        (folder / "000.csv").write_text("a,b")  # no records, and no end of line
        self.assertEqual(self.m.good("--quiet", "query", "SELECT sum(a) AS s, sum(c) AS c FROM 'prefix'"), b"s,c\n99,3\n")

    def test_not_by_name(self):
        """Compressed files are read in one pass: a query for all columns fails at one that the first file has not. A schema says
        what there has to be, and a file with another delimiter is not one of nulls."""
        folder = self.write("csv")
        for name in ("1", "2", "4"):
            Path(self.m.path(f"{name}.csv.gz")).write_bytes(gzip.compress((folder / f"{name}.csv").read_bytes()))
        done = self.m.run("query", "1.csv.gz", "2.csv.gz", "--select", "*")
        self.assertEqual(done.code, 1)
        self.assertIn("2.csv.gz: the header has a column 'c', which the first file has not; name the columns", done.err)
        self.assertEqual(self.m.good("--quiet", "query", "1.csv.gz", "2.csv.gz", "--select", "sum(a) as s"), b"s\n10\n")
        done = self.m.run("query", "1.csv.gz", "4.csv.gz", "--select", "a, b")
        self.assertEqual(done.code, 2)
        self.assertIn("4.csv.gz: the header has no column 'b'", done.err)
        self.m.bad(2, "query", f"{folder}/1.csv", f"{folder}/4.csv", "--schema", "a:i64,b:string", "--select", "b", says="the header has no column 'b'")
        Path(self.m.path("s.csv")).write_text("a;b\n1;2\n")
        self.m.bad(2, "query", f"{folder}/1.csv", f"{folder}/4.csv", "s.csv", "--select", "b", says="files of one query have one delimiter")


if __name__ == "__main__":
    main()
