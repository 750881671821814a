#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl splice: inputs of any length, in every format, through splits. The oracles are plain Python: csv, json, struct,
and dictionaries."""
import array
import collections
import csv
import fcntl
import gzip
import io
import json
import math
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SANITIZED, TWO_DEVICES, UNEVEN_DEVICES, MachineTest, SharedMachineTest, children, eventually, main  # noqa: E402

MIB = 1 << 20
SCHEMA = "city:string,amount:i64,price:f64"
GROUPS = ("--group-by", "city", "--select", "count() as n, sum(amount) as s, min(price) as low, max(price) as high")


def sales(n, seed=1, odd=True):
    """Rows (city, amount, price); prices are multiples of 1/8, so that text and numbers are equal."""
    rng = random.Random(seed)
    cities = [f"c{i}" for i in range(50)] + (["New York", "Zoë", 'say "so"', "a,b"] if odd else [])
    return [(rng.choice(cities), rng.randrange(-10**9, 10**9), rng.randrange(-8000, 8000) / 8) for _ in range(n)]


def grouped(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[0]].append(row)
    return {city: (len(g), sum(r[1] for r in g), min(r[2] for r in g), max(r[2] for r in g)) for city, g in groups.items()}


def read_groups(out):
    lines = list(csv.reader(io.StringIO(out.decode())))
    assert lines[0][1:] == ["n", "s", "low", "high"], lines[0]
    assert len({line[0] for line in lines[1:]}) == len(lines) - 1, "a group is there twice"
    return {line[0]: (int(line[1]), int(line[2]), float(line[3]), float(line[4])) for line in lines[1:]}


def csv_of(rows, header=True):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header:
        writer.writerow(("city", "amount", "price"))
    writer.writerows(rows)
    return out.getvalue().encode()


def typed(value):
    """One object of Hadoop's typed bytes."""
    if isinstance(value, bytes):
        return struct.pack(">BI", 0, len(value)) + value
    if isinstance(value, str):
        return struct.pack(">BI", 7, len(value.encode())) + value.encode()
    if isinstance(value, int):
        return struct.pack(">Bq", 4, value)
    return struct.pack(">Bd", 6, value)


class Case:
    """`m` is the machine."""

    def put(self, name, data):
        Path(self.m.path(name)).write_bytes(data)
        return name

    def check(self, rows, *words, **more):
        """The groups of these rows; splits of one data set each, so that there are many."""
        got = read_groups(self.m.good("splice", *words, *GROUPS, "--split-size", "1MiB", **more))
        self.assertEqual(got, grouped(rows))


