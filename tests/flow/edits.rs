//! Updated fields after edits, each compared with a field solved afresh.

use hullfield::flow::{Cell, Connectivity, Corners, Edit, Field, FieldOptions, Flow, Grid};
use hullfield::{Engine, Error};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::scenes::{self, CONNECTIVITIES_2D, CONNECTIVITIES_3D, Scene, expected, judge};

/// The first difference between two fields.
fn difference(one: &Field, other: &Field) -> Option<String> {
    let counts = |field: &Field| {
        let stats = field.stats();
        (stats.levels, stats.rounds, stats.reached_count, field.goals().clone())
    };
    if counts(one) != counts(other) {
        return Some(format!("{:?}, {:?}", counts(one), counts(other)));
    }
    let ((distances, next), (other_distances, other_next)) = (one.host().unwrap(), other.host().unwrap());
    if distances == other_distances && next == other_next {
        return None;
    }
    let cell = |at: usize| one.grid().cell(at);
    let of = |at: usize| format!("distances of {}: {}, {}", cell(at), distances[at], other_distances[at]);
    let code = |at: usize| format!("codes of {}: {}, {}", cell(at), next[at], other_next[at]);
    let wrong = (0..distances.len()).find(|&at| distances[at] != other_distances[at]).map(of);
    wrong.or_else(|| (0..next.len()).find(|&at| next[at] != other_next[at]).map(code))
}

/// Random edits, of cells near each other or all over the grid.
pub(crate) fn edits(scene: &Scene, has_costs: bool, random: &mut Random) -> Vec<Edit> {
    let count = [1, 1, 2, 5, 30][random.below(5)];
    let first = scene.cell(random.below(scene.blocked.len()));
    let is_near = random.chance(0.5);
    let edit = |_| {
        let mut near = |at: i32, length: usize| (at + random.below(9) as i32 - 4).clamp(0, length as i32 - 1);
        let [width, height, depth] = scene.size;
        let mut cell = Cell { x: near(first.x, width), y: near(first.y, height), z: near(first.z, depth) };
        if !is_near {
            cell = scene.cell(random.below(scene.blocked.len()));
        }
        match random.below(if has_costs { 3 } else { 2 }) {
            0 => Edit::Block(cell),
            1 => Edit::Free(cell),
            _ => Edit::Cost(cell, 1 + random.below(12) as u32),
        }
    };
    (0..count).map(edit).collect()
}

/// Makes edits and moves goals, one after the other. Returns how many of the rounds had a goal left.
fn update_repeatedly(mut scene: Scene, round_count: usize, has_costs: bool, random: &mut Random) -> usize {
    let mut flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
    let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
    let mut update_count = 0;
    for round in 0..round_count {
        let before = flow.clone();
        let mut goals = scene.goals.clone();
        if random.chance(0.8) {
            flow.edit(&edits(&scene, has_costs, random)).unwrap();
        }
        if random.chance(0.3) {
            let goal = scene.cell(random.below(scene.blocked.len()));
            match random.below(3) {
                0 => goals.push(goal),
                1 => drop(goals.pop()),
                _ => goals[0] = goal,
            }
        }
        let fresh = match flow.solve(&goals, &scene.options) {
            Ok(fresh) => fresh.wait().unwrap(),
            Err(Error::NoGoals { .. }) => {
                assert!(matches!(flow.update_goals(&mut field, &goals), Err(Error::NoGoals { .. })));
                flow = before;
                continue;
            }
            Err(error) => panic!("{error}"),
        };
        // If another handle of the field is alive, the update changes a copy.
        let kept = (round % 3 == 0).then(|| (field.clone(), field.distances().unwrap().wait().unwrap()));
        if goals == scene.goals {
            flow.update(&mut field).unwrap().wait().unwrap();
        } else {
            flow.update_goals(&mut field, &goals).unwrap().wait().unwrap();
        }
        if let Some((kept, distances)) = kept {
            assert_eq!(kept.host().unwrap().0, distances);
        }
        scene.goals = goals;
        if let Some(difference) = difference(&field, &fresh) {
            panic!("{}, round {round}: {difference}", scene.name);
        }
        assert_eq!(field.grid(), flow.grid());
        if round % 40 == 0 {
            scene.blocked =
                (0..scene.blocked.len()).map(|at| flow.grid().is_obstacle(scene.cell(at))).collect();
            scene.costs = flow.grid().costs().to_vec();
            judge(&scene, &expected(&scene), Ok(field.clone())).unwrap();
        }
        update_count += 1;
    }
    update_count
}

/// A thousand edits of grids of all kinds.
#[test]
fn updates_equal_fresh_solves() {
    let random = &mut Random::new(seed(77));
    let mut update_count = 0;
    for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
        for (kind, has_costs) in [("noise", false), ("caves", false), ("noise", true)] {
            for max_distance in [None, Some(30 * connectivity.unit())] {
                let size = if connectivity.dimension() == 2 { [73, 51, 1] } else { [19, 15, 13] };
                let blocked = match kind {
                    "noise" => scenes::noise(size, 0.3, random),
                    _ => scenes::caves(size, random),
                };
                let name = format!("{kind}, {connectivity:?}, costs {has_costs}, {max_distance:?}");
                let mut scene = Scene::new(&name, size, connectivity, blocked).random_goals(2, random);
                if has_costs {
                    scene = scene.random_costs(12, random);
                }
                scene.options.max_distance = max_distance;
                update_count += update_repeatedly(scene, 40, has_costs, random);
            }
        }
    }
    assert!(update_count >= 1000, "{update_count} edits");
}

