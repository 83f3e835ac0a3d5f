// The npm package: in Node on the CPU, and in Chromium on WebGPU too. `cargo xtask test --web` sets HULLFIELD_PACKAGE, the folder of the package,
// and HULLFIELD_CHROMIUM.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";

const FOLDER = process.env.HULLFIELD_PACKAGE;
const skip = FOLDER ? false : "HULLFIELD_PACKAGE names no folder";
const file = (name) => join(FOLDER, name);

let hullfield;
let early;

before(async () => {
  if (!FOLDER) return;
  hullfield = await import(pathToFileURL(file("index.js")));
  try { hullfield.Engine.cpu(); } catch (error) { early = error; }
  await hullfield.init();
});

/** What f32 decides: the tolerance of the fast precision for bodies of this size. */
const FAST = 2e-5;

const near = (found, expected, tolerance = 1e-12) => {
  assert.equal(found.length, expected.length);
  found.forEach((number, at) => assert.ok(Math.abs(number - expected[at]) <= tolerance, `${found} is not ${expected}`));
};

/** An error of the package whose sentence is like this. */
const sentence = (pattern, code) => (error) => {
  assert.ok(error instanceof Error && error instanceof hullfield.HullfieldError, String(error));
  assert.equal(error.name, "HullfieldError");
  assert.match(error.message, pattern);
  if (code) assert.equal(error.code, code);
  return true;
};

const boxes = () => {
  const { Arena, Hull } = hullfield;
  const bodies = { hulls: 0, positions: new Float32Array([0, 0, 0, 0.875, 0, 0, 3, 0, 0]) };
  return [new Arena([Hull.cuboid([0.5, 0.5, 0.5])]), bodies];
};

test("a class used before init says what to do", { skip }, () => {
  assert.equal(early?.name, "HullfieldError");
  assert.match(early.message, /await init\(\) first/);
});

test("lists without elements that can be read, and grids beyond the memory, are refused", { skip }, () => {
  const { Grid, Hull, Room } = hullfield;
  const sparse = new Array(2 ** 32 - 1);
  assert.throws(() => Hull.cuboid(sparse), sentence(/half has 4294967295 numbers, it must have 3/, "count"));
  assert.throws(() => new Room(new Float64Array([0, 0, 1, 0, 1, 1]), sparse), sentence(/hole/));
  const transferred = new Float64Array(6);
  structuredClone(transferred.buffer, { transfer: [transferred.buffer] });
  assert.throws(() => Hull.cuboid(transferred), sentence(/half has 0 numbers, it must have 3/, "count"));
  assert.throws(() => new Room(transferred), sentence(/.+/));
  const size = [2, 2, 2 ** 29];
  assert.throws(() => new Grid(size, new Uint8Array(12)), sentence(/12 obstacles were given, the grid has 2147483648 cells/, "count"));
  assert.throws(() => new Grid(size, new Uint8Array(0)), sentence(/the obstacles of the grid needs? 8589934592 bytes/, "memoryLimit"));
});

test("contacts of three boxes", { skip }, async () => {
  const { Arena, Hull, Status } = hullfield;
  const [arena, bodies] = boxes();
  assert.equal(arena.engine.backend, "cpu");
  const found = await arena.contacts(bodies);
  assert.equal(found.count, 1);
  assert.ok(found.a instanceof Uint32Array && found.status instanceof Uint8Array && found.separation instanceof Float64Array);
  assert.deepEqual([...found.a, ...found.b, ...found.status], [0, 1, Status.PENETRATING]);
  near(found.separation, [-0.125], FAST);
  near(found.normal, [1, 0, 0], FAST);
  near([found.points[0], found.points[3]], [0.5, 0.375], FAST);
  assert.equal(found.stats.hitCount, 1);
  const given = await arena.contacts(bodies, { pairs: new Uint32Array([1, 2, 0, 1]) });
  near(given.separation, [1.125, -0.125], FAST);
  const wide = await arena.contacts(bodies, { pairs: "exhaustive", margin: 2.5 });
  assert.deepEqual([...wide.b], [1, 2, 2]);
  const exact = await new Arena([Hull.cuboid([0.5, 0.5, 0.5])], { precision: "exact" }).contacts(bodies);
  near([...exact.separation, ...exact.normal, exact.points[0], exact.points[3]], [-0.125, 1, 0, 0, 0.5, 0.375]);
});

test("distances, intersections, rays and points", { skip }, async () => {
  const { NONE } = hullfield;
  const [arena, bodies] = boxes();
  const apart = await arena.distances(bodies);
  assert.deepEqual([...apart.a], [0, 0, 1]);
  near(apart.separation, [0, 2, 1.125], FAST);
  near(apart.axis.slice(3, 6), [1, 0, 0], FAST);
  assert.ok(Number.isNaN(apart.axis[0]));
  const touching = await arena.intersections(bodies);
  assert.deepEqual([...touching.a, ...touching.b], [0, 1]);
  const rays = { origins: new Float64Array([-2, 0.1, 0, -2, 9, 0]), directions: new Float32Array([1, 0, 0, 1, 0, 0]) };
  const hits = await arena.raycasts(bodies, rays);
  assert.deepEqual([...hits.body], [0, NONE]);
  near([hits.distance[0], ...hits.point.slice(0, 3), ...hits.normal.slice(0, 3)], [1.5, -0.5, 0.1, 0, -1, 0, 0], 1e-7);
  assert.ok(Number.isNaN(hits.distance[1]));
  const points = await arena.nearestPoints(bodies, new Float32Array([3, 0, 1]));
  assert.deepEqual([...points.body], [2]);
  near(points.distance, [0.5]);
  const inside = await arena.containments(bodies, new Float32Array([0.4375, 0, 0]));
  assert.deepEqual([...inside.body], [0, 1]);
});

