//! Faces of many corners: their triangles cover them and nothing else, and paths over one equal those in a room of its shape.

use hullfield::navigate::room::{Method, Options as RoomOptions, Room};
use hullfield::navigate::surface::{
    Method as SurfaceMethod, Model, ModelFace, Options as SurfaceOptions, Surface,
};
use hullfield_oracle::random::Random;

use crate::models::check::{checked, cross, dot, length, minus};

type Flat = [f64; 2];

/// A plane in space: its origin, and two perpendicular axes of equal length.
#[derive(Clone, Copy)]
struct Plane {
    origin: [f64; 3],
    axes: [[f64; 3]; 2],
}

impl Plane {
    fn at(&self, [u, v]: Flat) -> [f64; 3] {
        [0, 1, 2].map(|k| self.origin[k] + u * self.axes[0][k] + v * self.axes[1][k])
    }

    fn normal(&self) -> [f64; 3] {
        let normal = cross(self.axes[0], self.axes[1]);
        normal.map(|part| part / length(normal))
    }
}

/// Axis-aligned planes, which round nothing, in all six directions, and tilted ones.
fn planes() -> Vec<Plane> {
    let unit = |k: usize, sign: f64| {
        let mut axis = [0.0; 3];
        axis[k] = sign;
        axis
    };
    let mut planes = Vec::new();
    for k in 0..3 {
        for sign in [1.0, -1.0] {
            planes.push(Plane { origin: [0.0; 3], axes: [unit((k + 1) % 3, sign), unit((k + 2) % 3, 1.0)] });
        }
    }
    let mut random = Random::xorshift(77);
    for _ in 0..6 {
        let mut part = || random.unit() - 0.5;
        let (a, b) = ([part(), part(), part()], [part(), part(), part()]);
        let normal = cross(a, b);
        let across = cross(normal, a);
        let axes = [a, across].map(|axis| axis.map(|part| part / length(axis)));
        planes.push(Plane { origin: [3.0 * part(), 3.0 * part(), 3.0 * part()], axes });
    }
    planes
}

fn area(outline: &[Flat]) -> f64 {
    let after = outline.iter().cycle().skip(1);
    outline.iter().zip(after).map(|(a, b)| a[0] * b[1] - a[1] * b[0]).sum::<f64>() / 2.0
}

/// The model of one face, with its corners in order.
fn face(points: Vec<[f64; 3]>) -> Model {
    let corners: Vec<u32> = (0..points.len() as u32).collect();
    Model::polygons(points, [corners])
}

fn lifted(outline: &[Flat], plane: &Plane) -> Vec<[f64; 3]> {
    outline.iter().map(|&at| plane.at(at)).collect()
}

/// The areas of the triangles along a normal.
fn areas(surface: &Surface, normal: [f64; 3]) -> Vec<f64> {
    let vertices: Vec<[f64; 3]> = surface.vertices().collect();
    let of = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|vertex| vertices[vertex as usize]);
        0.5 * dot(cross(minus(b, a), minus(c, a)), normal)
    };
    surface.triangles().iter().map(of).collect()
}

