#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl splice and pipe: command lines, inputs one after another, rows while the job runs, reports to Hadoop."""
import gzip
import json
import os
import pty
import resource
import signal
import subprocess
import time
from pathlib import Path

from cli import PROGRAM, Fake, main

ROWS = ["--schema", "x:i64,y:i64", "--select", "x"]
TOLD = ("--header", "--delimiter", ",")  # nothing is looked for in a stream
GROUPS = ["--schema", "x:i64,y:i64", "--group-by", "x", "--select", "sum(y) as s"]


class Splice(Fake):
    def setUp(self):
        super().setUp()
        self.put("a.csv", "x,y\n1,2\n")
        self.put("b.csv", "x,y\n3,4\n")

    def test_options_reach_the_library(self):
        out = self.good("splice", "a.csv", "b.csv", *GROUPS, "--where", "x > 0", "--order-by", "s desc", "--limit", "5",
                        "--split-size", "4MiB", "--on-error", "skip", "--null", "NA", "--devices", "a,b")
        self.assertEqual(out, b"x,y\n1,2\nx,y\n3,4\n")
        self.assertIn("splits inputs=2 name=a.csv and 1 more bytes=4194304 uncompressed=0\n"
                      "query sources=2 format=2 schema=x:i64,y:i64 where=x > 0 group=x select=sum(y) as s order=s desc "
                      "limit=5 out=0 delimiter=0 no_header=0 skip=1 null=NA ", self.called())
        self.assertIn("input a.csv\ninput b.csv\n", self.called())
        self.good("splice", "a.csv", "--parse", "fixed", "--byte-order", "big", *ROWS)
        self.assertRegex(self.called(), r"uncompressed=0\nquery sources=1 format=8 .* big=1 splits=1 sort=0\n")
        for name, number in (("lengths", 10), ("typedbytes", 11), ("words", 6), ("kv", 7)):
            self.good("splice", "a.csv", "--parse", name, *ROWS)
            self.assertIn(f"format={number} ", self.called())

    def test_usage(self):
        self.bad(2, "splice", says="too few arguments; usage: hacctl splice IN…|-")
        self.bad(2, "splice", "a.csv", says="splice: --select is missing")
        self.bad(2, "splice", "in", *ROWS, says="splice: how is in to be read? Its suffix does not say, and its first bytes are not text; say --parse and one of csv tsv ")
        self.bad(2, "splice", "-", *ROWS, says="how is standard input to be read?")
        self.bad(2, "splice", "a.csv", "--detach", *ROWS, says="--detach leaves the terminal; say where the result goes: -o OUT")
        self.bad(2, "splice", "-", "-", "--parse", "csv", *ROWS, says="standard input (-) can be read once only")
        self.bad(2, "splice", "-", "a.csv", "-", *ROWS, says="standard input (-) can be read once only")
        self.bad(2, "splice", "a.csv", "--parse", "parquet", *ROWS, says="`hacctl parquet query` reads them")
        self.bad(2, "splice", "a.csv", "--split-size", "0", *ROWS, says="--split-size")
        self.bad(2, "splice", "a.csv", "--byte-order", "middle", *ROWS, says="allowed: little, big")
        self.bad(1, "splice", "a.csv", "nowhere.csv", *ROWS, says="nowhere.csv: No such file")
        self.assertEqual(self.called(), "")
        os.mkdir(self.path("d"))
        self.bad(2, "splice", "a.csv", "d", *ROWS, says="splice: d is a folder; name the files in it, for example d/*")
        self.bad(2, "splice", "d/", "--parse", "csv", *ROWS, says="for example d/*")
        master, slave = pty.openpty()
        for name in ("fixed", "lengths", "typedbytes"):
            self.bad(2, "splice", "-", "--parse", name, *ROWS, stdin=slave, says=f"will not read {name} from a terminal")
        os.close(master)
        os.close(slave)

    def test_many_files(self):
        """More inputs than descriptors, and more than `mapreduce` takes: each is opened when its turn comes."""
        names = [self.put(f"{i:04}.csv", f"{i}\n") for i in range(500)]

        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
        out = self.good("splice", *names, *ROWS, preexec_fn=few)
        self.assertEqual(out, b"".join(b"%d\n" % i for i in range(500)))
        self.assertIn("splits inputs=500 name=", self.called())

    def test_compressed(self):
        self.put("c.csv.gz", gzip.compress(b"x,y\n5,6\n"))
        self.put("d.jsonl.ZST", b"\x28\xb5\x2f\xfd")
        self.good("splice", "c.csv.gz", "a.csv", *ROWS, "-o", "out")
        self.assertIn("uncompressed=0\nquery sources=2 format=2 ", self.called())
        self.good("splice", "d.jsonl.ZST", *ROWS, "-o", "out")
        self.assertIn("query sources=1 format=4 ", self.called())
        self.good("splice", "c.csv.gz", "--parse", "fixed", *ROWS, "-o", "out")
        self.assertIn("uncompressed=0\nquery sources=1 format=8 ", self.called())
        self.good("splice", "-", "a.csv", *ROWS, "-o", "out")  # - is as the others are
        self.assertIn("input standard input\ninput a.csv\n", self.called())

    def test_compressed_elsewhere(self):
        """mapreduce, parquet and sort read compressed text in splits, too."""
        self.put("c.csv.gz", gzip.compress(b"x,y\n5,6\n"))
        Path(self.path("plain.csv")).write_bytes(gzip.compress(b"x,y\n"))
        for words in (["mapreduce", "a.csv", "c.csv.gz", *GROUPS], ["mapreduce", "plain.csv", *GROUPS],
                      ["parquet", "convert", "c.csv.gz", "o.parquet", "--schema", "x:i64,y:i64"],
                      ["sort", "c.csv.gz", "--key", "x"], ["sort", "plain.csv", "--input-format", "csv", "--key", "x"]):
            self.calls.write_text("")
            self.good(*words, *([] if "convert" in words else ["-o", "out"]))
            self.assertIn("splits inputs=", self.called(), words)
            self.assertIn("uncompressed=0", self.called())
        self.answer(5, "{}")
        code, _, err = self.run_it("parquet", "query", "c.csv.gz", *GROUPS)
        self.assertEqual((code, "c.csv.gz: converted from csv to Parquet first" in err), (0, True))
        self.calls.write_text("")
        self.put("numbers", b"\x1f\x8b\x08\x00" * 4)  # may be a gzip file, and may be numbers
        self.good("mapreduce", "numbers", "--parse", "fixed", "--schema", "x:u32", "--select", "x", "-o", "out")
        self.assertNotIn("splits inputs", self.called())
        self.bad(2, "mapreduce", "c.csv.gz", *GROUPS, "--detach", says="--detach is not possible with compressed input, which this process has to unpack: c.csv.gz")
        self.put("m.csv", "1\n")
        self.bad(2, "mapreduce", "matrix-multiply", "c.csv.gz", "--with", "m.csv", says="but it is compressed; unpack it first")

    def test_outputs(self):
        self.assertEqual(self.good("splice", "a.csv", *ROWS), b"x,y\n1,2\n")
        self.good("splice", "a.csv", *ROWS, "-o", "out.json")
        self.assertEqual(Path(self.path("out.json")).read_bytes(), b"x,y\n1,2\n")
        self.assertIn(" out=1 ", self.called())
        self.good("splice", "a.csv", *ROWS, "-o", "out.parquet", "--codec", "snappy")
        self.assertIn("parquet codec=2", self.called())
        self.bad(2, "splice", "a.csv", *ROWS, "--codec", "snappy", says="--codec is for results that are Parquet files")
        self.answer(5, '{"splice": {}}')
        self.answer(7, "{}")
        self.good("splice", "a.csv", *ROWS, "-o", "out", "--receipt", "r.json", "--trace", "t.json")
        self.assertEqual(json.loads(Path(self.path("r.json")).read_text()), {"splice": {}})
        self.assertEqual(Path(self.path("t.json")).read_text(), "{}\n")
        self.environment["FAKE_HAC_TEXT"] = "2 records that could not be read were left out"
        code, _, err = self.run_it("splice", "a.csv", *ROWS, "--on-error", "skip")
        self.assertEqual((code, err), (0, "hacctl: 2 records that could not be read were left out\n"))

    def test_rows_come_as_they_are_there(self):
        process = self.start("splice", "-", "--parse", "csv", *ROWS, stdin=subprocess.PIPE)
        for line in (b"x,y\n", b"1,2\n", b"3,4\n"):
            process.stdin.write(line)
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), line)
        self.assertEqual(process.communicate(timeout=30), (b"", b""))
        self.assertEqual(process.returncode, 0)

    def test_failures_leave_no_output(self):
        for status, code in ((1, 1), (2, 2), (3, 3), (4, 4), (5, 130)):
            self.environment["FAKE_HAC_JOB"] = str(status)
            self.bad(code, "splice", "a.csv", *ROWS, "-o", "none", says="fake: ")
        self.assertNotIn("none", self.files())

    def wait_for_input(self, process, name):
        for _ in range(3000):
            if f"input {name}\n" in self.called() or process.poll() is not None:
                break
            time.sleep(0.01)

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.calls.write_text("")
            process = self.start("splice", "-", "--parse", "csv", *TOLD, *ROWS, "-o", "out", stdin=subprocess.PIPE)
            process.stdin.write(b"x,y\n1,2\n")
            process.stdin.flush()
            self.wait_for_input(process, "standard input")
            process.send_signal(number)
            self.assertEqual(process.wait(30), 130)
            self.assertEqual(process.stderr.read(), b"hacctl: cancelled\n")
            for pipe in (process.stdin, process.stdout, process.stderr):
                pipe.close()
        self.assertEqual(self.files(), ["a.csv", "b.csv", "in"])

    def test_interrupt_while_kept(self):
        """One signal ends hacctl while a reader does not read, or nobody writes to a pipe."""
        os.mkfifo(self.path("fifo"))
        process = self.start("splice", "fifo", "--parse", "csv", *ROWS, "-o", "out")
        self.handles(process)
        time.sleep(0.3)  # it is kept by now
        process.send_signal(signal.SIGINT)
        self.assertEqual((process.communicate(timeout=30), process.returncode), ((b"", b"hacctl: cancelled\n"), 130))
        self.put("large.csv", bytes(1 << 20))
        process = self.start("splice", "large.csv", *ROWS)
        self.wait_for_input(process, "large.csv")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(30), 130)
        process.stdout.close()
        process.stderr.close()

    def test_broken_pipe_and_full_disk(self):
        self.put("large.csv", bytes(1 << 20))
        line = f"set -o pipefail; '{PROGRAM}' splice large.csv --select x | head -c 1"
        out = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, check=False)
        self.assertEqual((out.returncode, out.stdout, out.stderr), (141, b"\0", b""))
        self.bad(1, "splice", "a.csv", *ROWS, "-o", "/dev/full", says="/dev/full: no space left on device")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        del self.environment["FAKE_HAC_CALLS"]  # it would be cut, too
        self.bad(1, "splice", "large.csv", *ROWS, "-o", "out", says="nothing was written", preexec_fn=limit)
        self.assertNotIn("out", self.files())

    def test_plans(self):
        self.answer("plan1", "{}")
        self.good("explain", "splice", "a.csv", "b.csv", *GROUPS, "--json")
        self.assertRegex(self.called(), r"explain sources=1 format=2 .* splits=1 sort=0\n")
        self.assertIn("source 16\n", self.called())
        self.good("explain", "splice", "-", "--parse", "csv", *GROUPS, "--input-size", "20GB", "--json",
                  stdin=subprocess.PIPE)
        self.assertIn("source 20000000000\n", self.called())
        self.put("c.csv.gz", gzip.compress(b"x,y\n"))
        for words in (["splice", "-", "--parse", "csv"], ["splice", "c.csv.gz"], ["mapreduce", "c.csv.gz"]):
            self.bad(2, "explain", *words, *GROUPS, stdin=subprocess.PIPE,
                     says="is not known beforehand; say --input-size SIZE")
        self.bad(2, "explain", "splice", "a.csv", *GROUPS, "--items", "5", says="for a query say --input-size")
        self.bad(2, "explain", "sort", "in", "--type", "u32", "--input-size", "5", says="--input-size is for queries")
        os.mkdir(self.path("profiles"))
        self.put("profiles/g.yaml", "name: g\nmatch: {type: gpu}\nkind: gpu\n")
        self.good("simulate", "--profiles", "profiles", "splice", "a.csv", *GROUPS, "--json")
        self.assertIn("device g\n", self.called())


