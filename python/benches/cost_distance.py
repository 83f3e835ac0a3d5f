"""Cost distance over float friction against its peers: scikit-image's MCP_Geometric, and xarray-spatial with numpy and with Dask.

    pip install scikit-image xarray-spatial dask && python benches/cost_distance.py --size 4096

Each peer's answer is compared with hullfield's before a time is printed. A ratio is the peer's time over hullfield's on one thread: above 1 hullfield is
faster. hullfield and each peer run in turns; times are medians.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

import hullfield

Floats = npt.NDArray[np.floating[Any]]


def friction_of(kind: str, size: int) -> Floats:
    random = np.random.default_rng(1)
    if kind == "random":
        return random.uniform(1, 10, (size, size)).astype(np.float32)
    friction = np.full((size, size), 2.0, np.float32)
    y, x = np.mgrid[:size, :size].astype(np.float32)
    for _ in range(6):
        angle, length = random.uniform(0, 2 * np.pi), random.uniform(20, 400)
        friction += np.sin((x * np.cos(angle) + y * np.sin(angle)) / length).astype(np.float32) * 0.25
    if kind == "obstacles":
        friction[random.random((size, size)) < 0.2] = np.nan
        friction[size // 2, size // 2] = 1.0
    return friction


def peers(friction: Floats, target: int, names: list[str]) -> dict[str, Callable[[], Floats]]:
    """The peers that are installed, each as a function that gives distances."""
    found: dict[str, Callable[[], Floats]] = {}
    if "mcp" in names:
        from skimage.graph import MCP_Geometric

        costs = np.where(np.isfinite(friction), friction, -1).astype(np.float64)
        found["scikit-image MCP_Geometric"] = lambda: MCP_Geometric(costs, fully_connected=True).find_costs(
            [(target, target)]
        )[0]
    if "xarray-spatial" in names or "dask" in names:
        import xarray
        from xrspatial import cost_distance

        raster = np.zeros(friction.shape, np.float64)
        raster[target, target] = 1
        coordinates = {"y": np.arange(friction.shape[0], dtype=float), "x": np.arange(friction.shape[1], dtype=float)}
        sources = xarray.DataArray(raster, dims=("y", "x"), coords=coordinates)
        costs_of = xarray.DataArray(friction.astype(np.float64), dims=("y", "x"), coords=coordinates)
        if "xarray-spatial" in names:
            found["xarray-spatial, numpy"] = lambda: cost_distance(sources, costs_of).values
        if "dask" in names:
            chunks = {"y": 1024, "x": 1024}
            found["xarray-spatial, Dask"] = lambda: cost_distance(sources.chunk(chunks), costs_of.chunk(chunks)).values
    return found


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    answer = work()
    return time.perf_counter() - begin, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=4096, help="cells along each side")
    parser.add_argument("--kinds", nargs="+", default=["random", "smooth", "obstacles"])
    parser.add_argument("--peers", nargs="*", default=["mcp", "xarray-spatial", "dask"])
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(
        f"{arguments.size} x {arguments.size} cells, 8 neighbours, mean friction of both cells, one target in the middle"
    )
    target = arguments.size // 2
    for kind in arguments.kinds:
        friction = friction_of(kind, arguments.size)
        others = peers(friction, target, arguments.peers)
        # What compiles at its first call does it here.
        for warm in peers(friction_of(kind, 64), 32, arguments.peers).values():
            warm()
        times: dict[str, list[float]] = {}

        def ours(threads: int, friction: Floats = friction, target: int = target) -> hullfield.CostDistance:
            hullfield.set_num_threads(threads)
            return hullfield.cost_distance(None, [(target, target)], friction=friction)

        for _ in range(arguments.rounds):
            for threads in (1, 2):
                seconds, solved = timed(lambda threads=threads: ours(threads))
                times.setdefault(f"hullfield, {threads} thread{'s' * (threads > 1)}", []).append(seconds)
            for name, work in others.items():
                seconds, theirs = timed(work)
                times.setdefault(name, []).append(seconds)
                reached = np.isfinite(solved.distances)
                other = np.where(np.isfinite(theirs), theirs, np.inf)
                if not np.array_equal(np.isfinite(other), reached):
                    raise SystemExit(f"{name} reaches other cells than hullfield: no time is shown")
                error = np.abs(other[reached] - solved.distances[reached]) / np.maximum(other[reached], 1e-9)
                if error.max() > 1e-4:
                    raise SystemExit(f"{name} is off by {error.max():.1e} from hullfield: no time is shown")
        base = statistics.median(times["hullfield, 1 thread"])
        print(
            f"\n{kind}: off by at most {solved.report.error_bound:.1e}, {np.isfinite(solved.distances).sum()} cells reached"
        )
        for name, all_times in times.items():
            median = statistics.median(all_times)
            print(f"  {name:32} {median:8.2f} s  {median / friction.size * 1e9:8.0f} ns a cell  {median / base:6.2f}")


if __name__ == "__main__":
    main()
