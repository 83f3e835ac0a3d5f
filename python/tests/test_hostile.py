"""Whatever is given to flow and navigate, the answer is an error of hullfield, or an answer."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_surface import CUBE, CUBE_FACES, hills

import hullfield
from hullfield.flow import Edits, Flow, Grid, solve_raster
from hullfield.navigate.room import Room
from hullfield.navigate.surface import Model, Places, Surface

NAN, INF = float("nan"), float("inf")


class Odd:
    """Fails in every way in which arrays are asked for."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise ValueError("no array today")


JUNK: list[Any] = [
    None,
    True,
    0,
    -1,
    7,
    2**31,
    2**32,
    2**64,
    -(2**70),
    0.5,
    NAN,
    INF,
    1e300,
    -1e308,
    1j,
    "text",
    b"bytes",
    [],
    [[]],
    [[], [1]],
    [None],
    [[None, 1, 2]],
    [1, 2],
    [1, 2, 3],
    [NAN, NAN, NAN],
    [[1, 2]],
    [[0, 1, 2]],
    [[0, 1, -2]],
    [[INF, 0, 0]],
    [[1e300, 0]],
    [[2**40, 2**63, 0]],
    [["a", "b", "c"]],
    {},
    {"a": 1},
    object(),
    Odd(),
    lambda *_: None,
    np.zeros(0),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros((1, 1, 1, 1)),
    np.array(3),
    np.array([[1, 2, 3]], dtype=np.uint64) << np.uint64(40),
    np.array([["a"]], dtype=object),
    np.array(["2020-01-01"], dtype="M8[D]"),
    np.ones((2, 3), dtype=np.float16),
    np.ones((2, 2), dtype=np.longdouble),
    np.ma.masked_array([[1.0, 2.0, 3.0]], mask=[[True, False, False]]),
    np.zeros((4, 4), dtype=[("x", "f8")]),
    np.broadcast_to(np.array([1.0, 2.0, 3.0]), (4, 3)),
]

SURFACE = Surface(CUBE, CUBE_FACES)
GEODESIC = hullfield.geodesic(*hills(4))
FIELD = SURFACE.field([0, 0, 0])
ROOM = Room([[0, 0], [10, 0], [10, 10], [0, 10]], [[[4, 4], [6, 4], [6, 6]]])
FLOW = Flow(Grid(np.zeros((4, 4), bool)), engine=hullfield.Engine.cpu())
FLOW_FIELD = FLOW.solve([[0, 0]])
RASTER_FIELD = solve_raster(np.ones((6, 7), np.uint8), [[0, 0]])

