#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The --memory that a refusal names is enough: each refusal is followed, and the answer is that without a limit."""
import csv
import json
import random
import re
import statistics
import sys
from collections import Counter
from pathlib import Path

csv.field_size_limit(1 << 30)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

ROWS = 100000
SMALL = ("1KiB", "100KiB", "1MiB", "2MiB", "4MiB", "8MiB")
NUMBERS = ("--schema", "k:i64,a:i64,b:f64,c:i32,d:decimal(30,10),t:timestamp")


class Advice(SharedMachineTest):
    profile = TWO_DEVICES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        r = random.Random(1)
        cls.files = {"numbers.csv": "k,a,b,c,d,t\n" + "".join(
            f"{r.getrandbits(62)},{r.getrandbits(62)},{r.random()!r},{i},{r.getrandbits(60)}.5,2024-05-06 07:08:09.{r.randrange(10**6):06}\n"
            for i in range(ROWS))}
        cls.files["texts.csv"] = "k,t\n" + "".join(f"{r.getrandbits(30)},{'x' * r.randrange(120)}\n" for _ in range(ROWS))
        cls.files["few.csv"] = "k,a\n" + "".join(f"{r.getrandbits(8)},{r.getrandbits(4)}\n" for _ in range(3 * ROWS))

    def follow(self, name, first, *words, most=1):
        """Runs it with that memory, then with what each refusal names, at most so many times."""
        for refused in range(most + 1):
            result = self.m.run(*words, "--memory", first, "-o", "got")
            if result.code == 0:
                self.assertTrue(Path(self.m.path("got")).read_bytes() == Path(self.m.path(name)).read_bytes(), words)
                return
            self.assertEqual((result.code, result.err.count("\n")), (4, 1), result)
            self.assertIn("memory", result.err)
            named = re.search(r"needs (?:about |at least )?(\d+) ?([KM]iB)", result.err)
            self.assertIsNotNone(named, result)
            self.assertLess(refused, most, f"{' '.join(words)}, --memory {first}: {result}")
            first = named[1] + named[2]

    def each(self, *words, file, memory=SMALL, most=1):
        Path(self.m.path(file)).write_text(self.files[file])
        words = [word if word != "IN" else file for word in words]
        self.m.good(*words, "-o", "want")
        for first in memory:
            with self.subTest(words=" ".join(words), memory=first):
                self.follow("want", first, *words, most=most)

    def test_rows(self):
        """Sorted rows: the chunks' rows and the result. The refusal counts both."""
        sort = ("sort", "IN", "--input-format", "csv", "--key", "k")
        self.each(*sort, *NUMBERS, file="numbers.csv")
        self.each(*sort, *NUMBERS, "--output-format", "json", file="numbers.csv")
        self.each(*sort, *NUMBERS, "--output-format", "parquet", file="numbers.csv")
        self.each(*sort, "--schema", "k:i64,t:string", file="texts.csv")
        self.each(*sort, "--schema", "k:i64,a:i64", file="few.csv")
        self.each("mapreduce", "IN", *NUMBERS, "--select", "a,d", "--order-by", "k", file="numbers.csv")

    def test_groups(self):
        """Few groups, and one for each row, which is only discovered during the run with the first advice."""
        for file, most in (("few.csv", 1), ("numbers.csv", 2)):
            self.each("mapreduce", "IN", "--schema", "k:i64,a:i64", "--group-by", "k", "--select", "sum(a * 0 + 1) as s",
                      "--order-by", "k", file=file, most=most)

    def test_partitions_that_are_not_alike(self):
        """Several passes, whose partitions are merged again with room for the larger ones, not one by one."""
        keys = 250000
        Path(self.m.path("keys.csv")).write_text("k,v\n" + "".join(f"{i * 7919 % 100000007},{i}\n" for i in range(keys)))
        self.m.good("mapreduce", "keys.csv", "--schema", "k:i64,v:i64", "--group-by", "k", "--select", "sum(v) as s",
                    "--order-by", "s desc", "--limit", "2", "--memory", "8MiB", "-o", "got", "--receipt", "receipt")
        self.assertEqual(Path(self.m.path("got")).read_text(), "k,s\n" + "".join(
            f"{i * 7919 % 100000007},{i}\n" for i in (keys - 1, keys - 2)))
        query = json.loads(Path(self.m.path("receipt")).read_text())["query"]
        self.assertGreater(query["passes"], 1)
        self.assertLessEqual(query["plans_too_small"], 4)

    def test_aggregates_that_keep_values(self):
        """By no key, by one group, 100 groups and as many as rows. The named memory is enough (see follow_twice), and a quarter
        of it is refused or right. The expected groups are computed in Python."""
        rows = [(i * 7919 % 100000007, i % 100, 7, r) for i, r in enumerate(random.Random(2).choices(range(1 << 20), k=ROWS // 2))]
        Path(self.m.path("values.csv")).write_text("k,g,c,a,t\n" + "".join(f"{k},{g},{c},{a},t{a}\n" for k, g, c, a in rows))
        results = {"string_agg(t, ';')": lambda v: ";".join(f"t{a}" for a in v), "list(a)": lambda v: json.dumps(v, separators=(",", ":")),
                   "median(a)": lambda v: float(statistics.median(v)), "quantile_disc(a, 0.3)": lambda v: sorted(v)[-(-3 * len(v) // 10) - 1],
                   "mode(a)": lambda v: max(sorted(c := Counter(v)), key=c.get)}
        for column, by in enumerate(("k", "g", "c", "")):
            groups = {}
            for row in rows:
                groups.setdefault(row[column] if by else 0, []).append(row[3])
            keys = ("--group-by", by, "--order-by", by) if by else ()
            for call, of in results.items():
                with self.subTest(call=call, by=by):
                    self.named(call, keys, [of(groups[key]) for key in sorted(groups)])

    def named(self, call, keys, want):
        words = ("mapreduce", "values.csv", "--schema", "k:i64,g:i64,c:i64,a:i64,t:string", "--select", f"{call} as s", *keys,
                 "-o", "got")
        result = self.m.run(*words, "--memory", "1MiB")
        named = re.search(r"needs about (\d+) MiB", result.err)
        self.assertTrue(named or result.code == 0, result)
        if named:
            self.assertLessEqual(int(named[1]), 12)
            quarter = self.m.run(*words, "--memory", f"{int(named[1]) * 256}KiB")
            if quarter.code == 0:
                self.check_groups(want)
            else:
                self.assertEqual(quarter.code, 4, quarter)
            self.follow_twice(words, int(named[1]))
        self.check_groups(want)

    def follow_twice(self, words, mib):
        """What a plan needs that had other partitions, or another order of its threads, can be more: the second figure
        is at most 12 MiB, too, and enough."""
        result = self.m.run(*words, "--memory", f"{mib}MiB")
        if result.code != 0:
            more = re.search(r"needs about (\d+) MiB", result.err)
            self.assertTrue(result.code == 4 and more and mib < int(more[1]) <= 12, result)
            self.m.good(*words, "--memory", f"{more[1]}MiB")

    def check_groups(self, want):
        with open(self.m.path("got"), newline="") as got:
            cells = [row[-1] for row in csv.reader(got)][1:]
        got = [type(w)(c) for w, c in zip(want, cells, strict=True)]
        self.assertTrue(got == want, next(((str(w)[:80], str(g)[:80]) for w, g in zip(want, got) if w != g), None))

    def test_smaller_splits(self):
        """Rows that grow on their way: more memory means larger splits, so smaller splits are advised, too."""
        Path(self.m.path("texts.csv")).write_text(self.files["texts.csv"])
        words = ("splice", "texts.csv", "--schema", "k:i64,t:string", "--select", ", ".join(f"t as t{i}" for i in range(40)))
        self.m.bad(4, *words, "--memory", "96MiB", "-o", "got", says="memory or smaller splits (--split-size)")
        self.m.good(*words, "-o", "want")
        self.m.good(*words, "--memory", "96MiB", "--split-size", "256KiB", "-o", "got")
        self.assertTrue(Path(self.m.path("got")).read_bytes() == Path(self.m.path("want")).read_bytes())

    def test_streams(self):
        """Splits take memory, too: five of them, and more where there is more."""
        self.each("splice", "IN", *NUMBERS, "--select", "a,c,d", file="numbers.csv")
        self.each("splice", "IN", *NUMBERS, "--select", "sum(c) as s", file="numbers.csv")
        self.each("splice", "IN", "--schema", "k:i64,a:i64", "--group-by", "k", "--select", "sum(a) as s", "--order-by", "k",
                  file="few.csv")

    def test_streams_of_many_groups(self):
        """The number of groups is unknown: the refusal names no memory, and its exit code is that of other refusals."""
        Path(self.m.path("numbers.csv")).write_text(self.files["numbers.csv"])
        for memory in ("1KiB", "2MiB", "4MiB", "6MiB", "7MiB", "8MiB", "9MiB"):
            result = self.m.run("splice", "numbers.csv", *NUMBERS, "--group-by", "k", "--select", "sum(c) as s", "--memory", memory,
                                "-o", "got")
            self.assertEqual((result.code, result.err.count("\n")), (4, 1), (memory, result))
            self.assertRegex(result.err, "groups do not fit|needs (about )?[0-9]+ [KM]iB", memory)
        self.assertIn("its groups do not fit the memory that it may use (9 MiB): raise --memory", result.err)


if __name__ == "__main__":
    main()
