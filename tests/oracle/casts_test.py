#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Casts between all pairs of types at their limits. Fractions compute what each value is in the other type, or that it
is none; what a value prints is read back. round(x, digits), and times with nanoseconds."""
import csv
import io
import json
import math
import random
import struct
import sys
import unittest
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

INTEGERS = {f"{sign}{bits}": ((-2**(bits - 1), 2**(bits - 1) - 1) if sign == "i" else (0, 2**bits - 1))
            for sign in "iu" for bits in (8, 16, 32, 64)}
DECIMALS = {"decimal(10,2)": (10, 2), "decimal(18,4)": (18, 4), "decimal(38,0)": (38, 0), "decimal(38,38)": (38, 38),
            "decimal(1,0)": (1, 0)}
FLOATS = ("f32", "f64")
NUMBERS = (*INTEGERS, *DECIMALS, *FLOATS)
F32_MAX = 340282346638528859811704183484516925440


def near(value, bits):
    """The float nearest to a fraction, ties to even; None if it would be infinite."""
    try:
        number = float(value)
    except OverflowError:
        return None
    if bits == 64:
        return number
    if abs(value) >= Fraction(F32_MAX) + Fraction(2)**103:
        return None
    low = struct.unpack("f", struct.pack("f", min(max(number, -F32_MAX), F32_MAX)))[0]
    neighbours = [low, *(v for v in (step(low, 1), step(low, -1)) if math.isfinite(v))]
    return min(neighbours, key=lambda v: (abs(Fraction(v) - value), struct.unpack("I", struct.pack("f", v))[0] & 1))


def step(number, by):
    """The f32 above or below."""
    bits = struct.unpack("i", struct.pack("f", number))[0]
    order = bits if bits >= 0 else -(bits & 0x7fffffff)
    order += by
    return struct.unpack("f", struct.pack("I", order if order >= 0 else 0x80000000 | -order))[0]


def half_even(value):
    return round(value)


def half_away(value):
    whole = math.floor(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def convert(value, source, to):
    """The value of a number in another type, as a fraction; None: it is not there."""
    if to in FLOATS:
        number = near(value, int(to[1:]))
        return None if number is None else Fraction(number)
    if to in INTEGERS:
        whole = half_even(value) if source in FLOATS else half_away(value)
        low, high = INTEGERS[to]
        return Fraction(whole) if low <= whole <= high else None
    digits, scale = DECIMALS[to]
    whole = half_away(value * 10**scale)
    return Fraction(whole, 10**scale) if abs(whole) < 10**digits else None


def limits(kind):
    if kind in INTEGERS:
        return [Fraction(v) for v in (*INTEGERS[kind], 0, 1, 100, INTEGERS[kind][1] // 2 + 1)]
    if kind in DECIMALS:
        digits, scale = DECIMALS[kind]
        return [Fraction(v, 10**scale) for v in (10**digits - 1, 1 - 10**digits, 0, 1, -5, 10**digits // 2, -(10**digits // 2 + 1))]
    values = [0.5, 1.5, 2.5, -0.5, 127.5, 255.5, -128.5, 2.0**31, 2.0**53 + 2, 2.0**63, -2.0**63, 2.0**64, 1e10, 99999999.995,
              float(F32_MAX), 1e-45, 3.0, 1e37]
    if kind == "f64":
        values += [3.4028235677973362e38, 3.4028235677973366e38, -3.4028235677973366e38, 1e300, 5e-324, 9.9e37, 2.0**63 - 1024,
                   0.1, 0.005, 1e38]
    return [Fraction(struct.unpack("f", struct.pack("f", v))[0] if kind == "f32" else v) for v in values]


def text_of(value, kind):
    if kind in INTEGERS:
        return str(value.numerator)
    if kind in FLOATS:
        return repr(float(value))
    scale = DECIMALS[kind][1]
    whole = value * 10**scale
    digits = str(abs(whole.numerator)).rjust(scale + 1, "0")
    return ("-" if value < 0 else "") + (digits if scale == 0 else f"{digits[:-scale]}.{digits[-scale:]}")


# Texts that casts take. Left out: what hac refuses by intent (1e400 as a float, nanoseconds, zones by name, years of two
# digits, 24:00), and `+02`, which DuckDB's TIMESTAMP drops.
SPELLINGS = {
    ("i64", "bigint"): [" 12", "12 ", "\t12", "\n12", "\v12\f", "\r12", "\u00a012", "1 2", "", "  ", "2.5", "3.5", "-2.5", "2.4999", ".5", "5.", ".", "1_000",
                        "1__000", "_1", "1_", "0x10", "0X1F", "-0x10", "0b11", "0B12", "0o17", "1e3", "1e-1", "15e-1", "1.5e1", "1e", "1E+2", "+5",
                        "--5", "007", "- 5", "1,000", "9223372036854775807.4", "9223372036854775807.5", "9223372036854775808", "1e18", "1e19",
                        "123e-2", "0.5e1", "1_0.5_0", "0x1_0", "true", "0e400", ".5e1", "1e+", "3e0.5", "0x", "0xg", "-.5", "+.5", "-0.5",
                        ".e1", "1_e3", "12L", "0x7fffffffffffffff", "0xffffffffffffffff", "1" + "0" * 40, "0b" + "1" * 70],
    ("u8", "utinyint"): ["300", "2.5", "255.4", "255.5", "-1", " 7 ", "0xff", "0x100", "1_0", "-0"],
    ("u64", "ubigint"): ["18446744073709551615", "18446744073709551615.4", "18446744073709551615.5", "0xffffffffffffffff", " 1_8.5 "],
    ("decimal(10,2)", "decimal(10,2)"): [" 1.25 ", "1_000.5", "0x10", "1e2", ".5", "5.", "12.345", "12.344999", "-12.345", "1e-3", "99999999.995", "", " "],
    ("f64", "double"): [" 1.25 ", "1_000.5", "0x10", "1e2", ".5", "5.", " inf", "nan ", "infinity", "-Inf", "1_0", "", " ", "1_", "1__0", "_1.5"],
    ("date", "date"): ["2024-01-02 03:04", "2024-01-02T03:04:05", "2024/01/02", " 2024-01-02 ", "2024-01-02x", "2024-01-02 x", "2024 01 02", "2024.01.02",
                       "2024\\01\\02", "2024-01/02", "2024-1-2", "2024/1/2 3:4", "20240102", "2024-01", "2024-01-02 25:00",
                       "2024-01-02 03:04:05.123Z", "2024-01-02 23:59:59.9", "2024-01-02 23:59:59.123456789", "2024-01-02 01:00+02", "2024-01-02 3:4",
                       "2024-01-02  03:04", "2024-02-30", "2024/02/30", "2024-01-02T", "0001-01-01", "2024-01-02 03", "+2024-01-02", "02/01/2024", ""],
    ("timestamp", "timestamp"): ["2024-01-02 3:04:05", "2024-01-02 3:4:5", "2024/01/02 03:04", " 2024-01-02 03:04:05 ", "2024-01-02  03:04:05", "2024-01-02T3:04",
                                 "2024-01-02 03", "2024-01-02 03:04:60", "2024-01-02 03:04:05Z", "2024/1/2", "2024-01-02T", "2024-1-2 3:4:5.25", "2024-01-02 3", ""],
    ("bool", "boolean"): [" true", "true ", "TRUE", "t", "f", "yes", "1", "0", "2", "on", "y", "n", "N", "no", "off", ""],
}


class Casts(SharedMachineTest):
    profile = ONE_DEVICE

    def put(self, name, text):
        Path(self.m.path(name)).write_text(text)
        return name

    def rows(self, texts, *select, kind="string"):
        name = self.put("v.csv", "v\n" + "".join(f"{t}\n" for t in texts))
        out = self.m.good("mapreduce", name, "--schema", f"v:{kind}", "--select", ", ".join(select))
        return [row or [""] for row in csv.reader(io.StringIO(out.decode()))][1:]

    def test_all_pairs_of_numbers(self):
        for source in NUMBERS:
            values = limits(source)
            texts = [text_of(v, source) for v in values]
            for origin in ("string", source):  # the column is cast from text, or read as its type
                of = f"cast(v as {source})" if origin == "string" else "v"
                got = self.rows(texts, *(f"try_cast({of} as {to})" for to in NUMBERS),
                                *(f"try_cast(cast(try_cast({of} as {to}) as string) as {to})" for to in NUMBERS), kind=origin)
                for value, text, cells in zip(values, texts, got):
                    for to, cell, again in zip(NUMBERS, cells, cells[len(NUMBERS):]):
                        wanted = convert(value, source, to)
                        found = None if cell == "" else Fraction(cell)
                        if to == "f32" and cell != "":  # what is printed is the shortest text of that f32
                            found = near(found, 32)
                            wanted = None if wanted is None else float(wanted)
                        elif to == "f64" and cell != "":
                            found = Fraction(float(cell))
                        self.assertEqual(found, wanted, f"{text} of {source} as {to}")
                        self.assertEqual(again, cell, f"{text} of {source} as {to}: text and back")

    def test_too_large_for_f32(self):
        name = self.put("big.csv", "v\n1e300\n")
        for select in ("cast(v as f32)", "cast(v as f32) + v"):
            self.m.bad(1, "mapreduce", name, "--schema", "v:f64", "--select", select, says="does not fit the type; try_cast")
        got = self.rows(["3.4028235677973362e38", "3.4028235677973366e38", "inf", "-inf", "nan", "-3.4028235677973366e38"],
                        "try_cast(v as f32)", kind="f64")
        self.assertEqual([r[0] for r in got], ["3.4028235e+38", "", "inf", "-inf", "nan", ""])
        self.assertEqual(self.rows(["3.4028235677973366e38", "3.4028235677973367e38"], "try_cast(v as f32)"),
                         [["3.4028235e+38"], [""]])

    def test_round_is_exact(self):
        """The exact value of the float, rounded half away from zero; then the nearest float. On every engine."""
        seed = random.Random(71)
        values = {1.115, 2.675, 1.005, 0.285, 2.5, -2.5, 0.125, -0.375, 1e-300, 5e-324, -0.3, 0.49999999999999994, 4503599627370495.5,
                  4503599627370496.5, 9007199254740991.0, 4503599627370497.5 / 8, 0.1, 1e15 + 0.3, 1.7976931348623157e308}
        for _ in range(400):
            n = seed.randrange(10**seed.randrange(1, 17))
            values |= {n / 10**seed.randrange(17), -(2 * n + 1) / 2**seed.randrange(1, 40), seed.uniform(-1, 1) * 10**seed.randrange(-5, 16),
                       math.nextafter((2 * n + 1) / 2000, seed.choice((-math.inf, math.inf)))}
        values = sorted(values)
        digits = (0, 1, 2, 3, 7, 10, 14, 15)
        with localcontext() as context:
            context.prec = 1200
            right = [[float(Decimal(v).quantize(Decimal(1).scaleb(-d), ROUND_HALF_UP)) for d in digits] for v in values]
        name = self.put("round.csv", "v\n" + "".join(f"{v!r}\n" for v in values))
        for engine in ("host", "device"):
            out = self.m.good("-q", "mapreduce", name, "--schema", "v:f64", "--engine", engine, "--select",
                              ", ".join(f"round(v, {d}) as r{d}" for d in digits))
            got = [[float(x) for x in row] for row in list(csv.reader(io.StringIO(out.decode())))[1:]]
            for v, r, g in zip(values, right, got, strict=True):
                self.assertEqual(list(map(repr, g)), list(map(repr, r)), (engine, v))

    def test_the_value_that_failed_is_shown(self):
        """File, line, item, value, and try_cast."""
        rows = ["1"] * 4999 + ["12 apples", "2"]
        name = self.put("shown.csv", "v\n" + "\n".join(rows) + "\n")
        long = "x" * 100
        cases = [(name, "", "cast(v as i64) as n", ": line 5001, --select: n: '12 apples': the text is not a value"),
                 (name, "", "1 + cast(trim(v) as f64)", ": line 5001, --select: 1 + cast(trim(v) as f64): '12 apples': the text"),
                 (name, "", "sum(cast(v as i8))", ": line 5001, --select: sum(cast(v as i8)): '12 apples': the text"),
                 (name, "cast(v as date) = date '2020-01-01'", "v", ": line 2, --where: '1': the text is not a value"),
                 (name, "v <> '1'", "cast(v as decimal(9,2))", ": line 5001, --select: cast(v as decimal(9,2)): '12 apples': the text"),
                 (self.put("range.csv", "v\n300\n"), "", "cast(v as u8)", ": line 2, --select: cast(v as u8): '300': the value does not fit"),
                 (self.put("wide.csv", f"v\n{long}\n"), "", "cast(v as u8)", f"'{long[:63]}'...: the text is not a value"),
                 (self.put("mark.csv", 'v\n"a\tb"\n'), "", "cast(v as bool)", "'a b': the text is not a value")]
        for file, where, select, says in cases:
            for command in ("mapreduce", "splice"):
                words = ("--where", where) if where else ()
                got = self.m.bad(1, command, file, "--schema", "v:string", *words, "--select", select, says=says)
                self.assertIn("try_cast gives null instead", got)
                self.assertIn(file, got)
        for kind, value, cast, says in (("i64", "300", "u8", "300"), ("f64", "1e300", "f32", "1e+300"), ("f64", "1.5e19", "i64", "1.5e+19"),
                                        ("decimal(9,2)", "1234567.89", "i16", "1234567.89")):
            self.m.bad(1, "mapreduce", self.put("n.csv", f"v\n{value}\n"), "--schema", f"v:{kind}", "--select", f"cast(v as {cast})",
                       says=f"): {says}: the value does not fit the type; try_cast")
        name = self.put("max.csv", "v\n2 pears\n1\n")
        self.m.bad(1, "mapreduce", name, "--schema", "v:string", "--select", "cast(max(v) as i64) as m", says="--select: m: '2 pears': the text")

    def test_round_digits(self):
        rows = [("1e300", 15, 1e300), ("123456789.125", 10, 123456789.125), ("123456789012345678", 2, 123456789012345678.0),
                ("-1e300", 3, -1e300), ("inf", 2, math.inf), ("2.5", 0, 3.0), ("-2.5", 0, -3.0), ("1.7976931348623157e308", 1,
                1.7976931348623157e308), ("4503599627370496.5", 1, 4503599627370496.5), ("0.1", 15, 0.1)]
        for text, digits, wanted in rows:
            self.assertEqual(float(self.rows([text], f"round(v, {digits})", kind="f64")[0][0]), wanted, (text, digits))
        self.assertEqual(self.rows(["nan"], "round(v, 2)", kind="f64"), [["nan"]])
        for digits in range(16):  # a number of at most so many decimals is itself
            values = [k / 10**digits * sign for k in (1, 7, 123, 999999, 10**9 + 1, 2**52 - 1) for sign in (1, -1)]
            got = self.rows(map(repr, values), f"round(v, {digits})", kind="f64")
            self.assertEqual([float(r[0]) for r in got], values, digits)

    @unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
    def test_spellings(self):
        """Of a column and of a constant."""
        connection = duck.connect()
        for (ours, theirs), texts in SPELLINGS.items():
            name = self.put("spelled.jsonl", "".join(json.dumps({"t": t, "i": i}) + "\n" for i, t in enumerate(texts)))
            out = self.m.good("query", name, "--schema", "t:string, i:i64", "--order-by", "i", "--output-format", "jsonl",
                              "--select", f"cast(try_cast(t as {ours}) as string) as r, i")
            got = [json.loads(line)["r"] for line in out.splitlines()]
            for text, cell in zip(texts, got, strict=True):
                wanted = connection.execute(f"select try_cast(? as {theirs})", [text]).fetchone()[0]
                if isinstance(wanted, bool):
                    wanted = str(wanted).lower()
                self.assertEqual(cell, None if wanted is None else str(wanted), f"{text!r} as {ours}")
        wanted = connection.execute("SELECT '2.5'::INT, ' 12'::INT, '0x10'::BIGINT, '2024-01-02 03:04'::DATE::VARCHAR, DATE '2024/01/02'::VARCHAR").fetchone()
        got = self.m.good("query", f"SELECT '2.5'::INT, ' 12'::INT, '0x10'::BIGINT, '2024-01-02 03:04'::DATE, DATE '2024/01/02' FROM '{self.m.path(name)}' LIMIT 1")
        self.assertEqual(got.decode().splitlines()[1], ",".join(map(str, wanted)))

    def test_times(self):
        """Text, timestamp, text, timestamp: the same, or an error the first time; a zone cannot lead out of the years."""
        for text, wanted in (("0001-01-01 00:00:00+00:01", None), ("9999-12-31 23:59:59-01:00", None),
                             ("0001-01-01 00:01:00+00:01", "0001-01-01 00:00:00"), ("9999-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999"),
                             ("2020-01-31 10:00:00.123456000", "2020-01-31 10:00:00.123456"), ("2020-01-31 10:00:00.1234567", None)):
            got = self.rows([text], "cast(try_cast(v as timestamp) as string)",
                            "cast(cast(cast(try_cast(v as timestamp) as string) as timestamp) as string)")[0]
            self.assertEqual(got, [wanted or ""] * 2, text)
        rows = [datetime(1, 1, 1) + timedelta(microseconds=i * 31556889864403199 // 7) for i in range(8)]
        texts = [f"{t.year:04}-{t.month:02}-{t.day:02} {t:%H:%M:%S}" + (f".{t.microsecond:06}" if t.microsecond else "") for t in rows]
        got = self.rows(texts, "v", "cast(v as date)", "cast(cast(v as date) as timestamp)", kind="timestamp")
        for t, text, cells in zip(rows, texts, got):
            day = f"{t.year:04}-{t.month:02}-{t.day:02}"
            self.assertEqual(cells, [text, day, day + " 00:00:00"])

    def test_nanoseconds(self):
        """Nothing is cut silently: in text, in casts, in literals."""
        name = self.put("n.csv", "t\n2020-01-31 10:00:00.123456789\n")
        self.m.bad(1, "mapreduce", name, "--schema", "t:timestamp", "--select", "t", says="digits below a microsecond")
        self.m.bad(1, "mapreduce", name, "--select", "cast(t as timestamp)", says="cast(substr(t, 1, 26) as timestamp)")
        self.m.bad(2, "mapreduce", name, "--select", "timestamp '2020-01-31 10:00:00.000000001'", says="digits below a microsecond")
        out = self.m.good("mapreduce", name, "--select", "cast(substr(t, 1, 26) as timestamp) as t, try_cast(t as timestamp) as u")
        self.assertEqual(out, b"t,u\n2020-01-31 10:00:00.123456,\n")
        name = self.put("n.jsonl", '{"t": "2020-01-31T10:00:00.123456789Z"}\n')
        self.m.bad(1, "mapreduce", name, "--schema", "t:timestamp", "--select", "t", says="digits below a microsecond")

    def test_dates(self):
        days = [date(1, 1, 1), date(1, 1, 2), date(1969, 12, 31), date(1970, 1, 1), date(2000, 2, 29), date(9999, 12, 31)]
        got = self.rows([d.isoformat() for d in days], "v", "cast(v as string)", "coalesce(try_cast(cast(v as string) as date) + if(v = date '9999-12-31', null, 1), null)", kind="date")
        following = [(d + timedelta(1)).isoformat() for d in days[:-1]]
        self.assertEqual(got, [[d.isoformat()] * 2 + [f] for d, f in zip(days, following + [""])])


if __name__ == "__main__":
    main()
