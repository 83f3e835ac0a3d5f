"""Answers of work that runs in the background."""

from __future__ import annotations

import asyncio
import functools
import importlib
import inspect
import types
from collections.abc import Callable, Coroutine, Generator
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NoReturn, ParamSpec, TypeVar, overload

from hullfield import _native
from hullfield._errors import InvalidTypeError

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Pending(Coroutine[Any, Any, T_co]):
    """The answer of work that runs in the background. The work has been started already.

    Wait for it, or in ``asyncio`` await it, or give it to ``asyncio.create_task``. Several tasks may await one. Dropping it cancels the work at its
    next step.
    """

    def __init__(self, native: _native.Pending, finish: Callable[[Any], T_co]) -> None:
        self._native = native
        self._finish = finish
        # One for each task, because a task sends to what it was made of.
        self._steps: dict[Any, Coroutine[Any, Any, T_co]] = {}

    def wait(self, timeout: float | None = None) -> T_co:
        """Waits for the answer. The interpreter's lock is free meanwhile, and Ctrl-C ends wait and work.

        Args:
            timeout: the most seconds to wait; by default no limit.

        Raises:
            WaitTimeoutError: the answer was not there in time. The work goes on; wait again.
            Error: what went wrong with the work.
        """
        if timeout is not None:
            # Here, because that module needs this one.
            from hullfield._scalars import real

            timeout = real("timeout", timeout)
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

    def send(self, value: Any) -> Any:
        """For ``asyncio``: a step of the task that awaits it."""
        return self._step(lambda coroutine: coroutine.send(value))

    def throw(self, *error: Any) -> Any:
        """For ``asyncio``: raises in the task that awaits it."""
        return self._step(lambda coroutine: coroutine.throw(*error))

    def close(self) -> None:
        """For ``asyncio``: ends what tasks await. The work goes on."""
        steps, self._steps = self._steps, {}
        for coroutine in steps.values():
            coroutine.close()

    def _step(self, go: Callable[[Coroutine[Any, Any, T_co]], Any]) -> Any:
        task = asyncio.current_task()
        coroutine = self._steps.get(task)
        if coroutine is None:
            coroutine = self._steps[task] = self._awaited()
        try:
            return go(coroutine)
        except BaseException:
            self._steps.pop(task, None)
            raise

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            "work in progress does not pickle, nor can it be copied: wait for its answer, and pickle that"
        )


def _waiting(method: Any) -> Any:
    """The function as those see it who call it and wait: what it returns is the answer. For help, and never called."""
    made = types.FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__)
    functools.update_wrapper(made, method)
    said = str(method.__annotations__.get("return", ""))
    if said.startswith("Pending[") and said.endswith("]"):
        made.__annotations__ = {**method.__annotations__, "return": said[len("Pending[") : -1]}
    made.__kwdefaults__ = method.__kwdefaults__
    del made.__dict__["__wrapped__"]
    return made


class Call(Generic[P, T]):
    """A function, or a method bound to its object: called, it waits for its answer; ``start`` gives the :class:`Pending`."""

    def __init__(self, method: Callable[P, Pending[T]]) -> None:
        self._method = method
        self.__doc__, self.__module__ = method.__doc__, method.__module__

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._method(*args, **kwargs).wait()

    def start(self, *args: P.args, **kwargs: P.kwargs) -> Pending[T]:
        """Takes the same arguments, and returns at once."""
        return self._method(*args, **kwargs)

    @property
    def __signature__(self) -> inspect.Signature:
        method = self._method
        signature = inspect.signature(_waiting(getattr(method, "__func__", method)))
        if hasattr(method, "__func__"):
            signature = signature.replace(parameters=list(signature.parameters.values())[1:])
        return signature

    def __get__(self, instance: object, owner: type | None = None) -> Call[P, T]:
        # A descriptor is what inspect takes for a function, so that help() shows the signature.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        method: Any = self._method
        instance = getattr(method, "__self__", None)
        if instance is None:
            return (_named, (method.__module__, method.__name__))
        return (getattr, (instance, method.__name__))

    def __repr__(self) -> str:
        return f"<{self._method!r} that waits for its answer>"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # The name, the module and the annotations of what is called.
            if name == "_method":
                raise AttributeError(name)
            return getattr(self._method, name)


def _named(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


class query(Generic[S, P, T]):
    """Makes a method that returns a :class:`Pending` one that waits; ``obj.method.start(…)`` does not wait."""

    def __init__(self, method: Callable[Concatenate[S, P], Pending[T]]) -> None:
        self._method = method
        functools.update_wrapper(self, _waiting(method))

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