test("manifolds, sweeps and nearest bodies", { skip }, async () => {
  const { SweepOutcome } = hullfield;
  const [arena, bodies] = boxes();
  await arena.prepare(["contacts", "sweeps"]);
  const found = await arena.manifolds(bodies);
  // Two faces meet in four corners.
  assert.deepEqual([found.count, ...found.pointCount], [1, 4]);
  near(found.separations, [-0.125, -0.125, -0.125, -0.125], FAST);
  near([0, 1, 2, 3].map((at) => found.points[6 * at]), [0.5, 0.5, 0.5, 0.5], FAST);
  // The third box comes from 1.125 away, at 2.25 a second.
  const velocities = new Float32Array([0, 0, 0, 0, 0, 0, -2.25, 0, 0]);
  const first = await arena.sweeps(bodies, { velocities }, { witness: true, pairs: new Uint32Array([1, 2, 0, 1]) });
  assert.deepEqual([...first.outcome], [SweepOutcome.HIT, SweepOutcome.TOUCHING]);
  near(first.time, [0.5, 0], FAST);
  near(first.points.slice(0, 1), [1.375], FAST);
  const missed = await arena.sweeps(bodies, { velocities }, { duration: 0.25, pairs: new Uint32Array([1, 2]) });
  assert.deepEqual([...missed.outcome], [SweepOutcome.MISS]);
  const nearest = await arena.nearestBodies(bodies);
  assert.deepEqual([...nearest.query, ...nearest.body], [0, 1, 2, 1, 0, 1]);
  near(nearest.separation, [-0.125, -0.125, 1.125], 1e-8);
  await assert.rejects(arena.sweeps(bodies, {}), sentence(/velocities is missing/));
  await assert.rejects(arena.sweeps(bodies, { velocities: new Float32Array(3) }), sentence(/1 .*motions|motions/, "count"));
  await assert.rejects(arena.nearestBodies(bodies, { count: 0 }), sentence(/count is 0/));
  const last = await arena.nearestBodies(bodies, { of: new Uint32Array([1]) });
  assert.deepEqual([...last.query], [1]);
  assert.notEqual(last.body[0], 1);
  await assert.rejects(arena.nearestBodies(bodies, { of: new Uint32Array([99]) }), sentence(/body 99/));
  await assert.rejects(arena.prepare(["all"]), sentence(/queries\[0\] is 'all'/));
});

test("all hits of rays, moved shapes, and bodies near other shapes", { skip }, async () => {
  const { NONE } = hullfield;
  const [arena, bodies] = boxes();
  const rays = { origins: new Float64Array([-2, 0.125, 0, -2, 9, 0]), directions: new Float32Array([1, 0, 0, 1, 0, 0]) };
  const all = await arena.raycastsAll(bodies, rays);
  assert.deepEqual([[...all.ray], [...all.body]], [[0, 0, 0], [0, 1, 2]]);
  near(all.distance, [1.5, 2.375, 4.5], 1e-7);
  assert.deepEqual([...(await arena.occlusions(bodies, rays)).occluded], [1, 0]);
  // A box that comes along x, one that passes by, and one that begins inside.
  const casts = {
    hulls: 0,
    positions: new Float32Array([-3, 0, 0, -3, 5, 0, 3, 0.25, 0]),
    directions: new Float32Array([2, 0, 0, 1, 0, 0, 1, 0, 0]),
    maxDistances: new Float32Array([10, 10, 10]),
  };
  const first = await arena.shapeCasts(bodies, casts, { witness: true });
  assert.deepEqual([[...first.body], [...first.initialOverlap]], [[0, NONE, 2], [0, 0, 1]]);
  near([first.distance[0], first.distance[2], first.normal[0], first.points[0]], [2, 0, -1, -0.5], FAST);
  assert.ok(Number.isNaN(first.distance[1]) && Number.isNaN(first.points[6]));
  assert.equal((await arena.shapeCasts(bodies, casts, { skipStart: true })).body[2], NONE);
  const every = await arena.shapeCastsAll(bodies, casts);
  assert.deepEqual([[...every.cast], [...every.body]], [[0, 0, 0, 2], [0, 1, 2, 2]]);
  near(every.distance, [2, 2.875, 5, 0], FAST);
  assert.deepEqual([...(await arena.shapeCastsAny(bodies, casts)).hit], [1, 0, 1]);
  await assert.rejects(arena.shapeCasts(bodies, { ...casts, directions: new Float32Array(9) }), sentence(/cast 0: direction/));
  await assert.rejects(arena.shapeCasts(bodies, { ...casts, owners: new Uint32Array(3) }), sentence(/casts has no field 'owners'/));
  const shapes = { hulls: 0, positions: new Float32Array([4.5, 0, 0]) };
  const nearest = await arena.nearestBodiesTo(bodies, shapes, { count: 2 });
  assert.deepEqual([[...nearest.query], [...nearest.body]], [[0, 0], [2, 1]]);
  near(nearest.separation, [0.5, 2.625], 1e-8);
});

test("gradients, candidates, hits, and hulls that come and go", { skip }, async () => {
  const { Hull } = hullfield;
  const [arena, bodies] = boxes();
  assert.deepEqual([...await arena.candidates(bodies)], [0, 1]);
  assert.deepEqual([...(await arena.hits(bodies)).hit], [1, 1, 0]);
  assert.deepEqual([...(await arena.hitCounts(bodies)).hits], [1, 1, 0]);
  const slope = await arena.gradients(bodies, { pairs: new Uint32Array([1, 2]) });
  near([...slope.separation, ...slope.positionA, ...slope.positionB], [1.125, -1, 0, 0, 1, 0, 0], 1e-9);
  // Faces lie on one another: other points are as near.
  assert.deepEqual([...slope.degeneracy], [1]);
  assert.equal(arena.addHulls([Hull.ball(1), Hull.ball(2)]), 1);
  assert.equal(arena.hullCount, 3);
  near((await arena.contacts({ ...bodies, hulls: new Uint32Array([0, 0, 2]) }, { pairs: new Uint32Array([1, 2]) })).separation, [-0.375], FAST);
  arena.removeHulls(new Uint32Array([1]));
  await assert.rejects(arena.contacts({ ...bodies, hulls: 1 }), sentence(/hull 1/));
  assert.throws(() => arena.removeHulls(new Uint32Array([7])), sentence(/hull.* 7 does not exist/, "missing"));
});

test("positions in f64, rotations, groups, worlds and statics", { skip }, async () => {
  const { Arena, Engine, Hull } = hullfield;
  const hulls = [Hull.ball(1), Hull.fromPoints(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1])), Hull.halfSpace()];
  assert.ok(Math.abs(hulls[1].volume - 1 / 6) < 1e-7);
  assert.equal(hulls[1].faces.length, 4);
  const arena = new Arena(hulls, { engine: Engine.cpu(), precision: "exact" });
  // At 1e9 numbers in f32 are 64 apart.
  const far = { hulls: new Uint32Array([0, 0]), positions: new Float64Array([1e9, 0, 0, 1e9 + 1.5, 0, 0]) };
  near((await arena.contacts(far)).separation, [-0.5], 1e-6);
  const worlds = { ...far, worlds: new Uint32Array([0, 1]) };
  assert.equal((await arena.contacts(worlds)).count, 0);
  assert.equal((await arena.contacts({ ...far, groups: new Uint32Array([1, 2]), masks: new Uint32Array([1, 2]) })).count, 0);
  // Handles of hulls stay usable, and a capsule that is turned about z by a quarter lies along y.
  const lying = new Arena([Hull.capsule([-2, 0, 0], [2, 0, 0], 0.5), hulls[0]]);
  const turned = { hulls: new Uint32Array([0, 1]), positions: new Float32Array([0, 0, 0, 0, 3, 0]) };
  assert.equal((await lying.contacts(turned)).count, 0);
  const half = Math.SQRT1_2;
  const rotations = new Float32Array([0, 0, half, half, 0, 0, 0, 1]);
  near((await lying.contacts({ ...turned, rotations })).separation, [-0.5], 1e-5);
  const statics = { hulls: 2, positions: new Float32Array([0, 0, 0]) };
  const ground = await new Arena(hulls, { statics }).contacts({ hulls: 0, positions: new Float32Array([0, 0.75, 0]) });
  assert.deepEqual([...ground.a, ...ground.b], [0, 1]);
  near(ground.separation, [-0.25], 1e-6);
});

