#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Strings and bytes as keys of the device kernels, end to end: Arrow columns through libhac against Python's own counting, in
both styles of kernels, on PoCL and on llvmpipe, on one device and on two."""
import collections
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import columns  # noqa: E402
import duck  # noqa: E402
from machine import ONE_DEVICE, PROFILES, TWO_DEVICES, MachineTest, main  # noqa: E402
from random_table import Column  # noqa: E402

SIMT = ONE_DEVICE.replace("kind: cpu\n", "kind: cpu\nstyle: simt\n")
LLVMPIPE = (PROFILES / "30-rusticl.yaml").read_text()
LLVMPIPE_ONLY = {"RUSTICL_ENABLE": "llvmpipe", "OCL_ICD_VENDORS": "rusticl.icd"}
ROWS = 150000  # more than one task's work


class Table:
    def __init__(self, rows):
        self.rows = rows


class Narrow(columns.Columns):
    """Strings with offsets of 32 bits."""
    string = "u"

    def format(self, column, rng):
        return self.string if column.kind == "s" else super().format(column, rng)


class Large(Narrow):
    string = "U"


class Bytes(columns.Columns):
    """The same as bytes: their digits come out."""


def uniform(rng, rows):
    keys = [f"key {i}" if i % 2 else f"a longer text that is key {i}" for i in range(1000)]
    return rng.choices(keys, k=rows)


def skewed(rng, rows):
    return [f"word{int(rng.paretovariate(0.7))}" for _ in range(rows)]


def with_nulls(rng, rows):
    return rng.choices([None, "", " ", "\0", "\0\0", "a", "x" * 12, "x" * 13, "ä", *map(str, range(50))], k=rows)


def distinct(rng, rows):
    return [f"{i * 7919:x} and its tail" for i in range(rows)]


def long_ones(rng, rows):
    """Equal but for one character at the beginning, in the middle, at the end."""
    body = "0123456789" * 500
    some = [body, "x" + body, body + "x", body[:2500] + "x" + body[2501:], body[:-1] + "x"]
    return [rng.choice(some) if i % 200 == 0 else f"short {i % 7}" for i in range(rows)]


def one_key(rng, rows):
    return ["the only key there is"] * rows


PATTERNS = (uniform, skewed, with_nulls, distinct, long_ones, one_key)


class StringKeys(MachineTest):
    """full"""

    def client(self, profile, environment=None):
        self.m = self.machine(profile, environment=environment)
        self.m.daemon()
        client = columns.Client(self.m.socket)
        self.addCleanup(client.close)
        return client

    def check(self, client, names, values, build, where="", hot_keys=1):
        """Groups by the columns `names`, counts and sums `n`; the kernels must be the ones that do it."""
        rng = random.Random(len(names))
        if build is Bytes:
            values = [[v if v is None or isinstance(v, int) else v.encode() for v in column] for column in values]
        kind = ("bytes", "y") if build is Bytes else ("string", "s")
        table = [Column(name, name, *(("u8", True, "u") if name == "k" else (kind[0], True, kind[1])), values=column)
                 for name, column in zip(names, values)]
        numbers = [i % 251 for i in range(len(values[0]))]
        table.append(Column("n", "n", "u8", True, "u", values=numbers))
        arrow = build(rng, Table(len(numbers)), table, rng.choice((0, 13)))
        texts = {"group_by": ", ".join(names), "select": "count() as c, sum(n) as x"}
        if where:
            texts["where"] = where
        status, text, receipt = client.query(arrow, texts, hot_keys=hot_keys)
        self.assertEqual(status, 0, text)
        self.assertIn('"engine":"device"', receipt)
        count, total = collections.Counter(), collections.Counter()
        for *key, n in zip(*values, numbers):
            if not where or n > 100:
                key = tuple(v.hex() if isinstance(v, bytes) else None if v is None else str(v) for v in key)
                count[key] += 1
                total[key] += n
        rows = duck.read_csv(text.decode())[1:]
        self.assertEqual(len(rows), len(count))
        for *key, c, x in rows:
            self.assertEqual((int(c), int(x)), (count[tuple(key)], total[tuple(key)]), key)

    def patterns(self, profile, rows=ROWS, environment=None):
        client = self.client(profile, environment)
        rng = random.Random(7)
        for pattern in PATTERNS:
            for build in (Narrow, Large):
                with self.subTest(keys=pattern.__name__, offsets=build.__name__):
                    self.check(client, ["s"], [pattern(rng, rows)], build)
        with self.subTest("bytes"):
            self.check(client, ["s"], [with_nulls(rng, rows)], Bytes)
        for build in (Large, Bytes):
            with self.subTest("several keys", build=build.__name__):
                self.check(client, ["s", "k", "t"], [with_nulls(rng, rows), [rng.randrange(3) for _ in range(rows)],
                                                     skewed(rng, rows)], build, where="n > 100")
        return client

    def test_one_device(self):
        self.patterns(ONE_DEVICE)

    def test_lock_step(self):
        self.patterns(SIMT)

    def test_two_devices(self):
        self.patterns(TWO_DEVICES)

    def test_llvmpipe(self):
        machine = self.machine(LLVMPIPE, environment=LLVMPIPE_ONLY)
        if not any(d["state"] == "ready" for d in machine.devices()):
            self.skipTest("there is no llvmpipe")
        self.patterns(LLVMPIPE, environment=LLVMPIPE_ONLY)

    def test_not_on_devices(self):
        """Strings that are computed stay with the host codelets, and the answer is the same."""
        client = self.client(ONE_DEVICE)
        rng = random.Random(3)
        values = with_nulls(rng, ROWS)
        table = [Column("s", "s", "string", True, "s", values=values),
                 Column("n", "n", "i64", True, "i", values=list(range(ROWS)))]
        arrow = Large(rng, Table(ROWS), table)
        status, text, receipt = client.query(arrow, {"group_by": "upper(s) as u", "select": "count() as c"}, hot_keys=1)
        self.assertEqual(status, 0, text)
        self.assertIn('"engine":"host"', receipt)
        wanted = collections.Counter(v if v is None or not v.isascii() else v.upper() for v in values)
        self.assertEqual({u: int(c) for u, c in duck.read_csv(text.decode())[1:]}, dict(wanted))
        status, text, receipt = client.query(arrow, {"group_by": "s", "where": "s is not null", "select": "max(s) as m"},
                                             hot_keys=1)
        self.assertEqual(status, 0, text)
        self.assertIn('"engine":"host"', receipt)
        self.assertEqual(set(duck.read_csv(text.decode())[1:]), {(v, v) for v in values if v is not None})
        status, text, receipt = client.query(arrow, {"where": "s is null", "group_by": "s",
                                                     "select": "count(s) as c, count() as all"}, hot_keys=1)
        self.assertEqual(status, 0, text)
        self.assertIn('"engine":"device"', receipt)  # only its state is checked
        self.assertEqual(duck.read_csv(text.decode())[1:], [(None, "0", str(values.count(None)))])


class HugeStrings(StringKeys):
    """full: a string that takes more iterations than the loops of some drivers allow"""
    test_one_device = test_two_devices = test_llvmpipe = test_not_on_devices = test_lock_step = None

    def huge(self, profile, environment=None):
        client = self.client(profile, environment)
        if not any(d["state"] == "ready" for d in self.m.devices()):
            self.skipTest("there is no such device")
        body = "0123456789abcdef" * 60000
        values = [f"short {i % 5}" for i in range(ROWS)]
        for i, text in enumerate((body, body[:-1] + "x", body)):
            values[1000 * i] = text
        arrow = Large(random.Random(1), Table(ROWS), [Column("s", "s", "string", True, "s", values=values)])
        status, text, _ = client.query(arrow, {"group_by": "s", "select": "count() as c"}, hot_keys=1)
        self.assertEqual(status, 0, text)
        self.assertEqual({s: int(c) for s, c in duck.read_csv(text.decode())[1:]}, dict(collections.Counter(values)))

    def test_huge(self):
        self.huge(ONE_DEVICE)

    def test_huge_on_llvmpipe(self):
        self.huge(LLVMPIPE, LLVMPIPE_ONLY)


if __name__ == "__main__":
    main()
