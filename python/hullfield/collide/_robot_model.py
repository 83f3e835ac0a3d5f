"""Robots: forward kinematics, and their links as bodies."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import ArrayLike, floats, frozen
from hullfield._engine import Engine
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._scalars import choice, sequence, whole
from hullfield.collide import _srdf, _urdf
from hullfield.collide._arena import Arena
from hullfield.collide._columns import BodyColumns
from hullfield.collide._hull import Hull
from hullfield.collide._robot import JointPath
from hullfield.collide._urdf import Joint, Parts, StrPath

Poses = npt.NDArray[np.float64]


class Robot:
    """A robot of a URDF file: links, joints, and the hulls of its shapes of collision. Immutable; it pickles.

    Its links are the owners of its bodies, numbered in the order of the file. Lengths are in metres and angles in radians, as URDF has them.
    Links that never meet, so that queries skip them: those that no joint moves against one another, those on both sides of a joint that moves
    (where such a link has no shape, those that are rigidly joined to it or the next ones that carry it), and what ``exclusions`` and an SRDF
    file name.

    >>> import numpy as np
    >>> from hullfield.collide import Arena, Robot
    >>> robot = Robot.from_urdf_text('''<robot name="fork">
    ...   <link name="base"><collision><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
    ...   <link name="left"><collision><origin xyz="0.5 0 0"/><geometry><capsule radius="0.05" length="0.2"/></geometry></collision></link>
    ...   <link name="right"><collision><origin xyz="0.5 0 0"/><geometry><sphere radius="0.05"/></geometry></collision></link>
    ...   <joint name="turn_left" type="continuous"><parent link="base"/><child link="left"/><axis xyz="0 0 1"/></joint>
    ...   <joint name="turn_right" type="revolute"><parent link="base"/><child link="right"/><axis xyz="0 0 1"/>
    ...     <limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
    ... </robot>''')
    >>> robot.joint_names
    ['turn_left', 'turn_right']
    >>> arena = Arena(robot.hulls)
    >>> poses = robot.forward_kinematics([[0, 0.1], [0, 2]])
    >>> poses.shape
    (2, 3, 4, 4)
    >>> arena.postures(robot.bodies(), poses)["is_free"].tolist()
    [False, True]
    >>> path = robot.joint_path(np.linspace([0, 2], [0, 0.1], 20))
    >>> arena.joint_paths(robot.bodies(), [path])["pair"].tolist()
    [[1, 2]]
    """

    __slots__ = ("_given", "_motions", "_never", "_parts", "_reach")

    _parts: Parts
    #: The pairs of links that were given as never meeting, and all that never meet.
    _given: list[tuple[int, int]]
    _never: npt.NDArray[np.uint32]
    #: What places each link; None for the base.
    _motions: list[_Motion | None]
    #: The greatest distance of a point of each link from its origin.
    _reach: npt.NDArray[np.float64]

    def __init__(self) -> None:
        raise InvalidTypeError("a Robot is made by Robot.from_urdf or Robot.from_urdf_text")

    @classmethod
    def from_urdf(
        cls,
        path: StrPath,
        *,
        packages: Mapping[str, StrPath] | None = None,
        srdf: StrPath | None = None,
        exclusions: Iterable[tuple[str, str]] = (),
        mesh_hulls: str = "file",
        cylinder_sides: int = 32,
    ) -> Robot:
        """Reads a URDF file.

        Fixed, revolute, continuous and prismatic joints are read, and what mimics them. Boxes, spheres and capsules become hulls exactly. A
        cylinder becomes the prism of ``cylinder_sides`` around it, which sticks out by ``radius (1 / cos(π / sides) − 1)`` at most: 0.5 % of the
        radius for 32. A mesh becomes its convex hull. Only collision shapes count.

        Args:
            path: the file.
            packages: the folder of each package that ``package://NAME/…`` names. A package that is missing is the folder of its name above or beside
                the file. Meshes lie in the folder of the file, or in that of a package: other paths are an error.
            srdf: an SRDF file that says which links are not tested against one another (``disable_collisions``). Names that the robot does not
                have are a warning.
            exclusions: pairs of names of links that never meet.
            mesh_hulls: ``"file"``: a mesh becomes one hull. ``"object"``: each named object of its file becomes one, as in files of convex
                decompositions.
            cylinder_sides: 3 to 65,536.

        Raises:
            FileError: a file that is not there, or can't be read; of a mesh with the line that names it.
            InvalidInputError: what is wrong with a file, with its line: links that are no tree, floating and planar joints, a joint without limits that
                needs some, numbers that are not finite, more than 1,024 hulls.
        """
        file = _urdf.path_of("path", path)
        folder = os.path.dirname(file) or os.curdir
        options = (packages, srdf, exclusions, mesh_hulls, cylinder_sides)
        return cls._read(file, _urdf.read(file), folder, *options)

    @classmethod
    def from_urdf_text(
        cls,
        text: str | bytes,
        *,
        folder: StrPath | None = None,
        packages: Mapping[str, StrPath] | None = None,
        srdf: StrPath | None = None,
        exclusions: Iterable[tuple[str, str]] = (),
        mesh_hulls: str = "file",
        cylinder_sides: int = 32,
    ) -> Robot:
        """Takes the text of a URDF file, as xacro prints it.

        Args:
            text: the text.
            folder: where meshes are looked for, as in the folder of a file.
            packages: as for :meth:`from_urdf`, and so are the others.
            srdf: a file.
            exclusions: pairs of names of links.
            mesh_hulls: ``"file"`` or ``"object"``.
            cylinder_sides: 3 to 65,536.

        Raises:
            FileError, InvalidInputError: as :meth:`from_urdf`.
        """
        if not isinstance(text, (str, bytes)):
            raise InvalidTypeError(f"text is of the type {type(text).__name__}, it must be str or bytes")
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        beside = None if folder is None else _urdf.path_of("folder", folder)
        return cls._read("URDF", data, beside, packages, srdf, exclusions, mesh_hulls, cylinder_sides)

    @classmethod
    def _read(
        cls,
        name: str,
        data: bytes,
        folder: str | None,
        packages: Mapping[str, StrPath] | None,
        srdf: StrPath | None,
        exclusions: Iterable[tuple[str, str]],
        mesh_hulls: str,
        cylinder_sides: int,
    ) -> Robot:
        choice("mesh_hulls", mesh_hulls, ("file", "object"))
        sides = whole("cylinder_sides", cylinder_sides)
        if not 3 <= sides <= 65_536:
            raise InvalidInputError(f"cylinder_sides is {sides}, it must be from 3 to 65,536")
        options = _urdf.options_of(packages, mesh_hulls, sides)
        parts = _urdf.parts_of(name, data, folder, options)
        pairs = _pairs_of(parts.links, exclusions)
        if srdf is not None:
            shaped = sorted({body.link for body in parts.bodies})
            pairs += _srdf.pairs_of(_urdf.path_of("srdf", srdf), parts.links, shaped)
        return _robot(parts, pairs)

    @property
    def name(self) -> str:
        """The robot's name."""
        return self._parts.name

    @property
    def link_names(self) -> list[str]:
        """The links, in the order of the file."""
        return list(self._parts.links)

    @property
    def base_link(self) -> str:
        """The link that no joint carries. Its pose is the identity."""
        return self._parts.links[self._parts.order[0]]

    @property
    def joint_names(self) -> list[str]:
        """The joints whose values are given, in the order of the file: those that move, without those that mimic another."""
        return [self._parts.joints[joint].name for joint in self._parts.variables]

    @property
    def limits(self) -> npt.NDArray[np.float64]:
        """The least and the greatest value of each joint of :attr:`joint_names`, (joints, 2); infinite for continuous ones. Nothing enforces them."""
        return frozen(self._parts.limits)

    @property
    def hulls(self) -> list[Hull]:
        """The hulls of the shapes of collision, for an arena: those of the links in the order of the file."""
        return [body.hull for body in self._parts.bodies]

    @property
    def exclusions(self) -> list[tuple[str, str]]:
        """The pairs of links that never meet, of those that have shapes."""
        return [(self._parts.links[a], self._parts.links[b]) for a, b in self._never.tolist()]

    def bodies(
        self,
        first_hull: int = 0,
        *,
        groups: ArrayLike | None = None,
        masks: ArrayLike | None = None,
        static_exclusions: ArrayLike | None = None,
    ) -> BodyColumns:
        """The robot's bodies, each placed in its link: for :meth:`Arena.postures` and :meth:`Arena.joint_paths`. Poses are those of all links.

        Args:
            first_hull: the number that the first of :attr:`hulls` has in the arena.
            groups: as for :class:`BodyColumns`.
            masks: as for :class:`BodyColumns`.
            static_exclusions: pairs of a link, by its number in :attr:`link_names`, and a static of the arena that are not tested, (m, 2).

        Raises:
            InvalidInputError: no link has a shape.
        """
        bodies = self._parts.bodies
        if not bodies:
            raise InvalidInputError(f"no link of the robot {self.name!r} has a shape of collision")
        first = whole("first_hull", first_hull)
        columns = BodyColumns(
            np.arange(first, first + len(bodies)),
            np.array([body.position for body in bodies]),
            np.array([body.rotation for body in bodies]),
            groups=groups,
            masks=masks,
            owners=[body.link for body in bodies],
            exclusions=self._never if len(self._never) else None,
            static_exclusions=static_exclusions,
        )
        columns._link_count = len(self._parts.links)
        return columns

    def forward_kinematics(self, values: ArrayLike | Mapping[str, ArrayLike]) -> Poses:
        """Where the links are: their poses as matrices, in the frame of the base, in float64.

        Args:
            values: of the joints of :attr:`joint_names`, (joints,), or (n, joints) for many configurations at once: radians, or metres of joints that
                slide. Or each joint's by its name, numbers or (n,). Limits are not enforced.

        Returns:
            The pose of each link of :attr:`link_names`, (links, 4, 4) or (n, links, 4, 4). A point ``p`` of the link is at ``pose[:3, :3] @ p + pose[:3, 3]``.
            ``base @ poses`` are those of a robot whose base is elsewhere.
        """
        rows, is_one = self._rows(values)
        poses = self._poses(rows)
        return poses[0] if is_one else poses

    def joint_path(self, values: ArrayLike | Mapping[str, ArrayLike]) -> JointPath:
        """The path through configurations, for :meth:`Arena.joint_paths`: all joints move at constant rates from each to the next.

        Its deviations bound how far that motion is from the one between the links' poses. They fall with the square of the step, so
        configurations closer together decide more.

        Args:
            values: at least two configurations, (samples, joints), or each joint's by its name.
        """
        rows, is_one = self._rows(values)
        if is_one or len(rows) < 2:
            raise InvalidInputError("values has one configuration, a path needs at least two: (samples, joints)")
        return JointPath(self._poses(rows), deviations=self._deviations(rows))

    def touching_links(self, values: ArrayLike | Mapping[str, ArrayLike] | None = None) -> list[tuple[str, str]]:
        """The pairs of links that touch or overlap in one configuration, without those that never meet.

        ``robot.with_exclusions(robot.touching_links())`` leaves out what overlaps by design.

        Args:
            values: of the joints, (joints,); by default each is at 0, or at the limit that is next to it.
        """
        if values is None:
            values = np.clip(0.0, *self._parts.limits.T)
        rows, is_one = self._rows(values)
        if not is_one:
            raise InvalidInputError("values has many configurations, it must be one: (joints,)")
        if not self._parts.bodies:
            return []
        links = np.array([body.link for body in self._parts.bodies])
        placed = BodyColumns.from_matrices(
            np.arange(len(links)),
            self._poses(rows)[0, links] @ self.bodies().to_matrices(),
            orthonormalize=True,
            owners=links,
            exclusions=self._never if len(self._never) else None,
        )
        found = Arena(self.hulls, engine=Engine.cpu()).intersections(placed)
        pairs = np.sort(links[np.stack([found["a"], found["b"]], axis=1).reshape(-1, 2)], axis=1)
        return [(self._parts.links[a], self._parts.links[b]) for a, b in np.unique(pairs, axis=0).tolist()]

    def with_exclusions(self, pairs: Iterable[tuple[str, str]]) -> Robot:
        """The same robot, with more pairs of names of links that never meet."""
        return _robot(self._parts, self._given + _pairs_of(self._parts.links, pairs))

    def _rows(self, values: ArrayLike | Mapping[str, ArrayLike]) -> tuple[npt.NDArray[np.float64], bool]:
        """Checked values, (n, joints), and whether one configuration was given."""
        names = self.joint_names
        array = _by_name(values, names) if isinstance(values, Mapping) else values
        rows = floats("values", array, None, np.float64, any_shape=True)
        if rows.ndim not in (1, 2) or rows.shape[-1] != len(names):
            raise InvalidInputError(
                f"values has the shape {rows.shape}, it must be ({len(names)},) or (n, {len(names)}): a number for each joint"
            )
        is_one = rows.ndim == 1
        rows = rows.reshape(-1, len(names)) if len(names) else np.zeros((1 if is_one else len(rows), 0))
        wrong = ~np.isfinite(rows)
        if wrong.any():
            row, joint = (int(at) for at in np.argwhere(wrong)[0])
            of_row = "" if is_one else f"[{row}]"
            raise InvalidInputError(
                f"values{of_row} of joint {names[joint]!r} is {rows[row, joint]}, it must be finite"
            )
        return rows, is_one

    def _poses(self, rows: npt.NDArray[np.float64]) -> Poses:
        poses = np.zeros((len(rows), len(self._parts.links), 4, 4))
        poses[..., 3, 3] = 1
        poses[:, self._parts.order[0], :3, :3] = np.eye(3)
        for link in self._parts.order[1:]:
            motion = self._motions[link]
            assert motion is not None
            carrier = poses[:, motion.joint.parent]
            turn, shift = motion.at(rows)
            poses[:, link, :3, :3] = carrier[:, :3, :3] @ turn
            poses[:, link, :3, 3] = carrier[:, :3, 3] + (carrier[:, :3, :3] @ shift[..., None])[..., 0]
        return poses

    def _deviations(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """How far each link may be from the motion between samples, (samples - 1, links)."""
        found = np.zeros((len(rows) - 1, len(self._parts.links)))
        for link in sorted({body.link for body in self._parts.bodies}):
            changes, reaches = [], []
            # From the link to the base. No point of the link is farther from a joint's axis than all that lies between is long.
            reach, at = np.full(len(rows) - 1, self._reach[link]), self._motions[link]
            while at is not None:
                joint = at.joint
                if joint.variable is not None:
                    value = at.value(rows)
                    changes.append(np.diff(value))
                    slides = joint.kind == "prismatic"
                    reaches.append(np.full(len(rows) - 1, np.nan) if slides else reach)
                    if slides:
                        reach = reach + np.maximum(np.abs(value[:-1]), np.abs(value[1:]))
                reach = reach + np.linalg.norm(joint.position)
                at = self._motions[joint.parent]
            if changes:
                steps, arms = (np.ascontiguousarray(np.stack(part[::-1], axis=1)) for part in (changes, reaches))
                found[:, link] = _native.joint_deviations(steps, arms, float(self._reach[link]))
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return (_robot, (self._parts, self._given))

    def __repr__(self) -> str:
        links, joints = len(self._parts.links), len(self._parts.variables)
        return f"<hullfield.collide.Robot: {self.name!r}, {links} links, {joints} joints that are set>"


class _Motion:
    """How a joint places its link in the link that carries it."""

    __slots__ = ("_along", "_parts", "joint")

    def __init__(self, joint: Joint) -> None:
        self.joint = joint
        turn = _matrix(joint.rotation)
        x, y, z = joint.axis
        cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        self._along = turn @ np.array(joint.axis)
        # Rodrigues: 1 + sin · K + (1 - cos) · K².
        self._parts = (turn, turn @ cross, turn @ cross @ cross)

    def value(self, rows: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The value of the joint in each configuration."""
        assert self.joint.variable is not None
        return self.joint.factor * rows[:, self.joint.variable] + self.joint.offset

    def at(self, rows: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Rotations, (3, 3) or (n, 3, 3), and positions, (3,) or (n, 3)."""
        turn, sine, rest = self._parts
        position = np.array(self.joint.position)
        if self.joint.variable is None:
            return turn, position
        value = self.value(rows)
        if self.joint.kind == "prismatic":
            return turn, position + value[:, None] * self._along
        # 1 - cos, without cancellation.
        bend = 2 * np.sin(0.5 * value) ** 2
        return turn + np.sin(value)[:, None, None] * sine + bend[:, None, None] * rest, position


def _matrix(quaternion: tuple[float, float, float, float]) -> npt.NDArray[np.float64]:
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def _robot(parts: Parts, given: list[tuple[int, int]]) -> Robot:
    """A robot of its parts, and of pairs of links that never meet."""
    robot = Robot.__new__(Robot)
    robot._parts, robot._given = parts, given
    robot._motions = [None] * len(parts.links)
    for joint in parts.joints:
        robot._motions[joint.child] = _Motion(joint)
    robot._reach = np.zeros(len(parts.links))
    for body in parts.bodies:
        far = np.linalg.norm(body.hull.mean) + body.hull.radius + body.hull.rounding
        robot._reach[body.link] = max(robot._reach[body.link], np.linalg.norm(body.position) + far)
    robot._never = _never(parts, given)
    return robot


def _never(parts: Parts, given: list[tuple[int, int]]) -> npt.NDArray[np.uint32]:
    """The pairs of links that never meet, sorted, of those that have shapes."""
    count = len(parts.links)
    is_shaped = np.zeros(count, np.bool_)
    is_shaped[[body.link for body in parts.bodies]] = True
    above: list[Joint | None] = [None] * count
    for joint in parts.joints:
        above[joint.child] = joint
    # The first link of the rigid part of each link, and the links of each part that have shapes.
    first = list(range(count))
    shaped: list[list[int]] = [[] for _ in range(count)]
    for link in parts.order:
        joint_above = above[link]
        if joint_above is not None and joint_above.kind == "fixed":
            first[link] = first[joint_above.parent]
        if is_shaped[link]:
            shaped[first[link]].append(link)
    pairs = [_products(part, part) for part in shaped if len(part) > 1]
    # What a link without a shape stands for: its part, or else what carries that.
    stands: list[list[int]] = [[]] * count
    for link in parts.order:
        joint_above = above[link]
        if first[link] != link or joint_above is None:
            stands[link] = shaped[link]
            continue
        carrier = joint_above.parent
        carriers = [carrier] if is_shaped[carrier] else stands[first[carrier]]
        stands[link] = shaped[link] or carriers
        carried = [link] if is_shaped[link] else shaped[link]
        if carried and carriers:
            pairs.append(_products(carriers, carried))
    if given:
        named = np.array(given, np.int64)
        pairs.append(named[is_shaped[named].all(axis=1)])
    if not pairs:
        return np.zeros((0, 2), np.uint32)
    ends = np.sort(np.concatenate(pairs), axis=1)
    keys = np.unique(ends[:, 0] * count + ends[:, 1])
    found = np.stack(np.divmod(keys, count), axis=1)
    return np.ascontiguousarray(found[found[:, 0] != found[:, 1]], dtype=np.uint32)


def _products(a: list[int], b: list[int]) -> npt.NDArray[np.int64]:
    """All pairs of a link of ``a`` and one of ``b``."""
    return np.stack(np.meshgrid(np.array(a, np.int64), np.array(b, np.int64)), axis=-1).reshape(-1, 2)


def _pairs_of(names: list[str], pairs: Iterable[tuple[str, str]]) -> list[tuple[int, int]]:
    """The numbers of pairs of names of links."""
    number = {name: row for row, name in enumerate(names)}
    found = []
    for row, pair in enumerate(sequence("exclusions", pairs)):
        ends = sequence(f"exclusions[{row}]", pair, "it must be two names of links")
        if len(ends) != 2 or ends[0] == ends[1]:
            raise InvalidInputError(f"exclusions[{row}] is {pair!r}, it must be two names of links")
        for name in ends:
            if not isinstance(name, str) or name not in number:
                raise InvalidInputError(f"exclusions[{row}] has {name!r}, which is no link of the robot")
        found.append((number[ends[0]], number[ends[1]]))
    return found


def _by_name(values: Mapping[str, ArrayLike], names: list[str]) -> Any:
    """Values of joints by their names, as columns."""
    missing = [name for name in names if name not in values]
    if missing:
        raise InvalidInputError(f"values has no number for the joint {missing[0]!r}")
    unknown = [name for name in values if name not in names]
    if unknown:
        raise InvalidInputError(f"values has {unknown[0]!r}, which is no joint that is set")
    columns = [floats(f"values[{name!r}]", values[name], None, np.float64, any_shape=True) for name in names]
    if any(column.ndim > 1 for column in columns):
        raise InvalidInputError("values of a joint must be a number, or (n,)")
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1) if columns else np.zeros(0)
    except ValueError:
        lengths = ", ".join(f"{name!r}: {column.shape}" for name, column in zip(names, columns, strict=True))
        raise InvalidInputError(f"values have other lengths: {lengths}") from None
