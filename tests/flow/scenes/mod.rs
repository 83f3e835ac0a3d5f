//! Scenes for the tests of fields, and the comparison with the oracle, for any engine.

use std::path::PathBuf;

use hullfield::flow::{Cell, Connectivity, Corners, Field, FieldOptions, Flow, Grid, GridFrame, GridOptions};
use hullfield::{Engine, Error};
use hullfield_oracle::grid::{self, Neighbours};
use hullfield_oracle::random::Random;
use hullfield_oracle::seed;

pub(crate) use hullfield_oracle::grid::{Expected, caves, noise};

/// All connectivities of two dimensions.
pub(crate) const CONNECTIVITIES_2D: [Connectivity; 4] = [
    Connectivity::Four,
    Connectivity::Eight(Corners::BothFree),
    Connectivity::Eight(Corners::OneFree),
    Connectivity::Eight(Corners::Any),
];

/// All connectivities of three dimensions.
pub(crate) const CONNECTIVITIES_3D: [Connectivity; 4] = [
    Connectivity::Six,
    Connectivity::TwentySix(Corners::BothFree),
    Connectivity::TwentySix(Corners::OneFree),
    Connectivity::TwentySix(Corners::Any),
];

/// A grid, goals and options: all that determines a field.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) size: [usize; 3],
    pub(crate) connectivity: Connectivity,
    pub(crate) blocked: Vec<bool>,
    /// Empty if all costs are 1.
    pub(crate) costs: Vec<u32>,
    pub(crate) goals: Vec<Cell>,
    pub(crate) options: FieldOptions,
}

impl Scene {
    pub(crate) fn new(name: &str, size: [usize; 3], connectivity: Connectivity, blocked: Vec<bool>) -> Self {
        assert_eq!(blocked.len(), size.iter().product::<usize>());
        let options = FieldOptions::default();
        Self {
            name: name.to_owned(),
            size,
            connectivity,
            blocked,
            costs: Vec::new(),
            goals: Vec::new(),
            options,
        }
    }

    pub(crate) fn cell(&self, index: usize) -> Cell {
        let [width, height, _] = self.size;
        let z = index / (width * height);
        Cell { x: (index % width) as i32, y: (index / width % height) as i32, z: z as i32 }
    }

    pub(crate) fn index(&self, cell: Cell) -> Option<usize> {
        let inside = |at: i32, length: usize| at >= 0 && (at as usize) < length;
        let [width, height, depth] = self.size;
        let is_inside = inside(cell.x, width) && inside(cell.y, height) && inside(cell.z, depth);
        is_inside.then(|| (cell.z as usize * height + cell.y as usize) * width + cell.x as usize)
    }

    /// The scene with these goals.
    pub(crate) fn goals(mut self, goals: &[[i32; 3]]) -> Self {
        self.goals = goals.iter().map(|&goal| goal.into()).collect();
        self
    }

    /// The scene with at most `count` random goals on free cells.
    pub(crate) fn random_goals(mut self, count: usize, random: &mut Random) -> Self {
        let free: Vec<usize> = (0..self.blocked.len()).filter(|&index| !self.blocked[index]).collect();
        let count = count.min(free.len());
        self.goals = (0..count).map(|_| self.cell(free[random.below(free.len())])).collect();
        self
    }

    /// The scene with random costs from 1 to `most`.
    pub(crate) fn random_costs(mut self, most: usize, random: &mut Random) -> Self {
        self.costs = (0..self.blocked.len()).map(|_| random.below(most) as u32 + 1).collect();
        self
    }

    pub(crate) fn grid(&self) -> Grid {
        self.grid_in(GridFrame::default())
    }

    /// The grid in another place of the world.
    pub(crate) fn grid_in(&self, frame: GridFrame) -> Grid {
        let size = self.size.map(|length| length as u32);
        let (connectivity, costs) = (self.connectivity, self.costs.clone());
        Grid::new(size, &self.blocked, GridOptions { connectivity, costs, frame, ..GridOptions::default() })
            .unwrap()
    }

