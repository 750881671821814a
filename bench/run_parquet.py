# SPDX-License-Identifier: Apache-2.0
"""The benchmark of queries over Parquet files (parquet); run.py calls it. Product and peers take turns in one run.

The file is like TPC-H's lineitem, written by DuckDB (snappy); the peers are DuckDB, Polars and pyarrow with as many
threads as there are cores. Every answer is compared with DuckDB's. The page cache is warm.
"""

import csv
import io
import json
import math
import subprocess

import run_decode
from machine import Machine
from run_query import duck, peers, seconds_of, take_turns

LINEITEM = """
select i // 4 + 1 as l_orderkey, hash(i * 7) % 2000000 + 1 as l_partkey, hash(i * 11) % 100000 + 1 as l_suppkey,
  cast(i % 4 + 1 as integer) as l_linenumber,
  cast(hash(i * 13) % 50 + 1 as decimal(15, 2)) as l_quantity,
  cast((hash(i * 17) % 9500000 + 90000) / 100.0 as decimal(15, 2)) as l_extendedprice,
  cast((hash(i * 19) % 11) / 100.0 as decimal(15, 2)) as l_discount,
  cast((hash(i * 23) % 9) / 100.0 as decimal(15, 2)) as l_tax,
  case when d > date '1995-06-17' then 'N' when hash(i * 29) % 2 = 0 then 'A' else 'R' end as l_returnflag,
  case when d > date '1995-06-17' then 'O' else 'F' end as l_linestatus,
  d as l_shipdate, cast(d + cast(hash(i * 31) % 60 as integer) - 30 as date) as l_commitdate,
  cast(d + cast(hash(i * 37) % 30 as integer) + 1 as date) as l_receiptdate,
  ['DELIVER IN PERSON', 'COLLECT COD', 'NONE', 'TAKE BACK RETURN'][cast(hash(i * 41) % 4 as bigint) + 1] as l_shipinstruct,
  ['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'][cast(hash(i * 43) % 7 as bigint) + 1] as l_shipmode,
  'comment ' || hash(i * 47) % 1000000 as l_comment
from (select i, cast(date '1992-01-02' + cast(hash(i * 53) % 2526 as integer) as date) as d from range({rows}) t(i))
"""

Q1 = ("l_shipdate <= date '1998-09-02'", "l_returnflag, l_linestatus",
      "sum(l_quantity) as sum_qty, sum(l_extendedprice) as sum_base, sum(l_extendedprice * (1 - l_discount)) as sum_disc, "
      "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) as sum_charge, avg(l_quantity) as avg_qty, "
      "avg(l_extendedprice) as avg_price, avg(l_discount) as avg_disc, count() as n", "l_returnflag, l_linestatus")
Q6 = ("l_shipdate >= date '1994-01-01' and l_shipdate < date '1995-01-01' and l_discount between 0.05 and 0.07 and "
      "l_quantity < 24", "", "sum(l_extendedprice * l_discount) as revenue", "")
LINES = {  # name: (query as hac has it, goal)
    "TPC-H Q6": (Q6, 1.0),
    "TPC-H Q1": (Q1, 1.2),
    "sum of a column": (("", "", "sum(l_extendedprice) as s", ""), 0.8),
    "filter of a dictionary string": (("l_shipmode = 'AIR'", "", "count() as n, sum(l_quantity) as q", ""), 1.0),
    "group by, 1 M keys and more": (("", "l_partkey", "sum(l_quantity) as q, count() as n", ""), 2.0),
}


def sql_of(query, path):
    where, group, select, order = query
    text = f"select {group + ', ' if group else ''}{select.replace('count()', 'count(*)')} from '{path}'"
    return text + (f" where {where}" if where else "") + (f" group by {group}" if group else "") + (
        f" order by {order}" if order else "")


