# SPDX-License-Identifier: Apache-2.0
"""The atlas: every operation on rows beside its peers, so that no operation falls off a cliff (atlas); run.py calls it.

H2O.ai's group-by questions and the other operations of queries, over generated files in Parquet (written by DuckDB, snappy) and
CSV, and JSON lines for some. hac and the peers take turns in one run, each from the statement to a written Parquet file: hac
as a process with a running daemon, DuckDB and Polars (streaming) inside this process, with as many threads as there are cores.
Every answer is compared with DuckDB's. A cell says the peer's time ÷ ours, for the better peer, and the same for processor
time beside DuckDB, which other programs on the machine disturb less. The page cache is warm.
"""

import contextlib
import os
import pathlib
import re
import statistics
import subprocess
import time

from machine import Machine
from run_query import CORES, duck, peers

TURNS = 5
H2O = """create table t as select 'id' || lpad((hash(i * 3) % 100 + 1)::varchar, 3, '0') as id1,
  'id' || lpad((hash(i * 5) % 100 + 1)::varchar, 3, '0') as id2, 'id' || lpad((hash(i * 7) % ({rows} // 100) + 1)::varchar, 10, '0') as id3,
  (hash(i * 11) % 100 + 1)::integer as id4, (hash(i * 13) % 100 + 1)::integer as id5, (hash(i * 17) % ({rows} // 100) + 1)::integer as id6,
  (hash(i * 19) % 5 + 1)::integer as v1, (hash(i * 23) % 15 + 1)::integer as v2, round(hash(i * 29)::double / 18446744073709551616 * 100, 6) as v3
  from range({rows}) r(i)"""
HITS = """create table t as select i as id, (hash(i * 3) % ({rows} // 6 + 1))::bigint as user_id, timestamp '2013-07-01' + to_seconds((i // 4)::bigint)
  as event_time, (hash(i * 5) % 60)::smallint as region, if(hash(i * 7) % 20 < 17, '', 'phrase ' || hash(i * 11) % 50000) as phrase,
  'https://host' || hash(i * 13) % 900 || '.example/' || hash(i * 17) % 200000 as url, (hash(i * 19) % 4000)::smallint as width,
  if(hash(i * 23) % 100 < 94, 0, hash(i * 29) % 60)::smallint as engine from range({rows}) r(i)"""
BRC = "create table t as select 'station ' || hash(i * 3) % 413 as station, round((hash(i * 5) % 1000) / 10.0 - 30, 1) as degrees from range({rows}) r(i)"

