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
from hullfield._arrays import ArrayLike, in_order, indices, mask_of
from hullfield._cells import CellPaths, cells_of, cut, one_cell
from hullfield._engine import Engine, engine_or_auto
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._grids import is_labelled, is_scaled, plane, raster_of, step_sizes
from hullfield._native import RasterField as NativeRasterField
from hullfield._pending import Call, Pending, query
from hullfield._scalars import U64, choice, flag, real_or_none, sequence, whole, whole_or_none

#: Whole numbers, or floats over friction.
Distances = npt.NDArray[Any]
Reader = Callable[[int, int, int, int], npt.NDArray[Any]]

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
    farthest: int | float
    """The largest distance of a reached cell."""
    error_bound: float | None
    """Over friction in floats the largest relative error of any distance: that of adding up the steps of a path in float64. Else None."""
    tile_edge: int
    """Cells along the edge of a tile."""
    tile_count: int
    """Tiles of the raster."""
    visit_count: int
    """Tiles solved by this call, each as often as it was."""
    resumed_count: int
    """Tiles that an earlier call for the same job had left in the folder."""


class RasterField:
    """A solved field over a raster, read by windows: ``field[y0:y1, x0:x1]``. Made by :func:`solve_raster`.

    Distances are uint64, in steps of the connectivity; ``RASTER_UNREACHABLE`` for obstacles and where no goal is reached. Over friction they are
    float64, in the units of the map times those of friction; infinite there.

    A field in a folder keeps the folder in use until it is closed, or deleted: ``with solve_raster(…) as field:`` closes it.
    """

    __slots__ = ("_dtype", "_native", "_read", "_shape")

    _native: NativeRasterField
    _read: Reader
    _shape: tuple[int, int]
    _dtype: np.dtype[Any]

    @classmethod
    def _of(cls, native: NativeRasterField, arguments: RasterArguments) -> RasterField:
        field = cls.__new__(cls)
        field._native, field._shape, field._read = native, arguments.shape, arguments.read
        field._dtype = np.dtype(np.float64 if arguments.is_friction else np.uint64)
        return field

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the distances: uint64, over friction float64."""
        return self._dtype

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
            found = np.zeros((y1 - y0, x1 - x0), dtype=self._dtype)
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


def _reader(array: Any, shape: tuple[int, int], is_friction: bool) -> Reader:
    def read(y0: int, y1: int, x0: int, x1: int) -> npt.NDArray[Any]:
        if tuple(array.shape) != shape:
            raise InvalidInputError(
                f"the raster's shape changed from {shape} to {tuple(array.shape)} while it was read"
            )
        part = array[y0:y1, x0:x1]
        if is_labelled(part) or mask_of(part) is not None:
            # Cells without data are obstacles, and barriers.
            window = raster_of("the raster", part).filled(np.nan if is_friction else 0)
        else:
            window = np.asarray(getattr(part, "values", part))
        wanted = (y1 - y0, x1 - x0)
        if window.shape != wanted:
            raise InvalidInputError(
                f"the raster gave the shape {window.shape} for the window [{y0}:{y1}, {x0}:{x1}], which has {wanted}"
            )
        if is_friction:
            if window.dtype.kind not in "biuf":
                raise InvalidTypeError(f"the raster has the dtype {window.dtype}, friction must be real numbers")
            return in_order(window, np.float64)
        if window.dtype.kind == "b":
            window = window.astype(np.uint32)
        elif window.dtype.kind not in "iu":
            raise InvalidTypeError(
                f"the raster has the dtype {window.dtype}, costs must be whole numbers, 0 for obstacles; for friction give cell_size"
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
        max_distance: float | None,
        cost_rule: str | None,
        step_lengths: ArrayLike | None,
        cell_size: ArrayLike | None,
        transform: Any,
        geodesic: bool,
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
        is_geodesic = flag("geodesic", geodesic)
        has_size = is_geodesic or cell_size is not None or transform is not None
        self.is_friction = has_size or _has_floats(costs)
        friction = None
        if self.is_friction:
            if step_lengths is not None:
                raise InvalidInputError("step_lengths are for whole costs: with friction give cell_size or transform")
            sizes, globe = step_sizes([costs], transform, cell_size, is_geodesic, (height, width))
            friction = sizes, globe, real_or_none("max_distance", max_distance)
        self.shape = (height, width)
        self.read = _reader(costs, self.shape, self.is_friction)
        corners = ("any" if self.is_friction else "both_free") if corners is None else corners
        cost_rule = ("mean" if self.is_friction else "entry") if cost_rule is None else cost_rule
        self.native = (
            [width, height],
            _identity(costs, folder is not None) if identity is None else identity,
            cells_of("goals", goals, 2),
            None if folder is None else os.fspath(folder),
            (
                choice("connectivity", "eight" if connectivity is None else connectivity, PLANE),
                choice("corners", corners, CORNERS),
                whole_or_none("memory_limit", memory_limit, U64),
                whole_or_none("tile_edge", tile_edge),
                None if self.is_friction else whole_or_none("max_distance", max_distance, U64),
                choice("cost_rule", cost_rule, RULES),
                None if step_lengths is None else _lengths(step_lengths),
                friction,
            ),
        )


def _has_floats(costs: Any) -> bool:
    """Whether the numbers of a raster are floats, as they are stored or by what they stand for."""
    if is_labelled(costs) and is_scaled("costs", costs):
        return True
    try:
        return bool(np.dtype(costs.dtype).kind == "f")
    # Objects may raise anything.
    except Exception:
        return False


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
    max_distance: float | None = None,
    cost_rule: str | None = None,
    step_lengths: ArrayLike | None = None,
    cell_size: ArrayLike | None = None,
    transform: Any = None,
    geodesic: bool = False,
    progress: Callable[[RasterProgress], Any] | None = None,
    engine: Engine | None = None,
) -> Pending[RasterField]:
    """Solves the field of some goals over a raster that need not fit into memory.

    The distance of a cell is the least sum of steps to a goal, each times the cost of the cell entered. It is equal bit for bit to that of
    one piece (:meth:`Flow.solve`), in 64 bits, whatever the tiles, the memory limit, the number of threads and the engine.

    A raster of floats is one of friction, and its distances are those of :func:`hullfield.cost_distance`, in float64: in map units times friction.

    ``solve_raster.start(…)`` takes the same arguments, and returns a :class:`hullfield.Pending` at once.

    >>> import numpy as np
    >>> from hullfield.flow import solve_raster
    >>> costs = np.array([[1, 0, 1], [1, 7, 1]], dtype=np.uint16)
    >>> field = solve_raster(costs, [[2, 0]], connectivity="four")
    >>> field[:, :2].tolist()
    [[10, 18446744073709551615], [9, 2]]

    Friction of three cells, each 30 m wide; a step costs its length times the mean friction of both cells:

    >>> solve_raster(np.array([[1.0, 2.0, 0.5]]), [[0, 0]], cell_size=30)[:, :].tolist()
    [[0.0, 45.0, 82.5]]

    Args:
        costs: the cost of entering each cell, ``[height, width]``: whole numbers, 0 for obstacles. Anything that has a ``shape`` and slices as
            ``costs[y0:y1, x0:x1]``: numpy's arrays and memory maps, data sets of h5py and zarr, arrays of xarray and rioxarray. Masked cells, and cells of the
            ``_FillValue`` of an ``xarray.DataArray``, are obstacles. Or friction: floats, or any real numbers with ``cell_size``, ``transform`` or ``geodesic``. Then
            NaN, infinity, 0 and negative friction are barriers, and so are cells without data; friction of less than 1e-251 is an error. Several threads read it, one at a time. What it raises comes back as it is.
        goals: cells x, y, (n, 2).
        folder: where the distances of tiles are kept, 4 to 8 bytes a cell; None keeps them in memory. After an end of any kind, a call for
            the same job goes on from what is there. One process at a time uses a folder.
        identity: what tells this raster from others of its shape, for the folder, so that distances over another raster are not taken for
            those over this one. By default the name, length and time of the file of a memory map or of h5py, a hash of a numpy array; of
            other arrays only their type, so name these.
        connectivity: ``"four"`` or ``"eight"``, the default.
        corners: as of :class:`Grid`; ``"both_free"`` by default, over friction ``"any"``.
        memory_limit: the most bytes that the work may take, beside the raster and the distances in memory. By default what the host has free.
        tile_edge: cells along the edge of a tile. By default the largest up to 4,096 that the memory allows.
        max_distance: cells farther than this are left unreachable: a whole number of steps, over friction any number of map units times friction.
        cost_rule: ``"entry"``, the default: a step costs its length times the cost of the cell entered. ``"mean"``, the default over friction: its length times the
            mean cost of both cells; whole distances then are twice as large, so that nothing is rounded.
        step_lengths: the lengths of steps along x, along y and diagonal, (3,): whole numbers from 1 to 2**24. By default those of the
            connectivity.
        cell_size: over friction the size of a cell in map units, or two sizes, along x and y. By default that of the coordinates of a DataArray, else 1.
        transform: instead of it the affine transform of the raster (rasterio's ``transform``, or its six numbers).
        geodesic: over friction whose coordinates are degrees: distances are in metres times friction, by geodesics, as of :func:`hullfield.cost_distance`.
        progress: called with a :class:`RasterProgress` after each round of tiles. It ends the work by returning False, or by raising.
        engine: where tiles are solved; by default one that all calls share. Over friction, and with another cost rule or other step lengths, it is the CPU.

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
        cell_size,
        transform,
        geodesic,
    )
    told = None
    if progress is not None:

        def told(*counts: int) -> Any:
            return progress(RasterProgress(*counts))

    native = _native.solve_raster(engine_or_auto(engine)._native, arguments.read, *arguments.native, told)
    return Pending(native, lambda answer: RasterField._of(answer, arguments))


def _lengths(step_lengths: ArrayLike) -> list[int]:
    lengths = indices("step_lengths", step_lengths)
    if len(lengths) != 3:
        raise InvalidInputError(f"step_lengths has the shape {lengths.shape}, it must be (3,)")
    return lengths.tolist()  # type: ignore[no-any-return]


def _same(value: Any) -> Any:
    return value
