"""Geodesic distances and paths, next to other libraries."""

import copy
import pickle

import numpy as np
import pytest
from test_surface import CUBE, hills

import hullfield
from hullfield.navigate.surface import Model, Places, Surface

TRIANGLES = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3]]
TRIANGLES += [[0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]]


def meshes() -> list[tuple[str, np.ndarray, np.ndarray]]:
    trimesh = pytest.importorskip("trimesh")
    ball, ring = trimesh.creation.icosphere(subdivisions=3), trimesh.creation.torus(2.0, 0.7, 40, 20)
    can = trimesh.creation.cylinder(1.0, 3.0, sections=24)
    rng = np.random.default_rng(4)
    bumpy = ball.vertices * (1 + 0.4 * rng.random((len(ball.vertices), 1)))
    return [
        ("ball", ball.vertices, ball.faces),
        ("bumpy ball", bumpy, ball.faces),
        ("torus", ring.vertices, ring.faces),
        ("cylinder", can.vertices, can.faces),
        ("hills", *hills(20)),
        ("cube", CUBE, np.array(TRIANGLES)),
    ]


def test_distances_are_those_of_another_exact_method() -> None:
    """pygeodesic is the exact method of Mitchell, Mount and Papadimitriou, by Kirsanov; both are exact but for rounding."""
    peer = pytest.importorskip("pygeodesic.geodesic")
    worst = 0.0
    for name, vertices, faces in meshes():
        ours, theirs = hullfield.geodesic(vertices, faces), peer.PyGeodesicAlgorithmExact(vertices, faces)
        size = np.ptp(vertices, axis=0).max()
        for source in (0, len(vertices) // 3, len(vertices) - 1):
            wanted, _ = theirs.geodesicDistances(np.array([source]))
            found = ours.distance(source)
            worst = max(worst, abs(found - wanted).max() / size)
            assert found == pytest.approx(wanted, abs=1e-9 * size), (name, source)
        several = [0, len(vertices) // 2]
        wanted, which = theirs.geodesicDistances(np.array(several))
        nearest = ours.nearest(several)
        assert nearest.distances == pytest.approx(wanted, abs=1e-9 * size)
        # Where both sources are about as near, either may be named.
        table = ours.distances(several)
        clear = abs(table[0] - table[1]) > 1e-6
        assert (nearest.sources == which)[clear].all() and clear.mean() > 0.5
        assert (nearest.distances == table.min(axis=0)).all()
        length, line = theirs.geodesicDistance(0, several[1])
        path = ours.path(0, several[1])
        assert path.length == pytest.approx(length, rel=1e-9), name
        assert path.points[0] == pytest.approx(vertices[0]) and path.points[-1] == pytest.approx(vertices[several[1]])
        assert len(line) >= 2
    assert worst < 1e-9


def test_distances_are_near_those_of_the_heat_method() -> None:
    """potpourri3d's heat method is approximate: a few percent on meshes of even triangles."""
    peer = pytest.importorskip("potpourri3d")
    for name, vertices, faces in meshes():
        if name not in ("ball", "torus"):
            continue
        wanted = peer.MeshHeatMethodDistanceSolver(vertices, faces).compute_distance(0)
        found = hullfield.geodesic(vertices, faces).distance(0)
        assert abs(found - wanted).max() < 0.06 * found.max(), name
        assert abs(found - wanted).max() > 1e-6


def test_distances_over_a_ball_are_nearly_arcs() -> None:
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=4)
    found = hullfield.geodesic(ball).distance(0)
    arcs = np.arccos(np.clip(ball.vertices @ ball.vertices[0], -1, 1))
    assert found == pytest.approx(arcs, rel=2e-3, abs=1e-7)
    assert (found >= np.linalg.norm(ball.vertices - ball.vertices[0], axis=1) * (1 - 1e-12)).all()


def test_paths_lie_on_the_faces_that_they_name() -> None:
    for name, vertices, faces in meshes():
        ours = hullfield.geodesic(vertices, faces)
        path = ours.path(0, len(vertices) - 1)
        assert path.length == pytest.approx(ours.distance(0)[-1], rel=1e-9), name
        rebuilt = np.einsum("kc,kcx->kx", path.barycentric, vertices[faces[path.faces]])
        assert rebuilt == pytest.approx(path.points, abs=1e-9), name
        assert (path.barycentric >= 0).all() and path.barycentric.sum(axis=1) == pytest.approx(1)
        assert len(path.segment_faces) == len(path.points) - 1
        # Both ends of each piece lie in the plane of its face.
        corners = vertices[faces[path.segment_faces]]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True)
        for ends in (path.points[:-1], path.points[1:]):
            assert abs(np.einsum("kx,kx->k", ends - corners[:, 0], normals)).max() < 1e-9, name


