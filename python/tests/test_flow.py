"""Grids, fields, paths and agents, next to Dijkstra of scipy."""

import copy
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield.flow import NEXT_NONE, UNREACHABLE, Edits, Flow, Grid

CPU = hullfield.Engine.cpu()


def engines() -> list[hullfield.Engine]:
    """Both engines, or the CPU alone where no adapter is."""
    try:
        return [CPU, hullfield.Engine.gpu()]
    except hullfield.NoGpuError:
        return [CPU]


ENGINES = engines()
needs_gpu = pytest.mark.skipif(len(ENGINES) < 2, reason="there is no adapter")


def maze(shape: tuple[int, ...], share: float = 0.3, seed: int = 1) -> np.ndarray:
    obstacles = np.random.default_rng(seed).random(shape) < share
    obstacles[(0,) * len(shape)] = False
    return obstacles


def dijkstra(grid: Grid, goals: list[Any]) -> np.ndarray:
    """The distances of a grid, of the moves and steps that it names, by scipy."""
    sparse = pytest.importorskip("scipy.sparse")
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    shape, dimension = grid.shape, grid.dimension
    free = ~grid.obstacles
    costs = np.ones(shape) if grid.costs is None else grid.costs.astype(float)
    index = np.arange(free.size).reshape(shape)
    rows, columns, weights = [], [], []

    def shifted(array: np.ndarray, offset: np.ndarray, fill: Any) -> np.ndarray:
        """At each cell the array's entry at the cell plus the offset (x, y, z)."""
        found = np.full(shape, fill, dtype=array.dtype)
        here, there = [], []
        for part, length in zip(offset[::-1], shape, strict=True):
            part = int(part)
            here.append(slice(max(0, -part), length - max(0, part)))
            there.append(slice(max(0, part), length - max(0, -part)))
        found[tuple(here)] = array[tuple(there)]
        return found

    for offset, step in zip(grid.offsets, grid.steps, strict=True):
        allowed = free & shifted(free, offset, False)
        used = np.flatnonzero(offset)
        if len(used) > 1:
            between = []
            for mask in range(1, 2 ** len(used) - 1):
                part = np.zeros(dimension, dtype=int)
                for bit, axis in enumerate(used):
                    if mask >> bit & 1:
                        part[axis] = offset[axis]
                between.append(shifted(free, part, False))
            if grid.corners == "both_free":
                allowed &= np.logical_and.reduce(between)
            elif grid.corners == "one_free":
                assert len(used) == 2
                allowed &= np.logical_or.reduce(between)
        target = shifted(index, offset, 0)[allowed]
        rows.append(target)
        columns.append(index[allowed])
        weights.append(step * costs.reshape(-1)[target])
    # From the goals backwards: entering a cell is paid on the way there.
    graph = sparse.csr_matrix(
        (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))), shape=(free.size, free.size)
    )
    starts = [index[tuple(np.asarray(goal)[::-1])] for goal in goals]
    found = csgraph.dijkstra(graph, indices=starts, min_only=True)
    found = np.where(np.isfinite(found), found, UNREACHABLE).astype(np.uint32).reshape(shape)
    return np.where(free, found, np.uint32(UNREACHABLE))


GRIDS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((30, 41), {"connectivity": "four"}),
    ((30, 41), {}),
    ((30, 41), {"corners": "one_free"}),
    ((30, 41), {"corners": "any", "costs": True}),
    ((30, 41), {"connectivity": "four", "costs": True}),
    ((9, 12, 14), {"connectivity": "six"}),
    ((9, 12, 14), {}),
    ((9, 12, 14), {"corners": "any", "costs": True}),
]


