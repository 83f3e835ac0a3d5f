"""Answers of work that runs in the background."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import hullfield
from hullfield.collide import Arena, BodyColumns, Hull


def long_query() -> "hullfield.Pending[object]":
    """A query of half a billion pairs: some minutes of work."""
    arena = Arena([Hull(np.random.default_rng(1).normal(size=(64, 3)))], engine=hullfield.Engine.cpu())
    positions = np.random.default_rng(2).uniform(-40, 40, size=(32_000, 3)).astype(np.float32)
    return arena.intersections.start(BodyColumns(0, positions), "exhaustive")


def short_query() -> "hullfield.Pending[hullfield.Batch[object]]":
    arena = Arena([Hull.cuboid([0.5, 0.5, 0.5])], engine=hullfield.Engine.cpu())
    positions = np.random.default_rng(2).uniform(-9, 9, size=(2000, 3)).astype(np.float32)
    return arena.intersections.start(BodyColumns(0, positions))


def test_an_answer_is_the_same_each_time_it_is_asked_for() -> None:
    pending = short_query()
    first = pending.wait()
    assert pending.done()
    assert len(first) > 0
    assert first.rows.tobytes() == pending.wait().rows.tobytes()


def test_threads_may_wait_for_one_answer() -> None:
    for _ in range(20):
        pending = short_query()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda answer: answer.wait().rows, [pending] * 8))
        assert len({answer.tobytes() for answer in answers}) == 1


def test_a_wait_ends_in_time_and_the_work_goes_on() -> None:
    pending = long_query()
    with pytest.raises(TimeoutError, match=r"no answer within 0\.1 s; the work goes on"):
        pending.wait(0.1)
    assert not pending.done()
    pending.cancel()
    with pytest.raises(hullfield.CancelledError):
        pending.wait()
    assert pending.done()


def test_a_thread_that_waits_is_freed_by_a_cancel() -> None:
    pending = long_query()
    raised: list[BaseException] = []

    def wait() -> None:
        try:
            pending.wait()
        except hullfield.CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    time.sleep(0.2)
    pending.cancel()
    thread.join(30)
    assert len(raised) == 1


def test_a_cancelled_task_of_asyncio_cancels_the_work() -> None:
    async def main() -> hullfield.Pending[object]:
        pending = long_query()

        async def wait() -> None:
            await pending

        task = asyncio.create_task(wait())
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pending

    pending = asyncio.run(main())
    with pytest.raises(hullfield.CancelledError):
        pending.wait()


def test_a_query_that_nobody_waits_for_is_dropped() -> None:
    for _ in range(50):
        long_query()
    assert len(short_query().wait()) > 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_a_query() -> None:
    program = textwrap.dedent(
        """
        import signal, sys
        # A parent in the background may have it ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        sys.path.insert(0, sys.argv[1])
        from test_pending import long_query
        pending = long_query()
        print("waiting", flush=True)
        try:
            pending.wait()
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        """
    )
    command = [sys.executable, "-c", program, os.path.dirname(__file__)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(60) == 0
