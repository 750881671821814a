# SPDX-License-Identifier: Apache-2.0
"""DuckDB as the oracle, and the comparison of results."""
import collections
import itertools
import json
import math
import re
import sys
from decimal import Decimal
from pathlib import Path

from random_table import f32

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build" / "python"))
try:
    import duckdb
except ImportError:
    duckdb = None

WHY_NOT = "DuckDB is not installed (`./dev test` puts it into build/python): nothing is compared with it"
CELL = re.compile(r'"((?:[^"]|"")*)"|([^",\n]*)')
RELATIVE = 1e-12


def connect():
    connection = duckdb.connect()
    connection.execute("SET threads = 1")  # sums in the order of the rows
    connection.execute("PRAGMA disable_optimizer")  # otherwise count(a - b) is not computed where nothing is null
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute("SET order_by_non_integer_literal = true")
    connection.execute("SET error_on_division_by_zero = false")
    return connection


# ---- hac's output ----

def read_csv(text):
    """Rows of text; null is None. Strict: output that hac must not write is an error here."""
    rows, at = [], 0
    while at < len(text):
        end = text.find("\n", at)
        if end >= 0 and text.find('"', at, end) < 0:
            rows.append(tuple([cell or None for cell in text[at:end].split(",")]))
            at = end + 1
            continue
        row = []
        while True:
            match = CELL.match(text, at)
            quoted, bare = match.groups()
            row.append(bare or None if quoted is None else quoted.replace('""', '"'))
            at = match.end()
            if at >= len(text):
                raise AssertionError("the last line of the CSV has no end")
            at += 1
            if text[at - 1] == "\n":
                break
            if text[at - 1] != ",":
                raise AssertionError(f"byte {at} of the CSV is {text[at - 1]!r}")
        rows.append(tuple(row))
    return rows


def read_output(out, json_lines):
    """(names or None, rows of texts) of hac's output."""
    text = out.decode("utf-8", "surrogateescape")
    if not json_lines:
        rows = read_csv(text)
        return rows[0], rows[1:]
    names, rows = None, []
    for line in text.splitlines() if "\x85" not in text and "\u2028" not in text else text.split("\n")[:-1]:
        pairs = json.loads(line, object_pairs_hook=list, parse_float=str, parse_int=str)
        names = names or tuple(name for name, _ in pairs)
        rows.append(tuple({True: "true", False: "false"}.get(v, v) if isinstance(v, bool) else v for _, v in pairs))
    return names, rows


# ---- values ----

def of_float(text):
    value = float(text)
    return "nan" if math.isnan(value) else value + 0.0 if value else 0.0


def of_time(text):
    whole, _, fraction = text.partition(".")
    return f"{whole}.{fraction.ljust(6, '0')}"


VALUES = {"i": int, "u": int, "f32": lambda text: of_float(f32(float(text))), "f64": of_float, "dec": Decimal, "t": of_time}


def values_of(kinds, rows):
    """What is compared: equal where SQL has them equal, hashable."""
    columns = []
    for kind, column in zip(kinds, zip(*rows)):
        value_of = VALUES.get(kind)
        columns.append([None if text is None else value_of(text) for text in column] if value_of else column)
    return list(zip(*columns))


def close(a, b, scale):
    if a == b or a is None or b is None:
        return a == b
    if scale is None or not math.isfinite(scale):
        return True  # infinities as intermediate values: whether inf or nan results depends on the order
    if "nan" in (a, b) or math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= RELATIVE * max(abs(scale), abs(a), abs(b)) + 1e-300


def sort_key(values):
    return [(v is None, v == "nan", 0.0 if v is None or v == "nan" else v) for v, _ in values]


def difference(query, got, wanted):
    """None, or what is wrong with the rows `got`; `wanted` are all of the oracle's rows, in order."""
    width = len(query.kinds)
    count = len(wanted) if query.limit is None else min(query.limit, len(wanted))
    if len(got) != count:
        return f"{len(got)} rows, and {count} are wanted"
    bad = [row for row in got if len(row) != width]
    if bad:
        return f"a row has {len(bad[0])} columns, and {width} are wanted: {bad[0]}"
    got, wanted, magnitudes = values_of(query.kinds, got), values_of(query.kinds, wanted), wanted
    for i, (a, b) in enumerate(zip(got, wanted) if query.order else ()):
        if [a[c] for c, _ in query.order] != [b[c] for c, _ in query.order]:
            return f"row {i} in order is {a}, and {b} is wanted"
    return matching(query, got, wanted, magnitudes, len(wanted) == count)


def by_exact(query, rows, magnitudes):
    """Rows by the values that have to be equal; for each the others, with what their error is relative to."""
    exact = [i for i, scale in enumerate(query.scales) if scale is None]
    loose = [(i, scale) for i, scale in enumerate(query.scales) if scale is not None]
    groups = collections.defaultdict(list)
    for row, of_row in zip(rows, magnitudes):
        groups[tuple([row[i] for i in exact])].append([(row[i], of_row and of_row[scale]) for i, scale in loose])
    return groups


def matching(query, got, wanted, magnitudes, whole):
    """Each row of `got` is one of `wanted`, no two of them the same one."""
    if all(scale is None for scale in query.scales):
        there = collections.Counter(wanted)
        for row, n in collections.Counter(got).items():
            if n > there[row]:
                return f"{n} times {row}, and {there[row]} are wanted; e.g. wanted {list(there)[:3]}"
        return None
    there, here = by_exact(query, wanted, magnitudes), by_exact(query, got, itertools.repeat(None))
    for exact, rows in here.items():
        others = there.get(exact, [])
        if len(rows) > len(others):
            return f"{len(rows)} times {exact}, and {len(others)} are wanted; e.g. wanted {list(there)[:3]}"
        if not whole:
            continue  # of equal rows any may be among those within the limit
        for a, b in zip(sorted(rows, key=sort_key), sorted(others, key=sort_key)):
            for (x, _), (y, scale) in zip(a, b):
                if not close(x, y, scale):
                    return f"{x!r} with {exact}, and {y!r} is wanted (error relative to {scale})"
    return None
