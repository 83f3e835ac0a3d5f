//! Edits: doors that open and shut, obstacles that are put in, moved and taken out.
//!
//! The base mesh, the room as it was built, is kept. A door that shuts unlinks sides; a door that opens links them again. An obstacle
//! replaces the base cells that it touches by a local mesh: their outline and the obstacles within it, triangulated alone
//! (`edit/local_mesh.rs`). Obstacles that share base cells share a local mesh. Taking an obstacle out restores the old cells bit for
//! bit. What follows from the cells (corners, islands, blocks) is recomputed in one pass over all of them.

use crate::error::{Error, Location, Result};
use crate::navigate::room::build::arrangement::Arrangement;
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::rings::add_rings;
use crate::navigate::room::edit::edits::{Door, Edits, FIRST_DOOR, Obstacle};
use crate::navigate::room::edit::local_mesh::{
    BuildOutcome, build_local_mesh, cells_touched_by, insert_local_mesh,
};
use crate::navigate::room::query::room::Room;

/// A broken invariant: every edit calls [`Room::begin_edits`] first.
fn not_begun(place: &'static str) -> Error {
    Error::internal(place, "the edits have not begun")
}

/// Refuses a ring that no obstacle can have.
fn check_obstacle_ring(ring: &[[f64; 2]]) -> Result<()> {
    add_rings(&mut Arrangement::default(), std::iter::once(ring), |_| true, &mut Vec::new())
}

/// The sides of the base that edges between its cells are made of, each edge by its two vertices, in either direction.
fn door_pairs(edits: &Edits, edges: &[[u32; 2]]) -> Result<Vec<[u32; 2]>> {
    let base = &edits.base;
    let mut pairs = Vec::with_capacity(edges.len());
    for &[a, b] in edges {
        let is_known = a.max(b) < edits.base_vertex_count as u32;
        let side = is_known.then(|| {
            base.around(a).iter().chain(base.around(b)).find(|&&side| {
                let ends = base.end_vertices(side as usize);
                base.sides[side as usize].twin != NONE && (ends == [a, b] || ends == [b, a])
            })
        });
        match side.flatten() {
            Some(&side) => pairs.push([side, base.sides[side as usize].twin]),
            None => {
                return Err(Error::value(
                    Location::Argument,
                    "door",
                    format!("the edge from vertex {a} to vertex {b}"),
                    "it must be between two cells of the room as it was built",
                ));
            }
        }
    }
    Ok(pairs)
}

/// An open door over pairs of base sides.
fn new_door(edits: &Edits, pairs: Vec<[u32; 2]>, has_radius: bool) -> Door {
    let wall = |pair: &[u32; 2]| edits.base.ends(pair[0] as usize).map(|end| end.to_array());
    let walls = if has_radius { pairs.iter().map(wall).collect() } else { Vec::new() };
    Door { pairs, walls, ..Door::default() }
}

impl Room {
    /// Makes one door of edges between cells and returns its number. Each edge is given by its two vertices, in either order. The
    /// door is open at first.
    ///
    /// Cost: linear in the size of the room.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]];
    /// let mut room = Room::from_cells(&points, &[[0, 1, 2, 3], [1, 4, 5, 2]], Options::default())?;
    /// let door = room.add_door(&[[1, 2]])?; // the edge that the two share
    /// room.set_doors(&[(door, false)])?;
    /// assert!(!room.path([1.0, 0.5], [3.0, 0.5], &PathOptions::default())?.is_reached());
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for an edge that is not between two cells of the room as it was built. The room is then unchanged.
    pub fn add_door(&mut self, edges: &[[u32; 2]]) -> Result<u32> {
        self.begin_edits();
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::add_door")) };
        let pairs = door_pairs(edits, edges)?;
        self.push_door(pairs)
    }

    /// Makes one door of whole cells of the room as it was built and returns its number. While it is shut, no path leads into these
    /// cells, out of them, or from one of them to another. The door is open at first.
    ///
    /// Cost: linear in the size of the room.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// let points = [[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [4.0, 0.0], [4.0, 1.0]];
    /// let mut room = Room::from_cells(&points, &[[0, 1, 2, 3], [1, 4, 5, 2]], Options::default())?;
    /// let bridge = room.add_door_cells(&[1])?;
    /// room.set_doors(&[(bridge, false)])?;
    /// assert_eq!(room.island_count(), 2);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Missing`] for a cell that does not exist. The room is then unchanged.
    pub fn add_door_cells(&mut self, cells: &[u32]) -> Result<u32> {
        self.begin_edits();
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::add_door_cells")) };
        let mut pairs = Vec::new();
        for &cell in cells {
            if cell as usize >= edits.base.len() {
                let (index, count) = (u64::from(cell), edits.base.len() as u64);
                return Err(Error::Missing { at: Location::Argument, what: "cell", index, count });
            }
            for side in edits.base.range(cell) {
                let twin = edits.base.sides[side].twin;
                if twin != NONE {
                    pairs.push([side as u32, twin]);
                }
            }
        }
        self.push_door(pairs)
    }

