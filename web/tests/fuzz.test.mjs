// Every call of the npm package gets broken input. It must answer or throw an error of the package. The module must not fault, and the process must not
// grow by more than MEMORY. HULLFIELD_SEED chooses the inputs. With HULLFIELD_FUZZ_MINUTES the test runs for that long.

import assert from "node:assert/strict";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";

const FOLDER = process.env.HULLFIELD_PACKAGE;
const skip = FOLDER ? false : "HULLFIELD_PACKAGE names no folder";
const SEED = Number(BigInt.asUintN(32, BigInt(process.env.HULLFIELD_SEED || 1)));
const MINUTES = Number(process.env.HULLFIELD_FUZZ_MINUTES ?? 0);
/** Inputs without HULLFIELD_FUZZ_MINUTES. */
const COUNT = 6000;
/** Bytes that the process may hold more than before. The module keeps what it has had once. */
const MEMORY = 768 * 2 ** 20;

let hullfield;
/** What an input's own code throws. */
const OWN = new Error("the input's own error");

before(async () => {
  if (!FOLDER) return;
  hullfield = await import(pathToFileURL(join(FOLDER, "index.js")));
  await hullfield.init();
});

/** Mulberry32. */
class Random {
  constructor(seed) { this.state = seed >>> 0; }
  next() {
    this.state = this.state + 0x6d2b79f5 >>> 0;
    let bits = Math.imul(this.state ^ this.state >>> 15, this.state | 1);
    bits = bits + Math.imul(bits ^ bits >>> 7, bits | 61) ^ bits;
    return ((bits ^ bits >>> 14) >>> 0) / 2 ** 32;
  }
  below(count) { return Math.floor(this.next() * count); }
  of(list) { return list[this.below(list.length)]; }
}

const NUMBERS = [
  0, -0, 1, -1, 2, 3, 0.5, 1e-300, 1e-45, 1e-20, 1e-7, 1e7, 1e18, 1.1e18, 3e38, 1e300, -1e300, NaN, Infinity, -Infinity,
  2 ** 31, 2 ** 31 - 1, -(2 ** 31), 2 ** 32, 2 ** 32 - 1, 2 ** 53, 65535, 65536, 1 << 24,
];
const TYPED = [Float32Array, Float64Array, Uint32Array, Int32Array, Uint8Array, Int8Array, Uint16Array, Uint8ClampedArray];

/** Values that no field expects. */
const strange = (random) => random.of([
  () => undefined, () => null, () => true, () => "", () => "exact", () => "x".repeat(1e5), () => 7n, () => Symbol("s"), () => () => 1, () => ({}), () => [],
  () => new Array(2 ** 32 - 1), () => detached(), () => [[], [[]]], () => new Date(NaN), () => new Map([[0, 1]]), () => Promise.resolve(1), () => new ArrayBuffer(24),
  () => new DataView(new ArrayBuffer(24)), () => new BigInt64Array(3), () => Object.create(null), () => new Float32Array(new SharedArrayBuffer(36)),
  () => new Float32Array(new ArrayBuffer(36, { maxByteLength: 72 })), () => new Proxy({}, { get() { throw OWN; }, ownKeys() { throw OWN; } }),
  () => ({ get length() { throw OWN; } }), () => ({ __wbg_ptr: 8 }), () => ({ __wbg_ptr: 0 }), () => ({ copy() { return this; }, __wbg_ptr: 1 }),
  () => hullfield.Hull.ball(1), () => freed(), () => new hullfield.Grid([2, 2], new Uint8Array(4)), () => hullfield.Engine.cpu(), () => globalThis,
])();

function detached() {
  const array = new Float64Array(6);
  structuredClone(array.buffer, { transfer: [array.buffer] });
  return array;
}

function freed() {
  const hull = hullfield.Hull.ball(1);
  hull.free();
  return hull;
}

/** Another value of the same kind, or of any other. */
function mutated(random, value) {
  try {
    return changed(random, value);
  } catch {
    // It was mutated before, and its own code throws.
    return strange(random);
  }
}

