"""Columns of bodies, rays and casts: what is taken, what is refused, and that they survive a pickle."""

import copy
import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hullfield
from hullfield.collide import NONE, Arena, BodyColumns, Hull, RayColumns, ShapeCastColumns

ENGINE = hullfield.Engine.cpu()
ARENA = Arena([Hull.ball(1), Hull.cuboid([0.5, 0.5, 0.5])], engine=ENGINE)


def full(count: int = 20) -> BodyColumns:
    random = np.random.default_rng(5)
    return BodyColumns(
        np.arange(count) % 2,
        random.uniform(-2, 2, (count, 3)),
        Rotation.random(count, rng=random).as_quat(),
        random.uniform(0.5, 1.5, (count, 3)),
        paddings=random.uniform(0, 0.1, count),
        groups=random.integers(1, 8, count),
        masks=random.integers(1, 8, count),
        worlds=np.arange(count) // 10,
        owners=np.arange(count) // 2,
        exclusions=[[0, 1], [2, 3]],
    )


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.tobytes() == b.tobytes()


def test_pickles_answer_alike() -> None:
    bodies = full()
    expected = ARENA.contacts(bodies).rows
    assert len(expected) > 0
    for copied in [pickle.loads(pickle.dumps(bodies)), copy.deepcopy(bodies), BodyColumns(**bodies.arrays())]:
        assert len(copied) == len(bodies) and copied.is_f64 == bodies.is_f64
        assert same(ARENA.contacts(copied).rows, expected)
    assert set(bodies.arrays()) == {
        "hulls", "positions", "rotations", "scales", "paddings", "groups", "masks", "worlds", "owners", "exclusions",
    }  # fmt: skip
    plain = BodyColumns(0, np.zeros((3, 3))).arrays()
    assert plain["rotations"].tolist() == [[0, 0, 0, 1]] * 3 and plain["masks"].tolist() == [NONE] * 3
    assert plain["scales"].shape == (3, 3) and plain["paddings"].shape == (3,)


def test_float64_keeps_its_truth() -> None:
    near = BodyColumns(0, [[0, 0, 0], [2.5, 0, 0]])
    assert not near.is_f64
    assert BodyColumns(0, [[0.1, 0, 0]]).is_f64
    assert not BodyColumns(0, np.float32([[0.1, 0, 0]])).is_f64
    far = BodyColumns(0, [[1e7, 0, 0], [1e7 + 2.001, 0, 0]])
    assert far.is_f64
    assert ARENA.distances(far, [[0, 1]])["separation"][0] == pytest.approx(0.001, abs=2e-5)
    assert far.arrays()["positions"].dtype == np.float64 and near.arrays()["positions"].dtype == np.float32
    assert BodyColumns(0, np.array([[2**24 + 1, 0, 0]])).is_f64
    with pytest.raises(hullfield.InvalidInputError, match="body 1: position is .*NaN"):
        ARENA.hits(BodyColumns(0, [[0, 0, 0], [np.nan, 0, 0]]))
    with pytest.raises(hullfield.InvalidInputError, match="position is"):
        ARENA.hits(BodyColumns(0, [[1e300, 0, 0]]))


def test_one_row_stands_for_all() -> None:
    places = np.random.default_rng(1).uniform(-1, 1, (4, 3)).astype(np.float32)
    turn = Rotation.from_euler("z", 0.3).as_quat()
    one = BodyColumns(1, places, turn, 2.0, paddings=0.1, groups=3, masks=1, worlds=9, owners=[0, 1, 2, 3])
    all_rows = BodyColumns(
        [1] * 4, places, [turn] * 4, [[2, 2, 2]] * 4, paddings=[0.1] * 4, groups=[3] * 4, masks=[1] * 4,
        worlds=[9] * 4, owners=[0, 1, 2, 3],
    )  # fmt: skip
    for name, column in one.arrays().items():
        assert same(column, all_rows.arrays()[name]), name
    assert BodyColumns(0, scales=[[1], [2]]).arrays()["scales"].tolist() == [[1, 1, 1], [2, 2, 2]]
    assert BodyColumns([0, 0, 1], scales=[1, 2, 3]).arrays()["scales"].tolist() == [[1, 2, 3]] * 3
    assert len(BodyColumns(0)) == 1 and len(BodyColumns([])) == 0 and len(BodyColumns(0, np.zeros((0, 3)))) == 0
    with pytest.raises(hullfield.InvalidInputError, match=r"scales has the shape \(4,\)"):
        BodyColumns([0] * 4, scales=[1, 2, 3, 4])


