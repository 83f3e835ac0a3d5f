//! The nearest triangle of a point: a tree of boxes over the triangles in Morton order.

use std::ops::ControlFlow;

use glam::DVec3;

use crate::navigate::surface::mesh::topology::Mesh;

/// The number of children of a node, and of triangles of a leaf.
const BRANCHING: usize = 4;

/// A triangle is slender if the square of its height over its longest side is roughly below this.
const SLENDER: f64 = 1e-2;

/// An implicit 4-ary tree of boxes: leaves are runs of the Morton order, and each level groups the one below.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    order: Vec<u32>,
    /// The boxes of all levels, the leaves' first.
    boxes: Vec<[DVec3; 2]>,
    /// Where each level begins in `boxes`, and where the last ends.
    levels: Vec<usize>,
}

/// The nearest point of a triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) triangle: u32,
    pub(crate) point: DVec3,
    pub(crate) distance_squared: f64,
}

impl Tree {
    pub(crate) fn new(mesh: &Mesh) -> Self {
        let (low, high) = bounding_box(mesh.points.iter().map(|&point| [point; 2]));
        let scale =
            (high - low).to_array().map(|length| if length > 0.0 { 2_097_151.0 / length } else { 0.0 });
        let key = |triangle: u32| {
            let [a, b, c] = mesh.corners(triangle);
            let place = ((a + b + c) / 3.0 - low) * DVec3::from(scale);
            place.to_array().iter().rev().fold(0, |key, &at| key << 1 | interleave_bits(at as u64))
        };
        let mut keyed: Vec<(u64, u32)> =
            (0..mesh.triangle_count() as u32).map(|triangle| (key(triangle), triangle)).collect();
        keyed.sort_unstable();
        let order: Vec<u32> = keyed.into_iter().map(|(_, triangle)| triangle).collect();
        let leaf = |run: &[u32]| {
            let points = run.iter().flat_map(|&triangle| mesh.corners(triangle));
            <[DVec3; 2]>::from(bounding_box(points.map(|point| [point; 2])))
        };
        let mut box_count = order.len().div_ceil(BRANCHING);
        let mut total = box_count;
        while box_count > 1 {
            box_count = box_count.div_ceil(BRANCHING);
            total += box_count;
        }
        let mut boxes: Vec<[DVec3; 2]> = Vec::with_capacity(total);
        boxes.extend(order.chunks(BRANCHING).map(leaf));
        let mut levels = vec![0, boxes.len()];
        while let [.., from, to] = levels[..] {
            if to - from <= 1 {
                break;
            }
            for first in (from..to).step_by(BRANCHING) {
                let joined = bounding_box(boxes[first..to.min(first + BRANCHING)].iter().copied());
                boxes.push(joined.into());
            }
            levels.push(boxes.len());
        }
        Self { order, boxes, levels }
    }

    /// The nearest point of the allowed triangles that is no further than `reach`. Of equally near points, that of the lowest triangle.
    pub(crate) fn nearest(
        &self,
        mesh: &Mesh,
        point: DVec3,
        reach: f64,
        is_allowed: &dyn Fn(u32) -> bool,
    ) -> Option<Nearest> {
        let mut best: Option<Nearest> = None;
        let mut least = reach * reach;
        let top = self.levels.len() - 2;
        let root_count = self.levels[top + 1] - self.levels[top];
        // Level, node, and the squared distance to its box.
        let mut stack: Vec<(usize, usize, f64)> = (0..root_count)
            .map(|node| (top, node, distance_squared_to_box(&self.boxes[self.levels[top] + node], point)))
            .collect();
        while let Some((level, node, box_distance)) = stack.pop() {
            if box_distance > least {
                continue;
            }
            let children = node * BRANCHING..(node + 1) * BRANCHING;
            if level == 0 {
                for &triangle in &self.order[children.start..children.end.min(self.order.len())] {
                    if !is_allowed(triangle) {
                        continue;
                    }
                    let on = nearest_on_triangle(mesh.corners(triangle), point);
                    let distance_squared = on.distance_squared(point);
                    let is_first = best.is_none_or(|best| triangle < best.triangle);
                    if distance_squared < least || (distance_squared == least && is_first) {
                        least = distance_squared;
                        best = Some(Nearest { triangle, point: on, distance_squared });
                    }
                }
                continue;
            }
            let below = self.levels[level - 1];
            let count = self.levels[level] - below;
            let begin = stack.len();
            for child in children.start..children.end.min(count) {
                let box_distance = distance_squared_to_box(&self.boxes[below + child], point);
                if box_distance <= least {
                    stack.push((level - 1, child, box_distance));
                }
            }
            // The nearest child last, so that it is popped first.
            stack[begin..].sort_by(|a, b| b.2.total_cmp(&a.2));
        }
        best
    }