@pytest.mark.parametrize(("shape", "options"), GRIDS)
def test_fields_equal_dijkstra_on_both_engines(shape: tuple[int, ...], options: dict[str, Any]) -> None:
    obstacles = maze(shape)
    options = dict(options)
    if options.pop("costs", False):
        options["costs"] = np.random.default_rng(2).integers(1, 30, shape)
    grid = Grid(obstacles, **options)
    assert (grid.obstacles == obstacles).all() and grid.shape == shape
    goals = [(0,) * len(shape), tuple(np.argwhere(~obstacles)[-1][::-1])]
    wanted = dijkstra(grid, goals)
    codes = []
    for engine in ENGINES:
        field = Flow(grid, engine=engine).solve(goals)
        distances = field.distances()
        assert distances.dtype == np.uint32 and distances.shape == shape
        assert (distances == wanted).all()
        assert field.stats.reached_count == (wanted != UNREACHABLE).sum()
        codes.append(field.next_codes())
        assert codes[-1].dtype == np.uint8 and codes[-1].shape == shape
    assert all((code == codes[0]).all() for code in codes)
    # The next cell of a reached cell is nearer by the step into it.
    cells = np.argwhere((wanted != UNREACHABLE) & (wanted > 0))
    code = codes[0][tuple(cells.T)]
    after = cells[:, ::-1] + grid.offsets[code]
    costs = np.ones(shape, dtype=int) if grid.costs is None else grid.costs
    into = tuple(after[:, ::-1].T)
    assert (wanted[tuple(cells.T)] == wanted[into] + grid.steps[code] * costs[into]).all()
    assert (codes[0][wanted == 0] == NEXT_NONE).all()


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.backend)
def test_numbers_of_a_small_field(engine: hullfield.Engine) -> None:
    flow = Flow(Grid([[0, 1, 0], [0, 0, 0]], connectivity="four"), engine=engine)
    field = flow.solve([[0, 0]])
    assert field.distances().tolist() == [[0, UNREACHABLE, 4], [1, 2, 3]]
    assert field.next_codes().tolist() == [[255, 1, 2], [0, 3, 3]]
    path = field.path([2, 0])
    assert path.cells.tolist() == [[2, 0], [2, 1], [1, 1], [0, 1], [0, 0]] and path.length == 4 and path.is_reached
    paths = field.paths([[2, 0], [0, 0], [1, 0]])
    assert paths.lengths.tolist() == [4, 0, 4] and paths.offsets.tolist() == [0, 5, 6, 12]
    assert [cell.tolist() for cell in paths[0].cells] == path.cells.tolist()
    assert paths[1].cells.tolist() == [[0, 0]]
    # An obstacle's way out counts nothing.
    assert paths[2].cells.tolist()[:2] == [[1, 0], [2, 0]]
    assert paths.cells.tolist()[5] == [0, 0] and len(paths) == 3 and len(list(paths)) == 3
    assert field.next_cells([[2, 0], [0, 0]]).tolist() == [[2, 1], [0, 0]]
    assert field.distances_at([[2, 0], [1, 0]]).tolist() == [4, UNREACHABLE]
    assert field.nearest_reached([1, 0]).tolist() in ([0, 0], [2, 0], [1, 1])


def test_a_volume_names_cells_by_x_y_z() -> None:
    obstacles = np.zeros((3, 4, 5), dtype=bool)
    obstacles[1, 2, 4] = True
    grid = Grid(obstacles, connectivity="six")
    field = Flow(grid, engine=CPU).solve([[4, 3, 2]])
    z, y, x = np.indices(obstacles.shape)
    wanted = abs(x - 4) + abs(y - 3) + abs(z - 2)
    found = field.distances()
    assert found[1, 2, 4] == UNREACHABLE and (found == wanted)[~obstacles].all()
    assert field.path([4, 3, 0]).cells.tolist() == [[4, 3, 0], [4, 3, 1], [4, 3, 2]]
    assert grid.locate([[4.5, 2.5, 1.5]])[0].tolist() == [[4, 2, 1]]
    assert grid.neighbour([4, 1, 1], 1) is None and grid.neighbour([4, 0, 1], 1) == (4, 1, 1)


def test_goals_that_are_left_out_are_reported() -> None:
    field = Flow(Grid([[0, 1, 0]]), engine=CPU).solve([[0, 0], [1, 0], [0, 0], [-5, 2], [3, 0]])
    assert field.goals.used_count == 1
    assert field.goals.blocked.tolist() == [[1, 0]] and field.goals.outside.tolist() == [[-5, 2], [3, 0]]
    with pytest.raises(hullfield.NoGoalsError, match="of 2 given, 1 are on obstacles, 1 off the grid"):
        Flow(Grid([[0, 1, 0]]), engine=CPU).solve([[1, 0], [3, 0]])
    with pytest.raises(hullfield.NoGoalsError):
        Flow(Grid([[0, 1, 0]]), engine=CPU).solve([])


