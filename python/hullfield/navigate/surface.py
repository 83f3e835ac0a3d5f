"""Paths over the surfaces of 3D models: floors, walls and ceilings.

A :class:`Surface` is built of one or several models: vertices and faces, placed by transforms. All triangles are walkable at first. Edges
connect triangles, vertices do not. Coordinates are float64, in the caller's units; any axis may be up. Queries run on the CPU, on all cores.

A floor and a ramp:

>>> from hullfield.navigate.surface import Places, Surface
>>> vertices = [[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [8, 0, 3], [8, 4, 3]]
>>> surface = Surface(vertices, [[0, 1, 2, 3], [1, 4, 5, 2]])
>>> path = surface.path([1, 2, 0], [8, 2, 3], method="exact")
>>> round(path.length, 9), path.at(3).position.tolist()
(8.0, [4.0, 2.0, 0.0])
>>> surface.paths([1, 2, 0], [[8, 2, 3], [3, 2, 0]]).lengths.round(9).tolist()
[8.0, 2.0]
>>> surface.field(Places.vertices(0)).at_vertices().round(3).tolist()
[0.0, 4.0, 5.657, 4.0, 9.0, 9.849]
>>> surface.set_walkable_slope([0, 0, 1], 30)
>>> surface.path([1, 2, 0], [8, 2, 3]).snaps[1] > 3  # the goal is moved to the floor
True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import array_of, flags, floats, indices, point
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._memory import require
from hullfield._mesh import mesh_arrays
from hullfield._native import Surface as NativeSurface
from hullfield._native import SurfaceField as NativeField
from hullfield._pending import Pending, query
from hullfield._scalars import U64, flag, real, real_or_none, some_indices, whole
from hullfield.navigate._reach import Reach, Stats
from hullfield.navigate._surface_paths import (
    MISSING,
    Floats,
    Path,
    PathPlace,
    Paths,
    Places,
    Point,
    many_places,
    one_place,
    paired_places,
    path_of,
    path_place_of,
    paths_of,
    point_of,
)

__all__ = [
    "Field",
    "Model",
    "Path",
    "PathPlace",
    "Paths",
    "Places",
    "Point",
    "RayHit",
    "Reach",
    "Report",
    "Stats",
    "Surface",
    "WallDistance",
]

METHODS = ("funnel", "geodesic", "exact")
Progress = Callable[[str, int, int], Any]


@dataclass(frozen=True, eq=False)
class Report:
    """What the build of a surface found and changed. Lists of faces are arrays (n, 2) of model and face, in the order given."""

    welded_count: int
    """How many points were joined to others."""
    unused_count: int
    """How many points no triangle uses; they are left out."""
    not_simple: npt.NDArray[np.uint32]
    """Faces whose outlines meet themselves."""
    collapsed: npt.NDArray[np.uint32]
    """Triangles with the same corner twice: the face of each. They are left out."""
    duplicates: npt.NDArray[np.uint32]
    """Triangles with the same corners as an earlier one: the face of each. They are left out."""
    zero_area: npt.NDArray[np.uint32]
    """Triangles whose corners are collinear: the face of each. They are left out, and their neighbours joined."""
    boundary_edge_count: int
    """How many edges have one triangle."""
    non_manifold_edge_count: int
    """How many edges have three triangles or more. A path may go from any of these to any other."""
    turned_edge_count: int
    """How many edges have two triangles of opposite orientation."""
    island_count: int
    """The number of islands: parts that no edge connects."""


@dataclass(frozen=True, eq=False)
class RayHit:
    """Where a ray over a surface ends."""

    point: Floats
    """The end of the ray, (3,)."""
    direction: Floats
    """The unit direction of the ray at its end, in the triangle's plane, (3,)."""
    distance: float
    """The length of the ray over the surface."""
    triangle: int
    """The triangle on which the end lies."""
    wall: int | None
    """The edge of the wall that the ray meets; None where it reached ``max_distance``."""


@dataclass(frozen=True, eq=False)
class WallDistance:
    """The wall nearest to a point of a surface."""

    distance: float
    """How far away it is over the surface."""
    point: Floats
    """Its nearest point, (3,)."""
    wall: int
    """The edge of the wall."""
    triangle: int
    """The walkable triangle at that edge."""


