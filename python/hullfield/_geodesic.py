"""Exact geodesic distances and paths over meshes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

from hullfield._arrays import array_of, frozen
from hullfield._errors import InvalidInputError
from hullfield._memory import require
from hullfield._mesh import mesh_arrays
from hullfield._pending import Pending, query
from hullfield._scalars import real, rows_of, some_indices
from hullfield.navigate._surface_paths import MISSING, Path, Places, path_of
from hullfield.navigate.surface import METHODS, Surface

Floats = npt.NDArray[np.float64]
Source = int | Sequence[int] | npt.NDArray[Any] | tuple[Any, Any]


class Nearest(NamedTuple):
    """The distance of each vertex from its nearest source, and which that is."""

    distances: Floats
    """(n,); infinite where no source leads."""
    sources: npt.NDArray[np.int64]
    """(n,): the row of the source in what was given, the lowest of several; -1 where none leads."""


# pdoc looks for names of types in the module that exports the class.
Nearest.__new__.__annotations__.update(get_type_hints(Nearest))


class GeodesicPath:
    """A shortest path over a mesh. Where there is none the arrays are empty and the length is infinite."""

    __slots__ = ("barycentric", "faces", "points", "segment_faces")

    points: Floats
    """The start, each point where the path crosses an edge, and the goal, (k, 3)."""
    faces: npt.NDArray[np.int64]
    """A face on which each point lies, (k,): that of the piece after it, of the last point that of the piece before."""
    barycentric: Floats
    """The coordinates of each point by the corners of its face, (k, 3); they add up to 1."""
    segment_faces: npt.NDArray[np.int64]
    """The face on which each piece between two points lies, (k - 1,)."""

    def __init__(self, points: Any, faces: Any, barycentric: Any, segment_faces: Any) -> None:
        self.points, self.faces = frozen(points), frozen(faces)
        self.barycentric, self.segment_faces = frozen(barycentric), frozen(segment_faces)

    @property
    def is_reached(self) -> bool:
        """Whether there is a path."""
        return len(self.points) > 0

    @property
    def length(self) -> float:
        """Its length; infinite where there is none."""
        if not self.is_reached:
            return float("inf")
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())

    def __len__(self) -> int:
        return len(self.points)

    def __reduce__(self) -> tuple[Any, ...]:
        return (GeodesicPath, (self.points, self.faces, self.barycentric, self.segment_faces))

    def __repr__(self) -> str:
        return f"<GeodesicPath of {len(self.points)} points, length {self.length:g}>"


class Geodesic:
    """Exact geodesic distances and shortest paths over the triangles of a mesh. Made by :func:`geodesic`.

    Vertices and faces are named by their numbers in the mesh as given. Vertices at equal places, bit for bit, count as one, so a seam is no
    wall. Edges connect faces, vertices do not: a vertex that merely lies on another face, or almost at another vertex, has distances of its own. It pickles as vertices and faces, and can be shared between threads.

    A source is a vertex by its number, or a point on a face as a tuple of the face and three barycentric coordinates. Several sources are a
    list of vertices, or a tuple of arrays ``(faces (k,), barycentric (k, 3))``.

    Tolerance: distances are exact but for rounding, within 1e-9 relative to themselves (windows: Mitchell, Mount, Papadimitriou 1987).
    """

    __slots__ = ("_faces", "_surface", "_to_surface", "_vertices")

    def __init__(self, vertices: Floats, faces: npt.NDArray[np.uint32]) -> None:
        # Paths are measured by them. Arrays of the caller may change later; those that are handed out may not.
        self._vertices: Floats = frozen(vertices.copy())
        self._faces: npt.NDArray[np.uint32] = frozen(faces.copy())
        self._surface = Surface(self._vertices, self._faces)
        self._to_surface: npt.NDArray[np.uint32] = self._surface._native.vertices_at(self._vertices)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Geodesic, (self._vertices, self._faces))

    def __repr__(self) -> str:
        return f"<Geodesic over {len(self._vertices)} vertices and {len(self._faces)} faces>"

    @property
    def surface(self) -> Surface:
        """The surface below it. Its vertices are those of the mesh without duplicates and without those of no face."""
        return self._surface

    @property
    def vertices(self) -> Floats:
        """The vertices as given, (n, 3). The array can't be written to."""
        return self._vertices

    @property
    def faces(self) -> npt.NDArray[np.uint32]:
        """The faces as given, (m, 3). The array can't be written to."""
        return self._faces

    @query
    def distance(self, source: Source) -> Pending[Floats]:
        """The distance of each vertex from a source, or from the nearest of several, (n,); infinite where none leads.

        Cost: an exact search for each source, on a core each.

        Raises:
            InvalidInputError: a source does not exist, or belongs to no face; or barycentric coordinates do not name a point of the face.
        """
        return Pending(self._native_distances(self._sources(source), True), _first)

    @query
    def nearest(self, sources: Source) -> Pending[Nearest]:
        """As :meth:`distance`, and which of the sources is the nearest: the cells of a Voronoi diagram over the mesh."""
        return Pending(self._native_distances(self._sources(sources), True), _nearest)

    @query
    def distances(self, sources: Source, *, memory_limit: int | None = None) -> Pending[Floats]:
        """The distance of each vertex from each source, (k, n). On all cores; Ctrl-C ends it.

        Args:
            sources: several sources.
            memory_limit: the most bytes that the answer may take; by default what the host has free.

        Raises:
            MemoryLimitError: the answer would not fit. Nothing has been computed then.
        """
        places = self._sources(sources)
        require("the table of distances", 8 * len(places) * len(self._vertices), memory_limit)
        return Pending(self._native_distances(places, False), _same)

    @query
    def all_pairs(self, *, memory_limit: int | None = None) -> Pending[Floats]:
        """The distance between all pairs of vertices, (n, n). See :meth:`distances`; vertices of no face are infinitely far."""
        count = len(self._vertices)
        require("the table of all pairs of vertices", 8 * count * count, memory_limit)
        known = np.flatnonzero(self._to_surface != MISSING)
        if len(known) == count:
            return Pending(self._native_distances(Places.vertices(self._to_surface), False), _same)

        def spread(rows: Floats) -> Floats:
            every = np.full((count, count), np.inf)
            every[known] = rows
            return every

        return Pending(self._native_distances(Places.vertices(self._to_surface[known]), False), spread)

    @query
    def path(
        self, start: Source, goal: Source, *, method: str = "exact", tolerance: float = 1e-3
    ) -> Pending[GeodesicPath]:
        """The shortest path from one source to another.

        Args:
            start, goal: a vertex, or a point as a tuple of a face and three barycentric coordinates.
            method: ``"exact"``; or ``"geodesic"``, at most ``tolerance`` longer than the shortest, and quicker on large meshes if the
                tolerance is infinite; or ``"funnel"``, a few percent longer.
            tolerance: of ``"geodesic"``, relative to the length.
        """
        if method not in METHODS:
            raise InvalidInputError(f"method is {method!r}, it must be 'funnel', 'geodesic' or 'exact'")
        ends = [self._sources(end, name) for name, end in (("start", start), ("goal", goal))]
        for name, end in zip(("start", "goal"), ends, strict=True):
            if len(end) != 1:
                raise InvalidInputError(f"{name} has {len(end)} points, one is needed")
        native = self._surface._native.path(
            ends[0]._native, ends[1]._native, method, real("tolerance", tolerance), False
        )
        return Pending(native, lambda answer: self._path(path_of(answer)))

    def _native_distances(self, places: Places, is_least: bool) -> Any:
        return self._surface._native.distances(places._native, self._to_surface, is_least)

    def _sources(self, source: Any, name: str = "source") -> Places:
        if isinstance(source, tuple) and len(source) == 2 and array_of(name, source[1]).ndim >= 1:
            return self._points(name, source[0], source[1])
        numbers = some_indices(name, source)
        if len(numbers) == 0:
            raise InvalidInputError(f"{name} is empty, at least one source is needed")
        wrong = np.flatnonzero(numbers >= len(self._vertices))
        if len(wrong):
            raise InvalidInputError(
                f"{name}: vertex {numbers[wrong[0]]} does not exist, there are {len(self._vertices)}"
            )
        known = self._to_surface[numbers]
        lost = np.flatnonzero(known == MISSING)
        if len(lost):
            raise InvalidInputError(f"{name}: vertex {numbers[lost[0]]} belongs to no face that has an area")
        return Places.vertices(known)

    def _points(self, name: str, faces: Any, barycentric: Any) -> Places:
        numbers = some_indices(f"{name}: faces", faces)
        weights = rows_of(f"{name}: barycentric coordinates", barycentric, 3)
        if len(weights) != len(numbers):
            raise InvalidInputError(
                f"{name} has {len(numbers)} faces and {len(weights)} rows of barycentric coordinates"
            )
        wrong = np.flatnonzero(numbers >= len(self._faces))
        if len(wrong):
            raise InvalidInputError(f"{name}: face {numbers[wrong[0]]} does not exist, there are {len(self._faces)}")
        # NaN is wrong, too.
        sound = (weights >= -1e-9).all(axis=1) & (abs(weights.sum(axis=1) - 1) <= 1e-6)
        if not sound.all():
            row = int(np.argmin(sound))
            raise InvalidInputError(
                f"{name}: barycentric coordinates {row} are {weights[row].tolist()}, they must be 0 or more and add up to 1"
            )
        weights = weights / weights.sum(axis=1, keepdims=True)
        positions = np.einsum("kc,kcx->kx", weights, self._vertices[self._faces[numbers]])
        return Places.faces(numbers, positions)

    def _path(self, path: Path) -> GeodesicPath:
        pieces = self._surface.sources[path.triangles, 1].astype(np.int64)
        faces = np.concatenate([pieces, pieces[-1:]])
        corners = self._vertices[self._faces[faces]]
        return GeodesicPath(path.points.copy(), faces, barycentric_of(corners, path.points), pieces)


