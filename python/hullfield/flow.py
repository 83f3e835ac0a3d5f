"""Distance and flow fields over grids: solved once, then followed by any number of agents; and over rasters larger than memory.

Arrays of cells are ``[height, width]``, or ``[depth, height, width]``. A cell is named ``x, y`` or ``x, y, z``: x is the column, y the row, z the
layer, from 0; (0, 0) is top left. Both engines give the same fields, bit for bit.

>>> import hullfield
>>> from hullfield.flow import Edits, Flow, Grid
>>> flow = Flow(Grid([[0, 1, 0], [0, 0, 0]], connectivity="four"), engine=hullfield.Engine.cpu())
>>> field = flow.solve([[0, 0]])
>>> field.distances().tolist()
[[0, 4294967295, 4], [1, 2, 3]]
>>> path = field.path([2, 0])
>>> path.length, path.cells.tolist()
(4, [[2, 0], [2, 1], [1, 1], [0, 1], [0, 0]])

Many agents, many fields, and changes of the grid:

>>> agents = flow.agents([[2, 0], [2, 1]])
>>> agents.step(field, 2)
>>> agents.cells().tolist()
[[1, 1], [0, 1]]
>>> [int(field.distances()[0, 0]) for field in flow.fields([[[2, 0]], [[2, 1]]])]
[4, 3]
>>> flow.edit(Edits().free([[1, 0]]))
>>> flow.update(field).distances().tolist()
[[0, 1, 2], [1, 2, 3]]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, flags, floats, indices
from hullfield._cells import Cells, cells_of, cut, one_cell, points_of
from hullfield._engine import Engine, engine_or_auto
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._flow_rows import UNREACHABLE, GoalReport, Path, Paths, Stats, goal_report, paths_of
from hullfield._grids import aligned, raster_of
from hullfield._native import Agents as NativeAgents
from hullfield._native import Flow as NativeFlow
from hullfield._native import FlowField as NativeField
from hullfield._native import Grid as NativeGrid
from hullfield._pending import Pending, query
from hullfield._raster import (
    CORNERS,
    RasterField,
    RasterProgress,
    RasterReport,
    RasterWindow,
    solve_raster,
)
from hullfield._scalars import choice, ends_of, of_kind, real, sequence, whole, whole_or_none

__all__ = [
    "NEXT_NONE",
    "RASTER_UNREACHABLE",
    "UNREACHABLE",
    "Agents",
    "Edits",
    "Field",
    "Fields",
    "Flow",
    "GoalReport",
    "Grid",
    "Path",
    "Paths",
    "RasterField",
    "RasterProgress",
    "RasterReport",
    "RasterWindow",
    "Stats",
    "solve_raster",
]

BORDERS = ("open", "wall")
_QUERIES = ("solve", "solve_until", "update", "step", "paths", "distances_at")

NEXT_NONE = 255
"""The code of a cell without a next cell: a goal, or a cell from which no goal is reached."""
RASTER_UNREACHABLE = 2**64 - 1
"""The same as ``UNREACHABLE``, of fields over rasters."""


class Grid:
    """A grid of cells in two or three dimensions: its obstacles, the cost of entering each cell, and its place in the world.

    Args:
        obstacles: ``[height, width]`` or ``[depth, height, width]``, true for an obstacle.
        connectivity: the neighbours of a cell: ``"four"`` or ``"eight"`` in two dimensions, ``"six"`` or ``"twenty_six"`` in three. By
            default eight, or twenty-six for an array of three dimensions. A step has the length 1 with four and six; with eight 408 along
            an axis and 577 across a square; with twenty-six 1183, 1673 and 2049.
        corners: when a diagonal move is allowed: ``"both_free"`` if all cells between are free, ``"one_free"`` if orthogonal moves lead
            there too, ``"any"`` always.
        costs: the cost of entering each cell, as a multiple of the step's length: whole numbers, 1 or more, of the shape of ``obstacles``.
            A cell without data, of a masked array or an ``xarray.DataArray``, is an obstacle.
        origin: the outer corner of the cell (0, 0, 0) in the world, (3,) or (2,).
        cell_size: the length of a cell's edge.
        axes: the directions in the world along which x, y and z of cells grow, (3, 3): unit vectors at right angles.
        clearance: the radius of the agents. A cell becomes an obstacle if its centre is nearer than this to an obstacle's cell.
        border: ``"open"``, or ``"wall"``, from which agents keep their clearance too.

    Raises:
        InvalidInputError: a shape of no cells or of too many, a cost of 0, a frame or a clearance outside its range.

    A grid does not change; :meth:`Flow.edit` changes the one of a flow. It pickles.
    """

    __slots__ = ("_native",)

    _native: NativeGrid

    def __init__(
        self,
        obstacles: ArrayLike,
        *,
        connectivity: str | None = None,
        corners: str = "both_free",
        costs: ArrayLike | None = None,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        cell_size: float = 1.0,
        axes: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        clearance: float = 0.0,
        border: str = "open",
    ) -> None:
        given = obstacles
        blocked = flags("obstacles", given, any_shape=True)
        if blocked.ndim not in (2, 3):
            raise InvalidInputError(
                f"obstacles has the shape {blocked.shape}, it must be (height, width) or (depth, height, width)"
            )
        if connectivity is None:
            connectivity = "eight" if blocked.ndim == 2 else "twenty_six"
        choice("connectivity", connectivity, ("four", "eight", "six", "twenty_six"))
        choice("corners", corners, CORNERS)
        choice("border", border, BORDERS)
        price = None
        if costs is not None:
            raster = raster_of("costs", aligned("costs", costs, "obstacles", given))
            price = indices("costs", raster.filled(1), any_shape=True)
            if price.shape != blocked.shape:
                raise InvalidInputError(f"costs has the shape {price.shape}, obstacles has {blocked.shape}")
            if raster.mask is not None:
                blocked = blocked | raster.mask
        corner = floats("origin", origin)
        if corner.shape == (2,):
            corner = np.append(corner, 0.0)
        if corner.shape != (3,):
            raise InvalidInputError(f"origin has the shape {corner.shape}, it must be (3,)")
        directions = floats("axes", axes, 3)
        if len(directions) != 3:
            raise InvalidInputError(f"axes has the shape {directions.shape}, it must be (3, 3)")
        size = [*blocked.shape[::-1], 1][:3]
        if max(size) > 0xFFFF_FFFF:
            raise InvalidInputError(f"obstacles has the shape {blocked.shape}, that is too long along an axis")
        frame = (corner.tolist(), real("cell_size", cell_size), directions.tolist())
        building = _native.Grid.build(
            size, blocked, connectivity, corners, price, *frame, real("clearance", clearance), border
        )
        self._native = building.wait(None)

    @classmethod
    def _of(cls, native: NativeGrid) -> Grid:
        grid = cls.__new__(cls)
        grid._native = native
        return grid

    def __reduce__(self) -> tuple[Any, ...]:
        # Obstacles include those of a clearance.
        obstacles = self.obstacles
        packed = (np.packbits(obstacles), obstacles.shape)
        return (_load_grid, (*packed, self.costs, self.connectivity, self.corners, *self._native.frame))

    def __repr__(self) -> str:
        return f"<Grid of {' x '.join(map(str, self._native.size))} cells, {self.connectivity}>"

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of arrays of its cells."""
        width, height, depth = self._native.size
        return (height, width) if self.dimension == 2 else (depth, height, width)

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return self._native.dimension

    @property
    def connectivity(self) -> str:
        """``"four"``, ``"eight"``, ``"six"`` or ``"twenty_six"``."""
        return self._native.connectivity[0]

    @property
    def corners(self) -> str:
        """``"both_free"``, ``"one_free"`` or ``"any"``; without a meaning where there are no diagonals."""
        return self._native.connectivity[1]

    @property
    def obstacles(self) -> npt.NDArray[np.bool_]:
        """Whether each cell is an obstacle, those of the clearance included."""
        return self._native.obstacles  # type: ignore[no-any-return]

    @property
    def obstacle_count(self) -> int:
        """The number of obstacles."""
        return self._native.obstacle_count

    @property
    def costs(self) -> npt.NDArray[np.uint32] | None:
        """The cost of entering each cell; None if all are 1."""
        return self._native.costs  # type: ignore[no-any-return]

    @property
    def origin(self) -> npt.NDArray[np.float64]:
        """The outer corner of the cell (0, 0, 0), (3,)."""
        return np.array(self._native.frame[0])

    @property
    def cell_size(self) -> float:
        """The length of a cell's edge."""
        return float(self._native.frame[1])

    @property
    def axes(self) -> npt.NDArray[np.float64]:
        """The directions along which x, y and z of cells grow, (3, 3)."""
        return np.array(self._native.frame[2])

    @property
    def offsets(self) -> Cells:
        """What each move adds to a cell, in the order of the codes, (k, 2) or (k, 3)."""
        return cut(self._native.moves[0], self.dimension)

    @property
    def steps(self) -> npt.NDArray[np.uint32]:
        """The length of the step of each move, in the order of the codes, (k,)."""
        return self._native.moves[1]  # type: ignore[no-any-return]

    def locate(self, points: ArrayLike) -> tuple[Cells, npt.NDArray[np.bool_]]:
        """The cells that contain points of the world, (n, 3) or (n, 2), and whether each is in the grid; -1 for cells outside."""
        cells, inside = self._native.locate(points_of("points", points, self.dimension))
        return cut(cells, self.dimension), inside

    def centres(self, cells: ArrayLike) -> npt.NDArray[np.float64]:
        """The centres of cells in the world, (n, 3). The cells may lie outside the grid."""
        return self._native.centres(cells_of("cells", cells, self.dimension))  # type: ignore[no-any-return]

    @query
    def clearances(self, border: str = "open") -> Pending[npt.NDArray[np.float32]]:
        """The distance from the centre of each cell to the nearest obstacle's cell, in units of the world; infinite where none is."""
        return Pending(self._native.clearances(choice("border", border, BORDERS)), _same)

    def sees(self, cells: ArrayLike, others: ArrayLike) -> npt.NDArray[np.bool_]:
        """Whether a straight line leads from the centre of each cell to that of another through free cells, (n,)."""
        starts = cells_of("cells", cells, self.dimension)
        ends = cells_of("others", others, self.dimension)
        if len(starts) != len(ends):
            raise InvalidInputError(f"others has {len(ends)} rows, it must have {len(starts)}")
        return self._native.sees(starts, ends)  # type: ignore[no-any-return]

    def neighbour(self, cell: ArrayLike, code: int) -> tuple[int, ...] | None:
        """The cell that the move of a code leads to; None if that is outside, an obstacle, or forbidden by the corner rule."""
        found = self._native.neighbour(one_cell("cell", cell, self.dimension), whole("code", code, 255))
        return None if found is None else tuple(found[: self.dimension])


