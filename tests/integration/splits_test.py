#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries whose input comes in splits: rounds give what one query over the whole input gives, to the bit."""
import json
import os
import random
import signal
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import splits  # noqa: E402
import wire  # noqa: E402
from machine import ONE_DEVICE, TWO_DEVICES, Machine, eventually, main  # noqa: E402

CSV, TSV, JSONL, LINES, WORDS, KV, FIXED = range(2, 9)
SCHEMA = "k:string,v:f64,d:decimal(12,2),i:i64,w:string"
EVERY = ("count() as n, count(v) as nv, count_distinct(i) as ndv, sum(v) as s, sum(d) as sd, sum(i) as si, "
         "min(w) as lo, max(v) as hi, avg(v) as a, variance(v) as var, stddev_pop(v) as sp, first(w) as f, last(v) as l, "
         "approx_quantile(v, 0.5) as q, top_k(i, 3) as t, histogram(v, 0, 100, 5) as h, string_list(w) as wl")


def table(rows, keys, seed=1):
    r = random.Random(seed)
    lines = []
    for _ in range(rows):
        value = "" if r.random() < 0.05 else f"{r.random() * 100:.12g}"
        lines.append(f"key {r.randrange(keys)},{value},{r.randrange(10**6) / 100:.2f},{r.randrange(50)},"
                     f"{r.choice(WORDS_OF)}\n")
    return "".join(lines).encode()


WORDS_OF = ["a", "quite long text, in quotes".replace(",", ";"), "bc", "", "üöä", "x" * 40]


