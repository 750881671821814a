#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Numbers and dates as they are written elsewhere: decimal commas, separators of thousands, days before months."""
import csv
import gzip
import io
import itertools
import random
import sys
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SharedMachineTest, main  # noqa: E402


class Forms(SharedMachineTest):
    """Numbers and dates as they are written elsewhere: Python's Decimal and datetime are the oracle."""

    @staticmethod
    def grouped(value, comma, separator):
        return f"{value:,.{0 if isinstance(value, int) else 2}f}".replace(",", "\0").replace(".", "," if comma else ".").replace("\0", separator)

    def test_random(self):
        """Files, pipes and gzip; queries, sorts, conversion: the same values, and a line that says what was found."""
        dice = random.Random(3412)
        for comma, separator, dates, option in ((True, ".", "%d.%m.%Y", "--decimal comma --thousands point --dates dmy"), (False, ",", "%m/%d/%Y", "--thousands comma --dates mdy"),
                                                (True, "\u202f", "%d/%m/%Y", "--decimal comma --thousands space --dates dmy"), (False, "'", "%d-%m-%Y", "--thousands apostrophe --dates dmy")):
            rows = [(Decimal(dice.randrange(-10**9, 10**9)) / 100, dice.randrange(10**7), date(2000, 1, 1) + timedelta(dice.randrange(9000))) for _ in range(2000)]
            text = "m;n;d\n" + "".join(f"{self.grouped(m, comma, separator)};{self.grouped(n, comma, separator)};{d.strftime(dates)}\n" for m, n, d in rows)
            Path(self.m.path("t.csv")).write_text(text)
            Path(self.m.path("t.csv.gz")).write_bytes(gzip.compress(text.encode()))
            want = f"s,t,a,z\n{sum(m for m, _, _ in rows):.2f},{sum(n for _, n, _ in rows)},{min(d for _, _, d in rows)},{max(d for _, _, d in rows)}\n"
            select = ["--select", "sum(m) as s, sum(n) as t, min(d) as a, max(d) as z"]
            for words, data in ((["query", "t.csv"], None), (["splice", "t.csv.gz"], None), (["query", "-", "--parse", "csv"], text.encode())):
                result = self.m.run(*words, *select, data=data)
                self.assertEqual((result.code, result.out.decode()), (0, want), (words, result.err))
                self.assertIn(f"look like --delimiter ';' {option}; say", result.err)
            self.m.good("-q", "parquet", "convert", "t.csv", "t.parquet")
            self.assertEqual(self.m.good("-q", "query", "t.parquet", *select).decode(), want)
            lines = text.splitlines()[1:]
            for key, of in (("m", lambda i: rows[i][0]), ("n", lambda i: rows[i][1]), ("d", lambda i: rows[i][2])):
                got = self.m.good("-q", "sort", "t.csv", "--key", key).decode()
                self.assertEqual([r for r in csv.reader(io.StringIO(got))][1:], [lines[i].split(";") for i in sorted(range(len(rows)), key=of)])

    def test_plain_before_separated(self):
        """Values without a separator before the first one with it."""
        Path(self.m.path("late.csv")).write_text('name,amount\na,950.00\nb,"1,234.50"\nc,7.25\n')
        for words in ((), ("--thousands", "comma")):
            self.assertEqual(self.m.run("query", "late.csv", "--select", "sum(amount) as s", *words).out, b"s\n2191.75\n")
        Path(self.m.path("text.csv")).write_text("a\n1.5\n2.25\nabc\n")
        self.assertEqual(self.m.run("query", "text.csv", "--order-by", "a").out, b"a\n1.5\n2.25\nabc\n")

    def test_unclear(self):
        """What could be read in several ways is text, and a line names the option; with it, the values are right."""
        Path(self.m.path("t.csv")).write_text("n;d;x\n1,234;01/02/2024;1\n2,500;03/04/2024;2\n")
        result = self.m.run("query", "t.csv", "--select", "n, d")
        self.assertEqual((result.code, result.out), (0, b'n,d\n"1,234",01/02/2024\n"2,500",03/04/2024\n'))
        self.assertIn("n: text that may be numbers; say --decimal comma or --thousands if it is; d: text that may be dates; say --dates dmy or --dates mdy if it is", result.err)
        self.assertNotIn("may be", self.m.run("query", "t.csv", "--select", "x").err)
        for words, want in ((("--decimal", "comma"), "3.734"), (("--thousands", "comma"), "3734"), (("--decimal", "point"), "3734")):
            self.assertEqual(self.m.good("-q", "query", "t.csv", *words, "--select", "sum(n) as s").decode(), f"s\n{want}\n")
        for order, want in (("dmy", "2024-02-01"), ("mdy", "2024-01-02")):
            self.assertEqual(self.m.good("-q", "query", "t.csv", "--dates", order, "--select", "min(d) as m").decode(), f"m\n{want}\n")
        self.m.bad(2, "query", "t.csv", "--thousands", "point", "--select", "n", says="the point is the decimal sign")
        self.m.bad(1, "query", "t.csv", "--schema", "n:f64,d:date,x:i64", "--infer", "off", "--select", "sum(n)", says="line 2, column n: '1,234' is not a number (f64); --decimal comma reads it")
        self.m.bad(1, "query", "t.csv", "--schema", "n:f64,d:date,x:i64", "--infer", "off", "--select", "min(d)", says="'01/02/2024' is not a date like 2020-01-31 (date); --dates dmy reads it")
        Path(self.m.path("t.jsonl")).write_text('{"d":"31/12/2024","n":"12,5","v":1.5}\n')
        self.assertEqual(self.m.good("-q", "query", "t.jsonl", "--select", "d + 1 as d, n, v"), b'd,n,v\n2025-01-01,"12,5",1.5\n')
        self.m.bad(2, "query", "t.jsonl", "--decimal", "comma", "--select", "v", says="this is an option of csv, tsv, logfmt")
        Path(self.m.path("t.logfmt")).write_text("took=1,5 at=31.12.2024\ntook=2,25 at=01.01.2025\n")
        self.assertEqual(self.m.good("-q", "query", "t.logfmt", "--select", "sum(took) as s, max(at) as m"), b"s,m\n3.75,2025-01-01\n")

    def test_several_files(self):
        """One form for all files: the second one shows it; a file of another form is an error."""
        texts = ["n;d\n7;01/02/2024\n", "n;d\n12,5;31/12/2024\n", "n;d\n0.5;31/12/2024\n"]
        for i, text in enumerate(texts):
            Path(self.m.path(f"t{i}.csv")).write_text(text)
        self.assertEqual(self.m.good("-q", "query", "t1.csv", "t0.csv", "--select", "sum(n) as s"), b"s\n19.5\n")
        self.assertEqual(self.m.good("-q", "query", "t0.csv", "t1.csv", "--select", "sum(n) as s"), b"s\n19.5\n")
        for i, text in enumerate(["m;n;d\n1;7,5;12/31/2024\n", "n\n1.234\n", "n\n1,234,567.5\n", "n\n1 234,5\n"]):
            Path(self.m.path(f"u{i}.csv")).write_text(text)
        for files, column, one, other in (("t1 t2", "n", "--decimal comma reads it in t1.csv", "--decimal point in t2.csv"),
                                          ("t2 t1", "n", "--decimal point reads it in t2.csv", "--decimal comma in t1.csv"),
                                          ("t0 t2 t1", "n", "--decimal point reads it in t2.csv", "--decimal comma in t1.csv"),
                                          ("t1 u0", "d", "--dates dmy reads it in t1.csv", "--dates mdy in u0.csv"),
                                          ("u0 t0 t1", "d", "--dates mdy reads it in u0.csv", "--dates dmy in t1.csv"),
                                          ("u2 u3", "n", "--decimal point reads it in u2.csv", "--decimal comma in u3.csv")):
            names = [f"{name}.csv" for name in files.split()]
            message = self.m.bad(1, "query", *names, "--delimiter", ";", "--select", f"max({column})", says=f"column '{column}': {one}, and {other}")
            self.assertIn("query such files one after the other", message)
            self.assertEqual(self.m.run("query", *names, "--delimiter", ";", "--select", "count() as n").out, f"n\n{len(names)}\n".encode())
            self.assertEqual(self.m.run("query", *names, "--delimiter", ";", "--schema", f"{column}:string", "--select", f"count({column}) as n").code, 0)
        self.assertEqual(self.m.good("-q", "query", "t1.csv", "u1.csv", "--delimiter", ";", "--select", "sum(n) as s"), b"s\n1246.5\n")  # as in one file

    def test_order_of_values(self):
        """The type of a column is that of its values in any order, in one file and in several."""
        for values in (["2024-01-05", "31.12.2024", "01.02.2024"], ["2024-01-05 10:00", "12/31/2024", "2024/1/6"], ["1", "2.5", "9007199254740993"], ["1", "NA", "3"],
                       ["7", "1,5", "1.234"], ["true", "1", ""], ["2024-02-30", "2024-01-01", "5"], ["9223372036854775808", "1", "2"], ["1.50", "2", "2.25"],
                       ["0.5", "1,234"], ["0.1", "1 234"], ["0.5", "1,234", "1 234"], ["0.5", "nan"], ["nan", "inf", "7"], ["nan", "-inf"], ["1,5", "nan", "1.234"],
                       ["13.04.2024", "04/05/2024"], ["13.04.2024", "13/04/2024"], ["13.04.2024", "04.05.2024", "2024-01-01"], ["1.5", "13.04.2024"],
                       ["1.5", "2,5", "hello"], ["9007199254740993", "1.5", "nan"], ["13/04/2024", "04/13/2024", "x"]):
            found = {}
            for order in itertools.permutations(values):
                for name, text in (("t.csv", "k;v\n" + "".join(f"1;{v}\n" for v in order)), *((f"v{i}.csv", f"k;v\n1;{v}\n") for i, v in enumerate(order))):
                    Path(self.m.path(name)).write_text(text)
                for names in (["t.csv"], [f"v{i}.csv" for i in range(len(order))]):
                    got = self.m.run("query", *names, "--delimiter", ";", "--select", "v, typeof(v) as t", "--order-by", "v, t")
                    self.assertEqual(got.code, 0, got)
                    found.setdefault(got.out, (order, names))
            self.assertEqual(len(found), 1, found)

    def test_columns_of_several_files(self):
        """Lines in one file or in several: a form that one column has holds for the others in the same way."""
        for lines in (["13/04/2024;;", ";04/13/2024;01/02/2024"], ["0.5;;", ";1,234;"], ["12,5;;", ";1.234;"], ["12,5;1.234,5;", "7;;1.234"], ["13.04.2024;;", ";04/05/2024;04.05.2024"],
                      ["13.04.2024;;", ";13/04/2024;", ";;01.02.2024", ";;01/02/2024"], ["1.5;1,5;", "x;;"], ["12,5;;", ";0.5;1.234"], ["12,5;0.5;", "7,25;1.5;3"], ["1'234.5;;", ";1'234;1 234"], ["1,5;x;1", "2.5;;", "y;;"]):
            found = set()
            Path(self.m.path("t.csv")).write_text("a;b;c\n" + "".join(f"{line}\n" for line in lines))
            for i, line in enumerate(lines):
                Path(self.m.path(f"t{i}.csv")).write_text(f"a;b;c\n{line}\n")
            for names in (["t.csv"], *itertools.permutations(f"t{i}.csv" for i in range(len(lines)))):
                got = self.m.run("query", *names, "--delimiter", ";", "--select", "*, typeof(a) as ta, typeof(b) as tb, typeof(c) as tc", "--order-by", "a, b, c")
                self.assertEqual(got.code, 0, (lines, got))
                found.add(got.out)
            self.assertEqual(len(found), 1, (lines, found))
        name = "n" * 127  # which leaves the description no space for more
        for i, value in enumerate(["9007199254740993", "1.5"]):
            Path(self.m.path(f"t{i}.csv")).write_text(f"{name}\n{value}\n")
        self.assertEqual(self.m.good("-q", "query", "t0.csv", "t1.csv", "--select", f"max({name}) as m"), b"m\n9007199254740993\n")

    def test_text_among_numbers(self):
        """What makes a column of numbers text is said wherever the column is used, and nowhere else."""
        text = "id,n,code\n1,10,007\n2,NA,12\n3,9,13\n"
        Path(self.m.path("t.csv")).write_text(text)
        Path(self.m.path("t.csv.gz")).write_bytes(gzip.compress(text.encode()))
        note = "n is text because of values such as 'NA', but others are numbers; say --null 'NA' if that is null, or list it in --schema as a string"
        for words, data in ((["query", "t.csv", "--select", "max(n)"], None), (["splice", "t.csv.gz", "--select", "max(n)"], None), (["mapreduce", "t.csv", "--select", "*", "--order-by", "n"], None),
                            (["query", "-", "--parse", "csv", "--select", "max(n)"], text.encode()), (["sort", "t.csv", "--key", "n"], None),
                            (["parquet", "convert", "t.csv", "t.parquet"], None)):
            got = self.m.run(*words, data=data)
            self.assertEqual((got.code, note in got.err, "code is" in got.err), (0, True, False), (words, got))
        for words in (["query", "t.csv", "--select", "max(id), max(code)"], ["sort", "t.csv", "--key", "id"], ["query", "t.csv", "--schema", "n:string", "--select", "max(n)"]):
            self.assertEqual(self.m.run(*words).err, "", words)
        self.assertEqual(self.m.good("query", "t.csv", "--null", "NA", "--select", "max(n) as n"), b"n\n10\n")
        Path(self.m.path("t.jsonl")).write_text('{"n":1}\n{"n":2}\n{"n":"n/a"}\n')
        self.assertIn("n is text because of values such as 'n/a', but others are numbers; list it in --schema as a string", self.m.run("query", "t.jsonl", "--select", "max(n)").err)
        for value, words in (("NA", "NULL,NA"), ("none of that at all or is it", None), ("x" * 30, None), ('"NA"', None), ("it's", None), (" NA", None)):
            Path(self.m.path("w.csv")).write_text(f"n,m\n1,NULL\n2,1\n{value},\n")
            told = self.m.run("query", "w.csv", "--null", "NULL", "--select", "max(n) as n, max(m) as m").err
            self.assertEqual("--null" in told, words is not None, told)
            self.assertIn("list it in --schema as a string", told)
            if words is not None:
                self.assertIn(f"say --null '{words}' if that is null, or list", told)
                self.assertEqual(self.m.good("query", "w.csv", "--null", words, "--select", "max(n) as n, max(m) as m"), b"n,m\n2,1\n")
        Path(self.m.path("k.csv")).write_text("a,data\n1,1\n2,2\n3,3\nNA,4\n")
        self.assertEqual(self.m.run("sort", "k.csv", "--key", "data").err, "")
        self.assertIn("a is text because", self.m.run("sort", "k.csv", "--key", "A desc, data").err)
        for i, text in enumerate(["n,m\n,1\n", "n,m\n1,2\n2,3\nNA,4\n"]):
            Path(self.m.path(f"e{i}.csv")).write_text(text)
        for names in (["e0.csv", "e1.csv"], ["e1.csv", "e0.csv"]):
            self.assertIn("n is text because of values such as 'NA'", self.m.run("query", *names, "--select", "max(n)").err)
        Path(self.m.path("t.csv")).write_text("n\n1.234.567\n")
        self.assertIn("n: text that may be numbers; say --decimal comma if it is", self.m.run("query", "t.csv", "--select", "max(n)").err)
        self.assertEqual(self.m.good("-q", "query", "t.csv", "--decimal", "comma", "--select", "max(n) as n"), b"n\n1234567\n")

    def test_commas_as_delimiters(self):
        """A decimal comma is not taken for the delimiter of fields."""
        Path(self.m.path("t.csv")).write_text("1,5;2,25\n3,5;4,75\n")
        self.assertEqual(self.m.good("-q", "query", "t.csv", "--select", "sum(c1) as a, sum(c2) as b"), b"a,b\n5.0,7.00\n")
        Path(self.m.path("t.csv")).write_text("1,5,2\n3,6,4\n")
        self.assertEqual(self.m.good("-q", "query", "t.csv", "--select", "sum(c1) as a, sum(c2) as b, sum(c3) as c"), b"a,b,c\n4,11,6\n")
        Path(self.m.path("t.csv")).write_text("a,x;y\n1,p;q\n")
        self.assertEqual(self.m.good("-q", "query", "t.csv", "--select", "*"), b"a,x;y\n1,p;q\n")


if __name__ == "__main__":
    main()
