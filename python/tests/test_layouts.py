"""Whatever is given to collide, cost_distance and work, the answer is an error of hullfield, or the same answer for every layout of arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield.collide import (
    Arena,
    Bodies,
    BodyColumns,
    Compound,
    CompoundColumns,
    Compounds,
    HeightField,
    Hull,
    JointPath,
    Pose,
    Prismatic,
    RayColumns,
    Revolute,
    ShapeCastColumns,
    contact,
    distance,
    gradient,
    intersects,
    joint_deviation,
    manifold,
    nearest_point,
    raycast,
    sweep,
)
from hullfield.flow import Edits, Flow, Grid, solve_raster
from hullfield.work import CollisionLabels, GeodesicDistances, RoomPaths

CPU = hullfield.Engine.cpu()
CUBE, BALL = Hull.cuboid([0.5, 0.5, 0.5]), Hull.ball(0.4)


def arena() -> Arena:
    return Arena([CUBE, BALL], engine=CPU)


ARENA = arena()
BODIES = BodyColumns([0, 1, 0], [[0, 0, 0], [0.7, 0, 0], [4, 0, 0]])
RAYS = RayColumns([[-5, 0, 0]], [1, 0, 0])
COMPOUNDS = Compounds(ARENA, [Compound([0, 1], [[0, 0, 0], [1, 0, 0]])])
CROWD = CompoundColumns(0, [[0, 0, 0], [1.5, 0, 0]])
SET = Bodies(ARENA)
IDS = SET.insert(BODIES)
FRICTION = np.random.default_rng(9).uniform(1, 4, (5, 6))
SOLVED = hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, paths=True)
ROOM = hullfield.navigate.room.Room([[0, 0], [4, 0], [4, 4], [0, 4]])
MESH = (np.array([[0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 4, 1.0]]), np.array([[0, 1, 2], [0, 2, 3]]))


class Odd:
    """Fails in every way in which arrays, numbers and sequences are asked for."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise KeyError("no array today")

    def __index__(self) -> int:
        raise RuntimeError("no index today")

    def __float__(self) -> float:
        raise RuntimeError("no number today")


def junk(seed: int) -> list[Any]:
    """Values of wrong kinds, shapes and ranges, and some that happen to be right."""
    random = np.random.default_rng(seed)
    fixed: list[Any] = [
        None,
        True,
        "text",
        "",
        b"x",
        1j,
        {},
        {1, 2},
        object(),
        Odd(),
        Odd,
        print,
        range(3),
        iter([1]),
        ...,
    ]
    fixed += [
        0,
        -1,
        3,
        2**31,
        2**32,
        2**63,
        2**64,
        10**30,
        -(10**400),
        0.5,
        -0.0,
        float("nan"),
        float("inf"),
        1e39,
        1e300,
    ]
    fixed += [
        [],
        [[]],
        [[1, 2], [3]],
        [None],
        [[None]],
        [[1, "a", 2]],
        ["a"],
        [1e300] * 3,
        [10**400, 0, 0],
        [[10**30, 0, 0]],
    ]
    fixed += [
        np.array(None),
        np.array([1, None, "x"], dtype=object),
        np.array(["2021-03-04"], dtype="M8[D]"),
        np.array([1, 2], "m8[s]"),
    ]
    fixed += [
        np.array([1 + 2j, 0, 0]),
        np.array([True, False, True]),
        np.array("word"),
        np.zeros(2, dtype=[("a", "f4"), ("b", "i8")]),
    ]
    fixed += [
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.zeros((0,)),
        np.zeros((2, 0, 3)),
        np.array(2),
        np.array(2.5),
        np.float16(1.5),
    ]
    fixed += [np.array([2**63 - 1, -(2**63)]), np.array([[2**64 - 1] * 3], np.uint64), np.array([[np.nan, np.inf, 0]])]
    for _ in range(40):
        shape = tuple(random.integers(0, 5, random.integers(0, 4)))
        kind = random.choice(["f2", "f4", "f8", ">f8", ">i4", "i1", "i8", "u1", "u8", "?", "c8", "g"])
        values = random.normal(0, 10.0 ** random.integers(-3, 6), shape)
        with np.errstate(all="ignore"):
            array = np.asarray(values).astype(kind)
        fixed.append(np.asfortranarray(array) if random.random() < 0.5 else array[..., ::-1] if array.ndim else array)
    return fixed


