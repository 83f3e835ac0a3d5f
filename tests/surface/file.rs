//! Surfaces saved and loaded: every answer is the same bit for bit, and any bytes give one clear error or a surface.

use std::ops::ControlFlow;

use hullfield::navigate::surface::{
    Link as SurfaceLink, LoadOptions, Method as SurfaceMethod, Model, Options as SurfaceOptions, Place,
    Surface,
};
use hullfield::{Error, Location};
use hullfield_oracle::extent;
use hullfield_oracle::random::Random;

use crate::models::{cube, moebius, obj, terrain, with_max_snap};

type Point = [f64; 3];

/// The hash of the format, implemented independently.
fn hash(bytes: &[u8]) -> u64 {
    let mut hash = 14_695_981_039_346_656_037u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211);
    }
    hash
}

/// Adds a correct checksum.
fn sealed(mut content: Vec<u8>) -> Vec<u8> {
    let sum = hash(&content);
    content.extend(sum.to_le_bytes());
    content
}

/// A model that puts something into every list of the report: a dart, a duplicate, a triangle without area.
fn odd() -> Model {
    let points = vec![
        [0.0, 0.0, 0.0],
        [2.0, 1.0, 0.0],
        [0.5, 0.0, 0.0],
        [2.0, -1.0, 0.0],
        [1.0, 1.0, 1.0],
        [4.0, 2.0, 0.0],
        [9.0; 3],
    ];
    let faces: Vec<Vec<u32>> = vec![
        vec![3, 2, 1, 0],
        vec![2, 5, 3, 1], // crosses itself
        vec![0, 1, 4],
        vec![4, 0, 1],
        vec![0, 0, 1],
        vec![0, 1, 5],
    ];
    Model::polygons(points, faces)
}

fn same(name: &str, surface: &Surface) {
    let bytes = surface.to_bytes();
    let again = Surface::from_bytes(&bytes, LoadOptions::default()).unwrap();
    assert_eq!(again.to_bytes(), bytes, "{name}");
    assert_eq!(again.report(), surface.report(), "{name}");
    assert!(again.vertices().eq(surface.vertices()) && again.triangles() == surface.triangles());
    assert!(again.edges() == surface.edges() && again.links() == surface.links());
    assert_eq!((again.bounds(), again.area().to_bits()), (surface.bounds(), surface.area().to_bits()));
    for t in 0..surface.triangles().len() as u32 {
        assert_eq!((again.source(t), again.island(t)), (surface.source(t), surface.island(t)));
        assert_eq!((again.is_walkable(t), again.normal(t)), (surface.is_walkable(t), surface.normal(t)));
    }
    let [low, high] = surface.bounds();
    let mut random = Random::xorshift(9);
    let mut part = || random.below(1000) as f64 / 1000.0;
    for i in 0..40 {
        let [a, b]: [Point; 2] =
            std::array::from_fn(|_| std::array::from_fn(|k| low[k] + (high[k] - low[k]) * part()));
        let method = [SurfaceMethod::Funnel, SurfaceMethod::default(), SurfaceMethod::Exact][i % 3];
        assert_eq!(
            again.path(a, b, &method.into()).unwrap(),
            surface.path(a, b, &method.into()).unwrap(),
            "{name}"
        );
        assert_eq!(again.locate(a).unwrap(), surface.locate(a).unwrap());
        assert_eq!(again.move_along(a, b).unwrap(), surface.move_along(a, b).unwrap());
        assert_eq!(again.distance_to_wall(a).unwrap(), surface.distance_to_wall(a).unwrap());
        let uniform = [part(), part(), part()];
        assert_eq!(again.random_point(uniform).unwrap(), surface.random_point(uniform).unwrap());
    }
    println!("{name}: {:.1} bytes a triangle", bytes.len() as f64 / surface.triangles().len() as f64);
}

