#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JSON as it is found: documents of every form, fields that only some records or files have, members of several kinds."""
import csv
import gzip
import io
import json
import math
import shutil
import sys
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "oracle"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import duck  # noqa: E402
from duck import duckdb  # noqa: E402
from machine import SharedMachineTest, main  # noqa: E402


def flat(value, name=""):
    """The values that are not null, by their paths; arrays are the text of their JSON."""
    if not isinstance(value, dict):
        if isinstance(value, list):
            value = json.dumps(value, separators=(",", ":"))
        return {} if value is None else {name[1:]: str(value) if isinstance(value, date) else value}
    return {path: v for key, member in value.items() for path, v in flat(member, f"{name}.{key}").items()}


class FilesOfJson(SharedMachineTest):
    """Files of JSON have the columns of all of them, as if they were one. The oracle is DuckDB, which reads them so."""

    def check(self, *files, note="", more=()):
        """Each way in gives the rows that DuckDB reads of the files one after another."""
        if duckdb is None:
            self.skipTest(duck.WHY_NOT)
        folder = Path(self.m.path("many"))
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        names = []
        for i, text in enumerate(files):
            names.append(folder / f"f{i}.{'json' if text.startswith('[') else 'jsonl'}")
            names[-1].write_text(text)
        want = duckdb.execute("select * from read_json($files, union_by_name=true)", {"files": [str(n) for n in names]})
        columns = [column[0] for column in want.description]
        rows = [dict(zip(columns, row)) for row in want.fetchall()]
        for command in ("query", "mapreduce"):
            got = self.m.run(command, *map(str, names), "--select", "*", "--output-format", "json", *more)
            self.assertEqual((got.code, note in got.err if note else got.err), (0, True if note else ""), got)
            self.assertEqual([flat(json.loads(line)) for line in got.out.splitlines()], [flat(row) for row in rows], (command, files))

    def test_fields_of_later_files(self):
        self.check('{"a":1}\n', '{"a":2,"b":3}\n')
        self.check('{"a":{"x":1}}\n', '{"a":{"y":2}}\n', '{"a":null}\n', '{"a":{"x":3,"z":{"k":"t"}}}\n')
        self.check('{}\n', '{"a":"x"}\n')
        self.check('{"a":null,"b":null}\n', '{"b":[1]}\n{"a":{"x":1.5}}\n')
        self.check('{"a":1,"b":"2020-01-01"}\n', '{"c":true,"b":"t"}\n', '{"a":2.5}\n', note="b is text because of values such as 't', but others are dates")
        self.check('{"a":{}}\n{"a":null}\n', '{"a":{"b":1}}\n')
        self.check('{"a":{"b":1}}\n', '{"c":1,"a":{}}\n')

    def test_other_kinds(self):
        """One file with the lines of all gives the same."""
        for lines in (['{"a":{"x":1}}', '{"a":5}'], ['{"a":5}', '{"a":{"x":1}}'], ['{"a":[1]}', '{"a":"t"}'], ['{"a":{"x":1}}', '{"a":[1]}'],
                      ['{"a":[1]}', '{"a":null}', '{"a":7,"b":{"c":1}}', '{"b":{"c":"t"}}'], ['{"a.b":1}', '{"a":2}'],
                      ['{"a":{}}', '{"a":5}'], ['{"a":5}', '{"a":{}}'], ['{"a":{}}', '{"a":null}'], ['{"a":{}}', '{"a":{}}', '{"a":{"b":{"c":1}}}']):
            for i, line in enumerate(lines):
                Path(self.m.path(f"k{i}.jsonl")).write_text(line + "\n")
            Path(self.m.path("one.jsonl")).write_text("\n".join(lines) + "\n")
            one = self.m.run("query", "one.jsonl", "--select", "*")
            many = self.m.run("query", *(f"k{i}.jsonl" for i in range(len(lines))), "--select", "*")
            self.assertEqual((many.code, many.out, many.err), (0, one.out, one.err), lines)

    def test_more_files_than_are_looked_at(self):
        texts = [f'{{"a":{i}}}\n' for i in range(80)]
        self.check(*texts, note="of the files were not looked at for columns")
        self.assertEqual(self.m.run("query", self.m.path("many"), "--select", "a, count(*) as n", "--group-by", "a", "--limit", "1", "--order-by", "a").out, b"a,n\n0,1\n")

    def test_inputs_that_are_not_looked_at(self):
        """Of what libhac reads itself, fields of later inputs are missing, and a note says so."""
        texts = ('[{"a":1}]', '[{"a":2},{"b":3}]')
        for names in ("d0.json", "d1.json"), ("d0.json.gz", "d1.json.gz"):
            for name, text in zip(names, texts):
                Path(self.m.path(name)).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
            got = self.m.run("query", *names, "--select", "*")
            self.assertEqual((got.code, got.out, "1 of the files was not looked at" in got.err), (0, b"a\n1\n2\n\n", True), got)
            got = self.m.run("query", *names, "--schema", "a:i64,b:i64", "--select", "*")
            self.assertEqual((got.code, got.out, got.err), (0, b"a,b\n1,\n2,\n,3\n", ""))

    def test_too_many_names(self):
        for i in range(3):
            Path(self.m.path(f"w{i}.jsonl")).write_text(json.dumps({f"c{i}_{k}": k for k in range(100)}) + "\n")
        self.m.bad(1, "query", "w0.jsonl", "w1.jsonl", "w2.jsonl", "--select", "*", says="more than 256 names")


