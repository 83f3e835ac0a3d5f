//! Hulls with fewer vertices: the furthest points are kept, with the distance of the others from the smaller hull.

use std::collections::BinaryHeap;

use crate::collide::hull::predicate::{cross, dot, subtract, to_f64};
use crate::collide::hull::quickhull::HullBuilder;

/// Keeps the `limit` corners that come first when a solid is grown, of points that are all extreme.
///
/// Returns their indices, unordered, and the largest distance of another point from the hull of these.
pub(super) fn solid(points: &[[f32; 3]], start: [u32; 4], limit: usize) -> (Vec<u32>, f64) {
    let mut builder = HullBuilder::new(points, start);
    builder.grow(limit);
    let mut kept: Vec<u32> =
        builder.faces.iter().filter(|face| face.alive).flat_map(|face| face.corners).collect();
    kept.sort_unstable();
    kept.dedup();

    let mut worst = 0.0f64;
    let mut met = vec![u32::MAX; builder.faces.len()];
    let mut stack = Vec::new();
    for (first, face) in builder.faces.iter().enumerate().filter(|(_, face)| face.alive) {
        for &p in &face.outside {
            // The nearest point lies on a face that `p` sees, and these faces are connected.
            let point = to_f64(points[p as usize]);
            let mut nearest = f64::INFINITY;
            met[first] = p;
            stack.clear();
            stack.push(first);
            while let Some(f) = stack.pop() {
                let corners = builder.faces[f].corners.map(|i| to_f64(points[i as usize]));
                nearest = nearest.min(distance_to_triangle(point, corners));
                if nearest <= worst {
                    break;
                }
                for g in builder.faces[f].across {
                    if met[g as usize] != p && builder.sees(g, p) {
                        met[g as usize] = p;
                        stack.push(g as usize);
                    }
                }
            }
            worst = worst.max(nearest);
        }
    }
    (kept, worst)
}

/// A part of a polygon's outline of which only the ends are kept so far.
#[derive(Debug, PartialEq)]
struct OutlineSpan {
    distance: f64,
    from: usize,
    furthest: usize,
    to: usize,
}

impl Eq for OutlineSpan {}

impl PartialOrd for OutlineSpan {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OutlineSpan {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(other.from.cmp(&self.from))
    }
}

/// The same for a polygon, whose `outline` is in order around it.
///
/// A dropped corner lies outside only the edge that cuts it off, so its distance is that from this edge.
pub(super) fn polygon(outline: &[[f32; 3]], limit: usize) -> (Vec<u32>, f64) {
    let count = outline.len();
    let at = |i: usize| to_f64(outline[i % count]);
    let measure = |from: usize, to: usize| {
        let mut span = OutlineSpan { distance: f64::NEG_INFINITY, from, furthest: from, to };
        for i in from + 1..to {
            let distance = distance_to_segment(at(i), at(from), at(to));
            if distance > span.distance {
                (span.distance, span.furthest) = (distance, i);
            }
        }
        span
    };
    let far = measure(0, count).furthest;
    let mut kept = vec![0, far as u32];
    let mut queue: BinaryHeap<OutlineSpan> = [measure(0, far), measure(far, count)].into();
    while kept.len() < limit {
        let Some(OutlineSpan { from, furthest, to, .. }) =
            queue.pop().filter(|next| next.furthest != next.from)
        else {
            break;
        };
        kept.push(furthest as u32);
        queue.push(measure(from, furthest));
        queue.push(measure(furthest, to));
    }
    let worst = queue.peek().map_or(0.0, |next| next.distance.max(0.0));
    (kept, worst)
}

fn distance_to_segment(p: [f64; 3], a: [f64; 3], b: [f64; 3]) -> f64 {
    let (ab, ap) = (subtract(b, a), subtract(p, a));
    let length_squared = dot(ab, ab);
    let t = if length_squared > 0.0 { (dot(ap, ab) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    let rest = [0, 1, 2].map(|i| ap[i] - t * ab[i]);
    dot(rest, rest).sqrt()
}

/// Distance of a point from a triangle: from its plane where the foot is inside, otherwise from the nearest side.
fn distance_to_triangle(p: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> f64 {
    let normal = cross(subtract(b, a), subtract(c, a));
    let within = |a, b| dot(cross(normal, subtract(b, a)), subtract(p, a)) >= 0.0;
    let length = dot(normal, normal).sqrt();
    if length > 0.0 && within(a, b) && within(b, c) && within(c, a) {
        return dot(normal, subtract(p, a)).abs() / length;
    }
    distance_to_segment(p, a, b).min(distance_to_segment(p, b, c)).min(distance_to_segment(p, c, a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let triangle = [[0.0; 3], [2.0, 0.0, 0.0], [0.0, 2.0, 0.0]];
        assert_eq!(distance_to_triangle([0.5, 0.5, 3.0], triangle), 3.0);
        assert_eq!(distance_to_triangle([1.0, -4.0, 3.0], triangle), 5.0);
        assert_eq!(distance_to_triangle([5.0, 0.0, -4.0], triangle), 5.0);
        assert_eq!(distance_to_segment([3.0, 4.0, 0.0], [0.0; 3], [0.0; 3]), 5.0);
    }
}
