"""Signals, processes and threads."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield.collide import Arena, BodyColumns, Hull, RayColumns

LONG = """
import signal, sys, hullfield, numpy as np
# A parent in the background may have it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from hullfield.collide import *
# Parallel rods along the diagonal: all boxes overlap, but no bodies touch, so no answer outgrows the memory.
along, u, v = np.array([1, 1, 1]), np.array([1, -1, 0]) / 2**0.5, np.array([1, 1, -2]) / 6**0.5
rod = Hull([a * along + b * u + c * v for a in (-20, 20) for b in (-1e-3, 1e-3) for c in (-1e-3, 1e-3)])
arena = Arena([Hull.cuboid([1, 1, 1]), rod], engine=hullfield.Engine.cpu())
i, j = np.divmod(np.arange(60_000), 245)
bodies = BodyColumns(1, (np.outer(i, u) + np.outer(j, v)).astype(np.float32) / 100)
between = RayColumns(np.tile((u + v) / 200 - 30 * along, (1_000_000, 1)), along)
print("begin", flush=True)
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", flush=True)
# The arena goes on after an interrupt.
print(len(arena.intersections(BodyColumns([0, 0]))), flush=True)
"""


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.mark.skipif(os.name == "nt", reason="this system sends no SIGINT to one process")
@pytest.mark.parametrize(
    "call",
    [
        "arena.hit_counts(bodies)",
        "arena.intersections(bodies, 'exhaustive')",
        "arena.contacts(bodies)",
        "arena.nearest_bodies(bodies, count=1000)",
        "arena.sweeps(bodies, [1, 0, 0], [0, 0, 1])",
        "arena.raycasts_all(bodies, between)",
    ],
)
def test_an_interrupt_ends_a_long_query(call: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG.format(call=call)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begin\n"
    time.sleep(0.5)
    assert process.poll() is None, "the query was too short to interrupt"
    begin = time.monotonic()
    process.send_signal(signal.SIGINT)
    # Without the interrupt each of these takes minutes.
    assert process.stdout.readline() == "interrupted\n"
    print(f"{call}: {time.monotonic() - begin:.3f} s")
    rest, _ = process.communicate(timeout=60)
    assert rest == "1\n" and process.returncode == 0


def crowd(count: int = 3000) -> BodyColumns:
    random = np.random.default_rng(4)
    return BodyColumns(random.integers(0, 2, count), random.uniform(-9, 9, (count, 3)).astype(np.float32))


def arena_on(engine: hullfield.Engine) -> Arena:
    return Arena([Hull.ball(0.5), Hull.cuboid([0.4, 0.3, 0.2])], engine=engine)


def answer(arena: Arena, bodies: BodyColumns) -> bytes:
    rays = RayColumns(np.zeros((100, 3)), np.random.default_rng(1).normal(size=(100, 3)))
    return arena.contacts(bodies).rows.tobytes() + arena.raycasts(bodies, rays).rows.tobytes()


def in_child(arena: Arena, bodies: BodyColumns) -> bytes:
    return answer(arena, bodies)


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_processes_answer_alike(method: str) -> None:
    arena, bodies = arena_on(hullfield.Engine.cpu()), crowd()
    expected = answer(arena, bodies)
    with multiprocessing.get_context(method).Pool(2) as pool:
        for found in pool.starmap(in_child, [(arena, bodies)] * 4):
            assert found == expected


def in_fork(queue: Any) -> None:
    # What the parent made, not a pickle of it.
    queue.put(answer(SHARED["arena"], SHARED["bodies"]))


SHARED: dict[str, Any] = {}


@needs_fork
def test_an_arena_made_before_a_fork_goes_on() -> None:
    SHARED["arena"], SHARED["bodies"] = arena_on(hullfield.Engine.cpu()), crowd()
    expected = answer(SHARED["arena"], SHARED["bodies"])
    context = multiprocessing.get_context("fork")
    queue: Any = context.Queue()
    children = [context.Process(target=in_fork, args=(queue,)) for _ in range(2)]
    for child in children:
        child.start()
    assert [queue.get(timeout=60) for _ in children] == [expected] * 2
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert answer(SHARED["arena"], SHARED["bodies"]) == expected


def gpu() -> hullfield.Engine:
    try:
        return hullfield.Engine.gpu()
    except hullfield.NoGpuError as error:
        if os.environ.get("HULLFIELD_REQUIRE_GPU") == "1":
            raise
        pytest.skip(f"no adapter: {error}")


FORKED = """
import os, sys, hullfield
from hullfield.collide import *
arena = Arena([Hull.ball(0.5)], engine=hullfield.Engine.gpu())
bodies = BodyColumns([0, 0])
assert len(arena.intersections(bodies)) == 1
child = os.fork()
if child == 0:
    try:
        arena.intersections(bodies)
    except hullfield.ForkedError as error:
        assert "make the engine after the fork" in str(error)
    else:
        os._exit(3)
    assert len(arena.hulls) == 1 and arena.engine.backend == "gpu"
    # A CPU engine of its own works, and the exit is clean.
    assert len(Arena([Hull.ball(0.5)], engine=hullfield.Engine.cpu()).intersections(bodies)) == 1
    del arena
    sys.exit(0)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), len(arena.intersections(bodies)))
