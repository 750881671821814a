#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No data crosses from one user to another: A's jobs are full of a mark, and B and a debugger search for it."""
import os
import random
import re
import signal
import struct
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import TWO_DEVICES, SharedMachineTest, eventually, main  # noqa: E402

A, B = 65534, 65533
RUNS = int(os.environ.get("HAC_TEST_RUNS", "1000"))
PIECE = 8 << 20


def find_in_file(file, mark, offset=0, size=None):
    """Whether the mark is in those bytes of an open file; unreadable bytes count as not having it."""
    end, tail = None if size is None else offset + size, b""
    while end is None or offset < end:
        try:
            data = os.pread(file, PIECE if end is None else min(PIECE, end - offset), offset)
        except OSError:
            return False
        if not data:
            return False
        if mark in tail + data[:len(mark)] or mark in data:
            return True
        tail, offset = data[-len(mark):], offset + len(data)
    return False


def find_in_process(pid, mark):
    """The mappings of a process that contain the mark: its heap, stacks, the driver's memory, buffers."""
    found = []
    memory = os.open(f"/proc/{pid}/mem", os.O_RDONLY)
    for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
        first, last, rights, name = re.match(r"(\w+)-(\w+) (\S+) \S+ \S+ \S+\s*(.*)", line).groups()
        if "r" not in rights or name in ("[vvar]", "[vsyscall]") or ("w" not in rights and "/memfd" not in name):
            continue
        start = int(first, 16)
        if find_in_file(memory, mark, start, int(last, 16) - start):
            found.append(name or "heap of the driver")
    os.close(memory)
    return found


def find_in_descriptors(pid, mark):
    """The memfds of a process that contain the mark."""
    found = []
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        try:
            if os.readlink(path).startswith("/memfd:"):
                file = os.open(path, os.O_RDONLY)
                if find_in_file(file, mark):
                    found.append(name)
                os.close(file)
        except OSError:
            continue
    return found


