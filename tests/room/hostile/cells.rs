//! Meshes of cells that are not quite convex, not usable, or not readable.

use hullfield::navigate::room::{Options as RoomOptions, Room};
use hullfield_oracle::random::Random;
use hullfield_oracle::rooms::Rings;
use hullfield_oracle::seed;

use crate::hostile::{Ring, SQUARE, every_method};

#[test]
fn cells_that_rounding_left_not_quite_convex_are_cut() {
    // A rotated strip of squares: on each long side several corners are collinear, of which rounding makes some jut in by an ulp.
    let mut random = Random::new(seed(47));
    let mut cut = 0;
    for k in 0..400 {
        let (sin, cos) = random.between(0.0, 6.3).sin_cos();
        let turned = |x: f64, y: f64| [cos * x - sin * y, sin * x + cos * y];
        // Two cells of six corners, one above the other, that share half an edge.
        let mut points: Ring = Vec::new();
        for y in 0..3 {
            points.extend((0..4).map(|x| turned(f64::from(x), f64::from(y))));
        }
        let cells: [&[u32]; 2] = [&[0, 1, 2, 3, 7, 6, 5, 4], &[5, 6, 7, 11, 10, 9]];
        let Ok(room) = Room::from_cells(&points, &cells, RoomOptions::default()) else {
            panic!("{k}: a cell is refused that is convex within rounding");
        };
        cut += usize::from(room.cell_count() > 2);
        let rings = Rings { rings: vec![[0, 1, 2, 3, 7, 11, 10, 9, 5, 4].map(|v| points[v]).to_vec()] };
        for _ in 0..8 {
            let (a, b) = (rings.random_point(&mut random), rings.random_point(&mut random));
            let truth = rings.shortest(a, b);
            let paths = every_method(&room, a, b);
            assert!(
                (paths[0].length - truth).abs() <= 1e-9 * truth.max(1e-3),
                "{k}: {a:?} {b:?} {paths:?} {truth}"
            );
            assert!(
                paths.iter().all(|path| path.length >= truth * (1.0 - 1e-12)),
                "{k}: {a:?} {b:?} {paths:?}"
            );
        }
    }
    assert!(cut > 50, "{cut}");
}

#[test]
fn cells_that_can_not_be_used_are_refused() {
    let points: Ring = vec![[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [3.0, 1.0], [9.0, 9.0]];
    let build = |cells: &[&[u32]]| Room::from_cells(&points, cells, RoomOptions::default());
    for (cells, part) in [
        (&[&[0, 3, 2, 1][..]][..], "counter-clockwise"),
        (&[&[0, 1, 4, 3]], ""),
        (&[&[0, 1, 2, 4]], "not convex"),
        (&[&[0, 1]], "2 corners were given, a polygon needs three"),
        (&[&[]], "0 corners were given, a polygon needs three"),
        (&[&[0, 1, 6]], "vertex 6 does not exist, there are 6"),
        (&[&[0, 1, 2], &[0, 1, 3]], "they overlap"),
        (&[&[0, 1, 2, 3, 0, 1, 2, 3]], "more than once"),
        (&[&[0, 2, 5]], "some area"),
        (&[], "the mesh has no cells"),
    ] {
        match build(cells) {
            Ok(_) => assert_eq!(part, "", "{cells:?}"),
            Err(error) => {
                let error = error.to_string();
                let is_named = error.starts_with("polygon ") || cells.is_empty();
                assert!(is_named && error.contains(part), "{error}");
            }
        }
    }
}

#[test]
fn mesh_files_that_can_not_be_read_are_refused_with_the_line() {
    let good = "mesh\n2\n3 1\n0 0 1 0\n1 0 1 0\n0 1 1 0\n3 0 1 2 -1 -1 -1\n";
    assert!(Room::from_polyanya_mesh(good, RoomOptions::default()).is_ok());
    for (text, expected) in [
        ("", "line 1: the text ends where the word mesh should be"),
        ("grid\n2\n", "line 1: a mesh file begins with the word mesh"),
        ("mesh\n1\n", "line 2: the version is 1, only 2 is read"),
        ("mesh\ntwo\n", "line 2: \"two\" is not a version"),
        ("mesh\n2\n3 -1\n", "line 3: \"-1\" is not the number of polygons"),
        (
            "mesh\n2\n3 1\n0 nan 1 0\n",
            "line 4: vertex 0 has the coordinate NaN, it must be 0 or from 1e-42 to 1e60",
        ),
        ("mesh\n2\n3 1\n0 0 1 0\n1 x 1 0\n", "line 5: \"x\" is not a coordinate"),
        ("mesh\n2\n999999999999 1\n0 0 1 0\n", "line 4: the text ends where a coordinate should be"),
        ("mesh\n2\n3 1\n0 0 999999999 0\n", "line 4: the text ends where a polygon's index should be"),
        (&good.replace("3 0 1 2", "3 0 1 3"), "line 7: polygon 0: vertex 3 does not exist, there are 3"),
        (&good.replace("3 0 1 2", "2 0 1 2"), "line 7: polygon 0 has 2 vertices, it needs three"),
        (&good.replace("-1 -1 -1", "-1 -1 7"), "polygon 7 is named across the edge"),
        (&format!("{good}9\n"), "line 8: \"9\" after the last polygon"),
    ] {
        let error = Room::from_polyanya_mesh(text, RoomOptions::default()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\ninstead of {expected}");
    }
}

#[test]
fn doors_in_the_options_are_refused_for_a_room_of_cells() {
    let options = RoomOptions { doors: vec![[[1.0, 0.0], [1.0, 1.0]]], ..RoomOptions::default() };
    let error = Room::from_cells(&SQUARE, &[[0, 1, 2, 3]], options.clone()).unwrap_err().to_string();
    assert!(error.starts_with("1 doors were given") && error.contains("Room::add_door"), "{error}");
    let text = "mesh 2  3 1  0 0 1 0  1 0 1 0  0 1 1 0  3 0 1 2 -1 -1 -1";
    assert!(Room::from_polyanya_mesh(text, options).is_err());
}
