#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl mapreduce, parquet and sort --key: command lines, inputs, and what libhac is asked."""
import json
import os
import pty
import re
import subprocess
import time
from pathlib import Path

from cli import Fake, main, pack


class MapReduce(Fake):
    def test_mapreduce(self):
        self.put("a.csv", "x,y\n1,2\n")
        self.put("b.csv", "x,y\n3,4\n")
        out = self.good("mapreduce", "a.csv", "b.csv", "--schema", "x:i64,y:i64", "--where", "x > 0", "--group-by", "x",
                        "--select", "sum(y) as s", "--order-by", "s desc", "--limit", "5", "--hot-keys", "off",
                        "--devices", "a,b", "--determinism", "fast", "-q", "--engine", "device")
        self.assertEqual(out, b"x,y\n1,2\nx,y\n3,4\n")
        self.assertIn("mapreduce sources=2 format=2 schema=x:i64,y:i64 where=x > 0 group=x select=sum(y) as s "
                      "order=s desc limit=5 out=0 delimiter=0 no_header=0 skip=0 null=- hot=2 sample=0 share=0 groups=0 "
                      "items=0 devices=2 detach=0 fast=1 engine=2 big=0 splits=0 sort=0\nfile a.csv\nfile b.csv\n", self.called())
        self.good("mapreduce", "wordcount", "a.csv", "-o", "out.json")
        self.assertEqual(Path(self.path("out.json")).read_bytes(), b"x,y\n1,2\n")
        self.assertIn("mapreduce sources=1 format=6 schema=- where=- group=word select=count() as count order=- "
                      "limit=-1 out=1", self.called())
        self.assertEqual(self.good("mapreduce", "wordcount", "a.csv", "--detach"), b"7\n")
        for status, code in ((1, 1), (2, 2), (3, 3), (4, 4), (5, 130)):
            self.environment["FAKE_HAC_JOB"] = str(status)
            self.bad(code, "mapreduce", "wordcount", "a.csv", "-o", "none", says="fake: ")
        self.assertNotIn("none", self.files())
        self.bad(2, "mapreduce", "wordcount", "a.csv", "--detach", "-o", "none", says="--detach")
        self.bad(2, "mapreduce", "a.csv", says="--select")
        for option in ("--where", "--select", "--schema"):
            self.bad(2, "mapreduce", "a.csv", option, " \t", says=f"option {option} needs a value")
        self.bad(2, "mapreduce", "word-count", "a.csv", says="neither a named job nor a file")
        self.bad(2, "mapreduce", "a.csv", "--select", "x", "--parse", "orc", says="allowed: csv, tsv")
        self.bad(1, "mapreduce", "nowhere.csv", "--select", "x", says="nowhere.csv")

    def test_streams(self):
        words = ["--select", "x", "-o", "out.json"]
        self.good("mapreduce", "-", "--parse", "csv", *words, data=b"x\n1\n")
        self.assertEqual(Path(self.path("out.json")).read_bytes(), b"x\n1\n")
        self.assertIn("uncompressed=0\nquery sources=1 format=2", self.called())
        self.assertIn("input standard input\n", self.called())
        self.good("mapreduce", "wordcount", "-", "-o", "out", data=b"a b")
        self.good("mapreduce", "wordcount", "-", "--detach", data=b"a b")  # read whole, as nobody stays to read it
        self.assertIn("stream\nmapreduce sources=1 format=6", self.called())
        self.bad(2, "mapreduce", "-", *words, says="how is standard input to be read?")
        self.bad(2, "mapreduce", "-", "in", "--parse", "csv", *words, says="standard input cannot be combined with other files")
        self.bad(2, "explain", "mapreduce", "-", "--parse", "csv", *words, says="is not known beforehand",
                 stdin=subprocess.PIPE)
        # a redirected file counts as a file unless part of it was read already
        self.calls.write_text("")
        with open(self.path("in"), "rb") as file:
            self.good("mapreduce", "-", "--parse", "csv", *words, stdin=file)
            self.assertNotIn("splits inputs", self.called())
            os.lseek(file.fileno(), 4, os.SEEK_SET)
            self.good("mapreduce", "-", "--parse", "csv", *words, stdin=file)
        self.assertIn("splits", self.called())
        self.assertEqual(Path(self.path("out.json")).read_bytes(), pack([1, 2]))
        # a named pipe is waited for
        os.mkfifo(self.path("fifo"))
        process = self.start("mapreduce", "fifo", "--parse", "lines", "--select", "line")
        time.sleep(0.2)
        Path(self.path("fifo")).write_bytes(b"x\n")
        self.assertEqual(process.communicate(timeout=30), (b"x\n", b""))
        # files of /proc have no size
        self.calls.write_text("")
        self.assertTrue(self.good("mapreduce", "/proc/self/status", "--parse", "lines", "--select", "line").startswith(b"Name:"))
        self.assertTrue(self.good("sort", "/proc/self/auxv", "--type", "u64"))
        self.assertIn("splits", self.called())
        self.assertIn("sort items=18446744073709551615", self.called())
        self.bad(1, "mapreduce", "in", "/proc/self/status", "--parse", "lines", "--select", "line",
                 says="/proc/self/status: its size is not known beforehand, so it cannot be combined")
        os.mkfifo(self.path("pipe"))
        self.bad(1, "mapreduce", "in", "pipe", "--parse", "lines", "--select", "line",
                 says="pipe: its size is not known beforehand, so it cannot be combined")
        self.put("m.csv", "1\n")
        self.bad(2, "mapreduce", "matrix-multiply", "/proc/self/status", "--parse", "csv", "--with", "m.csv",
                 says="matrix-multiply reads the first line")
        master, slave = pty.openpty()
        self.bad(2, "parquet", "query", "-", "--parse", "parquet", "--select", "x", stdin=slave,
                 says="will not read parquet from a terminal")
        os.close(master)
        os.close(slave)

    def test_what_is_said_of_a_result(self):
        self.environment["FAKE_HAC_TEXT"] = "3 records that could not be read were left out"
        code, out, err = self.run_it("mapreduce", "wordcount", "in")
        self.assertEqual((code, len(out), err), (0, 12, "hacctl: 3 records that could not be read were left out\n"))
        self.good("-q", "mapreduce", "wordcount", "in")

    def test_mapreduce_plans(self):
        self.answer("plan1", "{}")
        self.assertEqual(self.good("--json", "explain", "mapreduce", "wordcount", "in"), b"{}\n")
        self.assertIn("explain sources=1 format=6", self.called())
        self.assertIn("source 12 there\n", self.called())
        self.good("--json", "explain", "mapreduce", "wordcount", "in", "--input-size", "1MiB")
        self.assertIn("source 1048576\n", self.called())
        self.bad(2, "explain", "mapreduce", "in", says="--select")
        self.bad(2, "explain", "mapreduce", "wordcount", "in", "--items", "3", says="--items is for sorts of arrays")
        self.bad(2, "explain", "mapreduce", "wordcount", "in", "--type", "u32", says="--type is not an option of mapreduce")
        self.bad(2, "explain", "sort", "in", "--type", "u32", "--where", "x", says="--where is not an option of sort")
        self.bad(2, "explain", "sort", "in", "in", "--type", "u32", says="one argument too many")


