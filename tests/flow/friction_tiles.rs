//! Friction in floats, solved in tiles: equal bit for bit to one piece.

use std::ops::ControlFlow;

use hullfield::flow::{
    Cell, Connectivity, Corners, CostDistance, CostDistanceOptions, CostRule, Ellipsoid, FrictionOptions,
    Geographic, MemoryFriction, MemoryRaster, MemoryTiles, RasterOptions, RasterSolver, RasterWindow,
    StepLengths, TileFiles, cost_distance, solve_raster,
};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::cost_distance::{Scene, friction, go_on, scenes};

/// The options of tiles for those of one piece.
fn tiled(options: &CostDistanceOptions, edge: u32) -> RasterOptions {
    let CostDistanceOptions { connectivity, cost_rule, cell_size, geographic, max_distance, .. } = *options;
    let friction = Some(FrictionOptions { cell_size, geographic, max_distance });
    RasterOptions { connectivity, cost_rule, friction, tile_edge: Some(edge), ..Default::default() }
}

/// Compares with the same friction solved in tiles, bit for bit, and paths by what they cost. `Err` says what differs.
pub(crate) fn compare_with_raster(scene: &Scene, solved: &CostDistance, edge: u32) -> Result<(), String> {
    let [width, height] = scene.size.map(|length| length as u32);
    let whole = RasterWindow { x: 0, y: 0, width, height };
    let raster = MemoryFriction::new([width, height], scene.friction.clone()).unwrap();
    let options = tiled(&scene.options, edge);
    let store = MemoryTiles::default();
    let field =
        solve_raster(&raster, &scene.targets, &store, &options, |_| ControlFlow::Continue(())).unwrap();
    let distances = field.map_distances(whole).unwrap();
    for (index, (&tiled, &found)) in distances.iter().zip(&solved.distances).enumerate() {
        if (tiled as f32).to_bits() != found.to_bits() {
            return Err(format!("{}, {:?}: {found}, tiled {tiled}", scene.name, scene.cell(index)));
        }
    }
    let (report, own) = (&solved.report, field.report());
    let floats = own.friction.unwrap();
    if (own.reached_count, floats.farthest.to_bits()) != (report.reached_count, report.farthest.to_bits()) {
        return Err(format!("{}: {report:?}, tiled {own:?}", scene.name));
    }
    assert!(floats.error_bound >= report.error_bound && own.farthest == 0);
    let codes = field.next_codes(&raster, whole).unwrap();
    if !solved.next.is_empty() && codes != solved.next {
        return Err(format!("{}: other next cells", scene.name));
    }
    let ground = scene.ground();
    for index in (0..distances.len()).step_by((distances.len() / 20).max(1)) {
        if distances[index].is_infinite() {
            continue;
        }
        let path = field.path(&raster, Cell::from(scene.cell(index))).unwrap();
        let moves = path.windows(2).map(|step| {
            let [from, to] = [step[0], step[1]].map(|cell| [cell.x, cell.y]);
            ground.move_cost(from, to).unwrap_or(f64::INFINITY)
        });
        let cost: f64 = moves.sum();
        let bound = floats.error_bound + scene.slack();
        if (cost - distances[index]).abs() > bound * cost || !scene.targets.contains(&path[path.len() - 1]) {
            return Err(format!(
                "{}, {:?}: {}, its path costs {cost}",
                scene.name, path[0], distances[index]
            ));
        }
    }
    Ok(())
}

