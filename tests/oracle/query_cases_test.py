#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries where mistakes hide: every number of groups, skew, long keys, odd files, killed executors. Python's
dictionaries compute the right answers exactly: with fractions, not with floats."""
import array
import collections
import itertools
import json
import os
import random
import signal
import sys
import time
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, TWO_DEVICES, UNEVEN_DEVICES, MachineTest, SharedMachineTest, main  # noqa: E402

CARDINALITIES = (1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025,
                 2047, 2048, 2049, 4095, 4096, 4097, 8191, 8192, 8193, 16384, 32769, 65535, 65536, 65537, 100000)
LENGTHS = (0, 1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1000, 4095, 4096, 4097,
           65535, 65536, 65537, 100000)


def zipf(rng, s, keys, count):
    """`count` numbers of 0 … keys - 1, the i-th with weight 1 / (i + 1)^s."""
    weights = list(itertools.accumulate((i + 1) ** -s for i in range(keys)))
    return rng.choices(range(keys), cum_weights=weights, k=count)


class Case:
    """`m` is the machine."""

    def put(self, name, text):
        Path(self.m.path(name)).write_bytes(text if isinstance(text, bytes) else text.encode())
        return name

    def rows(self, *words, **more):
        out = self.m.good("mapreduce", *words, **more)
        rows = duck.read_csv(out.decode("utf-8", "surrogateescape"))
        return rows[0], rows[1:]

    def check_groups(self, pairs, kind, *options, name="keys.csv"):
        """count, sum, min and max of pairs (key or None, integer)."""
        wanted = collections.defaultdict(list)
        for key, value in pairs:
            wanted[key].append(value)
        text = "key,value\n" + "".join(f"{cell(key)},{value}\n" for key, value in pairs)
        names, rows = self.rows(self.put(name, text), "--schema", f"key:{kind},value:i64", "--group-by", "key",
                                "--select", "count() as n, sum(value) as s, min(value) as low, max(value) as high",
                                *options)
        self.assertEqual(names, ("key", "n", "s", "low", "high"))
        self.assertEqual(len(rows), len(wanted))
        got = {key: tuple(map(int, rest)) for key, *rest in rows}
        for key, values in wanted.items():
            text = None if key is None else str(key)
            self.assertEqual(got.get(text), (len(values), sum(values), min(values), max(values)), f"key {text!r:.60}")

    def check_skip(self, rows):
        rng = random.Random(rows)
        lines, bad, total = [], 0, 0
        for i in range(rows):
            wrong = rng.random() < 0.05 or i in (0, rows - 1)
            bad += wrong
            lines.append(rng.choice(("x,1", "1", "1,2,3", "9223372036854775808,1", "1.5,1")) if wrong else f"{i},1")
            total += 0 if wrong else i
        name = self.put("bad.csv", "a,b\n" + "\n".join(lines) + "\n")
        words = ("mapreduce", name, "--schema", "a:i64,b:i64", "--select", "sum(a) as s, count() as n")
        self.m.bad(1, *words, says="line 2")
        result = self.m.run(*words, "--on-error", "skip", "--receipt", "r.json")
        self.assertEqual((result.code, result.out), (0, f"s,n\n{total},{rows - bad}\n".encode()))
        self.assertIn(str(bad), result.err)


def cell(key):
    if key is None:
        return ""
    text = str(key)
    return '"' + text.replace('"', '""') + '"' if text == "" or any(c in text for c in '",\r\n') else text


class Quick(Case, SharedMachineTest):
    profile = TWO_DEVICES

    def test_cardinalities(self):
        rng = random.Random(1)
        for keys in (1, 127, 128, 129, 5000):
            self.check_groups([(rng.randrange(keys), rng.randint(-9, 9)) for _ in range(5000)], "i32")

    def test_empty_files(self):
        select = ("--select", "count() as n, sum(a) as s", "--schema", "a:i64")
        empty, header, part = self.put("e.csv", ""), self.put("h.csv", "a\n"), self.put("p.csv", "a\n1\n2\n")
        self.m.bad(1, "mapreduce", empty, *select, says="empty")
        self.assertEqual(self.rows(header, *select), (("n", "s"), [("0", None)]))
        self.assertEqual(self.rows(header, part, header, *select)[1], [("2", "3")])
        self.assertEqual(self.rows(empty, *select, "--no-header")[1], [("0", None)])
        self.assertEqual(self.rows(header, *select, "--group-by", "a"), (("a", "n", "s"), []))
        self.assertEqual(self.rows(header, "--schema", "a:i64", "--select", "a + 1 as b"), (("b",), []))
        for suffix in ("jsonl", "tsv"):
            name = self.put(f"e.{suffix}", "" if suffix == "jsonl" else "a\n")
            self.assertEqual(self.rows(name, *select)[1], [("0", None)])
        self.assertEqual(self.rows("wordcount", self.put("e.txt", "")), (("word", "count"), []))

    def test_limits(self):
        rows = [(i, i % 7) for i in range(100)]
        name = self.put("l.csv", "a,b\n" + "".join(f"{a},{b}\n" for a, b in rows))
        for limit in (0, 1, 7, 99, 100, 101, 2**32, 2**63 - 1):
            words = (name, "--schema", "a:i64,b:i64", "--limit", limit)
            got = self.rows(*words, "--select", "a, b", "--order-by", "b desc, a")[1]
            wanted = sorted(rows, key=lambda r: (-r[1], r[0]))[:limit]
            self.assertEqual([tuple(map(int, r)) for r in got], wanted)
            got = self.rows(*words, "--select", "b")[1]
            self.assertEqual(len(got), min(limit, 100))
            got = self.rows(*words, "--group-by", "b", "--select", "count() as n")[1]
            self.assertEqual(len(got), min(limit, 7))
        for limit in ("-1", "x", "", "1.5", str(2**64)):
            self.m.bad(2, "mapreduce", name, "--schema", "a:i64", "--select", "a", "--limit", limit, says="--limit")

    def test_header_orders(self):
        rng = random.Random(5)
        rows = [(i, f"s{i % 3}", i / 8) for i in range(640)]
        names, columns = [], ["a", "b c", "d"]
        for part in range(64):
            order = rng.sample(range(3), 3)
            extra = rng.random() < 0.5  # a column that nobody asks for
            text = ",".join([columns[i] for i in order] + ["other"] * extra) + "\n"
            for row in rows[part * 10:part * 10 + 10]:
                text += ",".join([str(row[i]) for i in order] + ['"x\n,"'] * extra) + "\n"
            names.append(self.put(f"h{part}.csv", text))
        _, got = self.rows(*names, "--schema", 'd:f64,a:i64,"b c":string', "--group-by", '"b c"', "--select",
                           "sum(a) as a, sum(d) as d, first(a) as f, last(a) as l", "--order-by", '"b c"')
        wanted = []
        for key in ("s0", "s1", "s2"):
            mine = [r for r in rows if r[1] == key]
            a, d = [r[0] for r in mine], [r[2] for r in mine]
            wanted.append((key, str(sum(a)), repr(sum(d)), str(a[0]), str(a[-1])))
        self.assertEqual(got, wanted)
        self.put("h5.csv", "a,d,other\n1,2,3\n")
        self.m.bad(2, "mapreduce", *names, "--schema", 'a:i64,"b c":string', "--select", 'a, "b c"', says="b c")

    def test_skip(self):
        """Unreadable records are counted, wherever they lie."""
        self.check_skip(10)
        self.check_skip(1000)

    def test_refusals(self):
        """Exit 1: the data is wrong; exit 2: the question is wrong. One line each."""
        good = self.put("g.csv", "a,b\n1,x\n2,y\n")
        schema = ("--schema", "a:i64,b:string")
        for code, words, says in (
                (2, ("--select", "sum(b)"), "sum"), (2, ("--select", "a +"), "--select"), (2, ("--select", "c"), "c"),
                (2, ("--select", "a", "--where", "a"), "--where"),
                (2, ("--select", "a", "--where", "count() > 1"), "count"),
                (2, ("--select", "a, count()"), "a"), (2, ("--select", "count(count())"), "count"),
                (2, ("--select", "a", "--order-by", "z"), "z"), (2, ("--select", "*", "--group-by", "a"), "*"),
                (2, ("--select", "count()", "--group-by", "1"), "--group-by"), (2, ("--select", "'x"), "--select"),
                (2, ("--select", "a as x, b as x"), "x"), (2, ("--select", "cast(a as blob)"), "bytes"),
                (2, ("--select", "nosuch(a)"), "nosuch"), (2, ("--select", "a" + " + a" * 9000), "select"),
                (2, ("--select", "(" * 5000 + "a" + ")" * 5000), "--select"),
                (1, ("--select", "9223372036854775807 + a"), "line 2"), (1, ("--select", "cast(b as i64)"), "line 2"),
                (1, ("--select", "sum(9223372036854775807 - a * 0)"), "sum")):
            with self.subTest(words=" ".join(words)[:60]):
                self.m.bad(code, "mapreduce", good, *schema, *words, says=says)
        self.m.bad(1, "mapreduce", "missing.csv", *schema, "--select", "a", says="missing.csv")
        self.m.bad(2, "mapreduce", self.put("x.dat", "\0\1\2"), *schema, "--select", "a", says="--parse")
        for text, says in (('a,b\n1,"x\n', "quote"), ("a,b\n1,x\n2\n", "line 3"), ("a,b\n1,x\n\n2,y,z\n", "line 4"),
                           ("a,b\n1,x\nzwei,y\n", "zwei"), ('a,b\n"1"x,y\n', "line 2"),
                           ("a,b\n1,x\n99999999999999999999,y\n", "line 3")):
            with self.subTest(text=text):
                self.m.bad(1, "mapreduce", self.put("bad.csv", text), *schema, "--select", "a, b", says=says)
        name = self.put("bad.jsonl", '{"a":1}\n{"a":\n')
        self.m.bad(1, "mapreduce", name, "--schema", "a:i64", "--select", "a", says="line 2")


class Groups(Case, SharedMachineTest):
    """full"""
    profile = TWO_DEVICES

    def test_cardinalities(self):
        """From one key to a key for each row, with files smaller and larger than one task's work."""
        rng = random.Random(2)
        for rows in (20000, 300000):
            for keys in CARDINALITIES:
                with self.subTest(rows=rows, keys=keys):
                    if keys <= rows:
                        pairs = [(rng.randrange(keys), rng.randint(-1000, 1000)) for _ in range(rows)]
                        self.check_groups(pairs, rng.choice(("i32", "i64", "u32", "u64", "string")))
            self.check_groups([(i * 2654435761 % 2**32, i) for i in range(rows)], "u32")  # all distinct
            self.check_groups([(f"key number {i}", -i) for i in range(rows)], "string")

    def test_skip(self):
        """In files of many chunks, too."""
        self.check_skip(200000)

    def test_little_memory(self):
        """Groups that do not fit are done in passes."""
        pairs = [(f"{i * 7919 % 300007:x}", i) for i in range(300000)]
        self.check_groups(pairs, "string", "--memory", "64MiB")

    def test_skew(self):
        rng = random.Random(3)
        for s in (0, 0.5, 0.8, 1, 1.2, 1.5, 2):
            for keys in (100, 100000):
                with self.subTest(s=s, keys=keys):
                    for option in ("on", "off"):
                        self.check_groups([(k, 1) for k in zipf(rng, s, keys, 200000)], "u32", "--hot-keys", option,
                                          "--quiet")

    def test_hot_key_late(self):
        """The frequent keys at the beginning are not those later."""
        rng = random.Random(4)
        pairs = [(k, 1) for k in zipf(rng, 1.5, 1000, 100000)] + [(5000 + k, 2) for k in zipf(rng, 1.5, 1000, 200000)]
        self.check_groups(pairs, "i64")
        self.check_groups(sorted(pairs), "i64")

    def test_string_keys(self):
        rng = random.Random(7)
        for length in LENGTHS:
            with self.subTest(length=length):
                common = "".join(rng.choice("abcdefgh") for _ in range(length))
                # equal but for the first, the last, or a byte in between; and a beginning of another
                places = {0, length // 2, max(length - 1, 0)} if length else ()
                keys = {common, common[:-1], common + "x"} | {
                    common[:at] + c + common[at + 1:] for at in places for c in "zä"}
                keys = [None, *sorted(keys)]
                count = max(20, min(5000, 3000000 // (length + 1)))
                self.check_groups([(rng.choice(keys), rng.randint(-5, 5)) for _ in range(count)], "string")

    def test_mixed_lengths(self):
        rng = random.Random(8)
        pool = ["x" * rng.choice(LENGTHS[:20]) + str(rng.randrange(50)) for _ in range(3000)] + ["y" * 100000, "", None]
        self.check_groups([(rng.choice(pool), 1) for _ in range(50000)], "string")

    def test_bytes(self):
        """Keys that are not UTF-8 keep their bytes."""
        rng = random.Random(9)
        letters = [*range(14, 34), *range(35, 44), *range(45, 256)]
        keys = [bytes(rng.choices(letters, k=rng.randint(1, 20))) for _ in range(500)]
        chosen = [rng.choice(keys) for _ in range(20000)]
        name = self.put("bytes.csv", b"key\n" + b"\n".join(chosen) + b"\n")
        _, rows = self.rows(name, "--schema", "key:string", "--group-by", "key", "--select", "count() as n")
        got = {key.encode("utf-8", "surrogateescape"): int(n) for key, n in rows}
        self.assertEqual(got, dict(collections.Counter(chosen)))

    def test_composite_keys(self):
        """Keys that are equal only when written one after the other are not equal; nulls are a key of their own."""
        rng = random.Random(10)
        texts = [None, "", "a", "b", "ab", "aab", "a,b", "ba", "x" * 20]
        numbers = [None, 0, 1, -1, 2**31 - 1]
        for columns in ("ss", "si", "sis", "iis", "iiii", "ssss"):
            pools = [texts if c == "s" else numbers for c in columns]
            rows = [tuple(rng.choice(p) for p in pools) for _ in range(20000)]
            names = [f"k{i}" for i in range(len(columns))]
            text = ",".join(names) + "\n" + "".join(",".join(cell(v) for v in row) + "\n" for row in rows)
            schema = ",".join(f"{n}:{'string' if c == 's' else 'i32'}" for n, c in zip(names, columns))
            _, got = self.rows(self.put("many.csv", text), "--schema", schema, "--group-by", ",".join(names),
                               "--select", "count() as n")
            wanted = collections.Counter(tuple(None if v is None else str(v) for v in row) for row in rows)
            self.assertEqual({tuple(r[:-1]): int(r[-1]) for r in got}, dict(wanted))
            self.assertEqual(len(got), len(wanted))

    def test_float_keys(self):
        """0.0 equals -0.0, every NaN is the same key, and no two other floats are equal."""
        texts = ["0.0", "-0.0", "nan", "-nan", "NAN", "inf", "-inf", "5e-324", "-5e-324", "1.0", "1.0000000000000002",
                 ""]
        rng = random.Random(11)
        rows = [rng.choice(texts) for _ in range(5000)]
        one = {"-0.0": "0.0", "-nan": "nan", "NAN": "nan", "": None}
        wanted = collections.Counter(one.get(t, t) for t in rows)
        for kind, names in (("f64", wanted), ("f32", collections.Counter(
                one.get(t, {"5e-324": "0.0", "-5e-324": "0.0", "1.0000000000000002": "1.0"}.get(t, t)) for t in rows))):
            _, got = self.rows(self.put("f.csv", "k,v\n" + "".join(f"{t},1\n" for t in rows)), "--schema", f"k:{kind}",
                               "--group-by", "k", "--select", "count() as n")
            self.assertEqual({one.get(k, k): int(n) for k, n in got}, dict(names))

    def test_rows(self):
        """Without aggregates: the rows, in their order where there is one, in any number."""
        rng = random.Random(12)
        for count in (0, 1, 1000, 1024, 1025, 300000):
            rows = [(rng.randrange(1000), rng.choice(("a", "", None, "x\ny", 'q"', "z" * 40))) for _ in range(count)]
            name = self.put("r.csv", "n,s\n" + "".join(f"{n},{cell(s)}\n" for n, s in rows))
            words = (name, "--schema", "n:i64,s:string")
            _, got = self.rows(*words, "--where", "n % 3 = 0", "--select", "s, n * 2 as m")
            wanted = collections.Counter((s, str(n * 2)) for n, s in rows if n % 3 == 0)
            self.assertEqual(collections.Counter(got), wanted)
            _, got = self.rows(*words, "--select", "n", "--order-by", "n desc", "--limit", "10")
            self.assertEqual([int(r[0]) for r in got], sorted((n for n, _ in rows), reverse=True)[:10])


class Aggregates(Case, SharedMachineTest):
    """full: aggregates that DuckDB lacks, or defines otherwise."""

    def table(self, rows, seed):
        rng = random.Random(seed)
        values = (None, *range(30), *range(5))
        return [(rng.randrange(4), rng.choice(values),
                 rng.choice((None, rng.uniform(-10, 110), 0.0, 100.0))) for _ in range(rows)]

    def run_table(self, rows, select):
        name = self.put("t.csv", "k,v,x\n" + "".join(
            f"{k},{cell(v)},{'' if x is None else repr(x)}\n" for k, v, x in rows))
        _, got = self.rows(name, "--schema", "k:i64,v:i32,x:f64", "--group-by", "k", "--select", select)
        return {int(r[0]): r[1:] for r in got}

    def test_lists(self):
        for rows in (100, 200000):
            data = self.table(rows, rows)
            got = self.run_table(data, "top_k(v, 5) as t, top_k(v, 1000) as u, string_list(cast(v as string)) as l, "
                                       "histogram(x, 0, 100, 7) as h")
            for k in range(4):
                values = [v for g, v, _ in data if g == k and v is not None]
                top = sorted(collections.Counter(values).items(), key=lambda p: (-p[1], p[0]))
                buckets = [0] * 7
                for x in (x for g, _, x in data if g == k and x is not None and 0 <= x <= 100):
                    buckets[min(int(x / 100 * 7), 6)] += 1
                top = [f"{v}:{n}" for v, n in top]
                self.assertEqual(got[k], (", ".join(top[:5]), ", ".join(top), ",".join(map(str, dict.fromkeys(values))),
                                          ", ".join(map(str, buckets))))

    def test_many_distinct_values_of_one_group(self):
        """They cannot be done by key ranges: the merge's table must have room for all of them."""
        Path(self.m.path("v.bin")).write_bytes(array.array("q", range(0, 6_000_000 * 7919, 7919)).tobytes())
        _, got = self.rows("v.bin", "--parse", "fixed", "--schema", "v:i64", "--group-by", "v >= 0 as g", "--select",
                           "count(distinct v) as d")
        self.assertEqual([tuple(r) for r in got], [("true", "6000000")])

    def test_quantiles(self):
        """Wrong by no more than the rounding to 10 bits: 1/1024 of the value."""
        for rows in (1, 2, 100, 200000):
            rng = random.Random(rows)
            data = [(0, None, rng.lognormvariate(0, 5)) for _ in range(rows)]
            shares = (0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)
            got = self.run_table(data, ", ".join(f"approx_quantile(x, {s}) as q{i}" for i, s in enumerate(shares)))[0]
            values = sorted(x for _, _, x in data)
            for share, text in zip(shares, got):
                at = share * (rows - 1)
                low, high = values[int(at)], values[min(int(at) + 1, rows - 1)]
                exact = low + (high - low) * (at - int(at))
                self.assertLessEqual(abs(float(text) - exact), exact / 1024 + 1e-12, f"{rows} rows, share {share}")

    def test_exact_sums(self):
        """Decimals and integers to the last digit, also where a double has lost it long before."""
        rng = random.Random(13)
        big = [rng.randint(-2**63, 2**63 - 1) for _ in range(1000)]
        big += [*(-x for x in big if x > -2**63), 12345]  # partial sums go far beyond 64 bits
        name = self.put("big.csv", "v\n" + "\n".join(map(str, big)) + "\n")
        total = sum(big)
        self.assertEqual(total, 12345)
        self.assertEqual(self.rows(name, "--schema", "v:i64", "--select", "sum(v) as s")[1], [("12345",)])
        _, got = self.rows(name, "--schema", "v:decimal(38,0)", "--select",
                           "sum(v) as s, sum(v * 1.5) as t, avg(v) as a")
        self.assertEqual(got, [("12345", "18517.5", repr(12345 / len(big)))])
        self.put("over.csv", "v\n9223372036854775807\n1\n")
        self.m.bad(1, "mapreduce", "over.csv", "--schema", "v:i64", "--select", "sum(v) as s", says="64 bits")
        self.assertEqual(self.rows("over.csv", "--schema", "v:u64", "--select", "sum(v) as s")[1], [(str(2**63),)])


class Exact(Case, MachineTest):
    """full: the same bits, whichever device works."""
    QUERY = ("--group-by", "k", "--select", "sum(x) as s, avg(x) as a, variance(x) as v, stddev_pop(x * y) as p, "
             "sum(x * y) as xy, sum(y) as f, first(x) as b, last(y) as e, approx_quantile(x, 0.3) as q", "--order-by", "k")
    SCHEMA = ("--schema", "k:string,x:f64,y:f32")

    def prepare(self, rows, keys, seed=1):
        rng = random.Random(seed)
        self.name = "exact.csv"
        self.text = "k,x,y\n" + "".join(
            f"k{rng.randrange(keys)},{rng.uniform(-1, 1) * 10**rng.randint(-8, 8)!r},{rng.uniform(-100, 100):.3f}\n"
            for _ in range(rows))

    def answer(self, machine, *options):
        self.m = machine
        self.put(self.name, self.text)
        return machine.good("mapreduce", self.name, *self.SCHEMA, *self.QUERY, *options)

    def test_devices(self):
        for keys in (1, 50, 40000):
            self.prepare(200000, keys)
            wanted = None
            for profile in (ONE_DEVICE, TWO_DEVICES, UNEVEN_DEVICES):
                machine = self.machine(profile)
                machine.daemon()
                for options in ((), ("--hot-keys", "on", "--quiet"), ("--hot-keys", "off"), ("--memory", "96MiB")):
                    answer = self.answer(machine, *options)
                    wanted = wanted or answer
                    self.assertTrue(answer == wanted, f"{keys} keys, {options}: another answer than the first")
                names = [d["name"] for d in machine.devices()]
                for name in names if len(names) > 1 else []:
                    self.assertTrue(self.answer(machine, "--devices", name) == wanted, f"{keys} keys on {name} alone")

    def test_sums_are_right(self):
        """Not only equal: close to what fractions say."""
        self.prepare(100000, 10)
        self.m = self.machine(TWO_DEVICES)
        self.answer(self.m)
        exact, scale = collections.defaultdict(Fraction), collections.defaultdict(float)
        for line in self.text.splitlines()[1:]:
            k, x, _ = line.split(",")
            exact[k] += Fraction(float(x))
            scale[k] += abs(float(x))
        _, rows = self.rows(self.name, *self.SCHEMA, "--group-by", "k", "--select", "sum(x) as s")
        for k, s in rows:
            self.assertLessEqual(abs(float(Fraction(float(s)) - exact[k])), 1e-12 * scale[k])
        self.assertEqual(len(rows), len(exact))


class Kill(Exact):
    """full: executors that are killed while they work."""
    test_devices = test_sums_are_right = None

    def kills(self, times, seed):
        self.prepare(600000, 20000, seed)
        machine = self.machine(TWO_DEVICES)
        daemon = machine.baseline()
        wanted = self.answer(machine)
        self.answer(machine)
        began = time.monotonic()
        self.assertEqual(self.answer(machine), wanted)
        seconds = time.monotonic() - began
        rng = random.Random(seed)
        killed = noticed = 0
        for step in range(times):
            where = ("--where", "x <> 1e99") if step % 2 else ()
            process = machine.start("mapreduce", self.name, *self.SCHEMA, *self.QUERY, *where, "--receipt", "r.json")
            time.sleep(rng.uniform(0.002, seconds))
            pids = daemon.executor_pids()
            for pid in rng.sample(pids, min(len(pids), rng.choice((1, 1, 2)))):
                try:
                    os.kill(pid, signal.SIGKILL)
                    killed += 1
                except ProcessLookupError:
                    pass
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, err), (0, b""), machine.log()[-3000:])
            self.assertTrue(out == wanted, f"the answer after kill {step} of seed {seed} is another one")
            noticed += json.loads(Path(machine.path("r.json")).read_text())["retries"] > 0
        print(f"{killed} executors killed; {noticed} of {times} queries lost one", file=sys.stderr)
        self.assertGreaterEqual(noticed, max(1, times // 6))
        for device in machine.devices():
            self.assertEqual((device["state"], device["reason"]), ("ready", ""))
        machine.check_clean(slack=24 << 20)

    def test_10(self):
        self.kills(10, 1)


class LongKill(Kill):
    """long: 200 kills, HAC_TEST_KILLS for another number."""
    test_10 = None

    def test_200(self):
        self.kills(int(os.environ.get("HAC_TEST_KILLS", "200")), 3)


if __name__ == "__main__":
    main()
