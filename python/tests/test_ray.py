"""Work over Ray: the same rows as in one process, whatever the number of workers, whatever dies."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import hullfield
from hullfield.collide import Arena, BodyColumns, Hull

ray = pytest.importorskip("ray")
hullfield_ray = pytest.importorskip("hullfield.ray")

Batch = dict[str, npt.NDArray[np.generic]]


class Touching:
    """Whether a box at a position touches the box at the origin."""

    def __init__(self, pause: float = 0.0) -> None:
        self.pause = pause
        self.arena: Arena | None = None

    def __call__(self, batch: Batch) -> Batch:
        if self.arena is None:
            self.arena = Arena([Hull.cuboid([0.5, 0.5, 0.5])], engine=hullfield.Engine.cpu())
        time.sleep(self.pause)
        positions = batch["position"]
        count = len(positions)
        bodies = BodyColumns(0, np.concatenate([positions, np.zeros((1, 3), positions.dtype)]))
        pairs = np.stack([np.arange(count), np.full(count, count)], axis=1)
        rows = self.arena.intersections(bodies, pairs)
        return {"status": rows["status"], "axis": rows["axis"], "process": np.full(count, os.getpid())}


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    # With two CPUs, two actors leave none for the reader of a dataset.
    environment = {"env_vars": {"PYTHONPATH": os.path.dirname(__file__)}}
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env=environment)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def positions(count: int) -> npt.NDArray[np.float32]:
    return np.random.default_rng(7).uniform(-1.2, 1.2, size=(count, 3)).astype(np.float32)


def same(a: Batch, b: Batch) -> bool:
    return all(a[name].tobytes() == b[name].tobytes() for name in ("status", "axis"))


def test_rows_are_those_of_one_process() -> None:
    batch = {"position": positions(2000)}
    whole = Touching()(batch)
    assert 100 < np.count_nonzero(whole["status"]) < 1900
    for workers in (1, 2, 4):
        found = hullfield_ray.run(batch, Touching(), workers=workers, batch_size=97)
        assert same(found, whole)
        assert len(set(found["process"].tolist())) == workers
    other = hullfield_ray.run({"position": batch["position"] * 1.01}, Touching(), workers=2)
    assert not same(other, whole)


def test_workers_are_kept_from_call_to_call() -> None:
    first, second = {"position": positions(900)}, {"position": positions(400)[::-1].copy()}
    with hullfield_ray.Workers(Touching(), workers=2) as workers:
        assert len(workers) == 2
        found = [workers.run(batch, batch_size=50) for batch in (first, second, first)]
        for batch, rows in zip((first, second, first), found, strict=True):
            assert same(rows, Touching()(batch))
        processes = [set(rows["process"].tolist()) for rows in found]
        assert processes[0] == processes[1] == processes[2] and len(processes[0]) == 2
        # An error of one batch leaves the workers as they are.
        with pytest.raises(KeyError):
            workers.run({"place": positions(9)})
        assert same(workers.run(second), Touching()(second))
    with pytest.raises(hullfield.InvalidInputError, match="the workers are closed"):
        workers.run(first)


def test_a_worker_that_dies_changes_nothing() -> None:
    batch = {"position": positions(3000)}
    whole = Touching()(batch)

    class Killed(Touching):
        """Kills its own process once."""

        def __init__(self, flag: str) -> None:
            super().__init__(0.01)
            self.flag = flag

        def __call__(self, batch: Batch) -> Batch:
            if batch["position"][0, 0] == self.first and not os.path.exists(self.flag):
                open(self.flag, "w").close()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().__call__(batch)

        first = float(batch["position"][1000, 0])

    flag = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"hullfield-killed-{os.getpid()}")
    try:
        found = hullfield_ray.run(batch, Killed(flag), workers=2, batch_size=100)
        assert os.path.exists(flag), "no worker was killed"
        assert same(found, whole)
        assert len(set(found["process"].tolist())) == 3
    finally:
        if os.path.exists(flag):
            os.remove(flag)


def test_a_worker_killed_from_outside_changes_nothing(tmp_path: Path) -> None:
    batch = {"position": positions(4000)}
    whole = Touching()(batch)

    class Slow(Touching):
        """Tells its process's number."""

        def __call__(self, batch: Batch) -> Batch:
            (tmp_path / str(os.getpid())).touch()
            return super().__call__(batch)

    def kill() -> int:
        for _ in range(600):
            for path in tmp_path.iterdir():
                time.sleep(0.2)
                os.kill(int(path.name), signal.SIGKILL)
                return int(path.name)
            time.sleep(0.05)
        return 0

    with ThreadPoolExecutor(1) as pool:
        killed = pool.submit(kill)
        found = hullfield_ray.run(batch, Slow(0.05), workers=2, batch_size=100)
    assert killed.result() != 0
    assert same(found, whole)
    # Two workers, and the one that took the place of the killed one.
    assert len({int(path.name) for path in tmp_path.iterdir()}) == 3


