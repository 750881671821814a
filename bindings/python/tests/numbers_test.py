#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numbers_test.py SOURCE: the enumerations that the package repeats have the numbers of libhac's headers."""
import ast
import re
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1])
PACKAGE = SOURCE / "bindings" / "python" / "hac"


def enumerators(header, prefix):
    text = (SOURCE / header).read_text()
    return {name: int(number) for name, number in re.findall(r"\b" + prefix + r"([A-Z0-9_]+) = (\d+)", text)}


def assigned(file, name):
    """The value of a constant of a Python file."""
    for node in ast.parse((PACKAGE / file).read_text()).body:
        targets = node.targets[0] if isinstance(node, ast.Assign) else None
        if isinstance(targets, ast.Name) and targets.id == name:
            return ast.literal_eval(node.value)
        if isinstance(targets, ast.Tuple) and name in [t.id for t in targets.elts]:
            return ast.literal_eval(node.value)[[t.id for t in targets.elts].index(name)]
    raise SystemExit(f"{file} has no {name}")


def status_class():
    for node in ast.parse((PACKAGE / "_errors.py").read_text()).body:
        if isinstance(node, ast.ClassDef) and node.name == "Status":
            return {a.targets[0].id: a.value.value for a in node.body if isinstance(a, ast.Assign)}
    raise SystemExit("_errors.py has no Status")


codes = enumerators("base/include/hac/error.h", "HAC_")
topics = enumerators("client-lib/include/hac/hac.h", "HAC_TOPIC_")
plans = enumerators("client-lib/include/hac/hac.h", "HAC_PLAN_")
types = enumerators("base/include/hac/type.h", "HAC_TYPE_")
finds = enumerators("client-lib/include/hac/hac.h", "HAC_FIND_")
wanted = [
    ("types", {f"{kind}{8 * size}".upper(): number for (kind, size), number in assigned("_sort.py", "KEY_TYPES").items()},
     {name: number for name, number in types.items() if name not in ("NONE", "COUNT")}),
    ("status", status_class(), {name: number for name, number in codes.items() if name != "OK"}),
    ("topics", {name: assigned("_connection.py", name) for name in ("DEVICES", "WHY", "PLAN")},
     {name: topics[name] for name in ("DEVICES", "WHY", "PLAN")}),
    ("plan formats", {name: assigned("_connection.py", name) for name in ("TEXT", "JSON")},
     {name: plans[name] for name in ("TEXT", "JSON")}),
    ("vectors", {f"{'BOOL' if kind == 'b' else kind + str(8 * size)}".upper(): number
                 for (kind, size), number in assigned("_opsplit.py", "ELEMENTS").items()},
     {name: number for name, number in enumerators("base/include/hac/op.h", "HAC_VECTOR_OF_").items() if name not in ("NONE", "STRING")}),
    ("finds", {name: assigned("_query.py", f"FIND_{name}") for name in ("DELIMITER", "HEADER", "FORMS")}, finds),
]
wrong = [f"{what}: the package has {ours}, the headers have {theirs}" for what, ours, theirs in wanted if ours != theirs or not theirs]
if wrong:
    sys.exit("\n".join(wrong))
