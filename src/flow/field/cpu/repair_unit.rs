//! Incremental repair of a field of four neighbours in which all steps are 1: as in `repair`, but level by level and
//! without a heap.

use crate::flow::field::cpu::codes;
use crate::flow::field::cpu::repair::{BitSet, Repair};
use crate::flow::field::solved::UNREACHABLE;

/// Cells sorted by level, and taken in that order.
struct LevelQueue {
    /// Levels and cells, descending, so that the nearest is the last.
    cells: Vec<(u32, u32)>,
}

impl LevelQueue {
    fn new(mut cells: Vec<(u32, u32)>) -> Self {
        cells.sort_unstable();
        cells.dedup();
        cells.reverse();
        Self { cells }
    }

    /// The least level left.
    fn level(&self) -> Option<u32> {
        self.cells.last().map(|&(level, _)| level)
    }

    /// Removes a cell of this level, if one is left.
    fn pop_level(&mut self, level: u32) -> Option<u32> {
        self.cells.pop_if(|&mut (cell_level, _)| cell_level == level).map(|(_, cell)| cell)
    }
}

impl Repair<'_> {
    /// Invalidates the distances that nothing supports.
    pub(crate) fn invalidate_unit(&mut self, seeds: &[u32], removed: &[u32]) -> Option<()> {
        let cells = seeds.iter().chain(removed).map(|&cell| (self.distances[cell as usize], cell));
        let mut seeds_by_level =
            LevelQueue::new(cells.filter(|&(distance, _)| distance != UNREACHABLE).collect());
        let (mut front, mut next_front) = (Vec::new(), Vec::new());
        let mut level = 0;
        loop {
            if front.is_empty() {
                match seeds_by_level.level() {
                    Some(first) => level = first,
                    None => return Some(()),
                }
            }
            while let Some(cell) = seeds_by_level.pop_level(level) {
                // Every other cell in the front is known to be free.
                if self.is_free(cell as usize) {
                    front.push(cell);
                } else {
                    self.invalidate_cell(cell, &mut next_front);
                }
            }
            for &cell in &front {
                let index = cell as usize;
                // All nearer cells are done, so a neighbour that supports this cell keeps its distance.
                let is_kept = self.distances[index] != level
                    || if level == 0 {
                        self.goals.binary_search(&cell).is_ok()
                    } else {
                        self.moves
                            .orthogonal(index)
                            .into_iter()
                            .any(|neighbour| self.distances[neighbour] == level - 1)
                    };
                if !is_kept {
                    self.invalidate_cell(cell, &mut next_front);
                }
            }
            if self.changed.len() > self.change_limit {
                return None;
            }
            std::mem::swap(&mut front, &mut next_front);
            next_front.clear();
            level += 1;
        }
    }

    /// Invalidates the distance of a cell, and lists the cells whose next cell it is.
    fn invalidate_cell(&mut self, cell: u32, next_front: &mut Vec<u32>) {
        let index = cell as usize;
        let level = self.distances[index];
        if level == UNREACHABLE {
            return;
        }
        self.set(index, UNREACHABLE);
        // At the border of the grid the neighbour is the cell itself, which no longer has a level.
        for (neighbour, code_back) in self.moves.orthogonal(index).into_iter().zip([2, 3, 0, 1]) {
            if self.next[neighbour] == code_back && self.distances[neighbour] == level + 1 {
                next_front.push(neighbour as u32);
            }
        }
    }

    /// Spreads the remaining distances.
    pub(crate) fn spread_unit(&mut self, seeds: &[u32], added: &[u32]) -> Option<()> {
        let mut seed_cells: Vec<(u32, u32)> = added.iter().map(|&goal| (0, goal)).collect();
        for cell in self.changed.iter().map(|&(cell, _)| cell).chain(seeds.iter().copied()) {
            let index = cell as usize;
            let neighbour_levels = self.moves.orthogonal(index).map(|neighbour| self.distances[neighbour]);
            let level = neighbour_levels.into_iter().fold(UNREACHABLE, u32::min).saturating_add(1);
            if level < self.distances[index].min(self.distance_end) && self.is_free(index) {
                seed_cells.push((level, cell));
            }
        }
        let mut seeds_by_level = LevelQueue::new(seed_cells);
        let (mut front, mut next_front) = (Vec::new(), Vec::new());
        let mut level = 0;
        loop {
            if front.is_empty() {
                match seeds_by_level.level() {
                    Some(first) => level = first,
                    None => return Some(()),
                }
            }
            while let Some(cell) = seeds_by_level.pop_level(level) {
                if self.distances[cell as usize] > level {
                    self.set(cell as usize, level);
                    front.push(cell);
                }
            }
            let next_level = level + 1;
            if next_level < self.distance_end {
                for &cell in &front {
                    for neighbour in self.moves.orthogonal(cell as usize) {
                        if self.distances[neighbour] > next_level && self.is_free(neighbour) {
                            self.set(neighbour, next_level);
                            next_front.push(neighbour as u32);
                        }
                    }
                }
            }
            if self.changed.len() > self.change_limit {
                return None;
            }
            std::mem::swap(&mut front, &mut next_front);
            next_front.clear();
            level = next_level;
        }
    }

    /// Finds the codes of free cells again that may have changed, 64 cells at a time.
    pub(crate) fn find_unit_codes(&mut self, seeds: &[u32]) {
        let (width, row_words) = (self.grid.width(), self.grid.row_words());
        let height = self.grid.size()[1] as usize;
        let mut visited = BitSet::new(row_words * height);
        let mut refresh_word = |row: usize, word: usize| {
            if visited.insert(row * row_words + word) {
                codes::refresh_word(self.grid, self.distances, row, word, self.next);
            }
        };
        for &cell in self.changed.iter().map(|(cell, _)| cell).chain(seeds) {
            let (x, row) = (cell as usize % width, cell as usize / width);
            let word = x / 64;
            for row in row.saturating_sub(1)..(row + 2).min(height) {
                refresh_word(row, word);
            }
            if x % 64 == 0 && word > 0 {
                refresh_word(row, word - 1);
            }
            if x % 64 == 63 && word + 1 < row_words {
                refresh_word(row, word + 1);
            }
        }
    }
}