class JsonDocuments(SharedMachineTest):
    """Arrays of objects, and objects that span lines. The oracle is Python's json module."""

    RECORDS = [{"id": n, "name": f'n{n} "q" [,]{{}}\\ \u00e9\n', "x": None if n % 7 == 0 else n * 0.25, "in": {"k": -n, "l": [n, {"m": []}]}}
               for n in range(500)]

    def forms(self):
        r = self.RECORDS
        return {"minified": json.dumps(r, separators=(",", ":")), "wide": json.dumps(r), "indented": json.dumps(r, indent=2),
                "deep": json.dumps(r, indent=7, ensure_ascii=False).replace("\n", "\r\n"),
                "a line each": "[\n" + ",\n".join(map(json.dumps, r)) + "\n]\n",
                "objects": "\n".join(json.dumps(one, indent=1) for one in r), "close objects": "".join(json.dumps(one, indent=1) for one in r),
                "lines": "".join(json.dumps(one) + "\n" for one in r), "mark": "\ufeff" + json.dumps(r, indent=1),
                "arrays": json.dumps(r[:200], indent=1) + "\n" + json.dumps(r[200:])}

    def put(self, name, text):
        data = text if isinstance(text, bytes) else text.encode()
        Path(self.m.path(name)).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return name

    def test_every_form_in_every_way(self):
        r = self.RECORDS
        ask = ("--schema", "id:i64,name:string,x:f64,in.k:i64".replace("in.k", '"in.k"'), "--select",
               'count() as n, sum(id) as i, sum(x) as x, count(x) as c, sum("in.k") as k, sum(bytes(name)) as b')
        right = "n,i,x,c,k,b\n%d,%d,%r,%d,%d,%d\n" % (
            len(r), sum(o["id"] for o in r), math.fsum(o["x"] or 0 for o in r), sum(o["x"] is not None for o in r),
            sum(o["in"]["k"] for o in r), sum(len(o["name"].encode()) for o in r))
        for form, text in self.forms().items():
            with self.subTest(form):
                for name in (self.put("a.json", text), self.put("a.json.gz", text), self.put("a.ndjson", text)):
                    for command in (("mapreduce",), ("splice",), ("splice", "--split-size", "65536"), ("parquet", "query")):
                        self.assertEqual(self.m.good("-q", *command, name, *ask).decode(), right, command)
                for command in (("mapreduce", "-"), ("splice", "-")):
                    self.assertEqual(self.m.good("-q", *command, "--parse", "jsonl", *ask, data=text.encode()).decode(), right, command)
                got = self.m.run("pipe", "--parse", "jsonl", *ask, data=text.encode())
                self.assertEqual((got.code, got.out.decode()), (0, right.split("\n")[1].replace(",", "\t") + "\n"))
                self.m.good("-q", "parquet", "convert", "a.json", "a.parquet", *ask[:2])
                self.assertEqual(self.m.good("parquet", "query", "a.parquet", *ask[2:]).decode(), right)
                order = self.m.good("-q", "mapreduce", "a.json", *ask[:2], "--select", "name", "--order-by", "id desc",
                                    "--output-format", "json").decode()
                self.assertEqual([json.loads(line)["name"] for line in order.splitlines()], [o["name"] for o in reversed(r)])
                rows = self.m.good("-q", "splice", "a.json", *ask[:2], "--select", "id", "--order-by", "id").decode()
                self.assertEqual(rows.split()[1:], [str(o["id"]) for o in r])
                both = self.m.good("-q", "mapreduce", "a.json", "a.ndjson", *ask[:2], "--select", "sum(id) as s").decode()
                self.assertEqual(both, f"s\n{2 * sum(o['id'] for o in r)}\n")

    def test_inferred(self):
        flat = [{"id": n, "t": f"2020-01-{n + 1:02}", "s": f"s{n}"} for n in range(9)]
        for text in (json.dumps(flat), json.dumps(flat, indent=2)):
            for name in (self.put("f.json", text), self.put("f.json.gz", text)):
                out = self.m.good("-q", "parquet", "query", name, "--select", "sum(id) as s, max(t) + 1 as d")
                self.assertEqual(out, b"s,d\n36,2020-01-10\n")
        self.assertEqual(self.m.good("mapreduce", self.put("none.json", "[]"), "--schema", "a:i64", "--select", "count() as n"), b"n\n0\n")
        self.m.bad(1, "parquet", "query", "none.json", "--select", "count() as n", says="no record to infer")

    def test_errors_name_line_and_column(self):
        cases = {'[\n  {"a": 1},\n  {"a": 2,}\n]\n': "e.json: line 3, column 11: expected a name in quotes",
                 '[\n  {\n    "a": 1\n  }\n  {\n    "a": 2\n  }\n]\n': "e.json: line 5, column 3: expected ',' or ']'",
                 '{\n  "a": 1,\n  "b": "\\q"\n}\n': "e.json: line 3, column 10: a backslash",
                 '[\n  {\n    "a": 1\n  },\n': "e.json: line 5, column 1: the input ends within the array that begins in line 1",
                 '[\n  {\n    "b": 0,\n    "a": 1\n  },\n  {\n    "b": 0,\n    "a": "x"\n  }\n]\n': "e.json: line 6, column a: 'x' is not",
                 '[{"a": 1}, {"a": "x"}]': "e.json (with each record on a line): line 2, column a: 'x' is not",
                 '[{"a": 1}, 5]': "e.json (with each record on a line): line 2: byte 1 of the line: expected an object"}
        for text, says in cases.items():
            for name in (self.put("e.json", text), self.put("e.json.gz", text)):
                for command in ("mapreduce", "splice"):
                    self.m.bad(1, command, name, "--schema", "a:i64", "--select", "sum(a)", says=says.replace("e.json", name))
        text = "[\n" + ",\n".join(f'{{"a": {n if n % 10 else chr(34) + "x" + chr(34)}}}' for n in range(1, 101)) + "\n]\n"
        got = self.m.run("mapreduce", self.put("skip.json", text), "--schema", "a:i64", "--on-error", "skip", "--select", "count() as n, sum(a) as s")
        self.assertEqual((got.code, got.out), (0, b"n,s\n90,%d\n" % sum(n for n in range(1, 101) if n % 10)))
        self.m.bad(1, "mapreduce", self.put("cut.json", text[:-40]), "--schema", "a:i64", "--on-error", "skip", "--select", "count()",
                   says="ends within")
        self.m.bad(2, "mapreduce", "skip.json", "--schema", "a:i64", "--select", "count()", "--detach", says="JSON document")

    def test_escapes_of_fields_that_are_not_read(self):
        for bad, says in (("\\q", "a backslash before a character"), ("\\u12g4", "four hexadecimal digits"), ("\\ud800", "surrogate pair")):
            for text in (f'{{"b": "{bad}", "a": 1}}\n', f'{{"c": [{{"d": "{bad}"}}], "a": 1}}\n', f'{{"{bad}": [1], "a": 1}}\n'):
                for command in ("mapreduce", "splice"):
                    self.m.bad(1, command, self.put("u.jsonl", text), "--schema", "a:i64", "--select", "sum(a)", says=says)
            got = self.m.run("mapreduce", self.put("u.jsonl", text + '{"a": 5}\n'), "--schema", "a:i64", "--on-error", "skip", "--select", "sum(a) as s")
            self.assertEqual((got.code, got.out), (0, b"s\n5\n"))
        self.assertEqual(self.m.good("mapreduce", self.put("u.jsonl", '{"b": "\\ud83d\\ude00\\"\\\\", "a": 1}\n'), "--schema", "a:i64",
                                     "--select", "sum(a) as s"), b"s\n1\n")


