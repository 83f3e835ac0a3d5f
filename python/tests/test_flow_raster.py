"""Fields over rasters: tiles, folders, windows, arrays of many kinds, and what goes wrong."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interrupting import lines_after_interrupt

import hullfield
from hullfield import flow
from hullfield.flow import (
    RASTER_UNREACHABLE,
    UNREACHABLE,
    Flow,
    Grid,
    RasterProgress,
    solve_raster,
)

SIZE = (130, 210)


def terrain(shape: tuple[int, int] = SIZE, seed: int = 1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    costs = rng.integers(1, 200, shape).astype(np.uint16)
    costs[rng.random(shape) < 0.25] = 0
    costs[0, 0] = 5
    return costs


def whole(costs: np.ndarray, goals: Any, **options: Any) -> np.ndarray:
    """The field of one piece, in 64 bits."""
    grid = Grid(costs == 0, costs=np.maximum(costs, 1), **options)
    found = Flow(grid, engine=hullfield.Engine.cpu()).solve(goals).distances().astype(np.uint64)
    found[found == UNREACHABLE] = RASTER_UNREACHABLE
    return found


COSTS = terrain()
GOALS = [[0, 0], *np.argwhere(terrain() > 0)[[4000, 9000], ::-1].tolist()]
WANTED = whole(COSTS, GOALS)


@pytest.mark.parametrize("tile_edge", [None, 1000, 64, 33, 7])
def test_tiles_equal_one_piece(tile_edge: int | None) -> None:
    field = solve_raster(COSTS, GOALS, tile_edge=tile_edge)
    assert (field[:, :] == WANTED).all() and field.shape == SIZE and field.dtype == np.uint64
    report = field.report
    assert report.used_goal_count == 3 and report.resumed_count == 0
    assert report.reached_count == (WANTED != RASTER_UNREACHABLE).sum()
    assert report.farthest == WANTED[WANTED != RASTER_UNREACHABLE].max()
    assert report.visit_count >= 1 and report.tile_count == len(list(field.windows()))


@pytest.mark.parametrize(
    "options", [{"connectivity": "four"}, {"corners": "any"}, {"corners": "one_free"}, {"memory_limit": 1 << 20}]
)
def test_options_are_those_of_grids(options: dict[str, Any]) -> None:
    field = solve_raster(COSTS, GOALS, **options)
    rules = {name: value for name, value in options.items() if name != "memory_limit"}
    assert (field[:, :] == whole(COSTS, GOALS, **rules)).all()
    near = solve_raster(COSTS, GOALS, max_distance=50_000, **options)[:, :]
    wanted = whole(COSTS, GOALS, **rules)
    wanted[wanted > 50_000] = RASTER_UNREACHABLE
    assert (near == wanted).all()


def test_steps_may_pay_both_cells() -> None:
    image = pytest.importorskip("skimage.graph", reason="scikit-image is not installed")
    costs = np.where(COSTS == 0, -1.0, COSTS)
    field = solve_raster(COSTS, GOALS, cost_rule="mean", corners="any", step_lengths=[10, 10, 14], tile_edge=40)
    found = field[:, :].astype(float)
    found[field[:, :] == RASTER_UNREACHABLE] = np.inf
    wanted, _ = image.MCP_Geometric(costs, sampling=(10, 10)).find_costs([goal[::-1] for goal in GOALS])
    # Twice the mean; 14 stands for the diagonal of 10.
    assert (np.isinf(found) == np.isinf(wanted)).all()
    reached = np.isfinite(wanted)
    assert (found[reached] / 2 <= wanted[reached] + 1e-9).all() and (found[reached] / 2 >= 0.98 * wanted[reached]).all()


def test_floats_are_friction(tmp_path: Path) -> None:
    image = pytest.importorskip("skimage.graph", reason="scikit-image is not installed")
    friction = np.random.default_rng(5).uniform(0.3, 40.0, SIZE).astype(np.float32)
    friction[COSTS == 0] = np.nan
    friction[3, 3], friction[4, 4], friction[0, 0] = 0.0, np.inf, 1.0
    wanted, _ = image.MCP_Geometric(
        np.where((friction > 0) & np.isfinite(friction), friction.astype(float), -1.0), sampling=(30, 30)
    ).find_costs([goal[::-1] for goal in GOALS])
    reached = np.isfinite(wanted)
    whole = hullfield.cost_distance(None, GOALS, friction=friction, cell_size=30)
    for given in (friction, friction.astype(float), np.asfortranarray(friction)):
        for tile_edge in (40, 300):
            field = solve_raster(given, GOALS, cell_size=30, tile_edge=tile_edge)
            found = np.asarray(field)
            assert (np.isinf(found) == ~reached).all() and field.dtype == found.dtype == np.float64
            assert found[reached] == pytest.approx(wanted[reached], rel=1e-12)
            # In one piece the same, bit for bit.
            assert (found.astype(np.float32) == whole.distances).all()
            assert field.report.farthest == whole.report.farthest and 0 < (field.report.error_bound or 0) < 1e-10
    near = solve_raster(friction, GOALS, cell_size=30, max_distance=5000.5)[:, :]
    assert (np.isfinite(near) == (wanted <= 5000.5)).all()
    path = field.path([SIZE[1] - 1, SIZE[0] - 1])
    assert path[-1].tolist() in [list(goal) for goal in GOALS]
    # A huge cell changes nothing elsewhere.
    huge = friction.copy()
    huge[50, 60] = np.finfo(np.float32).max
    shut = np.where(huge == huge[50, 60], np.nan, friction)
    others = np.arange(huge.size).reshape(SIZE) != 50 * SIZE[1] + 60
    found, wanted = (solve_raster(given, GOALS, cell_size=30, tile_edge=33)[:, :] for given in (huge, shut))
    assert (found == wanted)[others].all()
    costs = np.where(COSTS == 0, 0, 2)
    assert (solve_raster(costs, GOALS, cell_size=3, cost_rule="entry")[:, :] >= 0).all()
    with pytest.raises(hullfield.InvalidInputError, match="step_lengths are for whole costs"):
        solve_raster(friction, GOALS, step_lengths=[1, 1, 2])
    with pytest.raises(hullfield.InvalidInputError, match="cell_size"):
        solve_raster(friction, GOALS, cell_size=[1, -1])
    with pytest.raises(hullfield.InvalidInputError, match="cost_rule is 'most'"):
        solve_raster(friction, GOALS, cost_rule="most")
    with pytest.raises(hullfield.InvalidInputError, match="in tiles it must be 1e-251 or more"):
        solve_raster(np.full((3, 3), 1e-300), [[0, 0]])
    solve_raster(friction, GOALS, cell_size=30, folder=tmp_path / "tiles")
    with pytest.raises(hullfield.InvalidInputError, match="another job"):
        solve_raster(friction, GOALS, cell_size=31, folder=tmp_path / "tiles")


def test_a_gpu_solves_the_same_tiles() -> None:
    try:
        engine = hullfield.Engine.gpu()
    except hullfield.NoGpuError as error:
        if os.environ.get("HULLFIELD_REQUIRE_GPU") == "1":
            raise
        pytest.skip(str(error))
    for tile_edge in (100, 33):
        before = engine.counters["dispatches"]
        field = solve_raster(COSTS, GOALS, tile_edge=tile_edge, engine=engine)
        assert (field[:, :] == WANTED).all()
        assert engine.counters["dispatches"] > before
    # Friction is solved on the CPU.
    before = engine.counters["dispatches"]
    found = solve_raster(np.full((9, 9), 1.5), [[0, 0]], engine=engine)
    assert found[:, :][0].tolist() == [1.5 * at for at in range(9)]
    assert engine.counters["dispatches"] == before
    with pytest.raises(hullfield.InvalidTypeError, match="engine is of the type str"):
        solve_raster(COSTS, GOALS, engine="gpu")  # type: ignore[arg-type]


def test_windows_are_slices() -> None:
    field = solve_raster(COSTS, GOALS, tile_edge=50)
    for key in (
        (slice(10, 70), slice(45, 101)),
        (slice(None), slice(-3, None)),
        (5, slice(3, 9)),
        (slice(0, 99), -1),
        (-1, 3),
        (slice(0, 90, 7), slice(1, 200, 11)),
        (slice(5, 5), slice(0, 3)),
        slice(3, 8),
        4,
        np.int64(4),
        Ellipsis,
        (slice(3, 5), Ellipsis),
        (Ellipsis, slice(3, 5)),
        (Ellipsis, 3, 5),
        (),
    ):
        found = field[key]
        assert np.shape(found) == WANTED[key].shape and (found == WANTED[key]).all()
    assert (np.asarray(field) == WANTED).all()
    assert (field.distances((3, 4, 5, 6)) == WANTED[4:10, 3:8]).all()
    out = np.zeros(SIZE, dtype=np.uint64)
    field.write_to(out)
    assert (out == WANTED).all()
    for key in ((130, 0), (0, 210), -131, (0, 0, 0), (Ellipsis, Ellipsis)):
        with pytest.raises(IndexError):
            field[key]
    with pytest.raises(hullfield.InvalidInputError, match="forwards"):
        field[::-1, :]
    for window in ((0, 0, 0, 5), (200, 0, 11, 5), (2**32 - 1, 0, 2, 2)):
        with pytest.raises(hullfield.InvalidInputError, match="window"):
            field.distances(window)
    for window in ((-1, 0, 2, 2), (0.5, 0, 2, 2), (2**32, 0, 2, 2), (True, 0, 2, 2)):
        with pytest.raises(hullfield.Error, match="a number of the window is"):
            field.distances(window)
    with pytest.raises(hullfield.InvalidInputError, match="shape"):
        field.write_to(np.zeros((2, 2)))


def test_arrays_of_other_libraries_are_read_by_windows(tmp_path: Path) -> None:
    def solved(costs: Any) -> bool:
        return bool((solve_raster(costs, GOALS, tile_edge=40)[:, :] == WANTED).all())

    frozen = COSTS.copy()
    frozen.flags.writeable = False
    for costs in (
        COSTS.astype(np.int64),
        COSTS.astype(">u4"),
        np.asfortranarray(COSTS),
        np.repeat(COSTS, 2, axis=1)[:, ::2],
        frozen,
    ):
        assert solved(costs)
    np.save(tmp_path / "costs.npy", COSTS)
    assert solved(np.load(tmp_path / "costs.npy", mmap_mode="r"))
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "costs.h5", "w") as file:
        assert solved(file.create_dataset("costs", data=COSTS, chunks=(32, 32)))
    zarr = pytest.importorskip("zarr")
    kept = zarr.create_array(store=str(tmp_path / "costs.zarr"), shape=SIZE, chunks=(32, 32), dtype="u2")
    kept[:, :] = COSTS
    assert solved(kept)
    xarray = pytest.importorskip("xarray")
    assert solved(xarray.DataArray(COSTS, dims=("y", "x")))
    out = zarr.create_array(store=str(tmp_path / "out.zarr"), shape=SIZE, chunks=(32, 32), dtype="u8")
    solve_raster(COSTS, GOALS, tile_edge=40).write_to(out)
    assert (out[:, :] == WANTED).all()
    road = solve_raster(COSTS > 0, GOALS, connectivity="four")[:, :]
    assert (road == whole((COSTS > 0).astype(np.uint16), GOALS, connectivity="four")).all()


def test_a_folder_keeps_the_tiles(tmp_path: Path) -> None:
    folder = tmp_path / "tiles"
    field = solve_raster(COSTS, GOALS, folder=folder, tile_edge=40)
    with pytest.raises(hullfield.InvalidInputError, match="the folder is in use"):
        solve_raster(COSTS, GOALS, folder=folder, tile_edge=40)
    assert (field[:, :] == WANTED).all()
    del field
    again = solve_raster(COSTS, GOALS, folder=str(folder), tile_edge=40)
    report = again.report
    assert report.resumed_count == report.tile_count and report.visit_count < report.tile_count
    assert (again[:, :] == WANTED).all()
    del again
    with pytest.raises(hullfield.InvalidInputError, match="tiles of another job"):
        solve_raster(COSTS, GOALS, folder=folder, tile_edge=41)
    with pytest.raises(hullfield.InvalidInputError, match="tiles of another job"):
        solve_raster(COSTS, GOALS, folder=folder, tile_edge=40, identity="another raster")
    # The same shape and type, but one cell differs.
    other = COSTS.copy()
    other[99, 99] += 1
    with pytest.raises(hullfield.InvalidInputError, match="tiles of another job"):
        solve_raster(other, GOALS, folder=folder, tile_edge=40)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear reader")
    with pytest.raises(hullfield.InvalidInputError, match="not empty"):
        solve_raster(COSTS, GOALS, folder=tmp_path / "mine")


def test_a_closed_field_lets_go_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "tiles"
    with solve_raster(COSTS, GOALS, folder=folder, tile_edge=40) as field:
        assert (field[:, :] == WANTED).all()
    for read in (lambda: field[0, 0], lambda: field.report, lambda: list(field.windows())):
        with pytest.raises(hullfield.InvalidInputError, match="the field was closed"):
            read()
    field.close()
    again = solve_raster(COSTS, GOALS, folder=folder, tile_edge=40)
    assert again.report.resumed_count == again.report.tile_count
    again.close(remove=True)
    assert not folder.exists()
    solve_raster(COSTS, GOALS, tile_edge=40).close(remove=True)


def test_a_lost_tile_is_an_error(tmp_path: Path) -> None:
    field = solve_raster(COSTS, GOALS, folder=tmp_path / "tiles", tile_edge=40)
    (tmp_path / "tiles" / "tile-0-0.bin").unlink()
    assert (field[60:, 60:] == WANTED[60:, 60:]).all()
    with pytest.raises(hullfield.FileError, match="solve again"):
        field[0:9, 0:9]
    with pytest.raises(OSError, match="solve again"):
        field[0, 0]


KILLED = """
import sys, time
sys.path.insert(0, {tests!r})
from test_flow_raster import COSTS, GOALS
from hullfield.flow import solve_raster

