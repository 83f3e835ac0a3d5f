//! Refinement: the same surface in smaller triangles, and nothing else.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hullfield::Error;
use hullfield::navigate::surface::{
    BuildProgress, BuildStage, LoadOptions, Method as SurfaceMethod, Model, Options as SurfaceOptions,
    Surface,
};
use hullfield_oracle::{extent, pick};

use crate::models::check::{Point, distance};
use crate::models::{cube, moebius, obj, terrain};

fn refined(model: &Model, interval: f64) -> Surface {
    let options = SurfaceOptions { interval: Some(interval), ..SurfaceOptions::default() };
    Surface::build(std::slice::from_ref(model), options, |_| ControlFlow::Continue(())).unwrap()
}

/// What a refinement must not change.
struct Measures {
    /// For each number of triangles at an edge other than two, the total length of such edges.
    lengths: BTreeMap<usize, f64>,
    /// The total length of the edges between two triangles of opposite orientation.
    turned: f64,
    areas: BTreeMap<(u32, u32), f64>,
}

fn measures(surface: &Surface) -> Measures {
    let points: Vec<Point> = surface.vertices().collect();
    let (mut lengths, mut turned) = (BTreeMap::new(), 0.0);
    for (edge, &[a, b]) in surface.edges().iter().enumerate() {
        let at: Vec<u32> = surface.triangles_at(edge as u32).collect();
        let length = distance(points[a as usize], points[b as usize]);
        if at.len() == 2 {
            // Whether a triangle has the edge in the direction from a to b.
            let runs = |t: u32| {
                let corners = surface.triangles()[t as usize];
                (0..3).any(|k| [corners[k], corners[(k + 1) % 3]] == [a, b])
            };
            turned += if runs(at[0]) == runs(at[1]) { length } else { 0.0 };
        } else {
            *lengths.entry(at.len()).or_insert(0.0) += length;
        }
    }
    let mut areas = BTreeMap::new();
    for (triangle, &corners) in surface.triangles().iter().enumerate() {
        let [a, b, c] = corners.map(|v| points[v as usize]);
        let (u, v): (Point, Point) =
            (std::array::from_fn(|i| b[i] - a[i]), std::array::from_fn(|i| c[i] - a[i]));
        let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let face = surface.source(triangle as u32).unwrap();
        *areas.entry((face.model, face.face)).or_insert(0.0) += 0.5 * distance(cross, [0.0; 3]);
    }
    Measures { lengths, turned, areas }
}

/// Checks the invariants of a refinement, and returns it.
fn checked(name: &str, model: &Model, interval: f64) -> Surface {
    let coarse = Surface::new(std::slice::from_ref(model), SurfaceOptions::default()).unwrap();
    let fine = refined(model, interval);
    compare(name, &coarse, &fine, interval);
    // A second time, bit for bit the same.
    let again = refined(model, interval);
    assert!(fine.vertices().eq(again.vertices()) && fine.triangles() == again.triangles());
    fine
}

