"""Checks what a caller gives, and makes numpy arrays of it that native code borrows without a copy.

An array that has the dtype and C order already is not copied. :func:`mask_of` and :func:`array_of` decide what a mask means: where a cell
without data has a meaning the caller asks for the mask, and everywhere else masked cells are refused.
"""

from __future__ import annotations

import sys
from array import array as numbers
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hullfield._errors import Error, InvalidInputError, InvalidTypeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike as ArrayLike
else:

    class ArrayLike:
        """Whatever ``numpy.asarray`` takes. The pages of the interface show this name in place of the union of nine types that numpy has for it."""

    ArrayLike.__module__ = "numpy.typing"

Floats = npt.NDArray[np.floating[Any]]
Indices = npt.NDArray[np.uint32]


def _shape(name: str, array: npt.NDArray[Any], columns: int | None) -> None:
    if columns is None:
        if array.ndim != 1:
            raise InvalidInputError(f"{name} has the shape {array.shape}, it must be (n,)")
    elif array.ndim != 2 or array.shape[1] != columns:
        raise InvalidInputError(f"{name} has the shape {array.shape}, it must be (n, {columns})")


def mask_of(value: object) -> npt.NDArray[np.bool_] | None:
    """Which cells of a masked array have no data, of its shape; None if all have."""
    if type(value) is np.ndarray:
        return None
    mask = getattr(value, "mask", None)
    if mask is None or callable(mask):
        # pandas has a method of this name. Its arrays with missing values keep their masks so, as numpy knows, too.
        mask = getattr(getattr(value, "array", value), "_mask", None)
    # xarray has coordinates of any name.
    if not isinstance(mask, (np.ndarray, np.bool_)) or mask.dtype.kind not in "bV":
        return None
    if mask.dtype.names is not None:
        mask = np.ma.flatten_mask(mask)
    if not mask.any():
        return None
    return np.array(mask, dtype=np.bool_)


def _is_masked(value: object) -> bool:
    """Whether a value, or a value inside of lists, has a masked cell."""
    if isinstance(value, (list, tuple)):
        # Numbers are by far the most of what lists hold.
        return any(type(part) not in _NUMBERS and _is_masked(part) for part in value)
    return mask_of(value) is not None


_PLAIN = frozenset([int, float])
_NUMBERS = frozenset([int, float, bool, np.float64, np.float32, np.int64, np.int32])


def unmasked(name: str, value: object) -> None:
    """Refuses masked cells, where a cell without data has no meaning."""
    if _is_masked(value):
        raise InvalidInputError(f"{name} has masked or missing values: fill them or leave them out")


def in_order(array: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """The array in C order, aligned, of this dtype: itself where it is so already."""
    found = np.ascontiguousarray(array, dtype=dtype)
    # Of a file's bytes, say.
    return found if found.flags.aligned else found.copy()


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view of the array that can't be written to."""
    view = array.view()
    view.flags.writeable = False
    return view


def as_array(array: npt.NDArray[Any], dtype: npt.DTypeLike | None, copy: bool | None) -> npt.NDArray[Any]:
    """The answer of ``__array__``: the array itself, or a copy where one is asked for or needed."""
    if dtype is not None and np.dtype(dtype) != array.dtype:
        if copy is False:
            raise InvalidInputError(f"an array of {array.dtype} can't be had as {np.dtype(dtype)} without a copy")
        return array.astype(dtype)
    return array.copy() if copy else array


def array_of(name: str, value: object) -> npt.NDArray[Any]:
    """An array of numbers, or of text, of any shape, as it is."""
    if type(value) is np.ndarray:
        array = value
    else:
        unmasked(name, value)
        array = _converted(name, value)
    if array.dtype.kind == "O":
        array = _coordinates(array)
        if array.dtype.kind == "O":
            raise InvalidTypeError(f"{name} holds objects of Python, it must hold numbers, in rows of equal length")
    return array


def _converted(name: str, value: object) -> npt.NDArray[Any]:
    # scipy's rotations, as unit quaternions x, y, z, w.
    quaternions = getattr(value, "as_quat", None)
    try:
        if callable(quaternions):
            return np.asarray(quaternions())
        found = np.asanyarray(value)
    except Error:
        raise
    # Whatever the object raises when an array is asked for. torch raises RuntimeError for tensors that need a gradient.
    except Exception as error:
        raise InvalidInputError(f"{name} is not an array: {error}") from None
    # Some have a mask only once they are read, as variables of netCDF4.
    unmasked(name, found)
    return np.asarray(found)


def _coordinates(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The coordinates of shapely's points, (..., 2), or (..., 3) where all have a height; other objects as they are."""
    if "shapely" not in sys.modules:
        return array
    import shapely

    flat = array.reshape(-1)
    if flat.size == 1 and isinstance(flat[0], shapely.MultiPoint):
        array = flat = np.array(flat[0].geoms, dtype=object)
    if flat.size == 0 or not all(isinstance(part, shapely.Point) and not part.is_empty for part in flat):
        return array
    has_height = bool(shapely.has_z(flat).all())
    found: npt.NDArray[Any] = shapely.get_coordinates(flat, include_z=has_height)
    return found.reshape(*array.shape, found.shape[1])


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
        return in_order(array, dtype)


def point(name: str, value: object, columns: int, dtype: npt.DTypeLike = np.float64) -> list[float]:
    """One point, as a list of its coordinates."""
    if isinstance(value, (list, tuple)) and len(value) == columns and all(type(part) in _PLAIN for part in value):
        # The usual case, without numpy, whose arrays take longer than the query of a pair.
        try:
            return numbers("f" if dtype is np.float32 else "d", value).tolist()
        except OverflowError:
            pass
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
    if type(value) is int and count is not None and columns is None and 0 <= value <= 0xFFFF_FFFF:
        # One hull for all bodies, say: the way through arrays takes longer than all other columns.
        return np.full(count, value, np.uint32)
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
    return in_order(array, np.uint32)


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
    return in_order(array, np.bool_)
