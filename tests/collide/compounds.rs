//! Compounds: queries over bodies of several hulls equal those over their parts, tested one by one.

use hullfield::collide::{
    Arena, Batch, Body, BodyColumns, Compound, CompoundBody, Compounds, Contact, ContactOptions, Distance,
    DistanceOptions, Hull, Intersection, ManifoldOptions, Options, Pairs, Part, PartPair, Pose, Status,
};
use hullfield::{Backend, Engine, Error, Location};
use hullfield_oracle::pick;
use hullfield_oracle::random::Random;

use crate::answers::engines;

/// Rounded and sharp hulls of all dimensions.
pub(crate) fn hulls(random: &mut Random) -> Vec<Hull> {
    let mut lump = |count: usize| {
        let points: Vec<[f32; 3]> = (0..count).map(|_| std::array::from_fn(|_| signed(random))).collect();
        Hull::from_points(&points).unwrap()
    };
    vec![
        lump(12),
        lump(40),
        Hull::cuboid([0.5, 0.2, 0.3]).unwrap(),
        Hull::ball(0.4).unwrap(),
        Hull::capsule([0.0, -0.5, 0.0], [0.0, 0.5, 0.0], 0.2).unwrap(),
        Hull::triangle([[0.0, 0.0, 0.0], [1.0, 0.0, 0.2], [0.1, 0.9, 0.0]]).unwrap(),
        Hull::half_space(),
    ]
}

/// A number from -1 to 1.
fn signed(random: &mut Random) -> f32 {
    random.between(-1.0, 1.0) as f32
}

/// A compound of so many parts, each a third as large as the whole.
pub(crate) fn compound(random: &mut Random, count: usize) -> Compound {
    Compound::new(
        (0..count)
            .map(|index| {
                let pose = Pose {
                    position: std::array::from_fn(|_| signed(random)),
                    rotation: random.rotation(),
                    scale: std::array::from_fn(|_| 0.2 + 0.2 * random.unit() as f32),
                };
                let padding = if index % 3 == 0 { 0.05 * random.unit() as f32 } else { 0.0 };
                Part::new(index as u32 % 6).posed(pose).padded(padding)
            })
            .collect::<Vec<_>>(),
    )
}

pub(crate) fn crowd(
    random: &mut Random,
    count: usize,
    compounds: u32,
    size: f32,
    at: [f64; 3],
    spread: f64,
) -> Vec<CompoundBody> {
    (0..count)
        .map(|index| {
            let away: [f64; 3] =
                std::array::from_fn(|k| at[k] + spread * f64::from(size) * f64::from(signed(random)));
            let body = CompoundBody::new(index as u32 % compounds)
                .at(away)
                .rotated(random.rotation())
                .scaled(size * (0.7 + 0.6 * random.unit() as f32));
            let body = if index % 5 == 4 { body.padded(0.1 * size * random.unit() as f32) } else { body };
            if index % 7 == 3 { body.grouped(1, 2) } else { body }
        })
        .collect()
}

/// The parts of all bodies as bodies of their own.
pub(crate) struct Expanded {
    pub(crate) bodies: Vec<Body>,
    pub(crate) positions: Vec<[f64; 3]>,
    /// Body and part of each; statics follow.
    pub(crate) names: Vec<[u32; 2]>,
}

impl Expanded {
    pub(crate) fn new(compounds: &Compounds, bodies: &[CompoundBody]) -> Self {
        let mut all = Self { bodies: Vec::new(), positions: Vec::new(), names: Vec::new() };
        for (id, body) in (0..).zip(bodies) {
            let (parts, positions) = compounds.parts(body).unwrap();
            all.names.extend((0..parts.len() as u32).map(|part| [id, part]));
            all.bodies.extend(parts);
            all.positions.extend(positions);
        }
        let statics = compounds.arena().statics().len() as u32;
        all.names.extend((0..statics).map(|id| [bodies.len() as u32 + id, 0]));
        all
    }

    pub(crate) fn columns(&self) -> BodyColumns<'_> {
        BodyColumns { positions: &self.positions, ..BodyColumns::new(&self.bodies) }
    }

    /// All pairs of parts of different bodies that groups accept, in the order of bodies and parts.
    fn pairs(&self, statics: &[Body]) -> Vec<[u32; 2]> {
        let all: Vec<&Body> = self.bodies.iter().chain(statics).collect();
        let mut pairs = Vec::new();
        for (a, first) in (0..self.bodies.len()).zip(&all) {
            for (b, second) in (a + 1..).zip(&all[a + 1..]) {
                let meet = first.group & second.mask != 0 && second.group & first.mask != 0;
                if meet && self.names[a][0] != self.names[b][0] {
                    pairs.push([a as u32, b as u32]);
                }
            }
        }
        pairs.sort_by_key(|&[a, b]| {
            let [p, q] = [a, b].map(|id| self.names[id as usize]);
            (p[0], q[0], p[1], q[1])
        });
        pairs
    }
}

