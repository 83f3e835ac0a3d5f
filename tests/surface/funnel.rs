//! The construction of surfaces, and paths by the funnel.

use std::ops::ControlFlow;

use hullfield::navigate::Reach;
use hullfield::navigate::surface::{
    BuildProgress, BuildStage, Method as SurfaceMethod, Model, ModelFace, Options as SurfaceOptions,
    Path as SurfacePath, PathOptions, Surface,
};
use hullfield::{Error, Location};
use hullfield_oracle::surface::off_triangle;

use crate::models::check::{Point, checked, dot, length, minus};
use crate::models::{cube, moebius, terrain, with_max_snap};

/// The distance between a point and a triangle of a surface.
fn off(surface: &Surface, triangle: u32, point: Point) -> f64 {
    let vertices: Vec<Point> = surface.vertices().collect();
    let corners = surface.triangles()[triangle as usize].map(|v| vertices[v as usize]);
    off_triangle(corners, point)
}

#[test]
fn the_checks_can_fail() {
    let surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    let good = surface.path([0.2, 0.3, 0.0], [0.9, 0.6, 1.0], &SurfaceMethod::Funnel.into()).unwrap();
    checked(&surface, &good, 1.0);
    let fails = |change: fn(&mut SurfacePath)| {
        let mut bad = good.clone();
        change(&mut bad);
        std::panic::catch_unwind(|| checked(&surface, &bad, 1.0)).is_err()
    };
    assert!(fails(|path| path.points[1][0] += 1e-9));
    assert!(fails(|path| path.triangles[1] ^= 1));
    assert!(fails(|path| path.normals[0] = [0.0; 3]));
    assert!(fails(|path| path.length *= 1.0 + 1e-9));
    assert!(off(&surface, 0, [0.5, 0.5, 1e-6]) > 1e-7);
}

/// From the middle of one face of a cube to that of a neighbouring face, straight over one edge; and to the opposite one.
#[test]
fn a_cube_unfolds_by_hand() {
    let surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    assert_eq!((surface.triangles().len(), surface.edges().len()), (12, 18));
    assert_eq!((surface.report().island_count, surface.report().boundary_edge_count), (1, 0));
    assert!((surface.area() - 6.0).abs() < 1e-12);
    for (to, expected) in
        [([0.5, 0.0, 0.5], 1.0), ([0.5, 0.5, 1.0], 2.0), ([0.0, 0.5, 0.5], 1.0), ([0.5, 0.5, 0.0], 0.0)]
    {
        let path = surface.path([0.5, 0.5, 0.0], to, &SurfaceMethod::Funnel.into()).unwrap();
        let found = checked(&surface, &path, 1.0);
        // Here the funnel's strip is the best one.
        assert!((found - expected).abs() < 1e-12, "{to:?}: {found}");
    }
    // Normals point out of the cube, and are averaged between two faces.
    let path = surface.path([0.5, 0.25, 0.0], [0.5, 0.0, 0.25], &SurfaceMethod::Funnel.into()).unwrap();
    let lean = 0.5f64.sqrt();
    assert_eq!(path.normals.first(), Some(&[0.0, 0.0, -1.0]));
    assert_eq!(path.normals.last(), Some(&[0.0, -1.0, 0.0]));
    let at_edge = path.points.iter().position(|point| point[1] == 0.0 && point[2] == 0.0).unwrap();
    assert!(length(minus(path.normals[at_edge], [0.0, -lean, -lean])) < 1e-12);
}

