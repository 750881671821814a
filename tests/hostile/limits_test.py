#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon hostile clients are disconnected, and what they leave behind: time, memory and descriptors, in figures."""
import contextlib
import fcntl
import os
import random
import re
import resource
import socket
import statistics
import struct
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import slow_file  # noqa: E402
import wire  # noqa: E402
from machine import SANITIZED, TWO_DEVICES, SharedMachineTest, eventually, main  # noqa: E402

HELLO = wire.frame(wire.request(1, wire.HELLO, wire.hello()))
BREACHES = {"length 0xFFFFFFFF": wire.frame(b"x" * 8, length=0xffffffff), "wrong mark": wire.frame(b"x" * 8, magic=b"haC"),
            "length 0": wire.frame(b"x" * 8, length=0), "truncated": HELLO[:-3], "one byte": b"h", "empty body": wire.frame(b""),
            "too long": wire.frame(b"\0" * 65529), "random": random.Random(3).randbytes(3000),
            "bomb of fields": wire.frame(wire.request(1, wire.SUBMIT_SORT, wire.message(f3=b"")[:2] * 20000)),
            "bomb of depth": wire.frame(b"\x12\x7e" * 30000),
            "out of order": wire.frame(wire.request(1, wire.WAIT, wire.field(1, 1)))}
HONEST = wire.sort_inline("u32", struct.pack("<4I", 4, 3, 2, 1))
FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE = 1, 2
SEALS = (0, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW,
         fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL)
N_CONNECTIONS = int(os.environ.get("HAC_TEST_CONNECTIONS", "100000"))


class LimitsCase(SharedMachineTest):
    profile = TWO_DEVICES
    config = {"max_connections_per_user": 2000, "task_deadline_minimum": "2s", "executor_idle_timeout": "1s"}

    def setUp(self):
        super().setUp()
        self.daemon = self.m.before[0]
        self.serves()

    def client(self, greet=True):
        client = wire.Client(self.m.socket, greet)
        self.addCleanup(client.close)
        return client

    def serves(self):
        """An honest client gets its answer."""
        with wire.Client(self.m.socket) as client:
            self.assertEqual(client.ask(wire.SUBMIT_SORT, HONEST)[0], wire.R_DONE)

    def at_rest(self):
        """The descriptors that are open without a client and without an executor."""
        self.assertTrue(self.m.settled(self.daemon))
        descriptors = eventually(self.steady)
        self.assertIsNotNone(descriptors)
        return descriptors

    def steady(self):
        descriptors = self.daemon.descriptors()
        time.sleep(0.2)
        return descriptors if descriptors == self.daemon.descriptors() else None

    def open_count(self):
        return sum(self.daemon.descriptors().values())

    def returns_to(self, descriptors):
        """All descriptors are back, by kind and count."""
        self.assertTrue(self.m.settled(self.daemon))
        same = eventually(lambda: self.daemon.descriptors() == descriptors)
        self.assertTrue(same, f"{descriptors} became {self.daemon.descriptors()}")


    def no_executor_died(self):
        deaths = re.findall(r"(?m)^hacd_executor_restarts_total (\d+)", self.m.good("metrics").decode())
        self.assertEqual(deaths, ["0"], self.m.log()[-2000:])
        self.assertNotIn("executor-died", self.m.log())


