#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A hac-executor whose query.* codelets are a few lines of Python: it counts bytes, whatever the query says. What
goes wrong meanwhile is said, as JSON, by the file `how` in HAC_TEST_COUNTS; so hacd's part of a query can be tested by
itself.

  pad                 bytes that every partial is larger by; halved with each doubling of the passes
  group_pad           the same of a partition's groups
  hint                what query.merge expects of the result's size
  fail                {"codelet": "query.merge", "code": 1, "message": "…", "times": n, "passes_below": n,
                      "program": "…", "first_chunk": n}: of sub-operators, the program that has to be built first;
                      of sources, the one that begins with that chunk; a list of these, too
  die                 {"codelet": …, "times": n, "signal": n}: ends by a signal, SIGKILL if none is said
  wrong               {"codelet": …, "values": […]}: says that instead
  sleep               seconds that each task takes, or those of the codelet `slow` if it is said
  steps               true: it counts steps meanwhile

Sub-operators (op.*) do nothing; {"early": {"codelet": …, "times": n}} answers for the task behind instead. A task that
is to be left out is, and is noted as such.

HAC_TEST_EXECUTOR is the real one, which probes and builds; HAC_TEST_COUNTS a folder where tasks are counted.
"""
import array
import collections
import json
import mmap
import os
import re
import signal
import socket
import struct
import sys
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
import wire  # noqa: E402

SETUP, BUFFER_ADD, BUFFER_REMOVE, DESCRIPTOR_ADD, DESCRIPTOR_REMOVE, RUN, RUNS = 0, 2, 3, 4, 5, 6, 10
OK, FAILED, INVALID, CANCELLED, NO_MEMORY = 0, 1, 2, 5, 6
INLINE = 32768


def packed(data):
    values, at = [], 0
    while at < len(data):
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        values.append(value)
    return values


def params_of(struct, header):
    """The names of a parameter struct's fields, in their order."""
    text = (Path(__file__).resolve().parents[2] / "base/include/base" / header).read_text()
    body = re.search(rf"typedef struct {struct} {{(.*?)}} {struct};", text, re.S).group(1)
    fields = re.findall(r"^\s*uint64_t ([\w, ]+);", re.sub(r"/\*.*?\*/", "", body, flags=re.S), re.M)
    return ", ".join(fields).split(", ")


QUERY_PARAMS = params_of("hac_query_params", "query_layout.h")


class Task:
    def __init__(self, run, buffers, descriptors):
        self.codelet = run[2][0].decode()
        self.first, self.count = run.get(5, [0])[0], run.get(6, [0])[0]
        self.params = packed(run[8][0]) if 8 in run else []
        self.data = run.get(10, [b""])[0]
        self.id, self.behind = run[1][0], run.get(11, [0])[0]
        self.fd = descriptors[run[9][0]] if 9 in run else None
        self.spans = []
        for span in map(wire.decode, run.get(7, [])):
            buffer, offset, size = (span.get(n, [0])[0] for n in (1, 2, 3))
            self.spans.append(memoryview(buffers[buffer])[offset:offset + size] if size else memoryview(b""))

    def __getattr__(self, name):
        return self.params[QUERY_PARAMS.index(name.rstrip("_"))]

    def source(self, first, end, table, behind):
        if self.fd is not None:
            return os.pread(self.fd, end - first, first)
        if len(table):
            return bytes(table[first:end])
        return self.data[behind:][first:end]


class Failure(Exception):
    pass