/// What tests compare of a row: bodies, parts, status and gap.
pub(crate) type Told = ([u32; 2], [u32; 2], Status, Option<f64>);

pub(crate) trait Tell {
    fn tell(&self) -> ([u32; 2], Status, Option<f64>);
}

impl Tell for Intersection {
    fn tell(&self) -> ([u32; 2], Status, Option<f64>) {
        ([self.a, self.b], self.status, None)
    }
}

impl Tell for Distance {
    fn tell(&self) -> ([u32; 2], Status, Option<f64>) {
        ([self.a, self.b], self.status, Some(self.separation))
    }
}

impl Tell for Contact {
    fn tell(&self) -> ([u32; 2], Status, Option<f64>) {
        ([self.a, self.b], self.status, Some(self.separation))
    }
}

pub(crate) fn told<R: Tell>(found: &Batch<PartPair<R>>) -> Vec<Told> {
    found
        .rows
        .iter()
        .map(|row| {
            let (pair, status, gap) = row.row.tell();
            (pair, [row.part_a, row.part_b], status, gap)
        })
        .collect()
}

/// The rows of the parts one by one, of those within a margin.
pub(crate) fn one_by_one<R: Tell>(parts: &Expanded, found: &Batch<R>, margin: f64) -> Vec<Told> {
    found
        .rows
        .iter()
        .map(|row| {
            let ([a, b], status, gap) = row.tell();
            let [a, b] = [a, b].map(|id| parts.names[id as usize]);
            ([a[0], b[0]], [a[1], b[1]], status, gap)
        })
        .filter(|&(_, _, status, gap)| status.is_hit() || gap.is_some_and(|gap| gap <= margin))
        .collect()
}

/// One row a pair of bodies: that which overlaps, or is deepest or nearest.
fn best(rows: &[Told]) -> Vec<Told> {
    let mut best: Vec<Told> = Vec::new();
    let key = |&(_, _, status, gap): &Told| {
        let rank =
            [Status::Penetrating, Status::Touching, Status::Separated].iter().position(|&s| s == status);
        (rank, gap.unwrap_or_default())
    };
    for row in rows {
        match best.last_mut() {
            Some(last) if last.0 == row.0 => {
                if key(row) < key(last) {
                    *last = *row;
                }
            }
            _ => best.push(*row),
        }
    }
    best
}

/// Same pairs and statuses, and gaps within a tolerance.
pub(crate) fn assert_same(found: &[Told], expected: &[Told], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (row, other) in found.iter().zip(expected) {
        assert_eq!((row.0, row.1, row.2), (other.0, other.1, other.2), "{what}");
        let [gap, of_other] = [row.3, other.3].map(Option::unwrap_or_default);
        assert!((gap - of_other).abs() <= tolerance, "{what}: {row:?} {other:?}");
    }
}

/// The same for bodies, whose parts may be others that are as deep or as near.
fn assert_same_bodies(found: &[Told], expected: &[Told], tolerance: f64, what: &str) {
    let without_parts =
        |rows: &[Told]| rows.iter().map(|row| Told::from((row.0, [0; 2], row.2, row.3))).collect::<Vec<_>>();
    assert_same(&without_parts(found), &without_parts(expected), tolerance, what);
}

pub(crate) fn statics() -> Vec<Body> {
    vec![
        Body::new(6).at([0.0, -1.5, 0.0]),
        Body::new(2).scaled(3.0),
        Body::new(0).at([1.0, 1.0, 0.0]).grouped(2, u32::MAX),
    ]
}

