"""Work spread over the processes of a machine, or over many machines, by Ray (``pip install hullfield[ray]``).

Work is an object that is called with a batch, a dict of arrays with a row for each item, and returns one. It holds what is made once:
hulls, a surface, a room. Any callable that pickles will do. Called in one process it gives the same rows as on many, bit for bit, whatever
the number of workers and whatever dies on the way.

- :func:`run` takes arrays and gives arrays; :class:`Workers` keeps the processes for the next batch.
- :func:`map_batches` takes a dataset of Ray Data and gives one, for more rows than memory holds.
- :func:`solve_raster` solves a field over a raster larger than memory, its tiles on many workers.

Ready-made work is in :mod:`hullfield.work`: collision labels, geodesics of many meshes, paths in rooms.

GPUs: each worker opens its own engine, and ``num_gpus`` reserves GPUs for it in Ray's books. Vulkan does not heed Ray's choice of a card, so on
a machine with several cards all workers use the best one.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

import hullfield
from hullfield import _native
from hullfield._arrays import ArrayLike, unmasked
from hullfield._errors import InvalidInputError
from hullfield._grids import plane
from hullfield._raster import RasterArguments, RasterField, RasterProgress, _reader

try:
    import ray
    import ray.data
except ImportError as error:  # pragma: no cover
    message = f"hullfield.ray needs Ray, pip install 'hullfield[ray]': {error}"
    raise ImportError(message) from error

__all__ = ["Work", "Workers", "map_batches", "run", "solve_raster"]

Columns = dict[str, npt.NDArray[Any]]
Work = Callable[[Columns], Columns]

#: Tasks that are sent to a worker before it has answered the first, so that it never waits for its input.
_IN_FLIGHT = 2


class _Worker:
    """Holds the work in a process of its own."""

    def __init__(self, work: Work, threads: int) -> None:
        hullfield.set_num_threads(threads)
        self._work = work

    def __call__(self, batch: Columns) -> Columns:
        return self._work(batch)


def _check(workers: int | None, threads: int, num_gpus: float | None, batch_size: int) -> tuple[int, float]:
    for name, value in (("threads", threads), ("batch_size", batch_size)):
        if value < 1:
            raise InvalidInputError(f"{name} is {value}, it must be at least 1")
    if workers is not None and workers < 1:
        raise InvalidInputError(f"workers is {workers}, it must be at least 1")
    if num_gpus is not None and num_gpus < 0:
        raise InvalidInputError(f"num_gpus is {num_gpus}, it must be at least 0")
    if not ray.is_initialized():
        ray.init()
    resources = ray.cluster_resources()
    if workers is None:
        workers = max(1, int(resources.get("CPU", 1) // threads))
    if num_gpus is None:
        num_gpus = min(1.0, resources.get("GPU", 0.0) / workers)
    return workers, num_gpus


class Workers:
    """Worker processes that hold the work from call to call: starting them takes seconds, so keep them where there is more than one batch.

    Args:
        work: what is called with each piece of a batch. It must give a row for each row, and a row must depend on its own row only.
        workers: processes. By default as many as the cluster has CPUs for.
        threads: threads of each worker, and the CPUs that it reserves.
        num_gpus: GPUs that each worker reserves. By default a share of those the cluster has, at most one.

    A worker that dies is started again, and its pieces are given out again. ``with Workers(work) as workers: …`` ends them at the end.
    """

    def __init__(
        self, work: Work, *, workers: int | None = None, threads: int = 1, num_gpus: float | None = None
    ) -> None:
        workers, num_gpus = _check(workers, threads, num_gpus, 1)
        options = {"num_cpus": threads, "num_gpus": num_gpus, "max_restarts": -1, "max_task_retries": -1}
        remote = ray.remote(_Worker).options(**options)
        # A worker that is started again takes the work anew, and Ray frees it once no reference to it is left here.
        self._work = ray.put(work)
        self._actors: list[Any] = [remote.remote(self._work, threads) for _ in range(workers)]

    def run(self, batch: Mapping[str, ArrayLike], *, batch_size: int = 4096) -> Columns:
        """Calls the work with all rows of ``batch``, in pieces. Arguments, result and exceptions are those of :func:`run`."""
        if not self._actors:
            raise InvalidInputError("the workers are closed")
        arrays, count = _columns(batch)
        starts = _starts(count, batch_size)
        pieces = _pieces(self._actors, arrays, starts, batch_size)
        for start, piece in zip(starts, pieces, strict=True):
            wanted = min(batch_size, count - start)
            for name, values in piece.items():
                if len(values) != wanted:
                    raise InvalidInputError(f"the work gave {len(values)} rows of {name} for {wanted} rows")
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}

    def close(self) -> None:
        """Ends the workers. What they are doing is lost."""
        for actor in self._actors:
            ray.kill(actor)
        self._actors = []
        self._work = None

    def __len__(self) -> int:
        return len(self._actors)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def run(
    batch: Mapping[str, ArrayLike],
    work: Work,
    *,
    workers: int | None = None,
    threads: int = 1,
    num_gpus: float | None = None,
    batch_size: int = 4096,
) -> Columns:
    """Calls ``work`` with all rows of ``batch``, in pieces, on several workers, which are started and ended by this call.

    Args:
        batch: arrays with a row for each item; all have the same length.
        work: what is called with each piece. It must give a row for each row, and a row must depend on its own row only.
        workers: processes. By default as many as the cluster has CPUs for.
        threads: threads of each worker, and the CPUs that it reserves.
        num_gpus: GPUs that each worker reserves. By default a share of those the cluster has, at most one.
        batch_size: rows of a piece. The answer does not depend on it.

    Returns:
        The arrays that ``work`` gives, in the order of the rows.

    Raises:
        Error: what ``work`` raises, with its text and class; rows of arrays that differ in number.

    A worker that dies is started again, and its pieces are given out again. Ctrl-C ends all workers.
    """
    _, count = _columns(batch)
    workers, num_gpus = _check(workers, threads, num_gpus, batch_size)
    workers = min(workers, len(_starts(count, batch_size)))
    with Workers(work, workers=workers, threads=threads, num_gpus=num_gpus) as started:
        return started.run(batch, batch_size=batch_size)


def _columns(batch: Mapping[str, ArrayLike]) -> tuple[Columns, int]:
    """The arrays of a batch, and how many rows they have."""
    for name, values in batch.items():
        unmasked(name, values)
    arrays = {name: np.asarray(values) for name, values in batch.items()}
    lengths = {name: len(values) if values.ndim else -1 for name, values in arrays.items()}
    if not arrays or len(set(lengths.values())) != 1 or -1 in lengths.values():
        raise InvalidInputError(f"the arrays have {lengths} rows, all must have the same number")
    return arrays, next(iter(lengths.values()))


def _starts(count: int, batch_size: int) -> range:
    """Where the pieces of a batch begin. One of no rows is a piece too: its answer has the arrays' names and types."""
    if batch_size < 1:
        raise InvalidInputError(f"batch_size is {batch_size}, it must be at least 1")
    return range(0, max(count, 1), batch_size)


