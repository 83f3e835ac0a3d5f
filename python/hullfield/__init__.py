"""Who touches whom, which way the goal is, and what the shortest path there is, for crowds of thousands to millions.

===============================  ===================================================================================  ==========
part                             answers                                                                              runs on
===============================  ===================================================================================  ==========
:mod:`hullfield.collide`         Which convex bodies touch? How far apart, how deep, where, and when?                 GPU or CPU
:func:`hullfield.cost_distance`  What does the cheapest way to the nearest target cost, over a raster of friction?    CPU
:mod:`hullfield.flow`            Which way is the goal, from each cell of a grid, or of a raster larger than memory?  GPU or CPU
:func:`hullfield.geodesic`       How far is it over a mesh of triangles, exactly, and along which path?               CPU
:mod:`hullfield.navigate`        What is the shortest path in a room, or over a 3D model?                             CPU
:mod:`hullfield.work`            The same in rows, for batches: labels of grasps, distances, lengths of paths.        as above
:mod:`hullfield.ray`             The same over many processes or machines.                                            as above
===============================  ===================================================================================  ==========

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
