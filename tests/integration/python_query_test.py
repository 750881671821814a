#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hac.sql and hac.query, beside DuckDB's answers: frames of every library, arrays, files; what results are good for."""
import datetime
import decimal
import gzip
import html.parser
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import main  # noqa: E402
from python_package import PackageTest, library, needs, numpy as np  # noqa: E402

pa, pl, pd, duckdb = library("pyarrow"), library("polars"), library("pandas"), library("duckdb")
if pa is not None:
    import pyarrow.parquet  # noqa: F401 - pa.parquet

STATEMENTS = (
    "SELECT * FROM t ORDER BY id",
    "SELECT city, sum(qty) AS s, count(*) AS n, min(price) AS a, max(price) AS b FROM t GROUP BY city ORDER BY city",
    "SELECT id, price * 2 AS p FROM t WHERE qty > 50 AND city LIKE 'b%' ORDER BY p, id LIMIT 7",
    "SELECT DISTINCT city FROM t ORDER BY city",
    "SELECT qty % 3 AS k, count(*) AS n FROM t GROUP BY k HAVING count(*) > 3 ORDER BY k",
    "SELECT count(*) AS n FROM t WHERE price IS NULL",
    "SELECT id FROM t WHERE id < 0",
)


def frame(n=1000, seed=1):
    generator = np.random.default_rng(seed)
    cities = np.array(["bern", "basel", "zürich", "chur", ""], object)
    return {"id": np.arange(n, dtype="int64"), "city": cities[generator.integers(0, 5, n)],
            "qty": generator.integers(0, 100, n).astype("int32"), "price": generator.integers(0, 10000, n) / 8}


def with_nulls(n=1000):
    columns = frame(n)
    mask = np.random.default_rng(2).random(n) < 0.3
    return pa.table({"id": columns["id"], "city": pa.array(columns["city"], mask=np.roll(mask, 1)), "qty": columns["qty"],
                     "price": pa.array(columns["price"], mask=mask)})


def rows_of(table):
    return [tuple(row.values()) for row in table.to_pylist()]


