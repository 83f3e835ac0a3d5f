"""Answers of work that runs in the background."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Generator
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from hullfield import _native

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Pending(Generic[T_co]):
    """The answer of work that runs in the background. The work has been started already.

    Wait for it, or await it in ``asyncio``. Dropping it cancels the work at its next step.
    """

    def __init__(self, native: _native.Pending, finish: Callable[[Any], T_co]) -> None:
        self._native = native
        self._finish = finish

    def wait(self, timeout: float | None = None) -> T_co:
        """Waits for the answer. The interpreter's lock is free meanwhile, and Ctrl-C ends wait and work.

        Args:
            timeout: the most seconds to wait; by default no limit.

        Raises:
            WaitTimeoutError: the answer was not there in time. The work goes on; wait again.
            Error: what went wrong with the work.
        """
        return self._finish(self._native.wait(timeout))

    def done(self) -> bool:
        """Whether a wait would return, or raise, at once."""
        return self._native.done()

    def cancel(self) -> None:
        """Ends the work at its next step. Who waits for it gets a :class:`CancelledError`."""
        self._native.cancel()

    def __await__(self) -> Generator[Any, None, T_co]:
        return self._awaited().__await__()

    async def _awaited(self) -> T_co:
        loop = asyncio.get_running_loop()
        try:
            # A thread of the loop's executor waits, without the interpreter's lock.
            return await loop.run_in_executor(None, self.wait)
        except asyncio.CancelledError:
            self.cancel()
            raise


class Call(Generic[P, T]):
    """A method bound to its object: called, it waits for its answer; ``start`` gives the :class:`Pending`."""

    def __init__(self, method: Callable[P, Pending[T]]) -> None:
        self._method = method
        functools.update_wrapper(self, method)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._method(*args, **kwargs).wait()

    def start(self, *args: P.args, **kwargs: P.kwargs) -> Pending[T]:
        """Takes the same arguments, and returns at once."""
        return self._method(*args, **kwargs)


class query(Generic[S, P, T]):
    """Makes a method that returns a :class:`Pending` one that waits; ``obj.method.start(…)`` does not wait."""

    def __init__(self, method: Callable[Concatenate[S, P], Pending[T]]) -> None:
        self._method = method
        functools.update_wrapper(self, method)

    @overload
    def __get__(self, instance: None, owner: type[S]) -> query[S, P, T]: ...

    @overload
    def __get__(self, instance: S, owner: type[S] | None = None) -> Call[P, T]: ...

    def __get__(self, instance: S | None, owner: type[S] | None = None) -> query[S, P, T] | Call[P, T]:
        if instance is None:
            return self
        bound: Callable[P, Pending[T]] = self._method.__get__(instance)
        return Call(bound)

    def __call__(self, instance: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._method(instance, *args, **kwargs).wait()
