"""Checks of words, flags and columns, and of arrays that keep f64 where that matters."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hullfield._arrays import array_of, floats, indices
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._scalars import choice, flag, sequence
from hullfield.collide._limits import examined

__all__ = ["all_of", "choice", "column", "flag", "numbers_column", "pairs_argument", "pairs_column", "positions_column"]
__all__ += ["real_type", "rows_of", "scales_column"]

T = TypeVar("T")


def all_of(name: str, value: object, kind: type[T]) -> list[T]:
    """A sequence of objects of one class."""
    wanted = "it must be a sequence" if kind is object else f"it must be a sequence of {kind.__name__}"
    items = sequence(name, value, wanted)
    for row, item in enumerate(items):
        if not isinstance(item, kind):
            got = type(item).__name__
            raise InvalidTypeError(f"{name}[{row}] is of the type {got}, it must be of {kind.__name__}")
    return items


def rows_of(name: str, value: object) -> int | None:
    """How many rows an array has, (n, k); None for one row, (k,), that stands for all."""
    shape = array_of(name, value).shape
    return None if len(shape) < 2 else shape[0]


def real_type(value: object) -> npt.DTypeLike:
    """f32 for arrays that f32 holds by their type, else f64."""
    return np.float32 if getattr(value, "dtype", None) in (np.float32, np.float16) else np.float64


def positions_column(
    name: str, value: object, count: int | None
) -> tuple[npt.NDArray[np.float32] | None, npt.NDArray[np.float64] | None]:
    """Positions in f32 and in f64; one of them is there."""
    dtype = real_type(value)
    array = floats(name, value, 3, dtype, count=count)
    return (array, None) if dtype is np.float32 else (None, array)


def column(name: str, value: object, count: int, columns: int | None = None) -> npt.NDArray[np.float32] | None:
    """A column of f32, or None."""
    return None if value is None else floats(name, value, columns, np.float32, count=count)


def numbers_column(name: str, value: object, count: int) -> npt.NDArray[np.uint32] | None:
    """A column of u32, or None."""
    return None if value is None else indices(name, value, count=count)


def scales_column(value: object, count: int, columns: int | None = 3) -> npt.NDArray[np.float32] | None:
    """Scales, (n, 3), or one number, one row, or a column (n, 1)."""
    if value is None:
        return None
    array = array_of("scales", value)
    if array.ndim == 2 and array.shape[1] == 1:
        array = np.broadcast_to(array, (array.shape[0], 3))
    elif array.ndim == 0:
        array = np.broadcast_to(array, (3,))
    elif array.ndim == 1 and array.shape != (3,):
        raise InvalidInputError(
            f"scales has the shape {array.shape}, it must be ({count}, 3) for scales along each axis, "
            f"({count}, 1) for one number a body, (3,) or ()"
        )
    return floats("scales", array, 3, np.float32, count=count)


def pairs_column(name: str, value: object) -> npt.NDArray[np.uint32] | None:
    """Pairs, (n, 2), or None."""
    return None if value is None else indices(name, value, 2)


def pairs_argument(pairs: object, bodies: Any = None, static_count: int = 0) -> Any:
    """The pairs of a query over bodies: a word, or an array (n, 2)."""
    if isinstance(pairs, str):
        choice("pairs", pairs, ("broad_phase", "exhaustive"))
        if bodies is not None:
            examined(pairs, bodies, static_count)
        return str(pairs)
    if isinstance(pairs, (set, frozenset)):
        raise InvalidTypeError("pairs is a set, which has no order: give an array (n, 2), np.array(sorted(pairs))")
    return indices("pairs", pairs, 2)
