//! Bodies that are laid out on the device once, and placed at poses in a buffer of the caller's.

use bytemuck::{Pod, Zeroable};

use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::gpu::rules::RuleTables;
use crate::collide::scene::body_pose::BodyPose;
use crate::collide::scene::packed_body::{NORMALISED, PackedBody};
use crate::collide::scene::placed::{CENTER_ROUNDING, MEAN_ROUNDING};
use crate::collide::scene::pose::{LENGTHS_SQUARED, MOST};
use crate::error::Result;
use crate::gpu::DISPATCH_WGSL;
use crate::gpu::buffer::Buffer;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, Trust, only, read, read_write, uniform};
use crate::gpu::wgsl::wgsl;

/// The kernels of poses.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[&PLACE_BODIES];

pub(crate) static PLACE_BODIES: Kernel = Kernel {
    label: "hullfield.collide.place_bodies",
    sources: only(&[
        DISPATCH_WGSL,
        wgsl!("../../../../shaders/shared/binary64.wgsl"),
        wgsl!("../../../../shaders/collide/query/place_bodies.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    // As words: a float that is loaded may lose its subnormal digits.
    bindings: only(&[
        uniform("params", "PlaceParams"),
        read("laid_out", "array<vec4u>"),
        read("poses", "array<vec4u>"),
        read("hulls", "array<vec4u>"),
        read_write("placed", "array<vec4u>"),
        read_write("invalid", "array<atomic<u32>>"),
    ]),
};

/// Steps of a body, by which long dispatches are cut.
const BODY_STEPS: u64 = 200;
/// First coordinate of an invalid body, and how much each later row adds in units of the last place.
const ASIDE: f32 = 5e17;
/// Excess of an invalid body: more than any gap.
const UNKNOWN: f32 = 1e18;

/// As in `shaders/collide/query/place_bodies.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct PlaceParams {
    body_count: u32,
    first: u32,
    most: u32,
    aside: u32,
    unknown: u32,
    padding: u32,
    least_squared: [u32; 2],
    most_squared: [u32; 2],
    normalised: [u32; 2],
    mean_rounding: [u32; 2],
    center_rounding: [u32; 2],
}

/// Bodies without poses on the device.
#[derive(Debug)]
pub(crate) struct GpuLayout {
    /// All that does not depend on a pose.
    pub(crate) bodies: Buffer<PackedBody>,
    /// Ids of the half-spaces, those of statics too, ascending.
    pub(crate) planes: Vec<u32>,
    /// The half-spaces, and behind them which pairs may meet.
    pub(crate) words: Buffer<u32>,
    /// Where these tables are; none where all pairs may meet.
    pub(crate) tables: Option<RuleTables>,
}

impl GpuLayout {
    /// Uploads bodies, the half-spaces and the tables.
    pub(crate) fn new(
        arena: &GpuArena,
        packed: &[PackedBody],
        planes: Vec<u32>,
        tables: Option<RuleTables>,
    ) -> Result<Self> {
        let context = &arena.context;
        let static_count = arena.statics().map_or(0, |statics| statics.len());
        arena.check_bodies(packed.len() + static_count)?;
        let mut frame = Frame::new(context, "hullfield.collide.layout")?;
        let bodies = Buffer::new(context, "hullfield.collide.laid_out", packed.len())?;
        frame.upload(&bodies, 0, packed)?;
        let listed = tables.as_ref().map_or(&planes[..], |tables| &tables.words);
        let words = Buffer::new(context, "hullfield.collide.laid_out_planes", listed.len())?;
        frame.upload(&words, 0, listed)?;
        // Built now, it costs the first step no time.
        frame.pipeline(&PLACE_BODIES)?;
        // The queue runs in order, so nothing needs to wait for this.
        frame.send()?;
        // A copy on the host is of no use any more.
        let tables = tables.map(|tables| RuleTables { words: Vec::new(), ..tables });
        Ok(Self { bodies, planes, words, tables })
    }

    /// Encodes the bodies at these poses into the first places of `placed`. Returns the number of invalid poses and their rows.
    pub(crate) fn place(
        &self,
        arena: &GpuArena,
        frame: &mut Frame,
        poses: &Buffer<BodyPose>,
        placed: &Buffer<PackedBody>,
    ) -> Result<Buffer<u32>> {
        let count = self.bodies.len();
        let context = &arena.context;
        let invalid: Buffer<u32> = Buffer::new(context, "hullfield.collide.invalid_poses", 1 + count)?;
        frame.upload(&invalid, 0, &[0])?;
        let words = |x: f64| [x.to_bits() as u32, (x.to_bits() >> 32) as u32];
        for piece in context.pieces(count as u64, BODY_STEPS, PLACE_BODIES.workgroup_size.into()) {
            let params = frame.uniform(&PlaceParams {
                body_count: piece.end as u32,
                first: piece.start as u32,
                most: MOST.to_bits(),
                aside: ASIDE.to_bits(),
                unknown: UNKNOWN.to_bits(),
                padding: 0,
                least_squared: words(*LENGTHS_SQUARED.start()),
                most_squared: words(*LENGTHS_SQUARED.end()),
                normalised: words(NORMALISED),
                mean_rounding: words(MEAN_ROUNDING),
                center_rounding: words(CENTER_ROUNDING),
            })?;
            let records = arena.hulls()?.records.bind();
            let bound = [params, self.bodies.bind(), poses.bind(), records, placed.bind(), invalid.bind()];
            frame.dispatch(&PLACE_BODIES, &bound, PLACE_BODIES.groups(piece.end - piece.start))?;
        }
        Ok(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::hull::Hull;
    use crate::collide::hull::record::HullRecord;
    use crate::collide::narrow_phase::kernels::tests::{constant, same_layout};
    use crate::collide::scene::body::Body;
    use crate::collide::scene::query_input::Scene;
    use crate::gpu::submit::Next;
    use crate::testing;
    use std::sync::Arc;

    #[test]
    fn words_lie_as_the_structs_do() {
        same_layout!(
            PLACE_BODIES,
            PlaceParams {
                body_count,
                first,
                most,
                aside,
                unknown,
                padding,
                least_squared,
                most_squared,
                normalised,
                mean_rounding,
                center_rounding
            }
        );
        let quads = |name| 16 * constant(&PLACE_BODIES, name) as usize;
        assert_eq!(quads("BODY_QUADS"), size_of::<PackedBody>());
        assert_eq!(quads("HULL_QUADS"), size_of::<HullRecord>());
        assert_eq!(quads("POSE_QUADS"), size_of::<BodyPose>());
        assert_eq!(std::mem::offset_of!(HullRecord, mean), 0);
        assert_eq!(std::mem::offset_of!(BodyPose, position), 0);
        assert_eq!(std::mem::offset_of!(BodyPose, rotation), 16);
        let offsets = [
            std::mem::offset_of!(PackedBody, position),
            std::mem::offset_of!(PackedBody, hull),
            std::mem::offset_of!(PackedBody, rotation),
            std::mem::offset_of!(PackedBody, scale),
            std::mem::offset_of!(PackedBody, radius),
            std::mem::offset_of!(PackedBody, remainder),
            std::mem::offset_of!(PackedBody, excess),
            std::mem::offset_of!(PackedBody, rounding),
        ];
        assert_eq!(offsets, [0, 12, 16, 32, 44, 48, 60, 64]);
    }

    /// Packed bodies that the device places, and the rows of invalid poses.
    fn placed(
        scene: &Arc<Scene>,
        bodies: &[Body],
        poses: &[BodyPose],
    ) -> Option<(Vec<PackedBody>, Vec<u32>)> {
        let engine = testing::gpu()?;
        let arena = GpuArena::new(engine.context()?, scene).unwrap();
        let packed: Vec<PackedBody> =
            bodies.iter().map(|body| body.pack(0, &scene.supports).unwrap()).collect();
        let layout = GpuLayout::new(&arena, &packed, Vec::new(), None).unwrap();
        let context = &arena.context;
        let mut frame = Frame::new(context, "hullfield.collide.test").unwrap();
        let of_poses = Buffer::new(context, "hullfield.collide.test_poses", poses.len()).unwrap();
        frame.upload(&of_poses, 0, poses).unwrap();
        let room = Buffer::new(context, "hullfield.collide.test_placed", poses.len()).unwrap();
        let invalid = layout.place(&arena, &mut frame, &of_poses, &room).unwrap();
        let bodies = frame.read(&room, 0..poses.len()).unwrap();
        let listed = frame.read(&invalid, 0..1 + poses.len()).unwrap();
        let answer = frame.submit(move |results| {
            let listed = results.get(&listed)?.into_owned();
            let mut rows = listed[1..][..listed[0] as usize].to_vec();
            rows.sort_unstable();
            Ok(Next::Answer((results.get(&bodies)?.into_owned(), rows)))
        });
        Some(answer.unwrap().wait().unwrap())
    }

    /// Hulls whose means are at their origins, near them, and far away, at sizes from 1e-15 to 1e15.
    fn hulls() -> Vec<Hull> {
        let mut hulls =
            vec![Hull::cuboid([0.5, 0.3, 0.4]).unwrap(), Hull::ball(1.0).unwrap(), Hull::half_space()];
        for (size, shift) in [
            (1.0, 0.3),
            (1.0, 1e3),
            (1e-15, 0.7),
            (1e15, 1.0),
            (3e-5, 1e6),
            (0.1, 1e-3),
            (1.0, 1e-38),
            (1.0, 1e-45),
        ] {
            let corner = |x: f32, y: f32, z: f32| {
                [size * x + size * shift, size * y - 0.4 * size * shift, size * z + 7.0 * size * shift]
            };
            let points =
                [corner(0.0, 0.0, 0.1), corner(1.0, 0.0, 0.0), corner(0.1, 1.3, 0.0), corner(0.0, -0.2, 0.9)];
            hulls.push(Hull::from_points(&points).unwrap());
        }
        // A mean that is subnormal.
        let tiny = f32::from_bits(3);
        hulls.push(Hull::from_points(&[[tiny, -1.0, 0.0], [tiny, 1.0, tiny]]).unwrap());
        hulls
    }

    #[test]
    fn placed_bodies_have_the_bytes_of_the_host() {
        let scene = Arc::new(Scene::new(&hulls()).unwrap());
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut word = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 16) as u32
        };
        let mut bodies = Vec::new();
        let mut poses = Vec::new();
        for row in 0..40_000_u32 {
            let unit = |word: u32| (f64::from(word) / f64::from(u32::MAX) * 2.0 - 1.0) as f32;
            let hull = row % scene.hulls.len() as u32;
            let scale = match row / 16 % 4 {
                0 => [1.0; 3],
                1 => [f32::from_bits(0x3f00_0000 + word() % 0x0100_0000); 3],
                _ => [(); 3].map(|()| f32::from_bits(0x3e00_0000 + word() % 0x0200_0000)),
            };
            let body = Body { hull, scale, ..Body::new(hull).padded(0.01) };
            if body.radius(0, &scene.supports).is_err() {
                continue;
            }
            let position = [(); 3].map(|()| match word() % 9 {
                0 => 0.0,
                1 => -0.0,
                2 => f32::from_bits((word() % 0x0080_0000) | (word() & 0x8000_0000)),
                3 => f32::from_bits(0x0080_0000 + word() % 0x1000_0000),
                4 => 1e18 * unit(word()),
                5 => [1e18, -1e18, f32::MIN_POSITIVE, 1.0][word() as usize % 4],
                _ => 100.0 * unit(word()),
            });
            let mut rotation = match word() % 6 {
                0 => [0.0, 0.0, 0.0, 1.0],
                1 => [1.0, -0.0, 0.0, 0.0],
                2 => [0.5, -0.5, 0.5, -0.5],
                3 => [f32::from_bits(word() % 0x0100_0000), 0.6, f32::from_bits(0x8000_0001), 0.8],
                _ => [(); 4].map(|()| unit(word())),
            };
            let length = rotation.iter().map(|x| x * x).sum::<f32>().sqrt();
            if length < 0.01 {
                continue;
            }
            let factor = match word() % 4 {
                0 => 1.0,
                1 => 1.0 + 9e-4 * unit(word()),
                2 => 1.0 + 6e-8 * unit(word()),
                _ => 1.0 + 1.2e-3 * unit(word()),
            };
            rotation = rotation.map(|x| x / length * factor);
            bodies.push(body);
            poses.push(BodyPose { position, padding: f32::NAN, rotation });
        }
        // Lengths next to the limits, and all that is not finite.
        for bits in (0x3f7f_be00..0x3f7f_bf00).chain(0x3f80_2000..0x3f80_2100) {
            bodies.push(Body::new(3));
            poses.push(BodyPose {
                position: [1.0; 3],
                padding: 0.0,
                rotation: [f32::from_bits(bits), 0.0, 0.0, 0.0],
            });
        }
        for bad in
            [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1.1e18, f32::MAX, f32::from_bits(0xffc0_1234), 0.0]
        {
            for place in 0..7 {
                let mut pose = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0];
                pose[place] = bad;
                bodies.push(Body::new(place as u32 % 4));
                poses.push(BodyPose {
                    position: [pose[0], pose[1], pose[2]],
                    padding: 0.0,
                    rotation: [pose[3], pose[4], pose[5], pose[6]],
                });
            }
        }
        let Some((found, invalid)) = placed(&scene, &bodies, &poses) else { return };
        let mut expected_invalid = Vec::new();
        for (row, (body, pose)) in bodies.iter().zip(&poses).enumerate() {
            let body = Body { position: pose.position, rotation: pose.rotation, ..*body };
            let Ok(expected) = body.pack(row, &scene.supports) else {
                expected_invalid.push(row as u32);
                assert_eq!((found[row].group, found[row].mask), (0, 0), "{row}");
                assert!(found[row].position[0] >= 5e17 && found[row].excess >= 1e18, "{row}");
                assert_eq!(found[row].radius, expected_radius(&body, &scene), "{row}");
                continue;
            };
            assert_eq!(
                bytemuck::bytes_of(&found[row]),
                bytemuck::bytes_of(&expected),
                "{row}: {body:?}\n{expected:?}\n{:?}",
                found[row]
            );
        }
        assert_eq!(invalid, expected_invalid);
        assert!(invalid.len() > 500 && found.len() - invalid.len() > 30_000, "{}", invalid.len());
    }

    fn expected_radius(body: &Body, scene: &Scene) -> f32 {
        let upright = Body { position: [0.0; 3], rotation: [0.0, 0.0, 0.0, 1.0], ..*body };
        upright.pack(0, &scene.supports).unwrap().radius
    }
}
