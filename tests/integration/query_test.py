#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries from the command line to the executors and back. The oracles are collections.Counter and plain Python."""
import collections
import csv
import io
import itertools
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import time
import unittest
import xml.dom.minidom
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, ONE_DEVICE, PLATFORM, TWO_DEVICES, MachineTest, SharedMachineTest, main  # noqa: E402

csv.field_size_limit(1 << 30)
DATA = Path(os.environ.get("HAC_TEST_DATA", "/nonexistent"))
SPACE = b" \t\n\v\f\r"


def words_of(data):
    return data.translate(bytes(SPACE[0] if b in SPACE else b for b in range(256))).split()


def rows_of(out):
    return list(csv.reader(io.StringIO(out.decode("utf-8", "surrogateescape"))))


def counts_of(out):
    rows = rows_of(out)
    assert rows[0] == ["word", "count"], rows[0]
    assert len({word for word, _ in rows[1:]}) == len(rows) - 1, "a word is there twice"
    return collections.Counter({word.encode("utf-8", "surrogateescape"): int(n) for word, n in rows[1:]})


def some_text(size, seed=1, vocabulary=5000):
    """Words with a skew, lines, and a few unusual ones."""
    rng = random.Random(seed)
    words = [bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz'\",;", k=rng.randint(1, 12))) for _ in range(vocabulary)]
    words += ["naïve".encode(), b"\xff\xfe", b"x" * 300]
    weights = list(itertools.accumulate(1 / (i + 1) for i in range(len(words))))
    gaps = (b" ", b" ", b" ", b"\n", b"\t", b"\r\n", b"  ", b"\v\f")
    out = bytearray()
    while len(out) < size:
        some = zip(rng.choices(words, cum_weights=weights, k=20000), rng.choices(gaps, k=20000))
        out += b"".join(itertools.chain.from_iterable(some))
    return bytes(out[:size])


class QueryCase:
    """What the tests below share; `m` is the machine."""

    def put(self, name, data):
        Path(self.m.path(name)).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def query(self, *words, machine=None):
        return rows_of((machine or self.m).good("mapreduce", *words))

    def check_wordcount(self, names, data, *options):
        self.assertEqual(dict(counts_of(self.m.good("mapreduce", "wordcount", *names, *options))),
                         dict(collections.Counter(words_of(data))))


class Words(QueryCase, SharedMachineTest):
    def test_sizes(self):
        text = some_text(3 << 20)
        for size in (0, 1, 2, 100, 16384, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (2 << 20) - 1, (2 << 20) + 1, 3 << 20):
            self.check_wordcount([self.put("book.txt", text[:size])], text[:size])

    def test_no_and_many_words(self):
        for text in (b"", b" ", b"\n" * 2000000, b"x" * 3000000, b"x " * 1000000,
                     b"".join(b"w%d " % i for i in range(400000))):
            self.check_wordcount([self.put("book.txt", text)], text)

    def test_many_files(self):
        text = some_text(6 << 20)
        step = len(text) // 64 + 1
        names = [self.put(f"{i}.txt", text[i * step:(i + 1) * step] + b"\n") for i in range(64)]
        self.check_wordcount(names, b"\n".join(text[i * step:(i + 1) * step] for i in range(64)))

    @unittest.skipUnless((DATA / "data" / "shakespeare.txt").exists() or (DATA / "shakespeare.txt").exists(),
                         "no shakespeare.txt in $HAC_TEST_DATA")
    def test_shakespeare(self):
        path = DATA / "data" / "shakespeare.txt"
        path = path if path.exists() else DATA / "shakespeare.txt"
        self.check_wordcount([str(path)], path.read_bytes())
        for option in ("on", "off"):
            self.check_wordcount([str(path)], path.read_bytes(), "--hot-keys", option, "--quiet")

    def test_order_and_limit(self):
        text = some_text(2 << 20)
        want = sorted(((w.decode("latin-1"), n) for w, n in collections.Counter(words_of(text)).items()),
                      key=lambda item: (-item[1], item[0]))[:20]
        out = self.query("wordcount", self.put("book.txt", text), "--order-by", "count desc, word", "--limit", "20")
        self.assertEqual([(w.encode("utf-8", "surrogateescape").decode("latin-1"), int(n)) for w, n in out[1:]], want)
        self.assertEqual(self.query("wordcount", "book.txt", "--limit", "0"), [["word", "count"]])

    def test_json(self):
        name = self.put("book.txt", b"a b a \"q\n" * 3)
        lines = self.m.good("mapreduce", "wordcount", name, "--output-format", "json").decode().splitlines()
        self.assertEqual({row["word"]: row["count"] for row in map(json.loads, lines)}, {"a": 6, "b": 3, '"q': 3})


COLUMNS = "id:i64,city:string,price:f64,amount:decimal(12,2),day:date,ok:bool"


def sales(n, seed=3):
    rng = random.Random(seed)
    cities = ["Oslo", "New \"York\"", "Zoë,ville", "", "line\nbreak"] + [f"c{i}" for i in range(40)]
    rows = []
    for i in range(n):
        rows.append((i, rng.choice(cities) if rng.random() > .05 else None,
                     round(rng.uniform(-100, 100), 3) if rng.random() > .05 else None,
                     rng.randint(-10**6, 10**6), rng.randint(1, 28), rng.random() > .5))
    return rows


def csv_of(rows, header=True):
    def field(text):
        if text is None:
            return ""
        return '"' + text.replace('"', '""') + '"' if text == "" or set(text) & set(',"\n') else text
    lines = ["id,city,price,amount,day,ok"] if header else []
    for i, city, price, amount, day, ok in rows:
        lines.append(f"{i},{field(city)},{'' if price is None else repr(price)},{amount / 100:.2f},2020-01-{day:02},"
                     f"{'true' if ok else 'false'}")
    return "\n".join(lines) + "\n"


def group(rows, key):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def memory_of(daemon):
    """KiB of resident memory of all executors, by kind."""
    found = collections.Counter()
    for pid in daemon.executor_pids():
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        for kind, kib in re.findall(r"^(Rss\w+):\s+(\d+) kB", status, re.M):
            found[kind] += int(kib)
    return found


class Csv(QueryCase, SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.small, cls.large = sales(1000), sales(60000)

    def by_city(self, rows, text, *options):
        name = self.put("sales.csv", text)
        out = self.m.good("mapreduce", name, "--schema", COLUMNS, "--group-by", "city", "--select",
                          "count() as n, sum(amount) as total, min(price) as low, max(id) as last, count(price) as p",
                          *options).decode()
        got = {}
        for line in csv.reader(io.StringIO(out)):
            got[line[0]] = line[1:]
        header = got.pop("city")
        self.assertEqual(header, ["n", "total", "low", "last", "p"])
        groups = group(rows, lambda r: r[1])
        empty = '""' in out  # a null and an empty city are two groups; Python's reader sees an empty field for both
        self.assertTrue(empty)
        for city, members in groups.items():
            if city in (None, ""):
                continue
            prices = [r[2] for r in members if r[2] is not None]
            n, total, low, last, p = got[city]
            self.assertEqual((int(n), round(float(total) * 100), int(last), int(p)),
                             (len(members), sum(r[3] for r in members), max(r[0] for r in members), len(prices)), city)
            self.assertEqual(float(low), min(prices))

    def test_memory(self):
        """--memory 64MiB limits shared memory, and what an executor holds beside it stays small."""
        rows, keys = 800000, 20000
        name = self.put("large.csv", "k,v\n" + "".join(f"{i * 7919 % keys:044d},{i}\n" for i in range(rows)))
        words = ("mapreduce", name, "--schema", "k:string,v:i64", "--group-by", "k", "--select",
                 "count() as n, sum(v) as s", "--order-by", "k", "--limit", "1", "--memory", "64MiB")
        self.m.good("mapreduce", self.put("small.csv", "k\n1\n"), "--select", "k")  # the device is open
        before, peak = memory_of(self.m.daemon()), collections.Counter()
        process = self.m.start(*words)
        while process.poll() is None:
            peak |= memory_of(self.m.daemon())
            time.sleep(0.005)
        out = process.communicate()[0]
        total = sum(range(0, rows, keys))
        self.assertEqual((process.returncode, out), (0, f"k,n,s\n{0:044d},{rows // keys},{total}\n".encode()))
        self.assertGreater(peak["RssShmem"], before["RssShmem"])
        self.assertLessEqual(peak["RssShmem"] - before["RssShmem"], 64 << 10)
        drivers = 16 << 10 if PLATFORM else 0  # a GPU has memory of its own for what it copies
        self.assertLess(peak["RssAnon"] - before["RssAnon"], (48 << 10) + drivers)

    def test_empty_files(self):
        """No bytes are no rows; only the names of columns have to come from one of the inputs."""
        full, none = self.put("full.csv", b"a\n1\n"), self.put("none.csv", b"")
        self.m.bad(1, "mapreduce", none, none, "--select", "a", says="its first line should name the columns")
        self.assertEqual(self.m.good("mapreduce", none, full, "--select", "a"), b"a\n1\n")
        self.assertEqual(self.m.good("mapreduce", full, none, "--select", "a"), b"a\n1\n")
        mark = self.put("mark.csv", b"\xef\xbb\xbf")  # invisible in an editor
        for command in ("mapreduce", "splice"):
            self.m.bad(1, command, mark, mark, "--select", "a", says="its first line should name the columns")
            for files in ((mark, full), (full, mark), (none, mark, full)):
                self.assertEqual(self.m.good(command, *files, "--select", "a"), b"a\n1\n")
        large = self.put("large.csv", b"a\n" + b"1\n" * 3000000)  # several chunks
        self.assertEqual(self.m.good("mapreduce", none, none, large, none, "--select", "sum(a) as s", "--schema", "a:i64"),
                         b"s\n3000000\n")
        none = self.put("none.txt", b"")
        self.assertEqual(self.m.good("mapreduce", none, "--select", "line"), b"line\n")
        self.assertEqual(self.m.good("mapreduce", "wordcount", none), b"word,count\n")
        none = self.put("none.csv", b"")
        self.assertEqual(self.m.good("mapreduce", none, "--no-header", "--schema", "a:i64", "--select", "sum(a) as s"),
                         b"s\n\n")

    def test_many_columns(self):
        """More columns than a schema may have: those that the query names are read."""
        name = self.put("wide.csv", "".join(",".join(f"{c}{i}" for i in range(1000)) + "\n" for c in ("c", "", "1")).encode())
        for command in ("mapreduce", "splice"):
            self.assertEqual(self.m.good(command, name, "--select", "c999, c7", "--where", "c500 = 500"), b"c999,c7\n999,7\n")
            self.assertEqual(self.m.good(command, name, name, "--select", "count() as n"), b"n\n4\n")
            self.m.bad(2, command, name, "--select", "*", says="1000 columns, of which at most 256 can be read; name those")
            self.m.bad(2, command, name, "--select", "none", says="unknown column 'none'; there are: c0, c1, c2")

    def test_group_by(self):
        self.by_city(self.small, csv_of(self.small))
        self.by_city(self.large, csv_of(self.large))

    def test_by_position(self):
        self.by_city(self.large, csv_of(self.large, header=False), "--no-header")

    def test_without_keys(self):
        name = self.put("sales.csv", csv_of(self.large))
        out = self.query(name, "--schema", COLUMNS, "--select", "count() as n, sum(id) as ids, avg(price) as mean")
        prices = [r[2] for r in self.large if r[2] is not None]
        self.assertEqual(out[0], ["n", "ids", "mean"])
        self.assertEqual((int(out[1][0]), int(out[1][1])), (60000, sum(range(60000))))
        self.assertTrue(math.isclose(float(out[1][2]), math.fsum(prices) / len(prices), rel_tol=1e-12))

    def test_where_and_rows(self):
        name = self.put("sales.csv", csv_of(self.large))
        out = self.query(name, "--schema", COLUMNS, "--where", "price > 50 and ok", "--select", "id, price * 2 as twice",
                         "--order-by", "id")
        want = [(r[0], r[2] * 2) for r in self.large if r[2] is not None and r[2] > 50 and r[5]]
        self.assertEqual(out[0], ["id", "twice"])
        self.assertEqual([(int(a), float(b)) for a, b in out[1:]], want)

    def test_nothing_matches(self):
        name = self.put("sales.csv", csv_of(self.large))
        self.assertEqual(self.query(name, "--schema", COLUMNS, "--where", "id < 0", "--select", "id"), [["id"]])
        self.assertEqual(self.query(name, "--schema", COLUMNS, "--where", "id < 0", "--select", "count() as n"),
                         [["n"], ["0"]])

    def test_keys_alone(self):
        name = self.put("sales.csv", csv_of(self.large))
        out = self.query(name, "--schema", COLUMNS, "--group-by", "city, ok", "--order-by", "city, ok")
        self.assertEqual(out[0], ["city", "ok"])
        want = {(r[1], r[5]) for r in self.large}
        self.assertEqual(len(out) - 1, len(want))
        self.assertEqual({c for c, _ in out[1:]}, {c or "" for c, _ in want})
        self.m.bad(2, "mapreduce", name, "--schema", COLUMNS, "--group-by", "city as town", "--order-by", "twon",
                   says="there are: town, ")

    def test_many_groups(self):
        name = self.put("sales.csv", csv_of(self.large))
        out = self.query(name, "--schema", COLUMNS, "--group-by", "id", "--select", "sum(amount) as s",
                         "--order-by", "id")
        self.assertEqual([int(r[0]) for r in out[1:]], list(range(60000)))

    def test_null_and_delimiter(self):
        name = self.put("odd.csv", "a;b\n1;NA\n2;3\n;4\n")
        out = self.query(name, "--schema", "a:i64,b:i64", "--delimiter", ";", "--null", "NA", "--select",
                         "count(a) as a, count(b) as b, count() as n")
        self.assertEqual(out[1], ["2", "2", "3"])

    def test_errors(self):
        name = self.put("sales.csv", csv_of(self.small))
        select = ("--select", "count() as n")
        self.m.bad(2, "mapreduce", name, "--schema", COLUMNS, "--where", "nonsense > 1", *select, says="nonsense")
        self.m.bad(2, "mapreduce", name, "--schema", COLUMNS, "--where", "id >", *select, says="--where")
        self.m.bad(2, "mapreduce", name, "--schema", COLUMNS, "--where", "city + 1 > 2", *select, says="--where")
        self.m.bad(2, "mapreduce", name, "--schema", "id:i99", *select, says="--schema")
        self.m.bad(2, "mapreduce", name, "--schema", "missing:i64", *select, says="missing")
        self.m.bad(2, "mapreduce", name, "--schema", COLUMNS, "--group-by", "nowhere", *select, says="nowhere")
        self.m.bad(1, "mapreduce", name, "--schema", "city:i64", "--select", "sum(city) as s", says="city")
        self.m.bad(1, "mapreduce", "missing.csv", *select, says="missing.csv")
        out = self.put("bad.csv", csv_of(self.large) + "x,y\n")
        self.m.bad(1, "mapreduce", out, "--schema", COLUMNS, "--select", "sum(id) as s", "-o", "none", says="bad.csv")
        self.assertFalse(Path(self.m.path("none")).exists())
        skipped = self.m.run("mapreduce", out, "--schema", COLUMNS, "--select", "sum(id) as s", "--on-error", "skip")
        self.assertEqual((skipped.code, skipped.out), (0, f"s\n{sum(range(60000))}\n".encode()))
        self.assertIn("1 record that could not be read was left out", skipped.err)

    def test_many_files_with_headers(self):
        parts = [self.put(f"{i}.csv", csv_of(self.large[i * 900:(i + 1) * 900])) for i in range(64)]
        out = self.query(*parts, "--schema", COLUMNS, "--select", "count() as n, sum(id) as s")
        self.assertEqual([int(x) for x in out[1]], [57600, sum(range(57600))])

    def histogram(self, kind, texts, call):
        out = self.query(self.put("x.csv", "x\n" + "".join(f"{t}\n" for t in texts)), "--schema", f"x:{kind}",
                         "--select", f"histogram({call}) as h")
        return [int(n) for n in out[1][0].split(", ")]

    def test_histogram_on_borders(self):
        """Buckets by exact fractions: integers and decimals on their borders, ends that no f64 holds."""
        for k in (1, 3, 7, 29, 49, 100, 343, 999, 1000):
            self.assertEqual(self.histogram("i64", range(k), f"x, 0, {k}, {k}"), [1] * k)
            self.assertEqual(self.histogram("f64", range(k), f"x, 0, {k}, {k}"), [1] * k)
            hundredths = [f"{i / 100:.2f}" for i in range(k)]
            self.assertEqual(self.histogram("decimal(9,2)", hundredths, f"x, 0, {k / 100:.2f}, {k}"), [1] * k)
            self.assertEqual(self.histogram("decimal(30,2)", hundredths, f"x, 0, {k / 100:.2f}, {k}"), [1] * k)
        for kind, value, bucket in (("i64", 29, 29), ("i64", 57, 57), ("i64", 58, 58)):
            self.assertEqual(self.histogram(kind, [value], "x, 0, 100, 100").index(1), bucket)
        self.assertEqual(self.histogram("decimal(9,2)", ["0.29"], "x, 0, 1, 100").index(1), 29)
        self.assertEqual(self.histogram("decimal(9,2)", ["0.30", "0.10"], "x, 0.1, 0.3, 2"), [1, 1])
        self.assertEqual(self.histogram("i64", [9007199254740993], "x, 9007199254740992, 9007199254740996, 4"),
                         [0, 1, 0, 0])
        self.assertEqual(self.histogram("i64", [9007199254740992, 9007199254740993],
                                        "x, 9007199254740993, 9007199254740994, 1"), [1])
        self.assertEqual(self.histogram("f64", ["-1e308", "1e308"], "x, -1e308, 1e308, 2"), [1, 1])
        rng = random.Random(3)
        for _ in range(20):
            low, high, k = rng.randint(-10**18, 0), rng.randint(1, 10**18), rng.randint(1, 1000)
            values = [rng.randint(low, high) for _ in range(500)]
            values += [low + -(-(high - low) * i // k) + d for i in range(k) for d in (-1, 0)]
            want = [0] * k
            for x in values:
                if low <= x <= high:
                    want[min((x - low) * k // (high - low), k - 1)] += 1
            self.assertEqual(self.histogram("i64", values, f"x, {low}, {high}, {k}"), want)

    def test_output_file(self):
        name = self.put("sales.csv", csv_of(self.small))
        self.m.good("mapreduce", name, "--schema", COLUMNS, "--select", "id", "--order-by", "id", "-o", "out.json")
        lines = Path(self.m.path("out.json")).read_text().splitlines()
        self.assertEqual([json.loads(line)["id"] for line in lines], list(range(1000)))


class Jobs(QueryCase, SharedMachineTest):
    """Jobs by name, and the options that every job takes."""

    def test_named(self):
        rng = random.Random(5)
        data = rng.randbytes(2 << 20)
        out = self.query("histogram", self.put("bytes.dat", data))
        want = collections.Counter(data)
        self.assertEqual([(int(a), int(b)) for a, b in out[1:]], sorted(want.items()))
        pairs = [(f"k{rng.randint(0, 99)}", rng.randint(-50, 50)) for _ in range(100000)]
        out = self.query("groupby", self.put("kv.csv", "key,value\n" + "".join(f"{k},{v}\n" for k, v in pairs)))
        want = collections.defaultdict(lambda: [0, 0])
        for k, v in pairs:
            want[k][0] += 1
            want[k][1] += v
        self.assertEqual({r[0]: [int(r[1]), int(r[2])] for r in out[1:]}, want)
        text = "".join(f"d{i % 7}\tt{i % 13}\n" for i in range(1000))
        out = self.query("inverted-index", self.put("index.dat", text))
        documents = {r[0]: set(r[1].split(",")) for r in out[1:]}
        self.assertEqual(documents, {f"t{t}": {f"d{i % 7}" for i in range(1000) if i % 13 == t} for t in range(13)})
        lines = [f"line {i}" for i in range(200000)]
        out = self.query("string-match", self.put("l.txt", "\n".join(lines) + "\n"), "--where", "contains(line, '99')")
        self.assertEqual(sorted(r[0] for r in out[1:]), sorted(x for x in lines if "99" in x))
        points = [(float(i), 3.0 * i + 7) for i in range(1000)]
        out = self.query("linear-regression", self.put("p.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y in points)))
        self.assertTrue(math.isclose(float(out[1][0]), 3, rel_tol=1e-9))
        self.assertTrue(math.isclose(float(out[1][1]), 7, rel_tol=1e-6))
        out = self.query("page-view-count", self.put("v.csv", "url,visitor\na,1\na,1\na,2\nb,1\n"), "--order-by", "url")
        self.assertEqual(out, [["url", "views", "visitors"], ["a", "3", "2"], ["b", "1", "1"]])

    def test_detach_receipt_trace(self):
        text = some_text(3 << 20)
        name = self.put("book.txt", text)
        job = self.m.good("mapreduce", "wordcount", name, "--detach").decode().strip()
        self.m.good("wait", job)
        self.m.bad(2, "result", job, "-o", "out.parquet", says="is csv, but the suffix of out.parquet says otherwise")
        self.assertFalse(Path(self.m.path("out.parquet")).exists())
        self.assertEqual(counts_of(self.m.good("result", job)), collections.Counter(words_of(text)))
        job = self.m.good("mapreduce", "wordcount", name, "--detach", "--output-format", "parquet").decode().strip()
        self.m.bad(2, "result", job, "-o", "out.csv", says="is parquet, but the suffix of out.csv says otherwise")
        self.m.good("result", job, "-o", "out.parquet")
        self.assertEqual(Path(self.m.path("out.parquet")).read_bytes()[:4], b"PAR1")
        self.m.good("mapreduce", "wordcount", name, "-o", "out.csv", "--receipt", "r.json", "--trace", "t.json")
        receipt = json.loads(Path(self.m.path("r.json")).read_text())
        self.assertEqual(receipt["flow"], "mapreduce")
        self.assertEqual(receipt["query"]["rows_read"], len(words_of(text)))
        self.assertEqual(receipt["query"]["groups"], len(set(words_of(text))))
        self.assertTrue(json.loads(Path(self.m.path("t.json")).read_text()))
        plan = self.m.json("explain", "mapreduce", "wordcount", name)
        self.assertEqual(plan["flow"], "mapreduce")

    def test_cancel(self):
        name = self.put("book.txt", some_text(8 << 20))
        process = self.m.start("mapreduce", "wordcount", *[name] * 40, "-o", "none")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        self.assertIn(process.returncode, (130, 0))
        if process.returncode == 130:
            self.assertFalse(Path(self.m.path("none")).exists())

    def test_little_memory(self):
        text = b"".join(b"word%d " % (i * 7919 % 200000) for i in range(900000))
        self.check_wordcount([self.put("book.txt", text)], text, "--memory", "64MiB")

    def test_memory_between(self):
        """Partials that fit, with groups or a result that do not fit beside them: fewer keys at a time."""
        text = b"".join(b"word%d %s " % (i * 7919 % 100000, b"x" * 30) for i in range(500000))
        name = self.put("book.txt", text)
        for memory in (16, 32, 48, 128):
            self.check_wordcount([name], text, "--memory", f"{memory}MiB")


class Columns(QueryCase, SharedMachineTest):
    """From libhac: columns in pool memory, with and without hot keys."""

    def test_groups(self):
        for rows, keys, skew in ((0, 1, 0), (1, 1, 0), (1000, 10, 0), (65536, 3, 8), (65537, 100, 0), (300000, 1, 0),
                                 (300000, 1000, 8), (300000, 200000, 0), (1000000, 128, 8)):
            result = subprocess.run([BUILD / "tests" / "query_arrow", str(rows), str(keys), str(skew)],
                                    env=self.m.environment, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual((result.returncode, result.stderr), (0, ""), (rows, keys, skew, self.m.log()[-2000:]))
            self.assertEqual(result.stdout.count("right"), 5, result.stdout)

    def columns(self, *arguments):
        """{what was done: (job, engine)}"""
        result = subprocess.run([BUILD / "tests" / "query_arrow", *map(str, arguments)], env=self.m.environment,
                                capture_output=True, text=True, timeout=120, check=True)
        return {m[3]: (m[1], m[2]) for m in re.finditer(r'^job (\d+) "engine":"(\w+)\S* ([\w ]+):', result.stdout, re.M)}

    def test_hot_keys_shown(self):
        """Seven eighths of the rows have one key, the others one of many: the hit rate, in all forms of show."""
        jobs = self.columns(500000, 100000, 14)
        (job, engine), (without, same), (host, other) = (jobs[name] for name in ("hot keys on", "hot keys off", "by the host"))
        self.assertEqual((engine, same, other), ("device", "device", "host"))
        query = self.m.json("show", job)["receipt"]["query"]
        hot, chunks = query["hot_keys"], query["chunks"]
        self.assertTrue(hot["on"])
        self.assertEqual(hot["sampled_rows"] + hot["rows_behind_sample"], 500000)
        self.assertAlmostEqual(hot["sample_coverage"], hot["sampled_rows"] / 500000)
        self.assertAlmostEqual(hot["hit_rate"], 7 / 8, delta=0.01)
        self.assertAlmostEqual(hot["hit_rate"], hot["hits"] / hot["rows_behind_sample"])
        self.assertGreater(hot["sample_hit_rate"], 7 / 8 - 0.03)
        self.assertGreaterEqual(hot["local_hits"], hot["hits"])
        self.assertGreaterEqual(hot["pairs_local"], chunks)
        self.assertEqual(query["merge"], {"partials": chunks, "pairs": query["groups_in_partials"], "groups": query["groups"]})
        for groups in hot["work_groups"]:  # of a device with many, the last one may have few rows
            self.assertTrue(0.8 < groups["min"] <= hot["hit_rate"] <= groups["max"] < 0.95, groups)
        bars = [bar for groups in hot["work_groups"] for bar in groups["bars"]]
        for bar in bars:
            self.assertAlmostEqual(bar["hit_rate"], 7 / 8, delta=5 * math.sqrt(7 / 64 / bar["rows"]))
        self.assertEqual((sum(b["rows"] for b in bars), sum(b["hits"] for b in bars)),
                         (hot["rows_behind_sample"], hot["hits"]))
        text, svg = self.m.good("show", job).decode(), self.m.good("show", job, "--format", "svg").decode()
        self.assertRegex(text, r"\nhot keys\n(.*\n)*  hit rate +8[678]\.\d % of the ")
        self.assertRegex(text, r"\n +\d+(-\d+)? +8\d\.\d % #{34,36}\n")
        self.assertIn("hit rate: 8", svg)
        self.assertEqual(xml.dom.minidom.parseString(svg).documentElement.tagName, "svg")
        hot = self.m.json("show", without)["receipt"]["query"]["hot_keys"]
        self.assertEqual((hot["on"], hot["hits"], hot["hit_rate"], hot["work_groups"]), (False, 0, None, []))
        self.assertIn("hot keys: off\n", self.m.good("show", without).decode())
        self.assertIn("the device engine was asked for", self.m.good("why", without).decode())
        self.assertIn("the host engine was asked for", self.m.good("why", host).decode())
        self.assertNotIn("hot_keys", self.m.json("show", host)["receipt"]["query"])

    def test_no_effect(self):
        """A request that cannot be met is reported with the result, by explain and by why."""
        name = self.put("book.txt", some_text(2 << 20))
        query = ("--group-by", "upper(word) as w", "--select", "count() as c", "--parse", "words")
        for options, words in ((("--hot-keys", "on"), "hot keys have no effect"), (("--engine", "device"), "the device engine was asked for"),
                               (("--engine", "host"), None)):
            done = self.m.run("mapreduce", name, *query, *options)
            why = self.m.good("why", str(self.m.json("jobs")["jobs"][-1]["id"])).decode()
            self.assertEqual(done.code, 0)
            if words is None:
                self.assertEqual(done.err, "")
                continue
            for text in (done.err, why):
                self.assertIn(words, text)
                self.assertIn("it works on texts, or has decimals of more than 18 digits", text)
        for select, says in (("count(distinct word) as c", "an aggregate is none of count, sum, avg, min and max"),
                             ("sum(exp(length(word) * 0.1)) as c", "it has a function whose last bits differ")):
            done = self.m.run("mapreduce", name, "--parse", "words", "--select", select, "--engine", "device")
            self.assertEqual(done.code, 0)
            self.assertIn(f"the device engine was asked for and cannot run it: {says}", done.err)
        small = self.put("small.txt", b"a b")
        self.assertIn("the input is small", self.m.json("explain", "mapreduce", "wordcount", small, "--hot-keys", "on")["remark"])
        self.assertEqual(self.m.json("explain", "mapreduce", "wordcount", name, "--hot-keys", "on")["remark"], None)


class Devices(QueryCase, MachineTest):
    """Several devices, and executors that are killed meanwhile."""

    def setUp(self):
        self.text = some_text(12 << 20)

    def test_two_devices(self):
        """Whichever device works on it: the same bits, floating-point sums included."""
        rows = csv_of(sales(60000))
        results = []
        for profile in (ONE_DEVICE, TWO_DEVICES):
            self.m = self.machine(profile)
            name = self.put("sales.csv", rows)
            results.append(self.m.good("mapreduce", name, "--schema", COLUMNS, "--group-by", "city", "--select",
                                       "sum(price) as s, variance(price) as v", "--order-by", "city"))
            self.check_wordcount([self.put("book.txt", self.text)], self.text)
        self.assertEqual(*results)

    def test_one_task(self):
        """One device does it, and is named; also for input from a pipe."""
        self.m = self.machine(TWO_DEVICES)
        name = self.put("few.csv", "x\n1\n2\n")
        self.assertEqual(self.m.good("mapreduce", name, "--schema", "x:i64", "--select", "sum(x) as s"), b"s\n3\n")
        job = str(self.m.json("jobs")["jobs"][-1]["id"])
        self.assertRegex(self.m.good("why", job).decode(), r"(?m)^It ran on cpu\.[01] all in one task\.$")
        self.assertNotIn("%", self.m.good("why", job).decode())
        self.assertIn("on cpu.0 or cpu.1", self.m.good("log", job).decode())
        self.assertIn("may take the task", self.m.good("explain", "mapreduce", name, "--select", "x").decode())
        self.assertIsNone(self.m.json("show", job)["receipt"]["devices"][0]["share_planned"])

    def kills(self, times, seed):
        """SIGKILL at random moments: the right answer each time."""
        self.m = self.machine(TWO_DEVICES)
        daemon = self.m.daemon()
        names = [self.put("book.txt", self.text)] * 5
        want = collections.Counter({word: 5 * n for word, n in collections.Counter(words_of(self.text)).items()})
        began = time.monotonic()
        self.assertEqual(counts_of(self.m.good("mapreduce", "wordcount", *names)), want)
        seconds = time.monotonic() - began
        rng = random.Random(seed)
        lost = 0
        for _ in range(times):
            process = self.m.start("mapreduce", "wordcount", *names, "--receipt", "receipt.json")
            time.sleep(rng.uniform(0, seconds))
            for pid in rng.sample(daemon.executor_pids(), min(1, len(daemon.executor_pids()))):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (0, b""), self.m.log()[-3000:])
            self.assertEqual(counts_of(out), want)
            receipt = json.loads(Path(self.m.path("receipt.json")).read_text())
            self.assertEqual(receipt["query"]["rows_read"], sum(want.values()))
            lost += receipt["retries"]
        self.assertGreaterEqual(lost, max(1, times // 20), "the kills came too late to matter")

    def test_kills(self):
        self.kills(10, 1)


class Kill200(Devices):
    test_two_devices = test_kills = None

    def test_200_kills(self):
        self.kills(200, 2)


if __name__ == "__main__":
    main()