def test_limits_leave_far_cells_unreached() -> None:
    flow = Flow(Grid(np.zeros((1, 9), bool), connectivity="four"), engine=CPU)
    near = flow.solve([[0, 0]], max_distance=3).distances()
    assert near.tolist() == [[0, 1, 2, 3] + [UNREACHABLE] * 5]
    until = flow.solve([[0, 0]], until=[[4, 0]]).distances()
    assert until[0, 4] == 4 and until[0, 8] == UNREACHABLE
    with pytest.raises(hullfield.InvalidInputError, match="until"):
        flow.solve([[0, 0]], until=[[9, 0]])


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.backend)
def test_a_batch_of_fields_equals_single_fields(engine: hullfield.Engine) -> None:
    grid = Grid(maze((20, 25)))
    flow = Flow(grid, engine=engine)
    free = np.argwhere(~grid.obstacles)[:, ::-1]
    goals = [free[:1], free[5:9], free[[7, 40]]]
    fields = flow.fields(goals)
    flat = flow.fields(np.concatenate(goals), goal_offsets=[0, 1, 5, 7])
    for field, other, own in zip(fields, flat, goals, strict=True):
        wanted = flow.solve(own).distances()
        assert (field.distances() == wanted).all() and (other.distances() == wanted).all()
    limited = flow.fields(goals, until_each=[[free[3]], [], [free[9]]])
    assert (limited[1].distances() == fields[1].distances()).all()
    assert limited[0].distances_at([free[3]]) == fields[0].distances_at([free[3]])
    with pytest.raises(hullfield.NoGoalsError, match="query 1: "):
        flow.fields([free[:1], []])
    with pytest.raises(hullfield.InvalidInputError, match="there are 3 fields"):
        flow.fields(goals, until_each=[[free[3]]])
    assert flow.fields([]) == []
    assert fields.stats.reached_count == sum(field.stats.reached_count for field in fields)
    for offsets in ([0, 9], [1, 7], [0, 5, 2, 7], [0.0, 7.0], [], 7):
        with pytest.raises(hullfield.InvalidInputError, match="offsets of goals"):
            flow.fields(np.concatenate(goals), goal_offsets=offsets)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.backend)
def test_edits_and_updates_equal_fresh_solves(engine: hullfield.Engine) -> None:
    obstacles = maze((40, 50), 0.2)
    flow = Flow(Grid(obstacles, connectivity="four"), engine=engine)
    goals = np.argwhere(~obstacles)[[0, 700], ::-1]
    field = flow.solve(goals)
    before = field.distances()
    free = np.argwhere(~obstacles)[:, ::-1]
    flow.edit(Edits().block(free[50:80:3]).cost(free[100:140], 7).free(np.argwhere(obstacles)[:9, ::-1]))
    updated = flow.update(field)
    fresh = Flow(flow.grid, engine=CPU).solve(goals)
    assert (updated.distances() == fresh.distances()).all() and (updated.next_codes() == fresh.next_codes()).all()
    assert (updated.distances() != before).any() and (field.distances() == before).all()
    moved = flow.update(updated, free[[3]])
    assert (moved.distances() == flow.solve(free[[3]]).distances()).all()
    costs = flow.grid.costs
    assert costs is not None and costs[free[120][1], free[120][0]] == 7
    with pytest.raises(hullfield.InvalidInputError, match=r"edit 1: cell is \(50, 0\)"):
        flow.edit(Edits().block([[1, 1], [50, 0]]))
    assert not flow.grid.obstacles[1, 1] or obstacles[1, 1]
    with pytest.raises(hullfield.InvalidInputError, match="edit 0: cost is 0"):
        flow.edit(Edits().cost([[1, 1]], 0))
    flow.edit(Edits())


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.backend)
def test_a_field_outlives_a_goal_that_is_blocked(engine: hullfield.Engine) -> None:
    flow = Flow(Grid(np.zeros((6, 9), bool), connectivity="four"), engine=engine)
    field = flow.solve([[8, 5]])
    before = field.distances()
    flow.edit(Edits().block([[8, 5]]))
    for goals in (None, [[8, 5], [90, 0]]):
        with pytest.raises(hullfield.NoGoalsError):
            flow.update(field, goals)
        assert (field.distances() == before).all()
    flow.edit(Edits().free([[8, 5]]).block([[7, 5]]))
    assert (flow.update(field).distances() == flow.solve([[8, 5]]).distances()).all()


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.backend)
def test_agents_follow_a_field(engine: hullfield.Engine) -> None:
    grid = Grid(maze((30, 30), 0.2), connectivity="four")
    flow = Flow(grid, engine=engine)
    field = flow.solve([[0, 0]])
    starts = np.argwhere(~grid.obstacles)[::7, ::-1]
    agents = flow.agents(starts)
    assert len(agents) == len(starts) and (agents.cells() == starts).all()
    here = starts
    for _ in range(5):
        agents.step(field)
        here = field.next_cells(here)
        assert (agents.cells() == here).all()
    agents.step(field, 1000)
    reached = field.distances_at(starts) != UNREACHABLE
    assert (agents.cells()[reached] == 0).all() and (agents.cells()[~reached] == starts[~reached]).all()
    agents.step(field, 0)
    assert (agents.positions() == grid.centres(agents.cells())).all()
    with pytest.raises(hullfield.InvalidInputError, match="cell is"):
        flow.agents([[30, 0]])
    with pytest.raises(hullfield.InvalidInputError, match="field is over a grid of 2 x 1 x 1 cells"):
        agents.step(Flow(Grid(np.zeros((1, 2), bool)), engine=engine).solve([[0, 0]]))
    with pytest.raises(hullfield.InvalidInputError, match="step_count is -1"):
        agents.step(field, -1)
    assert len(flow.agents([])) == 0


