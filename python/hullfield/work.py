"""Work that comes in rows: objects that hold what is made once, and are called with a dict of arrays.

Each gives a row for each row, and a row depends on its own numbers only. So rows may be cut into batches at will: in a loop, by
``multiprocessing``, by :func:`hullfield.ray.run`, by Ray Data. All objects pickle; what they hold is made anew where they are loaded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._arrays import array_of, floats, indices
from hullfield._engine import Engine
from hullfield._errors import InvalidInputError, InvalidTypeError
from hullfield._geodesic import Geodesic, geodesic
from hullfield._scalars import choice, flag
from hullfield.collide import Arena, BodyColumns, Hull
from hullfield.collide._numbers import all_of
from hullfield.navigate.room import Room

__all__ = ["CollisionLabels", "GeodesicDistances", "RoomPaths"]

Columns = dict[str, npt.NDArray[Any]]

#: Poses of one query: the bodies of as many are laid out at once.
_POSES = 4096


def _column(batch: Columns, name: str) -> npt.NDArray[Any]:
    if not isinstance(batch, Mapping):
        raise InvalidTypeError(f"the batch is of the type {type(batch).__name__}, it must be a dict of arrays")
    if name not in batch:
        raise InvalidInputError(f"the batch has no column {name}, it has {', '.join(sorted(batch)) or 'none'}")
    return array_of(name, batch[name])


class CollisionLabels:
    """Whether a gripper at many poses touches objects: labels for learning to grasp.

    Args:
        gripper: the hulls of the gripper, in its own frame.
        objects: the hulls of each object, in the object's frame. A concave object is several hulls.
        backend: ``"auto"``, ``"gpu"`` or ``"cpu"``; the engine is opened by whoever makes the first call.
        orthonormalize: whether poses that shear are taken as the nearest ones that do not; else they are an error.

    Called with ``object``, the number of an object, (n,), and ``pose``, the gripper's frame in the object's, (n, 4, 4). Gives ``collides``, (n,), bool.
    Verdicts are those of :meth:`hullfield.collide.Arena.hits`.
    """

    def __init__(
        self,
        gripper: Sequence[Hull],
        objects: Sequence[Sequence[Hull]],
        *,
        backend: str = "auto",
        orthonormalize: bool = False,
    ) -> None:
        self._gripper = all_of("gripper", gripper, Hull)
        if not self._gripper:
            raise InvalidInputError("the gripper has no hulls")
        given: list[object] = all_of("objects", objects, object)
        self._objects = [all_of(f"objects[{row}]", parts, Hull) for row, parts in enumerate(given)]
        self._backend = choice("backend", backend, ("auto", "gpu", "cpu"))
        self._orthonormalize = flag("orthonormalize", orthonormalize)
        self._base: Arena | None = None
        self._first: list[int] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_base": None}

    def _arena(self) -> Arena:
        """All hulls: those of the gripper, then those of the objects."""
        if self._base is None:
            counts = [len(self._gripper), *(len(parts) for parts in self._objects)]
            self._first = np.cumsum(counts).tolist()
            hulls = [*self._gripper, *(hull for parts in self._objects for hull in parts)]
            self._base = Arena(hulls, engine=Engine(self._backend))
        return self._base

    def __call__(self, batch: Columns) -> Columns:
        poses = floats("pose", _column(batch, "pose"), dtype=np.float64, any_shape=True)
        if poses.ndim != 3 or poses.shape[1:] != (4, 4):
            raise InvalidInputError(f"pose has the shape {poses.shape}, it must be (n, 4, 4)")
        objects = indices("object", _column(batch, "object"), count=len(poses))
        if objects.size and objects.max() >= len(self._objects):
            row = int(np.argmax(objects >= len(self._objects)))
            raise InvalidInputError(f"row {row}: object {objects[row]} does not exist, there are {len(self._objects)}")
        collides = np.zeros(len(poses), dtype=np.bool_)
        order = np.argsort(objects, kind="stable")
        ends = np.flatnonzero(np.diff(objects[order])) + 1
        for rows in np.split(order, ends):
            if len(rows) and self._objects[objects[rows[0]]]:
                for start in range(0, len(rows), _POSES):
                    part = rows[start : start + _POSES]
                    collides[part] = self._hits(int(objects[part[0]]), poses[part])
        return {"collides": collides}

    def _hits(self, number: int, poses: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Each pose is a world of its own, in which the gripper's hulls are one body; every world meets the object, which does not move."""
        base = self._arena()
        first = self._first[number]
        arena = base.with_options(statics=BodyColumns(np.arange(first, first + len(self._objects[number]))))
        count, hulls = len(poses), len(self._gripper)
        worlds = np.repeat(np.arange(count), hulls)
        bodies = BodyColumns.from_matrices(
            np.tile(np.arange(hulls), count),
            np.repeat(poses, hulls, axis=0),
            orthonormalize=self._orthonormalize,
            worlds=worlds,
            owners=worlds,
        )
        hits = arena.hits(bodies).rows
        of_poses: npt.NDArray[np.bool_] = hits[: count * hulls].reshape(count, hulls)
        collides: npt.NDArray[np.bool_] = np.any(of_poses, axis=1)
        return collides


