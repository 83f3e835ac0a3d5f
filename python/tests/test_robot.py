"""Robots of URDF files: what is read, where the links are, which of them meet, and what is refused."""

import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hullfield
from hullfield.collide import Arena, BodyColumns, Hull, JointPath, PathOutcome, Robot

CPU = hullfield.Engine.cpu()
RANDOM = np.random.default_rng(71)

#: A stand that carries a mast with two arms: one turns and lifts, the other mimics it. Between them are links without shapes.
STAND = """<robot name="stand">
  <link name="claw"><collision><origin xyz="0.1 0 -0.2"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <link name="floor"/>
  <link name="foot"><collision><geometry><box size="0.4 0.4 0.1"/></geometry></collision></link>
  <link name="mast"><collision><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry></collision></link>
  <link name="swivel"/>
  <link name="boom"><collision><origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/><geometry><capsule radius="0.04" length="0.8"/></geometry></collision></link>
  <link name="vane"><collision><geometry><box size="0.2 0.02 0.1"/></geometry></collision></link>
  <joint name="hold" type="fixed"><parent link="floor"/><child link="foot"/><origin xyz="0 0 0.05" rpy="0 0 0.7"/></joint>
  <joint name="raise" type="prismatic"><parent link="foot"/><child link="mast"/><origin xyz="0.01 -0.02 0.05" rpy="0.1 -0.2 0.3"/>
    <axis xyz="0 0 2"/><limit lower="-0.1" upper="0.6" effort="9" velocity="1"/></joint>
  <joint name="slew" type="continuous"><parent link="mast"/><child link="swivel"/><origin xyz="0 0 1.1"/><axis xyz="0 0 1"/></joint>
  <joint name="luff" type="revolute"><parent link="swivel"/><child link="boom"/><origin rpy="0 0 0.4"/><axis xyz="0 -3 4"/>
    <limit lower="-2" upper="1.5" effort="9" velocity="1"/></joint>
  <joint name="drop" type="prismatic"><parent link="boom"/><child link="claw"/><origin xyz="0.9 0 0" rpy="-0.5 0.25 1"/><axis xyz="0 0 -1"/>
    <limit lower="0" upper="0.5" effort="9" velocity="1"/><mimic joint="luff" multiplier="-0.25" offset="0.1"/></joint>
  <joint name="wag" type="revolute"><parent link="mast"/><child link="vane"/><origin xyz="0 0.3 1.1"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="9" velocity="1"/><mimic joint="slew" multiplier="2"/></joint>
</robot>"""

#: Two links of a planar arm, each a metre long, on a base.
ARM = """<robot name="arm">
  <link name="base"><collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision></link>
  <link name="upper"><collision><origin xyz="0.5 0 0"/><geometry><box size="0.7 0.1 0.1"/></geometry></collision></link>
  <link name="lower"><collision><origin xyz="0.5 0 0"/><geometry><box size="0.9 0.1 0.1"/></geometry></collision></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/><limit lower="-3.1" upper="3.1"/></joint>
  <joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="1 0 0"/><axis xyz="0 0 1"/><limit lower="-3.1" upper="3.1"/></joint>
</robot>"""


def translation(x: float, y: float, z: float) -> Any:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def about(axis: Any, angle: float) -> Any:
    """A rotation about an axis, as the exponential of its cross product: a series of a small part, squared, and not Rodrigues' formula."""
    x, y, z = np.array(axis, float) / np.linalg.norm(axis)
    cross = angle / 64 * np.array([[0, -z, y, 0], [z, 0, -x, 0], [-y, x, 0, 0], [0, 0, 0, 0]])
    total, term = np.eye(4), np.eye(4)
    for power in range(1, 20):
        term = term @ cross / power
        total = total + term
    return np.linalg.matrix_power(total, 64)


def rpy(roll: float, pitch: float, yaw: float) -> Any:
    return about([0, 0, 1], yaw) @ about([0, 1, 0], pitch) @ about([1, 0, 0], roll)


