#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows in an order: by one to three keys of every type, with nulls, NaN, ties and long strings, as text, JSON and
Parquet. Python's sorted, which is stable, is the oracle. Large results come in parts (query.order, query.join)."""
import csv
import datetime
import io
import json
import math
import random
import signal
import sys
import time
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

try:
    import pyarrow.parquet as parquet
except ImportError:
    parquet = None

COLUMNS = {"b": "bool", "i1": "i8", "i4": "i32", "i8": "i64", "u4": "u32", "u8": "u64", "f4": "f32", "f8": "f64",
           "d": "decimal(12,2)", "w": "decimal(38,4)", "t": "date", "s": "string", "l": "string"}
SCHEMA = ",".join(f"{c}:{t}" for c, t in COLUMNS.items()) + ",n:i64"


def value(rng, column):
    few = rng.random() < 0.5
    if rng.random() < 0.08:
        return None
    if column == "b":
        return rng.random() < 0.5
    if column in ("f4", "f8"):
        return rng.choice((math.nan, math.inf, -math.inf, 0.0, -0.0, 1.5, -2.25)) if few else rng.randrange(-2**20, 2**20) / 8
    if column in ("d", "w"):
        digits = 10 if column == "d" else 33
        return Decimal(rng.randrange(-9, 9) if few else rng.randrange(-10**digits, 10**digits)).scaleb(-2 if column == "d" else -4)
    if column == "t":
        return datetime.date(1970, 1, 1) + datetime.timedelta(rng.randrange(-20 if few else -70000, 20 if few else 70000))
    if column == "s":
        return rng.choice(("", "a", "b", "ab", "é")) if few else f"id{rng.randrange(10**10):010}"
    if column == "l":
        return "a long common prefix " + (rng.choice("abc") if few else "x" * rng.randrange(9) + str(rng.randrange(99)))
    bits = 8 * int(column[1])
    low, high = (0, 2**bits - 1) if column[0] == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)
    return rng.choice((low, high, 0, 1, 7)) if few else rng.randint(low, high)


def text(v):
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, float):
        return "NaN" if math.isnan(v) else repr(v)
    return v if isinstance(v, str) else str(v)


def csv_text(rows):
    out = io.StringIO()
    names = [*COLUMNS, "n"]
    out.write(",".join(names) + "\n")
    for row in rows:
        out.write(",".join("" if row[c] is None else '""' if row[c] == "" else text(row[c]) for c in names) + "\n")
    return out.getvalue()


def rank(v):
    if isinstance(v, str):
        return v.encode()
    if isinstance(v, float):
        return (math.isnan(v), 0.0 if math.isnan(v) else v)
    return v


def in_order(rows, keys):
    """By the last key first, as sorted is stable; nulls are last in both directions."""
    for column, descending in reversed(keys):
        nulls = [r for r in rows if r[column] is None]
        rows = sorted((r for r in rows if r[column] is not None), key=lambda r, c=column: rank(r[c]), reverse=descending) + nulls
    return rows


