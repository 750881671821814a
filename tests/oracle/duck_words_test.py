#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What somebody who knows DuckDB types into `hacctl query`: expressions, aggregates and statements over one table. Each gives
DuckDB's answer, or is refused by a name, with what to write instead."""
import datetime
import json
import os
import random
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402
from sql_test import same  # noqa: E402

ROWS = 700
MANY = 90  # so that devices take part
TABLE = "id BIGINT, day DATE, ts TIMESTAMP, city VARCHAR, qty BIGINT, price DOUBLE, paid BOOLEAN, Region VARCHAR"

# Lists are JSON here; `texts` has DuckDB's aggregate as text, and the list's elements as JSON.
TEXTS = (
    "string_agg(city, ',')", "string_agg(city, '')", "string_agg(qty, '; ')", "string_agg(city)", "listagg(id, ', ')",
    "group_concat(day, ' ')", "string_agg(city, ',' ORDER BY id DESC)", "string_agg(id, ',' ORDER BY price * 10000000 + id)",
    "string_agg(price, '/' ORDER BY id) FILTER (WHERE paid)", "string_agg(DISTINCT city, ',' ORDER BY city)",
    "string_agg(DISTINCT qty, ',' ORDER BY qty DESC)", "string_agg(id, ',' ORDER BY nullif(id, 50) NULLS FIRST) FILTER (WHERE id < 99)",
    "string_agg(id, ',' ORDER BY city || ts)", "string_agg(repeat(city, 9), 'a separator')", "string_agg(city, ',') FILTER (WHERE id < 0)",
    "length(string_agg(city, ',')) + count(*)", "string_agg(paid, ',')", "string_agg(if(id % 7 = 0, 'a\"b\\', NULL), ',')",
)
LISTS = (
    "list(qty)", "list(id)", "array_agg(city)", "list(day)", "list(paid)", "list(ts ORDER BY ts)", "list(id ORDER BY price * 10000000 + id DESC)",
    "list(qty) FILTER (WHERE paid)", "list(qty ORDER BY id DESC) FILTER (WHERE id % 3 = 0)", "list(id) FILTER (WHERE id < 0)",
    "list(city || '\"\\' || chr(10) ORDER BY id)", "array_agg(DISTINCT city ORDER BY city)", "list(price ORDER BY price * 10000000 + id)",
    "list(id ORDER BY coalesce(qty, 9) * 1000 + id)", "list(nullif(qty, 3) ORDER BY id NULLS LAST)",
)

# Of each row. A pair: what hac takes, and what DuckDB takes.
EXPRESSIONS = """
day >= '2024-06-01'
'2024-06-01' <= day
day = '2024-06-01 00:00:00'
day BETWEEN '2024-03-01' AND '2024-06-30'
day NOT BETWEEN '2024-03-01' AND '2024-06-30'
day IN ('2024-01-05', '2024-02-06', '2024-03-07')
(qty, paid) IN ((3, true), (5, false), (NULL, true))
(city, qty) NOT IN (('Oslo', 3), ('Bern', 5))
(qty, id % 2) = (3, 1)
(qty, id % 2, city) <> (3, 1, 'Oslo')
day NOT IN ('2024-01-05', '2024-02-06')
day <> '2024-01-05'
ts < '2024-06-01 10:00'
ts >= '2024-06-01'
ts BETWEEN '2024-02-01' AND '2024-05-01T12:30:00'
qty = '3'
qty IN ('3', '17')
price > '100.5'
price < '1e3'
paid = 'true'
paid <> 'f'
coalesce(day, '2000-01-01')
greatest(day, '2024-06-01')
least(ts, '2024-06-01')
nullif(day, '2024-01-05')
CASE WHEN paid THEN day ELSE '1999-12-31' END
CASE day WHEN '2024-01-05' THEN 'a' ELSE 'b' END
date_diff('day', day, '2024-12-31')
datediff('month', day, DATE '2024-12-31')
date_diff('days', ts, TIMESTAMP '2024-12-31 00:00:00')
date_diff('Hour', ts, '2024-12-31 00:00:00')
extract(year FROM day)
EXTRACT(MONTH FROM ts)
extract('day' from day)
extract(dow FROM day)
extract(isodow FROM day)
extract(doy FROM ts)
extract(week FROM day)
extract(quarter FROM day)
extract(hour FROM ts)
extract(minutes FROM ts)
extract(second FROM ts)
extract(epoch FROM ts)
date_part('year', day)
date_part('microseconds', ts)
date_part('millisecond', ts)
datepart('isoyear', day)
date_part('decade', day) + date_part('century', day)
date_trunc('month', day) = '2024-03-01'
datetrunc('day', ts) > '2024-03-01'
date_trunc('Hours', ts)
dayname(day)
dayname(ts) || ', ' || monthname(ts)
monthname(day)
last_day(day)
last_day(ts)
dayofweek(day)
weekday(ts)
isodow(day)
dayofmonth(day) + dayofyear(day)
weekofyear(day)
yearweek(day)
isoyear(day)
epoch(day)
epoch_ns(ts)
make_date(2024, qty, 3)
day + 3
day - DATE '2024-01-01'
day + INTERVAL 1 MONTH
day - INTERVAL '2 days'
ts + INTERVAL '1 hour'
INTERVAL '1 hour' + ts
INTERVAL 2 DAY + day
INTERVAL '1 month' + INTERVAL '2 days' + ts
ts < INTERVAL '90 days' + ts - INTERVAL '100 days'
ts::DATE
DATE '2024-02-29' < day
TIMESTAMP '2024-02-29 12:00:00' < ts
'2024-02-29'::DATE < day
CAST('2024-02-29 12:00:00' AS TIMESTAMP) < ts
strftime(day, '%Y-%m')
strftime('%Y-%m', ts)
position('e' IN city)
position('o' IN lower(city))
instr(city, 'r')
strpos(city, 'n')
substring(city FROM 2 FOR 3)
substring(city FROM 2)
substring(city FOR 2)
substring(city, 2, 3)
substr(city, -3)
substr(city, -3, 2)
substr(city, 0, 2)
substr(city, 3, -2)
substr(city, qty - 4)
substr(city, qty - 4, qty - 2)
substr(city, -9, 6)
trim(both 'Bn' FROM city)
trim(leading 'O' FROM city)
trim(trailing FROM city || '  ')
trim('ns' FROM city)
trim(city, 'B')
ltrim(city, 'NewP')
rtrim(city, 'k o')
trim('[' || city || ']^-', '^-[]')
ltrim(city, '')
upper(city) || lower(city)
ucase(city) = upper(city) AND lcase(city) = lower(city)
length(city) + len(city) + strlen(city) + char_length(city)
reverse(city)
repeat(city, 2)
repeat('ab', qty)
repeat(city, -1)
left(city, 2) || right(city, 2)
lpad(city, 8, '.')
replace(city, 'o', '0')
concat(city, qty, day, NULL, paid)
concat('a', 1)
city || qty
qty || '/' || id
concat_ws('-', city, qty, day)
concat_ws(', ', NULL, city)
concat_ws(city, 'a', NULL, qty)
split_part(city, ' ', 2)
starts_with(city, 'B')
prefix(city, 'B') AND suffix(city, 'n')
contains(city, 'or')
regexp_matches(city, '^[A-P]')
regexp_replace(city, '[aeiou]', '_', 'g')
city LIKE 'B%' OR city ILIKE 'o%'
city NOT LIKE 'B%'
city NOT ILIKE 'b%'
city NOT IN ('Bern', 'Oslo')
city == 'Bern'
city != 'Bern' AND city <> 'Oslo'
qty IS DISTINCT FROM 3
qty IS NOT DISTINCT FROM NULL
city IS NOT DISTINCT FROM nullif(city, 'Oslo')
(qty > 2) IS TRUE
(qty > 2) IS NOT TRUE
(qty > 2) IS FALSE
(qty > 2) IS NOT FALSE
(qty > 2) IS UNKNOWN
qty ISNULL OR city NOTNULL
NOT qty IN (1, 2)
ifnull(qty, 0)
coalesce(qty, 0)
if(paid, 1, 2)
nullif(qty, 3)
sign(qty - 3)
sign(price - 100)
abs(qty - 5)
power(qty, 2)
qty ^ 2
2 ** qty * 3
-2 ^ 2
mod(id, 7)
id % 7
id // 7
id / 7
ceil(price) + ceiling(price) + floor(price)
round(price)
round(price, 1)
trunc(price)
sqrt(price)
cbrt(price)
cbrt(-8)
cbrt(id * id * id) - cbrt(-id)
cbrt(0.0) + cbrt(price * 1e300)
cbrt('inf'::DOUBLE) = 'inf'::DOUBLE
paid IS TRUE
paid IS NOT TRUE
trim(city, '')
ln(price) + log10(price) + log2(price) + exp(qty)
degrees(qty) + radians(qty)
sin(qty) + cos(qty) + tan(qty) + cot(qty) + atan2(qty, 2) + pi()
isnan(price) OR isinf(price)
isfinite(price)
greatest(qty, 3) + least(qty, 3)
xor(qty, 5) + bit_count(qty)
qty & 3 | 4
id << 2
id::VARCHAR || 'x'
id::INTEGER + qty::SMALLINT
price::INTEGER
price::NUMERIC(9,2)
qty::NUMERIC(5)
price::DECIMAL(12,1) + 1
qty::DECIMAL
id::HUGEINT * 3
id::UBIGINT + qty::USMALLINT
qty::DOUBLE / 3
CAST(qty AS TEXT)
TRY_CAST(city AS INTEGER)
ID
"CITY"
Id + QTY
region
REGION || City
CASE WHEN qty > 2 THEN 'many' WHEN qty > 1 THEN 'two' ELSE 'few' END
CASE qty WHEN 1 THEN 'one' END
""".strip().splitlines()

