//! The weights of moves over ground that rises and falls.

use crate::flow::grid::moves::{Connectivity, Corners};
use crate::flow::weighted::costs::TileCosts;
use crate::flow::weighted::distance::{Cost, Distance};
use crate::flow::weighted::lengths::Lengths;
use crate::flow::weighted::rule::CostRule;
use crate::flow::weighted::weights::TileWeights;
use crate::flow::weighted::window::{EDGE, Row, WINDOW, Weights, WindowCosts};

/// The range of weights: a sum of 2³² of the largest is finite. What leaves it is no distance that anyone measures.
const WEIGHTS: [f64; 2] = [f64::MIN_POSITIVE, 1e290];

/// What moves over a raster of heights weigh: friction times the length over the ground, times a factor for the slope.
#[derive(Clone, Copy)]
pub(crate) struct SlopeWeights<'a, C> {
    pub(crate) friction: &'a TileCosts<C>,
    pub(crate) connectivity: Connectivity,
    pub(crate) rule: CostRule,
    /// Heights, row-major, finite where friction is not 0.
    pub(crate) elevation: &'a [f32],
    /// The lengths of steps in the plane.
    pub(crate) runs: &'a Lengths,
    pub(crate) factors: &'a FactorTable,
    /// Whether a path is walked from its goal: then uphill is what rises away from it.
    pub(crate) is_outward: bool,
}

/// Factors by slopes.
pub(crate) struct FactorTable {
    /// Slopes, ascending, and their factors; empty for 1 everywhere.
    rows: Vec<[f64; 2]>,
    /// Slopes from the first to the last are sorted into buckets of one width: how many for each unit of slope.
    buckets_a_unit: f64,
    /// For each bucket the first row that a slope in it may come after.
    starts: Vec<u32>,
}

impl FactorTable {
    /// Buckets for each row.
    const BUCKETS_A_ROW: usize = 4;

    pub(crate) fn new(rows: &[[f64; 2]]) -> Self {
        let rows = rows.to_vec();
        let (Some(&[first, _]), Some(&[last, _])) = (rows.first(), rows.last()) else {
            return Self { rows, buckets_a_unit: 0.0, starts: Vec::new() };
        };
        let count = rows.len() * Self::BUCKETS_A_ROW;
        // Where all slopes are one, or too far apart to be told by this, all fall into the first bucket.
        let buckets_a_unit = (count as f64 / (last - first)).min(f64::MAX);
        // A bucket starts one early, so the rounding of its number does not matter.
        let start = |bucket: usize| first + (bucket as f64 - 1.0) / buckets_a_unit;
        let starts = (0..count).map(|bucket| rows.partition_point(|&[at, _]| at < start(bucket)) as u32);
        Self { starts: starts.collect(), rows, buckets_a_unit }
    }

    /// The factor of a slope: linear between the rows around it.
    #[inline(always)]
    fn at(&self, slope: f64) -> f64 {
        let (rows, last) = (&self.rows, self.rows.len() - 1);
        if slope <= rows[0][0] {
            return rows[0][1];
        }
        if slope >= rows[last][0] {
            return rows[last][1];
        }
        let bucket = ((slope - rows[0][0]) * self.buckets_a_unit) as usize;
        let mut after = self.starts[bucket.min(self.starts.len() - 1)] as usize;
        while rows[after][0] < slope {
            after += 1;
        }
        let ([low, low_factor], [high, high_factor]) = (rows[after.max(1) - 1], rows[after.max(1)]);
        low_factor + (high_factor - low_factor) * ((slope - low) / (high - low))
    }
}

/// A value for each cell of a row of a window.
type Line = [f64; WINDOW];

/// A row of a window.
#[derive(Clone, Copy)]
struct Cells {
    /// 0 for obstacles.
    friction: Line,
    elevation: Line,
}

impl Cells {
    const NONE: Self = Self { friction: [0.0; WINDOW], elevation: [0.0; WINDOW] };

    /// The cells one column to the east.
    fn shifted(&self) -> Self {
        let mut shifted = Self::NONE;
        shifted.friction[..WINDOW - 1].copy_from_slice(&self.friction[1..]);
        shifted.elevation[..WINDOW - 1].copy_from_slice(&self.elevation[1..]);
        shifted
    }
}

/// The weights of moves between two lines of cells, there and back.
type Weighed = [[f64; WINDOW]; 2];

impl<C: Cost<f64>> TileWeights<f64> for SlopeWeights<'_, C> {
    fn tile_counts(&self) -> [usize; 2] {
        self.friction.tile_counts
    }

    fn has_diagonals(&self) -> bool {
        self.connectivity.neighbour_count() > 4
    }

    fn fill(&self, [x, y]: [usize; 2], weights: &mut Weights<f64>) {
        fill_rows(self, [x, y], &self.friction.windows[y * self.friction.tile_counts[0] + x], weights);
    }
}

