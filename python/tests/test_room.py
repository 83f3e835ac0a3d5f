"""Rooms: builds, paths next to a visibility graph, the other queries, and edits."""

import copy
import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield.navigate import Reach
from hullfield.navigate.room import RepairKind, Room

SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10]]
PILLAR = [[4, 4], [6, 4], [6, 6], [4, 6]]
TWO_CELLS = ([[0, 0], [2, 0], [2, 1], [0, 1], [4, 0], [4, 1]], [[0, 1, 2, 3], [1, 4, 5, 2]])
MISSING = 2**32 - 1


def pillars(count: int, seed: int = 1) -> list[np.ndarray]:
    """Triangles apart from one another, in the square from 0 to 10."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(range(1, 10, 2), range(1, 10, 2)), axis=-1).reshape(-1, 2)
    centres = rng.permutation(grid)[:count]
    turns = rng.random((count, 1)) * 6 + np.array([[0, 2.1, 4.2]])
    return list(centres[:, None] + rng.uniform(0.4, 0.95, (count, 3, 1)) * np.stack([np.cos(turns), np.sin(turns)], -1))


def visible_length(outer: Any, holes: Any, start: Any, goal: Any) -> float:
    """The shortest path by a graph of all corners that see one another."""
    shapely = pytest.importorskip("shapely")
    networkx = pytest.importorskip("networkx")
    polygon = shapely.Polygon(outer, holes)
    nodes = [tuple(start), tuple(goal), *map(tuple, outer), *(tuple(corner) for hole in holes for corner in hole)]
    graph = networkx.Graph()
    graph.add_nodes_from(nodes)
    grown = polygon.buffer(1e-9)
    for i, a in enumerate(nodes):
        for b in nodes[:i]:
            if a != b and grown.covers(shapely.LineString([a, b])):
                graph.add_edge(a, b, weight=float(np.hypot(a[0] - b[0], a[1] - b[1])))
    return float(networkx.dijkstra_path_length(graph, nodes[0], nodes[1]))


def test_a_path_bends_at_corners_of_a_pillar() -> None:
    room = Room(SQUARE, [PILLAR])
    path = room.path([1, 5], [9, 5])
    assert path.is_reached and len(path) == 4
    assert path.length == pytest.approx(2 * np.sqrt(10) + 2, abs=1e-12)
    assert (room.vertices[path.corners] == path.points[1:-1]).all()
    assert len(path.crossings) == len(path.cells) - 1
    assert room.area == 96 and room.island_count == 1


def test_a_place_along_a_path_moves_with_the_arc_length() -> None:
    room = Room([[0, 0], [1, 0], [1, 3], [6, 3], [6, 4], [0, 4]])
    path = room.path([1, 0], [5, 3])
    place = path.at(5)
    assert place is not None and place.piece == 1
    assert place.position.tolist() == [3, 3] and place.tangent.tolist() == [1, 0]
    assert path.at(float("nan")) is None and room.path([1, 1], [50, 50]).at(0) is None
    many = path.places_at([-2, 2.5, 3, 90, np.nan])
    assert many["found"].tolist() == [1, 1, 1, 1, 0] and many["piece"].tolist()[:4] == [0, 0, 1, 1]
    assert many["position"][:4].tolist() == [[1, 0], [1, 2.5], [1, 3], [5, 3]]
    assert len(room.path([1, 1], [50, 50]).places_at([0, 1])) == 2 and len(path.places_at([])) == 0


def test_paths_have_the_lengths_of_a_visibility_graph() -> None:
    holes = pillars(9)
    room = Room(SQUARE, holes)
    starts, goals = (room.random_points(12, rng=seed)["position"] for seed in (1, 2))
    paths = room.paths(starts, goals)
    for start, goal, length in zip(starts, goals, paths.lengths, strict=True):
        assert length == pytest.approx(visible_length(SQUARE, holes, start, goal), abs=1e-7)
    funnel = room.paths(starts, goals, method="funnel", strip="breadth_first").lengths
    assert (funnel >= paths.lengths * (1 - 1e-12)).all()


def test_a_batch_equals_single_paths_bit_for_bit() -> None:
    room = Room(SQUARE, pillars(12))
    starts, goals = (room.random_points(300, rng=seed)["position"] for seed in (3, 4))
    for options in ({}, {"method": "funnel"}, {"method": "funnel", "strip": "breadth_first"}):
        paths = room.paths(starts, goals, **options)
        assert len(paths) == 300 and paths.stats.reached_count == 300
        for row, path in enumerate(paths):
            one = room.path(starts[row], goals[row], **options)
            assert one.length == path.length == paths.lengths[row]
            for name in ("points", "corners", "cells", "crossings"):
                assert (getattr(one, name) == getattr(path, name)).all()
            steps = np.linalg.norm(np.diff(path.points, axis=0), axis=1)
            assert path.length == pytest.approx(steps.sum())
    assert (room.paths(starts[0], goals).lengths == room.paths(np.tile(starts[0], (300, 1)), goals).lengths).all()
    assert (room.paths(starts, goals[0]).lengths == room.paths(starts, np.tile(goals[0], (300, 1))).lengths).all()


def test_polygons_of_shapely_come_as_they_are() -> None:
    shapely = pytest.importorskip("shapely")
    holes = pillars(5)
    wanted = Room(SQUARE, holes)
    polygon = shapely.Polygon(SQUARE, holes)
    for outline in (polygon, shapely.MultiPolygon([polygon]), shapely.force_3d(polygon)):
        room = Room(outline)
        assert room.area == pytest.approx(wanted.area) == polygon.area
        assert room.path([0.1, 0.1], [9.9, 9.9]).length == wanted.path([0.1, 0.1], [9.9, 9.9]).length

    class Feature:
        @property
        def __geo_interface__(self) -> dict[str, Any]:
            return {"type": "Feature", "geometry": shapely.geometry.mapping(polygon), "properties": {}}

    assert Room(Feature()).area == pytest.approx(polygon.area)
    for wrong, text in (
        (shapely.LineString(SQUARE), "LineString"),
        (shapely.Polygon(), "empty"),
    ):
        with pytest.raises(hullfield.InvalidInputError, match=text):
            Room(wrong)
    with pytest.raises(hullfield.InvalidInputError, match="has its own"):
        Room(polygon, holes)


class Geo:
    def __init__(self, **geometry: Any) -> None:
        self.__geo_interface__ = geometry


def test_rooms_of_several_polygons() -> None:
    def block(x: float, y: float, width: float, height: float) -> list[list[float]]:
        return [[x, y], [x + width, y], [x + width, y + height], [x, y + height]]

    near, far = [block(0, 0, 4, 4), block(1, 1, 1, 1)], [block(4, 1, 3, 2)]
    apart = [block(20, 0, 2, 2)]
    room = Room.from_polygons([near, far, apart])
    assert (room.area, room.island_count) == (16 - 1 + 6 + 4, 2)
    assert room.path([3, 2], [6, 2]).length == 3
    assert not room.path([3, 2], [21, 1]).is_reached
    polygons = [Geo(type="Polygon", coordinates=part) for part in (near, far, apart)]
    features = [{"type": "Feature", "geometry": part.__geo_interface__, "properties": None} for part in polygons]
    features += [
        {"type": "Feature", "geometry": None},
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [0, 0]}},
    ]
    empty = {"type": "Polygon", "coordinates": []}
    geometries = [part.__geo_interface__ for part in polygons] + [empty]
    for same in (
        Room(Geo(type="MultiPolygon", coordinates=[near, far, apart])),
        Room(Geo(type="FeatureCollection", features=features)),
        Room(Geo(type="GeometryCollection", geometries=geometries)),
        Room.from_polygons(polygons),
        Room.from_polygons([near, Geo(type="MultiPolygon", coordinates=[far, apart])]),
        pickle.loads(pickle.dumps(room)),
    ):
        assert (same.area, same.island_count) == (room.area, room.island_count)
        assert same.path([0.5, 0.5], [6, 2]).length == room.path([0.5, 0.5], [6, 2]).length
    for wrong, text in (
        (Geo(type="Feature", geometry=None), "empty Feature"),
        (Geo(type="GeometryCollection", geometries=[empty]), "empty GeometryCollection"),
        (Geo(type="Cube"), "'Cube'"),
        (Geo(type="Feature", geometry=7), "has 7 for a geometry"),
        (Geo(type="Polygon", coordinates=[[0, 1]]), "a ring of the outline"),
        (Geo(type="Polygon", coordinates=[[["a", 0], [1, 0], [0, 1]]]), "a ring of the outline"),
    ):
        with pytest.raises(hullfield.InvalidInputError, match=text):
            Room(wrong)
    with pytest.raises(hullfield.InvalidInputError, match="ring 3, point 0"):
        Room.from_polygons([near, [block(9, 9, 1, 1), [[0, float("nan")], [1, 0], [0, 1]]]])
    for nothing in ([], [[]], 7, [7], [near, 7]):
        with pytest.raises(hullfield.InvalidInputError):
            Room.from_polygons(nothing)


def test_a_shut_door_is_a_wall_for_the_radius() -> None:
    outer, door = [[0, 0], [12, 0], [12, 5], [0, 5]], [[6, 0], [6, 3]]
    with pytest.warns(UserWarning, match=r"door 0 ends at \(6, 3\), 2 from the nearest wall"):
        room = Room(outer, radius=0.4, doors=[door])
    free = room.free_door_ends
    assert [(end.door, end.end.tolist(), end.distance) for end in free] == [(0, [6, 3], 2)]
    assert room.path([2, 1], [10, 1]).length == 8
    room.set_doors(0, False)
    angle = np.pi + 2 * np.arctan(2 / 4) - 2 * np.arccos(0.4 / 20**0.5)
    assert room.path([2, 1], [10, 1]).length == pytest.approx(2 * (20 - 0.16) ** 0.5 + 0.4 * angle, abs=4e-4)
    for wrong, text in (
        ([[6, 1e-6], [6, 5 - 1e-6]], "misses its walls"),
        ([[6, 0], [6, 4.99]], "misses its walls"),
        ([[20, 0], [20, 5]], "crosses no floor"),
    ):
        with pytest.raises(hullfield.InvalidInputError, match=text):
            Room(outer, doors=[wrong])


@pytest.mark.parametrize("radius", [1e-100, 5e-324, 1e-17])
def test_a_radius_below_the_rounding_of_the_coordinates_is_as_none(radius: float) -> None:
    for scale in (1.0, 1e6, 1e-5) if radius < 1e-50 else (1.0, 1e6):
        square = np.array(SQUARE) * scale
        assert Room(square, radius=radius).area == Room(square).area


def test_a_radius_keeps_paths_off_walls() -> None:
    shapely = pytest.importorskip("shapely")
    holes = pillars(6)
    room, wide = Room(SQUARE, holes), Room(SQUARE, holes, radius=0.2)
    polygon = shapely.Polygon(SQUARE, holes)
    assert wide.area == pytest.approx(polygon.buffer(-0.2, quad_segs=64).area, rel=1e-3)
    starts, goals = (wide.random_points(20, rng=seed)["position"] for seed in (1, 2))
    paths = wide.paths(starts, goals)
    assert (paths.lengths >= room.paths(starts, goals).lengths - 1e-12).all()
    for path in paths:
        if path.is_reached:
            assert polygon.boundary.distance(shapely.LineString(path.points)) >= 0.2 - 1e-9


def test_cells_make_a_room() -> None:
    vertices, cells = TWO_CELLS
    room = Room.from_cells(vertices, cells)
    assert room.path([0, 0.5], [4, 0.5]).length == 4 and room.path([0, 0.5], [4, 0.5]).cells.tolist() == [0, 1]
    assert room.path([0, 0.5], [4, 0.5]).crossings["edge"].tolist() == [[2, 1]]
    offsets, corners, neighbours = room.cell_lists()
    assert offsets.tolist() == [0, 4, 8] and corners.tolist() == [0, 1, 2, 3, 1, 4, 5, 2]
    assert neighbours.tolist() == [MISSING, 1, MISSING, MISSING, MISSING, MISSING, MISSING, 0]
    assert room.islands.tolist() == [0, 0] and room.cell_count == 2
    flat = Room.from_cells(vertices, np.array(cells).reshape(-1), offsets=[0, 4, 8])
    assert flat.cell_lists()[1].tolist() == corners.tolist()
    assert Room.from_cells(vertices, np.array(cells, dtype=np.int8)).area == 4
    mixed = Room.from_cells([*vertices, [0, 3]], [*cells, [3, 2, 6]])
    assert mixed.cell_count == 3 and mixed.path([3, 0.5], [0.1, 2.5]).is_reached


def test_files_of_polyanya_make_a_room(tmp_path: Path) -> None:
    text = "mesh 2  3 1  0 0 1 0  1 0 1 0  0 1 1 0  3 0 1 2 -1 -1 -1"
    assert Room.from_polyanya_mesh(text).area == 0.5
    (tmp_path / "room.mesh").write_text(text)
    assert Room.from_polyanya_mesh(tmp_path / "room.mesh").area == 0.5
    with pytest.raises(hullfield.InvalidInputError, match='line 3: "one" is not the number of polygons'):
        Room.from_polyanya_mesh("mesh\n2\n3 one")
    with pytest.raises(TypeError, match="text is a int"):
        Room.from_polyanya_mesh(7)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        Room.from_polyanya_mesh(tmp_path / "none.mesh")


def test_points_rays_walls_and_moves() -> None:
    room = Room(SQUARE, [PILLAR])
    found = room.locate([1, 5])
    assert found is not None and found.distance == 0 and found.position.tolist() == [1, 5] and found.island == 0
    assert room.locate([5, 5]) is None and room.locate([4, 4]) is not None
    nearest = room.nearest_point([4.5, 5])
    assert nearest is not None and nearest.position.tolist() == [4, 5] and nearest.distance == 0.5
    hit = room.raycast([1, 5], [1, 0], 20)
    assert hit is not None and hit.point.tolist() == [4, 5] and hit.distance == 3 and hit.wall is not None
    assert room.vertices[list(hit.wall)].tolist() in ([[4, 4], [4, 6]], [[4, 6], [4, 4]])
    free = room.raycast([1, 5], [1, 0], 2)
    assert free is not None and free.wall is None and free.point.tolist() == [3, 5]
    assert room.raycast([5, 5], [1, 0], 2) is None
    wall = room.distance_to_wall([1, 5])
    assert wall is not None and wall.distance == 1 and wall.point.tolist() == [0, 5]
    moved = room.move_along([3, 5], [2, 0.5])
    assert moved is not None and moved.position == pytest.approx([4, 5.5]) and moved.distance == pytest.approx(1)
    positions = np.array([[1, 5], [5, 5]], dtype=float)
    rows = room.locations(positions)
    assert rows["cell"][0] == found.cell and rows["cell"][1] == MISSING and np.isinf(rows["distance"][1])
    assert room.nearest_points(positions)["distance"].tolist() == [0, 1]
    assert room.distances_to_wall(positions)["distance"].tolist() == [1, 1]
    hits = room.raycasts(positions, [1, 0], 20)
    assert hits["point"][0].tolist() == [4, 5] and np.isnan(hits["distance"][1]) and hits["cell"][1] == MISSING
    assert room.moves_along(positions, [[0, 1], [0, 1]])["position"][0].tolist() == [1, 6]


def test_random_points_fill_the_room() -> None:
    room = Room(SQUARE, [PILLAR])
    points = room.random_points(20_000, rng=5)["position"]
    assert abs((points[:, 0] < 4).mean() - 40 / 96) < 0.02
    assert not ((points > 4) & (points < 6)).all(axis=1).any()
    assert (points == room.random_points(20_000, rng=np.random.default_rng(5))["position"]).all()
    assert room.random_point(3) is not None


def test_an_unreachable_goal_has_the_nearest_reachable_point() -> None:
    vertices = [[0, 0], [2, 0], [2, 2], [0, 2], [3, 0], [5, 0], [5, 2], [3, 2]]
    room = Room.from_cells(vertices, [[0, 1, 2, 3], [4, 5, 6, 7]])
    assert room.island_count == 2
    path = room.path([1, 1], [4, 1])
    assert path.reach is Reach.UNREACHABLE and path.length == np.inf and len(path) == 0
    assert path.nearest is not None and path.nearest.tolist() == [2, 1] and path.nearest_distance == 2
    reached = room.path([1, 1], [4, 1], to_nearest=True)
    assert reached.is_reached and reached.points.tolist() == [[1, 1], [2, 1]]
    off = room.path([1, 3], [1, 1])
    assert off.reach is Reach.START_OFF and off.nearest_distance == 1
    assert room.path([1, 1], [1, 3]).reach is Reach.GOAL_OFF
    paths = room.paths([[1, 1]] * 2, [[4, 1], [0, 1]])
    assert paths.rows["reach"].tolist() == [Reach.UNREACHABLE, Reach.REACHED] and paths.stats.reached_count == 1
    assert len(paths[0]) == 0 and paths[1].length == 1


def test_doors_open_and_shut() -> None:
    walls = [[[4.9, 0], [5.1, 0], [5.1, 1], [4.9, 1]], [[4.9, 2], [5.1, 2], [5.1, 4], [4.9, 4]]]
    room = Room([[0, 0], [10, 0], [10, 4], [0, 4]], walls, doors=[[[5, 1], [5, 2]]])
    assert room.door_count == 1 and room.path([1, 1.5], [9, 1.5]).is_reached
    room.set_doors(0, False)
    assert room.path([1, 1.5], [9, 1.5]).reach is Reach.UNREACHABLE
    again = pickle.loads(pickle.dumps(room))
    assert again.door_count == 1 and not again.path([1, 1.5], [9, 1.5]).is_reached
    room.set_doors([0], [True])
    assert room.path([1, 1.5], [9, 1.5]).is_reached
    cells = Room.from_cells(*TWO_CELLS)
    door, bridge = cells.add_door([[1, 2]]), cells.add_door_cells([1])
    assert (door, bridge) == (0, 1)
    for number in (door, bridge):
        cells.set_doors(number, False)
        assert cells.island_count == 2
        cells.set_doors(number, True)
        assert cells.island_count == 1
    with pytest.raises(hullfield.InvalidInputError, match="door 2 does not exist, there are 2"):
        cells.set_doors([0, 2], False)
    assert cells.island_count == 1
    with pytest.raises(hullfield.InvalidInputError, match="door is the edge from vertex 0 to vertex 1"):
        cells.add_door([[0, 1]])
    with pytest.raises(hullfield.InvalidInputError, match="cell 2 does not exist"):
        cells.add_door_cells(2)
    with pytest.raises(hullfield.InvalidInputError, match="is_open has 1 rows"):
        cells.set_doors([0, 1], [True])
    with pytest.raises(hullfield.InvalidInputError, match="doors were given"):
        Room.from_cells(*TWO_CELLS).from_bytes(
            b'{"floor":{"cells":{"points":[[0,0],[1,0],[0,1]],"cells":[[0,1,2]]}},"options":{"doors":[[[0,0],[1,1]]]}}'
        )


def test_obstacles_come_and_go() -> None:
    room = Room(SQUARE)
    crate = room.put_obstacle(PILLAR)
    assert room.path([1, 5], [9, 5]).length > 8
    assert room.path([1, 5], [9, 5]).length == pytest.approx(Room(SQUARE, [PILLAR]).path([1, 5], [9, 5]).length)
    again = pickle.loads(pickle.dumps(room))
    assert again.path([1, 5], [9, 5]).length == room.path([1, 5], [9, 5]).length
    room.move_obstacle(crate, [[4, 7], [6, 7], [6, 9], [4, 9]])
    assert room.path([1, 5], [9, 5]).length == 8
    room.take_obstacle(crate)
    assert room.area == 100 and again.area == 96
    for wrong in (lambda: room.take_obstacle(crate), lambda: room.move_obstacle(crate, PILLAR)):
        with pytest.raises(hullfield.InvalidInputError, match="obstacle 0 was taken out"):
            wrong()
    with pytest.raises(hullfield.InvalidInputError, match="obstacle 7 does not exist, there are 1"):
        room.take_obstacle(7)
    with pytest.raises(hullfield.InvalidInputError, match="obstacle"):
        room.take_obstacle(-1)
    with pytest.raises(hullfield.InvalidInputError):
        room.put_obstacle([[0, 0], [1, 1]])
    with pytest.raises(hullfield.InvalidInputError):
        room.put_obstacle([[0, 0], [1, 1], [0, np.nan]])
    assert room.area == 100


def test_repairs_are_listed() -> None:
    repairs = Room([[0, 0], [4, 4], [4, 0], [0, 4]]).repairs
    assert repairs[0].kind is RepairKind.CROSSING and repairs[0].ring == 0 and repairs[0].place.tolist() == [2, 2]
    with pytest.raises(hullfield.InvalidInputError):
        Room([[0, 0], [4, 4], [4, 0], [0, 4]], repair=False)
    for hole, kind in (
        ([[1, 1], [1, 1], [2, 1], [1, 2]], RepairKind.REPEATED_POINT),
        ([[0, 3], [1, 3], [1, 4]], RepairKind.TOUCH),
        ([[1, 1], [2, 2], [3, 3]], RepairKind.NO_AREA),
        ([[20, 20], [21, 20], [20, 21]], RepairKind.HOLE_OUTSIDE),
        ([[8, 8], [12, 8], [8, 9]], RepairKind.CROSSING),
    ):
        found = Room(SQUARE, [hole]).repairs
        assert kind in {repair.kind for repair in found} and {repair.ring for repair in found} <= {0, 1}
        others = set(RepairKind) - {kind, RepairKind.HOLE_OUTSIDE, RepairKind.TOUCH}
        assert not others & {repair.kind for repair in found}


def test_a_funnel_shows_its_steps() -> None:
    room = Room([[0, 0], [4, 0], [4, 1], [1, 1], [1, 4], [0, 4]], merge=False)
    steps = room.funnel_steps([3.5, 0.5], [0.5, 3.5])
    assert len(steps.left) == len(steps.right) == len(steps.moves) == len(steps.strip) - 1
    assert steps.path.points[1].tolist() == [1, 1]
    assert [move.edge_count for move in steps.moves] == list(range(1, len(steps.moves) + 1))
    assert steps.moves[-1].path[0].tolist() == [3.5, 0.5] and steps.moves[0].left.shape[1] == 2
    assert len(room.funnel_steps([9, 9], [0.5, 0.5]).moves) == 0


def test_rooms_pickle_and_copy() -> None:
    room = Room(SQUARE, pillars(7), radius=0.1, merge=False)
    wanted = room.path([0.3, 0.3], [9.5, 9.5])
    for other in (pickle.loads(pickle.dumps(room)), copy.deepcopy(room), Room.from_bytes(room.to_bytes())):
        assert other.path([0.3, 0.3], [9.5, 9.5]).length == wanted.length and (other.vertices == room.vertices).all()
        other.put_obstacle(PILLAR)
        assert other.area < room.area
    again = pickle.loads(pickle.dumps(wanted))
    assert (again.points == wanted.points).all() and again.reach is Reach.REACHED
    paths = room.paths([[0.3, 0.3]] * 3, [[9.5, 9.5]] * 3)
    assert (pickle.loads(pickle.dumps(paths)).crossings == paths.crossings).all()
    for wrong in (
        b"",
        b"{}",
        b"\xff\x00",
        room.to_bytes()[:-2],
        b"[" * 9999,
        room.to_bytes().replace(b'"radius":0.1', b'"radius":-1'),
    ):
        with pytest.raises(hullfield.InvalidInputError, match="the bytes are no room"):
            Room.from_bytes(wrong)


def test_edits_wait_for_queries_and_threads_share_a_room() -> None:
    room = Room(SQUARE, pillars(12))
    starts, goals = (room.random_points(20_000, rng=seed)["position"] for seed in (5, 6))
    wanted = room.paths(starts, goals).lengths
    pending = room.paths.start(starts, goals)
    crate = room.put_obstacle([[0.1, 0.1], [0.2, 0.1], [0.1, 0.2]])
    # The batch was called before the edit.
    assert (pending.wait().lengths == wanted).all()
    room.take_obstacle(crate)
    wrong: list[int] = []

    def read(seed: int) -> None:
        for _ in range(5):
            if (room.paths(starts[:500], goals[:500]).lengths < wanted[:500] - 1e-9).any():
                wrong.append(seed)

    def edit() -> None:
        for _ in range(20):
            room.take_obstacle(room.put_obstacle([[0.1, 0.1], [0.2, 0.1], [0.1, 0.2]]))

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(3)] + [threading.Thread(target=edit)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and (room.paths(starts, goals).lengths == wanted).all()


BAD_ROOMS: list[tuple[tuple[Any, ...], dict[str, Any], type, str]] = [
    (([[0, 0], [1, 1]],), {}, ValueError, "ring"),
    (([],), {}, ValueError, "ring"),
    (([[0, 0, 0], [1, 0, 0], [0, 1, 0]],), {}, ValueError, r"outer has the shape \(3, 3\)"),
    (([[0, 0], [1, 0], [0, float("nan")]],), {}, ValueError, "ring 0, point 2"),
    (([[0, 0], [1, 0], [0, 1e61]],), {}, ValueError, "ring 0, point 2"),
    (([[0, 0], [1, 0], [0, 1e-50]],), {}, ValueError, "ring 0, point 2"),
    (([["a", "b"]],), {}, TypeError, "real numbers"),
    (([[True, False], [True, True], [False, True]],), {}, TypeError, "real numbers"),
    ((None,), {}, TypeError, "objects"),
    ((SQUARE, [PILLAR[0]]), {}, ValueError, r"holes\[0\] has the shape \(2,\)"),
    ((SQUARE, [SQUARE]), {}, ValueError, "no room"),
    ((SQUARE,), {"radius": "wide"}, TypeError, "radius is 'wide', it must be a real number"),
    ((SQUARE,), {"radius": -1.0}, ValueError, "radius is -1"),
    ((SQUARE,), {"radius": float("inf")}, ValueError, "radius"),
    ((SQUARE,), {"radius": 6.0}, ValueError, "radius"),
    ((SQUARE,), {"doors": [[0, 0, 1, 1]]}, ValueError, r"doors has the shape \(1, 4\)"),
    ((SQUARE,), {"doors": [[[0, 0], [float("nan"), 1]]]}, ValueError, "door"),
]


@pytest.mark.parametrize(("arguments", "options", "kind", "text"), BAD_ROOMS)
def test_bad_rooms_are_refused(arguments: tuple[Any, ...], options: dict[str, Any], kind: type, text: str) -> None:
    with pytest.raises(hullfield.Error, match=text) as raised:
        Room(*arguments, **options)
    assert isinstance(raised.value, kind)


def test_bad_cells_are_refused() -> None:
    vertices, cells = TWO_CELLS
    for wrong, text in (
        ([[0, 1, 9]], "vertex 9|point 9"),
        ([[0, 1]], "corners"),
        ([[3, 2, 1, 0]], "counter-clockwise|convex"),
        ([[0, 1, -2]], "is -2"),
    ):
        with pytest.raises(hullfield.InvalidInputError, match=text):
            Room.from_cells(vertices, wrong)
    for offsets in ([0, 4], [4, 8], [0, 9, 8], [0.0, 8.0]):
        with pytest.raises(hullfield.InvalidInputError, match="offsets"):
            Room.from_cells(vertices, np.array(cells).reshape(-1), offsets=offsets)


def test_bad_queries_are_refused() -> None:
    room = Room(SQUARE)
    nan = [0, float("nan")]
    with pytest.raises(hullfield.InvalidInputError, match="query 1: start"):
        room.paths([[1, 1], nan], [[1, 1]] * 2)
    with pytest.raises(hullfield.InvalidInputError, match="query 700: point"):
        room.nearest_points([[1, 1]] * 700 + [nan])
    with pytest.raises(hullfield.InvalidInputError, match="direction"):
        room.raycast([1, 1], [0, 0], 1)
    with pytest.raises(hullfield.InvalidInputError, match="max_distance"):
        room.raycast([1, 1], [1, 0], float("nan"))
    with pytest.raises(hullfield.InvalidInputError, match="method is 'best'"):
        room.path([1, 1], [2, 2], method="best")
    with pytest.raises(hullfield.InvalidInputError, match="strip is 'wide'"):
        room.path([1, 1], [2, 2], method="funnel", strip="wide")
    with pytest.raises(hullfield.InvalidInputError, match="goals has 3 rows, it must have 2"):
        room.paths([[1, 1]] * 2, [[1, 1]] * 3)
    with pytest.raises(hullfield.InvalidInputError, match=r"start has the shape \(3,\)"):
        room.path([1, 1, 1], [2, 2])
    assert len(room.paths([], [])) == 0 and room.locations([]).shape == (0,)


def test_odd_arrays_are_read_as_they_are() -> None:
    ring = np.array(SQUARE, dtype=float)
    wanted = Room(ring, [PILLAR]).path([1, 5], [9, 5]).length
    frozen = ring.copy()
    frozen.flags.writeable = False
    for outer in (
        np.asfortranarray(ring),
        np.repeat(ring, 2, axis=1)[:, ::2],
        ring[::-1],
        ring.astype(np.int16),
        frozen,
        [*SQUARE, SQUARE[0]],
    ):
        assert Room(outer, np.array([PILLAR])).path([1, 5], [9, 5]).length == pytest.approx(wanted, abs=1e-12)
    room = Room(ring, [PILLAR])
    ring[:] = 0
    starts = np.tile([[1.0, 5.0]], (3, 1))
    pending = room.paths.start(starts, [9, 5])
    starts[:] = np.nan
    assert pending.wait().lengths == pytest.approx([wanted] * 3)