@needs("pyarrow", "polars", "pandas", "duckdb")
class Frames(PackageTest):
    def check(self, table, like=None, statements=STATEMENTS):
        """`table` is what is given to hac; `like`, which DuckDB reads, has the same rows."""
        import hac
        t = table if like is None else like  # noqa: F841 - DuckDB looks for it here
        for statement in statements:
            expected = duckdb.sql(statement).fetchall()
            self.assertEqual(rows_of(hac.sql(statement, t=table).to_arrow()), expected, statement)

    def test_dict_of_arrays(self):
        columns = frame()
        self.check(columns, pd.DataFrame(columns))
        self.check({name: list(values) for name, values in columns.items()}, pd.DataFrame(columns))
        self.check({name: values[::-1] for name, values in columns.items()}, pd.DataFrame(columns)[::-1])
        self.check({name: pa.array(values) for name, values in columns.items()}, pd.DataFrame(columns))
        self.check({**columns, "price": pa.array(columns["price"])}, pd.DataFrame(columns))
        empty = {name: values[:0] for name, values in columns.items()}
        self.check(empty, pa.table(columns).slice(0, 0))

    def test_arrow(self):
        table = with_nulls()
        self.check(table)
        self.check(table.to_batches()[0], table)
        self.check(table.slice(17, 500))
        self.check(pa.concat_tables([table.slice(0, 3), table.slice(3, 0), table.slice(3)]), table)
        self.check(table.slice(0, 0))
        for statement in STATEMENTS:  # a reader can be read once
            self.check(table.to_reader(100), table, [statement])

    def test_polars(self):
        table = pl.from_arrow(with_nulls())
        self.check(table)
        self.check(pl.concat([table, table.with_columns(pl.col("id") + 1000)], rechunk=False))
        self.check(table.with_columns(pl.col("city").cast(pl.Categorical)), table)

    def test_pandas(self):
        self.check(pd.DataFrame(frame()))
        with_index = pd.DataFrame(frame())[100:300]
        self.check(with_index, with_index, STATEMENTS[1:])

    def test_duckdb(self):
        table = with_nulls()
        self.check(duckdb.from_arrow(table), table)

    def test_structured_array(self):
        columns = frame()
        records = np.zeros(1000, [("id", "i8"), ("city", "U10"), ("qty", "i4"), ("price", "f8")])
        for name, values in columns.items():
            records[name] = values
        self.check(records, pd.DataFrame(columns))

    def test_result_is_a_table(self):
        import hac
        first = hac.query(frame(), where="qty > 10")
        self.check(first, first.to_arrow())
        second = hac.sql("SELECT city, count(*) AS n FROM t GROUP BY city", t=first)
        self.assertEqual(sum(second.to_numpy()["n"]), len(first))

    def test_query(self):
        import hac
        columns = frame()
        got = hac.query(columns, where="qty > 3", group_by=["city", "qty % 2 as odd"], select=["sum(price) as s", "count() as n"],
                        order_by="city, odd", limit=5, offset=1)
        t = pd.DataFrame(columns)  # noqa: F841
        expected = duckdb.sql("SELECT city, qty % 2 AS odd, sum(price) AS s, count(*) AS n FROM t WHERE qty > 3 GROUP BY city, odd "
                              "ORDER BY city, odd LIMIT 5 OFFSET 1").fetchall()
        self.assertEqual(rows_of(got.to_arrow()), expected)
        got = hac.query(columns, select="id, city", order_by="id", limit_by="city", limit=1)
        self.assertEqual(len(got), 5)
        self.assertEqual(len(hac.query(columns, select="city", distinct=True)), 5)
        self.assertEqual([n for n, _ in hac.query(columns).columns], ["id", "city", "qty", "price"])
        for engine in ("host", "auto"):
            self.assertEqual(len(hac.query(columns, group_by="city", select="count() as n", engine=engine)), 5)

    def test_pool_table(self):
        import hac
        n = 5000
        pool = {"id": hac.empty(n, "int64"), "qty": hac.empty(n, "int32")}
        pool["id"][:], pool["qty"][:] = np.arange(n), np.arange(n) % 7
        got = hac.sql("SELECT qty, count(*) AS n FROM t GROUP BY qty ORDER BY qty", t=pool)
        self.assertEqual(rows_of(got.to_arrow()), [(k, (n - k + 6) // 7) for k in range(7)])

    def test_iterator(self):
        import hac
        whole = frame()
        parts = (form({name: values[i:i + 100] for name, values in whole.items()})
                 for form, i in zip((pa.table, pd.DataFrame, pl.DataFrame, pa.record_batch, pa.table) * 2, range(0, 1000, 100)))
        t = pd.DataFrame(whole)  # noqa: F841
        self.assertEqual(rows_of(hac.sql(STATEMENTS[1], t=parts).to_arrow()), duckdb.sql(STATEMENTS[1]).fetchall())
        for bad, error in ((iter([]), hac.InvalidError), (iter([5]), TypeError),
                           (iter([pa.table({"x": [1]}), pa.table({"y": ["a"]})]), hac.Error)):
            with self.assertRaises(error):
                hac.query(bad)

    def test_stream_that_uses_hac(self):
        """An iterator of batches may itself call hac."""
        import hac

        def batches():
            for seed in range(5):
                values = hac.sort(np.random.default_rng(seed).integers(0, 100, 20000, "int64"))
                yield pa.record_batch({"x": values})
        reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches())
        self.assertEqual(hac.sql("SELECT count(*) AS n FROM t", t=reader).to_numpy()["n"].tolist(), [100000])

    def test_series(self):
        """Columns in pieces, and those of polars and pandas: their nulls and types stay."""
        import hac
        for pieces in ([[1, None], [2 ** 62 + 1]], [[None, 2 ** 62 + 1]], [[], [3], []], []):
            values = [v for piece in pieces for v in piece]
            for column in (pa.chunked_array(pieces, pa.int64()), pl.concat([pl.Series(p, dtype=pl.Int64) for p in pieces or [[]]],
                                                                           rechunk=False),
                           pd.Series(values, dtype="Int64")):
                got = hac.query({"x": column}).to_arrow()["x"]
                self.assertEqual((got.type, got.to_pylist()), (pa.int64(), values), type(column))
        texts = ["ä", None, "x" * 50]
        for column in (pl.Series(texts), pl.concat([pl.Series(texts[:1]), pl.Series(texts[1:])], rechunk=False), pd.Series(texts),
                       pa.chunked_array([texts[:2], texts[2:]]), pa.chunked_array([texts[:2], texts[2:]], pa.string_view())):
            self.assertEqual(hac.query({"x": column, "y": [1, 2, 3]}).to_arrow()["x"].to_pylist(), texts, type(column))


@needs("pyarrow")
class Streams(PackageTest):
    """Streams and pipes that take their time, and those that fail."""

    def reader(self, batches):
        return pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), batches)

    def test_stream_that_waits_for_a_thread(self):
        """The thread reads a result of the connection that reads the stream."""
        import concurrent.futures
        import hac
        result = hac.sql("SELECT x FROM t", t={"x": np.arange(1000)})
        pool = concurrent.futures.ThreadPoolExecutor(1)

        def batches():
            for _ in range(2):
                yield from pool.submit(lambda: pa.table(result)).result(20).to_batches()
        self.assertEqual(hac.sql("SELECT count(*) AS n FROM t", t=self.reader(batches())).to_numpy()["n"].tolist(), [2000])
        self.assertEqual(hac.sql("SELECT count(*) AS n FROM t", t=batches()).to_numpy()["n"].tolist(), [2000])

    def test_streams_that_wait_for_each_other(self):
        import hac
        results, both = {}, threading.Barrier(2)

        def work(mine, others):
            def batches():
                both.wait(20)  # both connections read a stream
                yield from pa.table(results[others]).to_batches()
            results[mine] = hac.sql("SELECT x FROM t", t={"x": np.arange(mine)})
            both.wait(20)
            return hac.sql("SELECT count(*) AS n FROM t", t=self.reader(batches())).to_numpy()["n"].tolist()
        futures = [hac.submit(work, 10, 20), hac.submit(work, 20, 10)]
        self.assertEqual([future.result(30) for future in futures], [[20], [10]])

    def test_result_while_a_pipe_is_read(self):
        """The connection that a result came over does not read the pipe."""
        import hac
        box, opened = [], threading.Event()

        def work():
            box.append(hac.sql("SELECT x FROM t", t={"x": np.arange(10)}))
            opened.set()
            return hac.query(self.m.path("slow.csv"), select="sum(x) as s").to_numpy()["s"].tolist()
        os.mkfifo(self.m.path("slow.csv"))
        future = hac.submit(work)
        self.assertTrue(opened.wait(20))
        with open(self.m.path("slow.csv"), "w", encoding="utf-8") as writer:
            time.sleep(0.3)
            read = threading.Thread(target=lambda: box.append(pa.table(box[0]).num_rows), daemon=True)
            read.start()
            read.join(20)
            self.assertEqual(box[1:], [10])
            writer.write("x\n1\n2\n")
        self.assertEqual(future.result(30), [3])

    def test_lent_connections_are_used_again(self):
        """Results of pipes and the like do not keep a connection each, and can be read while another pipe is read over theirs."""
        import hac
        Path(self.m.path("a.jsonl")).write_text('{"x": 1}\n{"x": 2}\n')
        results = [hac.query(self.m.path("a.jsonl")) for _ in range(5)]
        self.assertEqual(len(hac._connection.idle), 1)
        os.mkfifo(self.m.path("silent.csv"))
        future = hac.submit(hac.query, self.m.path("silent.csv"), select="sum(x) as s")
        with open(self.m.path("silent.csv"), "w", encoding="utf-8") as writer:
            time.sleep(0.3)
            got = hac.submit(lambda: [result.to_numpy()["x"].tolist() for result in results] + [pa.table(results[0]).num_rows])
            self.assertEqual(got.result(20), [[1, 2]] * 5 + [2])
            results.clear()
            writer.write("x\n4\n")
        self.assertEqual(future.result(30).to_numpy()["s"].tolist(), [4])
        self.assertEqual(len(hac._connection.idle), 1)

    def test_exceptions_get_through(self):
        import hac

        class Own(Exception):
            pass

        def failing(error):
            yield pa.record_batch({"x": [1]})
            raise error from KeyError("why")
        for form in (self.reader, iter):
            for error in (Own("mine"), KeyboardInterrupt(), SystemExit(3)):
                with self.assertRaises(type(error)) as caught:
                    hac.query(form(failing(error)))
                self.assertIs(caught.exception, error)
                self.assertIsInstance(error.__cause__, KeyError)
        for late in (pa.table({"x": ["a"]}), pa.table({"x": [1], "y": [1]})):
            with self.assertRaisesRegex(hac.InvalidError, "batch 1 of the iterator"):
                hac.query(iter([pa.table({"x": [1]}), late]))
        self.assertEqual(hac.query(self.reader(iter([pa.record_batch({"x": [7]})]))).to_numpy()["x"].tolist(), [7])

    def test_interrupt_in_a_generator(self):
        out = self.python("""
import pyarrow as pa, signal, time
def batches():
    yield pa.record_batch({'x': [1]})
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5)
for form in (iter, lambda b: pa.RecordBatchReader.from_batches(pa.schema([('x', pa.int64())]), b)):
    try:
        hac.query(form(batches()))
    except KeyboardInterrupt:
        print('interrupted')
""")
        self.assertEqual(out, "interrupted\ninterrupted\n")


