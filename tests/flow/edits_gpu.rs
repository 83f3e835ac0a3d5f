//! Updated fields on the device after edits, each compared with a field that the CPU engine solves afresh. The tests pass without a
//! check if there is no adapter.

use hullfield::flow::{Cell, Connectivity, Corners, Edit, Field, Flow};
use hullfield::{Engine, Error};
use hullfield_oracle::random::Random;
use hullfield_oracle::{pick, seed};

use crate::common::{gpu, gpu_of_bindings};
use crate::edits::edits;
use crate::scenes::{self, CONNECTIVITIES_2D, CONNECTIVITIES_3D, Scene};

/// The first difference between a field on the device and one in the host's memory.
fn difference(on_device: &Field, on_host: &Field) -> Option<String> {
    let report = |field: &Field| (field.stats().levels, field.stats().reached_count, field.goals().clone());
    if report(on_device) != report(on_host) {
        return Some(format!("{:?}, {:?}", report(on_device), report(on_host)));
    }
    let distances = on_device.distances().unwrap().wait().unwrap();
    let next = on_device.next_codes().unwrap().wait().unwrap();
    let (expected, expected_next) = on_host.host().unwrap();
    if distances == expected && next == expected_next {
        return None;
    }
    let cell = |at: usize| on_host.grid().cell(at);
    let wrong = (0..expected.len()).find(|&at| distances[at] != expected[at]);
    let wrong = wrong.map(|at| format!("distances of {}: {}, {}", cell(at), distances[at], expected[at]));
    let wrong_code = || (0..next.len()).find(|&at| next[at] != expected_next[at]);
    wrong.or_else(|| {
        wrong_code().map(|at| format!("codes of {}: {}, {}", cell(at), next[at], expected_next[at]))
    })
}

/// What many updates of one grid came to.
#[derive(Debug, Default)]
struct Counts {
    updates: usize,
    /// Those that took fewer rounds than the first solve.
    quicker: usize,
    /// Those of fields in several strips.
    in_strips: usize,
}

