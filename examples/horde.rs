//! A hundred thousand agents stream to two goals while walls are shut and opened across their ways; the field is solved
//! again wherever that changes it, and all agents read the one field.
//!
//! The map is a MovingAI `.map`, or built in where none is given. An animated picture and four still ones are written. Agents are
//! orange or blue by the goal that they go to, red bars are shut walls.
//!
//! `cargo run --release --example horde -- [MAP [FOLDER]]`

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hullfield::Engine;
use hullfield::flow::{Cell, Edit, Field, FieldOptions, Flow, Grid, GridOptions, SteerOptions, UNREACHABLE};

const AGENTS: usize = 100_000;
const FRAMES: usize = 360;
/// Frames from one change of a wall to the next.
const CHANGE: usize = 45;
/// Frames of the walk for one of the picture.
const DRAWN: usize = 3;
/// The still pictures.
const SHOTS: [usize; 4] = [30, 120, 210, 330];
/// Cells that an agent walks in a frame, at most: less than half of one.
const STRIDE: f64 = 0.45;

/// The colours: obstacles, floor, what is cut off, shut walls, goals; then of each goal's agents from few to many.
const PALETTE: [u32; 17] = [
    0x1b2430, 0x323e4d, 0x232c38, 0xf03e3e, 0xffffff, 0x6b4a2c, 0xa0622a, 0xd27d2c, 0xf59f3f, 0xffc375,
    0xffe6bd, 0x27506f, 0x2b6f9e, 0x3390c9, 0x4fb3ea, 0x8ad2f7, 0xcdeefd,
];
const LEVELS: u32 = 6;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }
}

/// A MovingAI map: its size, and which cells are obstacles.
fn read(path: &Path) -> Result<([u32; 3], Vec<bool>), Box<dyn Error>> {
    let text = std::fs::read_to_string(path)?;
    let rows: Vec<&str> = text.lines().skip_while(|line| line.trim() != "map").skip(1).collect();
    let width = rows.first().map_or(0, |row| row.len());
    if width == 0 || rows.iter().any(|row| row.len() != width) {
        return Err(format!("{}: no MovingAI map", path.display()).into());
    }
    let obstacles = rows.iter().flat_map(|row| row.bytes().map(|cell| !b".GS".contains(&cell))).collect();
    Ok(([width as u32, rows.len() as u32, 1], obstacles))
}

/// Caves: noise that is smoothed until it hangs together, with a wall around.
fn caves(random: &mut Random) -> ([u32; 3], Vec<bool>) {
    let (width, height) = (320_usize, 200_usize);
    let is_border = |x: usize, y: usize| x == 0 || y == 0 || x == width - 1 || y == height - 1;
    let mut cells: Vec<bool> = (0..width * height).map(|_| random.unit() < 0.43).collect();
    for round in 0..8 {
        let before = cells.clone();
        for y in 0..height {
            for x in 0..width {
                let around = |reach: usize| {
                    let rows = y.saturating_sub(reach)..=(y + reach).min(height - 1);
                    let mut count = 0;
                    for y in rows {
                        for x in x.saturating_sub(reach)..=(x + reach).min(width - 1) {
                            count += usize::from(before[y * width + x]);
                        }
                    }
                    count
                };
                let is_wide_open = round < 3 && around(3) < 3;
                cells[y * width + x] = is_border(x, y) || around(1) >= 5 || is_wide_open;
            }
        }
    }
    ([width as u32, height as u32, 1], cells)
}

/// The cell that is farthest from the goals of a field.
fn farthest(field: &Field) -> Result<Cell, Box<dyn Error>> {
    let distances = field.distances()?.wait()?;
    let reached = (0..distances.len()).filter(|&index| distances[index] != UNREACHABLE);
    let index = reached.max_by_key(|&index| distances[index]).ok_or("nothing is reached")?;
    Ok(field.grid().cell(index))
}

