//! Clearances: the distance from each cell to the nearest obstacle, which tells where agents of a given radius fit.
//!
//! An exact Euclidean distance transform, one axis after another. Along each line of an axis the result is the lower
//! envelope of parabolas, one on top of each value so far (Meijster, Roerdink and Hesselink 2000; Felzenszwalb and
//! Huttenlocher 2012). Those authors measure from centre to centre. Here a parabola begins at the face of an obstacle's
//! cell, so its bottom is flat and one cell wider. It is still convex, so two parabolas still cross once. All values
//! are integers: squared distances in half cells.

use crate::parallel::map_shares;

/// Whether agents keep their clearance from the border of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Border {
    /// The border is open: agents may overhang it.
    #[default]
    Open,
    /// The border counts as an obstacle.
    Wall,
}

/// The squared distance where no obstacle is near enough for 32 bits, or none exists.
pub(crate) const FAR: u32 = u32::MAX;

/// Lines that one thread transforms together: their values lie side by side in memory.
const BUNDLE_LEN: usize = 16;

/// The squared distance along one axis, in half cells, from the centre of a cell to the face of the cell that is
/// `steps` cells on.
fn squared_distance(steps: usize) -> u64 {
    let halves = (2 * steps as u64).saturating_sub(1);
    halves.saturating_mul(halves)
}

/// The sum, or [`FAR`] if 32 bits do not hold it.
fn saturating_sum(value: u32, square: u64) -> u32 {
    u64::from(value).saturating_add(square).min(FAR.into()) as u32
}

/// The squared distance from the centre of each cell to the nearest obstacle, in half cells; [`FAR`] where there is
/// none. `is_obstacle` tells whether the cell of an index is one.
pub(crate) fn squared_distances(
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
        // Cells since the last obstacle, first from the left, then from the right.
        let mut steps = None;
        for x in 0..width {
            steps = if is_obstacle(x) { Some(0) } else { steps.map(|steps: usize| steps + 1) };
            values[x] = steps.map_or(FAR, |steps| saturating_sum(0, squared_distance(steps)));
        }
        let mut steps = None;
        for x in (0..width).rev() {
            steps = if values[x] == 0 { Some(0) } else { steps.map(|steps: usize| steps + 1) };
            values[x] = values[x].min(steps.map_or(FAR, |steps| saturating_sum(0, squared_distance(steps))));
        }
        values
    });
    let mut values = rows.concat();
    for (length, stride, outer_count, outer_stride) in
        [(height, width, depth, width * height), (depth, width * height, height, width)]
    {
        if length > 1 {
            transform_axis(&mut values, width, [length, stride], [outer_count, outer_stride]);
        }
    }
    if border == Border::Wall {
        for (index, value) in values.iter_mut().enumerate() {
            let cell = [index % width, index / width % height, index / width / height];
            for axis in 0..axis_count {
                let steps = cell[axis].min(size[axis] - 1 - cell[axis]) + 1;
                *value = (*value).min(saturating_sum(0, squared_distance(steps)));
            }
        }
    }
    values
}

/// Transforms all lines along one axis. A line has `length` values that lie `stride` apart. The lines start at the
/// cells of `outer_count` rows of `width` cells; these rows lie `outer_stride` apart.
fn transform_axis(
    values: &mut [u32],
    width: usize,
    [length, stride]: [usize; 2],
    [outer_count, outer_stride]: [usize; 2],
) {
    let bundles: Vec<(usize, usize)> = (0..outer_count)
        .flat_map(|outer| {
            let bundle = move |x: usize| (outer * outer_stride + x, BUNDLE_LEN.min(width - x));
            (0..width).step_by(BUNDLE_LEN).map(bundle)
        })
        .collect();
    let old_values: &[u32] = values;
    let lines = map_shares(&bundles, 4, |&(first_cell, count)| {
        let mut new_values = vec![FAR; length * count];
        let (mut line, mut envelope) = (vec![FAR; length], Vec::new());
        for x in 0..count {
            for (index, value) in line.iter_mut().enumerate() {
                *value = old_values[first_cell + index * stride + x];
            }
            write_lower_envelope(&line, &mut envelope, |index, value| new_values[index * count + x] = value);
        }
        new_values
    });
    for (&(first_cell, count), new_values) in bundles.iter().zip(&lines) {
        for (index, new_values) in new_values.chunks_exact(count).enumerate() {
            let start = first_cell + index * stride;
            values[start..start + count].copy_from_slice(new_values);
        }
    }
}

/// Writes the lower envelope of the parabolas along a line. `envelope` is scratch for the parabolas on it, each with
/// the first index at which it is the lowest.
fn write_lower_envelope(line: &[u32], envelope: &mut Vec<(usize, usize)>, mut write: impl FnMut(usize, u32)) {
    let height = |index: usize, site: usize| {
        u64::from(line[site]).saturating_add(squared_distance(index.abs_diff(site)))
    };
    envelope.clear();
    for site in (0..line.len()).filter(|&site| line[site] != FAR) {
        while envelope.last().is_some_and(|&(last_site, from)| height(from, last_site) > height(from, site)) {
            envelope.pop();
        }
        let Some(&(last_site, from)) = envelope.last() else {
            envelope.push((site, 0));
            continue;
        };
        // The parabolas cross once: from one index on the later one is the lower.
        let (mut low, mut high) = (from, line.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if height(middle, site) < height(middle, last_site) { high = middle } else { low = middle + 1 }
        }
        if low < line.len() {
            envelope.push((site, low));
        }
    }
    let mut ends = envelope.iter().skip(1).map(|&(_, from)| from).chain([line.len()]);
    let mut index = 0;
    for &(site, _) in envelope.iter() {
        let end = ends.next().unwrap_or(line.len());
        while index < end {
            write(index, saturating_sum(line[site], squared_distance(index.abs_diff(site))));
            index += 1;
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

    /// The least over all obstacles, for each cell.
    fn by_brute_force(grid: &Grid, border: Border) -> Vec<u32> {
        let size = grid.size().map(|length| length as i32);
        let axis_count = grid.connectivity().dimension() as usize;
        let all: Vec<Cell> = (0..grid.cell_count()).map(|index| grid.cell(index)).collect();
        let parts = |cell: Cell| [cell.x, cell.y, cell.z];
        let squared_distance = |steps: i32| if steps == 0 { 0 } else { (2 * steps - 1).pow(2) as u32 };
        all.iter()
            .map(|&cell| {
                let own = parts(cell);
                let obstacles =
                    all.iter().filter(|&&other| grid.is_obstacle(other)).map(|&other| parts(other));
                let obstacle_distances = obstacles
                    .map(|other_cell| (0..3).map(|k| squared_distance((own[k] - other_cell[k]).abs())).sum());
                let border_distances = (0..axis_count)
                    .flat_map(|k| [squared_distance(own[k] + 1), squared_distance(size[k] - own[k])]);
                match border {
                    Border::Open => obstacle_distances.min().unwrap_or(FAR),
                    Border::Wall => obstacle_distances.chain(border_distances).min().unwrap_or(FAR),
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn distances_equal_brute_force(
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
            prop_assert_eq!(squared_distances(size, axis_count, |at| obstacles[at], border), by_brute_force(&grid, border));
        }
    }

    #[test]
    fn a_long_row_has_far_cells() {
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

    /// 0.05 is not exact in f64; which cells are blocked must not depend on that.
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