ASKED: dict[str, Callable[[Any], Any]] = {
    "Hull": Hull,
    "Hull.cuboid": Hull.cuboid,
    "Hull.ball": Hull.ball,
    "Hull.capsule": lambda x: Hull.capsule(x, [0, 0, 1], 1),
    "Hull.capsule radius": lambda x: Hull.capsule([0, 0, 0], [0, 0, 1], x),
    "Hull.cylinder": lambda x: Hull.cylinder([0, 0, 0], x, 1, 8),
    "Hull.cylinder sides": lambda x: Hull.cylinder([0, 0, 0], [0, 0, 1], 1, x),
    "Hull.cone": lambda x: Hull.cone(x, [0, 0, 1], 1, 8),
    "Hull.triangle": Hull.triangle,
    "Hull.triangles_of_mesh": lambda x: Hull.triangles_of_mesh(x, [[0, 1, 2]]),
    "Hull.triangles_of_mesh faces": lambda x: Hull.triangles_of_mesh(MESH[0], x),
    "Hull.from_mesh": Hull.from_mesh,
    "Hull.rounded": CUBE.rounded,
    "Hull.simplify": CUBE.simplify,
    "Hull.neighbours": CUBE.neighbours,
    "Pose": Pose,
    "Pose rotation": lambda x: Pose(rotation=x),
    "Pose scale": lambda x: Pose(scale=x),
    "Pose.from_matrix": Pose.from_matrix,
    "Pose.from_matrix option": lambda x: Pose.from_matrix(np.eye(4), orthonormalize=x),
    "Pose.of_half_space": lambda x: Pose.of_half_space(x, 0),
    "Pose.of_half_space offset": lambda x: Pose.of_half_space([0, 1, 0], x),
    "BodyColumns": BodyColumns,
    "BodyColumns positions": lambda x: BodyColumns(0, x),
    "BodyColumns rotations": lambda x: BodyColumns(0, [[0, 0, 0]], x),
    "BodyColumns scales": lambda x: BodyColumns(0, [[0, 0, 0]], scales=x),
    "BodyColumns paddings": lambda x: BodyColumns(0, [[0, 0, 0]], paddings=x),
    "BodyColumns groups": lambda x: BodyColumns(0, [[0, 0, 0]], groups=x),
    "BodyColumns worlds": lambda x: BodyColumns(0, [[0, 0, 0]], worlds=x),
    "BodyColumns owners": lambda x: BodyColumns(0, [[0, 0, 0]], owners=x),
    "BodyColumns exclusions": lambda x: BodyColumns(0, [[0, 0, 0]] * 3, exclusions=x),
    "BodyColumns.from_matrices": lambda x: BodyColumns.from_matrices(0, x),
    "BodyColumns.from_matrices option": lambda x: BodyColumns.from_matrices(0, np.eye(4), orthonormalize=x),
    "RayColumns": lambda x: RayColumns(x, [1, 0, 0]),
    "RayColumns directions": lambda x: RayColumns([0, 0, 0], x),
    "RayColumns distances": lambda x: RayColumns([0, 0, 0], [1, 0, 0], x),
    "ShapeCastColumns": lambda x: ShapeCastColumns(x, [1, 0, 0]),
    "ShapeCastColumns directions": lambda x: ShapeCastColumns(BODIES, x),
    "Arena": lambda x: Arena(x, engine=CPU),
    "Arena engine": lambda x: Arena([CUBE], engine=x),
    "Arena precision": lambda x: Arena([CUBE], engine=CPU, precision=x),
    "Arena statics": lambda x: Arena([CUBE], engine=CPU, statics=x),
    "Arena warm_start": lambda x: Arena([CUBE], engine=CPU, warm_start=x),
    "Arena.add_hulls": lambda x: arena().add_hulls(x),
    "Arena.remove_hulls": lambda x: arena().remove_hulls(x),
    "Arena.contacts": ARENA.contacts,
    "Arena.contacts pairs": lambda x: ARENA.contacts(BODIES, x),
    "Arena.contacts margin": lambda x: ARENA.contacts(BODIES, margin=x),
    "Arena.distances margin": lambda x: ARENA.distances(BODIES, margin=x),
    "Arena.deepest_contacts": lambda x: ARENA.deepest_contacts(BODIES, x),
    "Arena.sweeps": lambda x: ARENA.sweeps(BODIES, x),
    "Arena.sweeps angular": lambda x: ARENA.sweeps(BODIES, [1, 0, 0], x),
    "Arena.sweeps duration": lambda x: ARENA.sweeps(BODIES, [1, 0, 0], duration=x),
    "Arena.sweeps witness": lambda x: ARENA.sweeps(BODIES, [1, 0, 0], witness=x),
    "Arena.raycasts": lambda x: ARENA.raycasts(BODIES, x),
    "Arena.raycasts skip": lambda x: ARENA.raycasts(BODIES, RAYS, skip_start=x),
    "Arena.nearest_points": lambda x: ARENA.nearest_points(BODIES, x),
    "Arena.nearest_points worlds": lambda x: ARENA.nearest_points(BODIES, [[0, 0, 0]], worlds=x),
    "Arena.containments": lambda x: ARENA.containments(BODIES, x),
    "Arena.nearest_bodies": lambda x: ARENA.nearest_bodies(BODIES, count=x),
    "Arena.nearest_bodies of": lambda x: ARENA.nearest_bodies(BODIES, of=x),
    "Arena.nearest_bodies distance": lambda x: ARENA.nearest_bodies(BODIES, max_distance=x),
    "Arena.postures": lambda x: ARENA.postures(BODIES, x),
    "Arena.postures rotations": lambda x: ARENA.postures(BODIES, np.zeros((1, 3, 3)), x),
    "Arena.joint_paths": lambda x: ARENA.joint_paths(BODIES, x),
    "Arena.joint_paths limit": lambda x: ARENA.joint_paths(BODIES, [JointPath(np.zeros((2, 3, 3)))], step_limit=x),
    "Arena.prepare": lambda x: ARENA.prepare(x),
    "Arena.estimate": lambda x: ARENA.estimate("contacts", x),
    "Arena.estimate query": lambda x: ARENA.estimate(x, 3),
    "Arena.trace": lambda x: ARENA.trace(BODIES, x),
    "JointPath": JointPath,
    "JointPath deviations": lambda x: JointPath(np.zeros((2, 1, 3)), deviations=x),
    "joint_deviation": lambda x: joint_deviation(x, 1),
    "joint_deviation angle": lambda x: joint_deviation([Revolute(x, 1), Prismatic(x)], 1),
    "Compound": Compound,
    "Compound positions": lambda x: Compound(0, x),
    "CompoundColumns": CompoundColumns,
    "CompoundColumns scales": lambda x: CompoundColumns(0, [[0, 0, 0]], scales=x),
    "Compounds": lambda x: Compounds(ARENA, x),
    "Compounds arena": lambda x: Compounds(x, []),
    "Compounds.contacts": lambda x: COMPOUNDS.contacts(x),
    "Compounds.distances margin": lambda x: COMPOUNDS.distances(CROWD, margin=x),
    "Compounds.parts": lambda x: COMPOUNDS.parts(CROWD, x),
    "HeightField": lambda x: HeightField(x, 1),
    "HeightField spacing": lambda x: HeightField(np.zeros((2, 2)), x),
    "HeightField origin": lambda x: HeightField(np.zeros((2, 2)), 1, x),
    "HeightField.triangle": lambda x: HeightField(np.zeros((2, 2)), 1).triangle(x),
    "Bodies": Bodies,
    "Bodies.insert": lambda x: SET.insert(x),
    "Bodies.get": lambda x: SET.get(x),
    "Bodies.set": lambda x: SET.set(x, BODIES),
    "Bodies.set_poses": lambda x: SET.set_poses(IDS[:1], x),
    "Bodies.events": lambda x: SET.events(x),
    "Bodies.set_arena": lambda x: SET.set_arena(x),
    "distance": lambda x: distance(x, None, CUBE, None),
    "distance pose": lambda x: distance(CUBE, x, CUBE, None),
    "contact": lambda x: contact(CUBE, None, x, x),
    "gradient": lambda x: gradient(CUBE, None, CUBE, x),
    "intersects": lambda x: intersects(x, x, x, x),
    "manifold margin": lambda x: manifold(CUBE, None, CUBE, None, margin=x),
    "sweep": lambda x: sweep(CUBE, None, x, CUBE, None, [0, 0, 0]),
    "sweep duration": lambda x: sweep(CUBE, None, [1, 0, 0], CUBE, None, [0, 0, 0], duration=x),
    "raycast": lambda x: raycast(CUBE, None, x, [1, 0, 0]),
    "raycast distance": lambda x: raycast(CUBE, None, [-3, 0, 0], [1, 0, 0], max_distance=x),
    "nearest_point": lambda x: nearest_point(CUBE, None, x),
    "Engine": hullfield.Engine,
    "Engine memory_limit": lambda x: hullfield.Engine("cpu", memory_limit=x),
    "Pending.wait": lambda x: ARENA.hits.start(BODIES).wait(x),
    "cost_distance": lambda x: hullfield.cost_distance(x, friction=np.ones((3, 3))),
    "cost_distance friction": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=x),
    "cost_distance targets": lambda x: hullfield.cost_distance(None, x, friction=FRICTION),
    "cost_distance values": lambda x: hullfield.cost_distance(np.eye(5, 6), x, friction=FRICTION),
    "cost_distance transform": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, transform=x),
    "cost_distance cell_size": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, cell_size=x),
    "cost_distance connectivity": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, connectivity=x),
    "cost_distance corners": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, corners=x),
    "cost_distance rule": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, cost_rule=x),
    "cost_distance max": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, max_distance=x),
    "cost_distance allocation": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, allocation=x),
    "cost_distance paths": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, paths=x),
    "cost_distance elevation": lambda x: hullfield.cost_distance(None, [[0, 0]], friction=FRICTION, elevation=x),
    "cost_distance slopes": lambda x: hullfield.cost_distance(
        None, [[0, 0]], friction=FRICTION, elevation=FRICTION, slope_factors=x
    ),
    "CostDistance.paths": lambda x: SOLVED.paths(x),
    "CostDistance.path": SOLVED.path,
    "Grid corners": lambda x: Grid(np.zeros((3, 3), bool), corners=x),
    "Grid connectivity": lambda x: Grid(np.zeros((3, 3), bool), connectivity=x),
    "Grid border": lambda x: Grid(np.zeros((3, 3), bool), border=x),
    "Grid.clearances": lambda x: Grid(np.zeros((3, 3), bool)).clearances(x),
    "Flow": lambda x: Flow(x, engine=CPU),
    "Flow engine": lambda x: Flow(Grid(np.zeros((3, 3), bool)), engine=x),
    "Flow.prepare": lambda x: Flow(Grid(np.zeros((3, 3), bool)), engine=CPU).prepare(x),
    "Flow.edit": lambda x: Flow(Grid(np.zeros((3, 3), bool)), engine=CPU).edit(x),
    "Flow.update": lambda x: Flow(Grid(np.zeros((3, 3), bool)), engine=CPU).update(x),
    "Flow.path_to_nearest": lambda x: Flow(Grid(np.zeros((3, 3), bool)), engine=CPU).path_to_nearest(x, [0, 0]),
    "Agents.step": lambda x: Flow(Grid(np.zeros((3, 3), bool)), engine=CPU).agents([[0, 0]]).step(x),
    "solve_raster corners": lambda x: solve_raster(np.ones((3, 3), int), [[0, 0]], corners=x),
    "solve_raster geodesic": lambda x: solve_raster(np.ones((3, 3)), [[0, 0]], geodesic=x),
    "solve_raster rule": lambda x: solve_raster(np.ones((3, 3)), [[0, 0]], cost_rule=x),
    "solve_raster engine": lambda x: solve_raster(np.ones((3, 3), int), [[0, 0]], engine=x),
    "solve_raster memory": lambda x: solve_raster(np.ones((3, 3), int), [[0, 0]], memory_limit=x),
    "cost_distance geodesic": lambda x: hullfield.cost_distance(np.eye(3), friction=np.ones((3, 3)), geodesic=x),
    "CollisionLabels": lambda x: CollisionLabels(x, [[CUBE]], backend="cpu"),
    "CollisionLabels objects": lambda x: CollisionLabels([CUBE], x, backend="cpu"),
    "CollisionLabels backend": lambda x: CollisionLabels([CUBE], [[CUBE]], backend=x),
    "CollisionLabels batch": CollisionLabels([CUBE], [[CUBE]], backend="cpu"),
    "CollisionLabels pose": lambda x: CollisionLabels([CUBE], [[CUBE]], backend="cpu")({"object": [0], "pose": x}),
    "CollisionLabels object": lambda x: CollisionLabels([CUBE], [[CUBE]], backend="cpu")(
        {"object": x, "pose": np.eye(4)[None]}
    ),
    "GeodesicDistances": GeodesicDistances,
    "GeodesicDistances batch": lambda x: GeodesicDistances([MESH])({"mesh": [0], "source": x, "target": x}),
    "RoomPaths": RoomPaths,
    "RoomPaths batch": lambda x: RoomPaths(ROOM)({"start": x, "goal": x}),
    "set_num_threads": lambda x: hullfield.set_num_threads(x if not isinstance(x, int) or x < 0 or x > 5000 else 2),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ASKED)
