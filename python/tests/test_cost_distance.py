"""Cost distances against a Dijkstra in float64 that knows nothing of whole numbers, and against scikit-image where it is installed."""

import heapq
import itertools
import math
import pickle
import types
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import hullfield
from hullfield import NO_TARGET, cost_distance

Floats = npt.NDArray[np.float64]
ORTHOGONAL = [(0, -1), (-1, 0), (1, 0), (0, 1)]
DIAGONAL = [(-1, -1), (1, -1), (-1, 1), (1, 1)]


def dijkstra(
    friction: Floats,
    targets: list[tuple[int, int]],
    *,
    connectivity: int = 8,
    corners: str = "any",
    cost_rule: str = "mean",
    cell_size: tuple[float, float] = (1.0, 1.0),
) -> Floats:
    """The textbook's, on cells (x, y)."""
    height, width = friction.shape
    free = np.isfinite(friction) & (friction > 0)
    distances = np.full(friction.shape, np.inf)
    heap = []
    for x, y in targets:
        if free[y, x]:
            distances[y, x] = 0.0
            heap.append((0.0, x, y))
    heapq.heapify(heap)

    def is_free(x: int, y: int) -> bool:
        return 0 <= x < width and 0 <= y < height and bool(free[y, x])

    while heap:
        distance, x, y = heapq.heappop(heap)
        if distance > distances[y, x]:
            continue
        for dx, dy in ORTHOGONAL + (DIAGONAL if connectivity == 8 else []):
            if not is_free(x + dx, y + dy):
                continue
            if dx and dy:
                beside = [is_free(x + dx, y), is_free(x, y + dy)]
                if (corners == "both_free" and not all(beside)) or (corners == "one_free" and not any(beside)):
                    continue
            length = math.hypot(dx * cell_size[0], dy * cell_size[1])
            # The path leads from the neighbour to the target, so it enters this cell.
            paid = friction[y, x] if cost_rule == "entry" else (friction[y, x] + friction[y + dy, x + dx]) / 2
            longer = distance + length * paid
            if longer < distances[y + dy, x + dx]:
                distances[y + dy, x + dx] = longer
                heapq.heappush(heap, (longer, x + dx, y + dy))
    return distances


def agree(found: npt.NDArray[Any], expected: Floats, bound: float) -> bool:
    reached = np.isfinite(expected)
    if not np.array_equal(np.isfinite(found), reached):
        return False
    error = np.abs(found[reached] - expected[reached])
    return bool((error <= (bound + 1.2e-7) * expected[reached]).all())


def terrain(kind: str, size: tuple[int, int], seed: int = 3) -> Floats:
    random = np.random.default_rng(seed)
    height, width = size
    if kind == "random":
        return random.uniform(1, 10, size)
    if kind == "decades":
        return 10 ** random.uniform(-3, 3, size)
    if kind == "barriers":
        friction = random.uniform(1, 4, size)
        friction[random.random(size) < 0.3] = np.nan
        return friction
    if kind == "walls":
        # Barriers one cell wide, with one gap each.
        friction = np.ones(size)
        for number, y in enumerate(range(2, height - 1, 3)):
            friction[y] = np.inf
            friction[y, (number * 7) % width] = 1.5
        return friction
    y, x = np.mgrid[:height, :width]
    return 2 + np.sin(x / 5) * np.cos(y / 7)


@pytest.mark.parametrize("kind", ["random", "decades", "barriers", "walls", "smooth"])
def test_distances_are_those_of_dijkstra(kind: str) -> None:
    friction = terrain(kind, (33, 41))
    targets = [(3, 4), (40, 32), (20, 1)]
    friction[4, 3] = friction[32, 40] = friction[1, 20] = 1.25
    for connectivity, corners, rule, cell_size in itertools.product(
        [4, 8], ["any", "one_free", "both_free"], ["mean", "entry"], [(1.0, 1.0), (30.0, 20.0)]
    ):
        options: dict[str, Any] = {
            "connectivity": connectivity,
            "corners": corners,
            "cost_rule": rule,
            "cell_size": cell_size,
        }
        found = cost_distance(None, targets, friction=friction, **options)
        expected = dijkstra(friction, targets, **options)
        assert found.report.error_bound < 1e-12
        assert agree(found.distances, expected, found.report.error_bound), options
        # The comparison can fail.
        worse = found.distances.copy()
        worse[np.unravel_index(np.argmax(np.where(np.isfinite(worse), worse, -1)), worse.shape)] *= 1.01
        assert not agree(worse, expected, found.report.error_bound)


