# SPDX-License-Identifier: Apache-2.0
"""hacd's client protocol by hand: frames, and as much of protobuf as tests need. See proto/client.proto."""
import array
import functools
import os
import socket
import struct
import subprocess
from pathlib import Path

VERSION = 13
FRAME_MAX = 65536
# Request.what
HELLO, BUFFER_ALLOC, BUFFER_GROW, BUFFER_RELEASE, SUBMIT_SORT, PLAN_SORT, QUERY = range(2, 9)
WAIT, RESULT, RELEASE, CANCEL, SUBMIT_CALIBRATE, DRAIN, RELOAD, SUBMIT_QUERY, PLAN_QUERY = range(9, 18)
BUILD_KERNELS = 18
APPEND_SPLIT, SUBMIT_OPS, PLAN_OPS, APPEND_GRAPH, OUTPUT, REVERT_TUNING, MORE_TEXT, HOLD = range(19, 27)
# Response.what
R_HELLO, R_FAILURE, R_BUFFER, R_ACCEPTED, R_EVENT, R_DONE, R_TEXT, R_OK, R_SPLIT_DONE, R_GRAPH_DONE = range(2, 12)
TYPE = {name: number for number, name in enumerate(("none", "u32", "i32", "f32", "u64", "i64", "f64"))}


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """int: varint; bytes and str: length-delimited; float: 64 bits."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, (bytes, bytearray)):
        return varint(number << 3 | 2) + varint(len(value)) + bytes(value)
    return varint(number << 3) + varint(int(value))


def message(**fields):
    """message(f1=…, f2=…): a message's bytes; a list repeats the field."""
    out = b""
    for name, value in fields.items():
        for one in value if isinstance(value, list) else [value]:
            out += field(int(name[1:]), one)
    return out


def request(serial, what, body):
    return field(1, serial) + field(what, body)


def hello(version=VERSION, software="test"):
    return message(f1=version, f2=software)


def sort_inline(kind, data, options=b"", spec=b""):
    return message(f1=field(1, TYPE[kind]) + spec, f2=message(f1=data, f5=len(data)), f4=options)


def sort_buffer(kind, buffer, offset, size, options=b"", spec=b""):
    return message(f1=field(1, TYPE[kind]) + spec, f2=message(f2=buffer, f4=offset, f5=size), f4=options)


def sort_descriptor(kind, index, offset, size, options=b"", spec=b""):
    return message(f1=field(1, TYPE[kind]) + spec, f2=message(f3=index, f4=offset, f5=size, f6="test"), f4=options)


class BadQuery(Exception):
    """What the compiler says of a query."""


@functools.lru_cache(maxsize=256)
def compiled_query(*arguments):
    """The packed CompiledQuery of a query, as libhac sends it."""
    program = Path(os.environ["HAC_TEST_BUILD"], "client-lib", "hac_compile_query")
    made = subprocess.run([program, *arguments], capture_output=True, check=False)
    if made.returncode != 0:
        raise BadQuery(made.stderr.decode().strip())
    return made.stdout


ANY_QUERY = b"\x0a\x08a query!\x10\x01\x18\x01\x20\x30\x28\x20\x30\x40"  # for hacd, which does not look into it


def input_options(kind, header, skip):
    """Numbers and values of options (base/input_options.def): 0 no_header, of csv and tsv; 4 on_error."""
    values = ((0, kind in (2, 3) and not header), (4, skip))
    return b"".join(struct.pack("<BBQ", number, 8, 1) for number, value in values if value)


def query_spec(select="count() as n", kind=5, header=0, schema="", where="", group_by="", order_by="", columns="",
               table=None, skip=0, limit=None, output=0, compiled=None, **more):
    """kind: 2 csv, 5 lines ... (client.proto has the other numbers). columns: a schema that only the source has.
    table: (rows, [(name, type, (kind, precision, scale, large, validity, values, bytes, n_bytes))])."""
    rows = 0
    if compiled is None:
        arguments = [f"schema={schema}", f"where={where}", f"group_by={group_by}", f"select={select}",
                     f"order_by={order_by}", f"kind={kind}", f"header={header}", f"skip={skip}", f"output={output}"]
        if limit is not None:
            arguments.append(f"limit={limit}")
        if table is not None:
            rows, places = table
            columns = ",".join(f"{name}:{kind}" for name, kind, _ in places)
            arguments += ["place=" + ",".join(map(str, place)) for _, _, place in places]
        compiled = compiled_query(*arguments, f"columns={columns}") if columns else compiled_query(*arguments)
    fields = {"f1": message(f1=kind, f2=input_options(kind, header, skip)), "f2": compiled, "f4": output, "f7": int(order_by != ""), "f9": rows}
    if limit is not None:
        fields |= {"f5": limit, "f6": 1}
    fields = {name: value for name, value in {**fields, **more}.items() if value not in (0, b"") or name == "f1"}
    return message(**{name: fields[name] for name in sorted(fields, key=lambda f: int(f[1:]))})


