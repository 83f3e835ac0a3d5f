"""Labels for learning to grasp: at which poses is a gripper free, and does it hold something there?

A gripper of three boxes, a palm and two fingers, meets objects of several convex parts at random poses. A grasp is free if no part of the gripper
touches the object, and good if the space between the fingers does. Printed are both shares and how many poses are labelled in a second.

    python grasp_labels.py --picture grasps.png
    python grasp_labels.py --full               # 1,000 objects, a million poses
    python grasp_labels.py --full --workers 4   # on four processes, by Ray
"""

import argparse
import time

import numpy as np

from hullfield.collide import Hull
from hullfield.work import CollisionLabels

# The gripper's frame, in metres: it comes along z, the fingers close along x, and their tips are at z = 0.
OPENING, LENGTH, THICKNESS, WIDTH = 0.10, 0.06, 0.012, 0.02


def box(low, high):
    """The hull of a box from its least and its greatest corner."""
    return Hull([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])


def make_gripper():
    inner, outer, half = OPENING / 2, OPENING / 2 + THICKNESS, WIDTH / 2
    palm = box([-outer, -half, -LENGTH - 0.02], [outer, half, -LENGTH])
    fingers = [box([-outer, -half, -LENGTH], [-inner, half, 0]), box([inner, -half, -LENGTH], [outer, half, 0])]
    between = box([-inner, -half, -LENGTH / 2], [inner, half, 0])
    return [palm, *fingers], between


def make_object(random):
    """Two to five convex parts about the origin, as a convex decomposition of a mesh gives them."""
    count = random.integers(2, 6)
    sizes, middles = random.uniform(0.012, 0.035, size=(count, 3)), random.normal(0, 0.02, size=(count, 3))
    middles -= middles.mean(axis=0)
    points = random.normal(0, 0.6, size=(count, 40, 3)).clip(-1, 1)
    return [Hull(points[part] * sizes[part] + middles[part]) for part in range(count)]


def make_poses(random, count):
    """The gripper's frame in the object's, (count, 4, 4): from any direction, its tips 8 cm before the middle of the object to 2 cm past it."""
    z = random.normal(size=(count, 3))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    x = np.cross(z, random.normal(size=(count, 3)))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    poses = np.zeros((count, 4, 4))
    poses[:, :3, 0], poses[:, :3, 1], poses[:, :3, 2] = x, np.cross(z, x), z
    poses[:, :3, 3] = z * random.uniform(-0.08, 0.02, size=(count, 1))
    poses[:, 3, 3] = 1
    return poses


class GraspLabels:
    """Work in rows: called with the columns ``object`` and ``pose``, gives a row for each. Any such object may be run by Ray."""

    def __init__(self, gripper, between, objects):
        self.gripper, self.between = CollisionLabels(gripper, objects), CollisionLabels([between], objects)

    def __call__(self, batch):
        return {"collides": self.gripper(batch)["collides"], "holds": self.between(batch)["collides"]}


def label(work, batch, workers):
    """Calls the work here, or on several processes: the answer is the same."""
    if not workers:
        return work(batch)
    import hullfield.ray

    return hullfield.ray.run(batch, work, workers=workers, batch_size=16384)


def draw(file, parts, gripper, poses, collides, good):
    """One object twice, with a few good grasps and a few that collide."""
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = plt.figure(figsize=(6.4, 3.2), dpi=100, layout="constrained")
    for panel, (title, mask, color) in enumerate([("are good", good, "#5fae7b"), ("collide", collides, "#d9827c")]):
        faces = [(hull.vertices[face], "#c9d3dc") for hull in parts for face in hull.faces]
        for pose in poses[mask][:2]:
            for hull in gripper:
                vertices = hull.vertices @ pose[:3, :3].T + pose[:3, 3]
                faces += [(vertices[face], color) for face in hull.faces]
        axes = figure.add_subplot(1, 2, panel + 1, projection="3d")
        polygons, colors = zip(*faces, strict=True)
        axes.add_collection3d(Poly3DCollection(polygons, facecolors=colors, edgecolor="#60707c", linewidth=0.4))
        axes.set(xlim=(-0.1, 0.1), ylim=(-0.1, 0.1), zlim=(-0.1, 0.1))
        axes.set_title(f"{np.count_nonzero(mask)} of {len(poses)} grasps {title}", fontsize=10)
        axes.set_box_aspect((1, 1, 1), zoom=1.3)
        axes.set_axis_off()
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="1,000 objects and a million poses")
    parser.add_argument("--workers", type=int, metavar="N", help="spread the work over N processes (needs ray)")
    parser.add_argument("--picture", metavar="FILE.png", help="draw grasps of the first object (needs matplotlib)")
    options = parser.parse_args()
    object_count, pose_count = (1000, 1_000_000) if options.full else (50, 20_000)

    random = np.random.default_rng(7)
    objects = [make_object(random) for _ in range(object_count)]
    gripper, between = make_gripper()
    batch = {"object": np.arange(pose_count) * object_count // pose_count, "pose": make_poses(random, pose_count)}

    start = time.perf_counter()  # with workers this counts the start of their processes, some seconds
    labels = label(GraspLabels(gripper, between, objects), batch, options.workers)
    seconds = time.perf_counter() - start
    collides, good = labels["collides"], labels["holds"] & ~labels["collides"]

    print(f"{object_count} objects, {pose_count} poses: {pose_count / seconds:.0f} poses labelled in a second")
    print(f"{np.mean(~collides):.1%} are free, {np.mean(good):.1%} are free with something between the fingers")
    if options.picture:
        first = batch["object"] == 0
        draw(options.picture, objects[0], gripper, batch["pose"][first], collides[first], good[first])


if __name__ == "__main__":
    main()
