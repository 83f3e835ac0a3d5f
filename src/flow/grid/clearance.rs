//! How near the next obstacle is, and what that leaves of a grid for agents that have a size.
//!
//! The exact Euclidean distance transform, one axis after another: along each, the least of parabolas that stand on the
//! values so far (Meijster, Roerdink and Hesselink 2000; Felzenszwalb and Huttenlocher 2012). Theirs run from centre to
//! centre. These begin at an obstacle's face, so they are flat for one cell more; they are convex all the same, so two
//! of them still cross once. All in whole numbers: squares of half cells.

use crate::parallel::map_shares;

/// Whether the grid ends at walls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Border {
    /// An agent may overhang the border.
    #[default]
    Open,
    /// The border is as good as an obstacle.
    Wall,
}

/// A square that is at least that large.
pub(crate) const FAR: u32 = u32::MAX;

/// Lines that are taken along an axis at once: they lie side by side in memory.
const BUNDLE: usize = 16;

/// The square of a distance along one axis, in half cells: from the centre of a cell to the face of one `steps` on.
fn square(steps: usize) -> u64 {
    let halves = (2 * steps as u64).saturating_sub(1);
    halves.saturating_mul(halves)
}

/// A sum that fits, or [`FAR`].
fn add(value: u32, square: u64) -> u32 {
    u64::from(value).saturating_add(square).min(FAR.into()) as u32
}

/// The square of the distance from each cell's centre to the nearest obstacle, in half cells; [`FAR`] where there is none.
/// `is_obstacle` tells of each index.
pub(crate) fn squares(
    size: [u32; 3],
    axis_count: usize,
    is_obstacle: impl Fn(usize) -> bool + Sync,
    border: Border,
) -> Vec<u32> {
    let size = size.map(|length| length as usize);
    let [width, height, depth] = size;
    let rows: Vec<usize> = (0..height * depth).collect();
    let rows = map_shares(&rows, 64, |&row| {
        let is_obstacle = |x: usize| is_obstacle(row * width + x);
        let mut values = vec![FAR; width];
        // Steps since the last obstacle, from either end.
        let mut steps = None;
        for x in 0..width {
            steps = if is_obstacle(x) { Some(0) } else { steps.map(|steps: usize| steps + 1) };
            values[x] = steps.map_or(FAR, |steps| add(0, square(steps)));
        }
        let mut steps = None;
        for x in (0..width).rev() {
            steps = if values[x] == 0 { Some(0) } else { steps.map(|steps: usize| steps + 1) };
            values[x] = values[x].min(steps.map_or(FAR, |steps| add(0, square(steps))));
        }
        values
    });
    let mut values = rows.concat();
    for (length, stride, outer_count, outer_stride) in
        [(height, width, depth, width * height), (depth, width * height, height, width)]
    {
        if length > 1 {
            across(&mut values, width, [length, stride], [outer_count, outer_stride]);
        }
    }
    if border == Border::Wall {
        for (index, value) in values.iter_mut().enumerate() {
            let place = [index % width, index / width % height, index / width / height];
            for axis in 0..axis_count {
                let steps = place[axis].min(size[axis] - 1 - place[axis]) + 1;
                *value = (*value).min(add(0, square(steps)));
            }
        }
    }
    values
}

/// Goes along the lines of one axis, which are `length` values `stride` apart. They begin at the cells of `outer_count`
/// rows, `outer_stride` apart, of `width` cells each.
fn across(
    values: &mut [u32],
    width: usize,
    [length, stride]: [usize; 2],
    [outer_count, outer_stride]: [usize; 2],
) {
    let bundles: Vec<(usize, usize)> = (0..outer_count)
        .flat_map(|outer| {
            let bundle = move |x: usize| (outer * outer_stride + x, BUNDLE.min(width - x));
            (0..width).step_by(BUNDLE).map(bundle)
        })
        .collect();
    let before: &[u32] = values;
    let lines = map_shares(&bundles, 4, |&(first, count)| {
        let mut found = vec![FAR; length * count];
        let (mut line, mut hull) = (vec![FAR; length], Vec::new());
        for x in 0..count {
            for (at, value) in line.iter_mut().enumerate() {
                *value = before[first + at * stride + x];
            }
            along(&line, &mut hull, |at, value| found[at * count + x] = value);
        }
        found
    });
    for (&(first, count), found) in bundles.iter().zip(&lines) {
        for (at, found) in found.chunks_exact(count).enumerate() {
            let from = first + at * stride;
            values[from..from + count].copy_from_slice(found);
        }
    }
}

