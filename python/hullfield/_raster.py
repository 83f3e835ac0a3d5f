"""Fields over rasters that need not fit into memory."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, array_of, floats, in_order, indices, mask_of, point
from hullfield._cells import CellPaths, cells_of, cut, one_cell
from hullfield._engine import Engine, engine_or_auto
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._grids import is_labelled, plane, raster_of
from hullfield._native import RasterField as NativeRasterField
from hullfield._pending import Call, Pending, query
from hullfield._scalars import U64, choice, flag, real, sequence, whole, whole_or_none

Distances = npt.NDArray[np.uint64]

PLANE, CORNERS, RULES = ("four", "eight"), ("both_free", "one_free", "any"), ("entry", "exit", "mean")


class RasterWindow(NamedTuple):
    """A rectangle of cells of a raster."""

    x: int
    """The first column."""
    y: int
    """The first row."""
    width: int
    """Columns."""
    height: int
    """Rows."""


class RasterProgress(NamedTuple):
    """How far the work is."""

    tile_count: int
    """Tiles of the raster."""
    solved_count: int
    """Tiles that have been solved at least once."""
    visit_count: int
    """Tiles solved so far, each as often as it was."""
    waiting_count: int
    """Tiles that wait to be solved, for the first time or again."""


@dataclass(frozen=True, eq=False)
class RasterReport:
    """What was solved, and how."""

    used_goal_count: int
    """How many different cells are goals."""
    blocked_goals: npt.NDArray[np.int32]
    """Goals on obstacles, which were left out, (n, 2)."""
    outside_goals: npt.NDArray[np.int32]
    """Goals outside the raster, which were left out, (n, 2)."""
    reached_count: int
    """Cells from which a goal is reached, goals included."""
    farthest: int
    """The largest distance of a reached cell."""
    tile_edge: int
    """Cells along the edge of a tile."""
    tile_count: int
    """Tiles of the raster."""
    visit_count: int
    """Tiles solved by this call, each as often as it was."""
    resumed_count: int
    """Tiles that an earlier call for the same job had left in the folder."""


class FrictionScale:
    """Whole numbers for friction that is not whole: costs for :func:`solve_raster`, and distances back.

    A cost is a power of two times the friction, rounded. It is fixed by the range of friction alone, so windows of a raster can be scaled one at
    a time.

    Args:
        range: the least and the largest friction, both more than 0.
        connectivity: ``"four"`` or ``"eight"``.
        corners: when a diagonal move is allowed, as of :class:`Grid`; by default always.
        cost_rule: ``"mean"``: a step costs its length times the mean friction of both cells, as in GRASS's r.cost; ``"entry"``: times that of
            the cell entered.
        cell_size: the length of a cell along x and y in the units of the map, one number or (2,).
    """

    __slots__ = ("_arguments", "_native")

    def __init__(
        self,
        range: ArrayLike,
        *,
        connectivity: str = "eight",
        corners: str = "any",
        cost_rule: str = "mean",
        cell_size: ArrayLike = 1.0,
    ) -> None:
        ends = point("range", range, 2)
        sizes = array_of("cell_size", cell_size)
        lengths = floats("cell_size", np.broadcast_to(sizes, (2,)) if sizes.ndim == 0 else sizes)
        if len(lengths) != 2:
            raise InvalidInputError(f"cell_size has the shape {lengths.shape}, it must be a number, or (2,)")
        words = choice("connectivity", connectivity, PLANE), choice("corners", corners, CORNERS)
        self._arguments = (ends, *words, choice("cost_rule", cost_rule, RULES), lengths.tolist())
        self._native = _native.FrictionScale(*self._arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_load_scale, self._arguments)

    def __repr__(self) -> str:
        ends, connectivity, corners, rule, lengths = self._arguments
        return f"<FrictionScale for {ends[0]:g} to {ends[1]:g}, {connectivity}, {corners}, {rule}, cells of {lengths}>"

    @property
    def factor(self) -> float:
        """What friction is multiplied by."""
        return self._native.factor

    @property
    def step_lengths(self) -> tuple[int, int, int]:
        """The lengths of steps along x, along y and diagonal, in units of ``length_unit``."""
        x, y, diagonal = self._native.step_lengths
        return x, y, diagonal

    @property
    def length_unit(self) -> float:
        """The length of one unit of the steps, in the units of the map."""
        return self._native.length_unit

    @property
    def unit(self) -> float:
        """What one unit of whole distances is, in the units of the map times those of friction."""
        return self._native.unit

    @property
    def error_bound(self) -> float:
        """The largest relative error of a path's cost."""
        return self._native.error_bound

    def costs(self, friction: ArrayLike, *, x: int = 0, y: int = 0) -> npt.NDArray[np.uint32]:
        """The costs of friction, (height, width): 0 for barriers, which are not a number, infinite, 0 or negative.

        Args:
            friction: real numbers; whole numbers and float16 are taken as float64. Cells without data count as NaN.
            x, y: the place of the first cell in the raster, for errors.

        Raises:
            InvalidInputError: friction outside the range of the scale; it names the cell.
        """
        given = raster_of("friction", friction).filled(np.nan)
        array = floats("friction", given, dtype=_float(given), any_shape=True)
        if array.ndim != 2:
            raise InvalidInputError(f"friction has the shape {array.shape}, it must be (height, width)")
        found: npt.NDArray[np.uint32] = self._native.costs(array, whole("x", x), whole("y", y))
        return found

    def distances(self, whole_distances: ArrayLike) -> npt.NDArray[np.float64]:
        """Distances of a :class:`RasterField` in the units of the map times those of friction, of the same shape; infinite where unreachable."""
        array = array_of("whole_distances", whole_distances)
        if array.dtype != np.uint64:
            raise InvalidTypeError(f"whole_distances has the dtype {array.dtype}, it must be uint64")
        flat = self._native.distances(in_order(array, np.uint64).reshape(-1))
        found: npt.NDArray[np.float64] = flat.reshape(array.shape)
        return found

    def whole_distance(self, distance: float) -> int:
        """The largest whole distance that is no more than ``distance``, for ``max_distance`` of :func:`solve_raster`."""
        return self._native.whole_distance(real("distance", distance))


