# SPDX-License-Identifier: Apache-2.0
"""A regular file whose reads are answered up to some byte and never behind it: a FUSE file system of one file, served
by a thread of the test. Needs root and /dev/fuse; `problem` says what is missing."""
import ctypes
import os
import stat
import struct
import tempfile
import threading

LOOKUP, GETATTR, OPEN, READ, INIT, FLUSH, RELEASE = 1, 3, 14, 15, 26, 25, 18
ENOENT, ENOSYS = 2, 38
MNT_FORCE, MNT_DETACH = 1, 2
ROOT, FILE = 1, 2


class SlowFile:
    def __init__(self, size, answered, silent=()):
        """`silent`: kinds of requests that are not answered either, from mute() on."""
        self.size, self.answered, self.problem, self.silent, self.muted = size, answered, None, silent, False
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.folder = tempfile.mkdtemp(prefix="hac-slow-")
        self.path = os.path.join(self.folder, "file")
        try:
            self.device = os.open("/dev/fuse", os.O_RDWR)
        except OSError as problem:
            self.problem = str(problem)
            os.rmdir(self.folder)
            return
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if self.libc.mount(b"hac-slow", self.folder.encode(), b"fuse", 6, options) != 0:  # NOSUID | NODEV
            self.problem = f"mounting needs root: {os.strerror(ctypes.get_errno())}"
            os.close(self.device)
            os.rmdir(self.folder)
            return
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def close(self):
        """Whoever still waits for an answer gets an error: until then not even SIGKILL ends the wait."""
        self.libc.umount2(self.folder.encode(), MNT_FORCE)
        self.libc.umount2(self.folder.encode(), MNT_DETACH)
        os.rmdir(self.folder)

    def mute(self):
        self.muted = True

    def attributes(self, node):
        """They are asked for again each time: nothing of them is kept."""
        mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (stat.S_IFREG | 0o644, self.size)
        return struct.pack("<6Q10I", node, size, size // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def answer(self, code, node, body):
        """The bytes of the answer; None: none, ever. A negative number: an error."""
        if self.muted and code in self.silent:
            return None
        if code == INIT:
            return struct.pack("<IIII HH II HH 8I", 7, 31, 65536, 0, 16, 12, 65536, 1, 1, 0, *[0] * 8)
        if code == LOOKUP:
            return struct.pack("<4QII", FILE, 0, 0, 0, 0, 0) + self.attributes(FILE) if body == b"file\0" else -ENOENT
        if code == GETATTR:
            return struct.pack("<QII", 0, 0, 0) + self.attributes(node)
        if code == OPEN:
            return struct.pack("<QII", 1, 1, 0)  # read past the page cache
        if code == READ:
            _, offset, size = struct.unpack_from("<QQI", body)
            return bytes(min(size, self.size - offset)) if offset + size <= self.answered else None
        return b"" if code in (FLUSH, RELEASE) else -ENOSYS

    def serve(self):
        try:
            self.serve_requests()
        finally:
            os.close(self.device)  # or whoever opens the file would wait for ever

    def serve_requests(self):
        while True:
            try:
                request = os.read(self.device, 1 << 17)
            except OSError:
                return
            _, code, unique, node = struct.unpack_from("<IIQQ", request)
            answer = self.answer(code, node, request[40:])
            if answer is None or code == 2:  # FORGET has no answer
                continue
            error, data = (answer, b"") if isinstance(answer, int) else (0, answer)
            try:
                os.write(self.device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
            except OSError:
                return
