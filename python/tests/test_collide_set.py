"""The set that keeps bodies by ids, against a set of pairs kept in Python."""

import pickle
import threading

import numpy as np
import pytest

import hullfield
from hullfield.collide import NO_ID, NONE, Arena, Bodies, BodyColumns, Hull, Phase

ENGINE = hullfield.Engine.cpu()
ARENA = Arena([Hull.ball(0.5)], engine=ENGINE, statics=BodyColumns(0, [[0, 0, 0]]))


def test_events_are_those_of_a_set_of_pairs() -> None:
    random = np.random.default_rng(1)
    bodies = Bodies(ARENA)
    ids = bodies.insert(BodyColumns(0, random.uniform(-2, 2, (60, 3)).astype(np.float32)))
    assert ids.dtype == np.uint64 and len(bodies) == 60 and bodies.contains(ids).all()
    before: set[tuple[int, int, int]] = set()
    seen = set()
    for frame in range(12):
        if frame % 3 == 2:
            gone, ids = ids[:7], ids[7:]
            bodies.remove(gone)
            assert not bodies.contains(gone).any()
            ids = np.concatenate([ids, bodies.insert(BodyColumns(0, random.uniform(-2, 2, (7, 3)).astype(np.float32)))])
        places = random.uniform(-2, 2, (len(ids), 3)).astype(np.float32)
        bodies.set_poses(ids, places)
        found = bodies.contacts() if frame % 2 else bodies.intersections()
        wide = places.astype(np.float64)
        gaps = np.linalg.norm(wide[:, None] - wide[None], axis=2) - 1
        now = {
            (*sorted((int(ids[i]), int(ids[j])), key=lambda of: (of & NONE, of >> 32)), NONE)
            for i, j in np.argwhere(np.triu(gaps <= 0, 1))
        }
        now |= {(int(ids[i]), NO_ID, 0) for i in np.where(np.linalg.norm(wide, axis=1) <= 1)[0]}
        rows = found.rows
        assert {(int(r["id_a"]), int(r["id_b"]), int(r["static_b"])) for r in rows} == now
        assert found.stats.hit_count == len(now) == len(found)
        events = bodies.events(found)
        phases = {(int(e["a"]), int(e["b"]), int(e["static_b"])): Phase(e["phase"]) for e in events}
        assert len(phases) == len(events)
        expected = {pair: Phase.STAY if pair in before else Phase.BEGIN for pair in now}
        expected |= {pair: Phase.END for pair in before - now}
        assert phases == expected
        assert {(int(r["a"]), int(r["b"]), int(r["static_b"])) for r in bodies.touching} == now
        before, seen = now, seen | set(phases.values())
        with pytest.raises(hullfield.InvalidInputError, match="hand each answer in once"):
            bodies.events(found)
    assert seen == set(Phase) and set(ids.tolist()) == set(bodies.ids.tolist())


def test_what_is_set_is_got() -> None:
    bodies = Bodies(ARENA)
    ids = bodies.insert(BodyColumns(0, [[1, 2, 3], [4, 5, 6]], scales=2.0, groups=3))
    got = bodies.get(ids).arrays()
    assert got["positions"].tolist() == [[1, 2, 3], [4, 5, 6]] and got["groups"].tolist() == [3, 3]
    bodies.set_poses(ids[1], rotations=[0, 0, 1, 0])
    bodies.set_poses(ids[:1], [[7, 8, 9]])
    got = bodies.get(ids).arrays()
    assert got["positions"].tolist() == [[7, 8, 9], [4, 5, 6]] and got["rotations"].tolist() == [
        [0, 0, 0, 1],
        [0, 0, 1, 0],
    ]
    bodies.set_poses(ids[:1], [[1e7 + 0.1, 0, 0]])
    assert bodies.get(ids).is_f64 and bodies.get(ids).arrays()["positions"].tolist() == [[1e7 + 0.1, 0, 0], [4, 5, 6]]
    bodies.set_poses(ids, rotations=[0, 1, 0, 0])
    assert bodies.get(ids).arrays()["positions"].tolist() == [[1e7 + 0.1, 0, 0], [4, 5, 6]]
    bodies.set(ids, BodyColumns(0, [[1, 0, 0], [1.5, 0, 0]]))
    assert not bodies.get(ids).is_f64 and len(bodies.contacts()) > 0
    assert bodies.get(ids).arrays()["scales"].tolist() == [[1, 1, 1]] * 2
    assert len(bodies.distances(margin=5).rows) == 3 and bodies.manifolds()["point_count"].tolist() == [1, 1]


