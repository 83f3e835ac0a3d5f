//! A library that tells, for crowds of thousands to millions of bodies, who touches whom, which way the goal is, and what the
//! shortest path there is: on the GPU through wgpu, or on the CPU, with answers that agree.
//!
//! | module | answers | runs on |
//! |---|---|---|
//! | [`collide`] | Which convex bodies touch? How far apart, how deep, where, and when? | GPU or CPU |
//! | [`flow`] | Which way is the nearest goal, from every cell of a grid? | GPU or CPU |
//! | [`navigate::room`] | What is the shortest path between walls, in two dimensions? | CPU |
//! | [`navigate::surface`] | What is the shortest path over a 3D model? | CPU |
//!
//! # Start
//!
//! ```text
//! cargo add hullfield
//! ```
//!
//! Each module stands alone: import from the one that you need, and from the root the types that all share, [`Engine`],
//! [`Pending`], [`Batch`] and [`Error`].
//!
//! [`Engine::auto`] takes a real GPU where there is one, else the CPU; [`Engine::reason`] says which, and why. [`Engine::gpu`] takes any
//! adapter, software ones too, and [`Engine::cpu`] none. An application that runs wgpu already hands its device to
//! [`Engine::from_device`]. An engine is cheap to clone; clones share the device.
//!
//! # What to call
//!
//! | task | handle | call |
//! |---|---|---|
//! | one pair of hulls | none | [`collide::intersects`], [`collide::distance`], [`collide::contact`], [`collide::sweep`], [`collide::raycast`] and others |
//! | all hits of a frame | [`collide::Arena`] | [`intersections`](collide::Arena::intersections); [`hits`](collide::Arena::hits), where yes or no for each body is enough |
//! | contacts for a solver of physics | [`collide::Arena`], with [`warm_start`](collide::Options::warm_start) | [`contacts`](collide::Arena::contacts), [`manifolds`](collide::Arena::manifolds) |
//! | bodies that come and go, events of begin and end | [`collide::Bodies`] | its queries, and [`events`](collide::Bodies::events) |
//! | bodies of several convex parts, terrain of heights | [`collide::Compounds`] | the queries of an arena |
//! | when do moving bodies meet | [`collide::Arena`] | [`sweeps`](collide::Arena::sweeps) |
//! | what a ray, a point or a moving shape meets | [`collide::Arena`] | [`raycasts`](collide::Arena::raycasts), [`nearest_points`](collide::Arena::nearest_points), [`shape_casts`](collide::Arena::shape_casts) |
//! | the bodies nearest to some of the bodies | [`collide::Arena`] | [`nearest_bodies_of`](collide::Arena::nearest_bodies_of); [`nearest_bodies_to`](collide::Arena::nearest_bodies_to) for shapes that are not of the scene |
//! | may a robot stand or move so | [`collide::Arena`] | [`postures`](collide::Arena::postures), [`joint_paths`](collide::Arena::joint_paths) |
//! | rows that stay on the GPU, within a frame of one's own | [`collide::Arena`] on [`Engine::from_device`] | `encode_intersections` and its like |
//! | many agents to few goals over a grid | [`flow::Flow`], [`flow::Field`] | [`solve`](flow::Flow::solve), then [`agents`](flow::Flow::agents) or [`directions`](flow::Field::directions) |
//! | the grid or the goals change | [`flow::Flow`] | [`edit`](flow::Flow::edit), [`update`](flow::Flow::update), [`update_goals`](flow::Flow::update_goals) |
//! | least costs over a raster of friction | none | [`flow::cost_distance`]; [`flow::solve_raster`] where it is larger than memory |
//! | a path between walls | [`navigate::room::Room`] | [`path`](navigate::room::Room::path), [`paths`](navigate::room::Room::paths) for many, [`finder`](navigate::room::Room::finder) for many one by one |
//! | where an agent is on its path | [`navigate::room::Path`], [`navigate::surface::Path`] | [`at`](navigate::room::Path::at), [`at`](navigate::surface::Path::at) |
//! | a path over a model | [`navigate::surface::Surface`] | [`path`](navigate::surface::Surface::path), [`paths`](navigate::surface::Surface::paths) |
//! | distances from one place to all of a model | [`navigate::surface::Surface`] | [`distances`](navigate::surface::Surface::distances); [`field`](navigate::surface::Surface::field) where paths from there are wanted too |
//! | why no path goes across a seam of a model | [`navigate::surface::Surface`] | [`report`](navigate::surface::Surface::report), [`t_junctions`](navigate::surface::Surface::t_junctions) |
//!
//! A handle is made once and asked often: queries take `&self`. A call for many queries shares them among all cores.
//!
//! # What it needs
//!
#![doc = concat!("The oldest supported version of Rust is ", env!("CARGO_PKG_RUST_VERSION"), ". The library needs `std`: there is no build for `no_std`.")]
//! It builds for `wasm32-unknown-unknown`, see [below](#features).
//!
//! # Who touches whom
//!
#![doc = include_str!("guide/collide.svg")]
//!
//! A [`collide::Hull`] is the convex hull of any points, with a rounding radius if it has one. An [`collide::Arena`] holds the hulls of a
//! scene; they are laid out, and on a GPU uploaded, once. A [`collide::Body`] is a hull at a place. A query takes the bodies of a frame.
//!
//! ```
//! use hullfield::Engine;
//! use hullfield::collide::{Arena, Body, Hull, Options, Pairs, Status};
//!
//! let arena = Arena::new(&Engine::auto()?, &[Hull::cuboid([0.5; 3])?], Options::default())?;
//! let bodies = [Body::new(0), Body::new(0).at([1.0, 0.0, 0.0]), Body::new(0).at([0.0, 3.0, 0.0])];
//!
//! // The hits among all bodies, sorted by (a, b), a < b.
//! let hits = arena.intersections(&bodies, Pairs::BroadPhase)?.wait()?;
//! assert_eq!((hits.rows.len(), hits.rows[0].status), (1, Status::Touching));
//!
//! // A row for each pair given, in that order. A separated pair comes with an axis that shows it.
//! let given = arena.intersections(&bodies, Pairs::Given(&[[0, 1], [2, 0]]))?.wait()?;
//! assert_eq!((given.rows[1].a, given.rows[1].status), (2, Status::Separated));
//! assert!(given.rows[1].axis.is_some_and(|axis| axis[1] < 0.0));
//! # Ok::<(), hullfield::Error>(())
//! ```
//!
//! `distances` adds how far apart, `contacts` how deep and where, `manifolds` up to four points of each contact, `gradients` how the
//! separation changes with both poses, `sweeps` when moving bodies first meet. One pair needs no arena: [`collide::distance`] and its like
//! take two hulls and two poses. `raycasts` and its like say what rays hit, `shape_casts` what moving shapes do, `nearest_points` and
//! `containments` which bodies points are near to and in, `nearest_bodies` which are near to each other; `hits` and `hit_counts` answer
//! without the rows of pairs. `postures` and `joint_paths` say whether a robot may stand and move so. [`collide::Bodies`] keeps bodies from frame
//! to frame, by ids, and tells which pairs begin to touch, still touch, and no longer do.
//!
//! # Which way is the goal
//!
#![doc = include_str!("guide/flow.svg")]
//!
//! A [`flow::Grid`] of cells is handed to an engine as a [`flow::Flow`]. A [`flow::Field`] then holds for each cell how far the nearest goal
//! is, and which neighbour leads there. Fields of both engines are equal bit for bit. Agents read a field without bringing it to the host.
//!
//! ```
//! use hullfield::Engine;
//! use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
//!
//! // Two rows of three cells; the middle one of the upper row is an obstacle.
//! let grid = Grid::new([3, 2, 1], &[false, true, false, false, false, false], Connectivity::Four.into())?;
//! let field = Flow::new(&Engine::auto()?, grid)?.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
//! assert_eq!(field.distances()?.wait()?, [0, u32::MAX, 4, 1, 2, 3]);
//! # Ok::<(), hullfield::Error>(())
//! ```
//!
//! [`flow::cost_distance`] takes a raster of floating-point friction instead, as geographic information systems do: the least cost from each cell to
//! the nearest of some targets, in the units of the map, with a bound on its error. [`flow::solve_raster`] solves rasters larger than memory,
//! [`flow::solve_raster_on`] on a GPU.
//!
//! # The shortest path in a room
//!
#![doc = include_str!("guide/room.svg")]
//!
//! A [`navigate::room::Room`] is a polygon with holes, several polygons, or a mesh of convex cells, in f64. Paths are the true shortest ones, for an agent of
//! any radius.
//!
//! ```
//! use hullfield::navigate::room::{Options, PathOptions, Room};
//!
//! let pillar = [[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]];
//! let room = Room::new(&[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]], &[pillar], Options::default())?;
//! let path = room.path([1.0, 5.0], [9.0, 5.0], &PathOptions::default())?;
//! assert!((path.length - (2.0 + 2.0 * 10f64.sqrt())).abs() < 1e-12); // around two corners of the pillar
//! # Ok::<(), hullfield::Error>(())
//! ```
//!
//! # The shortest path over a model
//!
//! A [`navigate::surface::Surface`] is made of the faces of 3D [`navigate::surface::Model`]s, in f64. Paths lead over floors, walls and
//! ceilings from any point to any other, with a normal at each point.
//!
//! ```
//! use hullfield::navigate::surface::{Model, Options, PathOptions, Surface};
//!
//! let corners = (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(f64::from)).collect();
//! let faces = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
//! let cube = Surface::new(&[Model::polygons(corners, faces)], Options::default())?;
//! let path = cube.path([0.5, 0.5, 0.0], [0.5, 0.5, 1.0], &PathOptions::default())?; // from the floor, up a wall, to the roof
//! assert!((path.length - 2.0).abs() < 1e-12);
//! # Ok::<(), hullfield::Error>(())
//! ```
//!
//! # Answers
//!
//! A call that may use a device or many cores returns a [`Pending`]. Its work and its readback are queued before the call returns, and
//! need no executor to make progress. Await it, or call `wait`. Dropping it is harmless: work that nobody waits for is cancelled
//! at its next step.
//!
//! A call for many queries returns a [`Batch`]: `rows` in a fixed order, the same from run to run on one machine, and `stats`.
//!
//! An [`Error`] says what went wrong, where ([`Location`]), what is allowed, and what to do. Bad input is an error of the call itself; errors of
//! the device come with the answer. Nothing panics, and no row is dropped in silence.
//!
//! # Units, frames and arrays
//!
//! Lengths are in the caller's units, the same for hulls and positions up to a body's scale. Times are in milliseconds but for motions,
//! which are in seconds; sizes are in bytes. A vertex `v` of a body is in the world at `position + rotation · (scale ⊙ v)`. Rotations are
//! unit quaternions `x, y, z, w`. Axes and normals are unit vectors of the world frame, from the first body of a pair to the second. Nothing
//! depends on handedness, but faces are counter-clockwise seen from outside in a right-handed frame.
//!
//! Points are arrays, `[f32; 3]`, `[f64; 2]`, `[f64; 3]`, so that no version of a maths crate binds the caller. Rows count from 0.
//!
//! # What a verdict is worth
//!
//! The truth is the numbers exactly as given: f32, and f64 for [positions](collide::BodyColumns::positions) that are given so. For a pair let g be the gap, negative where the hulls overlap, R the smaller and S the sum of
//! the bounding radii, d = max(g, 0), and τ = max(1e-5 R, 4e-6 (S + d)). Above a half-space R and S are the other body's radius.
//!
//! - A pair with |g| ≤ ¾ τ is touching. Any other is separated where g > 0, else penetrating.
//! - A query with a margin lists a separated pair where g ≤ margin.
//! - Distances and depths are within τ of the true ones.
//!
//! f32 decides a pair where its proved error bound keeps it clear of these thresholds. All other pairs are settled in f64 before anything is
//! returned; the statistics count them. `Precision::Exact` settles every pair in f64.
//!
//! # Determinism
//!
//! | what | is equal |
//! |---|---|
//! | the status of a pair, which pairs a query lists, the outcome of a sweep | bit for bit on every engine, GPU, driver, browser and number of threads; with and without a warm start; under either precision; whichever way the pairs are found and in whichever order a pair is given |
//! | distances, depths, normals, points, times | bit for bit from run to run on one engine and one machine; under `Precision::Exact` on every machine; otherwise within their tolerances |
//! | all rows of rays and points, and of a robot's paths and postures | bit for bit on every engine and machine |
//! | distances, next cells and escape codes of flow fields | bit for bit on every engine and machine |
//! | rooms and surfaces | bit for bit on one kind of machine, for any number of threads |
//!
//! Results that stay on the device (`Arena::encode_intersections` and its like) are not settled there: a status may be "unsettled", but is never
//! another than that of the table.
//!
//! The f64 path uses no fused operation and no trigonometry of the platform. That f32 decides nothing that it should not depends on the
//! accuracy of the device. WGSL guarantees most of it, but not the direction in which results are rounded. So an engine tests each
//! device when it is opened: one dispatch computes some thousand sums, products, quotients, roots and the like by the functions that
//! the kernels use, and the host compares them. `Engine::auto` passes over a device that fails, to the CPU if there is no other, and
//! [`Engine::reason`] names the operation, its operands, what it gave and what is allowed. `Engine::gpu` and
//! `Engine::from_device` return [`Error::NoGpu`] with the same sentence. In a browser `Engine::from_device` cannot wait for the test: there
//! the error comes in place of the first answer. Subgroup operations are tested too. Where they fail, kernels do without, with the same results, and
//! [`Engine::reason`] says so.
//!
//! Distances of a flow field are whole numbers and exact. Lengths of paths are good to 1e-9 of the path; a surface's default method may be
//! longer than the shortest path by a tolerance that the caller sets, 0.1 % unless said otherwise.
//!
//! # Features
//!
//! - `gpu` (default): the GPU engine, through wgpu. Without it wgpu is not compiled; rooms, surfaces and the CPU engine are
//!   there, `Engine::auto` is the CPU engine, and `Engine::gpu` is [`Error::NoGpu`].
//! - `vulkan`, `metal`, `dx12`, `webgpu` (default): wgpu's back ends. Those of other systems are ignored. With `gpu` and none
//!   of them, `Engine::gpu` is [`Error::NoGpu`], which says so.
//! - `threads` (default): CPU work on all cores through rayon. Without it everything runs on the calling thread, as on
//!   `wasm32-unknown-unknown`, where [`Pending`] is awaited: there is no blocking wait.
//! - `serde`: `Serialize` and `Deserialize`, see [below](#reading-and-writing-data). With it a room keeps the rings or cells that it was
//!   built from.
//! - `tracing`: a span for each query, with the target `hullfield`, and an event where pairs are settled in f64 and where a
//!   buffer of the device is made. The span follows the work to its threads.
//! - `trusted-shaders`: kernels whose loops end and whose indices are in bounds for every input, by an argument in the source, run without the
//!   checks that wgpu adds. The default is safe and has no `unsafe` code; with the feature there is one `unsafe` call, which wgpu
//!   requires. In a browser the feature has no effect, as the browser adds its own checks.
//! - `inspect`: the module `inspect`, with the WGSL and the times of every kernel, for tools that compile, check or measure shaders.
//!
//! # Reading and writing data
//!
//! With the feature `serde` the types below can be written and read in any format that serde supports. Fields have their public names,
//! variants are in `snake_case`. Reading runs the checks of the constructors; what they refuse is an error of the format, with their
//! message.
//!
//! | type | data |
//! |---|---|
//! | [`collide::Ray`] | its fields. Only `origin` and `direction` must be there |
//! | [`collide::Hull`] | `vertices`, `rounding`, `half_space`. Reading builds the hull again: the same one, bit for bit. `vertices` may be any points |
//! | [`collide::Body`], [`collide::Pose`], [`flow::GridFrame`] | their fields. A missing field is that of the identity; only a body's `hull` must be there |
//! | [`flow::Grid`] | `size`, `connectivity`, `cells`, `costs`, `frame`. `cells` has a line of text for each row: `.` is free, `@` is an obstacle. It includes the obstacles that a clearance has made |
//! | [`navigate::room::Room`] | `floor`: `rings` (`outer`, `holes`), `cells` (`points`, `cells`) or the text of a `polyanya_mesh`. `options`. `doors` that were added later, each a list of edges between cells by their vertices. `shut_doors`: their numbers. `obstacles`: rings by number, null for one that was taken out. Reading builds the room again. All numbers stay the same, except those of cells that obstacles have cut |
//! | [`navigate::surface::Surface`] | the bytes of [`to_bytes`](navigate::surface::Surface::to_bytes), without landmarks. JSON holds them as a list of numbers, so a file of bytes is smaller |
//! | options | their fields. A missing field has its default; an unknown name is an error |
//! | rows, reports, statistics | their fields. An unknown name is ignored, because a later version may add fields |
//!
//! Engines, arenas, fields and crowds are handles, not data; neither are errors. JSON has no infinity: a number that may be infinite,
//! such as the length of a path that does not exist, is then `"infinity"` in formats that people read. The crate `serde_json` reads
//! f64 exactly with its feature `float_roundtrip`.

