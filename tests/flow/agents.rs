//! Agents on fields: paths have the length that the field says and lead out of walls, directions never lead into walls,
//! lines of sight are exact, and a path ends at the nearest reachable cell.

use hullfield::flow::{
    Cell, Connectivity, Corners, Field, FieldOptions, Flow, Grid, GridFrame, GridOptions, SteerOptions,
    UNREACHABLE,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::common;
use crate::scenes::{CONNECTIVITIES_2D, CONNECTIVITIES_3D};

/// A seeded grid of noise, and of walls with gaps.
fn seeded(random: &mut Random, size: [u32; 3], connectivity: Connectivity) -> Grid {
    let [width, height, depth] = if connectivity.dimension() == 2 { [size[0], size[1], 1] } else { size };
    let share = random.between(0.0, 0.35);
    let wall = 3 + random.below(7);
    let mut obstacles = Vec::new();
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                let is_wall = (x as usize % wall == wall - 1) && (y + z) % 5 != x % 4;
                obstacles.push(is_wall || random.between(0.0, 1.0) < share);
            }
        }
    }
    Grid::new([width, height, depth], &obstacles, connectivity.into()).unwrap()
}

fn free_cells(grid: &Grid) -> Vec<Cell> {
    all_cells(grid).into_iter().filter(|&cell| grid.is_free(cell)).collect()
}

fn all_cells(grid: &Grid) -> Vec<Cell> {
    (0..grid.cell_count()).map(|index| grid.cell(index)).collect()
}

fn costly(connectivity: Connectivity, costs: Vec<u32>) -> GridOptions {
    GridOptions { connectivity, costs, ..GridOptions::default() }
}

fn solve(grid: &Grid, goals: &[Cell]) -> Field {
    let flow = Flow::new(&Engine::cpu(), grid.clone()).unwrap();
    flow.solve(goals, &FieldOptions::default()).unwrap().wait().unwrap()
}

#[test]
fn paths_are_as_long_as_the_field_says() {
    let mut random = Random::new(seed(41));
    for round in 0..60 {
        for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
            let mut grid = seeded(&mut random, [23, 17, 5], connectivity);
            if round % 3 == 0 {
                let costs = (0..grid.cell_count()).map(|_| 1 + random.below(9) as u32).collect();
                grid = Grid::new(grid.size(), &grid.obstacles(), costly(connectivity, costs)).unwrap();
            }
            let free = free_cells(&grid);
            if free.is_empty() {
                continue;
            }
            let goals: Vec<Cell> = (0..1 + random.below(3)).map(|_| free[random.below(free.len())]).collect();
            let field = solve(&grid, &goals);
            let distances = field.distances().unwrap().wait().unwrap();
            let starts = all_cells(&grid);
            let paths = field.paths(&starts).unwrap().wait().unwrap();
            assert_eq!((paths.count(), paths.offsets.len()), (starts.len(), starts.len() + 1));
            let mut at = starts.clone();
            let longest = (0..paths.count()).map(|row| paths.path(row).len()).max().unwrap();
            for step in 1..longest {
                at = field.next_cells(&at).unwrap().wait().unwrap().rows;
                for row in 0..paths.count() {
                    let path = paths.path(row);
                    assert_eq!(at[row], grid.cell(path[step.min(path.len() - 1)] as usize));
                }
            }
            for (row, &start) in starts.iter().enumerate() {
                let path: Vec<Cell> = paths.path(row).iter().map(|&cell| grid.cell(cell as usize)).collect();
                assert_eq!(path[0], start);
                let out = path.iter().position(|&cell| grid.is_free(cell));
                let Some(out) = out.filter(|_| paths.lengths[row] != UNREACHABLE) else {
                    assert_eq!((path.len(), paths.lengths[row]), (1, UNREACHABLE));
                    continue;
                };
                // Once out of obstacles a path stays out, makes allowed moves only, and its cost is exactly the
                // distance.
                let mut sum = 0_u64;
                for pair in path[out..].windows(2) {
                    let code = (0..connectivity.neighbour_count() as u8)
                        .find(|&code| grid.neighbour(pair[0], code) == Some(pair[1]))
                        .expect("the path makes a move that is not allowed");
                    sum += u64::from(connectivity.step(code)) * u64::from(grid.cost(pair[1]));
                }
                let first = distances[grid.index(path[out]).unwrap()];
                assert_eq!((sum, paths.lengths[row]), (first.into(), first));
                assert!(goals.contains(path.last().unwrap()));
            }
        }
    }
}

