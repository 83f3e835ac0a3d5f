//! Offsets: the walls moved into the room by an agent's radius (a Minkowski sum with a disc).
//!
//! Each wall sweeps a rectangle. Each reflex corner sweeps a sector, whose arc is approximated by a chain of tangents. What they cover is
//! not free. All go into one arrangement as rings with winding numbers, so their union is as exact as the arrangement itself: no
//! integers, no grid.

use std::f64::consts::PI;

use glam::DVec2;

use crate::navigate::room::build::arrangement::Arrangement;
use crate::navigate::room::build::cells::{Cells, NONE};

/// The largest angle between two tangents, in radians. A corner of the chain is then 1 / cos(0.085 / 2) − 1 = 0.0009 of the radius too
/// far out.
const MAX_TANGENT_STEP: f64 = 0.085;

/// Added to the radius, relative to it, so that rounding does not reduce the clearance.
const MARGIN: f64 = 1e-9;

/// The layer of the room itself, and the layer of what its walls sweep.
const ROOM_LAYER: u32 = 0;
const SWEPT_LAYER: u32 = 1;

/// Adds the walls of a room and what they sweep.
pub(crate) fn add_swept(arrangement: &mut Arrangement, cells: &Cells, radius: f64) {
    let radius = radius * (1.0 + MARGIN);
    for side in 0..cells.sides.len() {
        if cells.sides[side].twin != NONE {
            continue;
        }
        let [a, b] = cells.ends(side);
        let (from, to) = (arrangement.point(a), arrangement.point(b));
        arrangement.add(from, to, ROOM_LAYER);
        // The next wall counter-clockwise around the room: the other end of the free sector at `b`.
        let mut next = cells.after(side);
        for _ in 0..cells.around(cells.sides[next].vertex).len() {
            match cells.sides[next].twin {
                NONE => break,
                twin => next = cells.after(twin as usize),
            }
        }
        let [_, c] = cells.ends(next);
        sweep(arrangement, [a, b, c], radius, SWEPT_LAYER);
    }
}

/// Adds what a ring sweeps on both sides. Its direction does not matter.
pub(crate) fn add_swept_ring(arrangement: &mut Arrangement, ring: &[[f64; 2]], radius: f64, layer: u32) {
    let radius = radius * (1.0 + MARGIN);
    let mut points: Vec<DVec2> = ring.iter().map(|&point| DVec2::from(point) + DVec2::ZERO).collect();
    for _ in 0..2 {
        points.dedup();
        while points.len() > 1 && points.first() == points.last() {
            points.pop();
        }
        for i in 0..points.len() {
            let corner = |k: usize| points[(i + k) % points.len()];
            sweep(arrangement, [corner(0), corner(1), corner(2)], radius, layer);
        }
        points.reverse();
    }
}

/// Adds what a wall from `a` to `b`, with the room on its left, and the corner at `b` towards `c` sweep.
fn sweep(arrangement: &mut Arrangement, [a, b, c]: [DVec2; 3], radius: f64, layer: u32) {
    let inwards = (b - a).normalize_or_zero().perp() * radius;
    ring(arrangement, &[a, b, b + inwards, a + inwards], layer);
    let onwards = (c - b).normalize_or_zero().perp() * radius;
    let turn = crate::navigate::shared::predicate::orient(a, b, c);
    let is_end = turn == 0.0 && (a - b).dot(c - b) > 0.0;
    if turn < 0.0 || is_end {
        let angle = if is_end { PI } else { inwards.angle_to(onwards).abs() };
        ring(arrangement, &sector(b, inwards, onwards, radius, angle), layer);
    }
}

/// The sector around a corner from one wall's normal to the next one's, clockwise.
fn sector(corner: DVec2, from: DVec2, to: DVec2, radius: f64, angle: f64) -> Vec<DVec2> {
    let count = (angle / MAX_TANGENT_STEP).ceil().max(1.0);
    let (start, step) = (from.to_angle(), angle / count);
    let reach = radius / (0.5 * step).cos();
    let mut points = vec![corner, corner + to];
    // Backwards, so that the ring runs counter-clockwise.
    for k in (0..count as u32).rev() {
        let direction = DVec2::from_angle(start - (f64::from(k) + 0.5) * step);
        points.push(corner + direction * reach);
    }
    points.push(corner + from);
    points
}

fn ring(arrangement: &mut Arrangement, points: &[DVec2], layer: u32) {
    for i in 0..points.len() {
        let from = arrangement.point(points[i]);
        let to = arrangement.point(points[(i + 1) % points.len()]);
        arrangement.add(from, to, layer);
    }
}

/// Whether a place is in the room and not swept.
pub(crate) fn is_free(winding: &[(u32, i32)]) -> bool {
    winding.iter().any(|&(layer, number)| layer == ROOM_LAYER && number > 0)
        && !winding.iter().any(|&(layer, number)| layer == SWEPT_LAYER && number != 0)
}