def query(inputs, options=b"", **spec):
    return message(f1=query_spec(**spec), f2=inputs, f3=options)


def op_call(operands, function=0, n_operands=None, program=b"", flags=0, a=0.0, b=0.0, n=0):
    """operands: (form, kind, span, first, rows, columns, entries, values, offsets, indices) (hac/op.h)."""
    out = struct.pack("<QIIIIddQ", 0x314C4C4143434148, function, len(operands) if n_operands is None else n_operands,
                      len(program), flags, a, b, n)
    for form, kind, span, *sizes in operands:
        out += struct.pack("<BBBBI7Q", form, kind, span, 0, 0, *sizes)
    return out + program


def op_task(codelet, spans, call, kind=6, count=0, grain=0, after=b"", **more):
    """spans: (buffer, offset, bytes, written)."""
    fields = {"f1": codelet, "f3": kind, "f5": count, "f6": grain, "f8": call,
              "f7": [message(f1=b, f2=o, f3=n, f4=w) for b, o, n, w in spans], "f9": after, **more}
    return message(**{name: value for name, value in sorted(fields.items(), key=lambda f: int(f[0][1:]))
                      if value not in (0, b"")})


def ops(buffers, tasks, options=b"", **more):
    packed = b"".join(varint(b) for b in buffers)
    fields = {"f2": packed, "f3": tasks, "f4": options, **more}
    return message(**{name: fields[name] for name in sorted(fields, key=lambda f: int(f[1:])) if fields[name] != b"" or name == "f4"})


def decode(data):
    """{number: [values]}: ints, floats as ints, and bytes for what is length-delimited."""
    fields, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = number()
        if key & 7 == 0:
            value = number()
        elif key & 7 == 2:
            size = number()
            value, at = data[at:at + size], at + size
        else:
            size = 8 if key & 7 == 1 else 4
            value, at = int.from_bytes(data[at:at + size], "little"), at + size
        fields.setdefault(key >> 3, []).append(value)
    return fields


def frame(body, n_fds=0, length=None, magic=b"hac"):
    return magic + bytes([n_fds]) + struct.pack("<I", len(body) if length is None else length) + body


class Client:
    """A client without manners."""

    def __init__(self, path, greet=True, timeout=30.0):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(str(path))  # waits for room in the backlog
        self.socket.settimeout(timeout)
        self.serial = 0
        self.fds = []
        if greet:
            self.ask(HELLO, hello())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send_raw(self, data, fds=()):
        if fds:
            self.socket.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))])
        else:
            self.socket.send(data)

    def send(self, what, body, fds=()):
        self.serial += 1
        self.send_raw(frame(request(self.serial, what, body), len(fds)), fds)
        return self.serial

    def receive(self):
        """One response, as (what, fields); None at the end of the connection. Descriptors go to self.fds."""
        try:
            data, control, _, _ = self.socket.recvmsg(FRAME_MAX, socket.CMSG_SPACE(64))
        except ConnectionResetError:
            return None
        for level, kind, content in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                fds = array.array("i")
                fds.frombytes(content[:len(content) - len(content) % fds.itemsize])
                self.fds += fds
        if not data:
            return None
        fields = decode(data[8:])
        serial = fields.pop(1, [0])[0]
        (what, values), = fields.items()
        return what, serial, decode(values[0])

    def answer(self, serial):
        """The response to that request; events and others are dropped. None: the connection has ended."""
        while True:
            got = self.receive()
            if got is None or got[1] == serial:
                return got and (got[0], got[2])

    def ask(self, what, body, fds=()):
        return self.answer(self.send(what, body, fds))

    def text(self, what, body):
        """The text that answers a request, or the other answer."""
        serial = self.send(what, body)
        got = self.answer(serial)
        text = b""
        while got is not None and got[0] == R_TEXT:
            text += got[1].get(1, [b""])[0]
            if len(text) == got[1].get(2, [0])[0]:
                return text.decode()
            got = self.ask(MORE_TEXT, message(f1=serial, f2=len(text)))
        return got

    def ended(self):
        """Whether the daemon closes the connection, whatever it says before that."""
        try:
            while self.receive() is not None:
                pass
        except TimeoutError:
            return False
        return True
