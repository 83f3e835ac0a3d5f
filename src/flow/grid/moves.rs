//! The moves from cell to cell: their order, their lengths and the corner rules.

/// Code of a cell that has no next cell: a goal, or a cell from which none is reached.
pub const NEXT_NONE: u8 = 255;

/// Which neighbours a cell has.
///
/// A next cell's code is the index of its move in this order, `y` growing downward (N is row `y - 1`):
///
/// - [`Four`](Self::Four) and [`Eight`](Self::Eight): 0 N, 1 E, 2 S, 3 W, then 4 NE, 5 SE, 6 SW, 7 NW;
/// - [`Six`](Self::Six) and [`TwentySix`](Self::TwentySix): 0 −y, 1 +y, 2 −x, 3 +x, 4 −z, 5 +z; then the edges 6 −y−x,
///   7 −y+x, 8 +y−x, 9 +y+x, 10 −y−z, 11 −y+z, 12 +y−z, 13 +y+z, 14 −x−z, 15 −x+z, 16 +x−z, 17 +x+z; then the corners
///   18 −y−x−z, 19 −y−x+z, 20 −y+x−z, 21 −y+x+z, 22 +y−x−z, 23 +y−x+z, 24 +y+x−z, 25 +y+x+z.
///
/// A step is 1 long where all moves are orthogonal. With diagonals it is 408 along an axis and 577 across a square
/// (√2 to 1.5e-6), in three dimensions 1183, 1673 (√2 to 2.2e-6) and 2049 across a cube (√3 to 5e-7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Connectivity {
    /// Two dimensions: N, E, S, W.
    Four,
    /// Two dimensions, diagonals too.
    Eight(Corners),
    /// Three dimensions: along the axes.
    Six,
    /// Three dimensions, diagonals across squares and cubes too.
    TwentySix(Corners),
}

/// When a diagonal move is allowed. The cells between are those that orthogonal moves to the same place could cross: two
/// for a diagonal across a square, six across a cube. A cell beyond the border is never between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Corners {
    /// Only where all cells between are free: no corner is cut. MovingAI's rule.
    #[default]
    BothFree,
    /// Where orthogonal moves could reach the same place: in two dimensions, where at least one of the two cells is
    /// free.
    OneFree,
    /// Always, even between two obstacles.
    Any,
}

/// The offsets `x, y, z` of the moves in two dimensions.
const FLAT: [[i32; 3]; 8] =
    [[0, -1, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 0]];

/// The offsets `x, y, z` of the moves in three dimensions.
const SOLID: [[i32; 3]; 26] = [
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
    /// Eight neighbours, no corner is cut: MovingAI's rule.
    fn default() -> Self {
        Self::Eight(Corners::BothFree)
    }
}

impl Connectivity {
    /// How many dimensions the grid has that it is for: 2 or 3.
    pub fn dimension(self) -> u32 {
        match self {
            Self::Four | Self::Eight(_) => 2,
            Self::Six | Self::TwentySix(_) => 3,
        }
    }

    /// How many neighbours a cell has that is not at the border.
    pub fn neighbour_count(self) -> usize {
        self.offsets().len()
    }

    /// The moves in their order, each as what it adds to `x, y, z`.
    pub fn offsets(self) -> &'static [[i32; 3]] {
        match self {
            Self::Four => &FLAT[..4],
            Self::Eight(_) => &FLAT,
            Self::Six => &SOLID[..6],
            Self::TwentySix(_) => &SOLID,
        }
    }

    /// The length of the move with that code: see [`Connectivity`]. 0 for a code that is no move.
    pub fn step(self, code: u8) -> u32 {
        let Some(offset) = self.offsets().get(usize::from(code)) else { return 0 };
        let axis_count = offset.iter().filter(|&&part| part != 0).count();
        match self {
            Self::Four | Self::Six => 1,
            Self::Eight(_) => [408, 577][axis_count - 1],
            Self::TwentySix(_) => [1183, 1673, 2049][axis_count - 1],
        }
    }

    /// The length of a move along an axis, of which one cell is: 1, 408 or 1183.
    pub fn unit(self) -> u32 {
        self.step(0)
    }

    /// The corner rule; of no meaning where there are no diagonals.
    pub(crate) fn corners(self) -> Corners {
        match self {
            Self::Four | Self::Six => Corners::Any,
            Self::Eight(corners) | Self::TwentySix(corners) => corners,
        }
    }
}

/// Whether the corner rule lets a move by `offset` pass, where `is_free` tells of a cell by its offset.
pub(crate) fn passes(corners: Corners, offset: [i32; 3], is_free: impl Fn([i32; 3]) -> bool) -> bool {
    let axes: [bool; 3] = offset.map(|part| part != 0);
    let axis_count = axes.iter().filter(|&&on| on).count();
    if axis_count < 2 || corners == Corners::Any {
        return true;
    }
    // The corners of the box that the move crosses, as bits of the axes already gone along.
    let all = (0..3).filter(|&axis| axes[axis]).map(|axis| 1 << axis).sum::<usize>();
    let at = |bits: usize| std::array::from_fn(|axis| if bits >> axis & 1 == 1 { offset[axis] } else { 0 });
    let mut reached = [false; 8];
    reached[0] = true;
    for bits in 1..all {
        if bits & !all != 0 {
            continue;
        }
        let free = is_free(at(bits));
        if corners == Corners::BothFree && !free {
            return false;
        }
        reached[bits] = free && (0..3).any(|axis| bits >> axis & 1 == 1 && reached[bits & !(1 << axis)]);
    }
    (0..3).any(|axis| axes[axis] && reached[all & !(1 << axis)])
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
            // Axes first, then edges, then corners.
            let counts: Vec<usize> = connectivity
                .offsets()
                .iter()
                .map(|offset| offset.iter().filter(|&&part| part != 0).count())
                .collect();
            assert!(counts.is_sorted());
        }
    }

    #[test]
    fn corner_rules() {
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
        // Across a cube one way of three moves must be free: x, then y. Two cells that do not follow one another are none.
        let across = [1, 1, 1];
        assert!(passes(Corners::OneFree, across, open(&[[1, 0, 0], [1, 1, 0]])));
        assert!(!passes(Corners::OneFree, across, open(&[[1, 0, 0], [0, 1, 1]])));
        assert!(!passes(Corners::BothFree, across, open(&[[1, 0, 0], [1, 1, 0]])));
        assert!(passes(Corners::BothFree, across, |_| true));
    }
}
