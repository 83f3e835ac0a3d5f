"""The arena: hulls laid out once, and the queries over bodies made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, floats, indices
from hullfield._batch import Batch
from hullfield._engine import Engine, engine_or_auto
from hullfield._errors import InvalidInputError
from hullfield._pending import Pending, query
from hullfield._scalars import real, whole
from hullfield.collide._columns import (
    BodyColumns,
    RayColumns,
    ShapeCastColumns,
    bodies_of,
    casts_of,
    rays_of,
)
from hullfield.collide._hull import Hull, natives_of
from hullfield.collide._limits import margin_or_all
from hullfield.collide._numbers import all_of, choice, column, flag, numbers_column, pairs_argument
from hullfield.collide._robot import JointPath, posed_links, poses_of_links
from hullfield.collide._rows import Estimate, Prepared, Stats, Status, Trace, TraceStep, batch

_PAIRS = ("broad_phase", "exhaustive", "given")
_QUERIES = (
    "candidates",
    "intersections",
    "distances",
    "contacts",
    "manifolds",
    "gradients",
    "sweeps",
    "raycasts",
)


class Arena:
    """The hulls of a scene, laid out and on a GPU uploaded once, and the queries over bodies made of them.

    Each query checks and copies its bodies, starts the work and waits for it; ``arena.contacts.start(…)`` does not wait and gives a
    :class:`hullfield.Pending`. The statics count on after the bodies in rows: the static ``i`` of a query over ``n`` bodies is ``n + i``.

    For a pair let R be the smaller and S the sum of the bounding radii, d the distance, and τ = max(1e-5 R, 4e-6 (S + d)). Bodies whose gap is
    within ¾ τ of zero touch. The status is the same on every engine and machine.

    Args:
        hulls: the hulls. Bodies name them by their numbers, from 0.
        engine: where queries run; by default a real GPU where there is one, else the CPU.
        precision: ``"fast"`` is within τ: f32, and f64 for what f32 cannot decide. ``"exact"`` is f64 for every pair, on the CPU.
        statics: bodies that do not move. They are laid out once, and not paired with one another.
        warm_start: whether queries reuse the results of earlier ones over as many bodies: for crowds that move a little from frame to frame,
            on the CPU. The answers stay the same. It takes about 450 bytes a body and 110 a pair that may meet soon.

    Raises:
        InvalidInputError: a static that can't be used, with its row.
        MemoryLimitError: on a GPU, where the hulls do not fit.

    An arena pickles as its hulls, options and engine's options; whoever loads it lays it out anew. It may be used from several threads at once.
    """

    __slots__ = ("_engine", "_hulls", "_native", "_options", "_removed")

    def __init__(
        self,
        hulls: Sequence[Hull],
        *,
        engine: Engine | None = None,
        precision: str = "fast",
        statics: BodyColumns | None = None,
        warm_start: bool = False,
    ) -> None:
        natives = natives_of(hulls)
        native_options = _native_options(precision, warm_start, statics)
        self._engine = engine_or_auto(engine)
        self._hulls = list(hulls)
        self._removed: list[int] = []
        self._options = (precision, bool(warm_start), statics)
        self._native = _native.Arena(self._engine._native, natives, *native_options)

    def with_options(
        self, *, precision: str = "fast", statics: BodyColumns | None = None, warm_start: bool = False
    ) -> Arena:
        """An arena with the same hulls, shared, also on the device, and other options. Unchanged statics are shared too."""
        native = self._native.with_options(*_native_options(precision, warm_start, statics))
        arena = self._copy()
        arena._options, arena._native = (precision, bool(warm_start), statics), native
        return arena

    @property
    def _static_count(self) -> int:
        statics = self._options[2]
        return 0 if statics is None else len(statics)

    def _pairs(self, bodies: BodyColumns, pairs: ArrayLike | str) -> tuple[Any, Any]:
        """The native columns, and the checked pairs."""
        return bodies_of("bodies", bodies), pairs_argument(pairs, bodies, self._static_count)

    def _copy(self) -> Arena:
        """A handle that does not see hulls that are added later."""
        arena = Arena.__new__(Arena)
        arena._engine, arena._hulls, arena._removed = self._engine, list(self._hulls), list(self._removed)
        arena._options, arena._native = self._options, self._native
        return arena

    @property
    def engine(self) -> Engine:
        """Where queries run."""
        return self._engine

    @property
    def hulls(self) -> list[Hull]:
        """The hulls, in the order of their numbers. A removed hull is a point."""
        return list(self._hulls)

    @property
    def statics(self) -> BodyColumns | None:
        """The bodies that do not move."""
        return self._options[2]

    @property
    def precision(self) -> str:
        """``"fast"`` or ``"exact"``."""
        return self._options[0]

    @property
    def warm_start(self) -> bool:
        """Whether queries reuse the results of earlier ones."""
        return self._options[1]

    def add_hulls(self, hulls: Sequence[Hull]) -> range:
        """Adds hulls and returns their numbers. Those of other hulls stay the same; queries in flight do not see the change.

        Cost: all hulls are laid out, and on a GPU uploaded, again. So add many at once.
        """
        native, added = self._native.with_hulls(natives_of(hulls)), list(hulls)
        first = len(self._hulls)
        self._native, self._hulls = native, self._hulls + added
        return range(first, first + len(added))

    def remove_hulls(self, ids: ArrayLike) -> None:
        """Removes hulls by their numbers, (n,), which are not used again. Those of other hulls stay the same. A body with one is an error.

        Raises:
            InvalidInputError: a hull that does not exist, was removed before, or that a static is of. Nothing is changed then.

        Cost: as :meth:`add_hulls`.
        """
        rows = indices("ids", ids)
        self._native = self._native.without_hulls(rows)
        self._removed += rows.tolist()
        point, removed = Hull(np.zeros((1, 3))), set(self._removed)
        self._hulls = [point if row in removed else hull for row, hull in enumerate(self._hulls)]

    @query
    def intersections(self, bodies: BodyColumns, pairs: ArrayLike | str = "broad_phase") -> Pending[Batch[Stats]]:
        """Which bodies touch.

        Args:
            bodies: the bodies.
            pairs: ``"broad_phase"``: all pairs, found by their boxes. ``"exhaustive"``: all pairs, one by one, 1e10 at most. Or the pairs to examine, (n, 2),
                whatever groups, worlds, owners and exclusions say.

        Returns:
            A row for each hit, sorted by (a, b), a < b, by worlds first; for given pairs a row for each, in their order. Fields: ``a``, ``b``,
            ``status`` (:class:`Status`), and ``axis`` (3): a unit vector that shows the gap of a separated pair, else NaN.

        Raises:
            InvalidInputError: a hull or a body that does not exist, a number of a body that is NaN or out of range, a body paired with itself,
                two half-spaces.
            MemoryLimitError: the rows do not fit.
        """
        return Pending(self._native.intersections(*self._pairs(bodies, pairs)), batch)

    @query
    def distances(
        self, bodies: BodyColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float | None = None
    ) -> Pending[Batch[Stats]]:
        """How far bodies are apart.

        Args:
            bodies: the bodies.
            pairs: as for :meth:`intersections`.
            margin: pairs that are farther apart are not listed, in world units, ≥ 0; infinity lists every pair. Needed where there may be more
                than a million pairs: without it a smaller scene lists all. Given pairs ignore it.

        Returns:
            Rows as for :meth:`intersections`. Fields: ``a``, ``b``, ``status``, ``separation``, 0 where they touch or overlap, in world units;
            ``points`` (2, 3), the nearest points of ``a`` and of ``b``, world frame, and ``axis`` (3), a unit vector from ``a`` to ``b``: NaN
            where they penetrate.

        Raises:
            InvalidInputError, MemoryLimitError: as :meth:`intersections`; a margin that is negative or NaN.
        """
        bodies_of("bodies", bodies)
        margin = margin_or_all(margin, pairs, bodies, self._static_count)
        return Pending(self._native.distances(*self._pairs(bodies, pairs), margin), batch)

    @query
    def contacts(
        self, bodies: BodyColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float = 0.0
    ) -> Pending[Batch[Stats]]:
        """How deep bodies overlap, or how far they are apart within a margin, and where.

        Args:
            bodies: the bodies.
            pairs: as for :meth:`intersections`.
            margin: pairs that are farther apart are not listed, in world units, ≥ 0. Given pairs ignore it.

        Returns:
            Rows as for :meth:`intersections`. Fields: ``a``, ``b``, ``status``; ``separation``, the signed distance in world units, minus the
            depth of an overlap; ``normal`` (3) from ``a`` to ``b``: ``b`` moved by minus ``separation`` along it just touches ``a``; ``points``
            (2, 3), the points of ``a`` and of ``b`` that would touch then.

        Raises:
            InvalidInputError, MemoryLimitError: as :meth:`distances`.
        """
        margin = real("margin", margin)
        return Pending(self._native.contacts(*self._pairs(bodies, pairs), margin), batch)

    @query
    def deepest_contacts(self, bodies: BodyColumns, count: int, *, margin: float = 0.0) -> Pending[Batch[Stats]]:
        """The contacts that are among the ``count`` deepest of either of their bodies, sorted by the pair.

        Args:
            bodies: the bodies.
            count: how many of each body, at least 1.
            margin: as for :meth:`contacts`, as the rows are.
        """
        count, margin = whole("count", count), real("margin", margin)
        return Pending(self._native.deepest_contacts(bodies_of("bodies", bodies), count, margin), batch)

    @query
    def manifolds(
        self, bodies: BodyColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float = 0.0
    ) -> Pending[Batch[Stats]]:
        """As :meth:`contacts`, with up to four points that hold a body at rest, each with its own depth.

        Args:
            bodies: the bodies.
            pairs: as for :meth:`intersections`.
            margin: as for :meth:`contacts`; points that are farther apart are left out, also of given pairs, except for the nearest point.

        Returns:
            Fields: ``a``, ``b``, ``status``, ``point_count``, ``separation`` and ``normal`` as for :meth:`contacts`; for each of four points
            ``points`` (4, 2, 3) on ``a`` and on ``b``, ``separations`` (4), and the features of ``a`` and of ``b`` that it comes from, which
            name it from frame to frame: ``feature_kinds`` (4, 2) (:class:`FeatureKind`) and ``feature_indices`` (4, 2, 2): a vertex, the two of
            an edge, a face. Those past ``point_count`` are NaN and :data:`NONE`.

        Raises:
            InvalidInputError, MemoryLimitError: as :meth:`distances`.
        """
        margin = real("margin", margin)
        return Pending(self._native.manifolds(*self._pairs(bodies, pairs), margin), batch)

    @query
    def gradients(
        self, bodies: BodyColumns, pairs: ArrayLike | str = "broad_phase", *, margin: float = 0.0
    ) -> Pending[Batch[Stats]]:
        """How the signed distance of pairs changes with the poses of their bodies, in f64: for optimisers and learning.

        Args:
            bodies: the bodies.
            pairs: as for :meth:`intersections`.
            margin: as for :meth:`contacts`.

        Returns:
            Fields: ``a``, ``b``, ``status``, ``separation`` as for :meth:`contacts`, within 1e-9 S; ``position_a``, ``rotation_a``,
            ``position_b``, ``rotation_b`` (3): where ``a`` moves by ``v`` and turns by ``w`` (radians about the world's axes, about its origin),
            the separation changes by ``position_a · v + rotation_a · w``; ``degeneracy`` (:class:`Degeneracy`), :data:`NONE` where it is smooth.

        Raises:
            InvalidInputError, MemoryLimitError: as :meth:`distances`.
        """
        margin = real("margin", margin)
        return Pending(self._native.gradients(*self._pairs(bodies, pairs), margin), batch)

    @query
    def sweeps(
        self,
        bodies: BodyColumns,
        velocities: ArrayLike,
        angular_velocities: ArrayLike | None = None,
        pairs: ArrayLike | str = "broad_phase",
        *,
        duration: float = 1.0,
        witness: bool = False,
    ) -> Pending[Batch[Stats]]:
        """When moving bodies first meet.

        Args:
            bodies: the bodies where they start. Statics do not move.
            velocities: of the bodies' origins, (n, 3) or (3,), in world units per second, float32.
            angular_velocities: about the bodies' origins, (n, 3) or (3,), in radians per second, world axes; 0 by default.
            pairs: as for :meth:`intersections`.
            duration: for how many seconds the bodies move, ≥ 0.
            witness: whether rows have the points that meet and the separation then; each costs some microseconds.

        Returns:
            A row for each pair that meets; for given pairs a row for each. Fields: ``a``, ``b``, ``outcome`` (:class:`SweepOutcome`);
            ``time`` in seconds, 0 where they touch at the start, the duration where they miss; ``normal`` (3) from ``a`` to ``b``, NaN where
            they miss; ``points`` (2, 3) and ``separation``, NaN without ``witness``.

        Raises:
            InvalidInputError, MemoryLimitError: as :meth:`intersections`; a motion or a duration that is NaN or out of range.
        """
        columns, count = bodies_of("bodies", bodies), len(bodies)
        motions = motion_columns(velocities, angular_velocities, count)
        duration, witness = real("duration", duration), flag("witness", witness)
        found = self._pairs(bodies, pairs)[1]
        return Pending(self._native.sweeps(columns, *motions, found, duration, witness), batch)

    @query
    def candidates(self, bodies: BodyColumns) -> Pending[npt.NDArray[np.uint32]]:
        """The pairs that the broad phase finds, (n, 2), sorted: those whose boxes overlap, and no hit is missing among them."""
        return Pending(self._native.candidates(bodies_of("bodies", bodies)), _same)

    @query
    def raycasts(self, bodies: BodyColumns, rays: RayColumns, *, skip_start: bool = False) -> Pending[Batch[Stats]]:
        """What each ray hits first.

        Args:
            bodies: the bodies.
            rays: the rays.
            skip_start: whether a ray does not hit the bodies that it starts in, or within the tolerance of.

        Returns:
            A row for each ray. Fields: ``ray``, ``body`` (:data:`NONE` where it hits nothing), ``face`` of the hull (:data:`NONE` where it hits
            no flat face), ``distance`` along the ray in world units, 0 where it starts in the body, ``point`` (3), and the outward ``normal``
            (3), NaN where it starts in the body.

        Raises:
            InvalidInputError: a ray whose direction is 0, a number that is NaN or out of range; as :meth:`intersections`.
        """
        columns = bodies_of("bodies", bodies), rays_of(rays)
        return Pending(self._native.raycasts(*columns, flag("skip_start", skip_start)), batch)

    @query
    def raycasts_all(self, bodies: BodyColumns, rays: RayColumns, *, skip_start: bool = False) -> Pending[Batch[Stats]]:
        """All bodies that each ray hits, sorted by ray, distance and body: rows, arguments and errors of :meth:`raycasts`."""
        columns = bodies_of("bodies", bodies), rays_of(rays)
        return Pending(self._native.raycasts_all(*columns, flag("skip_start", skip_start)), batch)

    @query
    def occlusions(self, bodies: BodyColumns, rays: RayColumns, *, skip_start: bool = False) -> Pending[Batch[Stats]]:
        """Whether each ray hits anything, which is faster to know: a row for each, ``ray`` and ``occluded``. Otherwise as :meth:`raycasts`."""
        columns = bodies_of("bodies", bodies), rays_of(rays)
        return Pending(self._native.occlusions(*columns, flag("skip_start", skip_start)), batch)

    @query
    def nearest_points(
        self,
        bodies: BodyColumns,
        points: ArrayLike,
        *,
        worlds: ArrayLike | None = None,
        max_distance: float = np.inf,
    ) -> Pending[Batch[Stats]]:
        """The body whose surface is nearest to each point.

        Args:
            bodies: the bodies.
            points: (n, 3), in world units, exactly as given.
            worlds: (n,): the world of each point, where the bodies have worlds.
            max_distance: bodies farther away are not found, in world units, ≥ 0; the nearer, the faster.

        Returns:
            A row for each point. Fields: ``point``, ``body`` (:data:`NONE` where none is near enough), ``distance``, negative inside of the body
            where it is minus the depth, ``nearest`` (3), the point of the surface, and the outward ``normal`` (3) there.
        """
        places, worlds = point_columns(points, worlds)
        limit = real("max_distance", max_distance)
        return Pending(self._native.nearest_points(bodies_of("bodies", bodies), places, worlds, limit), batch)

    @query
    def containments(
        self, bodies: BodyColumns, points: ArrayLike, *, worlds: ArrayLike | None = None
    ) -> Pending[Batch[Stats]]:
        """All bodies that contain each point, sorted by point and body. Fields: ``point``, ``body``, ``distance``, minus the depth.

        Args:
            bodies: the bodies.
            points: (n, 3), in world units, exactly as given.
            worlds: (n,): the world of each point, where the bodies have worlds.
        """
        places, worlds = point_columns(points, worlds)
        return Pending(self._native.containments(bodies_of("bodies", bodies), places, worlds), batch)

    @query
    def shape_casts(
        self, bodies: BodyColumns, casts: ShapeCastColumns, *, skip_start: bool = False, witness: bool = False
    ) -> Pending[Batch[Stats]]:
        """What each shape meets first as it moves along a line.

        Args:
            bodies: the bodies.
            casts: the shapes and where they go.
            skip_start: whether a shape does not hit the bodies that it touches or overlaps at the start.
            witness: whether rows have the points that meet and the separation there; each costs some microseconds.

        Returns:
            A row for each cast. Fields: ``cast``, ``body`` (:data:`NONE` where it meets nothing), ``initial_overlap``, ``distance`` that the shape
            moves, in world units, ``normal`` (3) of the body, ``points`` (2, 3) of the shape and of the body, and ``separation``: the last two NaN
            without ``witness``.
        """
        columns, options = (bodies_of("bodies", bodies), casts_of(casts)), cast_options(skip_start, witness)
        return Pending(self._native.shape_casts(*columns, *options), batch)

    @query
    def shape_casts_all(
        self, bodies: BodyColumns, casts: ShapeCastColumns, *, skip_start: bool = False, witness: bool = False
    ) -> Pending[Batch[Stats]]:
        """All bodies that each shape meets, sorted by cast, distance and body: rows and arguments of :meth:`shape_casts`."""
        columns, options = (bodies_of("bodies", bodies), casts_of(casts)), cast_options(skip_start, witness)
        return Pending(self._native.shape_casts_all(*columns, *options), batch)

    @query
    def shape_casts_any(
        self, bodies: BodyColumns, casts: ShapeCastColumns, *, skip_start: bool = False
    ) -> Pending[Batch[Stats]]:
        """Whether each shape meets anything, which is faster to know: a row for each, ``cast`` and ``is_hit``."""
        columns = bodies_of("bodies", bodies), casts_of(casts)
        return Pending(self._native.shape_casts_any(*columns, flag("skip_start", skip_start)), batch)

    @query
    def nearest_bodies(
        self,
        bodies: BodyColumns,
        *,
        of: ArrayLike | None = None,
        count: int = 1,
        max_distance: float = np.inf,
    ) -> Pending[Batch[Stats]]:
        """The nearest other bodies of each body, sorted by body, separation and row; the deepest overlap comes first.

        Args:
            bodies: the bodies. Statics are among the others; groups, worlds, owners and exclusions are obeyed.
            of: the rows of the bodies that are asked about, in any order; all by default.
            count: how many are listed at most, ≥ 1.
            max_distance: bodies farther away are not listed, in world units, ≥ 0; the nearer, the faster.

        Returns:
            Fields: ``query``, the row that is asked about, ``body``, ``status``, ``separation``, ``normal`` (3) from the first to the second, and
            ``points`` (2, 3), as for :meth:`contacts`; measured in f64, within 1e-9 S.
        """
        rows = None if of is None else indices("of", of)
        count, limit = whole("count", count), real("max_distance", max_distance)
        return Pending(self._native.nearest_bodies(bodies_of("bodies", bodies), rows, count, limit), batch)

    @query
    def nearest_bodies_to(
        self, bodies: BodyColumns, shapes: BodyColumns, *, count: int = 1, max_distance: float = np.inf
    ) -> Pending[Batch[Stats]]:
        """The bodies nearest to each of some shapes that are not of the scene: ``query`` is the row of the shape. Otherwise as :meth:`nearest_bodies`,
        whose option ``of`` asks about bodies of the scene: these don't find themselves.
        """
        columns = bodies_of("bodies", bodies), bodies_of("shapes", shapes)
        count, limit = whole("count", count), real("max_distance", max_distance)
        return Pending(self._native.nearest_bodies_to(*columns, count, limit), batch)

    @query
    def hits(self, bodies: BodyColumns) -> Pending[Batch[Stats]]:
        """Whether each body touches any other or a static: rows are bools, (n,). The search for a body ends with its first hit."""
        return Pending(self._native.hits(bodies_of("bodies", bodies)), batch)

    @query
    def hit_counts(self, bodies: BodyColumns) -> Pending[Batch[Stats]]:
        """How many others each body touches, statics too: rows are numbers, (n,). No rows of pairs are kept in memory."""
        return Pending(self._native.hit_counts(bodies_of("bodies", bodies)), batch)

    @query
    def postures(
        self,
        links: BodyColumns,
        positions: ArrayLike,
        rotations: ArrayLike | None = None,
        *,
        orthonormalize: bool = False,
    ) -> Pending[Batch[Stats]]:
        """Whether a robot in many postures meets itself or the statics.

        Args:
            links: the bodies of the robot's links, each placed in its link, as :meth:`Robot.bodies` gives them. ``owners`` are the links, from 0; without them each body is one. Links
                of ``exclusions`` never meet.
            positions: world positions of the links' origins, (postures, links, 3), in world units, float64. Or their poses as matrices,
                (postures, links, 4, 4), or (links, 4, 4) for one posture, without rotations. :meth:`Robot.forward_kinematics` gives them.
            rotations: unit quaternions ``x, y, z, w``, (postures, links, 4); not turned by default.
            orthonormalize: whether matrices that scale or shear by more than 1e-5 are taken as the nearest rotations; else they are an error.

        Returns:
            A row for each posture. Fields: ``posture``, ``is_free``, and ``pair`` (2), the first two bodies that touch, :data:`NONE` where it is
            free. Statics count on after the bodies.
        """
        columns = bodies_of("links", links)
        poses = poses_of_links(links, positions, rotations, orthonormalize)
        return Pending(_native.postures(self._native, columns, *poses), batch)

    @query
    def joint_paths(
        self, links: BodyColumns, paths: Sequence[JointPath], *, step_limit: int = 1000
    ) -> Pending[Batch[Stats]]:
        """Whether a robot may take paths without its links meeting one another or the statics: proved for the whole motion, in f64.

        Args:
            links: as for :meth:`postures`.
            paths: the paths.
            step_limit: how many steps a pair may take between two samples, ≥ 1, before the path is left undecided.

        Returns:
            A row for each path. Fields: ``path``, ``outcome`` (:class:`PathOutcome`); ``free_until``, no pair meets before this time (3.25 is a
            quarter of the way from sample 3 to sample 4); ``time`` at which ``pair`` (2) meets, NaN unless the path is hit; ``pair`` is
            :data:`NONE` where it is free. Statics count on after the bodies.
        """
        columns, limit = bodies_of("links", links), whole("step_limit", step_limit)
        robot = posed_links(links)
        natives = [path._native(row, robot) for row, path in enumerate(all_of("paths", paths, JointPath))]
        return Pending(_native.joint_paths(self._native, columns, natives, limit), batch)

    @query
    def prepare(self, queries: Sequence[tuple[str, str]]) -> Pending[Prepared]:
        """Builds the pipelines that queries need, so that the first ones do not wait for them: on a GPU up to some seconds, else nothing.

        Args:
            queries: the name of a query and how its pairs are found, as ``("contacts", "broad_phase")``: candidates, intersections, distances,
                contacts, manifolds, gradients, sweeps, raycasts; broad_phase, exhaustive or given.
        """
        checked = []
        for row, item in enumerate(all_of("queries", queries, tuple)):
            if len(item) != 2:
                raise InvalidInputError(f"queries[{row}] is {item!r}, it must be the name of a query and that of pairs")
            checked.append((choice("query", item[0], _QUERIES), choice("pairs", item[1], _PAIRS)))
        return Pending(self._native.prepare(checked), lambda answer: Prepared(*answer))

    def estimate(self, query: str, bodies: BodyColumns | int, pairs: str = "broad_phase") -> Estimate:
        """The device memory that a query will take; 0 on the CPU.

        Args:
            query: its name, as for :meth:`prepare`.
            bodies: the bodies, or how many of them.
            pairs: ``"broad_phase"``, ``"exhaustive"`` or ``"given"``.
        """
        choice("query", query, _QUERIES)
        choice("pairs", pairs, _PAIRS)
        if isinstance(bodies, BodyColumns):
            return Estimate(*self._native.estimate_columns(query, bodies._native, pairs))
        return Estimate(*self._native.estimate(query, whole("bodies", bodies), pairs))

    def trace(self, bodies: BodyColumns, pair: ArrayLike) -> Trace:
        """The simplices of GJK for one pair of some bodies, (2,), in f64: for pictures, and for understanding."""
        rows = indices("pair", pair, count=2).tolist()
        steps, status, axis = self._native.trace(bodies_of("bodies", bodies), rows)
        return Trace([TraceStep(*step) for step in steps], Status(status), axis)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_arena, (self._engine, self._hulls, self._removed, self._options))

    def __repr__(self) -> str:
        return f"<hullfield.collide.Arena: {len(self._hulls)} hulls on the {self._engine.backend}>"


def _arena(engine: Engine, hulls: list[Hull], removed: list[int], options: tuple[Any, ...]) -> Arena:
    precision, warm_start, statics = options
    arena = Arena(hulls, engine=engine, precision=precision, warm_start=warm_start, statics=statics)
    if removed:
        arena.remove_hulls(removed)
    return arena


def _native_options(precision: str, warm_start: bool, statics: BodyColumns | None) -> tuple[bool, bool, Any]:
    choice("precision", precision, ("fast", "exact"))
    bodies = None if statics is None else bodies_of("statics", statics)
    return precision == "exact", flag("warm_start", warm_start), bodies


def cast_options(skip_start: bool, witness: bool) -> tuple[bool, bool]:
    """Checked options of shape casts."""
    return flag("skip_start", skip_start), flag("witness", witness)


def motion_columns(velocities: ArrayLike, angular: ArrayLike | None, count: int) -> tuple[Any, Any]:
    """Checked motions of so many bodies."""
    given = floats("velocities", velocities, 3, np.float32, count=count)
    return given, column("angular_velocities", angular, count, 3)


def point_columns(points: ArrayLike, worlds: ArrayLike | None) -> tuple[npt.NDArray[np.float64], Any]:
    """Checked points, and their worlds if they have any."""
    places = floats("points", points, 3, np.float64)
    return places, numbers_column("worlds", worlds, len(places))


def _same(answer: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    return answer
