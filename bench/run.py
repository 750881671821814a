#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures hac beside its peers and writes bench/results/<name>.json and .md.

Every ratio comes from one process that runs the product and the peer turn by turn (bench_sort). Each machine set-up
(one device with all cores, one per core, an unequal pair) has a private daemon of its own in a temporary
directory; nothing of the user's is touched. Queries are run_query.py's. Peers are what is found here:

  x86-simd-sort   $HAC_BENCH_X86_SIMD_SORT names a checkout (its src/ holds x86simdsort-static-incl.h); built with
                  OpenMP for this machine's cores. Without it the peer is std::sort, and the table says so.
  std::sort       always
"""

import argparse
import ctypes
import datetime
import json
import math
import os
import pathlib
import platform
import signal
import statistics
import subprocess
import sys
import time

import run_atlas
import run_auto
import run_first
import run_opsplit
import run_parquet
import run_predict
import run_python
import run_roundtrip
import run_query
import run_splice
from machine import HERE, ROOT, Machine

WHAT = ("sort", "first", "query", "parquet", "splice", "roundtrip", "opsplit", "python")
ALONE = ("atlas", "predict", "auto")  # only if they are asked for: the first takes half an hour and more
SPLIT = """name: core
match: {{platform: "Portable Computing Language", type: cpu}}
kind: cpu
executors:
  - {{threads: 1, affinity: [0], group: core0}}
  - {{threads: 1, affinity: [1], group: core1, testing: {{slowdown: {slowdown}}}}}