class Limits(LimitsCase):
    def gone_after(self, data, greet=False):
        """Seconds from the breach to the end of the connection."""
        with wire.Client(self.m.socket, greet) as client:
            began = time.monotonic()
            try:
                client.send_raw(data)
                ended = client.ended()
            except (BrokenPipeError, ConnectionResetError):
                ended = True
            self.assertTrue(ended)
            return time.monotonic() - began

    def breach(self):
        """The slowest kind's median, and by how much hacd has grown."""
        rss, slowest = self.daemon.rss(), 0.0
        for name, data in BREACHES.items():
            times = [self.gone_after(data, turn % 2 == 1 and name != "out of order") for turn in range(60)]
            print(f"{name}: median {statistics.median(times) * 1e3:.2f} ms, worst {max(times) * 1e3:.2f} ms", file=sys.stderr)
            slowest = max(slowest, statistics.median(times))
        grown = self.daemon.rss() - rss
        print(f"hacd's memory: {grown >> 10} KiB more after {60 * len(BREACHES)} breaches", file=sys.stderr)
        return slowest, grown

    def test_breaches(self):
        """Goal: disconnected within 10 ms, memory grows by at most 64 KiB. Checked are medians of many, and the best of
        several of these, because other work may need the processors."""
        for data in BREACHES.values():
            for greet in (False, True):
                for _ in range(20):
                    self.gone_after(data, greet and data is not BREACHES["out of order"])
        within = 0.01 if not SANITIZED else 1.0
        slowest, grown = self.breach()
        for _ in range(6):
            if slowest < within and grown <= 64 << 10:
                break
            # memory grows once, for example when models are first written; a leak grows again
            slowest, grown = map(min, (slowest, grown), self.breach())
        self.assertLess(slowest, within)
        self.assertLessEqual(grown, 64 << 10)
        self.serves()

    def test_one_byte_a_second(self):
        """A message is one packet, so one wrong first byte is a breach; a silent client has five seconds."""
        self.assertLess(self.gone_after(HELLO[:1]), 4.0)
        patient, began = self.client(), time.monotonic()
        with wire.Client(self.m.socket, False) as client:
            self.assertTrue(client.ended())
        silent = time.monotonic() - began
        print(f"gone after {silent:.2f} s of silence", file=sys.stderr)
        self.assertTrue(4.5 < silent < 9.0)
        self.assertEqual(patient.ask(wire.SUBMIT_SORT, HONEST)[0], wire.R_DONE)  # a client that has greeted may be silent


    def test_thousand_idle(self):
        """1,000 connections that do nothing cost little memory and no time, and all of it comes back."""
        descriptors, rss = self.at_rest(), self.daemon.rss()
        clients = [wire.Client(self.m.socket) for _ in range(1000)]
        grown = self.daemon.rss() - rss
        self.assertEqual(self.open_count() - sum(descriptors.values()), 1000)
        cpu = self.daemon.cpu_seconds()
        time.sleep(1.5)
        cpu = self.daemon.cpu_seconds() - cpu
        print(f"1,000 idle connections: {max(0, grown) / 1024 / 1000:.2f} KiB each, {cpu / 1.5 * 100:.1f} % of a core", file=sys.stderr)
        self.assertLess(grown, 4 << 20)
        self.assertLess(cpu / 1.5, 0.05 if not SANITIZED else 0.5)
        self.serves()
        for client in clients:
            client.close()
        self.returns_to(descriptors)

    # ---- foreign descriptors that are not what they claim to be ----

    def sort(self, client, fd, size):
        """How a sort of that descriptor ends: its state and its message."""
        what, fields = client.ask(wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, size), [fd])
        if what != wire.R_ACCEPTED:
            return what, fields
        return wire.R_DONE, client.ask(wire.WAIT, wire.field(1, fields[1][0]))[1]

    def test_memfds(self):
        """Files shorter than announced, sealed or not, give an error. Truncated or punched while read: an end, no death."""
        client = self.client()
        for seals in SEALS:
            fd = os.memfd_create("short", os.MFD_ALLOW_SEALING)
            os.write(fd, bytes(1000))
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
            what, fields = self.sort(client, fd, 4 << 20)
            self.assertTrue(what == wire.R_FAILURE or fields[2][0] == 4, fields)
            os.close(fd)
        rng, ends = random.Random(2), {3: 0, 4: 0}
        for turn in range(30):
            fd = os.memfd_create("changing")
            os.ftruncate(fd, 32 << 20)
            thread = threading.Timer(rng.uniform(0, 0.02), lambda: os.ftruncate(fd, rng.choice((0, 4096, 16 << 20)))
                                     if turn % 2 else self.punch(fd))
            thread.start()
            what, fields = self.sort(client, fd, 32 << 20)
            thread.join()
            os.close(fd)
            if what == wire.R_DONE:
                ends[fields[2][0]] += 1
                client.ask(wire.RELEASE, wire.field(1, fields[1][0]))
        print(f"{ends[3]} sorted, {ends[4]} failed", file=sys.stderr)
        self.no_executor_died()
        self.serves()

    @staticmethod
    def punch(fd):
        libc_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 4 << 20)

    def test_large_memfd_closed(self):
        """hacd holds the last descriptor of a client's memfd; freeing its memory delays no other client."""
        def large():
            fd = os.memfd_create("large")
            os.posix_fallocate(fd, 0, 1 << 30)
            return fd

        with wire.Client(self.m.socket) as honest:
            for _ in range(15):  # other programs may delay some of them
                fd = large()
                start = time.monotonic()
                os.close(fd)
                alone = time.monotonic() - start
                hostile, fd = self.client(), large()
                for _ in range(40):  # hacd is busy enough until the descriptor is closed here
                    hostile.send(wire.QUERY, wire.message(f1=10))
                hostile.send_raw(wire.frame(b"\x08\x01", 1), [fd])  # no request: the connection ends
                os.close(fd)
                worst, end = 0.0, time.monotonic() + 1
                while time.monotonic() < end:
                    start = time.monotonic()
                    self.assertEqual(honest.ask(wire.QUERY, wire.message(f1=0))[0], wire.R_TEXT)
                    worst = max(worst, time.monotonic() - start)
                if worst < alone / 2:
                    return
        self.fail(f"a question took {worst:.3f} s, closing such a memfd takes {alone:.3f} s")

    def test_descriptors_that_linger(self):
        """To close a socket of a client takes seconds: of one that came with what is no request or no frame, or is unread."""
        kept = []

        def linger(end, seconds):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, seconds))

        def lingering():
            listener = socket.create_server(("127.0.0.1", 0))
            end = socket.create_connection(listener.getsockname())
            kept.extend([listener, listener.accept()[0]])
            end.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    end.send(bytes(1 << 16))
            linger(end, 8)
            return end

        with wire.Client(self.m.socket) as honest:
            for what in (wire.frame(b"\x08\x01", 1), b"no frame") * 2:
                hostile, ends = self.client(), [lingering() for _ in range(3)]
                with contextlib.suppress(BrokenPipeError):  # hacd may end the connection, as nothing is read
                    for _ in range(40):  # hacd is busy enough until the sockets are closed here
                        hostile.send(wire.QUERY, wire.message(f1=10))
                for end in ends:
                    try:
                        hostile.send_raw(what, [end.fileno()])
                    except OSError:  # the connection ended at the one before; no other process has this one
                        linger(end, 0)
                closing = threading.Thread(target=lambda gone=ends: [end.close() for end in gone])
                self.addCleanup(closing.join)
                self.addCleanup(lambda: [end.close() for end in kept])
                closing.start()
                hostile.close()
                worst, end = 0.0, time.monotonic() + 0.5
                while time.monotonic() < end:
                    start = time.monotonic()
                    self.assertEqual(honest.ask(wire.QUERY, wire.message(f1=0))[0], wire.R_TEXT)
                    worst = max(worst, time.monotonic() - start)
                self.assertLess(worst, 5)

    def test_pool_changes(self):
        """A client writes to its pool memory, and punches holes, while executors sort it."""
        client = self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=8 << 20))[1][1][0]
        memfd, rng = client.fds[-1], random.Random(6)
        for _ in range(20):
            os.pwrite(memfd, rng.randbytes(1 << 16) * 128, 0)
            job = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 8 << 20))[1][1][0]
            for _ in range(10):
                os.pwrite(memfd, rng.randbytes(4096), rng.randrange(2000) * 4096)
                self.punch(memfd)
            self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[1][2][0], 3)
            client.ask(wire.RELEASE, wire.field(1, job))
        self.no_executor_died()
        self.serves()

    def test_slow_file(self):
        """A file whose server never answers a read: the reader cannot even be killed. hacd serves all others, and this user
        too once the server is gone."""
        file = slow_file.SlowFile(8 << 20, answered=1 << 20)
        if file.problem:
            self.skipTest(f"{file.problem}: NOT TESTED that a stalled file is given up")
        small = wire.sort_inline("u32", bytes(8), options=wire.field(1, "cpu.1"))
        try:
            client, fd = self.client(), os.open(file.path, os.O_RDONLY)
            self.assertEqual(client.ask(wire.SUBMIT_SORT, small)[0], wire.R_DONE)  # so that its executor need not start later
            what, accepted = client.ask(wire.SUBMIT_SORT, wire.sort_descriptor(
                "u32", 0, 0, 8 << 20, options=wire.field(1, "cpu.0")), [fd])
            os.close(fd)
            self.assertEqual(what, wire.R_ACCEPTED)
            job, slowest, end = wire.field(1, accepted[1][0]), 0.0, time.monotonic() + 3.0
            with wire.Client(self.m.socket) as honest:
                while time.monotonic() < end:
                    asked = time.monotonic()
                    self.assertEqual(honest.ask(wire.SUBMIT_SORT, small)[0], wire.R_DONE)
                    slowest = max(slowest, time.monotonic() - asked)
            print(f"slowest answer to others beside it: {slowest * 1e3:.1f} ms", file=sys.stderr)
            self.assertLess(slowest, 2.0)
            client.ask(wire.CANCEL, job)
        finally:
            file.close()
        self.assertIn(client.ask(wire.WAIT, job)[1][2][0], (4, 5))
        self.serves()

    def test_mute_file(self):
        """A file whose server does not even say what it is: hacd asks only the kernel."""
        file = slow_file.SlowFile(8 << 20, answered=0, silent=(slow_file.GETATTR,))
        if file.problem:
            self.skipTest(f"{file.problem}: NOT TESTED that hacd does not wait for file servers")
        try:
            client, fd = self.client(), os.open(file.path, os.O_RDONLY)
            os.fstat(fd)  # the kernel knows it now
            file.mute()
            began = time.monotonic()
            client.ask(wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, 8 << 20, options=wire.field(1, "cpu.0")), [fd])
            with wire.Client(self.m.socket) as honest:
                self.assertEqual(honest.ask(wire.SUBMIT_SORT, wire.sort_inline(
                    "u32", bytes(8), options=wire.field(1, "cpu.1")))[0], wire.R_DONE)
            self.assertLess(time.monotonic() - began, 8.0)  # a process that waits for the server waits for ever
            os.close(fd)
        finally:
            file.close()
        client.close()
        self.serves()

    # ---- messages of streams and graphs out of order, twice, late, and for other users' objects ----

    def begin(self, client):
        return client.ask(wire.SUBMIT_QUERY, wire.message(f1=wire.query_spec(), f3=b"", f4=1))[1][1][0]

    def split(self, client, number, job, fill=True):
        if fill:
            data = b"one\ntwo\n"
            table = struct.pack("<QQQQII", 0x31544c5053434148, 128, len(data), 0, 1, 0).ljust(64, b"\0")
            os.pwrite(client.fds[-1], table + struct.pack("<2Q", 0, len(data)).ljust(64, b"\0") + data, 0)
        return client.send(wire.APPEND_SPLIT, wire.message(f1=job, f2=number, f3=136, f4=1, f5=8))

    def test_splits(self):
        client = self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 100000))[1][1][0]
        last = lambda job: wire.message(f1=job, f7=1)  # noqa: E731
        job = self.begin(client)  # the end twice, then a split
        first = client.send(wire.APPEND_SPLIT, last(job))
        answers = [client.answer(serial) for serial in (first, client.send(wire.APPEND_SPLIT, last(job)),
                                                        self.split(client, number, job))]
        self.assertEqual([a[0] for a in answers[1:]], [wire.R_FAILURE] * 2)
        self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[0], wire.R_DONE)
        job = self.begin(client)  # after it was cancelled
        client.ask(wire.CANCEL, wire.field(1, job))
        self.assertEqual(client.answer(self.split(client, number, job))[0], wire.R_FAILURE)
        job = self.begin(client)  # its buffer is released while it is read
        self.split(client, number, job)
        self.assertEqual(client.ask(wire.BUFFER_RELEASE, wire.field(1, number))[0], wire.R_OK)
        client.ask(wire.APPEND_SPLIT, last(job))
        self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[0], wire.R_DONE)
        self.assertEqual(client.ask(wire.APPEND_SPLIT, wire.message(f1=job, f2=number, f3=136, f4=1, f5=8))[0], wire.R_FAILURE)
        for what in (wire.RESULT, wire.RELEASE, wire.CANCEL):  # before it began
            self.assertEqual(client.ask(what, wire.field(1, job + 1))[0], wire.R_FAILURE)
        self.serves()

    def test_many_splits_unanswered(self):
        """Splits sent without waiting for any answer: hacd holds a bounded number."""
        client = self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 100000))[1][1][0]
        rss, job = self.daemon.rss(), self.begin(client)
        try:
            for _ in range(3000):
                self.split(client, number, job, False)
                client.socket.setblocking(False)
                try:
                    while client.receive() is not None:
                        pass
                except BlockingIOError:
                    pass
                client.socket.settimeout(10)
        except (BrokenPipeError, ConnectionResetError):
            pass
        self.assertLess(self.daemon.rss() - rss, 8 << 20)
        self.serves()

    def test_graphs(self):
        client, thief = self.client(), self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.field(1, 1 << 16))[1][1][0]
        call = wire.op_call([(1, 11, 0, 0, 1, 1, 0, 0, 0, 0), (1, 11, 1, 0, 512, 1, 0, 0, 0, 0)])
        task = [wire.op_task("op.reduce", [(0, 0, 64, 1), (0, 4096, 4096, 0)], call, count=512)]
        graph = wire.ops([number], task)
        self.assertEqual(thief.ask(wire.SUBMIT_OPS, graph)[0], wire.R_FAILURE)
        job = client.ask(wire.SUBMIT_OPS, graph)[1][1][0]
        self.assertEqual(client.ask(wire.APPEND_SPLIT, wire.message(f1=job, f7=1))[0], wire.R_FAILURE)  # not a stream
        serials = [client.send(wire.SUBMIT_OPS, graph) for _ in range(20)]  # side by side, the same buffer
        serials.append(client.send(wire.BUFFER_RELEASE, wire.field(1, number)))
        answers = [client.receive() for _ in serials]  # as they are done, in any order
        self.assertEqual({answer[1] for answer in answers}, set(serials))
        for what, serial, fields in answers:
            if serial != serials[-1]:
                self.assertEqual(what, wire.R_DONE)
                self.assertIn(fields[2][0], (3, 4))
        self.assertEqual(client.ask(wire.SUBMIT_OPS, graph)[0], wire.R_FAILURE)  # it is released
        self.serves()

    def test_graphs_of_a_job(self):
        """Graphs for another's job, for a job that takes none, two at once, after the last one, with another's buffer."""
        client, thief = self.client(), self.client()
        number, own = (c.ask(wire.BUFFER_ALLOC, wire.field(1, 1 << 16))[1][1][0] for c in (client, thief))

        def reduce(n):
            blocks = (n + 4095) // 4096  # a partial each
            call = wire.op_call([(1, 11, 0, 0, blocks, 1, 0, 0, 0, 0), (1, 11, 1, 0, n, 1, 0, 0, 0, 0)])
            return [wire.op_task("op.reduce", [(0, 0, 64 * blocks, 1), (0, 64 * blocks, 8 * n, 0)], call, count=n)]
        task, begin, job = reduce(512), wire.ops([], [], f8=1), None

        def append(who, buffers=(number,), what=task, **more):
            return who.send(wire.APPEND_GRAPH, wire.message(f1=job, f2=wire.ops(list(buffers), what), **more))
        job = client.ask(wire.SUBMIT_OPS, begin)[1][1][0]
        self.assertEqual(thief.answer(append(thief, [own]))[0], wire.R_FAILURE)
        self.assertEqual(client.answer(append(client, [number + 99]))[0], wire.R_FAILURE)
        values = 4 << 20  # so many take longer than a client on a busy machine needs for the next request
        large = client.ask(wire.BUFFER_ALLOC, wire.field(1, 16 * values))[1][1][0]
        for _ in range(100):  # still, hacd may finish one before it hears of the next
            serials = [append(client, [large], reduce(values)) for _ in range(3)]
            answers = {got[1]: got[0] for got in (client.receive() for _ in serials)}
            self.assertEqual(answers[serials[0]], wire.R_GRAPH_DONE)
            if wire.R_FAILURE in answers.values():
                break
        self.assertIn(wire.R_FAILURE, answers.values())
        for _ in range(40):  # more than the log keeps
            got = client.ask(wire.APPEND_GRAPH, wire.message(f1=job, f3="x" * 100 + "\n" * 8 + "y" * 5000))
            self.assertEqual(got[0], wire.R_GRAPH_DONE)
        self.assertEqual(client.answer(append(client, f4=1))[0], wire.R_GRAPH_DONE)
        self.assertEqual(client.answer(append(client))[0], wire.R_FAILURE)
        self.assertEqual(client.ask(wire.WAIT, wire.field(1, job))[1][2][0], 3)
        job = client.ask(wire.SUBMIT_OPS, wire.ops([number], task))[1][1][0]
        self.assertEqual(client.answer(append(client))[0], wire.R_FAILURE)
        job = client.ask(wire.SUBMIT_OPS, begin)[1][1][0]
        append(client)
        client.close()  # in the middle of one
        self.serves()


