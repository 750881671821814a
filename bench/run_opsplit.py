# SPDX-License-Identifier: Apache-2.0
"""The benchmark of logic files (opsplit); run.py calls it. Product and peers take turns in one run.

k-means and PageRank are docs/examples with inputs of their own and a fixed number of rounds. Peers are peer_opsplit.c (plain
loops with OpenMP) and peer_opsplit.py (NumPy, SciPy); their answers are compared. Every time is without reading the input
and writing the result: of the product as its receipt says, and of a round as its process log says. Processor time, which is
what a machine that is not quiet can compare, is of a peer likewise; of the product it is all that hacctl, hacd and executors
took, with reading the input.
"""

import array
import json
import math
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys

from machine import HERE, ROOT, Machine
from run_splice import Clock, used

CORES = os.cpu_count()
EXAMPLES = ROOT / "docs" / "examples"
PROFILE = """name: core
match: {{platform: "Portable Computing Language", type: cpu}}
kind: cpu
executors: [{executors}]
memory: {{host: true}}
"""
# What root, and more ranks than Open MPI counts cores, need.
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_btl_base_warn_component_unused": "0"}
KEYS = ("seconds", "round_seconds", "processor_seconds")
COLUMNS, CENTROIDS = 4, 10
SIZES = {True: (100_000, 10, 20), False: (1_000_000, 20, 50)}  # --quick: points and links, rounds of k-means, of PageRank

LOOP = """name: loop
vectors:
  round: {{template: Var, type: i64, value: 0}}
  x: {{template: FixValueVector, type: f64, value: 1.25, rows: {rows}}}
  sums: {{template: FixValueVector, type: f64, value: 0, rows: 8}}
operators:
  - while: {{condition: "round < {rounds}", rounds: {rounds}}}
    do:
      - for: {{index: i, from: 0, to: 8, split: 2, collect: {{s: sums}}}}
        do:
          - map: {{expr: "{expression}", out: y}}
          - reduce: {{in: y, function: sum, out: s}}
      - let: {{round: "round + 1"}}
outputs: {{sums: {{columns: {{sum: sums}}}}}}
"""
LOOPS = {  # name: (expression of an element, rows and with --quick, goal)
    "compute-bound": ("sqrt(1.5 + " * 16 + "x * i" + ")" * 16, (1 << 20, 1 << 17), 1.8),
    "bandwidth-bound": ("x + i", (1 << 22, 1 << 20), 1.05),
}
TINY = """name: tiny
vectors:
  x: {{template: FixValueVector, type: f64, value: 1, rows: 64}}
operators:
  - while: {{condition: "all > 0", rounds: {rounds}}}
    do:
      - map: {{expr: "x * 1.0", out: x}}
      - reduce: {{in: x, function: sum, out: all}}
outputs: {{x: {{columns: {{x: x}}}}}}
"""


def altered(name, changes):
    """An example's text; what is to be changed has to be in it."""
    text = (EXAMPLES / name).read_text()
    for pattern, new in changes.items():
        text, n = re.subn(pattern, lambda _: new, text, flags=re.DOTALL)
        if n != 1:
            raise RuntimeError(f"{name} has {n} times what is to be changed: {pattern}")
    return text


def k_means_logic(rounds):
    names = [f"x{i}" for i in range(COLUMNS)]
    schema = ",".join(f"{name}:f64" for name in names)
    return altered("k-means.yaml", {
        r"parse: csv\n    schema: \"[^\"]*\"\n    matrix: [^\n]*": f'parse: fixed\n    schema: "{schema}"\n'
                                                                 f'    matrix: {{points: [{", ".join(names)}]}}',
        r"value: 3\}": f"value: {CENTROIDS}}}", r"moved > 0\", rounds: 100": f'moved >= 0", rounds: {rounds}',
        r"\n  clusters: [^\n]*": ""})


