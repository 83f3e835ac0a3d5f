"""Bodies of several hulls, and height fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, array_of, floats, point
from hullfield._batch import Batch
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._grids import raster_of
from hullfield._pending import Pending, query
from hullfield._scalars import real, whole
from hullfield.collide._arena import Arena, cast_options, motion_columns, point_columns
from hullfield.collide._columns import (
    BodyColumns,
    RayColumns,
    ShapeCastColumns,
    bodies_of,
    casts_of,
    leading,
    rays_of,
)
from hullfield.collide._limits import refuse_all
from hullfield.collide._numbers import all_of, column, flag, numbers_column, pairs_argument, pairs_column, scales_column
from hullfield.collide._rows import Stats, batch


class Compound:
    """The shape of a body of several hulls: a convex decomposition, or the triangles of a mesh as a solid's skin. Immutable; it pickles.

    Args:
        hulls: the hull of each part, by its number in the arena, (n,); no half-spaces.
        positions: where each part is in the compound's frame, (n, 3), float32; at its origin by default.
        rotations: unit quaternions ``x, y, z, w``, (n, 4).
        scales: (n, 3), (n, 1), (3,) or one number.
        paddings: how much larger the parts are on all sides, (n,), in the compound's units, ≥ 0.
    """

    __slots__ = ("_columns",)

    def __init__(
        self,
        hulls: ArrayLike | range,
        positions: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        scales: ArrayLike | None = None,
        *,
        paddings: ArrayLike | None = None,
    ) -> None:
        given: Any = hulls
        rows, count = leading("hulls", given, {"positions": positions, "rotations": rotations, "scales": scales})
        columns = (
            rows,
            column("positions", (0.0, 0.0, 0.0) if positions is None else positions, count, 3),
            column("rotations", (0.0, 0.0, 0.0, 1.0) if rotations is None else rotations, count, 4),
            scales_column(1.0 if scales is None else scales, count),
            column("paddings", 0.0 if paddings is None else paddings, count),
        )
        self._columns = tuple(np.array(part) for part in columns)

    def __len__(self) -> int:
        return len(self._columns[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return (_compound, self._columns)

    def __repr__(self) -> str:
        return f"<hullfield.collide.Compound: {len(self)} parts>"


def _compound(hulls: Any, positions: Any, rotations: Any, scales: Any, paddings: Any) -> Compound:
    return Compound(hulls, positions, rotations, scales, paddings=paddings)


class HeightField:
    """A surface over a grid of heights: terrain. Columns run along x, rows along z, heights along y. Immutable; it pickles.

    The height in row ``r`` and column ``c`` is at ``origin + [c · spacing[0], height, r · spacing[1]]``. Each cell between four neighbouring
    heights is two triangles: part ``2 · cell`` has the corners ``(r, c)``, ``(r + 1, c)``, ``(r, c + 1)``, part ``2 · cell + 1`` has
    ``(r + 1, c)``, ``(r + 1, c + 1)``, ``(r, c + 1)``; ``cell`` is ``r · (columns - 1) + c``. It is a surface with two sides, not a solid:
    what has sunk through it hits nothing.

    Args:
        heights: (rows, columns), at least 2 by 2, in the field's units, float32. NaN is a hole, and so is a masked cell.
        spacing: that of columns and of rows, (2,), or one number.
        origin: where the first height is, (3,), in the field's frame.
    """

    __slots__ = ("_native",)

    def __init__(self, heights: ArrayLike, spacing: ArrayLike, origin: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        given = raster_of("heights", heights).filled(np.nan)
        grid = floats("heights", given, None, np.float32, any_shape=True)
        if grid.ndim != 2:
            raise InvalidInputError(f"heights has the shape {grid.shape}, it must be (rows, columns)")
        steps = (
            [real("spacing", spacing)] * 2 if array_of("spacing", spacing).ndim == 0 else point("spacing", spacing, 2)
        )
        self._native = _native.HeightField(grid, steps, point("origin", origin, 3))

    @property
    def heights(self) -> npt.NDArray[np.float32]:
        """The heights, (rows, columns)."""
        return self._native.heights  # type: ignore[no-any-return]

    @property
    def spacing(self) -> npt.NDArray[np.float32]:
        """The spacing of columns and of rows, (2,)."""
        return np.array(self._native.spacing, np.float32)

    @property
    def origin(self) -> npt.NDArray[np.float32]:
        """Where the first height is, (3,)."""
        return np.array(self._native.origin, np.float32)

    @property
    def part_count(self) -> int:
        """How many triangles there are, those at holes included."""
        return self._native.part_count

    def triangle(self, part: int) -> npt.NDArray[np.float64] | None:
        """The corners of a triangle, (3, 3), in the field's frame; None for one at a hole, and past the last."""
        return self._native.triangle(whole("part", part))  # type: ignore[no-any-return]

    def __reduce__(self) -> tuple[Any, ...]:
        return (HeightField, (self.heights, self.spacing, self.origin))

    def __repr__(self) -> str:
        rows, columns = self.heights.shape
        return f"<hullfield.collide.HeightField: {rows} rows of {columns}>"


