//! The places where queries begin and end: named triangles, faces and vertices, and positions that several surfaces share.

use hullfield::navigate::surface::{
    Link as SurfaceLink, Method as SurfaceMethod, Model, ModelFace, Options as SurfaceOptions,
    Path as SurfacePath, PathOptions, Place as SurfacePlace, Point as SurfacePoint, Surface,
};
use hullfield::navigate::{PathEnd, Reach};
use hullfield::{Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::surface::off_triangle;

use crate::models::check::distance;
use crate::models::{OnSurface as _, moebius, obj, with_max_snap};

const METHODS: [fn() -> SurfaceMethod; 3] =
    [|| SurfaceMethod::Funnel, SurfaceMethod::default, || SurfaceMethod::Exact];

/// `size` squares of edge 1 in the plane z = `origin[2]`, from `origin` on, without those at `holes`.
fn sheet(origin: [f64; 3], size: [u32; 2], holes: &[[u32; 2]]) -> Model {
    let (mut points, mut faces) = (Vec::new(), Vec::new());
    for y in 0..=size[1] {
        for x in 0..=size[0] {
            points.push([origin[0] + f64::from(x), origin[1] + f64::from(y), origin[2]]);
        }
    }
    for y in 0..size[1] {
        for x in (0..size[0]).filter(|&x| !holes.contains(&[x, y])) {
            let at = |x: u32, y: u32| y * (size[0] + 1) + x;
            faces.push([at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)]);
        }
    }
    Model::polygons(points, faces)
}

/// Two sheets in one plane that share no vertex, each with a wall in the middle: one can be passed above it, the other below it.
fn two_sheets() -> Surface {
    let wall = |x: u32, rows: std::ops::Range<u32>| rows.map(|y| [x, y]).collect::<Vec<_>>();
    let first = sheet([0.0; 3], [9, 5], &wall(4, 0..4));
    let second = sheet([-0.25, -0.25, 0.0], [10, 6], &wall(4, 1..6));
    Surface::new(&[first, second], SurfaceOptions::default()).unwrap()
}

/// The two sheets' points nearest to a position, by model.
fn by_model(surface: &Surface, position: [f64; 3]) -> Vec<SurfacePoint> {
    let mut found = surface.locate_all(position).unwrap();
    assert_eq!(surface.locate(position).unwrap(), found.first().copied());
    found.sort_by_key(|point| surface.source(point.triangle));
    found
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9 * b.max(1.0)
}