def stand_poses(lift: float, slew: float, luff: float) -> dict[str, Any]:
    """The links of the stand, by hand."""
    foot = translation(0, 0, 0.05) @ rpy(0, 0, 0.7)
    mast = foot @ translation(0.01, -0.02, 0.05) @ rpy(0.1, -0.2, 0.3) @ translation(0, 0, lift)
    swivel = mast @ translation(0, 0, 1.1) @ about([0, 0, 1], slew)
    boom = swivel @ rpy(0, 0, 0.4) @ about([0, -3, 4], luff)
    claw = boom @ translation(0.9, 0, 0) @ rpy(-0.5, 0.25, 1) @ translation(0, 0, -(0.1 - 0.25 * luff))
    vane = mast @ translation(0, 0.3, 1.1) @ about([0, 0, 1], 2 * slew)
    links = {"floor": np.eye(4), "foot": foot, "mast": mast, "swivel": swivel, "boom": boom}
    return {**links, "claw": claw, "vane": vane}


def test_the_parts_of_a_robot() -> None:
    robot = Robot.from_urdf_text(STAND)
    assert (robot.name, robot.base_link) == ("stand", "floor")
    assert robot.link_names == ["claw", "floor", "foot", "mast", "swivel", "boom", "vane"]
    assert robot.joint_names == ["raise", "slew", "luff"]
    assert robot.limits.tolist() == [[-0.1, 0.6], [-np.inf, np.inf], [-2, 1.5]]
    assert not robot.limits.flags.writeable
    assert len(robot.hulls) == 5 and repr(robot) == "<hullfield.collide.Robot: 'stand', 7 links, 3 joints that are set>"
    columns = robot.bodies(first_hull=10, groups=2, static_exclusions=[[2, 0]]).arrays()
    assert columns["hulls"].tolist() == [10, 11, 12, 13, 14] and columns["owners"].tolist() == [0, 2, 3, 5, 6]
    assert columns["groups"].tolist() == [2] * 5
    with pytest.raises(hullfield.InvalidTypeError, match=r"Robot\.from_urdf"):
        Robot()


def test_forward_kinematics_is_a_product_of_matrices() -> None:
    robot = Robot.from_urdf_text(STAND)
    values = RANDOM.uniform(-4, 4, (50, 3))
    poses = robot.forward_kinematics(values)
    assert poses.shape == (50, 7, 4, 4) and poses.dtype == np.float64
    for row, found in zip(values, poses, strict=True):
        wanted = stand_poses(*row)
        for name, pose in zip(robot.link_names, found, strict=True):
            assert np.abs(pose - wanted[name]).max() < 1e-13, (name, row)
    assert np.array_equal(robot.forward_kinematics(values[3]), poses[3])
    assert np.array_equal(robot.forward_kinematics(values[:0]), poses[:0])
    by_name = dict(zip(robot.joint_names, values.T, strict=True))
    assert np.array_equal(robot.forward_kinematics(by_name), poses)
    one = robot.forward_kinematics({"luff": 0.5, "slew": values[:, 1], "raise": 0})
    assert np.array_equal(
        one, robot.forward_kinematics(np.column_stack([0 * values[:, 0], values[:, 1], 0 * values[:, 2] + 0.5]))
    )
    # Rotations stay rotations.
    turned = poses[..., :3, :3]
    assert np.abs(turned @ turned.swapaxes(-1, -2) - np.eye(3)).max() < 1e-14


def test_scipy_agrees() -> None:
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    robot = Robot.from_urdf_text(ARM.replace('<origin xyz="1 0 0"/>', '<origin xyz="1 0 0" rpy="0.3 -1.1 2.2"/>'))
    found = robot.forward_kinematics([0.4, -0.9])[2]
    turn = (
        rotation.from_rotvec([0, 0, 0.4])
        * rotation.from_euler("xyz", [0.3, -1.1, 2.2])
        * rotation.from_rotvec([0, 0, -0.9])
    )
    assert np.abs(found[:3, :3] - turn.as_matrix()).max() < 1e-15
    assert np.abs(found[:3, 3] - [np.cos(0.4), np.sin(0.4), 0]).max() < 1e-15


