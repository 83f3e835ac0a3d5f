/// <reference lib="esnext.disposable" />
/**
 * hullfield: mass collision of convex hulls, flow fields and shortest paths.
 *
 * Lengths are in units of the caller's world, frames are right-handed, quaternions are `x, y, z, w`. Typed arrays hold the numbers of a row one
 * after the other: `(n, 3)` below means three numbers for each of n rows. A call copies what it needs before it returns. What is wrong with the
 * input is a {@link HullfieldError} that says what, where and what is allowed; methods that return a promise reject it, others throw it.
 *
 * Objects of the classes hold memory of the module. It is given back when they are collected, or at once by `free()`; after that they can't be used.
 * `using` frees an object at the end of its block.
 *
 * A fault of the module within a call, as where it finds no memory, is an error of the code `outOfMemory` or `internal`. The module is then made anew: all objects made so far are
 * gone, and new ones can be made at once.
 */

/** What `init` takes: where the module is, its bytes, or the module. */
export type Source = string | URL | Response | Promise<Response> | ArrayBuffer | Uint8Array | WebAssembly.Module;

/**
 * Loads the module. Call it once, before anything else; further calls wait for the first.
 *
 * @param source by default the file beside the program: a browser fetches it, Node reads it.
 * @throws {HullfieldError} (rejects) where the module can't be loaded. Another call tries again.
 */
export function init(source?: Source): Promise<void>;

/** Which kind an error is of. */
export type ErrorCode =
  | "value" | "missing" | "count" | "invalid" | "noGpu" | "tooMany" | "memoryLimit" | "noGoals" | "distanceOverflow" | "io" | "cancelled"
  | "outOfMemory" | "deviceLost" | "internal";

/** An error of the package: one sentence that names what is wrong and where. */
export class HullfieldError extends Error {
  private constructor();
  readonly name: "HullfieldError";
  /** Which kind it is of. */
  readonly code: ErrorCode;
}

/** A point or a vector: an array or a typed array of three numbers. */
export type Vector3 = readonly number[] | Float32Array | Float64Array;
/** A point or a vector of two numbers. */
export type Vector2 = readonly number[] | Float32Array | Float64Array;