def barycentric_of(corners: Floats, points: Floats) -> Floats:
    """The barycentric coordinates, (k, 3), of points (k, 3) in triangles (k, 3, 3), each of which has an area."""
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(first, second)
    square = np.einsum("kx,kx->k", normal, normal)
    to = points - corners[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        b = np.einsum("kx,kx->k", np.cross(to, second), normal) / square
        c = np.einsum("kx,kx->k", np.cross(first, to), normal) / square
    found = np.stack([1 - b - c, b, c], axis=1).clip(0, 1)
    scaled: Floats = found / found.sum(axis=1, keepdims=True)
    return scaled


def geodesic(vertices: Any, faces: Any = None) -> Geodesic:
    """Prepares exact geodesic distances and paths over a mesh of triangles.

    Args:
        vertices: (n, 3); or a mesh of trimesh, pyvista, open3d or meshio, without ``faces``.
        faces: numbers of vertices, (m, 3).

    Raises:
        InvalidInputError: faces that are no triangles or name vertices that do not exist, and coordinates that are not finite.

    A square of two triangles:

    >>> import hullfield
    >>> geodesic = hullfield.geodesic([[0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 0]], [[0, 1, 2], [0, 2, 3]])
    >>> geodesic.distance(0).tolist()  # from vertex 0 to all
    [0.0, 3.0, 5.0, 4.0]
    >>> geodesic.nearest([0, 2]).sources.tolist()  # which of two is nearer
    [0, 0, 1, 1]
    >>> geodesic.distance((0, [0.5, 0.5, 0])).tolist()[:2]  # from the middle of a side of face 0
    [1.5, 1.5]
    >>> path = geodesic.path(1, 3)
    >>> path.length, path.faces.tolist(), path.points[1].round(9).tolist()
    (5.0, [0, 1, 1], [1.5, 2.0, 0.0])
    """
    points, corners, offsets = mesh_arrays(vertices, faces)
    if offsets is not None:
        raise InvalidInputError(
            "geodesic needs triangles: triangulate the mesh, or use hullfield.navigate.surface.Surface"
        )
    return Geodesic(points, corners)


def _same(value: Any) -> Any:
    return value


def _first(answer: tuple[Any, Any]) -> Any:
    return answer[0]


def _nearest(answer: tuple[Any, Any]) -> Nearest:
    distances, sources = answer
    found = sources.astype(np.int64)
    found[sources == MISSING] = -1
    return Nearest(distances, found)
