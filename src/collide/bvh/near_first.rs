//! A walk of the tree from near to far: for rays, points, boxes and half-spaces.

use glam::Vec4;

use crate::collide::bvh::aabb::{Aabb, PAD_PLANE};
use crate::collide::bvh::tree::{LEVELS, Node, Tree, WIDTH};
use std::ops::Range;

/// Above the share by which an f32 distance along a ray or from a point is off: three roundings for a ray, five for a point or a box.
const SLACK: f32 = 1e-6;

/// Something that boxes are near to or far from.
pub(crate) trait Probe {
    /// Eight boxes: lower bounds of their distances, and those that are met within `limit`.
    fn distances(&self, node: &Node, limit: f32) -> Distances;
}

/// Lower bounds of the distances of eight boxes, 0 or more.
pub(crate) struct Distances {
    near: [f32; WIDTH],
    /// Bit `k` is set where box `k` is met within the limit. The others' distances mean nothing.
    met: u32,
}

impl Distances {
    /// Those of boxes that are met where `near` is at most `far`.
    ///
    /// The bits come from comparisons of four numbers. Selected or branched upon one by one they took a quarter of a ray's walk: which boxes are
    /// met can't be predicted.
    #[inline(always)]
    fn new(near: [f32; WIDTH], far: [f32; WIDTH], limit: f32) -> Self {
        let limit = Vec4::splat(limit);
        let bits = |at: usize| {
            let (near, far) = (Vec4::from_slice(&near[at..at + 4]), Vec4::from_slice(&far[at..at + 4]));
            (near.cmple(far) & near.cmple(limit)).bitmask()
        };
        Self { near, met: bits(0) | bits(4) << 4 }
    }
}

/// Farther than every box that is not at infinity, as those of lanes without a body are.
const ANYWHERE: [f32; WIDTH] = [f32::MAX; WIDTH];

/// What a walk does with the bodies that it reaches.
pub(crate) trait BodyVisit {
    /// Boxes beyond this distance are skipped. It may shrink.
    fn limit(&self) -> f32;
    /// Called for each body whose box is not skipped.
    fn body(&mut self, body: u32);
}

/// A ray as boxes are tested against it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlabRay {
    origin: [f32; 3],
    /// One over the unit direction. Infinity where that is 0; NaN where it is too small for f32 to divide by, which skips the axis.
    inverse: [f32; 3],
}

impl SlabRay {
    #[inline(always)]
    pub(crate) fn new(origin: [f32; 3], direction: [f64; 3], length: f64) -> Self {
        let inverse = direction.map(|x| {
            let unit = x / length;
            if unit == 0.0 {
                f32::INFINITY
            } else if unit.abs() < 1e-30 {
                f32::NAN
            } else {
                (1.0 / unit) as f32
            }
        });
        Self { origin, inverse }
    }
}

impl Probe for SlabRay {
    #[inline(always)]
    fn distances(&self, node: &Node, limit: f32) -> Distances {
        slabs(node, self, [0.0; 3], [0.0; 3], limit)
    }
}

/// The slab test (Kay and Kajiya 1986), made conservative as by Ize (2013), against boxes that are wider by `before` where they begin along
/// an axis and by `after` where they end.
///
/// A difference, the inverse and a product are off by a rounding each, so each bound by a share of less than 4 · 2^-24, and its sign is
/// right. A ray that lies in the plane of a side gives 0 · ∞. NaN fails the comparisons, so such a bound is left out.
#[inline(always)]
fn slabs(node: &Node, ray: &SlabRay, before: [f32; 3], after: [f32; 3], limit: f32) -> Distances {
    let mut near = [0.0; WIDTH];
    let mut far = [f32::INFINITY; WIDTH];
    for axis in 0..3 {
        let (origin, inverse) = (ray.origin[axis], ray.inverse[axis]);
        let is_back = inverse < 0.0;
        // Written so that the compiler leaves out the widths of a ray, which are 0.
        let after = 0.0 - after[axis];
        let (first, enter_by) =
            if is_back { (&node.max[axis], after) } else { (&node.min[axis], before[axis]) };
        let (last, exit_by) =
            if is_back { (&node.min[axis], before[axis]) } else { (&node.max[axis], after) };
        for k in 0..WIDTH {
            let enter = (first[k] - origin - enter_by) * inverse;
            let exit = (last[k] - origin - exit_by) * inverse;
            near[k] = if enter > near[k] { enter } else { near[k] };
            far[k] = if exit < far[k] { exit } else { far[k] };
        }
    }
    let near = near.map(|near| near * (1.0 - SLACK));
    Distances::new(near, far.map(|far| far * (1.0 + SLACK)), limit)
}

