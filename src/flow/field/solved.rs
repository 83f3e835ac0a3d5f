//! A solved field: the distance of each cell to its nearest goal, and the next cell on the way there.

use std::sync::{Arc, OnceLock};

use crate::cell::Cell;
use crate::error::{Error, Result};
use crate::flow::field::gpu::device_field::DeviceField;
use crate::flow::field::options::FieldLimits;
use crate::flow::field::stats::{Batch, CallTimer, Stats};
use crate::flow::grid::cells::Grid;
use crate::flow::grid::goals::GoalReport;
use crate::pending::{Pending, WasmNotSend};

/// The distance of obstacles, and of cells from which no goal is reached.
pub const UNREACHABLE: u32 = u32::MAX;

/// A field over a grid: for each cell the distance to the nearest goal (an integration field) and the code of the next
/// cell on the way there (a flow field).
///
/// The distance of a goal is 0. The distance of any other cell is the least sum over all allowed paths to a goal. Each
/// move adds the length of its step times the cost of the cell it enters, the goal's included.
/// [`Connectivity`](crate::flow::Connectivity) gives the lengths. The next cell is the first neighbour, in the order
/// given there, over which that least sum is attained.
///
/// Obstacles have the distance [`UNREACHABLE`]. An obstacle's next cell lies on the way out with the fewest moves
/// through obstacles to a reached cell, so an agent that was pushed into a wall gets out. Each such move counts as 1,
/// and corner rules do not apply. Both engines give the same field, bit for bit.
///
/// Cloning a field clones a handle. An update of one handle leaves the others as they are.
#[derive(Debug)]
pub struct Field {
    slot: Arc<FieldSlot>,
}

/// Where a handle finds its field.
#[derive(Debug, Default)]
struct FieldSlot {
    /// Empty while an update of the field is under way.
    data: OnceLock<Arc<FieldData>>,
    /// The field before the update that is under way on the device: in a browser nothing may wait for it.
    #[cfg(target_arch = "wasm32")]
    before: Option<Arc<FieldData>>,
}

/// A field that an update works on. The handle has it back when this is dropped, however the update ends.
#[derive(Debug)]
pub(crate) struct LentField {
    slot: Arc<FieldSlot>,
    /// Always there, until this is dropped.
    data: Option<Arc<FieldData>>,
}

/// The data behind the handles of one [`Field`].
#[derive(Debug)]
pub(crate) struct FieldData {
    /// The grid that the field was solved for.
    pub(crate) grid: Arc<Grid>,
    pub(crate) request: FieldRequest,
    pub(crate) goals: GoalReport,
    pub(crate) stats: Stats,
    pub(crate) cells: FieldCells,
}

/// The goals and limits that a field was solved for.
#[derive(Debug, Clone)]
pub(crate) struct FieldRequest {
    /// The goals as the caller gave them.
    pub(crate) goals: Vec<Cell>,
    pub(crate) limits: FieldLimits,
}

/// Where the distances and codes of a field are stored.
#[derive(Debug)]
pub(crate) enum FieldCells {
    /// In the host's memory, row-major.
    Host { distances: Vec<u32>, next: Vec<u8> },
    /// On the device.
    Device(DeviceField),
}

impl Clone for Field {
    fn clone(&self) -> Self {
        match self.slot.data.get() {
            Some(data) => Self::from(Arc::clone(data)),
            None => Self { slot: Arc::clone(&self.slot) },
        }
    }
}

impl From<Arc<FieldData>> for Field {
    fn from(data: Arc<FieldData>) -> Self {
        let slot = FieldSlot {
            data: OnceLock::from(data),
            #[cfg(target_arch = "wasm32")]
            before: None,
        };
        Self { slot: Arc::new(slot) }
    }
}

impl From<FieldData> for Field {
    fn from(data: FieldData) -> Self {
        Self::from(Arc::new(data))
    }
}

impl Field {
    /// The data. Waits for an update that is under way; in a browser it is the field before that update.
    pub(crate) fn data(&self) -> &Arc<FieldData> {
        #[cfg(target_arch = "wasm32")]
        if let (None, Some(before)) = (self.slot.data.get(), &self.slot.before) {
            return before;
        }
        self.slot.data.wait()
    }

    /// The data, without the handle.
    pub(crate) fn into_data(self) -> Arc<FieldData> {
        Arc::clone(self.data())
    }

    /// Whether an update is under way.
    pub(crate) fn is_lent(&self) -> bool {
        self.slot.data.get().is_none()
    }

    /// Lends the field to an update. Until that has ended, [`data`](Self::data) waits.
    pub(crate) fn lend(&mut self) -> LentField {
        let data = Arc::clone(self.data());
        #[cfg(target_arch = "wasm32")]
        let slot = FieldSlot {
            // On the host the update is over before the call returns, and changes the field in place.
            before: self.device().is_some().then(|| Arc::clone(&data)),
            ..FieldSlot::default()
        };
        #[cfg(not(target_arch = "wasm32"))]
        let slot = FieldSlot::default();
        self.slot = Arc::new(slot);
        LentField { slot: Arc::clone(&self.slot), data: Some(data) }
    }

    /// The grid that the field was solved for. Later edits of the [`Flow`](crate::flow::Flow) do not change it.
    pub fn grid(&self) -> &Grid {
        &self.data().grid
    }

    /// The statistics and times of the solve. A field is always solved to its end, or to the limits of its options; if
    /// it cannot be, the solve is an error.
    pub fn stats(&self) -> &Stats {
        &self.data().stats
    }

