# SPDX-License-Identifier: Apache-2.0
"""The benchmark of streams (splice); run.py calls it. Product and peers take turns in one run.

The same four columns in every format (make_input sales-…), grouped by a key of 1,000 values; the peers are DuckDB's and
Polars' readers with as many threads as there are cores, their answers are compared. Counted are the wall time and the
processor time of all that takes part: hacctl, hacd and its executors, or the process of the peer. Of a machine that is
not quiet only ratios of processor time say something. The page cache is warm.
"""

import csv
import fcntl
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time

from machine import HERE, Machine
from run_query import CORES, duck, peers

COLUMNS = "id:i64,key:string,price:f64,quantity:i32"
FIXED = "id:i64,key:i32,quantity:i32,price:f64"
QUERY = ["--group-by", "key", "--select", "sum(price) as p, sum(quantity) as q, count() as n, max(id) as m"]
WAYS = ("mapreduce", "splice")
LINES = {  # name: (file, options, gigabytes a second wanted)
    "csv": ("sales-csv", ["--parse", "csv", "--schema", COLUMNS, *QUERY], None),
    "tsv": ("sales-tsv", ["--parse", "tsv", "--schema", COLUMNS, *QUERY], None),
    "jsonl": ("sales-jsonl", ["--parse", "jsonl", "--schema", COLUMNS, *QUERY], None),
    "fixed": ("sales-fixed", ["--parse", "fixed", "--schema", FIXED, *QUERY], 4.0),
    "fixed, summed": ("sales-fixed", ["--parse", "fixed", "--schema", FIXED, "--select", "sum(price) as p, count() as n"], 4.0),
    "lines": ("sales-csv", ["--parse", "lines", "--select", "count() as n"], None),
    "words": ("sales-csv", ["--parse", "words", "--select", "count() as n"], None),
}
LONG = 10  # times the same file
PIPED = {"fixed": 3.0, "fixed, summed": 3.0, "csv": None}
PIPE_BYTES = 1 << 20  # as hacctl has it
MAPPERS = {  # what peer_mapper.py does, as hacctl pipe does it
    "filter": ["--parse", "tsv", "--no-header", "--schema", COLUMNS, "--where", "quantity > 50", "--select", "key, price"],
    "sums": ["--parse", "tsv", "--no-header", "--schema", COLUMNS, "--group-by", "key", "--select", "sum(price)"],
    "words": ["--parse", "words", "--group-by", "word", "--select", "count()"],
}


# ---- time -----------------------------------------------------------------------------------------------


