# SPDX-License-Identifier: Apache-2.0
"""hac.sort, hac.argsort, hac.empty."""
import operator
import sys
from typing import Any, Optional, Tuple

from . import _hac
from ._connection import connection, finish, job_options
from ._errors import NoMemoryError, UnsupportedError
from ._progress import bar_of

# <hac/type.h>, by the kind and the size of NumPy's types
KEY_TYPES = {("u", 4): 1, ("i", 4): 2, ("f", 4): 3, ("u", 8): 4, ("i", 8): 5, ("f", 8): 6}
NAMES = "uint32, int32, float32, uint64, int64, float64"
WIDER = {("u", 1): "uint32", ("u", 2): "uint32", ("i", 1): "int32", ("i", 2): "int32", ("b", 1): "uint32",
         ("f", 2): "float32"}


class Column:
    """A column that hac made: the result of sorting an Arrow column.

    It has `__arrow_c_array__` and `__arrow_c_stream__`, so `pyarrow.array(column)`, `polars.Series(column)` and the like
    read it. No conversion copies the items; what is made from the column keeps the memory alive, and is read-only.
    """

    __slots__ = ("_job", "_dtype")

    def __init__(self, job: _hac.Job, dtype: str):
        self._job, self._dtype = job, dtype

    def __len__(self) -> int:
        return len(memoryview(self._job))

    def __repr__(self) -> str:
        return f"<hac.Column: {len(self)} x {self.to_numpy().dtype}>"

    def __arrow_c_array__(self, requested_schema=None):
        return self._job.arrow_array()

    def __arrow_c_stream__(self, requested_schema=None):
        return self._job.arrow_stream()

    def __array__(self, dtype=None, copy=None):
        import numpy
        array = self.to_numpy()
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError("another type takes a copy")
            return array.astype(dtype)
        return numpy.array(array) if copy else array

    def to_numpy(self):
        """A NumPy array: a read-only view."""
        import numpy
        return numpy.asarray(self._job)

    def to_arrow(self):
        """A pyarrow.Array: a view."""
        import pyarrow
        return pyarrow.array(self)

    def to_polars(self):
        """A polars.Series."""
        import polars
        return polars.Series(self)

    def to_pandas(self):
        """A pandas.Series: a view."""
        import pandas
        return pandas.Series(self.to_numpy(), copy=False)

    def why(self) -> str:
        """What hacd says about the job: devices, times, reasons."""
        from . import why
        return why(self._job.id)


def empty(n: int, dtype="float64"):
    """A new NumPy array of `n` items in memory that the devices share, like numpy.empty.

    What is sorted from there, or queried, by the thread that made the array, is not copied first. The memory goes back to
    hacd when the last view of it is gone. Raises RefusedError if the user's quota does not have it.
    """
    import numpy
    kind = numpy.dtype(dtype)
    if kind.hasobject or kind.itemsize == 0:
        raise UnsupportedError(f"hac.empty: items of type {kind} have no fixed size in memory")
    n = operator.index(n)
    if n < 0:
        raise ValueError(f"hac.empty: {n} items")
    if n * kind.itemsize > sys.maxsize:
        raise NoMemoryError(f"hac.empty: {n} items of {kind} are more than memory can have")
    memory: Any = connection().alloc(max(n * kind.itemsize, 1))
    return numpy.frombuffer(memory, kind, n) if n else numpy.empty(0, kind)


def _keys_of(a, what: str):
    """(type, array that hac can read) of a NumPy array."""
    dtype = a.dtype
    kind = KEY_TYPES.get((dtype.kind, dtype.itemsize))
    if kind is None:
        wider = WIDER.get((dtype.kind, dtype.itemsize))
        instead = (f"a.astype('{wider}') has the same order" if wider else
                   "a.view('int64') has the same order, but for NaT" if dtype.kind in "mM" else "convert it first")
        raise UnsupportedError(f"{what}: keys of type {dtype} cannot be sorted, only {NAMES}; {instead}")
    if a.ndim != 1:
        raise UnsupportedError(f"{what}: an array of {a.ndim} dimensions; only arrays of one dimension can be sorted: "
                               "a.ravel(), or one row after the other")
    if type(a).__name__ == "MaskedArray":
        raise UnsupportedError(f"{what}: masked arrays cannot be sorted; a.compressed() has the items that are not masked")
    if not dtype.isnative or not a.flags.c_contiguous:
        native = empty(len(a), dtype.newbyteorder("="))
        native[...] = a
        a = native
    return kind, a


