# SPDX-License-Identifier: Apache-2.0
"""The Python package beside NumPy and polars, in one process that takes turns; run.py calls it, for `./dev bench python`. Times
are those of the calls, from a NumPy array or a frame to the result in memory that Python reads. Answers are compared."""

import json
import os
import subprocess
import sys

from machine import ROOT, Machine
from run_query import seconds_of, take_turns

SORT_GOAL, GROUP_GOAL, CALL_GOAL = 3.0, 1.5, 150


def run(build, quick):
    """Lines that a process of its own measures, with the environment of a private daemon."""
    machine = Machine(build, seed=os.environ.get("HAC_TEST_SEED"))
    try:
        machine.hacctl("devices")
        machine.settle()
        packages = f"{build / 'bindings' / 'python'}:{ROOT / 'build' / 'python'}"
        out = subprocess.run([sys.executable, __file__, "--quick" if quick else "--full"], check=True, stdout=subprocess.PIPE,
                             text=True, env={**machine.env, "PYTHONPATH": packages}).stdout
    finally:
        machine.close()
    lines = json.loads(out)
    for line in lines:
        print(f"  {line['line']}: {line['ms']:.2f} ms, {line['peer']} {line['peer_ms']:.2f} ms, ratio {line['ratio']:.2f} "
              f"(goal {line['goal']})" if line["peer"] else f"  {line['line']}: {line['us']:.0f} µs (goal {line['goal']})", flush=True)
    return lines


def markdown(lines):
    if not lines:
        return []
    out = ["## The Python package", "", "| line | hac ms | peer | ms | ratio | goal |", "|---|--:|---|--:|--:|--:|"]
    out += [f"| {r['line']} | {r['ms']:.1f} | {r['peer']} | {r['peer_ms']:.1f} | {r['ratio']:.2f} | {r['goal']} |"
            for r in lines if r["peer"]]
    return out + ["", "| a call | µs | goal |", "|---|--:|--:|"] + [f"| {r['line']} | {r['us']:.0f} | {r['goal']} |"
                                                                     for r in lines if not r["peer"]] + [""]


def beside(name, peer, goal, ways, same, turns):
    results = {}

    def timed(key, work):
        seconds, results[key] = seconds_of(work)
        return seconds
    times = take_turns({key: lambda k=key, w=work: timed(k, w) for key, work in zip(("hac", peer), ways)}, turns)
    if not same(results["hac"], results[peer]):
        raise RuntimeError(f"{name}: the answers differ")
    return {"line": name, "ms": times["hac"] * 1e3, "peer": peer, "peer_ms": times[peer] * 1e3, "ratio": times[peer] / times["hac"],
            "goal": goal}


def measure(quick):
    import hac
    import numpy as np
    import polars as pl
    n, turns, random = 10**6 if quick else 10**7, 3 if quick else 7, np.random.default_rng(1)
    lines = []
    for kind in ("uint32", "int64", "float32", "float64"):
        keys = random.integers(0, 2**31, n).astype(kind) if "int" in kind else random.standard_normal(n).astype(kind)
        lines.append(beside(f"hac.sort, {n:,} random {kind}", "np.sort", SORT_GOAL, (lambda k=keys: hac.sort(k), lambda k=keys: np.sort(k)),
                            np.array_equal, turns))
    frame = pl.DataFrame({"k": random.integers(0, 1000, n), "v": random.standard_normal(n)})
    statement = "SELECT k, sum(v) AS s, count(*) AS n FROM t GROUP BY k ORDER BY k"
    lines.append(beside(f"group by of a polars frame of {n:,} rows, 1,000 groups", "polars", GROUP_GOAL,
                        (lambda: hac.sql(statement, t=frame).to_polars(),
                         lambda: frame.group_by("k").agg(pl.col("v").sum().alias("s"), pl.len().alias("n")).sort("k")),
                        lambda a, b: a["k"].equals(b["k"]) and np.allclose(a["s"], b["s"]) and (a["n"] == b["n"]).all(), turns))
    tiny = random.integers(0, 2**31, 1000).astype("uint32")
    calls = take_turns({"hac": lambda: seconds_of(lambda: [hac.sort(tiny) for _ in range(200)])[0]}, turns)
    lines.append({"line": "hac.sort of 1,000 uint32", "us": calls["hac"] * 1e6 / 200, "peer": None, "goal": CALL_GOAL})
    print(json.dumps(lines))


if __name__ == "__main__":
    measure(sys.argv[1] == "--quick")
