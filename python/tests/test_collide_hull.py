"""Hulls against scipy and trimesh, and hostile input."""

import copy
import pickle

import numpy as np
import pytest
import trimesh
from scipy.spatial import ConvexHull

import hullfield
from hullfield.collide import Dimension, Hull, Pose, distance


def points(count: int = 40, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)


def test_a_hull_is_that_of_scipy() -> None:
    cloud = points()
    hull, peer = Hull(cloud), ConvexHull(cloud.astype(np.float64))
    assert hull.vertices.dtype == np.float32
    assert {tuple(v) for v in hull.vertices.tolist()} == {tuple(v) for v in cloud[peer.vertices].tolist()}
    assert hull.volume == pytest.approx(peer.volume, rel=1e-9)
    assert hull.dimension is Dimension.SOLID
    assert hull.triangles.shape == peer.simplices.shape
    # Euler, and each edge once.
    assert len(hull.vertices) - len(hull.edges) + len(hull.faces) == 2
    assert len({tuple(e) for e in hull.edges.tolist()}) == len(hull.edges)
    assert np.allclose(hull.mean, hull.vertices.astype(np.float64).mean(axis=0))
    assert hull.radius == pytest.approx(np.linalg.norm(hull.vertices - hull.mean, axis=1).max())


def test_planes_and_faces_fit() -> None:
    hull = Hull.cuboid([1, 2, 3])
    assert len(hull.faces) == 6 and all(len(face) == 4 for face in hull.faces)
    assert hull.planes.shape == (6, 4)
    heights = hull.vertices @ hull.planes[:, :3].T - hull.planes[:, 3]
    assert heights.max() < 1e-12
    for face, height in zip(hull.faces, heights.T, strict=True):
        assert np.abs(height[face]).max() < 1e-12
    assert hull.neighbours(0).tolist() == [1, 2, 4]
    assert hull.neighbours(99).tolist() == []


def test_shapes() -> None:
    assert Hull.ball(2).rounding == 2.0 and Hull.ball(2).dimension is Dimension.POINT
    assert Hull.capsule([0, 0, 0], [0, 1, 0], 0.5).dimension is Dimension.SEGMENT
    assert Hull.triangle(np.eye(3)).dimension is Dimension.POLYGON
    assert len(Hull.triangle(np.eye(3)).faces) == 2
    assert Hull.half_space().dimension is Dimension.HALF_SPACE
    cylinder = Hull.cylinder([0, 0, 0], [0, 0, 2], 1, 64)
    assert len(cylinder.vertices) == 128
    assert cylinder.volume == pytest.approx(2 * np.pi, rel=2e-3)
    assert Hull.cone([0, 0, 0], [0, 0, 3], 1, 64).volume == pytest.approx(np.pi, rel=2e-3)
    assert Hull.ball(1).faces == []
    with pytest.raises(hullfield.InvalidInputError, match="sides"):
        Hull.cylinder([0, 0, 0], [0, 0, 2], 1, 2)
    with pytest.raises(hullfield.InvalidInputError, match="radius"):
        Hull.ball(-1)


def test_simplified_hulls_are_inside() -> None:
    hull = Hull(points(400))
    small, outside = hull.simplify(12)
    assert len(small.vertices) == 12 and outside > 0
    for vertex in hull.vertices[::7]:
        row = distance(small, None, Hull([vertex]), None)
        assert row["separation"] <= outside * (1 + 1e-6)
    with pytest.raises(hullfield.InvalidInputError, match="max_vertices is 3"):
        hull.simplify(3)


def test_rounding() -> None:
    box = Hull.cuboid([1, 1, 1]).rounded(0.5)
    assert box.rounding == 0.5
    row = distance(box, None, Hull.ball(0.25), Pose([3, 0, 0]))
    assert row["separation"] == pytest.approx(3 - 1 - 0.5 - 0.25, abs=1e-8)


