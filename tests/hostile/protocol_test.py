#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that break every rule, against the real daemon: it survives, gets everything back, and serves others."""
import os
import random
import socket
import struct
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import wire  # noqa: E402
from machine import TWO_DEVICES, SharedMachineTest, eventually, main  # noqa: E402

GARBAGE = (b"h", b"hac", b"hac\0", b"hac\0\0\0\0\0", b"\0" * 8, b"\xff" * 8, b"\xff" * 65536,
           b"GET / HTTP/1.1\r\n\r\n", wire.frame(b""), wire.frame(b"\0"), wire.frame(b"\xff" * 10), wire.frame(b"x" * 65528),
           wire.frame(wire.request(1, wire.HELLO, wire.hello()), magic=b"haC"),
           wire.frame(wire.request(1, wire.HELLO, wire.hello()), magic=b"\0\0\0"))


class Honest:
    """A client that works beside the hostile ones and checks every answer."""

    def __init__(self, path):
        self.client = wire.Client(path, timeout=60.0)
        self.stopping = self.may_be_refused = False
        self.jobs, self.problem, self.slowest = 0, None, 0.0
        self.thread = threading.Thread(target=self.work, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stopping = True
        self.thread.join(90)
        self.client.close()

    def work(self):
        rng = random.Random(1)
        try:
            while not self.stopping:
                keys = [rng.getrandbits(32) for _ in range(rng.randrange(2000))]
                began = time.monotonic()
                what, fields = self.client.ask(wire.SUBMIT_SORT, wire.sort_inline(
                    "u32", struct.pack(f"<{len(keys)}I", *keys)))
                if self.may_be_refused and what == wire.R_FAILURE and fields[1] == [4]:
                    time.sleep(0.01)
                    continue
                if what != wire.R_DONE or fields.get(4, [b""])[0] != struct.pack(f"<{len(keys)}I", *sorted(keys)):
                    raise AssertionError(f"{what} {fields}")
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.jobs += 1
                time.sleep(0.002)
        except Exception as problem:  # pylint: disable=broad-except
            self.problem = problem


class HostileCase(SharedMachineTest):
    profile = TWO_DEVICES
    config = {"executor_idle_timeout": "1s"}

    def setUp(self):
        super().setUp()
        self.daemon = self.m.before[0]
        self.honest = Honest(self.m.socket)
        self.honest.__enter__()
        self.open_before = None

    def tearDown(self):
        self.honest.__exit__()
        self.assertIsNone(self.honest.problem)
        self.assertGreater(self.honest.jobs, 0)
        self.assertTrue(self.daemon.alive(), self.m.log()[-2000:])
        before = self.m.before[1]["socket"]
        self.assertTrue(eventually(lambda: self.daemon.descriptors()["socket"] <= before + 2), "connections stay open")

    def client(self, greet=True, timeout=10.0):
        client = wire.Client(self.m.socket, greet, timeout)
        self.addCleanup(client.close)
        return client


class Frames(HostileCase):
    def refused(self, data, greet, fds=()):
        """Sends one packet; the daemon must end the connection soon."""
        client = self.client(greet)
        began = time.monotonic()
        try:
            client.send_raw(data, fds)
            ended = client.ended()
        except (BrokenPipeError, ConnectionResetError):
            ended = True
        self.assertTrue(ended, f"{data[:40]!r}… of {len(data)} bytes is taken")
        self.assertLess(time.monotonic() - began, 4.0)  # it would also end after five seconds of silence
        client.close()

    def test_garbage(self):
        for greet in (False, True):
            for data in GARBAGE:
                self.refused(data, greet)

    def test_lengths(self):
        body = wire.request(1, wire.HELLO, wire.hello())
        for length in (0, 1, len(body) - 1, len(body) + 1, 65528, 65529, 0x7fffffff, 0xffffffff):
            self.refused(wire.frame(body, length=length), False)

    def test_oversize(self):
        client = self.client()
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        client.send_raw(wire.frame(b"\0" * 65529))
        self.assertTrue(client.ended())
        for size in (65537, 100000, 190000):
            client = self.client()
            client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            client.send_raw(b"hac\0" + struct.pack("<I", size - 8) + b"\0" * (size - 8))
            self.assertTrue(client.ended())

    def test_greetings(self):
        submit = wire.frame(wire.request(1, wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(8))))
        self.refused(submit, False)
        self.refused(wire.frame(wire.request(2, wire.HELLO, wire.hello())), True)
        for version in (0, 1, wire.VERSION - 1, wire.VERSION + 1, 99, 2**32 - 1):
            client = self.client(False)
            got = client.ask(wire.HELLO, wire.hello(version))
            self.assertIn(got and got[0], (None, wire.R_FAILURE))
            self.assertTrue(client.ended())

    def test_descriptors(self):
        """Too many descriptors, too few, where none belong, and of every kind."""
        fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(253)]
        self.addCleanup(lambda: [os.close(fd) for fd in fds])
        query = wire.request(5, wire.QUERY, wire.message(f1=0))
        for count in (1, 2, 15, 64, 252, 253):
            for claimed in {0, min(count, 255), min(count - 1, 255), 253, 255}:
                self.refused(wire.frame(query, claimed), True, fds[:count])
        for claimed in (1, 64, 253, 255):
            self.refused(wire.frame(query, claimed), True)
        submit = wire.request(6, wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, 8))
        self.refused(wire.frame(submit, 0), True)
        self.refused(wire.frame(submit, 2), True, fds[:2])
        self.refused(wire.frame(wire.request(6, wire.SUBMIT_SORT, wire.sort_descriptor("u32", 1, 0, 8)), 1), True,
                     fds[:1])
        self.refused(wire.frame(wire.request(6, wire.SUBMIT_SORT, wire.sort_descriptor("u32", 253, 0, 8)), 1), True,
                     fds[:1])

    def test_kinds_of_descriptors(self):
        """A descriptor that is not a regular file is refused with a message; the connection goes on, hacd never reads it."""
        reader, writer = os.pipe()
        one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        folder = os.open("/", os.O_RDONLY)
        path = os.open("/", os.O_PATH)
        write_only = os.open(self.m.path("w"), os.O_WRONLY | os.O_CREAT)
        memfd = os.memfd_create("foreign")
        os.write(memfd, bytes(range(64)))
        full = os.open("/dev/full", os.O_RDWR)
        client = self.client()
        for fd in (reader, writer, one.fileno(), client.socket.fileno(), folder, path, full):
            what, _ = client.ask(wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, 64), [fd])
            self.assertEqual(what, wire.R_FAILURE, fd)
        os.ftruncate(write_only, 64)
        for fd, end in ((write_only, (4, 1)), (memfd, (3,))):
            what, fields = client.ask(wire.SUBMIT_SORT, wire.sort_descriptor("u32", 0, 0, 64), [fd])
            if what == wire.R_ACCEPTED:
                what, fields = client.ask(wire.WAIT, wire.field(1, fields[1][0]))
                self.assertIn(fields[2][0], end)
        os.ftruncate(memfd, 0)  # a foreign memfd that shrinks must hurt nobody
        for fd in (reader, writer, folder, path, write_only, memfd, full):
            os.close(fd)
        one.close()
        other.close()

    def test_many_bad_connections(self):
        """None of them costs anything afterwards."""
        fds = [os.open("/dev/null", os.O_RDONLY) for _ in range(40)]
        rng = random.Random(4)
        for turn in range(600):
            client = wire.Client(self.m.socket, False)
            try:
                if turn % 3 == 0:
                    client.send_raw(wire.frame(os.urandom(rng.randrange(1, 3000)), rng.randrange(40)),
                                    fds[:rng.randrange(40)])
                elif turn % 3 == 1:
                    client.send(wire.HELLO, wire.hello())
                    client.send_raw(os.urandom(rng.randrange(1, 60000)))
            except (BrokenPipeError, ConnectionResetError):
                pass
            client.close()
        for fd in fds:
            os.close(fd)


