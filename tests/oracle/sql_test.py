#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hacctl query`: SQL as people write it, compared with DuckDB; SQL and options give the same answer; SQL that there is
not is refused by name."""
import datetime
import decimal
import json
import math
import random
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

ROWS = 3000
CITIES = ("Bern", "Oslo", "Paris", "New York", "bern", "")


def make_sales(path, seed, rows=ROWS):
    rng = random.Random(seed)
    with open(path, "w", encoding="utf-8") as file:
        file.write("id,day,city,price,qty,paid\n")
        for i in range(rows):
            day = datetime.date(2024, 1, 1) + datetime.timedelta(days=rng.randrange(400))
            quantity = rng.choice(("1", "2", "3", "17", ""))
            file.write(f"{i},{day},{rng.choice(CITIES)},{rng.randrange(100, 99999) / 64},{quantity},"
                       f"{rng.choice(('true', 'false'))}\n")


def same(a, b):
    if isinstance(b, bool):
        return a == ("true" if b else "false")
    if isinstance(b, (float, decimal.Decimal)) and a is not None:
        return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-9)
    return a is None if b is None else a == str(b)


# Statements as a user of DuckDB types them.
LINES = """
SELECT count(*) FROM 'sales.csv'
SELECT COUNT(*) AS n, SUM(qty) AS q, MIN(day) AS d, MAX(price) AS p FROM 'sales.csv'
select city, count(*) as n from 'sales.csv' group by city order by n desc, city
SELECT city, count(*) n FROM 'sales.csv' GROUP BY 1 ORDER BY 2 DESC, 1
SELECT city, year(day) AS y, count(*) AS n FROM 'sales.csv' GROUP BY ALL ORDER BY ALL
SELECT month(day) AS m, sum(price) AS s FROM 'sales.csv' WHERE qty > 1 GROUP BY m ORDER BY m LIMIT 10
SELECT sum(price) AS s, city FROM 'sales.csv' GROUP BY city ORDER BY s
SELECT DISTINCT city FROM 'sales.csv' ORDER BY city
SELECT DISTINCT city, qty FROM 'sales.csv' ORDER BY 1, 2 DESC
SELECT * FROM 'sales.csv' ORDER BY id LIMIT 5
SELECT * EXCLUDE (price, paid) FROM 'sales.csv' ORDER BY id DESC LIMIT 3
SELECT * EXCLUDE id FROM 'sales.csv' WHERE id = 17
FROM 'sales.csv' ORDER BY id LIMIT 2
FROM 'sales.csv' SELECT id, city WHERE id < 4 ORDER BY id
SELECT id, price * 2 AS twice FROM 'sales.csv' WHERE twice > 3000 ORDER BY twice DESC, id LIMIT 7
SELECT id, price * 2 AS twice, twice + 1 AS more FROM 'sales.csv' ORDER BY more, id LIMIT 7
SELECT id FROM 'sales.csv' WHERE city ILIKE 'b%N' ORDER BY id LIMIT 9
SELECT id FROM 'sales.csv' WHERE city NOT ILIKE '%O%' ORDER BY id LIMIT 9
SELECT count(*) FROM 'sales.csv' WHERE city LIKE '%o%'
SELECT count(*) FROM 'sales.csv' WHERE day BETWEEN DATE '2024-03-01' AND DATE '2024-03-31'
SELECT count(*) FROM 'sales.csv' WHERE city IN ('Bern', 'Oslo')
SELECT count(*) FROM 'sales.csv' WHERE city NOT IN ('Bern', 'Oslo') AND qty IS NOT NULL
SELECT CASE WHEN qty > 2 THEN 'many' WHEN qty > 1 THEN 'two' ELSE 'few' END AS size, count(*) AS n FROM 'sales.csv' GROUP BY size ORDER BY size
SELECT CASE qty WHEN 1 THEN 'one' ELSE 'other' END AS size, count(*) AS n FROM 'sales.csv' GROUP BY 1 ORDER BY 1
SELECT id, qty FROM 'sales.csv' ORDER BY qty NULLS FIRST, id LIMIT 5
SELECT id, qty FROM 'sales.csv' ORDER BY qty DESC NULLS FIRST, id DESC LIMIT 5
SELECT id, qty FROM 'sales.csv' ORDER BY qty DESC NULLS LAST, id LIMIT 5
SELECT id::VARCHAR || 'x' AS a, price::INTEGER AS b, qty::DOUBLE / 2 AS c FROM 'sales.csv' ORDER BY id LIMIT 5
SELECT CAST(id AS bigint) AS a, CAST(qty AS text) AS b FROM 'sales.csv' ORDER BY a LIMIT 4
SELECT "city", "id" AS "the id" FROM "sales.csv" WHERE "city" = 'Bern' ORDER BY "the id" LIMIT 3
SELECT s.city, s.qty FROM 'sales.csv' AS s WHERE s.id < 9 ORDER BY s.id
SELECT t.* FROM 'sales.csv' t WHERE t.id = 3
SELECT t."city" AS c FROM 'sales.csv' t WHERE t."id" < 5 ORDER BY t."id"
SELECT city, max(price) AS m FROM 'sales.csv' GROUP BY city ORDER BY m + 1, city
SELECT city, sum(qty) AS q FROM 'sales.csv' GROUP BY city ORDER BY sum(qty) / count(*) DESC, -q, city
SELECT city FROM 'sales.csv' GROUP BY city ORDER BY sum(price) + max(id) DESC
SELECT upper(city) AS city, count(*) AS n FROM 'sales.csv' GROUP BY 1 ORDER BY n, 1
SELECT -id AS id FROM 'sales.csv' ORDER BY id LIMIT 3
SELECT id % 3 AS m, id FROM 'sales.csv' WHERE m = 1 ORDER BY m, id LIMIT 3
SELECT price AS p, p * 2 AS q, q + p AS r FROM 'sales.csv' ORDER BY r DESC, id LIMIT 2
SELECT avg(price) AS a, stddev(price) AS s, median(price) AS m FROM 'sales.csv'
SELECT city, count(DISTINCT qty) AS n FROM 'sales.csv' GROUP BY city ORDER BY city
SELECT upper(city) AS u, length(city) AS l FROM 'sales.csv' WHERE id < 6 ORDER BY id
SELECT coalesce(qty, 0) AS q, count(*) AS n FROM 'sales.csv' GROUP BY q ORDER BY q
SELECT nullif(city, 'Bern') AS c, count(*) AS n FROM 'sales.csv' GROUP BY c ORDER BY c
SELECT round(price) AS r, floor(price) AS f FROM 'sales.csv' ORDER BY id LIMIT 5
SELECT sum(CASE WHEN paid THEN price ELSE 0 END) AS s FROM 'sales.csv'
SELECT paid, sum(price) AS s FROM 'sales.csv' WHERE NOT paid OR qty = 1 GROUP BY paid ORDER BY paid
SELECT arg_max(id, price) AS i FROM 'sales.csv' WHERE city = 'Oslo'
SELECT min(city) AS a, max(city) AS b FROM 'sales.csv' -- the first and the last
SELECT /* all of them */ count(*) FROM 'sales.csv';
SELECT count(*) FROM read_csv('sales.csv')
SELECT count(*) FROM read_parquet('sales.parquet')
SELECT city, sum(qty) AS q FROM 'sales.parquet' GROUP BY city ORDER BY q DESC NULLS LAST, city
SELECT count(*), sum(id) AS s FROM 'parts/*.csv'
SELECT year(day) * 100 + month(day) AS ym, count(*) AS n FROM 'sales.csv' GROUP BY ym ORDER BY ym
SELECT 'it''s' AS a, 1 AS b, 1.5 AS c, TRUE AS d, NULL::int AS e FROM 'sales.csv' LIMIT 1
SELECT id % 7 AS r, count(*) FROM 'sales.csv' GROUP BY r ORDER BY r
SELECT city FROM 'sales.csv' GROUP BY city ORDER BY count(*) DESC, city LIMIT 2
SELECT qty, max(price) - min(price) AS spread FROM 'sales.csv' GROUP BY qty ORDER BY spread DESC, qty
SELECT id FROM 'sales.csv' WHERE price > 1500 AND (city = 'Paris' OR city = 'Oslo') ORDER BY price DESC, id LIMIT 4
SELECT city, count(*) AS n FROM 'sales.csv' GROUP BY city HAVING n > 480 ORDER BY n DESC, city
SELECT city FROM 'sales.csv' GROUP BY city HAVING max(price) - min(price) > 100 AND city <> 'Oslo' ORDER BY city
SELECT qty, sum(price) AS s FROM 'sales.csv' GROUP BY qty HAVING qty IS NULL OR sum(price) > 10 ORDER BY qty
SELECT qty FROM 'sales.csv' GROUP BY qty HAVING NULL ORDER BY qty
SELECT id FROM 'sales.csv' GROUP BY id HAVING id % 100 = 7 ORDER BY id DESC
SELECT id FROM 'sales.csv' GROUP BY id HAVING min(qty) > 2 ORDER BY max(price) DESC, id LIMIT 9
SELECT count(*) AS n FROM 'sales.csv' HAVING count(*) > 1000000
SELECT count(*) AS n FROM 'sales.csv' HAVING n > 5
SELECT 7 AS seven FROM 'sales.csv' HAVING max(id) > 5
SELECT city, max(price) AS price FROM 'sales.csv' GROUP BY city HAVING price > 100 ORDER BY max(price), city
SELECT lower(city) AS city, count(*) AS n FROM 'sales.csv' GROUP BY lower(city) HAVING count(*) > 900 ORDER BY n
SELECT city, count(DISTINCT qty) AS n FROM 'sales.csv' GROUP BY city HAVING count(DISTINCT qty) > 3 AND n < 9 ORDER BY city
SELECT DISTINCT city, count(*) AS n FROM 'sales.csv' GROUP BY city having n IS NOT NULL ORDER BY city
SELECT "city" AS "the city", sum("qty") AS "q" FROM 'sales.csv' GROUP BY "the city" HAVING "q" > 1 AND "the city" <> '' ORDER BY "q", 1
SELECT id, city FROM 'sales.csv' ORDER BY id LIMIT 5 OFFSET 7
SELECT id FROM 'sales.csv' ORDER BY price DESC, id OFFSET 2990
SELECT id FROM 'sales.csv' ORDER BY id DESC OFFSET 2 ROWS LIMIT 2
SELECT id FROM 'sales.csv' ORDER BY id LIMIT 3 OFFSET 5000
SELECT city, sum(qty) AS q FROM 'sales.csv' GROUP BY city HAVING q > 1 ORDER BY q, city LIMIT 2 OFFSET 1
SELECT DISTINCT city FROM 'sales.csv' ORDER BY city OFFSET 4
SELECT id, city FROM 'parts/0.csv' UNION ALL SELECT id, city FROM 'parts/1.csv' ORDER BY id, city, 1 LIMIT 20
SELECT id * 2 AS d FROM 'parts/0.csv' WHERE qty > 1 UNION ALL SELECT id * 2 AS d FROM 'parts/2.csv' WHERE qty > 1 UNION ALL SELECT id * 2 AS d FROM 'parts/0.csv' WHERE qty > 1 ORDER BY d OFFSET 3
FROM 'parts/0.csv' UNION ALL FROM 'parts/1.csv' ORDER BY id, price
SELECT s.id FROM 'parts/0.csv' AS s WHERE s.id < 9 UNION ALL SELECT s.id FROM 'parts/1.csv' AS s WHERE s.id < 9 ORDER BY 1
WITH t AS (SELECT * FROM 'sales.csv' WHERE qty > 1) SELECT city, count(*) AS n FROM t GROUP BY city ORDER BY n, city
WITH t AS (SELECT * FROM 'sales.csv' WHERE qty > 1 OR qty IS NULL) SELECT count(*) FROM t WHERE city = 'Bern' OR city = 'Oslo'
with T as (from 'sales.csv') select t.id from t where t.id < 5 order by t.id
WITH "all sales" AS (SELECT * FROM 'parts/0.csv' UNION ALL SELECT * FROM 'parts/1.csv' UNION ALL SELECT * FROM 'parts/2.csv') SELECT city, sum(price) AS s FROM "all sales" GROUP BY city HAVING count(*) > 2 ORDER BY s DESC LIMIT 3
WITH t AS (SELECT * FROM 'sales.csv' WHERE paid) SELECT DISTINCT qty FROM t WHERE city <> '' ORDER BY qty
SELECT city, count(*) FILTER (WHERE paid) AS n, count() filter (where qty > 1 or qty is null) AS m FROM 'sales.csv' GROUP BY city ORDER BY city
SELECT sum(price) FILTER (WHERE city = 'Bern') AS a, avg(price) FILTER (WHERE qty > 1) * 2 AS b, count(DISTINCT city) FILTER (WHERE paid) AS c FROM 'sales.csv'
SELECT qty, arg_max(id, price) FILTER (WHERE paid) AS i, median(price) FILTER (WHERE NOT paid) AS m, round(covar_pop(id, price) FILTER (WHERE id < 90), 4) AS c FROM 'sales.csv' GROUP BY qty ORDER BY qty
SELECT city FROM 'sales.csv' GROUP BY city HAVING count(*) FILTER (WHERE paid) > 3 ORDER BY sum(qty) FILTER (WHERE id > 50) DESC, city
WITH t AS (SELECT id, qty * 2 AS twice, upper(city) AS town FROM 'sales.csv' WHERE qty > 0) SELECT town, sum(twice) AS s, count(*) AS n FROM t WHERE twice > 2 GROUP BY town HAVING n > 1 ORDER BY s DESC, town
WITH t AS (SELECT qty AS id, id AS qty FROM 'sales.csv') SELECT id, qty FROM t WHERE id > 1 ORDER BY qty
WITH t AS (SELECT *, qty + 1 AS more FROM 'sales.csv') SELECT id, more FROM t WHERE more > 2 AND qty IS NOT NULL ORDER BY id
WITH t AS (SELECT * EXCLUDE (city), id % 3 AS city FROM 'sales.csv') SELECT city, count(*) AS n FROM t GROUP BY city ORDER BY city
WITH t AS (SELECT -id AS id, id AS other FROM 'sales.csv') SELECT -id AS id FROM t ORDER BY id
WITH t AS (SELECT id AS a, a + 1 AS b FROM 'sales.csv') SELECT b AS a, a AS b FROM t WHERE a > 3 ORDER BY a, b
WITH t AS (SELECT id, qty FROM 'sales.csv' WHERE city IS NOT NULL) SELECT * FROM t WHERE qty > 1 ORDER BY id
WITH t AS (SELECT id % 4 AS k, qty FROM 'parts/0.csv' UNION ALL SELECT id % 4 AS k, qty FROM 'parts/1.csv') SELECT k, max(qty) AS m, k + 1 AS l FROM t GROUP BY ALL ORDER BY ALL
WITH t AS (SELECT id % 5 AS k FROM 'sales.csv') SELECT DISTINCT t.k FROM t ORDER BY k LIMIT 3
SELECT "t"."id", t."city", "T".qty FROM 'sales.csv' AS "t" WHERE "t".id < 9 ORDER BY "t" . "id" DESC
WITH "t" AS (SELECT "s"."id" AS "id" FROM 'sales.csv' AS "s") SELECT sum("t"."id") AS "s" FROM "t" WHERE "t"."id" > 5
SELECT id AS z FROM 'parts/0.csv' WHERE city = 'Bern' UNION ALL select ID as Z from 'parts/1.csv' where CITY = 'Bern' ORDER BY z
SELECT city, qty, count(*) FROM 'sales.csv' GROUP BY ALL HAVING count(*) BETWEEN 50 AND 110 ORDER BY ALL
""".strip().splitlines()

REFUSED = (
    ("SELECT * FROM 'a.csv' JOIN 'b.csv' USING (id)", "there are no joins"),
    ("SELECT * FROM 'a.csv' a LEFT JOIN 'b.csv' b ON a.id = b.id", "there are no joins"),
    ("SELECT * FROM 'a.csv', 'b.csv'", "there are no joins"),
    ("SELECT sum(x) OVER (ORDER BY y) FROM 'a.csv'", "there are no window functions"),
    ("SELECT x FROM 'a.csv' QUALIFY row_number() OVER () = 1", "there are no window functions"),
    ("SELECT * FROM (SELECT 1)", "there are no subqueries"),
    ("SELECT * FROM 'a.csv' WHERE x IN (SELECT y FROM 'b.csv')", "there are no subqueries"),
    ("SELECT * FROM 'a.csv' WHERE EXISTS (SELECT 1 FROM 'b.csv')", "there are no subqueries"),
    ("WITH t AS (SELECT id FROM 'sales.csv') SELECT city FROM t", "character 47: unknown column 'city'; there are: id"),
    ("WITH t AS (SELECT id AS city, qty AS x FROM 'sales.csv') SELECT id FROM t", "unknown column 'id'"),
    ("WITH t AS (SELECT id FROM 'sales.csv') SELECT id AS city FROM t WHERE paid", "unknown column 'paid'"),
    ("WITH t AS (SELECT id, qty AS id FROM 'sales.csv') SELECT * FROM t", "two columns are called 'id'"),
    ("WITH t AS (SELECT *, qty + 1 AS qty FROM 'sales.csv') SELECT * FROM t", "write * exclude (qty)"),
    ("WITH t AS (SELECT sum(qty) AS s FROM 'sales.csv') SELECT * FROM t", "character 19: the SELECT of WITH computes columns of rows and makes no groups"),
    ("WITH t AS (SELECT city, sum(qty) AS s FROM 'sales.csv' GROUP BY city) SELECT * FROM t", "no groups and order"),
    ("WITH t AS (SELECT id, nope AS x FROM 'sales.csv') SELECT * FROM t", "character 23: unknown column 'nope'"),
    ("WITH t AS (SELECT id FROM 'sales.csv' WHERE qty) SELECT * FROM t", "character 45: a condition is true or false"),
    ("WITH t AS (SELECT DISTINCT id FROM 'sales.csv') SELECT * FROM t", "DISTINCT goes behind WITH"),
    ("WITH t AS (SELECT * FROM 'sales.csv' ORDER BY id LIMIT 3) SELECT * FROM t", "no groups and order"),
    ("WITH t AS (FROM 'sales.csv'), u AS (FROM t) SELECT * FROM u", "WITH has one name"),
    ("WITH t AS (FROM 'sales.csv') SELECT * FROM 'sales.csv'", "write FROM t"),
    ("WITH t AS (FROM 'sales.csv' WHERE nope > 1) SELECT * FROM t", "character 35: unknown column 'nope'"),
    ("SELECT a FROM 'a.csv' UNION SELECT a FROM 'b.csv'", "write UNION ALL"),
    ("SELECT a FROM 'a.csv' UNION ALL SELECT b FROM 'b.csv'", "character 33: UNION ALL is of SELECTs that differ in their files only"),
    ("SELECT count(*) FROM 'sales.csv' UNION ALL SELECT count(*) FROM 'sales.csv'", "character 34: UNION ALL is of rows, not of aggregates"),
    ("SELECT id FROM 'sales.csv' UNION ALL SELECT id FROM 'sales.csv' GROUP BY id", "GROUP BY goes behind WITH"),
    ("SELECT DISTINCT id FROM 'sales.csv' UNION ALL SELECT id FROM 'sales.csv'", "goes behind WITH"),
    ("SELECT id FROM 'sales.csv' LIMIT 3 UNION ALL SELECT id FROM 'sales.csv'", "goes behind WITH"),
    ("SELECT a FROM 'a.csv' INTERSECT SELECT a FROM 'b.csv'", "neither INTERSECT nor EXCEPT"),
    ("UPDATE sales SET x = 1", "a query reads files and changes none"),
    ("DELETE FROM sales", "a query reads files and changes none"),
    ("INSERT INTO sales VALUES (1)", "a query reads files and changes none"),
    ("CREATE TABLE t AS SELECT * FROM 'a.csv'", "there are no tables"),
    ("COPY (SELECT * FROM 'a.csv') TO 'b.parquet'", "-o out.parquet"),
    ("SELECT DISTINCT ON (a) a FROM 'a.csv'", "there is no DISTINCT ON"),
    ("SELECT a FROM 'a.csv' GROUP BY ROLLUP (a)", "there is no ROLLUP"),
    ("SELECT a FROM 'a.csv' GROUP BY GROUPING SETS ((a))", "there are no grouping sets"),
    ("SELECT upper(city) FILTER (WHERE paid) FROM 'sales.csv'", "only aggregates take 'filter'"),
    ("SELECT a FROM 'a.csv' FETCH FIRST 3 ROWS ONLY", "write LIMIT n"),
    ("SELECT a FROM 'a.csv' LIMIT 3, 4", "LIMIT a, b is LIMIT b OFFSET a"),
    ("SELECT a FROM data/a.csv", "a file's name goes in single quotes"),
    ("SELECT a", "expected FROM and a file"),
    ("SELECT FROM 'a.csv'", "expected what SELECT takes"),
    ("SELECT * FROM unnest(x)", "there is no UNNEST"),
    ("SELECT * FROM read_csv('a.csv', delim = ';')", "--delimiter"),
    ("SELECT * REPLACE (1 AS nope) FROM 'sales.csv'", "replace: unknown column 'nope'"),
    ("DESCRIBE 'a.csv' WHERE x", "hacctl describe FILE"),
    ("EXPLAIN SELECT * FROM 'a.csv'", "hacctl explain query"),
    ("VALUES (1, 2)", "a query's source is a file"),
    ("SELECT a FROM 'sales.csv' WHERE city = 'x'", "character 8: unknown column 'a'"),
    ("SELECT id FROM 'sales.csv' WHERE city = 'x' AND pricee > 1", "SQL: character 49: unknown column 'pricee'"),
    ("SELECT id, count(*) FROM 'sales.csv' GROUP BY city", "SQL: character 8: 'id' has many values in a group: add it to GROUP BY"),
    ("SELECT count(*) FROM 'sales.csv' WHERE sum(qty) > 1", "WHERE tests each row by itself"),
    ("SELECT id FROM 'sales.csv' HAVING qty > 1", "SQL: character 8: 'id' has many values in a group: group by it"),
    ("SELECT city FROM 'sales.csv' GROUP BY city HAVING qty > 1", "SQL: character 51: 'qty' has many values in a group"),
    ("SELECT city FROM 'sales.csv' GROUP BY city HAVING sum(qty)", "SQL: character 51: a condition is true or false"),
    ("SELECT city FROM 'sales.csv' GROUP BY city HAVING n > 1", "SQL: character 51: unknown column 'n'"),
    ("SELECT city FROM 'sales.csv' HAVING 1 > 0 HAVING 1 > 0", "a second HAVING"),
    ("SELECT id FROM 'sales.csv' LIMIT 1 OFFSET 1 OFFSET 2", "a second OFFSET"),
    ("SELECT id FROM 'sales.csv' OFFSET -1", "expected a number of rows behind OFFSET"),
    ("SELECT id FROM 'sales.csv' LIMIT 2 BY", "expected what LIMIT BY takes"),
    ("SELECT id FROM 'sales.csv' LIMIT 2 BY nobody", "SQL: character 39: unknown column 'nobody'"),
    ("SELECT id FROM 'sales.csv' LIMIT 2 BY 2", "SQL: character 39: a number is the place of a column"),
    ("SELECT id FROM 'sales.csv' ORDER BY 2", "SQL: character 37: a number is the place of a column"),
)

# SQL, and the options that ask for the same.
EQUAL = (
    ("SELECT city, sum(price) AS s FROM 'sales.csv' WHERE qty > 1 GROUP BY city ORDER BY s DESC LIMIT 3",
     ("--where", "qty > 1", "--group-by", "city", "--select", "sum(price) as s", "--order-by", "s desc", "--limit", "3")),
    ("SELECT DISTINCT city, qty FROM 'sales.csv' ORDER BY 1, 2",
     ("--select", "city, qty", "--distinct", "--order-by", "city, qty")),
    ("SELECT DISTINCT city, qty FROM 'sales.csv' ORDER BY 1, 2", ("--group-by", "city, qty", "--order-by", "1, 2")),
    ("FROM 'sales.csv' ORDER BY id", ("--order-by", "id")),
    ("SELECT year(day) AS y, count(*) AS n FROM 'sales.csv' GROUP BY ALL ORDER BY y",
     ("--group-by", "all", "--select", "year(day) as y, count() as n", "--order-by", "1")),
    ("SELECT id FROM 'sales.csv' ORDER BY qty DESC NULLS FIRST, id LIMIT 9",
     ("--select", "id", "--order-by", "qty desc nulls first, id", "--limit", "9")),
    ("SELECT id FROM 'sales.csv' ORDER BY id DESC LIMIT 4 OFFSET 3",
     ("--select", "id", "--order-by", "id desc", "--limit", "4", "--offset", "3")),
    ("SELECT city, count(*) AS n FROM 'sales.csv' GROUP BY city HAVING n > 480 AND max(qty) > 1 ORDER BY n",
     ("--group-by", "city", "--select", "count() as n", "--having", "n > 480 and max(qty) > 1", "--order-by", "n")),
)


# LIMIT n BY is not DuckDB's: QUALIFY says it there.
LIMIT_BY = (
    ("SELECT id, city FROM 'sales.csv' ORDER BY price DESC, id LIMIT 2 BY city",
     "SELECT id, city FROM 'sales.csv' QUALIFY row_number() OVER (PARTITION BY city ORDER BY price DESC, id) <= 2 ORDER BY price DESC, id",
     ("--select", "id, city", "--order-by", "price desc, id", "--limit", "2", "--limit-by", "city")),
    ("SELECT id, qty FROM 'sales.csv' ORDER BY id LIMIT 3 BY qty, month(day) LIMIT 40 OFFSET 9",
     "SELECT id, qty FROM 'sales.csv' QUALIFY row_number() OVER (PARTITION BY qty, month(day) ORDER BY id) <= 3 ORDER BY id LIMIT 40 OFFSET 9",
     None),
    ("SELECT city, qty AS q, count(*) AS n FROM 'sales.csv' GROUP BY ALL HAVING n > 90 ORDER BY n DESC, 1, 2 LIMIT 1 BY q OFFSET 1",
     "SELECT * FROM (SELECT city, qty AS q, count(*) AS n FROM 'sales.csv' GROUP BY ALL HAVING n > 90) "
     "QUALIFY row_number() OVER (PARTITION BY q ORDER BY n DESC, city, q) <= 1 ORDER BY n DESC, 1, 2 OFFSET 1",
     ("--group-by", "city, qty as q", "--select", "count() as n", "--having", "n > 90", "--order-by", "n desc, 1, 2", "--limit", "1",
      "--limit-by", "q", "--offset", "1")),
    ("SELECT id FROM 'sales.csv' ORDER BY id LIMIT 0 BY city", "SELECT id FROM 'sales.csv' LIMIT 0",
     ("--select", "id", "--order-by", "id", "--limit", "0", "--limit-by", "city")),
)


class SqlCase(SharedMachineTest):
    profile = ONE_DEVICE

    def setUp(self):
        super().setUp()
        work = Path(self.m.work)
        make_sales(work / "sales.csv", 1)
        (work / "parts").mkdir()
        for part in range(3):
            make_sales(work / "parts" / f"{part}.csv", part, 50)
        if duck.duckdb is None:
            return
        self.duck = duck.connect()
        self.duck.execute("SET default_null_order = 'nulls_last'")
        self.duck.execute(f"SET file_search_path = '{work}'")
        self.duck.execute(f"COPY (SELECT * FROM '{work}/sales.csv') TO '{work}/sales.parquet' (FORMAT parquet)")

    def ask(self, *words):
        out = self.m.good("query", *words)
        rows = duck.read_csv(out.decode())
        return rows[0], rows[1:]

    def compare(self, statement, ordered=True, reference=None):
        _, got = self.ask(statement)
        wanted = self.duck.execute(reference or statement).fetchall()
        if not ordered:
            got = sorted(got, key=repr)
            wanted = sorted(wanted, key=lambda row: repr(tuple(text_of(v) for v in row)))
        self.assertEqual(len(got), len(wanted), statement)
        for a, b in zip(got, wanted):
            self.assertTrue(len(a) == len(b) and all(map(same, a, b)), f"{statement}: {a} and not {b}")


def text_of(value):
    return {True: "true", False: "false", None: None}.get(value, str(value)) if not isinstance(value, int) or \
        isinstance(value, bool) else str(value)


class Lines(SqlCase):
    @unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
    def test_lines(self):
        for statement in LINES:
            with self.subTest(statement):
                self.compare(statement)

    @unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
    def test_limit_by(self):
        for statement, reference, options in LIMIT_BY:
            with self.subTest(statement):
                self.compare(statement, reference=reference)
                if options is not None:
                    self.assertEqual(self.m.good("query", statement), self.m.good("query", "sales.csv", *options))

    def test_refused(self):
        for statement, says in REFUSED:
            with self.subTest(statement):
                said = self.m.bad(2, "query", statement, says=says)
                self.assertTrue(said.startswith("hacctl: SQL: character "), said)

    def test_options_say_the_same(self):
        for statement, options in EQUAL:
            with self.subTest(statement):
                self.assertEqual(self.m.good("query", statement), self.m.good("query", "sales.csv", *options))

    def test_columns_of_filter(self):
        """A column that only the condition of FILTER names is read, and has its type."""
        with open(self.m.path("k.csv"), "w", encoding="ascii") as file:
            file.write("a,b,c\n1,9,10\n3,10,9\n")
        for options in ((), ("--schema", "a:i64")):
            self.assertEqual(self.m.good("query", "SELECT sum(a) FILTER (WHERE b < c) AS s FROM 'k.csv'", *options), b"s\n1\n")
        with open(self.m.path("wide.csv"), "w", encoding="ascii") as file:
            file.write(",".join(f"c{i}" for i in range(400)) + "\n")
            file.writelines(",".join(str(i + row) for i in range(400)) + "\n" for row in range(3))
        self.assertEqual(self.m.good("query", "SELECT sum(c1) FILTER (WHERE c398 > 398) AS s FROM 'wide.csv'"), b"s\n5\n")

    @unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
    def test_union_by_position(self):
        """UNION ALL goes by position, as in SQL: it is refused where the files' columns have another order."""
        for name, text in (("ab", "a,b\n1,2\n"), ("ba", "b,a\n3,4\n"), ("abc", "a,b,c\n5,6,7\n")):
            Path(self.m.path(f"{name}.csv")).write_text(text)
            self.duck.execute(f"COPY (FROM '{name}.csv') TO '{self.m.path(name + '.parquet')}'")
        for kind in ("csv", "parquet"):
            ab, ba, abc = f"'ab.{kind}'", f"'ba.{kind}'", f"'abc.{kind}'"
            for statement in (f"SELECT * FROM {ab} UNION ALL SELECT * FROM {ba}", f"FROM {ab} UNION ALL FROM {ba}",
                              f"SELECT a + 1, * FROM {ab} UNION ALL SELECT a + 1, * FROM {ba}",
                              f"WITH t AS (SELECT * FROM {ab} UNION ALL SELECT * FROM {ba}) SELECT sum(a) FROM t",
                              f"SELECT COLUMNS('a|b') FROM {abc} UNION ALL SELECT COLUMNS('a|b') FROM {ba}"):
                self.m.bad(2, "query", statement, says="has another place in another file; write UNION ALL BY NAME")
            for statement in (f"SELECT * FROM {ab} UNION ALL BY NAME SELECT * FROM {ba} ORDER BY a",
                              f"SELECT a, b * 2 AS c FROM {ab} UNION ALL SELECT a, b * 2 AS c FROM {ba} ORDER BY a",
                              f"SELECT * FROM {ab} UNION ALL SELECT * FROM {ab}"):
                self.compare(statement)

    @unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
    def test_quoted_alias(self):
        """An alias of the source has its meaning in quotes, too, before a member of that name."""
        Path(self.m.path("u.jsonl")).write_text('{"x": 9, "t": {"x": 1}, "user": {"id": 5}}\n')
        for items in ('t.x, "t".x, "t"."x", t."x", "T" . "x"', '"t"."t"."x", t.t.x', '"user" . id, "user"."id", user."id", "t"."user"."id"'):
            self.compare(f"SELECT {items} FROM 'u.jsonl' t")
        self.assertEqual(self.m.good("query", "SELECT \"t\".x AS a FROM 'u.jsonl'"), b"a\n1\n")

    def test_flows(self):
        """explain says what reads the input."""
        with open(self.m.path("sales.csv"), "rb") as file:
            data = file.read()
        flows = {"sales.csv": "mapreduce", "parts": "mapreduce"}
        if duck.duckdb is not None:
            flows["sales.parquet"] = "parquet"
        for name, flow in flows.items():
            plan = json.loads(self.m.good("explain", "query", f"SELECT count(*) FROM '{name}'", "--format", "json"))
            self.assertEqual(plan["flow"], flow, name)
        plan = json.loads(self.m.good("explain", "query", "-", "--parse", "csv", "--schema", "a:i64", "--input-size",
                                      "1MB", "--format", "json"))
        self.assertEqual(plan["flow"], "splice")
        self.assertEqual(self.m.good("query", "SELECT count(*) AS n FROM '-'", "--parse", "csv", data=data),
                         b"n\n%d\n" % ROWS)
        self.assertEqual(self.m.good("query", "SELECT count(*) AS n FROM read_csv('-')", data=data), b"n\n%d\n" % ROWS)
        self.assertEqual(self.m.good("query", "parts", "--select", "count() as n"), b"n\n150\n")
        self.assertEqual(self.m.good("query", "parts/0.csv", "parts/1.csv", "--select", "count() as n"), b"n\n100\n")

    def test_usage(self):
        self.m.bad(2, "query", "SELECT * FROM 'sales.csv'", "--where", "qty > 1", says="--where is not possible beside SQL")
        self.m.bad(1, "query", "SELECT * FROM 'none.csv'", says="none.csv")
        self.m.bad(1, "query", "SELECT * FROM 'none*.csv'", says="no file matches none*.csv")
        self.m.bad(1, "query", "none.csv", says="none.csv")


