//! Fields of the CPU engine, each cell compared with the oracle: a plain queue or heap.

use hullfield::flow::{
    Border, Cell, Connectivity, Corners, Edit, FieldOptions, Flow, Grid, GridFrame, GridOptions,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::common;
use crate::scenes::{self, CONNECTIVITIES_2D, CONNECTIVITIES_3D, Expected, Scene, compare, expected, judge};

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
    for connectivity in CONNECTIVITIES_2D {
        check_all(&scenes::one_of(extent(4, 2), &scenes::small_scenes(connectivity)));
    }
}

#[test]
fn small_volumes_are_solved() {
    for connectivity in CONNECTIVITIES_3D {
        check_all(&scenes::one_of(extent(4, 2), &scenes::small_scenes(connectivity)));
    }
}

#[test]
fn unusual_grids_are_solved() {
    check_all(&scenes::unusual_scenes());
}

#[test]
fn max_distance_and_until_limit_fields() {
    check_all(&scenes::limited_scenes());
}

#[test]
fn distances_that_overflow_are_reported() {
    let scenes = scenes::overflowing_scenes();
    let failing = scenes.iter().filter(|scene| expected(scene).is_err()).count();
    assert!(failing >= 8 && failing < scenes.len(), "{failing} of {} overflow", scenes.len());
    check_all(&scenes);
}

/// A path of 524,000 steps.
#[test]
fn a_long_serpentine_is_solved() {
    let blocked = scenes::serpentine(1024, 1024);
    let scene = Scene::new("serpentine", [1024, 1024, 1], Connectivity::Four, blocked).goals(&[[0, 0, 0]]);
    let field = scene.solve(&Engine::cpu()).unwrap();
    assert!(field.stats().levels > 524_000, "{:?}", field.stats());
    judge(&scene, &expected(&scene), Ok(field)).unwrap();
}

#[test]
fn goals_on_obstacles_and_outside_are_reported() {
    let mut blocked = vec![false; 6];
    blocked[1] = true;
    let flow = Flow::new(&Engine::cpu(), Grid::new([3, 2, 1], &blocked, Connectivity::Four.into()).unwrap())
        .unwrap();
    let [free, wall, outside] = [[0, 0], [1, 0], [3, 0]].map(Cell::from);
    let field = flow.solve(&[wall, free, outside, free], &FieldOptions::default()).unwrap().wait().unwrap();
    let report = field.goals();
    assert_eq!(
        (report.used_count, &report.blocked[..], &report.outside[..]),
        (1, &[wall][..], &[outside][..])
    );
    for (goals, counts) in [(&[][..], (0, 0, 0)), (&[wall, outside, outside][..], (3, 1, 2))] {
        match flow.solve(goals, &FieldOptions::default()) {
            Err(Error::NoGoals { given_count, blocked_count, outside_count, .. }) => {
                assert_eq!((given_count, blocked_count, outside_count), counts);
            }
            other => panic!("{other:?}"),
        }
    }
    let until = FieldOptions { until: vec![free, outside], ..FieldOptions::default() };
    let refused = flow.solve(&[free], &until).unwrap_err().to_string();
    assert_eq!(refused, "until is (3, 0), it must be in the grid of 3 x 2 x 1 cells");
}

#[test]
fn a_batch_equals_its_fields() {
    let random = &mut Random::new(seed(9));
    let size = [90, 70, 1];
    let scene = Scene::new("batch", size, Connectivity::Four, scenes::noise(size, 0.3, random));
    let flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
    let goals: Vec<Vec<Cell>> =
        (0..17).map(|at| scene.clone().random_goals(at % 3 + 1, random).goals).collect();
    let lists: Vec<&[Cell]> = goals.iter().map(|goals| &goals[..]).collect();
    let fields = flow.fields(&lists, &FieldOptions::default()).unwrap().wait().unwrap();
    assert_eq!(fields.rows.len(), goals.len());
    for (field, goals) in fields.into_iter().zip(&goals) {
        let scene = Scene { goals: goals.clone(), ..scene.clone() };
        judge(&scene, &expected(&scene), Ok(field)).unwrap();
    }
    assert!(flow.fields(&lists[..0], &FieldOptions::default()).unwrap().wait().unwrap().rows.is_empty());
    let missing = flow.fields(&[lists[0], &[]], &FieldOptions::default());
    assert!(matches!(missing, Err(Error::NoGoals { at: Location::Query(1), given_count: 0, .. })));
}

