# SPDX-License-Identifier: Apache-2.0
"""A machine of one's own for a test: private directories, a private hacd, and a look at the end whether all is as
it was. Only Python's standard library.

The test process makes itself the reaper of its descendants, so that a hacd that it started (through hacctl) becomes
its child: its exit status can be seen, and so can every process that is left.

Environment: HAC_TEST_BUILD, the build folder; HAC_TEST_SEED, a folder with programs that were built before
(seed.py), so that a test need not wait for them; HAC_TEST_KEEP, set: private directories stay; HAC_TEST_PLATFORM, the
name of an OpenCL platform: what is written for PoCL runs on that platform's device, a GPU, say (README.md).
"""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from folders import make_folders, plant_programs

TESTS = Path(__file__).resolve().parent.parent
SOURCE = TESTS.parent
BUILD = Path(os.environ.get("HAC_TEST_BUILD", SOURCE / "build" / "dev")).resolve()
SEED = os.environ.get("HAC_TEST_SEED")
HACCTL = BUILD / "hacctl" / "hacctl"
LIBEXEC = BUILD / "libexec"
ORACLE = BUILD / "tests" / "oracle"
PROFILES = SOURCE / "config" / "profiles"

SANITIZED = (LIBEXEC / "hacd").exists() and any(
    name in (LIBEXEC / "hacd").read_bytes() for name in (b"__asan_init", b"__tsan_init"))
