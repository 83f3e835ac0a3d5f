//! What nobody waits for any more ends at its next step: work on the CPU that would take hours.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, Hull, Motion, Options, Pairs, Precision, SweepOptions,
};
use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
use hullfield::{Engine, Pending};
use hullfield_oracle::extent;

/// The answer of a job that is asked for while another one has all threads; fails where it never comes.
fn answer<T>(mut pending: Pending<T>) -> T {
    let begin = Instant::now();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = Pin::new(&mut pending).poll(&mut context) {
            return answer.unwrap();
        }
        assert!(begin.elapsed() < Duration::from_secs(100), "what nobody waits for goes on");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn queries_of_the_cpu_engine_that_nobody_waits_for_end() {
    let engine = Engine::cpu();
    let arena = Arena::new(&engine, &[Hull::cuboid([1.0; 3]).unwrap()], Options::default()).unwrap();
    let exact =
        arena.with_options(Options { precision: Precision::Exact, ..arena.options().clone() }).unwrap();
    // 8e10 pairs.
    let bodies: Vec<Body> = (0..400_000).map(|at| Body::new(0).at([3.0 * at as f32, 0.0, 0.0])).collect();
    let motions = vec![Motion::default(); bodies.len()];
    let every = Pairs::Exhaustive;
    let given: Vec<[u32; 2]> = (0..20_000_000).map(|at| [at % 399_999, 399_999]).collect();
    let jobs: [&dyn Fn(); 5] = [
        &|| drop(pause(arena.intersections(&bodies, every).unwrap())),
        &|| drop(pause(arena.contacts(&bodies, every, &ContactOptions { margin: 0.0 }).unwrap())),
        &|| {
            drop(pause(
                exact.distances(&bodies, Pairs::Given(&given), &DistanceOptions { margin: 0.0 }).unwrap(),
            ))
        },
        &|| {
            drop(pause(
                arena
                    .sweeps(&bodies, &motions, every, &SweepOptions { duration: 1.0, ..Default::default() })
                    .unwrap(),
            ))
        },
        &|| {
            let flow = Flow::new(&engine, Grid::new([700, 700, 1], &[], Connectivity::Four.into()).unwrap())
                .unwrap();
            let goal = [Cell::default()];
            let goals = vec![&goal[..]; 100_000];
            drop(pause(flow.fields(&goals, &FieldOptions::default()).unwrap()));
        },
    ];
    // Each goes on for seconds to its next step.
    for job in extent(vec![jobs[0], jobs[4]], jobs.to_vec()) {
        job();
        assert_eq!(answer(arena.intersections(&bodies[..2], Pairs::BroadPhase).unwrap()).rows.len(), 0);
    }
}

/// Lets it begin.
fn pause<T>(pending: Pending<T>) -> Pending<T> {
    std::thread::sleep(Duration::from_millis(100));
    pending
}
