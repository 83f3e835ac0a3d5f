//! Cost distances over float friction, against Dijkstra in f64 with a binary heap, which is what scikit-image's `MCP_Geometric` and xarray-spatial's
//! `cost_distance` do. Every distance is compared, within the bound that the report states.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use hullfield::flow::{Cell as At, CostDistance, CostDistanceOptions, cost_distance};
use hullfield_oracle::random::Random;

use crate::error::message;
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, time};

/// A kind of friction: its name, and the friction of a cell.
type Kind = (&'static str, fn(usize, usize, &mut Random) -> f32);

fn terrain(x: usize, y: usize) -> f64 {
    let wave = |at: usize, length: f64| (at as f64 / length).sin();
    5.5 + 1.5 * (wave(x, 37.0) * wave(y, 53.0) + wave(x + 2 * y, 211.0) + wave(3 * x + y, 907.0))
}

const KINDS: [Kind; 4] = [
    ("1 to 10, even", |_, _, random| random.between(1.0, 10.0) as f32),
    ("terrain", |x, y, _| terrain(x, y) as f32),
    (
        "terrain, 20 % barriers",
        |x, y, random| if random.chance(0.2) { f32::NAN } else { terrain(x, y) as f32 },
    ),
    ("three decades, log-even", |_, _, random| random.log_between(1.0, 1000.0) as f32),
];

/// Adds the table of cost distances.
///
/// # Errors
/// A field that cannot be solved.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let mut table = Table::new(
        "flow_costs",
        "Cost distances over float friction, mean rule, eight neighbours; the CPU engine",
        &[
            "friction",
            "threads",
            "heap f64 ms",
            "hullfield ms",
            "ratio",
            "ns a cell",
            "with allocation ms",
            "bound",
        ],
    );
    let (side, repetitions) = if options.quick { (256, 1) } else { (4096, options.repetitions.unwrap_or(3)) };
    for (name, kind) in KINDS {
        let random = &mut Random::new(41);
        let friction: Vec<f32> = (0..side * side).map(|at| kind(at % side, at / side, random)).collect();
        let Some(target) = (side * side / 3..side * side).find(|&at| friction[at] > 0.0) else { continue };
        let (heap_ms, wanted) = time(|| dijkstra(side, &friction, target));
        for thread_count in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().map_err(message)?;
            let solve = |allocation: bool| {
                let options = CostDistanceOptions { allocation, ..Default::default() };
                let targets = [At::from([(target % side) as i32, (target / side) as i32])];
                let go_on = |_| ControlFlow::Continue(());
                time(|| {
                    pool.install(|| cost_distance([side as u32; 2], &friction, &targets, &options, go_on))
                })
            };
            let mut samples = [Samples::new(), Samples::new()];
            let mut bound = 0.0;
            // The first of each is not counted.
            for repetition in 0..=repetitions {
                for (samples, allocation) in samples.iter_mut().zip([false, true]) {
                    let (ms, solved) = solve(allocation);
                    let solved = solved.map_err(message)?;
                    bound = solved.report.error_bound;
                    if repetition > 0 {
                        samples.push(ms);
                    }
                    if let Some(at) = first_difference(&solved, &wanted) {
                        report.fail(format!(
                            "{name}: cell {at} has {}, not {}",
                            solved.distances[at], wanted[at]
                        ));
                    }
                }
            }
            let [plain, allocated] = samples;
            table.row([
                format!("{name}, {side}²").into(),
                thread_count.into(),
                Cell::Number(heap_ms, 0),
                Cell::Number(plain.median(), 0),
                Cell::Number(plain.median() / heap_ms, 3),
                Cell::Number(plain.median() * 1e6 / (side * side) as f64, 1),
                Cell::Number(allocated.median(), 0),
                format!("{bound:.1e}").into(),
            ]);
        }
    }
    table.note("the heap runs once, on one thread; distances are in f32, compared within the bound and the rounding of f32");
    report.table(table);
    Ok(())
}

fn first_difference(solved: &CostDistance, wanted: &[f64]) -> Option<usize> {
    let bound = solved.report.error_bound + 1.0 / f64::from(1 << 24) + 1e-12;
    (0..wanted.len()).find(|&at| {
        let (found, wanted) = (f64::from(solved.distances[at]), wanted[at]);
        found.is_finite() != wanted.is_finite() || (found - wanted).abs() > bound * wanted
    })
}

/// A cell of the heap, the nearest first.
struct Open(f64, usize);

impl PartialEq for Open {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Open {}
impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Open {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.total_cmp(&self.0)
    }
}

/// The distances to a target: steps times the mean friction of both cells, corners are cut.
pub(crate) fn dijkstra(side: usize, friction: &[f32], target: usize) -> Vec<f64> {
    let mut distances = vec![f64::INFINITY; friction.len()];
    distances[target] = 0.0;
    let mut heap = BinaryHeap::from([Open(0.0, target)]);
    while let Some(Open(distance, at)) = heap.pop() {
        if distance > distances[at] {
            continue;
        }
        let (x, y) = (at % side, at / side);
        for to_y in y.saturating_sub(1)..(y + 2).min(side) {
            for to_x in x.saturating_sub(1)..(x + 2).min(side) {
                let to = to_y * side + to_x;
                let length = if to_x != x && to_y != y { std::f64::consts::SQRT_2 } else { 1.0 };
                let lowered = distance + length * (f64::from(friction[at]) + f64::from(friction[to])) / 2.0;
                // A comparison with a number that is none is false.
                if lowered < distances[to] {
                    distances[to] = lowered;
                    heap.push(Open(lowered, to));
                }
            }
        }
    }
    distances
}

/// The distance of a cell by those of its neighbours: the least of theirs and the step.
pub(crate) fn least_of_neighbours(side: usize, friction: &[f32], distances: &[f32], at: usize) -> f64 {
    let (x, y) = (at % side, at / side);
    let mut least = f64::INFINITY;
    for to_y in y.saturating_sub(1)..(y + 2).min(side) {
        for to_x in x.saturating_sub(1)..(x + 2).min(side) {
            let to = to_y * side + to_x;
            if to != at {
                let length = if to_x != x && to_y != y { std::f64::consts::SQRT_2 } else { 1.0 };
                let step = length * (f64::from(friction[at]) + f64::from(friction[to])) / 2.0;
                least = least.min(f64::from(distances[to]) + step);
            }
        }
    }
    least
}