def _load_scale(ends: Any, connectivity: str, corners: str, cost_rule: str, cell_size: Any) -> FrictionScale:
    return FrictionScale(ends, connectivity=connectivity, corners=corners, cost_rule=cost_rule, cell_size=cell_size)


def _float(value: Any) -> npt.DTypeLike:
    """The type that friction is read as."""
    return np.float32 if array_of("friction", value).dtype == np.float32 else np.float64


class RasterField:
    """A solved field over a raster, read by windows: ``field[y0:y1, x0:x1]``. Made by :func:`solve_raster`.

    Distances are uint64, in steps of the connectivity; ``RASTER_UNREACHABLE`` for obstacles and where no goal is reached.

    A field in a folder keeps the folder in use until it is closed, or deleted: ``with solve_raster(…) as field:`` closes it.
    """

    __slots__ = ("_native", "_read", "_shape")

    _native: NativeRasterField
    _read: Callable[[int, int, int, int], npt.NDArray[np.uint32]]
    _shape: tuple[int, int]

    @classmethod
    def _of(
        cls,
        native: NativeRasterField,
        shape: tuple[int, int],
        read: Callable[[int, int, int, int], npt.NDArray[np.uint32]],
    ) -> RasterField:
        field = cls.__new__(cls)
        field._native, field._shape, field._read = native, shape, read
        return field

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[np.uint64]:
        """That of the distances."""
        return np.dtype(np.uint64)

    @property
    def ndim(self) -> int:
        """2."""
        return 2

    @property
    def report(self) -> RasterReport:
        """What was solved, and how."""
        report = dict(self._native.report)
        goals = report.pop("goals")
        left_out = goals["blocked"][:, :2], goals["outside"][:, :2]
        return RasterReport(goals["used_count"], *left_out, **report)

    def windows(self) -> Iterator[RasterWindow]:
        """The windows of the tiles, row by row: read in this order each tile is read once."""
        return (RasterWindow(*row) for row in self._native.windows().tolist())

    @query
    def distances(self, window: RasterWindow | tuple[int, int, int, int]) -> Pending[Distances]:
        """The distances of a window, (height, width).

        Raises:
            InvalidInputError: the window is empty, or not in the raster.
            FileError: a tile was lost since.
        """
        numbers = sequence("window", window)
        if len(numbers) != 4:
            raise InvalidInputError(f"window is {window!r}, it must be four numbers: x, y, width, height")
        x, y, width, height = (whole("a number of the window", part) for part in numbers)
        return Pending(self._native.distances(x, y, width, height), _same)

    @query
    def paths(self, cells: ArrayLike) -> Pending[CellPaths]:
        """The shortest paths from many cells, x, y, (n, 2), each to a goal, both included; the cell alone where no goal is reached.

        Reads the distances, and the raster that was solved over, around each tile that a path enters: 12 bytes for each cell of one tile.

        Raises:
            InvalidInputError: a cell is outside of the raster; the raster has changed since it was solved.
            FileError: a tile was lost since.
        """
        height, width = self._shape
        native = self._native.paths(self._read, [width, height], cells_of("cells", cells, 2))
        return Pending(native, lambda answer: CellPaths(answer[0], cut(answer[1], 2)))

    def path(self, cell: ArrayLike) -> npt.NDArray[np.int32]:
        """The cells of the shortest path from one cell, x, y, (k, 2): :meth:`paths`."""
        return self.paths([one_cell("cell", cell, 2)[:2]])[0]

    def __getitem__(self, key: Any) -> Any:
        parts = list(key) if isinstance(key, tuple) else [key]
        given = [part for part in parts if part is not Ellipsis]
        if len(given) > 2 or len(parts) - len(given) > 1:
            raise IndexError(f"{len(parts)} indices were given, the field has two dimensions")
        # As numpy does, an ellipsis stands for all that is left out where it stands; without one that is at the end.
        missing = [slice(None)] * (2 - len(given))
        rows, columns = [*missing, *given] if parts and parts[0] is Ellipsis else [*given, *missing]
        picks: list[Any] = []
        ranges: list[tuple[int, int]] = []
        for part, length in zip((rows, columns), self._shape, strict=True):
            if isinstance(part, slice):
                start, stop, step = part.indices(length)
                if step < 1:
                    raise InvalidInputError("a window of a field is read forwards: steps must be 1 or more")
                ranges.append((start, max(start, stop)))
                picks.append(slice(None, None, step))
            else:
                try:
                    index = range(length)[part]
                except IndexError:
                    raise IndexError(f"{part} is outside of the field, which has the shape {self._shape}") from None
                ranges.append((index, index + 1))
                picks.append(0)
        (y0, y1), (x0, x1) = ranges
        if y0 == y1 or x0 == x1:
            found = np.zeros((y1 - y0, x1 - x0), dtype=np.uint64)
        else:
            found = self.distances((x0, y0, x1 - x0, y1 - y0))
        return found[tuple(picks)]

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise InvalidInputError("the distances are read from tiles, so an array of them is a copy")
        return np.asarray(self[:, :], dtype=dtype)

    def write_to(self, array: Any) -> None:
        """Writes all distances, tile by tile, into an array of the same shape that takes ``array[y0:y1, x0:x1] = …``.

        numpy's arrays and memory maps, h5py's and zarr's data sets do. Reads one tile at a time.
        """
        if tuple(array.shape) != self._shape:
            raise InvalidInputError(f"the array has the shape {tuple(array.shape)}, the field has {self._shape}")
        for x, y, width, height in self.windows():
            array[y : y + height, x : x + width] = self.distances((x, y, width, height))

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            "a RasterField neither pickles nor can be copied: pickle windows of it, or give solve_raster its folder again"
        )

    def close(self, *, remove: bool = False) -> None:
        """Lets go of the folder. The field can't be read any more.

        Args:
            remove: whether the tiles are removed, and the folder if nothing else is in it.
        """
        self._native.close(flag("remove", remove))

    def __enter__(self) -> RasterField:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<RasterField of {self._shape[0]} x {self._shape[1]} cells>"