class Changing(LimitsCase):
    """Memory of every kind of input changes while executors read it: holes, other bytes, other sizes. Each job has an
    answer or ends with a message; no executor dies, and later jobs on the same memory are right."""
    ROWS = 20000
    SIZE = 1 << 20

    def setUp(self):
        super().setUp()
        self.rng = random.Random(int(os.environ.get("HAC_TEST_RANDOM", "8")))
        self.ends = {"done": 0, "failed": 0}
        self.csv = b"".join(b"%d,city%02d\n" % (i, i % 50) for i in range(self.ROWS))
        csv, parquet = Path(self.m.path("t.csv")), Path(self.m.path("t.parquet"))
        csv.write_bytes(self.csv)
        self.m.good("mapreduce", str(csv), "--schema", "a:i64,b:string", "--no-header", "--select", "a, b", "-o", str(parquet))
        self.parquet = parquet.read_bytes()

    # ---- inputs: (their bytes, the request for a job over them) ----

    def sort(self, **where):
        spec = wire.field(1, wire.TYPE["u32"]) + wire.field(4, self.rng.choice((1, 2)))
        return self.rng.randbytes(self.SIZE), wire.SUBMIT_SORT, wire.message(f1=spec, f2=wire.message(**where, f5=self.SIZE), f4=b"")

    def query(self, data, kind, where, **spec):
        return data, wire.SUBMIT_QUERY, wire.query([wire.message(**where, f5=len(data))], kind=kind, **spec)

    def lines(self, **where):
        return self.query(self.csv, 2, where, schema="a:i64,b:string", group_by="b", select="b, count() as n, sum(a) as s")

    def words(self, **where):
        return self.query(self.csv.replace(b",", b" "), 6, where, group_by="word", select="word, count() as n")

    def columns_of_file(self, **where):
        return self.query(self.parquet, 9, where, columns="a:i64,b:string", group_by="b", select="b, count() as n, sum(a) as s")

    def table(self, **where):
        """Arrow's columns: i64, and strings by their offsets."""
        texts = b"".join(b"city%02d" % (i % 50) for i in range(self.ROWS))
        offsets = struct.pack(f"<{self.ROWS + 1}i", *range(0, 6 * self.ROWS + 1, 6))
        at, size = [0], self.ROWS * 8
        for part in (offsets, texts):
            at.append((at[-1] + size + 63) // 64 * 64)
            size = len(part)
        data = struct.pack(f"<{self.ROWS}q", *range(self.ROWS)).ljust(at[1], b"\0") + offsets.ljust(at[2] - at[1], b"\0") + texts
        none = 2**64 - 1
        columns = [("a", "i64", (5, 0, 0, 0, none, 0, none, 0)),
                   ("b", "string", (15, 0, 0, 0, none, at[1], at[2], len(texts)))]
        return data, wire.SUBMIT_QUERY, wire.query([wire.message(**where, f5=len(data))], kind=1, group_by="b",
                                                   select="b, count() as n, sum(a) as s", table=(self.ROWS, columns))

    def gather(self, **where):
        """y = x[index]: 8192 rows of f64, numbers of rows as u32."""
        n, part = 8192, 1 << 16
        data = bytes(part) + struct.pack(f"<{n}d", *range(n)) + struct.pack(f"<{n}I", *self.rng.sample(range(n), n))
        call = wire.op_call([(1, 11, 0, 0, n, 1, 0, 0, 0, 0), (1, 11, 1, 0, n, 1, 0, 0, 0, 0), (1, 8, 2, 0, n, 1, 0, 0, 0, 0)])
        spans = [(0, 0, part, 1), (0, part, part, 0), (0, 2 * part, 4 * n, 0)]
        return data, wire.SUBMIT_OPS, wire.ops([where["f2"]], [wire.op_task("op.gather", spans, call, count=n, grain=4096)])

    def sparse(self, **where):
        """y = A x, A of 8192 rows with four entries each."""
        n, part = 8192, 1 << 16
        offsets = struct.pack(f"<{n + 1}Q", *range(0, 4 * n + 1, 4))
        indices = struct.pack(f"<{4 * n}I", *(i for _ in range(n) for i in sorted(self.rng.sample(range(n), 4))))
        at_indices = (len(offsets) + 63) // 64 * 64
        at_values = at_indices + len(indices)
        matrix = offsets.ljust(at_indices, b"\0") + indices + struct.pack("<d", 1.5) * (4 * n)
        data = bytes(part) + struct.pack(f"<{n}d", *range(n)) + matrix
        call = wire.op_call([(1, 11, 0, 0, n, 1, 0, 0, 0, 0), (7, 11, 2, 0, n, n, 4 * n, at_values, 0, at_indices),
                             (1, 11, 1, 0, n, 1, 0, 0, 0, 0)])
        spans = [(0, 0, part, 1), (0, part, part, 0), (0, 2 * part, len(matrix), 0)]
        return data, wire.SUBMIT_OPS, wire.ops([where["f2"]], [wire.op_task("op.spmv", spans, call, count=n, grain=1)])

    POOL = (sort, lines, words, table, columns_of_file, gather, sparse)
    FILES = (sort, lines, words, columns_of_file)

    # ---- how they change ----

    def disturb(self, fd, size, resize):
        """One change: a hole, bytes that are the largest numbers, random bytes, another size."""
        size = min(size, os.fstat(fd).st_size)
        if size == 0:
            return
        at, some = self.rng.randrange(size), min(self.rng.choice((8, 4096, 1 << 18)), size)
        way = self.rng.randrange(4 if resize else 3)
        if way == 0:
            libc_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, some)
        elif way < 3:
            os.pwrite(fd, (b"\xff" * some if way == 1 else self.rng.randbytes(some))[:size - at], at)
        else:
            os.ftruncate(fd, at)

    def end(self, client, serial):
        """How the job ends: its JobDone, or None if it was refused; self.answer is its result."""
        known = len(client.fds)
        what, fields = client.answer(serial)
        if what == wire.R_ACCEPTED:
            what, fields = client.ask(wire.WAIT, wire.field(1, fields[1][0]))
        failure = fields if what == wire.R_FAILURE else wire.decode(fields[3][0]) if fields[2][0] == 4 else None
        self.ends["failed" if failure else "done"] += 1
        if failure:
            self.assertGreater(len(failure[2][0]), 10, failure)
        if what == wire.R_FAILURE:
            return None
        self.assertIn(fields[2][0], (3, 4))
        self.answer = fields.get(4, [b""])[0]
        if 5 in fields:  # its memory is sent once
            result = wire.decode(fields[5][0])[1][0]
            if len(client.fds) > known:
                self.results[result] = client.fds[-1]
            self.answer = os.pread(self.results[result], fields[6][0], 0)
        client.ask(wire.RELEASE, wire.field(1, fields[1][0]))
        return fields

    def pool_run(self, client, number, memfd, make):
        data, what, body = make(self, f2=number)
        os.pwrite(memfd, data, 0)
        serial = client.send(what, body)
        for _ in range(self.rng.randrange(1, 6)):
            self.disturb(memfd, len(data), False)
        self.end(client, serial)

    def file_run(self, client, make):
        """A memfd, sealed or not, of the announced size or shorter."""
        data, what, body = make(self, f3=0)
        fd = os.memfd_create("input", os.MFD_ALLOW_SEALING)
        seals = self.rng.choice(SEALS)
        short = seals == SEALS[-1] or self.rng.randrange(4) == 0
        os.write(fd, data[:self.rng.randrange(len(data)) if short else len(data)])
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
        serial = client.send(what, body, [fd])
        if seals != SEALS[-1]:
            for _ in range(self.rng.randrange(1, 4)):
                self.disturb(fd, len(data), seals == 0)
        fields = self.end(client, serial)
        if short and what == wire.SUBMIT_SORT:  # a short text cannot be told from a whole one
            self.assertTrue(fields is None or fields[2][0] == 4, "sorted what is not there")
        os.close(fd)

    def is_right(self, make, data, memfd):
        if make is Changing.sort:
            form = f"<{self.SIZE // 4}I"
            return self.answer == struct.pack(form, *sorted(struct.unpack(form, data)))
        if make is Changing.gather:
            index = struct.unpack("<8192I", data[1 << 17:])
            return os.pread(memfd, 1 << 16, 0) == struct.pack("<8192d", *index)
        if make is Changing.sparse:
            indices = struct.unpack_from("<32768I", data, (1 << 17) + 65600)
            sums = [1.5 * sum(indices[i:i + 4]) for i in range(0, 32768, 4)]
            return os.pread(memfd, 1 << 16, 0) == struct.pack("<8192d", *sums)
        rows, n = sorted(self.answer.splitlines()[1:]), self.ROWS // 50
        if make is Changing.words:
            return len(rows) == self.ROWS + 50
        return rows == [b"city%02d,%d,%d" % (i, n, n * i + 25 * n * (n - 1)) for i in range(50)]

    def sound(self, client, number, memfd):
        """The answers are right again, in the same memory."""
        for make in self.POOL:
            data, what, body = make(self, f2=number)
            os.pwrite(memfd, data, 0)
            self.end(client, client.send(what, body))
            self.assertTrue(self.is_right(make, data, memfd), (make, self.answer[:1000]))

    def changes(self, times):
        client = self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=self.SIZE))[1][1][0]
        memfd, self.results = client.fds[-1], {}
        with self.assertRaises(PermissionError):
            os.ftruncate(memfd, 4096)
        for turn in range(times):
            if turn % 2:
                self.pool_run(client, number, memfd, self.rng.choice(self.POOL))
            else:
                self.file_run(client, self.rng.choice(self.FILES))
        self.assertTrue(self.daemon.alive())
        print(f"{times} inputs changed: {self.ends}", file=sys.stderr)
        self.assertGreater(min(self.ends.values()), 0)
        self.sound(client, number, memfd)
        self.no_executor_died()
        self.serves()

    def test_changes(self):
        self.changes(100)