@needs_gpu
def test_agents_refuse_fields_of_another_engine() -> None:
    grid = Grid(np.zeros((2, 2), bool))
    flows = [Flow(grid, engine=engine) for engine in ENGINES]
    with pytest.raises(hullfield.InvalidInputError, match="of another engine"):
        flows[0].agents([[0, 0]]).step(flows[1].solve([[0, 0]]))


def test_directions_lead_to_the_goal() -> None:
    flow = Flow(Grid(np.zeros((1, 4), bool), connectivity="four"), engine=CPU)
    field = flow.solve([[0, 0]])
    assert field.directions([[3.2, 0.5, 0], [0.7, 0.5, 0]]).tolist() == [[-1, 0, 0], [0, 0, 0]]
    assert field.directions([[3.2, 0.5]]).tolist() == [[-1, 0, 0]]
    both = [Flow(flow.grid, engine=engine).solve([[0, 0]]).directions([[2.3, 0.4, 0]], sight=9) for engine in ENGINES]
    assert all((one == both[0]).all() for one in both)
    with pytest.raises(hullfield.InvalidInputError, match="position 1: position is"):
        field.directions([[3.2, 0.5, 0], [9, 0, 0]])


def test_frames_place_the_grid_in_the_world() -> None:
    grid = Grid(np.zeros((2, 4), bool), origin=[-1.0, 0.0], cell_size=0.5)
    cells, inside = grid.locate([[0.1, 0.7, 3.0], [1.1, 0.7, 0.0], [np.nan, 0, 0]])
    assert cells.tolist() == [[2, 1], [-1, -1], [-1, -1]] and inside.tolist() == [True, False, False]
    assert grid.centres([[2, 1], [-1, 0]]).tolist() == [[0.25, 0.75, 0.25], [-1.25, 0.25, 0.25]]
    turned = Grid(np.zeros((2, 4), bool), axes=[[0, 0, 1], [1, 0, 0], [0, 1, 0]])
    assert turned.centres([[2, 1]]).tolist() == [[1.5, 0.5, 2.5]]
    assert turned.axes.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]] and turned.cell_size == 1
    assert (grid.origin == [-1, 0, 0]).all()


def test_clearances_are_distances_to_cells() -> None:
    ndimage = pytest.importorskip("scipy.ndimage")
    obstacles = maze((25, 30), 0.05)
    grid = Grid(obstacles, connectivity="four")
    found = grid.clearances()
    # From centre to the nearest point of an obstacle's cell: by brute force.
    blocked = np.argwhere(obstacles)
    y, x = np.indices(obstacles.shape)
    away = [np.hypot(np.maximum(abs(y - r) - 0.5, 0), np.maximum(abs(x - c) - 0.5, 0)) for r, c in blocked]
    assert found == pytest.approx(np.where(obstacles, 0, np.minimum.reduce(away)), rel=1e-6)
    assert found.dtype == np.float32 and (found >= ndimage.distance_transform_edt(~obstacles) - 0.75).all()
    wide = Grid(obstacles, clearance=1.2)
    assert (wide.obstacles == (found < 1.2)).all() and wide.obstacle_count == (found < 1.2).sum()
    walled = Grid(np.zeros((5, 5), bool), clearance=1.0, border="wall")
    assert (~walled.obstacles).sum() == 9


