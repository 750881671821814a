#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions over columns, with DuckDB as the oracle; where text is not UTF-8, and where hac differs from DuckDB on purpose,
Python computes what is wanted. Columns have nulls, empty and long strings, and characters of one to four bytes."""
import random
import re
import sys
import unittest
from datetime import datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import ONE_DEVICE, SharedMachineTest, main  # noqa: E402

PIECES = ["", "a", "b", "ab", "-", ",", ", ", "é", "É", "ß", "ẞ", "日本", "😀", "İ", "ǆ", "Ω", "ﬃ", "Zoë", "x" * 40, "2020-01-31", " ",
          "A1", "foo=bar", "00", "Straße", "ÀÉÎ", "abcabc", "\t", "Σς", "\\1", ".", "Ⱥ"]
COLUMNS = ("s", "p", "f", "i", "n", "t", "u", "d", "e")
TYPES = ("string", "string", "string", "i64", "i64", "timestamp", "timestamp", "date", "date")
DUCK = ("VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "BIGINT", "TIMESTAMP", "TIMESTAMP", "DATE", "DATE")


def moment(dice):
    return datetime(1971, 1, 1) + timedelta(microseconds=dice.randrange(100 * 365 * 86400 * 10**6))


def row(dice):
    text = "".join(dice.choice(PIECES) for _ in range(dice.randrange(8)))
    if dice.random() < 0.02:
        text *= 300
    values = [text, dice.choice(PIECES), dice.choice(PIECES[1:]), dice.choice((0, 1, -1, 255, -2**63, 2**63 - 1, dice.randrange(-10**6, 10**6))),
              dice.randrange(-9, 12), moment(dice), moment(dice), moment(dice).date(), moment(dice).date()]
    return [None if dice.random() < 0.08 else v for v in values]


def cell(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return str(value)


@unittest.skipIf(duck.duckdb is None, duck.WHY_NOT)
class Functions(SharedMachineTest):
    profile = ONE_DEVICE

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        dice = random.Random(374)
        cls.rows = [row(dice) for _ in range(3000)]
        cls.text = ",".join(COLUMNS) + "\n" + "".join(",".join(map(cell, r)) + "\n" for r in cls.rows)
        cls.db = duck.duckdb.connect()
        cls.db.execute(f"CREATE TABLE f ({', '.join(f'{c} {t}' for c, t in zip(COLUMNS, DUCK))})")
        cls.db.executemany(f"INSERT INTO f VALUES ({', '.join('?' * len(COLUMNS))})", cls.rows)

    def setUp(self):
        super().setUp()
        Path(self.m.path("f.csv")).write_text(self.text)

    def hac(self, *select):
        out = self.m.good("-q", "mapreduce", "f.csv", "--schema", ",".join(map(":".join, zip(COLUMNS, TYPES))), "--select",
                          ", ".join(f"{e} as x{i}" for i, e in enumerate(select)))
        return duck.read_csv(out.decode())[1:]

    def same(self, pairs):
        """Pairs of an expression of hac and one of DuckDB, or one for both; DuckDB's is cast to text."""
        pairs = [(p, p) if isinstance(p, str) else p for p in pairs]
        got = self.hac(*(ours for ours, _ in pairs))
        wanted = self.db.execute("SELECT " + ", ".join(f"CAST({theirs} AS VARCHAR)" for _, theirs in pairs) + " FROM f").fetchall()
        self.assertEqual(len(got), len(wanted))
        for source, g, w in zip(self.rows, got, wanted):
            for (ours, _), a, b in zip(pairs, g, w):
                self.assertEqual(plain_time(a), plain_time(b), f"{ours} of {source}")

    def test_strings(self):
        self.same(["lower(s)", "upper(s)", "left(s, n)", "right(s, n)", "left(s, 3)", "right(s, -2)", ("lpad(s, n, f)", "lpad(s, n::int, f)"),
                   ("rpad(s, n, f)", "rpad(s, n::int, f)"), "lpad(s, 30, p || '*')", "split_part(s, p, n)", "split_part(s, 'a', 2)", "split_part(s, '', n)", "split_part(s, '-', -1)",
                   ("position(s, p)", "instr(s, p)"), ("reverse(reverse(s)) = s", "s = s"), ("s ilike '%É%'", "s ilike '%É%'"),
                   ("length(reverse(s))", "length(s)")])
        got = self.hac("reverse(s)")
        self.assertEqual([g[0] for g in got], [None if r[0] is None else r[0][::-1] for r in self.rows])

    def test_bits(self):
        self.same(["i & n", "i | n", "xor(i, n)", "i & 255 | 7", "i & 3 = 1", ("(i & 1023) << 5", "(i & 1023) << 5"),
                   ("i >> (n & 7)", "i >> (n & 7)"), ("bit_count(i & 65535)", "bit_count(i & 65535)"), "1 | 2 << 1"])
        got = self.hac("bit_count(i)", "i >> (n & 63)", "if(abs(n) < 8, n << 58, 0)")
        for source, cells in zip(self.rows, got):
            i, n = source[3], source[4]
            self.assertEqual(cells[0], None if i is None else str(bin(i & (2**64 - 1)).count("1")))
            self.assertEqual(cells[1], None if None in (i, n) else str(i >> (n & 63)))

    def test_times(self):
        units = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
        self.same([f"date_diff('{unit}', {a}, {b})" for unit in units for a, b in (("t", "u"), ("d", "e"))] +
                  ["epoch(t)", "epoch(d)", "epoch_us(t)", ("make_timestamp(epoch_us(t))", "t")])
        self.same(["t + interval '2 hours'", "t - interval '90' day", "t + interval '1 year 6 months 3 seconds'", "d - interval 3 week",
                   "d + interval '1 month'", "t - interval '1 quarter' + interval '250 milliseconds'", "t + interval '-5' minute",
                   ("t + interval '7us'", "t + interval '7 microseconds'"), ("d + n", "d + n::int"), "u >= d + interval '1 day'"])

    def test_formats(self):
        codes = ["%Y", "%y", "%m", "%d", "%H", "%M", "%S", "%f", "%j", "%p", "%I", "%a", "%A", "%b", "%B", "%%", "x %d.%m.%Y at %H:%M",
                 "%Y-%m-%dT%H:%M:%S.%f", "%A, %d %B %Y"]
        self.same([f"strftime(t, '{code}')" for code in codes] + ["strftime(d, '%d/%m/%Y %H:%M')"])
        self.same([("strftime(t, '%F %T')", "strftime(t, '%Y-%m-%d %H:%M:%S')"), ("strftime(t, '%e')", "lpad(day(t)::varchar, 2, ' ')"),
                   ("strftime(t, '%z %Z')", "if(t is null, null, '+0000 UTC')")])
        formats = ["%Y-%m-%d %H:%M:%S.%f", "%d/%b/%Y:%H:%M:%S", "%A %B %d %Y %I:%M:%S %p", "%Y %j", "%y%m%d", "%H:%M", "%d.%m.%Y", "%Y"]
        self.same([(f"strptime(strftime(t, '{f}'), '{f}')", f"strptime(strftime(t, '{f}'), '{f}')") for f in formats])
        self.same([("strptime(strftime(t, '%F %T.%f'), '%F %T.%f')", "t")])

    def test_reading_times(self):
        """Texts that are almost of a format: null, or what DuckDB reads."""
        dice = random.Random(9)
        pieces = ["2020", "20", "1", "02", "29", "31", "12", "00", "59", "60", "-", "/", " ", "  ", ":", "Feb", "feb", "MARCH", "Mon", "AM", "pm",
                  ".5", ".123456", "x", ""]
        formats = ["%Y-%m-%d", "%d %b %Y", "%H:%M:%S", "%I:%M %p", "%Y %j", "%y/%m/%d", "%Y-%m-%d %H:%M:%S.%f", "%B %d %Y", "%a %d %b %Y"]
        texts = ["".join(dice.choice(pieces) for _ in range(dice.randrange(1, 8))) for _ in range(3000)]
        whens = [datetime(1969, 1, 1) + timedelta(seconds=dice.randrange(99 * 365 * 86400)) for _ in range(1500)]
        for when in whens:
            text = when.strftime(dice.choice(formats))
            if dice.random() < 0.4:
                at = dice.randrange(len(text))
                text = text[:at] + dice.choice(pieces) + text[at + dice.randrange(3):]
            texts.append(text)
        Path(self.m.path("r.csv")).write_text("s\n" + "".join(f'"{t}"\n' for t in texts))
        out = self.m.good("-q", "mapreduce", "r.csv", "--schema", "s:string", "--select",
                          ", ".join(f"try_strptime(s, '{f}') as x{i}" for i, f in enumerate(formats)))
        theirs = self.db.execute("SELECT " + ", ".join(f"CAST(try_strptime(s, '{f}') AS VARCHAR)" for f in formats) +
                                 " FROM (SELECT unnest(?) AS s)", [texts]).fetchall()
        read, missed = 0, []
        for text, cells, row in zip(texts, duck.read_csv(out.decode())[1:], theirs, strict=True):
            if re.search(r"\.\d{7}", text):
                continue  # hac takes digits below a microsecond that are 0
            for f, got, wanted in zip(formats, cells, row):
                if got is not None:
                    self.assertEqual(plain_time(got), plain_time(wanted), (text, f))
                    read += 1
                elif wanted is not None and "(BC)" not in wanted:
                    missed.append((text, f, wanted))
        self.assertGreater(read, 500)
        self.assertEqual(missed, [])

    def test_zones(self):
        cases = [("2020-01-31 12:00 +0200", "2020-01-31 10:00:00"), ("2020-01-31 12:00 -03:30", "2020-01-31 15:30:00"),
                 ("2020-01-31 12:00 +01", "2020-01-31 11:00:00"), ("2020-01-31 12:00 Z", "2020-01-31 12:00:00"), ("2020-01-31 12:00 +1", None),
                 ("2020-01-31 12:00 +24:00", None), ("2020-01-31 12:00 +02:", None), ("2020-01-31 12:00", None), ("0001-01-01 00:00 +01", None),
                 ("2019-02-29 00:00 Z", None), ("2020-01-31 12:00 +0200 x", None)]
        Path(self.m.path("z.csv")).write_text("s\n" + "".join(f"{text}\n" for text, _ in cases))
        out = self.m.good("mapreduce", "z.csv", "--schema", "s:string", "--select", "try_strptime(s, '%F %H:%M %z') as t")
        self.assertEqual(duck.read_csv(out.decode())[1:], [(wanted and wanted + "+00",) for _, wanted in cases])

    def test_time_that_is_none(self):
        Path(self.m.path("e.csv")).write_text("s\n2020-01-31\n31.01.2020\n")
        said = self.m.bad(1, "mapreduce", "e.csv", "--schema", "s:string", "--select", "strptime(s, '%F') as t", says="'31.01.2020': the text is not of")
        self.assertIn("line 3", said)
        self.assertIn("try_strptime gives null instead", said)
        self.m.bad(1, "mapreduce", "e.csv", "--schema", "s:string", "--select", "strptime('0.1234567', '%H.%f')", says="nanoseconds")

    def test_regexps(self):
        patterns = ["a+b", "^[a-z]+$", "(\\w+)=(\\w+)", "é|ß", "[^a]b", "x{3,}", "(a|ab)(c|bcd)?", "\\d{4}-(\\d\\d)-(\\d\\d)", "", "$", "(?i)zoë",
                    "日.", "\\s", "(.)(.)"]
        self.same([f"regexp_matches(s, '{p}')" for p in patterns] + [f"regexp_extract(s, '{p}')" for p in patterns])
        self.same([f"regexp_replace(s, '{p}', '<\\0>', 'g')" for p in patterns] + [f"regexp_replace(s, '{p}', '-')" for p in patterns])
        self.same(["regexp_extract(s, '(\\w+)=(\\w+)', 2)", "regexp_extract(s, '(a)|(b)', 2)", "regexp_matches(s, 'STRASSE|É', 'i')",
                   "regexp_replace(s, '(.)(.)', '\\2\\1', 'g')", "regexp_extract(s, 'ZO(.)', 1, 'i')", "regexp_replace(s, 'A', 'b', 'ig')",
                   "regexp_matches(s, 'a.b', 's')"])

    def test_regexps_of_bytes(self):
        """What is not UTF-8 matches nothing; Python finds the rest."""
        dice = random.Random(12)
        parts = [b"a", b"ab", b"\xff", b"\xc3", "é".encode(), b"1", b"-"]
        rows = [b"".join(dice.choice(parts) for _ in range(dice.randrange(1, 10))) for _ in range(600)]
        Path(self.m.path("bad.csv")).write_bytes(b"s\n" + b"".join(r + b"\n" for r in rows))
        out = self.m.good("-q", "mapreduce", "bad.csv", "--schema", "s:string", "--select",
                          "regexp_matches(s, 'é-') as a, regexp_extract(s, '[a-b]+1') as b, regexp_replace(s, '(a)(b)', '\\2\\1', 'g') as c, "
                          "regexp_matches(s, '^.$') as d")
        for source, line in zip(rows, out.split(b"\n")[1:]):
            found = re.search(b"[ab]+1", source)
            one = len(characters(source)) == 1 and source not in (b"\xff", b"\xc3")
            wanted = [b"true" if "é-".encode() in source else b"false", found[0] if found else b'""', re.sub(b"(a)(b)", b"\\2\\1", source),
                      b"true" if one else b"false"]
            self.assertEqual(line.split(b","), wanted, source)

    def test_hard_regexps(self):
        """A text of 4 MB that a backtracking matcher would never end on; patterns that need too much memory."""
        Path(self.m.path("long.csv")).write_text("s\n" + "a" * 4_000_000 + "\n")
        out = self.m.good("mapreduce", "long.csv", "--schema", "s:string", "--select", "regexp_matches(s, '(a*)*(a|a?)+b$') as m, "
                          "length(regexp_replace(s, 'a{10}', 'b', 'g')) as n")
        self.assertEqual(out, b"m,n\nfalse,400000\n")
        many = ", ".join(f"regexp_matches(s, 'a{i}') as m{i}" for i in range(33))
        for select, says in (("regexp_matches(s, '((a{100}){100}){100}')", "regular expression: "), (many, "more than 32 regular expressions"),
                             ("regexp_matches(s, '(?=a)')", "no lookarounds"), ("s rlike 'a'", "regexp_matches(a, 'pattern')"),
                             ("regexp_replace(s, 'a', '\\1')", "a group that the pattern has not")):
            self.m.bad(2, "mapreduce", "long.csv", "--schema", "s:string", "--select", select, says=says)
        out = self.m.good("mapreduce", "long.csv", "--schema", "s:string", "--select", "length(regexp_replace(s, 'a', '012\\0', 'g')) as n")
        self.assertEqual(out, b"n\n16000000\n")

    def test_hash(self):
        got = self.hac("hash(s)", "hash(i)", "hash(t)", "hash(null)", "hash(d) = hash(cast(d as string))")
        for source, cells in zip(self.rows, got):
            texts = [None if source[0] is None else source[0], None if source[3] is None else str(source[3]),
                     None if source[5] is None else str(source[5])]
            self.assertEqual([c for c in cells[:3]], [None if t is None else str(xxh64(t.encode())) for t in texts])
            self.assertEqual(cells[3:], (None, None if source[7] is None else "true"))

    def test_not_utf8(self):
        """A byte that is not UTF-8 counts as a character, and stays."""
        dice = random.Random(8)
        parts = [b"a", b"\xff", b"\xc3", b"\xc3\xa9", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"-", b"Z", b"\xed\xa0\x80", b"\xc0\xaf"]
        rows = [b"".join(dice.choice(parts) for _ in range(dice.randrange(1, 12))) for _ in range(800)]
        Path(self.m.path("bad.csv")).write_bytes(b"s\n" + b"".join(r + b"\n" for r in rows))
        out = self.m.good("-q", "mapreduce", "bad.csv", "--schema", "s:string", "--select",
                          "reverse(s) as a, left(s, 3) as b, right(s, 2) as c, rpad(s, 7, '.') as d, split_part(s, '-', 2) as e, "
                          "split_part(s, '', -1) as f, upper(s) as g")
        for source, line in zip(rows, out.split(b"\n")[1:]):
            c = characters(source)
            padded = b"".join(c[:7]) + b"." * max(0, 7 - len(c))
            parts = source.split(b"-")
            wanted = [b"".join(c[::-1]), b"".join(c[:3]), b"".join(c[-2:]), padded, parts[1] if len(parts) > 1 else b'""', c[-1],
                      b"".join(x.decode().upper().encode() if x in (b"a", b"\xc3\xa9") else x for x in c)]
            self.assertEqual(line.split(b","), [w or b'""' for w in wanted], source)

    def test_refused(self):
        for select, says in (("s & 'x'", "'&' takes (integer, integer)"),
                             ("charindex('a', s)", "write position(a, part)"), ("isnull(s)", "a is null, or coalesce(a, b)"),
                             ("t + interval '3 fortnights'", "units are year, quarter"), ("interval '1 day'", "behind the + or -"),
                             ("(i > 0) & (n > 0)", "joined by 'and' and 'or'"), ("date_diff('eon', t, u)", "expected 'year'")):
            self.m.bad(2, "mapreduce", "f.csv", "--schema", ",".join(map(":".join, zip(COLUMNS, TYPES))), "--select", select, says=says)
        for select, says in (("lpad(s, 3000000000, 'x')", "overflow"), ("i << 70", "overflow"), ("i >> -1 - n * n", "overflow"),
                             ("lpad(s, 1000, substr(p, 99))", "fit"), ("t + interval '9000 years'", "fit")):
            self.m.bad(1, "mapreduce", "f.csv", "--schema", ",".join(map(":".join, zip(COLUMNS, TYPES))), "--select", select, says=says)