/// Against Dijkstra in f64, in tiles of all sizes, with more digits than f32 has.
#[test]
fn distances_in_tiles_are_those_of_dijkstra() {
    let mut random = Random::new(seed(71));
    let scenes: Vec<Scene> =
        scenes(&mut random).into_iter().filter(|at| at.options.slope.is_none()).collect();
    assert!(scenes.len() > 50);
    for scene in scenes.iter().step_by(extent(2, 1)) {
        let [width, height] = scene.size.map(|length| length as u32);
        let raster = MemoryFriction::new([width, height], scene.friction.clone()).unwrap();
        let expected = scene.ground().costs(&scene.sources());
        let limit = scene.options.max_distance.unwrap_or(f64::INFINITY);
        let options = tiled(&scene.options, [1, 5, 16, 24, 100][random.below(5)]);
        let store = MemoryTiles::default();
        let field =
            solve_raster(&raster, &scene.targets, &store, &options, |_| ControlFlow::Continue(())).unwrap();
        let whole = RasterWindow { x: 0, y: 0, width, height };
        let bound = field.report().friction.unwrap().error_bound + scene.slack();
        for (index, (found, wanted)) in
            field.map_distances(whole).unwrap().into_iter().zip(expected).enumerate()
        {
            let is_right = if found.is_finite() {
                (found - wanted).abs() <= bound * wanted && wanted <= limit * (1.0 + bound)
            } else {
                wanted >= limit * (1.0 - bound)
            };
            assert!(is_right, "{}, {:?}: {found}, expected {wanted}", scene.name, scene.cell(index));
        }
    }
}

/// One huge cell changes nothing elsewhere, whichever tile it lies in.
#[test]
fn one_costly_cell_changes_nothing_in_tiles() {
    let mut random = Random::new(seed(72));
    let size = [60, 45];
    let fills = [1e9, 9.969_21e36, f64::from(f32::MAX), 1e300, f64::MAX, 1e-30, 1e-200];
    for (number, fill) in fills.into_iter().enumerate() {
        let mut friction = friction(1, size, &mut random);
        let at = 60 * random.below(45) + 5 + random.below(55);
        let options = CostDistanceOptions {
            // Where a corner may not be cut a wall closes more than itself.
            connectivity: [Connectivity::Four, Connectivity::Eight(Corners::Any)][number % 2],
            cost_rule: [CostRule::Mean, CostRule::Entry, CostRule::Exit][number % 3],
            cell_size: [[1.0, 1.0], [30.0, 25.0]][number % 2],
            ..Default::default()
        };
        let targets = vec![Cell::from([2, 1])];
        let mut solve = |value: f64| {
            friction[at] = value;
            let scene =
                Scene::new(format!("{fill:e}"), size, friction.clone(), targets.clone(), options.clone());
            let solved = scene.solve();
            let raster = MemoryFriction::new([60, 45], friction.clone()).unwrap();
            let store = MemoryTiles::default();
            let tiles = tiled(&scene.options, 13 + 4 * number as u32);
            let field =
                solve_raster(&raster, &scene.targets, &store, &tiles, |_| ControlFlow::Continue(())).unwrap();
            let all = RasterWindow { x: 0, y: 0, width: 60, height: 45 };
            let distances = field.map_distances(all).unwrap();
            assert!(
                distances.iter().zip(&solved.distances).all(|(&tiled, &found)| tiled as f32 == found),
                "{fill:e}"
            );
            let report = field.report();
            let counts = (report.reached_count, report.friction.unwrap().farthest.to_bits());
            assert_eq!(counts, (solved.report.reached_count, solved.report.farthest.to_bits()), "{fill:e}");
            distances
        };
        let [filled, walled] = [fill, f64::NAN].map(&mut solve);
        let differ = filled.iter().zip(&walled).filter(|(one, other)| one != other).count();
        // A huge one is a wall to all but itself.
        assert!(if fill > 1.0 { differ == 1 } else { differ >= 1 }, "{fill:e}: {differ}");
    }
}

