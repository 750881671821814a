# SPDX-License-Identifier: Apache-2.0
"""Clients that break the rules, one at a time and of the same user as the honest ones, so none of them takes a whole quota."""
import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402

METRICS = 10  # a topic of QUERY with much to say
BROKEN = (OSError, TypeError)  # TypeError: the answer is None, the connection has ended


class Attacker:
    """`attack` connects, misbehaves and leaves; the daemon's answer does not matter."""

    def __init__(self, path, seed):
        self.path, self.rng = path, random.Random(seed)
        self.done = {}  # kind -> how often

    def attack(self):
        kinds = (self.garbage, self.lengths, self.descriptors, self.leaves, self.never_reads, self.shrinks,
                 self.unfinished, self.mutated, self.idle)
        kind = self.rng.choice(kinds)
        try:
            kind()
        except BROKEN:
            pass
        self.done[kind.__name__] = self.done.get(kind.__name__, 0) + 1

    def client(self, greet=True):
        return wire.Client(self.path, greet, 2.0)

    def garbage(self):
        with self.client(self.rng.random() < 0.5) as client:
            for _ in range(self.rng.randrange(1, 5)):
                client.send_raw(self.rng.randbytes(self.rng.randrange(1, 60000)))

    def lengths(self):
        body = wire.request(1, wire.HELLO, wire.hello())
        with self.client(False) as client:
            client.send_raw(wire.frame(body, length=self.rng.choice((0, 1, len(body) + 1, 65529, 0xffffffff))))
            client.ended()

    def descriptors(self):
        """A bomb: more descriptors than are announced, or than may be."""
        null = os.open("/dev/null", os.O_RDONLY)
        try:
            with self.client() as client:
                for _ in range(20):
                    client.send_raw(wire.frame(wire.request(5, wire.QUERY, b""), self.rng.randrange(256)),
                                    [null] * self.rng.choice((1, 64, 65, 253)))
        finally:
            os.close(null)

    def leaves(self):
        """In the middle of jobs."""
        with self.client() as client:
            what, buffer = client.ask(wire.BUFFER_ALLOC, wire.message(f1=4 << 20))
            for fd in client.fds:
                os.close(fd)
            if what != wire.R_BUFFER:
                return
            for _ in range(3):
                client.send(wire.SUBMIT_SORT, wire.sort_buffer("u32", buffer[1][0], 0, 4 << 20, spec=wire.field(4, 1)))
            client.send(wire.SUBMIT_QUERY, wire.query([wire.message(f1=b"a b\nc\n" * 1000, f5=6000)], group_by="line"))
            time.sleep(self.rng.random() * 0.05)

    def never_reads(self):
        with self.client() as client:
            client.socket.settimeout(0.5)
            for _ in range(2000):
                client.send(wire.QUERY, wire.message(f1=METRICS))

    def shrinks(self):
        """A file that is shorter when it is read than when it was submitted."""
        memfd = os.memfd_create("foreign")
        try:
            os.ftruncate(memfd, 1 << 20)
            with self.client() as client:
                client.send(wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, 1 << 20), [memfd])
                os.ftruncate(memfd, self.rng.randrange(1 << 20))
                client.receive()
                client.receive()
        finally:
            os.close(memfd)

    def unfinished(self):
        """Queries over splits that never go on."""
        with self.client() as client:
            for _ in range(5):
                client.ask(wire.SUBMIT_QUERY, wire.message(f1=wire.query_spec(), f3=b"", f4=1))

    def mutated(self):
        """Random changes to requests that are right."""
        with self.client() as client:
            for _ in range(20):
                body = bytearray(wire.request(2, wire.SUBMIT_SORT, wire.sort_inline("f32", os.urandom(64), options=wire.message(
                    f1="cpu.0", f3=1, f4=5, f5=1.0, f6=1 << 30), spec=wire.message(f2=1, f4=1, f5=2, f6=2))))
                for _ in range(self.rng.randrange(1, 5)):
                    # not the number of the request: drain and reload would be carried out
                    body[self.rng.randrange(4, len(body))] = self.rng.randrange(256)
                client.send_raw(wire.frame(bytes(body)))
            client.ended()

    def idle(self):
        """Connections that say nothing, or nothing more."""
        many = [self.client(self.rng.random() < 0.5) for _ in range(8)]
        time.sleep(0.3)
        for client in many:
            client.close()