    /// Adds an open door over pairs of base sides. An error changes nothing.
    fn push_door(&mut self, pairs: Vec<[u32; 2]>) -> Result<u32> {
        let has_radius = self.radius > 0.0;
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::push_door")) };
        // A local mesh that holds both sides of a pair must be cut along the door.
        let affected = edits.local_meshes_within(&pairs);
        let door = new_door(edits, pairs, has_radius);
        edits.doors.push(door);
        let door = edits.doors.len() as u32 - 1;
        let rebuilt = self.rebuild_local_meshes(affected, &[]);
        if rebuilt.is_err()
            && let Some(edits) = &mut self.edits
        {
            edits.doors.pop();
        }
        rebuilt.map(|()| door)
    }

    /// The number of doors.
    pub fn door_count(&self) -> usize {
        self.edits.as_ref().map_or(0, |edits| edits.doors.len())
    }

    /// Opens or shuts doors: each pair is a door's number and whether it is open from now on. A shut door is a wall without
    /// thickness. In a room with a radius, agents keep that distance from it too; an open door is no wall.
    ///
    /// Cost: linear in the size of the room, however many doors change; so pass all changes in one call. In a room with a radius, also a
    /// triangulation of the cells that a door touches.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// // Two halves of a room, and a door in the middle of the line between them.
    /// let outer = [[0.0, 0.0], [10.0, 0.0], [10.0, 4.0], [0.0, 4.0]];
    /// let walls = [[[4.9, 0.0], [5.1, 0.0], [5.1, 1.0], [4.9, 1.0]], [[4.9, 2.0], [5.1, 2.0], [5.1, 4.0], [4.9, 4.0]]];
    /// let door = [[5.0, 1.0], [5.0, 2.0]];
    /// let mut room = Room::new(&outer, &walls, Options { doors: vec![door], ..Options::default() })?;
    /// assert!(room.path([1.0, 1.5], [9.0, 1.5], &PathOptions::default())?.is_reached());
    /// room.set_doors(&[(0, false)])?;
    /// assert!(!room.path([1.0, 1.5], [9.0, 1.5], &PathOptions::default())?.is_reached());
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Missing`] for a door that does not exist; [`Error::Invalid`] for edges that cross too densely, in a room with a radius. The
    /// room is then unchanged.
    pub fn set_doors(&mut self, doors: &[(u32, bool)]) -> Result<()> {
        let count = self.door_count();
        if let Some(&(door, _)) = doors.iter().find(|&&(door, _)| door as usize >= count) {
            let (index, count) = (u64::from(door), count as u64);
            return Err(Error::Missing { at: Location::Argument, what: "door", index, count });
        }
        let Some(edits) = &mut self.edits else { return Ok(()) };
        let before: Vec<(u32, bool)> =
            doors.iter().map(|&(door, _)| (door, edits.doors[door as usize].is_shut)).collect();
        for &(door, is_open) in doors {
            edits.doors[door as usize].is_shut = !is_open;
        }
        if !(self.radius > 0.0) {
            self.relink();
            return Ok(());
        }
        let swept = self.sweep_doors(doors);
        if let (Err(_), Some(edits)) = (&swept, &mut self.edits) {
            for &(door, is_shut) in before.iter().rev() {
                edits.doors[door as usize].is_shut = is_shut;
            }
        }
        swept
    }

    /// Puts what shut doors sweep into a room with a radius, and takes out what open ones swept. An error changes nothing.
    fn sweep_doors(&mut self, doors: &[(u32, bool)]) -> Result<()> {
        let radius = self.radius;
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::sweep_doors")) };
        let mut numbers: Vec<u32> = doors.iter().map(|&(door, _)| door).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|&door| {
            let door = &edits.doors[door as usize];
            door.is_shut != door.obstacle.is_some()
        });
        let mut old = Vec::with_capacity(numbers.len());
        let mut affected = Vec::new();
        for &number in &numbers {
            let door = &edits.doors[number as usize];
            let new = door.is_shut.then(|| {
                let touched = |wall: &[[f64; 2]; 2]| cells_touched_by(&self.grid, &edits.base, wall, radius);
                let mut base_cells: Vec<u32> = door.walls.iter().flat_map(touched).collect();
                base_cells.sort_unstable();
                base_cells.dedup();
                Obstacle { ring: Vec::new(), walls: door.walls.clone(), base_cells }
            });
            let door = &mut edits.doors[number as usize];
            let before = std::mem::replace(&mut door.obstacle, new);
            let base_cells = before.iter().chain(&door.obstacle).flat_map(|obstacle| &obstacle.base_cells);
            affected.extend(base_cells.map(|&cell| edits.local_mesh_of[cell as usize]));
            old.push(before);
        }
        let others: Vec<u32> = numbers.iter().map(|&door| FIRST_DOOR + door).collect();
        let rebuilt = self.rebuild_local_meshes(affected, &others);
        if let (Err(_), Some(edits)) = (&rebuilt, &mut self.edits) {
            for (&door, old) in numbers.iter().zip(old) {
                edits.doors[door as usize].obstacle = old;
            }
        }
        rebuilt
    }

    /// Puts an obstacle into the room and returns its number. An obstacle is a ring, as a hole is. It may overlap walls and other
    /// obstacles; a ring without area changes nothing. In a room with a radius, agents keep that distance from it too.
    ///
    /// Cost: a triangulation of the cells that it touches, and one linear pass over the room.
    ///
    /// ```
    /// use hullfield::navigate::room::{Options, PathOptions, Room};
    ///
    /// let none: [[[f64; 2]; 0]; 0] = [];
    /// let mut room = Room::new(&[[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [0.0, 10.0]], &none, Options::default())?;
    /// let crate_ = room.put_obstacle(&[[4.0, 4.0], [6.0, 4.0], [6.0, 6.0], [4.0, 6.0]])?;
    /// assert!(room.path([1.0, 5.0], [9.0, 5.0], &PathOptions::default())?.length > 8.0);
    /// room.move_obstacle(crate_, &[[4.0, 7.0], [6.0, 7.0], [6.0, 9.0], [4.0, 9.0]])?;
    /// assert_eq!(room.path([1.0, 5.0], [9.0, 5.0], &PathOptions::default())?.length, 8.0);
    /// room.take_obstacle(crate_)?;
    /// assert_eq!(room.area(), 100.0);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for a coordinate that is not finite or out of range, [`Error::Invalid`] for a ring of fewer than three
    /// different points, or of edges that cross too densely. The room is then unchanged.
    pub fn put_obstacle(&mut self, ring: &[[f64; 2]]) -> Result<u32> {
        self.begin_edits();
        let index = self.edits.as_ref().map_or(0, |edits| edits.obstacles.len()) as u32;
        self.set_ring(index, Some(ring))?;
        Ok(index)
    }

