#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacd's part of a query: plans that turn out too small, passes, failures, many files. The executors are
support/fake_executor.py, which counts bytes; collections.Counter is the oracle."""
import collections
import functools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import HACCTL, LIBEXEC, ONE_DEVICE, TWO_DEVICES, Machine, eventually, main  # noqa: E402

FAKE = Path(__file__).resolve().parent.parent / "support" / "fake_executor.py"
AGGREGATES, QUOTES = 1, 8
# codelet, flags of a query that has it, bytes of its input
TASKS = [("query.whole", AGGREGATES, 1000), ("query.quotes", AGGREGATES | QUOTES, 3 << 20), ("query.aggregate", AGGREGATES, 3 << 20),
         ("query.merge", AGGREGATES, 3 << 20), ("query.finish", AGGREGATES, 3 << 20), ("query.rows", 0, 3 << 20),
         ("query.gather", 0, 3 << 20)]


@functools.lru_cache(maxsize=64)  # most tests ask for the same bytes
def expected(data):
    return "value,count\n" + "".join(f"{k},{v}\n" for k, v in sorted(collections.Counter(data).items()))


class Query(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.libexec = Path(tempfile.mkdtemp(prefix="hac-libexec-"))
        cls.addClassCleanup(shutil.rmtree, cls.libexec)
        (cls.libexec / "hacd").symlink_to(LIBEXEC / "hacd")
        (cls.libexec / "hac-executor").symlink_to(FAKE)
        cls.counts = cls.libexec / "counts"
        cls.counts.mkdir()
        cls.data = random.Random(1).randbytes(3 << 20).replace(b"\r", b" ")  # parts of it have no LF, and CR alone is refused
        cls.machines = {}

    def fake(self, profile=ONE_DEVICE, config=None):
        """The machine of that profile, with a folder for this test."""
        key = (profile, str(config))
        if key not in self.machines:
            environment = {"HAC_LIBEXEC": str(self.libexec), "HAC_TEST_EXECUTOR": str(LIBEXEC / "hac-executor"),
                           "HAC_TEST_COUNTS": str(self.counts)}
            self.machines[key] = Machine(profile, config=config, environment=environment)
            self.addClassCleanup(self.machines[key].close)
        machine = self.machines[key]
        machine.work = machine.root / self.id().rpartition(".")[2]
        machine.work.mkdir(exist_ok=True)
        return machine

    def put(self, machine, data, name="in.csv"):
        Path(machine.path(name)).write_bytes(data)
        return name

    def tasks(self):
        log = self.counts / "tasks"
        lines = log.read_text().splitlines() if log.exists() else []
        return collections.Counter(line.split()[0] for line in lines)

    def words(self, flags=AGGREGATES, **how):
        """The options of a query with those flags; the executors are told what to do."""
        (self.counts / "how").write_text(json.dumps(how))
        column, parse = "line", ["--parse", "lines"]
        if flags & QUOTES:
            column, parse = "value", ["--parse", "csv", "--no-header", "--delimiter", ",", "--schema", "value:string"]
        if flags & AGGREGATES:
            return [*parse, "--engine", "host", "--group-by", column, "--select", f"{column}, count() as n"]
        return [*parse, "--select", column]

    def query(self, machine, *names, options=(), **how):
        """Runs it; checks the answer, and returns the receipt."""
        for each in self.counts.iterdir():
            each.unlink()
        out = machine.good("mapreduce", *names, *self.words(**how), "--receipt", "receipt", *options)
        self.assertEqual(out.decode(), expected(b"".join(Path(machine.path(n)).read_bytes() for n in names)),
                         machine.log()[-2000:])
        return json.loads(Path(machine.path("receipt")).read_text())

    def test_sizes(self):
        """Around every boundary: nothing, one task, one chunk, several."""
        machine = self.fake()
        mib = 1 << 20
        for size in (0, 1, 16384, 16385, mib - 1, mib, mib + 1, 2 * mib, 2 * mib + 1, 3 * mib):
            receipt = self.query(machine, self.put(machine, self.data[:size]))
            self.assertEqual(receipt["query"]["engine"], "whole" if size <= mib else "host")
            if size > mib:
                self.assertEqual(receipt["query"]["rows_read"], size)
                self.assertEqual(receipt["query"]["chunks"], -(-size // mib))

    def test_rows_and_quotes(self):
        machine = self.fake()
        name = self.put(machine, self.data)
        self.assertEqual(self.query(machine, name, flags=0)["query"]["engine"], "rows")
        self.assertEqual(set(self.tasks()), {"query.rows", "query.gather"})
        self.query(machine, name, flags=AGGREGATES | QUOTES)
        self.assertIn("query.quotes", self.tasks())

    def test_many_files(self):
        machine = self.fake(TWO_DEVICES)
        names = [self.put(machine, self.data[i * 12000:(i + 1) * 12000 - i], f"{i}.csv") for i in range(253)]
        self.put(machine, b"", "7.csv")
        receipt = self.query(machine, *names, flags=AGGREGATES | QUOTES)
        self.assertEqual(receipt["query"]["sources"], 253)
        machine.bad(2, "mapreduce", *names, names[0], *self.words(), says="254 files are too many")

    def test_a_chunk_needs_more(self):
        """The region was too small: planned again, once."""
        machine = self.fake()
        receipt = self.query(machine, self.put(machine, self.data), pad=9 << 20)
        self.assertEqual(receipt["query"]["plans_too_small"], 1)
        self.assertGreater(receipt["query"]["region_bytes"], 9 << 20)
        self.assertIn("planned anew", receipt["log"])
        self.assertEqual(receipt["restarts"], 0)

    def test_a_partition_needs_more(self):
        machine = self.fake()
        receipt = self.query(machine, self.put(machine, self.data), group_pad=3 << 20)
        self.assertEqual(receipt["query"]["plans_too_small"], 1)
        self.assertIn("merged again", receipt["log"])
        self.assertEqual(receipt["query"]["groups"], 255)

    def test_the_result_needs_more(self):
        machine = self.fake()
        name = self.put(machine, self.data)
        self.assertEqual(self.query(machine, name, hint=1)["query"]["plans_too_small"], 0)
        small = self.put(machine, self.data[:100000], "small.csv")
        self.query(machine, small, no_inline=1)
        self.assertEqual(self.tasks()["query.whole"], 2)

    def test_passes(self):
        """What does not fit the job's memory is done by key ranges, with the same result."""
        machine = self.fake()
        name = self.put(machine, self.data)
        whole = self.query(machine, name)["query"]
        receipt = self.query(machine, name, pad=20 << 20, options=("--memory", "64MiB"))
        self.assertGreaterEqual(receipt["query"]["passes"], 4)
        self.assertEqual(receipt["query"]["groups"], 255)
        for rows in ("rows_read", "rows_kept"):  # in all passes, and counted once
            self.assertEqual(receipt["query"][rows], whole[rows])
        self.assertIn("passes", receipt["log"])

    def test_passes_whose_partitions_need_more(self):
        machine = self.fake()
        receipt = self.query(machine, self.put(machine, self.data), pad=8 << 20, group_pad=8 << 20,
                             options=("--memory", "192MiB"))
        self.assertGreaterEqual(receipt["query"]["plans_too_small"], 2)

    def test_an_executor_runs_out_of_memory(self):
        machine = self.fake()
        fail = {"codelet": "query.aggregate", "code": 6, "passes_below": 4}
        receipt = self.query(machine, self.put(machine, self.data), fail=fail)
        self.assertEqual(receipt["query"]["passes"], 4)
        self.assertIn("do not fit an executor's memory", receipt["log"])

    def test_not_enough_memory(self):
        machine = self.fake()
        name = self.put(machine, self.data)
        machine.bad(4, "mapreduce", name, *self.words(pad=900 << 20), "--memory", "32MiB",
                    says="more memory")
        machine.bad(4, "mapreduce", name, *self.words(), "--memory", "100KiB", says="more memory")

    def test_errors(self):
        machine = self.fake()
        name = self.put(machine, self.data)
        for each in (name, self.put(machine, b"x", "small.csv")):
            machine.bad(2, "mapreduce", each, "--parse", "lines", "--select", "nonsense", says="hacctl: --select: character 1: unknown")
        for codelet in ("query.aggregate", "query.merge", "query.finish"):
            fail = {"codelet": codelet, "code": 1, "message": "line 7 is odd"}
            machine.bad(1, "mapreduce", name, *self.words(fail=fail), "-o", "none",
                        says="in.csv: line 7 is odd")
        fail = {"codelet": "query.aggregate", "code": 2, "message": "column price is missing"}
        machine.bad(2, "mapreduce", name, *self.words(fail=fail), says="column price is missing")
        self.assertFalse(Path(machine.path("none")).exists())

    def test_errors_of_two_files(self):
        """The first file's error is reported, even where the quotes of the second cannot be counted."""
        machine = self.fake(TWO_DEVICES)
        names = [self.put(machine, self.data, name) for name in ("a.csv", "b.csv")]  # three chunks each
        for codelet, flags in (("query.aggregate", AGGREGATES | QUOTES), ("query.rows", QUOTES)):
            fail = [{"codelet": codelet, "code": 1, "message": "line 7 is odd", "first_chunk": 0},
                    {"codelet": "query.quotes", "code": 1, "message": "cannot be read", "first_chunk": 3}]
            for how, says in ((fail, "a.csv: line 7 is odd"), (fail[1:], "b.csv: cannot be read")):
                machine.bad(1, "mapreduce", *names, *self.words(flags=flags, fail=how), "-o", "none",
                            says=says)

    def test_executors_that_lie(self):
        """Impossible values: the job ends with an error, not in an endless loop, and hacd stays."""
        machine = self.fake()
        name = self.put(machine, self.data[:(1 << 20) + 1])  # two chunks
        huge = (1 << 64) - 1
        for codelet, values in (("query.aggregate", [1, 1, 0, 1, huge]), ("query.aggregate", [1, 1, 0, 1, 1 << 40]),
                                ("query.merge", [1, huge, 1]), ("query.merge", [1, 1, huge]),
                                ("query.finish", [1, huge]), ("query.aggregate", [])):
            wrong = {"codelet": codelet, "values": values}
            result = machine.run("mapreduce", name, *self.words(wrong=wrong), "-o", "lie")
            self.assertIn(result.code, (0, 1, 4), (wrong, result))
        for values in ([1, 1 << 60, 1], [1, huge - 63, 1]):  # times the partitions: more than 64 bits
            wrong = {"codelet": "query.merge", "values": values}
            for memory in ((), ("--memory", "64MiB")):  # that leads to passes
                how = {"wrong": wrong, "pad": 20 << 20 if memory else 0}
                machine.bad(1, "mapreduce", name, *self.words(**how), *memory, "-o", "lie",
                            says="a partition cannot need that many bytes")
        self.query(machine, name)

    def test_queries_that_take_too_long(self):
        """The query is given up, and no other job waits for it: that says nothing about the device."""
        machine = self.fake(ONE_DEVICE, config={"task_deadline_minimum": "3s", "task_deadline_factor": 2})
        name = self.put(machine, self.data)
        says = machine.bad(1, "mapreduce", name, *self.words(sleep=20), says="in the time limit of 3 s")
        device = machine.devices()[0]["name"]
        self.assertRegex(says, rf"{device} did not finish query\.\w+ in the time limit of 3 s, tried 6 times; "
                               r"simplify the query, or raise task_deadline_minimum in hacd\.yaml")
        self.assertNotIn("the next one starts in", machine.log())
        self.query(machine, self.put(machine, self.data[:100000]))  # well within 3 s, on a busy machine too

    def test_progress(self):
        """Tasks of far more than 20 times their prediction, and twice the limit, which count steps meanwhile, end well."""
        machine = self.fake(ONE_DEVICE, config={"task_deadline_minimum": "1s", "task_deadline_factor": 2})
        for slow in ("query.aggregate", "query.merge", "query.finish"):
            receipt = self.query(machine, self.put(machine, self.data), sleep=2.2, slow=slow, steps=True)
            self.assertEqual((receipt["retries"], receipt["restarts"]), (0, 0), receipt["log"])

    def begin(self, machine, codelet, flags, n):
        """A query, when a task of 60 s of that codelet runs."""
        (self.counts / "tasks").unlink(missing_ok=True)
        process = machine.start("--socket", machine.socket, "mapreduce", self.put(machine, self.data[:n]), *self.words(flags, sleep=60, slow=codelet))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertTrue(eventually(lambda: self.tasks()[codelet], 20, 0.01), (codelet, machine.log()[-2000:]))
        return process

    def test_cancel_within_a_task(self):
        """Whatever runs, Ctrl-C and `cancel` end the job soon, and the next query works."""
        machine, late = self.fake(), {}
        machine.daemon()
        for codelet, flags, n in TASKS:
            process = self.begin(machine, codelet, flags, n)
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(20), 130, codelet)
            jobs = machine.json("jobs")["jobs"]
            late[codelet] = time.monotonic() - began
            self.assertEqual([job for job in jobs if job["state"] == "running"], [], codelet)
        print(f"cancelled after {late}", file=sys.stderr)
        self.assertLess(sorted(late.values())[len(late) // 2], 1)  # 0.1 s until the executor is killed
        self.assertNotIn("the next one starts in", machine.log())
        self.query(machine, self.put(machine, self.data[:200000]))

    def test_deadline_within_a_task(self):
        machine = self.fake()
        began = time.monotonic()
        machine.bad(1, "mapreduce", self.put(machine, self.data[:200000]), *self.words(sleep=60), "--deadline", "1s",
                    says="its deadline of 1 s has passed")
        self.assertLess(time.monotonic() - began, 10)

    @unittest.skipIf(os.geteuid() != 0, "needs root: NOT TESTED that users are kept apart")
    def test_others_within_a_task(self):
        """Another user's small query need not wait for a long task, whatever it is, nor end it."""
        machine = self.fake()
        machine.daemon()
        for path in (self.libexec, self.counts, machine.root, machine.socket.parent.parent, machine.socket.parent):
            os.chmod(path, 0o755)
        os.chmod(machine.socket, 0o666)
        small = machine.root / "small.csv"
        small.write_text("a\nb\n")
        self.beside_tasks(machine, small, ["setpriv", "--reuid", "60321", "--regid", "60321", "--clear-groups"])
        os.chmod(machine.socket.parent, 0o700)

    def test_own_within_a_task(self):
        """Nor need the same user's: a second executor runs it, and ends as idle ones do."""
        machine = self.fake(config={"executor_idle_timeout": "2s"})
        machine.daemon()
        small = machine.root / "small.csv"
        small.write_text("a\nb\n")
        self.beside_tasks(machine, small, [])
        self.assertTrue(eventually(lambda: not any(device["executors"] for device in machine.devices()), 20, 0.1), machine.devices())

    def beside_tasks(self, machine, small, prefix):
        """A small query while a long task of each kind runs; `prefix` makes it another user's."""
        other = [*prefix, str(HACCTL), "--socket", str(machine.socket),
                 "mapreduce", str(small), "--parse", "lines", "--select", "line, count() as n", "--group-by", "line"]
        late = {}
        for codelet, flags, n in TASKS:
            process = self.begin(machine, codelet, flags, n)
            (self.counts / "how").write_text("{}")
            took = []
            for _ in range(3):
                began = time.monotonic()
                done = subprocess.run(other, env=machine.environment, cwd="/", capture_output=True, timeout=30, check=False)
                took.append(time.monotonic() - began)
                self.assertEqual((done.returncode, done.stdout.decode()), (0, expected(b"a\nb\n")), done.stderr)
            late[codelet] = min(took)  # the first one starts the user's executor
            self.assertIsNone(process.poll(), codelet)
            process.kill()
            process.wait()
        print(f"a small query beside took {late}", file=sys.stderr)
        self.assertLess(sorted(late.values())[len(late) // 2], 1)

    def test_executors_that_die(self):
        machine = self.fake(TWO_DEVICES)
        name = self.put(machine, self.data)
        for codelet in ("query.aggregate", "query.merge", "query.finish"):
            receipt = self.query(machine, name, die={"codelet": codelet, "times": 2})
            self.assertEqual(receipt["retries"] + receipt["restarts"] > 0, True, codelet)
            self.assertEqual(receipt["query"]["rows_read"], len(self.data))

    def test_executors_of_the_only_device_that_die(self):
        """A job that may use one of two devices has no alternative, and tries longer."""
        machine = self.fake(TWO_DEVICES)
        receipt = self.query(machine, self.put(machine, self.data), options=("--devices", "cpu.1"),
                             die={"codelet": "query.aggregate", "times": 4, "signal": 11})
        self.assertEqual((receipt["retries"], receipt["restarts"]), (4, 0))

    def test_executors_that_are_killed_each_time(self):
        """An executor that is killed again and again, as when a job needs more memory than there is: not for ever."""
        machine = self.fake()
        name = self.put(machine, self.data)
        die = {"codelet": "query.merge", "times": 1000}
        machine.bad(1, "mapreduce", name, *self.words(die=die), says="20 executors were lost at it")

    def test_skipped(self):
        machine = self.fake()
        result = machine.run("mapreduce", self.put(machine, self.data), *self.words(skipped=3))
        self.assertEqual(result.code, 0)
        self.assertRegex(result.err, r"\Ahacctl: \d+ records that could not be read were left out\n\Z")

    def test_cancel_and_detach(self):
        machine = self.fake()
        name = self.put(machine, self.data)
        job = machine.good("mapreduce", name, *self.words(sleep=2), "--detach").decode().strip()
        machine.good("cancel", job)
        machine.bad(130, "wait", job)
        job = machine.good("mapreduce", name, *self.words(), "--detach").decode().strip()
        machine.good("wait", job)
        self.assertEqual(machine.good("result", job).decode(), expected(self.data))
        job = machine.good("mapreduce", name, *self.words(sleep=1), "--detach", "--deadline", "0.3s").decode()
        machine.bad(1, "wait", job.strip(), says="deadline")

    def test_deadline_that_cannot_be_met(self):
        """A query is refused at once if its bytes take longer than its deadline at the device's rate."""
        machine = self.fake(ONE_DEVICE + "capability: {query.aggregate.none: 1000}\n")
        name = self.put(machine, self.data)
        says = machine.bad(4, "mapreduce", name, *self.words(), "--deadline", "1s", says="cannot be met")
        seconds = float(re.search(r"predicted to take ([0-9.e+]+) s alone", says).group(1))
        self.assertAlmostEqual(seconds, len(self.data) / 1000, delta=seconds / 100)

    def test_nothing_is_left(self):
        """Descriptors and memory after queries of all kinds are what they were before."""
        machine = self.fake()
        daemon = machine.daemon()
        names = [self.put(machine, self.data[:70000], f"{i}.csv") for i in range(20)]
        self.query(machine, *names)
        machine.settled(daemon)

        def held():  # a scratch directory may be in the middle of its removal
            return {kind: n for kind, n in daemon.descriptors().items() if "/scratch" not in kind}
        before = held()
        for _ in range(5):
            self.query(machine, *names, pad=4 << 20)
            machine.bad(2, "mapreduce", *names, "--parse", "lines", "--select", "nonsense", says="nonsense")
        machine.settled(daemon)
        self.assertTrue(eventually(lambda: held() == before), (before, held()))

    def test_explained(self):
        machine = self.fake()
        plan = machine.json("explain", "mapreduce", self.put(machine, self.data), *self.words())
        self.assertEqual(plan["flow"], "mapreduce")
        for key in ("k", "k_source", "shares", "predicted_seconds", "devices", "tasks"):
            self.assertIn(key, plan)
        job = machine.good("mapreduce", "in.csv", *self.words(), "--detach").decode().strip()
        machine.good("wait", job)
        self.assertEqual(machine.json("show", job)["plan"]["flow"], "mapreduce")
        self.assertIn("device", machine.good("why", job).decode())
        self.assertIn("aggregate", machine.good("trace", job).decode())


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    main()
