"""Work in rows, each row against the library's own answer for it alone."""

import pickle

import numpy as np
import numpy.typing as npt
import pytest

import hullfield
from hullfield.collide import Hull, Pose, intersects
from hullfield.navigate.room import Room
from hullfield.work import CollisionLabels, GeodesicDistances, RoomPaths

Batch = dict[str, npt.NDArray[np.generic]]


def rotations(random: np.random.Generator, count: int) -> npt.NDArray[np.float64]:
    """Unit quaternions x, y, z, w."""
    quaternions = random.normal(size=(count, 4))
    return quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)


def matrices(positions: npt.NDArray[np.float64], quaternions: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    x, y, z, w = quaternions.T
    poses = np.zeros((len(positions), 4, 4))
    poses[:, 0, :3] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=1)
    poses[:, 1, :3] = np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=1)
    poses[:, 2, :3] = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1)
    poses[:, :3, 3] = positions
    poses[:, 3, 3] = 1
    return poses


def grasps(count: int) -> tuple[CollisionLabels, Batch, list[bool]]:
    """A gripper of three boxes, three objects, one of them without hulls, and the label of each row by itself."""
    random = np.random.default_rng(5)
    boxes = [([0.1, 0.4, 0.1], [0, 0, 0]), ([0.05, 0.05, 0.3], [0, 0.35, 0.3]), ([0.05, 0.05, 0.3], [0, -0.35, 0.3])]
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    gripper = [Hull(corners * half + centre) for half, centre in boxes]
    objects = [[Hull(random.normal(size=(20, 3)) * 0.3)], [], [Hull.ball(0.2), Hull.cuboid([0.4, 0.1, 0.1])]]
    numbers = random.integers(0, 3, count)
    positions, quaternions = random.uniform(-0.9, 0.9, (count, 3)), rotations(random, count)
    expected = [
        any(intersects(hull, Pose(position, quaternion), part, Pose()) for hull in gripper for part in objects[number])
        for number, position, quaternion in zip(numbers, positions, quaternions, strict=True)
    ]
    batch = {"object": numbers, "pose": matrices(positions, quaternions)}
    return CollisionLabels(gripper, objects, backend="cpu"), batch, expected


def test_collision_labels_are_those_of_each_pair() -> None:
    labels, batch, expected = grasps(600)
    found = labels(batch)["collides"]
    assert 100 < sum(expected) < 500
    assert found.tolist() == expected
    # However the rows are cut, and after a pickle.
    again = pickle.loads(pickle.dumps(labels))
    parts = [again({name: rows[at : at + 7] for name, rows in batch.items()})["collides"] for at in range(0, 600, 7)]
    assert np.concatenate(parts).tolist() == expected


def test_geodesic_distances_are_those_of_each_field() -> None:
    square = (np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [9, 9, 9]]), np.array([[0, 1, 2], [0, 2, 3]]))
    bent = (np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1]]), np.array([[0, 1, 2], [0, 3, 1]]))
    work = pickle.loads(pickle.dumps(GeodesicDistances([square, bent])))
    batch = {"mesh": np.array([0, 0, 1, 0]), "source": np.array([0, 1, 3, 0]), "target": np.array([2, 3, 2, 4])}
    expected = [np.sqrt(2), np.sqrt(2), np.hypot(1, 2), np.inf]
    assert np.allclose(work(batch)["distance"], expected, rtol=1e-12)
    with pytest.raises(hullfield.InvalidInputError, match="row 1: mesh 2 does not exist, there are 2"):
        work({"mesh": np.array([0, 2]), "source": np.array([0, 0]), "target": np.array([0, 0])})
    with pytest.raises(hullfield.InvalidInputError, match="row 0: vertex 4 of mesh 1 does not exist, there are 4"):
        work({"mesh": np.array([1]), "source": np.array([0]), "target": np.array([4])})


def test_paths_in_rooms_are_those_of_the_room() -> None:
    room = Room([[0, 0], [10, 0], [10, 10], [0, 10]], [[[4, 4], [6, 4], [6, 6], [4, 6]]])
    work = pickle.loads(pickle.dumps(RoomPaths(room)))
    found = work({"start": np.array([[1.0, 5.0], [1, 1]]), "goal": np.array([[9.0, 5.0], [2, 2]])})
    assert np.allclose(found["length"], [2 + 2 * np.sqrt(10), np.sqrt(2)], rtol=1e-12)


def test_bad_rows_are_clear_errors() -> None:
    labels, batch, _ = grasps(4)
    with pytest.raises(hullfield.InvalidInputError, match="no column object, it has pose"):
        labels({"pose": batch["pose"]})
    with pytest.raises(hullfield.InvalidInputError, match="row 2: object 9 does not exist, there are 3"):
        labels({"object": np.array([0, 1, 9, 1]), "pose": batch["pose"]})
    with pytest.raises(hullfield.InvalidInputError, match=r"pose has the shape \(4, 3, 4\)"):
        labels({"object": batch["object"], "pose": batch["pose"][:, :3]})
    with pytest.raises(hullfield.InvalidInputError, match="object has 3 rows, it must have 4"):
        labels({"object": batch["object"][:3], "pose": batch["pose"]})
    with pytest.raises(hullfield.InvalidInputError, match="the gripper has no hulls"):
        CollisionLabels([], [])
    assert len(labels({"object": np.zeros(0, int), "pose": np.zeros((0, 4, 4))})["collides"]) == 0
