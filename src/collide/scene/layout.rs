//! Checks bodies and lays them out for an engine.

use glam::{DVec3, Vec3, Vec4};

use crate::collide::hull::record::HullRecord;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::placed::{Axes, Placed};
use crate::collide::scene::quads::{QUAD, quad, transposed, write_quad};
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

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn check_bodies(bodies: &[Body], first: usize, supports: &Supports) -> Result<()> {
    bodies.iter().enumerate().try_for_each(|(at, body)| body.radius(first + at, supports).map(drop))
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn place(bodies: &[Body], first: usize, supports: &Supports, placed: &mut [Placed]) -> Result<()> {
    let mut blocks = [const { Columns::new() }; BLOCKS];
    for (run, (bodies, placed)) in bodies.chunks(RUN).zip(placed.chunks_mut(RUN)).enumerate() {
        let done = place_blocks(&mut blocks, bodies, supports, placed);
        for (at, (body, placed)) in bodies.iter().zip(placed).enumerate().skip(done) {
            let radius = body.radius(first + run * RUN + at, supports)?;
            *placed = Placed::new(body, radius, &supports.records[body.hull as usize]);
        }
    }
    Ok(())
}

/// Places the bodies that fill whole blocks, and returns their number; none where one of them is wrong. Each step is done for all blocks,
/// because what is written in parts can be read as a whole only a while later.
#[inline(always)]
fn place_blocks(
    blocks: &mut [Columns; BLOCKS],
    bodies: &[Body],
    supports: &Supports,
    placed: &mut [Placed],
) -> usize {
    let (bodies, _) = bodies.as_chunks::<LANES>();
    let (placed, _) = placed.as_chunks_mut::<LANES>();
    let blocks = &mut blocks[..bodies.len().min(BLOCKS)];
    for (columns, bodies) in blocks.iter_mut().zip(bodies) {
        if !columns.load(bodies, supports) {
            return 0;
        }
    }
    if !blocks.iter_mut().all(place_columns) {
        return 0;
    }
    for ((columns, bodies), placed) in blocks.iter().zip(bodies).zip(placed) {
        columns.store(bodies, placed);
    }
    blocks.len() * LANES
}

/// [`Columns::place`]: a function of its own, because the compiler makes vector instructions of the loop only where nothing is around it.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn place_columns(columns: &mut Columns) -> bool {
    columns.place()
}

/// Bodies that are placed side by side.
const LANES: usize = 8;

/// Blocks of them that are placed in turn.
const BLOCKS: usize = 4;

/// Most bodies of all blocks.
const RUN: usize = BLOCKS * LANES;

/// One number of each body.
type Column<T> = [T; LANES];

const NONE: Column<f32> = [0.0; LANES];

/// Eight bodies, component by component. What each is placed with is one loop over the lanes, of which the compiler makes vector
/// instructions. Bodies and records are read, and placed bodies written, four numbers at a time.
#[repr(C, align(64))]
struct Columns {
    position: [Column<f32>; 3],
    quaternion: [Column<f32>; 4],
    scale: [Column<f32>; 3],
    padding: Column<f32>,
    /// Of the body without its rounding.
    core_radius: Column<f32>,
    /// Of the record of the hull.
    mean: [Column<f32>; 3],
    hull_radius: Column<f32>,
    hull_rounding: Column<f32>,
    hull_inner_radius: Column<f32>,
    half_space: Column<u32>,
    /// As [`Placed`] has them.
    center: [Column<f64>; 3],
    axes: [[Column<f32>; QUAD]; 3],
    /// The bounding radius, the excess, the rounding radius and the inner radius.
    radii: [Column<f32>; QUAD],
    plain: Column<u32>,
    is_good: Column<u32>,
}

