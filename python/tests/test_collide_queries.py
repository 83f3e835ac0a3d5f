"""Queries of an arena, against closed forms for balls and boxes in numpy."""

import copy
import pickle
import typing
from enum import IntEnum

import numpy as np
import pytest

import hullfield
from hullfield import _native, collide
from hullfield.collide import (
    NONE,
    Arena,
    BodyColumns,
    Degeneracy,
    Hull,
    JointPath,
    PathOutcome,
    Prismatic,
    RayColumns,
    Revolute,
    ShapeCastColumns,
    Status,
    SweepOutcome,
    joint_deviation,
)

ENGINE = hullfield.Engine.cpu()
BALL, BOX = Hull.ball(1), Hull.cuboid([0.5, 0.5, 0.5])
ARENA = Arena([BALL, BOX], engine=ENGINE)


class Crowd(typing.NamedTuple):
    places: np.ndarray
    radii: np.ndarray
    bodies: BodyColumns
    gaps: np.ndarray


def crowd(count: int = 200, seed: int = 11) -> Crowd:
    """Balls, and the signed distance of each from each."""
    random = np.random.default_rng(seed)
    places = random.uniform(-6, 6, (count, 3)).astype(np.float32)
    radii = random.uniform(0.3, 1.2, count).astype(np.float32)
    wide = places.astype(np.float64)
    gaps = np.linalg.norm(wide[:, None] - wide[None], axis=2) - radii[:, None] - radii[None]
    np.fill_diagonal(gaps, np.inf)
    return Crowd(places, radii, BodyColumns(0, places, scales=radii[:, None]), gaps)


def pairs_of(rows: np.ndarray) -> list[tuple[int, int]]:
    return list(zip(rows["a"].tolist(), rows["b"].tolist(), strict=True))


def expected_pairs(gaps: np.ndarray, margin: float = 0.0) -> list[tuple[int, int]]:
    return [(int(a), int(b)) for a, b in np.argwhere(np.triu(gaps <= margin, 1))]


def test_enums_are_those_of_the_library() -> None:
    for name, codes in _native.collide_codes().items():
        enum: type[IntEnum] = getattr(collide, name)
        snake = {
            "".join("_" + c if c.isupper() else c for c in key).strip("_").upper(): code for key, code in codes.items()
        }
        snake = {key.split("(")[0]: code for key, code in snake.items()}
        assert snake == {member.name: member.value for member in enum}, name


def test_intersections_are_those_of_brute_force() -> None:
    c = crowd()
    expected = expected_pairs(c.gaps)
    assert len(expected) > 50
    for pairs in ["broad_phase", "exhaustive"]:
        found = ARENA.intersections(c.bodies, pairs)
        assert pairs_of(found.rows) == expected and found.stats.hit_count == len(expected)
        assert np.isnan(found["axis"]).all() and (found["status"] == Status.PENETRATING).all()
    given = np.argwhere(np.triu(np.ones_like(c.gaps), 1))
    found = ARENA.intersections(c.bodies, given)
    assert pairs_of(found.rows) == [tuple(pair) for pair in given.tolist()]
    apart = found["status"] == Status.SEPARATED
    a, b = given[apart].T
    assert (c.gaps[a, b] > 0).all() and (c.gaps[given[~apart, 0], given[~apart, 1]] <= 0).all()
    along = np.einsum("ij,ij->i", found["axis"][apart], (c.places[b] - c.places[a]).astype(np.float64))
    assert (along > (c.radii[a] + c.radii[b]) * (1 - 1e-5)).all()
    candidates = ARENA.candidates(c.bodies)
    assert candidates.dtype == np.uint32 and set(expected) <= {tuple(pair) for pair in candidates.tolist()}


