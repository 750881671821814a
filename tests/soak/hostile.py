# SPDX-License-Identifier: Apache-2.0
"""Clients that break the rules, one at a time: of the same user as the honest ones, so none of them takes a whole quota, and,
if root runs the soak, of another user, who takes what one user can get."""
import fcntl
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from users import ACKNOWLEDGE, DETACH  # noqa: E402

METRICS, MODELS = 10, 9  # topics of QUERY with much to say
STRANGER = 60301
F_SEAL_FUTURE_WRITE = 0x10
BROKEN = (OSError, TypeError)  # TypeError: the answer is None, the connection has ended


class Attacker:
    """`attack` connects, misbehaves and leaves; the daemon's answer does not matter."""

    def __init__(self, path, seed):
        self.path, self.rng = path, random.Random(seed)
        self.done = {}  # kind -> how often

    def attack(self):
        kinds = (self.garbage, self.lengths, self.descriptors, self.leaves, self.never_reads, self.shrinks,
                 self.unfinished, self.mutated, self.idle)
        self.one(self.rng.choice(kinds))

    def one(self, kind):
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

    def keeps_pages(self):
        """Seals memory against writing, so that hacd cannot free it, and keeps it for a while."""
        with self.client() as client:
            for _ in range(4):
                client.ask(wire.BUFFER_ALLOC, wire.message(f1=4 << 20, f2=1))
            for number, fd in enumerate(client.fds, 1):
                os.pwrite(fd, bytes(1 << 16), 0)
                try:
                    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, F_SEAL_FUTURE_WRITE)
                except PermissionError:
                    pass
                client.send(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 1 << 16))
            time.sleep(0.1)
            for fd in client.fds:
                os.close(fd)

    def keeps_descriptors(self):
        """Takes none of the descriptors that hacd sends."""
        many = [self.client() for _ in range(8)]
        for client in many:
            client.socket.settimeout(0.2)
            try:
                for _ in range(40):
                    client.send(wire.BUFFER_ALLOC, wire.message(f1=4096))
            except BROKEN:
                pass
        time.sleep(0.2)
        for client in many:
            client.close()

    def plans(self):
        """Questions for plans that nobody needs."""
        with self.client() as client:
            for _ in range(40):
                client.send(wire.PLAN_SORT, wire.message(f1=wire.field(1, 1), f2=1 << 34, f3=b""))
            client.receive()

    def models(self):
        """Sub-operators that claim odd amounts of work, which hacd learns from."""
        with self.client() as client:
            number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 1 << 16))[1][1][0]
            call = wire.op_call([(1, 11, 0, 0, 1, 1, 0, 0, 0, 0), (1, 11, 1, 0, 512, 1, 0, 0, 0, 0)])
            for _ in range(20):
                client.ask(wire.SUBMIT_OPS, wire.ops([number], [wire.op_task(
                    "op.reduce", [(0, 0, 64, 1), (0, 4096, 4096, 0)], call, count=512, f10=4.0 ** self.rng.randrange(60))]))
            client.text(wire.QUERY, wire.message(f1=MODELS))

    def keeps_jobs(self):
        """Results that nobody fetches, with names that turn the text around them."""
        with self.client() as client:
            for _ in range(50):
                client.ask(wire.SUBMIT_SORT, wire.message(f1=wire.field(1, 1), f2=wire.message(f1=bytes(400), f5=400, f6="a\u202eb\x1b[2J"),
                                                          f4=DETACH + ACKNOWLEDGE))

    def idle(self):
        """Connections that say nothing, or nothing more."""
        many = [self.client(self.rng.random() < 0.5) for _ in range(8)]
        time.sleep(0.3)
        for client in many:
            client.close()


class Stranger:
    """Another user, who may take all that one user can have; a process of their own, since threads share their uid."""
    KINDS = ("keeps_pages", "keeps_descriptors", "plans", "models", "keeps_jobs", "leaves", "never_reads", "idle")

    def __init__(self, machine, seed):
        self.rng, self.done = random.Random(seed), {}
        self.can = os.geteuid() == 0 and shutil.which("setpriv") is not None
        if not self.can:
            print("soak: no other users: needs root and setpriv", flush=True)
            return
        self.path = machine.root / "public" / "hacd.sock"  # the socket's own folder stays closed, as a private daemon wants it
        self.path.parent.mkdir()
        for folder in (machine.root, self.path.parent):
            os.chmod(folder, 0o755)
        os.link(machine.socket, self.path)
        os.chmod(self.path, 0o666)

    def attack(self):
        kind = self.rng.choice(self.KINDS)
        subprocess.run(["setpriv", "--reuid", str(STRANGER), "--regid", str(STRANGER), "--clear-groups", sys.executable, __file__,
                        self.path, kind, str(self.rng.randrange(1 << 30))], check=False, timeout=120)
        self.done[kind] = self.done.get(kind, 0) + 1


if __name__ == "__main__":
    attacker = Attacker(sys.argv[1], int(sys.argv[3]))
    attacker.one(getattr(attacker, sys.argv[2]))
