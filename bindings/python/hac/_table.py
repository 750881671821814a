# SPDX-License-Identifier: Apache-2.0
"""NumPy arrays as the columns of a table: buffers as Arrow lays them out. What needs no conversion is not copied."""
import datetime
import decimal
import numbers
import sys
from typing import Any, List, Optional, Tuple

from ._errors import InvalidError, UnsupportedError

# Arrow's formats by the kind and the size of NumPy's types
FORMATS = {("i", 1): "c", ("u", 1): "C", ("i", 2): "s", ("u", 2): "S", ("i", 4): "i", ("u", 4): "I", ("i", 8): "l",
           ("u", 8): "L", ("f", 2): "e", ("f", 4): "f", ("f", 8): "g"}
UNITS = {"s": "tss:", "ms": "tsm:", "us": "tsu:", "ns": "tsn:"}

Column = Tuple[str, Any, Any]


def _bits(valid) -> Any:
    import numpy
    return None if valid is None or valid.all() else numpy.packbits(valid, bitorder="little")


def _both(a, b):
    return b if a is None else a if b is None else a & b


def _strings(name: str, values: list, valid) -> Column:
    """Texts, or bytes, with 64-bit offsets."""
    import numpy
    kinds = {type(v) for v in values if v is not None}
    if kinds <= {bytes, bytearray}:
        form, parts = ("Z" if kinds else "U"), [v if v is not None else b"" for v in values]
    elif all(issubclass(kind, str) for kind in kinds):
        form, parts = "U", [v.encode() if v is not None else b"" for v in values]
    else:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise UnsupportedError(f"column {name} has objects of type {names}; an array of objects may have str and None, or bytes "
                               "and None: give it a type with astype")
    valid = _both(valid, numpy.fromiter((v is not None for v in values), bool, len(values)))
    if valid is not None:
        parts = [part if good else b"" for part, good in zip(parts, valid)]
    offsets = numpy.zeros(len(parts) + 1, "int64")
    numpy.cumsum([len(part) for part in parts], out=offsets[1:])
    return name, form, (_bits(valid), offsets, b"".join(parts))


def _objects(name: str, array, valid) -> Column:
    """An array of objects: texts, with None or NaN where there is none."""
    values = [None if v is None or (isinstance(v, float) and v != v) else v for v in array.tolist()]
    return _strings(name, values, valid)


def _times(name: str, array, valid) -> Column:
    import numpy
    unit = numpy.datetime_data(array.dtype)
    if unit[0] in ("Y", "M", "W", "D"):
        days = array.astype("M8[D]")
        if days.dtype != array.dtype and len(array) and (days.astype(array.dtype) != array)[~numpy.isnat(array)].any():
            raise InvalidError(f"column {name} has dates that are out of range")
        valid = _both(valid, ~numpy.isnat(array))
        numbers = days.view("int64")
        narrow = numbers.astype("int32")
        if ((narrow != numbers) & valid).any():
            raise InvalidError(f"column {name} has dates that are out of range")
        return name, "tdD", (_bits(valid), narrow)
    if unit[0] in ("h", "m") or unit[1] != 1:
        finer = array.astype("M8[s]" if unit[0] in ("h", "m", "s") else f"M8[{unit[0]}]")
        if ((finer.astype(array.dtype) != array) & ~numpy.isnat(array)).any():  # it wrapped around
            raise InvalidError(f"column {name} has times that are out of range")
        array, unit = finer, numpy.datetime_data(finer.dtype)
    if unit[0] not in UNITS:
        raise UnsupportedError(f"column {name} is {array.dtype}: a.astype('M8[us]') has microseconds, the finest unit that there is")
    valid = _both(valid, ~numpy.isnat(array))
    return name, UNITS[unit[0]], (_bits(valid), numpy.ascontiguousarray(array).view("int64"))


