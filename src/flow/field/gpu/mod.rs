//! Fields on the GPU.
//!
//! A field is solved in rounds over tiles that the wave may change: each round is one dispatch, over as many groups as the
//! round before it put on the list. So the host asks nothing: it encodes some rounds, up to 256, and reads a few
//! words when they have run. Rounds after the last tile fell asleep have no groups. Two engines share the lists:
//!
//! - unit cost and four neighbours: bit planes, 32 levels a round (`shaders/flow/field/wave.wgsl`);
//! - all else: tiles relaxed until nothing changes (`shaders/flow/field/relax.wgsl`).
//!
//! Either then runs once more through the obstacles, out of them. A last kernel makes the codes from final distances. Fields of a
//! batch lie one after the other and share every round. A grid larger than a binding is cut in strips: a round is then one dispatch a
//! strip.
//!
//! Small grids of the first kind are another matter: one group a field (`shaders/flow/field/small.wgsl`).
//!
//! Memory of a field: 4 bytes a cell for distances, 1 for codes, and while it is solved half a byte for the bit planes and 16 bytes
//! a tile.

pub(crate) mod arrays;
pub(crate) mod grid;
pub(crate) mod job;
pub(crate) mod kernels;
pub(crate) mod rounds;
pub(crate) mod small;
pub(crate) mod solve;
pub(crate) mod strips;
pub(crate) mod work;

pub(crate) use solve::{solve, solve_batch};