@needs("pyarrow", "polars", "pandas")
class Types(PackageTest):
    """Every type of column, in and out, with and without nulls."""

    def there_and_back(self, column, expected=None):
        import hac
        table = pa.table({"c": column})
        got = hac.sql("SELECT c FROM t", t=table)
        self.assertEqual(got.to_arrow()["c"].to_pylist(), expected or table["c"].to_pylist(), str(column.type))
        return got

    def test_arrow_types(self):
        days = [datetime.date(1969, 12, 31), None, datetime.date(2024, 2, 29)]
        moments = [datetime.datetime(1969, 12, 31, 23, 59, 59, 999999), None, datetime.datetime(2024, 2, 29, 1, 2, 3, 4)]
        for kind in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"):
            limits = np.iinfo(kind)
            self.there_and_back(pa.array([int(limits.min), None, int(limits.max)], kind))
        for kind in ("float32", "float64", "float16"):
            self.there_and_back(pa.array([np.dtype(kind).type(v) if v is not None else None for v in (0.5, None, -2.0)], kind))
        self.there_and_back(pa.array([True, None, False]))
        for kind in (pa.string(), pa.large_string(), pa.string_view()):
            self.there_and_back(pa.array(["ä", None, "", "x" * 100], kind))
        for kind in (pa.binary(), pa.large_binary()):
            self.there_and_back(pa.array([b"\0\xff", None, b""], kind))
        self.there_and_back(pa.array(days, pa.date32()))
        self.there_and_back(pa.array(moments, pa.timestamp("us")))
        self.there_and_back(pa.array(moments, pa.timestamp("ns")))
        self.there_and_back(pa.array([decimal.Decimal("-12.34"), None, decimal.Decimal("99999999.99")], pa.decimal128(10, 2)))
        self.there_and_back(pa.array([decimal.Decimal(10) ** 30, None], pa.decimal128(38, 0)))

    def test_columns_that_queries_do_not_have(self):
        """They may be there, if the query does not use them; the oracle is DuckDB."""
        import hac
        t = pa.table({"x": [1, 2, 3], "l": [[1], None, []], "u": [{"a": 1}, None, {"a": 2}], "tod": [datetime.time(1, 2), None, datetime.time(3)],
                      "d": [datetime.timedelta(1), None, datetime.timedelta(2)], "s": ["a", None, "b"]})
        for statement in ("SELECT x, s FROM t ORDER BY x", "SELECT sum(x) AS n, count(*) AS c FROM t", "SELECT s FROM t WHERE x > 1 ORDER BY s",
                          "SELECT * EXCLUDE (l, u, tod, d) FROM t ORDER BY x"):
            expected = duckdb.sql(statement).fetchall()
            for table in (t, pl.from_arrow(t), t.to_batches()[0], iter(t.to_batches())):
                self.assertEqual(rows_of(hac.sql(statement, t=table).to_arrow()), expected, statement)
        for statement, says in (("SELECT * FROM t", "column l has"), ("SELECT l FROM t", "a list: unnest it"), ("SELECT count(u) AS n FROM t", "a struct"),
                                ("SELECT x FROM t WHERE tod IS NULL", "a time of a day"), ("SELECT x FROM t ORDER BY d", "a duration")):
            with self.assertRaisesRegex(hac.UnsupportedError, says):
                hac.sql(statement, t=t)
        self.assertEqual(hac.scan_hac(pl.from_arrow(t)).filter(pl.col("x") > 1).select("x", "s").sort("x").collect().rows(), [(2, None), (3, "b")])

    def test_to_numpy(self):
        import hac
        table = pa.table({
            "i": pa.array([1, None, 3], "int32"), "f": [0.5, 1.5, -2.5], "b": [True, None, False], "s": ["ä", None, ""],
            "z": [b"\0", None, b"xy"], "d": pa.array([datetime.date(1969, 12, 31), None, datetime.date(2024, 2, 29)]),
            "t": pa.array([datetime.datetime(2024, 1, 2, 3, 4, 5, 6)] * 3, pa.timestamp("us")),
            "p": pa.array([decimal.Decimal("-12.34"), None, decimal.Decimal("0.01")], pa.decimal128(10, 2)),
            "w": pa.array([decimal.Decimal(-(10 ** 30)), None, decimal.Decimal(7)], pa.decimal128(38, 0))})
        got = hac.query(table).to_numpy()
        self.assertEqual({name: values.tolist() for name, values in got.items()},
                         {name: table[name].to_pylist() for name in table.column_names})
        self.assertEqual({name: str(values.dtype) for name, values in got.items()},
                         {"i": "int32", "f": "float64", "b": "bool", "s": "object", "z": "object", "d": "datetime64[D]",
                          "t": "datetime64[us]", "p": "object", "w": "object"})

    def test_numpy_types(self):
        import hac
        n = 20
        columns = {kind: np.arange(n).astype(kind) for kind in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
                                                                "uint64", "float32", "float64", ">i4", ">f8")}
        columns["half"] = np.arange(n).astype("float16")
        columns["bool"] = np.arange(n) % 3 == 0
        columns["fixed"] = np.array([f"v{i}ü" for i in range(n)])
        columns["bytes"] = np.array([f"v{i}".encode() for i in range(n)])
        columns["strided"] = np.arange(2 * n)[::2]
        columns["masked"] = np.ma.array(np.arange(n), mask=np.arange(n) % 4 == 0)
        for unit in ("D", "M", "h", "m", "s", "ms", "us", "ns"):
            columns[f"time_{unit}"] = np.arange(n).astype(f"M8[{unit}]") if unit != "ns" else np.arange(n).astype("M8[us]").astype("M8[ns]")
            columns[f"time_{unit}"][3] = "NaT"
        got = hac.query(columns).to_numpy()
        self.assertEqual(list(got), list(columns))
        for name, values in columns.items():
            self.assertEqual(got[name].shape, (n,))
            expected = [None if v is None or (isinstance(values[i], np.datetime64) and np.isnat(values[i])) else v
                        for i, v in enumerate(values.tolist())]
            if name.startswith("time_"):
                self.assertEqual(np.ma.getmaskarray(got[name]).tolist(), [i == 3 for i in range(n)], name)
                self.assertTrue((got[name].data == values)[np.arange(n) != 3].all(), name)
            else:
                self.assertEqual(got[name].tolist(), expected, name)
        if hasattr(np.dtypes, "StringDType"):
            texts = np.array(["a", "ü" * 40, ""], np.dtypes.StringDType())
            self.assertEqual(hac.query({"s": texts}).to_numpy()["s"].tolist(), texts.tolist())

    def test_lists(self):
        import hac
        columns = {"i": [1, None, 3], "f": [None, 0.5, 2.5], "s": ["a", None, "c"], "n": [None, None, None], "b": [True, False, None],
                   "d": [datetime.date(2024, 1, 1), None, datetime.date(1970, 1, 1)], "z": [b"a", None, b""],
                   "t": [datetime.datetime(2024, 1, 1, 2, 3, 4, 5), None, None]}
        self.assertEqual(hac.query(columns).to_arrow().to_pydict(), columns)
        full = {name: [v for v in values if v is not None] for name, values in columns.items() if name != "n"}
        for name, values in full.items():
            self.assertEqual(hac.query({name: values}).to_arrow()[name].to_pylist(), values)
        for values in ([decimal.Decimal("1.25"), None, decimal.Decimal("-3")], [decimal.Decimal("1E+5"), decimal.Decimal("0.001")],
                       [decimal.Decimal(10 ** 38 - 1)], [decimal.Decimal(1 - 10 ** 38).scaleb(-38), None]):
            self.assertEqual(hac.query({"x": values}).to_arrow()["x"].to_pylist(), values)
        mixed = [datetime.date(2024, 1, 1), datetime.datetime(2024, 1, 1, 2), None]
        self.assertEqual(hac.query({"x": mixed}).to_arrow()["x"].to_pylist(), [datetime.datetime(2024, 1, 1), mixed[1], None])

    def test_lists_lose_nothing(self):
        import hac
        for values in ([2 ** 63, 1], [2 ** 64 - 1, None, 0], [2 ** 53, None, 2.5], [True, 2, None], [1.5, 2, True]):
            self.assertEqual(hac.query({"x": values}).to_arrow()["x"].to_pylist(), values)
        exact = [decimal.Decimal("123456.75"), None, decimal.Decimal("9" * 35 + ".123"), decimal.Decimal("-0.001")]
        with decimal.localcontext(decimal.Context(prec=3, Emin=-4, Emax=4, traps=[decimal.Inexact, decimal.Overflow])):
            self.assertEqual(hac.query({"x": exact}).to_arrow()["x"].to_pylist(), exact)  # the context is for arithmetic
        day = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
        for values, error in (([2 ** 63, -1], hac.InvalidError), ([2 ** 64], hac.InvalidError), ([2 ** 53 + 1, None, 2.5], hac.InvalidError),
                              ([10 ** 400, 0.5], hac.InvalidError), ([1, "a"], hac.UnsupportedError), (["a", 1], hac.UnsupportedError),
                              ([day], hac.UnsupportedError), ([1, day], hac.UnsupportedError),
                              ([decimal.Decimal("nan")], hac.InvalidError), ([decimal.Decimal(10 ** 38)], hac.InvalidError),
                              ([decimal.Decimal("1E+999999")], hac.InvalidError), ([decimal.Decimal("1E-39")], hac.InvalidError),
                              ([decimal.Decimal(1), 1], hac.UnsupportedError)):
            with self.assertRaises(error, msg=str(values)[:50]) as caught:
                hac.query({"x": values})
            self.assertIn("column x", str(caught.exception))

    def test_texts_that_are_not_utf8(self):
        import hac
        Path(self.m.path("latin.csv")).write_bytes("größe,n\n1,2\n".encode("latin-1"))
        got = hac.query(self.m.path("latin.csv"))
        self.assertEqual([values.tolist() for values in got.to_numpy().values()], [[1], [2]])
        self.assertIn("gr\ufffd\ufffde", repr(got))

    def test_refused(self):
        import hac
        three = np.zeros(3)
        for bad, says in (({"x": np.zeros((2, 2))}, "2 dimensions"), ({"x": np.zeros(3, complex)}, "complex128"),
                          ({"x": np.zeros(3, "m8[s]")}, "astype('int64')"), ({"x": np.array([1, "a"], object)}, "int, str"),
                          ({"x": np.array([{}, []], object)}, "dict, list"), ({1: three}, "name is a str"),
                          ({"x": 5}, "is a int"), (three, "structured array"), (5, "int is no table"), (None, "NoneType"),
                          (pl.DataFrame({"x": [1]}).lazy(), "collect()"), (pa.table({"x": [[1]]}), "x"),
                          (pa.array([1]), "+s"), ([], "list is no table"), ({"x": np.zeros(3, "M8[ps]")}, "astype('M8[us]')")):
            with self.assertRaises(hac.UnsupportedError) as caught:
                hac.query(bad)
            self.assertIn(says, str(caught.exception))
        with self.assertRaisesRegex(hac.InvalidError, "column y has 2 rows, and x has 3"):
            hac.query({"x": three, "y": three[:2]})
        with self.assertRaisesRegex(hac.InvalidError, "out of range"):
            hac.query({"x": np.array([10 ** 12]).astype("M8[D]")})
        for unit in ("h", "m", "10s", "25us"):
            with self.assertRaisesRegex(hac.InvalidError, "out of range"):
                hac.query({"x": np.array([0, 2 ** 62 + 1]).astype(f"M8[{unit}]")})
        for bad in ({}, {"x" * 200: three}, {"": three}):
            with self.assertRaises(hac.Error):
                hac.query(bad)