def tell(at):
    print(at.solved_count, flush=True)
    time.sleep(0.02)

solve_raster(COSTS, GOALS, folder={folder!r}, tile_edge=16, progress=tell)
print("whole", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_work_goes_on_after_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "tiles"
    program = KILLED.format(tests=str(Path(__file__).parent), folder=str(folder))
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        assert line.strip() != "whole"
        if int(line) >= 20:
            break
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    field = solve_raster(COSTS, GOALS, folder=folder, tile_edge=16)
    assert 15 <= field.report.resumed_count < field.report.tile_count
    assert (field[:, :] == WANTED).all()


def test_progress_is_told_and_can_end_the_work(tmp_path: Path) -> None:
    seen: list[RasterProgress] = []
    solve_raster(COSTS, GOALS, tile_edge=40, progress=seen.append)
    assert seen[0].visit_count == 0 and seen[-1].waiting_count == 0 and seen[-1].solved_count <= seen[-1].tile_count
    assert [at.visit_count for at in seen] == sorted(at.visit_count for at in seen)
    folder = tmp_path / "tiles"
    with pytest.raises(hullfield.CancelledError):
        solve_raster(COSTS, GOALS, folder=folder, tile_edge=40, progress=lambda at: at.visit_count < 5)

    class Stop(Exception):
        pass

    def stop(at: RasterProgress) -> None:
        if at.visit_count > 2:
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        solve_raster(COSTS, GOALS, folder=folder, tile_edge=40, progress=stop)
    field = solve_raster(COSTS, GOALS, folder=folder, tile_edge=40)
    assert field.report.resumed_count >= 5 and (field[:, :] == WANTED).all()


class Custom:
    """An array of the caller's, which does something odd at the third window."""

    def __init__(self, odd: str) -> None:
        self.odd, self.count, self.shape = odd, 0, SIZE
        self.lock = threading.Lock()

    def __getitem__(self, key: Any) -> Any:
        with self.lock:
            self.count += 1
            is_odd = self.count >= 3
        part = COSTS[key].astype(np.int64)
        if not is_odd:
            return part
        if self.odd == "raises":
            raise LookupError("the disk is gone")
        if self.odd == "exits":
            raise KeyboardInterrupt
        if self.odd == "shrinks":
            self.shape = (129, 210)
            return part
        return {
            "cut": part[1:],
            "floats": part.astype(float),
            "negative": np.where(part == 7, -7, part),
            "large": np.where(part == 7, 2**40, part),
            "objects": part.astype(object),
            "none": None,
        }[self.odd]


@pytest.mark.parametrize(
    ("odd", "kind", "text"),
    [
        ("raises", LookupError, "the disk is gone"),
        ("exits", KeyboardInterrupt, ""),
        ("shrinks", hullfield.InvalidInputError, r"shape changed from \(130, 210\) to \(129, 210\)"),
        ("cut", hullfield.InvalidInputError, "the raster gave the shape"),
        ("floats", hullfield.InvalidTypeError, "costs must be whole numbers"),
        ("negative", hullfield.InvalidInputError, r"the raster is -7 at row \d+, column \d+: costs must be"),
        ("large", hullfield.InvalidInputError, "the raster is 1099511627776 at row"),
        ("objects", hullfield.InvalidTypeError, "dtype object"),
        ("none", hullfield.InvalidInputError, "the raster gave the shape"),
    ],
)
def test_what_an_array_does_comes_out_as_it_is(odd: str, kind: type, text: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=text or None) as raised:
        solve_raster(Custom(odd), GOALS, folder=tmp_path / "tiles", tile_edge=40)
    assert type(raised.value) is kind
    # What was solved before is taken up.
    assert (
        solve_raster(COSTS, GOALS, folder=tmp_path / "tiles", tile_edge=40, identity="Custom of numbers")[:, :]
        == WANTED
    ).all()


def test_masked_cells_are_obstacles() -> None:
    masked = np.ma.masked_equal(COSTS, 7)
    blocked = masked.filled(0)
    assert (solve_raster(masked, GOALS, tile_edge=40)[:, :] == whole(blocked, GOALS)).all()
    assert (solve_raster(np.ma.asarray(blocked), GOALS)[:, :] == whole(blocked, GOALS)).all()


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    for costs, kind, text in (
        ([[1, 1]], TypeError, "costs is a list"),
        (np.ones((2, 2, 2), int), ValueError, r"costs has the shape \(2, 2, 2\)"),
        (np.ones((0, 2), int), ValueError, "raster"),
        (np.ones((2, 2), complex), TypeError, "whole numbers"),
    ):
        with pytest.raises(hullfield.Error, match=text) as raised:
            solve_raster(costs, [[0, 0]])
        assert isinstance(raised.value, kind)
    for options, kind, text in (
        ({"cost_rule": "most"}, ValueError, "cost_rule is 'most'"),
        ({"step_lengths": [1, 1]}, ValueError, r"step_lengths has the shape \(2,\)"),
        ({"step_lengths": [1, 0, 1]}, ValueError, "step_lengths"),
        ({"step_lengths": [1.0, 1.0, 1.0]}, TypeError, "step_lengths"),
        ({"tile_edge": -1}, ValueError, "tile_edge is -1"),
        ({"tile_edge": 1.5}, TypeError, "tile_edge is 1.5"),
        ({"memory_limit": 2**64}, ValueError, "memory_limit is 18446744073709551616"),
        ({"max_distance": "far"}, TypeError, "max_distance is 'far'"),
        ({"tile_edge": 0}, ValueError, "tile_edge is 0"),
        ({"tile_edge": 1 << 16}, ValueError, "tile_edge is 65536"),
        ({"memory_limit": 1000}, MemoryError, "the limit is 1000"),
        ({"connectivity": "six"}, ValueError, "connectivity"),
        ({"connectivity": "ten"}, ValueError, "connectivity is 'ten'"),
    ):
        with pytest.raises(hullfield.Error, match=text) as raised:
            solve_raster(COSTS, GOALS, **options)
        assert isinstance(raised.value, kind)
    with pytest.raises(hullfield.NoGoalsError, match="1 off the grid"):
        solve_raster(COSTS, [[210, 0]])
    with pytest.raises(TypeError):
        solve_raster(COSTS, [[0.5, 0]])
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(OSError, match="file"):
        solve_raster(COSTS, GOALS, folder=file)


def test_a_pending_solve_can_be_cancelled() -> None:
    pending = solve_raster.start(COSTS, GOALS, tile_edge=2)
    pending.cancel()
    with pytest.raises(hullfield.CancelledError):
        pending.wait()


@pytest.mark.skipif(sys.platform == "win32", reason="a child can't be sent SIGINT alone")
def test_ctrl_c_ends_a_solve(tmp_path: Path) -> None:
    setup = f"""
    sys.path.insert(0, {str(Path(__file__).parent)!r})
    import numpy as np
    from hullfield.flow import solve_raster, Flow, Grid
    from test_flow_raster import terrain, COSTS, GOALS, WANTED
    large = terrain((6000, 6000))
    """
    call = f"solve_raster(large, [[0, 0]], folder={os.fspath(tmp_path / 'tiles')!r}, tile_edge=8)"
    after = "assert (solve_raster(COSTS, GOALS)[:, :] == WANTED).all()"
    assert lines_after_interrupt(setup, call, after) == ["interrupted", "after"]
    call = "[Flow(Grid(large == 0, costs=np.maximum(large, 1))).solve([[0, 0]]) for _ in range(99)]"
    assert lines_after_interrupt(setup, call, after) == ["interrupted", "after"]


def test_paths_are_those_of_the_field_in_one_piece() -> None:
    random = np.random.default_rng(8)
    costs = random.integers(1, 9, (70, 90)).astype(np.uint8)
    costs[random.random((70, 90)) < 0.2] = 0
    costs[0, 0] = 1
    field = flow.solve_raster(costs, [(0, 0)], tile_edge=16)
    grid = flow.Grid(costs == 0, costs=np.maximum(costs, 1), connectivity="eight", corners="both_free")
    whole = flow.Flow(grid, engine=hullfield.Engine.cpu()).solve([(0, 0)])
    starts = np.argwhere(costs > 0)[::13, ::-1]
    paths, expected = field.paths(starts), whole.paths(starts)
    assert len(paths) == len(starts) > 300
    for number, path in enumerate(expected):
        assert np.array_equal(paths[number], path.cells)
    assert np.array_equal(field.path(starts[-1]), paths[-1])
    assert max(len(path.cells) for path in expected) > 60
    with pytest.raises(hullfield.InvalidInputError, match="in the raster of 90 x 70"):
        field.path((90, 0))
    costs[:] = 7
    with pytest.raises(hullfield.InvalidInputError, match="the raster has changed"):
        field.path(starts[-1])
