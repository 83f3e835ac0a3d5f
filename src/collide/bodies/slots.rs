//! Slots with generations: what makes an id stable.
//!
//! Crates for this were judged: `slotmap` 1.1 lets a generation wrap around after 2³¹ removals, so that an old id names a new body;
//! `thunderdome` 0.6 panics there. Both own their values, and queries need the bodies as one slice. This list keeps generations and user
//! data only, and gives a slot up when its generations are used up.

use std::sync::Arc;

use crate::collide::bodies::id::BodyId;
use crate::error::{Error, Result};

/// Most slots: the memory of touching pairs marks statics with the highest bit.
pub(crate) const SLOT_LIMIT: u32 = 1 << 31;

/// The slots of a set, and the user data of its bodies.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    /// How many bodies each slot held before. Queries in flight share it, so a removal copies it only while there are any.
    generations: Arc<Vec<u32>>,
    /// `None` where the slot holds no body.
    user_data: Vec<Option<T>>,
    /// Slots that may be used again, the last first.
    free: Vec<u32>,
    count: usize,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { generations: Arc::default(), user_data: Vec::new(), free: Vec::new(), count: 0 }
    }
}

impl<T> Slots<T> {
    /// Number of bodies.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Takes a slot: the free one that was left last, else a new one.
    ///
    /// # Errors
    /// [`Error::TooMany`].
    pub(crate) fn insert(&mut self, user_data: T) -> Result<BodyId> {
        let index = match self.free.pop() {
            Some(index) => index,
            None => {
                let index = self.user_data.len() as u64;
                if index >= SLOT_LIMIT.into() {
                    return Err(Error::TooMany {
                        what: "bodies",
                        count: index + 1,
                        limit: SLOT_LIMIT.into(),
                    });
                }
                Arc::make_mut(&mut self.generations).push(0);
                self.user_data.push(None);
                index as u32
            }
        };
        self.user_data[index as usize] = Some(user_data);
        self.count += 1;
        Ok(BodyId::new(index, self.generations[index as usize]))
    }

    /// Leaves a slot; `None` for a stale id.
    pub(crate) fn remove(&mut self, id: BodyId) -> Option<T> {
        let user_data = self.get_mut(id)?.take();
        self.count -= 1;
        // A slot whose generations are used up stays empty for ever, so that no id comes back.
        if let Some(next) = id.generation().checked_add(1) {
            Arc::make_mut(&mut self.generations)[id.index() as usize] = next;
            self.free.push(id.index());
        }
        user_data
    }

    /// Whether the body is there.
    pub(crate) fn holds(&self, id: BodyId) -> bool {
        self.id_at(id.index()) == Some(id)
    }

    /// The id of the body in a slot.
    pub(crate) fn id_at(&self, index: u32) -> Option<BodyId> {
        let is_held = self.user_data.get(index as usize)?.is_some();
        is_held.then(|| BodyId::new(index, self.generations[index as usize]))
    }

    /// The generations of all slots, as they are now.
    pub(crate) fn generations(&self) -> &Arc<Vec<u32>> {
        &self.generations
    }

    /// The user data of each slot.
    pub(crate) fn user_data(&self) -> &[Option<T>] {
        &self.user_data
    }

    /// The same, with their generations.
    pub(crate) fn user_data_mut(&mut self) -> (&[u32], &mut [Option<T>]) {
        (&self.generations, &mut self.user_data)
    }

    /// The slot of a body; `None` for a stale id.
    fn get_mut(&mut self, id: BodyId) -> Option<&mut Option<T>> {
        if !self.holds(id) {
            return None;
        }
        self.user_data.get_mut(id.index() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_used_again_with_another_generation() {
        let mut slots = Slots::default();
        let ids = [10, 11, 12].map(|data| slots.insert(data).unwrap());
        assert_eq!(slots.remove(ids[1]), Some(11));
        assert_eq!((slots.remove(ids[1]), slots.holds(ids[1]), slots.count()), (None, false, 2));
        let again = slots.insert(13).unwrap();
        assert_eq!((again.index(), again.generation()), (1, 1));
        assert!(slots.holds(again) && !slots.holds(ids[1]) && !slots.holds(BodyId::new(1, 2)));
        assert_eq!((slots.id_at(1), slots.id_at(3)), (Some(again), None));
    }

    #[test]
    fn a_slot_whose_generations_are_used_up_is_given_up() {
        let mut slots = Slots::default();
        let first = slots.insert('a').unwrap();
        assert_eq!(slots.remove(first), Some('a'));
        Arc::make_mut(&mut slots.generations)[0] = u32::MAX;
        let last = slots.insert('b').unwrap();
        assert_eq!((last.index(), last.generation()), (0, u32::MAX));
        assert_eq!(slots.remove(last), Some('b'));
        assert!(!slots.holds(last) && !slots.holds(first));
        let other = slots.insert('c').unwrap();
        assert_eq!((other.index(), other.generation(), slots.count()), (1, 0, 1));
        assert!(!slots.holds(last));
    }

    #[test]
    fn generations_of_a_query_in_flight_stay() {
        let mut slots = Slots::default();
        let id = slots.insert(()).unwrap();
        let before = Arc::clone(slots.generations());
        slots.remove(id);
        assert_eq!((before[0], slots.generations()[0]), (0, 1));
    }
}
