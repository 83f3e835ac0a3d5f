//! Fields after a change of their grid or goals.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Location, Result};
use crate::flow::field::cpu;
use crate::flow::field::handle::Flow;
use crate::flow::field::solved::{Field, FieldCells, single};
use crate::flow::field::stats::Stopwatch;
use crate::flow::grid::goals::Goals;
use crate::observe::span;
use crate::pending::Pending;

impl Flow {
    /// Starts to solve a field of this grid again after [`edit`](Self::edit)s, for the same goals and options: where
    /// little of it changes only that is solved, else all. It is the field that [`solve`](Self::solve) gives, bit for bit: a goal
    /// that has become an obstacle is left out, one that has become free counts again.
    ///
    /// The field is taken to be changed in place; where another handle of it is alive it is copied first, and the other one
    /// stays as it is. The CPU engine solves what changed; a field on a GPU is solved afresh.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, Edit, FieldOptions, Flow, Grid};
    ///
    /// let mut flow = Flow::new(&Engine::cpu(), Grid::new([4, 2, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// flow.edit(&[Edit::Block([2, 0].into())])?;
    /// let field = flow.update(field)?.wait()?;
    /// assert_eq!(field.distances()?.wait()?, [0, 1, u32::MAX, 5, 1, 2, 3, 4]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`solve`](Self::solve).
    pub fn update(&self, field: Field) -> Result<Pending<Field>> {
        span!("hullfield.flow.update");
        let goals = field.shared.request.goals.clone();
        self.update_goals(field, &goals)
    }

    /// Does what [`update`](Self::update) does, with other goals: those that both have are kept, others are left or added.
    /// The grid may have been edited as well.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::new([5, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// let field = flow.update_goals(field, &[[1, 0].into()])?.wait()?;
    /// assert_eq!(field.distances()?.wait()?, [1, 0, 1, 2, 3]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As of [`solve`](Self::solve).
    pub fn update_goals(&self, field: Field, goals: &[Cell]) -> Result<Pending<Field>> {
        let reach = field.shared.request.reach.clone();
        let goals = Goals::new(&self.grid, goals)?;
        for &cell in &reach.until {
            self.grid.require(Location::Argument, "until", cell)?;
        }
        let before = &field.shared.grid;
        let is_like = before.size() == self.grid.size() && before.connectivity() == self.grid.connectivity();
        let is_here = matches!(field.shared.cells, FieldCells::Host { .. });
        // A field that ends early tells nothing of what is beyond.
        if !(is_like && is_here && reach.until.is_empty()) {
            return self.solve_goals(goals, reach);
        }
        let (grid, watch) = (Arc::clone(&self.grid), Stopwatch::host());
        Ok(Pending::spawn(move |awaited| Ok(single(cpu::update(&grid, field, goals, awaited)?, &watch))))
    }
}
