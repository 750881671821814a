#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One query by every door of hac: the command line, C, C++, two ranks of MPI, Python, ADBC and Java give the same
values, bit by bit, and those of Python's own arithmetic; so does Spark, where build/spark has it. Sums of floats are exact,
so that neither devices nor ranks matter. Doors that this build does not have are named. And a result goes through three flows
without a copy."""
import collections
import math
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import mpi_test  # noqa: E402
from machine import BUILD, SANITIZED, SOURCE, TWO_DEVICES, SharedMachineTest, main  # noqa: E402

PACKAGE, ORACLES, SPARK = BUILD / "bindings" / "python", SOURCE / "build" / "python", SOURCE / "build" / "spark"
JNI, ADBC = BUILD / "bindings" / "jni", BUILD / "bindings" / "adbc" / "libadbc_driver_hac.so"
SCHEMA, WHERE, GROUP, SELECT, ORDER = "k:i64,x:f64", "k > 100", "k % 8 as g", "count() as n, sum(k) as s, sum(x) as t, avg(x) as a", "g"
SQL = f"SELECT k % 8 AS g, count(*) AS n, sum(k) AS s, sum(x) AS t, avg(x) AS a FROM '{{}}' WHERE {WHERE} GROUP BY g ORDER BY g"
# In a process of its own, with the machine's environment: prints the rows of each column's values.
BY_PYTHON = """import sys; sys.path[:0] = sys.argv[1:3]
import hac
table = hac.query(sys.argv[3], schema=sys.argv[4], where=sys.argv[5], group_by=sys.argv[6], select=sys.argv[7], order_by=sys.argv[8])
rows = zip(*(column.to_pylist() for column in table.to_arrow().columns))
print("\\n".join(",".join(v.hex() if isinstance(v, float) else str(v) for v in row) for row in rows))"""
BY_ADBC = """import sys; sys.path[:0] = sys.argv[1:2]
import adbc_driver_manager.dbapi as dbapi
with dbapi.connect(driver=sys.argv[2], autocommit=True, db_kwargs={"socket": sys.argv[3]}) as connection, connection.cursor() as cursor:
    cursor.execute(sys.argv[4])
    print("\\n".join(",".join(v.hex() if isinstance(v, float) else str(v) for v in row) for row in cursor.fetchall()))"""

BY_SPARK = """import sys
from hac.spark import HacDataSource
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.driver.memory", "512m").getOrCreate()
spark.dataSource.register(HacDataSource)
read = spark.read.format("hac")
for name, value in zip(("types", "where", "groupBy", "select"), sys.argv[2:6]):
    read = read.option(name, value)
for row in read.load(sys.argv[1]).orderBy(sys.argv[6]).collect():
    print(",".join(v.hex() if isinstance(v, float) else str(v) for v in row))