def test_values_are_checked() -> None:
    robot = Robot.from_urdf_text(STAND)
    for wrong, message in [
        ([0, 0], r"values has the shape \(2,\), it must be \(3,\) or \(n, 3\)"),
        (np.zeros((4, 2)), r"values has the shape \(4, 2\)"),
        (np.zeros((2, 2, 3)), r"values has the shape \(2, 2, 3\)"),
        (1.0, r"values has the shape \(1,\)"),
        ([0, np.nan, 0], "values of joint 'slew' is nan, it must be finite"),
        ([[0, 0, 0], [0, 0, np.inf]], r"values\[1\] of joint 'luff' is inf"),
        ({"raise": 0, "slew": 0}, "values has no number for the joint 'luff'"),
        ({"raise": 0, "slew": 0, "luff": 0, "drop": 0}, "values has 'drop', which is no joint that is set"),
        ({"raise": [0, 1], "slew": [0, 1, 2], "luff": 0}, "values have other lengths"),
        (["a", "b", "c"], "real numbers"),
        (np.ma.masked_array([0.0, 1, 2], mask=[0, 1, 0]), "masked"),
    ]:
        with pytest.raises(hullfield.Error, match=message):
            robot.forward_kinematics(wrong)


def test_a_robot_without_joints_or_shapes() -> None:
    robot = Robot.from_urdf_text('<robot><link name="rock"/></robot>')
    assert robot.joint_names == [] and robot.limits.shape == (0, 2) and robot.exclusions == []
    assert np.array_equal(robot.forward_kinematics([]), np.eye(4)[None])
    assert robot.forward_kinematics(np.zeros((5, 0))).shape == (5, 1, 4, 4) and robot.touching_links() == []
    with pytest.raises(hullfield.InvalidInputError, match="no link of the robot '' has a shape"):
        robot.bodies()


