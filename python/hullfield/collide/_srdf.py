"""Which links an SRDF file sets apart."""

from __future__ import annotations

import warnings

from hullfield import _native
from hullfield.collide._urdf import read


def pairs_of(path: str, names: list[str], shaped: list[int]) -> list[tuple[int, int]]:
    """The pairs of links that are not tested. ``shaped`` are the links that have shapes, by their numbers."""
    disabled, apart, enabled = _native.read_srdf(path, read(path))
    number = {name: row for row, name in enumerate(names)}
    unknown = [(name, line) for a, b, line in (*disabled, *enabled) for name in (a, b) if name not in number]
    unknown += [(name, line) for name, line in apart if name not in number]
    if unknown:
        name, line = min(unknown, key=lambda part: part[1])
        more = f", and {len(unknown) - 1} more names" if len(unknown) > 1 else ""
        warnings.warn(f"{path}: line {line}: the robot has no link {name!r}{more}", UserWarning, stacklevel=5)
    tested = {frozenset((a, b)) for a, b, _ in enabled}
    found = {(number[a], number[b]) for a, b, _ in disabled if a in number and b in number}
    # Links without shapes meet nothing anyway.
    for link in sorted({number.get(name, -1) for name, _ in apart} & set(shaped)):
        others = (other for other in shaped if other != link and frozenset((names[link], names[other])) not in tested)
        found |= {(min(link, other), max(link, other)) for other in others}
    return sorted(found)
