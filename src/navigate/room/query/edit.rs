//! Rooms that change: doors that open and shut, obstacles put in, moved and taken out.
//!
//! The floor as it was built is kept. A door unlinks two sides and links them again. An obstacle replaces the cells that
//! it touches by a patch: their outline and the obstacles within it, arranged and triangulated by themselves (`edit/local_mesh.rs`).
//! Patches that share cells become one; taking an obstacle out gives the old cells back to the bit. What follows from the cells
//! (corners, islands, blocks) is worked out again in one pass over them.

use crate::error::{Error, Location, Result};
use crate::navigate::room::build::arrangement::Arrangement;
use crate::navigate::room::build::cells::{Cells, NONE};
use crate::navigate::room::build::rings::add_rings;
use crate::navigate::room::edit::changes::{Door, Edits, Obstacle};
use crate::navigate::room::edit::local_mesh::{Built, build, lay, touched};
use crate::navigate::room::query::room::Room;

/// Whoever edits has begun edits before.
fn not_begun(place: &'static str) -> Error {
    Error::internal(place, "the edits have not begun")
}

impl Room {
    /// Makes a door of edges between cells, each by its two vertices, in either direction; it is open at first.
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
    /// An edge that is not between two cells of the room as it was built; nothing is changed then.
    pub fn add_door(&mut self, edges: &[[u32; 2]]) -> Result<u32> {
        self.begin_edits();
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::add_door")) };
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
                    return Err(Error::value(
                        Location::Argument,
                        "door",
                        format!("the edge from vertex {a} to vertex {b}"),
                        "it must be between two cells of the room as it was built",
                    ));
                }
            }
        }
        let concerned = edits.patches_of(&pairs);
        edits.doors.push(Door { pairs, is_shut: false });
        let door = edits.doors.len() as u32 - 1;
        // Within patches that are there the door has yet to be found.
        let laid = self.lay_anew(concerned, &[]);
        if laid.is_err()
            && let Some(edits) = &mut self.edits
        {
            edits.doors.pop();
        }
        laid.map(|()| door)
    }

    /// Makes a door of whole cells of the room as it was built: while it is shut nothing goes into them, out of them, or
    /// from one to another. It is open at first.
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
    /// A cell that does not exist.
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
        let concerned = edits.patches_of(&pairs);
        edits.doors.push(Door { pairs, is_shut: false });
        let door = edits.doors.len() as u32 - 1;
        // Within patches that are there the door has yet to be found.
        let laid = self.lay_anew(concerned, &[]);
        if laid.is_err()
            && let Some(edits) = &mut self.edits
        {
            edits.doors.pop();
        }
        laid.map(|()| door)
    }

    /// How many doors there are.
    pub fn door_count(&self) -> usize {
        self.edits.as_ref().map_or(0, |edits| edits.doors.len())
    }

    /// Opens or shuts doors, each by its number and whether it is to be open. A shut door is a wall without thickness.
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
    /// A door that does not exist; nothing is changed then.
    pub fn set_doors(&mut self, doors: &[(u32, bool)]) -> Result<()> {
        let count = self.door_count();
        if let Some(&(door, _)) = doors.iter().find(|&&(door, _)| door as usize >= count) {
            let (index, count) = (u64::from(door), count as u64);
            return Err(Error::Missing { at: Location::Argument, what: "door", index, count });
        }
        if let Some(edits) = &mut self.edits {
            for &(door, is_open) in doors {
                edits.doors[door as usize].is_shut = !is_open;
            }
        }
        self.apply();
        Ok(())
    }

    /// Puts an obstacle into the room, a ring as holes are, and gives its number. It may overlap walls and other obstacles;
    /// one without area changes nothing. In a room with a radius the agents keep that far from it too.
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
            base.unite(self.vertex_count);
            let patch_of = vec![NONE; base.len()];
            let base_vertex_count = self.vertex_count;
            self.edits = Some(Box::new(Edits { base, base_vertex_count, patch_of, ..Edits::default() }));
        }
    }

    /// The doors that were given with the rings, as sides of the cells.
    pub(crate) fn set_up_doors(&mut self, count: usize, sides: &[(u32, u32)]) {
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

    /// Gives an obstacle another ring, or none, and builds the patches that this concerns.
    fn replace(&mut self, obstacle: u32, ring: Option<&[[f64; 2]]>) -> Result<()> {
        let radius = self.radius;
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::replace")) };
        let at = obstacle as usize;
        // What the ring is worth is known before anything is changed.
        if let Some(ring) = ring {
            add_rings(&mut Arrangement::default(), std::iter::once(ring), &mut Vec::new())?;
        }
        let new = ring.map(|ring| Obstacle {
            ring: ring.to_vec(),
            cells: touched(&self.grid, &edits.base, ring, radius),
        });
        let is_new = edits.obstacles.len() == at;
        if is_new {
            edits.obstacles.push(None);
        }
        let old = std::mem::replace(&mut edits.obstacles[at], new);
        // Dissolve the patches that the old place and the new one concern.
        let cells = old.iter().chain(&edits.obstacles[at]).flat_map(|obstacle| &obstacle.cells);
        let concerned: Vec<u32> = cells.map(|&cell| edits.patch_of[cell as usize]).collect();
        let laid = self.lay_anew(concerned, &[obstacle]);
        if let (Err(_), Some(edits)) = (&laid, &mut self.edits) {
            edits.obstacles[at] = old;
            edits.obstacles.truncate(if is_new { at } else { usize::MAX });
        }
        laid
    }

    /// Dissolves patches and lays new ones for their obstacles and for some others. An error changes nothing.
    fn lay_anew(&mut self, mut concerned: Vec<u32>, others: &[u32]) -> Result<()> {
        let radius = self.radius;
        let Some(edits) = &mut self.edits else { return Err(not_begun("room::edit::lay_anew")) };
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
        // All new floors first, so that a failure changes nothing. Where one grows, others may be concerned.
        let (groups, built) = loop {
            concerned.retain(|&patch| patch != NONE);
            concerned.sort_unstable();
            concerned.dedup();
            let mut loose = others.to_vec();
            for &patch in &concerned {
                loose.extend_from_slice(&edits.patches[patch as usize].obstacles);
            }
            let groups = edits.groups(loose);
            let mut built = Vec::with_capacity(groups.len());
            let mut has_grown = false;
            for (obstacles, base_cells) in &groups {
                match build(edits, obstacles, base_cells, radius)? {
                    Built::Floor(floor, doors) => built.push((floor, doors)),
                    Built::Outgrown(cells) => {
                        concerned.extend(cells.iter().map(|&cell| edits.patch_of[cell as usize]));
                        if let Some(obstacle) = &mut edits.obstacles[obstacles[0] as usize] {
                            obstacle.cells.extend(cells);
                            obstacle.cells.sort_unstable();
                            obstacle.cells.dedup();
                        }
                        has_grown = true;
                    }
                }
            }
            if !has_grown {
                break (groups, built);
            }
        };
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
