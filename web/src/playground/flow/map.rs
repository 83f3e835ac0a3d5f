//! The grids of the tab, and painting on them.

use std::collections::BTreeSet;

use hullfield::flow::{Cell, Connectivity, Edit, Grid, GridOptions};

use crate::playground::fields::name_of;
use crate::playground::seed::Random;

/// The cost that is painted, as a multiple of a step's length.
pub(super) const PAINTED_COST: u32 = 5;
/// The largest cost that a scene has.
pub(super) const MOST_COST: u32 = 6;

/// What a grid looks like at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plan {
    /// Some round pillars.
    Open,
    /// Corridors with few loops.
    Maze,
    /// Rooms, corridors, and ground that is slow to cross.
    Map,
}

/// What a stroke paints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    /// Walls.
    Wall,
    /// Free cells of cost 1.
    Free,
    /// More goals.
    Goal,
    /// The only goal.
    OneGoal,
    /// Cells of a higher cost.
    Cost,
}

/// Names as in links and controls.
impl Plan {
    pub(super) const ALL: [(&'static str, Self); 3] =
        [("open", Self::Open), ("maze", Self::Maze), ("map", Self::Map)];

    pub(super) fn name(self) -> &'static str {
        name_of(&Self::ALL, &self)
    }
}

/// Names as in controls.
impl Tool {
    pub(super) const ALL: [(&'static str, Self); 5] = [
        ("wall", Self::Wall),
        ("free", Self::Free),
        ("goal", Self::Goal),
        ("one", Self::OneGoal),
        ("cost", Self::Cost),
    ];

    pub(super) fn name(self) -> &'static str {
        name_of(&Self::ALL, &self)
    }
}

/// A square grid as it is painted. Arrays are row-major.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Map {
    /// Cells along an edge.
    pub(super) side: u32,
    pub(super) blocked: Vec<bool>,
    /// 1 or more.
    pub(super) costs: Vec<u32>,
    /// None of them is blocked.
    pub(super) goals: BTreeSet<u32>,
}

impl Map {
    /// The grid of a plan, the same for the same seed.
    pub(super) fn new(plan: Plan, side: u32, seed: u64) -> Self {
        let count = side as usize * side as usize;
        let is_walled = plan != Plan::Open;
        let mut map =
            Self { side, blocked: vec![is_walled; count], costs: vec![1; count], goals: BTreeSet::new() };
        let mut random = Random::new(seed);
        match plan {
            Plan::Open => map.pillars(&mut random),
            Plan::Maze => map.maze(&mut random),
            Plan::Map => map.rooms(&mut random),
        }
        map
    }

    /// The index of a cell; none outside.
    pub(super) fn index(&self, [x, y]: [i32; 2]) -> Option<usize> {
        let side = self.side as i32;
        ((0..side).contains(&x) && (0..side).contains(&y)).then(|| (y * side + x) as usize)
    }

    /// The cell of an index.
    pub(super) fn cell(&self, index: usize) -> [i32; 2] {
        let side = self.side as usize;
        [(index % side) as i32, (index / side) as i32]
    }

    /// Whether any cell costs more than 1.
    pub(super) fn has_costs(&self) -> bool {
        self.costs.iter().any(|&cost| cost != 1)
    }

    /// The grid for an engine.
    ///
    /// # Errors
    /// None for a map whose side is at least 1.
    pub(super) fn grid(&self, connectivity: Connectivity) -> hullfield::Result<Grid> {
        let costs = if self.has_costs() { self.costs.clone() } else { Vec::new() };
        let options = GridOptions { connectivity, costs, ..GridOptions::default() };
        Grid::new([self.side, self.side, 1], &self.blocked, options)
    }

    /// The goals for an engine.
    pub(super) fn goal_cells(&self) -> Vec<Cell> {
        self.goals.iter().map(|&index| Cell::from(self.cell(index as usize))).collect()
    }

    /// Paints a straight stroke of a round brush. Radius in cells; below a half it paints single cells. Appends the edits of cells that
    /// change; returns whether anything changed, goals included.
    pub(super) fn stroke(
        &mut self,
        tool: Tool,
        [from, to]: [[f32; 2]; 2],
        radius: f32,
        edits: &mut Vec<Edit>,
    ) -> bool {
        if tool == Tool::OneGoal {
            return self.move_goal(to, edits);
        }
        let steps = (to[0] - from[0]).abs().max((to[1] - from[1]).abs()).ceil().clamp(1.0, 4096.0);
        let mut is_changed = false;
        for step in 0..=steps as u32 {
            let share = step as f32 / steps;
            let at = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
            is_changed |= self.dab(tool, at, radius, edits);
        }
        is_changed
    }

