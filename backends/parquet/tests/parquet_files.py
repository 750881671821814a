# SPDX-License-Identifier: Apache-2.0
"""Parquet files for tests: what the tools beside this say of them, and a reader and writer of Thrift's compact
protocol with which a file's metadata is taken apart, changed and put together again."""
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("HAC_TEST_BUILD", ROOT / "build/dev"))
TOOLS = BUILD / "backends/parquet/tests"
DATA = Path(os.environ.get("HAC_TEST_DATA", "/nonexistent")) / "parquet"
SANITIZED = "HAC_TEST_SANITIZED" in os.environ
NO_DATA = "SKIPPED: $HAC_TEST_DATA/parquet has no files"
NO_ORACLE = "SKIPPED: pyarrow is not installed (`./dev test` puts it into build/python)"

sys.path.insert(0, str(ROOT / "build/python"))

TRUE, FALSE, I8, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)


def corpus(*patterns):
    return sorted(path for pattern in patterns for path in DATA.glob(pattern))


# ---- tools ----

def tool(name, *words, text=None):
    return subprocess.run([str(TOOLS / name), *map(str, words)], input=text, capture_output=True, text=True, check=False)


def run(name, *words, text=None):
    done = tool(name, *words, text=text)
    if done.returncode != 0:
        raise AssertionError(f"{name} {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr[-3000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def describe(path):
    return run("parquet_meta", path)[0]


def prune(path, filters):
    return run("parquet_prune", path, text="".join(f"{line}\n" for line in filters))


# ---- Thrift ----

class Struct(dict):
    """field id -> (type, value); lists are (type of elements, values)."""

    def value(self, *path):
        at = self
        for step in path:
            at = at[step][1] if isinstance(at, Struct) else at[1][step]
        return at

    def put(self, field, kind, value):
        self[field] = (kind, value)
        return self

    def drop(self, *fields):
        for field in fields:
            self.pop(field, None)
        return self


class Decoder:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def integer(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def binary(self):
        size = self.varint()
        self.at += size
        return bytes(self.data[self.at - size:self.at])

    def sequence(self):
        head = self.byte()
        size = self.varint() if head >> 4 == 15 else head >> 4
        return (head & 15, [self.value(head & 15, True) for _ in range(size)])

    def structure(self):
        ret, field = Struct(), 0
        while True:
            head = self.byte()
            if head == 0:
                return ret
            field = field + (head >> 4) if head >> 4 else self.integer()
            ret[field] = (head & 15, self.value(head & 15, False))

    def value(self, kind, element):
        if kind in (TRUE, FALSE):
            return self.byte() == 1 if element else kind == TRUE
        if kind == I8:
            return self.byte()
        if kind in (I16, I32, I64):
            return self.integer()
        if kind == BINARY:
            return self.binary()
        return {LIST: self.sequence, STRUCT: self.structure}[kind]()


def varint(value):
    ret = bytearray()
    while value > 127:
        ret.append(value & 127 | 128)
        value >>= 7
    ret.append(value)
    return bytes(ret)


def zigzag(value):
    return varint((value << 1 ^ value >> 63) & 2**64 - 1)


def encode(kind, value, element=False):
    if kind in (TRUE, FALSE):
        return bytes([1 if value else 2]) if element else b""
    if kind == I8:
        return bytes([value & 255])
    if kind in (I16, I32, I64):
        return zigzag(value)
    if kind == BINARY:
        return varint(len(value)) + value
    if kind == LIST:
        inner, values = value
        head = bytes([len(values) << 4 | inner]) if len(values) < 15 else bytes([0xf0 | inner]) + varint(len(values))
        return head + b"".join(encode(inner, v, True) for v in values)
    ret, last = b"", 0
    for field, (inner, v) in sorted(value.items()):
        inner = (TRUE if v else FALSE) if inner in (TRUE, FALSE) else inner
        step = field - last
        ret += bytes([step << 4 | inner]) if 0 < step < 16 else bytes([inner]) + zigzag(field)
        ret += encode(inner, v)
        last = field
    return ret + b"\0"


# ---- files ----

class File:
    """A file's bytes before its footer, and its FileMetaData."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        size = struct.unpack("<I", data[-8:-4])[0]
        self.body = data[:len(data) - 8 - size]
        self.meta = Decoder(data[len(data) - 8 - size:]).structure()

    def groups(self):
        return self.meta.value(4)[1]

    def chunk(self, group, column):
        return self.groups()[group].value(1)[1][column]

    def column(self, group, column):
        """Its ColumnMetaData."""
        return self.chunk(group, column).value(3)

    def schema(self):
        return self.meta.value(2)[1]

    def bytes(self):
        return with_footer(self.body, encode(STRUCT, self.meta))

    def write(self, path):
        Path(path).write_bytes(self.bytes())
        return path


def with_footer(body, footer):
    return body + footer + struct.pack("<I", len(footer)) + b"PAR1"