AGGREGATES = """
count(*)
count_star()
count(qty)
count(DISTINCT qty)
approx_count_distinct(qty)
count_if(qty > 2)
countif(paid)
count_if(qty > 2) FILTER (WHERE paid)
count(*) FILTER (WHERE day >= '2024-06-01')
sum(qty)
sum(price)
avg(price)
mean(qty)
min(day)
max(ts)
max(day) > '2024-03-01'
bool_and(paid)
bool_or(paid)
bool_and(qty > 0)
median(price)
quantile_cont(price, 0.25)
percentile_cont(0.25) WITHIN GROUP (ORDER BY price)
percentile_cont(0.1) WITHIN GROUP (ORDER BY qty DESC)
percentile_cont(0.5) WITHIN GROUP (ORDER BY price) FILTER (WHERE paid)
percentile_cont(0.9) WITHIN GROUP (ORDER BY price ASC)
stddev(price)
stddev_pop(price)
stddev_samp(price)
variance(price)
var_pop(price)
var_samp(price)
percentile_disc(0.25) WITHIN GROUP (ORDER BY price)
quantile_disc(qty, 0.5)
quantile_disc(id, 0.1)
quantile_disc(price, 0.9)
quantile_disc(price, 0)
quantile_disc(id - 5, 1)
quantile_disc((id % 200)::UTINYINT, 0.3)
quantile_disc((id * 3)::UBIGINT, 0.7)
quantile_disc(price::DECIMAL(10, 2), 0.75)
quantile_disc(price::FLOAT, 0.2)
quantile_disc(qty, 0.999) FILTER (WHERE city = 'none')
corr(price, qty)
covar_pop(price, qty)
covar_samp(price, qty)
regr_slope(price, qty)
regr_intercept(price, qty)
regr_r2(price, qty)
arg_max(id, price)
max_by(id, price)
max_by(paid, price)
argmax(day, id)
argmin(id, price)
min_by(day, price)
geomean(price)
mean(price) FILTER (WHERE city = 'Oslo')
bool_and(id < 600) FILTER (WHERE paid)
any_value(1) FILTER (WHERE id >= 0)
arg_min(qty, price)
arg_max(qty, price)
max_by(qty, price)
arg_max(qty, id)
argmin(qty, -price)
arg_max(day, price) FILTER (WHERE qty IS NULL)
arg_min(nullif(id, id), price)
sum(CASE WHEN paid THEN 1 ELSE 0 END)
sum(price) / count(*)
max(price) - min(price)
round(avg(price), 2)
concat('n=', count(*))
""".strip().splitlines()

