"""Cost distance over rasters of friction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import floats
from hullfield._cells import CellPaths, cells_of, cut
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._pending import Call, Pending, query
from hullfield._scalars import real_or_none

__all__ = ["NO_TARGET", "CellPaths", "CostDistance", "CostDistanceReport", "cost_distance"]

#: The number of the target of cells from which none is reached.
NO_TARGET = 0xFFFF_FFFF


@dataclass(frozen=True)
class CostDistanceReport:
    """What was solved, and how.

    Attributes:
        used_count: targets that were used, each cell once.
        blocked: targets on barriers, (n, 2), column and row.
        outside: targets outside of the raster, (n, 2).
        reached_count: cells from which a target is reached, targets included.
        farthest: the largest distance of a reached cell.
        not_finite_count: barriers whose friction is not a number, or infinite.
        not_positive_count: barriers whose friction is 0 or negative.
        error_bound: the largest relative error of any distance but for the rounding to float32, which adds 6e-8: that of adding up the steps of
            a path in float64, about 1e-16 for each step.
    """

    used_count: int
    blocked: npt.NDArray[np.int32]
    outside: npt.NDArray[np.int32]
    reached_count: int
    farthest: float
    not_finite_count: int
    not_positive_count: int
    error_bound: float


class CostDistance:
    """The cost distances of a raster. ``numpy.asarray`` of it gives the distances.

    Attributes:
        distances: the least cost of a path to a target, float32, of the raster's shape; inf for barriers and where no target is reached.
        sources: the target that each cell's path leads to, by its row in ``targets``, uint32; ``NO_TARGET`` where there is none. None unless
            ``allocation=True``.
        targets: the cells of the targets, (n, 2), column and row.
        report: what was solved, and how.
    """

    def __init__(
        self,
        answer: tuple[Any, Any, dict[str, Any], _native.CostDistance],
        targets: npt.NDArray[np.int32],
        raster: Any,
        has_paths: bool,
    ) -> None:
        self.distances: npt.NDArray[np.float32] = answer[0]
        self.sources: npt.NDArray[np.uint32] | None = answer[1]
        report = answer[2]
        for name in ("blocked", "outside"):
            report[name] = cut(report[name], 2)
        self.report = CostDistanceReport(**report)
        self.targets = cut(targets, 2)
        self._native = answer[3]
        self._raster = raster
        self._has_paths = has_paths

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if dtype is not None and np.dtype(dtype) != self.distances.dtype:
            return self.distances.astype(dtype)
        return self.distances.copy() if copy else self.distances

    @property
    def allocation(self) -> npt.NDArray[Any]:
        """The value that the raster has at each cell's target, as xarray-spatial and GRASS give it; NaN where no target is reached. Where targets
        were given as cells, their rows."""
        if self.sources is None:
            raise InvalidInputError("the allocation was not asked for: allocation=True")
        reached = self.sources != NO_TARGET
        if self._raster is None:
            values = np.arange(len(self.targets), dtype=np.float64)
        else:
            values = _values(self._raster)[self.targets[:, 1], self.targets[:, 0]].astype(np.float64)
        allocation = np.full(self.sources.shape, np.nan)
        allocation[reached] = values[self.sources[reached]]
        return allocation

    def path(self, cell: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The cells of the path from a cell, column and row, to its target, both included, (k, 2). The cell alone where no target is reached."""
        return self.paths(np.asarray(cell)[None])[0]

    @query
    def paths(self, cells: npt.ArrayLike) -> Pending[CellPaths]:
        """The paths from many cells, (n, 2), column and row. On all cores; Ctrl-C ends it.

        Raises:
            InvalidInputError: a cell is outside of the raster; ``paths=True`` was not given.
        """
        if not self._has_paths:
            raise InvalidInputError("the paths were not asked for: paths=True")
        native = self._native.paths(cells_of("cells", cells, 2))
        return Pending(native, lambda answer: CellPaths(answer[0], cut(answer[1], 2)))

    def to_xarray(self) -> Any:
        """The distances as an ``xarray.DataArray`` with the coordinates of the raster, which must have been one."""
        if not hasattr(self._raster, "dims"):
            raise InvalidTypeError("the raster was no xarray.DataArray, so there are no coordinates")
        return self._raster.copy(data=self.distances)

    def __repr__(self) -> str:
        rows, columns = self.distances.shape
        targets = f"{self.report.used_count} target{'s' * (self.report.used_count != 1)}"
        return (
            f"<hullfield.CostDistance of {rows} x {columns} cells: {self.report.reached_count} reach "
            f"{targets}, off by at most {self.report.error_bound:.1e}>"
        )


