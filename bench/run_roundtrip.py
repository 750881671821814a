# SPDX-License-Identifier: Apache-2.0
"""What a job costs beside its work: round trips of 4 KiB with a backend that does nothing, and with the real one, which also
runs a query over 4 KiB of CSV."""

import os

from machine import Machine

ONE_DEVICE = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
executors: [{threads: 2}]
memory: {host: true}
"""


def start(build, null):
    """A machine of its own, with the backend that does nothing or with the real one."""
    machine = Machine(build, ONE_DEVICE)
    if null:
        libexec = machine.directory / "libexec"
        libexec.mkdir()
        (libexec / "hacd").symlink_to(build / "libexec" / "hacd")
        (libexec / "hac-executor").symlink_to(build / "bench" / "null" / "hac-executor")
        machine.env["HAC_LIBEXEC"] = str(libexec)
        machine.env["HAC_BENCH_EXECUTOR"] = str(build / "libexec" / "hac-executor")
    machine.hacctl("devices")
    machine.settle()
    return machine


def run(build, quick):
    """Each three times, one after the other; the turn with the lowest median counts."""
    jobs, turns = (5000, 1) if quick else (20000, 3)
    found = {"null": [], "real": [], "query": []}
    machines = {}
    try:
        for name in ("null", "real"):
            machines[name] = start(build, name == "null")
        machines["query"] = machines["real"]
        for turn in range(turns):
            for name, lines in found.items():
                words = ["query"] if name == "query" else []
                lines.append(machines[name].program("bench_roundtrip", jobs, machines[name].daemon(), *words))
                print(f"  round trips, {name}, turn {turn + 1}: p50 {lines[-1]['job']['p50']} µs, p99 {lines[-1]['job']['p99']} µs",
                      flush=True)
    finally:
        for name in ("null", "real"):
            if name in machines:
                machines[name].close()
    best = {name: min(lines, key=lambda line: line["job"]["p50"]) for name, lines in found.items()}
    return {**best, "turns": found, "load": os.getloadavg()[0]}


def markdown(found):
    if not found:
        return []
    out = ["## Round trips", "", f"4 KiB of pool memory in, 4 KiB out, one job after the other (`bench_roundtrip`, "
           f"{found['null']['jobs']} jobs; of {len(found['turns']['null'])} turns the one with the least median; load average "
           f"{found['load']:.1f} at the end). The null backend says of every task that it is done; the real one sorts 1,024 keys. "
           "The query is one sum over 4 KiB of CSV that travel inside the message. A question is one that hacd answers without a job. "
           "Times in µs.", "",
           "| | p50 | p90 | p99 | p99.9 | least | goal |", "|---|--:|--:|--:|--:|--:|---|"]
    for name, key, kind, goal in (("job, null backend", "null", "job", "p50 150, p99 1,000"), ("job, sort on the CPU", "real", "job", ""),
                                  ("query of CSV on the CPU", "query", "job", ""),
                                  ("question", "null", "question", "")):
        line = found[key][kind]
        out.append(f"| {name} | {line['p50']:.0f} | {line['p90']:.0f} | {line['p99']:.0f} | {line['p999']:.0f} | "
                   f"{line['least']:.0f} | {goal} |")
    null = found["null"]
    return out + ["", f"Processor time of a job with the null backend: {null['hacd_cpu']:.0f} µs of hacd, {null['client_cpu']:.0f} µs "
                  "of the client.", "", "p50 / p99 of the turns with the null backend: " + ", ".join(
                      f"{t['job']['p50']:.0f} / {t['job']['p99']:.0f}" for t in found["turns"]["null"]) + ".", ""]