STATEMENTS = """
SELECT 1 AS one, count(*) AS n FROM 't.csv'
SELECT 'x' AS x, count(*) AS n FROM 't.csv' GROUP BY x
SELECT 'x' AS x, city, count(*) AS n FROM 't.csv' GROUP BY ALL ORDER BY ALL
SELECT count(*) AS n FROM 't.csv' GROUP BY 'x'
SELECT 'x' AS x, 2 AS two, city FROM 't.csv' GROUP BY 1, 2, 3 ORDER BY 3
SELECT count(*) AS n FROM 't.csv' WHERE id < 0 GROUP BY 'x'
SELECT DATE '2024-01-01' AS d, 1.5 AS x, NULL::INTEGER AS z, true AS t, sum(qty) AS s FROM 't.csv'
SELECT City, count(*) AS N FROM 't.csv' GROUP BY CITY ORDER BY n DESC, city
SELECT * EXCLUDE (REGION, Paid) FROM 't.csv' ORDER BY ID LIMIT 3
SELECT * REPLACE (qty * 2 AS qty, upper(city) AS CITY) FROM 't.csv' ORDER BY id LIMIT 4
SELECT * EXCLUDE (day, ts) REPLACE (qty + 1 AS Qty) FROM 't.csv' ORDER BY id LIMIT 4
SELECT * EXCLUDE (day) REPLACE (1 AS ts), day FROM 't.csv' ORDER BY ts, id LIMIT 4
WITH t AS (SELECT * REPLACE (price / 2 AS price) FROM 't.csv') SELECT sum(price) AS s FROM t
WITH t AS (SELECT id, qty, city FROM 't.csv') SELECT * REPLACE (qty - id AS qty) FROM t WHERE id < 9 ORDER BY id
SELECT COLUMNS('^(id|q.*)$') FROM 't.csv' ORDER BY id LIMIT 3
SELECT COLUMNS('[iy]') FROM 't.csv' ORDER BY id LIMIT 3
SELECT COLUMNS(*) FROM 't.csv' ORDER BY id LIMIT 3
SELECT city, sum(COLUMNS('^(id|qty|price)$')) FROM 't.csv' GROUP BY city ORDER BY city
SELECT min(COLUMNS(*)), 2 * max(COLUMNS('^id|qty')) - 1 FROM 't.csv'
SELECT COLUMNS('^(id|qty)$') + COLUMNS('^(id|qty)$') FROM 't.csv' ORDER BY 1 LIMIT 3
WITH t AS (SELECT id AS a1, qty AS a2, city AS b FROM 't.csv') SELECT sum(COLUMNS('a.')) FROM t
WITH t AS (SELECT COLUMNS('^(id|qty)$') FROM 't.csv') SELECT max(id) AS i, count(qty) AS n FROM t
SELECT mode() WITHIN GROUP (ORDER BY city) AS m, max(INTERVAL '1 day' + day) AS d FROM 't.csv' WHERE city = 'Bern'
SELECT id AS Number FROM 't.csv' WHERE number < 5 ORDER BY NUMBER DESC
SELECT city, sum(qty) AS Total FROM 't.csv' GROUP BY city HAVING total > 10 ORDER BY TOTAL, city
WITH t AS (SELECT ID AS Key, city FROM 't.csv' WHERE Id < 9) SELECT KEY, City FROM t WHERE key > 2 ORDER BY kEY
SELECT count(*) AS n FROM 't.csv' WHERE day >= '2024-02-01' AND day < '2024-03-01'
SELECT id FROM 't.csv' WHERE ts > '2024-11-30 12:00' ORDER BY id LIMIT 9
SELECT dayname(day) AS d, count(*) AS n FROM 't.csv' GROUP BY d ORDER BY n DESC, d
SELECT monthname(day) AS m, extract(month FROM day) AS k, sum(price) AS s FROM 't.csv' GROUP BY ALL ORDER BY k
SELECT extract(dow FROM day) AS d, count(*) AS n FROM 't.csv' GROUP BY 1 ORDER BY 1
SELECT date_trunc('month', day)::DATE AS m, count(*) AS n FROM 't.csv' WHERE m >= '2024-06-01' GROUP BY m ORDER BY m
SELECT city FROM 't.csv' GROUP BY city HAVING max(day) > '2024-12-30' ORDER BY city
SELECT city, count_if(paid) AS n FROM 't.csv' GROUP BY city HAVING count_if(paid) > 5 ORDER BY count_if(paid) DESC, city
SELECT city, any_value(city) AS c, bool_or(paid) AS p FROM 't.csv' GROUP BY city ORDER BY mean(price)
SELECT DISTINCT substring(city FROM 1 FOR 1) AS c FROM 't.csv' ORDER BY c
SELECT count(*) AS n FROM 'nothing.csv' GROUP BY 'x'
SELECT 1 AS one, count(*) AS n FROM 'nothing.csv'
SELECT count(*) AS n FROM 't.csv' GROUP BY NULL
SELECT count(*) AS n FROM 'nothing.csv' GROUP BY NULL
SELECT city, count(*) AS n FROM 't.csv' GROUP BY NULL, city ORDER BY city
SELECT -id AS id FROM 't.csv' ORDER BY id + 0 LIMIT 5
SELECT -id AS id, qty AS price FROM 't.csv' ORDER BY price * 2 DESC, abs(id) LIMIT 5
SELECT -id AS n FROM 't.csv' ORDER BY n + 0 LIMIT 5
SELECT id, city, FROM 't.csv' WHERE COLUMNS('^(id|qty|price)$') > 5 ORDER BY id LIMIT 9
SELECT count(*) AS n FROM 't.csv' WHERE COLUMNS(*) IS NOT NULL
SELECT max(DISTINCT qty) AS h, min(DISTINCT price) AS l FROM 't.csv'
SELECT city, -max(id) AS id FROM 't.csv' GROUP BY city ORDER BY max(id) + 0
SELECT -qty AS qty, count(*) AS n FROM 't.csv' GROUP BY qty ORDER BY qty + 0
SELECT qty % 3 AS qty, id FROM 't.csv' ORDER BY coalesce(qty, 0) DESC, id LIMIT 9
SELECT city, * FROM 't.csv' ORDER BY id LIMIT 3
SELECT count(*), count(*) FROM 't.csv'
SELECT city, city, count(*), count(*) FROM 't.csv' GROUP BY city ORDER BY city
SELECT DISTINCT city, city FROM 't.csv' ORDER BY city
SELECT qty AS x, id AS x FROM 't.csv' ORDER BY id LIMIT 4
""".strip().splitlines()

# On the host's columns and on a device's vectors.
ENGINES = (
    "SELECT dow(day) % 7 AS d, count(*) AS n, sum(sign(qty - 3)) AS s, count_if(paid) AS p FROM 'big.csv' "
    "WHERE day >= '2024-02-01' AND day NOT IN ('2024-03-01', '2024-04-01') GROUP BY d ORDER BY d",
    "SELECT extract(month FROM ts) AS m, count(*) FILTER (WHERE paid IS NOT TRUE) AS n, bool_and(qty > 0) AS b, max(ts) AS t "
    "FROM 'big.csv' WHERE ts BETWEEN '2024-02-01' AND '2024-11-30 12:00' GROUP BY m ORDER BY m",
    "SELECT sign(price - 500) AS s, (qty IS NOT DISTINCT FROM 3) AS q, sum(mod(id, 7)) AS m FROM 'big.csv' "
    "WHERE qty >= '2' OR qty IS NULL GROUP BY ALL ORDER BY ALL",
    "SELECT last_day(day) AS l, isoyear(day) AS i, 1 AS one, sum(id) AS s FROM 'big.csv' GROUP BY ALL ORDER BY ALL",
)