def test_neighbours_never_meet() -> None:
    robot = Robot.from_urdf_text(STAND)
    # The foot carries the mast; the boom hangs from the mast by way of a link without a shape.
    assert robot.exclusions == [("claw", "boom"), ("foot", "mast"), ("mast", "boom"), ("mast", "vane")]
    # A shape that is rigidly joined to a link without one stands for it; links of one rigid part never meet.
    text = """<robot><link name="root"/>
      <link name="a"><collision><geometry><sphere radius="1"/></geometry></collision></link>
      <link name="b"><collision><geometry><sphere radius="1"/></geometry></collision></link>
      <link name="c"><collision><geometry><sphere radius="1"/></geometry></collision></link>
      <link name="d"><collision><geometry><sphere radius="1"/></geometry></collision></link>
      <joint name="1" type="fixed"><parent link="root"/><child link="a"/></joint>
      <joint name="2" type="fixed"><parent link="root"/><child link="b"/></joint>
      <joint name="3" type="continuous"><parent link="root"/><child link="c"/></joint>
      <joint name="4" type="continuous"><parent link="b"/><child link="d"/></joint></robot>"""
    robot = Robot.from_urdf_text(text)
    assert robot.exclusions == [("a", "b"), ("a", "c"), ("b", "c"), ("b", "d")]
    assert robot.touching_links() == [("a", "d"), ("c", "d")]
    more = robot.with_exclusions([("d", "a"), ("a", "b")])
    assert more.exclusions == [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d")]
    assert more.touching_links([0, 0]) == [("c", "d")] and robot.touching_links([0, 0]) == [("a", "d"), ("c", "d")]
    assert Robot.from_urdf_text(text, exclusions=[("c", "d")]).touching_links() == [("a", "d")]
    for wrong, message in [
        ([("a", "x")], r"exclusions\[0\] has 'x', which is no link of the robot"),
        ([("a", "b"), ("a", "a")], r"exclusions\[1\] is \('a', 'a'\), it must be two names of links"),
        ([("a",)], r"exclusions\[0\] is \('a',\)"),
        (["ab"], "it must be two names of links"),
        (7, "exclusions is of the type int"),
    ]:
        with pytest.raises(hullfield.Error, match=message):
            robot.with_exclusions(wrong)  # type: ignore[arg-type]


def test_postures_meet_themselves_and_the_statics() -> None:
    robot = Robot.from_urdf_text(ARM)
    arena = Arena([*robot.hulls, Hull.ball(0.25)], engine=CPU, statics=BodyColumns(3, [[0, 2, 0]]))
    # The elbow folds the lower link over the base: at half a turn it lies on the upper one, which is its neighbour.
    elbow = np.linspace(0, np.pi, 181)
    found = arena.postures(robot.bodies(), robot.forward_kinematics({"shoulder": 0, "elbow": elbow}))

    # The lower link's box reaches from 0.05 to 0.95 m, and 0.05 m to both sides; the base's corner is at 0.1 m.
    def meets(angle: float) -> bool:
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        sides = [turn.T[0], turn.T[1], np.array([1.0, 0]), np.array([0, 1.0])]
        box = np.array([[0.5 + x, y] for x in (-0.45, 0.45) for y in (-0.05, 0.05)]) @ turn.T + [1, 0]
        base = np.array([[x, y] for x in (-0.1, 0.1) for y in (-0.1, 0.1)])
        return all(
            (box @ side).min() <= (base @ side).max() and (base @ side).min() <= (box @ side).max() for side in sides
        )

    wanted = [meets(angle) for angle in elbow]
    assert (~found["is_free"]).tolist() == wanted and 0 < sum(wanted) < 181
    assert {tuple(pair) for pair in found["pair"][~found["is_free"]].tolist()} == {(0, 2)}
    # Straight up it reaches into the ball, which is the static after three bodies.
    up = arena.postures(robot.bodies(), robot.forward_kinematics([np.pi / 2, 0]))
    assert up["pair"].tolist() == [[2, 3]]
    lifted = arena.postures(robot.bodies(), translation(0, 0, 1) @ robot.forward_kinematics([[np.pi / 2, 0]]))
    assert lifted["is_free"].tolist() == [True]
    free = robot.bodies(static_exclusions=[[2, 0]])
    assert arena.postures(free, robot.forward_kinematics([np.pi / 2, 0]))["is_free"].tolist() == [True]


def test_hulls_may_come_after_others_in_the_arena() -> None:
    robot = Robot.from_urdf_text(ARM)
    arena = Arena([Hull.ball(0.25)], engine=CPU, statics=BodyColumns(0, [[0, 2, 0]]))
    first = arena.add_hulls(robot.hulls)[0]
    found = arena.postures(robot.bodies(first), robot.forward_kinematics([[np.pi / 2, 0], [0, 0]]))
    assert found["is_free"].tolist() == [False, True]


def test_links_after_the_last_with_a_shape_need_no_poses() -> None:
    text = ARM.replace(
        "</robot>",
        '<link name="tool"/><joint name="t" type="fixed"><parent link="lower"/><child link="tool"/></joint></robot>',
    )
    robot, plain = Robot.from_urdf_text(text), Robot.from_urdf_text(ARM)
    values = RANDOM.uniform(-3, 3, (40, 2))
    arena = Arena(robot.hulls, engine=CPU)
    wanted = arena.postures(plain.bodies(), plain.forward_kinematics(values))
    for bodies in (robot.bodies(), pickle.loads(pickle.dumps(robot.bodies()))):
        found = arena.postures(bodies, robot.forward_kinematics(values))
        assert found.rows.tobytes() == wanted.rows.tobytes()
        paths = arena.joint_paths(bodies, [robot.joint_path(values[:5] * 0.1)])
        assert (
            paths.rows.tobytes()
            == arena.joint_paths(plain.bodies(), [plain.joint_path(values[:5] * 0.1)]).rows.tobytes()
        )
    # Poses of another robot are an error, and so are too many of bodies that are of no robot.
    with pytest.raises(
        hullfield.InvalidInputError, match=r"positions has the shape \(40, 3, 3\): the robot has 4 links, not 3"
    ):
        arena.postures(robot.bodies(), plain.forward_kinematics(values))
    with pytest.raises(hullfield.InvalidInputError, match=r"paths\[0\] has the shape .*: the robot has 4 links, not 3"):
        arena.joint_paths(robot.bodies(), [plain.joint_path(values[:3] * 0.1)])
    with pytest.raises(hullfield.InvalidInputError, match="poses"):
        arena.postures(BodyColumns([0, 1, 2], owners=[0, 1, 2]), robot.forward_kinematics(values))


def test_paths_stay_within_their_deviations() -> None:
    robot = Robot.from_urdf_text(STAND)
    reaches = {body.link: np.linalg.norm(body.position) for body in robot._parts.bodies}
    tightest = 0.0
    for _ in range(30):
        ends = RANDOM.uniform(-1, 1, (1, 3)) + np.array([[0, 0, 0], [0.2, 0.3, -0.25]])
        _, _, bounds = robot.joint_path(ends)._arrays
        first, last = robot.forward_kinematics(ends)
        for share in (0.25, 0.5, 0.75):
            exact = robot.forward_kinematics(ends[0] + share * (ends[1] - ends[0]))
            for link in reaches:
                # The motion between samples: the origin along a line, the rotation about a fixed axis.
                middle = first[link, :3, 3] + share * (last[link, :3, 3] - first[link, :3, 3])
                turn = first[link, :3, :3].T @ last[link, :3, :3]
                axis = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
                angle = np.arctan2(np.linalg.norm(axis), np.trace(turn) - 1)
                rotation = first[link, :3, :3] @ (about(axis, share * angle)[:3, :3] if angle > 1e-12 else np.eye(3))
                points = RANDOM.normal(size=(20, 3))
                points *= robot._reach[link] / np.linalg.norm(points, axis=1, keepdims=True)
                apart = exact[link, :3, 3] + points @ exact[link, :3, :3].T - (middle + points @ rotation.T)
                far = np.linalg.norm(apart, axis=1).max()
                assert far <= bounds[0, link] + 1e-14, (link, far, bounds[0, link])
                if bounds[0, link] > 1e-9:
                    tightest = max(tightest, far / bounds[0, link])
    assert tightest > 0.05


def test_paths_are_proved() -> None:
    robot = Robot.from_urdf_text(ARM)
    arena = Arena([*robot.hulls, Hull.ball(0.25)], engine=CPU, statics=BodyColumns(3, [[0, 2, 0]]))
    turn = np.linspace([0.0, 0.0], [np.pi, 0.0], 100)
    folded = np.linspace([0.0, 0.4], [0.3, 0.9], 20)
    found = arena.joint_paths(robot.bodies(), [robot.joint_path(turn), robot.joint_path(folded)])
    assert found["outcome"].tolist() == [PathOutcome.HIT, PathOutcome.FREE]
    assert found["pair"][0].tolist() == [2, 3] and 40 < found["time"][0] < 50
    by_name = robot.joint_path({"shoulder": turn[:, 0], "elbow": 0})
    assert isinstance(by_name, JointPath) and len(by_name) == 100
    for wrong in ([0, 0], [[0, 0]]):
        with pytest.raises(hullfield.InvalidInputError, match="a path needs at least two"):
            robot.joint_path(wrong)


def test_a_robot_pickles() -> None:
    robot = Robot.from_urdf_text(STAND).with_exclusions([("foot", "vane")])
    again = pickle.loads(pickle.dumps(robot))
    values = RANDOM.uniform(-1, 1, (5, 3))
    assert np.array_equal(again.forward_kinematics(values), robot.forward_kinematics(values))
    assert (
        again.exclusions == robot.exclusions
        and again.hulls == robot.hulls
        and again.limits.tolist() == robot.limits.tolist()
    )


def test_shapes_are_not_cut() -> None:
    text = """<robot><link name="a"><collision><geometry><cylinder radius="2" length="3"/></geometry></collision></link></robot>"""
    for sides in (3, 32, 500):
        (hull,) = Robot.from_urdf_text(text, cylinder_sides=sides).hulls
        radii = np.hypot(*hull.vertices[:, :2].astype(float).T)
        assert len(hull.vertices) == 2 * sides and np.abs(radii * np.cos(np.pi / sides) - 2).max() < 1e-5
        assert sorted({*np.abs(hull.vertices[:, 2]).tolist()}) == [1.5]
    boxes = '<robot><link name="a"><collision><geometry><box size="1 2 3"/></geometry></collision></link></robot>'
    assert Robot.from_urdf_text(boxes).hulls == [Hull.cuboid([0.5, 1, 1.5])]
    for sides in (2, 65_537, 2.5, True):
        with pytest.raises(hullfield.Error, match="cylinder_sides"):
            Robot.from_urdf_text(text, cylinder_sides=sides)  # type: ignore[arg-type]
    with pytest.raises(hullfield.InvalidInputError, match=r"URDF: line 1: a collision of link a: cylinder: .*axis"):
        Robot.from_urdf_text(text.replace('length="3"', 'length="0"'))
    with pytest.raises(hullfield.InvalidInputError, match="URDF: line 1: a collision of link a: sphere: "):
        Robot.from_urdf_text(text.replace('<cylinder radius="2" length="3"/>', '<sphere radius="1e300"/>'))


TETRAHEDRON = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]], np.float32)