def _values(raster: Any) -> npt.NDArray[Any]:
    """The numbers of a numpy array, or of an xarray.DataArray."""
    return np.asarray(getattr(raster, "values", raster))


def _targets(raster: Any, targets: object) -> npt.NDArray[np.int32]:
    """The cells of the targets: given, or those of the raster that have one of some values, or that are neither 0 nor NaN."""
    if targets is not None:
        given = np.asarray(targets)
        if given.ndim == 2:
            return cells_of("targets", given, 2)
        if given.ndim > 1:
            raise InvalidInputError(f"targets has the shape {given.shape}, it must be (n,) values, or (n, 2) cells")
    if raster is None:
        raise InvalidInputError("without a raster, targets must be cells: an array (n, 2) of column and row")
    values = _values(raster)
    if values.ndim != 2:
        raise InvalidInputError(f"the raster has the shape {values.shape}, it must be (rows, columns)")
    if values.dtype.kind not in "biuf":
        raise InvalidTypeError(f"the raster has the dtype {values.dtype}, it must hold real numbers")
    if targets is not None:
        is_target = np.isin(values, np.atleast_1d(given))
    else:
        is_target = (values != 0) & np.isfinite(values)
    rows, columns = np.nonzero(is_target)
    return np.stack([columns, rows, np.zeros_like(rows)], axis=1).astype(np.int32)


def _cell_size(raster: Any, friction: Any, transform: Any, cell_size: Any) -> tuple[float, float]:
    """The size of a cell along x and y, in map units."""
    if transform is not None and cell_size is not None:
        raise InvalidInputError("give transform or cell_size, not both")
    if cell_size is not None:
        given = np.atleast_1d(np.asarray(cell_size, dtype=np.float64))
        if given.shape not in ((1,), (2,)):
            raise InvalidInputError(
                f"cell_size has the shape {given.shape}, it must be a number, or two: along x and y"
            )
        return float(given[0]), float(given[-1])
    if transform is not None:
        numbers = [float(number) for number in tuple(transform)[:6]]
        if len(numbers) != 6:
            raise InvalidInputError(
                f"transform has {len(numbers)} numbers, an affine transform has 6: a, b, c, d, e, f"
            )
        a, b, _, d, e, _ = numbers
        along_x, along_y = math.hypot(a, d), math.hypot(b, e)
        if abs(a * b + d * e) > 1e-9 * along_x * along_y:
            raise InvalidInputError("the axes of transform are not at right angles, so cells are no rectangles")
        return along_x, along_y
    for array in (raster, friction):
        dims, coords = getattr(array, "dims", None), getattr(array, "coords", None)
        if dims is None or coords is None or len(dims) != 2 or any(dim not in coords for dim in dims):
            continue
        sizes = []
        for dim in reversed(dims):
            at = np.asarray(coords[dim], dtype=np.float64)
            if len(at) < 2:
                break
            steps = np.diff(at)
            mean = float(steps.mean())
            if mean == 0 or np.abs(steps - mean).max() > 1e-3 * abs(mean):
                raise InvalidInputError(f"the coordinates of {dim} are not evenly spaced: give cell_size")
            sizes.append(abs(mean))
        if len(sizes) == 2:
            return sizes[0], sizes[1]
    return 1.0, 1.0


