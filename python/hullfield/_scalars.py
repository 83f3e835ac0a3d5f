"""Checks single numbers, and lists of which one may stand for itself."""

from __future__ import annotations

import operator
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hullfield._arrays import array_of, floats, indices, mask_of
from hullfield._errors import InvalidInputError, InvalidTypeError

T = TypeVar("T")

U32 = 2**32 - 1
U64 = 2**64 - 1


def whole(name: str, value: Any, most: int = U32) -> int:
    """A whole number from 0 to ``most``."""
    if type(value) is not int and (isinstance(value, (bool, np.bool_)) or mask_of(value) is not None):
        raise InvalidTypeError(f"{name} is {value}, it must be a whole number")
    try:
        number = operator.index(value)
    # Objects may raise anything.
    except Exception:
        raise InvalidTypeError(f"{name} is {value!r}, it must be a whole number") from None
    if not 0 <= number <= most:
        raise InvalidInputError(f"{name} is {number}, it must be from 0 to 2**{most.bit_length()} - 1")
    return number


def whole_or_none(name: str, value: Any, most: int = U32) -> int | None:
    """A whole number from 0 to ``most``, or None."""
    return None if value is None else whole(name, value, most)


def real(name: str, value: Any) -> float:
    """A real number. Its range, and whether it is finite, is checked by the library."""
    if type(value) is float:
        return value
    try:
        array = np.asarray(value)
        # Numbers of other kinds, such as fractions, are objects.
        if array.ndim == 0 and array.dtype.kind in "fiuO" and mask_of(value) is None:
            return float(array[()])
    # Objects may raise anything.
    except Exception:
        pass
    raise InvalidTypeError(f"{name} is {value!r}, it must be a real number")


def real_or_none(name: str, value: Any) -> float | None:
    """A real number, or None."""
    return None if value is None else real(name, value)


def flag(name: str, value: object) -> bool:
    """One bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(f"{name} is {value!r}, it must be a bool")
    return bool(value)


def choice(name: str, value: object, allowed: tuple[str, ...]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in allowed:
        words = ", ".join(repr(word) for word in allowed)
        raise InvalidInputError(f"{name} is {value!r}, it must be one of {words}")
    return str(value)


def of_kind(name: str, value: Any, kind: type[T]) -> T:
    """An object of a class."""
    if not isinstance(value, kind):
        raise InvalidTypeError(f"{name} is of the type {type(value).__name__}, it must be {kind.__name__}")
    return value


def sequence(name: str, value: Any, wanted: str = "it must be a sequence") -> list[Any]:
    """The items of a sequence, which is neither text nor a set."""
    try:
        if not isinstance(value, (str, bytes, set, frozenset, type)):
            return list(value)
    # What is no sequence, arrays of no dimension; and objects may raise anything.
    except Exception:
        pass
    raise InvalidTypeError(f"{name} is of the type {type(value).__name__}, {wanted}")


def some_indices(name: str, value: Any) -> npt.NDArray[np.uint32]:
    """Whole numbers from 0 to 2**32 - 1, (n,); a single number is a list of one."""
    array = array_of(name, value)
    return indices(name, array[None] if array.ndim == 0 else array)


def rows_of(name: str, value: Any, columns: int) -> npt.NDArray[np.float64]:
    """Rows of real numbers, (n, columns); a single row is a list of one."""
    array = array_of(name, value)
    return floats(name, array[None] if array.shape == (columns,) else array, columns)


def ends_of(name: str, value: Any, count: int) -> npt.NDArray[np.int64]:
    """Where lists begin in an array of ``count`` entries, and where the last one ends, (number of lists + 1,)."""
    array = array_of(name, value)
    if array.dtype.kind not in "iu" or array.ndim != 1 or len(array) == 0:
        raise InvalidInputError(f"{name} must be whole numbers, (number of lists + 1,)")
    if array[0] != 0 or array[-1] != count or (array[1:] < array[:-1]).any():
        raise InvalidInputError(f"{name} must not decrease, and go from 0 to {count}")
    return np.ascontiguousarray(array, dtype=np.int64)
