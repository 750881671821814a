#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No input is silently misread: other formats, other encodings and mangled headers are read as their author meant
them, or are refused by name. The values expected here are written down by hand or come from Python's own modules."""
import ast
import bz2
import csv
import gzip
import io
import itertools
import json
import lzma
import os
import random
import sqlite3
import struct
import subprocess
import sys
import tarfile
import threading
import zipfile
import zlib
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SharedMachineTest, main  # noqa: E402

CSV = b"id,city\n1,Rome\n2,Oslo\n"
MARK = b"\xef\xbb\xbf"


def zip_of(data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", data)
    return out.getvalue()


def tar_of(data):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("a.csv")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def npy_of(values, descr="<f8", shape=None):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape or (len(values),)}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    code = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "<u8": "Q", "<u4": "I", ">f8": "d"}[descr]
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + struct.pack(f"{descr[0]}{len(values)}{code}", *values)


def sqlite_of(path):
    with sqlite3.connect(path) as base:
        base.execute("create table t(a)")
        base.execute("insert into t values(1)")
    base.close()
    return Path(path).read_bytes()


# The first bytes of files that pyarrow wrote (of lz4 the whole), by the word that the message must have.
WRITTEN = {
    "ORC": "4f52430a061204080250000a120a020000120c0802120608021004180650000a1b0a030000001214"
           "0802220e0a044f73",
    "Parquet": "504152311504152015244c15041500120000103c0100000000000000020000000000000015001512"
               "15162c1504151015",
    "Arrow file": "4152524f57310000ffffffffa80000001000000000000a000c000600050008000a00000000010400"
                  "0c00000008000800",
    "Arrow stream": "ffffffffa80000001000000000000a000c000600050008000a000000000104000c00000008000800"
                    "0000040008000000",
    "lz4": "04224d186040821600008069642c636974790a312c526f6d650a322c4f736c6f0a00000000",
}
AVRO = b"Obj\x01\x04\x14avro.codec\x08null\x16avro.schema\x14{\"a\":\"int\"}\x00" + bytes(16)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(20)


