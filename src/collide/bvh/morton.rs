//! The bodies in the order of a space-filling curve, for the CPU's tree: the twin of `shaders/collide/broad_phase/morton_frame.wgsl`
//! and `broad_phase/morton_keys.wgsl`. The order affects speed only, never a result, so the two need not agree.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::collide::bvh::aabb::Aabb;
use crate::parallel::{for_each_chunk, for_each_share, thread_count};

/// Boxes in the sample that places the grid.
const SAMPLE: usize = 256;
/// Bits of a key.
const KEY_BITS: usize = 30;
/// Bits of a digit: each pass of the sort orders by one digit.
const DIGIT_BITS: usize = 10;
/// Values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Least number of keys in a task.
const TASK_LEN: usize = 1 << 13;
/// Groups of so many bodies have a grid of their own: below, fitting one takes longer than it saves.
const GRID_LEN: usize = 512;
/// Groups of up to so many bodies are sorted by one thread each.
const GROUP_LEN: usize = TASK_LEN;

/// The grid of cells that orders the bodies.
#[derive(Debug, Clone, Copy)]
struct Grid {
    begin: [f32; 3],
    /// Cells per unit of length.
    scale: [f32; 3],
    /// How often each axis is halved: at most 24 times.
    cuts: [u32; 3],
    /// Which axis each bit of the key belongs to, from the highest on.
    axes: [u8; KEY_BITS],
    /// The bits of a key that each byte of a cell's number along an axis makes, lowest byte first.
    spread: [[[u32; 256]; 3]; 3],
    /// Whether no axis has a third byte.
    is_short: bool,
}

fn middle(aabb: &Aabb, axis: usize) -> f32 {
    0.5 * aabb.min[axis] + 0.5 * aabb.max[axis]
}

impl Grid {
    /// The grid for these boxes.
    ///
    /// One distant body must not put all others into one cell. So the grid spans twice the middle nine tenths of a sample, and bodies
    /// outside fall into the cells at its border. Cells are halved along their longest axis, so that a crowd on a plane is not cut
    /// along its normal.
    fn new(aabbs: &[Aabb]) -> Self {
        let mut grid = Self {
            begin: [0.0; 3],
            scale: [0.0; 3],
            cuts: [0; 3],
            axes: [0; KEY_BITS],
            spread: [[[0; 256]; 3]; 3],
            is_short: true,
        };
        let Some(last) = aabbs.len().checked_sub(1) else { return grid };
        let mut cell = [0.0; 3];
        for axis in 0..3 {
            let mut sample = [0.0; SAMPLE];
            for (i, sample) in sample.iter_mut().enumerate() {
                *sample = middle(&aabbs[i * last / (SAMPLE - 1)], axis);
            }
            sample.sort_unstable_by(f32::total_cmp);
            let (low, high) = (sample[SAMPLE / 20], sample[SAMPLE - 1 - SAMPLE / 20]);
            cell[axis] = 2.0 * (high - low);
            grid.begin[axis] = low - 0.25 * cell[axis];
        }
        for bit in 0..KEY_BITS {
            // After 24 halvings an f32 has no more digits.
            let rest = (0..3).filter(|&axis| grid.cuts[axis] < 24);
            let axis = rest.max_by(|&a, &b| cell[a].total_cmp(&cell[b])).unwrap_or(0);
            cell[axis] *= 0.5;
            grid.cuts[axis] += 1;
            grid.axes[bit] = axis as u8;
        }
        let mut left = grid.cuts;
        for (place, axis) in grid.axes.into_iter().enumerate() {
            let axis = usize::from(axis);
            // From the highest bit on, of the key and of the cell's number.
            left[axis] -= 1;
            let (byte, bit) = (left[axis] as usize / 8, left[axis] % 8);
            for (value, key) in grid.spread[axis][byte].iter_mut().enumerate() {
                *key |= (value as u32 >> bit & 1) << (KEY_BITS - 1 - place);
            }
        }
        grid.is_short = grid.cuts.iter().all(|&cuts| cuts <= 16);
        grid.scale = cell.map(|cell| if cell > 1e-37 { 1.0 / cell } else { 0.0 });
        grid
    }

    #[inline(always)]
    fn key(&self, aabb: &Aabb) -> u32 {
        let mut key = 0;
        for axis in 0..3 {
            // Negative numbers saturate to 0.
            let cell = ((middle(aabb, axis) - self.begin[axis]) * self.scale[axis]) as u32;
            let cell = cell.min((1 << self.cuts[axis]) - 1);
            let [low, middle, high] = &self.spread[axis];
            key |= low[cell as usize & 255] | middle[cell as usize >> 8 & 255];
            if !self.is_short {
                key |= high[cell as usize >> 16 & 255];
            }
        }
        key
    }
}