def column_of_array(name: str, array) -> Column:
    """A column of a NumPy array of one dimension."""
    import numpy
    valid = None
    if isinstance(array, numpy.ma.MaskedArray):
        valid, array = ~numpy.ma.getmaskarray(array), array.data
    if array.ndim != 1:
        raise UnsupportedError(f"column {name} has {array.ndim} dimensions; a column has one: array.ravel()")
    dtype = array.dtype
    if not dtype.isnative:
        array = array.astype(dtype.newbyteorder("="))
    form = FORMATS.get((dtype.kind, dtype.itemsize))
    if form is not None:
        return name, form, (_bits(valid), numpy.ascontiguousarray(array))
    if dtype.kind == "b":
        return name, "b", (_bits(valid), numpy.packbits(array, bitorder="little"))
    if dtype.kind == "M":
        return _times(name, array, valid)
    if dtype.kind == "O":
        return _objects(name, array, valid)
    if dtype.kind in "UST":
        return _strings(name, array.tolist(), valid)
    instead = "a.astype('int64') has its numbers" if dtype.kind == "m" else "convert it first"
    raise UnsupportedError(f"column {name} is {dtype}, which queries do not have; {instead}")


def _column(name: str, values: Any) -> Tuple[Column, int]:
    """A column, and its number of rows; -1: what it came from says it."""
    import numpy
    if not isinstance(values, numpy.ndarray) and hasattr(values, "__arrow_c_array__"):
        schema, array = values.__arrow_c_array__()
        return (name, schema, array), len(values)
    if isinstance(values, (list, tuple)):
        return _column_of_list(name, values), len(values)
    if not isinstance(values, numpy.ndarray):
        if hasattr(values, "__arrow_c_stream__") and not isinstance(getattr(values, "dtype", None), numpy.dtype):
            return _column_of_stream(name, values)
        if hasattr(values, "to_numpy"):
            values = values.to_numpy()
        else:
            raise UnsupportedError(f"column {name} is a {type(values).__name__}; columns are NumPy arrays, lists, or Arrow arrays "
                                   "(with __arrow_c_array__)")
    column = column_of_array(name, values)
    return column, len(values)


def _column_of_stream(name: str, values: Any) -> Tuple[Column, int]:
    """A column in several pieces, such as pyarrow.ChunkedArray or a series of polars: to_numpy() would turn its nulls into NaN."""
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(f"column {name} is a {type(values).__name__}, which takes pyarrow in a dict: install it, or give the "
                               "whole frame") from None
    chunked = pyarrow.chunked_array(values)
    whole = chunked.chunk(0) if chunked.num_chunks == 1 else pyarrow.concat_arrays(chunked.chunks) if chunked.num_chunks else \
        pyarrow.array([], chunked.type)
    return (name, *whole.__arrow_c_array__()), len(whole)


# ---- lists ----

def _integers(name: str, filled: list) -> Any:
    """An array of integers that do not all fit into int64, or of some besides floats, without loss of digits."""
    import numpy
    if all(isinstance(v, numbers.Integral) for v in filled):
        try:
            return numpy.array(filled, "uint64")
        except OverflowError:
            raise InvalidError(f"column {name} has integers that fit neither into int64 nor into uint64") from None
    for v in filled:
        if isinstance(v, numbers.Integral) and (abs(int(v)) >> 1023 or float(v) != v):
            raise InvalidError(f"column {name} has floats, and the integer {v}, of which float64 would lose digits: make all of "
                               "them floats, or integers")
    return numpy.array(filled)


def _decimals(name: str, values: list) -> Column:
    """Decimals of up to 38 digits, with as many behind the point as the longest has."""
    import numpy
    there = [v for v in values if v is not None]
    if not all(v.is_finite() for v in there):
        raise InvalidError(f"column {name} has decimals that are not finite; None is null")
    scale = max(max(-v.as_tuple().exponent for v in there), 0)
    if scale > 38 or any(v and v.adjusted() + scale >= 38 for v in there):
        raise InvalidError(f"column {name} has decimals of more than 38 digits")
    # Exact whatever the caller's context is: its precision, exponents and traps are for the caller's arithmetic.
    context = decimal.Context(prec=38, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[])
    whole = [int(v.scaleb(scale, context)) if v else 0 for v in values]
    valid = numpy.fromiter((v is not None for v in values), bool, len(values))
    data = b"".join(v.to_bytes(16, "little", signed=True) for v in whole)
    return name, f"d:38,{scale}", (_bits(valid), data)


