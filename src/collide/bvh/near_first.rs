//! A walk of the tree from near to far: for rays and for points.

use crate::collide::bvh::tree::{LEVELS, Node, Tree, WIDTH};

/// Above the share by which an f32 distance along a ray or from a point is off: three roundings for a ray, five for a point.
const SLACK: f32 = 1e-6;

/// Something that boxes are near to or far from.
pub(crate) trait Probe {
    /// Lower bounds of the distances of eight boxes, 0 or more. Infinity where a box is missed.
    fn distances(&self, node: &Node) -> [f32; WIDTH];
}

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
    /// The slab test (Kay and Kajiya 1986), made conservative as by Ize (2013).
    ///
    /// A difference, the inverse and a product are off by a rounding each, so each bound by a share of less than 4 · 2^-24, and its sign is
    /// right. A ray that lies in the plane of a side gives 0 · ∞. NaN fails the comparisons, so such a bound is left out.
    #[inline(always)]
    fn distances(&self, node: &Node) -> [f32; WIDTH] {
        let mut near = [0.0; WIDTH];
        let mut far = [f32::INFINITY; WIDTH];
        for axis in 0..3 {
            let (origin, inverse) = (self.origin[axis], self.inverse[axis]);
            let is_back = inverse < 0.0;
            let first = if is_back { &node.max[axis] } else { &node.min[axis] };
            let last = if is_back { &node.min[axis] } else { &node.max[axis] };
            for k in 0..WIDTH {
                let enter = (first[k] - origin) * inverse;
                let exit = (last[k] - origin) * inverse;
                near[k] = if enter > near[k] { enter } else { near[k] };
                far[k] = if exit < far[k] { exit } else { far[k] };
            }
        }
        for k in 0..WIDTH {
            let is_met = near[k] * (1.0 - SLACK) <= far[k] * (1.0 + SLACK);
            near[k] = if is_met { near[k] * (1.0 - SLACK) } else { f32::INFINITY };
        }
        near
    }
}

/// A point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoxPoint(pub(crate) [f32; 3]);

impl Probe for BoxPoint {
    #[inline(always)]
    fn distances(&self, node: &Node) -> [f32; WIDTH] {
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
        squared.map(|squared| squared.sqrt() * (1.0 - SLACK))
    }
}

/// A number between two f32: a coordinate that f32 may not hold.
#[derive(Debug, Clone, Copy)]
struct Between {
    low: f32,
    high: f32,
}

impl Between {
    #[inline(always)]
    fn new(x: f64) -> Self {
        let rounded = x as f32;
        match f64::from(rounded) {
            same if same == x => Self { low: rounded, high: rounded },
            less if less < x => Self { low: rounded, high: rounded.next_up() },
            _ => Self { low: rounded.next_down(), high: rounded },
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
    fn distances(&self, node: &Node) -> [f32; WIDTH] {
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
        for k in 0..WIDTH {
            let is_met = near[k] * (1.0 - SLACK) <= far[k] * (1.0 + SLACK);
            near[k] = if is_met { near[k] * (1.0 - SLACK) } else { f32::INFINITY };
        }
        near
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
    fn distances(&self, node: &Node) -> [f32; WIDTH] {
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
        squared.map(|squared| squared.sqrt() * (1.0 - SLACK))
    }
}

impl Tree {
    /// Visits the bodies whose boxes are within the visitor's limit, nearer boxes mostly first.
    #[inline(always)]
    pub(crate) fn near_first(&self, probe: &impl Probe, visitor: &mut impl BodyVisit) {
        if self.order.is_empty() {
            return;
        }
        // Depth first: at most WIDTH - 1 of each level stay on the stack.
        let mut stack = [(0.0_f32, 0u8, 0u32); WIDTH * LEVELS];
        let mut depth = 1;
        stack[0] = (0.0, self.levels.len() as u8 - 1, 0);
        while depth > 0 {
            depth -= 1;
            let (near, level, index) = stack[depth];
            let limit = visitor.limit();
            if near > limit {
                continue;
            }
            let distances = probe.distances(&self.levels[usize::from(level)][index as usize]);
            // Distances are 0 or more, so their bits are in the same order. The lane decides between equal ones.
            let mut keys = [0u64; WIDTH];
            let mut count = 0;
            for (lane, distance) in distances.into_iter().enumerate() {
                if distance <= limit && distance < f32::INFINITY {
                    let key = u64::from(distance.to_bits()) << 8 | lane as u64;
                    let mut hole = count;
                    while hole > 0 && keys[hole - 1] < key {
                        keys[hole] = keys[hole - 1];
                        hole -= 1;
                    }
                    keys[hole] = key;
                    count += 1;
                }
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
                let (near, lane) = (f32::from_bits((key >> 8) as u32), (key & 0xff) as u32);
                stack[depth] = (near, level - 1, first as u32 + lane);
                depth += 1;
            }
        }
    }
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
            tree.rebuild(&boxes, &[]);
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
                tree.near_first(&SlabRay::new(origin, direction, length), &mut all);
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
        tree.rebuild(&boxes, &[]);
        let mut visited = 0;
        for _ in 0..300 {
            let point = [0; 3].map(|_| (15.0 * random.signed()) as f32);
            let mut nearest = Nearest(&boxes, point, f32::INFINITY, 0);
            tree.near_first(&BoxPoint(point), &mut nearest);
            let truth = boxes.iter().map(|aabb| off(aabb, point)).fold(f32::INFINITY, f32::min);
            assert_eq!(nearest.2, truth);
            visited += nearest.3;
        }
        assert!(visited < 300 * 20, "{visited}");
    }
}
