"""Places, points and paths of surfaces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import floats, indices
from hullfield._errors import InvalidInputError
from hullfield._scalars import rows_of, some_indices
from hullfield.navigate._reach import Reach, Stats

Floats = npt.NDArray[np.float64]
MISSING = 0xFFFF_FFFF


class Places:
    """Where queries on a surface begin or end, a row for each: near positions, or on triangles, faces or vertices by their numbers.

    Every method that takes places takes an array of positions too, (n, 3), or (3,) where one place is needed. Where surfaces coincide or
    cross, a position alone does not say on which of them it is, but a number does.
    """

    __slots__ = ("_columns", "_native")

    def __init__(self, positions: npt.ArrayLike) -> None:
        """Near positions, (n, 3): the nearest walkable points."""
        self._make("near", rows_of("positions", positions, 3))

    def _make(self, kind: str, positions: Any = None, numbers: Any = None, models: Any = None) -> None:
        # Arrays of the caller may change later.
        positions, numbers, models = (None if part is None else part.copy() for part in (positions, numbers, models))
        self._columns = (kind, positions, numbers, models)
        self._native = _native.Places(kind, positions, numbers, models)

    @classmethod
    def _of(cls, *columns: Any) -> Places:
        places = cls.__new__(cls)
        places._make(*columns)
        return places

    @classmethod
    def triangles(cls, triangles: npt.ArrayLike, positions: npt.ArrayLike) -> Places:
        """The points of triangles of the surface, (n,), nearest to positions, (n, 3)."""
        points = rows_of("positions", positions, 3)
        return cls._of("triangle", points, indices("triangles", triangles, count=len(points)))

    @classmethod
    def faces(cls, faces: npt.ArrayLike, positions: npt.ArrayLike, models: npt.ArrayLike = 0) -> Places:
        """The walkable points of faces of the models, (n,), nearest to positions, (n, 3)."""
        points = rows_of("positions", positions, 3)
        count = len(points)
        return cls._of("face", points, indices("faces", faces, count=count), indices("models", models, count=count))

    @classmethod
    def vertices(cls, vertices: npt.ArrayLike) -> Places:
        """Vertices of the surface by their numbers, (n,), on all walkable triangles of which they are corners."""
        return cls._of("vertex", None, some_indices("vertices", vertices))

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Places._of, self._columns)


def one_place(name: str, value: Places | npt.ArrayLike) -> _native.Places:
    """One place, of the argument of a call."""
    places = value if isinstance(value, Places) else many_places(name, value)
    if isinstance(places, Places):
        places = places._native
    if len(places) != 1:
        raise InvalidInputError(f"{name} has {len(places)} places, one is needed")
    return places


def many_places(name: str, value: Places | npt.ArrayLike) -> _native.Places:
    """Places, of the argument of a call."""
    if isinstance(value, Places):
        return value._native
    return _native.Places("near", rows_of(name, value, 3), None, None)


def paired_places(
    names: tuple[str, str], first: Places | npt.ArrayLike, second: Places | npt.ArrayLike
) -> tuple[_native.Places, _native.Places]:
    """Two lists of places of equal length; one place stands for as many as the other list has."""
    values = [
        value if isinstance(value, Places) else Places(rows_of(name, value, 3))
        for name, value in zip(names, (first, second), strict=True)
    ]
    counts = [len(value) for value in values]
    count = counts[1] if counts[0] == 1 else counts[0]
    repeated = []
    for name, value in zip(names, values, strict=True):
        if len(value) == 1 and count != 1:
            kind, *columns = value._columns
            columns = [None if part is None else np.repeat(part, count, axis=0) for part in columns]
            value = Places._of(kind, *columns)
        elif len(value) != count:
            raise InvalidInputError(f"{name} has {len(value)} places, there are {count} {names[0]}")
        repeated.append(value._native)
    return repeated[0], repeated[1]


@dataclass(frozen=True, eq=False)
class Point:
    """A point of a surface."""

    position: Floats
    """Where it is, in the surface's frame, (3,)."""
    distance: float
    """How far that is from the point of the query, in the surface's units."""
    triangle: int
    """The triangle on which it lies."""
    model: int
    """The model of that triangle."""
    face: int
    """The face of the model from which the triangle was cut."""
    island: int
    """The island of that triangle."""
    vertex: int | None
    """The vertex of the surface that the point is; None where it is none. So it says which vertex was taken, of several that lie there."""


