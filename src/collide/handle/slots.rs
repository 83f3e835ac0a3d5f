//! The rows of a scene, with generations: what makes an id stable.

use std::sync::Arc;

use crate::collide::handle::id::{BodyId, scene_number};
use crate::error::{Error, Location, Result};

/// The rows of a scene. A copy shares them until one of the two changes.
#[derive(Debug)]
pub(crate) struct Slots {
    /// Names the bodies that are inserted from now on.
    scene: u64,
    rows: Arc<Vec<Slot>>,
    /// Rows that may be used again, the last first.
    free: Arc<Vec<u32>>,
    count: usize,
}

/// A row.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// Of the body that it holds, or that it held last.
    id: BodyId,
    is_held: bool,
}

impl Default for Slots {
    fn default() -> Self {
        Self { scene: scene_number(), rows: Arc::default(), free: Arc::default(), count: 0 }
    }
}

impl Clone for Slots {
    /// The same rows and ids. Bodies that are inserted later have other ids in each.
    fn clone(&self) -> Self {
        Self {
            scene: scene_number(),
            rows: Arc::clone(&self.rows),
            free: Arc::clone(&self.free),
            count: self.count,
        }
    }
}

impl Slots {
    /// Rows with the ids of the bodies that they hold, or held last. Bodies that are inserted later have other ids than those of other scenes.
    ///
    /// # Errors
    /// [`Error::Invalid`] where an id is of another row.
    pub(crate) fn restored(rows: &[(BodyId, bool)]) -> Result<Self> {
        if let Some(row) = rows.iter().enumerate().position(|(row, (id, _))| id.row as usize != row) {
            let message = format!("the state has {} in row {row}", rows[row].0);
            return Err(Error::invalid(Location::Body(row), message));
        }
        let is_free = |(id, is_held): &&(BodyId, bool)| !is_held && id.generation < u32::MAX;
        Ok(Self {
            scene: scene_number(),
            free: Arc::new(rows.iter().filter(is_free).map(|(id, _)| id.row).collect()),
            count: rows.iter().filter(|(_, is_held)| *is_held).count(),
            rows: Arc::new(rows.iter().map(|&(id, is_held)| Slot { id, is_held }).collect()),
        })
    }

    /// The ids of all rows, held or not.
    pub(crate) fn last_ids(&self) -> impl Iterator<Item = (BodyId, bool)> + '_ {
        self.rows.iter().map(|slot| (slot.id, slot.is_held))
    }

    /// The rows as they are now, which bodies are not inserted into.
    pub(crate) fn snapshot(&self) -> Self {
        let (rows, free) = (Arc::clone(&self.rows), Arc::default());
        Self { scene: self.scene, rows, free, count: self.count }
    }

    /// Number of bodies.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Number of rows, held or not.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Takes a row: the free one that was left last, else a new one.
    ///
    /// # Errors
    /// [`Error::TooMany`].
    pub(crate) fn insert(&mut self) -> Result<BodyId> {
        let scene = self.scene;
        let id = if let Some(row) = Arc::make_mut(&mut self.free).pop() {
            let slot = &mut Arc::make_mut(&mut self.rows)[row as usize];
            // Rows whose generations are used up are not free.
            *slot = Slot { id: BodyId { row, generation: slot.id.generation + 1, scene }, is_held: true };
            slot.id
        } else {
            let (count, limit) = (self.rows.len() as u64 + 1, u64::from(u32::MAX));
            if count > limit {
                return Err(Error::TooMany { what: "bodies", count, limit });
            }
            let id = BodyId { row: self.rows.len() as u32, generation: 0, scene };
            Arc::make_mut(&mut self.rows).push(Slot { id, is_held: true });
            id
        };
        self.count += 1;
        Ok(id)
    }

    /// Leaves a row; `false` for a stale id.
    pub(crate) fn remove(&mut self, id: BodyId) -> bool {
        if !self.holds(id) {
            return false;
        }
        Arc::make_mut(&mut self.rows)[id.row as usize].is_held = false;
        self.count -= 1;
        if id.generation < u32::MAX {
            Arc::make_mut(&mut self.free).push(id.row);
        }
        true
    }

    /// Whether the body is there.
    pub(crate) fn holds(&self, id: BodyId) -> bool {
        self.id_at(id.row) == Some(id)
    }

    /// The id of the body in a row.
    pub(crate) fn id_at(&self, row: u32) -> Option<BodyId> {
        let slot = self.rows.get(row as usize)?;
        slot.is_held.then_some(slot.id)
    }

    /// The ids of all bodies, by row.
    pub(crate) fn ids(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.rows.iter().filter(|slot| slot.is_held).map(|slot| slot.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_used_again_with_another_generation() {
        let mut slots = Slots::default();
        let ids = [0, 1, 2].map(|_| slots.insert().unwrap());
        assert!(slots.remove(ids[1]) && !slots.remove(ids[1]) && !slots.holds(ids[1]));
        let again = slots.insert().unwrap();
        assert_eq!((again.row, again.generation, slots.count(), slots.len()), (1, 1, 3, 3));
        assert!(slots.holds(again) && !slots.holds(ids[1]));
        assert_eq!(slots.ids().collect::<Vec<_>>(), [ids[0], again, ids[2]]);
    }

    #[test]
    fn copies_name_later_bodies_apart() {
        let mut one = Slots::default();
        let first = one.insert().unwrap();
        let mut other = one.clone();
        let (a, b) = (one.insert().unwrap(), other.insert().unwrap());
        assert!(one.holds(first) && other.holds(first));
        assert_eq!((a.row, b.row), (1, 1));
        assert!(one.holds(a) && !one.holds(b) && other.holds(b) && !other.holds(a));
        assert!(!Slots::default().holds(first));
    }

    #[test]
    fn a_row_whose_generations_are_used_up_is_given_up() {
        let mut slots = Slots::default();
        let first = slots.insert().unwrap();
        assert!(slots.remove(first));
        Arc::make_mut(&mut slots.rows)[0].id.generation = u32::MAX - 1;
        let last = slots.insert().unwrap();
        assert_eq!((last.row, last.generation), (0, u32::MAX));
        assert!(slots.remove(last));
        assert_eq!(slots.insert().unwrap().row, 1);
    }
}
