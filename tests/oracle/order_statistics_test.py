#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""arg_min, arg_max, median, quantile, mode. Fractions and NumPy's formula compute the right answers; DuckDB is asked
where its rules agree. The rows come in one file and in 50, as CSV, JSON, Parquet and a stream."""
import collections
import json
import math
import random
import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

SCHEMA = "k:i64,i:i64,u:u64,d:decimal(30,4),f:f64,s:string"
SHARES = (0, 0.1, 0.25, 0.5, 0.9, 1 / 3, 0.999, 1)


def lerp(a, b, t):
    """numpy/lib/_function_base_impl.py, _lerp; where b - a overflows, what has no overflow."""
    if a == b:
        return a
    if math.isinf(a) or math.isinf(b):
        return (math.nan if math.isinf(a) and math.isinf(b) else a if math.isinf(a) else b) if t > 0 else a
    if math.isinf(b - a):
        return a * (1 - t) + b * t
    return b - (b - a) * (1 - t) if t >= 0.5 else a + (b - a) * t


def between(values, share):
    """The two neighbours and the fraction of the way between them."""
    position = share * (len(values) - 1)
    k = min(math.floor(position), len(values) - 1)
    return values[k], values[min(k + 1, len(values) - 1)], position - k


def quantile_of_floats(values, share):
    a, b, t = between(sorted(values), share)
    if t > 0 and numpy is not None and all(map(math.isfinite, values)) and math.isfinite(b - a):
        return float(numpy.quantile(values, share))
    return lerp(a, b, t) if t > 0 else a


def quantile_of_fractions(values, share):
    a, b, t = between(sorted(values), share)
    return float(a + (b - a) * Fraction(t))


def mode(values):
    counts = collections.Counter(values)
    return min(counts, key=lambda v: (-counts[v], v))


def arg(pairs, sign):
    """Pairs (a, b): the a of the smallest sign · b, then the smallest a, of those without nulls."""
    return min(((sign * b, a) for a, b in pairs if a is not None and b is not None), default=(0, None))[1]


def random_rows(rng, n, groups):
    def some(value):
        return None if rng.random() < 0.1 else value
    for _ in range(n):
        yield {"k": rng.randrange(groups), "i": some(rng.choice((rng.randrange(-9, 9), rng.randrange(-2**63, 2**63)))),
               "u": some(rng.choice((2**64 - 1, rng.randrange(2**64), 3))),
               "d": some(Fraction(rng.randrange(-10**29, 10**29), 10**rng.choice((4, 4, 3)))),
               "f": some(rng.choice((rng.uniform(-1e3, 1e3), rng.uniform(-1, 1) * 10**rng.randrange(-300, 300), 0.5))),
               "s": some(rng.choice(("a", "bb", "a text of more than twelve bytes", "é", f"v{rng.randrange(30)}")))}


def cell(v):
    if isinstance(v, Fraction):
        return f"{'-' if v < 0 else ''}{abs(v.numerator) * 10**4 // v.denominator // 10**4}." \
               f"{abs(v.numerator) * 10**4 // v.denominator % 10**4:04}"
    return "" if v is None else repr(v) if isinstance(v, float) else str(v)


def csv_text(rows):
    return "k,i,u,d,f,s\n" + "".join(",".join(cell(v) for v in row.values()) + "\n" for row in rows)


class Statistics(SharedMachineTest):
    profile = TWO_DEVICES

    def put(self, name, text):
        Path(self.m.path(name)).write_text(text)
        return name

    def rows(self, command, *words, **more):
        return duck.read_csv(self.m.good(command, *words, **more).decode())[1:]

    def one(self, values, kind, select):
        name = self.put("one.csv", "x\n" + "".join(f"{v}\n" for v in values))
        return self.rows("mapreduce", name, "--schema", f"x:{kind}", "--select", select)[0]

    def select(self):
        out = ["arg_min(s, i)", "arg_max(i, s)", "arg_min(d, u)", "arg_max(f, d)", "mode(i)", "mode(s)", "mode(d)"]
        for share in SHARES:
            out += [f"quantile({c}, {share!r})" for c in "iudf"]
        return ", ".join(out + [f"median({c})" for c in "iudf"])

    def check(self, rows, got):
        groups = collections.defaultdict(list)
        for row in rows:
            groups[row["k"]].append(row)
        self.assertEqual([int(r[0]) for r in got], sorted(groups))
        for (k, *cells), key in zip(got, sorted(groups)):
            group = groups[key]
            column = {c: [r[c] for r in group if r[c] is not None] for c in "iudfs"}
            text = [[r["s"], r["i"]] for r in group]
            ranks = {s: n for n, s in enumerate(sorted(column["s"], key=str.encode))}
            self.assertEqual(cells[0], self.arg_text(text))
            self.assertEqual(cells[1], self.shown(arg([(r["i"], ranks.get(r["s"])) for r in group], -1)))
            self.assertEqual(cells[2], self.shown(arg([(r["d"], r["u"]) for r in group], 1)))
            self.assertEqual(self.number(cells[3]), arg([(r["f"], r["d"]) for r in group], -1))
            for i, c in enumerate("isd"):
                self.assertEqual(cells[4 + i], self.shown(mode(column[c]) if column[c] else None), (key, c))
            for i, cell_text in enumerate(cells[7:]):
                c, share = "iudf"[i % 4], (SHARES + (0.5,))[i // 4]
                of = quantile_of_floats if c == "f" else quantile_of_fractions
                wanted = of(column[c], share) if column[c] else None
                self.assertEqual(self.number(cell_text), wanted, (key, c, share))

    @staticmethod
    def number(text):
        return None if text is None else float(text)

    @staticmethod
    def shown(value):
        return None if value is None else cell(value)

    @staticmethod
    def arg_text(pairs):
        low = min((b for a, b in pairs if a is not None and b is not None), default=None)
        ties = [a for a, b in pairs if b == low and b is not None and a is not None]
        return min(ties, key=str.encode) if ties else None

    def check_everywhere(self, rows, command_files):
        query = ("--schema", SCHEMA, "--group-by", "k", "--select", self.select(), "--order-by", "k")
        self.check(rows, self.rows("mapreduce", *command_files, *query))
        with open(self.m.path(self.put("stream.csv", csv_text(rows)))) as stream:
            self.check(rows, self.rows("splice", "-", "--parse", "csv", *query, stdin=stream))

    def test_groups(self):
        rng = random.Random(1)
        for groups in (1, 3, 700):
            rows = list(random_rows(rng, 2000, groups))
            self.check_everywhere(rows, [self.put("all.csv", csv_text(rows))])

    def test_files_and_formats(self):
        rng = random.Random(2)
        rows = list(random_rows(rng, 3000, 5))
        for files in (2, 50):
            parts = [self.put(f"part{files}-{i}.csv", csv_text(rows[len(rows) * i // files:len(rows) * (i + 1) // files]))
                     for i in range(files)]
            self.check_everywhere(rows, parts)
        name = self.put("all.csv", csv_text(rows))
        self.m.good("parquet", "convert", name, "all.parquet", "--schema", SCHEMA)
        words = ("--group-by", "k", "--select", self.select(), "--order-by", "k")
        self.check(rows, self.rows("mapreduce", "all.parquet", *words))
        text = "".join(json.dumps({c: float(v) if isinstance(v, Fraction) else v for c, v in r.items() if c != "d"}) + "\n"
                       for r in rows)
        name = self.put("all.jsonl", text)
        schema = SCHEMA.replace("d:decimal(30,4),", "")
        got = self.rows("mapreduce", name, "--schema", schema, "--select", "median(f), quantile(i, 0.3), mode(s)")[0]
        values = {c: [r[c] for r in rows if r[c] is not None] for c in "fis"}
        self.assertEqual((float(got[0]), float(got[1]), got[2]),
                         (quantile_of_floats(values["f"], 0.5), quantile_of_fractions(values["i"], 0.3), mode(values["s"])))

    def test_edges(self):
        self.assertEqual(self.one([], "f64", "median(x), quantile(x, 0.5), mode(x), arg_min(x, x)"), (None,) * 4)
        self.assertEqual(self.one([5], "f64", "median(x), quantile(x, 0), mode(x), arg_min(x, x)"), ("5.0",) * 4)
        for values in (["inf", "inf"], ["-inf", 1, 2], [1, 2, "inf"], ["-inf", "inf"], [-1.7e308, 1.7e308],
                       [1.7976931348623157e308], [5e-324], [5e-324, 1e-323], [0.1, 0.2], [0.1, 0.1], [1e308, -1e308, 3]):
            numbers = [float(v) for v in values]
            for share in SHARES:
                got = float(self.one(values, "f64", f"quantile(x, {share!r})")[0])
                wanted = quantile_of_floats(numbers, share)
                self.assertTrue(got == wanted or math.isnan(got) and math.isnan(wanted), (values, share, got, wanted))
        # NaN is above all numbers, as in the order of sort
        self.assertEqual(self.one(["nan", 1, 2], "f64", "median(x), quantile(x, 1), arg_max(x, x), mode(x)"),
                         ("2.0", "nan", "nan", "1.0"))
        self.assertEqual(self.one([9007199254740993, 9007199254740993, 1], "i64", "median(x)"), ("9007199254740992.0",))
        self.assertEqual(self.one([0.29, 0.30], "decimal(10,2)", "median(x)"), ("0.295",))
        self.assertEqual(self.one(["-0.0", 0, -1], "f64", "arg_max(x, abs(x)), arg_min(x, abs(x))"), ("-1.0", "-0.0"))

    def test_many_groups(self):
        rows = [(i * 7919 % 100000, i) for i in range(300000)]
        name = self.put("many.csv", "k,x\n" + "".join(f"{k},{x}\n" for k, x in rows))
        got = self.rows("mapreduce", name, "--schema", "k:i64,x:i64", "--group-by", "k", "--select",
                        "median(x), mode(x % 3), arg_max(x, x % 1000)")
        wanted = collections.defaultdict(list)
        for k, x in rows:
            wanted[k].append(x)
        self.assertEqual(len(got), len(wanted))
        for k, median, most, best in got:
            values = wanted[int(k)]
            self.assertEqual(float(median), quantile_of_fractions(values, 0.5))
            self.assertEqual(int(most), mode([v % 3 for v in values]))
            self.assertEqual(int(best), arg([(v, v % 1000) for v in values], -1))

    def test_against_duckdb(self):
        if duck.duckdb is None:
            self.skipTest(duck.WHY_NOT)
        rng = random.Random(4)
        rows = [(rng.randrange(50), rng.randrange(10**6) / 64, i) for i in range(5000)]
        name = self.put("duck.csv", "k,x,y\n" + "".join(f"{k},{x},{y}\n" for k, x, y in rows))
        got = self.rows("mapreduce", name, "--schema", "k:i64,x:f64,y:i64", "--group-by", "k", "--select",
                        "median(x), quantile(x, 0.9), arg_min(x, y), arg_max(x, y)", "--order-by", "k")
        wanted = duck.connect().execute(
            f"SELECT k, median(x), quantile_cont(x, 0.9), arg_min(x, y), arg_max(x, y) FROM '{self.m.path(name)}' "
            "GROUP BY k ORDER BY k").fetchall()
        for g, w in zip(got, wanted):
            self.assertEqual([float(v) for v in g][:2] + [float(v) for v in g][3:], [w[0], w[1], w[3], w[4]])
            self.assertTrue(math.isclose(float(g[2]), w[2], rel_tol=1e-15), (g, w))

    def approximate(self, values, shares=SHARES, kind="f64", files=1):
        names = [self.put(f"a{i}.csv", "x\n" + "".join(f"{v}\n" for v in values[i::files])) for i in range(files)]
        row = self.rows("mapreduce", *names, "--schema", f"x:{kind}", "--select",
                        ", ".join(f"approx_quantile(x, {share!r})" for share in shares))[0]
        return [float(v) for v in row]

    def test_approximate_edges(self):
        for kind, values, wanted in (
                ("i64", [20240101, 20240131], [20240101, 20240116, 20240131]), ("i64", [1025], [1025] * 3),
                ("f64", ["inf", "inf"], [math.inf] * 3), ("f64", [-1.7e308, 1.7e308], [-1.7e308, 0, 1.7e308]),
                ("f64", [1.7976931348623157e308], [1.7976931348623157e308] * 3), ("f64", [5e-324], [5e-324] * 3),
                ("f64", ["-inf", "inf"], [-math.inf, math.inf, math.inf])):
            self.assertEqual(self.approximate(values, (0, 0.5, 1), kind), wanted, values)

    def test_approximate_is_exact_up_to_1000_values(self):
        rng = random.Random(5)
        shares = [i / 64 for i in range(65)]
        for distinct in (1, 2, 999, 1000):
            pool = rng.sample(range(10**9), distinct)
            values = [v / 7 for v in pool + rng.choices(pool, k=3000)]
            self.assertEqual(self.approximate(values, shares), [quantile_of_floats(values, s) for s in shares])

    def test_approximate_properties(self):
        """Within [min, max], monotone, within 1/1024, and the same for every split and order."""
        rng = random.Random(6)
        shares = [i / 64 for i in range(65)]
        for form in (lambda: rng.lognormvariate(0, 5), lambda: rng.uniform(20240101, 20240131), lambda: rng.gauss(0, 1),
                     lambda: rng.choice((1.7e308, -1.7e308)) * rng.random(), lambda: 5e-324 * rng.randrange(5000),
                     lambda: rng.randrange(3000)):
            for n in (1001, 20000):
                values = [form() for _ in range(n)]
                got = self.approximate(values, shares)
                self.assertEqual((got[0], got[-1]), (min(values), max(values)))
                self.assertEqual(got, sorted(got))
                for share, value in zip(shares, got):
                    a, b, t = between(sorted(values), share)
                    bound = max(abs(a), abs(b)) / 1024 + 2e-311
                    self.assertLessEqual(abs(value - lerp(a, b, t)), bound, (n, share, a, b))
                rng.shuffle(values)
                self.assertEqual(self.approximate(values, shares, files=50), got)

    def test_memory_and_errors(self):
        name = self.put("e.csv", "x,t\n1,2020-01-01\n")
        for select, says in (("median(t)", "'median' takes (integer), (decimal), (number), not (date)"),
                             ("quantile(x)", "quantile does not take 1 argument; write quantile(a, share)"),
                             ("quantile(x, 2)", "expected a share from 0 to 1"),
                             ("quantile(x, x)", "'quantile' takes (integer, constant number)"),
                             ("arg_min(x)", "write arg_min(a, b)")):
            self.m.bad(2, "mapreduce", name, "--schema", "x:i64,t:date", "--select", select, says=says)


if __name__ == "__main__":
    main()
