"""Which convex bodies touch, how far apart they are, how deep, where, and when.

Units, frames, tolerances and what a verdict is worth are those of the Rust library: lengths in the caller's units, rotations as unit
quaternions ``x, y, z, w``, a vertex ``v`` of a body at ``position + rotation · (scale ⊙ v)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import floats, indices, point
from hullfield._batch import Batch
from hullfield._engine import Engine, engine_or_auto
from hullfield._errors import InvalidInputError
from hullfield._pending import Pending, query

__all__ = ["Arena", "BodyColumns", "Hull", "Stats", "Status"]


class Status(IntEnum):
    """What two bodies do. Touching is within the tolerance of the verdict on either side of zero."""

    SEPARATED = 0
    TOUCHING = 1
    PENETRATING = 2


@dataclass(frozen=True)
class Stats:
    """What a query did, and how long its parts took, in milliseconds."""

    candidate_count: int
    skipped_count: int
    hit_count: int
    refined_count: int
    settled_count: int
    rerun_count: int
    upload_ms: float
    compile_ms: float
    kernels_ms: float
    readback_ms: float
    settle_ms: float
    total_ms: float


class Hull:
    """The convex hull of some points, with a rounding radius: a box, a ball, a capsule, a triangle, any convex solid."""

    __slots__ = ("_native",)

    def __init__(self, points: npt.ArrayLike) -> None:
        """The convex hull of points, (n, 3). Duplicates and points inside are fine; NaN and infinity are errors."""
        self._native = _native.Hull.from_points(floats("points", points, 3, np.float32))

    @classmethod
    def _of(cls, native: _native.Hull) -> Hull:
        hull = cls.__new__(cls)
        hull._native = native
        return hull

    @classmethod
    def cuboid(cls, half: npt.ArrayLike) -> Hull:
        """A box about the origin with these half-lengths along x, y and z."""
        return cls._of(_native.Hull.cuboid(point("half", half, 3)))

    @classmethod
    def ball(cls, radius: float) -> Hull:
        """A ball about the origin."""
        return cls._of(_native.Hull.ball(radius))

    @property
    def vertices(self) -> npt.NDArray[np.float32]:
        """The vertices, (n, 3)."""
        return self._native.vertices  # type: ignore[no-any-return]


class BodyColumns:
    """The bodies of a query, as columns with a row for each body.

    Args:
        hulls: the hull of each body, by its number in the arena, (n,); or one number for all.
        positions: (n, 3), in world units. Float64 is exact as given; where float32 can hold the same numbers it is used, which is faster.
    """

    __slots__ = ("_native",)

    def __init__(self, hulls: npt.ArrayLike, positions: npt.ArrayLike | None = None) -> None:
        count = None if positions is None else len(np.asarray(positions))
        hull_rows = indices("hulls", hulls, count=count)
        position_f32 = None if positions is None else floats("positions", positions, 3, np.float32)
        self._native = _native.BodyColumns(hull_rows, position_f32, None, None, None, None, None, None, None, None)

    def __len__(self) -> int:
        return len(self._native)


class Arena:
    """The hulls of a scene, laid out and uploaded once, and the queries over bodies made of them."""

    __slots__ = ("_engine", "_hulls", "_native")

    def __init__(
        self,
        hulls: Sequence[Hull],
        *,
        engine: Engine | None = None,
        precision: str = "fast",
        warm_start: bool = False,
    ) -> None:
        if precision not in ("fast", "exact"):
            raise InvalidInputError(f"precision is {precision!r}, it must be 'fast' or 'exact'")
        self._engine = engine_or_auto(engine)
        self._hulls = list(hulls)
        natives = [hull._native for hull in self._hulls]
        self._native = _native.Arena(self._engine._native, natives, precision == "exact", warm_start)

    @query
    def intersections(self, bodies: BodyColumns, pairs: npt.ArrayLike | str = "broad_phase") -> Pending[Batch[Stats]]:
        """Which bodies touch.

        Args:
            bodies: the bodies.
            pairs: ``"broad_phase"``, ``"exhaustive"``, or the pairs to examine, (n, 2).

        Returns:
            A row for each hit, sorted by (a, b), a < b; for given pairs a row for each, in their order. Fields: ``a``, ``b``, ``status``, and
            ``axis``, a unit vector that shows the gap of a separated pair, else NaN.
        """
        given = pairs if isinstance(pairs, str) else indices("pairs", pairs, 2)
        return Pending(self._native.intersections(bodies._native, given), _batch)


def _batch(answer: tuple[npt.NDArray[Any], dict[str, Any]]) -> Batch[Stats]:
    rows, stats = answer
    return Batch(rows, Stats(**stats))
