//! The tiles of a grid with weights, and the order in which they are relaxed.

use crate::flow::field::cpu::radix::RadixHeap;
use crate::flow::weighted::distance::Distance;
use crate::flow::weighted::weights::TileWeights;
use crate::flow::weighted::window::{Changes, EDGE, TileCells, WINDOW, Window, Work};
use crate::parallel;

/// The fewest tiles for which waking other threads pays off.
const SHARED_TILES: usize = 32;
/// The tiles that a thread takes at a time; their results then stay in the cache.
const TILES_A_THREAD: usize = 256;

/// The distances of the cells of a grid, in tiles, and the tiles that wait.
pub(crate) struct Tiles<'a, D> {
    weights: &'a dyn TileWeights<D>,
    /// Columns and rows of tiles.
    pub(crate) tile_counts: [usize; 2],
    /// Row-major.
    pub(crate) distances: Vec<TileCells<D>>,
    waiting: Vec<Waiting>,
    heap: RadixHeap,
    bucket_width: D,
    /// Scratch memory.
    window: Option<Box<Window<D>>>,
    thread_count: usize,
    pub(crate) visit_count: u64,
    /// Tiles that have been relaxed at least once.
    pub(crate) solved_count: u64,
}

/// A tile that waits.
#[derive(Debug, Clone, Copy, Default)]
struct Waiting {
    work: Work,
    /// One more than the bucket in which the tile waits; 0 if it is in none.
    bucket: u32,
    is_solved: bool,
}

/// A tile that was relaxed, if any cell changed.
struct Relaxed<D> {
    index: usize,
    cells: TileCells<D>,
    changes: Changes<D>,
}

/// How far the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No move lowers a distance any more, but of cells beyond the largest distance.
    Done,
    Unfinished,
}

impl<'a, D: Distance> Tiles<'a, D> {
    /// Tiles in which no cell is reached. `typical_weight`, that of a step along an axis, decides the order of the work only.
    pub(crate) fn new(weights: &'a dyn TileWeights<D>, typical_weight: D) -> Self {
        let tile_counts = weights.tile_counts();
        let count = tile_counts[0] * tile_counts[1];
        Self {
            weights,
            tile_counts,
            // New memory is first written on all cores.
            distances: parallel::map_range(count as u32, |_| [[D::FAR; EDGE]; EDGE]),
            waiting: vec![Waiting::default(); count],
            heap: RadixHeap::new(),
            bucket_width: typical_weight.bucket_width(),
            window: None,
            thread_count: parallel::in_pool(parallel::thread_count),
            visit_count: 0,
            solved_count: 0,
        }
    }

    /// Lowers the distances of cells to those given, and lets the tiles around them wait.
    pub(crate) fn add_seeds(&mut self, seeds: impl Iterator<Item = ([usize; 2], D)>) {
        let [across, _] = self.tile_counts;
        let mut least = vec![D::FAR; self.distances.len()];
        for ([x, y], distance) in seeds {
            let tile = y / EDGE * across + x / EDGE;
            let known = &mut self.distances[tile][y % EDGE][x % EDGE];
            *known = distance.least(*known);
            least[tile] = least[tile].least(distance);
        }
        for (tile, &distance) in least.iter().enumerate().filter(|(_, distance)| **distance < D::FAR) {
            let (x, y) = ((tile % across) as isize, (tile / across) as isize);
            for (y, x) in (y - 1..=y + 1).flat_map(|y| (x - 1..=x + 1).map(move |x| (y, x))) {
                self.wake([x, y], distance, Work::ALL);
            }
        }
    }

    /// Adds work to a tile, if it is in the grid. `distance` is the least that the tile will get.
    fn wake(&mut self, [x, y]: [isize; 2], distance: D, work: Work) {
        let [across, down] = self.tile_counts.map(|count| count as isize);
        if x < 0 || y < 0 || x >= across || y >= down {
            return;
        }
        let index = (y * across + x) as usize;
        let bucket = distance.bucket(self.bucket_width);
        let Waiting { work: known, bucket: waits_in, .. } = &mut self.waiting[index];
        known.from_above |= work.from_above;
        known.from_below |= work.from_below;
        known.along |= work.along;
        if *waits_in == 0 || *waits_in > bucket + 1 {
            *waits_in = bucket + 1;
            self.heap.push(bucket, index as u32);
        }
    }

    /// Relaxes `count` tiles, and perhaps some more, unless none waits that may lower distances up to `max_distance`.
    pub(crate) fn run(&mut self, count: u64, max_distance: D) -> State {
        let end = self.visit_count + count;
        let mut waiting = Vec::new();
        while self.visit_count < end {
            let Some(bucket) = self.heap.pop_bucket(&mut waiting) else { return State::Done };
            // No later change is nearer than the bucket.
            if D::bucket_start(bucket, self.bucket_width) > max_distance {
                return State::Done;
            }
            self.relax_bucket(bucket, &waiting, end);
        }
        State::Unfinished
    }