def test_float32_friction_is_taken_as_it_is() -> None:
    friction = terrain("random", (20, 30)).astype(np.float32)
    found = cost_distance(None, [(0, 0)], friction=friction)
    assert agree(found.distances, dijkstra(friction.astype(np.float64), [(0, 0)]), found.report.error_bound)


def test_targets_come_from_a_raster_by_value() -> None:
    friction = terrain("random", (12, 15))
    raster = np.zeros((12, 15), np.int16)
    raster[2, 3], raster[9, 14], raster[11, 0] = 7, 9, 7
    every = cost_distance(raster, friction=friction, allocation=True)
    assert np.array_equal(every.distances, cost_distance(None, [(3, 2), (14, 9), (0, 11)], friction=friction).distances)
    sevens = cost_distance(raster, [7], friction=friction)
    assert np.array_equal(sevens.distances, cost_distance(None, [(3, 2), (0, 11)], friction=friction).distances)
    assert set(np.unique(every.allocation)) == {7.0, 9.0}
    assert every.sources is not None
    with_nan = raster.astype(float)
    with_nan[0, 0] = np.nan
    assert np.array_equal(cost_distance(with_nan, friction=friction).distances, every.distances)


def test_the_allocation_is_the_target_that_the_path_leads_to() -> None:
    friction = terrain("barriers", (30, 30))
    targets = [(1, 1), (28, 2), (15, 27)]
    for x, y in targets:
        friction[y, x] = 2.0
    solved = cost_distance(None, targets, friction=friction, allocation=True, paths=True)
    alone = [cost_distance(None, [target], friction=friction).distances for target in targets]
    assert solved.sources is not None
    reached = np.isfinite(solved.distances)
    assert np.array_equal(solved.sources != NO_TARGET, reached)
    assert np.isnan(solved.allocation[~reached]).all()
    rows, columns = np.nonzero(reached)
    paths = solved.paths(np.stack([columns, rows], axis=1))
    assert len(paths) == len(rows)
    for number, (x, y) in enumerate(zip(columns, rows, strict=True)):
        target = int(solved.sources[y, x])
        assert math.isclose(alone[target][y, x], solved.distances[y, x], rel_tol=1e-6)
        path = paths[number]
        assert tuple(path[0]) == (x, y)
        assert tuple(path[-1]) == targets[target]
        cost = 0.0
        for (ax, ay), (bx, by) in itertools.pairwise(path.tolist()):
            assert max(abs(ax - bx), abs(ay - by)) == 1
            cost += math.hypot(ax - bx, ay - by) * (friction[ay, ax] + friction[by, bx]) / 2
        assert math.isclose(cost, solved.distances[y, x], rel_tol=2e-6, abs_tol=0)


def test_a_transform_gives_the_size_of_cells() -> None:
    friction = terrain("random", (9, 11))
    by_size = cost_distance(None, [(0, 0)], friction=friction, cell_size=(30.0, 10.0))
    for transform in (
        (30.0, 0.0, 5e5, 0.0, -10.0, 4e6),
        (0.0, -10.0, 7.0, 30.0, 0.0, 8.0),
        [-30, 0, 0, 0, 10, 0, 0, 0, 1],
    ):
        by_transform = cost_distance(None, [(0, 0)], friction=friction, transform=transform)
        assert np.array_equal(by_transform.distances, by_size.distances)
    with pytest.raises(hullfield.InvalidInputError, match="not at right angles"):
        cost_distance(None, [(0, 0)], friction=friction, transform=(30.0, 5.0, 0.0, 0.0, 10.0, 0.0))
    with pytest.raises(hullfield.InvalidInputError, match="transform has 4 numbers"):
        cost_distance(None, [(0, 0)], friction=friction, transform=(30.0, 5.0, 0.0, 0.0))


def test_without_coordinates_there_is_no_xarray() -> None:
    with pytest.raises(hullfield.InvalidTypeError, match=r"no raster was an xarray\.DataArray"):
        cost_distance(np.eye(3), friction=np.ones((3, 3))).to_xarray()


