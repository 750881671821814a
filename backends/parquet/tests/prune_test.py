#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is left out of a file (parquet/prune.h), against the values themselves: no row that a filter may keep may go, and
what true statistics rule out must go. Files are pyarrow's and DuckDB's, also with metadata that lies."""
import datetime
import math
import os
import random
import struct
import sys
import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

import parquet_files as files
from parquet_files import BINARY, DATA, I32, I64, LIST, NO_DATA, NO_ORACLE, STRUCT, File, Struct, prune

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None
try:
    import duckdb
except ImportError:
    duckdb = None

ROUNDS = int(os.environ.get("HAC_TEST_ROUNDS", "3"))
SEED = int(os.environ.get("HAC_TEST_FIRST", "1"))
EPOCH = datetime.datetime(1970, 1, 1)
DAY = datetime.date(1970, 1, 1)
ERROR = object()  # the state of a row whose filter fails


# ---- columns: values as hac has them, how they are written in a filter, how they are stored ----

class Column:
    """`draw` gives a value near `center` (0 … 1 of the type's range), as a number or a string that compares as hac
    compares it."""

    def __init__(self, arrow, draw, literal=str, store=None, nan=False):
        self.arrow, self.draw, self.literal, self.nan = arrow, draw, literal, nan
        self.store = store or (lambda values: values)

    def array(self, values):
        return pa.array(self.store(values), self.arrow)


def whole(low, high):
    def draw(rng, center):
        span = max(1, (high - low) // 50)
        return min(high, max(low, low + int((high - low) * center) + rng.randint(-span, span)))
    return draw


def integer_literal(value):
    return str(value) if value >= 0 else f"(0 - {-value})" if value > -2**63 else "(0 - 9223372036854775807 - 1)"


def float_draw(single):
    def draw(rng, center):
        kind = rng.random()
        if kind < 0.05:
            return math.nan
        value = rng.choice((0.0, -0.0, math.inf, -math.inf)) if kind < 0.15 else center * 100 - 50 + rng.random()
        return struct.unpack("<f", struct.pack("<f", value))[0] if single else value
    return draw


def float_literal(kind):
    def literal(value):
        text = "nan" if math.isnan(value) else "inf" if value == math.inf else "-inf" if value == -math.inf else None
        return f"cast('{text or repr(value)}' as {kind})"
    return literal


def half_draw(rng, center):
    value = float_draw(True)(rng, center)
    return value if math.isnan(value) else struct.unpack("<e", struct.pack("<e", value))[0]


def text_draw(rng, center):
    first = chr(ord("a") + int(center * 25))
    return rng.choice(("", first, first * 70, first + "ä", first + rng.choice("xyz"), first + "\U0001f600"))


def timestamp_literal(micros):
    return "timestamp '" + (EPOCH + datetime.timedelta(microseconds=micros)).isoformat(sep=" ") + "'"


def decimal_column(digits, scale, arrow):
    maximum = 10**digits - 1
    return Column(arrow, whole(-maximum, maximum), lambda v: literal_of(v, digits, scale),
                  lambda values: [None if v is None else unscaled(v, scale) for v in values])


def literal_of(value, digits, scale):
    text = f"{unscaled(abs(value), scale):f}"
    return f"cast('{'-' if value < 0 else ''}{text}' as decimal({digits},{scale}))"


def unscaled(value, scale):
    sign, digits = (1, -value) if value < 0 else (0, value)
    return Decimal((sign, tuple(map(int, str(digits))), -scale))


def columns():
    ret = {
        "i8": Column(pa.int8(), whole(-128, 127), integer_literal),
        "i16": Column(pa.int16(), whole(-2**15, 2**15 - 1), integer_literal),
        "i32": Column(pa.int32(), whole(-2**31, 2**31 - 1), integer_literal),
        "i64": Column(pa.int64(), whole(-2**63, 2**63 - 1), integer_literal),
        "u8": Column(pa.uint8(), whole(0, 255)),
        "u32": Column(pa.uint32(), whole(0, 2**32 - 1)),
        "u64": Column(pa.uint64(), whole(0, 2**64 - 1), lambda v: f"cast('{v}' as u64)"),
        "bool": Column(pa.bool_(), lambda rng, center: rng.random() < center, lambda v: "true" if v else "false"),
        "f32": Column(pa.float32(), float_draw(True), float_literal("f32"), nan=True),
        "f64": Column(pa.float64(), float_draw(False), float_literal("f64"), nan=True),
        "f16": Column(pa.float16(), half_draw, float_literal("f32"), nan=True),
        "s": Column(pa.string(), text_draw, lambda v: f"'{v}'"),
        "date": Column(pa.date32(), whole(-50000, 50000),
                       lambda v: f"date '{DAY + datetime.timedelta(days=v)}'"),
        "t_ms": Column(pa.timestamp("ms"), whole(-2 * 10**15, 2 * 10**15), timestamp_literal),
        "t_us": Column(pa.timestamp("us"), whole(-2 * 10**15, 2 * 10**15), timestamp_literal),
        "t_ns": Column(pa.timestamp("ns"), whole(-2 * 10**15, 2 * 10**15), timestamp_literal),
        "d9": decimal_column(9, 2, pa.decimal128(9, 2)),
        "d18": decimal_column(18, 3, pa.decimal128(18, 3)),
        "d38": decimal_column(38, 5, pa.decimal128(38, 5)),
    }
    draw_ms = ret["t_ms"].draw
    ret["t_ms"].draw = lambda rng, center: draw_ms(rng, center) // 1000 * 1000
    ret["t_ms"].store = lambda values: [None if v is None else v // 1000 for v in values]
    ret["t_ns"].store = lambda values: [None if v is None else v * 1000 for v in values]
    return ret


# ---- filters, as hac evaluates them ----

def key(value):
    """NaN is above all numbers and equals itself; text compares by its bytes."""
    if isinstance(value, str):
        return value.encode()
    return (value != value, 0.0 if value != value else value)


COMPARE = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b,
           ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


class Atom:
    def __init__(self, rng, name, column, values):
        self.name, self.op = name, rng.choice((*COMPARE, "in", "is null", "is not null", "=", "in"))
        known = [v for v in values if v is not None]
        self.values = [rng.choice(known) if known and rng.random() < 0.5 else column.draw(rng, rng.random())
                       for _ in range(rng.randint(1, 5) if self.op == "in" else 1)]
        shown = [column.literal(v) for v in self.values]
        # a sole literal would be another comparison
        self.text = (f'"{name}" {self.op}' if self.op.startswith("is") else
                     f'"{name}" in ({", ".join(shown)})' if self.op == "in" else f'"{name}" {self.op} {shown[0]}')

    def holds(self, value):
        """True, False, or None for null."""
        if self.op.startswith("is"):
            return (value is None) == (self.op == "is null")
        if value is None:
            return None
        if self.op == "in":
            return any(key(value) == key(v) for v in self.values)
        return COMPARE[self.op](key(value), key(self.values[0]))


class Overflows:
    """A conjunct that is an error in some rows."""

    text = '"i64" * 1000 > 0'

    def __init__(self):
        self.name, self.op = "i64", "overflow"

    def holds(self, value):
        if value is None:
            return None
        return ERROR if not -2**63 <= value * 1000 < 2**63 else value * 1000 > 0


def must_keep(states):
    """A row counts where all are true; it must fail where one is an error and none is false."""
    if False in states:
        return False
    return ERROR in states or None not in states


def check_kept(test, groups, shown, needed, what):
    """`needed`: of each row of the file, whether it must be kept."""
    test.assertEqual(len(shown["groups"]), len(groups), what)
    first = left_out = 0
    for rows, ranges in zip(groups, shown["groups"]):
        kept, end = [False] * rows, -1
        for start, count in ranges:
            test.assertTrue(start > end and count > 0 and start + count <= rows, (what, ranges))
            end = start + count
            kept[start:end] = [True] * count
        lost = [i for i in range(rows) if needed[first + i] and not kept[i]]
        test.assertEqual(lost, [], (what, ranges))
        left_out += kept.count(False)
        first += rows
    test.assertEqual(shown["rows"], left_out, what)


# ---- against the values ----

class Table:
    def __init__(self, rng, rows):
        self.columns, self.values = columns(), {}
        for name, column in self.columns.items():
            nulls = rng.choice((0, 0, 0.1, 0.5))
            runs, at = [], 0  # clusters, so that pages and groups differ
            while at < rows:
                length, center, only_nulls = rng.randint(1, rows // 3), rng.random(), nulls > 0 and rng.random() < 0.2
                runs += [None if only_nulls or rng.random() < nulls else column.draw(rng, center)
                         for _ in range(length)]
                at += length
            self.values[name] = runs[:rows]

    def write(self, path, **options):
        arrays = [column.array(self.values[name]) for name, column in self.columns.items()]
        pq.write_table(pa.Table.from_arrays(arrays, list(self.columns)), path, **options)


def ruled_out(column, atom, values):
    """Whether true statistics of these values rule all of them out, nulls included."""
    known = [key(v) for v in values if v is not None]
    if atom.op == "is null":
        return len(known) == len(values)
    if not known:
        return True
    if atom.op == "is not null" or column.nan or atom.op == "overflow":
        return False
    low, high, wanted = min(known), max(known), [key(v) for v in atom.values]
    return {"in": all(v < low or v > high for v in wanted), "=": wanted[0] < low or wanted[0] > high,
            "!=": low == high == wanted[0], "<": low >= wanted[0], "<=": low > wanted[0],
            ">": high <= wanted[0], ">=": high < wanted[0]}[atom.op]


@unittest.skipIf(pq is None, NO_ORACLE)
class Values(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "x.parquet"

    def filters(self, rng, table):
        for name, column in table.columns.items():
            for _ in range(6):
                yield [Atom(rng, name, column, table.values[name])]
        for _ in range(60):
            names = rng.choices(list(table.columns), k=rng.randint(2, 3))
            yield [Atom(rng, name, table.columns[name], table.values[name]) for name in names]
        for _ in range(20):
            name = rng.choice(list(table.columns))
            yield rng.sample([Atom(rng, name, table.columns[name], table.values[name]), Overflows()], 2)

    def check(self, rng, table, groups, effective):
        wanted = list(self.filters(rng, table))
        shown = prune(self.path, [" and ".join(atom.text for atom in atoms) for atoms in wanted])
        for atoms, said in zip(wanted, shown):
            what = " and ".join(atom.text for atom in atoms)
            cells = zip(*(table.values[atom.name] for atom in atoms))
            needed = [must_keep([atom.holds(value) for atom, value in zip(atoms, row)]) for row in cells]
            check_kept(self, groups, said, needed, what)
            if len(atoms) == 1 and effective:
                self.ruled_out(table, atoms[0], groups, said, what)
        return sum(said["by_bloom"] for said in shown), sum(said["by_pages"] for said in shown)

    def ruled_out(self, table, atom, groups, said, what):
        first = 0
        for rows, ranges in zip(groups, said["groups"]):
            values = table.values[atom.name][first:first + rows]
            if ruled_out(table.columns[atom.name], atom, values):
                self.assertEqual(ranges, [], (what, values))
            first += rows

    def test_random(self):
        by_bloom = by_pages = 0
        for seed in range(SEED, SEED + ROUNDS):
            with self.subTest(seed=seed):
                rng = random.Random(seed)
                rows, group, page = rng.choice((1, 50, 1000)), rng.choice((30, 200, 1000)), rng.choice((1, 7, 100))
                table, statistics = Table(rng, max(rows, 9)), rng.random() < 0.8
                bloomed = {name: {"ndv": 100, "fpp": 0.01} for name in table.columns if name != "bool"}
                table.write(self.path, row_group_size=group, max_rows_per_page=page, write_batch_size=page,
                            write_statistics=statistics, write_page_index=rng.random() < 0.7,
                            store_decimal_as_integer=rng.random() < 0.5, version="2.6",
                            bloom_filter_options=rng.choice((None, bloomed)),
                            use_dictionary=rng.random() < 0.5, data_page_version=rng.choice(("1.0", "2.0")))
                meta = pq.read_metadata(self.path)
                groups = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
                bloom, pages = self.check(rng, table, groups, statistics)
                by_bloom, by_pages = by_bloom + bloom, by_pages + pages
        if ROUNDS >= 30:  # each method was used
            self.assertGreater(min(by_bloom, by_pages), 100)

    def test_pages(self):
        """Sorted values: exactly the pages that hold some of those that are asked for are kept."""
        pq.write_table(pa.table({"x": list(range(1000))}), self.path, row_group_size=500, max_rows_per_page=10,
                       write_batch_size=10, write_page_index=True, use_dictionary=False)
        shown = prune(self.path, ["x >= 105 and x < 125", "x = 490 or x = 510", "x in (3, 4, 17, 700)", "x > 998",
                                  "x between 495 and 505"])
        self.assertEqual([s["groups"] for s in shown],
                         [[[[100, 30]], []], [[[490, 10]], [[10, 10]]], [[[0, 20]], [[200, 10]]], [[], [[490, 10]]],
                          [[[490, 10]], [[0, 10]]]])

    @unittest.skipIf(duckdb is None, NO_ORACLE)
    def test_duckdb_blooms(self):
        """Values that are there are kept; of others, that statistics say nothing about, most groups go."""
        connection = duckdb.connect()
        connection.execute(f"""COPY (SELECT (i * 2)::BIGINT AS x, (i * 2)::INTEGER AS y, 'v' || (i * 2) AS s, (i * 2)::DOUBLE AS d,
            (i * 2)::DECIMAL(12, 2) AS dec, DATE '2000-01-01' + i::INTEGER * 2 AS t
            FROM (SELECT hash(j % 150 + j // 2048 * 1000) % 20000 AS i FROM range(20000) r(j))) TO '{self.path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)""")
        table = pq.read_table(self.path)
        meta = pq.read_metadata(self.path)
        groups = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
        literal = {"x": str, "y": str, "s": "'{}'".format, "d": str, "dec": str, "t": "date '{}'".format}
        rng = random.Random(1)
        for name, write in literal.items():
            values = table.column(name).to_pylist()
            there = rng.sample(values, 40)
            for value, said in zip(there, prune(self.path, [f"{name} = {write(v)}" for v in there])):
                check_kept(self, groups, said, [v == value for v in values], f"{name} = {value}")
            step = datetime.timedelta(days=1) if name == "t" else 1
            absent = [v + "x" if name == "s" else v + step for v in there]
            shown = prune(self.path, [f"{name} = {write(v)}" for v in absent])
            self.assertGreater(sum(s["by_bloom"] for s in shown), 30 * len(groups) // 2, name)


# ---- metadata that lies ----

@unittest.skipIf(pq is None, NO_ORACLE)
class Lies(unittest.TestCase):
    ROWS = 100

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "x.parquet"

    def make(self, array, **options):
        pq.write_table(pa.table({"x": array}), self.path, **{
            "write_page_index": True, "max_rows_per_page": 10, "write_batch_size": 10, "use_dictionary": False,
            **options})
        return File(self.path)

    def kept(self, file, *filters):
        """Rows that are kept, of the one row group."""
        shown = prune(file.write(self.path), filters)
        kept = [sum(count for _, count in s["groups"][0]) for s in shown]
        return kept if len(kept) > 1 else kept[0]

    def without_statistics(self, file):
        file.column(0, 0).drop(12)
        return file

    def test_null_count(self):
        nulls = pa.array([None, 1] * 50)
        file = self.make(nulls, write_page_index=False)
        self.assertEqual(self.kept(file, "x is null", "x is not null", "x = 1", "x = 2"), [100, 100, 100, 0])
        file.column(0, 0).value(12).drop(3)
        self.assertEqual(self.kept(file, "x is null", "x is not null", "x = 2"), [100, 100, 0])
        for wrong in (-1, 101, 2**63 - 1):
            file.column(0, 0).value(12).put(3, I64, wrong)
            self.assertEqual(self.kept(file, "x is null", "x is not null", "x = 1"), [100, 100, 100])
        file.column(0, 0).value(12).put(3, I64, 100)  # all null, and yet there are bounds
        self.assertEqual(self.kept(file, "x = 1", "x is not null"), [100, 100])
        self.without_statistics(file)
        self.assertEqual(self.kept(file, "x = 2", "x is null"), [100, 100])

    def test_nulls_beside_what_fails(self):
        """A null's row must be looked at when another conjunct can be an error in it."""
        values = pa.array([None, 1] * 50)
        pq.write_table(pa.table({"x": values, "y": [2**62] * 100}), self.path, write_page_index=True)
        wanted = {"x = 2 and y * 4 > 0": 100, "x = 2 and y > 0": 0, "x is not null and y * 4 > 0": 100,
                  "x = 2": 0}
        shown = prune(self.path, wanted)
        self.assertEqual([sum(n for _, n in s["groups"][0]) for s in shown], list(wanted.values()))
        pq.write_table(pa.table({"x": [1] * 100, "y": [2**62] * 100}), self.path, write_page_index=True)
        self.assertEqual(prune(self.path, ["x = 2 and y * 4 > 0"])[0]["groups"], [[]])

    def test_nans(self):
        file = self.make(pa.array([1.0, 2.0, math.nan, 3.0] * 25), write_page_index=False)
        everything = ["x > 5", "x >= 5", "x != 1", "x = cast('nan' as f64)"]
        self.assertEqual(self.kept(file, *everything), [100] * 4)
        self.assertEqual(self.kept(file, "x < 1", "x <= 0.5", "x = 5", "x = 0.5"), [0] * 4)
        file.column(0, 0).value(12).put(9, I64, 0)  # now none are said to be there
        self.assertEqual(self.kept(file, "x > 5", "x >= 5", "x != 1"), [0, 0, 100])
        for count in (1, -1, 101):
            file.column(0, 0).value(12).put(9, I64, count)
            self.assertEqual(self.kept(file, *everything), [100] * 4)

    def test_zeros(self):
        file = self.make(pa.array([-0.0, 0.0] * 50), write_page_index=False)
        for low, high in ((0.0, 0.0), (-0.0, -0.0), (0.0, -0.0), (-0.0, 0.0)):
            file.column(0, 0).put(12, STRUCT, Struct().put(6, BINARY, struct.pack("<d", low))
                                  .put(5, BINARY, struct.pack("<d", high)).put(9, I64, 0))
            self.assertEqual(self.kept(file, "x = 0.0", "x = cast('-0.0' as f64)", "x >= 0.0", "x < 0.0", "x > 0.0"),
                             [100, 100, 100, 0, 0])

    def test_deprecated_order(self):
        """Signed order of bytes: 'é' is below 'a' there."""
        file = self.make(pa.array(["a", "é"] * 50), write_page_index=False)
        for fields in ((2, 1), (6, 5)):
            if fields == (6, 5):
                file.meta.put(6, BINARY, b"parquet-mr version 1.9.0")
            statistics = Struct().put(fields[0], BINARY, "é".encode()).put(fields[1], BINARY, b"a")
            file.column(0, 0).put(12, STRUCT, statistics)
            self.assertEqual(self.kept(file, "x = 'b'", "x > 'z'", "x = 'a'"), [100, 100, 100])

    def test_unsigned_order(self):
        file = self.make(pa.array([1, 2**64 - 1] * 50, pa.uint64()), write_page_index=False)
        file.column(0, 0).put(12, STRUCT, Struct().put(2, BINARY, struct.pack("<q", -1))
                              .put(1, BINARY, struct.pack("<q", 1)))
        self.assertEqual(self.kept(file, "x > 5", "x = 5"), [100, 100])

    def test_truncated(self):
        file = self.make(pa.array(["Blart Versenwald III"] * 100), write_page_index=False)
        file.column(0, 0).put(12, STRUCT, Struct().put(6, BINARY, b"B").put(5, BINARY, b"C"))
        self.assertEqual(self.kept(file, "x = 'Blart Versenwald III'", "x = 'B'", "x = 'D'", "x != 'B'", "x < 'B'",
                                   "x <= 'B'", "x > 'C'"), [100, 100, 0, 100, 0, 100, 0])

    def test_out_of_range(self):
        """Values that a type does not have are errors in their rows: they are not left out."""
        file = self.make(pa.array([1] * 100, pa.int8()), write_page_index=False)
        file.column(0, 0).put(12, STRUCT, Struct().put(6, BINARY, struct.pack("<i", 1))
                              .put(5, BINARY, struct.pack("<i", 1000)))
        self.assertEqual(self.kept(file, "x = 5", "x > 500"), [100, 100])

    def test_nanoseconds(self):
        """Bounds between two microseconds: what is between them is an error of its row, and must be seen."""
        file = self.make(pa.array([1] * 100, pa.timestamp("ns")), write_page_index=False)
        file.column(0, 0).put(12, STRUCT, Struct().put(6, BINARY, struct.pack("<q", -1))
                              .put(5, BINARY, struct.pack("<q", 1)))
        text = "x %s timestamp '1970-01-01 00:00:00.00000%d'"
        self.assertEqual(self.kept(file, text % (">", 0), text % ("=", 1), text % (">", 1), text % ("<", 0),
                                   text % (">=", 2)), [100, 100, 0, 100, 0])

    def test_literals_out_of_range(self):
        file = self.make(pa.array([1] * 100, pa.int32()))
        self.assertEqual(self.kept(file, "x < 5000000000", "x > 5000000000", "x = 5000000000", "x > -5000000000"),
                         [100, 0, 0, 100])

    # -- the page index --

    def indexed(self):
        """A file whose page index is put in anew behind its pages: (file, write(column index, offset index))."""
        file = self.without_statistics(self.make(pa.array(list(range(self.ROWS)))))
        chunk = file.chunk(0, 0)
        data = self.path.read_bytes()
        column = files.Decoder(data, chunk.value(6)).structure()
        offset = files.Decoder(data, chunk.value(4)).structure()
        body = file.body

        def write(column, offset):
            column, offset = (files.encode(STRUCT, part) if isinstance(part, Struct) else part
                              for part in (column, offset))
            file.body = body + column + offset
            chunk.put(6, I64, len(body)).put(7, I32, len(column))
            chunk.put(4, I64, len(body) + len(column)).put(5, I32, len(offset))
            return file
        return column, offset, write

    def test_index_as_it_was(self):
        column, offset, write = self.indexed()
        self.assertEqual(self.kept(write(column, offset), "x = 15", "x >= 95", "x < 0"), [10, 10, 0])

    def test_column_index_damaged(self):
        def short(part):
            return part[1].pop()

        changes = (lambda c: c.drop(1), lambda c: c.drop(2), lambda c: c.drop(3),
                   lambda c: short(c.value(1)), lambda c: short(c.value(2)), lambda c: short(c.value(3)),
                   lambda c: c.put(1, LIST, (I32, [0] * 10)), lambda c: c.put(2, LIST, (I64, [0] * 10)))
        for i, change in enumerate(changes):
            column, offset, write = self.indexed()
            change(column) if i not in (3, 4, 5) else column[i - 2][1][1].pop()
            self.assertEqual(self.kept(write(column, offset), "x = 15"), 100, i)
        column, offset, write = self.indexed()
        whole = files.encode(STRUCT, column)
        for size in range(1, len(whole)):
            self.assertIn(self.kept(write(whole[:size], offset), "x = 15"), (100, 10), size)

    def test_column_index_of_one_page(self):
        """What cannot be believed of a page keeps that page, and no more."""
        for value in (b"", b"\0" * 7, struct.pack("<q", 30)):  # not a value, above the maximum
            column, offset, write = self.indexed()
            column.value(2)[1][2] = value
            self.assertEqual(self.kept(write(column, offset), "x = 95"), 20, value)
        column, offset, write = self.indexed()
        column.value(1)[1][3] = True  # a page of nulls only
        self.assertEqual(self.kept(write(column, offset), "x = 35", "x = 45", "x is null"), [0, 10, 10])
        column.value(1)[1][3] = False
        column.put(5, LIST, (I64, [0] * 10))
        self.assertEqual(self.kept(write(column, offset), "x is null"), 0)
        column.value(5)[1][7] = 1
        self.assertEqual(self.kept(write(column, offset), "x is null"), 10)
        column.value(5)[1][7] = -1
        self.assertEqual(self.kept(write(column, offset), "x is null"), 10)
        column.drop(5)
        self.assertEqual(self.kept(write(column, offset), "x is null", "x = 15"), [100, 10])

    def test_order_is_not_known(self):
        column, offset, write = self.indexed()
        file = write(column, offset)
        file.meta.put(7, LIST, (STRUCT, [Struct().put(9, STRUCT, Struct())]))
        self.assertEqual(self.kept(file, "x = 15"), 100)
        file.meta.drop(7)
        self.assertEqual(self.kept(file, "x = 15"), 100)

    def test_offset_index_damaged(self):
        page = lambda o, i: o.value(1)[1][i]  # noqa: E731
        changes = (lambda o: o.drop(1), lambda o: o.value(1)[1].clear(), lambda o: o.value(1)[1].pop(),
                   lambda o: page(o, 3).drop(1), lambda o: page(o, 3).drop(2), lambda o: page(o, 3).drop(3),
                   lambda o: page(o, 0).put(3, I64, 1), lambda o: page(o, 3).put(3, I64, 19),
                   lambda o: page(o, 3).put(3, I64, 101), lambda o: page(o, 9).put(3, I64, 101),
                   lambda o: page(o, 9).put(3, I64, 2**63 - 1),
                   lambda o: page(o, 3).put(3, I64, -1), lambda o: page(o, 0).put(1, I64, 3),
                   lambda o: page(o, 3).put(1, I64, page(o, 2).value(1)), lambda o: page(o, 3).put(1, I64, 2**62),
                   lambda o: page(o, 3).put(2, I32, 2**31 - 1), lambda o: page(o, 3).put(2, I32, -1),
                   lambda o: page(o, 9).put(2, I32, page(o, 9).value(2) + 1))
        for i, change in enumerate(changes):
            column, offset, write = self.indexed()
            change(offset)
            self.assertEqual(self.kept(write(column, offset), "x = 15"), 100, i)

    def test_index_larger_than_allowed(self):
        column, offset, write = self.indexed()
        file = write(column, offset)
        file.chunk(0, 0).put(7, I32, 2**31 - 1)
        self.assertEqual(self.kept(file, "x = 15"), 100)

    # -- bloom filters --

    def bloomed(self, array, **options):
        """Without statistics."""
        file = self.make(array, write_page_index=False, bloom_filter_options={"x": {"ndv": 50, "fpp": 0.001}}, **options)
        return self.without_statistics(file)

    def test_blooms(self):
        file = self.bloomed(pa.array([f"v{i}" for i in range(100)]))
        self.assertEqual(self.kept(file, "x = 'v5'", "x = 'w'", "x in ('w', 'v7')", "x in ('w', 'z')", "x != 'w'",
                                   "x < 'w'", "x is null"), [100, 0, 100, 0, 100, 100, 100])
        offset = file.column(0, 0).value(14)
        file.column(0, 0).drop(15)  # its length is not known
        self.assertEqual(self.kept(file, "x = 'v5'", "x = 'w'"), [100, 0])
        size = struct.unpack("<I", self.path.read_bytes()[-8:-4])[0]
        rest = len(self.path.read_bytes()) - offset - size - 8
        for length in (1, 20, rest - 10):  # shorter than it is
            file.column(0, 0).put(15, I32, length)
            self.assertEqual(self.kept(file, "x = 'w'"), 100)

    def test_bloom_headers(self):
        file = self.bloomed(pa.array([f"v{i}" for i in range(100)]))
        offset = file.column(0, 0).value(14)
        decoder = files.Decoder(file.body, offset)
        header, body = decoder.structure(), file.body
        blocks = body[decoder.at:]
        file.column(0, 0).drop(15)
        size = header.value(1)

        def kept(**changes):
            changed = Struct(header)
            for field, value in changes.items():
                changed.put(int(field[1:]), I32 if field == "f1" else STRUCT, value)
            file.body = body[:offset] + files.encode(STRUCT, changed) + blocks
            return self.kept(file, "x = 'w'")

        other = Struct().put(2, STRUCT, Struct())
        self.assertEqual(kept(), 0)
        for wrong in (0, -32, size + 1, size + 2**20, 2**31 - 1, (128 << 20) + 32, 16):
            self.assertEqual(kept(f1=wrong), 100, wrong)
        for field in ("f2", "f3", "f4"):
            self.assertEqual(kept(**{field: other}), 100)
            self.assertEqual(kept(**{field: Struct()}), 100)
        file.body = body[:offset] + b"\xff" * 300
        self.assertEqual(self.kept(file, "x = 'w'"), 100)

    def test_blooms_of_values_with_twins(self):
        file = self.bloomed(pa.array([0.0, 1.5] * 50))
        self.assertEqual(self.kept(file, "x = cast('-0.0' as f64)", "x = 0.0", "x = cast('nan' as f64)", "x = 2.5"),
                         [100, 100, 100, 0])

    def test_blooms_of_converted_values(self):
        day = datetime.datetime(2020, 1, 1, 0, 0, 0, 123000)
        for array, there, absent in (
                (pa.array([day] * 9, pa.timestamp("ms")), timestamp_literal(1577836800123000), "timestamp '2021-01-01'"),
                (pa.array([Decimal("-1.25")] * 9, pa.decimal128(20, 2)), "-1.25", "1.25"),
                (pa.array([Decimal("-1.25")] * 9, pa.decimal128(9, 2)), "-1.25", "1.25"),
                (pa.array([255] * 9, pa.uint8()), "255", "54"),
                (pa.array([2**64 - 1] * 9, pa.uint64()), "18446744073709551615", "5"),
                (pa.array([-1] * 9, pa.int16()), "-1", "1"),
                (pa.array([2.5] * 9, pa.float32()), "cast(2.5 as f32)", "cast(3 as f32)")):
            for integers in (False, True):
                file = self.bloomed(array, store_decimal_as_integer=integers)
                self.assertEqual(self.kept(file, f"x = {there}", f"x = {absent}"), [9, 0], array.type)
        file = self.bloomed(pa.array([1234567] * 9, pa.timestamp("ns")))  # many of these are one value
        self.assertEqual(self.kept(file, "x = timestamp '1970-01-01 00:00:00.001234'",
                                   "x = timestamp '1999-01-01'"), [9, 9])


@unittest.skipUnless(files.corpus("data/*.parquet"), NO_DATA)
class Corpus(unittest.TestCase):
    @unittest.skipIf(pq is None, NO_ORACLE)
    def test_bloom_filter_of_the_specification(self):
        """bloom_filter.xxhash.bin holds four words."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.parquet"
            pq.write_table(pa.table({"x": ["?"]}), path, write_statistics=False)
            file = File(path)
            file.column(0, 0).put(14, I64, len(file.body))
            file.body += (DATA / "data/bloom_filter.xxhash.bin").read_bytes()
            file.write(path)
            words = ["hello", "parquet", "bloom", "filter"]
            shown = prune(path, [f"x = '{word}'" for word in words + ["hallo", "parket", "blume", "filtre", ""]])
            self.assertEqual([s["by_bloom"] for s in shown], [0] * 4 + [1] * 5)

    def test_columns_without_nulls(self):
        """No filter on a file that lies makes it lose rows that are there."""
        for name, filters in (("nan_in_stats", ["x > 0.5", "x = 1.0", "x >= cast('nan' as f64)"]),
                              ("float16_nonzeros_and_nans", ["x > 0", "x < 0", "x = cast('nan' as f32)"]),
                              ("float16_zeros_and_nans", ["x = 0", "x >= 0", "x <= 0"]),
                              ("single_nan", ["mycol is null"]),
                              ("int96_from_spark", ["a > timestamp '2024-01-01'", "a < timestamp '1000-01-01'"]),
                              ("fixed_length_decimal", ["value = 5", "value < 10.5", "value > 23.99"]),
                              ("byte_array_decimal", ["value = 5", "value < 10.5", "value > 23.99"]),
                              ("binary_truncated_min_max", ["utf8_full_truncation = 'Blart Versenwald III'"])):
            for said in prune(DATA / f"data/{name}.parquet", filters):
                self.assertEqual(said["rows"], 0, (name, said))

    def test_tiny_pages(self):
        """The same values in pages of one and of another size: what is kept of both has all rows that are wanted."""
        filters = ["id = 500", "id < 100 and \"month\" = 3", "string_col = '5'", "double_col < 10", "tinyint_col > 8",
                   "timestamp_col >= timestamp '2010-06-01'", "date_string_col = '06/01/09'", "bigint_col in (10, 20)"]
        for name in ("alltypes_tiny_pages", "alltypes_tiny_pages_plain"):
            path = DATA / f"data/{name}.parquet"
            lines = files.run("parquet_dump", path)
            values = {line["column"]: line["values"] for line in lines if "values" in line}
            ids = values["id"]
            for said, wanted in zip(prune(path, filters), (
                    lambda i: ids[i] == 500, lambda i: ids[i] < 100 and values["month"][i] == 3,
                    lambda i: values["string_col"][i] == "x35", lambda i: double(values["double_col"][i]) < 10,
                    lambda i: values["tinyint_col"][i] > 8, lambda i: values["timestamp_col"][i] >= 1275350400000000,
                    lambda i: values["date_string_col"][i] == "x" + b"06/01/09".hex(),
                    lambda i: values["bigint_col"][i] in (10, 20))):
                check_kept(self, [len(ids)], said, [wanted(i) for i in range(len(ids))], (name, said))


def double(shown):
    return struct.unpack("<d", struct.pack("<Q", int(shown[1:], 16)))[0]


if __name__ == "__main__":
    for why in ([NO_DATA] if not files.corpus("data/*.parquet") else []) + ([NO_ORACLE] if pq is None else []):
        print(why, file=sys.stderr)
    unittest.main()
