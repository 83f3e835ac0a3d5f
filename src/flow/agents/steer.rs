//! Directions for agents at any position, not only at the centres of cells.

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::agents::next_cells::NextCells;
use crate::flow::field::solved::{Field, UNREACHABLE};
use crate::flow::field::stats::Batch;
use crate::flow::grid::cells::Grid;
use crate::flow::grid::frame::vector;
use crate::flow::grid::moves::{Corners, passes};
use crate::flow::grid::sight::is_seen;
use crate::observe::span;
use crate::parallel::map_shares;
use crate::pending::Pending;

/// The number of agents that one thread takes at a time.
const SHARE: usize = 1024;

/// A cosine. The blended direction is used only if it turns by no more than this from the direction of the agent's own
/// cell. Beyond it the cells around lie on the other side of a ridge or of a wall's end.
const MIN_AGREEMENT: f64 = 0.5;

/// The start of a line of sight is rounded to this fraction of a cell.
const CELL_PARTS: i64 = 1 << 12;

/// How directions are computed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SteerOptions {
    /// An agent goes straight to the goal that the field leads it to, if it sees that goal as
    /// [`Grid::sees`](crate::flow::Grid::sees) tells, and is at most this many steps away. 0: no agent does. In grids
    /// with costs no agent does, because the straight line may cost more than the path.
    pub sight: u32,
}

impl Field {
    /// The direction for one agent at a position in the world: see [`directions`](Self::directions).
    ///
    /// # Errors
    /// [`Error::Value`] for a position outside the grid; of the device, if the field is stored there.
    pub fn direction(&self, position: [f64; 3], options: &SteerOptions) -> Result<Pending<[f64; 3]>> {
        let (place, options) = (self.place(Location::Argument, position)?, *options);
        self.read(move |grid, next_cells, _| Steering { grid, next_cells, options }.world_direction(place))
    }

    /// The direction for each agent at its position in the world: a unit vector in the frame of the world, parallel to
    /// the grid's plane in two dimensions. It is 0 in the cell of a goal, and where no goal is reached.
    ///
    /// Between the centres of cells a direction is blended bilinearly (in three dimensions trilinearly) from those of
    /// the cells around that are free and that the agent can get to, so crowds turn smoothly. A direction never leads
    /// into a wall: an agent in a free cell that moves less than half a cell along it stays in free cells. So with
    /// [`Corners::Any`] an agent stops where a path would squeeze between two obstacles. An agent on an obstacle
    /// follows the way of its cell out of it.
    ///
    /// Directions are computed in f64 on the host; a field on the device is read back first.
    /// [`encode_directions`](Self::encode_directions) computes them on the device.
    ///
    /// # Errors
    /// [`Error::Value`] for the first position outside the grid; of the device, if the field is stored there.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid, SteerOptions};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::new([4, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let directions = field.directions(&[[3.2, 0.5, 0.0], [0.7, 0.5, 0.0]], &SteerOptions::default())?.wait()?;
    /// assert_eq!(directions.rows, [[-1.0, 0.0, 0.0], [0.0; 3]]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn directions(
        &self,
        positions: &[[f64; 3]],
        options: &SteerOptions,
    ) -> Result<Pending<Batch<[f64; 3]>>> {
        span!("hullfield.flow.directions");
        let places = positions.iter().enumerate();
        let places = places.map(|(row, &position)| self.place(Location::Position(row), position));
        let places = places.collect::<Result<Vec<_>>>()?;
        let options = *options;
        self.read(move |grid, next_cells, timer| {
            let steering = Steering { grid, next_cells, options };
            let rows = map_shares(&places, SHARE, |&place| steering.world_direction(place));
            Ok(Batch::new(rows.into_iter().collect::<Result<_>>()?, timer.stats(0)))
        })
    }

    /// Converts a position to cell units.
    fn place(&self, at: Location, position: [f64; 3]) -> Result<[f64; 3]> {
        let grid = self.grid();
        let outside = || Error::value(at, "position", vector(position), grid.must_be_inside());
        grid.place_of(position).ok_or_else(outside)
    }
}

/// What directions are computed from. Positions and directions are in cell units.
#[derive(Debug)]
struct Steering<'a> {
    grid: &'a Grid,
    next_cells: &'a NextCells<'a>,
    options: SteerOptions,
}

type Vector = [f64; 3];

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The unit vector in this direction; 0 if the vector is too short to have one.
fn unit(vector: Vector) -> Vector {
    let length = dot(vector, vector).sqrt();
    if length > 1e-9 { vector.map(|part| part / length) } else { [0.0; 3] }
}

fn centre(cell: Cell) -> Vector {
    [cell.x, cell.y, cell.z].map(|part| f64::from(part) + 0.5)
}

fn difference(from: Vector, to: Vector) -> Vector {
    std::array::from_fn(|k| to[k] - from[k])
}

fn offset_by(cell: Cell, [x, y, z]: [i32; 3]) -> Cell {
    Cell { x: cell.x + x, y: cell.y + y, z: cell.z + z }
}