@needs("pyarrow", "polars", "pandas", "duckdb")
class Results(PackageTest):
    def test_views(self):
        """Conversions have the addresses of the result's own memory, which lives as long as they do."""
        import hac
        result = hac.query({"x": np.arange(30000), "y": np.arange(30000) / 3}, where="x >= 10")
        arrays = result.to_numpy()
        arrow = result.to_arrow()
        for name in ("x", "y"):
            address = arrays[name].ctypes.data
            self.assertEqual(address % 64, 0)
            self.assertFalse(arrays[name].flags.writeable)
            self.assertEqual(arrow[name].chunk(0).buffers()[1].address, address)
            self.assertEqual(pa.table(result)[name].chunk(0).buffers()[1].address, address)
            self.assertEqual(result.to_polars()[name].to_numpy().ctypes.data, address)
        del result
        for _ in range(10):
            hac.query({"x": np.full(30000, 7), "y": np.zeros(30000)}, where="x >= 1")
        self.assertTrue((arrays["x"] == np.arange(10, 30000)).all())
        self.assertTrue((arrow["y"].to_numpy() == np.arange(10, 30000) / 3).all())

    def test_stream_can_be_asked_again(self):
        import hac
        result = hac.query({"x": np.arange(5)})
        for _ in range(3):
            self.assertEqual(pa.table(result).num_rows, 5)
        reader = pa.RecordBatchReader.from_stream(result)
        self.assertEqual(reader.schema, reader.schema)
        self.assertEqual([batch.num_rows for batch in reader], [5])
        self.assertEqual(pa.record_batch(result).num_rows, 5)
        self.assertEqual(duckdb.sql("SELECT sum(x) FROM result").fetchall(), [(10,)])

    def test_frames(self):
        import hac
        result = hac.query({"x": [1, None], "s": ["a", None]})
        pd.testing.assert_frame_equal(result.to_pandas(), pa.table({"x": [1, None], "s": ["a", None]}).to_pandas())
        self.assertTrue(result.to_polars().equals(pl.DataFrame({"x": [1, None], "s": ["a", None]})))

    def test_display(self):
        import hac

        class Cells(html.parser.HTMLParser):
            def __init__(self):
                super().__init__()
                self.cells, self.tags, self.inside = [], [], False

            def handle_starttag(self, tag, attrs):
                self.tags.append(tag)
                self.inside = tag in ("td", "th")
                if self.inside:
                    self.cells.append("")

            def handle_endtag(self, tag):
                self.inside = False

            def handle_data(self, data):
                if self.inside:
                    self.cells[-1] += data
        evil = "<script>alert('x')</script>"
        result = hac.query({"<b>": np.array([evil] * 30, object), "n": np.arange(30)}, order_by="n")
        page = Cells()
        page.feed(result._repr_html_())
        self.assertNotIn("script", page.tags)
        self.assertNotIn("b", page.tags)
        self.assertEqual(page.cells[:6], ["<b>", "n", "string", "i64", evil, "0"])
        self.assertEqual(len(page.cells), 4 + 40)
        self.assertIn("first 20 of 30 rows", result._repr_html_())
        self.assertIn("pre", page.tags)
        self.assertEqual(repr(result), "<hac.Result: 30 rows; <b> string, n i64>")
        self.assertEqual(len(result), 30)
        self.assertIn("predicted", result.explain())
        self.assertIn("ran on", result.why())
        self.assertEqual(json.loads(self.m.good("--json", "show", result.job))["id"], result.job)