def point_of(rows: npt.NDArray[Any]) -> Point | None:
    """The point of the first row, or none."""
    row = rows[0]
    if row["triangle"] == MISSING:
        return None
    triangle, model, face, island, vertex = (
        int(row[name]) for name in ("triangle", "model", "face", "island", "vertex")
    )
    own_vertex = None if vertex < 0 else vertex
    return Point(row["position"].copy(), float(row["distance"]), triangle, model, face, island, own_vertex)


@dataclass(frozen=True, eq=False)
class PathPlace:
    """The place of an agent on a surface."""

    position: Floats
    """Its position, in the surface's frame, (3,)."""
    tangent: Floats
    """The unit vector ahead along the path; zero where the path has no length."""
    normal: Floats
    """The unit normal."""
    triangle: int
    """The triangle on which it is; on a link that where the link begins."""
    link: int | None = None
    """The link that it is on, between the two ends; None on the mesh."""
    reversed: bool = False
    """Whether that link is taken backwards."""


def path_place_of(row: Any) -> PathPlace | None:
    """The place of a row, or none."""
    if not row["found"]:
        return None
    link = None if row["link"] == MISSING else int(row["link"])
    position, tangent, normal = (row[name].copy() for name in ("position", "tangent", "normal"))
    return PathPlace(position, tangent, normal, int(row["triangle"]), link, bool(row["reversed"]))


class Path:
    """A path over a surface, or why there is none. Arrays are empty where there is none."""

    __slots__ = ("_row", "arc_lengths", "links", "normals", "points", "triangles")

    points: Floats
    """The start, each point where the path crosses an edge, and the goal, (n, 3). The path is straight in between."""
    normals: Floats
    """A unit normal for each point, (n, 3): the average of those of the triangles before and after it, all on the start's side."""
    arc_lengths: Floats
    """The length of the path from the start to each point, (n,). A link is as long as its cost."""
    triangles: npt.NDArray[np.uint32]
    """The triangle of each piece between two points, (n - 1,). For a link it is the triangle where the link begins."""
    links: npt.NDArray[Any]
    """The pieces that are links: ``piece``, ``link``, and ``reversed``, 1 where it is taken backwards."""

    def __init__(self, row: Any, points: Any, normals: Any, arc_lengths: Any, triangles: Any, links: Any) -> None:
        self._row, self.points, self.normals = row, points, normals
        self.arc_lengths, self.triangles, self.links = arc_lengths, triangles, links

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
        """Its length in the surface's units, including the costs of its links; infinite where there is no path."""
        return float(self._row["length"])

    @property
    def cost(self) -> float:
        """Of ``path_by_costs``: the sum of each piece's length times the cost of its triangle. NaN for other paths."""
        return float(self._row["cost"])

    @property
    def snaps(self) -> tuple[float, float]:
        """How far the start and the goal were moved to the surface."""
        return float(self._row["snaps"][0]), float(self._row["snaps"][1])

    @property
    def ambiguous(self) -> tuple[bool, bool]:
        """Whether the start and the goal may be on any of several surfaces, for example where two floors coincide."""
        return bool(self._row["ambiguous"][0]), bool(self._row["ambiguous"][1])

    @property
    def nearest(self) -> Floats | None:
        """Where there is no path: of all points that the start can reach, the one nearest to the goal; or, where an end is off the
        surface, the nearest point at which a path could begin or end. None where there is none."""
        return None if self._row["nearest_triangle"] == MISSING else self._row["nearest"].copy()

    @property
    def nearest_distance(self) -> float:
        """How far ``nearest`` is from the goal, or from the end that is off; NaN where there is a path."""
        return float(self._row["nearest_distance"])

    def at(self, arc_length: float) -> PathPlace | None:
        """The place of an agent that has followed the path for ``arc_length``: the start for less than 0, the goal for more than its length.

        None where there is no path, and for NaN.
        """
        return path_place_of(self.places_at([arc_length])[0])

    def places_at(self, arc_lengths: npt.ArrayLike) -> npt.NDArray[Any]:
        """The places of agents that have followed the path for these arc lengths, (k,).

        Returns:
            A structured array with the fields ``position``, ``tangent``, ``normal``, ``triangle``, ``found``, which is 0 where there is
            no path, and for NaN; ``link``, which is 2**32 - 1 on the mesh, and ``reversed``.
        """
        wanted = floats("arc_lengths", arc_lengths)
        contiguous = [
            np.ascontiguousarray(part) for part in (self.points, self.normals, self.arc_lengths, self.triangles)
        ]
        links = tuple(np.ascontiguousarray(self.links[name]) for name in ("piece", "link", "reversed"))
        found: npt.NDArray[Any] = _native.path_at(*contiguous, links, wanted)
        return found

    def __len__(self) -> int:
        return len(self.points)

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self._row, self.points, self.normals, self.arc_lengths, self.triangles, self.links)
        return (Path, tuple(part.copy() for part in parts))

    def __repr__(self) -> str:
        return f"<Path {self.reach.name.lower()}, length {self.length:g}, {len(self.points)} points>"


