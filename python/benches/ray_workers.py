"""Collision labels by hullfield.work alone, and by hullfield.ray with one, two and four workers of one thread each.

    pip install "ray[data]" && python benches/ray_workers.py --poses 1000000 --objects 1000

Rows are compared bit for bit before a time is printed. The cluster has four CPUs in Ray's books, whatever the machine has.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import ray

import hullfield
import hullfield.ray
from hullfield.collide import Hull
from hullfield.work import CollisionLabels


def scene(object_count: int, pose_count: int) -> tuple[CollisionLabels, dict[str, npt.NDArray[Any]]]:
    """A gripper of three boxes, objects of eight convex parts of 24 points each, and poses around them."""
    random = np.random.default_rng(3)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    boxes = [([0.1, 0.4, 0.1], [0, 0, 0]), ([0.05, 0.05, 0.3], [0, 0.35, 0.3]), ([0.05, 0.05, 0.3], [0, -0.35, 0.3])]
    gripper = [Hull(corners * half + centre) for half, centre in boxes]
    objects = [
        [Hull(random.normal(size=(24, 3)) * 0.1 + random.normal(size=3) * 0.2) for _ in range(8)]
        for _ in range(object_count)
    ]
    quaternions = random.normal(size=(pose_count, 4))
    x, y, z, w = (quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)).T
    poses = np.zeros((pose_count, 4, 4))
    poses[:, 0, :3] = np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)], axis=1)
    poses[:, 1, :3] = np.stack([2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)], axis=1)
    poses[:, 2, :3] = np.stack([2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)], axis=1)
    poses[:, :3, 3] = random.normal(size=(pose_count, 3)) * 0.6
    poses[:, 3, 3] = 1
    numbers = np.sort(random.integers(0, object_count, pose_count))
    return CollisionLabels(gripper, objects, backend="cpu"), {"object": numbers, "pose": poses}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--poses", type=int, default=200_000)
    parser.add_argument("--objects", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    labels, batch = scene(arguments.objects, arguments.poses)
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    hullfield.set_num_threads(1)
    times: dict[str, list[float]] = {}
    for _ in range(arguments.rounds):
        begin = time.perf_counter()
        expected = labels(batch)["collides"]
        times.setdefault("one process, one thread", []).append(time.perf_counter() - begin)
        for workers in (1, 2, 4):
            begin = time.perf_counter()
            found = hullfield.ray.run(batch, labels, workers=workers, batch_size=max(1, arguments.poses // 32))[
                "collides"
            ]
            times.setdefault(f"{workers} worker{'s' * (workers > 1)}", []).append(time.perf_counter() - begin)
            if found.tobytes() != expected.tobytes():
                raise SystemExit(f"{workers} workers gave other labels: no time is shown")
    print(
        f"{arguments.poses} poses, {arguments.objects} objects, {expected.mean():.0%} collide; start of the workers included"
    )
    one = statistics.median(times["1 worker"])
    for name, all_times in times.items():
        median = statistics.median(all_times)
        rate = arguments.poses / median
        print(f"  {name:26} {median:7.2f} s  {rate:10.0f} poses/s  {one / median:5.2f} of one worker")


if __name__ == "__main__":
    main()
