//! Point location: a uniform grid of buckets over the cells.

use glam::DVec2;

use crate::navigate::room::build::cells::Cells;
use crate::navigate::shared::predicate::orient;

/// For each bucket the cells that may hold its points.
#[derive(Debug, Clone, Default)]
pub(crate) struct Grid {
    low: DVec2,
    high: DVec2,
    buckets_per_unit: DVec2,
    columns: u32,
    rows: u32,
    first: Vec<u32>,
    cells: Vec<u32>,
}

/// Where a point lies relative to a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Containment {
    Inside,
    OnEdge,
    Outside,
}

/// Where a point lies relative to a cell, decided exactly.
#[inline]
pub(crate) fn contains(cells: &Cells, cell: u32, point: DVec2) -> Containment {
    let sides = cells.sides_of(cell);
    let Some(last) = sides.last() else { return Containment::Outside };
    let mut on_edge = false;
    let mut from = last.point;
    for side in sides {
        let height = orient(from, side.point, point);
        if height < 0.0 {
            return Containment::Outside;
        }
        on_edge |= height == 0.0;
        from = side.point;
    }
    if on_edge { Containment::OnEdge } else { Containment::Inside }
}

impl Grid {
    /// Sorts the live cells into about two buckets a cell.
    pub(crate) fn new(cells: &Cells) -> Self {
        let live = || (0..cells.len() as u32).filter(|&cell| cells.count[cell as usize] > 0);
        let cell_count = live().count();
        if cell_count == 0 {
            return Self::default();
        }
        let mut low = DVec2::INFINITY;
        let mut high = DVec2::NEG_INFINITY;
        for cell in live() {
            for side in cells.sides_of(cell) {
                low = low.min(side.point);
                high = high.max(side.point);
            }
        }
        let size = (high - low).max(DVec2::splat(f64::MIN_POSITIVE));
        // Long thin cells overlap many buckets. Where that makes too many entries, the grid becomes coarser.
        let mut wanted = 2.0 * cell_count as f64;
        loop {
            let rows = (wanted * size.y / size.x).sqrt().clamp(1.0, wanted.max(1.0)).min(4e4).floor();
            let columns = (wanted / rows).clamp(1.0, 4e4).floor();
            let mut grid = Self {
                low,
                high,
                buckets_per_unit: DVec2::new(columns, rows) / size,
                columns: columns as u32,
                rows: rows as u32,
                ..Self::default()
            };
            let boxes: Vec<[u32; 4]> = live().map(|cell| grid.bucket_range(cells, cell)).collect();
            let entry_count: u64 =
                boxes.iter().map(|b| u64::from(b[2] - b[0] + 1) * u64::from(b[3] - b[1] + 1)).sum();
            if entry_count > 32 * cell_count as u64 + 64 && wanted > 2.0 {
                wanted /= 2.0;
                continue;
            }
            grid.fill(cells, live(), &boxes);
            return grid;
        }
    }

    fn fill(&mut self, cells: &Cells, live: impl Iterator<Item = u32>, boxes: &[[u32; 4]]) {
        let mut entries: Vec<(u32, u32)> = Vec::new();
        let mut spans = Vec::new();
        for (cell, &[left, bottom, right, top]) in live.zip(boxes) {
            if left == right || bottom == top {
                spans.clear();
                spans.resize((top - bottom) as usize + 1, [f64::NEG_INFINITY, f64::INFINITY]);
            } else {
                self.row_spans(cells, cell, bottom, top, &mut spans);
            }
            for (row, [from, to]) in (bottom..).zip(&spans) {
                // The conversions saturate.
                let columns = (*from as u32).max(left)..=(*to as u32).min(right);
                entries.extend(columns.map(|column| (row * self.columns + column, cell)));
            }
        }
        self.first = vec![0; (self.columns * self.rows) as usize + 1];
        for &(bucket, _) in &entries {
            self.first[bucket as usize + 1] += 1;
        }
        for bucket in 1..self.first.len() {
            self.first[bucket] += self.first[bucket - 1];
        }
        let mut next = self.first.clone();
        self.cells = vec![0; entries.len()];
        for (bucket, cell) in entries {
            let contains = &mut next[bucket as usize];
            self.cells[*contains as usize] = cell;
            *contains += 1;
        }
    }

