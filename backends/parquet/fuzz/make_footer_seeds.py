#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_footer_seeds.py FOLDER: small files whose metadata has a bit of everything, as seeds of fuzz_parquet_footer."""
import datetime
import sys
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "build/python"))
import duckdb  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

OPTIONS = {"store_schema": False, "compression": "none"}
NUMBERS = {"i8": pa.array([1, None, -3], pa.int8()), "u32": pa.array([1, 2, 3], pa.uint32()), "f": pa.array([1.0, 2, 3]),
           "h": pa.array([1, 2, 3], pa.float16()), "b": pa.array([True, False, None])}
OTHERS = {"d": pa.array([Decimal("1.5")] * 3, pa.decimal128(20, 1)), "t": pa.array([1, 2, 3], pa.timestamp("ns", "UTC")),
          "day": pa.array([datetime.date(2020, 1, 1)] * 3), "s": pa.array(["a", "ä", None]),
          "raw": pa.array([b"a", b"\xff", None]), "fix": pa.array([b"abc"] * 3, pa.binary(3)),
          "ms": pa.array([1, 2, 3], pa.time32("ms"))}
NESTED = {"g": pa.array([{"x": 1, "y": {"z": "a"}}] * 3), "l": pa.array([[1, 2], [], None])}


def main(folder):
    def write(name, columns, **options):
        pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), folder / name, **{**OPTIONS, **options})

    folder.mkdir(parents=True, exist_ok=True)
    write("numbers", NUMBERS)
    write("others", OTHERS)
    write("nested", NESTED)
    write("int96", {"t": pa.array([1, 2, 3], pa.timestamp("us"))}, use_deprecated_int96_timestamps=True)
    write("pages", {"x": list(range(12)), "s": list("abcdefghijkl")}, write_page_index=True, max_rows_per_page=3,
          write_batch_size=3, row_group_size=6, use_dictionary=False)
    write("bloom", {"x": [1, 2, 3], "s": ["a", "b", "c"], "d": pa.array([Decimal("1.50")] * 3, pa.decimal128(25, 2))},
          bloom_filter_options={name: {"ndv": 3, "fpp": 0.1} for name in ("x", "s", "d")}, write_statistics=False)
    write("required", pa.table([[1, 2]], schema=pa.schema([pa.field("x", pa.int64(), nullable=False)])))
    write("old", {"s": ["a", "b"], "n": [1, 2]}, version="1.0", flavor="spark")
    duckdb.execute(f"COPY (SELECT i % 3 AS a, 'v' || (i % 3) AS s FROM range(20) r(i)) TO '{folder / 'duckdb'}' "
                   "(FORMAT parquet, CODEC 'uncompressed')")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