def plain_time(text):
    """DuckDB leaves out zeros at the end of a fraction of a second."""
    return text.rstrip("0") if text is not None and re.search(r"\d\d:\d\d:\d\d\.\d+$", text) else text


def characters(text):
    """The characters of bytes; a byte that is not part of well-formed UTF-8 is one."""
    ret, at = [], 0
    while at < len(text):
        for n in (1, 2, 3, 4):
            try:
                text[at:at + n].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            n = 1
        n = min(n, len(text) - at)
        ret.append(text[at:at + n])
        at += n
    return ret


def xxh64(data):
    """XXH64 with seed 0, from its specification."""
    p1, p2, p3, p4, p5 = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)
    mask = 2**64 - 1

    def rotate(x, r):
        return (x << r | x >> (64 - r)) & mask

    def round_(acc, lane):
        return rotate((acc + lane * p2) & mask, 31) * p1 & mask

    at, n = 0, len(data)
    if n >= 32:
        v = [(p1 + p2) & mask, p2, 0, -p1 & mask]
        while at + 32 <= n:
            for k in range(4):
                v[k] = round_(v[k], int.from_bytes(data[at + 8 * k:at + 8 * k + 8], "little"))
            at += 32
        h = (rotate(v[0], 1) + rotate(v[1], 7) + rotate(v[2], 12) + rotate(v[3], 18)) & mask
        for x in v:
            h = ((h ^ round_(0, x)) * p1 + p4) & mask
    else:
        h = p5
    h = (h + n) & mask
    while at + 8 <= n:
        h = (rotate(h ^ round_(0, int.from_bytes(data[at:at + 8], "little")), 27) * p1 + p4) & mask
        at += 8
    if at + 4 <= n:
        h = (rotate(h ^ int.from_bytes(data[at:at + 4], "little") * p1 & mask, 23) * p2 + p3) & mask
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * p5 & mask, 11) * p1 & mask
    h = (h ^ h >> 33) * p2 & mask
    h = (h ^ h >> 29) * p3 & mask
    return h ^ h >> 32


if __name__ == "__main__":
    main()
