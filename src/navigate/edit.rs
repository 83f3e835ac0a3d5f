//! Rooms that change: doors that open and shut, obstacles put in, moved and taken out.
//!
//! The floor as it was built is kept. A door unlinks two sides and links them again. An obstacle replaces the cells that
//! its box touches by a patch: their outline and the obstacles within it, arranged and triangulated by themselves. Patches
//! that share cells become one; taking an obstacle out gives the old cells back to the bit. What follows from the cells
//! (corners, islands, blocks) is worked out again in one pass over them.

use std::collections::HashMap;

use glam::DVec2;

use super::arrange::{Arrangement, Box2, DOORS};
use super::cells::{Cells, NONE};
use super::grid::Grid;
use super::rings::{Repair, add_rings};
use super::room::Room;
use super::triangulate::triangulate;
use crate::error::{Error, Result};

/// What a room keeps to be changed.
#[derive(Debug, Default)]
pub(super) struct Edits {
    /// The floor as it was built, every door open.
    base: Cells,
    /// Vertices of the floor as it was built.
    base_vertex_count: usize,
    doors: Vec<Door>,
    /// The rings of the obstacles; none where one was taken out.
    obstacles: Vec<Option<Vec<[f64; 2]>>>,
    patches: Vec<Patch>,
    /// The patch that stands in for each cell of the base; [`NONE`] where it stands itself.
    patch_of: Vec<u32>,
    /// The side of a patch that stands in for a side of the base.
    stands_for: HashMap<u32, u32>,
}

/// Sides of the base that open and shut together.
#[derive(Debug, Default)]
struct Door {
    pairs: Vec<[u32; 2]>,
    is_shut: bool,
}

/// Cells that stand in for others.
#[derive(Debug, Default)]
struct Patch {
    obstacles: Vec<u32>,
    /// The cells of the base that it stands in for.
    base_cells: Vec<u32>,
    /// Its own.
    cells: Vec<u32>,
    /// The sides within it that are part of a door.
    doors: Vec<([u32; 2], u32)>,
}

impl Room {
    /// Makes a door of edges between cells, each by its two vertices, in either direction; it is open at first.
    ///
    /// # Errors
    /// An edge that is not between two cells of the room as it was built.
    pub fn add_door(&mut self, edges: &[[u32; 2]]) -> Result<u32> {
        self.begin_edits();
        let Some(edits) = &mut self.edits else { return Ok(NONE) };
        let base = &edits.base;
        let mut pairs = Vec::with_capacity(edges.len());
        for &[a, b] in edges {
            let known = a.max(b) < edits.base_vertex_count as u32;
            let side = known.then(|| {
                base.around(a).iter().chain(base.around(b)).find(|&&side| {
                    let ends = base.end_vertices(side as usize);
                    base.sides[side as usize].twin != NONE && (ends == [a, b] || ends == [b, a])
                })
            });
            match side.flatten() {
                Some(&side) => pairs.push([side, base.sides[side as usize].twin]),
                None => {
                    return Err(Error::RoomField {
                        field: "door",
                        value: format!("the edge from vertex {a} to vertex {b}"),
                        expected: "it must be between two cells of the room",
                    });
                }
            }
        }
        edits.doors.push(Door { pairs, is_shut: false });
        Ok(edits.doors.len() as u32 - 1)
    }

    /// Makes a door of whole cells of the room as it was built: while it is shut nothing goes into them, out of them, or
    /// from one to another. It is open at first.
    ///
    /// # Errors
    /// A cell that does not exist.
    pub fn add_door_cells(&mut self, cells: &[u32]) -> Result<u32> {
        self.begin_edits();
        let Some(edits) = &mut self.edits else { return Ok(NONE) };
        let mut pairs = Vec::new();
        for &cell in cells {
            if cell as usize >= edits.base.len() {
                let value = format!("cell {cell}");
                let expected = "it must be a cell of the room as it was built";
                return Err(Error::RoomField { field: "door", value, expected });
            }
            for side in edits.base.range(cell) {
                let twin = edits.base.sides[side].twin;
                if twin != NONE {
                    pairs.push([side as u32, twin]);
                }
            }
        }
        edits.doors.push(Door { pairs, is_shut: false });
        Ok(edits.doors.len() as u32 - 1)
    }

    /// How many doors there are.
    pub fn door_count(&self) -> usize {
        self.edits.as_ref().map_or(0, |edits| edits.doors.len())
    }