def test_any_layout_will_do_and_later_changes_do_not_count() -> None:
    places = np.random.default_rng(2).uniform(-1, 1, (6, 3)).astype(np.float32)
    expected = ARENA.contacts(BodyColumns(0, places)).rows
    wide = np.zeros((12, 6), np.float32)
    wide[::2, 1::2] = places
    frozen = places.copy()
    frozen.flags.writeable = False
    for other in [np.asfortranarray(places), wide[::2, 1::2], frozen, places.astype(np.float64), places.tolist()]:
        assert same(ARENA.contacts(BodyColumns(np.zeros(6, np.uint8), other)).rows, expected)
    bodies = BodyColumns(0, places)
    pending = ARENA.contacts.start(bodies)
    places[:] = 0
    assert same(pending.wait().rows, expected) and same(ARENA.contacts(bodies).rows, expected)


def test_tables_and_other_byte_orders_are_taken() -> None:
    pandas = pytest.importorskip("pandas")
    places = np.random.default_rng(2).uniform(-1, 1, (6, 3)).astype(np.float32)
    expected = ARENA.contacts(BodyColumns([0, 1] * 3, places)).rows
    table = pandas.DataFrame(places, columns=["x", "y", "z"])
    table["hull"] = [0, 1] * 3
    assert same(ARENA.contacts(BodyColumns(table["hull"], table[["x", "y", "z"]])).rows, expected)
    assert same(ARENA.contacts(BodyColumns(table["hull"].astype("Int64"), places)).rows, expected)
    swapped = BodyColumns(np.array([0, 1] * 3, ">i8"), places.astype(">f4"))
    assert not swapped.is_f64 and same(ARENA.contacts(swapped).rows, expected)
    missing = pandas.array([0, None], dtype="Int64")
    with pytest.raises(hullfield.InvalidInputError, match="hulls has masked or missing values"):
        BodyColumns(missing)


def test_matrices_there_and_back() -> None:
    random = np.random.default_rng(7)
    count = 50
    turns, scales = Rotation.random(count, rng=random), random.uniform(0.2, 3, (count, 3))
    matrices = np.zeros((count, 4, 4))
    matrices[:, :3, :3] = turns.as_matrix() * scales[:, None, :]
    matrices[:, :3, 3] = random.uniform(-5, 5, (count, 3)) + 1e6
    matrices[:, 3, 3] = 1
    bodies = BodyColumns.from_matrices(0, matrices, groups=1)
    assert bodies.is_f64 and len(bodies) == count
    back = bodies.to_matrices()
    assert np.abs(back[:, :3, :3] - matrices[:, :3, :3]).max() < 2e-6
    assert (back[:, :, 3] == matrices[:, :, 3]).all()
    for row, change, message in [
        (3, (0, 0, np.nan), "finite"),
        (4, (3, 1, 0.5), "last row"),
        (5, (0, 1, 9.0), "shears"),
        (6, (0, 3, 1e300), "finite"),
    ]:
        wrong = matrices.copy()
        wrong[row, change[0], change[1]] = change[2]
        with pytest.raises(hullfield.InvalidInputError, match=rf"matrices\[{row}\]: .*{message}"):
            BodyColumns.from_matrices(0, wrong)
    mirrored = matrices.copy()
    mirrored[9, :3, 0] *= -1
    with pytest.raises(hullfield.InvalidInputError, match=r"matrices\[9\]: .*mirrors"):
        BodyColumns.from_matrices(0, mirrored)
    for wrong in [np.eye(3), np.zeros((2, 3, 4)), np.zeros((2, 4, 4), bool)]:
        with pytest.raises(hullfield.Error, match="matrices has the"):
            BodyColumns.from_matrices(0, wrong)
    with pytest.raises(hullfield.InvalidInputError, match="positions is given"):
        BodyColumns.from_matrices(0, matrices, positions=[0, 0, 0])
    assert len(BodyColumns.from_matrices([], np.zeros((0, 4, 4)))) == 0


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"hulls": [0.5]}, "hulls has the dtype float64"),
        ({"hulls": [-1]}, r"hulls\[0\] is -1"),
        ({"hulls": [2**32]}, r"hulls\[0\] is 4294967296"),
        ({"hulls": [True]}, "hulls has the dtype bool"),
        ({"hulls": [[0]]}, r"hulls has the shape \(1, 1\)"),
        ({"hulls": None}, "hulls holds objects"),
        ({"hulls": "box"}, "hulls has the dtype"),
        ({"hulls": [0], "positions": [0, 0]}, r"positions has the shape \(2,\)"),
        ({"hulls": [0, 0], "positions": [[0, 0, 0]]}, "positions has 1 rows, it must have 2"),
        ({"hulls": [0], "positions": [[True, False, True]]}, "positions has the dtype bool"),
        ({"hulls": 0, "positions": [[1, 2, 3], [4]]}, "positions is not an array"),
        ({"hulls": [0], "rotations": [[0, 0, 1]]}, r"rotations has the shape \(1, 3\)"),
        ({"hulls": [0], "paddings": [[0.0]]}, r"paddings has the shape \(1, 1\)"),
        ({"hulls": [0], "groups": [1.0]}, "groups has the dtype float64"),
        ({"hulls": [0], "masks": [1, 2]}, "masks has 2 rows"),
        ({"hulls": [0], "worlds": [-1]}, r"worlds\[0\] is -1"),
        ({"hulls": [0], "exclusions": [0, 1]}, r"exclusions has the shape \(2,\)"),
        ({"hulls": [0], "exclusions": [[1, 1]]}, "excluded from itself"),
        (
            {"hulls": [0], "positions": np.ma.array([[1, 2, 3]], mask=[[0, 1, 0]])},
            "positions has masked or missing values",
        ),
    ],
)
def test_wrong_columns_are_errors(columns: dict, message: str) -> None:
    with pytest.raises(hullfield.Error, match=message):
        BodyColumns(**columns)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"hulls": [0, 2]}, "body 1: hull 2 does not exist"),
        ({"hulls": [0], "rotations": [[1, 1, 0, 0]]}, "body 0: rotation"),
        ({"hulls": [0], "scales": 0.0}, "body 0: scale"),
        ({"hulls": [0], "scales": -1}, "body 0: scale"),
        ({"hulls": [0], "paddings": -1}, "body 0: padding"),
        ({"hulls": [0], "paddings": 1e300}, "body 0: padding is inf"),
        ({"hulls": [0], "exclusions": [[0, 7]]}, "7"),
    ],
)
def test_wrong_numbers_are_errors_of_the_query(columns: dict, message: str) -> None:
    with pytest.raises(hullfield.InvalidInputError, match=message):
        ARENA.intersections(BodyColumns(**columns))


