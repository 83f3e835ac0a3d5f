"""What paths in rooms and over surfaces share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Reach(IntEnum):
    """Whether a goal was reached."""

    REACHED = 0
    """There is a path."""
    UNREACHABLE = 1
    """No path leads from the start to the goal."""
    START_OFF = 2
    """The start is not in the room, or is further from the surface than its ``max_snap``."""
    GOAL_OFF = 3
    """The goal is not in the room, or is further from the surface than its ``max_snap``."""


@dataclass(frozen=True)
class Stats:
    """The statistics of a batch of paths."""

    reached_count: int
    """How many of the queries have a path."""
    total_ms: float
    """From the call to its answer, in milliseconds."""
