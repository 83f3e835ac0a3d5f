//! Welding: near or equal points become one.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use glam::DVec3;

/// For each point the index of its representative: the first point within `tolerance` that is its own representative. With a tolerance of
/// 0 it is the first equal point; 0 and −0 are equal.
pub(crate) fn weld(points: &[DVec3], tolerance: f64) -> Vec<u32> {
    if tolerance > 0.0 { weld_near(points, tolerance) } else { weld_equal(points) }
}

fn weld_equal(points: &[DVec3]) -> Vec<u32> {
    // Adding 0 turns −0 into 0.
    let key = |point: DVec3| (point + 0.0).to_array().map(f64::to_bits);
    let mut first: HashMap<[u64; 3], u32, FastHash> =
        HashMap::with_capacity_and_hasher(points.len(), FastHash::default());
    points.iter().zip(0..).map(|(&point, index)| *first.entry(key(point)).or_insert(index)).collect()
}

fn weld_near(points: &[DVec3], tolerance: f64) -> Vec<u32> {
    // Cells as wide as the tolerance: all points within it are in the 27 cells around. Beyond 2⁶² cells from 0 all points share a cell,
    // which is slow but correct.
    let cell =
        |point: DVec3| (point / tolerance).floor().to_array().map(|at| at.clamp(-4.6e18, 4.6e18) as i64);
    let key = |cell: [i64; 3]| cell.map(|at| at as u64);
    // Linked lists: the last representative of each cell, and from each to the one before in the cell.
    let mut heads: HashMap<[u64; 3], u32, FastHash> = HashMap::default();
    let mut next = vec![u32::MAX; points.len()];
    let mut representatives = Vec::with_capacity(points.len());
    for (&point, index) in points.iter().zip(0u32..) {
        let own_cell = cell(point);
        let mut best = u32::MAX;
        for dx in -1..=1 {
            for dy in -1..=1 {
                for dz in -1..=1 {
                    let neighbour_cell = [own_cell[0] + dx, own_cell[1] + dy, own_cell[2] + dz];
                    let mut at = heads.get(&key(neighbour_cell)).copied().unwrap_or(u32::MAX);
                    while at != u32::MAX {
                        if at < best && points[at as usize].distance_squared(point) <= tolerance * tolerance {
                            best = at;
                        }
                        at = next[at as usize];
                    }
                }
            }
        }
        if best == u32::MAX {
            best = index;
            let head = heads.entry(key(own_cell)).or_insert(u32::MAX);
            next[index as usize] = *head;
            *head = index;
        }
        representatives.push(best);
    }
    representatives
}

/// A hasher for a few words: it multiplies each in and folds the high bits down. The default hasher, which resists hostile keys, takes three
/// times as long.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FastHasher(u64);

pub(crate) type FastHash = BuildHasherDefault<FastHasher>;

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0.rotate_left(23) ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product ^ (product >> 64)) as u64;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_points_are_one() {
        let points =
            [DVec3::ZERO, DVec3::X, DVec3::new(-0.0, 0.0, -0.0), DVec3::X, DVec3::new(1.0, 1e-300, 0.0)];
        assert_eq!(weld(&points, 0.0), [0, 1, 0, 1, 4]);
    }

    #[test]
    fn near_points_are_one() {
        let line: Vec<DVec3> = (0..40).map(|i| DVec3::new(0.4 * f64::from(i), -7.0, 1e6)).collect();
        // Each represents the two after it: 0.4 and 0.8 are within 1, 1.2 is not.
        let expected: Vec<u32> = (0..40).map(|i| i / 3 * 3).collect();
        assert_eq!(weld(&line, 1.0), expected);
        assert_eq!(weld(&line, 0.1), (0..40).collect::<Vec<u32>>());
        // A tolerance far below the coordinates.
        let far = [DVec3::splat(1e300), DVec3::splat(1e300), DVec3::splat(-1e300)];
        assert_eq!(weld(&far, 1e-300), [0, 0, 2]);
    }
}
