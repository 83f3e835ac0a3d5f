//! Sweeps against height fields: equal to those against their triangles as parts of a compound, and judged by the oracle.

use glam::DVec3;
use hullfield::collide::{
    Arena, Body, Compound, CompoundBody, CompoundColumns, Compounds, Exclusions, HeightField, Hull, Motion,
    Options, Pairs, PartPair, Precision, Sweep, SweepOptions, SweepOutcome,
};
use hullfield::{Engine, Error};
use hullfield_oracle::random::Random;
use hullfield_oracle::{Shape, seed};

use crate::answers::{engines, shapes};
use crate::compound_turns::{Judged, turning};
use crate::compounds::{Expanded, compound, crowd, hulls};

/// Number of the height field among the shapes, and of its triangles as a compound in its place.
const FIELD: u32 = 3;

/// A rough field whose coordinates f32 holds without rounding, with holes.
fn rough(random: &mut Random, columns: u32, rows: u32) -> HeightField {
    let height = |at: u32| if at % 23 == 7 { f32::NAN } else { random.between(-0.4, 0.4) as f32 };
    let heights: Vec<f32> = (0..columns * rows).map(height).collect();
    HeightField::new(columns, heights, [0.5, 0.25]).unwrap().at([-1.0, 0.0, -0.75]).unwrap()
}

/// The same bodies twice: with a height field, and with its triangles as a compound.
struct Twin {
    with_field: Compounds,
    with_triangles: Compounds,
    /// The part of the field that each triangle is.
    parts: Vec<u32>,
    shapes: Vec<Shape>,
}

impl Twin {
    fn new(
        engine: &Engine,
        random: &mut Random,
        field: &HeightField,
        statics: Vec<Body>,
        precision: Precision,
    ) -> Self {
        let mut all = hulls(random);
        let first = all.len() as u32;
        let of_field = (0..field.part_count()).filter_map(|part| Some((part, field.triangle(part)?)));
        let (parts, triangles): (Vec<u32>, Vec<Hull>) = of_field
            .map(|(part, corners)| {
                (part, Hull::triangle(corners.map(|corner| corner.map(|x| x as f32))).unwrap())
            })
            .unzip();
        all.extend(triangles);
        let options = Options { statics, precision, ..Options::default() };
        let arena = Arena::new(engine, &all, options).unwrap();
        let mut compounds = [1, 2, 5].map(|count| compound(random, count)).to_vec();
        let with_field = Compounds::new(&arena, &compounds).unwrap();
        let with_field = with_field.with_height_fields(std::slice::from_ref(field));
        compounds.push(Compound::of_hulls(first..all.len() as u32));
        let with_triangles = Compounds::new(&arena, &compounds).unwrap();
        Self { with_field, with_triangles, parts, shapes: shapes(&all) }
    }

    /// The same with statics.
    fn over(&self, statics: &[CompoundBody]) -> Self {
        Self {
            with_field: self.with_field.with_statics(statics).unwrap(),
            with_triangles: self.with_triangles.with_statics(statics).unwrap(),
            parts: self.parts.clone(),
            shapes: self.shapes.clone(),
        }
    }

    /// The rows with triangles, each under the part of the field that it is.
    fn expected(
        &self,
        columns: CompoundColumns<'_>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        options: &SweepOptions,
    ) -> Vec<PartPair<Sweep>> {
        let found = self.with_triangles.sweeps(columns, motions, pairs, options).unwrap();
        let mut rows = found.wait().unwrap().rows;
        let first = (columns.bodies.len() + self.with_field.arena().statics().len()) as u32;
        let is_field = |id: u32| {
            let fixed = id.checked_sub(first).map(|at| &self.with_field.statics()[at as usize]);
            columns.bodies.get(id as usize).or(fixed).is_some_and(|body| body.compound == FIELD)
        };
        for row in &mut rows {
            for (id, part) in [(row.row.a, &mut row.part_a), (row.row.b, &mut row.part_b)] {
                if is_field(id) {
                    *part = self.parts[*part as usize];
                }
            }
        }
        rows
    }