#[test]
fn compounds_equal_their_parts_tested_one_by_one() {
    // A software GPU takes seconds to measure all pairs. It measures those of one size; each run picks another.
    let unbounded = pick(43, &[0, 1, 2, 3], 1)[0];
    for (name, engine) in engines() {
        let mut random = Random::new(41);
        let hulls = hulls(&mut random);
        for (turn, (size, at, fixed)) in [
            (1.0, [0.0; 3], true),
            (1e-3, [0.25, 3.0, -1.0], false),
            (1e4, [0.0; 3], false),
            (1.0, [0.0; 3], false),
        ]
        .into_iter()
        .enumerate()
        {
            let options =
                Options { statics: if fixed { statics() } else { Vec::new() }, ..Options::default() };
            let arena = Arena::new(&engine, &hulls, options).unwrap();
            let shapes = [1, 5, 23].map(|count| compound(&mut random, count));
            let compounds = Compounds::new(&arena, &shapes).unwrap();
            let bodies = crowd(&mut random, 36, 3, size, at, 2.5);
            let parts = Expanded::new(&compounds, &bodies);
            let pairs = parts.pairs(arena.statics());
            let given = Pairs::Given(&pairs);
            let tolerance = 1e-4 * f64::from(size);
            let what = format!("{name} size {size}");

            let expected = arena.intersections(parts.columns(), given).unwrap().wait().unwrap();
            let expected = one_by_one(&parts, &expected, 0.0);
            assert!(expected.len() > 30, "{what}: {}", expected.len());
            for pairs in [Pairs::BroadPhase, Pairs::Exhaustive] {
                let found = compounds.intersections(&bodies, pairs).unwrap().wait().unwrap();
                assert_same(&told(&found), &expected, 0.0, &what);
                assert_eq!(found.stats.hit_count, expected.len() as u64);
            }
            let found = compounds.body_intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
            assert_same_bodies(&told(&found), &best(&expected), 0.0, &what);
            assert!(found.rows.len() < expected.len());

            for margin in [0.0, 0.3 * size, f32::INFINITY] {
                if margin == f32::INFINITY && engine.backend() == Backend::Gpu && turn != unbounded {
                    continue;
                }
                let what = format!("{what} margin {margin}");
                let (d, c) = (DistanceOptions { margin }, ContactOptions { margin });
                let all = arena.distances(parts.columns(), given, &d).unwrap().wait().unwrap();
                let expected = one_by_one(&parts, &all, f64::from(margin));
                let found = compounds.distances(&bodies, Pairs::BroadPhase, &d).unwrap().wait().unwrap();
                assert_same(&told(&found), &expected, tolerance, &what);
                let found = compounds.body_distances(&bodies, Pairs::BroadPhase, &d).unwrap().wait().unwrap();
                assert_same_bodies(&told(&found), &best(&expected), tolerance, &what);

                let all = arena.contacts(parts.columns(), given, &c).unwrap().wait().unwrap();
                let expected = one_by_one(&parts, &all, f64::from(margin));
                let found = compounds.contacts(&bodies, Pairs::BroadPhase, &c).unwrap().wait().unwrap();
                assert_same(&told(&found), &expected, tolerance, &what);
                let found = compounds.body_contacts(&bodies, Pairs::BroadPhase, &c).unwrap().wait().unwrap();
                assert_same_bodies(&told(&found), &best(&expected), tolerance, &what);
            }
        }
    }
}

#[test]
fn given_pairs_of_bodies_have_the_rows_of_their_parts_in_order() {
    for (name, engine) in engines() {
        let mut random = Random::new(7);
        let hulls = hulls(&mut random);
        let arena =
            Arena::new(&engine, &hulls, Options { statics: statics(), ..Options::default() }).unwrap();
        let shapes = [12, 20].map(|count| compound(&mut random, count));
        let compounds = Compounds::new(&arena, &shapes).unwrap();
        let bodies: Vec<_> =
            (0..4).map(|id| CompoundBody::new(id % 2).at([0.3 * f64::from(id), 0.0, 0.0])).collect();
        let all = compounds
            .contacts(&bodies, Pairs::BroadPhase, &ContactOptions::default())
            .unwrap()
            .wait()
            .unwrap();
        // Repeated, turned, with statics on either side, and two statics.
        let pairs = [[0, 1], [0, 1], [1, 0], [2, 3], [2, 5], [5, 2], [3, 4], [5, 6]];
        let found = compounds
            .contacts(&bodies, Pairs::Given(&pairs), &ContactOptions::default())
            .unwrap()
            .wait()
            .unwrap();
        let of = |a: u32, b: u32| told(&all).into_iter().filter(move |row| row.0 == [a, b]);
        let turned = |a: u32, b: u32| {
            let mut rows: Vec<Told> =
                of(b, a).map(|(_, [p, q], status, gap)| ([a, b], [q, p], status, gap)).collect();
            rows.sort_by_key(|row| row.1);
            rows
        };
        let expected: Vec<Told> = of(0, 1)
            .chain(of(0, 1))
            .chain(turned(1, 0))
            .chain(of(2, 3))
            .chain(of(2, 5))
            .chain(turned(5, 2))
            .chain(of(3, 4))
            .collect();
        let found = told(&found);
        assert_eq!(found.last().map(|row| row.0), Some([5, 6]));
        assert_same(&found[..found.len() - 1], &expected, 1e-5, &format!("{name} given"));
        assert!(expected.len() > 30, "{}", expected.len());
        let best = compounds.body_contacts(&bodies, Pairs::Given(&pairs), &ContactOptions::default());
        let bodies: Vec<[u32; 2]> = told(&best.unwrap().wait().unwrap()).iter().map(|row| row.0).collect();
        let meets = |&[a, b]: &[u32; 2]| a.min(b) >= 4 || expected.iter().any(|row| row.0 == [a, b]);
        let expected: Vec<[u32; 2]> = pairs.into_iter().filter(meets).collect();
        assert_eq!(bodies, expected, "{name}");
        assert!(expected.len() >= 7);
    }
}

