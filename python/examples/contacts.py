"""Which of ten thousand bodies touch, and how deep.

Five lines first. Then boxes, drums, pyramids and stones at random places in a box: every contact, how many bodies touch, the deepest contacts
as a table, and the time it took.

    python contacts.py
    python contacts.py --bodies 1000000 --picture contacts.png
"""

import argparse
import time

import numpy as np

from hullfield.collide import Arena, BodyColumns, Hull


def five_lines():
    """Three boxes in a row; the first two overlap by 0.1."""
    arena = Arena([Hull.cuboid([0.5, 0.5, 0.5])])
    bodies = BodyColumns(hulls=0, positions=[[0, 0, 0], [0.9, 0, 0], [3, 0, 0]])
    for row in arena.contacts(bodies):
        print(f"bodies {row['a']} and {row['b']} overlap by {-row['separation']:.3f} along {row['normal']}")


NAMES = ["box", "drum", "pyramid", "stone"]


def make_hulls(random):
    """A hull of each kind, about 1 m across. A hull is what its points span, so any array of points will do."""
    return [
        Hull.cuboid([0.45, 0.3, 0.25]),
        Hull.cylinder([0, 0, -0.4], [0, 0, 0.4], radius=0.3, sides=16),
        Hull.cone([0, 0, -0.3], [0, 0, 0.5], radius=0.5, sides=4),
        Hull(random.normal(size=(40, 3)) * [0.25, 0.2, 0.15]),
    ]


def make_bodies(random, count):
    """Bodies of all kinds, turned at random, in a box that gives each of them 1.6 cubic metres."""
    edge = (1.6 * count) ** (1 / 3)
    rotations = random.normal(size=(count, 4))  # quaternions x, y, z, w
    rotations /= np.linalg.norm(rotations, axis=1, keepdims=True)
    return BodyColumns(
        hulls=random.integers(0, len(NAMES), count),
        positions=random.uniform(0, edge, size=(count, 3)).astype(np.float32),
        rotations=rotations.astype(np.float32),
    )


def draw(file, arena, bodies, contacts, touching):
    """How many bodies each body touches, and the deepest contact."""
    import matplotlib.pyplot as plt
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    figure = plt.figure(figsize=(6.4, 3.0), dpi=100, layout="constrained")
    left = figure.add_subplot(1, 2, 1)
    numbers, counts = np.unique(touching, return_counts=True)
    left.bar(numbers, counts, color="#7fa7c9")
    left.set(xlabel="bodies that a body touches", ylabel="bodies", xticks=numbers[:: max(1, len(numbers) // 8)])
    left.spines[["top", "right"]].set_visible(False)

    right = figure.add_subplot(1, 2, 2, projection="3d")
    deepest = contacts.rows[np.argmin(contacts["separation"])]
    hulls, matrices = bodies.arrays()["hulls"], bodies.to_matrices()
    corners = []
    for body, color in ((deepest["a"], "#7fa7c9"), (deepest["b"], "#e3a857")):
        hull, matrix = arena.hulls[hulls[body]], matrices[body]
        vertices = hull.vertices @ matrix[:3, :3].T + matrix[:3, 3]
        faces = [vertices[face] for face in hull.faces]
        right.add_collection3d(Poly3DCollection(faces, facecolor=color, edgecolor="#555555", linewidth=0.5, alpha=0.35))
        corners.append(vertices)
    # The two points that would touch if the overlap were undone: the line between them is as long as the overlap is deep.
    right.plot(*deepest["points"].T, color="#b02020", marker="o", markersize=3, linewidth=2)
    corners = np.concatenate(corners)
    middle, half = corners.mean(axis=0), np.ptp(corners, axis=0).max() / 2
    right.set(xlim=middle[0] + [-half, half], ylim=middle[1] + [-half, half], zlim=middle[2] + [-half, half])
    right.set_title(f"the deepest: {-deepest['separation']:.2f} m", fontsize=10)
    right.set_axis_off()
    right.set_box_aspect((1, 1, 1), zoom=1.3)
    figure.savefig(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=int, default=10_000, help="how many bodies (default: 10000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--picture", metavar="FILE.png", help="draw the contacts into this file (needs matplotlib)")
    options = parser.parse_args()

    five_lines()

    random = np.random.default_rng(options.seed)
    arena = Arena(make_hulls(random))
    bodies = make_bodies(random, options.bodies)
    arena.contacts(bodies)  # the first query also prepares the engine
    start = time.perf_counter()
    contacts = arena.contacts(bodies)
    seconds = time.perf_counter() - start

    touching = np.bincount(np.concatenate([contacts["a"], contacts["b"]]), minlength=len(bodies))
    print(f"\n{len(bodies)} bodies on the {arena.engine.backend}: {len(contacts)} contacts in {1000 * seconds:.0f} ms")
    print(f"{np.count_nonzero(touching)} bodies touch another one, the busiest touches {touching.max()}\n")

    # contacts.to_pandas() gives all of it as a table.
    kinds = np.array(NAMES)[bodies.arrays()["hulls"]]
    print(f"{'a':>8} {'b':>8} {'depth':>7}   {'normal':<22} kinds")
    for row in contacts.rows[np.argsort(contacts["separation"])[:5]]:
        normal = " ".join(f"{number:6.3f}" for number in row["normal"])
        pair = f"{kinds[row['a']]}, {kinds[row['b']]}"
        print(f"{row['a']:8} {row['b']:8} {-row['separation']:7.3f}   {normal:<22} {pair}")

    if options.picture:
        draw(options.picture, arena, bodies, contacts, touching)


if __name__ == "__main__":
    main()
