#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl splice over files of fixed-width records, which executors read directly. The oracle is NumPy, and the
same bytes through a pipe."""
import json
import os
import random
import signal
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
from machine import TWO_DEVICES, UNEVEN_DEVICES, MachineTest, SharedMachineTest, main  # noqa: E402

try:
    import numpy
except ImportError:
    numpy = None

WHY_NOT = "NumPy is not installed (`./dev test` puts it into build/python): nothing is compared with it"
MIB = 1 << 20
RECORD = numpy.dtype([("k", "<i4"), ("x", "<f8"), ("n", "<i8")]) if numpy is not None else None
SCHEMA = ("--parse", "fixed", "--schema", "k:i32,x:f64,n:i64")
GROUPS = ("--group-by", "k", "--select", "count() as c, sum(n) as s, sum(x) as t, max(x) as m", "--order-by", "k")


def records(n, seed=1):
    rng = numpy.random.default_rng(seed)
    data = numpy.empty(n, RECORD)
    data["k"], data["n"] = rng.integers(0, 300, n), rng.integers(-10**12, 10**12, n)
    data["x"] = rng.standard_normal(n) * 10.0 ** rng.integers(-9, 9, n)  # whose sum depends on the order
    return data


def grouped(data):
    """{k: (count, sum of n, max of x)}"""
    keys, places = numpy.unique(data["k"], return_inverse=True)
    sums, most = numpy.zeros(len(keys), "i8"), numpy.full(len(keys), -numpy.inf)
    numpy.add.at(sums, places, data["n"])
    numpy.maximum.at(most, places, data["x"])
    return dict(zip(keys.tolist(), zip(numpy.bincount(places).tolist(), sums.tolist(), most.tolist())))


def read_groups(out):
    rows = [line.split(b",") for line in out.splitlines()[1:]]
    return {int(k): (int(c), int(s), float(m)) for k, c, s, _, m in rows}


class Case:
    def put(self, name, data):
        Path(self.m.path(name)).write_bytes(data)
        return name


@unittest.skipIf(numpy is None, WHY_NOT)
class Files(Case, SharedMachineTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.data = records(400000)

    def test_as_through_a_pipe(self):
        """The same bits, sums of floats included, for all sizes of files and splits."""
        whole, wanted = self.data.tobytes(), grouped(self.data)
        piped = self.m.good("splice", "-", *SCHEMA, *GROUPS, data=whole)
        self.assertEqual(read_groups(piped), wanted)
        self.put("whole", whole)
        for split in ((), ("--split-size", "1MiB"), ("--split-size", "5MiB"), ("--memory", "64MiB")):
            self.assertEqual(self.m.good("splice", "whole", *SCHEMA, *GROUPS, *split), piped, split)
        big = self.data.astype(RECORD.newbyteorder(">")).tobytes()
        self.assertEqual(self.m.good("splice", self.put("big", big), *SCHEMA, "--byte-order", "big", *GROUPS), piped)

    def test_sizes_around_data_sets(self):
        set_records = MIB // RECORD.itemsize
        for n in (set_records - 1, set_records, set_records + 1, 2 * set_records - 1, 2 * set_records, 2 * set_records + 1,
                  5 * set_records + 7):
            data = self.data[:n]
            self.assertEqual(read_groups(self.m.good("splice", self.put("in", data.tobytes()), *SCHEMA, *GROUPS)), grouped(data), n)

    def test_many_inputs(self):
        """Small files, large ones and standard input, which starts anywhere in a file, and is at its end afterwards."""
        cuts = [0, 10, 90000, 90000, 90100, 200000, 200001, 330000, len(self.data)]
        names = [self.put(f"part{i}", self.data[a:b].tobytes()) for i, (a, b) in enumerate(zip(cuts, cuts[1:]))]
        self.assertEqual(read_groups(self.m.good("splice", *names, *SCHEMA, *GROUPS)), grouped(self.data))
        self.put("whole", self.data.tobytes())
        with open(self.m.path("whole"), "rb", buffering=0) as file:
            file.seek(1000 * RECORD.itemsize)
            process = self.m.start("splice", names[0], "-", *SCHEMA, *GROUPS, stdin=file)
            out, err = process.communicate(timeout=60)
            self.assertEqual((process.returncode, err), (0, b""))
            self.assertEqual(read_groups(out), grouped(numpy.concatenate((self.data[:10], self.data[1000:]))))
            self.assertEqual(file.tell(), self.data.nbytes)

    def test_rows(self):
        """In their order, up to a limit."""
        names = [self.put("a", self.data[:150000].tobytes()), self.put("b", self.data[150000:].tobytes())]
        wanted = b"n\n" + b"".join(b"%d\n" % n for n in self.data["n"].tolist())
        self.assertEqual(self.m.good("splice", *names, *SCHEMA, "--select", "n"), wanted)
        for limit in (1, 149999, 150001, 399999, 10**9):
            out = self.m.good("splice", *names, *SCHEMA, "--select", "n", "--limit", str(limit))
            self.assertEqual(out.splitlines(), wanted.splitlines()[:limit + 1], limit)

    def test_errors(self):
        """With the file and the number of the record in it; the first error is named, whichever executor finds one."""
        bad = self.data.copy()
        bad["n"] = 5
        bad["n"][[123456, 300000, 399999]] = -1
        words = (*SCHEMA, "--select", "sum(cast(n as u8)) as s")
        good = self.put("good", numpy.full(100000, 5, RECORD).tobytes())
        self.put("bad", bad.tobytes())
        for _ in range(3):
            self.m.bad(1, "splice", good, "bad", *words, "-o", "out", says="bad: record 123457")
        self.m.bad(1, "splice", good, self.put("ragged", bad[:100000].tobytes() + b"123"), *words, "-o", "out",
                   says="ragged: 2000003 bytes are no whole number of records of 20 bytes")
        self.assertFalse(Path(self.m.path("out")).exists())

    def test_truncated(self):
        """Bytes that are gone are not part of a result; a file that grows ends where it ended."""
        for turn in range(4):
            path = Path(self.m.path("sparse"))
            with open(path, "wb") as file:
                file.truncate(4000 * MIB)  # of zeros; a multiple of 20
            process = self.m.start("splice", "sparse", *SCHEMA, *GROUPS, "-o", "out")
            time.sleep(0.2 + 0.1 * turn)
            os.truncate(path, 100 * MIB if turn % 2 == 0 else 5000 * MIB)
            _, err = process.communicate(timeout=100)
            if process.returncode != 0:
                self.assertEqual((process.returncode, turn % 2), (1, 0))
                self.assertRegex(err, rb"\Ahacctl: sparse: the input ended after \d+ bytes: it was truncated while it was read\n\Z")
                self.assertFalse(Path(self.m.path("out")).exists())
            else:
                rows = Path(self.m.path("out")).read_text().splitlines()
                self.assertEqual(rows[1:], [f"0,{4000 * MIB // 20},0,0.0,0.0"])
                os.unlink(self.m.path("out"))
            path.unlink()

    def test_memory(self):
        """Within less memory than the files have."""
        self.put("whole", self.data.tobytes())
        out = self.m.good("splice", *["whole"] * 20, *SCHEMA, *GROUPS, "--memory", "48MiB")
        self.assertEqual({k: c for k, (c, *_) in read_groups(out).items()}, {k: 20 * c for k, (c, *_) in grouped(self.data).items()})

    def test_memory_of_partials(self):
        """Where memory is short for the rows of all data sets of a split, rounds take some of them."""
        keys = numpy.random.default_rng(4).integers(0, 200000, 16 * MIB // 4).astype("<i4")
        columns = ", ".join(f"min(k + {i}) as a{i}, max(k - {i}) as b{i}" for i in range(6))
        words = ("--parse", "fixed", "--schema", "k:i32", "--group-by", "k", "--memory", "256MiB", "--receipt", "receipt")
        out = self.m.good("splice", self.put("in", keys.tobytes()), *words, "--select", f"count() as n, {columns}", "--order-by", "k")
        found, counts = numpy.unique(keys, return_counts=True)
        wanted = [",".join(map(str, (k, n, *(v for i in range(6) for v in (k + i, k - i)))))
                  for k, n in zip(found.tolist(), counts.tolist())]
        self.assertEqual(out.decode().splitlines()[1:], wanted)
        receipt = json.loads(Path(self.m.path("receipt")).read_text())
        self.assertGreater(receipt["query"]["rounds"], receipt["query"]["splits"])
        self.assertEqual(receipt["data_path"], "descriptor, read in blocks")
        keys[[-5, -3]] = -1
        self.m.bad(1, "splice", self.put("in", keys.tobytes()), *words, "--select", f"sum(cast(k as u32)) as s, {columns}",
                   says=f"in: record {len(keys) - 4}")

    def test_memory_of_rows(self):
        """Where rows of several splits do not fit, those of one may."""
        data = numpy.random.default_rng(5).integers(0, 2, 12 * MIB).astype("u1")
        self.put("in", data.tobytes())
        for more in ({}, {"data": data.tobytes()}):
            out = self.m.good("splice", "-" if more else "in", "--parse", "fixed", "--schema", "b:bool", "--select", "b", "--where", "b",
                              "--memory", "48MiB", **more)
            self.assertEqual(out, b"b\n" + b"true\n" * int(data.sum()))


@unittest.skipIf(numpy is None, WHY_NOT)
class Devices(Case, MachineTest):
    def test_several(self):
        data = records(600000, 2)
        results = set()
        for profile in (TWO_DEVICES, UNEVEN_DEVICES):
            self.m = self.machine(profile)
            self.put("in", data.tobytes())
            for devices in ((), ("--devices", self.m.devices()[0]["name"])):
                results.add(self.m.good("splice", "in", "in", *SCHEMA, *GROUPS, "--split-size", "2MiB", *devices))
        self.assertEqual(len(results), 1)

    def test_kills(self):
        """Executors that die are replaced, and the new ones get the file."""
        m = self.m = self.machine(TWO_DEVICES)
        daemon = m.baseline()
        data = records(1500000, 3)
        self.put("in", data.tobytes())
        words = ("splice", *["in"] * 8, *SCHEMA, *GROUPS, "--split-size", "4MiB")
        wanted, rng, killed = m.good(*words), random.Random(5), 0
        self.assertEqual({k: c for k, (c, *_) in read_groups(wanted).items()}, {k: 8 * c for k, (c, *_) in grouped(data).items()})
        while killed < 15:
            process, before = m.start(*words), killed
            end = time.monotonic() + rng.random() * 0.2
            while process.poll() is None:  # a job that loses 20 executors is given up
                if killed < before + 12 and time.monotonic() > end and daemon.executor_pids():
                    os.kill(rng.choice(daemon.executor_pids()), signal.SIGKILL)
                    killed += 1
                    end = time.monotonic() + 0.1 + rng.random() * 0.3
                time.sleep(0.005)
            self.assertEqual((process.returncode, process.communicate()), (0, (wanted, b"")), m.log()[-3000:])
        m.check_clean()


if __name__ == "__main__":
    main()