function changed(random, value) {
  const choice = random.next();
  if (choice < 0.15) return strange(random);
  if (typeof value === "number") return random.of(NUMBERS);
  if (typeof value === "boolean") return !value;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView) && !(value instanceof BigInt64Array) && value.length > 0) {
    if (choice < 0.3) return value.slice(0, random.below(value.length + 1));
    if (choice < 0.4) return new value.constructor([...value, ...value]);
    if (choice < 0.5) return new (random.of(TYPED))(value);
    if (choice < 0.6) return [...value];
    const other = value.slice();
    for (let count = 1 + random.below(3); count > 0; count -= 1) {
      other[random.below(other.length)] = choice < 0.8 ? random.of(NUMBERS) : other[random.below(other.length)];
    }
    return other;
  }
  // A copy of the sparse array would fill the memory of the test.
  if (Array.isArray(value) && value.length < 1000) {
    if (value.length === 0 || choice < 0.25) return [...value, random.next() < 0.5 ? strange(random) : random.of(NUMBERS)];
    if (choice < 0.35) return value.slice(1);
    const other = [...value];
    const at = random.below(other.length);
    other[at] = mutated(random, other[at]);
    return other;
  }
  if (value && Object.getPrototypeOf(value) === Object.prototype) {
    const keys = Object.keys(value);
    const other = { ...value };
    if (keys.length === 0 || choice < 0.25) other[random.of(["x", "margin", "length", "__proto__x", "constructor"])] = strange(random);
    else if (choice < 0.35) delete other[random.of(keys)];
    else if (choice < 0.45) Object.defineProperty(other, random.of(keys), { enumerable: true, get() { throw OWN; } });
    else {
      const key = random.of(keys);
      other[key] = mutated(random, other[key]);
    }
    return other;
  }
  return strange(random);
}

