#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Columns with lists and maps: what parquet_dump reads of them is what pyarrow reads, wherever pages and row groups
end, in every encoding and both versions of pages; and levels that lie are refused."""
import datetime
import decimal
import json
import math
import random
import tempfile
import unittest
from pathlib import Path

import parquet_files as files
from parquet_files import NO_ORACLE

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None

WORDS = ("", "a", "Zoë", 'quote " and \\', "line\nfeed", "\x01", "longer text " * 5)


# ---- the oracle ----

def element(value):
    """As hac writes it in a list, before JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"inf": "inf", "-inf": "-inf", "nan": "nan"}[repr(value)]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + (f".{value.microsecond:06}" if value.microsecond else "")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return float(value) if isinstance(value, decimal.Decimal) else value


def key(value):
    value = element(value)
    return json.dumps(value) if isinstance(value, (bool, int, float)) else value


def leaves_of(kind, value):
    """The values of a row's leaves, each with a list or a map in the row, as hac names them; None where there is no
    list. Structs in lists are taken apart."""
    if pa.types.is_struct(kind):
        for i in range(kind.num_fields):
            field = kind.field(i)
            yield from leaves_of(field.type, None if value is None else value[field.name])
    elif pa.types.is_map(kind):
        yield None if value is None else {key(k): element(v) for k, v in value}
    elif pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        for i in range(kind.value_type.num_fields):
            name = kind.value_type.field(i).name
            yield None if value is None else [None if v is None else element(v[name]) for v in value]
    elif pa.types.is_list(kind):
        yield None if value is None else list(map(element, value))
    else:
        yield value


def wanted(table):
    """The values of each leaf of the table."""
    columns = []
    for column in table.columns:
        rows = [list(leaves_of(column.type, value)) for value in column.to_pylist()]
        columns += [list(leaf) for leaf in zip(*rows)]
    return columns


def is_json(leaf):
    return "nested" in leaf


def json_values(leaf):
    """The leaf's values, of lists and maps what their JSON says."""
    if not is_json(leaf):
        return leaf["values"]
    return [None if v is None else json.loads(bytes.fromhex(v[1:]).decode()) for v in leaf["values"]]


def read(path, *options):
    """The values of each leaf of the file."""
    lines = files.run("parquet_dump", path, *options)[1:]
    for line in lines:
        if line.get("why", "").startswith("it has the values of a map"):
            continue
        assert "values" in line, line
        yield line["column"], json_values(line)


# ---- tables ----

def some_list(rng, draw, longest):
    if rng.random() < 0.15:
        return None
    n = 0 if rng.random() < 0.2 else longest if rng.random() < 0.02 else rng.randint(1, 6)
    return [None if rng.random() < 0.2 else draw() for _ in range(n)]


def some_map(rng, draw_key, draw):
    if rng.random() < 0.15:
        return None
    return list({draw_key(): None if rng.random() < 0.2 else draw() for _ in range(rng.randint(0, 4))}.items())


def random_table(rng, rows, longest):
    def number():
        return rng.randint(-5, 5)

    def word():
        return rng.choice(WORDS)

    def day():
        return datetime.date(2020, 1, 1) + datetime.timedelta(days=rng.randint(0, 900))

    def moment():
        return datetime.datetime(2020, 1, 1) + datetime.timedelta(microseconds=rng.randint(0, 10**15))

    def real():
        return rng.choice((0.1, -2.5, 1e300, math.inf, -math.inf, math.nan))

    def price():
        return decimal.Decimal(rng.randint(-999, 999)).scaleb(-2)

    draws = {pa.int32(): number, pa.int64(): lambda: rng.randint(-1 << 62, 1 << 62), pa.uint8(): lambda: rng.randint(0, 255),
             pa.string(): word, pa.binary(): lambda: word().encode(), pa.float64(): real, pa.bool_(): lambda: rng.random() < 0.5,
             pa.date32(): day, pa.timestamp("us"): moment, pa.decimal128(9, 2): price, pa.decimal128(30, 2): price}
    columns = {f"l{i}": pa.array([some_list(rng, draw, longest) for _ in range(rows)], pa.list_(kind))
               for i, (kind, draw) in enumerate(draws.items())}
    columns["m"] = pa.array([some_map(rng, word, number) for _ in range(rows)], pa.map_(pa.string(), pa.int32()))
    columns["mi"] = pa.array([some_map(rng, number, word) for _ in range(rows)], pa.map_(pa.int32(), pa.string()))
    columns["in"] = pa.array([None if rng.random() < 0.2 else {"a": number(), "tags": some_list(rng, word, longest)}
                              for _ in range(rows)], pa.struct([("a", pa.int32()), ("tags", pa.list_(pa.string()))]))
    columns["of"] = pa.array([some_list(rng, lambda: {"x": number(), "y": word()}, longest) for _ in range(rows)],
                             pa.list_(pa.struct([("x", pa.int32()), ("y", pa.string())])))
    return pa.table(columns)


