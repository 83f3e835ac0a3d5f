"""Cells and positions of grids, as rows of three numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from hullfield._arrays import ArrayLike, array_of, floats, frozen
from hullfield._errors import InvalidInputError, InvalidTypeError

Cells = npt.NDArray[np.int32]


def cut(cells: Any, dimension: int) -> Cells:
    """Cells of three coordinates, of which a grid of two dimensions needs two."""
    return cells if dimension == 3 else np.ascontiguousarray(cells[:, :2])


def cells_of(name: str, value: ArrayLike, dimension: int) -> Cells:
    """Cells, (n, 2) or (n, 3), as rows of three numbers. They may lie outside the grid."""
    array = array_of(name, value)
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 3), dtype=np.int32)
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(f"{name} has the dtype {array.dtype}, it must hold whole numbers")
    if array.ndim != 2 or array.shape[1] not in (dimension, 3):
        raise InvalidInputError(f"{name} has the shape {array.shape}, it must be (n, {dimension})")
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    if array.min() < low or array.max() > high:
        raise InvalidInputError(f"{name} holds {array.min()} to {array.max()}, coordinates of cells are 32-bit numbers")
    rows = np.zeros((len(array), 3), dtype=np.int32)
    rows[:, : array.shape[1]] = array
    return rows


def one_cell(name: str, value: ArrayLike, dimension: int) -> list[int]:
    """One cell, as three numbers."""
    array = array_of(name, value)
    if array.shape not in ((dimension,), (3,)):
        raise InvalidInputError(f"{name} has the shape {array.shape}, it must be ({dimension},)")
    return cells_of(name, array[None], dimension)[0].tolist()  # type: ignore[no-any-return]


def points_of(name: str, value: ArrayLike, dimension: int) -> npt.NDArray[np.float64]:
    """Points of the world, (n, 3), or (n, 2) for a grid of two dimensions."""
    array = floats(name, value, any_shape=True)
    if array.size == 0 and array.ndim == 1:
        return np.zeros((0, 3))
    if dimension == 2 and array.ndim == 2 and array.shape[1] == 2:
        array = np.concatenate([array, np.zeros((len(array), 1))], axis=1)
    return floats(name, array, 3)


@dataclass(frozen=True, eq=False)
class CellPaths:
    """Paths over the cells of a raster: ``paths[i]`` are the cells of path i, (k, 2), column and row."""

    #: Where each path begins in ``cells``, and at last where the last one ends, (n + 1,).
    offsets: npt.NDArray[np.int64]
    #: The cells of all paths, one path after the other, column and row.
    cells: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        object.__setattr__(self, "offsets", frozen(self.offsets))
        object.__setattr__(self, "cells", frozen(self.cells))

    def __reduce__(self) -> tuple[Any, ...]:
        return (CellPaths, (self.offsets, self.cells))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, path: int) -> npt.NDArray[np.int32]: ...

    @overload
    def __getitem__(self, path: slice) -> list[npt.NDArray[np.int32]]: ...

    def __getitem__(self, path: int | slice) -> npt.NDArray[np.int32] | list[npt.NDArray[np.int32]]:
        if isinstance(path, slice):
            return [self[row] for row in range(len(self))[path]]
        count = len(self)
        if not -count <= path < count:
            raise IndexError(f"path {path} does not exist, there are {count}")
        path %= count
        return self.cells[self.offsets[path] : self.offsets[path + 1]]