    /// The allowed triangles within `reach` of a point, ascending.
    pub(crate) fn within(
        &self,
        mesh: &Mesh,
        point: DVec3,
        reach: f64,
        is_allowed: &dyn Fn(u32) -> bool,
        found: &mut Vec<u32>,
    ) {
        found.clear();
        self.visit_near(point, reach, &mut |triangle| {
            let nearest = || nearest_on_triangle(mesh.corners(triangle), point);
            if is_allowed(triangle) && nearest().distance_squared(point) <= reach * reach {
                found.push(triangle);
            }
            ControlFlow::Continue(())
        });
        found.sort_unstable();
    }

    /// Calls `visit` with each triangle near a point, in a fixed order, until it breaks. Near means that the box of the leaf is within `reach`.
    /// A leaf holds a few triangles, so some are farther away.
    pub(crate) fn visit_near(&self, point: DVec3, reach: f64, visit: &mut dyn FnMut(u32) -> ControlFlow<()>) {
        // A point on the border of a box may be off it by rounding.
        let reach = reach * reach * (1.0 + 1e-9);
        let top = self.levels.len() - 2;
        let mut stack: Vec<(usize, usize)> =
            (0..self.levels[top + 1] - self.levels[top]).map(|node| (top, node)).collect();
        while let Some((level, node)) = stack.pop() {
            if distance_squared_to_box(&self.boxes[self.levels[level] + node], point) > reach {
                continue;
            }
            let children = node * BRANCHING..(node + 1) * BRANCHING;
            if level > 0 {
                let count = self.levels[level] - self.levels[level - 1];
                stack.extend((children.start..children.end.min(count)).map(|child| (level - 1, child)));
                continue;
            }
            for &triangle in &self.order[children.start..children.end.min(self.order.len())] {
                if visit(triangle).is_break() {
                    return;
                }
            }
        }
    }

    /// The box of all triangles.
    pub(crate) fn bounds(&self) -> [DVec3; 2] {
        self.boxes.last().copied().unwrap_or([DVec3::ZERO; 2])
    }
}

/// The box of boxes.
fn bounding_box(boxes: impl Iterator<Item = [DVec3; 2]>) -> (DVec3, DVec3) {
    let none = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    boxes.fold(none, |(low, high), [a, b]| (low.min(a), high.max(b)))
}

/// The squared distance of a point from a box.
fn distance_squared_to_box([low, high]: &[DVec3; 2], point: DVec3) -> f64 {
    (*low - point).max(point - *high).max(DVec3::ZERO).length_squared()
}

/// Puts two zeros between each of the lowest 21 bits and the next (Morton code).
fn interleave_bits(value: u64) -> u64 {
    let value = value & 0x1f_ffff;
    let value = (value | value << 32) & 0x001f_0000_0000_ffff;
    let value = (value | value << 16) & 0x001f_0000_ff00_00ff;
    let value = (value | value << 8) & 0x100f_00f0_0f00_f00f;
    let value = (value | value << 4) & 0x10c3_0c30_c30c_30c3;
    (value | value << 2) & 0x1249_2492_4924_9249
}

/// The point of a triangle nearest to another (Ericson 2005, Real-Time Collision Detection, §5.1.5).
pub(crate) fn nearest_on_triangle([a, b, c]: [DVec3; 3], point: DVec3) -> DVec3 {
    let (ab, ac) = (b - a, c - a);
    let longest = ab.length_squared().max(ac.length_squared());
    if ab.cross(ac).length_squared() < SLENDER * longest * longest {
        return nearest_on_slender_triangle([a, b, c], point);
    }
    let from_a = point - a;
    let (d1, d2) = (ab.dot(from_a), ac.dot(from_a));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let from_b = point - b;
    let (d3, d4) = (ab.dot(from_b), ac.dot(from_b));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let across_c = d1 * d4 - d3 * d2;
    if across_c <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        return a + ab * (d1 / (d1 - d3));
    }
    let from_c = point - c;
    let (d5, d6) = (ab.dot(from_c), ac.dot(from_c));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let across_b = d5 * d2 - d1 * d6;
    if across_b <= 0.0 && d2 >= 0.0 && d6 <= 0.0 && d2 > d6 {
        return a + ac * (d2 / (d2 - d6));
    }
    let across_a = d3 * d6 - d5 * d4;
    let (to_c, to_b) = (d4 - d3, d5 - d6);
    if across_a <= 0.0 && to_c >= 0.0 && to_b >= 0.0 && to_c + to_b > 0.0 {
        return b + (c - b) * (to_c / (to_c + to_b));
    }
    let sum = across_a + across_b + across_c;
    if sum > 0.0 { a + ab * (across_b / sum) + ac * (across_c / sum) } else { a }
}

