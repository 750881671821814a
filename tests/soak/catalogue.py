# SPDX-License-Identifier: Apache-2.0
"""What a soak gives to hacctl: small jobs of every flow, with answers computed beforehand, in Python."""
import collections
import csv
import gzip
import io
import json
import math
import random
import signal
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SOURCE, TYPES  # noqa: E402

EXAMPLES = SOURCE / "docs" / "examples"
CODE = {"u32": "I", "i32": "i", "f32": "f", "u64": "Q", "i64": "q", "f64": "d"}
SCHEMA = "city:string,amount:i64,price:f64"
GROUPS = ("--group-by", "city", "--select", "count() as n, sum(amount) as s, min(price) as low, max(price) as high")
TIMEOUT = 180


class Wrong(Exception):
    """A wrong answer, or none."""


class Refused(Exception):
    """Exit code 4."""


class Lost(Exception):
    """No answer at all: no daemon, no end, or a detached job that is unknown."""


def table(text, separator=","):
    """Rows of text as tuples; text that looks like a number is one."""
    def cell(field):
        try:
            return float(field)
        except ValueError:
            return field
    return [tuple(map(cell, row)) for row in csv.reader(io.StringIO(text), delimiter=separator)]


def same(rows, wanted, ordered=True):
    if not ordered:
        rows, wanted = sorted(rows, key=repr), sorted(wanted, key=repr)
    if rows != wanted:
        wrong = next((pair for pair in zip(rows, wanted) if pair[0] != pair[1]), ("", ""))
        raise Wrong(f"{len(rows)} rows, {len(wanted)} wanted; {wrong[0]!r} is not {wrong[1]!r}")


class Worker:
    """Runs commands, one after the other, in a folder of its own."""

    def __init__(self, machine, number, seed, hold):
        self.machine, self.rng, self.hold = machine, random.Random(seed), hold
        self.folder = machine.work / f"out{number}"
        self.folder.mkdir()
        self.detached = []  # (when to fetch, job, expected bytes)
        self.idle = False  # asked to pause, and nothing waits to be fetched
        self.jobs = []  # (flow, seconds) of jobs that are done and not yet counted

    def hacctl(self, *words, data=None):
        """Standard output of a command that succeeds."""
        began = time.monotonic()
        try:
            result = self.machine.run("-q", *words, data=data, timeout=TIMEOUT, cwd=self.folder)
        except AssertionError as hung:
            raise Lost(str(hung)[:300]) from hung
        self.seconds = time.monotonic() - began
        if result.code == 4:
            raise Refused(result.err.strip())
        if result.code == 3:
            raise Lost(result.err.strip())
        if result.code != 0:
            raise Wrong(f"exit {result.code}: {result.err.strip()[-600:]}")
        return result.out

    def job(self, flow, *words, data=None):
        out = self.hacctl(*words, data=data)
        self.jobs.append((flow, self.seconds))
        return out

    def fetch(self, all_of_them=False):
        """The results of detached jobs whose time has come."""
        now = time.monotonic()
        due = [d for d in self.detached if all_of_them or d[0] <= now]
        self.detached = [d for d in self.detached if d not in due]
        for _, job, expected in due:
            try:
                got = self.hacctl("result", job)
            except Wrong as gone:
                raise Lost(f"detached job {job}: {gone}") from gone
            if got != expected:
                raise Wrong(f"detached job {job}: {len(got)} bytes, others than the {len(expected)} that are wanted")
            self.jobs.append(("detached", self.seconds))


def sales(n, rng):
    """Rows (city, amount, price); prices are multiples of 1/8, so that text and numbers are equal."""
    cities = [f"c{i}" for i in range(50)] + ["New York", "Zoë", 'say "so"', "a,b"]
    return [(rng.choice(cities), rng.randrange(-10**9, 10**9), rng.randrange(-8000, 8000) / 8) for _ in range(n)]


def grouped(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row[0]].append(row)
    return [(city, float(len(g)), float(sum(r[1] for r in g)), min(r[2] for r in g), max(r[2] for r in g))
            for city, g in sorted(groups.items(), key=lambda item: item[0].encode())]


