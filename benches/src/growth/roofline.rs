//! The roofline: what each engine copies and computes at best, measured here, and how near to it the sweeps come.
//!
//! Williams, Waterman, Patterson: "Roofline: an insightful visual performance model" (2009). The bytes and operations of a query are the least
//! that any program must move and do for its answer. A share is therefore a lower bound of how well the hardware is used: at 20 %, no program
//! that does the same work is more than five times as fast.
#![allow(unsafe_code)]

use std::hint::black_box;

use rayon::prelude::*;

use crate::gpu;
use crate::growth::context::{Context, Roof, cpu_name};
use crate::growth::sweep::Point;
use crate::plot::Bars;
use crate::report::{Cell, Table};
use crate::timing::time;

/// Bytes of each of the two arrays that are copied: more than any cache.
const COPIED: usize = 256 << 20;

/// Multiply-adds of a thread.
const MULTIPLY_ADDS: usize = 96 << 21;

/// Vectors that are worked on side by side: enough for two units with a latency of four, and few enough for sixteen registers.
const VECTORS: usize = 12;

/// The least that an item of a sweep must move and do.
struct Least {
    topic: &'static str,
    bytes: f64,
    operations: f64,
    why: &'static str,
}

const LEAST: [Least; 8] = [
    Least {
        topic: "bodies",
        bytes: 64.0 + 24.0 + 10.0 * 8.0,
        operations: 10.0 * 2.0 * 6.0,
        why: "a packed body of 64 bytes read, its box of 24 written, ten candidates of 8 bytes; six comparisons a box test",
    },
    Least {
        topic: "pairs",
        bytes: 2.0 * 64.0 + 8.0 + 32.0,
        operations: 2.0 * 32.0 * 5.0,
        why: "two bodies of 64 bytes, the pair, a row of 32; one support of each hull, 32 products of three",
    },
    Least {
        topic: "contacts",
        bytes: 2.0 * 64.0 + 8.0 + 96.0,
        operations: 2.0 * 32.0 * 5.0,
        why: "two bodies of 64 bytes, the pair, a row of 96; one support of each hull, 32 products of three",
    },
    Least {
        topic: "rays",
        bytes: 32.0 + 96.0,
        operations: 14.0 * 2.0 * 12.0,
        why: "a ray of 32 bytes, a row of 96; two boxes at each of the 14 levels of a tree of 10,000 bodies, 12 operations each",
    },
    Least {
        topic: "cells",
        bytes: 0.125 + 4.0 + 1.0,
        operations: 4.0,
        why: "a bit that says whether it is free, a distance of 4 bytes, a code of 1; four neighbours compared",
    },
    Least {
        topic: "volumes",
        bytes: 4.0 + 4.0 + 1.0,
        operations: 26.0 * 2.0,
        why: "a cost of 4 bytes, a distance of 4, a code of 1; 26 neighbours added and compared",
    },
    Least {
        topic: "batches",
        bytes: 128.0 * 128.0 * 5.125,
        operations: 128.0 * 128.0 * 4.0,
        why: "128² cells of 5.1 bytes; four neighbours of each compared",
    },
    Least {
        topic: "costs",
        bytes: 4.0 + 4.0,
        operations: 8.0 * 3.0,
        why: "a friction and a distance of 4 bytes; eight neighbours: a mean, a product and a comparison each",
    },
];

/// The topics that have a model, with the bytes and operations of an item.
#[cfg(test)]
pub(crate) fn models() -> impl Iterator<Item = (&'static str, f64, f64)> {
    LEAST.iter().map(|least| (least.topic, least.bytes, least.operations))
}

/// Measures what each engine does at best.
pub(crate) fn run(context: &mut Context<'_>) -> Result<(), String> {
    let mut roofs = Vec::new();
    for (count, pool) in context.pools() {
        let contender = cpu_name(*count);
        let repetitions = if context.is_quick() { 1 } else { 5 };
        let (bandwidth, arithmetic) =
            pool.install(|| (copy(*count, repetitions), multiply_add(*count, repetitions)));
        roofs.push(Roof { contender, bandwidth, arithmetic });
    }
    let mut failed = Vec::new();
    for named in context.named_engines().iter().skip(1) {
        match gpu::best(&named.engine, named.name == "software gpu") {
            Ok([bandwidth, arithmetic]) => {
                roofs.push(Roof { contender: named.name.into(), bandwidth, arithmetic });
            }
            Err(trouble) => failed.push(format!("roofline, {}: {trouble}", named.name)),
        }
    }
    let mut table = Table::new(
        "roofs",
        "What each engine does at best, measured in this run",
        &["who", "copy GB/s", "multiply-add GFLOP/s", "ridge point, FLOP/byte"],
    );
    for roof in &roofs {
        table.row([
            roof.contender.as_str().into(),
            Cell::Number(1e-9 * roof.bandwidth, 1),
            Cell::Number(1e-9 * roof.arithmetic, 1),
            Cell::Number(roof.arithmetic / roof.bandwidth, 1),
        ]);
    }
    table.note("copy: two arrays of 256 MiB, bytes read and written, each thread its part; a GPU copies on the device.");
    table.note("multiply-add: in f32, with the widest vectors of the processor; a GPU has 32 on vectors of four in each step.");
    let command = context.command("roofline");
    context.report().section("Roofline");
    context.report().table(table.with_command(command));
    failed.into_iter().for_each(|failure| context.report().fail(failure));
    context.set_roofs(roofs);
    Ok(())
}

