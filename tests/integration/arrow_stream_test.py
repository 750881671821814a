#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Streams of record batches through libhac (by ctypes) and back. pyarrow, Polars and DuckDB make the streams; pyarrow reads
the results and computes what they must be."""
import ctypes
import datetime
import random
import sys
import unittest
from decimal import Decimal
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / name) for name in ("support", "oracle")]
from machine import BUILD, SANITIZED, SharedMachineTest, main  # noqa: E402
import columns  # noqa: E402

sys.path.insert(0, str(BUILD.parent / "python"))
try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    pa = None
try:
    import polars as pl
except ImportError:
    pl = None
try:
    import duckdb
except ImportError:
    duckdb = None

TABLE = 2  # HAC_RESULT_TABLE
DAY = 86400


class Stream(ctypes.Structure):
    """struct ArrowArrayStream"""
    _fields_ = [(name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")]


def take_stream(source):
    """The stream of anything that has __arrow_c_stream__, and what keeps it alive."""
    capsule = source.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, b"arrow_array_stream"), capsule


class Client(columns.Client):
    def stream(self, source, memory_limit=0, **texts):
        """The result of a query of a stream, as a table of pyarrow."""
        options = columns.QueryOptions(size=ctypes.sizeof(columns.QueryOptions), limit=2**64 - 1, result_format=TABLE)
        options.job.memory_limit = memory_limit
        for name, text in texts.items():
            setattr(options, name, text.encode())
        job = ctypes.c_void_p()
        at, keep = take_stream(source)
        status = self.lib.hac_query_arrow_stream(self.handle, ctypes.c_void_p(at), ctypes.byref(options),
                                                 ctypes.byref(job), self.error)
        assert Stream.from_address(at).release is None, "the stream was not released"
        del keep
        self.must(status)
        return self.result(job)

    def sort(self, source):
        """The sorted keys of a stream of one column, as a table."""
        job = ctypes.c_void_p()
        at, keep = take_stream(source)
        status = self.lib.hac_sort_arrow_stream(self.handle, ctypes.c_void_p(at), None, ctypes.byref(job), self.error)
        assert Stream.from_address(at).release is None, "the stream was not released"
        del keep
        self.must(status)
        return self.result(job)

    def result(self, job):
        out = Stream()
        self.must(self.lib.hac_job_wait(job, -1, self.error))
        self.must(self.lib.hac_job_export_arrow_stream(job, ctypes.byref(out), self.error))
        self.lib.hac_job_free(job)
        table = pa.RecordBatchReader._import_from_c(ctypes.addressof(out)).read_all()
        table.validate(full=True)
        return table

    def refused(self, source, **texts):
        try:
            self.stream(source, **texts)
        except AssertionError as error:
            return str(error)
        raise AssertionError("nothing was refused")


def values(rng, n, make, nulls=0.2):
    return [None if rng.random() < nulls else make() for _ in range(n)]


def text_of(rng):
    return "".join(rng.choice("abcäß€𝄞 ") for _ in range(rng.randrange(30)))


def instant(rng, unit):
    """An instant in the unit of time, within what all units have."""
    return rng.randrange(-2**33, 2**33) * {"s": 1, "ms": 1000, "us": 10**6, "ns": 10**9}[unit]


def table_of(rng, n):
    """A column of each type that queries take, with what it must become: {name: (array, type)}."""
    def number(low, high):
        return lambda: rng.randrange(low, high)

    made = {}
    for bits in (8, 16, 32, 64):
        made[f"i{bits}"] = (pa.array(values(rng, n, number(-2**(bits - 1), 2**(bits - 1))), getattr(pa, f"int{bits}")()), None)
        made[f"u{bits}"] = (pa.array(values(rng, n, number(0, 2**bits)), getattr(pa, f"uint{bits}")()), None)
    made["f16"] = (pa.array(values(rng, n, lambda: rng.choice([0.0, -0.0, 65504.0, 2**-24, -1.5, 1000.5, float("inf")])),
                            pa.float16()), pa.float32())
    made["f32"] = (pa.array(values(rng, n, lambda: float(rng.randrange(1000)) / 8), pa.float32()), None)
    made["f64"] = (pa.array(values(rng, n, rng.random), pa.float64()), None)
    made["flag"] = (pa.array(values(rng, n, lambda: rng.random() < 0.5), pa.bool_()), None)
    made["nothing"] = (pa.nulls(n), pa.string())
    dates = values(rng, n, lambda: datetime.date(1900, 1, 1) + datetime.timedelta(days=rng.randrange(70000)))
    made["d32"] = (pa.array(dates, pa.date32()), None)
    made["d64"] = (pa.array(dates, pa.date64()), pa.date32())
    for unit in ("s", "ms", "us", "ns"):
        for zone in (None, "Europe/Paris"):
            made[f"t_{unit}_{zone}"] = (pa.array(values(rng, n, lambda: instant(rng, unit)), pa.timestamp(unit, zone)),
                                        pa.timestamp("us", zone and "UTC"))
    for digits, kind in ((9, pa.decimal32), (18, pa.decimal64), (15, pa.decimal128), (38, pa.decimal128)):
        made[f"dec{digits}_{kind.__name__}"] = (
            pa.array(values(rng, n, lambda: Decimal(rng.randrange(-10**digits + 1, 10**digits)).scaleb(-2)), kind(digits, 2)),
            pa.decimal128(digits, 2))
    texts = values(rng, n, lambda: text_of(rng))
    for name in ("string", "large_string", "string_view"):
        made[name] = (pa.array(texts, getattr(pa, name)()), pa.string())
        raw = [None if t is None else t.encode() for t in texts]
        name = name.replace("string", "binary")
        made[name] = (pa.array(raw, getattr(pa, name)()), pa.binary())
    made["wide"] = (pa.array(values(rng, n, lambda: rng.randbytes(7)), pa.binary(7)), pa.binary())
    few = [text_of(rng) for _ in range(5)] + [None]
    made["words"] = (pa.array(values(rng, n, lambda: rng.choice(few)), pa.string()).dictionary_encode(), pa.string())
    made["viewed"] = (pa.DictionaryArray.from_arrays(
        pa.array(values(rng, n, lambda: rng.randrange(len(few))), pa.uint8()), pa.array(few, pa.string_view())), pa.string())
    made["numbers"] = (pa.DictionaryArray.from_arrays(
        pa.array(values(rng, n, lambda: rng.randrange(3)), pa.int16()), pa.array([None, -5, 7], pa.int32())), pa.int32())
    made["flags"] = (pa.DictionaryArray.from_arrays(
        pa.array(values(rng, n, lambda: rng.randrange(3)), pa.int64()), pa.array([True, None, False])), pa.bool_())
    return made


def plain(array, want):
    """What a column must come back as: the type, and Python's values (bits of floats, instants in µs)."""
    if pa.types.is_dictionary(array.type):
        return want, array.to_pylist()
    if pa.types.is_timestamp(array.type):
        factor = {"s": 10**6, "ms": 10**3, "us": 1, "ns": 1 / 1000}[array.type.unit]
        return want, [None if v is None else int(v * factor) if factor > 1 else v if factor == 1 else v // 1000
                      for v in array.cast(pa.int64()).to_pylist()]
    return want or array.type, array.to_pylist()


