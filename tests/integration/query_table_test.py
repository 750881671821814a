#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Named jobs with a table of numbers: k-means and matrix-multiply. The oracle is NumPy if it is installed, else plain
Python."""
import csv
import io
import math
import random
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, TWO_DEVICES, MachineTest, SharedMachineTest, main  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None


def nearest(points, centroids):
    """For each point the number of the nearest centroid; of several, the first."""
    if numpy is not None:
        p, c = numpy.array(points), numpy.array(centroids)
        return [int(i) for i in ((p[:, None, :] - c[None, :, :]) ** 2).sum(axis=2).argmin(axis=1)]
    known = {}  # points that occur more than once
    for point in map(tuple, points):
        if point not in known:
            distances = [sum([(a - b) ** 2 for a, b in zip(point, c)]) for c in centroids]
            known[point] = distances.index(min(distances))
    return [known[tuple(point)] for point in points]


def step(points, centroids):
    """{number: (means, count)} of the clusters that have points."""
    members = {}
    for point, cluster in zip(points, nearest(points, centroids)):
        members.setdefault(cluster, []).append(point)
    return {c: ([math.fsum(column) / len(rows) for column in zip(*rows)], len(rows)) for c, rows in members.items()}


def multiplied(a, b):
    if numpy is not None:
        return (numpy.array(a) @ numpy.array(b)).tolist()
    return [[math.fsum(x * y for x, y in zip(row, column)) for column in zip(*b)] for row in a]


def csv_of(rows, names=None):
    lines = [",".join(names)] if names else []
    return "\n".join(lines + [",".join(map(repr, row)) for row in rows]) + "\n"


class TableCase:
    """What the tests below share; `m` is the machine."""

    def put(self, name, data):
        Path(self.m.path(name)).write_text(data)
        return name

    def query(self, *words):
        return list(csv.reader(io.StringIO(self.m.good("mapreduce", *words).decode())))

    def close(self, got, want, scale=0.0):
        self.assertTrue(math.isclose(float(got), want, rel_tol=1e-9, abs_tol=1e-9 * scale), (got, want))

    def check_step(self, points, centroids, names, *options):
        out = self.query("k-means", self.put("points.csv", csv_of(points, names)), "--centroids",
                         self.put("centroids.csv", csv_of(centroids, names)), *options)
        want = step(points, centroids)
        self.assertEqual(out[0], ["cluster", *names, "count"])
        self.assertEqual([(int(row[0]), int(row[-1])) for row in out[1:]],
                         [(cluster, want[cluster][1]) for cluster in sorted(want)])
        for row in out[1:]:
            for got, mean in zip(row[1:-1], want[int(row[0])][0]):
                self.close(got, mean)
        return out

    def check_product(self, a, b, *options, header=None, b_header=None):
        out = self.query("matrix-multiply", self.put("a.csv", csv_of(a, header)), "--with",
                         self.put("b.csv", csv_of(b, b_header)), *options)
        self.assertEqual(out[0], b_header or [f"c{i + 1}" for i in range(len(b[0]))])
        want = multiplied(a, b)
        self.assertEqual(len(out) - 1, len(want))
        if all(isinstance(x, int) for row in a + b for x in row):
            self.assertEqual([[float(x) for x in row] for row in out[1:]], want)
            return
        for got_row, want_row, row in zip(out[1:], want, a):
            scale = sum(abs(x) for x in row) * max(abs(x) for r in b for x in r)
            for got, value in zip(got_row, want_row):
                self.close(got, value, scale)


class KMeans(TableCase, SharedMachineTest):
    def points(self, n, columns, seed=1, low=-50.0, high=50.0):
        rng = random.Random(seed)
        return [[rng.uniform(low, high) for _ in range(columns)] for _ in range(n)]

    def test_shapes(self):
        for k, columns, n in ((1, 1, 10), (1, 3, 500), (2, 1, 500), (3, 2, 2000), (8, 3, 2000), (124, 2, 3000),
                              (100, 3, 3000), (18, 16, 1000), (4, 60, 500), (2, 100, 300)):
            with self.subTest(k=k, columns=columns):
                names = [f"x{i}" for i in range(columns)] if columns > 3 else list("xyz")[:columns]
                self.check_step(self.points(n, columns), self.points(k, columns, 2), names)

    def test_largest(self):
        """The largest that the limits allow, compiled apart from the run: over 1 MiB of points."""
        for k, columns in ((124, 2), (97, 3), (18, 16)):
            names = [f"x{i}" for i in range(columns)] if columns > 3 else list("xyz")[:columns]
            some = self.points(500, columns)
            points = some * (1300000 // len(csv_of(some)) + 1)
            self.check_step(points, self.points(k, columns, 2), names)

    def test_far_from_zero(self):
        """|c|² - 2xc would have no correct digit left."""
        points = [[1e9 + x, 4e9 + y] for x, y in self.points(1000, 2, 3, -1.0, 1.0)]
        self.check_step(points, points[:5], ["east", "north of here"])

    def test_chunks_and_steps(self):
        """Steps over chunks until nothing moves find the three clouds, as the oracle does."""
        rng = random.Random(7)
        clouds = [(0.0, 0.0), (10.0, 3.0), (-4.0, 8.0)]
        points = [[rng.gauss(x, 1), rng.gauss(y, 1)] for _ in range(11000) for x, y in clouds]
        rng.shuffle(points)
        text = csv_of(points, ["x", "y"])
        self.assertGreater(len(text), 1 << 20)
        self.put("cloud.csv", text)
        want = [points[0], points[1], points[2]]
        name = self.put("step0.csv", csv_of(want, ["x", "y"]))
        before = None
        for i in range(1, 40):
            self.m.good("mapreduce", "k-means", "cloud.csv", "--centroids", name, "-o", f"step{i}.csv")
            name = f"step{i}.csv"
            want = [means for _, (means, _) in sorted(step(points, want).items())]
            rows = list(csv.reader(Path(self.m.path(name)).read_text().splitlines()))[1:]
            got = [[float(x) for x in row[1:3]] for row in rows]
            for got_row, want_row in zip(got, want):
                for g, w in zip(got_row, want_row):
                    self.close(g, w, 1.0)
            if rows == before:
                break
            before = rows
        self.assertEqual(rows, before, "it does not converge")
        self.assertEqual(sum(int(row[3]) for row in rows), 33000)
        for x, y in clouds:
            self.assertLess(min(math.dist((x, y), g) for g in got), 0.1)

    def test_exact(self):
        """Integers: the bits of the oracle. Ties go to the first."""
        points = [[x, y] for x in range(-8, 9) for y in range(-8, 9)]
        centroids = [[-4, 0], [4, 0], [0, 4], [0, -4], [4, 0]]
        out = self.check_step(points, centroids, ["x", "y"])
        self.assertEqual([int(r[0]) for r in out[1:]], [0, 1, 2, 3])  # the last is never the first of its place
        want = step(points, centroids)
        self.assertEqual([[float(v) for v in r[1:3]] for r in out[1:]], [want[c][0] for c in range(4)])
        for kind in ("i8", "i64", "f32", "decimal(4,1)"):
            self.assertEqual(self.query("k-means", "points.csv", "--centroids", "centroids.csv", "--schema",
                                        f"x:{kind},y:{kind}"), out)

    def test_nulls_and_where(self):
        self.put("points.csv", "name,y,x\na,1,\nb,,2\nc,1,1\nd,9,9\ne,3,3\n")
        self.put("centroids.csv", "x,y\n0,0\n10,10\n")
        self.assertEqual(self.query("k-means", "points.csv", "--centroids", "centroids.csv"),
                         [["cluster", "x", "y", "count"], ["0", "2.0", "2.0", "2"], ["1", "9.0", "9.0", "1"]])
        self.assertEqual(self.query("k-means", "points.csv", "--centroids", "centroids.csv", "--where",
                                    "x < 2 or y > 8"),
                         [["cluster", "x", "y", "count"], ["0", "1.0", "1.0", "1"], ["1", "9.0", "9.0", "1"]])

    def test_empty_clusters(self):
        """A centroid without points is not in the result, and the next step uses that result."""
        self.put("points.csv", "x\n1\n2\n9\n")
        self.put("c0.csv", "x\n0\n1000\n10\n")
        self.m.good("mapreduce", "k-means", "points.csv", "--centroids", "c0.csv", "-o", "c1.csv")
        self.assertEqual(Path(self.m.path("c1.csv")).read_text(), "cluster,x,count\n0,1.5,2\n2,9.0,1\n")
        self.assertEqual(self.query("k-means", "points.csv", "--centroids", "c1.csv"),
                         [["cluster", "x", "count"], ["0", "1.5", "2"], ["1", "9.0", "1"]])

    def test_other_formats(self):
        self.put("centroids.csv", "x\n0\n10\n")
        want = [["cluster", "x", "count"], ["0", "1.5", "2"], ["1", "9.0", "1"]]
        for name, data, options in (("p.tsv", "x\ty\n1\t0\n2\t0\n9\t0\n", ()), ("p.csv", "1\n2\n9\n", ("--no-header",)),
                                    ("p.jsonl", '{"x":1}\n{"x":2,"y":3}\n{"x":9}\n', ()),
                                    ("p.csv", "x;y\n1;0\n2;0\n9;0\n", ("--delimiter", ";"))):
            self.assertEqual(self.query("k-means", self.put(name, data), "--centroids", "centroids.csv", *options), want)

    def test_refused(self):
        self.put("points.csv", "x,y\n1,2\n")
        run = ("mapreduce", "k-means", "points.csv")
        self.m.bad(2, *run, says="k-means needs --centroids")
        self.m.bad(1, *run, "--centroids", "missing.csv", says="missing.csv: No such file")
        for text, says in (("", "c.csv:1: there is no row"), ("x,y\n", "c.csv:2: there is no row"),
                           ("x,y\n1,2\n3\n", "c.csv:3: 1 columns"), ("x,y\n1,nan\n", "c.csv:2: nan"),
                           ("x,y\n1,2\n-inf,0\n", "c.csv:3: -inf"), ("x,y\n1,one\n", "c.csv:2: 'one' is not a number"),
                           ("1,2\n", "c.csv:1: the first line"), ("\0", "c.csv:1: this is not text"),
                           ("x,z\n1,2\n", "z"), ("x\n" + "1\n" * 125, "125 centroids of 1 columns")):
            self.m.bad(2, *run, "--centroids", self.put("c.csv", text), says=says)
        # a NaN among the points shows in the result, and in the next step
        self.put("points.csv", "x\n1\nnan\n")
        self.m.good("mapreduce", "k-means", "points.csv", "--centroids", self.put("c.csv", "x\n0\n5\n"), "-o", "c1.csv")
        self.m.bad(2, "mapreduce", "k-means", "points.csv", "--centroids", "c1.csv", says="c1.csv:2: nan")


class Product(TableCase, SharedMachineTest):
    def matrix(self, rows, columns, seed=1):
        rng = random.Random(seed)
        return [[rng.uniform(-1e3, 1e3) for _ in range(columns)] for _ in range(rows)]

    def test_shapes(self):
        for n, m, rows in ((1, 1, 1), (3, 2, 1000), (2, 5, 10), (30, 30, 300), (1, 249, 20), (210, 4, 20), (4, 210, 20),
                           (14, 60, 100)):
            with self.subTest(n=n, m=m):
                self.check_product(self.matrix(rows, n), self.matrix(n, m, 2))

    def test_integers(self):
        rng = random.Random(4)
        for n, m in ((1, 1), (7, 3), (20, 20)):
            self.check_product([[rng.randint(-999, 999) for _ in range(n)] for _ in range(400)],
                               [[rng.randint(-9, 9) for _ in range(m)] for _ in range(n)])

    def test_chunks(self):
        """Rows are in the input's order, though many chunks are worked on at once."""
        a = self.matrix(20000, 8, 5)
        self.assertGreater(len(csv_of(a)), 2 << 20)
        self.check_product(a, self.matrix(8, 8, 6))
        self.check_product(self.matrix(3000, 30, 7), self.matrix(30, 28, 8))

    def test_headers(self):
        a, b = [[1, 2], [3, 4]], [[5, 6, 7], [8, 9, 10]]
        self.check_product(a, b, header=["end", "the y"])
        self.check_product(a, b, header=["x", "y"], b_header=["from", "b", "c 1"])
        self.check_product(a, b, b_header=["x", "y", "z"])
        # a product is the left matrix of another
        self.m.good("mapreduce", "matrix-multiply", "a.csv", "--with", "b.csv", "-o", "p.csv")
        out = self.query("matrix-multiply", "p.csv", "--with", self.put("c.csv", "1\n0\n-1\n"))
        self.assertEqual([float(r[0]) for r in out[1:]], [r[0] for r in multiplied(multiplied(a, b), [[1], [0], [-1]])])

    def test_extremes(self):
        a = [[1.7976931348623157e308, 5e-324], [0.1, -0.0]]
        self.check_product(a, [[0.5, 1e-300], [1.0, 5e-324]])
        out = self.query("matrix-multiply", self.put("a.csv", "1,\nnan,1\ninf,1\n"), "--with", self.put("b.csv", "1\n2\n"))
        self.assertEqual(out[1:], [[], ["nan"], ["inf"]])  # Python's reader has no fields in an empty line

    def test_binary(self):
        Path(self.m.path("a.bin")).write_bytes(struct.pack("<4d", 1.5, 2.0, -3.0, 0.25))
        out = self.query("matrix-multiply", "a.bin", "--parse", "fixed", "--with", self.put("b.csv", "2,0\n4,1\n"))
        self.assertEqual([[float(x) for x in r] for r in out[1:]], [[11.0, 2.0], [-5.0, 0.25]])

    def test_refused(self):
        self.put("a.csv", "1,2\n")
        run = ("mapreduce", "matrix-multiply", "a.csv")
        self.m.bad(2, *run, says="matrix-multiply needs --with")
        self.m.bad(2, *run, "--with", self.put("b.csv", "1\n2\n3\n"), says="a.csv has 2 columns and b.csv 3 rows")
        for text, says in (("", "b.csv:1: there is no row"), ("1\n2,3\n", "b.csv:2: 2 columns"),
                           ("1\nnan\n", "b.csv:2: nan"), ("1\nx\n", "b.csv:2: 'x' is not a number"),
                           ("x,1\n", "b.csv:1: 'x' is not a number")):
            self.m.bad(2, *run, "--with", self.put("b.csv", text), says=says)
        large = csv_of([[1.5] * 31] * 31)
        self.m.bad(2, *run, "--with", self.put("b.csv", large), says="961 numbers; matrix-multiply takes at most 900")
        self.m.bad(2, "mapreduce", "wordcount", "a.csv", "--with", "b.csv", says="--with belongs to another job")
        # what is wrong with the rows is their error
        self.m.bad(1, "mapreduce", "matrix-multiply", self.put("a.csv", "1,2\n3\n"), "--with",
                   self.put("b.csv", "1\n2\n"), says="a.csv")


class Devices(TableCase, MachineTest):
    def test_two_devices(self):
        """Whichever device works on it: right, with the same bits."""
        rng = random.Random(9)
        points = [[rng.uniform(0, 1000), rng.uniform(0, 1000)] for _ in range(30000)]
        centroids = [[rng.uniform(0, 1000), rng.uniform(0, 1000)] for _ in range(24)]
        results = []
        for profile in (ONE_DEVICE, TWO_DEVICES):
            self.m = self.machine(profile)
            results.append(self.check_step(points, centroids, ["x", "y"]))
            self.check_product(points, [[0.1, 2.0, -3.5], [7.0, 0.3, 1e-9]])
            plan = self.m.json("explain", "mapreduce", "k-means", "points.csv", "--centroids", "centroids.csv")
            self.assertEqual(plan["flow"], "mapreduce")
        self.assertEqual(*results)


if __name__ == "__main__":
    main()
