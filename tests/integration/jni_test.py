#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""org.hac in a JVM, checked by -Xcheck:jni: its own tests (bindings/jni/tests/HacTest.java), and queries whose
results are compared with DuckDB's."""
import os
import random
import re
import subprocess
import sys
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
from machine import BUILD, SharedMachineTest, main  # noqa: E402

from duck import WHY_NOT, connect, duckdb  # noqa: E402

try:
    import pyarrow.parquet
except ImportError:
    pyarrow = None

JNI = BUILD / "bindings" / "jni"
# Warnings of -Xcheck:jni go to standard output, which must be what the program prints and nothing else.
JAVA = ["java", "-Xcheck:jni", "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC",
        f"-Djava.library.path={JNI}", "-cp", f"{JNI}/hac.jar:{JNI}/hac_jni_test.jar", "HacTest"]
# No descriptors but our own: a JVM that examines its container opens the files of its cgroup now and then.
FIXED_HEAP = ("-Xms48m", "-Xmx48m", "-XX:+AlwaysPreTouch", "-XX:-UseContainerSupport")


def environment_of(machine):
    """In a sanitizer's build its libraries are loaded first; the JVM uses SIGSEGV itself, and never frees everything."""
    if "HAC_TEST_PRELOAD" not in os.environ:
        return machine.environment
    options = os.environ.get("ASAN_OPTIONS", "") + ":handle_segv=0:allow_user_segv_handler=1:detect_leaks=0"
    return {**machine.environment, "LD_PRELOAD": os.environ["HAC_TEST_PRELOAD"], "ASAN_OPTIONS": options}


def java(machine, *words, options=(), timeout=120):
    result = subprocess.run([JAVA[0], *options, *JAVA[1:], *map(str, words)], env=environment_of(machine), capture_output=True, text=True,
                            timeout=timeout, check=False)
    if result.returncode != 0 or result.stderr != "":
        raise AssertionError(f"java {' '.join(map(str, words))} ended with {result.returncode}:\n{result.stdout[-2000:]}"
                             f"{result.stderr[-4000:]}\n{machine.log()[-2000:]}")
    return result.stdout


class Own(SharedMachineTest):
    """Each test of HacTest.java."""

    def passes(self, *names, lines=0, options=()):
        out = java(self.m, *names, options=options).splitlines()
        self.assertEqual([line for line in out if line.startswith("passed ")], [f"passed {name}" for name in names])
        self.assertEqual(len(out), len(names) + lines, out)  # silence of -Xcheck:jni

    def test_values(self):
        self.passes("internals", "types", "text", "tables", "serial", "sorts")

    def test_errors(self):
        self.passes("errors", "closing", "questions")

    def test_runs(self):
        self.passes("runs")

    @unittest.skipIf(pyarrow is None, "no pyarrow")
    def test_convert(self):
        rows = [(n, f"s{n % 7}") for n in range(3000)]
        Path(self.m.path("c.csv")).write_text("n,s\n" + "".join(f"{n},{s}\n" for n, s in reversed(rows)))
        java(self.m, "convert", self.m.path("c.csv"), self.m.path("c.parquet"))
        table = pyarrow.parquet.read_table(self.m.path("c.parquet")).to_pydict()
        self.assertEqual([(int(n), s) for n, s in zip(table["n"], table["s"])], sorted(rows, key=lambda row: str(row[0])))

    def test_opsplit(self):
        """The bytes of hacctl."""
        Path(self.m.path("x.csv")).write_text("x,k\n" + "".join(f"{i / 7},{i % 50}\n" for i in range(2000)))
        Path(self.m.path("sums.yaml")).write_text(
            "name: sums\ninputs: {i: {parse: csv, schema: 'x:f64,k:i64'}}\noperators:\n"
            "  - reduce_by_key: {key: i.k, in: i.x, keys: 50, out: sums}\noutputs: {sums: {columns: {s: sums}}}\n")
        self.m.good("opsplit", "run", "sums.yaml", "--input", "i=x.csv", "-o", "hacctl")
        java(self.m, "opsplit", self.m.path("sums.yaml"), "i", self.m.path("x.csv"), self.m.path("java"))
        files = [{p.name: p.read_bytes() for p in Path(self.m.path(name)).iterdir()} for name in ("hacctl", "java")]
        self.assertEqual(files[0], files[1])
        self.assertEqual(len(files[0]), 1)

    def test_fifo(self):
        """Nobody writes to it: the test must not wait for it."""
        os.mkfifo(self.m.path("pipe.csv"))
        with self.assertRaisesRegex(AssertionError, "no file with a size"):
            java(self.m, "print", self.m.path("pipe.csv"), "select", "*")


