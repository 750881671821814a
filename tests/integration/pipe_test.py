#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hacctl pipe as Hadoop Streaming runs it: mapper | sort | reducer in the shell, text and typedbytes, eight at once,
with the environment of a task. The oracles are plain Python."""
import collections
import json
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import HACCTL, LIBEXEC, PROFILES, SEED, MachineTest, SharedMachineTest, children, command_of, eventually, main  # noqa: E402

PIPE = shlex.quote(str(HACCTL)) + " pipe "
MAP_WORDS = "--parse words --group-by word --select 'count() as n'"
SUM = "--parse tsv --schema w:string,n:i64 --group-by w --select 'sum(n) as n'"


def some_text(lines, seed=1):
    rng = random.Random(seed)
    words = [f"w{i}" for i in range(3000)] + ["naïve", "back\\slash", "\\N", '"quoted"', "a,b"]
    weights = [1 / (i + 1) for i in range(len(words))]
    return "\n".join(" ".join(rng.choices(words, weights, k=rng.randrange(15))) for _ in range(lines)) + "\n"


def unescape(field):
    """A field of the text that `pipe` writes; None is null."""
    if field == "\\N":
        return None
    return re.sub(r"\\(.)", lambda m: {"t": "\t", "n": "\n", "r": "\r"}.get(m[1], m[1]), field)


def fields_of(out):
    return [tuple(map(unescape, line.split("\t"))) for line in out.decode().split("\n")[:-1]]


def counters_of(err):
    """What Hadoop reads from standard error: sums of the counters of the group hac; the other lines."""
    counters, others = collections.Counter(), []
    for line in err.splitlines():
        match = re.fullmatch(r"reporter:counter:hac,(\w+),(\d+)", line)
        if match:
            counters[match[1]] += int(match[2])
        elif not line.startswith("reporter:status:hac: "):
            others.append(line)
    return dict(counters), others


# ---- typed bytes ----

def put(value):
    if value is None:
        return struct.pack(">BI", 0, 0)
    if isinstance(value, bytes):
        return struct.pack(">BI", 0, len(value)) + value
    if isinstance(value, bool):
        return struct.pack(">BB", 2, value)
    if isinstance(value, int):
        return struct.pack(">Bq", 4, value)
    if isinstance(value, float):
        return struct.pack(">Bd", 6, value)
    if isinstance(value, str):
        return struct.pack(">BI", 7, len(value.encode())) + value.encode()
    return struct.pack(">BI", 8, len(value)) + b"".join(map(put, value))


def get(data, at):
    """An object and where it ends."""
    code, at = data[at], at + 1
    if code in (0, 7):
        end = at + 4 + int.from_bytes(data[at:at + 4], "big")
        return (bytes(data[at + 4:end]) if code == 0 else data[at + 4:end].decode()), end
    if code == 8:
        n, at = int.from_bytes(data[at:at + 4], "big"), at + 4
        values = []
        for _ in range(n):
            value, at = get(data, at)
            values.append(value)
        return values, at
    size, form = {1: (1, ">B"), 2: (1, ">?"), 3: (4, ">i"), 4: (8, ">q"), 5: (4, ">f"), 6: (8, ">d")}[code]
    return struct.unpack(form, data[at:at + size])[0], at + size


def pairs_of(data):
    pairs, at = [], 0
    while at < len(data):
        key, at = get(data, at)
        value, at = get(data, at)
        pairs.append((key, value))
    return pairs


class Text(SharedMachineTest):
    def shell(self, line, data=b""):
        """Standard output of a pipeline whose parts all succeed."""
        done = subprocess.run(["bash", "-c", "set -o pipefail; " + line], input=data, env=self.m.environment, cwd=self.m.work,
                              capture_output=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        return done.stdout, done.stderr.decode()

    def test_streaming(self):
        """What `hadoop jar hadoop-streaming.jar -mapper … -combiner … -reducer …` does, with one reducer."""
        text = some_text(30000)
        wanted = collections.Counter(text.split())
        for combiner in ("", f"LC_ALL=C sort | {PIPE} -q {SUM} |"):
            out, _ = self.shell(f"{PIPE} -q {MAP_WORDS} | {combiner} LC_ALL=C sort | {PIPE} -q {SUM}", text.encode())
            self.assertEqual(dict((w, int(n)) for w, n in fields_of(out)), wanted)

    def test_filter(self):
        """grep: the lines unchanged; a reducer's or a group's values have escapes, which tsv reads back."""
        lines = [b"2024\tERROR C:\\tmp\\x", b"ERROR", b"\\t ERROR \\N", b"fine", b"\xc3\xa4 ERROR\t"]
        out = self.m.good("-q", "pipe", "--where", "contains(line, 'ERROR')", "--select", "line", data=b"\n".join(lines))
        self.assertEqual(out.splitlines(), [line for line in lines if b"ERROR" in line])
        out = self.m.good("-q", "pipe", "--select", "concat(line, '\n')", data=lines[0])
        self.assertEqual(out, lines[0] + b"\\n\n")
        out = self.m.good("-q", "pipe", "--group-by", "line", "--select", "line, count() as n", data=lines[0])
        self.assertEqual(out, b"2024\\tERROR C:\\\\tmp\\\\x\t1\n")

    def test_parts(self):
        """Four mappers, three reducers, keys divided by hash, as the framework does it."""
        text = some_text(20000, 2)
        lines = text.splitlines(keepends=True)
        reducers = [[] for _ in range(3)]
        for i in range(4):
            out = self.m.good("-q", "pipe", *shlex.split(MAP_WORDS), data="".join(lines[i::4]).encode())
            for line in out.splitlines(keepends=True):
                reducers[hash(line.split(b"\t")[0]) % 3].append(line)
        got = collections.Counter()
        for part in reducers:
            out = self.m.good("-q", "pipe", *shlex.split(SUM), data=b"".join(sorted(part)))
            for word, n in fields_of(out):
                self.assertNotIn(word, got)
                got[word] = int(n)
        self.assertEqual(got, collections.Counter(text.split()))

    def test_formats(self):
        rng = random.Random(3)
        rows = [(f"c{rng.randrange(40)}", rng.randrange(10**6)) for _ in range(30000)]
        sums = collections.Counter()
        for city, n in rows:
            sums[city] += n
        words = ("--group-by", "city", "--select", "sum(n) as s")
        schema = ("--schema", "city:string,n:i64")
        csv, tsv = "".join(f"{c},{n}\n" for c, n in rows), "".join(f"{c}\t{n}\n" for c, n in rows)
        for options, data in ((("--parse", "csv", *schema), csv), (("--parse", "csv", "--header"), "city,n\n" + csv),
                              (("--parse", "tsv", *schema), tsv), (("--parse", "tsv", *schema, "--header"), "n\tcity\n" + "".join(
                                  f"{n}\t{c}\n" for c, n in rows)),
                              (("--parse", "jsonl", *schema), "".join(json.dumps({"n": n, "city": c}) + "\n" for c, n in rows))):
            if "--header" in options and "--schema" not in options:
                options = (*options, *schema)
            out = self.m.good("-q", "pipe", *options, *words, data=data.encode())
            self.assertEqual({c: int(s) for c, s in fields_of(out)}, sums)
        out = self.m.good("-q", "pipe", "--parse", "kv", "--group-by", "key", "--select", "count() as n", data=tsv.encode())
        self.assertEqual({c: int(n) for c, n in fields_of(out)}, collections.Counter(c for c, _ in rows))

    def test_values(self):
        """Null, and bytes that would end a field or a line."""
        rows = [{"s": "a\tb", "n": 1}, {"s": "c\\d", "n": None}, {"s": None, "n": 3}, {"s": "", "n": 4}, {"s": "\\N", "n": 5},
                {"s": "line\nfeed", "n": 6}]
        data = "".join(json.dumps(row) + "\n" for row in rows).encode()
        words = ("--parse", "jsonl", "--schema", "s:string,n:i64", "--select", "s, n, n > 2 as big")
        out = self.m.good("-q", "pipe", *words, data=data)
        self.assertEqual(fields_of(out), [(r["s"], None if r["n"] is None else str(r["n"]),
                                           None if r["n"] is None else str(r["n"] > 2).lower()) for r in rows])
        again = self.m.good("-q", "pipe", "--parse", "tsv", "--schema", "s:string,n:i64,big:bool", "--select", "*", data=out)
        self.assertEqual(again, out)

    def test_lines(self):
        text = some_text(20000, 4)
        out = self.m.good("-q", "pipe", "--where", "contains(line, 'w7 ')", "--select", "line", data=text.encode())
        self.assertEqual([line for line, in fields_of(out)], [line for line in text.splitlines() if "w7 " in line])

    def test_nothing(self):
        self.assertEqual(self.m.good("-q", "pipe", *shlex.split(MAP_WORDS), data=b""), b"")
        self.assertEqual(self.m.good("-q", "pipe", "--select", "line", data=b""), b"")

    def test_reports(self):
        text = some_text(15000, 5)
        words = collections.Counter(text.split())
        result = self.m.run("pipe", *shlex.split(MAP_WORDS), data=text.encode())
        counters, others = counters_of(result.err)
        self.assertEqual((result.code, others), (0, []))
        self.assertEqual(counters, {"records_read": sum(words.values()), "groups": len(words), "rows_out": len(words)})
        self.assertTrue(result.err.endswith("reporter:status:hac: done\n"))
        data = "a\t1\nb\tx\nc\t3\n"
        result = self.m.run("pipe", "--parse", "tsv", "--schema", "w:string,n:i64", "--select", "n", "--on-error", "skip",
                            data=data.encode())
        self.assertEqual((result.code, result.out), (0, b"1\n3\n"))
        counters, others = counters_of(result.err)
        self.assertEqual((counters["records_skipped"], counters["rows_out"]), (1, 2))
        self.assertEqual(others, ["hacctl: 1 record that could not be read was left out"])

    def test_failures(self):
        """A plain line, and an exit code that fails the task."""
        for code, words, says in ((1, ("--parse", "tsv", "--schema", "w:string,n:i64", "--select", "n"), "standard input: line 2"),
                                  (2, ("--select", "nonsense"), "nonsense"), (1, ("--parse", "jsonl", "--select", "x"), "expected an object")):
            result = self.m.run("pipe", *words, data=b"a\t1\nb\tx\n")
            self.assertEqual(result.code, code, result)
            lines = [line for line in result.err.splitlines() if not line.startswith("reporter:")]
            self.assertEqual((len(lines), lines[0][:8]), (1, "hacctl: "))
            self.assertIn(says, lines[0])

    def test_output_before_the_end(self):
        process = self.m.start("-q", "pipe", "--where", "contains(line, 'x')", "--select", "line", stdin=subprocess.PIPE)
        for line in (b"x1\n", b"2x\n"):
            process.stdin.write(b"nothing\n" + line)
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), line)
        out, err = process.communicate(b"more\n", timeout=60)
        self.assertEqual((process.returncode, out, err), (0, b"", b""))

    def test_killed_task(self):
        """The framework ends an unwanted task with SIGTERM; its job ends with it."""
        process = self.m.start("pipe", *shlex.split(MAP_WORDS), stdin=subprocess.PIPE)
        process.stdin.write(some_text(20000).encode())
        process.stdin.flush()
        running = eventually(lambda: [j for j in self.m.json("jobs")["jobs"] if j["state"] in ("queued", "planned", "running")])
        self.assertTrue(running)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(30), 130)
        for pipe in (process.stdin, process.stdout, process.stderr):
            pipe.close()
        self.assertEqual(self.m.json("show", running[0]["id"])["state"], "cancelled")


class TypedBytes(SharedMachineTest):
    def test_streaming(self):
        """-io typedbytes: mapper, the framework's sort, reducer."""
        lines = some_text(15000, 6).splitlines()
        data = b"".join(put(offset) + put(line) for offset, line in enumerate(lines))
        mapped = self.m.good("-q", "pipe", "--io", "typedbytes", "--schema", "key:i64,value:string", "--select",
                             "substr(value, 1, 2) as k, key as v", data=data)
        wanted = [(line[:2], offset) for offset, line in enumerate(lines)]
        self.assertEqual(pairs_of(mapped), wanted)
        sorted_pairs = b"".join(put(k) + put(v) for k, v in sorted(pairs_of(mapped)))
        reduced = self.m.good("-q", "pipe", "--io", "typedbytes", "--schema", "key:string,value:i64", "--group-by", "key",
                              "--select", "count() as n, max(value) as last", data=sorted_pairs)
        groups = collections.defaultdict(list)
        for k, v in wanted:
            groups[k].append(v)
        self.assertEqual(dict((k, tuple(v)) for k, v in pairs_of(reduced)), {k: (len(v), max(v)) for k, v in groups.items()})

    def test_mixed(self):
        """Text in, typed bytes out (stream.map.output=typedbytes), and the other way round."""
        text = some_text(10000, 7)
        out = self.m.good("-q", "pipe", "--io", "typedbytes", *shlex.split(MAP_WORDS), data=text.encode())
        wanted = collections.Counter(text.split())
        self.assertEqual(dict(pairs_of(out)), wanted)
        out = self.m.good("-q", "pipe", "--parse", "typedbytes", "--schema", "key:string,value:i64", "--group-by", "key",
                          "--select", "sum(value) as n", data=out)
        self.assertEqual({w: int(n) for w, n in fields_of(out)}, wanted)