TYPES = ("u32", "i32", "f32", "u64", "i64", "f64")
WIDTH = {kind: int(kind[1:]) // 8 for kind in TYPES}
RSS_SLACK = 6 << 20  # allocator, not leak

ONE_DEVICE = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
executors: [{threads: 2}]
memory: {host: true}
"""
TWO_DEVICES = (PROFILES / "examples" / "split-cpu.yaml").read_text()
UNEVEN_DEVICES = """name: cpu
match: {platform: "Portable Computing Language", type: cpu}
kind: cpu
executors:
  - {threads: 1, affinity: [0], group: core0}
  - {threads: 1, affinity: [1], group: core1, testing: {slowdown: 3.0}}
memory: {host: true}
"""
PLATFORM = os.environ.get("HAC_TEST_PLATFORM")
if PLATFORM:  # the names stay, as tests look for them
    ONE_DEVICE = f"""name: cpu
match: {{platform: "{PLATFORM}"}}
kind: gpu
style: simt
memory: {{host: false}}
"""
    TWO_DEVICES = ONE_DEVICE + "executors: [{group: core0}, {group: core1}]\n"
    UNEVEN_DEVICES = ONE_DEVICE + "executors: [{group: core0}, {group: core1, testing: {slowdown: 3.0}}]\n"
# Quick to forget, so that a test can see that things go back.
# A test that waits for another machine may leave a daemon without work for minutes, where CI is slow.
# hacd measures no device by itself: that would come between what a test looks at.
CONFIG = {"idle_exit": "10min", "result_expiry": "1s", "executor_idle_timeout": "1s", "calibrate_when_idle": "false"}


def become_reaper():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(36, 1, 0, 0, 0) != 0:  # PR_SET_CHILD_SUBREAPER
        raise OSError(ctypes.get_errno(), "prctl")


become_reaper()


def children(pid):
    """Direct children of a process."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += map(int, file.read().split())
    except OSError:  # it has ended, or the kernel has no such file
        found = []
    return found or children_by_parent(pid)


def children_by_parent(pid):
    """The same, seen from the children: a hundred times as long, but none is missed because another one ends just then."""
    found = []
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = Path("/proc", entry, "stat").read_text()
        except OSError:
            continue
        if int(stat.rpartition(")")[2].split()[1]) == pid:
            found.append(int(entry))
    return found


def command_of(pid):
    try:
        return Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def state_of(pid):
    try:
        return Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None


def handles(pid, number):
    """Whether the process has a handler of its own for that signal, which would just end it before."""
    status = Path("/proc", str(pid), "status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("SigCgt:")).split()[1], 16) >> (number - 1) & 1


def eventually(condition, seconds=30.0, pause=0.02):
    """Waits until condition() is true; returns what it last said."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(pause)


class Daemon:
    """A running hacd, seen from outside."""

    def __init__(self, pid):
        self.pid = pid
        self.status = None  # exit status once reaped, as subprocess has it

    def descriptors(self, pool=False):
        """What it has open, by kind and count; memory of the pool, which is kept warm for a minute, only if asked."""
        kinds = {}
        folder = f"/proc/{self.pid}/fd"
        for name in os.listdir(folder):
            try:
                target = os.readlink(f"{folder}/{name}")
            except OSError:
                continue
            kind = target.split(":")[0] if ":" in target else target
            if target.startswith("/memfd:"):
                kind = target.split(" ")[0]
                if not pool and kind == "/memfd:hac-pool":
                    continue
            kinds[kind] = kinds.get(kind, 0) + 1
        return kinds

    def rss(self):
        """Resident bytes; 0 under a sanitizer, whose own memory would drown hacd's."""
        if SANITIZED:
            return 0
        for line in Path("/proc", str(self.pid), "status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def cpu_seconds(self):
        fields = Path("/proc", str(self.pid), "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def executors(self):
        """Pids of processes that run tasks (no builder, no probe), by device name."""
        found = {}
        for pid in children(self.pid):
            words = command_of(pid).split()
            if len(words) == 2 and words[0].endswith("hac-executor") and not words[1].startswith("-"):
                found.setdefault(words[1], []).append(pid)
        return found

    def executor_pids(self):
        return [pid for pids in self.executors().values() for pid in pids]

    def kill_executors_while(self, process, most, pause=0.1):
        """Kills those that it finds every `pause` seconds as long as the process runs, `most` or a few more; returns how many."""
        kills = 0
        while process.poll() is None:
            time.sleep(pause)
            for pid in self.executor_pids() if kills < most else ():
                os.kill(pid, signal.SIGKILL)
                kills += 1
        return kills

    def reap(self):
        """Collects it if it has ended; whether it has."""
        if self.status is not None:
            return True
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError:
            if state_of(self.pid) is None:
                self.status = 0  # somebody else has reaped it
                return True
            return False
        if pid == 0:
            return False
        self.status = os.waitstatus_to_exitcode(status)
        return True

    def alive(self):
        return not self.reap()

    def wait(self, seconds=40):
        """Its exit status, None if it does not leave."""
        eventually(self.reap, seconds)
        return self.status


class Result:
    def __init__(self, code, out, err, seconds):
        self.code, self.out, self.err, self.seconds = code, out, err, seconds

    def __repr__(self):
        return f"exit {self.code}, {len(self.out)} bytes, {self.err!r}"


class Machine:
    def __init__(self, profile=ONE_DEVICE, config=None, seed=True, environment=None):
        self.root = Path(tempfile.mkdtemp(prefix="hac-"))
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("HAC_", "XDG_"))}
        self.environment.update(make_folders(self.root))
        self.environment.update(HAC_LIBEXEC=str(LIBEXEC), HAC_PROFILES=str(PROFILES), LC_ALL="C.UTF-8",
                                OCL_ICD_VENDORS=os.environ.get("OCL_ICD_VENDORS", "pocl.icd"))
        self.environment.update(environment or {})
        self.work = self.root / "work"
        self.work.mkdir()
        self.socket = self.root / "runtime_dir" / "hac" / "hacd.sock"
        self.log_path = self.root / "state_home" / "hac" / "hacd.log"
        self.daemons = []
        self.before = None
        self.set_profile(profile)
        self.configure(**(config or {}))
        if seed and SEED:
            plant_programs(self.root, SEED)

    def set_profile(self, text, name="00-test.yaml"):
        folder = self.root / "config_home" / "hac" / "profiles"
        folder.mkdir(parents=True, exist_ok=True)
        if text is not None:
            self.replace(folder / name, text)

    def configure(self, **settings):
        lines = [f"{key}: {value}\n" for key, value in {**CONFIG, **settings}.items()]
        folder = self.root / "config_home" / "hac"
        folder.mkdir(parents=True, exist_ok=True)
        self.replace(folder / "hacd.yaml", "".join(lines))

    @staticmethod
    def replace(path, text):
        """Writes a file in one step: a daemon that reads it meanwhile sees the old one or the new one."""
        part = path.with_name("." + path.name)
        part.write_text(text)
        part.replace(path)

    def path(self, name):
        return str(self.work / name)

    def log(self):
        return self.log_path.read_text() if self.log_path.exists() else ""

    # ---- hacctl ----

    def start(self, *words, **more):
        more.setdefault("stdin", subprocess.DEVNULL)
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        more.setdefault("env", self.environment)
        more.setdefault("cwd", self.work)
        return subprocess.Popen([str(HACCTL), *map(str, words)], **more)

    def run(self, *words, data=None, timeout=120, **more):
        if data is not None:
            more["stdin"] = subprocess.PIPE
        began = time.monotonic()
        process = self.start(*words, **more)
        try:
            out, err = process.communicate(data, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"hacctl {' '.join(map(str, words))} took over {timeout} s; hacd's log:\n{self.log()}")
        return Result(process.returncode, out or b"", (err or b"").decode(), time.monotonic() - began)

    def good(self, *words, **more):
        result = self.run(*words, **more)
        told = "" if PLATFORM and "kernels do not run it, host codelets do" in result.err else result.err
        if result.code != 0 or told != "":
            raise AssertionError(f"hacctl {' '.join(map(str, words))}: {result}\n{self.log()[-3000:]}")
        return result.out

    def bad(self, code, *words, says="", out=b"", **more):
        """Fails with that exit code and one line that says so."""
        result = self.run(*words, **more)
        line = result.err.startswith("hacctl: ") and result.err.endswith("\n") and result.err.count("\n") == 1
        if result.code != code or not line or says not in result.err or result.out != out:
            raise AssertionError(f"hacctl {' '.join(map(str, words))}: {result}; exit {code} and one line with "
                                 f"{says!r} are wanted\n{self.log()[-2000:]}")
        return result.err

    def json(self, *words, **more):
        return json.loads(self.good("--json", *words, **more))

    def devices(self):
        return self.json("devices")["devices"]

    # ---- sorting ----

    def generate(self, kind, pattern, items, seed=1, name="in"):
        subprocess.run([ORACLE, "gen", kind, pattern, str(items), str(seed), self.path(name)], check=True)
        return self.path(name)

    def wrong(self, kind, in_name, out_name, descending=False, argsort=False):
        """None if the output is right, else what is wrong with it."""
        check = subprocess.run([ORACLE, "check", kind, "desc" if descending else "asc",
                                "argsort" if argsort else "keys", self.path(in_name), self.path(out_name)],
                               capture_output=True, check=False)
        if check.returncode == 2:
            raise AssertionError(check.stderr.decode())
        return check.stdout.decode().strip() if check.returncode else None

    def sort_and_check(self, kind, *options, in_name="in", out_name="out", timeout=120):
        """Sorts a file that is there; the options say how."""
        self.good("sort", in_name, "--type", kind, "-o", out_name, *options, timeout=timeout)
        wrong = self.wrong(kind, in_name, out_name, "--descending" in options, "--argsort" in options)
        if wrong:
            raise AssertionError(f"sort --type {kind} {' '.join(options)}: {wrong}\n{self.log()[-2000:]}")

    def warm_up(self):
        """A small job, so that what is made once is made."""
        self.generate("u32", "random", 20000, name=".warm")
        self.sort_and_check("u32", "--algorithm", "bitonic", in_name=".warm", out_name=".warm.out")

    # ---- the daemon ----

    def daemon(self):
        """The private daemon that serves now; starts one if need be."""
        pid = self.json("version")["daemon"]["pid"] if self.good("devices") else None
        for known in self.daemons:
            if known.pid == pid:
                return known
        self.daemons.append(Daemon(pid))
        return self.daemons[-1]

    def running(self):
        """The daemon there is, without asking it."""
        for pid in children(os.getpid()):
            if command_of(pid).startswith("hacd ") and str(self.socket) in command_of(pid):
                for known in self.daemons:
                    if known.pid == pid:
                        return known
                self.daemons.append(Daemon(pid))
                return self.daemons[-1]
        return None

    def settled(self, daemon):
        """Nothing in flight: no child, no client."""
        return eventually(lambda: not children(daemon.pid), 40)

    @staticmethod
    def stays(daemon):
        """Whether it holds for a while what it holds now: a client that has left may not be let go yet."""
        looks = [daemon.descriptors()]
        for _ in range(3):
            time.sleep(0.1)
            looks.append(daemon.descriptors())
        return all(look == looks[0] for look in looks) and not children(daemon.pid)

    def baseline(self, work=None):
        """Remembers what the daemon holds at rest, after some work: a small sort, if nothing else is given."""
        daemon = self.daemon()
        (work or self.warm_up)()
        done = time.monotonic()
        self.settled(daemon)
        time.sleep(max(0, done + 1.3 - time.monotonic()))  # jobs' records go after result_expiry
        eventually(lambda: self.stays(daemon), 20)
        self.before = (daemon, daemon.descriptors(), daemon.rss())
        return daemon

    def check_clean(self, slack=RSS_SLACK, seconds=40):
        """The daemon of the baseline is alive and holds what it held then."""
        daemon, descriptors, rss = self.before
        scratch = self.root / "cache_home" / "hac" / "scratch" / str(daemon.pid)
        problem = None

        def at_rest():
            # One look at all of it: a directory that is being swept has a descriptor and a name.
            nonlocal problem
            held, memory = daemon.descriptors(), daemon.rss()
            if children(daemon.pid):
                problem = f"hacd keeps {[command_of(p) for p in children(daemon.pid)]}\n{self.log()[-3000:]}"
            elif scratch.exists() and os.listdir(scratch):
                problem = f"scratch directories are left: {os.listdir(scratch)}"
            elif any(n > descriptors.get(kind, 0) for kind, n in held.items()):
                problem = f"hacd's descriptors were {descriptors} and are {held}"
            elif memory > rss + slack:
                problem = f"hacd's memory was {rss >> 10} KiB and is {memory >> 10} KiB"
            else:
                problem = None
            return problem is None

        if not daemon.alive():
            raise AssertionError(f"hacd has ended with status {daemon.status}\n{self.log()[-3000:]}")
        if not eventually(at_rest, seconds, 0.1):
            raise AssertionError(problem)

    def close(self):
        """Drains the daemon and looks that nothing is left."""
        problems = []
        daemon = self.running()
        if daemon is not None:
            if not self.socket.exists():
                os.kill(daemon.pid, signal.SIGTERM)
            drain = subprocess.run([str(HACCTL), "drain"], env=self.environment, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, check=False, timeout=60)
            if drain.returncode != 0 and self.socket.exists() and daemon.alive():
                problems.append(f"drain: {drain.stderr.decode()}")
                os.kill(daemon.pid, signal.SIGTERM)
            status = daemon.wait()
            if status is None:
                problems.append("hacd does not leave after drain")
                os.kill(daemon.pid, signal.SIGKILL)
                daemon.wait()
            elif status != 0:
                problems.append(f"hacd left with status {status} after drain\n{self.log()[-3000:]}")
            elif self.socket.exists():
                problems.append("the socket is left")
        else:
            for daemon in self.daemons:
                daemon.reap()

        def others():
            try:
                while os.waitpid(-1, os.WNOHANG)[0] != 0:
                    pass
            except ChildProcessError:
                return []
            return [p for p in children(os.getpid()) if str(LIBEXEC) in command_of(p) or "hac-executor" in command_of(p)]
        eventually(lambda: not others(), 20, 0.05)
        for pid in others():
            problems.append(f"process {pid} is left: {command_of(pid)}")
            os.kill(pid, signal.SIGKILL)
        if "HAC_TEST_KEEP" in os.environ:
            print(f"kept: {self.root}", file=sys.stderr)
        else:
            shutil.rmtree(self.root, ignore_errors=True)
        if problems:
            raise AssertionError("; ".join(problems))


class MachineTest(unittest.TestCase):
    """A test with machines that are closed, and looked at, at its end."""

    def machine(self, *args, **more):
        machine = Machine(*args, **more)
        self.addCleanup(machine.close)
        return machine


class SharedMachineTest(unittest.TestCase):
    """Tests that share one machine, each with a folder of its own; the machine is looked at after the last one."""
    profile = ONE_DEVICE
    config = {}

    @classmethod
    def setUpClass(cls):
        cls.m = Machine(cls.profile, cls.config)
        cls.addClassCleanup(cls.m.close)
        cls.m.baseline()

    @classmethod
    def tearDownClass(cls):
        cls.m.check_clean()

    def setUp(self):
        self.m.work = self.m.root / self.id().rpartition(".")[2]
        self.m.work.mkdir()


def main():
    """unittest's main, failing when nothing ran, and saying what was skipped."""
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    for test, why in program.result.skipped:
        print(f"SKIPPED {test}: {why}", file=sys.stderr)
    if program.result.testsRun == 0:
        sys.exit("no test ran")
    sys.exit(not program.result.wasSuccessful())