class LongChanging(Changing):
    """long: HAC_TEST_CHANGES for another number."""

    def test_changes(self):
        self.changes(int(os.environ.get("HAC_TEST_CHANGES", "10000")))


class Leaks(LimitsCase):
    """What hostile connections leave open: nothing."""

    def attack(self, rng, fds):
        client = wire.Client(self.m.socket, rng.random() < 0.3)
        try:
            kind = rng.randrange(6)
            if kind == 0:  # a bomb
                client.send_raw(wire.frame(wire.request(5, wire.QUERY, wire.field(1, 1)), 253), fds)
            elif kind == 1:  # wrong counts
                client.send_raw(wire.frame(wire.request(5, wire.QUERY, wire.field(1, 1)), rng.randrange(256)),
                                fds[:rng.randrange(64)])
            elif kind == 2:  # a truncated message with descriptors
                client.send_raw(HELLO[:rng.randrange(1, len(HELLO))], fds[:rng.randrange(64)])
            elif kind == 3:  # only descriptors after the greeting, none of them read before the end
                client.send_raw(HELLO)
                for _ in range(3):
                    client.send_raw(wire.frame(b"\0", 8), fds[:8])
            elif kind == 4:  # a job with a file that is not a file
                client.send(wire.HELLO, wire.hello())
                client.send(wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, 64), fds[:1])
            else:
                client.send_raw(rng.randbytes(rng.randrange(1, 200)), fds[:rng.randrange(3)])
        except (BrokenPipeError, ConnectionResetError):
            pass
        client.close()

    def check_executors(self):
        """No descriptor beyond the allowed set: its socket, the standard ones, pool memory, the driver's own."""
        pids = self.daemon.executor_pids()
        self.assertGreater(len(pids), 0)
        for pid in pids:
            targets = [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]
            self.assertEqual(sum(t.startswith("socket:") for t in targets), 1, targets)
            for target in targets:
                self.assertTrue(target.startswith(("socket:", "/memfd:hac-pool", "/dev/null", "pipe:", "anon_inode:"))
                                or target == str(self.m.log_path), target)

    def hostile(self, count):
        foreign = os.open(__file__, os.O_RDONLY)
        fds = [os.dup(foreign) for _ in range(253)]
        self.addCleanup(lambda: [os.close(fd) for fd in [foreign, *fds]])
        rng = random.Random(7)
        for _ in range(100):
            self.attack(rng, fds)
        descriptors, rss, began = self.at_rest(), self.daemon.rss(), time.monotonic()
        for _ in range(count):
            self.attack(rng, fds)
        seconds = time.monotonic() - began
        self.returns_to(descriptors)
        self.assertTrue(self.daemon.alive())
        self.serves()
        self.check_executors()
        print(f"{count} hostile connections in {seconds:.1f} s: {sum(descriptors.values())} descriptors before and after, "
              f"{(self.daemon.rss() - rss) >> 10} KiB more memory", file=sys.stderr)
        self.assertLess(self.daemon.rss() - rss, 4 << 20)

    def test_control_truncated(self):
        """hacd at its limit of descriptors: the kernel delivers only some of a message's and says so."""
        descriptors = self.at_rest()
        fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(64)]
        self.addCleanup(lambda: [os.close(fd) for fd in fds])
        limits = resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE)
        for _ in range(20):
            client = self.client()
            highest = max(map(int, os.listdir(f"/proc/{self.daemon.pid}/fd")))
            resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, (highest + 10, limits[1]))
            client.send_raw(wire.frame(wire.request(5, wire.QUERY, wire.field(1, 1)), 64), fds)
            self.assertTrue(client.ended())
            resource.prlimit(self.daemon.pid, resource.RLIMIT_NOFILE, limits)
        self.returns_to(descriptors)
        self.serves()

    def test_some(self):
        self.hostile(2000)


class LongLeaks(Leaks):
    test_control_truncated = None

    def test_some(self):
        self.hostile(N_CONNECTIONS)


def libc_fallocate(fd, mode, offset, size):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fallocate(fd, mode, ctypes.c_long(offset), ctypes.c_long(size)) != 0:
        raise OSError(ctypes.get_errno(), "fallocate")


if __name__ == "__main__":
    main()