def _submit_sort(a, what: str, options: dict):
    """(job, dtype of a NumPy array or None) of what was given."""
    loaded = sys.modules.get("numpy")  # who has an array has NumPy
    if loaded is not None and isinstance(a, loaded.ndarray):
        options["type"], a = _keys_of(a, what)
        return connection().sort_buffer(a, options), a.dtype
    if isinstance(a, Column):
        a = a.to_numpy()
        options["type"], a = _keys_of(a, what)
        return connection().sort_buffer(a, options), None
    if hasattr(a, "__arrow_c_array__"):
        return connection().sort_arrow(*_pair(a.__arrow_c_array__()), options), None
    if hasattr(a, "__arrow_c_stream__"):
        return connection().sort_stream(a.__arrow_c_stream__(), options), None
    if hasattr(a, "__dlpack__"):
        import numpy
        return _submit_sort(numpy.from_dlpack(a), what, options)
    raise UnsupportedError(f"{what}: neither a NumPy array nor an Arrow column (something with __arrow_c_array__ or "
                           f"__arrow_c_stream__) nor a DLPack array, but {type(a).__name__}; numpy.asarray(a) makes an array")


def _pair(capsules: Any) -> Tuple[object, object]:
    if not isinstance(capsules, tuple) or len(capsules) != 2:
        raise TypeError(f"__arrow_c_array__ gave {type(capsules).__name__}, not a pair of capsules")
    return capsules


def _sorted(a, what: str, descending: bool, argsort: bool, progress: Optional[bool], more: dict):
    options = job_options("descending, progress, ", **more) if more else {}
    bar = bar_of(progress)
    if bar is not None:
        options["progress"] = bar.record
    if descending:
        options["descending"] = 1
    if argsort:
        options["argsort"] = 1
    job, dtype = _submit_sort(a, what, options)
    finish(job, bar)
    if dtype is None:
        return Column(job, "")
    import numpy
    return numpy.frombuffer(job, ("uint32" if len(a) < 1 << 32 else "uint64") if argsort else dtype)


def sort(a, *, descending: bool = False, progress: Optional[bool] = None, **job):
    """The sorted keys: of a NumPy or DLPack array a read-only NumPy array, of an Arrow column a hac.Column.

    Keys are uint32, int32, float32, uint64, int64 or float64, in one dimension, without nulls; floats are in total order,
    with -0.0 before 0.0 and all NaNs behind infinity. `descending` is the reverse order. The array may be strided or of the
    other byte order. It is not changed; it is copied once, into memory that the devices share, unless it lies there
    (hac.empty). The result is a view of what the devices wrote, and keeps that memory until it is freed: `.copy()` makes
    an array of one's own.

    job: `devices` (names), `priority` (-100 to 100), `deadline` (seconds), `memory_limit` (bytes).
    progress: whether a progress bar is shown on standard error, if the call takes longer than half a second; None: on a
    terminal and in notebooks, but not in calls of hac.submit. tqdm draws it if it is installed.

    Raises UnsupportedError for other types, and hac.Error for what hacd reports.
    """
    return _sorted(a, "hac.sort", descending, False, progress, job)


def argsort(a, *, descending: bool = False, progress: Optional[bool] = None, **job):
    """The indices that sort the keys: uint32, from 2**32 keys on uint64. Keys that are equal keep their order (stable).

    The arguments are those of hac.sort.
    """
    return _sorted(a, "hac.argsort", descending, True, progress, job)