class Parquet(Fake):
    def folder_of_files(self, *names):
        for name in names:
            Path(self.path(name)).parent.mkdir(parents=True, exist_ok=True)
            self.put(name, "PAR1")

    def opened(self):
        return re.findall(r"(?m)^file (.*)$", self.called())

    def test_parquet_query(self):
        self.put("x.parquet", "PAR1")
        query = ["--where", "a > 1", "--select", "count() as n"]
        self.assertEqual(self.good("parquet", "query", "x.parquet", *query), b"PAR1")
        self.assertIn("mapreduce sources=1 format=9 schema=- where=a > 1 group=- select=count() as n", self.called())
        self.good("parquet", "--quiet", "query", "x.parquet", *query)
        self.good("mapreduce", "x.parquet", *query)
        self.good("parquet", "query", "in", "--parse", "parquet", *query)
        self.good("parquet", "query", "-", "--parse", "parquet", *query, data=b"PAR1")
        self.assertEqual(self.called().count("format=9"), 5)
        self.bad(2, "parquet", "query", "in", *query, says="how is in to be read?")
        self.bad(2, "parquet", "query", "x.parquet", says="--select")
        self.bad(1, "parquet", "query", "wordcount", "x.parquet", *query, says="wordcount: No such file or directory")
        self.bad(2, "parquet", "query", "x.parquet", *query, "--delimiter", ";", says="--delimiter is for text")
        self.bad(2, "parquet", "query", "x.parquet", *query, "--codec", "gzip", says="--codec is for results that are Parquet")
        self.answer("plan1", "{}")
        self.assertEqual(self.good("explain", "parquet", "query", "x.parquet", *query, "--json"), b"{}\n")
        self.assertIn("explain sources=1 format=9", self.called())

    def test_parquet_folders(self):
        self.folder_of_files("t/b.parquet", "t/a.parquet", "t/sub/c.PARQUET", "t/sub-x/d.parquet", "t/_tmp/e.parquet",
                             "t/.hidden.parquet", "t/_metadata.parquet", "t/readme.txt", "more/f.parquet", "none/x.csv")
        os.mkdir(self.path("t/folder.parquet"))
        os.symlink("..", self.path("t/sub/up"))
        os.symlink("../more/f.parquet", self.path("t/link.parquet"))
        os.symlink("nowhere", self.path("t/dangling"))
        code, _, err = self.run_it("parquet", "query", "t", "--select", "x", "-o", "out")
        self.assertEqual((code, err), (0, "hacctl: t: 1 file is not Parquet, and left out: t/readme.txt\n"))
        self.assertEqual(self.opened(), ["t/a.parquet", "t/b.parquet", "t/link.parquet", "t/sub-x/d.parquet",
                                         "t/sub/c.PARQUET"])
        self.calls.write_text("")
        self.good("mapreduce", "more/", "t/a.parquet", "--select", "x", "-o", "out")
        self.assertEqual(self.opened(), ["more/f.parquet", "t/a.parquet"])
        os.symlink("nowhere", self.path("more/dangling.parquet"))
        os.mkfifo(self.path("none/pipe.parquet"))
        self.bad(1, "parquet", "query", "more", "--select", "x",
                 says="more/dangling.parquet: is a link to something that cannot be read: No such file")
        self.bad(1, "parquet", "query", "none", "--select", "x", says="none/pipe.parquet: is not a regular file")
        os.unlink(self.path("more/dangling.parquet"))
        code, _, err = self.run_it("parquet", "query", "t", "--parse", "csv", "--select", "x")
        self.assertIn("t: 5 files are Parquet, and left out: t/", err)
        self.bad(1, "mapreduce", "more", "--parse", "csv", "--select", "x", says="there is no text file in this folder")
        self.bad(2, "parquet", "query", "t", "in", "--select", "x", says="how is in to be read?")
        self.folder_of_files(*[f"many/{i:02}.parquet" for i in range(253)])
        self.calls.write_text("")
        self.good("parquet", "query", "many", "--select", "x", "-o", "out")
        self.assertEqual(self.opened(), sorted(f"many/{i:02}.parquet" for i in range(253)))
        self.calls.write_text("")
        self.good("parquet", "query", "many", "more", "--select", "x", "-o", "out")
        self.assertIn("list of 254 files", self.calls.read_text())

    def test_text_is_converted_first(self):
        self.put("a.csv", "x,y\n1,2\n")
        self.answer(5, '{"flow": "E"}\n')
        words = ["parquet", "query", "a.csv", "--schema", "x:i64,y:i64", "--null", "NA", "--where", "x > 0", "--group-by", "x",
                 "--select", "sum(y) as s", "--order-by", "s", "--limit", "3", "--output-format", "json", "--receipt", "r.json"]
        code, out, err = self.run_it(*words)
        self.assertEqual((code, out), (0, b"x,y\n1,2\n"))
        self.assertEqual(err, "hacctl: a.csv: converted from csv to Parquet first (8 B, in memory); `hacctl parquet convert` "
                              "keeps it\n")
        self.assertRegex(self.called(), r"mapreduce sources=1 format=2 schema=x:i64,y:i64 where=- group=- select=\* order=- "
                                        r"limit=-1 out=3 .* null=NA")
        self.assertRegex(self.called(), r"memory sources=1 format=9 schema=- where=x > 0 group=x select=sum\(y\) as s order=s "
                                        r"limit=3 out=1 .* null=-")
        self.assertEqual(json.loads(Path(self.path("r.json")).read_text()), {"conversion": {"flow": "E"}, "flow": "E"})
        self.good("--quiet", *words)
        self.put("b.tsv", "x\n")
        code, _, err = self.run_it("parquet", "query", "b.tsv", "--select", "x", "--detach")
        self.assertEqual((code, "b.tsv: converted from tsv" in err), (0, True))
        self.assertRegex(self.called(), r"sources=1 format=3 .* detach=0 ")
        self.assertRegex(self.called(), r"memory sources=1 format=9 .* detach=1 ")
        self.bad(2, "explain", "parquet", "query", "a.csv", "--select", "x", says="it is converted first")
        self.environment["FAKE_HAC_JOB"] = "1"
        self.bad(1, "parquet", "query", "a.csv", "--select", "x", "-o", "none", says="fake: ")
        self.assertNotIn("none", self.files())

    def test_parquet_convert(self):
        self.put("a.csv", "x,y\n1,2\n")
        mib = 1 << 20
        self.good("parquet", "convert", "a.csv", "a.parquet", "--schema", "x:i64,y:i64")
        self.assertEqual(Path(self.path("a.parquet")).read_bytes(), b"x,y\n1,2\n")
        self.assertIn("mapreduce sources=1 format=2 schema=x:i64,y:i64 where=- group=- select=* order=- limit=-1 out=3",
                      self.called())
        self.assertIn(f"parquet codec=0 group={128 * mib} rows=0 block={128 * mib}\n", self.called())
        for options, wanted in ((["--codec", "snappy"], f"codec=2 group={128 * mib} rows=0 block={128 * mib}"),
                                (["--row-group-size", "1GiB"], f"codec=0 group={1024 * mib} rows=0 block={1024 * mib}"),
                                (["--block-size", "64MiB"], f"codec=0 group={64 * mib} rows=0 block={64 * mib}"),
                                (["--block-size", "256MiB"], f"codec=0 group={128 * mib} rows=0 block={256 * mib}"),
                                (["--row-group-rows", "5", "--codec", "none", "--row-group-size", "1MB", "--block-size", "2MB"],
                                 "codec=1 group=1000000 rows=5 block=2000000")):
            self.calls.write_text("")
            self.good("parquet", "convert", "a.csv", "a.parquet", *options)
            self.assertIn(f"parquet {wanted}\n", self.called())
        self.good("parquet", "convert", "in", "b.parquet", "--type", "u32")
        self.assertIn("format=8 schema=value:u32 ", self.called())
        self.good("parquet", "convert", "b.parquet", "c.parquet")
        self.good("parquet", "convert", "-", "c.parquet", "--parse", "jsonl", "--schema", "a:i8", data=b"{}")
        self.assertIn("uncompressed=0\nquery sources=1 format=4 schema=a:i8", self.called())
        self.bad(2, "parquet", "convert", "b.parquet", "a.csv", says="the result is a Parquet file, but the suffix of a.csv says otherwise")
        self.bad(2, "parquet", "convert", "a.csv", says="too few arguments; usage: hacctl parquet convert IN OUT")
        self.bad(2, "parquet", "convert", "in", "c.parquet", says="how is in to be read?")
        self.bad(2, "parquet", "convert", "in", "c.parquet", "--type", "u32", "--schema", "a:u32", says="--schema is not for raw")
        self.bad(2, "parquet", "convert", "in", "c.parquet", "--type", "u32", "--parse", "csv", says="--parse says csv")
        self.bad(2, "parquet", "convert", "a.csv", "c.parquet", "--codec", "lzo", says="allowed: zstd, none, snappy, gzip, lz4")
        self.bad(2, "parquet", "convert", "a.csv", "c.parquet", "--row-group-size", "2MB", "--block-size", "1MB",
                 says="--row-group-size 2MB is more than --block-size 1MB")
        for option, value in (("--row-group-size", "4095"), ("--row-group-size", "2TiB"), ("--block-size", "1KiB")):
            self.bad(2, "parquet", "convert", "a.csv", "c.parquet", option, value,
                     says=f"{option} {value}: a row group must be 4KiB to 1TiB")
        for option in ("--row-group-size", "--row-group-rows", "--block-size"):
            for value in ("0", "many", "-1"):
                self.bad(2, "parquet", "convert", "a.csv", "c.parquet", option, value, says=option)
        self.assertEqual(self.good("parquet", "convert", "a.csv", "c.parquet", "--detach"), b"7\n")
        self.environment["FAKE_HAC_JOB"] = "1"
        self.bad(1, "parquet", "convert", "a.csv", "none.parquet", says="fake: ")
        self.assertNotIn("none.parquet", self.files())
        self.answer("plan1", "{}")
        del self.environment["FAKE_HAC_JOB"]
        self.good("explain", "parquet", "convert", "a.csv", "none.parquet", "--json")
        self.assertNotIn("none.parquet", self.files())

    def test_parquet_inspect(self):
        answer = {"rows": 3, "bytes": 2048, "created_by": "a writer\x1b", "columns": [
            {"name": "a", "type": "i64", "physical": "INT64", "nullable": False},
            {"name": "t", "why_not_read": "it is in a list of lists", "physical": "FIXED_LEN_BYTE_ARRAY", "length": 16,
             "logical": "UUID", "nullable": True}], "row_groups": [{"rows": 3, "offset": 4, "bytes": 100,
             "uncompressed_bytes": 200, "columns": [{"column": "a", "codec": "ZSTD", "encodings": ["PLAIN", "RLE"], "bytes": 60,
             "uncompressed_bytes": 120, "nulls": 0, "min": "1", "max": "3", "column_index": True, "bloom_filter": True}]}]}
        self.put("x.parquet", json.dumps(answer))
        self.assertEqual(json.loads(self.good("--json", "parquet", "inspect", "x.parquet")), answer)
        self.assertEqual(self.good("parquet", "inspect", "--json", "x.parquet"), self.good("parquet", "--json", "inspect", "x.parquet"))
        text = self.good("parquet", "inspect", "x.parquet").decode()
        self.assertTrue(text.startswith("3 rows of 2 columns in 1 row group, 2 KiB\nwritten by a writer?\n"), text)
        self.assertRegex(text, r"(?m)^t +- +FIXED_LEN_BYTE_ARRAY\(16\), UUID +possible +not read: it is in a list of lists")
        self.assertRegex(text, r"(?m)^a +ZSTD +PLAIN, RLE +60 B +120 B +0 +1 +3 +pages, bloom$")
        self.good("parquet", "inspect", "in", "--json")  # whatever its name is
        self.bad(1, "parquet", "inspect", "nowhere", says="nowhere: No such file")
        self.bad(1, "parquet", "inspect", "-", says="standard input: is not a regular file", data=b"x")
        self.bad(3, "parquet", "inspect", "in", says="is not a JSON object")
        self.bad(2, "parquet", "inspect", "in", "in", says="one argument too many")


