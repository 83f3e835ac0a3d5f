# The Python peers of `hullfield-bench all --python`: a process that reads commands from stdin, a line of JSON each, and answers with a line of JSON.
#
#   {"do": "peers"}                       -> {"peers": {name: version, …}}: the wheels that import
#   {"do": "load", "peer": …, "files": [[path, type, shape], …], "given": {…}}   -> {"ok": true}: reads the case and builds what is not timed
#   {"do": "run"}                         -> {"ms": …}: runs the peer once, by its own clock
#   {"do": "answer", "path": …}           -> {"count": …}: writes the answer of the last run as numbers of eight bytes
#
# What fails is {"error": …}.
import importlib
import json
import sys
import time
from importlib.metadata import PackageNotFoundError, version

WHEELS = {
    "skimage": "scikit-image",
    "scipy": "scipy",
    "pygeodesic": "pygeodesic",
    "potpourri3d": "potpourri3d",
    "coal": "coal",
}

run = None
answer = None


def peers():
    found = {}
    for module, wheel in WHEELS.items():
        try:
            importlib.import_module(module)
            found[module] = version(wheel)
        except PackageNotFoundError:
            found[module] = "unknown"
        except Exception:
            # Absent, or built for another Python: that peer has no rows.
            continue
    return {"peers": found}


def load(peer, files, given):
    import numpy

    arrays = [numpy.fromfile(path, dtype=kind).reshape(shape) for path, kind, shape in files]
    return BUILDERS[peer](numpy, arrays, given)


def skimage_costs(numpy, arrays, given):
    from skimage.graph import MCP_Geometric

    friction = arrays[0].astype(numpy.float64)
    target = divmod(given["target"], friction.shape[1])
    return lambda: MCP_Geometric(friction).find_costs([target])[0].ravel()


def scipy_cells(numpy, arrays, given):
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    free = arrays[0] == 0
    cells = numpy.arange(free.size).reshape(free.shape)
    pairs = []
    for one, other in ((cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])):
        both = free.ravel()[one.ravel()] & free.ravel()[other.ravel()]
        pairs.append((one.ravel()[both], other.ravel()[both]))
    rows = numpy.concatenate([pair[0] for pair in pairs])
    columns = numpy.concatenate([pair[1] for pair in pairs])
    graph = coo_matrix((numpy.ones(rows.size), (rows, columns)), shape=(free.size, free.size)).tocsr()
    return lambda: dijkstra(graph, directed=False, indices=given["goal"], unweighted=True)


def pygeodesic_field(numpy, arrays, given):
    from pygeodesic.geodesic import PyGeodesicAlgorithmExact

    points, triangles = arrays[0], arrays[1].astype(numpy.int32)
    algorithm = PyGeodesicAlgorithmExact(points, triangles)
    return lambda: algorithm.geodesicDistances(numpy.array([given["source"]]), None)[0]


def potpourri_field(numpy, arrays, given):
    from potpourri3d import MeshHeatMethodDistanceSolver

    # It prepares a mesh for many sources; that is part of the first answer, and so timed here.
    points, triangles = arrays[0], arrays[1].astype(numpy.int64)
    return lambda: MeshHeatMethodDistanceSolver(points, triangles).compute_distance(given["source"])


def coal_contacts(numpy, arrays, given):
    import coal

    vertices, counts, hulls, positions, rotations, pairs = arrays
    shapes, first = [], 0
    for count in counts:
        points = coal.StdVec_Vec3s()
        for point in vertices[first : first + int(count)]:
            points.append(point.astype(numpy.float64))
        shapes.append(coal.Convex.convexHull(points, False, None))
        first += int(count)
    places = []
    for position, (x, y, z, w) in zip(positions.astype(numpy.float64), rotations.astype(numpy.float64)):
        rotation = numpy.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        )
        places.append(coal.Transform3s(rotation, position))
    request = coal.CollisionRequest()

    def collide():
        gaps = numpy.ones(len(pairs))
        result = coal.CollisionResult()
        for index, (a, b) in enumerate(pairs):
            result.clear()
            if coal.collide(shapes[hulls[a]], places[a], shapes[hulls[b]], places[b], request, result):
                gaps[index] = result.getContact(0).penetration_depth
        return gaps

    return collide


BUILDERS = {
    "skimage_costs": skimage_costs,
    "scipy_cells": scipy_cells,
    "pygeodesic_field": pygeodesic_field,
    "potpourri_field": potpourri_field,
    "coal_contacts": coal_contacts,
}

for line in sys.stdin:
    try:
        command = json.loads(line)
        if command["do"] == "peers":
            reply = peers()
        elif command["do"] == "load":
            answer = None
            run = load(command["peer"], command["files"], command["given"])
            reply = {"ok": True}
        elif command["do"] == "run":
            start = time.perf_counter()
            answer = run()
            reply = {"ms": 1e3 * (time.perf_counter() - start)}
        else:
            import numpy

            numbers = numpy.ascontiguousarray(answer, dtype=numpy.float64)
            numbers.tofile(command["path"])
            reply = {"count": int(numbers.size)}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), flush=True)
