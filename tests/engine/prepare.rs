//! Prepared pipelines: a query then builds none. Tests are skipped without an adapter.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, Capacity, ContactOptions, DeviceBodies, DeviceMotions, DevicePairs, DistanceOptions,
    GradientOptions, Hull, ManifoldOptions, Motion, Options, Pairs, Precision, Query as ArenaQuery, Ray,
    RayOptions, SweepOptions,
};
use hullfield::flow::{
    Cell, Connectivity, Corners, Edit, FieldOptions, Flow, Grid, Query as FlowQuery, SteerOptions,
};
use hullfield_oracle::seed;

use crate::common::own_gpu;

const QUERIES: [ArenaQuery; 8] = [
    ArenaQuery::Candidates,
    ArenaQuery::Intersections,
    ArenaQuery::Distances,
    ArenaQuery::Contacts,
    ArenaQuery::Manifolds,
    ArenaQuery::Gradients,
    ArenaQuery::Sweeps,
    ArenaQuery::Raycasts,
];

/// Balls and boxes in a line; each overlaps the next. With `in_groups` one has a group of its own.
fn bodies(count: usize, in_groups: bool) -> Vec<Body> {
    let body = |at: usize| Body::new(at as u32 % 2).at([1.3 * at as f32, 0.0, 0.0]);
    let mut bodies: Vec<Body> = (0..count).map(body).collect();
    if in_groups {
        bodies[0].group = 2;
    }
    bodies
}

fn arena(engine: &Engine) -> Arena {
    Arena::new(engine, &[Hull::ball(1.0).unwrap(), Hull::cuboid([0.9; 3]).unwrap()], Options::default())
        .unwrap()
}

fn run_query(arena: &Arena, query: ArenaQuery, bodies: &[Body], pairs: Pairs<'_>) {
    match query {
        ArenaQuery::Candidates => drop(arena.candidates(bodies).unwrap().wait().unwrap()),
        ArenaQuery::Intersections => drop(arena.intersections(bodies, pairs).unwrap().wait().unwrap()),
        ArenaQuery::Distances => {
            drop(arena.distances(bodies, pairs, &DistanceOptions { margin: 0.5 }).unwrap().wait().unwrap())
        }
        ArenaQuery::Contacts => {
            drop(arena.contacts(bodies, pairs, &ContactOptions { margin: 0.5 }).unwrap().wait().unwrap())
        }
        ArenaQuery::Manifolds => {
            drop(arena.manifolds(bodies, pairs, &ManifoldOptions { margin: 0.5 }).unwrap().wait().unwrap())
        }
        ArenaQuery::Gradients => {
            drop(arena.gradients(bodies, pairs, &GradientOptions { margin: 0.5 }).unwrap().wait().unwrap())
        }
        ArenaQuery::Raycasts => {
            let rays = [Ray::new([-9.0, 0.1, 0.2], [1.0, 0.0, 0.0])];
            drop(arena.raycasts(bodies, &rays, &RayOptions::default()).unwrap().wait().unwrap());
            drop(arena.occlusions(bodies, &rays, &RayOptions::default()).unwrap().wait().unwrap());
        }
        _ => {
            let motion = Motion { velocity: [0.3, 0.0, 0.0], angular_velocity: [0.0, 0.1, 0.0] };
            let motions = vec![motion; bodies.len()];
            drop(
                arena
                    .sweeps(bodies, &motions, pairs, &SweepOptions { duration: 0.5, ..Default::default() })
                    .unwrap()
                    .wait()
                    .unwrap(),
            );
        }
    }
}