#[test]
fn more_parts_than_a_window_holds_are_all_measured() {
    let mut random = Random::new(3);
    let hulls = hulls(&mut random);
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let shape = compound(&mut random, 40);
    let compounds = Compounds::new(&arena, std::slice::from_ref(&shape)).unwrap();
    let bodies: Vec<_> = (0..50).map(|id| CompoundBody::new(0).at([3.0 * f64::from(id), 0.0, 0.0])).collect();
    let options = DistanceOptions::default();
    let found = compounds.distances(&bodies, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
    assert_eq!(found.rows.len(), 50 * 49 / 2 * 40 * 40);
    let of_bodies = compounds.body_distances(&bodies, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
    assert_same_bodies(&told(&of_bodies), &best(&told(&found)), 1e-4, "windows");
    // The search for the nearest parts measures few of them.
    assert!(of_bodies.stats.candidate_count * 50 < found.stats.candidate_count, "{:?}", of_bodies.stats);
}

#[test]
fn manifolds_of_parts_are_those_of_the_parts() {
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &[Hull::cuboid([0.5; 3]).unwrap()], Options::default()).unwrap();
        let table = Compound::new([Part::new(0).at([-2.0, 0.0, 0.0]), Part::new(0).at([2.0, 0.0, 0.0])]);
        let board = Compound::new([Part::new(0).posed(Pose { scale: [6.0, 0.5, 1.0], ..Pose::IDENTITY })]);
        let compounds = Compounds::new(&arena, &[table, board]).unwrap();
        let bodies = [CompoundBody::new(0), CompoundBody::new(1).at([0.0, 0.74, 0.0])];
        let found = compounds
            .manifolds(&bodies, Pairs::BroadPhase, &ManifoldOptions::default())
            .unwrap()
            .wait()
            .unwrap();
        let parts: Vec<[u32; 2]> = found.rows.iter().map(|row| [row.part_a, row.part_b]).collect();
        assert_eq!(parts, [[0, 0], [1, 0]], "{name}");
        for row in &found.rows {
            assert_eq!(row.row.points().len(), 4);
            assert!((row.row.depth() - 0.01).abs() < 1e-5 && row.row.normal[1] > 0.999);
        }
    }
}

#[test]
fn two_meshes_meet_where_their_triangles_do() {
    // A bumpy sheet of 2 × 24 × 24 triangles and the same one turned over.
    let side = 25u32;
    let height = |x: u32, y: u32| 0.2 * f32::sin(x as f32) * f32::cos(1.3 * y as f32);
    let positions: Vec<[f32; 3]> = (0..side * side)
        .map(|i| [(i % side) as f32, height(i % side, i / side), (i / side) as f32])
        .collect();
    let mut triangles = Vec::new();
    for y in 0..side - 1 {
        for x in 0..side - 1 {
            let at = y * side + x;
            triangles.extend([[at, at + 1, at + side], [at + 1, at + side + 1, at + side]]);
        }
    }
    let hulls = Hull::triangles_of_mesh(&positions, &triangles).unwrap();
    let count = hulls.len() as u32;
    for (name, engine) in engines() {
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        let compounds = Compounds::new(&arena, &[Compound::of_hulls(0..count)]).unwrap();
        let bodies =
            [CompoundBody::new(0), CompoundBody::new(0).at([3.3, 0.15, 2.2]).rotated([0.0, 0.1, 0.0, 0.995])];
        let parts = Expanded::new(&compounds, &bodies);
        let pairs = parts.pairs(&[]);
        let expected = arena.intersections(parts.columns(), Pairs::Given(&pairs)).unwrap().wait().unwrap();
        let expected = one_by_one(&parts, &expected, 0.0);
        assert!(expected.len() > 100, "{}", expected.len());
        let found = compounds.intersections(&bodies, Pairs::BroadPhase).unwrap().wait().unwrap();
        assert_same(&told(&found), &expected, 0.0, &format!("{name} meshes"));
        assert!(found.stats.candidate_count * 100 < pairs.len() as u64, "{:?}", found.stats);
    }
}

