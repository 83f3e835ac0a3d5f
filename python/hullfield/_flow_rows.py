"""What fields and paths over grids are, in rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._arrays import frozen
from hullfield._cells import Cells, cut

UNREACHABLE = 2**32 - 1
"""The distance of obstacles, and of cells from which no goal is reached."""


@dataclass(frozen=True)
class Stats:
    """Statistics and times of a field, or of a call for many fields, paths or agents."""

    reached_count: int
    """Of a field: the cells from which a goal is reached, goals included. Of paths: the starts from which one is."""
    levels: int
    """Of a field: the largest distance divided by the length of a step along an axis, plus 1."""
    rounds: int
    """Of a field: the rounds that the engine took."""
    total_ms: float
    """From the call to its answer, in milliseconds."""
    kernels_ms: float | None
    """What the kernels took by the device's clock; None on the CPU and on devices without timestamps."""
    compile_ms: float
    """What building pipelines took; a part of ``total_ms``."""


@dataclass(frozen=True, eq=False)
class GoalReport:
    """Which of the given goals were used, and which were left out."""

    used_count: int
    """How many different cells are goals."""
    blocked: Cells
    """Goals on obstacles, in the order given, (n, 2) or (n, 3)."""
    outside: Cells
    """Goals outside the grid, in the order given."""


@dataclass(frozen=True, eq=False)
class Path:
    """The path of one agent."""

    cells: Cells
    """Its cells from the start to the goal, (k, 2) or (k, 3); if no goal is reached the start alone."""
    length: int
    """Its length in steps of the connectivity; ``UNREACHABLE`` if no goal is reached. The way out of obstacles counts nothing."""

    @property
    def is_reached(self) -> bool:
        """Whether it leads to a goal."""
        return self.length != UNREACHABLE


class Paths:
    """The paths of many agents, in the order of their starts: ``paths[i]`` is a :class:`Path`."""

    __slots__ = ("_shape", "indices", "lengths", "offsets", "stats")

    offsets: npt.NDArray[np.uint64]
    """The cells of path i are those from ``offsets[i]`` to ``offsets[i + 1]``, (n + 1,)."""
    indices: npt.NDArray[np.uint32]
    """The cells of all paths as row-major indices of the flattened grid, (m,)."""
    lengths: npt.NDArray[np.uint32]
    """The length of each path, (n,), as of a :class:`Path`."""
    stats: Stats

    def __init__(self, offsets: Any, cells: Any, lengths: Any, stats: Stats, shape: tuple[int, ...]) -> None:
        self.offsets, self.indices, self.lengths = frozen(offsets), frozen(cells), frozen(lengths)
        self.stats, self._shape = stats, shape

    def _cells(self, flat: Any) -> Cells:
        return np.stack(np.unravel_index(flat, self._shape)[::-1], axis=1).astype(np.int32)

    @property
    def cells(self) -> Cells:
        """The cells of all paths, (m, 2) or (m, 3)."""
        return self._cells(self.indices)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: int) -> Path:
        row = range(len(self.lengths))[index]
        flat = self.indices[int(self.offsets[row]) : int(self.offsets[row + 1])]
        return Path(self._cells(flat), int(self.lengths[row]))

    def __iter__(self) -> Iterator[Path]:
        return (self[row] for row in range(len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (Paths, (self.offsets, self.indices, self.lengths, self.stats, self._shape))


def goal_report(report: dict[str, Any], dimension: int) -> GoalReport:
    """Of a native report."""
    return GoalReport(report["used_count"], cut(report["blocked"], dimension), cut(report["outside"], dimension))


def paths_of(answer: tuple[Any, ...], shape: tuple[int, ...]) -> Paths:
    offsets, cells, lengths, stats = answer
    return Paths(offsets, cells, lengths, Stats(**stats), shape)