/// The same for a slender triangle, whose barycentric coordinates would be inexact: in coordinates along its longest side and above it.
fn nearest_on_slender_triangle(corners: [DVec3; 3], point: DVec3) -> DVec3 {
    // A corner is itself, without rounding.
    if corners.contains(&point) {
        return point;
    }
    let side = |k: usize| [corners[k], corners[(k + 1) % 3]];
    let length_squared = |k: usize| side(k)[0].distance_squared(side(k)[1]);
    let long = (1..3).fold(0, |long, k| if length_squared(k) > length_squared(long) { k } else { long });
    let [from, to] = side(long);
    let (width, third, offset) = (to.distance(from), corners[(long + 2) % 3] - from, point - from);
    let along = (to - from) / width;
    // Orthogonalise twice: the first time leaves a rounding error, which is large compared with the height of a needle.
    let up = third - along * third.dot(along);
    let up = up - along * up.dot(along);
    let height = up.length();
    let up = up / height;
    let (x, y, far) = (offset.dot(along), offset.dot(up), third.dot(along));
    if y >= 0.0 && height * x >= far * y && height * (width - x) >= (width - far) * y {
        return from + along * x + up * y;
    }
    let on = |k: usize| {
        let [from, to] = side(k);
        let part = (point - from).dot(to - from) / length_squared(k);
        if part >= 1.0 { to } else { from + (to - from) * part.max(0.0) }
    };
    let nearer = |best: DVec3, k: usize| {
        let other = on(k);
        if other.distance_squared(point) < best.distance_squared(point) { other } else { best }
    };
    (1..3).fold(on(0), nearer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_points_of_a_triangle() {
        let triangle = [DVec3::ZERO, DVec3::new(4.0, 0.0, 0.0), DVec3::new(0.0, 4.0, 0.0)];
        for (point, expected) in [
            ([1.0, 1.0, 3.0], [1.0, 1.0, 0.0]),
            ([-1.0, -1.0, 1.0], [0.0, 0.0, 0.0]),
            ([2.0, -5.0, 0.0], [2.0, 0.0, 0.0]),
            ([9.0, -1.0, 0.0], [4.0, 0.0, 0.0]),
            ([4.0, 4.0, 1.0], [2.0, 2.0, 0.0]),
            ([-3.0, 1.0, 0.0], [0.0, 1.0, 0.0]),
            ([-3.0, 9.0, 0.0], [0.0, 4.0, 0.0]),
        ] {
            assert_eq!(nearest_on_triangle(triangle, point.into()), DVec3::from(expected), "{point:?}");
        }
    }

    /// Needles of any width, turned any way; points on them stay where they are, points off them come back.
    #[test]
    fn nearest_points_of_needles() {
        let turn = glam::DMat3::from_axis_angle(DVec3::new(0.36, 0.48, 0.8), 1.0);
        for height in [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 0.0] {
            for far in [0.0, 0.3, 1.0 - height, 1.0, -0.1] {
                let corners = [DVec3::ZERO, DVec3::X, DVec3::new(far, height, 0.0)].map(|at| turn * at);
                for i in 0..300 {
                    let (u, v) = (f64::from(i * 37 % 101) / 100.0, f64::from(i * 53 % 103) / 102.0);
                    let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
                    let within = DVec3::new(u + far * v, height * v, 0.0);
                    for turned in 0..3 {
                        let corners = [0, 1, 2].map(|k| corners[(k + turned) % 3]);
                        for (off, on) in [(0.0, within), (0.5, within), (-1e-5, within)] {
                            let found = nearest_on_triangle(corners, turn * (on + DVec3::Z * off));
                            let error = found.distance(turn * on);
                            // Corners are rounded, so the plane of a needle is not known better.
                            let lean = (1e-15 * f64::abs(off) / height).min(height);
                            assert!(error < 1e-14 + lean, "{height} {far} {within} {off}: {error}");
                        }
                        // Below the longest side.
                        let on = DVec3::X * within.x.clamp(0.0, 1.0);
                        if far >= 0.0 {
                            let found = nearest_on_triangle(corners, turn * (on - DVec3::Y * 0.1));
                            assert!(found.distance(turn * on) < 1e-14, "{height} {far} {on}: {found}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn bits_are_interleaved() {
        for bit in 0..21 {
            assert_eq!(interleave_bits(1 << bit), 1 << (3 * bit));
        }
        assert_eq!(interleave_bits(0x1f_ffff).count_ones(), 21);
    }
}