/// The least of all parabolas along a line. `hull` is room for those that are part of it: each with the place from
/// which on it is the least.
fn along(line: &[u32], hull: &mut Vec<(usize, usize)>, mut write: impl FnMut(usize, u32)) {
    let at = |place: usize, foot: usize| u64::from(line[foot]).saturating_add(square(place.abs_diff(foot)));
    hull.clear();
    for foot in (0..line.len()).filter(|&foot| line[foot] != FAR) {
        while hull.last().is_some_and(|&(last, from)| at(from, last) > at(from, foot)) {
            hull.pop();
        }
        let Some(&(last, from)) = hull.last() else {
            hull.push((foot, 0));
            continue;
        };
        // The later one is the lower one from one place on.
        let (mut low, mut high) = (from, line.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if at(middle, foot) < at(middle, last) { high = middle } else { low = middle + 1 }
        }
        if low < line.len() {
            hull.push((foot, low));
        }
    }
    let mut ends = hull.iter().skip(1).map(|&(_, from)| from).chain([line.len()]);
    let mut place = 0;
    for &(foot, _) in hull.iter() {
        let end = ends.next().unwrap_or(line.len());
        while place < end {
            write(place, add(line[foot], square(place.abs_diff(foot))));
            place += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cell::Cell;
    use crate::flow::grid::cells::{Grid, GridOptions};
    use crate::flow::grid::moves::{Connectivity, Corners};

    /// By every obstacle, for every cell.
    fn by_hand(grid: &Grid, border: Border) -> Vec<u32> {
        let size = grid.size().map(|length| length as i32);
        let axis_count = grid.connectivity().dimension() as usize;
        let all: Vec<Cell> = (0..grid.cell_count()).map(|index| grid.cell(index)).collect();
        let parts = |cell: Cell| [cell.x, cell.y, cell.z];
        let square = |steps: i32| if steps == 0 { 0 } else { (2 * steps - 1).pow(2) as u32 };
        all.iter()
            .map(|&cell| {
                let here = parts(cell);
                let obstacles =
                    all.iter().filter(|&&other| grid.is_obstacle(other)).map(|&other| parts(other));
                let near = obstacles.map(|there| (0..3).map(|k| square((here[k] - there[k]).abs())).sum());
                let walls = (0..axis_count).flat_map(|k| [square(here[k] + 1), square(size[k] - here[k])]);
                match border {
                    Border::Open => near.min().unwrap_or(FAR),
                    Border::Wall => near.chain(walls).min().unwrap_or(FAR),
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn distances_are_those_of_every_obstacle(
            size in [1_u32..40, 1_u32..24, 1_u32..6], share in 0.0_f64..0.3, seed: u64, walled: bool, flat: bool,
        ) {
            let size = if flat { [size[0], size[1], 1] } else { size };
            let connectivity = if flat { Connectivity::Four } else { Connectivity::TwentySix(Corners::Any) };
            let mut state = seed | 1;
            let count = size.iter().map(|&length| length as usize).product();
            let obstacles: Vec<bool> = (0..count).map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                ((state >> 11) as f64) < share * (1_u64 << 53) as f64
            }).collect();
            let grid = Grid::new(size, &obstacles, connectivity.into()).unwrap();
            let border = if walled { Border::Wall } else { Border::Open };
            let axis_count = connectivity.dimension() as usize;
            prop_assert_eq!(squares(size, axis_count, |at| obstacles[at], border), by_hand(&grid, border));
        }
    }

    #[test]
    fn far_is_far() {
        let mut row = vec![false; 70_000];
        row[0] = true;
        let with = |clearance: f64| {
            let options = GridOptions { clearance, ..Connectivity::Four.into() };
            Grid::new([70_000, 1, 1], &row, options)
        };
        let clearances = with(0.0).unwrap().clearances(Border::Open);
        assert_eq!((clearances[32_000], clearances[40_000]), (31_999.5, f32::INFINITY));
        assert_eq!(with(32_000.0).unwrap().obstacle_count(), 32_001);
        for radius in [-1.0, f64::NAN, f64::INFINITY, 32_768.0] {
            assert!(with(radius).is_err(), "{radius}");
        }
    }

    /// Half a tenth is no number of f64: the border of what is blocked must not depend on that.
    #[test]
    fn a_radius_of_whole_cells_is_exact() {
        let mut row = vec![false; 200];
        row[0] = true;
        for cell_size in [0.05, 0.1, 0.3, 1.0, 7.0] {
            let frame = crate::flow::grid::frame::GridFrame { cell_size, ..Default::default() };
            for steps in 1..190 {
                let clearance = (steps as f64 - 0.5) * cell_size;
                let options = GridOptions { frame, clearance, ..Connectivity::Four.into() };
                let blocked = Grid::new([200, 1, 1], &row, options).unwrap();
                assert_eq!(blocked.obstacle_count(), steps, "{cell_size}");
            }
        }
    }
}
