#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dot, norm, and sums of floats in logic files: the exact value, rounded once, on every device and for every cut. The
oracle are Python's fractions and math.fsum, bit for bit."""
import math
import random
import shutil
import struct
import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, UNEVEN_DEVICES, MachineTest, main  # noqa: E402

SIMT = ONE_DEVICE.replace("kind: cpu\n", "kind: cpu\nstyle: simt\n")
LOGIC = """name: exact
inputs: {t: {parse: csv, schema: "x:f64,y:f64,g:f32"}}
operators:
  - reduce: {in: t.x, function: sum, out: s}
  - reduce: {expr: "t.x / 2 - t.y / 2", function: sum, out: e}
  - reduce: {in: t.g, function: sum, out: sg}
  - norm: {in: t.x, order: 1, out: n1}
  - norm: {in: t.x, out: n2}
  - norm: {in: t.g, out: ng}
  - dot: {in: [t.x, t.y], out: d}
  - dot: {in: [t.g, t.g], out: dg}
outputs: {o: {columns: [s, e, sg, n1, n2, ng, d, dg]}}
"""


def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def rounded(exact):
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def root(square):
    """The f64 nearest to a root: one that is not exact lies off every boundary between two f64."""
    shift = 4400
    of = (square.numerator << shift) // square.denominator
    floor = math.isqrt(of)
    exact = floor * floor * square.denominator == square.numerator << shift
    return rounded(Fraction(2 * floor + (not exact), 2**(shift // 2 + 1)))


def dot(a, b):
    if all(math.isfinite(v) for v in a + b):
        return sum((Fraction(v) * Fraction(w) for v, w in zip(a, b)), Fraction(0))
    return sum(v * w for v, w in zip(a, b) if not math.isfinite(v * w) and not (math.isfinite(v) and math.isfinite(w)))


def total(a):
    try:
        return math.fsum(a)  # also of infinities and NaN
    except (OverflowError, ValueError):
        return sum(v for v in a if not math.isfinite(v)) if any(not math.isfinite(v) for v in a) else rounded(sum(map(Fraction, a)))


def wanted(x, y, g):
    lengths = [v if isinstance(v, float) else root(v) for v in (dot(x, x), dot(g, g))]
    products = [v if isinstance(v, float) else rounded(v) for v in (dot(x, y), dot(g, g))]
    return [total(x), total([v / 2 - w / 2 for v, w in zip(x, y)]), total(g), total(list(map(abs, x))), *lengths, *products]


def vectors():
    """Pairs of vectors by name: sums that cancel, overflow and vanish, of few exponents and of all, in one block and in several."""
    dice = random.Random(2034)
    normal = [dice.gauss(0, 1) for _ in range(9000)]

    def wide(powers, n=5000):
        return [dice.gauss(0, 1) * 10.0**dice.randint(-powers, powers) for _ in range(n)]

    def signs(value, n=4097):
        return [dice.choice((-value, value)) for _ in range(n)]

    big = [v * 1e100 for v in normal[:3000]]
    return {"normal": (normal, normal[::-1]), "uniform": ([dice.random() for _ in range(4096)], [dice.random() for _ in range(4096)]),
            "wide": (wide(150), wide(150)), "wider": (wide(20), wide(300)), "widest": (wide(300), wide(300)),
            "small": ([v * 1e-310 for v in normal], normal), "smaller": ([v * 1e-200 for v in normal], [v * 1e-130 for v in normal]),
            "huge": (signs(1.7976931348623157e308), signs(1.7976931348623157e308)), "integers": (*[[float(dice.randint(-2**53, 2**53)) for _ in range(5000)] for _ in "xy"],),
            "cancelled": (big + [3.0] + [-v for v in big], [1.0] * 6001), "zeros": ([-0.0, 0.0, 0.0], [1.0, -1.0, 0.0]), "one": ([0.1], [0.2]), "none": ([], []),
            "infinite": (normal[:5000] + [math.inf], [1.0] * 5001), "both": ([math.inf, 1.0, -math.inf], [1.0, 2.0, 3.0]), "nan": (normal[:10] + [math.nan], [1.0] * 11),
            "past": ([1e308, 1e308, -1e308, 1e-300], [10.0, 10.0, 20.0, 1.0]), "lengths": ([3e-200, 4e-200], [1e200, 1e200]),
            "limits": ([5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 2.2250738585072014e-308], [5e-324, 1.0, 1.0, 0.5])}


class Exact(MachineTest):
    def run_on(self, m, x, y, g, *options):
        lines = (",".join(map(repr, row)) + "\n" for row in zip(x, y, g))
        Path(m.path("t.csv")).write_text("x,y,g\n" + "".join(lines))
        Path(m.path("l.yaml")).write_text(LOGIC)
        shutil.rmtree(m.path("out"), ignore_errors=True)
        m.good("opsplit", "run", "l.yaml", "--input", "t=t.csv", "-o", "out", *options)
        return [float(value) for value in Path(m.path("out/o.csv")).read_text().splitlines()[1].split(",")]

    def test_fractions(self):
        machines = [self.machine(UNEVEN_DEVICES), self.machine(SIMT)]
        dice = random.Random(7)
        for name, (x, y) in vectors().items():
            g = [f32(v) if abs(v) < 1e38 else 1.5 for v in x]
            want = list(map(repr, wanted(x, y, g)))
            order = list(range(len(x)))
            dice.shuffle(order)
            mixed = [[column[i] for i in order] for column in (x, y, g)]
            for m, columns, options in ((machines[0], (x, y, g), ()), (machines[0], mixed, ("--components", "3")), (machines[1], (x, y, g), ())):
                self.assertEqual(list(map(repr, self.run_on(m, *columns, *options))), want, (name, options))


if __name__ == "__main__":
    main()