/// Behind a wall that costs 1e30 steps are lost in rounding. Paths lead on inside of a tile; where a whole tile is as far, that is said.
#[test]
fn paths_over_lost_steps_end_or_say_so() {
    let (width, height) = (40, 30);
    let friction: Vec<f64> =
        (0..width * height).map(|at| if at % width == 20 { 1e30 } else { 1.0 }).collect();
    let raster = MemoryFriction::new([width, height], friction).unwrap();
    let friction = Some(FrictionOptions::default());
    for (edge, is_found) in [(64, true), (10, false)] {
        let options = RasterOptions { friction, tile_edge: Some(edge), ..Default::default() };
        let store = MemoryTiles::default();
        let goals = [Cell::from([2, 2])];
        let field = solve_raster(&raster, &goals, &store, &options, |_| ControlFlow::Continue(())).unwrap();
        let start = Cell::from([39, 29]);
        match field.path(&raster, start) {
            Ok(path) if is_found => {
                assert_eq!((path[0], path[path.len() - 1]), (start, goals[0]));
                assert!(path.windows(2).all(|step| (step[0].x - step[1].x).abs() <= 1));
                assert!(path.len() < 80, "{}", path.len());
            }
            Err(error) if !is_found => {
                let text = error.to_string();
                assert!(text.contains("cell (39, 29): its neighbours are as far as it is"), "{text}");
            }
            other => panic!("{edge}: {other:?}"),
        }
        let window = RasterWindow { x: 30, y: 20, width: 2, height: 2 };
        let error = field.next_codes(&raster, window).unwrap_err().to_string();
        assert!(error.contains("rounding has lost the steps"), "{error}");
        assert_eq!(field.path(&raster, Cell::from([2, 9])).unwrap().len(), 8);
    }
}

/// A global grid whose first and last rows lie at the poles.
#[test]
fn rows_at_the_poles_are_solved_alike() {
    let size = [36, 19];
    let mut random = Random::new(seed(73));
    let geographic = Geographic { latitudes: [95.0, -95.0], cell_width: 10.0, ellipsoid: Ellipsoid::WGS84 };
    for cost_rule in [CostRule::Mean, CostRule::Entry] {
        let friction: Vec<f64> = (0..36 * 19).map(|_| random.between(1.0, 3.0)).collect();
        let options = CostDistanceOptions { geographic: Some(geographic), cost_rule, ..Default::default() };
        let targets = vec![Cell::from([3, 9])];
        let solved = cost_distance([36, 19], &friction, &targets, &options, go_on).unwrap();
        assert_eq!(solved.report.reached_count, 36 * 19);
        let raster = MemoryFriction::new([36, 19], friction.clone()).unwrap();
        let store = MemoryTiles::default();
        let field =
            solve_raster(&raster, &targets, &store, &tiled(&options, 7), |_| ControlFlow::Continue(()));
        let whole = RasterWindow { x: 0, y: 0, width: 36, height: 19 };
        let found = field.unwrap().map_distances(whole).unwrap();
        assert!(found.iter().zip(&solved.distances).all(|(&tiled, &found)| tiled as f32 == found));
        // Along the row of a pole nothing is far.
        let row = &found[..size[0]];
        let (least, most) = row.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &at| (a.min(at), b.max(at)));
        assert!(most - least < 1e-6, "{least} {most}");
    }
}

/// Other processes solve tiles too: a task says all that they need. A folder goes on where it was left.
#[test]
fn tasks_and_folders_hold_floats() {
    let mut random = Random::new(seed(74));
    let size = [50, 41];
    let friction = friction(7, size, &mut random);
    let geographic = Geographic { latitudes: [50.0, 46.0], cell_width: 0.1, ellipsoid: Ellipsoid::WGS84 };
    let options = CostDistanceOptions {
        connectivity: Connectivity::Eight(Corners::OneFree),
        geographic: Some(geographic),
        ..Default::default()
    };
    let scene = Scene::new("tasks".to_owned(), size, friction.clone(), vec![Cell::from([7, 8])], options);
    let solved = scene.solve();
    let raster = MemoryFriction::new([50, 41], friction).unwrap();
    let folder = std::env::temp_dir().join(format!("hullfield-friction-{}", std::process::id()));
    let options = tiled(&scene.options, 12);
    let whole = RasterWindow { x: 0, y: 0, width: 50, height: 41 };
    for round in 0..2 {
        let files = TileFiles::open(&folder).unwrap();
        let mut solver = RasterSolver::new(&raster, &scene.targets, &files, &options, 1).unwrap();
        while !solver.is_done() {
            for task in solver.tasks(3) {
                #[cfg(feature = "serde")]
                let task =
                    serde_json::from_str::<hullfield::flow::TileTask>(&serde_json::to_string(&task).unwrap())
                        .unwrap();
                let answer = task.solve(&raster, &files).unwrap();
                solver.note(&answer).unwrap();
            }
        }
        let field = solver.finish(&files).unwrap();
        let found = field.map_distances(whole).unwrap();
        assert!(found.iter().zip(&solved.distances).all(|(&tiled, &found)| tiled as f32 == found));
        let report = field.report();
        assert_eq!(
            (report.resumed_count == report.tile_count, report.visit_count == 0),
            (round == 1, round == 1)
        );
    }
    // Tiles of other cells are another job.
    let files = TileFiles::open(&folder).unwrap();
    let other = RasterOptions { friction: Some(FrictionOptions::default()), ..options };
    let error = RasterSolver::new(&raster, &scene.targets, &files, &other, 1).unwrap_err().to_string();
    assert!(error.contains("another job") && error.contains("cell_size"), "{error}");
    files.remove().unwrap();
}