def find_in_folder(folder, mark):
    """The files below a folder that contain the mark; some disappear during the search."""
    found = []
    for at, _, names in os.walk(folder):
        for name in names:
            try:
                file = os.open(os.path.join(at, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
            except OSError:
                continue
            if find_in_file(file, mark):
                found.append(os.path.join(at, name))
            os.close(file)
    return found


class User:
    """A client that the kernel takes for another user: the identity is that at connect time."""

    def __init__(self, machine, uid):
        os.seteuid(uid)
        try:
            self.client = wire.Client(machine.socket)
        finally:
            os.seteuid(0)
        self.buffers = []  # (number, memfd)

    def alloc(self, size, growable=0):
        what, fields = self.client.ask(wire.BUFFER_ALLOC, wire.message(f1=size, f2=growable))
        assert what == wire.R_BUFFER, fields
        self.buffers.append((fields[1][0], self.client.fds[-1]))
        return self.buffers[-1]

    def done(self, what, body):
        """The fields of a job's end."""
        what, fields = self.client.ask(what, body)
        if what == wire.R_ACCEPTED:
            what, fields = self.client.ask(wire.WAIT, wire.field(1, fields[1][0]))
        assert what == wire.R_DONE and fields[2][0] == 3, (what, fields)
        return fields

    def close(self):
        self.client.close()
        while self.client.fds:
            os.close(self.client.fds.pop())


@unittest.skipUnless(os.geteuid() == 0, "needs root: NOT TESTED that no data crosses users")
class Canary(SharedMachineTest):
    profile = TWO_DEVICES
    config = {"executor_idle_timeout": "10s"}
    runs = 10

    def setUp(self):
        super().setUp()
        self.daemon = self.m.before[0]
        for path in (self.m.root, self.m.socket.parent.parent, self.m.socket.parent):
            os.chmod(path, 0o755)
        self.addCleanup(os.chmod, self.m.socket.parent, 0o700)
        os.chmod(self.m.socket, 0o666)
        self.rng = random.Random(int(os.environ.get("HAC_TEST_RANDOM", "1")))
        self.mark = os.urandom(6)  # every canary of this test contains it; two more bytes say which one it is
        self.of_a, self.of_b = set(), set()  # pids of their executors

    def fill(self, run):
        """A's jobs on both devices: the mark as keys, as text in a message, as a column."""
        key = self.mark + struct.pack("<H", run % 65536)
        user = User(self.m, A)
        size = self.rng.choice((1 << 20, 3 << 20, 100000)) // 8 * 8
        number, memfd = user.alloc(size)
        os.pwrite(memfd, key * (size // 8), 0)
        for device in ("cpu.0", "cpu.1"):
            options = wire.field(1, device)
            user.done(wire.SUBMIT_SORT, wire.sort_buffer("u64", number, 0, size, options=options))
            user.done(wire.SUBMIT_SORT, wire.sort_inline("u64", key * 500, options=options))
            text = b"".join(b"%s,%d\n" % (self.text(key), i) for i in range(300))
            user.done(wire.SUBMIT_QUERY, wire.query([wire.message(f1=text, f5=len(text))], kind=2, schema="a:string,b:i64",
                                                    select="a, count() as n", group_by="a", options=options))
        self.of_a |= set(self.daemon.executor_pids()) - self.of_b
        return user

    @staticmethod
    def text(key):
        """A text field with the mark unchanged, because none of its bytes has a meaning in CSV."""
        return bytes(b if b not in b"\n\r,\"\0" and b < 128 else 65 for b in key)

    def look_as_b(self, user):
        """B reads all it can: new memory, results with the bytes after them, the output of its jobs."""
        for size, growable in ((1 << 20, 0), (3 << 20, 0), (100000, 0), (64, 1)):
            number, memfd = user.alloc(size, growable)
            self.assertFalse(find_in_file(memfd, self.mark), "new memory")
            if size >= 100000:  # what the executors find there, sorted
                for device in ("cpu.0", "cpu.1"):
                    fields = user.done(wire.SUBMIT_SORT, wire.sort_buffer(
                        "u64", number, 0, size // 64 * 64, options=wire.field(1, device)))
                    user.done(wire.SUBMIT_SORT, wire.sort_inline("u64", bytes(4000), options=wire.field(1, device)))
                    self.assertNotIn(self.mark, repr(fields).encode())
        self.assertFalse(any(find_in_file(fd, self.mark) for fd in user.client.fds), "a result")
        self.of_b |= set(self.daemon.executor_pids()) - self.of_a

    def look_as_root(self):
        """What a debugger would see of B's executors, and the directories that executors share."""
        pids = self.of_b & set(self.daemon.executor_pids())
        self.assertGreater(len(pids), 0)
        for pid in pids:
            self.assertEqual(find_in_process(pid, self.mark), [])
            self.assertEqual(find_in_descriptors(pid, self.mark), [])
        self.assertEqual(find_in_folder(self.m.root / "cache_home" / "hac" / "programs", self.mark), [])
        self.assertEqual(find_in_folder(self.m.root / "cache_home" / "hac" / "scratch", self.mark), [])
        return len(pids)

    def test_canaries(self):
        looked = 0
        for run in range(self.runs):
            a = self.fill(run)
            if run == 0:  # check that the search finds what is there
                self.assertTrue(any(find_in_process(pid, self.mark) for pid in self.of_a), "the mark is not where it was put")
            if self.rng.randrange(2):
                a.close()  # its memory is idle then
            b = User(self.m, B)
            self.look_as_b(b)
            looked += self.look_as_root()
            b.close()
            a.close()
            if run % 100 == 99:
                print(f"{run + 1} runs", file=sys.stderr)
            if self.rng.randrange(8) == 0:  # new executors take their places
                for pid in self.daemon.executor_pids():
                    os.kill(pid, signal.SIGKILL)
                eventually(lambda: not self.daemon.executor_pids())
                self.of_a.clear()
        for pid in self.daemon.executor_pids():  # rather than wait until they exit
            os.kill(pid, signal.SIGKILL)
        print(f"{self.runs} runs, {looked} executors searched: 0 canaries", file=sys.stderr)


class LongCanary(Canary):
    runs = RUNS


if __name__ == "__main__":
    main()