def stl(points: Any) -> bytes:
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    rows = [struct.pack("<12fH", 0, 0, 0, *points[list(face)].reshape(-1), 0) for face in faces]
    return b" " * 80 + struct.pack("<I", len(rows)) + b"".join(rows)


OBJECTS = "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\no b\nv 5 0 0\nv 6 0 0\nv 5 1 0\nv 5 0 1\nf 5 7 6\nf 5 6 8\nf 5 8 7\nf 6 7 8\n"


def is_hull(hulls: list[Hull], points: Any) -> bool:
    """Whether there is one hull, of these vertices in any order."""
    (hull,) = hulls
    return sorted(hull.vertices.tolist()) == sorted(np.asarray(points, np.float32).tolist())


def robot_of_mesh(file: str, more: str = "") -> str:
    return f"""<robot name="r">
  <link name="a"/>
  <link name="b"><collision><geometry>
    <mesh filename="{file}" {more}/></geometry></collision></link>
  <joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
</robot>"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package `lab` with meshes and a folder of robots."""
    folder = tmp_path / "lab"
    (folder / "meshes").mkdir(parents=True)
    (folder / "robots" / "parts").mkdir(parents=True)
    (folder / "meshes" / "t.stl").write_bytes(stl(TETRAHEDRON))
    (folder / "robots" / "parts" / "t.STL").write_bytes(stl(TETRAHEDRON))
    (folder / "robots" / "two.obj").write_text(OBJECTS)
    return folder