#[test]
fn bad_friction_in_tiles_is_one_clear_error() {
    let solve = |friction: Vec<f64>, options: &RasterOptions| {
        let raster = MemoryFriction::new([friction.len() as u32, 1], friction).unwrap();
        let store = MemoryTiles::default();
        let field =
            solve_raster(&raster, &[Cell::from([0, 0])], &store, options, |_| ControlFlow::Continue(()));
        field.map(|field| {
            let window = RasterWindow { x: 0, y: 0, width: 2, height: 1 };
            (field.map_distances(window), field.distances(window))
        })
    };
    let floats = RasterOptions { friction: Some(FrictionOptions::default()), ..Default::default() };
    let (found, whole) = solve(vec![1.0, 2.0], &floats).unwrap();
    assert_eq!(found.unwrap(), [0.0, 1.0]);
    assert!(whole.unwrap_err().to_string().contains("its distances are floats"));
    let error =
        |friction: Vec<f64>, options: &RasterOptions| solve(friction, options).unwrap_err().to_string();
    let with = |friction: FrictionOptions| RasterOptions { friction: Some(friction), ..Default::default() };
    let plain = FrictionOptions::default();
    for (found, text) in [
        (
            error(vec![1.0, 3e-300], &floats),
            "cell (1, 0): friction is 3e-300, in tiles it must be 1e-251 or more",
        ),
        (error(vec![1.0, 2.0], &RasterOptions::default()), "holds friction in floats, and no whole costs"),
        (error(vec![f64::NAN, 2.0], &floats), "no goal is left"),
        (error(vec![-1.0, 2.0], &floats), "no goal is left"),
        (
            error(vec![1.0, 2.0], &RasterOptions { max_distance: Some(3), ..floats }),
            "step_lengths and max_distance are those of the friction's own options",
        ),
        (
            error(
                vec![1.0, 2.0],
                &RasterOptions { step_lengths: Some(StepLengths { x: 1, y: 1, diagonal: 1 }), ..floats },
            ),
            "step_lengths and max_distance",
        ),
        (
            error(vec![1.0, 2.0], &with(FrictionOptions { cell_size: [1.0, -1.0], ..plain })),
            "cell_size is [1.0, -1.0]",
        ),
        (
            error(vec![1.0, 2.0], &with(FrictionOptions { max_distance: Some(f64::NAN), ..plain })),
            "max_distance is NaN, it must be 0 or more",
        ),
    ] {
        assert!(found.contains(text), "{found}");
    }
    let count = MemoryFriction::new([2, 2], vec![1.0; 3]).unwrap_err().to_string();
    assert_eq!(count, "3 values of friction were given, the raster has 4 cells");
    // Whole costs serve as friction, and have no floats without it.
    let raster = MemoryRaster::new([3, 1], vec![2, 5, 0]).unwrap();
    let window = RasterWindow { x: 0, y: 0, width: 3, height: 1 };
    for (options, is_float) in [(floats, true), (RasterOptions::default(), false)] {
        let store = MemoryTiles::default();
        let goals = [Cell::from([0, 0])];
        let field = solve_raster(&raster, &goals, &store, &options, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(field.distances(window).is_ok(), !is_float);
        match field.map_distances(window) {
            Ok(found) => assert_eq!(found, [0.0, 2.0, f64::INFINITY]),
            Err(error) => assert!(error.to_string().contains("its distances are whole numbers"), "{error}"),
        }
        assert_eq!(field.map_distances(window).is_ok(), is_float);
    }
}
