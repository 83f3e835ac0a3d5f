"""Robots from URDF and SRDF files: their parts, and the hulls of their shapes. Native code reads the files, and this finds them."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._errors import Error, FileError, InvalidInputError, InvalidTypeError
from hullfield.collide._hull import Hull

StrPath = str | os.PathLike[str]

#: More bytes than a robot may have.
_TOO_MANY_BYTES = 2**24 + 1

#: Most hulls of a robot: queries compare them pair by pair.
_MAX_HULLS = 1024

#: The beginning of a URI: a scheme and two slashes.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


class Joint(NamedTuple):
    """A joint, with its links by their numbers. It is at ``factor`` times the value of a variable plus ``offset``."""

    name: str
    kind: str
    parent: int
    child: int
    position: tuple[float, float, float]
    rotation: tuple[float, float, float, float]
    axis: tuple[float, float, float]
    variable: int | None
    factor: float
    offset: float


class Body(NamedTuple):
    """A hull in a link."""

    link: int
    hull: Hull
    position: tuple[float, float, float]
    rotation: tuple[float, float, float, float]


class Parts(NamedTuple):
    """What a robot is made of."""

    name: str
    links: list[str]
    #: The links by their numbers, parents first.
    order: list[int]
    joints: list[Joint]
    #: The joints that are set, by their numbers.
    variables: list[int]
    #: Their limits, (n, 2).
    limits: npt.NDArray[np.float64]
    bodies: list[Body]


class Options(NamedTuple):
    """How shapes become hulls."""

    packages: dict[str, str]
    by_object: bool
    sides: int


def options_of(packages: Mapping[str, StrPath] | None, mesh_hulls: str, cylinder_sides: int) -> Options:
    """Checked options."""
    folders = {}
    if packages is not None and not isinstance(packages, Mapping):
        raise InvalidTypeError(
            f"packages is of the type {type(packages).__name__}, it must be a mapping of names to folders"
        )
    for name, folder in ({} if packages is None else packages).items():
        if not isinstance(name, str) or not name:
            raise InvalidTypeError(f"packages has the key {name!r}, it must be the name of a package")
        folders[name] = os.path.abspath(path_of(f"packages[{name!r}]", folder))
    return Options(folders, mesh_hulls == "object", cylinder_sides)


def path_of(name: str, value: object) -> str:
    """The text of a path."""
    try:
        path = os.fspath(value)  # type: ignore[call-overload]
    except TypeError:
        path = None
    if not isinstance(path, str):
        raise InvalidTypeError(f"{name} is of the type {type(value).__name__}, it must be a path: str or os.PathLike")
    if not path or "\0" in path:
        raise InvalidInputError(f"{name} is {path!r}, which is no path")
    return path


def read(path: str) -> bytes:
    """The bytes of a file, no more than a robot may have."""
    return _native.read_file(path, _TOO_MANY_BYTES)


def parts_of(name: str, data: bytes, folder: str | None, options: Options) -> Parts:
    """The parts of a robot of the bytes of a URDF file, with its meshes looked for from a folder."""
    robot, links, order, joints, variables, collisions = _native.read_urdf(name, data)
    shapes = _Shapes(name, None if folder is None else os.path.abspath(folder), options)
    bodies: list[Body] = []
    for link, line, (position, rotation), word, numbers, file in collisions:
        where = f"{name}: line {line}: a collision of link {_short(links[link])}: {word}"
        hulls = shapes.hulls(where, word, numbers, file)
        if len(bodies) + len(hulls) > _MAX_HULLS:
            raise InvalidInputError(f"{where}: the robot has more than {_MAX_HULLS} hulls, the most that is read")
        bodies += [Body(link, hull, tuple(position), tuple(rotation)) for hull in hulls]
    return Parts(
        robot,
        links,
        order,
        [_joint(*joint) for joint in joints],
        [joint for joint, _, _ in variables],
        np.array([limits for _, *limits in variables], np.float64).reshape(-1, 2),
        bodies,
    )


def _joint(name: str, kind: str, parent: int, child: int, place: Any, axis: Any, drive: Any) -> Joint:
    variable, factor, offset = (None, 0.0, 0.0) if drive is None else drive
    position, rotation = place
    return Joint(name, kind, parent, child, tuple(position), tuple(rotation), tuple(axis), variable, factor, offset)


def _short(name: str) -> str:
    """A name for a message."""
    text = "".join(c if c.isprintable() else "?" for c in name[:40])
    return text + ("…" if len(name) > 40 else "")


class _Shapes:
    """The hulls of shapes. Each mesh is read once."""

    def __init__(self, name: str, folder: str | None, options: Options) -> None:
        self._name, self._folder, self._options = name, folder, options
        self._points: dict[str, list[npt.NDArray[np.float64]]] = {}
        self._meshes: dict[tuple[str, tuple[float, ...]], list[Hull]] = {}

    def hulls(self, where: str, word: str, numbers: Sequence[float], file: str | None) -> list[Hull]:
        """The hulls of a shape. No point of the shape lies outside of them, but for the rounding to float32."""
        try:
            if file is not None:
                return self._mesh(file, tuple(numbers))
            return [_primitive(word, numbers, self._options.sides)]
        except FileError as error:
            raise FileError(f"{where}: {error}") from None
        except Error as error:
            raise InvalidInputError(f"{where}: {error}") from None

    def _mesh(self, file: str, scale: tuple[float, ...]) -> list[Hull]:
        path = self._find(file)
        found = self._meshes.get((path, scale))
        if found is None:
            with np.errstate(over="ignore"):
                found = [Hull(points * scale) for points in self._read(path)]
            self._meshes[path, scale] = found
        return found

    def _read(self, path: str) -> list[npt.NDArray[np.float64]]:
        if path not in self._points:
            self._points[path], notes = _native.read_mesh_points(path, self._options.by_object)
            for note in notes:
                warnings.warn(note, UserWarning, stacklevel=6)
        return self._points[path]

    def _find(self, file: str) -> str:
        """The path of a mesh. It lies in the folder of the robot's file, or in that of a package."""
        if "\0" in file or not file.strip():
            raise InvalidInputError(f'"{_short(file)}" is no file')
        scheme = _SCHEME.match(file)
        if scheme is None or scheme[1].lower() == "file":
            path, roots = self._beside(file if scheme is None else file[scheme.end() :])
        elif scheme[1].lower() in ("package", "model"):
            path, roots = self._in_package(file[scheme.end() :])
        else:
            raise InvalidInputError(f'"{_short(file)}" is no file: paths, package:// and file:// are read')
        path = os.path.normpath(path)
        if not any(_is_within(path, root) for root in roots):
            raise InvalidInputError(
                f'"{_short(file)}" leads out of the folder of the robot\'s file: give the folder that has it in packages'
            )
        if not os.path.exists(path):
            raise FileError(f'"{_short(file)}": there is no file {path}')
        return path

    def _beside(self, path: str) -> tuple[str, list[str]]:
        """A path from the robot's folder, or an absolute one, and where it may lie."""
        roots = list(self._options.packages.values())
        if self._folder is None:
            if not os.path.isabs(path):
                raise InvalidInputError(f'"{_short(path)}" is a path from the folder of the robot\'s file: give folder')
            return path, roots
        return os.path.join(self._folder, path), [self._folder, *roots]

    def _in_package(self, path: str) -> tuple[str, list[str]]:
        """The path of ``NAME/REST``, and the folder of the package: the one given; one of this name above the robot's file; or beside it."""
        name, _, rest = path.partition("/")
        root = self._options.packages.get(name)
        if root is None and self._folder is not None and name not in ("", ".", ".."):
            root = _package(name, self._folder)
        if root is None:
            raise InvalidInputError(
                f'"{_short("package://" + path)}": the package {_short(name)} is neither in packages nor a folder above or beside the robot\'s file'
            )
        return os.path.join(root, rest.lstrip("/")), [root]


def _package(name: str, folder: str) -> str | None:
    """The folder of this name that is above a folder, or in it."""
    beside, at = os.path.join(folder, name), folder
    while os.path.basename(at) != name:
        above = os.path.dirname(at)
        if above == at:
            return beside if os.path.isdir(beside) else None
        at = above
    return at


def _is_within(path: str, folder: str) -> bool:
    try:
        return os.path.commonpath([path, os.path.normpath(folder)]) == os.path.normpath(folder)
    except ValueError:
        # Other drives of Windows.
        return False


def _primitive(word: str, numbers: Sequence[float], sides: int) -> Hull:
    if word == "box":
        return Hull.cuboid([0.5 * length for length in numbers])
    if word == "sphere":
        return Hull.ball(numbers[0])
    radius, length = numbers
    ends = [0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]
    if word == "capsule":
        return Hull.capsule(*ends, radius)
    # The prism around it: its sides touch the cylinder.
    return Hull.cylinder(*ends, radius / math.cos(math.pi / sides), sides)