def test_barriers_are_counted_by_kind() -> None:
    friction = np.array([[1.0, np.nan, 0.0, -2.0, np.inf, 1.0]])
    found = cost_distance(None, [(0, 0), (1, 0), (9, 9)], friction=friction)
    assert found.distances.tolist() == [[0.0, *[math.inf] * 5]]
    report = found.report
    assert (report.not_finite_count, report.not_positive_count, report.reached_count, report.used_count) == (2, 2, 1, 1)
    assert report.blocked.tolist() == [[1, 0]]
    assert report.outside.tolist() == [[9, 9]]


def test_max_distance_leaves_farther_cells_out() -> None:
    friction = terrain("random", (25, 25))
    whole = cost_distance(None, [(12, 12)], friction=friction).distances
    near = cost_distance(None, [(12, 12)], friction=friction, max_distance=30.0).distances
    assert np.array_equal(near, np.where(whole <= 30, whole, np.inf))
    assert 10 < np.isfinite(near).sum() < 620


def test_threads_change_nothing() -> None:
    friction = terrain("barriers", (300, 301))
    friction[0, 0] = 1.0
    answers = set()
    for threads in (1, 2, 3):
        hullfield.set_num_threads(threads)
        found = cost_distance(None, [(0, 0)], friction=friction, allocation=True)
        assert found.sources is not None
        answers.add(found.distances.tobytes() + found.sources.tobytes())
    hullfield.set_num_threads(0)
    assert len(answers) == 1


