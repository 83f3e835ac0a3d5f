"""Paths and postures of robots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, floats
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._scalars import flag, real
from hullfield.collide._columns import BodyColumns
from hullfield.collide._matrices import rigid
from hullfield.collide._numbers import all_of


def posed_links(links: BodyColumns) -> tuple[int, int] | None:
    """How many links the robot of some bodies has, and how many of them queries take: those after the last with a body are no matter."""
    if links._link_count is None:
        return None
    return links._link_count, int(links.arrays()["owners"].max()) + 1


def _of_robot(name: str, shape: tuple[int, ...], count: int) -> None:
    if shape[1] != count:
        raise InvalidInputError(f"{name} has the shape {shape}: the robot has {count} links, not {shape[1]}")


def link_poses(
    positions: ArrayLike, rotations: ArrayLike | None, orthonormalize: bool = False
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """Checked positions, (n, links, 3), and rotations, (n, links, 4); or those of matrices, (n, links, 4, 4) or (links, 4, 4)."""
    places = floats("positions", positions, None, np.float64, any_shape=True)
    if places.ndim == 3 and places.shape[1:] == (4, 4):
        places = places[None]
    wants_rotations = flag("orthonormalize", orthonormalize)
    if places.ndim == 4 and places.shape[2:] == (4, 4):
        if rotations is not None:
            raise InvalidInputError("rotations is given, but the matrices say it")
        return rigid("positions", places, wants_rotations)
    if places.ndim != 3 or places.shape[2] != 3:
        raise InvalidInputError(f"positions has the shape {places.shape}, it must be (n, links, 3)")
    if rotations is None:
        return places, None
    turns = floats("rotations", rotations, None, np.float64, any_shape=True)
    if turns.shape != (*places.shape[:2], 4):
        raise InvalidInputError(f"rotations has the shape {turns.shape}, it must be {(*places.shape[:2], 4)}")
    return places, turns


def poses_of_links(
    links: BodyColumns, positions: ArrayLike, rotations: ArrayLike | None, orthonormalize: bool
) -> tuple[int, npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """How many postures there are, and the poses of their links, (n, 3) and (n, 4): of a robot those that its bodies need."""
    places, turns = link_poses(positions, rotations, orthonormalize)
    robot = posed_links(links)
    if robot is not None:
        _of_robot("positions", places.shape, robot[0])
        places, turns = _first(places, robot[1]), None if turns is None else _first(turns, robot[1])
    return len(places), places.reshape(-1, 3), None if turns is None else turns.reshape(-1, 4)


def _first(array: npt.NDArray[np.float64], count: int) -> npt.NDArray[np.float64]:
    return np.ascontiguousarray(array[:, :count])


class JointPath:
    """A path of a robot: the poses of its links at two samples or more. Immutable; it pickles.

    Between two samples each link moves alone: its origin along a straight line at a constant velocity, its rotation about a fixed axis at a
    constant rate, the shorter way around. A step must turn each link by less than half a turn.

    Args:
        positions: world positions of the links' origins, (samples, links, 3), in world units, float64. Or their poses as matrices,
            (samples, links, 4, 4), without rotations.
        rotations: unit quaternions ``x, y, z, w``, (samples, links, 4); not turned by default.
        deviations: how far a point of a link may be from where the motion between samples has it, at most, (samples - 1, links), in world
            units, ≥ 0; 0 by default. :func:`joint_deviation` computes it for joints that turn or slide at constant rates.
        orthonormalize: whether matrices that scale or shear by more than 1e-5 are taken as the nearest rotations; else they are an error.
    """

    __slots__ = ("_arrays",)

    def __init__(
        self,
        positions: ArrayLike,
        rotations: ArrayLike | None = None,
        *,
        deviations: ArrayLike | None = None,
        orthonormalize: bool = False,
    ) -> None:
        places, turns = link_poses(positions, rotations, orthonormalize)
        bounds = None
        if deviations is not None:
            bounds = floats("deviations", deviations, None, np.float64, any_shape=True)
            expected = (max(places.shape[0] - 1, 0), places.shape[1])
            if bounds.shape != expected:
                raise InvalidInputError(f"deviations has the shape {bounds.shape}, it must be {expected}")
            bounds = bounds.copy()
        self._arrays = (places.copy(), None if turns is None else turns.copy(), bounds)

    def _native(self, row: int, robot: tuple[int, int] | None) -> tuple[Any, ...]:
        places, turns, bounds = self._arrays
        if robot is not None:
            _of_robot(f"paths[{row}]", places.shape, robot[0])
            places = _first(places, robot[1])
            turns, bounds = (None if part is None else _first(part, robot[1]) for part in (turns, bounds))
        flat = None if bounds is None else bounds.reshape(-1)
        return (len(places), places.reshape(-1, 3), None if turns is None else turns.reshape(-1, 4), flat)

    def __len__(self) -> int:
        return len(self._arrays[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return (_path, self._arrays)

    def __repr__(self) -> str:
        samples, links, _ = self._arrays[0].shape
        return f"<hullfield.collide.JointPath: {samples} samples of {links} links>"


def _path(places: Any, turns: Any, bounds: Any) -> JointPath:
    return JointPath(places, turns, deviations=bounds)


@dataclass(frozen=True)
class Revolute:
    """A joint that turns about its axis in a step.

    Args:
        angle: by this many radians, of either sign.
        reach: the greatest distance of a point of the link in question from the joint's axis during the step, in world units; an upper bound
            will do.
    """

    angle: float
    reach: float


@dataclass(frozen=True)
class Prismatic:
    """A joint that slides along its axis in a step.

    Args:
        length: by this many world units, of either sign.
    """

    length: float


def joint_deviation(joints: Sequence[Revolute | Prismatic], reach: float) -> float:
    """How far a point of a link may be from where the motion between two samples has it, at most: for :class:`JointPath` ``deviations``.

    All joints before the link turn or slide at constant rates in the step. The bound falls with the square of the step.

    Args:
        joints: those from the base to the link, in their order.
        reach: the greatest distance of a point of the link from the link's origin, in world units.
    """
    steps: list[tuple[float, float | None]] = []
    for row, joint in enumerate(all_of("joints", joints, object)):
        if isinstance(joint, Revolute):
            steps.append((real("angle", joint.angle), real("reach", joint.reach)))
        elif isinstance(joint, Prismatic):
            steps.append((real("length", joint.length), None))
        else:
            kind = type(joint).__name__
            raise InvalidTypeError(f"joints[{row}] is of the type {kind}, it must be Revolute or Prismatic")
    return _native.joint_deviation(steps, real("reach", reach))
