"""Checks single numbers that callers give."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from hullfield._errors import InvalidInputError, InvalidTypeError

U32 = 2**32 - 1
U64 = 2**64 - 1


def whole(name: str, value: Any, most: int = U32) -> int:
    """A whole number from 0 to ``most``."""
    if isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(f"{name} is {value}, it must be a whole number")
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"{name} is {value!r}, it must be a whole number") from None
    if not 0 <= number <= most:
        raise InvalidInputError(f"{name} is {number}, it must be from 0 to 2**{most.bit_length()} - 1")
    return number


def whole_or_none(name: str, value: Any, most: int = U32) -> int | None:
    """A whole number from 0 to ``most``, or None."""
    return None if value is None else whole(name, value, most)


def real(name: str, value: Any) -> float:
    """A real number. Its range, and whether it is finite, is checked by the library."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.ndim != 0:
        raise InvalidTypeError(f"{name} is {value!r}, it must be a real number")
    return float(array)


def real_or_none(name: str, value: Any) -> float | None:
    """A real number, or None."""
    return None if value is None else real(name, value)