test("a field over a grid", { skip }, async () => {
  const { Flow, Grid, NEXT_NONE, UNREACHABLE } = hullfield;
  // A wall with a gap on the right; the cell at the bottom left is shut in.
  const map = ["....", "###.", "....", "##..", ".#.."];
  const obstacles = Uint8Array.from(map.join(""), (letter) => letter === "#" ? 1 : 0);
  const grid = new Grid([4, 5], obstacles, { connectivity: "four" });
  assert.deepEqual([...grid.size], [4, 5, 1]);
  const flow = new Flow(grid);
  const field = await flow.solve(new Int32Array([0, 0]));
  const distances = await field.distances();
  const expected = [0, 1, 2, 3, -1, -1, -1, 4, 8, 7, 6, 5, -1, -1, 7, 6, -1, -1, 8, 7];
  assert.deepEqual([...distances], expected.map((distance) => distance < 0 ? UNREACHABLE : distance));
  const codes = await field.nextCodes();
  assert.equal(codes[0], NEXT_NONE);
  assert.deepEqual([...grid.offsets.slice(3 * codes[1], 3 * codes[1] + 3)], [-1, 0, 0]);
  const path = await field.path([1, 2]);
  assert.equal(path.length, 7);
  assert.deepEqual([...path.cells], [1, 2, 2, 2, 3, 2, 3, 1, 3, 0, 2, 0, 1, 0, 0, 0]);
  const paths = await field.paths(new Int32Array([3, 0, 1, 0]));
  assert.deepEqual([[...paths.offsets], [...paths.cells], [...paths.lengths]], [[0, 4, 6], [3, 2, 1, 0, 1, 0], [3, 1]]);
  const directions = await field.directions(new Float64Array([0.5, 2.5, 0, 2.5, 0.5, 0]), { sight: 0 });
  near(directions, [1, 0, 0, -1, 0, 0]);
  flow.edit({ block: new Int32Array([3, 1]) });
  assert.equal((await flow.solve(new Int32Array([0, 0]))).reachedCount, 4);
  assert.deepEqual([...await field.distancesAt(new Int32Array([3, 1]))], [4]);
});

test("fields in a batch, updates, costs and agents", { skip }, async () => {
  const { Flow, Grid, UNREACHABLE } = hullfield;
  const flow = new Flow(new Grid([5, 2], new Uint8Array(10), { connectivity: "four" }));
  await flow.prepare(["solve", "update"]);
  const [left, right] = await flow.fields([new Int32Array([0, 0]), new Int32Array([4, 0, 4, 1])]);
  assert.deepEqual([...await left.distances()], [0, 1, 2, 3, 4, 1, 2, 3, 4, 5]);
  assert.deepEqual([...await right.distances()], [4, 3, 2, 1, 0, 4, 3, 2, 1, 0]);
  assert.deepEqual([...await left.nextCells(new Int32Array([3, 0, 0, 0]))], [2, 0, 0, 0]);
  const agents = flow.agents(new Int32Array([3, 0, 4, 1]));
  agents.step(left, 2);
  agents.step(left);
  assert.equal(agents.count, 2);
  assert.deepEqual([...await agents.cells()], [0, 0, 2, 0]);
  const kept = left.copy();
  flow.edit({ block: new Int32Array([1, 0]), cost: { cells: new Int32Array([2, 1]), costs: new Uint32Array([7]) } });
  assert.deepEqual([...flow.grid.costs], [1, 1, 1, 1, 1, 1, 1, 7, 1, 1]);
  const updated = await flow.update(left);
  // Into (1, 1), (0, 1) and (0, 0) each step costs 1, into (2, 1) it costs 7.
  assert.deepEqual([...await updated.distances()], [0, UNREACHABLE, 10, 11, 12, 1, 2, 3, 10, 11]);
  assert.equal((await kept.distances())[1], 1);
  await assert.rejects(flow.update(left), sentence(/field was freed/));
  // An error leaves the field as it was, and does not use up its handle.
  flow.edit({ block: new Int32Array([0, 0]) });
  await assert.rejects(flow.update(updated), sentence(/no goal is left/, "noGoals"));
  assert.equal((await updated.distances())[9], 11);
  flow.edit({ free: new Int32Array([0, 0]) });
  const moved = await flow.update(updated, new Int32Array([4, 1]));
  assert.deepEqual([...await moved.distancesAt(new Int32Array([4, 0, 3, 1, 2, 1]))], [1, 1, 2]);
  await assert.rejects(flow.update(flow.grid), sentence(/field is of the class Grid, it must be of the class Field/));
  await assert.rejects(flow.fields([new Int32Array([0, 0]), new Int32Array([9, 9])]), sentence(/1.*no goal is left/, "noGoals"));
  assert.throws(() => flow.edit({ cost: { cells: new Int32Array([0, 0]) } }), sentence(/costs has 0 rows, cells has 1/, "count"));
  assert.throws(() => agents.step(new Flow(new Grid([9, 9], new Uint8Array(81)))), sentence(/of the class Flow/));
});