@needs("pyarrow", "polars", "pandas", "duckdb")
class Files(PackageTest):
    def put(self, columns):
        """The same rows in files of many kinds, by name."""
        table = pd.DataFrame(columns)
        table.to_csv(self.m.path("a.csv"), index=False)
        table.to_csv(self.m.path("semicolon.csv"), index=False, sep=";")
        table.to_parquet(self.m.path("b.parquet"))
        table.to_parquet(self.m.path("named"))
        table.to_json(self.m.path("d.jsonl"), orient="records", lines=True)
        table.to_json(self.m.path("document.jsonl"), orient="records")
        with open(self.m.path("a.csv"), "rb") as plain, gzip.open(self.m.path("c.csv.gz"), "wb") as packed:
            packed.write(plain.read())
        return ("a.csv", "semicolon.csv", "b.parquet", "named", "d.jsonl", "document.jsonl", "c.csv.gz")

    def test_formats(self):
        import hac
        columns = {**frame(), "city": np.array(["a", "b"], object)[np.arange(1000) % 2]}
        t = pd.DataFrame(columns)  # noqa: F841
        for statement in STATEMENTS:
            expected = duckdb.sql(statement).fetchall()
            for name in self.put(columns):
                quoted = statement.replace("FROM t", f"FROM '{self.m.path(name)}'")
                self.assertEqual(rows_of(hac.sql(quoted).to_arrow()), expected, f"{name}: {statement}")
                self.assertEqual(rows_of(hac.sql(statement, t=Path(self.m.path(name))).to_arrow()), expected, name)

    def test_names_that_say_no_format(self):
        import hac
        path = Path(self.m.path("t.dat"))
        for text, form in (("x;s\n1;a\n2;b\n", "csv"), ('{"x": 1, "s": "a"}\n{"x": 2, "s": "b"}\n', "jsonl")):
            path.write_text(text)
            with self.assertWarnsRegex(UserWarning, f"t.dat: read as {form}, which its first bytes look like"):
                result = hac.sql(f"SELECT * FROM '{path}'")
            self.assertEqual(rows_of(result.to_arrow()), [(1, "a"), (2, "b")])
        path.write_bytes(b"PK\3\4 and more")
        with self.assertRaisesRegex(hac.Error, "t.dat: is a zip archive, not text"):
            hac.sql(f"SELECT * FROM '{path}'")
        path.write_bytes(bytes(range(100)))
        with self.assertRaisesRegex(hac.InvalidError, "Its name does not say"):
            hac.sql(f"SELECT * FROM '{path}'")

    def test_many_files(self):
        import hac
        folder = Path(self.m.path("folder"))
        (folder / "sub").mkdir(parents=True)
        for i in range(300):
            (folder / "sub" / f"{i}.csv").write_text(f"x\n{i}\n")
        for i in range(3):
            pa.parquet.write_table(pa.table({"x": [i, 10 * i]}), folder / f"{i}.parquet")
        count = "SELECT count(*) AS n, sum(x) AS s FROM"
        for source, n, s in (("sub", 300, 44850), ("sub/*.csv", 300, 44850), (".", 6, 33), ("[01].parquet", 4, 11)):
            self.assertEqual(rows_of(hac.sql(f"{count} '{folder}/{source}'").to_arrow()), [(n, s)], source)
        files = [folder / "1.parquet", str(folder / "2.parquet")]
        self.assertEqual(rows_of(hac.sql(f"{count} t", t=files).to_arrow()), [(4, 33)])
        union = hac.sql(f"SELECT x FROM a UNION ALL SELECT x FROM '{folder}/2.parquet' ORDER BY x", a=str(folder / "1.parquet"))
        self.assertEqual(union.to_numpy()["x"].tolist(), [1, 2, 10, 20])

    def test_options(self):
        import hac
        Path(self.m.path("x.dat")).write_text("1|NA\n2|b\n")
        result = hac.query(self.m.path("x.dat"), format="csv", schema="k:i32,s:string", order_by="k",
                           input={"delimiter": "|", "header": False, "null_text": "NA"})
        self.assertEqual(rows_of(result.to_arrow()), [(1, None), (2, "b")])
        np.arange(10, dtype="<u4").tofile(self.m.path("raw.bin"))
        result = hac.query(self.m.path("raw.bin"), format="fixed", schema="v:u32", select="sum(v) as s")
        self.assertEqual(rows_of(result.to_arrow()), [(45,)])
        Path(self.m.path("words.txt")).write_text("a b a\n")
        result = hac.sql(f"SELECT word, count(*) AS n FROM '{self.m.path('words.txt')}' GROUP BY word ORDER BY word", {"format": "words"})
        self.assertEqual(rows_of(result.to_arrow()), [("a", 2), ("b", 1)])
        Path(self.m.path("bad.csv")).write_text("x,y\n" + "1,2\n" * 3000 + "1,2,3\n")
        for name in ("odd.csv.GZ", "odd.csv"):  # by the name in any case, or by the first bytes
            Path(self.m.path(name)).write_bytes(gzip.compress(b"x\n1\n2\n"))
            self.assertEqual(rows_of(hac.query(self.m.path(name), format="csv", select="sum(x) as s").to_arrow()), [(3,)], name)
        result = hac.query(self.m.path("bad.csv"), select="count() as n, sum(x) as s", input={"on_error": "skip"})
        self.assertEqual(rows_of(result.to_arrow()), [(3000, 3000)])
        self.assertIn("1 record that could not be read", result.notes)
        self.assertEqual(result.schema, "x:i64")

    def test_pipe(self):
        import hac
        os.mkfifo(self.m.path("pipe.csv"))
        writer = threading.Thread(target=lambda: Path(self.m.path("pipe.csv")).write_text("x\n1\n2\n"))
        writer.start()
        self.assertEqual(rows_of(hac.query(self.m.path("pipe.csv"), select="sum(x) as s").to_arrow()), [(3,)])
        writer.join()

    def test_standard_input(self):
        out = self.python("print(hac.query('-', format='csv', select='sum(x) as s').to_numpy()['s'].tolist())", input="x\n5\n6\n")
        self.assertEqual(out, "[11]\n")

    def test_interrupted_pipe(self):
        """Ctrl-C while a pipe has nothing to say."""
        os.mkfifo(self.m.path("silent.csv"))
        process = subprocess.Popen([sys.executable, "-c", "import hac, sys\n"
                                    f"try: hac.query({self.m.path('silent.csv')!r}, select='count() as n')\n"
                                    "except KeyboardInterrupt: print('interrupted')\n"
                                    "print(hac.query({'x': [1]}).to_numpy()['x'].tolist())"],
                                   env=self.environment(), stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        with open(self.m.path("silent.csv"), "w", encoding="utf-8") as writer:  # returns when the reader has opened it
            writer.write("x\n1\n")
            writer.flush()
            time.sleep(0.7)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=30)[0], "interrupted\n[1]\n")

    def test_interrupted_before_the_first_byte(self):
        """Ctrl-C while nobody has written to a pipe whose name says no format; other threads run meanwhile."""
        for name in ("/dev/fd/{}", "/proc/self/fd/{}"):
            reader, writer = os.pipe()
            code = ("import hac, threading, time\nticks = []\n"
                    "threading.Thread(target=lambda: [(ticks.append(1), time.sleep(0.02)) for _ in range(50)], daemon=True).start()\n"
                    f"try: hac.query({name.format(reader)!r}, select='count() as n')\n"
                    "except KeyboardInterrupt: print('interrupted', len(ticks) > 10)\n"
                    "print(hac.query({'x': [1]}).to_numpy()['x'].tolist())")
            process = subprocess.Popen([sys.executable, "-c", code], env=self.environment(), stdout=subprocess.PIPE, text=True, pass_fds=(reader,))
            self.addCleanup(process.kill)
            time.sleep(1.5)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.communicate(timeout=30)[0], "interrupted True\n[1]\n")
            os.close(reader)
            os.close(writer)

    def test_words(self):
        """The words and numbers of the package are those of <hac/query.h>."""
        from hac import _hac
        header = (Path(__file__).resolve().parents[2] / "base/include/hac/query.h").read_text()
        for words, prefix, none in ((_hac.FORMATS, "HAC_INPUT_", ("NONE", "TABLE")), (_hac.ENGINES, "HAC_ENGINE_", ())):
            numbers = {name.lower(): int(number) for name, number in re.findall(rf"\b{prefix}([A-Z0-9_]+) = (\d+)", header) if name not in none}
            self.assertEqual(words, numbers)
        self.assertIn(f"#define HAC_QUERY_FILES_MAX {_hac.FILES_MAX}\n", header)

    def test_wrong(self):
        import hac
        Path(self.m.path("a.csv")).write_text("x\n1\n")
        Path(self.m.path("b.tsv")).write_text("x\n1\n")
        Path(self.m.path("what")).write_bytes(bytes(range(100)))
        Path(self.m.path("late.csv")).write_text("x\n" + "1\n" * 100000 + "oops\n")
        Path(self.m.path("damaged.parquet")).write_bytes(b"PAR1nonsensePAR1")
        for statement, tables, error, says in (
                ("SELECT a FROM t", {"t": {"x": [1]}}, hac.InvalidError, "SQL: character 8: unknown column 'a'"),
                ("SELECT x FROM t WHERE", {"t": {"x": [1]}}, hac.InvalidError, "SQL: character"),
                ("SELECT x FROM u", {"t": {"x": [1]}}, hac.InvalidError, "the tables are t"),
                ("SELECT x FROM u", {}, hac.InvalidError, "u=table"),
                ("SELECT x FROM t JOIN u ON 1", {"t": {"x": [1]}}, hac.InvalidError, "joins"),
                ("INSERT INTO t VALUES (1)", {}, hac.InvalidError, "SQL"),
                ("", {}, hac.InvalidError, "SQL"),
                ("SELECT x FROM t UNION ALL SELECT x FROM u", {"t": {"x": [1]}, "u": {"x": [2]}}, hac.UnsupportedError, "concatenate"),
                (f"SELECT x FROM '{self.m.path('nope.csv')}'", {}, FileNotFoundError, "nope.csv"),
                (f"SELECT x FROM '{self.m.path('nope*.csv')}'", {}, FileNotFoundError, "nope"),
                (f"SELECT x FROM '{self.m.path('what')}'", {}, hac.InvalidError, "format="),
                ("SELECT x FROM t", {"t": [self.m.path("a.csv"), self.m.path("b.tsv")]}, hac.InvalidError, "different formats"),
                ("SELECT x FROM t", {"t": self.m.path("late.csv")}, hac.JobError, "oops"),
                ("SELECT x FROM t", {"t": self.m.path("damaged.parquet")}, hac.Error, "damaged.parquet"),
                ("SELECT x FROM t", {"t": 5}, hac.UnsupportedError, "int is no table")):
            with self.assertRaises(error, msg=statement) as caught:
                hac.sql(statement, **tables)
            self.assertIn(says, str(caught.exception), statement)
        for options, error in (({"nope": 1}, hac.InvalidError), ({"format": "nope"}, hac.InvalidError), ({"engine": "x"}, hac.InvalidError),
                               ({"input": {"nope": 1}}, hac.InvalidError), ({"select": "x"}, hac.InvalidError)):
            with self.assertRaises(error, msg=str(options)):
                hac.sql(f"SELECT x FROM '{self.m.path('a.csv')}'", options)
        with self.assertRaisesRegex(hac.InvalidError, "is for files"):
            hac.query({"x": [1]}, format="csv")
        for options in ({"limit": -1}, {"limit": 1 << 64}, {"offset": -1}, {"priority": 1 << 40}, {"memory_limit": -1}):
            with self.assertRaisesRegex(hac.InvalidError, f"{next(iter(options))} is out of range"):
                hac.query({"x": [1]}, **options)
        with self.assertRaisesRegex(TypeError, "limit is an integer, not 1.5"):
            hac.query({"x": [1]}, limit=1.5)
        with self.assertRaisesRegex(hac.InvalidError, "no option wher; there are select, where, .*engine, devices, priority"):
            hac.query({"x": [1]}, wher="x > 1")
        self.assertEqual(len(hac.query({"x": np.arange(9)}, limit=np.int64(3), offset=np.uint8(1))), 3)
        for job in (10 ** 20, -1):
            with self.assertRaises(hac.NotFoundError):
                hac.why(job)
        with self.assertRaises(ValueError):
            hac.query({"x": [1]}, where="x = 1\0")