def test_junk_is_refused_or_answered(name: str) -> None:
    wrong, refused = [], 0
    for row, value in enumerate(junk(seed=1 + len(name))):
        try:
            ASKED[name](value)
        except hullfield.InternalError as error:
            wrong.append((row, value, error))
        except hullfield.Error as error:
            refused += 1
            if "\n" in str(error).strip() and not isinstance(value, np.ndarray):
                wrong.append((row, value, error))
        except BaseException as error:
            wrong.append((row, value, error))
    hullfield.set_num_threads(0)
    said = [
        f"{row}: {' '.join(repr(value).split())[:60]}: {type(error).__name__}: {error}" for row, value, error in wrong
    ]
    assert not wrong, "\n".join(said)
    assert refused


def layouts(array: Any) -> dict[str, Any]:
    """The same numbers in other memory."""
    array = np.ascontiguousarray(array)
    wide = np.zeros((*array.shape, 2), array.dtype)
    wide[..., 0] = array
    flipped = np.flip(np.ascontiguousarray(np.flip(array)))
    locked = array.copy()
    locked.flags.writeable = False
    found = {
        "list": array.tolist(),
        "tuple": tuple(array.tolist()),
        "fortran": np.asfortranarray(array),
        "strided": wide[..., 0],
        "reversed": flipped,
        "swapped": array.astype(array.dtype.newbyteorder()),
        "read-only": locked,
        "unaligned": np.frombuffer(b"x" + array.tobytes(), array.dtype, offset=1).reshape(array.shape),
    }
    if array.dtype.kind == "f" and (array.astype(np.float32) == array).all():
        found["f4"] = array.astype(np.float32)
        if (array.astype(np.float16) == array).all():
            found["f2"] = array.astype(np.float16)
    if array.dtype.kind == "i" and array.size and array.min() >= 0 and array.max() < 200:
        found.update({code: array.astype(code) for code in ("u1", "i2", ">u4", "u8", ">i8")})
    return found