class Formats(Case, SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows, cls.plain = sales(120000), sales(120000, 2, odd=False)
        cls.text = csv_of(cls.rows)

    def test_csv(self):
        self.check(self.rows, self.put("a.csv", self.text), "--schema", SCHEMA)
        self.check(self.rows, self.put("b.csv", csv_of(self.rows, header=False)), "--schema", SCHEMA, "--no-header")
        text = csv_of(self.plain).replace(b",", b";")
        self.check(self.plain, self.put("c.csv", text), "--schema", SCHEMA, "--delimiter", ";")

    def test_quotes(self):
        """Quoted line feeds around every place where a split may be cut."""
        rows = [("x\n" * (i % 7) + "y", i, i / 8) for i in range(150000)]
        self.check(rows, self.put("a.csv", csv_of(rows)), "--schema", SCHEMA)

    def test_tsv(self):
        rows = [(city.replace("Zoë", "tab\there"), amount, price) for city, amount, price in self.rows]
        text = "".join(f"{city}\t{amount}\t{price}\n".replace("tab\t", "tab\\t") for city, amount, price in rows)
        self.check(rows, self.put("a.tsv", b"city\tamount\tprice\n" + text.encode()), "--schema", SCHEMA)
        self.check(rows, self.put("b.tsv", text.encode()), "--schema", SCHEMA, "--no-header")

    def test_jsonl(self):
        lines = (json.dumps({"price": price, "other": [1, {"x": "}"}], "city": city, "amount": amount})
                 for city, amount, price in self.rows)
        self.check(self.rows, self.put("a.jsonl", "\n".join(lines).encode()), "--schema", SCHEMA)

    def test_fixed(self):
        rows = [(i % 77, amount, price) for i, (_, amount, price) in enumerate(self.rows)]
        wanted = {str(k): v for k, v in grouped(rows).items()}
        for order, sign in (("little", "<"), ("big", ">")):
            data = b"".join(struct.pack(f"{sign}hqd", *row) for row in rows)
            out = self.m.good("splice", self.put(order, data), "--parse", "fixed", "--byte-order", order, "--schema",
                              "city:i16,amount:i64,price:f64", *GROUPS, "--split-size", "1MiB")
            self.assertEqual(read_groups(out), wanted)

    def test_lengths(self):
        """A record: its length, an integer, a float, and a text that takes the rest."""
        for order, sign in (("little", "<"), ("big", ">")):
            data = bytearray()
            for city, amount, price in self.rows:
                record = struct.pack(f"{sign}qd", amount, price) + city.encode()
                data += struct.pack(f"{sign}I", len(record)) + record
            self.check(self.rows, self.put(order, data), "--parse", "lengths", "--byte-order", order, "--schema",
                       "amount:i64,price:f64,city:string")

    def test_longest_record(self):
        """64 MiB after its length."""
        words = ("splice", "in", "--parse", "lengths", "--schema", "s:string", "--select", "sum(length(s)) as n")
        self.put("in", struct.pack("<I", 64 * MIB) + b"x" * (64 * MIB))
        self.assertEqual(self.m.good(*words), b"n\n%d\n" % (64 * MIB))
        self.put("in", struct.pack("<I", 64 * MIB + 1) + b"x" * (64 * MIB + 1))
        self.m.bad(1, *words, says="record 1, at byte 0: a record is longer than 64 MiB")

    def test_typed_bytes(self):
        data = b"".join(typed(city) + typed(amount) for city, amount, _ in self.rows)
        out = self.m.good("splice", self.put("in", data), "--parse", "typedbytes", "--schema", "key:string,value:i64",
                          "--group-by", "key", "--select", "count() as n, sum(value) as s", "--split-size", "1MiB")
        got = {line[0]: (int(line[1]), int(line[2])) for line in list(csv.reader(io.StringIO(out.decode())))[1:]}
        self.assertEqual(got, {city: v[:2] for city, v in grouped(self.rows).items()})

    def test_typed_bytes_in_depth(self):
        """A value may be as deep as the readers of records allow, for `mapreduce` as well."""
        for depth in (64, 65):
            name = self.put("in", typed("k") + struct.pack(">BI", 8, 1) * depth + typed(5))
            for command in ("splice", "mapreduce"):
                words = (command, name, "--parse", "typedbytes", "--schema", "key:string", "--select", "key")
                if depth == 64:
                    self.assertEqual(self.m.good(*words), b"key\nk\n")
                else:
                    self.m.bad(1, *words, says="more than 64 deep")

    def test_lines_words_kv(self):
        rng = random.Random(5)
        lines = [" ".join(f"w{rng.randrange(2000)}" for _ in range(rng.randrange(12))) for _ in range(100000)]
        text = ("\n".join(lines) + "\n").encode()
        for parse, column, wanted in (("lines", "line", collections.Counter(lines)),
                                      ("words", "word", collections.Counter(text.decode().split()))):
            out = self.m.good("splice", self.put("in.txt", text), "--parse", parse, "--group-by", column, "--select",
                              "count() as n", "--split-size", "1MiB")
            got = {line[0]: int(line[1]) for line in list(csv.reader(io.StringIO(out.decode())))[1:]}
            self.assertEqual(got, wanted)
        text = "".join(f"k{i % 99}\tv{i}\t{i}\n" for i in range(100000)).encode()
        out = self.m.good("splice", self.put("kv", text), "--parse", "kv", "--group-by", "key", "--select",
                          "count() as n, max(value) as last", "--split-size", "1MiB")
        wanted = {}
        for i in range(100000):
            n, last = wanted.get(f"k{i % 99}", (0, ""))
            wanted[f"k{i % 99}"] = n + 1, max(last, f"v{i}\t{i}")
        self.assertEqual({line[0]: (int(line[1]), line[2]) for line in list(csv.reader(io.StringIO(out.decode())))[1:]}, wanted)

    def test_rows(self):
        """In the input's order, with one header, for all splits."""
        name = self.put("a.csv", self.text)
        out = self.m.good("splice", name, "--schema", SCHEMA, "--where", "amount > 0", "--select", "city, amount * 2 as twice",
                          "--split-size", "1MiB")
        wanted = [[city, str(amount * 2)] for city, amount, _ in self.rows if amount > 0]
        self.assertEqual(list(csv.reader(io.StringIO(out.decode()))), [["city", "twice"], *wanted])
        out = self.m.good("splice", name, "--schema", SCHEMA, "--select", "city, amount", "--output-format", "json",
                          "--split-size", "1MiB", "--limit", "30001")
        self.assertEqual([tuple(json.loads(line).values()) for line in out.decode().splitlines()],
                         [row[:2] for row in self.rows[:30001]])
        self.assertEqual(self.m.good("splice", name, "--schema", SCHEMA, "--where", "amount > 1e10", "--select", "city"), b"city\n")
        self.assertEqual(self.m.good("splice", name, "--schema", SCHEMA, "--select", "city", "--limit", "0"), b"city\n")

    def test_order(self):
        name = self.put("a.csv", self.text)
        out = self.m.good("splice", name, "--schema", SCHEMA, "--select", "amount", "--order-by", "amount desc",
                          "--split-size", "1MiB")
        self.assertEqual(list(map(int, out.split()[1:])), sorted((row[1] for row in self.rows), reverse=True))
        out = self.m.good("splice", name, "--schema", SCHEMA, *GROUPS, "--order-by", "n desc, city", "--limit", "5",
                          "--split-size", "1MiB")
        wanted = sorted(grouped(self.rows).items(), key=lambda item: (-item[1][0], item[0]))[:5]
        self.assertEqual(list(read_groups(out).items()), wanted)

    def test_order_in_memory(self):
        """The memory that it reports, as needed and as available, includes the input."""
        name = self.put("m.csv", b"k,v\n" + b"".join(b"%d,%d of some length\n" % (i * 7919 % 1000003, i) for i in range(600000)))
        words = ("splice", name, "--schema", "k:i64,v:string", "--select", "k, v", "--order-by", "k", "-o", "m.out", "--memory")
        error = self.m.bad(4, *words, "40MiB", says="this query needs about ")
        needed = re.search(r"about (\d+) MiB of memory, and 40 MiB are there", error)
        self.assertIsNotNone(needed, error)
        again = self.m.run(*words, f"{needed.group(1)}MiB")
        self.assertNotIn("this query needs about", again.err)
        self.m.good(*words, "90MiB")

    def test_order_of_binary_records(self):
        """Formats whose records are found only from the start: larger than a chunk, ordered and as Parquet, of one file and two."""
        rows = sorted(self.rows, key=lambda row: row[1])
        for name, schema, data in (
                ("lengths", "amount:i64,city:string", [struct.pack("<Iq", 8 + len(c.encode()), a) + c.encode() for c, a, _ in self.rows]),
                ("typedbytes", "city:string,amount:i64", [typed(c) + typed(a) for c, a, _ in self.rows])):
            files = [self.put(f"a.{name}", b"".join(data[:70000])), self.put(f"b.{name}", b"".join(data[70000:]))]
            words = (*files, "--parse", name, "--schema", schema, "--select", "amount, city")
            out = self.m.good("splice", *words, "--order-by", "amount")
            self.assertEqual(list(csv.reader(io.StringIO(out.decode())))[1:], [[str(a), c] for c, a, _ in rows])
            self.m.good("splice", *words, "-o", f"{name}.parquet")
            out = self.m.good("parquet", "query", f"{name}.parquet", "--select", "count() as n, sum(amount) as s")
            self.assertEqual(out, b"n,s\n%d,%d\n" % (len(rows), sum(row[1] for row in rows)))

    def test_parquet(self):
        """Parquet results are whole; read back by `parquet query`."""
        name = self.put("a.csv", self.text)
        self.m.good("splice", name, "--schema", SCHEMA, "--select", "*", "-o", "o.parquet", "--split-size", "1MiB")
        self.assertEqual(read_groups(self.m.good("parquet", "query", "o.parquet", *GROUPS)), grouped(self.rows))

    def test_as_mapreduce(self):
        """Equal to the last bit for all splits, and to the query of the file as a whole, which adds floats in
        another order."""
        rng = random.Random(9)
        text = "k,x\n" + "".join(f"{rng.randrange(1000)},{rng.gauss(0, 1) * 10 ** rng.randrange(-9, 9)!r}\n" for _ in range(150000))
        words = (self.put("x.csv", text.encode()), "--schema", "k:i64,x:f64", "--group-by", "k", "--select",
                 "sum(x) as s, avg(x) as m, variance(x) as v, count(distinct x) as d", "--order-by", "k")
        wanted = self.m.good("splice", *words)
        for size in ("1MiB", "3MiB", "32MiB"):
            self.assertEqual(self.m.good("splice", *words, "--split-size", size), wanted)
        whole = self.m.good("mapreduce", *words).decode().splitlines()
        self.assertEqual((whole[0], len(whole)), ("k,s,m,v,d", 1001))
        for one, other in zip(wanted.decode().splitlines()[1:], whole[1:]):
            (k, *floats, d), (k2, *floats2, d2) = one.split(","), other.split(",")
            self.assertEqual((k, d), (k2, d2))
            for a, b in zip(map(float, floats), map(float, floats2)):
                self.assertTrue(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-3), (k, a, b))