#[test]
fn prepared_queries_build_no_pipeline() {
    let given: Vec<[u32; 2]> = (0..30).map(|at| [at, at + 1]).collect();
    // Each query has one kind of pairs, another in each run: a software driver takes half a second for the pipelines of each.
    let kinds = [Pairs::BroadPhase, Pairs::Exhaustive, Pairs::Given(&given)];
    let turn = seed(11) as usize % kinds.len();
    for (at, query) in QUERIES.into_iter().enumerate() {
        let pairs = kinds[(at + turn) % kinds.len()];
        let Some(engine) = own_gpu() else { return };
        let arena = arena(&engine);
        let prepared = arena.prepare(&[(query, pairs)]).unwrap().wait().unwrap();
        let built = engine.counters().pipelines_built;
        assert_eq!(prepared.pipeline_count as u64, built, "{query:?} {pairs:?}");
        assert!(built > 0 && prepared.compile_ms > 0.0);
        // Few bodies are tested in tiles, many with a tree.
        let has_broad_phase =
            pairs == Pairs::BroadPhase || matches!(query, ArenaQuery::Candidates | ArenaQuery::Raycasts);
        for count in if has_broad_phase { vec![40, 2_100] } else { vec![40] } {
            for in_groups in [false, true] {
                let bodies = bodies(count, in_groups);
                run_query(&arena, query, &bodies, pairs);
                let with_statics = arena
                    .with_options(Options { statics: bodies[..7].to_vec(), ..arena.options().clone() })
                    .unwrap();
                let before = engine.counters().pipelines_built;
                run_query(&with_statics, query, &bodies, pairs);
                assert_eq!(engine.counters().pipelines_built, before, "{query:?} {pairs:?} {count} statics");
            }
        }
        if has_broad_phase {
            assert_eq!(engine.counters().pipelines_built, built, "{query:?} {pairs:?}");
        }
    }
}

#[test]
fn prepared_encoded_queries_build_no_pipeline() {
    let Some(engine) = own_gpu() else { return };
    let given: Vec<[u32; 2]> = (0..30).map(|at| [at, at + 1]).collect();
    let bodies = bodies(40, true);
    let motions = vec![Motion { velocity: [1.0, 0.0, 0.0], ..Motion::default() }; bodies.len()];
    let capacity = Capacity { pairs: 1000, rows: 1000 };
    for (pairs, device_pairs) in [
        (Pairs::BroadPhase, DevicePairs::BroadPhase),
        (Pairs::Exhaustive, DevicePairs::Exhaustive),
        (Pairs::Given(&[]), DevicePairs::Given(&given)),
    ] {
        let arena = arena(&engine);
        let queries = [
            ArenaQuery::EncodedIntersections,
            ArenaQuery::EncodedDistances,
            ArenaQuery::EncodedContacts,
            ArenaQuery::EncodedManifolds,
            ArenaQuery::EncodedSweeps,
        ];
        arena.prepare(&queries.map(|query| (query, pairs))).unwrap().wait().unwrap();
        let built = engine.counters().pipelines_built;
        let (device, queue) = engine.device().unwrap();
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let host = DeviceBodies::Host(&bodies);
        let found = [
            arena.encode_intersections(&mut encoder, host, device_pairs, capacity).unwrap(),
            arena
                .encode_distances(
                    &mut encoder,
                    host,
                    device_pairs,
                    &DistanceOptions { margin: 0.5 },
                    capacity,
                )
                .unwrap(),
            arena
                .encode_contacts(&mut encoder, host, device_pairs, &ContactOptions { margin: 0.5 }, capacity)
                .unwrap(),
            arena
                .encode_manifolds(
                    &mut encoder,
                    host,
                    device_pairs,
                    &ManifoldOptions { margin: 0.5 },
                    capacity,
                )
                .unwrap(),
            arena
                .encode_sweeps(
                    &mut encoder,
                    host,
                    DeviceMotions::Host(&motions),
                    device_pairs,
                    &SweepOptions::default(),
                    capacity,
                )
                .unwrap(),
        ];
        queue.submit([encoder.finish()]);
        drop(found);
        assert_eq!(engine.counters().pipelines_built, built, "{pairs:?}");
    }
}