    /// Moves an obstacle: `ring` is its new ring. Cost: as [`Room::put_obstacle`], for the old place and the new one.
    ///
    /// # Errors
    /// As [`Room::put_obstacle`]; [`Error::Missing`] for an obstacle that does not exist, [`Error::Invalid`] for one that was taken
    /// out.
    pub fn move_obstacle(&mut self, obstacle: u32, ring: &[[f64; 2]]) -> Result<()> {
        self.check_obstacle(obstacle)?;
        self.set_ring(obstacle, Some(ring))
    }

    /// Takes an obstacle out. Its number is not used again. Cost: as [`Room::put_obstacle`].
    ///
    /// # Errors
    /// [`Error::Missing`] for an obstacle that does not exist, [`Error::Invalid`] for one that was taken out before.
    pub fn take_obstacle(&mut self, obstacle: u32) -> Result<()> {
        self.check_obstacle(obstacle)?;
        self.set_ring(obstacle, None)
    }

    /// Makes the edits of another room of the same floor: doors by their edges, after those that the floor has, the numbers of
    /// those that are shut, and the rings of obstacles by their numbers, none where one was taken out.
    ///
    /// # Errors
    /// As [`Room::add_door`], [`Room::set_doors`] and [`Room::put_obstacle`]; some of it may be done then.
    #[cfg(feature = "serde")]
    pub(crate) fn redo_edits(
        &mut self,
        doors: &[Vec<[u32; 2]>],
        shut_doors: &[u32],
        obstacles: Vec<Option<Vec<[f64; 2]>>>,
    ) -> Result<()> {
        self.begin_edits();
        let radius = self.radius;
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::redo_edits")) };
        for edges in doors {
            let pairs = door_pairs(edits, edges)?;
            let door = new_door(edits, pairs, radius > 0.0);
            edits.doors.push(door);
        }
        for ring in obstacles {
            if let Some(ring) = &ring {
                check_obstacle_ring(ring)?;
            }
            edits.obstacles.push(ring.map(|ring| Obstacle {
                base_cells: cells_touched_by(&self.grid, &edits.base, &ring, radius),
                ring,
                ..Obstacle::default()
            }));
        }
        let all: Vec<u32> = (0..edits.obstacles.len() as u32).collect();
        self.rebuild_local_meshes(Vec::new(), &all)?;
        let shut: Vec<(u32, bool)> = shut_doors.iter().map(|&door| (door, false)).collect();
        self.set_doors(&shut)
    }

