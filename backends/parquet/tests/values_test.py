#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What other writers wrote is what the reader of Parquet reads: every encoding, codec, page version and type, pages of
a few values and of many, nulls in every pattern; corpus files of $HAC_TEST_DATA. pyarrow is the oracle. Each file is
then read again in steps drawn at random (parquet_walk)."""
import datetime
import decimal
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from parquet_files import BINARY, DATA, I32, I64, NO_DATA, NO_ORACLE, SANITIZED, STRUCT, TOOLS, TRUE, Decoder, File, Struct, encode

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))
try:
    import duckdb
    import make_page_seeds as seeds
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None

CODECS = ["NONE", "SNAPPY", "GZIP", "ZSTD", "LZ4", "BROTLI"]
decimal.getcontext().prec = 100


# ---- pyarrow's values as parquet_dump writes them --------------------------------------------------------

def micros(unit):
    return {"s": lambda v: v * 1000000, "ms": lambda v: v * 1000, "us": lambda v: v, "ns": lambda v: v // 1000 if v % 1000 == 0 else "range"}[unit]


def bits(form, width):
    return lambda v: "f%0*x" % (width, int.from_bytes(struct.pack(form, v), "little"))


def converter(kind):
    """(type to cast to or None, what to do with each value)"""
    if pa.types.is_timestamp(kind):
        return pa.int64(), micros(kind.unit)
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return pa.int32(), int
    if pa.types.is_time64(kind):
        return pa.int64(), int
    if pa.types.is_float16(kind) or pa.types.is_float32(kind):
        return None, bits("<f", 8)
    if pa.types.is_float64(kind):
        return None, bits("<d", 16)
    if pa.types.is_decimal(kind):
        return None, lambda v: int(v.scaleb(kind.scale))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return pa.large_binary(), lambda v: "x" + v.hex()
    if pa.types.is_fixed_size_binary(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return None, lambda v: "x" + v.hex()
    return None, lambda v: v


def flat(column):
    """A leaf inside of structs, each of which may be null."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    while pa.types.is_struct(column.type):
        column = column.flatten()[0]
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def expected(column):
    column = flat(column)
    column = column.storage if isinstance(column, pa.ExtensionArray) else column  # UUIDs
    cast, convert = converter(column.type)
    column = column.cast(cast) if cast is not None else column
    return [None if v is None else convert(v) for v in column.to_pylist()]


# ---- the reader -------------------------------------------------------------------------------------------