#[test]
fn bad_compounds_and_bodies_are_one_clear_error() {
    let hulls = [Hull::ball(1.0).unwrap(), Hull::half_space()];
    let arena = Arena::new(&Engine::cpu(), &hulls, Options::default()).unwrap();
    let text = |shape: Compound| {
        Compounds::new(&arena, &[Compound::new([Part::new(0)]), shape]).unwrap_err().to_string()
    };
    assert_eq!(text(Compound::default()), "compound 1 has no parts, it needs at least one");
    assert_eq!(
        text(Compound::new([Part::new(0), Part::new(2)])),
        "compound 1, part 1: hull 2 does not exist, there are 2"
    );
    assert!(text(Compound::of_hulls([1])).starts_with("compound 1, part 0: a half-space can't be a part"));
    assert!(
        text(Compound::new([Part::new(0).at([f32::NAN, 0.0, 0.0])])).contains("part 0: position is [NaN")
    );
    assert!(text(Compound::new([Part::new(0).padded(-1.0)])).contains("part 0: padding is -1.0"));

    let compounds = Compounds::new(&arena, &[Compound::new([Part::new(0)])]).unwrap();
    let good = CompoundBody::new(0);
    let bad = [
        (CompoundBody::new(1), "body 1: compound 1 does not exist, there are 1"),
        (
            good.at([0.0, f64::INFINITY, 0.0]),
            "body 1: position is [0.0, inf, 0.0], each must be finite and at most 1e18 in magnitude",
        ),
        (
            good.rotated([0.0; 4]),
            "body 1: rotation is [0.0, 0.0, 0.0, 0.0], it must be a unit quaternion to within 1e-3",
        ),
        (good.scaled(0.0), "body 1: scale is 0.0, it must be above zero and at most 1e18"),
        (good.scaled(f32::NAN), "body 1: scale is NaN, it must be above zero and at most 1e18"),
        (good.padded(f32::NAN), "body 1: padding is NaN, it must be from 0 to 1e18"),
    ];
    for (body, message) in bad {
        let error = compounds.intersections(&[good, body], Pairs::BroadPhase).map(drop).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
    let error = compounds.intersections(&[good, good], Pairs::Given(&[[0, 2]])).map(drop).unwrap_err();
    assert!(matches!(error, Error::Missing { at: Location::Pair(0), index: 2, count: 2, .. }), "{error}");
    let error = compounds.intersections(&[good, good], Pairs::Given(&[[1, 1]])).map(drop).unwrap_err();
    assert!(matches!(error, Error::Invalid { at: Location::Pair(0), .. }), "{error}");
    let options = ContactOptions { margin: f32::NAN };
    assert!(compounds.body_contacts(&[good], Pairs::BroadPhase, &options).is_err());
    // A part that its body makes too large or too small, near another or not.
    for (shape, scale) in
        [(Part::new(0).padded(2.0), 1e18), (Part::new(0), 1e-19), (Part::new(0).padded(1e18), 2.0)]
    {
        let compounds =
            Compounds::new(&arena, &[Compound::new([Part::new(0)]), Compound::new([shape])]).unwrap();
        let body = CompoundBody::new(1).scaled(scale).at([1e18; 3]);
        let error =
            compounds.intersections(&[good, body], Pairs::BroadPhase).map(drop).unwrap_err().to_string();
        assert!(
            error.starts_with("body 1: scale is") && error.contains("a radius from 1e-18 to 1e18"),
            "{error}"
        );
    }
    // The largest and the smallest that are allowed.
    let sizes = [good.scaled(0.5e18), good.scaled(1e-17), good.scaled(1e-17).at([1e18, 0.0, 0.0])];
    let found = compounds.intersections(&sizes, Pairs::BroadPhase).unwrap().wait().unwrap();
    assert_eq!(found.rows.len(), 1);
    // A hull that was removed.
    let mut smaller = arena.clone();
    smaller.remove_hulls(&[0]).unwrap();
    let removed =
        Compounds::new(&smaller, &[Compound::new([Part::new(0)])]).map(drop).unwrap_err().to_string();
    assert_eq!(removed, "compound 0, part 0: hull 0 was removed from the arena");
    let none =
        compounds.contacts(&[], Pairs::BroadPhase, &ContactOptions::default()).unwrap().wait().unwrap();
    assert!(none.rows.is_empty());
}