def test_lines_of_sight() -> None:
    grid = Grid([[0, 1, 0], [0, 0, 0]])
    assert grid.sees([[0, 0], [0, 1]], [[2, 0], [2, 1]]).tolist() == [False, True]
    with pytest.raises(hullfield.InvalidInputError, match="others has 1 rows"):
        grid.sees([[0, 0], [0, 1]], [[2, 0]])


def test_a_path_leads_to_the_nearest_reachable_cell() -> None:
    flow = Flow(Grid([[0, 0, 1, 0]], connectivity="four"), engine=CPU)
    path = flow.path_to_nearest([0, 0], [3, 0])
    assert path.cells.tolist() == [[0, 0], [1, 0]] and path.length == 1
    assert isinstance(flow.prepare(["solve", "paths"]), int)
    with pytest.raises(hullfield.InvalidInputError, match="a query is 'dance'"):
        flow.prepare(["dance"])


def test_grids_and_flows_pickle_and_copy() -> None:
    obstacles = maze((11, 13))
    costs = np.random.default_rng(3).integers(1, 9, (11, 13))
    grid = Grid(obstacles, costs=costs, corners="any", cell_size=0.3, origin=[1, 2, 3], clearance=0.2)
    for other in (pickle.loads(pickle.dumps(grid)), copy.deepcopy(grid)):
        assert (other.obstacles == grid.obstacles).all() and (other.costs == grid.costs).all()
        assert other.corners == "any" and other.cell_size == 0.3 and other.origin.tolist() == [1, 2, 3]
    flow = Flow(grid, engine=CPU)
    flow.edit(Edits().cost([[0, 0]], 5))
    again = pickle.loads(pickle.dumps(flow))
    assert (again.solve([[0, 0]]).distances() == flow.solve([[0, 0]]).distances()).all()
    assert again.engine.backend == "cpu"
    paths = flow.solve([[0, 0]]).paths([[0, 0], [12, 10]])
    assert (pickle.loads(pickle.dumps(paths)).cells == paths.cells).all()


