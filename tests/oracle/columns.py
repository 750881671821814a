# SPDX-License-Identifier: Apache-2.0
"""Tables as Arrow columns through libhac, by ctypes: the input for which the device kernels are used."""
import ctypes
import datetime
import struct
from decimal import Context, Decimal

from machine import BUILD

FORMATS = {"i8": "c", "u8": "C", "i16": "s", "u16": "S", "i32": "i", "u32": "I", "i64": "l", "u64": "L", "f32": "f",
           "f64": "g"}
CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q", "f32": "f",
         "f64": "d"}
WIDE = Context(prec=60)
EPOCH = datetime.datetime(1970, 1, 1)
RECEIPT = 5


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.c_void_p), ("release", RELEASE), ("private_data", ctypes.c_void_p)]
ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.c_void_p), ("release", RELEASE),
    ("private_data", ctypes.c_void_p)]


class ConnectOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("socket", ctypes.c_char_p), ("flags", ctypes.c_uint),
                ("software", ctypes.c_char_p), ("starting", ctypes.c_void_p), ("context", ctypes.c_void_p)]


class JobOptions(ctypes.Structure):
    _fields_ = [("devices", ctypes.c_void_p), ("n_devices", ctypes.c_size_t), ("detach", ctypes.c_int),
                ("priority", ctypes.c_int), ("deadline", ctypes.c_double), ("memory_limit", ctypes.c_uint64),
                ("fast", ctypes.c_int), ("progress", ctypes.c_void_p), ("done", ctypes.c_void_p),
                ("context", ctypes.c_void_p)]


class QueryOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("schema", ctypes.c_char_p), ("where", ctypes.c_char_p),
                ("group_by", ctypes.c_char_p), ("select", ctypes.c_char_p), ("order_by", ctypes.c_char_p),
                ("limit", ctypes.c_uint64), ("result_format", ctypes.c_int), ("input_format", ctypes.c_int),
                ("hot_keys", ctypes.c_int), ("sample", ctypes.c_uint32),
                ("hot_share", ctypes.c_uint32), ("work_groups", ctypes.c_uint32), ("work_items", ctypes.c_uint32),
                ("job", JobOptions)]


def packed(column, values):
    """Bytes of the values; a null's bytes are arbitrary."""
    kind, n = column.kind, len(values)
    if kind == "b":
        return sum(1 << i for i, v in enumerate(values) if v).to_bytes(n // 8 + 1, "little")
    if kind == "dec":
        return b"".join(int(Decimal(v or 0).scaleb(column.s, context=WIDE)).to_bytes(16, "little", signed=True)
                        for v in values)
    code = {"d": "i", "t": "q"}.get(kind) or CODES[column.type]
    return struct.pack(f"<{n}{code}", *(7 if v is None else number(kind, v) for v in values))


def number(kind, value):
    if kind == "d":
        return datetime.date.fromisoformat(value).toordinal() - 719163
    if kind == "t":
        return (datetime.datetime.fromisoformat(six(value)) - EPOCH) // datetime.timedelta(microseconds=1)
    return value


def six(text):
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.ljust(6, '0')}"


