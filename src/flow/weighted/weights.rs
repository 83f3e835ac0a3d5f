//! The weights of all moves in the window of a tile.

use crate::flow::grid::moves::{Connectivity, Corners};
use crate::flow::weighted::costs::TileCosts;
use crate::flow::weighted::distance::{Cost, Distance};
use crate::flow::weighted::rule::MoveCosts;
use crate::flow::weighted::window::{EDGE, Row, WINDOW, Weights, WindowCosts};

/// What closes a diagonal move. Data in its place would keep the loop over a row from using vectors.
const BOTH_FREE: u8 = 1;
const ONE_FREE: u8 = 2;
const ANY_CORNERS: u8 = 3;

/// What moves weigh, tile by tile.
pub(crate) trait TileWeights<D>: Sync {
    /// Columns and rows of tiles.
    fn tile_counts(&self) -> [usize; 2];

    fn has_diagonals(&self) -> bool;

    /// Writes the weights of the moves in the window of a tile, which is in this column and row of tiles.
    fn fill(&self, tile: [usize; 2], weights: &mut Weights<D>);
}

/// Weights over flat ground: the length of a step times the costs of the cells that it pays for.
pub(crate) struct FlatWeights<'a, C, D> {
    pub(crate) costs: &'a TileCosts<C>,
    pub(crate) connectivity: Connectivity,
    /// What a cell's cost is multiplied by for moves that enter it: along x, along y, diagonal.
    pub(crate) entry_lengths: [D; 3],
    /// The same for moves that leave it.
    pub(crate) exit_lengths: [D; 3],
    /// Both for the moves of each row, along it and to the row before, where rows differ; else empty.
    pub(crate) rows: &'a [[[D; 3]; 2]],
}

impl<'a> FlatWeights<'a, u32, i64> {
    /// Whole weights.
    pub(crate) fn whole(costs: &'a TileCosts<u32>, moves: &MoveCosts) -> Self {
        let lengths = [moves.lengths.x, moves.lengths.y, moves.lengths.diagonal].map(i64::from);
        let [entry_lengths, exit_lengths] = moves.rule.shares(lengths, lengths, 0);
        Self { costs, connectivity: moves.connectivity, entry_lengths, exit_lengths, rows: &[] }
    }
}

impl<C: Cost<D>, D: Distance> TileWeights<D> for FlatWeights<'_, C, D> {
    fn tile_counts(&self) -> [usize; 2] {
        self.costs.tile_counts
    }

    fn has_diagonals(&self) -> bool {
        self.connectivity.neighbour_count() > 4
    }

    fn fill(&self, [x, y]: [usize; 2], weights: &mut Weights<D>) {
        fill(self, y * EDGE, &self.costs.windows[y * self.costs.tile_counts[0] + x], weights);
    }
}

/// A value for each cell of a row of a window.
type Line<D> = [D; WINDOW];

/// What the cells of a row add to the weight of a move: along x, along y, diagonal.
#[derive(Clone, Copy)]
struct Shares<D> {
    /// Of moves that enter the cell.
    entered: [Line<D>; 3],
    /// Of moves that leave it.
    left: [Line<D>; 3],
    /// [`Distance::FAR`] for obstacles, and 0 for other cells.
    walls: Line<D>,
}

impl<D: Distance> Default for Shares<D> {
    fn default() -> Self {
        let lines = [[D::default(); WINDOW]; 3];
        Self { entered: lines, left: lines, walls: lines[0] }
    }
}

impl<C, D: Distance> FlatWeights<'_, C, D> {
    /// What costs are multiplied by for the moves of a row of the grid, along it and to the row before; outside of the grid any.
    fn lengths(&self, row: Option<usize>) -> [[D; 3]; 2] {
        let of_row = row.and_then(|row| self.rows.get(row)).copied();
        of_row.unwrap_or([self.entry_lengths, self.exit_lengths])
    }
}

/// Writes the weights of the moves of a window. The window's tile begins at a given row of the grid.
fn fill<C: Cost<D>, D: Distance>(
    flat: &FlatWeights<'_, C, D>,
    first_row: usize,
    costs: &WindowCosts<C>,
    weights: &mut Weights<D>,
) {
    let across_corners = match (flat.connectivity.neighbour_count(), flat.connectivity.corners()) {
        (4, _) => None,
        (_, Corners::BothFree) => {
            Some(across_corners::<D, BOTH_FREE> as fn(&Shares<D>, &Shares<D>, usize, &mut Weights<D>))
        }
        (_, Corners::OneFree) => Some(across_corners::<D, ONE_FREE> as _),
        (_, Corners::Any) => Some(across_corners::<D, ANY_CORNERS> as _),
    };
    // Of this row and the one above it, in turns.
    let [mut even, mut odd] = [Shares::default(); 2];
    for (row, row_costs) in costs.iter().enumerate() {
        let (own, above) = if row % 2 == 0 { (&mut even, &mut odd) } else { (&mut odd, &mut even) };
        let lengths = flat.lengths((first_row + row).checked_sub(1));
        find_shares(lengths, row_costs, own);
        if row > 0 && !flat.rows.is_empty() {
            // The moves between two rows have the lengths of the lower.
            find_shares(lengths, &costs[row - 1], above);
        }
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
fn find_shares<C: Cost<D>, D: Distance>(
    [entry_lengths, exit_lengths]: [[D; 3]; 2],
    costs: &[C; WINDOW],
    shares: &mut Shares<D>,
) {
    for x in 0..WINDOW {
        shares.walls[x] = if costs[x] == C::default() { D::FAR } else { D::default() };
    }
    for axis in 0..3 {
        for x in 0..WINDOW {
            shares.entered[axis][x] = shares.walls[x] + costs[x].times(entry_lengths[axis]);
            shares.left[axis][x] = shares.walls[x] + costs[x].times(exit_lengths[axis]);
        }
    }
}

/// Writes the weights of moves along a row.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn along<D: Distance>(own: &Shares<D>, row: usize, weights: &mut Weights<D>) {
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
fn across<D: Distance>(above: &Shares<D>, own: &Shares<D>, row: usize, weights: &mut Weights<D>) {
    write(&mut weights.moves[0][row], |x| own.left[1][x] + above.entered[1][x]);
    write(&mut weights.moves[2][row - 1], |x| above.left[1][x] + own.entered[1][x]);
}

/// The same for diagonal moves.
#[multiversion::multiversion(targets("x86_64+avx2"))]
fn across_corners<D: Distance, const CORNERS: u8>(
    above: &Shares<D>,
    own: &Shares<D>,
    row: usize,
    weights: &mut Weights<D>,
) {
    let diagonal = |from: &Shares<D>, x: usize, to: &Shares<D>, to_x: usize| {
        let between = [from.walls[to_x], to.walls[x]];
        let wall = match CORNERS {
            BOTH_FREE => between[0].most(between[1]),
            ONE_FREE => between[0].least(between[1]),
            _ => D::default(),
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
fn write<D>(row: &mut Row<D>, weight: impl Fn(usize) -> D) {
    for x in 0..EDGE {
        row[x] = weight(x + 1);
    }
}