def polars_of(polars, name, path):
    """The same in Polars' own words, or None."""
    c, lit = polars.col, polars.lit
    date = polars.date
    scan = polars.scan_parquet(path)
    price, discount = c("l_extendedprice"), c("l_discount")
    ways = {
        "TPC-H Q6": lambda: scan.filter((c("l_shipdate") >= date(1994, 1, 1)) & (c("l_shipdate") < date(1995, 1, 1)) &
                                        discount.is_between(lit("0.05").cast(polars.Decimal(15, 2)),
                                                            lit("0.07").cast(polars.Decimal(15, 2))) &
                                        (c("l_quantity") < 24)).select((price * discount).sum()),
        "TPC-H Q1": lambda: scan.filter(c("l_shipdate") <= date(1998, 9, 2)).group_by("l_returnflag", "l_linestatus").agg(
            c("l_quantity").sum().alias("q"), price.sum().alias("p"), (price * (1 - discount)).sum().alias("d"),
            (price * (1 - discount) * (1 + c("l_tax"))).sum().alias("t"), c("l_quantity").mean().alias("aq"),
            price.mean().alias("ap"), discount.mean().alias("ad"), polars.len()),
        "sum of a column": lambda: scan.select(price.sum()),
        "filter of a dictionary string": lambda: scan.filter(c("l_shipmode") == "AIR").select(
            polars.len(), c("l_quantity").sum()),
        "group by, 1 M keys and more": lambda: scan.group_by("l_partkey").agg(c("l_quantity").sum(), polars.len()),
    }
    return lambda: ways[name]().collect(engine="streaming")


