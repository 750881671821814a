#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Forms of a query's result: tables on a terminal (a pty, so that isatty and the window's size are real), Markdown, tsv,
JSON lines and Arrow. The oracles are pyarrow, Polars and plain Python."""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, HACCTL, SharedMachineTest, main  # noqa: E402

sys.path.insert(0, str(BUILD.parent / "python"))
try:
    import pyarrow as pa
    import pyarrow.ipc as ipc
except ImportError:
    pa = None
try:
    import polars as pl
except ImportError:
    pl = None

TABLE = "a:i64,b:string,c:f64,d:decimal(9,2),e:date,f:bool,g:timestamp"
ROWS = ("a,b,c,d,e,f,g\n"
        '1,"x, ""y""",0.5,12.50,2020-01-31,true,2020-01-31 12:00:00.5\n'
        "-2,,,,,,\n"
        '3,"",nan,-0.05,0001-01-01,false,1970-01-01 00:00:00\n'
        "4,naïve \t|<&\\,1e300,1.00,9999-12-31,true,2262-04-11 23:47:16\n")


def width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


class OutputCase(SharedMachineTest):
    def put(self, name, data):
        Path(self.m.path(name)).write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def on_terminal(self, *words, columns=80, term="xterm", data=None, code=0, **environment):
        """What hacctl writes to a terminal of so many columns."""
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        wanted = dict(self.m.environment, TERM=term, **environment)
        wanted.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
        process = subprocess.Popen([str(HACCTL), *words], cwd=self.m.path(""), stdin=subprocess.PIPE,
                                   stdout=follower, stderr=subprocess.PIPE, env=wanted)
        os.close(follower)
        if data is not None:
            process.stdin.write(data)
        process.stdin.close()
        out = b""
        while True:
            try:
                more = os.read(leader, 65536)
            except OSError:
                break
            if not more:
                break
            out += more
        os.close(leader)
        said = process.stderr.read().decode()
        process.stderr.close()
        self.assertEqual(process.wait(60), code, said)
        return out.decode().replace("\r\n", "\n")

    @staticmethod
    def cells(table):
        return [[cell.strip() for cell in line.split("│")[1:-1]] for line in table.splitlines() if line.startswith("│")]