    /// Asks for the rows with the field, and compares them with those of its triangles. Returns them.
    fn compare(
        &self,
        columns: CompoundColumns<'_>,
        motions: &[Motion],
        pairs: Pairs<'_>,
        what: &str,
    ) -> Vec<PartPair<Sweep>> {
        let options = SweepOptions { duration: 0.75, witness: true };
        let expected = self.expected(columns, motions, pairs, &options);
        let found = self.with_field.sweeps(columns, motions, pairs, &options).unwrap().wait().unwrap();
        assert_eq!(found.stats.hit_count, found.rows.len() as u64);
        assert_eq!(found.rows.len(), expected.len(), "{what}");
        let key = |row: &PartPair<Sweep>| (row.row.a, row.row.b, row.part_a, row.part_b, row.row.outcome);
        for (row, other) in found.rows.iter().zip(&expected) {
            assert_eq!(key(row), key(other), "{what}");
            assert!((row.row.time - other.row.time).abs() <= 1e-3, "{what}: {row:?} {other:?}");
            let [gap, of_other] = [row, other].map(|row| row.row.separation.unwrap());
            assert!(
                (gap - of_other).abs() <= 1e-4 * columns.bodies[0].scale as f64,
                "{what}: {row:?} {other:?}"
            );
        }
        found.rows
    }
}

const PLACES: [(f32, [f64; 3]); 4] =
    [(1.0, [0.0; 3]), (1e-4, [0.1, -0.2, 0.3]), (1e4, [0.0; 3]), (1.0, [1e7, -1e7, 3e6])];

/// Movers about a place, and a field there that moves as `kind` says: not at all, straight, or turning too.
fn scene(random: &mut Random, size: f32, at: [f64; 3], kind: usize) -> (Vec<CompoundBody>, Vec<Motion>) {
    let mut bodies = crowd(random, 9, 3, 0.6 * size, at, 2.0);
    let mut motions = turning(random, 9, size);
    let field = CompoundBody::new(FIELD).at(at).rotated(random.rotation()).scaled(size).padded(0.01 * size);
    bodies.insert(4, field);
    let motion = match kind {
        0 => Motion::default(),
        1 => Motion { velocity: [0.5 * size, -0.3 * size, 0.2 * size], ..Motion::default() },
        _ => Motion {
            velocity: [0.5 * size, -0.3 * size, 0.2 * size],
            angular_velocity: [[0.2, -0.1, 0.3], [3.0, 1.0, -2.0]][kind % 2],
        },
    };
    motions.insert(4, motion);
    (bodies, motions)
}

#[test]
fn parts_meet_the_triangles_of_a_field_as_the_oracle_says() {
    let mut total = [0; 4];
    for (name, engine) in engines() {
        for (case, (size, at)) in (0..).zip(PLACES) {
            for (kind, precision) in
                [(0, Precision::Fast), (1, Precision::Exact), (2, Precision::Fast), (3, Precision::Exact)]
            {
                let what = format!("{name} size {size} at {at:?} {precision:?} {kind}");
                let mut random = Random::new(seed(911) + 4 * case + kind as u64);
                let field = rough(&mut random, 6, 7);
                let twin = Twin::new(&engine, &mut random, &field, Vec::new(), precision);
                let (bodies, motions) = scene(&mut random, size, at, kind);
                let columns = CompoundColumns::new(&bodies);
                let rows = twin.compare(columns, &motions, Pairs::BroadPhase, &what);
                let mut parts = Expanded::new(&twin.with_triangles, &bodies);
                for name in parts.names.iter_mut().filter(|name| name[0] == 4) {
                    name[1] = twin.parts[name[1] as usize];
                }
                let judged = Judged {
                    shapes: &twin.shapes,
                    parts: &parts,
                    bodies: &bodies,
                    statics: &[],
                    motions: &motions,
                    duration: 0.75,
                    // There f64 rounds the place of a triangle by more.
                    exact: precision == Precision::Exact && at[0] < 1e6,
                };
                let with_field = |&[a, b]: &[usize; 2]| parts.names[a][0] == 4 || parts.names[b][0] == 4;
                let pairs: Vec<[usize; 2]> = judged.all_pairs().into_iter().filter(with_field).collect();
                let of_field: Vec<PartPair<Sweep>> =
                    rows.into_iter().filter(|row| row.row.a == 4 || row.row.b == 4).collect();
                let counts = judged.check(&what, &of_field, &pairs);
                (0..4).for_each(|k| total[k] += counts[k]);
            }
        }
    }
    assert!(total[0] > 500 && total[1] > 2000 && total[2] > 50, "{total:?}");
    assert!(total[3] * 20 < total[0] + total[1], "{total:?}");
}

