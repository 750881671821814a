#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries through hacctl against engines that share no code with hac: DuckDB and Python itself.

A random case is named by its seed alone: HAC_TEST_FIRST=SEED HAC_TEST_COUNT=1 runs it again (with HAC_TEST_KEEP its
files stay).
"""
import collections
import os
import random
import shlex
import sys
import unittest
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import columns  # noqa: E402
import duck  # noqa: E402
from machine import ONE_DEVICE, TWO_DEVICES, UNEVEN_DEVICES, MachineTest, main  # noqa: E402
from random_query import random_query  # noqa: E402
from random_table import FileTable, Table  # noqa: E402

DATA = Path(os.environ.get("HAC_TEST_DATA", "/nonexistent"))
DATA = DATA / "data" if (DATA / "data").is_dir() else DATA
NO_DATA = "$HAC_TEST_DATA has none of the files that are wanted"

QUERIES = 12  # on each random table
SIZES = (0, 1, 2, 3, 10, 100, 100, 300, 1000, 1023, 1024, 1025, 3000)

# Where DuckDB refuses what hac answers.
KNOWN = (
    ("out of range", "STDDEV|VARIANCE|VAR_|AVG"),  # of infinities: hac says nan
    ("Overflow in division", "%"),  # the smallest i64 % -1, which is 0
)


def known(query, error):
    text = str(error)
    if query.lazy or query.limit is not None:
        return True  # hac ignores errors of values that are not needed
    return any(a in text and any(b in text.upper() + query.sql.upper() for b in words.split("|"))
               for a, words in KNOWN)


class RandomCase(MachineTest):
    profiles = (TWO_DEVICES, ONE_DEVICE, UNEVEN_DEVICES)

    def seeds(self, first, count):
        first = int(os.environ.get("HAC_TEST_FIRST", first))
        count = int(os.environ.get("HAC_TEST_COUNT", count))
        return range(first, first + count)

    @unittest.skipUnless(duck.duckdb, duck.WHY_NOT)
    def compare(self, seeds, sizes=SIZES):
        machine = self.machine(self.profiles[seeds[0] % len(self.profiles)])
        connection = duck.connect()
        tally = {"right": 0, "refused by both": 0, "refused by DuckDB only": 0}
        wrong = []
        for seed in seeds:
            rng = random.Random(seed)
            table = Table(rng, rng.choice(sizes))
            table.load(connection, machine.path("oracle.csv"))
            form = rng.choice(("csv", "csv", "tsv", "jsonl"))
            paths, options = table.write(rng, machine.work, f"t{seed}", form)
            for number in range(QUERIES):
                query = random_query(rng, table)
                quiet = ["-q"] if form == "jsonl" else []  # no note for a column that is null in all of few rows
                words = [*quiet, "mapreduce", *paths, *options, *query.options]
                json_lines = rng.random() < 0.3
                words += ["--output-format", "json"] * json_lines
                said, problem = self.one(machine, connection, query, words, json_lines)
                tally[said] = tally.get(said, 0) + 1
                if problem:
                    wrong.append(f"seed {seed}, query {number}: {problem}\n  hacctl {shlex.join(words)}\n  {query.sql}")
            for path in [] if "HAC_TEST_KEEP" in os.environ else paths:
                os.unlink(machine.path(path))
            if len(wrong) >= 10:
                break
        print(f"seeds {seeds[0]} to {seed}:", ", ".join(f"{n} {what}" for what, n in tally.items()), file=sys.stderr)
        self.assertFalse(wrong, "\n\n".join(wrong))
        self.assertGreater(tally["right"], (tally["refused by both"] + tally["refused by DuckDB only"]))

    def one(self, machine, connection, query, words, json_lines):
        try:
            wanted, refused = connection.execute(query.sql).fetchall(), None
        except (duck.duckdb.OutOfRangeException, duck.duckdb.ConversionException) as e:
            refused = e
        except duck.duckdb.Error as e:
            return "not SQL", f"DuckDB does not understand: {str(e)[:300]}"
        result = machine.run(*words)
        if result.code == 0 and result.err == "":
            if refused is not None:
                said = str(refused).splitlines()[0]
                return "refused by DuckDB only", None if known(query, refused) else f"DuckDB refuses: {said}"
            names, rows = duck.read_output(result.out, json_lines)
            if names is not None and len(names) != len(query.kinds):
                return "wrong", f"columns {names}"
            problem = duck.difference(query, rows, wanted)
            return ("wrong", problem) if problem else ("right", None)
        line = result.err.startswith("hacctl: ") and result.err.count("\n") == 1
        if result.code == 1 and line and refused is not None and result.out == b"":
            return "refused by both", None
        return "wrong", f"{result}" + ("" if refused is None else f"; DuckDB: {refused}")


class Quick(RandomCase):
    def test_random_queries(self):
        self.compare(self.seeds(1, 6), (0, 1, 10, 100, 300))


class RandomQueries(RandomCase):
    """full"""

    def test_one_device(self):
        self.compare(self.seeds(1000, 18))

    def test_two_devices(self):
        self.compare(self.seeds(2001, 18))

    def test_unequal_devices(self):
        self.compare(self.seeds(3002, 10))

    def test_more_rows(self):
        self.compare(self.seeds(4002, 2), (20000, 70000))


@unittest.skipUnless(duck.duckdb, duck.WHY_NOT)
class ColumnsCase(RandomCase):
    """The same queries of Arrow columns, through libhac: here the device kernels are used."""

    def compare_columns(self, seeds, sizes, queries=QUERIES):
        machine = self.machine(self.profiles[seeds[0] % len(self.profiles)])
        machine.daemon()
        client = columns.Client(machine.socket)
        self.addCleanup(client.close)
        connection = duck.connect()
        tally, wrong = collections.Counter(), []
        for seed in seeds:
            rng = random.Random(seed)
            table = Table(rng, rng.choice(sizes))
            table.load(connection, machine.path("oracle.csv"))
            arrow = columns.Columns(
    rng, table, rng.sample(
        table.columns, len(
            table.columns)), rng.choice(
                (0, 0, 1, 8, 13)))
            for number in range(queries):
                query = random_query(rng, table, plain=rng.random() < 0.6)
                hot = rng.choice((0, 1, 1, 2))
                said, problem = self.one_of_columns(client, connection, query, arrow, hot, tally)
                tally[said] += 1
                if problem:
                    wrong.append(
                        f"seed {seed}, query {number}, hot keys {hot}: {problem}\n  {query.options}\n  {query.sql}")
            if len(wrong) >= 10:
                break
        print(f"seeds {seeds[0]} to {seed}:", ", ".join(f"{n} {what}" for what, n in tally.items()), file=sys.stderr)
        self.assertFalse(wrong, "\n\n".join(wrong))
        return tally

    def one_of_columns(self, client, connection, query, arrow, hot, tally):
        try:
            wanted, refused = connection.execute(query.sql).fetchall(), None
        except (duck.duckdb.OutOfRangeException, duck.duckdb.ConversionException) as e:
            refused = e
        except duck.duckdb.Error as e:
            return "not SQL", f"DuckDB does not understand: {str(e)[:300]}"
        words = dict(zip(query.options[::2], query.options[1::2]))
        limit = words.pop("--limit", None)
        texts = {name[2:].replace("-", "_"): text for name, text in words.items()}
        status, text, receipt = client.query(arrow, texts, None if limit is None else int(limit), hot)
        tally["with kernels"] += '"engine":"device' in receipt
        if status != 0:
            return ("refused by both", None) if refused is not None else ("wrong", f"status {status}: {text}")
        if refused is not None:
            return "refused by DuckDB only", None if known(query, refused) else f"DuckDB refuses: {refused}"
        _, rows = duck.read_output(text, False)
        problem = duck.difference(query, rows, wanted)
        return ("wrong", problem) if problem else ("right", None)


class RandomColumns(ColumnsCase):
    """full"""

    def test_few_rows(self):
        self.compare_columns(self.seeds(5000, 15), SIZES)

    def test_many_rows(self):
        tally = self.compare_columns(self.seeds(6001, 3), (65535, 65536, 65537, 100000, 200000))
        self.assertGreater(tally["with kernels"], 0)


class LongQueries(RandomCase):
    """long: hours; HAC_TEST_FIRST and HAC_TEST_COUNT take another part."""

    def test_hours(self):
        for first in range(100000, 110000, 250):
            self.compare(self.seeds(first, 250), (*SIZES, 20000))
            if "HAC_TEST_FIRST" in os.environ:
                break


FILES = {
    "birdstrikes.csv": {"Airport Name": "string", "Aircraft Make Model": "string", "Effect Amount of damage": "string",
                        "Flight Date": "date", "Origin State": "string", "Wildlife Size": "string", "Cost Other": "i32",
                        "Cost Total $": "i64", "Speed IAS in knots": "u16", "Time of day": "string"},
    "zipcodes.csv": {"zip_code": "string", "latitude": "decimal(9,6)", "longitude": "decimal(12,8)", "city": "string",
                     "state": "string", "county": "string"},
    "sp500-2000.csv": {"date": "date", "open": "decimal(15,6)", "high": "f64", "low": "f64", "close": "f64",
                       "adjclose": "f64", "volume": "u64"},
    "weather.csv": {"location": "string", "date": "date", "precipitation": "f64", "temp_max": "decimal(5,1)",
                    "temp_min": "f64", "wind": "f64", "weather": "string"},
    "seattle-weather-hourly-normals.csv": {"date": "timestamp", "pressure": "f64", "temperature": "decimal(4,1)",
                                           "wind": "f64"},
    "iris.csv": {"sepal_length": "f64", "sepal_width": "decimal(3,1)", "petal_length": "f64", "petal_width": "f64",
                 "species": "string"},
}
# What a user would ask: (file, options of hacctl, SQL over a table with the schema's names).
ASKED = (
    ("weather.csv", "--group-by 'location, year(date) as y' --select 'avg(temp_max) as hot, sum(precipitation) as rain, "
     "count() as days' --order-by 'location, y'",
     "SELECT location, year(date) y, avg(temp_max), sum(precipitation), count(*) FROM t GROUP BY ALL ORDER BY 1, 2"),
    ("weather.csv", "--where \"weather = 'rain' and wind > 5\" --group-by 'date_trunc(\\'month\\', date) as m' --select "
     "'count() as n, max(wind) as w' --order-by 'n desc, m' --limit 5",
     "SELECT CAST(date_trunc('month', date) AS DATE) m, count(*) n, max(wind) FROM t WHERE weather = 'rain' AND wind > 5 "
     "GROUP BY 1 ORDER BY n DESC, m LIMIT 5"),
    ("birdstrikes.csv", "--group-by '\"Origin State\"' --select 'count() as n, sum(\"Cost Total $\") as cost, "
     "count(distinct \"Airport Name\") as airports, count(\"Speed IAS in knots\") as known' --order-by 'cost desc, n desc, "
     "\"Origin State\"'",
     "SELECT \"Origin State\", count(*), sum(\"Cost Total $\"), count(DISTINCT \"Airport Name\"), "
     "count(\"Speed IAS in knots\") FROM t GROUP BY 1 ORDER BY 3 DESC, 2 DESC, 1"),
    ("zipcodes.csv", "--group-by 'state' --select 'count(distinct city) as cities, min(zip_code) as first, avg(latitude) as "
     "lat, max(longitude) - min(longitude) as width' --order-by 'state'",
     "SELECT state, count(DISTINCT city), min(zip_code), avg(latitude), max(longitude) - min(longitude) FROM t GROUP BY 1 "
     "ORDER BY 1"),
    ("sp500-2000.csv", "--group-by 'year(date) as y' --select 'first(open) as o, last(close) as c, max(high) - min(low) as span, "
     "sum(volume) as v, stddev(close) as s' --order-by 'y'",
     "SELECT year(date) y, first(open ORDER BY date), last(close ORDER BY date), max(high) - min(low), sum(volume), "
     "stddev_samp(close) FROM t GROUP BY 1 ORDER BY 1"),
    ("seattle-weather-hourly-normals.csv", "--group-by 'hour(date) as h' --select 'avg(temperature) as t, min(pressure) as p' "
     "--order-by 'h'", "SELECT hour(date) h, avg(temperature), min(pressure) FROM t GROUP BY 1 ORDER BY 1"),
)


@unittest.skipUnless(duck.duckdb, duck.WHY_NOT)
@unittest.skipUnless(all((DATA / name).exists() for name in FILES), NO_DATA)
class RealFiles(RandomCase):
    """full: files that were not made for tests."""

    def prepare(self, machine, connection, name):
        text = (DATA / name).read_bytes().decode()
        rows = duck.read_csv(text.replace("\r\n", "\n") if text.endswith("\n") else text.replace("\r\n", "\n") + "\n")
        table = FileTable(rows, FILES[name])
        table.load(connection, machine.path("oracle.csv"))
        return table, ["mapreduce", str(DATA / name), "--schema", ",".join(c.schema for c in table.columns[1:])]

    def test_random_queries(self):
        machine = self.machine(TWO_DEVICES)
        connection = duck.connect()
        wrong, right = [], 0
        for name in FILES:
            table, words = self.prepare(machine, connection, name)
            rng = random.Random(name)
            for number in range(40):
                query = random_query(rng, table, lambda c: c.name != "rid")
                said, problem = self.one(machine, connection, query, words + query.options, False)
                right += said == "right"
                if problem:
                    wrong.append(f"query {number}: {problem}\n  hacctl {shlex.join(words + query.options)}\n"
                                 f"  {query.sql}")
        print(f"{right} of {40 * len(FILES)} right", file=sys.stderr)
        self.assertFalse(wrong[:10], "\n\n".join(wrong[:10]))

    def test_asked(self):
        machine = self.machine(ONE_DEVICE)
        connection = duck.connect()
        for name, options, sql in ASKED:
            with self.subTest(file=name, options=options):
                table, words = self.prepare(machine, connection, name)
                connection.execute("CREATE OR REPLACE TABLE t AS SELECT " + ", ".join(
                    f'{c.sql} AS "{c.name}"' for c in table.columns) + " FROM t")
                wanted = connection.execute(sql).fetchall()
                out = machine.good(*words, *shlex.split(options.replace("\\'", "'\"'\"'")))
                rows = duck.read_csv(out.decode())[1:]
                self.assertEqual(len(rows), len(wanted))
                for got, row in zip(rows, wanted):
                    for a, b in zip(got, row):
                        if isinstance(b, float):
                            self.assertAlmostEqual(float(a), b, delta=1e-9 * abs(b))
                        elif isinstance(b, Decimal):
                            self.assertEqual(Decimal(a), b)
                        else:
                            self.assertEqual(a, None if b is None else str(b))


class Words(MachineTest):
    """full: collections.Counter of texts."""

    @unittest.skipUnless((DATA / "shakespeare.txt").exists(), NO_DATA)
    def test_wordcount(self):
        machine = self.machine(TWO_DEVICES)
        files = sorted(p for p in DATA.iterdir() if p.suffix in (".txt", ".csv", ".md"))
        for paths in [[p] for p in files] + [files]:
            with self.subTest(files=[p.name for p in paths]):
                wanted = collections.Counter(w for p in paths for w in p.read_bytes().split())
                for options in ((), ("--hot-keys", "on", "--quiet")):
                    out = machine.good("mapreduce", "wordcount", *paths, *options)
                    names, *rows = duck.read_csv(out.decode("utf-8", "surrogateescape"))
                    self.assertEqual(names, ("word", "count"))
                    self.assertEqual({w.encode("utf-8", "surrogateescape"): int(n) for w, n in rows}, dict(wanted))
                    self.assertEqual(len(rows), len(wanted))
            wanted = collections.Counter(line for p in paths for line in p.read_bytes().decode().split("\n"))
            out = machine.good("mapreduce", *paths, "--parse", "lines", "--group-by", "line", "--select", "count() as n",
                               "--where", "line > 'm' and length(line) < 40")
            rows = duck.read_csv(out.decode())[1:]
            wanted = {line.rstrip("\r"): n for line, n in wanted.items()}
            self.assertEqual({w: int(n) for w, n in rows},
                             {w: n for w, n in wanted.items() if w > "m" and len(w) < 40})

    @unittest.skipUnless((DATA / "facebook_combined.txt").exists(), NO_DATA)
    def test_degrees(self):
        machine = self.machine(ONE_DEVICE)
        path = DATA / "facebook_combined.txt"
        out = machine.good("mapreduce", path, "--parse", "csv", "--delimiter", " ", "--no-header", "--schema",
                           "a:u32,b:u32", "--group-by", "a", "--select", "count() as n, sum(b) as s, max(b) as m",
                           "--order-by", "n desc, a")
        wanted = collections.defaultdict(list)
        for line in path.read_text().splitlines():
            a, b = map(int, line.split())
            wanted[a].append(b)
        rows = [tuple(map(int, r)) for r in duck.read_csv(out.decode())[1:]]
        groups = [(a, len(b), sum(b), max(b)) for a, b in wanted.items()]
        self.assertEqual(rows, sorted(groups, key=lambda r: (-r[1], r[0])))


if __name__ == "__main__":
    main()
