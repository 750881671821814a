#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of daemon/server/fuzz/fuzz_session.c into tests/fuzz/corpus/session: sessions that make sense up to
the answers of the executors, which are made up. Run it after a change of the protocol, and commit what it writes."""
import struct
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import wire  # noqa: E402
from wire import field, message  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent / "fuzz" / "corpus" / "session"
FRAME, PACKET, CONNECT, CLOSE, REPORT, ANSWER, DIE, TICK = range(8)


class Session:
    """A seed: the steps of one input."""

    def __init__(self):
        self.bytes, self.serial = b"", 1

    def ask(self, what, body, client=0, fds=0):
        self.serial += 1
        request = wire.request(self.serial, what, body)
        self.bytes += bytes([FRAME, client, fds]) + struct.pack("<H", len(request)) + request
        return self

    def packet(self, data, client=0, fds=0):
        self.bytes += bytes([PACKET, client, fds]) + struct.pack("<H", len(data)) + data
        return self

    def report(self, child, body):
        self.bytes += bytes([REPORT, child]) + struct.pack("<H", len(body)) + body
        return self

    def answers(self, rounds=6, code=0, values=(), data=b"", children=3):
        """Each of the first children ends its oldest task."""
        for _ in range(rounds):
            for child in range(children):
                self.bytes += bytes([ANSWER, child, code, len(values)]) + struct.pack(f"<{len(values)}H", *values)
                self.bytes += bytes([len(data)]) + data
        return self

    def step(self, *steps):
        self.bytes += bytes(steps)
        return self


def job(number):
    return field(1, number)


def after(session, number=1):
    """What one asks of a job."""
    for what in (wire.WAIT, wire.RESULT):
        session.ask(what, job(number))
    for topic in range(1, 10):
        session.ask(wire.QUERY, message(f1=topic, f2=number))
    return session.ask(wire.RELEASE, job(number))


def sorts():
    small = wire.sort_inline("u32", bytes(range(64)))
    large = wire.sort_buffer("u64", 1, 0, 1 << 20)
    yield "sort_inline", after(Session().ask(wire.SUBMIT_SORT, small).answers())
    yield "sort_buffer", after(Session().ask(wire.BUFFER_ALLOC, field(1, 1 << 20)).ask(wire.SUBMIT_SORT, large).answers(12))
    yield "sort_devices", Session().ask(wire.BUFFER_ALLOC, field(1, 1 << 26)).ask(
        wire.SUBMIT_SORT, wire.sort_buffer("u32", 1, 0, 1 << 26, spec=field(4, 2), options=message(f1=["cpu", "cpu-1"]))
    ).answers(12, values=(100, 200))
    yield "sort_file", Session().ask(wire.SUBMIT_SORT, wire.sort_descriptor("f64", 0, 0, 4096), fds=1).answers()
    yield "sort_grown", Session().ask(wire.BUFFER_ALLOC, message(f1=4096, f2=1)).ask(
        wire.BUFFER_GROW, message(f1=1, f2=1 << 20)).ask(wire.SUBMIT_SORT, wire.sort_buffer("i32", 1, 0, 1 << 20)).ask(
        wire.BUFFER_RELEASE, field(1, 1)).answers()
    yield "sort_detached", Session().ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(64), options=field(2, 1))).step(
        CLOSE, 0, CONNECT, 0).answers().ask(wire.RESULT, job(1))
    yield "sort_lost", Session().ask(wire.SUBMIT_SORT, small).ask(wire.WAIT, job(1)).step(
        DIE, 0, DIE, 1, DIE, 2, TICK, DIE, 0, TICK).answers()
    yield "sort_fails", Session().ask(wire.SUBMIT_SORT, small).ask(wire.WAIT, job(1)).answers(code=1)
    yield "cancel", Session().ask(wire.SUBMIT_SORT, small).ask(wire.WAIT, job(1)).ask(wire.CANCEL, job(1)).answers(1)
    many = Session()
    for priority in range(12):
        many.ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(400), options=message(f4=priority, f5=5.0)))
    yield "sorts", many.answers(4).step(CLOSE, 0).answers(2)


def queries():
    text = message(f1=b"a,b\n1,2\n3,4\n", f5=12)
    spec = dict(kind=2, compiled=wire.ANY_QUERY)
    yield "query_inline", after(Session().ask(wire.SUBMIT_QUERY, wire.query([text], **spec)).answers(
        data=bytes(64), values=(1, 2, 3)))
    yield "query_buffer", Session().ask(wire.BUFFER_ALLOC, field(1, 1 << 22)).ask(
        wire.SUBMIT_QUERY, wire.query([message(f2=1, f5=1 << 22)], compiled=wire.ANY_QUERY)).answers(10, data=bytes(200), values=(5, 6))
    yield "query_files", Session().ask(wire.SUBMIT_QUERY, wire.query(
        [message(f3=0, f5=4096, f6="a"), message(f3=1, f5=4096, f6="b")], kind=6, compiled=wire.ANY_QUERY), fds=2).answers(data=bytes(100))
    yield "query_table", Session().ask(wire.BUFFER_ALLOC, field(1, 8192)).ask(wire.SUBMIT_QUERY, wire.query(
        [message(f2=1, f5=4096)], kind=1, f9=512, compiled=wire.ANY_QUERY)
    ).answers(data=bytes(100))
    yield "plans", Session().ask(wire.PLAN_QUERY, message(f1=wire.query_spec(compiled=wire.ANY_QUERY), f2=b"\x80\x80\x04\x01", f3=b"")).ask(
        wire.PLAN_SORT, message(f1=field(1, 2), f2=100000, f3=b"", f4=2, f5=1, f6=[
            message(f1="a", f2="g", f3="cpu", f5=4, f13=[message(f1="sort.i32", f2=1e8)])] * 3)).ask(
        wire.PLAN_SORT, message(f1=field(1, 1), f2=1 << 24, f3=b"", f4=3))


def streams():
    begin = message(f1=wire.query_spec(compiled=wire.ANY_QUERY), f3=b"", f4=1)
    split = message(f1=1, f2=1, f3=1500, f4=1, f5=400)
    last = message(f1=1, f7=1)

    def open_one():
        return Session().ask(wire.BUFFER_ALLOC, field(1, 100000)).ask(wire.SUBMIT_QUERY, begin).answers(3, data=bytes(64))
    yield "splits", open_one().ask(wire.APPEND_SPLIT, split).answers(6, data=bytes(64), values=(1, 1)).ask(
        wire.APPEND_SPLIT, last).answers(6, data=bytes(64), values=(1, 1)).ask(wire.WAIT, job(1))
    in_file = message(f1=1, f3=4096, f4=2, f5=2048, f8=4096, f13=1, f14=512, f15=64)
    fixed = Session().ask(wire.SUBMIT_QUERY, message(f1=wire.query_spec(kind=8, compiled=wire.ANY_QUERY), f3=b"", f4=1)).answers(3, data=bytes(64))
    yield "splits_in_file", fixed.ask(wire.APPEND_SPLIT, in_file, fds=1).answers(6, data=bytes(64), values=(1, 1)).ask(
        wire.APPEND_SPLIT, in_file, fds=1).step(DIE, 0, TICK).ask(wire.APPEND_SPLIT, last).answers(8, data=bytes(64), values=(1, 1))
    yield "splits_late", open_one().ask(wire.APPEND_SPLIT, last).ask(wire.APPEND_SPLIT, last).ask(
        wire.APPEND_SPLIT, split).answers(6)
    yield "splits_left", open_one().ask(wire.APPEND_SPLIT, split).step(CLOSE, 0).answers(4)
    yield "splits_lost", open_one().ask(wire.APPEND_SPLIT, split).step(DIE, 0, DIE, 1, DIE, 2, TICK).answers(4)


def graphs():
    call = wire.op_call([(1, 11, 0, 0, 1, 1, 0, 0, 0, 0), (1, 11, 1, 0, 512, 1, 0, 0, 0, 0)])
    spans = [(0, 0, 64, 1), (0, 4096, 4096, 0)]
    tasks = [wire.op_task("op.reduce", spans, call, count=512), wire.op_task("op.reduce", spans, call, count=512, after=b"\0", f13=1)]
    yield "ops", after(Session().ask(wire.BUFFER_ALLOC, field(1, 1 << 16)).ask(wire.SUBMIT_OPS, wire.ops([1], tasks)).answers(8))
    yield "ops_twice", Session().ask(wire.BUFFER_ALLOC, field(1, 1 << 16)).ask(wire.SUBMIT_OPS, wire.ops([1], tasks)).ask(
        wire.SUBMIT_OPS, wire.ops([1], tasks)).ask(wire.SUBMIT_OPS, wire.ops([2], tasks)).answers(8)
    one, last = message(f1=1, f2=wire.ops([1], tasks), f3="a line"), message(f1=1, f3="the end", f4=1)

    def open_one():
        return Session().ask(wire.BUFFER_ALLOC, field(1, 1 << 16)).ask(wire.SUBMIT_OPS, wire.ops([], [], f8=1))
    yield "graphs", open_one().ask(wire.APPEND_GRAPH, one).answers(8).ask(wire.APPEND_GRAPH, one).answers(8).ask(
        wire.APPEND_GRAPH, last).ask(wire.WAIT, job(1))
    yield "graphs_late", open_one().ask(wire.APPEND_GRAPH, one).ask(wire.APPEND_GRAPH, one).answers(8).ask(
        wire.APPEND_GRAPH, last).ask(wire.APPEND_GRAPH, one)
    bad = message(f1=1, f2=wire.ops([7], tasks))
    yield "graphs_two", open_one().ask(wire.APPEND_GRAPH, one).ask(wire.APPEND_GRAPH, one).answers(16).ask(
        wire.APPEND_GRAPH, one).ask(wire.APPEND_GRAPH, bad).answers(8).ask(wire.APPEND_GRAPH, last).ask(wire.WAIT, job(1))
    yield "graphs_two_cancelled", open_one().ask(wire.APPEND_GRAPH, one).ask(wire.APPEND_GRAPH, one).ask(
        wire.CANCEL, job(1)).answers(8)
    yield "graphs_two_left", open_one().ask(wire.APPEND_GRAPH, one).ask(wire.APPEND_GRAPH, one).step(CLOSE, 0).answers(4)
    yield "graphs_two_lost", open_one().ask(wire.APPEND_GRAPH, one).ask(wire.APPEND_GRAPH, one).step(
        DIE, 0, DIE, 1, DIE, 2, TICK).answers(16)
    yield "graphs_left", open_one().ask(wire.APPEND_GRAPH, one).step(CLOSE, 0).answers(4)
    yield "graphs_lost", open_one().ask(wire.APPEND_GRAPH, one).step(DIE, 0, DIE, 1, DIE, 2, TICK).answers(8)
    yield "output", open_one().ask(wire.OUTPUT, job(1)).ask(wire.APPEND_GRAPH, last).answers(4).ask(
        wire.OUTPUT, message(f1=1, f2=1, f3=message(f1=5, f2="no space"))).ask(wire.WAIT, job(1)).ask(wire.OUTPUT, job(1))
    yield "output_left", open_one().ask(wire.OUTPUT, job(1)).ask(wire.APPEND_GRAPH, last).answers(4).step(CLOSE, 0).answers(2)
    yield "plan_ops", Session().ask(wire.PLAN_OPS, message(f1=wire.ops([], tasks), f2=b"\x80\x80\x04"))


def administration():
    yield "calibrate", Session().ask(wire.SUBMIT_CALIBRATE, message(f4=wire.ANY_QUERY)).answers(12)
    yield "tune", Session().ask(wire.SUBMIT_CALIBRATE, message(f2=1, f4=wire.ANY_QUERY)).answers(12).ask(24, field(2, 1))
    yield "build_kernels", Session().ask(18, field(1, "cpu"), fds=1).report(0, field(8, message(f3=100, f4=2))).report(
        1, field(8, message(f3=100, f4=2)))
    yield "drain", Session().ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(64))).ask(wire.DRAIN, b"").ask(
        wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(64))).answers(4).step(TICK, TICK)
    yield "reload", Session().ask(wire.RELOAD, b"").step(TICK, TICK).ask(wire.QUERY, field(1, 1))
    topics = Session()
    for topic in range(1, 13):
        topics.ask(wire.QUERY, message(f1=topic))
    yield "topics", topics.ask(99, b"")


def breaches():
    yield "not_greeted", Session().step(130, 1).ask(wire.QUERY, field(1, 1), client=1)
    yield "greets_twice", Session().ask(wire.HELLO, wire.hello())
    yield "other_version", Session().step(130, 1).ask(wire.HELLO, wire.hello(1), client=1)
    yield "packets", Session().packet(b"junk").step(CONNECT, 1).packet(wire.frame(b""), 1).step(CONNECT, 2).packet(
        wire.frame(b"\xff" * 10, 3), 2, 3)
    yield "too_many_descriptors", Session().ask(wire.QUERY, field(1, 1), fds=9)
    reports = Session().ask(wire.SUBMIT_SORT, wire.sort_inline("u32", bytes(64)))
    for child in range(3):
        reports.report(child, field(3, message(f1=1, f2=1, f3="no", f4=1e-3, f7="sort"))).report(child, field(7, "dead"))
        reports.report(child, field(9, field(1, 77)) + field(9, field(1, 78)))
        reports.report(child, field(6, field(1, 1))).report(child, field(3, field(1, 77))).report(child, b"\xff\xff")
    yield "reports", reports


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in (sorts, queries, streams, graphs, administration, breaches):
        for name, session in make():
            (FOLDER / name).write_bytes(session.bytes)


if __name__ == "__main__":
    main()