def test_arrays_of_any_layout_are_taken() -> None:
    friction = terrain("random", (14, 18))
    expected = cost_distance(None, [(2, 3)], friction=friction).distances
    read_only = friction.copy()
    read_only.flags.writeable = False
    for other in (np.asfortranarray(friction), np.repeat(friction, 2, axis=1)[:, ::2], read_only, friction.tolist()):
        assert np.array_equal(cost_distance(None, [(2, 3)], friction=other).distances, expected)
    whole = np.rint(friction)
    expected = cost_distance(None, [(2, 3)], friction=whole).distances
    assert np.array_equal(cost_distance(None, [(2, 3)], friction=whole.astype(np.int8)).distances, expected)
    # The array may change while the work runs.
    changed = friction.copy()
    pending = cost_distance.start(None, [(2, 3)], friction=changed)
    changed[:] = np.nan
    assert np.array_equal(pending.wait().distances, cost_distance(None, [(2, 3)], friction=friction).distances)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"friction": np.ones(5)}, hullfield.InvalidInputError, r"friction has the shape \(5,\)"),
        ({"friction": np.ones((2, 3), complex)}, hullfield.InvalidTypeError, "complex128"),
        ({"friction": np.array([["a", "b"]])}, hullfield.InvalidTypeError, "<U1"),
        ({"friction": np.ones((0, 3))}, hullfield.InvalidInputError, "size"),
        (
            {"friction": np.full((2, 3), np.nan)},
            hullfield.NoGoalsError,
            "no target is left: of 1 given, 1 are on barriers",
        ),
        ({"targets": [(5, 0)]}, hullfield.NoGoalsError, "1 outside of the raster"),
        ({"targets": [(-1, 0)]}, hullfield.NoGoalsError, "1 outside of the raster"),
        ({"targets": np.zeros((0, 2), int)}, hullfield.NoGoalsError, "of 0 given"),
        ({"targets": [(0.5, 0.5)]}, hullfield.InvalidTypeError, "it must hold whole numbers"),
        ({"targets": [(2**40, 0)]}, hullfield.InvalidInputError, "32-bit numbers"),
        ({"targets": [(0, 0, 0, 0)]}, hullfield.InvalidInputError, r"shape \(1, 4\), it must be \(n, 2\)"),
        ({"targets": None}, hullfield.InvalidInputError, "without a raster"),
        ({"raster": np.ones((3, 3)), "targets": [1]}, hullfield.InvalidInputError, "they must be the same"),
        ({"connectivity": 6}, hullfield.InvalidInputError, "connectivity is 6, it must be 4 or 8"),
        ({"corners": "some"}, hullfield.InvalidInputError, "corners is 'some'"),
        ({"cost_rule": "max"}, hullfield.InvalidInputError, "cost_rule is 'max'"),
        ({"cell_size": 0.0}, hullfield.InvalidInputError, "cell_size"),
        ({"cell_size": math.nan}, hullfield.InvalidInputError, "cell_size"),
        ({"cell_size": (1.0, 1e9)}, hullfield.InvalidInputError, "cell_size"),
        ({"cell_size": (1, 2, 3)}, hullfield.InvalidInputError, "cell_size has the shape"),
        ({"cell_size": 1, "transform": (1, 0, 0, 0, 1, 0)}, hullfield.InvalidInputError, "not both"),
        ({"max_distance": -1.0}, hullfield.InvalidInputError, "max_distance"),
        ({"max_distance": math.nan}, hullfield.InvalidInputError, "max_distance"),
    ],
)
def test_bad_input_is_one_clear_error(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    options: dict[str, Any] = {"raster": None, "targets": [(0, 0)], "friction": np.ones((2, 3)), **arguments}
    with pytest.raises(error, match=text):
        cost_distance(**options)


def test_many_paths_are_those_of_one_at_a_time() -> None:
    friction = np.random.default_rng(5).uniform(1, 9, (60, 80))
    friction[::7, 3:] = np.nan
    solved = hullfield.cost_distance(None, [[40, 30], [2, 1]], friction=friction, paths=True)
    rows, columns = np.nonzero(np.isfinite(friction))
    starts = np.stack([columns, rows], axis=1)
    paths = solved.paths(starts)
    assert len(paths) == len(starts) and paths.offsets[0] == 0 and paths.offsets[-1] == len(paths.cells)
    for index in (0, 17, 1800, len(starts) - 1):
        np.testing.assert_array_equal(paths[index], solved.path(starts[index]))
        np.testing.assert_array_equal(paths[index][0], starts[index])
    assert len(solved.paths(np.zeros((0, 2), int))) == 0
    for part, row in zip(paths[4:1:-1], (4, 3, 2), strict=True):
        np.testing.assert_array_equal(part, paths[row])
    assert solved.paths.start(starts).wait().offsets.tolist() == paths.offsets.tolist()
    with pytest.raises(hullfield.InvalidInputError, match=r"query 1.*80"):
        solved.paths([[0, 1], [80, 0]])


def test_what_was_not_asked_for_is_an_error() -> None:
    solved = cost_distance(None, [(0, 0)], friction=np.ones((2, 3)))
    with pytest.raises(hullfield.InvalidInputError, match="allocation=True"):
        _ = solved.allocation
    with pytest.raises(hullfield.InvalidInputError, match="paths=True"):
        solved.path((0, 0))
    with_paths = cost_distance(None, [(0, 0)], friction=np.ones((2, 3)), paths=True)
    with pytest.raises(hullfield.InvalidInputError, match="cell"):
        with_paths.path((3, 0))


def test_friction_of_any_size_keeps_its_bound() -> None:
    for factor in (1e-300, 1e-30, 1e-5, 1.0, 1e5, 1e30, 1e300):
        friction = terrain("random", (12, 13)) * factor
        found = cost_distance(None, [(0, 0)], friction=friction)
        assert found.report.error_bound < 1e-12
        if 1e-30 <= factor <= 1e30:
            assert agree(found.distances, dijkstra(friction, [(0, 0)]), found.report.error_bound)


@pytest.mark.parametrize("fill", [1e9, 9.969209968386869e36, 3.4028234663852886e38, 1.7976931348623157e308])
def test_one_costly_cell_changes_nothing_elsewhere(fill: float) -> None:
    friction = terrain("random", (30, 41))
    for dtype in [np.float32, np.float64] if fill < 1e39 else [np.float64]:
        costly, walled = friction.astype(dtype), friction.astype(dtype)
        costly[17, 23], walled[17, 23] = fill, np.nan
        found, expected = (cost_distance(None, [(3, 4)], friction=values).distances for values in (costly, walled))
        elsewhere = np.arange(friction.size).reshape(friction.shape) != 17 * 41 + 23
        np.testing.assert_array_equal(found[elsewhere], expected[elsewhere])
        assert found[17, 23] > 0.4 * min(fill, 3e38)


def test_scikit_image_agrees() -> None:
    graph = pytest.importorskip("skimage.graph")
    friction = terrain("random", (64, 80))
    found = cost_distance(None, [(10, 20)], friction=friction)
    expected, _ = graph.MCP_Geometric(friction, fully_connected=True).find_costs([(20, 10)])
    assert agree(found.distances, expected, found.report.error_bound)


def test_the_report_pickles() -> None:
    report = cost_distance(None, [(0, 0)], friction=np.ones((2, 3))).report
    assert pickle.loads(pickle.dumps(report)).reached_count == 6
    assert isinstance(cost_distance, hullfield._pending.Call)
    assert isinstance(cost_distance.start, types.MethodType)
