"""The columns of bodies, rays and shape casts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, array_of, floats, indices
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield.collide._matrices import perpendicular
from hullfield.collide._numbers import (
    column,
    flag,
    numbers_column,
    pairs_column,
    positions_column,
    real_type,
    rows_of,
    scales_column,
)


class BodyColumns:
    """The bodies of a query: hulls at places, a row for each body.

    A column that is one number, or one row, stands for all bodies. The arrays are copied, so that they may be changed afterwards; make
    the columns once where several queries take them. They are immutable, and pickle.

    Args:
        hulls: the hull of each body, by its number in the arena, (n,).
        positions: where the hull's origin is, (n, 3), in world units; the origin by default. Float32 is taken as it is. Float64, and
            anything that is not float32, counts exactly as given: where float32 holds all of these numbers it is used, else queries work with
            float64 positions, whose layout takes a few times as long. So cast to float32 where its rounding is good enough.
        rotations: unit quaternions ``x, y, z, w``, (n, 4), float32; a length within 1e-3 of 1 is divided out.
        scales: (n, 3) along the hull's own axes, (n, 1) along all, (3,), or one number; each above 0.
        paddings: (n,): how much larger the body is than its hull on all sides, in world units, ≥ 0.
        groups: (n,): the groups that the body belongs to, one bit each; all by default. Two bodies are a pair where neither
            ``group[a] & mask[b]`` nor ``group[b] & mask[a]`` is 0. Given pairs ignore groups.
        masks: (n,): the groups that the body meets, one bit each; all by default.
        worlds: (n,): only bodies of one world meet. Rows are grouped by world.
        owners: (n,): the compound or link that the body is a part of: bodies of one owner never meet.
        exclusions: pairs that are not tested, (m, 2), of owners where there are owners, else of bodies.
        static_exclusions: pairs of a body, or an owner, and a static of the arena that are not tested, (m, 2).

    Raises:
        InvalidInputError: columns of different lengths, a body that is excluded from itself. Queries check the numbers.
        InvalidTypeError: bools, objects or text for numbers.

    Cost: one pass over the columns; a body takes 64 bytes, and 24 more where positions are in float64.
    """

    __slots__ = ("_link_count", "_native")

    #: How many links the robot has that the bodies belong to; None where they are of no robot.
    _link_count: int | None

    def __init__(
        self,
        hulls: ArrayLike,
        positions: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        scales: ArrayLike | None = None,
        *,
        paddings: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        worlds: ArrayLike | None = None,
        owners: ArrayLike | None = None,
        exclusions: ArrayLike | None = None,
        static_exclusions: ArrayLike | None = None,
    ) -> None:
        hull_rows, count = leading("hulls", hulls, {"positions": positions, "rotations": rotations, "scales": scales})
        short, wide = (None, None) if positions is None else positions_column("positions", positions, count)
        self._link_count = None
        self._native = _native.BodyColumns(
            hull_rows,
            short,
            wide,
            column("rotations", rotations, count, 4),
            scales_column(scales, count),
            column("paddings", paddings, count),
            numbers_column("groups", groups, count),
            numbers_column("masks", masks, count),
            numbers_column("worlds", worlds, count),
            numbers_column("owners", owners, count),
            pairs_column("exclusions", exclusions),
            pairs_column("static_exclusions", static_exclusions),
        )

    @classmethod
    def from_matrices(
        cls, hulls: ArrayLike, matrices: ArrayLike, *, orthonormalize: bool = False, **columns: Any
    ) -> BodyColumns:
        """Bodies at affine matrices: rotation, scale along each axis, and translation.

        Args:
            hulls: as for the class.
            matrices: (n, 4, 4), or (4, 4) for one body, the translation in the last column, the last row 0, 0, 0, 1. Translations of float64 count as given, as
                positions do; the rest is rounded to float32.
            orthonormalize: whether axes that are not perpendicular are replaced by the nearest ones that are, with their lengths kept.
            columns: the other columns of the class.

        Raises:
            InvalidInputError: a matrix that shears, mirrors, scales by 0 or is not affine, with its row. Axes are perpendicular where the cosine
                of their angle is at most 1e-5.
        """
        for name in ("positions", "rotations", "scales"):
            if name in columns:
                raise InvalidInputError(f"{name} is given, but the matrices say it")
        dtype = real_type(matrices)
        array = floats("matrices", matrices, None, dtype, any_shape=True)
        if array.shape == (4, 4):
            array = array[None]
        if array.ndim != 3 or array.shape[1:] != (4, 4):
            raise InvalidInputError(f"matrices has the shape {array.shape}, it must be (n, 4, 4)")
        if flag("orthonormalize", orthonormalize):
            array = perpendicular("matrices", array)
        with np.errstate(over="ignore"):
            rotations, scales = _native.poses_of_matrices(np.ascontiguousarray(array, dtype=np.float32))
        return cls(hulls, np.ascontiguousarray(array[:, :3, 3]), rotations, scales, **columns)

    def to_matrices(self) -> npt.NDArray[np.float64]:
        """The poses as affine matrices, (n, 4, 4), in float64."""
        columns = self.arrays()
        x, y, z, w = _unit(columns["rotations"]).T
        matrices = np.zeros((len(self), 4, 4))
        matrices[:, 0, :3] = np.column_stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)])
        matrices[:, 1, :3] = np.column_stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)])
        matrices[:, 2, :3] = np.column_stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)])
        matrices[:, :3, :3] *= columns["scales"][:, None, :]
        matrices[:, :3, 3] = columns["positions"]
        matrices[:, 3, 3] = 1
        return matrices

    @property
    def is_f64(self) -> bool:
        """Whether queries work with float64 positions, because float32 does not hold the numbers given."""
        return self._native.is_f64

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of the columns by their names: hulls, positions, rotations, scales, paddings, groups and masks always, the rest where given."""
        count, given = len(self), self._native.arrays()
        return {
            **{name: np.tile(value, (count, 1) if value.ndim else count) for name, value in _DEFAULTS.items()},
            **given,
        }

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_bodies, (self._native.arrays(), self._link_count))

    def __repr__(self) -> str:
        return f"<hullfield.collide.BodyColumns: {len(self)} bodies>"


