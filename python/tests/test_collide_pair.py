"""One pair of hulls, against closed forms, and against coal."""

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hullfield
from hullfield import collide
from hullfield.collide import Degeneracy, Hull, Pose, Status, SweepOutcome

CUBE = Hull.cuboid([0.5, 0.5, 0.5])
BALL = Hull.ball(1)


def test_distances_and_depths() -> None:
    assert collide.intersects(CUBE, None, BALL, Pose([1.4, 0, 0]))
    assert not collide.intersects(CUBE, None, BALL, Pose([1.6, 0, 0]))
    row = collide.distance(CUBE, None, BALL, Pose([3, 0, 0]))
    assert (row["a"], row["b"], row["status"]) == (0, 1, Status.SEPARATED)
    assert row["separation"] == pytest.approx(1.5, abs=1e-9)
    assert np.allclose(row["points"], [[0.5, 0, 0], [2, 0, 0]], atol=1e-9)
    assert np.allclose(row["axis"], [1, 0, 0])
    assert 0 < collide.distance_lower_bound(CUBE, None, BALL, Pose([3, 0, 0])) <= row["separation"]
    deep = collide.distance(CUBE, None, BALL, Pose([1, 0, 0]))
    assert deep["separation"] == 0 and np.isnan(deep["points"]).all() and np.isnan(deep["axis"]).all()
    contact = collide.contact(CUBE, None, BALL, Pose([1.25, 0, 0]))
    assert contact["separation"] == pytest.approx(-0.25, abs=1e-9)
    assert np.allclose(contact["normal"], [1, 0, 0])
    verdict = collide.intersection(CUBE, None, BALL, Pose([3, 0, 0]))
    assert verdict["status"] == Status.SEPARATED and np.allclose(verdict["axis"], [1, 0, 0], atol=0.2)
    assert np.isnan(collide.intersection(CUBE, None, BALL, None)["axis"]).all()


def test_gradients_are_those_of_differences() -> None:
    turned = Pose([2, 0.3, 0.1], Rotation.from_euler("xyz", [0.3, 0.2, 0.1]).as_quat())
    row = collide.gradient(CUBE, None, CUBE, turned)
    assert row["degeneracy"] == collide.NONE
    step = 2**-10
    for axis in range(3):
        moved = turned.position.copy()
        moved[axis] += step
        ahead = collide.distance(CUBE, None, CUBE, Pose(moved, turned.rotation))
        slope = (ahead["separation"] - row["separation"]) / step
        assert slope == pytest.approx(row["position_b"][axis], abs=2e-3)
    assert np.allclose(row["position_a"], -row["position_b"])
    assert collide.gradient(CUBE, None, CUBE, Pose([3, 0, 0]))["degeneracy"] == Degeneracy.POINTS


def test_manifolds_have_four_points() -> None:
    row = collide.manifold(CUBE, None, CUBE, Pose([0, 0.99, 0]))
    assert row["point_count"] == 4
    assert np.allclose(row["separations"], -0.01, atol=1e-6)
    corners = {tuple(corner) for corner in np.round(row["points"][:, 0], 6).tolist()}
    assert corners == {(x, 0.5, z) for x in (-0.5, 0.5) for z in (-0.5, 0.5)}
    one = collide.manifold(CUBE, None, BALL, Pose([0, 1.4, 0]))
    assert one["point_count"] == 1 and np.isnan(one["points"][1:]).all() and np.isnan(one["separations"][1:]).all()
    assert (one["feature_kinds"][1:] == collide.NONE).all()
    assert one["feature_kinds"][0].tolist() == [collide.FeatureKind.FACE, collide.FeatureKind.VERTEX]


def test_sweeps_and_rays() -> None:
    row = collide.sweep(BALL, Pose([-5, 0, 0]), [2, 0, 0], BALL, None, [0, 0, 0], duration=3)
    assert row["outcome"] == SweepOutcome.HIT and row["time"] == pytest.approx(1.5, abs=1e-8)
    assert np.allclose(row["points"], [[-1, 0, 0], [-1, 0, 0]], atol=1e-5)
    miss = collide.sweep(BALL, Pose([-5, 0, 0]), [2, 0, 0], BALL, None, [0, 0, 0])
    assert miss["outcome"] == SweepOutcome.MISS and miss["time"] == 1 and np.isnan(miss["normal"]).all()
    hit = collide.raycast(BALL, Pose([5, 0, 0]), [0, 0, 0], [1, 0, 0])
    assert hit is not None and hit["distance"] == 4 and hit["normal"].tolist() == [-1, 0, 0]
    assert collide.raycast(BALL, Pose([5, 0, 0]), [0, 0, 0], [1, 0, 0], max_distance=3) is None
    near = collide.nearest_point(Hull.cuboid([1, 1, 1]), None, [0, 0.75, 0])
    assert near["distance"] == -0.25 and near["nearest"].tolist() == [0, 1, 0]