/** Every call, with good values: its name, the values, and what calls it with others. */
function calls() {
  const { Arena, CostDistance, Engine, Flow, Grid, Hull, Room, Surface } = hullfield;
  const [f32, f64, u32, i32, u8] = [Float32Array, Float64Array, Uint32Array, Int32Array, Uint8Array].map((Kind) => (...all) => new Kind(all));
  const hulls = [Hull.cuboid([0.5, 0.5, 0.5]), Hull.ball(0.75)];
  const bodies = {
    hulls: u32(0, 1, 0), positions: f32(0, 0, 0, 0.9, 0, 0, 3, 0, 0), rotations: f32(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1), scales: f32(1, 1, 1, 1, 1, 1, 1, 1, 1),
    paddings: f32(0, 0, 0.1), groups: u32(1, 1, 1), masks: u32(1, 1, 1), worlds: u32(0, 0, 0), owners: u32(0, 1, 2),
  };
  const { owners, ...placed } = bodies;
  void owners;
  const rays = { origins: f64(-5, 0, 0, 0, 9, 0), directions: f32(1, 0, 0, 0, -1, 0), maxDistances: f32(9, 9), groups: u32(1, 1), masks: u32(1, 1), worlds: u32(0, 0) };
  const casts = { ...placed, directions: f32(1, 0, 0, 0, 1, 0, 0, 0, 1), maxDistances: f32(2, 2, 2) };
  const motions = { velocities: f32(1, 0, 0, 0, 0, 0, -1, 0, 0), angularVelocities: f32(0, 0, 0, 0, 1, 0, 0, 0, 0) };
  const measured = { pairs: u32(0, 1, 1, 2), margin: 1 };
  const ring = f64(0, 0, 4, 0, 4, 4, 0, 4);
  const hole = f64(1, 1, 1, 2, 2, 2, 2, 1);
  const roomOptions = { radius: 0.1, squeeze: false, merge: true, repair: true };
  const vertices = f64(0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0.5);
  const faces = u32(0, 1, 2, 0, 2, 3);
  const gridOptions = { connectivity: "eight", corners: "bothFree", costs: u32(1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 1, 1), origin: [0, 0, 0], cellSize: 1, clearance: 0, border: "open" };
  const obstacles = u8(0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0);
  const of = (make, names) => Object.entries(names).map(([name, values]) => [name, values, (given) => make()[name](...given)]);
  const arena = () => new Arena(hulls, { precision: "fast" });
  const flow = () => new Flow(new Grid([4, 3], obstacles));
  const field = () => flow().solve(i32(0, 0));
  const room = () => new Room(ring, [hole]);
  const withObstacle = () => { const held = room(); held.putObstacle(hole.map((x) => x + 1.5)); return held; };
  const surface = () => new Surface(vertices, faces);
  const statics = { hulls: 0, positions: f32(9, 0, 0) };
  return [
    ...of(() => Hull, {
      fromPoints: [f32(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1)], cuboid: [[1, 1, 1]], ball: [1], capsule: [[0, 0, 0], [1, 0, 0], 0.5],
      cylinder: [[0, 0, 0], [0, 1, 0], 0.5, 8], cone: [[0, 0, 0], [0, 1, 0], 0.5, 8],
    }),
    ...of(() => hulls[0], { rounded: [0.5] }),
    ["Arena", [hulls, { precision: "fast", warmStart: true, statics, engine: Engine.cpu() }], (given) => new Arena(...given)],
    ...of(arena, {
      intersections: [bodies, { pairs: u32(0, 1) }], distances: [bodies, measured], contacts: [bodies, measured], manifolds: [bodies, measured],
      gradients: [bodies, measured], candidates: [bodies], hits: [bodies], hitCounts: [bodies], sweeps: [bodies, motions, { pairs: "broadPhase", duration: 1, witness: true }],
      nearestBodies: [bodies, { count: 2, maxDistance: 9 }], nearestBodiesTo: [bodies, placed, { count: 2, maxDistance: 9 }], prepare: [["contacts"]],
      raycasts: [bodies, rays, { skipStart: false }], raycastsAll: [bodies, rays, { skipStart: true }], occlusions: [bodies, rays, { skipStart: false }],
      shapeCasts: [placed, casts, { skipStart: false, witness: true }], shapeCastsAll: [placed, casts, { skipStart: true, witness: false }],
      shapeCastsAny: [placed, casts, { skipStart: false, witness: false }], nearestPoints: [{ ...bodies, worlds: undefined }, f64(0, 0, 0, 2, 0, 0), { maxDistance: 5 }],
      containments: [{ ...bodies, worlds: undefined }, f32(0, 0, 0)], addHulls: [[hulls[1]]], removeHulls: [u32(1)],
    }),
    ["Grid", [[4, 3], obstacles, gridOptions], (given) => new Grid(...given)],
    ["Grid 3D", [u32(2, 2, 3), obstacles, { connectivity: "twentySix" }], (given) => new Grid(...given)],
    ...of(() => new Grid([4, 3], obstacles), { clearances: ["wall"] }),
    ["Flow", [new Grid([4, 3], obstacles), { engine: Engine.cpu() }], (given) => new Flow(...given)],
    ...of(flow, {
      solve: [i32(0, 0, 3, 2), { maxDistance: 900, until: i32(1, 1) }], fields: [[i32(0, 0), i32(3, 2)], { maxDistance: 900 }],
      edit: [{ block: i32(1, 1), free: i32(3, 0), cost: { cells: i32(2, 2), costs: u32(5) } }], agents: [i32(0, 0, 1, 1)], prepare: [["solve", "paths"]],
    }),
    ["update", [i32(0, 0)], async (given) => flow().update(await field(), ...given)],
    ["step", [2], async (given) => { const held = flow(); const walkers = held.agents(i32(3, 2)); walkers.step(await held.solve(i32(0, 0)), ...given); return walkers.cells(); }],
    ...["distancesAt", "nextCells", "paths"].map((name) => [name, [i32(3, 2, 1, 1)], async (given) => (await field())[name](...given)]),
    ["path of a field", [[3, 2]], async (given) => (await field()).path(...given)],
    ["directions", [f64(3.5, 2.5, 0), { sight: 3 }], async (given) => (await field()).directions(...given)],
    ["CostDistance", [
      [4, 3], f32(1, 1, 2, 0, 1, 5, 1, 1, 1, 1, 1, 9), i32(0, 0, 3, 2),
      {
        connectivity: "eight", corners: "any", costRule: "mean", cellSize: [30, 60], maxDistance: 1e4, allocation: true, next: true,
        elevation: f32(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3), factors: "tobler", outward: true,
      },
    ], (given) => new CostDistance(...given)],
    ["path of a cost distance", [[3, 2]], (given) => new CostDistance([4, 3], new Float32Array(12).fill(1), i32(0, 0), { next: true }).path(...given)],
    ["Room", [ring, [hole], { ...roomOptions, doors: f64(0, 3, 4, 3) }], (given) => new Room(...given)],
    ...of(() => Room, {
      fromCells: [f64(0, 0, 1, 0, 1, 1, 0, 1, 2, 0, 2, 1), [u32(0, 1, 2, 3), u32(1, 4, 5, 2)], roomOptions],
      fromPolygons: [[[ring, hole], [f64(4, 0, 6, 0, 6, 4, 4, 4)]], roomOptions],
    }),
    ...of(room, {
      path: [[0.5, 0.5], [3.5, 3.5], { method: "funnel", strip: "dijkstra", toNearest: true }], paths: [f64(0.5, 0.5, 3.5, 3.5), { method: "optimal" }],
      nearestPoint: [[9, 9]], locate: [[1.5, 1.5]], moveAlong: [[0.5, 0.5], [3, 1]], distanceToWall: [[0.5, 0.5]], putObstacle: [f64(3, 3, 3.5, 3, 3.5, 3.5)],
      addDoor: [u32(0, 4)], addDoorCells: [u32(0)], raycast: [[0.5, 0.5], [1, 0.25], 9],
    }),
    ["moveObstacle", [0, f64(3, 3, 3.5, 3, 3.5, 3.5)], (given) => withObstacle().moveObstacle(...given)],
    ["takeObstacle", [0], (given) => withObstacle().takeObstacle(...given)],
    ["setDoor", [0, false], (given) => new Room(ring, [], { doors: f64(0, 3, 4, 3) }).setDoor(...given)],
    ["freeDoorEnds", [f64(0, 3, 3, 3), 0.1], ([doors, radius]) => new Room(ring, [], { doors, radius, repair: true }).freeDoorEnds],
    ["Surface", [vertices, faces, { weld: 0.01, interval: 1e9, maxSnap: 2, landmarks: true }], (given) => new Surface(...given)],
    ...of(surface, {
      path: [[0.9, 0.1, 0], [0.1, 0.9, 0.4], { method: "geodesic", tolerance: 0.01, toNearest: true }], paths: [f64(0.9, 0.1, 0, 0.1, 0.9, 0.4), { method: "exact" }],
      distances: [[0.5, 0.5, 0]], nearestPoint: [2], vertexAt: [0, [1, 1, 0]], raycast: [[0.5, 0.25, 0], [1, 0, 0], 9], moveAlong: [0, [1, 1, 0]], setLinks: [f64(0, 0, 0, 1, 1, 0, 0.5), u8(1)],
      setWalkableSlope: [[0, 0, 1], 45], setWalkable: [u8(1, 0)],
    }),
    ["fromBytes", [surface().toBytes(), { maxSnap: 1, landmarks: true }], (given) => Surface.fromBytes(...given)],
  ];
}

