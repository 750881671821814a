# SPDX-License-Identifier: Apache-2.0
"""Names and values of other libraries in the query language, for filters that they hand over."""
import datetime
import decimal
import math
import struct
from typing import Any


class Unknown(Exception):
    """A part of a filter that stays with the library it comes from."""


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any, kind: str) -> str:
    """A value that is compared with a column of type `kind`, in the query language: a type of docs/expressions.md, where `integer`
    stands for all of those. Raises Unknown where the comparison would not be the other library's."""
    if kind == "integer" and type(value) is int:
        return f"({value})"
    if kind in ("f32", "f64") and type(value) is float and math.isfinite(value):
        if kind == "f64" or (abs(value) < 3e38 and struct.unpack("f", struct.pack("f", value))[0] == value):
            return f"({value:.17e})"
    if kind == "string" and isinstance(value, str) and "\0" not in value:
        return "'" + value.replace("'", "''") + "'"
    if kind == "date" and type(value) is datetime.date:
        return f"date '{value.isoformat()}'"
    if kind == "timestamp" and isinstance(value, datetime.datetime) and value.tzinfo is None:
        return f"timestamp '{value.isoformat(' ', 'microseconds')}'"
    if kind == "decimal" and isinstance(value, decimal.Decimal) and value.is_finite():
        return f"({value:f})"
    raise Unknown
