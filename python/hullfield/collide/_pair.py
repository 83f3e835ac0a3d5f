"""Queries of one pair of hulls, and of a ray or a point and a hull: in f64, without an arena.

Rows are single rows of the arena's batches of the same name: ``row["separation"]``. In them ``a`` is 0 and ``b`` is 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, array_of, floats, point
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._scalars import flag, real
from hullfield.collide._hull import Hull
from hullfield.collide._matrices import perpendicular


class Pose:
    """The pose of a hull: a vertex ``v`` is at ``position + rotation · (scale ⊙ v)``. Immutable; equal poses hash alike; it pickles.

    Args:
        position: (3,), in world units, rounded to float32. (:class:`BodyColumns` keeps float64.)
        rotation: a unit quaternion ``x, y, z, w``, (4,), float32; or a rotation of scipy.
        scale: along the hull's own axes, (3,), or one number for all; above 0.
    """

    __slots__ = ("_native", "_numbers")

    def __init__(
        self,
        position: ArrayLike = (0.0, 0.0, 0.0),
        rotation: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        scale: ArrayLike = 1.0,
    ) -> None:
        is_one = type(scale) in (float, int) or array_of("scale", scale).ndim == 0
        scales: Any = [real("scale", scale)] * 3 if is_one else scale
        self._numbers = (
            tuple(point("position", position, 3, np.float32)),
            tuple(point("rotation", rotation, 4, np.float32)),
            tuple(point("scale", scales, 3, np.float32)),
        )
        self._native = _native.Pose(*self._numbers)

    @classmethod
    def of_half_space(cls, normal: ArrayLike, offset: float) -> Pose:
        """The pose in which :meth:`Hull.half_space` is all points with ``normal · x ≤ offset``, the normal a unit vector, (3,)."""
        return cls(*_native.pose_of_half_space(point("normal", normal, 3), real("offset", offset)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, orthonormalize: bool = False) -> Pose:
        """The pose of an affine matrix, (4, 4): rotation, scale along each axis, translation in the last column.

        Args:
            matrix: the matrix.
            orthonormalize: whether axes that are not perpendicular are replaced by the nearest ones that are, with their lengths kept.

        Raises:
            InvalidInputError: it shears, mirrors, scales by 0, or is not affine.
        """
        array = floats("matrix", matrix, 4, np.float32)
        if array.shape != (4, 4):
            raise InvalidInputError(f"matrix has the shape {array.shape}, it must be (4, 4)")
        if flag("orthonormalize", orthonormalize):
            array = perpendicular("matrix", array)
        rotations, scales = _native.poses_of_matrices(array[None])
        return cls(array[:3, 3], rotations[0], scales[0])

    @property
    def position(self) -> npt.NDArray[np.float32]:
        """World position of the hull's origin, (3,)."""
        return np.array(self._numbers[0], np.float32)

    @property
    def rotation(self) -> npt.NDArray[np.float32]:
        """Unit quaternion ``x, y, z, w``, (4,)."""
        return np.array(self._numbers[1], np.float32)

    @property
    def scale(self) -> npt.NDArray[np.float32]:
        """Scale along the hull's own axes, (3,)."""
        return np.array(self._numbers[2], np.float32)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pose):
            return NotImplemented
        return self._numbers == other._numbers

    def __hash__(self) -> int:
        return hash(self._numbers)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Pose, self._numbers)

    def __repr__(self) -> str:
        position, rotation, scale = self._numbers
        return f"Pose(position={position}, rotation={rotation}, scale={scale})"


def _hull(name: str, hull: Hull, pose_name: str, pose: Pose | None) -> tuple[Any, Any]:
    if not isinstance(hull, Hull):
        raise InvalidTypeError(f"{name} is of the type {type(hull).__name__}, it must be a Hull")
    if pose is None:
        return hull._native, None
    if not isinstance(pose, Pose):
        raise InvalidTypeError(f"{pose_name} is of the type {type(pose).__name__}, it must be a Pose")
    return hull._native, pose._native


def _pair(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None) -> tuple[Any, ...]:
    if type(a) is Hull and type(b) is Hull and type(pose_a) in _POSES and type(pose_b) in _POSES:
        at_a = None if pose_a is None else pose_a._native
        return a._native, at_a, b._native, None if pose_b is None else pose_b._native
    return (*_hull("a", a, "pose_a", pose_a), *_hull("b", b, "pose_b", pose_b))


_POSES = (Pose, type(None))


