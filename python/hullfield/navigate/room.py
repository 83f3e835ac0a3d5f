"""Rooms in two dimensions: shortest paths between walls.

A :class:`Room` is made of a polygon with holes, of several (:meth:`Room.from_polygons`), of a navigation mesh (:meth:`Room.from_cells`), or of a file of Polyanya's
(:meth:`Room.from_polyanya_mesh`). Coordinates are float64, in the caller's units. Walls belong to the room: a path runs along them, never
through them. Queries run on the CPU, on all cores.

>>> from hullfield.navigate.room import Room
>>> room = Room([[0, 0], [10, 0], [10, 10], [0, 10]], [[[4, 4], [6, 4], [6, 6], [4, 6]]])
>>> path = room.path([1, 4], [9, 4])
>>> path.length, room.path([1, 5], [9, 5]).length > 8
(8.0, True)
>>> room.paths([1, 4], [[9, 4], [1, 9], [5, 5]]).rows["reach"].tolist()  # the last goal is in the pillar
[0, 0, 3]
>>> crate = room.put_obstacle([[4, 0], [6, 0], [6, 5], [4, 5]])
>>> room.path([1, 4], [9, 4]).length > 8
True
>>> room.take_obstacle(crate)
>>> room.raycast([1, 5], [1, 0], 20).point.tolist()
[4.0, 5.0]
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import array_of, flags, floats, indices, point
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._native import Room as NativeRoom
from hullfield._pending import Pending, query
from hullfield._scalars import U64, ends_of, flag, real, some_indices, whole
from hullfield.navigate._reach import Reach, Stats
from hullfield.navigate._room_polygons import (
    FreeDoorEnd,
    Repair,
    RepairKind,
    listed,
    native_of_polygons,
    polygons_of,
    segments_of,
)

__all__ = [
    "FreeDoorEnd",
    "FunnelMove",
    "FunnelSteps",
    "Path",
    "PathPlace",
    "Paths",
    "Point",
    "RayHit",
    "Reach",
    "Repair",
    "RepairKind",
    "Room",
    "Stats",
    "WallDistance",
]

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.uint32]
MISSING = 0xFFFF_FFFF
MAX_COORDINATE = 1e60


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a room."""

    position: Floats
    """Where it is, (2,)."""
    distance: float
    """How far that is from the point of the query."""
    cell: int
    """The cell that it lies in; on an edge, one of the cells beside it."""
    island: int
    """The island of that cell."""


@dataclass(frozen=True, eq=False)
class RayHit:
    """Where a ray ends."""

    point: Floats
    """The point where it meets a wall, or else its point at ``max_distance``, (2,)."""
    distance: float
    """How far that is from the start."""
    cell: int
    """The cell that holds the end."""
    wall: tuple[int, int] | None
    """The two vertices of the wall that it meets, the room on the left; None where it meets none."""


@dataclass(frozen=True, eq=False)
class WallDistance:
    """The wall nearest to a point."""

    distance: float
    """How far away it is."""
    point: Floats
    """Its nearest point, (2,)."""
    wall: tuple[int, int]
    """Its two vertices, the room on the left."""


@dataclass(frozen=True, eq=False)
class PathPlace:
    """The place of an agent on its path through a room."""

    position: Floats
    """Its position, in the room's frame, (2,)."""
    tangent: Floats
    """The unit vector ahead along the path, (2,); zero where the path has no length."""
    piece: int
    """The piece that it is on: from the point of this number to the next."""


