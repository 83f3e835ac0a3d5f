//! World boxes of bodies: the CPU twin of `shaders/collide/scene/bounds.wgsl`, equal to it bit for bit.
//!
//! # Bit for bit
//! A shading language may fuse `a * b + c` into one rounding and re-associate sums, and forbids neither. The
//! shader therefore passes every product and every sum through an exclusive or with a uniform. The uniform is zero, which no
//! compiler can know, so each operation is rounded once. Rust rounds each operation once anyway.
//! There is no division and no square root. Inputs and products below `TINY` become 0 on both engines, so
//! that no later operation meets a denormal, which some GPUs flush.
//!
//! # Conservative
//! With `u = 2^-24`, let `m = scale ⊙ middle`, `h = scale ⊙ half`, `M = Σ|m_j|`, `H = Σ h_j`. The packed
//! quaternion's components are within `3u` (relative) of the unit quaternion's. An entry of the rotation, `1
//! - 2(yy + zz)` or `2(xy ± wz)`, takes products off by `7u`, their sum `8u`, and `2(|·| + |·|) ≤ 2`, hence
//! at most `17u` with its own rounding. A row times `m` adds `u` for `m`, `u` a product and `2u` for the
//! sums: the centre is off by at most `21u M`, the half extent by `21u H`, and by `u (|p| + M)` for the one
//! addition to the position, which is itself rounded and off by `u |p|`. The last operation `centre ± extent`
//! rounds by `u (|p| + M + H + pad)`. In all less than `23u (M + H) + 3u |p|`, and the box is padded by
//! `33u (M + H) + 3.5u |p|`.
//!
//! The ball about the mean of the vertices contains the body too, and is tighter for round hulls: the box is the intersection of
//! the two. Its centre is the position; with the bounding radius `r`, which is within
//! `4u r` of the true one, the same count gives `4u r + u (2|p| + r + pad)` and the pad is `33u r + 3.5u |p|`.
//!
//! Last, the tolerance: a pair that touches, with a gap of up to ¾ of `τ = max(1e-5 R, 4e-6 (S + d))`, must
//! be a candidate, that is a gap of `max(7.5e-6 R, 3.0001e-6 S)` at most, where `R ≤ S / 2` are the smaller and the
//! sum of the bounding radii. Boxes parted by `g` along an axis hold shapes at least `g` apart; each box is
//! padded by `8e-6` of its own radius, together `8e-6 S`, which is more. Above a half-space `R = S` is the radius of the
//! other body, whose own pad is more than `7.5e-6 R`.
//!
//! Flushing a position or a product loses less than `40 · TINY`, which `FLOOR` covers. A scale or a half extent of the hull is not
//! flushed, because the other of the two may be 1e38. A scale below `TINY` counts as `TINY`: the mean is in the hull's
//! box, so the box about it only grows. The record's half extents are wider by `4 · TINY`, which covers a `middle` that is flushed.
//! The ball keeps the result as small as the body.
//!
//! # Rounding and margin
//! A body's rounding radius `ρ` and half of the query's margin `g` make the box wider by `w = ρ + g` on all sides. `ρ`
//! comes rounded from f64, `g` is half of an f32 and exact; their sum and its addition to the extent take it off by `u ρ +
//! u w + u (H + w + …)`, less than `4u w`, and `w` is counted into what `33u` is taken of. Two boxes that are `2g` apart
//! or less so overlap. The bounding radius holds `ρ`; the ball is wider by `g`.
//!
//! Bodies that do not move have their boxes once and for all, without a margin: a pair of a mover and such a body lacks
//! `g`, and the mover's box is grown by it once more ([`Aabb::grown`]); the one rounding more, `u (|x| + g)`, is covered
//! by a pad of `4u |x|` and by what is left of the others.
//!
//! # Half-spaces
//! A half-space is no box. Its unit normal `n` is the second column of the rotation, off by `17u` an entry, its offset
//! `n · p` by another `3u Σ|p_j|`, together `20u Σ|p_j|`; held against the deepest corner `c` of a box, `n · c` is off by
//! `20u Σ|c_j|`. The pads are `67u` of both sums. A box reaches in where `n · c ≤ n · p + w + pads`; what the box's own
//! pads cover (the body's rounding, the tolerance) stays covered, as a corner's depth grows with every pad.