class CompoundColumns:
    """The bodies of a query over compounds, a row for each. A column that is one number, or one row, stands for all. Immutable; they pickle.

    Args:
        compounds: the compound of each body, by its number, (n,); height fields count on after the compounds.
        positions: where the compound's origin is, (n, 3), in world units, exactly as given.
        rotations: unit quaternions ``x, y, z, w``, (n, 4), float32.
        scales: along all axes, (n,), above 0.
        paddings: how much larger all parts are on all sides, (n,), in world units, ≥ 0.
        groups: (n,): groups that the body belongs to, as for :class:`BodyColumns`.
        masks: (n,): groups that the body meets.
        worlds: (n,): only bodies of one world meet.
        exclusions: pairs of bodies that are not tested, (m, 2).
        static_exclusions: pairs of a body and a static that are not tested, (m, 2): the arena's statics, then those of the compounds.
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        compounds: ArrayLike,
        positions: ArrayLike | None = None,
        rotations: ArrayLike | None = None,
        scales: ArrayLike | None = None,
        *,
        paddings: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        worlds: ArrayLike | None = None,
        exclusions: ArrayLike | None = None,
        static_exclusions: ArrayLike | None = None,
    ) -> None:
        rows, count = leading("compounds", compounds, {"positions": positions, "rotations": rotations})
        self._native = _native.CompoundColumns(
            rows,
            None if positions is None else floats("positions", positions, 3, np.float64, count=count),
            column("rotations", rotations, count, 4),
            column("scales", scales, count),
            column("paddings", paddings, count),
            numbers_column("groups", groups, count),
            numbers_column("masks", masks, count),
            numbers_column("worlds", worlds, count),
            pairs_column("exclusions", exclusions),
            pairs_column("static_exclusions", static_exclusions),
        )

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Copies of the columns by their names; worlds and exclusions only where given."""
        return self._native.arrays()

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_columns, (self._native.arrays(),))

    def __repr__(self) -> str:
        return f"<hullfield.collide.CompoundColumns: {len(self)} bodies>"


def _columns(columns: dict[str, Any]) -> CompoundColumns:
    return CompoundColumns(**columns)


def _bodies(name: str, value: object) -> Any:
    if not isinstance(value, CompoundColumns):
        raise InvalidTypeError(f"{name} is of the type {type(value).__name__}, it must be CompoundColumns")
    return value._native


def _part_count(bodies: CompoundColumns, sizes: npt.NDArray[np.int64]) -> int:
    """How many parts bodies have. Those of compounds that do not exist are an error of the query."""
    numbers = bodies.arrays()["compounds"]
    return int(sizes[numbers[numbers < len(sizes)]].sum())