fn compare(name: &str, coarse: &Surface, fine: &Surface, interval: f64) {
    let points: Vec<Point> = fine.vertices().collect();
    let length = |&[a, b]: &[u32; 2]| distance(points[a as usize], points[b as usize]);
    let longest = fine.edges().iter().map(length).fold(0.0, f64::max);
    assert!(longest <= interval, "{name}: {longest} > {interval}");
    // The old points come first, unchanged.
    assert!(coarse.vertices().zip(&points).all(|(old, &new)| old == new), "{name}");
    // If the sides of an edge were cut differently, they would have become boundaries.
    let (before, after) = (measures(coarse), measures(fine));
    assert!(
        before.lengths.keys().eq(after.lengths.keys()),
        "{name}: {:?} {:?}",
        before.lengths,
        after.lengths
    );
    for (count, old) in &before.lengths {
        let new = after.lengths[count];
        assert!((new - old).abs() <= 1e-10 * old, "{name}, {count} at an edge: {old} -> {new}");
    }
    assert!(
        (after.turned - before.turned).abs() <= 1e-10 * before.turned,
        "{name}: {} {}",
        before.turned,
        after.turned
    );
    let whole = coarse.area();
    for (face, old) in &before.areas {
        let new = after.areas[face];
        assert!((new - old).abs() <= 1e-10 * old + 1e-14 * whole, "{name}: {face:?} {old} -> {new}");
    }
    assert_eq!(coarse.report().island_count, fine.report().island_count, "{name}");
    assert_eq!(coarse.report().zero_area, fine.report().zero_area, "{name}");
    assert_eq!(coarse.report().not_simple, fine.report().not_simple, "{name}");
    // Faces in their order.
    let sources = |surface: &Surface| {
        let mut all: Vec<_> = (0..surface.triangles().len() as u32).map(|t| surface.source(t)).collect();
        all.dedup();
        all
    };
    assert_eq!(sources(coarse), sources(fine), "{name}");
    // No point lies within an edge; tested only on small meshes.
    if points.len() < 3000 && name != "wallhole.obj" && name != "dungeon.obj" {
        for edge in fine.edges() {
            let [a, b] = edge.map(|v| points[v as usize]);
            for (v, &point) in points.iter().enumerate() {
                let is_end = edge.contains(&(v as u32));
                assert!(
                    is_end || distance(a, point) + distance(point, b) > distance(a, b) * (1.0 + 1e-9),
                    "{name}: {edge:?} holds {v}"
                );
            }
        }
    }
    println!(
        "{name}, {interval}: {} -> {} triangles, longest {longest}",
        coarse.triangles().len(),
        fine.triangles().len()
    );
}

/// Three triangles on one edge.
fn fan() -> Model {
    let points = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [2.0, 0.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]];
    Model::triangles(points, &[[0, 1, 2], [0, 1, 3], [1, 0, 4]])
}

/// A triangle without area between two others, with a corner within an edge.
fn flat_between() -> Model {
    let points = vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.7, 0.0, 0.0], [0.5, -1.0, 0.0]];
    Model::triangles(points, &[[0, 1, 2], [0, 3, 1], [4, 3, 0]])
}

#[test]
fn no_edge_is_longer_and_nothing_else_changes() {
    for interval in [3.0, 1.0, 0.5, 0.3, 0.11, 0.04] {
        checked("cube", &cube(), interval);
        checked("three on an edge", &fan(), interval);
        checked("moebius", &moebius(24), interval.max(0.1));
        checked("terrain", &terrain(6, 2), interval.max(0.1));
        let flat = refined(&flat_between(), interval);
        assert!((flat.area() - 1.35).abs() < 1e-12 && flat.report().island_count == 1);
    }
    // A needle far from the origin.
    let needle =
        Model::triangles(vec![[5e6, 0.0, 0.0], [5e6 + 10.0, 0.0, 0.0], [5e6, 1e-3, 0.0]], &[[0, 1, 2]]);
    checked("needle", &needle, 0.01);
    // An interval at least as long as every edge changes nothing.
    let whole = refined(&cube(), 1.5);
    assert_eq!(whole.triangles(), Surface::new(&[cube()], SurfaceOptions::default()).unwrap().triangles());
}

/// The number of triangles grows linearly with the length of a slender triangle. It once grew with length^1.58: a triangle of 65,535 by 1 took 3¹⁷
/// at an interval of a half.
#[test]
fn slender_triangles_become_no_more_than_their_length_requires() {
    let apex = |width: f64, length: f64| {
        let points = vec![[0.0; 3], [width, 0.0, 0.0], [0.3 * width, length, 1.0], [width, width, 0.0]];
        Model::triangles(points, &[[0, 1, 2], [2, 1, 3]])
    };
    for (width, length, interval) in
        [(1.0, 4000.0, 0.5), (1e-3, 300.0, 0.1), (3.0, 500.0, 0.3), (0.25, 90.0, 1.0)]
    {
        let fine = checked("slender", &apex(width, length), interval);
        let (along, across) = ((length / interval).ceil(), (width / interval).ceil() + 1.0);
        let count = fine.triangles().len() as f64;
        assert!(count >= 4.0 * along && count < 8.0 * along * across, "{width} {length}: {count}");
    }
}