@unittest.skipUnless(pa, "pyarrow is not there")
@unittest.skipIf(SANITIZED, "Python cannot load a sanitizer's libhac")
class ArrowStreams(SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.client = Client(cls.m.socket)
        for function in ("hac_query_arrow_stream", "hac_job_export_arrow_stream"):
            getattr(cls.client.lib, function).restype = ctypes.c_int

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        super().tearDownClass()

    def same(self, table, made):
        self.assertEqual(table.column_names, list(made))
        for name, (array, want) in made.items():
            kind, expected = plain(array, want)
            column = table.column(name)
            got = column.cast(pa.int64()).to_pylist() if pa.types.is_timestamp(column.type) else column.to_pylist()
            self.assertEqual(column.type, kind, name)
            self.assertEqual([str(v) for v in got], [str(v) for v in expected], name)

    def test_every_type(self):
        """One batch, many of uneven lengths (also empty ones), and slices that begin at any bit of a byte."""
        rng = random.Random(7)
        for n, cuts in ((0, []), (1, []), (257, []), (300, [1, 8, 9, 9, 64, 65, 130, 131]), (5000, [13, 4099])):
            made = table_of(rng, n + 5)
            batch = pa.RecordBatch.from_arrays([a for a, _ in made.values()], names=list(made))
            skip = rng.randrange(5)
            edges = [0, *cuts, n]
            batches = [batch.slice(skip + a, b - a) for a, b in zip(edges, edges[1:])]
            reader = pa.RecordBatchReader.from_batches(batch.schema, batches)
            table = self.client.stream(reader, select="*")
            self.same(table, {k: (a.slice(skip, n), t) for k, (a, t) in made.items()})

    def test_no_batches(self):
        schema = pa.schema([("a", pa.int64()), ("b", pa.string_view())])
        table = self.client.stream(pa.RecordBatchReader.from_batches(schema, []), select="a, b")
        self.assertEqual((table.num_rows, table.column_names), (0, ["a", "b"]))
        table = self.client.stream(pa.RecordBatchReader.from_batches(schema, []), select="count() as n, sum(a) as s")
        self.assertEqual(table.to_pylist(), [{"n": 0, "s": None}])

    def test_dictionaries_of_each_batch(self):
        """Every batch may have a dictionary of its own."""
        batches = [pa.record_batch({"k": pa.array(words).dictionary_encode()})
                   for words in (["a", "b", "a"], ["c", "a"], [None, "b"])]
        reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
        table = self.client.stream(reader, group_by="k", select="count() as n", order_by="k")
        self.assertEqual({r["k"]: r["n"] for r in table.to_pylist()}, {"a": 3, "b": 2, "c": 1, None: 1})

    def test_chunks_of_dictionaries(self):
        """Polars, and its categories and views; DuckDB counts beside hac."""
        if pl is None or duckdb is None:
            self.skipTest("Polars or DuckDB is not there")
        rng = random.Random(3)
        n = 20000
        frame = pl.DataFrame({"k": [rng.choice(["red", "green", "a much longer name of a colour"]) for _ in range(n)],
                              "c": pl.Series([rng.choice("xyz") for _ in range(n)], dtype=pl.Categorical),
                              "v": [rng.randrange(1000) for _ in range(n)], "flag": [rng.random() < 0.3 for _ in range(n)],
                              "at": pl.Series([rng.randrange(10**9) * 10**6 for _ in range(n)], dtype=pl.Datetime("ns"))})
        frame = pl.concat([frame, frame.head(17), frame.tail(1)], rechunk=False)
        table = self.client.stream(frame, group_by="k, c", select="sum(v) as s, sum(if(flag, 1, 0)) as f, max(at) as m",
                                   order_by="k, c")
        wanted = duckdb.sql("SELECT k, c::VARCHAR AS c, sum(v)::BIGINT AS s, count(*) FILTER (flag) AS f, max(\"at\") AS m "
                            "FROM frame GROUP BY ALL ORDER BY k, c").fetchall()
        self.assertEqual([tuple(r.values()) for r in table.to_pylist()], wanted)

    def test_duckdb_and_a_chain(self):
        """A result of DuckDB comes in as a stream, and a result of hac goes on as one."""
        if duckdb is None:
            self.skipTest("DuckDB is not there")
        relation = duckdb.sql("SELECT i % 10 AS k, i::DECIMAL(12,2) AS d, 'row ' || i AS t FROM range(30000) r(i)")
        first = self.client.stream(relation, where="k < 5", select="k, d, t")
        second = self.client.stream(first, group_by="k", select="sum(d) as s, max(t) as t", order_by="k")
        self.assertEqual([tuple(r.values()) for r in second.to_pylist()], duckdb.sql(
            "SELECT k, sum(d), max(t) FROM relation WHERE k < 5 GROUP BY k ORDER BY k").fetchall())

    def test_refused(self):
        """By name and type, and nothing is cut silently."""
        refusals = [
            (pa.array([[1]]), "column x has Arrow format \"+l\", a list"),
            (pa.array([{"a": 1}]), "column x has Arrow format \"+s\", a struct"),
            (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "a map"),
            (pa.array([1], pa.time64("us")), "a time of a day"),
            (pa.array([1], pa.duration("s")), "a duration"),
            (pa.array([Decimal(1)], pa.decimal256(50, 2)), "a decimal of another size"),
            (pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([2])), "run-end encoded"),
            (pa.array([None, 1001], pa.timestamp("ns")), "column x, row 2: the time has nanoseconds"),
            (pa.array([2**62], pa.timestamp("s")), "column x, row 1: the time is out of range"),
            (pa.array([1], pa.int64()).view(pa.date64()), "column x, row 1: the date has a time of day"),
        ]
        for array, words in refusals:
            said = self.client.refused(pa.table({"x": array}), select="*")
            self.assertIn(words, said)

    def test_errors_of_the_producer(self):
        def batches():
            yield pa.record_batch({"x": [1, 2]})
            raise ValueError("the disk is on fire")
        reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches())
        said = self.client.refused(reader, select="sum(x)")
        self.assertIn("the Arrow stream cannot be read", said)
        self.assertIn("the disk is on fire", said)
        self.assertIn("--select", self.client.refused(pa.table({"x": [1]}), select="sum(y)"))

    def test_endless(self):
        """A stream without end meets the limit of the job."""
        def batches():
            batch = pa.record_batch({"x": list(range(100000))})
            while True:
                yield batch
        reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches())
        self.assertIn("more than the 8000000 bytes", self.client.refused(reader, select="sum(x)", memory_limit=8000000))

    def test_sorts(self):
        """A chunked array, a series, and a table of one column, whose sorted keys come back as a stream."""
        rng = random.Random(5)
        for kind in (pa.int32(), pa.uint32(), pa.float32(), pa.int64(), pa.uint64(), pa.float64()):
            keys = [rng.randrange(2**20) for _ in range(9000)]
            chunks = pa.chunked_array([pa.array(keys[a:b], kind) for a, b in ((0, 5), (5, 5), (5, 4097), (4097, 9000))])
            sources = [chunks, pa.table({"k": chunks}), pa.table({"k": chunks}).slice(3, 8001), pa.chunked_array([], kind)]
            if pl:
                sources.append(pl.Series(chunks.to_pylist(), dtype={"float": pl.Float32, "double": pl.Float64}.get(
                    str(kind), getattr(pl, str(kind).replace("uint", "UInt").replace("int", "Int"), None))))
            for source in sources:
                column = source.column(0) if isinstance(source, pa.Table) else source
                values = column.to_list() if pl and isinstance(source, pl.Series) else column.to_pylist()
                self.assertEqual(self.client.sort(source).to_pylist(), [{"key": v} for v in sorted(values)])
        for source, words in ((pa.chunked_array([[1, None]]), "has nulls"), (pa.chunked_array([["a"]]), "cannot be sorted"),
                              (pa.table({"a": [1], "b": [2]}), "has 2 columns, not one"),
                              (pa.chunked_array([pa.array([1, 1]).dictionary_encode()]), "cannot be sorted"),
                              (pa.chunked_array([pa.array([[1]])]), "column of the stream has Arrow format \"+l\", a list")):
            with self.assertRaises(AssertionError) as caught:
                self.client.sort(source)
            self.assertIn(words, str(caught.exception))

    def test_results_outlive(self):
        """pyarrow's table is read after the job was freed and others have run."""
        kept = self.client.stream(pa.table({"x": list(range(100000))}), select="x + 1 as y")
        for _ in range(5):
            self.client.stream(pa.table({"x": [7] * 100000}), select="x + 2 as y")
        self.assertEqual(pc.sum(kept["y"]).as_py(), sum(range(1, 100001)))


if __name__ == "__main__":
    main()