class Path:
    """A path through a room, or why there is none. Arrays are empty where there is none."""

    __slots__ = ("_row", "cells", "corners", "crossings", "points")

    points: Floats
    """The start, each corner at which the path bends, and the goal, (n, 2). The path is straight in between."""
    corners: Numbers
    """The vertex of each bend: one for each point except the first and the last."""
    cells: Numbers
    """The cells that it goes through, in order."""
    crossings: npt.NDArray[Any]
    """The edges that it crosses, one from each cell to the next: ``point``, and ``edge``, the vertex on the path's left first."""

    def __init__(self, row: Any, points: Any, corners: Any, cells: Any, crossings: Any) -> None:
        self._row, self.points, self.corners, self.cells, self.crossings = row, points, corners, cells, crossings

    @property
    def reach(self) -> Reach:
        """Whether there is a path."""
        return Reach(int(self._row["reach"]))

    @property
    def is_reached(self) -> bool:
        """True where there is a path."""
        return self.reach is Reach.REACHED

    @property
    def length(self) -> float:
        """Its length in the room's units; infinite where there is no path."""
        return float(self._row["length"])

    @property
    def nearest(self) -> Floats | None:
        """Where there is no path: of all points that the start can reach, the one nearest to the goal; or, where an end is off the room,
        the nearest point of the room. None where there is none."""
        return None if np.isnan(self._row["nearest"][0]) else self._row["nearest"].copy()

    @property
    def nearest_distance(self) -> float:
        """How far ``nearest`` is from the goal, or from the end that is off; NaN where there is a path."""
        return float(self._row["nearest_distance"])

    def at(self, arc_length: float) -> PathPlace | None:
        """The place of an agent that has followed the path for ``arc_length``: the start for less than 0, the goal for more than its length.

        At a bend the piece is that after it. None where there is no path, and for NaN.
        """
        row = self.places_at([arc_length])[0]
        return PathPlace(row["position"].copy(), row["tangent"].copy(), int(row["piece"])) if row["found"] else None

    def places_at(self, arc_lengths: npt.ArrayLike) -> npt.NDArray[Any]:
        """The places of agents that have followed the path for these arc lengths, (k,).

        Returns:
            A structured array with the fields ``position``, ``tangent``, ``piece`` and ``found``, which is 0 where there is no path, and for
            NaN.
        """
        wanted = floats("arc_lengths", arc_lengths)
        found: npt.NDArray[Any] = _native.room_path_at(np.ascontiguousarray(self.points), wanted)
        return found

    def __len__(self) -> int:
        return len(self.points)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._row, self.points, self.corners, self.cells, self.crossings)
        return (Path, tuple(part.copy() for part in parts))

    def __repr__(self) -> str:
        return f"<Path {self.reach.name.lower()}, length {self.length:g}, {len(self.points)} points>"


_PARTS = (
    "rows",
    "offsets",
    "corner_offsets",
    "cell_offsets",
    "crossing_offsets",
    "points",
    "corners",
    "cells",
    "crossings",
    "stats",
)


class Paths:
    """The paths of a batch, in the order of the queries: ``paths[i]`` is a :class:`Path`; the arrays hold all, one after the other."""

    __slots__ = _PARTS

    rows: npt.NDArray[Any]
    """A row for each path: ``length``, ``nearest``, ``nearest_distance``, ``reach``, ``cell_count``."""
    offsets: npt.NDArray[np.uint64]
    """The points of path i are those from ``offsets[i]`` to ``offsets[i + 1]``, (n + 1,)."""
    corner_offsets: npt.NDArray[np.uint64]
    """The same for ``corners``."""
    cell_offsets: npt.NDArray[np.uint64]
    """The same for ``cells``."""
    crossing_offsets: npt.NDArray[np.uint64]
    """The same for ``crossings``."""
    points: Floats
    """(m, 2)."""
    corners: Numbers
    """As of a :class:`Path`."""
    cells: Numbers
    """As of a :class:`Path`."""
    crossings: npt.NDArray[Any]
    """As of a :class:`Path`."""
    stats: Stats

    def __init__(self, *parts: Any) -> None:
        for name, part in zip(_PARTS, parts, strict=True):
            setattr(self, name, part)

    @property
    def lengths(self) -> Floats:
        """The length of each path, (n,); infinite where there is none."""
        return self.rows["length"]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Path:
        row = range(len(self.rows))[index]
        pairs = (
            (self.points, self.offsets),
            (self.corners, self.corner_offsets),
            (self.cells, self.cell_offsets),
            (self.crossings, self.crossing_offsets),
        )
        parts = (part[int(offsets[row]) : int(offsets[row + 1])] for part, offsets in pairs)
        return Path(self.rows[row], *parts)

    def __iter__(self) -> Iterator[Path]:
        return (self[row] for row in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Paths, tuple(getattr(self, name) for name in _PARTS))