# name: (statement, or hac's and DuckDB's; the number of first columns whose order counts, None: none does; Polars': None: the
# same statement, "": none)
GROUPS = {
    "q1 sum v1 by id1": ("select id1, sum(v1) as v1 from t group by id1", None, None),
    "q2 sum v1 by id1, id2": ("select id1, id2, sum(v1) as v1 from t group by id1, id2", None, None),
    "q3 sum, mean by id3": ("select id3, sum(v1) as v1, avg(v3) as v3 from t group by id3", None, None),
    "q4 three means by id4": ("select id4, avg(v1) as v1, avg(v2) as v2, avg(v3) as v3 from t group by id4", None, None),
    "q5 three sums by id6": ("select id6, sum(v1) as v1, sum(v2) as v2, sum(v3) as v3 from t group by id6", None, None),
    "q6 median, sd by id4, id5": ("select id4, id5, median(v3) as m, stddev(v3) as s from t group by id4, id5", None, None),
    "q7 max - min by id3": ("select id3, max(v1) - min(v2) as r from t group by id3", None, None),
    "q8 largest two v3 by id6": (("select id6, v3 from t order by v3 desc limit 2 by id6",
                                  "select id6, v3 from t qualify row_number() over (partition by id6 order by v3 desc) <= 2"), None, ""),
    "q9 corr² by id2, id4": ("select id2, id4, corr(v1, v2) * corr(v1, v2) as r2 from t group by id2, id4", None, ""),
    "q10 sum, count by six keys": ("select id1, id2, id3, id4, id5, id6, sum(v3) as v3, count(*) as n from t "
                                   "group by id1, id2, id3, id4, id5, id6", None, None),
}
OTHERS = {
    "top 10, all columns": ("select * from t order by v3 desc limit 10", 9, None),
    "top 10, two columns": ("select id6, v3 from t order by v3 desc limit 10", 2, None),
    "top 10 by two keys": ("select id6, v3, id1 from t order by id6, v3 desc limit 10", 2, None),
    "top 1000 by a string": ("select id3, v3, id1 from t order by id3, v3 limit 1000", 2, None),
    "order by id6, two columns": ("select id6, v1 from t order by id6", 1, None),
    "order by id6, v3 desc, rows": ("select id6, v3, id1, id2, id3, id4, id5, v1, v2 from t order by id6, v3 desc", 2, None),
    "order by id3, rows": ("select id3, id1, id2, id4, id5, id6, v1, v2, v3 from t order by id3", 1, None),
    "count(distinct id6)": ("select count(distinct id6) as n from t", None, None),
    "count(distinct id3)": ("select count(distinct id3) as n from t", None, None),
    "distinct pairs": ("select distinct id1, id4 from t", None, None),
    "min, max of four": ("select min(v1) as a, max(v3) as b, min(id6) as c, max(id3) as d from t", None, None),
    "upper(id1) as key": ("select upper(id1) as u, sum(v1) as s from t group by upper(id1)", None, None),
    "upper(id3) as key": ("select upper(id3) as u, sum(v1) as s from t group by upper(id3)", None, None),
    "substr(id3) as key": ("select substr(id3, 1, 7) as u, sum(v1) as s from t group by substr(id3, 1, 7)", None, None),
    "like '%999%' of id3": ("select count(*) as n from t where id3 like '%999%'", None, None),
    "like '%99%' of id1": ("select count(*) as n from t where id1 like '%99%'", None, None),
    "case sum by id1": ("select id1, sum(case when v1 > 3 then v3 else 0 end) as s from t group by id1", None, None),
    "filter 1 %, all columns": ("select * from t where id4 = 7", None, None),
    "filter 50 %, two columns": ("select id6, v3 from t where v3 < 50", None, None),
    "stddev by 100": ("select id4, stddev(v3) as s from t group by id4", None, None),
    "quantile of all": (("select quantile(v3, 0.9) as q from t", "select quantile_cont(v3, 0.9) as q from t"), None, ""),
    "expression sum": ("select sum(v3 * (1 - v1 / 10.0) + v2) as s from t", None, None),
    "sum of floats by 64": ("select id4 % 64 as k, sum(v3) as s from t group by id4 % 64", None, None),
    "mode by 100": ("select id4, mode(v1) as m from t group by id4", None, ""),
    "corr by 10,000": ("select id4, id5, corr(v1, v3) as r from t group by id4, id5", None, None),
    "top 10 groups": ("select id6, sum(v3) as s from t group by id6 order by s desc limit 10", None, None),
    "first of 100": ("select * from t limit 100", "rows", ""),
}
HITS_LINES = {
    "rows that are not 0": ("select count(*) as n from t where engine <> 0", None, None),
    "sum, count, average": ("select sum(engine) as s, count(*) as n, avg(width) as w from t", None, None),
    "distinct users": ("select count(distinct user_id) as n from t", None, None),
    "engines": ("select engine, count(*) as n from t where engine <> 0 group by engine", None, None),
    "users by region": ("select region, count(distinct user_id) as n from t group by region", None, None),
    "phrases": ("select phrase, count(*) as c from t where phrase <> '' group by phrase", None, None),
    "users and phrases": ("select user_id, phrase, count(*) as n from t group by user_id, phrase", None, None),
    "one user": ("select * from t where user_id = 4711", None, None),
    "url like": ("select count(*) as n from t where url like '%host77%'", None, None),
    "phrases in time": ("select event_time, phrase from t where phrase <> '' order by event_time limit 10", 1, None),
    "urls": ("select url, count(*) as n from t group by url", None, None),
}


