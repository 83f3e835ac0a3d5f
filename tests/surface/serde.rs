//! The feature `serde`: surfaces, options and paths, written and read again.

use hullfield::navigate::surface::{
    BuildProgress, BuildStage, Link, LoadOptions, Method, Model, ModelFace, Options, Path, PathOptions,
    Place, Surface,
};

use crate::models::{cube, moebius, terrain};
use crate::wire::{all_refused, comes_back, damage_is_survived, there_and_back};

#[test]
fn surfaces_come_back_as_their_saved_bytes_do() {
    for model in [cube(), moebius(20), terrain(9, 3)] {
        let options = Options { weld: 1e-9, max_snap: Some(0.5), ..Options::default() };
        let mut surface = Surface::new(&[model], options).unwrap();
        surface.set_walkable(1, false).unwrap();
        let corners: Vec<[f64; 3]> = surface.vertices().collect();
        surface.set_links(&[Link { from: corners[0], to: corners[3], cost: 0.1, two_way: true }]).unwrap();
        for back in there_and_back(&surface) {
            assert_eq!(back.to_bytes(), surface.to_bytes());
            let options = PathOptions::from(Method::Exact);
            let path = surface.path(corners[0], corners[5], &options).unwrap();
            assert_eq!(back.path(corners[0], corners[5], &options).unwrap(), path);
            comes_back(&path);
        }
        comes_back(&surface.links().to_vec());
        comes_back(surface.report());
    }
}

#[test]
fn bytes_that_are_no_surface_are_refused_in_the_words_of_from_bytes() {
    all_refused::<Surface>(&[
        ("[]", "byte 0: it ends within its header"),
        ("[104, 117, 108]", "byte"),
        ("[1, 2, 3, 4, 5, 6, 7, 8, 9]", "it does not begin with the word hullsurf"),
        ("[256]", "invalid value"),
        ("{}", "expected the bytes of a surface"),
    ]);
    let surface = Surface::new(&[cube()], Options::default()).unwrap();
    let text = serde_json::to_string(&surface).unwrap();
    let damaged = text.replacen(",0,", ",1,", 3);
    all_refused::<Surface>(&[(&damaged, "byte")]);
    damage_is_survived(&surface, 5);
}

#[test]
fn options_places_and_rows_of_a_surface_come_back() {
    assert_eq!(serde_json::from_str::<Options>("{}").unwrap(), Options::default());
    assert_eq!(serde_json::from_str::<LoadOptions>("{}").unwrap(), LoadOptions::default());
    assert_eq!(serde_json::from_str::<PathOptions>("{}").unwrap(), PathOptions::default());
    all_refused::<Options>(&[
        (r#"{"max_snaps": 1}"#, "unknown field"),
        (r#"{"weld": null}"#, "invalid type: null"),
    ]);
    all_refused::<LoadOptions>(&[(r#"{"weld": 1}"#, "unknown field")]);
    all_refused::<PathOptions>(&[
        (r#"{"method": {"geodesic": {"tolerance": null}}}"#, "invalid type: null"),
        (r#"{"method": {"geodesic": {}}}"#, "missing field `tolerance`"),
    ]);
    all_refused::<Link>(&[(
        r#"{"from": [0,0,0], "to": [0,0,1], "cost": 1, "twoway": true}"#,
        "unknown field",
    )]);
    for snap in [None, Some(0.0), Some(0.1), Some(f64::INFINITY)] {
        comes_back(&Options { weld: 1e-300, interval: Some(0.3), max_snap: snap, landmarks: true });
        comes_back(&LoadOptions { max_snap: snap, landmarks: false });
    }
    for tolerance in [0.0, 1e-3, f64::INFINITY] {
        comes_back(&PathOptions { method: Method::Geodesic { tolerance }, to_nearest: true });
    }
    assert_eq!(serde_json::to_string(&Method::Funnel).unwrap(), r#""funnel""#);
    let (face, position) = (ModelFace { model: 1, face: 2 }, [0.1, 0.2, 0.3]);
    let places = [Place::Near(position), Place::Vertex(3), Place::Face { face, position }];
    for place in places.into_iter().chain([Place::Triangle { triangle: u32::MAX, position }]) {
        comes_back(&place);
    }
    comes_back(&BuildProgress { stage: BuildStage::Landmarks, done: 1, total: 2 });

    // Two squares apart: no path, infinitely long.
    let square = |x: f64| vec![[x, 0.0, 0.0], [x + 2.0, 0.0, 0.0], [x + 2.0, 2.0, 0.0], [x, 2.0, 0.0]];
    let models = [0.0, 3.0].map(|x| Model::polygons(square(x), [[0, 1, 2, 3]]));
    let surface = Surface::new(&models, Options { max_snap: Some(0.1), ..Options::default() }).unwrap();
    let ends = [[1.0, 1.0, 0.0], [1.5, 0.1, 0.0], [4.0, 1.0, 0.0], [1.0, 1.0, 9.0]];
    let queries = [1, 2, 3].map(|k| [ends[0], ends[k]]);
    let found = surface.paths(&queries, &PathOptions::default()).unwrap();
    let lengths: Vec<bool> = found.rows.iter().map(|path: &Path| path.length.is_finite()).collect();
    assert_eq!(lengths, [true, false, false]);
    comes_back(&found);
    let costs = vec![1.0; surface.triangles().len()];
    for end in [ends[1], ends[2]] {
        comes_back(&surface.path_by_costs(ends[0], end, &costs).unwrap());
    }
    comes_back(&found.rows[0].at(0.3));
    comes_back(&surface.locate(ends[1]).unwrap());
    comes_back(&surface.raycast(ends[0], [1.0, 0.2, 0.0], 9.0).unwrap());
    comes_back(&surface.distance_to_wall(ends[1]).unwrap());
}
