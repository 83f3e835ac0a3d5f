"""Ctrl-C ends builds and batches over surfaces, and what comes after works."""

import sys
from pathlib import Path

import pytest
from interrupting import lines_after_interrupt

SETUP = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np, hullfield
from hullfield.navigate.surface import Places, Surface
from test_surface import hills
points, faces = hills(300)
rng = np.random.default_rng(1)
"""
BUILT = SETUP + "surface = Surface(points, faces)\n"
STILL_WORKS = "assert surface.path([0, 0, 0], [3, 3, 0]).is_reached"


@pytest.mark.skipif(sys.platform == "win32", reason="a child can't be sent SIGINT alone")
@pytest.mark.parametrize(
    ("setup", "call", "after"),
    [
        (SETUP + "points, faces = hills(1200)\n", "Surface(points, faces, interval=0.1)", ""),
        (SETUP + "points, faces = hills(700)\n", "Surface(points, faces, landmarks=True)", ""),
        (
            BUILT,
            "surface.paths(rng.random((10**5, 3)) * 299, rng.random((10**5, 3)) * 299, method='exact')",
            STILL_WORKS,
        ),
        (BUILT, "surface.distances(Places.vertices(range(2000)))", STILL_WORKS),
        (BUILT, "surface.field([150, 150, 0]).paths(rng.random((10**7, 3)) * 299)", STILL_WORKS),
        (SETUP + "g = hullfield.geodesic(points, faces)\n", "g.nearest(range(3000))", "assert g.path(0, 9).is_reached"),
    ],
    ids=["refinement", "landmarks", "paths", "distances", "field paths", "geodesic"],
)
def test_ctrl_c_ends_long_work(setup: str, call: str, after: str) -> None:
    assert lines_after_interrupt(setup, call, after) == ["interrupted", "after"]