test("a cost distance over a raster", { skip }, () => {
  const { CostDistance, NEXT_NONE, NONE } = hullfield;
  // The middle of the row in the middle is a barrier.
  const friction = new Float32Array([1, 2, 1, 1, NaN, 1, 1, 1, 1]);
  const found = new CostDistance([3, 3], friction, new Int32Array([0, 0, 2, 2]), { allocation: true, next: true, connectivity: "four" });
  assert.equal(found.distances[4], Infinity);
  near(found.distances.filter(Number.isFinite), [0, 1.5, 2, 1, 1, 2, 1, 0], 1e-6);
  assert.deepEqual([...found.allocation], [0, 0, 1, 0, NONE, 1, found.allocation[6], 1, 1]);
  assert.equal(found.nextCodes[0], NEXT_NONE);
  assert.deepEqual([...found.path([1, 0])], [1, 0, 0, 0]);
  assert.ok(found.reachedCount === 8 && found.farthest === 2 && found.errorBound < 1e-3);
  const steep = new CostDistance([2, 1], new Float64Array([1, 1]), new Int32Array([1, 0]), {
    cellSize: [4, 4], elevation: new Float32Array([0, 3]), factors: new Float64Array([0, 1, 0.75, 2]),
  });
  near(steep.distances, [10, 0], 1e-5);
  const raise = (call, ...expected) => assert.throws(call, sentence(...expected));
  raise(() => steep.path([0, 0]), /option next/);
  raise(() => found.path([3, 0]), /in the raster of 3 x 3/);
  raise(() => new CostDistance([3, 3], new Float32Array(8), new Int32Array([0, 0])), /8 .*9|9/, "count");
  raise(() => new CostDistance([3, 3], friction, new Int32Array([1, 1])), /no goal is left|no target/, "noGoals");
  raise(() => new CostDistance([3, 3], friction, new Int32Array([0, 0]), { factors: "tobler" }), /factors is given without elevation/);
  raise(() => new CostDistance([3.5, 3], friction, new Int32Array([0, 0])), /width and height are whole numbers/);
});

test("a path in a room", { skip }, () => {
  const { Room } = hullfield;
  const outer = new Float64Array([0, 0, 10, 0, 10, 10, 0, 10]);
  const room = new Room(outer, [new Float64Array([4, 4, 6, 4, 6, 6, 4, 6])]);
  assert.equal(room.area, 96);
  const straight = room.path([1, 4], [9, 4]);
  assert.deepEqual([straight.reach, straight.length], ["reached", 8]);
  const around = room.path([1, 5], [9, 5]);
  near([around.length], [2 + 2 * Math.sqrt(10)]);
  assert.equal(around.points.length, 8);
  const bend = Math.sqrt(10);
  near([...around.arcLengths], [0, bend, bend + 2, 2 * bend + 2]);
  const place = Room.pathAt(around, bend + 1);
  near([place.position[0], Math.abs(place.position[1] - 5), ...place.tangent], [5, 1, 1, 0]);
  assert.deepEqual([place.piece, Room.pathAt(around, NaN)], [1, null]);
  assert.throws(() => Room.pathAt({ points: new Float64Array(3) }, 1), sentence(/points has 3 numbers/, "count"));
  const [first, second] = room.paths(new Float64Array([1, 4, 9, 4, 1, 1, 5, 5]));
  assert.deepEqual([first.length, second.reach, second.nearest?.length], [8, "goal off", 2]);
  const beside = room.nearestPoint([12, 5]);
  near([...beside.position, beside.distance], [10, 5, 2]);
  near(room.raycast([1, 5], [1, 0], 20).point, [4, 5]);
  assert.equal(room.raycast([5, 5], [1, 0], 20), null);
  assert.equal(room.locate([5, 5]), null);
  near(room.locate([1, 1]).position, [1, 1]);
  // It slides along the pillar, and past its corner as far as the wall.
  near(room.moveAlong([1, 5], [20, 1]).position, [10, 6]);
  const wall = room.distanceToWall([5, 1]);
  near([...wall.point, wall.distance], [5, 0, 1]);
  assert.equal(wall.wall.length, 2);
});

test("obstacles and doors of a room", { skip }, () => {
  const { Room } = hullfield;
  const outer = new Float64Array([0, 0, 10, 0, 10, 3, 0, 3]);
  const walls = [new Float64Array([4.9, 0, 5.1, 0, 5.1, 1, 4.9, 1]), new Float64Array([4.9, 2, 5.1, 2, 5.1, 3, 4.9, 3])];
  const room = new Room(outer, walls, { doors: new Float64Array([5, 1, 5, 2]) });
  assert.deepEqual([room.doorCount, room.islandCount, room.path([1, 1.5], [9, 1.5]).length], [1, 1, 8]);
  room.setDoor(0, false);
  assert.deepEqual([room.islandCount, room.path([1, 1.5], [9, 1.5]).reach], [2, "unreachable"]);
  room.setDoor(0, true);
  const ring = new Float64Array([2, 1, 3, 1, 3, 2, 2, 2]);
  const box = room.putObstacle(ring);
  near([room.area], [28.6]);
  assert.ok(room.path([1, 1.5], [4, 1.5]).length > 3);
  room.moveObstacle(box, ring.map((x, at) => at % 2 === 0 ? x + 5 : x));
  assert.equal(room.path([1, 1.5], [4, 1.5]).length, 3);
  room.takeObstacle(box);
  near([room.area], [29.6]);
  assert.throws(() => room.moveObstacle(box, ring), sentence(/obstacle/));
  assert.throws(() => room.setDoor(3, true), sentence(/door 3 does not exist/, "missing"));
  assert.throws(() => room.setDoor(0, 1), sentence(/isOpen is the number 1, it must be true or false/));
  const cells = Room.fromCells(new Float64Array([0, 0, 2, 0, 2, 1, 0, 1, 4, 0, 4, 1]), [new Uint32Array([0, 1, 2, 3]), new Uint32Array([1, 4, 5, 2])]);
  cells.setDoor(cells.addDoor(new Uint32Array([1, 2])), false);
  assert.equal(cells.path([1, 0.5], [3, 0.5]).reach, "unreachable");
  assert.equal(cells.addDoorCells(new Uint32Array([1])), 1);
});

test("a room of several polygons, and doors that end on no wall", { skip }, () => {
  const { Room } = hullfield;
  const square = (x, y, size) => new Float64Array([x, y, x + size, y, x + size, y + size, x, y + size]);
  // Two squares of which one has a hole that the third polygon fills in part, and a fourth apart from them.
  const room = Room.fromPolygons([[square(0, 0, 4), square(1, 1, 2)], [square(4, 0, 4)], [square(1, 1, 1)], [square(20, 0, 2)]]);
  assert.deepEqual([room.area, room.islandCount], [16 - 4 + 16 + 1 + 4, 2]);
  assert.deepEqual([room.path([0.5, 0.5], [6, 0.5]).length, room.path([0.5, 0.5], [21, 1]).reach], [5.5, "unreachable"]);
  // Overlapping polygons are one floor.
  assert.deepEqual([Room.fromPolygons([[square(0, 0, 3)], [square(2, 0, 3)]]).area, room.freeDoorEnds.length], [15, 0]);
  const polygons = [[square(0, 0, 10)]];
  const ajar = Room.fromPolygons(polygons, { doors: new Float64Array([5, 0, 5, 10, 2, 0, 2, 7.5]) });
  assert.deepEqual(ajar.freeDoorEnds.map(({ door, end, distance }) => [door, ...end, distance]), [[1, 2, 7.5, 2]]);
  assert.ok(ajar.freeDoorEnds[0].end instanceof Float64Array);
  assert.throws(() => Room.fromPolygons(polygons, { doors: new Float64Array([2, 0, 2, 7.5]), repair: false }), sentence(/door 0 ends at .*on no wall/));
  assert.throws(() => Room.fromPolygons([[square(0, 0, 1)], []]), sentence(/polygon 1: it has no rings/));
  assert.throws(() => Room.fromPolygons([square(0, 0, 1)]), sentence(/polygons\[0\] is of the class Float64Array, it must be an array/));
  assert.throws(() => Room.fromPolygons([[[0, 0, 1, 0, 1, 1]]]), sentence(/polygons\[0\]\[0\] is of the class Array, it must be a Float64Array/));
  assert.throws(() => Room.fromPolygons(), sentence(/polygons is missing, it must be an array/));
});

