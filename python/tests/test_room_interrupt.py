"""Ctrl-C ends batches over rooms, and edits that wait for them."""

import sys
from pathlib import Path

import pytest
from interrupting import lines_after_interrupt

SETUP = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
from test_room import PILLAR, SQUARE, pillars
from hullfield.navigate.room import Room
room = Room(SQUARE, pillars(24))
starts = np.tile(room.random_points(10**6, rng=1)["position"], (20, 1))
goals = starts[::-1]
"""
STILL_WORKS = "assert room.path([0.01, 0.01], [9.9, 9.9]).is_reached"


@pytest.mark.skipif(sys.platform == "win32", reason="a child can't be sent SIGINT alone")
@pytest.mark.parametrize(
    ("setup", "call"),
    [
        (SETUP, "room.paths(starts, goals)"),
        (SETUP + "pending = room.paths.start(starts, goals)\n", "room.put_obstacle(PILLAR)"),
    ],
    ids=["paths", "an edit that waits"],
)
def test_ctrl_c_ends_long_work(setup: str, call: str) -> None:
    assert lines_after_interrupt(setup, call, STILL_WORKS) == ["interrupted", "after"]