def _load_grid(
    packed: npt.NDArray[np.uint8],
    shape: tuple[int, ...],
    costs: Any,
    connectivity: str,
    corners: str,
    origin: Any,
    cell_size: float,
    axes: Any,
) -> Grid:
    obstacles = np.unpackbits(packed, count=int(np.prod(shape))).reshape(shape).astype(np.bool_)
    return Grid(
        obstacles,
        connectivity=connectivity,
        corners=corners,
        costs=costs,
        origin=origin,
        cell_size=cell_size,
        axes=axes,
    )


def _lists(name: str, lists: Any, offsets: Any, dimension: int, count: int | None = None) -> tuple[Cells, Any]:
    """Lists of cells as one array and offsets."""
    if offsets is None:
        given = sequence(name, lists)
        parts = [cells_of(f"{name}[{row}]", part, dimension) for row, part in enumerate(given)]
        ends = np.cumsum([0] + [len(part) for part in parts])
        cells = np.concatenate(parts) if parts else np.zeros((0, 3), dtype=np.int32)
        return cells, ends.astype(np.int64)
    cells = cells_of(name, lists, dimension)
    return cells, ends_of(f"the offsets of {name}", offsets, len(cells))


class Edits:
    """Changes of a grid, one after the other: ``Edits().block(cells).free(cells).cost(cells, costs)``."""

    __slots__ = ("_rows",)

    def __init__(self) -> None:
        self._rows: list[tuple[int, Any, Any]] = []

    def block(self, cells: ArrayLike) -> Edits:
        """Cells, (n, 2) or (n, 3), become obstacles. They keep their costs for when they are freed again."""
        self._rows.append((0, cells, 1))
        return self

    def free(self, cells: ArrayLike) -> Edits:
        """Cells become free."""
        self._rows.append((1, cells, 1))
        return self

    def cost(self, cells: ArrayLike, costs: ArrayLike) -> Edits:
        """Entering cells costs these multiples of the step's length, (n,) or one for all, 1 or more."""
        self._rows.append((2, cells, costs))
        return self

    def _arrays(self, dimension: int) -> tuple[Any, ...]:
        kinds, cells, costs = [], [], []
        for kind, given, price in self._rows:
            rows = cells_of("cells", given, dimension)
            cells.append(rows)
            kinds.append(np.full(len(rows), kind, dtype=np.uint32))
            costs.append(indices("costs", price, count=len(rows)))
        if not cells:
            return np.zeros(0, np.uint32), np.zeros((0, 3), np.int32), np.zeros(0, np.uint32)
        return np.concatenate(kinds), np.concatenate(cells), np.concatenate(costs)