/// A radix sort, least significant digit first, on all cores where there are threads. It keeps its memory.
#[derive(Debug, Default)]
pub(crate) struct Sorter {
    from: Vec<AtomicU64>,
    to: Vec<AtomicU64>,
    counts: Vec<u32>,
}

impl Sorter {
    /// Writes the ids of the boxes to `order`, in Morton order. With `starts` each group of ids is sorted by itself and stays in its place:
    /// they say where the groups begin, and where the last ends. Groups of up to `kept` ids keep their order.
    pub(crate) fn sort(&mut self, aabbs: &[Aabb], starts: &[u32], kept: usize, order: &mut Vec<u32>) {
        if !starts.is_empty() {
            return self.sort_groups(aabbs, starts, kept, order);
        }
        order.clear();
        order.resize(aabbs.len(), 0);
        self.sort_range(aabbs, 0, order);
    }

    fn sort_groups(&mut self, aabbs: &[Aabb], starts: &[u32], kept: usize, order: &mut Vec<u32>) {
        let shared = Grid::new(aabbs);
        order.clear();
        order.resize(aabbs.len(), 0);
        let mut rest = &mut order[..];
        let mut groups = Vec::with_capacity(starts.len());
        for ends in starts.windows(2) {
            let (first, after) = rest.split_at_mut((ends[1] - ends[0]) as usize);
            rest = after;
            if first.len() <= kept {
                first.iter_mut().zip(ends[0]..).for_each(|(place, id)| *place = id);
            } else if first.len() > GROUP_LEN {
                self.sort_range(aabbs, ends[0] as usize, first);
            } else {
                groups.push((ends[0] as usize, first));
            }
        }
        // Tasks of many small groups.
        let mut tasks = Vec::new();
        let mut held = 0;
        let mut task: Vec<(usize, &mut [u32])> = Vec::new();
        for group in groups {
            held += group.1.len();
            task.push(group);
            if held >= TASK_LEN {
                tasks.push(std::mem::take(&mut task));
                held = 0;
            }
        }
        tasks.push(task);
        for_each_share(tasks, 1, |task| {
            let mut keyed: Vec<u64> = Vec::new();
            for (begin, out) in task {
                let boxes = &aabbs[begin..begin + out.len()];
                let own;
                let grid = if boxes.len() < GRID_LEN {
                    &shared
                } else {
                    own = Grid::new(boxes);
                    &own
                };
                keyed.clear();
                keyed.extend(
                    (begin..).zip(boxes).map(|(at, aabb)| u64::from(grid.key(aabb)) << 32 | at as u64),
                );
                keyed.sort_unstable();
                out.iter_mut().zip(&keyed).for_each(|(id, pair)| *id = *pair as u32);
            }
        });
    }

