# SPDX-License-Identifier: Apache-2.0
"""The benchmark of queries, part by part; run.py calls it. Product and peers take turns in one run.

Peers: DuckDB and Polars from build/python (`./dev bench` puts them there), with as many threads as there are cores; a
C++ program and a Python streaming job, both here. Every answer is compared with the peers'.
"""

import csv
import json
import math
import os
import statistics
import subprocess
import sys
import time

import plot
from machine import HERE, ROOT, Machine

PARTS = ("words", "groups", "cardinality", "small", "hot")
CORES = os.cpu_count()


def peers():
    """(duckdb, polars, pyarrow); None is what is not there."""
    sys.path.insert(0, str(ROOT / "build" / "python"))
    found = []
    for name in ("duckdb", "polars", "pyarrow"):
        try:
            found.append(__import__(name))
        except ImportError:
            print(f"  {name} is not there: measured without it", flush=True)
            found.append(None)
    return found


def duck(duckdb):
    connection = duckdb.connect()
    connection.execute(f"set threads={CORES}")
    connection.execute("set preserve_insertion_order=false")
    return connection


def seconds_of(work):
    start = time.monotonic()
    result = work()
    return time.monotonic() - start, result


def take_turns(ways, turns):
    """{name: median seconds}; the first turn is warm-up."""
    times = {name: [] for name in ways}
    for turn in range(turns + 1):
        for name, work in ways.items():
            seconds = work()
            if turn > 0:
                times[name].append(seconds)
    return {name: statistics.median(all) for name, all in times.items()}


# ---- words ----------------------------------------------------------------------------------------------


def word_lines(path):
    """DuckDB's table of lines: a delimiter and quotes that no text has."""
    return (f"read_csv('{path}', columns={{'line': 'VARCHAR'}}, delim='\x01', quote='', escape='', header=false, "
            "auto_detect=false)")


def duckdb_words(duckdb, path):
    connection = duck(duckdb)
    lines = word_lines(path)
    ways = {
        "string_split, unnest": "unnest(string_split(line, ' '))",
        "regexp_split_to_table": "regexp_split_to_table(line, '\\s+')",
    }

    def runner(expression):
        query = (f"select word, count(*) as count from (select {expression} as word from {lines}) "
                 "where word <> '' group by word")
        return lambda: connection.sql(query).to_arrow_table()

    return {f"DuckDB, {name}": runner(e) for name, e in ways.items()}


def polars_words(polars, path):
    def runner(engine):
        def work():
            lines = polars.scan_csv(path, has_header=False, separator="\x01", quote_char=None,
                                    schema={"line": polars.String})
            words = lines.select(polars.col("line").str.split(" ").explode().alias("word"))
            return words.filter(polars.col("word") != "").group_by("word").len().collect(engine=engine)

        return work

    return {f"Polars, {engine} engine": runner(engine) for engine in ("streaming", "in-memory")}


def sum_csv(path):
    """(groups, words) of a result in csv."""
    with open(path, newline="", encoding="utf-8") as file:
        counts = [int(row[-1]) for row in list(csv.reader(file))[1:]]
    return len(counts), sum(counts)


def sum_plain(path):
    """The same where words are not quoted."""
    rows = path.read_text().splitlines()
    counts = [int(row.rsplit(",", 1)[1]) for row in rows if row.rsplit(",", 1)[1] != "count"]
    return len(counts), sum(counts)


def streaming(path, out):
    job = HERE / "peer_words.py"
    command = f"'{sys.executable}' '{job}' map < '{path}' | LC_ALL=C sort | '{sys.executable}' '{job}' reduce > '{out}'"
    return seconds_of(lambda: subprocess.run(command, shell=True, check=True))[0]


def best_ways(ways, totals):
    """Of each engine's ways the one that is fastest when warm; all must give the product's answer."""
    best = {}
    for name, work in ways.items():
        work()
        seconds, result = seconds_of(work)
        column = result["count"] if "DuckDB" in name else result["len"]
        found = (len(column), sum(column.to_pylist() if "DuckDB" in name else column.to_list()))
        if found != totals:
            raise RuntimeError(f"{name}: {found[0]} words, {found[1]} in all; {totals} was expected")
        engine = name.split(",")[0]
        if engine not in best or seconds < best[engine][0]:
            best[engine] = (seconds, name, work)
        print(f"    {name}: {seconds * 1e3:.0f} ms", flush=True)
    return {name: work for _, name, work in best.values()}


