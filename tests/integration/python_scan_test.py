#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hac inside polars (hac.scan_hac) and DuckDB: the same answers as those libraries' own readers give, and less read."""
import datetime
import sys
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import main  # noqa: E402
from python_package import PackageTest, library, needs, numpy as np  # noqa: E402

pl, duckdb = library("polars"), library("duckdb")


def frame(n=3000):
    generator = np.random.default_rng(3)

    def some(values, kind):
        return pl.Series(values, dtype=kind).scatter(list(range(0, n, 7)), None)
    return pl.DataFrame({
        "id": pl.Series(range(n), dtype=pl.Int64), "k": some(generator.integers(-50, 50, n).tolist(), pl.Int32),
        'a "b"': some([f"it's {i % 40}" for i in range(n)], pl.String), "x": some((generator.integers(0, 90, n) / 8).tolist(), pl.Float64),
        "f": some((generator.integers(0, 90, n) / 10).tolist(), pl.Float32), "flag": some([i % 3 == 0 for i in range(n)], pl.Boolean),
        "day": some([datetime.date(2020, 1, 1) + datetime.timedelta(i % 400) for i in range(n)], pl.Date),
        "at": some([datetime.datetime(2020, 1, 1) + datetime.timedelta(microseconds=i) for i in range(n)], pl.Datetime("us")),
    }).with_columns(pl.when(pl.col("id") % 11 == 0).then(float("nan")).otherwise("x").alias("x"))


@needs("polars")
class Polars(PackageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.table = frame()
        cls.file = cls.m.path("t.parquet")
        cls.table.write_parquet(cls.file)

    def asked(self, lazy):
        """(what polars got, the queries that hac ran for it)."""
        from hac import _scan
        with mock.patch.object(_scan, "query", wraps=_scan.query) as spy:
            got = lazy.collect()
        return got, [call.kwargs for call in spy.call_args_list]

    def check(self, predicate, where=None, scan=None):
        """where: words that the query's condition has; None: it has none, since polars filters."""
        import hac
        lazy = hac.scan_hac(self.file) if scan is None else scan
        got, queries = self.asked(lazy.filter(predicate))
        self.assertTrue(got.sort("id").equals(self.table.filter(predicate).sort("id")), str(predicate))
        condition = queries[0].get("where")
        if where is None:
            self.assertIsNone(condition)
        else:
            self.assertIn(where, condition or "")

    def test_filters(self):
        import hac
        scan, c = hac.scan_hac(self.file), pl.col
        noon = datetime.datetime(2020, 1, 1, 0, 0, 0, 1500)
        for predicate, where in (
                (c("k") > 5, '"k" > (5)'), (3 >= c("k"), '"k" <= (3)'), (c("k") != -2, '"k" <> (-2)'),
                (c('a "b"') == "it's 7", """"a ""b\""" = 'it''s 7'"""), (c('a "b"') < "it's 2", "<"),
                (c("x") > 3.25, '"x" > (3.25'), (c("x") == float("nan"), None), (c("x") <= 3.0, '"x" <='),
                (c("f") > 1.1, '"f" > (1.1000000'), (c("day") <= datetime.date(2020, 3, 1), "date '2020-03-01'"),
                (c("at") > noon, "timestamp '2020-01-01 00:00:00.001500'"), (c("flag"), '("flag")'), (~c("flag"), "not"),
                (c("k").is_null(), "is null"), (c("x").is_not_null(), "is not null"), (c("k").is_in([1, 2, -7]), "in ((1), (2), (-7))"),
                (c("k").is_between(-3, 3, closed="left"), '"k" >= (-3) and "k" < (3)'),
                (c('a "b"').str.starts_with("it's 1"), "starts_with"), (~(c("k") > 5), "k"),
                ((c("k") > 5) | (c("flag") & (c("x") < 2.5)), " or "),
                (c("k") * 2 > 5, None), (c("k") > c("id"), None), (c("k") > 2.5, None), (c("k").eq_missing(3), None),
                (c('a "b"').str.len_chars() > 6, None), (c("x").is_nan(), None)):
            with self.subTest(predicate=str(predicate)):
                self.check(predicate, where, scan)
        self.check((c("k") > 5) & (c("k") * 2 > 20), '"k" > (5)', scan)  # the part that is understood
        self.check(c("id").map_elements(lambda i: i % 2 == 0, return_dtype=pl.Boolean), None, scan)

    def test_columns(self):
        import hac
        got, queries = self.asked(hac.scan_hac(self.file).filter(pl.col("k") == 3).select("id"))
        self.assertEqual(sorted(got["id"]), sorted(self.table.filter(pl.col("k") == 3)["id"]))
        self.assertEqual(sorted(queries[0]["select"]), ['"id"', '"k"'])
        self.assertEqual(hac.scan_hac(self.file).select(pl.len()).collect().item(), len(self.table))
        self.assertEqual(hac.scan_hac(self.file).head(5).collect().shape, (5, self.table.width))
        got, queries = self.asked(hac.scan_hac(self.file).head(40).filter(pl.col("flag")))
        self.assertEqual([query.get("limit") for query in queries], [40])
        self.assertLessEqual(len(got), 40)
        self.assertEqual(hac.scan_hac(self.file).collect_schema(), self.table.schema)

    def test_sources(self):
        """Text, tables and folders; aggregates of polars over them; what is refused."""
        import hac
        csv = self.m.path("t.csv")
        Path(csv).write_text("name;n\nx;1\ny;2\nx;3\n", encoding="utf-8")
        got = hac.scan_hac(csv, input={"delimiter": ";"}).group_by("name").agg(pl.col("n").sum()).sort("name").collect()
        self.assertEqual(got.rows(), [("x", 4), ("y", 2)])
        got = hac.scan_hac({"n": np.arange(10)}).filter(pl.col("n") >= 8).collect()
        self.assertEqual(sorted(got["n"]), [8, 9])
        with self.assertRaisesRegex(hac.InvalidError, "where is said to polars"):
            hac.scan_hac(csv, where="n > 1")
        with self.assertRaises(FileNotFoundError):
            hac.scan_hac(self.m.path("none.csv"))


@needs("duckdb", "polars")
class Duckdb(PackageTest):
    def test_recipe(self):
        """A result of hac in the statement of DuckDB, by its name: docs/python.md has this join."""
        import hac
        orders = frame()  # noqa: F841
        totals = hac.sql("SELECT k, sum(id) AS s, count(*) AS n FROM t WHERE k > 0 GROUP BY k", t=orders)  # noqa: F841
        names = pl.DataFrame({"k": list(range(1, 50, 2)), "name": [f"n{k}" for k in range(1, 50, 2)]})  # noqa: F841
        got = duckdb.sql("SELECT name, s, n, rank() OVER (ORDER BY s DESC) FROM totals JOIN names USING (k) ORDER BY name").fetchall()
        wanted = duckdb.sql("WITH w AS (SELECT k, sum(id) AS s, count(*) AS n FROM orders WHERE k > 0 GROUP BY k) SELECT name, s, n, "
                            "rank() OVER (ORDER BY s DESC) FROM w JOIN names USING (k) ORDER BY name").fetchall()
        self.assertEqual(len(got), 25)
        self.assertEqual(got, wanted)


if __name__ == "__main__":
    main()
