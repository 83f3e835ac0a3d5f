//! Moves as strides through row-major arrays.

use crate::flow::grid::cells::Grid;

/// For each move: what it adds to the index of a cell, and the length of its step.
pub(crate) fn strides(grid: &Grid) -> [(isize, u32); 32] {
    let connectivity = grid.connectivity();
    let [width, height, _] = grid.size().map(|length| length as isize);
    let mut strides = [(0, 0); 32];
    for (code, (stride, &[x, y, z])) in strides.iter_mut().zip(connectivity.offsets()).enumerate() {
        let index_step = (z as isize * height + y as isize) * width + x as isize;
        *stride = (index_step, connectivity.step(code as u8));
    }
    strides
}