    /// Relaxes the tiles of a bucket, until `end` have been relaxed in all; the others wait on.
    fn relax_bucket(&mut self, bucket: u32, waiting: &[(u32, u32)], end: u64) {
        let indices = || waiting.iter().map(|&(_, index)| index as usize);
        if self.thread_count == 1 || waiting.len() < SHARED_TILES {
            let mut window = std::mem::take(&mut self.window).unwrap_or_else(Window::new);
            for index in indices() {
                if self.visit_count < end
                    && let Some(work) = self.taken(index, bucket)
                    && let Some(relaxed) = self.relaxed(&mut window, index, work)
                {
                    self.take_over(&relaxed);
                }
            }
            self.window = Some(window);
        } else {
            // Tiles that are relaxed at once don't touch, so each sees what its neighbours in the bucket found before.
            let across = self.tile_counts[0];
            for color in 0..4 {
                let is_of_color = |index: &usize| index % across % 2 + index / across % 2 * 2 == color;
                let colored: Vec<usize> = indices().filter(is_of_color).collect();
                for indices in colored.chunks(TILES_A_THREAD * self.thread_count) {
                    if self.visit_count < end {
                        self.relax_apart(bucket, indices);
                    }
                }
            }
        }
        if self.visit_count >= end {
            for index in indices().filter(|&index| self.waiting[index].bucket == bucket + 1) {
                self.heap.push(bucket, index as u32);
            }
        }
    }

    /// Relaxes tiles that don't touch, on all cores.
    fn relax_apart(&mut self, bucket: u32, indices: &[usize]) {
        let works = indices.iter().filter_map(|&index| Some((index, self.taken(index, bucket)?)));
        let works: Vec<(usize, Work)> = works.collect();
        let tiles = &*self;
        let relaxed = parallel::map_init(&works, Window::new, |window, &(index, work)| {
            tiles.relaxed(window, index, work)
        });
        relaxed.iter().flatten().for_each(|relaxed| self.take_over(relaxed));
    }

    /// What is to be done in a tile that waits in a bucket. One that has waited in several was relaxed in the first of them.
    fn taken(&mut self, index: usize, bucket: u32) -> Option<Work> {
        let tile = &mut self.waiting[index];
        if tile.bucket != bucket + 1 {
            return None;
        }
        self.visit_count += 1;
        self.solved_count += u64::from(!tile.is_solved);
        let work = tile.work;
        *tile = Waiting { is_solved: true, ..Waiting::default() };
        Some(work)
    }

    /// Relaxes a tile; `None` if no cell changed.
    fn relaxed(&self, window: &mut Window<D>, index: usize, work: Work) -> Option<Relaxed<D>> {
        self.load(index, window);
        let mut cells = self.distances[index];
        let changes = window.relax(work, self.has_diagonals(), &mut cells)?;
        Some(Relaxed { index, cells, changes })
    }

    /// Writes a tile, and wakes the neighbours that see a change.
    fn take_over(&mut self, relaxed: &Relaxed<D>) {
        let &Relaxed { index, cells, changes: Changes { rows, columns } } = relaxed;
        self.distances[index] = cells;
        let across = self.tile_counts[0];
        let (x, y) = ((index % across) as isize, (index / across) as isize);
        for (changes, y, work) in [
            (rows[0], y - 1, Work { from_below: 1 << EDGE, ..Work::default() }),
            (rows[1], y + 1, Work { from_above: 1 << 1, ..Work::default() }),
        ] {
            for (distance, x) in changes.into_iter().zip([x - 1, x, x + 1]) {
                if distance < D::FAR {
                    self.wake([x, y], distance, work);
                }
            }
        }
        for (column, x) in columns.into_iter().zip([x - 1, x + 1]) {
            let rows = column.rows;
            if rows != 0 {
                let diagonal = if self.has_diagonals() { rows } else { 0 };
                let work = Work { from_above: diagonal, from_below: diagonal, along: rows };
                self.wake([x, y], column.least, work);
            }
        }
    }

    pub(crate) fn has_diagonals(&self) -> bool {
        self.weights.has_diagonals()
    }

    /// Loads the distances and the weights of a tile and of the cells around it.
    pub(crate) fn load(&self, index: usize, window: &mut Window<D>) {
        let [across, down] = self.tile_counts;
        let (x, y) = (index % across, index / across);
        self.weights.fill([x, y], &mut window.weights);
        let (has_west, has_east) = (x > 0, x + 1 < across);
        let mut cells = [[D::FAR; WINDOW]; WINDOW];
        let mut load_row = |index: usize, from: usize, to: usize| {
            let cells = &mut cells[to];
            cells[1..=EDGE].copy_from_slice(&self.distances[index][from]);
            if has_west {
                cells[0] = self.distances[index - 1][from][EDGE - 1];
            }
            if has_east {
                cells[EDGE + 1] = self.distances[index + 1][from][0];
            }
        };
        if y > 0 {
            load_row(index - across, EDGE - 1, 0);
        }
        for row in 0..EDGE {
            load_row(index, row, row + 1);
        }
        if y + 1 < down {
            load_row(index + across, 0, EDGE + 1);
        }
        window.load(&cells);
    }
}
