#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Parquet writer (parquet/writer.h) against other people's readers: Python makes the values, parquet_make writes
them, and pyarrow, DuckDB, Polars and our own reader must read the same. Sizes are measured in the footer, as pyarrow
reads it; page indexes are decoded here."""
import array
import json
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from decimal import Decimal, getcontext
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "build" / "python"))
try:
    import duckdb
    import polars
    import pyarrow
    import pyarrow.parquet
except ImportError:
    duckdb = polars = pyarrow = None

TOOLS = Path(os.environ.get("HAC_TEST_BUILD", ROOT / "build" / "dev")) / "backends/parquet/tests"
CODECS = {"none": 0, "snappy": 1, "gzip": 2, "zstd": 6, "lz4_raw": 7}
BATCH = 1024
getcontext().prec = 80

INTEGERS = {f"{s}{b}": (-(1 << b - 1) if s == "i" else 0, (1 << b - (s == "i")) - 1)
            for s in "iu" for b in (8, 16, 32, 64)}
F64 = [0.0, -0.0, 1.5, -1.5, math.inf, -math.inf, math.nan, 5e-324, 1.7976931348623157e308, -1e-300]
F32 = [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, math.nan, 2.0**-149, 3.4028234663852886e38]
TEXTS = [b"", b"a", b"b" * 63, b"b" * 64, b"b" * 65, "ä€😀".encode(), "ä".encode() * 40, b"\0", b"\0\0", b"x" * 300,
         "\U0010ffff".encode() * 20, b"longer than eight", b"exactly8"]


# ---- values ----

def decimal_digits(kind):
    return tuple(int(n) for n in kind[8:-1].split(",")) if kind.startswith("decimal") else (0, 0)


def special(kind):
    """Values at the ends of a type, as integers where it is stored as one."""
    if kind in INTEGERS:
        low, high = INTEGERS[kind]
        return [low, high, 0, 1, low + 1, high - 1]
    if kind.startswith("decimal"):
        maximum = 10 ** decimal_digits(kind)[0] - 1
        return [0, 1, -1, maximum, -maximum, maximum // 2]
    return {"bool": [False, True], "f32": F32, "f64": F64, "date": [0, -1, 20000, -700000, 2900000],
            "timestamp": [0, -1, 1, 1700000000123456, -62135596800000000, 253402300799999999],
            "string": TEXTS, "bytes": TEXTS + [b"\xff", b"\xff" * 70, b"\xc3("]}[kind]


def drawn(kind, rng):
    if kind in ("string", "bytes"):
        return b"%d and a tail %d" % (rng.getrandbits(40), rng.getrandbits(10))
    if kind == "f64":
        return rng.uniform(-1e6, 1e6)
    if kind == "f32":
        return struct.unpack("f", struct.pack("f", rng.uniform(-1e6, 1e6)))[0]
    if kind == "bool":
        return rng.random() < 0.5
    if kind in INTEGERS:
        return rng.randint(*INTEGERS[kind])
    if kind.startswith("decimal"):
        maximum = 10 ** decimal_digits(kind)[0] - 1
        return rng.randint(-maximum, maximum)
    return rng.choice(special(kind)) + rng.randrange(1000)


def column(kind, rows, rng, shape):
    """shape: how values repeat and where nulls are."""
    pool = special(kind) + [drawn(kind, rng) for _ in range(20)]
    if shape == "distinct":
        values = [drawn(kind, rng) for _ in range(rows)]
    elif shape == "runs":
        values = []
        while len(values) < rows:
            values += [rng.choice(pool + [None])] * rng.choice([1, 2, 7, 8, 9, 63, 1000])
        values = values[:rows]
    elif shape == "nothing":
        values = [None] * rows
    elif shape == "constant":
        values = [pool[1]] * rows
    elif shape == "late":  # the dictionary overflows on the way
        values = [rng.choice(pool) if i < rows // 3 else drawn(kind, rng) for i in range(rows)]
    else:
        values = rng.choices(pool, k=rows)
    if shape in ("few", "late", "distinct"):
        share = rng.choice([0, 0, 0.01, 0.5])
        values = [None if rng.random() < share else v for v in values]
    return values


# ---- writing ----

def code(kind):
    if kind == "bool":
        return "B"
    if kind in ("f32", "f64"):
        return {"f32": "f", "f64": "d"}[kind]
    return "Q" if kind.startswith("u") else "q"


def dumped(kind, values):
    """A column of a batch as parquet_make takes it."""
    states = bytes(v is None for v in values)
    if kind in ("string", "bytes"):
        texts = [v or b"" for v in values]
        return states + array.array("I", map(len, texts)).tobytes() + b"".join(texts)
    if decimal_digits(kind)[0] > 18:
        return states + b"".join((v or 0).to_bytes(16, "little", signed=True) for v in values)
    return states + array.array(code(kind), [0 if v is None else v for v in values]).tobytes()


def write(path, columns, **options):
    """columns: {name: (kind, values)}."""
    kinds = [kind for kind, _ in columns.values()]
    rows = len(next(iter(columns.values()))[1])
    body = []
    for first in range(0, rows, BATCH):
        body.append(struct.pack("I", min(BATCH, rows - first)))
        body += [dumped(kind, values[first:first + BATCH]) for kind, values in columns.values()]
    schema = ",".join(f'"{name}":{kind}' for name, kind in zip(columns, kinds))
    return subprocess.run([TOOLS / "parquet_make", schema, path] + [f"{k}={v}" for k, v in options.items()], input=b"".join(body),
                          capture_output=True, check=False)


# ---- reading ----

def plain(kind, values):
    """Values as bits, so that NaN and -0.0 compare."""
    if kind in ("f32", "f64"):
        def bits(value):
            return "nan" if math.isnan(value) else struct.pack("d", value)
    elif kind.startswith("decimal"):
        scale = decimal_digits(kind)[1]

        def bits(value):
            return int(value.scaleb(scale)) if isinstance(value, Decimal) else value
    elif kind == "string":
        def bits(value):
            return value.encode() if isinstance(value, str) else value
    else:
        return list(values)
    return [None if value is None else bits(value) for value in values]


def by_pyarrow(path, columns):
    table = pyarrow.parquet.ParquetFile(path, page_checksum_verification=True).read()
    for name, (kind, _) in columns.items():
        data = table.column(name)
        if kind in ("date", "timestamp"):
            data = data.cast(pyarrow.int32() if kind == "date" else pyarrow.int64())
        yield data.to_pylist()


def by_duckdb(path, columns):
    connection = duckdb.connect()
    connection.execute("SET threads = 1")
    for name, (kind, _) in columns.items():
        item = {"date": '"{}" - DATE \'1970-01-01\'', "timestamp": 'epoch_us("{}")'}.get(kind, '"{}"').format(name)
        yield [row[0] for row in connection.execute(f"select {item} from read_parquet('{path}')").fetchall()]


def by_polars(path, columns):
    table = polars.read_parquet(path)
    for name, (kind, _) in columns.items():
        data = table.get_column(name)
        yield (data.to_physical() if kind in ("date", "timestamp") else data).to_list()


def by_us(path, columns):
    done = subprocess.run([TOOLS / "parquet_dump", path], capture_output=True, check=True)
    _, *leaves = map(json.loads, done.stdout.splitlines())
    for leaf, (name, (kind, _)) in zip(leaves, columns.items()):
        assert leaf["column"] == name, leaf["column"]
        values = leaf["values"]
        if kind in ("string", "bytes"):
            values = [None if v is None else bytes.fromhex(v[1:]) for v in values]
        elif kind in ("f32", "f64"):
            values = [None if v is None else struct.unpack("!" + code(kind), bytes.fromhex(v[1:]))[0] for v in values]
        yield values


READERS = {"pyarrow": by_pyarrow, "DuckDB": by_duckdb, "Polars": by_polars, "us": by_us}


# ---- Thrift's compact protocol, for page indexes, which pyarrow does not show ----

class Thrift:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def unsigned(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.unsigned()
        return value >> 1 ^ -(value & 1)

    def value(self, kind):
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 8:
            size = self.unsigned()
            self.at += size
            return self.data[self.at - size:self.at]
        if kind == 9:
            head = self.byte()
            size = self.unsigned() if head >> 4 == 15 else head >> 4
            return [self.byte() == 1 if head & 15 < 3 else self.value(head & 15) for _ in range(size)]
        if kind == 12:
            return self.struct()
        raise AssertionError(f"Thrift type {kind}")

    def struct(self):
        fields, last = {}, 0
        while True:
            head = self.byte()
            if head == 0:
                return fields
            last = last + (head >> 4) if head >> 4 else self.signed()
            kind = head & 15
            fields[last] = kind == 1 if kind < 3 else self.value(kind)


def footer(data):
    size = int.from_bytes(data[-8:-4], "little")
    return Thrift(data[-8 - size:-8]).struct()


class Writer(unittest.TestCase):
    def setUp(self):
        if pyarrow is None:
            self.skipTest("DuckDB, pyarrow and Polars are not installed (`./dev test` puts them into build/python)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "x.parquet")

    def written(self, columns, **options):
        done = write(self.path, columns, **options)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(int(done.stdout), os.path.getsize(self.path))
        return pyarrow.parquet.ParquetFile(self.path).metadata

    def check(self, columns, readers=READERS, **options):
        """Writes, and compares what everybody reads with what was meant."""
        metadata = self.written(columns, **options)
        rows = len(next(iter(columns.values()))[1])
        self.assertEqual(metadata.num_rows, rows)
        self.assertEqual(metadata.num_columns, len(columns))
        wanted = {name: plain(kind, values) for name, (kind, values) in columns.items()}
        for reader in readers:
            for (name, want), got in zip(wanted.items(), READERS[reader](self.path, columns)):
                got = plain(columns[name][0], got)
                if got != want:
                    bad = next((i for i, (g, w) in enumerate(zip(got, want)) if g != w), min(len(got), len(want)))
                    self.fail(f"{reader}, column {name}, {options}: {len(got)} rows for {len(want)}, row {bad}: "
                              f"{got[bad:bad + 3]} for {want[bad:bad + 3]}")
        self.check_statistics(columns, metadata)
        self.check_page_index(columns)
        return metadata

    # ---- statistics ----

    def ordered(self, kind, values):
        if kind in ("string", "bytes"):
            return min(values), max(values)
        numbers = [v for v in values if not (kind in ("f32", "f64") and math.isnan(v))]
        return (min(numbers), max(numbers)) if numbers else (None, None)

    def check_statistics(self, columns, metadata):
        first = 0
        for g in range(metadata.num_row_groups):
            group = metadata.row_group(g)
            for c, (kind, values) in enumerate(columns.values()):
                part = values[first:first + group.num_rows]
                self.check_chunk(kind, part, group.column(c))
            first += group.num_rows

    def check_chunk(self, kind, values, chunk):
        there = [v for v in values if v is not None]
        statistics = chunk.statistics
        self.assertEqual(chunk.num_values, len(values))
        self.assertEqual(statistics.null_count, len(values) - len(there))
        self.assertTrue(chunk.has_offset_index)
        minimum, maximum = self.ordered(kind, there) if there else (None, None)
        if minimum is None:
            self.assertFalse(statistics.has_min_max)
            return
        if kind in ("string", "bytes"):
            self.check_texts(statistics, minimum, maximum)
            return
        self.assertTrue(statistics.has_min_max)
        got = statistics.min_raw, statistics.max_raw
        if kind in ("f32", "f64"):
            if minimum == 0:
                self.assertEqual(math.copysign(1, got[0]), -1)
            if maximum == 0:
                self.assertEqual(math.copysign(1, got[1]), 1)
        if decimal_digits(kind)[0] > 18:
            got = tuple(int.from_bytes(b, "big", signed=True) for b in got)
        elif kind.startswith("u"):
            bits = int(kind[1:])
            got = tuple(v % (1 << max(bits, 32)) for v in got)
        self.assertEqual(got, (minimum, maximum), kind)

    def check_texts(self, statistics, minimum, maximum):
        if not statistics.has_min_max:  # no shorter text is above, as with 65 bytes of 255
            self.assertGreater(len(maximum), 64)
            return
        low, high = statistics.min_raw, statistics.max_raw
        self.assertLessEqual(max(len(low), len(high)), 64)
        self.assertLessEqual(low, minimum)
        self.assertGreaterEqual(high, maximum)
        self.assertEqual(low == minimum, len(minimum) <= 64)
        self.assertEqual(high == maximum, len(maximum) <= 64)
        if hasattr(statistics, "is_min_value_exact"):
            self.assertEqual(statistics.is_min_value_exact, len(minimum) <= 64)
            self.assertEqual(statistics.is_max_value_exact, len(maximum) <= 64)


    # ---- page index ----

    def check_page_index(self, columns):
        data = Path(self.path).read_bytes()
        first = 0
        for group in footer(data)[4]:
            for (kind, values), chunk in zip(columns.values(), group[1]):
                self.check_pages(kind, values[first:first + group[3]], data, chunk)
            first += group[3]

    def check_pages(self, kind, values, data, chunk):
        meta = chunk[3]
        pages = Thrift(data[chunk[4]:chunk[4] + chunk[5]]).struct()[1]
        starts = [p.get(3, 0) for p in pages]
        self.assertEqual(starts[0], 0)
        at = meta[9]
        headers = uncompressed = 0
        if 11 in meta:
            header = Thrift(data[meta[11]:meta[11] + 100])
            uncompressed += header.struct()[2] + header.at
        for page in pages:  # they lie side by side
            self.assertEqual(page[1], at)
            header = Thrift(data[at:at + 100])
            fields = header.struct()
            self.assertEqual(fields[3] + header.at, page[2])
            uncompressed += fields[2] + header.at
            headers += fields[5][1]
            at += page[2]
        self.assertEqual(headers, len(values))
        self.assertEqual(meta[6], uncompressed)
        self.assertEqual(meta[7], at - meta.get(11, meta[9]))
        parts = [values[a:b] for a, b in zip(starts, starts[1:] + [len(values)])]
        if 6 in chunk:
            index = Thrift(data[chunk[6]:chunk[6] + chunk[7]]).struct()
            self.check_column_index(kind, parts, index)
        else:
            self.assertTrue(any(self.unbounded(kind, [v for v in part if v is not None]) for part in parts))

    def unbounded(self, kind, there):
        """Pages for which no bounds exist."""
        if kind in ("f32", "f64"):
            return there and all(map(math.isnan, there))
        return kind in ("string", "bytes") and there and len(max(there)) > 64

    def bound(self, kind, stored):
        if kind in ("string", "bytes"):
            return stored
        if kind == "f32":
            return struct.unpack("f", stored)[0]
        if kind == "f64":
            return struct.unpack("d", stored)[0]
        if decimal_digits(kind)[0] > 18:
            return int.from_bytes(stored, "big", signed=True)
        return int.from_bytes(stored, "little", signed=kind[0] != "u" and kind != "bool")

    def check_column_index(self, kind, parts, index):
        bounds = []
        for part, null, low, high, nulls in zip(parts, index[1], index[2], index[3], index[5], strict=True):
            there = [v for v in part if v is not None]
            self.assertEqual(nulls, len(part) - len(there))
            self.assertEqual(null, not there)
            if null:
                self.assertEqual((low, high), (b"", b""))
                continue
            minimum, maximum = self.ordered(kind, there)
            low, high = self.bound(kind, low), self.bound(kind, high)
            bounds.append((low, high))
            if kind in ("string", "bytes"):
                self.assertEqual(low, minimum if len(minimum) <= 64 else minimum[:len(low)])
                self.assertTrue(high == maximum if len(maximum) <= 64 else high > maximum)
            else:
                self.assertEqual((low, high), (minimum, maximum))
        if kind in ("f32", "f64"):
            self.assertEqual(index[8], [sum(v is not None and math.isnan(v) for v in part) for part in parts])
        lows, highs = [b[0] for b in bounds], [b[1] for b in bounds]
        ascending = sorted(lows) == lows and sorted(highs) == highs
        descending = sorted(lows, reverse=True) == lows and sorted(highs, reverse=True) == highs
        self.assertEqual(index[4], 1 if ascending else 2 if descending else 0)


ALL = ["bool", *INTEGERS, "f32", "f64", "date", "timestamp", "decimal(1,0)", "decimal(9,2)", "decimal(10,10)",
       "decimal(18,4)", "decimal(19,0)", "decimal(28,28)", "decimal(38,5)", "string", "bytes"]


def table(kinds, rows, seed, shapes):
    rng = random.Random(seed)
    return {f"{kind} {i}": (kind, column(kind, rows, rng, rng.choice(shapes))) for i, kind in enumerate(kinds)}


SHAPES = ["few", "distinct", "runs", "nothing", "constant", "late"]


class Values(Writer):
    def test_types(self):
        for seed, rows in enumerate([0, 1, 2, 7, 8, 9, 1023, 1024, 1025, 3000]):
            self.check(table(ALL, rows, seed, SHAPES), codec=seed % 3 and 1)

    def test_codecs(self):
        for codec in CODECS.values():
            self.check(table(ALL, 2500, codec, SHAPES), codec=codec, threads=2)

    def test_tiny_pages(self):
        for page_bytes in (64, 100, 1000):
            self.check(table(ALL, 2000, page_bytes, SHAPES), page_bytes=page_bytes, codec=6)

    def test_dictionaries(self):
        for dictionary_bytes in (1, 100, 5000):
            self.check(table(ALL, 4000, dictionary_bytes, ["late", "few"]), dictionary_bytes=dictionary_bytes)
        self.check(table(ALL, 3000, 9, ["few"]), no_dictionary=1)

    def test_encodings(self):
        """A dictionary where it helps, given up where it grows too large, none where all is new."""
        rng = random.Random(1)
        few = [rng.randrange(100) for _ in range(100000)]
        late = few[:50000] + [rng.getrandbits(60) for _ in range(50000)]
        distinct = [rng.getrandbits(60) for _ in range(100000)]
        texts = [b"text %d" % v for v in few]
        columns = {"few": ("i64", few), "late": ("i64", late), "distinct": ("i64", distinct),
                   "texts": ("string", texts)}
        metadata = self.check(columns, dictionary_bytes=65536)
        chunks = [metadata.row_group(0).column(i) for i in range(4)]
        self.assertEqual([c.has_dictionary_page for c in chunks], [True, True, False, True])
        self.assertIn("RLE_DICTIONARY", chunks[0].encodings)
        self.assertLess(chunks[0].total_compressed_size, 100000 * 7 // 8 + 5000)
        self.assertLess(chunks[3].total_compressed_size, 100000 * 7 // 8 + 5000)
        self.assertLess(chunks[2].total_compressed_size, 8 * 100000 + 1000)

    def test_not_utf8(self):
        texts = [b"fine"] * 100 + [b"not \xff fine"] + [b"fine"] * 100
        for extra in ({}, {"no_dictionary": 1}):
            metadata = self.check({"s": ("string", texts), "t": ("string", [b"fine"] * 201)}, **extra)
            self.assertEqual(str(metadata.schema.column(0).logical_type), "None")
            self.assertEqual(str(metadata.schema.column(1).logical_type), "String")

    def test_schema(self):
        metadata = self.written({k: (k, []) for k in ALL})
        self.assertEqual(metadata.num_row_groups, 0)
        self.assertEqual(metadata.created_by, "hac version 0.1.0")
        schema = metadata.schema.to_arrow_schema()
        arrow = {"bool": pyarrow.bool_(), "f32": pyarrow.float32(), "f64": pyarrow.float64(), "date": pyarrow.date32(),
                 "timestamp": pyarrow.timestamp("us"), "string": pyarrow.string(), "bytes": pyarrow.binary()}
        for field in schema:
            digits = decimal_digits(field.name)
            name = field.name.replace("u", "uint").replace("i", "int", 1) if field.name in INTEGERS else field.name
            name = name.replace("uintnt", "uint")
            want = pyarrow.decimal128(*digits) if digits[0] else arrow.get(field.name) or getattr(pyarrow, name)()
            self.assertEqual(field.type, want)
            self.assertTrue(field.nullable)
        described = duckdb.connect().execute(f"select name, converted_type from parquet_schema('{self.path}')")
        converted = {"i8": "INT_8", "u64": "UINT_64", "date": "DATE", "timestamp": "TIMESTAMP_MICROS", "string": "UTF8",
                     "decimal(38,5)": "DECIMAL", "f64": None, "bytes": None}
        got = dict(described.fetchall())
        self.assertEqual({k: got[k] for k in converted}, converted)

    def test_floats_without_numbers(self):
        metadata = self.check({"n": ("f64", [math.nan, None] * 10), "z": ("f32", [-0.0, 0.0] * 10)})
        chunk = metadata.row_group(0).column(0)
        self.assertFalse(chunk.has_column_index)
        self.assertTrue(metadata.row_group(0).column(1).has_column_index)

    def test_texts_without_a_bound_above(self):
        """Nothing of 64 bytes is above these."""
        texts = [b"\xff" * 65, b"a"], [b"\xff" * 64, b"a"], [b"\xff" * 63 + b"\xfe" * 2, b"a"]
        self.check({f"c{i}": ("bytes", pair) for i, pair in enumerate(texts)})
        chunks = [pyarrow.parquet.ParquetFile(self.path).metadata.row_group(0).column(i) for i in range(3)]
        self.assertEqual([c.statistics.has_min_max for c in chunks], [False, True, True])
        self.assertEqual([c.has_column_index for c in chunks], [False, True, True])
        self.assertEqual(chunks[2].statistics.max_raw, b"\xff" * 64)

    def test_order_of_pages(self):
        rows = 3000
        up = list(range(rows))
        columns = {"up": ("i64", up), "down": ("i64", up[::-1]), "text": ("string", [b"%06d" % v for v in up]),
                   "flat": ("f64", [1.0] * rows), "mixed": ("u8", [v * 77 % 256 for v in up]),
                   "nulls": ("date", [None if 500 < v < 2500 else v for v in up])}
        self.check(columns, page_bytes=1000)

    def test_refused(self):
        columns = {"a": ("i64", [1])}
        for options, says in (({"codec": 4}, "codec 4"), ({"codec": 9}, "codec 9"),
                              ({"group_bytes": 4095}, "size of row groups is 4095"),
                              ({"group_bytes": 1 << 50}, "size of row groups"),
                              ({"block_bytes": 1 << 20}, "block size is 1048576"),
                              ({"page_bytes": 63}, "size of pages"), ({"dictionary_bytes": 1 << 30}, "dictionaries")):
            done = write(self.path, columns, **options)
            self.assertEqual(done.returncode, 1)
            self.assertIn(says, done.stderr.decode())


class GroupSizes(Writer):
    """Row groups: never above group_bytes, at most 5 % below but for the last, none crossing a block."""

    def sizes(self, columns, **options):
        metadata = self.written(columns, **options)
        self.assertEqual(metadata.num_rows, len(next(iter(columns.values()))[1]))
        ret = []
        for g in range(metadata.num_row_groups):
            group = metadata.row_group(g)
            chunks = [group.column(c) for c in range(group.num_columns)]
            starts = [c.dictionary_page_offset or c.data_page_offset for c in chunks]
            ends = [s + c.total_compressed_size for s, c in zip(starts, chunks)]
            self.assertEqual(starts[1:], ends[:-1])  # side by side
            ret.append((starts[0], ends[-1] - starts[0], group.num_rows))
        return ret

    def check_sizes(self, columns, group_bytes, block_bytes=0, **options):
        sizes = self.sizes(columns, group_bytes=group_bytes, block_bytes=block_bytes, **options)
        for i, (start, size, rows) in enumerate(sizes):
            where = f"group {i} of {len(sizes)} ({rows} rows), {options}"
            self.assertLessEqual(size, group_bytes, where)
            if i + 1 < len(sizes):
                self.assertGreaterEqual(size, group_bytes * 0.95, where)
            if block_bytes:
                self.assertEqual(start // block_bytes, (start + size - 1) // block_bytes, where)
        return sizes

    def changing(self, rows, seed):
        """Compresses well, not at all, and well again."""
        rng = random.Random(seed)
        third = rows // 3
        wild = lambda n: [rng.getrandbits(62) for _ in range(n)]  # noqa: E731
        a = [i // 100 for i in range(third)] + wild(third) + [7] * (rows - 2 * third)
        words = [b"word%d" % i for i in range(200)]
        b = rng.choices(words, k=third) + [b"%x" % v for v in wild(third)] + rng.choices(words, k=rows - 2 * third)
        c = [v % 2 == 0 for v in a]
        d = [None if i % 5 == 0 else float(i % 1000) for i in range(rows)]
        return {"a": ("i64", a), "b": ("string", b), "c": ("bool", c), "d": ("f64", d)}


class Groups(GroupSizes):
    def test_worked_example(self):
        columns = {name: ("i32", list(range(i, i + 10))) for i, name in enumerate("abcd")}
        metadata = self.check(columns, group_rows=5)
        self.assertEqual([metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)], [5, 5])
        self.assertEqual(metadata.num_columns, 4)

    def test_codecs(self):
        columns = self.changing(60000, 1)
        for codec in CODECS.values():
            for group_bytes, block_bytes in ((16384, 0), (100000, 100000), (100000, 350000), (65536, 65600)):
                sizes = self.check_sizes(columns, group_bytes, block_bytes, codec=codec)
                self.assertGreater(len(sizes), 2)

    def test_options(self):
        columns = self.changing(30000, 2)
        for options in ({"no_dictionary": 1}, {"page_bytes": 1000}, {"dictionary_bytes": 2000}, {"threads": 3}):
            self.check_sizes(columns, 50000, 50000, codec=1, **options)

    def test_threads_change_nothing(self):
        columns = self.changing(30000, 3)
        files = []
        for threads in (1, 2, 1000):
            self.written(columns, group_bytes=50000, codec=6, threads=threads)
            files.append(Path(self.path).read_bytes())
        self.assertEqual(files[0], files[1])
        self.assertEqual(files[0], files[2])

    def test_many_columns(self):
        rng = random.Random(4)
        columns = {f"c{i}": ("i64", [rng.getrandbits(40) for _ in range(4000)]) for i in range(40)}
        self.check_sizes(columns, 40 * 8192, codec=1)

    def test_values_are_right(self):
        self.check(self.changing(20000, 5), codec=1, group_bytes=4096, block_bytes=5000)
        self.check(self.changing(20000, 6), codec=6, group_bytes=30000, threads=2)

    def test_rows_too_large(self):
        """Each in a group of its own; the small ones around are not lost."""
        texts = [b"small"] * 10 + [random.Random(7).randbytes(50000)] + [b"small"] * 10 + \
            [random.Random(8).randbytes(30000)] * 2 + [b"end"]
        columns = {"s": ("bytes", texts), "n": ("i64", list(range(len(texts))))}
        metadata = self.check(columns, group_bytes=8192, codec=1)
        self.assertEqual([metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)], [10, 1, 10, 1, 1, 1])

    def test_filters(self):
        """Readers leave out what the statistics and the page index say, and find the same rows."""
        rng = random.Random(11)
        rows = 20000
        texts = [b"a" * 70 + b"%05d" % i for i in range(300)] + ["ä".encode() * 33, "€".encode() * 22 + b"x", b"", b"z"]
        columns = {
            "i": ("i64", [i // 3 for i in range(rows)]),
            "u": ("u64", sorted(rng.getrandbits(64) for _ in range(rows))),
            "u32": ("u32", [rng.getrandbits(32) if i % 5 else None for i in range(rows)]),
            "f": ("f64", [rng.choice([0.0, -0.0, 1.0]) if i > 9000 else i - 9000.0 for i in range(rows)]),
            "s": ("string", sorted(rng.choices(texts, k=rows))),
            "d": ("decimal(38,2)", sorted(rng.randint(-10**37, 10**37) for _ in range(rows))),
        }
        self.written(columns, group_bytes=100000, page_bytes=4000, codec=1)
        connection, table = duckdb.connect(), f"read_parquet('{self.path}')"
        for name, (kind, values) in columns.items():
            there = [v for v in values if v is not None]
            for value in rng.choices(there, k=6) + [min(there), max(there), 0 if kind in ("i64", "f64") else there[0]]:
                want = [sum(v >= value for v in there), sum(v < value for v in there), sum(v == value for v in there)]
                literal = value.decode() if kind == "string" else value
                if kind.startswith("decimal"):
                    literal = Decimal(value).scaleb(-2)
                got = [connection.execute(f'select count(*) from {table} where "{name}" {op} ?', [literal]).fetchone()[0]
                       for op in (">=", "<", "=")]
                self.assertEqual(got, want, f"DuckDB: {name}, {value}")
                if kind.startswith("decimal"):  # literals of pyarrow and Polars are less wide
                    continue
                scalar = pyarrow.scalar(literal, pyarrow.uint64()) if kind == "u64" else literal
                got = [pyarrow.parquet.read_table(self.path, columns=[name], filters=[(name, op, scalar)]).num_rows
                       for op in (">=", "<", "=")]
                self.assertEqual(got, want, f"pyarrow: {name}, {value}")
                item = polars.col(name)
                lazy = polars.scan_parquet(self.path)
                literal = polars.lit(literal, dtype=polars.UInt64) if kind == "u64" else literal
                got = [lazy.filter(test).select(polars.len()).collect().item()
                       for test in (item >= literal, item < literal, item == literal)]
                self.assertEqual(got, want, f"Polars: {name}, {value}")

    def test_group_rows(self):
        columns = self.changing(5000, 9)
        metadata = self.check(columns, group_rows=1000)
        self.assertEqual([metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)], [1000] * 5)


class Full(GroupSizes):
    def test_large(self):
        columns = self.changing(450000, 10)
        for codec in ("snappy", "zstd"):
            sizes = self.check_sizes(columns, 1 << 20, 1 << 20, codec=CODECS[codec], threads=2)
            self.assertGreater(len(sizes), 3)
        self.check(columns, codec=1, group_bytes=1 << 20, threads=2)

    def test_random(self):
        for seed in range(9):
            rng = random.Random(seed)
            kinds = rng.choices(ALL, k=rng.randrange(1, 12))
            rows = rng.choice([0, 1, 100, 1024, 5000, 20479, 20480, 20481, 50000])
            columns = table(kinds, rows, seed, SHAPES)
            group = rng.choice([0, 4096, 50000, 1 << 20])
            self.check(columns, codec=rng.choice(list(CODECS.values())), group_bytes=group,
                       block_bytes=rng.choice([0, group]), page_bytes=rng.choice([0, 64, 5000, 1 << 16]),
                       threads=rng.randrange(4), no_dictionary=int(rng.random() < 0.2))

    def test_random_sizes(self):
        """Columns of all kinds side by side, in groups from 8 KiB a column on."""
        for seed in range(9):
            rng = random.Random(1000 + seed)
            kinds = rng.choices(ALL, k=rng.randrange(1, 12))
            columns = table(kinds, rng.choice([20000, 60000]), seed, ["few", "distinct", "runs", "late", "constant"])
            group = len(kinds) * 8192 * rng.choice([1, 2, 8])
            self.check_sizes(columns, group, rng.choice([0, group, group * 5 // 2]),
                             codec=rng.choice(list(CODECS.values())), page_bytes=rng.choice([0, 5000]), threads=2)


if __name__ == "__main__":
    program = unittest.main(exit=False, verbosity=2)
    for test, why in program.result.skipped:
        print(f"SKIPPED {test}: {why}", file=sys.stderr)
    sys.exit(program.result.testsRun == 0 or not program.result.wasSuccessful())
