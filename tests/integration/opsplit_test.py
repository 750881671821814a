#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logic files: the examples of docs/ against oracles in plain Python, and the same bytes for all
components, devices and placements."""
import collections
import csv
import io
import itertools
import json
import math
import os
import random
import signal
import struct
import subprocess
import sys
import unittest
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, SOURCE, TWO_DEVICES, Machine, SharedMachineTest, eventually, main  # noqa: E402

EXAMPLES = SOURCE / "docs" / "examples"
DATA = Path(os.environ["HAC_TEST_DATA"], "data") if "HAC_TEST_DATA" in os.environ else None
needs_data = unittest.skipIf(DATA is None, "HAC_TEST_DATA is not set: the examples' inputs are there")
LINES_OF_TEXT = 1500


def rows_of(data):
    """Header and rows of a CSV output."""
    rows = list(csv.reader(io.StringIO(data.decode())))
    return rows[0], rows[1:]


class LogicTest(SharedMachineTest):
    """Runs of logic files on a machine with one device (`m`) and on one with two (`two`)."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.two = Machine(TWO_DEVICES)
        cls.addClassCleanup(cls.two.close)

    def outcome(self, machine, logic, inputs, *options):
        """{name of a file: its bytes} that a run wrote."""
        self.runs = getattr(self, "runs", 0) + 1
        folder = self.m.work / f"out{self.runs}"
        words = [word for name, path in inputs.items() for word in ("--input", f"{name}={path}")]
        machine.good("opsplit", "run", logic, *words, "-o", folder, *options)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    def same_everywhere(self, logic, inputs):
        """What a logic file writes, after a check that every split and placement writes the same."""
        first = self.outcome(self.m, logic, inputs)
        for machine, options in ((self.m, ("--components", "1")), (self.m, ("--components", "3")),
                                 (self.m, ("--components", "7", "--placement", "rule")),
                                 (self.two, ("--components", "7", "--placement", "measured")),
                                 (self.two, ("--components", "2", "--placement", "rule")), (self.two, ())):
            devices = 2 if machine is self.two else 1
            got = self.outcome(machine, logic, inputs, *options)
            self.assertEqual(sorted(got), sorted(first))
            for name, data in first.items():
                self.assertTrue(got[name] == data, f"{name} is another with {options} on {devices} devices")
        return first

    def close(self, got, want, relative=1e-11, absolute=1e-13):
        self.assertTrue(math.isclose(float(got), want, rel_tol=relative, abs_tol=absolute), (got, want))


def iris():
    with open(DATA / "iris.csv", newline="") as file:
        return [([float(x) for x in row[:4]], row[4]) for row in list(csv.reader(file))[1:]]


def squared(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b))


def lloyd(points, k):
    """Centroids, sizes and the cluster of each point, once no centroid moves."""
    centroids = points[:k]
    while True:
        clusters = []
        for p in points:
            distances = [squared(p, c) for c in centroids]
            clusters.append(distances.index(min(distances)))
        members = [[p for p, c in zip(points, clusters) if c == i] for i in range(k)]
        moved = [[math.fsum(column) / len(m) for column in zip(*m)] for m in members]
        if max(squared(a, b) for a, b in zip(moved, centroids)) < 1e-20:
            return moved, [len(m) for m in members], clusters
        centroids = moved


def words_of(text):
    """Maximal runs of bytes other than white space."""
    return [word.decode() for word in text.split()]