def test_a_source_may_be_a_point_of_a_face() -> None:
    ours = hullfield.geodesic(CUBE, TRIANGLES)
    # The middle of the side z = 0 lies on the diagonal of its two triangles.
    middle = (0, [0.5, 0, 0.5])
    assert ours.distance(middle)[:4] == pytest.approx([np.sqrt(0.5)] * 4)
    # The shortest way to a corner of the other side goes over one edge: 1.5 up and 0.5 aside.
    assert ours.distance(middle)[4:] == pytest.approx([np.sqrt(1.5**2 + 0.5**2)] * 4)
    assert ours.distance((0, [1, 0, 0])) == pytest.approx(ours.distance(0), abs=1e-15)
    both = ours.distances(([0, 2], [[1, 0, 0], [1, 0, 0]]))
    assert both == pytest.approx(ours.distances([0, 4]), abs=1e-15)
    assert ours.path((0, [0.5, 0, 0.5]), (2, [0.5, 0, 0.5])).length == pytest.approx(2)
    assert ours.path(0, 0).length == 0


def test_all_pairs_are_symmetric_and_equal_single_fields() -> None:
    vertices, faces = hills(8)
    ours = hullfield.geodesic(vertices, faces)
    table = ours.all_pairs()
    assert table.shape == (64, 64) and abs(table - table.T).max() < 1e-12 and (np.diag(table) == 0).all()
    assert (table[17] == ours.distance(17)).all() and (table[17] == ours.distances([17])[0]).all()
    # The triangle inequality, and no shortcut through the air.
    assert (table[:, None, :] <= table[:, :, None] + table[None, :, :] + 1e-9).all()
    with pytest.raises(hullfield.MemoryLimitError, match="needs 32768 bytes of memory, the limit is 32767"):
        ours.all_pairs(memory_limit=32767)
    assert ours.all_pairs(memory_limit=32768).shape == (64, 64)


def test_a_table_that_cannot_fit_is_refused_at_once() -> None:
    vertices, faces = hills(800)
    ours = hullfield.geodesic(vertices, faces)
    with pytest.raises(MemoryError, match="needs 3276800000000 bytes"):
        ours.all_pairs()


def test_vertices_keep_the_numbers_of_the_mesh() -> None:
    # A seam (4 and 5 are copies of 1 and 2), a vertex of no face (6), and an island (7, 8, 9).
    vertices = [
        [0, 0, 0],
        [1, 0, 0],
        [1, 1, 0],
        [0, 1, 0],
        [1, 0, 0],
        [1, 1, 0],
        [5, 5, 5],
        [9, 0, 0],
        [9, 1, 0],
        [9, 0, 1],
    ]
    vertices += [[2, 0, 0]]
    faces = [[0, 1, 2], [0, 2, 3], [4, 10, 5], [7, 8, 9]]
    ours = hullfield.geodesic(vertices, faces)
    found = ours.distance(0)
    assert found[[0, 1, 4, 10]].tolist() == [0, 1, 1, 2]
    assert found[2] == found[5] == pytest.approx(np.sqrt(2))
    assert found[6:10].tolist() == [np.inf] * 4
    nearest = ours.nearest([10, 0])
    assert nearest.sources.tolist() == [1, 0, 1, 1, 0, 1, -1, -1, -1, -1, 0] or nearest.sources[2] in (0, 1)
    assert nearest.sources[6] == -1 and nearest.sources[0] == 1 and nearest.sources[10] == 0
    assert not ours.path(0, 7).is_reached and ours.path(0, 7).length == np.inf and len(ours.path(0, 7)) == 0
    table = ours.all_pairs()
    assert table.shape == (11, 11) and np.isinf(table[6]).all() and table[7, 8] == 1
    with pytest.raises(hullfield.InvalidInputError, match="vertex 6 belongs to no face"):
        ours.distance(6)


