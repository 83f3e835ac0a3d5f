/**
 * hullfield: mass collision of convex hulls, flow fields and shortest paths.
 *
 * Lengths are in units of the caller's world, frames are right-handed, quaternions are `x, y, z, w`. Typed arrays hold the numbers of a row one
 * after the other: `(n, 3)` below means three numbers for each of n rows. A call copies what it needs before it returns. What is wrong with the
 * input is a {@link HullfieldError} that says what, where and what is allowed; methods that return a promise reject it, others throw it.
 *
 * Objects of the classes hold memory of the module. It is given back when they are collected, or at once by `free()`; after that they can't be used.
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
export type Vector3 = readonly [number, number, number] | Float32Array | Float64Array;
/** A point or a vector of two numbers. */
export type Vector2 = readonly [number, number] | Float32Array | Float64Array;

/** Where queries run. */
export class Engine {
  private constructor();
  /** The CPU: the thread that calls. A query is done within the call, so pages that must not stop call from a worker. */
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
   * When moving bodies first meet: a row for each pair that does; for given pairs a row for each. Statics do not move.
   *
   * @param options `duration`: for how long they move, in seconds, default 1. `witness`: whether rows have points and separation, default false.
   * @throws {HullfieldError} (rejects) as `intersections`; for a duration below 0, and for a velocity that is not finite.
   */
  sweeps(bodies: BodyColumns, motions: MotionColumns, options?: { pairs?: Pairs; duration?: number; witness?: boolean }): Promise<Sweeps>;
  /**
   * The nearest other bodies of each body.
   *
   * @param options `count`: how many are listed at most, default 1. `maxDistance`: how far they may be, in world units, default any distance.
   * @throws {HullfieldError} (rejects) as `intersections`; for a count of 0.
   */
  nearestBodies(bodies: BodyColumns, options?: { count?: number; maxDistance?: number }): Promise<NearestBodies>;
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
  /** Where queries run. */
  readonly engine: Engine;
  /** How many hulls there are. */
  readonly hullCount: number;
  /** Gives the arena's memory back, also on the GPU. */
  free(): void;
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
  /** The moves by their codes, (n, 3): x, y and z. */
  readonly offsets: Int32Array;
  /** The distance of each cell's centre from the nearest obstacle, in world units. `border`: whether the border is one. Default: `"open"`. */
  clearances(border?: "open" | "wall"): Float32Array;
  /** A copy. */
  copy(): Grid;
  /** Gives the grid's memory back. */
  free(): void;
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
   * Makes cells obstacles (`block`) or free. Fields that are solved stay as they are.
   *
   * @throws {HullfieldError} for a cell off the grid.
   */
  edit(edits: { block?: Int32Array; free?: Int32Array }): void;
  /** Gives the memory back. */
  free(): void;
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
  /** Gives the memory back, also on the GPU. */
  free(): void;
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

/** A room in two dimensions: a polygon with holes. Queries run on the thread that calls. */
export class Room {
  /**
   * @param outer the outer ring, (n, 2).
   * @param holes rings, each (n, 2).
   * @param options `radius`: of the agents, default 0. `squeeze`: whether paths squeeze through points in which walls touch, default false.
   * `merge`: whether triangles are merged into larger cells, default true. `repair`: whether rings that cross are repaired, default true.
   * @throws {HullfieldError} for a ring of fewer than three points, and where nothing of the room is left.
   */
  constructor(
    outer: Float64Array,
    holes?: readonly Float64Array[] | null,
    options?: { radius?: number; squeeze?: boolean; merge?: boolean; repair?: boolean },
  );
  /** The path between two points. Throws for a number that is not finite. */
  path(start: Vector2, goal: Vector2, options?: RoomPathOptions): RoomPath;
  /** The paths of many queries, (n, 4): start and goal. */
  paths(queries: Float64Array, options?: RoomPathOptions): RoomPath[];
  /** The point of the room nearest to a point. */
  nearestPoint(point: Vector2): { position: Float64Array; distance: number; cell: number } | null;
  /** Where a ray first meets a wall, or ends: `wall` has its two vertices, or {@link NONE}. Null where the ray begins off the room. */
  raycast(
    start: Vector2, direction: Vector2, maxDistance: number,
  ): { point: Float64Array; distance: number; cell: number; wall: Uint32Array } | null;
  /** The vertices, (n, 2). */
  readonly vertices: Float64Array;
  /** The cells, each a list of vertices. */
  readonly cells: Uint32Array[];
  /** The area between the walls. */
  readonly area: number;
  /** Gives the memory back. */
  free(): void;
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
  /** The area. */
  readonly area: number;
  /** The path between two places. Throws for a vertex that does not exist. */
  path(start: Place, goal: Place, options?: SurfacePathOptions): SurfacePath;
  /** The paths of many queries, (n, 6): the positions of start and goal. */
  paths(queries: Float64Array, options?: SurfacePathOptions): SurfacePath[];
  /** The exact distance of each vertex from a source; infinite where there is no way. */
  distances(source: Place): Float64Array;
  /** Says which faces may be walked on: a byte for each, 0 for no. */
  setWalkable(mask: Uint8Array): void;
  /** Gives the memory back. */
  free(): void;
}