    fn check_obstacle(&self, obstacle: u32) -> Result<()> {
        let obstacles = self.edits.as_ref().map_or(&[][..], |edits| &edits.obstacles);
        let at = Location::Argument;
        match obstacles.get(obstacle as usize) {
            Some(Some(_)) => Ok(()),
            Some(None) => Err(Error::invalid(at, format!("obstacle {obstacle} was taken out"))),
            None => {
                let (index, count) = (u64::from(obstacle), obstacles.len() as u64);
                Err(Error::Missing { at, what: "obstacle", index, count })
            }
        }
    }

    fn begin_edits(&mut self) {
        if self.edits.is_none() {
            let mut base = self.cells.clone();
            base.merge_sectors(self.vertex_count);
            let local_mesh_of = vec![NONE; base.len()];
            let base_vertex_count = self.vertex_count;
            self.edits = Some(Box::new(Edits { base, base_vertex_count, local_mesh_of, ..Edits::default() }));
        }
    }

    /// Registers the doors that were given with the rings: `sides` has a side and a door each. In a room with a radius there are none: a
    /// shut door covers more than its own segment.
    pub(crate) fn register_ring_doors(&mut self, doors: &[[[f64; 2]; 2]], sides: &[(u32, u32)]) {
        if doors.is_empty() {
            return;
        }
        self.begin_edits();
        if let Some(edits) = &mut self.edits {
            let walls = |&door| if self.radius > 0.0 { vec![door] } else { Vec::new() };
            edits.doors.extend(doors.iter().map(|door| Door { walls: walls(door), ..Door::default() }));
            for &(side, door) in sides {
                let twin = edits.base.sides[side as usize].twin;
                if twin != NONE && side < twin {
                    edits.doors[door as usize].pairs.push([side, twin]);
                }
            }
        }
    }

    /// Gives an obstacle another ring, or takes it out, and rebuilds the local meshes that this affects.
    fn set_ring(&mut self, obstacle: u32, ring: Option<&[[f64; 2]]>) -> Result<()> {
        let radius = self.radius;
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::set_ring")) };
        let at = obstacle as usize;
        // A bad ring is refused before anything is changed.
        if let Some(ring) = ring {
            check_obstacle_ring(ring)?;
        }
        let new = ring.map(|ring| Obstacle {
            ring: ring.to_vec(),
            base_cells: cells_touched_by(&self.grid, &edits.base, ring, radius),
            ..Obstacle::default()
        });
        let is_new = edits.obstacles.len() == at;
        if is_new {
            edits.obstacles.push(None);
        }
        let old = std::mem::replace(&mut edits.obstacles[at], new);
        // The old place and the new one both affect local meshes.
        let base_cells = old.iter().chain(&edits.obstacles[at]).flat_map(|obstacle| &obstacle.base_cells);
        let affected: Vec<u32> = base_cells.map(|&cell| edits.local_mesh_of[cell as usize]).collect();
        let rebuilt = self.rebuild_local_meshes(affected, &[obstacle]);
        if let (Err(_), Some(edits)) = (&rebuilt, &mut self.edits) {
            edits.obstacles[at] = old;
            edits.obstacles.truncate(if is_new { at } else { usize::MAX });
        }
        rebuilt
    }

