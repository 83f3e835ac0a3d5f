"""The polygons, repairs and doors that a room is made with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield import _native
from hullfield._arrays import floats
from hullfield._errors import InvalidInputError
from hullfield._native import Room as NativeRoom

Floats = npt.NDArray[np.float64]


class RepairKind(IntEnum):
    """What was wrong with a ring, and what was done about it."""

    REPEATED_POINT = 0
    """The same point several times in a row: taken once."""
    CROSSING = 1
    """The ring crosses itself or another ring: cut there. The even-odd rule says what is inside."""
    TOUCH = 2
    """A corner lies on an edge of this or another ring: the edge is cut there."""
    NO_AREA = 3
    """A hole without area, or a polygon without area beside others: left out."""
    HOLE_OUTSIDE = 4
    """A hole, or a part of one, lies outside the outer ring of its polygon: it changes nothing there."""


@dataclass(frozen=True, eq=False)
class Repair:
    """A repair of a ring."""

    ring: int
    """Which ring: 0 is the outer one, then the holes in the order given. The rings of a further polygon follow in the same order."""
    kind: RepairKind
    """What was wrong, and what was done."""
    place: Floats
    """Where, (2,)."""


@dataclass(frozen=True, eq=False)
class FreeDoorEnd:
    """An end of a door that is on no wall: agents can walk around it while the door is shut."""

    door: int
    """The number of the door."""
    end: Floats
    """The end, (2,)."""
    distance: float
    """How far it is from the nearest wall."""


def polygons_of(geometry: Any) -> list[list[Any]]:
    """The rings of each polygon of a geometry as GeoJSON has it."""
    found = _collected(geometry, 0)
    if not found:
        kind = geometry.get("type") if isinstance(geometry, dict) else geometry
        raise InvalidInputError(f"the outline is an empty {kind}, or one without a Polygon")
    return found


def _collected(geometry: Any, depth: int) -> list[list[Any]]:
    if geometry is None and depth > 0:
        return []
    if depth > 16 or not isinstance(geometry, dict):
        why = "nests collections too deep" if depth > 16 else f"has {geometry!r:.60} for a geometry"
        raise InvalidInputError(f"the outline {why}")
    kind = geometry.get("type")
    if kind == "Feature":
        return _collected(geometry.get("geometry"), depth + 1)
    if kind in ("FeatureCollection", "GeometryCollection"):
        name = "features" if kind == "FeatureCollection" else "geometries"
        parts = listed(name, _member(geometry, name))
        return [polygon for part in parts for polygon in _collected(part, depth + 1)]
    if kind in ("Point", "MultiPoint", "LineString", "MultiLineString", "LinearRing"):
        return []
    if kind not in ("Polygon", "MultiPolygon"):
        raise InvalidInputError(f"the outline is a {kind!r:.60}, it must be of Polygons")
    coordinates = _member(geometry, "coordinates")
    # Heights, if any, do not matter. Empty geometries are as none.
    polygons = listed("the coordinates of the outline", coordinates) if kind == "MultiPolygon" else [coordinates]
    lists = [listed("a polygon of the outline", polygon) for polygon in polygons]
    return [[_ring(ring) for ring in polygon] for polygon in lists if len(polygon) > 0]


def _member(geometry: dict[str, Any], name: str) -> Any:
    """A member of a geometry; an empty list where it is missing or null."""
    value = geometry.get(name)
    return () if value is None else value


def listed(name: str, value: Any) -> list[Any]:
    """The items of a list."""
    try:
        return list(value)
    except TypeError:
        raise InvalidInputError(f"{name} is {value!r:.60}, it must be a list") from None


def _ring(ring: Any) -> Any:
    try:
        return np.asarray(ring, dtype=np.float64)[:, :2]
    except (TypeError, ValueError, IndexError, OverflowError):
        raise InvalidInputError("a ring of the outline is not a list of points, each two numbers") from None


def segments_of(doors: npt.ArrayLike) -> Any:
    """Doors as rows of two points, (k, 4)."""
    segments = floats("doors", doors, any_shape=True)
    if segments.size == 0:
        return segments.reshape(0, 4)
    if segments.ndim != 3 or segments.shape[1:] != (2, 2):
        raise InvalidInputError(f"doors has the shape {segments.shape}, it must be (k, 2, 2)")
    return segments.reshape(-1, 4)


def native_of_polygons(polygons: list[list[Any]], options: tuple[Any, ...]) -> NativeRoom:
    """Builds a room, and warns of the free ends of its doors: at the caller of the caller."""
    parts: list[Floats] = []
    for row, polygon in enumerate(polygons):
        name = f"polygons[{row}]: " if len(polygons) > 1 else ""
        names = [name + ("outer" if hole == 0 else f"holes[{hole - 1}]") for hole in range(len(polygon))]
        parts.extend(floats(own, ring, 2) for own, ring in zip(names, polygon, strict=True))
    points = np.concatenate(parts) if parts else np.zeros((0, 2))
    rings = np.cumsum([0] + [len(part) for part in parts]).astype(np.int64)
    ends = np.cumsum([0] + [len(polygon) for polygon in polygons]).astype(np.int64)
    native: NativeRoom = _native.Room.of_polygons(points, rings, ends, options).wait(None)
    for door, end, distance in native.free_door_ends:
        message = f"door {door} ends at ({end[0]:g}, {end[1]:g}), {distance:g} from the nearest wall: agents can walk around it"
        warnings.warn(message, UserWarning, stacklevel=3)
    return native
