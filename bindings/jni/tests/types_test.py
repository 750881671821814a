#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""HacType.Kind lists the types of base/src/value.c, in their order, with the same Arrow formats and widths."""
import re
import sys
from pathlib import Path

table, java = (Path(name).read_text() for name in sys.argv[1:3])
rows = re.findall(r'\[HAC_KIND_(\w+)\] += \{"\w+", +HAC_CLASS_\w+, +\w+, +(\d+), +\d+, +"([^"]*)"', table)
wanted = [(name, arrow, {"BOOL": "0", "DECIMAL": "16"}.get(name, width)) for name, width, arrow in rows]
found = re.findall(r'^        (\w+)\("([^"]*)", (\d+)\)[,;]', java, re.M)
if len(wanted) < 16 or wanted != found:
    sys.exit(f"HacType.Kind and hac_kinds differ:\n  Java  {found}\n  base  {wanted}")
