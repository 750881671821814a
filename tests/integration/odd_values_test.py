#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Odd values through every way in: each input gives the values that are written beside it, by hand, or is refused."""
import gzip
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SharedMachineTest, main  # noqa: E402

try:
    import pyarrow
except ImportError:
    pyarrow = None

LATE = 70000  # more records than types are inferred from
NO = None     # a null
MICRO = "2024-01-01 00:00:00.123456"


def csv_of(*values, end="\n"):
    return ("id,v" + end + "".join(f"{i},{v}{end}" for i, v in enumerate(values))).encode()


def late(first, last):
    """Behind the records that decide the type."""
    return csv_of(*[first] * LATE, last)


def lines_of(*values):
    return "".join(f'{{"id":{i},"v":{v}}}\n' for i, v in enumerate(values)).encode()


# name: (bytes, the values of column v as JSON has them, numbers as text), or (bytes, a word of the refusal)
CSV = {
    "leading zeros": (csv_of("007", "12", "000"), ["007", "12", "000"]),
    "a plus": (csv_of("+5", "7"), ["+5", "7"]),
    "minus zero": (csv_of("-0", "3"), ["-0.0", "3.0"]),
    "mixed decimals": (csv_of("1.50", "2.5", "3"), ["1.5", "2.5", "3.0"]),
    "cents": (csv_of("1.50", "2.25", "-0.05"), ["1.50", "2.25", "-0.05"]),
    "no digits before the point": (csv_of(".5", "1.5"), ["0.5", "1.5"]),
    "exponents": (csv_of("1e3", "2.5"), ["1000.0", "2.5"]),
    "hexadecimal": (csv_of("0x10", "12"), ["0x10", "12"]),
    "underscores": (csv_of("1_000", "12"), ["1_000", "12"]),
    "beyond i64": (csv_of("9223372036854775807", "9223372036854775808"), ["9223372036854775807", "9223372036854775808"]),
    "i64": (csv_of("9223372036854775807", "-9223372036854775808"), ["9223372036854775807", "-9223372036854775808"]),
    "beyond 2^53 among fractions": (csv_of("9007199254740993", "0.5"), ["9007199254740993", "0.5"]),
    "many digits": (csv_of("0.1234567890123456789012", "0.5"), ["0.12345678901234568", "0.5"]),
    "beyond f64": (csv_of("1e400", "1.5"), ["1e400", "1.5"]),
    "inf among numbers": (csv_of("inf", "1.5"), ["inf", "1.5"]),
    "words for nothing": (csv_of("NA", "1"), ["NA", "1"]),
    "bools and numbers": (csv_of("true", "0"), ["true", "0"]),
    "bools": (csv_of("true", "FALSE"), [True, False]),
    "empty and quoted empty": (csv_of("", '""', "x"), [NO, "", "x"]),
    "nulls among numbers": (csv_of("", "5"), [NO, "5"]),
    "quoted numbers": (csv_of('"12"', "13"), ["12", "13"]),
    "quoted newlines": (csv_of('"a\nb"', '"c\r\nd"', '"e""f"'), ["a\nb", "c\r\nd", 'e"f']),
    "quoted delimiters": (csv_of('"1,5"', '"2"'), ["1,5", "2"]),
    "crlf": (csv_of("x", "y", end="\r\n"), ["x", "y"]),
    "crlf and numbers": (csv_of("1", "2", end="\r\n"), ["1", "2"]),
    "crlf and lf": (b"id,v\r\n0,x\n1,y\r\n", ["x", "y"]),
    "no last line end": (b"id,v\n0,1\n1,2", ["1", "2"]),
    "a mark": (b"\xef\xbb\xbf" + csv_of("1", "2"), ["1", "2"]),
    "spaces": (csv_of(" 12", "13 "), ["12", "13"]),
    "a NUL": (csv_of("a\0b", "c"), ["a\0b", "c"]),
    "a NUL in a number": (csv_of("1\0", "2"), ["1\0", "2"]),
    "a date that is none": (csv_of("2024-02-30", "2024-02-28"), ["2024-02-30", "2024-02-28"]),
    "dates and times": (csv_of("2024-02-29", "2024-02-28 12:00:00"), ["2024-02-29 00:00:00", "2024-02-28 12:00:00"]),
    "nanoseconds": (csv_of(MICRO + "789", MICRO), [MICRO + "789", MICRO]),
    "zeros below a microsecond": (csv_of(MICRO + "000", MICRO), [MICRO, MICRO]),
    "mixed zones": (csv_of("2024-01-01 00:00:00+02:00", "2024-01-01 00:00:00"), ["2023-12-31 22:00:00+00", "2024-01-01 00:00:00+00"]),
    "leap seconds": (csv_of("2016-12-31 23:59:60", "2016-12-31 23:59:59"), ["2016-12-31 23:59:60", "2016-12-31 23:59:59"]),
    "too few fields": (b"id,v\n0,1\n1\n", "line 3"),
    "too many fields": (b"id,v\n0,1\n1,2,3\n", "line 3"),
    "a delimiter at the end of rows": (b"id,v\n0,1,\n1,2,\n", "line 2"),
    "a delimiter at each end": (b"id,v,\n0,1,\n1,2,\n", ["1", "2"]),
    "lone cr": (b"id,v\r0,1\r1,2\r", "CR"),
    "cr cr lf": (b"id,v\r\r\n0,1\r\r\n", "CR"),
    "an open quote": (csv_of('"x', "y"), "quote"),
    "a quote inside": (csv_of('x"y', "z"), "double quote inside a field"),
    "text behind a quote": (csv_of('"x"y', "z"), "double quote inside a field"),
    "late text": (late("1", "x"), f"line {LATE + 2}, column v: 'x'"),
    "late fraction": (late("1", "1.5"), f"line {LATE + 2}, column v: '1.5'"),
    "late zeros": (late("1", "007"), f"line {LATE + 2}, column v: '007'"),
    "late zeros of a fraction": (late("0.5", "-00.5"), f"line {LATE + 2}, column v: '-00.5'"),
    "late zeros of money": (late("0.50", " 01.50"), f"line {LATE + 2}, column v: ' 01.50'"),
    "a late plus": (late("1", "+49"), f"line {LATE + 2}, column v: '+49'"),
    "late beyond i64": (late("1", "9223372036854775808"), f"line {LATE + 2}, column v: '9223372036854775808'"),
    "late digits of a decimal": (late("1.25", "1.255"), f"line {LATE + 2}, column v: '1.255'"),
    "late nanoseconds": (late(MICRO, MICRO + "7"), f"line {LATE + 2}, column v"),
    "late zone": (late("2024-01-01 00:00:00", "2024-01-01 00:00:00+05:00"), f"line {LATE + 2}, column v"),
    "late time of dates": (late("2024-01-01", "2024-01-01 10:00:00"), f"line {LATE + 2}, column v"),
    "late comma": (late("1", '"1,5"'), f"line {LATE + 2}, column v: '1,5'"),
    "late row": (late("1", "2,3"), f"line {LATE + 2}"),
}
JSONL = {
    "beyond i64": (lines_of("9223372036854775808", "1"), ["9223372036854775808", "1"]),
    "u64": (lines_of("18446744073709551615", "0.5"), ["18446744073709551615", "0.5"]),
    "beyond f64": (lines_of("1e400", "1"), ["1e400", "1"]),
    "mixed kinds": (lines_of('"1"', "2"), ["1", "2"]),
    "words": (lines_of("true", "0"), ["true", "0"]),
    "minus zero": (lines_of("-0", "3"), ["-0.0", "3.0"]),
    "escapes": (lines_of('"a\\u0000b\\n\\ud83d\\ude00"', '"\\/"'), ["a\0b\n\U0001f600", "/"]),
    "half a pair": (lines_of('"\\ud83d"', '"x"'), "surrogate"),
    "a name twice": (b'{"id":0,"v":1,"v":2}\n{"id":1,"v":3}\n', ["2", "3"]),
    "a leading zero": (lines_of("007", "1"), "starts with 0"),
    "a comma at the end": (b'{"id":0,"v":1,}\n', "name"),
    "single quotes": (b"{'id':0,'v':1}\n", "name"),
    "cut off": (b'{"id":0,"v":1}\n{"id":1,"v"', "line 2"),
    "two objects": (b'{"id":0,"v":1}{"id":1,"v":2}\n', "something follows the object"),
    "crlf": (b'{"id":0,"v":1}\r\n{"id":1,"v":2}\r\n', ["1", "2"]),
    "a mark": (b"\xef\xbb\xbf" + lines_of("1", "2"), ["1", "2"]),
    "late text": (lines_of(*["1"] * LATE, '"x"'), f"line {LATE + 1}, column v: 'x'"),
    "late object": (lines_of(*["1"] * LATE, '{"a":1}'), f"line {LATE + 1}, column v"),
    "late fraction": (lines_of(*["1"] * LATE, "1.5"), f"line {LATE + 1}, column v: '1.5'"),
}