class Compounds:
    """Compounds over the hulls of an arena, and the queries over bodies made of them.

    Rows are those of the arena's queries of the same names, with the parts that they are about: ``part_a`` and ``part_b``, or ``part``; 0 for a
    static of the arena. Queries find pairs of parts of different bodies; those named ``body_…`` give one row for each pair of bodies. In rows
    the arena's statics count on after the bodies, then ``statics``. A static of the arena is a single hull.

    Args:
        arena: the arena; it is kept as it is now.
        compounds: the compounds. Bodies name them by their numbers, from 0.
        height_fields: numbered on after the compounds. All queries meet them; :meth:`nearest_bodies` as statics alone.
        statics: bodies that do not move. Every query meets them, but not one another.

    Raises:
        InvalidInputError: a part or a static that can't be used, with its place.

    They pickle as what they were made of.

    >>> from hullfield.collide import Arena, Compound, CompoundColumns, Compounds, Hull
    >>> arena = Arena([Hull.cuboid([1, 0.2, 0.2]), Hull.ball(0.5)])
    >>> dumbbell = Compound([0, 1, 1], [[0, 0, 0], [-1, 0, 0], [1, 0, 0]])
    >>> compounds = Compounds(arena, [dumbbell])
    >>> found = compounds.intersections(CompoundColumns(0, [[0, 0, 0], [2.9, 0, 0]]))
    >>> found["part_a"].tolist(), found["part_b"].tolist()  # the right ball of the first, the left ball of the second
    ([2], [1])
    """

    __slots__ = ("_given", "_native")

    def __init__(
        self,
        arena: Arena,
        compounds: Sequence[Compound],
        *,
        height_fields: Sequence[HeightField] = (),
        statics: CompoundColumns | None = None,
    ) -> None:
        if not isinstance(arena, Arena):
            raise InvalidTypeError(f"arena is of the type {type(arena).__name__}, it must be an Arena")
        given, terrain = all_of("compounds", compounds, Compound), all_of("height_fields", height_fields, HeightField)
        parts = [compound._columns for compound in given]
        fields = [field._native for field in terrain]
        still = None if statics is None else _bodies("statics", statics)
        self._native = _native.Compounds(arena._native, parts, fields, still)
        self._given = (arena._copy(), given, terrain, statics)

    @property
    def arena(self) -> Arena:
        """The arena, as it was then."""
        return self._given[0]

    @property
    def statics(self) -> CompoundColumns | None:
        """The bodies that do not move."""
        return self._given[3]

    def parts(self, bodies: CompoundColumns, row: int) -> BodyColumns:
        """The parts of one of the bodies as bodies of their own.

        Raises:
            InvalidInputError: the body does not exist, or is a height field, whose triangles are no hulls of the arena.
        """
        return BodyColumns(**self._native.parts(_bodies("bodies", bodies), whole("row", row)))

    @query
    def intersections(self, bodies: CompoundColumns, pairs: ArrayLike | str = "broad_phase") -> Pending[Batch[Stats]]:
        """Which parts touch: rows of :meth:`Arena.intersections`, with ``part_a`` and ``part_b``. Given pairs are of bodies: all their parts."""
        return self._measures("intersections", bodies, pairs, 0.0, False)

    @query
    def distances(
        self, bodies: CompoundColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float | None = None
    ) -> Pending[Batch[Stats]]:
        """How far parts are apart: as :meth:`Arena.distances`, with ``part_a`` and ``part_b``."""
        return self._measures("distances", bodies, pairs, self._margin(bodies, pairs, margin), False)

    @query
    def contacts(
        self, bodies: CompoundColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float = 0.0
    ) -> Pending[Batch[Stats]]:
        """How deep parts overlap, and where: as :meth:`Arena.contacts`, with ``part_a`` and ``part_b``."""
        return self._measures("contacts", bodies, pairs, margin, False)

    @query
    def manifolds(
        self, bodies: CompoundColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float = 0.0
    ) -> Pending[Batch[Stats]]:
        """As :meth:`Arena.manifolds`, with ``part_a`` and ``part_b``."""
        return self._measures("manifolds", bodies, pairs, margin, False)

    @query
    def body_intersections(
        self, bodies: CompoundColumns, pairs: ArrayLike | str = "broad_phase"
    ) -> Pending[Batch[Stats]]:
        """Which bodies touch: one row a pair of bodies, with the parts that show it."""
        return self._measures("intersections", bodies, pairs, 0.0, True)

    @query
    def body_distances(
        self, bodies: CompoundColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float | None = None
    ) -> Pending[Batch[Stats]]:
        """How far bodies are apart: one row a pair of bodies, that of the nearest parts."""
        return self._measures("distances", bodies, pairs, self._margin(bodies, pairs, margin), True)

    @query
    def body_contacts(
        self, bodies: CompoundColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float = 0.0
    ) -> Pending[Batch[Stats]]:
        """How deep bodies overlap: one row a pair of bodies, that of the deepest parts."""
        return self._measures("contacts", bodies, pairs, margin, True)

    def _margin(self, bodies: CompoundColumns, pairs: ArrayLike | str, margin: float | None) -> float:
        """A margin; without one an infinite one, where the parts don't have too many pairs."""
        _bodies("bodies", bodies)
        if margin is not None:
            return real("margin", margin)
        if isinstance(pairs, str):
            _, compounds, fields, statics = self._given
            sizes = np.array([*(len(part) for part in compounds), *(field.part_count for field in fields)], np.int64)
            moving, still = (0 if rows is None else _part_count(rows, sizes) for rows in (bodies, statics))
            refuse_all(moving * (moving - 1) // 2 + moving * (still + self.arena._static_count))
        return np.inf

    def _measures(
        self, name: str, bodies: CompoundColumns, pairs: ArrayLike | str, margin: float, of_bodies: bool
    ) -> Pending[Batch[Stats]]:
        columns, limit = _bodies("bodies", bodies), real("margin", margin)
        return Pending(self._native.measures(name, columns, pairs_argument(pairs), limit, of_bodies), batch)

    @query
    def sweeps(
        self,
        bodies: CompoundColumns,
        velocities: ArrayLike,
        angular_velocities: ArrayLike | None = None,
        pairs: ArrayLike | str = "broad_phase",
        *,
        duration: float = 1.0,
        witness: bool = False,
    ) -> Pending[Batch[Stats]]:
        """When parts of moving bodies first meet: as :meth:`Arena.sweeps`, with ``part_a`` and ``part_b``. Bodies turn about their positions."""
        return self._sweeps(bodies, velocities, angular_velocities, pairs, duration, witness, False)

    @query
    def body_sweeps(
        self,
        bodies: CompoundColumns,
        velocities: ArrayLike,
        angular_velocities: ArrayLike | None = None,
        pairs: ArrayLike | str = "broad_phase",
        *,
        duration: float = 1.0,
        witness: bool = False,
    ) -> Pending[Batch[Stats]]:
        """When moving bodies first meet: one row a pair of bodies, that of the parts that meet first."""
        return self._sweeps(bodies, velocities, angular_velocities, pairs, duration, witness, True)

    def _sweeps(
        self,
        bodies: CompoundColumns,
        velocities: ArrayLike,
        angular_velocities: ArrayLike | None,
        pairs: ArrayLike | str,
        duration: float,
        witness: bool,
        of_bodies: bool,
    ) -> Pending[Batch[Stats]]:
        columns, count = _bodies("bodies", bodies), len(bodies)
        motions = motion_columns(velocities, angular_velocities, count)
        options = real("duration", duration), flag("witness", witness)
        return Pending(self._native.sweeps(columns, *motions, pairs_argument(pairs), *options, of_bodies), batch)

    @query
    def raycasts(self, bodies: CompoundColumns, rays: RayColumns, *, skip_start: bool = False) -> Pending[Batch[Stats]]:
        """What each ray hits first: as :meth:`Arena.raycasts`, with ``part``."""
        columns = _bodies("bodies", bodies), rays_of(rays)
        return Pending(self._native.raycasts(*columns, flag("skip_start", skip_start), False), batch)

    @query
    def raycasts_all(
        self, bodies: CompoundColumns, rays: RayColumns, *, skip_start: bool = False
    ) -> Pending[Batch[Stats]]:
        """All parts that each ray hits: as :meth:`Arena.raycasts_all`, with ``part``."""
        columns = _bodies("bodies", bodies), rays_of(rays)
        return Pending(self._native.raycasts(*columns, flag("skip_start", skip_start), True), batch)

    @query
    def occlusions(
        self, bodies: CompoundColumns, rays: RayColumns, *, skip_start: bool = False
    ) -> Pending[Batch[Stats]]:
        """Whether each ray hits anything: as :meth:`Arena.occlusions`."""
        columns = _bodies("bodies", bodies), rays_of(rays)
        return Pending(self._native.occlusions(*columns, flag("skip_start", skip_start)), batch)

    @query
    def nearest_points(
        self,
        bodies: CompoundColumns,
        points: ArrayLike,
        *,
        worlds: ArrayLike | None = None,
        max_distance: float = np.inf,
    ) -> Pending[Batch[Stats]]:
        """The part whose surface is nearest to each point: as :meth:`Arena.nearest_points`, with ``part``."""
        places, worlds = point_columns(points, worlds)
        limit = real("max_distance", max_distance)
        return Pending(self._native.points(_bodies("bodies", bodies), places, worlds, limit), batch)

    @query
    def containments(
        self, bodies: CompoundColumns, points: ArrayLike, *, worlds: ArrayLike | None = None
    ) -> Pending[Batch[Stats]]:
        """All parts that contain each point: as :meth:`Arena.containments`, with ``part``."""
        places, worlds = point_columns(points, worlds)
        return Pending(self._native.points(_bodies("bodies", bodies), places, worlds, None), batch)

    @query
    def shape_casts(
        self, bodies: CompoundColumns, casts: ShapeCastColumns, *, skip_start: bool = False, witness: bool = False
    ) -> Pending[Batch[Stats]]:
        """What each shape meets first as it moves along a line: as :meth:`Arena.shape_casts`, with ``part``."""
        return self._casts("first", bodies, casts, skip_start, witness)

    @query
    def shape_casts_all(
        self, bodies: CompoundColumns, casts: ShapeCastColumns, *, skip_start: bool = False, witness: bool = False
    ) -> Pending[Batch[Stats]]:
        """All parts that each shape meets: as :meth:`Arena.shape_casts_all`, with ``part``."""
        return self._casts("all", bodies, casts, skip_start, witness)

    @query
    def shape_casts_any(
        self, bodies: CompoundColumns, casts: ShapeCastColumns, *, skip_start: bool = False
    ) -> Pending[Batch[Stats]]:
        """Whether each shape meets anything: as :meth:`Arena.shape_casts_any`."""
        return self._casts("any", bodies, casts, skip_start, False)

    def _casts(
        self, which: str, bodies: CompoundColumns, casts: ShapeCastColumns, skip_start: bool, witness: bool
    ) -> Pending[Batch[Stats]]:
        columns = _bodies("bodies", bodies), casts_of(casts)
        return Pending(self._native.shape_casts(which, *columns, *cast_options(skip_start, witness)), batch)

    @query
    def nearest_bodies(
        self, bodies: CompoundColumns, *, count: int = 1, max_distance: float = np.inf
    ) -> Pending[Batch[Stats]]:
        """The nearest other bodies of each body, by their nearest parts: as :meth:`Arena.nearest_bodies`, with ``part_a`` and ``part_b``."""
        options = whole("count", count), real("max_distance", max_distance)
        return Pending(self._native.nearest_bodies(_bodies("bodies", bodies), *options), batch)

    @query
    def nearest_bodies_to(
        self, bodies: CompoundColumns, shapes: BodyColumns, *, count: int = 1, max_distance: float = np.inf
    ) -> Pending[Batch[Stats]]:
        """The bodies nearest to each of some hulls that are not of the scene: as :meth:`Arena.nearest_bodies_to`, with ``part``."""
        options = whole("count", count), real("max_distance", max_distance)
        columns = _bodies("bodies", bodies), bodies_of("shapes", shapes)
        return Pending(self._native.nearest_bodies_to(*columns, *options), batch)

    @query
    def hits(self, bodies: CompoundColumns) -> Pending[Batch[Stats]]:
        """Whether each body touches any other or a static: rows are bools, (n,)."""
        return Pending(self._native.hits(_bodies("bodies", bodies)), batch)

    @query
    def hit_counts(self, bodies: CompoundColumns) -> Pending[Batch[Stats]]:
        """How many other bodies and statics each body touches: rows are numbers, (n,)."""
        return Pending(self._native.hit_counts(_bodies("bodies", bodies)), batch)

    def __len__(self) -> int:
        return len(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_compounds, self._given)

    def __repr__(self) -> str:
        return f"<hullfield.collide.Compounds: {len(self)} compounds and height fields>"


def _compounds(arena: Arena, compounds: Any, height_fields: Any, statics: Any) -> Compounds:
    return Compounds(arena, compounds, height_fields=height_fields, statics=statics)