    /// Solves the field with an engine.
    pub(crate) fn solve(&self, engine: &Engine) -> hullfield::Result<Field> {
        Flow::new(engine, self.grid())?.solve(&self.goals, &self.options)?.wait()
    }

    /// Solves the field, and compares it with the oracle.
    pub(crate) fn check(&self, engine: &Engine) {
        let result = self.solve(engine);
        judge(self, &expected(self), result).unwrap_or_else(|message| panic!("{}: {message}", self.name));
    }
}

/// The moves in the oracle's terms.
pub(crate) fn neighbours(connectivity: Connectivity) -> Neighbours {
    let corners = |corners| match corners {
        Corners::BothFree => grid::Corners::BothFree,
        Corners::OneFree => grid::Corners::OneFree,
        Corners::Any => grid::Corners::Any,
    };
    match connectivity {
        Connectivity::Four => Neighbours::Four,
        Connectivity::Eight(which) => Neighbours::Eight(corners(which)),
        Connectivity::Six => Neighbours::Six,
        Connectivity::TwentySix(which) => Neighbours::TwentySix(corners(which)),
        _ => panic!("{connectivity:?} is not known"),
    }
}

/// The grid and the goals in it, in the oracle's terms.
fn parts(scene: &Scene) -> (grid::Grid<'_>, Vec<usize>) {
    let Scene { size, blocked, costs, .. } = scene;
    let neighbours = neighbours(scene.connectivity);
    let goals = scene.goals.iter().filter_map(|&goal| scene.index(goal)).collect();
    (grid::Grid { size: *size, neighbours, blocked, costs }, goals)
}

/// The oracle's field of a scene, or the first cell (row by row) whose distance overflows.
pub(crate) fn expected(scene: &Scene) -> Result<Expected, Cell> {
    let (grid, goals) = parts(scene);
    let until: Vec<usize> = scene.options.until.iter().map(|&cell| scene.index(cell).unwrap()).collect();
    grid.field(&goals, scene.options.max_distance, &until).map_err(|index| scene.cell(index))
}

/// The distances of a scene without limits, in 64 bits.
pub(crate) fn exact_distances(scene: &Scene) -> Vec<u64> {
    let (grid, goals) = parts(scene);
    grid.exact_distances(&goals)
}

/// Compares the result of an engine with the oracle: the expected error, or each cell.
pub(crate) fn judge(
    scene: &Scene,
    expected: &Result<Expected, Cell>,
    result: hullfield::Result<Field>,
) -> Result<(), String> {
    match (expected, result) {
        (Ok(expected), Ok(field)) => {
            let stats = *field.stats();
            let distances = field.distances().unwrap().wait().map_err(|error| error.to_string())?;
            let next = field.next_codes().unwrap().wait().map_err(|error| error.to_string())?;
            if let Some((host_distances, codes)) = field.host() {
                assert!(
                    host_distances == distances && codes == next,
                    "`Field::host` differs from `distances` and `next_codes`"
                );
            }
            compare(scene, expected, &distances, &next)?;
            let reached_count = distances.iter().filter(|&&distance| distance != u32::MAX).count();
            if stats.reached_count != reached_count {
                return Err(format!(
                    "reached_count is {}, but {reached_count} cells are reached",
                    stats.reached_count
                ));
            }
            Ok(())
        }
        (Err(cell), Err(Error::DistanceOverflow { cell: reported_cell, .. })) if *cell == reported_cell => {
            Ok(())
        }
        (Ok(_), Err(error)) => Err(format!("solving failed: {error}")),
        (Err(cell), Ok(_)) => Err(format!("the distance of {cell} overflows, but no error was reported")),
        (Err(cell), Err(error)) => {
            Err(format!("the distance of {cell} overflows, but the error is: {error}"))
        }
    }
}