/// Walls from one to thirty cells thick: an agent pushed anywhere into one gets out by the shortest way.
#[test]
fn paths_lead_out_of_walls_of_any_thickness() {
    for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
        for thickness in [1, 2, 3, 7, 30] {
            let depth = if connectivity.dimension() == 2 { 1 } else { 9 };
            let size = [thickness + 4, 12, depth];
            let is_wall = |cell: Cell| (2..2 + thickness as i32).contains(&cell.x) && cell.y < 11;
            let open = Grid::new(size, &[], connectivity.into()).unwrap();
            let obstacles: Vec<bool> = all_cells(&open).into_iter().map(is_wall).collect();
            let grid = Grid::new(size, &obstacles, connectivity.into()).unwrap();
            let field = solve(&grid, &[Cell::from([0, 0])]);
            let inside: Vec<Cell> = all_cells(&grid).into_iter().filter(|&cell| is_wall(cell)).collect();
            let paths = field.paths(&inside).unwrap().wait().unwrap();
            for (row, &cell) in inside.iter().enumerate() {
                let path = paths.path(row);
                assert_eq!(path.last(), Some(&0), "{connectivity:?}, thickness {thickness}, from {cell}");
                let steps = path.iter().position(|&cell| !obstacles[cell as usize]).unwrap();
                let nearest = (cell.x - 1).min(2 + thickness as i32 - cell.x).min(11 - cell.y);
                assert_eq!(steps, nearest as usize, "{connectivity:?}, thickness {thickness}, from {cell}");
            }
        }
    }
}