CALLS: dict[str, Callable[[Any], Any]] = {
    "Surface(vertices)": lambda x: Surface(x, CUBE_FACES),
    "Surface(faces)": lambda x: Surface(CUBE, x),
    "Surface(object)": lambda x: Surface(x),
    "Surface(offsets)": lambda x: Surface(CUBE, [0, 1, 2, 3], offsets=x),
    "Surface(transform)": lambda x: Surface(CUBE, CUBE_FACES, transform=x),
    "Surface(weld)": lambda x: Surface(CUBE, CUBE_FACES, weld=x),
    "Surface(interval)": lambda x: Surface(CUBE, CUBE_FACES, interval=x),
    "Surface(max_snap)": lambda x: Surface(CUBE, CUBE_FACES, max_snap=x),
    "Surface.from_bytes": lambda x: Surface.from_bytes(x if isinstance(x, bytes) else b"hullsurf"),
    "Model": lambda x: Model(x, x),
    "Places": Places,
    "Places.triangles": lambda x: Places.triangles(x, [[0, 0, 0]]),
    "Places.faces": lambda x: SURFACE.locations(Places.faces(x, [[0, 0, 0]], models=x)),
    "Places.vertices": lambda x: SURFACE.locations(Places.vertices(x)),
    "Surface.path": lambda x: SURFACE.path(x, [0, 0, 0]),
    "Surface.path tolerance": lambda x: SURFACE.path([0, 0, 0], [1, 1, 1], tolerance=x),
    "Surface.paths": lambda x: SURFACE.paths(x, [[0, 0, 0]]),
    "Surface.path_by_costs": lambda x: SURFACE.path_by_costs([0, 0, 0], [1, 1, 1], x),
    "Surface.funnel_along": lambda x: SURFACE.funnel_along(x, [0, 0, 0], [1, 1, 1]),
    "Surface.field": lambda x: SURFACE.field(x),
    "Surface.distances": lambda x: SURFACE.distances(x),
    "Surface.locate": lambda x: SURFACE.locate(x),
    "Surface.locate_all": lambda x: SURFACE.locate_all(x),
    "Surface.raycasts": lambda x: SURFACE.raycasts([[0.5, 0.5, 0]], x, 1),
    "Surface.raycast distance": lambda x: SURFACE.raycast([0.5, 0.5, 0], [1, 0, 0], x),
    "Surface.distances_to_wall": lambda x: SURFACE.distances_to_wall(x),
    "Surface.moves_along": lambda x: SURFACE.moves_along([[0.5, 0.5, 0]], x),
    "Surface.set_walkable": lambda x: SURFACE.copy().set_walkable(x),
    "Surface.set_walkable_where": lambda x: SURFACE.copy().set_walkable_where(x),
    "Surface.set_walkable_slope": lambda x: SURFACE.copy().set_walkable_slope(x, 40),
    "Surface.set_walkable_slope degrees": lambda x: SURFACE.copy().set_walkable_slope([0, 0, 1], x),
    "Surface.set_links": lambda x: SURFACE.copy().set_links(x, x, x),
    "Surface.set_links two_way": lambda x: SURFACE.copy().set_links([[0, 0, 0]], [[1, 1, 1]], 1, x),
    "Surface.edges_of": lambda x: SURFACE.edges_of(x),
    "Surface.random_points": lambda x: SURFACE.random_points(0 if isinstance(x, int) and x > 9 else x),
    "SurfaceField.distances": lambda x: FIELD.distances(x),
    "SurfaceField.paths": lambda x: FIELD.paths(x),
    "Path.places_at": lambda x: SURFACE.path([0, 0, 0], [1, 1, 1]).places_at(x),
    "Surface.t_junctions": lambda x: SURFACE.t_junctions(x),
    "geodesic": lambda x: hullfield.geodesic(x),
    "Geodesic.distance": lambda x: GEODESIC.distance(x),
    "Geodesic.distance at points": lambda x: GEODESIC.distance((0, x)),
    "Geodesic.distance at faces": lambda x: GEODESIC.distance((x, [[1, 0, 0]])),
    "Geodesic.path": lambda x: GEODESIC.path(x, 1),
    "Geodesic.distances memory": lambda x: GEODESIC.distances([0], memory_limit=x),
    "Room": lambda x: Room(x),
    "Room(holes)": lambda x: Room([[0, 0], [10, 0], [10, 10], [0, 10]], [x]),
    "Room(doors)": lambda x: Room([[0, 0], [10, 0], [10, 10], [0, 10]], doors=x),
    "Room(radius)": lambda x: Room([[0, 0], [10, 0], [10, 10], [0, 10]], radius=x),
    "Room.from_cells": lambda x: Room.from_cells([[0, 0], [1, 0], [0, 1]], [x]),
    "Room.from_cells vertices": lambda x: Room.from_cells(x, [[0, 1, 2]]),
    "Room.from_bytes": lambda x: Room.from_bytes(x if isinstance(x, bytes) else b"[]"),
    "Room.from_polyanya_mesh": Room.from_polyanya_mesh,
    "Room.path": lambda x: ROOM.path(x, [1, 1]),
    "Room.paths": lambda x: ROOM.paths(x, x),
    "RoomPath.places_at": lambda x: ROOM.path([1, 1], [9, 9]).places_at(x),
    "Room.locations": lambda x: ROOM.locations(x),
    "Room.raycasts": lambda x: ROOM.raycasts(x, x, x),
    "Room.moves_along": lambda x: ROOM.moves_along([[1, 1]], x),
    "Room.set_doors": lambda x: ROOM.set_doors(x, x),
    "Room.add_door": lambda x: ROOM.add_door(x),
    "Room.put_obstacle": lambda x: ROOM.take_obstacle(ROOM.put_obstacle(x)),
    "Room.take_obstacle": lambda x: ROOM.take_obstacle(x),
    "Grid": Grid,
    "Grid(costs)": lambda x: Grid(np.zeros((2, 2), bool), costs=x),
    "Grid(origin)": lambda x: Grid(np.zeros((2, 2), bool), origin=x),
    "Grid(axes)": lambda x: Grid(np.zeros((2, 2), bool), axes=x),
    "Grid(clearance)": lambda x: Grid(np.zeros((2, 2), bool), clearance=x),
    "Grid(cell_size)": lambda x: Grid(np.zeros((2, 2), bool), cell_size=x),
    "Grid.locate": lambda x: FLOW.grid.locate(x),
    "Grid.centres": lambda x: FLOW.grid.centres(x),
    "Grid.neighbour": lambda x: FLOW.grid.neighbour([0, 0], x),
    "Flow.solve": lambda x: FLOW.solve(x),
    "Flow.solve until": lambda x: FLOW.solve([[0, 0]], until=x),
    "Flow.solve max_distance": lambda x: FLOW.solve([[0, 0]], max_distance=x),
    "Flow.fields": lambda x: FLOW.fields([x]),
    "Flow.fields offsets": lambda x: FLOW.fields([[0, 0]], goal_offsets=x),
    "Flow.edit": lambda x: Flow(FLOW.grid, engine=FLOW.engine).edit(Edits().block(x)),
    "Flow.edit cost": lambda x: Flow(FLOW.grid, engine=FLOW.engine).edit(Edits().cost([[0, 0]], x)),
    "Flow.agents": lambda x: FLOW.agents(x),
    "FlowField.paths": lambda x: FLOW_FIELD.paths(x),
    "FlowField.path": lambda x: FLOW_FIELD.path(x),
    "FlowField.directions": lambda x: FLOW_FIELD.directions(x),
    "FlowField.directions sight": lambda x: FLOW_FIELD.directions([[0, 0]], sight=x),
    "Agents.step": lambda x: FLOW.agents([[1, 1]]).step(FLOW_FIELD, x),
    "solve_raster": lambda x: solve_raster(x, [[0, 0]]),
    "solve_raster goals": lambda x: solve_raster(np.ones((4, 4), int), x),
    "solve_raster tile_edge": lambda x: solve_raster(np.ones((4, 4), int), [[0, 0]], tile_edge=x),
    "solve_raster step_lengths": lambda x: solve_raster(np.ones((4, 4), int), [[0, 0]], step_lengths=x),
    "RasterField.distances": lambda x: RASTER_FIELD.distances((x, 0, 1, 1)),
    "solve_raster cell_size": lambda x: solve_raster(np.ones((4, 4)), [[0, 0]], cell_size=x),
    "solve_raster transform": lambda x: solve_raster(np.ones((4, 4)), [[0, 0]], transform=x),
    "solve_raster max_distance": lambda x: solve_raster(np.ones((4, 4)), [[0, 0]], max_distance=x),
    "cost_distance geodesic": lambda x: hullfield.cost_distance(
        np.eye(4), friction=np.ones((4, 4)), transform=x, geodesic=True
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_junk_is_refused_or_answered(name: str) -> None:
    wrong = []
    refused = 0
    for row, junk in enumerate(JUNK):
        try:
            CALLS[name](junk)
        except hullfield.InternalError as error:
            wrong.append((row, junk, error))
        except hullfield.Error:
            refused += 1
        except BaseException as error:
            wrong.append((row, junk, error))
    assert not wrong, "\n".join(f"{row}: {junk!r}: {type(error).__name__}: {error}" for row, junk, error in wrong)
    assert refused or name in ("Surface.from_bytes",)
