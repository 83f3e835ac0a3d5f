"""What rows hold: enums, statistics, and small answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._batch import Batch

NONE = 0xFFFF_FFFF
"""Stands in a row for a number that is missing: no body is hit, no face, and so on."""


class Status(IntEnum):
    """What two bodies do. Touching is within ¾ of the tolerance τ on either side of zero."""

    SEPARATED = 0
    TOUCHING = 1
    PENETRATING = 2


class SweepOutcome(IntEnum):
    """Whether two bodies meet during a sweep: after the start, not at all, or at the start already."""

    HIT = 0
    MISS = 1
    TOUCHING = 2


class PathOutcome(IntEnum):
    """What is known of a robot's path: it is proved free; a pair meets; or a pair comes so near that it is left open."""

    FREE = 0
    HIT = 1
    UNDECIDED = 2


class Phase(IntEnum):
    """What happened to a touching pair of a set: it touches now and did not before, it still does, or it no longer does."""

    BEGIN = 0
    STAY = 1
    END = 2


class Degeneracy(IntEnum):
    """Why a separation has a kink: other points are as near or as deep, or another direction is as good."""

    POINTS = 0
    NORMAL = 1


class FeatureKind(IntEnum):
    """What a point of a manifold comes from on one of the bodies."""

    VERTEX = 0
    EDGE = 1
    FACE = 2


@dataclass(frozen=True)
class Stats:
    """What a query did, and how long its parts took.

    ``candidate_count`` pairs were examined or skipped, ``skipped_count`` of them skipped by a warm start; ``hit_count`` touch or overlap;
    ``refined_count`` were near the surface; ``settled_count`` were decided in f64; ``rerun_count`` is how often the GPU ran again with
    larger buffers. Times are in milliseconds.
    """

    candidate_count: int
    skipped_count: int
    hit_count: int
    refined_count: int
    settled_count: int
    rerun_count: int
    upload_ms: float
    compile_ms: float
    kernels_ms: float
    readback_ms: float
    settle_ms: float
    total_ms: float


@dataclass(frozen=True)
class Estimate:
    """The memory that a query takes on the device, in bytes; all 0 on the CPU."""

    hull_bytes: int
    body_bytes: int
    candidate_bytes: int
    staging_bytes: int

    @property
    def device_bytes(self) -> int:
        """All device memory except staging."""
        return self.hull_bytes + self.body_bytes + self.candidate_bytes


@dataclass(frozen=True)
class Prepared:
    """How many pipelines queries need, and in how many milliseconds they were built; 0 on the CPU."""

    pipeline_count: int
    compile_ms: float


@dataclass(frozen=True, eq=False)
class TraceStep:
    """One simplex of GJK: its one to four points, (n, 3), the newest last, and its point nearest to the origin, (3,)."""

    simplex: npt.NDArray[np.float64]
    closest: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Trace:
    """The steps of GJK for one pair, in f64: points of the Minkowski difference, in world units along the world's axes.

    ``axis`` is a unit vector that separates a separated pair, else None.
    """

    steps: list[TraceStep]
    status: Status
    axis: npt.NDArray[np.float32] | None


def batch(answer: tuple[npt.NDArray[Any], dict[str, Any]]) -> Batch[Stats]:
    """The batch of a native answer."""
    rows, stats = answer
    return Batch(rows, Stats(**stats))
