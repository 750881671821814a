#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""csv and tsv with other quotes, with escapes and with comments, against Python's csv module, which writes them and reads them
back. Every command that reads rows gives the same rows, from files, pipes in pieces and compressed input.

A random case is named by its seed alone: HAC_TEST_FIRST=SEED HAC_TEST_COUNT=1 runs it again.
"""
import csv
import gzip
import io
import os
import random
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import SharedMachineTest, main  # noqa: E402

PARTS = ("", "a", "B", " ", "0", "-1", "1.5", "é", "日本", ",", ";", "|", "\t", "\n", "\r\n", '"', '""', "'", "''", "\\", "^",
         "NULL", "#", "# x", "long " * 40)


def seeds(first, count):
    first = int(os.environ.get("HAC_TEST_FIRST", first))
    return range(first, first + int(os.environ.get("HAC_TEST_COUNT", count)))


class Table:
    """Random rows as Python writes them in a random dialect, with comments between records. `rows` is None where null."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.delimiter = rng.choice(",,;|\t")
        self.quote = rng.choice("\"''^~")
        self.escape = rng.choice((None, "\\", "\\", "`"))
        self.double = self.escape is None or rng.random() < 0.5
        self.comment = rng.choice((None, "#", "#", "%"))
        self.quoting = rng.choice((csv.QUOTE_ALL, csv.QUOTE_MINIMAL, csv.QUOTE_MINIMAL, csv.QUOTE_NONE))
        if self.escape is None and self.quoting == csv.QUOTE_NONE:
            self.quoting = csv.QUOTE_ALL
        self.end = rng.choice(("\n", "\n", "\r\n"))
        n, count = rng.choice((2, 3, 7)), rng.choice((1, 5, 40, 400))
        self.names = [f"c{i}" for i in range(n)]
        texts = [["".join(rng.choice(PARTS) for _ in range(rng.choice((0, 1, 1, 2, 4)))) for _ in range(n)] for _ in range(count)]
        self.rows, pieces = [], [self.write(self.names)]
        for texts_of_row in texts:
            piece = self.write(texts_of_row)
            if self.comment is not None and piece.startswith(self.comment):
                continue  # such a record is a comment
            if self.read(piece) != [texts_of_row]:
                continue  # Python cannot read what it wrote
            pieces.append(piece)
            self.rows.append([None if v == "" and self.quoting != csv.QUOTE_ALL else v for v in texts_of_row])
        if self.comment is not None:
            for _ in range(rng.choice((1, 3, 20))):
                pieces.insert(rng.randrange(len(pieces) + 1), f"{self.comment} {rng.choice(PARTS)}".splitlines()[0] + self.end)
        text = "".join(pieces)
        if rng.random() < 0.3:
            text = text[:-len(self.end)]
        self.bytes = text.encode()

    def dialect(self):
        return dict(delimiter=self.delimiter, quotechar=self.quote, escapechar=self.escape, doublequote=self.double,
                    quoting=self.quoting, lineterminator=self.end)

    def write(self, row):
        out = io.StringIO()
        csv.writer(out, **self.dialect()).writerow(row)
        return out.getvalue()

    def read(self, text):
        try:
            return list(csv.reader(io.StringIO(text, newline=""), strict=True, **self.dialect()))
        except csv.Error:
            return None

    def options(self):
        words = ["--delimiter", "\\t" if self.delimiter == "\t" else self.delimiter, "--header", "--infer", "off", "--quote",
                 "none" if self.quoting == csv.QUOTE_NONE else self.quote, "--escape", self.escape or "none"]
        return words + (["--comment", self.comment] if self.comment else [])