/// Solves a batch of fields with targets of their own near their goals. The first field has no targets and is whole; of
/// the last two, one has a target that cannot be reached, the other's target is its goal. Compares all with the oracle,
/// and checks that the others are not whole.
pub(crate) fn judge_batch_until(flow: &Flow, scene: &Scene, count: usize, random: &mut Random) {
    let mut scenes: Vec<Scene> = (0..count).map(|_| scene.clone().random_goals(1, random)).collect();
    let free = scene.blocked.iter().filter(|&&is_blocked| !is_blocked).count();
    for (at, scene) in scenes.iter_mut().enumerate().skip(1) {
        let goal = scene.goals[0];
        let whole = expected(scene).unwrap().distances;
        let mut near: Vec<usize> = (0..whole.len()).filter(|&cell| whole[cell] != u32::MAX).collect();
        near.sort_by_key(|&cell| whole[cell]);
        let pick = |share: usize| scene.cell(near[(near.len() - 1) / share]);
        scene.options.until = match count - at {
            1 => vec![goal],
            2 => vec![pick(20), scene.cell(scene.blocked.iter().position(|&is_blocked| is_blocked).unwrap())],
            _ => [20, 50, 11, 90].into_iter().take(1 + at % 4).map(pick).collect(),
        };
    }
    let goals: Vec<&[Cell]> = scenes.iter().map(|scene| &scene.goals[..]).collect();
    let until_each = scenes.iter().map(|scene| scene.options.until.clone()).collect();
    let options = FieldOptions { until_each, ..FieldOptions::default() };
    let fields = flow.fields(&goals, &options).unwrap().wait().unwrap();
    assert_eq!(fields.rows.len(), count);
    let mut early_count = 0;
    for (scene, field) in scenes.iter().zip(fields) {
        early_count += usize::from(field.stats().reached_count < free / 4);
        judge(scene, &expected(scene), Ok(field)).unwrap();
    }
    assert!(early_count >= count - 3, "{early_count} of {count} fields ended early");
}

/// Returns the first cell that differs as an error.
pub(crate) fn compare(
    scene: &Scene,
    expected: &Expected,
    distances: &[u32],
    next: &[u8],
) -> Result<(), String> {
    if distances.len() != scene.blocked.len() || next.len() != scene.blocked.len() {
        return Err(format!("{} distances and {} codes", distances.len(), next.len()));
    }
    if distances == expected.distances && next == expected.next {
        return Ok(());
    }
    let of =
        |index: usize| format!("cell {} of {:?}, {:?}", scene.cell(index), scene.size, scene.connectivity);
    if let Some(index) = (0..distances.len()).find(|&index| distances[index] != expected.distances[index]) {
        return Err(format!(
            "{}: the distance is {}, expected {}",
            of(index),
            distances[index],
            expected.distances[index]
        ));
    }
    if let Some(index) = (0..next.len()).find(|&index| next[index] != expected.next[index]) {
        let what = if scene.blocked[index] { "the escape code" } else { "the code" };
        return Err(format!("{}: {what} is {}, expected {}", of(index), next[index], expected.next[index]));
    }
    Ok(())
}

/// Rows of wall with one gap each, at alternate ends: one path through about half the cells.
pub(crate) fn serpentine(width: usize, height: usize) -> Vec<bool> {
    let is_wall = |x: usize, y: usize| y % 2 == 1 && x != if y % 4 == 1 { width - 1 } else { 0 };
    (0..width * height).map(|index| is_wall(index % width, index / width)).collect()
}

/// A maze with exactly one path between any two cells: a depth-first walk over the cells at even coordinates.
pub(crate) fn maze(width: usize, height: usize, random: &mut Random) -> Vec<bool> {
    let mut blocked = vec![true; width * height];
    let mut path = vec![(0usize, 0usize)];
    blocked[0] = false;
    while let Some(&(x, y)) = path.last() {
        let steps = [(0i64, -2i64), (2, 0), (0, 2), (-2, 0)];
        let open = |&(dx, dy): &(i64, i64)| {
            let (to_x, to_y) = (x as i64 + dx, y as i64 + dy);
            let inside = to_x >= 0 && to_y >= 0 && to_x < width as i64 && to_y < height as i64;
            inside && blocked[to_y as usize * width + to_x as usize]
        };
        let choices: Vec<(i64, i64)> = steps.into_iter().filter(open).collect();
        if choices.is_empty() {
            path.pop();
            continue;
        }
        let (dx, dy) = choices[random.below(choices.len())];
        for part in [1, 2] {
            let at = (y as i64 + dy * part / 2) as usize * width + (x as i64 + dx * part / 2) as usize;
            blocked[at] = false;
        }
        path.push(((x as i64 + dx) as usize, (y as i64 + dy) as usize));
    }
    blocked
}