def intersects(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None) -> bool:
    """Whether two hulls touch or overlap, to within ¾ of the tolerance τ. A pose of None is at the origin.

    Raises:
        InvalidInputError: a number of a pose that is NaN or out of range; two half-spaces.

    Cost: microseconds for small hulls. For many pairs an :class:`Arena` is faster.
    """
    return _native.pair_intersects(*_pair(a, pose_a, b, pose_b))


def intersection(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None) -> np.void:
    """The verdict for two hulls, with a separating axis where they are apart: a row as of :meth:`Arena.intersections`."""
    return _native.pair_intersection(*_pair(a, pose_a, b, pose_b))  # type: ignore[no-any-return]


def distance(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None) -> np.void:
    """The distance of two hulls and their nearest points, within 1e-9 of the sum of the radii: a row as of :meth:`Arena.distances`."""
    return _native.pair_distance(*_pair(a, pose_a, b, pose_b))  # type: ignore[no-any-return]


def distance_lower_bound(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None) -> float:
    """A lower bound of the distance of two hulls, ≥ 0 and quick to compute: for skipping pairs that are far apart."""
    return _native.pair_distance_lower_bound(*_pair(a, pose_a, b, pose_b))


def contact(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None) -> np.void:
    """The contact of two hulls: the depth or the distance, the normal, the points: a row as of :meth:`Arena.contacts`."""
    return _native.pair_contact(*_pair(a, pose_a, b, pose_b))  # type: ignore[no-any-return]


def gradient(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None) -> np.void:
    """How the separation of two hulls changes with their poses: a row as of :meth:`Arena.gradients`."""
    return _native.pair_gradient(*_pair(a, pose_a, b, pose_b))  # type: ignore[no-any-return]


def manifold(a: Hull, pose_a: Pose | None, b: Hull, pose_b: Pose | None, *, margin: float = 0.0) -> np.void:
    """As :func:`contact`, with up to four points that hold a body at rest: a row as of :meth:`Arena.manifolds`.

    Args:
        margin: points that are farther apart are left out, in world units, ≥ 0, except for the nearest point.
    """
    row = _native.pair_manifold(*_pair(a, pose_a, b, pose_b), real("margin", margin))
    return row  # type: ignore[no-any-return]


def sweep(
    a: Hull,
    pose_a: Pose | None,
    velocity_a: ArrayLike,
    b: Hull,
    pose_b: Pose | None,
    velocity_b: ArrayLike,
    *,
    angular_velocity_a: ArrayLike = (0.0, 0.0, 0.0),
    angular_velocity_b: ArrayLike = (0.0, 0.0, 0.0),
    duration: float = 1.0,
) -> np.void:
    """When two moving hulls first meet, with normal and points: a row as of :meth:`Arena.sweeps`.

    Args:
        a: the first hull.
        pose_a: where it starts.
        velocity_a: of its origin, (3,), in world units per second.
        b: the second hull.
        pose_b: where it starts.
        velocity_b: of its origin.
        angular_velocity_a: about its origin, (3,), in radians per second, world axes.
        angular_velocity_b: likewise.
        duration: in seconds, ≥ 0.
    """
    motion_a = point("velocity_a", velocity_a, 3), point("angular_velocity_a", angular_velocity_a, 3)
    motion_b = point("velocity_b", velocity_b, 3), point("angular_velocity_b", angular_velocity_b, 3)
    hull_a, at_a, hull_b, at_b = _pair(a, pose_a, b, pose_b)
    row = _native.pair_sweep(hull_a, at_a, motion_a, hull_b, at_b, motion_b, real("duration", duration))
    return row  # type: ignore[no-any-return]


def raycast(
    hull: Hull,
    pose: Pose | None,
    origin: ArrayLike,
    direction: ArrayLike,
    *,
    max_distance: float = np.inf,
) -> np.void | None:
    """Where a ray hits a hull: a row as of :meth:`Arena.raycasts`, None where it misses.

    Args:
        hull: the hull.
        pose: where it is.
        origin: where the ray starts, (3,), in world units, float32.
        direction: where it goes, (3,): any vector but 0.
        max_distance: how far it goes, in world units, ≥ 0.
    """
    start, way = point("origin", origin, 3), point("direction", direction, 3)
    native, at = _hull("hull", hull, "pose", pose)
    return _native.hull_raycast(native, at, start, way, real("max_distance", max_distance))  # type: ignore[no-any-return]


def nearest_point(hull: Hull, pose: Pose | None, point_: ArrayLike) -> np.void:
    """The point of a hull's surface that is nearest to a point, (3,), and the signed distance: a row as of :meth:`Arena.nearest_points`."""
    row = _native.hull_nearest_point(*_hull("hull", hull, "pose", pose), point("point", point_, 3))
    return row  # type: ignore[no-any-return]