#[test]
fn a_name_chooses_one_of_two_sheets_in_one_plane() {
    let surface = two_sheets();
    let (start, goal) = ([1.0, 2.0, 0.0], [7.5, 2.0, 0.0]);
    let lengths = [13f64.sqrt() + 1.0 + 10.25f64.sqrt(), 2.0 * 2.75f64.hypot(1.25) + 1.0];
    let (starts, goals) = (by_model(&surface, start), by_model(&surface, goal));
    assert_eq!((starts.len(), goals.len()), (2, 2));
    for method in METHODS.map(|method| method()) {
        // A position alone is on both sheets, and the shorter path is taken, as far as the method finds it; the funnel's strip may be another
        // one.
        let most = if method == SurfaceMethod::Funnel { 1.2 } else { 1.0 + 1e-9 };
        let path = surface.path(start, goal, &method.into()).unwrap();
        let is_shorter = path.length >= lengths[1] - 1e-9 && path.length <= most * lengths[1];
        assert!(path.ambiguous == [true, true] && is_shorter, "{method:?} {}", path.length);
        for model in 0..2 {
            let face = surface.source(starts[model].triangle).unwrap();
            assert_eq!(face.model as usize, model);
            let by_face = SurfacePlace::from((face, start));
            for start in [starts[model].into(), by_face] {
                let path = surface.path(start, goals[model], &method.into()).unwrap();
                assert!(path.is_reached() && path.ambiguous == [false; 2], "{method:?} {:?}", path.reach);
                assert!(
                    path.length >= lengths[model] - 1e-9 && path.length <= most * lengths[model],
                    "{method:?}"
                );
                let models = path.triangles.iter().map(|&triangle| surface.source(triangle).unwrap().model);
                assert!(models.clone().all(|own| own as usize == model), "{method:?}");
                // One name is enough: the other end is on both sheets, of which one is reached.
                let path = surface.path(start, goal, &method.into()).unwrap();
                assert!(
                    path.length <= most * lengths[model] && path.ambiguous == [false, true],
                    "{method:?}"
                );
            }
            let other = surface.path(starts[model], goals[1 - model], &method.into()).unwrap();
            assert!(matches!(other.reach, Reach::Unreachable { .. }), "{method:?} {:?}", other.reach);
        }
    }
    // The same for batches, fields, and weighted paths.
    let queries = [[starts[0].into(), SurfacePlace::Near(goal)], [starts[1].into(), goals[1].into()]];
    let found: Vec<f64> = surface
        .paths(&queries, &SurfaceMethod::Exact.into())
        .unwrap()
        .rows
        .iter()
        .map(|path| path.length)
        .collect();
    assert!(near(found[0], lengths[0]) && near(found[1], lengths[1]), "{found:?}");
    let costs = vec![1.0; surface.triangles().len()];
    for model in 0..2 {
        let field = surface.field(starts[model]).unwrap();
        assert!(!field.is_ambiguous());
        assert!(near(field.distance(goals[model]).unwrap().unwrap(), lengths[model]));
        assert_eq!(field.distance(goals[1 - model]).unwrap(), None);
        let path = field.path(goal).unwrap();
        assert!(near(path.length, lengths[model]) && path.ambiguous == [false, true]);
        assert!(near(field.paths(&[goals[model]]).unwrap().rows[0].length, lengths[model]));
        let cheap = surface.path_by_costs(starts[model], goals[model], &costs).unwrap();
        assert!(cheap.cost >= lengths[model] - 1e-6 && cheap.cost < 1.01 * lengths[model], "{}", cheap.cost);
        assert!(!surface.path_by_costs(starts[model], goals[1 - model], &costs).unwrap().path.is_reached());
        let nearest = surface
            .path(
                starts[model],
                goals[1 - model],
                &PathOptions { to_nearest: true, ..PathOptions::default() },
            )
            .unwrap();
        assert!(near(nearest.length, lengths[model]) && nearest.snaps[1] < 1e-12, "{}", nearest.length);
    }
    assert!(surface.field(start).unwrap().is_ambiguous());
}

#[test]
fn rays_moves_and_walls_keep_to_the_sheet_that_is_named() {
    let surface = two_sheets();
    let start = [1.0, 2.0, 0.0];
    for (model, wall) in by_model(&surface, start).into_iter().zip([4.0, 3.75]) {
        let hit = surface.raycast(model, [1.0, 0.0, 0.0], 9.0).unwrap().unwrap();
        assert!(near(hit.point[0], wall) && hit.wall.is_some(), "{hit:?}");
        let place = surface.move_along(model, [9.0, 0.0, 0.0]).unwrap().unwrap();
        assert!(near(place.position[0], wall), "{place:?}");
        let far = surface.distance_to_wall(model).unwrap().unwrap();
        assert!(near(far.distance, if wall == 4.0 { 1.0 } else { 1.25 }), "{far:?}");
    }
}

#[test]
fn crossing_sheets_are_told_apart_where_they_cross() {
    // The second sheet is vertical and crosses the first along y = 1.5.
    let upright = vec![[0.25, 1.5, -1.25], [3.75, 1.5, -1.25], [3.75, 1.5, 2.75], [0.25, 1.5, 2.75]];
    let models = [sheet([0.0; 3], [4, 3], &[]), Model::polygons(upright, [[0, 1, 2, 3]])];
    let surface = Surface::new(&models, SurfaceOptions::default()).unwrap();
    let on_both = [2.2, 1.5, 0.0];
    assert_eq!(by_model(&surface, on_both).len(), 2);
    assert_eq!(by_model(&surface, [2.2, 1.4, 0.0]).len(), 1);
    let up = [2.2, 1.5, 2.0];
    let path = surface.path(on_both, up, &PathOptions::default()).unwrap();
    assert!(near(path.length, 2.0) && path.ambiguous == [true, false]);
    let flat = SurfacePlace::Face { face: ModelFace { model: 0, face: 6 }, position: on_both };
    assert!(!surface.path(flat, up, &PathOptions::default()).unwrap().is_reached());
    let wall = SurfacePlace::Face { face: ModelFace { model: 1, face: 0 }, position: on_both };
    assert!(near(surface.path(wall, up, &PathOptions::default()).unwrap().length, 2.0));
}

