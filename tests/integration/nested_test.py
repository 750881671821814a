#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Queries of Parquet columns with lists and maps: whole, by their parts, and unnested. The oracle is DuckDB."""
import json
import random
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
import duck  # noqa: E402
from duck import duckdb  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

WORDS = ("", "a", "b", "Zoë", 'quo"te', "com,ma", "line\nfeed")


def some(rng, draw, longest):
    if rng.random() < 0.15:
        return None
    n = longest if rng.random() < 0.01 else rng.randint(0, 4)
    return [None if rng.random() < 0.15 else draw() for _ in range(n)]


def table(rows, seed, longest=40):
    rng = random.Random(seed)
    draws = {"i": (pyarrow.int32(), lambda: rng.randint(-3, 3)), "s": (pyarrow.string(), lambda: rng.choice(WORDS)),
             "f": (pyarrow.float64(), lambda: rng.choice((0.5, -1.25, 3.0)))}
    columns = {name: pyarrow.array([some(rng, draw, longest) for _ in range(rows)], pyarrow.list_(kind))
               for name, (kind, draw) in draws.items()}
    keys = ("x", "y", "z")
    columns["m"] = pyarrow.array([None if rng.random() < 0.2 else [(k, rng.choice((None, 1, 2))) for k in keys if rng.random() < 0.5]
                                  for _ in range(rows)], pyarrow.map_(pyarrow.string(), pyarrow.int64()))
    columns["st"] = pyarrow.array([None if rng.random() < 0.1 else {"t": some(rng, lambda: rng.randint(0, 9), 3)}
                                   for _ in range(rows)], pyarrow.struct([("t", pyarrow.list_(pyarrow.int64()))]))
    columns["deep"] = pyarrow.array([[[1, 2], [3]]] * rows)
    return pyarrow.table({"id": pyarrow.array(range(rows), pyarrow.int64()), **columns})


