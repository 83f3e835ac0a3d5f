//! Updates of fields after their grid or goals have changed.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Location, Result};
use crate::flow::field::cpu;
use crate::flow::field::gpu;
use crate::flow::field::handle::Flow;
use crate::flow::field::solved::{Field, FieldCells, timed_field};
use crate::flow::field::stats::CallTimer;
use crate::flow::grid::goals::Goals;
use crate::observe::span;
use crate::pending::Pending;

impl Flow {
    /// Starts to solve a field again for the same goals and options, after [`edit`](Self::edit)s of this grid. Where
    /// few distances change, only these are solved again; otherwise the whole field is. The result is the field that
    /// [`solve`](Self::solve) gives, bit for bit. A goal that has become an obstacle is left out, and a goal that has
    /// become free counts again.
    ///
    /// The field is changed in place. If another handle of it is alive the field is copied first, and that handle keeps
    /// the old field. Distances are updated incrementally (Ramalingam and Reps 1996). On a GPU the codes of all cells are found afresh,
    /// and so is a field of four neighbours and unit costs of at most 256 × 256 cells, which takes one dispatch.
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
    /// As [`solve`](Self::solve).
    pub fn update(&self, field: Field) -> Result<Pending<Field>> {
        span!("hullfield.flow.update");
        let goals = field.shared.request.goals.clone();
        self.update_goals(field, &goals)
    }

    /// Does the same as [`update`](Self::update) for other goals. The grid may have been edited as well.
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
    /// As [`solve`](Self::solve).
    pub fn update_goals(&self, field: Field, goals: &[Cell]) -> Result<Pending<Field>> {
        let limits = field.shared.request.limits.clone();
        let goals = Goals::new(&self.grid, goals)?;
        for &cell in &limits.targets {
            self.grid.require(Location::Argument, "until", cell)?;
        }
        let old_grid = &field.shared.grid;
        let has_same_shape =
            old_grid.size() == self.grid.size() && old_grid.connectivity() == self.grid.connectivity();
        // A field with targets holds no distances beyond them, so there is nothing to update.
        if !(has_same_shape && limits.targets.is_empty()) {
            return self.solve_goals(goals, limits);
        }
        match (&field.shared.cells, self.device()) {
            (FieldCells::Host { .. }, _) => (),
            (FieldCells::Device(_), Some(device)) => {
                return gpu::update(device, &self.grid, &field, goals, limits);
            }
            (FieldCells::Device(_), None) => return self.solve_goals(goals, limits),
        }
        let (grid, timer) = (Arc::clone(&self.grid), CallTimer::host());
        Ok(Pending::spawn(move |awaited| Ok(timed_field(cpu::update(&grid, field, goals, awaited)?, &timer))))
    }
}
