//! Patches: what stands in for cells while obstacles lie on them.

use std::collections::HashMap;

use glam::DVec2;

use crate::error::Result;
use crate::navigate::room::build::arrangement::{Arrangement, Box2, DOORS};
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::check::{endless, failed};
use crate::navigate::room::build::grid::{Grid, Place, place};
use crate::navigate::room::build::offset;
use crate::navigate::room::build::rings::{Repair, add_rings, is_free};
use crate::navigate::room::build::triangulate::triangulate;
use crate::navigate::room::edit::changes::{Edits, Patch};
use crate::navigate::shared::predicate::orient;

/// The number, among doors, of the walls without thickness within a patch. They are shut for good.
const THIN: u32 = 1 << 30;

/// The layers from here on hold what obstacles sweep: to count as theirs, turns need not be odd.
const SWEPT: u32 = 1 << 29;

/// A floor of its own for some cells of the base with some obstacles in them.
#[derive(Debug)]
pub(crate) enum Built {
    /// The floor, and its sides that are doors.
    Floor(Box<Cells>, Vec<(u32, u32)>),
    /// Rounding has cut the outline, which these cells beyond share: they must be part of it.
    Outgrown(Vec<u32>),
}

fn bounds(points: impl Iterator<Item = DVec2>) -> Box2 {
    points.fold(Box2::EMPTY, |sum, p| sum.join(&Box2 { low: p, high: p }))
}

/// The cells of the base that an obstacle touches, told exactly; with a radius, those that its grown box does.
pub(crate) fn touched(grid: &Grid, base: &Cells, ring: &[[f64; 2]], radius: f64) -> Vec<u32> {
    let points: Vec<DVec2> = ring.iter().map(|&p| p.into()).collect();
    let mut own = bounds(points.iter().copied());
    let reach = DVec2::splat(2.0 * radius);
    own = Box2 { low: own.low - reach, high: own.high + reach };
    let mut cells = grid.within(own.low, own.high);
    cells.retain(|&cell| {
        let near = bounds(base.sides_of(cell).iter().map(|side| side.point));
        near.overlaps(&own) && (radius > 0.0 || meets(base, cell, near, &points))
    });
    cells
}

/// Whether a cell and a ring, its inside by the even-odd rule, have a point in common.
fn meets(base: &Cells, cell: u32, near: Box2, ring: &[DVec2]) -> bool {
    let edges = || (0..ring.len()).map(|i| [ring[i], ring[(i + 1) % ring.len()]]);
    // Along the whole ring, or not at all, once no edge comes near.
    let mut is_inside = false;
    let Some(corner) = base.sides_of(cell).first().map(|side| side.point) else { return false };
    for [p, q] in edges() {
        if bounds([p, q].into_iter()).overlaps(&near)
            && (place(base, cell, p) != Place::Outside
                || base.range(cell).any(|side| {
                    let [a, b] = base.ends(side);
                    let (hp, hq) = (orient(a, b, p), orient(a, b, q));
                    let (ha, hb) = (orient(p, q, a), orient(p, q, b));
                    !(hp > 0.0 && hq > 0.0
                        || hp < 0.0 && hq < 0.0
                        || ha > 0.0 && hb > 0.0
                        || ha < 0.0 && hb < 0.0)
                        && bounds([p, q].into_iter()).overlaps(&bounds([a, b].into_iter()))
                }))
        {
            return true;
        }
        if (p.y > corner.y) != (q.y > corner.y) {
            let height = orient(p, q, corner);
            is_inside ^= if q.y > p.y { height > 0.0 } else { height < 0.0 };
        }
    }
    is_inside
}