class Flow:
    """A grid on an engine. Any number of fields can be solved over it.

    Args:
        grid: the grid.
        engine: where fields are solved; by default one that all calls share.

    It can be shared between threads. It pickles as its grid and its engine's options.
    """

    __slots__ = ("_dimension", "_engine", "_native")

    _native: NativeFlow

    def __init__(self, grid: Grid, *, engine: Engine | None = None) -> None:
        of_kind("grid", grid, Grid)
        self._engine = engine_or_auto(engine)
        self._dimension = grid.dimension
        self._native = _native.Flow(self._engine._native, grid._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_load_flow, (self.grid, self._engine))

    @property
    def grid(self) -> Grid:
        """The grid with all edits so far."""
        return Grid._of(self._native.grid)

    @property
    def engine(self) -> Engine:
        """The engine that solves the fields."""
        return self._engine

    @query
    def solve(self, goals: ArrayLike, *, max_distance: int | None = None, until: ArrayLike = ()) -> Pending[Field]:
        """Solves the field of some goals.

        Args:
            goals: cells, (n, 2) or (n, 3). Those on obstacles or outside the grid are left out and reported: :attr:`Field.goals`.
            max_distance: cells farther than this are left unreachable.
            until: the field is solved until all these cells have their distance; those farther away are left unreachable.

        Raises:
            NoGoalsError: no goal is left.
            DistanceOverflowError: a cell can be reached, but its distance is 2**32 - 1 or more.

        Cost: 5 bytes of memory a cell.
        """
        cells, stops = (cells_of(n, v, self._dimension) for n, v in (("goals", goals), ("until", until)))
        return Pending(self._native.solve(cells, whole_or_none("max_distance", max_distance), stops), Field._of)

    @query
    def fields(
        self,
        goals: Sequence[ArrayLike] | ArrayLike,
        *,
        goal_offsets: ArrayLike | None = None,
        max_distance: int | None = None,
        until: ArrayLike = (),
        until_each: Sequence[ArrayLike] | ArrayLike = (),
        until_offsets: ArrayLike | None = None,
    ) -> Pending[Fields]:
        """Solves many fields, one for each list of goals. On a GPU they share every dispatch; on the CPU each has a thread.

        Args:
            goals: a list of arrays of cells; or all cells in one array, with ``goal_offsets``.
            goal_offsets: where each list begins, and the last one ends, (n + 1,).
            max_distance, until: as of :meth:`solve`, for all fields.
            until_each: cells as in ``until`` for each field: a list of arrays; or all in one array, with ``until_offsets``.
        """
        cells, offsets = _lists("goals", goals, goal_offsets, self._dimension)
        stops = cells_of("until", until, self._dimension)
        own, own_offsets = _lists("until_each", until_each, until_offsets, self._dimension)
        most = whole_or_none("max_distance", max_distance)
        native = self._native.fields(cells, offsets, most, stops, own, own_offsets)
        return Pending(native, Fields._of)

    @query
    def update(self, field: Field, goals: ArrayLike | None = None) -> Pending[Field]:
        """Solves a field again after edits of this grid, or for other goals. Where little has changed, only that is solved again.

        The answer equals that of :meth:`solve` bit for bit. ``field`` keeps what it was, after an error too.
        """
        cells = None if goals is None else cells_of("goals", goals, self._dimension)
        return Pending(self._native.update(of_kind("field", field, Field)._native, cells), Field._of)

    def edit(self, edits: Edits) -> None:
        """Changes the grid, one edit after the other. Fields solved before keep the old grid. If one edit is refused, none is made.

        Copies the grid, so one call with many edits is cheaper than many calls.

        Raises:
            InvalidInputError: a cell outside the grid, or a cost of 0; it names the number of the edit.
        """
        self._native.edit(*of_kind("edits", edits, Edits)._arrays(self._dimension))

    @query
    def path_to_nearest(self, start: ArrayLike, goal: ArrayLike) -> Pending[Path]:
        """A shortest path from one cell to another; where none leads there, to the cell nearest to it that can be reached."""
        ends = [one_cell(n, v, self._dimension) for n, v in (("start", start), ("goal", goal))]
        native = self._native.path_to_nearest(*ends)
        return Pending(native, lambda answer: Path(cut(answer[0], self._dimension), answer[1]))

    @query
    def prepare(self, queries: Sequence[str]) -> Pending[int]:
        """Builds in the background what these queries need on a GPU, and gives the number of pipelines.

        Args:
            queries: of ``"solve"``, ``"solve_until"``, ``"update"``, ``"step"``, ``"paths"``, ``"distances_at"``.
        """
        names = [choice("a query", name, _QUERIES) for name in sequence("queries", queries)]
        return Pending(self._native.prepare(names), _same)

    def agents(self, cells: ArrayLike) -> Agents:
        """Puts agents on the engine that stand in these cells, (n, 2) or (n, 3)."""
        native = self._native.agents(cells_of("cells", cells, self._dimension))
        return Agents._of(native, self._native.grid, self._dimension)