def test_all_or_none() -> None:
    bodies = Bodies(ARENA)
    ids = bodies.insert(BodyColumns(0, [[1, 2, 3], [4, 5, 6]]))
    with pytest.raises(hullfield.InvalidInputError, match="body 1: .*hull 5 does not exist"):
        bodies.insert(BodyColumns([0, 5]))
    assert len(bodies) == 2
    far = BodyColumns([0, 0], [[0, 0, 0], [1e300, 0, 0]])
    with pytest.raises(hullfield.InvalidInputError, match="body 1: .*position"):
        bodies.insert(far)
    assert len(bodies) == 2
    for call in [
        lambda: bodies.set(ids, BodyColumns([0, 5])),
        lambda: bodies.set_poses(ids, [[0, 0, 0], [np.nan, 0, 0]]),
        lambda: bodies.set_poses(ids, rotations=[[0, 0, 1, 0], [1, 1, 1, 1]]),
    ]:
        with pytest.raises(hullfield.InvalidInputError, match=r"ids\[1\]"):
            call()
        assert bodies.get(ids).arrays()["positions"].tolist() == [[1, 2, 3], [4, 5, 6]]
        assert bodies.get(ids).arrays()["rotations"].tolist() == [[0, 0, 0, 1]] * 2
    with pytest.raises(hullfield.InvalidInputError, match="twice"):
        bodies.remove([ids[0], ids[0]])
    bodies.remove(ids[:1])
    again = bodies.insert(BodyColumns([0]))
    assert again[0] & np.uint64(0xFFFFFFFF) == ids[0] & np.uint64(0xFFFFFFFF) and again[0] != ids[0]
    for wrong, message in [
        (ids[:1], r"ids\[0\]: body 0 of generation 0 is not in the set"),
        ([NO_ID], "no body's id"),
        ([99], "body 99"),
        ([-1], "ids holds -1"),
        ([1.0], "ids has the dtype float64"),
        ([[1]], r"ids has the shape \(1, 1\)"),
        ([True], "bool"),
    ]:
        with pytest.raises(hullfield.Error, match=message):
            bodies.get(wrong)
    with pytest.raises(hullfield.InvalidInputError, match="bodies have worlds"):
        bodies.insert(BodyColumns([0], worlds=[1]))
    with pytest.raises(hullfield.InvalidInputError, match="there are 2 bodies"):
        bodies.set(ids[1:], BodyColumns([0, 0]))
    assert bodies.insert(BodyColumns([])).tolist() == [] and len(bodies.get([])) == 0


def test_another_arena_and_what_a_set_refuses() -> None:
    bodies, other = Bodies(ARENA), Bodies(ARENA)
    bodies.insert(BodyColumns(0, [[0, 0, 0]]))
    with pytest.raises(hullfield.InvalidInputError, match="another set"):
        other.events(bodies.intersections())
    wider = ARENA.with_options()
    wider.add_hulls([Hull.cuboid([1, 1, 1])])
    bodies.set_arena(wider)
    bodies.insert(BodyColumns(1, [[0, 0, 0]]))
    assert len(bodies.intersections()) == 1 and len(bodies.arena.hulls) == 2
    with pytest.raises(hullfield.InvalidInputError, match="hull 1"):
        bodies.set_arena(ARENA)
    with pytest.raises(hullfield.InvalidTypeError, match="does not pickle"):
        pickle.dumps(bodies)
    with pytest.raises(hullfield.InvalidTypeError, match="arena is of the type int"):
        Bodies(3)  # type: ignore[arg-type]


def test_two_threads_change_a_set() -> None:
    bodies = Bodies(ARENA)

    def work(seed: int) -> None:
        random = np.random.default_rng(seed)
        for _ in range(30):
            ids = bodies.insert(BodyColumns(0, random.uniform(-9, 9, (20, 3)).astype(np.float32)))
            len(bodies.contacts())
            with pytest.raises(hullfield.InvalidInputError):
                bodies.get([NO_ID])
            bodies.remove(ids)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads) and len(bodies) == 0
