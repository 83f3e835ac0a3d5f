//! Flow fields over growing grids, growing batches of fields, and cost distances.

use std::ops::ControlFlow;

use hullfield::flow::{
    Cell as At, Connectivity, Corners, CostDistanceOptions, Field, FieldOptions, Flow, UNREACHABLE,
    cost_distance,
};
use hullfield_oracle::random::Random;
use serde_json::json;

use crate::error::{Trouble, message};
use crate::flow;
use crate::flow_costs;
use crate::flow_scenes::{Scene, noise};
use crate::growth::context::Context;
use crate::growth::python::Array;
use crate::growth::scaling::Topic;
use crate::growth::sweep::{Author, Contender, Plan, same_length, same_rows};
use crate::machine::SEED;
use crate::plain;

/// Grids with more cells are not given to the crates, which hash each cell or take seconds.
const MOST_PEER_CELLS: usize = 1 << 22;

/// The side of the grid of a batch.
const BATCH_SIDE: usize = 128;

/// Cells of a cost distance that are checked by their neighbours.
const CHECKED: usize = 20_000;

const CUT: &str = "Cut the grid into tiles. A tile is solved from the distances along its border, and again when these fall: `solve_raster` does \
                   it from files, `hullfield.ray` on many machines. A border of 4,096 cells carries 16 kB.";

/// A grid on each engine.
pub(super) struct Case {
    scene: Scene,
    /// On each engine.
    flows: Vec<Flow>,
}

impl Case {
    /// A case of a scene.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn new(context: &Context<'_>, scene: Scene) -> Result<Self, Trouble> {
        let grid = scene.grid()?;
        let flows = context.engines().map(|engine| Flow::new(engine, grid.clone()));
        Ok(Self { flows: flows.collect::<Result<_, _>>()?, scene })
    }

    /// Distances to the goal, and on a GPU their way to the host.
    ///
    /// # Errors
    /// As the library.
    pub(super) fn distances(&self, engine: usize) -> Result<Vec<u32>, Trouble> {
        let flow = &self.flows[engine];
        let goals = [flow.grid().cell(self.scene.goal)];
        let field = flow.solve(&goals, &FieldOptions::default())?.wait()?;
        distances(&field)
    }

    /// Every cell follows from its neighbours: then all distances are right.
    ///
    /// # Errors
    /// The cell that does not.
    pub(super) fn verify(&self, distances: &[u32]) -> Result<(), String> {
        let (grid, scene) = (self.flows[0].grid(), &self.scene);
        same_length(scene.blocked.len(), distances.len())?;
        let codes = scene.connectivity.neighbour_count() as u8;
        if scene.connectivity == Connectivity::Four && scene.costs.is_empty() {
            let wrong =
                plain::first_inconsistent(scene.size[0], |at| scene.blocked[at], distances, scene.goal);
            return wrong
                .map_or(Ok(()), |at| Err(format!("the distance of {} does not hold", grid.cell(at))));
        }
        for at in 0..distances.len() {
            let cell = grid.cell(at);
            let onward = (0..codes).filter_map(|code| {
                let near = grid.neighbour(cell, code)?;
                let to = grid.index(near)?;
                let cost = scene.connectivity.step(code) * grid.cost(near);
                (distances[to] != UNREACHABLE && !scene.blocked[to]).then(|| distances[to] + cost)
            });
            let least = if at == scene.goal { 0 } else { onward.min().unwrap_or(UNREACHABLE) };
            let expected = if scene.blocked[at] { UNREACHABLE } else { least };
            if distances[at] != expected {
                return Err(format!("the distance of {cell} is {}, not {expected}", distances[at]));
            }
        }
        Ok(())
    }
}

fn distances(field: &Field) -> Result<Vec<u32>, Trouble> {
    match field.host() {
        Some((distances, _)) => Ok(distances.to_vec()),
        None => Ok(field.distances()?.wait()?),
    }
}

