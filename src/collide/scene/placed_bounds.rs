//! World boxes of bodies that are placed for the CPU's narrow phase: those of [`body_aabb`] for packed bodies, bit for bit.
//!
//! A packed body would be computed for its box alone, in f64 once more, and written and read. Eight bodies are boxed side by side: what is
//! done for each is one loop over the lanes, of which the compiler makes vector instructions.

use bytemuck::Zeroable;
use glam::{Vec3, Vec4};

use crate::collide::bvh::aabb::Aabb;
use crate::collide::hull::record::HullRecord;
use crate::collide::scene::body::Body;
use crate::collide::scene::bounds::{TASK, body_aabb};
use crate::collide::scene::packed_body::{PackedBody, is_normalised};
use crate::collide::scene::placed::Placed;
use crate::collide::scene::pose::squared_length;
use crate::collide::scene::quads::{QUAD, quad, transposed, write_quad};
use crate::parallel::for_each_share;

/// Bodies side by side.
const LANES: usize = 8;

/// One number of each body.
type Column = [f32; LANES];

/// The boxes of all bodies, in their order, each wider by `grow`. Every `body.hull` must be a row of `hulls`.
pub(crate) fn placed_aabbs_into(
    boxes: &mut Vec<Aabb>,
    bodies: &[Body],
    placed: &[Placed],
    hulls: &[HullRecord],
    grow: f32,
) {
    boxes.resize(bodies.len(), Aabb::zeroed());
    let tasks = boxes.chunks_mut(TASK).zip(bodies.chunks(TASK).zip(placed.chunks(TASK))).collect();
    for_each_share(tasks, 1, |(boxes, (bodies, placed))| fill(boxes, bodies, placed, hulls, grow));
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn fill(boxes: &mut [Aabb], bodies: &[Body], placed: &[Placed], hulls: &[HullRecord], grow: f32) {
    let mut columns = Columns::new();
    let (blocks, rest) = boxes.as_chunks_mut::<LANES>();
    let (body_blocks, rest_bodies) = bodies.as_chunks::<LANES>();
    let (placed_blocks, rest_placed) = placed.as_chunks::<LANES>();
    for ((boxes, bodies), placed) in blocks.iter_mut().zip(body_blocks).zip(placed_blocks) {
        columns.load(bodies, placed, hulls);
        compute(&mut columns, grow);
        columns.store(bodies, boxes);
        if columns.is_alone != [0; LANES] {
            for ((aabb, is_alone), (body, placed)) in
                boxes.iter_mut().zip(columns.is_alone).zip(bodies.iter().zip(placed))
            {
                if is_alone != 0 {
                    *aabb = placed_aabb(body, placed, hulls, grow);
                }
            }
        }
    }
    for ((aabb, body), placed) in rest.iter_mut().zip(rest_bodies).zip(rest_placed) {
        *aabb = placed_aabb(body, placed, hulls, grow);
    }
}

/// The box of one body.
fn placed_aabb(body: &Body, placed: &Placed, hulls: &[HullRecord], grow: f32) -> Aabb {
    let packed = PackedBody {
        position: placed.center.as_vec3().to_array(),
        hull: body.hull,
        rotation: body.unit_rotation(),
        scale: body.scale,
        radius: placed.radius,
        rounding: placed.rounding,
        group: body.group,
        mask: body.mask,
        ..PackedBody::zeroed()
    };
    body_aabb(&packed, &hulls[body.hull as usize], grow)
}

/// [`Columns::compute`]: a function of its own, because the compiler makes vector instructions of the loop only where nothing is around it.
#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+avx512bw", "x86_64+avx2"))]
fn compute(columns: &mut Columns, grow: f32) {
    columns.compute(grow);
}

/// Eight bodies, component by component, and their boxes.
#[repr(C, align(64))]
struct Columns {
    position: [Column; 3],
    quaternion: [Column; 4],
    scale: [Column; 3],
    radius: Column,
    rounding: Column,
    /// Of the record of the hull.
    middle: [Column; 3],
    half: [Column; 3],
    min: [Column; 3],
    max: [Column; 3],
    /// Not 0 where the box is wrong: of half-spaces, and where the rotation must be divided by its length.
    is_alone: [u32; LANES],
    is_half_space: [u32; LANES],
}

impl Columns {
    const fn new() -> Self {
        const NONE: Column = [0.0; LANES];
        Self {
            position: [NONE; 3],
            quaternion: [NONE; 4],
            scale: [NONE; 3],
            radius: NONE,
            rounding: NONE,
            middle: [NONE; 3],
            half: [NONE; 3],
            min: [NONE; 3],
            max: [NONE; 3],
            is_alone: [0; LANES],
            is_half_space: [0; LANES],
        }
    }

    #[inline(always)]
    fn load(&mut self, bodies: &[Body; LANES], placed: &[Placed; LANES], hulls: &[HullRecord]) {
        for first in [0, QUAD] {
            let four = |at: usize| first + at;
            let bodies = [0, 1, 2, 3].map(|at| &bodies[four(at)]);
            let placed = [0, 1, 2, 3].map(|at| &placed[four(at)]);
            let records = bodies.map(|body| &hulls[body.hull as usize]);
            let [x, y, z, _] = transposed(placed.map(|placed| placed.center.as_vec3().extend(0.0)));
            write_quad(&mut self.position, first, [x, y, z]);
            let quaternion = transposed(bodies.map(|body| Vec4::from_array(body.rotation)));
            write_quad(&mut self.quaternion, first, quaternion);
            // What is next to the numbers in memory comes along, so that they are one load.
            let [x, y, z, _] =
                transposed(bodies.map(|body| Vec3::from_array(body.scale).extend(body.padding)));
            write_quad(&mut self.scale, first, [x, y, z]);
            let [radius, _, rounding, _] = transposed(placed.map(Placed::radii));
            self.radius[first..first + QUAD].copy_from_slice(&radius.to_array());
            self.rounding[first..first + QUAD].copy_from_slice(&rounding.to_array());
            let [x, y, z, _] =
                transposed(records.map(|record| {
                    Vec3::from_array(record.middle).extend(f32::from_bits(record.vertex_offset))
                }));
            write_quad(&mut self.middle, first, [x, y, z]);
            let [x, y, z, _] = transposed(
                records
                    .map(|record| Vec3::from_array(record.half).extend(f32::from_bits(record.vertex_count))),
            );
            write_quad(&mut self.half, first, [x, y, z]);
            for (at, record) in (first..).zip(records) {
                self.is_half_space[at % LANES] = record.half_space;
            }
        }
    }

    #[inline(always)]
    fn compute(&mut self, grow: f32) {
        for at in 0..LANES {
            let take3 = |columns: &[Column; 3]| [columns[0][at], columns[1][at], columns[2][at]];
            let quaternion = &self.quaternion;
            let rotation = [quaternion[0][at], quaternion[1][at], quaternion[2][at], quaternion[3][at]];
            let packed = PackedBody {
                position: take3(&self.position),
                rotation,
                scale: take3(&self.scale),
                radius: self.radius[at],
                rounding: self.rounding[at],
                ..PackedBody::zeroed()
            };
            let record = HullRecord {
                middle: take3(&self.middle),
                half: take3(&self.half),
                half_space: 0,
                ..HullRecord::zeroed()
            };
            let aabb = body_aabb(&packed, &record, grow);
            for axis in 0..3 {
                self.min[axis][at] = aabb.min[axis];
                self.max[axis][at] = aabb.max[axis];
            }
            let is_turned = u32::from(!is_normalised(squared_length(rotation)));
            self.is_alone[at] = self.is_half_space[at] | is_turned;
        }
    }

    /// Writes the boxes.
    #[inline(always)]
    fn store(&self, bodies: &[Body; LANES], boxes: &mut [Aabb; LANES]) {
        for first in [0, QUAD] {
            let rows = |[x, y, z]: &[Column; 3]| {
                transposed([quad(x, first), quad(y, first), quad(z, first), Vec4::ZERO])
            };
            let (min, max) = (rows(&self.min), rows(&self.max));
            for lane in 0..QUAD {
                let body = &bodies[first + lane];
                boxes[first + lane] = Aabb {
                    min: min[lane].truncate().to_array(),
                    group: body.group,
                    max: max[lane].truncate().to_array(),
                    mask: body.mask,
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;
    use crate::collide::hull::support::Supports;
    use crate::collide::scene::bounds::aabbs;
    use crate::collide::scene::bounds::tests::Random;
    use crate::collide::scene::layout::{Layout, lay_out};

    /// Bodies of all hulls: padded, stretched, huge, not quite of unit length, far from their own origin.
    fn bodies(random: &mut Random, hull_count: u64, count: usize) -> Vec<Body> {
        (0..count)
            .map(|at| {
                let far = random.log(1e-3, 1e6);
                let scale = random.log(1e-4, 1e4);
                let length = if at % 5 == 0 { 1.0 + 4e-4 * random.signed() } else { 1.0 };
                let body = Body {
                    hull: (random.bits() % hull_count) as u32,
                    position: [0; 3].map(|_| far * random.signed()),
                    rotation: random.rotation().map(|x| length * x),
                    scale: [scale; 3],
                    group: random.bits() as u32,
                    mask: random.bits() as u32,
                    padding: if at % 3 == 0 { random.log(1e-6, 1.0) } else { 0.0 },
                };
                match at % 13 {
                    4 => Body { scale: [scale, 2.0 * scale, 0.5 * scale], ..body },
                    7 => Body { position: [1e-40, 0.0, -0.0], ..body },
                    9 => Body { scale: [1e-15; 3], ..body },
                    11 => Body { scale: [3e16; 3], position: [9e17; 3], ..body },
                    _ => body,
                }
            })
            .collect()
    }

    #[test]
    fn boxes_are_those_of_packed_bodies() {
        let lump = Hull::from_points(&[[1.0, 2.0, 3.0], [4.0, 2.5, 3.0], [1.5, 6.0, 3.5], [2.0, 3.0, 9.0]]);
        let hulls = [
            lump.unwrap(),
            Hull::cuboid([0.5, 2.0, 1.0]).unwrap(),
            Hull::ball(0.25).unwrap(),
            Hull::half_space(),
        ];
        let supports = Supports::new(&hulls).unwrap();
        let mut random = Random(5);
        for count in [0, 1, 7, 8, 9, 15, 16, 17, 3 * TASK + 5] {
            // With half-spaces, and where whole blocks have none.
            for hull_count in [3, 4] {
                let bodies = bodies(&mut random, hull_count, count);
                let (mut copies, mut packed, mut placed) = (Vec::new(), Vec::new(), Vec::new());
                let layout = Layout { packed: true, placed: true };
                lay_out(&supports, &bodies, layout, &mut copies, &mut packed, &mut placed).unwrap();
                for grow in [0.0, 0.125, 1e37] {
                    let mut found = vec![Aabb::zeroed(); 3];
                    placed_aabbs_into(&mut found, &bodies, &placed, &supports.records, grow);
                    let mut expected = aabbs(&packed, &supports.records, grow);
                    assert!(
                        bytemuck::cast_slice::<_, u8>(&found) == bytemuck::cast_slice::<_, u8>(&expected)
                    );
                    // Control.
                    if let Some(last) = expected.last_mut() {
                        last.max[1] = last.max[1].next_up();
                        assert!(found != expected);
                    }
                }
            }
        }
    }
}