class Small(SharedMachineTest):
    """Above 1 MiB, so that it is not one task."""
    profile = TWO_DEVICES
    size = 12000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = random.Random(11)
        cls.rows = [{**{c: value(rng, c) for c in COLUMNS}, "n": n} for n in range(cls.size)]
        cls.csv = csv_text(cls.rows)
        assert len(cls.csv) > 1 << 20

    def setUp(self):
        super().setUp()
        Path(self.m.path("in.csv")).write_text(self.csv)

    def keys(self, rng):
        return [(rng.choice(list(COLUMNS)), rng.random() < 0.5) for _ in range(rng.randrange(1, 4))]

    def query(self, keys, *more):
        order = ", ".join(c + (" desc" if descending else "") for c, descending in keys)
        return ("mapreduce", "in.csv", "--schema", SCHEMA, "--order-by", order, *more)

    def test_every_type(self):
        for column in COLUMNS:
            for descending in (False, True):
                with self.subTest(column=column, descending=descending):
                    keys = [(column, descending)]
                    got = self.m.good(*self.query(keys, "--select", "n")).decode().split()
                    self.assertEqual(got, ["n", *(str(r["n"]) for r in in_order(self.rows, keys))])

    def test_several_keys(self):
        rng = random.Random(5)
        for _ in range(8):
            keys = self.keys(rng)
            wanted = in_order(self.rows, keys)
            limit = rng.choice((len(wanted), 1, 1000))
            with self.subTest(keys=keys, limit=limit):
                got = self.m.good(*self.query(keys, "--select", "n", "--limit", str(limit))).decode().split()
                self.assertEqual(got[1:], [str(r["n"]) for r in wanted[:limit]])

    def test_whole_rows(self):
        keys = [("i1", True), ("s", False), ("f8", True)]
        wanted = in_order(self.rows, keys)
        columns = ", ".join([*COLUMNS, "n"])
        got = list(csv.DictReader(io.StringIO(self.m.good(*self.query(keys, "--select", columns)).decode())))
        self.assertEqual([int(r["n"]) for r in got], [r["n"] for r in wanted])
        self.assertEqual([r["l"] for r in got], [r["l"] or "" for r in wanted])
        self.m.good(*self.query(keys, "--select", columns, "-o", "out.json"))
        lines = [json.loads(line) for line in Path(self.m.path("out.json")).read_text().splitlines()]
        self.assertEqual([(r["n"], r["s"], r["i8"]) for r in lines], [(r["n"], r["s"], r["i8"]) for r in wanted])
        if parquet is None:
            return
        for more in ((), ("--row-group-rows", "999"), ("--row-group-size", "64KiB")):
            self.m.good(*self.query(keys, "--select", columns, "-o", "out.parquet", *more))
            table = parquet.read_table(self.m.path("out.parquet"))
            for c in ("n", "i8", "u8", "s", "l", "b", "t", "d", "w"):
                self.assertEqual(table[c].to_pylist(), [r[c] for r in wanted], (c, more))
            if more[:1] == ("--row-group-rows",):
                meta = parquet.ParquetFile(self.m.path("out.parquet")).metadata
                self.assertEqual([meta.row_group(i).num_rows for i in range(meta.num_row_groups)],
                                 [999] * (self.size // 999) + [self.size % 999])

    def test_nothing_is_left(self):
        for output in ("out.csv", "out.parquet"):
            self.m.good(*self.query([("i4", False)], "--select", "n", "--where", "n < 0", "-o", output))
        self.assertEqual(Path(self.m.path("out.csv")).read_text(), "n\n")
        if parquet is not None:
            self.assertEqual(parquet.read_table(self.m.path("out.parquet")).num_rows, 0)

    def test_little_memory(self):
        """Without memory for parts beside the result, one task makes it."""
        keys = [("l", True), ("i8", False)]
        wanted = ["n", *(str(r["n"]) for r in in_order(self.rows, keys))]
        for memory in ("40MiB", "8MiB", "3MiB"):
            result = self.m.run(*self.query(keys, "--select", "n", "--memory", memory))
            if result.code == 0:
                self.assertEqual(result.out.decode().split(), wanted)
            else:
                self.assertIn("MiB of memory", result.err)


class Large(SharedMachineTest):
    """Two million rows: they finish, and are in nobody's way."""
    profile = TWO_DEVICES
    size = 2_100_000

    def setUp(self):
        super().setUp()
        rng = random.Random(3)
        self.keys = [rng.randrange(20000) for _ in range(self.size)]
        with open(self.m.path("in.csv"), "w") as out:
            out.write("k,n,s\n")
            out.writelines(f"{k},{n},text {k % 97}\n" for n, k in enumerate(self.keys))

    def test_finishes(self):
        wanted = sorted(range(self.size), key=lambda n: -self.keys[n])
        for output in ("out.csv", "out.parquet"):
            self.m.good("sort", "in.csv", "--key", "k desc", "-o", output, timeout=400)
        plan = json.loads(self.m.good("explain", "sort", "in.csv", "--key", "k desc", "--format", "json"))
        self.assertEqual([t["codelet"] for t in plan["tasks"]], ["query.quotes", "query.rows", "query.order", "query.join"])
        with open(self.m.path("out.csv")) as lines:
            self.assertEqual(next(lines), "k,n,s\n")
            for n, line in zip(wanted, lines):
                self.assertEqual(line, f"{self.keys[n]},{n},text {self.keys[n] % 97}\n")
        if parquet is not None:
            table = parquet.read_table(self.m.path("out.parquet"))
            self.assertEqual(table["n"].to_pylist(), wanted)
            self.assertGreater(parquet.ParquetFile(self.m.path("out.parquet")).metadata.num_row_groups, 3)

    def test_beside_it(self):
        """Another query need not wait for the end of a sort, and neither does Ctrl-C."""
        Path(self.m.path("two.csv")).write_text("a\n1\n2\n")
        header, rows = Path(self.m.path("in.csv")).read_text().split("\n", 1)
        Path(self.m.path("large.csv")).write_text(header + "\n" + 5 * rows)  # takes more than a second anywhere
        sort = self.m.start("sort", "large.csv", "--key", "k desc", "-o", "out.csv")
        time.sleep(0.5)
        self.assertIsNone(sort.poll())
        self.assertEqual(self.m.good("mapreduce", "two.csv", "--select", "count() as n"), b"n\n2\n")
        self.assertIsNone(sort.poll(), "the query waited for the sort")
        began = time.monotonic()
        sort.send_signal(signal.SIGINT)
        sort.communicate(timeout=60)
        self.assertLess(time.monotonic() - began, 5)
        self.assertNotEqual(sort.returncode, 0)


if __name__ == "__main__":
    main()