class Requests(HostileCase):
    """Well-formed requests with senseless contents."""

    def test_senseless_sorts(self):
        client = self.client()
        huge = 2**63
        bodies = [wire.sort_inline("u32", b"123"),
                  wire.sort_buffer("u32", 77, 0, 64), wire.sort_buffer("u32", 0, 0, 64),
                  wire.sort_inline("u32", bytes(8), spec=wire.field(8, 4)),
                  wire.sort_inline("u32", bytes(8), options=wire.field(1, "no such device"))]
        for body in bodies:
            got = client.ask(wire.SUBMIT_SORT, body)
            if got is None:
                client = self.client()
            else:
                self.assertEqual(got[0], wire.R_FAILURE, body)
        for body in (wire.sort_buffer("u32", 1, huge, huge), wire.sort_buffer("u32", 1, 1, 4),
                     wire.message(f1=wire.field(1, 99), f2=wire.message(f1=b"1234", f5=4), f4=b""),
                     wire.message(f1=wire.field(1, 0), f2=wire.message(f1=b"1234", f5=4), f4=b""),
                     wire.sort_inline("u32", bytes(8), spec=wire.field(4, 9)),
                     wire.sort_inline("u32", bytes(8), spec=wire.field(5, 9)),
                     wire.sort_inline("u32", bytes(8), spec=wire.field(8, 2**32 - 1)),
                     wire.sort_inline("u32", bytes(8), spec=wire.field(7, b"\1" * 65)),
                     wire.sort_inline("u32", bytes(8), options=wire.field(4, 1000)),
                     wire.sort_inline("u32", bytes(8), options=wire.field(5, float("nan"))),
                     wire.sort_inline("u32", bytes(8), options=wire.field(5, float("-inf"))),
                     wire.sort_inline("u32", bytes(8), options=wire.field(1, b"\xff\xfe")),
                     wire.message(f1=b"", f2=b"", f4=b""), b""):
            client = self.client()
            got = client.ask(wire.SUBMIT_SORT, body)
            self.assertTrue(got is None or got[0] == wire.R_FAILURE, body)

    def test_senseless_queries(self):
        """Each fails as a request or as a job; a table that is not where it is said to be is detected."""
        text = wire.message(f1=b"a\nb\n", f5=4)
        none, huge = 2**64 - 1, 2**63 - 64
        client = self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=100000))[1][1][0]

        def column(kind=5, validity=none, values=0, data=none, n=0):
            return "x", "string" if kind == 15 else "i64", (kind, 0, 0, 0, validity, values, data, n)

        def table(rows, *columns):
            return wire.query([wire.message(f2=number, f5=4096)], kind=1, select="x", table=(rows, columns))

        good = table(512, column())
        self.assertEqual(client.ask(wire.SUBMIT_QUERY, good)[0], wire.R_ACCEPTED)
        bodies = [b"", wire.query([]), wire.query([text, text]), wire.query([text], kind=0, compiled=wire.ANY_QUERY), wire.query([text], kind=9, compiled=wire.ANY_QUERY),
                  wire.query([text], compiled=b"\xff" * 20000), wire.query([text], compiled=b"\xff"),
                  wire.query([text], compiled=b""), wire.query([text], compiled=wire.ANY_QUERY),
                  wire.query([text], compiled=wire.ANY_QUERY, kind=1), wire.query([text], f9=1),
                  wire.query([text], f3=1), wire.query([text], f3=2), wire.query([text], compiled=b"", f3=2, kind=9),
                  wire.query([wire.message(f1=bytes(16385), f5=16385)]), wire.query([wire.message(f3=0, f5=4)]),
                  wire.query([wire.message(f2=number, f4=1, f5=4)]), wire.query([wire.message(f2=number, f4=huge, f5=64)]),
                  wire.query([wire.message(f2=424242, f5=4)]), wire.query([text], f5=3),
                  wire.query([text], options=wire.field(1, "no such device")),
                  wire.query([text], f10=wire.message(f1=3)), wire.query([text], f10=wire.message(f2=1001)),
                  table(huge, column()), table(513, column()), table(512, column(values=64)), table(1, column(values=1)),
                  table(512, column(validity=4096)), table(10, column(values=none)),
                  table(10, column(kind=15, data=0, n=huge)), table(10, column(kind=15, values=4064, data=0, n=1))]
        for body in bodies:
            got = client.ask(wire.SUBMIT_QUERY, body)
            if got is not None and got[0] == wire.R_ACCEPTED:
                got = client.ask(wire.WAIT, wire.field(1, got[1][1][0]))
                self.assertEqual(got[1][2][0], 4, (body, got))  # failed
            elif got is None:
                client = self.client()
                number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=100000))[1][1][0]
            else:
                self.assertIn(got[0], (wire.R_FAILURE, wire.R_DONE), body)
                self.assertTrue(got[0] == wire.R_FAILURE or got[1][2][0] == 4, body)

    def graph(self, client, number, tasks, **more):
        """How a graph of sub-operators ends: "done", or the failure's message; None if the connection ended."""
        got = client.ask(wire.SUBMIT_OPS, wire.ops([number], tasks, **more))
        if got is not None and got[0] == wire.R_ACCEPTED:
            got = client.ask(wire.WAIT, wire.field(1, got[1][1][0]))
        if got is None:
            return None
        if got[0] == wire.R_FAILURE:
            return got[1][2][0].decode()
        return "done" if got[1][2][0] == 3 else wire.decode(got[1][3][0])[2][0].decode()

    def test_senseless_graphs(self):
        """hacd or the executor refuses a senseless graph, and the executor survives it."""
        client = self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 20))[1][1][0]
        f64, huge = 11, 2**63 - 64

        def vector(span, rows=1000, values=0, kind=f64, columns=1, entries=0, form=1, offsets=0, indices=0, first=0):
            return form, kind, span, first, rows, columns, entries, values, offsets, indices

        def reduce(x=vector(1), w=vector(0, rows=1), spans=((0, 0, 4096, 1), (0, 4096, 8192, 0)), count=1000, **more):
            return wire.op_task("op.reduce", spans, wire.op_call([w, x], **more), count=count, grain=4096)
        self.assertEqual(self.graph(client, number, [reduce()]), "done")
        for tasks in ([reduce(x=vector(1, rows=huge))], [reduce(x=vector(1, rows=1025))], [reduce(x=vector(1, values=8192))],
                      [reduce(x=vector(1, values=huge))], [reduce(x=vector(1, columns=huge))], [reduce(x=vector(7))],
                      [reduce(x=vector(1, kind=99))], [reduce(x=vector(1, form=99))], [reduce(w=vector(0, rows=0))],
                      [reduce(function=99)], [reduce(n_operands=9)], [reduce(n_operands=2**32 - 1)], [reduce(count=2000)],
                      [reduce(program=bytes(40))], [reduce(flags=2**31)], [reduce(x=vector(1, form=7, entries=huge))],
                      [reduce(spans=((0, 0, 4096, 1), (0, 1 << 20, 64, 0)))], [reduce(spans=((0, 0, 4096, 1), (0, 2048, 8192, 0)))],
                      [reduce(), reduce()], [reduce(), wire.op_task("op.reduce", ((0, 4096, 4096, 1), (0, 0, 4096, 0)),
                                                                    b"x", after=b"\0")],
                      [wire.op_task("op.nonesuch", (), b"x")], [wire.op_task("op.map", (), b"x" * 16384)]):
            with self.subTest(tasks=tasks):
                got = self.graph(client, number, tasks)
                self.assertIsNotNone(got)
                self.assertNotEqual(got, "done")
                self.assertNotIn("executor", got)
        for tasks in ([wire.op_task("sort.small", (), b"x")], [wire.op_task("op.map.cl", (), b"x")], [], [reduce()] * 600,
                      [wire.op_task("op.map", ((1, 0, 64, 0),), b"x")], [wire.op_task("op.map", ((0, 1, 64, 0),), b"x")],
                      [wire.op_task("op.map", (), b"x", after=b"\0")]):
            with self.subTest(tasks=tasks[:1]):
                bad = self.client()
                other = bad.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 20))[1][1][0]
                self.assertIsNone(self.graph(bad, other, tasks))  # the protocol is broken
        thief = self.client()
        self.assertIn("holds no buffer", self.graph(thief, number, [reduce()]))

    def test_garbled_graphs(self):
        """Random bytes changed in calls; the executor refuses them or gives some answer."""
        rng = random.Random(int(os.environ.get("HAC_TEST_RANDOM", "1")))
        client = self.client()
        number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=1 << 20))[1][1][0]
        names = ("map reduce combine scan_sums scan filter_count filter_copy gather scatter gemv gemm spmv distance nearest "
                 "arg_rows row_reduce keys keys_combine histogram tokenize index csr transpose").split()
        done = 0
        for _ in range(int(os.environ.get("HAC_TEST_MUTATIONS", "2500")) // 5):
            n = rng.randrange(1, 5)
            operands = [(rng.choice((1, 1, 2, 3, 4, 5, 7)), rng.choice((1, 4, 5, 8, 9, 10, 11)), i, 0,
                         rng.choice((0, 1, 100, 4096)), rng.choice((1, 1, 1, 3)), rng.choice((0, 10, 100)),
                         0, 32768, 49152) for i in range(n)]
            name, function, n_keys = rng.choice(names), rng.randrange(14), rng.choice((0, 3, 100))
            if rng.randrange(3) == 0:  # one that is valid before it is changed
                name, function, n = "reduce", 0, 2
                operands = [(1, 11, 0, 0, 1, 1, 0, 0, 0, 0), (1, 11, 1, 0, 100, 1, 0, 0, 0, 0)]
            call = bytearray(wire.op_call(operands, function=function, n=n_keys, b=1.0))
            for _ in range(rng.choice((0, 0, 1, 3))):
                call[rng.randrange(8, len(call))] = rng.randrange(256)
            spans = [(0, i << 17, 1 << 17, i == 0) for i in range(n)]
            got = self.graph(client, number, [wire.op_task("op." + name, spans, bytes(call), count=100 if name == "reduce" else rng.choice((0, 100)))])
            self.assertIsNotNone(got)
            self.assertNotIn("executor", got)
            done += got == "done"
        self.assertGreater(done, 0)

    def senseless_files(self, client, begin):
        """Splits in files: not a file, shorter than announced, unreadable, or not of fixed width."""
        file = {"f3": 1000, "f4": 1, "f5": 1000, "f13": 1}
        text = begin(client)
        with tempfile.TemporaryFile() as whole:
            whole.write(bytes(1000))
            whole.flush()
            ends = os.pipe()
            folder, null = os.open("/", os.O_RDONLY), os.open("/dev/null", os.O_RDWR)
            write_only = os.open(f"/proc/self/fd/{whole.fileno()}", os.O_WRONLY)
            path = os.open(f"/proc/self/fd/{whole.fileno()}", os.O_PATH)
            self.assertEqual(client.ask(wire.APPEND_SPLIT, wire.message(f1=text, **file), [whole.fileno()])[0], wire.R_FAILURE)
            for fields, fds in (({}, []), ({}, [whole.fileno()] * 2), ({"f2": 1}, [whole.fileno()]), ({"f4": 2}, [whole.fileno()]),
                                ({"f5": 0}, [whole.fileno()]), ({"f14": 2**63 - 1}, [whole.fileno()]), ({"f3": 2**40, "f5": 2**40}, [whole.fileno()])):
                other = self.client()
                body = wire.message(f1=begin(other, kind=8, schema="a:i64"), **{**file, **fields})
                self.assertIsNone(other.ask(wire.APPEND_SPLIT, body, fds), fields)  # the protocol is broken
            for fd in (folder, null, *ends, self.client().socket.fileno()):
                body = wire.message(f1=begin(client, kind=8, schema="a:i64"), **file)
                self.assertEqual(client.ask(wire.APPEND_SPLIT, body, [fd])[0], wire.R_FAILURE)
            for fd, fields in ((write_only, {}), (path, {}), (whole.fileno(), {"f3": 2000, "f5": 2000}),
                               (whole.fileno(), {"f14": 2**62}), (whole.fileno(), {"f3": 1001, "f5": 1001})):
                job = begin(client, kind=8, schema="a:i64", select="sum(a) as s")
                client.send(wire.APPEND_SPLIT, wire.message(f1=job, **{**file, **fields}), [fd])
                client.send(wire.APPEND_SPLIT, wire.message(f1=job, f7=1))
                done = client.ask(wire.WAIT, wire.field(1, job))
                self.assertEqual((done[0], done[1][2][0]), (wire.R_DONE, 4), (fd, fields, done))
            for fd in (folder, null, *ends, write_only, path):
                os.close(fd)

    def test_senseless_splits(self):
        """Each fails as a request, as a job, or ends its connection; others are served, and memory comes back."""
        client, huge = self.client(), 2**63 - 1
        number = client.ask(wire.BUFFER_ALLOC, wire.message(f1=100000))[1][1][0]

        def begin(client, **spec):
            body = wire.message(f1=wire.query_spec(**spec), f3=b"", f4=1)
            return client.ask(wire.SUBMIT_QUERY, body)[1][1][0]
        job = begin(client)
        for body in (b"", wire.message(f1=job), wire.message(f1=job, f2=number), wire.message(f1=job, f3=100),
                     wire.message(f1=job, f2=number, f3=63), wire.message(f1=job, f2=number, f3=100, f4=1),
                     wire.message(f1=job, f2=number, f3=100, f5=1), wire.message(f1=job, f2=number, f3=100, f4=1, f5=101),
                     wire.message(f1=job, f2=number, f3=100, f4=1025, f5=1), wire.message(f1=job, f2=number, f3=2**63),
                     wire.message(f1=job, f7=2), wire.message(f1=job, f4=1, f7=1), wire.message(f1=job, f6=b"\xff", f7=1)):
            other = self.client()
            self.assertIsNone(other.ask(wire.APPEND_SPLIT, body), body)  # the protocol is broken
        for fields in ({"f1": 424242, "f7": 1}, {"f1": 2**64 - 1, "f7": 1}, {"f1": job, "f2": 424242, "f3": 100, "f4": 1, "f5": 1},
                       {"f1": job, "f2": number, "f3": 2**40, "f4": 1, "f5": 1}, {"f1": job, "f2": number, "f3": huge}):
            self.assertEqual(client.ask(wire.APPEND_SPLIT, wire.message(**fields))[0], wire.R_FAILURE, fields)
        self.senseless_files(client, begin)
        thief = self.client()  # another connection's job
        self.assertEqual(thief.ask(wire.APPEND_SPLIT, wire.message(f1=job, f7=1))[0], wire.R_FAILURE)
        sort = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 64))[1][1][0]
        self.assertEqual(client.ask(wire.APPEND_SPLIT, wire.message(f1=sort, f7=1))[0], wire.R_FAILURE)
        rng = random.Random(5)
        memfd = client.fds[-1]
        for turn in range(60):  # random bytes, then a header that is nearly right
            kind = rng.choice((2, 3, 4, 5, 6, 7, 8, 10, 11))
            job = begin(client, kind=kind, schema="" if kind in (5, 6, 7) else "a:i64,b:i64")  # those have their own columns
            sets = rng.randrange(1, 5)
            head = struct.pack("<QQQQII", 0x31544c5053434148, rng.choice((128, 192, 2**40)), rng.choice((500, 2**63)),
                               rng.getrandbits(64), sets, rng.choice((0, 3, 2**32 - 1)))
            data = rng.randbytes(2000) if turn % 3 == 0 else head.ljust(64, b"\0") + struct.pack(
                f"<{sets + 1}Q", *sorted(rng.randrange(600) for _ in range(sets + 1))) + rng.randbytes(1000)
            os.pwrite(memfd, data, 0)
            client.send(wire.APPEND_SPLIT, wire.message(f1=job, f2=number, f3=1500, f4=sets, f5=400))
            os.pwrite(memfd, rng.randbytes(2000), 0)  # while it is read
            client.send(wire.APPEND_SPLIT, wire.message(f1=job, f7=1))
            done = client.ask(wire.WAIT, wire.field(1, job))
            self.assertEqual(done[0], wire.R_DONE)
        jobs = []
        for _ in range(50):  # streams that never go on, and leave with their client
            got = client.ask(wire.SUBMIT_QUERY, wire.message(f1=wire.query_spec(), f3=b"", f4=1))
            if got[0] == wire.R_ACCEPTED:
                jobs.append(got[1][1][0])
                client.send(wire.APPEND_SPLIT, wire.message(f1=jobs[-1], f2=number, f3=1500, f4=1, f5=400))
        self.assertGreater(len(jobs), 10)
        client.close()

    def test_buffers(self):
        client = self.client()
        self.assertEqual(client.ask(wire.BUFFER_ALLOC, wire.message(f1=2**40))[0], wire.R_FAILURE)
        for body in (b"", wire.message(f1=2**63), wire.message(f1=2**64 - 1)):
            other = self.client()
            got = other.ask(wire.BUFFER_ALLOC, body)
            self.assertTrue(got is None or got[0] == wire.R_FAILURE)
        for what, body in ((wire.BUFFER_GROW, wire.message(f1=424242, f2=4096)),
                           (wire.BUFFER_RELEASE, wire.message(f1=424242))):
            self.assertEqual(client.ask(what, body)[0], wire.R_FAILURE)
        what, buffer = client.ask(wire.BUFFER_ALLOC, wire.message(f1=100000))
        number = buffer[1][0]
        self.assertEqual(client.ask(wire.BUFFER_GROW, wire.message(f1=number, f2=1 << 20))[0], wire.R_FAILURE)
        other = self.client()  # another connection's
        self.assertEqual(other.ask(wire.BUFFER_RELEASE, wire.message(f1=number))[0], wire.R_FAILURE)
        self.assertEqual(other.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 64))[0], wire.R_FAILURE)
        memfd = client.fds[-1]
        for spoil in (lambda: os.ftruncate(memfd, 0), lambda: os.ftruncate(memfd, 1 << 30)):
            self.assertRaises(OSError, spoil)  # sealed
        what, accepted = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", number, 0, 100000))
        self.assertEqual(what, wire.R_ACCEPTED)
        self.assertEqual(client.ask(wire.BUFFER_RELEASE, wire.message(f1=number))[0], wire.R_OK)  # while it is used
        self.assertEqual(client.ask(wire.WAIT, wire.field(1, accepted[1][0]))[1][2][0], 3)
        self.assertEqual(client.ask(wire.BUFFER_RELEASE, wire.message(f1=number))[0], wire.R_FAILURE)

    def test_hoarding(self):
        """Endless buffers: refused at the user's limit, given back with the connection."""
        client = self.client(timeout=30)
        refused = False
        for _ in range(20000):
            got = client.ask(wire.BUFFER_ALLOC, wire.message(f1=1))
            for fd in client.fds:
                os.close(fd)
            client.fds.clear()
            if got is None or got[0] == wire.R_FAILURE:
                refused = True
                break
        self.assertTrue(refused)
        client.close()
        self.m.warm_up()

    def test_unread_answers(self):
        """A client that asks and never reads is disconnected, and costs little until then."""
        for body, what in ((wire.message(f1=1), wire.QUERY), (wire.message(f1=9), wire.QUERY),
                           (wire.message(f1=4096), wire.BUFFER_ALLOC),
                           (wire.message(f1=wire.field(1, 1), f2=2**30, f3=b"", f4=2), wire.PLAN_SORT),
                           (wire.sort_inline("u32", bytes(20000)), wire.SUBMIT_SORT)):
            client = self.client(timeout=2)
            rss = self.daemon.rss()
            fds = sum(self.daemon.descriptors().values())
            sent = 0
            try:
                for _ in range(5000):
                    client.send(what, body)
                    sent += 1
            except (BrokenPipeError, ConnectionResetError, TimeoutError):
                pass
            self.assertLess(self.daemon.rss() - rss, 24 << 20)
            self.assertLess(sum(self.daemon.descriptors().values()) - fds, 400)
            client.close()

    def test_waiting_without_end(self):
        """Questions whose answers have to wait are limited, too."""
        client = self.client(timeout=20)
        rss = self.daemon.rss()
        what, buffer = client.ask(wire.BUFFER_ALLOC, wire.message(f1=32 << 20))
        what, accepted = client.ask(wire.SUBMIT_SORT, wire.sort_buffer("u32", buffer[1][0], 0, 32 << 20,
                                                                     spec=wire.field(4, 1)))
        for _ in range(20000):
            client.send(wire.WAIT, wire.field(1, accepted[1][0]))
            if client.serial % 50 == 0:  # takes what is there
                client.socket.setblocking(False)
                try:
                    while client.receive() is not None:
                        pass
                except (BlockingIOError, TimeoutError):
                    pass
                client.socket.settimeout(20)
        self.assertLess(self.daemon.rss() - rss, 24 << 20)
        client.close()

    def test_jobs_without_end(self):
        """More jobs than a user may have: refused with a hint when to retry. Unreleased results count."""
        self.honest.may_be_refused = True  # it is the same user's
        client = self.client(timeout=30)
        refused = 0
        for _ in range(3000):
            client.send(wire.SUBMIT_SORT, wire.sort_inline("u32", os.urandom(4000), options=wire.field(3, 1)))
            client.socket.setblocking(False)
            try:
                while (got := client.receive()) is not None:
                    if got[0] == wire.R_FAILURE:
                        refused += 1
                        self.assertEqual(got[2][1][0], 4)
            except BlockingIOError:
                pass
            client.socket.settimeout(30)
        client.close()
        self.assertGreater(refused, 0)
        done = self.honest.jobs
        self.assertTrue(eventually(lambda: self.honest.jobs > done + 3))  # with the connection everything came back
        self.honest.may_be_refused = False

    def test_unknown_jobs(self):
        client = self.client()
        for what in (wire.WAIT, wire.RESULT, wire.RELEASE, wire.CANCEL):
            for job in (0, 2**31, 2**64 - 1):
                self.assertEqual(client.ask(what, wire.field(1, job))[0], wire.R_FAILURE)
        for topic in range(12):
            got = client.ask(wire.QUERY, wire.message(f1=topic, f2=2**40))
            self.assertIn(got[0], (wire.R_FAILURE, wire.R_TEXT))
        self.assertTrue(self.client().ask(wire.QUERY, wire.message(f1=99)) is None or True)

    def test_plans(self):
        """Simulated machines with invented values."""
        capability = lambda key, rate: wire.message(f1=key, f2=rate)  # noqa: E731
        device = lambda *c, **more: wire.message(f1="d", f13=list(c), **more)  # noqa: E731
        spec = wire.field(1, 1)
        for rate in (0.0, 1e-300, 1e300, 5e-324, 1e9):
            for devices in ([device(capability("sort.u32", rate))] * 1, [device(capability("sort.u32", rate))] * 16,
                            [device(capability("sort.u32", rate), f10=2**32 - 1, f9=1, f6=1, f7=1)] * 2,
                            [device(capability("sort.u32", rate), f10=3, f11=1e-300, f12=1e300)] * 2):
                for items in (0, 1, 2, 1000, 2**40, 2**63, 2**64 - 1):
                    client = self.client()
                    began = time.monotonic()
                    got = client.ask(wire.PLAN_SORT, wire.message(f1=spec, f2=items, f3=b"", f4=1, f5=1, f6=devices))
                    self.assertTrue(got is None or got[0] in (wire.R_FAILURE, wire.R_TEXT))
                    self.assertLess(time.monotonic() - began, 8.0, f"{rate} {items}")
                    client.close()
                    for fd in client.fds:
                        os.close(fd)
        client = self.client()
        got = client.ask(wire.PLAN_SORT, wire.message(f1=spec, f2=16, f3=b"", f5=1))
        self.assertTrue(got is None or got[0] == wire.R_FAILURE)

    def test_mutated(self):
        """Random changes to valid requests; whatever they mean, hacd goes on."""
        rng = random.Random(int(os.environ.get("HAC_TEST_RANDOM", "1")))
        memfd = os.memfd_create("input")
        os.write(memfd, bytes(4096))
        valid = [wire.request(2, wire.SUBMIT_SORT, wire.sort_inline("f32", os.urandom(64), options=wire.message(
                     f1="cpu.0", f3=1, f4=5, f5=1.0, f6=1 << 30, f7=1),
                     spec=wire.message(f2=1, f4=1, f5=2, f6=2, f7=b"\3"))),
                 wire.request(2, wire.SUBMIT_SORT, wire.sort_descriptor("u64", 0, 0, 4096)),
                 wire.request(2, wire.BUFFER_ALLOC, wire.message(f1=70000, f2=1)),
                 wire.request(2, wire.PLAN_SORT, wire.message(f1=wire.field(1, 2), f2=100000, f3=b"", f4=2, f5=1, f6=[
                     wire.message(f1="a", f2="g", f3="cpu", f5=4, f13=[wire.message(f1="sort.i32", f2=1e8)])] * 3)),
                 wire.request(2, wire.SUBMIT_QUERY, wire.query([wire.message(f1=b"a b\nc\n", f5=6)], group_by="line")),
                 wire.request(2, wire.SUBMIT_QUERY, wire.query([wire.message(f3=0, f5=4096, f6="test")], kind=6)),
                 wire.request(2, wire.PLAN_QUERY, wire.message(f1=wire.query_spec(), f2=b"\x80\x80\x04\x01", f3=b"")),
                 wire.request(2, wire.SUBMIT_QUERY, wire.message(f1=wire.query_spec(), f3=wire.message(f3=1), f4=1, f5="x")),
                 wire.request(2, wire.APPEND_SPLIT, wire.message(f1=1, f2=1, f3=4096, f4=2, f5=1000, f6="x", f7=1)),
                 wire.request(2, wire.QUERY, wire.message(f1=3, f2=1)),
                 wire.request(2, wire.CANCEL, wire.field(1, 1))]
        client, survived = self.client(), 0
        for _ in range(int(os.environ.get("HAC_TEST_MUTATIONS", "2500"))):
            body = bytearray(rng.choice(valid))
            n_fds = 1 if b"test" in body else 0
            for _ in range(rng.choice((0, 1, 1, 2, 3, 8))):
                at = rng.randrange(len(body))
                kind = rng.randrange(4)
                if kind == 0:
                    body[at] = rng.randrange(256)
                elif kind == 1:
                    body[at] ^= 1 << rng.randrange(8)
                elif kind == 2:
                    del body[at:at + rng.randrange(1, 4)]
                else:
                    body[at:at] = os.urandom(rng.randrange(1, 4))
                body = body or bytearray(b"\0")
            if len(body) > 3 and (body[2] >> 3) in (wire.DRAIN, wire.RELOAD, wire.SUBMIT_CALIBRATE):
                continue  # they would do what they say
            try:
                client.send_raw(wire.frame(bytes(body), n_fds), [memfd] * n_fds)
                client.serial += 1
                client.socket.settimeout(0.002)
                while client.receive() is not None:
                    survived += 1
                raise ConnectionResetError
            except TimeoutError:
                client.socket.settimeout(10)
            except OSError:
                client.close()
                client = self.client()
            for fd in client.fds:
                os.close(fd)
            client.fds.clear()
        os.close(memfd)
        self.assertGreater(survived, 100)


