//! Checks bodies and lays them out for an engine.

use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::placed::Placed;
use crate::error::Result;
use crate::parallel::each;

/// Bodies that one task packs.
const TASK: usize = 1024;

/// Which layouts of the bodies an engine needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// The packed bodies: for the GPU, and for world boxes.
    pub(crate) packed: bool,
    /// The placed bodies: for the CPU engine's narrow phase.
    pub(crate) placed: bool,
}

/// [`lay_out_into`] new lists.
pub(crate) fn lay_out(
    supports: &Supports,
    bodies: &[Body],
    layout: Layout,
    copies: &mut Vec<Body>,
    packed: &mut Vec<PackedBody>,
    placed: &mut Vec<Placed>,
) -> Result<()> {
    let count = bodies.len();
    copies.resize(count, Body::new(0));
    packed.resize(if layout.packed { count } else { 0 }, bytemuck::Zeroable::zeroed());
    placed.resize(if layout.placed { count } else { 0 }, Placed::default());
    lay_out_into(supports, bodies, copies, packed, placed)
}

/// Checks, copies and lays out each body in one pass, because memory is the bottleneck.
///
/// `packed` and `placed` have one element for each body, or are empty.
pub(crate) fn lay_out_into(
    supports: &Supports,
    bodies: &[Body],
    copies: &mut [Body],
    packed: &mut [PackedBody],
    placed: &mut [Placed],
) -> Result<()> {
    let mut packed = packed.chunks_mut(TASK);
    let mut placed = placed.chunks_mut(TASK);
    let tasks: Vec<Task<'_>> = bodies
        .chunks(TASK)
        .zip(copies.chunks_mut(TASK))
        .enumerate()
        .map(|(task, (bodies, copies))| Task {
            first: task * TASK,
            bodies,
            copies,
            packed: packed.next(),
            placed: placed.next(),
        })
        .collect();
    // All tasks run, so that the error is always that of the first bad body.
    let results = each(tasks, |task| task.run(supports));
    results.into_iter().collect()
}

/// Some of the bodies, and where their layouts go.
struct Task<'a> {
    first: usize,
    bodies: &'a [Body],
    copies: &'a mut [Body],
    packed: Option<&'a mut [PackedBody]>,
    placed: Option<&'a mut [Placed]>,
}

impl Task<'_> {
    fn run(self, supports: &Supports) -> Result<()> {
        self.copies.copy_from_slice(self.bodies);
        if self.placed.is_none() && self.packed.is_none() {
            return check_bodies(self.bodies, self.first, supports);
        }
        if let Some(placed) = self.placed {
            place(self.bodies, self.first, supports, placed)?;
        }
        if let Some(packed) = self.packed {
            for (at, (body, packed)) in self.bodies.iter().zip(packed).enumerate() {
                *packed = body.pack(self.first + at, supports)?;
            }
        }
        Ok(())
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn check_bodies(bodies: &[Body], first: usize, supports: &Supports) -> Result<()> {
    bodies.iter().enumerate().try_for_each(|(at, body)| body.radius(first + at, supports).map(drop))
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn place(bodies: &[Body], first: usize, supports: &Supports, placed: &mut [Placed]) -> Result<()> {
    for (at, (body, placed)) in bodies.iter().zip(placed).enumerate() {
        *placed = Placed::new(body, body.radius(first + at, supports)?, supports);
    }
    Ok(())
}
