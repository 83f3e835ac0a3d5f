//! The times of queries: `total_ms` is that from the call to the answer, whatever the query does in between.

use std::time::Instant;

use hullfield::collide::{
    Arena, Batch, Bodies, Body, BodyColumns, Compound, CompoundBody, Compounds, ContactOptions,
    DistanceOptions, GradientOptions, HeightField, Hull, JointPath, LinkPose, ManifoldOptions, Motion,
    NearestOptions, Options, Pairs, Part, PathOptions, PointOptions, Ray, RayOptions, ShapeCast,
    ShapeCastOptions, Stats, SweepOptions, Times,
};
use hullfield::{Backend, Engine, Pending, Result};

/// Tries of a query. One of them runs without another program in between.
const TRIES: usize = 20;
/// The share of the clock's time that a query tells of at least.
const SHARE: f64 = 0.5;

/// Asks again and again, and compares the query's times with the clock. Within a pool of rayon a call to the CPU engine returns with its
/// answer, so the clock measures nothing but the call.
fn check<R: Send + 'static>(what: &str, on_cpu: bool, ask: impl Fn() -> Result<Pending<Batch<R>>>) {
    check_stats(what, on_cpu, || ask().unwrap().wait().unwrap().stats);
}

fn check_stats(what: &str, on_cpu: bool, ask: impl Fn() -> Stats) {
    let mut best = 0.0;
    for _ in 0..TRIES {
        let begin = Instant::now();
        let times = ask().times;
        let clock = begin.elapsed().as_secs_f64() * 1e3;
        let Times { upload_ms, compile_ms, kernels_ms, readback_ms, settle_ms, total_ms, .. } = times;
        assert!(total_ms > 0.0 && total_ms <= clock, "{what}: {times:?}, by the clock {clock}");
        // The device has a clock of its own.
        let parts = [upload_ms, compile_ms, readback_ms, settle_ms, if on_cpu { kernels_ms } else { 0.0 }];
        assert!(parts.iter().all(|&part| part <= total_ms), "{what}: {times:?}");
        best = f64::max(best, total_ms / clock);
        // What the device answers is handed over by a thread that another program may hold up.
        if best > SHARE || !on_cpu {
            return;
        }
    }
    panic!("{what}: only {best} of the time by the clock");
}

/// Rows of bodies that touch their neighbours in a row.
fn places(count: usize) -> impl Iterator<Item = [f32; 3]> {
    (0..count).map(|at| [9.0 * (at % 20) as f32, 0.95 * (at / 20) as f32, 0.0])
}

