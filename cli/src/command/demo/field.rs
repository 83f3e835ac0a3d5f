//! The second job: a field of distances over a cave with several goals, and agents that follow it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use hullfield::Engine;
use hullfield::flow::{Cell, FieldOptions, Flow, Grid, GridOptions, UNREACHABLE};
use serde_json::{Value, json};

use super::arguments::Arguments;
use crate::failure::Result;
use crate::picture::{self, FieldPicture};
use crate::random::Random;

/// File name of the picture.
const PICTURE: &str = "flow.png";
/// Cells across and down.
const SIZE: [i32; 2] = [320, 200];
const GOALS: usize = 3;
const AGENTS: usize = 48;

/// The results of the job.
pub(super) struct FlowField {
    reached_count: usize,
    levels: u64,
    rounds: u64,
    field_ms: f64,
    agents_ms: f64,
    wrong_count: usize,
    picture: PathBuf,
}

impl FlowField {
    pub(super) fn run(arguments: &Arguments, engine: &Engine) -> Result<Self> {
        let mut random = Random::new(arguments.seed);
        let obstacles = cave(&mut random);
        let grid = Grid::new([SIZE[0] as u32, SIZE[1] as u32, 1], &obstacles, GridOptions::default())?;
        let mut free = || loop {
            let cell =
                Cell::from([random.below(SIZE[0] as usize) as i32, random.below(SIZE[1] as usize) as i32]);
            if grid.is_free(cell) {
                break cell;
            }
        };
        let goals: Vec<Cell> = (0..GOALS).map(|_| free()).collect();
        let starts: Vec<Cell> = (0..AGENTS).map(|_| free()).collect();
        let flow = Flow::new(engine, grid)?;
        let started = Instant::now();
        let field = flow.solve(&goals, &FieldOptions::default())?.wait()?;
        let field_ms = started.elapsed().as_secs_f64() * 1e3;
        let started = Instant::now();
        let paths = field.paths(&starts)?.wait()?;
        let agents_ms = started.elapsed().as_secs_f64() * 1e3;
        let (distances, next) = (field.distances()?.wait()?, field.next_codes()?.wait()?);
        let path = arguments.out.join(PICTURE);
        let picture = FieldPicture {
            size: field.grid().size(),
            connectivity: field.grid().connectivity(),
            states: picture::grid_states(field.grid(), &distances),
            next: &next,
            goals: &goals,
            traces: (0..paths.count()).map(|row| paths.path(row)).collect(),
        };
        picture::write_png(&picture.draw(), &path)?;
        Ok(Self {
            reached_count: distances.iter().filter(|&&distance| distance != UNREACHABLE).count(),
            levels: field.stats().levels.into(),
            rounds: field.stats().rounds.into(),
            field_ms,
            agents_ms,
            wrong_count: count_wrong(field.grid(), &goals, &distances),
            picture: path,
        })
    }

    /// The message of a failed check.
    pub(super) fn error(&self) -> Option<String> {
        (self.wrong_count > 0).then(|| format!("{} distances of the field are wrong", self.wrong_count))
    }

    pub(super) fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let [width, height] = SIZE;
        let Self { reached_count, levels, rounds, field_ms, agents_ms, .. } = self;
        writeln!(
            writer,
            "field:   {width} x {height} cells, {GOALS} goals, {reached_count} cells reached: {field_ms:.3} ms ({levels} levels, {rounds} rounds)"
        )?;
        writeln!(writer, "agents:  {AGENTS} whole paths to the nearest goal in {agents_ms:.3} ms")?;
        match self.wrong_count {
            0 => writeln!(
                writer,
                "check:   every cell is a step beyond its best neighbour, so every distance is the shortest"
            )?,
            count => writeln!(writer, "check:   {count} cells are WRONG")?,
        }
        writeln!(writer, "picture: {}", self.picture.display())
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "cells": SIZE,
            "goals": GOALS,
            "reached": self.reached_count,
            "agents": AGENTS,
            "field_ms": self.field_ms,
            "agents_ms": self.agents_ms,
            "wrong": self.wrong_count,
            "picture": self.picture.display().to_string(),
        })
    }
}

/// A cave by cellular automaton: from noise, each cell becomes what most of its neighbourhood is, five times.
fn cave(random: &mut Random) -> Vec<bool> {
    let [width, height] = SIZE;
    let mut rock: Vec<bool> = (0..width * height).map(|_| random.unit() < 0.465).collect();
    for _ in 0..5 {
        let at =
            |x: i32, y: i32| x < 0 || y < 0 || x >= width || y >= height || rock[(y * width + x) as usize];
        let around = |x: i32, y: i32| {
            (-1..=1)
                .flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)))
                .filter(|&(dx, dy)| at(x + dx, y + dy))
                .count()
        };
        rock = (0..width * height).map(|i| around(i % width, i / width) >= 5).collect();
    }
    rock
}

/// The number of cells that break the rule of distances: 0 at a goal, else the least of a neighbour's distance and a step.
/// Only the right field keeps the rule everywhere.
fn count_wrong(grid: &Grid, goals: &[Cell], distances: &[u32]) -> usize {
    let distance = |cell: Cell| match grid.index(cell) {
        Some(index) if grid.is_free(cell) => distances[index],
        _ => UNREACHABLE,
    };
    let expected = |cell: Cell| {
        if grid.is_obstacle(cell) {
            return UNREACHABLE;
        }
        if goals.contains(&cell) {
            return 0;
        }
        let beside = |x: i32, y: i32| Cell::from([cell.x + x, cell.y + y]);
        let mut least = UNREACHABLE;
        for (x, y) in (-1..=1).flat_map(|y| (-1..=1).map(move |x| (x, y))).filter(|&place| place != (0, 0)) {
            let is_diagonal = x != 0 && y != 0;
            if is_diagonal && !(grid.is_free(beside(x, 0)) && grid.is_free(beside(0, y))) {
                continue;
            }
            let step = if is_diagonal { 577 } else { 408 };
            least = least.min(distance(beside(x, y)).saturating_add(step));
        }
        least
    };
    (0..grid.cell_count()).filter(|&index| distances[index] != expected(grid.cell(index))).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_distance_is_found() {
        let obstacles = cave(&mut Random::new(7));
        let size = [SIZE[0] as u32, SIZE[1] as u32, 1];
        let grid = Grid::new(size, &obstacles, GridOptions::default()).unwrap();
        let goal =
            (0..grid.cell_count()).map(|index| grid.cell(index)).find(|&cell| grid.is_free(cell)).unwrap();
        let flow = Flow::new(&Engine::cpu(), grid).unwrap();
        let field = flow.solve(&[goal], &FieldOptions::default()).unwrap().wait().unwrap();
        let mut distances = field.distances().unwrap().wait().unwrap();
        assert_eq!(count_wrong(field.grid(), &[goal], &distances), 0);
        let reached: Vec<usize> = (0..distances.len()).filter(|&i| distances[i] != UNREACHABLE).collect();
        assert!(reached.len() > 20);
        for change in [-1, 1] {
            let index = reached[reached.len() / 2];
            distances[index] = distances[index].wrapping_add_signed(change);
            assert!(count_wrong(field.grid(), &[goal], &distances) > 0);
            distances[index] = distances[index].wrapping_add_signed(-change);
        }
    }
}