/// Walls across the busiest ways: each a row of free cells from one obstacle to another.
fn walls(field: &Field, random: &mut Random, starts: &[Cell]) -> Result<Vec<Vec<Cell>>, Box<dyn Error>> {
    let grid = field.grid();
    let paths = field.paths(starts)?.wait()?;
    let mut used = vec![0_u32; grid.cell_count()];
    for &cell in &paths.cells {
        used[cell as usize] += 1;
    }
    let distances = field.distances()?.wait()?;
    let far = distances.iter().filter(|&&distance| distance != UNREACHABLE).max().copied().unwrap_or(0);
    let mut busy: Vec<usize> =
        (0..used.len()).filter(|&index| distances[index] > far / 8 && used[index] > 0).collect();
    busy.sort_by_key(|&index| std::cmp::Reverse(used[index] / 16));
    let mut walls: Vec<Vec<Cell>> = Vec::new();
    for index in busy {
        let cell = grid.cell(index);
        let is_apart = |wall: &Vec<Cell>| (wall[0].x - cell.x).abs().max((wall[0].y - cell.y).abs()) > 48;
        if walls.len() == 6 || !walls.iter().all(is_apart) {
            continue;
        }
        let across = |dx: i32, dy: i32| {
            let side = |sign: i32| {
                (1..)
                    .map(move |k| Cell::from([cell.x + sign * k * dx, cell.y + sign * k * dy]))
                    .take_while(|&cell| grid.is_free(cell))
            };
            let mut wall = vec![cell];
            wall.extend(side(1).take(40));
            wall.extend(side(-1).take(40));
            wall
        };
        let wall = [across(1, 0), across(0, 1)].into_iter().min_by_key(Vec::len).unwrap_or_default();
        if (2..=28).contains(&wall.len()) {
            walls.push(wall);
        }
    }
    // Not one after another along one way.
    for k in (1..walls.len()).rev() {
        walls.swap(k, random.below(k + 1));
    }
    Ok(walls)
}