impl Steering<'_> {
    /// The direction in the frame of the world.
    fn world_direction(&self, place: Vector) -> Result<Vector> {
        let ([x, y, z], axes) = (self.direction(place)?, self.grid.frame().axes);
        Ok(std::array::from_fn(|k| axes[0][k] * x + axes[1][k] * y + axes[2][k] * z))
    }

    fn direction(&self, place: Vector) -> Result<Vector> {
        let [x, y, z] = place.map(|part| part as i32);
        let cell = Cell { x, y, z };
        let outside =
            || Error::internal("flow::agents::steer::direction", format!("cell {cell} is outside the grid"));
        let index = self.grid.index(cell).ok_or_else(outside)?;
        let next = self.next_cells.after(index);
        if next == index {
            return Ok([0.0; 3]);
        }
        let to_next = unit(difference(place, centre(self.grid.cell(next))));
        if self.next_cells.distances[index] == UNREACHABLE {
            // The way out of an obstacle ignores other obstacles.
            return Ok(to_next);
        }
        let own = self.without_walls(cell, place, self.own_direction(cell, place, self.grid.cell(next)));
        if let Some(to_goal) = self
            .goal_direction(index, place)
            .filter(|&to_goal| self.without_walls(cell, place, to_goal) == to_goal)
        {
            return Ok(to_goal);
        }
        let blended = self.without_walls(cell, place, self.blended_direction(cell, place));
        Ok(if dot(blended, own) >= MIN_AGREEMENT { blended } else { own })
    }

    /// The direction straight to the goal, if it is seen. The line starts at the position, not at the centre of its
    /// cell: otherwise an agent might go to where its cell sees the goal but the agent does not, be led back by the
    /// next cell, and so on for ever.
    fn goal_direction(&self, start: usize, place: Vector) -> Option<Vector> {
        if self.options.sight == 0 || !self.grid.costs().is_empty() {
            return None;
        }
        let mut index = start;
        for _ in 0..self.options.sight {
            index = self.next_cells.after(index);
            if self.next_cells.distances[index] == 0 {
                let goal = self.grid.cell(index);
                let from = place.map(|part| (part * CELL_PARTS as f64) as i64);
                return is_seen(self.grid, from, goal, CELL_PARTS)
                    .then(|| unit(difference(place, centre(goal))));
            }
        }
        None
    }

    /// The direction of the agent's own cell: to the centre of the next cell, or around the corner if the move cuts
    /// one.
    fn own_direction(&self, cell: Cell, place: Vector, next: Cell) -> Vector {
        let offset = [next.x - cell.x, next.y - cell.y, next.z - cell.z];
        let is_free = |offset| self.grid.is_free(offset_by(cell, offset));
        if passes(Corners::BothFree, offset, is_free) {
            return unit(difference(place, centre(next)));
        }
        // Goes over a free cell between that leads on to the next one.
        let parts = (0..3).filter(|&k| offset[k] != 0);
        let mut sides = parts.map(|k| {
            let mut side = [0; 3];
            side[k] = offset[k];
            side
        });
        let leads_on = |side: [i32; 3]| {
            let rest = std::array::from_fn(|k| offset[k] - side[k]);
            let is_free_from = |part: [i32; 3]| is_free(std::array::from_fn(|k| side[k] + part[k]));
            is_free(side) && passes(Corners::OneFree, rest, is_free_from)
        };
        match sides.find(|&side| leads_on(side)) {
            Some(side) => unit(difference(place, centre(offset_by(cell, side)))),
            None => [0.0; 3],
        }
    }

    /// The mean of the directions of the cells around, weighted by how near their centres are.
    fn blended_direction(&self, cell: Cell, place: Vector) -> Vector {
        let from_centre = difference(centre(cell), place);
        let is_free = |offset| self.grid.is_free(offset_by(cell, offset));
        let mut sum = [0.0; 3];
        for corner in 0..8_usize {
            let mut offset = [0; 3];
            let mut weight = 1.0;
            for k in 0..3 {
                let share = from_centre[k].abs();
                if corner >> k & 1 == 1 {
                    offset[k] = if from_centre[k] < 0.0 { -1 } else { 1 };
                    weight *= share;
                } else {
                    weight *= 1.0 - share;
                }
            }
            if weight <= 0.0 || !is_free(offset) || !passes(Corners::BothFree, offset, is_free) {
                continue;
            }
            let Some(index) = self.grid.index(offset_by(cell, offset)) else { continue };
            let after = self.next_cells.after(index);
            let direction = if self.next_cells.distances[index] == 0 {
                unit(difference(place, centre(self.grid.cell(index))))
            } else if after == index {
                continue;
            } else {
                unit(difference(centre(self.grid.cell(index)), centre(self.grid.cell(after))))
            };
            (0..3).for_each(|k| sum[k] += weight * direction[k]);
        }
        unit(sum)
    }

    /// Removes the parts of a direction that would lead into a wall within half a cell. Along an axis only an agent
    /// past the middle of its cell can meet a wall that soon.
    fn without_walls(&self, cell: Cell, place: Vector, direction: Vector) -> Vector {
        let mut allowed = direction;
        let from_centre = difference(centre(cell), place);
        // Into which neighbour each axis may lead; 0 for none.
        let leaves = |allowed: &Vector, k: usize| {
            if allowed[k] * from_centre[k] > 0.0 { allowed[k].signum() as i32 } else { 0 }
        };
        for _ in 0..3 {
            let mut blocked: Option<usize> = None;
            // Faces come first, then edges, then the corner, as bits of their axes.
            for axes in [1_usize, 2, 4, 3, 5, 6, 7] {
                let mut offset = [0; 3];
                for k in (0..3).filter(|&k| axes >> k & 1 == 1) {
                    offset[k] = leaves(&allowed, k);
                }
                let is_whole = (0..3).all(|k| (axes >> k & 1 == 1) == (offset[k] != 0));
                if is_whole && !self.grid.is_free(offset_by(cell, offset)) {
                    let part_axes = (0..3).filter(|&k| axes >> k & 1 == 1);
                    blocked = part_axes.min_by(|&a, &b| allowed[a].abs().total_cmp(&allowed[b].abs()));
                    break;
                }
            }
            match blocked {
                Some(axis) => allowed[axis] = 0.0,
                None => break,
            }
        }
        if allowed == direction { direction } else { unit(allowed) }
    }
}