class Model:
    """A model: vertices, and faces of three or more corners over them, placed by a transform.

    Args:
        vertices: (n, 3); or an object of trimesh, pyvista, open3d or meshio, without ``faces``.
        faces: numbers of vertices: triangles (m, 3), polygons (m, k), a list of lists; or all corners in one array, with ``offsets``.
        offsets: where the corners of each face begin in ``faces``, and where the last one ends, (m + 1,).
        transform: an affine matrix (3, 4) or (4, 4) from the model's frame to the surface's. It may scale and mirror.

    Raises:
        InvalidInputError: a number of a vertex is negative, or a shape is wrong. Whether the vertices exist is checked by the build.
    """

    __slots__ = ("_corners", "_offsets", "_transform", "_vertices")

    def __init__(
        self,
        vertices: Any,
        faces: Any = None,
        *,
        offsets: npt.ArrayLike | None = None,
        transform: npt.ArrayLike | None = None,
    ) -> None:
        points, corners, ends = mesh_arrays(vertices, faces, offsets)
        # Arrays of the caller may change later.
        self._vertices, self._corners = points.copy(), corners.copy()
        self._offsets = None if ends is None else ends.copy()
        self._transform = None if transform is None else _affine(transform)

    def _arrays(self) -> tuple[Any, ...]:
        return self._vertices, self._corners, self._offsets, self._transform

    @property
    def face_count(self) -> int:
        """The number of faces."""
        return len(self._corners) if self._offsets is None else len(self._offsets) - 1


def _affine(transform: npt.ArrayLike) -> list[list[float]]:
    matrix = floats("transform", transform, any_shape=True)
    if matrix.shape == (4, 4) and (matrix[3] == [0, 0, 0, 1]).all():
        matrix = matrix[:3]
    if matrix.shape != (3, 4):
        raise InvalidInputError(
            f"transform has the shape {matrix.shape}, it must be (3, 4), or (4, 4) with the last row 0, 0, 0, 1"
        )
    return matrix.tolist()  # type: ignore[no-any-return]