/// Rooms of `room` by `room` cells, with a door in most walls.
pub(crate) fn rooms(width: usize, height: usize, room: usize, random: &mut Random) -> Vec<bool> {
    let mut blocked: Vec<bool> = (0..width * height)
        .map(|at| [at % width, at / width].iter().any(|part| part.is_multiple_of(room)))
        .collect();
    for y in (0..height).step_by(room) {
        for x in (0..width).step_by(room) {
            for (dx, dy) in [(0, 1), (1, 0)] {
                let along = 1 + random.below(room - 1);
                let (x, y) = (x + dx * along, y + dy * along);
                if random.chance(0.8) && x < width && y < height {
                    blocked[y * width + x] = false;
                }
            }
        }
    }
    blocked
}

/// Reads a map in the MovingAI format: `.`, `G` and `S` are free.
pub(crate) fn read_map(text: &str) -> ([usize; 3], Vec<bool>) {
    let mut lines = text.lines();
    let mut header = [0; 2];
    for line in lines.by_ref().take_while(|line| line.trim() != "map") {
        let mut words = line.split_whitespace();
        let (word, value) = (words.next(), words.next());
        match word {
            Some("height") => header[1] = value.unwrap().parse().unwrap(),
            Some("width") => header[0] = value.unwrap().parse().unwrap(),
            _ => {}
        }
    }
    let blocked: Vec<bool> =
        lines.flat_map(|line| line.chars()).map(|mark| !matches!(mark, '.' | 'G' | 'S')).collect();
    let size = [header[0], header[1], 1];
    assert_eq!(blocked.len(), header[0] * header[1]);
    (size, blocked)
}

