//! The bodies in an order whose groups of `width`, of its square and so on are compact: for trees that are walked more often than they are built.
//!
//! The boxes are halved along the longest side of the box around their middles, at a place where a group ends, and each half again. Groups of the
//! Morton order begin and end anywhere along its curve, so that many are long or reach over its jumps: a ray walks through twice as many nodes
//! of that tree. The order takes three times as long to find. It affects speed only, never a result.

use crate::collide::bvh::aabb::Aabb;
use crate::parallel::{each, for_each_share};
use std::ops::Range;

/// Most boxes of a task.
const TASK_LEN: usize = 1 << 12;
/// Least number of parts of a task: worlds may be small, and many.
const TASK_PARTS: usize = 8;

/// The middle of a box, as whole numbers in the order of the coordinates: two of them are compared in one step.
#[derive(Debug, Clone, Copy)]
struct Place {
    middle: [i32; 3],
    id: u32,
}

/// A number whose order among whole numbers is that of an f32, and the f32 of such a number.
fn flip(bits: u32) -> i32 {
    let bits = bits as i32;
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

/// Boxes that are put in order among themselves, and the place of the first.
struct Part<'a> {
    first: usize,
    places: &'a mut [Place],
}

/// Writes the ids of the boxes to `order`.
pub(crate) fn pack(aabbs: &[Aabb], width: usize, order: &mut Vec<u32>) {
    order.clear();
    order.extend(0..aabbs.len() as u32);
    pack_ranges(aabbs, width, std::slice::from_ref(&(0..aabbs.len())), order);
}

/// Puts the bodies of some ranges of `order` in order again, those of each range among themselves. The ranges ascend and don't overlap; groups
/// end at the same places as those of the whole order.
pub(crate) fn pack_ranges(aabbs: &[Aabb], width: usize, ranges: &[Range<usize>], order: &mut [u32]) {
    let middle =
        |aabb: &Aabb| [0, 1, 2].map(|axis| flip((0.5 * aabb.min[axis] + 0.5 * aabb.max[axis]).to_bits()));
    let mut places: Vec<Place> = Vec::with_capacity(ranges.iter().map(Range::len).sum());
    for range in ranges {
        let place = |&id: &u32| Place { middle: middle(&aabbs[id as usize]), id };
        places.extend(order[range.clone()].iter().map(place));
    }
    let mut rest = &mut places[..];
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (places, after) = rest.split_at_mut(range.len());
        rest = after;
        parts.push(Part { first: range.start, places });
    }
    while parts.iter().any(|part| part.places.len() > TASK_LEN) {
        parts = each(parts, |part| {
            if part.places.len() > TASK_LEN {
                let (low, high) = halves(part, width);
                [Some(low), Some(high)]
            } else {
                [Some(part), None]
            }
        })
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    }
    for_each_share(parts, TASK_PARTS, |part| split(part, width));
    let mut packed = places.iter().map(|place| place.id);
    for range in ranges {
        order[range.clone()].iter_mut().zip(&mut packed).for_each(|(place, id)| *place = id);
    }
}

/// Halves the boxes until they are groups.
fn split(part: Part, width: usize) {
    let end = part.first + part.places.len();
    if end.div_ceil(width) > part.first / width + 1 {
        let (low, high) = halves(part, width);
        split(low, width);
        split(high, width);
    }
}

/// Halves the boxes of more than one group, where a group ends.
fn halves(part: Part<'_>, width: usize) -> (Part<'_>, Part<'_>) {
    let Part { first, places } = part;
    let end = first + places.len();
    // The largest groups of which one ends among these places.
    let mut group = width;
    while end.div_ceil(group * width) > first / (group * width) + 1 {
        group *= width;
    }
    let groups = first / group..end.div_ceil(group);
    let at = (groups.start + groups.len().div_ceil(2)) * group - first;
    let mut low = [i32::MAX; 3];
    let mut high = [i32::MIN; 3];
    for place in &*places {
        for axis in 0..3 {
            low[axis] = low[axis].min(place.middle[axis]);
            high[axis] = high[axis].max(place.middle[axis]);
        }
    }
    let coordinate = |key: i32| f32::from_bits(flip(key as u32) as u32);
    let side = |axis: usize| coordinate(high[axis]) - coordinate(low[axis]);
    let axis = (1..3).fold(0, |best, axis| if side(axis) > side(best) { axis } else { best });
    places.select_nth_unstable_by(at, |a, b| a.middle[axis].cmp(&b.middle[axis]));
    let (low, high) = places.split_at_mut(at);
    (Part { first, places: low }, Part { first: first + at, places: high })
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

    /// Each range keeps its bodies, other places keep theirs, and a range is packed as if the whole order were.
    #[test]
    fn ranges_are_packed_by_themselves() {
        let at = |body: u32| (body * 7919 % 6_007) as f32;
        let aabbs: Vec<Aabb> =
            (0..6_000).map(|body| Aabb::new([at(body), 0.0, 0.0], [at(body) + 0.5, 1.0, 1.0])).collect();
        let begin: Vec<u32> = (0..6_000).map(|place| (place * 11) % 6_000).collect();
        for ranges in [
            vec![],
            vec![0..6_000, 6_000..6_000],
            vec![5..6, 6..30, 64..512, 517..5_999],
            vec![3..3, 1_001..1_030],
        ] {
            let mut order = begin.clone();
            pack_ranges(&aabbs, WIDTH, &ranges, &mut order);
            for (place, (old, new)) in begin.iter().zip(&order).enumerate() {
                assert!(old == new || ranges.iter().any(|range| range.contains(&place)));
            }
            for range in ranges {
                let (mut old, mut new) = (begin[range.clone()].to_vec(), order[range.clone()].to_vec());
                // Groups begin at multiples of the width, whatever the range begins at: on a line the next begins where one ends.
                let far = |leaf: &[u32]| leaf.iter().map(|&body| at(body)).fold(f32::NEG_INFINITY, f32::max);
                let near = |leaf: &[u32]| leaf.iter().map(|&body| at(body)).fold(f32::INFINITY, f32::min);
                let first = (WIDTH - range.start % WIDTH).min(new.len());
                let (head, rest) = new.split_at(first);
                let leaves: Vec<&[u32]> = std::iter::once(head).chain(rest.chunks(WIDTH)).collect();
                assert!(leaves.windows(2).all(|pair| far(pair[0]) <= near(pair[1])), "{range:?}");
                old.sort_unstable();
                new.sort_unstable();
                assert_eq!(old, new);
            }
        }
    }

    #[test]
    fn whole_numbers_are_in_the_order_of_floats() {
        let floats =
            [f32::NEG_INFINITY, f32::MIN, -2.5, -1e-45, -0.0, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY];
        assert!(floats.windows(2).all(|pair| flip(pair[0].to_bits()) < flip(pair[1].to_bits())));
        assert!(floats.iter().all(|x| flip(flip(x.to_bits()) as u32) as u32 == x.to_bits()));
    }
}