/// Larger grids, of which only a small part changes.
#[test]
fn updates_of_large_grids_equal_fresh_solves() {
    let random = &mut Random::new(seed(78));
    for (connectivity, has_costs) in [
        (Connectivity::Four, false),
        (Connectivity::Four, true),
        (Connectivity::Eight(Corners::BothFree), false),
        (Connectivity::Eight(Corners::OneFree), true),
    ] {
        let size = [400, 301, 1];
        for blocked in [scenes::noise(size, 0.2, random), scenes::rooms(400, 301, 20, random)] {
            let mut scene = Scene::new("large", size, connectivity, blocked).random_goals(3, random);
            if has_costs {
                scene = scene.random_costs(12, random);
            }
            update_repeatedly(scene, extent(10, 16), has_costs, random);
        }
    }
}

/// Rows shorter than a word, exactly a word, slightly longer; and grids of one row or column.
#[test]
fn updates_of_narrow_grids_equal_fresh_solves() {
    let random = &mut Random::new(seed(79));
    let mut update_count = 0;
    for [width, height] in [
        [1, 1],
        [1, 90],
        [90, 1],
        [2, 64],
        [64, 2],
        [63, 40],
        [64, 40],
        [65, 40],
        [128, 33],
        [129, 34],
        [192, 3],
    ] {
        for (chance, max_distance) in [(0.1, None), (0.4, None), (0.3, Some(25))] {
            let size = [width, height, 1];
            let mut blocked = scenes::noise(size, chance, random);
            blocked[random.below(width * height)] = false;
            let name = format!("{width} x {height}, {chance}, {max_distance:?}");
            let mut scene = Scene::new(&name, size, Connectivity::Four, blocked).random_goals(1, random);
            scene.options.max_distance = max_distance;
            update_count += update_repeatedly(scene, 25, false, random);
        }
    }
    assert!(update_count > 400, "{update_count} edits");
}

/// A door that is shut cuts off half the grid; one that is opened joins it again.
#[test]
fn doors_are_shut_and_opened() {
    for connectivity in CONNECTIVITIES_2D {
        let size = [41, 33, 1];
        let blocked: Vec<bool> =
            (0..41 * 33).map(|at| (19..22).contains(&(at % 41)) && at / 41 != 7).collect();
        let scene = Scene::new("door", size, connectivity, blocked).goals(&[[3, 3, 0]]);
        let mut flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
        let open = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        let door = Cell::from([20, 7]);
        flow.edit(&[Edit::Block(door)]).unwrap();
        let mut shut = open.clone();
        flow.update(&mut shut).unwrap().wait().unwrap();
        let fresh = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        assert_eq!(difference(&shut, &fresh), None);
        assert!(shut.stats().reached_count < open.stats().reached_count);
        flow.edit(&[Edit::Free(door)]).unwrap();
        let mut again = shut.clone();
        flow.update(&mut again).unwrap().wait().unwrap();
        assert_eq!(difference(&again, &open), None);
        // Control: the comparison finds a difference.
        assert!(difference(&again, &shut).is_some());
    }
}

