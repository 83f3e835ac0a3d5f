"""Compounds and height fields, against their parts as bodies of their own."""

import copy
import os
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hullfield
from hullfield.collide import (
    NONE,
    Arena,
    BodyColumns,
    Compound,
    CompoundColumns,
    Compounds,
    HeightField,
    Hull,
    RayColumns,
    ShapeCastColumns,
    Status,
    SweepOutcome,
)

ENGINE = hullfield.Engine.cpu()
ARENA = Arena([Hull.cuboid([1, 0.2, 0.2]), Hull.ball(0.5)], engine=ENGINE)
DUMBBELL = Compound([0, 1, 1], [[0, 0, 0], [-1, 0, 0], [1, 0, 0]])
TRIPOD = Compound(1, [[0, 1, 0], [1, 0, 0], [0, 0, 1]], scales=[[1], [0.5], [2]], paddings=0.1)
COMPOUNDS = Compounds(ARENA, [DUMBBELL, TRIPOD])


def crowd(count: int = 40) -> CompoundColumns:
    random = np.random.default_rng(3)
    return CompoundColumns(
        np.arange(count) % 2,
        random.uniform(-4, 4, (count, 3)),
        Rotation.random(count, rng=random).as_quat(),
        random.uniform(0.5, 1, count),
        paddings=0.05,
    )


def parts_of(bodies: CompoundColumns) -> tuple[BodyColumns, np.ndarray, np.ndarray]:
    """All parts as bodies with owners, and the body and the part of each."""
    columns: dict[str, list[np.ndarray]] = {}
    owners, numbers = [], []
    for row in range(len(bodies)):
        parts = COMPOUNDS.parts(bodies, row)
        for name, column in parts.arrays().items():
            columns.setdefault(name, []).append(column)
        owners += [row] * len(parts)
        numbers += list(range(len(parts)))
    joined = {name: np.concatenate(column) for name, column in columns.items()}
    return BodyColumns(**joined, owners=owners), np.array(owners), np.array(numbers)


def test_pairs_of_parts_are_those_of_the_parts() -> None:
    bodies = crowd()
    single, owners, numbers = parts_of(bodies)
    for name in ["intersections", "contacts", "manifolds", "distances"]:
        options = {} if name == "intersections" else {"margin": 0.2}
        truth, found = getattr(ARENA, name)(single, **options), getattr(COMPOUNDS, name)(bodies, **options)
        rows = {(r["a"], r["part_a"], r["b"], r["part_b"], r["status"]) for r in found.rows}
        expected = {(owners[r["a"]], numbers[r["a"]], owners[r["b"]], numbers[r["b"]], r["status"]) for r in truth.rows}
        assert rows == expected and len(found) == len(expected) > 10, name
    # A row a pair of bodies: the deepest.
    parts, whole = COMPOUNDS.contacts(bodies), COMPOUNDS.body_contacts(bodies)
    deepest: dict[tuple[int, int], float] = {}
    for row in parts.rows:
        key = (int(row["a"]), int(row["b"]))
        deepest[key] = min(deepest.get(key, np.inf), row["separation"])
    assert {(int(r["a"]), int(r["b"])): r["separation"] for r in whole.rows} == deepest
    hit = COMPOUNDS.body_intersections(bodies)
    assert [(r["a"], r["b"]) for r in hit.rows] == sorted(deepest)
    counts = COMPOUNDS.hit_counts(bodies)
    assert (counts.rows == np.bincount([i for pair in deepest for i in pair], minlength=len(bodies))).all()
    assert (COMPOUNDS.hits(bodies).rows == (counts.rows > 0)).all()
    given = np.array(sorted(deepest))[:5]
    rows = COMPOUNDS.body_distances(bodies, given)
    assert (np.column_stack([rows["a"], rows["b"]]) == given).all() and (rows["status"] != Status.SEPARATED).all()