class Terminal(OutputCase):
    def test_box(self):
        self.put("t.csv", ROWS)
        out = self.on_terminal("query", "t.csv", "--select", "*", "--schema", TABLE, "--order-by", "a", columns=160, NO_COLOR="1")
        lines = out.splitlines()
        self.assertEqual(len({width(line) for line in lines}), 1, out)
        self.assertTrue(lines[0].startswith("┌─") and lines[0].endswith("─┐") and lines[-1].startswith("└─"), out)
        cells = self.cells(out)
        self.assertEqual(cells[0], list("abcdefg"))
        self.assertEqual(cells[1], ["i64", "string", "f64", "decimal(9,2)", "date", "bool", "timestamp"])
        self.assertEqual(cells[2], ["-2"] + ["NULL"] * 6)
        self.assertEqual(cells[3][1:3], ['x, "y"', "0.5"])
        self.assertEqual(cells[4][:3], ["3", "", "nan"])
        self.assertEqual(cells[5][1], "naïve \\t|<&\\")
        self.assertIn("│  -2 │ NULL         │", out)  # numbers on the right, text on the left
        self.assertNotIn("\x1b", out)

    def test_colour(self):
        self.put("t.csv", ROWS)
        words = ("query", "t.csv", "--select", "a, b")
        self.assertIn("\x1b[2mNULL\x1b[0m", self.on_terminal(*words))
        self.assertNotIn("\x1b", self.on_terminal(*words, NO_COLOR="1"))
        self.assertNotIn("\x1b", self.on_terminal(*words, term="dumb"))
        self.assertNotIn(b"\x1b", self.m.good(*words, "--output-format", "table"))

    def test_a_pipe_gets_csv(self):
        self.put("t.csv", ROWS)
        self.assertEqual(self.m.good("query", "t.csv", "--select", "a", "--order-by", "a"), b"a\n-2\n1\n3\n4\n")
        self.assertIn("a\n-2\n", self.on_terminal("query", "t.csv", "--select", "a", "--order-by", "a", "--output-format", "csv"))

    def test_rows_are_cut_in_the_middle(self):
        for n in (0, 1, 20, 21, 40, 41, 12345):
            self.put("n.csv", "n,s\n" + "".join(f"{i},r{i}\n" for i in range(n)))
            out = self.on_terminal("query", "n.csv", "--select", "*", "--order-by", "n", "--schema", "n:i64,s:string", NO_COLOR="1")
            wanted = list(range(n)) if n <= 40 else [*range(20), *range(n - 20, n)]
            self.assertEqual([int(c[0]) for c in self.cells(out)[2:] if len(c) == 2], wanted, n)
            gap = re.findall(r"… ([\d,]+) rows? …", out)
            self.assertEqual(gap, [f"{n - 40:,}"] if n > 40 else [], out)
            self.assertEqual(f"{n:,} rows" in out.splitlines()[-1], n > 40)

    def test_a_stream(self):
        rows = "".join(f"{i},é{i}\n" for i in range(100000))
        out = self.on_terminal("splice", "-", "--parse", "csv", "--select", "n, s", data=("n,s\n" + rows).encode(), NO_COLOR="1")
        cells = [c for c in self.cells(out)[2:] if len(c) == 2]
        self.assertEqual(len(cells), 40)
        self.assertIn("… 99,960 rows …", out)
        self.assertEqual(cells[0], ["0", "é0"])

    def test_what_a_terminal_would_obey(self):
        evil = "a\x1b[31m\x07\x9b\u202eb\u2066\u200f\ufeff\x7f"
        self.put("evil.jsonl", json.dumps({"s": evil, "t": "l1\nl2\r\t\x00", "日本": "漢字"}) + "\n")
        out = self.on_terminal("query", "evil.jsonl", "--select", "*", columns=200, NO_COLOR="1")
        self.assertTrue(all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf") for c in out), ascii(out))
        self.assertIn(r"a\x1b[31m\x07\x9b\u202eb\u2066\u200f\ufeff\x7f", out)
        self.assertIn(r"l1\nl2\r\t\x00", out)
        self.assertEqual(len({width(line) for line in out.splitlines()}), 1, out)
        self.put("bytes.csv", b"x\n\xff\xc3\n")
        self.assertIn(r"\xff\xc3", self.on_terminal("query", "bytes.csv", "--select", "x"))

    def test_width(self):
        self.put("w.csv", "a,b,c\n1," + "x" * 500 + "," + "漢" * 200 + "\n")
        for columns in (30, 40, 79, 80, 200):
            out = self.on_terminal("query", "w.csv", "--select", "*", columns=columns, NO_COLOR="1")
            self.assertLessEqual(max(map(width, out.splitlines())), columns, out)
            self.assertIn("x…", out)
            self.assertIn("漢…", out)
        names = [f"column_{i}" for i in range(60)]
        self.put("many.csv", ",".join(names) + "\n" + ",".join(str(i * 1000) for i in range(60)) + "\n")
        out = self.on_terminal("query", "many.csv", "--select", "*", columns=80, NO_COLOR="1")
        self.assertLessEqual(max(map(width, out.splitlines())), 80, out)
        self.assertIn("60 columns of which", out)
        self.assertEqual((self.cells(out)[0][0], self.cells(out)[0][-1]), ("column_0", "column_59"))

    def test_numbers_are_never_cut(self):
        self.put("big.csv", "a,b\n123456789012345678,yyyyyyyyyyyyyyyyyyyyyyyyyy\n")
        out = self.on_terminal("query", "big.csv", "--select", "*", columns=34, NO_COLOR="1")
        self.assertIn("123456789012345678", out)

    def test_what_is_no_text_is_refused(self):
        self.put("t.csv", ROWS)
        for form in ("arrow", "parquet"):
            self.on_terminal("query", "t.csv", "--select", "*", "--output-format", form, code=2)


class Forms(OutputCase):
    def good(self, form, *more):
        self.put("t.csv", ROWS)
        return self.m.good("query", "t.csv", "--select", "*", "--schema", TABLE, "--order-by", "a", "--output-format", form, *more)

    def test_tsv(self):
        out = self.good("tsv").decode()
        rows = [line.split("\t") for line in out.splitlines()]
        self.assertEqual(rows[0], list("abcdefg"))
        self.assertEqual(rows[1], ["-2"] + ["\\N"] * 6)
        self.assertEqual(rows[4][1], "naïve \\t|<&\\\\")
        self.put("again.tsv", out)  # and is read back
        again = self.m.good("query", "again.tsv", "--select", "*", "--schema", TABLE, "--order-by", "a")
        self.assertEqual(again, self.good("csv"))

    def test_jsonl(self):
        self.assertEqual(self.good("jsonl"), self.good("json"))
        self.assertEqual([json.loads(line)["a"] for line in self.good("jsonl").splitlines()], [-2, 1, 3, 4])

    def test_markdown(self):
        lines = self.good("markdown").decode().splitlines()
        self.assertEqual(lines[0], "| a | b | c | d | e | f | g |")
        self.assertEqual(lines[1], "|--:|---|--:|--:|---|---|---|")
        self.assertEqual(lines[2], "| -2 | | | | | | |")
        self.assertTrue(lines[5].startswith("| 4 | naïve \t\\|&lt;&amp;\\\\ | 1e+300 |"), lines[5])

    def test_suffixes(self):
        self.put("t.csv", ROWS)
        for suffix, begins in ((".tsv", b"a\n"), (".md", b"| a |"), (".jsonl", b'{"a":'), (".arrow", b"ARROW1"), (".arrows", b"\xff\xff\xff\xff")):
            self.m.good("query", "t.csv", "--select", "a", "-o", "o" + suffix)
            self.assertTrue(Path(self.m.path("o" + suffix)).read_bytes().startswith(begins), suffix)
        self.m.bad(2, "query", "t.csv", "--select", "a", "-o", "o.csv.gz", says="results are not compressed")

    def test_detached(self):
        self.put("t.csv", ROWS)
        for form in ("table", "arrow"):
            self.m.bad(2, "query", "t.csv", "--select", "a", "--detach", "--output-format", form, says="--detach is not possible")
        job = self.m.good("query", "t.csv", "--select", "a", "--order-by", "a", "--detach", "--output-format", "markdown").split()[0].decode()
        self.assertEqual(self.m.good("result", job).splitlines()[2:], [b"| -2 |", b"| 1 |", b"| 3 |", b"| 4 |"])

    def test_table_in_a_file(self):
        self.good("table", "-o", "t.txt")
        self.assertTrue(Path(self.m.path("t.txt")).read_text().startswith("┌"))


@unittest.skipUnless(pa, "pyarrow is not there")
class Arrow(OutputCase):
    def check(self, *words, data=None):
        """pyarrow reads stream and file, and both hold what csv holds."""
        out = self.m.good(*words, "--output-format", "arrow", data=data)
        table = ipc.open_stream(out).read_all()
        table.validate(full=True)
        self.m.good(*words, "-o", "t.arrow", data=data)
        other = ipc.open_file(self.m.path("t.arrow")).read_all()
        self.assertTrue(table.equals(other) or str(table) == str(other))
        return table

    def test_types(self):
        self.put("t.csv", ROWS)
        table = self.check("query", "t.csv", "--select", "*", "--schema", TABLE, "--order-by", "a")
        self.assertEqual([str(t) for t in table.schema.types],
                         ["int64", "string", "double", "decimal128(9, 2)", "date32[day]", "bool", "timestamp[us]"])
        got = table.to_pylist()
        self.assertEqual(got[0], {"a": -2, "b": None, "c": None, "d": None, "e": None, "f": None, "g": None})
        self.assertEqual((got[1]["b"], got[2]["b"], got[3]["b"]), ('x, "y"', "", "naïve \t|<&\\"))
        self.assertEqual([str(r["d"]) for r in got[1:]], ["12.50", "-0.05", "1.00"])
        self.assertEqual([str(r["e"]) for r in got[1:]], ["2020-01-31", "0001-01-01", "9999-12-31"])
        self.assertEqual([r["f"] for r in got[1:]], [True, False, True])
        self.assertEqual(str(got[1]["g"]), "2020-01-31 12:00:00.500000")

    def test_all_widths(self):
        kinds = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"]
        self.put("k.csv", ",".join(kinds) + "\n" + "".join(",".join([str(i % 100)] * 10) + "\n" for i in range(3000)) + ",,,,,,,,,\n")
        table = self.check("mapreduce", "k.csv", "--select", "*", "--schema", ",".join(f"{k}:{k}" for k in kinds))
        self.assertEqual([str(t) for t in table.schema.types],
                         ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float", "double"])
        for name in kinds:
            column = table.column(name)
            self.assertEqual((column.null_count, sum(v.as_py() for v in column if v.is_valid)), (1, sum(i % 100 for i in range(3000))))

    @unittest.skipUnless(pl, "Polars is not there")
    def test_nulls(self):
        """Readers that look at the nulls only if their number is not 0 see them."""
        self.put("n.csv", "a,b\n" + "".join(f"{'' if i % 3 == 0 else i},{'' if i % 5 == 0 else f'x{i}'}\n" for i in range(100)))
        self.m.good("query", "n.csv", "--select", "a, b, 1 as c", "-o", "n.arrow")
        table = pl.read_ipc(self.m.path("n.arrow"))
        self.assertEqual(table["a"].to_list(), [None if i % 3 == 0 else i for i in range(100)])
        self.assertEqual(table["b"].to_list(), [None if i % 5 == 0 else f"x{i}" for i in range(100)])
        self.assertEqual(table.null_count().row(0), (34, 20, 0))

    def test_no_rows(self):
        self.put("t.csv", ROWS)
        table = self.check("query", "t.csv", "--select", "*", "--schema", TABLE, "--where", "a > 100")
        self.assertEqual((table.num_rows, table.column_names), (0, list("abcdefg")))

    def test_streams_and_groups(self):
        data = ("k,v\n" + "".join(f"k{i % 7},{i}\n" for i in range(50000))).encode()
        table = self.check("splice", "-", "--parse", "csv", "--group-by", "k", "--select", "sum(v) as s", "--order-by", "k", data=data)
        self.assertEqual(table.to_pylist(), [{"k": f"k{j}", "s": sum(range(j, 50000, 7))} for j in range(7)])
        table = self.check("splice", "-", "--parse", "csv", "--select", "k, v", data=data)
        self.assertEqual(table.num_rows, 50000)


if __name__ == "__main__":
    main()