/// A fan of thin triangles that turns several times around one corner: its strip overlaps itself when unfolded.
#[test]
fn a_strip_that_turns_past_a_full_turn() {
    let (count, step) = (60, 0.25f64);
    // A helix around the axis, nearly flat.
    let mut points = vec![];
    for i in 0..=count {
        let turn = step * f64::from(i);
        points.push([0.0, 0.0, 1e-6 * turn]);
        points.push([turn.cos(), turn.sin(), 1e-6 * turn]);
    }
    let triangles: Vec<[u32; 3]> = (0..count as u32)
        .flat_map(|i| [[2 * i, 2 * i + 1, 2 * i + 3], [2 * i, 2 * i + 3, 2 * i + 2]])
        .collect();
    let surface =
        Surface::new(&[Model::triangles(points.clone(), &triangles)], SurfaceOptions::default()).unwrap();
    // Over more than half a turn, the path leads to the axis, along it, and out again.
    let path =
        surface.path(points[1], points[2 * count as usize + 1], &SurfaceMethod::Funnel.into()).unwrap();
    let found = checked(&surface, &path, 1.0);
    let climb = 1e-6 * step * f64::from(count);
    // It may shorten its part along the axis at both ends, where it bends.
    assert!(found > 2.0 && found < 2.0 + climb, "{found}");
    // Over less than half a turn it is a chord, up to 2e-6 longer because of the slope.
    let path = surface.path(points[1], points[2 * 8 + 1], &SurfaceMethod::Funnel.into()).unwrap();
    let chord = length(minus(points[1], points[2 * 8 + 1]));
    assert!(checked(&surface, &path, 1.0) >= chord && path.length < chord + 2e-6, "{}", path.length);
}

#[test]
fn a_moebius_band_turns_normals_over() {
    let surface = Surface::new(&[moebius(40)], SurfaceOptions::default()).unwrap();
    assert_eq!(surface.report().turned_edge_count, 1);
    let inner = |i: usize| -> Point {
        let vertices: Vec<Point> = surface.vertices().collect();
        std::array::from_fn(|k| 0.5 * (vertices[2 * i][k] + vertices[2 * i + 1][k]))
    };
    // Across the seam the normal stays continuous, although the next triangle has the opposite orientation.
    let path = surface.path(inner(36), inner(4), &SurfaceMethod::Funnel.into()).unwrap();
    checked(&surface, &path, 5.0);
    for pair in path.normals.windows(2) {
        assert!(dot(pair[0], pair[1]) > 0.9, "{pair:?}");
    }
    let last = *path.triangles.last().unwrap();
    let own = surface.normal(last).unwrap();
    assert!(dot(*path.normals.last().unwrap(), own) < -0.9);
}

#[test]
fn one_triangle_two_triangles_three_on_one_edge() {
    let points = vec![[0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [2.0, 0.0, 1.0], [-1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]];
    let one =
        Surface::new(&[Model::triangles(points.clone(), &[[0, 1, 2]])], SurfaceOptions::default()).unwrap();
    let path = one.path([1.0, 0.0, 1.0], [0.5, 0.0, 1.25], &SurfaceMethod::Funnel.into()).unwrap();
    assert_eq!((path.points.len(), path.triangles.as_slice()), (2, &[0][..]));
    let here = one.path([1.0, 0.0, 1.0], [1.0, 0.0, 1.0], &SurfaceMethod::Funnel.into()).unwrap();
    assert_eq!((here.length, here.points.len()), (0.0, 2));

    let fan = Surface::new(
        &[Model::triangles(points, &[[0, 1, 2], [0, 1, 3], [1, 0, 4]])],
        SurfaceOptions::default(),
    )
    .unwrap();
    assert_eq!(fan.report().non_manifold_edge_count, 1);
    let edge = fan.common_edge(0, 1).unwrap();
    assert_eq!(fan.triangles_at(edge).collect::<Vec<_>>(), [0, 1, 2]);
    assert_eq!(fan.opposite_vertex(2, edge), Some(4));
    // From each triangle to each other.
    let middles = [[1.0, 0.0, 1.0], [-0.5, 0.5, 1.0], [-0.5, -0.5, 1.0]];
    for from in 0..3 {
        for to in 0..3 {
            let path = fan.path(middles[from], middles[to], &SurfaceMethod::Funnel.into()).unwrap();
            checked(&fan, &path, 2.0);
            let apart = |p: Point| p[0].hypot(p[1]);
            let expected = if from == to { 0.0 } else { apart(middles[from]) + apart(middles[to]) };
            assert!((path.length - expected).abs() < 1e-12);
        }
    }
}

/// Two triangles that share a corner are two islands, and a point at that corner is on both.
#[test]
fn vertices_do_not_connect() {
    let points = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]];
    let surface =
        Surface::new(&[Model::triangles(points, &[[0, 1, 2], [0, 3, 4]])], SurfaceOptions::default())
            .unwrap();
    assert_eq!(surface.report().island_count, 2);
    let path = surface.path([0.25, 0.25, 0.0], [-0.25, -0.25, 0.0], &SurfaceMethod::Funnel.into()).unwrap();
    let Reach::Unreachable { nearest } = path.reach else { panic!("{:?}", path.reach) };
    assert_eq!((nearest.triangle, nearest.position), (0, [0.0; 3]));
    for goal in [[0.25, 0.25, 0.0], [-0.25, -0.25, 0.0]] {
        let path = surface.path([0.0; 3], goal, &SurfaceMethod::Funnel.into()).unwrap();
        assert!((checked(&surface, &path, 1.0) - length(goal)).abs() < 1e-15);
    }
}

