//! What is changed about a room: its doors, the obstacles in it, and the patches under them.

use std::collections::HashMap;

use crate::navigate::room::build::cells::Cells;

/// What a room keeps to be changed.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    /// The floor as it was built, every door open.
    pub(crate) base: Cells,
    /// Vertices of the floor as it was built.
    pub(crate) base_vertex_count: usize,
    pub(crate) doors: Vec<Door>,
    /// The obstacles; none where one was taken out.
    pub(crate) obstacles: Vec<Option<Obstacle>>,
    pub(crate) patches: Vec<Patch>,
    /// The patch that stands in for each cell of the base; [`NONE`](crate::navigate::room::build::cells::NONE) where it stands itself.
    pub(crate) patch_of: Vec<u32>,
    /// The side of a patch that stands in for a side of the base.
    pub(crate) stands_for: HashMap<u32, u32>,
}

/// Something that stands in the room.
#[derive(Debug, Default)]
pub(crate) struct Obstacle {
    pub(crate) ring: Vec<[f64; 2]>,
    /// The cells of the base that its patch replaces on its account, sorted.
    pub(crate) cells: Vec<u32>,
}

/// Sides of the base that open and shut together.
#[derive(Debug, Default)]
pub(crate) struct Door {
    pub(crate) pairs: Vec<[u32; 2]>,
    pub(crate) is_shut: bool,
}

/// Cells that stand in for others.
#[derive(Debug, Default)]
pub(crate) struct Patch {
    pub(crate) obstacles: Vec<u32>,
    /// The cells of the base that it stands in for.
    pub(crate) base_cells: Vec<u32>,
    /// Its own.
    pub(crate) cells: Vec<u32>,
    /// The sides within it that are part of a door.
    pub(crate) doors: Vec<([u32; 2], u32)>,
}

impl Edits {
    /// The patches that hold both sides of a pair.
    pub(crate) fn patches_of(&self, pairs: &[[u32; 2]]) -> Vec<u32> {
        let patch_of = |side: u32| self.patch_of[self.base.cell_of[side as usize] as usize];
        pairs
            .iter()
            .filter(|pair| patch_of(pair[0]) == patch_of(pair[1]))
            .map(|pair| patch_of(pair[0]))
            .collect()
    }

    /// Sorts obstacles into groups that touch the same cells, each with these cells.
    pub(crate) fn groups(&self, mut loose: Vec<u32>) -> Vec<(Vec<u32>, Vec<u32>)> {
        loose.sort_unstable();
        loose.dedup();
        let mut groups: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for &number in &loose {
            let Some(obstacle) = &self.obstacles[number as usize] else { continue };
            let mut own = (vec![number], obstacle.cells.clone());
            groups.retain_mut(|group| {
                let meets = group.1.iter().any(|cell| own.1.binary_search(cell).is_ok());
                if meets {
                    own.0.append(&mut group.0);
                    own.1.append(&mut group.1);
                    own.1.sort_unstable();
                }
                !meets
            });
            own.1.dedup();
            own.0.sort_unstable();
            if !own.1.is_empty() {
                groups.push(own);
            }
        }
        groups
    }
}
