#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs and what can be asked about them."""
import json
import os
import resource
import signal
import sys
import time
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import TWO_DEVICES, MachineTest, SharedMachineTest, children, command_of, eventually, main, state_of  # noqa: E402

DONE, CANCELLED = 3, 5  # states of jobs
BITONIC = ("--algorithm", "bitonic")


class Jobs(SharedMachineTest):
    profile = TWO_DEVICES
    config = {"result_expiry": "20s"}

    @classmethod
    def tearDownClass(cls):
        cls.m.check_clean(slack=32 << 20, seconds=40)  # records and results expire after 20 s

    def detach(self, items=100000, kind="u32", *options):
        self.m.generate(kind, "random", items)
        job = self.m.good("sort", "in", "--type", kind, *BITONIC, "--detach", *options).decode().strip()
        self.assertRegex(job, r"^\d+$")
        return job

    def state(self, job):
        return self.m.json("show", job)["state"]

    def test_detached(self):
        job = self.detach()
        self.m.good("wait", job)
        self.m.good("result", job, "-o", "out")
        self.assertIsNone(self.m.wrong("u32", "in", "out"))
        record = self.m.json("show", job)
        self.assertEqual((record["state"], record["items"], record["id"]), ("done", 100000, int(job)))
        self.assertIn(int(job), [j["id"] for j in self.m.json("jobs")["jobs"]])
        self.assertIn("cpu.", self.m.good("why", job).decode())
        self.assertIn("plan: bitonic", self.m.good("log", job).decode())
        self.assertEqual(self.m.good("log", job), self.m.good("log", "-f", job))

    def test_detached_in_the_background(self):
        """Commands that read their input, or write their result, themselves: the command itself still returns at once."""
        work = self.m.work
        (work / "in.csv").write_text("k,v\n" + "".join(f"{i % 3},{i}\n" for i in range(60000)))
        (work / "slow.yaml").write_text("""name: slow
inputs: {p: {parse: csv, schema: "k:i64,v:i64"}}
vectors: {round: {template: Var, type: i64, value: 0}, all: {template: Var, type: i64, value: 0}}
operators:
  - while: {condition: "round < 300", rounds: 300}
    do:
      - map: {expr: "p.v + round", out: y}
      - reduce: {in: y, function: sum, out: all}
      - let: {round: "round + 1"}
outputs: {sum: {columns: {sum: all}}}
""")
        sums = {str(k): str(sum(range(k, 60000, 3))) for k in range(3)}
        splice = ("splice", "in.csv", "--schema", "k:i64,v:i64", "--group-by", "k", "--select", "sum(v) as s")
        convert = ("parquet", "convert", "in.csv", "out.parquet", "--schema", "k:i64,v:i64")
        logic = ("opsplit", "run", "slow.yaml", "--input", "p=in.csv", "-o", "out")
        for words in ((*splice, "-o", "out.csv"), convert, logic):
            job = self.m.good(*words, "--detach").decode().strip()
            self.assertRegex(job, r"^\d+$")
            self.m.good("wait", job)
            self.assertEqual(self.state(job), "done")

        def written(name):
            self.assertTrue(eventually((work / name).exists), name)
            return work / name
        rows = written("out.csv").read_text().split()[1:]
        self.assertEqual(dict(row.split(",") for row in rows), sums)
        got = self.m.good("parquet", "query", written("out.parquet"), "--group-by", "k", "--select", "sum(v) as s").decode()
        self.assertEqual(dict(row.split(",") for row in got.split()[1:]), sums)
        self.assertEqual(written("out/sum.csv").read_text(), f"sum\n{sum(map(int, sums.values())) + 299 * 60000}\n")
        # the id comes while the job runs, and `cancel` reaches the job: nothing is written then
        (work / "slow.yaml").write_text((work / "slow.yaml").read_text().replace("300", "100000000"))
        job = self.m.good(*logic[:-1], "never", "--detach").decode().strip()
        self.assertEqual(self.state(job), "running")
        self.m.good("cancel", job)
        self.assertTrue(eventually(lambda: self.state(job) == "cancelled"))
        self.assertFalse((work / "never" / "sum.csv").exists())

    def test_detached_without_a_device(self):
        """Such a run of a logic file is a job like others and can be queried."""
        (self.m.work / "in.csv").write_text("k\n1\n2\n")
        (self.m.work / "copy.yaml").write_text('name: copy\ninputs: {p: {parse: csv, schema: "k:i64"}}\n'
                                               "outputs: {y: {columns: {k: p.k}}}\n")
        (self.m.work / "let.yaml").write_text("name: let\nvectors: {x: {template: Var, type: i64, value: 3}}\n"
                                              'operators: [let: {x: "x + 1"}]\noutputs: {y: {columns: {x: x}}}\n')
        for words, rows in ((("copy.yaml", "--input", "p=in.csv"), "k\n1\n2\n"), (("let.yaml",), "x\n4\n")):
            job = self.m.good("opsplit", "run", *words, "-o", "out", "--detach").decode().strip()
            self.assertRegex(job, r"^\d+$")
            self.m.good("wait", job)
            self.assertEqual((self.m.work / "out" / "y.csv").read_text(), rows)
            self.assertEqual(self.state(job), "done")
            self.m.good("opsplit", "run", *words, "-o", "out", "--trace", "t.json", "--receipt", "r.json")
            self.assertEqual(json.loads((self.m.work / "t.json").read_text()), {"traceEvents": []})
            self.assertEqual(self.state(json.loads((self.m.work / "r.json").read_text())["job"]), "done")
            self.assertEqual(self.m.run("opsplit", "run", *words).err, "hacctl: no output is written without -o DIR\n")

    def test_detached_before_its_input_ends(self):
        """The id comes even if the first task takes long to come."""
        for words in (("splice", "-", "--parse", "csv", "--schema", "a:i64", "--select", "sum(a) as s"),
                      ("splice", "-", "--parse", "lines", "--select", "count() as n")):
            read, write = os.pipe()
            process = self.m.start(*words, "-o", "out.csv", "--detach", stdin=read)
            os.close(read)
            os.write(write, b"a\n1\n2\n")
            job = process.communicate(timeout=20)[0].decode().strip()
            os.close(write)
            self.assertRegex(job, r"^\d+$")
            self.m.good("wait", job)

    def test_result_is_released(self):
        """Fetched whole, its memory and place become free, and its record stays; a failed fetch releases nothing."""
        job = self.detach(2000000)
        self.m.good("wait", job)
        self.m.bad(1, "result", job, "-o", "/dev/full", says="no space left")
        slow = self.m.start("result", job)  # reads its copy while another client fetches and releases
        self.assertTrue(eventually(lambda: self.m.json("show", job)["memory_bytes"] > 0))
        first = os.read(slow.stdout.fileno(), 1000)
        self.m.good("result", job, "-o", "out")
        self.assertIsNone(self.m.wrong("u32", "in", "out"))
        self.m.bad(2, "result", job, "-o", "again", says=f"the result of job {job} is gone: it was fetched and released")
        self.assertFalse((self.m.work / "again").exists())
        self.m.generate("u32", "random", 2000000, seed=2, name="other")
        self.m.sort_and_check("u32", in_name="other", out_name="other.out")  # would take the memory
        first += slow.communicate(timeout=20)[0]
        self.assertEqual(slow.returncode, 0)
        self.assertEqual(first, (self.m.work / "out").read_bytes())
        self.m.good("wait", job)
        self.assertEqual(self.state(job), "done")
        self.assertTrue(eventually(lambda: self.m.json("show", job)["memory_bytes"] == 0))
        for words in (("why", job), ("log", job), ("trace", job)):
            self.assertTrue(self.m.good(*words))
        for items in (0, 100, 300000):  # in the message and in a buffer: without fetching it
            job = self.detach(items)
            self.m.good("wait", job)
            said = self.m.run("cancel", job)
            self.assertEqual((said.code, said.out), (0, b""))
            self.assertIn("its result is released" if items else "there is nothing to cancel", said.err)
            if items:
                self.m.bad(2, "result", job, "-o", "again", says="is gone")
            self.assertIn("there is nothing to cancel", self.m.run("cancel", job).err)

    def test_detached_output_that_cannot_be_written(self):
        """The job fails with its writer's message, whether it was done by then or not; all who ask are told."""
        work = self.m.work
        (work / "in.csv").write_text("k,v\n" + "".join(f"{i % 3},{i}\n" for i in range(300000)))
        (work / "one.yaml").write_text('name: one\ninputs: {p: {parse: csv, schema: "k:i64,v:i64"}}\n'
                                       "operators: [map: {expr: p.k + 1, out: y}]\noutputs: {y: {columns: [y]}}\n")
        (work / "taken" / "y.csv").mkdir(parents=True)
        read = ("splice", "in.csv", "--schema", "k:i64,v:i64")
        for words, says in (((*read, "--select", "*", "-o", "/dev/full"), "no space left on device"),
                            ((*read, "--select", "sum(v)", "-o", "/dev/full"), "no space left on device"),
                            (("parquet", "convert", "in.csv", "/dev/full", "--schema", "k:i64,v:i64"), "no space left on device"),
                            (("opsplit", "run", "one.yaml", "--input", "p=in.csv", "-o", "taken"), "y.csv")):
            job = self.m.good(*words, "--detach").decode().strip()
            self.m.bad(1, "wait", job, says=says)
            record = self.m.json("show", job)
            self.assertEqual(record["state"], "failed", words)
            self.assertIn(says, record["message"])
            self.assertIn(says, self.m.good("log", job).decode())
            self.m.bad(1, "result", job, "-o", "never", says=says)
        self.assertRegex(self.m.log(), f"job [0-9]+ of uid {os.getuid()} failed: ")

    def test_detached_output_whose_writer_dies(self):
        """Clients that wait for the job hear that it was not done."""
        work = self.m.work
        (work / "in.csv").write_text("v\n" + "1\n" * 2000000)
        os.mkfifo(work / "result.csv")
        words = ("splice", "in.csv", "--schema", "v:i64", "--select", "v", "-o", "result.csv")
        process = self.m.start(*words, "--detach")  # nobody reads the pipe: the writer blocks
        reader = os.open(work / "result.csv", os.O_RDONLY | os.O_NONBLOCK)
        try:
            job = process.communicate(timeout=20)[0].decode().strip()
            self.assertTrue(eventually(lambda: self.state(job) == "running"))
            here = [p for p in os.listdir("/proc") if p.isdigit() and "splice in.csv" in command_of(p)]
            (writer,) = [int(p) for p in here if os.path.samefile(f"/proc/{p}/cwd", work)]
            waiting = self.m.start("wait", job)
            time.sleep(0.3)
            self.assertIsNone(waiting.poll())
            os.kill(writer, signal.SIGKILL)
            self.assertIn(b"its client is gone", waiting.communicate(timeout=20)[1])
            self.assertNotEqual(waiting.returncode, 0)
        finally:
            os.close(reader)
        self.assertIn(self.state(job), ("failed", "cancelled"))

    def test_detached_whose_id_is_not_told(self):
        """A job that nobody could ask for or cancel does not go on."""
        self.m.generate("u32", "random", 8000000)
        (self.m.work / "slow.yaml").write_text("""name: slow
vectors: {round: {template: Var, type: i64, value: 0}, y: {template: Var, type: i64, value: 0}}
inputs: {p: {parse: csv, schema: "k:i64"}}
operators: [{while: {condition: "round < 100000000", rounds: 100000000},
             do: [reduce: {in: p.k, function: sum, out: y}, let: {round: "round + 1"}]}]
outputs: {y: {columns: {y: y}}}
""")
        (self.m.work / "in.csv").write_text("k\n1\n2\n")
        read, write = os.pipe()  # a stream without an end
        os.write(write, b"1\n2\n")
        full = os.open("/dev/full", os.O_WRONLY)
        gone, broken = os.pipe()
        os.close(gone)
        for words in (("sort", "in", "--type", "u32", *BITONIC), ("calibrate",),
                      ("splice", "-", "--parse", "lines", "--select", "count() as n", "-o", "out.csv"),
                      ("opsplit", "run", "slow.yaml", "--input", "p=in.csv", "-o", "out")):
            for out, code, says in ((full, 1, "is abandoned because its id could not be printed"), (broken, 141, "")):
                result = self.m.run(*words, "--detach", stdin=read, stdout=out)
                self.assertEqual(result.code, code, result)
                self.assertIn(says, result.err)
                newest = max(self.m.json("jobs")["jobs"], key=lambda job: job["id"])
                self.assertTrue(eventually(lambda job=newest: self.state(job["id"]) == "cancelled"), words)
        for descriptor in (read, write, full, broken):
            os.close(descriptor)
        self.assertFalse((self.m.work / "out.csv").exists())

    def test_detached_what_is_cancelled_before(self):
        """A job does not go on where nobody sees it: its input is a pipe that nobody writes."""
        work = self.m.work
        os.mkfifo(work / "pipe.csv")
        (work / "never.yaml").write_text('name: never\ninputs: {p: {parse: csv, schema: "k:i64"}}\n'
                                         "operators: [map: {expr: p.k + 1, out: y}]\noutputs: {y: {columns: [y]}}\n")
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            process = self.m.start("opsplit", "run", "never.yaml", "--input", "p=pipe.csv", "-o", "out", "--detach")
            self.assertTrue(eventually(lambda: children(process.pid)))
            (other,) = children(process.pid)
            process.send_signal(signal_number)
            process.wait(30)
            self.assertTrue(eventually(lambda: state_of(other) in (None, "Z")), command_of(other))
            process.communicate()

    def test_interrupt_while_a_pipe_is_read(self):
        """One Ctrl-C ends a run whose input is a pipe without a writer, or one whose writer is silent."""
        work = self.m.work
        os.mkfifo(work / "idle.csv")
        (work / "idle.yaml").write_text('name: idle\ninputs: {p: {parse: csv, schema: "k:i64"}}\n'
                                        "operators: [map: {expr: p.k + 1, out: y}]\noutputs: {y: {columns: [y]}}\n")
        for begin in (None, b"", b"k\n1\n"):
            process = self.m.start("opsplit", "run", "idle.yaml", "--input", "p=idle.csv", "-o", "out")
            writer = -1
            if begin is not None:
                writer = os.open(work / "idle.csv", os.O_WRONLY)
                os.write(writer, begin)
            time.sleep(0.3)
            start = time.monotonic()
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, 130, err)
            self.assertLess(time.monotonic() - start, 2)
            if writer >= 0:
                os.close(writer)

    def test_detached_what_fails_before(self):
        """Usage errors are reported as ever."""
        (self.m.work / "in.csv").write_text("k,v\n1,2\n")
        schema = ("--schema", "k:i64,v:i64", "--detach")
        self.m.bad(2, "splice", "in.csv", *schema, "--select", "sum(v)", says="--detach leaves the terminal; say where")
        self.m.bad(2, "splice", "in.csv", *schema, "--select", "sum(w)", "-o", "out", says="unknown column 'w'")
        self.m.bad(1, "splice", "absent.csv", *schema, "--select", "sum(v)", "-o", "out", says="absent.csv")
        self.m.bad(1, "splice", "in.csv", *schema, "--select", "sum(v)", "-o", "absent/out", says="absent/out")
        self.m.bad(1, "parquet", "convert", "absent.csv", "out.parquet", *schema, says="absent.csv")
        self.m.bad(1, "opsplit", "run", "absent.yaml", "--detach", says="absent.yaml: there is no such file")
        self.m.bad(2, "pipe", "--select", "count()", "--detach", says="--detach is not possible")
        (self.m.work / "one.yaml").write_text('name: one\ninputs: {p: {parse: csv, schema: "k:i64,v:i64"}}\n'
                                              "operators: [map: {expr: p.k + 1, out: y}]\noutputs: {y: {columns: [y]}}\n")
        for words in (("splice", "in.csv", *schema, "--select", "sum(v)", "-o", "out", "--receipt", "-"),
                      ("splice", "in.csv", *schema, "--select", "sum(v)", "-o", "-"),
                      ("parquet", "convert", "in.csv", "-", *schema),
                      ("parquet", "convert", "in.csv", "out.parquet", *schema, "--trace", "/dev/stdout"),
                      ("opsplit", "run", "one.yaml", "--input", "p=in.csv", "--detach", "--receipt", "-")):
            self.m.bad(2, *words, says="--detach prints the job's id on standard output")

    def test_result_before_the_end(self):
        """Waits for the job, or says that it has not ended; never gives half a result."""
        job = self.detach(2000000)
        result = self.m.run("result", job, "-o", "out")
        if result.code == 0:
            self.assertIsNone(self.m.wrong("u32", "in", "out"))
        else:
            self.assertFalse(os.path.exists(self.m.path("out")))
        self.m.good("wait", job)

    def test_trace(self):
        self.m.generate("u32", "random", 300000)
        self.m.sort_and_check("u32", *BITONIC, "--scheme", "upper", "--trace", "t.json", "--receipt", "r.json")
        trace = json.loads(Path(self.m.path("t.json")).read_text())
        events = trace["traceEvents"] if isinstance(trace, dict) else trace
        complete = [e for e in events if e["ph"] == "X"]
        self.assertTrue(complete)
        for event in complete:
            self.assertGreaterEqual(event["dur"], 0)
            self.assertGreaterEqual(event["ts"], 0)
            self.assertIn("name", event)
        receipt = json.loads(Path(self.m.path("r.json")).read_text())
        self.assertEqual((receipt["state"], receipt["items"], receipt["algorithm"], receipt["scheme"]),
                         ("done", 300000, "bitonic", "upper"))
        self.assertEqual((receipt["retries"], receipt["restarts"], receipt["determinism"]), (0, 0, "exact"))
        self.assertEqual({d["name"] for d in receipt["devices"]}, {"cpu.0", "cpu.1"})
        self.assertTrue(all(d["tasks"] > 0 and d["tasks_lost"] == 0 for d in receipt["devices"]))
        self.assertEqual(receipt["bytes_in"], 1200000)
        self.assertGreater(receipt["measured_seconds"], 0)

    def test_devices_as_told(self):
        self.m.generate("u32", "random", 300000)
        for devices in ("cpu.0", "cpu.1", "cpu.1,cpu.0"):
            self.m.sort_and_check("u32", *BITONIC, "--devices", devices, "--receipt", "r.json")
            used = {d["name"] for d in json.loads(Path(self.m.path("r.json")).read_text())["devices"] if d["tasks"]}
            self.assertLessEqual(used, set(devices.split(",")))

    def test_cancel(self):
        job = self.detach(8000000)
        began = time.monotonic()
        self.m.good("cancel", job)
        result = self.m.run("wait", job)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(self.state(job), "cancelled")
        self.assertEqual(result.code, 130, result)
        again = self.m.run("cancel", job)  # has ended: nothing to do
        self.assertEqual((again.code, again.out), (0, b""))
        self.assertEqual(again.err, f"hacctl: job {job} has ended already (cancelled): there is nothing to cancel\n")
        self.assertEqual(self.m.run("result", job, "-o", "out").code, 130)
        self.assertFalse(os.path.exists(self.m.path("out")))

    def test_an_end_is_told_whatever_waits(self):
        """Hundreds of results that nobody fetches, and the end of a cancelled job is still known."""
        with wire.Client(self.m.socket) as client:
            detached = wire.field(2, 1)
            for _ in range(600):
                job = client.ask(wire.SUBMIT_QUERY, wire.query([wire.message(f1=b"a b", f5=3)], detached, kind=6))[1][1][0]
                self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[1][2][0], DONE)
            size = 64 << 20  # large enough that a client on a busy machine can cancel it before it is sorted
            number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=size))[1][1][0]
            job = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, size, detached, wire.field(4, 1)))[1][1][0]
            client.ask(wire.CANCEL, wire.field(1, job))
            time.sleep(0.5)  # other requests search the records meanwhile
            what, fields = client.ask(wire.WAIT, wire.field(1, job))
            self.assertEqual((what, fields.get(2)), (wire.R_DONE, [CANCELLED]))

    def test_interrupt(self):
        self.m.generate("u32", "random", 30000000)
        for number in (signal.SIGINT, signal.SIGTERM):
            process = self.m.start("sort", "in", "--type", "u32", *BITONIC, "-o", "out")
            self.assertTrue(eventually(lambda: any(j["state"] == "running" for j in self.m.json("jobs")["jobs"])))
            process.send_signal(number)
            out, err = process.communicate(timeout=30)
            self.assertEqual((process.returncode, out, err), (130, b"", b"hacctl: cancelled\n"))
            self.assertEqual(sorted(os.listdir(self.m.work)), ["in"])
            self.assertTrue(eventually(lambda: all(j["state"] != "running" for j in self.m.json("jobs")["jobs"])))

    def test_unknown_jobs(self):
        for command in ("show", "why", "wait", "result", "cancel", "log", "trace"):
            self.m.bad(2, command, "4000000000", says="4000000000")

    def test_few_descriptors(self):
        """hacctl with little memory: it is enough, or hacctl says what is missing and what to do."""
        self.m.generate("u32", "random", 100000)
        (self.m.work / "in.csv").write_text("k\n" + "1\n" * 100000)
        options = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # which opens files
        for words in (("devices",), ("sort", "in", "--type", "u32", "-o", "out"), ("splice", "in.csv", "--select", "count() as n")):
            codes = []
            for most in range(4, 12):  # with less, the program is not even loaded
                with unittest.mock.patch.dict(self.m.environment, ASAN_OPTIONS=options):
                    result = self.m.run(*words, preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
                codes.append(result.code)
                if result.code != 0:
                    self.assertRegex(result.err, r"\Ahacctl: [^\n]+: Too many open files; raise the limit \(ulimit -n\)\n\Z")
            self.assertEqual(codes, sorted(codes, reverse=True), words)
            self.assertEqual({*codes}, {0, 1}, words)

    def test_input_gone_after_submission(self):
        """The descriptor is what counts, not the name."""
        job = self.detach(1000000)
        os.rename(self.m.path("in"), self.m.path("moved"))
        self.m.good("wait", job)
        self.m.good("result", job, "-o", "out")
        self.assertIsNone(self.m.wrong("u32", "moved", "out"))

    def test_deadline(self):
        """A job that misses its deadline ends soon after, as failed, however little too late it was."""
        self.m.generate("u32", "random", 16000000)
        began = time.monotonic()
        result = self.m.run("sort", "in", "--type", "u32", *BITONIC, "-o", "out", "--deadline", "50ms")
        self.assertIn(result.code, (1, 4), result)
        self.assertIn("deadline", result.err)
        self.assertLess(time.monotonic() - began, 15)
        self.assertFalse(os.path.exists(self.m.path("out")))
        result = self.m.run("sort", "in", "--type", "u32", "-o", "out", "--deadline", "1ms")
        self.assertIn(result.code, (1, 4), result)
        self.assertIn("deadline", result.err)
        self.m.good("sort", "in", "--type", "u32", "-o", "out", "--deadline", "60s")

    def test_metrics(self):
        text = self.m.good("metrics").decode()
        self.assertTrue(text.endswith("# EOF\n"))
        for line in text.splitlines():  # metrics_test.py has a parser, if one is installed
            self.assertRegex(line, r'^(# (TYPE|HELP|UNIT|EOF).*|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+.e\d]+)$')

    def test_doctor(self):
        result = self.m.run("doctor", "--json")
        self.assertIn(result.code, (0, 1))
        self.assertTrue(all({"name", "ok"} <= set(check) for check in json.loads(result.out)["checks"]))

    def test_priority(self):
        """While one job runs, the waiting job of the highest priority comes next; none is lost."""
        self.m.generate("u32", "random", 400000)
        jobs = [self.m.good("sort", "in", "--type", "u32", *BITONIC, "--detach", "--priority", p).decode().strip()
                for p in (-5, 0, 5)]
        for job in jobs:
            self.m.good("wait", job)
            self.assertEqual(self.state(job), "done")


class Learning(MachineTest):
    def samples(self, codelet, kind):
        """The models of one device, as hacd writes them when it exits."""
        daemon = self.m.running()
        self.m.good("drain")  # it may be gone before one has looked
        daemon.wait()
        lines = (self.m.root / "state_home" / "hac" / "models").read_text().splitlines()
        found = [line.split("\t")[4].split(" ") for line in lines if f"\t{codelet}\t{kind}\talone\t" in line]
        return sum(map(len, found))

    def test_page_faults_are_not_taken_for_work(self):
        """A device's first task of a kind teaches nothing; tasks over new memory teach only where nothing is known."""
        self.m = self.machine(TWO_DEVICES, {"executor_idle_timeout": "30s", "result_expiry": "60s"})
        self.m.generate("i64", "random", 200000)
        words = ("sort", "in", "--type", "i64", "--algorithm", "radix", "--devices", "cpu.0")
        for _ in range(3):
            self.m.good(*words, "-o", "out")  # cold, then twice in the same memory
        for _ in range(4):  # each holds its result: the first gets the old memory, the others get new memory
            self.m.good("wait", self.m.good(*words, "--detach").decode().strip())
        self.assertEqual(self.samples("radix.leaf", "i64"), 3)


if __name__ == "__main__":
    main()
