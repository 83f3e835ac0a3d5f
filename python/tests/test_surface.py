"""Surfaces: builds, topology, paths, fields, and the other queries."""

import copy
import pickle
import threading

import numpy as np
import pytest

import hullfield
from hullfield.navigate import Reach
from hullfield.navigate.surface import Model, Places, Surface

CUBE = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], dtype=float)
CUBE_FACES = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]

FLOOR_AND_WALL = np.array([[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [4, 0, 4], [4, 4, 4]], dtype=float)
FLOOR_AND_WALL_FACES = [[0, 1, 2, 3], [1, 4, 5, 2]]


def square(x: float = 0.0, size: float = 1.0) -> np.ndarray:
    return np.array([[x, 0, 0], [x + size, 0, 0], [x + size, size, 0], [x, size, 0]])


def hills(edge: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A terrain of edge × edge vertices, with random heights."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[0:edge, 0:edge]
    points = np.stack([x, y, rng.random((edge, edge))], axis=-1).reshape(-1, 3).astype(float)
    at = (y * edge + x)[:-1, :-1].reshape(-1)
    faces = np.concatenate([np.stack([at, at + 1, at + edge + 1], 1), np.stack([at, at + edge + 1, at + edge], 1)])
    return points, faces


def test_paths_over_a_cube_have_the_lengths_of_unfolded_faces() -> None:
    surface = Surface(CUBE, CUBE_FACES)
    for method in ("geodesic", "exact"):
        path = surface.path([0.5, 0.5, 0], [0.5, 0.5, 1], method=method)
        assert path.is_reached and path.length == pytest.approx(2, abs=1e-12)
    # Opposite corners: the diagonal of two faces side by side.
    path = surface.path(Places.vertices(0), Places.vertices(7), method="exact")
    assert path.length == pytest.approx(np.sqrt(5), abs=1e-12)
    assert path.points[0] == pytest.approx([0, 0, 0]) and path.points[-1] == pytest.approx([1, 1, 1])
    assert len(path.triangles) == len(path.points) - 1 == len(path.normals) - 1 == len(path.arc_lengths) - 1
    steps = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
    assert path.arc_lengths == pytest.approx(np.concatenate([[0], np.cumsum(steps)]))


def test_a_place_along_a_path_moves_with_the_arc_length() -> None:
    surface = Surface([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    path = surface.path([0, 0, 0], [2, 0, 0])
    place = path.at(0.5)
    assert place is not None and place.triangle == 0
    assert place.position.tolist() == [0.5, 0, 0] and place.tangent.tolist() == [1, 0, 0]
    assert place.normal.tolist() == [0, 0, 1]
    assert path.at(float("nan")) is None
    many = path.places_at([-1, 0.5, 9])
    assert many["position"][:, 0].tolist() == [0, 0.5, 2]


def test_a_batch_equals_single_paths_bit_for_bit() -> None:
    points, faces = hills(12)
    surface = Surface(points, faces)
    rng = np.random.default_rng(2)
    starts, goals = rng.random((2, 60, 3)) * [11, 11, 1]
    for options in ({"method": "funnel"}, {"method": "exact"}, {"tolerance": float("inf")}):
        paths = surface.paths(starts, goals, **options)
        assert len(paths) == 60 and paths.stats.reached_count == 60
        for row, path in enumerate(paths):
            one = surface.path(starts[row], goals[row], **options)
            assert one.length == path.length == paths.lengths[row]
            for name in ("points", "normals", "arc_lengths", "triangles"):
                assert (getattr(one, name) == getattr(path, name)).all()
    exact, funnel = (surface.paths(starts, goals, method=method).lengths for method in ("exact", "funnel"))
    assert (funnel >= exact * (1 - 1e-9)).all() and (funnel > exact).any()
    # One start stands for all goals.
    fan = surface.paths(starts[0], goals, method="exact")
    assert fan[7].length == surface.path(starts[0], goals[7], method="exact").length


def test_a_field_agrees_with_exact_paths() -> None:
    points, faces = hills(10)
    surface = Surface(points, faces)
    field = surface.field([3.2, 4.1, 0])
    rng = np.random.default_rng(3)
    goals = rng.random((40, 3)) * [9, 9, 1]
    lengths = surface.paths([3.2, 4.1, 0], goals, method="exact").lengths
    assert field.distances(goals) == pytest.approx(lengths, rel=1e-9)
    assert field.paths(goals).lengths == pytest.approx(lengths, rel=1e-9)
    assert field.path(goals[0]).length == pytest.approx(lengths[0], rel=1e-9)
    assert field.distance(goals[0]) == field.distances(goals)[0]
    assert (field.at_vertices() == field.distances(Places.vertices(range(100)))).all()
    assert field.source is not None and not field.is_ambiguous


def test_distances_of_many_sources_are_those_of_their_fields() -> None:
    points, faces = hills(9)
    surface = Surface(points, faces)
    sources = Places.vertices([0, 40, 80])
    table = surface.distances(sources)
    for row, vertex in enumerate([0, 40, 80]):
        assert (table[row] == surface.field(Places.vertices(vertex)).at_vertices()).all()
    with pytest.raises(hullfield.MemoryLimitError, match="needs 1944 bytes of memory, the limit is 1943"):
        surface.distances(sources, memory_limit=1943)
    least, nearest = surface.least_distances(sources)
    assert (least == table.min(axis=0)).all() and (nearest == table.argmin(axis=0)).all()


def test_faces_in_every_form_give_the_same_surface() -> None:
    wanted = Surface(CUBE, CUBE_FACES)
    corners = np.concatenate([np.array(face) for face in CUBE_FACES])
    forms = [
        Surface(CUBE.tolist(), np.array(CUBE_FACES, dtype=np.int64)),
        Surface(np.asfortranarray(CUBE), np.asfortranarray(np.array(CUBE_FACES, dtype=np.int16))),
        Surface(np.repeat(CUBE, 2, axis=0)[::2], CUBE_FACES),
        Surface(CUBE, corners, offsets=np.arange(0, 25, 4)),
        Surface(CUBE.astype(np.float32), tuple(map(tuple, CUBE_FACES))),
    ]
    for surface in forms:
        assert (surface.triangles == wanted.triangles).all() and (surface.vertices == wanted.vertices).all()
    mixed = Surface(CUBE, [[0, 2, 3], [0, 3, 1], *CUBE_FACES[1:]])
    assert len(mixed.triangles) == 12 and mixed.sources[-1].tolist() == [0, 6]


def test_meshes_of_other_libraries_come_as_they_are() -> None:
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.creation.box()
    assert (Surface(mesh).triangles == mesh.faces).all()
    pyvista = pytest.importorskip("pyvista")
    polygons = pyvista.PolyData(CUBE, np.array([[4, *face] for face in CUBE_FACES]).reshape(-1))
    assert (Surface(polygons).triangles == Surface(CUBE, CUBE_FACES).triangles).all()
    mixed = pyvista.PolyData(CUBE, [3, 0, 1, 5, 4, 2, 6, 7, 3])
    assert Surface(mixed).sources[:, 1].tolist() == [0, 1, 1]
    with pytest.raises(hullfield.InvalidTypeError, match="str is no mesh"):
        Surface("bunny.obj")


def test_models_are_placed_and_welded() -> None:
    models = [Model(square(), [[0, 1, 2, 3]]) for _ in range(2)]
    apart = Surface.from_models(models[:1])
    assert apart.area == 1 and apart.report.boundary_edge_count == 4
    moved = Model(square(), [[0, 1, 2, 3]], transform=[[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    joined = Surface.from_models([models[0], moved], weld=1e-6)
    report = joined.report
    assert report.welded_count == 2 and report.island_count == 1 and len(joined.triangles) == 4
    assert joined.sources.tolist() == [[0, 0], [0, 0], [1, 0], [1, 0]]
    assert joined.bounds.tolist() == [[0, 0, 0], [2, 1, 0]]
    assert joined.triangles_of(0, model=1).tolist() == [2, 3]
    refined = Surface(square(size=4), [[0, 1, 2, 3]], interval=1.0)
    edges = refined.vertices[refined.edges]
    assert np.linalg.norm(edges[:, 0] - edges[:, 1], axis=1).max() <= 1 + 1e-12
    assert refined.area == pytest.approx(16)


def test_the_report_lists_bad_faces() -> None:
    points = [*square().tolist(), [0.5, 0, 0], [9, 9, 9]]
    surface = Surface(points, [[0, 1, 2], [0, 1, 2], [0, 0, 2], [0, 4, 1], [0, 2, 3]])
    report = surface.report
    assert report.duplicates.tolist() == [[0, 1]] and report.collapsed.tolist() == [[0, 2]]
    assert report.zero_area.tolist() == [[0, 3]] and report.unused_count == 1


def test_topology_is_that_of_the_triangles() -> None:
    surface = Surface(CUBE, CUBE_FACES)
    edges, triangles = surface.edges, surface.triangles
    assert len(edges) == 18
    offsets, neighbours = surface.neighbour_lists()
    for triangle in range(12):
        own = surface.edges_of(triangle)
        assert own is not None and own == tuple(surface.triangle_edges[triangle])
        for corner, edge in enumerate(own):
            ends = {triangles[triangle][corner], triangles[triangle][(corner + 1) % 3]}
            assert set(edges[edge]) == ends
            assert triangle in surface.triangles_at(edge)
            assert surface.opposite_vertex(triangle, edge) == triangles[triangle][(corner + 2) % 3]
        near = surface.neighbours(triangle)
        assert (near == neighbours[offsets[triangle] : offsets[triangle + 1]]).all() and len(near) == 3
        assert all(surface.common_edge(triangle, int(other)) in own for other in near)
        a, b, c = surface.vertices[triangles[triangle]]
        normal = np.cross(b - a, c - a)
        assert surface.normals[triangle] == pytest.approx(normal / np.linalg.norm(normal))
    assert surface.common_edge(0, 0) is None and surface.edges_of(99) is None
    assert surface.islands.tolist() == [0] * 12


def test_walkable_triangles_can_change() -> None:
    surface = Surface(FLOOR_AND_WALL, FLOOR_AND_WALL_FACES)
    climbers = surface.copy()
    surface.set_walkable_slope([0, 0, 1], 45)
    assert surface.walkable.tolist() == [True, True, False, False] and climbers.walkable.all()
    path = surface.path([1, 2, 0], [4, 2, 3])
    assert path.is_reached and path.snaps[1] == pytest.approx(3)
    surface.set_walkable([2, 3])
    assert surface.path([1, 2, 0], [4, 2, 3]).length == pytest.approx(6)
    surface.set_walkable(0, False)
    assert surface.walkable.tolist() == [False, True, True, True]
    surface.set_walkable_where(lambda normals: abs(normals[:, 2]) > 0.5)
    assert surface.walkable.tolist() == [True, True, False, False]
    surface.set_walkable_where([0, 0, 1, 1])
    assert surface.walkable.tolist() == [False, False, True, True]
    with pytest.raises(hullfield.InvalidInputError, match="triangle 4 does not exist, there are 4"):
        surface.set_walkable([0, 4])
    assert not surface.walkable[0]
    with pytest.raises(hullfield.InvalidInputError, match="3 flags were given"):
        surface.set_walkable_where([True] * 3)


def test_an_unreachable_goal_has_the_nearest_reachable_point() -> None:
    models = [Model(square(x, 2.0), [[0, 1, 2, 3]]) for x in (0.0, 3.0)]
    surface = Surface.from_models(models, max_snap=1.0)
    path = surface.path([1, 1, 0], [4, 1, 0])
    assert path.reach is Reach.UNREACHABLE and path.length == np.inf and len(path) == 0
    assert path.nearest is not None and path.nearest.tolist() == [2, 1, 0] and path.nearest_distance == 2
    reached = surface.path([1, 1, 0], [4, 1, 0], to_nearest=True)
    assert reached.is_reached and reached.snaps == (0, 2)
    assert surface.path([1, 1, 5], [4, 1, 0]).reach is Reach.START_OFF
    assert surface.path([1, 1, 0], [4, 1, 5]).reach is Reach.GOAL_OFF
    assert surface.locate([1, 1, 5]) is None and surface.nearest_point([1, 1, 5]).distance == 5
    assert surface.locations([[1, 1, 5]])["triangle"].tolist() == [2**32 - 1]
    paths = surface.paths([[1, 1, 0]] * 2, [[4, 1, 0], [1.5, 1, 0]])
    assert paths.rows["reach"].tolist() == [Reach.UNREACHABLE, Reach.REACHED]
    assert paths.stats.reached_count == 1 and len(paths[0]) == 0 and paths[1].length == 0.5


def test_links_join_floors() -> None:
    models = [Model(square(size=4) + np.array([0, 0, z]), [[0, 1, 2, 3]]) for z in (0.0, 3.0)]
    surface = Surface.from_models(models)
    surface.set_links([[4, 2, 0]], [[4, 2, 3]], 5.0, two_way=True)
    path = surface.path([1, 2, 0], [2, 2, 3])
    assert path.length == pytest.approx(10)
    assert path.links["link"].tolist() == [0] and path.links["reversed"].tolist() == [0]
    down = surface.path([2, 2, 3], [1, 2, 0])
    assert down.links["reversed"].tolist() == [1]
    # 3 on the floor, 5 on the link, 2 on the floor above.
    places = path.places_at([1, 5.5, 9])
    assert places["link"].tolist() == [2**32 - 1, 0, 2**32 - 1] and places["position"][1].tolist() == [4, 2, 1.5]
    on_floor, on_link, back = path.at(1), path.at(5.5), down.at(4.5)
    assert on_floor is not None and on_link is not None and back is not None
    assert (on_floor.link, on_link.link, on_link.reversed, back.link, back.reversed) == (None, 0, False, 0, True)
    assert surface.links["cost"].tolist() == [5]
    again = pickle.loads(pickle.dumps(surface))
    assert again.path([1, 2, 0], [2, 2, 3]).length == path.length
    with pytest.raises(hullfield.InvalidInputError, match="link 0: cost is -1"):
        surface.set_links([[4, 2, 0]], [[4, 2, 3]], -1)


def test_vertices_on_edges_are_found() -> None:
    # A face of 4 beside one of 1 and one of 3.
    points = [[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0], [4, 1, 0], [6, 0, 0], [6, 1, 0], [6, 4, 0]]
    surface = Surface(points, [[0, 1, 2, 3], [1, 5, 6, 4], [4, 6, 7, 2]])
    found = surface.t_junctions(1e-6)
    assert found["vertex"].tolist() == [4] and found["distance"].tolist() == [0]
    assert surface.edges[found["edge"][0]].tolist() == [1, 2]
    assert len(Surface(CUBE, CUBE_FACES).t_junctions(1e-6)) == 0
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(hullfield.InvalidInputError, match="tolerance"):
            surface.t_junctions(wrong)


def test_names_of_places_tell_surfaces_apart() -> None:
    def floor(x0: float, x1: float) -> np.ndarray:
        return np.array([[x0, 0, 0], [x1, 0, 0], [x1, 1, 0], [x0, 1, 0]])

    surface = Surface.from_models([Model(floor(0.5, 4), [[0, 1, 2, 3]]), Model(floor(0, 8), [[0, 1, 2, 3]])])
    start, goal = [1, 0.2, 0], [6, 0.2, 0]
    path = surface.path(start, goal)
    assert path.is_reached and path.ambiguous == (True, False)
    assert not surface.path(Places.faces(0, start), goal).is_reached
    assert surface.path(Places.faces(0, start, models=1), goal).is_reached
    assert surface.path(Places.triangles(2, start), goal).is_reached
    assert {point.model for point in surface.locate_all(start)} == {0, 1}


def test_rays_walls_and_moves() -> None:
    surface = Surface(FLOOR_AND_WALL, FLOOR_AND_WALL_FACES)
    hit = surface.raycast([1, 2, 0], [1, 0, 0], 5)
    assert hit is not None and hit.wall is None
    assert hit.point == pytest.approx([4, 2, 2]) and hit.direction == pytest.approx([0, 0, 1])
    hit = surface.raycast([1, 2, 0], [1, 0, 0], 9)
    assert hit is not None and hit.wall is not None and hit.distance == pytest.approx(7)
    wall = surface.distance_to_wall([1, 2, 0])
    assert wall is not None and wall.distance == pytest.approx(1) and wall.point == pytest.approx([0, 2, 0])
    assert Surface(CUBE, CUBE_FACES).distance_to_wall([0, 0, 0]) is None
    place = surface.move_along([1, 2, 0], [-3, 1, 0])
    assert place is not None and place.position == pytest.approx([0, 3, 0], abs=1e-12)
    starts = [[1, 2, 0], [2, 2, 0]]
    hits = surface.raycasts(starts, [1, 0, 0], [5, 1])
    assert hits["point"] == pytest.approx(np.array([[4, 2, 2], [3, 2, 0]]))
    assert surface.distances_to_wall(starts)["distance"] == pytest.approx([1, 2])
    moved = surface.moves_along(starts, [[-3, 1, 0], [1, 0, 0]])
    assert moved["position"] == pytest.approx(np.array([[0, 3, 0], [3, 2, 0]]), abs=1e-12)
    assert moved["found"].tolist() == [1, 1]


def test_random_points_fill_the_walkable_area() -> None:
    surface = Surface(FLOOR_AND_WALL, FLOOR_AND_WALL_FACES)
    points = surface.random_points(20_000, rng=5)["position"]
    # Half of the area is floor.
    assert abs((points[:, 2] == 0).mean() - 0.5) < 0.02
    again = surface.random_points(20_000, rng=np.random.default_rng(5))["position"]
    assert (points == again).all()
    surface.set_walkable_where([False] * 4)
    assert surface.random_point(1) is None


def test_costs_bend_paths() -> None:
    points = [[i % 4, 4 * (i // 4), 0] for i in range(8)]
    surface = Surface(points, [[i, i + 1, i + 5, i + 4] for i in range(3)])
    path = surface.path_by_costs([0, 2, 0], [3, 2, 0], [1, 1, 3, 3, 1, 1])
    assert path.cost == pytest.approx(5) and path.length == pytest.approx(3)
    with pytest.raises(hullfield.InvalidInputError, match="2 costs were given"):
        surface.path_by_costs([0, 2, 0], [3, 2, 0], [1, 1])


def test_a_strip_has_its_own_shortest_path() -> None:
    surface = Surface(square(size=4), [[0, 1, 2], [0, 2, 3]])
    assert surface.funnel_along([0, 1], [4, 0, 0], [0, 4, 0]).length == pytest.approx(np.sqrt(32))
    with pytest.raises(hullfield.InvalidInputError, match="triangle 7 does not exist"):
        surface.funnel_along([0, 7], [4, 0, 0], [0, 4, 0])


def test_bytes_pickles_and_copies_answer_alike() -> None:
    points, faces = hills(8)
    surface = Surface(points, faces, max_snap=2.0)
    surface.set_walkable([0, 5], False)
    wanted = surface.path([0.5, 6, 0], [6.5, 0.2, 0], method="exact")
    for other in (
        Surface.from_bytes(surface.to_bytes()),
        Surface.from_bytes(bytearray(surface.to_bytes())),
        pickle.loads(pickle.dumps(surface)),
        copy.deepcopy(surface),
        copy.copy(surface),
    ):
        assert other.path([0.5, 6, 0], [6.5, 0.2, 0], method="exact").length == wanted.length
        assert (other.walkable == surface.walkable).all() and other.locate([0, 0, 9]) is None
        other.set_walkable(9, False)
        assert surface.walkable[9]
    again = pickle.loads(pickle.dumps(wanted))
    assert (again.points == wanted.points).all() and again.at(1.0).position.tolist() == wanted.at(1.0).position.tolist()
    paths = surface.paths(points[:3], points[-3:])
    assert (pickle.loads(pickle.dumps(paths)).points == paths.points).all()
    places = pickle.loads(pickle.dumps(Places.vertices([3, 4])))
    assert len(places) == 2
    landmarks = pickle.loads(pickle.dumps(Surface(points, faces, landmarks=True)))
    assert landmarks.path([0.5, 6, 0], [6.5, 0.2, 0]).is_reached
    cut = surface.to_bytes()
    for wrong in (b"", cut[1:], cut[:-3], cut[:100] + bytes([cut[100] ^ 1]) + cut[101:]):
        with pytest.raises(hullfield.InvalidInputError, match="byte"):
            Surface.from_bytes(wrong)


def test_progress_is_told_and_can_end_the_build() -> None:
    points, faces = hills(30)
    seen: list[tuple[str, int, int]] = []
    Surface(points, faces, interval=0.5, landmarks=True, progress=lambda *at: seen.append(at))
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    assert stages == ["points", "weld", "triangles", "refine", "edges", "index", "landmarks"]
    with pytest.raises(hullfield.CancelledError):
        Surface(points, faces, progress=lambda stage, done, total: stage != "edges")

    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        Surface(points, faces, progress=stop)


def test_threads_share_a_surface() -> None:
    points, faces = hills(12)
    surface = Surface(points, faces)
    wanted = surface.paths(points[:20], points[-20:]).lengths
    wrong: list[int] = []

    def work(seed: int) -> None:
        copy_of = surface.copy()
        for _ in range(5):
            if (surface.paths(points[:20], points[-20:]).lengths != wanted).any():
                wrong.append(seed)
            copy_of.set_walkable(seed, False)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong and surface.walkable.all()


def test_a_query_keeps_what_was_walkable_when_it_began() -> None:
    surface = Surface(FLOOR_AND_WALL, FLOOR_AND_WALL_FACES)
    field = surface.field([1, 2, 0])
    surface.set_walkable_where([False] * 4)
    assert field.distance([3, 2, 0]) == pytest.approx(2)
    pending = surface.path.start([1, 2, 0], [3, 2, 0])
    assert not pending.wait().is_reached


BAD_BUILDS = [
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]]), {}, ValueError, "point 3 does not exist, there are 3"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, -1]]), {}, ValueError, r"faces\[\(0, 2\)\] is -1"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2**32]]), {}, ValueError, "must be from 0 to 2"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0.0, 1.0, 2.0]]), {}, TypeError, "whole numbers"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1]]), {}, ValueError, "2 corners were given"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], []), {}, ValueError, "at least one triangle"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [0, 1, 2]), {}, TypeError, "rows of corners"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]], np.array([0, 1, 2])), {}, ValueError, r"faces has the shape \(3,\)"),
    (([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]), {}, ValueError, r"vertices has the shape \(3, 2\)"),
    (([], [[0, 1, 2]]), {}, ValueError, "point 0 does not exist"),
    (([["a", 0, 0]], [[0, 1, 2]]), {}, TypeError, "real numbers"),
    (([[True] * 3] * 3, [[0, 1, 2]]), {}, TypeError, "real numbers"),
    (([[0, 0, 0], [1, 0, float("nan")], [0, 1, 0]], [[0, 1, 2]]), {}, ValueError, "model 0, point 1: position"),
    (([[0, 0, 0], [1, 0, float("inf")], [0, 1, 0]], [[0, 1, 2]]), {}, ValueError, "model 0, point 1: position"),
    (([[0, 0, 0], [1, 0, 1e80], [0, 1, 0]], [[0, 1, 2]]), {}, ValueError, "1e75"),
    (([[0, 0, 0]] * 3, [[0, 1, 2]]), {}, ValueError, "at least one triangle"),
    ((CUBE, CUBE_FACES), {"weld": "tight"}, TypeError, "weld is 'tight', it must be a real number"),
    ((CUBE, CUBE_FACES), {"interval": [1.0]}, TypeError, "interval is"),
    ((CUBE, CUBE_FACES), {"weld": -1.0}, ValueError, "weld is -1"),
    ((CUBE, CUBE_FACES), {"interval": 0.0}, ValueError, "interval is 0"),
    ((CUBE, CUBE_FACES), {"interval": 1e-9}, ValueError, "triangles, none longer than the interval"),
    ((CUBE, CUBE_FACES), {"max_snap": float("nan")}, ValueError, "max_snap"),
    ((CUBE, CUBE_FACES), {"transform": np.eye(3)}, ValueError, r"transform has the shape \(3, 3\)"),
    ((CUBE, np.arange(8)), {"offsets": [0, 4, 99]}, ValueError, "offsets must not decrease"),
    ((CUBE, np.arange(8)), {"offsets": [0, 4, -1]}, ValueError, "offsets must not decrease"),
    ((CUBE, np.arange(8)), {"offsets": [4, 0]}, ValueError, "offsets must not decrease"),
    ((CUBE, np.arange(8)), {"offsets": [0.0, 4.0]}, TypeError, "offsets"),
]