#[test]
fn funnels_along_given_strips() {
    let surface = Surface::new(&[terrain(12, 5)], SurfaceOptions::default()).unwrap();
    // A path that touches no vertex lists every triangle of its strip.
    let mut whole_count = 0;
    for i in 0..60 {
        let at = |k: u32| [0.7 + f64::from(k * 7 % 21) / 2.0, 0.6 + f64::from(k * 11 % 21) / 2.0, 0.5];
        let [x, y, z] = at(i);
        let best = surface.path([x, y, z], [x + 0.9, y + 0.5, z], &SurfaceMethod::Funnel.into()).unwrap();
        let mut strip = best.triangles.clone();
        strip.dedup();
        if strip.len() < 3 || !strip.windows(2).all(|pair| surface.common_edge(pair[0], pair[1]).is_some()) {
            continue;
        }
        let again = surface.funnel_along(&strip, best.points[0], best.points[best.points.len() - 1]).unwrap();
        assert!((again.length - best.length).abs() < 1e-12 * best.length, "{i}");
        whole_count += 1;
    }
    assert!(whole_count >= 5, "{whole_count}");
    let strip = [0];
    // Back and forth: triangles that are entered and left by the same edge drop out.
    let beside = surface.neighbours(strip[0]).find(|t| !strip.contains(t)).unwrap();
    let to_and_fro =
        surface.funnel_along(&[strip[0], beside, strip[0]], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0]).unwrap();
    assert_eq!(to_and_fro.length, 0.0);
    for (strip, row) in [(&[][..], 0), (&[0, u32::MAX][..], 1), (&[0, 1, 0, 100][..], 3), (&[7, 7][..], 1)] {
        match surface.funnel_along(strip, [0.0; 3], [0.0; 3]) {
            Err(
                Error::Missing { at: Location::Strip(found), .. }
                | Error::Invalid { at: Location::Strip(found), .. },
            ) => {
                assert_eq!(found, row, "{strip:?}");
            }
            Err(Error::Invalid { at: Location::Argument, .. }) if strip.is_empty() => {}
            other => panic!("{strip:?}: {other:?}"),
        }
    }
}

