"""Convex hulls."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, array_of, floats, indices, point
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._scalars import real, whole
from hullfield.collide._numbers import all_of


class Dimension(IntEnum):
    """What a hull is, decided exactly: one vertex, two, three or more in a plane, a closed solid, or a half-space."""

    POINT = 0
    SEGMENT = 1
    POLYGON = 2
    SOLID = 3
    HALF_SPACE = 4


class Hull:
    """The convex hull of some points, with a rounding radius: a box, a ball, a capsule, a triangle, any convex solid.

    It is the exact hull of the points as float32 holds them: its vertices are exactly the extreme points, each once, in the order in which
    they first appear. Coplanar triangles are one face. Hulls are immutable; equal hulls have equal vertices, in the same order, and the same
    rounding, and hash alike. They pickle as their vertices.

    Args:
        points: (n, 3), in any units and frame, which become the hull's own. Duplicates and points inside are fine. Float64 is rounded to
            float32.

    Raises:
        InvalidInputError: no point, NaN or infinity, or a bounding radius outside of 1e-36 to 1e38 (a single point is fine).

    Cost: about ``n log n``; a million points of a ball take about half a second.
    """

    __slots__ = ("_native",)

    def __init__(self, points: ArrayLike) -> None:
        self._native = _native.Hull.from_points(floats("points", points, 3, np.float32))

    @classmethod
    def _of(cls, native: _native.Hull) -> Hull:
        hull = cls.__new__(cls)
        hull._native = native
        return hull

    @classmethod
    def cuboid(cls, half: ArrayLike) -> Hull:
        """A box about the origin with these half-lengths along x, y and z, (3,). A length of 0 makes it flat."""
        return cls._of(_native.Hull.cuboid(point("half", half, 3)))

    @classmethod
    def ball(cls, radius: float) -> Hull:
        """A ball about the origin: a point, rounded."""
        return cls._of(_native.Hull.ball(real("radius", radius)))

    @classmethod
    def capsule(cls, a: ArrayLike, b: ArrayLike, radius: float) -> Hull:
        """The capsule about the segment from ``a`` to ``b``, (3,) each; a ball where they coincide."""
        return cls._of(_native.Hull.capsule(point("a", a, 3), point("b", b, 3), real("radius", radius)))

    @classmethod
    def cylinder(cls, a: ArrayLike, b: ArrayLike, radius: float, sides: int) -> Hull:
        """The prism that approximates the cylinder about the axis from ``a`` to ``b``, its vertices on the cylinder.

        Args:
            a: one end of the axis, (3,).
            b: the other end.
            radius: of the cylinder.
            sides: 3 to 65,536. The sides lie inside the cylinder by ``radius (1 − cos(π / sides))`` at most: 1.9 % of the radius for 16.
        """
        ends = point("a", a, 3), point("b", b, 3)
        return cls._of(_native.Hull.cylinder(*ends, real("radius", radius), whole("sides", sides)))

    @classmethod
    def cone(cls, base: ArrayLike, tip: ArrayLike, radius: float, sides: int) -> Hull:
        """The pyramid of so many sides that approximates a cone, with the centre of its base at ``base`` and its tip at ``tip``, (3,) each."""
        ends = point("base", base, 3), point("tip", tip, 3)
        return cls._of(_native.Hull.cone(*ends, real("radius", radius), whole("sides", sides)))

    @classmethod
    def triangle(cls, corners: ArrayLike) -> Hull:
        """The triangle with these corners, (3, 3); a segment or a point where they are collinear or equal."""
        rows = floats("corners", corners, 3, np.float32)
        if len(rows) != 3:
            raise InvalidInputError(f"corners has the shape {rows.shape}, it must be (3, 3)")
        return cls._of(_native.Hull.triangle(rows.tolist()))

    @classmethod
    def triangles_of_mesh(cls, positions: ArrayLike, triangles: ArrayLike) -> list[Hull]:
        """One hull for each triangle of a mesh, in their order: the skin of a solid that is not convex, for :class:`Compound` parts or statics.

        Args:
            positions: (n, 3).
            triangles: the rows of their corners, (m, 3).

        Raises:
            InvalidInputError: a position that is not finite, or a corner that does not exist.
        """
        corners = indices("triangles", triangles, 3)
        natives = _native.Hull.triangles_of_mesh(floats("positions", positions, 3, np.float32), corners)
        return [cls._of(native) for native in natives]

    @classmethod
    def half_space(cls) -> Hull:
        """All points with ``y ≤ 0``: a ground. :meth:`Pose.of_half_space` says where a body of it stands for another plane."""
        return cls._of(_native.Hull.half_space())

    @classmethod
    def from_mesh(cls, mesh: Any) -> Hull:
        """The hull of the vertices of a mesh.

        Args:
            mesh: any object with ``vertices`` (trimesh, open3d) or ``points`` (pyvista, meshio, scipy's ``ConvexHull``), (n, 3).
        """
        for name in ("vertices", "points"):
            points = getattr(mesh, name, None)
            if points is None or callable(points):
                continue
            # scipy's ConvexHull has points, and their numbers as vertices.
            rows = array_of(name, points)
            if rows.ndim == 2:
                return cls(rows)
        raise InvalidTypeError(f"mesh is of the type {type(mesh).__name__}, it must have vertices or points, (n, 3)")

    def rounded(self, radius: float) -> Hull:
        """The same hull with this rounding radius: all points within this distance of it, in the hull's own units."""
        return Hull._of(self._native.rounded(real("radius", radius)))

    def simplify(self, max_vertices: int) -> tuple[Hull, float]:
        """A hull of at most so many of these vertices, and how far the others lie outside of it, in the hull's own units, rounded up.

        Raises:
            InvalidInputError: fewer vertices than a hull of this dimension needs.
        """
        native, distance = self._native.simplify(whole("max_vertices", max_vertices))
        return Hull._of(native), distance

    @property
    def vertices(self) -> npt.NDArray[np.float32]:
        """The extreme points, (n, 3), in the order in which they first appear in the input."""
        return self._native.vertices  # type: ignore[no-any-return]

    @property
    def faces(self) -> list[npt.NDArray[np.uint32]]:
        """The faces, each the rows of its vertices, counter-clockwise seen from outside, starting at the lowest.

        A polygon has two faces, one each way; a segment and a point have none.
        """
        offsets, corners = self._native.faces
        return np.split(corners, offsets[1:-1].astype(np.intp)) if len(offsets) > 1 else []

    @property
    def triangles(self) -> npt.NDArray[np.uint32]:
        """The faces cut into triangles, (n, 3), each face a fan from its lowest vertex."""
        return self._native.triangles  # type: ignore[no-any-return]

    @property
    def edges(self) -> npt.NDArray[np.uint32]:
        """The edges, each once, (n, 2), the lower vertex first, in lexicographic order."""
        return self._native.edges  # type: ignore[no-any-return]

    def neighbours(self, vertex: int) -> npt.NDArray[np.uint32]:
        """The vertices that an edge joins to ``vertex``, ascending; none where there is no such vertex."""
        return self._native.neighbours(whole("vertex", vertex))  # type: ignore[no-any-return]

    @property
    def planes(self) -> npt.NDArray[np.float64]:
        """The planes of the faces, in their order, (n, 4): a unit normal out of the hull, and the offset. On the hull's side ``normal · p ≤ offset``."""
        normals, offsets = self._native.planes
        return np.column_stack([normals, offsets])

    @property
    def dimension(self) -> Dimension:
        """A point, a segment, a polygon, a solid or a half-space: decided exactly."""
        return Dimension(self._native.dimension)

    @property
    def mean(self) -> npt.NDArray[np.float64]:
        """The mean of the vertices, (3,)."""
        return np.array(self._native.mean)

    @property
    def radius(self) -> float:
        """The largest distance of a vertex from :attr:`mean`, without the rounding radius."""
        return self._native.radius

    @property
    def rounding(self) -> float:
        """The rounding radius, in the hull's own units."""
        return self._native.rounding

    @property
    def volume(self) -> float:
        """The volume without the rounding; 0 for a hull that is not a solid."""
        return self._native.volume

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hull):
            return NotImplemented
        return bool(self._native.equals(other._native))

    def __hash__(self) -> int:
        # The library holds no negative zero, so equal vertices have equal bytes.
        return hash((zlib.crc32(self.vertices.tobytes()), self.rounding, self._native.dimension))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (self.vertices, self.rounding, self.dimension == Dimension.HALF_SPACE))

    def __repr__(self) -> str:
        rounding = f", rounded by {self.rounding:g}" if self.rounding else ""
        name = self.dimension.name.lower().replace("_", "-")
        return f"<hullfield.collide.Hull: {name} of {len(self.vertices)} vertices{rounding}>"


def _rebuild(vertices: npt.NDArray[np.float32], rounding: float, is_half_space: bool) -> Hull:
    hull = Hull.half_space() if is_half_space else Hull(vertices)
    return hull.rounded(rounding) if rounding else hull


def natives_of(hulls: Sequence[Hull]) -> list[_native.Hull]:
    """The native hulls of a sequence."""
    return [hull._native for hull in all_of("hulls", hulls, Hull)]
