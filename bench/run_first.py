# SPDX-License-Identifier: Apache-2.0
"""First jobs ever: no daemon, no binaries, an empty cache of the driver; of this build and, in turns, of another one."""
import os
import pathlib
import statistics
import time

from machine import Machine

JOBS = {  # name: (words of hacctl, goal in seconds)
    "sort, 2^20 u32": (["sort", "keys", "--type", "u32", "-o", "out"], 3.0),
    "argsort, 2^19 f64": (["sort", "keys", "--type", "f64", "--argsort", "-o", "out"], None),
    "sort, bitonic, 2^20 u32": (["sort", "keys", "--type", "u32", "--algorithm", "bitonic", "-o", "out"], None),
}
BYTES = 4 << 20


def time_job(machine, words):
    """Seconds of hacctl; `keys` and `out` are files of the machine."""
    paths = {name: str(machine.directory / name) for name in ("keys", "out")}
    pathlib.Path(paths["keys"]).write_bytes(os.urandom(BYTES))
    start = time.monotonic()
    machine.hacctl(*(paths.get(word, word) for word in words))
    return time.monotonic() - start


def first_job(build, words):
    machine = Machine(build)
    try:
        return time_job(machine, words)
    finally:
        machine.close()


def run(build, quick, beside):
    builds = {"this": build, **({"beside": beside} if beside else {})}
    lines = []
    for name, (words, goal) in JOBS.items():
        times = {which: [] for which in builds}
        for _ in range(2 if quick else 7):
            for which, folder in builds.items():
                times[which].append(first_job(folder, words))
        lines.append({"line": name, "goal": goal, "seconds": times})
        print(f"  {name}: " + ", ".join(f"{which} {statistics.median(t):.2f} s" for which, t in times.items()), flush=True)
    return lines


def markdown(lines):
    if not lines:
        return []
    out = ["## First jobs", "", "From the call of hacctl to its end, without a daemon, binaries of kernels or a cache of the driver: medians of "
           f"{len(lines[0]['seconds']['this'])} (least … most). *Beside*: another build, in turns (`--beside BUILD`).", "",
           "| job | s | beside, s | ratio | goal |", "|---|--:|--:|--:|--:|"]
    for line in lines:
        cells = [f"{statistics.median(t):.2f} ({min(t):.2f} … {max(t):.2f})" if t else ""
                 for t in (line["seconds"].get(which) for which in ("this", "beside"))]
        both = line["seconds"].get("beside")
        ratio = f"{statistics.median(both) / statistics.median(line['seconds']['this']):.2f}" if both else ""
        out.append(f"| {line['line']} | {cells[0]} | {cells[1]} | {ratio} | {line['goal'] or ''} |")
    return out + [""]
