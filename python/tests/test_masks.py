"""A mask is never dropped: masked cells are no data where that has a meaning, and are refused everywhere else."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield.collide import (
    Arena,
    Bodies,
    BodyColumns,
    Compound,
    CompoundColumns,
    Compounds,
    HeightField,
    Hull,
    JointPath,
    Pose,
    RayColumns,
    ShapeCastColumns,
    nearest_point,
    raycast,
    sweep,
)
from hullfield.flow import Edits, Flow, Grid, solve_raster
from hullfield.work import CollisionLabels

CPU = hullfield.Engine.cpu()


def masked(value: Any, *cells: Any) -> Any:
    array = np.ma.masked_array(value, mask=False)
    for cell in cells:
        array[cell] = np.ma.masked
    return array


def test_masked_friction_is_a_barrier_whatever_is_below_the_mask() -> None:
    friction = np.linspace(1, 2, 35).reshape(5, 7)
    friction[1:, 3] = 1e-3
    mask = np.zeros((5, 7), bool)
    mask[1:, 3] = True
    wanted = np.asarray(hullfield.cost_distance(None, [[0, 4]], friction=np.where(mask, np.nan, friction)))
    assert np.isinf(wanted[1:, 3]).all() and np.isfinite(wanted[0, 3])
    for given in (friction, friction.astype(np.float32), np.where(mask, 7, 3), np.where(mask, 7, 3).astype(np.uint8)):
        under = np.ma.masked_array(given, mask=mask)
        solved = hullfield.cost_distance(None, [[0, 4]], friction=under)
        assert (np.isinf(np.asarray(solved)) == np.isinf(wanted)).all()
        assert solved.report.not_finite_count == 4
    assert (
        np.asarray(hullfield.cost_distance(None, [[0, 4]], friction=np.ma.masked_array(friction, mask))) == wanted
    ).all()


def test_a_mask_without_a_masked_cell_changes_nothing() -> None:
    friction = np.ma.masked_equal(np.arange(1.0, 10.0).reshape(3, 3), 77)
    plain = hullfield.cost_distance(None, [[0, 0]], friction=np.asarray(friction))
    assert (np.asarray(hullfield.cost_distance(None, [[0, 0]], friction=friction)) == np.asarray(plain)).all()


def test_masked_heights_are_barriers_and_masked_targets_are_none() -> None:
    elevation = masked(np.zeros((3, 4)), (slice(None), 2))
    elevation.data[:, 2] = -9999
    distances = np.asarray(hullfield.cost_distance(None, [[0, 0]], friction=np.ones((3, 4)), elevation=elevation))
    assert np.isinf(distances[:, 2:]).all() and np.isfinite(distances[:, :2]).all()
    targets = masked(np.array([[4, 0, 0], [0, 0, 9]]), (1, 2))
    solved = hullfield.cost_distance(targets, friction=np.ones((2, 3)))
    assert solved.targets.tolist() == [[0, 0]]
    assert hullfield.cost_distance(targets, [4, 9], friction=np.ones((2, 3))).targets.tolist() == [[0, 0]]
    with pytest.raises(hullfield.NoGoalsError):
        hullfield.cost_distance(targets, [9], friction=np.ones((2, 3)))


def test_masked_costs_are_obstacles() -> None:
    costs = masked(np.full((6, 5), 3, np.uint16), (2, slice(0, 4)))
    field = solve_raster(costs, [[0, 0]])
    wanted = solve_raster(costs.filled(0), [[0, 0]])
    assert (np.asarray(field) == np.asarray(wanted)).all()
    friction = masked(np.full((4, 5), 1.5), (1, slice(0, 4)))
    found = solve_raster(friction, [[0, 0]])[:, :]
    assert np.isinf(found[1, :4]).all() and np.isfinite(found[3]).all()
    grid = Grid(np.zeros((6, 5), bool), costs=costs)
    assert grid.obstacle_count == 4 and grid.obstacles[2, :4].all()


def test_two_masks_over_equal_numbers_are_two_rasters(tmp_path: Any) -> None:
    costs = np.ones((8, 9), np.uint8)
    first, second = masked(costs, (3, slice(0, 8))), masked(costs, (slice(0, 7), 4))
    for given in (first, second):
        with solve_raster(given, [[0, 0]], folder=tmp_path / "tiles") as field:
            found = np.asarray(field)
            field.close(remove=True)
        assert (found == np.asarray(solve_raster(given.filled(0), [[0, 0]]))).all()
    with solve_raster(first, [[0, 0]], folder=tmp_path / "tiles"):
        pass
    with pytest.raises(hullfield.InvalidInputError):
        solve_raster(second, [[0, 0]], folder=tmp_path / "tiles")


def test_masked_heights_of_a_field_are_holes() -> None:
    heights = masked(np.zeros((3, 3)), (0, 0))
    terrain = HeightField(heights, 1.0)
    assert np.isnan(terrain.heights[0, 0]) and terrain.triangle(0) is None and terrain.triangle(7) is not None


ARENA = Arena([Hull.ball(0.5), Hull.cuboid([1, 1, 1])], engine=CPU)
BODIES = BodyColumns(0, [[0, 0, 0], [3, 0, 0]])
POINT = masked([1.0, 2.0, 3.0], 1)
ROW = masked([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], (0, 1))
FLAT = masked([1.0, 2.0], 0)
COUNT = masked([0, 1], 1)
PAIRS = masked([[0, 1], [1, 0]], (1, 0))
TURN = masked([[0.0, 0, 0, 1], [0, 0, 0, 1]], (0, 3))
POSES = masked(np.tile(np.eye(4), (2, 1, 1)), (0, 0, 3))
GRID = Grid(np.zeros((4, 4), bool))
FLOW = Flow(GRID, engine=CPU)
FIELD = FLOW.solve([[0, 0]])
MESH = ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
GEODESIC = hullfield.geodesic(*MESH)
SOLVED = hullfield.cost_distance(None, [[0, 0]], friction=np.ones((3, 3)), paths=True)
SET = Bodies(ARENA)

REFUSED: dict[str, Callable[[], Any]] = {
    "Hull": lambda: Hull(ROW),
    "Hull of a list": lambda: Hull([POINT, POINT, [0, 0, 0]]),
    "Hull.cuboid": lambda: Hull.cuboid(POINT),
    "Hull.capsule": lambda: Hull.capsule(POINT, [0, 0, 0], 1),
    "Hull.ball": lambda: Hull.ball(np.ma.masked),
    "Hull.cylinder": lambda: Hull.cylinder([0, 0, 0], [0, 0, 1], 1, np.ma.masked_array(8, mask=True)),
    "Hull.triangle": lambda: Hull.triangle(masked(np.eye(3), (0, 0))),
    "Hull.triangles_of_mesh": lambda: Hull.triangles_of_mesh(masked(MESH[0], (0, 0)), MESH[1]),
    "Hull.triangles_of_mesh faces": lambda: Hull.triangles_of_mesh(MESH[0], masked(MESH[1], (0, 0))),
    "Pose position": lambda: Pose(POINT),
    "Pose rotation": lambda: Pose(rotation=TURN[0]),
    "Pose scale": lambda: Pose(scale=POINT),
    "Pose scale of one": lambda: Pose(scale=np.ma.masked),
    "Pose.from_matrix": lambda: Pose.from_matrix(POSES[0]),
    "BodyColumns hulls": lambda: BodyColumns(COUNT),
    "BodyColumns positions": lambda: BodyColumns(0, ROW),
    "BodyColumns rotations": lambda: BodyColumns(0, [[0, 0, 0]] * 2, TURN),
    "BodyColumns scales": lambda: BodyColumns(0, [[0, 0, 0]] * 2, scales=ROW),
    "BodyColumns scales of all": lambda: BodyColumns(0, [[0, 0, 0]] * 2, scales=np.ma.masked_array(1.0, mask=True)),
    "BodyColumns paddings": lambda: BodyColumns(0, [[0, 0, 0]] * 2, paddings=FLAT),
    "BodyColumns groups": lambda: BodyColumns(0, [[0, 0, 0]] * 2, groups=COUNT),
    "BodyColumns worlds": lambda: BodyColumns(0, [[0, 0, 0]] * 2, worlds=COUNT),
    "BodyColumns exclusions": lambda: BodyColumns(0, [[0, 0, 0]] * 2, exclusions=PAIRS),
    "BodyColumns.from_matrices": lambda: BodyColumns.from_matrices(0, POSES),
    "RayColumns origins": lambda: RayColumns(ROW, [1, 0, 0]),
    "RayColumns directions": lambda: RayColumns([0, 0, 0], ROW),
    "RayColumns distances": lambda: RayColumns([[0, 0, 0]] * 2, [1, 0, 0], FLAT),
    "ShapeCastColumns": lambda: ShapeCastColumns(BODIES, ROW),
    "Arena pairs": lambda: ARENA.contacts(BODIES, PAIRS),
    "Arena margin": lambda: ARENA.contacts(BODIES, margin=np.ma.masked),
    "Arena.sweeps": lambda: ARENA.sweeps(BODIES, ROW),
    "Arena.nearest_points": lambda: ARENA.nearest_points(BODIES, ROW),
    "Arena.remove_hulls": lambda: ARENA.with_options().remove_hulls(COUNT),
    "Arena.trace": lambda: ARENA.trace(BODIES, COUNT),
    "Arena.postures": lambda: ARENA.postures(BODIES, ROW[None]),
    "JointPath": lambda: JointPath(ROW[None]),
    "JointPath matrices": lambda: JointPath(POSES[None]),
    "sweep": lambda: sweep(Hull.ball(1), None, POINT, Hull.ball(1), None, [0, 0, 0]),
    "raycast": lambda: raycast(Hull.ball(1), None, POINT, [0, 0, 1]),
    "nearest_point": lambda: nearest_point(Hull.ball(1), None, POINT),
    "Compound": lambda: Compound(0, ROW),
    "CompoundColumns": lambda: CompoundColumns(0, ROW),
    "Compounds.nearest_points": lambda: Compounds(ARENA, [Compound([0])]).nearest_points(CompoundColumns(0), ROW),
    "HeightField origin": lambda: HeightField(np.zeros((2, 2)), 1, POINT),
    "HeightField spacing": lambda: HeightField(np.zeros((2, 2)), FLAT),
    "Bodies.remove": lambda: SET.remove(masked([1, 2], 0)),
    "Grid": lambda: Grid(masked(np.zeros((3, 3), bool), (0, 0))),
    "Grid origin": lambda: Grid(np.zeros((3, 3), bool), origin=POINT),
    "Grid.locate": lambda: GRID.locate(ROW),
    "Grid.centres": lambda: GRID.centres(PAIRS),
    "Flow.solve": lambda: FLOW.solve(PAIRS),
    "Flow.fields": lambda: FLOW.fields([PAIRS]),
    "Flow.fields in a list": lambda: FLOW.solve([PAIRS[1], [0, 1]]),
    "Edits": lambda: Flow(GRID, engine=CPU).edit(Edits().cost([[0, 0], [1, 1]], COUNT)),
    "Field.path": lambda: FIELD.path(COUNT),
    "Field.directions": lambda: FIELD.directions(ROW),
    "solve_raster goals": lambda: solve_raster(np.ones((3, 3), int), PAIRS),
    "solve_raster step_lengths": lambda: solve_raster(
        np.ones((3, 3), int), [[0, 0]], step_lengths=masked([1, 1, 2], 1)
    ),
    "RasterField.path": lambda: solve_raster(np.ones((3, 3), int), [[0, 0]]).path(COUNT),
    "solve_raster cell_size": lambda: solve_raster(np.ones((3, 3)), [[0, 0]], cell_size=FLAT),
    "cost_distance targets": lambda: hullfield.cost_distance(None, PAIRS, friction=np.ones((3, 3))),
    "cost_distance values": lambda: hullfield.cost_distance(np.eye(3), FLAT, friction=np.ones((3, 3))),
    "cost_distance cell_size": lambda: hullfield.cost_distance(np.eye(3), friction=np.ones((3, 3)), cell_size=FLAT),
    "cost_distance slopes": lambda: hullfield.cost_distance(
        np.eye(3), friction=np.ones((3, 3)), elevation=np.ones((3, 3)), slope_factors=masked([[0.0, 1], [1, 2]], (1, 1))
    ),
    "CostDistance.path": lambda: SOLVED.path(COUNT),
    "CostDistance.paths": lambda: SOLVED.paths(PAIRS),
    "geodesic": lambda: hullfield.geodesic(masked(MESH[0], (0, 0)), MESH[1]),
    "geodesic faces": lambda: hullfield.geodesic(MESH[0], masked(MESH[1], (0, 0))),
    "Geodesic.distance": lambda: GEODESIC.distance(COUNT),
    "Geodesic.distance at a point": lambda: GEODESIC.distance((0, masked([1.0, 0.0, 0.0], 1))),
    "CollisionLabels": lambda: CollisionLabels([Hull.ball(1)], [[Hull.ball(1)]])({"object": [0, 0], "pose": POSES}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_elsewhere_a_mask_is_refused(name: str) -> None:
    with pytest.raises(hullfield.Error):
        REFUSED[name]()


def test_missing_values_of_pandas_are_a_mask() -> None:
    pandas = pytest.importorskip("pandas")
    for dtype in ("Float64", "Int64"):
        for missing in (pandas.array([1, None, 2], dtype=dtype), pandas.Series([1, None, 2], dtype=dtype)):
            with pytest.raises(hullfield.InvalidInputError, match="masked or missing"):
                Pose(missing)
        assert Pose(pandas.Series([1, 4, 2], dtype=dtype)).position.tolist() == [1, 4, 2]


class _Read:
    """Gives a masked array only when it is read, as a variable of netCDF4."""

    mask = True

    def __init__(self, values: Any) -> None:
        self._values = np.ma.masked_greater(np.asarray(values, np.float32), 1e30)
        self.shape, self.ndim, self.dtype = self._values.shape, self._values.ndim, self._values.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._values if dtype is None else self._values.astype(dtype)


def test_masks_of_what_is_read_late_are_kept() -> None:
    friction = np.ones((3, 4), np.float32)
    friction[1, 1] = 9.97e36
    targets = np.zeros((3, 4), np.float32)
    targets[0, 0] = 1
    late = hullfield.cost_distance(targets, friction=_Read(friction))
    masked = hullfield.cost_distance(targets, friction=np.ma.masked_greater(friction, 1e30))
    np.testing.assert_array_equal(late.distances, masked.distances)
    assert np.isinf(late.distances[1, 1])
    with pytest.raises(hullfield.Error, match="masked or missing values"):
        Hull(_Read([[0, 0, 0], [1, 0, 1e36]]))