class Inputs(Case, SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows = sales(60000)
        cls.text = csv_of(cls.rows)

    def parts(self, n):
        step = len(self.rows) // n + 1
        return [self.rows[i * step:(i + 1) * step] for i in range(n)]

    def test_many_files(self):
        """More files than `mapreduce` takes, each with a header, some without a line feed at the end."""
        names = [self.put(f"{i:03}.csv", csv_of(part)[:-1 if i % 3 == 0 else None]) for i, part in enumerate(self.parts(300))]
        self.check(self.rows, *names, "--schema", SCHEMA)
        out = self.m.good("splice", *names, "--schema", SCHEMA, "--select", "amount")
        self.assertEqual(out.split(), [b"amount"] + [b"%d" % row[1] for row in self.rows])

    def test_empty_files(self):
        full, none, header = self.put("full.csv", self.text), self.put("none.csv", b""), self.put("header.csv", csv_of([]))
        self.check(self.rows, none, full, header, none, "--schema", SCHEMA)
        self.check([], header, "--schema", SCHEMA)
        self.assertEqual(self.m.good("splice", self.put("none.txt", b""), "--select", "line"), b"line\n")
        self.assertEqual(self.m.good("splice", "none.txt", "--select", "count() as n"), b"n\n0\n")

    def test_bad_headers(self):
        """What is wrong with a header, and in which file; an open quote would make a file with records one without."""
        good, quote, open_one = (self.put(name, text) for name, text in (
            ("good.csv", b"a,b\n1,2\n"), ("quote.csv", b"a,b\"x\"\n1,2\n"), ("open.csv", b"a,b\"x\n1,2\n")))
        for bad, says in ((quote, "quote.csv: line 1: a double quote inside a field"),
                          (open_one, "open.csv: line 1: a double quote in the header is not closed")):
            for files in ((bad,), (good, bad), (bad, good)):
                self.m.bad(1, "splice", *files, "--select", "count(a) as n", says=says)
        for other in (self.put("other.csv", b"x,y\n1,2\n"), self.put("others.csv", b"x,y\n")):
            for select in ("a", "count(a) as n"):
                self.m.bad(2, "splice", good, other, "--select", select, "-o", "out", says=f"{other}: the header has no column 'a'")
        few, schema = self.put("few.csv", b"c,a\n3,4\n"), ("--schema", "a:i64,b:i64")
        for command in ("splice", "mapreduce"):  # later headers need what the query uses, the first one the whole schema
            self.assertEqual(self.m.good(command, good, few, *schema, "--select", "sum(a) as s"), b"s\n5\n")
            self.m.bad(2, command, good, few, *schema, "--select", "sum(b) as s", says="few.csv: the header has no column 'b'")
            self.m.bad(2, command, few, good, *schema, "--select", "sum(a) as s", says="the input has no column 'b'")
        self.m.bad(1, "splice", self.put("none.csv", b""), "--select", "a", says="none.csv: the input is empty")
        self.m.bad(2, "splice", good, "--select", "a", "-o", "same", "--receipt", "same",
                   says="--output and --receipt name the same file, same")
        self.m.bad(2, "splice", good, "--select", "a", "--receipt", f"./{good}",
                   says="--receipt names the input good.csv, which it would overwrite")

    def test_gzip(self):
        a, b, c = self.parts(3)
        names = [self.put("a.csv.gz", gzip.compress(csv_of(a))), self.put("b.csv", csv_of(b)),
                 self.put("c.csv", gzip.compress(csv_of(c)))]  # whatever its name is
        self.check(self.rows, *names, "--schema", SCHEMA)
        two = gzip.compress(csv_of(a)) + gzip.compress(csv_of(b, header=False))  # as `cat` makes them
        self.check(a + b, self.put("two.csv.gz", two), "--schema", SCHEMA)
        self.check(self.rows, "-", "--parse", "csv", "--schema", SCHEMA, data=gzip.compress(self.text))
        rows = [(i % 9, i, i / 8) for i in range(5000)]
        data = gzip.compress(b"".join(struct.pack("<hqd", *row) for row in rows))
        out = self.m.good("splice", self.put("fixed.gz", data), "--parse", "fixed", "--schema", "city:i16,amount:i64,price:f64", *GROUPS)
        self.assertEqual(read_groups(out), {str(k): v for k, v in grouped(rows).items()})
        whole = gzip.compress(self.text)
        for broken in (whole[:len(whole) // 2], whole[:2000] + b"\0" * 100 + whole[2100:]):
            self.m.bad(1, "splice", self.put("broken.csv.gz", broken), "--schema", SCHEMA, *GROUPS, "-o", "out", says="broken.csv.gz")
        for broken, says in ((b"", "the compressed data are cut off"), (whole[:3], "the compressed data are cut off"),
                             (b"\0" * 20, "is neither gzip nor zstd")):
            for command in ("splice", "mapreduce"):
                self.m.bad(1, command, self.put("broken.txt.gz", broken), "--select", "count() as n", "-o", "out",
                           says=f"broken.txt.gz: {says}")
        self.assertFalse(Path(self.m.path("out")).exists())

    def test_numbers_that_look_compressed(self):
        """Each file's own name decides; the names of the others do not matter."""
        a, z = (struct.pack("<10I", first, second, *[7] * 8) for first, second in ((0x00088B1F, 7), (0x184D2A50, 32)))
        names = [self.put("a.bin", a), self.put("z.bin", z), self.put("b.bin.gz", gzip.compress(struct.pack("<10I", *[1] * 10)))]
        words = ("--parse", "fixed", "--schema", "x:u32", "--select", "count() as n, sum(x) as s")
        wanted = sum(struct.unpack("<20I", a + z))
        for command in ("splice", "mapreduce"):
            self.assertEqual(self.m.good(command, *names, *words), b"n,s\n30,%d\n" % (wanted + 10))
            self.assertEqual(self.m.good(command, *names[:2], *words), b"n,s\n20,%d\n" % wanted)

    @unittest.skipUnless(shutil.which("zstd"), "zstd is not installed: no such file is made")
    def test_zstd(self):
        self.put("a.csv", self.text)
        subprocess.run(["zstd", "-q", "a.csv", "-o", "a.csv.zst"], cwd=self.m.work, check=True)
        self.check(self.rows, "a.csv.zst", "--schema", SCHEMA)
        whole = Path(self.m.path("a.csv.zst")).read_bytes()
        self.m.bad(1, "splice", self.put("broken.csv.zst", whole[:-100]), "--schema", SCHEMA, *GROUPS, says="broken.csv.zst")

    def test_compressed_elsewhere(self):
        """The commands of the other flows read compressed text, too."""
        name = self.put("a.csv.gz", gzip.compress(self.text))
        self.assertEqual(read_groups(self.m.good("mapreduce", name, "--schema", SCHEMA, *GROUPS)), grouped(self.rows))
        self.m.good("parquet", "convert", name, "a.parquet", "--schema", SCHEMA)
        self.assertEqual(read_groups(self.m.good("parquet", "query", "a.parquet", *GROUPS)), grouped(self.rows))
        out = self.m.good("sort", name, "--key", "amount", "--schema", SCHEMA)
        wanted = sorted(self.rows, key=lambda row: row[1])
        self.assertEqual([int(row[1]) for row in list(csv.reader(io.StringIO(out.decode())))[1:]], [row[1] for row in wanted])

    def test_large_splits_of_rows(self):
        """Rows need as much memory as their splits: where it is short, a round takes one split, however many wait."""
        text = b"".join(b"%099d\n" % i for i in range(500000))
        name = self.put("long.txt", text)
        out = self.m.good("splice", name, "--select", "line", "--split-size", "8MiB", "--memory", "60MiB")
        self.assertEqual(out, b"line\n" + text)
        out = self.m.good("splice", "-", "--parse", "lines", "--select", "line", "--memory", "24MiB", data=text)
        self.assertEqual(out, b"line\n" + text, "what a round needs grows with the rounds before")

    def test_standard_input(self):
        text = self.text
        self.check(self.rows, "-", "--parse", "csv", "--schema", SCHEMA, data=text)
        a, b = self.parts(2)
        self.check(self.rows, self.put("a.csv", csv_of(a)), "-", "--schema", SCHEMA, data=csv_of(b))
        with open(self.m.path("a.csv"), "rb") as file:  # a file, read from where it is
            file.seek(len(b"city,amount,price\n"))
            self.check(a, "-", "--parse", "csv", "--schema", SCHEMA, "--no-header", stdin=file)

    def test_pipes_by_name(self):
        fifo = self.m.path("fifo")
        os.mkfifo(fifo)
        writer = threading.Thread(target=lambda: Path(fifo).write_bytes(self.text))
        writer.start()
        self.check(self.rows, "fifo", "--parse", "csv", "--schema", SCHEMA)
        writer.join()
        self.assertTrue(self.m.good("splice", "/proc/self/status", "--parse", "lines", "--select", "line").startswith(b"line\nName:"))

    def test_pieces(self):
        """An input that comes in odd pieces gives what the file gives."""
        text, rng = csv_of(self.rows[:3000]), random.Random(4)
        process = self.m.start("splice", "-", "--parse", "csv", "--schema", SCHEMA, *GROUPS, stdin=subprocess.PIPE)
        at = 0
        while at < len(text):
            n = rng.choice((1, 2, 7, 100, 5000, 20000))
            process.stdin.write(text[at:at + n])
            process.stdin.flush()
            at += n
            time.sleep(rng.choice((0, 0, 0, 0.02)))
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(read_groups(out), grouped(self.rows[:3000]))

    def test_rows_before_the_end(self):
        process = self.m.start("splice", "-", "--parse", "csv", "--schema", SCHEMA, "--where", "amount > 5", "--select", "amount",
                               stdin=subprocess.PIPE)
        process.stdin.write(b"city,amount,price\na,7,1\na,3,1\na,8,1\n")
        process.stdin.flush()
        self.assertEqual([process.stdout.readline() for _ in range(3)], [b"amount\n", b"7\n", b"8\n"])
        process.stdin.write(b"a,9,1\na,1")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"9\n")
        out, err = process.communicate(b"1,1\n", timeout=60)
        self.assertEqual((process.returncode, out, err), (0, b"11\n", b""))

    def test_file_that_grows(self):
        """It is read up to the end that it has at that moment."""
        name, rows = self.put("a.csv", self.text), list(self.rows)
        stop = threading.Event()

        def grow():
            with open(self.m.path(name), "ab", buffering=0) as file:
                while not stop.is_set() and len(rows) < 200000:
                    more = sales(1000, len(rows))
                    file.write(csv_of(more, header=False))
                    rows.extend(more)
                    time.sleep(0.002)
        writer = threading.Thread(target=grow)
        writer.start()
        try:
            for _ in range(50):
                result = self.m.run("splice", name, "--schema", SCHEMA, *GROUPS, "--split-size", "1MiB")
                if result.code == 0:
                    break
                # a row was being written, across the border of two pages
                self.assertRegex(result.err, r"\Ahacctl: a.csv: line \d+: ")
        finally:
            stop.set()
            writer.join()
        self.assertEqual((result.code, result.err), (0, ""))
        got = read_groups(result.out)
        seen = sum(n for n, *_ in got.values())
        self.assertGreaterEqual(seen, len(self.rows))
        self.assertEqual(got, grouped(rows[:seen]))

    def test_file_that_shrinks(self):
        """A truncated stream: no crash, and the rows before are right, or a message says why not."""
        for _ in range(3):
            name = self.put("a.csv", csv_of(self.rows * 8))
            process = self.m.start("splice", name, "--schema", SCHEMA, *GROUPS, "--split-size", "1MiB")
            time.sleep(random.random() * 0.2)
            os.truncate(self.m.path(name), 1000)
            out, err = process.communicate(timeout=60)
            self.assertIn(process.returncode, (0, 1), err)
            if process.returncode == 0:
                self.assertEqual(err, b"")
                self.assertLessEqual(sum(n for n, *_ in read_groups(out).values()), 8 * len(self.rows))
            else:
                self.assertRegex(err, rb"\Ahacctl: a\.csv: [^\n]+\n\Z")


class Errors(Case, SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rows = sales(100000, odd=False)

    def test_place(self):
        """File and line, in every file and split."""
        good = csv_of(self.rows)
        lines = good.count(b"\n")
        bad = self.put("bad.csv", good + b"x,y,1\n")
        words = ("--schema", SCHEMA, *GROUPS, "--split-size", "1MiB", "-o", "out")
        err = self.m.bad(1, "splice", self.put("a.csv", good), bad, "a.csv", *words, says="bad.csv")
        self.assertIn(f"line {lines + 1}", err)
        self.assertIn("amount", err)
        rng = random.Random(8)
        for _ in range(4):
            at = rng.randrange(1, lines)
            cut = good.split(b"\n")
            cut[at] = b"x,,y"
            err = self.m.bad(1, "splice", self.put("bad.csv", b"\n".join(cut)), *words, says="bad.csv")
            self.assertIn(f"line {at + 1}", err)
        self.assertFalse(Path(self.m.path("out")).exists())

    def test_bad_inputs(self):
        """The rows before an unreadable place are there; an error in a record before it is reported, not the
        unreadable place."""
        rows = b"".join(b"%07d\n" % i for i in range(20000))
        self.put("good.txt", rows)
        self.put("cut.txt.gz", gzip.compress(rows)[:-8])
        result = self.m.run("splice", "good.txt", "cut.txt.gz", "good.txt", "--select", "line")
        self.assertEqual((result.code, result.out), (1, b"line\n" + 2 * rows))
        self.assertIn("cut.txt.gz: the gzip data are cut off", result.err)
        numbers = struct.pack("<1000q", *range(1000))
        result = self.m.run("splice", self.put("f1", numbers), self.put("f2", numbers + b"123"), "--parse", "fixed", "--schema", "a:i64",
                            "--select", "a")
        self.assertEqual((result.code, result.out.split()[1:]), (1, [b"%d" % i for i in range(1000)] * 2), result)
        self.assertIn("f2: 8003 bytes are no whole number of records", result.err)
        self.put("e.csv", b"a\nx\n")
        self.put("b.csv", b"b\n1\n")
        self.put("cut.csv.gz", gzip.compress(b"a\n" + b"1\n" * 50000)[:-9])
        self.put("head.csv.gz", gzip.compress(b"b\n", 0)[:17])
        words = ("--schema", "a:i64", "--select", "sum(a) as s")
        for _ in range(4):
            self.m.bad(1, "splice", "e.csv", "cut.csv.gz", *words, says="e.csv: line 2")
            self.m.bad(2, "splice", "b.csv", "cut.csv.gz", *words, says="no column 'a'")
            self.m.bad(2, "splice", "head.csv.gz", *words, says="no column 'a'")
        out = self.m.good("splice", "good.txt", "cut.txt.gz", "--select", "line", "--limit", "20000")
        self.assertEqual(out, b"line\n" + rows)

    def test_quotes_that_never_end(self):
        """The message is the same however much follows: a record has at most 64 MiB."""
        words = ("--select", "count() as n", "-o", "out")
        for quote, says in ((b'3,5" pipe\n', "line 1002: a double quote inside a field: such"),
                            (b'3,"5\n', "line 1002: a record is longer than 64 MiB: perhaps a quoted field is not closed")):
            self.put("in.csv", b"a,b\n" + b"1,2\n" * 1000 + quote + b"1,2\n" * (70 * MIB // 4))
            for command in ("splice", "mapreduce"):
                self.m.bad(1, command, "in.csv", *words, says=f"in.csv: {says}")
            self.m.bad(1, "splice", "in.csv", *words, "--on-error", "skip", says="in.csv: line 1002: ")

    def test_skip(self):
        lines, rows, skipped = [b"city,amount,price"], [], 0
        for i, row in enumerate(self.rows):
            if i % 1000 == 7:
                lines.append(b"oops,no number,1")
                skipped += 1
            else:
                lines.append(f"{row[0]},{row[1]},{row[2]!r}".encode())
                rows.append(row)
        result = self.m.run("splice", self.put("a.csv", b"\n".join(lines)), "--schema", SCHEMA, *GROUPS, "--on-error", "skip",
                            "--split-size", "1MiB", "--receipt", "r.json")
        self.assertEqual((result.code, read_groups(result.out)), (0, grouped(rows)))
        self.assertEqual(result.err, f"hacctl: {skipped} records that could not be read were left out\n")
        receipt = json.loads(Path(self.m.path("r.json")).read_text())
        self.assertEqual((receipt["query"]["rows_skipped"], receipt["query"]["rows_read"]), (skipped, len(rows)))

    def test_usage(self):
        name = self.put("a.csv", csv_of(self.rows[:100]))
        self.m.bad(2, "splice", name, "--schema", SCHEMA, "--where", "nonsense > 1", "--select", "city", says="nonsense")
        self.m.bad(2, "splice", name, "--schema", "missing:i64", "--select", "missing", says="missing")
        self.m.bad(2, "splice", name, "--schema", SCHEMA, "--select", "city +", says="--select")
        self.m.bad(1, "splice", "-", "--parse", "jsonl", "--select", "x", says="no record to infer columns from", data=b"")
        self.m.bad(1, "splice", name, "gone.csv", "--schema", SCHEMA, "--select", "city", says="gone.csv")
        self.m.bad(4, "splice", name, "--schema", SCHEMA, "--select", "city", "--memory", "1KiB", says="this query needs about ")

    def test_binary(self):
        """Records that end too early are told with the file."""
        data = struct.pack("<qd", 1, 2) * 1000
        self.m.bad(1, "splice", self.put("fixed", data + b"123"), "--parse", "fixed", "--schema", "a:i64,b:f64", "--select",
                   "sum(a) as s", says="fixed")
        data = (struct.pack("<I", 8) + struct.pack("<q", 1)) * 1000
        self.m.bad(1, "splice", self.put("lengths", data + b"\x08\0\0\0123"), "--parse", "lengths", "--schema", "a:i64",
                   "--select", "sum(a) as s", says="lengths")
        data = (typed("k") + typed(1)) * 1000
        self.m.bad(1, "splice", self.put("typed", data + b"\x07\0\0"), "--parse", "typedbytes", "--schema",
                   "key:string,value:i64", "--select", "sum(value) as s", says="typed")


def endless(m, *words, **more):
    """hacctl with an endless input: the process, and one that writes to it."""
    writer = subprocess.Popen(["yes", "a,1,2.5"], stdout=subprocess.PIPE)
    process = m.start("splice", "-", "--parse", "csv", "--no-header", "--schema", SCHEMA, *words, stdin=writer.stdout, **more)
    writer.stdout.close()
    return process, writer


class Life(Case, SharedMachineTest):
    """All kinds of ends, in the middle of a stream."""

    def running(self):
        return eventually(lambda: [job for job in self.m.json("jobs")["jobs"] if job["state"] == "running" and
                                   job.get("fraction") is not None and job["seconds"] > 0.5])

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process, writer = endless(self.m, *GROUPS, "-o", "out")
            job = self.running()[0]
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
            writer.kill()
            writer.wait()
            self.assertEqual((process.returncode, err), (130, b"hacctl: cancelled\n"))
            self.assertEqual(self.m.json("show", job["id"])["state"], "cancelled")
            self.assertEqual(os.listdir(self.m.work), [])

    def test_interrupt_at_a_quiet_input(self):
        """In both modes: as splits, and as one input where rows are ordered."""
        for order in ((), ("--order-by", "line")):
            for number in (signal.SIGINT, signal.SIGTERM):
                process = self.m.start("splice", "-", "--parse", "lines", "--select", "line", *order, "-o", "out",
                                       stdin=subprocess.PIPE)
                process.stdin.write(b"a\n")
                process.stdin.flush()
                self.assertTrue(eventually(lambda: array.array("i", fcntl.ioctl(process.stdin, termios.FIONREAD, b"\1" * 4))[0] == 0))
                time.sleep(0.2)  # it has read the line, and waits
                process.send_signal(number)
                self.assertEqual((process.wait(30), process.stderr.read()), (130, b"hacctl: cancelled\n"))
                for pipe in (process.stdin, process.stdout, process.stderr):
                    pipe.close()
                self.assertEqual(os.listdir(self.m.work), [])

    def test_cancelled_by_another(self):
        process, writer = endless(self.m, *GROUPS, "-o", "out")
        self.m.good("cancel", str(self.running()[0]["id"]))
        _, err = process.communicate(timeout=30)
        writer.kill()
        writer.wait()
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(os.listdir(self.m.work), [])

    def test_reader_that_leaves(self):
        process, writer = endless(self.m, "--select", "amount")
        self.assertEqual(process.stdout.readline(), b"amount\n")
        process.stdout.close()
        self.assertEqual((process.wait(30), process.stderr.read()), (141, b""))
        process.stderr.close()
        writer.kill()
        writer.wait()
        self.assertTrue(eventually(lambda: all(job["state"] != "running" for job in self.m.json("jobs")["jobs"])))

    def test_reader_that_waits(self):
        """Nobody reads the rows: the stream stands still, and memory with it."""
        process, writer = endless(self.m, "--select", "amount", "--memory", "256MiB")
        self.addCleanup(writer.wait)
        self.addCleanup(writer.kill)
        self.running()
        last = []

        def stands_still():
            last.append(self.m.json("top", "--once", "--interval", "500ms")["memory"]["used_bytes"])
            return last[-4:] == last[-1:] * 4
        self.assertTrue(eventually(stands_still, 30), last)
        self.assertLess(last[-1], 600 * MIB)  # beside the query's memory there are rows that nobody has taken
        process.send_signal(signal.SIGINT)  # it is in a write that nobody completes
        self.assertEqual(process.wait(30), 130)
        process.stdout.close()
        process.stderr.close()

    def test_limit_ends_it(self):
        process, writer = endless(self.m, "--select", "amount", "--limit", "1000")
        out, err = process.communicate(timeout=60)
        writer.wait()
        self.assertEqual((process.returncode, out, err), (0, b"amount\n" + b"1\n" * 1000, b""))

    def test_full_disk(self):
        self.put("a.csv", csv_of(sales(20000)))
        self.m.bad(1, "splice", "a.csv", "--schema", SCHEMA, "--select", "*", "-o", "/dev/full", says="/dev/full: no space left")

    def test_receipt_and_trace(self):
        rows = sales(100000)
        self.put("a.csv", csv_of(rows))
        out = self.m.good("splice", "a.csv", "--schema", SCHEMA, *GROUPS, "--split-size", "1MiB", "--receipt", "r.json",
                          "--trace", "t.json")
        self.assertEqual(read_groups(out), grouped(rows))
        receipt = json.loads(Path(self.m.path("r.json")).read_text())
        self.assertEqual((receipt["flow"], receipt["state"]), ("splice", "done"))
        self.assertEqual(receipt["query"]["rows_read"], len(rows))
        self.assertEqual(receipt["query"]["groups"], len(grouped(rows)))
        self.assertTrue(json.loads(Path(self.m.path("t.json")).read_text())["traceEvents"])


class Plans(Case, SharedMachineTest):
    def test_explain(self):
        name = self.put("a.csv", csv_of(sales(20000)))
        words = ("--schema", SCHEMA, *GROUPS)
        plan = self.m.json("explain", "splice", name, *words)
        size = os.path.getsize(self.m.path(name))
        self.assertEqual((plan["flow"], plan["bytes"], plan["splits"]), ("splice", size, 1))
        for field in ("k", "k_source", "shares", "predicted_seconds", "devices", "tasks"):
            self.assertIn(field, plan)
        stream = self.m.json("explain", "splice", "-", "--parse", "csv", "--input-size", "20GB", *words, data=b"")
        self.assertEqual(stream["bytes"], 20 * 10**9)
        self.assertIn(stream["splits"], range(597, 4770))  # of 32 MiB, 4 MiB on few cores
        self.assertLess(stream["memory"]["bytes"], 512 * MIB)
        text = self.m.good("explain", "splice", name, "--schema", SCHEMA, "--select", "city").decode()
        self.assertRegex(text, r"\Asplice of [\d.]+ KiB of csv in 1 split: rows, no aggregation")
        self.assertIn("<svg", self.m.good("explain", "splice", name, *words, "--format", "svg").decode())

    def test_simulate(self):
        """Twice the capability, half the time; twice the bytes, twice the time."""
        os.mkdir(self.m.path("p"))

        def seconds(rate, size):
            self.put("p/a.yaml", b'name: a\nmatch: {type: any}\nkind: cpu\ncapability: {"mapreduce.none": %g}\n' % rate)
            return self.m.json("simulate", "--profiles", "p", "splice", "-", "--parse", "csv", "--schema", SCHEMA,
                               "--input-size", size, *GROUPS, data=b"")["predicted_seconds"]
        one = seconds(1e8, "10GB")
        self.assertAlmostEqual(one, 100, delta=20)
        self.assertAlmostEqual(seconds(2e8, "10GB"), one / 2, delta=one / 20)
        self.assertAlmostEqual(seconds(1e8, "20GB"), one * 2, delta=one / 20)
        (Path(self.m.path("p")) / "a.yaml").write_text("name: a\nmatch: {type: any}\nkind: cpu\n")
        self.m.bad(2, "simulate", "--profiles", "p", "splice", "-", "--parse", "csv", "--schema", SCHEMA, "--input-size", "1GB",
                   *GROUPS, says="mapreduce.none", data=b"")


class Devices(Case, MachineTest):
    def test_same_on_every_machine(self):
        """Several unequal devices: bit for bit what one of them gives."""
        rng = random.Random(3)
        text = "k,x\n" + "".join(f"{rng.randrange(500)},{rng.gauss(0, 1) * 10 ** rng.randrange(-9, 9)!r}\n" for _ in range(200000))
        results = set()
        for profile in (TWO_DEVICES, UNEVEN_DEVICES):
            self.m = self.machine(profile)
            for devices in ((), ("--devices", self.m.devices()[0]["name"])):
                out = self.m.good("splice", self.put("x.csv", text.encode()), "--schema", "k:i64,x:f64", "--group-by", "k",
                                  "--select", "sum(x) as s, variance(x) as v", "--order-by", "k", "--split-size", "2MiB", *devices)
                results.add(out)
        self.assertEqual(len(results), 1)

    def test_first_error(self):
        """Two devices: of many bad records the first is named, whichever device finds one first."""
        self.m = self.machine(TWO_DEVICES)
        good, bad, rows = b"1,2,3,4,5,6,7,8\n", b"1,x,3,4,5,6,7,8\n", 65536  # of a data set
        query = ("--no-header", "--schema", ",".join(f"c{i}:i64" for i in range(8)), "--select",
                 ", ".join(f"sum(c{i} * c{i})" for i in range(8)))
        for first in (8, 12, 17):
            lines = [good] * (24 * rows)
            lines[first * rows + rows - 3] = bad
            for later in range(first + 1, 24):
                lines[later * rows + 1] = bad
            name = self.put("e.csv", b"".join(lines))
            for _ in range(3):
                for command in ("splice", "mapreduce"):
                    self.m.bad(1, command, name, *query, says=f"e.csv: line {first * rows + rows - 2}, column c1: ")


def pss(pid):
    """Proportional bytes of a process: memory that several have mapped is counted once in all."""
    try:
        for line in Path("/proc", str(pid), "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


class Flood:
    """A stream larger than any memory: one block of csv repeated, and its groups."""

    def __init__(self, total, seed=6):
        rows = sales(40000, seed)
        self.block = csv_of(rows, header=False)
        self.times = total // len(self.block) + 1
        self.groups = {city: (n * self.times, s * self.times, low, high) for city, (n, s, low, high) in grouped(rows).items()}

    def feed(self, descriptor):
        try:
            with open(descriptor, "wb", buffering=0) as pipe:
                for _ in range(self.times):
                    view = memoryview(self.block)
                    while view:
                        view = view[pipe.write(view):]
        except BrokenPipeError:
            pass

    def start(self, m, *words):
        process = m.start("splice", "-", "--parse", "csv", "--no-header", "--schema", SCHEMA, *GROUPS, *words,
                          stdin=subprocess.PIPE)
        thread = threading.Thread(target=self.feed, args=(os.dup(process.stdin.fileno()),))
        process.stdin.close()
        process.stdin = None
        thread.start()
        return process, thread


class Bounded(MachineTest):
    """Memory of hacctl, hacd and its executors together, the pool among it."""

    def measure(self, m, flood, *words):
        """The peak, in bytes, above what the machine at rest had; checks the result."""
        daemon = m.baseline()
        m.good("splice", "-", "--parse", "csv", "--no-header", "--schema", SCHEMA, *GROUPS, data=b"a,1,2\n")
        process, thread = flood.start(m, *words)
        peak = 0
        while process.poll() is None:
            pids = [process.pid, daemon.pid, *children(daemon.pid)]
            peak = max(peak, sum(map(pss, pids)))
            time.sleep(0.05)
        out, err = process.communicate()
        thread.join()
        self.assertEqual((process.returncode, err), (0, b""))
        self.assertEqual(read_groups(out), flood.groups)
        print(f"{flood.times * len(flood.block) >> 20} MiB of csv in at most {peak >> 20} MiB", file=sys.stderr)
        return peak

    def test_a_hundred_megabytes(self):
        peak = self.measure(self.machine(), Flood(100 * MIB), "--memory", "64MiB")
        if not SANITIZED:
            self.assertLess(peak, 384 * MIB)


class LongBounded(Bounded):
    test_a_hundred_megabytes = None

    def test_twenty_gigabytes(self):
        peak = self.measure(self.machine(config={"idle_exit": "1h"}), Flood(20 * 10**9))
        self.assertLessEqual(peak, 512 * MIB)


class Kill(MachineTest):
    """Executors die in the middle of streams: the results are what they were."""
    kills = 6

    def test_kills(self):
        m = self.machine(TWO_DEVICES)
        daemon = m.baseline()
        rng, killed = random.Random(11), 0
        flood = Flood(60 * MIB)
        while killed < self.kills:
            process, thread = flood.start(m, "--split-size", "2MiB")
            end = time.monotonic() + rng.random() * 1.5
            while process.poll() is None:
                if time.monotonic() > end and daemon.executor_pids():
                    os.kill(rng.choice(daemon.executor_pids()), signal.SIGKILL)
                    killed += 1
                    end = time.monotonic() + 0.3 + rng.random()
                time.sleep(0.01)
            out, err = process.communicate()
            thread.join()
            self.assertEqual((process.returncode, err), (0, b""), m.log()[-3000:])
            self.assertEqual(read_groups(out), flood.groups)
        print(f"{killed} executors were killed", file=sys.stderr)
        m.check_clean()


class LongKill(Kill):
    kills = 200


if __name__ == "__main__":
    main()
