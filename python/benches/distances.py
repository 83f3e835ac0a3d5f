"""Distances of 100,000 pairs from numpy: what the way through Python costs over Rust, and what parry3d and coal take for the same pairs.

    cargo build --release -p hullfield-bench && pip install coal && python benches/distances.py ../target/release/hullfield-bench

Rust, parry3d and Python run in turns, on the same numbers; answers are compared before a time is printed. Ratios are medians of those of
neighbouring rounds. coal is asked in a loop of Python, as its wheel has no batches, for a share of the pairs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import hullfield
from hullfield.collide import Arena, BodyColumns, Hull

VERTICES = 32


def scene(count: int) -> dict[str, npt.NDArray[Any]]:
    """Pairs of hulls that are near each other, some of them overlapping, in random directions."""
    random = np.random.default_rng(20260)
    points = random.normal(size=(16, VERTICES, 3))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    points *= random.uniform(0.6, 1, (16, VERTICES, 1))
    rotations = random.normal(size=(count, 4))
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    positions = np.zeros((count, 3))
    positions[0::2] = random.uniform(-100, 100, (count // 2, 3))
    way = random.normal(size=(count // 2, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    positions[1::2] = positions[0::2] + way * random.uniform(1.2, 2.6, (count // 2, 1))
    first = np.arange(0, count, 2)
    pairs = np.concatenate([np.column_stack([first, first + 1]), np.column_stack([first + 1, first])])
    return {
        "points": points.astype(np.float32),
        "hulls": random.integers(0, 16, count).astype(np.uint32),
        "positions": positions.astype(np.float32),
        "rotations": rotations.astype(np.float32),
        "pairs": pairs.astype(np.uint32),
    }


class Rust:
    """The program that answers on the same scene."""

    def __init__(self, program: str, folder: Path) -> None:
        command = [program, "wheel", str(folder), "--vertices", str(VERTICES)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, question: str) -> tuple[float, float]:
        """Milliseconds, and the sum of the distances."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(question, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} ended: {self.process.wait()}")
        ms, total = line.split()
        return float(ms), float(total)

    def cpu_ms(self) -> float:
        """The CPU time that the program has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1e3 / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="hullfield-bench, built in release")
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--coal-pairs", type=int, default=5_000)
    arguments = parser.parse_args()
    given = scene(arguments.pairs)
    with tempfile.TemporaryDirectory() as folder:
        for name, array in given.items():
            array.tofile(Path(folder) / f"{name}.bin")
        rust = Rust(arguments.program, Path(folder))
        hulls = [Hull(points) for points in given["points"]]
        arena = Arena(hulls, engine=hullfield.Engine.cpu())
        kept = BodyColumns(given["hulls"], given["positions"], given["rotations"])

        def through_python(bodies: Callable[[], BodyColumns]) -> tuple[float, float]:
            begun = time.perf_counter()
            rows = arena.distances(bodies(), given["pairs"])
            ms = (time.perf_counter() - begun) * 1e3
            return ms, float(rows["separation"].astype(np.float64).sum())

        for threads in (1, 2):
            hullfield.set_num_threads(threads)
            ways: dict[str, Callable[[], tuple[float, float]]] = {
                "Rust": lambda threads=threads: rust.ask(f"hullfield {threads}"),  # type: ignore[misc]
                "numpy, columns kept": lambda: through_python(lambda: kept),
                "numpy, columns made in each call": lambda: through_python(
                    lambda: BodyColumns(given["hulls"], given["positions"], given["rotations"])
                ),
            }
            if threads == 1:
                ways["parry3d, Rust"] = lambda: rust.ask("parry")
            walls: dict[str, list[float]] = {name: [] for name in ways}
            cpus = dict.fromkeys(ways, 0.0)
            for round_number in range(arguments.rounds + 1):
                order = list(ways)
                shift = round_number % len(order)
                for name in order[shift:] + order[:shift]:
                    before = rust.cpu_ms() + time.process_time() * 1e3
                    ms, total = ways[name]()
                    spent = rust.cpu_ms() + time.process_time() * 1e3 - before
                    if name == "Rust":
                        wanted = total
                    elif round_number > 0 and abs(total - wanted) > (1e-4 if "parry" in name else 1e-12) * wanted:
                        raise SystemExit(f"{name} finds {total}, Rust {wanted}: no time is shown")
                    # The first round warms up.
                    if round_number > 0:
                        walls[name].append(ms)
                        cpus[name] += spent
            print(f"\n{arguments.pairs} pairs, {VERTICES} vertices, {threads} thread{'s' * (threads > 1)}")
            for name, all_ms in walls.items():
                ratio = statistics.median(a / b for a, b in zip(all_ms, walls["Rust"], strict=True))
                cpu = cpus[name] / cpus["Rust"]
                median = statistics.median(all_ms)
                print(f"  {name:34} {median:8.2f} ms  {ratio:6.3f} of Rust's time, {cpu:6.3f} of its CPU time")
    coal_loop(given, hulls, arena, kept, min(arguments.coal_pairs, arguments.pairs))


def coal_loop(
    given: dict[str, npt.NDArray[Any]], hulls: list[Hull], arena: Arena, bodies: BodyColumns, count: int
) -> None:
    """coal's signed distances in a loop against contacts in one call."""
    try:
        import coal
    except ImportError:
        print("\ncoal is not installed")
        return
    hullfield.set_num_threads(1)
    shapes = []
    for hull in hulls:
        vertices = coal.StdVec_Vec3s()
        for vertex in hull.vertices.astype(float):
            vertices.append(vertex)
        shapes.append(coal.Convex.convexHull(vertices, False, None))
    matrices = bodies.to_matrices()
    frames = [coal.Transform3s(matrix[:3, :3], matrix[:3, 3]) for matrix in matrices[: 2 * count]]
    pairs = given["pairs"][:count]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    theirs, ours = [], []
    for _ in range(5):
        begun = time.perf_counter()
        found = []
        for a, b in pairs.tolist():
            result.clear()
            shape_a, shape_b = shapes[given["hulls"][a]], shapes[given["hulls"][b]]
            found.append(coal.distance(shape_a, frames[a], shape_b, frames[b], request, result))
        theirs.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        rows = arena.contacts(bodies, pairs)
        ours.append(time.perf_counter() - begun)
    difference = np.abs(np.array(found) - rows["separation"]).max()
    if difference > 1e-3:
        raise SystemExit(f"coal's signed distances differ by {difference}: no time is shown")
    print(f"\nsigned distances of {count} pairs, one thread; they differ by {difference:.1e} at most")
    for name, seconds in (("hullfield, one call", ours), ("coal, a loop of Python", theirs)):
        ratio = statistics.median(a / b for a, b in zip(seconds, ours, strict=True))
        print(f"  {name:34} {statistics.median(seconds) / count * 1e9:8.0f} ns a pair  {ratio:6.2f}")


if __name__ == "__main__":
    main()