"""


@needs_fork
def test_a_forked_child_may_not_use_the_gpu_of_its_parent() -> None:
    gpu()
    done = subprocess.run([sys.executable, "-c", FORKED], check=False, capture_output=True, text=True, timeout=300)
    assert done.stdout == "0 1\n", done.stdout + done.stderr


PENDING = """
import os, sys, hullfield, numpy as np
from hullfield.collide import *
arena = Arena([Hull.ball(0.5)], engine=hullfield.Engine.cpu())
ready = arena.hit_counts.start(BodyColumns([0, 0]))
ready.wait()
pending = arena.hit_counts.start(BodyColumns(0, np.zeros((20_000, 3))))
child = os.fork()
if child == 0:
    for call in [pending.wait, lambda: pending.wait(timeout=1)]:
        try:
            call()
        except hullfield.ForkedError as error:
            assert "ask anew" in str(error)
        else:
            os._exit(3)
    pending.cancel()
    del pending
    assert ready.wait().rows.tolist() == [1, 1]
    assert arena.hit_counts(BodyColumns([0, 0])).rows.tolist() == [1, 1]
    sys.exit(0)
_, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status))
pending.cancel()
"""


@needs_fork
def test_a_forked_child_has_no_part_in_work_of_its_parent() -> None:
    command = [sys.executable, "-c", PENDING]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.stdout == "0\n", done.stdout + done.stderr


def test_threads_query_at_once() -> None:
    arena, bodies = arena_on(hullfield.Engine.cpu()), crowd()
    expected, failures = answer(arena, bodies), []

    def work() -> None:
        for _ in range(10):
            if answer(arena, bodies) != expected:
                failures.append("another answer")

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures and not any(thread.is_alive() for thread in threads)


def test_a_pending_is_waited_for_by_two_threads_and_cancelled() -> None:
    arena, bodies = arena_on(hullfield.Engine.cpu()), crowd()
    pending, found = arena.contacts.start(bodies), []
    threads = [threading.Thread(target=lambda: found.append(len(pending.wait()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 2 and found[0] == found[1] == len(arena.contacts(bodies))
    pending = arena.hit_counts.start(BodyColumns(0, np.zeros((50_000, 3))))
    with pytest.raises(hullfield.WaitTimeoutError):
        pending.wait(timeout=0.01)
    pending.cancel()
    with pytest.raises(hullfield.CancelledError):
        pending.wait()


def test_the_number_of_threads_changes_no_answer() -> None:
    arena, bodies = arena_on(hullfield.Engine.cpu()), crowd()
    expected, before = answer(arena, bodies), hullfield.get_num_threads()
    try:
        for count in [1, 2, 5]:
            hullfield.set_num_threads(count)
            assert hullfield.get_num_threads() == count and answer(arena, bodies) == expected
    finally:
        hullfield.set_num_threads(0)
    assert hullfield.get_num_threads() == before


def test_an_engine_pickles() -> None:
    engine = pickle.loads(pickle.dumps(hullfield.Engine.cpu()))
    assert engine.backend == "cpu"