impl<C: Cost<f64>> SlopeWeights<'_, C> {
    /// A row of the window.
    fn cells(&self, [tile_x, tile_y]: [usize; 2], row: usize, friction: &[C; WINDOW]) -> Cells {
        let mut cells = Cells::NONE;
        for x in 0..WINDOW {
            cells.friction[x] = friction[x].times(1.0);
        }
        let [width, height] = self.friction.size;
        let Some(y) = (tile_y * EDGE + row).checked_sub(1).filter(|&y| y < height) else { return cells };
        let first = usize::from(tile_x == 0);
        let start = tile_x * EDGE + first - 1;
        let elevation = &self.elevation[y * width + start..(y + 1) * width];
        for ((cell, &elevation), &friction) in
            cells.elevation[first..].iter_mut().zip(elevation).zip(&cells.friction[first..])
        {
            *cell = if friction > 0.0 { elevation.into() } else { 0.0 };
        }
        cells
    }

    /// Whether a corner rule closes a diagonal between two cells that are obstacles or not.
    fn closes(&self, one: f64, other: f64) -> bool {
        match self.connectivity.corners() {
            Corners::BothFree => one == 0.0 || other == 0.0,
            Corners::OneFree => one == 0.0 && other == 0.0,
            Corners::Any => false,
        }
    }
}

fn fill_rows<C: Cost<f64>>(
    slope: &SlopeWeights<'_, C>,
    tile: [usize; 2],
    frictions: &WindowCosts<C>,
    weights: &mut Weights<f64>,
) {
    let has_diagonals = slope.has_diagonals();
    let last = WINDOW - 1;
    let mut above = Cells::NONE;
    for (row, friction) in frictions.iter().enumerate() {
        // No move crosses the edge of the raster, so the lengths there are any.
        let [run_x, run_y, run_diagonal] = slope.runs.at((tile[1] * EDGE + row).saturating_sub(1));
        let own = slope.cells(tile, row, friction);
        let own_east = own.shifted();
        let [east, west] = weigh(slope, &own, &own_east, run_x);
        write(&mut weights.moves[1][row], &east[1..]);
        write(&mut weights.moves[3][row], &west);
        weights.sides[0][1][row] = east[0];
        weights.sides[1][1][row] = west[last - 1];
        if row > 0 {
            let [up, down] = weigh(slope, &own, &above, run_y);
            write(&mut weights.moves[0][row], &up[1..]);
            write(&mut weights.moves[2][row - 1], &down[1..]);
        }
        if row > 0 && has_diagonals {
            let above_east = above.shifted();
            let [mut north_east, mut south_west] = weigh(slope, &own, &above_east, run_diagonal);
            let [mut north_west, mut south_east] = weigh(slope, &own_east, &above, run_diagonal);
            for x in 0..last {
                // All four diagonals cross two of the same four cells.
                if slope.closes(own.friction[x + 1], above.friction[x]) {
                    (north_east[x], south_west[x]) = (f64::FAR, f64::FAR);
                }
                if slope.closes(own.friction[x], above.friction[x + 1]) {
                    (north_west[x], south_east[x]) = (f64::FAR, f64::FAR);
                }
            }
            write(&mut weights.moves[4][row], &north_east[1..]);
            write(&mut weights.moves[6][row - 1], &south_west);
            write(&mut weights.moves[7][row], &north_west);
            write(&mut weights.moves[5][row - 1], &south_east[1..]);
            weights.sides[0][0][row] = north_east[0];
            weights.sides[1][2][row - 1] = south_west[last - 1];
            weights.sides[1][0][row] = north_west[last - 1];
            weights.sides[0][2][row - 1] = south_east[0];
        }
        above = own;
    }
}

fn write(row: &mut Row<f64>, weights: &[f64]) {
    row.copy_from_slice(&weights[..EDGE]);
}

/// The weights of the moves from the cells of one line to those of another, and back; [`Distance::FAR`] where either is an obstacle.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn weigh<C: Cost<f64>>(slope: &SlopeWeights<'_, C>, one: &Cells, other: &Cells, run: f64) -> Weighed {
    let mut lengths = [0.0; WINDOW];
    for x in 0..WINDOW {
        let rise = other.elevation[x] - one.elevation[x];
        lengths[x] = (run * run + rise * rise).sqrt();
    }
    let mut factors = [[1.0; WINDOW]; 2];
    if !slope.factors.rows.is_empty() {
        let sign = if slope.is_outward { -1.0 } else { 1.0 };
        for x in 0..WINDOW {
            let steepness = sign * (other.elevation[x] - one.elevation[x]) / run;
            factors[0][x] = slope.factors.at(steepness);
            factors[1][x] = slope.factors.at(-steepness);
        }
    }
    let share = 1.0 / slope.rule.cell_count() as f64;
    let mut weights = [[f64::FAR; WINDOW]; 2];
    for (way, weights) in weights.iter_mut().enumerate() {
        let (start, target) = if way == 0 { (one, other) } else { (other, one) };
        for x in 0..WINDOW {
            let friction = match slope.rule {
                CostRule::Entry => target.friction[x],
                CostRule::Exit => start.friction[x],
                CostRule::Mean => start.friction[x] + target.friction[x],
            };
            let weight = (friction * share) * lengths[x] * factors[way][x];
            let weight = weight.most(WEIGHTS[0]).least(WEIGHTS[1]);
            let is_free = (start.friction[x] > 0.0) & (target.friction[x] > 0.0);
            weights[x] = if is_free { weight } else { f64::FAR };
        }
    }
    weights
}