def _column_of_list(name: str, values: Any) -> Column:
    """A list as a column: numbers, times, decimals or texts, with None as null."""
    import numpy
    there = [v for v in values if v is not None]
    kinds = {type(v) for v in there}
    if not kinds or any(issubclass(kind, (str, bytes, bytearray)) for kind in kinds):
        return _strings(name, list(values), None)
    if all(issubclass(kind, decimal.Decimal) for kind in kinds):
        return _decimals(name, list(values))
    if all(issubclass(kind, datetime.date) for kind in kinds):
        if any(getattr(v, "tzinfo", None) is not None for v in there):
            raise UnsupportedError(f"column {name} has times with a time zone; v.astimezone(datetime.timezone.utc)"
                                   ".replace(tzinfo=None) has none")
        unit = "us" if any(issubclass(kind, datetime.datetime) for kind in kinds) else "D"
        return column_of_array(name, numpy.array(values, f"M8[{unit}]"))
    filled = [v if v is not None else there[0] for v in values]
    array = numpy.array(filled)
    if array.dtype.kind in "fO" and any(issubclass(kind, numbers.Integral) for kind in kinds) and \
            all(issubclass(kind, numbers.Real) for kind in kinds):
        array = _integers(name, filled)
    if len(there) < len(values):
        array = numpy.ma.array(array, mask=[v is None for v in values])
    return column_of_array(name, array)


def columns_of_dict(table: Any) -> Tuple[List[Column], int]:
    """The columns of a dict of arrays, and the number of rows."""
    columns, rows, first = [], None, ""  # type: ignore
    for name, values in table.items():
        if not isinstance(name, str):
            raise UnsupportedError(f"a column's name is a str, not {type(name).__name__}")
        column, n = _column(name, values)
        if rows is not None and n != rows:
            raise InvalidError(f"column {name} has {n} rows, and {first} has {rows}")
        rows, first = n, first or name
        columns.append(column)
    return columns, rows or 0


def columns_of_structured(array) -> Tuple[List[Column], int]:
    """The fields of a structured NumPy array."""
    return columns_of_dict({name: array[name] for name in array.dtype.names})


def is_array(table: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(table, numpy.ndarray)


# ---- the other way ----

DTYPES = {form: f"{kind}{size}" for (kind, size), form in FORMATS.items()}


def _mask(part: Optional[Any], start: int, stop: int):
    import numpy
    if part is None:
        return None
    bits = numpy.unpackbits(numpy.frombuffer(part, "uint8"), bitorder="little", count=stop)
    mask = bits[start:stop] == 0
    return mask if mask.any() else None


def _text_values(form: str, parts: tuple, mask, start: int, stop: int):
    import numpy
    offsets = numpy.frombuffer(parts[1], "int64" if form in "UZ" else "int32")[start:stop + 1].tolist()
    data = memoryview(parts[2] if parts[2] is not None else b"")
    values = numpy.empty(stop - start, object)
    text = form in "uU"
    for i in range(stop - start):
        if mask is None or not mask[i]:
            value = bytes(data[offsets[i]:offsets[i + 1]])
            values[i] = value.decode("utf-8", "replace") if text else value
    return values


def _decimal_values(form: str, part: Any, mask, start: int, stop: int):
    import numpy
    scale = int(form[2:].split(",")[1])
    raw = memoryview(part)
    values = numpy.empty(stop - start, object)
    with decimal.localcontext() as context:
        context.prec = 60
        for i in range(start, stop):
            if mask is None or not mask[i - start]:
                number = int.from_bytes(raw[16 * i:16 * i + 16], "little", signed=True)
                values[i - start] = decimal.Decimal(number).scaleb(-scale)
    return values


def array_of_column(column: tuple, start: int = 0, stop: Optional[int] = None):
    """A NumPy array of rows of a result's column (_hac.Job.parts). Numbers and timestamps are views."""
    import numpy
    _, form, rows, parts = column
    stop = rows if stop is None else min(stop, rows)
    mask = _mask(parts[0], start, stop)
    if form in ("u", "U", "z", "Z"):
        return _text_values(form, parts, mask, start, stop)
    if form.startswith("d:"):
        return _decimal_values(form, parts[1], mask, start, stop)
    if form == "b":
        values = numpy.unpackbits(numpy.frombuffer(parts[1], "uint8"), bitorder="little", count=stop)[start:].astype(bool)
    elif form == "tdD":
        values = numpy.frombuffer(parts[1], "int32")[start:stop].astype("M8[D]")
    elif form.startswith("ts"):
        values = numpy.frombuffer(parts[1], "M8[us]")[start:stop]
    else:
        values = numpy.frombuffer(parts[1], DTYPES[form])[start:stop]
    return values if mask is None else numpy.ma.array(values, mask=mask)
