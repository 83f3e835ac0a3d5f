//! The verdicts of pairs, and the marks of bodies that follow from them.

use hullfield::collide::{Arena, Body, Intersection, Pairs};
use serde_json::{Value, json};

use crate::playground::host::ready;

/// Statuses of pairs, and marks of bodies: the names in the legend.
pub(super) const NAMES: [&str; 4] = ["separated", "touching", "penetrating", "not settled in f32"];
/// The mark of the chosen body, which is filled in its colour of the palette.
pub(super) const CHOSEN: u32 = 6;

/// A pair that is not separated: both bodies, and the status as the device numbers it: 1 touching, 2 penetrating, 3 not settled.
pub(super) type Row = [u32; 3];

/// How many bodies and pairs there are of each kind, by the numbers of [`NAMES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) bodies: [u32; 4],
    /// Pairs that are separated are not counted.
    pub(super) pairs: [u32; 4],
    /// The pairs that the broad phase found.
    pub(super) candidates: u64,
}

impl Counts {
    pub(super) fn to_value(self) -> Value {
        json!({"bodies": self.bodies, "pairs": self.pairs, "candidates": self.candidates})
    }
}

/// The verdicts of a frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Verdicts {
    /// The mark of each body.
    pub(super) marks: Vec<u32>,
    pub(super) counts: Counts,
}

/// The mark of a body, of a bit for each status of its pairs. What is known to penetrate does so, whatever is not settled.
/// `mark_of` of shaders/verdicts.wgsl is the same.
fn mark_of(statuses: u32) -> u32 {
    [2, 3, 1].into_iter().find(|status| statuses >> status & 1 == 1).unwrap_or(0)
}

/// The rows of an answer.
pub(super) fn rows_of(found: &[Intersection]) -> Vec<Row> {
    found.iter().filter(|row| row.status.is_hit()).map(|row| [row.a, row.b, row.status as u32]).collect()
}

impl Verdicts {
    /// The verdicts of these rows.
    pub(super) fn of_rows(body_count: usize, rows: &[Row], candidates: u64) -> Self {
        let mut marks = vec![0_u32; body_count];
        let mut counts = Counts { candidates, ..Counts::default() };
        for &[a, b, status] in rows {
            counts.pairs[status as usize & 3] += 1;
            for body in [a, b] {
                marks[body as usize] |= 1 << status;
            }
        }
        for mark in &mut marks {
            *mark = mark_of(*mark);
            counts.bodies[*mark as usize] += 1;
        }
        Self { marks, counts }
    }

    /// The verdicts of the CPU engine.
    ///
    /// # Errors
    /// Those of the query.
    pub(super) fn of_cpu(arena: &Arena, bodies: &[Body]) -> hullfield::Result<Self> {
        let found = ready(arena.intersections(bodies, Pairs::BroadPhase)?)?;
        Ok(Self::of_rows(bodies.len(), &rows_of(&found.rows), found.stats.candidate_count))
    }
}

#[cfg(test)]
mod tests {
    use hullfield::Engine;
    use hullfield::collide::{Hull, Options};

    use super::*;

    #[test]
    fn a_body_has_the_mark_of_its_worst_pair() {
        let rows = [[0, 1, 1], [1, 2, 2], [3, 4, 3], [4, 5, 1], [2, 6, 3]];
        let verdicts = Verdicts::of_rows(8, &rows, 20);
        assert_eq!(verdicts.marks, [1, 2, 2, 3, 3, 1, 3, 0]);
        assert_eq!(verdicts.counts.bodies, [1, 2, 2, 3]);
        assert_eq!((verdicts.counts.pairs, verdicts.counts.candidates), ([0, 2, 1, 2], 20));
    }

    #[test]
    fn the_engine_tells_apart_all_three() {
        let arena =
            Arena::new(&Engine::cpu(), &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
        // Two that overlap, two whose faces touch, one alone.
        let bodies = [0.0, 0.75, 10.0, 11.0, 20.0].map(|x| Body::new(0).at([x, 0.0, 0.0]));
        let verdicts = Verdicts::of_cpu(&arena, &bodies).unwrap();
        assert_eq!(verdicts.marks, [2, 2, 1, 1, 0]);
        assert_eq!((verdicts.counts.bodies, verdicts.counts.pairs), ([1, 2, 2, 0], [0, 1, 1, 0]));
    }
}
