//! Convex cells as they are given: checked, joined, and cut where rounding has left them not quite convex.

use glam::DVec2;

use crate::error::{Error, Location, Result, shown_point};
use crate::navigate::room::build::cells::Cells;
use crate::navigate::room::build::nonconvex;

/// Cells of a mesh may be as much out of convex as rounding makes them, in units of their size squared.
const DENT: f64 = 1e-12;

/// Cells from their corners, checked and joined.
pub(crate) fn join(points: Vec<DVec2>, corners: &[u32], counts: &[u32]) -> Result<Cells> {
    let laid_out = Cells::lay_out(points, corners, counts);
    for cell in 0..laid_out.len() as u32 {
        let fault = |side: usize, message: &str| {
            let place = laid_out.sides[side].point.to_array();
            Err(Error::invalid(
                Location::Polygon(cell as usize),
                format!("{message}, at {}", shown_point(&place)),
            ))
        };
        let range = laid_out.range(cell);
        if laid_out.double_area(cell) <= 0.0 {
            return fault(range.start, "the corners must run counter-clockwise around some area");
        }
        if let Some(side) = laid_out.dent(cell, DENT) {
            return fault(side, "the polygon is not convex");
        }
        // With convex corners, going round once is what is left to ask.
        let mut edges: Vec<DVec2> = range
            .clone()
            .map(|side| laid_out.ends(side))
            .map(|[a, b]| (b - a).normalize_or_zero())
            .filter(|edge| *edge != DVec2::ZERO)
            .collect();
        edges.extend(edges.first().copied());
        let turned: f64 = edges.windows(2).map(|pair| pair[0].angle_to(pair[1])).sum();
        if turned > 1.5 * std::f64::consts::TAU {
            return fault(range.start, "the corners go around more than once");
        }
    }
    let Cells { points, .. } = laid_out;
    Cells::join(points, corners, counts).map_err(|[a, b]| {
        let message = format!("it shares an edge with polygon {a} in the same direction: they overlap");
        Error::invalid(Location::Polygon(b as usize), message)
    })
}

/// Cells that are exactly convex, from some that are so within rounding.
pub(crate) fn cut(cells: Cells) -> Result<Cells> {
    let place = |cell: u32| cells.sides_of(cell).first().map_or([f64::NAN; 2], |side| side.point.to_array());
    let places: Vec<[f64; 2]> = (0..cells.len() as u32).map(place).collect();
    nonconvex::cut(cells).map_err(|cell| {
        let message = format!("its outline meets itself, at {}", shown_point(&places[cell as usize]));
        Error::invalid(Location::Polygon(cell as usize), message)
    })
}
