#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The buffers of splice from end to end: what receipts, traces and `show` say about them, checked against the file, in C and
on both styles of kernels, on devices of either byte order; the answers are Python's own."""
import collections
import json
import random
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import ONE_DEVICE, MachineTest, main  # noqa: E402

SIMT = ONE_DEVICE.replace("kind: cpu\n", "kind: cpu\nstyle: simt\n")
BIG = "byte_order: big\n"
QUERY = ("--schema", "k:u16,s:string,n:i64,b:bool", "--group-by", "s, b", "--select",
         "s, b, count() as c, sum(n) as sn, max(k) as m", "--order-by", "s, b")
STAGES = ["read", "preprocess", "splice", "map"]
ROWS = 200000


def rows():
    rng = random.Random(7)
    for _ in range(ROWS):
        yield (rng.randrange(60000), f"key {rng.randrange(300)}", rng.randrange(-10**12, 10**12), rng.random() < 0.3)


def answer(data):
    groups = collections.defaultdict(lambda: [0, 0, 0])
    for k, s, n, b in data:
        group = groups[s, b]
        group[0] += 1
        group[1] += n
        group[2] = max(group[2], k)
    lines = [f"{s},{str(b).lower()},{c},{n},{k}" for (s, b), (c, n, k) in sorted(groups.items())]
    return "s,b,c,sn,m\n" + "".join(line + "\n" for line in lines)


