#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data of one row, one column, or no rows; what bodies of loops read; what is refused."""
import json
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import TWO_DEVICES, SharedMachineTest, eventually, handles, main  # noqa: E402

FILTER = """inputs: {t: {parse: csv, schema: "x:f64,k:i64"}}
operators:
  - filter: {where: "t.x > 0.0", in: [t.x, t.k], out: [a, b]}
outputs: {o: {columns: [a, b]}}
"""
RAGGED = """vectors: {v: {template: VariableLenVector, type: i64, value: %s}}
operators:
  - map: {expr: "v * 2", out: w}
  - reduce: {in: w, function: sum, out: s}
  - reduce: {expr: "v * v", function: sum, out: squares}
outputs: {o: {columns: [s, squares]}, w: {format: json, columns: [w]}}
"""
SUM = """inputs:
  a: {parse: csv, schema: "y:f64"%s}
  b: {parse: csv, schema: "x:f64", rows: %s}
operators:
  - map: {expr: "a.y + b.x", out: z}
outputs: {o: {columns: [z]}}
"""
NEAREST = """inputs:
  p: {parse: csv, schema: "x:f64,y:f64", matrix: {m: [x, y]}}
  c: {parse: csv, schema: "x:f64,y:f64", matrix: {m: [x, y]}}
operators:
  - distance: {in: p.m, to: c.m, out: d}
  - row_reduce: {in: d, function: sum, out: far}
  - argmin: {in: d, out: label}
  - reduce_by_key: {key: label, in: p.m, function: mean, out: moved}
outputs: {d: {columns: [d], where: "d0 > 3"}, label: {columns: [label]}, moved: {columns: [moved]}}
"""
COLLECT = """vectors: {x: {template: FixValueVector, type: f64, value: [1, 2, 3, 4]}}
operators:
  - for: {index: i, from: 0, to: 4, split: %d, collect: {n: x}}
    do:
      - reduce: {in: x, function: sum, out: n}
      - map: {expr: "n + cast(i as f64)", out: n}
outputs: {o: {columns: [x]}}
"""
HALVES = """vectors:
  x: {template: FixValueVector, type: f32, value: [1, 2]}
  k: {template: FixValueVector, type: i32, value: [-3, -2]}
operators:
  - while: {condition: "m > 0.3 and least < 100", rounds: 2}
    do:
      - map: {expr: "x / cast(2 as f32)", out: x}
      - reduce: {in: x, function: max, out: m}
      - reduce: {in: k, function: min, out: least}
outputs: {o: {columns: [x]}}
"""
WORDS = """inputs: {d: {parse: lines}}
operators:
  - tokenize: {in: d.line, out: w, row: r}
  - index: {in: w, out: id, distinct: t}
  - term_counts: {row: r, term: id, out: c}
  - row_reduce: {in: c, function: sum, out: length}
outputs: {o: {columns: [length]}}
"""
LOOP = """vectors: {k: {value: 5}}
operators:
  - let: {k: "k - 5"}
  - for: {index: i, from: 0, to: %s, by: "k + %d"}
    do: %s
outputs: {o: {columns: [k]}}
"""
WHOLE = """vectors: {x: {template: FixValueVector, type: f64, value: 1, rows: 100000, split: 4}}
operators:
  - op: own
    do:
      - first: {expr: "x + 1", out: y}
      - second: {expr: "y * 2", out: z}
outputs: {o: {format: raw, columns: [z]}}
"""


