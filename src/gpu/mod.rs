//! The GPU floor: devices, buffers, kernels and frames. It knows no geometry.
//!
//! # How a job uses it
//!
//! ```text
//! // 1. Each kernel is one constant. WORKGROUP_SIZE and the binding declarations are written into the WGSL from
//! //    here, so the WGSL files declare structs, functions and `fn main`, but no bindings and no sizes.
//! static BOUNDS: Kernel = Kernel {
//!     label: "hullfield.collide.bounds",
//!     sources: &[DISPATCH_WGSL, wgsl!("../../shaders/collide/hull/record.wgsl"),
//!                wgsl!("../../shaders/collide/scene/bounds.wgsl")],
//!     workgroup_size: 64,
//!     trust: Trust::Checked,                                // what `trusted-shaders` may leave out: see src/gpu/kernel.rs
//!     bindings: &[uniform("params", "BoundsParams"), read("bodies", "array<Body>"),
//!                 read_write("bounds", "array<Bounds>")],
//! };
//! #[cfg(test)]
//! pub(crate) static KERNELS: &[&Kernel] = &[&BOUNDS];       // and into the list of src/gpu/tests.rs
//!
//! // 2. A frame: buffers out of the pool, uploads, dispatches, reads.
//! let context = engine.context()                            // None on the CPU engine
//! let mut frame = Frame::new(&context, "hullfield.collide.intersections")?;
//! let bodies = Buffer::<PackedBody>::new(&context, "hullfield.collide.bodies", packed.len())?;
//! let bounds = Buffer::<BoxBounds>::new(&context, "hullfield.collide.bounds", packed.len())?;
//! frame.upload(&bodies, 0, &packed)?;                       // all uploads happen before the first kernel
//! let params = frame.uniform(&BoundsParams { body_count })?;
//! frame.dispatch(&BOUNDS, &[params, bodies.bind(), bounds.bind()], BOUNDS.groups(body_count.into()))?;
//! let total = scan(&mut frame, &counts)?;                   // counts become their exclusive prefix sums
//! let total = frame.read(&total, 0..2)?;                    // [low, high] words of the sum
//! let rows = frame.read(&hits, 0..capacity)?;
//!
//! // 3. Submit. The closure runs on the engine's thread when the results have arrived.
//! let pending: Pending<Intersections> = frame.submit(move |results| {
//!     let [low, high] = results.get(&total)?[..] else { … };
//!     if count > capacity {
//!         let (frame, …) = encode_again(results.context(), count)?;   // larger buffers, from the same pool
//!         return Ok(Next::frame(frame, move |results| finish(results, …)));
//!     }
//!     let rows = results.get(&rows)?;                       // Cow<[Row]>, out of the mapped staging buffer
//!     Ok(Next::Answer(settle(rows, results.times())))
//! })?;
//! ```
//!
//! A buffer's label is its role. Buffers of one role are interchangeable from frame to frame and keep the largest size so far, so
//! two buffers of different sizes in one frame need different labels. A frame keeps all buffers that its calls name until it
//! has run, so handles may be dropped after encoding.
//!
//! Work larger than a dispatch or a binding: `Context::pieces(items, steps_per_item, granule)` gives ranges that one
//! dispatch may do in time, `chunks(len, chunk_len)` ranges that one binding can span, `Buffer::bind_range` binds one.
//! `Frame::dispatch` takes any number of groups up to 65,535²; kernels take their index from
//! `shaders/shared/dispatch.wgsl`:
//!
//! ```wgsl
//! @compute @workgroup_size(WORKGROUP_SIZE)
//! fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
//!         @builtin(local_invocation_index) local: u32) {
//!     let index = flat_index(group, groups, local);
//!     if (index >= params.body_count) { return; }
//! ```
//!
//! Workgroup memory is not zeroed on entry.

pub(crate) mod adapter;
#[cfg(test)]
mod audit;
pub(crate) mod buffer;
pub(crate) mod context;
pub(crate) mod device;
pub(crate) mod dispatches;
pub(crate) mod form;
pub(crate) mod frame;
pub(crate) mod kernel;
pub(crate) mod pool;
pub(crate) mod prepare;
pub(crate) mod profile;
pub(crate) mod readback;
pub(crate) mod scan;
pub(crate) mod self_test;
pub(crate) mod sort;
pub(crate) mod subgroup_test;
pub(crate) mod submission_queue;
pub(crate) mod submit;
pub(crate) mod timing;
#[cfg(feature = "trust-by-call")]
mod trusted;
mod upload;
#[cfg(not(target_arch = "wasm32"))]
pub(crate) mod waiter;
pub(crate) mod wgsl;

#[cfg(test)]
pub(crate) mod layout;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use scan::scan;
use wgsl::wgsl;

/// Flat indices for kernels of any size.
pub(crate) const DISPATCH_WGSL: &str = wgsl!("../../shaders/shared/dispatch.wgsl");

/// Products and sums that are rounded once each.
pub(crate) const ROUNDING_WGSL: &str = wgsl!("../../shaders/rounding.wgsl");

/// Numbers as sums of two f32. Reads `params.zero`.
pub(crate) const TWICE_WGSL: &str = wgsl!("../../shaders/shared/twice.wgsl");
