"""The exceptions of hullfield. Each is an :class:`Error`, and the built-in exception that fits."""

from __future__ import annotations


class Error(Exception):
    """What went wrong: one clear sentence that names what, where, and what is allowed."""


class InvalidInputError(Error, ValueError):
    """A value, a shape or an index that cannot be used."""


class InvalidTypeError(Error, TypeError):
    """An array of a dtype that cannot be used."""


class NoGpuError(Error, RuntimeError):
    """No GPU can do the work."""


class ForkedError(Error, RuntimeError):
    """A handle of a GPU, or an answer in progress, is used in a process that was forked after it was made."""


class MemoryLimitError(Error, MemoryError):
    """The work needs more memory than there is, or than the limit allows."""


class NoGoalsError(Error, ValueError):
    """None of the goals of a field can be used."""


class DistanceOverflowError(Error, OverflowError):
    """A distance does not fit in its bits."""


class FileError(Error, OSError):
    """A file, or an array of the caller's, could not be read or written."""


class CancelledError(Error):
    """The work was cancelled."""


class WaitTimeoutError(Error, TimeoutError):
    """An answer was not there in time. The work goes on."""


class DeviceLostError(Error, RuntimeError):
    """The GPU was reset, removed or destroyed."""


class InternalError(Error, RuntimeError):
    """A fault of hullfield itself. Please report it."""
