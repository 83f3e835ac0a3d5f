"""What answers are to the rest of Python: arrays and tables without a copy, pickles, copies, tasks of asyncio, help."""

import asyncio
import copy
import inspect
import os
import pickle
import pydoc
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield._batch import Flag, Real, Whole
from hullfield.collide import (
    Arena,
    Bodies,
    BodyColumns,
    Compound,
    CompoundColumns,
    Compounds,
    Hull,
    JointPath,
    Pose,
    RayColumns,
    ShapeCastColumns,
    distance,
    intersects,
)
from hullfield.flow import Flow, Grid, solve_raster

CPU = hullfield.Engine.cpu()
ARENA = Arena([Hull.cuboid([0.5, 0.5, 0.5])], engine=CPU)
BODIES = BodyColumns(0, np.random.default_rng(3).uniform(0, 6, (300, 3)).astype(np.float32))
RAYS = RayColumns([[0, 0, 0]], [1, 1, 1])
CASTS = ShapeCastColumns(BodyColumns(0, [[9, 9, 9]]), [-1, -1, -1])
COMPOUNDS = Compounds(ARENA, [Compound([0, 0], [[0, 0, 0], [1, 0, 0]])])
SOLVED = hullfield.cost_distance(None, [[0, 0]], friction=np.ones((4, 5)), allocation=True, paths=True)
FLOW = Flow(Grid(np.zeros((4, 4), bool)), engine=CPU)


def test_a_batch_is_an_array_without_a_copy() -> None:
    found = ARENA.contacts(BODIES)
    assert len(found) > 50
    array = np.asarray(found)
    assert np.shares_memory(array, found.rows) and array.dtype == found.rows.dtype
    assert np.array(found, copy=True) is not found.rows and not np.shares_memory(np.array(found), found.rows)
    counts = ARENA.hit_counts(BODIES)
    assert np.asarray(counts, dtype=np.float64).dtype == np.float64
    assert int(np.sum(counts)) == 2 * len(ARENA.intersections(BODIES))
    rows = len(np.repeat(found.rows, 4000))
    large = hullfield.Batch(np.repeat(found.rows, 4000), found.stats)
    begun = time.process_time()
    assert len(np.asarray(large)) == rows
    assert time.process_time() - begun < 0.1


def test_a_batch_is_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    found = ARENA.contacts(BODIES)
    table = found.to_pandas()
    assert list(table.columns[:5]) == ["a", "b", "status", "separation", "normal_0"] and "points_1_2" in table.columns
    assert (table["points_1_2"].to_numpy() == found["points"][:, 1, 2]).all()
    with pytest.raises(hullfield.InvalidTypeError, match=r"batch\.to_pandas\(\) does"):
        pandas.DataFrame(found)
    assert pandas.DataFrame(ARENA.hit_counts(BODIES))[0].sum() == 2 * len(ARENA.intersections(BODIES))
    assert list(ARENA.hit_counts(BODIES).to_pandas().columns) == ["value"]


def test_a_batch_is_a_table_of_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    found = ARENA.contacts(BODIES)
    table = found.to_arrow()
    assert table.column_names == list(found.rows.dtype.names) and table.num_rows == len(found)
    assert table["normal"].type == pyarrow.list_(pyarrow.float64(), 3)
    assert np.array_equal(np.array(table["points"].to_pylist()), found["points"])
    assert np.array_equal(table["b"].to_numpy(), found["b"])
    assert pyarrow.table(found).equals(table)
    assert ARENA.raycasts_all(BodyColumns(0, [[50, 0, 0]]), RAYS).to_arrow().num_rows == 0
    assert ARENA.occlusions(BODIES, RAYS).to_arrow()["occluded"].to_pylist() == [True]