use crate::collide::bvh::aabb::{Aabb, PAD_PLANE, PLANE};
use crate::rounding::{TINY, add, add3, dot, flush, greater, mul};
use bytemuck::Zeroable;

use crate::collide::hull::record::HullRecord;
use crate::collide::scene::packed_body::PackedBody;
use crate::parallel::for_each_share;

/// Bodies in one task.
pub(super) const TASK: usize = 4096;

/// Least padding of a box, in world units.
pub(crate) const FLOOR: f32 = 1e-20;
/// Padding per unit of scaled box (`33u` and a little).
pub(crate) const PAD_BOX: f32 = 2e-6;
/// Padding per unit of bounding radius.
pub(crate) const PAD_RADIUS: f32 = 8e-6;
/// Padding per unit of position (`3.5u`).
pub(crate) const PAD_POSITION: f32 = 2.086_162_6e-7;
/// A body whose numbers reach this gets a box around everything, so that an overflow loses no pair.
pub(crate) const HUGE: f32 = 1e37;
/// Half extent of the box around everything: beyond every other box, and three times it is still finite.
pub(crate) const EVERYTHING: f32 = 1e38;

/// The boxes of all bodies, in their order, each wider by `grow`. Every `body.hull` must be a row of `hulls`.
pub(crate) fn aabbs_into(boxes: &mut Vec<Aabb>, bodies: &[PackedBody], hulls: &[HullRecord], grow: f32) {
    boxes.resize(bodies.len(), Aabb::zeroed());
    let tasks = boxes.chunks_mut(TASK).zip(bodies.chunks(TASK)).collect();
    for_each_share(tasks, 1, |(boxes, bodies)| fill(boxes, bodies, hulls, grow));
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn fill(boxes: &mut [Aabb], bodies: &[PackedBody], hulls: &[HullRecord], grow: f32) {
    for (aabb, body) in boxes.iter_mut().zip(bodies) {
        *aabb = body_aabb(body, &hulls[body.hull as usize], grow);
    }
}

/// [`aabbs_into`] a new list.
#[cfg(test)]
pub(crate) fn aabbs(bodies: &[PackedBody], hulls: &[HullRecord], grow: f32) -> Vec<Aabb> {
    let mut boxes = Vec::new();
    aabbs_into(&mut boxes, bodies, hulls, grow);
    boxes
}

/// World box of one body, wider by `grow`; the module's documentation proves its padding.
#[inline(always)]
pub(crate) fn body_aabb(body: &PackedBody, hull: &HullRecord, grow: f32) -> Aabb {
    let p = body.position.map(flush);
    let s = body.scale.map(|x| if x < TINY { TINY } else { x });
    let (middle, half) = (hull.middle.map(flush), hull.half.map(flush));
    let (radius, grow) = (flush(body.radius), flush(grow));
    let wide = add(flush(body.rounding), grow);
    let m = [mul(s[0], middle[0]), mul(s[1], middle[1]), mul(s[2], middle[2])];
    let h = [mul(s[0], half[0]), mul(s[1], half[1]), mul(s[2], half[2])];

    let [x, y, z, w] = body.rotation.map(flush);
    let (xx, yy, zz) = (mul(x, x), mul(y, y), mul(z, z));
    let (xy, xz, yz) = (mul(x, y), mul(x, z), mul(y, z));
    let (wx, wy, wz) = (mul(w, x), mul(w, y), mul(w, z));
    let twice = |a: f32| add(a, a);
    let r0 = [add(1.0, -twice(add(yy, zz))), twice(add(xy, -wz)), twice(add(xz, wy))];
    let r1 = [twice(add(xy, wz)), add(1.0, -twice(add(xx, zz))), twice(add(yz, -wx))];
    let r2 = [twice(add(xz, -wy)), twice(add(yz, wx)), add(1.0, -twice(add(xx, yy)))];

    let (group, mask) = (body.group, body.mask);
    let away = add3(p[0].abs(), p[1].abs(), p[2].abs());
    let boxed = add(add(add3(m[0].abs(), m[1].abs(), m[2].abs()), add3(h[0], h[1], h[2])), wide);
    if hull.half_space != 0 {
        let n = [r0[1], r1[1], r2[1]];
        let pad = add3(mul(PAD_PLANE, away), mul(PAD_BOX, wide), FLOOR);
        let offset = add3(dot(n, p), wide, pad);
        return Aabb { min: [PLANE, n[0], n[1]], group, max: [-PLANE, n[2], offset], mask };
    }
    let pad = add3(mul(PAD_BOX, boxed), mul(PAD_RADIUS, radius), FLOOR);
    let round = add(radius, grow);
    let ball = add(round, add3(mul(PAD_BOX, round), mul(PAD_RADIUS, radius), FLOOR));
    let reach = add3(boxed, radius, away);
    // Compared as bits, so that infinities and NaN count as huge in a shader that assumes there are none.
    let is_huge = (reach.to_bits() & 0x7fff_ffff) >= HUGE.to_bits();
    let mut aabb = Aabb { min: [0.0; 3], group, max: [0.0; 3], mask };
    for (i, r) in [r0, r1, r2].into_iter().enumerate() {
        let slack = mul(PAD_POSITION, p[i].abs());
        let centre = add(p[i], dot(r, m));
        let extent = add(add3(dot(r.map(f32::abs), h), pad, slack), wide);
        let extent_of_ball = add(ball, slack);
        let min = greater(add(centre, -extent), add(p[i], -extent_of_ball));
        let max = -greater(-add(centre, extent), -add(p[i], extent_of_ball));
        // Chosen last, so that eight bodies side by side need no branch (`placed_bounds.rs`).
        aabb.min[i] = if is_huge { -EVERYTHING } else { min };
        aabb.max[i] = if is_huge { EVERYTHING } else { max };
    }
    aabb
}

/// Half of a margin: every box is widened by it.
pub(crate) fn half(margin: f64) -> f32 {
    (0.5 * margin.min(f64::from(f32::MAX))) as f32
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A small deterministic generator (splitmix64), uniform in [0, 1).
    pub(crate) struct Random(pub(crate) u64);

    impl Random {
        pub(crate) fn bits(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }

        pub(crate) fn unit(&mut self) -> f32 {
            (self.bits() >> 40) as f32 / (1u64 << 24) as f32
        }

        pub(crate) fn signed(&mut self) -> f32 {
            2.0 * self.unit() - 1.0
        }

        /// Log-uniform between two positive bounds.
        pub(crate) fn log(&mut self, low: f32, high: f32) -> f32 {
            (low.ln() + self.unit() * (high / low).ln()).exp()
        }

        pub(crate) fn rotation(&mut self) -> [f32; 4] {
            loop {
                let q = [0; 4].map(|_| f64::from(self.signed()));
                let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                if (0.1..1.0).contains(&length) {
                    return q.map(|x| (x / length) as f32);
                }
            }
        }
    }

    /// Hulls that are boxes, some far from their own origin, flat, thin or a point.
    pub(crate) fn hulls(random: &mut Random, count: usize) -> Vec<HullRecord> {
        (0..count)
            .map(|i| {
                let size = random.log(1e-3, 1e3);
                let mut half = [0; 3].map(|_| size * random.log(1e-3, 1.0));
                half[2] = if i % 4 == 1 { 0.0 } else { half[2] };
                half = if i % 16 == 2 { [0.0; 3] } else { half };
                let far = if i % 3 == 0 { 100.0 * size } else { size };
                let middle = [0; 3].map(|_| far * random.signed());
                let radius = half.map(f64::from).iter().map(|x| x * x).sum::<f64>().sqrt() as f32;
                HullRecord { radius, middle, half, ..HullRecord::zeroed() }
            })
            .collect()
    }

    /// Bodies at positions to 1e6, scales 1e-5 to 1e5, any rotation; some denormal, some axis aligned.
    pub(crate) fn bodies(random: &mut Random, hulls: &[HullRecord], count: usize) -> Vec<PackedBody> {
        (0..count)
            .map(|i| {
                let hull = (random.bits() % hulls.len() as u64) as u32;
                let far = if i % 2 == 0 { 1e6 } else { random.log(1e-6, 1e3) };
                let mut position = [0; 3].map(|_| far * random.signed());
                position[0] = if i % 7 == 0 { 1e-40 } else { position[0] };
                let even = random.log(1e-5, 1e5);
                let scale = if i % 3 == 0 { [even; 3] } else { [0; 3].map(|_| random.log(1e-5, 1e5)) };
                let rotation = match i % 5 {
                    0 => [0.0, 0.0, 0.0, 1.0],
                    1 => [1e-20, 0.0, 1e-39, 1.0],
                    _ => random.rotation(),
                };
                let HullRecord { half, middle, .. } = hulls[hull as usize];
                let reach = |j: usize| f64::from(half[j] + middle[j].abs()) * f64::from(scale[j]);
                let rounding =
                    if i % 11 < 4 { random.log(1e-6, 10.0) * (reach(0) as f32 + 1e-6) } else { 0.0 };
                let radius = (0..3).map(|j| reach(j).powi(2)).sum::<f64>().sqrt() as f32 + rounding;
                let last = |x: f32| 0.5 * (x.abs().next_up() - x.abs()) * random.signed();
                PackedBody {
                    position,
                    hull,
                    rotation,
                    scale,
                    radius,
                    remainder: position.map(last),
                    excess: 0.0,
                    rounding,
                    group: random.bits() as u32,
                    mask: random.bits() as u32,
                    padding: 0,
                }
            })
            .collect()
    }

    /// True corner of a body's box in f64, its quaternion normalised there.
    fn corner(body: &PackedBody, hull: &HullRecord, k: usize) -> [f64; 3] {
        let q = body.rotation.map(f64::from);
        let q = glam::DQuat::from_array(q).normalize();
        let v: [f64; 3] = std::array::from_fn(|i| {
            let side = if k >> i & 1 == 1 { 1.0 } else { -1.0 };
            f64::from(body.scale[i]) * (f64::from(hull.middle[i]) + side * f64::from(hull.half[i]))
        });
        let position = [0, 1, 2].map(|i| f64::from(body.position[i]) + f64::from(body.remainder[i]));
        (glam::DVec3::from_array(position) + q * glam::DVec3::from_array(v)).to_array()
    }

    #[test]
    fn boxes_hold_their_body_and_the_gap_at_which_it_touches() {
        let mut random = Random(1);
        let hulls = hulls(&mut random, 64);
        let bodies = bodies(&mut random, &hulls, 20_000);
        let cases = [0.0, 1e-3, 2.5].map(|grow| (grow, aabbs(&bodies, &hulls, grow)));
        let cases =
            cases.iter().flat_map(|(grow, boxes)| bodies.iter().zip(boxes).map(move |case| (*grow, case)));
        for (grow, (body, aabb)) in cases {
            assert_eq!((body.group, body.mask), (aabb.group, aabb.mask));
            let hull = &hulls[body.hull as usize];
            let wide = f64::from(body.rounding) + f64::from(grow);
            let margin = 7.51e-6 * f64::from(body.radius) + wide + 5e-7 * f64::from(grow);
            let mut width = [0.0f64; 3];
            for k in 0..8 {
                let v = corner(body, hull, k);
                for i in 0..3 {
                    assert!(f64::from(aabb.min[i]) <= v[i] - margin, "{body:?} {hull:?} {aabb:?} {v:?}");
                    assert!(f64::from(aabb.max[i]) >= v[i] + margin, "{body:?} {hull:?} {aabb:?} {v:?}");
                    width[i] = width[i].max((v[i] - corner(body, hull, 7 - k)[i]).abs());
                }
            }
            // And no wider than the rounding asks: a box that holds everything would pass the above.
            let reach: f64 = (0..3)
                .map(|i| {
                    f64::from(body.scale[i]) * (f64::from(hull.middle[i].abs()) + f64::from(hull.half[i]))
                })
                .sum();
            for (i, width) in width.into_iter().enumerate() {
                let slack = 3e-5 * (reach + wide) + 1e-6 * f64::from(body.position[i]).abs() + 1e-19;
                let extent = f64::from(aabb.max[i]) - f64::from(aabb.min[i]);
                assert!(extent <= width + 2.0 * wide + slack, "{body:?} {hull:?} {aabb:?}");
            }
        }
    }

    #[test]
    fn an_overflow_widens_to_everything() {
        let hull = HullRecord { half: [1e3; 3], radius: 1.8e3, ..HullRecord::zeroed() };
        for scale in [1e35, f32::MAX] {
            let body = PackedBody {
                position: [1.0; 3],
                hull: 0,
                rotation: [0.0, 0.0, 0.0, 1.0],
                scale: [scale; 3],
                radius: 1.0,
                remainder: [0.0; 3],
                excess: 0.0,
                ..PackedBody::zeroed()
            };
            let found = body_aabb(&body, &hull, 0.0);
            assert_eq!((found.min, found.max), ([-EVERYTHING; 3], [EVERYTHING; 3]));
        }
        let body = PackedBody { rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3], ..PackedBody::zeroed() };
        let found = body_aabb(&body, &hull, 0.5 * f32::MAX);
        assert_eq!((found.min, found.max), ([-EVERYTHING; 3], [EVERYTHING; 3]));
        let ground = HullRecord { half_space: 1, ..HullRecord::zeroed() };
        let ground = body_aabb(&body, &ground, 0.5 * f32::MAX);
        assert!(ground.is_plane() && !ground.overlaps(&found) && found.reaches(&ground, 0.0));
        assert!(!ground.overlaps(&ground));
    }

    /// A half-space and a box in f64: how far the box stays above it.
    fn height(ground: &PackedBody, aabb: &Aabb) -> f64 {
        let q = glam::DQuat::from_array(ground.rotation.map(f64::from)).normalize();
        let n = q * glam::DVec3::Y;
        let p = glam::DVec3::from_array(ground.position.map(f64::from));
        let corner = |k: usize| {
            glam::DVec3::from_array(std::array::from_fn(|i| {
                f64::from(if k >> i & 1 == 1 { aabb.max[i] } else { aabb.min[i] })
            }))
        };
        (0..8).map(|k| (corner(k) - p).dot(n)).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn boxes_that_reach_into_a_half_space_are_found() {
        let mut random = Random(3);
        let hull = HullRecord { half_space: 1, ..HullRecord::zeroed() };
        let (mut inside, mut outside) = (0, 0);
        for i in 0..50_000 {
            let far = random.log(1e-3, 1e6);
            let position = [0; 3].map(|_| far * random.signed());
            let rotation = if i % 3 == 0 { [0.0, 0.0, 0.0, 1.0] } else { random.rotation() };
            let rounding = if i % 2 == 0 { 0.0 } else { random.unit() };
            let ground = PackedBody { position, rotation, scale: [1.0; 3], rounding, ..PackedBody::zeroed() };
            let plane = body_aabb(&ground, &hull, 0.25);
            let middle = position.map(|x| x + 3.0 * random.signed());
            let half = random.unit();
            let aabb = Aabb::new(middle.map(|x| x - half), middle.map(|x| x + half));
            let height = height(&ground, &aabb) - f64::from(rounding) - 0.25;
            let reach = aabb.min.iter().chain(&position).map(|x| f64::from(x.abs())).sum::<f64>();
            if height <= 0.0 {
                assert!(aabb.reaches(&plane, 0.0), "{ground:?} {aabb:?} {height}");
                inside += 1;
            } else if height > 1e-5 * reach + 1e-5 {
                assert!(!aabb.reaches(&plane, 0.0), "{ground:?} {aabb:?} {height}");
                outside += 1;
            }
            if height <= 0.5 {
                assert!(aabb.reaches(&plane, 0.5), "{ground:?} {aabb:?} {height}");
            }
        }
        assert!(inside > 5_000 && outside > 5_000, "{inside} {outside}");
    }

    #[test]
    fn a_grown_box_is_wider_by_as_much() {
        let mut random = Random(5);
        for _ in 0..10_000 {
            let middle = [0; 3].map(|_| 1e6 * random.signed());
            let aabb = Aabb::new(middle, middle.map(|x| x + random.unit()));
            assert_eq!(aabb.grown(0.0), aabb);
            let grow = random.log(1e-6, 1e3);
            let wider = aabb.grown(grow);
            for i in 0..3 {
                assert!(f64::from(wider.min[i]) <= f64::from(aabb.min[i]) - f64::from(grow));
                assert!(f64::from(wider.max[i]) >= f64::from(aabb.max[i]) + f64::from(grow));
            }
        }
    }
}