@needs_data
class Examples(LogicTest):
    """docs/examples/*.yaml on real files."""

    def test_every_example_has_a_test(self):
        for path in EXAMPLES.glob("*.yaml"):
            self.assertTrue(hasattr(self, "test_" + path.stem.replace("-", "_")), path.name)

    def test_jacobi(self):
        """Its inputs are vectors: jacobi.c provides them, hacctl cannot."""
        done = subprocess.run([BUILD / "client-lib" / "hac_example_jacobi", EXAMPLES / "jacobi.yaml", "1000"],
                              env=self.m.environment, capture_output=True, text=True, timeout=100, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, "".join(f"{i} {i + 1}.000000\n" for i in range(1000)))
        self.m.good("opsplit", "check", EXAMPLES / "jacobi.yaml")
        self.m.good("explain", "opsplit", "run", EXAMPLES / "jacobi.yaml")
        self.m.bad(2, "opsplit", "run", EXAMPLES / "jacobi.yaml",
                   says="input rest is not given; it is a vector, which a program passes in")

    def test_k_means(self):
        flowers = iris()
        out = self.same_everywhere(EXAMPLES / "k-means.yaml", {"iris": DATA / "iris.csv"})
        centroids, sizes, clusters = lloyd([p for p, _ in flowers], 3)
        header, rows = rows_of(out["centroids.csv"])
        self.assertEqual(header, [*(f"centroid{i}" for i in range(4)), "size"])
        self.assertEqual([int(row[4]) for row in rows], sizes)
        for row, centroid in zip(rows, centroids):
            for got, want in zip(row, centroid):
                self.close(got, want)
        header, rows = rows_of(out["clusters.csv"])
        self.assertEqual(header, ["cluster", "species"])
        self.assertEqual(rows, [[str(c), species] for c, (_, species) in zip(clusters, flowers)])

    def test_logistic_regression(self):
        flowers = [(p + [1.0], float(species == "virginica")) for p, species in iris()]
        out = self.same_everywhere(EXAMPLES / "logistic-regression.yaml", {"iris": DATA / "iris.csv"})
        weights = [0.0] * 5
        for _ in range(200):
            errors = [1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, p)))) - label for p, label in flowers]
            slope = [math.fsum(e * p[j] for e, (p, _) in zip(errors, flowers)) for j in range(5)]
            weights = [w - 0.1 / len(flowers) * s for w, s in zip(weights, slope)]
        got = [json.loads(line)["weight"] for line in out["weights.json"].splitlines()]
        self.assertEqual(len(got), 5)
        for g, want in zip(got, weights):
            self.close(g, want, relative=1e-10)

    def test_all_pairs(self):
        points = [p for p, _ in iris()]
        out = self.same_everywhere(EXAMPLES / "all-pairs.yaml", {"iris": DATA / "iris.csv"})
        n = len(points)
        apart = struct.unpack(f"<{n * n}d", out["apart.bin"])
        header, rows = rows_of(out["farthest.csv"])
        self.assertEqual(header, ["farthest", "distance"])
        self.assertEqual(len(rows), n)
        for i, p in enumerate(points):
            for j, q in enumerate(points):
                self.close(apart[i * n + j], math.dist(p, q))
            own = apart[i * n:i * n + n]
            self.assertEqual(int(rows[i][0]), own.index(max(own)))
            self.assertEqual(float(rows[i][1]), max(own))

    def test_tf_idf(self):
        lines = (DATA / "shakespeare.txt").read_bytes().split(b"\n")[:LINES_OF_TEXT]
        text = self.m.work / "cut.txt"
        text.write_bytes(b"\n".join(lines) + b"\n")
        out = self.same_everywhere(EXAMPLES / "tf-idf.yaml", {"docs": text})
        counts = [collections.Counter(words_of(line)) for line in lines]
        documents = collections.Counter(word for line in counts for word in line)
        terms = sorted(documents, key=str.encode)
        idf = {word: math.log(len(lines) / documents[word]) for word in terms}
        header, rows = rows_of(out["terms.csv"])
        self.assertEqual(header, ["term", "documents", "idf"])
        self.assertEqual([row[0] for row in rows], terms)
        self.assertEqual([int(float(row[1])) for row in rows], [documents[word] for word in terms])
        for row in rows:
            self.close(row[2], idf[row[0]])
        header, rows = rows_of(out["tfidf.csv"])
        self.assertEqual(header, ["row", "column", "weight"])
        number = {word: i for i, word in enumerate(terms)}
        want = [(i, number[word], line[word] * idf[word]) for i, line in enumerate(counts)
                for word in sorted(line, key=str.encode)]
        self.assertEqual([(int(r), int(c)) for r, c, _ in rows], [w[:2] for w in want])
        for row, (_, _, weight) in zip(rows, want):
            self.close(row[2], weight)

    def test_word_count(self):
        folder = self.m.work / "folder"
        folder.mkdir()
        text = (DATA / "shakespeare.txt").read_bytes()
        parts = {"b.txt": text[:30000], "a.txt": text[500000:520000], "c": b"", "d.txt": b"the\tthe  end"}
        for name, part in parts.items():
            (folder / name).write_bytes(part)
        (folder / ".hidden").write_bytes(b"nobody reads this")
        out = self.same_everywhere(EXAMPLES / "word-count.yaml", {"folder": folder})
        counts = [collections.Counter(words_of(part)) for part in parts.values()]
        total = sum(counts, collections.Counter())
        header, rows = rows_of(out["words.csv"])
        self.assertEqual(header, ["word", "often", "files"])
        self.assertEqual([(word, float(often), float(files)) for word, often, files in rows],
                         [(word, total[word], sum(word in c for c in counts))
                          for word in sorted(total, key=str.encode)])

    def test_pagerank(self):
        out = self.same_everywhere(EXAMPLES / "pagerank.yaml", {"edges": DATA / "facebook_combined.txt"})
        links = collections.defaultdict(set)
        for line in (DATA / "facebook_combined.txt").read_text().splitlines():
            a, b = map(int, line.split())
            links[a].add(b)
            links[b].add(a)
        n = len(links)
        rank = dict.fromkeys(links, 1 / n)
        residual = 1.0
        while residual > 1e-13:
            share = {node: rank[node] / len(links[node]) for node in links}
            following = {node: 0.15 / n + 0.85 * sum(map(share.__getitem__, links[node])) for node in links}
            residual = sum(abs(following[node] - rank[node]) for node in links)
            rank = following
        header, rows = rows_of(out["ranks.csv"])
        self.assertEqual(header, ["node", "rank"])
        self.assertEqual([int(node) for node, _ in rows], sorted(links))
        self.assertLess(max(abs(float(got) - rank[int(node)]) for node, got in rows), 1e-10)