def test_fields_have_the_types_that_the_stubs_say() -> None:
    links = BodyColumns(0, [[0, 0, 0], [5, 0, 0]], owners=[0, 1])
    still = np.zeros((2, 2, 3))
    still[:, 1, 0] = 5
    bodies = CompoundColumns(0, [[0, 0, 0], [1.5, 0, 0]])
    batches: list[Any] = [
        ARENA.intersections(BODIES),
        ARENA.distances(BODIES, margin=1),
        ARENA.contacts(BODIES),
        ARENA.manifolds(BODIES),
        ARENA.gradients(BODIES),
        ARENA.sweeps(BODIES, [1, 0, 0]),
        ARENA.raycasts(BODIES, RAYS),
        ARENA.occlusions(BODIES, RAYS),
        ARENA.nearest_points(BODIES, [[0, 0, 0]]),
        ARENA.containments(BODIES, [[0, 0, 0]]),
        ARENA.shape_casts(BODIES, CASTS),
        ARENA.shape_casts_any(BODIES, CASTS),
        ARENA.nearest_bodies(BODIES),
        ARENA.postures(links, still),
        ARENA.joint_paths(links, [JointPath(still)]),
        COMPOUNDS.contacts(bodies),
        COMPOUNDS.raycasts(bodies, RAYS),
    ]
    kinds = {Whole: np.uint32, Real: np.float64, Flag: np.bool_}
    wanted = {name: kind for names, kind in kinds.items() for name in names.__args__}
    seen = set()
    for found in batches:
        for name in found.rows.dtype.names:
            seen.add(name)
            if name not in ("axis", "point"):
                assert found[name].dtype == wanted[name], name
    assert set(wanted) <= seen | {"part"}


def test_what_is_handed_out_cannot_be_written_to() -> None:
    geodesic = hullfield.geodesic([[0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 0]], [[0, 1, 2], [0, 2, 3]])
    paths = FLOW.solve([[0, 0]]).paths([[3, 3]])
    found = SOLVED.paths([[4, 3]])
    handed = [geodesic.vertices, geodesic.faces, geodesic.path(0, 2).points, geodesic.path(0, 2).barycentric]
    handed += [SOLVED.distances, SOLVED.sources, SOLVED.targets, SOLVED.report.blocked, SOLVED.report.outside]
    handed += [ARENA.contacts(BODIES).rows, ARENA.hits(BODIES).rows, np.asarray(ARENA.contacts(BODIES))]
    handed += [paths.offsets, paths.indices, paths.lengths, found.offsets, found.cells, found[0]]
    bodies = Bodies(ARENA)
    bodies.insert(BODIES)
    handed.append(bodies.contacts().rows)
    for array in handed:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    before = geodesic.path(0, 2).length, SOLVED.allocation.copy()
    # What is no state of an object is the caller's own, or a copy.
    for copied in (
        ARENA.hulls[0].vertices,
        BODIES.arrays()["positions"],
        FLOW.grid.obstacles,
        FLOW.grid.origin,
        SOLVED.allocation,
    ):
        copied[...] = 1
    assert ARENA.hulls[0] == Hull.cuboid([0.5, 0.5, 0.5]) and FLOW.grid.obstacle_count == 0
    assert BODIES.arrays()["positions"].max() > 5 and FLOW.grid.origin.tolist() == [0, 0, 0]
    assert before[0] == geodesic.path(0, 2).length and (before[1] == SOLVED.allocation).all()


def test_an_array_of_the_caller_stays_the_callers() -> None:
    vertices, faces = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]], np.uint32)
    geodesic = hullfield.geodesic(vertices, faces)
    rows = np.zeros(3)
    hullfield.Batch(rows, None)
    vertices *= 1000
    rows[0] = faces[0, 0] = 1
    assert geodesic.path(0, 1).length == 1