/// Each edge becomes as few equal parts as possible, and slender triangles do not become many more than their area requires.
#[test]
fn parts_are_equal_and_few() {
    let slender = |n: u32| {
        let rim = |i: u32| [(0.06 * f64::from(i)).cos(), (0.06 * f64::from(i)).sin(), 0.0];
        let points = std::iter::once([0.0; 3]).chain((0..=n).map(rim)).collect();
        Model::triangles(points, &(0..n).map(|i| [0, i + 1, i + 2]).collect::<Vec<_>>())
    };
    // The largest number of triangles, relative to the number of equilateral ones of that area plus one for each part of an edge.
    for (name, model, interval, most) in [
        ("cube", cube(), 0.4, 1.9),
        ("cube", cube(), 0.25, 1.9),
        ("cube", cube(), 0.1, 1.9),
        ("cube", cube(), 0.21, 1.9),
        ("cube", cube(), 0.052, 1.9),
        ("terrain", terrain(4, 3), 0.13, 1.5),
        ("slender", slender(60), 0.052, 2.1),
        (
            "needle",
            Model::triangles(vec![[0.0; 3], [7.0, 0.0, 0.0], [3.0, 0.09, 0.0]], &[[0, 1, 2]]),
            0.1,
            4.0,
        ),
    ] {
        let coarse = Surface::new(std::slice::from_ref(&model), SurfaceOptions::default()).unwrap();
        let fine = refined(&model, interval);
        let points: Vec<Point> = fine.vertices().collect();
        let mut pieces: BTreeMap<[u32; 2], Vec<f64>> = BTreeMap::new();
        for &[a, b] in fine.edges() {
            let [a, b] = [a, b].map(|v| points[v as usize]);
            // The old edge of which it is a part.
            for &[from, to] in coarse.edges() {
                let [start, end] = [from, to].map(|v| points[v as usize]);
                let is_on = |at: Point| {
                    distance(start, at) + distance(at, end) <= distance(start, end) * (1.0 + 1e-12)
                };
                if is_on(a) && is_on(b) {
                    pieces.entry([from, to]).or_default().push(distance(a, b));
                }
            }
        }
        for &[from, to] in coarse.edges() {
            let whole = distance(points[from as usize], points[to as usize]);
            // One more part where rounding makes parts longer than the interval.
            let (found, least) = (&pieces[&[from, to]], whole / interval);
            let count = found.len() as f64;
            let is_least =
                count == least.ceil() || (count == least.round() + 1.0 && count - least > 1.0 - 1e-12);
            assert!(is_least, "{name}, {interval}: {whole} in {count} parts");
            assert!(found.iter().all(|part| (part - whole / count).abs() < 1e-14), "{name}: {found:?}");
        }
        let by_area = fine.area() / (0.25 * 3f64.sqrt() * interval * interval);
        let by_edges: usize = coarse
            .triangles()
            .iter()
            .map(|corners| {
                let edges = (0..3).map(|k| [corners[k], corners[(k + 1) % 3]]);
                edges.map(|[a, b]| pieces[&[a.min(b), a.max(b)]].len()).sum::<usize>()
            })
            .sum();
        let ideal = by_area + by_edges as f64;
        let ratio = fine.triangles().len() as f64 / ideal;
        assert!(ratio < most, "{name}, {interval}: {} triangles, {ratio}", fine.triangles().len());
    }
}

