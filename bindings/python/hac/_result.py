# SPDX-License-Identifier: Apache-2.0
"""The result of a query."""
import html
from typing import Any, Dict, List, Tuple

from . import _hac
from ._connection import PLAN, TEXT, WHY, ask
from ._errors import Error
from ._table import array_of_column

SHOWN_ROWS = 20


class Result:
    """The rows of a query, as columns in the memory where hacd left them.

    It has `__arrow_c_stream__` and `__arrow_c_array__`, so pyarrow.table(result), polars.DataFrame(result), a DuckDB query
    over it, and hac.sql(…, t=result) read it. The conversions copy no data, but where they say so; what is made from a result
    keeps the memory alive.
    """

    __slots__ = ("_job", "_parts_kept")

    def __init__(self, job: _hac.Job):
        self._job = job
        self._parts_kept: Any = None

    # ---- shape ----

    @property
    def _parts(self) -> list:
        if self._parts_kept is None:
            self._parts_kept = self._job.parts()
        return self._parts_kept

    def __len__(self) -> int:
        return self._parts[0][2] if self._parts else 0

    @property
    def columns(self) -> List[Tuple[str, str]]:
        """The name and the type of each column, as a schema has them: [("city", "string"), ("s", "f64")]."""
        return self._job.columns

    @property
    def job(self) -> int:
        """The number of the job, which `hacctl show` takes."""
        return self._job.id

    @property
    def notes(self) -> str:
        """What hacd remarks about the result, such as how many records were skipped; "" for nothing."""
        return self._job.text

    @property
    def schema(self) -> str:
        """The columns that were read, if their types were inferred: what `schema=` takes, cut at 1 KiB. Else ""."""
        return self._job.assumed

    # ---- conversions ----

    def __arrow_c_stream__(self, requested_schema=None):
        return self._job.arrow_stream()

    def __arrow_c_array__(self, requested_schema=None):
        return self._job.arrow_array()

    def to_arrow(self):
        """A pyarrow.Table: views."""
        import pyarrow
        return pyarrow.table(self)

    def to_polars(self):
        """A polars.DataFrame. Polars copies strings, for it has another layout of them."""
        import polars
        return polars.DataFrame(self)

    def to_pandas(self):
        """A pandas.DataFrame, made by pyarrow; pandas copies what it has another layout of."""
        return self.to_arrow().to_pandas()

    def to_numpy(self) -> Dict[str, Any]:
        """A dict of NumPy arrays, one for each column.

        Numbers and timestamps are read-only views; dates, booleans, decimals, texts and bytes are copies (the latter three
        as arrays of objects, with None for null; a string column is bytes if one of its values is not UTF-8). Other columns with nulls are masked arrays.
        """
        return {part[0]: array_of_column(part) for part in self._parts}

    # ---- what hacd says ----

    def explain(self) -> str:
        """The plan by which the query ran."""
        return ask(PLAN, self._job.id, TEXT)

    def why(self) -> str:
        """What happened: devices, times, and the reasons of the plan."""
        return ask(WHY, self._job.id)

    # ---- display ----

    def _head(self) -> Tuple[List[str], List[list]]:
        shown = min(len(self), SHOWN_ROWS)
        columns = [array_of_column(part, 0, shown).tolist() for part in self._parts]
        return [f"{name}" for name, _ in self.columns], [list(row) for row in zip(*columns)]

    def __repr__(self) -> str:
        columns = ", ".join(f"{name} {kind}" for name, kind in self.columns)
        return f"<hac.Result: {len(self)} rows; {columns}>"

    def _repr_html_(self) -> str:
        """For notebooks: the first rows, and the plan behind a click."""
        names, rows = self._head()

        def cells(tag: str, values: list) -> str:
            return "".join(f"<{tag}>{'' if v is None else html.escape(str(v))}</{tag}>" for v in values)
        types = cells("th", [kind for _, kind in self.columns])
        body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
        more = f"first {len(rows)} of {len(self)} rows" if len(rows) < len(self) else f"{len(self)} rows"
        try:
            plan = f"<details><summary>plan</summary><pre>{html.escape(self.explain())}</pre></details>"
        except Error:  # hacd has forgotten the job
            plan = ""
        return (f"<table><thead><tr>{cells('th', names)}</tr><tr>{types}</tr></thead><tbody>{body}</tbody></table>"
                f"<p>{more}</p>{plan}")
