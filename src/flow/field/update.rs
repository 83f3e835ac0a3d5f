//! Updates of fields after their grid or goals have changed.

use std::sync::Arc;

use crate::cell::Cell;
use crate::error::{Error, Location, Result};
use crate::flow::field::cpu;
use crate::flow::field::gpu;
use crate::flow::field::handle::Flow;
use crate::flow::field::solved::{Field, FieldCells};
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
    /// The field is changed in place. Other handles of it keep the old field, and the arrays are copied first if there
    /// are any. Distances are updated incrementally (Ramalingam and Reps 1996). On a GPU the codes of all cells are found afresh,
    /// and so is a field of four neighbours and unit costs of at most 256 × 256 cells, which takes one dispatch.
    ///
    /// Until the answer is there, whatever reads this handle waits for it. Whoever wants the old field meanwhile keeps a
    /// clone. In a browser, where nothing may wait, this handle shows the old field until then, and another update of it
    /// is an error.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, Edit, FieldOptions, Flow, Grid};
    ///
    /// let mut flow = Flow::new(&Engine::cpu(), Grid::new([4, 2, 1], &[], Connectivity::Four.into())?)?;
    /// let mut field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// flow.edit(&[Edit::Block([2, 0].into())])?;
    /// flow.update(&mut field)?.wait()?;
    /// assert_eq!(field.distances()?.wait()?, [0, 1, u32::MAX, 5, 1, 2, 3, 4]);
    ///
    /// // Somebody stands on the goal: the field stays as it was, and is updated once the goal is free.
    /// flow.edit(&[Edit::Block([0, 0].into())])?;
    /// assert!(flow.update(&mut field).is_err());
    /// assert_eq!(field.distance_at([3, 1].into())?.wait()?, 4);
    /// flow.edit(&[Edit::Free([0, 0].into())])?;
    /// flow.update(&mut field)?.wait()?;
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`solve`](Self::solve), from the call or from its answer. The field is then what it was before the call, and
    /// can be read and updated again: [`Error::NoGoals`], for one, lasts only as long as all goals are blocked. Where
    /// the device is lost ([`Error::DeviceLost`]), a field that was stored there is lost with it: each read of it gives
    /// that error, and it has to be solved anew on another engine.
    ///
    /// A [`Pending`] that is dropped before its answer leaves the field as it was, or updated as a whole.
    pub fn update(&self, field: &mut Field) -> Result<Pending<()>> {
        span!("hullfield.flow.update");
        let goals = field.data().request.goals.clone();
        self.update_goals(field, &goals)
    }

    /// Does the same as [`update`](Self::update) for other goals. The grid may have been edited as well.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::flow::{Cell, Connectivity, FieldOptions, Flow, Grid};
    ///
    /// let flow = Flow::new(&Engine::cpu(), Grid::new([5, 1, 1], &[], Connectivity::Four.into())?)?;
    /// let mut field = flow.solve(&[[0, 0].into()], &FieldOptions::default())?.wait()?;
    /// flow.update_goals(&mut field, &[[1, 0].into()])?.wait()?;
    /// assert_eq!(field.distances()?.wait()?, [1, 0, 1, 2, 3]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_goals(&self, field: &mut Field, goals: &[Cell]) -> Result<Pending<()>> {
        if cfg!(target_arch = "wasm32") && field.is_lent() {
            let message = "an update of this field is under way: wait for its answer first";
            return Err(Error::invalid(Location::Argument, message));
        }
        let goals = Goals::new(&self.grid, goals)?;
        let data = Arc::clone(field.data());
        let limits = data.request.limits.clone();
        for &cell in &limits.targets {
            self.grid.require(Location::Argument, "until", cell)?;
        }
        let old_grid = &data.grid;
        let has_same_shape =
            old_grid.size() == self.grid.size() && old_grid.connectivity() == self.grid.connectivity();
        // A field with targets holds no distances beyond them, so there is nothing to update.
        let is_update = has_same_shape && limits.targets.is_empty();
        let solved = match (&data.cells, self.device()) {
            (FieldCells::Device(_), Some(device)) if is_update => {
                gpu::update(device, &self.grid, &data, goals, limits)?
            }
            (FieldCells::Host { .. }, _) if is_update => {
                drop(data);
                let (grid, timer, lent) = (Arc::clone(&self.grid), CallTimer::host(), field.lend());
                return Ok(Pending::spawn(move |awaited| {
                    lent.change(&timer, |field| cpu::update(&grid, field, goals, awaited))
                }));
            }
            _ => self.solve_goals(goals, limits)?,
        };
        let lent = field.lend();
        Ok(solved.chain(move |solved| {
            lent.replace(solved);
            Ok(Pending::ready(()))
        }))
    }
}
