#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What receipts, `why` and traces say of engines: what ran, on whose cores, and why kernels did not."""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, MachineTest, main  # noqa: E402

EXAMPLES = Path(__file__).resolve().parent.parent.parent / "docs" / "examples"
PINNED = ONE_DEVICE.replace("{threads: 2}", "{threads: 1, affinity: [0]}")
# An accelerator and no CPU device: PoCL's device under that name.
FPGA = ONE_DEVICE.replace("name: cpu", "name: fpga").replace("kind: cpu", "kind: fpga")
GROUPS = ("--schema", "k:u32,n:i64,s:string", "--group-by", "k", "--select", "sum(n) as t, count() as c")
TEXTS = (*GROUPS[:3], "upper(s) as u", "--select", "count() as c")
ROWS = (*GROUPS[:2], "--where", "n > 90", "--select", "k, n")


class Receipts(MachineTest):
    """full"""

    def start(self, profile=ONE_DEVICE, rows=200000):
        m = self.machine(profile)
        Path(m.path("t.csv")).write_text("k,n,s\n" + "".join(f"{i % 50},{i % 97},w{i % 7}\n" for i in range(rows)))
        return m

    def run_job(self, m, *words):
        """Its receipt, what `why` says, and its devices' engines as {engine: (cores, tasks)}."""
        result = m.run(*words, "--receipt", "r.json", "-o", "out", timeout=300)
        self.assertEqual(result.code, 0, result)
        receipt = json.loads(Path(m.path("r.json")).read_text())
        self.assertEqual(len(receipt["devices"]), 1, receipt)
        device = receipt["devices"][0]
        engines = {e["engine"]: (e["runs_on"], e["tasks"]) for e in device["engines"]}
        self.assertEqual(sum(tasks for _, tasks in engines.values()), device["tasks"])
        self.assertAlmostEqual(sum(e["seconds"] for e in device["engines"]), device["busy_seconds"], 6)
        why = m.good("why", receipt["job"]).decode()
        for name, (cores, tasks) in engines.items():
            self.assertIn(f"{device['name']}: {tasks} task{'' if tasks == 1 else 's'} in {name} on {cores}, ", why)
        if receipt["why_no_kernels"] is None:
            self.assertNotIn("No kernels ran", why)
        else:
            self.assertIn(f"No kernels ran: {receipt['why_no_kernels']}.", why)
        return receipt, why, engines

    def check_trace(self, m, receipt, engines):
        """The trace names the engine of each task."""
        events = json.loads(m.good("trace", receipt["job"]))["traceEvents"]
        ran = [e["args"]["engine"] for e in events if e.get("cat") == "measured"]
        kernels = sum(tasks for name, (_, tasks) in engines.items() if name.endswith("kernels"))
        self.assertEqual(ran.count("kernels"), kernels, ran)
        self.assertEqual(len(ran), sum(tasks for _, tasks in engines.values()))

    def test_host(self):
        m = self.start()
        receipt, _, engines = self.run_job(m, "mapreduce", "t.csv", *GROUPS, "--engine", "host")
        self.assertEqual(set(engines), {"host C"})
        self.assertEqual(engines["host C"][0], "any core of the host")
        self.assertIn("the host engine was asked for; without `--engine host` the faster engine runs", receipt["why_no_kernels"])
        self.check_trace(m, receipt, engines)

    def test_device(self):
        m = self.start(PINNED)
        receipt, _, engines = self.run_job(m, "mapreduce", "t.csv", *GROUPS, "--engine", "device")
        self.assertEqual(engines["block kernels"][0], "cores 0 of the host")
        self.assertIsNone(receipt["why_no_kernels"])
        self.check_trace(m, receipt, engines)

    def test_auto(self):
        """The price of the other engine is the reason."""
        m = self.start()
        for _ in range(2):
            receipt, _, engines = self.run_job(m, "mapreduce", "t.csv", *GROUPS)
        if "block kernels" in engines:
            self.assertIsNone(receipt["why_no_kernels"])
        else:
            self.assertRegex(receipt["why_no_kernels"],
                             r"host codelets were predicted to take [\d.]+ ms, kernels [\d.]+ ms \(.*\); `--engine device` runs kernels")

    def test_kernels_that_cannot(self):
        m = self.start()
        for words, says in ((("mapreduce", "t.csv", *TEXTS), "it works on texts"),
                            (("mapreduce", "t.csv", *TEXTS, "--engine", "device"), "the device engine was asked for and cannot run it"),
                            (("splice", "t.csv", *ROWS), "nothing is aggregated")):
            with self.subTest(says=says):
                receipt, _, engines = self.run_job(m, *words)
                # figures of groups and their merge stand only where there are groups
                self.assertEqual("groups" in receipt["query"], words[0] == "mapreduce", receipt)
                self.assertEqual("partitions" in receipt["query"], words[0] == "mapreduce", receipt)
                self.assertEqual(set(engines), {"host C"})
                self.assertIn(says, receipt["why_no_kernels"])
        m = self.start(rows=10)
        receipt, _, engines = self.run_job(m, "mapreduce", "t.csv", *GROUPS)
        self.assertEqual(set(engines), {"host C"})
        self.assertIn("the input is small", receipt["why_no_kernels"])
        self.assertNotIn("chunks", receipt["query"])
        self.assertNotIn("groups_in_partials", receipt["query"])

    def test_no_cpu(self):
        """C code that ran for an accelerator is not the accelerator's work."""
        m = self.start(FPGA)
        receipt, why, engines = self.run_job(m, "mapreduce", "t.csv", *TEXTS)
        self.assertEqual(receipt["devices"][0]["name"], "fpga")
        self.assertEqual(set(engines), {"host C"})
        self.assertEqual(engines["host C"][0], "any core of the host")
        self.assertIn("fpga's kernels do not run it, host codelets do", receipt["why_no_kernels"])
        self.assertEqual(why.count("host codelets do"), 1)
        receipt, _, engines = self.run_job(m, "mapreduce", "t.csv", *GROUPS, "--engine", "device")
        self.assertEqual(engines["block kernels"][0], "fpga")
        self.assertIsNone(receipt["why_no_kernels"])

    def test_sort(self):
        m = self.start(PINNED, rows=1)
        m.generate("u32", "random", 1000000)
        receipt, _, engines = self.run_job(m, "sort", "in", "--type", "u32")
        self.assertEqual(engines["block kernels"][0], "cores 0 of the host")
        self.assertIsNone(receipt["why_no_kernels"])
        self.check_trace(m, receipt, engines)
        shown = m.good("show", receipt["job"]).decode()
        self.assertIn(" in block kernels on cores 0 of the host", shown)

    def test_opsplit(self):
        """The totals of sub-operators cover all graphs of a run."""
        m = self.start(rows=1)
        Path(m.path("edges.txt")).write_text("".join(f"{i % 300} {i * 7 % 301}\n" for i in range(3000)))
        m.run("opsplit", "run", str(EXAMPLES / "pagerank.yaml"), "--input", "edges=edges.txt", "-o", "ranks", "--receipt", "r.json")
        run = json.loads(Path(m.path("r.json")).read_text())
        receipt = m.json("show", run["job"])["receipt"]
        totals = receipt["opsplit"]["totals"]
        self.assertGreater(receipt["opsplit"]["graphs"], 1, receipt)
        self.assertEqual(sum(t["tasks"] for t in totals), receipt["devices"][0]["tasks"])
        self.assertEqual(len({(t["name"], t["codelet"]) for t in totals}), len(totals))
        self.assertGreaterEqual(len(totals), len({o["name"] for o in receipt["opsplit"]["sub_operators"]}))
        self.assertAlmostEqual(sum(t["seconds"] for t in totals), receipt["devices"][0]["busy_seconds"], 6)
        for total in totals:
            self.assertEqual((total["devices"], total["kernel_tasks"]), (["cpu"], 0))
        self.assertTrue(any(t["rows"] > 0 and t["bytes"] > 0 for t in totals))
        self.assertIn("`--kernels`", receipt["why_no_kernels"])
        jobs = {job["id"]: job["part_of"] for job in m.json("jobs")["jobs"]}
        self.assertEqual({part for part in jobs.values() if part is not None}, {run["job"]})
        parts = {part["job"]: part["does"] for part in receipt["parts"]}
        self.assertEqual(set(parts), set(jobs) - {run["job"]})
        self.assertEqual(sorted(set(parts.values())), ["loads an input", "writes an output"])
        for part, does in parts.items():
            self.assertIn(f"It {does} of an opsplit run: `hacctl why {run['job']}`", m.good("why", part).decode())
        lines = m.good("jobs").decode().splitlines()
        at = next(i for i, line in enumerate(lines) if line.split()[0] == str(run["job"]))
        self.assertEqual({int(line.split()[0]) for line in lines[at + 1:] if "└" in line}, set(parts))
        self.assertIn("SUB-OPERATOR", m.good("show", run["job"]).decode())
        self.assertIn("No kernels ran: CPUs run the host codelets", m.good("why", run["job"]).decode())


if __name__ == "__main__":
    main()
