#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sum, avg, variance, covariance, correlation and regression: every result is the exact value, rounded once. The
oracle are Python's fractions and math.fsum, bit for bit, for any order, split, format and number of groups."""
import collections
import datetime
import math
import random
import struct
import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

SCHEMA = "k:i64,f:f64,g:f32,i:i64,d:decimal(38,6),y:f64,t:timestamp"
ONE = ("sum", "avg", "variance", "stddev", "var_pop", "stddev_pop")
TWO = ("covar_pop", "covar_samp", "corr", "regr_slope", "regr_intercept", "regr_r2")
PAIRS = ("y, f", "y, i", "d, i", "y, t", "i, d")
NINES = 10**38 - 1


def rounded(value):
    if isinstance(value, float):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def rounded_root(value):
    """The f64 nearest to a root: one that is not exact lies off every boundary between two f64."""
    shift = 6000
    square = (value.numerator << shift) // value.denominator
    root = math.isqrt(square)
    exact = root * root * value.denominator == value.numerator << shift
    return rounded(Fraction(2 * root + (0 if exact else 1), 2**(shift // 2 + 1)))


def spread(a, b):
    return len(a) * sum(x * y for x, y in zip(a, b)) - sum(a) * sum(b)


def one_argument(name, values):
    n = len(values)
    if n == 0 or (n == 1 and name in ("variance", "stddev")):
        return None
    if not all(math.isfinite(v) for v in values):
        return sum(v for v in values if not math.isfinite(v)) if name in ("sum", "avg") else math.nan
    values = [Fraction(v) for v in values]
    if name in ("sum", "avg"):
        return rounded(sum(values) / (1 if name == "sum" else n))
    square = Fraction(spread(values, values)) / (n * (n if "pop" in name else n - 1))
    return rounded_root(square) if name.startswith("stddev") else rounded(square)


def two_arguments(name, ys, xs):
    n = len(ys)
    if n < (1 if name == "covar_pop" else 2):
        return None
    ys, xs = [Fraction(v) for v in ys], [Fraction(v) for v in xs]
    cyx, cxx, cyy = spread(ys, xs), spread(xs, xs), spread(ys, ys)
    if name.startswith("covar"):
        return rounded(cyx / Fraction(n * (n if name == "covar_pop" else n - 1)))
    if cxx == 0 or (cyy == 0 and name == "corr"):
        return None
    if name == "regr_slope":
        return rounded(Fraction(cyx) / cxx)
    if name == "regr_intercept":
        return rounded((sum(ys) * sum(x * x for x in xs) - sum(xs) * sum(x * y for x, y in zip(xs, ys))) / Fraction(cxx))
    if cyy == 0:
        return 1.0
    square = Fraction(cyx * cyx) / (cxx * cyy)
    if name == "regr_r2":
        return rounded(square)
    return -rounded_root(square) if cyx < 0 else rounded_root(square)


def any_f64(rng):
    while True:
        value = struct.unpack("<d", struct.pack("<Q", rng.getrandbits(64)))[0]
        if math.isfinite(value):
            return value


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


KINDS = {"far": any_f64, "near": lambda rng: rng.uniform(-100, 100), "whole": lambda rng: float(rng.randrange(-9, 10**6)),
         "cents": lambda rng: rng.randrange(10**6) / 100, "normal": lambda rng: rng.gauss(0, 1),
         "tiny": lambda rng: rng.randrange(-99, 99) * 5e-324,
         "mixed": lambda rng: any_f64(rng) if rng.random() < 0.02 else rng.uniform(0, 1),
         "cancelling": lambda rng: rng.choice((1e308, -1e308, 1e292, 1.0, 5e-324))}


def random_rows(rng, n, groups, kind):
    draw = KINDS[kind]

    def some(value):
        return None if rng.random() < 0.1 else value
    return [{"k": rng.randrange(groups), "f": some(draw(rng)), "g": some(f32(rng.uniform(-1, 1) * 10.0**rng.randrange(-44, 38))),
             "i": some(rng.choice((rng.randrange(-9, 9), rng.randrange(-2**63, 2**63)))),
             "d": some(Fraction(rng.choice((rng.randrange(10**9), rng.randrange(-NINES, NINES))), 10**6)),
             "y": some(draw(rng)), "t": some(rng.randrange(-10**15, 2 * 10**15))} for _ in range(n)]


def cell(name, value):
    if value is None:
        return ""
    if name == "t":
        seconds, micros = divmod(value, 10**6)
        when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=seconds)
        return f"{when:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + f".{micros:06}"
    if name == "d":
        whole, rest = divmod(abs(value.numerator) * 10**6 // value.denominator, 10**6)
        return f"{'-' if value < 0 else ''}{whole}.{rest:06}"
    return repr(value)


def csv_text(rows, names):
    return ",".join(names) + "\n" + "".join(",".join(cell(c, r[c]) for c in names) + "\n" for r in rows)


class Exact(SharedMachineTest):
    profile = TWO_DEVICES

    def put(self, name, text):
        Path(self.m.path(name)).write_text(text)
        return name

    def rows(self, command, *words, **more):
        return duck.read_csv(self.m.good(command, *words, **more).decode())[1:]

    def one(self, values, kind, select, files=1):
        names = [self.put(f"one{i}.csv", "x\n" + "".join(f"{v}\n" for v in values[i::files])) for i in range(files)]
        return self.rows("mapreduce", *names, "--schema", f"x:{kind}", "--select", select)[0]

    def same(self, text, wanted, what):
        if wanted is None or text is None:
            self.assertEqual(text, wanted, what)
        elif math.isnan(wanted):
            self.assertTrue(math.isnan(float(text)), what)
        else:
            self.assertEqual((float(text), text[0] == "-"), (wanted, math.copysign(1, wanted) < 0), what)

    def select(self):
        out = [f"{name}({c})" for c in "fgi" for name in ONE if (name, c) != ("sum", "i")]
        out += [f"{name}(d)" for name in ONE if name != "sum"]
        return out + [f"{name}({pair})" for pair in PAIRS for name in TWO]

    def wanted(self, group):
        out = []
        for call in self.select():
            name, columns = call[:-1].split("(")
            columns = columns.split(", ")
            rows = [[r[c] for c in columns] for r in group if all(r[c] is not None for c in columns)]
            if len(columns) == 1:
                out.append(one_argument(name, [r[0] for r in rows]))
            else:
                out.append(two_arguments(name, [r[0] for r in rows], [r[1] for r in rows]))
        return out

    def check(self, wanted, got):
        self.assertEqual([int(r[0]) for r in got], sorted(wanted))
        for row in got:
            for call, text, value in zip(self.select(), row[1:], wanted[int(row[0])]):
                self.same(text, value, (row[0], call))

    def check_everywhere(self, rows):
        names = ["k", "f", "g", "i", "d", "y", "t"]
        groups = collections.defaultdict(list)
        for row in rows:
            groups[row["k"]].append(row)
        wanted = {k: self.wanted(group) for k, group in groups.items()}
        query = ("--schema", SCHEMA, "--group-by", "k", "--select", ", ".join(self.select()), "--order-by", "k")
        for files in (1, 2, 7, 50):
            random.Random(files).shuffle(rows)
            parts = [self.put(f"part{i}.csv", csv_text(rows[i::files], names)) for i in range(files)]
            self.check(wanted, self.rows("mapreduce", *parts, *query))
        with open(self.m.path(self.put("stream.csv", csv_text(rows, names)))) as stream:
            self.check(wanted, self.rows("splice", "-", "--parse", "csv", *query, stdin=stream))
        self.m.good("parquet", "convert", "stream.csv", "all.parquet", "--schema", SCHEMA)
        self.check(wanted, self.rows("mapreduce", "all.parquet", *query[2:]))

    def test_kinds(self):
        for n, kind in enumerate(KINDS):
            with self.subTest(kind):
                rng = random.Random(n)
                self.check_everywhere(random_rows(rng, 600, rng.choice((1, 4, 40)), kind))

    def test_many_groups(self):
        rng = random.Random(9)
        for groups, kind in ((1000, "near"), (1000, "mixed"), (100000, "cents"), (100000, "mixed")):
            sums = collections.defaultdict(list)
            text = ["k,x\n"]
            for _ in range(200000):
                k, x = rng.randrange(groups), KINDS[kind](rng)
                sums[k].append(x)
                text.append(f"{k},{x!r}\n")
            name = self.put("many.csv", "".join(text))
            self.m.good("parquet", "convert", name, "many.parquet", "--schema", "k:u32,x:f64")
            for file in (name, "many.parquet"):
                schema = ("--schema", "k:u32,x:f64") if file == name else ()
                for select in ("count(), sum(x)", "count(), sum(x), var_pop(x)"):
                    got = self.rows("mapreduce", file, *schema, "--group-by", "k", "--select", select)
                    self.assertEqual(len(got), len(sums))
                    for row in got:
                        values = sums[int(row[0])]
                        self.assertEqual(float(row[2]), one_argument("sum", values))
                        if len(row) > 3 and int(row[0]) % 50 == 0:
                            self.assertEqual(float(row[3]), one_argument("var_pop", values))

    def test_many_groups_of_several_columns(self):
        """Rows of many groups are kept as they are, in columns of every size, and added later. A group's values cancel."""
        rng, schema = random.Random(13), "k:i64,a:u8,b:i16,c:i32,x:f64,d:decimal(38,6),n:f64"
        text, groups = [[column.split(":")[0] for column in schema.replace("38,6", "").split(",")]], collections.defaultdict(list)
        keys = [rng.randrange(-2**63, 2**63) for _ in range(60000)]
        for k in keys * 2 + rng.choices(keys, k=40000):
            x = rng.choice((1e308, 1e-308, 5e-324, rng.random(), -1e16))
            x = -groups[k][-1][3] if groups[k] and rng.random() < 0.7 else x
            groups[k].append((rng.randrange(256), rng.randrange(-2**15, 2**15), rng.randrange(-2**31, 2**31), x,
                              Fraction(rng.randrange(-10**30, 10**30), 10**6), rng.choice((None, math.inf, x))))
            text.append([str(k), *("" if v is None else cell("d" if isinstance(v, Fraction) else "x", v) for v in groups[k][-1])])
        name = self.put("several.csv", "".join(",".join(row) + "\n" for row in text))
        self.m.good("parquet", "convert", name, "several.parquet", "--schema", schema)
        select = ", ".join(f"sum({c})" for c in "abcxdn")
        for query in ((name, "--schema", schema), ("several.parquet",)):
            got = self.rows("mapreduce", *query, "--group-by", "k", "--select", select)
            self.assertEqual(len(got), len(groups))
            for k, *sums in got:
                a, b, c, x, d, n = zip(*groups[int(k)])
                self.assertEqual([int(v) for v in sums[:3]] + [Fraction(sums[4])], [sum(a), sum(b), sum(c), sum(d)])
                self.same(sums[3], one_argument("sum", x), k)
                self.same(sums[5], one_argument("sum", [v for v in n if v is not None]), k)

    def test_pairs_of_small_integers(self):
        """Their sums cross the ends of words, up and down; a batch with one larger value is added in another manner."""
        rng, end = random.Random(12), 2**31
        for most in (end - 1, end, 3):
            rows = [[rng.randrange(3), *(rng.choice((-most, -1, 0, 1, most, rng.randrange(-3, 4), None)) for _ in "yx")] for _ in range(9000)]
            rows += [[3, -(end - 1), end - 1]] * 50 + [[3, end - 1, end - 1]] * 99 + [[4, -1, 1], [4, 1, -1], [4, 0, 0]]
            text = ("".join(f"{','.join('' if v is None else str(v) for v in row)}\n" for row in rows[i::2]) for i in range(2))
            names = [self.put(f"pairs{i}.csv", "k,y,x\n" + part) for i, part in enumerate(text)]
            got = self.rows("mapreduce", *names, "--schema", "k:i64,y:i64,x:i64", "--group-by", "k", "--order-by", "k",
                            "--select", ", ".join(f"{name}(y, x)" for name in TWO))
            for k, row in enumerate(got):
                mine = [(y, x) for key, y, x in rows if key == k and y is not None and x is not None]
                for name, value in zip(TWO, row[1:], strict=True):
                    self.same(value, two_arguments(name, [y for y, _ in mine], [x for _, x in mine]), (most, k, name))
            self.assertEqual(len(got), 5)

    def test_where(self):
        rng = random.Random(10)
        values = [rng.gauss(0, 1) for _ in range(5000)]
        name = self.put("w.csv", "x\n" + "".join(f"{v!r}\n" for v in values))
        kept = [v for v in values if v > 0.5]
        got = self.rows("mapreduce", name, "--schema", "x:f64", "--where", "x > 0.5", "--select", "sum(x), stddev(x)")[0]
        self.assertEqual((float(got[0]), float(got[1])), (math.fsum(kept), one_argument("stddev", kept)))

    def test_zeros_first(self):
        """Batches of zeros have no exponents that a unit could be chosen from."""
        values = [0.0, -0.0] * 3000 + [1e-30] * 3000 + [0.75, -1e-300] * 2500
        name = self.put("z.csv", "k,a,b\n" + "".join(f"{i % 3},{a!r},{b!r}\n" for i, (a, b) in enumerate(
            zip(values, [0.0] * len(values)))))
        for group in ((), ("--group-by", "k")):
            got = self.rows("mapreduce", name, "--schema", "k:i64,a:f64,b:f64", *group, "--select",
                            "var_pop(b), sum(b), sum(a), var_pop(a), avg(a)")
            for row in got:
                mine = values if not group else values[int(row[0])::3]
                self.assertEqual([float(x) for x in row[len(row) - 5:]],
                                 [0, 0, math.fsum(mine), one_argument("var_pop", mine), one_argument("avg", mine)])

    def test_special_values(self):
        for values in (["inf", 1], ["-inf", 1], ["inf", "-inf"], ["inf", -1e308],
                       [1e308, "-inf", 1.7e308], [1e308, "nan"], [-1.7e308, "inf", 1.6e308], ["nan", 1], ["nan", "inf"], ["inf", "inf"], ["-0.0", "-0.0"],
                       [1e308, 1e308], [-1e308, -1e308], [1e308, 1e308, -1e308], [5e-324, 5e-324], [], [7], [0.1] * 10,
                       [1.7e308, -1.7e308], [1e16, 1, -1e16], [0.7, 0.7, 0.7], ["nan"], ["inf"]):
            numbers = [float(v) for v in values]
            got = self.one(values, "f64", ", ".join(f"{name}(x)" for name in ONE))
            for name, text in zip(ONE, got):
                wanted = one_argument(name, numbers)
                self.same(text, wanted if wanted != 0 else 0.0, (values, name))

    def test_integers_and_decimals(self):
        nines = str(NINES)
        for values in ([nines, nines, "-" + nines], [nines, "-" + nines, nines], ["-" + nines, nines, nines]):
            for files in (1, 3):
                self.assertEqual(self.one(values, "decimal(38,0)", "sum(x)", files), (nines,))
        self.assertEqual(self.one([nines, nines], "decimal(38,0)", "avg(x)"), ("1e+38",))
        self.assertEqual(self.one([nines] * 3000 + ["-" + nines] * 3000, "decimal(38,0)", "sum(x)"), ("0",))
        name = self.put("large.csv", f"x\n{nines}\n{nines}\n")
        self.m.bad(1, "mapreduce", name, "--schema", "x:decimal(38,0)", "--select", "sum(x)", says="does not fit its digits")
        self.assertEqual(self.one([3002399751580331] * 3, "i64", "avg(x)"), ("3002399751580331.0",))
        self.assertEqual(self.one([1700000000000000000, 1700000000000000002], "i64", "var_pop(x), stddev(x)"),
                         ("1.0", "1.4142135623730951"))
        self.assertEqual(self.one([2**64 - 1, 2**64 - 3], "u64", "var_pop(x)"), ("1.0",))

    def test_linear_regression(self):
        for x0 in (0, 10**8, 10**9, 10**10, 1700000000000):
            for files in (1, 50):
                points = [(x0 + i, 2 * i + i % 3) for i in range(100)]
                names = [self.put(f"lr{i}.csv", "x,y\n" + "".join(f"{x},{y}\n" for x, y in points[i::files]))
                         for i in range(files)]
                for kind in ("f64", "i64"):
                    got = self.rows("mapreduce", "linear-regression", *names, "--schema", f"x:{kind},y:{kind}")[0]
                    ys, xs = [y for _, y in points], [x for x, _ in points]
                    self.assertEqual((float(got[0]), float(got[1])), (two_arguments("regr_slope", ys, xs),
                                                                      two_arguments("regr_intercept", ys, xs)))
        for rows, wanted in (("100000000,1\n100000001,2\n100000002,3\n", ("1.0", "-99999999.0", "3")),
                             ("0.7,0\n0.7,0\n0.7,1\n", (None, None, "3")), ("1,2\n", (None, None, "1")),
                             ("1,\n,2\n3,4\n5,6\n", ("1.0", "1.0", "2"))):
            name = self.put("lr.csv", "x,y\n" + rows)
            self.assertEqual(self.rows("mapreduce", "linear-regression", name, "--schema", "x:f64,y:f64")[0], wanted)
        name = self.put("lr.csv", "x,y\n4294967296,1\n4294967297,2\n")
        self.assertEqual(self.rows("mapreduce", "linear-regression", name, "--schema", "x:i64,y:i64")[0],
                         ("1.0", "-4294967295.0", "2"))
        name = self.put("lr.csv", "x,y\n2026-01-01,1\n2026-01-03,5\n2026-02-01,7\n")
        got = self.rows("mapreduce", name, "--schema", "x:date,y:f64", "--select", "regr_slope(y, x), corr(y, x)")[0]
        days = [20454, 20456, 20485]
        self.assertEqual([float(v) for v in got], [two_arguments(f, [1, 5, 7], days) for f in ("regr_slope", "corr")])

    def test_errors(self):
        name = self.put("e.csv", "x,s\n1,a\n")
        for select, says in (("corr(x, s)", "'corr' takes (number, date or timestamp, number, date or timestamp)"),
                             ("corr(x)", "write corr(y, x)")):
            self.m.bad(2, "mapreduce", name, "--schema", "x:i64,s:string", "--select", select, says=says)


if __name__ == "__main__":
    main()