spark.stop()"""


def importable(*names, path=ORACLES):
    code = "import sys; sys.path.insert(0, sys.argv[1])\n" + "\n".join(f"import {name}" for name in names)
    return subprocess.run([sys.executable, "-c", code, path], capture_output=True, check=False).returncode == 0


class Doors(SharedMachineTest):
    profile = TWO_DEVICES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = random.Random(9)
        cls.rows = [(rng.randrange(1000), rng.uniform(-1, 1) * 10.0 ** rng.randrange(-6, 7)) for _ in range(60000)]
        cls.file = cls.m.root / "doors.csv"
        cls.file.write_text("k,x\n" + "".join(f"{k},{x!r}\n" for k, x in cls.rows))

    def expected(self):
        groups = collections.defaultdict(list)
        for k, x in self.rows:
            if k > 100:
                groups[k % 8].append((k, x))
        return [(g, len(rows), sum(k for k, _ in rows), math.fsum(x for _, x in rows)) for g, rows in sorted(groups.items())]

    def output(self, *command, **environment):
        result = subprocess.run([str(word) for word in command], env={**self.m.environment, **environment}, cwd=self.m.root,
                                capture_output=True, text=True, timeout=240, check=False)
        self.assertEqual(result.returncode, 0, f"{command}: {result}")
        return result.stdout

    @staticmethod
    def rows_of(text, is_hex=False):
        """Of csv without its header, or with floats in hex."""
        number = float.fromhex if is_hex else float
        lines = [line.split(",") for line in text.splitlines()]
        return [(int(g), int(n), int(s), number(t), number(a)) for g, n, s, t, a in (lines if is_hex else lines[1:])]

    def by_java(self):
        import jni_test
        out = jni_test.java(self.m, "print", self.file, "schema", SCHEMA, "where", WHERE, "group-by", GROUP, "select", SELECT,
                            "order-by", ORDER)
        return [tuple(row) for row in jni_test.read(out)[1]]

    def by_ranks(self):
        ranks = mpi_test.RankTest()
        ranks.m = self.m
        out = ranks.good(2, "query", "csv", SCHEMA, "k % 8 as g", SELECT, ORDER, self.half(), program=mpi_test.PROGRAM)
        return self.rows_of(out.decode())

    def by_spark(self, words):
        out = self.output(sys.executable, "-c", BY_SPARK, *words, PYTHONPATH=f"{PACKAGE}:{SPARK}:{ORACLES}", PYSPARK_PYTHON=sys.executable,
                          PYTHONDONTWRITEBYTECODE="1", SPARK_LOCAL_IP="127.0.0.1")
        return self.rows_of("\n".join(line for line in out.splitlines() if line.count(",") == 4), True)

    def half(self):
        """The rows for which `where` is true: mpi_program has no such text."""
        path = self.m.root / "half.csv"
        path.write_text("k,x\n" + "".join(f"{k},{x!r}\n" for k, x in self.rows if k > 100))
        return path

    def test_same_bits(self):
        words = (self.file, SCHEMA, WHERE, GROUP, SELECT, ORDER)
        query = ("--schema", SCHEMA, "--where", WHERE, "--group-by", GROUP, "--select", SELECT, "--order-by", ORDER)
        line = self.m.good("mapreduce", self.file, *query).decode()
        want = self.rows_of(line)
        self.assertEqual([row[:4] for row in want], self.expected())
        doors = {"C": lambda: self.rows_of(self.output(BUILD / "tests" / "door_c", *words)),
                 "C++": lambda: self.rows_of(self.output(BUILD / "tests" / "door_cpp", *words), True)}
        if mpi_test.MPIRUN is not None and mpi_test.PROGRAM.exists():
            doors["two ranks"] = self.by_ranks
        if not SANITIZED and importable("numpy", "pyarrow") and (PACKAGE / "hac" / "_hac.abi3.so").exists():
            doors["Python"] = lambda: self.rows_of(self.output(sys.executable, "-c", BY_PYTHON, PACKAGE, ORACLES, *words), True)
        if not SANITIZED and importable("adbc_driver_manager", "pyarrow") and ADBC.exists():
            doors["ADBC"] = lambda: self.rows_of(self.output(sys.executable, "-c", BY_ADBC, ORACLES, ADBC, self.m.socket,
                                                             SQL.format(self.file)), True)
        if not SANITIZED and (JNI / "hac_jni_test.jar").exists():
            doors["Java"] = self.by_java
        if "Python" in doors and (SPARK / "pyspark").exists() and importable("pyspark.sql.datasource", path=SPARK):
            doors["Spark"] = lambda: self.by_spark(words)
        for name, ask in doors.items():
            with self.subTest(name):
                self.assertEqual([tuple(v.hex() if isinstance(v, float) else v for v in row) for row in ask()],
                                 [tuple(v.hex() if isinstance(v, float) else v for v in row) for row in want])
        missing = {"two ranks", "Python", "ADBC", "Java", "Spark"} - set(doors)
        if missing:
            print(f"NOT TESTED, as they are not there: {', '.join(sorted(missing))}", file=sys.stderr)
        self.assertEqual(self.output(BUILD / "tests" / "door_c", *words), line)

    def test_three_flows_without_a_copy(self):
        """A sort's result becomes a Parquet file, which is queried: libhac copies none of the bytes in between, and no job
        reads its input from anywhere but the pool."""
        header, answer, counts, jobs = self.output(BUILD / "tests" / "chain").splitlines()
        keys = [(i * 2654435761 & 0xffffffff) >> 4 for i in range(1 << 20)]
        want = {"n": len(keys), "s": sum(keys), "m": sum(k % 7 for k in keys), "a": min(keys), "b": max(keys)}
        self.assertEqual(dict(zip(header.split(","), map(int, answer.split(",")))), want)
        passed_on, copied = map(int, counts.split())
        self.assertGreater(passed_on, 5 << 20)
        self.assertEqual(copied, 0)
        for job in jobs.split():
            self.assertEqual(self.m.json("show", job)["receipt"]["data_path"], "pool memory", job)


if __name__ == "__main__":
    main()
