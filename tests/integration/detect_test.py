#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Delimiter and header of csv and tsv that no option names. The oracle is the generator of the tables, which Python's csv
module writes: the same rows must come from every delimiter, from files, pipes and compressed input, with the options that say
everything and without any."""
import csv
import bz2
import gzip
import io
import json
import lzma
import random
import sqlite3
import subprocess
import sys
import time
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import HACCTL, SharedMachineTest, main  # noqa: E402

DELIMITERS = {",": ",", ";": ";", "\t": "\\t", "|": "|", " ": " "}


def table(delimiter, header, rows, seed=1, quote=csv.QUOTE_MINIMAL, end="\n"):
    rng = random.Random(seed)
    words = ["plain", "two words", 'a "quoted" one', "x;y", "x,y", "x|y", "line\nfeed", "é"]
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quote, lineterminator=end)
    if header:
        writer.writerow(["name", "n", "day", "share"])
    made = [[rng.choice(words), rng.randrange(1000), f"2020-01-{rng.randint(1, 28):02}", f"{rng.random():.6f}"] for _ in range(rows)]
    writer.writerows(made)
    return out.getvalue(), made


class Detect(SharedMachineTest):
    def put(self, name, data):
        Path(self.m.path(name)).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def say(self, *words, data=None):
        """Rows, and what is said on standard error."""
        result = self.m.run(*words, data=data)
        self.assertEqual(result.code, 0, result)
        return list(csv.reader(io.StringIO(result.out.decode()))), result.err

    def everywhere(self, data, *words):
        """The answer of a file, a pipe, a stream, and compressed input."""
        raw = data if isinstance(data, bytes) else data.encode()
        self.put("t.csv", raw)
        self.put("t.csv.gz", gzip.compress(raw))
        answers = [self.say("query", "t.csv", *words), self.say("query", "t.csv.gz", *words),
                   self.say("query", "-", "--parse", "csv", *words, data=raw), self.say("splice", "t.csv", *words),
                   self.say("mapreduce", "-", "--parse", "csv", *words, data=raw)]
        for answer in answers[1:]:
            self.assertEqual(answer, answers[0], words)
        return answers[0]

    def test_formats(self):
        """The format of standard input and of files whose suffix says none. The oracle is what Python wrote."""
        rows = [[str(i), f"w{i % 7}"] for i in range(300)]
        wanted = [["n", "s"], *rows]
        lines = "".join(json.dumps({"n": int(n), "s": s}) + "\n" for n, s in rows)
        texts = {"csv": "n,s\n" + "".join(f"{n},{s}\n" for n, s in rows), "tsv": "n\ts\n" + "".join(f"{n}\t{s}\n" for n, s in rows),
                 "jsonl": lines, "array": json.dumps([{"n": int(n), "s": s} for n, s in rows]), "mark": "\ufeffn;s\n" + "".join(f"{n};{s}\n" for n, s in rows)}
        for kind, text in texts.items():
            form = "jsonl" if kind in ("jsonl", "array") else "csv"
            raw = text.encode()
            for name, data in (("t.dat", raw), ("t.csv.bak", raw), ("none", raw), ("packed", gzip.compress(raw)), ("t.dat.gz", gzip.compress(raw))):
                self.put(name, data)
                got, said = self.say("query", name)
                self.assertEqual(got, wanted, (kind, name))
                self.assertIn(f"hacctl: {name}: read as {form}, which its first bytes look like; --parse says another format\n", said)
            for data in (raw, gzip.compress(raw)):
                got, said = self.say("query", "SELECT * FROM '-'", data=data)
                self.assertEqual(got, wanted, kind)
                self.assertIn(f"hacctl: standard input: read as {form}, ", said)
        self.m.good("-q", "parquet", "convert", "t.dat", "t.parquet", "--parse", "csv", "--delimiter", ";")
        self.put("t.bin", Path(self.m.path("t.parquet")).read_bytes())
        for words, data in ((["t.bin"], None), (["-"], Path(self.m.path("t.bin")).read_bytes())):
            self.assertEqual(self.say("query", *words, data=data), (wanted, ""))
        log = '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326\n'
        for name, data in (("access.log", log.encode()), ("access.log.1.gz", gzip.compress(log.encode()))):
            got, said = self.say("query", self.put(name, data), "--select", "host, status, time")
            self.assertEqual(got[1], ["127.0.0.1", "200", "2000-10-10 20:55:36+00"])
            self.assertIn("read as clf", said)
        got, said = self.say("query", self.put("messages", "Oct 11 22:14:15 mymachine su: failed\n"), "--select", "host, app")
        self.assertEqual((got[1], "read as syslog" in said), (["mymachine", "su"], True))
        # what options say is not looked for
        self.assertEqual(self.say("query", "none", "--parse", "lines", "--select", "count() as n"), ([["n"], ["301"]], ""))
        self.put("t.txt", "a|b\n1|2\n")
        self.assertEqual(self.say("query", "t.txt", "--delimiter", "|"), ([["a", "b"], ["1", "2"]], ""))
        self.assertEqual(self.say("query", "t.txt"), ([["line"], ["a|b"], ["1|2"]], ""))

    def test_bytes_that_arrive_late(self):
        """The first write tells too little of the format. The oracle is the same input in one piece."""
        lines = b'{"n":1,"s":"x"}\n{"n":2,"s":"y"}\n'
        self.put("late.jsonl", lines)
        self.m.good("-q", "parquet", "convert", "late.jsonl", "late.parquet")
        parquet, packed = Path(self.m.path("late.parquet")).read_bytes(), gzip.compress(lines)
        for data, first in ((packed, 10), (packed, 2), (packed, 1), (parquet, 1), (b"\n" + lines, 1), (b"  \n" + lines, 3)):
            self.put("rest", data)
            script = f'{{ head -c {first} rest; sleep 0.1; tail -c +{first + 1} rest; }} | "$0" -q query "SELECT n, s FROM \'-\'"'
            got = subprocess.run(["bash", "-c", script, str(HACCTL)], cwd=self.m.path("."), env=self.m.environment, capture_output=True, timeout=20)
            self.assertEqual((got.returncode, got.stdout), (0, b"n,s\n1,x\n2,y\n"), (first, got.stderr))
        got = subprocess.run([str(HACCTL), "query", "SELECT * FROM '-'"], env=self.m.environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
        self.assertEqual((got.returncode, b"it is empty" in got.stderr), (2, True), got.stderr)

    def test_stray_quotes_and_comments(self):
        """The commands that docs/formats.md names."""
        self.put("q.csv", '# made by hand\nsize,n\n5" pipe,1\nthe "x" and "y",2\nplain,3\n')
        command = """grep -v '^#' q.csv | sed -E 's/"/""/g; s/[^,]*"[^,]*/"&"/g'"""
        text = subprocess.run(command, shell=True, cwd=self.m.work, stdout=subprocess.PIPE, check=True).stdout
        wanted = [["size", "n"], ['5" pipe', "1"], ['the "x" and "y"', "2"], ["plain", "3"]]
        self.assertEqual(self.say("query", "-", "--parse", "csv", data=text), (wanted, ""))

    def test_text_in_latin1(self):
        """A note names the first line that is not UTF-8; none where all are, or where the first bytes cut a character."""
        self.put("l.csv", "name,x\nAnn,1\nJosé,2\n".encode("latin1"))
        note = "hacctl: line 3 is not in UTF-8; convert the text first: iconv -f LATIN1 -t UTF-8 FILE\n"
        self.assertEqual(self.say("query", "SELECT x FROM 'l.csv' WHERE name = 'José'"), ([["x"]], note))
        self.assertEqual(self.say("query", "-", "--parse", "csv", "--select", "x", data=b"name,x\nAnn,1\nJos\xe9,2\n"), ([["x"], ["1"], ["2"]], note))
        for text in ("name,x\nJosé,1\n", "name,x\n" + "é" * 40000 + ",1\n", "name,x\nx" + "é" * 40000 + ",1\n"):
            self.assertEqual(self.say("query", self.put("u.csv", text), "--select", "x"), ([["x"], ["1"]], ""))

    def test_foreign_formats(self):
        """By their first bytes, whatever the name is."""
        with zipfile.ZipFile(self.m.path("a.xlsx"), "w") as file:
            file.writestr("sheet", "x")
        self.put("a.zip", Path(self.m.path("a.xlsx")).read_bytes())
        self.put("a.csv.xz", lzma.compress(b"x\n1\n"))
        self.put("a.bz2", bz2.compress(b"x\n1\n"))
        self.put("u.dat", "x\n1\n".encode("utf-16"))
        with sqlite3.connect(self.m.path("a.db")) as db:
            db.execute("create table t (a)")
        db.close()
        for name, says in (("a.xlsx", "is a spreadsheet, not text; save the sheet as csv"), ("a.zip", "is a zip archive, not text; unpack it first: unzip -p FILE"),
                           ("a.csv.xz", "packed with xz, not text; unpack it first: xz -dc FILE"), ("a.bz2", "packed with bzip2"),
                           ("a.db", "is a database of SQLite"), ("u.dat", "is text in UTF-16")):
            self.m.bad(1, "query", name, says=says)
            with open(self.m.path(name), "rb") as file:
                self.m.bad(1, "query", "-", data=file.read(), says=says if name != "a.xlsx" else "standard input: is a zip archive")
        self.put("r.dat", bytes(range(200)))
        self.m.bad(2, "query", "r.dat", says="how is r.dat to be read? Its suffix does not say, and its first bytes are not text; say --parse")
        self.m.bad(2, "query", "-", says="how is standard input to be read?")  # /dev/null
        self.m.bad(2, "query", "", says="the name of an input is empty")
        for url, command in (("https://example.org/a.csv", "curl -sL 'https://example.org/a.csv' | hacctl query -"),
                             ("s3://bucket/a.parquet", "aws s3 cp 's3://bucket/a.parquet' - | hacctl query -")):
            self.m.bad(1, "query", url, says=command)
            self.m.bad(1, "query", f"SELECT * FROM '{url}'", says=command)

    def test_delimiters(self):
        for delimiter, said in DELIMITERS.items():
            for header in (True, False):
                for rows in (3, 500):  # a space needs three records
                    text, made = table(delimiter, header, rows, seed=rows)
                    names = ["name", "n"] if header else ["c1", "c2"]
                    got, note = self.everywhere(text, "--select", f"sum({names[1]}) as s, count() as c, count(distinct {names[0]}) as d")
                    self.assertEqual(got[1], [str(sum(r[1] for r in made)), str(rows), str(len({r[0] for r in made}))], (delimiter, header))
                    self.assertEqual(f"--delimiter '{said}'" in note, delimiter != ",", note)
                    self.assertEqual("look like" in note and "--no-header;" in note, not header, note)
                    self.assertLessEqual(note.count("\n"), 1)

    def test_quotes_marks_and_line_ends(self):
        for end in ("\n", "\r\n"):
            text, made = table(";", True, 50, quote=csv.QUOTE_ALL, end=end)
            got, note = self.everywhere(b"\xef\xbb\xbf" + text.encode(), "--select", "count() as c, sum(n) as s")
            self.assertEqual(got[1], ["50", str(sum(r[1] for r in made))])
            self.assertIn("--delimiter ';'", note)

    def test_options_decide(self):
        self.put("t.csv", "a;b\n1;2\n3;4\n")
        self.assertEqual(self.say("query", "t.csv", "--select", "*", "--delimiter", ","), ([["a;b"], ["1;2"], ["3;4"]], ""))
        self.assertEqual(self.say("query", "t.csv", "--select", "*", "--delimiter", ";"), ([["a", "b"], ["1", "2"], ["3", "4"]], ""))
        self.put("n.csv", "1,2\n3,4\n")
        self.assertEqual(self.say("query", "n.csv", "--select", "*", "--header")[0], [["1", "2"], ["3", "4"]])
        self.assertEqual(self.say("query", "n.csv", "--select", "*", "--no-header"), ([["c1", "c2"], ["1", "2"], ["3", "4"]], ""))
        self.assertEqual(self.say("query", "n.csv", "--select", "*")[0], [["c1", "c2"], ["1", "2"], ["3", "4"]])
        self.m.bad(2, "query", "n.csv", "--select", "*", "--header", "--no-header", says="not both")

    def test_headers_stay(self):
        """What is a header today stays one: text alone, ragged files, one row, successive years, empty names."""
        for text, wanted in (("a,b\nx,y\nz,w\n", ["a", "b"]), ("name,2019,2020,2021\nx,1,2,3\ny,4,5,6\n", ["name", "2019", "2020", "2021"]),
                             ("a,b\n", ["a", "b"]), ("first name\nJohn Smith\nJane Roe\nBo Li\n", ["first name"]),
                             ("a,b\n1,x;y\n2,z;w\n", ["a", "b"]), ("t,u\nNA,1\n2,NA\n", ["t", "u"]), ("when,x\n2020-01-01 00:00:00,1\n2020-01-02 00:00:00,2\n", ["when", "x"]),
                             ("id\n1\n2\n", ["id"]), ("a,b\n,\n,\n", ["a", "b"])):
            got, note = self.everywhere(text, "--select", "*")
            self.assertEqual((got[0], "look like" in note), (wanted, False), text)

    def test_no_header(self):
        for text, rows in (("1,2\n3,4\n", 2), ("7\n", 1), ("x,1,2020-01-01\ny,2,2020-01-02\n", 2), ("true,a\nfalse,b\n", 2),
                           (",5\n1,6\n2,7\n", 3), ("2019,2021\n1,2\n3,4\n", 3)):
            got, note = self.everywhere(text, "--select", "count() as n")
            self.assertEqual(got[1], [str(rows)], text)
            self.assertIn("--no-header", note)

    def test_schemas(self):
        self.put("h.csv", "a;b\n1;2\n3;4\n")
        self.assertEqual(self.say("query", "h.csv", "--schema", "a:i64,b:f64", "--select", "sum(a) as s, sum(b) as t")[0][1], ["4", "6.0"])
        self.assertEqual(self.say("query", "h.csv", "--infer", "off", "--select", "max(b) as t")[0][1], ["4"])
        self.put("n.csv", "1|2\n3|4\n")
        for words in (("query", "n.csv"), ("splice", "n.csv"), ("mapreduce", "n.csv")):
            self.assertEqual(self.say(*words, "--schema", "a:i64,b:f64", "--select", "sum(a) as s, sum(b) as t")[0][1], ["4", "6.0"])
        for schema in ("a:i64", "c1:i64", "a:i64,b:i64,c:i64"):
            self.m.bad(2, "query", "n.csv", "--schema", schema, "--select", "count()", says="--schema must list all 2 columns, or say --header")
        self.m.bad(2, "query", "n.csv", "--schema", "a:i64", "--header", "--select", "sum(a)", says="no column 'a'")
        self.assertEqual(self.say("query", "n.csv", "--infer", "off", "--select", "max(c2) as t")[0][1], ["4"])

    def test_schema_without_header(self):
        """--no-header and a schema do not say the delimiter."""
        for text in ("1;2\n3;4\n5;6\n", "1,2\n3,4\n5,6\n"):
            got, note = self.everywhere(text, "--no-header", "--schema", "a:i64,b:i64", "--select", "sum(a) as s, sum(b) as t")
            self.assertEqual(got[1], ["9", "12"])
            self.assertEqual("--delimiter ';'" in note, ";" in text, note)
            self.assertNotIn("look like --no-header", note)
        for text, wanted in (("", ""), ("\n1,2\n3,4\n5,6\n", "9"), ("1;2\n", "1")):
            got, note = self.everywhere(text, "--no-header", "--schema", "a:i64,b:i64", "--trim", "--select", "sum(a) as s")
            self.assertEqual("".join(got[1]), wanted, text)

    def paused(self, lines, *words):
        """The answer of a stream whose writer pauses behind the first two lines."""
        process = self.m.start("splice", "-", "--parse", "csv", *words, stdin=-1)
        for line in lines[:2]:
            process.stdin.write(line)
            process.stdin.flush()
            time.sleep(0.3)
        out, err = process.communicate(b"".join(lines[2:]), timeout=60)
        self.assertEqual(process.returncode, 0, err)
        return list(csv.reader(io.StringIO(out.decode()))), err.decode()

    def test_pauses(self):
        """A pause of the writer changes nothing."""
        for text in ("1;2\n3;4\n5;6\n", "a;b\n1;2\n3;4\n5;6\n", "a b\n1 2\n3 4\n", "1,2\n3,4\n"):
            for words in (("--select", "*"), ("--select", "*", "--infer", "off")):
                wanted = self.say("splice", self.put("t.csv", text), *words)
                self.assertEqual(self.paused(text.encode().splitlines(keepends=True), *words), wanted, (text, words))

    def test_tsv_and_others(self):
        self.put("t.tsv", "1\tx\n2\t\\N\n")
        self.assertEqual(self.say("query", "t.tsv", "--select", "sum(c1) as s, count(c2) as n")[0][1], ["3", "1"])
        self.m.bad(1, "query", self.put("mac.csv", "a,b\r1,2\r3,4\r"), "--select", "*", says="CR alone")
        self.put("h.csv", "x;y\n2;b\n1;a\n")
        self.assertEqual(self.say("sort", "h.csv", "--key", "x")[0][1:], [["1", "a"], ["2", "b"]])
        self.m.run("parquet", "convert", "h.csv", "h.parquet")
        self.assertEqual(self.say("query", "h.parquet", "--select", "sum(x) as s")[0][1], ["3"])
        plan = self.m.run("explain", "mapreduce", "h.csv", "--select", "sum(x) as s")
        self.assertEqual(plan.code, 0, plan)

    def test_hostile(self):
        """Whatever the bytes are, a file, a pipe and compressed input give one answer, or none."""
        rng = random.Random(7)
        for i in range(25):
            data = bytes(rng.choices(b'a1,;|\t "\n\r\0\xff2.', k=rng.randrange(200)))
            self.put("x.csv", data)
            answers = [self.m.run("query", "x.csv", "--select", "count() as n"), self.m.run("splice", "-", "--parse", "csv", "--select", "count() as n", data=data)]
            self.assertEqual(len({(a.code, a.out) for a in answers}), 1, (data, answers))
            self.assertIn(answers[0].code, (0, 1, 2), answers)


if __name__ == "__main__":
    main()