ROWS = 20011  # five blocks of 4,096 rows, the last not full

EVERYTHING = """
name: everything
inputs:
  t: {parse: csv, schema: "i:i64,k:i64,f:f64"}
vectors:
  few: {template: SparseValueVector, type: f64, value: {rows: 8, indices: [1, 5], values: [0.5, 2]}}
  ragged: {template: VariableLenVector, type: i64, value: [[1, 2, 4], [], [-3]]}
  a: {type: f64, value: [[1, 2], [3, 4], [5, 6]]}
  b: {type: f64, value: [[1, 0, 2, 1], [0, 1, 3, 0.5]]}
  total: {template: Var, type: i64, value: 0}
  steps: {template: Var, type: i64, value: 0}
  left: {template: Var, type: i64, value: 100}
operators:
  - op: move
    do:
      - filter: {where: "t.f > 0.5 and t.k % 2 = 1", in: [t.i, t.f], out: [kept_i, kept_f]}
      - sort: {in: t.f, descending: true, out: sorted, order: best}
      - gather: {in: t.i, index: best, out: along}
      - scatter: {in: t.i, index: best, rows: t.i, out: put}
      - range: {rows: t.i, from: 7, out: number}
      - fill: {value: 2.5, rows: t.i, out: same}
      - dense: {in: few, out: full}
      - reduce: {in: kept_i, function: count, out: n_kept}
      - reduce: {in: kept_f, function: sum, out: sum_kept}
  - op: less
    do:
      - scan: {in: t.i, function: sum, exclusive: true, out: before}
      - scan: {in: t.i, function: sum, out: so_far}
      - scan: {in: t.f, function: max, out: highest}
      - argmin: {in: t.f, out: least_at, value: least}
      - argmax: {in: t.i, out: most_at, value: most}
      - histogram: {in: t.f, bins: 9, from: -0.5, to: 1, out: spread}
      - dot: {in: [t.i, t.k], out: product}
      - norm: {in: t.f, out: length}
      - norm: {in: t.f, order: 1, out: length1}
      - norm: {in: t.f, order: inf, out: length_inf}
      - reduce: {in: t.i, function: sum, out: sum}
      - reduce: {in: t.i, function: min, out: min}
      - reduce: {in: t.f, function: max, out: max}
      - reduce: {expr: "t.i > 0", function: count, out: count}
      - reduce: {expr: "t.f * cast(t.k as f64)", function: squares, out: squares}
      - reduce: {in: t.i, function: largest, out: largest}
  - op: keys
    do:
      - reduce_by_key: {key: t.k, in: t.i, keys: 11, function: sum, out: by_sum, count: by_count}
      - reduce_by_key: {key: t.k, in: t.i, keys: 11, function: min, out: by_min}
      - reduce_by_key: {key: t.k, in: t.f, keys: 11, function: max, out: by_max}
      - reduce_by_key: {key: t.k, in: t.i, keys: 11, function: mean, out: by_mean}
  - op: matrices
    do:
      - gemm: {left: a, right: b, out: c}
      - transpose: {in: c, out: ct}
      - row_reduce: {in: ragged, function: sum, out: rows_sum}
      - row_reduce: {in: a, function: max, out: rows_max}
      - distance: {in: a, to: a, function: manhattan, out: apart}
      - nearest: {in: a, to: a, out: near, distance: near_by}
  - for: {index: i, from: 2, to: 9, by: 3, collect: {cube: cubes}}
    do:
      - let: {cube: "i * i * i"}
  - for: {index: j, from: 0, to: 5}
    do:
      - let: {total: "total * 2 + j"}
  - while: {condition: "left > 3", rounds: 50}
    do:
      - let: {left: "left // 2", steps: "steps + 1"}
  - if: {condition: "total > 20"}
    then:
      - let: {branch: "1"}
    else:
      - let: {branch: "2"}
reducer: {key: t.k, keys: key, values: {r_sum: {function: sum, in: t.i}, r_max: {function: max, in: t.f}, r_n: {function: count}}}
outputs:
  kept: {columns: {i: kept_i, f: kept_f}}
  rows: {columns: [sorted, best, along, put, number, same, before, so_far, highest]}
  full: {columns: [full]}
  spread: {columns: [spread]}
  single: {columns: [n_kept, sum_kept, least_at, least, most_at, most, product, length, length1, length_inf, sum, min, max, count, squares, largest, total, steps, branch]}
  keys: {columns: [by_sum, by_count, by_min, by_max, by_mean]}
  matrix: {columns: [c, rows_sum, rows_max, apart, near, near_by]}
  transposed: {columns: [ct]}
  cubes: {columns: [cubes]}
  reduced: {columns: [key, r_sum, r_max, r_n]}
"""


