#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Logic files of flow D: the examples of docs/ against oracles in plain Python, and the same bytes whatever the
components, devices and placement."""
import collections
import csv
import io
import json
import math
import os
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SOURCE, TWO_DEVICES, Machine, SharedMachineTest, main  # noqa: E402

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
        """What a logic file writes, after a look that it does so however it is split and placed."""
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
    """Maximal runs of bytes other than blanks."""
    return [word.decode() for word in text.split()]


@needs_data
class Examples(LogicTest):
    """docs/examples/*.yaml on real files."""

    def test_every_example_has_a_test(self):
        for path in EXAMPLES.glob("*.yaml"):
            self.assertTrue(hasattr(self, "test_" + path.stem.replace("-", "_")), path.name)

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


if __name__ == "__main__":
    main()
