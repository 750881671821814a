#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inputs of all formats through hacctl against readers that share no code with hac: Python's csv and json modules and
DuckDB; binary records against Python's struct.

A random case is named by its seed alone: HAC_TEST_FIRST=SEED HAC_TEST_COUNT=1 runs it again.
"""
import csv
import datetime
import io
import json
import os
import random
import struct
import sys
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, TWO_DEVICES, MachineTest, main  # noqa: E402

DATA = Path(os.environ.get("HAC_TEST_DATA", "/nonexistent"))
DATA = DATA / "data" if (DATA / "data").is_dir() else DATA
FILES = sorted(p for p in DATA.glob("*") if p.suffix in (".csv", ".tsv", ".jsonl", ".ndjson"))
NO_DATA = "$HAC_TEST_DATA names no folder with csv, tsv or jsonl files: the formats are not compared on real ones"
COMMAND = "splice"


def seeds(first, count):
    first = int(os.environ.get("HAC_TEST_FIRST", first))
    return range(first, first + int(os.environ.get("HAC_TEST_COUNT", count)))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def schema_of(names, types="string"):
    types = [types] * len(names) if isinstance(types, str) else types
    return ",".join(f"{quoted(name)}:{kind}" for name, kind in zip(names, types))


class FormatCase(MachineTest):
    def read(self, machine, *words, select="*"):
        """(names, rows of texts) of the whole input. -q: a column of jsonl may be null in all rows, which is noted."""
        out = machine.good("-q", COMMAND, *words, "--select", select)
        rows = duck.read_csv(out.decode("utf-8", "surrogateescape"))
        return rows[0], rows[1:]

    def same(self, got, wanted, what):
        """Rows without an order; prints what differs."""
        got, wanted = Counter(got), Counter(map(tuple, wanted))
        if got != wanted:
            self.fail(f"{what}: too many {list((got - wanted).items())[:3]}, missing {list((wanted - got).items())[:3]}")


# ---- delimited text ----

PARTS = ("", "a", "B", " ", "  ", "0", "-1", "1.5", "é", "日本", "\U0001f600", ",", ";", "|", "\t", "\n", "\r\n", '"',
         '""', "'", "\\", "\\N", "\\t", "NULL", "NA", "#", "\x01", "long " * 40)


def random_text(rng, without=()):
    text = "".join(rng.choice(PARTS) for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))))
    for c in without:
        text = text.replace(c, "")
    return text


class Csv:
    """A random csv file: rows of texts, None where null, and the bytes."""

    def __init__(self, rng):
        self.delimiter = rng.choice((",", ",", ";", "|", "\t"))
        self.header = rng.random() < 0.7
        n = rng.choice((1, 2, 2, 3, 7))
        self.names = []
        while len(self.names) < n:
            name = random_text(rng, ("\x01",))[:40].strip() or f"c{len(self.names)}"
            name = "".join(" " if ord(c) < 32 else c for c in name)
            if name not in self.names:
                self.names.append(name)
        count = rng.choice((0, 1, 2, 5, 50, 50, 1023, 1024, 1025, 3000))
        # in one column an empty line is a null, and a row of a null is an empty line
        self.rows = [[None if rng.random() < 0.1 else random_text(rng) for _ in range(n)] for _ in range(count)]
        lines = [self.record(rng, row) for row in ([self.names] if self.header else []) + self.rows]
        end = rng.choice(("\n", "\n", "\r\n"))
        text = "".join(line + end for line in lines)
        if lines and lines[-1] and rng.random() < 0.3:
            text = text[:-len(end)]
        self.data = (b"\xef\xbb\xbf" if rng.random() < 0.2 else b"") + text.encode()

    def record(self, rng, row):
        return self.delimiter.join(self.field(rng, value) for value in row)

    def field(self, rng, value):
        if value is None:
            return ""
        special = any(c in value for c in (self.delimiter, '"', "\n", "\r"))
        return '"' + value.replace('"', '""') + '"' if special or value == "" or rng.random() < 0.2 else value

    def options(self):
        words = ["--parse", "csv", "--delimiter", self.delimiter, "--schema", schema_of(self.names)]
        return words + ["--no-header"] * (not self.header)


class Delimited(FormatCase):
    """quick part and full part by the seeds"""

    def check(self, which):
        machine = self.machine(TWO_DEVICES)
        connection = duck.connect() if duck.duckdb else None
        rows = 0
        for seed in which:
            rng = random.Random(seed)
            file = Csv(rng)
            path = machine.path("in.csv")
            Path(path).write_bytes(file.data)
            names, got = self.read(machine, path, *file.options())
            self.assertEqual(list(names), file.names, f"seed {seed}")
            self.same(got, file.rows, f"seed {seed}")
            self.by_python(seed, file)
            if connection is not None:
                self.by_duckdb(seed, connection, path, file)
            rows += len(file.rows)
        self.assertGreater(rows, 0)
        if connection is None:
            print("SKIPPED in part:", duck.WHY_NOT, file=sys.stderr)

    def by_python(self, seed, file):
        """Checks the generator's own file: csv's reader knows no nulls, and drops empty lines."""
        text = file.data.decode("utf-8-sig")
        read = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=file.delimiter, strict=True) if row]
        wanted = [["" if v is None else v for v in row] for row in file.rows if len(row) > 1 or row[0] is not None]
        self.assertEqual(read[file.header:], wanted, f"seed {seed}: Python's csv module")

    def by_duckdb(self, seed, connection, path, file):
        if len(file.names) == 1 or b"\r" in file.data and b"\n" in file.data.replace(b"\r\n", b""):
            return  # DuckDB drops empty lines, and accepts one kind of line end in a file
        types = ", ".join(f"'{i}': 'VARCHAR'" for i in range(len(file.names)))
        read = connection.execute(
            f"SELECT * FROM read_csv(?, delim = ?, header = ?, quote = '\"', escape = '\"', columns = {{{types}}}, "
            "auto_detect = false, null_padding = false, allow_quoted_nulls = false, max_line_size = 10000000)",
            [path, file.delimiter, file.header]).fetchall()
        self.same(read, file.rows, f"seed {seed}: DuckDB")


class Quick(Delimited):
    def test_generated_csv(self):
        self.check(seeds(1, 12))

    def test_generated_binary(self):
        Binary.check(self, seeds(1, 6))


class Generated(Delimited):
    """full"""

    def test_csv(self):
        self.check(seeds(1000, 50))

    def test_tsv_and_jsonl(self):
        machine = self.machine(ONE_DEVICE)
        for seed in seeds(2000, 20):
            rng = random.Random(seed)
            file = Csv(rng)
            rows = [[v for v in row] for row in file.rows]
            for form, data in (("tsv", self.tsv(rng, file)), ("jsonl", self.jsonl(rng, file))):
                path = machine.path("in." + form)
                Path(path).write_bytes(data)
                words = ["--no-header"] if form == "tsv" else []
                names, got = self.read(machine, path, *words, "--schema", schema_of(file.names))
                self.assertEqual(list(names), file.names)
                self.same(got, rows, f"seed {seed}, {form}")
            for line, row in zip(self.jsonl(rng, file).decode().split("\n"), rows):  # json's own reader agrees
                self.assertEqual([json.loads(line).get(name) for name in file.names], row)

    @staticmethod
    def tsv(rng, file):
        escapes = str.maketrans({"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"})
        lines = ["\t".join("\\N" if v is None else v.translate(escapes) for v in row) for row in file.rows]
        end = rng.choice(("\n", "\r\n"))
        return "".join(line + end for line in lines).encode()

    @staticmethod
    def jsonl(rng, file):
        lines = []
        for row in file.rows:
            pairs = [(n, v) for n, v in zip(file.names, row) if v is not None or rng.random() < 0.5]
            rng.shuffle(pairs)
            spaces = rng.choice(((",", ":"), (", ", ": "), (" , ", " : ")))
            lines.append(json.dumps(dict(pairs), ensure_ascii=rng.random() < 0.5, separators=spaces))
        return "".join(line + "\n" for line in lines).encode()


class Rows:
    def __init__(self, names, rows):
        self.names, self.rows = names, rows


@unittest.skipUnless(FILES, NO_DATA)
class RealFiles(FormatCase):
    """full: every csv, tsv and jsonl file of the data, whole, in all text formats."""

    def rows_of(self, path):
        data = path.read_bytes()
        if path.suffix in (".jsonl", ".ndjson"):
            rows = [json.loads(line) for line in data.splitlines() if line.strip()]
            names = list(dict.fromkeys(name for row in rows for name in row))
            return names, [[row.get(n) if isinstance(row.get(n), (str, type(None))) else json.dumps(row[n])
                            for n in names] for row in rows]
        if path.suffix == ".tsv":
            names, *rows = (line.split("\t") for line in data.decode().splitlines())
            return names, rows
        names, *rows = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), strict=True)
        return names, [[v or None for v in row] for row in rows if row]

    def test_whole_files(self):
        machine = self.machine(TWO_DEVICES)
        for path in FILES:
            with self.subTest(file=path.name):
                names, rows = self.rows_of(path)
                self.assertGreater(len(rows), 0)
                _, got = self.read(machine, path, "--schema", schema_of(names))
                if b'""' in path.read_bytes():  # "" is an empty string, and csv's reader does not distinguish
                    got = [tuple(v or None for v in row) for row in got]
                self.same(got, rows, path.name)
                self.rewritten(machine, path, names, rows)

    def rewritten(self, machine, path, names, rows):
        file = Rows(names, rows)
        rng = random.Random(path.name)
        for form, data in (("tsv", Generated.tsv(rng, file)), ("jsonl", Generated.jsonl(rng, file))):
            again = machine.path("again." + form)
            Path(again).write_bytes(data)
            words = ["--no-header"] if form == "tsv" else []
            _, got = self.read(machine, again, *words, "--schema", schema_of(names))
            self.same(got, rows, f"{path.name} as {form}")

    @unittest.skipUnless(duck.duckdb, duck.WHY_NOT)
    def test_by_duckdb(self):
        machine = self.machine(ONE_DEVICE)
        connection = duck.connect()
        for path in (p for p in FILES if p.suffix == ".csv"):
            with self.subTest(file=path.name):
                rows = connection.execute("SELECT * FROM read_csv(?, all_varchar = true, header = true)",
                                          [str(path)]).fetchall()
                names, _ = self.rows_of(path)
                _, got = self.read(machine, path, "--schema", schema_of(names))
                self.same(got, rows, path.name)


# ---- binary records ----

EPOCH = datetime.date(1970, 1, 1)
INTEGERS = {"i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I", "u64": "Q"}
KINDS = (*INTEGERS, "f32", "f64", "bool", "date", "timestamp", "decimal(9,2)", "decimal(30,5)")


def random_value(rng, kind):
    """(as it is stored, what hac prints)"""
    if kind in INTEGERS:
        size = struct.calcsize("=" + INTEGERS[kind])
        low, high = (0, 256**size - 1) if kind[0] == "u" else (-256**size // 2, 256**size // 2 - 1)
        value = rng.choice((low, high, 0, 1, rng.randint(low, high)))
        return value, str(value)
    if kind in ("f32", "f64"):
        value = struct.unpack("=f", struct.pack("=f", rng.gauss(0, 1000)))[0] if kind == "f32" else rng.gauss(0, 1e9)
        return value, value
    if kind == "bool":
        value = rng.random() < 0.5
        return value, str(value).lower()
    if kind == "date":
        days = rng.randint(-100000, 100000)
        return days, str(EPOCH + datetime.timedelta(days))
    if kind == "timestamp":
        micros = rng.randint(-10**15, 10**15)
        return micros, str(datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=micros))
    digits, scale = map(int, kind[8:-1].split(","))
    value = rng.randint(-10**digits + 1, 10**digits - 1)
    return value, decimal_text(value, scale)


def decimal_text(value, scale):
    digits = str(abs(value)).rjust(scale + 1, "0")
    return "-" * (value < 0) + digits[:-scale] + "." + digits[-scale:]


def stored(order, kind, value):
    if kind in INTEGERS:
        return struct.pack(order + INTEGERS[kind], value)
    letters = {"f32": "f", "f64": "d", "bool": "?", "date": "i", "timestamp": "q", "decimal(9,2)": "q"}
    if kind in letters:
        return struct.pack(order + letters[kind], value)
    return value.to_bytes(16, "big" if order == ">" else "little", signed=True)


class Binary(FormatCase):
    """full: lengths, fixed and typedbytes, made with struct"""

    def test_random(self):
        self.check(seeds(3000, 35))

    def check(self, which):
        machine = self.machine(TWO_DEVICES)
        for seed in which:
            rng = random.Random(seed)
            big = rng.random() < 0.5
            for form in ("fixed", "lengths", "typedbytes"):
                names, kinds, rows, data = getattr(Binary, form)(rng, ">" if big else "<")
                path = machine.path("in.bin")
                Path(path).write_bytes(data)
                words = [path, "--parse", form, "--schema", schema_of(names, kinds)]
                if form != "typedbytes" and big:
                    words += ["--byte-order", "big"]
                got_names, got = Binary.read(self, machine, *words)
                self.assertEqual(list(got_names), names)
                got = [tuple(float(v) if k in ("f32", "f64") and v is not None else v for k, v in zip(kinds, row))
                       for row in got]
                if "f32" in kinds:  # printed as the shortest text that is that f32
                    got = [tuple(struct.unpack("=f", struct.pack("=f", v))[0] if k == "f32" and v is not None else v
                                 for k, v in zip(kinds, row)) for row in got]
                Binary.same(self, got, rows, f"seed {seed}, {form}, {'big' if big else 'little'}-endian")

    @staticmethod
    def columns(rng, kinds):
        kinds = [rng.choice(kinds) for _ in range(rng.choice((1, 2, 3, 8)))]
        return [f"c{i}" for i in range(len(kinds))], kinds

    @staticmethod
    def count(rng):
        return rng.choice((1, 2, 10, 100, 1023, 1024, 1025, 5000))

    @staticmethod
    def fixed(rng, order):
        names, kinds = Binary.columns(rng, KINDS)
        rows, data = [], b""
        for _ in range(Binary.count(rng)):
            values = [random_value(rng, k) for k in kinds]
            rows.append([shown for _, shown in values])
            data += b"".join(stored(order, k, v) for k, (v, _) in zip(kinds, values))
        return names, kinds, rows, data

    @staticmethod
    def lengths(rng, order):
        names, kinds = Binary.columns(rng, (*KINDS, "string", "string", "string"))
        rows, parts = [], []
        for _ in range(Binary.count(rng)):
            row, record = [], b""
            for i, kind in enumerate(kinds):
                if kind == "string":
                    shown = random_text(rng) * rng.choice((1, 1, 1, 30))
                    text = shown.encode()
                    record += (struct.pack(order + "I", len(text)) if i + 1 < len(kinds) else b"") + text
                else:
                    value, shown = random_value(rng, kind)
                    record += stored(order, kind, value)
                row.append(shown)
            rows.append(row)
            parts.append(struct.pack(order + "I", len(record)) + record)
        return names, kinds, rows, b"".join(parts)

    @staticmethod
    def typedbytes(rng, _):
        names, kinds = Binary.columns(rng, ("i64", "f64", "string", "string", "bool", "i32", "date", "decimal(30,5)"))
        if len(kinds) == 1:
            names, kinds = names + ["c1"], kinds + ["string"]
        rows, parts = [], []
        for _ in range(Binary.count(rng)):
            row, objects = [], []
            for kind in kinds:
                shown, data = Binary.typed_value(rng, kind)
                row.append(shown)
                objects.append(data)
            if len(kinds) > 2:
                left = rng.choice((len(objects), len(objects), rng.randint(1, len(objects))))
                row = row[:left] + [None] * (len(row) - left)
                inner = b"".join(objects[1:left])
                objects = [objects[0], b"\x09" + inner + b"\xff" if rng.random() < 0.5 else
                           b"\x08" + struct.pack(">I", left - 1) + inner]
            rows.append(row)
            parts += objects
        return names, kinds, rows, b"".join(parts)

    @staticmethod
    def typed_value(rng, kind):
        def text(t, code=7):
            return bytes([code]) + struct.pack(">I", len(t.encode())) + t.encode()
        if kind == "string":
            if rng.random() < 0.2:  # numbers become text
                value = rng.randint(-2**63, 2**63 - 1)
                return str(value), b"\4" + struct.pack(">q", value)
            shown = random_text(rng)
            return shown, text(shown, rng.choice((0, 7, 50, 200)))
        value, shown = random_value(rng, kind)
        if rng.random() < 0.1:
            return None, text("", rng.choice((0, 7)))
        if kind in ("i32", "i64", "f64", "bool") and rng.random() < 0.8:
            if kind in ("i32", "i64") and abs(value) < 128 and value != 128:
                return shown, b"\1" + struct.pack(">b", value)
            return shown, {"i32": b"\3", "i64": b"\4", "f64": b"\6", "bool": b"\2"}[kind] + stored(">", kind, value)
        return shown, text(repr(shown) if kind == "f64" else shown)


if __name__ == "__main__":
    main()