def test_half_spaces() -> None:
    wall = Pose.of_half_space([1, 0, 0], 2)
    row = collide.distance(Hull.half_space(), wall, BALL, Pose([5, 0, 0]))
    assert row["separation"] == 2
    with pytest.raises(hullfield.InvalidInputError, match="half-spaces"):
        collide.distance(Hull.half_space(), None, Hull.half_space(), None)
    with pytest.raises(hullfield.InvalidInputError, match="normal"):
        Pose.of_half_space([1, 1, 0], 2)


def test_poses() -> None:
    turn = Rotation.from_euler("xyz", [0.3, -0.2, 1.1])
    matrix = np.eye(4)
    matrix[:3, :3] = turn.as_matrix() * [1, 2, 3]
    matrix[:3, 3] = [4, 5, 6]
    pose = Pose.from_matrix(matrix)
    assert np.allclose(pose.position, [4, 5, 6]) and np.allclose(pose.scale, [1, 2, 3], rtol=1e-6)
    assert np.allclose(Rotation.from_quat(pose.rotation).as_matrix(), turn.as_matrix(), atol=1e-6)
    assert pickle.loads(pickle.dumps(pose)) == pose == copy.deepcopy(pose)
    assert hash(Pose([1, 2, 3])) == hash(Pose([1, 2, 3])) and Pose() != Pose([1, 0, 0])
    assert Pose(scale=2).scale.tolist() == [2, 2, 2]
    matrix[0, 1] += 0.5
    with pytest.raises(hullfield.InvalidInputError, match="shears"):
        Pose.from_matrix(matrix)
    with pytest.raises(hullfield.InvalidInputError, match="last row"):
        Pose.from_matrix(np.ones((4, 4)))
    with pytest.raises(hullfield.InvalidInputError, match="rotation"):
        collide.distance(BALL, Pose(rotation=[1, 1, 0, 0]), BALL, None)
    with pytest.raises(hullfield.InvalidInputError, match="scale"):
        collide.distance(BALL, Pose(scale=-1), BALL, None)
    for wrong in ["x", [True, False, True], [1, 2], [[1, 2, 3]], [1j, 0, 0]]:
        with pytest.raises(hullfield.Error, match="position"):
            Pose(wrong)  # type: ignore[arg-type]
    with pytest.raises(hullfield.InvalidTypeError, match="pose_b is of the type list"):
        collide.distance(BALL, None, BALL, [0, 0, 0])  # type: ignore[arg-type]
    with pytest.raises(hullfield.InvalidTypeError, match="a is of the type str"):
        collide.distance("ball", None, BALL, None)  # type: ignore[arg-type]


def test_distances_are_those_of_coal() -> None:
    coal = pytest.importorskip("coal", reason="pip install coal")
    random = np.random.default_rng(3)
    for _ in range(200):
        halves = random.uniform(0.2, 1.5, (2, 3)).astype(np.float32)
        turns = Rotation.random(2, rng=random)
        places = random.uniform(-2, 2, (2, 3)).astype(np.float32)
        quaternions = turns.as_quat().astype(np.float32)
        boxes = [coal.Box(*(2 * half.astype(float))) for half in halves]
        frames = [
            coal.Transform3s(Rotation.from_quat(q).as_matrix(), p.astype(float))
            for q, p in zip(quaternions, places, strict=True)
        ]
        request, result = coal.DistanceRequest(), coal.DistanceResult()
        expected = coal.distance(boxes[0], frames[0], boxes[1], frames[1], request, result)
        poses = [Pose(p, q) for p, q in zip(places, quaternions, strict=True)]
        row = collide.contact(Hull.cuboid(halves[0]), poses[0], Hull.cuboid(halves[1]), poses[1])
        assert row["separation"] == pytest.approx(expected, abs=2e-5)