/** Where queries run. */
export class Engine {
  private constructor();
  /**
   * The CPU: the thread that calls. A query is done within the call, so pages that must not stop call from a worker. The rows of an answer may take 1 GiB, as on every
   * engine; a query with more is refused (`memoryLimit`), mostly after a sample of its pairs.
   */
  static cpu(): Engine;
  /** A real GPU through WebGPU if there is one that passes the self-test, else the CPU. `reason` says what was chosen. Takes up to some seconds. */
  static auto(): Promise<Engine>;
  /**
   * The best adapter of WebGPU, a software one where there is nothing else.
   *
   * @throws {HullfieldError} (rejects, `noGpu`) where there is no WebGPU, or no adapter that can do the work. Node has none.
   */
  static gpu(): Promise<Engine>;
  /** What queries run on. */
  readonly backend: "gpu" | "cpu";
  /** Which adapter or CPU was chosen, and why, in one clause. */
  readonly reason: string;
  /** Another handle of the same engine. */
  copy(): Engine;
  /** Gives the handle's memory back. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** A convex hull, in its own frame and units. */
export class Hull {
  private constructor();
  /**
   * The hull of points, (n, 3): of a point, a segment, a polygon or a solid.
   *
   * @throws {HullfieldError} without a point, and for one that is not finite.
   */
  static fromPoints(points: Float32Array): Hull;
  /** A box about the origin, of these half lengths, each 0 or more. */
  static cuboid(half: Vector3): Hull;
  /** A ball about the origin, of a radius of 0 or more. */
  static ball(radius: number): Hull;
  /** All points within a radius of the segment from `a` to `b`. */
  static capsule(a: Vector3, b: Vector3, radius: number): Hull;
  /** A prism about the segment from `a` to `b`, of 3 to 65,536 sides, whose vertices are on circles of this radius. */
  static cylinder(a: Vector3, b: Vector3, radius: number, sides: number): Hull;
  /** A pyramid from the middle of its base to its tip, of 3 to 65,536 sides. */
  static cone(base: Vector3, tip: Vector3, radius: number, sides: number): Hull;
  /** All points with y ≤ 0: the ground. */
  static halfSpace(): Hull;
  /** The hull with a rounding: all points within a radius of it. */
  rounded(radius: number): Hull;
  /** The vertices, (n, 3). */
  readonly vertices: Float32Array;
  /** The faces, each a list of vertices, counter-clockwise seen from outside. */
  readonly faces: Uint32Array[];
  /** The faces as triangles, (n, 3) vertices. */
  readonly triangles: Uint32Array;
  /** The volume without the rounding; 0 for a hull that is no solid. */
  readonly volume: number;
  /** The largest distance of a vertex from the mean of the vertices, without the rounding. */
  readonly radius: number;
  /** The radius of the rounding. */
  readonly rounding: number;
  /** Another handle of the same hull. */
  copy(): Hull;
  /** Gives the handle's memory back. Arenas keep their hulls. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** Bodies as columns. All columns have as many rows, n; those that are missing have their defaults. */
export interface BodyColumns {
  /** The hull of each body, (n), by its number in the arena; or one number for all. */
  hulls: number | Uint32Array;
  /** Where the origin of each hull is, (n, 3), world frame, in f32 or f64. */
  positions: Float32Array | Float64Array;
  /** Unit quaternions `x, y, z, w`, (n, 4). Default: unrotated. */
  rotations?: Float32Array;
  /** The scale along each axis of the hull, (n, 3). Default: 1. */
  scales?: Float32Array;
  /** A rounding in world units, (n). Default: 0. */
  paddings?: Float32Array;
  /** The groups that each body is in, one bit each, (n). Default: all. */
  groups?: Uint32Array;
  /** The groups that each body meets, one bit each, (n). Default: all. */
  masks?: Uint32Array;
  /** The world of each body, (n): only bodies of one world meet. Default: one world. */
  worlds?: Uint32Array;
  /** The owner of each body, (n): bodies of one owner never meet. Default: none has one. */
  owners?: Uint32Array;
}

/** Rays as columns, all of n rows. */
export interface RayColumns {
  /** Where each ray begins, (n, 3), world frame, in f32 or f64. */
  origins: Float32Array | Float64Array;
  /** Where each ray goes, (n, 3), of any length but 0. */
  directions: Float32Array;
  /** How far each ray goes, (n), in world units. Default: without an end. */
  maxDistances?: Float32Array;
  /** The groups of each ray, one bit each, (n). Default: all. */
  groups?: Uint32Array;
  /** The groups that each ray meets, one bit each, (n). Default: all. */
  masks?: Uint32Array;
  /** The world of each ray, (n). */
  worlds?: Uint32Array;
}

/** How a pair lies. */
export const Status: Readonly<{ SEPARATED: 0; TOUCHING: 1; PENETRATING: 2 }>;
/** Stands for an index that is missing: no body, no face, no wall. */
export const NONE: 4294967295;
/** The distance of a cell from which no goal can be reached. */
export const UNREACHABLE: 4294967295;
/** The code of a cell without a move: a goal, and a cell that is not reached. */
export const NEXT_NONE: 255;

/** Which pairs a query examines: those that boxes find, all, or the pairs given, (n, 2), whatever their groups are. */
export type Pairs = "broadPhase" | "exhaustive" | Uint32Array;

/** Statistics of a query. */
export interface Stats {
  /** Pairs that the broad phase found. */
  candidateCount: number;
  /** Pairs that touch or penetrate. */
  hitCount: number;
  /** Pairs that f32 could not decide, settled in f64. */
  settledCount: number;
  /** Building pipelines of the GPU, in milliseconds. */
  compileMs: number;
  /** From the call to the answer, in milliseconds. */
  totalMs: number;
}

/** The columns that all answers have. */
export interface Batch {
  /** How many rows there are. */
  count: number;
  /** Statistics of the query. */
  stats: Stats;
}

/** Rows of pairs: sorted by (a, b), a < b; for given pairs one for each, in their order. Statics count on after the bodies. */
export interface PairBatch extends Batch {
  /** The first body, (n). */
  a: Uint32Array;
  /** The second body, (n). */
  b: Uint32Array;
  /** How the pair lies, (n): see {@link Status}. */
  status: Uint8Array;
}

/** The answer of `intersections`. */
export interface Intersections extends PairBatch {
  /** A unit vector that shows the gap of a separated pair, (n, 3); else NaN. */
  axis: Float32Array;
}

/** The answer of `distances`. */
export interface Distances extends PairBatch {
  /** The distance, (n), in world units; 0 where they touch or overlap. */
  separation: Float64Array;
  /** The nearest points of `a` and of `b`, (n, 2, 3), world frame; NaN where they penetrate. */
  points: Float64Array;
  /** A unit vector from `a` to `b`, (n, 3); NaN where they penetrate. */
  axis: Float64Array;
}

/** The answer of `contacts`. */
export interface Contacts extends PairBatch {
  /** The distance, (n), in world units; below 0 how deep they overlap. */
  separation: Float64Array;
  /** A unit vector from `a` to `b`, (n, 3): along it they are parted soonest. */
  normal: Float64Array;
  /** The points of `a` and of `b`, (n, 2, 3), world frame. */
  points: Float64Array;
}

/** The answer of `manifolds`: as that of `contacts`, with up to four points a pair. */
export interface Manifolds extends PairBatch {
  /** As of `contacts`, (n). */
  separation: Float64Array;
  /** As of `contacts`, (n, 3). */
  normal: Float64Array;
  /** How many points the pair has, (n), 1 to 4. */
  pointCount: Uint8Array;
  /** The points on `a` and on `b`, (n, 4, 2, 3), world frame; those that are missing NaN. */
  points: Float64Array;
  /** The separation at each point, (n, 4), in world units. */
  separations: Float64Array;
}

/** The answer of `gradients`: as that of `contacts`, with how the separation changes. */
export interface Gradients extends PairBatch {
  /** As of `contacts`, (n), within 1e-9 of the sum of the bounding radii. */
  separation: Float64Array;
  /** The rate by the position of `a`, (n, 3), world axes. */
  positionA: Float64Array;
  /** The rate by the rotation of `a` about the world's axes, (n, 3), in world units per radian. */
  rotationA: Float64Array;
  /** The rate by the position of `b`, (n, 3), world axes. */
  positionB: Float64Array;
  /** The rate by the rotation of `b` about the world's axes, (n, 3), in world units per radian. */
  rotationB: Float64Array;
  /** 0 where the separation is smooth; 1 where other points are as near, and the rates of rotations are those of one of them; 2 where another direction is as good, and no rate may hold. */
  degeneracy: Uint8Array;
}

/** The answer of `hits`: a row for each body, statics not. */
export interface Hits extends Batch {
  /** Whether it touches another body or a static, (n), 0 or 1. */
  hit: Uint8Array;
}

/** The answer of `hitCounts`: a row for each body, statics not. */
export interface HitCounts extends Batch {
  /** How many bodies and statics it touches, (n). */
  hits: Uint32Array;
}

/** How bodies move: the columns have as many rows as the bodies. */
export interface MotionColumns {
  /** Velocities of the bodies' positions, (n, 3), in world units per second. */
  velocities: Float32Array;
  /** Angular velocities about the positions, (n, 3), in radians per second, world axes. Default: 0. */
  angularVelocities?: Float32Array;
}

/** How a sweep ends. */
export const SweepOutcome: Readonly<{ HIT: 0; MISS: 1; TOUCHING: 2 }>;

/** The answer of `sweeps`. */
export interface Sweeps extends Batch {
  /** The first body, (n). */
  a: Uint32Array;
  /** The second body, (n). */
  b: Uint32Array;
  /** Whether they meet, (n): see {@link SweepOutcome}. */
  outcome: Uint8Array;
  /** When they meet, (n), in seconds; 0 where they touch at the start, the duration where they miss. */
  time: Float64Array;
  /** A unit vector from `a` to `b` then, (n, 3); NaN where they miss. */
  normal: Float64Array;
  /** The points that meet, (n, 2, 3), world frame; NaN without `witness`. */
  points: Float64Array;
  /** The separation then, (n), in world units; NaN without `witness`. */
  separation: Float64Array;
}

/** The answer of `nearestBodies`: sorted by the body that is asked about, then by the separation. */
export interface NearestBodies extends Batch {
  /** The body that is asked about, (n). */
  query: Uint32Array;
  /** A body near to it, (n). */
  body: Uint32Array;
  /** How the pair lies, (n): see {@link Status}. */
  status: Uint8Array;
  /** The distance, (n), in world units; below 0 how deep they overlap. */
  separation: Float64Array;
  /** A unit vector from the first to the second, (n, 3). */
  normal: Float64Array;
  /** The points of the first and of the second, (n, 2, 3), world frame. */
  points: Float64Array;
}

/** The answer of `raycasts`: a row for each ray. */
export interface Raycasts extends Batch {
  /** The first body that the ray meets, (n), or {@link NONE}. */
  body: Uint32Array;
  /** The face of its hull, (n), or {@link NONE}. */
  face: Uint32Array;
  /** How far the ray goes, (n), in world units; NaN without a body. */
  distance: Float64Array;
  /** Where it meets the body, (n, 3), world frame; NaN without a body. */
  point: Float64Array;
  /** The unit normal there, (n, 3); NaN without a body, and where the ray begins inside. */
  normal: Float64Array;
}

/** The answer of `raycastsAll`: a row for each ray and body that it meets, by rays, the nearest first. */
export interface RaycastsAll extends Raycasts {
  /** The ray, (n). */
  ray: Uint32Array;
}

/** The answer of `occlusions`: a row for each ray. */
export interface Occlusions extends Batch {
  /** Whether the ray meets a body, (n), 0 or 1. */
  occluded: Uint8Array;
}

/** Shapes that move along straight lines, as columns: those of bodies, where they begin, and where they go. */
export interface ShapeCastColumns extends Omit<BodyColumns, "owners"> {
  /** Where each shape goes, (n, 3), of any length but 0. */
  directions: Float32Array;
  /** How far each shape goes, (n), in world units. Default: without an end. */
  maxDistances?: Float32Array;
}

/** The answer of `shapeCasts`: a row for each shape. */
export interface ShapeCasts extends Batch {
  /** The first body that the shape meets, (n), or {@link NONE}. */
  body: Uint32Array;
  /** How far the shape goes until then, (n), in world units; 0 where they touch at the start; NaN without a body. */
  distance: Float64Array;
  /** A unit vector from the body to the shape there, (n, 3); NaN without a body. */
  normal: Float64Array;
  /** Whether they touch or overlap at the start, (n), 0 or 1. */
  initialOverlap: Uint8Array;
  /** The points of the shape and of the body that meet, (n, 2, 3), world frame; NaN without `witness`. */
  points: Float64Array;
  /** The separation then, (n), in world units; NaN without `witness`. */
  separation: Float64Array;
}

/** The answer of `shapeCastsAll`: a row for each shape and body that it meets, by shapes, the nearest first. */
export interface ShapeCastsAll extends ShapeCasts {
  /** The shape, (n). */
  cast: Uint32Array;
}

/** The answer of `shapeCastsAny`: a row for each shape. */
export interface ShapeCastsAny extends Batch {
  /** Whether the shape meets a body, (n), 0 or 1. */
  hit: Uint8Array;
}

/** The answer of `nearestPoints`: a row for each point. */
export interface NearestPoints extends Batch {
  /** The nearest body, (n), or {@link NONE}. */
  body: Uint32Array;
  /** The distance of its surface, (n); below 0 inside; NaN without a body. */
  distance: Float64Array;
  /** The nearest point of its surface, (n, 3), world frame. */
  nearest: Float64Array;
  /** The unit normal there, (n, 3). */
  normal: Float64Array;
}

/** The answer of `containments`: a row for each point and body that holds it, sorted. */
export interface Containments extends Batch {
  /** The point, (n). */
  point: Uint32Array;
  /** The body, (n). */
  body: Uint32Array;
  /** Minus the depth of the point, (n), or up to the tolerance above 0. */
  distance: Float64Array;
}

/** Options of an arena. */
export interface ArenaOptions {
  /** Where queries run. Default: the CPU. */
  engine?: Engine;
  /** `"fast"`: f32, and f64 for what f32 can't decide. `"exact"`: f64 for every pair, on the CPU. Default: `"fast"`. */
  precision?: "fast" | "exact";
  /** Whether queries on the CPU reuse results of earlier ones over as many bodies. The answers stay the same. Default: false. */
  warmStart?: boolean;
  /** Bodies that do not move, and are not paired with one another; without worlds and owners. */
  statics?: BodyColumns;
}

/** The hulls of a scene, laid out once, and the queries over bodies made of them. Verdicts are the same on every engine. */
export class Arena {
  /**
   * @param hulls the hulls; bodies name them by their numbers, from 0. The handles stay usable.
   * @throws {HullfieldError} for statics that can't be used, and where a GPU has no memory for the hulls.
   */
  constructor(hulls: readonly Hull[], options?: ArenaOptions);
  /**
   * Which bodies touch: a row for each pair that does.
   *
   * @throws {HullfieldError} (rejects) for a hull or a body that does not exist, columns of different lengths, a number that is not finite or out of
   * range, a body paired with itself.
   */
  intersections(bodies: BodyColumns, options?: { pairs?: Pairs }): Promise<Intersections>;
  /**
   * How far bodies are apart.
   *
   * @param options `margin`: pairs farther apart are not listed, in world units. Default: every pair is listed.
   * @throws {HullfieldError} (rejects) as `intersections`; for a margin below 0.
   */
  distances(bodies: BodyColumns, options?: { pairs?: Pairs; margin?: number }): Promise<Distances>;
  /**
   * How deep bodies overlap, and where.
   *
   * @param options `margin`: pairs up to so far apart are listed too, in world units. Default: 0.
   * @throws {HullfieldError} (rejects) as `distances`.
   */
  contacts(bodies: BodyColumns, options?: { pairs?: Pairs; margin?: number }): Promise<Contacts>;
  /**
   * As `contacts`, with up to four points a pair, for a solver.
   *
   * @throws {HullfieldError} (rejects) as `distances`.
   */
  manifolds(bodies: BodyColumns, options?: { pairs?: Pairs; margin?: number }): Promise<Manifolds>;
  /**
   * As `contacts`, with how the separation changes with the poses of both bodies, for optimisers. Measured in f64 on the CPU.
   *
   * @throws {HullfieldError} (rejects) as `distances`.
   */
  gradients(bodies: BodyColumns, options?: { pairs?: Pairs; margin?: number }): Promise<Gradients>;
  /**
   * The pairs whose boxes overlap, (n, 2), sorted: those that `"broadPhase"` examines.
   *
   * @throws {HullfieldError} (rejects) as `intersections`.
   */
  candidates(bodies: BodyColumns): Promise<Uint32Array>;
  /**
   * Whether each body touches another one or a static. Faster than `intersections` where bodies touch many others.
   *
   * @throws {HullfieldError} (rejects) as `intersections`.
   */
  hits(bodies: BodyColumns): Promise<Hits>;
  /**
   * How many bodies and statics each body touches.
   *
   * @throws {HullfieldError} (rejects) as `intersections`.
   */
  hitCounts(bodies: BodyColumns): Promise<HitCounts>;
  /**
   * When moving bodies first meet: a row for each pair that does; for given pairs a row for each. Statics do not move.
   *
   * @param options `duration`: for how long they move, in seconds, default 1. `witness`: whether rows have points and separation, default false.
   * @throws {HullfieldError} (rejects) as `intersections`; for a duration below 0, and for a velocity that is not finite.
   */
  sweeps(bodies: BodyColumns, motions: MotionColumns, options?: { pairs?: Pairs; duration?: number; witness?: boolean }): Promise<Sweeps>;
  /**
   * The nearest other bodies of each body.
   *
   * @param options `count`: how many are listed at most, default 1. `maxDistance`: how far they may be, in world units, default any distance. `of`: the rows
   * of the bodies that are asked about, default all.
   * @throws {HullfieldError} (rejects) as `intersections`; for a count of 0; for a row that no body has.
   */
  nearestBodies(bodies: BodyColumns, options?: { count?: number; maxDistance?: number; of?: Uint32Array }): Promise<NearestBodies>;
  /**
   * The bodies nearest to each of some shapes, which are bodies that are not in the scene: `query` is the row of the shape. A body of the scene finds itself so;
   * the option `of` of `nearestBodies` asks about bodies of the scene.
   *
   * @throws {HullfieldError} (rejects) as `nearestBodies`.
   */
  nearestBodiesTo(bodies: BodyColumns, shapes: BodyColumns, options?: { count?: number; maxDistance?: number }): Promise<NearestBodies>;
  /**
   * Builds what a GPU needs for queries over the pairs of the broad phase, in the background: otherwise the first query of a kind waits for it. Does nothing on
   * the CPU.
   *
   * @throws {HullfieldError} (rejects) where the device is lost or has no memory.
   */
  prepare(queries: readonly ("intersections" | "distances" | "contacts" | "manifolds" | "sweeps" | "raycasts")[]): Promise<void>;
  /**
   * The first body that each ray meets.
   *
   * @param options `skipStart`: whether bodies in which a ray begins are passed over. Default: false.
   * @throws {HullfieldError} (rejects) as `intersections`; for a direction of length 0.
   */
  raycasts(bodies: BodyColumns, rays: RayColumns, options?: { skipStart?: boolean }): Promise<Raycasts>;
  /**
   * All bodies that each ray meets.
   *
   * @throws {HullfieldError} (rejects) as `raycasts`.
   */
  raycastsAll(bodies: BodyColumns, rays: RayColumns, options?: { skipStart?: boolean }): Promise<RaycastsAll>;
  /**
   * Whether each ray meets a body. Faster than `raycasts`.
   *
   * @throws {HullfieldError} (rejects) as `raycasts`.
   */
  occlusions(bodies: BodyColumns, rays: RayColumns, options?: { skipStart?: boolean }): Promise<Occlusions>;
  /**
   * The first body that each moved shape meets. Shapes do not turn, and half-spaces do not move.
   *
   * @param options `skipStart`: whether bodies that a shape overlaps at the start are passed over, default false. `witness`: whether rows have points and
   * separation, default false.
   * @throws {HullfieldError} (rejects) as `intersections`; for a direction of length 0.
   */
  shapeCasts(bodies: BodyColumns, casts: ShapeCastColumns, options?: { skipStart?: boolean; witness?: boolean }): Promise<ShapeCasts>;
  /**
   * All bodies that each moved shape meets.
   *
   * @throws {HullfieldError} (rejects) as `shapeCasts`.
   */
  shapeCastsAll(bodies: BodyColumns, casts: ShapeCastColumns, options?: { skipStart?: boolean; witness?: boolean }): Promise<ShapeCastsAll>;
  /**
   * Whether each moved shape meets a body. Faster than `shapeCasts`.
   *
   * @throws {HullfieldError} (rejects) as `shapeCasts`.
   */
  shapeCastsAny(bodies: BodyColumns, casts: ShapeCastColumns, options?: { skipStart?: boolean; witness?: boolean }): Promise<ShapeCastsAny>;
  /**
   * The body nearest to each point, (n, 3).
   *
   * @param options `maxDistance`: how far it may be, in world units. Default: any distance.
   * @throws {HullfieldError} (rejects) as `intersections`.
   */
  nearestPoints(bodies: BodyColumns, points: Float32Array | Float64Array, options?: { maxDistance?: number }): Promise<NearestPoints>;
  /**
   * Which bodies hold each point, (n, 3).
   *
   * @throws {HullfieldError} (rejects) as `intersections`.
   */
  containments(bodies: BodyColumns, points: Float32Array | Float64Array): Promise<Containments>;
  /**
   * Adds hulls, and returns the number of the first. All hulls are laid out anew, so add many at once.
   *
   * @throws {HullfieldError} for what is no hull, and where a GPU has no memory. The arena is then unchanged.
   */
  addHulls(hulls: readonly Hull[]): number;
  /**
   * Removes hulls by their numbers. Other hulls keep their numbers, and removed numbers are not used again.
   *
   * @throws {HullfieldError} for a hull that does not exist, that was removed, or that a static is made of. The arena is then unchanged.
   */
  removeHulls(ids: Uint32Array): void;
  /** Where queries run. */
  readonly engine: Engine;
  /** How many hulls there are, with those that were removed. */
  readonly hullCount: number;
  /** Gives the arena's memory back, also on the GPU. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** Options of a grid. */
export interface GridOptions {
  /** The neighbours of a cell. Default: `"eight"`, in three dimensions `"twentySix"`. */
  connectivity?: "four" | "eight" | "six" | "twentySix";
  /** When a diagonal move is allowed: if all cells between are free, if one is, or always. Default: `"bothFree"`. */
  corners?: "bothFree" | "oneFree" | "any";
  /** The cost of entering each cell, a multiple of the step's length, 1 or more. Default: 1. */
  costs?: Uint32Array;
  /** Where the grid begins, world frame. Default: the origin. */
  origin?: Vector3;
  /** The length of a cell's edge, in world units. Default: 1. */
  cellSize?: number;
  /** The radius of the agents, in world units: cells nearer to an obstacle become obstacles. Default: 0. */
  clearance?: number;
  /** Whether agents keep the clearance from the grid's border too (`"wall"`). Default: `"open"`. */
  border?: "open" | "wall";
}

/** A grid of cells, row by row: the cell (x, y, z) has the index x + width (y + height z). In lists a cell is x, y, in three dimensions x, y, z. */
export class Grid {
  /**
   * @param size width and height, in three dimensions depth too, in cells.
   * @param obstacles a byte for each cell: 0 is free. Empty: all are.
   * @throws {HullfieldError} for a size of 0, lists of another length, and options out of range.
   */
  constructor(size: readonly [number, number] | readonly [number, number, number] | Uint32Array, obstacles: Uint8Array, options?: GridOptions);
  /** Width, height and depth, in cells; depth is 1 in two dimensions. */
  readonly size: Uint32Array;
  /** 2 or 3. */
  readonly dimension: number;
  /** The obstacles, with those that the clearance made: a byte for each cell. */
  readonly obstacles: Uint8Array;
  /** The cost of each cell; empty where all are 1. */
  readonly costs: Uint32Array;
  /** The moves by their codes, (n, 3): x, y and z. */
  readonly offsets: Int32Array;
  /** The distance of each cell's centre from the nearest obstacle, in world units. `border`: whether the border is one. Default: `"open"`. */
  clearances(border?: "open" | "wall"): Float32Array;
  /** A copy. */
  copy(): Grid;
  /** Gives the grid's memory back. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** A grid on an engine. */
export class Flow {
  /**
   * @param options `engine`: where fields are solved. Default: the CPU.
   * @throws {HullfieldError} where a GPU has no memory for the grid.
   */
  constructor(grid: Grid, options?: { engine?: Engine });
  /** The grid as it is now. */
  readonly grid: Grid;
  /**
   * Solves a field: the distance of each cell from the nearest goal.
   *
   * @param goals the cells of the goals. Those on obstacles and off the grid are left out.
   * @param options `maxDistance`: cells farther away are left unreachable. `until`: cells; the field is solved until all of them have their distance.
   * @throws {HullfieldError} (rejects) where no goal is left, and where a distance does not fit in 32 bits.
   */
  solve(goals: Int32Array, options?: { maxDistance?: number; until?: Int32Array }): Promise<Field>;
  /**
   * Solves many fields, one for each list of goals. On a GPU many small fields take hardly longer than one.
   *
   * @throws {HullfieldError} (rejects) as `solve`, with the number of the field.
   */
  fields(goals: readonly Int32Array[], options?: { maxDistance?: number; until?: Int32Array }): Promise<Field[]>;
  /**
   * Brings a field up to date after `edit`; with `goals` also after these changed. Takes less time than a new field where little has changed. The handle that
   * was given is used up by the answer, as by `free()`; a `copy()` of it keeps the old field. Until then, and after an error, it has the old field.
   *
   * @throws {HullfieldError} (rejects) as `solve`, say while something stands on every goal. After that the field can be read and updated again. Where the
   * GPU is lost, its fields are lost too: solve them anew.
   */
  update(field: Field, goals?: Int32Array): Promise<Field>;
  /**
   * Makes cells obstacles (`block`) or free, and sets costs. Fields that are solved stay as they are.
   *
   * @param edits lists of cells; `cost` has one cost for each of its cells, 1 or more.
   * @throws {HullfieldError} for a cell off the grid and a cost of 0: then no cell is changed.
   */
  edit(edits: { block?: Int32Array; free?: Int32Array; cost?: { cells: Int32Array; costs: Uint32Array } }): void;
  /**
   * Puts agents into cells. On a GPU they stay there from step to step.
   *
   * @throws {HullfieldError} for a cell off the grid.
   */
  agents(cells: Int32Array): Agents;
  /**
   * Builds what a GPU needs for some queries, in the background: otherwise the first query of a kind waits for it. Does nothing on the CPU.
   *
   * @throws {HullfieldError} (rejects) where the device is lost or has no memory.
   */
  prepare(queries: readonly ("solve" | "solveUntil" | "update" | "step" | "paths" | "distancesAt")[]): Promise<void>;
  /** Gives the memory back. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** Agents that follow a field from cell to cell. */
export class Agents {
  private constructor();
  /**
   * Moves each agent some cells on, towards the goals of a field of the same engine; it stops at a goal.
   *
   * @param stepCount how many cells, by default 1.
   * @throws {HullfieldError} for a field over a grid of another size or of another engine.
   */
  step(field: Field, stepCount?: number): void;
  /** The cells of the agents. */
  cells(): Promise<Int32Array>;
  /** How many agents there are. */
  readonly count: number;
  /** Gives the memory back, also on the GPU. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** A solved field. Lengths are whole: an axial step is 1 without diagonals, 408 in two dimensions with them, 1183 in three. */
export class Field {
  private constructor();
  /** The distance of each cell, row by row, or {@link UNREACHABLE}. */
  distances(): Promise<Uint32Array>;
  /** The code of each cell's move towards the nearest goal, row by row, or {@link NEXT_NONE}: an index into `Grid.offsets`. */
  nextCodes(): Promise<Uint8Array>;
  /** The distances of some cells. Rejects for a cell off the grid. */
  distancesAt(cells: Int32Array): Promise<Uint32Array>;
  /** The cells that agents in some cells go to next; at a goal, and where no goal is reached, the cell itself. Rejects for a cell off the grid. */
  nextCells(cells: Int32Array): Promise<Int32Array>;
  /** The path from a cell to the nearest goal, with both; the start alone, of the length {@link UNREACHABLE}, where no goal is reached. */
  path(start: readonly number[]): Promise<{ cells: Int32Array; length: number }>;
  /** Paths from many cells: path i has the indices `cells[offsets[i]]` to `cells[offsets[i + 1] - 1]`. */
  paths(starts: Int32Array): Promise<{ offsets: Uint32Array; cells: Uint32Array; lengths: Uint32Array }>;
  /**
   * Which way agents at positions, (n, 3), world frame, go: unit vectors, (n, 3); 0 in the cell of a goal, and where no goal is reached.
   *
   * @param options `sight`: an agent goes straight to a goal that it sees and that is at most so many steps away; 0: no agent does.
   * @throws {HullfieldError} (rejects) for a position off the grid.
   */
  directions(positions: Float64Array, options?: { sight?: number }): Promise<Float64Array>;
  /** How many cells are reached. */
  readonly reachedCount: number;
  /** Another handle of the same field. */
  copy(): Field;
  /** Gives the memory back, also on the GPU. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** Options of a cost distance. */
export interface CostDistanceOptions {
  /** The neighbours of a cell. Default: `"eight"`. */
  connectivity?: "four" | "eight";
  /** When a diagonal move is allowed: if all cells between are free, if one is, or always. Default: `"any"`, as in GRASS's r.cost. */
  corners?: "bothFree" | "oneFree" | "any";
  /** Which friction a move pays: the mean of both cells', that of the cell entered, or that of the cell left. Default: `"mean"`. */
  costRule?: "mean" | "entry" | "exit";
  /** The size of a cell along x and y, in units of the map. Default: 1, and distances are in cells. */
  cellSize?: readonly [number, number] | Float64Array;
  /** Cells farther than this are not reached. Default: no limit. */
  maxDistance?: number;
  /** Whether `allocation` is computed. Default: false. */
  allocation?: boolean;
  /** Whether `nextCodes` is computed, which `path` needs. Default: false. */
  next?: boolean;
  /** The height of each cell, row by row, in units of the map: then the length of a step is that over the ground. Default: the ground is flat. */
  elevation?: Float32Array;
  /** Slopes, ascending, each with the factor of a step of this slope, (n, 2), or Tobler's hiking function. Default: 1 everywhere. */
  factors?: Float64Array | "tobler";
  /** Whether paths are walked from the target to the cell. Default: false. */
  outward?: boolean;
}

/** The least cost of a path from each cell of a raster to a target: friction times length, added up. Solved on the thread that calls. */
export class CostDistance {
  /**
   * @param size width and height, in cells.
   * @param friction of each cell, row by row. A cell whose friction is 0 or negative, NaN or infinite is a barrier.
   * @param targets cells, x and y each. Those on barriers and off the raster are left out.
   * @throws {HullfieldError} where no target is left, for lists of another length, and for options out of range.
   */
  constructor(
    size: readonly [number, number] | Uint32Array, friction: Float32Array | Float64Array, targets: Int32Array, options?: CostDistanceOptions,
  );
  /** The distance of each cell, row by row, in units of the map times those of friction; infinite where no target is reached. */
  readonly distances: Float32Array;
  /** The target of each cell by its number, row by row, or {@link NONE}. Empty without the option `allocation`. */
  readonly allocation: Uint32Array;
  /** The code of each cell's move, row by row, or {@link NEXT_NONE}. Empty without the option `next`. */
  readonly nextCodes: Uint8Array;
  /** The path from a cell to its target, x and y each, with both. Throws for a cell off the raster, and without the option `next`. */
  path(start: Vector2): Int32Array;
  /** How many cells are reached, targets included. */
  readonly reachedCount: number;
  /** The largest distance of a reached cell. */
  readonly farthest: number;
  /** The largest relative error of a distance, without the rounding to f32. */
  readonly errorBound: number;
  /** Gives the memory back. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** Whether there is a path, and if not why. */
export type Reach = "reached" | "unreachable" | "start off" | "goal off";

/** A path in a room. */
export interface RoomPath {
  /** Whether there is a path. */
  reach: Reach;
  /** Its length; infinite where there is none. */
  length: number;
  /** Start, corners and goal, (n, 2). Empty where there is no path. */
  points: Float64Array;
  /** The length from the start to each point. */
  arcLengths: Float64Array;
  /** The vertices of the room at which the path bends. */
  corners: Uint32Array;
  /** The cells that the path goes through. */
  cells: Uint32Array;
  /** Where there is no path, the nearest point at which one could end. */
  nearest: Float64Array | null;
}

/** Options of a path in a room. */
export interface RoomPathOptions {
  /** The shortest path, or the shortest within one strip of cells, which is found sooner. Default: `"optimal"`. */
  method?: "optimal" | "funnel";
  /** How the strip of a funnel is found. Default: `"dijkstra"`. */
  strip?: "dijkstra" | "breadthFirst";
  /** Whether a path to a goal that can't be reached leads to the nearest point that can. Default: false. */
  toNearest?: boolean;
}

/** Options of a room. */
export interface RoomOptions {
  /** The radius of the agents, in the room's units. Default: 0. */
  radius?: number;
  /** Whether paths squeeze through points in which walls touch. Default: false. */
  squeeze?: boolean;
  /** Whether triangles are merged into larger cells. Default: true. */
  merge?: boolean;
  /** Whether rings that cross are repaired. Default: true. */
  repair?: boolean;
  /**
   * Doors, (n, 4): segments from one wall to another, across which nobody walks while they are shut. They are open at first. A shut door is a wall
   * for the radius too. A door that misses its walls, or crosses no floor, is an error.
   */
  doors?: Float64Array;
}

/** A point of a room. */
export interface RoomPoint {
  /** Where it is. */
  position: Float64Array;
  /** How far it is from the point that was given; of a move, how far it is from where the agent wanted to go. */
  distance: number;
  /** The cell that holds it. */
  cell: number;
}

/** A room in two dimensions: a polygon with holes. Queries run on the thread that calls. */
export class Room {
  /**
   * @param outer the outer ring, (n, 2).
   * @param holes rings, each (n, 2).
   * @throws {HullfieldError} for a ring of fewer than three points, and where nothing of the room is left.
   */
  constructor(outer: Float64Array, holes?: readonly Float64Array[] | null, options?: RoomOptions);
  /**
   * A room of convex cells that share their vertices.
   *
   * @param vertices (n, 2).
   * @param cells lists of vertices, each counter-clockwise.
   * @throws {HullfieldError} for a cell that is not convex, and for a vertex that does not exist.
   */
  static fromCells(vertices: Float64Array, cells: readonly Uint32Array[], options?: RoomOptions): Room;
  /**
   * A room of several polygons. The floor is what any of them holds: polygons that share a part of an edge are one floor, polygons apart are islands.
   *
   * @param polygons each a list of rings, (n, 2): the outer one, then holes.
   * @throws {HullfieldError} as the constructor, and for a polygon without rings.
   */
  static fromPolygons(polygons: readonly (readonly Float64Array[])[], options?: RoomOptions): Room;
  /** The path between two points. Throws for a number that is not finite. */
  path(start: Vector2, goal: Vector2, options?: RoomPathOptions): RoomPath;
  /** The paths of many queries, (n, 4): start and goal. */
  paths(queries: Float64Array, options?: RoomPathOptions): RoomPath[];
  /** The point of the room nearest to a point. */
  nearestPoint(point: Vector2): RoomPoint | null;
  /** A point with its cell; null where it is off the room. */
  locate(point: Vector2): RoomPoint | null;
  /** Where an agent stands after a straight move that slides along walls; null where it begins off the room. */
  moveAlong(start: Vector2, displacement: Vector2): RoomPoint | null;
  /** The nearest wall by its two vertices, and the point of it; null where the point is off the room. */
  distanceToWall(point: Vector2): { point: Float64Array; distance: number; wall: Uint32Array } | null;
  /**
   * Puts an obstacle, a ring (n, 2), into the room, and returns its number. Only the cells around it are built anew.
   *
   * @throws {HullfieldError} for a ring of fewer than three points. The room is then unchanged.
   */
  putObstacle(ring: Float64Array): number;
  /** Gives an obstacle another ring. Throws as `putObstacle`, and for an obstacle that does not exist. */
  moveObstacle(obstacle: number, ring: Float64Array): void;
  /** Takes an obstacle out; its number is not used again. Throws for an obstacle that does not exist. */
  takeObstacle(obstacle: number): void;
  /** Makes a door of edges between cells, (n, 2) vertices, and returns its number. It is open at first. Throws for other edges. */
  addDoor(edges: Uint32Array): number;
  /** Makes a door of whole cells, and returns its number: while it is shut nobody walks in them. It is open at first. */
  addDoorCells(cells: Uint32Array): number;
  /** Opens or shuts a door. Throws for a door that does not exist. */
  setDoor(door: number, isOpen: boolean): void;
  /** How many doors there are. */
  readonly doorCount: number;
  /**
   * The ends of `RoomOptions.doors` that are on no wall, so that agents can walk around the door: which door, where, and how far the nearest wall is. Without
   * `repair` such a door is an error.
   */
  readonly freeDoorEnds: { door: number; end: Float64Array; distance: number }[];
  /** How many parts the room has between which there is no way. */
  readonly islandCount: number;
  /** Where a ray first meets a wall, or ends: `wall` has its two vertices, or {@link NONE}. Null where the ray begins off the room. */
  raycast(
    start: Vector2, direction: Vector2, maxDistance: number,
  ): { point: Float64Array; distance: number; cell: number; wall: Uint32Array } | null;
  /** The vertices, (n, 2). */
  readonly vertices: Float64Array;
  /** The cells, each a list of vertices. */
  readonly cells: Uint32Array[];
  /**
   * The place of an agent on a path, by the length that it has walked. Null where there is no path. `piece` is the index of the piece: from that point to the next.
   *
   * @throws {HullfieldError} for what is not a path.
   */
  static pathAt(path: RoomPath, arcLength: number): { position: Float64Array; tangent: Float64Array; piece: number } | null;
  /** The area between the walls. */
  readonly area: number;
  /** Gives the memory back. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}

/** A path over a surface. */
export interface SurfacePath {
  /** Whether there is a path. */
  reach: Reach;
  /** Its length; infinite where there is none. */
  length: number;
  /** Start, the points where the path crosses an edge, and goal, (n, 3). Empty where there is no path. */
  points: Float64Array;
  /** The face of each piece between two points. */
  faces: Uint32Array;
  /** The length from the start to each point. */
  arcLengths: Float64Array;
  /** How far start and goal were moved to the surface. */
  snaps: Float64Array;
  /** The pieces that are links, (n, 3): the piece, the link, and 1 where it is taken backwards. */
  links: Uint32Array;
  /** Where there is no path, the nearest point at which one could end. */
  nearest: Float64Array | null;
}

/** Options of a path over a surface. */
export interface SurfacePathOptions {
  /** At most `tolerance` longer than the shortest; the shortest; or the shortest within one strip of faces. Default: `"geodesic"`. */
  method?: "geodesic" | "exact" | "funnel";
  /** How much longer a `"geodesic"` may be, relative to the shortest. Default: 0.001. */
  tolerance?: number;
  /** Whether a path to a goal that can't be reached leads to the nearest point that can. Default: false. */
  toNearest?: boolean;
}

/** A place on a surface: a vertex by its number, or the point nearest to a position. */
export type Place = number | Vector3;

/** A surface of triangles. Queries run on the thread that calls. */
export class Surface {
  /**
   * @param vertices (n, 3).
   * @param faces (n, 3) vertices.
   * @param options `weld`: vertices up to so far apart become one, default 0. `interval`: edges longer than this are cut, default none.
   * `maxSnap`: how far a position may be from the surface, default any distance. `landmarks`: whether landmarks are measured, which guide searches.
   * @throws {HullfieldError} for a vertex that does not exist, a number that is not finite, and without a triangle.
   */
  constructor(
    vertices: Float64Array,
    faces: Uint32Array,
    options?: { weld?: number; interval?: number; maxSnap?: number; landmarks?: boolean },
  );
  /** The vertices that faces use, (n, 3). */
  readonly vertices: Float64Array;
  /** The faces, (n, 3) vertices. */
  readonly faces: Uint32Array;
  /**
   * The vertices that lie on an edge they are not joined to, within `tolerance` of it: no path goes across there. `edges` has the two ends of one of the
   * edges for each, (n, 2).
   *
   * @throws {HullfieldError} for a tolerance below 0.
   */
  tJunctions(tolerance: number): { count: number; vertices: Uint32Array; edges: Uint32Array; distances: Float64Array };
  /**
   * The place of an agent on a path, by the length that it has walked. Null where there is no path. `link` is the link that it is on; null on the faces.
   *
   * @throws {HullfieldError} for what is not a path.
   */
  static pathAt(path: SurfacePath, arcLength: number): { position: Float64Array; tangent: Float64Array; face: number; link: number | null } | null;
  /** The area. */
  readonly area: number;
  /** The path between two places. Throws for a vertex that does not exist. */
  path(start: Place, goal: Place, options?: SurfacePathOptions): SurfacePath;
  /** The paths of many queries, (n, 6): the positions of start and goal. */
  paths(queries: Float64Array, options?: SurfacePathOptions): SurfacePath[];
  /**
   * The exact distance of each vertex from a source; infinite where there is no way. A value belongs to its vertex: vertices that lie hardly apart, as
   * on the two lips of a slit, have their own.
   */
  distances(source: Place): Float64Array;
  /**
   * The point of the surface nearest to a position, its distance and its face; null where no face is walkable. `vertex` is the vertex that it is, or {@link NONE}:
   * where vertices lie hardly apart, it says which one was taken.
   */
  nearestPoint(point: Place): { position: Float64Array; distance: number; face: number; vertex: number } | null;
  /** The vertex that a position on a face is, to the bit, or {@link NONE}. Throws for a face that does not exist. */
  vertexAt(face: number, position: Vector3): number;
  /**
   * Where a straight walk over the surface meets a wall, or ends after `maxDistance`: `wall` has its two vertices, or {@link NONE}. Null where it begins off
   * the surface. Throws for a direction that is at right angles to the surface.
   */
  raycast(
    start: Place, direction: Vector3, maxDistance: number,
  ): { point: Float64Array; direction: Float64Array; distance: number; face: number; wall: Uint32Array } | null;
  /** Where an agent stands after a walk over the surface that slides along walls; null where it begins off the surface. */
  moveAlong(
    start: Place, displacement: Vector3,
  ): { position: Float64Array; tangent: Float64Array; normal: Float64Array; face: number } | null;
  /**
   * Sets the links, such as ladders, which join two points of the surface: (n, 7), both ends and the cost, as the length of a walk that costs as much.
   * They replace those of before.
   *
   * @param twoWay a byte for each, 0 for a link that can't be taken backwards. Default: all can.
   * @throws {HullfieldError} for a cost below 0, and for an end farther from the surface than `maxSnap`. The links are then unchanged.
   */
  setLinks(links: Float64Array, twoWay?: Uint8Array): void;
  /** Makes faces walkable where the angle between their normal and `up` is at most `degrees` (0 to 180). All others are not walkable. */
  setWalkableSlope(up: Vector3, degrees: number): void;
  /** The surface as bytes, which `fromBytes` and the Rust library read. */
  toBytes(): Uint8Array;
  /**
   * A surface of the bytes of `toBytes`; its answers are equal to the bit.
   *
   * @param options `maxSnap`: by default as saved. `landmarks`: whether landmarks are measured, default false.
   * @throws {HullfieldError} for any other bytes.
   */
  static fromBytes(bytes: Uint8Array, options?: { maxSnap?: number; landmarks?: boolean }): Surface;
  /** Says which faces may be walked on: a byte for each, 0 for no. */
  setWalkable(mask: Uint8Array): void;
  /** Gives the memory back. */
  free(): void;
  /** As `free`, for `using`. */
  [Symbol.dispose](): void;
}
