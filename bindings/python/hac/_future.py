# SPDX-License-Identifier: Apache-2.0
"""hac.submit: calls that run in threads of their own, for concurrent.futures and asyncio."""
import concurrent.futures
import os
import threading
from typing import Any, Callable, Optional

from ._connection import thread

WORKERS = 16


class Task:
    """What a thread does for a future: the job that it waits for can be cancelled by others."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.job: Any = None
        self.cancelled = False

    def enter(self, job: Any) -> None:
        with self.lock:
            self.job = job
            cancelled = self.cancelled
        if cancelled:
            job.cancel()

    def leave(self) -> None:
        with self.lock:
            self.job = None

    def cancel(self) -> None:
        with self.lock:
            self.cancelled = True
            if self.job is not None:
                self.job.cancel()


class Future(concurrent.futures.Future):
    """The future of a call. It works with concurrent.futures.wait and as_completed, and `await future` with asyncio.

    `cancel()` also cancels a job that runs; `result()` then raises hac.CancelledError.
    """

    def __init__(self) -> None:
        super().__init__()
        self._task = Task()

    def cancel(self) -> bool:
        if super().cancel():
            return True
        if self.done():
            return False
        self._task.cancel()
        return True

    def __await__(self):
        import asyncio
        return asyncio.wrap_future(self).__await__()

    def _run(self, function: Callable, args: tuple, keywords: dict) -> None:
        if not self.set_running_or_notify_cancel():
            return
        thread.task = self._task
        try:
            self.set_result(function(*args, **keywords))
        except BaseException as error:
            self.set_exception(error)
        finally:
            thread.task = None


_pool: Optional[concurrent.futures.ThreadPoolExecutor] = None
_pool_lock = threading.Lock()


def _start_anew() -> None:
    """After fork: the threads are the parent's."""
    global _pool, _pool_lock
    _pool, _pool_lock = None, threading.Lock()


os.register_at_fork(after_in_child=_start_anew)


def submit(function: Callable, /, *args: Any, **keywords: Any) -> Future:
    """Calls function(*args, **keywords) in a thread that has a connection of its own, and returns the Future of the call.

        future = hac.submit(hac.sort, keys)
        result = future.result()                               # or, in a coroutine:
        result = await hac.submit(hac.sql, "SELECT …", t=frame)

    Up to 16 calls run at once; others wait for their turn.
    """
    global _pool
    with _pool_lock:
        if _pool is None:
            _pool = concurrent.futures.ThreadPoolExecutor(WORKERS, "hac")
        pool = _pool
    future = Future()
    pool.submit(future._run, function, args, keywords)
    return future
