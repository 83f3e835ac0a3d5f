"""Which convex bodies touch, how far apart they are, how deep, where, and when.

- A :class:`Hull` is a convex shape. An :class:`Arena` holds the hulls of a scene, laid out once, and bodies that do not move.
- :class:`BodyColumns` are the bodies of a query: hulls at places. Queries of the arena take them and give a :class:`hullfield.Batch` of rows.
- :class:`Robot` reads a robot from a URDF file, and says where its links are.
- One pair needs no arena: :func:`distance` and its like take two hulls and two poses.
- :class:`Compounds` are bodies of several hulls, and height fields. :class:`Bodies` keeps bodies from frame to frame, by ids.

>>> from hullfield.collide import Arena, BodyColumns, Hull, Pose, RayColumns, distance
>>> arena = Arena([Hull.cuboid([0.5, 0.5, 0.5]), Hull.ball(1)])
>>> bodies = BodyColumns([0, 0, 1], [[0, 0, 0], [0.75, 0, 0], [0, 4, 0]])
>>> contacts = arena.contacts(bodies)
>>> contacts["a"].tolist(), contacts["b"].tolist(), contacts["separation"].round(5).tolist()
([0], [1], [-0.25])
>>> arena.distances(bodies, [[0, 2], [1, 0]])["separation"].round(5).tolist()
[2.5, 0.0]
>>> arena.raycasts(bodies, RayColumns([0, 9, 0], [0, -1, 0]))["body"].tolist()
[2]
>>> float(distance(Hull.ball(1), None, Hull.ball(1), Pose([5, 0, 0]))["separation"])
3.0

Units, frames, tolerances and what a verdict is worth are those of the Rust library. Lengths are in the caller's units, the same for hulls and
positions up to a body's scale. Rotations are unit quaternions ``x, y, z, w``. A vertex ``v`` of a body is at
``position + rotation · (scale ⊙ v)``. Axes and normals are unit vectors of the world frame, from the first body of a pair to the second.

Rows are structured arrays. What a row has not is NaN, and :data:`NONE` where it is a number of a body, a face or the like.
"""

from hullfield.collide._arena import Arena
from hullfield.collide._columns import BodyColumns, RayColumns, ShapeCastColumns
from hullfield.collide._compounds import Compound, CompoundColumns, Compounds, HeightField
from hullfield.collide._hull import Dimension, Hull
from hullfield.collide._pair import (
    Pose,
    contact,
    distance,
    distance_lower_bound,
    gradient,
    intersection,
    intersects,
    manifold,
    nearest_point,
    raycast,
    sweep,
)
from hullfield.collide._robot import JointPath, Prismatic, Revolute, joint_deviation
from hullfield.collide._robot_model import Robot
from hullfield.collide._rows import (
    NONE,
    Degeneracy,
    Estimate,
    FeatureKind,
    PathOutcome,
    Phase,
    Prepared,
    Stats,
    Status,
    SweepOutcome,
    Trace,
    TraceStep,
)
from hullfield.collide._set import NO_ID, Bodies, Found

__all__ = [
    "NONE",
    "NO_ID",
    "Arena",
    "Bodies",
    "BodyColumns",
    "Compound",
    "CompoundColumns",
    "Compounds",
    "Degeneracy",
    "Dimension",
    "Estimate",
    "FeatureKind",
    "Found",
    "HeightField",
    "Hull",
    "JointPath",
    "PathOutcome",
    "Phase",
    "Pose",
    "Prepared",
    "Prismatic",
    "RayColumns",
    "Revolute",
    "Robot",
    "ShapeCastColumns",
    "Stats",
    "Status",
    "SweepOutcome",
    "Trace",
    "TraceStep",
    "contact",
    "distance",
    "distance_lower_bound",
    "gradient",
    "intersection",
    "intersects",
    "joint_deviation",
    "manifold",
    "nearest_point",
    "raycast",
    "sweep",
]