class Buffers(MachineTest):
    @classmethod
    def setUpClass(cls):
        data = list(rows())
        cls.text = "k,s,n,b\n" + "".join(f"{k},{s},{n},{str(b).lower()}\n" for k, s, n, b in data)
        cls.answer = answer(data)

    def ask(self, profile, *options):
        """Runs it; checks the answer. Receipt, trace, and what show says."""
        machine = self.machine(profile)
        Path(machine.path("in.csv")).write_text(self.text)
        out = machine.good("mapreduce", "in.csv", *QUERY, "--receipt", "receipt", "--trace", "trace", *options)
        self.assertEqual(out.decode(), self.answer)
        receipt, trace = (json.loads(Path(machine.path(name)).read_text()) for name in ("receipt", "trace"))
        return receipt, trace["traceEvents"], machine.good("show", receipt["job"]).decode()

    def check(self, splice):
        """What always holds: the file went through once."""
        direct, working = splice["direct_buffer"], splice["working_buffer"]
        self.assertEqual(direct["records"], ROWS)
        self.assertEqual(direct["bytes"], len(self.text))
        self.assertGreaterEqual(direct["data_sets"], direct["bytes"] // direct["largest_bytes"])
        self.assertEqual(working["records"], ROWS)
        self.assertEqual(working["blocks"], splice["launching_buffer"]["blocks"])
        self.assertLessEqual(working["highest_fill_bytes"], working["capacity_bytes"])
        self.assertLessEqual(working["pauses"], working["triggers"])
        self.assertGreater(splice["result_buffer"]["bytes"], 0)
        self.assertIn(splice["slowest_stage"], STAGES)
        self.assertEqual([device["name"] for device in splice["devices"]], ["cpu"])
        self.assertEqual(list(splice["devices"][0]["stages"]), STAGES)

    def check_trace(self, events, stages):
        """Each stage has a lane of its own, and lies within one of the measured tasks."""
        tasks = [e for e in events if e.get("cat") == "measured"]
        slices = [e for e in events if e.get("cat") == "stage"]
        self.assertEqual({e["name"] for e in slices}, set(stages))
        names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        for e in slices:
            self.assertEqual(names[e["tid"]], e["name"])
            self.assertTrue(any(t["ts"] - 1 <= e["ts"] and e["ts"] + e["dur"] <= t["ts"] + t["dur"] + 1 for t in tasks))

    def test_in_place(self):
        receipt, trace, shown = self.ask(ONE_DEVICE, "--engine", "host")
        self.check(receipt["splice"])
        device = receipt["splice"]["devices"][0]
        self.assertTrue(device["in_place"])
        self.assertEqual(device["stages"]["splice"]["busy_seconds"], 0)
        self.check_trace(trace, ["read", "preprocess", "map"])
        self.assertIn("mapped in place", shown)

    def test_devices(self):
        for profile in (ONE_DEVICE, ONE_DEVICE + BIG, SIMT + BIG):
            with self.subTest(profile):
                receipt, trace, shown = self.ask(profile, "--engine", "device")
                splice = receipt["splice"]
                self.check(splice)
                self.assertFalse(splice["devices"][0]["in_place"])
                self.assertEqual(splice["launching_buffer"]["blocks"], splice["direct_buffer"]["data_sets"])
                self.assertGreater(splice["working_buffer"]["triggers"], 0)
                self.check_trace(trace, STAGES)
                self.assertIn(f"{splice['launching_buffer']['blocks']} blocks spliced", shown)
                self.assertIn("  the slowest\n", shown)

    def test_streams(self):
        """A stream runs one plan a round: trace, receipt and show describe all of them."""
        machine = self.machine(ONE_DEVICE)
        Path(machine.path("in.csv")).write_text(self.text)
        files = ("--split-size", "1MiB", "--receipt", "receipt", "--trace", "trace", "-o", "out.csv")
        filtered = ("--schema", QUERY[1], "--where", "k < 30000", "--select", "k, s")
        for options, last in ((QUERY, "finish"), (filtered, "gather")):
            with self.subTest(last):
                machine.good("splice", "in.csv", *options, *files)
                receipt, trace = (json.loads(Path(machine.path(name)).read_text()) for name in ("receipt", "trace"))
                out = Path(machine.path("out.csv")).read_bytes()
                self.assertEqual((receipt["bytes_in"], receipt["bytes_out"]), (len(self.text), len(out)))
                splits, rounds = receipt["query"]["splits"], receipt["query"]["rounds"]
                self.assertGreater(splits, 1)
                measured = [e for e in trace["traceEvents"] if e.get("cat") == "measured"]
                names = collections.Counter(e["name"] for e in measured)
                self.assertNotIn("compile", names)  # libhac has compiled the query
                self.assertGreaterEqual(names["rows" if last == "gather" else "aggregate"], rounds)
                self.assertEqual(names[last], 1 if last == "finish" else rounds)
                self.assertEqual(trace["otherData"]["pieces_left_out"], 0)
                self.assertLessEqual(max(e["ts"] + e["dur"] for e in measured), receipt["total_seconds"] * 1e6)
                self.check_trace(trace["traceEvents"], ["read", "preprocess", "map"])
                self.assertEqual(json.loads(machine.good("trace", receipt["job"])), trace)
                shown = machine.good("show", receipt["job"]).decode()
                self.assertIn(f"splice of {len(self.text) / 2**20:.3g} MiB of csv", shown)
                self.assertIn(" in the last of ", shown)

    def test_slow_input(self):
        """The receipt says that time went to waiting for a slow input; for a ready input it does not."""
        machine = self.machine(ONE_DEVICE)
        Path(machine.path("in.csv")).write_text(self.text)
        process = machine.start("splice", "-", "--parse", "csv", *QUERY, "--receipt", "slow", stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        for at in range(0, len(self.text), len(self.text) // 4 + 1):
            process.stdin.write(self.text[at:at + len(self.text) // 4 + 1].encode())
            process.stdin.flush()
            time.sleep(0.3)
        process.stdin.close()
        with process.stdout as out:
            self.assertEqual(out.read().decode(), self.answer)
        self.assertEqual(process.wait(60), 0)
        machine.good("splice", "in.csv", *QUERY, "-o", "out.csv", "--receipt", "fast")
        slow, fast = (json.loads(Path(machine.path(name)).read_text()) for name in ("slow", "fast"))
        self.assertEqual(slow["splice"]["slowest_stage"], "input")
        self.assertGreater(slow["splice"]["client"]["input_wait_seconds"], 0.8)
        self.assertEqual(fast["splice"]["client"]["input_wait_seconds"], 0)
        self.assertGreater(fast["splice"]["client"]["reading_seconds"], 0)
        for receipt in (slow, fast):
            self.assertLessEqual(sum(receipt["splice"]["client"].values()), receipt["total_seconds"])
        self.assertIn("input, slower than the devices", machine.good("show", slow["job"]).decode())

    def test_planned_anew(self):
        """The report of a round that needed larger parts, and was repeated, is not counted."""
        machine = self.machine(ONE_DEVICE)
        rng = random.Random(1)
        text = "k,v\n" + "".join(f"{rng.randrange(10**6)},{i % 10}\n" for i in range(2 * ROWS))
        Path(machine.path("in.csv")).write_text(text)
        machine.good("splice", "in.csv", "--schema", "k:i64,v:string", "--group-by", "k", "--select", "string_list(v) as l",
                     "-o", "out.csv", "--receipt", "receipt")
        receipt = json.loads(Path(machine.path("receipt")).read_text())
        self.assertIn("planned anew", machine.good("log", receipt["job"]).decode())
        self.assertEqual(receipt["query"]["rows_read"], 2 * ROWS)
        self.assertEqual(receipt["splice"]["direct_buffer"]["records"], 2 * ROWS)

    def test_tables_have_none(self):
        machine = self.machine(ONE_DEVICE)
        Path(machine.path("in.csv")).write_text(self.text)
        machine.good("parquet", "convert", "in.csv", "in.parquet", "--schema", QUERY[1])
        machine.good("mapreduce", "in.parquet", "--select", "count() as c", "--receipt", "receipt")
        self.assertNotIn("splice", json.loads(Path(machine.path("receipt")).read_text()))


if __name__ == "__main__":
    main()
