# SPDX-License-Identifier: Apache-2.0
"""Conversations between clients and hacd: recorded by a proxy between the two, kept as JSON, and played to either of them.

A conversation is a list of packets: who sent it ("client" or "hacd"), its bytes, and the descriptors that came with it, each
with the bytes of its file ("file") and, of memory, its seals. Before a packet of the client, "wrote" has what the client wrote into
memory that hacd had sent: {index of the memory, counted over the conversation: bytes}."""
import base64
import errno
import fcntl
import json
import os
import select
import socket
import tempfile
import threading
import zlib

import wire

F_ADD_SEALS, F_GET_SEALS, F_SEAL_EXEC = 1033, 1034, 0x20
CONTENT_MAX = 1 << 20


def pack(data):
    return base64.b64encode(zlib.compress(data, 9)).decode()


def unpack(text):
    return zlib.decompress(base64.b64decode(text))


def seals(fd):
    try:
        return fcntl.fcntl(fd, F_GET_SEALS)
    except OSError:
        return None


def content(fd):
    """What is in the file; of memory, which is larger than what is in use, up to the last byte that is not 0."""
    data = os.pread(fd, CONTENT_MAX, 0)
    return data if seals(fd) is None else data.rstrip(b"\0")


def request_of(packet):
    """(what, serial, fields) of a client's packet, or of hacd's."""
    fields = wire.decode(packet[8:])
    serial = fields.pop(1, [0])[0]
    (what, values), = fields.items()
    return what, serial, wire.decode(values[0])


def receive(connection):
    """(packet, descriptors); b"" at the end."""
    try:
        data, fds, _, _ = socket.recv_fds(connection, wire.FRAME_MAX, 64)
    except OSError as problem:
        if problem.errno not in (errno.ECONNRESET, errno.EBADF):
            raise
        return b"", []
    return data, fds


def send(connection, packet, fds):
    try:
        socket.send_fds(connection, [packet], fds)
    except (BrokenPipeError, ConnectionResetError):
        pass


class Recorder:
    """A socket that passes all on to hacd's, and keeps a conversation for each connection."""

    def __init__(self, path, hacd):
        self.hacd, self.conversations = str(hacd), []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(path))
        self.listener.listen(16)
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.conversations.append([])
            self.pass_on(client, self.conversations[-1])

    def pass_on(self, client, packets):
        hacd = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        hacd.connect(self.hacd)
        memory, written = [], []
        with client, hacd:
            while True:
                for one in select.select([client, hacd], [], [])[0]:
                    data, fds = receive(one)
                    if not data:
                        return
                    packet = {"from": "client" if one is client else "hacd", "data": pack(data)}
                    if fds:
                        packet["fds"] = [{"file": pack(content(fd)), "bytes": os.fstat(fd).st_size, "seals": seals(fd)} for fd in fds]
                    if one is client:
                        now = [content(fd) for fd in memory]
                        changed = {i: pack(text) for i, text in enumerate(now) if text != written[i]}
                        packet.update({"wrote": changed} if changed else {})
                        written = now
                    else:
                        memory += fds
                        written += [content(fd) for fd in fds]
                    packets.append(packet)
                    send(hacd if one is client else client, data, fds)

    def close(self):
        self.listener.close()


def descriptors_of(packet):
    """Files and memory with the recorded bytes and seals."""
    fds = []
    for one in packet.get("fds", []):
        if one["seals"] is None:
            with tempfile.TemporaryFile() as file:
                file.write(unpack(one["file"]))
                file.flush()
                fds.append(os.dup(file.fileno()))
            continue
        fd = os.memfd_create("recorded", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, one["bytes"])
        os.pwrite(fd, unpack(one["file"]), 0)
        # of memory that could be run, F_SEAL_EXEC would take the right to write, too
        fcntl.fcntl(fd, F_ADD_SEALS, one["seals"] & ~F_SEAL_EXEC)
        fds.append(fd)
    return fds


class Replayer:
    """Plays the client. Yields (recorded answer, answer, recorded bytes of its memory, bytes) for all answers to requests."""

    def __init__(self, path, packets):
        self.client, self.packets, self.memory, self.got = wire.Client(path, False, 60.0), packets, [], {}

    def read_until(self, serial):
        while serial not in self.got:
            before = len(self.client.fds)
            got = self.client.receive()
            if got is None:
                raise AssertionError(f"hacd ended the connection before it answered request {serial}")
            fds = self.client.fds[before:]
            self.memory += fds
            if got[1] != 0:
                self.got[got[1]] = (got[0], got[2], fds)

    def pairs(self):
        for packet in self.packets:
            data = unpack(packet["data"])
            if packet["from"] == "client":
                for index, text in packet.get("wrote", {}).items():
                    os.pwrite(self.memory[int(index)], unpack(text), 0)
                fds = descriptors_of(packet)
                self.client.send_raw(data, fds)
                for fd in fds:
                    os.close(fd)
                continue
            what, serial, fields = request_of(data)
            if serial == 0:
                continue
            self.read_until(serial)
            now, new, fds = self.got.pop(serial)
            recorded = [unpack(one["file"]) for one in packet.get("fds", [])]
            yield (what, fields, recorded), (now, new, [content(fd) for fd in fds])

    def close(self):
        for fd in self.client.fds:
            os.close(fd)
        self.client.close()


class Player:
    """Plays hacd: answers each request with the recorded answers to the next request of that kind."""

    def __init__(self, path, conversations):
        self.conversations, self.problem = list(conversations), None
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(path))
        self.listener.listen(16)
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        for packets in self.conversations:
            client, _ = self.listener.accept()
            with client:
                self.answer_all(client, packets)

    def answer_all(self, client, packets):
        packets = [(p["from"], unpack(p["data"]), p) for p in packets]
        requests = [(i, *request_of(data)[:2]) for i, (who, data, _) in enumerate(packets) if who == "client"]
        while True:
            data, fds = receive(client)
            for fd in fds:
                os.close(fd)
            if not data:
                return
            what, serial, _ = request_of(data)
            found = next((r for r in requests if r[1] == what), None)
            if found is None:
                self.problem = f"the client asked for {what}, which the recorded one did not"
                return
            requests.remove(found)
            for who, answer, packet in packets[found[0]:]:
                if who == "hacd" and request_of(answer)[1] == found[2]:
                    memory = descriptors_of(packet)
                    fields = wire.decode(answer[8:])
                    body = wire.field(1, serial) + b"".join(wire.field(n, v[0]) for n, v in fields.items() if n != 1)
                    send(client, wire.frame(body, len(memory)), memory)
                    for fd in memory:
                        os.close(fd)

    def close(self):
        self.listener.close()


def load(path):
    return json.loads(path.read_text(encoding="ascii"))


def save(path, commands):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(commands, indent=0) + "\n", encoding="ascii")