/// Builds the floor of a patch.
pub(crate) fn build(edits: &Edits, obstacles: &[u32], base_cells: &[u32], radius: f64) -> Result<Built> {
    let base = &edits.base;
    let is_own = |cell: u32| base_cells.binary_search(&cell).is_ok();
    let mut arrangement = Arrangement::default();
    for &cell in base_cells {
        for side in base.range(cell) {
            let [a, b] = base.ends(side).map(|point| arrangement.point(point));
            arrangement.add(a, b, 0);
            if base.sides[side].twin == NONE {
                // The turns of a wall that has room on both sides cancel out: it stays by this.
                arrangement.add(a, b, DOORS + THIN);
            }
        }
    }
    let mut repairs: Vec<Repair> = Vec::new();
    for (k, &obstacle) in obstacles.iter().enumerate() {
        let Some(obstacle) = &edits.obstacles[obstacle as usize] else { continue };
        let mut own = Arrangement::default();
        add_rings(&mut own, std::iter::once(obstacle.ring.as_slice()), &mut repairs)?;
        for segment in &own.segments {
            let [a, b] = [segment.a, segment.b].map(|v| arrangement.point(own.points[v as usize]));
            if segment.turns > 0 {
                arrangement.add(a, b, k as u32 + 1);
            } else {
                arrangement.add(b, a, k as u32 + 1);
            }
        }
        if radius > 0.0 {
            offset::add_swept_ring(&mut arrangement, &obstacle.ring, radius, SWEPT + k as u32);
        }
    }
    for (number, door) in edits.doors.iter().enumerate() {
        for pair in &door.pairs {
            if pair.iter().all(|&side| is_own(base.cell_of[side as usize])) {
                let [a, b] = base.ends(pair[0] as usize).map(|point| arrangement.point(point));
                arrangement.add(a, b, DOORS + number as u32);
            }
        }
    }
    arrangement.arrange().map_err(endless)?;
    // A side that leads out must have stayed whole, or it would be a wall from now on.
    let mut outgrown = Vec::new();
    for &cell in base_cells {
        for side in base.range(cell) {
            let beyond = base.sides[side].beyond;
            if beyond != NONE && !is_own(beyond) {
                let [a, b] = base.ends(side).map(|point| arrangement.point(point));
                let ends = (a.min(b), a.max(b));
                if arrangement.segments.binary_search_by_key(&ends, |s| (s.a, s.b)).is_err() {
                    outgrown.push(beyond);
                }
            }
        }
    }
    if !outgrown.is_empty() {
        return Ok(Built::Outgrown(outgrown));
    }
    let is_swept = |&(layer, turns): &(u32, i32)| layer >= SWEPT && turns != 0;
    let triangles = triangulate(&arrangement, |winding| {
        let rings = winding.partition_point(|&(layer, _)| layer < SWEPT);
        is_free(&winding[..rings]) && !winding[rings..].iter().any(is_swept)
    })
    .map_err(failed)?;
    let (mut floor, mut doors) = triangles.cells(true);
    doors.retain(|&(side, door)| {
        if door == THIN {
            floor.shut(side);
        }
        door != THIN
    });
    Ok(Built::Floor(Box::new(floor), doors))
}

/// Lays a patch into the floor; gives the new number of vertices.
pub(crate) fn lay(
    cells: &mut Cells,
    edits: &mut Edits,
    obstacles: Vec<u32>,
    base_cells: Vec<u32>,
    floor: &Cells,
    doors: &[(u32, u32)],
) -> usize {
    // The outline's vertices are the base's own.
    let mut own: HashMap<[u64; 2], u32> = HashMap::new();
    let mut sides_by_ends: HashMap<[u32; 2], u32> = HashMap::new();
    for &cell in &base_cells {
        for side in edits.base.range(cell) {
            let ends = edits.base.end_vertices(side);
            own.insert(bits(edits.base.sides[side].point), ends[0]);
            sides_by_ends.insert(ends, side as u32);
        }
    }
    let vertices: Vec<u32> = floor
        .points
        .iter()
        .map(|&point| match own.get(&bits(point)) {
            Some(&vertex) => vertex,
            None => {
                cells.points.push(point);
                cells.points.len() as u32 - 1
            }
        })
        .collect();
    let first_side = cells.sides.len() as u32;
    let number = edits.patches.len() as u32;
    let mut patch = Patch { obstacles, base_cells, ..Patch::default() };
    let mut ring = Vec::new();
    for cell in 0..floor.len() as u32 {
        ring.clear();
        ring.extend(floor.sides_of(cell).iter().map(|side| vertices[side.vertex as usize]));
        patch.cells.push(cells.add(&ring));
    }
    for side in 0..floor.sides.len() as u32 {
        let twin = floor.sides[side as usize].twin;
        if twin != NONE {
            if side < twin {
                cells.link(first_side + side, first_side + twin);
            }
        } else if let Some(&stands_for) = sides_by_ends.get(&cells.end_vertices((first_side + side) as usize))
        {
            edits.stands_for.insert(stands_for, first_side + side);
        }
    }
    for &(side, door) in doors {
        let twin = floor.sides[side as usize].twin;
        if twin != NONE && side < twin {
            patch.doors.push(([first_side + side, first_side + twin], door));
        }
    }
    for &cell in &patch.base_cells {
        cells.count[cell as usize] = 0;
        edits.patch_of[cell as usize] = number;
    }
    edits.patches.push(patch);
    cells.points.len()
}

fn bits(point: DVec2) -> [u64; 2] {
    [point.x.to_bits(), point.y.to_bits()]
}