class Threads(SharedMachineTest):
    def test_threads(self):
        Own.passes(self, "threads")

    def test_interrupt(self):
        Own.passes(self, "interrupt")


class Leaks(SharedMachineTest):
    def test_leaks(self):
        Own.passes(self, "leaks", lines=1, options=FIXED_HEAP)


# ---- comparisons ----

def value(kind, text):
    """What HacTest printed, as DuckDB has it."""
    if text == "null":
        return None
    if kind == "string":
        return bytes.fromhex(text).decode()
    if kind in ("f32", "f64"):
        return float.fromhex(text) if text not in ("NaN", "Infinity", "-Infinity") else float(text.lower())
    if kind == "bool":
        return text == "true"
    if kind.startswith("decimal"):
        return Decimal(text)
    if kind == "date":
        return text
    return int(text)


def read(out):
    """(names, rows)"""
    lines = [line.split("\t")[:-1] for line in out.split("\n")[:-1]]
    columns = [re.fullmatch(r"(.*):([a-z0-9(),]+)", column).groups() for column in lines[0]]
    return [n for n, _ in columns], [tuple(value(kind, text) for (_, kind), text in zip(columns, line))
                                     for line in lines[1:]]


def same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (a != a and b != b) or abs(a - b) <= 1e-12 * max(abs(a), abs(b))
    return a == b


SCHEMA = "k:i32,b:bool,small:i8,big:u64,x:f64,y:f32,day:date,moment:timestamp,price:decimal(12,2),city:string"
KINDS = {"k": "INTEGER", "b": "BOOLEAN", "small": "TINYINT", "big": "UBIGINT", "x": "DOUBLE", "y": "FLOAT", "day": "DATE",
         "moment": "TIMESTAMP", "price": "DECIMAL(12,2)", "city": "VARCHAR"}
# hac's words, DuckDB's where they differ; dates and timestamps come as text and microseconds.
QUERIES = (
    ({"select": "*", "order-by": "k, big, x, price"},
     "SELECT k, b, small, big, x, y, day::VARCHAR, epoch_us(moment), price, city FROM t ORDER BY k, big, x, price"),
    ({"group-by": "city", "select": "count() as n, sum(price) as p, avg(x) as a, min(day) as d, max(moment) as m",
      "order-by": "city"},
     "SELECT city, count(*), sum(price), avg(x), min(day)::VARCHAR, epoch_us(max(moment)) FROM t GROUP BY city ORDER BY city"),
    ({"where": "price > 500 and city like 'B%'", "select": "k, price * 2 as p, upper(city) as c", "order-by": "k, p, c",
      "limit": "50"},
     "SELECT k, price * 2 AS p, upper(city) AS c FROM t WHERE price > 500 AND city LIKE 'B%' ORDER BY k, p, c LIMIT 50"),
    ({"where": "k < 0", "select": "city"}, "SELECT city FROM t WHERE k < 0"),
    ({"select": "sum(big) as s, count(distinct city) as c"}, "SELECT sum(big), count(DISTINCT city) FROM t"),
)