#[test]
fn a_vertex_where_only_corners_touch_is_ambiguous() {
    // A bow-tie, whose middle is vertex 0.
    let points = vec![[0.0; 3], [2.0, 1.0, 0.0], [2.0, -1.0, 0.0], [-2.0, 1.0, 0.0], [-2.0, -1.0, 0.0]];
    let surface =
        Surface::new(&[Model::triangles(points, &[[0, 1, 2], [0, 3, 4]])], SurfaceOptions::default())
            .unwrap();
    let (knot, right, left) = ([0.0; 3], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]);
    assert_eq!(surface.locate_all(knot).unwrap().len(), 2);
    assert_eq!(surface.locate_all(right).unwrap().len(), 1);
    assert!(!surface.path(right, left, &PathOptions::default()).unwrap().is_reached());
    for goal in [right, left] {
        for start in [SurfacePlace::Near(knot), SurfacePlace::Vertex(0)] {
            let path = surface.path(start, goal, &PathOptions::default()).unwrap();
            assert!(near(path.length, 1.0) && path.ambiguous == [true, false], "{start:?} {goal:?}");
        }
    }
    for (triangle, [own, other]) in [(0, [right, left]), (1, [left, right])] {
        let start = SurfacePlace::Triangle { triangle, position: knot };
        assert!(near(surface.path(start, own, &PathOptions::default()).unwrap().length, 1.0));
        assert!(!surface.path(start, other, &PathOptions::default()).unwrap().is_reached());
    }
    // A corner of a single triangle is not ambiguous.
    assert_eq!(
        surface.path(SurfacePlace::Vertex(1), right, &PathOptions::default()).unwrap().ambiguous,
        [false; 2]
    );
}

#[test]
fn a_moebius_band_is_one_surface() {
    let surface = Surface::new(&[moebius(24)], SurfaceOptions::default()).unwrap();
    let mut random = Random::xorshift(7);
    for _ in 0..50 {
        let [start, goal] = [random.on(&surface), random.on(&surface)];
        let path = surface.path(start, goal, &SurfaceMethod::Exact.into()).unwrap();
        assert_eq!(path.ambiguous, [false; 2]);
        let named = [start, goal].map(|end| surface.locate(end).unwrap().unwrap());
        let named = surface.path(named[0], named[1], &SurfaceMethod::Exact.into()).unwrap();
        assert!(near(named.length, path.length));
    }
}

#[test]
fn a_face_chooses_one_of_two_equally_near_floors() {
    let floors = [0.0, 3.0].map(|z| sheet([0.0, 0.0, z], [4, 4], &[]));
    // A third model repeats the upper floor; welding makes its triangles duplicates.
    let models = [floors[0].clone(), floors[1].clone(), floors[1].clone()];
    let mut surface = Surface::new(&models, SurfaceOptions::default()).unwrap();
    let (start, goal) = ([0.5, 0.5, 1.5], [3.5, 0.5, 3.0]);
    assert_eq!(by_model(&surface, start).len(), 2);
    assert_eq!(by_model(&surface, [0.5, 0.5, 1.6]).len(), 1);
    // Duplicates are left out, so the coinciding floors are one.
    assert_eq!(by_model(&surface, goal).len(), 1);
    let face = |model: u32| SurfacePlace::from((ModelFace { model, face: 0 }, start));
    assert!(!surface.path(start, goal, &PathOptions::default()).unwrap().is_reached());
    let path = surface.path(face(1), goal, &PathOptions::default()).unwrap();
    assert!(near(path.length, 3.0) && path.snaps == [1.5, 0.0] && path.ambiguous == [false; 2]);
    assert!(!surface.path(face(0), goal, &PathOptions::default()).unwrap().is_reached());
    let message = surface.path(face(2), goal, &PathOptions::default()).unwrap_err().to_string();
    assert_eq!(message, "start is face 0 of model 2, which has the corners of another face and is left out");
    // With a ladder, paths from both floors lead there.
    let ladder = SurfaceLink { from: [0.5, 2.5, 0.0], to: [0.5, 2.5, 3.0], cost: 5.0, two_way: true };
    surface.set_links(&[ladder]).unwrap();
    let by_ladder = 2.0 + 5.0 + 13f64.sqrt();
    let path = surface.path(face(0), goal, &PathOptions::default()).unwrap();
    assert!(near(path.length, by_ladder) && path.links.len() == 1 && path.ambiguous == [false; 2]);
    let path = surface.path(start, goal, &PathOptions::default()).unwrap();
    assert!(near(path.length, by_ladder) && path.ambiguous == [true, false]);
    let path = surface.path(face(1), goal, &PathOptions::default()).unwrap();
    assert!(near(path.length, 3.0) && path.links.is_empty());
}

