# SPDX-License-Identifier: Apache-2.0
"""Exceptions: one class for each kind of libhac's status that programs tell apart."""
import enum


class Status(enum.IntEnum):
    """libhac's codes (<hac/error.h>)."""

    FAILED = 1
    INVALID = 2
    NO_DAEMON = 3
    REFUSED = 4
    CANCELLED = 5
    NO_MEMORY = 6
    IO = 7
    PROTOCOL = 8
    DEVICE = 9
    UNSUPPORTED = 10
    NOT_FOUND = 11
    AGAIN = 12
    INTERNAL = 13


class Error(Exception):
    """What hac reports. `str(error)` is one line for people, `error.status` is the code."""

    status: Status = Status.FAILED


class JobError(Error, RuntimeError):
    """The job failed: an input that cannot be read, a device or its driver, a full disk."""


class InvalidError(Error, ValueError):
    """The request is wrong: an expression, a statement, an unknown column or device."""

    status = Status.INVALID


class NoDaemonError(Error, ConnectionError):
    """hacd cannot be reached, or speaks another version of the protocol."""

    status = Status.NO_DAEMON


class RefusedError(Error, PermissionError):
    """Permission, quota or overload. The message says when to try again."""

    status = Status.REFUSED


class CancelledError(Error):
    """The job was cancelled."""

    status = Status.CANCELLED


class NoMemoryError(Error, MemoryError):
    """An allocation failed."""

    status = Status.NO_MEMORY


class UnsupportedError(Error, TypeError):
    """This type, device or build cannot do it."""

    status = Status.UNSUPPORTED


class NotFoundError(Error, LookupError):
    """There is no such job."""

    status = Status.NOT_FOUND


_CLASSES = {cls.status: cls for cls in (JobError, InvalidError, NoDaemonError, RefusedError, CancelledError, NoMemoryError,
                                        UnsupportedError, NotFoundError)}


def error_of(code: int, message: str) -> Error:
    """The exception for a code of libhac."""
    status = Status(code)
    error = _CLASSES.get(status, JobError)(message)
    error.status = status
    return error
