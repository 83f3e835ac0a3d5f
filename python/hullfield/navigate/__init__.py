"""Shortest paths on the CPU: in rooms, which are two-dimensional, and over surfaces of 3D models."""

from hullfield.navigate import room, surface
from hullfield.navigate._reach import Reach, Stats

__all__ = ["Reach", "Stats", "room", "surface"]