/// Adds each sweep's share of its roof, at the size where that is largest.
pub(crate) fn shares(context: &mut Context<'_>) {
    let mut table = Table::new(
        "shares",
        "How near to the hardware's limit each sweep comes: the least work over what the engine does at best",
        &["of", "who", "at", "bytes each", "operations each", "GB/s", "GFLOP/s", "limit", "share"],
    );
    let mut bars = Vec::new();
    for least in &LEAST {
        for scaling in context.scalings().iter().filter(|scaling| scaling.topic == least.topic) {
            let Some(roof) = context.roofs().iter().find(|roof| roof.contender == scaling.series.name) else {
                continue;
            };
            let rate = |point: &Point| point.size as f64 / (1e-3 * point.samples.median());
            let Some(best) =
                scaling.series.points.iter().max_by(|one, other| rate(one).total_cmp(&rate(other)))
            else {
                continue;
            };
            let rate = rate(best);
            let (limit, share) = roof.share(rate * least.bytes, rate * least.operations);
            table.row([
                scaling.topic.into(),
                scaling.series.name.as_str().into(),
                best.size.into(),
                Cell::Number(least.bytes, 1),
                Cell::Number(least.operations, 0),
                Cell::Significant(1e-9 * rate * least.bytes),
                Cell::Significant(1e-9 * rate * least.operations),
                limit.into(),
                Cell::Share(share, 1),
            ]);
            bars.push((format!("{}, {}", scaling.topic, scaling.series.name), share, 1.0));
        }
    }
    if bars.is_empty() {
        return;
    }
    for least in &LEAST {
        table.note(format!("{}: {}.", least.topic, least.why));
    }
    table.note("The work is the least that any program must do, so that a share is a lower bound of how well the hardware is used.");
    let command = context.command("growth");
    let figure = Bars { title: "Share of the roof".into(), unit: "of the roof".into(), bars };
    context.report().section("Shares of the roofline");
    context.report().figure(
        figure
            .figure("The least work of each sweep over what the engine does at best.")
            .with_command(command.clone()),
    );
    context.report().table(table.with_command(command));
}

/// Bytes a second that threads copy, each its part of two large arrays.
fn copy(thread_count: usize, repetitions: usize) -> f64 {
    let from: Vec<u64> =
        (0..COPIED as u64 / 8).map(|word| word.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    let mut to = vec![1_u64; from.len()];
    let part = from.len().div_ceil(thread_count);
    let mut best = f64::INFINITY;
    for _ in 0..=repetitions {
        let (ms, ()) = time(|| {
            to.par_chunks_mut(part)
                .zip(from.par_chunks(part))
                .for_each(|(to, from)| to.copy_from_slice(from));
        });
        best = best.min(ms);
    }
    black_box(&to);
    2e3 * COPIED as f64 / best
}

/// Operations a second that threads do.
fn multiply_add(thread_count: usize, repetitions: usize) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..=repetitions {
        let (ms, sum) = time(|| (0..thread_count).into_par_iter().with_max_len(1).map(work).sum::<f32>());
        black_box(sum);
        best = best.min(ms);
    }
    2e3 * (thread_count * MULTIPLY_ADDS) as f64 / best
}

fn work(thread: usize) -> f32 {
    let start = black_box(thread as f32);
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the instructions.
            return unsafe { work_avx512(start) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions.
            return unsafe { work_avx2(start) };
        }
    }
    work_plain(start)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn work_avx512(start: f32) -> f32 {
    fused::<{ 16 * VECTORS }>(start)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn work_avx2(start: f32) -> f32 {
    fused::<{ 8 * VECTORS }>(start)
}

/// For functions whose instructions have a multiply-add.
#[inline(always)]
fn fused<const LANES: usize>(start: f32) -> f32 {
    let mut sums: [f32; LANES] = std::array::from_fn(|lane| start + lane as f32);
    let (factor, addend) = (black_box(0.999_f32), black_box(0.001_f32));
    for _ in 0..MULTIPLY_ADDS / LANES {
        for sum in &mut sums {
            *sum = sum.mul_add(factor, addend);
        }
    }
    sums.iter().sum()
}

fn work_plain(start: f32) -> f32 {
    const LANES: usize = 4 * VECTORS;
    let mut sums: [f32; LANES] = std::array::from_fn(|lane| start + lane as f32);
    let (factor, addend) = (black_box(0.999_f32), black_box(0.001_f32));
    for _ in 0..MULTIPLY_ADDS / LANES {
        for sum in &mut sums {
            *sum = *sum * factor + addend;
        }
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_versions_do_the_same_work() {
        // Each number nears 1, where x = 0.999 x + 0.001.
        let mean = |sum: f32, lanes: usize| sum / lanes as f32;
        assert!((mean(work_plain(3.0), 4 * VECTORS) - 1.0).abs() < 1e-3);
        assert!(
            [4, 8, 16].iter().any(|lanes| (mean(work(3), lanes * VECTORS) - 1.0).abs() < 1e-3),
            "{}",
            work(3)
        );
    }
}
