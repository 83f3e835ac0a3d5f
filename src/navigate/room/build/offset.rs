//! Offsets: the walls moved into the room by an agent's radius (a Minkowski sum with a disc).
//!
//! Each wall sweeps a rectangle. Each reflex corner sweeps a sector, whose arc is approximated by a chain of tangents. What they cover is
//! not free. All go into one arrangement as rings with winding numbers, so their union is as exact as the arrangement itself: no
//! integers, no grid.

use std::f64::consts::PI;

use glam::DVec2;

use crate::navigate::room::build::arrangement::{
    Arrangement, Box2, CuttingError, for_each_overlap, morton_order,
};
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::triangulate::{Failure, Place, triangulate};
use crate::navigate::shared::predicate::nearest_on_segment;
use crate::parallel::map_singly;

/// The largest angle between two tangents, in radians. A corner of the chain is then 1 / cos(0.085 / 2) − 1 = 0.0009 of the radius too
/// far out.
const MAX_TANGENT_STEP: f64 = 0.085;

/// Added to the radius, relative to it, so that rounding does not reduce the clearance.
const MARGIN: f64 = 1e-9;

/// By how much of the radius walls are longer at either end where what they sweep is united in groups.
const SEAM: f64 = 1e-6;

/// The layer of the room itself, and the layer of what its walls sweep.
const ROOM_LAYER: u32 = 0;
const SWEPT_LAYER: u32 = 1;

/// So many pairs of walls for each wall may sweep a place in common before they are united in groups, and so many may be looked at.
const PAIRS_PER_WALL: usize = 24;
const BOXES_PER_WALL: usize = 240;

/// So many walls make a group at first, and so many groups the next larger one.
const WALLS_PER_GROUP: usize = 4;
const GROUPS_PER_GROUP: usize = 8;

/// Adds the walls of a room and what they sweep.
///
/// Where many walls are nearer to one another than the radius, nearly all that they sweep is swept by others too, and the outlines of it meet
/// in O(n²) places. So there the walls are united in groups, the groups in larger ones, and so on: the outline of each group has about as many
/// corners as its walls (Kedem, Livne, Pach, Sharir 1986), so all of it is O(n log² n).
pub(crate) fn add_swept(arrangement: &mut Arrangement, cells: &Cells, radius: f64) -> Result<(), SweepError> {
    let radius = radius * (1.0 + MARGIN);
    let walls = walls(cells);
    let is_crowded = is_crowded(&walls, radius);
    for &[a, b, c] in &walls {
        let (from, to) = (arrangement.point(a), arrangement.point(b));
        arrangement.add(from, to, ROOM_LAYER);
        if !is_crowded {
            sweep(arrangement, [a, b, c], radius, SWEPT_LAYER);
        }
    }
    if is_crowded {
        for [from, to] in swept_outline(&walls, radius)? {
            let (from, to) = (arrangement.point(from), arrangement.point(to));
            arrangement.add(from, to, SWEPT_LAYER);
        }
    }
    Ok(())
}

/// Why what walls sweep could not be united.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum SweepError {
    Cutting(CuttingError),
    Triangulation(Failure),
}

/// The walls of a room: from `a` to `b` with the room on the left, and the end `c` of the next wall counter-clockwise around the room.
fn walls(cells: &Cells) -> Vec<[DVec2; 3]> {
    let is_wall = |&side: &usize| cells.sides[side].twin == NONE;
    let with_next = |side: usize| {
        let [a, b] = cells.ends(side);
        // The other end of the free sector at `b`.
        let mut next = cells.after(side);
        for _ in 0..cells.around(cells.sides[next].vertex).len() {
            match cells.sides[next].twin {
                NONE => break,
                twin => next = cells.after(twin as usize),
            }
        }
        [a, b, cells.ends(next)[1]]
    };
    (0..cells.sides.len()).filter(is_wall).map(with_next).collect()
}

/// The boxes of what walls sweep.
fn swept_boxes(walls: &[[DVec2; 3]], radius: f64) -> Vec<Box2> {
    let reach = DVec2::splat(radius);
    walls.iter().map(|&[a, b, _]| Box2 { low: a.min(b) - reach, high: a.max(b) + reach }).collect()
}

fn is_crowded(walls: &[[DVec2; 3]], radius: f64) -> bool {
    let nearest = |[a, b, _]: [DVec2; 3], p: DVec2| nearest_on_segment(a, b, p).distance(p);
    let (mut box_count, mut pair_count) = (0, 0);
    !for_each_overlap(&swept_boxes(walls, radius), &vec![true; walls.len()], |i, j| {
        let (one, other) = (walls[i], walls[j]);
        let ends =
            [nearest(one, other[0]), nearest(one, other[1]), nearest(other, one[0]), nearest(other, one[1])];
        box_count += 1;
        pair_count += usize::from(ends.into_iter().any(|distance| distance < 2.0 * radius));
        pair_count <= PAIRS_PER_WALL * walls.len() && box_count <= BOXES_PER_WALL * walls.len()
    })
}

