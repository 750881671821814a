#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups whose keys have few values each, which are found by codes: strings of dictionaries that differ from row group to row
group, several integers, both. The answers are DuckDB's, over files that pyarrow writes."""
import collections
import random
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from exact_aggregates_test import any_f64, one_argument, two_arguments  # noqa: E402
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

try:
    import pyarrow.parquet
except ImportError:
    pyarrow = None

ROWS = 120_000
# Distinct values of the keys: around the limits of eight and sixteen bits for the numbers of all keys together.
SIZES = ((1,), (255,), (256,), (257,), (16, 16), (17, 17), (255, 256), (256, 256), (257, 256), (40, 40, 40), (41, 41, 41), (2, 3, 4, 5))
SUMS = (("sum", "y"), ("avg", "wide"), ("variance", "y"), ("stddev_pop", "wide"), ("sum", "f"), ("avg", "f"), ("var_pop", "f"))
PAIRS = (("corr", "y", "x"), ("covar_samp", "y", "x"), ("regr_slope", "wide", "x"), ("regr_r2", "f", "y"))
TABLE = f"""create table t as select i as n, i // 1200 as part,
    'word ' || hash(i * 3) % 100 as s, if(hash(i * 5) % 7 = 0, '', 'x' || (hash(i * 5) % 30 + i // 40000 * 10)) as later,
    if(i < 60000, 's' || hash(i * 11) % 9, null) as half, if(hash(i * 13) % 1000 = 0, null, 'n' || hash(i) % 5) as gaps,
    'long text ' || hash(i * 17) % 20000 as many, 'a' as one, 'same' || lpad((hash(i * 53) % 20000)::varchar, 8, '0') as same,
    if(i % 30000 < 3000, 'like' || lpad((hash(i * 59) % 900)::varchar, 8, '0'), 'not alike ' || hash(i * 61) % 3000) as mixed,
    cast(hash(i * 19) % 100 as integer) - 50 as a, cast(hash(i * 23) % 90 as bigint) * 1000 - 40000 as b,
    cast(hash(i * 29) as ubigint) as wide, cast(i // 100 as usmallint) as rising,
    if(hash(i * 31) % 50 = 0, null, cast(hash(i * 37) % 6 as tinyint)) as hole,
    date '2020-01-01' + cast(hash(i * 41) % 300 as integer) as d, hash(i * 43) % 2 = 0 as yes,
    hash(i * 47) % 1000 as v from range({ROWS}) r(i) order by i"""
KEYS = ("s", "later", "half", "gaps", "many", "one", "same", "mixed", "same, one", "mixed, s", "upper(same)", "upper(mixed)", "s, later", "s, a", "a, b", "a, wide", "a, rising", "hole, a", "d, s", "s, a, hole",
        "s, later, a, b", "s, later, a, b, d", "yes, s", "one, part", "part, s", "many, a", "half, gaps", "upper(s)", "substr(later, 1, 2), a",
        "a * 2, s", "gaps, d, yes")