class Surface:
    """The surface of one or several models, over which paths are found.

    Args:
        vertices, faces, offsets, transform: of one model, as for :class:`Model`; see :meth:`from_models` for several.
        weld: the welding distance, in the surface's units: 0 joins only equal points.
        interval: the largest length of an edge; longer ones are cut, and triangles to match. None cuts none.
        max_snap: the largest distance by which a query moves a point to the surface; None allows any distance.
        landmarks: whether landmarks are measured, which make paths by ``method="geodesic"`` with an infinite tolerance about three times
            as fast on large meshes. Costs about as much time as six fields.
        progress: called with the stage, how much of it is done, and how much there is; it ends the build by returning False.

    Raises:
        InvalidInputError: an option out of range, a coordinate that is not finite or is larger than 1e75, a face with fewer than three
            corners or with a vertex that does not exist, or no triangle left.
        MemoryLimitError: a refinement would exceed the host's memory.
        CancelledError: ``progress`` returned False.

    Cost: about linear in the number of triangles. Ctrl-C ends a build.

    A surface pickles as the bytes of :meth:`to_bytes`. It can be shared between threads; a query keeps what was walkable when it began.
    """

    __slots__ = ("_has_landmarks", "_native")

    _native: NativeSurface
    _has_landmarks: bool

    def __init__(
        self,
        vertices: Any,
        faces: Any = None,
        *,
        offsets: npt.ArrayLike | None = None,
        transform: npt.ArrayLike | None = None,
        weld: float = 0.0,
        interval: float | None = None,
        max_snap: float | None = None,
        landmarks: bool = False,
        progress: Progress | None = None,
    ) -> None:
        model = Model(vertices, faces, offsets=offsets, transform=transform)
        self._build([model], weld, interval, max_snap, landmarks, progress)

    def _build(
        self,
        models: Sequence[Model],
        weld: Any,
        interval: Any,
        max_snap: Any,
        landmarks: bool,
        progress: Progress | None,
    ) -> None:
        self._has_landmarks = flag("landmarks", landmarks)
        lengths = real("weld", weld), real_or_none("interval", interval), real_or_none("max_snap", max_snap)
        options = (*lengths, self._has_landmarks, progress)
        self._native = _native.Surface.build([model._arrays() for model in models], *options).wait(None)

    @classmethod
    def from_models(
        cls,
        models: Sequence[Model],
        *,
        weld: float = 0.0,
        interval: float | None = None,
        max_snap: float | None = None,
        landmarks: bool = False,
        progress: Progress | None = None,
    ) -> Surface:
        """A surface of several models. Options are those of :class:`Surface`."""
        surface = cls.__new__(cls)
        surface._build(models, weld, interval, max_snap, landmarks, progress)
        return surface

    @classmethod
    def _of(cls, native: NativeSurface, has_landmarks: bool) -> Surface:
        surface = cls.__new__(cls)
        surface._native, surface._has_landmarks = native, has_landmarks
        return surface

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, *, max_snap: float | None = None, landmarks: bool = False
    ) -> Surface:
        """Loads a surface of :meth:`to_bytes`. Its answers equal those of the saved surface bit for bit.

        Args:
            data: the bytes.
            max_snap: None keeps the saved value, and infinity allows any distance.
            landmarks: whether landmarks are measured, because they are not saved.

        Raises:
            InvalidInputError: the bytes are no saved surface; it names the byte.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise InvalidTypeError(f"data is {data!r:.60}, it must be bytes")
        loading = _native.Surface.from_bytes(
            bytes(data), real_or_none("max_snap", max_snap), flag("landmarks", landmarks)
        )
        return cls._of(loading.wait(None), flag("landmarks", landmarks))

    def to_bytes(self) -> bytes:
        """The surface as bytes, about 35 a triangle: with the report, what is walkable, and the links; without landmarks."""
        return self._native.to_bytes()

    def __reduce__(self) -> tuple[Any, ...]:
        return (_load, (self.to_bytes(), self._has_landmarks))

    def copy(self) -> Surface:
        """A copy with walkable triangles and links of its own. It is cheap: it shares the triangles and all that follows from them."""
        return Surface._of(self._native.copy(), self._has_landmarks)

    def __copy__(self) -> Surface:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Surface:
        return self.copy()

    def __repr__(self) -> str:
        vertices, triangles, _ = self._native.counts
        return f"<Surface of {vertices} vertices and {triangles} triangles>"

    @property
    def report(self) -> Report:
        """What the build found and changed."""
        return Report(**self._native.report)

    @property
    def vertices(self) -> Floats:
        """The points that triangles use, (n, 3): in the order of the models, then those of a refinement."""
        return self._native.vertices  # type: ignore[no-any-return]

    @property
    def triangles(self) -> npt.NDArray[np.uint32]:
        """The triangles, (m, 3), as numbers of vertices, in the order of the faces."""
        return self._native.triangles  # type: ignore[no-any-return]

    @property
    def edges(self) -> npt.NDArray[np.uint32]:
        """The edges, (k, 2), as numbers of vertices, the lower one first; sorted."""
        return self._native.edges  # type: ignore[no-any-return]

    @property
    def triangle_edges(self) -> npt.NDArray[np.uint32]:
        """The edges of each triangle, (m, 3): from its first corner to the second, to the third, and back to the first."""
        return self._native.of_triangles("edges")  # type: ignore[no-any-return]

    @property
    def normals(self) -> Floats:
        """The unit normal of each triangle, (m, 3), by the right-hand rule."""
        return self._native.of_triangles("normals")  # type: ignore[no-any-return]

    @property
    def sources(self) -> npt.NDArray[np.uint32]:
        """The model and the face from which each triangle was cut, (m, 2)."""
        return self._native.of_triangles("sources")  # type: ignore[no-any-return]

    @property
    def islands(self) -> npt.NDArray[np.uint32]:
        """The island of each triangle, (m,). Islands are parts that no edge connects; it does not matter what is walkable."""
        return self._native.of_triangles("islands")  # type: ignore[no-any-return]

    @property
    def walkable(self) -> npt.NDArray[np.bool_]:
        """Whether each triangle is walkable, (m,)."""
        return self._native.of_triangles("walkable")  # type: ignore[no-any-return]

    @property
    def area(self) -> float:
        """The area of all triangles."""
        return self._native.area

    @property
    def bounds(self) -> Floats:
        """The least and the greatest coordinates, (2, 3)."""
        return self._native.bounds  # type: ignore[no-any-return]

    def neighbour_lists(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
        """The triangles that share an edge with each triangle, as ``offsets`` (m + 1,) and one list."""
        offsets, triangles = self._native.neighbour_lists()
        return offsets, triangles

    def t_junctions(self, tolerance: float) -> npt.NDArray[Any]:
        """The vertices that lie on an edge they are not joined to, by vertex. No path goes across there.

        Args:
            tolerance: how far a vertex may be from the edge, in the surface's units, ≥ 0; 1e-6 of the surface's size finds what modelling
                programs write. A vertex within it of an end of the edge does not count: joining points is the work of ``weld``.

        Returns:
            A structured array with the fields ``distance``, ``vertex`` and ``edge``, a row of :attr:`edges`: one of those that it lies on.
        """
        return self._native.t_junctions(real("tolerance", tolerance))  # type: ignore[no-any-return]

    def edges_of(self, triangle: int) -> tuple[int, int, int] | None:
        """The edges of a triangle; None for one that does not exist."""
        found = self._native.edges_of(whole("triangle", triangle))
        return None if found is None else (found[0], found[1], found[2])

    def triangles_at(self, edge: int) -> npt.NDArray[np.uint32]:
        """The triangles at an edge, ascending; empty for an edge that does not exist."""
        return self._native.triangles_at(whole("edge", edge))  # type: ignore[no-any-return]

    def neighbours(self, triangle: int) -> npt.NDArray[np.uint32]:
        """The triangles that share an edge with a triangle, in the order of its edges."""
        return self._native.neighbours(whole("triangle", triangle))  # type: ignore[no-any-return]

    def common_edge(self, a: int, b: int) -> int | None:
        """The edge that two triangles share; None where they share none or are the same."""
        return self._native.common_edge(whole("a", a), whole("b", b))

    def opposite_vertex(self, triangle: int, edge: int) -> int | None:
        """The corner of a triangle opposite to one of its edges; None where it does not have that edge."""
        return self._native.opposite_vertex(whole("triangle", triangle), whole("edge", edge))

    def triangles_of(self, face: int, model: int = 0) -> npt.NDArray[np.uint32]:
        """The triangles that were cut from a face; empty where none is left."""
        return self._native.triangles_of(whole("model", model), whole("face", face))  # type: ignore[no-any-return]

    def set_walkable(self, triangles: npt.ArrayLike, walkable: bool = True) -> None:
        """Makes triangles, (k,) or one, walkable or not. Nothing is rebuilt.

        Raises:
            InvalidInputError: a triangle does not exist. Then nothing is changed.
        """
        self._native.set_walkable(some_indices("triangles", triangles), flag("walkable", walkable))

    def set_walkable_where(self, allowed: npt.ArrayLike | Callable[[Floats], npt.ArrayLike]) -> None:
        """Makes exactly those triangles walkable that ``allowed`` says, (m,): an array of bools, or a function of the normals, (m, 3)."""
        mask = allowed(self.normals) if callable(allowed) else allowed
        self._native.set_walkable_mask(flags("allowed", mask))

    def set_walkable_slope(self, up: npt.ArrayLike, degrees: float) -> None:
        """Makes exactly those triangles walkable whose normal is within ``degrees`` of ``up``: 90 allows floors and vertical walls."""
        self._native.set_walkable_slope(point("up", up, 3), real("degrees", degrees))

    @property
    def links(self) -> npt.NDArray[Any]:
        """The links: ``from``, ``to``, ``cost``, ``two_way``, with their ends where they were moved to."""
        return self._native.links  # type: ignore[no-any-return]

    def set_links(
        self,
        from_: npt.ArrayLike,
        to: npt.ArrayLike,
        costs: npt.ArrayLike,
        two_way: npt.ArrayLike = False,
    ) -> None:
        """Replaces the links: jumps, ladders, lifts. Paths take them where that makes them shorter, or possible at all.

        Args:
            from_, to: where each begins and ends, (n, 3); moved to the nearest point of the surface.
            costs: the length of a walk that costs as much, from 0 to 1e150, (n,) or one for all.
            two_way: whether each can be taken backwards too, (n,) or one for all.
        """
        begins = floats("from_", from_, 3)
        count = len(begins)
        directions = array_of("two_way", two_way)
        both = flags("two_way", np.broadcast_to(directions, (count,)) if directions.ndim == 0 else directions)
        if len(both) != count:
            raise InvalidInputError(f"two_way has {len(both)} rows, it must have {count}")
        ends, prices = floats("to", to, 3, count=count), floats("costs", costs, count=count)
        self._native.set_links(begins, ends, prices, both)

    @query
    def path(
        self,
        start: Places | npt.ArrayLike,
        goal: Places | npt.ArrayLike,
        *,
        method: str = "geodesic",
        tolerance: float = 1e-3,
        to_nearest: bool = False,
    ) -> Pending[Path]:
        """A path between two points of the surface. Points off the surface are moved to the nearest walkable point.

        Args:
            start, goal: positions (3,), or :class:`Places` of one row.
            method: ``"funnel"`` is quick, and a few percent longer than the shortest; ``"geodesic"`` is at most ``tolerance`` longer;
                ``"exact"`` is the shortest, within 1e-9 relative to it.
            tolerance: of ``"geodesic"``, relative to the length: from 0 to infinity, which gives a first path without a guarantee.
            to_nearest: whether a path to a goal that can't be reached leads to the reachable point nearest to it.

        Raises:
            InvalidInputError: a coordinate that is not finite or is larger than 1e150, a place that names nothing, a tolerance that is
                negative. A point off the mesh and a goal that can't be reached are no errors: :attr:`Path.reach` says so.
        """
        ends = one_place("start", start), one_place("goal", goal)
        return Pending(
            self._native.path(*ends, _method(method), real("tolerance", tolerance), flag("to_nearest", to_nearest)),
            path_of,
        )

    @query
    def paths(
        self,
        starts: Places | npt.ArrayLike,
        goals: Places | npt.ArrayLike,
        *,
        method: str = "geodesic",
        tolerance: float = 1e-3,
        to_nearest: bool = False,
    ) -> Pending[Paths]:
        """A path for each start and goal, (n, 3) or :class:`Places`, on all cores. Each equals that of :meth:`path` bit for bit.

        One start, or one goal, stands for as many as there are of the other. Ctrl-C ends a batch.
        """
        ends = paired_places(("starts", "goals"), starts, goals)
        return Pending(
            self._native.paths(*ends, _method(method), real("tolerance", tolerance), flag("to_nearest", to_nearest)),
            paths_of,
        )

    @query
    def path_by_costs(
        self, start: Places | npt.ArrayLike, goal: Places | npt.ArrayLike, costs: npt.ArrayLike
    ) -> Pending[Path]:
        """A cheap path where areas cost differently: approximate, mostly within 0.1 % of the best, at worst about 1 %. Links are not used.

        Args:
            start, goal: positions (3,), or :class:`Places` of one row.
            costs: a factor for each triangle, (m,), from 1 to 1e100: a piece of the path costs its length times that.
        """
        ends = one_place("start", start), one_place("goal", goal)
        return Pending(self._native.path_by_costs(*ends, floats("costs", costs)), path_of)

    @query
    def funnel_along(self, strip: npt.ArrayLike, start: npt.ArrayLike, goal: npt.ArrayLike) -> Pending[Path]:
        """The shortest path within a given strip of triangles, (k,), each of which shares an edge with the next."""
        ends = point("start", start, 3), point("goal", goal, 3)
        return Pending(self._native.funnel_along(indices("strip", strip), *ends), path_of)

    @query
    def field(self, source: Places | npt.ArrayLike) -> Pending[Field]:
        """The exact distances from a point to all points of the surface, and the paths to them. Links are not used.

        Cost: one exact search over the whole island, on one core, in memory about 20 windows of 56 bytes for each edge.
        """
        return Pending(self._native.field(one_place("source", source)), Field._of)

    @query
    def distances(self, sources: Places | npt.ArrayLike, *, memory_limit: int | None = None) -> Pending[Floats]:
        """The exact distance of each vertex from each source, (k, n), sources on all cores. Equal to those of fields bit for bit.

        Args:
            sources: places, (k, 3) or :class:`Places`.
            memory_limit: the most bytes that the answer may take; by default what the host has free.

        Raises:
            MemoryLimitError: the answer would not fit. Nothing has been computed then.
        """
        places = many_places("sources", sources)
        require("the table of distances", 8 * len(places) * self._native.counts[0], memory_limit)
        return Pending(self._native.distances(places, None, False), _same)

    @query
    def least_distances(self, sources: Places | npt.ArrayLike) -> Pending[tuple[Floats, npt.NDArray[np.uint32]]]:
        """The exact distance of each vertex from its nearest source, (n,), and which source that is, (n,); the lowest of several.

        Where no source leads, the distance is infinite and the source 2**32 - 1.
        """
        return Pending(self._native.distances(many_places("sources", sources), None, True), _same)

    def locate(self, place: Places | npt.ArrayLike) -> Point | None:
        """The nearest point of a walkable triangle; None where none is within ``max_snap``."""
        return point_of(self._native.points(one_place("place", place), True).wait(None))

    def locate_all(self, position: npt.ArrayLike) -> list[Point]:
        """The nearest walkable points on all surfaces that are equally near to a position; mostly one."""
        rows = self._native.locate_all(point("position", position, 3))
        found = (point_of(rows[row : row + 1]) for row in range(len(rows)))
        return [at for at in found if at is not None]

    def nearest_point(self, place: Places | npt.ArrayLike) -> Point | None:
        """As :meth:`locate`, however far away it is; None where no triangle is walkable."""
        return point_of(self._native.points(one_place("place", place), False).wait(None))

    @query
    def locations(self, places: Places | npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`locate` for many places, (n, 3).

        Returns:
            A row for each: ``position``, ``distance``, ``triangle``, ``model``, ``face``, ``island``, ``vertex``. Where there is none, the
            distance is infinite and the numbers are 2**32 - 1. The vertex of a point that is none is -1.
        """
        return Pending(self._native.points(many_places("places", places), True), _same)

    @query
    def nearest_points(self, places: Places | npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`nearest_point` for many places; rows as of :meth:`locations`."""
        return Pending(self._native.points(many_places("places", places), False), _same)

    def raycast(self, start: Places | npt.ArrayLike, direction: npt.ArrayLike, max_distance: float) -> RayHit | None:
        """Casts a ray over the surface, straight on in a direction, until it meets a wall or reaches ``max_distance``.

        At an edge the next triangle is unfolded into the plane of the last. None where the start is off the mesh.
        """
        ahead = floats("direction", [point("direction", direction, 3)], 3)
        reach = floats("max_distance", max_distance, count=1)
        row = self._native.raycasts(one_place("start", start), ahead, reach).wait(None)[0]
        if row["triangle"] == MISSING:
            return None
        wall = None if row["wall"] == MISSING else int(row["wall"])
        return RayHit(row["point"].copy(), row["direction"].copy(), float(row["distance"]), int(row["triangle"]), wall)

    @query
    def raycasts(
        self, starts: Places | npt.ArrayLike, directions: npt.ArrayLike, max_distances: npt.ArrayLike
    ) -> Pending[npt.NDArray[Any]]:
        """:meth:`raycast` for many starts (n, 3), directions (n, 3) or (3,), and distances (n,) or one for all.

        Returns:
            A row for each: ``point``, ``direction``, ``distance``, ``triangle``, ``wall``. NaN and 2**32 - 1 stand for what is missing.
        """
        places = many_places("starts", starts)
        count = len(places)
        ahead = floats("directions", directions, 3, count=count)
        return Pending(self._native.raycasts(places, ahead, floats("max_distances", max_distances, count=count)), _same)

    def distance_to_wall(self, place: Places | npt.ArrayLike) -> WallDistance | None:
        """The nearest wall, and its distance over the walkable triangles, exact within 1e-9. None where no wall can be reached."""
        row = self._native.wall_distances(one_place("place", place)).wait(None)[0]
        if row["wall"] == MISSING:
            return None
        return WallDistance(float(row["distance"]), row["point"].copy(), int(row["wall"]), int(row["triangle"]))

    @query
    def distances_to_wall(self, places: Places | npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`distance_to_wall` for many places, (n, 3): rows of ``distance``, ``point``, ``wall``, ``triangle``; infinite where none is."""
        return Pending(self._native.wall_distances(many_places("places", places)), _same)

    def move_along(self, start: Places | npt.ArrayLike, displacement: npt.ArrayLike) -> PathPlace | None:
        """Moves an agent over the surface by a displacement, (3,), sliding along walls. None where the start is off the mesh."""
        place = one_place("start", start)
        ahead = floats("displacement", [point("displacement", displacement, 3)], 3)
        return path_place_of(self._native.moves(place, ahead).wait(None)[0])

    @query
    def moves_along(self, starts: Places | npt.ArrayLike, displacements: npt.ArrayLike) -> Pending[npt.NDArray[Any]]:
        """:meth:`move_along` for many: rows of ``position``, ``tangent``, ``normal``, ``triangle``, ``found``."""
        places = many_places("starts", starts)
        return Pending(self._native.moves(places, floats("displacements", displacements, 3, count=len(places))), _same)

    def random_point(self, rng: np.random.Generator | int | None = None) -> Point | None:
        """A point of the walkable triangles, each equally likely by area; None where nothing is walkable."""
        return point_of(self.random_points(1, rng))

    @query
    def random_points(self, count: int, rng: np.random.Generator | int | None = None) -> Pending[npt.NDArray[Any]]:
        """:meth:`random_point` for many; rows as of :meth:`locations`.

        Args:
            count: how many.
            rng: a generator of numpy, or its seed.
        """
        uniform = np.random.default_rng(rng).random((whole("count", count, U64), 3))
        return Pending(self._native.random_points(uniform), _same)


class Field:
    """The exact distances from one source to all points of a surface, and the shortest paths to them. Made by :meth:`Surface.field`.

    It keeps what was walkable when it was made. It does not pickle: pickle the surface, or the distances.
    """

    __slots__ = ("_native",)

    _native: NativeField

    @classmethod
    def _of(cls, native: NativeField) -> Field:
        field = cls.__new__(cls)
        field._native = native
        return field

    @property
    def source(self) -> Point | None:
        """The source on the surface; None where it is off the mesh."""
        found = self._native.source
        return None if found is None else point_of(found)

    @property
    def is_ambiguous(self) -> bool:
        """Whether the source may be on any of several surfaces."""
        return self._native.is_ambiguous

    @query
    def at_vertices(self) -> Pending[Floats]:
        """The distance of each vertex, (n,); infinite where no walkable triangles lead there."""
        return Pending(self._native.at_vertices(), _same)

    def distance(self, place: Places | npt.ArrayLike) -> float:
        """The distance of the walkable point nearest to a place; infinite where none leads there, or an end is off the mesh."""
        return float(self._native.distances(one_place("place", place)).wait(None)[0])

    @query
    def distances(self, places: Places | npt.ArrayLike) -> Pending[Floats]:
        """:meth:`distance` for many places, (n, 3) to (n,), on all cores."""
        return Pending(self._native.distances(many_places("places", places)), _same)

    @query
    def path(self, goal: Places | npt.ArrayLike) -> Pending[Path]:
        """The shortest path from the source to a point."""
        return Pending(self._native.path(one_place("goal", goal)), path_of)

    @query
    def paths(self, goals: Places | npt.ArrayLike) -> Pending[Paths]:
        """:meth:`path` for many goals, (n, 3), on all cores."""
        return Pending(self._native.paths(many_places("goals", goals)), paths_of)


def _method(method: str) -> str:
    if method not in METHODS:
        raise InvalidInputError(f"method is {method!r}, it must be 'funnel', 'geodesic' or 'exact'")
    return method


def _same(value: Any) -> Any:
    return value


def _load(data: bytes, landmarks: bool) -> Surface:
    return Surface.from_bytes(data, landmarks=landmarks)
