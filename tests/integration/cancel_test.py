#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at a random time ends every kind of job within half a second, and the device is free for the next one.

Other tests may keep the cores busy, so a kind of job fails only if three attempts at it in a row are late."""
import gzip
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
for folder in ("support", "oracle"):
    sys.path.insert(0, str(TESTS / folder))
import duck  # noqa: E402, F401 (its packages)
from machine import BUILD, ONE_DEVICE, MachineTest, eventually, main  # noqa: E402

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

ROWS = 1200000
SOON = 0.5  # seconds
ATTEMPTS = 3
ROUNDS = 3  # times at which each job is cancelled
LOGIC = """
vectors:
  n: {value: 400000}
outputs: {o: {columns: [total]}}
operators:
  - fill: {value: "1.5", rows: n, out: x}
  - for: {index: i, from: 0, to: 100000}
    do:
      - map: {expr: "sin(x) * 3 + x / 7 - 2", out: x}
  - reduce: {in: x, out: total}
"""
QUERIES = {
    "groups": "SELECT id % 400000 AS g, count(), sum(price), avg(price) FROM 'FILE' GROUP BY id % 400000",
    "distinct": "SELECT key, count(DISTINCT price) FROM 'FILE' GROUP BY key",
    "list": "SELECT key, list(price ORDER BY price) FROM 'FILE' GROUP BY key",
    "string_agg": "SELECT key, string_agg(DISTINCT quantity, ',' ORDER BY quantity) FROM 'FILE' GROUP BY key",
    "median": "SELECT key, median(price), quantile(price, 0.9), mode(quantity) FROM 'FILE' GROUP BY key",
    "order": "SELECT * FROM 'FILE' ORDER BY price DESC, id",
    "distinct rows": "SELECT DISTINCT id, price FROM 'FILE'",
    "math": "SELECT sum(exp(sin(price)) * sqrt(price) + ln(price + 1)) FROM 'FILE'",
    "regexp": "SELECT count() FROM 'FILE' WHERE regexp_matches(key, '(a|e)+.*(o|u|r)+t.*')",
    "text functions": "SELECT upper(key) AS r, count(), max(replace(key, 'o', '00')) FROM 'FILE' GROUP BY upper(key)",
}


class Cancel(MachineTest):
    """Jobs that are cancelled."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.rng = random.Random(int(time.time()))

    def setUp(self):
        super().setUp()
        self.m = self.machine(profile=ONE_DEVICE, config={"executor_idle_timeout": "1min"})
        self.files = {}

    def file(self, suffix):
        """The path of the rows in that format."""
        if not self.files:
            self.files[".csv"] = path = self.m.path("rows.csv")
            with open(path, "wb") as out:
                subprocess.run([BUILD / "bench" / "make_input", "sales-csv", str(ROWS), "1000", "0"], stdout=out, check=True)
        if suffix not in self.files:
            self.files[suffix] = path = self.m.path("rows" + suffix)
            if suffix == ".csv.gz":
                with open(self.files[".csv"], "rb") as source, gzip.open(path, "wb", 1) as out:
                    shutil.copyfileobj(source, out)
            elif suffix == ".nested.parquet":
                rows = range(ROWS // 2)
                table = pyarrow.table({"id": pyarrow.array(rows), "a": pyarrow.array([[i, i + 1, i % 7] for i in rows])})
                pyarrow.parquet.write_table(table, path)
            else:
                self.m.good("query", f"SELECT * FROM '{self.file('.csv')}'", "-o", path, timeout=600)
        return self.files[suffix]

    def whole(self, words):
        """Seconds of the job, or 3 if it takes longer."""
        process, began = self.m.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE), time.monotonic()
        try:
            _, err = process.communicate(timeout=3)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            return 3.0
        self.assertEqual(process.returncode, 0, (words, err))
        return time.monotonic() - began

    def cancel_once(self, words, seconds):
        """Seconds from the signal until client and job have ended; None: the job was over before."""
        process = self.m.start(*words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(0.05 + self.rng.random() * seconds * 0.9)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        _, err = process.communicate(timeout=120)
        if process.returncode == 0:
            return None
        self.assertIn(process.returncode, (130, -signal.SIGINT), (words, err))
        self.assertTrue(eventually(self.is_free, 30, 0.005), words)
        return time.monotonic() - sent

    def is_free(self):
        return all(job["state"] in ("done", "failed", "cancelled") for job in self.m.json("jobs")["jobs"])

    def check(self, *words):
        seconds, slow, longest = self.whole(words), [], 0
        for _ in range(ROUNDS):
            late = []
            while len(late) < ATTEMPTS:
                took = self.cancel_once(words, seconds)
                longest = max(longest, took or 0)
                if took is None or took < SOON:
                    break
                late.append(round(took, 2))
            slow += late if len(late) == ATTEMPTS else []
        print(f"  {words[0]} {words[1][:70]}: {seconds:.2f} s, ended within {longest:.3f} s after the signal", flush=True)
        if slow:
            self.late.append((words, seconds, slow))

    def check_all(self, jobs):
        self.late = []
        for words in jobs:
            self.check(*words)
        self.assertEqual(self.late, [])

    def test_queries(self):
        path = self.file(".csv")
        self.check_all([("query", text.replace("FILE", path), "-o", self.m.path("out.csv")) for text in QUERIES.values()])

    def test_parquet(self):
        path = self.file(".parquet")
        self.check_all([("query", text.replace("FILE", path), "-o", self.m.path("out.csv")) for text in QUERIES.values()])

    def test_formats(self):
        """Reading and writing each format."""
        jobs = []
        for suffix in (".csv", ".tsv", ".jsonl", ".parquet", ".arrow"):
            jobs.append(("query", f"SELECT * FROM '{self.file('.csv')}'", "-o", self.m.path("out" + suffix)))
        for suffix in (".tsv", ".jsonl", ".csv.gz"):
            jobs.append(("query", QUERIES["groups"].replace("FILE", self.file(suffix)), "-o", self.m.path("out.csv")))
        jobs.append(("parquet", "convert", self.file(".csv"), self.m.path("c.parquet")))
        jobs.append(("summarize", self.file(".csv")))
        if pyarrow is not None:
            jobs.append(("query", f"SELECT id, unnest(a) AS x FROM '{self.file('.nested.parquet')}'", "-o", self.m.path("out.csv")))
        self.check_all(jobs)

    def test_sorts(self):
        self.m.generate("u64", "random", 6 << 20)
        keys = self.m.path("in")
        self.check_all([("sort", keys, "--type", "u64", "-o", self.m.path("out")),
                        ("sort", keys, "--type", "f64", "--raw", "--argsort", "-o", self.m.path("out")),
                        ("sort", keys, "--type", "u64", "--algorithm", "bitonic", "-o", self.m.path("out")),
                        ("sort", self.file(".csv"), "--input-format", "csv", "--key", "price", "--memory", "192MiB", "-o",
                         self.m.path("o.csv")),
                        ("sort", self.file(".csv"), "--input-format", "csv", "--key", "price,key desc", "-o", self.m.path("o.csv")),
                        ("sort", self.file(".parquet"), "--input-format", "parquet", "--key", "key,price", "-o", self.m.path("o.csv"))])

    def test_opsplit(self):
        Path(self.m.path("logic.yaml")).write_text(LOGIC, encoding="ascii")
        self.check_all([("opsplit", "run", self.m.path("logic.yaml"), "-o", self.m.path("o"))])


main()