class Splits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(ONE_DEVICE)
        cls.addClassCleanup(cls.machine.close)
        cls.machine.good("devices")

    def setUp(self):
        self.client = wire.Client(self.machine.socket, timeout=120)
        self.addCleanup(self.client.close)

    def job(self, **how):
        return splits.Job(self.client, **how)

    def receipt(self, job):
        text = self.client.ask(wire.QUERY, wire.message(f1=5, f2=job.id))[1]
        return json.loads(text[1][0])

    def whole(self, data, *options, name="in"):
        """The same over a file."""
        Path(self.machine.path(name)).write_bytes(data)
        return self.machine.good("mapreduce", name, *options)

    def compare(self, data, keys, select, memory=0, split_sets=2):
        job = self.job(options=wire.message(f6=memory) if memory else b"", kind=CSV, schema=SCHEMA, select=select,
                       group_by=keys or "", order_by=keys or "")
        got = job.run(data, split_sets=split_sets)
        order = ("--group-by", keys, "--order-by", keys) if keys else ()
        want = self.whole(data, "--parse", "csv", "--no-header", "--schema", SCHEMA, "--select", select, *order)
        self.assertEqual(got, want)
        return self.receipt(job)

    def test_every_aggregate(self):
        data = table(120000, 300)
        receipt = self.compare(data, "k", "k, " + EVERY, memory=24 << 20, split_sets=1)
        self.assertGreater(receipt["query"]["carries"], 0)
        self.assertEqual(receipt["flow"], "splice")
        self.assertEqual(receipt["query"]["rows_read"], 120000)
        self.assertEqual(receipt["query"]["groups"], 300)
        self.assertEqual(receipt["query"]["splits"], len(splits.sets_of(data)))

    def test_without_keys(self):
        receipt = self.compare(table(60000, 3), None, EVERY, split_sets=1)
        self.assertEqual(receipt["query"]["groups"], 1)

    def test_many_groups(self):
        """More keys than rows seen before: partials are rows in windows, and the carried state is large."""
        data = table(150000, 10**7) * 7
        receipt = self.compare(data, "k", "k, count() as n, sum(v) as s, variance(v) as var, first(w) as w",
                               memory=128 << 20)
        self.assertGreater(receipt["query"]["carries"], 0)

    def test_two_keys(self):
        self.compare(table(100000, 200), "k, w", "k, w, count() as n, sum(v) as s, max(d) as m")

    def test_too_many_groups(self):
        job = self.job(kind=CSV, schema=SCHEMA, group_by="k", select="k, count() as n, sum(v) as s, string_list(w) as l",
                       options=wire.message(f6=24 << 20))
        with self.assertRaisesRegex(splits.Refused, "memory"):
            job.run(table(400000, 10**7), split_sets=1)

    def test_header(self):
        """For each split."""
        body = table(30000, 10)
        head = b"k,v,d,i,w\n"
        job = self.job(kind=CSV, header=1, schema=SCHEMA, select="k, sum(i) as s, sum(v) as t", group_by="k", order_by="k")
        got = job.run(body, head=head, split_sets=1)
        self.assertEqual(got, self.whole(head + body, "--parse", "csv", "--group-by", "k", "--order-by", "k",
                                         "--select", "k, sum(i) as s, sum(v) as t", "--schema", SCHEMA))

    def test_formats(self):
        r = random.Random(3)
        lines = b"".join(b"%s %d\n" % (r.choice([b"alpha", b"be ta", b"ga\tmma"]), r.randrange(9))
                         for _ in range(250000))
        for kind, name, key in ((LINES, "lines", "line"), (WORDS, "words", "word"), (KV, "kv", "key")):
            with self.subTest(name):
                select = f"{key}, count() as n"
                got = self.job(kind=kind, select=select, group_by=key, order_by=key).run(lines, split_sets=1)
                self.assertEqual(got, self.whole(lines, "--parse", name, "--group-by", key, "--order-by", key,
                                                 "--select", select))
        rows = b"".join(b'{"a": %d, "b": "%d"}\n' % (r.randrange(20), r.randrange(10)) for _ in range(150000))
        got = self.job(kind=JSONL, schema="a:i64,b:string", select="a, count() as n, min(b) as m", group_by="a",
                       order_by="a").run(rows, split_sets=1)
        self.assertEqual(got, self.whole(rows, "--parse", "jsonl", "--schema", "a:i64,b:string", "--group-by", "a",
                                         "--order-by", "a", "--select", "a, count() as n, min(b) as m"))
        fixed = b"".join(struct.pack("<id", r.randrange(30), r.random()) for _ in range(200000))
        job = self.job(kind=FIXED, schema="a:i32,x:f64", select="a, sum(x) as s", group_by="a", order_by="a")
        size = (1 << 20) // 12 * 12 + 12
        for at in range(0, len(fixed), size):
            job.append([fixed[at:at + size]])
        job.finish()
        self.assertEqual(len(job.wait().splitlines()), 31)

    def test_growing_rows(self):
        """Splits that give more and more rows are planned again at most as often as there are splits."""
        lines = [b"%d %s\n" % (i, b"x" * 90) for i in range(15000)]
        sets, at = [], 0
        for i in range(12):
            many = int(30 * 1.6 ** i)
            sets.append(b"".join(lines[at:at + many]))
            at += many
        job = self.job(kind=LINES, select="line")
        for each in sets:
            job.append([each])
            job.take_answer()
        job.finish()
        self.assertEqual(job.rows + job.wait(), b"line\n" + b"".join(sets))

    def test_rows(self):
        """Each split's rows come with its answer; the header once, the limit over all."""
        data = table(60000, 50)
        query = {"where": "i < 5", "kind": CSV, "schema": SCHEMA, "select": "k, i, v"}
        job = self.job(**query)
        self.assertEqual(job.run(data, split_sets=1), b"")
        want = self.whole(data, "--parse", "csv", "--no-header", "--schema", SCHEMA, "--select", "k, i, v", "--where",
                          "i < 5")
        self.assertEqual(job.rows, want)
        self.assertEqual(self.receipt(job)["query"]["rows_out"], want.count(b"\n") - 1)
        for limit in (1, 1000, 5000):
            with self.subTest(limit):
                job = self.job(limit=limit, **query)
                job.run(data, split_sets=1)
                self.assertTrue(job.enough)
                self.assertEqual(job.rows, b"".join(want.splitlines(True)[:limit + 1]))
        job = self.job(output=1, **query)
        job.run(data, split_sets=2)
        self.assertEqual(job.rows.count(b"\n"), want.count(b"\n") - 1)
        self.assertEqual(json.loads(job.rows.splitlines()[0])["i"], int(want.splitlines()[1].split(b",")[1]))
        with self.assertRaisesRegex(splits.Refused, "in an order"):
            self.job(order_by="k", **query).run(data)

    def test_nothing(self):
        job = self.job(kind=LINES, select="count() as n")
        self.assertEqual(job.run(b""), b"n\n0\n")
        job = self.job(kind=LINES, select="line, count() as n", group_by="line")
        self.assertEqual(job.run(b""), b"line,n\n")
        job = self.job(kind=LINES, select="line")
        self.assertEqual(job.run(b""), b"line\n")
        with self.assertRaisesRegex(splits.Refused, "the input is empty"):
            self.job(kind=CSV, header=1, select="count() as n", columns="a:string,b:string").run(b"")
        for select, want in (("count() as n", b"n\n0\n"), ("a", b"a\n")):
            job = self.job(kind=CSV, header=1, select=select, columns="a:string,b:string")
            job.append([], b"a,b\n", 1)
            job.finish()
            self.assertEqual(job.rows + job.wait(), want)

    def test_empty_between(self):
        job = self.job(kind=LINES, select="line, count() as n", group_by="line", order_by="line")
        for sets in ([], [b"a\n"], [], [b"b\n", b"a\n"], [b"", b"c"]):
            job.append([each for each in sets])
        job.finish()
        self.assertEqual(job.wait(), b"line,n\na,2\nb,1\nc,1\n")

    def test_messages(self):
        """A record is named by its source and its line there."""
        job = self.job(kind=CSV, schema="a:i64,b:string", select="sum(a) as s")
        job.append([b"1,x\n2,y\n", b"3,z\n"], name="one.csv")
        job.append([b"4,x\n", b"5,y\nzwei,z\n"], lines_before=100, name="two.csv")
        with self.assertRaisesRegex(splits.Refused, "two.csv.*line 103, column a: 'zwei'"):
            job.finish()
        with self.assertRaisesRegex(splits.Refused, "zwei"):
            job.append([b"6,x\n"])
            job.take_answer()
        with self.assertRaisesRegex(splits.Refused, "two.csv"):
            job.wait()
        job = self.job(kind=CSV, schema="a:i64,b:string", select="sum(a) as s", skip=1)
        job.append([b"1,x\n2,y\n", b"q,z\n"])
        job.append([b"4,x\n", b"zwei,z\n"])
        job.finish()
        self.assertEqual(job.wait(), b"s\n7\n")
        self.assertEqual(self.receipt(job)["query"]["rows_skipped"], 2)

    def test_bad_query(self):
        """What is no compiled query is refused by whoever runs it."""
        job = self.job(kind=LINES, compiled=wire.ANY_QUERY)
        with self.assertRaisesRegex(splits.Refused, "no compiled query"):
            job.append([b"a\n"])
            job.take_answer()

    def test_waiting(self):
        """A job that waits for its client delays nobody, and ends by cancel, deadline and a client that leaves."""
        data = table(40000, 5)
        jobs = [self.job(kind=LINES, select="count() as n") for _ in range(20)]
        self.assertTrue(eventually(lambda: b"waits for its client" in self.machine.good("why", str(jobs[0].id))))
        for job in jobs:
            job.append([b"a\n"])
            job.take_answer()
        self.assertEqual(self.whole(data, "--parse", "lines", "--select", "count() as n"), b"n\n40000\n")
        self.assertEqual(self.client.ask(wire.CANCEL, wire.message(f1=jobs[0].id))[0], wire.R_OK)
        with self.assertRaisesRegex(splits.Refused, "cancel"):
            jobs[0].append([b"b\n"])
            jobs[0].take_answer()
        late = self.job(kind=LINES, select="count() as n", options=wire.message(f5=0.3))
        with self.assertRaisesRegex(splits.Refused, "deadline"):
            late.wait()
        for n, job in enumerate(jobs[1:4]):
            job.append([b"b\n"] * n)
            job.finish()
            self.assertEqual(job.wait(), b"n\n%d\n" % (n + 1))
        self.client.close()
        self.assertTrue(eventually(lambda: json.loads(self.machine.good("jobs", "--json"))["jobs"] is not None and all(
            job["state"] in ("done", "failed", "cancelled")
            for job in json.loads(self.machine.good("jobs", "--json"))["jobs"])))

    def test_refusals(self):
        job = self.job(kind=LINES, select="count() as n")
        other = wire.Client(self.machine.socket)
        self.addCleanup(other.close)

        def append(client, job, **fields):
            what, got = client.ask(wire.APPEND_SPLIT, wire.message(f1=job, **fields))
            self.assertEqual(what, wire.R_FAILURE)
            return got[2][0].decode()
        self.assertIn("no job", append(other, job.id, f7=1))
        self.assertIn("no job", append(self.client, 999999, f7=1))
        self.assertIn("no buffer 77", append(self.client, job.id, f2=77, f3=100, f4=1, f5=1))
        buffer = job.buffer(4096)
        self.assertIn("outside", append(self.client, job.id, f2=buffer, f3=4097, f4=1, f5=1))
        job.free.append(buffer)
        job.append([b"a\n"])
        job.finish()
        self.assertIn("its last split already", append(self.client, job.id, f7=1))
        self.assertEqual(job.wait(), b"n\n1\n")
        what, got = self.client.ask(wire.SUBMIT_QUERY, wire.message(
            f1=wire.query_spec(kind=LINES), f3=wire.message(f2=1), f4=1))
        self.assertIn(b"cannot be detached", got[2][0])

    def test_damaged(self):
        """Only executors examine the contents of a split."""
        good = splits.pack([b"a\n", b"b\n"])
        for at, value in ((0, b"x"), (8, b"\1"), (8, b"\xff" * 8), (16, b"\xff" * 8), (32, b"\3"), (36, b"\xff" * 4),
                          (64, b"\1"), (72, b"\xff" * 8), (80, b"\0")):
            job = self.job(kind=LINES, select="count() as n")
            job.append([b"a\n", b"b\n"], data=good[:at] + value + good[at + len(value):])
            with self.assertRaisesRegex(splits.Refused, "split", msg=f"byte {at}"):
                job.finish()
        job = self.job(kind=LINES, select="count() as n")
        job.append([b"a\n", b"b\n", b"c\n"], data=good)  # fewer than hacd was told
        with self.assertRaisesRegex(splits.Refused, "no split of 3 data sets"):
            job.finish()

    def test_too_many(self):
        """More unanswered splits than allowed are refused; those before are done."""
        job = self.job(kind=CSV, header=1, columns="a:string,b:string", select="count() as n", buffers=64)
        self.machine.good("devices")
        sent = [job.append([b"1,2\n"], b"a,b\n", 1) for _ in range(60)]
        refused = 0
        while job.waiting:
            try:
                job.take_answer()
            except splits.Refused as failure:
                self.assertIn("not answered yet", str(failure))
                refused += 1
        self.assertEqual(job.answered + refused, len(sent))
        job.finish()
        self.assertEqual(job.wait(), b"n\n%d\n" % job.answered)

    def test_progress(self):
        job = self.job(kind=CSV, schema=SCHEMA, select="count() as n", options=wire.message(f3=1))
        job.run(table(200000, 10), split_sets=1)
        self.assertTrue(job.events)
        for event in job.events:
            self.assertIn(b"so far", event[8][0])
            self.assertLess(struct.unpack("<d", struct.pack("<Q", event[7][0]))[0], 0)


