"""Geodesic distances next to pygeodesic (exact) and potpourri3d (heat, approximate), in one run. Results are compared before a time is printed.

Needs trimesh, pygeodesic and potpourri3d. Usage: python benches/geodesic.py [MESH…]
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import potpourri3d
import pygeodesic.geodesic
import trimesh

import hullfield

ROUNDS = (5, 51)
"""The least and the most rounds; as many as take a few seconds."""


def meshes(files: list[str]) -> list[tuple[str, np.ndarray, np.ndarray]]:
    if files:
        loaded = [(file, trimesh.load(file, force="mesh")) for file in files]
        return [(name, np.asarray(mesh.vertices, dtype=float), np.asarray(mesh.faces)) for name, mesh in loaded]
    rng = np.random.default_rng(1)
    found = []
    for subdivisions in (3, 4, 5, 6):
        ball = trimesh.creation.icosphere(subdivisions=subdivisions)
        bumpy = ball.vertices * (1 + 0.2 * rng.random((len(ball.vertices), 1)))
        found += [(f"ball {len(ball.faces)}", np.asarray(ball.vertices), np.asarray(ball.faces))]
        found += [(f"bumpy ball {len(ball.faces)}", bumpy, np.asarray(ball.faces))]
    ring = trimesh.creation.torus(2.0, 0.7, 200, 100)
    return [*found, (f"torus {len(ring.faces)}", np.asarray(ring.vertices), np.asarray(ring.faces))]


def median(rounds: list[Callable[[], Any]]) -> list[float]:
    """The median time of each call in seconds; the calls take turns."""
    times: list[list[float]] = [[] for _ in rounds]
    begin = time.perf_counter()
    for count in range(ROUNDS[1]):
        if count >= ROUNDS[0] and time.perf_counter() - begin > 4:
            break
        for call, own in zip(rounds, times, strict=True):
            begun = time.perf_counter()
            call()
            own.append(time.perf_counter() - begun)
    return [statistics.median(own) for own in times]


def main() -> None:
    print(
        f"{hullfield.get_num_threads()} threads; one source, medians of {ROUNDS[0]} to {ROUNDS[1]}, in ms; ratios to pygeodesic's"
    )
    print(
        f"{'mesh':22} {'pygeodesic':>11} {'hullfield':>11} {'ratio':>7} {'heat':>9} {'8 sources':>10} {'ratio':>7} {'difference':>11}"
    )
    for name, vertices, faces in meshes(sys.argv[1:]):
        ours = hullfield.geodesic(vertices, faces)
        peer = pygeodesic.geodesic.PyGeodesicAlgorithmExact(vertices, faces)
        heat = potpourri3d.MeshHeatMethodDistanceSolver(vertices, faces)
        several = np.linspace(0, len(vertices) - 1, 8).astype(int)
        size = np.ptp(vertices, axis=0).max()
        wanted = peer.geodesicDistances(np.array([0]))[0]
        worst = abs(ours.distance(0) - wanted).max() / size
        if not worst < 1e-9:
            raise SystemExit(f"{name}: distances differ by {worst} of the size")
        calls: list[Callable[[], Any]] = [
            lambda peer=peer: peer.geodesicDistances(np.array([0])),
            lambda ours=ours: ours.distance(0),
            lambda heat=heat: heat.compute_distance(0),
            lambda ours=ours, several=several: ours.distances(several),
        ]
        exact, own, approximate, many = (1e3 * seconds for seconds in median(calls))
        print(
            f"{name:22} {exact:11.1f} {own:11.1f} {own / exact:7.3f} {approximate:9.2f} {many:10.1f} {many / (8 * exact):7.3f} {worst:11.1e}"
        )


if __name__ == "__main__":
    main()