def test_answers_pickle_or_say_why_not() -> None:
    solved = hullfield.cost_distance(np.eye(3), friction=np.ones((3, 3)), allocation=True)
    again = pickle.loads(pickle.dumps(solved))
    assert np.array_equal(again.distances, solved.distances) and np.array_equal(again.allocation, solved.allocation)
    assert again.report.reached_count == 9 and repr(again) == repr(solved) and not again.distances.flags.writeable
    with pytest.raises(hullfield.InvalidInputError, match="paths=True"):
        again.paths([[0, 0]])
    found = ARENA.contacts(BODIES)
    loaded = pickle.loads(pickle.dumps(found))
    assert loaded.rows.tobytes() == found.rows.tobytes() and loaded.stats == found.stats
    assert (
        not loaded.rows.flags.writeable and not pickle.loads(pickle.dumps(SOLVED.paths([[1, 1]]))).cells.flags.writeable
    )
    bodies = Bodies(ARENA)
    bodies.insert(BODIES)
    refused: list[Any] = [
        SOLVED,
        FLOW.solve([[0, 0]]),
        FLOW.agents([[0, 0]]),
        solve_raster(np.ones((3, 3), int), [[0, 0]]),
    ]
    refused += [bodies, bodies.contacts(), ARENA.contacts.start(BODIES)]
    for value in refused:
        with pytest.raises(hullfield.Error, match="pickle"):
            pickle.dumps(value)


def test_copies() -> None:
    field = FLOW.solve([[0, 0]])
    for value in (SOLVED, field, Hull.ball(1), Pose([1, 2, 3])):
        for make in (copy.copy, copy.deepcopy):
            made = make(value)
            assert made is value or made == value
    deep = copy.deepcopy(ARENA)
    assert deep.contacts(BODIES).rows.tobytes() == ARENA.contacts(BODIES).rows.tobytes()
    for value in (FLOW.agents([[0, 0]]), ARENA.contacts.start(BODIES)):
        with pytest.raises(hullfield.Error):
            copy.deepcopy(value)


def test_bound_queries_pickle() -> None:
    query = pickle.loads(pickle.dumps(ARENA.contacts))
    assert query(BODIES).rows.tobytes() == ARENA.contacts(BODIES).rows.tobytes()
    assert query.start(BODIES).wait().rows.tobytes() == ARENA.contacts(BODIES).rows.tobytes()
    assert pickle.loads(pickle.dumps(hullfield.cost_distance)) is hullfield.cost_distance
    assert pickle.loads(pickle.dumps(solve_raster)) is solve_raster


def test_pending_work_is_what_create_task_takes() -> None:
    async def main() -> list[int]:
        pending = ARENA.contacts.start(BODIES)
        task = asyncio.create_task(pending)
        same = asyncio.create_task(pending)
        other = asyncio.create_task(ARENA.hits.start(BODIES))
        found = [len(await task), len(await same), len(await other), len(await pending)]
        wrong = asyncio.create_task(ARENA.contacts.start(BODIES, [[0, 1], [0, 1]]))
        found.append(len(await asyncio.wait_for(wrong, 60)))
        found.append(len(await asyncio.ensure_future(pending)))
        return found

    count = len(ARENA.contacts(BODIES))
    assert asyncio.run(main()) == [count, count, 300, count, 2, count]
    assert len(asyncio.run(ARENA.contacts.start(BODIES))) == count


def test_a_cancelled_task_of_a_pending_cancels_its_work() -> None:
    async def main() -> Any:
        crowd = BodyColumns(0, np.random.default_rng(2).uniform(-40, 40, size=(140_000, 3)).astype(np.float32))
        pending = ARENA.intersections.start(crowd, "exhaustive")
        task = asyncio.create_task(pending)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pending

    with pytest.raises(hullfield.CancelledError):
        asyncio.run(main()).wait()


