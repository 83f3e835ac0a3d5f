//! Local meshes: the cells that replace some base cells while obstacles lie on them.

use std::collections::HashMap;

use glam::DVec2;

use crate::error::Result;
use crate::navigate::room::build::arrangement::{Arrangement, Box2, FIRST_DOOR_LAYER};
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::check::{not_cut, triangulation_failed};
use crate::navigate::room::build::grid::{Containment, Grid, contains};
use crate::navigate::room::build::offset;
use crate::navigate::room::build::rings::{Repair, add_rings};
use crate::navigate::room::build::triangulate::{Place, triangulate};
use crate::navigate::room::edit::edits::{Edits, LocalMesh, ObstacleGroup};
use crate::navigate::shared::predicate::orient;

/// The door number of walls without thickness within a local mesh. They stay shut for good.
const THIN_WALL: u32 = 1 << 30;

/// The first layer of what obstacles sweep. A place is swept where the winding number of such a layer is not 0; it need not be odd.
const FIRST_SWEPT_LAYER: u32 = 1 << 29;

/// The outcome of building a local mesh.
#[derive(Debug)]
pub(crate) enum BuildOutcome {
    /// The mesh, and its sides that belong to doors.
    Mesh(Box<Cells>, Vec<(u32, u32)>),
    /// Rounding has cut the outline at the border to these base cells: they must be replaced too.
    Grown(Vec<u32>),
}

fn bounds(points: impl Iterator<Item = DVec2>) -> Box2 {
    points.fold(Box2::EMPTY, |sum, p| sum.join(&Box2 { low: p, high: p }))
}

/// The base cells that an obstacle touches, decided exactly; with a radius, those that its box, grown by twice the radius, overlaps.
pub(crate) fn cells_touched_by(grid: &Grid, base: &Cells, ring: &[[f64; 2]], radius: f64) -> Vec<u32> {
    let points: Vec<DVec2> = ring.iter().map(|&p| p.into()).collect();
    let mut ring_box = bounds(points.iter().copied());
    let reach = DVec2::splat(2.0 * radius);
    ring_box = Box2 { low: ring_box.low - reach, high: ring_box.high + reach };
    let mut cells = grid.within(ring_box.low, ring_box.high);
    cells.retain(|&cell| {
        let cell_box = bounds(base.sides_of(cell).iter().map(|side| side.point));
        cell_box.overlaps(&ring_box) && (radius > 0.0 || ring_meets_cell(base, cell, cell_box, &points))
    });
    cells
}