# Of vectors of one type; {t} is the type.
TYPED = """
name: typed
inputs:
  t: {parse: csv, schema: "x:{t},k:i64"}
vectors:
  instead: {type: {result}, value: [9, 9, 9, 9, 9]}
  means: {type: f64, value: [-1, -1, -1, -1, -1]}
operators:
  - op: all
    do:
      - reduce: {in: t.x, function: sum, out: sum}
      - reduce: {in: t.x, function: min, out: min}
      - reduce: {in: t.x, function: max, out: max}
      - reduce: {in: t.x, function: count, out: count}
      - reduce: {in: t.x, function: squares, out: squares}
      - reduce: {in: t.x, function: magnitude, out: magnitude}
      - reduce: {in: t.x, function: largest, out: largest}
      - dot: {in: [t.x, t.x], out: dot}
      - norm: {in: t.x, out: length}
      - norm: {in: t.x, order: 1, out: length1}
      - norm: {in: t.x, order: inf, out: length_inf}
      - argmin: {in: t.x, out: least_at, value: least}
      - argmax: {in: t.x, out: most_at, value: most}
      - scan: {in: t.x, function: sum, out: sums}
      - scan: {in: t.x, function: min, out: lowest}
      - scan: {in: t.x, function: max, out: highest}
      - scan: {in: t.x, function: sum, exclusive: true, out: before}
      - sort: {in: t.x, out: sorted}
      - reduce_by_key: {key: t.k, in: t.x, keys: 5, function: sum, empty: instead, out: key_sum, count: key_count}
      - reduce_by_key: {key: t.k, in: t.x, keys: 5, function: min, empty: instead, out: key_min}
      - reduce_by_key: {key: t.k, in: t.x, keys: 5, function: max, empty: instead, out: key_max}
      - reduce_by_key: {key: t.k, in: t.x, keys: 5, function: mean, empty: means, out: key_mean}
      - reduce_by_key: {key: t.k, keys: 5, function: count, count: key_rows}
outputs:
  single: {columns: [sum, min, max, count, squares, magnitude, largest, dot, length, length1, length_inf, least_at, least, most_at, most]}
  rows: {columns: [sums, lowest, highest, before, sorted]}
  keys: {columns: [key_sum, key_count, key_min, key_max, key_mean, key_rows]}
"""