/// The outline of what walls sweep together, that on its left.
fn swept_outline(walls: &[[DVec2; 3]], radius: f64) -> Result<Vec<[DVec2; 2]>, SweepError> {
    // Walls near one another share a group.
    let order = morton_order(&swept_boxes(walls, radius));
    let groups: Vec<&[(u64, u32)]> = order.chunks(WALLS_PER_GROUP).collect();
    let first = |group: usize| {
        let mut arrangement = Arrangement::default();
        for &(_, wall) in groups[group] {
            sweep_overlapping(&mut arrangement, walls[wall as usize], radius, SWEPT_LAYER);
        }
        outline(arrangement)
    };
    let mut outlines = map_singly(groups.len(), first).into_iter().collect::<Result<Vec<_>, _>>()?;
    while outlines.len() > 1 {
        let groups: Vec<&[Vec<[DVec2; 2]>]> = outlines.chunks(GROUPS_PER_GROUP).collect();
        let join = |group: usize| {
            let mut arrangement = Arrangement::default();
            for &[from, to] in groups[group].iter().flatten() {
                let (from, to) = (arrangement.point(from), arrangement.point(to));
                arrangement.add(from, to, SWEPT_LAYER);
            }
            outline(arrangement)
        };
        outlines = map_singly(groups.len(), join).into_iter().collect::<Result<Vec<_>, _>>()?;
    }
    Ok(outlines.pop().unwrap_or_default())
}

/// The outline of what the rings of an arrangement hold.
fn outline(mut arrangement: Arrangement) -> Result<Vec<[DVec2; 2]>, SweepError> {
    arrangement.arrange().map_err(SweepError::Cutting)?;
    let held = triangulate(&arrangement, &mut HeldPlace::default()).map_err(SweepError::Triangulation)?;
    let mut outline = Vec::new();
    for (corners, neighbours) in held.corners.iter().zip(&held.neighbours) {
        for k in (0..3).filter(|&k| neighbours[k] == NONE) {
            outline.push([corners[k], corners[(k + 1) % 3]].map(|v| held.points[v as usize]));
        }
    }
    Ok(outline)
}

/// A place among rings of one layer: "free" where any holds it.
#[derive(Debug, Default)]
struct HeldPlace(i32);

impl Place for HeldPlace {
    fn turn(&mut self, _: u32, turns: i32) {
        self.0 += turns;
    }

    fn is_free(&mut self, _: [DVec2; 3]) -> bool {
        self.0 != 0
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

/// Adds what a wall without thickness sweeps.
pub(crate) fn add_swept_wall(arrangement: &mut Arrangement, wall: [[f64; 2]; 2], radius: f64, layer: u32) {
    let radius = radius * (1.0 + MARGIN);
    let [a, b] = wall.map(|end| DVec2::from(end) + DVec2::ZERO);
    sweep(arrangement, [a, b, a], radius, layer);
    sweep(arrangement, [b, a, b], radius, layer);
}

/// Adds what a wall from `a` to `b`, with the room on its left, and the corner at `b` towards `c` sweep.
fn sweep(arrangement: &mut Arrangement, [a, b, c]: [DVec2; 3], radius: f64, layer: u32) {
    let inwards = (b - a).normalize_or_zero().perp() * radius;
    ring(arrangement, &[a, b, b + inwards, a + inwards], layer);
    sweep_corner(arrangement, [a, b, c], radius, layer);
}

/// [`sweep`], a little longer, and wider on the side off the room. What one wall sweeps there overlaps what the next one sweeps, and the room's
/// outside, so that no gaps are left where their common edges are cut and rounded in different groups. It covers nothing further from the
/// walls: a corner of it is √(1 + `SEAM`²) of the radius away, which `MARGIN` hides.
fn sweep_overlapping(arrangement: &mut Arrangement, [a, b, c]: [DVec2; 3], radius: f64, layer: u32) {
    let ahead = (b - a).normalize_or_zero() * radius;
    let (inwards, seam) = (ahead.perp(), ahead * SEAM);
    let (from, to) = (a - seam, b + seam);
    let outwards = inwards * -0.5;
    ring(arrangement, &[from + outwards, to + outwards, to + inwards, from + inwards], layer);
    sweep_corner(arrangement, [a, b, c], radius, layer);
}

/// Adds what the corner at `b` between walls from `a` and towards `c` sweeps.
fn sweep_corner(arrangement: &mut Arrangement, [a, b, c]: [DVec2; 3], radius: f64, layer: u32) {
    let inwards = (b - a).normalize_or_zero().perp() * radius;
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

/// A place of a room and what its walls sweep: free where it is in the room and not swept.
#[derive(Debug, Default)]
pub(crate) struct SweptPlace {
    room: i32,
    swept: i32,
}

impl Place for SweptPlace {
    fn turn(&mut self, layer: u32, turns: i32) {
        *(if layer == ROOM_LAYER { &mut self.room } else { &mut self.swept }) += turns;
    }

    fn is_free(&mut self, _: [DVec2; 3]) -> bool {
        self.room > 0 && self.swept == 0
    }
}