/** What a call ends with: "answer", "refused" or "own". */
async function outcome(call, given) {
  try {
    const answer = await call(given);
    if (typeof answer?.free === "function") answer.free();
    return "answer";
  } catch (error) {
    if (error === OWN) return "own";
    const isRefused = error instanceof hullfield.HullfieldError && !["internal", "outOfMemory"].includes(error.code);
    if (isRefused && !/\n/.test(error.message) && error.message.length < 600) return "refused";
    throw error;
  }
}

test("good values are answered", { skip }, async () => {
  for (const [name, values, call] of calls()) {
    assert.equal(await outcome(call, values), "answer", name);
  }
});

test("broken values end in an answer or in an error of the package", { skip }, async (t) => {
  const all = calls();
  const counts = { answer: 0, refused: 0, own: 0 };
  const end = Date.now() + MINUTES * 60e3;
  const held = process.memoryUsage().rss;
  for (let index = 0; MINUTES > 0 ? Date.now() < end : index < COUNT; index += 1) {
    const seed = Math.imul(SEED, 0x9e3779b1) + index;
    const random = new Random(seed);
    const [name, values, call] = all[index % all.length];
    let given = [...values];
    for (let count = 1 + random.below(2); count > 0; count -= 1) {
      const at = random.below(given.length + 1);
      given = [...given];
      if (at < given.length) given[at] = mutated(random, given[at]);
      else if (random.next() < 0.5) given.push(strange(random));
      else given.length = random.below(given.length + 1);
    }
    // An empty list of obstacles asks for an open grid, of any size.
    if (name.startsWith("Grid") && ArrayBuffer.isView(given[1]) && given[1].length === 0) continue;
    try {
      counts[await outcome(call, given)] += 1;
    } catch (error) {
      assert.fail(`input ${index} of the seed ${SEED}, ${name}: ${error?.name} ${error?.code}: ${error?.message}`);
    }
    assert.ok(process.memoryUsage().rss - held < MEMORY, `input ${index} of the seed ${SEED}, ${name}: ${process.memoryUsage().rss} bytes`);
  }
  t.diagnostic(`${counts.answer} answered, ${counts.refused} refused, ${counts.own} ended by their own code`);
  assert.ok(counts.answer > 100 && counts.refused > 100, JSON.stringify(counts));
});