@dataclass(frozen=True, eq=False)
class FunnelMove:
    """The state of the funnel after one edge of the strip."""

    edge_count: int
    """How many edges of the strip the funnel has taken in."""
    path: Floats
    """The part of the path that is final: the start, its bends so far, and the apex, (k, 2)."""
    left: Floats
    """The left chain of the funnel, outwards from the apex, (k, 2)."""
    right: Floats
    """The right chain of the funnel, outwards from the apex, (k, 2)."""


@dataclass(frozen=True, eq=False)
class FunnelSteps:
    """The funnel algorithm step by step."""

    strip: Numbers
    """The cells of the strip, in order."""
    left: Floats
    """The left vertex of each edge that the strip crosses, (k, 2)."""
    right: Floats
    """The right vertex of each edge that the strip crosses, (k, 2)."""
    moves: list[FunnelMove]
    """The funnel after each edge."""
    path: Path
    """The path."""


class Room:
    """A polygon with holes, in which shortest paths are found.

    Args:
        outer: the outer ring, (n, 2), in either direction; or polygons of shapely, or of anything else that has ``__geo_interface__``, with
            their holes: a Polygon, a MultiPolygon, a collection, or features of these. Points, lines and features without a geometry are
            ignored. Several polygons are as in :meth:`from_polygons`.
        holes: a list of rings, (n, 2) each.
        radius: the radius of the agents. Walls are moved into the room by it. One below the rounding of the coordinates is as 0.
        squeeze: whether a path may squeeze through a single point in which walls touch.
        merge: whether triangles are merged into larger convex cells, which are quicker to search.
        repair: whether rings that cross, repeat points or have no area are repaired; otherwise the first such place is an error.
        doors: segments from one wall to another, (k, 2, 2), numbered from 0. They are open at first. An open door is no wall. An end that is
            on no wall, and no mere near miss, is a warning, and :attr:`free_door_ends` lists it.

    Raises:
        InvalidInputError: a coordinate that is not finite or out of range, a radius that is negative or too large, an outer ring of fewer than
            three points, holes that leave no room, or a door that misses its walls or crosses no floor.

    Cost: about O(n log n) in the number of points; with a radius at most O(n log² n). Walls nearer to one another than the radius cost most:
    100,000 spikes around a ring, with gaps narrower than the radius, take minutes.

    It pickles as what it was made of, with its edits. It can be shared between threads; an edit waits for queries that were called before it.
    """

    __slots__ = ("_native",)

    _native: NativeRoom

    def __init__(
        self,
        outer: Any,
        holes: Sequence[npt.ArrayLike] | None = None,
        *,
        radius: float = 0.0,
        squeeze: bool = False,
        merge: bool = True,
        repair: bool = True,
        doors: npt.ArrayLike = (),
    ) -> None:
        if hasattr(outer, "__geo_interface__"):
            if holes is not None:
                raise InvalidInputError("holes are given, and the polygon has its own")
            polygons = polygons_of(outer.__geo_interface__)
        else:
            polygons = [[outer, *(() if holes is None else listed("holes", holes))]]
        options = (
            _radius(radius),
            flag("squeeze", squeeze),
            flag("merge", merge),
            flag("repair", repair),
            segments_of(doors),
        )
        self._native = native_of_polygons(polygons, options)

    @classmethod
    def from_polygons(
        cls,
        polygons: Any,
        *,
        radius: float = 0.0,
        squeeze: bool = False,
        merge: bool = True,
        repair: bool = True,
        doors: npt.ArrayLike = (),
    ) -> Room:
        """A room of several polygons.

        The floor is what any of them holds. So polygons may overlap, and one may fill a hole of another. Polygons that share a part of an
        edge are one floor. Polygons apart, or that touch in a point, are islands: no path leads from one to another.

        Args:
            polygons: each a list of its rings, (n, 2), the outer one first; or anything with ``__geo_interface__``, as :class:`Room` takes it.
            radius, squeeze, merge, repair, doors: as of :class:`Room`.

        >>> square = lambda x: [[[x, 0], [x + 2, 0], [x + 2, 2], [x, 2]]]
        >>> room = Room.from_polygons([square(0), square(2), square(5)])
        >>> room.area, room.island_count
        (12.0, 2)
        """
        found: list[Any] = []
        for row, polygon in enumerate(listed("polygons", polygons)):
            if hasattr(polygon, "__geo_interface__"):
                found.extend(polygons_of(polygon.__geo_interface__))
            else:
                found.append(listed(f"polygons[{row}]", polygon))
        options = (
            _radius(radius),
            flag("squeeze", squeeze),
            flag("merge", merge),
            flag("repair", repair),
            segments_of(doors),
        )
        return cls._of(native_of_polygons(found, options))

    @classmethod
    def _of(cls, native: NativeRoom) -> Room:
        room = cls.__new__(cls)
        room._native = native
        return room

    @classmethod
    def from_cells(
        cls,
        vertices: npt.ArrayLike,
        cells: Any,
        *,
        offsets: npt.ArrayLike | None = None,
        radius: float = 0.0,
        squeeze: bool = False,
    ) -> Room:
        """A room of a navigation mesh: convex cells over vertices, which are neighbours where they share an edge.

        Args:
            vertices: (n, 2).
            cells: the corners of each cell, counter-clockwise: (m, k), or a list of lists; or all corners in one array, with ``offsets``.
            offsets: where the corners of each cell begin, and the last one ends, (m + 1,).
            radius, squeeze: as of :class:`Room`.

        Raises:
            InvalidInputError: a vertex that does not exist, a cell that is not convex or not counter-clockwise, or that shares an edge with two
                others.
        """
        points = floats("vertices", vertices, 2)
        if offsets is None:
            parts = [indices(f"cells[{row}]", cell) for row, cell in enumerate(cells)]
            ends = np.cumsum([0] + [len(part) for part in parts]).astype(np.int64)
            corners = np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint32)
        else:
            corners = indices("cells", cells)
            ends = ends_of("offsets", offsets, len(corners))
        options = (_radius(radius), flag("squeeze", squeeze), True, True, np.zeros((0, 4)))
        native = _native.Room.of_cells(points, corners, ends, options)
        return cls._of(native.wait(None))

    @classmethod
    def from_polyanya_mesh(cls, text: str | os.PathLike[str], *, radius: float = 0.0, squeeze: bool = False) -> Room:
        """A room of a ``.mesh`` file, version 2 of Polyanya's format: its text, or a :class:`pathlib.Path` to it.

        Raises:
            InvalidInputError: it is no such file; the error names the line.
        """
        if isinstance(text, os.PathLike):
            with open(text, encoding="utf-8") as file:
                text = file.read()
        if not isinstance(text, str):
            raise InvalidTypeError(f"text is a {type(text).__name__}, it must be the text of a file, or a path")
        options = (_radius(radius), flag("squeeze", squeeze), True, True, np.zeros((0, 4)))
        return cls._of(_native.Room.of_polyanya_mesh(text, options).wait(None))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Room:
        """Loads a room of :meth:`to_bytes`.

        Raises:
            InvalidInputError: the bytes are no room.
        """
        return cls._of(_native.Room.from_bytes(bytes(data)).wait(None))

    def to_bytes(self) -> bytes:
        """The room as JSON in UTF-8: what it was made of, and its edits."""
        return self._native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return (Room.from_bytes, (self.to_bytes(),))

    def __repr__(self) -> str:
        vertices, cells, islands, doors = self._native.counts
        return f"<Room of {cells} cells over {vertices} vertices, {islands} islands, {doors} doors>"

    @property
    def repairs(self) -> list[Repair]:
        """What was repaired in the rings."""
        rows = self._native.repairs
        return [Repair(int(row["ring"]), RepairKind(int(row["kind"])), row["place"].copy()) for row in rows]

    @property
    def free_door_ends(self) -> list[FreeDoorEnd]:
        """The ends of doors that are on no wall, so that agents can walk around them."""
        return [FreeDoorEnd(door, np.array(end), distance) for door, end, distance in self._native.free_door_ends]

    @property
    def vertices(self) -> Floats:
        """The vertices, (n, 2)."""
        return self._native.vertices  # type: ignore[no-any-return]

    @property
    def cell_count(self) -> int:
        """The number of cells. Cells that obstacles have replaced count too; they have no corners."""
        return self._native.counts[1]

    @property
    def island_count(self) -> int:
        """The number of islands. No path leads from one to another."""
        return self._native.counts[2]

    @property
    def door_count(self) -> int:
        """The number of doors."""
        return self._native.counts[3]

    @property
    def area(self) -> float:
        """The area, in the room's units squared."""
        return self._native.area

    @property
    def islands(self) -> Numbers:
        """The island of each cell, (m,); 2**32 - 1 for a cell that was replaced."""
        return self._native.cells()[3]  # type: ignore[no-any-return]

    def cell_lists(self) -> tuple[npt.NDArray[np.uint64], Numbers, Numbers]:
        """All cells, as ``offsets`` (m + 1,), their corners, counter-clockwise, and their neighbours.

        For each corner the neighbour is the cell across the edge to the next corner, 2**32 - 1 at a wall.
        """
        offsets, corners, neighbours, _ = self._native.cells()
        return offsets, corners, neighbours

    @query
    def path(
        self,
        start: npt.ArrayLike,
        goal: npt.ArrayLike,
        *,
        method: str = "optimal",
        strip: str = "dijkstra",
        to_nearest: bool = False,
    ) -> Pending[Path]:
        """The shortest path between two points, (2,).

        Args:
            start, goal: in the room.
            method: ``"optimal"`` is the true shortest path (Polyanya); ``"funnel"`` the shortest within one strip of cells.
            strip: of ``"funnel"``: ``"dijkstra"``, or ``"breadth_first"``, which has the fewest cells.
            to_nearest: whether a path to a goal that can't be reached leads to the reachable point nearest to it.

        Raises:
            InvalidInputError: a coordinate that is not finite or is larger than 1e60. A point off the room and a goal that can't be reached
                are no errors: :attr:`Path.reach` says so.
        """
        ends = point("start", start, 2), point("goal", goal, 2)
        return Pending(self._native.path(*ends, *_method(method, strip), flag("to_nearest", to_nearest)), _path)

    @query
    def paths(
        self,
        starts: npt.ArrayLike,
        goals: npt.ArrayLike,
        *,
        method: str = "optimal",
        strip: str = "dijkstra",
        to_nearest: bool = False,
    ) -> Pending[Paths]:
        """A path for each start and goal, (n, 2), on all cores; one start, or one goal, stands for all. Each equals that of :meth:`path`.

        Ctrl-C ends a batch.
        """
        first, second = array_of("starts", starts), array_of("goals", goals)
        count = len(second) if first.ndim == 1 and second.ndim == 2 else None
        begins = floats("starts", starts, 2, count=count)
        ends = floats("goals", goals, 2, count=len(begins))
        return Pending(
            self._native.paths(begins, ends, *_method(method, strip), flag("to_nearest", to_nearest)), _paths
        )

    @query
    def funnel_steps(
        self, start: npt.ArrayLike, goal: npt.ArrayLike, *, strip: str = "dijkstra"
    ) -> Pending[FunnelSteps]:
        """Answers a query by the funnel algorithm and records each state of the funnel, to draw or to teach."""
        ends = point("start", start, 2), point("goal", goal, 2)
        return Pending(self._native.funnel_steps(*ends, _method("funnel", strip)[1]), _steps)

    def locate(self, position: npt.ArrayLike) -> Point | None:
        """The lowest of the cells that hold a point, (2,); None off the room."""
        return _point(self._native.locations(_one("position", position)).wait(None))

    @query
    def locations(self, positions: npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`locate` for many points, (n, 2).

        Returns:
            A row for each: ``position``, ``distance``, ``cell``, ``island``. Where there is none, the distance is infinite and the numbers are
            2**32 - 1.
        """
        return Pending(self._native.locations(floats("positions", positions, 2)), _same)

    def nearest_point(self, position: npt.ArrayLike) -> Point | None:
        """The point of the room nearest to a point: itself where it is in the room. None where obstacles leave no room."""
        return _point(self._native.nearest_points(_one("position", position)).wait(None))

    @query
    def nearest_points(self, positions: npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`nearest_point` for many points, (n, 2); rows as of :meth:`locations`."""
        return Pending(self._native.nearest_points(floats("positions", positions, 2)), _same)

    def raycast(self, start: npt.ArrayLike, direction: npt.ArrayLike, max_distance: float) -> RayHit | None:
        """Casts a ray until it meets a wall or reaches ``max_distance``; None where the start is off the room."""
        reach = floats("max_distance", max_distance, count=1)
        row = self._native.raycasts(_one("start", start), _one("direction", direction), reach).wait(None)[0]
        if row["cell"] == MISSING:
            return None
        wall = None if row["wall"][0] == MISSING else (int(row["wall"][0]), int(row["wall"][1]))
        return RayHit(row["point"].copy(), float(row["distance"]), int(row["cell"]), wall)

    @query
    def raycasts(
        self, starts: npt.ArrayLike, directions: npt.ArrayLike, max_distances: npt.ArrayLike
    ) -> Pending[npt.NDArray[Any]]:
        """:meth:`raycast` for many starts (n, 2), directions (n, 2) or (2,), and distances (n,) or one for all.

        Returns:
            A row for each: ``point``, ``distance``, ``wall``, ``cell``, ``island``. NaN and 2**32 - 1 stand for what is missing.
        """
        begins = floats("starts", starts, 2)
        ahead = floats("directions", directions, 2, count=len(begins))
        reach = floats("max_distances", max_distances, count=len(begins))
        return Pending(self._native.raycasts(begins, ahead, reach), _same)

    def distance_to_wall(self, position: npt.ArrayLike) -> WallDistance | None:
        """The wall nearest to a point, in a straight line; None where the room has no wall."""
        row = self._native.wall_distances(_one("position", position)).wait(None)[0]
        if row["wall"][0] == MISSING:
            return None
        return WallDistance(float(row["distance"]), row["point"].copy(), (int(row["wall"][0]), int(row["wall"][1])))

    @query
    def distances_to_wall(self, positions: npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`distance_to_wall` for many points, (n, 2): rows of ``distance``, ``point``, ``wall``; infinite where none is."""
        return Pending(self._native.wall_distances(floats("positions", positions, 2)), _same)

    def move_along(self, start: npt.ArrayLike, displacement: npt.ArrayLike) -> Point | None:
        """Moves an agent by a displacement, (2,), sliding along walls; None where the start is off the room."""
        return _point(self._native.moves(_one("start", start), _one("displacement", displacement)).wait(None))

    @query
    def moves_along(self, starts: npt.ArrayLike, displacements: npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`move_along` for many; rows as of :meth:`locations`."""
        begins = floats("starts", starts, 2)
        steps = floats("displacements", displacements, 2, count=len(begins))
        return Pending(self._native.moves(begins, steps), _same)

    def random_point(self, rng: np.random.Generator | int | None = None) -> Point | None:
        """A random point of the room, uniform by area; None where obstacles leave no area."""
        return _point(self.random_points(1, rng))

    @query
    def random_points(self, count: int, rng: np.random.Generator | int | None = None) -> Pending[npt.NDArray[Any]]:
        """:meth:`random_point` for many; rows as of :meth:`locations`.

        Args:
            count: how many.
            rng: a generator of numpy, or its seed.
        """
        return Pending(
            self._native.random_points(np.random.default_rng(rng).random((whole("count", count, U64), 3))), _same
        )

    def add_door(self, edges: npt.ArrayLike) -> int:
        """Makes one door of edges between cells, (k, 2) as pairs of vertices, and gives its number. It is open at first.

        Cost: linear in the size of the room.

        Raises:
            InvalidInputError: an edge that is not between two cells of the room as it was built. Nothing is changed then.
        """
        return self._native.add_door(indices("edges", edges, 2))

    def add_door_cells(self, cells: npt.ArrayLike) -> int:
        """Makes one door of whole cells, (k,), and gives its number. While it is shut, no path leads into these cells, or out of them."""
        return self._native.add_door_cells(some_indices("cells", cells))

    def set_doors(self, doors: npt.ArrayLike, is_open: npt.ArrayLike) -> None:
        """Opens or shuts doors, (k,) or one: ``is_open``, (k,) or one for all. A shut door is a wall without thickness.

        In a room with a radius, agents keep that distance from a shut door too.

        Cost: linear in the size of the room, however many doors change; with a radius also a triangulation of the cells that a door touches.

        Raises:
            InvalidInputError: a door does not exist. Nothing is changed then.
        """
        numbers = some_indices("doors", doors)
        states = array_of("is_open", is_open)
        are_open = flags("is_open", np.broadcast_to(states, numbers.shape) if states.ndim == 0 else states)
        if len(are_open) != len(numbers):
            raise InvalidInputError(f"is_open has {len(are_open)} rows, it must have {len(numbers)}")
        self._native.set_doors(numbers, are_open)

    def put_obstacle(self, ring: npt.ArrayLike) -> int:
        """Puts an obstacle into the room, a ring (n, 2), and gives its number. It may overlap walls and other obstacles.

        Cost: a triangulation of the cells that it touches, and one linear pass over the room.
        """
        return self._native.put_obstacle(floats("ring", ring, 2))

    def move_obstacle(self, obstacle: int, ring: npt.ArrayLike) -> None:
        """Moves an obstacle: ``ring`` is its new ring."""
        self._native.move_obstacle(whole("obstacle", obstacle), floats("ring", ring, 2))

    def take_obstacle(self, obstacle: int) -> None:
        """Takes an obstacle out. Its number is not used again."""
        self._native.take_obstacle(whole("obstacle", obstacle))


def _radius(radius: float) -> float:
    length = real("radius", radius)
    # Beyond that, the walls of no room can be moved by it.
    if MAX_COORDINATE < length < float("inf"):
        raise InvalidInputError(f"radius is {length:g}, it must be 0 or more and at most 1e60")
    return length


def _one(name: str, value: npt.ArrayLike) -> Floats:
    return floats(name, [point(name, value, 2)], 2)


def _method(method: str, strip: str) -> tuple[str, str]:
    if method not in ("optimal", "funnel"):
        raise InvalidInputError(f"method is {method!r}, it must be 'optimal' or 'funnel'")
    if strip not in ("dijkstra", "breadth_first"):
        raise InvalidInputError(f"strip is {strip!r}, it must be 'dijkstra' or 'breadth_first'")
    return method, strip


def _point(rows: npt.NDArray[Any]) -> Point | None:
    row = rows[0]
    if row["cell"] == MISSING:
        return None
    return Point(row["position"].copy(), float(row["distance"]), int(row["cell"]), int(row["island"]))


def _paths(answer: tuple[Any, ...]) -> Paths:
    *arrays, total_ms = answer
    return Paths(*arrays, Stats(int((arrays[0]["reach"] == Reach.REACHED).sum()), total_ms))


def _path(answer: tuple[Any, ...]) -> Path:
    return _paths(answer)[0]


def _steps(answer: dict[str, Any]) -> FunnelSteps:
    moves = [FunnelMove(*move) for move in answer["moves"]]
    return FunnelSteps(answer["strip"], answer["left"], answer["right"], moves, _path(answer["path"]))


def _same(value: Any) -> Any:
    return value