/// A file of the grid maps of the corpus; `None` if the corpus is unset.
pub(crate) fn corpus_file(name: &str) -> Option<String> {
    let folder = std::env::var_os("HULLFIELD_CORPUS").filter(|folder| !folder.is_empty())?;
    let mut path = PathBuf::from(folder).join("movingai").join(name);
    if !path.exists() {
        path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(path);
    }
    Some(std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
}

/// The maps of the corpus by name; without the corpus seeded maps of the same kinds.
pub(crate) fn maps() -> Vec<(String, [usize; 3], Vec<bool>)> {
    const NAMES: [&str; 7] =
        ["64room_000", "Archipelago", "arena2", "brc202d", "den520d", "maze512-32-0", "random512-10-0"];
    let read = |name: &str| {
        let (size, blocked) = read_map(&corpus_file(&format!("{name}.map"))?);
        Some((name.to_owned(), size, blocked))
    };
    if let Some(maps) = NAMES.into_iter().map(read).collect() {
        return maps;
    }
    eprintln!("HULLFIELD_CORPUS is unset: seeded maps instead of the public ones");
    let random = &mut Random::new(7);
    let flat = |width, height| [width, height, 1];
    vec![
        ("rooms".to_owned(), flat(321, 320), rooms(321, 320, 32, random)),
        ("caves".to_owned(), flat(281, 209), caves(flat(281, 209), random)),
        ("wide caves".to_owned(), flat(530, 300), caves(flat(530, 300), random)),
        ("maze".to_owned(), flat(255, 257), maze(255, 257, random)),
        ("noise".to_owned(), flat(256, 256), noise(flat(256, 256), 0.1, random)),
    ]
}

/// One of every `count` scenes in a row, others in each run.
pub(crate) fn one_of(count: usize, scenes: &[Scene]) -> Vec<Scene> {
    let random = &mut Random::new(seed(count as u64));
    scenes.chunks(count).map(|some| some[random.below(some.len())].clone()).collect()
}

/// One scene of each kind, others in each run, where the kinds take turns.
#[cfg(feature = "gpu")]
pub(crate) fn one_of_each(kind_count: usize, scenes: &[Scene]) -> Vec<Scene> {
    let random = &mut Random::new(seed(kind_count as u64));
    let one = |kind: usize| {
        let some: Vec<&Scene> = scenes.iter().skip(kind).step_by(kind_count).collect();
        some[random.below(some.len())].clone()
    };
    (0..kind_count).map(one).collect()
}

/// Each map with each two-dimensional connectivity and three goals.
pub(crate) fn map_scenes() -> Vec<Scene> {
    let random = &mut Random::new(seed(11));
    let mut scenes = Vec::new();
    for (name, size, blocked) in maps() {
        for connectivity in CONNECTIVITIES_2D {
            let scene = Scene::new(&format!("{name}, {connectivity:?}"), size, connectivity, blocked.clone());
            scenes.push(scene.random_goals(3, random));
        }
    }
    scenes
}

/// Sizes at which words, tiles and workgroups start and end.
pub(crate) const SIZES: [[usize; 2]; 18] = [
    [1, 1],
    [1, 2],
    [1, 77],
    [131, 1],
    [2, 2],
    [3, 5],
    [7, 9],
    [8, 8],
    [9, 8],
    [16, 15],
    [31, 33],
    [63, 65],
    [64, 64],
    [65, 63],
    [127, 40],
    [128, 129],
    [200, 7],
    [257, 130],
];

/// Sizes in three dimensions.
pub(crate) const VOLUMES: [[usize; 3]; 8] =
    [[1, 1, 1], [1, 1, 9], [5, 1, 4], [1, 7, 6], [8, 8, 8], [9, 7, 5], [33, 17, 12], [65, 31, 9]];

/// Small grids of a connectivity: open, noise and caves; with unit costs, small costs and costs of any size.
pub(crate) fn small_scenes(connectivity: Connectivity) -> Vec<Scene> {
    let random = &mut Random::new(seed(23));
    let sizes: Vec<[usize; 3]> = match connectivity.dimension() {
        2 => SIZES.iter().map(|&[width, height]| [width, height, 1]).collect(),
        _ => VOLUMES.to_vec(),
    };
    let mut scenes = Vec::new();
    for size in sizes {
        for (kind, chance) in [("open", 0.0), ("noise 20 %", 0.2), ("noise 38 %", 0.38), ("caves", 1.0)] {
            let blocked = if kind == "caves" { caves(size, random) } else { noise(size, chance, random) };
            for most_cost in [1, 3, 300, 70_000] {
                let name = format!("{kind} {size:?}, {connectivity:?}, costs to {most_cost}");
                let scene = Scene::new(&name, size, connectivity, blocked.clone());
                let goal_count = [1, 1, 3, 40][random.below(4)];
                let scene = scene.random_goals(goal_count, random);
                let scene = if most_cost == 1 { scene } else { scene.random_costs(most_cost, random) };
                if !scene.goals.is_empty() {
                    scenes.push(scene);
                }
            }
        }
    }
    scenes
}

/// Grids with something unusual about them, which their names tell. Unless a name says otherwise they have two
/// dimensions, four neighbours and unit costs.
pub(crate) fn unusual_scenes() -> Vec<Scene> {
    let random = &mut Random::new(seed(31));
    let four = Connectivity::Four;
    let mut scenes = Vec::new();

    // Pockets: chambers without an entrance, one inside the other.
    let ring = |x: usize, y: usize, radius: usize| {
        let far = x.abs_diff(40).max(y.abs_diff(30));
        far == radius || far == radius + 2
    };
    for connectivity in CONNECTIVITIES_2D {
        let blocked: Vec<bool> =
            (0..81 * 61).map(|at| ring(at % 81, at / 81, 10) || ring(at % 81, at / 81, 25)).collect();
        let scene = Scene::new(&format!("pockets, {connectivity:?}"), [81, 61, 1], connectivity, blocked);
        scenes.push(scene.clone().goals(&[[0, 0, 0]]));
        scenes.push(scene.goals(&[[40, 30, 0]]));
    }

    // Every cell a goal, every free cell a goal, and every second cell a goal.
    let open = Scene::new("all goals", [70, 66, 1], four, vec![false; 70 * 66]);
    let all: Vec<[i32; 3]> = (0..70 * 66).map(|at| [at % 70, at / 70, 0]).collect();
    scenes.push(open.clone().goals(&all));
    let noisy = Scene::new("all free goals", [70, 66, 1], four, noise([70, 66, 1], 0.3, random));
    scenes.push(noisy.goals(&all));
    let some: Vec<[i32; 3]> = all.iter().copied().filter(|goal| (goal[0] + goal[1]) % 2 == 0).collect();
    scenes.push(Scene { name: "a board of goals".to_owned(), ..open.clone() }.goals(&some));

    // All cells but one blocked.
    let mut blocked = vec![true; 130 * 70];
    blocked[35 * 130 + 64] = false;
    for connectivity in CONNECTIVITIES_2D {
        let scene =
            Scene::new(&format!("one free, {connectivity:?}"), [130, 70, 1], connectivity, blocked.clone());
        scenes.push(scene.goals(&[[64, 35, 0]]));
    }

    // Sizes around those of tiles, with steps and costs for which tiles are relaxed.
    for (size, connectivity) in [[127, 65, 1], [128, 64, 1], [129, 97, 1], [8200, 1, 1], [2, 4100, 1]]
        .into_iter()
        .zip(CONNECTIVITIES_2D.into_iter().cycle())
    {
        for (name, chance) in [("open", 0.0), ("noise", 0.25)] {
            let scene =
                Scene::new(&format!("{name} {size:?}"), size, connectivity, noise(size, chance, random));
            let scene = scene.random_goals(2, random);
            scenes.push(scene.clone());
            scenes.push(scene.random_costs(9, random));
        }
    }

    // Goals on obstacles, outside the grid, and given twice.
    let mut scene = Scene::new("odd goals", [20, 20, 1], four, vec![false; 400]);
    scene.blocked[5 * 20 + 5] = true;
    let goals =
        [[5, 5, 0], [3, 3, 0], [3, 3, 0], [-1, 0, 0], [20, 0, 0], [0, 0, 1], [0, i32::MAX, 0], [19, 19, 0]];
    scenes.push(scene.goals(&goals));

    // A checkerboard of obstacles, on which the corner rule decides everything.
    for connectivity in CONNECTIVITIES_2D {
        let blocked = (0..33 * 31).map(|at| (at % 33 + at / 33) % 2 == 1).collect();
        let scene = Scene::new(&format!("board, {connectivity:?}"), [33, 31, 1], connectivity, blocked);
        scenes.push(scene.goals(&[[16, 16, 0]]));
    }

    // Costs that differ by five powers of ten, and a cost on a goal.
    for connectivity in CONNECTIVITIES_2D {
        let mut scene =
            Scene::new(&format!("swamp, {connectivity:?}"), [90, 50, 1], connectivity, vec![false; 4500]);
        scene.costs = (0..4500).map(|at| if at % 90 / 7 % 2 == 0 { 1 } else { 100_000 }).collect();
        scene.costs[25 * 90 + 45] = 17;
        scenes.push(scene.goals(&[[45, 25, 0], [3, 49, 0]]));
    }

    // A maze, a serpentine and rooms.
    scenes.push(Scene::new("maze", [129, 127, 1], four, maze(129, 127, random)).goals(&[[0, 0, 0]]));
    scenes.push(Scene::new("serpentine", [100, 99, 1], four, serpentine(100, 99)).goals(&[[0, 0, 0]]));
    scenes
        .push(Scene::new("rooms", [200, 150, 1], four, rooms(200, 150, 16, random)).random_goals(2, random));
    scenes
}

/// Kinds of limits.
pub(crate) const LIMITS: usize = 10;

/// Those without targets, which are the first.
#[cfg(feature = "gpu")]
pub(crate) const MAX_DISTANCES: usize = 6;

/// Fields limited by `max_distance`, by `until`, and by both. The kinds of limits take turns.
pub(crate) fn limited_scenes() -> Vec<Scene> {
    let random = &mut Random::new(seed(41));
    let mut scenes = Vec::new();
    for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
        let size = if connectivity.dimension() == 2 { [97, 83, 1] } else { [21, 19, 17] };
        let cell_count = size.iter().product::<usize>();
        for most_cost in [1, 9] {
            let blocked = noise(size, 0.2, random);
            let scene = Scene::new("", size, connectivity, blocked).random_goals(2, random);
            let scene = if most_cost == 1 { scene } else { scene.random_costs(most_cost, random) };
            let unit = connectivity.unit();
            let cells: Vec<Cell> = (0..3).map(|_| scene.cell(random.below(cell_count))).collect();
            for (max_distance, until) in [
                (Some(0), vec![]),
                (Some(1), vec![]),
                (Some(unit * 9), vec![]),
                (Some(unit * 9 + 1), vec![]),
                (Some(u32::MAX - 2), vec![]),
                (Some(u32::MAX), vec![]),
                (None, vec![scene.goals[0]]),
                (None, cells.clone()),
                (Some(unit * 20), cells.clone()),
                (Some(unit * 3), cells),
            ] as [_; LIMITS]
            {
                let name =
                    format!("{connectivity:?}, costs to {most_cost}, {max_distance:?}, until {until:?}");
                scenes.push(Scene {
                    name,
                    options: FieldOptions { max_distance, until, ..FieldOptions::default() },
                    ..scene.clone()
                });
            }
        }
    }
    scenes
}

