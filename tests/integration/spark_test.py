#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hac and Spark: `hacctl pipe` as the command of RDD.pipe, beside plain Python; org.hac in Spark's JVM, through PySpark's
gateway, and bindings/jni/examples/RowGroups.scala as a job of Spark, both beside the same query in Spark itself; hac.spark, the source of PySpark, beside Spark's own readers.
Needs pyspark in build/spark, with its Scala compiler."""
import collections
import json
import os
import random
import shlex
import subprocess
import sys
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
from machine import BUILD, HACCTL, SOURCE, SharedMachineTest, main  # noqa: E402

try:
    import pyarrow.parquet
except ImportError:
    pyarrow = None

SPARK = SOURCE / "build" / "spark"
JNI = BUILD / "bindings" / "jni"
PACKAGE = BUILD / "bindings" / "python"
JARS = SPARK / "pyspark" / "jars"
ROWS = 4000
WHY_NOT = ("Spark is not installed: nothing is run in its JVM. It is 300 MB: python3 -m pip install --target "
           "build/spark pyspark")
SUBMIT = ("--master", "local[2]", "--driver-memory", "512m", "--driver-class-path", f"{JNI}/hac.jar",
          "--driver-library-path", str(JNI), "--conf", "spark.ui.enabled=false")
QUERY = {"schema": "k:i32,x:i64,city:string", "where": "k > 100", "groupBy": "city", "orderBy": "city",
         "select": "count() as n, sum(x) as s, max(k) as m"}
SQL = "SELECT city, count(*), sum(x), max(k) FROM t WHERE k > 100 GROUP BY city ORDER BY city"


def in_spark(file):
    """In a process of its own: prints both results."""
    sys.path.insert(0, str(SPARK))
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.read.csv(file, header=True, schema="k INT, x BIGINT, city STRING").createOrReplaceTempView("t")
    wanted = [list(row) for row in spark.sql(SQL).collect()]
    hac = spark._jvm.org.hac
    query = hac.HacQuery()
    for name, value in QUERY.items():
        getattr(query, name)(value)
    client = hac.HacClient.connect()
    path = spark._jvm.java.nio.file.Path.of(file, spark.sparkContext._gateway.new_array(spark._jvm.String, 0))
    files = spark.sparkContext._gateway.new_array(spark._jvm.java.nio.file.Path, 1)
    files[0] = path
    result = client.query(query, files)
    got = [[column.get(row) for column in result.columns()] for row in range(result.rows())]
    result.close()
    client.close()
    spark.stop()
    print(json.dumps({"got": got, "wanted": wanted}))


def in_pipe(file, hacctl):
    """In a process of its own: the words of a file, counted by `hacctl pipe` on each partition and on the partitions
    that Spark makes by word; and a query of csv."""
    sys.path.insert(0, str(SPARK))
    from pyspark.sql import SparkSession
    spark = SparkSession.builder.getOrCreate()
    context = spark.sparkContext
    context.setLogLevel("ERROR")
    pipe = shlex.quote(hacctl) + " --quiet pipe "
    env = {name: value for name, value in os.environ.items() if name.startswith(("HAC_", "XDG_", "OCL_ICD_", "PATH"))}
    mapped = context.textFile(file, 6).pipe(pipe + "--parse words --group-by word --select 'count() as n'", env, checkCode=True)
    by_word = mapped.map(lambda line: tuple(line.split("\t"))).partitionBy(3).map("\t".join)
    counted = by_word.pipe(pipe + "--parse tsv --schema w:string,n:i64 --group-by w --select 'sum(n) as n'", env, checkCode=True)
    csv = context.parallelize([f"{i % 7},{i}" for i in range(10000)], 4)
    sums = csv.pipe(pipe + "--parse csv --schema k:i32,v:i64 --where 'k > 2' --group-by k --select 'sum(v) as s'", env, checkCode=True)
    try:
        csv.pipe(pipe + "--parse csv --schema k:i32,v:i64 --select nonsense", env, checkCode=True).collect()
        failed = False
    except Exception:  # Py4J's exception for a failed task
        failed = True
    print(json.dumps({"partitions": mapped.getNumPartitions(), "words": counted.collect(), "sums": sums.collect(),
                      "failed": failed}))
    spark.stop()


def in_source(csv, parquet):
    """In a process of its own: hac as a source of Spark, beside Spark's own readers."""
    from pyspark.sql import SparkSession
    from hac.spark import HacDataSource
    spark = SparkSession.builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(HacDataSource)
    results = {}

    def both(name, make, mine, theirs):
        results[name] = [sorted(map(list, make(frame).collect()), key=repr) for frame in (mine, theirs)]
    plain = spark.read.parquet(parquet)
    rows = spark.read.format("hac").option("splitBytes", "1").option("deviceColumn", "device").load(parquet)
    results["partitions"] = rows.rdd.getNumPartitions()
    results["types"] = [[(f.name, f.dataType.simpleString()) for f in frame.schema] for frame in (rows.drop("device"), plain)]
    results["devices"] = [row[0] for row in rows.select("device").distinct().collect()]
    rows = spark.read.format("hac").load(parquet)
    both("all", lambda t: t.selectExpr("*"), rows, plain)
    where = ("x > 10 and city like 'B%' and k in (1, 2, 3, 500, 501) and x is not null",
             "day >= date '2020-02-01' and not city = 'Bern' and price > 12.5", "x = double('nan') or k <=> null")
    for condition in where:  # the same frame each time, which takes no filters
        both(condition, lambda t, c=condition: t.where(c).select("k", "city", "x"), rows, plain)
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")  # off unless a program wants it
    for condition in where:
        pushing = spark.read.format("hac").option("pushFilters", "true").load(parquet)
        both("pushed: " + condition, lambda t, c=condition: t.where(c).select("k", "city", "x"), pushing, plain)
    pushing = spark.read.format("hac").option("pushFilters", "true").load(parquet)
    results["plan"] = pushing.where("k > 5 and length(city) > 4")._jdf.queryExecution().toString()
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "false")
    both("pruned", lambda t: t.where("k > 500"),
         spark.read.format("hac").schema("city string, k int").load(parquet), plain.select("city", "k"))
    partial = spark.read.format("hac").option("groupBy", "city").option("select", "sum(k) as s, count() as n").load(parquet)
    both("groups", lambda t: t, partial.groupBy("city").agg({"s": "sum", "n": "sum"}).selectExpr("city", "`sum(s)`", "`sum(n)`"),
         plain.groupBy("city").agg({"k": "sum", "*": "count"}).selectExpr("city", "`sum(k)`", "`count(1)`"))
    text = spark.read.format("hac").option("types", "k:i32,x:i64,city:string").load(csv)
    both("csv", lambda t: t.where("k > 900"), text, spark.read.csv(csv, header=True, schema="k INT, x BIGINT, city STRING"))
    try:
        spark.read.format("hac").option("colour", "red").load(csv).collect()
    except Exception as error:
        results["refused"] = str(error)
    spark.stop()
    print(json.dumps(results, default=str))


