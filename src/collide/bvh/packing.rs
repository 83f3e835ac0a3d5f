//! The bodies in an order whose groups of `width`, of its square and so on are compact: for trees that are walked more often than they are built.
//!
//! The boxes are halved along the longest side of the box around their middles, at a place where a group ends, and each half again. Groups of the
//! Morton order begin and end anywhere along its curve, so that many are long or reach over its jumps: a ray walks through twice as many nodes
//! of that tree. The order takes three times as long to find. It affects speed only, never a result.

use crate::collide::bvh::aabb::Aabb;
use crate::parallel::each;

/// Most boxes of a task.
const TASK_LEN: usize = 1 << 12;

/// The middle of a box.
#[derive(Debug, Clone, Copy)]
struct Place {
    middle: [f32; 3],
    id: u32,
}

/// Writes the ids of the boxes to `order`.
pub(crate) fn pack(aabbs: &[Aabb], width: usize, order: &mut Vec<u32>) {
    let middle = |aabb: &Aabb| [0, 1, 2].map(|axis| 0.5 * aabb.min[axis] + 0.5 * aabb.max[axis]);
    let mut places: Vec<Place> =
        (0..).zip(aabbs).map(|(id, aabb)| Place { middle: middle(aabb), id }).collect();
    let mut parts = vec![&mut places[..]];
    while parts.iter().any(|part| part.len() > TASK_LEN) {
        parts = each(parts, |part| {
            let (low, high) = if part.len() > TASK_LEN { halves(part, width) } else { part.split_at_mut(0) };
            [low, high]
        })
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    }
    each(parts, |part| split(part, width));
    order.clear();
    order.extend(places.iter().map(|place| place.id));
}

/// Halves the boxes until they are groups.
fn split(part: &mut [Place], width: usize) {
    if part.len() > width {
        let (low, high) = halves(part, width);
        split(low, width);
        split(high, width);
    }
}

/// Halves more boxes than a group has, where a group ends.
fn halves(part: &mut [Place], width: usize) -> (&mut [Place], &mut [Place]) {
    let mut group = width;
    while group * width < part.len() {
        group *= width;
    }
    let at = part.len().div_ceil(group).div_ceil(2) * group;
    let mut low = [f32::INFINITY; 3];
    let mut high = [f32::NEG_INFINITY; 3];
    for place in &*part {
        for axis in 0..3 {
            low[axis] = low[axis].min(place.middle[axis]);
            high[axis] = high[axis].max(place.middle[axis]);
        }
    }
    let side = |axis: usize| high[axis] - low[axis];
    let axis = (1..3).fold(0, |best, axis| if side(axis) > side(best) { axis } else { best });
    part.select_nth_unstable_by(at, |a, b| a.middle[axis].total_cmp(&b.middle[axis]));
    part.split_at_mut(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 8;

    #[test]
    fn every_box_has_one_place_and_groups_are_compact() {
        for count in [0, 1, 7, 8, 9, 63, 64, 65, 100, 513, 5_000, 20_000] {
            // Points of a line, in an order of their own.
            let at = |i: usize| (i * 7919 % count.max(1)) as f32;
            let aabbs: Vec<Aabb> =
                (0..count).map(|i| Aabb::new([at(i), 0.0, 0.0], [at(i) + 0.5, 1.0, 1.0])).collect();
            let mut order = vec![3; 5];
            pack(&aabbs, WIDTH, &mut order);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..count as u32), "{count}");
            for (group, bodies) in order.chunks(WIDTH).enumerate() {
                let places = bodies.iter().map(|&body| at(body as usize));
                let first = (group * WIDTH) as f32;
                assert!(places.into_iter().all(|x| x >= first && x < first + WIDTH as f32), "{count}");
            }
        }
    }

    #[test]
    fn boxes_at_one_place_are_split_too() {
        let mut order = Vec::new();
        pack(&vec![Aabb::new([1.0; 3], [2.0; 3]); 9_000], WIDTH, &mut order);
        order.sort_unstable();
        assert!(order.into_iter().eq(0..9_000));
    }
}
