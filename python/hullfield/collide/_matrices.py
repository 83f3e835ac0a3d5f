"""Poses as matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._errors import InvalidInputError

#: How far the rotation of a robot's link may be from one with unit axes at right angles, in any of its numbers.
_TOLERANCE = 1e-5

#: How far the products of axes may be from those of unit vectors at right angles where rounding alone explains it.
_EXACT = 1e-13


def _nearest_rotations(axes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The rotations, (..., 3, 3), nearest to matrices that do not mirror, by their singular values."""
    left, _, right = np.linalg.svd(axes)
    found: npt.NDArray[np.float64] = left @ right
    return found


def _first(wrong: npt.NDArray[np.bool_]) -> str:
    return "".join(f"[{int(at)}]" for at in np.argwhere(wrong)[0])


def _check(name: str, matrices: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The upper left of affine matrices, (..., 4, 4), that do not mirror."""
    finite = np.isfinite(matrices).all(axis=(-2, -1))
    if not finite.all():
        raise InvalidInputError(f"{name}{_first(~finite)} holds a number that is not finite")
    affine = (matrices[..., 3, :] == [0, 0, 0, 1]).all(axis=-1)
    if not affine.all():
        raise InvalidInputError(f"{name}{_first(~affine)} is not affine: its last row must be 0, 0, 0, 1")
    axes = matrices[..., :3, :3].astype(np.float64)
    mirrors = ~(np.linalg.det(axes) > 0)
    if mirrors.any():
        raise InvalidInputError(f"{name}{_first(mirrors)} mirrors, or scales by 0: a pose must keep left and right")
    return axes


def perpendicular(name: str, matrices: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Affine matrices, (..., 4, 4), with their axes replaced by the nearest perpendicular ones; their lengths stay."""
    axes = _check(name, matrices)
    lengths = np.linalg.norm(axes, axis=-2, keepdims=True)
    found = matrices.copy()
    found[..., :3, :3] = _nearest_rotations(axes / lengths) * lengths
    return found


def rigid(
    name: str, matrices: npt.NDArray[np.float64], orthonormalize: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Positions, (..., 3), and unit quaternions x, y, z, w, (..., 4), of matrices (..., 4, 4) that turn and move.

    Raises:
        InvalidInputError: one that scales or shears, unless the nearest rotation is to be taken.
    """
    axes = turned = _check(name, matrices)
    # Most are rotations already, and the nearest ones take far longer to find.
    off = np.abs(axes.swapaxes(-1, -2) @ axes - np.eye(3)).max(axis=(-2, -1), initial=0.0) > _EXACT
    if off.any():
        turned = axes.copy()
        turned[off] = _nearest_rotations(axes[off])
    far = np.abs(axes - turned).max(axis=(-2, -1), initial=0.0) > _TOLERANCE
    if far.any() and not orthonormalize:
        raise InvalidInputError(
            f"{name}{_first(far)} scales or shears: its axes must be unit vectors at right angles, or give orthonormalize=True"
        )
    return np.ascontiguousarray(matrices[..., :3, 3]), _quaternions(turned)


def _quaternions(turned: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Unit quaternions of rotations, from their largest part (Shepperd 1978)."""
    m = turned
    # Row i is 4 qᵢ (x, y, z, w): each is the quaternion, but for its length.
    rows = np.empty((*m.shape[:-2], 4, 4))
    trace = m[..., 0, 0] + m[..., 1, 1] + m[..., 2, 2]
    rows[..., 3, 3] = 1 + trace
    for i in range(3):
        rows[..., i, i] = 1 + 2 * m[..., i, i] - trace
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        rows[..., i, j] = rows[..., j, i] = m[..., i, j] + m[..., j, i]
        rows[..., k, 3] = rows[..., 3, k] = m[..., j, i] - m[..., i, j]
    largest = np.diagonal(rows, axis1=-2, axis2=-1).argmax(axis=-1)
    row = np.take_along_axis(rows, largest[..., None, None], axis=-2)[..., 0, :]
    found: npt.NDArray[np.float64] = row / np.linalg.norm(row, axis=-1, keepdims=True)
    return found