#![cfg_attr(not(feature = "trust-by-call"), forbid(unsafe_code))]
#![cfg_attr(
    not(feature = "gpu"),
    allow(
        dead_code,
        unreachable_code,
        reason = "what only the GPU engine calls stands beside its twin on the CPU"
    )
)]

mod account;
mod batch;
mod cell;
pub mod collide;
mod engine;
mod error;
pub mod flow;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(not(feature = "gpu"))]
#[path = "no_gpu.rs"]
mod gpu;
// Its sentences are tested in every build.
#[cfg(all(feature = "gpu", any(feature = "inspect", test)))]
pub mod inspect;
mod lock;
pub mod navigate;
#[cfg(all(test, feature = "gpu"))]
#[path = "no_gpu/adapter.rs"]
#[allow(dead_code, unused_variables, reason = "nothing here calls it")]
mod no_gpu_adapter;
mod observe;
mod order;
mod parallel;
mod pending;
mod rounding;
#[cfg(feature = "serde")]
mod wire;

pub use account::{Counters, Prepared};
pub use batch::Batch;
#[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
pub use engine::adapters;
#[cfg(feature = "gpu")]
pub use engine::adapters_async;
pub use engine::{Backend, BackendChoice, Engine, EngineOptions};
pub use error::{Error, Location, Result};
#[cfg(feature = "gpu")]
pub use gpu::adapter::AdapterReport;

pub use parallel::{set_thread_count, thread_count};
pub use pending::Pending;
/// The version of wgpu whose devices, queues, encoders and buffers the library takes.
#[cfg(feature = "gpu")]
pub use wgpu;

// The test programs include the file `testing.rs` too, so it calls the crate by its name.
#[cfg(test)]
extern crate self as hullfield;
#[cfg(test)]
mod testing;

/// Its examples are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