class Foreign(SharedMachineTest):
    """Each format of others, read as each format of text: refused by name, whatever way the bytes come."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.foreign = {"zip": zip_of(CSV), "bzip2": bz2.compress(CSV), "xz": lzma.compress(CSV), "tar": tar_of(CSV),
                       "NumPy": npy_of([3.0, 1.0, 2.0]), "SQLite": sqlite_of(cls.m.path("base.db")), "Avro": AVRO,
                       "PNG": PNG, "7z": b"7z\xbc\xaf\x27\x1c\0\4" + bytes(24), "PDF": b"%PDF-1.4\n1 0 obj\n",
                       "ELF": Path(sys.executable).resolve().read_bytes()[:4096], "UTF-16": CSV.decode().encode("utf-16"),
                       "UTF-32": CSV.decode().encode("utf-32"), "UTF-16BE": CSV.decode().encode("utf-16-be"),
                       "UTF-16LE": CSV.decode().encode("utf-16-le"), "UTF-32BE": CSV.decode().encode("utf-32-be"),
                       **{word: bytes.fromhex(text) for word, text in WRITTEN.items()}}

    COUNTS = [("csv", ["--select", "count() as n"]), ("tsv", ["--select", "count() as n"]),
              ("jsonl", ["--schema", "id:i64", "--select", "count() as n"]), ("lines", ["--select", "count() as n"]),
              ("words", ["--group-by", "word", "--select", "count() as n"]), ("kv", ["--select", "count() as n"])]

    def refuses(self, word, *words, **more):
        """Exit code 1 or 2, no output, and one line that names the format."""
        result = self.m.run(*words, **more)
        self.assertIn(result.code, (1, 2), (words, result))
        self.assertEqual(result.out, b"", (words, result))
        self.assertIn(word, result.err, (words, result))
        self.assertEqual(result.err.count("\n"), 1, (words, result))

    def test_text_formats(self):
        for word, data in self.foreign.items():
            Path(self.m.path("f.bin")).write_bytes(data)
            for form, query in self.COUNTS:
                self.refuses(word, "mapreduce", "f.bin", "--parse", form, *query)
            self.refuses(word, "mapreduce", "-", "--parse", "lines", "--select", "line", data=data)
            self.refuses(word, "-q", "pipe", "--select", "line", data=data)

    def test_commands(self):
        for word, data in self.foreign.items():
            Path(self.m.path("f.csv")).write_bytes(data)
            for words in (["mapreduce", "f.csv", "--select", "count() as n"], ["mapreduce", "f.csv", "--select", "*"],
                          ["splice", "f.csv", "--select", "count() as n"], ["parquet", "query", "f.csv", "--select", "*"],
                          ["parquet", "convert", "f.csv", "out.parquet"],
                          ["sort", "f.csv", "--input-format", "csv", "--key", "1"],
                          ["mapreduce", "wordcount", "f.csv"]):
                self.refuses(word, *words)
            if word != "Parquet":
                self.refuses("f.csv", "parquet", "inspect", "f.csv")
                self.refuses("f.csv", "parquet", "query", "f.csv", "--parse", "parquet", "--select", "count()")
            self.assertFalse(Path(self.m.path("out.parquet")).exists())

    def test_ways_in(self):
        """Standard input, a FIFO, gzip, gzip within gzip, and the second of several files."""
        Path(self.m.path("good.csv")).write_bytes(CSV)
        for word, data in self.foreign.items():
            Path(self.m.path("f.csv")).write_bytes(data)
            Path(self.m.path("f.csv.gz")).write_bytes(gzip.compress(data))
            count = ["--select", "count() as n"]
            for command in ("mapreduce", "splice"):
                self.refuses(word, command, "good.csv", "f.csv", *count)
                self.refuses(word, command, "f.csv.gz", *count)
                self.refuses(word, command, "-", "--parse", "csv", *count, data=data)
                self.refuses(word, command, "-", "--parse", "csv", *count, data=gzip.compress(data))
            self.refuses(word, "parquet", "convert", "f.csv.gz", "out.parquet")
            os.mkfifo(self.m.path("fifo"))
            writer = threading.Thread(target=self.feed, args=(self.m.path("fifo"), data))
            writer.start()
            self.refuses(word, "splice", "fifo", "--parse", "csv", *count)
            writer.join()
            os.unlink(self.m.path("fifo"))
        twice = gzip.compress(gzip.compress(CSV))
        Path(self.m.path("twice.csv.gz")).write_bytes(twice)
        self.refuses("gzip", "mapreduce", "twice.csv.gz", "--select", "count() as n")
        self.refuses("gzip", "-q", "pipe", "--select", "line", data=twice)

    @staticmethod
    def feed(path, data):
        try:
            with open(path, "wb", buffering=0) as fifo:
                for at in range(0, len(data), 7):
                    fifo.write(data[at:at + 7])
        except BrokenPipeError:
            pass

    def test_compressed_without_a_suffix(self):
        """gzip, zstd, and zstd behind a frame to be skipped, as pzstd writes it, are found by their first bytes; a binary file
        that begins like gzip is not compressed."""
        frames = b"\x28\xb5\x2f\xfd\x20" + bytes([len(CSV)]) + struct.pack("<I", len(CSV) << 3 | 1)[:3] + CSV  # RFC 8878, a raw block
        skipped = struct.pack("<III", 0x184d2a50, 4, len(frames)) + frames
        for data in (gzip.compress(CSV), frames, skipped):
            for name in ("f.csv", "f.csv.GZ", "f.csv.Zst"):
                Path(self.m.path(name)).write_bytes(data)
                for command in ("query", "mapreduce", "splice"):
                    self.assertEqual(self.m.good(command, name, "--parse", "csv", "--select", "count() as n"), b"n\n2\n")
        Path(self.m.path("f.bin")).write_bytes(b"\x1f\x8b\x08\0" + bytes(4))
        for command in ("query", "splice"):
            self.assertEqual(self.m.good(command, "f.bin", "--parse", "fixed", "--schema", "a:u32", "--select", "count() as n"), b"n\n2\n")

    def test_zstd_window(self):
        """A frame of 15 bytes that asks for a window of 2^28 bytes is read, unless --memory is less."""
        frame = bytes.fromhex("28b52ffd00903100 00610a310a320a")
        Path(self.m.path("w.csv.zst")).write_bytes(frame)
        query = ["--schema", "a:i64", "--select", "sum(a) as s"]
        for words in (["mapreduce", "w.csv.zst"], ["splice", "w.csv.zst"]):
            self.assertEqual(self.m.good(*words, *query), b"s\n3\n")
            self.refuses("a window of 268435456 bytes", *words, *query, "--memory", "200MiB")

    def test_text_that_begins_with_letters_of_a_magic(self):
        for head in ("ORC", "PAR1", "BZh9", "PK", "DUCK", "SEQ", "GIF8", "FEA1", "Obj", "7zip", "Rar"):
            Path(self.m.path("t.csv")).write_text(f"{head},x\n1,2\n3,4\n")
            self.assertEqual(self.m.good("mapreduce", "t.csv", "--select", "count() as n"), b"n\n2\n")
            self.assertEqual(self.m.good("-q", "pipe", "--select", "line", data=f"{head} is here\n".encode()),
                             f"{head} is here\n".encode())


class Mark(SharedMachineTest):
    def test_dropped_everywhere(self):
        """The mark in front of UTF-8 is no part of the first line, word or key."""
        cases = [("csv", b"a,b\n1,2\n", ["--select", "a, b"], b"a,b\n1,2\n"),
                 ("tsv", b"a\tb\n1\t2\n", ["--select", "a, b"], b"a,b\n1,2\n"),
                 ("jsonl", b'{"a":1}\n', ["--schema", "a:i64", "--select", "a"], b"a\n1\n"),
                 ("lines", b"red\nblue\n", ["--select", "line"], b"line\nred\nblue\n"),
                 ("words", b"red blue\nred\n", ["--group-by", "word", "--select", "count() as n", "--order-by", "word"],
                  b"word,n\nblue,1\nred,2\n"),
                 ("kv", b"red\t1\nred\t2\n", ["--group-by", "key", "--select", "count() as n"], b"key,n\nred,2\n")]
        for form, data, query, right in cases:
            Path(self.m.path("t")).write_bytes(MARK + data)
            Path(self.m.path("t.gz")).write_bytes(gzip.compress(MARK + data))
            for command in ("mapreduce", "splice"):
                for name in ("t", "t.gz"):
                    self.assertEqual(self.m.good(command, name, "--parse", form, *query), right, (form, command, name))
                self.assertEqual(self.m.good(command, "-", "--parse", form, *query, data=MARK + data), right, form)
        self.assertEqual(self.m.good("-q", "pipe", "--select", "line", data=MARK + b"red\n"), b"red\n")
        Path(self.m.path("t")).write_bytes(MARK)
        for form in ("lines", "words", "kv"):
            self.assertEqual(self.m.good("mapreduce", "t", "--parse", form, "--select", "count() as n"), b"n\n0\n")

    def test_in_each_file(self):
        for name in ("a", "b"):
            Path(self.m.path(name)).write_bytes(MARK + b"red\n")
        for command in ("mapreduce", "splice"):
            self.assertEqual(self.m.good(command, "a", "b", "--parse", "lines", "--group-by", "line", "--select",
                                         "count() as n"), b"line,n\nred,2\n")


class LineEnds(SharedMachineTest):
    def says(self, word, *words, **more):
        result = self.m.run(*words, **more)
        self.assertIn(result.code, (1, 2), (words, result))
        self.assertIn(word, result.err, (words, result))

    def test_cr_alone(self):
        rows = b"n,q\r" + b"a,1\rb,2\r" * 20000
        for data in (b"n,q\ra,1\rb,2\r", b"n,q\ra,1\rb,2", rows):
            Path(self.m.path("t.csv")).write_bytes(data)
            Path(self.m.path("t.tsv")).write_bytes(data.replace(b",", b"\t"))
            Path(self.m.path("t.csv.gz")).write_bytes(gzip.compress(data))
            for name in ("t.csv", "t.tsv", "t.csv.gz"):
                for command in ("mapreduce", "splice"):
                    self.says("CR alone", command, name, "--select", "count() as n")
                    self.says("tr '\\r' '\\n'", command, name, "--select", "*")
                self.says("CR alone", "parquet", "convert", name, "out.parquet")
            self.says("CR alone", "sort", "t.csv", "--input-format", "csv", "--key", "q")
            self.says("CR alone", "mapreduce", "-", "--parse", "csv", "--select", "count() as n", data=data)
            self.says("CR alone", "mapreduce", "t.csv", "--no-header", "--schema", "n:string,q:i64", "--select", "q")
            for form in ("lines", "kv"):
                self.says("CR alone", "mapreduce", "t.csv", "--parse", form, "--select", "count() as n")
            self.says("CR alone", "pipe", "--select", "line", data=data)
            self.says("CR alone", "pipe", "--parse", "tsv", "--schema", "a:string", "--select", "a", data=data)
        Path(self.m.path("t.jsonl")).write_bytes(b'{"a":1}\r{"a":2}\r')
        self.says("CR alone", "mapreduce", "t.jsonl", "--schema", "a:i64", "--select", "count() as n")

    def test_cr_cr_lf(self):
        for data, more in ((b"id,val\r\r\n1,5\r\r\n", []), (b"1,5\r\r\n", ["--no-header", "--schema", "id:i64,val:i64"])):
            Path(self.m.path("t.csv")).write_bytes(data)
            self.says("CR CR LF", "mapreduce", "t.csv", *more, "--select", "val")
            self.says("CR CR LF", "splice", "-", "--parse", "csv", *more, "--select", "val", data=data)

    def test_empty_first_line(self):
        for data in (b"\na\n1\n2\n", b"\r\na\r\n1\r\n", MARK + b"\na\n1\n"):
            Path(self.m.path("t.csv")).write_bytes(data)
            self.says("line 1 is empty", "mapreduce", "t.csv", "--select", "count() as n")
            self.says("line 1 is empty", "splice", "t.csv", "--select", "count() as n")
        self.assertEqual(self.m.good("mapreduce", "t.csv", "--no-header", "--schema", "a:string", "--select",
                                     "count() as n"), b"n\n3\n")

    def test_what_is_fine(self):
        for data in (b'"a\rb",c\n1,2\n', b"a,c\r\n1,2\r\n", b"a,c\n1,2\r\n", b"a,c\n1,2\r"):
            Path(self.m.path("t.csv")).write_bytes(data)
            self.assertEqual(self.m.good("mapreduce", "t.csv", "--schema", "c:i64", "--select", "sum(c) as s"), b"s\n2\n")
            self.assertEqual(self.m.good("splice", "t.csv", "--schema", "c:i64", "--select", "sum(c) as s"), b"s\n2\n")
        bars = b"10%\r20%\r100%\ndone\n"  # a CR within a line
        self.assertEqual(self.m.good("-q", "pipe", "--select", "line", data=bars), bars)


class Names(SharedMachineTest):
    """Names that a header leaves out or repeats are made, and said once."""

    def says(self, out, note, *words, **more):
        result = self.m.run(*words, **more)
        self.assertEqual((result.code, result.out), (0, out), (words, result))
        self.assertEqual(result.err.count("\n"), 1 if note else 0, (words, result))
        self.assertIn(note, result.err, (words, result))

    CASES = [(b"id,val,\n1,2,\n", b"id,val,column3\n1,2,\n", "column3"), (b",x\n0,5\n", b"column1,x\n0,5\n", "column1"),
             (b"a,a\n1,2\n", b"a,a_1\n1,2\n", "a_1"), (b"a,a_1,a\n1,2,3\n", b"a,a_1,a_2\n1,2,3\n", "a_2"),
             (b"column2,,x\n1,2,3\n", b"column2,column2_1,x\n1,2,3\n", "column2_1"),
             (b"a,a,,a\n1,2,3,4\n", b"a,a_1,column3,a_2\n1,2,3,4\n", "a_1, column3, a_2")]

    def test_all_columns(self):
        for data, right, note in self.CASES:
            Path(self.m.path("t.csv")).write_bytes(data)
            Path(self.m.path("t.tsv")).write_bytes(data.replace(b",", b"\t"))
            for command in ("mapreduce", "splice"):
                self.says(right, note, command, "t.csv", "--select", "*")
                # an empty field of tsv is an empty string
                self.says(right.replace(b",\n", b',""\n'), note, command, "t.tsv", "--select", "*")
            self.says(right, note, "mapreduce", "-", "--parse", "csv", "--select", "*", data=data)
            self.says(right, note, "splice", "-", "--parse", "csv", "--select", "*", data=gzip.compress(data))
            self.says(right, note, "sort", "t.csv", "--input-format", "csv", "--key", right.split(b",")[0].decode())
            self.assertIn(note, self.m.run("parquet", "convert", "t.csv", "t.parquet").err)
            self.assertEqual(self.m.good("parquet", "query", "t.parquet", "--select", "*"), right)

    def test_by_name(self):
        Path(self.m.path("t.csv")).write_bytes(b"a,,a\n1,2,3\n4,5,6\n")
        query = ["--schema", "a:i64,column2:i64,a_1:i64", "--select", "sum(a) as a, sum(column2) as b, sum(a_1) as c"]
        self.says(b"a,b,c\n5,7,9\n", "column2, a_1", "mapreduce", "t.csv", *query)
        self.says(b"a,b,c\n5,7,9\n", "column2, a_1", "splice", "t.csv", *query)
        self.says(b"a,b,c\n10,14,18\n", "column2, a_1", "mapreduce", "t.csv", "t.csv", *query)

    def test_nul(self):
        """A name does not end at a NUL."""
        Path(self.m.path("t.csv")).write_bytes(b"h\x001,b\n7,2\n")
        self.m.bad(2, "mapreduce", "t.csv", "--schema", "h:i64", "--select", "h", says="'h'")
        self.assertEqual(self.m.good("mapreduce", "t.csv", "--select", '"h?1"'), b"h?1\n7\n")
        Path(self.m.path("t.csv")).write_bytes(b"h\x001,h\n7,2\n")
        self.assertEqual(self.m.good("mapreduce", "t.csv", "--select", "h"), b"h\n2\n")
        self.assertEqual(self.m.good("splice", "t.csv", "--select", "h"), b"h\n2\n")
        Path(self.m.path("t.csv")).write_bytes(b"h\x001,h\x002\n7,2\n")
        self.assertEqual(self.m.good("mapreduce", "t.csv", "--select", "*"), b"h?1,h?2\n7,2\n")

    def test_a_row_taken_for_a_header(self):
        Path(self.m.path("t.csv")).write_bytes(b"1,2.5,2020-01-31\n3,4,2020-02-01\n")
        for command in ("mapreduce", "splice"):
            self.says(b"n\n2\n", "--no-header", command, "t.csv", "--select", "count() as n")
            self.says(b"n\n1\n", "--no-header", command, "t.csv", "--header", "--select", "count() as n")
            self.says(b"n\n2\n", "", command, "t.csv", "--no-header", "--schema", "a:i64,b:f64,c:date", "--select",
                      "count() as n")
        Path(self.m.path("t.csv")).write_bytes(b"1,b\n3,4\n")
        self.says(b"n\n1\n", "", "mapreduce", "t.csv", "--select", "count() as n")


class Fields(SharedMachineTest):
    """Members of JSON objects: those that no object has are named once, those of nested objects are read."""

    def says(self, out, note, *words, **more):
        result = self.m.run(*words, **more)
        self.assertEqual((result.code, result.out), (0, out), (words, result))
        self.assertEqual(result.err.count("\n"), 1 if note else 0, (words, result))
        self.assertIn(note, result.err, (words, result))

    def everywhere(self, data, out, note, *query):
        """mapreduce and splice on a file, gzip and standard input."""
        Path(self.m.path("t.jsonl")).write_bytes(data)
        Path(self.m.path("t.jsonl.gz")).write_bytes(gzip.compress(data))
        for command in ("mapreduce", "splice"):
            for name in ("t.jsonl", "t.jsonl.gz"):
                self.says(out, note, command, name, *query)
            self.says(out, note, command, "-", "--parse", "jsonl", *query, data=data)

    def test_a_misspelt_name(self):
        few = b"".join(b'{"t":%d,"status":%d}\n' % (n, 500 + n) for n in range(3))
        many = few + b"".join(b'{"t":%d,"status":%d,"u":"%s"}\n' % (n, 100, b"x" * 50) for n in range(3, 5000))
        meant = "did you mean 'status'?"
        for data, note in ((few, "no record has a field 'stauts'; " + meant), (many, "none of the first ")):
            query = ["--schema", "t:i64,stauts:i64", "--where", "stauts>=500", "--select", "count() as n"]
            self.everywhere(data, b"n\n0\n", note, *query)
            self.everywhere(data, b"n\n0\n", meant, *query)
            self.everywhere(data, b"n\n3\n", "", *[word.replace("stauts", "status") for word in query])
        self.everywhere(few, b"t,status,stauts\n0,500,\n1,501,\n2,502,\n", meant, "--schema", "t:i64,stauts:i64", "--select", "*")
        self.everywhere(few, b"t\n0\n1\n2\n", "", "--schema", "t:i64,stauts:i64", "--select", "t")  # not used

    def test_several_files(self):
        for name, data in (("a", b'{"x":1}\n'), ("b", b'{"x":2}'), ("c", b'{"y":3}\n')):
            Path(self.m.path(name + ".jsonl")).write_bytes(data)
        query = ["--schema", "x:i64,y:i64", "--select", "sum(x) as x, sum(y) as y"]
        self.says(b"x,y\n3,\n", "no record has a field 'y'", "mapreduce", "a.jsonl", "b.jsonl", *query)
        for command in ("mapreduce", "splice"):
            self.says(b"x,y\n3,3\n", "", command, "a.jsonl", "b.jsonl", "c.jsonl", *query)

    def test_parquet(self):
        Path(self.m.path("t.jsonl")).write_bytes(b'{"city":"Rome"}\n')
        self.says(b"", "did you mean 'city'?", "parquet", "convert", "t.jsonl", "t.parquet", "--schema", "ctiy:string")

    def test_nulls(self):
        data = b'{"a":1,"b":null}\n' * 100
        query = ["--schema", "a:i64,b:i64", "--select", "count(b) as n"]
        self.everywhere(data, b"n\n0\n", "field 'b' is null in every record", *query)
        self.everywhere(data[:170], b"n\n0\n", "", *query)
        self.everywhere(data + b'{"b":2}\n', b"n\n1\n", "", *query)

    def test_nested(self):
        """Against json.loads: members of objects, at any depth, and names that have dots themselves."""
        seed = random.Random(7)

        def value(depth):
            kind = seed.random()
            if depth == 0 or kind < 0.4:
                return seed.choice([None, seed.randrange(100), "text"])
            if kind < 0.5:
                return [value(depth - 1)]
            return {name: value(depth - 1) for name in seed.sample(["a", "b", "c", "a.b", "d"], 3)}

        def number(record, path):
            """The member by its literal name, else along the path; an own walk, not the reader's."""
            at = record.get(path)
            if path not in record:
                at = record
                for part in path.split("."):
                    at = at.get(part) if isinstance(at, dict) else None
            return at if isinstance(at, int) else None

        records = []
        for n in range(3000):
            record = {"n": n, "p": {"q": {"r": value(0)}, "s": value(0)}, "z": value(3)}
            if n % 5 == 0:
                record["p.s"] = seed.randrange(100)
            if n % 7 == 0:
                record["p"] = [record["p"]]
            if n % 11 == 0:
                record = dict(reversed(record.items()))
            records.append(record)
        right = [b"n,r,s"]
        for record in records:
            r, s = number(record, "p.q.r"), number(record, "p.s")
            right.append(b"%d,%s,%s" % (record["n"], b"" if r is None else b"%d" % r, b"" if s is None else b"%d" % s))
        data = "".join(json.dumps(record, separators=seed.choice([(",", ":"), (", ", ": ")])) + "\n"
                       for record in records).encode()
        self.everywhere(data, b"\n".join(right) + b"\n", "", "--schema", 'n:i64,"p.q.r":string,"p.s":string',
                        "--select", 'n, try_cast("p.q.r" as i64) as r, try_cast("p.s" as i64) as s')

    def test_a_member_without_its_object(self):
        self.everywhere(b'{"req":{"ip":"::1"}}\n', b"n\n0\n", "did you mean 'req.ip'?", "--schema", "ip:string",
                        "--select", "count(ip) as n")