class OddValues(SharedMachineTest):
    def rows(self, out):
        """Column v by id."""
        records = [json.loads(line, parse_float=str, parse_int=str) for line in out.decode("utf-8", "surrogateescape").splitlines()]
        return [r["v"] for r in sorted(records, key=lambda r: int(r["id"]))]

    def ways(self, suffix, data):
        """(What, what hacctl says, how often each record comes): files, streams, packed, two files, written and sorted."""
        m = self.m
        name = f"t.{suffix}"
        Path(m.path(name)).write_bytes(data)
        Path(m.path(f"{name}.gz")).write_bytes(gzip.compress(data, 1))
        Path(m.path(f"other.{suffix}")).write_bytes(data)
        star = ("--select", "*", "--output-format", "json")
        yield "file", m.run("-q", "query", name, *star), 1
        yield "splice", m.run("-q", "splice", name, *star, "-o", "out"), 1
        yield "mapreduce", m.run("-q", "mapreduce", name, *star), 1
        yield "pipe", m.run("-q", "splice", "-", "--parse", suffix, *star, "-o", "out", data=data), 1
        yield "stream", m.run("-q", "query", "-", "--parse", suffix, *star, "-o", "out", data=data), 1
        yield "gzip", m.run("-q", "query", f"{name}.gz", *star, "-o", "out"), 1
        yield "two files", m.run("-q", "query", name, f"other.{suffix}", *star, "-o", "out"), 2
        if pyarrow is not None:
            Path(m.path(f"{name}.zst")).write_bytes(pyarrow.compress(data, codec="zstd", asbytes=True))
            yield "zstd", m.run("-q", "query", f"{name}.zst", *star, "-o", "out"), 1
        for source in (name, f"{name}.gz"):
            out = m.run("-q", "parquet", "convert", source, "t.parquet")
            yield f"convert {source}", m.run("-q", "query", "t.parquet", *star) if out.code == 0 else out, 1
        if suffix == "csv":
            yield "sort", m.run("-q", "sort", name, "--key", "v", "--output-format", "json"), 1
            yield "sort of a stream", m.run("-q", "sort", "-", "--input-format", "csv", "--key", "v desc", "--output-format", "json", data=data), 1
            out = m.run("-q", "sort", name, "--key", "v", "-o", "sorted.parquet")
            yield "sort to a file", m.run("-q", "query", "sorted.parquet", *star) if out.code == 0 else out, 1

    def check(self, suffix, cases):
        for about, (data, right) in cases.items():
            for way, got, times in self.ways(suffix, data):
                with self.subTest(suffix=suffix, about=about, way=way):
                    if isinstance(right, str):
                        self.assertEqual((got.code, got.out), (1, b""), got)
                        self.assertIn(right, got.err)
                        continue
                    self.assertEqual((got.code, got.err), (0, ""), got)
                    out = got.out or Path(self.m.path("out")).read_bytes()
                    self.assertEqual(self.rows(out), [v for v in right for _ in range(times)])

    def test_csv(self):
        self.check("csv", CSV)

    def test_jsonl(self):
        self.check("jsonl", JSONL)

    def late_line(self, first, last):
        """What hacctl says of a record behind those that decide, and with the schema that it proposes."""
        Path(self.m.path("late.jsonl")).write_text(f"{first}\n" * LATE + f"{last}\n")
        star = ("-q", "query", "late.jsonl", "--select", "*", "--output-format", "json", "--offset", str(LATE))
        said = self.m.run(*star)
        schema = re.search(r"with --schema '(.*)'", said.err)
        return said, self.m.run(*star, "--schema", schema[1]) if schema else None

    def test_late_names(self):
        """A name of none of the first records is an error, and the schema that it proposes reads the value."""
        for text, kind, value in (("1", "i64", "1"), ("1E5", "f64", "100000.0"), ("1.5", "f64", "1.5"), ("-7", "i64", "-7"), ("18446744073709551615", "f64", "1.8446744073709552e19"),
                                  ("-Infinity", "f64", None), ("NaN", "f64", None), ("true", "bool", True), ('"x"', "string", "x"), ("[1]", "string", "[1]"),
                                  ("9223372036854775807", "i64", "9223372036854775807")):
            said, read = self.late_line('{"a":1}', f'{{"a":2,"b":{text}}}')
            self.assertEqual(said.code, 1, said)
            self.assertIn(f"--schema '\"b\":{kind}'", said.err)
            self.assertEqual((read.code, read.err), (0, ""), (text, read))
            if value is not None:
                found = json.loads(read.out, parse_float=str, parse_int=str)["b"]
                self.assertTrue(found == value or (kind == "f64" and float(found) == float(value)), (text, read))

    def test_late_names_of_no_column(self):
        for name in ("", "x" * 128, "b\\u0000c", "b\\u0000"):
            said, _ = self.late_line('{"a":1}', f'{{"a":2,"{name}":5}}')
            self.assertEqual(said.code, 1, (name, said))
            self.assertIn(f"line {LATE + 1}: byte", said.err)
            self.assertIn("a name that cannot be a column's", said.err)
        said, _ = self.late_line('{"a":1,"o":{"p":{"q":1}}}', '{"a":2,"o":{"":5}}')
        self.assertIn("a name that cannot be a column's", said.err)

    def test_late_kinds(self):
        """An object that later is none, and values that tell as little as a missing one."""
        for value in ("[]", '""', "5", "false", '[{"p":1}]'):
            for first, last, name in (('{"a":1,"o":{"p":1}}', f'{{"a":2,"o":{value}}}', "o"), ('{"a":1,"o":{"p":{"q":1}}}', f'{{"a":2,"o":{{"p":{value}}}}}', "o.p")):
                said, read = self.late_line(first, last)
                self.assertEqual(said.code, 1, (last, said))
                self.assertIn(f"'{name}' is no object here, and is one in the first records", said.err)
                self.assertEqual((read.code, read.err), (0, ""), (last, read))
                self.assertEqual(str(json.loads(read.out, parse_int=str)[name]).lower(), json.loads(value) if value == '""' else value, (last, read))
        for value in ("null", "{}", '{"c":null}', '{ "c" : { "d" : null , "" : {} } , "e\\u0000\\"" : null }', '{"c":{"d":{"e":{}}}}'):
            said, _ = self.late_line('{"a":1}', f'{{"a":2,"b":{value} , "c" : {value}}}')
            self.assertEqual((said.code, said.err, said.out), (0, "", b'{"a":2}\n'), (value, said))
        for value in ('{"c":1}', '{"c":null,"d":0}', '{"c":{"d":[]}}', '{"c":{"d":null},"e":""}', '{"d":{},"c":nul}', '{"d":null'):
            said, _ = self.late_line('{"a":1}', f'{{"a":2,"b":{value}}}')
            self.assertEqual(said.code, 1, (value, said))