/// Agents start anywhere and move by steps of different lengths, in grids at an angle to the world. No agent is ever in
/// a wall or off the grid, and every agent arrives.
#[test]
fn directions_never_lead_into_a_wall_and_arrive() {
    let mut random = Random::new(seed(43));
    let (sin, cos) = 0.7_f64.sin_cos();
    let frame = GridFrame {
        origin: [-3.0, 1e3, 7.0],
        cell_size: 0.25,
        axes: [[cos, sin, 0.0], [sin, -cos, 0.0], [0.0, 0.0, 1.0]],
    };
    let mut arrived_count = 0;
    for round in 0..extent(10, 20) {
        for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
            let unframed = seeded(&mut random, [19, 15, 5], connectivity);
            let options = GridOptions { connectivity, frame, ..GridOptions::default() };
            let grid = Grid::new(unframed.size(), &unframed.obstacles(), options).unwrap();
            let free = free_cells(&grid);
            if free.is_empty() {
                continue;
            }
            let goals: Vec<Cell> = (0..1 + round % 3).map(|_| free[random.below(free.len())]).collect();
            let field = solve(&grid, &goals);
            let distances = field.distances().unwrap().wait().unwrap();
            let reached: Vec<Cell> = free
                .iter()
                .copied()
                .filter(|&cell| distances[grid.index(cell).unwrap()] != UNREACHABLE)
                .collect();
            let options = SteerOptions { sight: [0, 6, 100][round % 3] };
            let is_flat = connectivity.dimension() == 2;
            let mut positions: Vec<[f64; 3]> = (0..60)
                .map(|row| {
                    let cell = reached[random.below(reached.len())];
                    // Some lie almost on a face or a corner.
                    let part = |random: &mut Random| match random.below(4) {
                        0 => 1e-7,
                        1 => 1.0 - 1e-7,
                        _ => random.between(0.001, 0.999),
                    };
                    let _ = row;
                    let mut place = [cell.x, cell.y, cell.z].map(|at| f64::from(at) + part(&mut random));
                    if is_flat {
                        place[2] = 0.0;
                    }
                    frame.point_at(place)
                })
                .collect();
            let stride = [0.02, 0.1, 0.3, 0.49][random.below(4)];
            let farthest = distances.iter().filter(|&&distance| distance != UNREACHABLE).max().unwrap();
            let cells_away = f64::from(*farthest) / f64::from(connectivity.unit());
            let limit = ((cells_away + 3.0) * 3.0 / stride) as usize;
            let mut underway_count = 0;
            for step in 0..=limit {
                let directions = field.directions(&positions, &options).unwrap().wait().unwrap().rows;
                underway_count = 0;
                for (position, direction) in positions.iter_mut().zip(&directions) {
                    let cell = frame.cell_at(*position).unwrap();
                    let cell = if is_flat { Cell { z: 0, ..cell } } else { cell };
                    let length = direction.iter().map(|part| part * part).sum::<f64>().sqrt();
                    if distances[grid.index(cell).unwrap()] == 0 {
                        assert_eq!(length, 0.0);
                        continue;
                    }
                    underway_count += 1;
                    assert!(length == 0.0 || (length - 1.0).abs() < 1e-9, "{length}");
                    (0..3).for_each(|k| position[k] += direction[k] * stride * frame.cell_size);
                    let now = frame.cell_at(*position).unwrap();
                    let now = if is_flat { Cell { z: 0, ..now } } else { now };
                    assert!(
                        grid.is_free(now),
                        "{connectivity:?}: from {cell} into {now}, step {step}, {direction:?}"
                    );
                    // A diagonal move does not pass between two obstacles either.
                    let offset = [now.x - cell.x, now.y - cell.y, now.z - cell.z];
                    for k in 0..3 {
                        let mut side = [0; 3];
                        side[k] = offset[k];
                        let side = Cell { x: cell.x + side[0], y: cell.y + side[1], z: cell.z + side[2] };
                        assert!(grid.is_free(side), "{connectivity:?}: from {cell} to {now} past {side}");
                    }
                }
                if underway_count == 0 {
                    break;
                }
            }
            // Paths may squeeze between two obstacles that touch in a corner; agents with a position cannot.
            let squeezes = matches!(
                connectivity,
                Connectivity::Eight(Corners::Any) | Connectivity::TwentySix(Corners::Any)
            );
            assert!(
                underway_count == 0 || squeezes,
                "{connectivity:?}, round {round}: {underway_count} of 60 agents never arrive"
            );
            arrived_count += 60 - underway_count;
        }
    }
    assert!(arrived_count > extent(3_750, 7_500), "{arrived_count}");
}

/// At the centres of cells a direction is that of the cell; between centres it is blended.
#[test]
fn directions_are_blended_bilinearly() {
    // An L: along the upper row, then down the right column.
    let wall = |x: usize, y: usize| y > 0 && x < 4;
    let obstacles: Vec<bool> = (0..25).map(|i| wall(i % 5, i / 5)).collect();
    let grid = Grid::new([5, 5, 1], &obstacles, Connectivity::Four.into()).unwrap();
    let field = solve(&grid, &[Cell::from([4, 4])]);
    let at = |x: f64, y: f64| {
        let direction = field.direction([x, y, 0.0], &SteerOptions::default()).unwrap().wait().unwrap();
        let all = field.directions(&[[x, y, 0.0]], &SteerOptions::default()).unwrap().wait().unwrap();
        assert_eq!(all.rows, [direction]);
        direction
    };
    assert_eq!(at(1.5, 0.5), [1.0, 0.0, 0.0]);
    assert_eq!(at(4.5, 2.5), [0.0, 1.0, 0.0]);
    // A quarter of the way from the cell that leads right to the cell that leads down.
    let [x, y, _] = at(3.75, 0.5);
    assert!(
        (x - 0.75 / 0.625_f64.sqrt()).abs() < 1e-12 && (y - 0.25 / 0.625_f64.sqrt()).abs() < 1e-12,
        "{x}, {y}"
    );
    // The wall below the upper row keeps an agent from turning down too early.
    let [x, y, _] = at(3.75, 0.9);
    assert!((x, y) == (1.0, 0.0), "{x}, {y}");
}