def _pieces(actors: list[Any], arrays: Columns, starts: range, batch_size: int) -> list[Columns]:
    """Gives the pieces out, each to the worker that has the fewest, and takes their answers in."""
    waiting = deque(enumerate(starts))
    running: dict[Any, tuple[int, int]] = {}
    idle = deque(actor for _ in range(_IN_FLIGHT) for actor in range(len(actors)))
    answers: dict[int, Columns] = {}
    while waiting or running:
        while waiting and idle:
            number, start = waiting.popleft()
            actor = idle.popleft()
            piece = {name: values[start : start + batch_size] for name, values in arrays.items()}
            running[actors[actor].__call__.remote(piece)] = (number, actor)
        done, _ = ray.wait(list(running), num_returns=1)
        for reference in done:
            number, actor = running.pop(reference)
            answers[number] = _answer(reference)
            idle.append(actor)
    return [answers[number] for number in range(len(starts))]


def map_batches(
    dataset: ray.data.Dataset,
    work: Work,
    *,
    workers: int | None = None,
    threads: int = 1,
    num_gpus: float | None = None,
    batch_size: int = 4096,
) -> ray.data.Dataset:
    """Calls ``work`` with all rows of a dataset, in batches, on a pool of actors that hold it.

    The arguments are those of :func:`run`. Nothing is computed before the dataset is read. Rows keep their order.
    """
    workers, num_gpus = _check(workers, threads, num_gpus, batch_size)
    mapped: ray.data.Dataset = dataset.map_batches(
        _Worker,
        fn_constructor_args=(work, threads),
        compute=ray.data.ActorPoolStrategy(size=workers),
        batch_format="numpy",
        batch_size=batch_size,
        num_cpus=threads,
        num_gpus=num_gpus or None,
    )
    mapped.context.execution_options.preserve_order = True
    return mapped