class RandomSql(SqlCase):
    def expression(self, rng):
        return rng.choice(("id", "qty", "price", "city", "paid", "month(day)", "qty + 1", "id % 5", "lower(city)",
                           "coalesce(qty, -1)", "CASE WHEN qty > 1 THEN city ELSE 'none' END", "length(city)",
                           "(id % 3)::VARCHAR", "day"))

    def condition(self, rng):
        one = rng.choice(("qty > 1", "city IN ('Bern', 'Oslo')", "city ILIKE '%O%'", "qty IS NULL", "NOT paid",
                          "id BETWEEN 100 AND 900", "price::INTEGER > 700", "city <> 'Paris'",
                          "day >= DATE '2024-06-01'"))
        return one if rng.random() < 0.6 else f"({one} {rng.choice(('AND', 'OR'))} {self.condition(rng)})"

    def direction(self, rng):
        return rng.choice(("", " ASC", " DESC", " NULLS FIRST", " DESC NULLS FIRST", " desc nulls last"))

    def statement(self, rng):
        names = [f"c{i}" for i in range(rng.randint(1, 3))]
        items = [f"{self.expression(rng)} AS {name}" for name in names]
        where = f" WHERE {self.condition(rng)}" if rng.random() < 0.6 else ""
        group, distinct = "", ""
        if rng.random() < 0.6:
            for i in range(rng.randint(1, 2)):
                names.append(f"a{i}")
                items.append(rng.choice(("count(*)", "sum(qty)", "min(city)", "max(price)", "count(DISTINCT qty)",
                                         "avg(price)", "max(id) - min(id)",
                                         f"sum(id) FILTER (WHERE {self.condition(rng)})")) + f" AS a{i}")
            keys = [name for name in names if name[0] == "c"]
            having = f" HAVING {self.having(rng)}" if rng.random() < 0.5 else ""
            group = " GROUP BY " + rng.choice(("ALL", ", ".join(keys), ", ".join(str(i + 1) for i in range(len(keys))))) + having
        elif rng.random() < 0.4:
            distinct = "DISTINCT "
        places = rng.sample(range(len(names)), len(names))
        order = ", ".join(rng.choice((names[i], str(i + 1))) + self.direction(rng) for i in places)
        limit = f" LIMIT {rng.choice((1, 7, 100))}" if rng.random() < 0.4 else ""
        offset = f" OFFSET {rng.choice((0, 2, 30))}" if rng.random() < 0.3 else ""
        rest = rng.choice((limit + offset, offset + limit)) if limit else offset
        before, source = self.source(rng, bool(group or distinct))
        if before == "" and "UNION" in source:
            body = f"SELECT {', '.join(items)} FROM "
            source = source.replace("UNION ALL ", f"{where} UNION ALL {body}")
        return f"{before}SELECT {distinct}{', '.join(items)} FROM {source}{where}{group} ORDER BY {order}{rest}"

    def source(self, rng, groups):
        """What stands before SELECT, and behind FROM."""
        kind = rng.random()
        if kind < 0.5:
            return "", "'small.csv'"
        if kind < 0.7 and not groups:
            return "", "'small.csv' UNION ALL 'parts/1.csv'"
        inner = f" WHERE {self.condition(rng)}" if rng.random() < 0.7 else ""
        more = f" UNION ALL SELECT * FROM 'parts/2.csv'{inner}" if rng.random() < 0.4 else ""
        return f"WITH t AS (SELECT * FROM 'small.csv'{inner}{more}) ", "t"

    def having(self, rng):
        one = rng.choice(("count(*) > 3", "sum(qty) IS NOT NULL", "a0 IS NOT NULL", "max(price) > 500", "min(id) < 200",
                          "c0 IS NOT NULL", "count(DISTINCT city) > 1", "avg(qty) < 6"))
        return one if rng.random() < 0.6 else f"({one} {rng.choice(('AND', 'OR'))} {self.having(rng)})"

    STATEMENTS, SEED = 100, 20261129

    @unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
    def test_random(self):
        make_sales(self.m.path("small.csv"), 7, 400)
        rng = random.Random(self.SEED)
        for i in range(self.STATEMENTS):
            statement = self.statement(rng)
            with self.subTest(i):
                self.compare(statement)


class LongRandomSql(RandomSql):
    STATEMENTS, SEED = 500, 20261130


if __name__ == "__main__":
    main()