/// Which of the goals each cell is led to; none where none is reached.
fn goal_of(field: &Field, goals: &[Cell]) -> Result<Vec<Option<usize>>, Box<dyn Error>> {
    let grid = field.grid();
    let distances = field.distances()?.wait()?;
    let cells: Vec<Cell> = (0..grid.cell_count()).map(|index| grid.cell(index)).collect();
    let next = field.next_cells(&cells)?.wait()?.rows;
    let mut order: Vec<usize> = (0..cells.len()).filter(|&index| distances[index] != UNREACHABLE).collect();
    order.sort_unstable_by_key(|&index| distances[index]);
    let mut found = vec![None; cells.len()];
    for index in order {
        found[index] = match distances[index] {
            0 => goals.iter().position(|&goal| goal == cells[index]),
            _ => grid.index(next[index]).and_then(|next| found[next]),
        };
    }
    Ok(found)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let map = arguments.next();
    let folder = PathBuf::from(arguments.next().unwrap_or_else(|| "target/horde".into()));
    std::fs::create_dir_all(&folder)?;
    let mut random = Random(7);
    let (size, obstacles) = match &map {
        Some(path) => read(Path::new(path))?,
        None => caves(&mut random),
    };
    let grid = Grid::new(size, &obstacles, GridOptions::default())?;
    let mut flow = Flow::new(&Engine::auto()?, grid)?;
    println!("{}", flow.engine().reason());

    // Two goals at the ends of the largest part that hangs together.
    let free: Vec<Cell> = (0..flow.grid().cell_count())
        .map(|i| flow.grid().cell(i))
        .filter(|&cell| flow.grid().is_free(cell))
        .collect();
    let options = FieldOptions::default();
    let mut best: Option<Field> = None;
    for _ in 0..12 {
        let field = flow.solve(&[free[random.below(free.len())]], &options)?.wait()?;
        let count = |field: &Field| field.stats().reached_count;
        if best.as_ref().is_none_or(|best| count(&field) > count(best)) {
            best = Some(field);
        }
    }
    let first = farthest(&best.ok_or("the map has no free cell")?)?;
    let second = farthest(&flow.solve(&[first], &options)?.wait()?)?;
    let goals = [first, second];
    let begun = Instant::now();
    let mut field = flow.solve(&goals, &options)?.wait()?;
    println!("{} x {} cells, a field in {:.2} ms", size[0], size[1], begun.elapsed().as_secs_f64() * 1e3);

    let distances = field.distances()?.wait()?;
    let mut homes: Vec<usize> =
        (0..distances.len()).filter(|&i| distances[i] != UNREACHABLE && distances[i] > 0).collect();
    homes.sort_unstable_by_key(|&index| distances[index]);
    let cell_of =
        |index: usize| Cell::from([(index % size[0] as usize) as i32, (index / size[0] as usize) as i32]);
    let starts: Vec<Cell> = (0..4000).map(|_| cell_of(homes[random.below(homes.len())])).collect();
    let walls = walls(&field, &mut random, &starts)?;
    let mut is_shut = vec![false; walls.len()];
    // Those who arrive begin anew in the farther half.
    let place = |random: &mut Random, from: usize| {
        let index = homes[from + random.below(homes.len() - from)];
        let cell = cell_of(index);
        [f64::from(cell.x) + random.unit(), f64::from(cell.y) + random.unit(), 0.0]
    };
    let mut positions: Vec<[f64; 3]> = (0..AGENTS).map(|_| place(&mut random, 0)).collect();
    let speeds: Vec<f64> = (0..AGENTS).map(|_| STRIDE * (0.5 + 0.5 * random.unit())).collect();
    let mut goal_of_cell = goal_of(&field, &goals)?;

    let scale = (960 / size[0].max(size[1])).max(1) as usize;
    let [width, height] = [size[0] as usize * scale, size[1] as usize * scale];
    let encoder = |name: &str| -> Result<png::Encoder<'_, BufWriter<File>>, Box<dyn Error>> {
        let mut encoder =
            png::Encoder::new(BufWriter::new(File::create(folder.join(name))?), width as u32, height as u32);
        encoder.set_color(png::ColorType::Indexed);
        encoder
            .set_palette(PALETTE.iter().flat_map(|rgb| rgb.to_be_bytes()[1..].to_vec()).collect::<Vec<u8>>());
        Ok(encoder)
    };
    let mut animation = encoder("horde.png")?;
    animation.set_animated(FRAMES.div_ceil(DRAWN) as u32, 0)?;
    animation.set_frame_delay(1, 20)?;
    let mut animation = animation.write_header()?;

    let (mut arrived, mut edits, mut edit_time, mut walk_time) = (0, 0, 0.0, 0.0);
    for frame in 0..FRAMES {
        if frame % CHANGE == CHANGE - 1 && !walls.is_empty() {
            // One shuts; from the third on the one that has been shut longest opens.
            let turn = frame / CHANGE;
            let mut changes = Vec::new();
            for (wall, shut) in [(turn % walls.len(), true), ((turn + walls.len() - 2) % walls.len(), false)]
            {
                if is_shut[wall] != shut {
                    is_shut[wall] = shut;
                    changes.extend(
                        walls[wall]
                            .iter()
                            .map(|&cell| if shut { Edit::Block(cell) } else { Edit::Free(cell) }),
                    );
                }
            }
            let begun = Instant::now();
            flow.edit(&changes)?;
            flow.update(&mut field)?.wait()?;
            edit_time += begun.elapsed().as_secs_f64();
            edits += 1;
            goal_of_cell = goal_of(&field, &goals)?;
        }
        let begun = Instant::now();
        let directions = field.directions(&positions, &SteerOptions { sight: 12 })?.wait()?.rows;
        walk_time += begun.elapsed().as_secs_f64();
        let grid = flow.grid();
        let cell_at = |place: [f64; 3]| Cell::from([place[0].floor() as i32, place[1].floor() as i32]);
        for (agent, direction) in directions.iter().enumerate() {
            let position = &mut positions[agent];
            if goals.contains(&cell_at(*position)) {
                *position = place(&mut random, homes.len() / 2);
                arrived += 1;
                continue;
            }
            let step: [f64; 2] = std::array::from_fn(|k| direction[k] * speeds[agent]);
            // A little aside, so that no two walk in one line; but not into a wall.
            let aside = (random.unit() - 0.5) * speeds[agent];
            let ahead = [position[0] + step[0], position[1] + step[1], 0.0];
            let moved = [ahead[0] - direction[1] * aside, ahead[1] + direction[0] * aside, 0.0];
            let was_free = grid.is_free(cell_at(*position));
            *position = if grid.is_free(cell_at(moved)) { moved } else { ahead };
            assert!(!was_free || grid.is_free(cell_at(*position)), "agent {agent} has walked into a wall");
        }
        if frame % DRAWN == 0 || SHOTS.contains(&frame) {
            let picture = draw(grid, &field, &positions, &goal_of_cell, &goals, &walls, &is_shut, scale)?;
            if frame % DRAWN == 0 {
                animation.write_image_data(&picture)?;
            }
            if SHOTS.contains(&frame) {
                let name = format!("horde-{frame:03}.png");
                encoder(&name)?.write_header()?.write_image_data(&picture)?;
                println!("wrote {}", folder.join(name).display());
            }
        }
    }
    animation.finish()?;
    println!("wrote {}", folder.join("horde.png").display());
    println!("\n{AGENTS} agents, {FRAMES} frames: {arrived} arrived and began anew");
    println!(
        "{edits} edits, {:.2} ms each with the field; directions of all agents {:.1} ms a frame",
        edit_time / f64::from(edits.max(1)) * 1e3,
        walk_time / FRAMES as f64 * 1e3
    );
    Ok(())
}