class _TileWorker:
    """Solves tiles of a raster in a process of its own."""

    def __init__(self, costs: Any, shape: tuple[int, int], is_friction: bool, folder: str) -> None:
        hullfield.set_num_threads(1)
        height, width = shape
        opened = plane(costs() if callable(costs) else costs)
        if tuple(opened.shape) != shape:
            raise InvalidInputError(f"a worker's raster has the shape {tuple(opened.shape)}, not {shape}")
        self._arguments = (_reader(opened, shape, is_friction), [width, height], folder)

    def solve(self, task: bytes) -> bytes:
        answer: bytes = _native.solve_tile(*self._arguments, task).wait()
        return answer


def _opener(costs: Any) -> Any:
    """What a worker opens the raster by: a memory map is opened there again, as to pickle it would be to send all of it."""
    if isinstance(costs, np.memmap) and costs.filename is not None and costs.flags.c_contiguous:
        filename, dtype, shape, offset = costs.filename, costs.dtype, costs.shape, costs.offset

        def open_map() -> npt.NDArray[Any]:
            return np.memmap(filename, dtype=dtype, mode="r", shape=shape, offset=offset)

        return open_map
    return costs


def solve_raster(
    costs: Any,
    goals: ArrayLike,
    *,
    folder: str | os.PathLike[str],
    workers: int | None = None,
    identity: str | None = None,
    connectivity: str | None = None,
    corners: str | None = None,
    memory_limit: int | None = None,
    tile_edge: int | None = None,
    max_distance: float | None = None,
    cost_rule: str | None = None,
    step_lengths: ArrayLike | None = None,
    cell_size: ArrayLike | None = None,
    transform: Any = None,
    geodesic: bool = False,
    progress: Callable[[RasterProgress], Any] | None = None,
) -> RasterField:
    """:func:`hullfield.flow.solve_raster` with the tiles solved by several workers, one tile at a time each.

    The field is equal bit for bit to that of one process, whatever the number of workers, and whatever dies. Where this process ends, a later call,
    with or without Ray, goes on from the folder.

    Args:
        costs: the raster. Workers get it by pickling, numpy's arrays through Ray's shared memory; they open a memory map anew. Or a function
            without arguments that opens it: each worker calls it, and so does this process.
        folder: where the distances of tiles are kept. All workers must reach it by this name: on several machines it is on a shared file system.
        workers: processes. By default as many as the cluster has CPUs for.
        memory_limit: the most bytes that each worker may take.

    The other arguments, the result and the exceptions are those of :func:`hullfield.flow.solve_raster`.
    """
    workers, _ = _check(workers, 1, 0.0, 1)
    folder = os.path.abspath(os.fspath(folder))
    opened = costs() if callable(costs) else costs
    arguments = RasterArguments(
        opened,
        goals,
        folder,
        identity,
        connectivity,
        corners,
        memory_limit,
        tile_edge,
        max_distance,
        cost_rule,
        step_lengths,
        cell_size,
        transform,
        geodesic,
    )
    # One tile at a time shares a worker's memory limit.
    solver = _native.raster_solver(arguments.read, *arguments.native, 1).wait()
    shared = ray.put(_opener(costs))
    remote = ray.remote(_TileWorker).options(num_cpus=1, max_restarts=-1, max_task_retries=-1)
    inputs = (shared, arguments.shape, arguments.is_friction, folder)
    idle: deque[Any] = deque(remote.remote(*inputs) for _ in range(workers))
    actors = list(idle)
    running: dict[Any, Any] = {}
    try:
        while not solver.is_done:
            for task in solver.tasks(len(idle)):
                actor = idle.popleft()
                running[actor.solve.remote(task)] = actor
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                idle.append(running.pop(reference))
                solver.note(_answer(reference))
            if progress is not None and progress(RasterProgress(*solver.progress)) is False:
                raise hullfield.CancelledError("the work was cancelled")
    finally:
        for actor in actors:
            ray.kill(actor)
    return RasterField._of(solver.finish(), arguments)


def _answer(reference: Any) -> Any:
    """The answer of a task, or what it raised."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise error.as_instanceof_cause() from None