    /// Removes local meshes and builds new ones for their obstacles and for some others. An error changes nothing.
    fn rebuild_local_meshes(&mut self, mut affected: Vec<u32>, others: &[u32]) -> Result<()> {
        let radius = self.radius;
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::rebuild_local_meshes")) };
        // Removed cells keep their memory. Once they outweigh the live ones, all local meshes are rebuilt.
        let live_side_count: usize = edits
            .local_meshes
            .iter()
            .flat_map(|local_mesh| &local_mesh.cells)
            .map(|&cell| self.cells.count[cell as usize] as usize)
            .sum();
        let base_size = edits.base.sides.len();
        let is_wasteful = self.cells.sides.len() > 2 * (base_size + live_side_count) + 4096;
        if is_wasteful {
            affected.extend(0..edits.local_meshes.len() as u32);
        }
        // All new meshes are built before the cells change, so that an error changes nothing. A mesh that grows may affect others.
        let (groups, built) = loop {
            affected.retain(|&local_mesh| local_mesh != NONE);
            affected.sort_unstable();
            affected.dedup();
            let mut obstacles = others.to_vec();
            for &local_mesh in &affected {
                obstacles.extend_from_slice(&edits.local_meshes[local_mesh as usize].obstacles);
            }
            let groups = edits.group(obstacles);
            let mut built = Vec::with_capacity(groups.len());
            let mut has_grown = false;
            for group in &groups {
                match build_local_mesh(edits, group, radius)? {
                    BuildOutcome::Mesh(mesh, doors) => built.push((mesh, doors)),
                    BuildOutcome::Grown(cells) => {
                        affected.extend(cells.iter().map(|&cell| edits.local_mesh_of[cell as usize]));
                        if let Some(obstacle) = edits.obstacle_mut(group.obstacles[0]) {
                            obstacle.base_cells.extend(cells);
                            obstacle.base_cells.sort_unstable();
                            obstacle.base_cells.dedup();
                        }
                        has_grown = true;
                    }
                }
            }
            if !has_grown {
                break (groups, built);
            }
        };
        self.cells.merge_sectors(self.vertex_count);
        for &local_mesh in &affected {
            let local_mesh = std::mem::take(&mut edits.local_meshes[local_mesh as usize]);
            for cell in local_mesh.cells {
                self.cells.count[cell as usize] = 0;
            }
            for cell in local_mesh.base_cells {
                edits.local_mesh_of[cell as usize] = NONE;
                self.cells.count[cell as usize] = edits.base.count[cell as usize];
                for side in edits.base.range(cell) {
                    edits.replacement_of.remove(&(side as u32));
                }
            }
        }
        if is_wasteful {
            let cells = &mut self.cells;
            self.vertex_count = edits.base_vertex_count;
            cells.points.truncate(self.vertex_count);
            cells.first.truncate(edits.base.len());
            cells.count.truncate(edits.base.len());
            cells.sides.truncate(base_size);
            cells.cell_of.truncate(base_size);
            edits.local_meshes.clear();
        }
        for (group, (mesh, doors)) in groups.into_iter().zip(built) {
            self.vertex_count = insert_local_mesh(&mut self.cells, edits, group, &mesh, &doors);
        }
        self.relink();
        Ok(())
    }

    /// Links all sides as the doors and local meshes are now, and recomputes what follows from the links.
    fn relink(&mut self) {
        let Some(edits) = &self.edits else { return };
        let cells = &mut self.cells;
        cells.merge_sectors(self.vertex_count);
        // A base side, or the side of a local mesh that replaces it.
        let current_side = |side: u32| edits.replacement_of.get(&side).copied().unwrap_or(side);
        let is_live = |cells: &Cells, side: u32| cells.count[cells.cell_of[side as usize] as usize] > 0;
        for side in 0..edits.base.sides.len() as u32 {
            let twin = edits.base.sides[side as usize].twin;
            if twin == NONE || twin < side {
                continue;
            }
            let (a, b) = (current_side(side), current_side(twin));
            match (is_live(cells, a), is_live(cells, b)) {
                (true, true) => cells.link(a, b),
                // An obstacle covers the cell on the other side right up to this edge.
                (true, false) => cells.close(a),
                (false, true) => cells.close(b),
                (false, false) => {}
            }
        }
        for local_mesh in &edits.local_meshes {
            for &([a, b], _) in &local_mesh.doors {
                cells.link(a, b);
            }
        }
        for (index, door) in edits.doors.iter().enumerate() {
            if !door.is_shut {
                continue;
            }
            for &[a, b] in &door.pairs {
                let (a, b) = (current_side(a), current_side(b));
                if is_live(cells, a) && is_live(cells, b) && cells.sides[a as usize].twin == b {
                    cells.shut(a);
                }
            }
            for local_mesh in &edits.local_meshes {
                for &([a, _], _) in local_mesh.doors.iter().filter(|&&(_, own)| own == index as u32) {
                    cells.shut(a);
                }
            }
        }
        cells.classify_vertices(self.vertex_count);
        self.refresh();
    }
}