def test_rays_points_casts_and_sweeps() -> None:
    bodies, random = crowd(), np.random.default_rng(8)
    single, owners, numbers = parts_of(bodies)
    rays = RayColumns(random.uniform(-5, 5, (200, 3)), random.normal(size=(200, 3)))
    truth, found = ARENA.raycasts(single, rays), COMPOUNDS.raycasts(bodies, rays)
    hit = truth["body"] != NONE
    assert 20 < hit.sum() and ((found["body"] != NONE) == hit).all()
    assert (found["distance"][hit] == truth["distance"][hit]).all()
    outside = hit & (truth["distance"] > 0)
    assert (found["body"][outside] == owners[truth["body"][outside]]).all()
    assert (found["part"][outside] == numbers[truth["body"][outside]]).all()
    assert (COMPOUNDS.occlusions(bodies, rays)["occluded"] == hit).all()
    assert len(COMPOUNDS.raycasts_all(bodies, rays)) == len(ARENA.raycasts_all(single, rays))
    points = random.uniform(-4, 4, (200, 3))
    near, parts = COMPOUNDS.nearest_points(bodies, points), ARENA.nearest_points(single, points)
    assert (near["distance"] == parts["distance"]).all() and (near["body"] == owners[parts["body"]]).all()
    inside, parts = COMPOUNDS.containments(bodies, points), ARENA.containments(single, points)
    assert len(inside) == len(parts) > 0
    assert {(r["point"], r["body"], r["part"]) for r in inside.rows} == {
        (r["point"], owners[r["body"]], numbers[r["body"]]) for r in parts.rows
    }
    casts = ShapeCastColumns(BodyColumns(1, random.uniform(-5, 5, (50, 3))), random.normal(size=(50, 3)))
    first, parts = COMPOUNDS.shape_casts(bodies, casts), ARENA.shape_casts(single, casts)
    assert np.array_equal(first["distance"], parts["distance"], equal_nan=True)
    assert len(COMPOUNDS.shape_casts_all(bodies, casts)) == len(ARENA.shape_casts_all(single, casts))
    assert (COMPOUNDS.shape_casts_any(bodies, casts)["is_hit"] == (parts["body"] != NONE)).all()
    shapes = BodyColumns(1, [[20, 0, 0], [0, 20, 0]])
    near = COMPOUNDS.nearest_bodies_to(bodies, shapes, count=3)
    assert len(near) == 6 and "part" in near.rows.dtype.names
    nearest = COMPOUNDS.nearest_bodies(bodies)
    assert (nearest["query"] == np.arange(len(bodies))).all() and (nearest["body"] != nearest["query"]).all()
    apart = CompoundColumns([0, 0], [[0, 0, 0], [0, 5, 0]])
    met = COMPOUNDS.body_sweeps(apart, [[0, 0, 0], [0, -1, 0]], duration=10)
    # The balls are 0.5 high each, the bars 0.2.
    assert met["outcome"].tolist() == [SweepOutcome.HIT] and met["time"][0] == pytest.approx(4, abs=1e-4)
    assert {(r["part_a"], r["part_b"]) for r in COMPOUNDS.sweeps(apart, [[0, 0, 0], [0, -1, 0]], duration=10).rows} >= {
        (1, 1),
        (2, 2),
    }


def test_height_fields() -> None:
    x = np.arange(9)
    heights = np.broadcast_to(0.5 * x, (9, 9)).copy()
    slope = HeightField(heights, 1.0)
    assert slope.part_count == 128 and slope.heights.shape == (9, 9) and slope.spacing.tolist() == [1, 1]
    assert slope.triangle(0) is not None and slope.triangle(0).tolist() == [[0, 0, 0], [0, 0, 1], [1, 0.5, 0]]  # type: ignore[union-attr]
    assert slope.triangle(128) is None
    level = Compounds(ARENA, [Compound([1])], height_fields=[slope], statics=CompoundColumns([1]))
    assert len(level) == 2
    ball = CompoundColumns([0], [[3.25, 2.0, 3.25]])
    found = level.body_contacts(ball, margin=1)
    assert (found["b"][0], found["part_b"][0]) == (1, 2 * (3 * 8 + 3))
    distance = (2.0 - 0.5 * 3.25) / np.hypot(1, 0.5) - 0.5
    assert found["separation"][0] == pytest.approx(distance, abs=1e-5)
    down = RayColumns([[2.3, 50, 4.6]], [0, -1, 0])
    hit = level.raycasts(CompoundColumns([]), down)
    assert hit["distance"][0] == pytest.approx(50 - 1.15, abs=1e-5) and hit["body"][0] == 0
    heights[4, 4] = np.nan
    holed = HeightField(heights, (1.0, 2.0), (5, 6, 7))
    assert holed.triangle(2 * (4 * 8 + 4)) is None
    for again in [pickle.loads(pickle.dumps(holed)), copy.deepcopy(holed)]:
        assert np.array_equal(again.heights, holed.heights, equal_nan=True)
        assert again.spacing.tolist() == [1, 2] and again.origin.tolist() == [5, 6, 7]
    for wrong, message in [
        (lambda: HeightField(np.zeros(4), 1), r"heights has the shape \(4,\)"),
        (lambda: HeightField(np.zeros((1, 4)), 1), "heights"),
        (lambda: HeightField(np.zeros((4, 1)), 1), "columns"),
        (lambda: HeightField(np.zeros((4, 4)), 0), "spacing"),
        (lambda: HeightField(np.full((4, 4), np.nan), 1), "no triangle"),
        (lambda: HeightField(np.full((4, 4), np.inf), 1), "height"),
        (lambda: HeightField(np.zeros((4, 4), bool), 1), "bool"),
        (lambda: HeightField(np.zeros((4, 4)), 1, [np.nan, 0, 0]), "origin"),
        (lambda: COMPOUNDS.parts(ball, 1), "body 1 does not exist"),
        (lambda: level.parts(CompoundColumns([1]), 0), "height field"),
    ]:
        with pytest.raises(
            hullfield.InvalidInputError if message != "bool" else hullfield.InvalidTypeError, match=message
        ):
            wrong()