/// An agent that sees the goal goes straight to it, across cells whose own paths are staircases.
#[test]
fn agents_that_see_the_goal_go_straight_to_it() {
    let grid = Grid::new([30, 30, 1], &[], Connectivity::Four.into()).unwrap();
    let field = solve(&grid, &[Cell::from([3, 2])]);
    let position = [20.3, 9.8, 0.0];
    let direction = |sight: u32| field.direction(position, &SteerOptions { sight }).unwrap().wait().unwrap();
    let [dx, dy] = [3.5 - position[0], 2.5 - position[1]];
    let length = f64::hypot(dx, dy);
    let straight = [dx / length, dy / length, 0.0];
    assert!((0..3).all(|k| (direction(100)[k] - straight[k]).abs() < 1e-12));
    // The goal is 17 + 7 steps away.
    assert_eq!(direction(24), direction(100));
    assert_eq!(direction(23), direction(0));
    assert_ne!(direction(0), direction(24));
}

/// Compared with every cell whose square the line crosses, found by the side of the line on which its corners lie.
#[test]
fn lines_of_sight_are_exact() {
    let mut random = Random::new(seed(47));
    let rules = [
        Connectivity::Four,
        Connectivity::Eight(Corners::BothFree),
        Connectivity::Eight(Corners::OneFree),
        Connectivity::Eight(Corners::Any),
    ];
    let (mut seen, mut unseen) = (0, 0);
    for round in 0..400 {
        let connectivity = rules[round % 4];
        let share = random.between(0.02, 0.3);
        let obstacles: Vec<bool> = (0..13 * 11).map(|_| random.between(0.0, 1.0) < share).collect();
        let grid = Grid::new([13, 11, 1], &obstacles, connectivity.into()).unwrap();
        let cells = all_cells(&grid);
        for _ in 0..60 {
            let (from, to) = (cells[random.below(cells.len())], cells[random.below(cells.len())]);
            // Coordinates are doubled so that centres are integers.
            let [ax, ay, bx, by] = [from.x, from.y, to.x, to.y].map(|at| 2 * at + 1);
            let side = |x: i32, y: i32| (bx - ax) * (y - ay) - (by - ay) * (x - ax);
            let mut is_open = true;
            let mut corners_hit: Vec<[i32; 2]> = Vec::new();
            for &cell in &cells {
                let corners =
                    [[0, 0], [2, 0], [0, 2], [2, 2]].map(|[dx, dy]| [2 * cell.x + dx, 2 * cell.y + dy]);
                let sides = corners.map(|[x, y]| side(x, y));
                let (low, high) = (sides.iter().min().unwrap(), sides.iter().max().unwrap());
                let overlaps =
                    |low: i32, high: i32, a: i32, b: i32| low < a.max(b) + 1 && high > a.min(b) - 1;
                let is_near = overlaps(2 * cell.x, 2 * cell.x + 2, ax, bx)
                    && overlaps(2 * cell.y, 2 * cell.y + 2, ay, by);
                if is_near
                    && (*low < 0 && *high > 0 || (from == to && cell == from))
                    && grid.is_obstacle(cell)
                {
                    is_open = false;
                }
                for [x, y] in corners {
                    let is_between =
                        (ax.min(bx)..=ax.max(bx)).contains(&x) && (ay.min(by)..=ay.max(by)).contains(&y);
                    if is_between && side(x, y) == 0 {
                        corners_hit.push([x / 2, y / 2]);
                    }
                }
            }
            for [x, y] in corners_hit {
                // The two cells at the corner that the line does not cross.
                let (right, left) = if (bx > ax) == (by > ay) {
                    (Cell::from([x, y - 1]), Cell::from([x - 1, y]))
                } else {
                    (Cell::from([x, y]), Cell::from([x - 1, y - 1]))
                };
                let blocked = usize::from(grid.is_obstacle(right)) + usize::from(grid.is_obstacle(left));
                let allowed = match connectivity {
                    Connectivity::Eight(Corners::Any) => 2,
                    Connectivity::Eight(Corners::OneFree) => 1,
                    _ => 0,
                };
                is_open &= blocked <= allowed;
            }
            assert_eq!(grid.sees(from, to), is_open, "{connectivity:?}: {from} to {to}");
            assert_eq!(grid.sees(to, from), is_open, "{connectivity:?}: {to} to {from}");
            *if is_open { &mut seen } else { &mut unseen } += 1;
        }
    }
    assert!(seen > 2000 && unseen > 2000, "{seen}, {unseen}");
    // In three dimensions: a line through a corner of the cells, next to one obstacle.
    let mut obstacles = vec![false; 8];
    obstacles[1] = true;
    let cube = |corners| Grid::new([2, 2, 2], &obstacles, Connectivity::TwentySix(corners).into()).unwrap();
    let ends = (Cell::from([0, 0, 0]), Cell::from([1, 1, 1]));
    assert!(!cube(Corners::BothFree).sees(ends.0, ends.1));
    assert!(cube(Corners::OneFree).sees(ends.0, ends.1));
    assert!(!cube(Corners::Any).sees(ends.0, Cell::from([1, 0, 0])));
    assert!(!cube(Corners::Any).sees(ends.0, Cell::from([2, 2, 2])));
}

