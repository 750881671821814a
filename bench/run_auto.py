# SPDX-License-Identifier: Apache-2.0
"""The planner's free choice against the best of the choices that one can force, of every flow, on three machines that PoCL
plays: jobs of a cell in turns, on a daemon that knows nothing at first."""
import json
import os

from machine import Machine
from run_predict import FLOWS, Inputs

WARM = 3  # jobs by free choice before the figures count
TURNS = 7
GOAL = 1.1
HEAD = """name: pair
match: {platform: "Portable Computing Language"}
kind: cpu
"""
MACHINES = {  # name: (profile, names of the devices)
    "one CPU": (HEAD + "executors: [{name: cpu, threads: 2}]\nmemory: {host: true}\n", ("cpu",)),
    "two equal": (HEAD + "memory: {host: true}\nexecutors:\n"
                  "  - {name: a, threads: 1, affinity: [0], group: core0}\n"
                  "  - {name: b, threads: 1, affinity: [1], group: core1}\n", ("a", "b")),
    "slow CPU, quick accelerator": (HEAD + "executors:\n"
                                    "  - {name: slow, threads: 1, affinity: [0], group: core0, memory: {host: true}, testing: {slowdown: 30}}\n"
                                    "  - {name: acc, kind: fpga, threads: 1, affinity: [1], group: core1, memory: {host: false}}\n",
                                    ("slow", "acc")),
}
MORE = {  # to run_predict's
    "sort f64": ("sort", "KEYS", "--type", "f64", "--raw", "-o", "OUT"),
    "argsort u64": ("sort", "KEYS", "--type", "u64", "--raw", "--argsort", "-o", "OUT"),
    "many groups of csv": ("mapreduce", "CSV", "--group-by", "id", "--select", "id, count() as n, sum(price) as s", "-o", "OUT.csv"),
}


class Cells:
    def __init__(self, machine, devices):
        self.machine, self.devices = machine, devices

    def measure(self, words):
        receipt = self.machine.directory / "receipt.json"
        self.machine.hacctl("-q", *words, "--receipt", str(receipt))
        got = json.loads(receipt.read_text())
        if got["flow"] != "opsplit":
            return got["measured_seconds"]
        shown = json.loads(self.machine.hacctl("--json", "show", str(got["job"])).stdout)
        return max(d["busy_seconds"] for d in shown["receipt"]["devices"])

    def choices(self, words):
        """Names of what can be forced, and its options."""
        is_query = words[0] in ("mapreduce", "splice", "parquet")
        kernels = is_query and "--group-by" in words
        for device in self.devices:
            yield device, ("--devices", device)
            if kernels:
                yield f"{device}, kernels", ("--devices", device, "--engine", "device")

    def cell(self, words):
        for _ in range(WARM):
            self.measure(words)
        free, forced = [], {}
        for name, options in self.choices(words):
            forced[name] = [self.measure([*words, *options])]  # loads its programs
        for _ in range(TURNS):
            free.append(self.measure(words))
            for name, options in self.choices(words):
                forced[name].append(self.measure([*words, *options]))
        best = min(forced, key=lambda name: min(forced[name][1:]))
        return min(free), best, min(forced[best][1:])


def run(build, quick, only=None):
    seed = os.environ.get("HAC_TEST_SEED")
    lines, load = [], os.getloadavg()[0]
    FLOWS.update(MORE)
    for name, (profile, devices) in MACHINES.items():
        machine = Machine(build, profile, seed=seed)
        (machine.directory / "config" / "hac" / "hacd.yaml").write_text("calibrate_when_idle: false\nexecutor_idle_timeout: 1min\n")
        try:
            inputs = Inputs(machine)
            cells = Cells(machine, devices)
            for flow in FLOWS:
                if only is not None and only not in flow:
                    continue
                for rows in (10**5,) if quick else (10**3, 10**5, 10**6):
                    words = inputs.words(flow, rows)
                    auto, best, seconds = cells.cell(words)
                    line = {"machine": name, "flow": flow, "rows": rows, "auto": auto, "best": best, "seconds": seconds, "load": load}
                    lines.append(line)
                    print(f"  {name}, {flow}, {rows}: auto {auto * 1e3:.2f} ms, {best} {seconds * 1e3:.2f} ms, ratio {auto / seconds:.2f}"
                          f"{' !' if auto > GOAL * seconds else ''}", flush=True)
        finally:
            machine.close()
    return lines



def markdown(lines):
    if not lines:
        return []
    out = ["## Free choice", "", f"What the planner chooses beside the best single choice that one can force (`--devices`, `--engine`), after {WARM} jobs; "
           f"the fastest of seven turns, load {lines[0]['load']:.1f} before.", "",
           "| machine | flow | rows | auto, ms | best, ms | which | ratio |", "|---|---|--:|--:|--:|---|--:|"]
    out += [f"| {r['machine']} | {r['flow']} | {r['rows']} | {r['auto'] * 1e3:.2f} | {r['seconds'] * 1e3:.2f} | {r['best']} | "
            f"{r['auto'] / r['seconds']:.2f} |" for r in lines]
    return out + [""]