def _reader(
    array: Any, shape: tuple[int, int], scale: FrictionScale | None
) -> Callable[[int, int, int, int], npt.NDArray[np.uint32]]:
    def read(y0: int, y1: int, x0: int, x1: int) -> npt.NDArray[np.uint32]:
        if tuple(array.shape) != shape:
            raise InvalidInputError(
                f"the raster's shape changed from {shape} to {tuple(array.shape)} while it was read"
            )
        part = array[y0:y1, x0:x1]
        if is_labelled(part) or mask_of(part) is not None:
            # Cells without data are obstacles, and barriers.
            window = raster_of("the raster", part).filled(0 if scale is None else np.nan)
        else:
            window = np.asarray(getattr(part, "values", part))
        wanted = (y1 - y0, x1 - x0)
        if window.shape != wanted:
            raise InvalidInputError(
                f"the raster gave the shape {window.shape} for the window [{y0}:{y1}, {x0}:{x1}], which has {wanted}"
            )
        if scale is not None:
            return scale.costs(window, x=x0, y=y0)
        if window.dtype.kind == "b":
            window = window.astype(np.uint32)
        elif window.dtype.kind not in "iu":
            raise InvalidTypeError(
                f"the raster has the dtype {window.dtype}, costs must be whole numbers, 0 for obstacles; friction needs a scale"
            )
        if window.dtype.itemsize > 4 or window.dtype.kind == "i":
            wrong = (window < 0) | (window > 0xFFFF_FFFF)
            if wrong.any():
                row, column = (int(at) for at in np.argwhere(wrong)[0])
                raise InvalidInputError(
                    f"the raster is {window[row, column]} at row {y0 + row}, column {x0 + column}: "
                    "costs must be from 0, an obstacle, to 2**32 - 1"
                )
        return in_order(window, np.uint32)

    return read


