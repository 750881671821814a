#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""memory.limit of a profile: a device that copies does any amount of work in that much of its memory."""
import random
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(TESTS / "support"))
from machine import PLATFORM, MachineTest, main  # noqa: E402

PROFILE = """name: card
match: {platform: "%s"}
kind: %s
executors: [{threads: 2}]
memory: {host: false, limit: %s}
"""
ROWS = 300000
KEYS = 5000
LOGIC = """
vectors:
  x: {type: f64, value: 1.5, rows: 1000000}
outputs: {o: {columns: [total]}}
operators:
  - map: {expr: "x * 3 + x / 7 - 2", out: y}
  - reduce: {in: y, out: total}
"""


class Limit(MachineTest):
    """Work that is many times as large as the memory."""

    def check_sorts(self, m, more=()):
        for kind, words in (("u32", ()), ("u64", ()), ("f64", ()), ("u32", ("--argsort",)), ("u64", ("--argsort",)), *more):
            m.generate(kind, "random", 1 << 20)
            m.good("sort", "in", "--type", kind, *words, "-o", "out", timeout=300)
            self.assertIsNone(m.wrong(kind, "in", "out", argsort="--argsort" in words), (kind, words))

    def check_queries(self, m):
        rng = random.Random(8)
        rows = [(rng.randrange(KEYS), rng.randrange(-1000, 1000)) for _ in range(ROWS)]
        groups = {}
        for k, v in rows:
            groups.setdefault(k, []).append(v)
        Path(m.path("t.csv")).write_text("k,v\n" + "".join(f"{k},{v}\n" for k, v in rows), encoding="ascii")
        wanted = "k,c,s,m\n" + "".join(f"{k},{len(v)},{sum(v)},{max(v)}\n" for k, v in sorted(groups.items()))
        for hot in ("on", "off"):
            out = m.good("mapreduce", "t.csv", "--schema", "k:u32,v:i64", "--group-by", "k", "--order-by", "k", "--engine", "device",
                         "--hot-keys", hot, "--select", "k, count() as c, sum(v) as s, max(v) as m", timeout=300)
            self.assertEqual(out.decode(), wanted)

    def check_opsplit(self, m):
        Path(m.path("logic.yaml")).write_text(LOGIC, encoding="ascii")
        m.good("opsplit", "run", "logic.yaml", "-o", "out.d", timeout=300)
        total = float(Path(m.path("out.d/o.csv")).read_text(encoding="ascii").split()[-1])
        self.assertAlmostEqual(total, 1e6 * (1.5 * 3 + 1.5 / 7 - 2), delta=1e-3)

    def check(self, kind, limit):
        m = self.machine(profile=PROFILE % (PLATFORM or "Portable Computing Language", kind, limit))
        self.check_opsplit(m)
        self.check_queries(m)
        self.check_sorts(m)
        return m

    def test_tight(self):
        m = self.check("fpga", "3MiB")
        m.generate("i64", "random", 1 << 20)
        m.bad(1, "sort", "in", "--type", "i64", "--algorithm", "bitonic", "-o", "out", says="needs 16.0 MiB on card, which has 3.0")

    def test_wide(self):
        m = self.check("fpga", "32MiB")
        self.check_sorts(m, (("i64", ("--algorithm", "bitonic")), ("f32", ("--algorithm", "bitonic", "--argsort"))))


main()