@unittest.skipIf(duck.duckdb is None or pyarrow is None, duck.WHY_NOT)
class Coded(SharedMachineTest):
    profile = TWO_DEVICES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.directory = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.directory.cleanup)
        cls.duck = duck.duckdb.connect()
        cls.duck.execute(TABLE)
        table = cls.duck.sql("select * from t order by n").to_arrow_table()
        for name, part, options in (("plain.parquet", table, {}), ("small.parquet", table, {"row_group_size": 7001}),
                                    ("text.parquet", table, {"use_dictionary": ["s", "later"], "row_group_size": 20_000}),
                                    ("fallback.parquet", table, {"dictionary_pagesize_limit": 600, "data_page_size": 3000}),
                                    ("l1.parquet", table[:50_000], {"row_group_size": 20_000}), ("l2.parquet", table[50_000:], {})):
            pyarrow.parquet.write_table(part, cls.path(name), **options)

    @classmethod
    def path(cls, name):
        return str(Path(cls.directory.name) / name)

    def check(self, files, keys, where="true", engine="host"):
        got = self.m.good("query", *map(self.path, files), "--group-by", keys, "--select", "count() as c, sum(v) as w, min(n) as m", "--where", where,
                          "--engine", engine, "-o", self.path("out.parquet"))
        self.assertEqual(got, b"")
        wanted = self.duck.execute(f"select count(*), sum(v)::bigint, min(n), {keys} from t where {where} group by {keys} order by min(n)").fetchall()
        found = self.duck.execute(f"select c, w, m, * exclude (c, w, m) from '{self.path('out.parquet')}' order by m").fetchall()
        self.assertEqual(len(found), len(wanted), (files, keys, where))
        self.assertEqual(found, wanted, (files, keys, where))

    def test_keys(self):
        for keys in KEYS:
            self.check(["plain.parquet"], keys)

    def test_row_groups(self):
        for keys in KEYS[::2]:
            self.check(["small.parquet"], keys)

    def test_fallback(self):
        """Pages without codes after pages with codes; columns without a dictionary."""
        for keys in ("s", "s, later", "many, a", "s, a", "later"):
            self.check(["fallback.parquet"], keys)
            self.check(["text.parquet"], keys)

    def test_functions(self):
        """Functions of strings run once for each entry: as keys, in filters, over each other, with nulls, and with pages
        without codes in between. A row of an entry that fails does so only if it counts."""
        for files in (["plain.parquet"], ["small.parquet"], ["fallback.parquet"], ["l1.parquet", "l2.parquet"]):
            self.check(files, "upper(later), lower(half)")
            self.check(files, "length(replace(s, 'word', '')), a", "lower(gaps) like 'n%' or gaps is null")
        for keys in ("reverse(substr(s, 3, 4)), gaps", "regexp_matches(gaps, '[0-2]')", "upper(many)", "substr(later, 2, 1)",
                     "if(half is null, 'none', upper(half))", "s in ('word 1', 'word 2'), later = ''"):
            self.check(["small.parquet"], keys)
        wanted = self.duck.execute("select sum(case when s like 'word _' then cast(substr(s, 6) as bigint) else 0 end) from t").fetchall()
        got = self.m.good("query", self.path("small.parquet"), "--select",
                          "sum(if(s like 'word _', substr(s, 6)::i64, 0)) as c", "--where", "n >= 0")
        self.assertEqual(got.decode().split("\n")[1], str(wanted[0][0]))
        self.m.bad(1, "query", self.path("small.parquet"), "--select", "sum(substr(s, 3)::i64) as c", "--where", "n > 7",
                   says="the text is not a value of the type")

    def test_wide_dictionaries(self):
        """Dictionaries that are too large for their entries' results to be remembered, in turn with small ones."""
        big = [f"k{i * 7919 % 9000:05d}".ljust(60, "x") for i in range(9000)] * 2
        for name, words in (("several", ["alpha", "beta", "gamma", "delta"]), ("single", ["alpha"])):
            with pyarrow.parquet.ParquetWriter(self.path(f"{name}.parquet"), pyarrow.schema([("s", pyarrow.string())]),
                                               use_dictionary=True, write_batch_size=100_000) as writer:
                for group in range(60):
                    writer.write_table(pyarrow.table({"s": big if group % 2 == 0 else words * 5000}))
            self.m.good("query", self.path(f"{name}.parquet"), "--group-by", "upper(s)", "--select", "count() as c", "-o", self.path("out.parquet"))
            wanted = self.duck.execute(f"select upper(s) as u, count(*) from '{self.path(name)}.parquet' group by u order by u").fetchall()
            found = self.duck.execute(f"from '{self.path('out.parquet')}' order by 1").fetchall()
            self.assertTrue(found == wanted, (found[:5], wanted[:5]))  # assertEqual takes minutes to compare long lists that differ

    def test_files_and_filters(self):
        for keys in ("s", "s, later", "a, b", "half, a"):
            self.check(["l1.parquet", "l2.parquet"], keys)
            self.check(["small.parquet"], keys, "a > 0 and s <> 'word 7'")
            self.check(["small.parquet"], keys, "n % 1000 = 7")

    def random_table(self, rng, sizes, n):
        """Values grow from small ones to those of any size, so that sums take every form."""
        text = ["", "a string of more than twelve bytes", "b"] + [f"key {i}" for i in range(max(sizes))]
        far = (9, 2**30, 2**63)

        def some(value):
            return None if rng.random() < 0.05 else value
        columns = {f"k{i}": [text[rng.randrange(size)] if size > 3 else some(text[rng.randrange(size)]) for _ in range(n)]
                   for i, size in enumerate(sizes)}
        columns["i"] = [some(rng.randrange(7)) for _ in range(n)]
        columns["yes"] = [some(rng.random() < 0.5) for _ in range(n)]
        columns["y"], columns["x"] = [some(rng.randrange(5)) for _ in range(n)], [rng.randrange(-15, 15) for _ in range(n)]
        columns["wide"] = [some(rng.randrange(-far[3 * i // n], far[3 * i // n])) for i in range(n)]
        columns["f"] = [some(rng.choice((any_f64(rng), 0.5)) if i > n * 2 // 3 else rng.randrange(10**6) / 100) for i in range(n)]
        return columns

    def check_sums(self, file, columns, keys):
        groups = collections.defaultdict(list)
        for i, key in enumerate(zip(*(columns[k] for k in keys))):
            groups[key].append(i)
        select = ["count() as c"] + [f"{name}({', '.join(arguments)}) as a{i}" for i, (name, *arguments) in enumerate(SUMS + PAIRS)]
        self.m.good("query", self.path(file), "--group-by", ", ".join(keys), "--select", ", ".join(select), "--engine", "host", "-o", self.path("out.parquet"))
        found = self.duck.execute(f"select {', '.join(keys)}, c, {', '.join(f'a{i}' for i in range(len(select) - 1))} "
                                  f"from '{self.path('out.parquet')}'").fetchall()
        self.assertEqual(len(found), len(groups))
        for row in found:
            rows = groups[row[:len(keys)]]
            self.assertEqual(row[len(keys)], len(rows))
            for (name, *arguments), result in zip(SUMS + PAIRS, row[len(keys) + 1:]):
                values = [v for v in zip(*([columns[a][i] for i in rows] for a in arguments)) if None not in v]
                lists = [list(v) for v in zip(*values)] or [[]] * len(arguments)
                wanted = one_argument(name, *lists) if len(lists) == 1 else two_arguments(name, *lists)
                self.assertEqual(repr(result), repr(int(wanted) if isinstance(result, int) else wanted), (file, keys, row, name, arguments))

    def test_sums(self):
        """Sums of groups that are found by codes, bit for bit: Python's fractions are the oracle."""
        rng = random.Random(29)
        for sizes in SIZES:
            columns = self.random_table(rng, sizes, 2500)
            keys = [f"k{i}" for i in range(len(sizes))]
            for name, options in (("sums.parquet", {"row_group_size": 700}), ("paged.parquet", {"data_page_size": 500, "row_group_size": 1900}),
                                  ("fall.parquet", {"dictionary_pagesize_limit": 100, "data_page_size": 500, "write_batch_size": 100})):
                pyarrow.parquet.write_table(pyarrow.table(columns), self.path(name), **options)
                self.check_sums(name, columns, keys)
            self.check_sums("sums.parquet", columns, [*keys[:2], "i"])
            self.check_sums("sums.parquet", columns, ["yes", *keys[:2]])

    def test_limits(self):
        """As many values as numbers of sixteen bits, one more and one less."""
        for n in (65535, 65536, 65537):
            self.duck.execute(f"copy (select 'v' || i % {n} as s, i % {n} * 3 as j, if(i % 9 = 0, null, i % 3) as v, i as n from range(150_000) r(i)) "
                              f"to '{self.path('wide.parquet')}' (row_group_size 150_000, dictionary_size_limit 1_000_000)")
            for keys in ("s", "j", "s, v", "j, v"):
                self.m.good("query", self.path("wide.parquet"), "--group-by", keys, "--select", "count() as c, sum(n) as w", "-o", self.path("out.parquet"))
                wanted = self.duck.execute(f"select {keys}, count(*), sum(n)::bigint from '{self.path('wide.parquet')}' group by all order by all").fetchall()
                self.assertTrue(wanted == self.duck.execute(f"from '{self.path('out.parquet')}' order by all").fetchall(), (n, keys))

    def test_devices(self):
        """Kernels and host codelets that share a file."""
        for keys in ("a, b", "s"):
            self.check(["small.parquet"], keys, engine="auto")
        self.check(["small.parquet"], "a, b", engine="device")


if __name__ == "__main__":
    main()