class Paths:
    """The paths of a batch, in the order of the queries: ``paths[i]`` is a :class:`Path`; the arrays hold all, one after the other."""

    __slots__ = (
        "arc_lengths",
        "link_offsets",
        "links",
        "normals",
        "offsets",
        "piece_offsets",
        "points",
        "rows",
        "stats",
        "triangles",
    )

    rows: npt.NDArray[Any]
    """A row for each path: ``length``, ``cost``, ``snaps``, ``nearest``, ``nearest_distance``, ``reach``, ``nearest_triangle``, ``ambiguous``."""
    offsets: npt.NDArray[np.uint64]
    """The points of path i are those from ``offsets[i]`` to ``offsets[i + 1]``, (n + 1,)."""
    piece_offsets: npt.NDArray[np.uint64]
    """The same for ``triangles``."""
    link_offsets: npt.NDArray[np.uint64]
    """The same for ``links``."""
    points: Floats
    """(m, 3)."""
    normals: Floats
    """(m, 3)."""
    arc_lengths: Floats
    """(m,)."""
    triangles: npt.NDArray[np.uint32]
    """The triangle of each piece."""
    links: npt.NDArray[Any]
    """As of a :class:`Path`."""
    stats: Stats

    def __init__(self, *parts: Any) -> None:
        (
            self.rows,
            self.offsets,
            self.piece_offsets,
            self.link_offsets,
            self.points,
            self.normals,
            self.arc_lengths,
            self.triangles,
            self.links,
            self.stats,
        ) = parts

    @property
    def lengths(self) -> Floats:
        """The length of each path, (n,); infinite where there is none."""
        return self.rows["length"]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Path:
        row = range(len(self.rows))[index]
        points = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
        pieces = slice(int(self.piece_offsets[row]), int(self.piece_offsets[row + 1]))
        links = slice(int(self.link_offsets[row]), int(self.link_offsets[row + 1]))
        return Path(
            self.rows[row],
            self.points[points],
            self.normals[points],
            self.arc_lengths[points],
            self.triangles[pieces],
            self.links[links],
        )

    def __iter__(self) -> Iterator[Path]:
        return (self[row] for row in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Paths, tuple(getattr(self, name) for name in _PARTS))


_PARTS = (
    "rows",
    "offsets",
    "piece_offsets",
    "link_offsets",
    "points",
    "normals",
    "arc_lengths",
    "triangles",
    "links",
    "stats",
)


def paths_of(answer: tuple[Any, ...]) -> Paths:
    """Of a native answer."""
    *arrays, total_ms = answer
    reached = int((arrays[0]["reach"] == Reach.REACHED).sum())
    return Paths(*arrays, Stats(reached, total_ms))


def path_of(answer: tuple[Any, ...]) -> Path:
    """Of a native answer of one path."""
    return paths_of(answer)[0]