def test_meshes_are_taken_as_they_are() -> None:
    mesh = trimesh.creation.icosphere(subdivisions=2)
    hull = Hull.from_mesh(mesh)
    assert hull == Hull(mesh.vertices)
    assert hull.volume == pytest.approx(mesh.volume, rel=1e-6)

    class PolyData:
        points = mesh.vertices

    assert Hull.from_mesh(PolyData()) == hull
    peer = ConvexHull(np.asarray(mesh.vertices))
    assert Hull.from_mesh(peer) == hull
    with pytest.raises(hullfield.InvalidTypeError, match="mesh is of the type int"):
        Hull.from_mesh(3)
    triangles = Hull.triangles_of_mesh(mesh.vertices, mesh.faces)
    assert len(triangles) == len(mesh.faces)
    corners = {tuple(v) for v in mesh.vertices[mesh.faces[7]].astype(np.float32).tolist()}
    assert {tuple(v) for v in triangles[7].vertices.tolist()} == corners
    with pytest.raises(hullfield.InvalidInputError, match="triangles"):
        Hull.triangles_of_mesh(mesh.vertices, [[0, 1, 10_000]])
    with pytest.raises(hullfield.InvalidInputError, match=r"triangles\[\(0, 2\)\] is -1"):
        Hull.triangles_of_mesh(mesh.vertices, [[0, 1, -1]])


def test_equal_hulls_hash_alike_and_pickle() -> None:
    for hull in [Hull(points()), Hull.ball(2), Hull.half_space(), Hull.cuboid([1, 0, 2]).rounded(0.1)]:
        for copied in [pickle.loads(pickle.dumps(hull)), copy.deepcopy(hull)]:
            assert copied == hull and hash(copied) == hash(hull)
            assert copied.dimension is hull.dimension
    assert Hull.ball(1) != Hull.ball(2) and Hull.ball(1) != "ball"
    assert Hull([[0, 0, -0.0]]) == Hull([[0, 0, 0.0]])
    assert hash(Hull([[0, 0, -0.0]])) == hash(Hull([[0, 0, 0.0]]))
    assert Hull.half_space() != Hull([[0, 0, 0]])
    assert len({Hull.ball(1), Hull.ball(1), Hull.ball(2)}) == 2


def test_any_layout_of_an_array_will_do() -> None:
    cloud = points(20)
    expected = Hull(cloud)
    read_only = cloud.copy()
    read_only.flags.writeable = False
    for same in [np.asfortranarray(cloud), cloud.astype(np.float64), cloud[::-1][::-1], read_only, cloud.tolist()]:
        assert Hull(same) == expected
    wide = np.zeros((20, 6), np.float32)
    wide[:, ::2] = cloud
    assert Hull(wide[:, ::2]) == expected
    changed = cloud.copy()
    hull = Hull(changed)
    changed[:] = 0
    assert hull == expected
    assert Hull(cloud.astype(np.int64)) == Hull(cloud.astype(np.int64).astype(np.float32))
    expected.vertices[:] = 0
    assert expected == hull


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.zeros((0, 3)), "points"),
        (np.zeros(3), r"points has the shape \(3,\)"),
        (np.zeros((4, 2)), r"points has the shape \(4, 2\)"),
        ([[0, 0, np.nan]], "position is"),
        ([[0, 0, np.inf]], "position is"),
        ([[0, 0, 1e300], [0, 0, 0]], "position is"),
        ([[True, False, True]], "bool"),
        (np.array([[object()] * 3]), "objects"),
        ([["a", "b", "c"]], "dtype"),
        ([[1, 2], [3]], "not an array"),
        ([[1j, 0, 0]], "complex"),
        (None, "objects"),
    ],
)
def test_wrong_points_are_errors(wrong: object, message: str) -> None:
    with pytest.raises(hullfield.Error, match=message):
        Hull(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [True, "1", None, [1, 2], np.nan, -1.0, np.inf])
def test_wrong_radii_are_errors(wrong: object) -> None:
    with pytest.raises(hullfield.Error, match="radius"):
        Hull.ball(wrong)  # type: ignore[arg-type]