def _load_flow(grid: Grid, engine: Engine) -> Flow:
    return Flow(grid, engine=engine)


class Field:
    """A field over a grid: for each cell the distance to the nearest goal, and the next cell on the way there. Made by :meth:`Flow.solve`.

    The distance of a cell is the least sum, over all allowed paths to a goal, of the length of each step times the cost of the cell entered.
    It does not pickle: pickle its arrays. It does not change, so a copy is the field itself.
    """

    __slots__ = ("_native",)

    _native: NativeField

    @classmethod
    def _of(cls, native: NativeField) -> Field:
        field = cls.__new__(cls)
        field._native = native
        return field

    def __copy__(self) -> Field:
        return self

    def __deepcopy__(self, _: Any) -> Field:
        # A field does not change.
        return self

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError("a field does not pickle: pickle field.distances() or field.next_codes()")

    @property
    def _dimension(self) -> int:
        return self._native.dimension

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its arrays."""
        width, height, depth = self._native.size
        return (height, width) if self._dimension == 2 else (depth, height, width)

    @property
    def grid(self) -> Grid:
        """The grid that it was solved for."""
        return Grid._of(self._native.grid)

    @property
    def stats(self) -> Stats:
        """Statistics and times of the solve."""
        return Stats(**self._native.stats)

    @property
    def goals(self) -> GoalReport:
        """Which of the given goals were used."""
        return goal_report(self._native.goals, self._dimension)

    @query
    def distances(self) -> Pending[npt.NDArray[np.uint32]]:
        """The distance of each cell, of the grid's shape; ``UNREACHABLE`` for obstacles and where no goal is reached."""
        return Pending(self._native.distances(), _same)

    @query
    def next_codes(self) -> Pending[npt.NDArray[np.uint8]]:
        """The code of each cell's next cell, a row of :attr:`Grid.offsets`; ``NEXT_NONE`` at goals and where no goal is reached."""
        return Pending(self._native.next_codes(), _same)

    @query
    def next_cells(self, cells: ArrayLike) -> Pending[Cells]:
        """The next cells of cells, (n, 2) or (n, 3), on the way to a goal; the cell itself at a goal and where none is reached."""
        dimension = self._dimension
        return Pending(
            self._native.next_cells(cells_of("cells", cells, dimension)), lambda found: cut(found, dimension)
        )

    @query
    def path(self, start: ArrayLike) -> Pending[Path]:
        """The whole path of one agent from its cell."""
        cells = cells_of("start", [one_cell("start", start, self._dimension)], 3)
        shape = self.shape
        return Pending(self._native.paths(cells), lambda answer: paths_of(answer, shape)[0])

    @query
    def paths(self, starts: ArrayLike) -> Pending[Paths]:
        """The whole paths of many agents from their cells, (n, 2) or (n, 3)."""
        shape = self.shape
        cells = cells_of("starts", starts, self._dimension)
        return Pending(self._native.paths(cells), lambda answer: paths_of(answer, shape))

    @query
    def distances_at(self, cells: ArrayLike) -> Pending[npt.NDArray[np.uint32]]:
        """The distances of some cells, (n,), without reading back the rest."""
        return Pending(self._native.distances_at(cells_of("cells", cells, self._dimension)), _same)

    @query
    def directions(self, positions: ArrayLike, *, sight: int = 0) -> Pending[npt.NDArray[np.float64]]:
        """The direction for each agent at its position in the world, (n, 3) or (n, 2): unit vectors, (n, 3); 0 at goals.

        Between the centres of cells it is blended from those around, and it never leads into a wall.

        Args:
            positions: in the grid.
            sight: an agent goes straight to its goal if it sees it, and is at most this many steps away.
        """
        points = points_of("positions", positions, self._dimension)
        return Pending(self._native.directions(points, whole("sight", sight)), _same)

    @query
    def nearest_reached(self, cell: ArrayLike) -> Pending[Cells]:
        """Of all cells from which a goal is reached, the one nearest to a cell, (2,) or (3,)."""
        native = self._native.nearest_reached(one_cell("cell", cell, self._dimension))
        dimension = self._dimension
        return Pending(native, lambda found: cut(found, dimension)[0])


