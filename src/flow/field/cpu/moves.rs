//! Moves as steps through row-major arrays.

use crate::flow::grid::cells::Grid;

/// How far each move leads in row-major arrays, and its length.
pub(crate) fn strides(grid: &Grid) -> [(isize, u32); 32] {
    let connectivity = grid.connectivity();
    let [width, height, _] = grid.size().map(|length| length as isize);
    let mut strides = [(0, 0); 32];
    for (code, (stride, &[x, y, z])) in strides.iter_mut().zip(connectivity.offsets()).enumerate() {
        let ahead = (z as isize * height + y as isize) * width + x as isize;
        *stride = (ahead, connectivity.step(code as u8));
    }
    strides
}
