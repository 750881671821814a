# SPDX-License-Identifier: Apache-2.0
"""The connection of each thread, and the jobs that run for hac.submit().

A thread has a connection of its own, made when it first needs one, so that threads do not wait for each other. The socket
is that of the environment variable HAC_SOCKET, else the system daemon's, else the user's own daemon is started.
"""
import contextlib
import json
import os
import threading
from typing import Any, Callable, Iterator, List, Optional

from . import _hac
from ._errors import InvalidError

# <hac/hac.h>: hac_topic, hac_plan_format
DEVICES, WHY, RECEIPT, PLAN = 1, 4, 5, 8
TEXT, JSON = 0, 1


class _Thread(threading.local):
    connection: Optional[_hac.Connection] = None
    last_job: int = 0  # its number: the job itself would keep its result
    task: Any = None  # the _future.Task that this thread runs


thread = _Thread()
idle: List[_hac.Connection] = []  # of lent_connection


def _forget() -> None:
    """After fork: the parent's connections stay its own. Other modules have the object, so it is emptied and not replaced."""
    thread.__dict__.clear()
    idle.clear()


os.register_at_fork(after_in_child=_forget)


def connection() -> _hac.Connection:
    """The connection of this thread, made anew if hacd has closed it."""
    mine = thread.connection
    if mine is None or not mine.usable:
        mine = thread.connection = _hac.Connection()
    return mine


@contextlib.contextmanager
def lent_connection() -> Iterator[_hac.Connection]:
    """A connection for one call that keeps it for as long as others like, such as the writer of a pipe: calls on the thread's
    connection do not wait for that."""
    mine = None
    while idle and mine is None:
        try:
            mine = idle.pop()
        except IndexError:  # another thread was faster
            break
        mine = mine if mine.usable else None
    mine = mine or _hac.Connection()
    try:
        yield mine
    finally:
        idle.append(mine)


LOOK = 0.1  # seconds between two looks at what a progress bar shows


def finish(job: _hac.Job, bar: Any = None) -> _hac.Job:
    """Waits for a job, which Ctrl-C and Future.cancel() cancel. bar: its _progress.Bar."""
    here = thread
    task = here.task
    if task is not None:
        task.enter(job)
    try:
        if bar is None:
            job.wait()
        else:
            while not job.wait(LOOK):
                bar.show()
    finally:
        if bar is not None:
            bar.close()
        here.last_job = job.id
        if task is not None:
            task.leave()
    return job


class _Stopping:
    """A call of libhac that blocks: cancel() makes libhac give up."""

    def __init__(self) -> None:
        self.stop = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self.lock = threading.Lock()
        self.open = True

    def cancel(self) -> None:
        with self.lock:
            if self.open:
                os.eventfd_write(self.stop, 1)

    def close(self) -> None:
        with self.lock:
            self.open = False
            os.close(self.stop)


def run_aside(call: Callable[[int], Any], bar: Any = None) -> Any:
    """What a call of libhac returns that reads, or runs, to its end: it runs in a thread, while this one takes signals. `call` gets
    a descriptor, at which libhac gives up when it is readable. bar: the call's _progress.Bar."""
    outcome: list = []
    ended = threading.Event()  # Python 3.11's join() believes a thread to have ended after Ctrl-C
    stopping = _Stopping()

    def work() -> None:
        try:
            outcome.append(call(stopping.stop))
        except BaseException as error:
            outcome.append(error)
        finally:  # not where it is waited for: that may be interrupted while libhac still looks at the descriptor
            stopping.close()
            ended.set()
    worker = threading.Thread(target=work, name="hac", daemon=True)
    task = thread.task
    try:
        if task is not None:
            task.enter(stopping)
        try:
            worker.start()
        except RuntimeError:  # there are too many threads
            stopping.close()
            raise
        try:
            while not ended.wait(0.05):
                if bar is not None:
                    bar.show()
        except BaseException:
            stopping.cancel()
            ended.wait()
            raise
    finally:
        if bar is not None:
            bar.close()
        if task is not None:
            task.leave()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def ask(topic: int, job: int = 0, form: int = JSON) -> Any:
    """What hacd says about a topic: JSON as Python's objects, or text."""
    text = connection().ask(topic, job, form)
    return json.loads(text) if form == JSON and topic != WHY else text


def job_options(others: str, /, devices=None, priority: int = 0, deadline: float = 0.0, memory_limit: int = 0, **unknown) -> dict:
    """The options that every job has. others: the names of those that the caller has besides."""
    if unknown:
        raise InvalidError(f"there is no option {next(iter(unknown))}; there are {others}devices, priority, deadline, memory_limit")
    options: dict = {}
    if devices is not None:
        options["devices"] = (devices,) if isinstance(devices, str) else tuple(devices)
    if priority:
        options["priority"] = priority
    if deadline:
        options["deadline"] = deadline
    if memory_limit:
        options["memory_limit"] = memory_limit
    return options