"""


def run(command):
    return subprocess.run(command, capture_output=True, text=True)


def seconds_of_peer(library):
    """Its compress instructions are emulated on some processors, and the build that uses them is the slower one."""
    sort = ctypes.CDLL(str(library)).x86simdsort_sort_u32
    n, best = 1 << 22, math.inf
    for _ in range(3):
        keys = ctypes.create_string_buffer(os.urandom(4 * n), 4 * n)
        start = time.monotonic()
        sort(keys, ctypes.c_uint64(n))
        best = min(best, time.monotonic() - start)
    return best


def build_peers(build):
    """(library, name, description) of the sort peer, and of std::sort."""
    directory = build / "peers"
    directory.mkdir(exist_ok=True)
    std = directory / "libstd.so"
    flags = ["g++", "-O3", "-march=native", "-std=c++17", "-fPIC", "-shared"]
    subprocess.run([*flags, "-o", std, HERE / "peer_std.cpp"], check=True)
    plain = (std, "std", "std::sort, one thread")
    checkout = os.environ.get("HAC_BENCH_X86_SIMD_SORT")
    if not checkout:
        return plain, plain
    seconds = {}
    for name, more in (("all of this processor's instructions", []), ("AVX2", ["-mno-avx512f"])):
        library = directory / f"libx86simdsort{len(seconds)}.so"
        if not library.exists():
            subprocess.run([*flags, *more, "-fopenmp", "-DXSS_USE_OPENMP", "-I", pathlib.Path(checkout) / "src", "-o", library,
                            HERE / "peer_x86simdsort.cpp"], check=True)
        seconds[name, library] = seconds_of_peer(library)
    name, library = min(seconds, key=seconds.get)
    return (library, "x86simdsort", f"x86-simd-sort with {name}, the faster of its builds here; OpenMP, {os.cpu_count()} "
            "threads"), plain


def sort_lines(machine, peer, quick):
    """The table of sorts on one device with all cores."""
    lines = []
    n = 1 << (22 if quick else 24)
    repeats = 5 if quick else 11

    def line(goal, name, *args):
        result = machine.program("bench_sort", "--peer", peer[0], "--name", peer[1], "--repeats", repeats, *args)
        result.update(line=name, goal=goal)
        lines.append(result)
        print(f"  {name}: {result['seconds'] * 1e3:.2f} ms, peer {result['peer_seconds'] * 1e3:.2f} ms, "
              f"ratio {result['ratio']:.2f} (goal {goal or '-'})", flush=True)

    line(1.0, f"random u32, {n} keys, auto", "--items", n)
    if not quick:
        line(1.0, f"random u32, {1 << 27} keys, auto", "--items", 1 << 27, "--repeats", 5)
    for pattern in ("skewed", "sorted", "few", "zipf", "reversed", "nearly", "equal"):
        goal = 0.8 if pattern in ("skewed", "sorted", "few", "zipf") else None
        line(goal, f"{pattern} u32, {n} keys, auto", "--items", n, "--pattern", pattern)
    line(0.35, f"random u32, {n} keys, bitonic", "--items", n, "--algorithm", "bitonic")
    for kind in ("i32", "f32", "u64", "i64", "f64"):
        line(None, f"random {kind}, {n} keys, auto", "--items", n, "--type", kind)
    for kind in ("u32", "f64"):
        line(None, f"argsort {kind}, {n} keys, auto", "--items", n, "--type", kind, "--argsort", "--repeats", 5)
    line(None, f"random u32, {n} keys, caller's memory", "--items", n, "--input", "memory")
    return lines


def bandwidth(machine, lines):
    measured = machine.program("bench_memory", os.cpu_count())["bytes_per_second"]
    for result in lines:
        width = 4 if result["type"].endswith("32") else 8
        one_pass = 2.0 * result["items"] * width / measured
        result["memory_passes"] = result["seconds"] / one_pass
    return measured


def file_to_file(machine, quick):
    """hacctl sort IN -o OUT against a program that reads, std::sorts and writes (python drives neither's loop)."""
    n = 1 << (22 if quick else 24)
    source, ours, theirs = (machine.directory / name for name in ("keys", "ours", "theirs"))
    source.write_bytes(os.urandom(4 * n))
    program = machine.directory / "std_file"
    code = r"""
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
int main(int, char **v) {
    FILE *in = fopen(v[1], "rb");
    fseek(in, 0, SEEK_END);
    std::vector<uint32_t> k(ftell(in) / 4);
    rewind(in);
    if (fread(k.data(), 4, k.size(), in) != k.size()) return 1;
    std::sort(k.begin(), k.end());
    FILE *out = fopen(v[2], "wb");
    if (fwrite(k.data(), 4, k.size(), out) != k.size()) return 1;
    return fclose(out);
}
"""
    (machine.directory / "std_file.cpp").write_text(code)
    subprocess.run(["g++", "-O3", "-march=native", "-o", program, machine.directory / "std_file.cpp"], check=True)
    product, peer = [], []
    for turn in range(4 if quick else 6):
        start = time.monotonic()
        machine.hacctl("sort", str(source), "--type", "u32", "-o", str(ours))
        product.append(time.monotonic() - start)
        start = time.monotonic()
        subprocess.run([program, source, theirs], check=True)
        peer.append(time.monotonic() - start)
    if ours.read_bytes() != theirs.read_bytes():
        raise RuntimeError("file to file: the results differ")
    a, b = statistics.median(product[1:]), statistics.median(peer[1:])
    result = {"line": f"file to file, random u32, {n} keys", "goal": 5.0, "seconds": a, "peer": "std::sort",
              "peer_seconds": b, "ratio": b / a}
    print(f"  {result['line']}: {a * 1e3:.0f} ms, std::sort {b * 1e3:.0f} ms, ratio {b / a:.1f} (goal 5)", flush=True)
    return result


def beside_single(machine, devices, *args):
    """Seconds of the job on the devices of auto's choice and on each of these alone, which take turns: a machine's
    speed changes by the hour."""
    beside = [word for device in devices for word in ("--beside", device)]
    got = [machine.program("bench_sort", *beside, *args) for _ in range(3)]
    return tuple(statistics.median(v) for v in zip(*((g["seconds"], *g["beside"]) for g in got)))


def measured_and_simulated(machine, slowdown, n):
    """What bitonic plans on the pair took from their first task to the last one's end, by the plan's simulation: the
    receipts of the last jobs."""
    lines = []
    repeats = 11
    for scheme in ("proportional", "lower", "upper", "none"):
        machine.program("bench_sort", "--items", n, "--algorithm", "bitonic", "--scheme", scheme, "--repeats", repeats)
        jobs = json.loads(machine.hacctl("jobs", "--json").stdout)["jobs"]
        receipts = [json.loads(machine.hacctl("show", str(number), "--json").stdout)["receipt"]
                    for number in sorted(job["id"] for job in jobs)[-repeats:]]
        if any(r["scheme"] != scheme or r["items"] != n for r in receipts):
            raise RuntimeError(f"bitonic, {scheme}: the last jobs are others")
        ratios = [r["measured_seconds"] / r["predicted_seconds"] for r in receipts]
        line = {"line": f"slowdown {slowdown:g}, {scheme}, {n} u32",
                "measured_seconds": statistics.median(r["measured_seconds"] for r in receipts),
                "simulated_seconds": statistics.median(r["predicted_seconds"] for r in receipts),
                "over_simulated": statistics.median(ratios), "least_over_simulated": min(ratios),
                "most_over_simulated": max(ratios)}
        lines.append(line)
        print(f"  bitonic, {line['line']}: {line['measured_seconds'] * 1e3:.2f} ms, simulated "
              f"{line['simulated_seconds'] * 1e3:.2f}: {line['over_simulated']:.3f} (goal 0.85 to 1.15)", flush=True)
    return lines


def pairs(build, quick):
    """Two devices against one of them, in the same daemon, turn by turn; and bitonic plans against their simulation."""
    n = 1 << (22 if quick else 24)
    lines, plans = [], []
    for slowdown in (1.0, 3.0):
        machine = Machine(build, SPLIT.format(slowdown=slowdown))
        try:
            machine.calibrate()
            for algorithm in ("auto", "bitonic"):
                both, first, second = beside_single(machine, ("core.0", "core.1"), "--items", n, "--algorithm", algorithm,
                                                    "--repeats", 7)
                ideal = 1 / (1 / first + 1 / second)
                goal = {("auto", 1.0): 1.8, ("bitonic", 1.0): 1.6}.get((algorithm, slowdown))
                goal_of_ideal = {("auto", 3.0): 1.10}.get((algorithm, slowdown))
                line = {"line": f"pair, slowdown {slowdown:g}, {algorithm}, {n} u32", "both_seconds": both,
                        "first_seconds": first, "second_seconds": second, "speed_up": first / both,
                        "ideal_seconds": ideal, "over_ideal": both / ideal, "goal": goal, "goal_of_ideal": goal_of_ideal}
                lines.append(line)
                print(f"  {line['line']}: {both * 1e3:.2f} ms, alone {first * 1e3:.2f} and {second * 1e3:.2f}: speed-up "
                      f"{line['speed_up']:.2f} (goal {goal or '-'}), {line['over_ideal']:.3f} of ideal (goal "
                      f"{goal_of_ideal or '-'})", flush=True)
            plans += measured_and_simulated(machine, slowdown, n)
        finally:
            machine.close()
    return {"pairs": lines, "plans": plans}


def never_slower(build, quick):
    """auto against the best single device over a grid: core.0, whose executor every turn finds as warm."""
    worst = []
    machine = Machine(build, SPLIT.format(slowdown=3.0))
    try:
        machine.calibrate()
        for kind in ("u32", "f64"):
            for log2 in (12, 16, 20, 22) if not quick else (16, 20):
                repeats = 201 if log2 < 20 else 21
                auto, best = beside_single(machine, ("core.0",), "--items", 1 << log2, "--type", kind, "--repeats", repeats)
                line = {"line": f"{kind}, 2^{log2}", "auto_seconds": auto, "best_single_seconds": best,
                        "over_best": auto / best}
                worst.append(line)
                print(f"  auto against the best single device, {line['line']}: {line['over_best']:.3f} (goal 1.03)", flush=True)
    finally:
        machine.close()
    return worst


def startup(build):
    """First job ever (no daemon, no binaries), and first job of a new daemon with binaries."""
    machine = Machine(build)
    try:
        def first_job():
            return run_first.time_job(machine, ["sort", "keys", "--type", "u32", "-o", "out"])

        ever = first_job()
        machine.settle()
        again = []
        for _ in range(5):
            machine.hacctl("drain")
            time.sleep(1)
            again.append(first_job())
        rss = 0
        pid = machine.daemon()
        for row in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if row.startswith("VmHWM"):
                rss = int(row.split()[1])
        result = {"first_job_ever_seconds": ever, "first_job_of_a_daemon_seconds": statistics.median(again),
                  "daemon_peak_rss_kib": rss}
        print(f"  first job ever {ever:.2f} s (goal 3), of a new daemon {statistics.median(again):.3f} s (goal 0.4), "
              f"hacd's peak RSS {rss / 1024:.1f} MiB (goal 20)", flush=True)
        return result
    finally:
        machine.close()


def sort_markdown(results):
    out = ["## Sort", "", "Product and peer in one process, from the call to having",
           "read the result. Input in recycled pool memory, kept mapped, unless a line says otherwise.",
           "*Passes* is our time in units of reading and writing the keys once at this machine's memory bandwidth "
           f"({results['bandwidth'] / 1e9:.1f} GB/s, read and written).", "",
           "| line | ours ms | peer ms | ratio | goal | passes |", "|---|--:|--:|--:|--:|--:|"]
    for r in results["sorts"]:
        out.append(f"| {r['line']} | {r['seconds'] * 1e3:.2f} | {r['peer_seconds'] * 1e3:.2f} | {r['ratio']:.2f} | "
                   f"{r['goal'] or ''} | {r.get('memory_passes', 0):.1f} |")
    out += ["", f"Peer: {results['peer']}; file to file: std::sort doing the same.", "",
            "| two devices, one per core | both ms | alone ms | speed-up | goal | ÷ ideal | goal |", "|---|--:|--:|--:|--:|--:|--:|"]
    for r in results["pairs"]:
        out.append(f"| {r['line']} | {r['both_seconds'] * 1e3:.2f} | {r['first_seconds'] * 1e3:.2f} / "
                   f"{r['second_seconds'] * 1e3:.2f} | {r['speed_up']:.2f} | {r['goal'] or ''} | {r['over_ideal']:.3f} | "
                   f"{r['goal_of_ideal'] or ''} |")
    out += ["", "| bitonic plans, two devices | measured ms | simulated ms | measured ÷ simulated | of all runs | goal |",
            "|---|--:|--:|--:|--:|--:|"]
    for r in results["plans"]:
        out.append(f"| {r['line']} | {r['measured_seconds'] * 1e3:.2f} | {r['simulated_seconds'] * 1e3:.2f} | "
                   f"{r['over_simulated']:.3f} | {r['least_over_simulated']:.2f} … {r['most_over_simulated']:.2f} | 0.85 … 1.15 |")
    out += ["", "| auto ÷ best single device (slowdown 3) | ratio |", "|---|--:|"]
    out += [f"| {r['line']} | {r['over_best']:.3f} |" for r in results["grid"]]
    j, s = results["jobs"], results["startup"]
    out += ["", "| small jobs and start | measured | goal |", "|---|--:|--:|",
            f"| sort of 1,000 keys, p50 | {j['p50_us']:.0f} µs | 150 µs |",
            f"| … p99 | {j['p99_us']:.0f} µs | 1,000 µs |",
            f"| a message to hacd, the executor and back, by processes that do nothing else: p50 | {j['passing_p50_us']:.0f} µs | |",
            f"| … p99 | {j['passing_p99_us']:.0f} µs | |",
            f"| jobs a second, {j['clients']} clients | {j['jobs_per_second']:.0f} | 15,000 |",
            f"| first job ever | {s['first_job_ever_seconds']:.2f} s | 3 s |",
            f"| first job of a new daemon | {s['first_job_of_a_daemon_seconds']:.3f} s | 0.4 s |",
            f"| hacd's peak RSS | {s['daemon_peak_rss_kib'] / 1024:.1f} MiB | 20 MiB |", ""]
    return out


def markdown(results):
    out = [f"# Measured on {results['date']}", "", f"`{results['command']}` at {results['commit']}; {results['machine']}.",
           "Medians of turns that product and peers took one after the other; a ratio is the peer's time ÷ ours.", ""]
    if "sorts" in results:
        out += sort_markdown(results)
    return "\n".join(out + run_first.markdown(results.get("first")) + run_query.markdown(results["query"])
                     + run_parquet.markdown(results.get("parquet")) + run_splice.markdown(results.get("splice")) + run_roundtrip.markdown(results.get("roundtrip"))
                     + run_opsplit.markdown(results.get("opsplit")) + run_python.markdown(results.get("python"))
                     + run_atlas.markdown(results.get("atlas")) + run_predict.markdown(results.get("predict"))
                     + run_auto.markdown(results.get("auto")))


def measure_sort(build, quick):
    peer, _ = build_peers(build)
    os.environ.setdefault("OMP_NUM_THREADS", str(os.cpu_count()))
    machine = Machine(build)
    try:
        machine.hacctl("devices")
        machine.settle()
        print(f"sorts, peer: {peer[2]}", flush=True)
        sorts = sort_lines(machine, peer, quick)
        measured = bandwidth(machine, sorts)
        sorts.append(file_to_file(machine, quick))
        jobs = machine.program("bench_jobs", 16)
        print(f"  small jobs: p50 {jobs['p50_us']} µs, p99 {jobs['p99_us']} µs (a message alone: "
              f"{jobs['passing_p50_us']}, {jobs['passing_p99_us']}), {jobs['jobs_per_second']} a second", flush=True)
    finally:
        machine.close()
    return {"peer": peer[2], "bandwidth": measured, "sorts": sorts, "jobs": jobs, **pairs(build, quick),
            "grid": never_slower(build, quick), "startup": startup(build)}


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", metavar="WHAT", default=list(WHAT), help=", ".join((*WHAT, *ALONE)) + ", or parts of query: "
                        + ", ".join(run_query.PARTS) + f" (default: all but {', '.join(ALONE)})")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="build directory")
    parser.add_argument("--beside", type=pathlib.Path, help="another build directory, for first jobs in turns")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, fewer repeats")
    parser.add_argument("--name", default="latest", help="name of the result files")
    parser.add_argument("--add", action="store_true", help="keep what other parts wrote there before")
    parser.add_argument("--rows", type=int, help="atlas: rows of the H2O table (default 10,000,000; 2,000,000 with --quick)")
    parser.add_argument("--only", metavar="REGEX", help="atlas: only lines like this: 'H2O, parquet, q[1-5]'")
    args = parser.parse_args()
    unknown = set(args.what) - {*WHAT, *ALONE, *run_query.PARTS}
    if unknown:
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    return args