def read(folder: Path, text: str, **options: Any) -> Robot:
    (folder / "robots" / "r.urdf").write_text(text)
    return Robot.from_urdf(folder / "robots" / "r.urdf", **options)


def test_meshes_become_their_hulls(package: Path, tmp_path: Path) -> None:
    inside = package / "robots" / "parts" / "t.STL"
    for file in (
        "package://lab/meshes/t.stl",
        "model://lab/meshes/t.stl",
        "parts/t.STL",
        "./parts/../parts/t.STL",
        f"file://{inside}",
        str(inside),
    ):
        assert is_hull(read(package, robot_of_mesh(file)).hulls, TETRAHEDRON), file
    scaled = read(package, robot_of_mesh("parts/t.STL", 'scale="1 -0.5 0.001"')).hulls
    assert is_hull(scaled, TETRAHEDRON * [1, -0.5, 0.001])
    # Another package; and a folder that is none of a package but may be read from.
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "u.stl").write_bytes(stl(2 * TETRAHEDRON))
    other = read(package, robot_of_mesh("package://away/u.stl"), packages={"away": tmp_path / "elsewhere"})
    assert is_hull(other.hulls, 2 * TETRAHEDRON)
    assert is_hull(read(package, robot_of_mesh("../meshes/t.stl"), packages={"lab": str(package)}).hulls, TETRAHEDRON)
    text = Robot.from_urdf_text(robot_of_mesh("parts/t.STL"), folder=package / "robots")
    assert is_hull(text.hulls, TETRAHEDRON)
    whole = read(package, robot_of_mesh("two.obj")).hulls
    parts = read(package, robot_of_mesh("two.obj"), mesh_hulls="object").hulls
    assert is_hull(whole, [[0, 0, 0], [0, 1, 0], [0, 0, 1], [6, 0, 0], [5, 1, 0], [5, 0, 1]])
    assert [len(hull.vertices) for hull in parts] == [4, 4] and parts[1].vertices.min(axis=0).tolist() == [5, 0, 0]