#[test]
fn fields_are_statics_too_and_move_over_statics() {
    for (name, engine) in engines() {
        let mut of_compound = 0;
        let mut random = Random::new(5);
        let field = rough(&mut random, 9, 8);
        let statics = vec![
            Body::new(6).at([0.0, -1.2, 0.0]).rotated([0.1, 0.0, 0.1, 0.99]),
            Body::new(2).at([0.5, 1.0, 0.0]),
            Body::new(0).at([1.0, 1.0, 0.0]).grouped(2, u32::MAX),
        ];
        let twin = Twin::new(&engine, &mut random, &field, statics, Precision::Fast);
        for (kind, at) in
            [[0.0; 3], [0.2, 0.5, 0.0], [0.0, 0.3, 0.1], [1.0, 2.0, 0.5]].into_iter().enumerate()
        {
            let what = format!("{name} {kind}");
            let (bodies, motions) = scene(&mut random, 1.0, at, kind);
            let columns = CompoundColumns::new(&bodies);
            let rows = twin.compare(columns, &motions, Pairs::BroadPhase, &what);
            assert!(rows.iter().any(|row| row.row.a == 4 && row.row.b >= 10), "{what}: no static is met");
            let all = twin.compare(columns, &motions, Pairs::Exhaustive, &what);
            assert_eq!(rows, all, "{what}");

            // A field and a compound that do not move, and another field that does.
            let fixed = [
                CompoundBody::new(FIELD).at([0.3, -0.5, 0.2]).padded(0.02),
                bodies[0].grouped(1, 3),
                bodies[4],
            ];
            let level = twin.over(&fixed);
            let rows = level.compare(columns, &motions, Pairs::BroadPhase, &what);
            let of = |id: u32| rows.iter().filter(|row| row.row.a == 4 && row.row.b == id).count();
            assert!(of(13) + of(15) > 10, "{what}");
            of_compound += of(14);
            let first = level.with_field.body_sweeps(
                columns,
                &motions,
                Pairs::BroadPhase,
                &SweepOptions { duration: 0.75, witness: true },
            );
            let mut firsts: Vec<PartPair<Sweep>> = Vec::new();
            for row in &rows {
                match firsts.last_mut() {
                    Some(last) if (last.row.a, last.row.b) == (row.row.a, row.row.b) => {
                        if row.row.time < last.row.time {
                            *last = *row;
                        }
                    }
                    _ => firsts.push(*row),
                }
            }
            assert_eq!(first.unwrap().wait().unwrap().rows, firsts, "{what}");

            // Given pairs, in any order, also of what does not move.
            let given =
                [[4, 0], [15, 4], [0, 4], [13, 2], [4, 10], [11, 4], [13, 14], [13, 10], [15, 13], [4, 0]];
            let rows = level.compare(columns, &motions, Pairs::Given(&given), &what);
            assert!(rows.iter().any(|row| (row.row.a, row.row.b) == (15, 4)), "{what}");

            let worlds: Vec<u32> = (0..10).map(|row| [7, 3][row % 2]).collect();
            let exclusions =
                Exclusions::new(&[[2, 4], [4, 8], [6, 13]]).unwrap().with_statics(&[[4, 0], [4, 5]]);
            let columns = CompoundColumns {
                worlds: &worlds,
                exclusions: Some(&exclusions),
                ..CompoundColumns::new(&bodies)
            };
            let limited = level.compare(columns, &motions, Pairs::BroadPhase, &what);
            assert!(
                !limited.is_empty()
                    && limited.iter().all(|row| row.row.a % 2 == row.row.b % 2 || row.row.b >= 10)
            );
            let of_field = |row: &&PartPair<Sweep>| row.row.a == 4 || row.row.b == 4;
            assert!(
                limited
                    .iter()
                    .filter(of_field)
                    .all(|row| ![8, 10, 15].contains(&row.row.b) && row.row.a != 2)
            );
        }
        assert!(of_compound > 0, "{name}: {of_compound}");
    }
}