def dump(path, *options):
    done = subprocess.run([TOOLS / "parquet_dump", path, *options], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise AssertionError(f"parquet_dump {path} ended with {done.returncode}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def walk(path, seed, steps):
    done = subprocess.run([TOOLS / "parquet_walk", path, str(seed), str(steps)], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise AssertionError(f"parquet_walk {path} {seed} {steps}: {done.stdout}{done.stderr[-2000:]}")
    return done.stdout


def names_of(path):
    schema = pq.ParquetFile(path).schema
    return [schema.column(i).path for i in range(len(schema))]


# ---- columns ----------------------------------------------------------------------------------------------

def narrow(form, value):
    return struct.unpack(form, struct.pack(form, value))[0]


def draw_pool(kind, n, rng):
    """n different values of a type, or nearly; those of times and timestamps as integers."""
    if pa.types.is_boolean(kind):
        return [rng.random() < 0.5 for _ in range(n)]
    if pa.types.is_integer(kind):
        low, high = (-(1 << kind.bit_width - 1), (1 << kind.bit_width - 1) - 1)
        if pa.types.is_unsigned_integer(kind):
            low, high = 0, high - low
        if rng.random() < 0.4:
            low, high = max(low, -100), 100
        return [rng.randint(low, high) for _ in range(n)]
    if pa.types.is_floating(kind):
        form = {16: "<e", 32: "<f", 64: "<d"}[kind.bit_width]
        return [narrow(form, rng.gauss(0, 100)) for _ in range(n)] + [0.0, -0.0, float("inf")]
    if pa.types.is_decimal(kind):
        maximum = 10 ** kind.precision - 1
        return [decimal.Decimal(rng.choice([-maximum, maximum, rng.randint(-maximum, maximum), rng.randint(-9, 9)]))
                .scaleb(-kind.scale) for _ in range(n)]
    if pa.types.is_date32(kind):
        return [datetime.date.fromordinal(rng.randint(1, 3000000)) for _ in range(n)]
    if pa.types.is_time(kind) or pa.types.is_timestamp(kind):
        scale = {"s": 1, "ms": 1000, "us": 1000000, "ns": 1000000000}[kind.unit]
        low, high = (0, 86400) if pa.types.is_time(kind) else (-1 << 31, 1 << 31)
        step = 1000 if kind.unit == "ns" and rng.random() < 0.7 else 1  # others are errors of their rows
        return [rng.randrange(low * scale, high * scale, step) for _ in range(n)]
    if pa.types.is_fixed_size_binary(kind):
        return [rng.randbytes(kind.byte_width) for _ in range(n)]
    return [rng.choice([b"", b"https://example.org/"]) + rng.randbytes(rng.choice([0, 3, 30])).hex().encode()
            for _ in range(n)]


def draw_values(kind, n, rng, few):
    """`few`: of a small set and in runs, which dictionaries like."""
    pool = draw_pool(kind, 1 + rng.randrange(40) if few else n, rng)
    if rng.random() < 0.3:
        pool.sort()
    out = pool[:0 if few else n]
    while len(out) < n:
        out += [rng.choice(pool)] * rng.choice([1, 1, 1, 20])
    return out[:n]


def nulls(pattern, n, rng):
    if pattern == "few":
        return [rng.random() < 0.02 for _ in range(n)]
    if pattern == "many":
        return [rng.random() < 0.5 for _ in range(n)]
    if pattern == "runs":
        out = []
        while len(out) < n:
            out += [bool(rng.randrange(2))] * rng.choice([1, 8, 9, 200, 3000])
        return out[:n]
    return [pattern == "all"] * n


def make_array(kind, n, pattern, rng, few):
    values, gone = draw_values(kind, n, rng, few), nulls(pattern, n, rng)
    values = [None if g else v for v, g in zip(values, gone)]
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
        return pa.array(values, pa.int32() if kind.bit_width == 32 else pa.int64()).cast(kind)
    if pa.types.is_float16(kind):
        return pa.array(values, pa.float32()).cast(kind)
    return pa.array(values, kind)


KINDS = """bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 halffloat float double date32 time32[ms] time64[us]
time64[ns] timestamp[ms] timestamp[us] timestamp[ns] string binary""".split()


def kinds():
    return [pa.type_for_alias(k) for k in KINDS] + [
        pa.decimal128(4, 2), pa.decimal128(18, 5), pa.decimal128(25, 3), pa.decimal128(38, 0), pa.binary(1), pa.binary(5),
        pa.binary(33)]


def encodings(kind, as_integer):
    number = (pa.types.is_integer(kind) or pa.types.is_date(kind) or pa.types.is_time(kind) or
              pa.types.is_timestamp(kind) or (as_integer and pa.types.is_decimal(kind) and kind.precision <= 18))
    fixed = pa.types.is_fixed_size_binary(kind) or pa.types.is_float16(kind) or (
        pa.types.is_decimal(kind) and not (as_integer and kind.precision <= 18))
    if pa.types.is_boolean(kind):
        return ["PLAIN", "RLE"]
    if number:
        return ["PLAIN", "DICTIONARY", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"]
    if pa.types.is_floating(kind) and not fixed:
        return ["PLAIN", "DICTIONARY", "BYTE_STREAM_SPLIT"]
    if fixed:
        return ["PLAIN", "DICTIONARY", "BYTE_STREAM_SPLIT", "DELTA_BYTE_ARRAY"]
    return ["PLAIN", "DICTIONARY", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"]


def write_everything(path, seed):
    """A file with each type in each encoding; the rest is drawn."""
    rng = random.Random(seed)
    n = rng.choice([1, 7, 1000, 1024, 1025, 5000])
    as_integer = rng.random() < 0.5
    fields, arrays, codec, encoding, dictionary = [], [], {}, {}, []
    for kind in kinds():
        for how in encodings(kind, as_integer):
            name = f"c{len(fields)}"
            pattern = rng.choice(["required", "none", "few", "many", "runs", "all"])
            array = make_array(kind, n, pattern, rng, how == "DICTIONARY" or rng.random() < 0.3)
            if pattern != "required" and rng.random() < 0.15:
                fields.append(pa.field(name, pa.struct([pa.field("x", kind)])))
                mask = pa.array([rng.random() < 0.2 for _ in range(n)])
                array, name = pa.StructArray.from_arrays([array], fields=[pa.field("x", kind)], mask=mask), name + ".x"
            else:
                fields.append(pa.field(name, kind, nullable=pattern != "required"))
            arrays.append(array)
            codec[name] = rng.choice(CODECS)
            if how == "DICTIONARY":
                dictionary.append(name)
            else:
                encoding[name] = how
    pq.write_table(
        pa.Table.from_arrays(arrays, schema=pa.schema(fields)), path, compression=codec, column_encoding=encoding,
        use_dictionary=dictionary, data_page_version=rng.choice(["1.0", "2.0"]), version="2.6",
        data_page_size=rng.choice([1, 100, 3000, 1 << 20]), write_batch_size=rng.choice([1, 17, 1024]),
        dictionary_pagesize_limit=rng.choice([64, 1 << 20]), row_group_size=rng.choice([n, 1 + n // 3]),
        write_page_checksum=rng.random() < 0.5, write_page_index=rng.random() < 0.5, store_schema=True,
        store_decimal_as_integer=as_integer)


@unittest.skipIf(pa is None, NO_ORACLE)
class Values(unittest.TestCase):
    def compare(self, path, **ignored):
        lines = dump(path)
        self.assertNotIn("error", lines[0], path)
        table = pq.ParquetFile(path)
        for name, line in zip(names_of(path), lines[1:], strict=True):
            if "why" in line or "nested" in line:  # lists_test.py
                continue
            self.assertNotIn("error", line, f"{path} {name}")
            self.assertEqual(line["column"], name)
            if name in ignored.get("but", ()):
                continue
            wanted = expected(table.read(columns=[name]).column(0))
            if line["values"] != wanted:
                at = next((i for i, (a, b) in enumerate(zip(line["values"], wanted)) if a != b), "the end")
                self.fail(f"{path}: {name} {line['type']}: {len(line['values'])} and {len(wanted)} values differ at {at}: "
                          f"{line['values'][at:at + 3] if at != 'the end' else ''} is not {wanted[at:at + 3]}")

    def write_and_compare(self, seeds, steps):
        with tempfile.TemporaryDirectory() as folder:
            for seed in seeds:
                with self.subTest(seed=seed):
                    path = os.path.join(folder, f"{seed}.parquet")
                    write_everything(path, seed)
                    self.compare(path)
                    walk(path, seed, steps)


@unittest.skipIf(pa is None, NO_ORACLE)
class Quick(Values):
    def test_every_type_in_every_encoding(self):
        self.write_and_compare((0, 1, 2, 5, 6, 7) if SANITIZED else range(12), 2)  # each number of rows

    def test_large_plain_pages(self):
        """Those are read in parts."""
        values = random.Random(3)
        schema = pa.schema([pa.field(n, t, nullable=False) for n, t in
                            [("a", pa.int64()), ("b", pa.int32()), ("c", pa.decimal128(30, 2)), ("d", pa.uint8()), ("e", pa.binary(9))]])
        table = pa.table([[values.randint(-1 << 63, (1 << 63) - 1) for _ in range(60000)], list(range(60000)),
                          [decimal.Decimal(values.randint(-1 << 80, 1 << 80)).scaleb(-2) for _ in range(60000)],
                          [values.randrange(256) for _ in range(60000)], [values.randbytes(9) for _ in range(60000)]], schema=schema)
        with tempfile.TemporaryDirectory() as folder:
            for seed, version in enumerate(["1.0", "2.0", "1.0"]):
                path = os.path.join(folder, f"{seed}.parquet")
                pq.write_table(table, path, compression="none", use_dictionary=False, data_page_version=version,
                               data_page_size=[100000, 1 << 20, 1 << 22][seed], row_group_size=50000,
                               write_page_checksum=False)
                self.compare(path)
                walk(path, seed, 3)

    def test_rows_from_the_middle(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "middle.parquet")
            write_everything(path, 5)
            whole, n = dump(path), pq.ParquetFile(path).metadata.num_rows
            for first, end, batch in [(0, n // 2, 1000), (n // 3, n, 7), (n - 1, n, 1)]:
                part = dump(path, "--rows", str(first), str(end), "--batch", str(batch))
                for a, b in zip(whole[1:], part[1:], strict=True):
                    self.assertEqual(a.get("values", [])[first:end], b.get("values", []), a["column"])


@unittest.skipIf(pa is None, NO_ORACLE)
class Drawn(Values):
    def test_more_of_them(self):
        self.write_and_compare(range(1000, 1011), 3)


@unittest.skipIf(pa is None, NO_ORACLE)
class Writers(Values):
    def test_duckdb(self):
        connection = duckdb.connect()
        connection.execute("""create table t as select range::int a, (range * 77777777777)::bigint b, range % 11 c,
            (range % 100 / 7)::decimal(15, 2) d, range / 3.0 e, 'text ' || (range % 1000) f, 'long ' || range * 991 g,
            case when range % 3 = 0 then null else range::double end h, range % 2 = 0 i, date '1992-01-01' + range::int % 2500 j,
            (range::hugeint * 1000000000000000000)::decimal(38, 3) k, timestamp '2020-01-01' + to_seconds(range) l,
            uuid() m, (range % 251)::utinyint n, range::float o from range(20000)""")
        with tempfile.TemporaryDirectory() as folder:
            for version in ("V1", "V2"):
                for codec in ("uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"):
                    path = os.path.join(folder, f"{version}-{codec}.parquet")
                    connection.execute(f"copy t to '{path}' (format parquet, parquet_version {version}, codec {codec}, "
                                       "row_group_size 8000)")
                    self.compare(path)
                    walk(path, 3, 1)

    def test_int96(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "int96.parquet")
            values = pa.array([0, 1, -1, 999, -1001, 10 ** 18, -10 ** 18, None], pa.timestamp("ns"))
            pq.write_table(pa.table({"t": values}), path, use_deprecated_int96_timestamps=True)
            self.compare(path)

    def test_int96_range(self):
        """Times by exact arithmetic. A sum of 64 bits wraps around once in a writer that adds the Julian epoch."""
        def exact(day, nanos):
            stored = day * 86400 * 10**6 + nanos // 1000
            time = stored - 2440588 * 86400 * 10**6
            if time < -2**63 <= stored:
                time += 2**64
            return time if -2**63 <= time < 2**63 and nanos % 1000 == 0 else "range"

        wrapped = 2**63 - 1 + 2440588 * 86400 * 10**6 - 2**64  # what Spark adds up for its last microsecond
        points = [(2**31 - 1, 0), (-2**31, 0), (109192579, 0), (109192579, 14454775807000), (109192579, 14454775808000),
                  (109192580, 0), (2440588, 0), (2440588, 1), (0, -2**63), (2440588, 2**63 - 808),
                  divmod(wrapped, 86400 * 10**6), (-106751992, 0), (-104311404, 0), (-104311403, 0)]
        points[10] = (points[10][0], points[10][1] * 1000)
        self.assertEqual(exact(*points[10]), 2**63 - 1)
        self.assertEqual([exact(*p) for p in points[:6]],
                         ["range", "range", 9223372022400000000, 2**63 - 1, "range", "range"])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "int96.parquet")
            pq.write_table(pa.table({"a": pa.array([0] * len(points), pa.timestamp("ns"))}), path, use_dictionary=False,
                           use_deprecated_int96_timestamps=True, compression="none", store_schema=False)
            pages = Pages(path)
            self.assertEqual(len(pages), 1)
            stored = b"".join(struct.pack("<qi", nanos, day) for day, nanos in points)
            pages[0][1] = pages[0][1][:-len(stored)] + stored
            self.assertEqual(dump(pages.write(path))[1]["values"], [exact(*p) for p in points])


@unittest.skipIf(pa is None, NO_ORACLE)
@unittest.skipIf(not DATA.is_dir(), NO_DATA)
class Corpus(Values):
    # pyarrow's own limits: nanoseconds overflow, Python makes NaNs quiet, maps it does not read
    BUT = {"int96_from_spark": ["a"], "floating_orders_nan_count": ["float16_ieee754", "float16_typedef"]}
    REFUSED = ("datapage_v1-corrupt-checksum", "rle-dict-uncompressed-corrupt-checksum", "incorrect_map_schema",
               "large_string_map.brotli")

    def files(self):
        files = sorted([*DATA.glob("data/*.parquet"), *DATA.glob("data/geospatial/*.parquet"),
                        DATA / "bad_data" / "ARROW-GH-43605.parquet"])
        self.assertGreater(len(files), 60)
        return files

    def test_equal_to_pyarrow(self):
        for path in self.files():
            if path.stem not in self.REFUSED:
                with self.subTest(path=path.name):
                    self.compare(path, but=self.BUT.get(path.stem, ()))

    def test_in_steps(self):
        for seed, path in enumerate(self.files()):
            with self.subTest(path=path.name):
                walk(path, seed, 3)

    def test_without_checksums(self):
        path = DATA / "data" / "datapage_v1-corrupt-checksum.parquet"
        for line in dump(path, "--no-checksums")[1:]:
            self.assertNotIn("error", line)
        for line in dump(path)[1:]:
            self.assertRegex(line["error"], r"^row group 0, column [ab], page [01]: its checksum is wrong$")


class Pages(list):
    """The pages of a file of one column and one row group: [header, bytes], to be changed and written again."""

    def __init__(self, path):
        super().__init__()
        self.file = File(path)
        self.column = self.file.column(0, 0)
        at = self.column.value(11) if 11 in self.column else self.column.value(9)
        end = at + self.column.value(7)
        while at < end:
            decoder = Decoder(self.file.body, at)
            header = decoder.structure()
            at = decoder.at + header.value(3)
            self.append([header, self.file.body[decoder.at:at]])

    def rows(self, n):
        self.file.meta.put(3, I64, n)
        self.file.groups()[0].put(3, I64, n)
        self.column.put(5, I64, n)

    def write(self, path):
        """Sizes of pages are as their headers say, the chunk's are true."""
        body, whole = b"PAR1", 0
        for header, data in self:
            body += encode(STRUCT, header) + data
            whole += len(encode(STRUCT, header)) + max(header.value(2), 0)
        self.column.put(9, I64, 4).put(7, I64, len(body) - 4).put(6, I64, whole).drop(11, 14, 15)
        self.file.chunk(0, 0).drop(4, 5, 6, 7)
        self.file.body = body
        return self.file.write(path)


@unittest.skipIf(pa is None, NO_ORACLE)
class Lies(unittest.TestCase):
    """Pages whose headers or bytes are not what they should be: which message, and what is read all the same."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.parquet")
        self.values = [None if i % 9 == 4 else i % 20 for i in range(40)]

    def make(self, values=None, nullable=True, **options):
        schema = pa.schema([pa.field("a", pa.int64(), nullable=nullable)])
        options = {"use_dictionary": False, "compression": "none", "data_page_size": 60, "write_batch_size": 10,
                   "store_schema": False, **options}
        pq.write_table(pa.table([values or self.values], schema=schema), self.path, **options)
        return Pages(self.path)

    def read(self, pages, *options):
        return dump(pages.write(self.path), *options)[1]

    def refused(self, pages, message, *options):
        line = self.read(pages, *options)
        self.assertEqual(line.get("error"), f"row group 0, column a, {message}")

    def accepted(self, pages):
        self.assertEqual(self.read(pages).get("values"), self.values)

    def test_as_it_is(self):
        for version in ("1.0", "2.0"):
            for dictionary in (False, True):
                pages = self.make(data_page_version=version, use_dictionary=dictionary)
                self.assertGreater(len(pages), 2)
                self.accepted(pages)

    def test_numbers_of_values(self):
        pages = self.make()
        pages.rows(41)
        self.refused(pages, "page 4: the column chunk ends 1 values too early")
        pages.rows(30)
        self.refused(pages, "page 3: it is the first of those behind the last row of the row group")
        pages.rows(35)
        self.refused(pages, "page 3: it holds 10 values, and the row group has 5 left")
        pages = self.make()
        del pages[1]
        self.refused(pages, "page 3: the column chunk ends 10 values too early")
        pages = self.make(list(range(40)), nullable=False)
        pages[2][0].value(5).put(1, I32, 11)
        pages[3][0].value(5).put(1, I32, 9)
        self.refused(pages, "page 2: it holds fewer values than it should")
        pages = self.make(list(range(40000)), nullable=False, data_page_size=1 << 20)
        pages[0][0].value(5).put(1, I32, 40001)
        pages.rows(40001)
        self.refused(pages, "page 0: it holds fewer values than it should")

    def test_sizes(self):
        pages = self.make()
        pages[3][0].put(3, I32, 1000)
        self.refused(pages, "page 3: it goes on behind its column chunk")
        pages = self.make()
        pages[1][0].put(2, I32, pages[1][0].value(2) + 1)
        self.refused(pages, f"page 1: its {len(pages[1][1])} bytes of UNCOMPRESSED do not become {len(pages[1][1]) + 1} bytes")
        pages = self.make()
        pages[1][0].put(3, I32, -1)
        self.refused(pages, "page 1: its header lacks a type or a size, or has one below 0")
        pages = self.make(compression="snappy")
        pages[0][0].put(2, I32, 99)
        self.refused(pages, f"page 0: its {len(pages[0][1])} bytes of SNAPPY do not become 99 bytes")
        pages = self.make(compression="zstd")
        pages[2][0].put(2, I32, 1 << 28)
        self.refused(pages, "page 2: it has 268435456 bytes; 134217728 are the limit")
        pages = self.make()
        self.refused(pages, f"page 0: it has {len(pages[0][1])} bytes; 50 are the limit", "--page-bytes", "50")

    def test_uncompressed_size_is_not_a_limit(self):
        """Some writers say 0 or the compressed size."""
        for size in (0, 1, -1, 60):
            pages = self.make(compression="zstd")
            pages.write(self.path)
            pages.column.put(6, I64, size)
            pages.file.write(self.path)
            self.assertEqual(dump(self.path)[1].get("values"), self.values)

    def test_levels(self):
        pages = self.make()
        pages[1][1] = struct.pack("<I", 5000) + pages[1][1][4:]
        self.refused(pages, "page 1: its definition levels are longer than the page")
        pages = self.make()
        pages[0][0].value(5).put(3, I32, 5)
        self.refused(pages, "page 0: its definition levels are neither RLE nor BIT_PACKED")
        pages = self.make()
        pages[0][0].value(5).put(1, I32, 9000).put(3, I32, 4)
        self.read(pages)
        pages = self.make(data_page_version="2.0")
        pages[2][0].value(8).put(5, I32, 1000)
        self.refused(pages, "page 2: its levels take more bytes than the page has")
        pages = self.make()
        pages[0][1] = struct.pack("<I", 2) + b"\x06\x01" + pages[0][1][6:]
        pages[0][0].put(2, I32, len(pages[0][1])).put(3, I32, len(pages[0][1]))
        self.refused(pages, "page 0: its run lengths end before its values do")

    def test_packed_levels(self):
        """The deprecated encoding: from the highest bit down, without a length."""
        pages = self.make()
        first = 0
        for page in pages:
            header, body = page
            n = header.value(5, 1)
            size = struct.unpack("<I", body[:4])[0]
            levels = "".join(str(int(v is not None)) for v in self.values[first:first + n])
            levels = int(levels.ljust(-(-n // 8) * 8, "0"), 2).to_bytes(-(-n // 8), "big")
            body = levels + body[4 + size:]
            header.put(2, I32, len(body)).put(3, I32, len(body)).value(5).put(3, I32, 4)
            page[1] = body
            first += n
        self.accepted(pages)
        del pages[-1][1:]
        pages[-1].append(b"")
        pages[-1][0].put(2, I32, 0).put(3, I32, 0)
        self.refused(pages, f"page {len(pages) - 1}: its definition levels are longer than the page")

    def test_width_of_nothing(self):
        """A dictionary of one entry takes no bits; runs must still be as long as the page, or be left out."""
        self.values = [7] * 40
        for runs, good in ((b"\x50", True), (b"\x0b", True), (b"", True), (b"\x00", False), (b"\x00\x00", False),
                           (b"\x4e", False), (b"\x09", False), (b"\x20\x30", True)):
            pages = self.make(use_dictionary=True)
            pages[1][1] = struct.pack("<I", 2) + b"\x50\x01" + b"\0" + runs
            size = len(pages[1][1])
            pages[1][0].put(2, I32, size).put(3, I32, size).value(5).put(1, I32, 40)
            del pages[2:]
            if good:
                self.accepted(pages)
            else:
                self.refused(pages, "page 0: its run lengths end before its values do")

    def test_dictionaries(self):
        pages = self.make(use_dictionary=True)
        first = list(pages[0])
        del pages[0]
        self.refused(pages, "page 0: it refers to a dictionary, and there is none")
        pages = self.make(use_dictionary=True)
        pages.insert(2, first)
        self.refused(pages, "dictionary page: the dictionary is not the first page")
        pages = self.make(use_dictionary=True)
        pages[0][0].value(7).put(1, I32, 3)
        self.refused(pages, "page 0: it refers to entry 8 of a dictionary of 3")
        pages = self.make(use_dictionary=True)
        pages[0][0].value(7).put(1, I32, 8)
        self.refused(pages, "page 0: it refers to entry 8 of a dictionary of 8")
        pages = self.make(use_dictionary=True)
        pages[0][0].value(7).put(1, I32, 1 << 30)
        self.refused(pages, "dictionary page: it holds fewer values than it should")
        pages = self.make(use_dictionary=True)
        pages[0][0].value(7).put(2, I32, 5)
        self.refused(pages, "dictionary page: a dictionary's encoding is PLAIN, and this one's is number 5")
        pages = self.make(use_dictionary=True)
        pages[0][0].value(7).put(2, I32, 2)
        pages[1][0].value(5).put(2, I32, 2)
        self.accepted(pages)

    def test_only_nulls(self):
        self.values = [None] * 40
        for dictionary in (False, True):
            pages = self.make(use_dictionary=dictionary)
            pages[-1][1] = struct.pack("<I", 2) + b"\x50\x00"  # a dictionary's codes lack even their width
            pages[-1][0].put(2, I32, 6).put(3, I32, 6).value(5).put(1, I32, 40)
            del pages[1 if dictionary else 0:-1]
            self.accepted(pages)

    def test_what_is_not_known(self):
        pages = self.make()
        unknown = Struct().put(1, I32, 9).put(2, I32, 1 << 20).put(3, I32, 5)
        index = Struct().put(1, I32, 1).put(2, I32, 0).put(3, I32, 0).put(6, STRUCT, Struct())
        pages.insert(2, [unknown, b"12345"])
        pages.insert(0, [index, b""])
        pages.append([unknown, b"12345"])
        self.accepted(pages)
        pages = self.make()
        pages[1][0].value(5).put(2, I32, 10)
        self.refused(pages, "page 1: its encoding is none of this column's type: not known here (number 10)")
        pages[1][0].value(5).put(2, I32, 7)
        self.refused(pages, "page 1: its encoding is none of this column's type: DELTA_BYTE_ARRAY (number 7)")
        pages = self.make()
        pages.column.put(4, I32, 3)
        self.assertEqual(self.read(pages)["error"], "row group 0, column a: it is compressed with LZO, which is not read")

    def test_what_v2_says_of_compression(self):
        for codec in ("snappy", "zstd"):
            pages = self.make(data_page_version="2.0", compression=codec)
            self.accepted(pages)
            for page in pages:  # absent is true; old writers say false and compress
                page[0].value(8).drop(7)
            self.accepted(pages)
            for page in pages:
                page[0].value(8).put(7, TRUE, False)
            self.accepted(pages)
        plain = self.make(data_page_version="2.0")
        plain.column.put(4, I32, 1)
        for page in plain:
            page[0].value(8).put(7, TRUE, False)
        self.accepted(plain)

    def test_strings_of_a_batch(self):
        """A batch's pages of strings are all in memory at once: up to four times the limit of one."""
        texts = [("%04d" % i) * 250 for i in range(60)]
        pq.write_table(pa.table({"a": texts}), self.path, use_dictionary=False, compression="zstd", data_page_size=1, write_batch_size=1)
        line = dump(self.path, "--page-bytes", "2000")[1]
        self.assertEqual(line["error"], "row group 0, column a, page 7: the strings of 1024 rows take more than 8512 bytes")
        line = dump(self.path, "--page-bytes", "2000", "--batch", "3")[1]
        self.assertEqual(line["values"], ["x" + t.encode().hex() for t in texts])

    def test_prefixes_over_pages(self):
        """Old writers go on from the last value of the page before (PARQUET-246). Not when that page is left out."""
        texts = [b"the same %02d" % i for i in range(40)]
        schema = pa.schema([pa.field("a", pa.string(), nullable=False)])
        pq.write_table(pa.table([[t.decode() for t in texts]], schema=schema), self.path, use_dictionary=False,
                       compression="none", column_encoding={"a": "DELTA_BYTE_ARRAY"}, data_page_size=1, write_batch_size=10)
        pages = Pages(self.path)
        self.assertEqual(len(pages), 4)
        for i, page in enumerate(pages):
            prefixes = [0 if i + k == 0 else 9 for k in range(10)]
            rests = [t[p:] for t, p in zip(texts[10 * i:], prefixes)]
            page[1] = seeds.delta(prefixes) + seeds.delta([len(r) for r in rests]) + b"".join(rests)
            page[0].put(2, I32, len(page[1])).put(3, I32, len(page[1])).drop(4)
        self.values = ["x" + t.hex() for t in texts]
        self.accepted(pages)
        self.assertEqual(dump(self.path, "--rows", "5", "17", "--batch", "1")[1]["values"], self.values[5:17])
        for left_out in (("--rows", "10", "17"), ("--batch", "5", "--leave-out", "6")):
            self.assertEqual(dump(self.path, *left_out)[1]["error"],
                             "row group 0, column a, page 1: a string begins with more than the one before it has")

    def test_prefixes_left_out(self):
        """Strings that are left out take no memory."""
        texts = ["x" * 33 + "%07d" % i for i in range(12000)]
        pq.write_table(pa.table({"a": texts}), self.path, use_dictionary=False, column_encoding={"a": "DELTA_BYTE_ARRAY"})
        line = dump(self.path, "--rows", "11990", "12000", "--page-bytes", "110000")[1]
        self.assertEqual(line.get("values"), ["x" + t.encode().hex() for t in texts[-10:]])

    def test_values_that_the_type_does_not_have(self):
        """The footer says fewer digits, or bits, than values have."""
        numbers = [None if i % 11 == 5 else i * 7 - 10000 for i in range(5000)]
        decimals = pa.array([None if v is None else decimal.Decimal(v) for v in numbers], pa.decimal128(9, 0))
        wide = pa.array([None if v is None else decimal.Decimal(v) for v in numbers], pa.decimal128(30, 0))
        for array, change, low, high in (
                (decimals, lambda e: e.put(8, I32, 4).value(10).value(5).put(2, I32, 4), -9999, 9999),
                (wide, lambda e: e.put(8, I32, 4).value(10).value(5).put(2, I32, 4), -9999, 9999),
                (wide, lambda e: e.put(8, I32, 30), -10 ** 30, 10 ** 30),
                (pa.array(numbers, pa.int32()), lambda e: e.put(6, I32, 11), 0, 255),
                (pa.array(numbers, pa.int32()), lambda e: e.put(6, I32, 15), -128, 127),
                (pa.array(numbers, pa.int32()), lambda e: e.put(6, I32, 16), -32768, 32767)):
            for encoding in ("PLAIN", None, "BYTE_STREAM_SPLIT", "DELTA_BINARY_PACKED"):
                if array is wide and encoding == "DELTA_BINARY_PACKED":
                    continue
                pq.write_table(pa.table({"a": array}), self.path, store_schema=False, store_decimal_as_integer=True,
                               use_dictionary=encoding is None, column_encoding=encoding and {"a": encoding})
                file = File(self.path)
                change(file.schema()[1])
                file.write(self.path)
                wanted = [v if v is None or low <= v <= high else "range" for v in numbers]
                if (low, high) == (0, 255):  # the highest bit of eight may be repeated
                    wanted = [v if v is None else v & 255 if -128 <= v <= 255 else "range" for v in numbers]
                self.assertEqual(dump(self.path)[1].get("values"), wanted, (str(array.type), encoding, high))
                walk(self.path, 1, 2)

    def test_long_headers(self):
        """Statistics in a page's header may be long: it is read to its end."""
        pages = self.make()
        for page in pages:
            page[0].value(5).put(5, STRUCT, Struct().put(1, BINARY, bytes(70000)).put(2, BINARY, bytes(70000)))
        self.accepted(pages)
        pages[1][0].value(5).put(9, I32, 7)
        self.accepted(pages)


if __name__ == "__main__":
    unittest.main()
