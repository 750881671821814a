# SPDX-License-Identifier: Apache-2.0
"""How fast columns of Parquet files are decoded, beside pyarrow; run_parquet.py calls it. Each encoding with each codec,
files written by pyarrow, in the page cache, one thread (pyarrow has another that reads ahead), processor time: hac and
pyarrow read the same column in turns.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

CODECS = ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]
# (what it shows, encoding or None for a dictionary, required, values of range as DuckDB makes them)
COLUMNS = [
    ("i64 PLAIN", "PLAIN", False, "(hash(i) % 100000000)::bigint"),
    ("i64 PLAIN, required", "PLAIN", True, "(hash(i) % 100000000)::bigint"),
    ("i64 PLAIN, a tenth null", "PLAIN", False, "case when hash(i) % 10 > 0 then (hash(i) % 1000000)::bigint end"),
    ("i32 PLAIN", "PLAIN", False, "(hash(i) % 1000000000)::integer"),
    ("i64 dictionary of 11", None, False, "(hash(i) % 11)::bigint"),
    ("date dictionary of 2500", None, False, "date '1992-01-01' + (hash(i) % 2500)::integer"),
    ("i64 dictionary of 50, a tenth null", None, False, "case when hash(i) % 10 > 0 then (hash(i) % 50)::bigint end"),
    ("i64 DELTA_BINARY_PACKED", "DELTA_BINARY_PACKED", False, "(i * 13 + hash(i) % 1000)::bigint"),
    ("i32 DELTA_BINARY_PACKED", "DELTA_BINARY_PACKED", False, "(i + hash(i) % 5)::integer"),
    ("f64 BYTE_STREAM_SPLIT", "BYTE_STREAM_SPLIT", False, "(hash(i) % 1000000)::double / 100"),
    ("f32 BYTE_STREAM_SPLIT", "BYTE_STREAM_SPLIT", False, "((hash(i) % 1000000)::double / 100)::float"),
    ("decimal(15,2), FIXED", "PLAIN", False, "((hash(i) % 10000000)::decimal(15, 2) / 100)::decimal(15, 2)"),
    ("bool PLAIN", "PLAIN", False, "hash(i) % 3 = 0"),
    ("bool RLE", "RLE", False, "hash(i) % 3 = 0"),
    ("string PLAIN", "PLAIN", False, "'customer ' || hash(i) % 1000000"),
    ("string dictionary of 50", None, False, "'k' || hash(i) % 50"),
    ("string DELTA_LENGTH_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", False, "'customer ' || hash(i) % 1000000"),
    ("string DELTA_BYTE_ARRAY", "DELTA_BYTE_ARRAY", False, "'customer ' || i"),
]


def write(connection, pyarrow, path, codec, rows):
    import pyarrow.parquet as pq
    names = [f"c{i}" for i in range(len(COLUMNS))]
    select = ", ".join(f"{values} as {name}" for name, (_, _, _, values) in zip(names, COLUMNS))
    table = connection.sql(f"select {select} from range({rows}) t(i)").to_arrow_table()
    schema = pyarrow.schema([pyarrow.field(n, f.type, nullable=not required)
                             for n, f, (_, _, required, _) in zip(names, table.schema, COLUMNS)])
    pq.write_table(table.cast(schema), path, compression=codec, store_schema=False,
                   use_dictionary=[n for n, c in zip(names, COLUMNS) if c[1] is None],
                   column_encoding={n: c[1] for n, c in zip(names, COLUMNS) if c[1] is not None})
    return {n: table[n].nbytes for n in names}


def ours(build, path, name, rounds):
    out = subprocess.run([build / "bench" / "bench_parquet", path, str(rounds), name], check=True, capture_output=True, text=True)
    return float(out.stdout.split()[2]) * 1e-3


def theirs(path, name, rounds):
    import pyarrow.parquet as pq
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        pq.ParquetFile(path).read(columns=[name], use_threads=False)
        best = min(best, time.process_time() - start)
    return best


def run(build, connection, pyarrow, quick):
    rows, turns = (300_000, 2) if quick else (2_000_000, 3)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for codec in CODECS:
            path = Path(folder) / f"{codec}.parquet"
            sizes = write(connection, pyarrow, path, codec, rows)
            for i, (what, _, _, _) in enumerate(COLUMNS):
                pairs = [(ours(build, path, f"c{i}", 3), theirs(path, f"c{i}", 3)) for _ in range(turns)]
                hac, arrow = min(p[0] for p in pairs), min(p[1] for p in pairs)
                lines.append({"column": what, "codec": codec, "hac": sizes[f"c{i}"] / hac, "pyarrow": sizes[f"c{i}"] / arrow})
            path.unlink()
            print(f"  decoding, {codec}: ratios {', '.join('%.1f' % (r['hac'] / r['pyarrow']) for r in lines[-len(COLUMNS):])}",
                  flush=True)
    return lines


def markdown(lines):
    if not lines:
        return []
    out = ["### Decoding", "", "One thread: GB of values (as Arrow holds them) a second of processor time, hac / pyarrow, and the "
           "ratio.", "", "| column | " + " | ".join(CODECS) + " |", "|---|" + "---|" * len(CODECS)]
    for what, _, _, _ in COLUMNS:
        cells = {r["codec"]: f"{r['hac'] / 1e9:.2f} / {r['pyarrow'] / 1e9:.2f}, {r['hac'] / r['pyarrow']:.1f}×"
                 for r in lines if r["column"] == what}
        out.append(f"| {what} | " + " | ".join(cells.get(c, "") for c in CODECS) + " |")
    return out + [""]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "build" / "python"))
    import duckdb
    import pyarrow as arrow
    print("\n".join(markdown(run(Path(sys.argv[1]), duckdb.connect(), arrow, "--quick" in sys.argv))))