def words(build, quick):
    """hacctl from the file to a file of counts, against the peers."""
    size, turns = (40_000_000, 3) if quick else (200_000_000, 5)
    machine = Machine(build)
    try:
        text, part, ours, theirs = (machine.directory / name for name in ("text", "part", "ours", "theirs"))
        for path, n in ((text, size), (part, size // 10)):
            with open(path, "wb") as file:
                subprocess.run([build / "bench" / "make_input", "text", str(n)], stdout=file, check=True)
        text.read_bytes()
        machine.hacctl("devices")
        machine.settle()
        duckdb, polars, _ = peers()
        program = machine.directory / "peer_words"
        subprocess.run(["g++", "-O3", "-march=native", "-std=c++17", "-pthread", "-o", program, HERE / "peer_words.cpp"],
                       check=True)
        product = ["mapreduce", "wordcount", str(text), "-o", str(ours)]
        cpp = f"C++ unordered_map<string_view>, {CORES} threads"
        machine.hacctl(*product)
        subprocess.run([program, text, theirs, str(CORES)], check=True)
        totals = sum_csv(ours)
        if totals != sum_plain(theirs):
            raise RuntimeError("word count: the C++ peer's answer differs")
        candidates = {}
        if duckdb:
            candidates.update(duckdb_words(duckdb, text))
        if polars:
            candidates.update(polars_words(polars, text))
        ways = {"hac": lambda: seconds_of(lambda: machine.hacctl(*product))[0],
                cpp: lambda: seconds_of(lambda: subprocess.run([program, text, theirs, str(CORES)], check=True))[0]}
        for name, work in best_ways(candidates, totals).items():
            ways[name] = lambda work=work: seconds_of(work)[0]
        times = take_turns(ways, turns)
        receipt = machine.directory / "receipt"
        machine.hacctl(*product, "--receipt", str(receipt))
        slow = statistics.median(streaming(part, theirs) for _ in range(1 if quick else 3)) * 10
        if sum_plain(theirs)[1] * 10 < totals[1] * 0.9:
            raise RuntimeError("word count: the streaming job's answer differs")
        result = {"bytes": size, "words": totals[1], "distinct": totals[0], "seconds": times.pop("hac"), "peers": times,
                  "streaming_seconds": slow, "receipt": json.loads(receipt.read_text())}
        fastest = min(times.values())
        result["ratio"], result["streaming_ratio"] = fastest / result["seconds"], slow / result["seconds"]
        print(f"  word count of {size / 1e6:.0f} MB: {result['seconds'] * 1e3:.0f} ms; "
              + "; ".join(f"{n} {s * 1e3:.0f} ms" for n, s in times.items())
              + f"; streaming {slow:.1f} s. Ratios {result['ratio']:.2f} (goal 2), {result['streaming_ratio']:.0f} (goal 30)",
              flush=True)
        return result
    finally:
        machine.close()


# ---- groups ---------------------------------------------------------------------------------------------


class Groups:
    """bench_query beside DuckDB, on the same columns."""

    def __init__(self, machine, duckdb, pyarrow):
        self.directory = machine.directory / "columns"
        self.directory.mkdir()
        self.pyarrow, self.duckdb = pyarrow, duckdb
        self.connection = duck(duckdb) if duckdb and pyarrow else None
        self.child = subprocess.Popen([machine.build / "bench" / "bench_query"], env=machine.env, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            raise RuntimeError(f"bench_query: {line}: no answer")
        return json.loads(answer)

    def table(self, kind, rows, keys, skew):
        self.ask(f"table {kind} {rows} {keys} {skew} {self.directory}")
        if self.connection is None:
            return
        arrow = self.pyarrow

        def column(name):
            return arrow.py_buffer((self.directory / name).read_bytes())

        values = arrow.Array.from_buffers(arrow.float64(), rows, [None, column("values")])
        if kind == "string":
            key = arrow.Array.from_buffers(arrow.string(), rows, [None, column("offsets"), column("keys")])
        else:
            key = arrow.Array.from_buffers(arrow.uint32(), rows, [None, column("keys")])
        arrow_table = arrow.table({"key": key, "value": values})  # noqa: F841: the query finds it by its name
        self.connection.execute("create or replace table t as select * from arrow_table")

    def product(self, hot="auto"):
        self.last = self.ask(f"group {hot}")
        return self.last["seconds"]

    def receipt(self):
        return self.ask(f"receipt {self.last['job']}")

    def peer(self):
        query = "select key, sum(value) as sum, count(*) as count from t group by key"
        seconds, self.result = seconds_of(lambda: self.connection.sql(query).to_arrow_table())
        return seconds

    def compare(self):
        found = self.result.num_rows, sum(self.result["count"].to_pylist())
        if found != (self.last["groups"], self.last["count"]) or not math.isclose(
                sum(self.result["sum"].to_pylist()), self.last["sum"], rel_tol=1e-9):
            raise RuntimeError(f"groups: DuckDB found {found}, hac {self.last}")

    def measure(self, turns):
        """(groups, our median, DuckDB's or None)"""
        ways = {"hac": self.product}
        if self.connection is not None:
            ways["DuckDB"] = self.peer
        times = take_turns(ways, turns)
        if self.connection is not None:
            self.compare()
        return self.last["groups"], times["hac"], times.get("DuckDB")

    def close(self):
        self.child.stdin.close()
        self.child.wait()


GROUP_LINES = [  # type, possible keys, skew, goal
    ("u32", 4, 0, 3), ("u32", 1_000, 0, 1.5), ("u32", 100_000, 0, 2.3), ("u32", 1_000_000, 0, 3),
    ("u32", 10_000_000, 0, 3), ("u32", 1_000, 1.2, 3), ("u32", 100_000, 1.2, 3), ("u32", 1_000_000, 1.2, 3),
    ("u32", 10_000_000, 1.2, 3), ("u32", 4, -1, None), ("u32", 1_000, -1, None),
    ("string", 4, 0, 1.5), ("string", 1_000, 0, 1.5), ("string", 100_000, 0, 1.5), ("string", 1_000_000, 0, 1.5),
    ("string", 10_000_000, 0, 1.5), ("string", 1_000, 1.2, 1.5), ("string", 100_000, 1.2, 1.5),
    ("string", 10_000_000, 1.2, 1.5),
]


def skew_name(skew):
    return "uniform, dense" if skew < 0 else "uniform" if skew == 0 else f"Zipf {skew:g}"


def with_groups(build, work):
    machine = Machine(build)
    try:
        machine.hacctl("devices")
        machine.settle()
        duckdb, _, pyarrow = peers()
        groups = Groups(machine, duckdb, pyarrow)
        try:
            return work(groups)
        finally:
            groups.close()
    finally:
        machine.close()


def group_lines(build, quick):
    rows, turns = (2_000_000, 5) if quick else (10_000_000, 7)

    def work(groups):
        lines = []
        for kind, keys, skew, goal in GROUP_LINES:
            groups.table(kind, rows, keys, skew)
            n, ours, theirs = groups.measure(turns)
            receipt = groups.receipt()
            lines.append({"line": f"{kind}, {n} groups, {skew_name(skew)}", "rows": rows, "groups": n, "seconds": ours,
                          "duckdb_seconds": theirs, "ratio": theirs / ours if theirs else None, "goal": goal,
                          "query": receipt["query"]})
            print(f"  {lines[-1]['line']}: {ours * 1e3:.1f} ms"
                  + (f", DuckDB {theirs * 1e3:.1f} ms, ratio {theirs / ours:.2f} (goal {goal or '-'})" if theirs else ""),
                  flush=True)
        return lines

    return with_groups(build, work)


CARDINALITIES = [1, 2, 4, 8, 16, 32, 64, 127, 128, 129, 255, 256, 257, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536,
                 1 << 17, 1 << 18, 1 << 19, 1 << 20, 1 << 21, 1 << 22]


def cardinality(build, quick):
    rows, turns = (2_000_000, 5) if quick else (10_000_000, 7)

    def work(groups):
        points = []
        for keys in CARDINALITIES:
            groups.table("u32", rows, keys, 0)
            n, ours, theirs = groups.measure(turns)
            points.append({"keys": keys, "groups": n, "seconds": ours, "duckdb_seconds": theirs})
            print(f"  {keys} keys: {ours * 1e3:.1f} ms" + (f", DuckDB {theirs * 1e3:.1f} ms" if theirs else ""), flush=True)
        steepest = max(b["seconds"] / a["seconds"] for a, b in zip(points, points[1:]))
        return {"rows": rows, "points": points, "steepest": steepest}

    return with_groups(build, work)


def draw_cardinality(result, path):
    lines = [("hac", "#1668b8", [(p["keys"], p["seconds"] * 1e3) for p in result["points"]])]
    if result["points"][0]["duckdb_seconds"]:
        lines.append(("DuckDB", "#c2571a", [(p["keys"], p["duckdb_seconds"] * 1e3) for p in result["points"]]))
    title = f"sum and count of {result['rows'] / 1e6:g} M rows in memory by a u32 key, {CORES} cores"
    path.write_text(plot.log_log(title, "different keys", "ms", lines))


# ---- small ones -----------------------------------------------------------------------------------------


def small(build, quick):
    """Queries that were never seen before: from the library, and hacctl as a whole."""
    machine = Machine(build)
    try:
        machine.hacctl("devices")
        machine.settle()
        child = subprocess.run([build / "bench" / "bench_query"], env=machine.env, text=True, capture_output=True,
                               input=f"small 200\nsmall {500 if quick else 5000}\n", check=True)
        result = json.loads(child.stdout.splitlines()[1])
        rows = machine.directory / "rows.csv"
        rows.write_text("name,amount\n" + "".join(f"name{i % 30},{i * 7919 % 1000}\n" for i in range(1000)))
        times = sorted(seconds_of(lambda i=i: machine.hacctl(
            "mapreduce", str(rows), "--schema", "name:string,amount:u32", "--where", f"amount > {i}", "--group-by", "name",
            "--select", f"sum(amount + {i}) as s"))[0] * 1e3 for i in range(50 if quick else 300))
        result["hacctl_p50_ms"], result["hacctl_p99_ms"] = times[len(times) // 2], times[len(times) * 99 // 100]
        print(f"  never seen before, {result['rows']} rows: p50 {result['p50_ms']:.3f} ms, p99 {result['p99_ms']:.3f} ms "
              f"(goal 5); hacctl p50 {result['hacctl_p50_ms']:.2f} ms, p99 {result['hacctl_p99_ms']:.2f} ms", flush=True)
        return result
    finally:
        machine.close()


# ---- hot keys -------------------------------------------------------------------------------------------

LOCK_STEP = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
style: simt
"""

HOT_DEVICES = [  # name, driver, profile, rows: llvmpipe is given few, for it has to do with a task within its deadline
    ("PoCL, block kernels", "pocl.icd", None, 10_000_000), ("PoCL, lock-step kernels", "pocl.icd", LOCK_STEP, 10_000_000),
    ("llvmpipe", "rusticl.icd", None, 200_000)]
HOT_LINES = [(1_000, 0), (1_000_000, 0), (1_000, 1.2), (1_000_000, 1.2)]


def hot_line(groups, name, keys, skew, turns):
    times = take_turns({hot: lambda hot=hot: groups.product(hot) for hot in ("on", "off")}, turns)
    query = {}
    for hot in ("on", "off"):
        groups.product(hot)
        query[hot] = groups.receipt()["query"]
        if query[hot]["engine"] != "device" or query[hot]["hot_keys"]["on"] != (hot == "on"):
            raise RuntimeError(f"hot keys {hot}: not what was asked for: {query[hot].get('remark')}")
    line = {"device": name, "rows": query["on"]["rows_read"], "keys": keys, "skew": skew, "query": query,
            "on_seconds": times["on"], "off_seconds": times["off"]}
    print(f"  {name}, {keys} keys, {skew_name(skew)}: hot keys on {times['on'] * 1e3:.1f} ms, off "
          f"{times['off'] * 1e3:.1f} ms; hit rate {rate_of(query['on'], 'hit_rate')}, in local memory "
          f"{rate_of(query['on'], 'local_hit_rate')}", flush=True)
    return line


def hot(build, quick):
    """Device kernels with hot keys and without, on all that run them."""
    lines = []
    for name, vendor, profile, rows in HOT_DEVICES:
        machine = Machine(build, profile, vendor)
        machine.env.setdefault("RUSTICL_ENABLE", "llvmpipe")
        try:
            devices = machine.hacctl("devices", check=False)
            machine.settle()
            if devices.returncode != 0 or "ready" not in machine.hacctl("devices").stdout:
                print(f"  {name}: there is no such device here", flush=True)
                continue
            groups = Groups(machine, None, None)
            for keys, skew in HOT_LINES:
                groups.table("u32", min(rows, 1_000_000) if quick else rows, keys, skew)
                lines.append(hot_line(groups, name, keys, skew, 3))
            groups.close()
        except RuntimeError as error:
            print(f"  {name}: {error}", flush=True)
        finally:
            machine.close()
    return lines


# ---- all ------------------------------------------------------------------------------------------------


def run(build, quick, parts):
    results = {}
    work = {"words": words, "groups": group_lines, "cardinality": cardinality, "small": small, "hot": hot}
    for part in PARTS:
        if part in parts:
            print(f"{part}:", flush=True)
            results[part] = work[part](build, quick)
    if "cardinality" in results and not quick:
        draw_cardinality(results["cardinality"], ROOT / "docs" / "flows" / "mapreduce-cardinality.svg")
    return results


def ms(seconds):
    return f"{seconds * 1e3:.1f}" if seconds else ""


def words_markdown(r):
    out = ["## Word count", "", f"{r['bytes'] / 1e6:.0f} MB of English-like text ({r['words']} words, {r['distinct']} "
           "different ones), a file in the page cache. Of hac and the C++",
           "program the whole process counts, from its start to the result in a file; of DuckDB and Polars, in a process that",
           "is warm, the query to the result in memory, in the better of two ways. The streaming job ran on a tenth, times ten.",
           "", "| | ms | ÷ hac | goal |", "|---|--:|--:|--:|", f"| hac | {ms(r['seconds'])} | | |"]
    fastest = min(r["peers"].values())
    for name, seconds in r["peers"].items():
        goal = "2" if seconds == fastest else ""
        out.append(f"| {name} | {ms(seconds)} | {seconds / r['seconds']:.2f} | {goal} |")
    return out + [f"| Python, map, sort, reduce | {ms(r['streaming_seconds'])} | {r['streaming_ratio']:.1f} | 30 |", ""]


def groups_markdown(lines):
    out = ["## Group by", "", f"sum (f64) and count of {lines[0]['rows'] / 1e6:g} M rows in memory: hac's columns lie in pool "
           "memory, DuckDB's in its own table. Counted is from the",
           "call to the result as Arrow columns, on our side to having read them all.", "",
           "| line | hac ms | DuckDB ms | ratio | goal | engine |", "|---|--:|--:|--:|--:|---|"]
    for r in lines:
        ratio = f"{r['ratio']:.2f}" if r["ratio"] else ""
        out.append(f"| {r['line']} | {ms(r['seconds'])} | {ms(r['duckdb_seconds'])} | {ratio} | {r['goal'] or ''} | "
                   f"{r['query']['engine']} |")
    return out + [""]


def cardinality_markdown(r):
    out = ["## Time against cardinality", "", f"The same, uniform u32 keys; the steepest step is {r['steepest']:.2f} times. "
           "Drawn in docs/flows/mapreduce-cardinality.svg.", "", "| keys | hac ms | DuckDB ms |", "|--:|--:|--:|"]
    return out + [f"| {p['keys']} | {ms(p['seconds'])} | {ms(p['duckdb_seconds'])} |" for p in r["points"]] + [""]


def small_markdown(r):
    return ["## Queries never seen before", "", f"{r['rows']} rows of csv ({r['bytes']} bytes), no two queries alike, the "
            "daemon warm.", "", "| | p50 ms | p99 ms | goal |", "|---|--:|--:|--:|",
            f"| libhac, from memory | {r['p50_ms']:.3f} | {r['p99_ms']:.3f} | 5 |",
            f"| hacctl, from a file, the whole process | {r['hacctl_p50_ms']:.2f} | {r['hacctl_p99_ms']:.2f} | |", ""]


def rate_of(query, name):
    rate = query.get("hot_keys", {}).get(name)
    return "-" if rate is None else f"{rate * 100:.1f} %"


def hot_markdown(lines):
    out = ["## Hot keys", "", "Device kernels with hot keys and without, `--engine device --hot-keys on|off`: sum(key) and count(), which need no",
           "f64. *Hits* are rows behind the sample whose keys were chosen as hot, *local* those reduced in local memory, of other",
           "keys, too: lock-step kernels fill it up. *Promised* is the hot keys' part of the sample.", "",
           "| device | rows | keys | | on ms | off ms | off ÷ on | hot set | promised | hits | local |",
           "|---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|"]
    for r in lines:
        on = r["query"]["on"]
        out.append(f"| {r['device']} | {r['rows']} | {r['keys']} | {skew_name(r['skew'])} | {ms(r['on_seconds'])} | {ms(r['off_seconds'])} "
                   f"| {r['off_seconds'] / r['on_seconds']:.2f} | {on['hot_keys']['hot_set']} | {rate_of(on, 'sample_hit_rate')} "
                   f"| {rate_of(on, 'hit_rate')} | {rate_of(on, 'local_hit_rate')} |")
    return out + [""]


def markdown(results):
    parts = {"words": words_markdown, "groups": groups_markdown, "cardinality": cardinality_markdown,
             "small": small_markdown, "hot": hot_markdown}
    return [line for part in PARTS if results.get(part) for line in parts[part](results[part])]