#[test]
fn walkable_triangles_and_slopes() {
    let mut surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    surface.set_walkable_slope([0.0, 0.0, 1.0], 45.0).unwrap();
    let on: Vec<u32> = (0..12).filter(|&t| surface.is_walkable(t)).collect();
    assert_eq!(on, [2, 3]);
    let found = surface.locate([0.5, 0.5, -3.0]).unwrap().unwrap();
    assert_eq!((found.position, found.distance), ([0.5, 0.5, 1.0], 4.0));
    surface.set_walkable_slope([0.0, 0.0, 2.0], 90.0).unwrap();
    assert_eq!((0..12).filter(|&t| surface.is_walkable(t)).count(), 10);
    // Around the cube, because the bottom is not walkable.
    let path = surface.path([0.0, 0.5, 0.1], [1.0, 0.5, 0.1], &SurfaceMethod::Funnel.into()).unwrap();
    checked(&surface, &path, 1.0);
    assert!(path.triangles.iter().all(|&t| surface.is_walkable(t)) && path.length > 1.9);
    surface.set_walkable_where(|_, _| false);
    assert_eq!(surface.locate([0.0; 3]).unwrap(), None);
    let path = surface.path([0.0; 3], [1.0; 3], &SurfaceMethod::Funnel.into()).unwrap();
    assert!(matches!(path.reach, Reach::Off { nearest: None, .. }), "{:?}", path.reach);
    assert_eq!((path.length, path.reach.name()), (f64::INFINITY, "start off"));
    surface.set_walkable(2, true).unwrap();
    assert!(surface.set_walkable(12, true).is_err());
    let surface = with_max_snap(&surface, 0.5);
    let path = surface.path([0.5, 0.4, 1.25], [0.5, 0.5, 3.0], &SurfaceMethod::Funnel.into()).unwrap();
    let Reach::Off { nearest: Some(nearest), .. } = path.reach else { panic!("{:?}", path.reach) };
    assert_eq!((nearest.distance, path.reach.name()), (2.0, "goal off"));
}

#[test]
fn the_report_lists_what_was_found() {
    let points = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [0.0, 1.0, 0.0],
        [0.5, 0.0, 0.0],
        [-0.0, 0.0, -0.0], // equal to the first
        [9.0, 9.0, 9.0],   // unused
        [0.25, 0.25, 0.0],
    ];
    let faces: Vec<Vec<u32>> = vec![
        vec![0, 1, 2, 3],
        vec![2, 0, 1],    // over the corners of the fan's first triangle
        vec![5, 3, 0],    // loses a corner
        vec![0, 4, 1],    // without area
        vec![1, 2, 3, 7], // a dart: its fan has a triangle turned over
    ];
    let surface = Surface::new(&[Model::polygons(points, faces)], SurfaceOptions::default()).unwrap();
    let report = surface.report();
    let face = |face| ModelFace { model: 0, face };
    assert_eq!((report.welded_count, report.unused_count), (1, 1));
    assert_eq!((report.duplicates.as_slice(), report.collapsed.as_slice()), (&[face(1)][..], &[face(2)][..]));
    assert_eq!(report.zero_area, [face(3)]);
    assert!(report.not_simple.is_empty(), "{:?}", report.not_simple);
    assert_eq!(surface.source(1), Some(face(0)));
    assert_eq!((surface.triangles().len(), report.island_count), (5, 1));
    // Across the removed triangle without area.
    let surface = Surface::new(
        &[Model::triangles(
            vec![[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, -1.0, 0.0]],
            &[[0, 1, 2], [0, 3, 1], [4, 3, 0]],
        )],
        SurfaceOptions::default(),
    )
    .unwrap();
    let path = surface.path([1.0, 0.9, 0.0], [0.5, -0.5, 0.0], &SurfaceMethod::Funnel.into()).unwrap();
    let straight = length([0.5, 1.4, 0.0]);
    assert!((checked(&surface, &path, 2.0) - straight).abs() < 1e-12, "{}", path.length);
}

#[test]
fn a_dart_is_cut_at_its_reflex_corner() {
    let points = vec![[0.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.5, 0.0, 0.0], [2.0, -1.0, 0.0]];
    // The fan from its reflex corner is good; that from the opposite corner would cover too much.
    let good =
        Surface::new(&[Model::polygons(points.clone(), [[2, 3, 0, 1]])], SurfaceOptions::default()).unwrap();
    let cut = Surface::new(&[Model::polygons(points, [[1, 2, 3, 0]])], SurfaceOptions::default()).unwrap();
    assert_eq!(cut.triangles(), [[1, 2, 0], [2, 3, 0]]);
    for surface in [good, cut] {
        assert!(surface.report().not_simple.is_empty());
        assert_eq!(surface.area(), 0.5);
    }
}

