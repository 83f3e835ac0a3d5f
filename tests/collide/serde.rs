//! The feature `serde`: hulls, bodies, rows and options, written and read again.

use hullfield::Engine;
use hullfield::collide::{
    Arena, Bodies, Body, BodyId, BodyPair, BodyRef, Contact, ContactOptions, Distance, DistanceOptions,
    Estimate, Gradient, GradientOptions, Hull, Intersection, Manifold, ManifoldOptions, Motion,
    NearestOptions, Options, PairEvent, Pairs, Plane, PointOptions, Pose, Precision, Query, Ray, RayOptions,
    ShapeCast, ShapeCastOptions, Stats, Status, Sweep, SweepOptions, SweepOutcome,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::scenes;

use crate::wire::{all_refused, comes_back, damage_is_survived, refused, there_and_back};

/// Hulls of all kinds and sizes, flat ones, rounded ones and a half-space.
fn hulls() -> Vec<Hull> {
    let mut random = Random::new(7);
    let mut hulls = Vec::new();
    for (k, size) in [1.0, 1e-5, 1e5, 1e-30, 1e30].into_iter().enumerate() {
        for set in scenes::convex_sets(26, size, 40 + k as u64) {
            let shift = if size == 1.0 { [1e4, -3e3, 0.1] } else { [0.0; 3] };
            let moved: Vec<[f32; 3]> =
                set.iter().map(|p| [p[0] + shift[0], p[1] + shift[1], p[2] + shift[2]]).collect();
            let hull = Hull::from_points(&moved).unwrap();
            hulls.push(hull.rounded(random.unit() as f32).unwrap());
        }
    }
    hulls.extend([
        Hull::ball(0.25).unwrap(),
        Hull::capsule([0.0; 3], [0.1, 0.2, 0.3], 0.7).unwrap(),
        Hull::triangle([[0.0; 3], [1.0, 0.0, 0.0], [0.3, 0.9, -0.1]]).unwrap(),
        Hull::cuboid([1.0, 0.0, 0.1]).unwrap(),
        Hull::cylinder([0.0; 3], [0.2, 0.4, 0.1], 0.3, 48).unwrap(),
        Hull::cone([0.0; 3], [0.2, 0.4, 0.1], 0.3, 33).unwrap(),
        Hull::from_points(&[[-0.0, 0.1, 0.2]]).unwrap(),
        Hull::half_space(),
        Hull::half_space().rounded(0.5).unwrap(),
    ]);
    let many: Vec<[f32; 3]> = (0..600)
        .map(|_| {
            let [x, y, z] = random.direction().to_array();
            [x as f32, y as f32, z as f32]
        })
        .collect();
    let ball = Hull::from_points(&many).unwrap();
    hulls.push(ball.simplify(60).unwrap().0);
    hulls.push(ball);
    hulls
}

/// Everything about a hull, bit for bit.
fn bits(hull: &Hull) -> impl PartialEq + std::fmt::Debug + use<> {
    let faces: Vec<Vec<u32>> = hull.faces().map(<[u32]>::to_vec).collect();
    let plane =
        |plane: Plane| [plane.normal[0], plane.normal[1], plane.normal[2], plane.offset].map(f64::to_bits);
    (
        hull.vertices().iter().map(|v| v.map(f32::to_bits)).collect::<Vec<_>>(),
        (hull.dimension(), faces, hull.edges().collect::<Vec<_>>()),
        hull.planes().map(plane).collect::<Vec<_>>(),
        (hull.mean().map(f64::to_bits), hull.radius().to_bits(), hull.rounding().to_bits()),
    )
}

#[test]
fn hulls_of_every_kind_come_back_bit_for_bit() {
    for hull in hulls() {
        for back in there_and_back(&hull) {
            assert_eq!(bits(&back), bits(&hull));
            assert_eq!(back, hull);
        }
    }
}

#[test]
fn a_hull_is_its_vertices_and_its_rounding() {
    let text = serde_json::to_string(&Hull::capsule([0.0; 3], [0.5, 0.0, 1.0], 0.25).unwrap()).unwrap();
    assert_eq!(text, r#"{"vertices":[[0.0,0.0,0.0],[0.5,0.0,1.0]],"rounding":0.25,"half_space":false}"#);
    // By hand: any points, and what is left out is as usual.
    let cube =
        r#"{"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[1,1,0],[1,0,1],[0,1,1],[1,1,1],[0.5,0.5,0.5]]}"#;
    let hull: Hull = serde_json::from_str(cube).unwrap();
    assert_eq!((hull.vertices().len(), hull.faces().len(), hull.rounding()), (8, 6, 0.0));
}

#[test]
fn a_hull_that_its_constructors_refuse_is_refused_in_their_words() {
    all_refused::<Hull>(&[
        (r#"{"vertices": []}"#, "a hull needs at least one"),
        (r#"{"vertices": [[0,0,1e300]]}"#, "number out of range"),
        (r#"{"vertices": [[0,0,0],[0,null,1]]}"#, "invalid type: null"),
        (r#"{"vertices": [[0,0,"NaN"]]}"#, "expected f32"),
        (r#"{"vertices": [[0,0]]}"#, "invalid length 2"),
        (r#"{"vertices": [[0,0,0,0]]}"#, "trailing characters"),
        (
            r#"{"vertices": [[0,0,0]], "rounding": -0.5}"#,
            "radius is -0.5, it must be finite and zero or more",
        ),
        (r#"{"vertices": [[0,0,0]], "rounding": 1e300}"#, "number out of range"),
        (r#"{"vertices": [[0,0,0],[1e-40,0,0]]}"#, "bounding radius"),
        (r#"{"vertices": [[-3e38,0,0],[3e38,0,0]]}"#, "bounding radius"),
        (r#"{"vertices": [[0,1,0]], "half_space": true}"#, "the only vertex of a half-space is the origin"),
        (r#"{"vertices": [], "half_space": true}"#, "the only vertex of a half-space is the origin"),
        (r#"{"vertices": [[0,0,0]], "roundness": 1}"#, "unknown field `roundness`"),
        (r#"{"rounding": 1}"#, "missing field `vertices`"),
        (r#"{"vertices": [[0,0,0]], "faces": [[0,1,7]]}"#, "unknown field `faces`"),
        ("[]", "invalid length 0"),
        ("7", "invalid type"),
    ]);
    let cube = Hull::cuboid([0.5; 3]).unwrap();
    damage_is_survived(&cube, 1);
    // Numbers that JSON can't hold.
    for number in [f32::NAN, f32::INFINITY] {
        let mut bytes = postcard::to_stdvec(&cube).unwrap();
        bytes[1..5].copy_from_slice(&number.to_le_bytes());
        assert!(postcard::from_bytes::<Hull>(&bytes).is_err());
    }
}

#[test]
fn bodies_poses_and_motions_come_back() {
    let mut random = Random::new(3);
    for _ in 0..200 {
        let mut number = |size: f64| (random.between(-1.0, 1.0) * size) as f32;
        let position = [number(1e6), number(1e-3), number(1.0)];
        let motion =
            Motion { velocity: [number(9.0), number(1e-9), 0.1], angular_velocity: [0.1, number(1.0), -0.0] };
        comes_back(&motion);
        let body = Body {
            padding: number(1.0).abs(),
            group: random.bits(),
            mask: random.bits(),
            scale: [0.3, 7.0, random.unit() as f32 + 0.1],
            ..Body::new(random.bits()).at(position).rotated(random.rotation())
        };
        comes_back(&body);
        comes_back(&body.pose());
    }
}

#[test]
fn what_is_left_out_of_a_body_is_as_a_new_body_has_it() {
    let body: Body = serde_json::from_str(r#"{"hull": 3, "position": [1, 2, 3]}"#).unwrap();
    assert_eq!(body, Body::new(3).at([1.0, 2.0, 3.0]));
    assert_eq!(serde_json::from_str::<Pose>("{}").unwrap(), Pose::IDENTITY);
    assert_eq!(serde_json::from_str::<Motion>("{}").unwrap(), Motion::default());
}

#[test]
fn a_body_that_queries_refuse_is_refused_in_their_words() {
    let numbers = [
        (
            r#""position": [0, 1e30, 0]"#,
            "position is [0.0, 1e30, 0.0], each must be finite and at most 1e18 in magnitude",
        ),
        (r#""position": [0, 1e300, 0]"#, "number out of range"),
        (r#""position": [0, null, 0]"#, "invalid type: null"),
        (
            r#""rotation": [0, 0, 0, 0.99]"#,
            "rotation is [0.0, 0.0, 0.0, 0.99], it must be a unit quaternion to within 1e-3",
        ),
        (r#""rotation": [0, 0, 0, 0]"#, "unit quaternion"),
        (r#""scale": [1, 0, 1]"#, "scale is [1.0, 0.0, 1.0], each must be above zero and at most 1e18"),
        (r#""scale": [1, -1, 1]"#, "each must be above zero"),
        (r#""positon": [0, 0, 0]"#, "unknown field `positon`"),
    ];
    for (text, part) in numbers {
        all_refused::<Body>(&[(&format!(r#"{{"hull": 0, {text}}}"#), part)]);
        all_refused::<Pose>(&[(&format!("{{{text}}}"), part)]);
    }
    all_refused::<Body>(&[
        (r#"{"hull": 0, "padding": -1}"#, "padding is -1.0, it must be from 0 to 1e18"),
        (r#"{"hull": -1}"#, "invalid value: integer `-1`"),
        (r#"{"hull": 4294967296}"#, "invalid value"),
        (r#"{"position": [0, 0, 0]}"#, "missing field `hull`"),
    ]);
    let body = Body::new(1).at([1.0, 2.0, 3.0]);
    damage_is_survived(&body, 2);
    for off in [Body { padding: f32::NAN, ..body }, body.at([f32::NAN; 3]), body.rotated([f32::NAN; 4])] {
        assert!(postcard::from_bytes::<Body>(&postcard::to_stdvec(&off).unwrap()).is_err(), "{off:?}");
    }
}

#[test]
fn rows_and_statistics_of_every_query_come_back() {
    let hulls: Vec<Hull> =
        scenes::convex_sets(13, 1.0, 5).iter().map(|set| Hull::from_points(set).unwrap()).collect();
    let mut random = Random::new(11);
    let bodies: Vec<Body> = (0..60)
        .map(|k| {
            let at = [0; 3].map(|_| random.between(-2.0, 2.0) as f32);
            Body::new(k % 13).at(at).rotated(random.rotation())
        })
        .collect();
    let motions: Vec<Motion> = (0..60)
        .map(|_| Motion { velocity: [0; 3].map(|_| random.between(-1.0, 1.0) as f32), ..Motion::default() })
        .collect();
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    // The same scene after a journey.
    let [there, _] = there_and_back(&(hulls.clone(), bodies.clone()));
    let other = Arena::new(&Engine::cpu(), &there.0, Options::default()).unwrap();

    let all = Pairs::Exhaustive;
    let found =
        arena.intersections(&bodies, Pairs::Given(&[[0, 1], [5, 2], [7, 9]])).unwrap().wait().unwrap();
    comes_back::<hullfield::collide::Batch<Intersection>>(&found);
    comes_back(&arena.intersections(&bodies, all).unwrap().wait().unwrap());
    let found = arena.distances(&bodies, all, &DistanceOptions::default()).unwrap().wait().unwrap();
    assert!(
        found.rows.iter().any(|row: &Distance| row.points.is_none() && row.status == Status::Penetrating)
    );
    comes_back(&found);
    let contacts = arena.contacts(&bodies, all, &ContactOptions { margin: 0.5 }).unwrap().wait().unwrap();
    comes_back(&contacts);
    let again = other.contacts(&there.1, all, &ContactOptions { margin: 0.5 }).unwrap().wait().unwrap();
    let bits =
        |row: &Contact| (row.a, row.b, row.status, row.separation.to_bits(), row.normal.map(f64::to_bits));
    assert_eq!(
        contacts.rows.iter().map(bits).collect::<Vec<_>>(),
        again.rows.iter().map(bits).collect::<Vec<_>>()
    );
    let found = arena.manifolds(&bodies, all, &ManifoldOptions { margin: 0.5 }).unwrap().wait().unwrap();
    assert!(found.rows.iter().any(|row: &Manifold| row.point_count > 1));
    comes_back(&found);
    let found = arena.gradients(&bodies, all, &GradientOptions { margin: 0.5 }).unwrap().wait().unwrap();
    assert!(found.rows.iter().any(|row: &Gradient| row.degeneracy.is_some()));
    comes_back(&found);
    let options = SweepOptions { duration: 2.0, witness: true };
    let given: Vec<[u32; 2]> = (1..60).map(|k| [0, k]).collect();
    let found = arena.sweeps(&bodies, &motions, Pairs::Given(&given), &options).unwrap().wait().unwrap();
    for outcome in [SweepOutcome::Hit, SweepOutcome::Miss, SweepOutcome::Touching] {
        assert!(found.rows.iter().any(|row: &Sweep| row.outcome == outcome), "{outcome:?}");
    }
    comes_back(&found);
    let rays: Vec<Ray> = bodies.iter().map(|body| Ray::new(body.position, [0.5, -1.0, 0.1])).collect();
    let found = arena.raycasts(&bodies, &rays, &RayOptions { skip_start: true }).unwrap().wait().unwrap();
    assert!(found.rows.iter().any(|row| row.hit.is_some()));
    comes_back(&found);
    comes_back(&arena.raycasts_all(&bodies, &rays, &RayOptions::default()).unwrap().wait().unwrap());
    comes_back(&arena.occlusions(&bodies, &rays, &RayOptions::default()).unwrap().wait().unwrap());
    let points: Vec<[f32; 3]> = bodies.iter().map(|body| body.position).collect();
    comes_back(&arena.nearest_points(&bodies, &points, &PointOptions::default()).unwrap().wait().unwrap());
    comes_back(&arena.containments(&bodies, &points).unwrap().wait().unwrap());
    let casts: Vec<ShapeCast> = bodies.iter().map(|&body| ShapeCast::new(body, [0.5, -1.0, 0.1])).collect();
    comes_back(&casts);
    let options = ShapeCastOptions { skip_start: true, witness: true };
    let found = arena.shape_casts(&bodies, &casts, &options).unwrap().wait().unwrap();
    assert!(found.rows.iter().any(|row| row.hit.is_some_and(|hit| hit.points.is_some())));
    comes_back(&found);
    comes_back(&arena.shape_casts_all(&bodies, &casts, &options).unwrap().wait().unwrap());
    comes_back(&arena.shape_casts_any(&bodies, &casts, &options).unwrap().wait().unwrap());
    comes_back(&arena.nearest_bodies(&bodies, &NearestOptions::default()).unwrap().wait().unwrap());
    comes_back(&arena.hits(&bodies).unwrap().wait().unwrap());
    comes_back(&arena.trace(&bodies[0], &bodies[1]).unwrap());
    comes_back::<Estimate>(&arena.estimate(Query::Intersections, bodies.len(), &all));
}

/// Ids, pairs and events of a set; an id is checked when it is used.
#[test]
fn ids_and_events_come_back() {
    let statics = vec![Body::new(0).at([3.0, 0.0, 0.0])];
    let options = Options { statics, ..Options::default() };
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(1.0).unwrap()], options).unwrap();
    let mut bodies = Bodies::new(&arena);
    let first = bodies.insert(Body::new(0), ()).unwrap();
    bodies.remove(first).unwrap();
    let ids = [0.0, 1.5].map(|x| bodies.insert(Body::new(0).at([x, 0.0, 0.0]), ()).unwrap());
    let text = serde_json::to_string(&[BodyRef::Body(ids[0]), BodyRef::Static(4)]).unwrap();
    assert_eq!(text, r#"[{"body":{"index":0,"generation":1}},{"static":4}]"#);
    let found = bodies.contacts(&ContactOptions::default()).unwrap().wait().unwrap();
    assert_eq!(found.rows.len(), 2);
    comes_back::<Vec<BodyPair<Contact>>>(&found.rows);
    let events = bodies.events(&found).unwrap();
    comes_back::<Vec<PairEvent>>(&events);
    let text = serde_json::to_string(&events[1]).unwrap();
    assert_eq!(text, r#"{"a":{"index":1,"generation":0},"b":{"static":0},"phase":"begin"}"#);
    let read: BodyId = serde_json::from_str(r#"{"index":0,"generation":1}"#).unwrap();
    assert!(
        bodies.contains(read)
            && !bodies.contains(serde_json::from_str(r#"{"index":0,"generation":7}"#).unwrap())
    );
    all_refused::<BodyId>(&[
        (r#"{"index":0}"#, "missing field `generation`"),
        (r#"{"index":-1,"generation":0}"#, "invalid value"),
        (r#"{"index":0,"generation":0,"set":1}"#, "unknown field `set`"),
    ]);
}

#[test]
fn a_row_has_the_names_of_its_fields_and_small_letters_for_its_variants() {
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5).unwrap()], Options::default()).unwrap();
    let bodies = [Body::new(0), Body::new(0).at([3.0, 0.0, 0.0]), Body::new(0).at([0.5, 0.0, 0.0])];
    let pairs = Pairs::Given(&[[0, 1], [0, 2]]);
    let rows = arena.intersections(&bodies, pairs).unwrap().wait().unwrap().rows;
    let text = serde_json::to_string(&rows).unwrap();
    let wanted = r#"[{"a":0,"b":1,"part_a":0,"part_b":0,"status":"separated","axis":[1.0,-0.0,-0.0]},{"a":0,"b":2,"part_a":0,"part_b":0,"status":"penetrating","axis":null}]"#;
    assert_eq!(text, wanted);
    // Rows without parts are of hulls, and fields that a later version adds do not keep this one from reading.
    let earlier = r#"{"a":0,"b":1,"status":"touching","axis":null}"#;
    let row = serde_json::from_str::<Intersection>(earlier).unwrap();
    assert_eq!((row.part_a, row.part_b), (0, 0));
    let later = r#"{"a":0,"b":1,"status":"touching","axis":null,"part_a":7,"shade":3}"#;
    assert_eq!(serde_json::from_str::<Intersection>(later).unwrap().part_a, 7);
    all_refused::<Intersection>(&[
        (r#"{"a":0,"b":1,"status":"Touching","axis":null}"#, "unknown variant `Touching`"),
        (r#"{"a":0,"b":1,"axis":null}"#, "missing field `status`"),
        (r#"{"a":-1,"b":1,"status":"touching","axis":null}"#, "invalid value"),
    ]);
    assert_eq!(serde_json::from_str::<Stats>("{}").unwrap(), Stats::default());
    assert_eq!(serde_json::to_string(&Query::EncodedContacts).unwrap(), r#""encoded_contacts""#);
}

#[test]
fn options_that_are_left_out_are_the_default_and_none_is_misspelt_in_silence() {
    assert_eq!(serde_json::from_str::<Options>("{}").unwrap(), Options::default());
    assert_eq!(serde_json::from_str::<DistanceOptions>("{}").unwrap(), DistanceOptions::default());
    assert_eq!(serde_json::from_str::<ContactOptions>("{}").unwrap(), ContactOptions::default());
    assert_eq!(serde_json::from_str::<ManifoldOptions>("{}").unwrap(), ManifoldOptions::default());
    assert_eq!(serde_json::from_str::<SweepOptions>("{}").unwrap(), SweepOptions::default());
    let options: Options =
        serde_json::from_str(r#"{"precision": "exact", "statics": [{"hull": 1}]}"#).unwrap();
    assert_eq!(
        options,
        Options { precision: Precision::Exact, statics: vec![Body::new(1)], ..Options::default() }
    );
    comes_back(&options);
    comes_back(&SweepOptions { duration: 0.1, witness: true });
    comes_back(&PointOptions::default());
    comes_back(&Ray::new([0.0; 3], [1.0, 2.0, 3.0]).up_to(4.0).grouped(1, 2));
    let ray: Ray = serde_json::from_str(r#"{"origin": [1, 2, 3], "direction": [0, 0, 1]}"#).unwrap();
    assert_eq!(ray, Ray::new([1.0, 2.0, 3.0], [0.0, 0.0, 1.0]));
    comes_back(&ray);
    let bad = refused::<Ray>(r#"{"origin": [1, 2, 3], "direction": [0, 0, 0]}"#);
    assert!(bad.contains("direction is"), "{bad}");
    comes_back(&NearestOptions::default());
    let cast: ShapeCast = serde_json::from_str(r#"{"body": {"hull": 3}, "direction": [0, 0, 1]}"#).unwrap();
    assert_eq!(cast, ShapeCast::new(Body::new(3), [0.0, 0.0, 1.0]));
    comes_back(&cast.up_to(2.0));
    let bad = refused::<ShapeCast>(r#"{"body": {"hull": 3}, "direction": [0, 0, 0]}"#);
    assert!(bad.contains("direction is"), "{bad}");
    for error in [
        refused::<Options>(r#"{"warmstart": true}"#),
        refused::<DistanceOptions>(r#"{"Margin": 1}"#),
        refused::<ContactOptions>(r#"{"margins": 1}"#),
        refused::<ManifoldOptions>(r#"{"margin ": 1}"#),
        refused::<SweepOptions>(r#"{"time": 1}"#),
        refused::<RayOptions>(r#"{"skip": true}"#),
        refused::<PointOptions>(r#"{"max": 1}"#),
        refused::<ShapeCastOptions>(r#"{"skip": true}"#),
        refused::<NearestOptions>(r#"{"k": 1}"#),
        refused::<Motion>(r#"{"speed": [0, 0, 0]}"#),
    ] {
        assert!(error.contains("unknown field"), "{error}");
    }
    let bad = refused::<Options>(r#"{"statics": [{"hull": 0}, {"hull": 1, "rotation": [0, 0, 0, 2]}]}"#);
    assert!(bad.contains("unit quaternion"), "{bad}");
}

#[test]
fn an_infinite_margin_is_a_word_in_formats_without_infinity() {
    let text = serde_json::to_string(&DistanceOptions::default()).unwrap();
    assert_eq!(text, r#"{"margin":"infinity"}"#);
    for margin in [f32::INFINITY, f32::NEG_INFINITY, 0.0, 0.1, f32::MIN_POSITIVE, f32::MAX, 16_777_216.0] {
        comes_back(&DistanceOptions { margin });
        comes_back(&ContactOptions { margin });
        comes_back(&ManifoldOptions { margin });
    }
    assert_eq!(
        serde_json::from_str::<ContactOptions>(r#"{"margin": 2}"#).unwrap(),
        ContactOptions { margin: 2.0 }
    );
    assert_eq!(
        serde_json::from_str::<ContactOptions>(r#"{"margin": -2}"#).unwrap(),
        ContactOptions { margin: -2.0 }
    );
    all_refused::<DistanceOptions>(&[
        (r#"{"margin": "inf"}"#, r#"expected a number, "infinity" or "-infinity""#),
        (r#"{"margin": null}"#, "invalid type: null"),
        (r#"{"margin": [1]}"#, "invalid type"),
    ]);
}
