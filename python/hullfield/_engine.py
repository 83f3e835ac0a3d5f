"""The engine: the choice between a GPU and the CPU, and the threads of the CPU."""

from __future__ import annotations

import os
from typing import Any

from hullfield import _native
from hullfield._errors import InvalidTypeError
from hullfield._scalars import U64, choice, whole, whole_or_none


class Engine:
    """Where queries run: a GPU, or the threads of the CPU. Both give the same answers.

    Args:
        backend: ``"auto"`` takes a real GPU where there is one, else the CPU. ``"gpu"`` takes any adapter, software ones too.
            ``"cpu"`` takes none.
        memory_limit: the most device memory that the engine may hold, in bytes. The CPU engine ignores it.
        answer_limit: the most host memory that the rows of one answer may take, in bytes.

    Raises:
        NoGpuError: ``"gpu"`` was asked for, and no adapter can do the work.

    An engine pickles as its options: whoever loads it opens an engine of its own. After ``fork`` an engine on the CPU goes on in the
    child; one on a GPU raises :class:`ForkedError` there.
    """

    __slots__ = ("_native",)

    def __init__(
        self, backend: str = "auto", *, memory_limit: int | None = None, answer_limit: int | None = None
    ) -> None:
        choice("backend", backend, ("auto", "gpu", "cpu"))
        limits = (whole_or_none("memory_limit", memory_limit, U64), whole_or_none("answer_limit", answer_limit, U64))
        if backend != "cpu":
            _hush()
        self._native = _native.Engine(backend, *limits)

    @classmethod
    def auto(cls) -> Engine:
        """A real GPU where there is one, else the CPU."""
        return cls("auto")

    @classmethod
    def gpu(cls) -> Engine:
        """The best adapter of any kind."""
        return cls("gpu")

    @classmethod
    def cpu(cls) -> Engine:
        """The CPU."""
        return cls("cpu")

    @property
    def backend(self) -> str:
        """``"gpu"`` or ``"cpu"``."""
        return self._native.backend

    @property
    def reason(self) -> str:
        """Which adapter or CPU was chosen, and why, in one clause."""
        return self._native.reason

    @property
    def adapter_name(self) -> str | None:
        """The name of the adapter; None on the CPU."""
        return self._native.adapter_name

    @property
    def counters(self) -> dict[str, int]:
        """What the engine has created so far: buffers, pipelines, submissions, bytes."""
        return self._native.counters

    def __reduce__(self) -> tuple[Any, ...]:
        options = self._native.options
        return (_open, (options["backend"], options["memory_limit"], options["answer_limit"]))

    def __repr__(self) -> str:
        return f"<hullfield.Engine on the {self.backend}: {self.reason}>"


def _hush() -> None:
    """Asks Mesa's layer that orders GPUs not to load where a process has no session of Wayland, because it writes an error to stderr there. The
    library chooses its adapter itself."""
    if not os.environ.get("XDG_RUNTIME_DIR"):
        os.environ.setdefault("NODEVICE_SELECT", "1")


def _open(backend: str, memory_limit: int | None, answer_limit: int | None) -> Engine:
    return Engine(backend, memory_limit=memory_limit, answer_limit=answer_limit)


def engine_or_auto(engine: Engine | None) -> Engine:
    """The engine given, or one shared by all calls that give none."""
    global _shared
    if engine is not None and not isinstance(engine, Engine):
        raise InvalidTypeError(f"engine is of the type {type(engine).__name__}, it must be an Engine")
    if engine is not None:
        return engine
    if _shared is None:
        _shared = Engine.auto()
    return _shared


_shared: Engine | None = None


def adapters() -> list[dict[str, Any]]:
    """The adapters of this machine, best first: name, kind, driver, limits, whether ``auto`` takes it, and why."""
    _hush()
    return _native.adapters()


def get_num_threads() -> int:
    """How many threads share the work of the CPU in this process."""
    return _native.get_num_threads()


def set_num_threads(count: int) -> None:
    """Sets how many threads share the work of the CPU in this process, for calls from now on.

    Args:
        count: 1 to 4,096; 0 is one for each core, as at the start (``RAYON_NUM_THREADS`` says otherwise).
    """
    _native.set_num_threads(whole("count", count))
