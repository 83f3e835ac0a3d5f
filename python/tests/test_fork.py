"""What a child process may do with handles of its parent."""

import subprocess
import sys
import textwrap

import pytest

import hullfield

PROGRAM = """
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import numpy as np, hullfield
from hullfield.flow import Flow, Grid, solve_raster
from hullfield.navigate.room import Room
from hullfield.navigate.surface import Surface

vertices = [[0, 0, 0], [4, 0, 0], [4, 4, 0], [0, 4, 0]]
surface, geodesic = Surface(vertices, [[0, 1, 2, 3]]), hullfield.geodesic(vertices, [[0, 1, 2], [0, 2, 3]])
room = Room([[0, 0], [10, 0], [10, 10], [0, 10]], [[[4, 4], [6, 4], [6, 6], [4, 6]]])
flow = Flow(Grid(np.zeros((40, 40), bool)), engine=hullfield.Engine.{engine}())
field = flow.solve([[0, 0]])

def work():
    ends = np.random.default_rng(1).random((2, 500, 3)) * [4, 4, 0]
    return [
        surface.paths(*ends, method="exact").lengths.sum(),
        geodesic.all_pairs().sum(),
        room.paths(ends[0][:, :2], ends[1][:, :2]).lengths.sum(),
        solve_raster(np.ones((90, 90), np.uint8), [[0, 0]], tile_edge=20)[:, :].sum(),
    ]

def solve():
    return [flow.solve([[0, 0]]).distances().sum(), field.distances().sum(), len(flow.agents([[1, 1]]))]

wanted = work(), solve()
child = os.fork()
if child == 0:
    assert work() == wanted[0]
    try:
        assert solve() == wanted[1]
        answer = 0
    except hullfield.ForkedError:
        answer = 7
    del flow, field
    os._exit(answer)
_, status = os.waitpid(child, 0)
assert (work(), solve()) == wanted
print(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize(("engine", "wanted"), [("cpu", "0"), ("gpu", "7")])
def test_a_child_goes_on_without_a_gpu(engine: str, wanted: str) -> None:
    if engine == "gpu":
        try:
            hullfield.Engine.gpu()
        except hullfield.NoGpuError:
            pytest.skip("there is no adapter")
    program = textwrap.dedent(PROGRAM).replace("{engine}", engine)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout.strip() == wanted, done.stderr