#[test]
fn a_path_to_an_unreachable_goal_ends_at_the_nearest_cell() {
    let mut random = Random::new(seed(53));
    for _ in 0..40 {
        for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
            let mut grid = seeded(&mut random, [21, 16, 4], connectivity);
            if random.below(2) == 0 {
                let costs = (0..grid.cell_count()).map(|_| 1 + random.below(5) as u32).collect();
                grid = Grid::new(grid.size(), &grid.obstacles(), costly(connectivity, costs)).unwrap();
            }
            let free = free_cells(&grid);
            if free.is_empty() {
                continue;
            }
            let flow = Flow::new(&Engine::cpu(), grid.clone()).unwrap();
            let (from, to) = (free[random.below(free.len())], grid.cell(random.below(grid.cell_count())));
            let field = flow.solve(&[from], &FieldOptions::default()).unwrap().wait().unwrap();
            let distances = field.distances().unwrap().wait().unwrap();
            let square = |a: Cell| (a.x - to.x).pow(2) + (a.y - to.y).pow(2) + (a.z - to.z).pow(2);
            let reached = (0..distances.len()).filter(|&index| distances[index] != UNREACHABLE);
            let nearest = reached.map(|index| grid.cell(index)).min_by_key(|&cell| square(cell)).unwrap();
            assert_eq!(field.nearest_reached(to).unwrap().wait(), Ok(nearest));
            let found = flow.path_to_nearest(from, to).unwrap().wait().unwrap();
            let path = &found.cells;
            assert_eq!((path[0], *path.last().unwrap()), (from, nearest));
            // Its length is the distance in a field whose goal is its last cell.
            let there = flow.solve(&[nearest], &FieldOptions::default()).unwrap().wait().unwrap();
            let mut sum = 0;
            for pair in path.windows(2) {
                let mut codes = 0..connectivity.neighbour_count() as u8;
                let code = codes.find(|&code| grid.neighbour(pair[0], code) == Some(pair[1])).unwrap();
                sum += connectivity.step(code) * grid.cost(pair[1]);
            }
            assert_eq!(sum, there.distances().unwrap().wait().unwrap()[grid.index(from).unwrap()]);
            assert_eq!(sum, found.length);
        }
    }
}

