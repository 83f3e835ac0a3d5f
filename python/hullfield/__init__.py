"""Who touches whom, which way the goal is, and what the shortest path there is, for crowds of thousands to millions.

=========================  ====================================================================  ==============
module                     answers                                                               runs on
=========================  ====================================================================  ==============
:mod:`hullfield.collide`   Which convex bodies touch? How far apart, how deep, where, and when?  GPU or CPU
=========================  ====================================================================  ==============

Arrays go in and come out as numpy's. Every exception is a :class:`hullfield.Error`.
"""

from hullfield import collide, flow, navigate
from hullfield._batch import Batch
from hullfield._cost_distance import NO_TARGET, CellPaths, CostDistance, CostDistanceReport, cost_distance
from hullfield._engine import Engine, adapters, get_num_threads, set_num_threads
from hullfield._errors import (
    CancelledError,
    DeviceLostError,
    DistanceOverflowError,
    Error,
    FileError,
    ForkedError,
    InternalError,
    InvalidInputError,
    InvalidTypeError,
    MemoryLimitError,
    NoGoalsError,
    NoGpuError,
    WaitTimeoutError,
)
from hullfield._geodesic import Geodesic, GeodesicPath, Nearest, geodesic
from hullfield._pending import Pending

__all__ = [
    "NO_TARGET",
    "Batch",
    "CancelledError",
    "CellPaths",
    "CostDistance",
    "CostDistanceReport",
    "DeviceLostError",
    "DistanceOverflowError",
    "Engine",
    "Error",
    "FileError",
    "ForkedError",
    "Geodesic",
    "GeodesicPath",
    "InternalError",
    "InvalidInputError",
    "InvalidTypeError",
    "MemoryLimitError",
    "Nearest",
    "NoGoalsError",
    "NoGpuError",
    "Pending",
    "WaitTimeoutError",
    "adapters",
    "collide",
    "cost_distance",
    "flow",
    "geodesic",
    "get_num_threads",
    "navigate",
    "set_num_threads",
]
