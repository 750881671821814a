#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`order by … limit`: only rows that may be among the first are kept, from Parquet by its statistics, page indexes and
dictionaries, too. The answers are those of Python's sorted, which is stable, over files that pyarrow writes; what was
skipped is in the receipt."""
import json
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402
from row_order_test import COLUMNS, SCHEMA, csv_text, in_order, value  # noqa: E402

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None
try:
    import duckdb
except ImportError:
    duckdb = None

WHY_NOT = "pyarrow is not installed (`./dev test` puts it into build/python): there are no files to read"
TYPES = {"bool": "bool_", "i8": "int8", "i32": "int32", "i64": "int64", "u32": "uint32", "u64": "uint64", "f32": "float32",
         "f64": "float64", "date": "date32", "string": "string"}


def arrow_type(name):
    if name.startswith("decimal"):
        return pyarrow.decimal128(*map(int, name[8:-1].split(",")))
    return getattr(pyarrow, TYPES[name])()


@unittest.skipIf(pyarrow is None, WHY_NOT)
class Top(SharedMachineTest):
    profile = TWO_DEVICES
    size = 16000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = random.Random(7)
        cls.rows = [{**{c: value(rng, c) for c in COLUMNS}, "n": n} for n in range(cls.size)]

    def write(self, name, rows, **options):
        fields = [pyarrow.field(c, arrow_type(t)) for c, t in {**COLUMNS, "n": "i64"}.items()]
        table = pyarrow.table([pyarrow.array([r[f.name] for r in rows], f.type) for f in fields], pyarrow.schema(fields))
        pyarrow.parquet.write_table(table, self.m.path(name), **{"row_group_size": 1500, **options})
        return name

    def check(self, names, rows, keys, limit, *more, select="n"):
        order = ", ".join(c + (" desc" if descending else "") for c, descending in keys)
        got = self.m.good("mapreduce", *names, "--select", select, "--order-by", order, "--limit", str(limit), *more,
                          "--receipt", "receipt").decode().splitlines()
        self.assertEqual([line.split(",")[0] for line in got], ["n", *(str(r["n"]) for r in in_order(rows, keys)[:limit])], (keys, limit))
        return json.loads(Path(self.m.path("receipt")).read_text())["query"]

    def test_every_type(self):
        name = self.write("plain.parquet", self.rows)
        for column in COLUMNS:
            for descending in (False, True):
                self.check([name], self.rows, [(column, descending)], 10)

    def test_limits(self):
        rng = random.Random(2)
        index = self.write("index.parquet", self.rows, write_page_index=True, data_page_size=2000, use_dictionary=False)
        for limit in (0, 1, 63, 700, 1024, 5000, self.size, self.size + 1, 70000):
            keys = [(rng.choice(list(COLUMNS)), rng.random() < 0.5) for _ in range(rng.randrange(1, 4))]
            self.check([index], self.rows, keys, limit)

    def test_files(self):
        half = self.size // 2
        names = [self.write("a.parquet", self.rows[:half]), self.write("b.parquet", self.rows[half:], use_dictionary=False)]
        for keys in ([("i1", True)], [("s", False), ("f8", True)], [("f8", True), ("b", False)]):
            self.check(names, self.rows, keys, 100)

    def test_chunks(self):
        """Several chunks, read by several threads, whose rows share few values: of equal rows the first in the file come first."""
        size, few = 400_000, random.Random(9)
        values = [few.randrange(5) for _ in range(size)]
        values[:150_000] = [max(v, 1) for v in values[:150_000]]  # the first chunk does not have the smallest value
        table = pyarrow.table({"few": pyarrow.array(values, pyarrow.int32()), "n": pyarrow.array(range(size), pyarrow.int64())})
        pyarrow.parquet.write_table(table, self.m.path("chunks.parquet"), row_group_size=50_000)
        for order, sign in (("few", 1), ("few desc", -1)):
            rows = sorted(range(size), key=lambda n, sign=sign: sign * values[n])
            for limit in (1, 700, 20_000, 65_536):
                for where in ((), ("--where", "n >= 0")):
                    got = self.m.good("mapreduce", "chunks.parquet", "--select", "n", "--order-by", order, "--limit", str(limit), *where)
                    self.assertEqual(list(map(int, got.split()[1:])), rows[:limit], (order, limit, where))

    def test_where(self):
        name = self.write("plain.parquet", self.rows)
        some = [r for r in self.rows if r["i4"] is not None and r["i4"] > 0 and r["s"] is not None]
        for keys in ([("i8", False)], [("f8", True), ("n", True)], [("s", True)]):
            self.check([name], some, keys, 20, "--where", "i4 > 0 and s is not null")

    def test_sorted(self):
        """A file in order: nothing but the row groups at one end is read, whichever thread reads what."""
        for column in ("i8", "u8", "t", "s", "d", "w", "f8"):
            rows = in_order([r for r in self.rows if r[column] == r[column]], [(column, False)])
            name = self.write("sorted.parquet", rows, write_page_index=True)
            groups = pyarrow.parquet.ParquetFile(self.m.path(name)).metadata.num_row_groups
            for descending in (False, True):
                query = self.check([name], rows, [(column, descending)], 10, select="n, " + ", ".join(COLUMNS))
                self.assertTrue(query["first_rows_only"])
                skipped = query["parquet"]["row_groups_skipped_by_statistics"]
                # nobody says how many NaNs there are, which come before or behind all others
                self.assertGreaterEqual(skipped, 0 if column == "f8" else groups - 4, (column, descending))

    def duck_order(self, order, where, limit):
        """The numbers of the first rows; of equal ones the first in the file come first."""
        order = ", ".join(f"{item} nulls last" for item in order.split(", "))
        return [n for n, in self.duck.execute(f"select n from t where {where} order by {order}, n limit {limit}").fetchall()]

    @unittest.skipIf(duckdb is None, WHY_NOT)
    def test_late_columns(self):
        """Columns that neither order nor filter reads are read only where a row of the result is, by several threads."""
        size, groups = 300_000, 150
        self.duck = duckdb.connect()
        self.duck.execute(f"""create table t as select i as n, hash(i) % 100000 as h, cast(hash(i * 3) as double) / 7 as f,
            case when i % 11 = 0 then null else hash(i * 5) % 4 end as few, 'text ' || hash(i * 7) % 90000 as s,
            case when hash(i * 13) % 3 = 0 then null else cast(hash(i * 17) % 30000 as integer) - 15000 end as half,
            hash(i * 19) as a, 'wide ' || hash(i * 23) as b, i % 1000 as c from range({size}) r(i) order by i""")
        table = self.duck.sql("select * from t order by n").to_arrow_table()
        for path, part in (("late.parquet", table), ("l1.parquet", table[:110_001]), ("l2.parquet", table[110_001:])):
            pyarrow.parquet.write_table(part, self.m.path(path), row_group_size=size // groups)

        def check(files, order, limit, where="true", select="n, h, f, few, s, half, a, b, c"):
            got = self.m.good("mapreduce", *files, "--select", select, "--order-by", order, "--limit", str(limit), "--where", where,
                              "--receipt", "receipt").decode().splitlines()[1:]
            self.assertEqual([int(line.split(",")[0]) for line in got], self.duck_order(order, where, limit), (order, limit, where))
            query = json.loads(Path(self.m.path("receipt")).read_text())["query"]
            self.assertEqual(query["rows_read"], size)
            return query["parquet"]["bytes_decoded"], got

        for order in ("f desc", "f", "h", "s desc", "half", "few, f desc", "few desc, s, n desc", "few", "h, c % 7 desc"):
            for limit in (1, 10, 60):
                check(["late.parquet"], order, limit)
            check(["l1.parquet", "l2.parquet"], order, 10)
            check(["late.parquet"], order, 10, "few = 2 and c < 500")
        check(["late.parquet"], "f", 10, "few = 9")
        check(["late.parquet"], "n", 3, select="n, upper(b), a + 1.5, c")
        one, whole = check(["late.parquet"], "f, c", 5, select="n")[0], check(["late.parquet"], "f, c", 5)[0]
        self.assertLess(whole, one + size * 8)  # the others only in a few of the row groups
        values = self.duck.execute("select n, b, c from t order by f limit 6").fetchall()
        self.assertEqual(check(["late.parquet"], "f", 6, select="n, b, c")[1], [f"{n},{b},{c}" for n, b, c in values])

    def test_text(self):
        Path(self.m.path("in.csv")).write_text(csv_text(self.rows))
        for keys in ([("f8", True)], [("s", False), ("i4", True)], [("l", True)]):
            query = self.check(["in.csv"], self.rows, keys, 50, "--schema", SCHEMA)
            self.assertTrue(query["first_rows_only"])
            self.assertFalse(self.check(["in.csv"], self.rows, keys, 70000, "--schema", SCHEMA)["first_rows_only"])

    def test_expressions(self):
        """A computed key; columns that only the order needs; the whole row."""
        name = self.write("plain.parquet", self.rows)
        wanted = sorted((r for r in self.rows if r["i4"] is not None), key=lambda r: -(r["i4"] // 2))[:30]
        got = self.m.good("mapreduce", name, "--select", "n, l", "--where", "i4 is not null", "--order-by", "i4 // 2 desc",
                          "--limit", "30").decode().splitlines()[1:]
        self.assertEqual([line.split(",")[0] for line in got], [str(r["n"]) for r in wanted])
        self.assertEqual([line.split(",")[1] for line in got], [r["l"] or "" for r in wanted])

    def test_errors_stay(self):
        """A row in error fails the query although it is not among the first."""
        name = self.write("plain.parquet", self.rows)
        result = self.m.run("mapreduce", name, "--select", "n, cast(n as i8) as q", "--order-by", "n", "--limit", "3")
        self.assertEqual(result.code, 1)
        self.assertIn("row 129", result.err)


if __name__ == "__main__":
    main()