#[test]
fn a_million_agents_are_answered_at_once() {
    let mut random = Random::new(seed(59));
    let grid = seeded(&mut random, [200, 150, 1], Connectivity::Eight(Corners::BothFree));
    let free = free_cells(&grid);
    let field = solve(&grid, &free[..2]);
    let cells = all_cells(&grid);
    let one = field.next_cells(&cells).unwrap().wait().unwrap().rows;
    let starts: Vec<usize> = (0..1_000_000).map(|_| random.below(cells.len())).collect();
    let many: Vec<Cell> = starts.iter().map(|&start| cells[start]).collect();
    let stepped = field.next_cells(&many).unwrap().wait().unwrap().rows;
    assert!(starts.iter().zip(&stepped).all(|(&start, &cell)| one[start] == cell));
    let lengths = field.paths(&cells).unwrap().wait().unwrap().lengths;
    let paths = field.paths(&many).unwrap().wait().unwrap();
    assert!(starts.iter().zip(&paths.lengths).all(|(&start, &length)| lengths[start] == length));
    assert_eq!(paths.offsets.last(), Some(&paths.cells.len()));
}

/// Agents get the same answers from a field on the device as from one on the host.
#[test]
fn fields_of_both_engines_lead_agents_alike() {
    let Some(gpu) = common::gpu() else { return };
    let mut random = Random::new(seed(61));
    for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
        let grid = seeded(&mut random, [21, 18, 4], connectivity);
        let free = free_cells(&grid);
        let goals = [free[0], free[free.len() / 2]];
        let [ours, theirs] = [Engine::cpu(), gpu.clone()].map(|engine| {
            let flow = Flow::new(&engine, grid.clone()).unwrap();
            let field = flow.solve(&goals, &FieldOptions::default()).unwrap().wait().unwrap();
            let cells = all_cells(&grid);
            let positions: Vec<[f64; 3]> = cells.iter().map(|&cell| grid.frame().centre(cell)).collect();
            let paths = field.paths(&cells).unwrap().wait().unwrap();
            let path_to_corner = flow.path_to_nearest(free[1], cells[cells.len() - 1]).unwrap();
            (
                field.next_cells(&cells).unwrap().wait().unwrap().rows,
                (paths.offsets, paths.cells, paths.lengths, paths.stats.reached_count),
                field.directions(&positions, &SteerOptions { sight: 9 }).unwrap().wait().unwrap().rows,
                field.nearest_reached(cells[7]).unwrap().wait().unwrap(),
                path_to_corner.wait().unwrap(),
            )
        });
        assert_eq!(ours, theirs, "{connectivity:?}");
    }
}

#[test]
fn cells_and_positions_outside_the_grid_are_refused() {
    let grid = Grid::new([4, 3, 1], &[], Connectivity::Four.into()).unwrap();
    let field = solve(&grid, &[Cell::from([0, 0])]);
    let outside = Cell::from([4, 0]);
    let refused = |error: Error, expected: &str| assert_eq!(error.to_string(), expected);
    let many = "query 1: cell is (4, 0), it must be in the grid of 4 x 3 x 1 cells";
    let inside = Cell::from([1, 1]);
    refused(field.next_cells(&[inside, outside]).unwrap_err(), many);
    refused(field.paths(&[inside, outside]).unwrap_err(), many);
    refused(field.distances_at(&[inside, outside]).unwrap_err(), many);
    let one = "cell is (4, 0), it must be in the grid of 4 x 3 x 1 cells";
    refused(field.next_cell(outside).unwrap_err(), one);
    refused(field.distance_at(outside).unwrap_err(), one);
    refused(field.nearest_reached(outside).unwrap_err(), one);
    refused(field.path(outside).unwrap_err(), &one.replace("cell is", "start is"));
    for position in [[4.0, 0.0, 0.0], [-1e-9, 0.0, 0.0], [f64::NAN, 0.0, 0.0], [0.0, f64::INFINITY, 0.0]] {
        let error = field.directions(&[[0.5; 3], position], &SteerOptions::default()).unwrap_err();
        assert!(
            matches!(error, Error::Value { at: Location::Position(1), field: "position", .. }),
            "{error}"
        );
    }
    let none = field.paths(&[]).unwrap().wait().unwrap();
    assert_eq!((none.count(), &none.offsets[..], none.path(0)), (0, &[0][..], &[][..]));
    assert_eq!(field.next_cells(&[]).unwrap().wait().unwrap().rows, []);
}

