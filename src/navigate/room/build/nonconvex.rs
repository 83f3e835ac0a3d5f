//! Cells that rounding left not quite convex, cut into triangles.
//!
//! Corners that were meant to be collinear seldom are in f64: one of them juts into its cell by an ulp. Seen along that wall, the left
//! and right end of the next edge swap, and a funnel goes through the wall. A search by exact predicates needs cells that are exactly
//! convex, so the few others are cut.

use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::shared::predicate::orient;
use glam::DVec2;

/// Cuts each cell that is not exactly convex into triangles: the first takes its number, the others come last.
///
/// # Errors
/// A cell that can't be cut, because its outline meets itself.
pub(crate) fn triangulate_nonconvex(cells: Cells) -> Result<Cells, u32> {
    let nonconvex: Vec<u32> =
        (0..cells.len() as u32).filter(|&cell| cells.reflex_corner(cell, 0.0).is_some()).collect();
    if nonconvex.is_empty() {
        return Ok(cells);
    }
    let mut result = Cells { points: cells.points.clone(), ..Cells::default() };
    // The new index of each old side, and the new sides within cut cells, which are linked at the end.
    let mut moved = vec![NONE; cells.sides.len()];
    let mut rest: Vec<(u32, [usize; 3])> = Vec::new();
    let mut inner: Vec<(u32, [usize; 2], u32)> = Vec::new();
    let mut add = |result: &mut Cells, cell: u32, corners: &[usize]| {
        let range = cells.range(cell);
        let vertices: Vec<u32> = corners.iter().map(|&k| cells.sides[range.start + k].vertex).collect();
        let new = result.add(&vertices);
        for (i, &k) in corners.iter().enumerate() {
            let next = corners[(i + 1) % corners.len()];
            let side = result.first[new as usize] + i as u32;
            if next == (k + 1) % range.len() {
                moved[range.start + k] = side;
            } else {
                inner.push((cell, [k, next], side));
            }
        }
    };
    for cell in 0..cells.len() as u32 {
        if nonconvex.binary_search(&cell).is_err() {
            let corners: Vec<usize> = (0..cells.range(cell).len()).collect();
            add(&mut result, cell, &corners);
            continue;
        }
        let points: Vec<DVec2> = cells.sides_of(cell).iter().map(|side| side.point).collect();
        let triangles = triangles(&points).ok_or(cell)?;
        for (i, triangle) in triangles.into_iter().enumerate() {
            if i == 0 {
                add(&mut result, cell, &triangle);
            } else {
                rest.push((cell, triangle));
            }
        }
    }
    for (cell, triangle) in rest {
        add(&mut result, cell, &triangle);
    }
    for (old, side) in cells.sides.iter().enumerate() {
        if side.twin != NONE && (old as u32) < side.twin {
            result.link(moved[old], moved[side.twin as usize]);
        }
    }
    for i in 0..inner.len() {
        let (cell, [from, to], side) = inner[i];
        if let Some(other) = inner[..i].iter().find(|other| other.0 == cell && other.1 == [to, from]) {
            result.link(side, other.2);
        }
    }
    Ok(result)
}

/// Cuts a polygon into triangles of positive area by ear clipping; `None` where its outline meets itself.
fn triangles(points: &[DVec2]) -> Option<Vec<[usize; 3]>> {
    let mut left: Vec<usize> = (0..points.len()).collect();
    let mut triangles = Vec::with_capacity(points.len().saturating_sub(2));
    while left.len() > 3 {
        let n = left.len();
        let ear = (0..n).find(|&i| {
            let [a, b, c] = [left[(i + n - 1) % n], left[i], left[(i + 1) % n]];
            let [pa, pb, pc] = [a, b, c].map(|k| points[k]);
            orient(pa, pb, pc) > 0.0
                && left.iter().all(|&k| {
                    let p = points[k];
                    [a, b, c].contains(&k)
                        || orient(pa, pb, p) < 0.0
                        || orient(pb, pc, p) < 0.0
                        || orient(pc, pa, p) < 0.0
                })
        })?;
        triangles.push([left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]]);
        left.remove(ear);
    }
    let last = [left[0], left[1], left[2]];
    let [a, b, c] = last.map(|k| points[k]);
    triangles.push(last);
    (orient(a, b, c) > 0.0).then_some(triangles)
}
