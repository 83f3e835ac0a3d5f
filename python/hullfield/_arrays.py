"""Checks what a caller gives, and makes numpy arrays of it that native code borrows without a copy.

An array that has the dtype and C order already is not copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._errors import InvalidInputError, InvalidTypeError

Floats = npt.NDArray[np.floating[Any]]
Indices = npt.NDArray[np.uint32]


def _shape(name: str, array: npt.NDArray[Any], columns: int | None) -> None:
    if columns is None:
        if array.ndim != 1:
            raise InvalidInputError(f"{name} has the shape {array.shape}, it must be (n,)")
    elif array.ndim != 2 or array.shape[1] != columns:
        raise InvalidInputError(f"{name} has the shape {array.shape}, it must be (n, {columns})")


def array_of(name: str, value: object) -> npt.NDArray[Any]:
    """An array of numbers, or of text, of any shape, as it is."""
    if np.ma.is_masked(value):
        raise InvalidInputError(f"{name} has masked or missing values: fill them or leave them out")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InvalidInputError(f"{name} is not an array: {error}") from None
    if array.dtype.kind == "O":
        raise InvalidTypeError(f"{name} holds objects of Python, it must hold numbers, in rows of equal length")
    return array


def floats(
    name: str,
    value: object,
    columns: int | None = None,
    dtype: npt.DTypeLike = np.float64,
    *,
    count: int | None = None,
    any_shape: bool = False,
) -> npt.NDArray[Any]:
    """An array of real numbers, (n,) or (n, columns), of this dtype and in C order.

    With ``count`` it has so many rows; a single row, or a single number, then stands for all of them.
    """
    array = array_of(name, value)
    if array.size == 0 and array.ndim == 1 and columns is not None:
        array = array.reshape(0, columns)
    if array.dtype.kind not in "fiu":
        raise InvalidTypeError(f"{name} has the dtype {array.dtype}, it must hold real numbers")
    if count is not None and array.ndim == (0 if columns is None else 1):
        shape = (count,) if columns is None else (count, columns)
        if columns is not None and array.shape != (columns,):
            raise InvalidInputError(f"{name} has the shape {array.shape}, it must be ({columns},) or {shape}")
        array = np.broadcast_to(array, shape)
    if not any_shape:
        _shape(name, array, columns)
    if count is not None and len(array) != count:
        raise InvalidInputError(f"{name} has {len(array)} rows, it must have {count}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=dtype)


def point(name: str, value: object, columns: int, dtype: npt.DTypeLike = np.float64) -> list[float]:
    """One point, as a list of its coordinates."""
    array = array_of(name, value)
    if array.dtype.kind not in "fiu":
        raise InvalidTypeError(f"{name} has the dtype {array.dtype}, it must hold real numbers")
    if array.shape != (columns,):
        raise InvalidInputError(f"{name} has the shape {array.shape}, it must be ({columns},)")
    with np.errstate(over="ignore"):
        return array.astype(dtype).tolist()  # type: ignore[no-any-return]


def indices(
    name: str,
    value: object,
    columns: int | None = None,
    *,
    count: int | None = None,
    any_shape: bool = False,
) -> Indices:
    """An array of numbers from 0 to 2**32 - 1, (n,) or (n, columns), as u32 and in C order.

    With ``count`` it has so many rows; a single number then stands for all of them.
    """
    array = array_of(name, value)
    if array.size == 0 and array.ndim == 1:
        array = array.astype(np.uint32)
        if columns is not None:
            array = array.reshape(0, columns)
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(f"{name} has the dtype {array.dtype}, it must hold whole numbers")
    if count is not None and array.ndim == 0:
        array = np.broadcast_to(array, (count,))
    if not any_shape:
        _shape(name, array, columns)
    if count is not None and len(array) != count:
        raise InvalidInputError(f"{name} has {len(array)} rows, it must have {count}")
    if array.dtype.itemsize > 4 or array.dtype.kind == "i":
        wrong = (array < 0) | (array > 0xFFFF_FFFF)
        if wrong.any():
            at = tuple(int(i) for i in np.argwhere(wrong)[0])
            where = at[0] if len(at) == 1 else at
            raise InvalidInputError(f"{name}[{where}] is {array[at]}, it must be from 0 to 2**32 - 1")
    return np.ascontiguousarray(array, dtype=np.uint32)


def flags(name: str, value: object, *, any_shape: bool = False) -> npt.NDArray[np.bool_]:
    """An array of bools in C order. Whole numbers are taken where they are 0 or 1."""
    array = array_of(name, value)
    if array.dtype.kind in "iu":
        if array.size and (array.min() < 0 or array.max() > 1):
            raise InvalidInputError(f"{name} holds whole numbers other than 0 and 1")
    elif array.dtype.kind != "b" and array.size:
        raise InvalidTypeError(f"{name} has the dtype {array.dtype}, it must hold bools")
    if not any_shape:
        _shape(name, array, None)
    return np.ascontiguousarray(array, dtype=np.bool_)