/// Makes edits and moves goals, one after the other, until a field was updated so often or often had no goal left.
fn update_repeatedly(engine: &Engine, mut scene: Scene, update_count: usize, random: &mut Random) -> Counts {
    let has_costs = !scene.costs.is_empty();
    let mut flow = Flow::new(engine, scene.grid()).unwrap();
    let mut on_host = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
    let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
    let first_rounds = field.stats().rounds;
    let mut counts = Counts::default();
    for round in 0..2 * update_count {
        if counts.updates == update_count {
            break;
        }
        let mut goals = scene.goals.clone();
        if random.chance(0.85) {
            let edits = edits(&scene, has_costs, random);
            flow.edit(&edits).unwrap();
            on_host.edit(&edits).unwrap();
        }
        if random.chance(0.25) {
            let goal = scene.cell(random.below(scene.blocked.len()));
            match random.below(3) {
                0 => goals.push(goal),
                1 => drop(goals.pop()),
                _ => goals[0] = goal,
            }
        }
        let expected = match on_host.solve(&goals, &scene.options) {
            Ok(expected) => expected.wait().unwrap(),
            Err(Error::NoGoals { .. }) => {
                assert!(matches!(flow.update_goals(&mut field, &goals), Err(Error::NoGoals { .. })));
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        let before = (round % 4 == 0).then(|| (field.clone(), field.distances().unwrap().wait().unwrap()));
        if goals == scene.goals && counts.updates > 0 {
            flow.update(&mut field).unwrap().wait().unwrap();
        } else {
            flow.update_goals(&mut field, &goals).unwrap().wait().unwrap();
        }
        // The old field stays what it was.
        if let Some((before, distances)) = before {
            assert_eq!(before.distances().unwrap().wait().unwrap(), distances);
        }
        scene.goals = goals;
        if let Some(difference) = difference(&field, &expected) {
            panic!("{}, round {round}: {difference}", scene.name);
        }
        assert_eq!(field.grid(), on_host.grid());
        counts.updates += 1;
        counts.quicker += usize::from(field.stats().rounds < first_rounds);
        counts.in_strips += usize::from(field.device_parts().len() > 1);
    }
    counts
}

/// Grids of all kinds, in one binding and in several strips.
#[test]
fn updates_equal_fresh_solves() {
    let (Some(whole), Some(strips)) = (gpu(), gpu_of_bindings(64 << 10)) else { return };
    let random = &mut Random::new(seed(177));
    let mut all = Counts::default();
    let turn = random.below(4);
    for (number, connectivity) in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D).enumerate() {
        let number = turn + number;
        // Software drivers take a tenth of a second for an update, and llvmpipe keeps a megabyte of each.
        let (kind, has_costs) = [("noise", false), ("caves", false), ("noise", true)][random.below(3)];
        let max_distance = random.chance(0.5).then_some(60 * connectivity.unit());
        let is_in_strips = number % 4 < 2;
        // Grids of four neighbours without costs are solved in one dispatch up to a side of 256.
        let size = match (connectivity, connectivity.dimension()) {
            (Connectivity::Four, _) => [270, 70, 1],
            (_, 2) if is_in_strips => [130, 140, 1],
            (_, 2) => [90, 80, 1],
            _ if is_in_strips => [20, 31, 28],
            _ => [18, 20, 19],
        };
        let blocked = match kind {
            "noise" => scenes::noise(size, 0.3, random),
            _ => scenes::caves(size, random),
        };
        let name = format!("{kind}, {connectivity:?}, costs {has_costs}, {max_distance:?}");
        // With few goals a field is solved afresh when one is given up.
        let goal_count = [2, 20][number % 2];
        let mut scene = Scene::new(&name, size, connectivity, blocked).random_goals(goal_count, random);
        if has_costs {
            scene = scene.random_costs(12, random);
        }
        scene.options.max_distance = max_distance;
        let engine = if is_in_strips { &strips } else { &whole };
        // Mesa's llvmpipe 22.3 keeps some MiB for each solve by relaxation, until the process ends; SwiftShader does not.
        let counts = update_repeatedly(engine, scene, 3, random);
        all.updates += counts.updates;
        all.quicker += counts.quicker;
        all.in_strips += counts.in_strips;
    }
    println!("{all:?}");
    assert!(all.updates > 20 && all.quicker > all.updates / 2 && all.in_strips > 5, "{all:?}");
}

/// Edits that change half of a field, one after the other: a wall around the goal, and its door.
#[test]
fn doors_of_a_large_grid_are_shut_and_opened() {
    let Some(engine) = gpu() else { return };
    for connectivity in pick(179, &[Connectivity::Four, Connectivity::Eight(Corners::BothFree)], 1) {
        let [width, height] = [270, 110];
        let wall = |at: usize| (100..103).contains(&(at % width)) && at / width != 70;
        let blocked: Vec<bool> = (0..width * height).map(wall).collect();
        let scene = Scene::new("door", [width, height, 1], connectivity, blocked).goals(&[[3, 3, 0]]);
        let mut flow = Flow::new(&engine, scene.grid()).unwrap();
        let mut on_host = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
        let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        let open = on_host.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        let door = Cell::from([101, 70]);
        for edit in [Edit::Block(door), Edit::Free(door), Edit::Block(door), Edit::Free(door)] {
            flow.edit(&[edit]).unwrap();
            on_host.edit(&[edit]).unwrap();
            flow.update(&mut field).unwrap().wait().unwrap();
            let expected = on_host.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
            assert_eq!(difference(&field, &expected), None, "{connectivity:?}, {edit:?}");
        }
        // Control: the comparison finds a difference.
        flow.edit(&[Edit::Block(door)]).unwrap();
        flow.update(&mut field).unwrap().wait().unwrap();
        assert!(difference(&field, &open).is_some());
    }
}

/// The first costs of a grid, costs that rise and fall, and one that makes a distance overflow.
#[test]
fn costs_rise_and_fall() {
    let Some(engine) = gpu() else { return };
    let size = [300, 200, 1];
    let scene = Scene::new("costs", size, Connectivity::Four, vec![false; 60_000]).goals(&[[150, 100, 0]]);
    let mut flow = Flow::new(&engine, scene.grid()).unwrap();
    let mut on_host = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
    let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
    for cost in [7, 1, 30, u32::MAX - 1, 2] {
        let edits: Vec<Edit> = (147..153).map(|x| Edit::Cost([x, 99].into(), cost)).collect();
        flow.edit(&edits).unwrap();
        on_host.edit(&edits).unwrap();
        let expected = on_host.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        flow.update(&mut field).unwrap().wait().unwrap();
        assert_eq!(difference(&field, &expected), None, "cost {cost}");
    }
    // A goal behind a ring of cells that no path can enter within 32 bits.
    let ring = |at: i32| [[150 + at, 99], [150 + at, 101], [149, 100 + at], [151, 100 + at]];
    let edits: Vec<Edit> =
        (-1..=1).flat_map(ring).map(|[x, y]| Edit::Cost([x, y].into(), u32::MAX)).collect();
    flow.edit(&edits).unwrap();
    on_host.edit(&edits).unwrap();
    let expected = on_host.solve(&scene.goals, &scene.options).unwrap().wait();
    let before = field.distances().unwrap().wait().unwrap();
    let updated = flow.update(&mut field).unwrap().wait();
    // The error leaves the field as it was.
    assert_eq!(field.distances().unwrap().wait().unwrap(), before);
    assert!(matches!(expected, Err(Error::DistanceOverflow { .. })), "{expected:?}");
    assert_eq!(updated.unwrap_err(), expected.unwrap_err());
}

/// A field of another device, of a batch, or of a grid of another shape.
#[test]
fn other_fields_are_updated_too() {
    let Some(engine) = gpu() else { return };
    let random = &mut Random::new(178);
    let size = [280, 90, 1];
    let scene = Scene::new("other", size, Connectivity::Four, scenes::noise(size, 0.2, random));
    let scene = scene.random_goals(3, random);
    let mut flow = Flow::new(&engine, scene.grid()).unwrap();
    let goals: Vec<Vec<Cell>> = scene.goals.iter().map(|&goal| vec![goal]).collect();
    let fields = flow.fields(&goals, &scene.options).unwrap().wait().unwrap();
    flow.edit(&edits(&scene, false, random)).unwrap();
    let on_host = Flow::new(&Engine::cpu(), flow.grid().clone()).unwrap();
    for (field, goals) in fields.rows.iter().zip(&goals) {
        let mut field = field.clone();
        match (flow.update(&mut field), on_host.solve(goals, &scene.options)) {
            (Ok(updated), Ok(expected)) => {
                updated.wait().unwrap();
                assert_eq!(difference(&field, &expected.wait().unwrap()), None);
            }
            (Err(updated), Err(expected)) => assert_eq!(updated, expected),
            (updated, expected) => panic!("{updated:?}, {expected:?}"),
        }
    }
    let expected = on_host.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
    // A field in the host's memory is updated there.
    let mut updated = expected.clone();
    flow.update_goals(&mut updated, &scene.goals).unwrap().wait().unwrap();
    assert!(updated.host().is_some());
    // A field of another engine.
    let other = Engine::gpu().unwrap();
    let other_flow = Flow::new(&other, flow.grid().clone()).unwrap();
    let mut updated = fields.rows[0].clone();
    other_flow.update_goals(&mut updated, &scene.goals).unwrap().wait().unwrap();
    assert_eq!(difference(&updated, &expected), None);
    // A field of a grid of another shape.
    let small = Scene::new("small", [270, 40, 1], Connectivity::Four, vec![false; 270 * 40]);
    let small = small.goals(&[[1, 1, 0]]);
    let mut updated = small.solve(&engine).unwrap();
    flow.update_goals(&mut updated, &scene.goals).unwrap().wait().unwrap();
    assert_eq!(difference(&updated, &expected), None);
}

/// Where every goal is blocked, and where nobody waits for an update, the field on the device can be read and updated.
#[test]
fn a_field_outlives_the_errors_of_its_updates() {
    let Some(engine) = gpu() else { return };
    let random = &mut Random::new(seed(180));
    // The first is solved in one dispatch, the second is updated.
    for size in [[60, 40, 1], [280, 60, 1]] {
        let scene = Scene::new("blocked", size, Connectivity::Four, scenes::noise(size, 0.2, random));
        let scene = scene.random_goals(2, random);
        let mut flow = Flow::new(&engine, scene.grid()).unwrap();
        let mut on_host = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
        let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        let before = on_host.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        for edit in [Edit::Block, Edit::Free] {
            let edits: Vec<Edit> = scene.goals.iter().map(|&goal| edit(goal)).collect();
            flow.edit(&edits).unwrap();
            on_host.edit(&edits).unwrap();
            if on_host.solve(&scene.goals, &scene.options).is_err() {
                assert!(matches!(flow.update(&mut field), Err(Error::NoGoals { .. })));
                assert_eq!(difference(&field, &before), None);
            }
        }
        let edits = edits(&scene, false, random);
        flow.edit(&edits).unwrap();
        on_host.edit(&edits).unwrap();
        let Ok(after) = on_host.solve(&scene.goals, &scene.options) else { continue };
        let after = after.wait().unwrap();
        drop(flow.update(&mut field).unwrap());
        assert!(difference(&field, &before).is_none() || difference(&field, &after).is_none());
        let pending = flow.update(&mut field).unwrap();
        // Reading waits for the answer.
        assert_eq!(difference(&field, &after), None);
        pending.wait().unwrap();
    }
}
