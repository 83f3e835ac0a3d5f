"""How many pairs a query may mean before the caller has to say so."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hullfield._errors import InvalidInputError
from hullfield._scalars import real

#: The most pairs that are listed where no margin is given.
LISTED = 1_000_000
#: The most pairs that are examined one by one.
EXAMINED = 10_000_000_000


def _among(count: int) -> int:
    return count * (count - 1) // 2


def _at_most(worlds: npt.NDArray[Any] | None, owners: npt.NDArray[Any] | None, count: int, statics: int) -> int:
    """How many pairs there are, at most, among bodies of one world and of different owners, and with statics."""
    pairs = _among(count)
    rows = np.zeros((count, 1), np.uint32) if worlds is None else worlds.reshape(-1, 1)
    if worlds is not None:
        pairs = sum(_among(int(size)) for size in np.unique(worlds, return_counts=True)[1])
    if owners is not None:
        together = np.unique(np.column_stack([rows, owners]), axis=0, return_counts=True)[1]
        pairs -= sum(_among(int(size)) for size in together)
    return pairs + count * statics


def pair_count(bodies: Any, static_count: int, limit: int) -> int:
    """How many pairs there are, at most, among bodies and with statics; looked at more closely where that is over a limit."""
    count = len(bodies)
    pairs = _among(count) + count * static_count
    if pairs <= limit:
        return pairs
    columns = bodies.arrays()
    return _at_most(columns.get("worlds"), columns.get("owners"), count, static_count)


def margin_or_all(margin: Any, pairs: Any, bodies: Any, static_count: int) -> float:
    """A margin; without one an infinite one, where there are not too many pairs to list them all."""
    if margin is not None:
        return real("margin", margin)
    if isinstance(pairs, str):
        refuse_all(pair_count(bodies, static_count, LISTED))
    return np.inf


def refuse_all(pairs: int) -> None:
    """Refuses to list too many pairs without a margin."""
    if pairs > LISTED:
        raise InvalidInputError(
            f"without a margin all {pairs:,} pairs would be listed, more than {LISTED:,}: give the margin beyond which pairs are left out, "
            "or margin=inf to list them all"
        )


def examined(pairs: object, bodies: Any, static_count: int) -> None:
    """Refuses to examine too many pairs one by one."""
    if isinstance(pairs, str) and pairs == "exhaustive":
        count = pair_count(bodies, static_count, EXAMINED)
        if count > EXAMINED:
            raise InvalidInputError(
                f"pairs='exhaustive' would examine {count:,} pairs, more than {EXAMINED:,}: use pairs='broad_phase', or give the pairs"
            )
