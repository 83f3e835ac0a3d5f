//! Directions for agents that are anywhere, not at the centres of cells.

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

/// Agents that one thread takes at a time.
const SHARE: usize = 1024;

/// A direction is taken from the cells around only where it turns by no more than this from the way of the agent's own
/// cell: a cosine. Beyond it lies the other side of a ridge or of a wall's end.
const LEAST_AGREEMENT: f64 = 0.5;

/// Lines of sight begin at this fraction of a cell.
const CELL_PARTS: i64 = 1 << 12;

/// How agents are steered.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default, deny_unknown_fields)
)]
pub struct SteerOptions {
    /// An agent that sees the goal that the field leads it to, as [`Grid::sees`](crate::flow::Grid::sees) tells, and is no
    /// farther from it than that many steps, goes straight there. 0: none does. Where cells have costs of their own
    /// no agent does, because the straight line may be the more expensive way.
    pub sight: u32,
}

impl Field {
    /// The direction in which one agent should go from its position: see [`directions`](Self::directions).
    ///
    /// # Errors
    /// [`Error::Value`] for a position that is not in the grid; of the device, where the field is there.
    pub fn direction(&self, position: [f64; 3], options: &SteerOptions) -> Result<Pending<[f64; 3]>> {
        let (place, options) = (self.place(Location::Argument, position)?, *options);
        self.read(move |grid, next_cells, _| Steering { grid, next_cells, options }.world_direction(place))
    }

    /// The direction in which each agent should go from its position: a unit vector in the world's frame, of which the
    /// parts along layers are 0 in two dimensions. It is 0 in the cell of a goal, and where none is reached.
    ///
    /// Between the centres of cells directions are bilinear (in three dimensions trilinear) in those of the cells
    /// around, as far as these are free and the agent can get there; so crowds bend smoothly. They never lead into a
    /// wall: an agent in a free cell that goes in its direction by less than half a cell is in free cells all the way.
    /// With [`Corners::Any`] that means that it stops where a path would squeeze between two obstacles. An agent on an
    /// obstacle is led out by the way of its cell.
    ///
    /// They are reckoned in f64 on the host, where a field on the device is read to;
    /// [`encode_directions`](Self::encode_directions) leaves it there.
    ///
    /// # Errors
    /// [`Error::Value`] for the first position that is not in the grid; of the device, where the field is there.
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

    /// A position in units of cells.
    fn place(&self, at: Location, position: [f64; 3]) -> Result<[f64; 3]> {
        let grid = self.grid();
        let outside = || Error::value(at, "position", vector(position), grid.must_be_inside());
        grid.place_of(position).ok_or_else(outside)
    }
}

/// What directions are made of. Places and directions in units of cells.
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

/// The same direction with the length 1, or 0 where it has none.
fn unit(vector: Vector) -> Vector {
    let length = dot(vector, vector).sqrt();
    if length > 1e-9 { vector.map(|part| part / length) } else { [0.0; 3] }
}

fn centre(cell: Cell) -> Vector {
    [cell.x, cell.y, cell.z].map(|part| f64::from(part) + 0.5)
}

fn between(from: Vector, to: Vector) -> Vector {
    std::array::from_fn(|k| to[k] - from[k])
}

fn offset_by(cell: Cell, [x, y, z]: [i32; 3]) -> Cell {
    Cell { x: cell.x + x, y: cell.y + y, z: cell.z + z }
}