def test_meshes_stay_in_their_folders(package: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.stl"
    secret.write_bytes(stl(TETRAHEDRON))
    (package / "robots" / "parts" / "wrong.stl").write_bytes(b"o a\nv 0 0 0\n")
    (package / "robots" / "parts" / "view.dae").write_text("<COLLADA/>")
    for file, message in [
        ("../../secret.stl", "leads out of the folder"),
        ("../meshes/t.stl", "leads out of the folder .* give the folder that has it in packages"),
        (str(secret), "leads out of the folder"),
        (f"file://{secret}", "leads out of the folder"),
        ("package://lab/../secret.stl", "leads out of the folder"),
        ("package://lab/meshes/../../secret.stl", "leads out of the folder"),
        ("package:///etc/passwd", "the package  is neither in packages nor a folder above or beside"),
        ("package://../secret.stl", r"the package \.\. is neither"),
        ("package://gone/t.stl", "the package gone is neither in packages"),
        ("http://example.org/t.stl", "paths, package:// and file:// are read"),
        ("", "is no file"),
        ("parts/none.stl", r'mesh: "parts/none\.stl": there is no file .*none\.stl'),
        ("package://lab/meshes/none.stl", "there is no file"),
        ("parts", "unknown format"),
        ("parts/view.dae", "unknown format by its extension: obj, stl, ply, off, gltf or glb is read"),
        ("parts/wrong.stl", r"wrong\.stl: by its first bytes it is OBJ, by its name STL"),
    ]:
        with pytest.raises(hullfield.Error, match=message) as caught:
            read(package, robot_of_mesh(file))
        text = str(caught.value)
        assert "r.urdf: line 3: a collision of link b: mesh: " in text and "\n" not in text, text
    with pytest.raises(hullfield.InvalidInputError, match="give folder"):
        Robot.from_urdf_text(robot_of_mesh("t.stl"))
    with pytest.raises(hullfield.FileError, match=r"r\.urdf: line 3: .*there is no file"):
        read(package, robot_of_mesh("parts/none.stl"))
    (package / "robots" / "parts" / "folder.stl").mkdir()
    with pytest.raises(hullfield.FileError, match="it is no regular file"):
        read(package, robot_of_mesh("parts/folder.stl"))


def test_files_that_are_no_robots(tmp_path: Path) -> None:
    with pytest.raises(hullfield.FileError, match=r"none\.urdf: "):
        Robot.from_urdf(tmp_path / "none.urdf")
    with pytest.raises(hullfield.FileError, match="no regular file"):
        Robot.from_urdf(tmp_path)
    (tmp_path / "wide.urdf").write_text(STAND, encoding="utf-16")
    with pytest.raises(hullfield.InvalidInputError, match=r"wide\.urdf: it is text in UTF-16: save it as UTF-8"):
        Robot.from_urdf(str(tmp_path / "wide.urdf"))
    (tmp_path / "huge.urdf").write_bytes(b" " * (2**24 + 9))
    with pytest.raises(hullfield.InvalidInputError, match=r"huge\.urdf: it has more than 16777216 bytes"):
        Robot.from_urdf(tmp_path / "huge.urdf")
    for wrong in (7, None, b"robot.urdf", ["a"]):
        with pytest.raises(hullfield.InvalidTypeError, match="path is of the type"):
            Robot.from_urdf(wrong)  # type: ignore[arg-type]
    for wrong in ("", "a\0b"):
        with pytest.raises(hullfield.InvalidInputError, match="which is no path"):
            Robot.from_urdf(wrong)


#: What is replaced in the stand, and the error.
BROKEN = [
    ("", "", None),
    (
        '<parent link="mast"/><child link="swivel"/>',
        '<parent link="claw"/><child link="swivel"/>',
        "hangs from a loop of joints",
    ),
    (
        '<link name="floor"/>',
        '<link name="floor"/><link name="roof"/>',
        "the links floor and roof are the child of no joint",
    ),
    ('<parent link="floor"/>', '<parent link="flor"/>', "line 9: joint hold: no link has the name flor"),
    ('<child link="vane"/>', '<child link="claw"/>', "link claw is the child of two joints, drop and wag"),
    ('<axis xyz="0 -3 4"/>', '<axis xyz="0 0 0"/>', "joint luff: axis is 0, which has no direction"),
    ('xyz="0 0 1.1"/><axis', 'xyz="0 NaN 1.1"/><axis', 'joint slew: origin: xyz "NaN" is not finite'),
    ('rpy="0 0 0.4"', 'rpy="0 0 inf"', 'joint luff: origin: rpy "inf" is not finite'),
    (
        '<limit lower="-2" upper="1.5" effort="9" velocity="1"/>',
        "",
        "joint luff has no limit, which a revolute joint needs",
    ),
    ('lower="-2"', 'lower="2"', "lower is 2, above upper, 1.5"),
    (
        'type="continuous"',
        'type="planar"',
        "its type is planar; fixed, revolute, continuous and prismatic joints are read",
    ),
    ('type="continuous"', 'type="floating"', "its type is floating"),
    ('mimic joint="slew"', 'mimic joint="wag"', "joint wag mimics joint wag, and so on in a loop"),
    ('mimic joint="slew"', 'mimic joint="hold"', "which is fixed"),
    ('<robot name="stand">', '<!DOCTYPE r [<!ENTITY a "aaaa">]><robot name="&a;">', "it has a document type"),
    ("</robot>", "", "it is not well-formed XML"),
    ('radius="0.04"', 'radius="-1"', "radius is -1, it must be 0 or more"),
    ('radius="0.04"', 'radius="1e200"', "a collision of link boom: capsule: "),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_what_cannot_be_read_is_one_sentence(number: int) -> None:
    old, new, message = BROKEN[number]
    assert old in STAND
    text = STAND.replace(old, new, 1)
    if message is None:
        assert Robot.from_urdf_text(text.encode()).name == "stand"
        return
    with pytest.raises(hullfield.InvalidInputError) as caught:
        Robot.from_urdf_text(text)
    found = str(caught.value)
    assert message in found and found.startswith("URDF: ") and "\n" not in found, found


def test_too_many_hulls_are_refused() -> None:
    shape = "<collision><geometry><sphere radius='1'/></geometry></collision>"
    assert len(Robot.from_urdf_text(f"<robot><link name='a'>{shape * 1024}</link></robot>").hulls) == 1024
    with pytest.raises(hullfield.InvalidInputError, match="the robot has more than 1024 hulls"):
        Robot.from_urdf_text(f"<robot><link name='a'>{shape * 1025}</link></robot>")
    links = "".join(f"<link name='{row}'>{shape}</link>" for row in range(1000))
    joints = "".join(
        f"<joint name='{row}' type='fixed'><parent link='0'/><child link='{row}'/></joint>" for row in range(1, 1000)
    )
    robot = Robot.from_urdf_text(f"<robot>{links}{joints}</robot>")
    assert len(robot.exclusions) == 999 * 500
    assert Arena(robot.hulls, engine=CPU).postures(robot.bodies(), robot.forward_kinematics([]))[
        "is_free"
    ].tolist() == [True]


def test_srdf_files_name_pairs_that_never_meet(tmp_path: Path) -> None:
    (tmp_path / "stand.urdf").write_text(STAND)
    pairs = tmp_path / "stand.srdf"
    pairs.write_text(
        '<robot name="stand"><disable_collisions link1="vane" link2="foot" reason="Never"/>'
        '<disable_collisions link1="swivel" link2="foot"/></robot>'
    )
    plain = Robot.from_urdf(tmp_path / "stand.urdf")
    robot = Robot.from_urdf(tmp_path / "stand.urdf", srdf=pairs)
    assert sorted({*robot.exclusions} - {*plain.exclusions}) == [("foot", "vane")]
    pairs.write_text(
        '<robot><disable_default_collisions link="claw"/><enable_collisions link1="mast" link2="claw"/></robot>'
    )
    robot = Robot.from_urdf_text(STAND, srdf=str(pairs))
    assert sorted({*robot.exclusions} - {*plain.exclusions}) == [("claw", "foot"), ("claw", "vane")]
    pairs.write_text('<robot>\n<disable_collisions link1="vane" link2="wing"/></robot>')
    with pytest.warns(UserWarning, match=r"stand\.srdf: line 2: the robot has no link 'wing'"):
        Robot.from_urdf_text(STAND, srdf=pairs)
    pairs.write_text('<robot>\n<disable_collisions link1="vane"/></robot>')
    with pytest.raises(
        hullfield.InvalidInputError, match=r"stand\.srdf: line 2: disable_collisions has no attribute link2"
    ):
        Robot.from_urdf_text(STAND, srdf=pairs)
    with pytest.raises(hullfield.FileError, match="none"):
        Robot.from_urdf_text(STAND, srdf=tmp_path / "none")


def test_poses_by_matrices_are_those_of_quaternions() -> None:
    rotation = pytest.importorskip("scipy.spatial.transform").Rotation
    from hullfield.collide._matrices import rigid

    turns = rotation.random(2000, random_state=9)
    for angle in (0, 1e-9, 1e-3, np.pi - 1e-9, np.pi, np.pi + 1e-3):
        turns = rotation.concatenate(
            [turns, rotation.from_rotvec(angle * np.eye(3)), rotation.from_rotvec(-angle * np.eye(3))]
        )
    matrices = np.tile(np.eye(4), (len(turns), 1, 1))
    matrices[:, :3, :3] = turns.as_matrix()
    _, found = rigid("m", matrices, False)
    wanted = turns.as_quat()
    wanted *= np.sign((wanted * found).sum(axis=1, keepdims=True))
    assert np.abs(found - wanted).max() < 1e-15