    /// Opens or shuts doors, each by its number and whether it is to be open. A shut door is a wall without thickness.
    ///
    /// ```
    /// use hullfield::{Room, RoomOptions};
    ///
    /// // Two halves of a room, and a door in the middle of the line between them.
    /// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 4.0], [0.0, 4.0]];
    /// let walls = [[[4.9, 0.0], [5.1, 0.0], [5.1, 1.0], [4.9, 1.0]], [[4.9, 2.0], [5.1, 2.0], [5.1, 4.0], [4.9, 4.0]]];
    /// let door = [[5.0, 1.0], [5.0, 2.0]];
    /// let mut room = Room::with_doors(&outer, &walls, &[door], RoomOptions::default())?;
    /// assert!(room.path([1.0, 1.5], [9.0, 1.5])?.is_reached());
    /// room.set_doors(&[(0, false)])?;
    /// assert!(!room.path([1.0, 1.5], [9.0, 1.5])?.is_reached());
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A door that does not exist; nothing is changed then.
    pub fn set_doors(&mut self, doors: &[(u32, bool)]) -> Result<()> {
        let count = self.door_count();
        if let Some(&(door, _)) = doors.iter().find(|&&(door, _)| door as usize >= count) {
            let value = door.to_string();
            return Err(Error::RoomField { field: "door", value, expected: "there is no such door" });
        }
        if let Some(edits) = &mut self.edits {
            for &(door, is_open) in doors {
                edits.doors[door as usize].is_shut = !is_open;
            }
        }
        self.apply();
        Ok(())
    }

