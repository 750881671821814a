#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parquet files that other programs write: several files of a column with different types, columns that cannot be
read, columns of nulls, no columns, times in nanoseconds, names without a suffix, footers that claim too much. The
oracles are pyarrow, DuckDB and exact arithmetic."""
import csv
import io
import struct
import sys
import threading
import time
import unittest
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/support"), str(ROOT / "build/python"), str(ROOT / "backends/parquet/tests")]
from machine import ONE_DEVICE, TWO_DEVICES, SharedMachineTest, main  # noqa: E402
from parquet_files import BINARY, I32, I64, LIST, STRUCT, File, Struct, encode, varint, with_footer  # noqa: E402

try:
    import duckdb
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None

WHY_NOT = "pyarrow or DuckDB is not installed (`./dev test` puts them into build/python)"


def data_page(body, values):
    header = Struct().put(1, I32, 0).put(2, I32, len(body)).put(3, I32, len(body)).put(
        5, STRUCT, Struct().put(1, I32, values).put(2, I32, 0).put(3, I32, 3).put(4, I32, 3))
    return encode(STRUCT, header) + body


def handmade(columns, rows, groups=1, created_by=b"a test"):
    """A file whose row groups all point to the same pages. columns: (name, physical type, optional, pages)."""
    body, chunks = b"PAR1", []
    schema = [Struct().put(4, BINARY, b"root").put(5, I32, len(columns))]
    for name, physical, optional, pages in columns:
        schema.append(Struct().put(1, I32, physical).put(3, I32, int(optional)).put(4, BINARY, name))
        meta = Struct().put(1, I32, physical).put(2, LIST, (I32, [0, 3])).put(3, LIST, (BINARY, [name])).put(4, I32, 0)
        meta.put(5, I64, rows).put(6, I64, len(pages)).put(7, I64, len(pages)).put(9, I64, len(body))
        chunks.append(Struct().put(2, I64, 0).put(3, STRUCT, meta))
        body += pages
    group = Struct().put(1, LIST, (STRUCT, chunks)).put(2, I64, len(body)).put(3, I64, rows)
    meta = Struct().put(1, I32, 1).put(2, LIST, (STRUCT, schema)).put(3, I64, rows * groups)
    meta.put(4, LIST, (STRUCT, [group] * groups)).put(6, BINARY, created_by)
    return with_footer(body, encode(STRUCT, meta))


@unittest.skipIf(pa is None, WHY_NOT)
class Edges(SharedMachineTest):
    profile = ONE_DEVICE

    def write(self, name, **columns):
        path = Path(self.m.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(columns), path)
        return name

    def query(self, *words):
        return self.m.good("-q", "parquet", "query", *words).decode()

    def rows(self, *words):
        return list(csv.reader(io.StringIO(self.query(*words))))[1:]

    # ---- several files ----

    def test_types_that_differ(self):
        small = {"i": pa.array([1, -2], pa.int32()), "b": pa.array([-128, 127], pa.int8()),
                 "u": pa.array([2**32 - 1, 1], pa.uint32()), "f": pa.array([1.5, 0.1], pa.float32()),
                 "h": pa.array([65504.0, 2.0**-24], pa.float16()),
                 "d": pa.array([Decimal("1.25"), Decimal("-99.99")], pa.decimal128(4, 2)),
                 "e": pa.array([Decimal("1.25"), None], pa.decimal128(4, 2)), "s": pa.array(["a", None])}
        large = {"i": pa.array([2**40, None], pa.int64()), "b": pa.array([2**31 - 1, -1], pa.int32()),
                 "u": pa.array([-2**31, 7], pa.int32()), "f": pa.array([0.1, 1e300], pa.float64()),
                 "h": pa.array([0.1, -1e300], pa.float64()),
                 "d": pa.array([Decimal("1234567.25"), None], pa.decimal128(18, 2)),
                 "e": pa.array([Decimal("123456789012345678.25"), Decimal(1)], pa.decimal128(38, 2)),
                 "s": pa.array([b"\xff\x00", b"b"], pa.binary())}
        self.write("small.parquet", **small)
        self.write("large.parquet", **large)
        pq.write_table(pa.table(small), self.m.path("delta.parquet"), use_dictionary=False,
                       column_encoding={"i": "DELTA_BINARY_PACKED", "b": "DELTA_BINARY_PACKED", "u": "DELTA_BINARY_PACKED",
                                        "f": "BYTE_STREAM_SPLIT", "h": "PLAIN", "s": "DELTA_BYTE_ARRAY"},
                       data_page_version="2.0")
        for files in (("small", "large"), ("large", "small"), ("delta", "large"), ("large", "delta", "small")):
            paths = [f"{name}.parquet" for name in files]
            listed = ", ".join(f"'{self.m.path(path)}'" for path in paths)
            table = "(select * replace (u::bigint as u, f::double as f, h::double as h) from (" + " union all ".join(
                f"select i::bigint i, b::bigint b, u::bigint u, f::double f, h::double h, d::decimal(18,2) d, "
                f"e::decimal(38,2) e from '{self.m.path(path)}'" for path in paths) + "))"
            with self.subTest(listed):
                oracle = duckdb.sql(f"select sum(i), min(b), max(b), sum(u), min(f), max(f), min(h), max(h), sum(d), sum(e), count(i) from {table}").fetchall()[0]
                got = self.rows(*paths, "--select", "sum(i) as a, min(b) as b, max(b) as c, sum(u) as d, min(f) as e, "
                                "max(f) as f, min(h) as g, max(h) as h, sum(d) as i, sum(e) as j, count(i) as k")[0]
                self.assertEqual([Decimal(v) for v in got[:4] + got[8:]], [Decimal(v) for v in oracle[:4] + oracle[8:]])
                self.assertEqual([float(v) for v in got[4:8]], list(oracle[4:8]))
                for where in ("i = 1", "i > 1000", "u > 3000000000", "u < 0", "b = -128", "f = 0.1e0", "h < 0.001e0",
                              "d = 1.25", "e > 100", "i is null"):
                    n = duckdb.sql(f"select count(*) from {table} where {where.replace('e0', '::double')}").fetchall()[0][0]
                    self.assertEqual(self.rows(*paths, "--where", where, "--select", "count()"), [[str(n)]], where)
                names = self.rows(*paths, "--where", "s is not null", "--select", "s")
                self.assertEqual(sorted(v[0] for v in names), sorted(["ff00", "62"] + ["61"] * (len(files) - 1)))

    def test_types_without_a_common_one(self):
        self.write("a.parquet", x=pa.array([1], pa.int64()), y=pa.array([1], pa.int64()))
        self.write("b.parquet", x=pa.array(["t"]), y=pa.array([1], pa.int64()))
        self.m.bad(2, "parquet", "query", "a.parquet", "b.parquet", "--select", "x",
                   says="b.parquet: column 'x' is string in the file, not i64")
        self.assertEqual(self.rows("a.parquet", "b.parquet", "--select", "sum(y) as s"), [["2"]])
        self.m.bad(2, "parquet", "query", "a.parquet", "--select", "x", "--schema", "x:i32",
                   says="column 'x' is i64 in the file, not i32")

    def test_columns_in_another_order(self):
        self.write("a.parquet", x=pa.array([1], pa.int32()), y=pa.array([1], pa.int32()))
        self.write("b.parquet", z=pa.array([0], pa.int8()), y=pa.array([2**33], pa.int64()), x=pa.array([5], pa.int64()))
        self.assertEqual(self.rows("a.parquet", "b.parquet", "--select", "x, y"), [["1", "1"], ["5", str(2**33)]])

    def test_columns_of_nulls(self):
        for kind, value in ((pa.string(), "x"), (pa.int64(), 7), (pa.float64(), 1.5), (pa.bool_(), True)):
            self.write("null.parquet", note=pa.nulls(3), k=[1, 2, 3])
            self.write("some.parquet", note=pa.array([value], kind), k=[4])
            for files in (("null.parquet", "some.parquet"), ("some.parquet", "null.parquet")):
                self.assertEqual(self.rows(*files, "--select", "count(note) as n, count() as m"), [["1", "4"]])
                literal = f"'{value}'" if kind == pa.string() else str(value).lower()
                self.assertEqual(self.rows(*files, "--where", f"note = {literal}", "--select", "k"), [["4"]])
                self.assertEqual(self.rows(*files, "--where", "note is null", "--select", "sum(k) as s"), [["6"]])
                self.assertEqual(len(self.rows(*files, "--select", "*")), 4)
        self.assertEqual(self.rows("null.parquet", "null.parquet", "--select", "count(note) as n, count() as m"), [["0", "6"]])

    def test_many_files(self):
        names = [f"many/{i}.parquet" for i in range(254)]
        for name in names:
            self.write(name, x=[1])
        for words in (names, ("many",)):
            self.assertEqual(self.rows(*words, "--select", "sum(x) as s, count() as n"), [["254", "254"]])
        for name in ("m.csv",):
            Path(self.m.path(name)).write_text("x\n1\n")
        self.m.bad(2, "mapreduce", *["m.csv"] * 254, "--select", "count()", says="`hacctl splice FILE…` takes any number")

    def test_names_without_suffix(self):
        for name in ("c.parq", "part-00000", "d/part-00000", "d/e/c.parq", "d/f.parquet"):
            self.write(name, x=[1, 2])
        for name in ("c.parq", "part-00000"):
            self.assertEqual(self.rows(name, "--select", "sum(x) as s"), [["3"]])
            self.assertEqual(self.m.good("mapreduce", name, "--select", "sum(x) as s"), b"s\n3\n")
        for name in ("d/_SUCCESS", "d/.crc", "d/x.csv", "d/e/log"):
            Path(self.m.path(name)).write_text("hello\n")
        result = self.m.run("parquet", "query", "d", "--select", "count() as n")
        self.assertEqual((result.code, result.out), (0, b"n\n6\n"))
        self.assertIn("d: 2 files are not Parquet, and left out: ", result.err)
        for name in ("parts/part-00000", "parts/year/c.parq"):  # no file with the usual suffix
            self.write(name, x=[1, 2])
        self.assertEqual(self.m.good("query", "SELECT count(*) AS n, sum(x) AS s FROM 'parts'"), b"n,s\n4,6\n")
        Path(self.m.path("text")).write_text("hello\n")
        self.assertEqual(self.m.run("parquet", "query", "text", "--select", "count() as n").out, b"n\n0\n")  # a header
        Path(self.m.path("bytes")).write_bytes(bytes(range(64)))
        self.m.bad(2, "parquet", "query", "bytes", "--select", "count()", says="Its suffix does not say, and its first bytes are not text")

    # ---- columns ----

    def test_columns_that_cannot_be_read(self):
        table = pa.table({"i": [1, 2], "l": [[[1]], [[2], [3]]], "s": ["x", "y"]})
        pq.write_table(table, self.m.path("l.parquet"))
        left_out = "1 column is of lists in lists or of an unknown type, and not in the result: l"
        for words in (("parquet", "query", "l.parquet", "--select", "*"), ("mapreduce", "l.parquet", "--select", "*")):
            result = self.m.run(*words)
            self.assertEqual((result.code, result.out), (0, b"i,s\n1,x\n2,y\n"))
            self.assertIn(left_out, result.err)
        for words in (("parquet", "convert", "l.parquet", "flat.parquet"),
                      ("sort", "l.parquet", "--key", "i", "-o", "flat.parquet")):
            result = self.m.run(*words)
            self.assertEqual(result.code, 0)
            self.assertIn(left_out, result.err)
            self.assertEqual(pq.read_table(self.m.path("flat.parquet")).to_pydict(), {"i": [1, 2], "s": ["x", "y"]})
        self.assertNotIn("not in the result", self.m.run("parquet", "query", "l.parquet", "--select", "i").err)
        self.m.bad(2, "parquet", "query", "l.parquet", "--select", "l", says="cannot be read")
        pq.write_table(table.select(["l"]), self.m.path("only.parquet"))
        self.m.bad(2, "parquet", "query", "only.parquet", "--select", "*", says="none of the columns can be read")
        self.assertEqual(self.rows("only.parquet", "--select", "count() as n"), [["2"]])

    def test_names_that_are_made(self):
        def column(name, value):
            return (name, 2, False, data_page(struct.pack("<qq", value, value), 2))

        Path(self.m.path("names.parquet")).write_bytes(
            handmade([column(b"", 1), column(b"a", 2), column(b"a", 3), column(b"a_1", 4), column(b"", 5), column(b"column1", 6)], 2))
        result = self.m.run("parquet", "query", "names.parquet", "--select", "*")
        head = result.out.decode().splitlines()
        self.assertEqual((result.code, head[1:]), (0, ["1,2,3,4,5,6"] * 2))
        names = head[0].split(",")
        self.assertEqual((names[1], names[3:]), ("a", ["a_1", "column5", "column1"]))
        self.assertEqual(len(set(names)), 6)
        self.assertIn("column5", result.err)
        self.assertEqual(self.rows("names.parquet", "--select", f"{names[0]} + {names[2]} + column5 as x"), [["9"]] * 2)
        self.assertEqual(self.rows("names.parquet", "--where", f"{names[2]} = 3", "--select", "count()"), [["2"]])
        self.m.good("-q", "parquet", "convert", "names.parquet", "out.parquet")
        self.assertEqual(pq.read_table(self.m.path("out.parquet")).to_pydict(),
                         {name: [i + 1] * 2 for i, name in enumerate(names)})
        columns = self.m.json("parquet", "inspect", "names.parquet")["columns"]
        self.assertEqual([c.get("made_name", False) for c in columns], [True, False, True, False, True, False])

    def test_no_columns(self):
        Path(self.m.path("none.parquet")).write_bytes(handmade([], 5))
        self.assertEqual(self.rows("none.parquet", "--select", "count() as n"), [["5"]])
        self.assertEqual(self.rows("none.parquet", "none.parquet", "--select", "count() as n"), [["10"]])
        self.assertEqual(self.rows("none.parquet", "--where", "1 = 2", "--select", "count() as n"), [["0"]])
        self.assertEqual(len(self.rows("none.parquet", "--select", "1 as one")), 5)
        self.m.bad(2, "parquet", "query", "none.parquet", "--select", "*", says="the input has no columns")

    # ---- small files that are sent in messages ----

    def test_small_files_of_large_pages(self):
        """A file that fits a message, but not one task."""
        n = 1000
        pq.write_table(pa.table({"a": list(range(n)), "b": ["x" * 5000] * n}), self.m.path("t.parquet"),
                       use_dictionary=False, compression="zstd")
        data = Path(self.m.path("t.parquet")).read_bytes()
        self.assertLess(len(data), 16384)
        for words, out in ((("--select", "count(b) as n, sum(a) as s"), f"n,s\n{n},{n * (n - 1) // 2}\n"),
                           (("--group-by", "a % 2 as k", "--select", "count() as n", "--order-by", "k"), "k,n\n0,500\n1,500\n"),
                           (("--select", "a", "--order-by", "a desc", "--limit", "1"), "a\n999\n"),
                           (("--where", "a = 7", "--select", "a, length(b) as n"), "a,n\n7,5000\n")):
            got = self.m.good("-q", "parquet", "query", "--parse", "parquet", "-", *words, data=data)
            self.assertEqual(got.decode(), out)

    def test_figures_of_another_task(self):
        """A footer's figures began with those of the task that the executor had run before: a small file behind a large
        result was taken for a large one. Many at the same time, so that tasks of different jobs follow each other."""
        Path(self.m.path("small.csv")).write_text("a,b\n" + "".join(f"{i},x{i}\n" for i in range(6)))
        big = list(range(0, 65000 * 7919, 7919))
        self.write("big.parquet", v=big)
        text = ("v\n" + "\n".join(map(str, big)) + "\n").encode()
        wrong = []

        def work(number):
            for _ in range(12):
                if number % 3 == 0:
                    got = self.m.run("-q", "parquet", "query", "big.parquet", "--select", "*")
                    good = (got.code, got.out) == (0, text)
                else:
                    got = self.m.run("-q", "parquet", "query", "small.csv", "--select", "count() as n, sum(a) as s")
                    good = (got.code, got.out) == (0, b"n,s\n6,15\n")
                if not good:
                    wrong.append(got)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([f"{r.code} {r.err}" for r in wrong], [])

    # ---- times ----

    def test_nanoseconds(self):
        ns = [-1, -999, 0, 1, 999, 1000]
        self.write("ns.parquet", ts=pa.array(ns, pa.timestamp("ns")), us=pa.array([v * 1000 for v in ns], pa.timestamp("ns")))
        pq.write_table(pa.table({"ts": pa.array(ns, pa.timestamp("ns"))}), self.m.path("int96.parquet"),
                       use_deprecated_int96_timestamps=True)
        for name in ("ns.parquet", "int96.parquet"):
            for words in (("--select", "count(distinct ts)"), ("--select", "ts"), ("--select", "max(ts)"),
                          ("--where", "ts > timestamp '1970-01-01 00:00:00'", "--select", "count()"),
                          ("--group-by", "ts", "--select", "count()")):
                self.m.bad(1, "parquet", "query", name, *words, says="column ts: the time has nanoseconds")
            self.assertEqual(self.rows(name, "--schema", "ts:i64", "--select", "count(distinct ts), min(ts), max(ts)"),
                             [["6", "-999", "1000"]])
            self.assertEqual(self.rows(name, "--schema", "ts:i64", "--where", "ts > 0", "--select", "count()"), [["3"]])
            self.m.bad(1, "parquet", "convert", name, "out.parquet", says="column ts: the time has nanoseconds")
        self.assertEqual(self.rows("ns.parquet", "--select", "count(distinct us), min(us), max(us)"),
                         [["6", "1969-12-31 23:59:59.999001", "1970-01-01 00:00:00.001000"]])
        self.assertEqual(self.rows("ns.parquet", "--where", "us > timestamp '1970-01-01 00:00:00'", "--select", "count()"),
                         [["3"]])
        # what the message names
        self.m.bad(1, "query", "ns.parquet", says="* exclude (COLUMN) leaves the column out")
        cut = [datetime(1970, 1, 1) + timedelta(microseconds=int(v / 1000)) for v in ns]
        self.assertEqual([row[0] for row in self.rows("ns.parquet", "--schema", "ts:i64", "--select", "make_timestamp(ts // 1000) as t")],
                         [str(t) for t in cut])
        self.assertEqual(len(self.rows("ns.parquet", "--select", "* exclude (ts)")), len(ns))
        self.assertIn("TIMESTAMP(NANOS", self.m.good("parquet", "inspect", "ns.parquet").decode())

    def test_years_that_text_cannot_hold(self):
        """Dates and times of files outside the years 0001 … 9999: counted, compared, copied, but not printed."""
        days = [0, -719162, -719163, 2932896, 2932897]
        times = [d * 86_400_000_000 for d in days]
        self.write("far.parquet", i=list(range(5)), d=pa.array(days, pa.int32()).cast(pa.date32()), t=pa.array(times, pa.timestamp("us")),
                   ms=pa.array([t // 1000 for t in times], pa.timestamp("ms")))
        good = [["0", "1970-01-01"], ["1", "0001-01-01"], ["3", "9999-12-31"]]
        for c, hour in (("d", ""), ("t", " 00:00:00"), ("ms", " 00:00:00")):
            for wrong, text in ((2, "0000-12-31"), (4, "10000-01-01")):
                for form in ("csv", "json"):
                    self.m.bad(1, "parquet", "query", "far.parquet", "--where", f"i = {wrong}", "--select", c, "--output-format", form,
                               says=f"--select: {c}: {text}{hour} is outside of the years 0001 to 9999")
                self.m.bad(1, "parquet", "query", "far.parquet", "--where", f"i = {wrong}", "--group-by", c, "--select", "count()",
                           says="outside of the years")
                self.m.bad(1, "parquet", "query", "far.parquet", "--where", f"i = {wrong}", "--select", f"cast({c} as string) as s",
                           says=f"s: {text}{hour}: the value does not fit the type; try_cast")
                self.assertEqual(self.rows("far.parquet", "--where", f"i = {wrong}", "--select", f"i, try_cast({c} as string) as s"),
                                 [[str(wrong), ""]])
            kind = "date" if c == "d" else "timestamp"
            self.assertEqual(self.rows("far.parquet", "--where", f"{c} between {kind} '0001-01-01' and {kind} '9999-12-31'",
                                       "--select", f"i, {c}", "--order-by", "i"), [[i, d + hour] for i, d in good])
            self.m.bad(1, "parquet", "query", "far.parquet", "--select", f"max({c}) as m", says="m: 10000-01-01")
            self.assertEqual(self.rows("far.parquet", "--select", f"count(distinct {c})"), [["5"]])
        self.m.good("parquet", "convert", "far.parquet", "copy.parquet")
        self.assertEqual(pq.read_table(self.m.path("copy.parquet"))["t"].cast(pa.int64()).to_pylist(), times)

    # ---- small unsigned integers ----

    def test_small_unsigned_with_repeated_bits(self):
        """Some writers repeat the highest bit of uint8 and uint16 in the 32 bits that are stored; pyarrow's reader is the oracle."""
        for bits, converted in ((8, 11), (16, 12)):
            high = 1 << bits
            wanted = [0, 5, high // 2 - 1, high // 2, high - 1, 7, None] * 40
            stored = [v if v is None or v < high // 2 else v - high for v in wanted]
            for options in ({"use_dictionary": True}, {"use_dictionary": False}, {"use_dictionary": False, "column_encoding": "DELTA_BINARY_PACKED"},
                            {"use_dictionary": False, "write_statistics": False, "data_page_version": "2.0"}):
                for values, how in ((stored, "repeated"), (wanted, "plain")):
                    path = self.m.path("small.parquet")
                    pq.write_table(pa.table({"u": pa.array(values, pa.int32())}), path, store_schema=False, **options)
                    file = File(path)
                    file.schema()[1].put(6, I32, converted)
                    file.write(path)
                    self.assertEqual(pq.read_table(path)["u"].to_pylist(), wanted, how)
                    for words in ((), ("--schema", "u:i64"), ("--schema", f"u:u{bits}")):
                        got = self.rows("small.parquet", *words, "--select", "u")
                        self.assertEqual([int(r[0]) if r and r[0] else None for r in got], wanted, (how, options, words))
                        for v in (5, high // 2, high - 1):
                            self.assertEqual(self.rows("small.parquet", *words, "--where", f"u = {v}", "--select", "count()"), [["40"]],
                                             (how, options, words, v))
                        self.assertEqual(self.rows("small.parquet", *words, "--where", f"u >= {high // 2}", "--select", "count(), sum(u)"),
                                         [["80", str(40 * (high // 2 + high - 1))]], (how, options, words))
            pq.write_table(pa.table({"u": pa.array([1, high], pa.int32())}), path, store_schema=False)
            file = File(path)
            file.schema()[1].put(6, I32, converted)
            file.write(path)
            self.m.bad(1, "parquet", "query", "small.parquet", "--select", "u", says="column u: the value does not fit the type")

    # ---- claims ----

    def test_rows_that_are_claimed(self):
        rows = 2**31 - 1
        run = varint(rows << 1) + b"\0"
        page = data_page(struct.pack("<I", len(run)) + run, rows)
        for groups in (1, 1000):
            data = handmade([(b"i", 1, True, page)], rows, groups)
            Path(self.m.path("claims.parquet")).write_bytes(data)
            began = time.monotonic()
            self.assertEqual(self.rows("claims.parquet", "--select", "count() as n"), [[str(rows * groups)]])
            self.assertEqual(self.rows("claims.parquet", "--select", "count() + 1 as n"), [[str(rows * groups + 1)]])
            self.assertLess(time.monotonic() - began, 10)


class TwoDevices(Edges):
    profile = TWO_DEVICES


if __name__ == "__main__":
    main()