class Rows(Fake):
    def test_sort_of_rows(self):
        self.put("a.csv", "x,y\n1,2\n")
        self.put("x.parquet", "PAR1")
        self.assertEqual(self.good("sort", "a.csv", "--input-format", "csv", "--key", "y desc, x", "--schema", "x:i64,y:i64"),
                         b"x,y\n1,2\n")
        self.assertRegex(self.called(), "mapreduce sources=1 format=2 schema=x:i64,y:i64 where=- group=- select=[*] order=y desc, x "
                                        "limit=-1 out=0 .* sort=1\n")
        for words, form in ((["x.parquet", "--input-format", "parquet"], 3), (["x.parquet"], 3), (["a.csv"], 0),
                            (["in", "--input-format", "csv", "-o", "o.parquet"], 3),
                            (["x.parquet", "--output-format", "json"], 1), (["x.parquet", "-o", "o.csv"], 0)):
            self.calls.write_text("")
            out = ["-o", "o"] if "-o" not in words else []
            self.good("sort", *words, "--key", "x", *out)
            self.assertIn(f" out={form} ", self.called())
        self.bad(2, "sort", "a.csv", "--input-format", "csv", says="say --key")
        self.bad(2, "sort", "in", "--key", "x", says="how is in to be read?")
        self.put("b.tsv", "x\n")
        self.bad(2, "sort", "b.tsv", "--key", "x", says="rows of csv and parquet can be sorted")
        self.bad(2, "sort", "a.csv", "--input-format", "tsv", "--key", "x", says="allowed: csv, parquet")
        self.bad(2, "sort", "a.csv", "--key", "x", "--descending", says="say --key 'a desc'")
        for option in (["--type", "u32"], ["--argsort"], ["--algorithm", "radix"], ["--scheme", "none"], ["--fold", "none"]):
            self.bad(2, "sort", "a.csv", "--key", "x", *option, says=f"{option[0]} is for raw arrays, not for whole rows")
        self.bad(2, "sort", "a.csv", "--key", "x", "--codec", "gzip", says="--codec is for results that are Parquet files")
        self.calls.write_text("")
        self.good("mapreduce", "a.csv", "--select", "*", "--order-by", "x", "-o", "o")
        self.assertRegex(self.called(), "order=x .* sort=0\n")  # a query that does the same
        self.answer("plan1", '{"flow":"sort","k":0.10000000000000001}')
        plan = self.good("explain", "sort", "a.csv", "--key", "x", "--json")
        self.assertEqual(plan, b'{"flow":"sort","k":0.10000000000000001}\n')  # as hacd wrote it
        self.assertRegex(self.called(), "explain sources=1 format=2 .* sort=1\n")
        self.bad(2, "explain", "sort", "a.csv", "--key", "x", "--items", "5", says="--items")
        master, slave = pty.openpty()
        code, _, err = self.run_it("sort", "x.parquet", "--key", "x", "--output-format", "parquet", stdout=slave)
        self.assertEqual((code, "will not write a Parquet file to a terminal" in err), (2, True))
        os.close(master)
        os.close(slave)


if __name__ == "__main__":
    main()