class Kills(unittest.TestCase):
    def test_kills(self):
        """Executors die in the middle of rounds: the result is the same."""
        machine = Machine(TWO_DEVICES)
        self.addCleanup(machine.close)
        daemon = machine.daemon()
        with wire.Client(machine.socket, timeout=120) as client:
            data = table(400000, 30000)
            select = "k, count() as n, sum(v) as s, first(w) as f"
            Path(machine.path("in")).write_bytes(data)
            want = machine.good("mapreduce", "in", "--parse", "csv", "--no-header", "--schema", SCHEMA, "--group-by",
                                "k", "--order-by", "k", "--select", select)
            job = splits.Job(client, kind=CSV, schema=SCHEMA, select=select, group_by="k", order_by="k",
                             options=wire.message(f6=256 << 20))
            sets, kills = splits.sets_of(data), 0
            for turn in range(3):
                for i, each in enumerate(sets):
                    job.append([each])
                    if i % 5 == turn:
                        for pid in daemon.executor_pids():
                            os.kill(pid, signal.SIGKILL)
                            kills += 1
                            break
            job.finish()
            got = job.wait()
            self.assertEqual([line.split(b",")[0] for line in got.splitlines()],
                             [line.split(b",")[0] for line in want.splitlines()])
            self.assertEqual([int(line.split(b",")[1]) for line in got.splitlines()[1:]],
                             [3 * int(line.split(b",")[1]) for line in want.splitlines()[1:]])
            self.assertGreater(kills, 3)


class Bounded(unittest.TestCase):
    def test_memory(self):
        """Hundreds of splits: hacd and the pool hold no more than after the first carried state was written beside an old one."""
        machine = Machine(ONE_DEVICE)
        self.addCleanup(machine.close)
        daemon = machine.daemon()
        with wire.Client(machine.socket, timeout=120) as client:
            job = splits.Job(client, kind=CSV, schema=SCHEMA, select="k, count() as n, sum(v) as s", group_by="k",
                             options=wire.message(f6=128 << 20))
            sets = splits.sets_of(table(30000, 5000))
            rss, held = [], []  # the carried state is written after about a hundred splits
            for _ in range(600):
                job.append(sets)
                rss.append(daemon.rss())
                held.append(daemon.descriptors(pool=True).get("/memfd:hac-pool", 0))
            job.finish()
            self.assertLess(max(rss[300:]), max(rss[:300]) + (4 << 20))
            self.assertLessEqual(max(held[300:]), max(held[:300]) + 1)
            keys = {line.split(b",")[0] for each in sets for line in each.splitlines()}
            self.assertEqual(len(job.wait().splitlines()), len(keys) + 1)


if __name__ == "__main__":
    main()
