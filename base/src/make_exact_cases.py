#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints exact_cases.inc: sums, means, variances and deviations of a few f64 by Python's fractions.

    python3 base/src/make_exact_cases.py > base/src/exact_cases.inc
"""
import math
import random
import struct
from fractions import Fraction

R = random.Random(34)


def rounded(value):
    """The f64 nearest to a fraction, ties to even."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rounded_root(value):
    shift = 4400
    square = (value.numerator << shift) // value.denominator
    root = math.isqrt(square)
    exact = root * root * value.denominator == value.numerator << shift
    return rounded(Fraction(2 * root + (0 if exact else 1), 2 ** (shift // 2 + 1)))


def any_f64():
    while True:
        value = struct.unpack("<d", struct.pack("<Q", R.getrandbits(64)))[0]
        if math.isfinite(value):
            return value


def near(exponent):
    return math.ldexp(R.uniform(-1, 1), exponent + R.randint(0, 20))


def c_text(value):
    return ("-" if value < 0 else "") + "INFINITY" if math.isinf(value) else value.hex()


CASES = [[1e308, 1e308, -1e308], [1e308, 1e308], [-1e308, -1e308, -1e308], [0.1] * 6, [1e16, 1.0, -1e16], [5e-324, 5e-324, -5e-324],
         [5e-324, 5e-324], [2.2250738585072014e-308, -5e-324], [1.7976931348623157e308, 9.979201547673598e291],
         [1.7976931348623157e308, 9.97920154767359e291], [0.0, 0.0], [1.0, 2.0], [3.0, 3.0, 3.0], [1.7e308, -1.7e308],
         [1e200, 1e-200], [1e-200, 2e-200], [1e8, 1e8 + 1, 1e8 + 2], [2.0**53, 1.0], [2.0**53, 1.0, 2.0**-1074], [0.7, 0.7, 0.7],
         [1.0, 1.0 + 2**-52, 1.0 + 2**-51], [-7.25], [1e300, -1e300, 1e-300]]
CASES += [[any_f64() for _ in range(R.randint(1, 6))] for _ in range(30)]
CASES += [[near(e) for _ in range(6)] for e in (-1074, -1060, -1000, -500, -50, 0, 1, 50, 500, 900, 980, 1000)]
CASES += [[float(R.randint(-1000, 1000)) for _ in range(5)] for _ in range(5)]

print("/* SPDX-License-Identifier: Apache-2.0 */")
print("/* Made by make_exact_cases.py: {n, values, sum, mean, variance of the population, its root}. */")
for case in CASES:
    exact = [Fraction(v) for v in case]
    n = len(exact)
    total = sum(exact)
    variance = sum(v * v for v in exact) / n - (total / n) ** 2
    results = [rounded(total), rounded(total / n), rounded(variance), rounded_root(variance)]
    print("{%d, {%s}, %s}," % (n, ", ".join(map(c_text, case)), ", ".join(map(c_text, results))))
