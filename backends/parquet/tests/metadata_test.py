#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Footers: what hac reads in them beside what pyarrow does; ones that lie, ones that are damaged, ones that are large."""
import datetime
import json
import math
import os
import random
import struct
import sys
import tempfile
import time
import unittest
from decimal import Context, Decimal
from pathlib import Path

import parquet_files as files
from parquet_files import (BINARY, I32, I64, I8, LIST, NO_DATA, NO_ORACLE, SANITIZED, STRUCT, TRUE, File, Struct, describe,
                           run)

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None

PHYSICAL = ["BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"]
WIDE = Context(prec=50)
EPOCH = datetime.datetime(1970, 1, 1)
# Files of the corpus that are refused as they are opened, with a word of the message.
REFUSED = {"ARROW-GH-41317.parquet": "elements of another type", "PARQUET-1481.parquet": "physical type"}


# ---- values as hac prints them ----

def timestamp_text(micros):
    """As hac prints it: a fraction of six digits, where there is one."""
    moment = EPOCH + datetime.timedelta(microseconds=micros)
    text = moment.strftime("%Y-%m-%d %H:%M:%S")
    return text + (f".{moment.microsecond:06d}" if moment.microsecond else "")


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.datetime):
        return timestamp_text((value.replace(tzinfo=None) - EPOCH) // datetime.timedelta(microseconds=1))
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, datetime.time):
        return str(((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond)
    if isinstance(value, Decimal):
        return f"{value:f}"
    return str(value)


def same(shown, value, kind=""):
    if kind == "Float16":
        value = struct.unpack("<e", value)[0]
    if isinstance(value, datetime.time) and "milliseconds" in kind:
        return int(shown) * 1000 == int(text_of(value))
    if isinstance(value, float):  # f32: the shortest text that reads back to it
        return float(shown) == value or struct.pack("<f", float(shown)) == struct.pack("<f", value)
    if shown.endswith("…"):
        return text_of(value).startswith(shown[:-1])
    return shown == text_of(value)


# ---- beside pyarrow ----

LOGICAL = {"STRING": "string", "ENUM": "string", "JSON": "string", "DATE": "date", "FLOAT16": "f32"}


def expected_type(column):
    """What hac makes of a column, by pyarrow's schema; None: nothing."""
    logical = column.logical_type
    if column.max_repetition_level > 1:
        return None
    kind = logical.type
    if kind in LOGICAL:
        return LOGICAL[kind]
    if kind == "INT":
        words = json.loads(logical.to_json())
        return ("i" if words["isSigned"] else "u") + str(words["bitWidth"])
    if kind == "DECIMAL":
        return f"decimal({column.precision},{column.scale})"
    if kind == "TIMESTAMP":
        return "timestamp"
    return {"BOOLEAN": "bool", "INT32": "i32", "INT64": "i64", "INT96": "timestamp", "FLOAT": "f32",
            "DOUBLE": "f64"}.get(column.physical_type, "bytes")


class Beside(unittest.TestCase):
    """Compares all that both say of a file."""

    def columns(self, shown, meta):
        self.assertEqual(len(shown["columns"]), meta.num_columns)
        for i, mine in enumerate(shown["columns"]):
            theirs = meta.schema.column(i)
            self.assertEqual(mine["physical"], theirs.physical_type)
            if theirs.max_repetition_level == 0:
                self.assertEqual(mine["name"], theirs.path)
                self.assertEqual(mine.get("type"), expected_type(theirs), theirs)
            elif mine.get("type", "").startswith("map("):
                self.assertEqual(mine["type"], f"map({expected_type(theirs)},{expected_type(meta.schema.column(i + 1))})")
            elif "type" in mine:
                self.assertEqual(mine["type"], f"list({expected_type(theirs)})")
            self.assertEqual(mine["nullable"], theirs.max_definition_level > 0)
            self.assertEqual("why_not_read" in mine, "type" not in mine)

    def chunk(self, mine, theirs, created_by):
        if "why_not_read" in mine:
            return
        self.assertEqual(mine["codec"], {"LZ4": "LZ4_RAW"}.get(theirs.compression, theirs.compression)
                         if mine["codec"] != "LZ4" else "LZ4")
        self.assertEqual(mine["bytes"], theirs.total_compressed_size)
        self.assertEqual(mine["uncompressed_bytes"], theirs.total_uncompressed_size)
        self.assertEqual(mine["values"], theirs.num_values)
        self.assertEqual(sorted(mine["encodings"]), sorted(set(theirs.encodings)))
        self.assertEqual(mine["column_index"], theirs.has_column_index)
        self.assertEqual(mine["offset_index"], theirs.has_offset_index)
        self.assertEqual(mine["bloom_filter"], theirs.bloom_filter_offset is not None)
        statistics = theirs.statistics
        if statistics is not None and statistics.has_null_count:
            counts = {statistics.null_count}
            if created_by.startswith(("parquet-cpp version", "parquet-cpp-arrow version 1.")):
                counts.add(None)  # not trusted of dictionaries
            self.assertIn(mine.get("nulls"), counts)
        if statistics is None or not statistics.has_min_max:
            return
        kind = str(statistics.logical_type)
        # of these pyarrow gives stored bytes, or an error
        if "min" in mine and "Decimal" not in kind and "nanoseconds" not in kind:
            self.assertTrue(same(mine["min"], statistics.min, kind), (mine, statistics))
            self.assertTrue(same(mine["max"], statistics.max, kind), (mine, statistics))

    def file(self, path):
        shown = describe(path)
        meta = pq.read_metadata(path)
        self.assertNotIn("error", shown)
        self.assertEqual(shown["rows"], sum(meta.row_group(i).num_rows for i in range(meta.num_row_groups)))
        self.assertEqual(shown["created_by"], meta.created_by or "")
        self.columns(shown, meta)
        self.assertEqual(len(shown["row_groups"]), meta.num_row_groups)
        for i, group in enumerate(shown["row_groups"]):
            self.assertEqual(group["rows"], meta.row_group(i).num_rows)
            for j, chunk in enumerate(group["columns"]):
                self.chunk(chunk, meta.row_group(i).column(j), meta.created_by or "")
        return shown


@unittest.skipUnless(files.corpus("data/*.parquet"), NO_DATA)
class Corpus(Beside):
    def test_opened_or_refused(self):
        for path in files.corpus("data/**/*.parquet", "bad_data/*.parquet"):
            with self.subTest(path.name):
                shown = describe(path)
                if path.name in REFUSED:
                    self.assertIn(REFUSED[path.name], shown["error"])
                else:
                    self.assertGreater(len(shown["columns"]), 0)

    def test_encrypted(self):
        for path in files.corpus("data/**/*.encrypted"):
            with self.subTest(path.name):
                self.assertIn("encrypted", describe(path)["error"])

    def test_no_parquet(self):
        for path in files.corpus("data/*.bin", "data/*.md"):
            with self.subTest(path.name):
                self.assertIn("not a Parquet file", describe(path)["error"])

    @unittest.skipIf(pq is None, NO_ORACLE)
    def test_beside_pyarrow(self):
        compared = 0
        for path in files.corpus("data/**/*.parquet"):
            try:
                pq.read_metadata(path)
            except Exception:  # pylint: disable=broad-except
                continue  # what pyarrow does not read is compared with nothing
            with self.subTest(path.name):
                self.file(path)
            compared += 1
        self.assertGreater(compared, 60)


# ---- files of our own making ----

def sample():
    """A table with every type that pyarrow writes, its columns in no order."""
    rng = random.Random(4)
    n = 300
    some = lambda make: [None if rng.random() < 0.2 else make() for _ in range(n)]  # noqa: E731
    columns = {
        "bool": pa.array(some(lambda: rng.random() < 0.5)),
        "f32": pa.array(some(lambda: float(rng.randint(-9, 9)) / 4), pa.float32()),
        "f64": pa.array(some(rng.random)),
        "f16": pa.array(some(lambda: float(rng.randint(-9, 9)) / 4), pa.float16()),
        "date": pa.array(some(lambda: rng.randint(-40000, 40000)), pa.date32()),
        "text": pa.array(some(lambda: rng.choice(["", "a", "ä", "zz"]))),
        "bytes": pa.array(some(lambda: rng.randbytes(rng.randint(0, 5))), pa.binary()),
        "fixed": pa.array(some(lambda: rng.randbytes(5)), pa.binary(5)),
        "time_ms": pa.array(some(lambda: rng.randint(0, 86399999)), pa.time32("ms")),
        "time_us": pa.array(some(lambda: rng.randint(0, 86399999999)), pa.time64("us")),
        "never_null": pa.array(list(range(n)), pa.int64()),
        "all_null": pa.array([None] * n, pa.int32()),
        "nested": pa.array([{"a": i, "b": {"c": str(i)}} for i in range(n)]),
        "list": pa.array([[i] * (i % 3) for i in range(n)], pa.list_(pa.int64())),
    }
    for bits in (8, 16, 32, 64):
        columns[f"i{bits}"] = pa.array(some(lambda: rng.randint(-1 << bits - 1, (1 << bits - 1) - 1)), f"int{bits}")
        columns[f"u{bits}"] = pa.array(some(lambda: rng.randint(0, (1 << bits) - 1)), f"uint{bits}")
    for unit in ("ms", "us", "ns"):
        span = {"ms": 10**14, "us": 10**17, "ns": 9 * 10**18}[unit]
        columns[f"t_{unit}"] = pa.array(some(lambda: rng.randint(-span // 9, span // 9)), pa.timestamp(unit))
    for digits in (4, 9, 10, 18, 19, 38):
        maximum = 10**digits - 1
        columns[f"d{digits}"] = pa.array(some(lambda: Decimal(rng.randint(-maximum, maximum)).scaleb(-2)),
                                         pa.decimal128(digits, 2))
    fields = [pa.field(name, array.type, nullable=name != "never_null") for name, array in columns.items()]
    return pa.Table.from_arrays(list(columns.values()), schema=pa.schema(fields))


@unittest.skipIf(pq is None, NO_ORACLE)
class Generated(Beside):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "x.parquet"

    def write(self, table, **options):
        pq.write_table(table, self.path, **{"write_page_index": True, "store_decimal_as_integer": False, **options})
        return self.path

    def bounds(self, shown, table):
        """Minimum and maximum of every column, from the values themselves."""
        for chunk in shown["row_groups"][0]["columns"]:
            if chunk["column"] not in table.column_names or chunk["column"] in ("list", "nested", "all_null"):
                continue
            values = table.column(chunk["column"])
            if str(values.type).startswith("timestamp"):
                unit = {"ms": 1000, "us": 1, "ns": Decimal("0.001")}[str(values.type)[10:12]]
                values = [v * unit for v in values.cast("int64").to_pylist() if v is not None]
                minimum = timestamp_text(math.floor(min(values)))
                maximum = timestamp_text(math.ceil(max(values)))
            elif str(values.type).startswith("time"):
                values = [v for v in values.cast("int32" if "32" in str(values.type) else "int64").to_pylist()
                          if v is not None]
                minimum, maximum = str(min(values)), str(max(values))
            else:
                values = [v for v in values.to_pylist() if v is not None]
                minimum, maximum = min(values), max(values)
            self.assertTrue(same(chunk["min"], minimum), (chunk, minimum))
            self.assertTrue(same(chunk["max"], maximum), (chunk, maximum))

    def test_all_types(self):
        table = sample()
        for options in ({}, {"store_decimal_as_integer": True}, {"version": "1.0"}, {"compression": "zstd"},
                        {"data_page_version": "2.0"}, {"use_dictionary": False}):
            with self.subTest(str(options)):
                old = options.get("version") == "1.0"
                written = table.drop(["t_ns", "u32"]) if old else table
                shown = self.file(self.write(written, **options))
                self.bounds(shown, written)
                chunks = {chunk["column"]: chunk for chunk in shown["row_groups"][0]["columns"]}
                self.assertEqual(chunks["never_null"]["nulls"], 0)
                self.assertEqual(chunks["all_null"]["nulls"], 300)
                self.assertNotIn("min", chunks["all_null"])

    def test_row_groups(self):
        shown = self.file(self.write(sample(), row_group_size=7))
        self.assertEqual(len(shown["row_groups"]), 43)

    def test_no_statistics(self):
        shown = self.file(self.write(sample(), write_statistics=False, write_page_index=False))
        for chunk in shown["row_groups"][0]["columns"]:
            self.assertNotIn("min", chunk)
            self.assertEqual(chunk.get("nulls"), 0 if chunk["column"] == "never_null" else None)

    def test_no_rows_no_columns(self):
        self.assertEqual(self.file(self.write(sample().slice(0, 0)))["rows"], 0)
        self.write(pa.table({"a": [1]}).select([]))
        self.assertEqual(describe(self.path)["columns"], [])

    def test_names(self):
        names = ["", "a.b", "ü", "a\0b", "a b", "x" * 5000]
        self.write(pa.table([[1]] * len(names), names=names))
        self.assertEqual([c["name"] for c in describe(self.path)["columns"]],
                         ["column1", *(name.replace("\0", "?") for name in names[1:])])


# ---- footers that lie or are damaged ----

def statistics(**values):
    numbers = {"max": 1, "min": 2, "nulls": 3, "max_value": 5, "min_value": 6, "nans": 9}
    ret = Struct()
    for name, value in values.items():
        ret.put(numbers[name], I64 if name in ("nulls", "nans") else BINARY, value)
    return ret


def logical(field, inner=None):
    return Struct().put(field, STRUCT, inner or Struct())


@unittest.skipIf(pq is None, NO_ORACLE)
class Changed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "x.parquet"

    def make(self, array, nullable=True):
        schema = pa.schema([pa.field("x", array.type, nullable=nullable)])
        pq.write_table(pa.Table.from_arrays([array], schema=schema), self.path, store_schema=False)
        return File(self.path)

    def shown(self, file):
        return describe(file.write(self.path))

    def chunk(self, file):
        return self.shown(file)["row_groups"][0]["columns"][0]

    def bounds(self, file, **values):
        """The minimum and maximum that are taken from these statistics."""
        file.column(0, 0).put(12, STRUCT, statistics(**values))
        chunk = self.chunk(file)
        return chunk.get("min"), chunk.get("max"), chunk.get("nulls")

    def leaf(self, file, **fields):
        """The column as it is read when its element of the schema is changed."""
        numbers = {"type": 1, "length": 2, "repetition": 3, "children": 5, "converted": 6, "scale": 7, "precision": 8}
        element = file.schema()[1]
        element.drop(6, 7, 8, 10)
        for name, value in fields.items():
            if name == "logical":
                element.put(10, STRUCT, value)
            elif value is None:
                element.drop(numbers[name])
            else:
                element.put(numbers[name], I32, value)
        return self.shown(file)["columns"][0]

    def test_as_it_was(self):
        file = self.make(pa.array([1, None, 3]))
        before = describe(self.path)
        self.assertEqual(self.shown(file)["row_groups"], before["row_groups"])

    # -- statistics --

    def test_orders(self):
        one, two = struct.pack("<q", 1), struct.pack("<q", 2)
        file = self.make(pa.array([1, 2]))
        self.assertEqual(self.bounds(file, min_value=one, max_value=two, nulls=0), ("1", "2", 0))
        for order in (0, 2, 3, 4):  # none, one of floats, one of INT96, an unknown one
            file.meta.put(7, LIST, (STRUCT, [Struct().put(order, STRUCT, Struct()) if order else Struct()]))
            self.assertEqual(self.bounds(file, min_value=one, max_value=two), (None, None, None))
            self.assertEqual(self.bounds(file, min=one, max=two), ("1", "2", None))
        file.meta.put(7, LIST, (STRUCT, []))
        self.assertEqual(self.bounds(file, min_value=one, max_value=two), (None, None, None))
        file.meta.drop(7)
        self.assertEqual(self.bounds(file, min_value=one, max_value=two), (None, None, None))

    def test_deprecated_fields(self):
        """Signed order: of no use for what is not signed."""
        for array, minimum, maximum, good in (
                (pa.array([1, 2]), struct.pack("<q", 1), struct.pack("<q", 2), ("1", "2")),
                (pa.array([1.0, 2.0]), struct.pack("<d", 1), struct.pack("<d", 2), ("1.0", "2.0")),
                (pa.array([1, 2], pa.date32()), struct.pack("<i", 1), struct.pack("<i", 2),
                 ("1970-01-02", "1970-01-03")),
                (pa.array([1, 2], pa.uint64()), struct.pack("<q", 1), struct.pack("<q", 2), (None, None)),
                (pa.array(["a", "b"]), b"a", b"b", (None, None)),
                (pa.array(["a", "b"]), b"a", b"a", (None, None)),
                (pa.array([b"a", b"b"]), b"a", b"b", (None, None)),
                (pa.array([Decimal("1.0")], pa.decimal128(20, 1)), bytes(9), bytes(9), (None, None))):
            file = self.make(array)
            self.assertEqual(self.bounds(file, min=minimum, max=maximum)[:2], good, array.type)
            file.meta.drop(7)
            self.assertEqual(self.bounds(file, min=minimum, max=maximum)[:2], good, array.type)

    def test_old_writers(self):
        for writer, good in (("parquet-mr version 1.9.1 (build x)", False), ("parquet-mr version 1.10.0", True),
                             ("parquet-mr", False), ("parquet-mr version 2.0", True), ("parquet-mr version ", False),
                             ("parquet-cpp version 1.2.9", False), ("parquet-cpp version 1.3.0", True),
                             ("parquet-cpp-arrow version 1.0.0", True), ("impala version 1.0", True), ("", True),
                             ("parquet-mr version 99999999999999999999999.1", True)):
            with self.subTest(writer):
                text = self.make(pa.array(["a", "b"]))
                text.meta.put(6, BINARY, writer.encode())
                wanted = ("a", "b", None) if good else (None, None, None)
                self.assertEqual(self.bounds(text, min_value=b"a", max_value=b"b"), wanted)
                number = self.make(pa.array([1, 2]))
                number.meta.put(6, BINARY, writer.encode())
                low, high = struct.pack("<q", 1), struct.pack("<q", 2)
                self.assertEqual(self.bounds(number, min_value=low, max_value=high), ("1", "2", None))

    def test_doubtful_writers(self):
        """One row for each row of the table of writers (format/created_by.c)."""
        stamp, text = pa.array([1, 2], pa.timestamp("us")), pa.array(["a", "b"])
        low, high = struct.pack("<q", 1), struct.pack("<q", 2)
        for writer, good in (("Parquet.Net version 4.25.0 (build x)", False), ("Parquet.Net version 6.0.3", False),
                             ("Parquet.Netto version 4.25.0", True), ("parquet-mr version 1.13.0", True)):
            file = self.make(stamp)
            file.meta.put(6, BINARY, writer.encode())
            for fields in ({"min_value": low, "max_value": high}, {"min": low, "max": high}):
                self.assertEqual(self.bounds(file, **fields)[0] is not None, good, writer)
            number = self.make(pa.array([1, 2]))
            number.meta.put(6, BINARY, writer.encode())
            self.assertEqual(self.bounds(number, min_value=low, max_value=high)[:2], ("1", "2"))
        for writer, good in (("github.com/segmentio/parquet-go", False),
                             ("github.com/segmentio/parquet-go version 0.0.1(build x)", True),
                             ("github.com/parquet-go/parquet-go", True)):
            file = self.make(text)
            file.meta.put(6, BINARY, writer.encode())
            self.assertEqual(self.bounds(file, min_value=b"a", max_value=b"b")[0] is not None, good, writer)
        for writer, good in (("parquet-cpp-arrow version 4.0.1", False), ("parquet-cpp-arrow version 5.0.0", True),
                             ("parquet-cpp version 1.5.1-SNAPSHOT", False), ("parquet-mr version 1.12.0", True)):
            for dictionary in (True, False):
                pq.write_table(pa.table({"x": pa.array(["a", None]).dictionary_encode() if dictionary else ["a", None]}),
                               self.path, use_dictionary=dictionary)
                file = files.File(self.path)
                file.meta.put(6, BINARY, writer.encode())
                nulls = self.bounds(file, min_value=b"a", max_value=b"a", nulls=0)[2]
                self.assertEqual(nulls, 0 if good or not dictionary else None, writer)
        for writer, good in (("parquet-mr version 1.2.8", False), ("parquet-mr version 1.2.9", True)):
            pq.write_table(pa.table({"x": [1, 2]}), self.path, use_dictionary=True, compression="none")
            file = files.File(self.path)
            file.meta.put(6, BINARY, writer.encode())
            size = file.column(0, 0).value(7)
            file.column(0, 0).put(7, I64, size - 20)
            file.write(self.path)
            shown = run("parquet_dump", self.path) if good is False else None
            self.assertTrue(good or shown[1].get("values") == [1, 2], shown)

    def test_floats(self):
        nan, one = struct.pack("<d", math.nan), struct.pack("<d", 1)
        file = self.make(pa.array([1.0, 2.0]))
        for low, high in ((nan, one), (one, nan), (nan, nan)):
            self.assertEqual(self.bounds(file, min_value=low, max_value=high), (None, None, None))
        self.assertEqual(self.bounds(file, min_value=struct.pack("<d", 0), max_value=struct.pack("<d", -0.0)),
                         ("0.0", "-0.0", None))
        half = self.make(pa.array([1, 2], pa.float16()))
        for value, text in ((0x3c00, "1.0"), (0x0001, repr(5.9604645e-08)), (0x7bff, "65504.0"), (0x8000, "-0.0"),
                            (0x7c00, "inf"), (0x7e00, None), (0xfc01, None), (0x0400, "6.1035156e-05")):
            stored = struct.pack("<H", value)
            self.assertEqual(self.bounds(half, min_value=stored, max_value=stored)[0], text)

    def test_nonsense(self):
        file = self.make(pa.array([1, 2]))
        one, two = struct.pack("<q", 1), struct.pack("<q", 2)
        for low, high in ((two, one), (b"", two), (one[:7], two), (one + b"\0", two), (one, b"")):
            self.assertEqual(self.bounds(file, min_value=low, max_value=high), (None, None, None))
        self.assertEqual(self.bounds(file, min_value=one), ("1", None, None))
        self.assertEqual(self.bounds(file, max_value=two), (None, "2", None))
        self.assertEqual(self.bounds(file, nulls=2), (None, None, 2))
        for nulls in (-1, 3, 2**63 - 1, -2**63):
            self.assertEqual(self.bounds(file, nulls=nulls), (None, None, None))
        required = self.make(pa.array([1, 2]), nullable=False)
        self.assertEqual(self.bounds(required, nulls=2), (None, None, 0))
        for kind, stored in (("int8", struct.pack("<i", 128)), ("int8", struct.pack("<i", -129)),
                             ("uint8", struct.pack("<i", 256)), ("uint16", struct.pack("<i", -1)),
                             ("bool", b"\2")):
            file = self.make(pa.array([1, 1], kind) if kind != "bool" else pa.array([True, True]))
            self.assertEqual(self.bounds(file, min_value=stored, max_value=stored), (None, None, None), kind)

    def test_unsigned(self):
        for kind, stored, text in (("uint32", struct.pack("<I", 2**32 - 1), str(2**32 - 1)),
                                   ("uint64", struct.pack("<Q", 2**64 - 1), str(2**64 - 1))):
            file = self.make(pa.array([1, 1], kind))
            self.assertEqual(self.bounds(file, min_value=bytes(len(stored)), max_value=stored), ("0", text, None))

    def test_decimals(self):
        file = self.make(pa.array([Decimal("1.0")], pa.decimal128(38, 1)))
        for value in (0, 1, -1, 127, 128, -128, -129, 10**38 - 1, 1 - 10**38):
            stored = value.to_bytes(16, "big", signed=True)
            text = f"{Decimal(value).scaleb(-1, WIDE):f}"
            self.assertEqual(self.bounds(file, min_value=stored, max_value=stored)[0], text)
        for value in (10**38, -10**38):  # a digit too many
            stored = value.to_bytes(16, "big", signed=True)
            self.assertEqual(self.bounds(file, min_value=stored, max_value=stored)[0], None)
        file.schema()[1].put(1, I32, 6).drop(2)  # of any length
        file.column(0, 0).put(1, I32, 6)
        for stored, text in ((b"\x7f", "12.7"), (b"\xff", "-0.1"), (b"\0\0\x80", "12.8"), (b"\x80", "-12.8"),
                             (b"\0" * 40 + b"\x01", "0.1"), (b"\xff" * 40, "-0.1"), (b"\x01" + b"\0" * 16, None),
                             (b"\xfe" + b"\xff" * 16, None), (b"", None), (b"\0" + b"\xff" * 16, None)):
            self.assertEqual(self.bounds(file, min_value=stored, max_value=stored)[0], text, stored)

    def test_times(self):
        for unit, stored, text in (("ms", -1, "1969-12-31 23:59:59.999000"), ("us", -1, "1969-12-31 23:59:59.999999"),
                                   ("ns", -1, "1969-12-31 23:59:59.999999"), ("ns", 1999, "1970-01-01 00:00:00.000001"),
                                   ("ms", 2**63 // 1000 + 1, None), ("ms", -2**63, None)):
            file = self.make(pa.array([0], pa.timestamp(unit)))
            value = struct.pack("<q", stored)
            self.assertEqual(self.bounds(file, min_value=value, max_value=value)[0], text)

    def test_int96(self):
        file = self.make(pa.array([1, 2]))
        file.schema()[1].put(1, I32, 3)
        file.column(0, 0).put(1, I32, 3)
        stored = struct.pack("<qi", 1999, 2440589)
        self.assertEqual(self.bounds(file, min_value=stored, max_value=stored)[0], None)
        self.assertEqual(self.bounds(file, min=stored, max=stored)[0], None)
        file.meta.put(7, LIST, (STRUCT, [Struct().put(3, STRUCT, Struct())]))
        self.assertEqual(self.bounds(file, min_value=stored, max_value=stored)[0], "1970-01-02 00:00:00.000001")
        for nanos, day in ((-1, 2440589), (86400 * 10**9, 2440589), (0, 2**31 - 1)):
            stored = struct.pack("<qi", nanos, day)
            self.assertEqual(self.bounds(file, min_value=stored, max_value=stored)[0], None)

    def test_unordered(self):
        """Values without an order that is known have no bounds."""
        for annotation in (Struct().put(99, STRUCT, Struct()), logical(17), logical(18), logical(11)):
            file = self.make(pa.array([b"a", b"b"]))
            self.assertEqual(self.bounds(file, min_value=b"a", max_value=b"b")[0], "61")
            file.schema()[1].put(10, STRUCT, annotation)
            self.assertEqual(self.bounds(file, min_value=b"a", max_value=b"b")[0], None)

    # -- types --

    def test_converted_types(self):
        names = {0: "string", 4: "string", 19: "string", 20: "bytes"}
        file = self.make(pa.array([b"a"]))
        for number in range(-1, 24):
            leaf = self.leaf(file, converted=number)
            if number in range(0, 22):
                self.assertEqual(leaf.get("type"), names.get(number), number)
            else:
                self.assertEqual(leaf["type"], "bytes")
        file = self.make(pa.array([1], pa.int32()))
        wanted = {6: "date", 7: "i32", 11: "u8", 12: "u16", 13: "u32", 15: "i8", 16: "i16", 17: "i32"}
        for number in range(22):
            leaf = self.leaf(file, converted=number)
            self.assertEqual(leaf.get("type"), wanted.get(number), number)
            if number not in wanted:
                self.assertIn("INT32", leaf["why_not_read"])
        file = self.make(pa.array([1], pa.int64()))
        wanted = {8: "i64", 9: "timestamp", 10: "timestamp", 14: "u64", 18: "i64"}
        for number in range(22):
            self.assertEqual(self.leaf(file, converted=number).get("type"), wanted.get(number), number)

    def test_logical_types(self):
        file = self.make(pa.array([b"a" * 16], pa.binary(16)))
        self.assertEqual(self.leaf(file, logical=logical(14))["type"], "bytes")
        self.assertIn("UUID", self.leaf(file, logical=logical(14), length=15)["why_not_read"])
        self.assertIn("FLOAT16", self.leaf(file, logical=logical(15))["why_not_read"])
        self.assertEqual(self.leaf(file, logical=logical(15), length=2)["type"], "f32")
        self.assertEqual(self.leaf(file, converted=21, length=12)["type"], "bytes")
        self.assertIn("INTERVAL", self.leaf(file, converted=21, length=11)["why_not_read"])
        for length in (0, -1, None):
            self.assertIn("without a length", self.leaf(file, length=length)["why_not_read"])
        self.assertEqual(self.leaf(file, length=16)["type"], "bytes")
        for field in (1, 2, 3, 4, 12, 13, 16, 17, 18):
            self.assertIn("cannot be", self.leaf(file, logical=logical(field))["why_not_read"])
        for field in (0, -3, 9, 19, 2555):  # none that is known
            self.assertEqual(self.leaf(file, logical=logical(field))["type"], "bytes")
        self.assertEqual(self.leaf(self.make(pa.array(["a"])), logical=logical(2555), converted=0)["type"], "string")

    def test_integer_annotations(self):
        for bits in (0, 7, 8, 16, 32, 64, 65, 128, 255):
            for signed in (True, False):
                inner = Struct().put(1, I8, bits).put(2, TRUE, signed)
                name = ("i" if signed else "u") + str(bits)
                for kind, fits in (("int32", bits in (8, 16, 32)), ("int64", bits == 64)):
                    leaf = self.leaf(self.make(pa.array([1], kind)), logical=logical(10, inner))
                    self.assertEqual(leaf.get("type"), name if fits else None)

    def test_decimal_annotations(self):
        for array, maximum in ((pa.array([1], pa.int32()), 9), (pa.array([1], pa.int64()), 18),
                            (pa.array([b"a"]), 38), (pa.array([b"abc"], pa.binary(3)), 38), (pa.array([1.0]), 0)):
            for precision, scale in ((0, 0), (-1, 0), (1, 0), (1, 1), (1, 2), (3, -1), (9, 2), (10, 2), (18, 0), (19, 0),
                                     (38, 38), (39, 0), (2**31 - 1, 0), (260, 2)):
                good = 1 <= precision <= maximum and 0 <= scale <= precision
                name = f"decimal({precision},{scale})" if good else None
                file = self.make(array)
                inner = Struct().put(1, I32, scale).put(2, I32, precision)
                self.assertEqual(self.leaf(file, logical=logical(5, inner)).get("type"), name)
                leaf = self.leaf(file, converted=5, precision=precision, scale=scale)
                self.assertEqual(leaf.get("type"), name)
                self.assertEqual("38 digits" in leaf.get("why_not_read", ""), precision > 38)
        self.assertEqual(self.leaf(self.make(pa.array([1])), converted=5, precision=5)["type"], "decimal(5,0)")

    # -- chunks --

    def test_chunks_that_are_not_read(self):
        wrong = (("another file", lambda f: f.chunk(0, 0).put(1, BINARY, b"../../etc/passwd")),
                 ("encrypted", lambda f: f.chunk(0, 0).put(8, STRUCT, logical(1))),
                 ("encrypted", lambda f: f.chunk(0, 0).put(9, BINARY, b"x").drop(3)),
                 ("LZO", lambda f: f.column(0, 0).put(4, I32, 3)),
                 ("not known", lambda f: f.column(0, 0).put(4, I32, 8)),
                 ("not known", lambda f: f.column(0, 0).put(4, I32, -5)),
                 ("not known", lambda f: f.column(0, 0).drop(4)),
                 ("type", lambda f: f.column(0, 0).put(1, I32, 1)),
                 ("type", lambda f: f.column(0, 0).drop(1)),
                 ("number of values", lambda f: f.column(0, 0).put(5, I64, 4)),
                 ("number of values", lambda f: f.groups()[0].put(3, I64, 4)),
                 ("outside", lambda f: f.column(0, 0).put(7, I64, 10**6)),
                 ("outside", lambda f: f.column(0, 0).put(7, I64, 2**63 - 1)),
                 ("outside", lambda f: f.column(0, 0).put(9, I64, 2**63 - 1).drop(11)),
                 ("negative", lambda f: f.column(0, 0).put(5, I64, -1)),
                 ("negative", lambda f: f.column(0, 0).put(7, I64, -2**63)),
                 ("negative", lambda f: f.column(0, 0).put(9, I64, -1)),
                 ("negative", lambda f: f.column(0, 0).drop(9)))
        for word, change in wrong:
            with self.subTest(word):
                file = self.make(pa.array([1, 2, 3]))
                change(file)
                chunk = self.chunk(file)
                self.assertIn(word, chunk["why_not_read"])
                self.assertNotIn("min", chunk)

    def test_dictionary_offset(self):
        file = self.make(pa.array([1, 2, 3]))
        data = file.column(0, 0).value(9)
        self.assertEqual(self.chunk(file)["offset"], file.column(0, 0).value(11))
        for wrong in (0, -1, data, data + 1, 2**63 - 1):
            file.column(0, 0).put(11, I64, wrong)
            self.assertEqual(self.chunk(file)["offset"], data)
        file.column(0, 0).drop(11)
        self.assertEqual(self.chunk(file)["offset"], data)

    def test_indexes(self):
        file = self.make(pa.array([1, 2, 3]))
        for offset, size, good in ((4, 10, True), (0, 10, False), (-4, 10, False), (4, 0, False), (4, -1, False),
                                   (4, 10**6, False), (2**62, 10, False)):
            file.chunk(0, 0).put(4, I64, offset).put(5, I32, size).put(6, I64, offset).put(7, I32, size)
            file.column(0, 0).put(14, I64, offset).put(15, I32, size)
            chunk = self.chunk(file)
            self.assertEqual((chunk["offset_index"], chunk["column_index"]), (good, good))
            self.assertEqual(chunk["bloom_filter"], good or size == 0)  # its length may be unknown

    # -- structure --

    def refused(self, word, change):
        file = self.make(pa.array([1, 2, 3]))
        change(file)
        shown = self.shown(file)
        self.assertIn(word, shown.get("error", "nothing"), shown)

    def test_refused(self):
        element = lambda f, i=1: f.schema()[i]  # noqa: E731
        self.refused("no schema", lambda f: f.meta.drop(2))
        self.refused("no row groups", lambda f: f.meta.drop(4))
        self.refused("no root", lambda f: f.meta.put(2, LIST, (STRUCT, [])))
        self.refused("no name", lambda f: element(f).drop(4))
        self.refused("physical type", lambda f: element(f).put(1, I32, 8))
        self.refused("physical type", lambda f: element(f).put(1, I32, -7))
        self.refused("repetition", lambda f: element(f).put(3, I32, 3))
        self.refused("repetition", lambda f: element(f).put(3, I32, -1))
        self.refused("lacks 1 columns", lambda f: element(f, 0).put(5, I32, 2))
        self.refused("lacks", lambda f: element(f, 0).put(5, I32, 2**31 - 1))
        self.refused("lacks", lambda f: element(f, 0).put(5, I32, -1))
        self.refused("no group", lambda f: element(f, 0).put(5, I32, 0))
        self.refused("less than no", lambda f: element(f).put(5, I32, -1))
        self.refused("lacks", lambda f: element(f).put(5, I32, 1))
        self.refused("has 0 columns", lambda f: f.groups()[0].drop(1))
        self.refused("has 2 columns", lambda f: f.groups()[0].value(1)[1].append(f.chunk(0, 0)))
        self.refused("rows", lambda f: f.groups()[0].drop(3))
        self.refused("-1 rows", lambda f: f.groups()[0].put(3, I64, -1))
        self.refused("rows", lambda f: f.groups().extend([Struct(f.groups()[0]).put(3, I64, 2**62)] * 2))
        self.refused("more than its pages can hold", lambda f: f.groups()[0].put(3, I64, 2**40))
        self.refused("no metadata", lambda f: f.chunk(0, 0).drop(3))
        self.refused("encrypted", lambda f: f.meta.put(8, STRUCT, logical(1)))

    def test_repeated(self):
        file = self.make(pa.array([1, 2, 3]))
        self.assertEqual(self.leaf(file, repetition=2)["type"], "list(i64)")

    def test_nesting(self):
        for depth in (1, 62, 198, 199, 1000):
            file = self.make(pa.array([1, 2, 3]))
            root, leaf = file.schema()
            group = Struct().put(3, I32, 1).put(4, BINARY, b"g").put(5, I32, 1)
            file.schema()[:] = [root] + [group] * depth + [leaf]
            shown = self.shown(file)
            if depth > 199:  # the others can still be read
                self.assertIn("more than 200 groups", shown["columns"][0]["why_not_read"])
            else:
                self.assertEqual(shown["columns"][0]["name"], "g." * depth + "x")

    def test_groups_without_fields(self):
        for at in (1, 2):
            file = self.make(pa.array([1, 2, 3]))
            file.schema().insert(at, Struct().put(3, I32, 1).put(4, BINARY, b"g"))
            file.schema()[0].put(5, I32, 2)
            self.assertEqual([c["name"] for c in self.shown(file)["columns"]], ["x"])
        for depth in (198, 300):
            file = self.make(pa.array([1, 2, 3]))
            root, leaf = file.schema()
            group = Struct().put(3, I32, 1).put(4, BINARY, b"g").put(5, I32, 1)
            empty = Struct(group).drop(5)
            file.schema()[:] = [Struct(root).put(5, I32, 2)] + [group] * depth + [empty, leaf]
            self.assertEqual([c["name"] for c in self.shown(file)["columns"]], ["x"])

    def test_footer_rows_do_not_count(self):
        file = self.make(pa.array([1, 2, 3]))
        for rows in (0, -1, 2**62):
            file.meta.put(3, I64, rows)
            self.assertEqual(self.shown(file)["rows"], 3)

    def test_ends(self):
        whole = self.make(pa.array([1, 2, 3])).bytes()
        for word, data in (("it has 0 bytes", b""), ("it has 11 bytes", b"PAR1" + b"\0" * 3 + b"PAR1"),
                           ("begin with", b"PAR2" + whole[4:]), ("end with", whole[:-1] + b"2"),
                           ("end with", whole[:-1]), ("encrypted", whole[:-4] + b"PARE"),
                           ("before the file", whole[:-8] + struct.pack("<I", len(whole) - 11) + b"PAR1"),
                           ("before the file", whole[:-8] + struct.pack("<I", 2**32 - 1) + b"PAR1"),
                           ("damaged", whole[:-8] + struct.pack("<I", 0) + b"PAR1"),
                           ("damaged", b"PAR1" + b"\0" * 4 + b"PAR1")):
            self.path.write_bytes(data)
            self.assertIn(word, describe(self.path)["error"])

    def test_trailing_bytes(self):
        """A signature may lie behind the metadata."""
        file = self.make(pa.array([1, 2, 3]))
        self.path.write_bytes(files.with_footer(file.body, files.encode(STRUCT, file.meta) + b"s" * 28))
        self.assertEqual(describe(self.path)["rows"], 3)


class Large(unittest.TestCase):
    """What a footer makes hac take is a small multiple of its bytes."""

    BYTES = 8 << 20

    def check(self, footer):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.parquet"
            path.write_bytes(files.with_footer(b"PAR1", footer))
            began = time.monotonic()
            shown = run("parquet_meta", "--quiet", path)[0]
            self.assertLess(time.monotonic() - began, 20)
        if not SANITIZED:
            self.assertLess(shown["peak_bytes"], 18 * len(footer) + (16 << 20), shown)
        return shown

    def footer(self, *lists):
        """`lists`: of the schema and of row groups, each of (number, encoded struct) pairs."""
        ret = b"\x29"
        for i, elements in enumerate(lists):
            n = sum(count for count, _ in elements)
            ret += (b"\x29" if i else b"") + bytes([0xf0 | STRUCT]) + files.varint(n)
            ret += b"".join(one * count for count, one in elements)
        return ret + b"\0"

    root = staticmethod(lambda n: (1, files.encode(STRUCT, Struct().put(4, BINARY, b"").put(5, I32, n))))
    LEAF = files.encode(STRUCT, Struct().put(1, I32, 0).put(4, BINARY, b""))

    def test_lists_that_promise(self):
        for kind in (STRUCT, I32, BINARY):
            zeros = bytes([0x29, 0xf0 | kind]) + files.varint(self.BYTES - 100) + bytes(self.BYTES)
            self.assertIn("damaged", self.check(zeros)["error"])

    def test_smallest_leaves(self):
        n = self.BYTES // len(self.LEAF)
        self.assertEqual(self.check(self.footer([self.root(n), (n, self.LEAF)], []))["leaves"], n)

    def test_smallest_chunks(self):
        meta = Struct()
        for field, kind, value in ((1, I32, 0), (4, I32, 0), (5, I64, 0), (6, I64, 0), (7, I64, 0), (9, I64, 0)):
            meta.put(field, kind, value)
        leaves = 1000
        chunks = [Struct().put(3, STRUCT, meta)] * leaves
        group = files.encode(STRUCT, Struct().put(1, LIST, (STRUCT, chunks)).put(3, I64, 0))
        n = self.BYTES // len(group)
        self.assertEqual(self.check(self.footer([self.root(leaves), (leaves, self.LEAF)], [(n, group)]))["groups"], n)

    def test_smallest_groups(self):
        group = files.encode(STRUCT, Struct().put(1, LIST, (STRUCT, [])).put(3, I64, 0))
        n = self.BYTES // len(group)
        self.assertEqual(self.check(self.footer([self.root(0)], [(n, group)]))["groups"], n)

    def test_long_paths(self):
        """Names that all leaves share would take the square of the footer."""
        n = 1000
        group = Struct().put(4, BINARY, b"n" * (self.BYTES // 2)).put(5, I32, n)
        schema = [self.root(1), (1, files.encode(STRUCT, group)), (n, self.LEAF)]
        self.assertIn("too much memory", self.check(self.footer(schema, []))["error"])

    def test_larger_than_allowed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "x.parquet"
            with open(path, "wb") as file:
                file.write(b"PAR1")
                file.truncate(65 << 20)
                file.seek(0, os.SEEK_END)
                file.write(struct.pack("<I", (64 << 20) + 1) + b"PAR1")
            self.assertIn("are allowed", describe(path)["error"])


if __name__ == "__main__":
    for why in ([NO_DATA] if not files.corpus("data/*.parquet") else []) + ([NO_ORACLE] if pq is None else []):
        print(why, file=sys.stderr)
    unittest.main()