class DialectCase(SharedMachineTest):
    def put(self, name, data):
        Path(self.m.path(name)).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def rows(self, *words, data=None):
        result = self.m.run(*words, data=data)
        self.assertEqual(result.code, 0, (words, result))
        table = duck.read_csv(result.out.decode())
        return list(table[0]), table[1:], result.err

    def same(self, got, wanted, what):
        got, wanted = Counter(map(tuple, got)), Counter(map(tuple, wanted))
        self.assertEqual(got, wanted, f"{what}: too many {list((got - wanted).items())[:3]}, missing "
                                      f"{list((wanted - got).items())[:3]}")

    def check(self, seed):
        t = Table(seed)
        what, options = f"seed {seed} {t.dialect()} comment {t.comment}", t.options()
        self.put("t.csv", t.bytes)
        self.put("t.csv.gz", gzip.compress(t.bytes))
        select = ("--select", "*")
        ways = [("query", ("query", "t.csv", *options), None), ("gz", ("query", "t.csv.gz", *options), None),
                ("pipe", ("mapreduce", "-", "--parse", "csv", *select, *options), t.bytes),
                ("splice", ("splice", "t.csv", *select, *options), None),
                ("sort", ("sort", "t.csv", "--input-format", "csv", "--key", "c0", *options), None)]
        for name, words, data in t.rng.sample(ways, 3):
            names, rows, _ = self.rows(*words, data=data)
            self.assertEqual(names, t.names, (what, name))
            self.same(rows, t.rows, f"{what} by {name}")
        self.m.good("parquet", "convert", "t.csv", "t.parquet", *options)
        _, rows, _ = self.rows("query", "t.parquet")
        self.same(rows, t.rows, f"{what} by convert")
        os.unlink(self.m.path("t.parquet"))


