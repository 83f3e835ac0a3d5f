"""Cost distance over rasters of friction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, array_of, as_array, floats, frozen
from hullfield._cells import CellPaths, cells_of, cut, one_cell
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._grids import Place, Raster, aligned, is_labelled, place_of, plane, raster_of, step_sizes
from hullfield._pending import Call, Pending, query
from hullfield._scalars import choice, flag, real_or_none, whole

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
        answer: tuple[Any, Any, dict[str, Any], _native.CostDistance | None],
        targets: npt.NDArray[np.int32],
        values: npt.NDArray[np.float64] | None,
        place: Place | None,
        has_paths: bool,
    ) -> None:
        self.distances: npt.NDArray[np.float32] = frozen(answer[0])
        self.sources: npt.NDArray[np.uint32] | None = None if answer[1] is None else frozen(answer[1])
        report = dict(answer[2])
        for name in ("blocked", "outside"):
            report[name] = frozen(cut(report[name], 2))
        self.report = CostDistanceReport(**report)
        self.targets = frozen(cut(targets, 2))
        self._native = answer[3]
        self._values = values
        self._place = place
        self._has_paths = has_paths

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return as_array(self.distances, dtype, copy)

    @property
    def allocation(self) -> npt.NDArray[Any]:
        """The value that the raster has at each cell's target, as xarray-spatial and GRASS give it; NaN where no target is reached. Where targets
        were given as cells, their rows."""
        if self.sources is None:
            raise InvalidInputError("the allocation was not asked for: allocation=True")
        reached = self.sources != NO_TARGET
        values = np.arange(len(self.targets), dtype=np.float64) if self._values is None else self._values
        allocation = np.full(self.sources.shape, np.nan)
        allocation[reached] = values[self.sources[reached]]
        return allocation

    def path(self, cell: ArrayLike) -> npt.NDArray[np.int32]:
        """The cells of the path from a cell, column and row, to its target, both included, (k, 2). The cell alone where no target is reached."""
        return self.paths([one_cell("cell", cell, 2)[:2]])[0]

    @query
    def paths(self, cells: ArrayLike) -> Pending[CellPaths]:
        """The paths from many cells, (n, 2), column and row. On all cores; Ctrl-C ends it.

        Raises:
            InvalidInputError: a cell is outside of the raster; ``paths=True`` was not given.
        """
        if self._native is None or not self._has_paths:
            raise InvalidInputError("the paths were not asked for: paths=True")
        native = self._native.paths(cells_of("cells", cells, 2))
        return Pending(native, lambda answer: CellPaths(answer[0], cut(answer[1], 2)))

    def to_xarray(self) -> Any:
        """The distances as an ``xarray.DataArray`` named ``cost_distance``, with the coordinates and the reference system of the rasters, of which
        one must have been one. Its attributes are its own: it has units where those of friction and of the coordinates are said."""
        if self._place is None:
            raise InvalidTypeError("no raster was an xarray.DataArray, so there are no coordinates")
        attributes = {"long_name": "least cost to the nearest target"}
        if self._place.units is not None:
            attributes["units"] = self._place.units
        return self._place.labelled(self.distances.copy(), "cost_distance", attributes)

    def __copy__(self) -> CostDistance:
        return self

    def __deepcopy__(self, _: Any) -> CostDistance:
        # Nothing of it can be changed.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._has_paths:
            raise InvalidTypeError(
                "a CostDistance with paths does not pickle: pickle its arrays and paths, or solve without paths=True"
            )
        report = {name: getattr(self.report, name) for name in self.report.__dataclass_fields__}
        values = self.distances, self.sources, report, None
        return (_load, (values, self.targets, self._values, self._place))

    def __repr__(self) -> str:
        rows, columns = self.distances.shape
        targets = f"{self.report.used_count} target{'s' * (self.report.used_count != 1)}"
        return (
            f"<hullfield.CostDistance of {rows} x {columns} cells: {self.report.reached_count} reach "
            f"{targets}, off by at most {self.report.error_bound:.1e}>"
        )


def _load(answer: Any, targets: Any, values: Any, place: Place | None) -> CostDistance:
    return CostDistance(answer, targets, values, place, False)


def _at(raster: Raster, cells: npt.NDArray[np.int32]) -> npt.NDArray[np.float64]:
    """The numbers of some cells; NaN for those outside of the raster."""
    x, y = cells[:, 0].astype(np.int64), cells[:, 1].astype(np.int64)
    rows, columns = raster.values.shape
    inside = (x >= 0) & (x < columns) & (y >= 0) & (y < rows)
    found = np.full(len(cells), np.nan)
    found[inside] = raster.values[y[inside], x[inside]]
    return found


def _targets(raster: Raster | None, targets: object) -> npt.NDArray[np.int32]:
    """The cells of the targets: given, or those of the raster that have one of some values, or that are neither 0 nor NaN."""
    given = None if targets is None else array_of("targets", targets)
    if given is not None and given.ndim == 2:
        return cells_of("targets", given, 2)
    if given is not None and given.ndim > 1:
        raise InvalidInputError(f"targets has the shape {given.shape}, it must be (n,) values, or (n, 2) cells")
    if raster is None:
        raise InvalidInputError("without a raster, targets must be cells: an array (n, 2) of column and row")
    values = raster.values
    if given is not None:
        if given.dtype.kind not in "biuf" and given.size:
            raise InvalidTypeError(f"targets has the dtype {given.dtype}, it must hold real numbers")
        is_target = np.isin(values, np.atleast_1d(given))
    else:
        is_target = (values != 0) & np.isfinite(values)
    if raster.mask is not None:
        is_target &= ~raster.mask
    rows, columns = np.nonzero(is_target)
    return np.stack([columns, rows, np.zeros_like(rows)], axis=1).astype(np.int32)


def _checked(name: str, value: Any) -> Raster:
    """A raster, (rows, columns)."""
    found = raster_of(name, value)
    if found.values.ndim != 2:
        raise InvalidInputError(f"{name} has the shape {found.values.shape}, it must be (rows, columns)")
    return found


def _same_shape(name: str, raster: Raster, friction: npt.NDArray[Any]) -> None:
    shape = raster.values.shape
    if shape != friction.shape:
        raise InvalidInputError(f"{name} has the shape {shape}, friction {friction.shape}: they must be the same")


@Call
def cost_distance(
    raster: Any,
    targets: ArrayLike | None = None,
    *,
    friction: Any,
    transform: Any = None,
    cell_size: float | Sequence[float] | None = None,
    geodesic: bool = False,
    connectivity: int = 8,
    corners: str = "any",
    cost_rule: str = "mean",
    max_distance: float | None = None,
    allocation: bool = False,
    paths: bool = False,
    elevation: Any = None,
    slope_factors: ArrayLike | str | None = None,
    walked_from_targets: bool = False,
) -> Pending[CostDistance]:
    """The least cost of a path from each cell of a raster to the nearest target.

    A move between neighbours costs its length times the mean of the friction of both cells, as in xarray-spatial, GRASS's ``r.cost`` and
    scikit-image's ``MCP_Geometric``; or times the friction of the cell entered.

    Args:
        raster: the raster that holds the targets, (rows, columns): a numpy array, or an ``xarray.DataArray`` whose coordinates then give
            the size of the cells, and the order of the cells of the answer. None if ``targets`` are cells. Rasters that are DataArrays are
            transposed and flipped to match it; other extents, coordinates or reference systems are an error. Masked cells, and cells of the
            ``_FillValue`` of a DataArray, are no targets.
        targets: which values of the raster are targets, (n,); by default all cells that are neither 0 nor NaN. Or cells, (n, 2), column and row.
        friction: the cost of a unit of length through each cell, (rows, columns), float32 or float64. NaN, infinity, 0 and negative
            friction are barriers; the report counts them. So are cells without data, which count as NaN.
        transform: the affine transform of the raster (rasterio's ``transform``, or its six numbers). It gives the size of the cells.
        cell_size: the size of a cell in map units, or two sizes, along x and y; instead of ``transform``. By default that of the coordinates of
            a DataArray, else 1: distances in cells. Coordinates in degrees are a warning.
        geodesic: for rasters whose coordinates, or transform, are in degrees: the length of a move then is that of the shortest line on the ellipsoid between
            the centres of its two cells, in metres (Vincenty 1975, within 1e-9). Rows must be parallels. The ellipsoid is that of the
            rasters' reference system; without one, WGS 84. The first and the last column are no neighbours.
        connectivity: 4 or 8 neighbours.
        corners: when a diagonal move is allowed past barriers: ``"any"`` (always), ``"one_free"``, or ``"both_free"`` (both cells beside it are free).
        cost_rule: ``"mean"`` of both cells, ``"entry"``: that of the cell entered on the way to the target, or ``"exit"``: that of the cell left.
        max_distance: cells farther than this are not reached.
        allocation: whether to tell which target each cell's path leads to.
        paths: whether to keep what paths are read from, a byte a cell.
        elevation: the height of each cell, (rows, columns), in map units, with ``geodesic`` in metres: then the length of a step is that over the ground,
            √(run² + rise²). Slower. A cell whose height is not finite, or without data, is a barrier.
        slope_factors: what a step costs more or less by its slope, rows of (slope, factor), (n, 2), slopes ascending; linear between them.
            Slope is rise over run on the way to the target. Or ``"tobler"``: the time of Tobler's hiking function, relative to flat ground.
        walked_from_targets: whether paths are walked from the targets; what is uphill one way is downhill the other.

    Returns:
        Distances in map units times friction, with ``geodesic`` in metres times friction, float32, equal bit for bit for any number of threads. They are
        added up in float64, whatever the range of friction: one cell of 1e30 changes nothing elsewhere. ``report.error_bound`` says how far they may be off.

    Raises:
        InvalidInputError: shapes that differ, an option that is unknown, a size of cells that is not positive, friction whose largest value is over
            1e559 times the least.
        NoGoalsError: no target can be used.

    Cost: about 20 bytes and 0.1 µs a cell on one thread.
    """
    given = {"the raster": plane(raster), "friction": plane(friction), "elevation": plane(elevation)}
    frame_name, frame = next(((name, array) for name, array in given.items() if is_labelled(array)), ("", None))
    given = {name: aligned(name, array, frame_name, frame) for name, array in given.items()}
    of_friction = _checked("friction", given["friction"])
    dtype = np.float32 if of_friction.values.dtype == np.float32 else np.float64
    checked = floats("friction", of_friction.filled(np.nan), dtype=dtype, any_shape=True)
    of_targets = None if raster is None else _checked("the raster", given["the raster"])
    if of_targets is not None:
        _same_shape("the raster", of_targets, checked)
    target_cells = _targets(of_targets, targets)
    heights, is_outward = None, flag("walked_from_targets", walked_from_targets)
    if elevation is not None:
        of_heights = _checked("elevation", given["elevation"])
        _same_shape("elevation", of_heights, checked)
        heights = floats("elevation", of_heights.filled(np.nan), dtype=np.float32, any_shape=True)
    elif slope_factors is not None or is_outward:
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
    neighbours = whole("connectivity", connectivity)
    if neighbours not in (4, 8):
        raise InvalidInputError(f"connectivity is {connectivity!r}, it must be 4 or 8")
    has_paths, is_geodesic = flag("paths", paths), flag("geodesic", geodesic)
    sizes, globe = step_sizes(list(given.values()), transform, cell_size, is_geodesic, checked.shape)
    native = _native.cost_distance(
        checked,
        target_cells,
        "four" if neighbours == 4 else "eight",
        choice("corners", corners, ("any", "one_free", "both_free")),
        choice("cost_rule", cost_rule, ("mean", "entry", "exit")),
        sizes,
        globe,
        real_or_none("max_distance", max_distance),
        flag("allocation", allocation),
        has_paths,
        heights,
        factors,
        is_outward,
    )
    place = None if frame is None else place_of(frame, given["friction"], is_geodesic)
    at_targets = None if of_targets is None else _at(of_targets, target_cells)
    return Pending(native, lambda answer: CostDistance(answer, target_cells, at_targets, place, has_paths))