class Mutated(SharedMachineTest):
    """First bytes that are changed at random: the answer is an error in one line, or what another reader gets of the changed bytes.
    The readers are Python's csv, json, gzip and ast modules."""

    RUNS = 40  # of each kind

    def mutate(self, seed, data, reach):
        """One to three changes within the first `reach` bytes."""
        data = bytearray(data)
        for _ in range(seed.randrange(1, 4)):
            at = seed.randrange(min(reach, len(data)))
            kind = seed.randrange(5)
            if kind == 0:
                data[at] ^= 1 << seed.randrange(8)
            elif kind == 1:
                data[at] = seed.choice(b"\0\n\r\t\\\"',:{}[]0-\x1f\x8b\xef\xff\xfe")
            elif kind == 2:
                data.insert(at, seed.choice(b"\n\r\"[]{},:0 \0\xff"))
            elif kind == 3:
                del data[at:at + seed.randrange(1, 4)]
            else:
                data[at:at] = data[:at][-seed.randrange(1, 9):]
            if not data:
                break
        return bytes(data)

    def check(self, kind, name, data, right, *words):
        """right(data) is the wanted output, or None: only an error is right."""
        Path(self.m.path(name)).write_bytes(data)
        for command in (("mapreduce",), ("splice",)):
            got = self.m.run("-q", *command, name, *words)
            line = got.err.startswith("hacctl: ") and got.err.count("\n") == 1
            if got.code in (1, 2) and line and got.out == b"":
                continue
            wanted = right(data)
            if got.code != 0 or wanted is None or got.out.decode() != wanted:
                raise AssertionError(f"{kind} {command} of {data[:80]!r}: {got}, {wanted!r} is right, or an error")

    @staticmethod
    def totals(values):
        """n, s of values of which None is null; None if one is no whole number."""
        try:
            whole = [int(v) for v in values if v is not None]
        except (TypeError, ValueError):
            return None
        return f"n,s\n{len(values)},{sum(whole) if whole else ''}\n"

    def of_json(self, data):
        try:
            text, at, records = data.decode("utf-8-sig", "surrogateescape"), 0, []
            while text[at:].strip():
                at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
                record, at = json.JSONDecoder().raw_decode(text, at)
                records += record if isinstance(record, list) else [record]
            return self.totals([r.get("a") for r in records])
        except (ValueError, AttributeError):
            return None

    def of_csv(self, data):
        try:
            rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig", "surrogateescape"), newline=""), strict=True))
            place = [n.replace("\0", "?") for n in rows[0]].index("a")
            return self.totals([r[place] or None for r in rows[1:] if r])
        except (ValueError, IndexError, csv.Error):
            return None

    def of_gzip(self, data):
        try:
            return self.of_csv(gzip.decompress(data))
        except (OSError, EOFError, zlib.error, struct.error):
            return None

    def test_text(self):
        seed = random.Random(113)
        ask = ("--schema", "a:i64", "--select", "count() as n, sum(a) as s")
        rows = [{"b": f"x{n}", "a": n * 7, "c": {"d": [n]}} for n in range(20)]
        table = "b,a,c\n" + "".join(f'"x {n}",{n * 7},y\n' for n in range(20))
        kinds = {"lines": ("m.jsonl", "".join(json.dumps(r) + "\n" for r in rows).encode(), self.of_json, 60),
                 "array": ("m.json", json.dumps(rows).encode(), self.of_json, 90),
                 "indented": ("m.json", json.dumps(rows, indent=2).encode(), self.of_json, 90),
                 "csv": ("m.csv", table.encode(), self.of_csv, 40), "mark": ("m.csv", b"\xef\xbb\xbf" + table.encode(), self.of_csv, 12),
                 "gzip": ("m.csv.gz", gzip.compress(table.encode(), mtime=0), self.of_gzip, 30)}
        for kind, (name, data, right, reach) in kinds.items():
            self.check(kind, name, data, right, *ask)
            self.assertEqual(self.m.good("-q", "mapreduce", name, *ask).decode(), right(data), kind)  # unchanged, it is read
            for _ in range(self.RUNS):
                self.check(kind, name, self.mutate(seed, data, reach), right, *ask)

    def test_npy(self):
        seed = random.Random(127)
        whole = npy_of([3.0, 1.0, 2.0], "<f8")
        for _ in range(3 * self.RUNS):
            data = self.mutate(seed, whole, 80)
            Path(self.m.path("m.npy")).write_bytes(data)
            got = self.m.run("sort", "m.npy")
            if got.code in (1, 2) and got.err.startswith("hacctl: ") and got.err.count("\n") == 1 and got.out == b"":
                continue
            size = struct.unpack("<H", data[8:10])[0]
            try:
                header = ast.literal_eval(data[10:10 + size].decode("latin-1").strip())
            except (ValueError, SyntaxError) as why:
                raise AssertionError(f"{data!r} is read, and its header is no dictionary: {why}") from why
            code = {"<f8": "d", "<f4": "f", "<i8": "q", "<i4": "i", "<u8": "Q", "<u4": "I"}[header["descr"]]
            body = data[10 + size:]
            values = struct.unpack(f"<{header['shape'][0]}{code}", body[:header["shape"][0] * struct.calcsize(code)])
            self.assertEqual((data[:8], got.code, got.out), (b"\x93NUMPY\1\0", 0, struct.pack(f"<{len(values)}{code}", *sorted(values))), data)