/// Grids of 64² to 16,384² cells.
pub(crate) fn cells(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "cells",
        title: "Fields over square grids, 20 % obstacles, four neighbours, steps of 1",
        axis: "cells",
        cut: CUT,
    };
    let sides = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384_u64];
    let sizes = context.sizes(&sides.map(|side| side * side));
    let swept = {
        let make = |count: u64| {
            let side = count.isqrt() as usize;
            Case::new(context, Scene::flat(&format!("20 % {side}²"), side, side, noise(side * side, 0.2, 1)))
        };
        let mut contenders = context.contenders(|case: &Case, engine| case.distances(engine));
        contenders.push(Contender::peer("pathfinding 4.16", |case: &Case| {
            limit(case)?;
            Ok(flow::pathfinding_distances(&case.scene, case.flows[0].grid()))
        }));
        contenders.push(Contender::peer("bracket 0.8.7", |case: &Case| {
            limit(case)?;
            Ok(flow::bracket_distances(&case.scene))
        }));
        contenders.push(Contender::peer("a plain queue", |case: &Case| {
            let [width, height, _] = case.scene.size;
            Ok(plain::field(width, height, &case.scene.blocked, &[case.scene.goal]).distances)
        }));
        // scipy counts steps as numbers of f64, and not reached is infinity.
        let scipy = context.python.as_ref().and_then(|python| {
            python.contender(
                "scipy",
                "scipy_cells",
                |case: &Case| {
                    let [width, height, _] = case.scene.size;
                    let blocked = Array::bools(&case.scene.blocked, &[height, width]);
                    (case.scene.blocked.len() as u64, vec![blocked], json!({"goal": case.scene.goal}))
                },
                |case| case.scene.blocked.len() as u64,
                |steps| {
                    steps.into_iter().map(|x| if x.is_finite() { x as u32 } else { UNREACHABLE }).collect()
                },
            )
        });
        contenders.extend(scipy);
        let plan = Plan {
            sizes: &sizes,
            make: &make,
            verify: &|case: &Case, answer: &Vec<u32>| case.verify(answer),
            compare: &|_, _: &Case, one: &Vec<u32>, other: &Vec<u32>| same_rows(one, other),
        };
        context.sweep(&plan, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}

fn limit(case: &Case) -> Result<(), String> {
    if case.scene.blocked.len() <= MOST_PEER_CELLS {
        Ok(())
    } else {
        Err("it is not given more cells".into())
    }
}

/// Volumes of 8³ to 512³ cells.
pub(crate) fn volumes(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "volumes",
        title: "Fields over volumes, 20 % obstacles, 26 neighbours, costs to 9",
        axis: "cells",
        cut: "Cut the volume into blocks, as grids into tiles. A face of 256² cells carries 256 kB.",
    };
    let sizes = context.sizes(&[8, 16, 32, 64, 128, 256, 512_u64].map(|side| side * side * side));
    let swept = {
        let make = |count: u64| {
            let side = (count as f64).cbrt().round() as usize;
            let mut scene = Scene::volume(
                &format!("{side}³"),
                side,
                Connectivity::TwentySix(Corners::BothFree),
                noise(count as usize, 0.2, 5),
            );
            let random = &mut Random::new(SEED);
            scene.costs = (0..count).map(|_| random.below(9) as u32 + 1).collect();
            Case::new(context, scene)
        };
        let mut contenders = context.contenders(|case: &Case, engine| case.distances(engine));
        contenders.push(Contender::peer("pathfinding 4.16", |case: &Case| {
            limit(case)?;
            Ok(flow::pathfinding_distances(&case.scene, case.flows[0].grid()))
        }));
        let plan = Plan {
            sizes: &sizes,
            make: &make,
            verify: &|case: &Case, answer: &Vec<u32>| case.verify(answer),
            compare: &|_, _: &Case, one: &Vec<u32>, other: &Vec<u32>| same_rows(one, other),
        };
        context.sweep(&plan, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}

/// Batches of 1 to 10,000 fields.
pub(crate) fn batches(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "batches",
        title: "Batches of fields over one grid of 128² cells, 20 % obstacles, a goal each",
        axis: "fields",
        cut: "Fields of a batch know nothing of each other: give each machine the grid and some of the goals.",
    };
    let sizes = context.sizes(&[1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000]);
    let swept = {
        let side = BATCH_SIDE;
        let scene = Scene::flat("batch", side, side, noise(side * side, 0.2, 9));
        let free: Vec<usize> = (0..side * side).filter(|&at| !scene.blocked[at]).collect();
        let make = |count: u64| {
            let random = &mut Random::new(SEED);
            let goals: Vec<usize> = (0..count).map(|_| free[random.below(free.len())]).collect();
            Ok((Case::new(context, scene.clone())?, goals))
        };
        type Batch = (Case, Vec<usize>);
        let solve = |(case, goals): &Batch, engine: usize| -> Result<Vec<u32>, Trouble> {
            let flow = &case.flows[engine];
            let goals: Vec<[At; 1]> = goals.iter().map(|&at| [flow.grid().cell(at)]).collect();
            let lists: Vec<&[At]> = goals.iter().map(|goals| &goals[..]).collect();
            let fields = flow.fields(&lists, &FieldOptions::default())?.wait()?;
            let mut all = Vec::with_capacity(goals.len() * side * side);
            for field in &fields.rows {
                all.extend(distances(field)?);
            }
            Ok(all)
        };
        let mut contenders = context.contenders(solve);
        contenders.push(Contender::peer("a plain queue", |(case, goals): &Batch| {
            let blocked = &case.scene.blocked;
            Ok(goals.iter().flat_map(|&goal| plain::field(side, side, blocked, &[goal]).distances).collect())
        }));
        contenders.push(Contender::peer("pathfinding 4.16", |(case, goals): &Batch| {
            let of = |&goal: &usize| {
                let scene = Scene { goal, ..case.scene.clone() };
                flow::pathfinding_distances(&scene, case.flows[0].grid())
            };
            Ok(goals.iter().flat_map(of).collect())
        }));
        let verify = |(case, goals): &Batch, answer: &Vec<u32>| {
            same_length(goals.len() * side * side, answer.len())?;
            let step = (goals.len() / 20).max(1);
            for (&goal, field) in goals.iter().zip(answer.chunks(side * side)).step_by(step) {
                let wrong = plain::first_inconsistent(side, |at| case.scene.blocked[at], field, goal);
                if let Some(at) = wrong {
                    return Err(format!("the distance of cell {at} to {goal} does not hold"));
                }
            }
            Ok(())
        };
        let plan = Plan {
            sizes: &sizes,
            make: &make,
            verify: &verify,
            compare: &|_, _: &Batch, one: &Vec<u32>, other: &Vec<u32>| same_rows(one, other),
        };
        context.sweep(&plan, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}

/// Cost distances over 64² to 8,192² cells of float friction.
pub(crate) fn costs(context: &mut Context<'_>) -> Result<(), String> {
    let topic = Topic {
        name: "costs",
        title: "Cost distances over float friction from 1 to 10, eight neighbours",
        axis: "cells",
        cut: CUT,
    };
    let sizes = context.sizes(&[64, 128, 256, 512, 1024, 2048, 4096, 8192_u64].map(|side| side * side));
    let swept = {
        struct Raster(usize, Vec<f32>, usize);
        let make = |count: u64| {
            let random = &mut Random::new(SEED);
            let friction = (0..count).map(|_| random.between(1.0, 10.0) as f32).collect();
            Ok(Raster(count.isqrt() as usize, friction, count as usize / 3))
        };
        let solve = |Raster(side, friction, target): &Raster| -> Result<Vec<f32>, String> {
            let targets = [At::from([(target % side) as i32, (target / side) as i32])];
            let go_on = |_| ControlFlow::Continue(());
            let options = CostDistanceOptions::default();
            Ok(cost_distance([*side as u32; 2], friction, &targets, &options, go_on)
                .map_err(message)?
                .distances)
        };
        let mut contenders = context.cpu_contenders(solve);
        contenders.push(Contender::peer("Dijkstra, f64 heap", |Raster(side, friction, target): &Raster| {
            Ok(flow_costs::dijkstra(*side, friction, *target).into_iter().map(|x| x as f32).collect())
        }));
        let skimage = context.python.as_ref().and_then(|python| {
            python.contender(
                "skimage",
                "skimage_costs",
                |Raster(side, friction, target): &Raster| {
                    (*side as u64, vec![Array::f32(friction, &[*side, *side])], json!({"target": target}))
                },
                |Raster(side, ..)| *side as u64,
                |distances| distances.into_iter().map(|x| x as f32).collect(),
            )
        });
        contenders.extend(skimage);
        // The distance of a cell is the least over its neighbours, within the rounding of f32 and of the steps.
        let verify = |Raster(side, friction, target): &Raster, answer: &Vec<f32>| {
            same_length(friction.len(), answer.len())?;
            for at in (0..answer.len()).step_by((answer.len() / CHECKED).max(1)) {
                let least = flow_costs::least_of_neighbours(*side, friction, answer, at);
                let expected = if at == *target { 0.0 } else { least };
                let is_near = (f64::from(answer[at]) - expected).abs() <= 2e-6 * expected;
                if !(expected.is_finite() && is_near) {
                    return Err(format!("the distance of cell {at} is {}, not {expected}", answer[at]));
                }
            }
            Ok(())
        };
        // Equal for any number of threads; peers add up in f64, or in another order.
        let compare = |author: Author<'_>, _: &Raster, one: &Vec<f32>, other: &Vec<f32>| {
            same_length(one.len(), other.len())?;
            let allowed = if author == Author::Hullfield { 0.0 } else { 1e-5 };
            let is_near = |one: f32, other: f32| other.is_finite() && (one - other).abs() <= allowed * one;
            let far = one.iter().zip(other).find(|&(&one, &other)| !is_near(one, other));
            far.map_or(Ok(()), |(one, other)| Err(format!("a distance is {other}, not {one}")))
        };
        let plan = Plan { sizes: &sizes, make: &make, verify: &verify, compare: &compare };
        context.sweep(&plan, &contenders)
    };
    context.publish(&topic, swept);
    Ok(())
}
