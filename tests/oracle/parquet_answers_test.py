#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count, min and max of a Parquet file without filter and groups come from the statistics of its row groups, as far as
these hold them exactly. The answers are compared with Python's over the same rows; the receipt says how many row groups
were not read."""
import datetime
import json
import random
import sys
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

try:
    import duckdb
    import pyarrow
    import pyarrow.parquet
except ImportError:
    duckdb = pyarrow = None

WHY_NOT = "pyarrow or DuckDB is not installed (`./dev test` puts them into build/python): there are no files to read"
EPOCH = datetime.datetime(1970, 1, 1)


def columns(rng, n):
    """Values of each column: the second row group of `i` has nulls only."""
    ints = [rng.randrange(-10**9, 10**9) if rng.random() < 0.9 else None for _ in range(n)]
    ints[5000:10000] = [None] * 5000
    return {
        "i": (pyarrow.int32(), ints),
        "u": (pyarrow.uint64(), [rng.randrange(2**64) for _ in range(n)]),
        "b": (pyarrow.bool_(), [rng.random() < 0.5 for _ in range(n)]),
        "d": (pyarrow.decimal128(20, 2), [Decimal(rng.randrange(-10**19, 10**19)).scaleb(-2) for _ in range(n)]),
        "t": (pyarrow.timestamp("us"), [EPOCH + datetime.timedelta(seconds=rng.randrange(10**9)) for _ in range(n)]),
        "ns": (pyarrow.timestamp("ns"), [EPOCH + datetime.timedelta(seconds=rng.randrange(10**9)) for _ in range(n)]),
        "day": (pyarrow.date32(), [datetime.date(2000, 1, 1) + datetime.timedelta(rng.randrange(9999)) for _ in range(n)]),
        "f": (pyarrow.float64(), [rng.choice((float("nan"), -0.0, 0.0, 1.5, -2.5)) for _ in range(n)]),
        "s": (pyarrow.string(), ["a long common prefix longer than most " * 3 + str(rng.randrange(10**6)) for _ in range(n)]),
        "none": (pyarrow.int64(), [None] * n),
    }


def text(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S")
    return str(value)


@unittest.skipIf(pyarrow is None, WHY_NOT)
class Answers(SharedMachineTest):
    profile = TWO_DEVICES
    size = 120_000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.columns = columns(random.Random(4), cls.size)
        cls.table = pyarrow.table({name: pyarrow.array(values, kind) for name, (kind, values) in cls.columns.items()})

    def ask(self, name, select):
        out = self.m.good("parquet", "query", name, "--select", select, "--receipt", "receipt").decode().splitlines()
        query = json.loads(Path(self.m.path("receipt")).read_text())["query"]
        self.assertEqual((query["rows_read"], query["rows_kept"]), (self.size, self.size))
        return out[1].split(","), query["parquet"]["row_groups_answered_by_statistics"]

    def check(self, name, column, groups):
        values = [v for v in self.columns[column][1] if v is not None]
        got, answered = self.ask(name, f"min({column}) as a, max({column}) as b, count({column}) as n, count() as m")
        wanted = [text(min(values, default=None)), text(max(values, default=None)), str(len(values)), str(self.size)]
        self.assertEqual(got, wanted, column)
        if groups is not None:
            self.assertEqual(answered, groups, column)

    def test_columns(self):
        pyarrow.parquet.write_table(self.table, self.m.path("a.parquet"), row_group_size=5000)
        for column in ("i", "u", "b", "d", "t", "day", "none"):
            self.check("a.parquet", column, 24)
        self.check("a.parquet", "ns", 0)  # values may be errors
        self.check("a.parquet", "s", None)  # as far as pyarrow says that it has not shortened them
        self.m.good("parquet", "convert", "a.parquet", "b.parquet", "--row-group-rows", "5000")
        for column in ("i", "s"):
            self.check("b.parquet", column, None)

    def test_together(self):
        """Several columns in one query, and one of which nothing but the nulls are counted."""
        pyarrow.parquet.write_table(self.table, self.m.path("a.parquet"), row_group_size=5000)
        i = [v for v in self.columns["i"][1] if v is not None]
        got, answered = self.ask("a.parquet", "max(i) as a, min(u) as b, count(s) as c, count(f) as e, count(i) as d")
        self.assertEqual(got, [str(max(i)), str(min(self.columns["u"][1])), *[str(self.size)] * 2, str(len(i))])
        self.assertEqual(answered, 24)

    def test_some_groups(self):
        """Row groups of one file with statistics and without: the others are read."""
        schema, names = self.table.schema, []
        for part, statistics in enumerate((True, False, ["u"])):
            names.append(self.m.path(f"p{part}.parquet"))
            rows = self.table.slice(part * 40000, 40000 if part < 2 else self.size)
            with pyarrow.parquet.ParquetWriter(names[-1], schema, write_statistics=statistics) as out:
                out.write_table(rows, row_group_size=4000)
        i = [v for v in self.columns["i"][1] if v is not None]
        out = self.m.good("parquet", "query", *names, "--select", "min(i) as a, max(i) as b, count(i) as c, max(u) as d",
                          "--receipt", "receipt").decode().splitlines()
        self.assertEqual(out[1], f"{min(i)},{max(i)},{len(i)},{max(self.columns['u'][1])}")
        query = json.loads(Path(self.m.path("receipt")).read_text())["query"]
        self.assertEqual(query["parquet"]["row_groups_answered_by_statistics"], 10)
        self.assertEqual(query["rows_read"], self.size)

    def test_predictions(self):
        """A file whose statistics are missing is read, and a plan says so; what that takes says nothing about a file whose
        statistics answer."""
        rows = pyarrow.table({"a": pyarrow.array(range(2_000_000), pyarrow.int64())})
        for name, there in (("with.parquet", True), ("without.parquet", False)):
            pyarrow.parquet.write_table(rows, self.m.path(name), row_group_size=100_000, write_statistics=there)

        def ask(name):
            out = self.m.good("parquet", "query", name, "--select", "min(a) as p, max(a) as q", "--receipt", "receipt").decode()
            self.assertEqual(out.splitlines()[1], "0,1999999")
            receipt = json.loads(Path(self.m.path("receipt")).read_text())
            return receipt["predicted_seconds"], receipt["query"]["parquet"]["row_groups_answered_by_statistics"]

        found, groups = ask("with.parquet")
        self.assertEqual(groups, 20)
        for _ in range(8):
            read, groups = ask("without.parquet")
            self.assertEqual(groups, 0)
            self.assertGreater(read, 3 * found)
        self.assertLess(ask("with.parquet")[0], read / 3)

    def test_floats(self):
        """NaNs hide from bounds, and zeros lose their sign: floats are read unless the file says more."""
        pyarrow.parquet.write_table(self.table, self.m.path("a.parquet"), row_group_size=5000)
        got, answered = self.ask("a.parquet", "min(f) as a, max(f) as b, count(f) as n")
        self.assertEqual((got, answered), (["-2.5", "nan", str(self.size)], 0))

    def test_duckdb(self):
        """Its files, in chunks that are parts of a row group, against its answers."""
        source = self.m.path("d.parquet")
        duckdb.execute(f"copy (select (i * 7919) % 1000003 - 500000 as a, (i * 31) % 977 as b, 'name ' || (i % 9973) as c "
                       f"from range({self.size}) t(i)) to '{source}' (format parquet, row_group_size 100000)")
        wanted = duckdb.execute(f"select min(a), max(a), min(b), max(b), count(b), min(c), max(c) from '{source}'").fetchone()
        got, answered = self.ask("d.parquet", "min(a) as p, max(a) as q, min(b) as r, max(b) as s, count(b) as t")
        self.assertEqual(got, [str(v) for v in wanted[:5]])
        self.assertEqual(answered, pyarrow.parquet.ParquetFile(source).metadata.num_row_groups)
        self.assertEqual(self.ask("d.parquet", "min(c) as p, max(c) as q")[0], list(wanted[5:]))
        # kernels would read the rows of chunks whose row groups are answered by another chunk
        out = self.m.run("parquet", "query", "d.parquet", "--select", "min(a) as p, max(a) as q, count(b) as t", "--engine", "device")
        self.assertEqual(out.out.decode().splitlines()[1], f"{wanted[0]},{wanted[1]},{wanted[4]}", out.err)

    def test_not_asked(self):
        """A filter, groups or another aggregate need the rows."""
        pyarrow.parquet.write_table(self.table, self.m.path("a.parquet"), row_group_size=5000)
        u = self.columns["u"][1]
        for more in (("--select", "max(u) as m, avg(f) as a"), ("--where", "u >= 0", "--select", "max(u) as m"),
                     ("--select", "max(u // 2) * 2 + 1 as m")):
            out = self.m.good("parquet", "query", "a.parquet", *more, "--receipt", "receipt").decode().splitlines()
            self.assertEqual(int(out[1].split(",")[0]) // 2, max(u) // 2)
            query = json.loads(Path(self.m.path("receipt")).read_text())["query"]
            self.assertEqual(query["parquet"]["row_groups_answered_by_statistics"], 0)


if __name__ == "__main__":
    main()