/// Whether a cell and a ring, its inside by the even-odd rule, have a point in common.
fn ring_meets_cell(base: &Cells, cell: u32, cell_box: Box2, ring: &[DVec2]) -> bool {
    let edges = || (0..ring.len()).map(|i| [ring[i], ring[(i + 1) % ring.len()]]);
    // Where no edge meets the cell, the whole cell lies inside of the ring or outside of it, as its first corner does.
    let mut is_inside = false;
    let Some(corner) = base.sides_of(cell).first().map(|side| side.point) else { return false };
    for [p, q] in edges() {
        if bounds([p, q].into_iter()).overlaps(&cell_box)
            && (contains(base, cell, p) != Containment::Outside
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

/// Builds the local mesh of a group of obstacles.
pub(crate) fn build_local_mesh(edits: &Edits, group: &ObstacleGroup, radius: f64) -> Result<BuildOutcome> {
    let base = &edits.base;
    let ObstacleGroup { obstacles, base_cells } = group;
    let is_replaced = |cell: u32| base_cells.binary_search(&cell).is_ok();
    let mut arrangement = Arrangement::default();
    for &cell in base_cells {
        for side in base.range(cell) {
            let [a, b] = base.ends(side).map(|point| arrangement.point(point));
            arrangement.add(a, b, 0);
            if base.sides[side].twin == NONE {
                // The two sides of a wall without thickness cancel out in layer 0. The door keeps the wall.
                arrangement.add(a, b, FIRST_DOOR_LAYER + THIN_WALL);
            }
        }
    }
    let mut repairs: Vec<Repair> = Vec::new();
    for (k, &obstacle) in obstacles.iter().enumerate() {
        let Some(obstacle) = edits.obstacle(obstacle) else { continue };
        for &wall in &obstacle.walls {
            offset::add_swept_wall(&mut arrangement, wall, radius, FIRST_SWEPT_LAYER + k as u32);
        }
        if obstacle.ring.is_empty() {
            continue;
        }
        let mut rings = Arrangement::default();
        add_rings(&mut rings, std::iter::once(obstacle.ring.as_slice()), |_| true, &mut repairs)?;
        for segment in &rings.segments {
            let [a, b] = [segment.a, segment.b].map(|v| arrangement.point(rings.points[v as usize]));
            if segment.winding > 0 {
                arrangement.add(a, b, k as u32 + 1);
            } else {
                arrangement.add(b, a, k as u32 + 1);
            }
        }
        if radius > 0.0 {
            offset::add_swept_ring(&mut arrangement, &obstacle.ring, radius, FIRST_SWEPT_LAYER + k as u32);
        }
    }
    for (number, door) in edits.doors.iter().enumerate() {
        for pair in &door.pairs {
            if pair.iter().all(|&side| is_replaced(base.cell_of[side as usize])) {
                let [a, b] = base.ends(pair[0] as usize).map(|point| arrangement.point(point));
                arrangement.add(a, b, FIRST_DOOR_LAYER + number as u32);
            }
        }
    }
    arrangement.arrange().map_err(not_cut)?;
    // A side of the outline must have stayed whole: a side that was cut has no twin outside and would become a wall.
    let mut grown_into = Vec::new();
    for &cell in base_cells {
        for side in base.range(cell) {
            let neighbour = base.sides[side].neighbour;
            if neighbour != NONE && !is_replaced(neighbour) {
                let [a, b] = base.ends(side).map(|point| arrangement.point(point));
                let ends = (a.min(b), a.max(b));
                if arrangement.segments.binary_search_by_key(&ends, |s| (s.a, s.b)).is_err() {
                    grown_into.push(neighbour);
                }
            }
        }
    }
    if !grown_into.is_empty() {
        return Ok(BuildOutcome::Grown(grown_into));
    }
    let triangles = triangulate(&arrangement, &mut LocalPlace::default()).map_err(triangulation_failed)?;
    let (mut mesh, mut doors) = triangles.cells(true);
    doors.retain(|&(side, door)| {
        if door == THIN_WALL {
            mesh.shut(side);
        }
        door != THIN_WALL
    });
    Ok(BuildOutcome::Mesh(Box::new(mesh), doors))
}

/// A place within a local mesh: free where it is in a replaced cell, in no obstacle and not swept.
#[derive(Debug, Default)]
struct LocalPlace {
    windings: HashMap<u32, i32>,
    is_in_cell: bool,
    /// How many obstacles and how many swept layers hold the place.
    covering_count: u32,
}

impl Place for LocalPlace {
    fn turn(&mut self, layer: u32, turns: i32) {
        let winding = self.windings.entry(layer).or_default();
        let holds = |winding: i32| if layer >= FIRST_SWEPT_LAYER { winding != 0 } else { winding % 2 != 0 };
        let before = holds(*winding);
        *winding += turns;
        let after = holds(*winding);
        if layer == 0 {
            self.is_in_cell = after;
        } else {
            self.covering_count = self.covering_count + u32::from(after) - u32::from(before);
        }
    }

    fn is_free(&mut self, _: [DVec2; 3]) -> bool {
        self.is_in_cell && self.covering_count == 0
    }
}

/// Adds a local mesh to the cells of the room, in place of the base cells of its group. Returns the new number of vertices.
pub(crate) fn insert_local_mesh(
    cells: &mut Cells,
    edits: &mut Edits,
    group: ObstacleGroup,
    mesh: &Cells,
    doors: &[(u32, u32)],
) -> usize {
    let ObstacleGroup { obstacles, base_cells } = group;
    // The vertices of the outline are those of the base mesh.
    let mut base_vertices: HashMap<[u64; 2], u32> = HashMap::new();
    let mut base_sides: HashMap<[u32; 2], u32> = HashMap::new();
    for &cell in &base_cells {
        for side in edits.base.range(cell) {
            let ends = edits.base.end_vertices(side);
            base_vertices.insert(bits(edits.base.sides[side].point), ends[0]);
            base_sides.insert(ends, side as u32);
        }
    }
    let vertices: Vec<u32> = mesh
        .points
        .iter()
        .map(|&point| match base_vertices.get(&bits(point)) {
            Some(&vertex) => vertex,
            None => {
                cells.points.push(point);
                cells.points.len() as u32 - 1
            }
        })
        .collect();
    let first_side = cells.sides.len() as u32;
    let index = edits.local_meshes.len() as u32;
    let mut local_mesh = LocalMesh { obstacles, base_cells, ..LocalMesh::default() };
    let mut ring = Vec::new();
    for cell in 0..mesh.len() as u32 {
        ring.clear();
        ring.extend(mesh.sides_of(cell).iter().map(|side| vertices[side.vertex as usize]));
        local_mesh.cells.push(cells.add(&ring));
    }
    for side in 0..mesh.sides.len() as u32 {
        let twin = mesh.sides[side as usize].twin;
        if twin != NONE {
            if side < twin {
                cells.link(first_side + side, first_side + twin);
            }
        } else if let Some(&base_side) = base_sides.get(&cells.end_vertices((first_side + side) as usize)) {
            edits.replacement_of.insert(base_side, first_side + side);
        }
    }
    for &(side, door) in doors {
        let twin = mesh.sides[side as usize].twin;
        if twin != NONE && side < twin {
            local_mesh.doors.push(([first_side + side, first_side + twin], door));
        }
    }
    for &cell in &local_mesh.base_cells {
        cells.count[cell as usize] = 0;
        edits.local_mesh_of[cell as usize] = index;
    }
    edits.local_meshes.push(local_mesh);
    cells.points.len()
}

fn bits(point: DVec2) -> [u64; 2] {
    [point.x.to_bits(), point.y.to_bits()]
}
