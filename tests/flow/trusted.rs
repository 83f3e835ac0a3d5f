//! Compares fields of kernels that run without the checks that were proved unnecessary with those of the same kernels under all checks.
//! The feature `trust-by-call` compiles both and lets each engine choose. Without the feature, or without an adapter, the tests check
//! nothing.

use hullfield::flow::{Cell, Connectivity, Corners, Field, FieldOptions, Flow, Grid, SteerOptions};
use hullfield::{Engine, EngineOptions};
use hullfield_oracle::random::Random;

use crate::common::own_gpu;
use crate::scenes;

/// One device: trusted kernels, and the same with all checks.
fn engines(binding_limit: Option<u64>) -> Option<[Engine; 2]> {
    if cfg!(not(feature = "trust-by-call")) {
        // `cargo xtask test` builds with it.
        return None;
    }
    let trusted = own_gpu()?.with_shader_checks(false);
    let (device, queue) = trusted.device().unwrap();
    let checked = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default()).unwrap();
    let limited = |engine: Engine| match binding_limit {
        Some(bytes) => engine.with_binding_limit(bytes),
        None => engine,
    };
    Some([limited(trusted), limited(checked.with_shader_checks(true))])
}

/// All that a field says, and agents that follow it.
#[derive(Debug, PartialEq)]
struct Answers {
    distances: Vec<u32>,
    codes: Vec<u8>,
    agents: Vec<Cell>,
    paths: Vec<Vec<u32>>,
    /// As text: all bits of a finite number show in it.
    directions: String,
}

fn all_of(flow: &Flow, field: &Field, cells: &[Cell]) -> Answers {
    let mut agents = flow.agents(cells).unwrap();
    agents.step(field, 3).unwrap();
    let paths = field.paths(&cells[..cells.len().min(50)]).unwrap().wait().unwrap();
    let positions: Vec<[f64; 3]> = cells.iter().map(|&cell| field.grid().centre(cell)).collect();
    let directions = field.directions(&positions, &SteerOptions::default()).unwrap().wait().unwrap();
    Answers {
        distances: field.distances().unwrap().wait().unwrap(),
        codes: field.next_codes().unwrap().wait().unwrap(),
        agents: agents.cells().unwrap().wait().unwrap(),
        paths: (0..paths.count()).map(|row| paths.path(row).to_vec()).collect(),
        directions: format!("{:?}", directions.rows),
    }
}

fn compare(engines: &[Engine; 2], size: [usize; 3], connectivity: Connectivity, random: &mut Random) {
    let caves = scenes::caves(size, random);
    let grid = Grid::new(size.map(|n| n as u32), &caves, connectivity.into()).unwrap();
    let cells: Vec<Cell> =
        (0..grid.cell_count()).step_by(grid.cell_count() / 400 + 1).map(|at| grid.cell(at)).collect();
    let free: Vec<Cell> = cells.iter().copied().filter(|&cell| grid.is_free(cell)).collect();
    let goals = [vec![free[0]], vec![free[free.len() / 2], free[free.len() - 1]]];
    let [ours, theirs] = engines.each_ref().map(|engine| {
        let flow = Flow::new(engine, grid.clone()).unwrap();
        let field = flow.solve(&goals[1], &FieldOptions::default()).unwrap().wait().unwrap();
        let limited = FieldOptions { until: vec![free[free.len() / 3]], ..Default::default() };
        let limited = flow.solve(&goals[0], &limited).unwrap().wait().unwrap();
        (all_of(&flow, &field, &cells), limited.distances().unwrap().wait().unwrap())
    });
    assert!(ours == theirs, "{size:?}, {connectivity:?}");
}

/// Sizes around those of tiles: 64 for the wave, 32 for two dimensions, 16 × 8 × 8 for three. Above 256 cells no field is solved by one
/// workgroup.
#[test]
fn fields_and_agents_are_the_same() {
    let Some(engines) = engines(None) else { return };
    let random = &mut Random::new(5);
    for size in [[257, 1, 1], [257, 65, 1], [300, 129, 1], [384, 320, 1], [33, 31, 1]] {
        for connectivity in [Connectivity::Four, Connectivity::Eight(Corners::BothFree)] {
            compare(&engines, size, connectivity, random);
        }
    }
    for size in [[17, 9, 7], [33, 16, 25]] {
        for connectivity in [Connectivity::Six, Connectivity::TwentySix(Corners::OneFree)] {
            compare(&engines, size, connectivity, random);
        }
    }
}

#[test]
fn fields_of_several_strips_are_the_same() {
    let Some(engines) = engines(Some(64 << 10)) else { return };
    let random = &mut Random::new(6);
    for connectivity in [Connectivity::Four, Connectivity::Eight(Corners::BothFree)] {
        compare(&engines, [300, 200, 1], connectivity, random);
    }
}