@pytest.mark.parametrize("precision", ["fast", "exact"])
def test_distances_contacts_and_gradients(precision: str) -> None:
    c, arena = crowd(120), ARENA.with_options(precision=precision)
    tolerance = 1e-9 if precision == "exact" else 2e-5
    given = np.argwhere(np.triu(np.ones_like(c.gaps), 1))
    a, b = given.T
    gaps, way = c.gaps[a, b], (c.places[b] - c.places[a]).astype(np.float64)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    distances = arena.distances(c.bodies, given)
    assert np.abs(distances["separation"] - np.maximum(gaps, 0)).max() < tolerance
    apart = distances["status"] == Status.SEPARATED
    assert np.isnan(distances["points"][~apart]).all() and np.isfinite(distances["points"][apart]).all()
    between = np.linalg.norm(distances["points"][apart, 1] - distances["points"][apart, 0], axis=1)
    assert np.abs(between - gaps[apart]).max() < 2 * tolerance
    contacts = arena.contacts(c.bodies, given)
    assert np.abs(contacts["separation"] - gaps).max() < tolerance
    assert np.abs(contacts["normal"] - way).max() < 1e-3
    # Without given pairs, those within the margin are listed, and the same numbers.
    near = arena.contacts(c.bodies, margin=0.5)
    assert pairs_of(near.rows) == expected_pairs(c.gaps, 0.5)
    assert pairs_of(arena.distances(c.bodies, margin=0.5).rows) == expected_pairs(c.gaps, 0.5)
    assert len(arena.distances(c.bodies)) == len(given)
    slopes = arena.gradients(c.bodies, given)
    assert np.abs(slopes["position_b"] - way).max() < 1e-6 and (slopes["position_a"] == -slopes["position_b"]).all()
    assert np.abs(slopes["rotation_a"]).max() < 1e-6 and (slopes["degeneracy"] == NONE).all()
    assert np.abs(slopes["separation"] - gaps).max() < 1e-8
    manifolds = arena.manifolds(c.bodies, margin=0.5)
    assert pairs_of(manifolds.rows) == expected_pairs(c.gaps, 0.5) and (manifolds["point_count"] == 1).all()
    assert np.abs(manifolds["points"][:, 0] - near["points"]).max() < 1e-4


def test_deepest_contacts_and_counts() -> None:
    c = crowd()
    deepest = ARENA.deepest_contacts(c.bodies, 1)
    touched = np.where((c.gaps <= 0).any(axis=1))[0]
    expected = {
        (min(row, best), max(row, best)) for row, best in zip(touched, c.gaps[touched].argmin(axis=1), strict=True)
    }
    assert set(pairs_of(deepest.rows)) == expected
    hits, counts = ARENA.hits(c.bodies), ARENA.hit_counts(c.bodies)
    assert hits.rows.dtype == np.bool_ and (hits.rows == (c.gaps <= 0).any(axis=1)).all()
    assert (counts.rows == (c.gaps <= 0).sum(axis=1)).all()
    with pytest.raises(hullfield.InvalidInputError, match="count"):
        ARENA.deepest_contacts(c.bodies, 0)


def test_nearest_bodies() -> None:
    c = crowd(60)
    found = ARENA.nearest_bodies(c.bodies, count=3)
    order = np.argsort(c.gaps, axis=1)[:, :3]
    assert (found["query"] == np.repeat(np.arange(60), 3)).all()
    assert (found["body"].reshape(60, 3) == order).all()
    assert np.abs(found["separation"].reshape(60, 3) - np.sort(c.gaps, axis=1)[:, :3]).max() < 1e-8
    shapes = BodyColumns(1, [[0, 0, 0], [20, 0, 0]])
    some = ARENA.nearest_bodies(c.bodies, of=[2, 0], count=3)
    expected = [row for body in (2, 0) for row in found if row["query"] == body]
    assert list(some["query"]) == [row["query"] for row in expected]
    assert list(some["body"]) == [row["body"] for row in expected] and (some["body"] != some["query"]).all()
    with pytest.raises(hullfield.InvalidInputError, match="body 4000"):
        ARENA.nearest_bodies(c.bodies, of=[0, 4000])
    near = ARENA.nearest_bodies_to(c.bodies, shapes, max_distance=5)
    assert near["query"].tolist() == [0]
    # The distance of a ball from a box is that of its centre, less the radius.
    outside = np.maximum(np.abs(c.places.astype(np.float64)) - 0.5, 0)
    gaps = np.linalg.norm(outside, axis=1) - c.radii
    if gaps.min() > 0:
        assert near["separation"][0] == pytest.approx(gaps.min())