class Quick(DialectCase):
    def test_random(self):
        for seed in seeds(1, 6):
            self.check(seed)

    def test_found(self):
        head = "# made by a machine\n# in 2024\n"
        self.put("q.csv", head + "id;name;n\n1;'Ann; B';'3'\n2;'it''s';'4'\n")
        names, rows, said = self.rows("query", "q.csv")
        self.assertEqual((names, rows), (["id", "name", "n"], [("1", "Ann; B", "3"), ("2", "it's", "4")]))
        self.assertIn("the first records look like --delimiter ';' --quote \"'\" --comment '#'; say --delimiter or --quote '\"' or "
                      "--comment none if that is wrong", said)
        self.put("e.csv", 'a,b\n"say \\"hi\\" now",1\n"x",2\n')
        names, rows, said = self.rows("query", "e.csv", "--where", "b < 5")
        self.assertEqual(rows, [('say "hi" now', "1"), ("x", "2")])
        self.assertIn("look like --escape '\\'", said)
        self.put("m.csv", "a;b\n'x;y';1\nit's;2\n")
        self.assertEqual(self.rows("query", "m.csv")[1], [("x;y", "1"), ("it's", "2")])
        for data in ("a,b\n1,it's\n2,'tis\n", "#id,name\n1,a\n2,b\n", "a,b\n'x',1\ny,2\n", 'a,b\n"x",\'1\'\n"y",\'2\'\n'):
            self.put("n.csv", data)
            self.assertNotIn("--", self.rows("query", "n.csv")[2], data)
        self.put("q.csv.gz", gzip.compress(Path(self.m.path("q.csv")).read_bytes()))
        for words in (("query", "q.csv.gz"), ("splice", "q.csv", "--select", "*"), ("query", "-", "--parse", "csv")):
            data = Path(self.m.path("q.csv")).read_bytes() if "-" in words else None
            self.assertEqual(self.rows(*words, data=data)[1], [("1", "Ann; B", "3"), ("2", "it's", "4")], words)
        self.assertEqual(self.rows("query", "q.csv", "--quote", '"')[1], [("1;'Ann; B';'3'",), ("2;'it''s';'4'",)])

    def test_streams_with_a_schema(self):
        """They are read as they are told; a line says what they look like."""
        data = b"#x\nid;name\n1;'a;b'\n2;'c'\n"
        schema = ("--schema", "id:i64,name:string")
        result = self.m.run("query", "-", "--parse", "csv", *schema, data=data)
        self.assertIn("the first records look like --delimiter ';' --quote \"'\" --comment '#'; say that if it is right", result.err)
        self.assertNotEqual((result.code, result.out), (0, b"id,name\n1,a;b\n2,c\n"))
        told = ("--delimiter", ";", "--quote", "'", "--comment", "#")
        for words in (told, (*told, "--header")):
            result = self.m.run("query", "-", "--parse", "csv", *schema, *words, data=data)
            self.assertEqual((result.code, result.out, result.err), (0, b"id,name\n1,a;b\n2,c\n", ""), words)
        result = self.m.run("query", "-", "--parse", "csv", *schema, data=b"id,name\n1,'a'\n2,'c'\n")
        self.assertEqual((result.code, result.out), (0, b"id,name\n1,'a'\n2,'c'\n"))
        self.assertIn("look like --quote \"'\"; say that", result.err)
        for some in (b"id,name\n1,it's\n2,c\n", b"id,name\n1,a\n", b'id,name\n1,"a"\n2,\'c\'\n', b"id,name\n", b""):
            self.assertNotIn("look like", self.m.run("query", "-", "--parse", "csv", *schema, data=some).err, some)
        self.put("q.csv", data)  # a file is read so, with a schema too
        names, rows, said = self.rows("query", "q.csv", *schema)
        self.assertEqual((names, rows), (["id", "name"], [("1", "a;b"), ("2", "c")]))
        self.assertIn("if that is wrong", said)

    def test_errors_name_lines_and_options(self):
        self.put("b.csv", "#x\na,b\n1,2\n#y\n3,z\n")
        result = self.m.run("query", "b.csv", "--comment", "#", "--schema", "b:i64")
        self.assertIn("b.csv: line 5", result.err)
        self.put("o.csv", "#x\na\n1\n#y\nz\n")
        self.assertIn("o.csv (without its comments): line 3", self.m.run("query", "o.csv", "--comment", "#", "--schema", "a:i64").err)
        self.put("u.csv", "a,b\n'1,2\n3,4\n")
        self.assertIn("u.csv: line 2: the quoted field that begins here has no closing quote",
                      self.m.run("query", "u.csv", "--quote", "'").err)
        for words, says in ((("--quote", "ab"), "--quote: 'ab' is not possible; allowed: one character that is no letter"),
                            (("--quote", ",", "--delimiter", ","), "--quote: ',' is the delimiter; say another, or none"),
                            (("--comment", '"'), "--comment: '\"' is the quote"), (("--escape", ","), "--escape: ',' is the delimiter"),
                            (("--comment", "#", "--detach"), "--detach is not possible with another quote")):
            result = self.m.run("query", "b.csv", *words)
            self.assertEqual(result.code, 2, result)
            self.assertIn(says, result.err)
        self.assertIn("this is an option of csv, tsv", self.m.run("query", "-", "--parse", "jsonl", "--quote", "'", data=b"{}").err)

    def test_large(self):
        """Records over all boundaries of reads, pieces and splits."""
        rng = random.Random(5)
        rows = [[str(i), "'".join(rng.choice(("x", "é", '"', "\n", ",")) * rng.randrange(1, 30) for _ in range(3))] for i in range(30000)]
        out = io.StringIO()
        csv.writer(out, quotechar="'", quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([["i", "s"], *rows])
        self.put("l.csv", out.getvalue())
        for words in (("query", "l.csv"), ("splice", "l.csv", "--select", "*", "--split-size", "64KiB")):
            self.same(self.rows(*words, "--quote", "'", "--infer", "off")[1], rows, words)
        _, got, _ = self.rows("query", "SELECT count(*), sum(length(s)) FROM 'l.csv'", "--quote", "'")
        self.assertEqual(got, [(str(len(rows)), str(sum(len(s) for _, s in rows)))])


class Generated(DialectCase):
    def test_random(self):
        for seed in seeds(1000, 60):
            self.check(seed)


if __name__ == "__main__":
    main()