    /// Which of the given goals were used.
    pub fn goals(&self) -> &GoalReport {
        &self.data().goals
    }

    /// The distance of each cell, row-major: `[height, width]` or `[depth, height, width]`. In the units of
    /// [`Connectivity`](crate::flow::Connectivity). Copies the array; [`host`](Self::host) does not.
    ///
    /// # Errors
    /// Of the device, if the field is stored there.
    pub fn distances(&self) -> Result<Pending<Vec<u32>>> {
        match &self.data().cells {
            FieldCells::Host { distances, .. } => Ok(Pending::ready(distances.clone())),
            FieldCells::Device(device) => device.distances(),
        }
    }

    /// The code of each cell's next cell, in the same shape as [`distances`](Self::distances): the number of the move
    /// in the order of [`Connectivity`](crate::flow::Connectivity), or [`NEXT_NONE`](crate::flow::NEXT_NONE) at goals
    /// and where no goal is reached.
    ///
    /// # Errors
    /// Of the device, if the field is stored there.
    pub fn next_codes(&self) -> Result<Pending<Vec<u8>>> {
        match &self.data().cells {
            FieldCells::Host { next, .. } => Ok(Pending::ready(next.clone())),
            FieldCells::Device(device) => device.next_codes(),
        }
    }

    /// Distances and codes without a copy, if the field is in the host's memory: on the CPU engine, and for grids that
    /// do not fit on the device, see [`Flow::new`](crate::flow::Flow::new).
    pub fn host(&self) -> Option<(&[u32], &[u8])> {
        match &self.data().cells {
            FieldCells::Host { distances, next } => Some((distances, next)),
            FieldCells::Device(_) => None,
        }
    }

    /// Runs `work` on distances and codes in the host's memory. A field on the device is read back first.
    pub(crate) fn with_cells<T: WasmNotSend + 'static>(
        &self,
        work: impl FnOnce(&Grid, &[u32], &[u8], CallTimer) -> Result<T> + WasmNotSend + 'static,
    ) -> Result<Pending<T>> {
        let shared = Arc::clone(self.data());
        match &self.data().cells {
            FieldCells::Host { .. } => {
                let timer = CallTimer::host();
                Ok(Pending::spawn(move |_| match &shared.cells {
                    FieldCells::Host { distances, next } => work(&shared.grid, distances, next, timer),
                    FieldCells::Device(_) => {
                        let message = "a field in the host's memory has its cells on the device";
                        Err(Error::internal("flow::field::solved::with_cells", message))
                    }
                }))
            }
            FieldCells::Device(device) => {
                let grid = Arc::clone(&self.data().grid);
                device.with_cells(move |distances, next, timer| work(&grid, distances, next, timer))
            }
        }
    }

    /// The field's arrays on the device; `None` on the CPU engine.
    pub(crate) fn device(&self) -> Option<&DeviceField> {
        match &self.data().cells {
            FieldCells::Device(device) => Some(device),
            FieldCells::Host { .. } => None,
        }
    }

    /// Sets the times of the call that solved the field.
    fn set_times(&mut self, times: Stats) {
        if let Some(data) = Arc::get_mut(&mut self.slot).and_then(|slot| slot.data.get_mut()) {
            set_times(data, times);
        }
    }
}

impl LentField {
    /// Changes the field. Where `work` fails the field is what `work` left.
    ///
    /// # Errors
    /// Those of `work`.
    pub(crate) fn change(
        mut self,
        timer: &CallTimer,
        work: impl FnOnce(&mut Arc<FieldData>) -> Result<()>,
    ) -> Result<()> {
        let Some(data) = &mut self.data else {
            return Err(Error::internal("flow::field::solved::change", "a field was lent twice"));
        };
        work(data)?;
        set_times(data, timer.stats(0));
        Ok(())
    }

    /// Puts another field in the place of this one.
    pub(crate) fn replace(mut self, field: Field) {
        self.data = Some(field.into_data());
    }
}

impl Drop for LentField {
    fn drop(&mut self) {
        if let Some(data) = self.data.take() {
            // It is empty, as no other update was lent this slot.
            drop(self.slot.data.set(data));
        }
    }
}

/// Sets the times of the call that solved a field, if nobody else has it.
fn set_times(data: &mut Arc<FieldData>, times: Stats) {
    if let Some(data) = Arc::get_mut(data) {
        let Stats { reached_count, levels, rounds, .. } = data.stats;
        data.stats = Stats { reached_count, levels, rounds, ..times };
    }
}

/// The fields of one call, each with the times of the call, and the statistics of the whole call.
pub(crate) fn timed_batch(mut fields: Vec<Field>, timer: &CallTimer) -> Batch<Field> {
    let times = timer.stats(0);
    fields.iter_mut().for_each(|field| field.set_times(times));
    let all_stats = || fields.iter().map(Field::stats);
    let stats = Stats {
        reached_count: all_stats().map(|stats| stats.reached_count).sum(),
        levels: all_stats().map(|stats| stats.levels).max().unwrap_or(0),
        rounds: all_stats().map(|stats| stats.rounds).max().unwrap_or(0),
        ..times
    };
    Batch::new(fields, stats)
}

/// The field of a call for one, with the times of the call.
pub(crate) fn timed_field(mut field: Field, timer: &CallTimer) -> Field {
    field.set_times(timer.stats(0));
    field
}