/// A box that moves along a line: a ray from its middle, against boxes that are wider by its half extents (their Minkowski difference).
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlabBox {
    ray: SlabRay,
    /// From the middle to the greatest corner, rounded up.
    above: [f32; 3],
    /// From the least corner to the middle, rounded up.
    below: [f32; 3],
}

impl SlabBox {
    #[inline(always)]
    pub(crate) fn new(aabb: &Aabb, direction: [f64; 3], length: f64) -> Self {
        let origin = [0, 1, 2].map(|k| 0.5 * aabb.min[k] + 0.5 * aabb.max[k]);
        // A bound less the middle and less an extent is off by a rounding of itself and by one of the extent.
        let up = |x: f32| x.max(0.0) * (1.0 + SLACK);
        Self {
            ray: SlabRay::new(origin, direction, length),
            above: [0, 1, 2].map(|k| up(aabb.max[k] - origin[k])),
            below: [0, 1, 2].map(|k| up(origin[k] - aabb.min[k])),
        }
    }
}

impl Probe for SlabBox {
    #[inline(always)]
    fn distances(&self, node: &Node, limit: f32) -> Distances {
        slabs(node, &self.ray, self.above, self.below, limit)
    }
}

/// A point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxPoint(pub(crate) [f32; 3]);

impl Probe for BoxPoint {
    #[inline(always)]
    fn distances(&self, node: &Node, limit: f32) -> Distances {
        let mut squared = [0.0; WIDTH];
        for axis in 0..3 {
            let x = self.0[axis];
            for k in 0..WIDTH {
                let below = node.min[axis][k] - x;
                let above = x - node.max[axis][k];
                let off = if below > above { below } else { above };
                let off = if off > 0.0 { off } else { 0.0 };
                squared[k] += off * off;
            }
        }
        Distances::new(squared.map(|squared| squared.sqrt() * (1.0 - SLACK)), ANYWHERE, limit)
    }
}

/// A box. Its distance from boxes that it meets is 0, and above 0 from all others that f32 can tell from them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearBox(pub(crate) Aabb);

impl Probe for NearBox {
    #[inline(always)]
    fn distances(&self, node: &Node, limit: f32) -> Distances {
        let mut squared = [0.0; WIDTH];
        for axis in 0..3 {
            let (min, max) = (self.0.min[axis], self.0.max[axis]);
            for k in 0..WIDTH {
                let below = node.min[axis][k] - max;
                let above = min - node.max[axis][k];
                let off = if below > above { below } else { above };
                let off = if off > 0.0 { off } else { 0.0 };
                squared[k] += off * off;
            }
        }
        Distances::new(squared.map(|squared| squared.sqrt() * (1.0 - SLACK)), ANYWHERE, limit)
    }
}

/// A half-space.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NearPlane(pub(crate) Aabb);

impl Probe for NearPlane {
    /// The height of the corner that lies deepest, less the padding of [`Aabb::reaches`].
    #[inline(always)]
    fn distances(&self, node: &Node, limit: f32) -> Distances {
        let normal = [self.0.min[1], self.0.min[2], self.0.max[1]];
        let mut height = [-self.0.max[2]; WIDTH];
        let mut is_empty = [false; WIDTH];
        for axis in 0..3 {
            let n = normal[axis];
            let corner = if n > 0.0 { &node.min[axis] } else { &node.max[axis] };
            for k in 0..WIDTH {
                height[k] += n * corner[k] - 2.0 * PAD_PLANE * corner[k].abs();
                is_empty[k] |= node.min[axis][k] > node.max[axis][k];
            }
        }
        for k in 0..WIDTH {
            // An infinity less another one is NaN: lanes without a box are told apart.
            let above = if height[k] > 0.0 { height[k] * (1.0 - SLACK) } else { 0.0 };
            height[k] = if is_empty[k] { f32::INFINITY } else { above };
        }
        Distances::new(height, ANYWHERE, limit)
    }
}

/// A number between two f32: a coordinate that f32 may not hold, and f64 rounded.
#[derive(Debug, Clone, Copy)]
struct Between {
    low: f32,
    high: f32,
}

