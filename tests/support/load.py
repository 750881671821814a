# SPDX-License-Identifier: Apache-2.0
"""Jobs of several flows whose answers are known, and a crowd that runs them for as long as a test does something else
to the daemon. The oracles are plain Python."""
import array
import collections
import csv
import io
import os
import random
import threading
import time
from pathlib import Path

import wire

LOGIC = """
name: loop
inputs: {t: {parse: csv, schema: "i:i64"}}
vectors: {x: {template: FixValueVector, type: i64}}
operators:
  - map: {expr: "t.i", out: x}
  - for: {index: j, from: 0, to: 6}
    do:
      - map: {expr: "x * 3 + 1", out: x}
      - reduce: {in: x, out: sum}
outputs: {o: {columns: [x]}}
"""
SALES = ("--schema", "city:string,amount:i64", "--group-by", "city", "--select", "count() as n, sum(amount) as s")


class Flows:
    """run(name) does one job of a flow with hacctl and returns what is wrong with it, or None."""
    NAMES = ("sort", "query", "parquet", "splice", "opsplit")

    def __init__(self, machine, items=400000, rows=20000, seed=1):
        self.machine, self.serial = machine, 0
        self.lock = threading.Lock()
        rng = random.Random(seed)
        keys = array.array("I", rng.randbytes(4 * items))
        self.write("keys", keys.tobytes())
        self.sorted = array.array("I", sorted(keys)).tobytes()
        table = [(f"c{rng.randrange(50)}", rng.randrange(-10**9, 10**9)) for _ in range(rows)]
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([("city", "amount"), *table])
        self.write("sales.csv", out.getvalue().encode())
        sums = collections.defaultdict(lambda: [0, 0])
        for city, amount in table:
            sums[city][0] += 1
            sums[city][1] += amount
        self.groups = {city: tuple(pair) for city, pair in sums.items()}
        self.write("loop.yaml", LOGIC.encode())
        values = range(rows // 4)
        self.write("t.csv", b"i\n" + b"".join(b"%d\n" % v for v in values))
        self.looped = b"x\n" + b"".join(b"%d\n" % (v * 3**6 + (3**6 - 1) // 2) for v in values)
        machine.good("mapreduce", self.path("sales.csv"), "--schema", "city:string,amount:i64", "--select", "city, amount",
                     "-o", self.path("sales.parquet"))

    def path(self, name):
        return str(self.machine.root / "work" / name)

    def write(self, name, data):
        Path(self.path(name)).write_bytes(data)

    def fresh(self):
        with self.lock:
            self.serial += 1
            return self.path(f".load{self.serial}")

    def words(self, name, out):
        """The command of a flow that writes to `out`."""
        return {
            "sort": ("sort", self.path("keys"), "--type", "u32", "-o", out),
            "query": ("mapreduce", self.path("sales.csv"), *SALES, "-o", out),
            "parquet": ("mapreduce", self.path("sales.parquet"), "--group-by", "city", "--select",
                        "count() as n, sum(amount) as s", "-o", out),
            "splice": ("splice", self.path("sales.csv"), *SALES, "--split-size", "1MiB", "-o", out),
            "opsplit": ("opsplit", "run", self.path("loop.yaml"), "--input", f"t={self.path('t.csv')}", "-q", "-o", out),
        }[name]

    def wrong(self, name, out):
        """None if what is in `out` is the answer; takes it away."""
        path = Path(out)
        if name == "opsplit":
            data = (path / "o.csv").read_bytes()
            (path / "o.csv").unlink()
            path.rmdir()
            return None if data == self.looped else "the vector is another"
        data = path.read_bytes()
        path.unlink()
        if name == "sort":
            return None if data == self.sorted else "not what sorted() makes of it"
        rows = list(csv.reader(io.StringIO(data.decode())))
        got = {row[0]: (int(row[1]), int(row[2])) for row in rows[1:]}
        return None if len(rows) == len(self.groups) + 1 and got == self.groups else "other groups"

    def run(self, name, *options):
        out = self.fresh()
        result = self.machine.run(*options, *self.words(name, out))
        if result.code != 0 or result.err != "":
            return f"{name}: {result}"
        wrong = self.wrong(name, out)
        return f"{name}: {wrong}" if wrong else None


class Crowd:
    """Threads that run jobs of all flows one after another, until they are told to stop."""

    def __init__(self, flows, names=Flows.NAMES, threads=3):
        self.flows, self.names = flows, names
        self.stopping = threading.Event()
        self.problems, self.done = [], collections.Counter()
        self.threads = [threading.Thread(target=self.work, args=(i,)) for i in range(threads)]

    def work(self, number):
        rng = random.Random(number)
        while not self.stopping.is_set() and not self.problems:
            name = rng.choice(self.names)
            try:
                problem = self.flows.run(name)
            except (AssertionError, OSError) as error:
                problem = f"{name}: {error}"
            if problem:
                self.problems.append(problem)
            self.done[name] += 1

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *failure):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def wait_for(self, n, seconds=60):
        """Until n more jobs have been done."""
        wanted, end = sum(self.done.values()) + n, time.monotonic() + seconds
        while sum(self.done.values()) < wanted and not self.problems and time.monotonic() < end:
            time.sleep(0.01)


def submit_many(path, outcome):
    """Submits jobs in one go, waits for each that is accepted; what became of them goes to `outcome`."""
    try:
        client = wire.Client(path)
    except OSError:
        return
    waiting, submitted, jobs = {}, {}, {}
    for _ in range(10):
        serial = client.send(wire.SUBMIT_SORT, wire.sort_inline(
            "u32", os.urandom(32000), options=wire.field(3, 1), spec=wire.field(4, 1)))
        submitted[serial] = "unanswered"
    while "unanswered" in submitted.values() or waiting:
        got = client.receive()
        if got is None:
            outcome.append(f"cut off with {waiting} and {submitted}")
            break
        what, serial, fields = got
        if what == wire.R_ACCEPTED:
            submitted[serial] = fields[1][0]
            waiting[client.send(wire.WAIT, wire.field(1, fields[1][0]))] = fields[1][0]
        elif what == wire.R_FAILURE:
            submitted[serial] = "refused"
            outcome.append("refused" if fields[1][0] == 4 else f"failure {fields}")
        elif what == wire.R_DONE:
            job = waiting.pop(serial, None)
            if jobs.setdefault(fields[1][0], fields[2][0]) != fields[2][0]:
                outcome.append("two ends")
            if job is not None:
                outcome.append({3: "done", 5: "cancelled"}.get(fields[2][0], f"ended in state {fields[2][0]}"))
    client.close()