class Atlas:
    """One table in several formats, a daemon, and the peers."""

    def __init__(self, build, name, statement, rows, formats):
        self.name, self.rows = name, rows
        self.machine = Machine(build, seed=os.environ.get("HAC_TEST_SEED"))
        self.duckdb, self.polars, _ = peers()
        if self.duckdb is None:
            raise RuntimeError("without DuckDB there are no files and no answers")
        self.connection = duck(self.duckdb)
        make = self.duckdb.connect()
        make.execute(statement.format(rows=rows))
        self.paths = {}
        for kind in formats:
            path = self.paths[kind] = self.machine.directory / f"{name}.{kind}"
            options = {"parquet": "format parquet", "csv": "format csv, header", "jsonl": "format json"}[kind]
            make.execute(f"copy t to '{path}' ({options})")
        self.types = {name: kind for name, kind, *_ in make.execute("describe t").fetchall()}
        make.close()
        self.ours, self.theirs, self.polars_out = (self.machine.directory / f"{who}.parquet" for who in ("ours", "duckdb", "polars"))
        self.machine.hacctl("devices")
        self.machine.settle()

    # ---- processor time ----

    def processes(self):
        pid = self.machine.daemon_pid
        found = [pid]
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError):  # threads end
                found += map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_text(encoding="ascii").split())
        return found

    def cpu(self):
        """Of each process; the clock of another process is its number in a form of the kernel's."""
        times = {}
        for pid in self.processes():
            with contextlib.suppress(OSError):  # it has ended
                times[pid] = time.clock_gettime((~pid << 3) | 2)
        return times

    # ---- who takes part ----

    def hac(self, statement, kind):
        self.machine.daemon_pid = self.machine.daemon()
        before, children = self.cpu(), os.times()
        start = time.monotonic()
        command = [str(self.machine.build / "hacctl" / "hacctl"), "--quiet", "query", from_file(statement, f"'{self.paths[kind]}'"),
                   "-o", str(self.ours)]
        done = subprocess.run(command, env=self.machine.env, capture_output=True, text=True)
        seconds = time.monotonic() - start
        if done.returncode != 0:
            raise RuntimeError(f"{statement}: {done.stderr.strip()}")
        after = os.times()
        own = after.children_user + after.children_system - children.children_user - children.children_system
        return seconds, own + sum(cpu - before.get(pid, 0) for pid, cpu in self.cpu().items())

    def duck(self, statement, kind):
        reader = {"parquet": "read_parquet", "csv": "read_csv", "jsonl": "read_json_auto"}[kind]
        sql = f"copy ({from_file(statement, f'{reader}({str(self.paths[kind])!r})')}) to '{self.theirs}' (format parquet, codec zstd)"
        return timed(lambda: self.connection.execute(sql))

    def polar(self, statement, kind):
        scan = {"parquet": self.polars.scan_parquet, "csv": self.polars.scan_csv, "jsonl": self.polars.scan_ndjson}[kind](self.paths[kind])
        context = self.polars.SQLContext({"t": scan})
        return timed(lambda: context.execute(statement).sink_parquet(self.polars_out, engine="streaming"))

    # ---- answers ----

    def columns(self, path):
        return self.connection.execute(f"describe select * from '{path}'").fetchall()

    def answer(self, path, order, inexact):
        """What is compared: exact columns by their hashes, row by row, and sums of floats, each with a factor of its row."""
        columns = [(f'"{name}"', kind) for name, kind, *_ in self.columns(path)][:len(inexact)]
        exact = [f"{name}::hugeint" if "INT" in kind else f"{name}::varchar"
                 for (name, kind), float_ in zip(columns, inexact) if not float_] + (["file_row_number"] if order is not None else [])
        key = f"hash({', '.join(exact)})" if exact else "0"
        floats = [f"sum({name}::double * (1 + {key} % 97))" for (name, _), float_ in zip(columns, inexact) if float_]
        row = self.connection.execute(f"select count(*), bit_xor({key}), {', '.join(floats) or '0'} "
                                      f"from read_parquet('{path}', file_row_number=true)").fetchone()
        return row[:2], row[2:]

    def compare(self, name, who, path, order):
        """DuckDB writes sums of integers as floats. `order`: so many columns, row by row; "rows": any rows are an answer."""
        pairs = list(zip(self.columns(path), self.columns(self.theirs)))
        pairs = [] if order == "rows" else pairs[:order]
        inexact = [kind in ("DOUBLE", "FLOAT") or other in ("DOUBLE", "FLOAT") for (_, kind, *_), (_, other, *_) in pairs]
        order = None if order == "rows" else order
        (exact, sums), (wanted, wanted_sums) = self.answer(path, order, inexact), self.answer(self.theirs, order, inexact)
        close = all(a == b or (a is not None and b is not None and abs(a - b) <= 1e-7 * max(abs(a), abs(b)))
                    for a, b in zip(sums, wanted_sums))
        if exact != wanted or not close:
            raise RuntimeError(f"{name}: the answer of {who} is not DuckDB's: {exact}, {sums} and {wanted}, {wanted_sums}")

    def with_polars(self, name, statement, kind, order):
        """Whether Polars takes part: it has the statement, and the same answer."""
        try:
            self.polar(statement, kind)
        except (self.polars.exceptions.PolarsError, NotImplementedError) as problem:
            print(f"    without Polars: {str(problem).splitlines()[0][:90]}", flush=True)
            return False
        try:
            self.compare(name, "Polars", self.polars_out, order)
        except (RuntimeError, self.duckdb.Error) as problem:
            print(f"    without Polars, which answers otherwise: {str(problem)[:90]}", flush=True)
            return False
        return True

    def line(self, name, kind, what, turns):
        statement, order, polars = what
        ours, theirs = (statement, statement) if isinstance(statement, str) else statement
        ways = {"hac": lambda: self.hac(ours, kind), "DuckDB": lambda: self.duck(theirs, kind)}
        for way in ways.values():
            way()
        self.compare(name, "hac", self.ours, order)
        if self.polars is not None and polars is None and self.with_polars(name, statement, kind, order):
            ways["Polars"] = lambda: self.polar(statement, kind)
        times = {who: [] for who in ways}
        for _ in range(turns):
            for who, way in ways.items():
                times[who].append(way())
        wall = {who: statistics.median(t[0] for t in all_) for who, all_ in times.items()}
        cpu = {who: statistics.median(t[1] for t in all_) for who, all_ in times.items()}
        best = min(seconds for who, seconds in wall.items() if who != "hac")
        result = {"table": self.name, "rows": self.rows, "line": name, "format": kind, "seconds": wall, "cpu": cpu,
                  "ratio": best / wall["hac"], "cpu_ratio": cpu["DuckDB"] / cpu["hac"]}
        print(f"  {self.name}, {kind}, {name}: " + ", ".join(f"{who} {seconds * 1e3:.0f} ms" for who, seconds in wall.items()) +
              f"; ratio {result['ratio']:.2f}, processor time {result['cpu_ratio']:.2f}", flush=True)
        return result

    def try_line(self, name, kind, what, turns):
        """A line that fails is in the table, too."""
        try:
            return self.line(name, kind, what, turns)
        except RuntimeError as problem:
            print(f"  {self.name}, {kind}, {name}: {problem}", flush=True)
            return {"table": self.name, "rows": self.rows, "line": name, "format": kind, "failed": str(problem), "ratio": 0}

    def close(self):
        self.machine.close()


