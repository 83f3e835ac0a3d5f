//! The cases of the watch, and those of fields and paths. Each does a fixed, seeded amount of work on the CPU engine, as often as it is told.

use std::hint::black_box;
use std::ops::ControlFlow;

use hullfield::Engine;
use hullfield::flow::{
    Cell as At, Connectivity, Corners, CostDistanceOptions, Edit, Field, FieldOptions, Flow, cost_distance,
};
use hullfield::navigate::room::{Method, Options as RoomOptions, Room};
use hullfield::navigate::surface::{Model, Options as SurfaceOptions, Surface};
use hullfield_oracle::random::Random;

use crate::error::message;
use crate::flow_scenes::{Scene as GridScene, noise};
use crate::machine::SEED;
use crate::watch::collide::{
    broad, compounds, contacts, distances, hulls, intersections, rays, sweeps, warm_frames,
};
use crate::{path, room};

/// A case.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// What one round does.
    pub(crate) work: &'static str,
    /// Runs so many rounds, at least one. Returns a checksum of the last round's answer. What comes before the first round and after the last
    /// one does not depend on their number.
    pub(crate) run: fn(u32) -> Result<u64, String>,
}

pub(crate) const CASES: [Case; 17] = [
    Case { name: "hulls", work: "24 convex hulls of 500 points", run: hulls },
    Case {
        name: "intersections-8",
        work: "40,000 pairs of hulls of 8 vertices",
        run: |rounds| intersections(rounds, 8, 40_000),
    },
    Case {
        name: "intersections-128",
        work: "40,000 pairs of hulls of 128 vertices",
        run: |rounds| intersections(rounds, 128, 40_000),
    },
    Case { name: "distances", work: "20,000 pairs of hulls of 32 vertices", run: distances },
    Case { name: "contacts", work: "10,000 pairs of hulls of 32 vertices", run: contacts },
    Case { name: "sweeps", work: "8,000 pairs of hulls of 32 vertices", run: sweeps },
    Case { name: "broad", work: "candidates of 16 crowds of 2,000 bodies", run: broad },
    Case { name: "rays", work: "20,000 rays among 1,000 hulls of 32 vertices", run: rays },
    Case { name: "compounds", work: "contacts of 400 pairs of compounds of 32 parts", run: compounds },
    Case {
        name: "field-open",
        work: "8 fields over 512² cells, none blocked",
        run: |rounds| fields(rounds, 0.0),
    },
    Case {
        name: "field-20",
        work: "8 fields over 512² cells, 20 % blocked",
        run: |rounds| fields(rounds, 0.2),
    },
    Case {
        name: "field-costs",
        work: "a field over 512² cells, diagonals, costs to 9, 20 % blocked",
        run: field_of_costs,
    },
    Case { name: "field-edit", work: "16 walls of 32 cells put up and taken down, 512² cells", run: edits },
    Case {
        name: "cost-distance",
        work: "4 cost distances over 256² cells of float friction",
        run: cost_distances,
    },
    Case { name: "room", work: "100 optimal paths in a room of 400 pillars", run: room_paths },
    Case { name: "surface-field", work: "the exact distances over 3,480 triangles", run: surface_field },
    Case { name: "warm", work: "12 frames of 1,000 moving bodies, warm start", run: warm_frames },
];

/// A checksum over numbers, by the steps of FNV-1a on words of 64 bits.
#[derive(Debug)]
pub(super) struct Sum(u64);

impl Sum {
    pub(super) fn count(&mut self, word: impl Into<u64>) {
        self.0 = (self.0 ^ word.into()).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }

    pub(super) fn number(&mut self, number: impl Into<f64>) {
        self.count(number.into().to_bits());
    }

    pub(super) fn point<T: Into<f64>>(&mut self, point: [T; 3]) {
        point.into_iter().for_each(|x| self.number(x));
    }
}

/// Does the work of a round so many times. Returns the checksum of the last answer.
pub(super) fn repeat<A>(
    rounds: u32,
    mut work: impl FnMut() -> Result<A, String>,
    sum_up: impl FnOnce(&A, &mut Sum),
) -> Result<u64, String> {
    let mut last = None;
    for _ in 0..rounds {
        last = Some(black_box(work()?));
    }
    let mut sum = Sum(0xcbf2_9ce4_8422_2325);
    match &last {
        Some(answer) => sum_up(answer, &mut sum),
        None => return Err("a case must have at least one round".into()),
    }
    Ok(sum.0)
}

/// The side of the grids.
const SIDE: usize = 512;

fn flow(scene: &GridScene) -> Result<Flow, String> {
    Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)
}

fn square(share: f64) -> GridScene {
    GridScene::flat("", SIDE, SIDE, noise(SIDE * SIDE, share, SEED))
}

fn sum_field(field: &Field, sum: &mut Sum) {
    if let Some((distances, next)) = field.host() {
        distances.iter().for_each(|&distance| sum.count(distance));
        next.iter().for_each(|&code| sum.count(code));
    }
}

fn fields(rounds: u32, share: f64) -> Result<u64, String> {
    let scene = square(share);
    let flow = flow(&scene)?;
    let mut random = Random::new(SEED);
    let mut goals = Vec::new();
    while goals.len() < 8 {
        let at = random.below(scene.blocked.len());
        if !scene.blocked[at] {
            goals.push([flow.grid().cell(at)]);
        }
    }
    let solve = |goal: &[At; 1]| flow.solve(goal, &FieldOptions::default())?.wait();
    repeat(
        rounds,
        || goals.iter().map(solve).collect::<Result<Vec<_>, _>>().map_err(message),
        |fields, sum| fields.iter().for_each(|field| sum_field(field, sum)),
    )
}

