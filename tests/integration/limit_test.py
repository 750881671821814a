#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A limit without an order: the result is the first rows that pass the filter, in the order of the input, and little more
than these is read. The answers are those of loops; what was read is in the receipt."""
import json
import random
import sys
import tempfile
import unittest
from collections import Counter
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
from machine import TWO_DEVICES, Machine, SharedMachineTest, main  # noqa: E402

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

WHY_NOT = "pyarrow is not installed (`./dev test` puts it into build/python): there are no Parquet files to read"
ROWS = 600_000
PARTS = 30


class First(SharedMachineTest):
    profile = TWO_DEVICES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = tempfile.TemporaryDirectory()  # a test's own files go when it ends
        cls.addClassCleanup(cls.folder.cleanup)
        rng = random.Random(1)
        cls.rows = [(i, rng.randrange(1000), f'text "{i % 77}",\n{rng.randrange(10**9)}') for i in range(ROWS)]
        quoted = ['{},{},"{}"\n'.format(k, v, s.replace('"', '""')) for k, v, s in cls.rows]
        cls.write("all.csv", "k,v,s\n" + "".join(quoted))
        cls.write("all.jsonl", "".join(json.dumps(dict(zip("kvs", row))) + "\n" for row in cls.rows))
        Path(cls.folder.name, "parts").mkdir()
        step = ROWS // PARTS
        for i in range(PARTS):
            cls.write(f"parts/{i:02}.csv", "k,v,s\n" + "".join(quoted[i * step:(i + 1) * step]))
        cls.files = ["all.csv", "all.jsonl", "parts"]
        if pyarrow is not None:
            table = pyarrow.table(dict(zip("kvs", map(list, zip(*cls.rows)))))
            pyarrow.parquet.write_table(table, Path(cls.folder.name, "all.parquet"), row_group_size=20_000)
            cls.files.append("all.parquet")

        cls.quoted_files = []  # each of several chunks, in which most quotes come in the first files' texts
        for i in range(6):
            part = [(rng.randrange(7), rng.randrange(1000), "\n".join(["8,1000000,abc"] * rng.randrange(10, 32))) for _ in range(15_000)]
            cls.write(f"quoted{i}.csv", "k,v,s\n" + "".join('{},{},"{}"\n'.format(*row) for row in part))
            cls.quoted_files += part

    @classmethod
    def write(cls, name, text):
        Path(cls.folder.name, name).write_text(text)

    def ask(self, file, where, limit, offset=0):
        """The result's rows, and the receipt's figures."""
        out = self.m.good("query", f"select * from '{self.folder.name}/{file}' {where} limit {limit} offset {offset}", "-o", "out.jsonl",
                          "--receipt", "receipt")
        self.assertEqual(out, b"")
        rows = [tuple(json.loads(line).values()) for line in Path(self.m.path("out.jsonl")).read_text().splitlines()]
        return rows, json.loads(Path(self.m.path("receipt")).read_text())["query"]

    def test_first_rows(self):
        for file in self.files:
            for limit, offset in ((1, 0), (100, 0), (7, 3000), (50_000, 10), (0, 0), (0, 5)):
                with self.subTest(file=file, limit=limit, offset=offset):
                    rows, read = self.ask(file, "", limit, offset)
                    self.assertEqual(rows, self.rows[offset:offset + limit])
                    self.assertLessEqual(read["rows_read"], 4096 if limit + offset < 4096 else ROWS / 2)

    def test_filters(self):
        for file in self.files:
            for where, wanted in (("where v < 500", lambda v: v < 500), ("where v = 17", lambda v: v == 17),
                                  ("where v = 1000", lambda v: False)):
                for limit, offset in ((20, 0), (100, 300), (5000, 0)):
                    with self.subTest(file=file, where=where, limit=limit, offset=offset):
                        rows, read = self.ask(file, where, limit, offset)
                        self.assertEqual(rows, [row for row in self.rows if wanted(row[1])][offset:offset + limit])
                        if where.endswith("500") and limit < 1000 or where.endswith("17") and limit == 20:
                            self.assertLess(read["rows_read"], ROWS / 4)

    def test_last_rows(self):
        """Chunks and files before have some rows, but not enough."""
        for file in self.files:
            for low in (ROWS - 5, ROWS - 30_000):
                rows, _ = self.ask(file, f"where k = 3 or k = 400000 or k >= {low}", 40)
                wanted = [row for row in self.rows if row[0] in (3, 400000) or row[0] >= low][:40]
                self.assertEqual(rows, wanted, (file, low))

    def test_groups(self):
        """A limit of groups ends nothing: all rows are in them. On a fresh daemon no buffer has quotes of an earlier query."""
        rows = Counter(k for k, v, s in self.quoted_files)
        for select, wanted in (("count(*) as n from {} limit 1", [(len(self.quoted_files),)]),
                               ("sum(v) as n from {} limit 2", [(sum(v for k, v, s in self.quoted_files),)]),
                               ("k, count(*) as n from {} group by k limit 20", sorted(rows.items())),
                               ("distinct k from {} limit 20", sorted((k,) for k in rows)),
                               ("k, count(*) as n from {} group by k limit 2", 2), ("distinct k from {} limit 3", 3)):
            with self.subTest(select=select), closing(Machine(TWO_DEVICES)) as fresh:
                query = "select " + select.format(f"'{self.folder.name}/quoted?.csv'")
                fresh.good("query", query, "-o", "out.jsonl")
                got = sorted(tuple(json.loads(line).values()) for line in Path(fresh.path("out.jsonl")).read_text().splitlines())
                if isinstance(wanted, int):  # any of the groups
                    self.assertEqual(len(set(got)), wanted)
                    self.assertLessEqual(set(got), set(rows.items()) | {(k,) for k in rows})
                else:
                    self.assertEqual(got, wanted)

    def test_many_groups(self):
        """Regions have space for all groups of a chunk, not for those of the result: nothing is done twice."""
        for file in self.files:
            self.m.good("query", f"select k, count(*) as n from '{self.folder.name}/{file}' group by k limit 10", "-o", "out.jsonl",
                        "--receipt", "receipt")
            self.assertEqual(len(Path(self.m.path("out.jsonl")).read_text().splitlines()), 10)
            self.assertEqual(json.loads(Path(self.m.path("receipt")).read_text())["query"]["plans_too_small"], 0, file)

    def test_no_rows(self):
        """Nothing is read, and no quotes are counted: one task writes the result."""
        for file in [*self.files, "quoted?.csv"]:
            self.assertEqual(self.ask(file, "", 0)[0], [])
            devices = json.loads(Path(self.m.path("receipt")).read_text())["devices"]
            self.assertEqual(sum(device["tasks"] for device in devices), 1, (file, devices))

    def test_malformed(self):
        """A record that cannot be read fails the query if a row that is wanted may follow it, and only then. (Its chunk, of
        some 30 such rows, fails as a whole.)"""
        bad = ROWS // 4
        for file in ("all.jsonl", "all.csv", "parts/07.csv"):
            path = Path(self.folder.name, file)
            text = path.read_text()
            self.addCleanup(path.write_text, text)
            at = text.index(f'{{"k": {bad},' if file.endswith("jsonl") else f"\n{bad},") + 1
            self.write(file, text[:at] + 'x"x,' + text[at:])
        before = [row for row in self.rows[:bad] if row[1] == 17]
        for file in ("all.jsonl", "all.csv", "parts"):
            failures = set()
            for i in range(6):
                for limit in (3, 60, len(before) // 2, len(before) - 60):
                    rows, _ = self.ask(file, "where v = 17", limit)
                    self.assertEqual(rows, before[:limit], (file, limit))
                result = self.m.run("query", f"select * from '{self.folder.name}/{file}' where v = 17 limit {len(before) + 1}", "-o", "out.jsonl")
                self.assertNotEqual(result.code, 0)
                failures.add(result.err)
            self.assertEqual(len(failures), 1, failures)

    def test_more_than_there_are(self):
        for file in self.files:
            rows, read = self.ask(file, "where k >= 599990", 100)
            self.assertEqual((rows, read["rows_out"]), (self.rows[599_990:], 10))

    @unittest.skipIf(pyarrow is None, WHY_NOT)
    def test_bytes(self):
        """Of the file only the first row group is read, and the job's memory is not that of the file."""
        whole = Path(self.folder.name, "all.parquet").stat().st_size
        _, read = self.ask("all.parquet", "", 100)
        self.assertLess(read["parquet"]["bytes_read"], whole / 10)
        self.assertLess(self.m.json("show")["plan"]["memory"]["bytes"], 4 << 20)

    def test_small_memory(self):
        """The files are larger than the limit on a job's memory."""
        for file in self.files:
            self.m.good("query", f"select * from '{self.folder.name}/{file}' limit 100", "-o", "out.jsonl", "--memory", "4MiB")
            rows = [tuple(json.loads(line).values()) for line in Path(self.m.path("out.jsonl")).read_text().splitlines()]
            self.assertEqual(rows, self.rows[:100])


if __name__ == "__main__":
    main()