    /// Puts an obstacle into the room, a ring as holes are, and gives its number. It may overlap walls and other obstacles.
    ///
    /// ```
    /// use hullfield::Room;
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let mut room = Room::new(&[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]], &none)?;
    /// let crate_ = room.put_obstacle(&[[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]])?;
    /// assert!(room.path([1.0, 5.0], [9.0, 5.0])?.length > 8.0);
    /// room.move_obstacle(crate_, &[[4.0, 7.0], [6.0, 7.0], [6.0, 9.0], [4.0, 9.0]])?;
    /// assert_eq!(room.path([1.0, 5.0], [9.0, 5.0])?.length, 8.0);
    /// room.take_obstacle(crate_)?;
    /// assert_eq!(room.area(), 100.0);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// A coordinate that can't be used, a ring of fewer than three points; nothing is changed then.
    pub fn put_obstacle(&mut self, ring: &[[f64; 2]]) -> Result<u32> {
        self.begin_edits();
        let number = self.edits.as_ref().map_or(0, |edits| edits.obstacles.len()) as u32;
        self.replace(number, Some(ring))?;
        Ok(number)
    }

    /// Moves an obstacle: its ring from now on.
    ///
    /// # Errors
    /// As [`Room::put_obstacle`]; an obstacle that does not exist.
    pub fn move_obstacle(&mut self, obstacle: u32, ring: &[[f64; 2]]) -> Result<()> {
        self.check_obstacle(obstacle)?;
        self.replace(obstacle, Some(ring))
    }

    /// Takes an obstacle out; its number is not used again.
    ///
    /// # Errors
    /// An obstacle that does not exist.
    pub fn take_obstacle(&mut self, obstacle: u32) -> Result<()> {
        self.check_obstacle(obstacle)?;
        self.replace(obstacle, None)
    }

    fn check_obstacle(&self, obstacle: u32) -> Result<()> {
        let found = self.edits.as_ref().and_then(|edits| edits.obstacles.get(obstacle as usize)?.as_ref());
        match found {
            Some(_) => Ok(()),
            None => Err(Error::RoomField {
                field: "obstacle",
                value: obstacle.to_string(),
                expected: "there is no such obstacle",
            }),
        }
    }

    fn begin_edits(&mut self) {
        if self.edits.is_none() {
            let mut base = self.cells.clone();
            base.unite(self.vertex_count);
            let patch_of = vec![NONE; base.len()];
            let base_vertex_count = self.vertex_count;
            self.edits = Some(Box::new(Edits { base, base_vertex_count, patch_of, ..Edits::default() }));
        }
    }

    /// The doors that were given with the rings, as sides of the cells.
    pub(super) fn set_up_doors(&mut self, count: usize, sides: &[(u32, u32)]) {
        if count == 0 {
            return;
        }
        self.begin_edits();
        if let Some(edits) = &mut self.edits {
            edits.doors.resize_with(count, Door::default);
            for &(side, door) in sides {
                let twin = edits.base.sides[side as usize].twin;
                if twin != NONE && side < twin {
                    edits.doors[door as usize].pairs.push([side, twin]);
                }
            }
        }
    }

    /// The cells that stand where a cell of the base stood.
    pub(super) fn stand_ins(&self, cell: u32) -> &[u32] {
        let Some(edits) = &self.edits else { return &[] };
        match edits.patch_of.get(cell as usize) {
            Some(&patch) if patch != NONE => &edits.patches[patch as usize].cells,
            _ => &[],
        }
    }

    /// Gives an obstacle another ring, or none, and builds the patches that this concerns.
    fn replace(&mut self, obstacle: u32, ring: Option<&[[f64; 2]]>) -> Result<()> {
        let Some(edits) = &mut self.edits else { return Ok(()) };
        let at = obstacle as usize;
        // What the ring is worth is known before anything is changed.
        if let Some(ring) = ring {
            let mut repairs = Vec::new();
            add_rings(&mut Arrangement::default(), std::iter::once(ring), &mut repairs)?;
        }
        if edits.obstacles.len() == at {
            edits.obstacles.push(None);
        }
        let old = std::mem::replace(&mut edits.obstacles[at], ring.map(<[_]>::to_vec));
        // Dissolve the patches that the old place and the new one concern.
        let touched = |ring: &[[f64; 2]]| touched(&self.grid, &edits.base, ring);
        let mut concerned: Vec<u32> = Vec::new();
        for ring in old.iter().map(Vec::as_slice).chain(ring) {
            concerned.extend(touched(ring).iter().map(|&cell| edits.patch_of[cell as usize]));
        }
        // What was taken out leaves its memory behind: now and then everything is laid anew.
        let live: usize = edits
            .patches
            .iter()
            .flat_map(|patch| &patch.cells)
            .map(|&cell| self.cells.count[cell as usize] as usize)
            .sum();
        let base_size = edits.base.sides.len();
        let is_full = self.cells.sides.len() > 2 * (base_size + live) + 4096;
        if is_full {
            concerned.extend(0..edits.patches.len() as u32);
        }
        concerned.retain(|&patch| patch != NONE);
        concerned.sort_unstable();
        concerned.dedup();
        let mut loose: Vec<u32> = vec![obstacle];
        for &patch in &concerned {
            loose.extend_from_slice(&edits.patches[patch as usize].obstacles);
        }
        loose.sort_unstable();
        loose.dedup();
        loose.retain(|&obstacle| edits.obstacles[obstacle as usize].is_some());
        // Groups of obstacles that touch the same cells.
        let mut groups: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for &obstacle in &loose {
            let Some(ring) = &edits.obstacles[obstacle as usize] else { continue };
            let mut own = (vec![obstacle], touched(ring));
            groups.retain_mut(|group| {
                let meets = group.1.iter().any(|cell| own.1.contains(cell));
                if meets {
                    own.0.append(&mut group.0);
                    own.1.append(&mut group.1);
                }
                !meets
            });
            own.1.sort_unstable();
            own.1.dedup();
            own.0.sort_unstable();
            if !own.1.is_empty() {
                groups.push(own);
            }
        }
        // All new floors first, so that a failure changes nothing.
        let mut built = Vec::with_capacity(groups.len());
        for (obstacles, base_cells) in &groups {
            match build(edits, obstacles, base_cells) {
                Ok(floor) => built.push(floor),
                Err(error) => {
                    edits.obstacles[at] = old;
                    return Err(error);
                }
            }
        }
        self.cells.unite(self.vertex_count);
        for &patch in &concerned {
            let patch = std::mem::take(&mut edits.patches[patch as usize]);
            for cell in patch.cells {
                self.cells.count[cell as usize] = 0;
            }
            for cell in patch.base_cells {
                edits.patch_of[cell as usize] = NONE;
                self.cells.count[cell as usize] = edits.base.count[cell as usize];
                for side in edits.base.range(cell) {
                    edits.stands_for.remove(&(side as u32));
                }
            }
        }
        if is_full {
            let cells = &mut self.cells;
            self.vertex_count = edits.base_vertex_count;
            cells.points.truncate(self.vertex_count);
            cells.first.truncate(edits.base.len());
            cells.count.truncate(edits.base.len());
            cells.sides.truncate(base_size);
            cells.cell_of.truncate(base_size);
            edits.patches.clear();
        }
        for ((obstacles, base_cells), (floor, doors)) in groups.into_iter().zip(built) {
            self.vertex_count = lay(&mut self.cells, edits, obstacles, base_cells, &floor, &doors);
        }
        self.apply();
        Ok(())
    }

    /// Links everything as the doors and patches are now, and works out what follows.
    fn apply(&mut self) {
        let Some(edits) = &self.edits else { return };
        let cells = &mut self.cells;
        cells.unite(self.vertex_count);
        // Sides of the base, or what stands in for them.
        let current = |side: u32| edits.stands_for.get(&side).copied().unwrap_or(side);
        let is_live = |cells: &Cells, side: u32| cells.count[cells.cell_of[side as usize] as usize] > 0;
        for side in 0..edits.base.sides.len() as u32 {
            let twin = edits.base.sides[side as usize].twin;
            if twin == NONE || twin < side {
                continue;
            }
            let (a, b) = (current(side), current(twin));
            if is_live(cells, a) && is_live(cells, b) {
                cells.link(a, b);
            }
        }
        for patch in &edits.patches {
            for &([a, b], _) in &patch.doors {
                cells.link(a, b);
            }
        }
        for (number, door) in edits.doors.iter().enumerate() {
            if !door.is_shut {
                continue;
            }
            for &[a, b] in &door.pairs {
                let (a, b) = (current(a), current(b));
                if is_live(cells, a) && is_live(cells, b) && cells.sides[a as usize].twin == b {
                    cells.shut(a);
                }
            }
            for patch in &edits.patches {
                for &([a, _], _) in patch.doors.iter().filter(|&&(_, own)| own == number as u32) {
                    cells.shut(a);
                }
            }
        }
        cells.survey(self.vertex_count);
        self.refresh();
    }
}

