#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The parquet commands from outside. The oracles are pyarrow, which reads and writes the files, and plain Python."""
import csv
import io
import json
import os
import random
import struct
import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
from machine import ONE_DEVICE, TWO_DEVICES, SharedMachineTest, main  # noqa: E402

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

WHY_NOT = "pyarrow is not installed (`./dev test` puts it into build/python): nothing is compared with it"
SCHEMA = "id:i64,name:string,price:f64"
CODECS = {"none": "UNCOMPRESSED", "snappy": "SNAPPY", "gzip": "GZIP", "zstd": "ZSTD", "lz4": "LZ4"}  # as pyarrow names it


def some_rows(n, seed=1):
    """(id, name, price), each null now and then, with repeated ids."""
    rng = random.Random(seed)
    return [(rng.randrange(n // 3 + 1) if rng.random() > 0.1 else None,
             rng.choice(["", "a", "böse", 'quo"te', "com,ma", "line\nfeed", None]),
             rng.randrange(10000) / 8 if rng.random() > 0.1 else None) for _ in range(n)]


def csv_of(rows):
    def cell(value):
        if value is None:
            return ""
        text = str(value)
        return '"' + text.replace('"', '""') + '"' if isinstance(value, str) else text
    return "id,name,price\n" + "".join(",".join(map(cell, row)) + "\n" for row in rows)


def order(row, key, descending):
    """What a row is sorted by: nulls last, in both directions."""
    value = row[key]
    return (value is None, 0 if value is None else -value if descending else value)


@unittest.skipIf(pyarrow is None, WHY_NOT)
class Parquet(SharedMachineTest):
    profile = ONE_DEVICE

    def put(self, name, data):
        path = Path(self.m.path(name))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return name

    def read(self, name):
        table = pyarrow.parquet.read_table(self.m.path(name))
        return list(zip(*(column.to_pylist() for column in table.columns)))

    def write(self, name, rows, **more):
        table = pyarrow.table({"id": pyarrow.array([r[0] for r in rows], pyarrow.int64()),
                               "name": pyarrow.array([r[1] for r in rows], pyarrow.string()),
                               "price": pyarrow.array([r[2] for r in rows], pyarrow.float64())})
        Path(self.m.path(name)).parent.mkdir(parents=True, exist_ok=True)
        pyarrow.parquet.write_table(table, self.m.path(name), **more)
        return name

    def metadata(self, name):
        return pyarrow.parquet.read_metadata(self.m.path(name))

    def test_convert_text(self):
        for n in (0, 1, 1000, 70000):
            rows = some_rows(n, n)
            self.put("in.csv", csv_of(rows))
            self.m.good("parquet", "convert", "in.csv", "out.parquet", "--schema", SCHEMA)
            self.assertEqual(self.read("out.parquet"), rows)
        rows = some_rows(500)
        lines = [json.dumps({"id": i, "name": s, "price": p}) for i, s, p in rows]
        self.put("in.jsonl", "\n".join(lines))
        self.m.good("parquet", "convert", "in.jsonl", "out.parquet", "--schema", SCHEMA)
        self.assertEqual(self.read("out.parquet"), rows)
        self.m.good("parquet", "convert", "-", "out.parquet", "--parse", "jsonl", "--schema", SCHEMA,
                    data="\n".join(lines).encode())
        self.assertEqual(self.read("out.parquet"), rows)
        self.put("in.tsv", "1;2\n".replace(";", "\t"))
        self.m.good("parquet", "convert", "in.tsv", "out.parquet", "--schema", "a:i8,b:u64", "--no-header")
        self.assertEqual(self.read("out.parquet"), [(1, 2)])

    def test_inferred_types(self):
        self.put("in.csv", "i,f,b,d,t,s,zero\n1,1.5,true,2020-01-31,2020-01-31 12:00:00,x,007\n,2,false,2021-01-01,,y,8\n")
        result = self.m.run("parquet", "convert", "in.csv", "out.parquet")
        self.assertEqual((result.code, result.err), (0, "hacctl: schema inferred: --schema "
                         "'i:i64,f:f64,b:bool,d:date,t:timestamp,s:string,zero:string'\n"))
        table = pyarrow.parquet.read_table(self.m.path("out.parquet"))
        self.assertEqual([str(kind) for kind in table.schema.types],
                         ["int64", "double", "bool", "date32[day]", "timestamp[us]", "string", "string"])
        self.assertEqual(table.column("i").to_pylist(), [1, None])
        self.assertEqual(self.m.good("--quiet", "parquet", "query", "in.csv", "--select", "sum(i + 1) as s"), b"s\n2\n")
        self.put("late.csv", "i\n" + "1\n" * 70000 + "x\n")
        self.m.bad(1, "parquet", "convert", "late.csv", "none.parquet", says="late.csv: line 70002, column i: 'x'")

    def test_convert_arrays(self):
        values = {"u32": (0, 2**32 - 1, 7), "i32": (-2**31, 2**31 - 1), "f32": (0.5, -1.25), "u64": (2**64 - 1, 1),
                  "i64": (-2**63, 2**63 - 1), "f64": (1e300, -0.0, 5e-324)}
        for kind, letter in zip(values, "IifQqd"):
            self.put("in.bin", struct.pack(f"<{len(values[kind])}{letter}", *values[kind]))
            self.m.good("parquet", "convert", "in.bin", "out.parquet", "--type", kind)
            self.assertEqual(self.read("out.parquet"), [(value,) for value in values[kind]])
            self.assertEqual(self.metadata("out.parquet").schema.names, ["value"])
        self.put("in.bin", b"12345")
        self.m.bad(1, "parquet", "convert", "in.bin", "none.parquet", "--type", "u32")
        self.assertFalse(os.path.exists(self.m.path("none.parquet")))

    def test_codecs_and_sizes(self):
        rows = [(i, f"{i * 2654435761 % 2**32:08x}", i / 8) for i in range(100000)]
        self.write("in.parquet", rows)
        for codec, name in CODECS.items():
            self.m.good("parquet", "convert", "in.parquet", "out.parquet", "--codec", codec)
            group = self.metadata("out.parquet").row_group(0)
            self.assertEqual({group.column(i).compression for i in range(3)}, {name})
            self.assertEqual(self.read("out.parquet"), rows)
        self.m.good("parquet", "convert", "in.parquet", "out.parquet", "--row-group-rows", "30k", "--codec", "none")
        self.assertEqual([self.metadata("out.parquet").row_group(i).num_rows for i in range(4)], [30000] * 3 + [10000])
        size, block = 100 << 10, 256 << 10
        self.m.good("parquet", "convert", "in.parquet", "out.parquet", "--row-group-size", size, "--block-size", block,
                    "--codec", "none")
        self.assertEqual(self.read("out.parquet"), rows)
        groups = self.m.json("parquet", "inspect", "out.parquet")["row_groups"]
        self.assertGreater(len(groups), 5)
        for group in groups:
            self.assertLessEqual(group["bytes"], size)
            self.assertEqual(group["offset"] // block, (group["offset"] + group["bytes"] - 1) // block)
        for group in groups[:-1]:
            self.assertGreaterEqual(group["bytes"], 0.95 * size)

    def test_query(self):
        rows = some_rows(5000)
        for i in range(4):
            self.write(f"t/{'sub/' if i % 2 else ''}{i}.parquet", rows[i * 1250:(i + 1) * 1250], row_group_size=300)
        self.put("t/_SUCCESS", "")
        words = ["--where", "id > 100 and price is not null", "--group-by", "name", "--select", "count() as n, sum(price) as s",
                 "--order-by", "n desc, name"]
        kept = [row for row in rows if row[0] is not None and row[0] > 100 and row[2] is not None]
        want = sorted(([name, sum(r[1] == name for r in kept), sum(r[2] for r in kept if r[1] == name)]
                       for name in {r[1] for r in kept}), key=lambda g: (-g[1], g[0] is None, g[0] or ""))
        want = [["name", "n", "s"]] + [[name or "", str(n), str(s)] for name, n, s in want]

        def answer(*more, **others):
            return list(csv.reader(io.StringIO(self.m.good(*more, *words, **others).decode(), newline="")))
        self.assertEqual(answer("parquet", "query", "t"), want)
        self.assertEqual(answer("mapreduce", "t/0.parquet", "t/2.parquet", "t/sub"), want)
        self.write("all.parquet", rows)
        self.assertEqual(answer("parquet", "query", "-", "--parse", "parquet", data=Path(self.m.path("all.parquet")).read_bytes()),
                         want)
        self.put("all.csv", csv_of(rows))
        self.assertEqual(answer("mapreduce", "all.csv", "--schema", SCHEMA), want)
        result = self.m.run("parquet", "query", "all.csv", "--schema", SCHEMA, *words, "--receipt", "r.json")
        self.assertEqual(list(csv.reader(io.StringIO(result.out.decode(), newline=""))), want)
        self.assertRegex(result.err, r"\Ahacctl: all.csv: converted from csv to Parquet first \(.*\n\Z")
        receipt = json.loads(Path(self.m.path("r.json")).read_text())
        self.assertEqual((receipt["query"]["input_format"], receipt["conversion"]["query"]["input_format"]), ("parquet", "csv"))
        self.assertEqual(receipt["conversion"]["bytes_in"], os.path.getsize(self.m.path("all.csv")))
        self.m.good("parquet", "query", "t", *words, "-o", "out.parquet")
        self.assertEqual(["" if r[0] is None else r[0] for r in self.read("out.parquet")], [r[0] for r in want[1:]])
        job = self.m.good("--quiet", "parquet", "query", "all.csv", "--schema", SCHEMA, *words, "--detach").decode().strip()
        self.assertEqual(list(csv.reader(io.StringIO(self.m.good("result", job).decode(), newline=""))), want)

    def test_as_many_files_as_can_be(self):
        """253 descriptors are one message; names that do not fit beside them are shortened at the front."""
        folder, rows = "-".join(["long"] * 50), some_rows(253 * 20)
        for i in range(253):
            self.write(f"{folder}/part={i}/{i:05}.parquet", rows[20 * i:20 * i + 20])
        got = self.m.good("parquet", "query", folder, "--select", "count() as n, count(id) as ids, sum(price) as s, max(name) as m")
        want = [len(rows), sum(r[0] is not None for r in rows), sum(r[2] or 0 for r in rows), max(r[1] or "" for r in rows)]
        n, ids, total, most = next(csv.reader(io.StringIO(got.decode().split("\n", 1)[1])))
        self.assertEqual([int(n), int(ids), float(total), most], want)
        Path(self.m.path(f"{folder}/part=250/00250.parquet")).write_bytes(b"PAR1 and no more PAR1")
        self.m.bad(1, "parquet", "query", folder, "--select", "count() as n", says="part=250/00250.parquet: ")

    def test_inspect(self):
        rows = some_rows(3000)
        for version in ("1.0", "2.6"):
            self.write("x.parquet", rows, row_group_size=1000, compression="gzip", version=version)
            said, known = self.m.json("parquet", "inspect", "x.parquet"), self.metadata("x.parquet")
            self.assertEqual((said["rows"], said["bytes"], len(said["row_groups"])),
                             (3000, os.path.getsize(self.m.path("x.parquet")), known.num_row_groups))
            self.assertEqual([(c["name"], c["type"]) for c in said["columns"]],
                             [("id", "i64"), ("name", "string"), ("price", "f64")])
            for i, group in enumerate(said["row_groups"]):
                for j, chunk in enumerate(group["columns"]):
                    column = known.row_group(i).column(j)
                    self.assertEqual((chunk["codec"], chunk["bytes"], chunk["values"], chunk["nulls"]),
                                     ("GZIP", column.total_compressed_size, column.num_values, column.statistics.null_count))
                self.assertEqual(int(group["columns"][0]["max"]), known.row_group(i).column(0).statistics.max)
            text = self.m.good("parquet", "inspect", "x.parquet").decode()
            self.assertTrue(text.startswith("3000 rows of 3 columns in 3 row groups, "), text)
        big = [(i, None, None) for i in range(1000000)]
        self.write("big.parquet", big, compression="none", use_dictionary=False)
        self.assertEqual(self.m.json("parquet", "inspect", "big.parquet")["rows"], 1000000)

    def test_no_parquet(self):
        self.put("bad.parquet", b"PAR1" + b"x" * 1000 + b"PAR1")
        self.put("text.parquet", "a,b\n1,2\n")
        for name in ("bad.parquet", "text.parquet"):
            self.m.bad(1, "parquet", "query", name, "--select", "*", says=name)
            self.m.bad(1, "parquet", "inspect", name, says=name)
            self.m.bad(1, "parquet", "convert", name, "none.parquet", says=name)
        self.put("bad.csv", "id,name,price\n1,a,2\n2,b,x\n")
        self.m.bad(1, "parquet", "convert", "bad.csv", "none.parquet", "--schema", SCHEMA, says="bad.csv: line 3, column price")
        self.assertFalse(os.path.exists(self.m.path("none.parquet")))
        self.write("x.parquet", some_rows(10))
        self.m.bad(2, "parquet", "query", "x.parquet", "--select", "nothing", says="unknown column 'nothing'")
        self.m.bad(2, "sort", "x.parquet", "--key", "id,nothing", "-o", "o", says="hacctl: --key: character 4: unknown column")
        pyarrow.parquet.write_table(pyarrow.table({"a": [1], "l": [[1, 2]]}), self.m.path("list.parquet"))
        self.assertEqual(self.m.good("parquet", "query", "list.parquet", "--select", "a"), b"a\n1\n")

    def test_names(self):
        """Columns with any names: none is taken for another, and none is skipped."""
        long, other = "n" * 200, "n" * 199 + "m"
        names = ["a\nb", "\x1b[31m", 'q"q', "ä.b", "line", long]
        pyarrow.parquet.write_table(pyarrow.table([[i] for i in range(len(names))], names=names), self.m.path("names.parquet"))
        self.m.good("parquet", "convert", "names.parquet", "out.parquet")
        self.assertEqual(self.metadata("out.parquet").schema.names, [*names[:-1], long[:127]])
        self.assertEqual(self.read("out.parquet"), [tuple(range(len(names)))])
        self.assertEqual(self.m.good("parquet", "query", "names.parquet", "--select", '"a\nb" + "ä.b" as x'), b"x\n3\n")
        for twice in ("a", long):
            pyarrow.parquet.write_table(pyarrow.table([[1], [2], [3]], names=[twice, "b", twice if twice == "a" else other]),
                                        self.m.path("twice.parquet"))
            result = self.m.run("parquet", "query", "twice.parquet", "--select", "*")
            self.assertEqual((result.code, result.out.split(b"\n")[1]), (0, b"1,2,3"))
            second = "a_1" if twice == "a" else twice[:123] + "_3_1"  # cut names get their column's number, too
            self.assertIn(second[:40], result.err)
            self.assertEqual(self.m.good("-q", "parquet", "query", "twice.parquet", "--select", f"{twice[:127]} + {second} as x"),
                             b"x\n4\n")
            self.assertEqual(self.m.run("parquet", "convert", "twice.parquet", "out.parquet").code, 0)
            self.assertEqual(self.metadata("out.parquet").schema.names, [twice[:127], "b", second])
            self.assertEqual(self.m.good("-q", "parquet", "query", "twice.parquet", "--select", "b"), b"b\n2\n")

    def test_changed_meanwhile(self):
        """A file that is written to while it is read would give rows of two versions."""
        stop = threading.Event()
        for name, n in (("small.parquet", 10), ("large.parquet", 300000)):
            self.write(name, [(i % 7, None, i / 2) for i in range(n)], row_group_size=20000)

        def write():  # what a write does to the file's time; the kernel's own clock is too coarse for a test
            ns = time.time_ns()
            while not stop.is_set():
                ns += 1000
                os.utime(self.m.path("small.parquet"), ns=(ns, ns))
                os.utime(self.m.path("large.parquet"), ns=(ns, ns))
        queries = [[*files, *words] for files in (["small.parquet"], ["large.parquet"], ["small.parquet", "large.parquet"])
                   for words in (["--select", "sum(id) as s"], ["--select", "sum(id) as s", "--engine", "device"],
                                 ["--where", "id = 3", "--select", "count() as n", "--group-by", "name"],
                                 ["--select", "*", "--order-by", "price", "--limit", "2"])]
        known = [self.m.good("--quiet", "parquet", "query", *words) for words in queries]
        writer, ends = threading.Thread(target=write), []
        writer.start()
        try:
            for words, answer in [*zip(queries, known)] * 2:
                result = self.m.run("--quiet", "parquet", "query", *words)
                ends.append(result.code)  # the writer may have slept all the while
                if result.code != 0 or result.out != answer:
                    self.assertRegex(result.err, r"\Ahacctl: (small|large)\.parquet: the file has changed while it was read\n\Z")
        finally:
            stop.set()
            writer.join()
        self.assertIn(1, ends)

    def test_large_pages(self):
        """A few bytes may claim pages of many columns that exceed any machine's memory."""
        n, columns = 8 << 20, 12
        zeros = pyarrow.Array.from_buffers(pyarrow.int64(), n, [None, pyarrow.py_buffer(bytes(8 * n))])
        pyarrow.parquet.write_table(pyarrow.table({f"c{i}": zeros for i in range(columns)}), self.m.path("bomb.parquet"),
                                    use_dictionary=False, compression="zstd", data_page_size=1 << 30, max_rows_per_page=n,
                                    row_group_size=n, write_statistics=False)
        self.assertLess(os.path.getsize(self.m.path("bomb.parquet")), 100000)
        self.m.bad(1, "parquet", "query", "bomb.parquet", "--select", "*", "--limit", "1",
                   says="its pages and those of the other columns take more than 512 MiB at a time; take fewer columns")
        few = self.m.good("parquet", "query", "bomb.parquet", "--select", "sum(c0) as a, sum(c1) as b, count() as n")
        self.assertEqual(few, f"a,b,n\n0,0,{n}\n".encode())

    def test_sort_rows(self):
        rows = some_rows(20000, 7)
        self.write("in.parquet", rows)
        self.put("in.csv", csv_of(rows))
        for keys, want in (("id", sorted(rows, key=lambda r: order(r, 0, False))),
                           ("id desc", sorted(rows, key=lambda r: order(r, 0, True))),
                           ("price desc, id", sorted(rows, key=lambda r: (order(r, 2, True), order(r, 0, False))))):
            self.m.good("sort", "in.parquet", "--input-format", "parquet", "--key", keys, "-o", "out.parquet")
            self.assertEqual(self.read("out.parquet"), want)
            self.m.good("sort", "in.csv", "--input-format", "csv", "--key", keys, "--schema", SCHEMA, "-o", "out.parquet")
            self.assertEqual(self.read("out.parquet"), want)
        texts = [(str(i % 300), f"t{i}") for i in range(3000)]
        self.put("in.csv", "k,t\n" + "".join(f"{k},{t}\n" for k, t in texts))
        out = self.m.good("sort", "-", "--input-format", "csv", "--key", "k", "--schema", "k:string,t:string",
                          data=Path(self.m.path("in.csv")).read_bytes())
        want = sorted(texts, key=lambda r: r[0].encode())  # stable, by bytes
        self.assertEqual(out.decode(), "k,t\n" + "".join(f"{k},{t}\n" for k, t in want))


@unittest.skipIf(pyarrow is None, WHY_NOT)
class TwoDevices(Parquet):
    profile = TWO_DEVICES


if __name__ == "__main__":
    main()
