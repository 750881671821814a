#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What org.hac says a second time, against what hac says: HacType.Kind lists the types of base/src/value.c, in their
order, with the same Arrow formats and widths; Java's enumerations have the numbers of those of C."""
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[3]
JAVA = SOURCE / "bindings" / "jni" / "java" / "org" / "hac"
HEADERS = SOURCE / "base" / "include" / "hac"


def fail(what, java, c):
    sys.exit(f"{what} differs:\n  Java  {java}\n  C     {c}")


def c_enum(header, prefix, without=()):
    """{name: number} of the enumerators that begin with the prefix, but for …_END."""
    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    found = {name: int(number) for name, number in re.findall(rf"\b{prefix}(\w+) = (\d+)", text)}
    return {name: number for name, number in found.items() if name not in (*without, "END")}


def java_body(file, enum):
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", (JAVA / file).read_text(), flags=re.S)
    return re.search(rf"enum {enum} \{{(.*?)[;}}]", text, re.S)[1]


def java_numbers(file, enum):
    return {name: int(number) for name, number in re.findall(r"(\w+)\((\d+)\)", java_body(file, enum))}


def java_order(file, enum, first=0):
    return {name: number for number, name in enumerate(re.findall(r"\w+", java_body(file, enum)), first)}


def constants(file):
    return {name: int(number) for name, number in re.findall(r"static final int (\w+) = (\d+);", (JAVA / file).read_text())}


rows = re.findall(r'\[HAC_KIND_(\w+)\] += \{"\w+", +HAC_CLASS_\w+, +\w+, +(\d+), +\d+, +"([^"]*)"',
                  (SOURCE / "base" / "src" / "value.c").read_text())
wanted = [(name, arrow, {"BOOL": "0", "DECIMAL": "16"}.get(name, width)) for name, width, arrow in rows]
kinds = re.findall(r'^        (\w+)\("([^"]*)", (\d+)\)[,;]', (JAVA / "HacType.java").read_text(), re.M)
if len(wanted) < 16 or wanted != kinds:
    fail("HacType.Kind", kinds, wanted)

for what, got, want in (
        ("HacQuery.Format", java_numbers("HacQuery.java", "Format"), c_enum(HEADERS / "query.h", "HAC_INPUT_", ("NONE", "TABLE"))),
        ("HacException.Code", java_numbers("HacException.java", "Code"),
         c_enum(HEADERS / "error.h", "HAC_", ("OK",))),
        ("HacQuery.Engine", java_order("HacQuery.java", "Engine"), c_enum(HEADERS / "query.h", "HAC_ENGINE_")),
        ("HacSort.Type", java_order("HacSort.java", "Type", 1), c_enum(HEADERS / "type.h", "HAC_TYPE_", ("NONE",))),
        ("HacSort.Algorithm", java_order("HacSort.java", "Algorithm"), c_enum(HEADERS / "sort.h", "HAC_SORT_"))):
    if len(want) < 3 or got != want:
        fail(what, got, want)

results = c_enum(HEADERS / "query.h", "HAC_RESULT_")
for name, number in constants("HacQuery.java").items():
    if results.get(name.removeprefix("RESULT_")) != number:
        fail(f"HacQuery.{name}", number, results)
topics = c_enum(SOURCE / "client-lib" / "include" / "hac" / "hac.h", "HAC_TOPIC_")
for name, number in constants("Native.java").items():
    if topics.get(name) != number:
        fail(f"Native.{name}", number, topics)