/// The cells of the base whose boxes a ring's box touches.
fn touched(grid: &Grid, base: &Cells, ring: &[[f64; 2]]) -> Vec<u32> {
    let bounds = |points: &mut dyn Iterator<Item = DVec2>| {
        points.fold(Box2::EMPTY, |sum, p| sum.join(&Box2 { low: p, high: p }))
    };
    let own = bounds(&mut ring.iter().map(|&p| DVec2::from(p)));
    let mut cells = grid.within(own.low, own.high);
    cells.retain(|&cell| bounds(&mut base.sides_of(cell).iter().map(|side| side.point)).overlaps(&own));
    cells
}

/// A floor of its own for some cells of the base with some obstacles in them, and its sides that are doors.
fn build(edits: &Edits, obstacles: &[u32], base_cells: &[u32]) -> Result<(Cells, Vec<(u32, u32)>)> {
    let mut arrangement = Arrangement::default();
    for &cell in base_cells {
        for side in edits.base.range(cell) {
            let [a, b] = edits.base.ends(side).map(|point| arrangement.point(point));
            arrangement.add(a, b, 0);
        }
    }
    let mut repairs: Vec<Repair> = Vec::new();
    for (k, &obstacle) in obstacles.iter().enumerate() {
        if let Some(ring) = &edits.obstacles[obstacle as usize] {
            let mut own = Arrangement::default();
            add_rings(&mut own, std::iter::once(ring.as_slice()), &mut repairs)?;
            for segment in &own.segments {
                let [a, b] = [segment.a, segment.b].map(|v| arrangement.point(own.points[v as usize]));
                if segment.turns > 0 {
                    arrangement.add(a, b, k as u32 + 1);
                } else {
                    arrangement.add(b, a, k as u32 + 1);
                }
            }
        }
    }
    for (number, door) in edits.doors.iter().enumerate() {
        for pair in &door.pairs {
            let is_inside =
                pair.iter().all(|&side| base_cells.binary_search(&edits.base.cell_of[side as usize]).is_ok());
            if is_inside {
                let [a, b] = edits.base.ends(pair[0] as usize).map(|point| arrangement.point(point));
                arrangement.add(a, b, DOORS + number as u32);
            }
        }
    }
    arrangement.arrange().map_err(super::room::endless)?;
    let triangles = triangulate(&arrangement, super::rings::is_free).map_err(super::room::failed)?;
    Ok(triangles.cells(true))
}

/// Lays a patch into the floor; gives the new number of vertices.
fn lay(
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
