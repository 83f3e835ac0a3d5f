//! The cases of fields.

use std::ops::ControlFlow;

use hullfield::Engine;
use hullfield::flow::{
    Cell as At, Connectivity, Corners, CostDistanceOptions, Edit, Field, FieldOptions, Flow, cost_distance,
};
use hullfield_oracle::random::Random;

use crate::error::message;
use crate::flow_scenes::{Scene as GridScene, noise};
use crate::machine::SEED;
use crate::watch::rounds::{Sum, repeat};

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

pub(super) fn fields(rounds: u32, share: f64) -> Result<u64, String> {
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

pub(super) fn field_of_costs(rounds: u32) -> Result<u64, String> {
    let mut random = Random::new(SEED);
    let mut scene = square(0.2);
    scene.connectivity = Connectivity::Eight(Corners::BothFree);
    scene.costs = (0..SIDE * SIDE).map(|_| random.below(9) as u32 + 1).collect();
    let flow = flow(&scene)?;
    let goals = [flow.grid().cell(scene.goal)];
    let solve = || flow.solve(&goals, &FieldOptions::default())?.wait();
    repeat(rounds, || solve().map_err(message), sum_field)
}

pub(super) fn edits(rounds: u32) -> Result<u64, String> {
    let scene = square(0.2);
    let mut flow = flow(&scene)?;
    let goals = [flow.grid().cell(scene.goal)];
    let mut field = flow.solve(&goals, &FieldOptions::default()).map_err(message)?.wait().map_err(message)?;
    let mut random = Random::new(SEED);
    let mut walls: Vec<Vec<At>> = Vec::new();
    for _ in 0..16 {
        let [x, y] = [0; 2].map(|_| random.below(SIDE - 32));
        let cells = (0..32).map(|k| (y + k) * SIDE + x).filter(|&at| !scene.blocked[at] && at != scene.goal);
        walls.push(cells.map(|at| flow.grid().cell(at)).collect());
    }
    let mut put_up_and_take_down = || -> Result<Vec<u32>, String> {
        let mut reached = Vec::new();
        for wall in &walls {
            for kind in [Edit::Block, Edit::Free] {
                let edits: Vec<Edit> = wall.iter().map(|&cell| kind(cell)).collect();
                flow.edit(&edits).map_err(message)?;
                flow.update(&mut field).map_err(message)?.wait().map_err(message)?;
                // A cell beside the wall tells whether the field goes around it.
                let beside = wall.first().and_then(|&cell| flow.grid().index(cell)).unwrap_or(0) + 1;
                reached.extend(field.host().map(|(distances, _)| distances[beside]));
            }
        }
        Ok(reached)
    };
    repeat(rounds, &mut put_up_and_take_down, |reached, sum| {
        reached.iter().for_each(|&distance| sum.count(distance));
    })
}

pub(super) fn cost_distances(rounds: u32) -> Result<u64, String> {
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