impl Between {
    #[inline(always)]
    fn new(x: f64) -> Self {
        // Twice what a difference is rounded by.
        let slack = f64::EPSILON * x.abs();
        let (low, high) = ((x - slack) as f32, (x + slack) as f32);
        Self {
            low: if f64::from(low) > x - slack { low.next_down() } else { low },
            high: if f64::from(high) < x + slack { high.next_up() } else { high },
        }
    }
}

/// A [`SlabRay`] whose start f32 may not hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FarSlabRay {
    origin: [Between; 3],
    inverse: [f32; 3],
}

impl FarSlabRay {
    #[inline(always)]
    pub(crate) fn new(origin: [f64; 3], direction: [f64; 3], length: f64) -> Self {
        let SlabRay { inverse, .. } = SlabRay::new([0.0; 3], direction, length);
        Self { origin: origin.map(Between::new), inverse }
    }
}

impl Probe for FarSlabRay {
    /// As for a [`SlabRay`], with the start on whichever side lets the ray enter earlier and leave later.
    #[inline(always)]
    fn distances(&self, node: &Node, limit: f32) -> Distances {
        let mut near = [0.0; WIDTH];
        let mut far = [f32::INFINITY; WIDTH];
        for axis in 0..3 {
            let (Between { low, high }, inverse) = (self.origin[axis], self.inverse[axis]);
            let is_back = inverse < 0.0;
            let (first, ahead) = if is_back { (&node.max[axis], low) } else { (&node.min[axis], high) };
            let (last, behind) = if is_back { (&node.min[axis], high) } else { (&node.max[axis], low) };
            for k in 0..WIDTH {
                let enter = (first[k] - ahead) * inverse;
                let exit = (last[k] - behind) * inverse;
                near[k] = if enter > near[k] { enter } else { near[k] };
                far[k] = if exit < far[k] { exit } else { far[k] };
            }
        }
        let near = near.map(|near| near * (1.0 - SLACK));
        Distances::new(near, far.map(|far| far * (1.0 + SLACK)), limit)
    }
}

/// A point whose coordinates f32 may not hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FarBoxPoint([Between; 3]);

impl FarBoxPoint {
    #[inline(always)]
    pub(crate) fn new(point: [f64; 3]) -> Self {
        Self(point.map(Between::new))
    }
}

impl Probe for FarBoxPoint {
    #[inline(always)]
    fn distances(&self, node: &Node, limit: f32) -> Distances {
        let mut squared = [0.0; WIDTH];
        for axis in 0..3 {
            let Between { low, high } = self.0[axis];
            for k in 0..WIDTH {
                let below = node.min[axis][k] - high;
                let above = low - node.max[axis][k];
                let off = if below > above { below } else { above };
                let off = if off > 0.0 { off } else { 0.0 };
                squared[k] += off * off;
            }
        }
        Distances::new(squared.map(|squared| squared.sqrt() * (1.0 - SLACK)), ANYWHERE, limit)
    }
}

impl Tree {
    /// Visits the bodies whose boxes are within the visitor's limit, nearer boxes mostly first: all bodies, or only those in some places of the
    /// tree's order, a world's.
    #[inline(always)]
    pub(crate) fn near_first(
        &self,
        probe: &impl Probe,
        places: Option<Range<usize>>,
        visitor: &mut impl BodyVisit,
    ) {
        if self.order.is_empty() || places.as_ref().is_some_and(Range::is_empty) {
            return;
        }
        // Depth first: at most WIDTH - 1 of each level stay on the stack. It is two lists, because an array of tuples is cleared one number at
        // a time, which took a tenth of a ray's walk.
        let mut stack = [0_u64; WIDTH * LEVELS];
        let mut stack_levels = [0_u8; WIDTH * LEVELS];
        let mut depth = 1;
        stack_levels[0] = self.levels.len() as u8 - 1;
        if let Some(places) = &places {
            // The walk begins with the nodes of the lowest level on which few hold all places.
            let (first, last) = (places.start / WIDTH, (places.end - 1) / WIDTH);
            let mut level = 0;
            while (last >> (3 * level)) - (first >> (3 * level)) >= WIDTH {
                level += 1;
            }
            depth = 0;
            for index in (first >> (3 * level)..=last >> (3 * level)).rev() {
                stack[depth] = index as u64;
                stack_levels[depth] = level as u8;
                depth += 1;
            }
        }
        while depth > 0 {
            depth -= 1;
            let (level, index) = (stack_levels[depth], stack[depth] as u32);
            let near = f32::from_bits((stack[depth] >> 32) as u32);
            let limit = visitor.limit();
            if near > limit {
                continue;
            }
            let Distances { near, mut met } =
                probe.distances(&self.levels[usize::from(level)][index as usize], limit);
            if let Some(places) = &places {
                met &= lanes_within(usize::from(level), index as usize, places);
            }
            // Distances are 0 or more, so their bits are in the same order. The lane decides between equal ones.
            let mut keys = [0u64; WIDTH];
            let mut count = 0;
            while met != 0 {
                let lane = met.trailing_zeros() as usize % WIDTH;
                met &= met - 1;
                let key = u64::from(near[lane].to_bits()) << 8 | lane as u64;
                let mut hole = count;
                while hole > 0 && keys[hole - 1] < key {
                    keys[hole] = keys[hole - 1];
                    hole -= 1;
                }
                keys[hole] = key;
                count += 1;
            }
            let first = index as usize * WIDTH;
            if level == 0 {
                for &key in keys[..count].iter().rev() {
                    if f32::from_bits((key >> 8) as u32) <= visitor.limit() {
                        // A half-space has a lane of its leaf, and no box.
                        if let Some(&body) = self.order.get(first + (key & 0xff) as usize) {
                            visitor.body(body);
                        }
                    }
                }
                continue;
            }
            for &key in &keys[..count] {
                let (near, lane) = (key >> 8, key & 0xff);
                stack[depth] = near << 32 | (first as u64 + lane);
                stack_levels[depth] = level - 1;
                depth += 1;
            }
        }
    }
}

