"""Bands of equal distance over meshes, exact, with a shortest path.

Distances are measured over the surface, not through it. Each mesh is coloured in bands by the distance from one vertex, and a path leads to the
vertex that is farthest away. Without arguments the meshes are an icosphere, a torus and a knot.

    python geodesic_bands.py --picture bands.png
    python geodesic_bands.py bunny.obj --source 17 --picture bunny.png    # any file that trimesh reads
"""

import argparse
import os
import time

import numpy as np
import trimesh

import hullfield


def tube(curve, radius, sides=24):
    """The vertices and faces of a closed tube about a closed curve, (n, 3)."""
    count = len(curve)
    tangent = np.roll(curve, -1, axis=0) - np.roll(curve, 1, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    # Outwards from the middle of the curve, made perpendicular to it.
    first = curve - (curve * tangent).sum(axis=1, keepdims=True) * tangent
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    second = np.cross(tangent, first)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)[None, :, None]
    vertices = curve[:, None] + radius * (np.cos(angle) * first[:, None] + np.sin(angle) * second[:, None])
    i, j = (grid.ravel() for grid in np.meshgrid(np.arange(count), np.arange(sides), indexing="ij"))
    a, b = i * sides + j, i * sides + (j + 1) % sides
    c, d = (i + 1) % count * sides + j, (i + 1) % count * sides + (j + 1) % sides
    return vertices.reshape(-1, 3), np.concatenate([np.stack([a, c, b], axis=1), np.stack([b, c, d], axis=1)])


def make_meshes():
    ball = trimesh.creation.icosphere(subdivisions=5)
    torus = trimesh.creation.torus(major_radius=1, minor_radius=0.45, major_sections=120, minor_sections=60)
    t = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    trefoil = np.stack([np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)], axis=1) / 3
    return {"icosphere": ball, "torus": torus, "knot": trimesh.Trimesh(*tube(trefoil, 0.2), process=False)}


def measure(name, mesh, source):
    """The distances of all vertices from one, and the path to the farthest."""
    start = time.perf_counter()
    geodesic = hullfield.geodesic(mesh)
    distance = geodesic.distance(source)
    seconds = time.perf_counter() - start
    # Parts of a model that are not connected to the source are infinitely far.
    goal = int(np.argmax(np.where(np.isfinite(distance), distance, -1)))
    path = geodesic.path(goal, source)
    straight = np.linalg.norm(geodesic.vertices[goal] - geodesic.vertices[source])
    print(
        f"{name}: {len(distance)} vertices in {seconds:.2f} s; vertex {goal} is farthest from vertex {source}: "
        f"{distance[goal]:.4f} over the surface, {straight:.4f} through it; the path crosses {len(path) - 2} edges"
    )
    return distance, path


def draw_mesh(axes, mesh, distance, path, band_count=12):
    """The mesh in bands, light near the source and dark far from it; what is nearer to the viewer is drawn over the rest."""
    import matplotlib.pyplot as plt
    from matplotlib.collections import PolyCollection

    # Seen along the thinnest axis, from the side of the path. What is as thick all ways is seen from before the path.
    z = mesh.face_normals[path.segment_faces].mean(axis=0)
    spread, principal = np.linalg.eigh(np.cov(mesh.vertices.T))
    if spread[0] < 0.8 * spread[2]:
        z = principal[:, 0] if principal[:, 0] @ z > 0 else -principal[:, 0]
    z /= np.linalg.norm(z)
    x = path.points[-1] - path.points[0]
    x = x - (x @ z) * z
    x /= np.linalg.norm(x)
    view = np.stack([x, np.cross(z, x), z])
    tilt = np.array([[1, 0, 0], [0, np.cos(0.5), -np.sin(0.5)], [0, np.sin(0.5), np.cos(0.5)]])
    points, line = mesh.vertices @ (tilt @ view).T, path.points @ (tilt @ view).T
    light = mesh.face_normals @ (tilt @ view).T @ [-0.3, 0.4, 0.85]

    of_faces = distance[mesh.faces].mean(axis=1)
    is_reached = np.isfinite(of_faces)
    bands = np.floor(of_faces[is_reached] / of_faces[is_reached].max() * (band_count - 1e-6))
    colors = np.full((len(of_faces), 4), [0.8, 0.8, 0.8, 1.0])
    colors[is_reached] = plt.get_cmap("YlGnBu")(0.1 + 0.7 * bands / band_count)
    colors[np.flatnonzero(is_reached)[bands % 2 == 1], :3] *= 0.85
    colors[:, :3] *= (0.7 + 0.3 * light.clip(0, 1))[:, None]

    # The pieces of the path are triangles with two equal corners, a little nearer than the faces below them.
    pieces = np.stack([line[:-1], line[1:], line[1:]], axis=1)
    corners = np.concatenate([points[mesh.faces], pieces])
    depth = corners[..., 2].mean(axis=1)
    depth[len(of_faces) :] += 0.02 * np.ptp(points[:, 2])
    order = np.argsort(depth)
    edges = np.concatenate([colors, np.tile([0.8, 0.1, 0.1, 1.0], (len(pieces), 1))])
    widths = np.repeat([0.4, 2.0], [len(of_faces), len(pieces)])
    axes.add_collection(
        PolyCollection(
            corners[order, :, :2], facecolors=edges[order], edgecolors=edges[order], linewidths=widths[order]
        )
    )
    axes.margins(0.03)
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", help="files of meshes; without any, three meshes that are made here")
    parser.add_argument("--source", type=int, default=0, help="the vertex that distances are measured from")
    parser.add_argument("--picture", metavar="FILE.png", help="draw the bands into this file (needs matplotlib)")
    options = parser.parse_args()
    meshes = {os.path.basename(name): trimesh.load_mesh(name) for name in options.models} or make_meshes()
    answers = {name: measure(name, mesh, options.source) for name, mesh in meshes.items()}
    if options.picture:
        import matplotlib.pyplot as plt

        width = 6.4 if len(meshes) > 1 else 4
        figure, panels = plt.subplots(
            1, len(meshes), figsize=(width, width / len(meshes) + 0.3), dpi=100, layout="constrained", squeeze=False
        )
        for axes, (name, mesh) in zip(panels[0], meshes.items(), strict=True):
            draw_mesh(axes, mesh, *answers[name])
            axes.set_title(f"{name}: {answers[name][1].length:.2f}", fontsize=10)
        figure.savefig(options.picture)


if __name__ == "__main__":
    main()