def pagerank_logic(rounds):
    return altered("pagerank.yaml", {r"parse: csv, delimiter: \" \", header: false": "parse: fixed",
                                     r"residual > 1e-12\", rounds: 500": f'residual >= 0", rounds: {rounds}',
                                     r"format: csv, columns: \{node: node, rank: rank\}": "format: raw, columns: {rank: rank}",
                                     r", split: 4, partitioner: range": ""})  # one device: components are only more tasks


# ---- running --------------------------------------------------------------------------------------------


def round_of(log):
    """Seconds of a round: the process log has them at the end of each; of very many it keeps the first ones."""
    ends = re.findall(r"round \d+: .*, ([0-9.]+) s since the loop began", log)
    if not ends:
        raise RuntimeError(f"no rounds in the process log: {log[-500:]}")
    return float(ends[-1]) / len(ends)


def logic(machine, name, text, inputs=(), options=()):
    """Runs a logic file: {seconds, round_seconds, processor_seconds}; its results are in DIR/out."""
    path, receipt, out = (machine.directory / word for word in (f"{name}.yaml", "receipt.json", "out"))
    path.write_text(text)
    shutil.rmtree(out, ignore_errors=True)
    words = [word for key, file in inputs for word in ("--input", f"{key}={file}")]
    clock = Clock(machine)
    clock.daemon = machine.daemon()
    before = clock.total() + used(resource.RUSAGE_CHILDREN)
    done = machine.hacctl("opsplit", "run", str(path), *words, "-o", str(out), "--receipt", str(receipt), *options, check=False)
    processors = clock.total() + used(resource.RUSAGE_CHILDREN) - before
    if done.returncode != 0:
        raise RuntimeError(f"{name}: {done.stderr[-500:]}")
    found = json.loads(receipt.read_text())
    return {"seconds": found["seconds"] - found["loading_seconds"] - found["writing_seconds"],
            "round_seconds": round_of(machine.hacctl("log", str(found["job"])).stdout), "processor_seconds": processors}


def answer_of(machine, name):
    """As the peers give it."""
    if name == "k-means":
        rows = (machine.directory / "out" / "centroids.csv").read_text().splitlines()[1:]
        return [float(field) for row in rows for field in row.split(",")[:COLUMNS]]
    ranks = array.array("d", (machine.directory / "out" / "ranks.bin").read_bytes())
    return [math.fsum(rank * rank for rank in ranks)]