fn everything() -> Surface {
    let options = SurfaceOptions { interval: Some(0.7), ..SurfaceOptions::default() };
    let models = [
        terrain(5, 4),
        cube().with_transform([[1.0, 0.0, 0.0, 9.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]),
    ];
    let mut surface = Surface::build(&models, options, |_| ControlFlow::Continue(())).unwrap();
    surface.set_walkable_where(|triangle, _| triangle % 5 != 2);
    let link = SurfaceLink { from: [3.0, 3.0, 0.0], to: [9.5, 0.5, 1.0], cost: 0.25, two_way: true };
    surface.set_links(&[link, SurfaceLink { two_way: false, cost: 0.0, ..link }]).unwrap();
    with_max_snap(&surface, 7.5)
}

#[test]
fn a_loaded_surface_is_the_saved_one() {
    same("everything", &everything());
    same("odd", &Surface::new(&[odd()], SurfaceOptions::default()).unwrap());
    let report = Surface::new(&[odd()], SurfaceOptions::default()).unwrap().report().clone();
    assert!(!report.not_simple.is_empty() && !report.collapsed.is_empty());
    assert!(!report.duplicates.is_empty() && !report.zero_area.is_empty() && report.unused_count > 0);
    same("moebius", &Surface::new(&[moebius(20)], SurfaceOptions::default()).unwrap());
    for name in ["spot.obj", "nav_test.obj", "dungeon.obj", "wallhole.obj", "suzanne.obj", "teapot.obj"] {
        let Some((_, model)) = obj(name) else { return };
        same(name, &Surface::new(&[model], SurfaceOptions::default()).unwrap());
    }
}

/// The layout as it is documented, byte by byte.
#[test]
fn the_layout_is_as_documented() {
    let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.5]];
    let bytes = Surface::new(&[Model::triangles(points.clone(), &[[0, 1, 2]])], SurfaceOptions::default())
        .unwrap()
        .to_bytes();
    let mut expected = b"hullsurf".to_vec();
    for word in [1u32, 3, 1, 0, 0, 0, 0, 0] {
        expected.extend(word.to_le_bytes());
    }
    expected.extend([0u64, 0].iter().flat_map(|count| count.to_le_bytes()));
    expected.extend(f64::INFINITY.to_le_bytes());
    expected.extend(points.iter().flatten().flat_map(|part| part.to_le_bytes()));
    expected.extend([0u32, 1, 2, 0, 0].iter().flat_map(|part| part.to_le_bytes()));
    expected.push(1);
    assert_eq!(bytes, sealed(expected));
}

#[test]
fn damage_is_detected() {
    let bytes = everything().to_bytes();
    for end in (0..bytes.len()).step_by(7).chain(0..100) {
        assert!(
            matches!(
                Surface::from_bytes(&bytes[..end], LoadOptions::default()),
                Err(Error::Invalid { at: Location::Byte(_), .. })
            ),
            "{end}"
        );
    }
    for at in (0..bytes.len()).step_by(5).chain(0..100) {
        let mut bad = bytes.clone();
        bad[at] ^= 1 << (at % 8);
        assert!(
            matches!(
                Surface::from_bytes(&bad, LoadOptions::default()),
                Err(Error::Invalid { at: Location::Byte(_), .. })
            ),
            "{at}"
        );
    }
    let mut long = bytes.clone();
    long.push(0);
    assert!(Surface::from_bytes(&long, LoadOptions::default()).is_err());
    let old = |version: u32| {
        let mut content = bytes[..bytes.len() - 8].to_vec();
        content[8..12].copy_from_slice(&version.to_le_bytes());
        Surface::from_bytes(&sealed(content), LoadOptions::default()).unwrap_err().to_string()
    };
    assert_eq!(old(2), "byte 8: its version is 2, only 1 is read");
    assert_eq!(
        Surface::from_bytes(b"hullsur", LoadOptions::default()).unwrap_err().to_string(),
        "byte 7: it ends within its header"
    );
}

