#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""job:ID in place of a file: the result of a job is the input of the next one, in its memory. The oracles are DuckDB,
NumPy and Python."""
import os
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import BUILD, MachineTest, SharedMachineTest, main  # noqa: E402
from users import DETACH, UsersTest  # noqa: E402

sys.path.insert(0, str(BUILD.parent / "python"))
try:
    import duckdb
except ImportError:
    duckdb = None

BITONIC = ("--algorithm", "bitonic")
LOGIC = """name: total
inputs: {t: {parse: csv, schema: "k:i64,s:i64"}}
vectors: {all: {template: Var, type: i64, value: 0}}
operators: [reduce: {in: t.s, function: sum, out: all}]
outputs: {o: {columns: {sum: all}}}
"""


class Inputs(SharedMachineTest):
    config = {"result_expiry": "1min"}

    def setUp(self):
        super().setUp()
        rng = random.Random(5)
        self.rows = [(rng.randrange(3000), rng.randrange(-1000, 1000)) for _ in range(60000)]
        (self.m.work / "in.csv").write_text("k,v\n" + "".join(f"{k},{v}\n" for k, v in self.rows))
        self.m.generate("u32", "random", 300000)

    def detached(self, *words):
        job = self.m.good(*words, "--detach").decode().strip()
        self.m.good("wait", job)
        return job

    def groups(self, form="csv"):
        """A job whose result is larger than a message."""
        return self.detached("mapreduce", "in.csv", "--group-by", "k", "--select", "count() as n, sum(v) as s",
                             "--output-format", form)

    def table(self):
        found = {}
        for k, v in self.rows:
            n, s = found.get(k, (0, 0))
            found[k] = (n + 1, s + v)
        return found

    def test_rows_of_every_form(self):
        want = {}
        for n, s in self.table().values():
            rows, total = want.get(n, (0, 0))
            want[n] = (rows + 1, total + s)
        for form in ("csv", "tsv", "json", "parquet"):
            job = self.groups(form)
            for command in (("query",), ("mapreduce",), ("splice",), ("parquet", "query")):
                with self.subTest(form=form, command=command):
                    out = self.m.run(*command, f"job:{job}", "--group-by", "n", "--select", "count() as rows, sum(s) as total",
                                     "--order-by", "n", "--output-format", "csv")
                    self.assertEqual(out.code, 0, out)
                    got = [tuple(map(int, line.split(","))) for line in out.out.decode().split()[1:]]
                    self.assertEqual(got, [(n, *want[n]) for n in sorted(want)])
            self.assertEqual(self.m.good("query", f"SELECT count(*) AS n FROM 'job:{job}'").decode().split(),
                             ["n", str(len(self.table()))])
            self.m.good("result", job, "-o", f"out.{form}")

    def test_other_commands(self):
        job = self.groups()
        self.m.good("sort", f"job:{job}", "--input-format", "csv", "--key", "s desc, k", "-o", "sorted.csv")
        rows = [tuple(map(int, line.split(","))) for line in (self.m.work / "sorted.csv").read_text().split()[1:]]
        self.assertEqual(rows, sorted(((k, n, s) for k, (n, s) in self.table().items()), key=lambda r: (-r[2], r[0])))
        self.m.good("-q", "parquet", "convert", f"job:{job}", "groups.parquet")
        got = self.m.good("parquet", "query", "groups.parquet", "--select", "sum(n) as n, sum(s) as s").decode().split()
        self.assertEqual(got[1], f"{len(self.rows)},{sum(v for _, v in self.rows)}")
        self.assertIn(b"\nk,", self.m.good("describe", f"job:{job}"))
        lines = self.m.good("summarize", f"job:{job}").decode().splitlines()
        self.assertEqual(lines[1].split(",")[:2], ["k", "i64"])
        # a chain that stays in memory, with jobs that the daemon keeps
        second = self.detached("query", f"job:{job}", "--where", "n > 20", "--select", "k, s")
        third = self.m.good("query", f"job:{second}", "--select", "count() as c, sum(s) as s").decode().split()[1]
        want = [s for n, s in self.table().values() if n > 20]
        self.assertEqual(third, f"{len(want)},{sum(want)}")

    def test_against_duckdb(self):
        if duckdb is None:
            self.skipTest("NOT TESTED: no duckdb")
        job = self.groups("parquet")
        got = self.m.good("query", f"SELECT n, max(s) AS m FROM 'job:{job}' GROUP BY n HAVING count(*) > 2 ORDER BY n").decode()
        want = duckdb.sql(f"WITH g AS (SELECT k, count(*) AS n, sum(v) AS s FROM '{self.m.path('in.csv')}' GROUP BY k) "
                          "SELECT n, max(s) AS m FROM g GROUP BY n HAVING count(*) > 2 ORDER BY n").fetchall()
        self.assertEqual([tuple(map(int, line.split(","))) for line in got.split()[1:]], want)

    def test_raw_arrays(self):
        for items in (0, 100, 300000):  # nothing, in a message, in a buffer
            self.m.generate("u32", "random", items, name="keys")
            job = self.detached("sort", "keys", "--type", "u32", *BITONIC)
            self.m.good("sort", f"job:{job}", "--type", "u32", "--descending", *BITONIC, "-o", "out")
            self.assertIsNone(self.m.wrong("u32", "keys", "out", descending=True))
            data = (self.m.work / "keys").read_bytes()
            values = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
            got = self.m.good("mapreduce", f"job:{job}", "--parse", "fixed", "--schema", "value:u32", "--select",
                              "count() as n, sum(value) as s").decode().split()[1]
            self.assertEqual(got, f"{len(values)},{sum(values) if values else ''}")
            if items:
                self.m.good("parquet", "convert", f"job:{job}", "keys.parquet", "--type", "u32")
                got = self.m.good("parquet", "query", "keys.parquet", "--select", "count() as n, max(value) as m").decode()
                self.assertEqual(got.split()[1], f"{len(values)},{max(values)}")

    def test_nothing_is_copied(self):
        """The pool grows by what the second job needs beside its input, not by a copy of the input."""
        job = self.detached("sort", "in", "--type", "u32", *BITONIC)
        client = wire.Client(self.m.socket)
        before = self.descriptors_of_pool()
        self.assertEqual(client.ask(wire.HOLD, wire.field(1, int(job)))[0], wire.R_OK)
        self.assertEqual(client.ask(wire.HOLD, wire.field(1, int(job)))[0], wire.R_OK)
        self.assertEqual(self.descriptors_of_pool(), before)
        again = self.detached("sort", f"job:{job}", "--type", "u32", *BITONIC)
        receipt = self.m.json("show", again)["receipt"]
        self.assertEqual(receipt["data_path"], "pool memory")  # a file would be read into a buffer of the pool first
        client.close()
        for each in (again, job):
            self.m.good("result", each, "-o", "out")
            self.assertIsNone(self.m.wrong("u32", "in", "out"))

    def test_held_often(self):
        """hacd needs no memory for a buffer that a connection holds again, and counts how often it does."""
        job = self.detached("sort", "in", "--type", "u32", *BITONIC)
        client = wire.Client(self.m.socket)
        self.addCleanup(client.close)

        def hold(times):
            frame = wire.frame(wire.request(1, wire.HOLD, wire.field(1, int(job))), 0)
            for _ in range(times // 100):
                for _ in range(100):
                    client.send_raw(frame)
                for _ in range(100):
                    self.assertEqual(client.receive()[0], wire.R_OK)

        hold(1000)
        before = self.m.daemon().rss()
        hold(60000)
        self.assertLess(self.m.daemon().rss() - before, 256 << 10)
        done = client.ask(wire.RESULT, wire.field(1, int(job)))
        buffer = wire.decode(done[1][5][0])[1][0]
        with wire.Client(self.m.socket) as second:
            ask = wire.field(1, buffer)
            for times in (1, 3):
                for _ in range(times):
                    self.assertEqual(second.ask(wire.HOLD, wire.field(1, int(job)))[0], wire.R_OK)
                for _ in range(times):
                    self.assertEqual(second.ask(wire.BUFFER_RELEASE, ask)[0], wire.R_OK)
                self.assertIn("holds no buffer", second.ask(wire.BUFFER_RELEASE, ask)[1][2][0].decode())
        self.m.good("result", job, "-o", "out")
        self.assertIsNone(self.m.wrong("u32", "in", "out"))

    def descriptors_of_pool(self):
        return self.m.daemon().descriptors(pool=True).get("/memfd:hac-pool", 0)

    def test_opsplit(self):
        job = self.detached("mapreduce", "in.csv", "--group-by", "k", "--select", "sum(v) as s")
        (self.m.work / "total.yaml").write_text(LOGIC)
        self.m.good("opsplit", "run", "total.yaml", "--input", f"t=job:{job}", "-o", "made")
        self.assertEqual((self.m.work / "made" / "o.csv").read_text(), f"sum\n{sum(v for _, v in self.rows)}\n")
        array = self.detached("sort", "in", "--type", "u32", *BITONIC)
        self.m.bad(2, "opsplit", "run", "total.yaml", "--input", f"t=job:{array}", "-o", "made", says="is a raw array")
        self.m.bad(2, "opsplit", "run", "total.yaml", "--input", "t=job:999", "-o", "made", says="there is no job 999")

    def test_errors(self):
        bad = self.m.bad
        bad(2, "query", "job:999", says="there is no job 999 of yours")
        bad(2, "sort", "job:999", "--type", "u32", "-o", "out", says="there is no job 999 of yours")
        bad(2, "query", "job:0", says="is not a job id")
        job = self.groups()
        bad(2, "query", f"job:{job}", "in.csv", says="cannot be combined with other inputs")
        bad(2, "query", f"job:{job}", "--parse", "jsonl", says="known to be csv")
        bad(2, "sort", f"job:{job}", "--type", "u32", "-o", "out", says="has rows")
        self.m.good("result", job, "-o", "out")
        bad(2, "query", f"job:{job}", says="its result is gone")
        array = self.detached("sort", "in", "--type", "u32", *BITONIC)
        bad(2, "query", f"job:{array}", says="is a raw array; say its type")
        bad(2, "sort", f"job:{array}", "--input-format", "csv", "--key", "a", says="is a raw array")
        markdown = self.groups("markdown")
        bad(2, "query", f"job:{markdown}", says="whose result is markdown")
        waiting = self.m.start("splice", "-", "--parse", "csv", "--schema", "a:i64", "--select", "sum(a) as s",
                               stdin=subprocess.PIPE)
        self.addCleanup(waiting.kill)
        waiting.stdin.write(b"a\n1\n2\n")
        waiting.stdin.flush()
        for _ in range(200):
            running = [j["id"] for j in self.m.json("jobs")["jobs"] if j["state"] not in ("done", "failed", "cancelled")]
            if running:
                break
            time.sleep(0.05)
        self.assertEqual(self.m.run("query", f"job:{running[0]}").err,
                         f"hacctl: job:{running[0]}: has not ended; wait for it with `hacctl wait {running[0]}`\n")
        self.m.good("cancel", running[0])
        waiting.communicate(timeout=30)
        bad(2, "query", f"job:{running[0]}", says="has no result: the job was cancelled")
        (self.m.work / f"job:{job}").write_text("a\n5\n")
        self.assertEqual(self.m.good("query", f"./job:{job}", "--parse", "csv", "--select", "sum(a) as s"), b"s\n5\n")


class Restarted(MachineTest):
    def test_remembered_only(self):
        """The record of a job is there, its result is not."""
        m = self.machine()
        m.generate("u32", "random", 1000)
        job = m.good("sort", "in", "--type", "u32", "--detach").decode().strip()
        m.good("wait", job)
        daemon = m.daemon()
        os.kill(daemon.pid, 15)
        daemon.wait()
        m.bad(2, "sort", f"job:{job}", "--type", "u32", "-o", "out", says="its result is gone")


class Users(UsersTest):
    def test_other_user(self):
        m, _ = self.shared()
        one, two, root = (self.user(m, uid) for uid in (60001, 60002, 0))
        data = os.urandom(4 << 16)
        fd = os.memfd_create("keys")
        os.write(fd, data)
        got = one.ask(wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, len(data), options=DETACH), [fd])
        job = got[1][1][0]
        self.assertEqual(one.ask(wire.WAIT, wire.field(1, job))[0], wire.R_DONE)
        self.assertEqual(two.ask(wire.HOLD, wire.field(1, job))[0], wire.R_FAILURE)
        self.assertIn("not in a buffer of yours", root.ask(wire.HOLD, wire.field(1, job))[1][2][0].decode())
        self.assertEqual(one.ask(wire.HOLD, wire.field(1, job))[0], wire.R_OK)
        os.close(fd)


if __name__ == "__main__":
    main()