class Edges(SharedMachineTest):
    profile = TWO_DEVICES

    def write(self, text, **files):
        for name, lines in files.items():
            Path(self.m.path(f"{name}.csv")).write_text(lines)
        Path(self.m.path("l.yaml")).write_text(f"name: edges\n{text}")
        return [word for name in files for word in ("--input", f"{name}={name}.csv")]

    def results(self, text, *options, **files):
        """The outputs' lines by name; they are equal however finely rows are cut."""
        inputs = self.write(text, **files)
        got = []
        for components in ("1", "3"):
            shutil.rmtree(self.m.path("out"), ignore_errors=True)
            self.m.good("opsplit", "run", "l.yaml", *inputs, "-o", "out", "--components", components, *options)
            got.append({p.stem: p.read_text().splitlines() for p in Path(self.m.path("out")).iterdir() if p.suffix != ".bin"})
        self.assertEqual(got[0], got[1])
        return got[0]

    def fails(self, code, says, text, **files):
        inputs = self.write(text, **files)
        return self.m.bad(code, "opsplit", "run", "l.yaml", *inputs, "-o", "out", says=says)

    def test_one_row_is_no_single_value(self):
        self.assertEqual(self.results(FILTER, t="x,k\n5.5,1\n")["o"], ["a,b", "5.5,1"])
        self.assertEqual(self.results(FILTER, t="x,k\n-5.5,1\n")["o"], ["a,b"])
        for rows in (("", "a"), (", rows: 5", "5")):
            self.assertEqual(self.results(SUM % rows, a="y\n1\n2\n3\n4\n5\n", b="x\n1\n2\n3\n4\n5\n")["o"][1:],
                             ["2.0", "4.0", "6.0", "8.0", "10.0"])
            for other in ("x\n9\n", "x\n9\n8\n"):
                self.fails(1, "input b has", SUM % rows, a="y\n1\n2\n3\n4\n5\n", b=other)
        self.assertEqual(self.results(SUM % ("", "a"), a="y\n1\n", b="x\n2\n")["o"], ["z", "3.0"])

    def test_explain_without_some_inputs(self):
        inputs = self.write(SUM % ("", "a"), b="x\n1\n2\n")
        self.assertIn("map", self.m.good("explain", "opsplit", "run", "l.yaml", *inputs).decode())

    def test_ragged_rows(self):
        for rows in ([[1, 2, 3]], [[1, 2, 3], [4]], [[], [5], []], [[7]], [[1, 2], [], [3]]):
            got = self.results(RAGGED % json.dumps(rows))
            values = [v for row in rows for v in row]
            self.assertEqual(got["o"][1:], [f"{2 * sum(values)},{sum(v * v for v in values)}"], rows)
            self.assertEqual([json.loads(line) for line in got["w"]],
                             [{"row": i, "w": 2 * v} for i, row in enumerate(rows) for v in row])

    def test_matrix_of_one_column_and_of_none(self):
        points = "x,y\n1,1\n2,2\n5,5\n"
        two = self.results(NEAREST, p=points, c="x,y\n0,0\n5,5\n")
        self.assertEqual((two["label"], two["moved"]), (["label", "0", "0", "1"], ["moved0,moved1", "1.5,1.5", "5.0,5.0"]))
        one = self.results(NEAREST, p=points, c="x,y\n0,0\n")
        self.assertEqual(one["label"], ["label", "0", "0", "0"])
        self.assertEqual((one["d"][0], len(one["d"]), len(one["moved"])), ("d0", 2, 2))
        self.fails(1, "distance: `to` has no rows: there is nothing to have a distance to", NEAREST, p=points, c="x,y\n")
        self.assertEqual(self.results(WORDS, d=" \n\n  \n")["o"][1:], ["0.0"] * 3)

    def test_nothing_has_no_least(self):
        for function, word in (("min", "minimum"), ("max", "maximum")):
            text = FILTER.replace("outputs", "  - reduce: {in: a, function: %s, out: m}\noutputs" % function)
            self.fails(1, f"reduce: there are no rows, and so no {word}", text, t="x,k\n-1,1\n")

    def test_collect_what_the_body_reads(self):
        """Until the loop ends, its body reads the vector of the iteration before."""
        for split in (1, 2, 3, 4):
            self.assertEqual(self.results(COLLECT % split)["o"][1:], ["10.0", "11.0", "12.0", "13.0"])

    def test_long_axpy(self):
        text = """vectors: {x: {type: f64, value: [1, 2, 3]}, y: {type: f64, value: [100, 200, 300]}}
operators: [{axpy: {a: "1.0 %s+ 1", x: x, y: y, out: z}}]
outputs: {o: {columns: [z]}}
"""
        for blanks in (1, 485, 490, 491, 492, 493, 494, 495, 496, 600, 4000):
            self.assertEqual(self.results(text % (" " * blanks))["o"][1:], ["102.0", "204.0", "306.0"], blanks)

    def test_log_of_conditions(self):
        self.write(HALVES)
        self.m.good("opsplit", "run", "l.yaml", "-o", "out", "--receipt", "receipt")
        log = self.m.good("log", str(json.loads(Path(self.m.path("receipt")).read_text())["job"])).decode()
        self.assertIn("m = 1, least = -3", log)
        self.assertIn("m = 0.5, least = -3", log)

    def test_loops(self):
        self.fails(2, "l.yaml:5:5: for i: the loop's step is 0", LOOP % ("3", 0, "[{let: {z: i}}]"))
        self.fails(1, "l.yaml:5:5: for i: ", LOOP % ('"(k + 9) * 9223372036854775807"', 1, "[{let: {z: i}}]"))
        self.write(LOOP % ("1000000000000000000", 1, "[]"))
        process = self.m.start("opsplit", "run", "l.yaml", "-o", "out")
        self.addCleanup(process.kill)
        self.assertTrue(eventually(lambda: handles(process.pid, signal.SIGINT)))
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 130)

    def test_refused_before_it_runs(self):
        numbers = """inputs: {t: {parse: csv, schema: "k:u64,i:i64"}, m: {parse: csv, schema: "a:i32,b:i32", matrix: {m: [a, b]}}}
operators:
  - %s
outputs: {o: {columns: [s]}}
"""
        cast = 'make others of it before, as in let: {wider: "cast(t.k as i64)"}'
        for piece, says in (
                ("reduce_by_key: {key: t.i, in: t.k, keys: 2, function: sum, out: s}", f"has elements of type u64, and `reduce_by_key` takes i32, u32, i64, f32, f64 and bool; {cast}"),
                ("argmin: {in: m.m, out: s}", "`m.m` has elements of type i32, and `argmin` of a matrix takes i64, u64, f32 and f64"),
                ('reduce: {expr: "2.0", out: s}', "`2.0` reads no vector")):
            self.write(numbers % piece)
            self.m.bad(2, "opsplit", "check", "l.yaml", says=f"l.yaml:4:5: {says}" if says[0] == "`" else says)
        self.write("reducer: {key: t.i, keys: each, values: {s: {function: sum, in: t.k}}}\n" + (numbers % "let: {s: t.i}"))
        self.assertIn(cast, self.m.run("opsplit", "check", "l.yaml").err)
        self.write("vectors: {x: {template: FixValueVector, type: f64, value: 1, rows: 10000000}}\noutputs: {o: {columns: [x]}}\n")
        self.m.bad(2, "opsplit", "check", "l.yaml", says="more than 4194304 values; use `fill`")

    def test_outputs_are_of_one_run(self):
        """If one output cannot be written, the others stay as they were; other files in the folder stay in any case."""
        text = "inputs: {t: {parse: csv, schema: 'k:i64'}}\noutputs: {a: {columns: {k: t.k}}, b: {format: %s, columns: {k: t.k}}}\n"
        out = self.m.work / "out"

        def run(value, form="csv"):
            return ["opsplit", "run", "l.yaml", *self.write(text % form, t=f"k\n{value}\n"), "-o", "out"]

        def there():
            return {path.name: path.read_text() for path in out.iterdir() if path.is_file()}
        self.m.good(*run(1))
        (out / "other").write_text("mine")
        before = {"a.csv": "k\n1\n", "b.csv": "k\n1\n", "other": "mine"}
        self.assertEqual(there(), before)
        (out / "b.json").mkdir()
        self.m.bad(1, *run(2, "json"), says="output b: out/b.json cannot be written: Is a directory")
        self.assertEqual(there(), before)
        (out / "b.json").rmdir()
        self.m.good(*run(3, "json"))
        self.assertEqual(there(), {**before, "a.csv": "k\n3\n", "b.json": '{"k":3}\n'})

    def test_whole_operation(self):
        """No library has an inverse of this Map interface: the vector goes to one place."""
        self.write(WHOLE)
        self.m.good("opsplit", "run", "l.yaml", "-o", "out", "--receipt", "receipt")
        self.assertEqual(Path(self.m.path("out/o.bin")).stat().st_size, 800000)
        text = self.m.good("explain", "opsplit", "run", "l.yaml").decode()
        self.assertIn("placed as a whole", text)
        self.assertNotIn("[2 of", text)


if __name__ == "__main__":
    main()
