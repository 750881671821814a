#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ADBC driver through the driver manager from PyPI, Polars and pandas. DuckDB answers the same statements."""
import csv
import gzip
import os
import random
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, SANITIZED, SharedMachineTest, main  # noqa: E402

sys.path.insert(0, str(BUILD.parent / "python"))
try:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import adbc_driver_manager
    import adbc_driver_manager.dbapi as dbapi
except ImportError:
    pa = None
try:
    import duckdb
except ImportError:
    duckdb = None
try:
    import polars as pl
except ImportError:
    pl = None
try:
    import pandas as pd
except ImportError:
    pd = None

DRIVER = BUILD / "bindings/adbc/libadbc_driver_hac.so"
CITIES = ["Bonn", "Köln", "Lyon", "Oslo"]


@unittest.skipUnless(pa, "adbc-driver-manager or pyarrow is not there; ./dev setup installs them")
@unittest.skipIf(SANITIZED, "Python cannot load a sanitizer's libhac")
class Adbc(SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = cls.m.root / "tables"
        (cls.folder / "parts").mkdir(parents=True)
        rng = random.Random(11)
        rows = [(rng.choice(CITIES), rng.randrange(1000), round(rng.random() * 100, 2)) for _ in range(20000)]
        with open(cls.folder / "sales.csv", "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([("city", "qty", "price"), *rows])
        cls.table = pa.table({"city": [r[0] for r in rows], "qty": pa.array([r[1] for r in rows], pa.int64()),
                              "price": [r[2] for r in rows]})
        for i in range(3):
            pq.write_table(cls.table.slice(i * 7000, 7000), cls.folder / "parts" / f"{i}.parquet")
        with gzip.open(cls.folder / "packed.csv.gz", "wb") as file:
            file.write((cls.folder / "sales.csv").read_bytes())
        (cls.folder / "doc.json").write_text('[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]')
        (cls.folder / "notes.xyz").write_text("no table")

    def connect(self, **options):
        return dbapi.connect(driver=str(DRIVER), autocommit=True,
                             db_kwargs={"uri": str(self.folder), "socket": str(self.m.socket), **options})

    def cursor(self, **options):
        connection = self.connect(**options)
        self.addCleanup(connection.close)
        cursor = connection.cursor()
        self.addCleanup(cursor.close)
        return cursor

    def duck(self, text, table=None):
        """DuckDB's rows of a statement, whose files are in the folder."""
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            connection = duckdb.connect()
            if table is not None:
                connection.register("bound", table)
            return connection.sql(text).fetchall()
        finally:
            os.chdir(here)

    def test_statements(self):
        """A file, Parquet files of a folder and a pattern, a compressed file, a JSON document."""
        cursor = self.cursor()
        group = "SELECT city, sum(qty)::BIGINT AS q, count(*) AS n, max(price) AS p FROM {} GROUP BY city ORDER BY city"
        for source, twin in (("'sales.csv'", None), ("'packed.csv.gz'", None), ("'parts'", "'parts/*.parquet'"),
                             ("'parts/[01]*'", "'parts/[01]*.parquet'"), (f"'{self.folder}/sales.csv'", None)):
            cursor.execute(group.format(source).replace("::BIGINT", ""))
            if duckdb:
                self.assertEqual([tuple(row) for row in cursor.fetchall()], self.duck(group.format(twin or source)), source)
        for name in ("odd.csv.GZ", "odd.csv"):  # compressed, by the name in any case or by the first bytes
            (self.folder / name).write_bytes(gzip.compress(b"x\n1\n2\n"))
            self.addCleanup((self.folder / name).unlink)
            cursor.execute(f"SELECT sum(x) AS s FROM '{name}'")
            self.assertEqual(cursor.fetchall(), [(3,)], name)
        cursor.execute("SELECT a, b FROM 'doc.json' ORDER BY a DESC")
        self.assertEqual([tuple(r) for r in cursor.fetchall()], [(2, "y"), (1, "x")])
        cursor.execute("SELECT * FROM 'sales.csv' WHERE qty < 0")
        table = cursor.fetch_arrow_table()
        self.assertEqual((table.num_rows, table.column_names), (0, ["city", "qty", "price"]))

    def test_bound_tables(self):
        """One batch, a table of many chunks, and a frame are sources."""
        text = "SELECT city, sum(qty) AS q FROM bound WHERE price > 50 GROUP BY city ORDER BY city"
        frames = [self.table, self.table.combine_chunks().to_batches()[0], pa.concat_tables([self.table.slice(0, 9), self.table.slice(9)])]
        if pl:
            frames.append(pl.from_arrow(self.table))
        wanted = None
        for frame in frames:
            cursor = self.cursor()
            cursor.execute(text, frame)
            got = [tuple(row) for row in cursor.fetchall()]
            wanted = wanted or (self.duck(text.replace("sum(qty)", "sum(qty)::BIGINT"), self.table) if duckdb else got)
            self.assertEqual(got, wanted)
        cursor = self.cursor()
        cursor.adbc_statement.set_options(**{"hac.bind.name": "t"})
        cursor.execute("SELECT count(*) AS n FROM t", self.table)
        self.assertEqual(cursor.fetchall()[0][0], 20000)

    def test_many_results(self):
        """A result is read while others have run on the same connection, and is read whole after all is closed."""
        connection = self.connect()
        cursors = [connection.cursor() for _ in range(4)]
        for i, cursor in enumerate(cursors):
            cursor.execute(f"SELECT qty + {i} AS q FROM 'sales.csv'")
        for i, cursor in reversed(list(enumerate(cursors))):
            table = cursor.fetch_arrow_table()
            self.assertEqual(sum(table["q"].to_pylist()), sum(self.table["qty"].to_pylist()) + i * 20000)
            cursor.close()
        connection.close()
        with self.connect() as other:  # takes the memory that the connection gives back
            for _ in range(4):
                with other.cursor() as cursor:
                    cursor.execute("SELECT qty * 0 AS q FROM 'sales.csv'")
                    self.assertEqual(sum(cursor.fetch_arrow_table()["q"].to_pylist()), 0)
        self.assertEqual(sum(table["q"].to_pylist()), sum(self.table["qty"].to_pylist()))

    def test_errors(self):
        cursor = self.cursor()
        with self.assertRaises(adbc_driver_manager.ProgrammingError) as caught:
            cursor.execute("SELECT city FROM 'sales.csv' WHERE nowhere > 1")
        self.assertIn("SQL: character 36", str(caught.exception))
        self.assertEqual(caught.exception.sqlstate, "42000")
        self.assertEqual(dict(caught.exception.details), {b"hac.status": b"HAC_INVALID", b"hac.character": b"36"})
        for text, words in (("SELECT 1 FROM a JOIN b", "there are no joins"), ("SELECT * FROM 'none.csv'", "none.csv"),
                            ("SELECT * FROM 'notes.xyz'", "the suffix says no format"), ("DROP TABLE t", "there are no tables"),
                            ("SELECT * FROM '*.none'", "no file matches"), ("", "SQL")):
            with self.assertRaises(adbc_driver_manager.Error) as caught:
                cursor.execute(text)
            self.assertIn(words, str(caught.exception))
        with self.assertRaisesRegex(adbc_driver_manager.NotSupportedError, "column x has Arrow format \"\\+l\", a list"):
            cursor.execute("SELECT x FROM bound", pa.table({"x": [[1]]}))
        with self.assertRaisesRegex(adbc_driver_manager.Error, "nothing is ingested"):
            cursor.adbc_ingest("t", self.table)
        with self.assertRaisesRegex(adbc_driver_manager.OperationalError, "cannot connect to /nowhere"):
            dbapi.connect(driver=str(DRIVER), autocommit=True, db_kwargs={"socket": "/nowhere/hacd.sock"})
        with self.assertRaisesRegex(adbc_driver_manager.Error, "no option 'colour'"):
            self.connect(colour="red")
        cursor.execute("SELECT count(*) AS n FROM 'sales.csv'")  # the connection lives on
        self.assertEqual(cursor.fetchone()[0], 20000)

    def test_options(self):
        (self.folder / "semi.csv").write_text("a;b\n1;2\n3;NA\n")
        self.addCleanup((self.folder / "semi.csv").unlink)
        cursor = self.cursor()
        cursor.adbc_statement.set_options(**{"hac.input.delimiter": ";", "hac.input.null_text": "NA"})
        cursor.execute("SELECT a, b FROM 'semi.csv' ORDER BY a")
        self.assertEqual([tuple(r) for r in cursor.fetchall()], [(1, 2), (3, None)])
        cursor.adbc_statement.set_options(**{"hac.schema": "x:string,y:string", "hac.input.header": "false"})
        cursor.execute("SELECT x FROM 'semi.csv' ORDER BY x")
        self.assertEqual([r[0] for r in cursor.fetchall()], ["1", "3", "a"])
        uri = f"hac:{self.folder}?socket={self.m.socket}"
        with dbapi.connect(driver=str(DRIVER), autocommit=True, db_kwargs={"uri": uri}) as connection:
            self.assertEqual(connection.adbc_get_table_schema("sales.csv").names, ["city", "qty", "price"])

    def test_catalogue(self):
        connection = self.connect()
        self.addCleanup(connection.close)
        schema = connection.adbc_get_table_schema("sales.csv")
        self.assertEqual([str(t) for t in schema.types], ["string", "int64", "double"])
        self.assertEqual(connection.adbc_get_table_schema("parts").names, ["city", "qty", "price"])
        with self.assertRaises(adbc_driver_manager.Error):
            connection.adbc_get_table_schema("nowhere.csv")
        self.assertEqual(connection.adbc_get_table_types(), ["file"])
        info = connection.adbc_get_info()
        self.assertEqual((info["vendor_name"], info["driver_adbc_version"], info[3]), ("hac", 1001000, True))  # 3: has SQL
        objects = connection.adbc_get_objects().read_all()
        objects.validate(full=True)
        (catalog,) = objects.to_pylist()
        (db,) = catalog["catalog_db_schemas"]
        tables = {t["table_name"]: t for t in db["db_schema_tables"]}
        self.assertEqual(sorted(tables), ["doc.json", "packed.csv.gz", "parts/0.parquet", "parts/1.parquet", "parts/2.parquet",
                                          "sales.csv"])
        columns = [(c["column_name"], c["ordinal_position"], c["xdbc_type_name"]) for c in tables["sales.csv"]["table_columns"]]
        self.assertEqual(columns, [("city", 1, "u"), ("qty", 2, "l"), ("price", 3, "g")])

    def test_bound_once(self):
        cursor = self.cursor()
        text = "select sum(x) as s from bound"
        cursor.execute(text, pa.table({"x": [1, 2]}))
        self.assertEqual(cursor.fetchall(), [(3,)])
        with self.assertRaisesRegex(dbapi.Error, "the bound table bound was read by the query before; bind it again"):
            cursor.execute(text)
        cursor.execute(text, pa.table({"x": [5]}))
        self.assertEqual(cursor.fetchall(), [(5,)])

    def test_latin_1(self):
        """Arrow's strings and names are UTF-8, whatever the bytes of a file are."""
        folder = self.m.root / "latin"
        folder.mkdir()
        (folder / "l1.csv").write_bytes("straße,x,gut\nKöln,1,a\nBonn,2,b\n".encode("latin-1"))
        cursor = self.cursor(uri=str(folder))
        cursor.execute("select * from 'l1.csv'")
        table = cursor.fetch_arrow_table()
        table.validate(full=True)
        self.assertEqual(table.to_pydict(),
                         {"stra\ufffde": ["Köln".encode("latin-1"), b"Bonn"], "x": [1, 2], "gut": ["a", "b"]})
        connection = self.connect(uri=str(folder))
        self.addCleanup(connection.close)
        objects = connection.adbc_get_objects().read_all().to_pylist()
        table = objects[0]["catalog_db_schemas"][0]["db_schema_tables"][0]
        self.assertEqual([c["column_name"] for c in table["table_columns"]], ["stra\ufffde", "x", "gut"])

    def test_catalogue_filters(self):
        connection = self.connect()
        self.addCleanup(connection.close)

        def tables(**filters):
            found = connection.adbc_get_objects(**filters).read_all().to_pylist()
            return [(t["table_name"], [c["column_name"] for c in t["table_columns"] or []])
                    for c in found for d in c["catalog_db_schemas"] or [] for t in d["db_schema_tables"] or []]
        self.assertEqual(tables(table_name_filter="parts/_.par%", depth="tables"), [(f"parts/{i}.parquet", []) for i in range(3)])
        self.assertEqual(tables(table_name_filter="sales.csv", column_name_filter="%i%"), [("sales.csv", ["city", "price"])])
        self.assertEqual(tables(table_types_filter=["view"]), [])
        self.assertEqual(tables(catalog_filter="other"), [])
        self.assertEqual(tables(depth="catalogs"), [])

    def test_cancel(self):
        """Another thread cancels a query that waits for its input."""
        pipe = self.folder / "endless.csv"
        os.mkfifo(pipe)
        self.addCleanup(pipe.unlink)
        cursor = self.cursor()
        writer = os.open(pipe, os.O_RDWR)
        self.addCleanup(os.close, writer)
        os.write(writer, b"a,b\n1,2\n")
        stop = threading.Event()

        def cancel():
            while not stop.wait(0.05):
                try:
                    cursor.adbc_cancel()
                except adbc_driver_manager.Error:
                    pass  # the query has not begun
        thread = threading.Thread(target=cancel)
        thread.start()
        try:
            with self.assertRaises(adbc_driver_manager.Error) as caught:
                cursor.execute("SELECT sum(a) AS s FROM 'endless.csv'")
        finally:
            stop.set()
            thread.join()
        self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.CANCELLED)
        cursor.execute("SELECT count(*) AS n FROM 'sales.csv'")  # a later query is not cancelled
        self.assertEqual(cursor.fetchone()[0], 20000)

    def test_cancel_a_stream(self):
        """Another thread cancels a query whose bound stream has no end."""
        def batches():
            while True:
                time.sleep(0.01)
                yield pa.record_batch({"a": [1, 2]})
        cursor = self.cursor()
        cursor.adbc_statement.set_sql_query("SELECT sum(a) AS s FROM bound")
        cursor.adbc_statement.bind_stream(pa.RecordBatchReader.from_batches(pa.schema([("a", "int64")]), batches()))
        stop = threading.Event()

        def cancel():
            while not stop.wait(0.1):
                try:
                    cursor.adbc_statement.cancel()
                except adbc_driver_manager.Error:
                    pass  # the query has not begun
        thread = threading.Thread(target=cancel)
        thread.start()
        try:
            with self.assertRaises(adbc_driver_manager.Error) as caught:
                cursor.adbc_statement.execute_query()
        finally:
            stop.set()
            thread.join()
        self.assertEqual(caught.exception.status_code, adbc_driver_manager.AdbcStatusCode.CANCELLED, caught.exception)

    def test_libraries(self):
        """polars.read_database and pandas.read_sql."""
        text = "SELECT city, sum(qty) AS q FROM 'sales.csv' GROUP BY city ORDER BY city"
        wanted = {c: sum(q for d, q in zip(self.table["city"].to_pylist(), self.table["qty"].to_pylist()) if d == c) for c in CITIES}
        connection = self.connect()
        self.addCleanup(connection.close)
        if pl:
            frame = pl.read_database(text, connection)
            self.assertEqual(dict(frame.rows()), wanted)
        if pd:
            frame = pd.read_sql(text, connection)
            self.assertEqual(dict(zip(frame["city"], frame["q"])), wanted)

    def test_manifest(self):
        """The driver is found by its name through a manifest."""
        text = (BUILD / "bindings/adbc/hac.toml").read_text()
        place = self.m.work / "drivers"
        place.mkdir()
        (place / "hac.toml").write_text("\n".join(f'shared = "{DRIVER}"' if line.startswith("shared") else line
                                                  for line in text.splitlines()))
        os.environ["ADBC_DRIVER_PATH"] = str(place)
        self.addCleanup(os.environ.pop, "ADBC_DRIVER_PATH")
        with dbapi.connect(driver="hac", autocommit=True, db_kwargs={"socket": str(self.m.socket)}) as connection:
            self.assertEqual(connection.adbc_get_info()["driver_name"], "hac ADBC driver")


if __name__ == "__main__":
    main()