_DEFAULTS: dict[str, npt.NDArray[Any]] = {
    "rotations": np.array([0, 0, 0, 1], np.float32),
    "scales": np.ones(3, np.float32),
    "paddings": np.array(0, np.float32),
    "groups": np.array(0xFFFF_FFFF, np.uint32),
    "masks": np.array(0xFFFF_FFFF, np.uint32),
}


def _bodies(columns: dict[str, Any], link_count: int | None = None) -> BodyColumns:
    bodies = BodyColumns(**columns)
    bodies._link_count = link_count
    return bodies


def _unit(rotations: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    wide = rotations.astype(np.float64)
    unit: npt.NDArray[np.float64] = wide / np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    return unit


def leading(name: str, value: ArrayLike, others: dict[str, ArrayLike | None]) -> tuple[npt.NDArray[np.uint32], int]:
    """The column that numbers hulls or compounds, and how many bodies there are: as many as it has rows, or else as other columns have."""
    count = None
    if type(value) is int or array_of(name, value).ndim == 0:
        given = ((other, rows_of(other, array)) for other, array in others.items() if array is not None)
        count = next((rows for _, rows in given if rows is not None), 1)
    rows = indices(name, value, count=count)
    return rows, len(rows)


class RayColumns:
    """The rays of a query, a row for each. A column that is one number, or one row, stands for all. Immutable; they pickle.

    Args:
        origins: where the rays start, (n, 3), in world units. Float32 is taken as it is, float64 exactly as given.
        directions: where they go, (n, 3) or (3,), float32: any finite vector but 0. Its length does not matter.
        max_distances: how far they go, (n,), in world units, ≥ 0; without an end by default.
        groups: (n,): groups that the ray belongs to, as for bodies.
        masks: (n,): groups that the ray meets.
        worlds: (n,): the world of each ray, where the bodies have worlds.
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        max_distances: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        worlds: ArrayLike | None = None,
    ) -> None:
        count = rows_of("origins", origins)
        if count is None and array_of("origins", origins).size == 0:
            count = 0
        if count is None:
            count = rows_of("directions", directions)
        count = 1 if count is None else count
        short, wide = positions_column("origins", origins, count)
        directions_f32 = (
            np.zeros((0, 3), np.float32) if count == 0 else floats("directions", directions, 3, np.float32, count=count)
        )
        self._native = _native.RayColumns(
            directions_f32,
            short,
            wide,
            column("max_distances", max_distances, count),
            numbers_column("groups", groups, count),
            numbers_column("masks", masks, count),
            numbers_column("worlds", worlds, count),
        )

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of the columns by their names; worlds only where given."""
        return self._native.arrays()

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rays, (self._native.arrays(),))

    def __repr__(self) -> str:
        return f"<hullfield.collide.RayColumns: {len(self)} rays>"


def _rays(columns: dict[str, Any]) -> RayColumns:
    return RayColumns(**columns)


class ShapeCastColumns:
    """Shapes that move along straight lines without turning, a row for each. Immutable; they pickle.

    Args:
        shapes: the shapes, where they start: any hulls of the arena but half-spaces. Groups and worlds are those of the casts.
        directions: where they go, (n, 3) or (3,), float32: any finite vector but 0. Its length does not matter.
        max_distances: how far they go, (n,), in world units, ≥ 0; without an end by default.
    """

    __slots__ = ("_native", "_shapes")

    def __init__(self, shapes: BodyColumns, directions: ArrayLike, max_distances: ArrayLike | None = None) -> None:
        bodies_of("shapes", shapes)
        self._shapes, count = shapes, len(shapes)
        self._native = _native.ShapeCastColumns(
            shapes._native,
            floats("directions", directions, 3, np.float32, count=count),
            column("max_distances", max_distances, count),
        )

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_casts, (self._shapes, self._native.arrays()))

    def __repr__(self) -> str:
        return f"<hullfield.collide.ShapeCastColumns: {len(self)} casts>"


def _casts(shapes: BodyColumns, columns: dict[str, Any]) -> ShapeCastColumns:
    return ShapeCastColumns(shapes, **columns)


def bodies_of(name: str, value: object) -> Any:
    """The native columns of bodies."""
    if not isinstance(value, BodyColumns):
        raise InvalidTypeError(f"{name} is of the type {type(value).__name__}, it must be BodyColumns")
    return value._native


def rays_of(value: object) -> Any:
    """The native columns of rays."""
    if not isinstance(value, RayColumns):
        raise InvalidTypeError(f"rays is of the type {type(value).__name__}, it must be RayColumns")
    return value._native


def casts_of(value: object) -> Any:
    """The native columns of shape casts."""
    if not isinstance(value, ShapeCastColumns):
        raise InvalidTypeError(f"casts is of the type {type(value).__name__}, it must be ShapeCastColumns")
    return value._native
