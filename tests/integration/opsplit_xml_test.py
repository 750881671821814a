#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Outputs of logic files as XML, read back by expat: of any size, in memory that does not grow with the output, around the
blocks in which they are written, and with every character."""
import codecs
import os
import random
import resource
import sys
import xml.etree.ElementTree
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
from machine import SANITIZED, SharedMachineTest, main  # noqa: E402

BLOCK = 64 << 10  # HAC_XML_BLOCK
OLD_LIMIT = 64 << 20
FRAME = len('<?xml version="1.0" encoding="UTF-8"?>\n<rows>\n  <row><value name="t"></value></row>\n</rows>\n')
SHORT_ROW = len('  <row><value name="t">z</value></row>\n')

# Bytes that are not UTF-8 are replaced one by one in hac; Python replaces the start of a character at once.
codecs.register_error("each", lambda e: ("\ufffd" * (e.end - e.start), e.end))


def as_xml_has_it(line):
    """A line's text, with U+FFFD for what XML 1.0 cannot express, including a CR at the line's end."""
    line = line.removesuffix(b"\r")
    return "".join("\ufffd" if (c < " " and c not in "\t\n\r") or c in "\ufffe\uffff" else c
                   for c in line.decode(errors="each"))


def rows_of(path):
    """[{column: text}] of a file, row by row."""
    rows, root = [], None
    for event, element in xml.etree.ElementTree.iterparse(path, ("start", "end")):
        root = element if root is None else root
        if event == "end" and element.tag == "row":
            rows.append({value.get("name"): value.text or "" for value in element})
            root.clear()
    return rows


class Xml(SharedMachineTest):
    def written(self, logic, inputs, **more):
        """{name of an output: its path} of a run."""
        self.runs = getattr(self, "runs", 0) + 1
        path, folder = self.m.work / "xml.yaml", self.m.work / f"{self._testMethodName}{self.runs}"
        path.write_text(logic)
        words = [word for name, given in inputs.items() for word in ("--input", f"{name}={given}")]
        self.m.good("opsplit", "run", path, *words, "-o", folder, **more)
        found = {path.name.removesuffix(".xml"): path for path in folder.iterdir()}
        self.assertFalse([path for path in found.values() if path.suffix != ".xml"], "temporary files")
        return found

    def text(self, name, lines):
        path = self.m.work / name
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path

    def test_beyond_64_mib(self):
        """Many small rows and few large ones; hacctl may use half as much memory as it writes."""
        r = random.Random(7)
        words = [word.encode() for word in ("a", "&", "<b>", "\"c\"", "]]>", "ä€🙂", "plain text of some length", "\r")]
        parts = [b" ".join(r.choices(words, k=r.choice((1, 10, 900)))) for _ in range(60)]
        lines = [b" ".join(r.choices(parts, k=r.choice((0, 1, 8)))) for _ in range(6500)]
        lines.append(b"&" * (3 << 20))
        logic = """
inputs: {t: {parse: lines}}
operators:
  - range: {rows: t.line, from: -5, out: number}
  - map: {expr: "cast(number as f64) / 7", out: part}
outputs: {o: {format: xml, columns: {text: t.line, "<n>": number, part: part}}}
"""
        most = {} if SANITIZED else {
            "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_DATA, (OLD_LIMIT // 2, OLD_LIMIT // 2))}
        path = self.written(logic, {"t": self.text("large", lines)}, **most)["o"]
        self.assertGreater(path.stat().st_size, OLD_LIMIT + (1 << 20))
        rows = rows_of(path)
        self.assertEqual(len(rows), len(lines))
        for i, (row, line) in enumerate(zip(rows, lines)):
            self.assertEqual(list(row), ["text", "<n>", "part"])
            self.assertTrue(row["text"] == line.decode().removesuffix("\r"), f"row {i}")
            self.assertEqual((int(row["<n>"]), float(row["part"])), (i - 5, (i - 5) / 7))

    def test_blocks(self):
        """Files that end around the end of a block, and characters that cross one."""
        sizes = [blocks * BLOCK + more for blocks in (1, 2, 16) for more in (-1, 0, 1)]
        lines = {f"b{size}": b"x" * (size - FRAME) for size in sizes}
        # behind a short line, without which the CRs would be taken for ends of lines
        lines |= {f"e{i}": b"y" * (BLOCK - FRAME - SHORT_ROW + i) + "&<>\"\r€🙂".encode() * 9 for i in range(12)}
        logic = "inputs:\n" + "".join(f"  {name}: {{parse: lines}}\n" for name in lines)
        logic += "operators: [{fill: {value: 1, rows: 1, out: one}}]\noutputs:\n" + "".join(
            f"  o{name}: {{format: xml, columns: {{t: {name}.line}}}}\n" for name in lines)
        found = self.written(logic, {name: self.text(name, [b"z"] * (name[0] == "e") + [line]) for name, line in lines.items()})
        self.assertEqual([found[f"ob{size}"].stat().st_size for size in sizes], sizes)
        for name, line in lines.items():
            self.assertTrue(rows_of(found[f"o{name}"])[name[0] == "e":] == [{"t": line.decode()}], name)

    def test_characters(self):
        """Every byte, alone and beside others; what XML 1.0 cannot write is U+FFFD."""
        lines = [bytes([byte]) for byte in range(256) if byte != 10]
        lines += [b"a" + bytes([byte]) + b"\xa9z" for byte in range(128, 256)]
        lines += [chr(c).encode(errors="surrogatepass") for c in (
            0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdfff, 0xe000, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1fffe, 0x10ffff)]
        lines += [b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xe2\x82", b"", b" both ends ", b"]]>", b"<!-- -->&amp;&#65;", b"\r\r"]
        logic = """
inputs: {t: {parse: lines}}
operators: [{range: {rows: t.line, out: number}}]
outputs:
  all: {format: xml, columns: {text: t.line}}
  some: {format: xml, columns: {text: t.line, n: number}, where: "n < 3", order_by: "n desc"}
  none: {format: xml, columns: {text: t.line, n: number}, where: "n < 0"}
  names: {format: xml, columns: {"a\\tb\\r\\n\\"<&>'€": number}, limit: 1}
"""
        found = self.written(logic, {"t": self.text("characters", lines)})
        self.assertEqual([row["text"] for row in rows_of(found["all"])], [as_xml_has_it(line) for line in lines])
        self.assertEqual(rows_of(found["some"]), [{"text": as_xml_has_it(lines[n]), "n": str(n)} for n in (2, 1, 0)])
        self.assertEqual(rows_of(found["none"]), [])
        self.assertEqual(rows_of(found["names"]), [{"a\tb\r\n\"<&>'€": "0"}])
        self.assertEqual(os.stat(found["none"]).st_mode & 0o777, os.stat(self.m.work / "xml.yaml").st_mode & 0o777)


if __name__ == "__main__":
    main()