class Crowds(HostileCase):
    def test_idle_connections(self):
        """More connections than a user may have: the others are told so, and existing ones go on."""
        clients, refused = [], 0
        for _ in range(300):
            client = wire.Client(self.m.socket, False)
            clients.append(client)
        for client in clients:
            try:
                got = client.ask(wire.HELLO, wire.hello())
            except (BrokenPipeError, ConnectionResetError):
                got = None
            refused += got is None or got[0] == wire.R_FAILURE
        self.assertGreaterEqual(refused, 300 - 256)
        self.assertLess(refused, 100)
        result = self.m.run("devices")
        self.assertEqual(result.code, 4, result)
        self.assertIn("connections", result.err)
        for client in clients:
            client.close()
        self.assertTrue(eventually(lambda: self.m.run("devices").code == 0))

    def test_many_at_once(self):
        """Hostile clients from many threads; the honest one is served within a second, unless other work delays it."""
        def attack(number):
            rng = random.Random(number)
            for _ in range(60):
                try:
                    with wire.Client(self.m.socket, rng.random() < 0.7, 2) as client:
                        for _ in range(rng.randrange(20)):
                            client.send_raw(rng.choice((
                                os.urandom(rng.randrange(1, 5000)),
                                wire.frame(wire.request(9, wire.QUERY, wire.message(f1=rng.randrange(12)))),
                                wire.frame(wire.request(9, wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(20000)))))))
                except OSError:
                    pass
        for turn in range(5):
            self.assertTrue(eventually(lambda: self.honest.jobs > 0))  # its executor has started
            self.honest.slowest = 0.0
            threads = [threading.Thread(target=attack, args=(12 * turn + i,)) for i in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            done = self.honest.jobs
            self.assertTrue(eventually(lambda d=done: self.honest.jobs > d))  # with the one that was in progress
            if self.honest.slowest < 1.0:
                break
        self.assertLess(self.honest.slowest, 1.0)


if __name__ == "__main__":
    main()
