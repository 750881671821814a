# SPDX-License-Identifier: Apache-2.0
"""hac: sorts and queries on all of a machine's accelerators, through its daemon hacd.

    import hac, numpy
    keys = numpy.random.default_rng().integers(0, 1 << 32, 10_000_000, "uint32")
    hac.sort(keys)                     # a NumPy array: a view of what the devices wrote
    hac.argsort(keys)                  # the order, as indices
    hac.sql("SELECT city, avg(price) FROM t GROUP BY city", t=frame).to_polars()

docs/python.md of the project is the manual.
"""
import operator

from ._connection import DEVICES, WHY, ask as _ask, thread as _thread
from ._errors import (CancelledError, Error, InvalidError, JobError, NoDaemonError, NoMemoryError, NotFoundError, RefusedError,
                      Status, UnsupportedError)
from ._hac import version as __version__  # noqa: F401
from ._future import Future, submit
from ._opsplit import opsplit
from ._query import query, sql
from ._result import Result
from ._scan import scan_hac
from ._sort import Column, argsort, empty, sort

__all__ = ["CancelledError", "Column", "Error", "Future", "InvalidError", "JobError", "NoDaemonError", "NoMemoryError", "NotFoundError",
           "RefusedError", "Result", "Status", "UnsupportedError", "argsort", "devices", "empty", "opsplit", "query", "scan_hac", "sort",
           "sql", "submit", "why"]


def devices() -> list:
    """The devices of the daemon: a list of dicts, as `hacctl --json devices` shows them."""
    return _ask(DEVICES)["devices"]


def why(job: int = 0) -> str:
    """What hacd says about a job: devices, times, and the reasons of the plan. 0: the last job of this thread.

    Raises NotFoundError if hacd no longer has the job.
    """
    job = operator.index(job) or _thread.last_job
    if not 0 <= job < 1 << 64:
        raise NotFoundError(f"there is no job {job}")
    if not job:
        raise NotFoundError("no job of this thread has a number; small sorts have none")
    return _ask(WHY, job)