def in_cluster(parquet):
    """In a process of its own: two executors, each a JVM with workers of Python, and one hacd."""
    from pyspark.sql import SparkSession
    from hac.spark import HacDataSource
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.executor.memory", "1g")
    for name, value in os.environ.items():
        if name.startswith(("HAC_", "XDG_", "PYTHON", "PYSPARK_")):
            builder = builder.config(f"spark.executorEnv.{name}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(HacDataSource)
    partial = (spark.read.format("hac").option("splitBytes", "1").option("groupBy", "city").option("deviceColumn", "device")
               .option("select", "sum(k) as s, count() as n").load(parquet))
    groups = partial.groupBy("city").agg({"s": "sum", "n": "sum"}).selectExpr("city", "`sum(s)`", "`sum(n)`").collect()
    devices = [row[0] for row in partial.select("device").distinct().collect()]
    executors = spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1  # the driver is in it
    plain = spark.read.parquet(parquet).groupBy("city").agg({"k": "sum", "*": "count"}).selectExpr("city", "`sum(k)`", "`count(1)`")
    wanted = plain.collect()
    partitions = partial.rdd.getNumPartitions()
    spark.stop()
    print(json.dumps({"got": sorted(map(list, groups), key=repr), "wanted": sorted(map(list, wanted), key=repr),
                      "devices": devices, "executors": executors, "partitions": partitions}))


class SparkCase(SharedMachineTest):
    def spark(self, *words, **more):
        environment = {**self.m.environment, **more, "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": str(SPARK / "pyspark"),
                       "PYSPARK_SUBMIT_ARGS": " ".join((*SUBMIT, "pyspark-shell"))}
        result = subprocess.run([*map(str, words)], env=environment, capture_output=True, text=True, timeout=400,
                                check=False, cwd=self.m.work)
        self.assertEqual(result.returncode, 0, result.stderr[-3000:])
        return result.stdout


@unittest.skipUnless(JARS.is_dir(), WHY_NOT)
class SparkPipe(SparkCase):
    def test_words(self):
        source = random.Random(5)
        text = "\n".join(" ".join(f"w{int(source.paretovariate(1)) % 999}" for _ in range(12)) for _ in range(20000)) + "\n"
        Path(self.m.path("words.txt")).write_text(text, encoding="utf-8")
        got = json.loads(self.spark(sys.executable, __file__, "--in-pipe", self.m.path("words.txt"), HACCTL).splitlines()[-1])
        self.assertGreaterEqual(got["partitions"], 6)
        counts = dict(line.split("\t") for line in got["words"])
        self.assertEqual(len(counts), len(got["words"]))
        self.assertEqual({word: int(n) for word, n in counts.items()}, collections.Counter(text.split()))
        sums = collections.Counter()
        for line in got["sums"]:  # one a partition and key
            key, s = line.split("\t")
            sums[int(key)] += int(s)
        self.assertEqual(sums, {k: sum(range(k, 10000, 7)) for k in range(3, 7)})
        self.assertTrue(got["failed"])


@unittest.skipUnless(JARS.is_dir(), WHY_NOT)
class Spark(SparkCase):
    def test_gateway(self):
        source = random.Random(3)
        lines = ["k,x,city"] + [f"{source.randrange(1000)},{source.randrange(10**12)},{source.choice(('Bern', 'Zürich', 'Biel'))}"
                                for _ in range(20000)]
        Path(self.m.path("t.csv")).write_text("\n".join(lines) + "\n", encoding="utf-8")
        both = json.loads(self.spark(sys.executable, __file__, "--in-spark", self.m.path("t.csv")).splitlines()[-1])
        self.assertEqual(len(both["wanted"]), 3)
        self.assertEqual(both["got"], both["wanted"])

    @unittest.skipIf(pyarrow is None, "pyarrow is not installed: the example in Scala has no file to read")
    def test_scala(self):
        """The example, compiled by Spark's own compiler, over eight row groups."""
        example = SOURCE / "bindings" / "jni" / "examples" / "RowGroups.scala"
        jars = ":".join([f"{JNI}/hac.jar", *map(str, sorted(JARS.glob("*.jar")))])
        self.spark("java", "-cp", f"{JARS}/*", "scala.tools.nsc.Main", "-Werror", "-deprecation", "-cp", jars, "-d",
                   self.m.path("example.jar"), example)
        source, wanted = random.Random(4), {}
        rows = [(source.choice("ANR"), Decimal(source.randrange(1, 51)), Decimal(source.randrange(10**7)) / 100,
                 Decimal(source.randrange(11)) / 100) for _ in range(8000)]
        for flag, quantity, price, discount in rows:
            if quantity < 24:
                revenue, lines = wanted.get(flag, (0, 0))
                wanted[flag] = revenue + price * discount, lines + 1
        kind = pyarrow.decimal128(15, 2)
        table = pyarrow.table(list(map(list, zip(*rows))), schema=pyarrow.schema([
            ("l_returnflag", pyarrow.string()), ("l_quantity", kind), ("l_extendedprice", kind), ("l_discount", kind)]))
        pyarrow.parquet.write_table(table, self.m.path("lineitem.parquet"), row_group_size=1000)
        out = self.spark(SPARK / "pyspark" / "bin" / "spark-submit", *SUBMIT, "--class", "RowGroups",
                         self.m.path("example.jar"), self.m.path("lineitem.parquet"))
        got = {flag: (Decimal(revenue), int(lines)) for flag, revenue, lines in map(str.split, out.splitlines())}
        self.assertEqual(got, wanted)


def source_why_not():
    """Why Spark cannot read through hac.spark; None: it can."""
    if not (SPARK / "pyspark" / "sql" / "worker" / "data_source_pushdown_filters.py").exists():
        return "the PySpark in build/spark is older than 4.1, or not there: python3 -m pip install --target build/spark 'pyspark>=4.1'"
    if not (PACKAGE / "hac" / "_hac.abi3.so").exists() or pyarrow is None:
        return "the Python package hac was not built, or pyarrow is not installed"
    return None


@unittest.skipIf(source_why_not(), source_why_not())
class SparkSource(SparkCase):
    @staticmethod
    def table(source):
        return pyarrow.table({
            "k": pyarrow.array([source.randrange(1000) if i % 9 else None for i in range(ROWS)], "int32"),
            "x": [float("nan") if i % 13 == 0 else source.randrange(400) / 8 for i in range(ROWS)],
            "city": [source.choice(("Bern", "Zürich", "Biel", None)) for _ in range(ROWS)],
            "day": pyarrow.array([18262 + source.randrange(90) for _ in range(ROWS)], "int32").cast("date32"),
            "price": pyarrow.array([Decimal(source.randrange(10**5)) / 100 for _ in range(ROWS)], pyarrow.decimal128(9, 2)),
            "flag": [i % 3 == 0 for i in range(ROWS)]})

    def in_python(self, *words):
        """What this file prints as a process of its own, whose Python finds Spark, pyarrow and hac."""
        out = self.spark(sys.executable, __file__, *words, PYTHONPATH=f"{PACKAGE}:{SPARK}:{SOURCE / 'build' / 'python'}",
                         PYSPARK_PYTHON=sys.executable, PYTHONDONTWRITEBYTECODE="1")
        return json.loads(out.splitlines()[-1])

    def test_source(self):
        """hac.spark beside Spark's own readers: rows, types, filters, columns, groups by partition."""
        source = random.Random(6)
        table = self.table(source)
        pyarrow.parquet.write_table(table, self.m.path("t.parquet"), row_group_size=1500)
        lines = ["k,x,city"] + [f"{source.randrange(1000)},{source.randrange(10**12)},Bern" for _ in range(3000)]
        Path(self.m.path("t.csv")).write_text("\n".join(lines) + "\n", encoding="utf-8")
        got = self.in_python("--in-source", self.m.path("t.csv"), self.m.path("t.parquet"))
        self.assertEqual(got.pop("partitions"), 3)
        self.assertEqual(*got.pop("types"))
        self.assertEqual(got.pop("devices"), ["cpu"])
        plan = got.pop("plan")
        self.assertIn("length(city", plan[plan.index("Filter"):])
        self.assertNotIn("k#", plan[plan.index("Physical Plan"):].split("Filter")[1].split("\n")[0], "hac has this part")
        self.assertIn("no option colour", got.pop("refused"))
        self.assertEqual(len(got["all"][0]), ROWS)
        for name, (mine, theirs) in got.items():
            with self.subTest(name):
                self.assertEqual(json.dumps(mine), json.dumps(theirs))  # NaN equals NaN there

    def test_cluster(self):
        """Two executors of a cluster on this machine, whose tasks share the machine's hacd."""
        pyarrow.parquet.write_table(self.table(random.Random(7)), self.m.path("c.parquet"), row_group_size=500)
        got = self.in_python("--in-cluster", self.m.path("c.parquet"))
        self.assertEqual(got["got"], got["wanted"])
        self.assertEqual((got["executors"], got["partitions"], got["devices"]), (2, 8, ["cpu"]))
        self.assertGreaterEqual(len(self.m.json("jobs", "--all")["jobs"]), 8)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--in-spark"]:
        in_spark(sys.argv[2])
    elif sys.argv[1:2] == ["--in-source"]:
        in_source(sys.argv[2], sys.argv[3])
    elif sys.argv[1:2] == ["--in-cluster"]:
        in_cluster(sys.argv[2])
    elif sys.argv[1:2] == ["--in-pipe"]:
        in_pipe(sys.argv[2], sys.argv[3])
    else:
        main()