    fn dab(&mut self, tool: Tool, at: [f32; 2], radius: f32, edits: &mut Vec<Edit>) -> bool {
        let middle = at.map(|at| at.floor() as i32);
        let reach = radius.max(0.0).ceil() as i32;
        let mut is_changed = false;
        for y in middle[1].saturating_sub(reach)..=middle[1].saturating_add(reach) {
            for x in middle[0].saturating_sub(reach)..=middle[0].saturating_add(reach) {
                let far = (x as f32 + 0.5 - at[0]).hypot(y as f32 + 0.5 - at[1]);
                if far <= radius || [x, y] == middle {
                    is_changed |= self.set(tool, [x, y], edits);
                }
            }
        }
        is_changed
    }

    /// Paints a cell. Outside the grid there is nothing to paint.
    fn set(&mut self, tool: Tool, at: [i32; 2], edits: &mut Vec<Edit>) -> bool {
        let Some(index) = self.index(at) else { return false };
        let cell = Cell::from(at);
        let mut is_changed = false;
        let is_wall = tool == Tool::Wall;
        if self.blocked[index] != is_wall {
            self.blocked[index] = is_wall;
            edits.push(if is_wall { Edit::Block(cell) } else { Edit::Free(cell) });
            is_changed = true;
        }
        let cost = match tool {
            Tool::Free => 1,
            Tool::Cost => PAINTED_COST,
            _ => self.costs[index],
        };
        if self.costs[index] != cost {
            self.costs[index] = cost;
            edits.push(Edit::Cost(cell, cost));
            is_changed = true;
        }
        let is_goal_changed = match tool {
            Tool::Wall | Tool::Free => self.goals.remove(&(index as u32)),
            Tool::Goal | Tool::OneGoal => self.goals.insert(index as u32),
            Tool::Cost => false,
        };
        is_changed || is_goal_changed
    }

    /// Moves the goals to one free cell.
    fn move_goal(&mut self, to: [f32; 2], edits: &mut Vec<Edit>) -> bool {
        let at = to.map(|at| at.floor() as i32);
        let Some(index) = self.index(at) else { return false };
        // A wall stays: a goal that is dragged over it shall not dig.
        if self.blocked[index] || (self.goals.len() == 1 && self.goals.contains(&(index as u32))) {
            return false;
        }
        self.goals.clear();
        self.set(Tool::OneGoal, at, edits)
    }

    fn free(&mut self, x: i32, y: i32) {
        if let Some(index) = self.index([x, y]) {
            self.blocked[index] = false;
        }
    }

    fn free_box(&mut self, [x, y]: [i32; 2], [width, height]: [i32; 2]) {
        for row in y..y + height {
            for column in x..x + width {
                self.free(column, row);
            }
        }
    }

    /// Makes the free cell nearest to a cell a goal.
    fn add_goal(&mut self, at: [i32; 2]) {
        let far = |index: usize| {
            let cell = self.cell(index);
            let [dx, dy] = [0, 1].map(|axis| i64::from(cell[axis] - at[axis]));
            dx * dx + dy * dy
        };
        let free = (0..self.blocked.len()).filter(|&index| !self.blocked[index]);
        if let Some(index) = free.min_by_key(|&index| far(index)) {
            self.goals.insert(index as u32);
        }
    }

    fn pillars(&mut self, random: &mut Random) {
        let side = f64::from(self.side);
        let mut ignored = Vec::new();
        for _ in 0..14 {
            let at = [random.unit(), random.unit()].map(|share| (share * side) as f32);
            let radius = random.between(0.02, 0.06) * side;
            self.dab(Tool::Wall, at, radius as f32, &mut ignored);
        }
        self.add_goal([self.side as i32 / 2; 2]);
    }