/// Costs grow until a distance is too large: the update gives the same error as a fresh solve, and the field stays.
#[test]
fn an_update_reports_a_distance_that_overflows() {
    let grid = Grid::new([30, 1, 1], &[], Connectivity::Four.into()).unwrap();
    let mut flow = Flow::new(&Engine::cpu(), grid).unwrap();
    let goals = [Cell::from([0, 0])];
    let mut field = flow.solve(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
    for (x, is_too_large) in [(9, false), (10, true)] {
        flow.edit(&[Edit::Cost([x, 0].into(), 1 << 31)]).unwrap();
        let before = field.clone();
        let fresh = flow.solve(&goals, &FieldOptions::default()).unwrap().wait();
        let updated = flow.update(&mut field).unwrap().wait();
        match (fresh, updated) {
            (Ok(fresh), Ok(())) => {
                assert_eq!(difference(&field, &fresh), None);
                assert!(!is_too_large);
            }
            (Err(fresh), Err(updated)) => {
                assert_eq!(fresh, updated);
                assert_eq!(difference(&field, &before), None);
                assert!(
                    is_too_large && matches!(updated, Error::DistanceOverflow { cell, .. } if cell.x == 11)
                );
            }
            (fresh, updated) => panic!("{fresh:?}, {updated:?}"),
        }
    }
    // The same with the only handle of the field, then with costs that fit.
    let distances = field.distances().unwrap().wait().unwrap();
    assert!(flow.update(&mut field).unwrap().wait().is_err());
    assert_eq!(field.host().unwrap().0, distances);
    flow.edit(&[Edit::Cost([10, 0].into(), 4)]).unwrap();
    flow.update(&mut field).unwrap().wait().unwrap();
    let fresh = flow.solve(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
    assert_eq!(difference(&field, &fresh), None);
}

/// Where every goal is blocked, and where a call is refused, the field is what it was: its arrays, its goals and its grid.
#[test]
fn a_field_outlives_the_errors_of_its_updates() {
    let random = &mut Random::new(seed(80));
    for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
        let size = if connectivity.dimension() == 2 { [31, 24, 1] } else { [9, 8, 7] };
        let scene = Scene::new("blocked", size, connectivity, scenes::noise(size, 0.2, random));
        let scene = scene.random_goals(2, random);
        let mut flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
        let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        let before = (field.clone(), field.grid().clone(), field.stats().total_ms);
        let block: Vec<Edit> = scene.goals.iter().map(|&goal| Edit::Block(goal)).collect();
        flow.edit(&block).unwrap();
        for _ in 0..2 {
            assert!(matches!(flow.update(&mut field), Err(Error::NoGoals { .. })));
            let outside = [Cell::from([size[0] as i32, 0])];
            assert!(matches!(flow.update_goals(&mut field, &outside), Err(Error::NoGoals { .. })));
            assert_eq!(difference(&field, &before.0), None);
            assert_eq!((field.grid(), field.stats().total_ms), (&before.1, before.2));
        }
        let free: Vec<Edit> = scene.goals.iter().map(|&goal| Edit::Free(goal)).collect();
        flow.edit(&[&free[..], &edits(&scene, false, random)].concat()).unwrap();
        match flow.solve(&scene.goals, &scene.options) {
            Ok(fresh) => {
                flow.update(&mut field).unwrap().wait().unwrap();
                assert_eq!(difference(&field, &fresh.wait().unwrap()), None);
            }
            Err(error) => assert_eq!(flow.update(&mut field).unwrap_err(), error),
        }
    }
}

/// Updates whose answers nobody waits for, or whose handles are read, cloned and updated meanwhile.
#[test]
fn a_field_may_be_used_while_it_is_updated() {
    let random = &mut Random::new(seed(81));
    let size = [160, 120, 1];
    for connectivity in [Connectivity::Four, Connectivity::Eight(Corners::BothFree)] {
        let scene = Scene::new("in flight", size, connectivity, scenes::noise(size, 0.25, random));
        let scene = scene.random_goals(3, random);
        let mut flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
        let mut field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        for round in 0..60 {
            flow.edit(&edits(&scene, false, random)).unwrap();
            let Ok(fresh) = flow.solve(&scene.goals, &scene.options) else { continue };
            let fresh = fresh.wait().unwrap();
            let before = field.clone();
            let distances = before.distances().unwrap().wait().unwrap();
            let pending = flow.update(&mut field).unwrap();
            match round % 4 {
                // The handle waits for the update, and so does a clone of it.
                0 => assert_eq!(difference(&field.clone(), &fresh), None),
                1 => {
                    // It is what it was, or updated as a whole.
                    drop(pending);
                    assert!(difference(&field, &fresh).is_none() || difference(&field, &before).is_none());
                    flow.update(&mut field).unwrap().wait().unwrap();
                }
                2 => {
                    let second = flow.update(&mut field).unwrap();
                    second.wait().unwrap();
                    pending.wait().unwrap();
                }
                _ => pending.wait().unwrap(),
            }
            assert_eq!(difference(&field, &fresh), None, "round {round}");
            assert_eq!(before.host().unwrap().0, distances, "round {round}");
        }
    }
}

/// A field of another grid, and one with targets, are solved afresh.
#[test]
fn fields_of_other_grids_and_with_targets_are_solved_afresh() {
    let goals = [Cell::from([1, 1])];
    let small =
        Flow::new(&Engine::cpu(), Grid::new([5, 4, 1], &[], Connectivity::Four.into()).unwrap()).unwrap();
    let large =
        Flow::new(&Engine::cpu(), Grid::new([9, 7, 1], &[], Connectivity::Four.into()).unwrap()).unwrap();
    let mut field = small.solve(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
    let fresh = large.solve(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
    large.update(&mut field).unwrap().wait().unwrap();
    assert_eq!(difference(&field, &fresh), None);

    let near = FieldOptions { until: vec![[3, 1].into()], ..FieldOptions::default() };
    let mut flow = large.clone();
    let mut field = flow.solve(&goals, &near).unwrap().wait().unwrap();
    flow.edit(&[Edit::Block([2, 1].into())]).unwrap();
    let fresh = flow.solve(&goals, &near).unwrap().wait().unwrap();
    flow.update(&mut field).unwrap().wait().unwrap();
    assert_eq!(difference(&field, &fresh), None);
    // Its target is outside the smaller grid.
    let far = FieldOptions { until: vec![[8, 6].into()], ..FieldOptions::default() };
    let mut field = flow.solve(&goals, &far).unwrap().wait().unwrap();
    assert!(matches!(small.update(&mut field), Err(Error::Value { field: "until", .. })));
    assert_eq!(field.grid().size(), [9, 7, 1]);
}
