#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every failpoint of the code (base/failpoint.h) fails once, or reads and writes a byte at a time. The job is done
all the same, or there is one clear line and no output; hacd answers the next job, and nothing is left.
The points are listed from the sources: a point that no case below reaches fails the test."""
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import BUILD, LIBEXEC, ONE_DEVICE, SOURCE, MachineTest, main  # noqa: E402

TEXT_BYTES, FILE_BYTES, NAME_BYTES = 4096, 64 << 10, 64
BITONIC = ("--algorithm", "bitonic")


def points_of_the_code():
    """{name: its macros}"""
    found = {}
    for folder in ("base", "backends", "client-lib", "config", "daemon", "expr", "hacctl", "opsplit", "proto"):
        for path in (SOURCE / folder).rglob("*.c"):
            for macro, name in re.findall(r'(HAC_FAILPOINT(?:_SHORT|_NAME)?)\(\s*"([a-z_.]+)"', path.read_text()):
                found.setdefault(name, set()).add(macro)
    return found


class Switch:
    """The file that tells processes what fails, and in which they report what has failed."""

    def __init__(self, folder):
        self.path = Path(folder, "failpoints")
        self.path.write_bytes(bytes(FILE_BYTES))

    def put(self, offset, data):
        with open(self.path, "r+b") as file:
            file.seek(offset)
            file.write(data)

    def set(self, text):
        self.put(TEXT_BYTES, bytes(FILE_BYTES - TEXT_BYTES))
        self.put(0, text.encode().ljust(TEXT_BYTES, b"\0"))

    def hits(self):
        data = self.path.read_bytes()[TEXT_BYTES:]
        names = (data[i:i + NAME_BYTES].rstrip(b"\0").decode() for i in range(0, len(data), NAME_BYTES))
        return {name for name in names if name}


@unittest.skipUnless(b"memfd.create" in (LIBEXEC / "hacd").read_bytes(), "built without HAC_FAILPOINTS")
class Failpoints(MachineTest):
    # What is asked for. Each writes `out`, or is judged by its exit code.
    def small(self):
        return ("sort", "small", "--type", "u32", "-o", "out")

    def file(self):
        return ("sort", "in", "--type", "u32", *BITONIC, "-o", "out")

    def stream(self):
        return ("sort", "-", "--type", "u32", *BITONIC, "-o", "out")

    def words(self):
        return ("mapreduce", "wordcount", "text", "-o", "out")

    def parquet(self):
        return ("parquet", "query", "table.parquet", "--select", "sum(a), count()", "-o", "out")

    def found(self):
        return ("-q", "query", "-", "--select", "count() as n", "-o", "out")

    def opsplit(self):
        return ("opsplit", "run", SOURCE / "docs/examples/word-count.yaml", "--input", "folder=texts", "-o", "out")

    def library(self):
        return ("opsplit", "subop", "add", "damp.yaml")

    # point: [(what fails, what is asked for, part of the message; None: it is done all the same)]
    # Points that a running daemon reaches.
    CASES = {
        "memfd.map": [("ENOMEM:1", "stream", "map")],
        "frame.send": [("EINTR:1", "small", None), ("ETOOMANYREFS:3", "small", None), ("ENOBUFS:1", "small", "message")],
        "frame.receive": [("EINTR:2", "small", None), ("EIO:1", "small", "")],
        "server.accept": [("EINTR:1", "small", None), ("EMFILE:1", "small", None), ("ECONNABORTED:1", "small", None)],
        "channel.nonblocking": [("EIO:1", "small", None)],
        "channel.poll": [("ENOMEM:1", "small", None)],
        "job.descriptor": [("EIO:1", "file", "descriptor")],
        "io_read.read": [("EIO:1", "file", "read"), ("EINTR:1", "file", None), ("EAGAIN:1", "file", None)],
        "query.read": [("EIO:1", "words", "read"), ("EINTR:1", "words", None), ("short", "words", None)],
        "parquet.read": [("EIO:1", "parquet", "read"), ("EINTR:1", "parquet", None), ("short", "parquet", None)],
        "client.socket": [("EMFILE", "small", "socket")],
        "client.connect": [("EINTR:1", "small", None)],
        "input.read": [("EIO:1", "stream", "read"), ("EINTR:1", "stream", None)],
        "content.pipe": [("EMFILE:1", "found", "standard input: ")],
        "content.tee": [("EIO:1", "found", "standard input: "), ("EINTR:1", "found", None), ("EAGAIN:1", "found", None)],
        "sort.read": [("EIO:1", "small", None), ("EINTR:1", "small", None), ("short", "small", None)],
        "output.open": [("EACCES:1", "file", "out"), ("ENOSPC:1", "words", "out")],
        "output.reserve": [("ENOSPC:1", "file", "no space"), ("EOPNOTSUPP:1", "file", None), ("EINTR:1", "file", None)],
        "output.write": [("ENOSPC:1", "file", "no space"), ("EIO:1", "words", "out"), ("EINTR:1", "file", None),
                         ("EAGAIN:1", "file", None), ("short", "words", None)],
        "output.rename": [("EIO:1", "file", "out"), ("EDQUOT:1", "parquet", "out")],
        "opsplit.write": [("ENOSPC:1", "opsplit", "words.csv"), ("EINTR:1", "opsplit", None), ("short", "opsplit", None)],
        "opsplit.unnamed": [("EOPNOTSUPP", "opsplit", None)],
        "opsplit.link": [("EIO:1", "opsplit", "words.csv"), ("EEXIST:1", "opsplit", None),
                         ("EEXIST:1,opsplit.rename=EIO:1", "opsplit", "words.csv")],
        "opsplit.rename": [("EIO:1,opsplit.unnamed=EOPNOTSUPP", "opsplit", "words.csv")],
        "library.write": [("ENOSPC:1", "library", "damp"), ("EINTR:1", "library", None), ("short", "library", None)],
        "library.sync": [("EIO:1", "library", "damp")],
        "library.link": [("EIO:1", "library", "damp")],
    }
    # Points that the start of the daemon or of an executor reaches.
    STARTS = {
        "memfd.create": [("EMFILE:1", "file", "shared memory"), ("EINVAL:1", "file", None)],
        "memfd.size": [("ENOMEM:1", "file", "shared memory")],
        "memfd.seal": [("EPERM:1", "file", "seal")],
        "memfd.grow": [("ENOMEM:1", "stream", "grow")],
        "models.open": [("ENOSPC", "file", None)],
        "models.write": [("ENOSPC", "file", None), ("EINTR:1", "file", None), ("short", "file", None)],
        "models.rename": [("EIO", "file", None)],
        "jobs.open": [("ENOSPC", "file", None)],
        "jobs.write": [("ENOSPC", "file", None), ("EINTR:1", "file", None), ("short", "file", None)],
        "jobs.rename": [("EIO", "file", None)],
        "client.connect": [("EACCES", "small", "connect")],
        "autostart.bind": [("EACCES:1", "small", "listen")],
        "autostart.pipe": [("EMFILE:1", "small", "start")],
        "autostart.fork": [("EAGAIN:1", "small", "start")],
        "scratch.directory": [("ENOSPC", "small", "directory")],
        "child.spawn": [("EAGAIN:2", "small", None)],
        "child.output": [("EMFILE:2", "small", None)],
        "child.socketpair": [("EMFILE:2", "small", None)],
        "query.thread": [("EAGAIN", "words", None)],
        "program.read": [("EIO:1", "file", None), ("EINTR:1", "file", None), ("short:1", "file", None)],
        "yaml.read": [("EIO", "small", ""), ("EINTR:1", "small", None), ("short", "small", None)],
    }
    # hacd retries these for seconds before it gives up.
    LONG = {
        "child.spawn": [("EAGAIN", "small", "cannot start")],
        "child.output": [("EMFILE", "small", "pipe")],
        "child.socketpair": [("EMFILE", "small", "socket pair")],
    }
    # One client's job on an idle machine does not reach these; unit tests do.
    ELSEWHERE = {
        "channel.copy": "a peer that does not read",
        "landlock.version": "hostile/identity_test.py Walls",
        "output.size": "more was reserved than written",
    }

    def prepare(self, config=None):
        folder = tempfile.mkdtemp(prefix="hac-failpoints-")
        self.addCleanup(lambda: subprocess.run(["rm", "-r", folder], check=True))
        switch = Switch(folder)
        machine = self.machine(ONE_DEVICE, config=config,
                               environment={"HAC_FAILPOINTS": str(switch.path), "XDG_DATA_HOME": folder + "/data"})
        machine.generate("u32", "random", 400000)
        machine.generate("u32", "random", 1000, name="small")
        Path(machine.path("text")).write_bytes(b"a rose is a rose\n" * 100000)
        Path(machine.path("texts")).mkdir()
        Path(machine.path("texts"), "one").write_text("a rose is a rose\n")
        Path(machine.path("table.csv")).write_text("a\n" + "".join(f"{i}\n" for i in range(5000)))
        Path(machine.path("damp.yaml")).write_text('subop: damp\narguments: {spread: f64}\nexpr: "spread * 2"\n')
        return switch, machine

    def ask(self, machine, what):
        """Its result, which is whole or absent."""
        words = getattr(self, what)()
        data = Path(machine.path("in")).read_bytes() if what == "stream" else b"a\n1\n2\n" if what == "found" else None
        result = machine.run(*words, data=data, timeout=60)
        out = Path(machine.path("out"))
        if result.code == 0:
            if what in ("file", "stream"):
                self.assertIsNone(machine.wrong("u32", "in", "out"))
            elif what == "small":
                self.assertIsNone(machine.wrong("u32", "small", "out"))
            elif what == "words":
                self.assertEqual(out.read_text().splitlines()[0], "word,count")
                self.assertIn("rose,200000", out.read_text().splitlines())
            elif what == "found":
                self.assertEqual(out.read_text(), "n\n2\n")
            elif what == "parquet":
                self.assertIn(str(sum(range(5000))) + ",5000", out.read_text())
            elif what == "opsplit":
                self.assertIn("rose,2.0,1", (out / "words.csv").read_text())
            elif what == "library":
                machine.good("opsplit", "subop", "remove", "damp")
        elif what == "opsplit":
            self.assertEqual(list(out.iterdir()) if out.exists() else [], [], "a part of an output is left")
        else:
            self.assertFalse(out.exists(), "an output without success")
        subprocess.run(["rm", "-rf", out], check=True)
        left = [name for name in os.listdir(machine.work) if name.startswith(".out")]
        self.assertEqual(left, [], "temporary files")
        return result

    def stop(self, machine):
        daemon = machine.running()
        if daemon is not None and daemon.alive():
            os.kill(daemon.pid, signal.SIGTERM)
            self.assertEqual(daemon.wait(), 0)

    def check(self, machine, switch, point, case):
        spec, what, says = case
        if point.startswith("models."):
            (machine.root / "state_home" / "hac" / "models").unlink(missing_ok=True)  # so that there is something to write
        switch.set(f"{point}={spec}")
        result = self.ask(machine, what)
        if point.startswith(("models.", "jobs.")):  # they are written when hacd exits
            self.stop(machine)
        hits = switch.hits()
        switch.set("")
        self.assertIn(point, hits, f"it was not passed by {what}: {result}")
        if says is None:
            self.assertEqual((result.code, result.err), (0, ""))
            return
        self.assertIn(result.code, (1, 2, 3, 4), result)
        self.assertRegex(result.err, r"\Ahacctl: [^\n]*\n\Z")
        self.assertIn(says, result.err)

    def test_running(self):
        switch, machine = self.prepare()
        machine.good("-q", "parquet", "convert", "table.csv", "table.parquet")
        for what in ("stream", "words", "opsplit", "parquet"):
            self.assertEqual(self.ask(machine, what).code, 0)
        machine.baseline()
        for point, cases in self.CASES.items():
            for case in cases:
                with self.subTest(point=point, case=case):
                    self.check(machine, switch, point, case)
                    self.assertEqual(self.ask(machine, "small").code, 0, machine.log()[-2000:])
        machine.check_clean(slack=16 << 20)

    def test_start(self):
        self.start_with(self.STARTS)

    def start_with(self, table):
        # after an executor exits while a program is built comes another one, which cannot read it either
        switch, machine = self.prepare({"executor_idle_timeout": "2min"})
        for point, cases in table.items():
            for case in cases:
                with self.subTest(point=point, case=case):
                    try:
                        self.check(machine, switch, point, case)
                        if table is self.LONG:  # it started without devices
                            machine.good("reload")
                        # the same daemon, if it still runs
                        self.assertEqual(self.ask(machine, "small").code, 0, machine.log()[-2000:])
                    finally:
                        switch.set("")
                        self.stop(machine)

    def test_no_second_daemon(self):
        """A client that cannot open the socket says so, and does not start another daemon."""
        switch, machine = self.prepare()
        daemon = machine.daemon()
        for reason in ("EACCES", "EPERM", "EAGAIN", "EPROTOTYPE"):
            switch.set(f"client.connect={reason}")
            result = self.ask(machine, "small")
            self.assertEqual(result.code, 4, result)
            self.assertRegex(result.err, r"\Ahacctl: [^\n]*hacd\.sock[^\n]*\n\Z")
            self.assertTrue(machine.socket.exists())
        switch.set("")
        self.assertEqual(self.ask(machine, "small").code, 0)
        self.assertEqual(machine.running().pid, daemon.pid)

    def test_all(self):
        """A point without a case fails the test."""
        known = {**self.CASES, **self.STARTS, **self.LONG}
        code = points_of_the_code()
        self.assertEqual(sorted(set(code) - set(known) - set(self.ELSEWHERE)), [])
        self.assertEqual(sorted(set(known) | set(self.ELSEWHERE)), sorted(code))


class LongFailpoints(Failpoints):
    test_running = test_all = None

    def test_start(self):
        self.start_with(self.LONG)


class Disk(MachineTest):
    """No room for any output of hacctl: exit 1, one line that says so, nothing under the requested name, and an
    existing file stays as it was."""
    WRITES = {
        "sort": ("sort", "in", "--type", "u32", *BITONIC, "-o", "out"),
        "sort of rows": ("sort", "table.csv", "--input-format", "csv", "--schema", "a:i64", "--key", "a", "-o", "out"),
        "csv": ("mapreduce", "wordcount", "text", "-o", "out"),
        "json": ("mapreduce", "wordcount", "text", "--output-format", "json", "-o", "out"),
        "parquet": ("mapreduce", "wordcount", "text", "--output-format", "parquet", "-o", "out"),
        "convert": ("-q", "parquet", "convert", "table.csv", "out"),
        "splice": ("splice", "text", "--parse", "lines", "--select", "line", "-o", "out"),
        "opsplit": ("opsplit", "run", SOURCE / "docs/examples/word-count.yaml", "--input", "folder=texts", "-o", "out"),
        "receipt": ("sort", "in", "--type", "u32", "-o", "/dev/null", "--receipt", "out"),
        "trace": ("sort", "in", "--type", "u32", "-o", "/dev/null", "--trace", "out"),
    }
    FULL = {"/dev/full": ("sort", "in", "--type", "u32", "-o", "/dev/full"),
            "receipt": ("sort", "in", "--type", "u32", "-o", "out", "--receipt", "/dev/full")}

    @staticmethod
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (16, resource.RLIM_INFINITY))

    def prepare(self):
        machine = self.machine(ONE_DEVICE)
        machine.generate("u32", "random", 70000)
        Path(machine.path("text")).write_bytes(b"a rose is a rose\n" * 1000)
        Path(machine.path("texts")).mkdir()
        Path(machine.path("texts"), "one").write_text("a rose is a rose\n")
        Path(machine.path("table.csv")).write_text("a\n" + "".join(f"{i}\n" for i in range(5000)))
        machine.baseline()
        return machine

    def check(self, machine, words):
        before = sorted(os.listdir(machine.work))
        result = machine.run(*words, preexec_fn=self.limit, timeout=60)
        self.assertEqual((result.code, result.out), (1, b""), result)
        self.assertRegex(result.err, r"\Ahacctl: [^\n]*(too large|no space)[^\n]*\n\Z")
        return before

    def test_limit(self):
        machine = self.prepare()
        for name, words in self.WRITES.items():
            with self.subTest(name=name):
                before = self.check(machine, words)
                if name == "opsplit":
                    self.assertEqual(os.listdir(machine.path("out")), [])
                    os.rmdir(machine.path("out"))
                self.assertEqual(sorted(os.listdir(machine.work)), before)
                if name == "opsplit":
                    continue
                Path(machine.path("out")).write_text("as it was")
                self.check(machine, words)
                self.assertEqual(Path(machine.path("out")).read_text(), "as it was")
                os.unlink(machine.path("out"))
        machine.check_clean()

    def test_library(self):
        machine = self.prepare()
        Path(machine.path("damp.yaml")).write_text('subop: damp\narguments: {spread: f64}\nexpr: "spread * 2"\n')
        machine.environment["XDG_DATA_HOME"] = machine.path("data")
        result = machine.run("opsplit", "subop", "add", "damp.yaml", preexec_fn=self.limit)
        self.assertEqual(result.code, 1, result)
        self.assertEqual([name for _, _, names in os.walk(machine.path("data")) for name in names], [])
        machine.good("opsplit", "subop", "add", "damp.yaml")

    def test_full(self):
        machine = self.prepare()
        for name, words in self.FULL.items():
            with self.subTest(name=name):
                machine.bad(1, *words, says="no space left on device")
        machine.check_clean()


class Release(unittest.TestCase):
    def test_nothing_left(self):
        """A build without HAC_FAILPOINTS contains none of them."""
        names = [name.encode() for name in points_of_the_code()] + [b"HAC_FAILPOINTS"]
        on = "HAC_FAILPOINTS:BOOL=ON" in (BUILD / "CMakeCache.txt").read_text()
        for path in (LIBEXEC / "hacd", LIBEXEC / "hac-executor", BUILD / "hacctl" / "hacctl"):
            data = path.read_bytes()
            found = [name for name in names if name + b"\0" in data]
            self.assertEqual(bool(found), on, f"{path}: {found}")


if __name__ == "__main__":
    main()