def arrow_of(pyarrow, name, path):
    """pyarrow's, for what it does without work of one's own."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
    if name == "sum of a column":
        return lambda: pc.sum(pq.read_table(path, columns=["l_extendedprice"])["l_extendedprice"])
    if name == "filter of a dictionary string":
        def work():
            table = pq.read_table(path, columns=["l_shipmode", "l_quantity"], filters=[("l_shipmode", "=", "AIR")])
            return table.num_rows, pc.sum(table["l_quantity"])
        return work
    if name == "group by, 1 M keys and more":
        return lambda: pq.read_table(path, columns=["l_partkey", "l_quantity"]).group_by("l_partkey").aggregate(
            [("l_quantity", "sum"), ("l_quantity", "count")])
    return None


class Client:
    """bench_query: queries without a process for each."""

    def __init__(self, machine):
        self.child = subprocess.Popen([machine.build / "bench" / "bench_query"], env=machine.env, text=True,
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        answer = self.child.stdout.readline()
        if not answer:
            raise RuntimeError(f"bench_query: {line}: no answer")
        return json.loads(answer)

    def query(self, path, query, form="table"):
        where, group, select, order = query
        self.last = self.ask(f"parquet {form} " + "\t".join((str(path), where, group, select, order)))
        return self.last["seconds"]

    def receipt(self):
        return self.ask(f"receipt {self.last['job']}")

    def close(self):
        self.child.stdin.close()
        self.child.wait()


def close_to(a, b):
    try:
        return math.isclose(float(a), float(b), rel_tol=1e-9)
    except ValueError:
        return a == str(b)


def compare(name, text, wanted):
    rows = list(csv.reader(io.StringIO(text)))[1:]
    rows, wanted = sorted(rows), sorted([list(map(str, r)) for r in wanted])
    if len(rows) != len(wanted) or any(not close_to(a, b) for x, y in zip(rows, wanted) for a, b in zip(x, y)):
        raise RuntimeError(f"{name}: hac's answer is not DuckDB's: {rows[:2]} and {wanted[:2]}")


def measure(client, connection, polars, pyarrow, path, name, turns):
    query, goal = LINES[name]
    sql = sql_of(query, path)
    ways = {"hac": lambda: client.query(path, query),
            "DuckDB": lambda: seconds_of(lambda: connection.sql(sql).to_arrow_table())[0]}
    if polars:
        ways["Polars"] = lambda work=polars_of(polars, name, path): seconds_of(work)[0]
    work = arrow_of(pyarrow, name, path) if pyarrow else None
    if work:
        ways["pyarrow"] = lambda: seconds_of(work)[0]
    times = take_turns(ways, turns)
    receipt = client.receipt()["query"]
    client.query(path, query, "csv")
    compare(name, client.last["result"], connection.sql(sql).fetchall())
    ours = times.pop("hac")
    ratio = min(times.values()) / ours
    print(f"  {name}: {ours * 1e3:.1f} ms; " + ", ".join(f"{n} {s * 1e3:.1f}" for n, s in times.items())
          + f"; ratio {ratio:.2f} (goal {goal})", flush=True)
    return {"line": name, "seconds": ours, "peers": times, "ratio": ratio, "goal": goal, "query": receipt}


def convert(machine, connection, rows, turns):
    """CSV → Parquet, file to file."""
    source, ours, theirs = (machine.directory / n for n in ("lines.csv", "ours.parquet", "theirs.parquet"))
    connection.execute(f"copy ({LINEITEM.format(rows=rows)}) to '{source}' (format csv, header)")
    schema = ("l_orderkey:i64,l_partkey:i64,l_suppkey:i64,l_linenumber:i32,l_quantity:decimal(15,2),"
              "l_extendedprice:decimal(15,2),l_discount:decimal(15,2),l_tax:decimal(15,2),l_returnflag:string,"
              "l_linestatus:string,l_shipdate:date,l_commitdate:date,l_receiptdate:date,l_shipinstruct:string,"
              "l_shipmode:string,l_comment:string")
    types = ", ".join("'{}': '{}'".format(*part.split(":")) for part in schema.replace("(15,2)", "*").split(","))
    for ours_type, theirs_type in (("decimal*", "DECIMAL(15,2)"), ("i64", "BIGINT"), ("i32", "INTEGER"), ("string", "VARCHAR")):
        types = types.replace(f": '{ours_type}'", f": '{theirs_type}'")
    product = ["--quiet", "parquet", "convert", str(source), str(ours), "--schema", schema, "--codec", "snappy"]
    copy = f"copy (select * from read_csv('{source}', header=true, columns={{{types}}})) to '{theirs}' (format parquet)"
    times = take_turns({"hac": lambda: seconds_of(lambda: machine.hacctl(*product))[0],
                        "DuckDB": lambda: seconds_of(lambda: connection.execute(copy))[0]}, turns)
    different = connection.sql(f"select count(*) from (from '{ours}' except all from '{theirs}')").fetchall()[0][0]
    if different or connection.sql(f"select count(*) from '{ours}'").fetchall()[0][0] != rows:
        raise RuntimeError(f"convert: {different} rows of {rows} differ")
    ratio = times["DuckDB"] / times["hac"]
    print(f"  csv of {source.stat().st_size / 1e6:.0f} MB to Parquet: {times['hac'] * 1e3:.0f} ms, DuckDB "
          f"{times['DuckDB'] * 1e3:.0f} ms, ratio {ratio:.2f} (goal 1)", flush=True)
    return {"line": "csv to Parquet", "rows": rows, "bytes": source.stat().st_size, "seconds": times["hac"],
            "peers": {"DuckDB": times["DuckDB"]}, "ratio": ratio, "goal": 1.0}


def run(build, quick):
    rows, turns = (1_000_000, 3) if quick else (10_000_000, 7)
    duckdb, polars, pyarrow = peers()
    if not duckdb:
        print("  without DuckDB there is no file to measure", flush=True)
        return {}
    machine = Machine(build)
    try:
        connection = duck(duckdb)
        path = machine.directory / "lineitem.parquet"
        connection.execute(f"copy ({LINEITEM.format(rows=rows)}) to '{path}' (format parquet)")
        machine.hacctl("devices")
        machine.settle()
        client = Client(machine)
        lines = [measure(client, connection, polars, pyarrow, path, name, turns) for name in LINES]
        client.close()
        lines.append(convert(machine, connection, rows // 5, 3))
        decode = run_decode.run(build, connection, pyarrow, quick) if pyarrow else []
        return {"rows": rows, "bytes": path.stat().st_size, "lines": lines, "decode": decode}
    finally:
        machine.close()


def markdown(results):
    if not results:
        return []
    out = ["## Parquet", "", f"{results['rows'] / 1e6:g} M rows like TPC-H's lineitem, written by DuckDB (snappy, "
           f"{results['bytes'] / 1e6:.0f} MB), in the page cache; from the call to the result.", "",
           "| line | hac ms | DuckDB ms | Polars ms | pyarrow ms | ratio to the best | goal |",
           "|---|--:|--:|--:|--:|--:|--:|"]
    for r in results["lines"]:
        peers_ms = " | ".join(f"{r['peers'][n] * 1e3:.1f}" if n in r["peers"] else "" for n in ("DuckDB", "Polars", "pyarrow"))
        out.append(f"| {r['line']} | {r['seconds'] * 1e3:.1f} | {peers_ms} | {r['ratio']:.2f} | {r['goal']} |")
    return out + [""] + run_decode.markdown(results.get("decode"))