def test_the_only_worker_may_die_long_after_its_start() -> None:
    batch = {"position": positions(100)}
    with hullfield_ray.Workers(Touching(), workers=1) as workers:
        whole = workers.run(batch)
        # Ray has freed the work by then, unless the workers hold on to it.
        time.sleep(2)
        os.kill(int(whole["process"][0]), signal.SIGKILL)
        found = workers.run(batch)
    assert same(found, whole)
    assert found["process"][0] != whole["process"][0]


def test_a_dataset_is_mapped_in_order() -> None:
    batch = {"position": positions(3000)}
    whole = Touching()(batch)
    for workers in (1, 2):
        dataset = ray.data.from_numpy(batch["position"]).rename_columns({"data": "position"}).repartition(7)
        mapped = hullfield_ray.map_batches(dataset, Touching(), workers=workers, batch_size=128)
        assert same(mapped.take_batch(5000), whole)


def test_an_error_of_the_work_comes_out() -> None:
    batch = {"position": np.full((10, 3), np.nan, np.float32)}
    with pytest.raises(hullfield.InvalidInputError, match="body 0: position is"):
        hullfield_ray.run(batch, Touching(), workers=2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"workers": 0}, "workers is 0, it must be at least 1"),
        ({"threads": 0}, "threads is 0"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"num_gpus": -1}, "num_gpus is -1"),
    ],
)
def test_bad_arguments(arguments: dict[str, int], text: str) -> None:
    with pytest.raises(hullfield.InvalidInputError, match=text):
        hullfield_ray.run({"position": positions(10)}, Touching(), **arguments)


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(hullfield.InvalidInputError, match="all must have the same number"):
        hullfield_ray.run({"position": positions(10), "object": np.zeros(9)}, Touching())
    with pytest.raises(hullfield.InvalidInputError, match="all must have the same number"):
        hullfield_ray.run({}, Touching())


def terrain(size: int) -> npt.NDArray[np.uint16]:
    random = np.random.default_rng(11)
    costs = random.integers(1, 9, (size, size)).astype(np.uint16)
    costs[random.random((size, size)) < 0.25] = 0
    # Barriers one cell wide, along the borders of tiles and beside them, with one gap each.
    for at in (64, 65, 128):
        costs[at, :] = 0
        costs[at, 71] = 1
    costs[60:70, 71] = costs[125:132, 71] = 1
    costs[0, 0] = 1
    return costs