def test_rays_and_casts_pickle() -> None:
    rays = RayColumns([[0.1, 0, 0]] * 3, [1, 0, 0], 7.5, groups=[1, 2, 4], masks=7, worlds=[0, 1, 1])
    again = pickle.loads(pickle.dumps(rays))
    assert len(again) == 3
    for name, column in rays.arrays().items():
        assert same(again.arrays()[name], column)
    assert rays.arrays()["origins"].dtype == np.float64
    assert len(RayColumns([], [1, 0, 0])) == 0 and len(RayColumns([0, 0, 0], [[1, 0, 0], [0, 1, 0]])) == 2
    bodies = BodyColumns([0, 1], [[4, 0, 0], [9, 0, 0]])
    casts = ShapeCastColumns(BodyColumns(1, [[0.1, 0, 0], [0, 0, 0]]), [1, 0, 0], [100, np.inf])
    expected = ARENA.shape_casts(bodies, casts, witness=True).rows
    assert same(ARENA.shape_casts(bodies, pickle.loads(pickle.dumps(casts)), witness=True).rows, expected)
    with pytest.raises(hullfield.InvalidInputError, match="ray 0: direction"):
        ARENA.raycasts(bodies, RayColumns([0, 0, 0], [0, 0, 0]))
    with pytest.raises(hullfield.InvalidInputError, match="ray 0: max_distance"):
        ARENA.raycasts(bodies, RayColumns([0, 0, 0], [1, 0, 0], np.nan))
    with pytest.raises(hullfield.InvalidInputError, match="shapes have owners"):
        ShapeCastColumns(BodyColumns([0], owners=[1]), [1, 0, 0])
    with pytest.raises(hullfield.InvalidTypeError, match="rays is of the type list"):
        ARENA.raycasts(bodies, [[0, 0, 0]])  # type: ignore[arg-type]
    with pytest.raises(hullfield.InvalidTypeError, match="bodies is of the type list"):
        ARENA.hits([[0, 0, 0]])  # type: ignore[arg-type]
    with pytest.raises(hullfield.InvalidInputError, match="directions has 3 rows, it must have 2"):
        RayColumns(np.zeros((2, 3)), np.ones((3, 3)))