#[test]
fn each_field_of_a_batch_stops_at_its_own_targets() {
    let random = &mut Random::new(seed(12));
    for connectivity in [Connectivity::Four, Connectivity::Eight(Corners::BothFree)] {
        let size = [120, 90, 1];
        let scene = Scene::new("batch", size, connectivity, scenes::noise(size, 0.2, random));
        let flow = Flow::new(&Engine::cpu(), scene.grid()).unwrap();
        scenes::judge_batch_until(&flow, &scene, 9, random);
    }
    let flow =
        Flow::new(&Engine::cpu(), Grid::new([3, 1, 1], &[], Connectivity::Four.into()).unwrap()).unwrap();
    let goals = [[Cell::from([0, 0])]; 2];
    let refused = |until_each: Vec<Vec<Cell>>| {
        let options = FieldOptions { until_each, ..FieldOptions::default() };
        flow.fields(&goals, &options).unwrap_err().to_string()
    };
    assert_eq!(refused(vec![vec![]]), "1 lists of until_each were given, there are 2 fields");
    let outside = "query 1: until_each is (3, 0), it must be in the grid of 3 x 1 x 1 cells";
    assert_eq!(refused(vec![vec![], vec![[3, 0].into()]]), outside);
    // `until` and `until_each` add up.
    let until_each = vec![vec![], vec![[2, 0].into()]];
    let options = FieldOptions { until: vec![[1, 0].into()], until_each, ..FieldOptions::default() };
    let fields = flow.fields(&goals, &options).unwrap().wait().unwrap();
    assert_eq!(fields.rows.iter().map(|field| field.stats().reached_count).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((fields.stats.reached_count, fields.stats.levels), (5, 3));
}

#[test]
fn bad_grids_are_refused() {
    let four = Connectivity::Four;
    for size in [[0, 5, 1], [5, 0, 1], [5, 5, 0], [5, 5, 2]] {
        assert!(
            matches!(Grid::new(size, &[], four.into()), Err(Error::Value { field: "size", .. })),
            "{size:?}"
        );
    }
    assert!(matches!(Grid::new([1 << 31, 1, 1], &[], four.into()), Err(Error::TooMany { .. })));
    assert!(matches!(Grid::new([1 << 16, 1 << 16, 1], &[], four.into()), Err(Error::TooMany { .. })));
    let short = Grid::new([3, 3, 1], &[false; 8], four.into());
    assert_eq!(short.unwrap_err().to_string(), "8 obstacles were given, the grid has 9 cells");
    let options = |costs: Vec<u32>| GridOptions { costs, ..four.into() };
    let short = Grid::new([3, 1, 1], &[], options(vec![1, 1]));
    assert_eq!(short.unwrap_err().to_string(), "2 costs were given, the grid has 3 cells");
    let zero = Grid::new([3, 1, 1], &[], options(vec![1, 0, 1]));
    assert_eq!(zero.unwrap_err().to_string(), "cell (1, 0): cost is 0, it must be 1 or more");
    for (cell_size, origin, expected) in [
        (0.0, 0.0, "cell_size is 0, it must be positive and finite"),
        (-1e300, 0.0, "cell_size is -1e300, it must be positive and finite"),
        (1.0, f64::NAN, "origin is (NaN, 0, 0), it must be finite"),
    ] {
        let frame = GridFrame { cell_size, origin: [origin, 0.0, 0.0], ..GridFrame::default() };
        let refused = Grid::new([3, 1, 1], &[], GridOptions { frame, ..four.into() });
        assert_eq!(refused.unwrap_err().to_string(), expected);
    }
    for (clearance, shown) in [(-1.0, "-1"), (f64::NAN, "NaN"), (1e300, "1e300")] {
        let refused = Grid::new([3, 1, 1], &[], GridOptions { clearance, ..four.into() });
        let expected = format!("clearance is {shown}, it must be from 0 to 32,767 cells");
        assert_eq!(refused.unwrap_err().to_string(), expected);
    }
}

#[test]
fn edits_are_all_made_or_none() {
    let grid = Grid::new([4, 4, 1], &[], Connectivity::Four.into()).unwrap();
    let mut flow = Flow::new(&Engine::cpu(), grid.clone()).unwrap();
    let [inside, beside] = [[1, 1], [4, 0]].map(Cell::from);
    let refused = flow.edit(&[Edit::Block(inside), Edit::Free(beside)]);
    let outside = "edit 1: cell is (4, 0), it must be in the grid of 4 x 4 x 1 cells";
    assert_eq!(refused.unwrap_err().to_string(), outside);
    let refused = flow.edit(&[Edit::Block(inside), Edit::Cost(inside, 0)]);
    assert_eq!(refused.unwrap_err().to_string(), "edit 1: cost is 0, it must be 1 or more");
    assert_eq!(flow.grid(), &grid);
    flow.edit(&[Edit::Block(inside), Edit::Cost(inside, 5)]).unwrap();
    assert!(flow.grid().is_obstacle(inside) && flow.grid().cost(inside) == 5);
}

/// Control: each comparison finds one wrong cell.
#[test]
fn comparisons_find_a_wrong_cell() {
    let random = &mut Random::new(seed(5));
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
    let overflow = |index| Error::DistanceOverflow { at: Location::Argument, cell: scene.cell(index) };
    // A missing error is found, and so is a wrong one.
    let field = scene.solve(&Engine::cpu()).unwrap();
    assert!(judge(&scene, &Err(scene.cell(0)), Ok(field)).is_err());
    assert!(judge(&scene, &Ok(right), Err(overflow(0))).is_err());
    assert!(judge(&scene, &Err(scene.cell(0)), Err(overflow(1))).is_err());
}

/// Grids large enough for strips on many threads, one for each method of the CPU engine, in pools of three sizes.
#[cfg(feature = "threads")]
#[test]
fn large_grids_are_solved_on_any_threads() {
    let random = &mut Random::new(seed(51));
    let size = [1100, 1013, 1];
    for (name, blocked) in [
        ("open", vec![false; 1100 * 1013]),
        ("noise", scenes::noise(size, 0.3, random)),
        ("caves", scenes::caves(size, random)),
        ("serpentine", scenes::serpentine(1100, 1013)),
    ] {
        let scene = Scene::new(name, size, Connectivity::Four, blocked).random_goals(2, random);
        let limited = FieldOptions { max_distance: Some(300), ..FieldOptions::default() };
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

/// A grid keeps clear of its obstacles, and of its border if that is a wall.
#[test]
fn a_grid_keeps_clear_of_walls_and_borders() {
    let mut obstacles = vec![false; 9 * 9];
    obstacles[4 * 9 + 4] = true;
    let count = |clearance: f64, border| {
        let options = GridOptions { clearance, border, ..Connectivity::Four.into() };
        Grid::new([9, 9, 1], &obstacles, options).unwrap().obstacle_count()
    };
    assert_eq!(count(0.0, Border::Wall), 1);
    assert_eq!(count(0.6, Border::Open), 5);
    assert_eq!(count(0.6, Border::Wall), 5 + 32);
    let options = GridOptions { clearance: 0.6, ..Connectivity::Four.into() };
    let grid = Grid::new([9, 9, 1], &obstacles, options).unwrap();
    assert_eq!(Grid::new([9, 9, 1], &grid.obstacles(), Connectivity::Four.into()).unwrap(), grid);
}

/// A batch has the times of the call and the sums of its fields. Each of its fields has the same times.
#[test]
fn a_batch_has_the_times_of_its_call() {
    let engines = [Some(Engine::cpu()), common::gpu()];
    for engine in engines.iter().flatten() {
        let grid = Grid::new([300, 40, 1], &[], Connectivity::Four.into()).unwrap();
        let flow = Flow::new(engine, grid).unwrap();
        let goals = [[Cell::from([0, 0])], [Cell::from([150, 20])]];
        let fields = flow.fields(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
        let stats = fields.stats;
        assert_eq!((stats.reached_count, stats.levels), (2 * 300 * 40, 300 + 40 - 1));
        assert!(stats.total_ms > 0.0 && stats.compile_ms <= stats.total_ms, "{stats:?}");
        for field in &fields {
            let own = field.stats();
            assert_eq!((own.total_ms, own.kernels_ms), (stats.total_ms, stats.kernels_ms));
            assert!(own.rounds <= stats.rounds && own.reached_count == 300 * 40);
        }
        let one = flow.solve(&goals[0], &FieldOptions::default()).unwrap().wait().unwrap();
        assert!(one.stats().total_ms > 0.0);
        if engine.backend() == hullfield::Backend::Cpu {
            assert_eq!((stats.kernels_ms, stats.compile_ms), (None, 0.0));
        }
    }
}
