//! Fields of the CPU engine, each cell against a plain queue or heap.

use hullfield::flow::{Cell, Connectivity, Corners, Edit, FieldOptions, Flow, Grid};
use hullfield::{Engine, Error};
use hullfield_oracle::random::Random;

use crate::scenes::{self, Expected, FLAT, SOLID, Scene, compare, expected, judge};

fn check_all(scenes: &[Scene]) {
    let engine = Engine::cpu();
    scenes.iter().for_each(|scene| scene.check(&engine));
}

#[test]
fn maps_are_solved() {
    check_all(&scenes::map_scenes());
}

#[test]
fn small_flat_grids_are_solved() {
    for connectivity in FLAT {
        check_all(&scenes::small_scenes(connectivity));
    }
}

#[test]
fn small_volumes_are_solved() {
    for connectivity in SOLID {
        check_all(&scenes::small_scenes(connectivity));
    }
}

#[test]
fn odd_grids_are_solved() {
    check_all(&scenes::odd_scenes());
}

#[test]
fn limits_are_held() {
    check_all(&scenes::limited_scenes());
}

#[test]
fn sums_that_are_too_large_are_named() {
    let scenes = scenes::overflowing_scenes();
    let failing = scenes.iter().filter(|scene| expected(scene).is_err()).count();
    assert!(failing >= 8 && failing < scenes.len(), "{failing} of {} overflow", scenes.len());
    check_all(&scenes);
}

/// A way of 524,000 steps.
#[test]
fn a_long_serpentine_is_solved() {
    let blocked = scenes::serpentine(1024, 1024);
    let scene = Scene::new("serpentine", [1024, 1024, 1], Connectivity::Four, blocked).goals(&[[0, 0, 0]]);
    let field = scene.solve(&Engine::cpu()).unwrap();
    assert!(field.summary().levels > 524_000, "{:?}", field.summary());
    judge(&scene, &expected(&scene), Ok(field)).unwrap();
}

#[test]
fn goals_are_sorted_out() {
    let mut blocked = vec![false; 6];
    blocked[1] = true;
    let flow =
        Flow::new(&Engine::cpu(), Grid::new([3, 2, 1], Connectivity::Four, &blocked).unwrap()).unwrap();
    let [free, wall, beside] = [[0, 0], [1, 0], [3, 0]].map(Cell::from);
    let field = flow.solve(&[wall, free, beside, free], &FieldOptions::default()).unwrap().wait().unwrap();
    let report = &field.summary().goals;
    assert_eq!(
        (report.used_count, &report.blocked[..], &report.outside[..]),
        (1, &[wall][..], &[beside][..])
    );
    for (goals, counts) in [(&[][..], (0, 0, 0)), (&[wall, beside, beside][..], (3, 1, 2))] {
        match flow.solve(goals, &FieldOptions::default()) {
            Err(Error::NoGoals { given_count, blocked_count, outside_count }) => {
                assert_eq!((given_count, blocked_count, outside_count), counts);
            }
            other => panic!("{other:?}"),
        }
    }
    let until = FieldOptions { until: vec![free, beside], ..FieldOptions::default() };
    assert!(matches!(flow.solve(&[free], &until), Err(Error::CellOutside { cell, .. }) if cell == beside));
}

#[test]
fn a_batch_is_as_its_fields() {
    let random = &mut Random::new(9);
    let size = [90, 70, 1];
    let scene = Scene::new("batch", size, Connectivity::Four, scenes::noise(size, 0.3, random));
    let flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
    let goals: Vec<Vec<Cell>> =
        (0..17).map(|at| scene.clone().random_goals(at % 3 + 1, random).goals).collect();
    let lists: Vec<&[Cell]> = goals.iter().map(|goals| &goals[..]).collect();
    let fields = flow.solve_batch(&lists, &FieldOptions::default()).unwrap().wait().unwrap();
    assert_eq!(fields.len(), goals.len());
    for (field, goals) in fields.into_iter().zip(&goals) {
        let scene = Scene { goals: goals.clone(), ..scene.clone() };
        judge(&scene, &expected(&scene), Ok(field)).unwrap();
    }
    assert!(flow.solve_batch(&[], &FieldOptions::default()).unwrap().wait().unwrap().is_empty());
    let missing = flow.solve_batch(&[lists[0], &[]], &FieldOptions::default());
    assert!(matches!(missing, Err(Error::NoGoals { given_count: 0, .. })));
}