class MixedMembers(SharedMachineTest):
    """Members of JSON objects that have several kinds of values."""

    def check(self, records, names, rows, note=None):
        Path(self.m.path("t.jsonl")).write_text("".join(json.dumps(r) + "\n" for r in records))
        for command in ("query", "mapreduce", "splice"):
            got = self.m.run(command, "t.jsonl", "--select", "*")
            self.assertEqual(got.code, 0, got)
            self.assertEqual(list(csv.reader(io.StringIO(got.out.decode()))), [names] + rows, command)
            self.assertEqual(note in got.err if note else got.err == "", True, (command, got.err))

    def test_null_and_objects(self):
        self.check([{"a": 1, "r": None}, {"a": 2, "r": {"ip": "x", "n": 4}}, {"a": 3}, {"a": 4, "r": {}}, {"a": 5, "r": {"ip": None}}],
                   ["a", "r.ip", "r.n"], [["1", "", ""], ["2", "x", "4"], ["3", "", ""], ["4", "", ""], ["5", "", ""]])

    def test_scalars_and_objects(self):
        values = ["text", {"ip": "x", "q": 'a"b'}, 7, None, [1, {"z": 2}], True, {}]
        rows = [["0", "text"], ["1", '{"ip": "x", "q": "a\\"b"}'], ["2", "7"], ["3", ""], ["4", '[1, {"z": 2}]'], ["5", "true"], ["6", "{}"]]
        self.check([{"a": i, "r": v} for i, v in enumerate(values)], ["a", "r"], rows, "r: objects or arrays in some records")
        self.check([{"a": i, "o": {"r": v}} for i, v in enumerate(values)], ["a", "o.r"], rows, "o.r: objects or arrays")

    def test_arrays_are_text(self):
        """In every query and in a file; the oracle is Python's json."""
        values = [["x", "y,\"z\""], [], None, [[1, 2], [3]], [{"c": 1}], [1.5, None]]
        self.check([{"a": i, "l": v, "o": {"m": v}} for i, v in enumerate(values)], ["a", "l", "o.m"],
                   [[str(i), *[json.dumps(v) if v is not None else ""] * 2] for i, v in enumerate(values)])
        self.m.good("-q", "parquet", "convert", "t.jsonl", "l.parquet")
        got = [json.loads(line) for line in self.m.good("query", "SELECT l, \"o.m\" AS m FROM 'l.parquet' WHERE l <> '[]'", "--json").splitlines()]
        self.assertEqual([(json.loads(r["l"]), json.loads(r["m"])) for r in got], [(v, v) for v in values if v])
        for part in ("len(l)", "length(l)", "array_length(l)", "json_array_length(l)", 'len("o.m")'):
            self.assertEqual(self.m.good("-q", "query", "t.jsonl", "--select", f"{part} as n").decode(),
                             "n\n" + "".join(f"{'' if v is None else len(v)}\n" for v in values))
        self.assertEqual(self.m.good("-q", "query", "t.jsonl", "--select", "len(list(a)) as n, list(a)[-1] as l"), b"n,l\n6,5\n")
        right = "".join(f"{len(json.dumps(v)) if v is not None else ''}\n" for v in values)
        self.assertEqual(self.m.good("-q", "query", "t.jsonl", "--schema", "l:string", "--select", "len(l) as n").decode(), "n\n" + right)
        deep = {"v": 1}
        for i in range(9):
            deep = {f"k{i}": deep}
        self.check([{"a": 1, "d": deep}], ["a", "d.k8.k7.k6.k5.k4.k3.k2"], [["1", json.dumps({"k1": {"k0": {"v": 1}}})]])

    def test_names_of_objects(self):
        Path(self.m.path("t.jsonl")).write_text('{"user":{"id":1,"name":"x"}}\n')
        for expression in ("user", "user['id']", "User + 1"):
            self.m.bad(2, "query", f"SELECT {expression} AS u FROM 't.jsonl'", says="is an object; name its members: user.id, user.name")
        self.m.good("-q", "parquet", "convert", "t.jsonl", "u.parquet")
        said = self.m.bad(2, "query", "SELECT user FROM 'u.parquet'", says="is an object; name its members: user.id, user.name")
        self.assertNotIn("--schema", said)
        self.assertEqual(self.m.good("query", """SELECT "user".id AS a, "user"."name" AS b, '"user".id' AS c FROM 't.jsonl' WHERE "user"."id" = 1"""),
                         b'a,b,c\n1,x,"""user"".id"\n')
        self.m.bad(2, "query", """SELECT "user". FROM 't.jsonl'""", says="'.' is not part of an expression")
        self.assertEqual(self.m.good("query", "t.jsonl", "--schema", "user:string", "--select", "user"), b'user\n"{""id"":1,""name"":""x""}"\n')

    def test_members_with_a_dot(self):
        self.check([{"a": 1, "a.b": 2}, {"a": 3, "a.b": 4}], ["a", "a.b"], [["1", "2"], ["3", "4"]])

    def test_names_that_are_also_paths(self):
        """{"a.b":1} and {"a":{"b":2}} are one column only if a schema says so."""
        for head in (1, 70000):
            for first, other, here in (('{"a.b":1}', '{"a":{"b":2}}', "a member of an object here"), ('{"a":{"b":2}}', '{"a.b":1}', "a name with a dot here"),
                                       ('{"a.b":null,"c":1}', '{"a":{"b":2}}', ""), ('{"a":{"b":null}}', '{"a.b":1}', "")):
                Path(self.m.path("t.jsonl")).write_text((first + "\n") * head + other + "\n")
                for command in ("query", "splice"):
                    words = (command, "t.jsonl", "--select", 'count("a.b") as n')
                    if here:
                        self.m.bad(1, *words, says=f"line {head + 1}: byte {len(other.rstrip('}'))} of the line: 'a.b' is {here}")
                    right = b"n\n%d\n" % (1 + (0 if "null" in first else head))
                    self.assertEqual(self.m.good("-q", *words, "--schema", '"a.b":i64'), right, (first, command))
                    if head == 1 and not here:
                        self.assertEqual(self.m.good("-q", *words), right)
        for i, text in enumerate(('{"a.b":1}\n', '{"a":{"b":2}}\n')):
            Path(self.m.path(f"t{i}.jsonl")).write_text(text)
        self.m.bad(1, "query", "t0.jsonl", "t1.jsonl", says="a member of an object")
        self.assertEqual(self.m.good("query", "t0.jsonl", "t1.jsonl", "--schema", '"a.b":i64'), b"a.b\n1\n2\n")

    def test_fields_that_appear_late(self):
        """`*` takes all fields: one that the first records do not have is no loss without a word."""
        head = '{"a":1,"o":{"x":1}}\n' * 70000
        for late, name, kind in (('{"late":"x"}', "late", "string"), ('{"late":-7}', "late", "i64"), ('{"late":1.5}', "late", "f64"), ('{"late":true}', "late", "bool"),
                                 ('{"o":{"y":[1]}}', "o.y", "string"), ('{"o":{"y":{"z":2}}}', "o.y", "string"), ('{"o":5}', "o", "string"), ('{"l\\u0061te":0}', "late", "i64")):
            text = head + late + "\n"
            Path(self.m.path("t.jsonl")).write_text(text)
            Path(self.m.path("t.jsonl.gz")).write_bytes(gzip.compress(text.encode(), 1))
            take = f"--schema '\"{name}\":{kind}'"
            for words, data in ((["query", "t.jsonl"], None), (["splice", "t.jsonl.gz", "--select", "*"], None), (["parquet", "convert", "t.jsonl", "o.parquet"], None),
                                (["query", "SELECT * FROM 't.jsonl' WHERE a IS NULL"], None), (["splice", "-", "--parse", "jsonl", "--select", "*"], text.encode()), (["summarize", "t.jsonl"], None)):
                got = self.m.run("-q", *words, *([] if "convert" in words else ["-o", "out"]), data=data)
                self.assertEqual((got.code, got.out, got.err.count("\n")), (1, b"", 1), got)
                self.assertIn("line 70001", got.err)
                self.assertIn("is no object here" if name == "o" else "none of the first records", got.err)
                self.assertIn(take, got.err)
            for words in (["--schema", f'"{name}":{kind}'], ["--on-error", "skip"], ["--select", "a"], ["--select", "* exclude (a)"]):
                self.assertEqual(len(self.m.good("-q", "query", "t.jsonl", *words).splitlines()), 70002, words)
        for late in ('{"late":null}', '{"late":{}}', '{"o":{"late":null}}', '{"o":null}'):
            Path(self.m.path("t.jsonl")).write_text(head + late + "\n")
            self.assertEqual(len(self.m.good("-q", "query", "t.jsonl").splitlines()), 70002)
        Path(self.m.path("t.log")).write_text("a=1 b=2\n" * 70000 + "a=2 late=\na=3 late=7\n")
        self.m.bad(1, "query", "t.log", "--parse", "logfmt", says="line 70002: byte 11 of the line: none of the first records, from which the columns are inferred, has a field \"late\"")

    def test_member_of_mixed(self):
        """The message says what to type, and that works."""
        Path(self.m.path("t.jsonl")).write_text('{"r":{"ip":"x","o":{"n":1}}}\n{"r":"y"}\n')
        for command in ("query", "mapreduce", "splice"):
            for name in ("r.ip", "r.o.n"):
                self.m.bad(2, command, "t.jsonl", "--select", f"{name} as i", says=f"for its member say --schema '{name}:string'")
            self.m.bad(2, command, "t.jsonl", "--select", "rr as i", says="unknown column 'rr'; there are: r")
            self.assertEqual(self.m.good("-q", command, "t.jsonl", "--schema", "r.ip:string", "--select", "r.ip as i"), b"i\nx\n\n")

    def test_whole_and_member(self):
        """An object is read whole and by its members in one query: reading a member with escapes leaves the whole alone."""
        lines = ['{"r":{"ip":"x\\u00e9\\n","o":{"n":1}},"k":1}', '{"r":"y\\t","k":2}', '{"r":{"o":{}},"r.ip":"lit"}', '{"r":null}', '{"k":5}', '{"r":{"o":{"n":7}, "ip" : "z"}}']
        Path(self.m.path("t.jsonl")).write_text("\n".join(lines) + "\n")
        whole = ['{"ip":"x\\u00e9\\n","o":{"n":1}}', "y\t", '{"o":{}}', None, None, '{"o":{"n":7}, "ip" : "z"}']
        want = [[w, ip, o, n] for w, ip, o, n in zip(
            whole, ["x\u00e9\n", None, "lit", None, None, "z"], ['{"n":1}', None, "{}", None, None, '{"n":7}'], [1, None, None, None, None, 7])]
        for command in ("query", "mapreduce", "splice"):
            got = self.m.good("-q", command, "t.jsonl", "--schema", "r:string,r.ip:string,r.o:string,r.o.n:i64", "--select", "r, r.ip, r.o, r.o.n as n", "--output-format", "json")
            self.assertEqual([list(json.loads(line).values()) for line in got.decode().splitlines()], want)
        self.assertEqual(self.m.good("-q", "query", "t.jsonl", "--schema", "r.ip:string", "--select", "r.ip as i, length(r) as n").splitlines()[3], b",2")
        Path(self.m.path("t.jsonl")).write_text('{"a":"x","a.b":3}\n{"a":"y","a.b":4}\n')
        self.assertEqual(self.m.good("query", "t.jsonl", "--schema", "a:string,a.b:i64", "--select", "a, a.b as b"), b"a,b\nx,3\ny,4\n")

    def test_given_types(self):
        """Behind the first records, and where a schema says what there is."""
        Path(self.m.path("t.jsonl")).write_text('{"r":1}\n{"r":{"x":[2]}}\n{"r":[3]}\n')
        self.assertEqual(self.m.good("query", "t.jsonl", "--schema", "r:string", "--select", "r"), b'r\n1\n"{""x"":[2]}"\n[3]\n')
        self.m.bad(1, "query", "t.jsonl", "--schema", "r:i64", "--select", "r", says="line 2, column r: '{\"x\":[2]}' is not a whole number")
        self.assertEqual(self.m.good("-q", "query", "t.jsonl", "--schema", "r:i64", "--on-error", "skip", "--select", "sum(r) as s").split()[1], b"1")
        Path(self.m.path("t.jsonl")).write_text('{"r":1}\n{"r":{"x":[2}}\n')
        self.m.bad(1, "query", "t.jsonl", "--schema", "r:string", "--select", "r", says="expected ',' or ']'")


if __name__ == "__main__":
    main()