    /// Sorts the ids from `begin` on, as many as `order` has.
    fn sort_range(&mut self, aabbs: &[Aabb], begin: usize, order: &mut [u32]) {
        let count = order.len();
        let aabbs = &aabbs[begin..begin + count];
        let grid = Grid::new(aabbs);
        let Self { from, to, counts } = self;
        from.resize_with(count, AtomicU64::default);
        to.resize_with(count, AtomicU64::default);
        let task_len = count.div_ceil(thread_count()).max(TASK_LEN);
        let task_count = count.div_ceil(task_len);
        for_each_share((0..task_count).collect(), 1, |task| {
            let part = task * task_len..count.min(task * task_len + task_len);
            for ((at, aabb), pair) in part.clone().zip(&aabbs[part.clone()]).zip(&from[part]) {
                pair.store(u64::from(grid.key(aabb)) << 32 | (begin + at) as u64, Relaxed);
            }
        });
        for shift in (32..32 + KEY_BITS).step_by(DIGIT_BITS) {
            let digit = |pair: u64| (pair >> shift) as usize & (DIGITS - 1);
            counts.clear();
            counts.resize(DIGITS * task_count, 0);
            for_each_chunk(counts, DIGITS, |(task, counts)| {
                for pair in from.iter().take((task + 1) * task_len).skip(task * task_len) {
                    counts[digit(pair.load(Relaxed))] += 1;
                }
            });
            let mut sum = 0;
            for digit in 0..DIGITS {
                for task in 0..task_count {
                    let count = &mut counts[task * DIGITS + digit];
                    sum += std::mem::replace(count, sum);
                }
            }
            // Each task writes to positions of its own; the atomics only satisfy the compiler.
            for_each_chunk(counts, DIGITS, |(task, places)| {
                for pair in from.iter().take((task + 1) * task_len).skip(task * task_len) {
                    let pair = pair.load(Relaxed);
                    let place = &mut places[digit(pair)];
                    to[*place as usize].store(pair, Relaxed);
                    *place += 1;
                }
            });
            std::mem::swap(from, to);
        }
        order.iter_mut().zip(&*from).for_each(|(id, pair)| *id = pair.load(Relaxed) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::scene::bounds::tests::Random;

    fn point(at: [f32; 3]) -> Aabb {
        Aabb::new(at, at)
    }

    /// Mean distance of neighbours in the order.
    fn step(aabbs: &[Aabb]) -> f64 {
        let mut order = Vec::new();
        Sorter::default().sort(aabbs, &[], 0, &mut order);
        let mut seen = order.clone();
        seen.sort_unstable();
        assert!(seen.iter().zip(0..).all(|(&body, i)| body == i) && seen.len() == aabbs.len());
        let at = |body: u32| glam::DVec3::from(aabbs[body as usize].min.map(f64::from));
        let steps: Vec<f64> = order.windows(2).map(|pair| at(pair[0]).distance(at(pair[1]))).collect();
        let mut sorted = steps;
        sorted.sort_unstable_by(f64::total_cmp);
        sorted[sorted.len() / 2]
    }

    #[test]
    fn neighbours_in_the_order_are_neighbours_in_space() {
        let mut random = Random(9);
        let crowd: Vec<Aabb> = (0..30_000).map(|_| point([0; 3].map(|_| random.signed()))).collect();
        let median = step(&crowd);
        assert!(median < 0.1, "{median}");
        // Bodies far off change nothing.
        let mut outliers = crowd.clone();
        outliers[77] = point([1e18, -1e18, 0.0]);
        outliers[78] = point([-3e9, 5.0, 1e12]);
        let median = step(&outliers);
        assert!(median < 0.1, "{median}");
        let plane: Vec<Aabb> = crowd.iter().map(|aabb| point([aabb.min[0], 0.0, aabb.min[2]])).collect();
        let median = step(&plane);
        assert!(median < 0.03, "{median}");
        assert_eq!(step(&vec![point([2.0; 3]); 1000]), 0.0);
    }

    /// The table's keys against keys put together bit by bit.
    #[test]
    fn keys_interleave_the_cells() {
        let mut random = Random(10);
        let stretches =
            [[1.0, 1.0, 1.0], [1.0, 0.0, 3.0], [1e-9, 1.0, 1e-9], [1e6, 1.0, 1.0], [0.0, 0.0, 1.0]];
        for stretch in stretches {
            let boxes: Vec<Aabb> =
                (0..500).map(|_| point([0, 1, 2].map(|i| 2.0 * stretch[i] * random.signed()))).collect();
            let grid = Grid::new(&boxes[..300]);
            assert_eq!(grid.cuts.iter().sum::<u32>(), KEY_BITS as u32);
            for aabb in &boxes {
                let mut left = grid.cuts;
                let key = grid.axes.iter().fold(0, |key, &axis| {
                    let axis = usize::from(axis);
                    left[axis] -= 1;
                    let cell = ((middle(aabb, axis) - grid.begin[axis]) * grid.scale[axis]) as u32;
                    key << 1 | (cell.min((1 << grid.cuts[axis]) - 1) >> left[axis] & 1)
                });
                assert_eq!(grid.key(aabb), key, "{stretch:?}");
            }
        }
    }

    #[test]
    fn groups_are_sorted_each_by_itself() {
        let mut random = Random(12);
        // The second is far smaller than the others and has a grid of its own, the last is sorted on all cores.
        let lens = [3, 600, 1, 0, 40, 20_000];
        let mut starts = vec![0];
        let mut boxes = Vec::new();
        for (group, len) in lens.into_iter().enumerate() {
            let size = if group == 1 { 1e-3 } else { 1.0 };
            boxes.extend((0..len).map(|_| point([0; 3].map(|_| size * random.signed()))));
            starts.push(boxes.len() as u32);
        }
        let mut order = Vec::new();
        Sorter::default().sort(&boxes, &starts, 0, &mut order);
        for ends in starts.windows(2) {
            let group = ends[0] as usize..ends[1] as usize;
            let mut own = Vec::new();
            Sorter::default().sort(&boxes[group.clone()], &[], 0, &mut own);
            let mut ids = order[group.clone()].to_vec();
            if group.len() >= GRID_LEN {
                assert!(ids.iter().eq(own.iter().map(|id| id + ends[0]).collect::<Vec<_>>().iter()));
            }
            ids.sort_unstable();
            assert!(ids.into_iter().eq(ends[0]..ends[1]));
        }
    }

    #[test]
    fn extremes_are_no_trouble() {
        for count in [0, 1, 2, 3] {
            let aabbs: Vec<Aabb> = (0..count).map(|i| point([[-3e38, 3e38, 1e-45][i]; 3])).collect();
            let mut order = Vec::new();
            Sorter::default().sort(&aabbs, &[], 0, &mut order);
            assert_eq!(order.len(), count);
        }
    }
}