def ticks(pid, children=False):
    """Processor seconds of a process, with those of children that have ended; 0 when it has gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15 if children else 13])) / os.sysconf("SC_CLK_TCK")


def used(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


class Clock:
    """(wall, processor) seconds of what our processes do: hacd, its executors, and what is started here."""

    def __init__(self, machine):
        self.machine, self.daemon = machine, None

    def wake(self):
        """A daemon that has had nothing to do for a while has ended; its start is not what is measured."""
        daemon = self.machine.daemon()
        if daemon != self.daemon:
            self.daemon = daemon
            self.machine.hacctl("devices")
            self.machine.settle()

    def total(self):
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.daemon)], capture_output=True, text=True).stdout
        return ticks(self.daemon, children=True) + sum(ticks(int(pid)) for pid in children.split())

    def time(self, work):
        self.wake()
        before, children, start = self.total(), used(resource.RUSAGE_CHILDREN), time.monotonic()
        work()
        wall, children = time.monotonic() - start, used(resource.RUSAGE_CHILDREN) - children
        return wall, children + self.total() - before


def time_here(work):
    """The same of what this process does."""
    before, start = used(resource.RUSAGE_SELF), time.monotonic()
    work()
    return time.monotonic() - start, used(resource.RUSAGE_SELF) - before


def turns_of(ways, turns):
    """{name: (median wall, median processor)}; the first turn is warm-up."""
    times = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, work in ways.items():
            measured = work()
            if turn > 0:
                times[name].append(measured)
    return {name: tuple(statistics.median(column) for column in zip(*all)) for name, all in times.items()}


# ---- peers ----------------------------------------------------------------------------------------------


def duckdb_of(connection, name, path):
    types = "{'id': 'BIGINT', 'key': 'VARCHAR', 'price': 'DOUBLE', 'quantity': 'INTEGER'}"
    source = {"csv": f"read_csv('{path}', columns={types}, header=true, delim=',')",
              "tsv": f"read_csv('{path}', columns={types}, header=true, delim='\t', quote='', escape='')",
              "jsonl": f"read_json('{path}', columns={types}, format='newline_delimited')"}.get(name)
    if source is None:
        return None
    text = f"select key, sum(price) p, sum(quantity) q, count(*) n, max(id) m from {source} group by key"
    return lambda: connection.sql(text).to_arrow_table().to_pydict()


def polars_of(polars, name, path):
    schema = {"id": polars.Int64, "key": polars.String, "price": polars.Float64, "quantity": polars.Int32}
    c = polars.col
    aggregates = [c("price").sum().alias("p"), c("quantity").sum().alias("q"), polars.len().alias("n"),
                  c("id").max().alias("m")]
    scans = {"csv": lambda: polars.scan_csv(path, schema=schema),
             "tsv": lambda: polars.scan_csv(path, schema=schema, separator="\t", quote_char=None),
             "jsonl": lambda: polars.scan_ndjson(path, schema=schema)}
    if name not in scans:
        return None
    return lambda: scans[name]().group_by("key").agg(aggregates).collect(engine="streaming").to_dict(as_series=False)


def check(name, ours, theirs):
    """Keys, counts, sums of the integers and the largest are the same; sums of floats nearly."""
    with open(ours, newline="", encoding="utf-8") as file:
        found = {row["key"]: row for row in csv.DictReader(file)}
    if len(found) != len(theirs["key"]):
        raise RuntimeError(f"{name}: {len(found)} keys, the peer has {len(theirs['key'])}")
    for i, key in enumerate(theirs["key"]):
        row = found[key]
        same = all(int(row[c]) == int(theirs[c][i]) for c in "qnm")
        if not same or not math.isclose(float(row["p"]), theirs["p"][i], rel_tol=1e-9):
            raise RuntimeError(f"{name}: key {key} is {row}, not {[theirs[c][i] for c in 'pqnm']}")


# ---- lines ----------------------------------------------------------------------------------------------


def ways_here(machine):
    """splice may not be there yet."""
    return [way for way in WAYS if machine.hacctl(way, "--help", check=False).returncode == 0]


def stages_of(receipt, wall, cpu):
    """Busy seconds of the stages, the first of which is hacctl's; the wall time over what the slowest of them would have
    needed alone, and over what the cores would have needed for all that was done."""
    devices = receipt.get("splice", {}).get("devices", [])
    if not devices:
        return None
    busy = {"input": receipt["splice"]["client"]["reading_seconds"]}
    for stages in (device["stages"] for device in devices):
        for name, stage in stages.items():
            busy[name] = busy.get(name, 0) + stage["busy_seconds"]
    in_place = all(device["in_place"] for device in devices)
    alone = sum(busy.values()) / CORES if in_place else max(busy.values())
    return {"busy_seconds": busy, "in_place": in_place, "over_slowest": wall / alone if alone > 0 else None,
            "over_work": wall / (cpu / CORES) if cpu > 0 else None}


def product_ways(machine, clock, path, options):
    out = machine.directory / "out.csv"

    def runner(way):
        command = [way, str(path), *options, "--quiet", "-o", str(out)]
        return lambda: clock.time(lambda: machine.hacctl(*command))

    return {f"hac {way}": runner(way) for way in ways_here(machine)}


def measure_stages(machine, clock, paths, options, turns):
    """(wall, processor seconds, stages) of the run whose wall time is the median."""
    receipt = machine.directory / "receipt.json"
    runs = []
    for _ in range(turns):
        wall, cpu = clock.time(lambda: machine.hacctl("splice", *paths, *options, "--quiet", "--receipt", str(receipt)))
        runs.append((wall, cpu, receipt.read_text()))
    wall, cpu, text = sorted(runs)[len(runs) // 2]
    return wall, cpu, stages_of(json.loads(text), wall, cpu)


def measure(machine, clock, engines, name, inputs, turns):
    kind, options, wanted = LINES[name]
    path = inputs[kind]
    ways = product_ways(machine, clock, path, options)
    answers = {}
    for engine, work in engines.items():
        found = work(name, path)
        if found:
            answers[engine] = found
            ways[engine] = lambda found=found: time_here(found)
    times = turns_of(ways, turns)
    for engine, work in answers.items():
        check(f"{name}, {engine}", machine.directory / "out.csv", work())
    stages = None
    if "hac splice" in ways:
        stages = measure_stages(machine, clock, [str(path)], options, turns)[2]
    return line_of(name, path.stat().st_size, times, wanted, stages)


def measure_long(machine, clock, name, inputs, turns):
    """So much input that the start and the end of the process, about 15 ms, are none of the pipeline's time."""
    kind, options, _ = LINES[name]
    wall, cpu, stages = measure_stages(machine, clock, [str(inputs[kind])] * LONG, options, turns)
    size = inputs[kind].stat().st_size * LONG
    return line_of(f"{name}, {LONG} files", size, {"hac splice": (wall, cpu)}, None, stages)


