#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count(distinct x) with and without keys, count() and count(x) beside it. Python's sets compute the right answers. The
rows come as CSV in one file and several, as Parquet, and as a stream; with two devices, and in little memory."""
import collections
import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

SCHEMA = "k:i64,h:string,i:i32,j:i64,f:f64,g:f32,d:decimal(30,2),s:string,b:bool"
COLUMNS = "ijfgdsb"
KEYS = ((), ("k",), ("h",), ("k", "h"), ("k", "s"), ("b",), ("f",))
SELECT = "count(distinct {0}), count(), count({0})"


def identity(column, cell):
    """Equal for cells that are one value: -0.0 is 0.0, and all NaNs are one."""
    if cell == "" or column not in "fg":
        return cell
    value = float(cell)
    return "nan" if math.isnan(value) else value + 0.0


def random_rows(rng, n, groups, values):
    def some(value):
        return "" if rng.random() < 0.05 else value
    floats = ("nan", "-0.0", "0.0", "inf", "-inf", "0.5")
    for _ in range(n):
        v = rng.randrange(values)
        yield {"k": some(str(rng.randrange(groups) - 1)), "h": some(f"group of a longer name {rng.randrange(groups) % 7}"),
               "i": some(str(v - 5)), "j": some(str(v * 10**12 - 10**15)), "f": some(rng.choice(floats + (f"{v}.25",) * 20)),
               "g": some(rng.choice(floats + (f"{v % 1000}.5",) * 20)), "d": some(f"{v}{v:012}.25"),
               "s": some(rng.choice(("a", f"v{v}", f"a text of more than twelve bytes {v}", "é"))),
               "b": some(rng.choice(("true", "false")))}


def csv_text(rows):
    return ",".join(rows[0]) + "\n" + "".join(",".join(r.values()) + "\n" for r in rows)


def wanted(rows, keys, x):
    found = collections.defaultdict(lambda: [set(), 0, 0])
    if not keys:
        found[()]
    for row in rows:
        group = found[tuple(identity(k, row[k]) for k in keys)]
        group[1] += 1
        if row[x] != "":
            group[0].add(identity(x, row[x]))
            group[2] += 1
    return {key: (len(g[0]), g[1], g[2]) for key, g in found.items()}


class Distinct(SharedMachineTest):
    profile = TWO_DEVICES

    def put(self, name, text):
        Path(self.m.path(name)).write_text(text)
        return name

    def ask(self, command, files, keys, x, *more, **options):
        words = ("--group-by", ", ".join(keys)) if keys else ()
        text = self.m.good(command, *files, *words, "--select", SELECT.format(x), "--output-format", "csv", *more,
                           **options).decode()
        got = {}
        for row in duck.read_csv(text)[1:]:
            key = tuple(identity(k, "" if v is None else v) for k, v in zip(keys, row))
            self.assertNotIn(key, got)
            got[key] = tuple(map(int, row[len(keys):]))
        return got

    def check(self, rows, keys, x, command, files, *more, **options):
        self.assertEqual(self.ask(command, files, keys, x, *more, **options), wanted(rows, keys, x), (command, keys, x))

    def test_columns_and_keys(self):
        rng = random.Random(1)
        rows = list(random_rows(rng, 30000, 40, 3000))
        files = [self.put("all.csv", csv_text(rows))]
        self.m.good("parquet", "convert", "all.csv", "all.parquet", "--schema", SCHEMA, "--row-group-rows", "1000")
        for keys in KEYS:
            for x in COLUMNS:
                if x not in keys:
                    self.check(rows, keys, x, "mapreduce", files, "--schema", SCHEMA)
                    self.check(rows, keys, x, "mapreduce", ["all.parquet"])

    def test_files_and_streams(self):
        rng = random.Random(2)
        rows = list(random_rows(rng, 5000, 9, 400))
        for files in (2, 50):
            names = [self.put(f"p{files}-{i}.csv", csv_text(rows[len(rows) * i // files:len(rows) * (i + 1) // files]))
                     for i in range(files)]
            for keys in KEYS:
                self.check(rows, keys, "j", "mapreduce", names, "--schema", SCHEMA)
        name = self.put("stream.csv", csv_text(rows))
        for keys in KEYS:
            for x in "jfg":
                if x not in keys:
                    with open(self.m.path(name)) as stream:
                        self.check(rows, keys, x, "splice", ["-"], "--parse", "csv", "--schema", SCHEMA, "--split-size", "64KiB",
                                   stdin=stream)

    def test_many_values(self):
        """So many that rows go to partitions unaggregated, in several chunks; and with several passes."""
        rng = random.Random(3)
        rows = list(random_rows(rng, 400000, 20000, 300000))
        name = self.put("many.csv", csv_text(rows))
        for keys in ((), ("k",), ("h",), ("b",)):
            for x in "jds" if keys == () else "js":
                self.check(rows, keys, x, "mapreduce", [name], "--schema", SCHEMA)
        for keys, memory in (((), "24MiB"), (("k",), "40MiB")):
            self.check(rows, keys, "j", "mapreduce", [name], "--schema", SCHEMA, "--memory", memory)

    def test_edges(self):
        self.put("none.csv", "k,x\n")
        self.put("nulls.csv", "k,x\n1,\n,\n1,\n")
        for name, rows in (("none.csv", []), ("nulls.csv", [{"k": k, "x": ""} for k in ("1", "", "1")])):
            for keys in ((), ("k",)):
                self.check(rows, keys, "x", "mapreduce", [name], "--schema", "k:i64,x:i64")
        for lines in (1, 1023, 1024, 1025, 65535, 65536, 65537, 131073):
            name = self.put("lines.csv", "x\n" + "".join(f"{i}\n" for i in range(lines)))
            got = self.m.good("mapreduce", name, "--schema", "x:u64", "--select", "count(distinct x), count(distinct x % 1000)")
            self.assertEqual(got.decode().splitlines()[1], f"{lines},{min(lines, 1000)}")
            got = self.m.good("mapreduce", name, "--schema", "x:u64", "--select", "count(distinct x) * 2 - count() as n")
            self.assertEqual(got.decode().splitlines()[1], str(lines))

    def test_order_and_limit(self):
        rows = [{"k": str(i % 100), "x": str(i % (i % 100 + 1))} for i in range(50000)]
        name = self.put("order.csv", csv_text(rows))
        words = ("mapreduce", name, "--schema", "k:i64,x:i64", "--group-by", "k", "--select", "count(distinct x) as n")
        best = sorted(wanted(rows, ("k",), "x").items(), key=lambda p: (-p[1][0], int(p[0][0])))[:7]
        got = self.m.good(*words, "--order-by", "n desc, k", "--limit", "7").decode().splitlines()[1:]
        self.assertEqual(got, [f"{key[0]},{found[0]}" for key, found in best])
        self.assertEqual(len(self.m.good(*words, "--limit", "3").decode().splitlines()), 4)

    def test_against_duckdb(self):
        if duck.duckdb is None:
            self.skipTest(duck.WHY_NOT)
        path = self.m.path("duck.parquet")
        connection = duck.connect()
        connection.execute(f"COPY (SELECT (hash(i) % 1000)::INT k, (hash(i * 7) % 90000)::INT x, 'v' || hash(i * 3) % 5000 s "
                           f"FROM range(300000) t(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 20480)")
        for x in "xs":
            for keys in ((), ("k",)):
                columns = ", ".join(keys + (f"count(distinct {x})", "count(*)", f"count({x})"))
                sql = f"SELECT {columns} FROM '{path}'" + (" GROUP BY k" if keys else "")
                found = {tuple(map(str, row[:len(keys)])): row[len(keys):] for row in connection.execute(sql).fetchall()}
                self.assertEqual(self.ask("mapreduce", ["duck.parquet"], keys, x), found)


if __name__ == "__main__":
    main()