def write(rng, table, path):
    pq.write_table(table, path, compression=rng.choice(("NONE", "SNAPPY", "ZSTD")), use_dictionary=rng.random() < 0.5,
                   data_page_version=rng.choice(("1.0", "2.0")), data_page_size=rng.choice((16, 200, 1 << 20)),
                   write_batch_size=rng.choice((1, 5, 1024)), row_group_size=rng.choice((1, 30, 1000)) if table.num_rows < 200
                   else rng.choice((1023, 1024, 10**6)), dictionary_pagesize_limit=rng.choice((30, 10**6)),
                   use_compliant_nested_type=rng.random() < 0.7, write_statistics=rng.random() < 0.5, store_schema=False)


@unittest.skipIf(pa is None, NO_ORACLE)
class Lists(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "t.parquet"

    def check(self, table, *options):
        found, theirs = list(read(self.path, *options)), wanted(table)
        self.assertEqual(len(found), len(theirs))
        for (name, mine), values in zip(found, theirs):
            for row, (a, b) in enumerate(zip(mine, values, strict=True)):
                self.assertEqual(a, b, f"{name}, row {row}")

    def test_names(self):
        rng = random.Random(1)
        for compliant in (True, False):
            pq.write_table(random_table(rng, 5, 3), self.path, use_compliant_nested_type=compliant)
            self.assertEqual([name for name, _ in read(self.path)],
                             [f"l{i}" for i in range(11)] + ["m", "mi", "in.a", "in.tags", "of.x", "of.y"])

    def test_random(self):
        for seed in range(5):
            with self.subTest(seed):
                rng = random.Random(seed)
                table = random_table(rng, rng.choice((1, 40, 150)), 50)
                write(rng, table, self.path)
                self.check(table)
                files_walk(self.path, seed)

    def test_long(self):
        """Lists longer than a batch, that end where batches, pages and row groups do."""
        lists = [[i] * n for i, n in enumerate((1023, 1024, 1025, 0, 1, 3000, 2048, 1))] + [None, []]
        table = pa.table({"a": pa.array(lists, pa.list_(pa.int32())), "s": pa.array([None if v is None else list(map(str, v)) for v in lists])})
        for version in ("1.0", "2.0"):
            for size in (100, 1 << 20):
                pq.write_table(table, self.path, data_page_version=version, data_page_size=size, write_batch_size=64,
                               row_group_size=3, use_dictionary=["s"])
                self.check(table)
                files_walk(self.path, size)

    def test_old_lists(self):
        """Without the group around the elements, and with another one of the names that old writers give."""
        self.assertEqual(lists_of(two_level("LIST"), self.path), {"a": [[1, 2], None, [3], []]})
        self.assertEqual(lists_of(two_level(None), self.path), {"a.b": [[1, 2], None, [3], []]})

    def test_lies(self):
        """Every byte of the levels changed: never a crash, and an answer has as many rows as the file."""
        for version in (b"1", b"2"):
            data = bytearray(two_level("LIST", version == b"2"))
            for at in range(4, LEVELS_END):
                for value in (0xff, data[at] ^ 1):
                    changed = data.copy()
                    changed[at] = value
                    self.path.write_bytes(changed)
                    done = files.tool("parquet_dump", self.path)
                    self.assertIn(done.returncode, (0, 1), done.stderr)
                    last = json.loads(done.stdout.splitlines()[-1])
                    self.assertTrue("error" in last or len(last["values"]) == 4, last)

    def test_levels_that_lie(self):
        """Each lie has its message."""
        lies = {
            "continues a row that has not begun": ([1, 1, 0, 0, 0], [2, 2, 0, 2, 1]),
            "fewer rows than the row group": ([0, 1, 1, 0, 0], [2, 2, 2, 2, 1]),
            "more rows than the row group": ([0, 0, 0, 0, 0], [2, 2, 0, 2, 1]),
            "has a slot without one": ([0, 1, 1, 0, 0], [2, 1, 2, 2, 1]),
            "definition level is too large": ([0, 1, 0, 0, 0], [2, 3, 0, 2, 1]),
        }
        for message, (repetition, definition) in lies.items():
            for v2 in (False, True):
                self.path.write_bytes(two_level("LIST", v2, repetition, definition))
                done = files.tool("parquet_dump", self.path)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertIn(message, done.stdout)

    def test_run_that_claims_much(self):
        """A page of some bytes with 2^30 elements: refused for its text, in bounded time and memory."""
        slots = 1 << 24
        self.path.write_bytes(two_level("LIST", False, None, None, slots))
        done = files.tool("parquet_dump", self.path, "--page-bytes", 1 << 20)
        self.assertEqual(done.returncode, 1)
        self.assertIn("take more than 4194304 bytes as text", done.stdout)


# ---- a file made by hand: a list of int32 in two levels ----

LEVELS_END = 60


def two_level(annotation, v2=False, repetition=(0, 1, 0, 0, 0), definition=(2, 2, 0, 2, 1), slots=None):
    """optional group a { repeated int32 b }, four rows: [1, 2], null, [3], []. `slots`: one row of so many elements, all
    null, in which case the elements are optional."""
    n = slots or len(repetition)
    width = lambda values: bytes([1 << 1 | 1]) + sum(v << (2 * i) for i, v in enumerate(values)).to_bytes(2, "little")  # noqa: E731
    if slots:
        reps = files.varint(1 << 1) + b"\0" + files.varint(slots - 1 << 1) + b"\1"
        defs, values = files.varint(slots << 1) + b"\2", b""
    else:
        reps = bytes([1 << 1 | 1]) + bytes([sum(v << i for i, v in enumerate(repetition))])
        defs = width(definition)
        values = b"".join(i.to_bytes(4, "little") for i in range(1, 1 + sum(d >= 2 for d in definition)))
    levels = [reps, defs] if v2 else [len(reps).to_bytes(4, "little") + reps, len(defs).to_bytes(4, "little") + defs]
    page = b"".join(levels) + values
    T = files.Struct
    header = T().put(1, files.I32, 3 if v2 else 0).put(2, files.I32, len(page)).put(3, files.I32, len(page))
    if v2:
        header.put(8, files.STRUCT, T().put(1, files.I32, n).put(2, files.I32, 0).put(3, files.I32, 4).put(4, files.I32, 0)
                   .put(5, files.I32, len(defs)).put(6, files.I32, len(reps)).put(7, files.FALSE, False))
    else:
        header.put(5, files.STRUCT, T().put(1, files.I32, n).put(2, files.I32, 0).put(3, files.I32, 3).put(4, files.I32, 3))
    body = files.encode(files.STRUCT, header) + page
    outer = T().put(3, files.I32, 1).put(4, files.BINARY, b"a").put(5, files.I32, 1)
    if annotation:
        outer.put(6, files.I32, 3)
    inner = T().put(1, files.I32, 1).put(3, files.I32, 2).put(4, files.BINARY, b"b")
    schema = [T().put(4, files.BINARY, b"root").put(5, files.I32, 1), outer, inner]
    if slots:  # three levels: the elements may be null
        schema[2:] = [T().put(3, files.I32, 2).put(4, files.BINARY, b"list").put(5, files.I32, 1),
                      T().put(1, files.I32, 1).put(3, files.I32, 1).put(4, files.BINARY, b"b")]
    meta = (T().put(1, files.I32, 1).put(2, files.LIST, (files.I32, [0])).put(3, files.LIST, (files.BINARY, [b"a", b"b"]))
            .put(4, files.I32, 0).put(5, files.I64, n).put(6, files.I64, len(body)).put(7, files.I64, len(body)).put(9, files.I64, 4))
    chunk = T().put(2, files.I64, 4).put(3, files.STRUCT, meta)
    rows = 1 if slots else 4
    group = T().put(1, files.LIST, (files.STRUCT, [chunk])).put(2, files.I64, len(body)).put(3, files.I64, rows)
    footer = files.encode(files.STRUCT, T().put(1, files.I32, 1).put(2, files.LIST, (files.STRUCT, schema)).put(3, files.I64, rows)
                          .put(4, files.LIST, (files.STRUCT, [group])))
    return files.with_footer(b"PAR1" + body, footer)


def lists_of(data, path):
    path.write_bytes(data)
    return dict(read(path))


def files_walk(path, seed):
    """Random steps read what one reading from start to end does."""
    done = files.tool("parquet_walk", path, seed, 2)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


if __name__ == "__main__":
    unittest.main()
