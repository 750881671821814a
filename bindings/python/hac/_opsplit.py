# SPDX-License-Identifier: Apache-2.0
"""hac.opsplit: logic files."""
import os
from typing import Any, Dict, Optional, Sequence, Tuple

from ._connection import lent_connection, run_aside
from ._errors import UnsupportedError

# <hac/op.h>: hac_vector_template, and hac_vector_type by the kind and the size of NumPy's types
FIX_VALUE, VAR, SPARSE_MATRIX = 1, 5, 7
ELEMENTS = {("b", 1): 1, ("i", 4): 4, ("i", 8): 5, ("u", 4): 8, ("u", 8): 9, ("f", 4): 10, ("f", 8): 11}
DTYPES = {number: "bool" if kind == "b" else f"{kind}{size}" for (kind, size), number in ELEMENTS.items()}


def _element(name: str, dtype: Any) -> int:
    found = ELEMENTS.get((dtype.kind, dtype.itemsize))
    if found is None:
        raise UnsupportedError(f"input {name} is {dtype}; vectors have bool, int32, int64, uint32, uint64, float32 or float64: use "
                               "astype")
    return found


def _input(name: str, value: Any) -> tuple:
    if isinstance(value, (str, os.PathLike)):
        return name, os.fsencode(value)
    import numpy
    if hasattr(value, "tocoo"):  # SciPy's sparse matrices
        matrix = value.tocsr().tocoo()  # equal places are added up
        values = numpy.ascontiguousarray(matrix.data)
        return (name, SPARSE_MATRIX, _element(name, values.dtype), *matrix.shape,
                (values, matrix.row.astype("uint64"), matrix.col.astype("uint64")))
    array = numpy.asarray(value)
    kind = _element(name, array.dtype)
    array = numpy.ascontiguousarray(array, array.dtype.newbyteorder("="))
    if numpy.ndim(value) == 0:
        zero = numpy.zeros(1, "uint64")
        return name, VAR, kind, 1, 1, (array.reshape(1), zero, zero)
    if array.ndim > 2:
        raise UnsupportedError(f"input {name} has {array.ndim} dimensions; vectors have one, matrices two")
    return name, FIX_VALUE, kind, array.shape[0], array.shape[1] if array.ndim == 2 else 1, (array,)


def _result(parts: tuple) -> Any:
    import numpy
    form, kind, rows, columns, data, row, column = parts
    values = numpy.frombuffer(data, DTYPES[kind])
    if form == FIX_VALUE:
        return values.reshape(rows, columns) if columns > 1 else values
    if form == VAR:
        return values[0]
    return numpy.frombuffer(row or b"", "uint64"), numpy.frombuffer(column or b"", "uint64"), values


def opsplit(path: Any, inputs: Optional[Dict[str, Any]] = None, results: Sequence[str] = (), output: Any = None) -> Dict[str, Any]:
    """Runs a logic file (docs/flows/opsplit.md), and returns the vectors that `results` names.

        hac.opsplit("jacobi.yaml", {"rest": matrix, "diagonal": d, "b": b, "tolerance": 1e-9}, ["x"])["x"]

    inputs: all inputs of the file, by name: a path for one that is read; for one with a template a number (Var), a NumPy array of
    one dimension (FixValueVector) or two (with columns), or a sparse matrix of SciPy (SparseMatrix), of the type that the file
    says. output: the folder for the outputs of the file; None: nothing is written.

    Results are copies: a number, an array of one dimension, or two if it has several columns, or, of the other templates, a triple of arrays: rows, columns
    (of a VariableLenVector: places in the row) and values. Ctrl-C and Future.cancel() end the run.

    Raises InvalidError with FILE:LINE:COLUMN if the file is wrong or an input does not fit; JobError if a sub-operator fails.
    """
    if isinstance(results, str):
        raise TypeError(f"results is a list of names: [{results!r}]")
    given = [_input(name, value) for name, value in (inputs or {}).items()]
    wanted: Tuple[str, ...] = tuple(results)
    folder = None if output is None else os.fsencode(output)
    with lent_connection() as mine:
        found = run_aside(lambda stop: mine.opsplit(os.fsencode(path), given, wanted, folder, stop))
    return {name: _result(parts) for name, parts in zip(wanted, found)}