impl Columns {
    const fn new() -> Self {
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
            axes: [[NONE; QUAD]; 3],
            radii: [NONE; QUAD],
            plain: [0; LANES],
            is_good: [0; LANES],
        }
    }

    /// Reads the bodies; `false` where one has no hull.
    #[inline(always)]
    fn load(&mut self, bodies: &[Body; LANES], supports: &Supports) -> bool {
        let mut is_stretched = false;
        for first in [0, QUAD] {
            let Some(bodies) = bodies[first..].first_chunk::<QUAD>() else { return false };
            let [Some(p), Some(q), Some(r), Some(s)] =
                bodies.each_ref().map(|body| supports.records.get(body.hull as usize))
            else {
                return false;
            };
            let records = [p, q, r, s];
            // What is next to the numbers in memory comes along, so that they are one load.
            let [_, x, y, z] = transposed(bodies.each_ref().map(|body| {
                let [x, y, z] = body.position;
                Vec4::new(f32::from_bits(body.hull), x, y, z)
            }));
            write_quad(&mut self.position, first, [x, y, z]);
            let quaternion = transposed(bodies.each_ref().map(|body| Vec4::from_array(body.rotation)));
            write_quad(&mut self.quaternion, first, quaternion);
            let [x, y, z, padding] =
                transposed(bodies.each_ref().map(|body| Vec3::from_array(body.scale).extend(body.padding)));
            is_stretched |= (x.cmpne(y) | y.cmpne(z)).any();
            write_quad(&mut self.scale, first, [x, y, z]);
            let [mean_x, mean_y, mean_z, radius] =
                transposed(records.map(|record| Vec3::from_array(record.mean).extend(record.radius)));
            write_quad(&mut self.mean, first, [mean_x, mean_y, mean_z]);
            let [rounding, _, inner_radius, _] = transposed(records.map(|record| {
                let &HullRecord { rounding, half_space, inner_radius, padding: [padding, ..], .. } = record;
                Vec4::new(rounding, f32::from_bits(half_space), inner_radius, f32::from_bits(padding))
            }));
            for (column, values) in [
                (&mut self.padding, padding),
                (&mut self.hull_radius, radius),
                (&mut self.core_radius, x * radius),
                (&mut self.hull_rounding, rounding),
                (&mut self.hull_inner_radius, inner_radius),
            ] {
                column[first..first + QUAD].copy_from_slice(&values.to_array());
            }
            for (at, record) in (first..).zip(records) {
                self.half_space[at % LANES] = record.half_space;
            }
        }
        if is_stretched {
            self.load_stretched_radii(bodies, supports);
        }
        true
    }

    /// Reads the radii of bodies of which some are not scaled equally.
    #[inline(never)]
    fn load_stretched_radii(&mut self, bodies: &[Body; LANES], supports: &Supports) {
        for (radius, body) in self.core_radius.iter_mut().zip(bodies) {
            *radius = body.core_radius(&supports.records[body.hull as usize], supports);
        }
    }

    /// Checks and places each; `false` where one is wrong.
    #[inline(always)]
    fn place(&mut self) -> bool {
        for at in 0..LANES {
            let take3 = |columns: &[Column<f32>; 3]| [columns[0][at], columns[1][at], columns[2][at]];
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
            let axes = placed.axes().map(|numbers| numbers.to_array());
            for (column, x) in self.axes.as_flattened_mut().iter_mut().zip(axes.as_flattened()) {
                column[at] = *x;
            }
            for (column, x) in self.radii.iter_mut().zip(placed.radii().to_array()) {
                column[at] = x;
            }
            self.plain[at] = u32::from(placed.plain);
        }
        self.is_good.iter().fold(1, |all, &is_good| all & is_good) != 0
    }

    /// Writes the placed bodies.
    #[inline(always)]
    fn store(&self, bodies: &[Body; LANES], placed: &mut [Placed; LANES]) {
        for first in [0, QUAD] {
            let rows = |columns: &[Column<f32>; QUAD]| {
                transposed(columns.each_ref().map(|column| quad(column, first)))
            };
            let axes = self.axes.each_ref().map(rows);
            let radii = rows(&self.radii);
            for lane in 0..QUAD {
                let at = first + lane;
                let Axes { rotation, stretch } = Axes::new(axes.map(|rows| rows[lane]));
                let [radius, excess, rounding, inner_radius] = radii[lane].to_array();
                placed[at] = Placed {
                    center: DVec3::new(self.center[0][at], self.center[1][at], self.center[2][at]),
                    hull: bodies[at].hull,
                    plain: self.plain[at] != 0,
                    half_space: self.half_space[at] != 0,
                    rotation,
                    stretch,
                    radius,
                    excess,
                    rounding,
                    inner_radius,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;

    const LAYOUT: Layout = Layout { packed: false, placed: true };

    fn supports() -> Supports {
        let lump =
            Hull::from_points(&[[1.0, 2.0, 3.0], [4.0, 2.5, 3.0], [1.5, 6.0, 3.5], [2.0, 3.0, 9.0]]).unwrap();
        let hulls =
            [lump, Hull::cuboid([0.5, 2.0, 1.0]).unwrap(), Hull::ball(0.25).unwrap(), Hull::half_space()];
        Supports::new(&hulls).unwrap()
    }

    /// Bodies of all hulls, some of them stretched or padded.
    fn bodies(count: usize) -> Vec<Body> {
        let turns =
            [[0.0, 0.0, 0.0, 1.0], [0.6, 0.0, -0.8, 0.0], [0.5, 0.5, -0.5, 0.5], [0.1, 0.7, 0.1, 0.7]];
        (0..count)
            .map(|at| {
                let x = at as f32;
                let body = Body::new(at as u32 % 4).at([x, -0.5 * x, 1e5 + x]).rotated(turns[at / 3 % 4]);
                let body = if at % 5 == 0 { body.padded(0.125 * x) } else { body };
                if at % 11 == 10 {
                    Body { scale: [1.0 + x, 2.0, 0.5], ..body }
                } else {
                    body.scaled(1.0 + 0.25 * x)
                }
            })
            .collect()
    }

    fn place_all(supports: &Supports, bodies: &[Body]) -> Result<Vec<Placed>> {
        let (mut copies, mut packed, mut placed) = (Vec::new(), Vec::new(), Vec::new());
        lay_out(supports, bodies, LAYOUT, &mut copies, &mut packed, &mut placed)?;
        assert_eq!(copies, bodies);
        Ok(placed)
    }

    #[test]
    fn bodies_side_by_side_are_placed_as_one_alone() {
        let supports = supports();
        for count in [0, 1, 7, 8, 9, 31, 32, 33, 40, 71, 2 * TASK + 13] {
            let bodies = bodies(count);
            let placed = place_all(&supports, &bodies).unwrap();
            assert_eq!(placed.len(), count);
            for (at, (body, placed)) in bodies.iter().zip(&placed).enumerate() {
                let radius = body.radius(at, &supports).unwrap();
                let alone = Placed::new(body, radius, &supports.records[body.hull as usize]);
                assert_eq!(format!("{placed:?}"), format!("{alone:?}"), "{at} of {count}");
                let other =
                    Placed::new(&body.at([7.0, 0.0, 0.0]), radius, &supports.records[body.hull as usize]);
                assert_ne!(format!("{placed:?}"), format!("{other:?}"), "{at} of {count}");
            }
        }
    }

    #[test]
    fn the_first_bad_body_is_named() {
        let supports = supports();
        let good = bodies(75);
        for first in 0..good.len() {
            let spoils: [fn(&mut Body); 4] = [
                |body| body.hull = 4,
                |body| body.position[1] = f32::NAN,
                |body| body.rotation = [0.0; 4],
                |body| body.scale[2] = -1.0,
            ];
            let mut bodies = good.clone();
            spoils[first % 4](&mut bodies[first]);
            bodies[74].padding = -1.0;
            let error = place_all(&supports, &bodies).unwrap_err();
            assert!(format!("{error:?}").contains(&format!("Body({first})")), "{first}: {error:?}");
        }
    }
}
