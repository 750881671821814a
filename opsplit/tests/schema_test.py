#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""schema_test.py SOURCE-DIRECTORY: docs/opsplit.schema.json takes every example and every good file of the tests, and
refuses what it should. Checked by what stands here, and by jsonschema where that is installed."""
import copy
import glob
import json
import re
import sys
import unittest
from pathlib import Path

try:
    import yaml
except ImportError:
    print("SKIPPED: PyYAML is not installed (python3-yaml)")
    sys.exit(77)
try:
    import jsonschema
except ImportError:
    jsonschema = None

SOURCE = Path(sys.argv.pop(1))
SCHEMA = json.loads((SOURCE / "docs" / "opsplit.schema.json").read_text(encoding="utf-8"))
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


class Loader(yaml.SafeLoader):
    """YAML 1.2's words: `on`, `yes` and `n` are texts."""


Loader.yaml_implicit_resolvers = copy.deepcopy(yaml.SafeLoader.yaml_implicit_resolvers)
for first, resolvers in Loader.yaml_implicit_resolvers.items():
    Loader.yaml_implicit_resolvers[first] = [r for r in resolvers if r[0] != "tag:yaml.org,2002:bool"]
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))


def is_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def in_enum(value, words):
    return any(value == w and isinstance(value, bool) == isinstance(w, bool) for w in words)


def check(value, schema, where="$"):
    """What of draft 7 the schema makes use of; yields what is wrong."""
    known = {"$schema", "title", "$comment", "description", "definitions", "type", "enum", "$ref", "allOf", "anyOf", "not",
             "properties", "additionalProperties", "required", "items", "minimum", "maximum", "pattern",
             "minProperties", "maxProperties"}
    assert set(schema) <= known, f"this test does not know {set(schema) - known}"
    if "$ref" in schema:
        yield from check(value, SCHEMA["definitions"][schema["$ref"].rsplit("/", 1)[1]], where)
    for part in schema.get("allOf", []):
        yield from check(value, part, where)
    if "anyOf" in schema:
        tries = [list(check(value, part, where)) for part in schema["anyOf"]]
        if all(tries):
            yield f"{where}: none of {len(tries)}: " + "; ".join(t[0] for t in tries)
    if "not" in schema and not list(check(value, schema["not"], where)):
        yield f"{where}: is what it may not be"
    if "enum" in schema and not in_enum(value, schema["enum"]):
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(is_type(value, name) for name in names):
            yield f"{where}: {value!r} is no {names}"
            return
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} is not {schema['pattern']}"
    if is_type(value, "number"):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            yield f"{where}: {value} is out of range"
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from check(item, schema["items"], f"{where}[{i}]")
    if isinstance(value, dict):
        yield from check_object(value, schema, where)


def check_object(value, schema, where):
    for name in schema.get("required", []):
        if name not in value:
            yield f"{where}: {name} is missing"
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        yield f"{where}: has {len(value)} keys"
    others = schema.get("additionalProperties", True)
    for name, item in value.items():
        part = schema.get("properties", {}).get(name, others)
        if part is False:
            yield f"{where}: {name} is not known"
        elif part is not True:
            yield from check(item, part, f"{where}.{name}")


class SchemaTest(unittest.TestCase):
    def problems(self, text):
        value = yaml.load(text, Loader)
        problems = list(check(value, SCHEMA))
        if jsonschema is not None:
            other = list(jsonschema.Draft7Validator(SCHEMA).iter_errors(value))
            self.assertEqual(bool(problems), bool(other), f"{text}\nhere: {problems}\njsonschema: {other}")
        return problems

    def test_schema_is_one(self):
        if jsonschema is None:
            self.skipTest("jsonschema is not installed (python3-jsonschema)")
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_good_files(self):
        files = glob.glob(str(SOURCE / "docs/examples/*.yaml")) + glob.glob(str(SOURCE / "opsplit/tests/good/*.yaml"))
        self.assertGreater(len(files), 4)
        for file in files:
            self.assertEqual(self.problems(Path(file).read_text(encoding="utf-8")), [], file)

    def test_bad_files(self):
        out = "outputs: {o: {columns: [a]}}\n"
        for text in (
            "name: x\n",
            out + "operator: []\n",
            out + "operators: [{map: {expr: 1}}]\n",
            out + "operators: [{map: {expr: 1, out: a, oout: b}}]\n",
            out + "operators: [{map: {expr: 1, out: a}, scan: {in: a, out: b}}]\n",
            out + "operators: [{reduce: {in: a, function: avg, out: b}}]\n",
            out + "operators: [{while: {condition: true}, do: []}]\n",
            out + "operators: [{while: {condition: true, rounds: 0}, do: []}]\n",
            out + "operators: [{for: {index: i, from: 0}, do: []}]\n",
            out + "operators: [{op: a, operation: Map, do: []}]\n",
            out + "operators: [{if: {condition: true}}]\n",
            out + "operators: [5]\n",
            out + "vectors: {a: {template: Vector}}\n",
            out + "vectors: {a: {type: int}}\n",
            out + "vectors: {a: {split: 0}}\n",
            out + "vectors: {a: {partitioner: {weight: a, hash: b}}}\n",
            out + "inputs: {a: {parse: xls}}\n",
            out + "inputs: {a: {header: 1}}\n",
            "outputs: {o: {}}\n",
            "outputs: {o: {format: doc, columns: [a]}}\n",
            out + "reducer: {key: a}\n",
        ):
            self.assertNotEqual(self.problems(text), [], text)


if __name__ == "__main__":
    unittest.main()