def shown(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


class Beside(SharedMachineTest):
    """Queries beside DuckDB's."""
    profile = ONE_DEVICE

    def write(self, name, data, **options):
        pyarrow.parquet.write_table(data, self.m.path(name), **options)
        return name

    def query(self, sql):
        """The rows of a query: header, then rows of texts."""
        return duck.read_csv(self.m.good("--quiet", "query", sql).decode())

    def same(self, mine, theirs):
        """Both give the same rows, in any order."""
        found = self.query(mine)[1:]
        wanted = duckdb.sql(theirs.replace("FROM '", f"FROM '{self.m.path('')}/")).fetchall()

        self.assertEqual(sorted(tuple("" if v is None else v for v in row) for row in found),
                         sorted(tuple(map(shown, row)) for row in wanted), mine)


@unittest.skipIf(pyarrow is None or duckdb is None, duck.WHY_NOT)
class Nested(Beside):

    def test_whole(self):
        """`*` has all columns but those that are too deep, which are named; lists are JSON."""
        data = table(300, 1)
        self.write("t.parquet", data, row_group_size=70, data_page_size=100, write_batch_size=10)
        done = self.m.run("query", "SELECT * FROM 't.parquet'")
        self.assertEqual(done.code, 0, done.err)
        self.assertIn("1 column is of lists in lists or of an unknown type, and not in the result: deep", done.err)
        rows = duck.read_csv(done.out.decode())
        self.assertEqual(rows[0], ("id", "i", "s", "f", "m", "st.t"))
        for row, line in zip(data.to_pylist(), rows[1:], strict=True):
            found = [None if cell is None else json.loads(cell) for cell in line]
            struct = row["st"]
            self.assertEqual(found, [row["id"], row["i"], row["s"], row["f"], None if row["m"] is None else dict(row["m"]),
                                     None if struct is None else struct["t"]])
        self.m.bad(2, "query", "SELECT deep FROM 't.parquet'", says="column 'deep' cannot be read: it has lists in lists")

    def test_parts(self):
        for seed, options in enumerate(({"row_group_size": 40}, {"data_page_version": "2.0", "use_dictionary": False},
                                        {"data_page_size": 64, "write_batch_size": 3})):
            self.write("t.parquet", table(700, seed), **options)
            for parts in ("len(i), len(s), cardinality(m)", "i[1], i[2], i[-1], i[-3], i[0], i[99]", "s[1], s[-2], f[1], f[-1]",
                          "contains(i, 2), contains(f, 0.5), list_contains(i, 1)", "m['x'], m['none'], m['y']",
                          'len("st.t"), "st.t"[1]'):
                theirs = parts.replace('"st.t"', "st.t")
                self.same(f"SELECT id, {parts} FROM 't.parquet'", f"SELECT id, {theirs} FROM 't.parquet'")
            self.same("SELECT id, contains(s, 'a') AS a, contains(s, '') AS e, contains(s, 'Zoë') AS z FROM 't.parquet'",
                      "SELECT id, list_contains(s, 'a'), list_contains(s, ''), list_contains(s, 'Zoë') FROM 't.parquet'")
            for sql in ("SELECT sum(i[1]) AS s, max(i[-1] * 2) AS m, count(s[1]) AS c, sum(len(f)) AS l FROM 't.parquet'",
                        "SELECT s[1] AS w, count(*) AS c, sum(m['x']) AS x FROM 't.parquet' GROUP BY s[1]",
                        "SELECT id FROM 't.parquet' WHERE len(i) > 2 AND contains(i, 3) AND id > 100",
                        "SELECT id, i[1] AS a FROM 't.parquet' WHERE i[1] > 0 ORDER BY a DESC, id LIMIT 7"):
                self.same(sql, sql)

    def test_last_of_long_texts(self):
        """More texts in one list than its memory may have (512 MiB): only the last ones are kept."""
        words = ["a" * (1 << 20), "", "zz", "end", "x"]
        lists = [[0] * 600 + [1, 2, 0, 3], [4], [2, 0, 3], [0] * 600]
        offsets = [sum(map(len, lists[:i])) for i in range(len(lists) + 1)]
        codes = pyarrow.DictionaryArray.from_arrays(pyarrow.array([code for each in lists for code in each], pyarrow.int32()), words)
        self.write("long.parquet", pyarrow.table({"s": pyarrow.ListArray.from_arrays(offsets, codes)}))
        found = self.query("SELECT len(s) AS n, length(s[-1]) AS a, length(s[-2]) AS b, s[-3] = 'zz' AS c FROM 'long.parquet'")[1:]

        def part(codes, n):
            return words[codes[-n]] if n <= len(codes) else None
        wanted = [(len(codes), len(part(codes, 1)), None if len(codes) < 2 else len(part(codes, 2)),
                   None if len(codes) < 3 else part(codes, 3) == "zz") for codes in lists]
        self.assertEqual(sorted(tuple("" if v is None else v for v in row) for row in found),
                         sorted(tuple(map(shown, row)) for row in wanted))

    def test_computed_numbers(self):
        """Elements whose number is no constant, and slices."""
        for seed, options in enumerate(({"row_group_size": 40}, {"data_page_version": "2.0"})):
            self.write("t.parquet", table(700, seed), **options)
            for parts in ("i[id % 5], i[id % 3 - 3], s[id % 4 + 1], f[id % 2 + 1]", "i[-5000], s[i[1]], i[len(i)]", "sum(i[id % 2 + 1])",
                          "list_contains(i, id % 4 - 2), list_contains(f, (id % 4) / 2)", "max(s[id % 3 + 1])"):
                self.same(f"SELECT {parts} FROM 't.parquet'", f"SELECT {parts} FROM 't.parquet'")
            for part in ("i[1:2]", "i[2:]", "i[:-2]", "i[-2:]", "i[0:1]", "i[3:2]", "s[id % 3:id % 5]", "f[:]", "i[-99:1]"):
                found = [None if cell is None else json.loads(cell) for (cell,) in self.query(f"SELECT {part} AS p FROM 't.parquet'")[1:]]
                wanted = duckdb.sql(f"SELECT {part} FROM '{self.m.path('t.parquet')}'").fetchall()
                self.assertEqual(found, [row[0] for row in wanted], part)

    def test_unnest(self):
        for seed, options in enumerate(({"row_group_size": 64}, {"data_page_version": "2.0"}, {"data_page_size": 64})):
            self.write("t.parquet", table(1500, seed, longest=3000), **options)
            self.same("SELECT unnest(s) AS t, count(*) AS c FROM 't.parquet' GROUP BY t",
                      "SELECT t, count(*) FROM (SELECT unnest(s) AS t FROM 't.parquet') GROUP BY t")
            self.same("SELECT id, unnest(i) AS v, s[1] AS w, len(f) AS n FROM 't.parquet' WHERE v > 1 AND id < 700",
                      "SELECT * FROM (SELECT id, unnest(i) AS v, s[1], len(f) FROM 't.parquet' WHERE id < 700) WHERE v > 1")
            self.same("SELECT sum(unnest(i)) AS s, count(unnest(i)) AS c, max(id) AS m FROM 't.parquet'",
                      "SELECT sum(v), count(v), max(id) FROM (SELECT id, unnest(i) AS v FROM 't.parquet')")
            self.same("SELECT id, unnest(i) AS v FROM 't.parquet' ORDER BY id DESC, v LIMIT 9",
                      "SELECT id, unnest(i) AS v FROM 't.parquet' ORDER BY id DESC, v LIMIT 9")
            rows = self.query("SELECT unnest(f) AS v, id FROM 't.parquet' LIMIT 10")
            self.assertEqual(len(rows), 11)

    def test_unnest_that_nothing_names(self):
        """Lists that are unnested make the rows, also if no expression has their elements."""
        self.write("t.parquet", table(400, 5), row_group_size=64)
        unnested = "WITH t AS (SELECT id, i, unnest(i) AS e FROM 't.parquet') SELECT"
        for rest in ("id FROM t", "count(*) AS c FROM t", "count(*) AS c FROM t WHERE id = 7", "id, count(*) AS c FROM t GROUP BY id",
                     "DISTINCT id FROM t", "id FROM t WHERE id > 300 ORDER BY id DESC LIMIT 20", "max(id) AS m FROM t"):
            self.same(f"{unnested} {rest}", f"{unnested} {rest}")
        self.write("l.parquet", pyarrow.table({"id": [1, 2, 3], "x": pyarrow.array([[1, 2, 3], [], None], pyarrow.list_(pyarrow.int64()))}))
        self.assertEqual(self.query("WITH t AS (SELECT id, unnest(x) AS e FROM 'l.parquet') SELECT id FROM t"), [("id",)] + [("1",)] * 3)

    def test_several_files(self):
        """Lists of i32 and of i64 are lists of i64; a column of nulls has no lists; a column of text is no list."""
        self.write("a.parquet", pyarrow.table({"l": pyarrow.array([[1, 2], None], pyarrow.list_(pyarrow.int32()))}))
        self.write("b.parquet", pyarrow.table({"l": pyarrow.array([[1 << 40]], pyarrow.list_(pyarrow.int64()))}))
        self.write("c.parquet", pyarrow.table({"l": pyarrow.array([None, None], pyarrow.null())}))
        self.write("d.parquet", pyarrow.table({"l": ["text"]}))

        def ask(files, *query):
            return self.m.good("--quiet", "parquet", "query", *files, *query)
        self.assertEqual(ask(["a.parquet", "b.parquet", "c.parquet"], "--select", "sum(l[1]) as s, sum(len(l)) as n"),
                         f"s,n\n{(1 << 40) + 1},3\n".encode())
        self.assertEqual(ask(["a.parquet", "b.parquet", "c.parquet"], "--select", "sum(unnest(l)) as s, count(*) as n"),
                         f"s,n\n{(1 << 40) + 3},3\n".encode())
        self.assertEqual(ask(["a.parquet", "b.parquet"], "--select", "contains(l, 1099511627776) as c"), b"c\nfalse\n\ntrue\n")
        self.assertEqual(ask(["b.parquet", "d.parquet"], "--select", "l"), b"l\n[1099511627776]\ntext\n")
        self.m.bad(1, "parquet", "query", "b.parquet", "d.parquet", "--select", "l[1]", says="'text': the text is not JSON")

    def test_long_names(self):
        """A column with lists whose name leaves no room in a description is not taken for one of text."""
        for name, right in (("n" * 120, b"3"), ("n" * 121, None)):
            self.write("n.parquet", pyarrow.table({"id": [1], name: [[1, 2, 3]]}))
            if right:
                self.assertEqual(self.m.good("--quiet", "query", f"SELECT len({name}) AS l FROM 'n.parquet'"), b"l\n" + right + b"\n")
                continue
            self.m.bad(2, "query", f"SELECT len({name}) AS l FROM 'n.parquet'", says="lists and a name of more than 120 bytes")
            self.assertEqual(self.m.good("--quiet", "query", "SELECT * FROM 'n.parquet'"), b"id\n1\n")

    def test_refused(self):
        self.write("t.parquet", table(5, 1))
        for sql, says in (("m[cast(id as string)]", "expected a constant"), ("i['a']", "an element's number is an integer"), ("len(id)", ""),
                          ("unnest(id)", "unnest takes a list here, or text"), ("contains(i, 'a')", "'i' is list(i32)"),
                          ("m[1]", "'m' is map(string,i64)"), ("unnest(m)", "'m' has maps, and unnest takes lists"),
                          ("unnest(i), unnest(s)", "a query unnests one column"), ("m[1:2]", "[ ] takes a list here"), ("i[1 2]", "']'"),
                          ("unnest(i, 1)", "takes 1 argument"), ("id[1]", "[ ] takes a list here, or text that is an array of JSON")):
            self.m.bad(2, "query", f"SELECT {sql} FROM 't.parquet'", says=says)
        for sql, says in (("id FROM 't.parquet' GROUP BY id HAVING i[-1] > 0", "'i[-1]' has many values in a group"),
                          ("len(s), count(*) FROM 't.parquet'", "'length(s)' has many values in a group"),
                          ("contains(s, 'a'), count(*) FROM 't.parquet'", "as in first(contains(s, 'a'))"),
                          ("id FROM 't.parquet' WHERE m['x'] = 'y'", "'y' is not of type i64, as 'm['x']' is")):
            self.m.bad(2, "query", f"SELECT {sql}", says=says)
        self.m.bad(2, "query", "SELECT * FROM unnest(x)", says="write SELECT unnest(x) FROM")
        Path(self.m.path("t.csv")).write_text("a\n1\n", encoding="utf-8")
        self.m.bad(2, "query", "SELECT unnest(a) FROM 't.csv'", says="unnest takes a list here, or text")

    def test_describe(self):
        self.write("t.parquet", table(50, 1))
        rows = duck.read_csv(self.m.good("--quiet", "describe", "t.parquet").decode())
        self.assertEqual({row[0]: row[1] for row in rows[1:]},
                         {"id": "i64", "i": "list(i32)", "s": "list(string)", "f": "list(f64)", "m": "map(string,i64)",
                          "st.t": "list(i64)", "deep": None})


@unittest.skipIf(pyarrow is None or duckdb is None, duck.WHY_NOT)
class Texts(Beside):
    """Lists that are text: arrays in JSON lines, and JSON in columns of csv and Parquet."""

    def setUp(self):
        super().setUp()
        rng = random.Random(7)
        self.rows = [{"id": i, "i": some(rng, lambda: rng.randint(-3, 3), 40), "s": some(rng, lambda: rng.choice(WORDS), 9),
                      "f": some(rng, lambda: rng.choice((0.5, -1.25, 3.0, 1e300)), 5), "d": some(rng, lambda: f"2024-0{rng.randint(1, 9)}-15", 3),
                      "m": some(rng, lambda: rng.choice((1, "x", [2], {"k": 1}, True)), 3)} for i in range(900)]
        with open(self.m.path("t.jsonl"), "w", encoding="utf-8") as file:
            for i, row in enumerate(self.rows):
                file.write(json.dumps(row, ensure_ascii=i % 2 == 0) + "\n")

    def test_parts(self):
        for parts in ("len(i), len(s), array_length(d)", "i[1], i[2], i[-1], i[-3], i[0], i[99]", "s[1], s[-2], f[1], f[-1], d[1]",
                      "i[id % 5], s[id % 3 - 3]", "list_contains(i, 2), list_contains(f, 0.5), list_contains(d, DATE '2024-02-15')",
                      "i[1] + 1, year(d[1]), f[2] * 2, s[1] || '!'"):
            self.same(f"SELECT id, {parts} FROM 't.jsonl'", f"SELECT id, {parts} FROM 't.jsonl'")
        self.same("SELECT id, contains(s, 'a') AS a, contains(s, 'Zoë') AS z, contains(i, id % 4) AS e FROM 't.jsonl'",
                  "SELECT id, list_contains(s, 'a'), list_contains(s, 'Zoë'), list_contains(i, id % 4) FROM 't.jsonl'")
        for sql in ("SELECT sum(i[1]) AS s, max(i[-1] * 2) AS m, count(s[1]) AS c, sum(len(f)) AS l FROM 't.jsonl'",
                    "SELECT s[1] AS w, count(*) AS c FROM 't.jsonl' GROUP BY s[1]",
                    "SELECT id FROM 't.jsonl' WHERE len(i) > 2 AND list_contains(i, 3) AND id > 100",
                    "SELECT id, i[1] AS a FROM 't.jsonl' WHERE i[1] > 0 ORDER BY a DESC, id LIMIT 7"):
            self.same(sql, sql)
        for part in ("i[1:2]", "s[-2:]", "f[id % 3:]"):
            found = [None if cell is None else json.loads(cell) for (cell,) in self.query(f"SELECT {part} AS p FROM 't.jsonl'")[1:]]
            wanted = duckdb.sql(f"SELECT {part} FROM '{self.m.path('t.jsonl')}'").fetchall()
            self.assertEqual(found, [row[0] for row in wanted], part)

    def test_unnest(self):
        for sql in ("SELECT id, unnest(s) AS t FROM 't.jsonl'", "SELECT id, unnest(i) AS t, s[1] AS w, len(f) AS n FROM 't.jsonl' WHERE id < 500",
                    "SELECT id, unnest(i) AS v FROM 't.jsonl' ORDER BY id DESC, v LIMIT 9", "SELECT id, unnest(d) AS v FROM 't.jsonl'",
                    "SELECT id, unnest(f) AS v FROM 't.jsonl'"):
            self.same(sql, sql)
        self.same("SELECT unnest(s) AS t, count(*) AS c FROM 't.jsonl' GROUP BY t",
                  "SELECT t, count(*) FROM (SELECT unnest(s) AS t FROM 't.jsonl') GROUP BY t")
        self.same("SELECT sum(unnest(i)) AS s, count(unnest(i)) AS c, max(id) AS m FROM 't.jsonl' WHERE unnest(i) > 0",
                  "SELECT sum(v), count(v), max(id) FROM (SELECT id, unnest(i) AS v FROM 't.jsonl') WHERE v > 0")
        self.same("WITH t AS (SELECT id, unnest(i) AS e FROM 't.jsonl') SELECT count(*) AS c FROM t", "SELECT sum(len(i)) FROM 't.jsonl'")

    def test_functions_of_an_unnested_list(self):
        """The rows that are made of one record have its list, whose text is read once: also beside rows without a result."""
        n = 20000
        for name, lists in (("one", [list(range(n))]), ("some", [[1, 2], None, [], [3], [3], [None, 3, 4], [5] * 3000, [7]])):
            with open(self.m.path(f"{name}.jsonl"), "w", encoding="utf-8") as file:
                for i, row in enumerate(lists):
                    file.write(json.dumps({"id": i, "t": row}) + "\n")
        begin = time.monotonic()
        out = self.query("SELECT sum(unnest(t)) AS s, max(len(t)) AS m, max(t[2]) AS e, min(t->>'$[1]') AS j, count(*) FILTER (WHERE list_contains(t, 19999)) AS c FROM 'one.jsonl'")
        self.assertEqual(out[1], (str(sum(range(n))), str(n), "1", "1", str(n)))
        self.assertLess(time.monotonic() - begin, 30, "the time grows with the square of the list")
        self.same("SELECT id, unnest(t) AS v, len(t) AS n, t[1] AS a, t[2] AS b, t[id] AS c, list_contains(t, 3) AS h, list_contains(t, id) AS k FROM 'some.jsonl'",
                  "SELECT id, unnest(t) AS v, len(t), t[1], t[2], t[id], list_contains(t, 3), list_contains(t, id) FROM 'some.jsonl'")

    def write_texts(self):
        """The lists as JSON in csv, tsv and Parquet."""
        texts = {"id": [row["id"] for row in self.rows], "j": [json.dumps({k: v for k, v in row.items() if v is not None}) for row in self.rows],
                 "i": [None if row["i"] is None else json.dumps(row["i"]) for row in self.rows],
                 "s": [None if row["s"] is None else json.dumps(row["s"], ensure_ascii=row["id"] % 2 == 0) for row in self.rows]}
        self.write("x.parquet", pyarrow.table(texts), row_group_size=100)
        duckdb.sql(f"COPY (SELECT * FROM '{self.m.path('x.parquet')}') TO '{self.m.path('x.csv')}' (HEADER)")
        return ("x.csv", "x.parquet")

    def test_json_in_columns(self):
        for name in self.write_texts():
            for parts in ("j->'id', j->>'$.i[0]', j->>'$.s[-1]', j->'$.m'", "json_array_length(j, '$.i'), json_array_length(i), json_type(j, '$.m[0]')",
                          "json_extract_string(j, '/s/0'), i->0, i->>-1, json_exists(j, '$.d'), json_valid(s)", "(j->>'id')::int + 1, j->'m'->0->>0",
                          "json_extract(j, 's') = '[]', json_extract_path_text(j, '$.d[#-1]')"):
                self.same(f"SELECT id, {parts} FROM '{name}'", f"SELECT id, {parts} FROM '{name}'".replace("j->'m'->0->>0", "(j->'m'->0)->>'$[0]'"))
            wanted = [(str(row["id"]), None if value is None else str(value)) for row in self.rows for value in row["i"] or ()]
            self.assertEqual(self.query(f"SELECT id, unnest(i) AS v FROM '{name}'")[1:], wanted)
            found = self.query(f"SELECT id, unnest(s) AS v, s[1] AS a, i[2] AS b, list_contains(i, '3') AS c FROM '{name}' WHERE unnest(s) <> 'a' AND id > 50")
            wanted = [(row["id"], value, row["s"][0], None if row["i"] is None or len(row["i"]) < 2 else row["i"][1],
                       None if row["i"] is None else 3 in row["i"]) for row in self.rows if row["id"] > 50 for value in row["s"] or ()
                      if value not in ("a", None)]
            self.assertEqual([tuple(shown(cell) for cell in row) for row in found[1:]], [tuple(map(shown, row)) for row in wanted])
            n = sum(len(row["s"] or ()) for row in self.rows)
            self.assertEqual(self.query(f"WITH t AS (SELECT id, unnest(s) AS v FROM '{name}') SELECT count(*) AS n FROM t")[1], (str(n),))

    def test_described(self):
        rows = duck.read_csv(self.m.good("--quiet", "describe", "t.jsonl").decode())
        self.assertEqual({row[0]: row[1] for row in rows[1:]}, {"id": "i64", "i": "list(i64)", "s": "list(string)", "f": "list(f64)",
                                                                "d": "list(date)", "m": "list(string)"})

    def test_several_files(self):
        for name, text in (("a", '{"l":[1,2]}\n{"l":null}\n'), ("b", '{"l":[1.5]}\n'), ("c", '{"l":["x"]}\n'), ("n", '{"l":null}\n')):
            Path(self.m.path(f"{name}.jsonl")).write_text(text, encoding="utf-8")

        def ask(files, *query):
            return self.m.good("--quiet", "query", *files, *query)
        self.assertEqual(ask(["a.jsonl", "n.jsonl"], "--select", "sum(l[1]) as s, typeof(min(l[1])) as t"), b"s,t\n1,i64\n")
        self.assertEqual(ask(["a.jsonl", "b.jsonl"], "--select", "sum(l[1]) as s, typeof(min(l[1])) as t"), b"s,t\n2.5,f64\n")
        self.assertEqual(ask(["a.jsonl", "b.jsonl", "c.jsonl"], "--select", "unnest(l) as v"), b"v\n1\n2\n1.5\nx\n")

    def test_hostile(self):
        """Text that is no JSON is an error of its line, or skipped; what is nested too deep is no JSON."""
        for text, says in (('[1, 2', "is not an array of JSON"), ("plain", "'plain' is not an array of JSON"), ('{"a":1}', "is not an array"),
                           ("[" * 600 + "]" * 600, "is not an array"), ('["\\ud800"]', "is not an array"), ("[01]", "is not an array")):
            with open(self.m.path("h.csv"), "w", encoding="utf-8", newline="") as file:
                file.write('id,t\n1,"[""a""]"\n2,"' + text.replace('"', '""') + '"\n3,"[""b""]"\n')
            self.m.bad(1, "query", "SELECT unnest(t) AS v FROM 'h.csv'", says=says)
            done = self.m.run("query", "SELECT id, unnest(t) AS v FROM 'h.csv'", "--on-error", "skip")
            self.assertEqual((done.code, done.out), (0, b"id,v\n1,a\n3,b\n"), done.err)
            self.assertIn("1 record that could not be read was left out", done.err)
            if text[0] != "{":
                self.m.bad(1, "query", "SELECT t[1] AS v FROM 'h.csv'", says="the text is not JSON")
        for path in ("$.", "$[*]", "$.*", "$[", "$.a[99999999999999999999]", "/a$" + "/" * 3 + '$."', "x" * 40000):
            self.assertIn(self.m.run("query", f"SELECT t->'{path}' FROM 'h.csv'").code, (1, 2))
        Path(self.m.path("late.jsonl")).write_text('{"a":[1]}\n' * 66000 + '{"a":["x"]}\n', encoding="utf-8")
        self.m.bad(1, "query", "SELECT sum(unnest(a)) AS s FROM 'late.jsonl'", says="line 66001, column a: element 'x' is not a whole number (i64)")
        self.assertEqual(self.m.good("--quiet", "query", "SELECT count(unnest(a)) AS s FROM 'late.jsonl'", "--schema", "a:string"), b"s\n66001\n")
        Path(self.m.path("code.jsonl")).write_text('{"a":[1]}\n' * 66000 + '{"a":["007"]}\n', encoding="utf-8")
        self.m.bad(1, "query", "SELECT sum(unnest(a)) AS s FROM 'code.jsonl'", says="line 66001, column a: element '007' is written as a code")


if __name__ == "__main__":
    main()
