//! Checks bodies and lays them out for an engine.

use glam::{DVec3, Mat3, Vec3};

use crate::collide::hull::record::HullRecord;
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
    let mut columns = Columns::new();
    let runs = bodies.chunks(LANES).zip(placed.chunks_mut(LANES)).enumerate();
    for (run, (bodies, placed)) in runs {
        if let (Some(bodies), Some(placed)) = (bodies.first_chunk(), placed.first_chunk_mut())
            && columns.load(bodies, supports)
            && columns.place()
        {
            columns.store(bodies, placed);
            continue;
        }
        for (at, (body, placed)) in bodies.iter().zip(placed).enumerate() {
            let radius = body.radius(first + run * LANES + at, supports)?;
            *placed = Placed::new(body, radius, &supports.records[body.hull as usize]);
        }
    }
    Ok(())
}

/// Bodies that are placed side by side.
const LANES: usize = 8;

/// Eight bodies, component by component. What each is placed with is one loop over the lanes, of which the compiler makes vector
/// instructions.
#[repr(C, align(32))]
struct Columns {
    position: [[f32; LANES]; 3],
    quaternion: [[f32; LANES]; 4],
    scale: [[f32; LANES]; 3],
    padding: [f32; LANES],
    /// Of the body without its rounding.
    core_radius: [f32; LANES],
    /// Of the record of the hull.
    mean: [[f32; LANES]; 3],
    hull_radius: [f32; LANES],
    hull_rounding: [f32; LANES],
    hull_inner_radius: [f32; LANES],
    half_space: [u32; LANES],
    /// As [`Placed`] has them.
    center: [[f64; LANES]; 3],
    rotation: [[f32; LANES]; 9],
    stretch: [[f32; LANES]; 3],
    radius: [f32; LANES],
    excess: [f32; LANES],
    rounding: [f32; LANES],
    inner_radius: [f32; LANES],
    plain: [u32; LANES],
    is_good: [u32; LANES],
}

impl Columns {
    const fn new() -> Self {
        const NONE: [f32; LANES] = [0.0; LANES];
        Self {
            position: [NONE; 3],
            quaternion: [NONE; 4],
            scale: [NONE; 3],
            padding: NONE,
            core_radius: NONE,
            mean: [NONE; 3],
            hull_radius: NONE,
            hull_rounding: NONE,
            hull_inner_radius: NONE,
            half_space: [0; LANES],
            center: [[0.0; LANES]; 3],
            rotation: [NONE; 9],
            stretch: [NONE; 3],
            radius: NONE,
            excess: NONE,
            rounding: NONE,
            inner_radius: NONE,
            plain: [0; LANES],
            is_good: [0; LANES],
        }
    }

    /// Reads the bodies; `false` where one has no hull.
    #[inline(always)]
    fn load(&mut self, bodies: &[Body; LANES], supports: &Supports) -> bool {
        for at in 0..LANES {
            let body = &bodies[at];
            let Some(record) = supports.records.get(body.hull as usize) else { return false };
            for k in 0..3 {
                self.position[k][at] = body.position[k];
                self.scale[k][at] = body.scale[k];
                self.mean[k][at] = record.mean[k];
            }
            for k in 0..4 {
                self.quaternion[k][at] = body.rotation[k];
            }
            self.padding[at] = body.padding;
            self.core_radius[at] = body.core_radius(record, supports);
            self.hull_radius[at] = record.radius;
            self.hull_rounding[at] = record.rounding;
            self.hull_inner_radius[at] = record.inner_radius;
            self.half_space[at] = record.half_space;
        }
        true
    }

    /// Checks and places each; `false` where one is wrong.
    #[inline(always)]
    fn place(&mut self) -> bool {
        for at in 0..LANES {
            let take3 = |columns: &[[f32; LANES]; 3]| [columns[0][at], columns[1][at], columns[2][at]];
            let quaternion = &self.quaternion;
            let body = Body {
                position: take3(&self.position),
                rotation: [quaternion[0][at], quaternion[1][at], quaternion[2][at], quaternion[3][at]],
                scale: take3(&self.scale),
                padding: self.padding[at],
                ..Body::new(0)
            };
            let record = HullRecord {
                mean: take3(&self.mean),
                radius: self.hull_radius[at],
                rounding: self.hull_rounding[at],
                inner_radius: self.hull_inner_radius[at],
                half_space: self.half_space[at],
                ..bytemuck::Zeroable::zeroed()
            };
            let radius = self.core_radius[at] + body.rounding(&record) as f32;
            self.is_good[at] = u32::from(body.is_good(&record, radius));
            let placed = Placed::new(&body, radius, &record);
            for (column, x) in self.center.iter_mut().zip(placed.center.to_array()) {
                column[at] = x;
            }
            for (column, x) in self.rotation.iter_mut().zip(placed.rotation.to_cols_array()) {
                column[at] = x;
            }
            for (column, x) in self.stretch.iter_mut().zip(placed.stretch.to_array()) {
                column[at] = x;
            }
            self.radius[at] = placed.radius;
            self.excess[at] = placed.excess;
            self.rounding[at] = placed.rounding;
            self.inner_radius[at] = placed.inner_radius;
            self.plain[at] = u32::from(placed.plain);
        }
        self.is_good.iter().fold(1, |all, &is_good| all & is_good) != 0
    }

    /// Writes the placed bodies.
    #[inline(always)]
    fn store(&self, bodies: &[Body; LANES], placed: &mut [Placed; LANES]) {
        for at in 0..LANES {
            let axis = |k: usize| {
                Vec3::new(self.rotation[k][at], self.rotation[k + 1][at], self.rotation[k + 2][at])
            };
            placed[at] = Placed {
                center: DVec3::new(self.center[0][at], self.center[1][at], self.center[2][at]),
                rotation: Mat3::from_cols(axis(0), axis(3), axis(6)),
                stretch: Vec3::new(self.stretch[0][at], self.stretch[1][at], self.stretch[2][at]),
                radius: self.radius[at],
                excess: self.excess[at],
                rounding: self.rounding[at],
                inner_radius: self.inner_radius[at],
                hull: bodies[at].hull,
                plain: self.plain[at] != 0,
                half_space: self.half_space[at] != 0,
            };
        }
    }
}