def line_of(name, size, times, wanted, stages=None):
    product = {n: t for n, t in times.items() if n.startswith("hac")}
    others = {n: t for n, t in times.items() if not n.startswith("hac")}
    result = {"line": name, "bytes": size, "times": times, "wanted_gigabytes_a_second": wanted, "stages": stages}
    result["gigabytes_a_second"] = {n: size / wall / 1e9 for n, (wall, _) in product.items()}
    if others:
        result["ratio"] = {n: (min(o[0] for o in others.values()) / t[0], min(o[1] for o in others.values()) / t[1])
                           for n, t in product.items()}
    print(f"  {name} of {size / 1e6:.0f} MB: " + "; ".join(
        f"{n} {wall * 1e3:.0f} ms, {cpu * 1e3:.0f} ms of processors" for n, (wall, cpu) in times.items())
        + ("; to the best peer " + ", ".join(f"{n} {a:.2f} ({b:.2f})" for n, (a, b) in result["ratio"].items())
           if others else "")
        + (f"; {max(result['gigabytes_a_second'].values()):.2f} GB/s (goal {wanted:g})" if wanted else ""), flush=True)
    return result


BARE = "bare pipe"


def bare_pipe(writer):
    """What the pipe alone takes: the bytes are read and thrown away. Nothing that computes can be faster."""
    usages = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    before, start = sum(map(used, usages)), time.monotonic()
    memory = bytearray(4 * PIPE_BYTES)
    with subprocess.Popen(writer, stdout=subprocess.PIPE, bufsize=0) as process:
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        while process.stdout.readinto(memory):
            pass
    return time.monotonic() - start, sum(map(used, usages)) - before


def piped(machine, clock, name, path, turns, pages):
    """Through standard input, with splice or, without it, mapreduce; from cat, or from a writer that gives the pipe the
    pages of the file, so that only the reader copies."""
    writer = [str(machine.build / "bench" / "write_pages") if pages else "cat", str(path)]
    way = ways_here(machine)[-1]
    command = " ".join(f"'{word}'" for word in (str(machine.build / "hacctl" / "hacctl"), way, "-", *LINES[name][1],
                                                "--quiet", "-o", str(machine.directory / "out.csv")))
    both = f"'{writer[0]}' '{writer[1]}' | {command}"
    ways = {f"hac {way}": lambda: clock.time(lambda: subprocess.run(both, shell=True, check=True, env=machine.env)),
            BARE: lambda: bare_pipe(writer)}
    title = f"{name}, through a pipe" + (" of pages" if pages else "")
    return line_of(title, path.stat().st_size, turns_of(ways, turns), PIPED[name])


def mapper(machine, clock, name, path, turns):
    """hacctl pipe against Python; both are filters."""
    out = [machine.directory / "ours", machine.directory / "theirs"]

    def run(command, target):
        with open(path, "rb") as source, open(target, "wb") as file:
            subprocess.run([str(word) for word in command], stdin=source, stdout=file, check=True, env=machine.env)

    ours = [machine.build / "hacctl" / "hacctl", "--quiet", "pipe", *MAPPERS[name]]
    theirs = [sys.executable, HERE / "peer_mapper.py", name]
    times = turns_of({"hac pipe": lambda: clock.time(lambda: run(ours, out[0])),
                      "Python": lambda: clock.time(lambda: run(theirs, out[1]))}, turns)
    counts = [sum(1 for _ in open(file, "rb")) for file in out]
    if counts[0] != counts[1]:
        raise RuntimeError(f"pipe, {name}: {counts[0]} lines, Python's {counts[1]}")
    result = line_of(f"pipe, {name}", path.stat().st_size, times, None)
    result["goal"] = 20.0
    return result


# ---- all ------------------------------------------------------------------------------------------------


def make_inputs(machine, rows):
    inputs = {}
    for kind in ("sales-csv", "sales-tsv", "sales-jsonl", "sales-fixed"):
        inputs[kind] = machine.directory / kind
        with open(inputs[kind], "wb") as file:
            # records of fixed width are read so fast that the start of a job would be what is measured
            n = rows * 4 if kind == "sales-fixed" else rows
            subprocess.run([machine.build / "bench" / "make_input", kind, str(n), "1000", "0"], stdout=file, check=True)
    inputs["words"] = machine.directory / "text"
    with open(inputs["words"], "wb") as file:
        subprocess.run([machine.build / "bench" / "make_input", "text", str(rows * 15)], stdout=file, check=True)
    plain = inputs["sales-tsv"].read_bytes()
    inputs["filter"] = inputs["sums"] = machine.directory / "lines"
    inputs["sums"].write_bytes(plain[plain.index(b"\n") + 1:])  # what Hadoop Streaming hands over has no header
    return inputs