/// A picture of a frame, as indices of the palette.
#[allow(clippy::too_many_arguments)]
fn draw(
    grid: &Grid,
    field: &Field,
    positions: &[[f64; 3]],
    goal_of: &[Option<usize>],
    goals: &[Cell],
    walls: &[Vec<Cell>],
    is_shut: &[bool],
    scale: usize,
) -> Result<Vec<u8>, Box<dyn Error>> {
    let [width, height] = [grid.size()[0] as usize, grid.size()[1] as usize];
    let mut picture = vec![0_u8; width * height * scale * scale];
    let mut fill = |x: usize, y: usize, colour: u8| {
        for row in y * scale..(y + 1) * scale {
            picture[row * width * scale + x * scale..][..scale].fill(colour);
        }
    };
    let distances = field.distances()?.wait()?;
    for (index, &distance) in distances.iter().enumerate() {
        let is_obstacle = grid.is_obstacle(grid.cell(index));
        let colour = if is_obstacle {
            0
        } else if distance == UNREACHABLE {
            2
        } else {
            1
        };
        fill(index % width, index / width, colour);
    }
    for (wall, _) in walls.iter().zip(is_shut).filter(|(_, is_shut)| **is_shut) {
        wall.iter().for_each(|cell| fill(cell.x as usize, cell.y as usize, 3));
    }
    // How many agents there are on each pixel.
    let mut counts = vec![[0_u32; 2]; picture.len()];
    for position in positions {
        let at = [position[0], position[1]].map(|part| part * scale as f64);
        let cell = position[1] as usize * width + position[0] as usize;
        counts[at[1] as usize * width * scale + at[0] as usize][goal_of[cell].unwrap_or(0)] += 1;
    }
    for (pixel, counts) in picture.iter_mut().zip(&counts) {
        let count = counts[0] + counts[1];
        if count > 0 {
            // A level more for each doubling, from the second on.
            let level = (count * 2).ilog2().min(LEVELS - 1) as u8 + 1;
            let most = u8::from(counts[1] > counts[0]);
            *pixel = 4 + most * LEVELS as u8 + level.min(LEVELS as u8);
        }
    }
    let radius = 5.0;
    for goal in goals {
        let centre = [goal.x, goal.y].map(|at| (f64::from(at) + 0.5) * scale as f64);
        for y in (centre[1] - radius).max(0.0) as usize..((centre[1] + radius) as usize).min(height * scale) {
            for x in
                (centre[0] - radius).max(0.0) as usize..((centre[0] + radius) as usize).min(width * scale)
            {
                if f64::hypot(x as f64 + 0.5 - centre[0], y as f64 + 0.5 - centre[1]) < radius {
                    picture[y * width * scale + x] = 4;
                }
            }
        }
    }
    Ok(picture)
}