class Futures(PackageTest):
    def test_futures(self):
        import concurrent.futures
        import hac
        arrays = [np.random.default_rng(seed).integers(0, 1000, 20000, "int64") for seed in range(40)]
        futures = [hac.submit(hac.sort, a) for a in arrays]
        done, left = concurrent.futures.wait(futures, 60)
        self.assertEqual((len(done), len(left)), (40, 0))
        for future, a in zip(futures, arrays):
            self.assertTrue((future.result() == np.sort(a)).all())
        with self.assertRaises(hac.InvalidError):
            hac.submit(hac.sql, "SELECT").result(60)

    def test_asyncio(self):
        import asyncio
        import hac

        async def several():
            return await asyncio.gather(*(hac.submit(hac.query, {"x": [i, i]}, select="sum(x) as s") for i in range(10)))
        self.assertEqual([result.to_numpy()["s"][0] for result in asyncio.run(several())], [2 * i for i in range(10)])

    def test_cancelled_pipe(self):
        """cancel() ends what waits for a pipe."""
        import hac
        os.mkfifo(self.m.path("silent.csv"))
        future = hac.submit(hac.query, self.m.path("silent.csv"), select="count() as n")
        with open(self.m.path("silent.csv"), "w", encoding="utf-8"):
            time.sleep(0.3)
            self.assertTrue(future.cancel())
            with self.assertRaises(hac.CancelledError):
                future.result(30)
        self.assertFalse(future.cancel())


class Leaks(PackageTest):
    @needs("pyarrow")
    def test_queries(self):
        import hac
        import pyarrow
        from python_life_test import Leaks as flat
        columns = {"x": np.arange(1000), "s": np.array(["a", "b"] * 500)}
        table = pyarrow.table(columns)

        def once():
            result = hac.sql("SELECT s, sum(x) AS n FROM t GROUP BY s", t=table)
            result.to_arrow(), result.to_numpy()
            hac.query(columns, where="x > 5")
            try:
                hac.query(columns, where="y > 5")
            except hac.InvalidError:
                pass
        flat.flat(self, once, 800, 200)


if __name__ == "__main__":
    main()