    /// A maze by a random depth-first walk over squares; then some walls are taken out, so that there are loops.
    fn maze(&mut self, random: &mut Random) {
        let side = self.side as i32;
        // A square with one of its walls, in cells.
        let pitch = (side / 32).clamp(4, 16);
        let count = (side - 1) / pitch;
        let offset = (side - count * pitch - 1) / 2;
        let corner = |square: i32| offset + 1 + square * pitch;
        let at = |square: i32| [corner(square % count), corner(square / count)];
        let mut is_seen = vec![false; (count * count) as usize];
        let mut walk = vec![0_i32];
        is_seen[0] = true;
        self.free_box(at(0), [pitch - 1; 2]);
        while let Some(&square) = walk.last() {
            let [x, y] = [square % count, square / count];
            let near = [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]];
            let is_open = |[x, y]: &[i32; 2]| {
                (0..count).contains(x) && (0..count).contains(y) && !is_seen[(y * count + x) as usize]
            };
            let open: Vec<[i32; 2]> = near.into_iter().filter(is_open).collect();
            let Some(&[next_x, next_y]) = open.get(random.below(open.len())) else {
                walk.pop();
                continue;
            };
            let next = next_y * count + next_x;
            is_seen[next as usize] = true;
            self.join(at(square), at(next), pitch - 1);
            walk.push(next);
        }
        for _ in 0..count * count / 12 {
            let square = random.below((count * count) as usize) as i32;
            let is_right = random.below(2) == 0;
            let next = if is_right { square + 1 } else { square + count };
            let is_there = if is_right { square % count + 1 < count } else { next < count * count };
            if is_there {
                self.join(at(square), at(next), pitch - 1);
            }
        }
        self.add_goal([side / 2; 2]);
    }

    /// Frees the box that holds two squares of this width.
    fn join(&mut self, a: [i32; 2], b: [i32; 2], width: i32) {
        let low = [0, 1].map(|axis| a[axis].min(b[axis]));
        let size = [0, 1].map(|axis| (a[axis] - b[axis]).abs() + width);
        self.free_box(low, size);
    }

    /// Rooms in a lattice, corridors between neighbours, patches of slow ground.
    fn rooms(&mut self, random: &mut Random) {
        const COUNT: i32 = 6;
        let side = self.side as i32;
        let pitch = side / COUNT;
        let hall = (pitch / 7).max(2);
        let mut middles = Vec::new();
        for room in 0..COUNT * COUNT {
            let size = [0; 2].map(|_| (f64::from(pitch) * random.between(0.45, 0.88)) as i32);
            let first = [room % COUNT, room / COUNT];
            let at = [0, 1].map(|axis| {
                let spare = (pitch - size[axis] - 1).max(1);
                first[axis] * pitch + 1 + random.below(spare as usize) as i32
            });
            self.free_box(at, size);
            if random.below(3) == 0 && size[0].min(size[1]) > 8 {
                // Columns of a hall.
                let step = (size[0] / 4).max(4);
                let column = (step / 3).max(1);
                for y in (at[1] + step / 2..at[1] + size[1] - column).step_by(step as usize) {
                    for x in (at[0] + step / 2..at[0] + size[0] - column).step_by(step as usize) {
                        self.wall_box([x, y], [column; 2]);
                    }
                }
            }
            middles.push([0, 1].map(|axis| at[axis] + size[axis] / 2));
        }
        // A tree that reaches all rooms, and some more corridors.
        let mut is_reached = vec![false; middles.len()];
        is_reached[0] = true;
        let mut sides: Vec<[usize; 2]> = Vec::new();
        for room in 0..COUNT * COUNT {
            for (next, is_there) in
                [(room + 1, room % COUNT + 1 < COUNT), (room + COUNT, room / COUNT + 1 < COUNT)]
            {
                if is_there {
                    sides.push([room as usize, next as usize]);
                }
            }
        }
        for last in (1..sides.len()).rev() {
            sides.swap(last, random.below(last + 1));
        }
        let mut is_used = vec![false; sides.len()];
        while let Some(index) = sides.iter().position(|[a, b]| is_reached[*a] != is_reached[*b]) {
            let [a, b] = sides[index];
            (is_reached[a], is_reached[b], is_used[index]) = (true, true, true);
            sides.push(sides[index]);
            is_used.push(true);
            sides.remove(index);
            is_used.remove(index);
        }
        for (index, [a, b]) in sides.into_iter().enumerate() {
            if is_used[index] || random.below(4) == 0 {
                self.corridor(middles[a], middles[b], hall);
            }
        }
        self.ground(random);
        let far = COUNT * COUNT - 1;
        let rooms = [random.below(COUNT as usize), far as usize - random.below(COUNT as usize)];
        for room in rooms {
            self.add_goal(middles[room]);
        }
    }

    fn wall_box(&mut self, [x, y]: [i32; 2], [width, height]: [i32; 2]) {
        for row in y..y + height {
            for column in x..x + width {
                if let Some(index) = self.index([column, row]) {
                    self.blocked[index] = true;
                }
            }
        }
    }

    /// A corridor with one bend.
    fn corridor(&mut self, from: [i32; 2], to: [i32; 2], width: i32) {
        let bend = [to[0], from[1]];
        self.join(from, bend, width);
        self.join(bend, to, width);
    }

    /// Costs by smooth noise: two thirds of the ground cost 1.
    fn ground(&mut self, random: &mut Random) {
        const KNOTS: usize = 12;
        let noise: Vec<f32> = (0..(KNOTS + 1) * (KNOTS + 1)).map(|_| random.unit() as f32).collect();
        let smooth = |share: f32| share * share * (3.0 - 2.0 * share);
        for index in 0..self.costs.len() {
            let place = self.cell(index).map(|at| at as f32 / self.side as f32 * KNOTS as f32);
            let knot = place.map(|at| (at as usize).min(KNOTS - 1));
            let [u, v] = [0, 1].map(|axis| smooth(place[axis] - knot[axis] as f32));
            let at = |dx: usize, dy: usize| noise[(knot[1] + dy) * (KNOTS + 1) + knot[0] + dx];
            let row = |dy: usize| at(0, dy) + u * (at(1, dy) - at(0, dy));
            let height = row(0) + v * (row(1) - row(0));
            self.costs[index] = match height {
                high if high > 0.74 => MOST_COST,
                high if high > 0.6 => 3,
                _ => 1,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many free cells a flood from a goal reaches, and how many there are.
    fn flood(map: &Map) -> [usize; 2] {
        let mut is_seen = vec![false; map.blocked.len()];
        let mut queue: Vec<usize> = map.goals.iter().map(|&goal| goal as usize).collect();
        let mut count = 0;
        while let Some(index) = queue.pop() {
            if std::mem::replace(&mut is_seen[index], true) || map.blocked[index] {
                continue;
            }
            count += 1;
            let [x, y] = map.cell(index);
            let near = [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]];
            queue.extend(near.into_iter().filter_map(|cell| map.index(cell)));
        }
        [count, map.blocked.iter().filter(|is_blocked| !**is_blocked).count()]
    }

    #[test]
    fn every_plan_is_connected_at_every_size_and_follows_its_seed() {
        for (name, plan) in Plan::ALL {
            for side in [64, 65, 200, 256, 511, 1024] {
                let map = Map::new(plan, side, 7);
                assert!(!map.goals.is_empty(), "{name} {side}");
                let [reached, free] = flood(&map);
                assert!(
                    reached * 20 >= free * 19 && free * 4 > map.blocked.len(),
                    "{name} {side}: {reached} of {free}"
                );
                assert!(map.goals.iter().all(|&goal| !map.blocked[goal as usize]));
                assert!(map.costs.iter().all(|&cost| (1..=MOST_COST).contains(&cost)));
            }
            assert_eq!(Map::new(plan, 96, 3), Map::new(plan, 96, 3));
            assert_ne!(Map::new(plan, 96, 3), Map::new(plan, 96, 4));
        }
    }

    #[test]
    fn a_stroke_paints_a_gapless_line_and_its_edits_give_the_same_grid() {
        let mut map = Map::new(Plan::Open, 64, 1);
        let mut flow =
            hullfield::flow::Flow::new(&hullfield::Engine::cpu(), map.grid(Connectivity::Four).unwrap())
                .unwrap();
        let mut edits = Vec::new();
        assert!(map.stroke(Tool::Wall, [[-3.0, 10.5], [70.0, 12.5]], 1.5, &mut edits));
        assert!(
            (0..64).all(|x| map.blocked[map.index([x, (10.5 + (x as f32 + 3.5) / 36.5) as i32]).unwrap()])
        );
        assert!(map.stroke(Tool::Cost, [[20.0, 40.0], [20.0, 60.0]], 2.0, &mut edits));
        assert!(map.stroke(Tool::Free, [[30.5, 5.0], [30.5, 20.0]], 0.0, &mut edits));
        flow.edit(&edits).unwrap();
        assert_eq!(flow.grid().obstacles(), map.blocked);
        assert_eq!(flow.grid().costs(), map.costs);
        let count = edits.len();
        assert!(!map.stroke(Tool::Free, [[30.5, 5.0], [30.5, 20.0]], 0.0, &mut edits));
        assert_eq!(edits.len(), count);
    }

    #[test]
    fn goals_are_painted_moved_and_painted_over() {
        let mut map = Map::new(Plan::Open, 64, 1);
        let mut edits = Vec::new();
        map.stroke(Tool::Free, [[0.0, 32.0], [64.0, 32.0]], 8.0, &mut edits);
        assert!(map.goals.is_empty());
        assert!(map.stroke(Tool::Goal, [[5.5, 32.5], [9.5, 32.5]], 0.0, &mut edits));
        assert_eq!(map.goals.len(), 5);
        assert!(map.stroke(Tool::OneGoal, [[5.5, 32.5], [20.5, 32.5]], 3.0, &mut edits));
        assert_eq!(map.goal_cells(), [Cell::from([20, 32])]);
        // Over a wall and out of the grid it stays.
        map.stroke(Tool::Wall, [[30.5, 30.5]; 2], 0.0, &mut edits);
        assert!(!map.stroke(Tool::OneGoal, [[20.5, 32.5], [30.5, 30.5]], 0.0, &mut edits));
        assert!(!map.stroke(Tool::OneGoal, [[20.5, 32.5], [-1.0, 30.5]], 0.0, &mut edits));
        map.stroke(Tool::Wall, [[20.5, 32.5]; 2], 1.0, &mut edits);
        assert!(map.goals.is_empty());
    }
}