def printed(machine, file, queries, **common):
    """What each query of a file gives, by one JVM."""
    words = [["print" if i == 0 else "--", file, *(word for pair in {**common, **query}.items() for word in pair)]
             for i, query in enumerate(queries)]
    return re.split(r"(?m)^--\n", java(machine, *(word for query in words for word in query)))


def row(source):
    def maybe(text):
        return "" if source.random() < 0.1 else str(text)
    return ",".join((
        maybe(source.randrange(1000)), maybe(source.choice(("true", "false"))), maybe(source.randrange(-128, 128)),
        maybe(source.randrange(2**40)), maybe(repr(source.gauss(0, 1e3))), maybe(source.randrange(1000) / 8),
        maybe(f"20{source.randrange(10, 30)}-0{source.randrange(1, 10)}-1{source.randrange(10)}"),
        maybe(f"2020-01-01 12:34:{source.randrange(10, 60)}.{source.randrange(10**6):06}"),
        maybe(f"{source.randrange(10**5) / 100:.2f}"), maybe(source.choice(("Bern", "Zürich", '"Biel, ""BE"""', '""')))))


@unittest.skipIf(duckdb is None, WHY_NOT)
class Compared(SharedMachineTest):
    def assert_same(self, got, wanted):
        rows = got[1]
        self.assertEqual(len(rows), len(wanted))
        for a, b in zip(rows, wanted):
            self.assertTrue(len(a) == len(b) and all(map(same, a, b)), (a, b))

    def table(self, rows):
        """A csv file of that many rows, and DuckDB with it as t."""
        source = random.Random(rows)
        lines = [",".join(KINDS)] + [row(source) for _ in range(rows)]
        Path(self.m.path("t.csv")).write_text("\n".join(lines) + "\n", encoding="utf-8")
        connection = connect()
        connection.execute("CREATE TABLE t AS SELECT * FROM read_csv(?, header = true, columns = ?, nullstr = '', "
                           "allow_quoted_nulls = false)", [self.m.path("t.csv"), KINDS])
        return connection

    def compare(self, connection, file, rows, **common):
        queries = QUERIES[rows > 2000:]
        outs = printed(self.m, file, [query for query, _ in queries], **common)
        self.assertEqual(len(outs), len(queries))
        for (_, sql), out in zip(queries, outs):
            with self.subTest(rows=rows, sql=sql):
                self.assert_same(read(out), connection.execute(sql).fetchall())

    def test_csv(self):
        for rows in (0, 1, 2000, 100000):
            self.compare(self.table(rows), self.m.path("t.csv"), rows, schema=SCHEMA)

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed: no Parquet file is queried from Java")
    def test_parquet(self):
        """The same rows in a Parquet file, whole and by row group."""
        for rows, group in ((0, 10), (1, 10), (2000, 700), (100000, 30000)):
            connection = self.table(rows)
            file = self.m.path("t.parquet")
            pyarrow.parquet.write_table(connection.sql("SELECT * FROM t").to_arrow_table(), file, row_group_size=group)
            self.compare(connection, file, rows)
            self.by_group(file, rows)

    def by_group(self, file, rows):
        """Each row group's result is DuckDB's of those rows."""
        out = java(self.m, "groups", file, "group-by", "city", "select", "count() as n, sum(k) as s", "order-by", "city")
        count, *results = re.split(r"(?m)^(?=city:string)", out)
        groups = pyarrow.parquet.ParquetFile(file).num_row_groups
        self.assertEqual((count, len(results)), (f"{groups} row groups\n", groups))
        connection = connect()
        for i, result in enumerate(results):
            part = pyarrow.parquet.ParquetFile(file).read_row_group(i, columns=["city", "k"])
            connection.register("part", part)
            wanted = connection.execute("SELECT city, count(*), sum(k) FROM part GROUP BY city ORDER BY city").fetchall()
            with self.subTest(rows=rows, row_group=i):
                self.assert_same(read(result), wanted)


if __name__ == "__main__":
    main()