class Zeros(SharedMachineTest):
    """-0.0 and 0.0 are one value, as NaNs are: of keys, of distinct values, of orders and of parts that are merged."""

    def test_one_group(self):
        for head in ("-0.0", "0.0"):
            keys = [head, "-0.0", "0.0", "nan", "-nan", "1.5"] * 30000
            data = "k,v\n" + "".join(f"{k},{i % 7}\n" for i, k in enumerate(keys))
            Path(self.m.path("z.csv")).write_text(data)
            sums = {"0.0": 0, "nan": 0, "1.5": 0}
            for i, k in enumerate(keys):
                sums[k.lstrip("-")] += i % 7
            for kind in ("f32", "f64"):
                schema = ("--schema", f"k:{kind},v:i64")
                self.m.good("-q", "parquet", "convert", "z.csv", "z.parquet", *schema)
                for words, data_in in ((("mapreduce", "z.csv", *schema, "--engine", "host"), None), (("mapreduce", "z.csv", *schema, "--engine", "device"), None),
                                       (("splice", "-", "--parse", "csv", *schema), data.encode()), (("query", "z.parquet"), None),
                                       (("query", "z.csv", "z.csv", *schema), None)):
                    times = 2 if words.count("z.csv") == 2 else 1
                    out = self.m.good("-q", *words, "--group-by", "k", "--select", "sum(v) as s", data=data_in).decode()
                    got = [line.split(",") for line in out.splitlines()[1:]]
                    self.assertEqual(sorted((k.lstrip("-"), int(s)) for k, s in got), sorted((k, s * times) for k, s in sums.items()), (words, head))
                    self.assertEqual(self.m.good("-q", *words, "--select", "count(distinct k) as n", data=data_in), b"n\n3\n", (words, head))
                    self.assertEqual(len(self.m.good("-q", *words, "--select", "k", "--distinct", data=data_in).splitlines()), 4, (words, head))
                    self.assertEqual(self.m.good("-q", *words, "--where", "k = 0", "--select", "sum(v) as s", data=data_in), f"s\n{sums['0.0'] * times}\n".encode())
                    self.assertEqual(len(self.m.good("-q", *words, "--select", "k, v", "--limit", "1", "--limit-by", "k", data=data_in).splitlines()), 4)
                out = self.m.good("-q", "query", "z.csv", *schema, "--where", "k = 0", "--order-by", "k, v", "--select", "v").split()[1:]
                self.assertEqual(out, sorted(out), "an order by equal keys is that of the next one")


if __name__ == "__main__":
    main()