def test_help_says_signatures_and_what_comes_back() -> None:
    for of in (ARENA.contacts, Arena.contacts):
        signature = inspect.signature(of)
        assert str(signature).endswith("margin: 'float' = 0.0) -> 'Batch[Stats]'"), signature
        text = pydoc.plain(pydoc.render_doc(of))
        assert (
            "contacts(" in text
            and "Batch[Stats]" in text
            and "How deep bodies overlap" in text
            and "Pending[" not in text
        )
    text = pydoc.plain(pydoc.render_doc(hullfield.cost_distance))
    assert "cost_distance(raster" in text and "CostDistance" in text and "The least cost of a path" in text
    text = pydoc.plain(pydoc.render_doc(Arena))
    assert "contacts(self, bodies" in text and "Pending[" not in text
    assert ARENA.contacts.__name__ == "contacts" and hullfield.cost_distance.__module__ == "hullfield._cost_distance"


def test_the_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert hullfield.__version__ == version("hullfield")


def test_nothing_is_written_to_stderr() -> None:
    program = (
        "import hullfield; from hullfield.collide import *; hullfield.adapters(); "
        "Arena([Hull.ball(1)]).contacts(BodyColumns(0, [[0, 0, 0], [1, 0, 0]]))"
    )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("XDG_RUNTIME_DIR", "NODEVICE_SELECT")
    }
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_too_many_pairs_are_said_first() -> None:
    crowd = BodyColumns(0, np.random.default_rng(1).uniform(0, 100, (1500, 3)).astype(np.float32))
    with pytest.raises(hullfield.InvalidInputError, match="all 1,124,250 pairs would be listed.* margin=inf"):
        ARENA.distances(crowd)
    assert len(ARENA.distances(crowd, margin=np.inf)) == 1500 * 1499 // 2
    assert len(ARENA.distances(crowd, [[0, 1]])) == 1
    assert len(ARENA.distances(BodyColumns(0, np.eye(3)))) == 3
    # Bodies of other worlds and of one owner are no pairs.
    worlds = np.repeat(np.arange(30), 50)
    apart = BodyColumns(0, np.random.default_rng(1).uniform(0, 9, (1500, 3)).astype(np.float32), worlds=worlds)
    assert len(ARENA.distances(apart)) == 30 * 50 * 49 // 2
    owned = BodyColumns(
        0, np.random.default_rng(1).uniform(0, 9, (1500, 3)).astype(np.float32), owners=np.arange(1500) // 750
    )
    assert len(ARENA.distances(owned, margin=0.1)) < 750 * 750
    many = np.zeros((150_000, 3), np.float32)
    with pytest.raises(
        hullfield.InvalidInputError, match=r"would examine 11,249,925,000 pairs, more than 10,000,000,000"
    ):
        ARENA.intersections(BodyColumns(0, many), "exhaustive")
    still = ARENA.with_options(statics=BodyColumns(0, np.zeros((1000, 3))))
    with pytest.raises(hullfield.InvalidInputError, match="all 1,499,500 pairs"):
        still.distances(BodyColumns(0, np.random.default_rng(1).uniform(0, 9, (1000, 3))))
    with pytest.raises(hullfield.InvalidInputError, match="without a margin"):
        COMPOUNDS.distances(CompoundColumns(0, crowd.arrays()["positions"][:800]))
    bodies = Bodies(ARENA)
    bodies.insert(crowd)
    with pytest.raises(hullfield.InvalidInputError, match="without a margin"):
        bodies.distances()
    assert len(bodies.distances(margin=0.5)) > 0


def test_a_pair_takes_microseconds() -> None:
    cube, there = Hull.cuboid([0.5, 0.5, 0.5]), Pose([0.9, 0, 0])
    for ask, most in (
        (lambda: distance(cube, None, cube, there), 200e-6),
        (lambda: intersects(cube, None, cube, there), 100e-6),
    ):
        ask()
        times = []
        for _ in range(9):
            begun = time.process_time()
            for _ in range(200):
                ask()
            times.append((time.process_time() - begun) / 200)
        # Far above what it takes, for builds that are not optimized.
        assert min(times) < most