class GeodesicDistances:
    """Exact geodesic distances between vertices of many meshes.

    Args:
        meshes: what :func:`hullfield.geodesic` takes: pairs of vertices and faces, or objects of trimesh or pyvista.

    Called with ``mesh``, ``source`` and ``target``, numbers of a mesh and of two of its vertices, each (n,). Gives ``distance``, (n,), float64; inf where there is no way.
    Rows of one mesh and source share one field, so keep them together.
    """

    def __init__(self, meshes: Sequence[Any]) -> None:
        self._meshes: list[Geodesic] = []
        for row, mesh in enumerate(all_of("meshes", meshes, object)):
            given: Any = mesh if isinstance(mesh, (tuple, list)) else (mesh,)
            if len(given) not in (1, 2):
                raise InvalidInputError(
                    f"meshes[{row}] has {len(given)} parts, it must be vertices and faces, or a mesh"
                )
            self._meshes.append(geodesic(*given))

    def __call__(self, batch: Columns) -> Columns:
        meshes = indices("mesh", _column(batch, "mesh"))
        sources = indices("source", _column(batch, "source"), count=len(meshes))
        targets = indices("target", _column(batch, "target"), count=len(meshes))
        if meshes.size and meshes.max() >= len(self._meshes):
            row = int(np.argmax(meshes >= len(self._meshes)))
            raise InvalidInputError(f"row {row}: mesh {meshes[row]} does not exist, there are {len(self._meshes)}")
        distance = np.full(len(meshes), np.nan)
        for mesh, source in np.unique(np.stack([meshes, sources], axis=1), axis=0).tolist():
            rows = np.flatnonzero((meshes == mesh) & (sources == source))
            vertex_count = len(self._meshes[mesh].vertices)
            if targets[rows].max() >= vertex_count:
                row = int(rows[np.argmax(targets[rows] >= vertex_count)])
                raise InvalidInputError(
                    f"row {row}: vertex {targets[row]} of mesh {mesh} does not exist, there are {vertex_count}"
                )
            distance[rows] = self._meshes[mesh].distance(source)[targets[rows]]
        return {"distance": distance}


class RoomPaths:
    """Lengths of shortest paths in a room: scenarios for benchmarks and planners.

    Args:
        room: the room.
        options: those of :meth:`hullfield.navigate.room.Room.paths`.

    Called with ``start`` and ``goal``, each (n, 2). Gives ``length``, (n,), float64; inf where there is no way.
    """

    def __init__(self, room: Room, **options: Any) -> None:
        if not isinstance(room, Room):
            raise InvalidTypeError(f"room is of the type {type(room).__name__}, it must be a Room")
        self._room, self._options = room, options

    def __call__(self, batch: Columns) -> Columns:
        paths = self._room.paths(_column(batch, "start"), _column(batch, "goal"), **self._options)
        return {"length": np.asarray(paths.lengths)}