# What is not there, and what the message says.
REFUSED = (
    ("day > 'yesterday'", "'yesterday' is not of type date, as 'day' is"),
    ("day = '2024-13-01'", "'2024-13-01' is not of type date"),
    ("day = '2024-01-01 10:00'", "'2024-01-01 10:00' is not of type date"),
    ("day IN ('2024-01-01', 'x')", "'x' is not of type date"),
    ("day BETWEEN '2024-01-01' AND ''", "'' is not of type date"),
    ("ts < '2024-01'", "'2024-01' is not of type timestamp"),
    ("qty = '5.4'", "a number is written without quotes"),
    ("qty > 'many'", "'many' is not of type i64, as 'qty' is"),
    ("qty > '99999999999999999999999999999999999999999'", "is not of type i64"),
    ("paid = 'maybe'", "a bool is true or false"),
    ("coalesce(day, 'none')", "'none' is not of type date"),
    ("(qty, id) IN ((1, 2, 3))", "a row of 3 values beside one of 2"),
    ("(qty, id) < (1, 2)", "expected 'in', '=' or '<>' behind a row of values, found '<'"),
    ("(qty, id)", "expected 'in', '=' or '<>' behind a row of values"),
    ("(qty, id) IN (1, 2)", "expected '(' and as many values, found '1'"),
    ("sum(DISTINCT qty)", "only count, list and string_agg take distinct"),
    ("city > 5", "string cannot be compared with i64"),
    ("extract(fortnight FROM day)", "there is no part 'fortnight' of a time; there are year"),
    ("extract(year day)", "as in extract(year from a)"),
    ("date_part(city, day)", "write date_part('year', a), or year(a)"),
    ("trim(city, region)", "trim takes a constant text"),
    ("concat_ws(',')", "write concat_ws(separator, a, …)"),
    ("string_agg(city, qty)", "expected a separator in single quotes, found 'qty'"),
    ("string_agg(city, ',' ORDER BY qty, id)", "expected 'order by' or ')'; one value orders, found ','"),
    ("list(city, 'x')", "expected 'order by' or ')'; one value orders, found ','"),
    ("list(city::bytes)", "'list' takes values that have a text; cast this"),
    ("list(sum(qty))", "an aggregate inside of 'list'"),
    ("string_agg(city ORDER qty)", "expected 'by' and a value, found 'qty'"),
    ("list(qty ORDER BY id NULLS)", "expected 'first' or 'last', found ')'"),
    ("log(price)", "ln(a), log2(a) or log10(a)"),
    ("now()", "there is no current time"),
    ("today()", "there is no current time"),
    ("random()", "hash(a)"),
    ("product(qty)", "exp(sum(ln(a)))"),
    ("bit_and(qty)", "a & b"),
    ("format('{}', qty)", "concat(a, b)"),
    ("printf('%d', qty)", "concat(a, b)"),
    ("regexp_full_match(city, 'B')", "'^(pattern)$'"),
    ("regexp_extract_all(city, 'B')", "regexp_extract"),
    ("string_split(city, ' ')", "split_part"),
    ("age(day)", "date_diff"),
    ("to_timestamp(id)", "make_timestamp"),
    ("epoch_ms(id)", "make_timestamp(ms * 1000)"),
    ("time_bucket(INTERVAL '1 day', ts)", "an interval stands before the +"),
    ("percentile_disc(0.5) WITHIN GROUP (ORDER BY qty DESC)", "within group follows percentile_cont(share), percentile_disc(share)"),
    ("max(qty) WITHIN GROUP (ORDER BY qty)", "write quantile(x, 0.5), mode(x) or top_k(x, k)"),
    ("quantile_cont(0.5) WITHIN GROUP (ORDER BY qty + 'x')", "'+' takes"),
    ("min(COLUMNS('^nope$'))", "columns: no name matches; there are: id, day"),
    ("COLUMNS('a(')", "the regular expression: "),
    ("COLUMNS('i') + COLUMNS('d')", "columns with another pattern; an item has one"),
    ("qty + interval '1 day'", "'+ interval' takes (timestamp, integer, integer)"),
    ("qty::uhugeint", "'uhugeint' is not a type; write decimal(38,0)"),
    ("qty::decimal(39)", "of decimal(p,s) p is 1 to 38 digits"),
    ("median(city)", "takes (integer)"),
    ("percentile_cont(0.5)", "'percentile_cont' is written percentile_cont(share) within group (order by a)"),
    ("percentile_disc(0.5)", "'percentile_disc' is written percentile_disc(share) within group (order by a)"),
    ("row_number()", "there are no window functions"),
    ("sum(DISTINCT qty)", "only count, list and string_agg take distinct"),
    ("mean(DISTINCT qty)", "only count, list and string_agg take distinct"),
    ("upper(city) FILTER (WHERE paid)", "only aggregates take 'filter'"),
    ("make_date(2024, 1, 1) FILTER (WHERE paid)", "only aggregates take 'filter'"),
    ("trim(count(qty) FILTER (WHERE qty > 0), '') FILTER (WHERE qty > 1)", "only aggregates take 'filter'"),
    ("trim(qty, '')", "'substr' takes"),
    ("substr(city 2)", "expected ',' or ')', found '2'"),
    ("bool_and(qty)", "'not' takes (bool), not (i64)"),
    ("qty IS TRUE", "'not' takes (bool), not (i64)"),
    ("qty IS 5", "expected 'null', 'true', 'false', 'unknown', 'distinct from'"),
    ("nope(qty)", "unknown function 'nope'"),
    ("current_date", "there is no current_date: a query gives the same answer each time; write date '2024-01-31'"),
    ("day < CURRENT_TIMESTAMP", "write timestamp '2024-01-31 12:00:00'"),
    ("city ~ 'B.*'", "write regexp_matches(a, '^(pattern)$')"),
    ("city !~ 'B.*'", "write regexp_matches(a, '^(pattern)$')"),
    ("city ~~ 'B%'", "or like"),
    ("city SIMILAR TO 'B.*'", "write regexp_matches(a, '^(pattern)$')"),
    ("city GLOB 'B*'", "write like"),
    ("city COLLATE nocase", "order by lower(a)"),
    ("date(ts)", "write cast(a as date)"),
    ("timezone('UTC', ts)", "write a at time zone"),
    ("bit_or(qty)", "there is no such aggregate"),
    ("sum(paid)", "count_if(a) counts"),
    ("{'a': 1}", "there are no structs"),
    ("CITYY", "(did you mean city?)"),
)


@unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
class Words(SharedMachineTest):
    profile = ONE_DEVICE

    def setUp(self):
        super().setUp()
        dice = random.Random(11)
        self.duck = duck.connect()
        self.duck.execute("SET default_null_order = 'nulls_last'")
        lines = ["id,day,ts,city,qty,price,paid,Region"]
        for i in range(ROWS):
            at = datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=dice.randrange(366 * 86400), microseconds=dice.choice((0, 0, 250000)))
            city = dice.choice(("Bern", "Oslo", "Paris", "New York", "bern", "Zoë"))
            lines.append(f"{i},{dice.choice((at.date(), at.date(), ''))},{at},{city},{dice.choice((1, 2, 3, 7, ''))},"
                         f"{dice.randrange(100, 99999) / 64},{dice.choice(('true', 'false', ''))},{dice.choice(('N', 'S'))}")
        Path(self.m.path("t.csv")).write_text("\n".join(lines) + "\n", encoding="utf-8")
        Path(self.m.path("nothing.csv")).write_text(lines[0] + "\n", encoding="utf-8")
        self.duck.execute(f"SET file_search_path = '{self.m.work}'")
        for name in ("t", "nothing"):
            self.duck.execute(f"CREATE TABLE {name} ({TABLE})")
            self.duck.execute(f"INSERT INTO {name} SELECT * FROM read_csv('{name}.csv', header = true, all_varchar = true)")

    def ask(self, statement, *options):
        return duck.read_csv(self.m.good("query", statement, *options).decode())[1:]

    def wanted(self, statement):
        return self.duck.execute(statement.replace("'t.csv'", "t").replace("'nothing.csv'", "nothing")).fetchall()

    def check(self, names, got, wanted):
        self.assertEqual(len(got), len(wanted))
        for a, b in zip(got, wanted):
            self.assertEqual(len(a), len(b))
            for name, x, y in zip(names, a, b):
                self.assertTrue(same(x, y), f"{name}: {str(x)[:500]} and not {str(y)[:500]}, of {str(a)[:500]}")

    def test_expressions(self):
        for at in range(0, len(EXPRESSIONS), 60):
            some = EXPRESSIONS[at:at + 60]
            items = ", ".join(f"{e} AS x{i}" for i, e in enumerate(some))
            statement = f"SELECT id, {items} FROM 't.csv' ORDER BY id"
            self.check(["id"] + some, self.ask(statement), self.wanted(statement))

    def test_aggregates(self):
        items = ", ".join(f"{e} AS x{i}" for i, e in enumerate(AGGREGATES))
        for keys in ("", "city"):
            key, group = (f"{keys}, ", f" GROUP BY {keys} ORDER BY {keys}") if keys else ("", "")
            statement = f"SELECT {key}{items} FROM 't.csv'{group}"
            self.check([keys] * bool(keys) + AGGREGATES, self.ask(statement), self.wanted(statement))

    def test_texts(self):
        """string_agg and list over all rows and groups, in the order of the input and in others, on one table and on
        the partials of many chunks."""
        texts = [e.replace("chr(10)", "'\n'") for e in TEXTS]
        lists = [e.replace("chr(10)", "'\n'") for e in LISTS]
        for source, keys in (("t.csv", ("", "city")), ("many.csv", ("city",))):
            if source == "many.csv":
                text = Path(self.m.path("t.csv")).read_text(encoding="utf-8").splitlines(keepends=True)
                text = text[0] + "".join(f"{ROWS * k + i}," + line.split(",", 1)[1] for k in range(MANY) for i, line in enumerate(text[1:]))
                Path(self.m.path("many.csv")).write_text(text, encoding="utf-8")
                self.duck.execute(f"CREATE TABLE many ({TABLE})")
                self.duck.execute("INSERT INTO many SELECT * FROM read_csv('many.csv', header = true, all_varchar = true)")
                texts, lists = ([e.replace("1000 + id", "100000 + id").replace("city || ts)", "city || (1000000 + id))") for e in some]
                                for some in (texts, lists))
            for key in keys:
                with self.subTest(source, key=key):
                    names, group = ([key] * bool(key), f" GROUP BY {key} ORDER BY {key}" if key else "")
                    items = ", ".join(names + [f"{e} AS x{i}" for i, e in enumerate(texts + lists)])
                    got = self.ask(f"SELECT {items} FROM '{source}'{group}")
                    items = ", ".join(names + texts + [f"to_json({e})::VARCHAR" for e in lists])
                    wanted = self.duck.execute(f"SELECT {items} FROM {source[:-4]}{group}").fetchall()
                    first = len(names) + len(texts)
                    self.check(names + texts, [row[:first] for row in got], [row[:first] for row in wanted])
                    for a, b in zip(got, wanted):
                        for name, x, y in zip(lists, a[first:], b[first:]):
                            y = y and y.replace('.25"', '.250000"')  # of times
                            self.assertTrue((x and json.loads(x)) == (y and json.loads(y)), f"{name}: {x and x[:300]} and not {y and y[:300]}")

    def test_filter_of_macros(self):
        """DuckDB refuses the filter of geomean, which is an aggregate here."""
        statement = "SELECT geomean(price) FILTER (WHERE qty > 1) AS a, 1 + geometric_mean(price) FILTER (WHERE paid) AS b FROM 't.csv'"
        wanted = "SELECT exp(avg(ln(price)) FILTER (WHERE qty > 1)), 1 + exp(avg(ln(price)) FILTER (WHERE paid)) FROM 't.csv'"
        self.check("ab", self.ask(statement), self.wanted(wanted))

    def test_statements(self):
        for statement in STATEMENTS:
            with self.subTest(statement):
                self.check([statement] * 99, self.ask(statement), self.wanted(statement))

    def test_repeated_names(self):
        """All columns that are asked for, with the names that DuckDB gives to them in a file."""
        for items in ("city, *", "id, id, id", "*, *", "qty AS id, id, qty + 1 AS id", "id, id AS id_1, id", "DISTINCT id, id, id % 2 AS id"):
            of = f"SELECT {items} FROM t ORDER BY ALL LIMIT 5"
            self.duck.execute(f"COPY ({of}) TO '{self.m.path('right.csv')}' (HEADER)")
            wanted = Path(self.m.path("right.csv")).read_text(encoding="utf-8").splitlines()
            got = self.m.good("query", of.replace(" t ", " 't.csv' ")).decode().splitlines()
            self.assertEqual((got[0], len(got)), (wanted[0], len(wanted)), items)
        Path(self.m.path("zeros.csv")).write_text("f,g\n0.0,1\n-0.0,2\n1.5,3\n,4\nnan,5\n-inf,6\n", encoding="ascii")
        for f in ("f::DOUBLE", "f::FLOAT"):
            wanted = self.duck.execute(f"SELECT list(DISTINCT {f} ORDER BY {f}) FROM 'zeros.csv' WHERE g < 4").fetchall()
            self.assertEqual(self.ask(f"SELECT list(DISTINCT {f} ORDER BY {f}) AS a FROM 'zeros.csv' WHERE g < 4"), [(json.dumps(wanted[0][0]).replace(" ", ""),)])
        for statement in ("SELECT * EXCLUDE (f, g), 5 AS z FROM 'zeros.csv' LIMIT 2", "SELECT * EXCLUDE (f), * EXCLUDE (f, g) FROM 'zeros.csv'"):
            self.check("z", self.ask(statement), self.duck.execute(statement).fetchall())
        self.m.bad(2, "query", "SELECT * EXCLUDE (f, g) FROM 'zeros.csv'", says="character 8: exclude leaves out all columns")
        Path(self.m.path("d.csv")).write_text("id,id_1\n1,30\n2,20\n3,10\n")
        for statement in ("SELECT id, * FROM 'd.csv' ORDER BY id_1 LIMIT 1", "SELECT id, id FROM 'd.csv' ORDER BY id_1",
                          "SELECT id, id, -id AS id_1 FROM 'd.csv' ORDER BY id_1", "SELECT id, id, -id AS Id_1 FROM 'd.csv' ORDER BY id_1",
                          "SELECT DISTINCT id, id, -id AS id_1 FROM 'd.csv' ORDER BY id_1", "SELECT id, id, * FROM 'd.csv' ORDER BY ID_1 + 0",
                          "SELECT max(id) AS m, max(id) AS m, -max(id) AS m_1 FROM 'd.csv' GROUP BY id ORDER BY m_1"):
            self.check([statement] * 9, self.ask(statement), self.duck.execute(statement).fetchall())
        self.assertEqual(self.m.good("query", "SELECT id, id, * FROM 'd.csv' LIMIT 1"), b"id,id_2,id_3,id_1\n1,1,1,30\n")
        self.m.good("query", "SELECT id, id, city AS id FROM 't.csv' WHERE id < 2", "-o", "twice.parquet")
        self.assertEqual(self.duck.execute("SELECT id, id_1, id_2 IS NOT NULL FROM 'twice.parquet'").fetchall(), [(0, 0, True), (1, 1, True)])

    def test_types_of_several_files(self):
        """The types are those of all files, not of the first one: the values are DuckDB's."""
        columns = {"a": ("1", "2.5", "3"), "b": ("1", "x", ""), "c": ("2024-01-01", "2024-01-02 03:04:05", ""), "d": ("", "7", "8"),
                   "e": ("1.25", "2.50", "3.75"), "f": ("true", "false", ""), "g": ("1.25", "7", "8.125"), "h": ("5", "", "6")}
        folder = Path(self.m.path("types"))
        folder.mkdir()
        for i in range(3):
            (folder / f"{i}.csv").write_text(",".join(columns) + "\n" + ",".join(v[i] for v in columns.values()) + "\n", encoding="utf-8")
            (folder / f"{i}.jsonl").write_text("".join(json.dumps({"a": [1, 2.5, 3][i], "d": [None, 1, 2][i]}) + "\n" for _ in range(2)))
        for files, statement in (("types/*.csv", "SELECT a, b, c::TIMESTAMP AS c, d, e, f, g, h FROM t ORDER BY a"),
                                 ("types/*.csv", "SELECT sum(a) AS s, sum(d) AS d, count(b) AS n, sum(e) AS e, max(g) AS g FROM t"),
                                 ("types/*.jsonl", "SELECT a, d FROM t ORDER BY a, d")):
            reader = "read_csv" if files.endswith("csv") else "read_json_auto"
            wanted = self.duck.execute(statement.replace("FROM t", f"FROM {reader}('{self.m.path(files)}')")).fetchall()
            self.check([statement] * 9, self.ask(statement.replace("FROM t", f"FROM '{files}'"), "-q"), wanted)
        (folder / "semicolon.csv").write_text("a;b\n1;2\n")
        self.m.bad(2, "query", "SELECT a FROM 'types/*.csv'", says="semicolon.csv: the header has no column 'a', but one field, 'a;b': files of one query")
        for i in range(100):  # of many files a part is looked at, the last one among them
            (folder / f"many{i:03}.tsv").write_text(f"a\n{i if i < 99 else 0.5}\n")
        self.assertEqual(self.ask("SELECT sum(a) AS s FROM 'types/*.tsv'"), [("4851.5",)])

    def test_engines(self):
        text = Path(self.m.path("t.csv")).read_text(encoding="utf-8").splitlines(keepends=True)
        Path(self.m.path("big.csv")).write_text(text[0] + "".join(text[1:]) * MANY, encoding="utf-8")
        self.duck.execute(f"CREATE TABLE big AS SELECT t.* FROM t, range({MANY})")
        for statement in ENGINES:
            for engine in ("host", "device"):
                with self.subTest(statement, engine=engine):
                    wanted = self.wanted(statement.replace("dow(day) % 7", "dayofweek(day)").replace("'big.csv'", "big"))
                    self.check([statement] * 9, self.ask(statement, "--engine", engine), wanted)

    def test_command_line(self):
        """Options and files around a statement."""
        rows = self.m.good("query", "SELECT id, city FROM 't.csv' WHERE id < 2 ORDER BY id", "--json")
        self.assertEqual([sorted(json.loads(line)) for line in rows.splitlines()], [["city", "id"]] * 2)
        self.assertEqual(self.m.good("query", "SELECT count(*) AS n FROM 't.csv'", "--json", "--output-format", "csv"), b"n\n700\n")
        for statement in ("SELECT count(*) FROM 't.csv'", "WITH t AS (FROM 't.csv') SELECT count(*) FROM t"):
            for option in ("--receipt", "--trace"):
                self.m.bad(2, "query", statement, option, "t.csv", says=f"{option} names the input t.csv, which it would overwrite")
        self.m.good("query", "SELECT count(*) FROM 't.csv'", "--receipt", "receipt.json")
        for name in ("out.xlsx", "out.XLS", "out.orc", "out.sqlite"):
            self.m.bad(2, "query", "t.csv", "-o", name, says=f"{name}: no {name[4:]} file can be written; choose a name with .csv")
            self.assertFalse(Path(self.m.path(name)).exists())
        self.m.good("query", "t.csv", "-o", "out.xlsx", "--output-format", "csv")
        self.m.bad(2, "sort", "-", "--key", "id", says="say --input-format csv or parquet")

    def test_times_without_zeros(self):
        """Columns of dates and times without leading zeros have DuckDB's types and values."""
        Path(self.m.path("short.csv")).write_text("d,t,z,s,n\n" + "".join(
            f"{2000 + i}-{1 + i % 12}-{1 + i % 28},2024-{1 + i % 12}-{1 + i % 28} {i % 24}:{i % 60:02}:05,2024-1-{1 + i % 9}T{i % 10}:30:00Z,"
            f"2024-1-{1 + i % 40},{1 + i % 12}-{1 + i % 28}\n" for i in range(99)), encoding="utf-8")
        wanted = self.duck.execute("SELECT d, t, z::TIMESTAMP, s, n FROM read_csv('short.csv', sample_size = -1)").fetchall()
        got = self.ask("SELECT d, t, z::TIMESTAMP AS z, s, n FROM 'short.csv'", "-q")
        self.check("dtzsn", got, wanted)
        self.assertEqual([row[1] for row in self.ask("DESCRIBE 'short.csv'")], ["date", "timestamp", "timestamptz", "string", "string"])
        statement = "SELECT DATE '2024-1-5' AS a, TIMESTAMP '2024-1-5 9:30' AS b, count(*) AS c FROM 'short.csv' WHERE d < '2050-2-3' AND t > '2024-1-9 9:00:00'"
        self.check("abc", self.ask(statement), self.duck.execute(statement.replace("'short.csv'", "read_csv('short.csv', sample_size = -1)")).fetchall())
        text = "SELECT id FROM 't.csv' WHERE id < 3 UNION ALL BY NAME SELECT id FROM 't.csv' WHERE id < 3"
        self.check(["id"], self.ask(text), self.wanted(text))

    def test_names_of_expanded_items(self):
        """An expression with COLUMNS has its own text as name, with a column's name in the place of COLUMNS."""
        out = self.m.good("query", "SELECT max(COLUMNS('^(id|qty)$')), COLUMNS('^id$') + 1, COLUMNS( * ) IS NULL FROM 't.csv' GROUP BY id, "
                          "day, ts, city, qty, price, paid, region LIMIT 1")
        self.assertEqual(out.splitlines()[0].decode(), "max(id),max(qty),id + 1," + ",".join(
            f"{c} IS NULL" for c in "id day ts city qty price paid Region".split()))
        self.m.bad(2, "query", "SELECT id FROM 't.csv' ORDER BY COLUMNS('id')", says="columns(…) stands in the items of SELECT, and in WHERE")
        self.m.bad(2, "query", "SELECT * REPLACE (sum(qty) AS qty) FROM 't.csv'", says="aggregates are of groups")
        self.m.bad(2, "query", "SELECT * EXCLUDE (qty) REPLACE (1 AS qty) FROM 't.csv'", says="'qty' is both excluded and replaced")
        self.m.bad(2, "query", "SELECT * REPLACE (1 AS nope) FROM 't.csv'", says="replace: unknown column 'nope'")
        for sample in ("USING SAMPLE 10%", "TABLESAMPLE reservoir(5)", "WHERE id > 2 USING SAMPLE 5 ROWS"):
            self.m.bad(2, "query", f"SELECT id FROM 't.csv' {sample}", says="WHERE hash(a) % 100 < 10 takes a tenth")

    def test_renamed_columns(self):
        """* RENAME (a AS b): names, their order and rows are DuckDB's, in files and folders, with WITH and UNION ALL."""
        for i in range(3):
            rows = "".join(f"{j},{chr(97 + j % 5)},{j * 7 % 13}\n" for j in range(i * 100, i * 100 + 100))
            os.makedirs(self.m.path(f"parts/k={i}"), exist_ok=True)
            Path(self.m.path(f"parts/k={i}/p.csv")).write_text("id,city,qty\n" + rows, encoding="utf-8")
            Path(self.m.path(f"p{i}.csv")).write_text("id,city,qty\n" + rows, encoding="utf-8")
        Path(self.m.path("turned.csv")).write_text("qty,city,id\n1,Bern,7\n2,Oslo,150\n", encoding="utf-8")
        for star in ("* RENAME (city AS town)", "* RENAME city AS town", "* RENAME (CITY AS Town, id AS \"a b\")", "* RENAME (city AS city)",
                     "* RENAME (city AS qty, qty AS city)", "* EXCLUDE (id) RENAME (city AS id)", "* REPLACE (qty * 2 AS qty) RENAME (id AS qty2)",
                     "* EXCLUDE id REPLACE upper(city) AS city RENAME qty AS Id", "t.id + 1 AS x, * RENAME (qty AS y), city AS z"):
            for statement in (f"SELECT {star} FROM 'p1.csv' AS t ORDER BY ALL LIMIT 7", f"SELECT {star} FROM 'p*.csv' AS t ORDER BY ALL LIMIT 150",
                              f"WITH u AS (SELECT {star} FROM 'p2.csv' AS t) SELECT * FROM u ORDER BY ALL OFFSET 40",
                              f"SELECT {star} FROM 'p0.csv' AS t UNION ALL SELECT {star} FROM 'p2.csv' AS t ORDER BY ALL"):
                with self.subTest(statement):
                    result = self.duck.execute(statement)
                    got = duck.read_csv(self.m.good("query", statement).decode())
                    self.assertEqual(list(got[0]), [column[0] for column in result.description])
                    self.check(got[0], got[1:], result.fetchall())
        for statement in ("SELECT * RENAME (k AS part) FROM 'parts' WHERE k = 1 AND id < 120 ORDER BY id",
                          "SELECT * RENAME (city AS town) FROM 'p1.csv' UNION ALL BY NAME SELECT * RENAME (city AS town) FROM 'turned.csv' ORDER BY id, town",
                          "WITH p AS (SELECT * RENAME (city AS town) FROM 'parts') SELECT town, count(*) AS n FROM p GROUP BY town ORDER BY town"):
            with self.subTest(statement):
                wanted = self.duck.execute(statement.replace("'parts'", "read_csv('parts/*/*.csv')")).fetchall()
                self.check([statement] * 4, self.ask(statement), wanted)
        for star, at, says in (("* RENAME (nope AS x)", 18, "rename: unknown column 'nope'; there are: id"), ("* RENAME (city AS a, CITY AS b)", 29, "'city' is named twice"),
                               ("* EXCLUDE (city) RENAME (city AS a)", 33, "'city' is both excluded and renamed"), ("* REPLACE (1 AS qty, 2 AS qty)", 29, "'qty' is named twice"),
                               ("* REPLACE (1 AS city) RENAME (id AS x, city AS a)", 47, "'city' is named twice in replace and rename; write exclude (city)"),
                               ("* RENAME (qty + 1 AS x)", 18, "replace (… as column) computes one"), ("* RENAME (city x)", 23, "expected 'as' and the new name"),
                               ("* RENAME (qty AS x) EXCLUDE (id)", 28, "found 'EXCLUDE'"), ("sum(qty) AS s, * RENAME (qty AS x)", 23, "here rows become groups"),
                               ("* RENAME (qty AS x) FROM 'p0.csv' UNION ALL SELECT * RENAME (qty AS y)", None, "UNION ALL is of SELECTs that differ in their files only")):
            with self.subTest(star):
                said = self.m.bad(2, "query", f"SELECT {star} FROM 'p0.csv'", says=says)
                self.assertIn(f"character {at}: " if at else "", said)

    def test_comments_before_the_statement(self):
        for comment in ("-- of all rows\n", "--\n", "--x\n", "--select is no option\n", "-- a\n-- b = c\n\n", "/* a */ -- b\n", "/* --\n */", "--quiet a\n--\n"):
            statement = comment + "SELECT id FROM 't.csv' WHERE id < 3 ORDER BY id"
            with self.subTest(comment):
                for words in ((statement,), (statement, "-q"), ("--output-format", "csv", statement), ("--", statement)):
                    self.assertEqual(self.m.good("query", *words), b"id\n0\n1\n2\n")
                self.assertEqual(self.wanted(statement), [(0,), (1,), (2,)])
                self.assertEqual(len(self.ask(comment + "DESCRIBE 't.csv'")), 8)
        self.m.bad(2, "query", "-- nothing follows", says="expected SELECT, but the statement ends here")
        self.m.bad(2, "query", "--nonsense=select 1", says="unknown option --nonsense")
        self.m.bad(2, "query", "--nonsense", says="unknown option --nonsense")

    def test_describe_and_summarize(self):
        """DESCRIBE and SUMMARIZE of a file have the rows of DuckDB, in columns of our names."""
        types = {"i64": "BIGINT", "date": "DATE", "timestamp": "TIMESTAMP", "string": "VARCHAR", "f64": "DOUBLE", "bool": "BOOLEAN"}
        wanted = [tuple(row[:2]) for row in self.duck.execute("DESCRIBE t").fetchall()]
        for statement in ("DESCRIBE 't.csv'", "describe table 't.csv';", "DESC FROM 't.csv'", "DESCRIBE t.csv"):
            got = self.ask(statement, "--schema", "price:f64")
            self.assertEqual([(row[0], types[row[1]]) for row in got], wanted, statement)
        rows = {row[0]: row for row in self.duck.execute("SUMMARIZE t").fetchall()}
        got = [json.loads(line) for line in self.m.good("query", "SUMMARIZE 't.csv'", "--output-format", "jsonl").splitlines()]
        for row in got:
            smallest, largest = rows[row["column"]][2:4]
            self.assertTrue(same(str(row["min"]), smallest) and same(str(row["max"]), largest) or row["column"] in ("price", "paid"), row)
        self.assertEqual(len(self.ask("SUMMARIZE 't.csv'", "--where", "id < 5")), 8)
        Path(self.m.path("it's.csv")).write_text("a\n1\n")
        for statement in ("DESCRIBE 'it''s.csv'", "/* a */ DESCRIBE /* b */ 'it''s.csv'; -- c", "SUMMARIZE 'it''s.csv'"):
            self.assertEqual(self.ask(statement)[0][0], "a", statement)
        statement = "SELECT id + 1 AS n, upper(city) AS c, day, paid FROM 't.csv' WHERE id > 5"
        wanted = [tuple(row[:2]) for row in self.duck.execute("DESCRIBE " + statement.replace("'t.csv'", "t")).fetchall()]
        for words in ("DESCRIBE " + statement, f"-- a\ndesc {statement} ORDER BY n;", f"DESCRIBE {statement} LIMIT 2"):
            self.assertEqual([(row[0], types[row[1]]) for row in self.ask(words)], wanted, words)
        (n, *_), = self.duck.execute("SELECT count(*) FROM t WHERE id > 5").fetchall()
        rows = {row[0]: row for row in self.ask("SUMMARIZE WITH w AS (SELECT id, city FROM 't.csv' WHERE id > 5) SELECT id * 2 AS d, city FROM w")}
        self.assertEqual((rows["d"][1], rows["d"][2], rows["d"][5]), ("i64", str(n), "12"))
        self.assertEqual([row[0] for row in self.ask("DESCRIBE SELECT city, count(*) AS n FROM 't.csv' GROUP BY city")], ["city", "n"])
        self.m.bad(2, "query", "DESCRIBE SELECT nope FROM 't.csv'", says="SQL: character 17: unknown column 'nope'")
        self.assertEqual(list(Path(tempfile.gettempdir()).glob("hacctl-*")), [])
        self.m.bad(2, "query", "SUMMARIZE 't.csv'", "--order-by", "id", says="query: --order-by is not possible beside DESCRIBE and SUMMARIZE")

    def test_names_in_two_cases(self):
        Path(self.m.path("two.csv")).write_text("id,ID,x\n1,2,3\n")
        self.assertEqual(self.m.good("query", "SELECT id, ID, X FROM 'two.csv'"), b"id,ID,x\n1,2,3\n")
        self.m.bad(2, "query", "SELECT Id FROM 'two.csv'", says="unknown column 'Id'; there are: id, ID, x")
        self.m.bad(2, "query", "SELECT * EXCLUDE (iD) FROM 'two.csv'", says="unknown column 'iD'")
        Path(self.m.path("two.jsonl")).write_text('{"Key": 1, "value": "a"}\n{"Key": 2, "value": "b"}\n')
        self.assertEqual(self.m.good("query", "SELECT key, VALUE FROM 'two.jsonl' WHERE KEY > 1"), b"Key,value\n2,b\n")
        with open(self.m.path("wide.csv"), "w", encoding="ascii") as file:
            file.write(",".join(f"c{i}" for i in range(400)) + "\n" + ",".join(map(str, range(400))) + "\n")
        self.assertEqual(self.m.good("query", "SELECT C399 + C1 AS s FROM 'wide.csv'"), b"s\n400\n")

    def test_refused(self):
        for expression, says in REFUSED:
            with self.subTest(expression):
                said = self.m.bad(2, "query", f"SELECT {expression} AS x FROM 't.csv'", says=says)
                self.assertTrue(said.startswith("hacctl: SQL: character "), said)


if __name__ == "__main__":
    main()