@Call
def cost_distance(
    raster: Any,
    targets: npt.ArrayLike | None = None,
    *,
    friction: Any,
    transform: Any = None,
    cell_size: float | Sequence[float] | None = None,
    connectivity: int = 8,
    corners: str = "any",
    cost_rule: str = "mean",
    max_distance: float | None = None,
    allocation: bool = False,
    paths: bool = False,
    elevation: Any = None,
    slope_factors: npt.ArrayLike | str | None = None,
    walked_from_targets: bool = False,
) -> Pending[CostDistance]:
    """The least cost of a path from each cell of a raster to the nearest target.

    A move between neighbours costs its length times the mean of the friction of both cells, as in xarray-spatial, GRASS's ``r.cost`` and
    scikit-image's ``MCP_Geometric``; or times the friction of the cell entered.

    Args:
        raster: the raster that holds the targets, (rows, columns): a numpy array, or an ``xarray.DataArray`` whose coordinates then give
            the size of the cells. None if ``targets`` are cells.
        targets: which values of the raster are targets, (n,); by default all cells that are neither 0 nor NaN. Or cells, (n, 2), column and row.
        friction: the cost of a unit of length through each cell, (rows, columns), float32 or float64. NaN, infinity, 0 and negative
            friction are barriers; the report counts them.
        transform: the affine transform of the raster (rasterio's ``transform``, or its six numbers). It gives the size of the cells.
        cell_size: the size of a cell in map units, or two sizes, along x and y; instead of ``transform``. By default 1: distances in cells.
        connectivity: 4 or 8 neighbours.
        corners: when a diagonal move is allowed past barriers: ``"any"`` (always), ``"one_free"``, or ``"both_free"`` (both cells beside it are free).
        cost_rule: ``"mean"`` of both cells, ``"entry"``: that of the cell entered on the way to the target, or ``"exit"``: that of the cell left.
        max_distance: cells farther than this are not reached.
        allocation: whether to tell which target each cell's path leads to.
        paths: whether to keep what paths are read from, a byte a cell.
        elevation: the height of each cell, (rows, columns), in map units: then the length of a step is that over the ground,
            √(run² + rise²). Slower. A cell whose height is not finite is a barrier.
        slope_factors: what a step costs more or less by its slope, rows of (slope, factor), (n, 2), slopes ascending; linear between them.
            Slope is rise over run on the way to the target. Or ``"tobler"``: the time of Tobler's hiking function, relative to flat ground.
        walked_from_targets: whether paths are walked from the targets; what is uphill one way is downhill the other.

    Returns:
        Distances in map units times friction, float32, equal bit for bit for any number of threads. They are
        added up in float64, whatever the range of friction: one cell of 1e30 changes nothing elsewhere. ``report.error_bound`` says how far they may be off.

    Raises:
        InvalidInputError: shapes that differ, an option that is unknown, a size of cells that is not positive, friction whose largest value is over
            1e559 times the least.
        NoGoalsError: no target can be used.

    Cost: about 20 bytes and 0.1 µs a cell on one thread.
    """
    values = _values(friction)
    if values.ndim != 2:
        raise InvalidInputError(f"friction has the shape {values.shape}, it must be (rows, columns)")
    dtype = np.float32 if values.dtype == np.float32 else np.float64
    checked = floats("friction", values, dtype=dtype, any_shape=True)
    if raster is not None and _values(raster).shape != checked.shape:
        shape = _values(raster).shape
        raise InvalidInputError(f"the raster has the shape {shape}, friction {checked.shape}: they must be the same")
    target_cells = _targets(raster, targets)
    heights = None
    if elevation is not None:
        heights = floats("elevation", _values(elevation), dtype=np.float32, any_shape=True)
        if heights.shape != checked.shape:
            shapes = f"elevation has the shape {heights.shape}, friction {checked.shape}"
            raise InvalidInputError(f"{shapes}: they must be the same")
    elif slope_factors is not None or walked_from_targets:
        raise InvalidInputError("slope_factors and walked_from_targets need the elevation")
    if slope_factors is None:
        factors = np.empty((0, 2))
    elif isinstance(slope_factors, str):
        if slope_factors != "tobler":
            raise InvalidInputError(
                f"slope_factors is {slope_factors!r}, it must be 'tobler' or rows of slope and factor"
            )
        factors = _native.tobler()
    else:
        factors = floats("slope_factors", slope_factors, 2)
    if connectivity not in (4, 8):
        raise InvalidInputError(f"connectivity is {connectivity!r}, it must be 4 or 8")
    native = _native.cost_distance(
        checked,
        target_cells,
        "four" if connectivity == 4 else "eight",
        corners,
        cost_rule,
        _cell_size(raster, friction, transform, cell_size),
        real_or_none("max_distance", max_distance),
        bool(allocation),
        bool(paths),
        heights,
        factors,
        bool(walked_from_targets),
    )
    return Pending(native, lambda answer: CostDistance(answer, target_cells, raster, paths))