def _identity(array: Any, has_folder: bool) -> str:
    """What tells the array from others, for a folder that outlives the call."""
    name = getattr(array, "filename", None)
    if isinstance(array, np.memmap) and name is not None:
        return f"{_status(name)}, from {array.offset}, {array.dtype}"
    if isinstance(array, np.ndarray):
        return _hash(array) if has_folder else ""
    # Of h5py.
    file = getattr(getattr(array, "file", None), "filename", None)
    if isinstance(file, str) and os.path.exists(file):
        return f"{_status(file)}, {array.name}"
    return f"{type(array).__name__} of {getattr(array, 'dtype', 'numbers')}"


def _status(file: Any) -> str:
    status = os.stat(file)
    return f"{os.fspath(file)}, {status.st_size} bytes, of {status.st_mtime_ns}"


def _hash(array: npt.NDArray[Any]) -> str:
    """The hash of an array in memory, some rows at a time."""
    hashed = hashlib.blake2b(digest_size=16)
    step = max(1, (1 << 22) // max(1, array[:1].nbytes))
    for row in range(0, len(array), step):
        part = array[row : row + step]
        mask = mask_of(part)
        if mask is not None:
            hashed.update(mask.tobytes())
        hashed.update(np.ma.getdata(part).tobytes())
    return f"{array.dtype.str} {hashed.hexdigest()}"


class RasterArguments:
    """What a field over a raster is solved of, checked: for this process and for workers."""

    def __init__(
        self,
        costs: Any,
        goals: ArrayLike,
        folder: str | os.PathLike[str] | None,
        identity: str | None,
        connectivity: str | None,
        corners: str | None,
        memory_limit: int | None,
        tile_edge: int | None,
        max_distance: int | None,
        cost_rule: str | None,
        step_lengths: ArrayLike | None,
        scale: FrictionScale | None,
    ) -> None:
        costs = plane(costs)
        shape = tuple(int(length) for length in getattr(costs, "shape", ()))
        if len(shape) != 2:
            if not hasattr(costs, "shape"):
                raise InvalidTypeError(
                    f"costs is a {type(costs).__name__}, it must be an array: have a shape, and slice"
                )
            raise InvalidInputError(f"costs has the shape {shape}, it must be (height, width)")
        height, width = shape
        if max(shape) > 0xFFFF_FFFF:
            raise InvalidInputError(f"costs has the shape {shape}, that is too long along an axis")
        rules = (connectivity, corners, cost_rule, step_lengths)
        if scale is not None and not isinstance(scale, FrictionScale):
            raise InvalidTypeError(f"scale is of the type {type(scale).__name__}, it must be a FrictionScale")
        if scale is not None:
            if any(rule is not None for rule in rules):
                raise InvalidInputError(
                    "a scale is given, so connectivity, corners, cost_rule and step_lengths are those of the scale"
                )
            _, connectivity, corners, cost_rule, _ = scale._arguments
            step_lengths = scale.step_lengths
        self.shape = (height, width)
        self.read = _reader(costs, self.shape, scale)
        named = _identity(costs, folder is not None) if identity is None else identity
        self.native = (
            [width, height],
            named + ("" if scale is None else f", {scale._arguments}"),
            cells_of("goals", goals, 2),
            None if folder is None else os.fspath(folder),
            (
                choice("connectivity", "eight" if connectivity is None else connectivity, PLANE),
                choice("corners", "both_free" if corners is None else corners, CORNERS),
                whole_or_none("memory_limit", memory_limit, U64),
                whole_or_none("tile_edge", tile_edge),
                whole_or_none("max_distance", max_distance, U64),
                choice("cost_rule", "entry" if cost_rule is None else cost_rule, RULES),
                None if step_lengths is None else _lengths(step_lengths),
            ),
        )


@Call
def solve_raster(
    costs: Any,
    goals: ArrayLike,
    *,
    folder: str | os.PathLike[str] | None = None,
    identity: str | None = None,
    connectivity: str | None = None,
    corners: str | None = None,
    memory_limit: int | None = None,
    tile_edge: int | None = None,
    max_distance: int | None = None,
    cost_rule: str | None = None,
    step_lengths: ArrayLike | None = None,
    scale: FrictionScale | None = None,
    progress: Callable[[RasterProgress], Any] | None = None,
    engine: Engine | None = None,
) -> Pending[RasterField]:
    """Solves the field of some goals over a raster that need not fit into memory.

    The distance of a cell is the least sum of steps to a goal, each times the cost of the cell entered. It is equal bit for bit to that of
    one piece (:meth:`Flow.solve`), in 64 bits, whatever the tiles, the memory limit, the number of threads and the engine.

    ``solve_raster.start(…)`` takes the same arguments, and returns a :class:`hullfield.Pending` at once.

    >>> import numpy as np
    >>> from hullfield.flow import FrictionScale, solve_raster
    >>> costs = np.array([[1, 0, 1], [1, 7, 1]], dtype=np.uint16)
    >>> field = solve_raster(costs, [[2, 0]], connectivity="four")
    >>> field[:, :2].tolist()
    [[10, 18446744073709551615], [9, 2]]

    Friction of three cells, each 30 m wide; a step costs its length times the mean friction of both cells:

    >>> scale = FrictionScale([0.5, 2.0], connectivity="four", cell_size=30)
    >>> scale.distances(solve_raster(np.array([[1.0, 2.0, 0.5]]), [[0, 0]], scale=scale)[:, :]).tolist()
    [[0.0, 45.0, 82.5]]

    Args:
        costs: the cost of entering each cell, ``[height, width]``: whole numbers, 0 for obstacles. Anything that has a ``shape`` and slices as
            ``costs[y0:y1, x0:x1]``: numpy's arrays and memory maps, data sets of h5py and zarr, arrays of xarray and rioxarray. Masked cells, and cells of the
            ``_FillValue`` of an ``xarray.DataArray``, are obstacles. Several threads read it, one at a time. What it raises comes back as it is.
        goals: cells x, y, (n, 2).
        folder: where the distances of tiles are kept, 4 to 8 bytes a cell; None keeps them in memory. After an end of any kind, a call for
            the same job goes on from what is there. One process at a time uses a folder.
        identity: what tells this raster from others of its shape, for the folder, so that distances over another raster are not taken for
            those over this one. By default the name, length and time of the file of a memory map or of h5py, a hash of a numpy array; of
            other arrays only their type, so name these.
        connectivity: ``"four"`` or ``"eight"``, the default.
        corners: as of :class:`Grid`; ``"both_free"`` by default.
        memory_limit: the most bytes that the work may take, beside the raster and the distances in memory. By default what the host has free.
        tile_edge: cells along the edge of a tile. By default the largest up to 4,096 that the memory allows.
        max_distance: cells farther than this are left unreachable.
        cost_rule: ``"entry"``, the default: a step costs its length times the cost of the cell entered. ``"mean"``: its length times the mean cost of both
            cells; distances then are twice as large, so that nothing is rounded.
        step_lengths: the lengths of steps along x, along y and diagonal, (3,): whole numbers from 1 to 2**24. By default those of the
            connectivity.
        scale: for friction that is not whole numbers: ``costs`` then is friction, and the scale says what connectivity, corners, cost rule and
            step lengths are. ``scale.distances(field[y0:y1, x0:x1])`` gives distances in the units of the map.
        progress: called with a :class:`RasterProgress` after each round of tiles. It ends the work by returning False, or by raising.
        engine: where tiles are solved; by default one that all calls share. With a scale, another cost rule or other step lengths it is the CPU.

    Raises:
        NoGoalsError: no goal is left.
        InvalidInputError: an option outside its range, a cost below 0, a raster whose shape changes, a folder of another job or in use.
        MemoryLimitError: the smallest tiles don't fit.
        FileError: a tile can't be read or written.
        CancelledError: ``progress`` returned False.
    """
    arguments = RasterArguments(
        costs,
        goals,
        folder,
        identity,
        connectivity,
        corners,
        memory_limit,
        tile_edge,
        max_distance,
        cost_rule,
        step_lengths,
        scale,
    )
    told = None
    if progress is not None:

        def told(*counts: int) -> Any:
            return progress(RasterProgress(*counts))

    native = _native.solve_raster(engine_or_auto(engine)._native, arguments.read, *arguments.native, told)
    return Pending(native, lambda answer: RasterField._of(answer, arguments.shape, arguments.read))


def _lengths(step_lengths: ArrayLike) -> list[int]:
    lengths = indices("step_lengths", step_lengths)
    if len(lengths) != 3:
        raise InvalidInputError(f"step_lengths has the shape {lengths.shape}, it must be (3,)")
    return lengths.tolist()  # type: ignore[no-any-return]


def _same(value: Any) -> Any:
    return value