/// The foot of a ladder is on two sheets, of which only one leads to it. A named start does not change sheets.
#[test]
fn links_are_reached_from_the_sheet_that_is_named() {
    let mut surface = two_sheets();
    let link = SurfaceLink { from: [-0.2, 5.6, 0.0], to: [8.5, 0.5, 0.0], cost: 1.0, two_way: false };
    surface.set_links(&[link]).unwrap();
    let (start, goal) = ([1.0, 2.0, 0.0], [8.5, 0.5, 0.0]);
    let starts = by_model(&surface, start);
    // The link begins where only the second sheet lies.
    let second = surface.path(starts[1], goal, &SurfaceMethod::Exact.into()).unwrap();
    let walk = distance(start, link.from);
    assert!(near(second.length, walk + 1.0) && second.links.len() == 1, "{}", second.length);
    let first = surface.path(starts[0], goal, &SurfaceMethod::Exact.into()).unwrap();
    let around = 13f64.sqrt() + 1.0 + 3.5f64.hypot(3.5);
    assert!(first.links.is_empty() && near(first.length, around), "{} {around}", first.length);
}

/// Tiles side by side whose corners do not meet: a start on the seam may be on either.
#[test]
fn a_seam_that_is_not_welded_is_ambiguous() {
    let models = [sheet([0.0; 3], [3, 3], &[]), sheet([3.0, 0.5, 0.0], [3, 3], &[])];
    let surface = Surface::new(&models, SurfaceOptions::default()).unwrap();
    assert_eq!(by_model(&surface, [3.0, 1.2, 0.0]).len(), 2);
    assert_eq!(by_model(&surface, [3.0, 0.2, 0.0]).len(), 1);
    // With blocked triangles in between, the two sides of a corner are two surfaces as well.
    let mut surface = Surface::new(&[sheet([0.0; 3], [2, 2], &[])], SurfaceOptions::default()).unwrap();
    let middle = [1.0, 1.0, 0.0];
    assert_eq!(surface.locate_all(middle).unwrap().len(), 1);
    for triangle in 0..8 {
        let quad = surface.source(triangle).unwrap().face;
        surface.set_walkable(triangle, quad == 0 || quad == 3).unwrap();
    }
    assert_eq!(surface.locate_all(middle).unwrap().len(), 2);
    assert_eq!(
        surface.path(middle, [0.1, 0.1, 0.0], &PathOptions::default()).unwrap().ambiguous,
        [true, false]
    );
}

