#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_page_seeds.py FOLDER: seeds of fuzz_parquet_file, _numbers, _strings and _codec: small files of pyarrow in every
encoding and codec, pages encoded here, compressed pages."""
import struct
import sys
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "build/python"))
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

N = 40


def varint(v):
    out = b""
    while v >= 0x80:
        out, v = out + bytes([v & 0x7F | 0x80]), v >> 7
    return out + bytes([v])


def zigzag(v):
    return varint(v << 1 if v >= 0 else (-v << 1) - 1)


def pack(values, width):
    return sum(v << (i * width) for i, v in enumerate(values)).to_bytes((len(values) * width + 7) // 8, "little")


def delta(values):
    """One block of four miniblocks of 32."""
    steps = [b - a for a, b in zip(values, values[1:])]
    minimum = min(steps, default=0)
    steps = [s - minimum for s in steps]
    minis = [steps[i:i + 32] for i in range(0, 128, 32)]
    widths = [max(m, default=0).bit_length() for m in minis]
    packed = b"".join(pack(m + [0] * (32 - len(m)), w) for m, w in zip(minis, widths) if m)
    return varint(128) + varint(4) + varint(len(values)) + zigzag(values[0]) + zigzag(minimum) + bytes(widths) + packed


def runs(width):
    return varint(9 << 1) + bytes([1] * ((width + 7) // 8)) + varint(2 << 1 | 1) + pack([i % (1 << width) for i in range(16)], width)


def pages():
    """(target, type, encoding, page) by the tables of fuzz_parquet_values.c."""
    numbers = [3 * i * i - 50 for i in range(100)]
    texts = [b"" if i % 5 == 0 else b"https://example.org/%d" % (i // 3) for i in range(60)]
    prefixes = [0] + [next((k for k, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
                      for a, b in zip(texts, texts[1:])]
    rests = [t[p:] for t, p in zip(texts, prefixes)]
    bools = runs(1)
    for kind in range(8):
        yield "parquet_numbers", kind, 0, struct.pack("<30q", *numbers[:30])
    yield "parquet_numbers", 6, 1, struct.pack("<I", len(bools)) + bools
    yield "parquet_numbers", 2, 2, b"\x05" + runs(5)
    yield "parquet_numbers", 0, 2, b"\x00"
    yield "parquet_numbers", 0, 3, delta(numbers)
    yield "parquet_numbers", 2, 3, delta([n << 40 for n in numbers])
    yield "parquet_numbers", 5, 4, bytes(range(160))
    for kind in (0, 2):
        yield "parquet_strings", kind, 0, b"".join(struct.pack("<I", len(t)) + t for t in texts)
        yield "parquet_strings", kind, 1, delta([len(t) for t in texts]) + b"".join(texts)
        yield "parquet_strings", kind, 2, delta(prefixes) + delta([len(r) for r in rests]) + b"".join(rests)
    yield "parquet_strings", 1, 2, delta([0] + [4] * 20) + delta([5] + [1] * 20) + bytes(range(25))
    yield "parquet_strings", 1, 3, bytes(range(100))
    yield "parquet_strings", 3, 0, bytes(range(18 * 5))


def columns():
    some = [None if i % 7 == 3 else i for i in range(N)]
    text = [None if i % 5 == 1 else f"text {i // 4}" for i in range(N)]
    yield "i32", pa.array(some, pa.int32()), ["PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT", None]
    yield "u8", pa.array(some, pa.uint8()), [None]
    yield "f64", pa.array(some, pa.float64()), ["PLAIN", "BYTE_STREAM_SPLIT", None]
    yield "bool", pa.array([None if v is None else v % 3 == 0 for v in some]), ["PLAIN", "RLE"]
    yield "text", pa.array(text), ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", None]
    yield "fixed", pa.array([None if t is None else t.encode().ljust(7)[:7] for t in text], pa.binary(7)), [
        "PLAIN", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT", None]
    yield "decimal", pa.array([None if v is None else Decimal(v) for v in some], pa.decimal128(21, 2)), ["PLAIN", None]
    yield "nested", pa.array([None if v is None else {"x": text[i]} for i, v in enumerate(some)]), ["PLAIN"]
    lists = [None if i % 7 == 3 else [v for v in some[:i % 5]] for i in range(N)]
    yield "list", pa.array(lists, pa.list_(pa.int32())), ["PLAIN", None]
    yield "texts", pa.array([None if v is None else [text[k or 0] for k in v] for v in lists]), ["DELTA_BYTE_ARRAY", None]
    yield "map", pa.array([None if v is None else [(str(k), k) for k in v if k is not None] for v in lists],
                          pa.map_(pa.string(), pa.int32())), [None]
    yield "time", pa.array(some, pa.timestamp("ns")), ["DELTA_BINARY_PACKED"]


def files(folder):
    codecs = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
    count = 0
    for name, array, encodings in columns():
        leaf = name + {"nested": ".x", "list": ".list.element", "texts": ".list.element"}.get(name, "")
        for encoding in encodings:
            for version in ("1.0", "2.0"):
                pq.write_table(
                    pa.table({name: array}), folder / f"{name}-{encoding}-{version}", store_schema=False,
                    compression=codecs[count % len(codecs)], use_dictionary=[leaf] if encoding is None and name != "map" else encoding is None,
                    column_encoding=None if encoding is None else {leaf: encoding}, data_page_version=version,
                    data_page_size=100 if count % 3 == 0 else 1 << 20, write_batch_size=10, version="2.6",
                    row_group_size=25 if count % 4 == 0 else N, write_page_checksum=count % 5 == 0,
                    write_statistics=False, dictionary_pagesize_limit=30 if count % 4 == 1 else 1 << 20)
                count += 1
    fields = [pa.field("a", pa.int32(), nullable=False), pa.field("b", pa.timestamp("ms"), nullable=False)]
    pq.write_table(pa.table([list(range(60))] * 2, schema=pa.schema(fields)), folder / "required", store_schema=False,
                   compression="none", use_dictionary=False, data_page_size=100, write_batch_size=20, write_statistics=False)


def main(folder):
    for target in ("parquet_file", "parquet_numbers", "parquet_strings", "parquet_codec"):
        (folder / target).mkdir(parents=True, exist_ok=True)
    files(folder / "parquet_file")
    for i, (target, kind, encoding, page) in enumerate(pages()):
        (folder / target / f"{encoding}-{kind}-{i}").write_bytes(bytes([kind, encoding, 3]) + page)
    plain = b"".join(b"row %d of many rows, " % i for i in range(60))
    for number, codec in ((1, "snappy"), (2, "gzip"), (4, "brotli"), (6, "zstd"), (7, "lz4_raw")):
        data = pa.compress(plain, codec=codec, asbytes=True)
        (folder / "parquet_codec" / codec).write_bytes(struct.pack("<BH", number, len(plain)) + data)
    block = pa.compress(plain, codec="lz4_raw", asbytes=True)
    (folder / "parquet_codec" / "hadoop").write_bytes(
        struct.pack("<BH", 5, 2 * len(plain)) + 2 * (struct.pack(">II", len(plain), len(block)) + block))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