def peer(command, *words):
    environment = {**os.environ, "OMP_NUM_THREADS": str(CORES)}
    done = subprocess.run([*map(str, command), *map(str, words)], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{words}: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def take_turns(ways, turns):
    """{name: {seconds, round_seconds, processor_seconds}} of medians; the first turn is warm-up, and its results are {name: result}."""
    times, first = {name: [] for name in ways}, {}
    for turn in range(turns + 1):
        for name, work in ways.items():
            result = work()
            if turn == 0:
                first[name] = result
            else:
                times[name].append(result)
    medians = {name: {key: statistics.median(t[key] for t in found) for key in KEYS}
               for name, found in times.items()}
    return medians, first


# ---- algorithms beside NumPy, SciPy and OpenMP ------------------------------------------------------------


def peers_of(build, name, path, words):
    """The goal is to be as fast as these; those after them are only told."""
    program = [build / "bench" / "peer_opsplit"]
    found = {"OpenMP": lambda: peer(program, name, path, *words)}
    if name == "pagerank":
        found["OpenMP, no values"] = lambda: peer(program, "links", path, *words)
    module, title = ("numpy", "NumPy") if name == "k-means" else ("scipy", "SciPy")
    if all((ROOT / "build" / "python" / package).is_dir() for package in ("numpy", module)):
        found[title] = lambda: peer([sys.executable, HERE / "peer_opsplit.py"], name, path, *words)
    else:
        print(f"  SKIPPED: {title} is not there: measured without it", flush=True)
    return found


def algorithm(machine, title, name, path, text, words, turns):
    key = "iris" if name == "k-means" else "edges"
    answers = []

    def product():
        result = logic(machine, name, text, [(key, path)])
        answers.append(answer_of(machine, name))
        return result

    medians, first = take_turns({"hac": product, **peers_of(machine.build, name, path, words)}, turns)
    for other, result in first.items():
        if other != "hac" and not all(math.isclose(a, b, rel_tol=1e-6) for a, b in zip(answers[0], result["answer"], strict=True)):
            raise RuntimeError(f"{title}: {other} has another answer: {result['answer'][:8]}, not {answers[0][:8]}")
    line = {"line": title, "times": medians, "ratio": {
        other: {key: t[key] / medians["hac"][key] for key in t} for other, t in medians.items() if other != "hac"}}
    print(f"  {title}: " + "; ".join(f"{n} {t['seconds'] * 1e3:.0f} ms, a round {t['round_seconds'] * 1e3:.2f} ms, "
                                     f"{t['processor_seconds'] * 1e3:.0f} ms of processors"
                                     + (" (" + ", ".join(f"{line['ratio'][n][key]:.2f}" for key in KEYS) + ")"
                                        if n != "hac" else "") for n, t in medians.items()), flush=True)
    return line


def facebook(machine):
    """The links of facebook_combined.txt in fixed records, or None."""
    source = pathlib.Path(os.environ.get("HAC_TEST_DATA", ""), "data", "facebook_combined.txt")
    if "HAC_TEST_DATA" not in os.environ or not source.exists():
        print("  SKIPPED: facebook_combined.txt is not there (HAC_TEST_DATA says where)", flush=True)
        return None
    path = machine.directory / "facebook"
    path.write_bytes(array.array("q", map(int, source.read_text().split())).tobytes())
    return path


def make(machine, kind, *words):
    path = machine.directory / kind
    with open(path, "wb") as file:
        subprocess.run([machine.build / "bench" / "make_input", kind, *map(str, words)], stdout=file, check=True)
    return path


def algorithms(machine, quick, turns):
    rows, n, steps = SIZES[quick]
    lines = [algorithm(machine, f"k-means, {rows} points of {COLUMNS}, {CENTROIDS} centroids, {n} rounds", "k-means",
                       make(machine, "points-fixed", rows, COLUMNS, 0), k_means_logic(n), (COLUMNS, CENTROIDS, n), turns)]
    graphs = [(f"{rows} links of {rows // 10} nodes", make(machine, "edges-fixed", rows, rows // 10), steps),
              ("facebook_combined.txt", facebook(machine), 4 * steps)]
    return lines + [algorithm(machine, f"PageRank, {title}, {n} rounds", "pagerank", path, pagerank_logic(n), (n,), turns)
                    for title, path, n in graphs if path]


# ---- loops, rounds, ranks -------------------------------------------------------------------------------


def cores(build, seed, *numbers):
    """A machine with an executor of one thread on each of these cores, and the kernels of another."""
    executors = ", ".join(f"{{threads: 1, affinity: [{core}], group: core{core}}}" for core in numbers)
    machine = Machine(build, PROFILE.format(executors=executors), seed=seed)
    machine.calibrate()
    return machine


def loops(machine, quick, turns):
    """Sub-loops on two executors, and on either alone."""
    lines = []
    for name, (expression, rows, goal) in LOOPS.items():
        text = LOOP.format(expression=expression, rows=rows[quick], rounds=4 if quick else 10)
        ways = {"both": (), "core.0": ("--devices", "core.0"), "core.1": ("--devices", "core.1")}
        medians, _ = take_turns({who: lambda o=options: logic(machine, name, text, options=o) for who, options in ways.items()},
                                turns)
        times = {who: t["round_seconds"] for who, t in medians.items()}
        lines.append({"line": name, "times": times, "goal": goal, "speed_up": min(times["core.0"], times["core.1"]) / times["both"]})
        print(f"  loop of two sub-loops, {name}: {times['both'] * 1e3:.2f} ms, alone {times['core.0'] * 1e3:.2f} and "
              f"{times['core.1'] * 1e3:.2f}: speed-up {lines[-1]['speed_up']:.2f} (goal {goal})", flush=True)
    return lines


def rounds(machine, quick, turns):
    """What a round costs beside its work, in µs: of two sub-operators, and of PageRank's five on ten nodes."""
    n = 200 if quick else 2000
    ring = machine.directory / "ring"
    ring.write_bytes(array.array("q", [node for i in range(10) for node in (i, (i + 1) % 10)]).tobytes())
    ways = {"map, reduce": lambda: logic(machine, "tiny", TINY.format(rounds=n)),
            "PageRank's five": lambda: logic(machine, "pagerank", pagerank_logic(n), [("edges", ring)])}
    medians, _ = take_turns(ways, turns)
    lines = [{"line": name, "us": t["round_seconds"] * 1e6, "processor_us": t["processor_seconds"] / n * 1e6}
             for name, t in medians.items()]
    for line in lines:
        print(f"  a round of {line['line']}, tiny vectors: {line['us']:.0f} µs, {line['processor_us']:.0f} µs of processors (goal 200)",
              flush=True)
    return lines


def as_ranks(machines, name, text, inputs):
    """The same by mpirun, bound to a core each; rank i has the daemon of the i-th machine."""
    directory = machines[0].directory
    wrapper, path, out = directory / "as_rank", directory / f"{name}.yaml", directory / "out"
    lines = ["#!/bin/sh", "case $OMPI_COMM_WORLD_RANK in"]
    for i, machine in enumerate(machines):
        lines.append(f"{i}) " + " ".join(f"export {k}='{v}';" for k, v in machine.env.items() if k.startswith("XDG_")) + " ;;")
    wrapper.write_text("\n".join([*lines, "esac", 'exec "$@"', ""]))
    wrapper.chmod(0o755)
    path.write_text(text)
    shutil.rmtree(out, ignore_errors=True)
    words = [word for key, file in inputs for word in ("--input", f"{key}={file}")]
    done = subprocess.run(["mpirun", "-n", str(len(machines)), "--bind-to", "core", str(wrapper),
                           str(machines[0].build / "backends" / "mpi" / "hac-mpi"), "--log", "-", str(path), *words, "-o", str(out)],
                          env={**machines[0].env, **OPEN_MPI, "TMPDIR": str(directory)}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"mpirun, {name}: {done.stderr[-500:]}")
    # the slowest rank; lines are "rank 0: round …"
    seconds = [round_of("\n".join(row for row in done.stderr.splitlines() if row.startswith(f"rank {i}: ")))
               for i in range(len(machines))]
    return {"seconds": math.nan, "round_seconds": max(seconds), "processor_seconds": math.nan}


def ranks(build, machine, quick, turns):
    """Two ranks, each with a core and a daemon of its own, against one daemon with both cores."""
    if not shutil.which("mpirun") or not (build / "backends" / "mpi" / "hac-mpi").exists():
        print("  SKIPPED: no mpirun, or a build without hac-mpi: ranks are not measured", flush=True)
        return []
    rows, n, steps = SIZES[quick]
    pair = []
    try:
        for core in (0, 1):
            pair.append(cores(build, machine.directory, core))
        lines = []
        for name, text, inputs in (
                ("k-means", k_means_logic(n), [("iris", make(machine, "points-fixed", rows, COLUMNS, 0))]),
                ("pagerank", pagerank_logic(steps), [("edges", make(machine, "edges-fixed", rows, rows // 10))])):
            medians, _ = take_turns({"one daemon": lambda: logic(machine, name, text, inputs),
                                     "two ranks": lambda: as_ranks(pair, name, text, inputs)}, turns)
            times = {who: t["round_seconds"] for who, t in medians.items()}
            if answer_of(machine, name) != answer_of(pair[0], name):
                raise RuntimeError(f"{name}: two ranks have another answer")
            lines.append({"line": name, "times": times, "over": times["two ranks"] / times["one daemon"]})
            print(f"  mpirun -n 2, {name}: {times['two ranks'] * 1e3:.2f} ms, one daemon {times['one daemon'] * 1e3:.2f} ms: "
                  f"{lines[-1]['over']:.2f} (goal 1.15)", flush=True)
        return lines
    finally:
        for one in pair:
            one.close()


# ---- all ------------------------------------------------------------------------------------------------


def run(build, quick):
    """Kernels are built once, by the first machine; $HAC_TEST_SEED, as in the tests, saves that, too."""
    turns = 3 if quick else 7
    results = {"turns": turns, "loops": [], "rounds": [], "ranks": []}
    machines = [Machine(build, seed=os.environ.get("HAC_TEST_SEED"))]
    try:
        machines[0].hacctl("devices")
        machines[0].settle()
        results["algorithms"] = algorithms(machines[0], quick, turns)
        results["rounds"] = rounds(machines[0], quick, turns)
        if CORES >= 2:
            machines.append(cores(build, machines[0].directory, 0, 1))
            results["loops"] = loops(machines[1], quick, turns)
            results["ranks"] = ranks(build, machines[1], quick, turns)
        else:
            print("  SKIPPED: one core: loops and ranks are not measured", flush=True)
    finally:
        for machine in machines:
            machine.close()
    return {**results, "load": os.getloadavg()[0]}


def markdown(results):
    if not results:
        return []
    out = ["## Logic files", "", f"Medians of {results['turns']} turns; load average {results['load']:.1f} at the end. *All* is from "
           "vectors in memory to the result, *a round* of it is once through its loop. Ratios",
           "are all / a round / processor time (of the product with reading the input), above 1 is faster than the peer. OpenMP is the loop that one writes first, with as many threads as there "
           "are cores (`peer_opsplit.c`, -Ofast); *no values* is",
           "PageRank without multiplying by a link's 1, and has no goal. SciPy's sparse product has one thread.", "",
           "| line | hac all ms | a round | processors | peer | all ms | a round | processors | ratio | goal |",
           "|---|--:|--:|--:|---|--:|--:|--:|--:|--:|"]
    for r in results["algorithms"]:
        ours = r["times"]["hac"]
        for name, ratio in r["ratio"].items():
            t = r["times"][name]
            out.append(f"| {r['line']} | {ours['seconds'] * 1e3:.0f} | {ours['round_seconds'] * 1e3:.2f} | "
                       f"{ours['processor_seconds'] * 1e3:.0f} | {name} | {t['seconds'] * 1e3:.0f} | {t['round_seconds'] * 1e3:.2f} | "
                       f"{t['processor_seconds'] * 1e3:.0f} | {' / '.join(f'{ratio[key]:.2f}' for key in KEYS)} | {'' if 'no values' in name else '1.0'} |")
    out += ["", "| a `for` of 8 iterations, `split: 2`, on two executors | both ms | alone ms | speed-up | goal |",
            "|---|--:|--:|--:|--:|"]
    out += [f"| {r['line']} | {r['times']['both'] * 1e3:.2f} | {r['times']['core.0'] * 1e3:.2f} / {r['times']['core.1'] * 1e3:.2f} | "
            f"{r['speed_up']:.2f} | {r['goal']} |" for r in results["loops"]]
    out += ["", "| a round over tiny vectors | µs | of processors | goal |", "|---|--:|--:|--:|"]
    out += [f"| {r['line']} | {r['us']:.0f} | {r['processor_us']:.0f} | 200 |" for r in results["rounds"]]
    out += ["", "| `mpirun -n 2`, a core and a daemon each | ms | one daemon, two executors, ms | ÷ | goal |", "|---|--:|--:|--:|--:|"]
    out += [f"| {r['line']} | {r['times']['two ranks'] * 1e3:.2f} | {r['times']['one daemon'] * 1e3:.2f} | {r['over']:.2f} | 1.15 |"
            for r in results["ranks"]]
    return out + [""]
