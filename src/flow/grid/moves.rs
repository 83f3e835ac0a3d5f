//! The moves from cell to cell: their order, their lengths and the corner rules.

/// The code of a cell without a next cell: a goal, or a cell from which no goal is reached.
pub const NEXT_NONE: u8 = 255;

/// The neighbours of a cell: which moves there are, in which order.
///
/// The code of a next cell is the index of its move in this order. `y` grows downward, so N is row `y - 1`:
///
/// - [`Four`](Self::Four) and [`Eight`](Self::Eight): 0 N, 1 E, 2 S, 3 W, then 4 NE, 5 SE, 6 SW, 7 NW;
/// - [`Six`](Self::Six) and [`TwentySix`](Self::TwentySix): 0 −y, 1 +y, 2 −x, 3 +x, 4 −z, 5 +z; then the edges 6 −y−x,
///   7 −y+x, 8 +y−x, 9 +y+x, 10 −y−z, 11 −y+z, 12 +y−z, 13 +y+z, 14 −x−z, 15 −x+z, 16 +x−z, 17 +x+z; then the corners
///   18 −y−x−z, 19 −y−x+z, 20 −y+x−z, 21 −y+x+z, 22 +y−x−z, 23 +y−x+z, 24 +y+x−z, 25 +y+x+z.
///
/// A step has the length 1 if all moves are orthogonal. With diagonals lengths are integers in a finer unit: in two
/// dimensions 408 along an axis and 577 across a square (√2 to within 1.5e-6); in three dimensions 1183, 1673 (√2 to
/// within 2.2e-6) and 2049 across a cube (√3 to within 5e-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Connectivity {
    /// Two dimensions: the moves N, E, S, W.
    Four,
    /// Two dimensions: diagonals too.
    Eight(Corners),
    /// Three dimensions: the six moves along the axes.
    Six,
    /// Three dimensions: diagonals across squares and cubes too.
    TwentySix(Corners),
}

/// How many neighbours there are, as in "8 neighbours".
impl std::fmt::Display for Connectivity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} neighbours", self.neighbour_count())
    }
}

/// The corner rule: when a diagonal move is allowed. It depends on the cells between start and target, those that
/// orthogonal moves to the target could cross: two for a diagonal across a square, six across a cube. All of them are
/// in the grid if start and target are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Corners {
    /// Only if all cells between are free, so no corner is cut. This is the rule of the MovingAI benchmarks.
    #[default]
    BothFree,
    /// Only if orthogonal moves through free cells lead to the target: in two dimensions, if at least one of the two
    /// cells is free.
    OneFree,
    /// Always, even between two obstacles.
    Any,
}

/// The offsets `x, y, z` of the moves in two dimensions, in the order of their codes.
const OFFSETS_2D: [[i32; 3]; 8] =
    [[0, -1, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 0]];

/// The offsets `x, y, z` of the moves in three dimensions, in the order of their codes.
const OFFSETS_3D: [[i32; 3]; 26] = [
    [0, -1, 0],
    [0, 1, 0],
    [-1, 0, 0],
    [1, 0, 0],
    [0, 0, -1],
    [0, 0, 1],
    [-1, -1, 0],
    [1, -1, 0],
    [-1, 1, 0],
    [1, 1, 0],
    [0, -1, -1],
    [0, -1, 1],
    [0, 1, -1],
    [0, 1, 1],
    [-1, 0, -1],
    [-1, 0, 1],
    [1, 0, -1],
    [1, 0, 1],
    [-1, -1, -1],
    [-1, -1, 1],
    [1, -1, -1],
    [1, -1, 1],
    [-1, 1, -1],
    [-1, 1, 1],
    [1, 1, -1],
    [1, 1, 1],
];

impl Default for Connectivity {
    /// Eight neighbours, and no move cuts a corner: the rule of the MovingAI benchmarks.
    fn default() -> Self {
        Self::Eight(Corners::BothFree)
    }
}

impl Connectivity {
    /// The number of dimensions of a grid with these moves: 2 or 3.
    pub fn dimension(self) -> u32 {
        match self {
            Self::Four | Self::Eight(_) => 2,
            Self::Six | Self::TwentySix(_) => 3,
        }
    }

    /// The number of neighbours of a cell away from the border.
    pub fn neighbour_count(self) -> usize {
        self.offsets().len()
    }

