#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""explain and simulate: the contract's fields, and the worked examples of the method's source."""
import gzip
import json
import sys
import xml.dom.minidom
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import TWO_DEVICES, SharedMachineTest, main  # noqa: E402

EVERY_FLOW = {"flow", "k", "k_source", "shares", "predicted_seconds", "devices", "tasks"}
SORT = {"algorithm", "scheme", "n", "N", "weaker_items", "corun_steps", "folded_steps", "parts"}
PART = {"device", "first", "items", "k", "N", "corun_steps"}
DEVICE = "name: {name}\nmatch: {{type: any}}\nkind: {kind}\ncapability: {{\"sort.u32\": {rate}}}\n{more}"


def corun(n, trailing):
    """Steps that run side by side when the parts' boundaries have that many trailing zeros, as maximal runs: the
    source's rule, step by step."""
    steps = []
    for subset in range(1, n + 1):
        last = subset * (subset + 1) // 2
        count = subset if subset <= trailing else trailing
        steps += range(last - count + 1, last + 1)
    runs = []
    for step in steps:
        if runs and runs[-1][1] == step - 1:
            runs[-1][1] = step
        else:
            runs.append([step, step])
    return runs


class Plans(SharedMachineTest):
    profile = TWO_DEVICES

    def machine_of(self, *devices):
        """A folder of profiles: (name, kind, items a second, further lines)."""
        folder = self.m.work / "profiles"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number, (name, kind, rate, *more) in enumerate(devices):
            (folder / f"{number}.yaml").write_text(DEVICE.format(name=name, kind=kind, rate=rate, more="".join(more)))
        return "profiles"

    def simulate(self, items, *options):
        return self.m.json("simulate", "--profiles", "profiles", "sort", "--items", items, "--type", "u32", *options)

    def test_the_sources_example(self):
        """n = 4, k = 0.6: items, steps and N to the digit."""
        self.machine_of(("weak", "cpu", "0.6e8"), ("strong", "gpu", "1e8"))
        for scheme, weaker, steps in (("proportional", 6, [[1, 1], [3, 3], [6, 6], [10, 10]]),
                                      ("lower", 4, [[1, 3], [5, 6], [9, 10]]), ("upper", 8, [[1, 6], [8, 10]])):
            for fold in ("none", "auto"):
                plan = self.simulate(16, "--algorithm", "bitonic", "--scheme", scheme, "--fold", fold)
                self.assertLessEqual(EVERY_FLOW | SORT, set(plan), scheme)
                self.assertEqual((plan["flow"], plan["algorithm"], plan["scheme"]), ("sort", "bitonic", scheme))
                self.assertEqual((plan["n"], plan["N"], plan["weaker_items"]), (4, 1, weaker))
                self.assertEqual(plan["corun_steps"], steps)
                self.assertAlmostEqual(plan["k"], 0.6, places=6)
                if fold == "none":
                    self.assertEqual(plan["folded_steps"], [])
                self.assertTrue(all(PART <= set(part) for part in plan["parts"]), plan["parts"])
                self.assertEqual(sum(part["items"] for part in plan["parts"]), 16)

    def test_too_little_memory(self):
        """The plan refuses what the run would refuse, without a hint to retry."""
        err = self.m.bad(4, "explain", "sort", "--items", "10M", "--type", "u32", "--memory", "1KiB", says="above its limit")
        self.assertNotIn("try again", err)
        Path(self.m.path("a.csv")).write_text("k,v\n" + "1,2\n" * 400000)
        words = ("mapreduce", "a.csv", "--group-by", "k", "--select", "count() as n", "--memory")
        for command in (("explain", *words), words):
            err = self.m.bad(4, *command, "1KiB", says="this query needs about 1 MiB of memory")
            self.assertNotIn("try again", err)
        self.m.good("explain", *words, "8MiB")
        self.m.good(*words, "8MiB")

    def test_folding_as_told(self):
        self.machine_of(("weak", "cpu", "0.6e8"), ("strong", "gpu", "1e8"))
        for scheme, steps in (("proportional", "3"), ("proportional", "3,6"), ("lower", "5,6")):
            plan = self.simulate(16, "--algorithm", "bitonic", "--scheme", scheme, "--fold", steps)
            flat = [s for first, last in (r if isinstance(r, list) else (r, r) for r in plan["folded_steps"])
                    for s in range(first, last + 1)]
            self.assertEqual(flat, [int(s) for s in steps.split(",")], scheme)

    def test_the_rule_at_many_k(self):
        """N with 1/2^(N+1) <= k/(1+k) < 1/2^N, in whole numbers, and the steps that follow from it."""
        for weak, strong in ((1, 1), (1, 2), (1, 3), (1, 4), (3, 5), (2, 7), (1, 7), (1, 15), (99, 100), (1, 100)):
            self.machine_of(("weak", "cpu", f"{weak}e6"), ("strong", "gpu", f"{strong}e6"))
            share, n = (weak, weak + strong), 12
            power = next(p for p in range(64) if share[0] * 2 ** (p + 1) >= share[1])
            power = max(power, 1)  # k = 1: the even split
            for scheme, items in (("upper", 2 ** (n - power)), ("lower", 2 ** (n - power - 1))):
                plan = self.simulate(2**n, "--algorithm", "bitonic", "--scheme", scheme, "--fold", "none")
                trailing = (items & -items).bit_length() - 1
                self.assertEqual((plan["N"], plan["weaker_items"]), (power, items), f"{weak}/{strong} {scheme}")
                self.assertEqual(plan["corun_steps"], corun(n, trailing), f"{weak}/{strong} {scheme}")
            plan = self.simulate(2**n, "--algorithm", "bitonic", "--scheme", "proportional", "--fold", "none")
            exact = share[0] * 2**n / share[1]
            self.assertEqual(plan["weaker_items"] % 2, 0)
            self.assertLessEqual(abs(plan["weaker_items"] - exact), 1 + 1e-9, f"{weak}/{strong}")

    def test_more_devices(self):
        self.machine_of(("a", "cpu", "1e8"), ("b", "gpu", "2e8"), ("c", "gpu", "5e8"), ("d", "cpu", "0.3e8"))
        for items in (2**20, 1000003):
            plan = self.simulate(items, "--algorithm", "bitonic", "--scheme", "upper")
            self.assertEqual(sum(part["items"] for part in plan["parts"]), items)
            self.assertAlmostEqual(sum(plan["shares"] if isinstance(plan["shares"], list) else
                                       plan["shares"].values()), 1.0, places=6)
            weaker = [part for part in plan["parts"] if part["device"] != "c"]
            self.assertEqual(sorted((p["items"] for p in weaker), reverse=True), [p["items"] for p in weaker])
            at = 0
            for part in sorted(plan["parts"], key=lambda p: p["first"]):
                self.assertEqual(part["first"], at)
                at += part["items"]

    def test_never_slower_than_the_best_device(self):
        """auto takes the cheapest of its candidates: splits, neighbours, no split."""
        for link in ("", "link: {bandwidth: 1GB/s, latency: 1ms}\n"):
            for weak in ("0.01e8", "0.3e8", "0.9e8"):
                self.machine_of(("weak", "cpu", weak, link), ("strong", "gpu", "1e8", link))
                for items in (1000, 2**16, 2**22):
                    alone = self.simulate(items, "--devices", "strong")["predicted_seconds"]
                    self.assertLessEqual(self.simulate(items)["predicted_seconds"], alone * (1 + 1e-9))

    def test_missing_capability(self):
        self.machine_of(("weak", "cpu", "0.6e8"), ("strong", "gpu", "1e8"))
        words = ("simulate", "--profiles", "profiles", "sort", "--items", "16", "--type")
        self.m.bad(2, *words, "f64", says="sort.f64")
        self.m.bad(2, *words, "u32", "--devices", "other", says="other")

    def test_formats(self):
        self.machine_of(("weak", "cpu", "0.6e8"), ("strong", "gpu", "1e8"))
        for words in (("simulate", "--profiles", "profiles"), ("explain",)):
            words = (*words, "sort", "--items", "65536", "--type", "u32", "--algorithm", "bitonic")
            self.assertTrue(self.m.good(*words))
            self.assertEqual(json.loads(self.m.good(*words, "--format", "json"))["flow"], "sort")
            svg = xml.dom.minidom.parseString(self.m.good(*words, "--format", "svg"))
            self.assertEqual(svg.documentElement.tagName, "svg")

    def test_flows(self):
        """Every job's plan names its flow and has the common fields; a sort of rows is a sort."""
        (self.m.work / "in.csv").write_text("k,v\n1,2\n3,4\n")
        schema = ("--schema", "k:i64,v:i64")
        self.m.good("parquet", "convert", "in.csv", "in.parquet", *schema)
        total = ("--select", "sum(v) as s")
        for flow, *words in (("mapreduce", "mapreduce", "in.csv", *schema, *total), ("splice", "splice", "in.csv", *schema, *total),
                             ("parquet", "parquet", "query", "in.parquet", *total), ("parquet", "mapreduce", "in.parquet", *total),
                             ("sort", "sort", "in.csv", "--input-format", "csv", *schema, "--key", "k"),
                             ("sort", "sort", "in.parquet", "--input-format", "parquet", "--key", "k desc")):
            plan = json.loads(self.m.good("--json", "explain", *words))
            self.assertEqual(plan["flow"], flow, words)
            for key in ("k", "k_source", "shares", "predicted_seconds", "devices", "tasks"):
                self.assertIn(key, plan, words)
            if flow == "sort":
                self.assertEqual([plan[key] for key in ("algorithm", "scheme", "n", "N", "weaker_items", "corun_steps",
                                                        "folded_steps", "parts")], [None] * 8)
        self.m.good("parquet", "query", "in.parquet", *total, "--receipt", "receipt.json")
        self.assertEqual(json.loads((self.m.work / "receipt.json").read_text())["flow"], "parquet")

    def test_parquet_plans_are_those_of_jobs(self):
        """An executor reads the footers for explain, too: a plan counts the bytes of the query's columns, whatever else a file
        has, and statistics that answer. Several files are planned with the types of all."""
        for name, kind in (("a", "i64"), ("b", "i32")):
            rows = "".join(f"{i % 97},{i},{i * 7919 % 1000003},{i / 7}\n" for i in range(120000))
            Path(self.m.path(f"{name}.csv")).write_text(f"k,v,w,x\n{rows}")
            self.m.good("-q", "parquet", "convert", f"{name}.csv", f"{name}.parquet", "--schema", f"k:u32,v:i64,w:{kind},x:f64",
                        "--row-group-rows", "30000")
        few = ("--where", "k < 50", "--select", "sum(v) as s")
        for words in (("a.parquet", *few), ("a.parquet", "b.parquet", "--group-by", "k", "--select", "k, max(w) as w, sum(x) as s"),
                      ("a.parquet", "--select", "count() as n, max(v) as v"), ("a.parquet", "--select", "w, x", "--order-by", "w", "--limit", "7")):
            query = ("parquet", "query", *words, "--devices", "cpu.0")
            for _ in range(5):  # between the plans hacd may have learnt more
                plan = self.m.json("explain", *query)
                self.m.good(*query, "-o", "out.csv", "--receipt", self.m.path("receipt.json"))
                receipt = json.loads(Path(self.m.path("receipt.json")).read_text())
                ran = self.m.json("show", receipt["job"])["plan"]
                if plan["predicted_seconds"] == receipt["predicted_seconds"]:
                    break
            for key in ("bytes", "rows", "chunk", "chunks", "engine", "predicted_seconds"):
                self.assertEqual(plan[key], ran[key], f"{words}: {key}")
            self.assertEqual(plan["predicted_seconds"], receipt["predicted_seconds"], words)
            self.assertEqual([t["codelet"] for t in plan["tasks"]], [t["codelet"] for t in ran["tasks"]])
        self.assertEqual(self.m.json("explain", "parquet", "query", "a.parquet", "b.parquet", *few)["rows"], 240000)

    def test_small_queries_run_once(self):
        """Rows get memory for their result at once if it may be too large for the message; what is small comes with the message."""
        rows = [f"{i},{i * 7919 % 10007}" for i in range(20000)]
        Path(self.m.path("t.csv")).write_text("k,v\n" + "\n".join(rows) + "\n")
        for limit, wanted in ((10008, rows), (5, [row for row in rows if int(row.split(",")[1]) < 5]), (0, [])):
            got = self.m.good("mapreduce", "t.csv", "--schema", "k:u32,v:u32", "--where", f"v < {limit}", "--select", "k, v",
                              "--receipt", self.m.path("receipt.json"))
            self.assertEqual(got.decode().splitlines(), ["k,v", *wanted])
            job = json.loads(Path(self.m.path("receipt.json")).read_text())["job"]
            ran = [e["args"]["codelet"] for e in self.m.json("trace", job)["traceEvents"] if e.get("cat") == "measured"]
            self.assertEqual(ran, ["query.whole"])

    def test_plans_of_bad_parquet(self):
        """explain says of a file what a job says."""
        Path(self.m.path("bad.parquet")).write_bytes(b"PAR1" + b"\0" * 100 + b"PAR1")
        query = ("parquet", "query", "bad.parquet", "--schema", "k:u32", "--select", "sum(k) as s")
        self.assertEqual(self.m.bad(1, "explain", *query), self.m.bad(1, *query))

    def test_sorts_of_rows_are_sorts(self):
        """The flow's name is the same wherever a user sees it."""
        (self.m.work / "in.csv").write_text("k,v\n1,2\n3,4\n")
        (self.m.work / "in.csv.gz").write_bytes(gzip.compress(b"k,v\n1,2\n3,4\n"))
        schema = ("--schema", "k:i64,v:i64")
        self.m.good("parquet", "convert", "in.csv", "in.parquet", *schema)
        for words in (("in.csv", *schema), ("in.parquet",), ("in.csv.gz", *schema)):
            sort = ("sort", *words, "--key", "k desc")
            if not words[0].endswith(".gz"):
                self.assertRegex(self.m.good("explain", *sort).decode(), r"\Asort of [0-9.]+ (Ki|Mi)?B of (csv|parquet)\b")
                svg = self.m.good("explain", *sort, "--format", "svg").decode()
                self.assertIn('class="title">sort</text>', svg)
            self.m.good(*sort, "-o", "out", "--receipt", "receipt.json")
            receipt = json.loads((self.m.work / "receipt.json").read_text())
            self.assertEqual(receipt["flow"], "sort", words)
            job = receipt["job"]
            self.assertIn(f"Job {job} (sort) is done.", self.m.good("why", job).decode())
            self.assertRegex(self.m.good("log", job).decode(), "submitted by uid [0-9]+, pid [0-9]+: sort of ")
            shown = self.m.json("show", job)
            self.assertEqual((shown["flow"], shown["plan"]["flow"]), ("sort", "sort"))
            self.assertEqual([j["flow"] for j in self.m.json("jobs")["jobs"] if j["id"] == job], ["sort"])
            self.assertIn("\nsort of ", self.m.good("show", job).decode())
        self.m.good("mapreduce", "in.csv", *schema, "--select", "*", "--order-by", "k", "-o", "out", "--receipt", "receipt.json")
        self.assertEqual(json.loads((self.m.work / "receipt.json").read_text())["flow"], "mapreduce")

    def test_what_ended_early_teaches_nothing(self):
        """Rows up to a limit are a small part of the input: their predicted time is not that of all of it."""
        rows = "".join(f"{i},{i * 7 % 1000}\n" for i in range(600000))
        Path(self.m.path("t.csv")).write_text(f"a,b\n{rows}")
        query = ("mapreduce", "t.csv", "--schema", "a:u32,b:u32", "--select", "a,b")
        for _ in range(5):
            self.assertEqual(self.m.good(*query, "--limit", "3").count(b"\n"), 4)
        prices = {c["name"]: c["predicted_seconds"] for c in self.m.json("explain", *query)["candidates"]}
        alone, both = prices["rows on cpu.0"], prices["rows on cpu.0 + cpu.1"]
        self.assertGreater(both * 4, alone, prices)

    def test_explain(self):
        """Plans of a file and of a count; sizes and types of all sorts, and extreme values can still be planned."""
        self.m.generate("u32", "random", 5000)
        by_file = self.m.json("explain", "sort", "in", "--type", "u32")
        by_count = self.m.json("explain", "sort", "--items", "5000", "--type", "u32")
        self.assertEqual(by_file.keys(), by_count.keys())
        for items in (0, 1, 2, 3, 1000, 2**16, 2**31, 2**40):
            for options in ([], ["--algorithm", "bitonic"], ["--algorithm", "radix"], ["--argsort"]):
                plan = self.m.json("explain", "sort", "--items", items, "--type", "f64", *options)
                self.assertLessEqual(EVERY_FLOW | SORT, set(plan))
        for scheme in ("proportional", "lower", "upper", "none"):
            plan = self.m.json("explain", "sort", "--items", 2**20, "--type", "u32", "--algorithm", "bitonic",
                               "--scheme", scheme)
            self.assertIsNotNone(plan["N"])

    def test_the_plan_shown_is_the_plan_that_runs(self):
        """Reading the file is part of the plan; few keys travel in the message."""
        for items in (0, 5000, 8192, 8193, 300000):
            self.m.generate("u32", "random", items)
            for options in ([], ["--algorithm", "bitonic"]):
                words = ["sort", "in", "--type", "u32", "--devices", "cpu.0", *options]
                shown = self.m.json("explain", *words)
                job = self.m.good(*words, "--detach").decode().strip()
                self.m.good("wait", job)
                events = [e["args"] for e in self.m.json("trace", job)["traceEvents"] if e.get("cat") == "predicted"]
                codelets = [task["codelet"] for task in shown["tasks"]]
                self.assertEqual(dict(enumerate(codelets)), {e["task"]: e["codelet"] for e in events})
                reads = items > (0 if options else 8192)
                self.assertEqual("io.read" in codelets, reads, f"{items} {options}")
                self.machine_of(("weak", "cpu", "0.6e8"), ("strong", "gpu", "1e8"))
                plan = self.m.json("simulate", "--profiles", "profiles", "sort", "in", "--type", "u32", *options)
                self.assertEqual("io.read" in [task["codelet"] for task in plan["tasks"]], reads, f"{items} {options}")

    def test_planning_takes_no_time(self):
        """A plan must not block the daemon, however large the job."""
        for items in (2**32, 2**40, 2**50, 2**60):
            for _ in range(5):  # other work may delay one
                result = self.m.run("explain", "sort", "--items", items, "--type", "u64", "--algorithm", "bitonic")
                if result.seconds < 1.0:
                    break
            self.assertLess(result.seconds, 1.0, f"{items}: {result}")
            self.assertIn(result.code, (0, 1, 2, 4))


if __name__ == "__main__":
    main()