#[test]
fn models_are_placed_and_joined() {
    let side =
        |x: f64| cube().with_transform([[1.0, 0.0, 0.0, x], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]);
    let apart = Surface::new(&[side(0.0), side(1.0 + 1e-9)], SurfaceOptions::default()).unwrap();
    assert_eq!(apart.report().island_count, 2);
    let options = SurfaceOptions { weld: 1e-6, ..SurfaceOptions::default() };
    let joined =
        Surface::build(&[side(0.0), side(1.0 + 1e-9)], options, |_| ControlFlow::Continue(())).unwrap();
    let report = joined.report();
    assert_eq!((report.island_count, report.welded_count, report.non_manifold_edge_count), (1, 4, 4));
    let path = joined.path([0.5, 0.5, 1.0], [1.5, 0.5, 1.0], &SurfaceMethod::Funnel.into()).unwrap();
    assert!((checked(&joined, &path, 2.0) - 1.0).abs() < 1e-8);
    assert_eq!(joined.source(12 + 3), Some(ModelFace { model: 1, face: 1 }));
}

#[test]
fn bad_input_is_refused_by_name() {
    let points = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let empty = |models: &[Model]| Surface::new(models, SurfaceOptions::default()).unwrap_err();
    assert!(empty(&[]).to_string().contains("of 0 faces none is left"));
    let flat = Model::triangles(points.clone(), &[[0, 1, 1], [2, 2, 2]]);
    assert!(empty(&[flat]).to_string().contains("of 2 faces none is left"));
    let past = empty(&[cube(), Model::triangles(points.clone(), &[[0, 1, 2], [0, 1, 3]])]);
    assert_eq!(past.to_string(), "model 1, face 1: point 3 does not exist, there are 3");
    let short = empty(&[Model::polygons(points.clone(), [vec![0, 1, 2], vec![0, 1]])]);
    assert_eq!(short.to_string(), "model 0, face 1: 2 corners were given, a face needs three");
    for bad in [f64::NAN, f64::INFINITY, -1e80] {
        let mut points = points.clone();
        points[1][2] = bad;
        let error = empty(&[Model::triangles(points, &[[0, 1, 2]])]);
        assert!(
            matches!(error, Error::Value { at: Location::ModelPoint { model: 0, point: 1 }, .. }),
            "{error}"
        );
    }
    for weld in [-1.0, f64::NAN, f64::INFINITY] {
        let error = Surface::build(&[cube()], SurfaceOptions { weld, ..SurfaceOptions::default() }, |_| {
            ControlFlow::Continue(())
        })
        .unwrap_err();
        assert!(matches!(error, Error::Value { field: "weld", .. }), "{error}");
    }
    let mut surface = Surface::new(&[cube()], SurfaceOptions::default()).unwrap();
    assert!(surface.path([0.0, f64::NAN, 0.0], [0.0; 3], &SurfaceMethod::Funnel.into()).is_err());
    let error = surface
        .paths(&[[[0.0; 3]; 2], [[0.0; 3], [f64::INFINITY; 3]]], &SurfaceMethod::Funnel.into())
        .unwrap_err();
    assert!(error.to_string().starts_with("query 1: goal is"), "{error}");
    assert!(
        surface.set_walkable_slope([0.0; 3], 10.0).is_err()
            && surface.set_walkable_slope([1.0; 3], 181.0).is_err()
    );
    for max_snap in [-1.0, f64::NAN] {
        let options = SurfaceOptions { max_snap: Some(max_snap), ..SurfaceOptions::default() };
        let error = Surface::new(&[cube()], options).unwrap_err();
        assert!(matches!(error, Error::Value { field: "max_snap", .. }), "{error}");
    }
    assert_eq!((surface.edges_of(12), surface.normal(u32::MAX), surface.source(99)), (None, None, None));
    assert_eq!(surface.neighbours(u32::MAX).count() + surface.triangles_at(u32::MAX).count(), 0);
}