def run(build, quick):
    rows, turns = (1_500_000, 3) if quick else (6_000_000, 5)
    duckdb, polars, _ = peers()
    machine = Machine(build)
    try:
        inputs = make_inputs(machine, rows)
        machine.hacctl("devices")
        machine.settle()
        clock = Clock(machine)
        engines = {}
        if duckdb:
            connection = duck(duckdb)
            engines["DuckDB"] = lambda name, path: duckdb_of(connection, name, path)
        if polars:
            engines["Polars"] = lambda name, path: polars_of(polars, name, path)
        lines = [measure(machine, clock, engines, name, inputs, turns) for name in LINES]
        lines += [measure_long(machine, clock, name, inputs, turns) for name in ("csv", "tsv", "jsonl")]
        if "splice" in ways_here(machine):
            lines += [piped(machine, clock, name, inputs[LINES[name][0]], turns, pages)
                      for pages in (False, True) for name in PIPED]
        mappers = []
        if machine.hacctl("pipe", "--help", check=False).returncode == 0:
            mappers = [mapper(machine, clock, name, inputs[name], 3) for name in MAPPERS]
        return {"rows": rows, "lines": lines, "mappers": mappers}
    finally:
        machine.close()


def cell(times, name):
    return f"{times[name][0] * 1e3:.0f} / {times[name][1] * 1e3:.0f}" if name in times else ""


def markdown(results):
    if not results:
        return []
    out = ["## Streams", "", f"{results['rows'] / 1e6:g} M rows of four columns, summed and counted by a key of 1,000 values; "
           "(fixed: four times as many); lines and words are only counted. Each cell is ms of",
           "wall time / ms of processor time (hacctl, hacd and executors together; the peer's process); ratios to the best "
           "peer likewise, above 1 is faster.",
           "Through a pipe `cat` writes, or a writer that gives the pipe the pages of the file as `pv` does (*of pages*); the peer there",
           "is a reader that throws away what comes (*bare pipe*).", "",
           "| line | MB | mapreduce | splice | DuckDB | Polars | bare pipe | mapreduce ratio | splice ratio | GB/s | goal |",
           "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"]
    for r in results["lines"]:
        t, ratio = r["times"], r.get("ratio", {})
        cells = [cell(t, n) for n in ("hac mapreduce", "hac splice", "DuckDB", "Polars", BARE)]
        cells += [f"{ratio[n][0]:.2f} / {ratio[n][1]:.2f}" if n in ratio else "" for n in ("hac mapreduce", "hac splice")]
        goal = f"{r['wanted_gigabytes_a_second']:g} GB/s" if r["wanted_gigabytes_a_second"] else "1.0" if "DuckDB" in t or "Polars" in t else ""
        out.append(f"| {r['line']} | {r['bytes'] / 1e6:.0f} | " + " | ".join(cells)
                   + f" | {max(r['gigabytes_a_second'].values()):.2f} | {goal} |")
    out += stage_table(results["lines"]) + mapper_table(results["mappers"])
    return out + [""]


def stage_table(lines):
    lines = [r for r in lines if r.get("stages")]
    if not lines:
        return []
    names = list(dict.fromkeys(name for r in lines for name in r["stages"]["busy_seconds"]))
    out = ["", "Stages of `splice`: busy ms of all threads together. *Over stages* is the wall time ÷ the slowest of these alone: "
           "where a thread does all of a",
           "data set in place, their sum ÷ the cores. *Over work* is the wall time ÷ (processor time of hacctl, which reads and "
           "cuts, hacd and executors ÷ the cores):",
           "where all share the cores no pipeline can be faster (goal: at most 1.15).", "",
           "| line | " + " | ".join(map(str, names)) + " | in place | over stages | over work |",
           "|---|" + "--:|" * (len(names) + 3)]
    for r in lines:
        s = r["stages"]
        busy = " | ".join(f"{s['busy_seconds'].get(n, 0) * 1e3:.0f}" for n in names)
        over = " | ".join(f"{s[key]:.2f}" if s[key] else "" for key in ("over_slowest", "over_work"))
        out.append(f"| {r['line']} | {busy} | {'yes' if s['in_place'] else 'no'} | {over} |")
    return out


def mapper_table(lines):
    if not lines:
        return []
    out = ["", "`hacctl pipe` as a mapper against Python (bench/peer_mapper.py).", "",
           "| mapper | MB | hac pipe | Python | ratio | goal |", "|---|--:|--:|--:|--:|--:|"]
    for r in lines:
        wall, cpu = r["ratio"]["hac pipe"]
        out.append(f"| {r['line'].split(', ')[1]} | {r['bytes'] / 1e6:.0f} | {cell(r['times'], 'hac pipe')} | "
                   f"{cell(r['times'], 'Python')} | {wall:.1f} / {cpu:.1f} | {r['goal']:g} |")
    return out
