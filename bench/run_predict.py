# SPDX-License-Identifier: Apache-2.0
"""How near predictions come, on an idle machine: of every flow and many sizes, jobs of all kinds in turns, on one device with all
cores of a daemon that knows nothing at first. Cold: the executor is new, and the input is not in the page cache."""
import json
import os
import statistics
import subprocess
import time

from machine import Machine

DEVICE = """name: cpu
match: {{platform: "Portable Computing Language", type: cpu}}
kind: cpu
executors: [{{threads: {threads}}}]
memory: {{host: true}}
"""
GOAL = 1.5
SUM = ("--group-by", "key", "--select", "key, count() as n, sum(price) as s")
ROWS = ("--where", "quantity > 95", "--select", "id, key, price")
ORDER = ("--order-by", "price", "--select", "key, price")
MATH = ("--select", "sum(exp(price / 1000000) * sqrt(price)) as s")
LOGIC = """
vectors:
  n: {{value: {rows}}}
outputs: {{o: {{columns: [total]}}}}
operators:
  - fill: {{value: "1.5", rows: n, out: x}}
  - map: {{expr: "x * 3 + x / 7 - 2", out: y}}
  - reduce: {{in: y, out: total}}
"""
FLOWS = {  # name: words of hacctl. CSV, PARQUET, KEYS and LOGIC are files of that size
    "sort": ("sort", "KEYS", "--type", "u32", "-o", "OUT"),
    "argsort": ("sort", "KEYS", "--type", "u32", "--argsort", "-o", "OUT"),
    "groups of csv": ("mapreduce", "CSV", *SUM, "-o", "OUT.csv"),
    "rows of csv": ("mapreduce", "CSV", *ROWS, "-o", "OUT.csv"),
    "csv in an order": ("mapreduce", "CSV", *ORDER, "-o", "OUT.csv"),
    "groups of Parquet": ("parquet", "query", "PARQUET", *SUM, "-o", "OUT.csv"),
    "rows of Parquet": ("parquet", "query", "PARQUET", *ROWS, "-o", "OUT.csv"),
    "math over Parquet": ("parquet", "query", "PARQUET", *MATH, "-o", "OUT.csv"),
    "convert": ("parquet", "convert", "CSV", "OUT.parquet"),
    "splice": ("splice", "CSV", *SUM, "-o", "OUT.csv"),
    "opsplit": ("opsplit", "run", "LOGIC", "-o", "FOLDER"),
}


class Inputs:
    def __init__(self, machine):
        self.machine = machine
        self.made = {}

    def make(self, kind, rows):
        path = self.machine.directory / f"{kind.lower()}{rows}{'' if kind == 'KEYS' else '.yaml' if kind == 'LOGIC' else '.' + kind.lower()}"
        if kind == "KEYS":
            path.write_bytes(os.urandom(4 * rows))
        elif kind == "LOGIC":
            path.write_text(LOGIC.format(rows=rows))
        elif kind == "CSV":
            with open(path, "wb") as file:
                subprocess.run([self.machine.build / "bench" / "make_input", "sales-csv", str(rows), "1000", "0"], stdout=file, check=True)
        else:
            self.machine.hacctl("-q", "parquet", "convert", self.of("CSV", rows), str(path), "--row-group-rows", str(max(1000, rows // 16)))
        return str(path)

    def of(self, kind, rows):
        if (kind, rows) not in self.made:
            self.made[kind, rows] = self.make(kind, rows)
        return self.made[kind, rows]

    def words(self, flow, rows):
        out = str(self.machine.directory / "out")
        return [self.of(w, rows) if w in ("KEYS", "CSV", "PARQUET", "LOGIC") else out + "d" if w == "FOLDER" else
                out + w[3:] if w.startswith("OUT") else w for w in FLOWS[flow]]

    def forget(self):
        """Takes the inputs out of the page cache."""
        for path in self.made.values():
            fd = os.open(path, os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def run_job(machine, words):
    """Predicted and measured seconds; of a run of a logic file those of its devices, as between graphs it waits for its client."""
    receipt = machine.directory / "receipt.json"
    machine.hacctl("-q", *words, "--receipt", str(receipt))
    got = json.loads(receipt.read_text())
    if got["flow"] != "opsplit":
        return got["predicted_seconds"], got["measured_seconds"]
    devices = json.loads(machine.hacctl("--json", "show", str(got["job"])).stdout)["receipt"]["devices"]
    return sum(d["predicted_seconds"] for d in devices), sum(d["busy_seconds"] for d in devices)


def off(ratio):
    return max(ratio, 1 / ratio)


def run(build, quick, only=None):
    seed = os.environ.get("HAC_TEST_SEED")
    machine = Machine(build, DEVICE.format(threads=os.cpu_count()), seed=seed)
    (machine.directory / "config" / "hac" / "hacd.yaml").write_text("calibrate_when_idle: false\nexecutor_idle_timeout: 1s\n")
    sizes = (10**3, 10**5, 10**6) if quick else (10**3, 10**4, 10**5, 10**6, 10**7)
    flows = [name for name in FLOWS if only is None or only in name]
    lines, warm, cold = [], {}, {}
    load = os.getloadavg()[0]
    try:
        inputs = Inputs(machine)
        jobs = {(flow, rows): inputs.words(flow, rows) for rows in sizes for flow in flows}
        for turn in range(4 if quick else 8):
            for key, words in jobs.items():
                warm.setdefault(key, []).append(run_job(machine, words))
        for _ in range(1 if quick else 3):
            for key, words in jobs.items():
                inputs.forget()
                if key[1] == sizes[0]:
                    time.sleep(1.5)  # the executor ends
                cold.setdefault(key, []).append(run_job(machine, words))
        for (flow, rows), pairs in warm.items():
            ratios = [predicted / measured for predicted, measured in pairs]
            line = {"flow": flow, "rows": rows, "load": load, "seconds": statistics.median(m for _, m in pairs[1:]), "second": ratios[1],
                    "later": statistics.median(ratios[2:]), "worst": max(ratios[1:], key=off),
                    "cold": statistics.median(p / m for p, m in cold[flow, rows]), "goal": GOAL}
            lines.append(line)
            print(f"  {flow}, {rows}: {line['seconds'] * 1e3:.2f} ms; predicted ÷ measured: second job {line['second']:.2f}, later "
                  f"{line['later']:.2f}, worst {line['worst']:.2f}, cold {line['cold']:.2f} (goal {1 / GOAL:.2f} to {GOAL})", flush=True)
        return lines
    finally:
        machine.close()


def markdown(lines):
    if not lines:
        return []
    out = ["## Predictions", "", f"Predicted ÷ measured time of jobs of all kinds and sizes in turns, load {lines[0]['load']:.1f} before; the goal is "
           f"{1 / GOAL:.2f} to {GOAL} from the second job on. *Cold*: the input is not in the page cache.", "",
           "| flow | rows | ms | second job | later ones | worst | cold |", "|---|--:|--:|--:|--:|--:|--:|"]
    for r in lines:
        out.append(f"| {r['flow']} | {r['rows']} | {r['seconds'] * 1e3:.2f} | {r['second']:.2f} | {r['later']:.2f} | {r['worst']:.2f} | "
                   f"{r['cold']:.2f} |")
    return out + [""]