/// Counter-clockwise outlines, by name.
fn shapes() -> Vec<(&'static str, Vec<Flat>)> {
    let l = vec![[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    let u =
        vec![[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [2.0, 3.0], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
    let dart = vec![[0.0, 0.0], [2.0, 1.0], [0.0, 2.0], [0.5, 1.0]];
    let circle = |radius: f64, turn: f64| [radius * turn.cos(), radius * turn.sin()];
    let star = (0..14)
        .map(|i| circle(if i % 2 == 0 { 3.0 } else { 0.7 }, std::f64::consts::TAU * f64::from(i) / 14.0))
        .collect();
    let arm = |width: f64, i: i32| {
        let turn = 0.35 * f64::from(i);
        circle(0.3 + 0.25 * turn + width, turn)
    };
    let spiral = (0..55).map(|i| arm(0.6, i)).chain((0..55).rev().map(|i| arm(0.0, i))).collect();
    let mut comb = vec![[0.0, 0.0], [20.0, 0.0]];
    for i in (0..10).rev() {
        let x = f64::from(2 * i);
        comb.extend([[x + 1.0, 5.0], [x + 1.0, 1.0], [x, 1.0]]);
        comb[2 + 3 * (9 - i as usize)][0] += 0.25;
    }
    let notched = vec![[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [2.5, 3.0], [2.0, 1e-9], [1.5, 3.0], [0.0, 3.0]];
    // Collinear corners, along straight sides and at the reflex corner.
    let straight = vec![
        [0.0, 0.0],
        [1.0, 0.0],
        [2.0, 0.0],
        [3.0, 0.0],
        [3.0, 0.5],
        [3.0, 1.0],
        [2.0, 1.0],
        [1.0, 1.0],
        [1.0, 2.0],
        [1.0, 3.0],
        [0.5, 3.0],
        [0.0, 3.0],
        [0.0, 2.0],
        [0.0, 1.0],
    ];
    vec![
        ("L", l),
        ("U", u),
        ("dart", dart),
        ("star", star),
        ("spiral", spiral),
        ("comb", comb),
        ("notched", notched),
        ("straight", straight),
    ]
}

/// Each shape from every corner on, in every plane, in both orientations.
#[test]
fn concave_faces_are_covered_by_triangles_of_one_orientation() {
    for (name, outline) in shapes() {
        let expected = area(&outline);
        assert!(expected > 0.0, "{name}");
        for plane in planes() {
            for first in 0..outline.len() {
                for is_turned in [false, true] {
                    let mut corners = outline.clone();
                    corners.rotate_left(first);
                    if is_turned {
                        corners.reverse();
                    }
                    let surface =
                        Surface::new(&[face(lifted(&corners, &plane))], SurfaceOptions::default()).unwrap();
                    let report = surface.report();
                    assert_eq!(report.not_simple, [], "{name} from {first}");
                    assert_eq!(report.unused_count, 0, "{name} from {first}");
                    if report.zero_area.is_empty() {
                        assert_eq!(surface.triangles().len(), outline.len() - 2, "{name} from {first}");
                    }
                    let sign = if is_turned { -1.0 } else { 1.0 };
                    let areas = areas(&surface, plane.normal());
                    let sum: f64 = areas.iter().sum();
                    assert!((sum * sign - expected).abs() < 1e-13 * expected, "{name} from {first}: {sum}");
                    // Rounding may give a needle of three collinear corners either orientation.
                    let least = areas.iter().fold(f64::INFINITY, |least, &area| least.min(area * sign));
                    assert!(least > -1e-14 * expected, "{name} from {first}: {least}");
                    for triangle in 0..surface.triangles().len() as u32 {
                        assert_eq!(surface.source(triangle), Some(ModelFace { model: 0, face: 0 }));
                    }
                    assert_eq!(report.island_count, 1, "{name} from {first}");
                    assert_eq!((report.turned_edge_count, report.non_manifold_edge_count), (0, 0));
                }
            }
        }
    }
}

/// From one arm of a U to the other.
#[test]
fn a_path_over_a_concave_face_stays_on_it() {
    let (_, outline) = shapes().swap_remove(1);
    for plane in planes() {
        for first in 0..outline.len() {
            let mut corners = outline.clone();
            corners.rotate_left(first);
            let surface = Surface::new(&[face(lifted(&corners, &plane))], SurfaceOptions::default()).unwrap();
            let [from, to] = [[0.5, 3.0], [2.5, 3.0]].map(|at| plane.at(at));
            let path = surface.path(from, to, &SurfaceMethod::Exact.into()).unwrap();
            let expected = 1.0 + 2.0 * 0.5f64.hypot(2.0);
            assert!((checked(&surface, &path, 5.0) - expected).abs() < 1e-12, "{}", path.length);
        }
    }
}

/// Faces that their fan covers become that fan, although another triangulation would do as well.
#[test]
fn convex_faces_and_those_that_a_fan_covers_stay_fans() {
    let fan = |count: u32| (1..count - 1).map(|i| [0, i, i + 1]).collect::<Vec<[u32; 3]>>();
    let mut random = Random::xorshift(5);
    for plane in planes() {
        for count in 4..40 {
            let mut turns: Vec<f64> = (0..count).map(|_| random.unit() * std::f64::consts::TAU).collect();
            turns.sort_by(f64::total_cmp);
            let outline: Vec<Flat> = turns.iter().map(|turn| [turn.cos(), 2.0 * turn.sin()]).collect();
            let surface = Surface::new(&[face(lifted(&outline, &plane))], SurfaceOptions::default()).unwrap();
            assert_eq!(surface.triangles(), fan(count), "{count}");
            assert_eq!(surface.report().not_simple, []);
        }
        // The fan of a dart from its reflex corner is good, and so is that of a star from its middle.
        let dart = [[0.5, 1.0], [0.0, 0.0], [2.0, 1.0], [0.0, 2.0]];
        let surface = Surface::new(&[face(lifted(&dart, &plane))], SurfaceOptions::default()).unwrap();
        assert_eq!(surface.triangles(), fan(4));
    }
    // Nearly a full turn around the first corner.
    let mouth: Vec<Flat> = std::iter::once([0.0, 0.0])
        .chain((0..12).map(|i| [(0.3 + 0.5 * f64::from(i)).cos(), (0.3 + 0.5 * f64::from(i)).sin()]))
        .collect();
    for plane in planes() {
        let surface = Surface::new(&[face(lifted(&mouth, &plane))], SurfaceOptions::default()).unwrap();
        assert_eq!(surface.triangles(), fan(13));
        assert_eq!(surface.report().not_simple, []);
    }
}

/// In a tilted plane, rounding puts corners in the middle of a side on either side of it.
#[test]
fn corners_in_the_sides_of_a_convex_face_change_nothing() {
    for plane in planes() {
        for (width, height) in [(1.0, 1.0), (3.0, 0.1), (1e-3, 7.0)] {
            let mut outline = Vec::new();
            let corners = [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]];
            for (i, from) in corners.iter().enumerate() {
                let to = corners[(i + 1) % 4];
                for step in 0..5 {
                    let part = f64::from(step) / 5.0;
                    outline.push([0, 1].map(|k| from[k] + part * (to[k] - from[k])));
                }
            }
            let surface = Surface::new(&[face(lifted(&outline, &plane))], SurfaceOptions::default()).unwrap();
            assert_eq!(surface.report().not_simple, []);
            assert!((surface.area() - width * height).abs() < 1e-13);
            let [from, to] = [[0.1 * width, 0.2 * height], [0.9 * width, 0.7 * height]];
            let straight = (0.8 * width).hypot(0.5 * height);
            let path = surface.path(plane.at(from), plane.at(to), &SurfaceMethod::Exact.into()).unwrap();
            assert!((path.length - straight).abs() < 1e-12 * straight, "{} {straight}", path.length);
        }
    }
}

/// A random simple polygon: a tour through random points, uncrossed until no crossing is left.
fn simple_outline(count: usize, random: &mut Random) -> Vec<Flat> {
    let side = |a: Flat, b: Flat, c: Flat| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let crosses = |a: Flat, b: Flat, c: Flat, d: Flat| {
        side(a, b, c) * side(a, b, d) < 0.0 && side(c, d, a) * side(c, d, b) < 0.0
    };
    let mut tour: Vec<Flat> = (0..count).map(|_| [random.unit(), random.unit()]).collect();
    loop {
        let mut is_done = true;
        for i in 0..count {
            for k in i + 2..count {
                let [a, b, c, d] = [i, i + 1, k, (k + 1) % count].map(|at| tour[at]);
                if crosses(a, b, c, d) {
                    // The tour becomes shorter, so this ends.
                    tour[i + 1..=k].reverse();
                    is_done = false;
                }
            }
        }
        if is_done {
            return tour;
        }
    }
}

#[test]
fn paths_over_one_face_are_those_in_a_room_of_its_shape() {
    let mut random = Random::xorshift(2026);
    let none: [[Flat; 0]; 0] = [];
    let planes = planes();
    let (mut count, mut worst) = (0, 0.0f64);
    for round in 0..60 {
        let corner_count = [5, 8, 12, 20, 50, 200][round % 6];
        let mut outline = simple_outline(corner_count, &mut random);
        if round % 4 == 0 {
            outline.reverse();
        }
        let room = Room::new(&outline, &none, RoomOptions::default()).unwrap();
        assert!(room.repairs().is_empty());
        let plane = planes[round % planes.len()];
        let surface = Surface::new(&[face(lifted(&outline, &plane))], SurfaceOptions::default()).unwrap();
        assert_eq!(surface.report().not_simple, []);
        assert!((surface.area() - room.area()).abs() < 1e-12, "{} {}", surface.area(), room.area());
        for _ in 0..20 {
            let [from, to] = [0, 1]
                .map(|_| room.random_point([0, 1, 2].map(|_| random.unit())).unwrap().unwrap().position);
            let in_room = room.path(from, to, &Method::Optimal.into()).unwrap();
            assert!(in_room.is_reached());
            let path = surface.path(plane.at(from), plane.at(to), &SurfaceMethod::Exact.into()).unwrap();
            let off = (checked(&surface, &path, 4.0) - in_room.length).abs() / in_room.length;
            assert!(off < 1e-9, "{corner_count} corners: {} {}", path.length, in_room.length);
            worst = worst.max(off);
            count += 1;
        }
    }
    println!("{count} paths, none further from the room's than {worst:e} of its length");
}

/// Every corner is a little off the plane.
#[test]
fn nearly_flat_faces_are_cut_like_flat_ones() {
    let mut random = Random::xorshift(31);
    for (name, outline) in shapes() {
        for plane in planes() {
            // A face whose corners are off by more than the width of a notch is not a planar polygon.
            let lifts = if name == "notched" { &[1e-15, 1e-12][..] } else { &[1e-15, 1e-9, 1e-3, 2e-2] };
            for &lift in lifts {
                let normal = plane.normal();
                let points: Vec<[f64; 3]> = outline
                    .iter()
                    .map(|&at| {
                        let off = lift * (random.unit() - 0.5);
                        let at = plane.at(at);
                        [0, 1, 2].map(|k| at[k] + off * normal[k])
                    })
                    .collect();
                let surface = Surface::new(&[face(points)], SurfaceOptions::default()).unwrap();
                assert_eq!(surface.report().not_simple, [], "{name} {lift}");
                let areas = areas(&surface, normal);
                let sum: f64 = areas.iter().sum();
                assert!((sum - area(&outline)).abs() < 1e-12, "{name} {lift}: {sum}");
                assert!(areas.iter().all(|&area| area > -1e-13), "{name} {lift}");
            }
        }
    }
}

/// Corners off the plane close a gap as seen along an axis, but not as seen along the normal.
#[test]
fn a_gap_narrower_than_its_corners_are_off_the_plane_stays_open() {
    let slit: Vec<Flat> = vec![
        [0.0, 0.0],
        [4.0, 0.0],
        [4.0, 3.0],
        [2.002, 3.0],
        [2.001, 1.0],
        [1.999, 1.0],
        [1.998, 3.0],
        [0.0, 3.0],
    ];
    let tilt = [[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]].map(|axis| axis.map(|part| part / length(axis)));
    let plane = Plane { origin: [0.0; 3], axes: tilt };
    let normal = plane.normal();
    let mut found_closed = 0;
    for signs in 0..256u32 {
        let lifted = |(i, &at): (usize, &Flat)| {
            let off = if signs >> i & 1 == 1 { 5e-3 } else { -5e-3 };
            let at = plane.at(at);
            [0, 1, 2].map(|k| at[k] + off * normal[k])
        };
        let points: Vec<[f64; 3]> = slit.iter().enumerate().map(lifted).collect();
        // The mouth of the gap, as seen along the projection axis.
        let mouth = |at: [f64; 3]| at[0] - at[1];
        found_closed += usize::from(mouth(points[3]) < mouth(points[6]));
        let surface = Surface::new(&[face(points)], SurfaceOptions::default()).unwrap();
        assert_eq!(surface.report().not_simple, [], "{signs:b}");
        assert!((areas(&surface, normal).iter().sum::<f64>() - area(&slit)).abs() < 1e-3);
    }
    println!("{found_closed}");
}

/// The same face from the smallest to the largest size of a surface, and far from the origin.
#[test]
fn concave_faces_of_any_size_and_place_are_cut_alike() {
    let (_, outline) = shapes().swap_remove(4);
    let plain = Surface::new(&[face(lifted(&outline, &planes()[0]))], SurfaceOptions::default()).unwrap();
    for exponent in [-220, -130, -40, 40, 130, 240] {
        let scale = 2.0f64.powi(exponent);
        let points =
            lifted(&outline, &planes()[0]).into_iter().map(|at| at.map(|part| part * scale)).collect();
        let surface = Surface::new(&[face(points)], SurfaceOptions::default()).unwrap();
        assert_eq!(surface.triangles(), plain.triangles(), "2^{exponent}");
    }
    for far in [1e6, 1e10, 1e13] {
        let points = lifted(&outline, &planes()[0]).into_iter().map(|at| at.map(|part| part + far)).collect();
        let surface = Surface::new(&[face(points)], SurfaceOptions::default()).unwrap();
        assert_eq!(surface.report().not_simple, [], "{far}");
        let off = (surface.area() - area(&outline)).abs();
        assert!(off < 1e-14 * far, "{far}: {off}");
    }
}

#[test]
fn a_bow_tie_is_reported_and_stays_a_fan() {
    // With equal halves, with one larger half, and with a fan that does not turn over but goes around twice.
    let even = vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]];
    let uneven = vec![[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 3.0]];
    let circle = |turn: f64| [turn.cos(), turn.sin()];
    let twice: Vec<Flat> =
        std::iter::once([0.05, 0.02]).chain((0..7).map(|i| circle(1.5 * f64::from(i)))).collect();
    let pentagram: Vec<Flat> =
        (0..5).map(|i| circle(std::f64::consts::TAU * f64::from(2 * i) / 5.0)).collect();
    for plane in planes() {
        for outline in [&even, &uneven, &twice, &pentagram] {
            let good = Model::polygons(
                vec![[9.0, 9.0, 9.0], [10.0, 9.0, 9.0], [9.0, 10.0, 9.0], [10.0, 10.0, 9.0]],
                [[0, 1, 3, 2]],
            );
            let surface =
                Surface::new(&[good, face(lifted(outline, &plane))], SurfaceOptions::default()).unwrap();
            assert_eq!(surface.report().not_simple, [ModelFace { model: 1, face: 0 }]);
            let fan: Vec<[u32; 3]> = (1..outline.len() as u32 - 1).map(|i| [4, 4 + i, 5 + i]).collect();
            assert_eq!(surface.triangles()[2..], fan);
        }
    }
}

/// A square with a square hole, joined by a cut back and forth, as programs write faces with holes.
#[test]
fn a_hole_joined_by_a_cut_stays_a_hole() {
    let points: Vec<Flat> =
        vec![[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [1.0, 1.0], [1.0, 3.0], [3.0, 3.0], [3.0, 1.0]];
    let corners: [u32; 10] = [0, 1, 2, 3, 0, 4, 5, 6, 7, 4];
    let room = Room::new(&points[..4], &[&points[4..]], RoomOptions::default()).unwrap();
    let mut random = Random::xorshift(8);
    for plane in planes() {
        for first in 0..corners.len() {
            let mut corners = corners;
            corners.rotate_left(first);
            let surface = Surface::new(
                &[Model::polygons(lifted(&points, &plane), [corners])],
                SurfaceOptions::default(),
            )
            .unwrap();
            assert!((surface.area() - 12.0).abs() < 1e-12, "{}", surface.area());
            assert_eq!(surface.report().not_simple, [ModelFace { model: 0, face: 0 }]);
            assert_eq!((surface.report().island_count, surface.report().boundary_edge_count), (1, 8));
            let [from, to] = [0, 1]
                .map(|_| room.random_point([0, 1, 2].map(|_| random.unit())).unwrap().unwrap().position);
            let path = surface.path(plane.at(from), plane.at(to), &SurfaceMethod::Exact.into()).unwrap();
            let expected = room.path(from, to, &Method::Optimal.into()).unwrap().length;
            assert!((checked(&surface, &path, 8.0) - expected).abs() < 1e-9 * expected);
        }
    }
}

/// An outline that only touches itself becomes the triangles of what it winds around.
#[test]
fn faces_that_touch_themselves_are_reported_and_cover_only_their_inside() {
    let touching: Vec<(&str, Vec<Flat>, Vec<u32>, f64)> = vec![
        // A spike out of a square, and one into it.
        (
            "spike out",
            vec![[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0], [1.0, 5.0], [0.0, 2.0]],
            vec![0, 1, 2, 3, 4, 3, 5],
            4.0,
        ),
        (
            "spike in",
            vec![[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [1.0, 2.0], [1.0, 1.0], [0.0, 2.0]],
            vec![0, 1, 2, 3, 4, 3, 5],
            4.0,
        ),
        // Two squares that share a corner, of the same and of opposite orientation.
        (
            "alike",
            vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]],
            vec![0, 1, 2, 4, 5, 6, 2, 3],
            2.0,
        ),
        (
            "against",
            vec![[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]],
            vec![0, 1, 2, 6, 5, 4, 2, 3],
            2.0,
        ),
        // A corner that lies within a side.
        (
            "within a side",
            vec![[0.0, 0.0], [4.0, 0.0], [4.0, 3.0], [2.0, 0.0], [0.0, 3.0]],
            vec![0, 1, 2, 3, 4],
            6.0,
        ),
        // The same with four corners: a triangle, and a spike along the line of one of its sides.
        (
            "within a side, four corners",
            vec![[0.0, 5.0], [0.0, 0.0], [3.0, 0.0], [0.0, 2.0]],
            vec![0, 1, 2, 3],
            3.0,
        ),
    ];
    for (name, points, corners, expected) in touching {
        // In a tilted plane, rounding puts a corner within a side on either side of it.
        for plane in planes().into_iter().take(if name.starts_with("within a side") { 6 } else { 99 }) {
            for first in 0..corners.len() {
                let mut corners = corners.clone();
                corners.rotate_left(first);
                let model = Model::polygons(lifted(&points, &plane), [&corners]);
                let surface = Surface::new(&[model], SurfaceOptions::default()).unwrap();
                assert_eq!(surface.report().not_simple, [ModelFace { model: 0, face: 0 }], "{name} {first}");
                let area = surface.area();
                assert!((area - expected).abs() < 1e-12, "{name} from {first}: {area}");
            }
        }
    }
}

#[test]
fn faces_that_cover_nothing_have_no_triangles() {
    let points = vec![
        [0.0, 0.0, 0.0],
        [1.0, 0.0, 0.0],
        [1.0, 1.0, 0.0],
        [5.0, 5.0, 5.0],
        [6.0, 5.0, 5.0],
        [5.0, 6.0, 5.0],
    ];
    // Back and forth along two sides of a triangle.
    let faces: [&[u32]; 2] = [&[0, 1, 2, 1], &[3, 4, 5]];
    let surface = Surface::new(&[Model::polygons(points.clone(), faces)], SurfaceOptions::default()).unwrap();
    assert_eq!(surface.triangles().len(), 1);
    assert_eq!(surface.report().not_simple, [ModelFace { model: 0, face: 0 }]);
    let alone = Surface::new(&[Model::polygons(points.clone(), [&[0, 1, 2, 1]])], SurfaceOptions::default());
    assert!(alone.as_ref().is_err_and(|error| error.to_string().contains("of 1 faces none")), "{alone:?}");
    // All corners are collinear: reported as zero area.
    let line = (0..5).map(|i| [f64::from(i * i), f64::from(i * i), 0.0]).collect();
    let alone = Surface::new(&[face(line)], SurfaceOptions::default());
    assert!(alone.as_ref().is_err_and(|error| error.to_string().contains("of 1 faces none")), "{alone:?}");
}

#[test]
fn repeated_corners_are_one() {
    let (_, outline) = shapes().swap_remove(0);
    let plane = planes()[7];
    let points = lifted(&outline, &plane);
    let single =
        Surface::new(&[Model::polygons(points.clone(), [[4, 5, 0, 1, 2, 3]])], SurfaceOptions::default())
            .unwrap();
    let double = Surface::new(
        &[Model::polygons(points, [[4, 4, 5, 0, 0, 0, 1, 2, 3, 3, 4]])],
        SurfaceOptions::default(),
    )
    .unwrap();
    assert_eq!(single.triangles(), double.triangles());
    assert_eq!(double.report().not_simple, []);
    assert_eq!(double.report().collapsed, [ModelFace { model: 0, face: 0 }; 5]);
}

/// Concave floors and ceilings between walls: all sides meet, and all orientations agree.
#[test]
fn a_solid_with_concave_faces_is_closed() {
    for (name, outline) in shapes() {
        let count = outline.len() as u32;
        for plane in planes() {
            let normal = plane.normal();
            let floor = lifted(&outline, &plane);
            let ceiling = floor.iter().map(|at| [0, 1, 2].map(|k| at[k] + normal[k]));
            let points: Vec<[f64; 3]> = floor.iter().copied().chain(ceiling).collect();
            let mut faces: Vec<Vec<u32>> = vec![(0..count).rev().collect(), (count..2 * count).collect()];
            for i in 0..count {
                let next = (i + 1) % count;
                faces.push(vec![i, next, count + next, count + i]);
            }
            let surface = Surface::new(&[Model::polygons(points, faces)], SurfaceOptions::default()).unwrap();
            let report = surface.report();
            assert_eq!((report.boundary_edge_count, report.island_count), (0, 1), "{name}");
            assert_eq!((report.non_manifold_edge_count, report.turned_edge_count), (0, 0), "{name}");
        }
    }
}

/// The time is not quadratic in the corners: 60,000 would take minutes.
#[test]
fn a_comb_of_thousands_of_teeth_is_cut() {
    let teeth = 20_000;
    let mut outline = vec![[0.0, 0.0], [2.0 * f64::from(teeth), 0.0]];
    for i in (0..teeth).rev() {
        let x = 2.0 * f64::from(i);
        outline.extend([[x + 1.25, 5.0], [x + 1.0, 1.0], [x, 1.0]]);
    }
    let surface = Surface::new(&[face(lifted(&outline, &planes()[8]))], SurfaceOptions::default()).unwrap();
    let expected = area(&outline);
    assert!((surface.area() - expected).abs() < 1e-9 * expected);
    assert_eq!(surface.report().not_simple, []);
}
