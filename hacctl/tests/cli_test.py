#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl from the outside: exit codes, messages, outputs.

  cli_test.py --fake PROGRAM   the program with tests/fake_hac.c behind it: no daemon, and what goes wrong is chosen
  cli_test.py --real PROGRAM   the program with libhac and a private hacd (HAC_LIBEXEC names its folder)

Only Python's standard library. The oracle of what is sorted is Python's sorted().
"""
import array
import fcntl
import json
import math
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = None
COMMANDS = ("devices calibrate tune sort mapreduce parquet+query parquet+convert parquet+inspect kernels+build explain simulate jobs show "
            "why wait result cancel log trace doctor metrics reload drain version completion help").split()
COMMANDS = [command.replace("+", " ") for command in COMMANDS]
CODES = {"u32": "I", "i32": "i", "f32": "f", "u64": "Q", "i64": "q", "f64": "d"}


def pack(values, kind="u32"):
    return struct.pack(f"<{len(values)}{CODES[kind]}", *values)


def key(kind):
    """Sort key of the contract's total order: -0.0 before +0.0, NaNs last."""
    if kind[0] != "f":
        return lambda v: v
    return lambda v: (math.isnan(v), 0.0 if math.isnan(v) else v, math.copysign(1.0, v))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="hacctl-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = dict(os.environ, LC_ALL="C.UTF-8")

    def path(self, name):
        return str(self.folder / name)

    def put(self, name, data):
        (self.folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return self.path(name)

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def start(self, *words, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("env", self.environment)
        return subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=more.pop("stdout", subprocess.PIPE),
                                stderr=subprocess.PIPE, **more)

    def run_it(self, *words, data=None, **more):
        if data is not None:
            more["stdin"] = subprocess.PIPE
        process = self.start(*words, **more)
        out, err = process.communicate(data, timeout=120)
        return process.returncode, out, err.decode()

    def good(self, *words, **more):
        code, out, err = self.run_it(*words, **more)
        self.assertEqual((code, err), (0, ""), f"{words}: {err}")
        return out

    def bad(self, code, *words, says="", **more):
        """Fails with this code and one line, which says that; nothing is on standard output."""
        got, out, err = self.run_it(*words, **more)
        self.assertEqual(got, code, f"{words}: {err}")
        self.assertRegex(err, r"\Ahacctl: [^\n]+\n\Z")
        self.assertIn(says, err)
        self.assertEqual(out, b"")
        return err


class Usage(Case):
    """What is decided before a daemon is asked."""

    def setUp(self):
        super().setUp()
        self.environment.update(HAC_SOCKET=self.path("no-daemon"), FAKE_HAC_CONNECT="3")
        self.input = self.put("in", pack([3, 1, 2]))

    def test_help(self):
        text = self.good("help").decode()
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} ")
            name = command.split()
            for words in (["help", *name], [*name, "--help"], ["--help", *name], [*name, "-h", "--json"]):
                self.assertTrue(self.good(*words).decode().startswith(f"usage: hacctl {command}"))
        self.assertEqual(text.encode(), self.good("--help"))
        for words in (["help", "parquet"], ["parquet", "--help"], ["--help", "parquet"]):
            group = self.good(*words).decode()
            self.assertTrue(group.startswith("usage: hacctl parquet COMMAND"))
            self.assertEqual(re.findall(r"(?m)^  (parquet \w+)", group),
                             ["parquet query", "parquet convert", "parquet inspect"])
        self.assertEqual(self.good("--version"), self.good("sort", "--version"))
        self.assertRegex(self.good("-V").decode(), r"\Ahacctl \d+\.\d+\.\d+\n\Z")
        self.assertLess(max(len(line) for line in text.splitlines()), 100)

    def test_unknown_commands(self):
        self.bad(2, says="which command?")
        self.bad(2, "--json", says="which command?")
        err = self.bad(2, "splice", "x", says="unknown command 'splice'")
        for command in COMMANDS:
            self.assertIn(command, err)
        self.bad(2, "parquet", says="parquet: which command? There are: parquet query, parquet convert, parquet inspect")
        self.bad(2, "parquet", "--json", says="parquet: which command?")
        self.bad(2, "parquet", "look", "x", says="unknown command 'parquet look'; there are: parquet query")
        self.bad(2, "query", "x", says="unknown command 'query'")
        self.bad(2, "parquet query", "x", says="unknown command 'parquet query'")
        self.bad(2, "help", "parquet", "look", says="unknown command 'parquet look'")
        self.bad(2, "help", "sort", "query", says="one argument too many")
        for later in ("pipe", "opsplit", "top"):
            self.bad(2, later, says="unknown command")
        self.bad(2, "explian", says="did you mean explain?")
        self.bad(2, "help", "nonsense", says="unknown command")
        self.bad(2, "x" * 5000, says="unknown command")

    def test_unknown_options(self):
        self.bad(2, "--nonsense", "sort", says="unknown option --nonsense")
        self.bad(2, "-x", says="unknown option -x")
        self.bad(2, "sort", "--desending", says="did you mean --descending?")
        self.bad(2, "jobs", "--type", "u32", says="jobs: unknown option --type")
        self.bad(2, "jobs", "extra", says="one argument too many")
        self.bad(2, "show", says="too few arguments; usage: hacctl show JOB")
        self.bad(2, "--socket", says="needs a value")
        self.assertNotIn("\x1b", self.bad(2, "a\nb\x1b[31m", says="unknown command 'a"))

    def test_sort_usage(self):
        self.bad(2, "sort", says="too few arguments")
        self.bad(2, "sort", self.input, says="--type is missing")
        self.bad(2, "sort", self.input, "--type", "u16", says="allowed: u32, i32, f32, u64, i64, f64")
        self.bad(2, "sort", self.input, self.input, "--type", "u32", says="one argument too many")
        for option, value in (("--algorithm", "quick"), ("--scheme", "half"), ("--fold", "1,x"), ("--priority", "1000"),
                              ("--deadline", "soon"), ("--memory", "lots"), ("--determinism", "maybe"),
                              ("--devices", "a,,b")):
            self.bad(2, "sort", self.input, "--type", "u32", option, value, says=option)
        self.bad(2, "sort", self.input, "--type", "u32", "--schema", "a:i8", says="--schema is of whole rows")
        self.bad(2, "sort", self.input, "--type", "u32", "--detach", "-o", "x", says="hacctl result JOB -o OUT")
        self.bad(2, "sort", self.input, "--type", "u32", "--detach", "--receipt", "x", says="--receipt")
        self.bad(2, "sort", self.input, "--type", "u32", "--items", "5", says="unknown option --items")
        self.bad(2, "sort", self.input, "--type", "u32", "--type", "f64", says="sort: option --type is given twice")
        self.bad(2, "--socket", "a", "sort", self.input, "--socket", "b", says="sort: option --socket is given twice")
        self.bad(2, "mapreduce", self.input, "--where", "a", "--select", "a", "--where", "b",
                 says="mapreduce: option --where is given twice")

    def test_terminals(self):
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.addCleanup(os.close, slave)
        code, _, err = self.run_it("sort", self.input, "--type", "u32", stdout=slave)
        self.assertEqual(code, 2)
        self.assertIn("will not write raw data to a terminal", err)
        self.bad(2, "sort", "-", "--type", "u32", "-o", "x", says="will not read raw data from a terminal", stdin=slave)

    def test_unreadable_input(self):
        self.bad(1, "sort", "missing", "--type", "u32", says="missing: No such file or directory")
        self.bad(1, "sort", ".", "--type", "u32", says=".: is a directory")
        self.bad(1, "sort", self.put("odd", b"12345"), "--type", "u32", says="5 bytes are not a whole number of u32")
        self.bad(1, "explain", "sort", "missing", "--type", "u32", says="No such file")
        self.assertEqual(self.files(), ["in", "odd"])

    def test_unwritable_output(self):
        self.bad(1, "sort", self.input, "--type", "u32", "-o", "nowhere/out", says="nowhere/out: No such file")
        self.bad(1, "sort", self.input, "--type", "u32", "-o", ".", says=".: Is a directory")
        self.bad(1, "sort", self.input, "--type", "u32", "-o", "out", "--trace", "nowhere/t", says="nowhere/t")
        self.assertEqual(self.files(), ["in"])
        code, _, err = self.run_it("help", stdout=open("/dev/full", "wb"))
        self.assertEqual(code, 1)
        self.assertIn("no space left on device", err)

    def test_no_daemon(self):
        for words in (["devices"], ["calibrate"], ["tune"], ["jobs"], ["show", "1"], ["why", "1"], ["wait", "1"],
                      ["cancel", "1"], ["log", "1"], ["log", "-f", "1"], ["trace", "1"], ["metrics"], ["reload"],
                      ["drain"], ["sort", self.input, "--type", "u32", "-o", "out"], ["result", "1", "-o", "out"],
                      ["explain", "sort", "--items", "9", "--type", "u32"]):
            self.bad(3, "--no-autostart", *words)
        self.assertEqual(self.files(), ["in"])
        code, out, err = self.run_it("doctor", "--no-autostart")
        self.assertEqual(code, 3)
        self.assertTrue(out.startswith(b"FAILED  daemon"))
        self.assertRegex(err, r"\Ahacctl: [^\n]+\n\Z")
        code, out, _ = self.run_it("doctor", "--no-autostart", "--json")
        self.assertEqual(code, 3)
        self.assertIs(json.loads(out)["checks"][0]["ok"], False)

    def test_version_without_daemon(self):
        version = json.loads(self.good("--no-autostart", "--json", "version"))
        self.assertIsNone(version["daemon"])
        self.assertRegex(version["version"], r"^\d+\.\d+\.\d+$")
        self.assertIn("no daemon: ", self.good("version", "--no-autostart").decode())

    def test_job_ids(self):
        for command in ("show", "why", "wait", "result", "cancel", "log", "trace"):
            for job in ("0", "x", "-1", "1x", "", "99999999999999999999999"):
                self.bad(2, command, "--", job, says="is not a job id")

    def test_plan_usage(self):
        self.bad(2, "explain", says="too few arguments")
        self.bad(2, "explain", "splice", says="no job that can be planned")
        self.bad(2, "explain", "sort", "--type", "u32", says="say --items COUNT")
        self.bad(2, "explain", "sort", self.input, "--items", "5", "--type", "u32", says="not both")
        self.bad(2, "explain", "sort", "--items", "many", "--type", "u32", says="is not a number of items")
        self.bad(2, "explain", "sort", "--items", "5", says="--type is missing")
        self.bad(2, "explain", "sort", "/dev/null", "--type", "u32", says="say --items COUNT")
        self.bad(2, "explain", "sort", "--items", "5", "--type", "u32", "--format", "png", says="text, json, svg")
        self.bad(2, "simulate", "sort", "--items", "5", "--type", "u32", says="--profiles DIR is missing")
        simulate = ["simulate", "sort", "--items", "5", "--type", "u32", "--profiles"]
        self.bad(2, *simulate, "missing", says="No such file")
        self.bad(2, *simulate, self.input, says="is not a folder")
        self.bad(2, *simulate, self.path("."), says="no profile")
        self.put("bad.yaml", "name: x\nmatch: {type: any}\nkind: abacus\n")
        self.bad(2, *simulate, self.path("."), says="bad.yaml:3")

    def test_completion(self):
        script = self.good("completion", "bash")
        self.assertEqual(script, (HERE.parent / "completion" / "hacctl.bash").read_bytes(),
                         "make it anew with: hacctl completion bash > hacctl/completion/hacctl.bash")
        self.bad(2, "completion", "fish", says="there is: bash")

    def test_manual_page(self):
        page = (HERE.parent.parent / "docs" / "man" / "hacctl.1").read_text()
        for command in COMMANDS:
            self.assertRegex(page, rf"(?m)^\.It Ic {command}\b")
            for option in re.findall(r"(?m)^  (?:-.,|   ) --([a-z-]+)", self.good("help", *command.split()).decode()):
                self.assertTrue(f"Fl -{option}" in page, f"--{option} is not in the manual page")
        if shutil.which("man"):
            out = subprocess.run(["man", "--warnings", "-l", str(HERE.parent.parent / "docs" / "man" / "hacctl.1")],
                                 env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
            self.assertEqual(out.stderr, b"")

    def complete(self, *words):
        code = (f"source {HERE.parent}/completion/hacctl.bash; compopt() {{ :; }}; COMP_WORDS=(\"$@\"); "
                "COMP_CWORD=$(($# - 1)); _hacctl; printf '%s\\n' \"${COMPREPLY[@]}\"")
        out = subprocess.run(["bash", "-c", code, "bash", PROGRAM, *words], cwd=self.folder, env=self.environment,
                             capture_output=True, check=True)
        self.assertEqual(out.stderr, b"")
        return out.stdout.decode().split()

    def test_completion_in_bash(self):
        self.assertEqual(self.complete(""), list(dict.fromkeys(command.split()[0] for command in COMMANDS)))
        self.assertEqual(self.complete("par"), ["parquet"])
        self.assertEqual(self.complete("parquet", ""), ["query", "convert", "inspect"])
        self.assertEqual(self.complete("--json", "parquet", "i"), ["inspect"])
        self.assertEqual(self.complete("parquet", "query", "i"), ["in"])
        self.assertEqual(self.complete("parquet", "convert", "in", "--cod"), ["--codec"])
        self.assertEqual(self.complete("parquet", "convert", "in", "--codec", "=", "z"), ["zstd"])
        self.assertEqual(self.complete("help", "parquet", "q"), ["query"])
        self.assertEqual(self.complete("explain", "parquet", ""), ["query", "convert"])
        self.assertEqual(self.complete("explain", "parquet", "query", "i"), ["in"])
        self.assertEqual(self.complete("s"), ["sort", "simulate", "show"])
        self.assertEqual(self.complete("--socket", "sock", "ve"), ["version"])
        self.assertEqual(self.complete("sort", "i"), ["in"])
        self.assertEqual(self.complete("sort", "in", "--ty"), ["--type"])
        self.assertEqual(self.complete("sort", "in", "--type", "u"), ["u32", "u64"])
        self.assertEqual(self.complete("sort", "in", "--type", "=", "f"), ["f32", "f64"])
        self.assertEqual(self.complete("sort", "--scheme", "=", "upper", "-o", "o", "--argsort", "i"), ["in"])
        self.assertEqual(self.complete("explain", ""), ["sort", "mapreduce", "parquet"])
        self.assertEqual(self.complete("mapreduce", "word"), ["wordcount"])
        self.assertEqual(self.complete("mapreduce", "wordcount", "i"), ["in"])
        self.assertEqual(self.complete("mapreduce", "--parse", "l"), ["lines"])
        self.assertEqual(self.complete("explain", "sort", "i"), ["in"])
        self.assertEqual(self.complete("help", "do"), ["doctor"])
        for command in COMMANDS:
            options = self.complete(*command.split(), "--")
            text = self.good("help", *command.split()).decode()
            self.assertEqual(sorted(options), sorted(re.findall(r"(?m)^  (?:-.,|   ) (--[a-z-]+)", text)))


class Fake(Case):
    """With tests/fake_hac.c: what the daemon says is chosen."""

    def setUp(self):
        super().setUp()
        self.calls = Path(tempfile.mkstemp(prefix="hacctl-calls-")[1])
        self.addCleanup(self.calls.unlink)
        self.answers = Path(tempfile.mkdtemp(prefix="hacctl-answers-"))
        self.addCleanup(shutil.rmtree, self.answers)
        self.environment.update(FAKE_HAC_CALLS=str(self.calls), FAKE_HAC_ANSWERS=str(self.answers))
        self.input = self.put("in", pack([3, 1, 2]))

    def answer(self, name, text):
        (self.answers / str(name)).write_text(text)

    def called(self):
        return self.calls.read_text()

    def test_sorts(self):
        values = [5, 0, 4294967295, 7, 7, 1]
        self.put("in", pack(values))
        self.assertEqual(self.good("sort", "in", "--type", "u32"), pack(sorted(values)))
        self.assertEqual(self.good("sort", "in", "--type", "u32", "-o", "out"), b"")
        self.assertEqual(Path(self.path("out")).read_bytes(), pack(sorted(values)))
        self.assertEqual(self.good("sort", "-", "--type", "u32", "--descending", data=pack(values)),
                         pack(sorted(values, reverse=True)))
        self.good("sort", "in", "--type", "u32", "-o", "in")
        self.assertEqual(Path(self.path("in")).read_bytes(), pack(sorted(values)))
        self.assertEqual(self.files(), ["in", "out"])

    def test_straight_outputs(self):
        self.assertEqual(self.good("sort", "in", "--type", "u32", "-o", "/dev/stdout"), pack([1, 2, 3]))
        self.assertEqual(self.good("sort", "in", "--type", "u32", "-o", "-"), pack([1, 2, 3]))
        self.good("sort", "in", "--type", "u32", "-o", "/dev/null")
        os.mkfifo(self.path("fifo"))
        process = self.start("sort", "in", "--type", "u32", "-o", "fifo")
        with open(self.path("fifo"), "rb") as fifo:
            self.assertEqual(fifo.read(), pack([1, 2, 3]))
        self.assertEqual(process.wait(10), 0)
        process.stdout.close()
        process.stderr.close()
        self.assertEqual(self.files(), ["fifo", "in"])
        self.bad(1, "sort", "in", "--type", "u32", "-o", "/dev/full", says="/dev/full: no space left on device")

    def test_redirected_output_keeps_its_place(self):
        with open(self.path("log"), "ab") as log:
            for _ in range(2):
                code, _, err = self.run_it("sort", "in", "--type", "u32", "-o", "/dev/stdout", stdout=log)
                self.assertEqual((code, err), (0, ""))
        self.assertEqual(Path(self.path("log")).read_bytes(), pack([1, 2, 3]) * 2)

    def test_broken_pipe(self):
        self.put("in", bytes(1 << 20))
        for words in ([], ["-o", "-"], ["-o", "/dev/stdout", "--receipt", "r.json"]):
            process = self.start("sort", "in", "--type", "u32", *words)
            process.stdout.close()
            err = process.stderr.read().decode()
            process.stderr.close()
            self.assertEqual((process.wait(10), err), (141, ""))
        self.assertEqual(self.files(), ["in"])
        line = f"set -o pipefail; '{PROGRAM}' sort in --type u32 | head -c 1"
        out = subprocess.run(["bash", "-c", line], cwd=self.folder, env=self.environment, capture_output=True, check=False)
        self.assertEqual((out.returncode, out.stdout, out.stderr), (141, b"\0", b""))
        os.mkfifo(self.path("fifo"))  # a name that was given is a file that could not be written
        reader = os.open(self.path("fifo"), os.O_RDONLY | os.O_NONBLOCK)
        self.environment["FAKE_HAC_SECONDS"] = "0.5"
        process = self.start("sort", "in", "--type", "u32", "-o", "fifo")
        time.sleep(0.2)
        os.close(reader)
        _, err = process.communicate(timeout=10)
        self.assertEqual((process.returncode, err), (1, b"hacctl: fifo: the reader has gone (broken pipe)\n"))

    def test_full_disk(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        self.put("in", bytes(1 << 20))
        self.put("out", "before")
        del self.environment["FAKE_HAC_CALLS"]  # it would be cut, too
        self.bad(1, "sort", "in", "--type", "u32", "-o", "out", says="nothing was written", preexec_fn=limit)
        self.assertEqual(Path(self.path("out")).read_bytes(), b"before")
        self.assertEqual(self.files(), ["in", "out"])

    def test_options_reach_the_library(self):
        self.good("sort", "in", "--type=u32", "--argsort", "--descending", "--algorithm", "bitonic", "--scheme", "upper",
                  "--fold", "3,6", "--devices", "cpu,gpu", "--priority", "-5", "--deadline", "2min", "--memory", "1MiB",
                  "--determinism", "fast", "-o", "/dev/null")
        self.assertIn("items=3 type=u32 descending=1 argsort=1 algorithm=1 scheme=3 fold=2 steps=3,6, devices=cpu,gpu, "
                      "detach=0 priority=-5 deadline=120 memory=1048576 fast=1 progress=0", self.called())
        self.good("sort", "in", "--socket", "/some/where", "--no-autostart", "--type", "u32", "-o", "/dev/null")
        self.assertIn("connect socket=/some/where flags=1", self.called())

    def test_mapreduce(self):
        self.put("a.csv", "x,y\n1,2\n")
        self.put("b.csv", "x,y\n3,4\n")
        out = self.good("mapreduce", "a.csv", "b.csv", "--schema", "x:i64,y:i64", "--where", "x > 0", "--group-by", "x",
                        "--select", "sum(y) as s", "--order-by", "s desc", "--limit", "5", "--hot-keys", "off",
                        "--devices", "a,b", "--determinism", "fast", "--way", "flow-c")
        self.assertEqual(out, b"x,y\n1,2\nx,y\n3,4\n")
        self.assertIn("mapreduce sources=2 format=2 schema=x:i64,y:i64 where=x > 0 group=x select=sum(y) as s "
                      "order=s desc limit=5 out=0 delimiter=0 no_header=0 skip=0 null=- hot=2 sample=0 share=0 groups=0 "
                      "items=0 devices=2 detach=0 fast=1 way=2\nfile a.csv\nfile b.csv\n", self.called())
        self.good("mapreduce", "wordcount", "a.csv", "-o", "out.json")
        self.assertEqual(Path(self.path("out.json")).read_bytes(), b"x,y\n1,2\n")
        self.assertIn("mapreduce sources=1 format=6 schema=- where=- group=word select=count() as count order=- "
                      "limit=-1 out=1", self.called())
        self.assertEqual(self.good("mapreduce", "wordcount", "a.csv", "--detach"), b"7\n")
        for status, code in ((1, 1), (2, 2), (3, 3), (4, 4), (5, 130)):
            self.environment["FAKE_HAC_JOB"] = str(status)
            self.bad(code, "mapreduce", "wordcount", "a.csv", "-o", "none", says="fake: ")
        self.assertNotIn("none", self.files())
        self.bad(2, "mapreduce", "wordcount", "a.csv", "--detach", "-o", "none", says="--detach")
        self.bad(2, "mapreduce", "a.csv", says="--select")
        for option in ("--where", "--select", "--schema"):
            self.bad(2, "mapreduce", "a.csv", option, " \t", says=f"option {option} needs a value")
        self.bad(2, "mapreduce", "word-count", "a.csv", says="neither a job that has a name nor a file")
        self.bad(2, "mapreduce", "a.csv", "--select", "x", "--parse", "orc", says="allowed: csv, tsv")
        self.bad(1, "mapreduce", "nowhere.csv", "--select", "x", says="nowhere.csv")

    def test_streams(self):
        words = ["--select", "x", "-o", "out.json"]
        self.good("mapreduce", "-", "--parse", "csv", *words, data=b"x\n1\n")
        self.assertEqual(Path(self.path("out.json")).read_bytes(), b"x\n1\n")
        self.assertIn("stream\nmapreduce sources=1 format=2", self.called())
        self.assertIn("file standard input\n", self.called())
        self.good("mapreduce", "wordcount", "-", "-o", "out", data=b"a b")
        self.bad(2, "mapreduce", "-", *words, says="how is standard input to be read?")
        self.bad(2, "mapreduce", "-", "in", "--parse", "csv", *words, says="standard input stands alone")
        self.bad(2, "explain", "mapreduce", "-", "--parse", "csv", *words, says="has no size that is known beforehand",
                 stdin=subprocess.PIPE)
        # a redirected file is a file; not where something was read of it already
        self.calls.write_text("")
        with open(self.path("in"), "rb") as file:
            self.good("mapreduce", "-", "--parse", "csv", *words, stdin=file)
            self.assertNotIn("stream", self.called())
            os.lseek(file.fileno(), 4, os.SEEK_SET)
            self.good("mapreduce", "-", "--parse", "csv", *words, stdin=file)
        self.assertIn("stream", self.called())
        self.assertEqual(Path(self.path("out.json")).read_bytes(), pack([1, 2]))
        # a pipe by its name is waited for
        os.mkfifo(self.path("fifo"))
        process = self.start("mapreduce", "fifo", "--parse", "lines", "--select", "line")
        time.sleep(0.2)
        Path(self.path("fifo")).write_bytes(b"x\n")
        self.assertEqual(process.communicate(timeout=10), (b"x\n", b""))
        # files of /proc have no size
        self.calls.write_text("")
        self.assertTrue(self.good("mapreduce", "/proc/self/status", "--parse", "lines", "--select", "line").startswith(b"Name:"))
        self.assertTrue(self.good("sort", "/proc/self/auxv", "--type", "u64"))
        self.assertIn("stream", self.called())
        self.assertIn("sort items=18446744073709551615", self.called())
        self.bad(1, "mapreduce", "in", "/proc/self/status", "--parse", "lines", "--select", "line",
                 says="/proc/self/status: has no size that is known beforehand, so it is read alone")
        self.put("m.csv", "1\n")
        self.bad(2, "mapreduce", "matrix-multiply", "/proc/self/status", "--parse", "csv", "--with", "m.csv",
                 says="matrix-multiply looks at the first line")
        master, slave = pty.openpty()
        self.bad(2, "parquet", "query", "-", "--parse", "parquet", "--select", "x", stdin=slave,
                 says="will not read parquet from a terminal")
        os.close(master)
        os.close(slave)

    def folder_of_files(self, *names):
        for name in names:
            Path(self.path(name)).parent.mkdir(parents=True, exist_ok=True)
            self.put(name, "PAR1")

    def opened(self):
        return re.findall(r"(?m)^file (.*)$", self.called())

    def test_parquet_query(self):
        self.put("x.parquet", "PAR1")
        query = ["--where", "a > 1", "--select", "count() as n"]
        self.assertEqual(self.good("parquet", "query", "x.parquet", *query), b"PAR1")
        self.assertIn("mapreduce sources=1 format=9 schema=- where=a > 1 group=- select=count() as n", self.called())
        self.good("parquet", "--quiet", "query", "x.parquet", *query)
        self.good("mapreduce", "x.parquet", *query)
        self.good("parquet", "query", "in", "--parse", "parquet", *query)
        self.good("parquet", "query", "-", "--parse", "parquet", *query, data=b"PAR1")
        self.assertEqual(self.called().count("format=9"), 5)
        self.bad(2, "parquet", "query", "in", *query, says="how is in to be read?")
        self.bad(2, "parquet", "query", "x.parquet", says="--select")
        self.bad(2, "parquet", "query", "wordcount", "x.parquet", *query, says="how is wordcount to be read?")
        self.bad(2, "parquet", "query", "x.parquet", *query, "--delimiter", ";", says="--delimiter is of text")
        self.bad(2, "parquet", "query", "x.parquet", *query, "--codec", "gzip", says="--codec is of results that are Parquet")
        self.answer("plan1", "{}")
        self.assertEqual(self.good("explain", "parquet", "query", "x.parquet", *query, "--json"), b"{}\n")
        self.assertIn("explain sources=1 format=9", self.called())

    def test_parquet_folders(self):
        self.folder_of_files("t/b.parquet", "t/a.parquet", "t/sub/c.PARQUET", "t/sub-x/d.parquet", "t/_tmp/e.parquet",
                             "t/.hidden.parquet", "t/_metadata.parquet", "t/readme.txt", "more/f.parquet", "none/x.csv")
        os.mkdir(self.path("t/folder.parquet"))
        os.symlink("..", self.path("t/sub/up"))
        os.symlink("../more/f.parquet", self.path("t/link.parquet"))
        os.symlink("nowhere", self.path("t/dangling.parquet"))
        self.good("parquet", "query", "t", "--select", "x", "-o", "out")
        self.assertEqual(self.opened(), ["t/a.parquet", "t/b.parquet", "t/link.parquet", "t/sub-x/d.parquet",
                                         "t/sub/c.PARQUET"])
        self.calls.write_text("")
        self.good("mapreduce", "more/", "t/a.parquet", "--select", "x", "-o", "out")
        self.assertEqual(self.opened(), ["more/f.parquet", "t/a.parquet"])
        self.bad(1, "parquet", "query", "none", "--select", "x", says="none: there is no file *.parquet in this folder")
        self.bad(1, "parquet", "query", "t", "--parse", "csv", "--select", "x", says="t: is a directory")
        self.bad(2, "parquet", "query", "t", "in", "--select", "x", says="different suffixes")
        self.folder_of_files(*[f"many/{i:02}.parquet" for i in range(64)])
        self.calls.write_text("")
        self.good("parquet", "query", "many", "--select", "x", "-o", "out")
        self.assertEqual(self.opened(), [f"many/{i:02}.parquet" for i in range(64)])
        self.bad(2, "parquet", "query", "many", "more", "--select", "x", says="more has 1 Parquet files beside the others")
        self.folder_of_files("many/64.parquet")
        self.bad(2, "parquet", "query", "many", "--select", "x", says="many has 65 Parquet files; 64 are possible")

    def test_text_is_converted_first(self):
        self.put("a.csv", "x,y\n1,2\n")
        self.answer(5, '{"flow": "E"}\n')
        words = ["parquet", "query", "a.csv", "--schema", "x:i64,y:i64", "--null", "NA", "--where", "x > 0", "--group-by", "x",
                 "--select", "sum(y) as s", "--order-by", "s", "--limit", "3", "--output-format", "json", "--receipt", "r.json"]
        code, out, err = self.run_it(*words)
        self.assertEqual((code, out), (0, b"x,y\n1,2\n"))
        self.assertEqual(err, "hacctl: a.csv: converted from csv to Parquet first (8 B, in memory); `hacctl parquet convert` "
                              "keeps it\n")
        self.assertRegex(self.called(), r"mapreduce sources=1 format=2 schema=x:i64,y:i64 where=- group=- select=\* order=- "
                                        r"limit=-1 out=3 .* null=NA")
        self.assertRegex(self.called(), r"memory sources=1 format=9 schema=- where=x > 0 group=x select=sum\(y\) as s order=s "
                                        r"limit=3 out=1 .* null=-")
        self.assertEqual(json.loads(Path(self.path("r.json")).read_text()), {"conversion": {"flow": "E"}, "flow": "E"})
        self.good("--quiet", *words)
        self.put("b.tsv", "x\n")
        code, _, err = self.run_it("parquet", "query", "b.tsv", "--select", "x", "--detach")
        self.assertEqual((code, "b.tsv: converted from tsv" in err), (0, True))
        self.assertRegex(self.called(), r"sources=1 format=3 .* detach=0 ")
        self.assertRegex(self.called(), r"memory sources=1 format=9 .* detach=1 ")
        self.bad(2, "explain", "parquet", "query", "a.csv", "--select", "x", says="it is converted first")
        self.environment["FAKE_HAC_JOB"] = "1"
        self.bad(1, "parquet", "query", "a.csv", "--select", "x", "-o", "none", says="fake: ")
        self.assertNotIn("none", self.files())

    def test_parquet_convert(self):
        self.put("a.csv", "x,y\n1,2\n")
        mib = 1 << 20
        self.good("parquet", "convert", "a.csv", "a.parquet", "--schema", "x:i64,y:i64")
        self.assertEqual(Path(self.path("a.parquet")).read_bytes(), b"x,y\n1,2\n")
        self.assertIn("mapreduce sources=1 format=2 schema=x:i64,y:i64 where=- group=- select=* order=- limit=-1 out=3",
                      self.called())
        self.assertIn(f"parquet codec=0 group={128 * mib} rows=0 block={128 * mib}\n", self.called())
        for options, wanted in ((["--codec", "snappy"], f"codec=2 group={128 * mib} rows=0 block={128 * mib}"),
                                (["--row-group-size", "1GiB"], f"codec=0 group={1024 * mib} rows=0 block={1024 * mib}"),
                                (["--block-size", "64MiB"], f"codec=0 group={64 * mib} rows=0 block={64 * mib}"),
                                (["--block-size", "256MiB"], f"codec=0 group={128 * mib} rows=0 block={256 * mib}"),
                                (["--row-group-rows", "5", "--codec", "none", "--row-group-size", "1MB", "--block-size", "2MB"],
                                 "codec=1 group=1000000 rows=5 block=2000000")):
            self.calls.write_text("")
            self.good("parquet", "convert", "a.csv", "a.parquet", *options)
            self.assertIn(f"parquet {wanted}\n", self.called())
        self.good("parquet", "convert", "in", "b.parquet", "--type", "u32")
        self.assertIn("format=8 schema=value:u32 ", self.called())
        self.good("parquet", "convert", "b.parquet", "c.parquet")
        self.good("parquet", "convert", "-", "c.parquet", "--parse", "jsonl", "--schema", "a:i8", data=b"{}")
        self.assertIn("stream\nmapreduce sources=1 format=4 schema=a:i8", self.called())
        self.bad(2, "parquet", "convert", "b.parquet", "a.csv", says="the result is a Parquet file, which a.csv is not")
        self.bad(2, "parquet", "convert", "a.csv", says="too few arguments; usage: hacctl parquet convert IN OUT")
        self.bad(2, "parquet", "convert", "in", "c.parquet", says="how is in to be read?")
        self.bad(2, "parquet", "convert", "in", "c.parquet", "--type", "u32", "--schema", "a:u32", says="--schema is not of raw")
        self.bad(2, "parquet", "convert", "in", "c.parquet", "--type", "u32", "--parse", "csv", says="--parse says csv")
        self.bad(2, "parquet", "convert", "a.csv", "c.parquet", "--codec", "lzo", says="allowed: zstd, none, snappy, gzip, lz4")
        self.bad(2, "parquet", "convert", "a.csv", "c.parquet", "--row-group-size", "2MB", "--block-size", "1MB",
                 says="--row-group-size 2MB is more than --block-size 1MB")
        for option in ("--row-group-size", "--row-group-rows", "--block-size"):
            for value in ("0", "many", "-1"):
                self.bad(2, "parquet", "convert", "a.csv", "c.parquet", option, value, says=option)
        self.bad(2, "parquet", "convert", "a.csv", "c.parquet", "--detach", says="unknown option --detach")
        self.environment["FAKE_HAC_JOB"] = "1"
        self.bad(1, "parquet", "convert", "a.csv", "none.parquet", says="fake: ")
        self.assertNotIn("none.parquet", self.files())
        self.answer("plan1", "{}")
        del self.environment["FAKE_HAC_JOB"]
        self.good("explain", "parquet", "convert", "a.csv", "none.parquet", "--json")
        self.assertNotIn("none.parquet", self.files())

    def test_parquet_inspect(self):
        answer = {"rows": 3, "bytes": 2048, "created_by": "a writer\x1b", "columns": [
            {"name": "a", "type": "i64", "physical": "INT64", "nullable": False},
            {"name": "t", "why_not_read": "it is repeated (a list or a map)", "physical": "FIXED_LEN_BYTE_ARRAY", "length": 16,
             "logical": "UUID", "nullable": True}], "row_groups": [{"rows": 3, "offset": 4, "bytes": 100,
             "uncompressed_bytes": 200, "columns": [{"column": "a", "codec": "ZSTD", "encodings": ["PLAIN", "RLE"], "bytes": 60,
             "uncompressed_bytes": 120, "nulls": 0, "min": "1", "max": "3", "column_index": True, "bloom_filter": True}]}]}
        self.put("x.parquet", json.dumps(answer))
        self.assertEqual(json.loads(self.good("--json", "parquet", "inspect", "x.parquet")), answer)
        self.assertEqual(self.good("parquet", "inspect", "--json", "x.parquet"), self.good("parquet", "--json", "inspect", "x.parquet"))
        text = self.good("parquet", "inspect", "x.parquet").decode()
        self.assertTrue(text.startswith("3 rows of 2 columns in 1 row group, 2 KiB\nwritten by a writer?\n"), text)
        self.assertRegex(text, r"(?m)^t +- +FIXED_LEN_BYTE_ARRAY\(16\), UUID +possible +not read: it is repeated")
        self.assertRegex(text, r"(?m)^a +ZSTD +PLAIN, RLE +60 B +120 B +0 +1 +3 +pages, bloom$")
        self.good("parquet", "inspect", "in", "--json")  # whatever its name is
        self.bad(1, "parquet", "inspect", "nowhere", says="nowhere: No such file")
        self.bad(1, "parquet", "inspect", "-", says="standard input: is no regular file", data=b"x")
        self.bad(3, "parquet", "inspect", "in", says="is not a JSON object")
        self.bad(2, "parquet", "inspect", "in", "in", says="one argument too many")

    def test_sort_of_rows(self):
        self.put("a.csv", "x,y\n1,2\n")
        self.put("x.parquet", "PAR1")
        self.assertEqual(self.good("sort", "a.csv", "--input-format", "csv", "--key", "y desc, x", "--schema", "x:i64,y:i64"),
                         b"x,y\n1,2\n")
        self.assertIn("mapreduce sources=1 format=2 schema=x:i64,y:i64 where=- group=- select=* order=y desc, x limit=-1 out=0",
                      self.called())
        for words, form in ((["x.parquet", "--input-format", "parquet"], 3), (["x.parquet"], 3), (["a.csv"], 0),
                            (["in", "--input-format", "csv", "-o", "o.parquet"], 3),
                            (["x.parquet", "--output-format", "json"], 1), (["x.parquet", "-o", "o.csv"], 0)):
            self.calls.write_text("")
            out = ["-o", "o"] if "-o" not in words else []
            self.good("sort", *words, "--key", "x", *out)
            self.assertIn(f" out={form} ", self.called())
        self.bad(2, "sort", "a.csv", "--input-format", "csv", says="say --key")
        self.bad(2, "sort", "in", "--key", "x", says="how is in to be read?")
        self.put("b.tsv", "x\n")
        self.bad(2, "sort", "b.tsv", "--key", "x", says="rows of csv and parquet can be sorted")
        self.bad(2, "sort", "a.csv", "--input-format", "tsv", "--key", "x", says="allowed: csv, parquet")
        self.bad(2, "sort", "a.csv", "--key", "x", "--descending", says="say --key 'a desc'")
        for option in (["--type", "u32"], ["--argsort"], ["--algorithm", "radix"], ["--scheme", "none"], ["--fold", "none"]):
            self.bad(2, "sort", "a.csv", "--key", "x", *option, says=f"{option[0]} is of raw arrays, not of whole rows")
        self.bad(2, "sort", "a.csv", "--key", "x", "--codec", "gzip", says="--codec is of results that are Parquet files")
        self.answer("plan1", "{}")
        self.assertEqual(self.good("explain", "sort", "a.csv", "--key", "x", "--json"), b"{}\n")
        self.assertIn("explain sources=1 format=2", self.called())
        self.bad(2, "explain", "sort", "a.csv", "--key", "x", "--items", "5", says="--items")
        master, slave = pty.openpty()
        code, _, err = self.run_it("sort", "x.parquet", "--key", "x", stdout=slave)
        self.assertEqual((code, "will not write a Parquet file to a terminal" in err), (2, True))
        os.close(master)
        os.close(slave)

    def test_what_is_said_of_a_result(self):
        self.environment["FAKE_HAC_TEXT"] = "3 records that could not be read were left out"
        code, out, err = self.run_it("mapreduce", "wordcount", "in")
        self.assertEqual((code, len(out), err), (0, 12, "hacctl: 3 records that could not be read were left out\n"))
        self.good("-q", "mapreduce", "wordcount", "in")

    def test_mapreduce_plans(self):
        self.answer("plan1", "{}")
        self.assertEqual(self.good("--json", "explain", "mapreduce", "wordcount", "in"), b"{}\n")
        self.assertIn("explain sources=1 format=6", self.called())
        self.assertIn("source 12\n", self.called())
        self.bad(2, "explain", "mapreduce", "in", says="--select")
        self.bad(2, "explain", "mapreduce", "wordcount", "in", "--items", "3", says="--items is for sorts of arrays")
        self.bad(2, "explain", "mapreduce", "wordcount", "in", "--type", "u32", says="--type is no option of mapreduce")
        self.bad(2, "explain", "sort", "in", "--type", "u32", "--where", "x", says="--where is no option of sort")
        self.bad(2, "explain", "sort", "in", "in", "--type", "u32", says="one argument too many")

    def test_exit_codes(self):
        for status, code in ((1, 1), (2, 2), (3, 3), (4, 4), (5, 130), (6, 1), (8, 3), (9, 1), (11, 2), (13, 1)):
            for stage in ("CONNECT", "SUBMIT", "JOB"):
                self.environment[f"FAKE_HAC_{stage}"] = str(status)
                self.bad(code, "sort", "in", "--type", "u32", "-o", "out", says="fake: ")
                del self.environment[f"FAKE_HAC_{stage}"]
        self.assertEqual(self.files(), ["in"])

    def test_detach(self):
        self.environment["FAKE_HAC_SECONDS"] = "60"
        self.assertEqual(self.good("sort", "in", "--type", "u32", "--detach"), b"7\n")
        self.assertEqual(json.loads(self.good("--json", "sort", "in", "--type", "u32", "--detach")), {"job": 7})
        self.assertIn("detach=1", self.called())
        self.assertNotIn("cancel", self.called())

    def interrupt(self, signal_number, *words, times=1):
        self.environment["FAKE_HAC_SECONDS"] = "60"
        process = self.start(*words)
        for _ in range(500):
            if "sort" in self.called() or "attach" in self.called():
                break
            time.sleep(0.01)
        time.sleep(0.1)
        for _ in range(times):
            process.send_signal(signal_number)
            time.sleep(0.05)
        out, err = process.communicate(timeout=10)
        self.assertEqual((process.returncode, out), (130, b""))
        return err.decode()

    def test_interrupt_cancels(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            self.calls.write_text("")
            err = self.interrupt(number, "sort", "in", "--type", "u32", "-o", "out")
            self.assertEqual(err, "hacctl: cancelled\n")
            self.assertIn("cancel", self.called())
            self.assertEqual(self.files(), ["in"])

    def test_a_second_interrupt_does_not_wait(self):
        # the library of this test cancels at once, so the second may come too late: both end the same way
        err = self.interrupt(signal.SIGINT, "sort", "in", "--type", "u32", "-o", "out", times=2)
        self.assertEqual(err, "hacctl: cancelled\n")
        self.assertEqual(self.files(), ["in"])

    def test_killed_leaves_the_output_alone(self):
        self.environment["FAKE_HAC_SECONDS"] = "60"
        self.put("out", "before")
        process = self.start("sort", "in", "--type", "u32", "-o", "out")
        while "sort" not in self.called():
            time.sleep(0.01)
        process.kill()
        process.communicate(timeout=10)
        self.assertEqual(Path(self.path("out")).read_bytes(), b"before")

    def test_all_types(self):
        cases = {"u32": [7, 0, 2**32 - 1, 7], "i32": [-1, 2**31 - 1, -2**31, 0], "u64": [2**64 - 1, 0, 5],
                 "i64": [-2**63, 2**63 - 1, -1], "f32": [1.5, -0.0, 0.0, math.inf, -math.inf, math.nan, -2.0],
                 "f64": [1e300, -0.0, 0.0, math.inf, -math.inf, math.nan, 5e-324]}
        for kind, values in cases.items():
            self.put("in", pack(values, kind))
            self.assertEqual(self.good("sort", "in", "--type", kind), pack(sorted(values, key=key(kind)), kind))
            self.assertEqual(self.good("sort", "in", "--type", kind, "--descending"),
                             pack(sorted(values, key=key(kind), reverse=True), kind))

    def test_empty_input(self):
        self.put("in", b"")
        self.assertEqual(self.good("sort", "in", "--type", "u32"), b"")
        self.good("sort", "in", "--type", "f64", "-o", "out")
        self.assertEqual(Path(self.path("out")).read_bytes(), b"")
        self.assertEqual(self.good("sort", "-", "--type", "u32", data=b""), b"")

    def test_interrupt_while_reading(self):
        process = self.start("sort", "-", "--type", "u32", "-o", "out", stdin=subprocess.PIPE)
        process.stdin.write(b"1234")
        process.stdin.flush()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(10), 130)
        self.assertEqual(process.stderr.read(), b"hacctl: cancelled\n")
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
        self.assertEqual(self.files(), ["in"])

    def test_interrupted_wait_leaves_the_job(self):
        err = self.interrupt(signal.SIGINT, "wait", "7")
        self.assertEqual(err, "hacctl: interrupted; job 7 goes on\n")
        err = self.interrupt(signal.SIGINT, "result", "7", "-o", "out")
        self.assertNotIn("cancel", self.called())
        self.assertEqual(self.files(), ["in"])

    def test_ignored_signals_stay_ignored(self):
        self.environment["FAKE_HAC_SECONDS"] = "1"
        process = self.start("sort", "in", "--type", "u32",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10)
        self.assertEqual((process.returncode, out, err), (0, pack([1, 2, 3]), b""))

    def on_terminal(self, *words):
        """Standard error is a terminal; returns exit code and what was on it."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 120, 0, 0))
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=slave)
        os.close(slave)
        seen = b""
        while select.select([master], [], [], 10)[0]:
            try:
                data = os.read(master, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
        os.close(master)
        return process.wait(10), seen.decode()

    def test_progress_on_terminals_only(self):
        self.environment.update(FAKE_HAC_SECONDS="0.5", TERM="xterm")
        code, seen = self.on_terminal("sort", "in", "--type", "u32")
        self.assertEqual(code, 0)
        for part in ("%", "merge 3", "118 M items/s", "left", "building kernels for cpu (2 of 5)", "\r\x1b[K"):
            self.assertIn(part, seen)
        self.assertEqual(self.on_terminal("sort", "in", "--type", "u32", "--quiet"), (0, ""))
        self.environment["TERM"] = "dumb"
        self.assertEqual(self.on_terminal("sort", "in", "--type", "u32"), (0, ""))
        self.good("sort", "in", "--type", "u32", "-o", "/dev/null")

    def test_receipt_and_trace(self):
        self.answer(5, '{"k": 0.6}')
        self.answer(7, '{"traceEvents": []}\n')
        self.good("sort", "in", "--type", "u32", "-o", "out", "--receipt", "r.json", "--trace", "t.json")
        self.assertEqual(Path(self.path("r.json")).read_text(), '{"k": 0.6}\n')
        self.assertEqual(Path(self.path("t.json")).read_text(), '{"traceEvents": []}\n')
        self.assertEqual(self.files(), ["in", "out", "r.json", "t.json"])
        (self.answers / "7").unlink()
        self.bad(2, "sort", "in", "--type", "u32", "-o", "new", "--receipt", "n.json", "--trace", "u.json")
        self.assertEqual(self.files(), ["in", "out", "r.json", "t.json"])

    def test_lists(self):
        devices = '{"devices": [{"name": "cpu", "state": "ready", "executors": [12]}]}'
        self.answer(1, devices)
        self.assertEqual(self.good("--json", "devices").decode(), devices + "\n")
        self.assertRegex(self.good("devices").decode(), r"(?m)^cpu   ready ")
        self.answer(2, '{"jobs": []}')
        self.assertEqual(self.good("jobs").decode(), "no jobs\n")
        self.answer(2, "nonsense")
        self.bad(3, "jobs", says="is not a JSON object")
        self.answer(10, "# EOF")
        self.assertEqual(self.good("metrics"), b"# EOF\n")

    def test_plans(self):
        for number, text in enumerate(("plan", '{"n": 5}', "<svg/>")):
            self.answer(f"plan{number}", text)
        words = ["explain", "sort", "--items", "2^20", "--type", "f32", "-o", "ignored", "--detach", "--receipt", "r"]
        self.assertEqual(self.good(*words), b"plan\n")
        self.assertEqual(self.good("--json", *words), b'{"n": 5}\n')
        self.assertEqual(self.good(*words, "--format", "json"), b'{"n": 5}\n')
        self.assertEqual(self.good(*words, "--format", "svg"), b"<svg/>\n")
        self.assertIn("explain items=1048576 type=f32", self.called())
        self.assertIn("plan input=0", self.called())
        self.good("explain", "sort", "in", "--type", "u32")
        self.assertIn("explain items=3 type=u32", self.called())
        self.assertIn("plan input=2", self.called())
        os.mkdir(self.path("profiles"))
        self.put("profiles/g.yaml", "name: g\nmatch: {type: gpu}\nkind: gpu\ngroup: card\n")
        self.good("simulate", "--profiles", "profiles", "sort", "--items", "8", "--type", "u32")
        self.assertIn("device g group=card kind=gpu simt=1", self.called())
        self.assertEqual(self.files(), ["in", "profiles"])

    def test_calibrate(self):
        report = '{"devices":[{"name":"cpu","models":[]}],"break_even":[{"type":"u32","splits_from_items":1000000}]}'
        self.answer("calibrate", report)
        self.answer("tune", '{"tuned":[]}')
        self.assertIn("several devices pay from 1 M items", self.good("calibrate").decode())
        self.assertEqual(self.good("--json", "calibrate", "cpu", "gpu").decode(), report + "\n")
        self.assertIn("calibrate tune=0 devices=2 first=cpu", self.called())
        self.assertEqual(self.good("tune").decode(), "nothing was tuned\n")
        self.assertIn("calibrate tune=1 devices=0", self.called())

    def test_jobs(self):
        self.answer(3, '{"id": 7, "state": "done", "name": "x"}')
        self.answer(4, "because\x1b[31m")
        self.answer(5, '{"k": 1}')
        self.answer(6, "one\ntwo\n")
        self.answer(7, "{}")
        self.answer(8, "the plan")
        self.assertEqual(self.good("show", "7").decode().splitlines()[-2:], ["", "the plan"])
        self.assertEqual(json.loads(self.good("show", "7", "--json"))["state"], "done")
        self.assertEqual(self.good("show", "7", "--format", "svg"), b"the plan\n")
        self.assertEqual(self.good("show", "7", "--receipt", "-"), b'{"k": 1}\n')
        self.assertEqual(self.good("why", "7"), b"because?[31m\n")
        self.assertEqual(json.loads(self.good("--json", "why", "7")), {"job": 7, "why": "because\x1b[31m"})
        self.assertEqual(self.good("log", "7"), b"one\ntwo\n")
        self.assertEqual(self.good("log", "-f", "7"), b"one\ntwo\n")
        self.good("trace", "7", "-o", "t")
        self.assertEqual(Path(self.path("t")).read_text(), "{}\n")
        self.good("wait", "7")
        self.assertEqual(self.good("result", "7"), b"the result")
        self.good("result", "7", "-o", "out")
        self.assertEqual(Path(self.path("out")).read_bytes(), b"the result")
        for command in ("show", "why", "wait", "result", "cancel", "log", "trace"):
            self.bad(2, command, "8", says="there is no job 8")

    def test_cancel(self):
        self.answer(3, '{"state": "running"}')
        self.good("cancel", "7")
        self.assertIn("cancel", self.called())
        for end in ("done", "failed", "cancelled"):
            self.answer(3, f'{{"state": "{end}"}}')
            self.assertEqual(self.run_it("cancel", "7"),
                             (0, b"", f"hacctl: job 7 has ended already ({end}): there is nothing to cancel\n"))
            self.good("--quiet", "cancel", "7")

    def test_log_follows(self):
        self.answer(3, '{"state": "running"}')
        self.answer(6, "one\n")
        process = self.start("log", "-f", "7")
        self.assertEqual(process.stdout.readline(), b"one\n")
        self.answer(6, "one\ntwo\n")
        self.assertEqual(process.stdout.readline(), b"two\n")
        self.answer(6, "one\ntwo\nthree\n")
        self.answer(3, '{"state": "done"}')
        self.assertEqual(process.communicate(timeout=10), (b"three\n", b""))
        self.assertEqual(process.returncode, 0)

    def test_doctor(self):
        self.answer(11, '{"checks": [{"name": "a", "ok": true}]}')
        self.assertEqual(self.good("doctor"), b"ok      a\n")
        self.answer(11, '{"checks": [{"name": "a", "ok": false, "message": "no", "hint": "do"}]}')
        code, out, err = self.run_it("doctor")
        self.assertEqual((code, out, err), (1, b"FAILED  a: no\n        do\n", "hacctl: 1 check failed\n"))

    def test_administration(self):
        self.assertEqual(self.good("reload"), b"")
        self.assertEqual(self.good("drain"), b"")
        self.assertIn("flags=1\nreload\n", self.called())
        self.assertIn("flags=1\ndrain\n", self.called())
        self.answer(0, '{"version":"9","protocol":1,"daemon":{"version":"9","pid":12,"socket":"/s","private":true}}')
        version = json.loads(self.good("version", "--json"))
        self.assertEqual((version["daemon"]["pid"], version["daemon"]["socket"]), (12, "/s"))
        self.assertIn("hacd 9, pid 12, private, /s", self.good("version").decode())

    def test_closed_standard_descriptors(self):
        def close():
            os.close(0)
            os.close(2)
        process = subprocess.Popen([PROGRAM, "sort", "in", "--type", "u32"], cwd=self.folder, env=self.environment,
                                   stdout=subprocess.PIPE, preexec_fn=close)
        self.assertEqual(process.communicate(timeout=10)[0], pack([1, 2, 3]))
        self.assertEqual(process.returncode, 0)

    def test_closed_standard_output(self):
        code, _, err = self.run_it("sort", "in", "--type", "u32", preexec_fn=lambda: os.close(1))
        self.assertEqual((code, err), (1, "hacctl: standard output is closed\n"))
        code, _, err = self.run_it("--version", preexec_fn=lambda: os.close(1))
        self.assertEqual((code, err), (1, "hacctl: standard output is closed\n"))
        code, _, err = self.run_it("sort", "in", "--type", "u32", "-o", "out", preexec_fn=lambda: os.close(1))
        self.assertEqual((code, err), (0, ""))
        self.bad(1, "sort", "-", "--type", "u32", preexec_fn=lambda: os.close(0))


class Real(Case):
    """With hacd: one private daemon for the whole class."""

    @classmethod
    def setUpClass(cls):
        cls.home = Path(tempfile.mkdtemp(prefix="hacctl-home-"))
        cls.base = dict(os.environ, LC_ALL="C.UTF-8")
        cls.base.pop("HAC_SOCKET", None)
        for name in ("RUNTIME_DIR", "STATE_HOME", "CACHE_HOME", "CONFIG_HOME"):
            path = cls.home / name.lower()
            path.mkdir(mode=0o700)
            cls.base[f"XDG_{name}"] = str(path)

    @classmethod
    def tearDownClass(cls):
        subprocess.run([PROGRAM, "drain"], env=cls.base, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=False, timeout=60)
        shutil.rmtree(cls.home, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.environment = dict(self.base)

    def check_sort(self, values, kind, *options):
        self.put("in", pack(values, kind))
        out = self.good("sort", "in", "--type", kind, *options)
        expected = sorted(values, key=key(kind), reverse="--descending" in options)
        if "--argsort" in options:
            order = array.array("I", out).tolist()
            expected = sorted(range(len(values)), key=lambda i: key(kind)(values[i]))
            if "--descending" in options:
                expected = sorted(range(len(values)), key=lambda i: key(kind)(values[i]), reverse=True)
            self.assertEqual(order, expected)
            return
        self.assertEqual(out, pack(expected, kind), f"{kind} {len(values)} {options}")

    def numbers(self, n, kind):
        state, values = 88172645463325252, []
        for _ in range(n):
            state ^= (state << 13) & (2**64 - 1)
            state ^= state >> 7
            state ^= (state << 17) & (2**64 - 1)
            values.append(state)
        if kind[0] == "f":
            return [float(v % 2000) / 8 - 100 for v in values]
        bits = int(kind[1:])
        return [v % 2**bits - (2 ** (bits - 1) if kind[0] == "i" else 0) for v in values]

    def test_sort(self):
        for kind in CODES:
            for n in (0, 1, 2, 3, 1000, 70000):
                self.check_sort(self.numbers(n, kind), kind)
            self.check_sort(self.numbers(1000, kind), kind, "--descending")
            self.check_sort(self.numbers(1000, kind), kind, "--argsort")
        self.check_sort(self.numbers(5000, "u32"), "u32", "--algorithm", "bitonic")
        self.check_sort(self.numbers(5000, "u32"), "u32", "--algorithm", "radix")

    def test_file_and_stream(self):
        values = self.numbers(300000, "u64")
        self.put("in", pack(values, "u64"))
        self.good("sort", "in", "--type", "u64", "-o", "in")
        self.assertEqual(Path(self.path("in")).read_bytes(), pack(sorted(values), "u64"))
        self.assertEqual(self.good("sort", "-", "--type", "u64", data=pack(values, "u64")), pack(sorted(values), "u64"))
        self.bad(1, "sort", "-", "--type", "u64", data=b"12345")
        self.assertEqual(self.files(), ["in"])

    def test_devices(self):
        devices = json.loads(self.good("--json", "devices"))["devices"]
        self.assertTrue(devices)
        for device in devices:
            self.assertIn(device["state"], ("ready", "untested", "building", "unusable", "quarantined"))
            self.assertIsInstance(device["executors"], list)
        self.assertIn(devices[0]["name"], self.good("devices").decode())
        self.put("in", pack([1]))
        self.bad(2, "sort", "in", "--type", "u32", "-o", "out", "--devices", "no-such-device", says="no-such-device")
        self.assertEqual(self.files(), ["in"])

    def test_version(self):
        version = json.loads(self.good("--json", "version"))
        os.kill(version["daemon"]["pid"], 0)
        self.assertTrue(os.path.exists(version["daemon"]["socket"]))

    def test_explain_and_simulate(self):
        plan = json.loads(self.good("explain", "sort", "--items", "65536", "--type", "u32", "--json"))
        for field in ("flow", "k", "k_source", "shares", "predicted_seconds", "devices", "tasks", "algorithm", "scheme",
                      "n", "N", "weaker_items", "corun_steps", "folded_steps", "parts"):
            self.assertIn(field, plan)
        self.assertTrue(self.good("explain", "sort", "--items", "65536", "--type", "u32"))
        self.assertIn(b"<svg", self.good("explain", "sort", "--items", "65536", "--type", "u32", "--format", "svg"))
        os.mkdir(self.path("p"))
        self.put("p/a.yaml", "name: strong\nmatch: {type: any}\nkind: gpu\ncapability: {\"sort.u32\": 1.0e6}\n")
        self.put("p/b.yaml", "name: weak\nmatch: {type: any}\nkind: cpu\ncapability: {\"sort.u32\": 0.6e6}\n")
        words = ["simulate", "--profiles", "p", "--json", "sort", "--items", "16", "--type", "u32", "--algorithm",
                 "bitonic", "--fold", "none"]
        for scheme, items, steps in (("proportional", 6, [[1, 1], [3, 3], [6, 6], [10, 10]]),
                                     ("lower", 4, [[1, 3], [5, 6], [9, 10]]), ("upper", 8, [[1, 6], [8, 10]])):
            plan = json.loads(self.good(*words, "--scheme", scheme))
            self.assertEqual((plan["weaker_items"], plan["corun_steps"], plan["n"], plan["N"]), (items, steps, 4, 1))
        self.bad(2, "simulate", "--profiles", "p", "sort", "--items", "16", "--type", "f64", says="sort.f64")

    def test_detached(self):
        values = self.numbers(100000, "u32")
        self.put("in", pack(values))
        job = self.good("sort", "in", "--type", "u32", "--detach").decode().strip()
        self.assertRegex(job, r"^\d+$")
        self.good("wait", job)
        self.assertEqual(self.good("result", job), pack(sorted(values)))
        self.assertIn(int(job), [j["id"] for j in json.loads(self.good("--json", "jobs"))["jobs"]])
        self.assertEqual(json.loads(self.good("--json", "show", job))["state"], "done")
        self.assertTrue(self.good("show", job))
        self.assertTrue(self.good("why", job))
        self.good("log", "-f", job)
        json.loads(self.good("trace", job))
        json.loads(self.good("show", job, "--receipt", "-"))
        for command in ("show", "why", "wait", "result", "cancel", "log", "trace"):
            self.bad(2, command, "999999999")

    def test_receipt_and_trace(self):
        self.put("in", pack([3, 1, 2]))
        self.good("sort", "in", "--type", "u32", "-o", "out", "--receipt", "r.json", "--trace", "t.json")
        json.loads(Path(self.path("r.json")).read_text())
        json.loads(Path(self.path("t.json")).read_text())
        self.assertEqual(self.files(), ["in", "out", "r.json", "t.json"])

    def test_interrupt(self):
        with open(self.path("in"), "wb") as file:
            file.truncate(1 << 28)
        process = self.start("sort", "in", "--type", "u32", "-o", "out")
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        self.assertEqual((process.returncode, err), (130, b"hacctl: cancelled\n"))
        self.assertEqual(self.files(), ["in"])

    def test_administration(self):
        self.good("devices")  # starts the daemon if need be; nothing is reloaded while devices are probed
        self.good("reload")
        self.assertTrue(self.good("metrics").decode().endswith("# EOF\n"))
        code, out, _ = self.run_it("doctor")
        self.assertIn(code, (0, 1))
        self.assertTrue(out)


if __name__ == "__main__":
    mode, PROGRAM = sys.argv[1], os.path.abspath(sys.argv[2])
    suite = unittest.TestSuite()
    for case in (Usage, Fake) if mode == "--fake" else (Usage, Real):
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    sys.exit(not unittest.TextTestRunner(verbosity=1).run(suite).wasSuccessful())