/// An edge of n times the interval is cut into exactly n parts.
#[test]
fn an_interval_that_divides_an_edge_adds_no_part() {
    let triangle = Model::triangles(vec![[0.0; 3], [4.0, 0.0, 0.0], [0.0, 3.0, 0.0]], &[[0, 1, 2]]);
    for (interval, legs) in [(1.0, [4, 3]), (0.5, [8, 6]), (0.25, [16, 12])] {
        let fine = refined(&triangle, interval);
        let points: Vec<Point> = fine.vertices().collect();
        let on_axis = |axis: usize| {
            let is_on = |&&[a, b]: &&[u32; 2]| [a, b].iter().all(|&v| points[v as usize][axis] == 0.0);
            fine.edges().iter().filter(is_on).count()
        };
        assert_eq!([on_axis(1), on_axis(0)], legs, "{interval}");
    }
}

/// The checks fail for a mesh whose edge is cut on one side only.
#[test]
fn the_checks_can_fail() {
    let square = vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [2.0, 2.0, 0.0], [0.0, 2.0, 0.0], [1.0, 1.0, 0.0]];
    let coarse =
        Surface::new(&[Model::polygons(square.clone(), [[0, 1, 2, 3]])], SurfaceOptions::default()).unwrap();
    let faces = vec![vec![0, 1, 4], vec![1, 2, 4], vec![0, 2, 3]];
    let junction =
        Surface::new(&[Model::polygons(square.clone(), faces)], SurfaceOptions::default()).unwrap();
    assert!(std::panic::catch_unwind(|| compare("junction", &coarse, &junction, 3.0)).is_err());
    let whole = Surface::new(&[Model::polygons(square, [[0, 1, 2, 3]])], SurfaceOptions::default()).unwrap();
    compare("itself", &coarse, &whole, 3.0);
    assert!(std::panic::catch_unwind(|| compare("too long", &coarse, &whole, 2.5)).is_err());
}

/// Exact lengths between the same points stay.
#[test]
fn exact_lengths_stay() {
    let mut asked = 0;
    let mut same = |name: &str, model: &Model, interval: f64, count: usize| {
        let coarse = Surface::new(std::slice::from_ref(model), SurfaceOptions::default()).unwrap();
        let fine = refined(model, interval);
        let points: Vec<Point> = coarse.vertices().collect();
        let queries: Vec<[Point; 2]> = (0..count)
            .map(|i| [points[i * 7919 % points.len()], points[(i * 104_729 + 13) % points.len()]])
            .collect();
        let [before, after] = [&coarse, &fine]
            .map(|surface| surface.paths(&queries, &SurfaceMethod::Exact.into()).unwrap().rows);
        for (i, (before, after)) in before.iter().zip(&after).enumerate() {
            assert_eq!(before.is_reached(), after.is_reached());
            if before.is_reached() {
                let (old, new) = (before.length, after.length);
                assert!((new - old).abs() <= 1e-9 * old, "{name} {i}: {old} -> {new}");
                asked += 1;
            }
        }
    };
    same("cube", &cube(), 0.2, 56);
    same("three on an edge", &fan(), 0.3, 20);
    same("moebius", &moebius(24), 0.3, 60);
    same("terrain", &terrain(8, 7), 0.3, 60);
    if let Some((_, model)) = obj("spot.obj") {
        same("spot", &model, 0.03, 40);
    }
    assert!(asked > 150);
}

#[test]
fn corpus_meshes_are_refined() {
    let meshes = [
        ("spot.obj", 0.02),
        ("nav_test.obj", 1.0),
        ("dungeon.obj", 1.0),
        ("undulating.obj", 0.5),
        ("moebius.obj", 0.1),
        ("fan3.obj", 0.1),
        ("wallhole.obj", 5.0),
        ("suzanne.obj", 0.05),
        ("teapot.obj", 0.1),
        ("stanford-bunny.obj", 0.001),
    ];
    for (name, interval) in pick(23, &meshes, extent(10, 5)) {
        let Some((_, model)) = obj(name) else { return };
        checked(name, &model, interval * extent(2.0, 1.0));
    }
}