/// A call for one agent gives the same as a call for many, on both engines.
#[test]
fn one_agent_is_answered_as_many_are() {
    let engines = [Some(Engine::cpu()), common::gpu()];
    let mut random = Random::new(seed(67));
    for connectivity in [Connectivity::Four, Connectivity::TwentySix(Corners::BothFree)] {
        let grid = seeded(&mut random, [9, 8, 4], connectivity);
        let free = free_cells(&grid);
        for engine in engines.iter().flatten() {
            let flow = Flow::new(engine, grid.clone()).unwrap();
            let field = flow.solve(&free[..1], &FieldOptions::default()).unwrap().wait().unwrap();
            let cells = all_cells(&grid);
            let next = field.next_cells(&cells).unwrap().wait().unwrap().rows;
            let distances = field.distances_at(&cells).unwrap().wait().unwrap();
            let paths = field.paths(&cells).unwrap().wait().unwrap();
            let reached_count = distances.rows.iter().filter(|&&distance| distance != UNREACHABLE).count();
            assert_eq!(distances.stats.reached_count, reached_count);
            assert!(paths.stats.total_ms > 0.0 && paths.stats.reached_count >= reached_count);
            for (row, &cell) in cells.iter().enumerate().step_by(7) {
                assert_eq!(field.next_cell(cell).unwrap().wait(), Ok(next[row]));
                assert_eq!(field.distance_at(cell).unwrap().wait(), Ok(distances.rows[row]));
                let path = field.path(cell).unwrap().wait().unwrap();
                let expected: Vec<Cell> = paths.path(row).iter().map(|&at| grid.cell(at as usize)).collect();
                assert_eq!((path.cells, path.length), (expected, paths.lengths[row]));
            }
        }
    }
}

/// A point is located in the cell whose centre is nearest, also in grids at an angle to the world; a point outside the
/// grid is in no cell.
#[test]
fn points_are_located() {
    let (sin, cos) = 0.7_f64.sin_cos();
    let axes = [[cos, sin, 0.0], [-sin, cos, 0.0], [0.0, 0.0, 1.0]];
    let frame = GridFrame { origin: [5.0, -3.0, 2.0], cell_size: 0.25, axes };
    for (size, connectivity) in [([7, 5, 1], Connectivity::Four), ([4, 3, 6], Connectivity::Six)] {
        let options = GridOptions { connectivity, frame, ..GridOptions::default() };
        let grid = Grid::new(size, &[], options).unwrap();
        for cell in all_cells(&grid) {
            assert_eq!(grid.locate(grid.centre(cell)), Some(cell));
            assert_eq!(grid.frame().cell_at(grid.centre(cell)), Some(cell));
        }
        assert_eq!(grid.locate(grid.centre(Cell { x: -1, y: 0, z: 0 })), None);
        assert_eq!(grid.locate(grid.centre(Cell { x: 0, y: size[1] as i32, z: 0 })), None);
        let above = Cell { x: 1, y: 1, z: size[2] as i32 };
        let flat = (size[2] == 1).then_some(Cell { z: 0, ..above });
        assert_eq!(grid.locate(grid.centre(above)), flat);
        assert_eq!(grid.locate([f64::NAN, 0.0, 0.0]), None);
        assert_eq!(grid.locate([0.0, 0.0, f64::INFINITY]), None);
    }
}