def from_file(statement, source):
    """The statement with `source` as its table."""
    return re.sub(r"\bfrom t\b", lambda _: f"from {source}", statement)


def timed(work):
    cpu, start = time.process_time(), time.monotonic()
    work()
    return time.monotonic() - start, time.process_time() - cpu


def tables(rows, quick):
    """(name, statement, rows, {format: lines})"""
    csv_groups = {name: line for name, line in GROUPS.items() if name[:2] not in ("q6", "q9")}
    some = ("top 10, all columns", "order by id6, two columns", "filter 1 %, all columns", "upper(id1) as key")
    csv = {**csv_groups, **{name: OTHERS[name] for name in some}}
    jsonl = {name: GROUPS[name] for name in ("q1 sum v1 by id1", "q5 three sums by id6")}
    brc = {"min, mean, max by station": ("select station, min(degrees) as low, avg(degrees) as mean, max(degrees) as high from t "
                                         "group by station", None, None)}
    yield "H2O", H2O, rows, {"parquet": {**GROUPS, **OTHERS}, "csv": csv, **({} if quick else {"jsonl": jsonl})}
    yield "hits", HITS, rows // 2, {"parquet": HITS_LINES}
    yield "1BRC", BRC, 3 * rows if not quick else rows, {"csv": brc}


def run(build, quick, rows=None, only=None):
    rows = rows or (2_000_000 if quick else 10_000_000)
    wanted = re.compile(only or "")
    lines, turns = [], 3 if quick else TURNS
    for name, statement, n, formats in tables(rows, quick):
        formats = {kind: {line: what for line, what in some.items() if wanted.search(f"{name}, {kind}, {line}")}
                   for kind, some in formats.items()}
        formats = {kind: some for kind, some in formats.items() if some}
        if not formats:
            continue
        atlas = Atlas(build, name, statement, n, formats)
        try:
            for kind, some in formats.items():
                lines += [atlas.try_line(line, kind, what, turns) for line, what in some.items()]
        finally:
            atlas.close()
    return {"lines": lines}


def cell(ratio):
    return f"{ratio:.2f}" if ratio >= 1 else f"**{ratio:.2f}**"


def markdown(results):
    if not results:
        return []
    slower = sum(r["ratio"] < 1 for r in results["lines"])
    out = ["## Atlas", "", f"{len(results['lines'])} operations, {slower} of them slower than the better peer (bold). From the statement "
           f"to a Parquet file; {CORES} threads each; the ratio is the better peer's time ÷ ours, processor time is that of DuckDB ÷ ours."]
    table = None
    for r in results["lines"]:
        if table != (r["table"], r["format"]):
            table = r["table"], r["format"]
            out += ["", f"### {r['table']}, {r['format']}, {r['rows'] / 1e6:g} M rows", "",
                    "| operation | hac ms | DuckDB ms | Polars ms | ratio | hac CPU ms | DuckDB CPU ms | CPU ratio |",
                    "|---|--:|--:|--:|--:|--:|--:|--:|"]
        if "failed" in r:
            out.append(f"| {r['line']} | **fails**: {r['failed'][:80]} | | | | | | |")
            continue
        wall, cpu = r["seconds"], r["cpu"]
        polars = f"{wall['Polars'] * 1e3:.0f}" if "Polars" in wall else ""
        out.append(f"| {r['line']} | {wall['hac'] * 1e3:.0f} | {wall['DuckDB'] * 1e3:.0f} | {polars} | {cell(r['ratio'])} | "
                   f"{cpu['hac'] * 1e3:.0f} | {cpu['DuckDB'] * 1e3:.0f} | {cell(r['cpu_ratio'])} |")
    return [*out, ""]