class Engine:
    """Counts bytes: {byte: count} as JSON behind its length is a partial, and a partition of groups."""

    @staticmethod
    def put(span, at, room, counts, pad):
        text = json.dumps(counts).encode()
        need = 8 + len(text) + pad
        if need <= room:
            span[at:at + 8 + len(text)] = struct.pack("<Q", len(text)) + text
        return need

    @staticmethod
    def get(span, at):
        size, = struct.unpack("<Q", span[at:at + 8])
        return {int(k): v for k, v in json.loads(bytes(span[at + 8:at + 8 + size])).items()}

    @staticmethod
    def count(data, pass_=0, passes=1):
        return {byte: n for byte, n in collections.Counter(data).items() if byte * passes >> 8 == pass_}

    def quotes(self, task, how):
        del how
        for i in range(task.first, task.first + task.count):
            at = 8 * (task.first_chunk + i)
            task.spans[0][at:at + 8] = struct.pack("<Q", i)
        return [], b""

    def aggregate(self, task, how):
        pass_, passes = task.pass_, task.passes or 1
        rows = needed = groups = 0
        for i in range(task.first, task.first + task.count):
            chunk = task.first_chunk + i
            if len(task.spans[1]):
                assert struct.unpack("<Q", task.spans[1][8 * chunk:8 * chunk + 8])[0] == i
            end = min((i + 1) * task.chunk, task.source_bytes)
            data = task.source(i * task.chunk, end, task.spans[2], 0)
            counts = self.count(data, pass_, passes)
            pad = how.get("pad", 0) // passes
            needed = max(needed, self.put(task.spans[0], chunk * task.region, task.region, counts, pad))
            rows, groups = rows + len(data), groups + len(counts)
        return [rows, rows, how.get("skipped", 0), groups, needed, 0, 0, 0], b""

    rows = aggregate

    def merge(self, task, how):
        passes = task.passes or 1
        groups = needed = 0
        for p in range(task.first, task.first + task.count):
            counts = {}
            for c in range(task.chunks):
                for byte, n in self.get(task.spans[0], c * task.region).items():
                    if byte % task.partitions == p:
                        counts[byte] = counts.get(byte, 0) + n
            needed = max(needed, self.put(task.spans[1], p * task.group_region, task.group_region, counts,
                                          how.get("group_pad", 0) // passes))
            groups += len(counts)
        return [groups, needed, how.get("hint", groups * 12)], b""

    @staticmethod
    def result(counts, span):
        text = "value,count\n" + "".join(f"{k},{v}\n" for k, v in sorted(counts.items()))
        text = text.encode()
        if len(span) == 0 and len(text) <= INLINE:
            return [len(counts), len(text)], text
        if len(text) <= len(span):
            span[:len(text)] = text
        return [len(counts), len(text)], b""

    def finish(self, task, how):
        del how
        counts = {}
        for p in range(task.partitions):
            for byte, n in self.get(task.spans[0], p * task.group_region).items():
                counts[byte] = counts.get(byte, 0) + n
        return self.result(counts, task.spans[1])

    def gather(self, task, how):
        del how
        counts = {}
        for c in range(task.chunks):
            for byte, n in self.get(task.spans[0], c * task.region).items():
                counts[byte] = counts.get(byte, 0) + n
        return self.result(counts, task.spans[1])

    def whole(self, task, how):
        data = task.source(0, task.source_bytes, task.spans[1], task.inline_bytes)
        values, text = self.result(self.count(data), task.spans[0] if not how.get("no_inline") else b"x")
        if how.get("no_inline") and len(task.spans[0]) >= values[1]:
            values, text = self.result(self.count(data), task.spans[0])
        return [values[0], values[1]], text


def counted(name, codelet, most):
    """Whether this happened less than `most` times before, anywhere; counts it."""
    folder = os.environ["HAC_TEST_COUNTS"]
    for n in range(most):
        try:
            os.close(os.open(f"{folder}/{name}-{codelet}-{n}", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            return True
        except FileExistsError:
            pass
    return False


class Steps:
    """Of the work of this process, where hacd looks for them."""
    fd, n = -1, 0

    @classmethod
    def count(cls):
        cls.n += 1
        os.pwrite(cls.fd, struct.pack("<Q", cls.n), 0)


def misbehave(task, how):
    with open(os.environ["HAC_TEST_COUNTS"] + "/tasks", "a", encoding="ascii") as log:
        log.write(f"{task.codelet} {task.first} {task.count} {os.getpid()} {task.id} {task.behind}\n")
    end = time.monotonic() + (how.get("sleep", 0) if how.get("slow", task.codelet) == task.codelet else 0)
    while time.monotonic() < end:
        time.sleep(min(0.1, max(0, end - time.monotonic())))
        if how.get("steps"):
            Steps.count()
    fail, die = how.get("fail") or [], how.get("die")
    if die and die["codelet"] == task.codelet and counted("die", task.codelet, die.get("times", 1)):
        os.kill(os.getpid(), die.get("signal", signal.SIGKILL))
    for each in fail if isinstance(fail, list) else [fail]:
        if each["codelet"] != task.codelet or ("first_chunk" in each and task.first_chunk != each["first_chunk"]):
            continue
        if "passes_below" in each and (task.passes or 1) >= each["passes_below"]:
            continue
        if counted("fail", task.codelet, each.get("times", 1000)):
            raise Failure(each["code"], each.get("message", "failed on purpose"), each.get("program", ""))


class Operators:
    """One executor's: what it leaves out, and whether its next answer names the task behind."""
    failed = early = 0

    def run(self, task):
        how = json.loads(Path(os.environ["HAC_TEST_COUNTS"], "how").read_text())
        try:
            if task.behind and self.failed >= task.behind:
                with open(os.environ["HAC_TEST_COUNTS"] + "/tasks", "a", encoding="ascii") as log:
                    log.write(f"left-out {task.codelet} {task.id}\n")
                raise Failure(CANCELLED, "left out")
            misbehave(task, how)
            early = how.get("early", {})
            self.early = early.get("codelet") == task.codelet and counted("early", task.codelet, early["times"])
        except Failure:
            self.failed = task.id
            raise
        return [], b""


def run(task, operators):
    engine = Engine()
    if task.codelet.startswith("op."):
        return operators.run(task)
    how = json.loads(Path(os.environ["HAC_TEST_COUNTS"], "how").read_text())
    misbehave(task, how)
    values, data = getattr(engine, task.codelet.partition(".")[2])(task, how)
    wrong = how.get("wrong")
    if wrong and wrong["codelet"] == task.codelet and counted("wrong", task.codelet, wrong.get("times", 1000)):
        values = wrong["values"]
    return values, data


def done(task_id, code, message, values, data, seconds, program=""):
    fields = {"f1": task_id, "f2": code, "f3": message, "f4": float(seconds), "f10": b""}
    del fields["f10"]
    if values:
        fields["f5"] = b"".join(map(wire.varint, values))
    fields["f6"] = data
    fields["f7"] = program
    return wire.message(**{k: v for k, v in fields.items() if v not in (0, "", b"", 0.0)})


def serve(sock):
    buffers, descriptors, operators = {}, {}, Operators()

    def report(what, body):
        sock.send(wire.frame(wire.field(what, body)))

    def run_and_report(fields):
        began = time.monotonic()
        program = []
        try:
            values, result = run(Task(fields, buffers, descriptors), operators)
            answer = (OK, "", values, result)
        except Failure as failure:
            code, message, *program = failure.args
            answer = (code, message, [], b"")
        report(3, done(fields[1][0] + operators.early, *answer, time.monotonic() - began, *program))

    while True:
        data, control, _, _ = sock.recvmsg(wire.FRAME_MAX, socket.CMSG_SPACE(256))
        fds = array.array("i")
        for level, kind, content in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds.frombytes(content[:len(content) - len(content) % fds.itemsize])
        if not data:
            return
        (what, (body, *others)), = wire.decode(data[8:]).items()
        fields = wire.decode(body)
        if what == 1:
            Steps.fd = fds[0]
            report(2, wire.field(1, wire.message(f1="fake", f20=1024)))
        elif what == BUFFER_ADD:
            buffers[fields[1][0]] = mmap.mmap(fds[0], fields[2][0])
            os.close(fds[0])
        elif what == BUFFER_REMOVE:
            buffers.pop(fields[1][0], None)
        elif what == DESCRIPTOR_ADD:
            descriptors[fields[1][0]] = fds[0]
        elif what == DESCRIPTOR_REMOVE:
            os.close(descriptors.pop(fields[1][0]))
        elif what in (RUN, RUNS):
            for each in (fields, *map(wire.decode, others)):
                run_and_report(each)
        elif what == 8:
            report(6, body)
        elif what == 9:
            return


def main():
    if len(sys.argv) > 1 and sys.argv[1].startswith("--"):
        os.execv(os.environ["HAC_TEST_EXECUTOR"], ["hac-executor", *sys.argv[1:]])
    serve(socket.socket(fileno=3))


main()