def test_a_raster_over_workers_is_that_of_one_process(tmp_path: Path) -> None:
    costs = terrain(200)
    np.save(tmp_path / "costs.npy", costs)
    whole = hullfield.flow.solve_raster(costs, [(0, 0)])[:, :]
    assert np.count_nonzero(whole != hullfield.flow.RASTER_UNREACHABLE) > 20_000
    grid = hullfield.flow.Grid(costs == 0, costs=np.maximum(costs, 1), connectivity="eight", corners="both_free")
    one_piece = hullfield.flow.Flow(grid, engine=hullfield.Engine.cpu()).solve([(0, 0)]).distances().astype(np.uint64)
    one_piece[one_piece == 0xFFFF_FFFF] = hullfield.flow.RASTER_UNREACHABLE
    assert np.array_equal(whole, one_piece)
    mapped = np.load(tmp_path / "costs.npy", mmap_mode="r")
    for workers, raster in ((1, costs), (2, mapped), (4, lambda: np.load(tmp_path / "costs.npy", mmap_mode="r"))):
        folder = tmp_path / f"tiles {workers}"
        field = hullfield_ray.solve_raster(raster, [(0, 0)], folder=folder, tile_edge=32, workers=workers)
        assert np.array_equal(field[:, :], whole)
        assert field.report.tile_count == 49
        assert field.report.reached_count == np.count_nonzero(whole != hullfield.flow.RASTER_UNREACHABLE)


class Breaking:
    """A raster whose first reader in a worker dies once."""

    def __init__(self, costs: npt.NDArray[np.uint16], flag: Path, driver: int) -> None:
        self.costs, self.flag, self.driver = costs, flag, driver
        self.shape = costs.shape
        self.count = 0

    def __getitem__(self, key: tuple[slice, slice]) -> npt.NDArray[np.uint16]:
        self.count += 1
        if os.getpid() != self.driver and self.count == 9 and not self.flag.exists():
            self.flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.costs[key]


def test_a_raster_survives_a_worker_and_its_own_process(tmp_path: Path) -> None:
    costs = terrain(200)
    whole = hullfield.flow.solve_raster(costs, [(0, 0)])[:, :]
    breaking = Breaking(costs, tmp_path / "killed", os.getpid())
    options = {"folder": tmp_path / "tiles", "tile_edge": 32, "identity": "terrain"}

    class Stop(Exception):
        pass

    def stop(at: hullfield.flow.RasterProgress) -> None:
        if at.visit_count > 20:
            raise Stop

    # The driver ends in the middle; one of the workers has died before.
    with pytest.raises(Stop):
        hullfield_ray.solve_raster(breaking, [(0, 0)], workers=1, progress=stop, **options)
    assert breaking.flag.exists()
    field = hullfield_ray.solve_raster(costs, [(0, 0)], workers=2, **options)
    assert field.report.resumed_count > 5
    assert np.array_equal(field[:, :], whole)


def test_what_a_raster_raises_in_a_worker_comes_out(tmp_path: Path) -> None:
    driver = os.getpid()

    class Failing(Breaking):
        def __getitem__(self, key: tuple[slice, slice]) -> npt.NDArray[np.uint16]:
            if os.getpid() != driver:
                raise RuntimeError("the disk is gone")
            return self.costs[key]

    failing = Failing(terrain(200), tmp_path / "never", driver)
    with pytest.raises(RuntimeError, match="the disk is gone"):
        hullfield_ray.solve_raster(failing, [(0, 0)], folder=tmp_path / "tiles", identity="x", workers=2)


def test_a_raster_over_workers_is_checked_as_without_them(tmp_path: Path) -> None:
    with pytest.raises(hullfield.InvalidInputError, match="step_lengths are for whole costs"):
        hullfield_ray.solve_raster(
            terrain(200), [(0, 0)], folder=tmp_path / "a", cell_size=2.0, step_lengths=[1, 1, 1], workers=1
        )
    friction = terrain(200) * 0.5
    found = hullfield_ray.solve_raster(friction, [(0, 0)], folder=tmp_path / "c", tile_edge=64, workers=1)
    assert (np.asarray(found) == np.asarray(hullfield.flow.solve_raster(friction, [(0, 0)]))).all()
    with pytest.raises(hullfield.InvalidInputError, match=r"costs has the shape \(5,\)"):
        hullfield_ray.solve_raster(np.ones(5, int), [(0, 0)], folder=tmp_path / "b", workers=1)
