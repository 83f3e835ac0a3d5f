//! The cells of the direction cube, and the vertices that can be furthest along a direction of a cell.

use glam::{DVec3, Vec3};

/// Calls `each` for every cell, in order, with the vertices that can be furthest along any direction of it. The lists are made from
/// those of coarser cells, with a `split`-th of `side` cells along a side.
pub(crate) fn for_cells(vertices: &[Vec3], side: u32, split: u32, mut each: impl FnMut(&[u32])) {
    // A vertex that is furthest in a cell is furthest in the coarser cell around it.
    let everything: Vec<u32> = (0..vertices.len() as u32).collect();
    let coarse_side = side / split;
    let coarse: Vec<Vec<u32>> = (0..6 * coarse_side * coarse_side)
        .map(|cell| candidates(vertices, &everything, cell_cone(cell, coarse_side)))
        .collect();
    for cell in 0..6 * side * side {
        let (column, row, face) = (cell % side, cell / side % side, cell / (side * side));
        let around = (face * coarse_side + row / split) * coarse_side + column / split;
        each(&candidates(vertices, &coarse[around as usize], cell_cone(cell, side)));
    }
}

/// Cell of the direction cube that a direction falls in: `(face · side + row) · side + column`, faces +x −x +y −y +z
/// −z, row and column along the next two axes in cyclic order.
#[inline(always)]
pub(crate) fn cell_of(direction: Vec3, side: u32) -> u32 {
    let [x, y, z] = direction.abs().to_array();
    let (face, major, u, v) = if x >= y && x >= z {
        (u32::from(direction.x < 0.0), x, direction.y, direction.z)
    } else if y >= z {
        (2 + u32::from(direction.y < 0.0), y, direction.z, direction.x)
    } else {
        (4 + u32::from(direction.z < 0.0), z, direction.x, direction.y)
    };
    let half = side as f32 * 0.5;
    let inverse = half / major;
    // A zero direction gives NaN here, which becomes 0: any cell is right for it.
    let column = ((u * inverse + half) as u32).min(side - 1);
    let row = ((v * inverse + half) as u32).min(side - 1);
    (face * side + row) * side + column
}

/// Unit direction of a cell's middle, and the largest chord from it to a unit direction of the cell.
fn cell_cone(cell: u32, side: u32) -> (DVec3, f64) {
    let (column, row, face) = (cell % side, cell / side % side, cell / (side * side));
    let at = |column: f64, row: f64| {
        let u = column / f64::from(side) * 2.0 - 1.0;
        let v = row / f64::from(side) * 2.0 - 1.0;
        let sign = if face % 2 == 0 { 1.0 } else { -1.0 };
        match face / 2 {
            0 => DVec3::new(sign, u, v),
            1 => DVec3::new(v, sign, u),
            _ => DVec3::new(u, v, sign),
        }
        .normalize()
    };
    let (column, row) = (f64::from(column), f64::from(row));
    let center = at(column + 0.5, row + 0.5);
    let chord = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]
        .map(|(u, v)| (at(column + u, row + v) - center).length())
        .into_iter()
        .fold(0.0, f64::max);
    // The cell of a direction is found in f32, so slightly more than the cell must be covered.
    (center, chord * (1.0 + 1e-4) + 1e-6)
}

/// Those of the vertices listed in `among` that are furthest along some unit direction within a chord of a cone's
/// middle.
///
/// With `top` furthest along the middle itself: where `v` beats `top` along `middle + e`, `|e| ≤ chord`, there
/// `(top − v) · middle < (v − top) · e ≤ |top − v| chord`.
fn candidates(vertices: &[Vec3], among: &[u32], (middle, chord): (DVec3, f64)) -> Vec<u32> {
    let vertex = |v: u32| vertices[v as usize].as_dvec3();
    let along = |v: u32| vertex(v).dot(middle);
    let Some(top) = among.iter().copied().reduce(|best, v| if along(v) > along(best) { v } else { best })
    else {
        return Vec::new();
    };
    let top = vertex(top);
    let may_beat = |&v: &u32| {
        let offset = top - vertex(v);
        // 1e-6 bounds the error of f32 products of unit vectors.
        offset.dot(middle) <= offset.length() * chord + 1e-6
    };
    among.iter().copied().filter(may_beat).collect()
}
