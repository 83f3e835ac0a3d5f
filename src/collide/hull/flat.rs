//! Hulls of points on one line or in one plane, by exact predicates.

use crate::collide::hull::predicate::left;
use crate::order::sort_ids;

/// The ends of collinear points: along a line the lexicographic order is the order of the points.
pub(super) fn ends(points: &[[f32; 3]]) -> [u32; 2] {
    let (mut low, mut high) = (0, 0);
    for (i, p) in points.iter().enumerate() {
        if *p < points[low] {
            low = i;
        }
        if *p > points[high] {
            high = i;
        }
    }
    [low as u32, high as u32]
}

/// The extreme points of coplanar points, counter-clockwise in the projection to `axes`, which must be one to one on the plane.
///
/// Andrew, "Another efficient algorithm for convex hulls in two dimensions" (1979). A projection that is one to one
/// on the plane keeps lines, sides and so the hull.
pub(super) fn outline(points: &[[f32; 3]], axes: [usize; 2]) -> Vec<u32> {
    let key = |i: u32| axes.map(|axis| points[i as usize][axis]);
    let mut order: Vec<u32> = (0..points.len() as u32).collect();
    sort_ids(&mut order, &|i, j| {
        let ([x, y], [u, v]) = (key(i), key(j));
        // Zeros of both signs are equal, unlike in the total order; there is no NaN.
        (x + 0.0).total_cmp(&(u + 0.0)).then((y + 0.0).total_cmp(&(v + 0.0))).then(i.cmp(&j))
    });
    order.dedup_by(|j, i| key(*i) == key(*j));
    let mut chain: Vec<u32> = Vec::new();
    let turn = |chain: &mut Vec<u32>, base: usize, i: u32| {
        while let [.., a, b] = chain[base..] {
            if left(points[a as usize], points[b as usize], points[i as usize], axes) > 0.0 {
                break;
            }
            chain.pop();
        }
        chain.push(i);
    };
    for &i in &order {
        turn(&mut chain, 0, i);
    }
    let base = chain.len() - usize::from(!chain.is_empty());
    for &i in order.iter().rev().skip(1) {
        turn(&mut chain, base, i);
    }
    chain.pop();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outline_drops_duplicates_and_what_is_not_extreme() {
        let mut points = Vec::new();
        for x in 0..5 {
            for y in 0..4 {
                points.push([x as f32, 7.0, y as f32]);
                points.push([x as f32, 7.0, y as f32]);
            }
        }
        assert_eq!(outline(&points, [0, 2]), [0, 32, 38, 6]);
    }

    #[test]
    fn zeros_of_both_signs_are_one_point() {
        assert_eq!(
            outline(&[[0.0, -0.0, 0.0], [-0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [0, 1]),
            [0, 2, 3]
        );
    }
}