class Fields(list[Field]):
    """The fields of a call for many, in the order of their lists of goals."""

    stats: Stats
    """Statistics and times of the whole call."""

    @classmethod
    def _of(cls, answer: tuple[Any, ...]) -> Fields:
        fields = cls(Field._of(field) for field in answer[0])
        fields.stats = Stats(**answer[1])
        return fields


class Agents:
    """A crowd of agents that stand in the cells of a grid and follow fields. On a GPU it stays on the device. Made by :meth:`Flow.agents`."""

    __slots__ = ("_dimension", "_grid", "_native")

    _native: NativeAgents
    _grid: NativeGrid
    _dimension: int

    @classmethod
    def _of(cls, native: NativeAgents, grid: NativeGrid, dimension: int) -> Agents:
        agents = cls.__new__(cls)
        agents._native, agents._grid, agents._dimension = native, grid, dimension
        return agents

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> NoReturn:
        raise InvalidTypeError(
            "agents neither pickle nor can be copied, as they stand on an engine: keep agents.cells(), and make them anew"
        )

    @query
    def step(self, field: Field, step_count: int = 1) -> Pending[None]:
        """Moves each agent some cells on. An agent stops at a goal, and stays where none is reached.

        Raises:
            InvalidInputError: the field is over a grid of another size, or of another engine.
        """
        native = of_kind("field", field, Field)._native
        return Pending(self._native.step(native, whole("step_count", step_count)), _same)

    @query
    def cells(self) -> Pending[Cells]:
        """The cells of the agents after all steps so far, (n, 2) or (n, 3)."""
        return Pending(self._native.cells(), lambda found: cut(found, self._dimension))

    @query
    def positions(self) -> Pending[npt.NDArray[np.float64]]:
        """The centres of the agents' cells in the world, (n, 3). :meth:`Field.directions` steers agents that stand anywhere."""
        return Pending(self._native.cells(), self._grid.centres)


def _same(value: Any) -> Any:
    return value
