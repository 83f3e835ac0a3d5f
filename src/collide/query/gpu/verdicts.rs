//! Intersections on the device: reading back windows and making the answer.

use crate::collide::narrow_phase::cpu::hit_count;
use std::sync::Arc;

use crate::collide::broad_phase::estimate::CountedSoFar;
use crate::collide::narrow_phase::kernels::{Stages, VERDICTS};
use crate::collide::narrow_phase::rows::{Batch, Intersection, Stats};
use crate::collide::narrow_phase::settle;
use crate::collide::narrow_phase::settle::Rows;
use crate::collide::narrow_phase::status::Status;
use crate::collide::narrow_phase::verdict::Verdict;
use crate::collide::query::gpu::arena::GpuArena;
use crate::collide::query::gpu::narrow::{DeviceQuery, check_row_count_unmoved, start};
use crate::collide::scene::budget::RowBudget;
use crate::collide::scene::query_input::{QueryInput, Scene};
use crate::error::Result;
use crate::pending::Pending;

/// Answers a query: see [`Arena::intersections`](crate::collide::query::arena::Arena::intersections).
pub(crate) fn intersections(
    arena: &Arc<GpuArena>,
    scene: &Arc<Scene>,
    input: QueryInput,
) -> Result<Pending<Batch<Intersection>>> {
    start(arena, scene, input, Rows::default())
}

impl DeviceQuery for Rows {
    type Answer = Batch<Intersection>;
    const LABEL: &'static str = "hullfield.collide.intersections";
    const ROW_BYTES: usize = size_of::<Intersection>();

    fn stages(&self) -> &'static Stages {
        &VERDICTS
    }

    fn margin(&self) -> f32 {
        0.0
    }

    fn with_depth(&self) -> bool {
        false
    }

    fn take_rows(&mut self, words: &[u32]) {
        self.rows.reserve(words.len() / 3);
        for row in words.chunks_exact(3) {
            push(self, row[0], row[1], row[2], [0.0; 3]);
        }
    }

    fn take_given(&mut self, pairs: &[[u32; 2]], verdicts: &[u32], data: &[u32]) {
        for ((&[a, b], &code), axis) in pairs.iter().zip(verdicts).zip(data.chunks_exact(3)) {
            push(self, a, b, code, [axis[0], axis[1], axis[2]].map(f32::from_bits));
        }
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn check_row_count(
        &self,
        scene: &Scene,
        input: &QueryInput,
        counted_so_far: CountedSoFar,
        budget: &RowBudget,
    ) -> Result<bool> {
        check_row_count_unmoved(scene, input, counted_so_far, self.grow(), budget, &|sample, pairs| {
            hit_count(scene, &sample.input, pairs)
        })
    }

    fn finish(
        mut self,
        scene: &Scene,
        input: &QueryInput,
        refined: u64,
        stats: Stats,
        sorted: bool,
    ) -> Result<Batch<Intersection>> {
        self.refined_count = refined;
        let mut found = settle::finish(scene, input, self, stats);
        if !sorted {
            found.rows.sort_unstable_by_key(|row| (row.a, row.b));
        }
        Ok(found)
    }
}

fn push(rows: &mut Rows, a: u32, b: u32, code: u32, axis: [f32; 3]) {
    let verdict = Verdict { status: status_of(code), refined: false, axis };
    if verdict.status.is_none() {
        rows.open.push(rows.rows.len());
    }
    rows.rows.push(verdict.row(a, b));
}

/// The status of a verdict's code in `shaders/collide/narrow_phase/params.wgsl`; `None` where it is not settled.
pub(crate) fn status_of(code: u32) -> Option<Status> {
    match code {
        0 => Some(Status::Separated),
        1 => Some(Status::Touching),
        2 => Some(Status::Penetrating),
        _ => None,
    }
}