test("vertices that almost coincide keep their own distances", { skip }, () => {
  const { NONE, Surface } = hullfield;
  const [beyond, rounded] = [1 + Number.EPSILON, (all) => [...all].map((number) => Number(number.toFixed(9)))];
  // Two squares side by side that share no vertex: 4 lies at 1, and 7 at 2, but for the last bit.
  const vertices = new Float64Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, beyond, 0, 0, 2, 0, 0, 2, 1, 0, beyond, 1, 0]);
  const apart = new Surface(vertices, new Uint32Array([0, 1, 2, 0, 2, 3, 4, 5, 6, 4, 6, 7]));
  const [far, diagonal] = [Infinity, 1.414213562];
  assert.deepEqual(rounded(apart.distances(0)), [0, 1, diagonal, 1, far, far, far, far]);
  assert.deepEqual(rounded(apart.distances(4)), [far, far, far, far, 0, 1, diagonal, 1]);
  // A sheet with a slit from its edge to its middle: from one lip to the other the way goes around the slit's end.
  const slit = new Surface(
    new Float64Array([0, 0, 0, 2, 0, 0, 2, 1, 0, 2, 2, 0, 0, 2, 0, 0, beyond, 0, 0, 1, 0, 1, 1, 0]),
    new Uint32Array([0, 1, 7, 1, 2, 7, 2, 3, 7, 3, 4, 7, 4, 5, 7, 6, 0, 7]),
  );
  near([slit.distances(6)[5], slit.path(6, 5).length], [2, 2]);
  const corner = apart.nearestPoint([0, 1, 3]);
  assert.deepEqual([corner.vertex, apart.vertexAt(corner.face, corner.position), apart.nearestPoint(7).vertex], [3, 3, 7]);
  assert.deepEqual([apart.nearestPoint([0.5, 0.25, 0]).vertex, apart.vertexAt(0, [0.5, 0.25, 0])], [NONE, NONE]);
  assert.deepEqual([apart.vertexAt(0, [1, 0, 0]), apart.vertexAt(2, [beyond, -0, 0]), apart.vertexAt(2, [1, 0, 0])], [1, 4, NONE]);
  assert.throws(() => apart.vertexAt(4, [0, 0, 0]), sentence(/face 4 does not exist, there are 4/, "missing"));
  assert.throws(() => apart.vertexAt(0, [0, NaN, 0]), sentence(/NaN/, "value"));
});

test("a geodesic over a square and over an edge", { skip }, () => {
  const { Surface } = hullfield;
  const square = new Surface(new Float64Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]), new Uint32Array([0, 1, 2, 0, 2, 3]));
  assert.equal(square.area, 1);
  near(square.distances(1), [1, 0, 1, Math.SQRT2]);
  const path = square.path(1, 3);
  near([path.length, ...path.points], [Math.SQRT2, 1, 0, 0, 0.5, 0.5, 0, 0, 1, 0]);
  // The square folded by a right angle along its diagonal has the same geodesics.
  const half = Math.SQRT1_2;
  const folded = new Surface(new Float64Array([-half, 0, 0, 0, half, 0, half, 0, 0, 0, 0, half]), new Uint32Array([0, 1, 2, 0, 2, 3]));
  near([folded.path(1, 3, { method: "exact" }).length, folded.distances([0, half, 0])[3]], [Math.SQRT2, Math.SQRT2]);
  square.setWalkable(new Uint8Array([1, 0]));
  assert.equal(square.path(0, 3).reach, "goal off");
});

test("vertices on edges that they are not joined to", { skip }, () => {
  const { Surface } = hullfield;
  const vertices = new Float64Array([0, 0, 0, 3, 0, 0, 3, 4, 0, 3, 1, 0, 5, 0, 0, 5, 4, 0]);
  const found = new Surface(vertices, new Uint32Array([0, 1, 2, 1, 4, 3, 3, 5, 2])).tJunctions(1e-6);
  assert.deepEqual([found.count, ...found.vertices, ...found.edges, ...found.distances], [1, 3, 1, 2, 0]);
  const square = new Surface(new Float64Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]), new Uint32Array([0, 1, 2, 0, 2, 3]));
  assert.equal(square.tJunctions(0).count, 0);
  assert.throws(() => square.tJunctions(-1), sentence(/tolerance is -1/, "value"));
});

test("walks, links, slopes and saved surfaces", { skip }, () => {
  const { NONE, Surface } = hullfield;
  // A floor, and a wall at right angles to it.
  const vertices = new Float64Array([0, 0, 0, 4, 0, 0, 4, 4, 0, 0, 4, 0, 4, 0, 4, 4, 4, 4]);
  const surface = new Surface(vertices, new Uint32Array([0, 1, 2, 0, 2, 3, 1, 4, 5, 1, 5, 2]));
  const up = surface.raycast([1, 2, 0], [1, 0, 0], 5);
  near([...up.point, ...up.direction, up.distance], [4, 2, 2, 0, 0, 1, 5]);
  assert.deepEqual([...up.wall], [NONE, NONE]);
  assert.deepEqual([...surface.raycast([1, 2, 0], [1, 0, 0], 9).wall].sort(), [4, 5]);
  near(surface.moveAlong([1, 1, 0], [2, -2, 0]).position, [3, 0, 0]);
  const nearest = surface.nearestPoint([1, 1, 2]);
  near([...nearest.position, nearest.distance], [1, 1, 0, 2]);
  surface.setLinks(new Float64Array([1, 2, 0, 4, 2, 3, 0.5]), new Uint8Array([0]));
  near([surface.path([1, 2, 0], [4, 2, 3]).length], [0.5]);
  const saved = Surface.fromBytes(surface.toBytes());
  near([saved.path([1, 2, 0], [4, 2, 3]).length, saved.path([4, 2, 3], [1, 2, 0]).length], [0.5, 6]);
  // An agent half way up the link, and one on the floor.
  const lifted = surface.path([0, 2, 0], [4, 2, 3]);
  assert.deepEqual([...lifted.links].slice(-3), [lifted.points.length / 3 - 2, 0, 0]);
  const [walking, flying] = [Surface.pathAt(lifted, 0.5), Surface.pathAt(lifted, 1.25)];
  near([...walking.position, ...flying.position], [0.5, 2, 0, 2.5, 2, 1.5]);
  assert.deepEqual([walking.link, flying.link, Surface.pathAt(lifted, NaN)], [null, 0, null]);
  assert.throws(() => Surface.pathAt({}, 1), sentence(/points is missing/));
  surface.setWalkableSlope([0, 0, 1], 45);
  assert.deepEqual([surface.path(0, 4).reach, surface.path(0, 2).reach], ["goal off", "reached"]);
  assert.throws(() => Surface.fromBytes(new Uint8Array(50)), sentence(/hullsurf/));
  assert.throws(() => surface.setLinks(new Float64Array([1, 2, 0, 4, 2, 3, -1])), sentence(/link 0/));
});

