# SPDX-License-Identifier: Apache-2.0
"""A client that hands its input over in splits, by hand (base/split_layout.h, proto/client.proto)."""
import os
import struct

import wire

SET_BYTES = 1 << 20
MAGIC = 0x31544c5053434148
R_SPLIT_DONE = wire.R_SPLIT_DONE


def sets_of(data, size=SET_BYTES):
    """Lines, as data sets that own those that start in them."""
    found, at = [], 0
    for end in range(size, len(data), size):
        cut = data.find(b"\n", end - 1) + 1
        if cut == 0:
            break
        if cut > at:
            found.append(data[at:cut])
            at = cut
    return found + ([data[at:]] if at < len(data) else [])


def pack(sets, head=b"", lines_before=0):
    """The bytes of a split."""
    starts, at = [], len(head)
    for each in sets:
        starts.append(at)
        at += len(each)
    starts.append(at)
    offset = (64 + 8 * len(starts) + 63) // 64 * 64
    header = struct.pack("<QQQQII", MAGIC, offset, at, lines_before, len(sets), len(head)).ljust(64, b"\0")
    return (header + struct.pack(f"<{len(starts)}Q", *starts)).ljust(offset, b"\0") + head + b"".join(sets)


class Refused(Exception):
    """A Failure; code is hac_status's."""

    def __init__(self, fields):
        self.code = fields.get(1, [0])[0]
        super().__init__(fields.get(2, [b""])[0].decode())


class Job:
    """One job whose input comes in splits."""

    def __init__(self, client, buffers=3, options=b"", name="stream", **spec):
        self.client, self.room, self.options = client, buffers, options
        self.buffers = {}  # id: (memfd, bytes)
        self.free = []     # ids
        self.waiting = {}  # serial: id, or 0
        self.rows = b""
        self.enough = False
        self.answered = 0
        self.events = []
        self.results = client.__dict__.setdefault("memfds", {})  # id: what hacd has sent once
        self.early = []    # answers that came before they were waited for, with their descriptors
        self.told = set()  # serials of requests whose answers do not matter
        body = wire.message(f1=wire.query_spec(**spec), f3=options, f4=1, f5=name)
        self.id = self.expect(client.ask(wire.SUBMIT_QUERY, body), wire.R_ACCEPTED)[1][0]

    @staticmethod
    def expect(answer, what):
        if answer is None:
            raise ConnectionError("hacd has closed the connection")
        if answer[0] == wire.R_FAILURE:
            raise Refused(answer[1])
        assert answer[0] == what, answer
        return answer[1]

    def buffer(self, size):
        """The id of a buffer that nobody uses, with so much room."""
        while not self.free and len(self.buffers) >= self.room:
            self.take_answer()
        for i, known in enumerate(self.free):
            if self.buffers[known][1] >= size:
                return self.free.pop(i)
        if self.free:
            old = self.free.pop()
            del self.buffers[old]
            self.ask(wire.BUFFER_RELEASE, wire.message(f1=old), wire.R_OK)
        got = self.ask(wire.BUFFER_ALLOC, wire.message(f1=size), wire.R_BUFFER)
        known = got[1][0]
        if got.get(3, [0])[0]:
            self.results[known] = self.client.fds.pop()
        self.buffers[known] = (self.results[known], got[2][0])
        return known

    def append(self, sets, head=b"", lines_before=0, last=False, name="stream", data=None):
        """Hands over one split; returns its serial."""
        data = pack(sets, head, lines_before) if data is None else data
        buffer = self.buffer(len(data))
        os.pwrite(self.buffers[buffer][0], data, 0)
        largest = max([len(each) for each in sets], default=0)
        fields = {"f1": self.id, "f2": buffer, "f3": len(data)}
        if sets:
            fields.update(f4=len(sets), f5=largest)
        serial = self.client.send(wire.APPEND_SPLIT, wire.message(**fields, f6=name, **({"f7": 1} if last else {})))
        self.waiting[serial] = buffer
        return serial

    def finish(self):
        """No split follows."""
        self.waiting[self.client.send(wire.APPEND_SPLIT, wire.message(f1=self.id, f7=1))] = 0
        while self.waiting:
            self.take_answer()

    def ask(self, what, body, expected):
        """An answer that is none to a split; those wait."""
        serial = self.client.send(what, body)
        while True:
            before = len(self.client.fds)
            got = self.client.receive()
            if got is not None and got[1] != serial:
                self.early.append((got, self.client.fds[before:]))
                del self.client.fds[before:]
                continue
            return self.expect(got and (got[0], got[2]), expected)

    def take_answer(self):
        """The next answer to a split."""
        while True:
            got, fds = self.early.pop(0) if self.early else (self.client.receive(), [])
            self.client.fds += fds
            if got is None:
                raise ConnectionError("hacd has closed the connection")
            what, serial, fields = got
            if what == wire.R_EVENT:
                self.events.append(fields)
                continue
            if serial in self.told:
                continue
            buffer = self.waiting.pop(serial)
            if buffer:
                self.free.append(buffer)
            if what == wire.R_FAILURE:
                raise Refused(fields)
            assert what == R_SPLIT_DONE, got
            self.answered += bool(buffer)
            self.enough |= bool(fields.get(6, [0])[0])
            self.rows += self.result(fields, 3, 4, 5)
            return

    def result(self, fields, data, buffer, size):
        """Bytes of a result, and its buffer back."""
        if data in fields:
            return fields[data][0]
        if buffer not in fields:
            return b""
        described = wire.decode(fields[buffer][0])
        known = described[1][0]
        if described.get(3, [0])[0]:
            self.results[known] = self.client.fds.pop()
        fd = self.results[known]
        self.told.add(self.client.send(wire.BUFFER_RELEASE, wire.message(f1=known)))
        return os.pread(fd, fields.get(size, [0])[0], 0)

    def wait(self):
        """The job's end: its result's bytes. Refused: it failed."""
        done = self.expect(self.client.ask(wire.WAIT, wire.message(f1=self.id)), wire.R_DONE)
        if done.get(2, [0])[0] != 3:
            raise Refused(wire.decode(done.get(3, [b""])[0]))
        if 5 in done:
            described = wire.decode(done[5][0])
            known = described[1][0]
            if described.get(3, [0])[0]:
                self.results[known] = self.client.fds.pop()
            return os.pread(self.results[known], done[6][0], 0)
        return done.get(4, [b""])[0]

    def run(self, data, split_sets=16, head=b"", size=SET_BYTES):
        """All of `data` (behind `head`) in splits of so many data sets; the result."""
        sets = sets_of(data, size)
        lines = head.count(b"\n")
        for i in range(0, len(sets), split_sets):
            part = sets[i:i + split_sets]
            self.append(part, head, lines)
            lines += sum(each.count(b"\n") for each in part)
        self.finish()
        return self.wait()