impl Steering<'_> {
    /// The direction in the world's frame.
    fn world_direction(&self, place: Vector) -> Result<Vector> {
        let ([x, y, z], axes) = (self.direction(place)?, self.grid.frame().axes);
        Ok(std::array::from_fn(|k| axes[0][k] * x + axes[1][k] * y + axes[2][k] * z))
    }

    fn direction(&self, place: Vector) -> Result<Vector> {
        let [x, y, z] = place.map(|part| part as i32);
        let cell = Cell { x, y, z };
        let outside =
            || Error::internal("flow::agents::steer::direction", format!("cell {cell} is beside the grid"));
        let index = self.grid.index(cell).ok_or_else(outside)?;
        let after = self.next_cells.after(index);
        if after == index {
            return Ok([0.0; 3]);
        }
        let aim = unit(between(place, centre(self.grid.cell(after))));
        if self.next_cells.distances[index] == UNREACHABLE {
            // Out of an obstacle, whatever is in the way.
            return Ok(aim);
        }
        let own = self.held(cell, place, self.around(cell, place, self.grid.cell(after)));
        if let Some(seen) = self.seen(index, place).filter(|&seen| self.held(cell, place, seen) == seen) {
            return Ok(seen);
        }
        let held = self.held(cell, place, self.smooth(cell, place));
        Ok(if dot(held, own) >= LEAST_AGREEMENT { held } else { own })
    }

    /// Straight to the goal, where it is seen. From the position, not from the cell: who went where its cell sees the
    /// goal but itself does not would be led back by the next cell, and so on for ever.
    fn seen(&self, index: usize, place: Vector) -> Option<Vector> {
        if self.options.sight == 0 || !self.grid.costs().is_empty() {
            return None;
        }
        let mut at = index;
        for _ in 0..self.options.sight {
            at = self.next_cells.after(at);
            if self.next_cells.distances[at] == 0 {
                let goal = self.grid.cell(at);
                let from = place.map(|part| (part * CELL_PARTS as f64) as i64);
                return is_seen(self.grid, from, goal, CELL_PARTS)
                    .then(|| unit(between(place, centre(goal))));
            }
        }
        None
    }

    /// The way of the agent's own cell: to the centre of the next one, around the corner where one is cut.
    fn around(&self, cell: Cell, place: Vector, next: Cell) -> Vector {
        let offset = [next.x - cell.x, next.y - cell.y, next.z - cell.z];
        let is_free = |offset| self.grid.is_free(offset_by(cell, offset));
        if passes(Corners::BothFree, offset, is_free) {
            return unit(between(place, centre(next)));
        }
        // By way of a cell between that leads on.
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
            Some(side) => unit(between(place, centre(offset_by(cell, side)))),
            None => [0.0; 3],
        }
    }

    /// The mean of the directions of the cells around, by how near their centres are.
    fn smooth(&self, cell: Cell, place: Vector) -> Vector {
        let from_centre = between(centre(cell), place);
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
                unit(between(place, centre(self.grid.cell(index))))
            } else if after == index {
                continue;
            } else {
                unit(between(centre(self.grid.cell(index)), centre(self.grid.cell(after))))
            };
            (0..3).for_each(|k| sum[k] += weight * direction[k]);
        }
        unit(sum)
    }

    /// A direction without what would lead into a wall within half a cell: along an axis a wall can be met only by who
    /// is past the middle of the cell.
    fn held(&self, cell: Cell, place: Vector, direction: Vector) -> Vector {
        let mut held = direction;
        let from_centre = between(centre(cell), place);
        // Which way each axis may leave the cell.
        let leaves = |held: &Vector, k: usize| {
            if held[k] * from_centre[k] > 0.0 { held[k].signum() as i32 } else { 0 }
        };
        for _ in 0..3 {
            let mut blocked: Option<usize> = None;
            // Faces before edges before corners.
            for axes in [1_usize, 2, 4, 3, 5, 6, 7] {
                let mut offset = [0; 3];
                for k in (0..3).filter(|&k| axes >> k & 1 == 1) {
                    offset[k] = leaves(&held, k);
                }
                let is_whole = (0..3).all(|k| (axes >> k & 1 == 1) == (offset[k] != 0));
                if is_whole && !self.grid.is_free(offset_by(cell, offset)) {
                    let among = (0..3).filter(|&k| axes >> k & 1 == 1);
                    blocked = among.min_by(|&a, &b| held[a].abs().total_cmp(&held[b].abs()));
                    break;
                }
            }
            match blocked {
                Some(axis) => held[axis] = 0.0,
                None => break,
            }
        }
        if held == direction { direction } else { unit(held) }
    }
}