#[test]
fn names_of_nothing_are_refused_with_what_exists() {
    // The last face is a needle without area, which is removed from the seam.
    let points = vec![[0.0; 3], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0], [2.0, 0.0, 0.0]];
    let mut surface = Surface::new(
        &[Model::polygons(points, [vec![0, 1, 2, 3], vec![0, 4, 1]])],
        SurfaceOptions::default(),
    )
    .unwrap();
    let (count, at) = (surface.triangles().len(), [1.0, 1.0, 0.0]);
    let face = |model: u32, face: u32| SurfacePlace::Face { face: ModelFace { model, face }, position: at };
    let triangle = |triangle: u32| SurfacePlace::Triangle { triangle, position: at };
    let of_nothing = [
        (triangle(count as u32), format!("triangle {count}, the surface has {count}")),
        (triangle(u32::MAX), format!("triangle {}, the surface has {count}", u32::MAX)),
        (SurfacePlace::Vertex(5), "vertex 5, the surface has 5".to_owned()),
        (SurfacePlace::Vertex(u32::MAX), format!("vertex {}, the surface has 5", u32::MAX)),
        (face(0, 1), "face 1 of model 0, which has no area and is left out".to_owned()),
        (face(0, 2), "face 2 of model 0, which no triangle comes from".to_owned()),
        (face(1, 0), "face 0 of model 1, which no triangle comes from".to_owned()),
        (face(u32::MAX, u32::MAX), "which no triangle comes from".to_owned()),
        (SurfacePlace::Triangle { triangle: 0, position: [f64::NAN; 3] }, "NaN".to_owned()),
        (SurfacePlace::Near([f64::INFINITY, 0.0, 0.0]), "inf".to_owned()),
    ];
    for (place, part) in of_nothing {
        let faults = [
            ("start", surface.path(place, at, &PathOptions::default()).unwrap_err()),
            ("goal", surface.path(at, place, &PathOptions::default()).unwrap_err()),
            ("point", surface.locate(place).unwrap_err()),
            ("start", surface.raycast(place, [1.0, 0.0, 0.0], 1.0).unwrap_err()),
            ("start", surface.move_along(place, [1.0, 0.0, 0.0]).unwrap_err()),
            ("point", surface.distance_to_wall(place).unwrap_err()),
            ("source", surface.field(place).unwrap_err()),
            ("goal", surface.field(at).unwrap().path(place).unwrap_err()),
        ];
        for (name, error) in faults {
            let message = error.to_string();
            assert!(message.starts_with(name) && message.contains(&part), "{place:?}: {message}");
        }
        let queries = [[at.into(), at.into()], [SurfacePlace::Near(at), place]];
        match surface.paths(&queries, &SurfaceMethod::Exact.into()) {
            Err(error @ Error::Value { at: Location::Query(1), .. }) => {
                assert!(error.to_string().contains(&part), "{error}");
            }
            other => panic!("{other:?}"),
        }
    }
    // A named triangle that is not walkable is off the mesh, whatever lies beside it.
    for triangle in 0..count as u32 {
        surface.set_walkable(triangle, triangle != 0).unwrap();
    }
    let path = surface.path(triangle(0), at, &PathOptions::default()).unwrap();
    assert_eq!(path.reach, Reach::Off { end: PathEnd::Start, nearest: None, distance: f64::INFINITY });
    let path = surface.path(at, triangle(0), &PathOptions::default()).unwrap();
    assert_eq!(path.reach, Reach::Off { end: PathEnd::Goal, nearest: None, distance: f64::INFINITY });
    assert!(surface.locate(triangle(0)).unwrap().is_none());
    assert!(surface.raycast(triangle(0), [1.0, 0.0, 0.0], 1.0).unwrap().is_none());
    assert!(surface.path(face(0, 0), at, &PathOptions::default()).unwrap().is_reached());
}

#[test]
fn a_place_beside_the_triangle_that_it_names_is_moved_onto_it() {
    let surface = Surface::new(&[sheet([0.0; 3], [4, 1], &[])], SurfaceOptions::default()).unwrap();
    let face = SurfacePlace::from((ModelFace { model: 0, face: 0 }, [3.5, 0.5, 1.0]));
    let path = surface.path(face, [3.5, 0.5, 0.0], &PathOptions::default()).unwrap();
    assert!(near(path.length, 2.5) && near(path.snaps[0], 2.5f64.hypot(1.0)) && path.snaps[1] == 0.0);
    assert_eq!(surface.locate(face).unwrap().unwrap().position, [1.0, 0.5, 0.0]);
    let surface = with_max_snap(&surface, 2.0);
    let path = surface.path(face, [3.5, 0.5, 0.0], &PathOptions::default()).unwrap();
    let Reach::Off { end: PathEnd::Start, nearest: Some(nearest), distance } = path.reach else {
        panic!("{path:?}")
    };
    assert!(near(nearest.distance, 2.5f64.hypot(1.0)) && distance == nearest.distance);
    // So it is not located, but has a nearest point.
    assert_eq!(surface.locate(face).unwrap(), None);
    assert_eq!(surface.nearest_point(face).unwrap().unwrap().position, [1.0, 0.5, 0.0]);
}

#[test]
fn triangles_are_found_by_their_faces() {
    let surface = two_sheets();
    let mut count = 0;
    for model in 0..3 {
        for face in 0..60 {
            let own = surface.triangles_of(ModelFace { model, face });
            assert!(
                own.is_sorted() && own.iter().all(|&t| surface.source(t) == Some(ModelFace { model, face }))
            );
            count += own.len();
        }
    }
    assert_eq!(count, surface.triangles().len());
}

