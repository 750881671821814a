#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--having, --offset and --limit-by in every command that takes a query, over files in chunks, streams in splits and
Parquet, compared with Python."""
import collections
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

ROWS = 60000
SCHEMA = "id:i64,k:string,v:i64"


def make_rows():
    rng = random.Random(37)
    return [(i, f"key {rng.randrange(300)}", rng.randrange(10**6) if rng.random() < 0.9 else None) for i in range(ROWS)]


def text_of(value):
    return "" if value is None else str(value)


def nulls_last(value, descending=False):
    return (value is None, 0 if value is None else -value if descending else value)


class Limits(SharedMachineTest):
    profile = ONE_DEVICE

    def setUp(self):
        super().setUp()
        self.rows = make_rows()
        self.text = "id,k,v\n" + "".join(",".join(map(text_of, row)) + "\n" for row in self.rows)
        Path(self.m.path("f.csv")).write_text(self.text, encoding="utf-8")
        self.m.good("parquet", "convert", "f.csv", "f.parquet", "--schema", SCHEMA, "--row-group-rows", "7000")

    def answers(self, *query, header=True):
        """Each command's rows, header first."""
        split = ("--split-size", "64KiB")
        data = self.text.encode()
        yield "query", self.m.good("query", "f.csv", *query)
        yield "mapreduce", self.m.good("mapreduce", "f.csv", *query)
        yield "parquet", self.m.good("parquet", "query", "f.parquet", *query)
        yield "splice", self.m.good("splice", "f.csv", *split, *query)
        yield "stream", self.m.good("splice", "-", "--parse", "csv", "--schema", SCHEMA, *split, *query, data=data)

    def compare(self, wanted, *query):
        wanted = [list(map(text_of, row)) for row in wanted]
        for command, out in self.answers(*query):
            got = [[field or "" for field in row] for row in duck.read_csv(out.decode())[1:]]
            self.assertEqual(len(got), len(wanted), (command, query))
            self.assertTrue(got == wanted, f"{command} {query}: {got[:3]} and not {wanted[:3]}")

    def test_ordered(self):
        rows = sorted(self.rows, key=lambda r: (nulls_last(r[2], True), r[0]))
        order = ("--select", "id, v", "--order-by", "v desc, id")
        for offset, limit in ((0, 5), (1, 5), (30000, 7), (ROWS - 3, 9), (ROWS + 1, 2), (50, None), (ROWS - 2000, None)):
            last = None if limit is None else offset + limit
            self.compare([(r[0], r[2]) for r in rows[offset:last]], *order, "--offset", str(offset),
                         *(() if limit is None else ("--limit", str(limit))))

    def test_limit_by(self):
        def first(rows, n, key):
            seen, left = collections.Counter(), []
            for row in rows:
                seen[key(row)] += 1
                if seen[key(row)] <= n:
                    left.append(row)
            return left
        rows = sorted(self.rows, key=lambda r: (nulls_last(r[2]), -r[0]))
        order = ("--select", "id, v", "--order-by", "v, id desc")
        self.compare([(r[0], r[2]) for r in first(rows, 2, lambda r: r[1])], *order, "--limit", "2", "--limit-by", "k")
        self.compare([(r[0], r[2]) for r in first(rows, 1, lambda r: (r[1], r[0] % 7))[40:]], *order, "--limit", "1", "--limit-by",
                     "k, id % 7", "--offset", "40")
        counts = collections.Counter((r[1], r[2] is None) for r in self.rows)
        groups = sorted(((n, k, null) for (k, null), n in counts.items()), key=lambda g: (-g[0], g[1], g[2]))
        groups = first([g for g in groups if g[0] > 5], 1, lambda g: g[1])
        self.compare([(k, ("false", "true")[null], n) for n, k, null in groups], "--group-by", "k, v is null as missing",
                     "--select", "count() as n", "--having", "n > 5", "--order-by", "n desc, k, missing", "--limit", "1", "--limit-by", "k")

    def test_having(self):
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for i, _, v in self.rows:
            group = sums[i % 9001]
            group[0] += 1
            group[1] += v or 0
            group[2] = max(group[2], v or 0)
        kept = [(key, s[0], s[1]) for key, s in sorted(sums.items()) if s[2] > 950000 and s[0] > 6]
        self.assertTrue(100 < len(kept) < 9000)
        query = ("--group-by", "id % 9001 as g", "--select", "count() as n, sum(v) as s", "--having", "max(v) > 950000 and n > 6",
                 "--order-by", "g")
        self.compare(kept, *query)
        self.compare(kept[20:30], *query, "--offset", "20", "--limit", "10")
        distinct = collections.defaultdict(set)
        for i, k, _ in self.rows:
            distinct[i % 500].add(k)
        self.compare([(key, len(s)) for key, s in sorted(distinct.items()) if len(s) < 100], "--group-by", "id % 500 as g", "--select",
                     "count(distinct k) as n", "--having", "n < 100", "--order-by", "g")
        self.compare([], "--select", "count() as n", "--having", "n < 3")

    def test_without_order(self):
        """Which rows come is not specified, but how many, and that they are rows of the input."""
        there = {(text_of(r[0]), r[1]) for r in self.rows}
        for query, n in ((("--offset", "59000"), 1000), (("--offset", "100", "--limit", "1700"), 1700), (("--offset", "70000"), 0),
                         (("--limit", "2", "--limit-by", "k"), 600)):
            for command, out in self.answers("--select", "id, k", *query):
                got = {tuple(row) for row in duck.read_csv(out.decode())[1:]}
                self.assertTrue(len(got) == n and got <= there, (command, query, len(got)))

    def test_rows_of_a_stream(self):
        """Rows that are written as they come: in the order of the input, and the offset counts over all splits."""
        data = "".join(f"{r[0]}\t{r[1]}\n" for r in self.rows).encode()
        for offset, limit in ((0, 3), (1, 20000), (20011, 5), (59990, 100), (60000, 1)):
            out = self.m.good("-q", "pipe", "--parse", "kv", "--split-size", "64KiB", "--select", "key", "--offset", str(offset), "--limit",
                              str(limit), data=data)
            self.assertEqual(out.decode().split(), [str(i) for i in range(offset, min(offset + limit, ROWS))])


if __name__ == "__main__":
    main()