#[test]
fn each_field_of_a_batch_ends_at_its_own_cells() {
    let random = &mut Random::new(12);
    for connectivity in [Connectivity::Four, Connectivity::Eight(Corners::BothFree)] {
        let size = [120, 90, 1];
        let scene = Scene::new("batch", size, connectivity, scenes::noise(size, 0.2, random));
        let flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
        scenes::judge_batch_until(&flow, &scene, 9, random);
    }
    let flow = Flow::new(&Engine::cpu(), Grid::open([3, 1, 1], Connectivity::Four).unwrap()).unwrap();
    let (goals, none): ([&[Cell]; 1], [&[Cell]; 0]) = ([&[Cell { x: 0, y: 0, z: 0 }]], []);
    let refused = flow.solve_batch_until(&goals, &none, &FieldOptions::default());
    assert!(matches!(refused, Err(Error::QueryField { field: "until", .. })));
    let beside = Cell::from([3, 0]);
    let refused = flow.solve_batch_until(&goals, &[&[beside]], &FieldOptions::default());
    assert!(matches!(refused, Err(Error::CellOutside { cell, .. }) if cell == beside));
}

#[test]
fn bad_grids_are_refused() {
    let four = Connectivity::Four;
    for size in [[0, 5, 1], [5, 0, 1], [5, 5, 0], [5, 5, 2]] {
        assert!(matches!(Grid::open(size, four), Err(Error::GridField { field: "size", .. })), "{size:?}");
    }
    assert!(matches!(Grid::open([1 << 31, 1, 1], four), Err(Error::TooMany { .. })));
    assert!(matches!(Grid::open([1 << 16, 1 << 16, 1], four), Err(Error::TooMany { .. })));
    let short = Grid::new([3, 3, 1], four, &[false; 8]);
    assert!(matches!(short, Err(Error::CellCount { given_count: 8, cell_count: 9, .. })));
    let zero = Grid::open([3, 1, 1], four).unwrap().with_costs(&[1, 0, 1]);
    assert!(matches!(zero, Err(Error::CellField { cell, field: "cost", .. }) if cell == Cell::from([1, 0])));
}

#[test]
fn edits_are_all_made_or_none() {
    let grid = Grid::open([4, 4, 1], Connectivity::Four).unwrap();
    let mut flow = Flow::new(&Engine::cpu(), grid.clone()).unwrap();
    let [inside, beside] = [[1, 1], [4, 0]].map(Cell::from);
    let refused = flow.edit(&[Edit::Block(inside), Edit::Free(beside)]);
    assert!(matches!(refused, Err(Error::EditOutside { row: 1, cell, .. }) if cell == beside));
    assert!(matches!(flow.edit(&[Edit::Block(inside), Edit::Cost(inside, 0)]), Err(Error::CellField { .. })));
    assert_eq!(flow.grid(), &grid);
    flow.edit(&[Edit::Block(inside), Edit::Cost(inside, 5)]).unwrap();
    assert!(flow.grid().is_obstacle(inside) && flow.grid().cost(inside) == 5);
}

/// Each comparison finds what is wrong with one cell.
#[test]
fn comparisons_find_a_wrong_cell() {
    let random = &mut Random::new(5);
    let size = [40, 30, 1];
    let blocked = scenes::caves(size, random);
    let scene = Scene::new("", size, Connectivity::Eight(Corners::OneFree), blocked).random_goals(1, random);
    let right = expected(&scene).unwrap();
    compare(&scene, &right, &right.distances, &right.next).unwrap();
    for index in 0..right.distances.len() {
        let mut wrong = right.clone();
        wrong.distances[index] ^= 1;
        assert!(compare(&scene, &right, &wrong.distances, &wrong.next).is_err());
        let mut wrong: Expected = right.clone();
        wrong.next[index] = wrong.next[index].wrapping_add(1);
        assert!(compare(&scene, &right, &wrong.distances, &wrong.next).is_err());
    }
    // An error that must be is missed, and one that must not be is found.
    let field = scene.solve(&Engine::cpu()).unwrap();
    assert!(judge(&scene, &Err(scene.cell(0)), Ok(field)).is_err());
    assert!(judge(&scene, &Ok(right), Err(Error::DistanceOverflow { cell: scene.cell(0) })).is_err());
    let other = Err(Error::DistanceOverflow { cell: scene.cell(1) });
    assert!(judge(&scene, &Err(scene.cell(0)), other).is_err());
}

/// Grids that are large enough for strips on many threads, of the kinds that engines are chosen by; three pools.
#[cfg(feature = "threads")]
#[test]
fn large_grids_are_solved_on_any_threads() {
    let random = &mut Random::new(51);
    let size = [1100, 1013, 1];
    for (name, blocked) in [
        ("open", vec![false; 1100 * 1013]),
        ("noise", scenes::noise(size, 0.3, random)),
        ("caves", scenes::caves(size, random)),
        ("serpentine", scenes::serpentine(1100, 1013)),
    ] {
        let scene = Scene::new(name, size, Connectivity::Four, blocked).random_goals(2, random);
        let limited = FieldOptions { max_distance: Some(300), until: vec![] };
        for scene in [Scene { options: limited, ..scene.clone() }, scene] {
            let expected = expected(&scene);
            for thread_count in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(thread_count).build().unwrap();
                let field = pool.install(|| scene.solve(&Engine::cpu()));
                judge(&scene, &expected, field).unwrap_or_else(|message| panic!("{name}: {message}"));
            }
        }
    }
}