#[test]
fn progress_is_monotone_and_a_build_can_be_cancelled() {
    let model = terrain(200, 3);
    let mut seen: Vec<BuildProgress> = Vec::new();
    let build = |tell: &mut dyn FnMut(BuildProgress) -> ControlFlow<()>| {
        Surface::build(std::slice::from_ref(&model), SurfaceOptions::default(), tell)
    };
    build(&mut |progress| {
        seen.push(progress);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(seen.is_sorted_by_key(|progress| (progress.stage, progress.done)), "{seen:?}");
    assert!(seen.iter().all(|progress| progress.done <= progress.total));
    assert_eq!(
        seen.last().map(|progress| (progress.stage, progress.done)),
        Some((BuildStage::Index, 80_000))
    );
    // At least once in 65,536 elements.
    for pair in seen.windows(2) {
        let is_whole = matches!(pair[0].stage, BuildStage::Weld | BuildStage::Edges | BuildStage::Index);
        assert!(is_whole || pair[0].stage != pair[1].stage || pair[1].done - pair[0].done <= 65_536);
    }
    for stop in 0..seen.len() {
        let mut count = 0;
        let cancelled = build(&mut |_| {
            count += 1;
            if count > stop { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!((cancelled.unwrap_err(), count), (Error::Cancelled, stop + 1));
    }
}

/// The lists of a path are public: a path with a shortened list has no place, and does not panic.
#[test]
fn a_path_whose_lists_do_not_match_has_no_place() {
    let surface = Surface::new(&[terrain(12, 21)], SurfaceOptions::default()).unwrap();
    let path = surface.path([1.0, 1.0, 0.0], [10.0, 9.0, 0.0], &PathOptions::default()).unwrap();
    assert!(path.at(path.length).is_some());
    let shorten: [fn(&mut SurfacePath); 3] =
        [|path| path.points.truncate(2), |path| path.normals.clear(), |path| path.arc_lengths.clear()];
    for shorten in shorten {
        let mut path = path.clone();
        shorten(&mut path);
        assert_eq!(path.at(path.length), None);
    }
}

/// An agent that follows a path is on the reported triangle, at the right arc length, and reaches both ends.
#[test]
fn an_agent_follows_a_path() {
    let surface = Surface::new(&[terrain(12, 21)], SurfaceOptions::default()).unwrap();
    let path = surface.path([1.0, 1.0, 0.0], [10.0, 9.0, 0.0], &PathOptions::default()).unwrap();
    assert_eq!(path.arc_lengths.len(), path.points.len());
    assert!(path.arc_lengths.is_sorted() && path.arc_lengths.last() == Some(&path.length));
    let at = |length: f64| path.at(length).unwrap();
    assert_eq!(
        (at(-1.0).position, at(f64::INFINITY).position),
        (path.points[0], *path.points.last().unwrap())
    );
    assert_eq!((path.at(f64::NAN), SurfacePath::default().at(0.0)), (None, None));
    let mut before = at(0.0);
    let mut walked = 0.0;
    for step in 1..=1000 {
        let here = at(path.length * f64::from(step) / 1000.0);
        let gone = length(minus(here.position, before.position));
        walked += gone;
        assert!(gone <= path.length / 1000.0 * (1.0 + 1e-9), "{step}");
        assert!(off(&surface, here.triangle, here.position) < 1e-12);
        assert!((length(here.tangent) - 1.0).abs() < 1e-12 && (length(here.normal) - 1.0).abs() < 1e-12);
        before = here;
    }
    // Chords shorten the path a little at edges.
    assert!(walked > 0.99 * path.length, "{walked}");
    for (point, &arc_length) in path.points.iter().zip(&path.arc_lengths) {
        assert!(length(minus(at(arc_length).position, *point)) < 1e-12);
    }
}

/// The same queries one at a time and in a batch.
#[test]
fn batches_are_bit_identical_to_single_queries() {
    let surface = Surface::new(&[terrain(30, 11)], SurfaceOptions::default()).unwrap();
    let at = |i: u32| [f64::from(i * 7 % 31), f64::from(i * 13 % 29), 0.7];
    let queries: Vec<[Point; 2]> = (0..200).map(|i| [at(i), at(3 * i + 17)]).collect();
    let all = surface.paths(&queries, &SurfaceMethod::Funnel.into()).unwrap().rows;
    for (path, &[start, goal]) in all.iter().zip(&queries) {
        assert_eq!(path, &surface.path(start, goal, &SurfaceMethod::Funnel.into()).unwrap());
        checked(&surface, path, 30.0);
    }
}

/// On a plane no funnel is shorter than the straight line, and many are that line.
#[test]
fn a_plane_is_straight() {
    let flat = {
        let model = terrain(20, 9);
        let points: Vec<Point> = model.points().iter().map(|p| [p[0], p[1], 0.0]).collect();
        let faces: Vec<[u32; 3]> =
            (0..model.face_count()).map(|f| model.face(f).try_into().unwrap()).collect();
        Model::triangles(points, &faces)
    };
    let turn = [[0.36, 0.48, -0.8, 5.0], [-0.8, 0.6, 0.0, -3.0], [0.48, 0.64, 0.6, 2.0]];
    let surface = Surface::new(&[flat.with_transform(turn)], SurfaceOptions::default()).unwrap();
    let (mut straight, mut worst) = (0, 1.0f64);
    for i in 0..300u32 {
        let at = |k: u32| [0.5 + f64::from(k * 7 % 37) / 2.0, 0.5 + f64::from(k * 11 % 39) / 2.0, 0.0];
        let place = |p: Point| Model::triangles(vec![], &[]).with_transform(turn).place(p);
        let (from, to) = (at(i), at(5 * i + 3));
        let path = surface.path(place(from), place(to), &SurfaceMethod::Funnel.into()).unwrap();
        let found = checked(&surface, &path, 30.0);
        let beeline = length(minus(from, to));
        assert!(found >= beeline * (1.0 - 1e-12));
        straight += usize::from(found <= beeline * (1.0 + 1e-9) + 1e-9);
        worst = worst.max(if beeline > 1.0 { found / beeline } else { 1.0 });
    }
    assert!(straight > 30 && worst < 1.3, "{straight} of 300, worst {worst}");
}

/// A strip all around a vertex: the path goes around it, however near its ends are to one another and to one line.
#[test]
fn a_strip_around_a_vertex_and_back() {
    for count in [3, 4, 6, 8] {
        let angle = |i: u32| std::f64::consts::TAU * f64::from(i) / f64::from(count);
        let rim = |i: u32| [angle(i).cos(), angle(i).sin(), 0.0];
        let points = std::iter::once([0.0; 3]).chain((0..count).map(rim)).collect();
        let triangles: Vec<[u32; 3]> = (0..count).map(|i| [0, i + 1, (i + 1) % count + 1]).collect();
        let surface =
            Surface::new(&[Model::triangles(points, &triangles)], SurfaceOptions::default()).unwrap();
        let on = |turn: f64, far: f64| [far * turn.cos(), far * turn.sin(), 0.0];
        let strip: Vec<u32> = (0..=count).map(|i| i % count).collect();
        let back: Vec<u32> = strip.iter().rev().copied().collect();
        for (near, far) in [(0.1, 0.3), (0.3, 0.1), (0.2, 0.2)] {
            for turn in [0.0, 0.3 * angle(1), 0.5 * angle(1), angle(1)] {
                for beside in [0.0, 1e-15, -1e-15, 1e-9, -1e-9, 0.01, -0.01] {
                    let (start, goal) = (on(turn, near), on((turn + beside).clamp(0.0, angle(1)), far));
                    for (strip, [start, goal]) in [(&strip, [start, goal]), (&back, [goal, start])] {
                        let path = surface.funnel_along(strip, start, goal).unwrap();
                        let length = checked(&surface, &path, 1.0);
                        assert!((length - near - far).abs() < 1e-12, "{count} {start:?} {goal:?}: {length}");
                    }
                }
            }
        }
    }
}
