//! Cells that a caller gives: checked, linked, and cut where rounding has left them not quite convex.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown_point};
use crate::navigate::room::build::cells::Cells;
use crate::navigate::room::build::nonconvex;

/// How far from convex rounding may leave a cell, relative to its size squared.
const CONVEXITY_SLACK: f64 = 1e-12;

/// Cells from their corners, checked and linked.
pub(crate) fn check_and_join(points: Vec<DVec2>, corners: &[u32], counts: &[u32]) -> Result<Cells> {
    let laid_out = Cells::lay_out(points, corners, counts);
    for cell in 0..laid_out.len() as u32 {
        let refuse = |side: usize, message: &str| {
            let place = laid_out.sides[side].point.to_array();
            Err(Error::invalid(
                Location::Polygon(cell as usize),
                format!("{message}, at {}", shown_point(&place)),
            ))
        };
        let range = laid_out.range(cell);
        if laid_out.double_area(cell) <= 0.0 {
            return refuse(range.start, "the corners must run counter-clockwise around some area");
        }
        if let Some(side) = laid_out.reflex_corner(cell, CONVEXITY_SLACK) {
            return refuse(side, "the polygon is not convex");
        }
        // All corners are convex. What remains is that they go around once.
        let mut edges: Vec<DVec2> = range
            .clone()
            .map(|side| laid_out.ends(side))
            .map(|[a, b]| (b - a).normalize_or_zero())
            .filter(|edge| *edge != DVec2::ZERO)
            .collect();
        edges.extend(edges.first().copied());
        let turned: f64 = edges.windows(2).map(|pair| pair[0].angle_to(pair[1])).sum();
        if turned > 1.5 * std::f64::consts::TAU {
            return refuse(range.start, "the corners go around more than once");
        }
    }
    let Cells { points, .. } = laid_out;
    Cells::join(points, corners, counts).map_err(|[a, b]| {
        let message = format!("it shares an edge with polygon {a} in the same direction: they overlap");
        Error::invalid(Location::Polygon(b as usize), message)
    })
}

/// Cells that are exactly convex, from cells that are convex within rounding.
pub(crate) fn triangulate_nonconvex(cells: Cells) -> Result<Cells> {
    let place = |cell: u32| cells.sides_of(cell).first().map_or([f64::NAN; 2], |side| side.point.to_array());
    let places: Vec<[f64; 2]> = (0..cells.len() as u32).map(place).collect();
    nonconvex::triangulate_nonconvex(cells).map_err(|cell| {
        let message = format!("its outline meets itself, at {}", shown_point(&places[cell as usize]));
        Error::invalid(Location::Polygon(cell as usize), message)
    })
}