fn check_arena(engine: &Engine) {
    let is_cpu = engine.backend() != Backend::Gpu;
    let arena = Arena::new(engine, &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
    let bodies: Vec<Body> =
        places(400).map(|place| Body::new(0).at(place).rotated([0.0, 0.0, 0.6, 0.8])).collect();
    let near = Pairs::BroadPhase;
    macro_rules! ask {
        ($($query:ident($($argument:expr),*);)*) => {
            $(check(stringify!($query), is_cpu, || arena.$query($($argument),*));)*
        };
    }
    let motions = vec![Motion { velocity: [0.5, 0.0, 0.0], ..Motion::default() }; bodies.len()];
    let rays: Vec<Ray> = places(300).map(|at| Ray::new(at.map(|x| x + 0.3), [1.0, 0.1, 0.0])).collect();
    let points: Vec<[f32; 3]> = places(300).map(|at| at.map(|x| x + 0.7)).collect();
    let casts: Vec<ShapeCast> =
        bodies[..100].iter().map(|&body| ShapeCast::new(body, [1.0, 2.0, 0.0])).collect();
    ask! {
        intersections(&bodies, near);
        distances(&bodies, near, &DistanceOptions { margin: 0.2 });
        contacts(&bodies, near, &ContactOptions::default());
        deepest_contacts(&bodies, 1, &ContactOptions::default());
        manifolds(&bodies, near, &ManifoldOptions::default());
        gradients(&bodies, near, &GradientOptions::default());
        sweeps(&bodies, &motions, near, &SweepOptions::default());
        raycasts(&bodies, &rays, &RayOptions::default());
        raycasts_all(&bodies, &rays, &RayOptions::default());
        occlusions(&bodies, &rays, &RayOptions::default());
        nearest_points(&bodies, &points, &PointOptions::default());
        containments(&bodies, &points);
        shape_casts(&bodies, &casts, &ShapeCastOptions::default());
        shape_casts_all(&bodies, &casts, &ShapeCastOptions::default());
        shape_casts_any(&bodies, &casts, &ShapeCastOptions::default());
        nearest_bodies(&bodies, &NearestOptions::default());
        nearest_bodies_of(&bodies, &[3, 3, 200, 1], &NearestOptions::default());
        nearest_bodies_to(&bodies, &bodies, &NearestOptions::default());
        hits(&bodies);
        hit_counts(&bodies);
    }
    // In worlds the answer is sorted once more.
    let worlds: Vec<u32> = (0..bodies.len() as u32).map(|row| row % 3).collect();
    let columns = BodyColumns { worlds: &worlds, ..BodyColumns::new(&bodies) };
    check("worlds", is_cpu, || arena.intersections(columns, near));

    let mut set = Bodies::new(&arena);
    for &body in &bodies {
        set.insert(body, ()).unwrap();
    }
    check_stats("bodies", is_cpu, || set.intersections().unwrap().wait().unwrap().stats);
    check_stats("bodies", is_cpu, || {
        set.manifolds(&ManifoldOptions::default()).unwrap().wait().unwrap().stats
    });
}

fn check_robot(engine: &Engine) {
    let arena = Arena::new(engine, &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
    let links: Vec<Body> = (0..4).map(|_| Body::new(0)).collect();
    let pose = |link: usize, step: usize| LinkPose {
        position: [1.5 * link as f64, 0.01 * step as f64, 0.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
    };
    let poses: Vec<LinkPose> = (0..200).flat_map(|step| (0..4).map(move |link| pose(link, step))).collect();
    let path = [JointPath::new(200, &poses)];
    check("joint_paths", true, || arena.joint_paths(&links, &path, &PathOptions::default()));
    check("postures", true, || arena.postures(&links, 200, &poses));
}

fn check_compounds(engine: &Engine) {
    let is_cpu = engine.backend() != Backend::Gpu;
    let arena = Arena::new(engine, &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
    let parts: Vec<Part> = (0..8).map(|part| Part::new(0).at([part as f32, 0.0, 0.0])).collect();
    let ground = HeightField::new(50, vec![0.0_f32; 2500], [5.0, 5.0]).unwrap();
    let compounds = Compounds::new(&arena, &[Compound::new(parts)]).unwrap().with_height_fields(&[ground]);
    let level = compounds.with_statics(&[CompoundBody::new(1).at([-5.0, 0.0, -5.0])]).unwrap();
    // In a row their boxes overlap though hardly a part meets another: the search for pairs of parts is most of the work.
    let bodies: Vec<CompoundBody> =
        places(200).map(|place| CompoundBody::new(0).at(place.map(f64::from))).collect();
    let near = Pairs::BroadPhase;
    let motions = vec![Motion { velocity: [0.5, 0.0, 0.0], ..Motion::default() }; bodies.len()];
    let rays: Vec<Ray> = places(200).map(|at| Ray::new(at.map(|x| x + 0.3), [1.0, 0.1, 0.0])).collect();
    let points: Vec<[f32; 3]> = places(200).map(|at| at.map(|x| x + 0.7)).collect();
    let shapes: Vec<Body> = places(100).map(|place| Body::new(0).at(place.map(|x| x + 0.2))).collect();
    let casts: Vec<ShapeCast> = shapes.iter().map(|&body| ShapeCast::new(body, [1.0, 2.0, 0.0])).collect();
    for (name, compounds) in [("alone", &compounds), ("over ground", &level)] {
        macro_rules! ask {
            ($($query:ident($($argument:expr),*);)*) => {
                $(check(concat!(stringify!($query), " of compounds"), is_cpu, || compounds.$query($($argument),*));)*
            };
        }
        println!("{name}");
        ask! {
            intersections(&bodies, near);
            distances(&bodies, near, &DistanceOptions { margin: 0.2 });
            contacts(&bodies, near, &ContactOptions::default());
            manifolds(&bodies, near, &ManifoldOptions::default());
            body_intersections(&bodies, near);
            body_distances(&bodies, near, &DistanceOptions { margin: 0.2 });
            body_contacts(&bodies, near, &ContactOptions::default());
            raycasts(&bodies, &rays, &RayOptions::default());
            raycasts_all(&bodies, &rays, &RayOptions::default());
            occlusions(&bodies, &rays, &RayOptions::default());
            nearest_points(&bodies, &points, &PointOptions::default());
            containments(&bodies, &points);
            shape_casts(&bodies, &casts, &ShapeCastOptions::default());
            shape_casts_all(&bodies, &casts, &ShapeCastOptions::default());
            shape_casts_any(&bodies, &casts, &ShapeCastOptions::default());
            nearest_bodies(&bodies, &NearestOptions::default());
            nearest_bodies_to(&bodies, &shapes, &NearestOptions::default());
            hits(&bodies);
            hit_counts(&bodies);
        }
    }
    let flat = Compounds::new(&arena, &[Compound::of_hulls([0, 0])]).unwrap();
    check("sweeps of compounds", is_cpu, || flat.sweeps(&bodies, &motions, near, &SweepOptions::default()));
    check("body_sweeps of compounds", is_cpu, || {
        flat.body_sweeps(&bodies, &motions, near, &SweepOptions::default())
    });
}

#[test]
fn the_total_is_the_time_from_the_call_to_the_answer() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        check_arena(&Engine::cpu());
        check_robot(&Engine::cpu());
        check_compounds(&Engine::cpu());
    });
}

#[test]
fn the_total_on_a_gpu_is_no_longer_than_the_clock_says() {
    let Some(engine) = crate::common::gpu() else { return };
    check_arena(&engine);
    check_compounds(&engine);
}