/// Bit `k` is set where lane `k` of a node holds any of some places.
#[inline(always)]
pub(super) fn lanes_within(level: usize, index: usize, places: &Range<usize>) -> u32 {
    let begin = index * WIDTH;
    let (first, last) = (places.start >> (3 * level), (places.end - 1) >> (3 * level));
    let from = first.saturating_sub(begin).min(WIDTH);
    let to = (last + 1).saturating_sub(begin).min(WIDTH);
    (0xff << from) & !(u32::MAX << to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::bvh::aabb::Aabb;

    struct Random(u64);

    impl Random {
        fn unit(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1u64 << 53) as f64
        }

        fn signed(&mut self) -> f64 {
            2.0 * self.unit() - 1.0
        }
    }

    #[derive(Default)]
    struct All(Vec<u32>);

    impl BodyVisit for All {
        fn limit(&self) -> f32 {
            f32::INFINITY
        }

        fn body(&mut self, body: u32) {
            self.0.push(body);
        }
    }

    fn boxes(random: &mut Random, count: usize, flat: bool) -> Vec<Aabb> {
        (0..count)
            .map(|i| {
                let middle = [0; 3].map(|_| 10.0 * random.signed());
                let half = [0; 3].map(|_| 0.3 * random.unit());
                let min = [0, 1, 2].map(|k| (middle[k] - half[k]) as f32);
                let mut max = [0, 1, 2].map(|k| (middle[k] + half[k]) as f32);
                if flat {
                    max[i % 3] = min[i % 3];
                }
                Aabb::new(min, max)
            })
            .collect()
    }

    /// Whether the ray meets the box, in f64; `None` where that is too close to say.
    fn meets(aabb: &Aabb, origin: [f32; 3], direction: [f64; 3]) -> Option<bool> {
        let (mut enter, mut exit) = (0.0_f64, f64::INFINITY);
        for k in 0..3 {
            let [min, max, o] = [aabb.min[k], aabb.max[k], origin[k]].map(f64::from);
            if direction[k] == 0.0 {
                if o < min || o > max {
                    return Some(false);
                }
                continue;
            }
            let [a, b] = [(min - o) / direction[k], (max - o) / direction[k]];
            enter = enter.max(a.min(b));
            exit = exit.min(a.max(b));
        }
        let close = 1e-5 * enter.abs().max(1e-30);
        if (exit - enter).abs() <= close && exit.is_finite() { None } else { Some(enter <= exit) }
    }

    #[test]
    fn every_box_that_a_ray_meets_is_visited() {
        let mut random = Random(5);
        for (count, flat) in [(1, false), (8, false), (9, true), (700, false), (700, true)] {
            let boxes = boxes(&mut random, count, flat);
            let mut tree = Tree::default();
            tree.rebuild(&boxes);
            let (mut met, mut visited) = (0, 0);
            for i in 0..400 {
                let far = [1.0, 1e6, 10.0][i % 3];
                let mut origin = [0; 3].map(|_| (far * random.signed()) as f32);
                // Some aim at a corner, some lie in the plane of a side, some are all but parallel to an axis.
                let mut direction = [0, 1, 2].map(|k| {
                    let aim = if i % 2 == 0 { boxes[i % count].min[k] } else { boxes[i % count].max[k] };
                    f64::from(aim - origin[k])
                });
                if i % 5 == 0 {
                    direction[i % 3] = 0.0;
                    origin[i % 3] = boxes[i % count].min[i % 3];
                }
                if i % 7 == 0 {
                    direction[(i + 1) % 3] = [1e-45, 1e-31, 1e-25][i % 3];
                }
                let direction = direction.map(|x| f64::from(x as f32));
                let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length == 0.0 {
                    continue;
                }
                let mut all = All::default();
                tree.near_first(&SlabRay::new(origin, direction, length), None, &mut all);
                for (body, aabb) in (0..).zip(&boxes) {
                    if meets(aabb, origin, direction) == Some(true) {
                        assert!(all.0.contains(&body), "{origin:?} {direction:?} misses {aabb:?}");
                        met += 1;
                    }
                }
                visited += all.0.len();
            }
            // A walk that visits all boxes would pass the above.
            assert!(met > 0 && visited < 400 * count / 4 + 4 * met + 400, "{met} {visited} of {count}");
        }
    }

    #[test]
    fn every_box_that_a_moving_box_meets_is_visited() {
        let mut random = Random(7);
        for (count, flat, far) in [(1, false, 1.0), (9, true, 10.0), (700, false, 10.0), (700, true, 1e6)] {
            let boxes = boxes(&mut random, count, flat);
            let mut tree = Tree::default();
            tree.rebuild(&boxes);
            let (mut met, mut visited) = (0, 0);
            for i in 0..400 {
                let target = &boxes[i % count];
                let half = [0; 3].map(|_| random.unit() * 0.5);
                let middle = [0; 3].map(|_| far * random.signed());
                let corner = |sign: f64| [0, 1, 2].map(|k| (middle[k] + sign * half[k]) as f32);
                let mut moving = Aabb::new(corner(-1.0), corner(1.0));
                // Some aim at a corner, and some slide along a side.
                let mut direction = [0, 1, 2].map(|k| f64::from(target.min[k]) - middle[k]);
                if i % 3 == 0 {
                    let k = i % 3;
                    let width = moving.max[k] - moving.min[k];
                    (moving.min[k], moving.max[k]) = (target.max[k], target.max[k] + width);
                    direction[k] = 0.0;
                }
                let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
                if length == 0.0 {
                    continue;
                }
                let mut all = All::default();
                tree.near_first(&SlabBox::new(&moving, direction, length), None, &mut all);
                for (body, aabb) in (0..).zip(&boxes) {
                    // The ray of the least corner against the box of the differences, in f64.
                    let (mut enter, mut exit, mut is_apart) = (0.0_f64, f64::INFINITY, false);
                    for k in 0..3 {
                        let [min, max, low, high] =
                            [aabb.min[k], aabb.max[k], moving.min[k], moving.max[k]].map(f64::from);
                        let (first, last) = (min - high, max - low);
                        if direction[k] == 0.0 {
                            is_apart |= first > 0.0 || last < 0.0;
                            continue;
                        }
                        let [a, b] = [first / direction[k], last / direction[k]];
                        (enter, exit) = (enter.max(a.min(b)), exit.min(a.max(b)));
                    }
                    if !is_apart && enter <= exit {
                        assert!(all.0.contains(&body), "{moving:?} {direction:?} misses {aabb:?}");
                        met += 1;
                    }
                }
                visited += all.0.len();
            }
            assert!(met > 0 && visited < 400 * count / 4 + 4 * met + 400, "{met} {visited} of {count}");
        }
    }

    #[test]
    fn a_box_and_a_half_space_are_near_what_they_reach() {
        struct Within(f32, Vec<u32>);
        impl BodyVisit for Within {
            fn limit(&self) -> f32 {
                self.0
            }
            fn body(&mut self, body: u32) {
                self.1.push(body);
            }
        }
        let mut random = Random(8);
        for count in [1, 8, 9, 700] {
            let boxes = boxes(&mut random, count, false);
            let mut tree = Tree::default();
            tree.rebuild(&boxes);
            let mut visited = [0; 2];
            for i in 0..100 {
                let limit = [0.0, 0.5, 3.0][i % 3];
                let low = [0; 3].map(|_| (10.0 * random.signed()) as f32);
                let asked = Aabb::new(low, low.map(|x| x + 0.4));
                let mut near = Within(limit, Vec::new());
                tree.near_first(&NearBox(asked), None, &mut near);
                let normal = [0; 3].map(|_| random.signed());
                let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
                let normal = normal.map(|x| (x / length) as f32);
                let offset = (5.0 * random.signed()) as f32;
                let plane = Aabb {
                    min: [f32::MAX, normal[0], normal[1]],
                    max: [-f32::MAX, normal[2], offset],
                    ..asked
                };
                let mut below = Within(limit, Vec::new());
                tree.near_first(&NearPlane(plane), None, &mut below);
                for (body, aabb) in (0..).zip(&boxes) {
                    let gap = |k: usize| {
                        f64::from(aabb.min[k] - asked.max[k])
                            .max(f64::from(asked.min[k] - aabb.max[k]))
                            .max(0.0)
                    };
                    let apart = (gap(0).powi(2) + gap(1).powi(2) + gap(2).powi(2)).sqrt();
                    let height: f64 = (0..3)
                        .map(|k| {
                            let corner = if normal[k] > 0.0 { aabb.min[k] } else { aabb.max[k] };
                            f64::from(normal[k]) * f64::from(corner)
                        })
                        .sum::<f64>()
                        - f64::from(offset);
                    assert!(apart > f64::from(limit) || near.1.contains(&body), "{asked:?} {aabb:?}");
                    assert!(height > f64::from(limit) || below.1.contains(&body), "{plane:?} {aabb:?}");
                    // The bounds are sharp: what is clearly farther is not visited.
                    let far = f64::from(limit) + 1e-3;
                    assert!(apart < far || !near.1.contains(&body), "{asked:?} {aabb:?}");
                    assert!(height < far || !below.1.contains(&body), "{plane:?} {aabb:?}");
                }
                visited[0] += near.1.len();
                visited[1] += below.1.len();
            }
            assert!(count < 700 || visited.iter().all(|&count| count > 100), "{visited:?}");
        }
    }

    /// Places of any length, within one leaf and across levels: as the whole walk, less all other places.
    #[test]
    fn a_walk_within_some_places_visits_no_others() {
        let mut random = Random(9);
        for count in [1, 8, 9, 65, 700, 5_000] {
            let boxes = boxes(&mut random, count, false);
            let mut tree = Tree::default();
            tree.rebuild(&boxes);
            let probe = BoxPoint([0.0; 3]);
            let mut visited = 0;
            for i in 0..60 {
                let begin = (random.unit() * (count + 1) as f64) as usize;
                let most = [3, 20, count][i % 3].min(count - begin);
                let places = begin..begin + (random.unit() * (most + 1) as f64) as usize;
                let mut found = All::default();
                tree.near_first(&probe, Some(places.clone()), &mut found);
                let mut expected = tree.order[places].to_vec();
                expected.sort_unstable();
                found.0.sort_unstable();
                assert_eq!(found.0, expected);
                visited += expected.len();
            }
            assert!(visited > 0);
        }
    }

    #[test]
    fn a_point_sees_the_nearest_box_first() {
        struct Nearest<'a>(&'a [Aabb], [f32; 3], f32, usize);
        impl BodyVisit for Nearest<'_> {
            fn limit(&self) -> f32 {
                self.2
            }
            fn body(&mut self, body: u32) {
                self.2 = self.2.min(off(&self.0[body as usize], self.1));
                self.3 += 1;
            }
        }
        fn off(aabb: &Aabb, point: [f32; 3]) -> f32 {
            let squared = |k: usize| {
                let off = (aabb.min[k] - point[k]).max(point[k] - aabb.max[k]).max(0.0);
                off * off
            };
            (squared(0) + squared(1) + squared(2)).sqrt()
        }
        let mut random = Random(6);
        let boxes = boxes(&mut random, 900, false);
        let mut tree = Tree::default();
        tree.rebuild(&boxes);
        let mut visited = 0;
        for _ in 0..300 {
            let point = [0; 3].map(|_| (15.0 * random.signed()) as f32);
            let mut nearest = Nearest(&boxes, point, f32::INFINITY, 0);
            tree.near_first(&BoxPoint(point), None, &mut nearest);
            let truth = boxes.iter().map(|aabb| off(aabb, point)).fold(f32::INFINITY, f32::min);
            assert_eq!(nearest.2, truth);
            visited += nearest.3;
        }
        assert!(visited < 300 * 20, "{visited}");
    }
}