def test_threads_solve_and_edit_at_once() -> None:
    obstacles = maze((60, 60), 0.2)
    flow = Flow(Grid(obstacles), engine=CPU)
    wanted = flow.solve([[0, 0]]).distances()
    wrong: list[str] = []

    def solve() -> None:
        for _ in range(10):
            if (flow.solve([[0, 0]]).distances() != wanted).any():
                wrong.append("solve")

    def edit() -> None:
        for _ in range(50):
            flow.edit(Edits().cost([[5, 5]], 1))

    threads = [threading.Thread(target=work) for work in (solve, edit, solve, edit)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


BAD_GRIDS: list[tuple[Any, dict[str, Any], type, str]] = [
    (np.zeros(4, bool), {}, ValueError, r"obstacles has the shape \(4,\)"),
    (np.zeros((2, 2, 2, 2), bool), {}, ValueError, "shape"),
    (np.zeros((0, 4), bool), {}, ValueError, "size is"),
    (np.zeros((2, 2)), {}, TypeError, "must hold bools"),
    (np.full((2, 2), 2), {}, ValueError, "other than 0 and 1"),
    ([[True, False], [True]], {}, hullfield.Error, "obstacles (is not an array|holds objects)"),
    ([[object(), None]], {}, TypeError, "objects"),
    (np.zeros((2, 2, 2), bool), {"connectivity": "four"}, ValueError, "one layer"),
    (np.zeros((2, 2), bool), {"connectivity": "5"}, ValueError, "connectivity is '5'"),
    (np.zeros((2, 2), bool), {"corners": "none"}, ValueError, "corners is 'none'"),
    (np.zeros((2, 2), bool), {"border": "none"}, ValueError, "border is 'none'"),
    (np.zeros((2, 2), bool), {"costs": np.zeros((2, 2), int)}, ValueError, r"cell \(0, 0\): cost is 0"),
    (np.zeros((2, 2), bool), {"costs": np.ones((2, 3), int)}, ValueError, r"costs has the shape \(2, 3\)"),
    (np.zeros((2, 2), bool), {"costs": np.ones((2, 2))}, TypeError, "whole numbers"),
    (np.zeros((2, 2), bool), {"costs": np.full((2, 2), -1)}, ValueError, r"costs\[\(0, 0\)\] is -1"),
    (np.zeros((2, 2), bool), {"costs": np.full((2, 2), 2**32)}, ValueError, "must be from 0 to 2"),
    (np.zeros((2, 2), bool), {"clearance": -1.0}, ValueError, "clearance is -1"),
    (np.zeros((2, 2), bool), {"clearance": "wide"}, TypeError, "clearance is 'wide', it must be a real number"),
    (np.zeros((2, 2), bool), {"cell_size": True}, TypeError, "cell_size is True"),
    (np.zeros((2, 2), bool), {"cell_size": 0.0}, ValueError, "cell_size is 0"),
    (np.zeros((2, 2), bool), {"origin": [np.inf, 0, 0]}, ValueError, "origin is"),
    (np.zeros((2, 2), bool), {"origin": [0]}, ValueError, r"origin has the shape \(1,\)"),
    (np.zeros((2, 2), bool), {"axes": np.eye(2)}, ValueError, "axes has the shape"),
    (np.zeros((2, 2), bool), {"axes": np.ones((3, 3))}, ValueError, "axes"),
]


@pytest.mark.parametrize(("obstacles", "options", "kind", "text"), BAD_GRIDS)
def test_bad_grids_are_refused(obstacles: Any, options: dict[str, Any], kind: type, text: str) -> None:
    with pytest.raises(hullfield.Error, match=text) as raised:
        Grid(obstacles, **options)
    assert isinstance(raised.value, kind)


BAD_CELLS: list[tuple[Any, type, str]] = [
    ([[0.0, 0.0]], TypeError, "whole numbers"),
    ([[True, False]], TypeError, "whole numbers"),
    ([["a", "b"]], TypeError, "whole numbers"),
    ([0, 0], ValueError, r"goals has the shape \(2,\)"),
    ([[0, 0, 0, 0]], ValueError, r"goals has the shape \(1, 4\)"),
    ([[2**31, 0]], ValueError, "32-bit"),
    (np.array([[2**63, 0]], dtype=np.uint64), ValueError, "32-bit"),
    ([[-(2**31) - 1, 0]], ValueError, "32-bit"),
]


@pytest.mark.parametrize(("cells", "kind", "text"), BAD_CELLS)
def test_bad_cells_are_refused(cells: Any, kind: type, text: str) -> None:
    with pytest.raises(hullfield.Error, match=text) as raised:
        Flow(Grid(np.zeros((2, 2), bool)), engine=CPU).solve(cells)
    assert isinstance(raised.value, kind)


def test_odd_arrays_are_read_as_they_are() -> None:
    obstacles = maze((20, 30))
    wanted = Flow(Grid(obstacles), engine=CPU).solve([[0, 0]]).distances()
    frozen = obstacles.copy()
    frozen.flags.writeable = False
    costs = np.ones((20, 30), dtype=np.int64)
    wide = np.repeat(obstacles, 2, axis=1)
    for given in (
        np.asfortranarray(obstacles),
        wide[:, ::2],
        obstacles[::-1][::-1],
        frozen,
        obstacles.astype(np.uint8),
        obstacles.tolist(),
    ):
        grid = Grid(given, costs=np.asfortranarray(costs))
        assert (Flow(grid, engine=CPU).solve(np.array([[0, 0]], dtype=np.int16)).distances() == wanted).all()
    kept = Grid(obstacles)
    obstacles[:] = True
    assert (Flow(kept, engine=CPU).solve([[0, 0]]).distances() == wanted).all()


def test_a_distance_that_overflows_is_an_error() -> None:
    grid = Grid(np.zeros((1, 3), bool), connectivity="four", costs=np.full((1, 3), 2**32 - 1, dtype=np.uint32))
    with pytest.raises(hullfield.DistanceOverflowError, match=r"cell \(1, 0\)"):
        Flow(grid, engine=CPU).solve([[0, 0]])