def test_compounds_pickle_and_statics_count_on() -> None:
    bodies = crowd()
    standing = Compounds(ARENA, [DUMBBELL, TRIPOD], statics=CompoundColumns(0, [[0, 0, 0]]))
    expected = standing.contacts(bodies).rows
    assert (expected["b"] == len(bodies)).any()
    for again in [pickle.loads(pickle.dumps(standing)), copy.deepcopy(standing)]:
        assert again.contacts(pickle.loads(pickle.dumps(bodies))).rows.tobytes() == expected.tobytes()
    excluded = CompoundColumns(**{**bodies.arrays(), "static_exclusions": [[i, 0] for i in range(len(bodies))]})
    assert not (standing.contacts(excluded)["b"] == len(bodies)).any()
    worlds = CompoundColumns(**{**bodies.arrays(), "worlds": np.arange(len(bodies))})
    assert len(COMPOUNDS.contacts(worlds)) == 0
    assert pickle.loads(pickle.dumps(TRIPOD))._columns[3].tolist() == TRIPOD._columns[3].tolist()
    assert len(Compound(range(2))) == 2


def test_wrong_compounds_are_errors() -> None:
    for wrong, message in [
        (lambda: Compounds(ARENA, [Compound([2])]), "hull 2 does not exist"),
        (lambda: Compounds(ARENA, [Compound([])]), "no parts"),
        (lambda: Compounds(ARENA, [Compound([0], scales=-1)]), "scale"),
        (lambda: Compounds(ARENA, [[0]]), r"compounds\[0\] is of the type list"),
        (lambda: Compounds("arena", []), "arena is of the type str"),
        (lambda: Compounds(ARENA, [], height_fields=[1]), r"height_fields\[0\]"),
        (lambda: Compounds(ARENA, [DUMBBELL], statics=CompoundColumns([0], worlds=[1])), "statics have worlds"),
        (lambda: Compounds(ARENA, [DUMBBELL], statics=CompoundColumns([1])), "compound 1 does not exist"),
        (lambda: COMPOUNDS.contacts(CompoundColumns([2])), "body 0: compound 2 does not exist"),
        (lambda: COMPOUNDS.contacts(CompoundColumns([0], [[np.nan, 0, 0]])), "position"),
        (lambda: COMPOUNDS.contacts(CompoundColumns([0], scales=[0])), "scale"),
        (lambda: COMPOUNDS.contacts(BodyColumns([0])), "bodies is of the type BodyColumns"),
        (lambda: COMPOUNDS.contacts(crowd(), margin=-1), "margin"),
        (lambda: COMPOUNDS.nearest_bodies(crowd(), count=0), "count"),
    ]:
        with pytest.raises(hullfield.Error, match=message):
            wrong()  # type: ignore[no-untyped-call]


def test_a_compound_query_is_cancelled() -> None:
    bodies = CompoundColumns(0, np.random.default_rng(0).uniform(-0.1, 0.1, (20_000, 3)))
    pending = COMPOUNDS.contacts.start(bodies)
    with pytest.raises(hullfield.WaitTimeoutError):
        pending.wait(timeout=0.05)
    pending.cancel()
    with pytest.raises(hullfield.CancelledError):
        pending.wait()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_compounds_of_a_gpu_are_refused_in_a_forked_child() -> None:
    script = """
        import os, sys, hullfield
        from hullfield.collide import *
        try:
            engine = hullfield.Engine.gpu()
        except hullfield.NoGpuError:
            sys.exit(77)
        arena = Arena([Hull.ball(0.5)], engine=engine)
        compounds, bodies = Compounds(arena, [Compound([0])]), Bodies(arena)
        bodies.insert(BodyColumns([0, 0]))
        child = os.fork()
        if child == 0:
            for call in [lambda: compounds.hits(CompoundColumns([0, 0])), bodies.intersections, lambda: len(bodies)]:
                try:
                    call()
                except hullfield.ForkedError:
                    continue
                os._exit(3)
            sys.exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), len(bodies.intersections()))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], check=False, capture_output=True, text=True, timeout=300
    )
    if done.returncode == 77 and os.environ.get("HULLFIELD_REQUIRE_GPU") != "1":
        pytest.skip("no adapter")
    assert done.stdout == "0 1\n", done.stdout + done.stderr