#[test]
fn prepared_fields_build_no_pipeline() {
    let Some(engine) = own_gpu() else { return };
    let blocked: Vec<bool> = (0..300 * 40).map(|at| at % 7 == 3 && at % 5 > 0).collect();
    let small = &blocked[..100 * 40];
    let volume = &blocked[..20 * 20 * 20];
    let grids = [
        Grid::new([100, 40, 1], small, Connectivity::Four.into()).unwrap(),
        Grid::new([300, 40, 1], &blocked, Connectivity::Four.into()).unwrap(),
        Grid::new([300, 40, 1], &blocked, Connectivity::Eight(Corners::BothFree).into()).unwrap(),
        Grid::new([20, 20, 20], volume, Connectivity::Six.into()).unwrap(),
    ];
    for (at, grid) in grids.into_iter().enumerate() {
        for binding_limit in if at == 3 { vec![None, Some(1 << 14)] } else { vec![None] } {
            let Some(engine) = own_gpu() else { return };
            let engine = match binding_limit {
                Some(bytes) => engine.with_binding_limit(bytes),
                None => engine,
            };
            let flow = Flow::new(&engine, grid.clone()).unwrap();
            let built = |engine: &Engine| engine.counters().pipelines_built;
            let (goal, far) = (Cell::default(), Cell::from([15, 15]));

            flow.prepare(&[FlowQuery::Solve]).unwrap().wait().unwrap();
            let before = built(&engine);
            let field = flow.solve(&[goal], &FieldOptions::default()).unwrap().wait().unwrap();
            let fields = flow.fields(&[&[goal], &[goal]], &FieldOptions::default()).unwrap().wait().unwrap();
            assert_eq!(
                (built(&engine), field.stats().compile_ms, fields.rows[0].stats().compile_ms),
                (before, 0.0, 0.0),
                "grid {at}"
            );

            let mut edited = flow.clone();
            edited.edit(&[Edit::Block(far)]).unwrap();
            edited.prepare(&[FlowQuery::Update]).unwrap().wait().unwrap();
            let before = built(&engine);
            let mut updated = field.clone();
            edited.update(&mut updated).unwrap().wait().unwrap();
            assert_eq!((built(&engine), updated.stats().compile_ms), (before, 0.0), "grid {at}");

            flow.prepare(&[FlowQuery::SolveUntil]).unwrap().wait().unwrap();
            let before = built(&engine);
            drop(flow.path_to_nearest(goal, far).unwrap().wait().unwrap());
            assert_eq!(built(&engine), before, "grid {at}");

            let queries =
                [FlowQuery::Step, FlowQuery::Paths, FlowQuery::DistancesAt, FlowQuery::EncodedDirections];
            flow.prepare(&queries).unwrap().wait().unwrap();
            let before = built(&engine);
            drop(field.next_cells(&[far]).unwrap().wait().unwrap());
            drop(field.paths(&[far]).unwrap().wait().unwrap());
            drop(field.distances_at(&[far]).unwrap().wait().unwrap());
            let mut agents = flow.agents(&[far]).unwrap();
            agents.step(&field, 3).unwrap();
            drop(agents.cells().unwrap().wait().unwrap());
            let (device, _) = engine.device().unwrap();
            let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let positions = device.create_buffer(&wgpu::BufferDescriptor {
                label: None,
                size: 16,
                usage: wgpu::BufferUsages::STORAGE,
                mapped_at_creation: false,
            });
            if binding_limit.is_none() {
                let options = SteerOptions::default();
                drop(field.encode_directions(&mut encoder, &positions, 1, &options).unwrap());
            }
            assert_eq!(built(&engine), before, "grid {at}");
        }
    }
    drop(engine);
}

