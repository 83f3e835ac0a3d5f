"""The package imports, and answers."""

import asyncio

import numpy as np
import pytest

import hullfield
from hullfield.collide import Arena, BodyColumns, Hull, Status


def scene() -> tuple[Arena, BodyColumns]:
    arena = Arena([Hull.cuboid([0.5, 0.5, 0.5])], engine=hullfield.Engine.cpu())
    return arena, BodyColumns(0, [[0, 0, 0], [0.9, 0, 0], [3, 0, 0]])


def test_boxes_touch() -> None:
    arena, bodies = scene()
    hits = arena.intersections(bodies)
    assert [(row["a"], row["b"], row["status"]) for row in hits] == [(0, 1, Status.PENETRATING)]
    assert hits.stats.hit_count == 1


def test_an_answer_can_be_awaited() -> None:
    arena, bodies = scene()

    async def both() -> list[int]:
        first, second = arena.intersections.start(bodies), arena.intersections.start(bodies, [[0, 2], [1, 0]])
        return [len(batch) for batch in await asyncio.gather(first, second)]

    assert asyncio.run(both()) == [1, 2]


def test_an_error_says_what_and_where() -> None:
    arena, bodies = scene()
    with pytest.raises(hullfield.InvalidInputError, match="pair 0: body 7 does not exist, there are 3"):
        arena.intersections(bodies, [[7, 0]])
    with pytest.raises(ValueError, match=r"points has the shape \(2, 2\), it must be \(n, 3\)"):
        Hull(np.zeros((2, 2)))