class Columns:
    """A table's columns as an array of format +s; `skip` rows that are not part of it stand before each column."""

    def __init__(self, rng, table, columns, skip=0):
        self.keep, schemas, arrays = [], [], []
        for column in columns:
            own = skip if rng.random() < 0.5 else 0
            values = [None] * own + column.values if own else column.values
            schemas.append(self.schema(self.format(column, rng), column.name))
            arrays.append(self.array(column, values, own, schemas[-1].format, rng))
        self.schema_at, self.array_at = self.schema("+s", ""), ArrowArray()
        pointers = (ctypes.POINTER(ArrowSchema) * len(schemas))(*map(ctypes.pointer, schemas))
        self.schema_at.n_children, self.schema_at.children = len(schemas), pointers
        children = (ctypes.POINTER(ArrowArray) * len(arrays))(*map(ctypes.pointer, arrays))
        none = (ctypes.c_void_p * 1)(None)
        top = self.array_at
        top.length, top.n_buffers, top.buffers, top.n_children, top.children = table.rows, 1, none, len(
            arrays), children
        top.release = self.nothing
        self.keep += [schemas, arrays, pointers, children, none]

    nothing = RELEASE(lambda _: None)

    def schema(self, form, name):
        schema = ArrowSchema()
        schema.format, schema.name, schema.flags, schema.release = form.encode(), name.encode(), 2, self.nothing
        return schema

    @staticmethod
    def format(column, rng):
        if column.kind == "dec":
            return f"d:{column.p},{column.s}"
        return {"b": "b", "d": "tdD", "t": "tsu:", "s": rng.choice("uU"), "y": rng.choice("zZ")}.get(column.kind) or FORMATS[column.type]

    def array(self, column, values, skip, form, rng):
        array = ArrowArray()
        nulls = sum(v is None for v in values)
        bitmap = None
        if nulls or rng.random() < 0.2:
            bitmap = sum(1 << i for i, v in enumerate(values) if v is not None).to_bytes(len(values) // 8 + 1, "little")
        parts = [bitmap]
        if column.kind in "sy":
            texts = [b"" if v is None else v if column.kind == "y" else v.encode() for v in values]
            offsets = [0]
            for text in texts:
                offsets.append(offsets[-1] + len(text))
            parts += [struct.pack(f"<{len(offsets)}{'q' if form in b'UZ' else 'i'}", *offsets), b"".join(texts)]
        else:
            parts.append(packed(column, values))
        kept = [None if p is None else ctypes.create_string_buffer(p, len(p) + 1) for p in parts]
        pointers = (ctypes.c_void_p * len(kept))(*(None if k is None else ctypes.addressof(k) for k in kept))
        array.length, array.offset, array.n_buffers, array.buffers = len(values) - skip, skip, len(kept), pointers
        array.null_count = rng.choice((nulls, -1)) if bitmap else 0
        array.release = self.nothing
        self.keep += [kept, pointers]
        return array


class Client:
    def __init__(self, socket):
        name = next(BUILD.glob("client-lib/libhac.so*"))
        self.lib = ctypes.CDLL(str(name))
        for function, result in (("hac_job_data", ctypes.c_void_p), ("hac_job_bytes", ctypes.c_uint64),
                                 ("hac_job_id", ctypes.c_uint64)):
            getattr(self.lib, function).restype = result
            getattr(self.lib, function).argtypes = [ctypes.c_void_p]
        self.error = ctypes.create_string_buffer(8192)
        self.handle = ctypes.c_void_p()
        options = ConnectOptions(ctypes.sizeof(ConnectOptions), str(socket).encode(), 1, b"oracle", None, None)
        self.must(self.lib.hac_client_connect(ctypes.byref(options), ctypes.byref(self.handle), self.error))

    def message(self):
        return self.error.raw[4:].split(b"\0")[0].decode(errors="replace")

    def must(self, status):
        if status != 0:
            raise AssertionError(f"libhac says {status}: {self.message()}")

    def query(self, columns, texts, limit=None, hot_keys=0):
        """(status, CSV or message, receipt's text)"""
        o = QueryOptions(
    size=ctypes.sizeof(QueryOptions),
    limit=2**64 -
    1 if limit is None else limit,
     hot_keys=hot_keys)
        for name, text in texts.items():
            setattr(o, name, text.encode())
        job = ctypes.c_void_p()
        status = self.lib.hac_query_arrow(self.handle, ctypes.byref(columns.schema_at), ctypes.byref(columns.array_at),
                                          ctypes.byref(o), ctypes.byref(job), self.error)
        if status != 0:
            return status, self.message(), ""
        status = self.lib.hac_job_wait(job, -1, self.error)
        text = ctypes.string_at(self.lib.hac_job_data(job),
     self.lib.hac_job_bytes(job)) if status == 0 else self.message()
        receipt = self.receipt(self.lib.hac_job_id(job))
        self.lib.hac_job_free(job)
        return status, text, receipt

    def receipt(self, job):
        text = ctypes.c_char_p()
        if self.lib.hac_client_query(self.handle, RECEIPT, ctypes.c_uint64(job),
                                     1, ctypes.byref(text), self.error) != 0:
            return ""
        return text.value.decode()

    def close(self):
        self.lib.hac_client_free(self.handle)