fn field_of_costs(rounds: u32) -> Result<u64, String> {
    let mut random = Random::new(SEED);
    let mut scene = square(0.2);
    scene.connectivity = Connectivity::Eight(Corners::BothFree);
    scene.costs = (0..SIDE * SIDE).map(|_| random.below(9) as u32 + 1).collect();
    let flow = flow(&scene)?;
    let goals = [flow.grid().cell(scene.goal)];
    let solve = || flow.solve(&goals, &FieldOptions::default())?.wait();
    repeat(rounds, || solve().map_err(message), sum_field)
}

fn edits(rounds: u32) -> Result<u64, String> {
    let scene = square(0.2);
    let mut flow = flow(&scene)?;
    let goals = [flow.grid().cell(scene.goal)];
    let solved = flow.solve(&goals, &FieldOptions::default()).map_err(message)?.wait().map_err(message)?;
    let mut random = Random::new(SEED);
    let mut walls: Vec<Vec<At>> = Vec::new();
    for _ in 0..16 {
        let [x, y] = [0; 2].map(|_| random.below(SIDE - 32));
        let cells = (0..32).map(|k| (y + k) * SIDE + x).filter(|&at| !scene.blocked[at] && at != scene.goal);
        walls.push(cells.map(|at| flow.grid().cell(at)).collect());
    }
    let mut field = Some(solved);
    let mut put_up_and_take_down = || -> Result<Vec<u32>, String> {
        let mut reached = Vec::new();
        for wall in &walls {
            for kind in [Edit::Block, Edit::Free] {
                let edits: Vec<Edit> = wall.iter().map(|&cell| kind(cell)).collect();
                flow.edit(&edits).map_err(message)?;
                let before = field.take().ok_or("there is no field")?;
                let after = flow.update(before).map_err(message)?.wait().map_err(message)?;
                // A cell beside the wall tells whether the field goes around it.
                let beside = wall.first().and_then(|&cell| flow.grid().index(cell)).unwrap_or(0) + 1;
                reached.extend(after.host().map(|(distances, _)| distances[beside]));
                field = Some(after);
            }
        }
        Ok(reached)
    };
    repeat(rounds, &mut put_up_and_take_down, |reached, sum| {
        reached.iter().for_each(|&distance| sum.count(distance));
    })
}

fn cost_distances(rounds: u32) -> Result<u64, String> {
    const COLUMNS: i32 = 256;
    let mut random = Random::new(SEED);
    let friction: Vec<f32> = (0..COLUMNS * COLUMNS).map(|_| random.between(1.0, 10.0) as f32).collect();
    let targets = [[40, 50], [200, 20], [128, 128], [30, 220]].map(At::from);
    let go_on = |_| ControlFlow::Continue(());
    let solve = |&target: &At| {
        let options = CostDistanceOptions::default();
        cost_distance([COLUMNS as u32; 2], &friction, &[target], &options, go_on)
    };
    repeat(
        rounds,
        || targets.iter().map(solve).collect::<Result<Vec<_>, _>>().map_err(message),
        |solved, sum| {
            for one in solved {
                one.distances.iter().for_each(|&distance| sum.number(distance));
                one.next.iter().for_each(|&code| sum.count(code));
            }
        },
    )
}

fn room_paths(rounds: u32) -> Result<u64, String> {
    let (outer, holes) = room::pillars(20, 20);
    let room = Room::new(&outer, &holes, RoomOptions::default()).map_err(message)?;
    let mut random = Random::new(SEED);
    let mut point = || match room.random_point([random.unit(), random.unit(), random.unit()]) {
        Ok(Some(point)) => Ok(point.position),
        Ok(None) => Err("the room has no area".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    let queries = (0..100).map(|_| Ok([point()?, point()?])).collect::<Result<Vec<_>, String>>()?;
    repeat(
        rounds,
        || room.paths(&queries, &Method::Optimal.into()).map_err(message),
        |found, sum| {
            for path in &found.rows {
                sum.number(path.length);
                path.corners.iter().for_each(|&corner| sum.count(corner));
            }
        },
    )
}

fn surface_field(rounds: u32) -> Result<u64, String> {
    let (points, triangles) = path::lump(30);
    let model = Model::triangles(points.clone(), &triangles);
    let surface = Surface::new(&[model], SurfaceOptions::default()).map_err(message)?;
    let measure = || -> hullfield::Result<Vec<f64>> {
        let field = surface.field(points[0])?;
        points.iter().map(|&point| Ok(field.distance(point)?.unwrap_or(f64::INFINITY))).collect()
    };
    repeat(
        rounds,
        || measure().map_err(message),
        |distances, sum| distances.iter().for_each(|&distance| sum.number(distance)),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_round_gives_the_same_answer() {
        let mut sums = HashSet::new();
        for case in &CASES {
            let once = (case.run)(1).unwrap();
            assert_eq!((case.run)(2), Ok(once), "{}", case.name);
            assert!((case.run)(0).is_err(), "{}", case.name);
            assert!(sums.insert(once), "{} sums up nothing", case.name);
        }
    }

    #[test]
    fn names_are_unique_and_fit_a_command_line() {
        let names: HashSet<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
        for name in names {
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        }
    }
}
