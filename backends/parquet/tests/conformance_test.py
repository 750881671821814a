#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file of apache/parquet-testing ($HAC_TEST_DATA/parquet): read equal to pyarrow and to DuckDB where they can, or
refused with a message; in bounded memory and time. --write makes docs/parquet-conformance.md of it."""
import json
import math
import resource
import struct
import subprocess
import sys
import time
import unittest

import lists_test as lists
import parquet_files as files
import values_test as values
from parquet_files import DATA, NO_DATA, NO_ORACLE, ROOT, SANITIZED, TOOLS
from values_test import pa

if pa is not None:
    import duckdb
    import pyarrow.parquet as pq

REPORT = ROOT / "docs/parquet-conformance.md"
MEMORY = 256 << 20
SECONDS = 5

# Where both others are wrong: times beyond what nanoseconds, which they go through, have room for. Its values are in
# the text that comes with it.
DOCUMENTED = {"int96_from_spark": "int96_from_spark.md"}
# What must be refused, beside what is encrypted. Of all others every flat column must be read.
DAMAGED = {"datapage_v1-corrupt-checksum", "rle-dict-uncompressed-corrupt-checksum", "ARROW-GH-41317", "ARROW-GH-41321",
           "ARROW-GH-45185", "ARROW-GH-47662", "ARROW-RS-GH-6229-DICTHEADER", "ARROW-RS-GH-6229-LEVELS", "PARQUET-1481"}
LARGE = {"large_string_map.brotli"}  # its pages are beyond the limit
NESTED = ("it is in a list of lists", "it has the values of a map")


def corpus():
    return files.corpus("**/*.parquet", "**/*.encrypted")


def limits():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def plain(value):
    """NaNs are one value: what Python does to their bits is of no interest here."""
    if isinstance(value, str) and value.startswith("f"):
        number = struct.unpack(*(("<f", int(value[1:], 16).to_bytes(4, "little")) if len(value) == 9 else
                                 ("<d", int(value[1:], 16).to_bytes(8, "little"))))[0]
        return "nan" if math.isnan(number) else value
    return value


# ---- the readers: a list with the values of each leaf; None: that leaf is not read ----

class Hac:
    def __init__(self, path):
        began = time.monotonic()
        done = subprocess.run([TOOLS / "parquet_dump", path], capture_output=True, text=True, check=False,
                              preexec_fn=limits, timeout=120)
        self.seconds, self.code = time.monotonic() - began, done.returncode
        self.stderr = done.stderr[-2000:]
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.error = lines[0].get("error") if lines else "nothing was said"
        self.leaves = lines[1:] if self.error is None else []

    def of(self, key):
        return [leaf[key] for leaf in self.leaves if key in leaf]

    def read(self):
        return [leaf for leaf in self.leaves if "why" not in leaf and "error" not in leaf]

    def text(self):
        """As the report has it."""
        if self.error is not None:
            return f"refused: {self.error}"
        if self.of("error"):
            return f"refused: {self.of('error')[0]}"
        if not self.read():
            return f"refused: column {self.leaves[0]['column']}: {self.of('why')[0]}"
        n, rest = len(self.read()), sum(why.startswith(NESTED[0]) for why in self.of("why"))
        return f"read, {n} column{'s' * (n > 1)}" + (f"; {rest} in lists of lists {'are' if rest > 1 else 'is'} not" if rest else "")


def shown(column, leaf):
    """A column's values as parquet_dump writes them, of a leaf that has that type there."""
    if isinstance(column, list):  # lists or maps, or structs in which they are
        return column
    if leaf["type"] == "i32" and pa.types.is_time64(column.type):  # of milliseconds
        return [None if v is None else v // 1000 for v in column.cast("int64").to_pylist()]
    return values.expected(column)


def count_leaves(kind):
    if pa.types.is_map(kind):
        return count_leaves(kind.key_type) + count_leaves(kind.item_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return count_leaves(kind.value_type)
    if pa.types.is_struct(kind):
        return sum(count_leaves(kind.field(i).type) for i in range(kind.num_fields))
    return 1


def is_flat(kind):
    return not pa.types.is_nested(kind)


def listed(column):
    """The leaves of a column of lists or maps: lists of their values; None for those in lists of lists."""
    kind, rows = column.type, column.to_pylist()
    if pa.types.is_map(kind):
        item = kind.item_type
        if is_flat(item):
            yield [None if row is None else {lists.key(k): lists.element(v) for k, v in row} for row in rows]
            yield None  # read with its keys
            return
        yield [None if row is None else [lists.element(k) for k, _ in row] for row in rows]
        yield from [None] * count_leaves(item)
        return
    item = kind.value_type
    if is_flat(item):
        yield [None if row is None else list(map(lists.element, row)) for row in rows]
    elif pa.types.is_struct(item) and all(is_flat(item.field(i).type) for i in range(item.num_fields)):
        for i in range(item.num_fields):
            name = item.field(i).name
            yield [None if row is None else [None if v is None else lists.element(v[name]) for v in row] for row in rows]
    else:
        yield from [None] * count_leaves(item)


def flatten(column):
    """The leaves of a column, in the order of the file's."""
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_struct(column.type):
        for child in column.flatten():
            yield from flatten(child)
    elif pa.types.is_nested(column.type):
        yield from listed(column)
    else:
        yield column


def leaves_of(table, leaves):
    found = [leaf for column in table.columns for leaf in flatten(column)]
    return [None if column is None else shown(column, leaf) for column, leaf in zip(found, leaves, strict=True)]


def by_pyarrow(path, leaves):
    file = pq.ParquetFile(path, coerce_int96_timestamp_unit="us")
    if any(lists.is_json(leaf) for leaf in leaves):
        return leaves_of(file.read(), leaves)
    ret = []
    for leaf, name in zip(leaves, values.names_of(path)):
        read = "why" not in leaf
        ret.append(shown(values.flat(file.read(columns=[name]).column(0)), leaf) if read else None)
    return ret


def by_duckdb(path, leaves):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'; SET autoload_known_extensions = false")
    return leaves_of(connection.sql(f"SELECT * FROM read_parquet('{path}')").to_arrow_table(), leaves)


def beside(reader, path, hac):
    """"equal", "does not read it", or what differs."""
    try:
        theirs = reader(path, hac.leaves)
    except Exception as error:  # pylint: disable=broad-except
        return f"does not read it ({type(error).__name__})"
    for leaf, wanted in zip(hac.leaves, theirs, strict=True):
        if wanted is None or "values" not in leaf:
            continue
        mine, wanted = list(map(plain, lists.json_values(leaf))), list(map(plain, wanted))
        if mine != wanted:
            at = next((i for i, pair in enumerate(zip(mine, wanted)) if pair[0] != pair[1]), min(len(mine), len(wanted)))
            return f"DIFFERS in {leaf['column']}, row {at}: {wanted[at:at + 1]}, hac has {mine[at:at + 1]}"
    return "equal"


# ---- the report ----

def rows():
    for path in corpus():
        hac = Hac(path)
        readable = hac.error is None and not hac.of("error") and hac.read()
        others = [beside(reader, path, hac) if readable and pa is not None else "–" for reader in (by_pyarrow, by_duckdb)]
        yield path, hac, others


def report(lines):
    text = ["# Parquet conformance", "",
            "What `backends/parquet` makes of every file of [apache/parquet-testing]"
            "(https://github.com/apache/parquet-testing): read, its values equal to those that other readers give,",
            "or refused with the message that is shown. (int96_from_spark: equal to the values in its documentation.) Made by `backends/parquet/tests/conformance_test.py --write`, with "
            f"pyarrow {pa.__version__} and DuckDB {duckdb.__version__};",
            "the test fails when what hac does is no longer what stands here. No file may take 256 MiB, nor 5 seconds.", "",
            "| file | hac | pyarrow | DuckDB |", "|---|---|---|---|"]
    for path, hac, others in lines:
        if path.stem in DOCUMENTED:
            others = ["differs: times beyond 64 bits of nanoseconds" if "DIFFERS" in other else other for other in others]
        said = [part.replace("|", "\\|") for part in (hac.text(), *others)]
        text.append(f"| {path.relative_to(DATA)} | {' | '.join(said)} |")
    return "\n".join(text) + "\n"


def said_in(text):
    """What a report says of hac, by file."""
    cells = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {cell[0][2:]: cell[1] for cell in cells[1:]}


@unittest.skipUnless(corpus(), NO_DATA)
class Conformance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.lines = list(rows())

    def test_ends_well(self):
        for path, hac, _ in self.lines:
            with self.subTest(path.name):
                self.assertIn(hac.code, (0, 1), hac.stderr)
                self.assertLess(hac.seconds, SECONDS * (10 if SANITIZED else 1))

    def test_refused(self):
        for path, hac, _ in self.lines:
            if path.stem in DAMAGED or path.suffix == ".encrypted":
                with self.subTest(path.name):
                    self.assertTrue(hac.text().startswith("refused: "), hac.text())
            if path.suffix == ".encrypted":
                self.assertIn("encrypted", hac.error)

    def test_read(self):
        """Every flat column; what is nested is named."""
        for path, hac, others in self.lines:
            if path.stem in DAMAGED | LARGE or path.suffix == ".encrypted":
                continue
            with self.subTest(path.name):
                self.assertIsNone(hac.error)
                self.assertEqual(hac.of("error"), [])
                for why in hac.of("why"):
                    self.assertTrue(why.startswith(NESTED), why)
                if pa is not None and hac.read():
                    if path.stem not in DOCUMENTED:
                        self.assertFalse([other for other in others if "DIFFERS" in other], others)
                        self.assertIn("equal", others)

    def test_documented_values(self):
        for name, text in DOCUMENTED.items():
            words = (DATA / "data" / text).read_text(encoding="utf-8").split("microseconds since the epoch")[1].split("```")[1]
            wanted = [None if word == "null" else int(word) for word in words.replace(",", " ").split()]
            self.assertEqual(Hac(DATA / f"data/{name}.parquet").leaves[0]["values"], wanted)

    @unittest.skipIf(pa is None, NO_ORACLE)
    def test_report(self):
        self.assertEqual(said_in(REPORT.read_text(encoding="utf-8")), said_in(report(self.lines)),
                         "docs/parquet-conformance.md is out of date: run this file with --write")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        REPORT.write_text(report(rows()), encoding="utf-8")
    else:
        unittest.main()