class Legal(SharedMachineTest):
    """Legal forms that were refused."""

    def test_limit_of_a_pipe(self):
        """The feeder of a task writes everything, however few rows are wanted."""
        feed = [sys.executable, "-c", "import sys\nfor i in range(2000000): sys.stdout.write('some words %d\\n' % i)"]
        with subprocess.Popen(feed, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as writer:
            out = self.m.good("-q", "pipe", "--select", "line", "--limit", "3", stdin=writer.stdout)
            writer.stdout.close()
            self.assertEqual((writer.wait(60), writer.stderr.read()), (0, b""))
        self.assertEqual(out, b"some words 0\nsome words 1\nsome words 2\n")

    def test_text_like_magics(self):
        """Text in which the letters of a magic stand where the magic would."""
        for name, text in {"tar.csv": "word\n" + "x" * 251 + "\n" + "ustar\ngustar\n",
                           "seq.csv": "word\nSEQ000123\n", "seq2.txt": "SEQ000123\x01a\n"}.items():
            Path(self.m.path(name)).write_text(text)
            if name == "tar.csv":
                self.assertEqual(text.index("ustar"), 257)
            out = self.m.good("mapreduce", name, "--select", "count() as n")
            rows = len(text.splitlines()) - name.endswith(".csv")
            self.assertEqual(out, f"n\n{rows}\n".encode(), name)

    def test_lone_keys(self):
        """`key TAB`, as a streaming reducer is given keys without values."""
        query = ["--parse", "tsv", "--schema", "w:string", "--group-by", "w", "--select", "count() as n"]
        out = self.m.good("-q", "pipe", *query, data=b"apple\t\napple\t\r\npear\n")
        self.assertEqual(sorted(out.splitlines()), [b"apple\t2", b"pear\t1"])
        result = self.m.run("-q", "pipe", *query, data=b"apple\tx\n")
        self.assertEqual(result.code, 1)
        self.assertIn("2 fields instead of 1", result.err)

    def test_times_and_whole_numbers(self):
        texts = ["2020-01-31 12:00:00+0100", "2020-01-31 11:00:00 UTC", "2020-01-31 11:00:00 +00:00",
                 "2020-01-31 11:53:28+00:53:28", "2020-01-31t11:00:00z", "2020-01-31 11:00:00,000"]
        rows = [(text, number) for text in texts for number in ("1.0", "1e3", "-2.50e2", "7")]
        right = f"n,d,s\n24,1,{6 * (1 + 1000 - 250 + 7)}\n".encode()
        query = ["--schema", "t:timestamp,n:i64", "--select", "count() as n, count(distinct t) as d, sum(n) as s"]
        Path(self.m.path("t.csv")).write_text("t,n\n" + "".join(f'"{t}",{n}\n' for t, n in rows))
        Path(self.m.path("t.tsv")).write_text("t\tn\n" + "".join(f"{t}\t{n}\n" for t, n in rows))
        Path(self.m.path("t.jsonl")).write_text("".join(f'{{"t":"{t}","n":{n}}}\n' for t, n in rows))
        for name in ("t.csv", "t.tsv", "t.jsonl"):
            for command in ("mapreduce", "splice"):
                self.assertEqual(self.m.good(command, name, *query), right, (command, name))
        for number in ("1.5", "1e-1", "1e99"):
            Path(self.m.path("n.jsonl")).write_text(f'{{"n":{number}}}\n')
            self.m.bad(1, "mapreduce", "n.jsonl", "--schema", "n:i64", "--select", "sum(n)", says=f"'{number}'")


class Numbers(SharedMachineTest):
    """Sorts of raw numbers."""

    def test_other_formats(self):
        foreign = {"zip": zip_of(CSV), "xz": lzma.compress(CSV), "bzip2": bz2.compress(CSV), "7z": b"7z\xbc\xaf\x27\x1c\0\4",
                   "Parquet": bytes.fromhex(WRITTEN["Parquet"]), "Arrow": bytes.fromhex(WRITTEN["Arrow file"]), "PNG": PNG,
                   "SQLite": sqlite_of(self.m.path("base.db")), "Avro": AVRO, "lz4": bytes.fromhex(WRITTEN["lz4"])}
        for word, data in foreign.items():
            data += bytes(-len(data) % 8)
            Path(self.m.path("f")).write_bytes(data)
            self.m.bad(1, "sort", "f", "--type", "u64", says=word)
            self.m.bad(1, "sort", "-", "--type", "u64", says=word, data=data)
            right = b"".join(sorted((data[i:i + 8] for i in range(0, len(data), 8)), key=lambda b: b[::-1]))
            self.assertEqual(self.m.good("sort", "f", "--type", "u64", "--raw"), right)
            self.assertEqual(self.m.good("sort", "-", "--type", "u64", "--raw", data=data), right)

    def test_lines_of_text(self):
        """The number of bytes may fit, but nobody means text by numbers."""
        for data in (b"1\n2\n3\n4\n", b"id,x\r\n12,3.50\r\n44,1.0\r\n.\n", b'{"a":1}\n{"a":12}\n' * 1000 + b"{}\n ", b"word\tx y\n\n ~~~\n" * 40):
            data += b"\n" * (-len(data) % 8)
            Path(self.m.path("f")).write_bytes(data)
            self.m.bad(1, "sort", "f", "--type", "u32", says="--key COLUMN")
            self.m.bad(1, "sort", "-", "--type", "u64", says="is lines of text, not u64", data=data)
            right = b"".join(sorted((data[i:i + 4] for i in range(0, len(data), 4)), key=lambda b: b[::-1]))
            self.assertEqual(self.m.good("sort", "f", "--type", "u32", "--raw"), right)
        numbers = struct.pack("<6I", *b"number", )  # small numbers have bytes that text has not
        for data in (numbers, b"\n" * 4, b"words\xfc\n1", b"no line end "):
            Path(self.m.path("f")).write_bytes(data)
            self.assertEqual(len(self.m.good("sort", "f", "--type", "u32")), len(data))

    def test_records(self):
        """Binary records that are something else; magics of a few bytes may be numbers."""
        forms = (["--parse", "fixed", "--schema", "a:u8", "--select", "count() as n"],
                 ["--parse", "lengths", "--select", "count() as n"],
                 ["--parse", "typedbytes", "--select", "count() as n"])
        small, large = npy_of([1.0, 2.0]), npy_of([1.0] * 200000)  # a large file of fixed records is not read here
        for data in (small, large):
            Path(self.m.path("f")).write_bytes(data)
            for form in forms:
                for command in ("mapreduce", "splice"):
                    self.m.bad(1, command, "f", *form, says="NumPy")
                    self.m.bad(1, command, "-", *form, says="NumPy", data=data)
            self.m.bad(1, "parquet", "convert", "f", "out.parquet", "--type", "f64", says="NumPy")
        for magic in (b"PK\3\4", b"PAR1", b"\xff\xd8\xff", b"\x7fELF", b"\x28\xb5\x2f\xfd"):
            Path(self.m.path("f")).write_bytes(magic + b"\0" * 8)
            for command in ("mapreduce", "splice"):
                self.assertEqual(self.m.good(command, "f", *forms[0]), b"n\n%d\n" % (len(magic) + 8), (magic, command))

    def test_npy(self):
        for descr, code in (("<f8", "d"), ("<f4", "f"), ("<i8", "q"), ("<i4", "i"), ("<u8", "Q"), ("<u4", "I")):
            values = [3, 1, 2] * 30000 if descr == "<i4" else [3, 1, 2]
            Path(self.m.path("a.npy")).write_bytes(npy_of(values, descr))
            self.assertEqual(self.m.good("-q", "sort", "a.npy"), struct.pack(f"<{len(values)}{code}", *sorted(values)))
        self.assertEqual(self.m.good("-q", "sort", "a.npy", "--type", "u32", "--descending"), struct.pack("<3I", 3, 2, 1))
        self.m.bad(1, "-q", "sort", "a.npy", "--type", "f32", says="--type says f32")
        for data, says in ((npy_of([1.0, 2.0], ">f8"), ">f8"), (npy_of([1.0, 2.0], "<f8", (1, 2)), "(1, 2)"),
                           (npy_of([1.0], "<f8", (100,)), "cut off"), (b"\x93NUMPY\1\0\xff\xff{    ", "damaged")):
            Path(self.m.path("a.npy")).write_bytes(data)
            self.m.bad(1, "sort", "a.npy", says=says)
        self.m.bad(1, "sort", "-", "--type", "f64", says="NumPy", data=npy_of([1.0, 2.0]))
        raw = npy_of([1.0, 2.0])
        Path(self.m.path("a.npy")).write_bytes(raw)
        self.assertEqual(sorted(self.m.good("sort", "a.npy", "--type", "u32", "--raw")), sorted(raw))

    def test_null_texts(self):
        text = b'a,b\n1,x\nNA,NA\nNULL,"NA"\n2,\n'
        data = {"csv": text, "tsv": text.replace(b",", b"\t").replace(b'"NA"', b"N\\A"), "csv.gz": gzip.compress(text)}
        ask = "count() as n, sum(a) as s, count(b) as t"
        for suffix, bytes_ in data.items():
            Path(self.m.path(f"t.{suffix}")).write_bytes(bytes_)
            right = b"n,s,t\n4,3,2\n" if suffix != "tsv" else b"n,s,t\n4,3,3\n"  # an empty string of tsv is one
            for command, nulls in itertools.product(("mapreduce", "splice", "parquet query"),
                                                    (("--null", "NA,NULL"), ("--null", "NA", "--null=NULL"))):
                out = self.m.good("-q", *command.split(), f"t.{suffix}", "--schema", "a:i64,b:string", *nulls, "--select", ask)
                self.assertEqual(out, right, (suffix, command, nulls))
        got = self.m.run("pipe", "--parse", "csv", "--header", "--schema", "a:i64,b:string", "--null", "NA", "--null", "NULL", "--select", ask,
                         data=text)
        self.assertEqual((got.code, got.out), (0, b"4\t3\t2\n"))
        for parse in ("jsonl", "lines", "kv", "words"):
            for command in ("mapreduce", "splice"):
                schema = ("--schema", "a:string") if parse == "jsonl" else ()
                self.m.bad(2, command, "t.csv", "--parse", parse, *schema, "--null", "NA", "--select", "count()",
                           says=f"the input is {parse}")

    def test_trim(self):
        """Against Python's csv reader and strip."""
        text = 'city , price\r\n  Oslo, 3\n"  Rome ",4 \n  , 5\nNew York  ,6\n'
        Path(self.m.path("t.csv")).write_text(text)
        rows = list(csv.reader(io.StringIO(text)))[1:]
        cities = [row[0] if row[0].startswith("  Rome") else row[0].strip() for row in rows]
        wanted = "".join(f"{city}|{price.strip()}\n" for city, price in zip(cities, (row[1] for row in rows)))
        for command in ("mapreduce", "splice"):
            out = self.m.good(command, "t.csv", "--trim", "--schema", "city:string,price:i64",
                              "--select", "coalesce(city, '') || '|' || cast(price as string) as t")
            self.assertEqual("".join(row[0] + "\n" for row in csv.reader(io.StringIO(out.decode()))), "t\n" + wanted)
        self.m.bad(2, "mapreduce", "t.csv", "--parse", "lines", "--trim", "--select", "line",
                   says="--trim: this is an option of csv, tsv, and the input is lines")


class SortedFields(SharedMachineTest):
    """A sort of the rows of a text file moves rows and changes no field: Python's sorted is the oracle."""

    def sorted_rows(self, text, *words, name="t.csv"):
        Path(self.m.path(name)).write_text(text, newline="")
        return list(csv.reader(io.StringIO(self.m.good("-q", "sort", name, *words).decode(), newline="")))

    def test_fields_stay(self):
        dice = random.Random(3403)
        ways = (lambda v: f"{v:.2f}", lambda v: f"{v:.1f}", lambda v: f" {v:.3f}", lambda v: f"{v:.2f} ", lambda v: f"{v:.4e}", lambda v: "",
                lambda v: f"+{v:.2f}" if v > 0 else f"{v:.2f}", lambda v: f"{v:.2f}".replace("0.", ".") if 0 < v < 1 else f"{v:.2f}")
        rows = [[str(i), dice.choice(ways)(dice.randrange(-500, 500) / 4), dice.choice(("True", "false", "TRUE")), f"2024-0{dice.randrange(1, 10)}-11",
                 f"2024-01-0{dice.randrange(1, 10)}T10:00:00+02:00", dice.choice(('a,"b"', "x\r\ny", "", "007", "1e5"))] for i in range(3000)]
        out = io.StringIO()
        csv.writer(out).writerows([["id", "x", "b", "d", "t", "s"]] + rows)
        for key, of in (("x", lambda r: (r[1] == "", float(r[1] or 0))), ("d, id desc", lambda r: (r[3], -int(r[0]))), ("t", lambda r: r[4]),
                        ("b desc, x", lambda r: (r[2].lower() != "true", r[1] == "", float(r[1] or 0)))):
            for words in (("--schema", "x:f64"), ("--schema", "id:i64,x:f64,b:bool,d:date,t:timestamp,s:string")):
                got = self.sorted_rows(out.getvalue(), "--key", key, *words)
                self.assertEqual(got[0], ["id", "x", "b", "d", "t", "s"])
                self.assertEqual(got[1:], sorted(rows, key=of), (key, words))

    def test_inferred(self):
        """Decimals, whole numbers, times; as lines, since nothing needs quotes."""
        lines = [f"{n},{n % 7}.{n % 3}0,{n * 37 % 100 / 4:.2f}" for n in range(2000)]
        text = "n,p,q\n" + "".join(line + "\n" for line in lines)
        for name in ("t.csv", "t.csv.gz"):
            data = text.encode() if name == "t.csv" else gzip.compress(text.encode())
            Path(self.m.path(name)).write_bytes(data)
            for key, of in (("n desc", lambda s: -int(s.split(",")[0])), ("p", lambda s: float(s.split(",")[1])),
                            ("q desc", lambda s: -float(s.split(",")[2])), ("2", lambda s: float(s.split(",")[1])),
                            ("all", lambda s: [float(v) for v in s.split(",")]), ("p * 2 - q", lambda s: Decimal(s.split(",")[1]) * 2 - Decimal(s.split(",")[2]))):
                out = self.m.good("-q", "sort", name, "--key", key).decode()
                self.assertEqual(out.split("\n"), ["n,p,q"] + sorted(lines, key=of) + [""], (name, key))

    def test_results_with_types(self):
        Path(self.m.path("t.csv")).write_text("a,b\n2,1.50\n1,2.25\n")
        self.m.good("-q", "sort", "t.csv", "--key", "b desc", "-o", "t.parquet")
        self.assertEqual(self.m.good("-q", "query", "t.parquet", "--select", "a + 1 as c, b"), b"c,b\n2,2.25\n3,1.50\n")
        self.assertEqual(self.m.good("-q", "sort", "t.csv", "--key", "b", "--output-format", "json"), b'{"a":2,"b":1.50}\n{"a":1,"b":2.25}\n')

    def test_a_key_that_is_none(self):
        Path(self.m.path("t.csv")).write_text("a,b\n1,x\n2,y\nthree,z\n")
        for schema in ("a:i64", "a:f64", "a:decimal(9,2)", "a:date"):
            self.m.bad(1, "sort", "t.csv", "--key", "a", "--schema", schema, says=f"column a: '{'1' if schema == 'a:date' else 'three'}' is not a")
        self.assertEqual(self.m.good("-q", "sort", "t.csv", "--key", "b desc", "--schema", "a:i64"), b"a,b\nthree,z\n2,y\n1,x\n")


    def test_guards(self):
        """A key that its inferred type would change is refused, where the order of its text or of rounded values would be wrong."""
        head = 70000
        for first, late, says in (("2024-01-01 10:00:00", "2024-01-01 10:00:00+05:00", "has a zone"), ("1.50", "1.5000000000001", "more digits behind the point"),
                                  ("1", "1.5", "is not a whole number"), ("31.12.2024", "12/31/2024", "--dates mdy, which reads this value"),
                                  ("2024-12-31", "31.12.2024", "--dates dmy, which reads this value"), ("1.5", "1,5", "--decimal comma, which reads this value")):
            Path(self.m.path("t.csv")).write_text("k;n\n" + f"{first};1\n" * head + f"{late};2\n")
            self.m.bad(1, "sort", "t.csv", "--key", "k", says=f"line {head + 2}, column k: '{late}'")
            self.m.bad(1, "sort", "t.csv", "--key", "k", says=says)
            self.assertEqual(len(self.m.good("-q", "sort", "t.csv", "--key", "n desc").splitlines()), head + 2)

    def test_quoted_keys(self):
        """A field is read as text and as the key: quotes are taken off once."""
        text = 'a,b\n"10","4"\n"9","x""y"\n'
        self.assertEqual(self.sorted_rows(text, "--key", "a"), [["a", "b"], ["9", 'x"y'], ["10", "4"]])
        self.m.bad(1, "sort", "t.csv", "--key", "b", "--schema", "b:i64", says="line 3, column b: 'x\"y' is not a whole number")


if __name__ == "__main__":
    main()
