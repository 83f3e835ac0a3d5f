//! A dropped query of the CPU engine ends at its next step, although the whole would take hours.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use hullfield::collide::{
    Arena, Body, ContactOptions, DistanceOptions, Hull, Motion, Options, Pairs, Precision, SweepOptions,
};
use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
use hullfield::{Engine, Pending};

/// The answer of a query behind another one that has all threads. Panics if it does not come in time.
fn answer<T: 'static>(mut pending: Pending<T>) -> T {
    let started = Instant::now();
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(answer) = Pin::new(&mut pending).poll(&mut context) {
            return answer.unwrap();
        }
        assert!(started.elapsed() < Duration::from_secs(100), "the dropped query still runs");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn dropped_queries_of_the_cpu_engine_end() {
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
        &|| drop(let_start(arena.intersections(&bodies, every).unwrap())),
        &|| drop(let_start(arena.contacts(&bodies, every, &ContactOptions { margin: 0.0 }).unwrap())),
        &|| {
            drop(let_start(
                exact.distances(&bodies, Pairs::Given(&given), &DistanceOptions { margin: 0.0 }).unwrap(),
            ))
        },
        &|| {
            drop(let_start(
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
            drop(let_start(flow.fields(&goals, &FieldOptions::default()).unwrap()));
        },
    ];
    // Each would run for minutes.
    for job in jobs {
        job();
        assert_eq!(answer(arena.intersections(&bodies[..2], Pairs::BroadPhase).unwrap()).rows.len(), 0);
    }
}

/// Waits until a query has started.
fn let_start<T>(pending: Pending<T>) -> Pending<T> {
    std::thread::sleep(Duration::from_millis(100));
    pending
}
