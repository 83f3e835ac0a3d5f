"""Who touches whom, which way the goal is, and what the shortest path there is, for crowds of thousands to millions.

- :mod:`hullfield.collide`: which convex bodies touch? How far apart, how deep, where, and when? On a GPU or the CPU.
- :func:`hullfield.cost_distance`: what does the cheapest way to the nearest target cost, over a raster of friction? On the CPU.
- :mod:`hullfield.flow`: which way is the goal, from each cell of a grid, or of a raster larger than memory? On a GPU or the CPU.
- :func:`hullfield.geodesic`: how far is it over a mesh of triangles, exactly, and along which path? On the CPU.
- :mod:`hullfield.navigate`: what is the shortest path in a room, or over a 3D model? On the CPU.
- :mod:`hullfield.work`: the same in rows, for batches: labels of grasps, distances, lengths of paths.
- :mod:`hullfield.ray`: the same over many processes or machines.

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
from hullfield._native import VERSION as __version__
from hullfield._pending import Pending

#: How docstrings are written: pdoc reads it.
__docformat__ = "google"

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
    "__version__",
    "adapters",
    "collide",
    "cost_distance",
    "flow",
    "geodesic",
    "get_num_threads",
    "navigate",
    "set_num_threads",
]
