#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random queries of Parquet files that other writers made, against DuckDB: row groups and pages of any size, every
encoding and codec, with and without statistics, page indexes and bloom filters.

A random case is named by its seed alone, as in query_oracle_test.py.
"""
import os
import random
import shlex
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import duck  # noqa: E402
from machine import main  # noqa: E402
from query_oracle_test import QUERIES, SIZES, RandomCase  # noqa: E402
from random_query import random_query  # noqa: E402
from random_table import Table  # noqa: E402

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = pq = None

WHY_NOT = "pyarrow is not installed (`./dev test` puts it into build/python): nothing is compared with it"
CODECS = ("NONE", "SNAPPY", "GZIP", "ZSTD", "LZ4", "BROTLI")
ENCODINGS = {"integer": ("PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"), "float": ("PLAIN", "BYTE_STREAM_SPLIT"),
             "string": ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"), "bool": ("PLAIN", "RLE")}


def encodings(rng, table):
    """For the columns that have no dictionary."""
    chosen = {}
    for name in table.column_names:
        kind = table.schema.field(name).type
        form = ("float" if pa.types.is_floating(kind) else "string" if pa.types.is_string(kind) else
                "bool" if pa.types.is_boolean(kind) else "integer" if pa.types.is_integer(kind) and kind.bit_width >= 32
                else None)
        if form:
            chosen[name] = rng.choice(ENCODINGS[form])
    return chosen


def write_arrow(rng, table, path):
    dictionary = rng.choice((True, False, [n for n in table.column_names if rng.random() < 0.5]))
    options = {"compression": rng.choice(CODECS), "row_group_size": rng.choice((1, 7, 100, 1000, 1024, 10**6)),
               "data_page_size": rng.choice((64, 1000, 10**6)), "write_batch_size": rng.choice((1, 16, 1024)),
               "data_page_version": rng.choice(("1.0", "2.0")), "write_statistics": rng.random() < 0.8,
               "write_page_index": rng.random() < 0.5, "use_dictionary": dictionary,
               "dictionary_pagesize_limit": rng.choice((50, 10**6)), "write_page_checksum": rng.random() < 0.5}
    if dictionary is False and rng.random() < 0.7:
        options["column_encoding"] = encodings(rng, table)
    if rng.random() < 0.3:
        options["store_decimal_as_integer"] = True
    options["row_group_size"] = max(options["row_group_size"], table.num_rows // 200)
    pq.write_table(table, path, **options)


def write_duck(rng, connection, columns, first, end, path):
    names = ", ".join(f"{c.sql} AS \"{c.name.replace(chr(34), chr(34) * 2)}\"" for c in columns)
    connection.execute(f"COPY (SELECT {names} FROM t WHERE rid >= {first} AND rid < {end} ORDER BY rid) TO '{path}' (FORMAT "
                       f"parquet, CODEC '{rng.choice(('uncompressed', 'snappy', 'zstd', 'gzip', 'lz4_raw'))}', ROW_GROUP_SIZE "
                       f"{rng.choice((2048, 10000))}, PARQUET_VERSION {rng.choice(('V1', 'V2'))})")


def write(rng, connection, table, folder, name):
    """One file or several, the columns in any order."""
    parts = 1 if rng.random() < 0.7 or table.rows < 2 else rng.randint(2, 5)
    cuts = sorted(rng.randint(0, table.rows) for _ in range(parts - 1))
    paths = []
    for i, (first, end) in enumerate(zip([0, *cuts], [*cuts, table.rows])):
        path = folder / f"{name}.{i}.parquet"
        columns = rng.sample(table.columns, len(table.columns))
        if rng.random() < 0.3:
            write_duck(rng, connection, columns, first, end, path)
        else:
            names = ", ".join(c.sql for c in columns)
            arrow = connection.sql(f"SELECT {names} FROM t WHERE rid >= {first} AND rid < {end} ORDER BY rid")
            arrow = arrow.to_arrow_table().rename_columns([c.name for c in columns])
            write_arrow(rng, arrow, path)
        paths.append(path.name)
    return paths


@unittest.skipUnless(duck.duckdb, duck.WHY_NOT)
@unittest.skipUnless(pa, WHY_NOT)
class ParquetCase(RandomCase):
    def compare(self, seeds, sizes=SIZES):
        machine = self.machine(self.profiles[seeds[0] % len(self.profiles)])
        connection = duck.connect()
        tally, wrong = {"right": 0}, []
        for seed in seeds:
            rng = random.Random(seed)
            table = Table(rng, rng.choice(sizes))
            table.load(connection, machine.path("oracle.csv"))
            paths = write(rng, connection, table, machine.work, f"t{seed}")
            for number in range(QUERIES):
                query = random_query(rng, table)
                words = ["parquet", "query", *paths, *query.options]
                if rng.random() < 0.3:  # where its kernels cannot, the host codelets do it
                    words += ["--engine", "device", "--quiet"]
                said, problem = self.one(machine, connection, query, words, False)
                tally[said] = tally.get(said, 0) + 1
                if problem:
                    wrong.append(f"seed {seed}, query {number}: {problem}\n  hacctl {shlex.join(words)}\n  {query.sql}")
            for path in [] if "HAC_TEST_KEEP" in os.environ else paths:
                os.unlink(machine.path(path))
            if len(wrong) >= 10:
                break
        print(f"seeds {seeds[0]} to {seed}:", ", ".join(f"{n} {what}" for what, n in tally.items()), file=sys.stderr)
        self.assertFalse(wrong, "\n\n".join(wrong))
        self.assertGreater(tally["right"], 2 * len(seeds))


class Quick(ParquetCase):
    def test_random_queries(self):
        self.compare(self.seeds(7, 6), (0, 1, 10, 100, 300))

    @unittest.skipIf(pq is None, WHY_NOT)
    def test_inspect(self):
        """Files larger than what one task reads, and answers larger than a message."""
        machine = self.machine()
        for rows, group in ((10, 10), (400000, 100000), (400000, 3000)):
            pq.write_table(pa.table({"a": range(rows), "b": range(1, rows + 1)}), machine.path("t.parquet"), row_group_size=group)
            wanted = pq.ParquetFile(machine.path("t.parquet"))
            answer = machine.json("parquet", "inspect", "t.parquet")
            self.assertEqual((answer["rows"], [g["rows"] for g in answer["row_groups"]]),
                             (rows, [wanted.metadata.row_group(g).num_rows for g in range(wanted.num_row_groups)]))


class RandomParquet(ParquetCase):
    """full"""

    def test_one_device(self):
        self.compare(self.seeds(20002, 12))

    def test_two_devices(self):
        self.compare(self.seeds(21000, 12))

    def test_more_rows(self):
        self.compare(self.seeds(22000, 2), (20000, 70000))


class LongParquet(ParquetCase):
    """long: hours; HAC_TEST_FIRST and HAC_TEST_COUNT take another part."""

    def test_hours(self):
        for first in range(300000, 305000, 250):
            self.compare(self.seeds(first, 250), (*SIZES, 20000))
            if "HAC_TEST_FIRST" in os.environ:
                break


if __name__ == "__main__":
    main()