test("errors are sentences", { skip }, async () => {
  const { Arena, Engine, Flow, Grid, Hull, Room, Surface } = hullfield;
  const [arena, bodies] = boxes();
  const reject = (promise, ...expected) => assert.rejects(promise, sentence(...expected));
  const raise = (call, ...expected) => assert.throws(call, sentence(...expected));
  await reject(arena.contacts({ ...bodies, hulls: 7 }), /hull 7 does not exist, there are 1/, "missing");
  await reject(arena.contacts({ ...bodies, hulls: new Uint32Array(2) }), /hulls has 2 rows, positions has 3/, "count");
  await reject(arena.contacts({ ...bodies, positions: new Float32Array(8) }), /positions has 8 numbers, it must have 3 for each row/, "count");
  await reject(arena.contacts({ ...bodies, positions: [0, 0, 0] }), /positions is of the class Array, it must be a Float32Array or a Float64Array/);
  await reject(arena.contacts({ ...bodies, rotations: new Float64Array(12) }), /rotations is of the class Float64Array, it must be a Float32Array/);
  await reject(arena.contacts({ ...bodies, position: 1 }), /bodies has no field 'position', its fields are hulls, positions/);
  await reject(arena.contacts({ hulls: 0 }), /positions is missing/);
  await reject(arena.contacts(), /positions is missing/);
  await reject(arena.contacts([]), /bodies is of the class Array, it must be an object/);
  await reject(arena.contacts(bodies, { margin: "1" }), /margin is '1', it must be a number/);
  await reject(arena.contacts(bodies, { margin: -1 }), /margin is -1/, "value");
  await reject(arena.contacts(bodies, { pairs: "all" }), /pairs is 'all', it must be one of 'broadPhase', 'exhaustive'/);
  await reject(arena.contacts(bodies, { pairs: new Uint32Array([0, 3]) }), /pair 0: body 3 does not exist, there are 3/, "missing");
  await reject(arena.contacts({ ...bodies, positions: new Float32Array(9).fill(NaN) }), /body 0: position/);
  await reject(Engine.gpu(), /no GPU can do this: .*it takes a browser that has WebGPU/, "noGpu");
  const auto = await Engine.auto();
  assert.deepEqual([auto.backend, auto.reason.includes("it takes a browser that has WebGPU")], ["cpu", true]);
  raise(() => new Arena([Hull.ball(1), 3]), /hulls\[1\] is the number 3, it must be of the class Hull/);
  raise(() => new Arena([Engine.cpu()]), /hulls\[0\] is of the class Engine, it must be of the class Hull/);
  const freed = Hull.ball(1);
  freed.free();
  raise(() => new Arena([freed]), /hulls\[0\] was freed/);
  raise(() => new Arena(Hull.ball(1)), /hulls is of the class Hull, it must be an array/);
  raise(() => Hull.ball(-1), /radius is -1/, "value");
  raise(() => Hull.cuboid([1, 2]), /half has 2 numbers, it must have 3/);
  raise(() => Hull.cylinder([0, 0, 0], [1, 0, 0], 1, 2.5), /sides is 2.5, it must be a whole number/);
  raise(() => Hull.fromPoints(new Float32Array()), /point/);
  raise(() => new Grid([3, 3], new Uint8Array(8)), /8 .*9/, "count");
  raise(() => new Grid(3, new Uint8Array(8)), /size is the number 3, it must be \[width, height\]/);
  raise(() => new Grid(null, new Uint8Array(8)), /size is null/);
  const flow = new Flow(new Grid([3, 3], new Uint8Array(9)));
  await reject(flow.solve(new Int32Array([9, 9])), /no goal is left/, "noGoals");
  await reject(flow.solve(new Int32Array([1, 1])).then((field) => field.path([0, 5])), /start/);
  raise(() => flow.edit({ block: new Int32Array([5, 5]) }), /edit 0/);
  raise(() => new Room(new Float64Array(4)), /the ring has 1 different points, it needs three/);
  raise(() => new Room(new Float64Array([0, 0, 1, 0, 0, 1])).path([0, NaN], [0, 0]), /start/);
  raise(() => new Surface(new Float64Array(9), new Uint32Array([0, 1, 3])), /3 does not exist|face/);
  raise(() => new Surface(new Float64Array([0, 0, 0, 1, 0, 0, 0, 1, 0]), new Uint32Array([0, 1, 2])).distances(9), /vertex 9/);
});

test("the build with the module inlined reads no file", { skip }, () => {
  const alone = mkdtempSync(join(tmpdir(), "hullfield-inline-"));
  try {
    for (const name of ["package.json", "index.js", "inline.js", "module.js", "hullfield_web.js"]) copyFileSync(file(name), join(alone, name));
    const program = `
      import { init, Arena, Hull, HullfieldError } from ${JSON.stringify(pathToFileURL(join(alone, "inline.js")).href)};
      await init();
      const arena = new Arena([Hull.ball(1)]);
      const { separation } = await arena.contacts({ hulls: 0, positions: new Float32Array([0, 0, 0, 1.5, 0, 0]) });
      console.log(separation[0]);`;
    const text = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
    assert.ok(Math.abs(Number(text) + 0.5) < 1e-6, text);
  } finally {
    rmSync(alone, { recursive: true, force: true });
  }
});

test("a module that can't be loaded is an error, and init may be called again", { skip }, () => {
  const program = `
    const { init } = await import(${JSON.stringify(pathToFileURL(file("index.js")).href)});
    await init(new URL("file:///no/such/module.wasm")).catch((error) => console.log(error.name, error.message));
    await init();
    console.log("ready");`;
  const text = execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  assert.match(text, /HullfieldError the module could not be loaded: .*no such file[^]*ready/i);
});