    /// The moves in the order of their codes, each as the offset that it adds to `x, y, z`.
    pub fn offsets(self) -> &'static [[i32; 3]] {
        match self {
            Self::Four => &OFFSETS_2D[..4],
            Self::Eight(_) => &OFFSETS_2D,
            Self::Six => &OFFSETS_3D[..6],
            Self::TwentySix(_) => &OFFSETS_3D,
        }
    }

    /// The length of the step of a move: see [`Connectivity`]. 0 if `code` is not a move.
    pub fn step(self, code: u8) -> u32 {
        let Some(offset) = self.offsets().get(usize::from(code)) else { return 0 };
        let axis_count = offset.iter().filter(|&&part| part != 0).count();
        match self {
            Self::Four | Self::Six => 1,
            Self::Eight(_) => [408, 577][axis_count - 1],
            Self::TwentySix(_) => [1183, 1673, 2049][axis_count - 1],
        }
    }

    /// The length of a step along an axis: 1, 408 or 1183.
    pub fn unit(self) -> u32 {
        self.step(0)
    }

    /// The corner rule; meaningless where there are no diagonals.
    pub(crate) fn corners(self) -> Corners {
        match self {
            Self::Four | Self::Six => Corners::Any,
            Self::Eight(corners) | Self::TwentySix(corners) => corners,
        }
    }
}

/// Whether the corner rule allows the move by `offset`. `is_free` tells whether the cell at an offset is free.
pub(crate) fn passes(corners: Corners, offset: [i32; 3], is_free: impl Fn([i32; 3]) -> bool) -> bool {
    let axes: [bool; 3] = offset.map(|part| part != 0);
    let axis_count = axes.iter().filter(|&&is_moved| is_moved).count();
    if axis_count < 2 || corners == Corners::Any {
        return true;
    }
    // `bits` is a subset of the axes of the move, and so a cell of the box that the move crosses.
    let all_axes = (0..3).filter(|&axis| axes[axis]).map(|axis| 1 << axis).sum::<usize>();
    let offset_of =
        |bits: usize| std::array::from_fn(|axis| if bits >> axis & 1 == 1 { offset[axis] } else { 0 });
    let mut reached = [false; 8];
    reached[0] = true;
    for bits in 1..all_axes {
        if bits & !all_axes != 0 {
            continue;
        }
        let is_cell_free = is_free(offset_of(bits));
        if corners == Corners::BothFree && !is_cell_free {
            return false;
        }
        reached[bits] =
            is_cell_free && (0..3).any(|axis| bits >> axis & 1 == 1 && reached[bits & !(1 << axis)]);
    }
    (0..3).any(|axis| axes[axis] && reached[all_axes & !(1 << axis)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_all_neighbours_once() {
        for (connectivity, dimension) in
            [(Connectivity::Eight(Corners::Any), 2), (Connectivity::TwentySix(Corners::Any), 3)]
        {
            let mut offsets = connectivity.offsets().to_vec();
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!(offsets.len(), 3usize.pow(dimension) - 1);
            assert!(offsets.iter().flatten().all(|part| part.abs() <= 1));
            // Moves along one axis come first, then along two, then along three.
            let counts: Vec<usize> = connectivity
                .offsets()
                .iter()
                .map(|offset| offset.iter().filter(|&&part| part != 0).count())
                .collect();
            assert!(counts.is_sorted());
        }
    }

    #[test]
    fn corner_rules_look_at_the_cells_between() {
        let open = |cells: &'static [[i32; 3]]| move |at: [i32; 3]| cells.contains(&at);
        let diagonal = [1, -1, 0];
        for (cells, both, one) in [
            (&[][..], false, false),
            (&[[1, 0, 0]][..], false, true),
            (&[[0, -1, 0]][..], false, true),
            (&[[1, 0, 0], [0, -1, 0]][..], true, true),
        ] {
            assert_eq!(passes(Corners::BothFree, diagonal, open(cells)), both);
            assert_eq!(passes(Corners::OneFree, diagonal, open(cells)), one);
            assert!(passes(Corners::Any, diagonal, open(cells)));
        }
        // `OneFree` across a cube needs three orthogonal moves in a row through free cells, here x, then y. Two free
        // cells that do not touch are not enough.
        let across = [1, 1, 1];
        assert!(passes(Corners::OneFree, across, open(&[[1, 0, 0], [1, 1, 0]])));
        assert!(!passes(Corners::OneFree, across, open(&[[1, 0, 0], [0, 1, 1]])));
        assert!(!passes(Corners::BothFree, across, open(&[[1, 0, 0], [1, 1, 0]])));
        assert!(passes(Corners::BothFree, across, |_| true));
    }
}