def sphere_hits(c: Crowd, origins: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """How far along each ray each ball is: 0 from inside, infinite for a miss."""
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    to = c.places.astype(np.float64)[None] - origins[:, None]
    along = np.einsum("rbk,rk->rb", to, unit)
    discriminant = along**2 - (to**2).sum(axis=2) + c.radii.astype(np.float64) ** 2
    enter = along - np.sqrt(np.maximum(discriminant, 0))
    leave = along + np.sqrt(np.maximum(discriminant, 0))
    return np.where((discriminant < 0) | (leave < 0), np.inf, np.maximum(enter, 0))


def test_rays() -> None:
    c, random = crowd(), np.random.default_rng(8)
    origins, directions = random.uniform(-8, 8, (300, 3)), random.normal(size=(300, 3)).astype(np.float32)
    rays = RayColumns(origins, directions)
    truth = sphere_hits(c, origins, directions.astype(np.float64))
    first = ARENA.raycasts(c.bodies, rays)
    hit = np.isfinite(truth.min(axis=1))
    assert 50 < hit.sum() < 300
    assert (first["ray"] == np.arange(300)).all()
    assert ((first["body"] != NONE) == hit).all() and (np.isnan(first["distance"]) == ~hit).all()
    assert np.abs(first["distance"][hit] - truth.min(axis=1)[hit]).max() < 1e-5
    outside = hit & (first["distance"] > 0)
    assert (first["body"][outside] == truth.argmin(axis=1)[outside]).all()
    normal = (first["point"] - c.places[np.where(hit, first["body"], 0)])[outside]
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    assert np.abs(first["normal"][outside] - normal).max() < 1e-5
    assert np.isnan(first["normal"][hit & ~outside]).all() and (first["face"] == NONE).all()
    through = ARENA.raycasts_all(c.bodies, rays)
    assert len(through) == np.isfinite(truth).sum()
    assert (np.diff(through["ray"].astype(int)) >= 0).all()
    occluded = ARENA.occlusions(c.bodies, rays)
    assert occluded["occluded"].dtype == np.bool_ and (occluded["occluded"] == hit).all()
    short = ARENA.occlusions(c.bodies, RayColumns(origins, directions, 1.0))
    assert (short["occluded"] == (truth.min(axis=1) <= 1)).all()
    skipped = ARENA.raycasts(c.bodies, rays, skip_start=True)
    assert (skipped["distance"][skipped["body"] != NONE] > 0).all()
    faces = ARENA.raycasts(BodyColumns(1), RayColumns([-5, 0, 0], [1, 0, 0]))
    assert BOX.planes[faces["face"][0], :3].tolist() == [-1, 0, 0]


def test_points() -> None:
    c, random = crowd(), np.random.default_rng(9)
    points = random.uniform(-8, 8, (300, 3))
    gaps = np.linalg.norm(points[:, None] - c.places[None].astype(np.float64), axis=2) - c.radii[None]
    near = ARENA.nearest_points(c.bodies, points)
    assert np.abs(near["distance"] - gaps.min(axis=1)).max() < 1e-6
    assert (near["body"] == gaps.argmin(axis=1)).all()
    assert np.abs(np.linalg.norm(near["nearest"] - points, axis=1) - np.abs(near["distance"])).max() < 1e-6
    limited = ARENA.nearest_points(c.bodies, points, max_distance=0.5)
    assert ((limited["body"] == NONE) == (gaps.min(axis=1) > 0.5)).all()
    inside = ARENA.containments(c.bodies, points)
    assert [(r["point"], r["body"]) for r in inside] == [tuple(pair) for pair in np.argwhere(gaps <= 0).tolist()]
    assert len(ARENA.nearest_points(c.bodies, np.zeros((0, 3)))) == 0
    with pytest.raises(hullfield.InvalidInputError, match="point 1: point is"):
        ARENA.nearest_points(c.bodies, [[0, 0, 0], [0, np.nan, 0]])


def test_sweeps_and_shape_casts() -> None:
    random = np.random.default_rng(10)
    places = random.uniform(-4, 4, (80, 3)).astype(np.float32)
    radii, speeds = random.uniform(0.2, 0.6, 80).astype(np.float32), random.normal(0, 3, (80, 3)).astype(np.float32)
    bodies = BodyColumns(0, places, scales=radii[:, None])
    given = np.argwhere(np.triu(np.ones((80, 80)), 1))
    a, b = given.T
    found = ARENA.sweeps(bodies, speeds, pairs=given, duration=3, witness=True)
    at, v = (places[b] - places[a]).astype(np.float64), (speeds[b] - speeds[a]).astype(np.float64)
    reach = radii[a].astype(np.float64) + radii[b]
    qa, qb, qc = (v * v).sum(1), 2 * (at * v).sum(1), (at * at).sum(1) - reach**2
    root = qb**2 - 4 * qa * qc
    time = np.where(qc <= 0, 0, np.where(root < 0, np.inf, (-qb - np.sqrt(np.maximum(root, 0))) / (2 * qa)))
    time = np.where((time < 0) | (time > 3), np.inf, time)
    clear = (np.abs(root) > 1e-3) & (np.abs(time - 3) > 1e-3)
    outcome = np.where(qc <= 0, SweepOutcome.TOUCHING, np.where(np.isfinite(time), SweepOutcome.HIT, SweepOutcome.MISS))
    assert (found["outcome"] == outcome)[clear].all() and (outcome == SweepOutcome.HIT).sum() > 20
    hit = clear & (outcome == SweepOutcome.HIT)
    assert np.abs(found["time"] - time)[hit].max() < 1e-3
    assert (found["time"][found["outcome"] == SweepOutcome.MISS] == 3).all()
    assert np.isfinite(found["points"][hit]).all() and np.isnan(found["points"][outcome == SweepOutcome.MISS]).all()
    without = ARENA.sweeps(bodies, speeds, pairs=given, duration=3)
    assert np.isnan(without["points"]).all() and np.isnan(without["separation"]).all()
    met = ARENA.sweeps(bodies, speeds, duration=3)
    assert pairs_of(met.rows) == pairs_of(found.rows[found["outcome"] != SweepOutcome.MISS])
    turning = ARENA.sweeps(BodyColumns(1, [[0, 0, 0], [1.1, 0, 0]]), [0, 0, 0], [[0, 0, 1], [0, 0, 0]], duration=2)
    # A corner of the box reaches 0.6 at the angle where √½ cos(π/4 − t) is that.
    assert turning["time"][0] == pytest.approx(np.pi / 4 - np.arccos(0.6 * np.sqrt(2)), abs=1e-4)
    # A ball that is cast is a ray against balls that are larger by its radius.
    c = crowd()
    origins, directions = random.uniform(-9, 9, (100, 3)).astype(np.float32), random.normal(size=(100, 3))
    casts = ShapeCastColumns(BodyColumns(0, origins, scales=0.25), directions)
    truth = sphere_hits(c._replace(radii=c.radii + np.float32(0.25)), origins.astype(np.float64), directions)
    first = ARENA.shape_casts(c.bodies, casts, witness=True)
    hits = np.isfinite(truth.min(axis=1))
    assert ((first["body"] != NONE) == hits).all()
    assert np.abs(first["distance"][hits] - truth.min(axis=1)[hits]).max() < 1e-4
    assert (first["initial_overlap"] == (truth.min(axis=1) == 0)).all()
    assert (ARENA.shape_casts_any(c.bodies, casts)["is_hit"] == hits).all()
    assert len(ARENA.shape_casts_all(c.bodies, casts)) == np.isfinite(truth).sum()
    assert np.isnan(ARENA.shape_casts(c.bodies, casts)["separation"]).all()


def test_worlds_owners_groups_and_exclusions() -> None:
    overlapping = np.zeros((4, 3), np.float32)

    def pairs(**columns: object) -> list[tuple[int, int]]:
        return pairs_of(ARENA.intersections(BodyColumns([0] * 4, overlapping, **columns)).rows)  # type: ignore[arg-type]

    assert len(pairs()) == 6
    assert pairs(worlds=[5, 2, 5, 2]) == [(1, 3), (0, 2)]
    assert pairs(owners=[0, 0, 1, 1]) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert pairs(groups=[1, 1, 2, 2], masks=[2, 2, 1, 1]) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert pairs(exclusions=[[1, 0], [2, 3]]) == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert len(ARENA.intersections(BodyColumns([0] * 4, worlds=[0, 1, 2, 3]), [[0, 1]])) == 1
    standing = ARENA.with_options(statics=BodyColumns(1, [[0, 0, 0]]))
    bodies = BodyColumns([0, 0], [[0, 0, 0], [9, 0, 0]], static_exclusions=[[0, 0]])
    assert len(standing.intersections(bodies)) == 0
    assert pairs_of(standing.intersections(BodyColumns(0, [[0, 0, 0]])).rows) == [(0, 1)]


def test_arenas_change_and_pickle() -> None:
    arena = Arena([BALL], engine=ENGINE, statics=BodyColumns(0, [[0, 0, 0]]), warm_start=True)
    assert arena.hulls == [BALL] and arena.engine is ENGINE and arena.warm_start and arena.precision == "fast"
    assert arena.add_hulls([BOX, BALL]) == range(1, 3)
    near = BodyColumns([1, 2], [[1.25, 0, 0], [5, 0, 0]])
    assert pairs_of(arena.intersections(near).rows) == [(0, 2)]
    arena.remove_hulls([2])
    with pytest.raises(hullfield.InvalidInputError, match="hull 2 was removed"):
        arena.intersections(near)
    for ids, message in [([2], "removed before"), ([9], "hull 9 does not exist"), ([0], "static 0 is of it")]:
        with pytest.raises(hullfield.InvalidInputError, match=message):
            arena.remove_hulls(ids)
    assert len(arena.hulls) == 3 and arena.hulls[2] == Hull([[0, 0, 0]])
    one = BodyColumns(1, [[1.25, 0, 0]])
    for other in [pickle.loads(pickle.dumps(arena)), copy.deepcopy(arena)]:
        assert other.contacts(one).rows.tobytes() == arena.contacts(one).rows.tobytes()
        assert other.warm_start and other.hulls == arena.hulls and other.engine.backend == "cpu"
        assert other.statics is not None and len(other.statics) == 1
        with pytest.raises(hullfield.InvalidInputError, match="hull 2 was removed"):
            other.intersections(near)
    with pytest.raises(hullfield.InvalidInputError, match="statics have worlds"):
        Arena([BALL], engine=ENGINE, statics=BodyColumns([0], worlds=[1]))
    with pytest.raises(hullfield.InvalidInputError, match="precision is 'best'"):
        Arena([BALL], engine=ENGINE, precision="best")
    with pytest.raises(hullfield.InvalidTypeError, match="engine is of the type str"):
        Arena([BALL], engine="gpu")  # type: ignore[arg-type]
    for wrong in [BALL, [1], ["ball"], None, "balls"]:
        with pytest.raises(hullfield.InvalidTypeError, match="hulls"):
            Arena(wrong, engine=ENGINE)  # type: ignore[arg-type]
    far = ARENA.with_options(statics=BodyColumns(0, [[1e7 + 0.001, 0, 0]]))
    assert far.contacts(BodyColumns(0, [[1e7 + 2.0005, 0, 0]]))["separation"][0] == pytest.approx(-5e-4, abs=2e-5)


def test_prepare_estimate_and_trace() -> None:
    assert ARENA.prepare([("contacts", "broad_phase"), ("distances", "given")]).pipeline_count == 0
    assert ARENA.estimate("contacts", 1000).device_bytes == 0
    assert ARENA.estimate("contacts", crowd().bodies, "exhaustive").staging_bytes == 0
    with pytest.raises(hullfield.InvalidInputError, match="query is 'dance'"):
        ARENA.estimate("dance", 10)
    with pytest.raises(hullfield.InvalidInputError, match="pairs is 'some'"):
        ARENA.prepare([("contacts", "some")])
    for queries in ["contacts", [("contacts",)], [3], None]:
        with pytest.raises(hullfield.Error, match="queries"):
            ARENA.prepare(queries)  # type: ignore[arg-type]
    trace = ARENA.trace(BodyColumns(1, [[0, 0, 0], [3, 0.2, 0.1]]), [0, 1])
    assert trace.status is Status.SEPARATED and trace.axis is not None and trace.axis[0] > 0.9
    assert all(step.simplex.shape[1] == 3 and 1 <= len(step.simplex) <= 4 for step in trace.steps)
    assert 2 - 1e-6 < np.linalg.norm(trace.steps[-1].closest) < np.linalg.norm([3, 0.2, 0.1])
    assert ARENA.trace(BodyColumns(1, [[0, 0, 0], [0.1, 0, 0]]), [0, 1]).axis is None
    with pytest.raises(hullfield.InvalidInputError, match="body 2 does not exist"):
        ARENA.trace(BodyColumns([1, 1]), [0, 2])


def test_robots() -> None:
    arena = Arena([Hull.ball(0.5)], engine=ENGINE, statics=BodyColumns(0, [[3, 0, 0]]))
    checks = arena.postures(BodyColumns(0), [[[0, 0, 0]], [[2.5, 0, 0]]])
    assert checks["is_free"].tolist() == [True, False] and checks["pair"].tolist() == [[NONE, NONE], [0, 1]]
    short, through = JointPath([[[0, 0, 0]], [[1, 0, 0]]]), JointPath([[[0, 0, 0]], [[6, 0, 0]], [[7, 0, 0]]])
    found = arena.joint_paths(
        BodyColumns(0), [short, through, JointPath([[[0, 0, 0]], [[1.9, 0, 0]]], deviations=[[0.5]])]
    )
    assert found["outcome"].tolist() == [PathOutcome.FREE, PathOutcome.HIT, PathOutcome.UNDECIDED]
    assert found["free_until"][0] == 1 and found["time"][1] == pytest.approx(1 / 3, abs=1e-6)
    assert np.isnan(found["time"][0]) and found["pair"].tolist() == [[NONE, NONE], [0, 1], [0, 1]]
    again = arena.joint_paths(BodyColumns(0), pickle.loads(pickle.dumps([short, through])))
    assert again.rows.tobytes() == found.rows[:2].tobytes()
    turn = [[[0, 0, 0, 1]], [[0, 0, np.sin(0.5), np.cos(0.5)]]]
    assert arena.joint_paths(BodyColumns(0), [JointPath(np.zeros((2, 1, 3)), turn)])["outcome"][0] == PathOutcome.FREE
    shoulder, elbow = Revolute(0.02, 2.0), Revolute(0.02, 1.0)
    assert joint_deviation([shoulder, elbow], 1) == pytest.approx(0.125 * 0.02**2 * 9)
    assert joint_deviation([Prismatic(1), Prismatic(2)], 1) == 0 and joint_deviation([], 1) == 0
    for wrong, message in [
        (lambda: arena.postures(BodyColumns(0), [[0, 0, 0]]), r"positions has the shape \(1, 3\)"),
        (lambda: arena.postures(BodyColumns(0), np.zeros((2, 2, 3))), "poses"),
        (lambda: arena.postures(BodyColumns(0), np.full((2, 1, 3), np.nan)), "posture 0"),
        (lambda: arena.joint_paths(BodyColumns(0), [JointPath(np.zeros((1, 1, 3)))]), "sample_count"),
        (lambda: arena.joint_paths(BodyColumns(0), [short], step_limit=0), "step_limit"),
        (lambda: arena.joint_paths(BodyColumns(0), ["path"]), r"paths\[0\] is of the type str"),  # type: ignore[list-item]
        (lambda: JointPath(np.zeros((2, 1, 3)), deviations=[[0], [0]]), r"deviations has the shape \(2, 1\)"),
        (lambda: joint_deviation([1.0], 1), r"joints\[0\]"),  # type: ignore[list-item]
    ]:
        with pytest.raises(hullfield.Error, match=message):
            wrong()


def test_wrong_options_are_errors() -> None:
    bodies = crowd(4).bodies
    for call, message in [
        (lambda: ARENA.contacts(bodies, margin=-1), "margin"),
        (lambda: ARENA.contacts(bodies, margin=np.nan), "margin"),
        (lambda: ARENA.contacts(bodies, margin="1"), "margin is '1'"),
        (lambda: ARENA.contacts(bodies, margin=True), "margin is True"),
        (lambda: ARENA.contacts(bodies, "all"), "pairs is 'all'"),
        (lambda: ARENA.contacts(bodies, [0, 1]), r"pairs has the shape \(2,\)"),
        (lambda: ARENA.contacts(bodies, [[0.0, 1.0]]), "pairs has the dtype float64"),
        (lambda: ARENA.contacts(bodies, [[1, 1]]), "paired with itself"),
        (lambda: ARENA.contacts(bodies, [[-1, 1]]), r"pairs\[\(0, 0\)\] is -1"),
        (lambda: ARENA.sweeps(bodies, [1, 0, 0], duration=-1), "duration"),
        (lambda: ARENA.sweeps(bodies, [[1, 0, 0]]), "velocities has 1 rows, it must have 4"),
        (lambda: ARENA.sweeps(bodies, [np.nan, 0, 0]), "velocity"),
        (lambda: ARENA.sweeps(bodies, None), "velocities holds objects"),
        (lambda: ARENA.sweeps(bodies, [1, 0, 0], witness=1), "witness is 1"),
        (lambda: ARENA.nearest_bodies(bodies, count=0), "count"),
        (lambda: ARENA.nearest_bodies(bodies, count=2**40), "count is 1099511627776"),
        (lambda: ARENA.nearest_bodies(bodies, max_distance=-1), "max_distance"),
        (lambda: ARENA.nearest_points(bodies, [[0, 0, 0]], worlds=[1]), "worlds"),
        (lambda: ARENA.raycasts(bodies, RayColumns([0, 0, 0], [1, 0, 0], worlds=[1])), "worlds"),
    ]:
        with pytest.raises(hullfield.Error, match=message):
            call()
    assert len(ARENA.contacts(BodyColumns([]))) == 0 and len(ARENA.contacts(bodies, np.zeros((0, 2), int))) == 0
    assert ARENA.contacts(BodyColumns([])).rows.dtype == ARENA.contacts(bodies).rows.dtype
    assert len(ARENA.hits(BodyColumns([]))) == 0


def test_rows_become_tables() -> None:
    table = ARENA.contacts(crowd().bodies).to_pandas()
    assert list(table.columns)[:5] == ["a", "b", "status", "separation", "normal_0"] and "points_1_2" in table.columns
    assert list(ARENA.manifolds(crowd().bodies).to_pandas().columns)[-1] == "feature_indices_3_1_1"
    assert Degeneracy(0) is Degeneracy.POINTS