test("the package has what package.json names", { skip }, () => {
  const about = JSON.parse(readFileSync(file("package.json"), "utf8"));
  const workspace = readFileSync(new URL("../../Cargo.toml", import.meta.url), "utf8");
  assert.equal(about.version, /^version = "(.*)"$/m.exec(workspace)[1]);
  for (const name of [...about.files, "README.md"]) readFileSync(file(name));
  assert.equal(about.dependencies, undefined);
});

test("npm packs it, and a clean project imports it by name", { skip: skip || (spawnSync("npm", ["--version"]).status !== 0 && "npm is missing") }, () => {
  const project = mkdtempSync(join(tmpdir(), "hullfield-package-"));
  try {
    const options = { cwd: project, encoding: "utf8", env: { ...process.env, npm_config_cache: join(project, "cache"), npm_config_update_notifier: "false" } };
    const packed = execFileSync("npm", ["pack", FOLDER, "--silent"], options).trim().split("\n").pop();
    writeFileSync(join(project, "package.json"), '{ "type": "module", "private": true }');
    execFileSync("npm", ["install", "--offline", "--no-audit", "--no-fund", "--silent", join(project, packed)], options);
    // The programs of the README.
    const outputs = [...readFileSync(file("README.md"), "utf8").matchAll(/^```js\n([^]*?)^```/gm)].map(([, program], row) => {
      writeFileSync(join(project, `${row}.js`), program);
      return execFileSync(process.execPath, [`${row}.js`], options);
    });
    assert.match(outputs[0], /Uint32Array\(1\) \[ 0 \] Uint32Array\(1\) \[ 1 \] Float64Array\(1\) \[ -0.(0999|1000)/);
    assert.match(outputs[1], /4, 3, 2, 3, 2,[^]*\n4\n8\.32[^]*1\.414/);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});

test("the types name all that is exported", { skip }, () => {
  const types = readFileSync(file("index.d.ts"), "utf8");
  const declared = [...types.matchAll(/^export (?:function|class|const) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(declared.sort(), Object.keys(hullfield).sort());
  // The members of each class, as the module has them.
  for (const name of ["Engine", "Hull", "Arena", "Grid", "Flow", "Field", "Agents", "CostDistance", "Room", "Surface"]) {
    const body = new RegExp(`^export class ${name} \\{\\n([^]*?)^\\}`, "m").exec(types)[1];
    const found = hullfield[name];
    const own = [...Object.getOwnPropertyNames(found.prototype), ...Object.getOwnPropertyNames(found)];
    const members = own.filter((member) => !/^(__|constructor$|prototype$|length$|name$)/.test(member));
    const typed = [...body.matchAll(/^ {2}(?:static |readonly )?(\w+)[(:]/gm)].map(([, member]) => member);
    const listed = typed.filter((member) => member !== "constructor");
    assert.deepEqual([...new Set(listed)].sort(), [...new Set(members)].sort(), name);
  }
});

test("methods that give promises reject, others throw, also after free", { skip }, async () => {
  const { Arena, CostDistance, Engine, Flow, Grid, Hull, Room, Surface } = hullfield;
  const types = readFileSync(file("index.d.ts"), "utf8");
  const grid = () => new Grid([3, 3], new Uint8Array(9));
  const square = new Float64Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0]);
  const field = await new Flow(grid()).solve(new Int32Array([0, 0]));
  const objects = {
    Engine: Engine.cpu(),
    Hull: Hull.ball(1),
    Arena: new Arena([Hull.ball(1)]),
    Grid: grid(),
    Flow: new Flow(grid()),
    Field: field,
    CostDistance: new CostDistance([2, 1], new Float32Array([1, 1]), new Int32Array([0, 0])),
    Room: new Room(new Float64Array([0, 0, 1, 0, 1, 1, 0, 1])),
    Surface: new Surface(square, new Uint32Array([0, 1, 2, 0, 2, 3])),
  };
  for (const [name, object] of Object.entries(objects)) {
    object.free();
    // Twice is as good as once.
    object.free();
    const freed = sentence(new RegExp(`^this ${name} was freed, it can't be used any more$`), "invalid");
    const body = new RegExp(`^export class ${name} \\{\\n([^]*?)^\\}`, "m").exec(types)[1];
    for (const [, member, type] of body.matchAll(/^ {2}(\w+)\([^]*?\): ([^;]*);/gm)) {
      if (["constructor", "free"].includes(member)) continue;
      if (type.startsWith("Promise<")) await assert.rejects(object[member](), freed, member);
      else assert.throws(() => object[member](), freed, member);
    }
    for (const [, member] of body.matchAll(/^ {2}readonly (\w+):/gm)) assert.throws(() => object[member], freed, member);
  }
  for (const made of [Engine, Hull]) assert.throws(() => new made(), sentence(/has no constructor/, "invalid"));
  const kept = Hull.ball(1);
  kept[Symbol.dispose ?? Symbol.for("Symbol.dispose")]();
  assert.throws(() => kept.volume, sentence(/was freed/, "invalid"));
});

test("an answer that is too large is refused at once", { skip }, async () => {
  const [arena] = boxes();
  const crowd = { hulls: 0, positions: new Float32Array(3 * 10_000) };
  const refused = sentence(/the answer, by a sample of its pairs, needs \d+ bytes of memory, the limit is 1073741824/, "memoryLimit");
  for (const query of ["contacts", "manifolds"]) await assert.rejects(arena[query](crowd), refused);
  assert.equal((await arena.contacts({ hulls: 0, positions: new Float32Array(6) })).count, 1);
});

test("a fault of the module is one error, and the module is made anew", { skip }, async () => {
  const { Arena, Grid, Flow, Hull } = hullfield;
  const [arena, bodies] = boxes();
  const hull = Hull.ball(1);
  // The distances of its cells are more than one list may have.
  const grid = new Grid([30_000, 30_000], new Uint8Array(0));
  const flow = new Flow(grid);
  const full = (error) => {
    assert.ok(["outOfMemory", "internal"].includes(error.code), error.code);
    return sentence(/the module has ended by a fault \(.+\); it held \d+ MiB of memory/)(error);
  };
  await assert.rejects(flow.solve(new Int32Array([0, 0])), full);
  // What is made from here on works, and lies where the old objects lay.
  const box = Hull.cuboid([0.5, 0.5, 0.5]);
  const again = new Arena([box]);
  const small = new Flow(new Grid([2, 2], new Uint8Array(4)));
  const field = await small.solve(new Int32Array([0, 0]));
  const gone = sentence(/belonged to has ended by a fault: make it again/, "invalid");
  assert.throws(() => hull.volume, gone);
  assert.throws(() => new Arena([hull]), gone);
  await assert.rejects(arena.contacts(bodies), gone);
  await assert.rejects(flow.update(field), gone);
  for (const object of [grid, flow, arena, hull]) object.free();
  assert.equal((await again.contacts(bodies)).count, 1);
  assert.equal(box.volume, 1);
  assert.deepEqual([...await field.distances()], [0, 408, 408, 577]);
});

test("bundlers find the module's address, word for word", { skip }, () => {
  assert.ok(readFileSync(file("index.js"), "utf8").includes('new URL("./hullfield_web_bg.wasm", import.meta.url)'));
});

test("bundles without an address of their own", { skip }, () => {
  // As esbuild writes it for formats that are no modules.
  const folder = mkdtempSync(join(tmpdir(), "hullfield-bundle-"));
  try {
    for (const name of ["hullfield_web.js", "index.js", "module.js", "inline.js"]) {
      writeFileSync(join(folder, name), readFileSync(file(name), "utf8").replaceAll("import.meta", "({})"));
    }
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const program = `
      import { init, Arena, Hull } from "./inline.js";
      import { init as bare } from "./index.js";
      await bare().catch((error) => console.log(error.name, error.message));
      await init();
      console.log((await new Arena([Hull.ball(1)]).contacts({ hulls: 0, positions: new Float32Array([0, 0, 0, 1, 0, 0]) })).count);`;
    writeFileSync(join(folder, "main.js"), program);
    const lines = execFileSync(process.execPath, ["main.js"], { cwd: folder, encoding: "utf8" }).trim().split("\n");
    assert.match(lines[0], /^HullfieldError the program does not know where it was loaded from: give init\(\)/);
    assert.equal(lines[1], "1");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const hasTsc = spawnSync("tsc", ["--version"]).status === 0;

test("the types compile", { skip: skip || (!hasTsc && "tsc is missing") }, () => {
  const project = mkdtempSync(join(tmpdir(), "hullfield-types-"));
  try {
    const program = `
      import { init, Arena, Engine, Hull, Room, type BodyColumns, type Contacts } from ${JSON.stringify(file("index.js"))};
      export async function first(): Promise<number> {
        await init();
        const arena = new Arena([Hull.cuboid([0.5, 0.5, 0.5])], { engine: await Engine.auto() });
        const bodies: BodyColumns = { hulls: 0, positions: new Float32Array(9) };
        const found: Contacts = await arena.contacts(bodies, { pairs: "exhaustive" });
        const place: number[] = [0, 0, 0];
        { using held = new Arena([Hull.capsule(place, [0, 1, 0], 1)]); void held; }
        // @ts-expect-error: a margin is a number.
        await arena.contacts(bodies, { margin: "1" });
        return found.separation[0] + new Room(new Float64Array(8)).path([0, 0], [1, 1]).length;
      }`;
    writeFileSync(join(project, "main.ts"), program);
    const args = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "main.ts"];
    const { status, stdout } = spawnSync("tsc", args, { cwd: project, encoding: "utf8" });
    assert.equal(status, 0, stdout);
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
});

/** A server of the package's folder, which gives an empty page at its root. */
async function served() {
  const server = createServer(({ url }, answer) => {
    const name = url.slice(1);
    const type = name.endsWith(".js") ? "text/javascript" : name.endsWith(".wasm") ? "application/wasm" : "text/html";
    try {
      const content = /^[\w.]+$/.test(name) ? readFileSync(file(name)) : "<!doctype html><title>package</title><link rel=icon href=data:,>";
      answer.writeHead(200, { "content-type": type }).end(content);
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return server;
}

/** Runs in a page: the same queries on both engines. */
async function onBothEngines(program) {
  const { init, Arena, Engine, Flow, Grid, Hull } = await import(program);
  await init();
  const cpu = Engine.cpu();
  const auto = await Engine.auto();
  const gpu = await Engine.gpu().catch((error) => ({ backend: null, reason: `${error.name}: ${error.message}` }));
  const answers = [];
  for (const engine of gpu.backend ? [cpu, gpu] : [cpu]) {
    const arena = new Arena([Hull.cuboid([0.5, 0.5, 0.5]), Hull.ball(0.75)], { engine });
    await arena.prepare(["contacts"]);
    const hulls = Uint32Array.from({ length: 200 }, (_, row) => row % 2);
    const positions = Float32Array.from({ length: 600 }, (_, at) => (at * 7919 % 1000) / 100);
    const { a, b, status, stats } = await arena.contacts({ hulls, positions });
    const field = await new Flow(new Grid([40, 30], Uint8Array.from({ length: 1200 }, (_, at) => at % 7 === 3)), { engine }).solve(new Int32Array([0, 0]));
    const { length } = await field.path([39, 29]);
    answers.push([[...a], [...b], [...status], [...await field.distances()], length, stats.hitCount]);
  }
  return { auto: [auto.backend, auto.reason], gpu: [gpu.backend, gpu.reason], answers };
}

const noBrowser = skip || (!process.env.HULLFIELD_CHROMIUM && "HULLFIELD_CHROMIUM names no browser");

test("in a browser, on WebGPU and the CPU", { skip: noBrowser }, async (t) => {
  const server = await served();
  // The page that this browser opens is that of the package.
  process.env.HULLFIELD_PAGE = `http://127.0.0.1:${server.address().port}/`;
  const { Browser, WITH_WEBGPU, WITHOUT_WEBGPU } = await import("./browser.mjs");
  try {
    for (const [flags, program] of [[WITHOUT_WEBGPU, "/inline.js"], [WITH_WEBGPU, "/index.js"]]) {
      const browser = await Browser.start(flags);
      try {
        const page = await browser.open();
        await page.until("document.readyState === 'complete' && location.protocol === 'http:'");
        const { auto, gpu, answers } = await page.value(`(${onBothEngines})(${JSON.stringify(program)})`);
        t.diagnostic(`${program}: ${gpu[1]}`);
        // A GPU in software is taken only where it is asked for.
        assert.equal(auto[0], "cpu", auto[1]);
        const [cpu, other] = answers;
        assert.ok(cpu[5] > 10 && cpu[4] > 0 && cpu[4] < 0xffff_ffff);
        if (flags === WITH_WEBGPU) {
          assert.equal(gpu[0], "gpu", gpu[1]);
          assert.deepEqual(other, cpu);
        } else {
          assert.match(gpu[1], /HullfieldError: no GPU can do this/);
        }
        assert.deepEqual(page.errors, []);
        await page.close();
      } finally {
        await browser.stop();
      }
    }
  } finally {
    server.close();
  }
});