/// Distances that reach 2³² − 1, or come within one of it.
pub(crate) fn overflowing_scenes() -> Vec<Scene> {
    let most = u32::MAX;
    let line = |name: &str, costs: &[u32]| {
        let size = [costs.len(), 1, 1];
        let mut scene = Scene::new(name, size, Connectivity::Four, vec![false; costs.len()]);
        scene.costs = costs.to_vec();
        scene.goals(&[[0, 0, 0]])
    };
    let mut scenes = vec![
        line("the largest distance", &[most - 2, 1, 1]),
        line("the first that is too large", &[most - 2, 2, 1]),
        line("a cost that is too large at once", &[most, 1, 1]),
        line("a cost that is too large, never entered", &[1, 1, most]),
        line("behind a cell that is too far", &[1 << 31, 1 << 31, 1, 1]),
    ];
    // The other way around the ring is short enough.
    let mut ring = Scene::new("one way of two is too long", [3, 3, 1], Connectivity::Four, vec![false; 9]);
    ring.blocked[4] = true;
    ring.costs = vec![1, most, 1, 1, 1, most, 1, 1, 1];
    scenes.push(ring.goals(&[[0, 0, 0]]));
    for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
        let size = if connectivity.dimension() == 2 { [40, 30, 1] } else { [12, 11, 10] };
        let mut scene = Scene::new(
            &format!("{connectivity:?} of large costs"),
            size,
            connectivity,
            vec![].into_iter().chain(std::iter::repeat_n(false, size.iter().product())).collect(),
        );
        scene.costs = vec![most / connectivity.unit() / 8; scene.blocked.len()];
        let middle = size.map(|length| length as i32 / 2);
        let scene = scene.goals(&[middle]);
        let limited = FieldOptions { max_distance: Some(most - 1), ..FieldOptions::default() };
        scenes.push(Scene { name: format!("{}, limited", scene.name), options: limited, ..scene.clone() });
        let near = FieldOptions { until: scene.goals.clone(), ..FieldOptions::default() };
        scenes.push(Scene { name: format!("{}, until near", scene.name), options: near, ..scene.clone() });
        scenes.push(scene);
    }
    scenes
}
