//! The narrow phase of the CPU engine over lists of pairs, on all cores.

use crate::collide::narrow_phase::exact;
use crate::collide::narrow_phase::measure::{Row, measure};
use crate::collide::narrow_phase::measured::Outcome;
use crate::collide::narrow_phase::rows::{Intersection, Precision};
use crate::collide::narrow_phase::settle::{MeasureRequest, Measures, Rows, TASK};
use crate::collide::narrow_phase::status::Status;
use crate::collide::narrow_phase::verdict::{Unsettled, find_verdicts};
use crate::collide::scene::pairs::OwnedPairs;
use crate::collide::scene::placed::Placed;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::parallel::{each, map_chunks, thread_count};
use crate::pending::Awaited;

/// Pairs that are measured together before their rows are written.
const MEASURED: usize = 1024;

/// How many of some pairs have rows, including those that f32 leaves open.
pub(crate) fn hit_count(scene: &Scene, input: &QueryInput, pairs: &[[u32; 2]]) -> usize {
    let mut part = Rows::default();
    part.examine(scene, &input.placed, pairs);
    part.rows.len()
}

/// The same for a measuring query.
pub(crate) fn listed_count<R: Row>(
    scene: &Scene,
    input: &QueryInput,
    pairs: &[[u32; 2]],
    request: MeasureRequest,
) -> usize {
    let mut part = Measures::<R>::new(0);
    part.examine(scene, input, pairs, request);
    part.rows.len()
}

/// One row for each pair, in order. After a cancellation the rest of the rows is meaningless.
pub(crate) fn examine_all(scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]], awaited: &Awaited) -> Rows {
    let mut rows = vec![BLANK; pairs.len()];
    let task = |(index, (pairs, rows)): (usize, (&[[u32; 2]], &mut [Intersection]))| {
        let mut part = Unsettled::default();
        if awaited.is_awaited() {
            find_verdicts(&scene.supports, placed, pairs, true, rows, &mut part);
        }
        part.open.iter_mut().for_each(|at| *at += index * TASK);
        part
    };
    let parts = each(pairs.chunks(TASK).zip(rows.chunks_mut(TASK)).enumerate().collect(), task);
    let refined_count = parts.iter().map(|part| part.refined_count).sum();
    let open = parts.into_iter().flat_map(|part| part.open).collect();
    Rows { rows, open, refined_count }
}

/// Rows of the hits, in order. After a cancellation some are missing.
pub(crate) fn examine_for_hits(
    scene: &Scene,
    placed: &[Placed],
    pairs: &[[u32; 2]],
    awaited: &Awaited,
) -> Rows {
    let task = |pairs: &[[u32; 2]]| {
        let mut part = Rows::default();
        if awaited.is_awaited() {
            part.examine(scene, placed, pairs);
        }
        part
    };
    Rows::join(map_chunks(pairs, TASK, task))
}

/// Rows of pairs, in order: of all given pairs, otherwise of those within the margin. After a cancellation some are missing.
pub(crate) fn measure_listed<R: Row>(
    scene: &Scene,
    input: &QueryInput,
    pairs: &[[u32; 2]],
    request: MeasureRequest,
    awaited: &Awaited,
) -> Measures<R> {
    let task = |pairs: &[[u32; 2]]| {
        let mut part = Measures::new(pairs.len());
        if awaited.is_awaited() {
            part.examine(scene, input, pairs, request);
        }
        part
    };
    // One thread has no use for parts, which are copied once more.
    if matches!(input.pairs, OwnedPairs::Given(_)) && thread_count() == 1 {
        let mut all = Measures::new(pairs.len());
        for pairs in pairs.chunks(TASK).take_while(|_| awaited.is_awaited()) {
            all.examine(scene, input, pairs, request);
        }
        return all;
    }
    Measures::join(map_chunks(pairs, TASK, task))
}

impl<R: Row> Measures<R> {
    /// Appends the rows of the pairs that the query lists.
    pub(crate) fn examine(
        &mut self,
        scene: &Scene,
        input: &QueryInput,
        pairs: &[[u32; 2]],
        request: MeasureRequest,
    ) {
        let given = input.keeps_all();
        let beyond = if given { f64::INFINITY } else { request.margin };
        let mut outcomes = [Outcome::Open; MEASURED];
        for pairs in pairs.chunks(MEASURED) {
            let outcomes = &mut outcomes[..pairs.len()];
            match request.precision {
                Precision::Fast => {
                    self.refined_count +=
                        measure(&scene.supports, input, pairs, beyond, R::WITH_DEPTH, outcomes);
                    if input.is_far() {
                        rebase(scene, input, pairs, outcomes);
                    }
                }
                Precision::Exact => {
                    for (&pair, outcome) in pairs.iter().zip(&mut *outcomes) {
                        *outcome = Outcome::Measured(exact::measure(&scene.hulls, input.stored(), pair));
                    }
                    self.settled_count += pairs.len() as u64;
                }
            }
            for (&pair, outcome) in pairs.iter().zip(outcomes) {
                match outcome {
                    Outcome::Measured(measured) if given || measured.is_within(request.margin) => {
                        self.rows.push(R::of_stored(scene, input.stored(), pair, measured, request.margin));
                    }
                    Outcome::Measured(_) | Outcome::Beyond => (),
                    Outcome::Open => {
                        self.open.push(self.rows.len());
                        self.rows.push(R::open(pair[0], pair[1]));
                    }
                }
            }
        }
    }
}

/// Makes points relative to the base of their pair that are relative to the query's origin.
fn rebase(scene: &Scene, input: &QueryInput, pairs: &[[u32; 2]], outcomes: &mut [Outcome]) {
    for (&pair, outcome) in pairs.iter().zip(outcomes) {
        if let (Outcome::Measured(measured), Some(base)) = (outcome, input.stored().base(&scene.hulls, pair))
        {
            measured.on_a -= base - input.origin;
        }
    }
}

/// A row that is not written yet.
const BLANK: Intersection =
    Intersection { a: 0, b: 0, part_a: 0, part_b: 0, status: Status::Touching, axis: None };

impl Rows {
    /// Appends the rows of the pairs that are not separated.
    pub(crate) fn examine(&mut self, scene: &Scene, placed: &[Placed], pairs: &[[u32; 2]]) {
        let mut rows = [BLANK; TASK];
        for pairs in pairs.chunks(TASK) {
            let rows = &mut rows[..pairs.len()];
            let mut part = Unsettled::default();
            find_verdicts(&scene.supports, placed, pairs, false, rows, &mut part);
            self.refined_count += part.refined_count;
            let mut open = part.open.iter().peekable();
            for (at, row) in rows.iter().enumerate() {
                if open.next_if(|&&index| index == at).is_some() {
                    self.open.push(self.rows.len());
                } else if row.status == Status::Separated {
                    continue;
                }
                self.rows.push(*row);
            }
        }
    }
}