/// The compile time is separate from upload and total, and 0 if no pipeline was built.
#[test]
fn a_query_gives_the_compile_time_of_its_pipelines() {
    let Some(engine) = own_gpu() else { return };
    let (arena, bodies) = (arena(&engine), bodies(40, false));
    let first = arena
        .contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.0 })
        .unwrap()
        .wait()
        .unwrap()
        .stats;
    let second = arena
        .contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.0 })
        .unwrap()
        .wait()
        .unwrap()
        .stats;
    assert!(first.times.compile_ms > 0.0, "{first:?}");
    assert_eq!(second.times.compile_ms, 0.0, "{second:?}");
    let times = first.times;
    assert!(times.compile_ms + times.upload_ms <= times.total_ms, "{times:?}");
    let grid = Grid::new([300, 300, 1], &[], Connectivity::Four.into()).unwrap();
    let flow = Flow::new(&engine, grid).unwrap();
    let solve = || flow.solve(&[Cell::default()], &FieldOptions::default()).unwrap().wait().unwrap();
    assert!(solve().stats().compile_ms > 0.0);
    assert_eq!(solve().stats().compile_ms, 0.0);
}

/// A query waits for a pipeline that is being built. None is built twice, and the answers are right.
#[test]
fn queries_during_preparation_build_no_pipeline_twice() {
    let Some(engine) = own_gpu() else { return };
    let (arena, bodies) = (arena(&engine), bodies(40, false));
    let every = QUERIES.map(|query| (query, Pairs::BroadPhase));
    let preparing = arena.prepare(&every).unwrap();
    let again = arena.prepare(&every).unwrap();
    let found = std::thread::scope(|scope| {
        let query = || {
            arena
                .contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.0 })
                .unwrap()
                .wait()
                .unwrap()
                .rows
                .len()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(query)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
    });
    let expected = Arena::new(&Engine::cpu(), arena.hulls(), Options::default()).unwrap();
    let expected = expected
        .contacts(&bodies, Pairs::BroadPhase, &ContactOptions { margin: 0.0 })
        .unwrap()
        .wait()
        .unwrap()
        .rows
        .len();
    assert_eq!(found, [expected; 4]);
    let (first, second) = (preparing.wait().unwrap(), again.wait().unwrap());
    assert_eq!(first.pipeline_count, second.pipeline_count);
    assert_eq!(engine.counters().pipelines_built, first.pipeline_count as u64);
}

#[test]
fn an_engine_can_be_dropped_during_preparation() {
    for is_awaited in [false, true] {
        let Some(engine) = own_gpu() else { return };
        let arena = arena(&engine);
        let preparing = arena.prepare(&QUERIES.map(|query| (query, Pairs::Exhaustive))).unwrap();
        let preparing = Some(preparing).filter(|_| is_awaited);
        drop((arena, engine));
        if let Some(preparing) = preparing {
            assert!(preparing.wait().unwrap().pipeline_count > 4);
        }
    }
}

/// The CPU engine has no pipelines, nor has a query that a GPU engine runs on the CPU.
#[test]
fn queries_on_the_cpu_need_no_pipelines() {
    let queries = QUERIES.map(|query| (query, Pairs::BroadPhase));
    let cpu = Engine::cpu();
    assert_eq!(arena(&cpu).prepare(&queries).unwrap().wait().unwrap().pipeline_count, 0);
    let flow = Flow::new(&cpu, Grid::new([3, 1, 1], &[], Connectivity::Four.into()).unwrap()).unwrap();
    assert_eq!(flow.prepare(&[FlowQuery::Solve]).unwrap().wait().unwrap().pipeline_count, 0);
    let Some(engine) = own_gpu() else { return };
    let exact =
        arena(&engine).with_options(Options { precision: Precision::Exact, ..Options::default() }).unwrap();
    let prepared = exact.prepare(&queries[1..]).unwrap().wait().unwrap();
    assert_eq!((prepared.pipeline_count, engine.counters().pipelines_built), (0, 0));
    assert_eq!(arena(&engine).prepare(&[]).unwrap().wait().unwrap().pipeline_count, 0);
}