#[test]
fn two_fields_that_turn_meet_as_their_triangles_do() {
    let mut count = 0;
    for (name, engine) in engines() {
        for (size, at) in PLACES {
            let mut random = Random::new(15);
            let field = rough(&mut random, 5, 6);
            let twin = Twin::new(&engine, &mut random, &field, Vec::new(), Precision::Exact);
            let place = |k: usize| [at[0], at[1] + f64::from(size) * 0.6 * k as f64, at[2]];
            let bodies: Vec<CompoundBody> =
                (0..3).map(|k| CompoundBody::new(FIELD).at(place(k)).scaled(size)).collect();
            let motions = turning(&mut random, 3, 0.2 * size);
            let what = format!("{name} {size} {at:?}");
            let rows = twin.compare(CompoundColumns::new(&bodies), &motions, Pairs::BroadPhase, &what);
            count += rows.iter().filter(|row| row.row.outcome == SweepOutcome::Hit).count();
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn a_wheel_rolls_down_onto_a_terrain_and_few_triangles_are_examined() {
    for (name, engine) in engines() {
        let side = 501_u32;
        let flat = HeightField::new(side, vec![0.25; (side * side) as usize], [1.0, 1.0]).unwrap();
        let hulls = [Hull::cuboid([0.5, 0.5, 0.5]).unwrap(), Hull::ball(0.5).unwrap()];
        let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
        let arms = Compound::new(
            [[2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]].map(|at| hullfield::collide::Part::new(1).at(at)),
        );
        let compounds = Compounds::new(&arena, &[arms]).unwrap().with_height_fields(&[flat]);
        let level = compounds.with_statics(&[CompoundBody::new(1).at([1e7, 0.0, -3e6])]).unwrap();
        let body = [CompoundBody::new(0).at([1e7 + 250.2, 3.0, -3e6 + 240.7])];
        let ask = |velocity: [f32; 3], spin: [f32; 3], duration: f32| {
            let motions = [Motion { velocity, angular_velocity: spin }];
            let options = SweepOptions { duration, witness: true };
            level.body_sweeps(&body, &motions, Pairs::BroadPhase, &options).unwrap().wait().unwrap()
        };
        // A ball at the end of an arm comes down to 0.75 where 2 sin t = 2.25 − 0.5 t.
        let found = ask([0.0, -0.5, 0.0], [0.0, 0.0, 1.0], 2.0);
        let height = |t: f64| 3.0 - 0.5 * t - 2.0 * t.sin() - 0.75;
        let row = found.rows[0];
        assert!(height(row.row.time).abs() < 1e-4 && row.part_a == 1, "{name}: {row:?}");
        let normal = DVec3::from(row.row.normal.unwrap());
        assert!((normal - DVec3::NEG_Y).length() < 1e-3, "{name}: {normal}");
        assert!(found.stats.candidate_count < 500, "{name}: {}", found.stats.candidate_count);
        assert!(ask([0.0, -0.5, 0.0], [0.0, 0.0, 1.0], 1.0).rows.is_empty());
        // A bullet across the whole field: no triangle is jumped over.
        let found = ask([240e3, -9e3, 230e3], [0.0, 60.0, 0.0], 1e-3);
        let row = found.rows[0];
        assert!((row.row.time - 2.25 / 9e3).abs() < 1e-8, "{name}: {row:?}");
        assert!(found.stats.candidate_count < 20_000, "{name}: {}", found.stats.candidate_count);
        let found = ask([240e3, 0.0, 230e3], [0.0, 60.0, 0.0], 1e-3);
        assert!(found.rows.is_empty(), "{name}");
    }
}

#[test]
fn bad_input_over_fields_is_one_clear_error() {
    let field = HeightField::new(3, vec![0.0; 9], [1.0, 1.0]).unwrap();
    let arena = Arena::new(&Engine::cpu(), &[Hull::ball(0.5).unwrap()], Options::default()).unwrap();
    let compounds = Compounds::new(&arena, &[Compound::of_hulls([0])]).unwrap().with_height_fields(&[field]);
    let bodies = [CompoundBody::new(0).at([1.0, 2.0, 1.0]), CompoundBody::new(1)];
    let ask = |motions: &[Motion], pairs: Pairs<'_>, duration: f32| {
        let options = SweepOptions { duration, witness: false };
        compounds.sweeps(&bodies, motions, pairs, &options).map(drop)
    };
    let still = [Motion::default(); 2];
    assert!(matches!(ask(&still[..1], Pairs::BroadPhase, 1.0), Err(Error::Count { what: "motions", .. })));
    let fast = [still[0], Motion { angular_velocity: [0.0, 7e3, 0.0], ..still[0] }];
    let error = ask(&fast, Pairs::BroadPhase, 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "motion 1: angular_velocity is [0.0, 7000.0, 0.0], each must be finite and turn 1,000 times at most"
    );
    assert!(matches!(ask(&still, Pairs::Given(&[[0, 2]]), 1.0), Err(Error::Missing { .. })));
    assert!(matches!(ask(&still, Pairs::Given(&[[1, 1]]), 1.0), Err(Error::Invalid { .. })));
    assert!(matches!(ask(&still, Pairs::BroadPhase, f32::NAN), Err(Error::Value { field: "duration", .. })));
    // No time: only what touches.
    let down = [Motion { velocity: [0.0, -1e6, 0.0], angular_velocity: [9.0; 3] }, still[0]];
    let options = SweepOptions { duration: 0.0, witness: false };
    let found = compounds.sweeps(&bodies, &down, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
    assert!(found.rows.is_empty());
    let low = [bodies[0].at([1.0, 0.4, 1.0]), bodies[1]];
    let found = compounds.sweeps(&low, &down, Pairs::BroadPhase, &options).unwrap().wait().unwrap();
    assert!(found.rows.len() > 3 && found.rows.iter().all(|row| row.row.outcome == SweepOutcome::Touching));
}
