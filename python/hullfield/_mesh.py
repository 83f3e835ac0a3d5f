"""Meshes as callers have them, as arrays of vertices and faces."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._arrays import array_of, floats, indices
from hullfield._errors import InvalidInputError, InvalidTypeError

Arrays = tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], "npt.NDArray[np.int64] | None"]


def mesh_arrays(vertices: Any, faces: Any = None, offsets: Any = None) -> Arrays:
    """Vertices (n, 3), corners, and where the corners of each face begin; without these the corners are triangles, (m, 3).

    ``vertices`` may be an object of trimesh, pyvista, open3d or meshio that has its own faces.
    """
    if faces is None:
        if offsets is not None:
            raise InvalidInputError("offsets are given without faces")
        vertices, faces = _of_object(vertices)
        if isinstance(faces, _Padded):
            points = floats("vertices", vertices, 3)
            return (points, *_unpadded(faces.corners))
    points = floats("vertices", vertices, 3)
    if offsets is not None:
        return points, indices("faces", faces), _offsets(offsets)
    return (points, *_faces(faces))


class _Padded:
    """Faces as VTK has them: the number of corners before the corners of each."""

    def __init__(self, corners: Any) -> None:
        self.corners = corners


def _of_object(mesh: Any) -> tuple[Any, Any]:
    for of_points, of_faces in (("vertices", "faces"), ("vertices", "triangles"), ("points", "faces")):
        if hasattr(mesh, of_points) and hasattr(mesh, of_faces):
            found = getattr(mesh, of_faces)
            if of_points == "points" and getattr(found, "ndim", 2) == 1:
                return mesh.points, _Padded(found)
            return getattr(mesh, of_points), found
    if hasattr(mesh, "points") and hasattr(mesh, "cells_dict"):
        cells = mesh.cells_dict
        faces = [
            face
            for kind in ("triangle", "quad")
            for face in array_of(f"cells_dict[{kind!r}]", cells.get(kind, [])).tolist()
        ]
        return mesh.points, faces
    raise InvalidTypeError(
        f"{type(mesh).__name__} is no mesh: give vertices and faces, or an object that has .vertices and .faces, or .points and .faces"
    )


def _unpadded(padded: Any) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64] | None]:
    numbers = indices("faces", padded)
    if len(numbers) == 0:
        return numbers.reshape(0, 3), None
    if numbers[0] == 3 and len(numbers) % 4 == 0 and (numbers[::4] == 3).all():
        return np.ascontiguousarray(numbers.reshape(-1, 4)[:, 1:]), None
    counts, at = [], 0
    keep = np.ones(len(numbers), dtype=np.bool_)
    while at < len(numbers):
        keep[at] = False
        counts.append(int(numbers[at]))
        at += 1 + counts[-1]
    if at != len(numbers):
        raise InvalidInputError(
            f"faces: the last of {len(counts)} faces should have {counts[-1]} corners, there are fewer"
        )
    return np.ascontiguousarray(numbers[keep]), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _faces(faces: Any) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64] | None]:
    if isinstance(faces, (list, tuple)):
        try:
            lengths = [len(face) for face in faces]
        except TypeError:
            raise InvalidTypeError("faces must be rows of corners: an array (m, 3), or a list of lists") from None
        if len(set(lengths)) > 1:
            corners = np.concatenate([indices(f"faces[{row}]", face) for row, face in enumerate(faces)])
            return corners, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    corners = indices("faces", faces, any_shape=True)
    if corners.size == 0:
        return corners.reshape(0, 3), None
    if corners.ndim != 2:
        raise InvalidInputError(f"faces has the shape {corners.shape}, it must be (m, 3), or (m, k) for polygons")
    if corners.shape[1] == 3:
        return corners, None
    count, width = corners.shape
    return corners.reshape(-1), np.arange(0, (count + 1) * width, width, dtype=np.int64)


def _offsets(offsets: Any) -> npt.NDArray[np.int64]:
    array = array_of("offsets", offsets)
    if array.dtype.kind not in "iu":
        raise InvalidTypeError(f"offsets has the dtype {array.dtype}, it must hold whole numbers")
    if array.ndim != 1 or len(array) == 0:
        raise InvalidInputError(f"offsets has the shape {array.shape}, it must be (number of faces + 1,)")
    if array.dtype.kind == "u" and int(array.max()) > np.iinfo(np.int64).max:
        raise InvalidInputError("offsets are larger than 2**63 - 1")
    return np.ascontiguousarray(array, dtype=np.int64)