    /// For each row of buckets the part of it that a convex cell covers, from the left to the right, in buckets. It is longer than that by 0.01 of a
    /// bucket or more, which is far beyond rounding. Takes time linear in sides and rows.
    fn row_spans(&self, cells: &Cells, cell: u32, bottom: u32, top: u32, spans: &mut Vec<[f64; 2]>) {
        const SLACK: f64 = 0.01;
        spans.clear();
        spans.resize((top - bottom) as usize + 1, [f64::INFINITY, f64::NEG_INFINITY]);
        for side in cells.range(cell) {
            let [a, b] = cells.ends(side).map(|end| (end - self.low) * self.buckets_per_unit);
            let (low, high) = (a.y.min(b.y) - SLACK, a.y.max(b.y) + SLACK);
            for row in (low as u32).max(bottom)..=(high as u32).min(top) {
                let span = &mut spans[(row - bottom) as usize];
                for y in [f64::from(row) - SLACK, f64::from(row + 1) + SLACK] {
                    let x = if a.y == b.y {
                        [a.x, b.x]
                    } else {
                        let share = ((y - a.y) / (b.y - a.y)).clamp(0.0, 1.0);
                        [a.x + share * (b.x - a.x); 2]
                    };
                    *span = [span[0].min(x[0].min(x[1]) - SLACK), span[1].max(x[0].max(x[1]) + SLACK)];
                }
            }
        }
    }

    fn bucket_range(&self, cells: &Cells, cell: u32) -> [u32; 4] {
        let mut low = DVec2::INFINITY;
        let mut high = DVec2::NEG_INFINITY;
        for side in cells.sides_of(cell) {
            low = low.min(side.point);
            high = high.max(side.point);
        }
        let ([a, b], [c, d]) = (self.bucket(low), self.bucket(high));
        [a, b, c, d]
    }

    /// The bucket of a point. It is monotone in both coordinates, so a point in a cell's box is in one of the cell's buckets.
    #[inline]
    fn bucket(&self, point: DVec2) -> [u32; 2] {
        let scaled = (point - self.low) * self.buckets_per_unit;
        // The conversion saturates.
        [(scaled.x as u32).min(self.columns - 1), (scaled.y as u32).min(self.rows - 1)]
    }

    /// The cells that may hold a point; none outside the grid.
    #[inline]
    pub(crate) fn candidates(&self, point: DVec2) -> &[u32] {
        if !(point.cmpge(self.low) & point.cmple(self.high)).all() || self.columns == 0 {
            return &[];
        }
        let [column, row] = self.bucket(point);
        let bucket = (row * self.columns + column) as usize;
        &self.cells[self.first[bucket] as usize..self.first[bucket + 1] as usize]
    }

    /// The cells of all buckets that a box touches, sorted.
    pub(crate) fn within(&self, low: DVec2, high: DVec2) -> Vec<u32> {
        if self.columns == 0 || !(high.cmpge(self.low) & low.cmple(self.high)).all() {
            return Vec::new();
        }
        let ([left, bottom], [right, top]) = (self.bucket(low), self.bucket(high));
        let mut cells = Vec::new();
        for row in bottom..=top {
            for column in left..=right {
                let bucket = (row * self.columns + column) as usize;
                cells.extend_from_slice(
                    &self.cells[self.first[bucket] as usize..self.first[bucket + 1] as usize],
                );
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// The corners of the grid's box.
    pub(crate) fn bounds(&self) -> [DVec2; 2] {
        [self.low, self.high]
    }

    /// Calls `visit` with the cells near a point, ring of buckets by ring of buckets outwards, until all others are further away than the
    /// distance that `visit` returned last. A cell may come several times.
    pub(crate) fn visit_outwards(&self, point: DVec2, mut visit: impl FnMut(u32) -> f64) {
        if self.columns == 0 {
            return;
        }
        let inside = point.clamp(self.low, self.high);
        let [column, row] = self.bucket(inside).map(i64::from);
        let (columns, rows) = (i64::from(self.columns), i64::from(self.rows));
        let unit = self.buckets_per_unit.recip().min_element();
        let mut reach = f64::INFINITY;
        let mut ring = 0_i64;
        while ring <= columns.max(rows) {
            // Everything nearer than this has been visited. A point outside the grid is even further from the rest.
            if (ring - 1) as f64 * unit > reach {
                return;
            }
            for y in (row - ring).max(0)..=(row + ring).min(rows - 1) {
                let is_ring_row = (y - row).abs() == ring;
                let mut x = column - ring;
                while x <= column + ring {
                    if (0..columns).contains(&x) {
                        let bucket = (y * columns + x) as usize;
                        for &cell in &self.cells[self.first[bucket] as usize..self.first[bucket + 1] as usize]
                        {
                            reach = reach.min(visit(cell));
                        }
                    }
                    x += if is_ring_row || ring == 0 { 1 } else { 2 * ring };
                }
            }
            ring += 1;
        }
    }
}
