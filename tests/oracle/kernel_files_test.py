#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The device kernels on files, end to end: every format, against collections.Counter and DuckDB, and byte for byte against
the host codelets; in both styles of kernels, on PoCL and on llvmpipe, on one device and on two."""
import collections
import json
import random
import re
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, PROFILES, TWO_DEVICES, MachineTest, main  # noqa: E402

SIMT = ONE_DEVICE.replace("kind: cpu\n", "kind: cpu\nstyle: simt\n")
LLVMPIPE = (PROFILES / "30-rusticl.yaml").read_text()
LLVMPIPE_ONLY = {"RUSTICL_ENABLE": "llvmpipe", "OCL_ICD_VENDORS": "rusticl.icd"}
SCHEMA = "k:u16,city:string,n:i32,price:f64,ok:bool,day:date,amount:decimal(12,2)"
DUCK_TYPES = {"k": "USMALLINT", "city": "VARCHAR", "n": "INTEGER", "price": "DOUBLE", "ok": "BOOLEAN", "day": "DATE",
              "amount": "DECIMAL(12,2)"}


def table(rows, seed=5):
    """Rows of texts; None is null. Keys are skewed."""
    rng = random.Random(seed)
    cities = ["Oslo", 'New "York"', "Zoë,ville", "line\nbreak", "tab\tbed"] + [f"city number {i}" for i in range(300)]

    def maybe(value):
        return None if rng.random() < .06 else value
    return [(maybe(str(min(int(rng.paretovariate(.9)), 60000))), maybe(cities[min(int(rng.paretovariate(.7)) - 1, 304)]),
             maybe(str(rng.randint(-2**31, 2**31 - 1))), maybe(repr(round(rng.uniform(-1e6, 1e6), 4))),
             maybe(rng.choice(("true", "false"))), maybe(f"20{rng.randint(10, 29)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}"),
             maybe(f"{rng.randint(-9999, 9999)}.{rng.randint(10, 99)}")) for _ in range(rows)]


def as_csv(rows):
    def field(value):
        if value is None:
            return ""
        return '"' + value.replace('"', '""') + '"' if any(c in value for c in '",\n') else value
    return ("k,city,n,price,ok,day,amount\n" + "".join(",".join(map(field, row)) + "\n" for row in rows)).encode()


def as_tsv(rows):
    def field(value):
        return "\\N" if value is None else value.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")
    return ("k\tcity\tn\tprice\tok\tday\tamount\n" + "".join("\t".join(map(field, row)) + "\n" for row in rows)).encode()


def as_jsonl(rows):
    names = list(DUCK_TYPES)
    bare = {"k", "n", "price", "ok", "amount"}
    return "".join("{" + ", ".join(f'"{n}": {v if n in bare else json.dumps(v)}' for n, v in zip(names, row)
                                   if v is not None) + "}\n" for row in rows).encode()


# (group by, select, where, whether floats are added up)
QUERIES = (
    ("k", "count() as c, sum(n) as s", None, False),
    ("k", "min(n) as lo, max(n) as hi, max(day) as d", "ok", False),
    ("city", "count() as c, count(n) as cn, avg(k) as a", "ok or n > 0", False),
    ("ok, day", "count() as c, sum(amount) as s", None, False),
    ("city, ok", "sum(price) as s, avg(price) as a, min(price) as lo, max(price) as hi", "n is not null", True),
    ("n", "sum(price) as s", None, True),  # hardly any two rows have the same key
    (None, "count() as c, sum(n) as s", "k > 3", False),
)


class Files(MachineTest):
    """full"""
    rows = 36000
    extremes = True  # the device has 64-bit atomics

    def put(self, name, data):
        Path(self.m.path(name)).write_bytes(data)
        return name

    def receipt(self):
        return json.loads(Path(self.m.path("receipt.json")).read_text())["query"]

    def both(self, *words, says=""):
        """The answer of the kernels, with and without hot keys, equals that of the host codelets, byte for byte."""
        wanted = self.m.run("mapreduce", *words, "--engine", "host")
        self.assertEqual((wanted.code, says in wanted.err), (0, True), wanted)
        for hot in ("on", "off"):
            got = self.m.run("mapreduce", *words, "--engine", "device", "--hot-keys", hot, "--receipt", "receipt.json")
            self.assertEqual((got.code, got.err), (0, wanted.err), got)
            self.assertEqual(got.out, wanted.out, (words, hot))
            query = self.receipt()
            self.assertEqual((query["engine"], query["hot_keys"]["on"]), ("device", hot == "on"), query)
        return wanted.out

    def duck(self, rows, group_by, select, where):
        connection = duck.connect()
        columns = ", ".join(f"{n} {t}" for n, t in DUCK_TYPES.items())
        connection.execute(f"CREATE TABLE t ({columns})")
        path = self.m.path("duck.csv")
        Path(path).write_bytes(as_csv(rows))
        connection.execute(f"COPY t FROM '{path}' (HEADER, NULLSTR '')")
        keys = f"{group_by}, " if group_by else ""
        select = select.replace("count()", "count(*)")
        return connection.execute(f"SELECT {keys}{select} FROM t" + (f" WHERE {where}" if where else "") +
                                  (f" GROUP BY {group_by} ORDER BY {group_by} NULLS LAST" if group_by else "")).fetchall()

    def check(self, rows, names, options, floats):
        for group_by, select, where, sums in QUERIES:
            if (sums and not floats) or ("min(" in select and not self.extremes):
                continue
            with self.subTest(group_by=group_by, options=options):
                words = [*names, *options, "--schema", SCHEMA, "--select", select]
                words += ["--group-by", group_by, "--order-by", group_by] if group_by else []
                words += ["--where", where] if where else []
                out = duck.read_csv(self.both(*words).decode())
                if duck.duckdb is None:
                    continue
                wanted = self.duck(rows, group_by, select, where)
                self.assertEqual(len(out) - 1, len(wanted))
                for got, row in zip(out[1:], wanted):
                    self.assertTrue(all(self.same(a, b) for a, b in zip(got, row)), (got, row))

    @staticmethod
    def same(text, value):
        if text is None or value is None:
            return text is None and value is None
        if isinstance(value, float):
            return abs(float(text) - value) <= 1e-9 * max(1, abs(value))
        if isinstance(value, bool):
            return text == str(value).lower()
        return text == str(value)

    def formats(self, profile, floats=True, environment=None):
        # a driver that compiles at the first launch takes a while
        self.m = self.machine(profile, config={"task_deadline_minimum": "60s"}, environment=environment)
        rows = table(self.rows)
        self.check(rows, [self.put("t.csv", as_csv(rows))], (), floats)
        self.check(rows, [self.put("t.tsv", as_tsv(rows))], (), floats)
        self.check(rows, [self.put("t.jsonl", as_jsonl(rows))], (), floats)
        self.check(rows, [self.put("a.csv", as_csv(rows[:25000])), self.put("none.csv", b""),
                          self.put("b.csv", as_csv(rows[25000:]))], (), floats)
        many = rows * 8  # what the query reads has to be more than one task's work
        self.put("many.csv", as_csv(many))
        self.m.good("parquet", "convert", "many.csv", "t.parquet", "--schema", SCHEMA, "--row-group-size", "1MiB")
        self.check(many, ["t.parquet"], (), floats)
        self.fixed()
        self.words()
        self.skipped(rows)

    def fixed(self):
        rng = random.Random(9)
        rows = [(int(rng.paretovariate(1)) % 65536, rng.randint(-1000, 1000), rng.random() < .5) for _ in range(300000)]
        name = self.put("t.bin", b"".join(struct.pack("<Hi?", *row) for row in rows))
        out = self.both(name, "--parse", "fixed", "--schema", "k:u16,n:i32,b:bool", "--where", "b", "--group-by", "k",
                        "--select", "count() as c, sum(n) as s", "--order-by", "k").decode()
        count, total = collections.Counter(), collections.Counter()
        for k, n, b in rows:
            if b:
                count[k] += 1
                total[k] += n
        self.assertEqual(duck.read_csv(out)[1:], [(str(k), str(count[k]), str(total[k])) for k in sorted(count)])

    def words(self):
        rng = random.Random(4)
        text = " ".join(f"w{min(int(rng.paretovariate(.8)), 5000)}" + ",\n"[rng.randrange(2)] * (rng.random() < .1)
                        for _ in range(600000))
        out = self.both("wordcount", self.put("book.txt", text.encode()), "--order-by", "word").decode()
        self.assertEqual({word: int(n) for word, n in duck.read_csv(out)[1:]}, dict(collections.Counter(text.split())))

    def skipped(self, rows):
        """Unreadable records: skipped and counted, or the same error as without kernels."""
        lines = as_tsv(rows).split(b"\n")
        bad = range(77, len(lines) - 1, 5001)
        for i in bad:
            lines[i] = b"x" + lines[i]
        name = self.put("bad.tsv", b"\n".join(lines))
        words = (name, "--schema", SCHEMA, "--group-by", "ok", "--select", "count() as c, sum(k) as s", "--order-by", "ok")
        self.both(*words, "--on-error", "skip", says=f"{len(bad)} records")
        self.assertEqual(self.receipt()["rows_skipped"], len(bad))
        wanted = self.m.run("mapreduce", *words, "--engine", "host")
        got = self.m.run("mapreduce", *words, "--engine", "device")
        self.same_error(wanted, got)
        self.assertIn(", column k: 'x", got.err)
        words = ("t.csv", "--schema", SCHEMA, "--group-by", "ok", "--select", "sum(n * 9223372036854775807) as s")
        wanted, got = (self.m.run("mapreduce", *words, "--engine", engine) for engine in ("host", "device"))
        self.same_error(wanted, got)
        self.assertIn("overflow", got.err)

    def same_error(self, wanted, got):
        """Of several devices any may be the first to find one."""
        texts = [wanted.err, got.err]
        if len(self.m.devices()) > 1:
            texts = [re.sub(r"line \d+|'[^']*'", "", text) for text in texts]
        self.assertEqual((wanted.code, got.code, texts[1]), (1, 1, texts[0]))
        self.assertRegex(got.err, r": line \d+, ")

    def test_one_device(self):
        self.formats(ONE_DEVICE)

    def test_lock_step(self):
        self.formats(SIMT)

    def test_two_devices(self):
        self.formats(TWO_DEVICES)

    def test_llvmpipe(self):
        machine = self.machine(LLVMPIPE, environment=LLVMPIPE_ONLY)
        if not any(d["state"] == "ready" for d in machine.devices()):
            self.skipTest("there is no llvmpipe")
        self.extremes = False
        self.formats(LLVMPIPE, floats=False, environment=LLVMPIPE_ONLY)

    def test_zipf(self):
        """Keys with a Zipf distribution: the hot ones catch their part of the rows, and the receipt says so."""
        self.m = self.machine(ONE_DEVICE)
        rng = random.Random(2)
        keys = rng.choices(range(20000), [1 / (i + 1) ** 1.2 for i in range(20000)], k=400000)
        name = self.put("zipf.csv", b"k,n\n" + b"".join(b"%d,%d\n" % (k, i % 100) for i, k in enumerate(keys)))
        self.both(name, "--schema", "k:u32,n:i64", "--group-by", "k", "--select", "count() as c, sum(n) as s",
                  "--order-by", "k")
        self.m.good("mapreduce", name, "--schema", "k:u32", "--group-by", "k", "--select", "count() as c", "--hot-keys", "on",
                    "--sample", "10", "--hot-share", "5", "--receipt", "receipt.json")
        query = self.receipt()
        hot = query["hot_keys"]
        self.assertEqual(hot["sampled_rows"] + hot["rows_behind_sample"], len(keys))
        self.assertGreater(hot["sample_coverage"], .1)
        self.assertGreater(hot["hit_rate"], .5)
        self.assertEqual(hot["hit_rate"], hot["hits"] / hot["rows_behind_sample"])
        self.assertEqual(sum(bar["rows"] for g in hot["work_groups"] for bar in g["bars"]), hot["rows_behind_sample"])
        self.assertEqual(query["merge"]["groups"], len(set(keys)))

    def test_passes(self):
        """Little memory: the file is read once for each part of the keys."""
        self.m = self.machine(ONE_DEVICE)
        rows = b"".join(b"key number %d\n" % (i * 7919 % 150000) for i in range(300000))
        self.both(self.put("keys.txt", rows), "--group-by", "line", "--select", "count() as c", "--order-by", "line",
                  "--memory", "24MiB")
        self.assertGreater(self.receipt()["passes"], 1)


if __name__ == "__main__":
    main()
