//! What changes of a field where all steps are 1 and there are four neighbours: the same as in `repair`, a level at a time and
//! without a heap.

use crate::flow::field::cpu::codes;
use crate::flow::field::cpu::repair::{Marks, Repair};
use crate::flow::field::solved::UNREACHABLE;

/// Cells with their levels, taken in order.
struct Waiting {
    /// Descending.
    cells: Vec<(u32, u32)>,
}

impl Waiting {
    fn new(mut cells: Vec<(u32, u32)>) -> Self {
        cells.sort_unstable_by(|one, other| other.cmp(one));
        cells.dedup();
        Self { cells }
    }

    /// The level of the first.
    fn level(&self) -> Option<u32> {
        self.cells.last().map(|&(level, _)| level)
    }

    /// The first, where it is of that level.
    fn next_of(&mut self, level: u32) -> Option<u32> {
        self.cells.pop_if(|&mut (held, _)| held == level).map(|(_, cell)| cell)
    }
}

impl Repair<'_> {
    /// Takes the distances away that nothing supports.
    pub(crate) fn raise_units(&mut self, seeds: &[u32], removed: &[u32]) -> Option<()> {
        let cells = seeds.iter().chain(removed).map(|&cell| (self.distances[cell as usize], cell));
        let mut waiting = Waiting::new(cells.filter(|&(distance, _)| distance != UNREACHABLE).collect());
        let (mut now, mut ahead) = (Vec::new(), Vec::new());
        let mut level = 0;
        loop {
            if now.is_empty() {
                match waiting.level() {
                    Some(first) => level = first,
                    None => return Some(()),
                }
            }
            while let Some(cell) = waiting.next_of(level) {
                // Of all others it is known that they are free.
                if self.is_free(cell as usize) {
                    now.push(cell);
                } else {
                    self.take_away(cell, &mut ahead);
                }
            }
            for &cell in &now {
                let at = cell as usize;
                // All that is nearer has been looked at: what supports this cell stays.
                let is_supported = self.distances[at] != level
                    || if level == 0 {
                        self.goals.binary_search(&cell).is_ok()
                    } else {
                        self.near.orthogonal(at).into_iter().any(|near| self.distances[near] == level - 1)
                    };
                if !is_supported {
                    self.take_away(cell, &mut ahead);
                }
            }
            if self.changed.len() > self.limit {
                return None;
            }
            std::mem::swap(&mut now, &mut ahead);
            ahead.clear();
            level += 1;
        }
    }

    /// Takes a cell's distance away; those come to the list that it led on.
    fn take_away(&mut self, cell: u32, ahead: &mut Vec<u32>) {
        let at = cell as usize;
        let level = self.distances[at];
        if level == UNREACHABLE {
            return;
        }
        self.set(at, UNREACHABLE);
        // Where the grid ends the neighbour is the cell itself, which is no longer of any level.
        for (near, back) in self.near.orthogonal(at).into_iter().zip([2, 3, 0, 1]) {
            if self.next[near] == back && self.distances[near] == level + 1 {
                ahead.push(near as u32);
            }
        }
    }

    /// Lets the distances that are left flow on.
    pub(crate) fn lower_units(&mut self, seeds: &[u32], added: &[u32]) -> Option<()> {
        let mut first: Vec<(u32, u32)> = added.iter().map(|&goal| (0, goal)).collect();
        for cell in self.changed.iter().map(|&(cell, _)| cell).chain(seeds.iter().copied()) {
            let at = cell as usize;
            let near = self.near.orthogonal(at).map(|near| self.distances[near]);
            let level = near.into_iter().fold(UNREACHABLE, u32::min).saturating_add(1);
            if level < self.distances[at].min(self.bound) && self.is_free(at) {
                first.push((level, cell));
            }
        }
        let mut waiting = Waiting::new(first);
        let (mut now, mut ahead) = (Vec::new(), Vec::new());
        let mut level = 0;
        loop {
            if now.is_empty() {
                match waiting.level() {
                    Some(first) => level = first,
                    None => return Some(()),
                }
            }
            while let Some(cell) = waiting.next_of(level) {
                if self.distances[cell as usize] > level {
                    self.set(cell as usize, level);
                    now.push(cell);
                }
            }
            let next = level + 1;
            if next < self.bound {
                for &cell in &now {
                    for near in self.near.orthogonal(cell as usize) {
                        if self.distances[near] > next && self.is_free(near) {
                            self.set(near, next);
                            ahead.push(near as u32);
                        }
                    }
                }
            }
            if self.changed.len() > self.limit {
                return None;
            }
            std::mem::swap(&mut now, &mut ahead);
            ahead.clear();
            level = next;
        }
    }

    /// Finds the next cells of free cells again that may have changed, 64 at a time.
    pub(crate) fn find_codes_of_units(&mut self, seeds: &[u32]) {
        let (width, row_words) = (self.grid.width(), self.grid.row_words());
        let height = self.grid.size()[1] as usize;
        let mut seen = Marks::new(row_words * height);
        let mut refresh = |row: usize, word: usize| {
            if seen.mark(row * row_words + word) {
                codes::refresh(self.grid, &self.distances, row, word, &mut self.next);
            }
        };
        for &cell in self.changed.iter().map(|(cell, _)| cell).chain(seeds) {
            let (x, row) = (cell as usize % width, cell as usize / width);
            let word = x / 64;
            for row in row.saturating_sub(1)..(row + 2).min(height) {
                refresh(row, word);
            }
            if x % 64 == 0 && word > 0 {
                refresh(row, word - 1);
            }
            if x % 64 == 63 && word + 1 < row_words {
                refresh(row, word + 1);
            }
        }
    }
}