#[test]
fn bad_intervals_are_refused() {
    let build = |model: Model, interval: f64| {
        let options = SurfaceOptions { interval: Some(interval), ..SurfaceOptions::default() };
        Surface::build(&[model], options, |_| ControlFlow::Continue(())).map(|_| ())
    };
    for interval in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-300, 9e-13] {
        let error = build(cube(), interval).unwrap_err();
        assert!(matches!(error, Error::Value { field: "interval", .. }), "{interval}: {error}");
    }
    // Too many triangles by area, or by length where there is hardly an area: refused before anything is built.
    let flat = Model::triangles(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.3, 1e-13, 0.0]], &[[0, 1, 2]]);
    for (model, interval) in [(cube(), 1e-6), (cube(), 1e-11), (flat, 1e-11)] {
        let begin = std::time::Instant::now();
        let error = build(model, interval).unwrap_err();
        println!("{error} ({:?})", begin.elapsed());
        assert!(matches!(error, Error::TooMany { .. } | Error::MemoryLimit { .. }), "{error}");
    }
}

#[test]
fn progress_is_monotone_and_a_refinement_can_be_cancelled() {
    let model = terrain(40, 3);
    let build = |tell: &mut dyn FnMut(BuildProgress) -> ControlFlow<()>| {
        let options = SurfaceOptions { interval: Some(0.1), ..SurfaceOptions::default() };
        Surface::build(std::slice::from_ref(&model), options, tell)
    };
    let mut seen: Vec<BuildProgress> = Vec::new();
    let surface = build(&mut |progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(seen.is_sorted_by_key(|progress| (progress.stage, progress.done)), "{seen:?}");
    let told: Vec<_> = seen.iter().filter(|progress| progress.stage == BuildStage::Refine).collect();
    assert!(told.iter().all(|progress| progress.total == told[0].total));
    assert_eq!(told.last().map(|progress| progress.done), Some(told[0].total));
    // At least two reports for each 65,536 triangles: counted and cut.
    assert!(told.len() >= surface.triangles().len() / 65_536 * 2, "{}", told.len());
    // Within both counting and cutting.
    let first = seen.iter().position(|progress| progress.stage == BuildStage::Refine).unwrap();
    for stop in (0..told.len()).step_by(extent(12, 3)).map(|told| first + told) {
        let mut count = 0;
        let cancelled = build(&mut |_| {
            count += 1;
            if count > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((cancelled.unwrap_err(), count), (Error::Cancelled, stop + 1));
    }
}

/// Where two corners of a needle are an ulp apart, the cuts of its long sides round to one point. They become one, and the surface can be
/// saved and loaded.
#[test]
fn cuts_that_round_to_one_point_are_joined() {
    let points = vec![
        [64739.14350042655, -64739.143512173425, 6474.914350042655],
        [64739.143501054634, -64739.14351154535, 6474.414350042655],
        [64739.143501054634, -64739.14351154534, 6474.414350042655],
        // A triangle with an area on either side.
        [64739.5, -64739.143512173425, 6474.5],
        [64738.5, -64739.143512173425, 6474.5],
    ];
    let triangles = [[0, 1, 2], [0, 2, 3], [1, 0, 4]];
    let surface = refined(&Model::triangles(points, &triangles), 0.2);
    let points: Vec<[f64; 3]> = surface.vertices().collect();
    for &[a, b, c] in surface.triangles() {
        let [a, b, c] = [a, b, c].map(|corner| points[corner as usize]);
        assert!(a != b && b != c && a != c);
    }
    assert_eq!(surface.report().island_count, 1);
    let loaded = Surface::from_bytes(&surface.to_bytes(), LoadOptions::default()).unwrap();
    assert_eq!(loaded.triangles(), surface.triangles());
}