class Pipe(Fake):
    def setUp(self):
        super().setUp()
        self.answer(5, json.dumps({"query": {"rows_read": 5, "rows_skipped": 0, "groups": 2, "rows_out": 2}}))

    def test_defaults(self):
        code, out, err = self.run_it("pipe", "--select", "line", data=b"a\nb\n")
        self.assertEqual((code, out), (0, b"a\nb\n"))
        self.assertEqual(err, "reporter:counter:hac,records_read,5\nreporter:counter:hac,groups,2\n"
                              "reporter:counter:hac,rows_out,2\nreporter:status:hac: done\n")
        self.assertRegex(self.called(), r"splits inputs=1 name=standard input bytes=0 uncompressed=0\n"
                                        r"query sources=1 format=5 .* out=4 .* no_header=0 ")
        self.good("-q", "pipe", "--select", "line", data=b"a\n")
        self.good("--quiet", "pipe", "--io", "typedbytes", "--group-by", "key", "--select", "sum(value) as s",
                  "--schema", "key:string,value:i64", data=b"")
        self.assertRegex(self.called(), r"format=11 .* out=5 ")
        self.good("--quiet", "pipe", "--io", "typedbytes", "--parse", "words", "--group-by", "word", data=b"")
        self.assertRegex(self.called(), r"format=6 .* out=5 ")
        self.good("--quiet", "pipe", "--parse", "typedbytes", "--select", "key", data=b"")
        self.assertRegex(self.called(), r"format=11 .* out=4 ")

    def test_headers(self):
        words = ["--quiet", "pipe", "--parse", "csv", "--select", "x"]
        self.good(*words, "--schema", "x:i64", data=b"1\n")
        self.assertIn(" no_header=1 ", self.called())
        self.good(*words, "--schema", "x:i64", "--no-header", data=b"1\n")
        self.calls.write_text("")
        self.good(*words, "--header", data=b"x\n1\n")
        self.assertIn(" no_header=0 ", self.called())
        self.bad(2, *words, says="say --schema 'a:i64,b:string', or --header if the first line has them")
        self.bad(2, *words, "--header", "--no-header", says="not both")
        self.bad(2, "pipe", "--select", "line", "--header", says="--header is for csv and tsv")

    def test_usage(self):
        self.bad(2, "pipe", says="pipe: --select is missing")
        self.bad(2, "pipe", "in", "--select", "line", says="'in' is one argument too many")
        self.bad(2, "pipe", "--io", "rawbytes", "--select", "line", says="allowed: text, typedbytes")
        self.bad(2, "pipe", "--select", "line", "--detach", says="pipe: --detach is not possible")
        self.bad(2, "pipe", "--select", "line", "-o", "x", says="unknown option -o")
        self.environment["FAKE_HAC_JOB"] = "1"
        code, out, err = self.run_it("pipe", "--parse", "words", "--group-by", "word", data=b"a")
        self.assertEqual((code, out), (1, b""))
        self.assertEqual(err.splitlines()[-1][:14], "hacctl: fake: ")

    def test_states_on_the_way(self):
        self.environment["FAKE_HAC_SECONDS"] = "0.3"
        code, _, err = self.run_it("pipe", "--parse", "words", "--group-by", "word", data=b"a")
        self.assertEqual(code, 0)
        self.assertRegex(err, r"\Areporter:status:hac: merge 3, [\d.]+ %, 118 M items/s, building kernels for cpu \(2 of 5\)\n"
                              r"reporter:counter:")

    def test_rows_come_as_they_are_there(self):
        process = self.start("--quiet", "pipe", "--select", "line", stdin=subprocess.PIPE)
        process.stdin.write(b"one\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), b"one\n")
        self.assertEqual(process.communicate(b"two\n", timeout=30), (b"two\n", b""))


if __name__ == "__main__":
    main()