def test_a_distance_belongs_to_a_vertex_not_to_its_place() -> None:
    # A floor, and a square on it that shares no vertex with it; a corner of the square lies on the floor's diagonal.
    vertices = np.array([[0, 0, 0], [9, 0, 0], [9, 9, 0], [0, 9, 0], [3, 3, 0], [5, 3, 0], [5, 4, 0], [3, 4, 0]], float)
    faces = [[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]]
    ours = hullfield.geodesic(vertices, faces)
    table = ours.all_pairs()
    assert (table == ours.distances(range(8))).all() and np.allclose(table, table.T, rtol=1e-12)
    assert np.isinf(table[:4, 4:]).all() and np.isfinite(table[:4, :4]).all() and np.isfinite(table[4:, 4:]).all()
    nearest = ours.nearest([1, 7])
    assert nearest.sources.tolist() == [0] * 4 + [1] * 4 and np.isfinite(nearest.distances).all()
    assert not ours.path(0, 4).is_reached and not ours.path(4, 0).is_reached
    # By a face: the floor's diagonal goes through the square's corner.
    assert np.isinf(ours.distance((0, [2 / 3, 0, 1 / 3]))[4:]).all()
    assert np.isinf(ours.distance((2, [1, 0, 0]))[:4]).all()
    # A strip around, slit open by two ulps: as far as the way around.
    slit = 2 + 1e-15
    ring = [[2, 0], [2, 3], [0, 3], [0, 0], [slit, 0]]
    vertices = np.array([[x, y, z] for x, y in ring for z in (0, 1)])
    faces = [[k, k + 2, k + 3] for k in range(0, 8, 2)] + [[k, k + 3, k + 1] for k in range(0, 8, 2)]
    ours = hullfield.geodesic(vertices, faces)
    found = ours.distance(0)
    assert found[[8, 9]] == pytest.approx([10, np.sqrt(101)], rel=1e-12)
    assert [ours.distance(8)[0], ours.path(0, 8).length] == pytest.approx([found[8], found[8]])
    for row in range(10):
        at = ours.surface.locate(vertices[row])
        assert at is not None and at.vertex == row
    assert (ours.surface.locations(vertices)["vertex"] == np.arange(10)).all()
    inside = ours.surface.locate([1, 3, 0.25])
    assert inside is not None and inside.vertex is None


def test_what_it_hands_out_cannot_spoil_it() -> None:
    vertices, faces = hills(5)
    ours = hullfield.geodesic(vertices, faces)
    for array in (ours.vertices, ours.faces):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
        with pytest.raises(ValueError, match="read-only"):
            array *= 2
    assert (ours.vertices == vertices).all() and (ours.faces == faces).all()
    distances, path = ours.distance(0), ours.path(0, 24)
    mine = ours.vertices.copy()
    mine *= 1000
    for array in (ours.surface.vertices, ours.surface.triangles, distances):
        array[:] = 0
    for array in (path.points, path.barycentric):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
    assert ours.path(0, 24).length == pytest.approx(ours.distance(0)[24]) and len(ours.path(0, 24).barycentric) > 1
    # Nor can the arrays that it was made of, or that places and models were.
    at = np.array([[1.0, 1.0, 0.0]])
    places, model = Places(at), Model(vertices, faces)
    before = ours.surface.distance_to_wall(places)
    at *= 100
    vertices *= 100
    after = ours.surface.distance_to_wall(pickle.loads(pickle.dumps(places)))
    assert before is not None and after is not None and before.distance == after.distance
    assert Surface.from_models([model]).bounds.tolist() == ours.surface.bounds.tolist()


def test_meshes_come_as_they_are() -> None:
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=2)
    wanted = hullfield.geodesic(ball.vertices, ball.faces).distance(0)
    assert (hullfield.geodesic(ball).distance(0) == wanted).all()
    pyvista = pytest.importorskip("pyvista")
    assert (hullfield.geodesic(pyvista.wrap(ball)).distance(0) == wanted).all()


def test_it_pickles_and_copies() -> None:
    vertices, faces = hills(6)
    ours = hullfield.geodesic(vertices, faces)
    for other in (pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)):
        assert (other.distance(3) == ours.distance(3)).all()
    path = ours.path(0, 35)
    assert (pickle.loads(pickle.dumps(path)).barycentric == path.barycentric).all()
    before = ours.distance(3)
    vertices *= 2
    assert (ours.distance(3) == before).all() and (pickle.loads(pickle.dumps(ours)).distance(3) == before).all()


BAD_SOURCES = [
    (64, "vertex 64 does not exist, there are 64"),
    (-1, "is -1"),
    ([], "source is empty"),
    ([0, 99], "vertex 99 does not exist"),
    ((98, [1, 0, 0]), "face 98 does not exist, there are 98"),
    ((0, [1, 1, 1]), "must be 0 or more and add up to 1"),
    ((0, [2, -1, 0]), "must be 0 or more and add up to 1"),
    ((0, [float("nan"), 0, 1]), "must be 0 or more and add up to 1"),
    (([0, 1], [[1, 0, 0]]), "2 faces and 1 rows"),
]


@pytest.mark.parametrize(("source", "text"), BAD_SOURCES)
def test_bad_sources_are_refused(source: object, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        hullfield.geodesic(*hills(8)).distance(source)


def test_bad_meshes_are_refused() -> None:
    with pytest.raises(TypeError, match="whole numbers"):
        hullfield.geodesic(*hills(3)).distance(0.5)
    with pytest.raises(TypeError, match="whole numbers"):
        hullfield.geodesic(*hills(3)).distance(True)
    with pytest.raises(ValueError, match="needs triangles"):
        hullfield.geodesic(CUBE, [[0, 1, 3, 2]])
    with pytest.raises(ValueError, match="point 8 does not exist"):
        hullfield.geodesic(CUBE, [[0, 1, 8]])
    with pytest.raises(ValueError, match="start has 2 points"):
        hullfield.geodesic(*hills(3)).path([0, 1], 2)