/// Bytes with a correct checksum and wrong contents: an error that says where, or a surface whose queries end.
#[test]
fn hostile_bytes_are_refused_or_harmless() {
    let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.5], [4.0, 4.0, 1.0]];
    let small = Surface::new(&[Model::triangles(points, &[[0, 1, 2], [2, 1, 3]])], SurfaceOptions::default())
        .unwrap();
    let mut linked = small.clone();
    let link = SurfaceLink { from: [0.0; 3], to: [4.0, 4.0, 1.0], cost: 1.0, two_way: true };
    linked.set_links(&[link]).unwrap();
    let bytes = linked.to_bytes();
    let content = &bytes[..bytes.len() - 8];
    // Points begin at 64, triangles at 160, sources at 184, flags at 200, the link at 201.
    let put = |at: usize, new: &[u8]| {
        let mut content = content.to_vec();
        content[at..at + new.len()].copy_from_slice(new);
        Surface::from_bytes(&sealed(content), LoadOptions::default())
    };
    for (at, new, said) in [
        (12, &u32::MAX.to_le_bytes()[..], "4294967295 points"),
        (16, &0u32.to_le_bytes(), "0 triangles"),
        (16, &u32::MAX.to_le_bytes(), "4294967295 triangles"),
        (20, &u32::MAX.to_le_bytes(), "its counts need"),
        (24, &u32::MAX.to_le_bytes(), "its counts need"),
        (56, &f64::NAN.to_le_bytes(), "max_snap is"),
        (56, &(-1.0f64).to_le_bytes(), "max_snap is"),
        (64, &f64::NAN.to_le_bytes(), "point 0"),
        (88, &1e80f64.to_le_bytes(), "point 1"),
        (160, &4u32.to_le_bytes(), "triangle 0 names the point 4"),
        (172, &1u32.to_le_bytes(), "triangle 1 has two corners"),
        (200, &[7], "flags"),
        (201, &f64::INFINITY.to_le_bytes(), "link 0"),
        (249, &(-1.0f64).to_le_bytes(), "link 0"),
        (249, &f64::NAN.to_le_bytes(), "link 0"),
        (257, &[2], "link 0"),
    ] {
        let error = put(at, new).unwrap_err();
        let Error::Invalid { ref message, .. } = error else { panic!("{error}") };
        assert!(message.contains(said), "{at}: {message}");
    }
    // Two points at one place.
    assert!(put(88, &[0; 24]).unwrap_err().to_string().contains("two corners in one place"));
    let mut random = Random::xorshift(33);
    let (mut good, mut bad) = (0, 0);
    let count = extent(3000, 6000);
    for _ in 0..count {
        let mut content = content.to_vec();
        for _ in 0..1 + random.below(3) {
            let at = 8 + random.below(content.len() - 8);
            content[at] = random.bits() as u8;
        }
        match Surface::from_bytes(&sealed(content), LoadOptions::default()) {
            Ok(surface) => {
                good += 1;
                for method in [SurfaceMethod::Funnel, SurfaceMethod::Exact] {
                    surface.path([0.1, 0.1, 0.0], [3.0, 3.5, 0.9], &method.into()).unwrap();
                }
                surface.move_along([0.1, 0.1, 0.0], [1.0, 2.0, 0.0]).unwrap();
                surface.distance_to_wall([1.0, 1.0, 0.0]).unwrap();
                surface.random_point([0.5; 3]).unwrap();
                // Points of a file need not be welded: a value belongs to a vertex all the same.
                let rows: Vec<Vec<f64>> = (0..4)
                    .map(|vertex| surface.field(Place::Vertex(vertex)).unwrap().at_vertices())
                    .collect();
                for (a, b) in (0..4).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    let [there, back] = [rows[a][b], rows[b][a]];
                    let is_same = there == back || (there - back).abs() <= 1e-9 * there.max(back);
                    let is_cut_off = rows[a][a].is_infinite() || rows[b][b].is_infinite();
                    assert!(is_same || is_cut_off, "{a}, {b}: {there} {back}");
                }
            }
            Err(error) => {
                bad += 1;
                assert!(matches!(error, Error::Invalid { at: Location::Byte(_), .. }), "{error}");
            }
        }
    }
    eprintln!("{count} saved surfaces: {good} loaded, {bad} refused");
    assert!(good > count / 10 && bad > count / 10, "{good} {bad}");
}