class Catalogue:
    """`kinds` are (weight, what to run with a worker)."""

    def __init__(self, machine, brief=False, seed=1):
        self.m, self.rng, self.brief = machine, random.Random(seed), brief
        self.inputs = machine.work / "inputs"
        self.inputs.mkdir()
        self.arrays()
        self.rows()
        self.text()
        self.graphs()
        self.kinds = ((6, self.sort_file), (2, self.sort_pipe), (1, self.sort_rows), (3, self.splice), (2, self.splice_pipe),
                      (2, self.splice_rows), (3, self.pipe), (4, self.mapreduce), (4, self.named), (2, self.parquet),
                      (1, self.convert), (3, self.opsplit), (3, self.explain), (2, self.ask), (2, self.cancel),
                      (1, self.interrupt), (3, self.detach))
        self.weights = [weight for weight, _ in self.kinds]

    def one(self, worker):
        """One job, or a few that belong together. A failure is an exception."""
        worker.fetch()
        worker.rng.choices(self.kinds, self.weights)[0][1](worker)

    def put(self, name, data):
        path = self.inputs / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    # ---- sorts ----

    def arrays(self):
        self.sorts = []  # (type, items, file, ascending, descending, order)
        for kind in TYPES:
            for n in (7, 1000, 20000) if self.brief else (0, 7, 1000, 20000, 120000):
                low = 0 if kind[0] == "u" else -10**6
                keys = [self.rng.randrange(low, 10**6) for _ in range(n)]
                if kind[0] == "f":
                    keys = [key / 8 or 0.125 for key in keys]  # exact in f32 as well; no zero, which has two signs
                pack = struct.Struct(f"<{n}{CODE[kind]}").pack
                order = sorted(range(n), key=keys.__getitem__)
                ascending = [keys[i] for i in order]
                self.sorts.append((kind, n, self.put(f"{kind}-{n}.bin", pack(*keys)), pack(*ascending),
                                   pack(*reversed(ascending)), struct.pack(f"<{n}I", *order)))
        n = 200000 if self.brief else (1 << 20) + 3
        self.big = self.put("big.bin", self.rng.randbytes(4 * n))
        self.big_sorted = struct.pack(f"<{n}I", *sorted(struct.unpack(f"<{n}I", self.big.read_bytes())))

    def check(self, got, wanted):
        if got != wanted:
            raise Wrong(f"{len(got)} bytes, others than the {len(wanted)} that are wanted")

    def way(self, rng):
        return rng.choice(((), (), ("--algorithm", "radix"), ("--algorithm", "bitonic"),
                           ("--algorithm", "bitonic", "--scheme", rng.choice(("proportional", "lower", "upper", "none"))),
                           ("--devices", rng.choice(("cpu.0", "cpu.1", "cpu.1,cpu.0")))))

    def sort_file(self, w):
        if w.rng.random() < 0.05:
            w.job("sort", "sort", self.big, "--type", "u32", "-o", "out", *self.way(w.rng))
            self.check((w.folder / "out").read_bytes(), self.big_sorted)
            return
        kind, _, path, ascending, descending, order = w.rng.choice(self.sorts)
        option, wanted = w.rng.choice(((None, ascending), ("--descending", descending), ("--argsort", order)))
        w.job("argsort" if option == "--argsort" else "sort", "sort", path, "--type", kind, "-o", "out",
              *([option] if option else []), *self.way(w.rng))
        self.check((w.folder / "out").read_bytes(), wanted)

    def sort_pipe(self, w):
        kind, _, path, ascending, *_ = w.rng.choice(self.sorts)
        self.check(w.job("sort", "sort", "-", "--type", kind, *self.way(w.rng), data=path.read_bytes()), ascending)

    def sort_rows(self, w):
        w.job("sort-rows", "sort", self.csv[0], "--input-format", "csv", "--schema", SCHEMA, "--key", "price desc,amount",
              "-o", "rows.csv")
        same(table((w.folder / "rows.csv").read_text())[1:],
             sorted(self.sales[0], key=lambda row: (-row[2], row[1])))

    def detach(self, w):
        kind, n, path, ascending, *_ = w.rng.choice(self.sorts)
        if w.rng.random() < 0.3:
            job, wanted = w.hacctl("mapreduce", "histogram", self.big, "--detach"), self.histogram
        elif n > 0:
            job, wanted = w.hacctl("sort", path, "--type", kind, "--detach", *self.way(w.rng)), ascending
        else:
            return
        w.detached.append((time.monotonic() + w.rng.random() * w.hold, job.decode().strip(), wanted))

    def cancel(self, w):
        """In the middle, or a little late."""
        job = w.hacctl("sort", self.big, "--type", "u32", "--algorithm", "bitonic", "--detach").decode().strip()
        time.sleep(w.rng.random() * 0.03)
        w.hacctl("cancel", job)
        began = time.monotonic()
        result = self.m.run("-q", "wait", job, timeout=TIMEOUT)
        if result.code not in (0, 130):
            raise Wrong(f"wait after cancel: exit {result.code}: {result.err.strip()}")
        w.jobs.append(("cancelled" if result.code == 130 else "sort", time.monotonic() - began))

    def interrupt(self, w):
        """SIGINT while the input is open."""
        began = time.monotonic()
        process = self.m.start("-q", "splice", "-", "--parse", "lines", "--select", "count() as n", stdin=-1, cwd=w.folder)
        try:
            try:
                process.stdin.write(b"some text\n" * w.rng.randrange(10000))
                process.stdin.flush()
            except BrokenPipeError:
                pass  # its exit code says why
            time.sleep(0.05 + w.rng.random() * 0.1)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=TIMEOUT)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()
        if process.returncode == 4:
            raise Refused(err.decode().strip())
        if process.returncode not in (130, -signal.SIGINT):  # the signal comes before hacctl handles it
            raise Wrong(f"splice with SIGINT: exit {process.returncode}: {err.decode().strip()}")
        w.jobs.append(("cancelled", time.monotonic() - began))

    # ---- rows ----

    def rows(self):
        self.sales = [sales(n, self.rng) for n in (3000, 20000 if not self.brief else 4000)]
        self.csv, self.gz, self.jsonl = [], [], []
        for i, rows in enumerate(self.sales):
            out = io.StringIO()
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(("city", "amount", "price"))
            writer.writerows(rows)
            self.csv.append(self.put(f"{i}.csv", out.getvalue()))
            self.gz.append(self.put(f"{i}.csv.gz", gzip.compress(out.getvalue().encode(), 1)))
            self.jsonl.append(self.put(f"{i}.jsonl", "".join(
                json.dumps(dict(zip(("city", "amount", "price"), row)), ensure_ascii=False) + "\n" for row in rows)))
        self.groups = [grouped(rows) for rows in self.sales]
        self.all_groups = grouped(sum(self.sales, []))
        self.parquet_file = self.inputs / "1.parquet"
        self.m.good("-q", "parquet", "convert", self.csv[1], self.parquet_file, "--schema", SCHEMA, "--row-group-rows", "1000")

    def splice(self, w):
        files = w.rng.choice((self.csv, self.gz, self.jsonl, [self.csv[0], self.gz[1]]))
        out = w.job("splice", "splice", *files, "--schema", SCHEMA, *GROUPS, "--order-by", "city",
                    *w.rng.choice(((), ("--split-size", "64KiB"))))
        same(table(out.decode())[1:], self.all_groups)

    def splice_pipe(self, w):
        i = w.rng.randrange(2)
        data = w.rng.choice((self.csv, self.gz))[i].read_bytes()
        out = w.job("splice", "splice", "-", "--parse", "csv", "--schema", SCHEMA, *GROUPS, data=data)
        same(table(out.decode())[1:], self.groups[i], ordered=False)

    def splice_rows(self, w):
        limit = w.rng.randrange(-900, 900)
        out = w.job("splice", "splice", self.csv[0], "--schema", SCHEMA, "--where", f"price > {limit}", "--select", "*",
                    "--split-size", "64KiB")
        same(table(out.decode())[1:], [row for row in self.sales[0] if row[2] > limit])

    def mapreduce(self, w):
        i, files = w.rng.choice(((0, self.csv), (1, self.csv), (1, self.jsonl), (0, self.gz)))
        out = w.job("mapreduce", "mapreduce", files[i], "--schema", SCHEMA, *GROUPS, "--order-by", "city",
                    *w.rng.choice(((), (), ("--engine", "device"), ("--engine", "host"))))
        same(table(out.decode())[1:], self.groups[i])

    def parquet(self, w):
        if w.rng.random() < 0.5:
            out = w.job("parquet-query", "parquet", "query", self.parquet_file, *GROUPS, "--order-by", "city")
            same(table(out.decode())[1:], self.groups[1])
            return
        limit = w.rng.randrange(-900, 900)
        out = w.job("parquet-query", "parquet", "query", self.parquet_file, "--where", f"price > {limit}", "--select",
                    "count() as n, sum(amount) as s")
        rows = [row for row in self.sales[1] if row[2] > limit]
        same(table(out.decode())[1:], [(float(len(rows)), float(sum(row[1] for row in rows)))])

    def convert(self, w):
        i, files = w.rng.choice(((0, self.csv), (1, self.csv), (0, self.jsonl)))
        w.job("parquet-convert", "parquet", "convert", files[i], "out.parquet", "--schema", SCHEMA, "--codec",
              w.rng.choice(("zstd", "none", "snappy", "gzip", "lz4")))
        out = w.job("parquet-query", "parquet", "query", "out.parquet", *GROUPS, "--order-by", "city")
        same(table(out.decode())[1:], self.groups[i])

    # ---- text and jobs that have names ----

    def text(self):
        words = [f"w{i}" for i in range(2000)]
        weights = [1 / (i + 1) for i in range(len(words))]
        self.lines = [" ".join(self.rng.choices(words, weights, k=self.rng.randrange(12))) for _ in range(3000)]
        self.book = self.put("book.txt", "\n".join(self.lines) + "\n")
        counts = collections.Counter(self.book.read_text().split())
        self.counts = [(word, float(n)) for word, n in sorted(counts.items())]
        histogram = collections.Counter(self.big.read_bytes())
        self.histogram = "".join(f"{value},{histogram[value]}\n" for value in sorted(histogram)).encode()
        self.histogram = b"value,count\n" + self.histogram
        points = [(i, 3 * i + 7) for i in range(1000)]
        self.line = self.put("line.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y in points))
        views = [(f"u{self.rng.randrange(30)}", self.rng.randrange(50)) for _ in range(2000)]
        self.views_file = self.put("views.csv", "url,visitor\n" + "".join(f"{u},{v}\n" for u, v in views))
        self.views = [(url, float(sum(u == url for u, _ in views)), float(len({v for u, v in views if u == url})))
                      for url in sorted({u for u, _ in views})]

    def pipe(self, w):
        if w.rng.random() < 0.5:
            out = w.job("pipe", "pipe", "--parse", "words", "--group-by", "word", "--select", "count() as n",
                        data=self.book.read_bytes())
            same(table(out.decode(), "\t"), self.counts, ordered=False)
        else:
            word = f"w{w.rng.randrange(200)} "
            out = w.job("pipe", "pipe", "--where", f"contains(line, '{word}')", "--select", "line", data=self.book.read_bytes())
            same(out.decode().split("\n")[:-1], [line for line in self.lines if word in line])

    def named(self, w):
        name = w.rng.choice(("wordcount", "histogram", "string-match", "linear-regression", "page-view-count"))
        if name == "wordcount":
            out = w.job("mapreduce", "mapreduce", name, self.book, "--order-by", "word")
            same(table(out.decode())[1:], self.counts)
        elif name == "histogram":
            self.check(w.job("mapreduce", "mapreduce", name, self.big), self.histogram)
        elif name == "string-match":
            out = w.job("mapreduce", "mapreduce", name, self.book, "--where", "contains(line, 'w7 ')")
            same(sorted(out.decode().split("\n")[1:-1]), sorted(line for line in self.lines if "w7 " in line))
        elif name == "linear-regression":
            got = table(w.job("mapreduce", "mapreduce", name, self.line).decode())[1]
            if not all(math.isclose(a, b) for a, b in zip(got, (3, 7, 1000))):
                raise Wrong(f"{got} is no line 3x + 7")
        else:
            same(table(w.job("mapreduce", "mapreduce", name, self.views_file, "--order-by", "url").decode())[1:], self.views)

    # ---- logic files ----

    def graphs(self):
        edges = sorted({(a, self.rng.randrange(a)) for a in range(1, 60) for _ in range(3)})
        ring = self.put("edges.txt", "".join(f"{a} {b}\n" for a, b in edges))
        centres = [(1.0, 1.0, 1.0, 1.0), (5.0, 5.0, 5.0, 5.0), (9.0, 9.0, 9.0, 9.0)]
        points = [[c + self.rng.randrange(-8, 9) / 16 for c in centres[i % 3]] for i in range(90)]
        flowers = self.put("iris.csv", "sepal_length,sepal_width,petal_length,petal_width,species\n" + "".join(
            ",".join(map(str, point)) + f",s{i % 3}\n" for i, point in enumerate(points)))
        folder = self.inputs / "folder"
        folder.mkdir()
        for i in range(3):
            (folder / f"{i}.txt").write_text("\n".join(self.lines[i * 100:i * 100 + 100]))
        self.logic = [("pagerank", f"edges={ring}", "ranks.csv"), ("k-means", f"iris={flowers}", "clusters.csv"),
                      ("word-count", f"folder={folder}", "words.csv")]
        checks = (lambda rows: self.ranks_right(rows, edges),
                  lambda rows: same([row[0] for row in rows], [float(i % 3) for i in range(90)]),
                  lambda rows: same([(r[0], r[1]) for r in rows], sorted((word, float(n)) for word, n in collections.Counter(
                      " ".join(self.lines[:300]).split()).items())))
        self.outcomes = {}  # the same bytes must come again, on whatever devices
        for (name, source, file), check in zip(self.logic, checks):
            self.m.good("-q", "opsplit", "run", EXAMPLES / f"{name}.yaml", "--input", source, "-o", self.inputs / name)
            self.outcomes[name] = (self.inputs / name / file).read_bytes()
            check(table(self.outcomes[name].decode())[1:])

    @staticmethod
    def ranks_right(rows, edges):
        links = collections.defaultdict(set)
        for a, b in edges:
            links[a].add(b)
            links[b].add(a)
        rank = dict.fromkeys(links, 1 / len(links))
        for _ in range(300):
            share = {node: rank[node] / len(links[node]) for node in links}
            rank = {node: 0.15 / len(links) + 0.85 * sum(share[other] for other in links[node]) for node in links}
        if [int(node) for node, _ in rows] != sorted(links) or any(abs(r - rank[int(n)]) > 1e-9 for n, r in rows):
            raise Wrong("pagerank differs from Python's")

    def opsplit(self, w):
        name, source, file = w.rng.choice(self.logic)
        w.job("opsplit", "opsplit", "run", EXAMPLES / f"{name}.yaml", "--input", source, "-o", "logic",
              *w.rng.choice(((), ("--components", "3"), ("--placement", "rule"), ("--devices", "cpu.1"))))
        self.check((w.folder / "logic" / file).read_bytes(), self.outcomes[name])

    # ---- questions ----

    def explain(self, w):
        words = w.rng.choice((("sort", "--items", "2^24", "--type", "f64"), ("sort", self.big, "--type", "u32"),
                              ("mapreduce", "wordcount", self.book), ("splice", *self.csv, "--schema", SCHEMA, *GROUPS),
                              ("parquet", "query", self.parquet_file, *GROUPS),
                              ("opsplit", "run", EXAMPLES / "k-means.yaml", "--input", self.logic[1][1], "-o", "logic")))
        out = w.job("explain", "explain", "--format", "json", *words)
        if not isinstance(json.loads(out), dict):
            raise Wrong("explain is no JSON object")

    def ask(self, w):
        topic = w.rng.choice(("devices", "jobs", "version", "metrics"))
        out = w.job(topic, "--json", topic)
        if topic == "devices" and [d["name"] for d in json.loads(out)["devices"]] != ["cpu.0", "cpu.1"]:
            raise Wrong(f"other devices: {out.decode()[:300]}")
        if topic == "metrics" and not out.endswith(b"# EOF\n"):
            raise Wrong("metrics have no end")