RANDOM = np.random.default_rng(77)
#: Numbers that f16 holds.
PLACES = RANDOM.integers(-8, 8, (6, 3)) / 4.0
EVEN = RANDOM.integers(1, 9, (5, 6)) / 4.0
CELLS = np.array([[1, 2], [3, 0], [2, 2]])
MATRICES = np.tile(np.eye(4), (6, 1, 1))
MATRICES[:, :3, 3] = PLACES
PAIRS = np.array([[0, 1], [2, 5], [4, 3]])


def _rows(found: Any) -> bytes:
    return bytes(np.asarray(found).tobytes())


SAME: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "Hull": (PLACES, lambda x: Hull(x).vertices),
    "triangles_of_mesh": (np.array([[0, 1, 2], [0, 2, 3]]), lambda x: Hull.triangles_of_mesh(MESH[0], x)[1].vertices),
    "Pose": (PLACES[0], lambda x: Pose(x).position),
    "positions": (PLACES, lambda x: ARENA.contacts(BodyColumns(0, x))),
    "matrices": (MATRICES, lambda x: ARENA.contacts(BodyColumns.from_matrices(0, x))),
    "pairs": (PAIRS, lambda x: ARENA.distances(BodyColumns(0, PLACES), x)),
    "hulls": (np.array([0, 1, 1, 0, 0, 1]), lambda x: ARENA.contacts(BodyColumns(x, PLACES))),
    "rays": (PLACES, lambda x: ARENA.raycasts(BodyColumns(0, PLACES), RayColumns(x, [1, 0.5, 0]))),
    "points": (PLACES, lambda x: ARENA.nearest_points(BodyColumns(0, PLACES), x)),
    "velocities": (PLACES, lambda x: ARENA.sweeps(BodyColumns(0, PLACES), x)),
    "postures": (PLACES.reshape(2, 3, 3), lambda x: ARENA.postures(BODIES, x)),
    "heights": (EVEN, lambda x: HeightField(x, 1).heights),
    "friction": (EVEN, lambda x: hullfield.cost_distance(None, [[0, 0]], friction=x)),
    "elevation": (EVEN, lambda x: hullfield.cost_distance(None, [[0, 0]], friction=EVEN, elevation=x)),
    "targets": (CELLS, lambda x: hullfield.cost_distance(None, x, friction=EVEN)),
    "target raster": (
        np.eye(5, 6, dtype=int) * 7,
        lambda x: hullfield.cost_distance(x, friction=EVEN, allocation=True).allocation,
    ),
    "path cells": (CELLS, lambda x: SOLVED.paths(x).cells),
    "obstacles": (np.eye(5, 6, 1, dtype=int), lambda x: Flow(Grid(x), engine=CPU).solve([[0, 0]]).distances()),
    "costs": (
        np.ones((5, 6), int) * 3,
        lambda x: Flow(Grid(np.zeros((5, 6), bool), costs=x), engine=CPU).solve([[0, 0]]).distances(),
    ),
    "goals": (CELLS, lambda x: Flow(Grid(np.zeros((5, 6), bool)), engine=CPU).solve(x).distances()),
    "edits": (CELLS, lambda x: Flow(Grid(np.zeros((5, 6), bool)), engine=CPU).edit(Edits().block(x))),
    "raster costs": (np.arange(30).reshape(5, 6), lambda x: solve_raster(np.asarray(x), [[1, 0]])),
    "raster friction": (EVEN, lambda x: solve_raster(np.asarray(x), [[0, 0]], cell_size=1)),
    "vertices": (MESH[0], lambda x: hullfield.geodesic(x, MESH[1]).distance(0)),
    "faces": (MESH[1], lambda x: hullfield.geodesic(MESH[0], x).distance(0)),
    "sources": (np.array([0, 2]), lambda x: hullfield.geodesic(*MESH).distances(x)),
    "labels": (
        MATRICES,
        lambda x: CollisionLabels([CUBE], [[CUBE]], backend="cpu")({"object": [0] * 6, "pose": x})["collides"],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_every_layout_has_the_same_answer(name: str) -> None:
    array, ask = SAME[name]
    wanted = _rows(ask(array))
    for layout, given in layouts(array).items():
        assert _rows(ask(given)) == wanted, layout


def test_points_of_shapely_and_rotations_of_scipy() -> None:
    shapely = pytest.importorskip("shapely")
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    flat = [shapely.Point(1, 1), shapely.Point(3, 2)]
    flow = Flow(Grid(np.zeros((4, 4), bool), origin=(0.5, 0.5)), engine=CPU)
    for given in (flat, np.array(flat), shapely.MultiPoint(flat), shapely.points([[1, 1], [3, 2]])):
        cells, inside = flow.grid.locate(given)
        assert inside.all() and cells.tolist() == [[0, 0], [2, 1]]
    solid = shapely.points(PLACES)
    assert ARENA.contacts(BodyColumns(0, solid)).rows.tobytes() == ARENA.contacts(BodyColumns(0, PLACES)).rows.tobytes()
    assert Pose(shapely.Point(1, 2, 3)) == Pose([1, 2, 3]) and Hull(list(solid)) == Hull(PLACES)
    for wrong in (shapely.LineString([[0, 0], [1, 1]]), [shapely.Point()], [shapely.Point(1, 2), None]):
        with pytest.raises(hullfield.Error):
            flow.grid.locate(wrong)
    turns = rotation.from_euler("xyz", RANDOM.uniform(-3, 3, (6, 3)))
    wanted = BodyColumns(0, PLACES, turns.as_quat())
    assert ARENA.contacts(BodyColumns(0, PLACES, turns)).rows.tobytes() == ARENA.contacts(wanted).rows.tobytes()
    assert Pose([0, 0, 0], turns[2]) == Pose([0, 0, 0], turns.as_quat()[2])
    assert len(BodyColumns(0, rotations=turns)) == 6


def sheared(by: float) -> Any:
    matrix = np.eye(4)
    matrix[0, 1] = by
    return matrix


def test_poses_as_matrices() -> None:
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    matrices = np.tile(np.eye(4), (5, 3, 1, 1))
    turns = rotation.random(15, random_state=4)
    matrices[..., :3, :3] = turns.as_matrix().reshape(5, 3, 3, 3)
    matrices[..., :3, 3] = RANDOM.uniform(-2, 2, (5, 3, 3))
    links = BodyColumns([0, 1, 0], owners=[0, 1, 2])
    wanted = ARENA.postures(links, matrices[..., :3, 3].copy(), turns.as_quat().reshape(5, 3, 4))
    assert ARENA.postures(links, matrices).rows.tobytes() == wanted.rows.tobytes()
    assert ARENA.postures(links, matrices.astype(np.float32))["is_free"].tolist() == wanted["is_free"].tolist()
    path = JointPath(matrices)
    assert len(path) == 5 and ARENA.joint_paths(links, [path])["outcome"].shape == (1,)
    assert len(BodyColumns.from_matrices(0, np.eye(4))) == 1
    with pytest.raises(hullfield.InvalidInputError, match="the matrices say it"):
        JointPath(matrices, turns.as_quat().reshape(5, 3, 4))
    for by in (1e-3, 0.5):
        poses = matrices.copy()
        poses[2, 1] = sheared(by)
        with pytest.raises(
            hullfield.InvalidInputError, match=r"positions\[2\]\[1\] scales or shears.* orthonormalize=True"
        ):
            JointPath(poses)
        taken = JointPath(poses, orthonormalize=True)._arrays[1][2, 1]
        assert np.linalg.norm(taken) == pytest.approx(1) and taken[2] == pytest.approx(
            -np.sin(np.arctan2(by, 2) / 2), abs=1e-6
        )
        with pytest.raises(hullfield.InvalidInputError, match="shears"):
            Pose.from_matrix(sheared(by))
        pose = Pose.from_matrix(sheared(by), orthonormalize=True)
        assert np.allclose(pose.scale, [1, np.hypot(1, by), 1])
        with pytest.raises(hullfield.InvalidInputError, match="shears"):
            BodyColumns.from_matrices(0, sheared(by)[None])
        assert len(BodyColumns.from_matrices(0, sheared(by)[None], orthonormalize=True)) == 1
        batch = {"object": [0], "pose": sheared(by)[None]}
        with pytest.raises(hullfield.InvalidInputError, match="shears"):
            CollisionLabels([CUBE], [[CUBE]], backend="cpu")(batch)
        assert CollisionLabels([CUBE], [[CUBE]], backend="cpu", orthonormalize=True)(batch)["collides"].tolist() == [
            True
        ]
    for wrong in (np.diag([1, 1, -1, 1]), np.zeros((4, 4)), np.full((4, 4), np.nan), np.ones((4, 4))):
        for ask in (
            lambda: Pose.from_matrix(wrong, orthonormalize=True),  # noqa: B023
            lambda: JointPath(np.tile(wrong, (2, 3, 1, 1)), orthonormalize=True),  # noqa: B023
            lambda: BodyColumns.from_matrices(0, wrong, orthonormalize=True),  # noqa: B023
        ):
            with pytest.raises(hullfield.InvalidInputError):
                ask()