@pytest.mark.parametrize(("arguments", "options", "kind", "text"), BAD_BUILDS)
def test_bad_meshes_are_refused(arguments: tuple, options: dict, kind: type, text: str) -> None:
    with pytest.raises(hullfield.Error, match=text) as raised:
        Surface(*arguments, **options)
    assert isinstance(raised.value, kind)


def test_bad_queries_are_refused() -> None:
    surface = Surface(CUBE, CUBE_FACES)
    nan = [0, 0, float("nan")]
    with pytest.raises(hullfield.InvalidInputError, match=r"query 1: .*start"):
        surface.paths([[0, 0, 0], nan], [[1, 1, 1]] * 2)
    with pytest.raises(hullfield.InvalidInputError, match="start"):
        surface.path(nan, [1, 1, 1])
    with pytest.raises(hullfield.InvalidInputError, match="query 900: "):
        surface.distances_to_wall([[0, 0, 0]] * 900 + [nan])
    with pytest.raises(hullfield.InvalidInputError, match="source is vertex 99, the surface has 8 vertices"):
        surface.field(Places.vertices(99))
    with pytest.raises(hullfield.InvalidInputError, match="method is 'magic'"):
        surface.path([0, 0, 0], [1, 1, 1], method="magic")
    with pytest.raises(hullfield.InvalidInputError, match="tolerance"):
        surface.path([0, 0, 0], [1, 1, 1], tolerance=-1)
    with pytest.raises(hullfield.InvalidInputError, match="goals has 3 places, there are 2 starts"):
        surface.paths([[0, 0, 0]] * 2, [[1, 1, 1]] * 3)
    with pytest.raises(hullfield.InvalidInputError, match="start has 2 places, one is needed"):
        surface.path([[0, 0, 0]] * 2, [1, 1, 1])
    with pytest.raises(hullfield.InvalidInputError, match=r"start has the shape \(2,\)"):
        surface.path([0, 0], [1, 1, 1])
    with pytest.raises(hullfield.InvalidTypeError):
        surface.path("here", [1, 1, 1])
    with pytest.raises(hullfield.InvalidInputError, match="direction"):
        surface.raycast([0.5, 0.5, 0], [0, 0, 1], 1)
    with pytest.raises(hullfield.InvalidInputError, match="max_distance"):
        surface.raycast([0.5, 0.5, 0], [1, 0, 0], -1)
    with pytest.raises(hullfield.InvalidInputError):
        Places.vertices([-1])
    assert len(surface.paths(np.zeros((0, 3)), np.zeros((0, 3)))) == 0
    assert surface.distances(Places.vertices([])).shape == (0, 8)
    assert surface.locations([]).shape == (0,)


def test_arrays_of_the_caller_are_read_once() -> None:
    points = CUBE.copy()
    points.flags.writeable = False
    surface = Surface(points, np.array(CUBE_FACES))
    starts = np.tile([[0.5, 0.5, 0]], (4, 1))
    pending = surface.paths.start(starts, [0.5, 0.5, 1])
    starts[:] = 77
    assert pending.wait().lengths == pytest.approx([2] * 4)
    found = surface.vertices
    found[:] = 9
    assert (surface.vertices == CUBE).all()
