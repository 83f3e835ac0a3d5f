//! The weights of all moves in the window of a tile.

use crate::flow::grid::moves::Corners;
use crate::flow::weighted::rule::{CostRule, MoveCosts};
use crate::flow::weighted::slope::SlopeCosts;
use crate::flow::weighted::window::{EDGE, FAR, Row, WINDOW, Weights, WindowCosts};

/// What keeps a diagonal move from being allowed.
const NO_DIAGONALS: u8 = 0;
const BOTH_FREE: u8 = 1;
const ONE_FREE: u8 = 2;
const ANY_CORNERS: u8 = 3;
/// Which costs a move pays.
const ENTRY: u8 = 0;
const EXIT: u8 = 1;
const MEAN: u8 = 2;

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

/// Writes the weights of the moves of a window.
fn fill(moves: &MoveCosts, costs: &WindowCosts, weights: &mut Weights) {
    match (moves.connectivity.neighbour_count(), moves.connectivity.corners()) {
        (4, _) => fill_by::<NO_DIAGONALS>(moves, costs, weights),
        (_, Corners::BothFree) => fill_by::<BOTH_FREE>(moves, costs, weights),
        (_, Corners::OneFree) => fill_by::<ONE_FREE>(moves, costs, weights),
        (_, Corners::Any) => fill_by::<ANY_CORNERS>(moves, costs, weights),
    }
}

fn fill_by<const CORNERS: u8>(moves: &MoveCosts, costs: &WindowCosts, weights: &mut Weights) {
    let lengths = [moves.lengths.x, moves.lengths.y, moves.lengths.diagonal];
    match moves.rule {
        CostRule::Entry => fill_rows::<CORNERS, ENTRY>(lengths, costs, weights),
        CostRule::Exit => fill_rows::<CORNERS, EXIT>(lengths, costs, weights),
        CostRule::Mean => fill_rows::<CORNERS, MEAN>(lengths, costs, weights),
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

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn fill_rows<const CORNERS: u8, const RULE: u8>(
    lengths: [u32; 3],
    costs: &WindowCosts,
    weights: &mut Weights,
) {
    let mut above = Shares::NONE;
    for (row, costs) in costs.iter().enumerate() {
        let own = shares::<RULE>(lengths, costs);
        along(&own, row, weights);
        if row > 0 {
            across::<CORNERS>(&above, &own, row, weights);
        }
        above = own;
    }
}

#[inline(always)]
fn shares<const RULE: u8>(lengths: [u32; 3], costs: &[u32; WINDOW]) -> Shares {
    let mut shares = Shares::NONE;
    for x in 0..WINDOW {
        shares.walls[x] = if costs[x] == 0 { FAR } else { 0 };
    }
    for axis in 0..3 {
        for x in 0..WINDOW {
            // Less than 2^24 times 2^32.
            let cost = (u64::from(costs[x]) * u64::from(lengths[axis])) as i64 + shares.walls[x];
            shares.entered[axis][x] = if RULE == EXIT { shares.walls[x] } else { cost };
            shares.left[axis][x] = if RULE == ENTRY { shares.walls[x] } else { cost };
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
fn across<const CORNERS: u8>(above: &Shares, own: &Shares, row: usize, weights: &mut Weights) {
    write(&mut weights.moves[0][row], |x| own.left[1][x] + above.entered[1][x]);
    write(&mut weights.moves[2][row - 1], |x| above.left[1][x] + own.entered[1][x]);
    if CORNERS == NO_DIAGONALS {
        return;
    }
    let diagonal = |from: &Shares, x: usize, to: &Shares, to_x: usize| {
        let between = [from.walls[to_x], to.walls[x]];
        let wall = match CORNERS {
            BOTH_FREE => between[0] | between[1],
            ONE_FREE => between[0] & between[1],
            _ => 0,
        };
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
