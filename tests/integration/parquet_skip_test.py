#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a query of a Parquet file skips, as its receipt counts it: row groups by statistics, bloom filters and page
indexes, pages that are not decompressed, rows that a filter excludes early. The answers are checked against plain loops.
"""
import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

try:
    import duckdb
    import pyarrow
    import pyarrow.parquet
except ImportError:
    duckdb = pyarrow = None

WHY_NOT = "pyarrow or DuckDB is not installed (`./dev test` puts them into build/python): there are no files to read"
ROWS = 200_000
GROUP = 10_000


@unittest.skipIf(pyarrow is None, WHY_NOT)
class Skip(SharedMachineTest):
    profile = TWO_DEVICES

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.k = list(range(ROWS))
        cls.s = [f"name {i * 7919 % 13}" for i in cls.k]
        cls.v = [i * 31 % 1000 / 8 for i in cls.k]

    def write(self, name, **options):
        table = pyarrow.table({"k": self.k, "s": self.s, "v": self.v})
        pyarrow.parquet.write_table(table, self.m.path(name), row_group_size=GROUP, **options)
        return name

    def ask(self, name, where, wanted):
        """The receipt's figures of a query whose answer equals that of a loop."""
        out = self.m.good("parquet", "query", name, "--where", where, "--select", "count() as n, sum(k) as k, sum(v) as v",
                          "--receipt", "receipt").decode()
        rows = [i for i in self.k if wanted(i)]
        expected = f"{len(rows)},{sum(rows) if rows else ''},{sum(self.v[i] for i in rows) if rows else ''}"
        self.assertEqual(out, f"n,k,v\n{expected}\n", where)
        query = json.loads(Path(self.m.path("receipt")).read_text())["query"]
        self.assertEqual((query["rows_read"], query["rows_kept"]), (ROWS, len(rows)))
        return query["parquet"]

    def test_statistics(self):
        name = self.write("plain.parquet")
        got = self.ask(name, "k >= 25000 and k < 41000", lambda i: 25000 <= i < 41000)
        self.assertEqual(got["row_groups_skipped_by_statistics"], 17)
        self.assertEqual(got["rows_skipped"], 17 * GROUP)
        self.assertGreater(got["bytes_skipped"], 0)
        self.assertEqual(self.ask(name, "k < 0", lambda i: False)["row_groups_skipped_by_statistics"], 20)
        got = self.ask(self.write("none.parquet", write_statistics=False), "k < 100", lambda i: i < 100)
        self.assertEqual(got["row_groups_skipped_by_statistics"], 0)
        self.assertEqual(got["rows_passed_over"], ROWS - 100)

    def test_page_index(self):
        name = self.write("index.parquet", write_page_index=True, data_page_size=4000, use_dictionary=False)
        got = self.ask(name, "k >= 33000 and k < 34000", lambda i: 33000 <= i < 34000)
        self.assertEqual(got["row_groups_skipped_by_statistics"], 19)
        self.assertGreater(got["rows_skipped"], 19 * GROUP + 5000)  # most of the last group
        self.assertGreater(got["pages_skipped"], 0)
        whole = self.ask(name, "k >= 30000 and k < 40000", lambda i: 30000 <= i < 40000)  # a row group
        self.assertGreater(got["bytes_skipped"], whole["bytes_skipped"])
        self.assertLess(got["pages_read"], whole["pages_read"])

    def test_dictionary(self):
        name = self.write("names.parquet", data_page_size=4000)
        got = self.ask(name, "s = 'name 3'", lambda i: self.s[i] == "name 3")
        self.assertEqual(got["rows_passed_over"], sum(s != "name 3" for s in self.s))
        none = self.ask(name, "s = 'name 33'", lambda i: False)  # within the statistics, in no dictionary
        self.assertEqual(none["row_groups_skipped_by_statistics"], 0)
        self.assertLess(none["bytes_decompressed"], got["bytes_decompressed"] / 2)  # k and v are not read

    def test_late(self):
        """Where a filter leaves no rows, the other columns are not read."""
        name = self.write("late.parquet", write_statistics=False, data_page_size=4000, use_dictionary=False)
        some = self.ask(name, "k >= 55000 and k < 55100", lambda i: 55000 <= i < 55100)
        every = self.ask(name, "k >= 0", lambda i: True)
        self.assertGreater(some["pages_skipped"], 2)  # all values of k are checked
        self.assertLess(some["bytes_decompressed"], every["bytes_decompressed"] * 0.6)
        self.assertEqual(every["rows_passed_over"], 0)

    def test_bloom_filter(self):
        connection = duckdb.connect()
        connection.execute(f"COPY (SELECT i * 2 AS k, 'name ' || (i * 7919 % 2003) * 2 AS s, i * 31 % 1000 / 8 AS v FROM "
                           f"range({ROWS // 2}) t(i)) TO '{self.m.path('bloom.parquet')}' (FORMAT parquet, ROW_GROUP_SIZE 10240, "
                           f"DICTIONARY_SIZE_LIMIT 100000)")
        out = self.m.good("parquet", "query", "bloom.parquet", "--where", "s = 'name 1001'", "--select", "count() as n",
                          "--receipt", "receipt")
        self.assertEqual(out, b"n\n0\n")
        got = json.loads(Path(self.m.path("receipt")).read_text())["query"]["parquet"]
        self.assertGreater(got["row_groups_skipped_by_bloom_filter"], 7)
        out = self.m.good("parquet", "query", "bloom.parquet", "--where", "s = 'name 1002'", "--select", "count() as n")
        self.assertEqual(out, f"n\n{sum(i * 7919 % 2003 == 501 for i in range(ROWS // 2))}\n".encode())


if __name__ == "__main__":
    main()
