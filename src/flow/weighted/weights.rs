//! The weights of all moves in the window of a tile.

use crate::flow::grid::moves::Corners;
use crate::flow::weighted::rule::{CostRule, MoveCosts};
use crate::flow::weighted::slope::SlopeCosts;
use crate::flow::weighted::window::{EDGE, FAR, Row, WINDOW, Weights, WindowCosts};

/// What moves weigh.
pub(crate) enum Weighing<'a> {
    /// Steps times costs.
    Costs(MoveCosts),
    /// Steps over the ground times friction.
    Slope(SlopeCosts<'a>),
}

impl Weighing<'_> {
    pub(crate) fn has_diagonals(&self) -> bool {
        let connectivity = match self {
            Self::Costs(moves) => moves.connectivity,
            Self::Slope(slope) => slope.connectivity,
        };
        connectivity.neighbour_count() > 4
    }

    /// Writes the weights of the moves in the window of a tile, which is in this column and row of tiles.
    pub(crate) fn fill(&self, tile: [usize; 2], costs: &WindowCosts, weights: &mut Weights) {
        match self {
            Self::Costs(moves) => fill(moves, costs, weights),
            Self::Slope(slope) => slope.fill(tile, costs, weights),
        }
    }
}

/// A value for each cell of a row of a window.
type Line = [i64; WINDOW];

/// What the cells of a row add to the weight of a move: along x, along y, diagonal.
#[derive(Clone, Copy)]
struct Shares {
    /// Of moves that enter the cell.
    entered: [Line; 3],
    /// Of moves that leave it.
    left: [Line; 3],
    /// `FAR` for obstacles, and 0 for other cells.
    walls: Line,
}

impl Shares {
    const NONE: Self = Self { entered: [[0; WINDOW]; 3], left: [[0; WINDOW]; 3], walls: [0; WINDOW] };
}

/// Writes the weights of the moves of a window.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn fill(moves: &MoveCosts, costs: &WindowCosts, weights: &mut Weights) {
    let has_diagonals = moves.connectivity.neighbour_count() > 4;
    let closed = ClosedBy::new(moves.connectivity.corners());
    let mut above = Shares::NONE;
    for (row, costs) in costs.iter().enumerate() {
        let own = shares(moves, costs);
        along(&own, row, weights);
        if row > 0 {
            across(&above, &own, row, weights);
            if has_diagonals {
                across_corners(&above, &own, closed, row, weights);
            }
        }
        above = own;
    }
}

/// Which obstacles beside a diagonal move close it, as masks of [`FAR`].
#[derive(Clone, Copy)]
struct ClosedBy {
    any: i64,
    both: i64,
}

impl ClosedBy {
    fn new(corners: Corners) -> Self {
        match corners {
            Corners::BothFree => Self { any: FAR, both: FAR },
            Corners::OneFree => Self { any: 0, both: FAR },
            Corners::Any => Self { any: 0, both: 0 },
        }
    }

    #[inline(always)]
    fn wall(self, [one, other]: [i64; 2]) -> i64 {
        ((one | other) & self.any) | (one & other & self.both)
    }
}

#[inline(always)]
fn shares(moves: &MoveCosts, costs: &[u32; WINDOW]) -> Shares {
    let lengths = [moves.lengths.x, moves.lengths.y, moves.lengths.diagonal];
    let (pays_entry, pays_exit) = (moves.rule != CostRule::Exit, moves.rule != CostRule::Entry);
    let mut shares = Shares::NONE;
    for x in 0..WINDOW {
        shares.walls[x] = if costs[x] == 0 { FAR } else { 0 };
    }
    for axis in 0..3 {
        for x in 0..WINDOW {
            // Less than 2^24 times 2^32.
            let cost = (u64::from(costs[x]) * u64::from(lengths[axis])) as i64 + shares.walls[x];
            shares.entered[axis][x] = if pays_entry { cost } else { shares.walls[x] };
            shares.left[axis][x] = if pays_exit { cost } else { shares.walls[x] };
        }
    }
    shares
}

/// Writes the weights of moves along a row.
#[inline(always)]
fn along(own: &Shares, row: usize, weights: &mut Weights) {
    let east = |x: usize| own.left[0][x] + own.entered[0][x + 1];
    let west = |x: usize| own.left[0][x] + own.entered[0][x - 1];
    write(&mut weights.moves[1][row], east);
    write(&mut weights.moves[3][row], west);
    // The cells beside the tile, into it.
    weights.sides[0][1][row] = east(0);
    weights.sides[1][1][row] = west(WINDOW - 1);
}

/// Writes the weights of moves between a row and the one above it.
#[inline(always)]
fn across(above: &Shares, own: &Shares, row: usize, weights: &mut Weights) {
    write(&mut weights.moves[0][row], |x| own.left[1][x] + above.entered[1][x]);
    write(&mut weights.moves[2][row - 1], |x| above.left[1][x] + own.entered[1][x]);
}

/// The same for diagonal moves.
#[inline(always)]
fn across_corners(above: &Shares, own: &Shares, closed: ClosedBy, row: usize, weights: &mut Weights) {
    let diagonal = |from: &Shares, x: usize, to: &Shares, to_x: usize| {
        let wall = closed.wall([from.walls[to_x], to.walls[x]]);
        from.left[2][x] + to.entered[2][to_x] + wall
    };
    write(&mut weights.moves[4][row], |x| diagonal(own, x, above, x + 1));
    write(&mut weights.moves[7][row], |x| diagonal(own, x, above, x - 1));
    write(&mut weights.moves[5][row - 1], |x| diagonal(above, x, own, x + 1));
    write(&mut weights.moves[6][row - 1], |x| diagonal(above, x, own, x - 1));
    let last = WINDOW - 1;
    weights.sides[0][0][row] = diagonal(own, 0, above, 1);
    weights.sides[0][2][row - 1] = diagonal(above, 0, own, 1);
    weights.sides[1][0][row] = diagonal(own, last, above, last - 1);
    weights.sides[1][2][row - 1] = diagonal(above, last, own, last - 1);
}

/// Writes the weights of the cells of a tile's row, by their columns in the window.
#[inline(always)]
fn write(row: &mut Row, weight: impl Fn(usize) -> i64) {
    for x in 0..EDGE {
        row[x] = weight(x + 1);
    }
}