class Suboperators(LogicTest):
    """Every other sub-operator against naive Python, over several blocks of rows and over none."""

    def write(self, name, text):
        path = self.m.work / name
        path.write_text(text)
        return path

    def table(self, rows):
        return self.write("t.csv", "i,k,f\n" + "".join(f"{i},{k},{f!r}\n" for i, k, f in rows))

    def numbers(self, data):
        """{column: its numbers} of a CSV output."""
        header, rows = rows_of(data)
        return {name: [float(row[c]) for row in rows] for c, name in enumerate(header)}

    def all_close(self, got, want, relative=1e-11):
        self.assertEqual(len(got), len(want))
        for g, w in zip(got, want):
            self.close(g, w, relative)

    def test_everything(self):
        r = random.Random(5)
        rows = [(r.randint(-1000, 1000), r.choice((0, 1, 2, 3, 5, 8, 10)), r.uniform(-1, 1)) for _ in range(ROWS)]
        ints, keys, floats = (list(column) for column in zip(*rows))
        out = self.same_everywhere(self.write("all.yaml", EVERYTHING), {"t": self.table(rows)})
        got = {name.removesuffix(".csv"): self.numbers(data) for name, data in out.items()}
        kept = [(i, f) for i, k, f in rows if f > 0.5 and k % 2 == 1]
        self.assertEqual(list(zip(got["kept"]["i"], got["kept"]["f"])), kept)
        self.check_rows(got["rows"], ints, floats)
        self.assertEqual(got["full"]["full"], [0, 0.5, 0, 0, 0, 2, 0, 0])
        bins = [0] * 9
        for f in floats:
            if f >= -0.5:
                bins[min(int((f + 0.5) / 1.5 * 9), 8)] += 1
        self.assertEqual(got["spread"]["spread"], bins)
        self.check_single({name: value for name, (value,) in got["single"].items()}, rows, kept)
        self.check_keys(got["keys"], got["reduced"], rows)
        self.check_matrices(got)
        self.assertEqual(got["cubes"]["cubes"], [8, 125, 512])

    def check_rows(self, got, ints, floats):
        best = sorted(range(ROWS), key=lambda row: -floats[row])
        put, before, highest = [0] * ROWS, [], []
        for row, place in enumerate(best):
            put[place] = ints[row]
        for i, f in zip([0, *ints], floats):
            before.append((before[-1] if before else 0) + i)
            highest.append(max(f, highest[-1]) if highest else f)
        want = {"sorted": [floats[row] for row in best], "best": best, "along": [ints[row] for row in best],
                "put": put, "number": list(range(7, 7 + ROWS)), "same": [2.5] * ROWS, "before": before,
                "so_far": [b + i for b, i in zip(before, ints)], "highest": highest}
        self.assertEqual(sorted(got), sorted(want))
        for name, column in want.items():
            self.assertTrue(got[name] == column, name)

    def check_single(self, got, rows, kept):
        ints, keys, floats = zip(*rows)
        exact = {"n_kept": len(kept), "least_at": floats.index(min(floats)), "least": min(floats),
                 "most_at": ints.index(max(ints)), "most": max(ints), "product": sum(map(int.__mul__, ints, keys)),
                 "length_inf": max(map(abs, floats)), "sum": sum(ints), "min": min(ints), "max": max(floats),
                 "count": sum(i > 0 for i in ints), "largest": max(map(abs, ints)), "total": 26, "steps": 5,
                 "branch": 1}
        near = {"sum_kept": math.fsum(f for _, f in kept), "length": math.sqrt(math.fsum(f * f for f in floats)),
                "length1": math.fsum(map(abs, floats)),
                "squares": math.fsum((f * k) ** 2 for f, k in zip(floats, keys))}
        self.assertEqual({name: got[name] for name in exact}, exact)
        for name, want in near.items():
            self.close(got[name], want)
        self.assertEqual(len(got), len(exact) + len(near))

    def check_keys(self, got, reduced, rows):
        members = [[row for row in rows if row[1] == key] for key in range(11)]
        there = [m for m in members if m]
        self.assertEqual(got["by_count"], [len(m) for m in members])
        self.assertEqual(got["by_sum"], [sum(i for i, _, _ in m) for m in members])
        self.assertEqual(got["by_min"], [min((i for i, _, _ in m), default=0) for m in members])
        self.assertEqual(got["by_max"], [max((f for _, _, f in m), default=0) for m in members])
        for mean, m in zip(got["by_mean"], members):
            if m:
                self.close(mean, sum(i for i, _, _ in m) / len(m))
            else:
                self.assertTrue(math.isnan(mean))
        self.assertEqual(reduced, {"key": [m[0][1] for m in there], "r_n": [len(m) for m in there],
                                   "r_sum": [sum(i for i, _, _ in m) for m in there],
                                   "r_max": [max(f for _, _, f in m) for m in there]})

    def check_matrices(self, got):
        a, b = [[1, 2], [3, 4], [5, 6]], [[1, 0, 2, 1], [0, 1, 3, 0.5]]
        c = [[sum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]
        self.assertEqual([[got["matrix"][f"c{j}"][i] for j in range(4)] for i in range(3)], c)
        self.assertEqual([[got["transposed"][f"ct{j}"][i] for j in range(3)] for i in range(4)],
                         [list(column) for column in zip(*c)])
        self.assertEqual([[got["matrix"][f"apart{j}"][i] for j in range(3)] for i in range(3)],
                         [[abs(p - r) + abs(q - s) for r, s in a] for p, q in a])
        for name, want in (("rows_sum", [7, 0, -3]), ("rows_max", [2, 4, 6]), ("near", [0, 1, 2]),
                           ("near_by", [0, 0, 0])):
            self.assertEqual(got["matrix"][name], want)

    EACH = """
name: each
inputs:
  t: {parse: csv, schema: "i:i64,k:i64,f:f64"}
operators:
  - filter: {where: "t.f > 0.5", in: [t.i, t.f], out: [kept_i, kept_f]}
  - map: {expr: "kept_i + 1", out: more}
  - sort: {in: kept_f, out: sorted, order: order}
  - gather: {in: t.i, index: order, out: along}
  - scatter: {in: along, index: order, rows: t.i, out: put}
  - scan: {in: kept_i, out: so_far}
  - reduce: {in: t.i, out: sum}
  - reduce: {in: t.i, function: count, out: n}
  - norm: {in: kept_f, out: length}
  - dot: {in: [kept_f, kept_f], out: product}
  - histogram: {in: t.f, bins: 2, from: 0, to: 1, out: spread}
  - reduce_by_key: {key: t.k, in: t.i, keys: 3, function: sum, out: by_sum, count: by_count}
  - index: {in: t.k, out: id, distinct: node}
  - csr: {row: id, column: id, out: link}
  - row_reduce: {in: link, out: degree}
  - transpose: {in: link, out: back}
  - for: {index: j, from: 0, to: n, collect: {v: vs}}
    do: [{let: {v: "j * j"}}]
reducer: {key: t.k, keys: key, values: {r_sum: {function: sum, in: t.i}, r_n: {function: count}}}
outputs:
  rows: {columns: [more, sorted, along, so_far]}
  put: {columns: [put]}
  single: {columns: [sum, n, length, product]}
  spread: {columns: [spread]}
  keys: {columns: [by_sum, by_count]}
  degree: {columns: [node, degree]}
  back: {columns: {b: back}}
  vs: {columns: [vs]}
  reduced: {columns: [key, r_sum, r_n]}
"""

    def test_types(self):
        """Vectors of every type. Numbers are multiples of 1/4 whose sums every type has, so each answer is exact."""
        r = random.Random(8)
        for kind in ("i32", "i64", "f32", "f64"):
            with self.subTest(kind=kind):
                real = kind[0] == "f"
                xs = [r.randint(-400, 400) / 4 if real else r.randint(-100, 100) for _ in range(5003)]
                keys = [r.choice((0, 1, 3, 4)) for _ in xs]  # none is 2
                path = self.write(f"{kind}.csv", "x,k\n" + "".join(f"{x},{k}\n" for x, k in zip(xs, keys)))
                logic = self.write(f"{kind}.yaml", TYPED.replace("{t}", kind).replace("{result}", "f64" if real else "i64"))
                out = self.outcome(self.two, logic, {"t": path}, "--components", "3")
                got = {name.removesuffix(".csv"): self.numbers(data) for name, data in out.items()}
                squares, magnitude, largest = sum(x * x for x in xs), sum(map(abs, xs)), max(map(abs, xs))
                self.assertEqual(got["single"], {name: [value] for name, value in {
                    "sum": sum(xs), "min": min(xs), "max": max(xs), "count": len(xs), "squares": squares,
                    "magnitude": magnitude, "largest": largest, "dot": squares, "length": math.sqrt(squares),
                    "length1": magnitude, "length_inf": largest, "least_at": xs.index(min(xs)), "least": min(xs),
                    "most_at": xs.index(max(xs)), "most": max(xs)}.items()})
                sums = list(itertools.accumulate(xs))
                self.assertEqual(got["rows"], {
                    "sums": sums, "lowest": list(itertools.accumulate(xs, min)), "before": [0, *sums[:-1]],
                    "highest": list(itertools.accumulate(xs, max)), "sorted": sorted(xs)})
                of = [[x for x, k in zip(xs, keys) if k == key] for key in range(5)]
                counts = [len(group) for group in of]
                self.assertEqual(got["keys"].pop("key_mean"), [sum(g) / len(g) if g else -1 for g in of])
                self.assertEqual(got["keys"], {
                    "key_sum": [sum(g) if g else 9 for g in of], "key_min": [min(g) if g else 9 for g in of],
                    "key_max": [max(g) if g else 9 for g in of], "key_count": counts, "key_rows": counts})

    def test_extreme_lengths(self):
        """Squares that leave the range of f64 on the way to a length that does not."""
        logic = self.write("length.yaml", """
name: length
inputs:
  t: {parse: csv, schema: "x:f64"}
operators:
  - norm: {in: t.x, out: length}
outputs:
  single: {columns: [length]}
""")
        for xs, want in (((3e-200, 4e-200), 5e-200), ((1e200, 1e200), math.hypot(1e200, 1e200)), ((0.0, -0.0), 0.0),
                         ((5e-324, 0.0), 5e-324), ((1e200, float("inf")), float("inf")), ((3.0, 4.0), 5.0)):
            out = self.outcome(self.two, logic, {"t": self.write("x.csv", "x\n" + "".join(f"{x!r}\n" for x in xs))})
            self.close(out["single.csv"].split()[1], want, 1e-15, 0)

    def test_no_rows(self):
        out = self.same_everywhere(self.write("each.yaml", self.EACH), {"t": self.table([])})
        texts = {name.removesuffix(".csv"): data.decode().split() for name, data in out.items()}
        self.assertEqual(texts, {
            "rows": ["more,sorted,along,so_far"], "put": ["put"], "single": ["sum,n,length,product", "0,0,0.0,0.0"],
            "spread": ["spread", "0", "0"], "keys": ["by_sum,by_count", *["0,0"] * 3], "degree": ["node,degree"],
            "back": ["row,column,b"], "vs": ["vs"], "reduced": ["key,r_sum,r_n"]})

    def test_order_of_matrix_columns(self):
        """Columns of a matrix are in the order of its declaration, not of the file."""
        (self.m.work / "order.csv").write_text("a,b,c\n1,2,3\n4,5,6\n")
        (self.m.work / "order.yaml").write_text(
            'name: order\ninputs: {t: {parse: csv, schema: "a:f64,b:f64,c:f64", matrix: {m: [c, a], one: [b]}}}\noperators:\n'
            '  - map: {expr: "t.m * 10.0", out: y}\noutputs: {y: {columns: {y: y, b: t.one}}}\n')
        out = self.outcome(self.m, self.m.work / "order.yaml", {"t": self.m.work / "order.csv"})
        self.assertEqual(rows_of(out["y.csv"])[1], [["30.0", "10.0", "2.0"], ["60.0", "40.0", "5.0"]])

    def test_few_rows(self):
        rows = [(3, 2, 0.7), (-1, 0, 0.25), (5, 2, 0.6)]
        out = self.same_everywhere(self.write("each.yaml", self.EACH), {"t": self.table(rows)})
        self.assertEqual(self.numbers(out["rows.csv"]),
                         {"more": [4, 6], "sorted": [0.6, 0.7], "along": [-1, 3], "so_far": [3, 8]})
        self.assertEqual(self.numbers(out["put.csv"])["put"], [3, -1, 0])
        self.assertEqual(self.numbers(out["keys.csv"]), {"by_sum": [-1, 0, 8], "by_count": [1, 0, 2]})
        self.assertEqual(self.numbers(out["degree.csv"]), {"node": [0, 2], "degree": [1, 2]})
        self.assertEqual(out["vs.csv"], b"vs\n0\n1\n4\n")
        self.assertEqual(out["back.csv"], b"row,column,b\n0,0,1.0\n1,1,2.0\n")
        self.assertEqual(out["reduced.csv"], b"key,r_sum,r_n\n0,-1,1\n2,8,2\n")

    def test_formats(self):
        logic = """
inputs: {t: {parse: csv, schema: "i:i64,k:i64,f:f64"}}
operators: [{map: {expr: "t.i * 2", out: d}}]
outputs:
  a: {format: csv, columns: {i: t.i, d: d, f: t.f}}
  b: {format: json, columns: {i: t.i, d: d, f: t.f}}
  c: {format: xml, columns: {i: t.i, d: d, f: t.f}}
  d2: {format: parquet, columns: {i: t.i, d: d, f: t.f}}
  e: {format: raw, columns: [d]}
"""
        rows = [(i - 50, i % 3, i / 7) for i in range(100)]
        want = [(i, 2 * i, f) for i, _, f in rows]
        out = self.same_everywhere(self.write("formats.yaml", "name: formats" + logic), {"t": self.table(rows)})
        self.assertEqual(list(zip(*self.numbers(out["a.csv"]).values())), want)
        self.assertEqual([json.loads(line) for line in out["b.json"].splitlines()],
                         [dict(zip("idf", row)) for row in want])
        found = xml.etree.ElementTree.fromstring(out["c.xml"])
        self.assertEqual([[(v.get("name"), float(v.text)) for v in row] for row in found],
                         [list(zip("idf", map(float, row))) for row in want])
        self.assertEqual(struct.unpack("<100q", out["e.bin"]), tuple(row[1] for row in want))
        parquet = self.m.work / "back.parquet"
        parquet.write_bytes(out["d2.parquet"])
        back = self.m.good("mapreduce", parquet, "--select", "*")
        self.assertEqual(list(zip(*self.numbers(back).values())), want)

    def test_errors(self):
        def bad(text, rows, says, *options):
            logic = self.write("bad.yaml", text)
            words = ("--input", f"t={self.table(rows)}") if rows is not None else ()
            self.m.bad(1, "opsplit", "run", logic, *words, "-o", "bad", *options, says=says)
            self.assertEqual(list((self.m.work / "bad").glob("*")), [])

        head = 'name: bad\ninputs: {t: {parse: csv, schema: "i:i64,k:i64,f:f64"}}\noperators:\n'
        tail = "outputs: {o: {columns: [o]}}\n"
        rows = [(i, i % 5, float(i)) for i in range(10000)]
        bad(head + "  - reduce_by_key: {key: t.k, in: t.i, keys: 4, out: o}\n" + tail, rows,
            "bad.yaml:4:5: reduce_by_key: op.keys: operand 1: row 4: it is not below 4")
        overflow = "  - map: {expr: \"t.i * 9223372036854775807\", out: c}\n  - map: {expr: \"c + 1\", out: o}\n"
        for options in ((), ("--components", "3")):
            bad(head + overflow + tail, rows, "bad.yaml:4:5: map", *options)
        bad(head + overflow.replace('map: {expr: "c + 1", out: o}', 'filter: {where: "c > 1", in: [t.i, c], out: [o, p]}') + tail,
            rows, "bad.yaml:4:5: map: op.map: row 2")
        bad(head + "  - argmin: {in: t.i, out: o}\n" + tail, [], "bad.yaml:4:5: argmin: there are no rows")
        bad(head + "  - gather: {in: t.f, index: t.i, out: o}\n" + tail, [(1, 0, 0.5)], "bad.yaml:4:5: gather")
        bad(head + "  - map: {expr: \"t.i + 1\", out: o}\n" + tail, [(1, "", 0.5)],
            "row 1 of the input has no value in column k")

    SUB_LOOPS = """
name: sub-loops
inputs: {t: {parse: csv, schema: "i:i64,k:i64,f:f64"}}
operators:
  - for: {index: j, from: FROM, to: TO, by: BY, split: SPLIT, collect: {sum: sums, most: mosts}}
    do:
      - map: {expr: "t.i * (j + 3)", out: x}
      - reduce: {in: x, out: sum}
      - reduce: {in: x, function: max, out: most}
      - let: {last: "j"}
outputs: {o: {columns: [sums, mosts]}, last: {columns: [last]}}
"""

    def test_sub_loops(self):
        """With any number of sub-loops: the same rows in the same order, and the last iteration's value after the loop."""
        rows = [(i % 97 - 40, 0, 0.5) for i in range(5000)]
        inputs, ints = {"t": self.table(rows)}, [row[0] for row in rows]
        for begin, end, by in ((0, 1, 1), (0, 5, 1), (3, 24, 2), (9, -20, -4)):
            indices, graphs = range(begin, end, by), {}
            for split in (1, 2, 3, 7, 64):
                text = self.SUB_LOOPS
                for name, value in (("FROM", begin), ("TO", end), ("BY", by), ("SPLIT", split)):
                    text = text.replace(name, str(value))
                receipt = self.m.work / "receipt.json"
                out = self.outcome(self.two, self.write("loops.yaml", text), inputs, "--receipt", receipt)
                self.assertEqual(self.numbers(out["o.csv"]), {
                    "sums": [sum(ints) * (j + 3) for j in indices], "mosts": [max(i * (j + 3) for i in ints) for j in indices]})
                self.assertEqual(self.numbers(out["last.csv"])["last"], [indices[-1]])
                graphs[split] = json.loads(receipt.read_text())["graphs"]
            # one iteration of each sub-loop goes into one graph
            self.assertEqual(graphs, {split: -(-len(indices) // min(split, len(indices))) for split in graphs})

    def test_kills(self):
        """Executors are killed while a loop runs: the run ends with the same result."""
        logic = self.write("loop.yaml", """
name: loop
inputs: {t: {parse: csv, schema: "i:i64,k:i64,f:f64"}}
vectors: {x: {template: FixValueVector, type: f64}}
operators:
  - map: {expr: "t.f", out: x}
  - for: {index: j, from: 0, to: 300}
    do:
      - map: {expr: "sqrt(abs(x)) + cast(j as f64) / 300", out: x}
      - reduce: {in: x, out: sum}
      - if: {condition: "sum > 0"}
        then: [{let: {last: "sum"}}]
        else: [{let: {last: "0.0"}}]
outputs: {o: {columns: [x]}}
""")
        inputs = {"t": self.table([(i, 0, i / 3) for i in range(ROWS)])}
        want = self.outcome(self.m, logic, inputs)
        daemon = self.m.daemon()
        process = self.m.start("opsplit", "run", logic, "--input", f"t={inputs['t']}", "-o", "killed", "-q")
        kills = daemon.kill_executors_while(process, 3)
        err = process.stderr.read().decode()
        process.stdout.close()
        process.stderr.close()
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertGreater(kills, 0)
        self.assertTrue((self.m.work / "killed" / "o.csv").read_bytes() == want["o.csv"])




ENDLESS = """name: endless
vectors:
  rows: {template: Var, type: i64, value: 300000}
operators:
  - fill: {value: "1.0", rows: rows, out: v}
  - reduce: {in: v, function: max, out: top}
  - while: {condition: "top > 0", rounds: 1000000}
    do:
      - map: {expr: "v * 0.5 + 1.0", out: next}
      - reduce: {in: next, function: max, out: top}
      - let: {v: next}
outputs:
  o: {format: csv, columns: {v: v}}
"""


# A map of 1,024 rows reads and writes 8 KiB: the rule counts 16 KiB.


class OneJob(LogicTest):
    """A run of many graphs is one job in hacd: listed, logged, cancelled, and restarted after a
    kill."""

    def begin(self):
        (self.m.work / "endless.yaml").write_text(ENDLESS)
        process = self.m.start("opsplit", "run", "endless.yaml", "-o", "out")
        log = []

        def in_rounds():
            log[:] = [(job["id"], self.m.good("log", str(job["id"]))) for job in self.m.json("jobs")["jobs"]
                      if job["state"] == "running" and job["flow"] == "opsplit"]
            return len(log) == 1 and b"round 3: " in log[0][1]

        self.assertTrue(eventually(in_rounds, 30), (log, self.m.log()[-2000:]))
        return process, str(log[0][0])

    def end(self, process, job, code, says):
        out, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (code, b""), err)
        self.assertIn(says, err)
        self.assertTrue(eventually(lambda: self.m.json("show", job)["state"] == "cancelled"))
        self.assertFalse((self.m.work / "out").exists())

    def test_cancelled_by_another(self):
        process, job = self.begin()
        self.m.good("cancel", job)
        self.end(process, job, 130, b"cancelled")

    def test_interrupted(self):
        process, job = self.begin()
        process.send_signal(signal.SIGINT)
        self.end(process, job, 130, b"cancelled in round")

    def test_client_killed(self):
        process, job = self.begin()
        process.kill()
        process.wait()
        self.assertTrue(eventually(lambda: self.m.json("show", job)["state"] == "cancelled"))

    @needs_data
    def test_executors_killed(self):
        """If a graph loses its executor, all that is needed runs again; the answer is the same."""
        inputs = {"edges": DATA / "facebook_combined.txt"}
        want = self.outcome(self.m, EXAMPLES / "pagerank.yaml", inputs)
        daemon = self.m.daemon()
        process = self.m.start("opsplit", "run", str(EXAMPLES / "pagerank.yaml"), "--input",
                               f"edges={inputs['edges']}", "-o", "killed", "--receipt", "receipt")
        kills = daemon.kill_executors_while(process, 6, 0.15)
        _, err = process.communicate()
        self.assertEqual(process.returncode, 0, err)
        self.assertEqual({p.name: p.read_bytes() for p in (self.m.work / "killed").iterdir()}, want)
        receipt = json.loads((self.m.work / "receipt").read_text())
        shown = self.m.json("show", str(receipt["job"]))
        self.assertEqual((shown["state"], shown["receipt"]["opsplit"]["graphs"]), ("done", receipt["graphs"]))
        self.assertGreater(kills, 0)


if __name__ == "__main__":
    main()
