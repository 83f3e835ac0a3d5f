//! Grids for the benches of flow fields.

use std::path::PathBuf;

use hullfield::flow::{Connectivity, Corners, Grid, GridOptions};
use hullfield_oracle::random::Random;

/// A grid and a goal.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) name: String,
    pub(crate) size: [usize; 3],
    pub(crate) connectivity: Connectivity,
    pub(crate) blocked: Vec<bool>,
    /// The costs of the cells; empty if all are 1.
    pub(crate) costs: Vec<u32>,
    /// The index of the goal: the first free cell from the middle.
    pub(crate) goal: usize,
}

impl Scene {
    fn new(name: &str, size: [usize; 3], connectivity: Connectivity, blocked: Vec<bool>) -> Self {
        let [width, height, depth] = size;
        let middle = (depth / 2 * height + height / 2) * width + width / 2;
        let goal = (middle..blocked.len()).chain(0..middle).find(|&at| !blocked[at]).unwrap_or(0);
        Self { name: name.to_owned(), size, connectivity, blocked, costs: Vec::new(), goal }
    }

    /// A scene of two dimensions and four neighbours.
    pub(crate) fn flat(name: &str, width: usize, height: usize, blocked: Vec<bool>) -> Self {
        Self::new(name, [width, height, 1], Connectivity::Four, blocked)
    }

    /// A cube of `side`³ cells.
    pub(crate) fn volume(name: &str, side: usize, connectivity: Connectivity, blocked: Vec<bool>) -> Self {
        Self::new(name, [side; 3], connectivity, blocked)
    }

    /// The grid.
    ///
    /// # Errors
    /// An error of the library.
    pub(crate) fn grid(&self) -> Result<Grid, String> {
        let size = self.size.map(|length| length as u32);
        let (connectivity, costs) = (self.connectivity, self.costs.clone());
        let options = GridOptions { connectivity, costs, ..GridOptions::default() };
        Grid::new(size, &self.blocked, options).map_err(|error| error.to_string())
    }
}

/// `a field`, `7 fields`.
pub(crate) fn count_of_fields(count: usize) -> String {
    if count == 1 { "a field".into() } else { format!("{count} fields") }
}

/// Random obstacles.
pub(crate) fn noise(count: usize, share: f64, seed: u64) -> Vec<bool> {
    let random = &mut Random::new(seed);
    (0..count).map(|_| random.chance(share)).collect()
}

/// A maze by depth-first search, with corridors and walls `wide` cells wide.
fn maze(cells: usize, wide: usize, seed: u64) -> (usize, Vec<bool>) {
    let random = &mut Random::new(seed);
    let across = 2 * cells - 1;
    let mut walls = vec![true; across * across];
    let mut path = vec![[0usize, 0]];
    walls[0] = false;
    while let Some(&[x, y]) = path.last() {
        let beside = [
            (y > 0).then(|| [x, y.wrapping_sub(2)]),
            (x + 2 < across).then_some([x + 2, y]),
            (y + 2 < across).then_some([x, y + 2]),
            (x > 0).then(|| [x.wrapping_sub(2), y]),
        ];
        let open: Vec<[usize; 2]> =
            beside.into_iter().flatten().filter(|&[x, y]| walls[y * across + x]).collect();
        if open.is_empty() {
            path.pop();
            continue;
        }
        let to = open[random.below(open.len())];
        walls[(y + to[1]) / 2 * across + (x + to[0]) / 2] = false;
        walls[to[1] * across + to[0]] = false;
        path.push(to);
    }
    let side = across * wide;
    (side, (0..side * side).map(|at| walls[at / side / wide * across + at % side / wide]).collect())
}

/// Grids of two dimensions, steps of 1, four neighbours.
///
/// # Errors
/// A map that cannot be read.
pub(crate) fn flat_scenes(is_quick: bool) -> Result<Vec<Scene>, String> {
    let sides: &[usize] = if is_quick { &[64, 256] } else { &[256, 512, 1024, 2048, 4096] };
    let mut scenes = Vec::new();
    for &side in sides {
        for (name, share) in [("open", 0.0), ("20 %", 0.2), ("38 %", 0.38)] {
            scenes.push(Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, share, 1)));
        }
        for wide in [1, 2, 8] {
            let (side, blocked) = maze(side / wide / 2, wide, 2);
            scenes.push(Scene::flat(&format!("maze of {wide} {side}²"), side, side, blocked));
        }
        let is_wall = |x: usize, y: usize| y % 2 == 1 && x != if y % 4 == 1 { side - 1 } else { 0 };
        let walls = (0..side * side).map(|at| is_wall(at % side, at / side)).collect();
        scenes.push(Scene::flat(&format!("serpentine {side}²"), side, side, walls));
    }
    scenes.extend(maps()?);
    Ok(scenes)
}

/// The game maps of the corpus, if it is there.
fn maps() -> Result<Vec<Scene>, String> {
    let folder = std::env::var_os("HULLFIELD_CORPUS").filter(|folder| !folder.is_empty());
    let Some(folder) = folder.map(|folder| PathBuf::from(folder).join("movingai")) else {
        eprintln!("HULLFIELD_CORPUS is not set: seeded grids only, no game maps");
        return Ok(Vec::new());
    };
    let mut scenes = Vec::new();
    for name in
        ["64room_000", "Archipelago", "arena2", "brc202d", "den520d", "maze512-32-0", "random512-10-0"]
    {
        let path = folder.join(format!("{name}.map"));
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let rows: Vec<&str> = text.lines().skip_while(|line| line.trim() != "map").skip(1).collect();
        let width = rows.first().map_or(0, |row| row.len());
        if rows.iter().any(|row| row.len() != width) {
            return Err(format!("{}: its rows are not equally long", path.display()));
        }
        let blocked: Vec<bool> =
            rows.iter().flat_map(|row| row.bytes()).map(|mark| !matches!(mark, b'.' | b'G' | b'S')).collect();
        scenes.push(Scene::flat(name, width, rows.len(), blocked));
    }
    Ok(scenes)
}

/// Grids with costs, diagonals or layers.
pub(crate) fn stepped_scenes(is_quick: bool) -> Vec<Scene> {
    let random = &mut Random::new(3);
    let eight = Connectivity::Eight(Corners::BothFree);
    let sides: &[usize] = if is_quick { &[64] } else { &[512, 1024, 4096] };
    let mut scenes = Vec::new();
    for &side in sides {
        let flat = [side, side, 1];
        for (name, connectivity, most_cost) in [
            ("costs to 9", Connectivity::Four, 9),
            ("diagonals", eight, 1),
            ("diagonals, costs to 9", eight, 9),
            ("diagonals, costs to 9,999", eight, 9_999),
        ] {
            let blocked = noise(side * side, 0.2, 4);
            let mut scene = Scene::new(&format!("{name} {side}²"), flat, connectivity, blocked);
            if most_cost > 1 {
                scene.costs = (0..side * side).map(|_| random.below(most_cost) as u32 + 1).collect();
            }
            scenes.push(scene);
        }
    }
    let side: usize = if is_quick { 16 } else { 96 };
    for (name, connectivity) in
        [("volume of 6", Connectivity::Six), ("volume of 26", Connectivity::TwentySix(Corners::BothFree))]
    {
        let blocked = noise(side.pow(3), 0.2, 5);
        scenes.push(Scene::volume(&format!("{name} {side}³"), side, connectivity, blocked));
    }
    scenes
}
