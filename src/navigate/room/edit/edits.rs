//! The record of a room's edits: its doors, its obstacles, and the local meshes around the obstacles.

use std::collections::HashMap;

use crate::navigate::room::build::cells::Cells;

/// The edits of a room.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// The base mesh: the room as it was built, with every door open.
    pub(crate) base: Cells,
    /// How many vertices the base mesh has.
    pub(crate) base_vertex_count: usize,
    pub(crate) doors: Vec<Door>,
    /// The obstacles by index; `None` for one that was taken out.
    pub(crate) obstacles: Vec<Option<Obstacle>>,
    pub(crate) local_meshes: Vec<LocalMesh>,
    /// The local mesh that replaces each base cell; [`NONE`](crate::navigate::room::build::cells::NONE) for a cell that is not replaced.
    pub(crate) local_mesh_of: Vec<u32>,
    /// The side of a local mesh that replaces each replaced base side on the outline.
    pub(crate) replacement_of: HashMap<u32, u32>,
}

/// The numbers from here on stand for shut doors, among obstacles.
pub(crate) const FIRST_DOOR: u32 = 1 << 31;

/// An obstacle in the room, or what a shut door is in a room with a radius.
#[derive(Debug, Default)]
pub(crate) struct Obstacle {
    /// Empty for a door.
    pub(crate) ring: Vec<[f64; 2]>,
    /// Walls without thickness: those of a door.
    pub(crate) walls: Vec<[[f64; 2]; 2]>,
    /// The base cells that must be replaced because of it, sorted.
    pub(crate) base_cells: Vec<u32>,
}

/// Base sides that open and shut together, each with its twin.
#[derive(Debug, Default)]
pub(crate) struct Door {
    pub(crate) pairs: Vec<[u32; 2]>,
    pub(crate) is_shut: bool,
    /// In a room with a radius, the walls that the door is while it is shut.
    pub(crate) walls: Vec<[[f64; 2]; 2]>,
    /// In a room with a radius, what the door is while it is shut.
    pub(crate) obstacle: Option<Obstacle>,
}

/// Cells that replace some base cells while obstacles lie on them.
#[derive(Debug, Default)]
pub(crate) struct LocalMesh {
    pub(crate) obstacles: Vec<u32>,
    /// The base cells that it replaces.
    pub(crate) base_cells: Vec<u32>,
    /// Its own cells.
    pub(crate) cells: Vec<u32>,
    /// The sides within it that belong to a door: a side, its twin, and the door.
    pub(crate) doors: Vec<([u32; 2], u32)>,
}

/// Obstacles that share base cells, and so share a local mesh.
#[derive(Debug)]
pub(crate) struct ObstacleGroup {
    /// Sorted.
    pub(crate) obstacles: Vec<u32>,
    /// Sorted.
    pub(crate) base_cells: Vec<u32>,
}

impl Edits {
    /// An obstacle, or a shut door from [`FIRST_DOOR`] on; `None` for one that is not there.
    pub(crate) fn obstacle(&self, index: u32) -> Option<&Obstacle> {
        match index.checked_sub(FIRST_DOOR) {
            Some(door) => self.doors.get(door as usize)?.obstacle.as_ref(),
            None => self.obstacles.get(index as usize)?.as_ref(),
        }
    }

    /// [`Self::obstacle`], to change it.
    pub(crate) fn obstacle_mut(&mut self, index: u32) -> Option<&mut Obstacle> {
        match index.checked_sub(FIRST_DOOR) {
            Some(door) => self.doors.get_mut(door as usize)?.obstacle.as_mut(),
            None => self.obstacles.get_mut(index as usize)?.as_mut(),
        }
    }

    /// The local meshes that hold both sides of one of the pairs.
    pub(crate) fn local_meshes_within(&self, pairs: &[[u32; 2]]) -> Vec<u32> {
        let local_mesh_of = |side: u32| self.local_mesh_of[self.base.cell_of[side as usize] as usize];
        pairs
            .iter()
            .filter(|pair| local_mesh_of(pair[0]) == local_mesh_of(pair[1]))
            .map(|pair| local_mesh_of(pair[0]))
            .collect()
    }

    /// Groups obstacles that share base cells. Obstacles that touch no cell are left out.
    pub(crate) fn group(&self, mut obstacles: Vec<u32>) -> Vec<ObstacleGroup> {
        obstacles.sort_unstable();
        obstacles.dedup();
        let mut groups: Vec<ObstacleGroup> = Vec::new();
        for &index in &obstacles {
            let Some(obstacle) = self.obstacle(index) else { continue };
            let mut joined =
                ObstacleGroup { obstacles: vec![index], base_cells: obstacle.base_cells.clone() };
            groups.retain_mut(|group| {
                let is_shared = |cell| joined.base_cells.binary_search(cell).is_ok();
                let meets = group.base_cells.iter().any(is_shared);
                if meets {
                    joined.obstacles.append(&mut group.obstacles);
                    joined.base_cells.append(&mut group.base_cells);
                    joined.base_cells.sort_unstable();
                }
                !meets
            });
            joined.base_cells.dedup();
            joined.obstacles.sort_unstable();
            if !joined.base_cells.is_empty() {
                groups.push(joined);
            }
        }
        groups
    }
}