class Tasks(MachineTest):
    """A node with tasks: one daemon of the user for all, whichever task comes first."""

    def start(self, environment, folder, data, words=MAP_WORDS, user=None):
        more = {"user": user, "group": user, "extra_groups": []} if user is not None else {}
        process = subprocess.Popen([str(HACCTL), "pipe", *shlex.split(words)], env=environment, cwd=folder,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        process.stdin.write(data)
        process.stdin.close()
        process.stdin = None
        return process

    def check(self, started, wanted):
        for process in started:
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, counters_of(err.decode())[1]), (0, []), err)
            self.assertEqual({w: int(n) for w, n in fields_of(out)}, wanted)

    def test_eight_at_once(self):
        machine = self.machine()
        text = some_text(2000, 8)
        wanted = collections.Counter(text.split())
        for _ in range(2):  # cold, and warm
            self.check([self.start(machine.environment, machine.work, text.encode()) for _ in range(8)], wanted)
        daemons = [p for p in children(os.getpid()) if str(machine.socket) in command_of(p)]
        self.assertEqual(len(daemons), 1)

    def user(self):
        """A user whose folder in /tmp is unused, and who can run the program: (uid, or None for ourselves)."""
        if os.geteuid() == 0:
            for uid in range(60000, 60100):
                if Path(f"/tmp/hac-{uid}").exists():
                    continue
                done = subprocess.run([str(HACCTL), "--version"], user=uid, group=uid, extra_groups=[], check=False,
                                      capture_output=True)
                if done.returncode == 0 and os.access(LIBEXEC / "hacd", os.X_OK):
                    return uid
                break
        if Path(f"/tmp/hac-{os.geteuid()}").exists():
            self.skipTest(f"/tmp/hac-{os.geteuid()} is in use")
        return None

    def test_the_environment_of_a_task(self):
        """No HOME, no XDG_*, a working directory that disappears: everything is below /tmp/hac-UID."""
        user = self.user()
        folder = Path(f"/tmp/hac-{os.geteuid() if user is None else user}")
        folder.mkdir(mode=0o700)
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        work = Path(tempfile.mkdtemp(prefix="hac-task-"))
        self.addCleanup(shutil.rmtree, work, ignore_errors=True)
        if SEED:
            (folder / "state").mkdir(mode=0o700)
            shutil.copytree(Path(SEED, "programs"), folder / "cache" / "programs")
            shutil.copy(Path(SEED, "tested-devices"), folder / "state")
        if user is not None:
            subprocess.run(["chown", "-R", f"{user}:{user}", str(folder), str(work)], check=True)
        environment = {"PATH": os.environ["PATH"], "HAC_LIBEXEC": str(LIBEXEC), "HAC_PROFILES": str(PROFILES),
                       "OCL_ICD_VENDORS": os.environ.get("OCL_ICD_VENDORS", "pocl.icd")}
        text = some_text(2000, 9)
        try:
            self.check([self.start(environment, work, text.encode(), user=user) for _ in range(8)],
                       collections.Counter(text.split()))
            self.assertTrue((folder / "hacd.sock").exists() or list(folder.rglob("hacd.sock")), list(folder.rglob("*")))
            self.assertTrue(any(folder.rglob("hacd.log")))
            self.assertEqual(os.listdir(work), [])
        finally:
            daemons = [p for p in children(os.getpid()) if command_of(p).startswith("hacd ") and str(folder) in command_of(p)]
            for pid in daemons:
                os.kill(pid, signal.SIGTERM)
            for pid in daemons:
                os.waitpid(pid, 0)
        self.assertEqual(len(daemons), 1)

    def test_no_daemon_can_start(self):
        """The task fails with the reason and does not hang."""
        machine = self.machine(environment={"HAC_LIBEXEC": "/nonexistent"})
        result = machine.run("pipe", *shlex.split(MAP_WORDS), data=b"x\n", timeout=30)
        self.assertEqual(result.code, 3, result)
        self.assertIn("/nonexistent", result.err)


if __name__ == "__main__":
    main()
