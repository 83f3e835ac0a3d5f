//! The weights of all moves in the window of a tile.

use crate::flow::grid::moves::Corners;
use crate::flow::weighted::rule::{CostRule, MoveCosts};
use crate::flow::weighted::slope::SlopeCosts;
use crate::flow::weighted::window::{EDGE, FAR, Row, WINDOW, Weights, WindowCosts};

/// What closes a diagonal move. Data in its place would keep the loop over a row from using vectors.
const BOTH_FREE: u8 = 1;
const ONE_FREE: u8 = 2;
const ANY_CORNERS: u8 = 3;

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
fn fill(moves: &MoveCosts, costs: &WindowCosts, weights: &mut Weights) {
    let across_corners = match (moves.connectivity.neighbour_count(), moves.connectivity.corners()) {
        (4, _) => None,
        (_, Corners::BothFree) => {
            Some(across_corners::<BOTH_FREE> as fn(&Shares, &Shares, usize, &mut Weights))
        }
        (_, Corners::OneFree) => Some(across_corners::<ONE_FREE> as _),
        (_, Corners::Any) => Some(across_corners::<ANY_CORNERS> as _),
    };
    // Of this row and the one above it, in turns.
    let [mut even, mut odd] = [Shares::NONE; 2];
    for (row, costs) in costs.iter().enumerate() {
        let (own, above) = if row % 2 == 0 { (&mut even, &odd) } else { (&mut odd, &even) };
        find_shares(moves, costs, own);
        along(own, row, weights);
        if row > 0 {
            across(above, own, row, weights);
            if let Some(across_corners) = across_corners {
                across_corners(above, own, row, weights);
            }
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx2"))]
fn find_shares(moves: &MoveCosts, costs: &[u32; WINDOW], shares: &mut Shares) {
    let lengths = [moves.lengths.x, moves.lengths.y, moves.lengths.diagonal];
    // Masks, not conditions: a condition in the loop below keeps it from using vectors.
    let (pays_entry, pays_exit) = match moves.rule {
        CostRule::Entry => (!0, 0),
        CostRule::Exit => (0, !0),
        CostRule::Mean => (!0, !0),
    };
    for x in 0..WINDOW {
        shares.walls[x] = if costs[x] == 0 { FAR } else { 0 };
    }
    for axis in 0..3 {
        for x in 0..WINDOW {
            // Less than 2^24 times 2^32.
            let cost = (u64::from(costs[x]) * u64::from(lengths[axis])) as i64;
            shares.entered[axis][x] = shares.walls[x] + (cost & pays_entry);
            shares.left[axis][x] = shares.walls[x] + (cost & pays_exit);
        }
    }
}

/// Writes the weights of moves along a row.
#[multiversion::multiversion(targets("x86_64+avx2"))]
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
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn across(above: &Shares, own: &Shares, row: usize, weights: &mut Weights) {
    write(&mut weights.moves[0][row], |x| own.left[1][x] + above.entered[1][x]);
    write(&mut weights.moves[2][row - 1], |x| above.left[1][x] + own.entered[1][x]);
}

/// The same for diagonal moves.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn across_corners<const CORNERS: u8>(above: &Shares, own: &Shares, row: usize, weights: &mut Weights) {
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
