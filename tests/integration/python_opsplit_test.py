#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hac.opsplit: logic files with arrays and files, beside NumPy."""
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SOURCE, main  # noqa: E402
from python_package import PackageTest, numpy as np  # noqa: E402

EXAMPLES = SOURCE / "docs" / "examples"
TYPES = """name: types
inputs:
  v: {{template: FixValueVector, type: {kind}}}
  m: {{template: SparseMatrix, type: {kind}, columns: m}}
  s: {{template: Var, type: {kind}}}
operators:
  - map: {{expr: "v", out: w}}
outputs:
  w: {{format: csv, columns: [w]}}
"""
SQUARES = """name: squares
inputs:
  a: {template: FixValueVector, type: f64}
operators:
  - map: {expr: "a * a", out: b}
  - reduce: {expr: "b", function: sum, out: total}
outputs:
  b: {format: csv, columns: [b]}
"""


class Coordinates:
    """As much of SciPy's sparse matrices as hac.opsplit uses."""

    def __init__(self, dense):
        self.row, self.col = np.nonzero(dense)
        self.data, self.shape = dense[self.row, self.col], dense.shape

    def tocoo(self):
        return self

    tocsr = tocoo


class Logic(PackageTest):
    def put(self, text, name="logic.yaml"):
        Path(self.m.path(name)).write_text(text)
        return self.m.path(name)

    def test_jacobi(self):
        import hac
        n = 300
        a = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
        b = np.random.default_rng(0).standard_normal(n)
        given = {"rest": Coordinates(a - 4 * np.eye(n)), "diagonal": np.diag(a)[::1], "b": b, "tolerance": 1e-12}
        got = hac.opsplit(EXAMPLES / "jacobi.yaml", given, ["x", "rest", "tolerance"], self.m.path("out"))
        self.assertLess(abs(got["x"] - np.linalg.solve(a, b)).max(), 1e-9)
        self.assertEqual(got["tolerance"], 1e-12)
        rows, columns, values = got["rest"]
        back = np.zeros((n, n))
        back[rows, columns] = values
        self.assertTrue((back == a - 4 * np.eye(n)).all())
        written = np.loadtxt(Path(self.m.path("out"), "x.csv"), skiprows=1)
        self.assertTrue((written == got["x"]).all())

    def test_page_rank(self):
        import hac
        edges = np.unique(np.sort(np.random.default_rng(0).integers(0, 30, (200, 2)), axis=1), axis=0)
        edges = edges[edges[:, 0] != edges[:, 1]]
        np.savetxt(self.m.path("edges.txt"), edges, "%d")
        got = hac.opsplit(EXAMPLES / "pagerank.yaml", {"edges": Path(self.m.path("edges.txt"))}, ["rank", "node"])
        nodes = got["node"]
        place = {node: i for i, node in enumerate(nodes.tolist())}
        link = np.zeros((len(nodes), len(nodes)))
        for one, other in edges.tolist():
            link[place[one], place[other]] = link[place[other], place[one]] = 1
        rank = np.full(len(nodes), 1 / len(nodes))
        for _ in range(500):
            rank = 0.15 / len(nodes) + 0.85 * link @ (rank / link.sum(axis=0))
        self.assertLess(abs(got["rank"] - rank).max(), 1e-10)

    def test_forms_of_arrays(self):
        import hac
        path = self.put(SQUARES)
        a = np.arange(1000.0)
        for form in (a, a[::-1], a[::3], a.astype(">f8"), list(a)):
            got = hac.opsplit(path, {"a": form}, ["b", "total"])
            self.assertEqual(got["b"].tolist(), [x * x for x in np.asarray(form).tolist()])
            self.assertEqual(got["total"], sum(x * x for x in np.asarray(form).tolist()))

    def test_types(self):
        import hac
        for kind, dtype in (("i32", "int32"), ("i64", "int64"), ("u32", "uint32"), ("u64", "uint64"), ("f32", "float32"), ("f64", "float64")):
            path = self.put(TYPES.format(kind=kind))
            v, m, s = np.arange(5).astype(dtype), np.eye(5, dtype=dtype) * 3, np.dtype(dtype).type(7)
            got = hac.opsplit(path, {"v": v, "m": Coordinates(m), "s": s}, ["w", "v", "m", "s"])
            self.assertEqual((got["w"].dtype, got["w"].tolist(), got["v"].tolist()), (np.dtype(dtype), v.tolist(), v.tolist()))
            self.assertEqual((got["s"], got["m"][2].tolist()), (7, [3] * 5))

    def test_wrong(self):
        import hac
        path = self.put(SQUARES)
        a = np.arange(3.0)
        broken = self.put("name: x\noperators: 5\n", "broken.yaml")
        for file, inputs, results, error, says in (
                (path, {}, ["b"], hac.InvalidError, "a"), (path, {"a": a, "c": a}, ["b"], hac.InvalidError, "c"),
                (path, {"a": a}, ["nope"], hac.InvalidError, "nope"), (path, {"a": a.astype("f4")}, ["b"], hac.InvalidError, "a"),
                (path, {"a": 1.0}, ["b"], hac.InvalidError, "a"), (path, {"a": a.astype("i2")}, ["b"], hac.UnsupportedError, "int16"),
                (path, {"a": np.zeros((1, 1, 1))}, ["b"], hac.UnsupportedError, "3 dimensions"),
                (path, {"a": ["x"]}, ["b"], hac.UnsupportedError, "<U1"), (broken, {}, [], hac.InvalidError, "broken.yaml:1:1"),
                (self.m.path("nope.yaml"), {}, [], hac.NotFoundError, "nope.yaml")):
            with self.assertRaises(error, msg=f"{inputs} {results}") as caught:
                hac.opsplit(file, inputs, results)
            self.assertIn(says, str(caught.exception))
        with self.assertRaisesRegex(TypeError, r"results is a list of names: \['total'\]"):
            hac.opsplit(path, {"a": a}, "total")

    def test_cancel(self):
        """A loop that would go on for long."""
        import hac
        path = self.put("name: long\ninputs:\n  a: {template: FixValueVector, type: f64}\noperators:\n"
                        "  - while: {condition: \"total > -1\", rounds: 100000000}\n    do:\n"
                        "      - reduce: {expr: \"a * a\", function: sum, out: total}\n"
                        "outputs:\n  a: {format: csv, columns: [a]}\n")
        future = hac.submit(hac.opsplit, path, {"a": np.arange(1000.0)}, ["total"])
        time.sleep(1)
        self.assertFalse(future.done())
        self.assertTrue(future.cancel())
        with self.assertRaises(hac.CancelledError):
            future.result(30)


if __name__ == "__main__":
    main()
