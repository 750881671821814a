#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a round of PageRank on facebook_combined.txt takes, builds in turns: run_rounds.py TURNS NAME=BUILD…

Of runs of 50 and of 1,050 rounds the difference: microseconds a round, and of processors. $HAC_TEST_DATA and $HAC_TEST_SEED
are as for run_opsplit.py."""

import os
import pathlib
import statistics
import sys

import run_opsplit
from machine import Machine

FEW, MANY = 50, 1050


def start(build):
    machine = Machine(build, seed=os.environ.get("HAC_TEST_SEED"))
    machine.env["LD_LIBRARY_PATH"] = str(build / "client-lib")
    machine.hacctl("devices")
    machine.settle()
    machine.links = run_opsplit.facebook(machine)
    return machine


def run(machine, rounds):
    """Seconds of it, and of processors."""
    found = run_opsplit.logic(machine, "pagerank", run_opsplit.pagerank_logic(rounds), [("edges", machine.links)])
    return found["seconds"], found["processor_seconds"]


def main():
    turns = int(sys.argv[1])
    machines = {name: start(pathlib.Path(build).resolve()) for name, build in (word.split("=") for word in sys.argv[2:])}
    found = {name: [] for name in machines}
    try:
        for machine in machines.values():
            run(machine, MANY)
        for _ in range(turns):
            for name, machine in machines.items():
                few, many = run(machine, FEW), run(machine, MANY)
                found[name].append([(b - a) / (MANY - FEW) * 1e6 for a, b in zip(few, many)])
        for name, rounds in found.items():
            seconds, processors = zip(*rounds)
            print(f"{name}: median {statistics.median(seconds):.0f} µs, least {min(seconds):.0f}; processors "
                  f"{statistics.median(processors):.0f} µs; answer {run_opsplit.answer_of(machines[name], 'pagerank')[0]!r}")
    finally:
        for machine in machines.values():
            machine.close()


if __name__ == "__main__":
    main()