/// The number of connected parts of the walkable triangles that are nearest to a position, by brute force over all triangles and shared
/// vertices.
fn parts(surface: &Surface, points: &[[f64; 3]], position: [f64; 3]) -> usize {
    let triangles = surface.triangles();
    let off = |corners: &[u32; 3]| off_triangle(corners.map(|vertex| points[vertex as usize]), position);
    let offs: Vec<f64> = triangles.iter().map(off).collect();
    let least = offs.iter().copied().fold(f64::INFINITY, f64::min);
    let size = points.as_flattened().iter().chain(&position).fold(0.0, |most: f64, at| most.max(at.abs()));
    let mut left: Vec<usize> = (0..triangles.len()).filter(|&t| offs[t] <= least + 3e-13 * size).collect();
    let mut count = 0;
    while let Some(first) = left.pop() {
        count += 1;
        let mut stack = vec![first];
        while let Some(one) = stack.pop() {
            let shares = |other: &usize| {
                triangles[*other].iter().filter(|vertex| triangles[one].contains(vertex)).count() == 2
            };
            let (more, rest) = left.iter().partition(|other| shares(other));
            left = rest;
            stack.extend::<Vec<usize>>(more);
        }
    }
    count
}

#[test]
fn ambiguity_agrees_with_brute_force() {
    let mut surfaces = vec![two_sheets()];
    surfaces.extend(
        ["wallhole.obj", "dungeon.obj", "fan3.obj", "moebius.obj", "nav_test.obj"]
            .into_iter()
            .filter_map(|name| Some(Surface::new(&[obj(name)?.1], SurfaceOptions::default()).unwrap())),
    );
    let mut told = 0;
    for surface in &surfaces {
        let points: Vec<[f64; 3]> = surface.vertices().collect();
        let mut random = Random::xorshift(11);
        let mut positions: Vec<[f64; 3]> = Vec::new();
        for i in 0..120 {
            let triangle = surface.triangles()[(random.unit() * surface.triangles().len() as f64) as usize];
            let [a, b, _] = triangle.map(|vertex| points[vertex as usize]);
            let on = random.on(surface);
            positions.push(match i % 4 {
                0 => a,
                1 => std::array::from_fn(|k| 0.5 * (a[k] + b[k])),
                2 => on,
                _ => std::array::from_fn(|k| on[k] + 0.3 * (random.unit() - 0.5)),
            });
        }
        for position in positions {
            let found = surface.locate_all(position).unwrap();
            assert_eq!(found.first().copied(), surface.locate(position).unwrap());
            assert_eq!(found.len(), parts(surface, &points, position), "{position:?} {found:?}");
            told += usize::from(found.len() > 1);
            let same =
                |path: SurfacePath| assert!(path.is_reached() && path.length < 1e-9, "{position:?} {path:?}");
            for &point in &found {
                same(surface.path(point, point, &PathOptions::default()).unwrap());
            }
        }
    }
    assert!(told > 20, "only {told} positions were ambiguous");
}

/// Where a position is on one surface, naming a triangle changes nothing.
#[test]
fn a_name_changes_no_path_where_there_is_one_surface() {
    for name in ["dungeon.obj", "wallhole.obj", "nav_test.obj"] {
        let Some((_, model)) = obj(name) else { return };
        let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
        let mut random = Random::xorshift(3);
        for _ in 0..60 {
            let [start, goal] = [random.on(&surface), random.on(&surface)];
            let path = surface.path(start, goal, &SurfaceMethod::Exact.into()).unwrap();
            if path.ambiguous != [false; 2] {
                continue;
            }
            let place = |end: [f64; 3]| {
                let found = surface.locate(end).unwrap().unwrap();
                SurfacePlace::from((surface.source(found.triangle).unwrap(), end))
            };
            let named = surface.path(place(start), place(goal), &SurfaceMethod::Exact.into()).unwrap();
            assert_eq!(named.is_reached(), path.is_reached(), "{name} {start:?} {goal:?}");
            assert!(
                !path.is_reached() || near(named.length, path.length),
                "{name} {} {}",
                named.length,
                path.length
            );
        }
    }
}