def main():
    args = parse_arguments()
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    build = args.build.resolve()
    results = {
        "date": datetime.date.today().isoformat(),
        "command": " ".join(["./dev bench", *args.what, *(["--quick"] if args.quick else [])]),
        "commit": run(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]).stdout.strip(),
        "machine": f"{os.cpu_count()} cores, {cpu_name()}, Linux {platform.release()}",
    }
    directory = HERE / "results"
    directory.mkdir(exist_ok=True)
    before = directory / f"{args.name}.json"
    earlier = json.loads(before.read_text()) if args.add and before.exists() else {}
    results = {**earlier, **results}
    if "sort" in args.what:
        results.update(measure_sort(build, args.quick))
    if "first" in args.what:
        print("first jobs:", flush=True)
        results["first"] = run_first.run(build, args.quick, args.beside and args.beside.resolve())
    parts = [part for part in run_query.PARTS if "query" in args.what or part in args.what]
    results["query"] = {**earlier.get("query", {}), **run_query.run(build, args.quick, parts)}
    if "parquet" in args.what:
        print("parquet:", flush=True)
        results["parquet"] = run_parquet.run(build, args.quick)
    if "atlas" in args.what:
        print("atlas:", flush=True)
        results["atlas"] = run_atlas.run(build, args.quick, args.rows, args.only)
    if "predict" in args.what:
        print("predictions:", flush=True)
        results["predict"] = run_predict.run(build, args.quick, args.only)
    if "auto" in args.what:
        print("free choice:", flush=True)
        results["auto"] = run_auto.run(build, args.quick, args.only)
    if "splice" in args.what:
        print("splice:", flush=True)
        results["splice"] = run_splice.run(build, args.quick)
    if "roundtrip" in args.what:
        print("round trips:", flush=True)
        results["roundtrip"] = run_roundtrip.run(build, args.quick)
    if "opsplit" in args.what:
        print("logic files:", flush=True)
        results["opsplit"] = run_opsplit.run(build, args.quick)
    if "python" in args.what:
        print("the Python package:", flush=True)
        results["python"] = run_python.run(build, args.quick)
    (directory / f"{args.name}.json").write_text(json.dumps(results, indent=1) + "\n")
    (directory / f"{args.name}.md").write_text(markdown(results))
    print(f"written: {directory / args.name}.md and .json")


def cpu_name():
    for row in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if row.startswith("model name"):
            return row.split(":")[1].strip()
    return platform.machine()


if __name__ == "__main__":
    main()
