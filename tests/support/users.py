# SPDX-License-Identifier: Apache-2.0
"""Several users of one hacd: clients that connect with other uids, and a machine that serves them all."""
import json
import os
import struct
import threading

import wire
from machine import ONE_DEVICE, MachineTest

FIRST_UID = 60001
DETACH, ACKNOWLEDGE = wire.field(2, 1), wire.field(8, 1)
STATUS, JOBS, SHOW, WHY, RECEIPT, LOG, TRACE, PLAN = 0, 2, 3, 4, 5, 6, 7, 8
DONE, CANCELLED = 3, 5  # states of jobs


def priority(n):
    return wire.field(4, n)


def deadline(seconds):
    return wire.field(5, float(seconds))


class User:
    """Connections of one uid; groups are those of the process while it connects."""
    lock = threading.Lock()

    def __init__(self, machine, uid, groups=()):
        self.machine, self.uid, self.groups = machine, uid, list(groups)

    def connect(self, greet=True, timeout=120.0):
        with User.lock:
            before = os.getgroups()
            os.setgroups(self.groups)
            os.setegid(self.uid if self.uid else 0)
            os.seteuid(self.uid)
            try:
                client = wire.Client(self.machine.socket, False, timeout)
            finally:
                os.seteuid(0)
                os.setegid(0)
                os.setgroups(before)
        if greet:
            try:
                what = client.ask(wire.HELLO, wire.hello())
            except BrokenPipeError:
                what = None  # refused and disconnected before the greeting was sent
            if what is None or what[0] != wire.R_HELLO:
                client.close()
                raise ConnectionRefusedError(what)
        return client


class UsersTest(MachineTest):
    def setUp(self):
        if os.geteuid() != 0:
            self.skipTest("needs root: NOT TESTED that users are kept apart")

    def shared(self, profile=ONE_DEVICE, config=None, **more):
        machine = self.machine(profile, config=config)
        if more:
            machine.run("devices", **more)
        return machine, self.open_to_all(machine)

    def open_to_all(self, machine):
        """Lets other users reach the machine's daemon, and returns it."""
        daemon = machine.daemon()
        for path in (machine.root, machine.socket.parent.parent, machine.socket.parent):
            os.chmod(path, 0o755)
        self.addCleanup(lambda: machine.socket.parent.exists() and os.chmod(machine.socket.parent, 0o700))
        os.chmod(machine.socket, 0o666)
        return daemon

    def user(self, machine, uid, **more):
        client = User(machine, uid, **more).connect()
        self.addCleanup(client.close)
        return client

    def sort(self, client, buffer, size, options=b"", what=wire.R_ACCEPTED):
        got = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", buffer, 0, size, options=options))
        self.assertEqual(got[0], what, got)
        return got[1][1][0] if what == wire.R_ACCEPTED else got[1]

    def buffer(self, client, size, content=b""):
        """`content` repeated, if there is any; keys that are all alike are sorted in no time."""
        got = client.ask(wire.BUFFER_ALLOC, wire.message(f1=size))
        self.assertEqual(got[0], wire.R_BUFFER, got)
        for fd in client.fds:
            for at in range(0, size if content else 0, len(content) or 1):
                os.pwrite(fd, content, at)
            os.close(fd)
        client.fds.clear()
        return got[1][1][0]

    def listed(self, client):
        text = client.text(wire.QUERY, wire.message(f1=JOBS))
        return {job["id"]: job for job in json.loads(text)["jobs"]}


def failure(got):
    """(code, message, hint in seconds) of a failure."""
    fields = got[1]
    hint = struct.unpack("<d", fields[3][0].to_bytes(8, "little"))[0] if 3 in fields else 0.0
    return fields[1][0], fields[2][0].decode(), hint
