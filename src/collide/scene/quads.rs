//! Structs of numbers, four at a time, as columns of one number each, and back.

use glam::{Mat4, Vec4};

/// Structs that are transposed together.
pub(crate) const QUAD: usize = 4;

/// Four vectors, component by component, or back.
#[inline(always)]
pub(crate) fn transposed([p, q, r, s]: [Vec4; QUAD]) -> [Vec4; QUAD] {
    let Mat4 { x_axis, y_axis, z_axis, w_axis } = Mat4::from_cols(p, q, r, s).transpose();
    [x_axis, y_axis, z_axis, w_axis]
}

/// Writes a component of four structs to each column.
#[inline(always)]
pub(crate) fn write_quad<const N: usize, const LANES: usize>(
    columns: &mut [[f32; LANES]; N],
    first: usize,
    values: [Vec4; N],
) {
    for (column, values) in columns.iter_mut().zip(values) {
        column[first..first + QUAD].copy_from_slice(&values.to_array());
    }
}

/// A component of four structs.
#[inline(always)]
pub(crate) fn quad<const LANES: usize>(column: &[f32; LANES], first: usize) -> Vec4 {
    Vec4::from_slice(&column[first..first + QUAD])
}
