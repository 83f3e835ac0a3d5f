//! The field of the painted grid, on the engine that is used. Frames never wait for it.

use hullfield::flow::{Connectivity, Edit, Field, FieldOptions, Flow, Query};
use hullfield::{Engine, Pending};
use web_time::Instant;

use crate::playground::flow::crowd::Answer;
use crate::playground::flow::map::Map;
use crate::playground::flow::second;
use crate::playground::host::{Host, Task};
use crate::playground::message::Message;

/// The fewest cells whose field on the CPU the second worker solves.
const MANY_CELLS: usize = 300 * 300;

/// What the kernels depend on: the moves, and whether there are costs.
type Kernels = (Connectivity, bool);

/// A solved field, and how long it took.
struct Solved {
    field: Field,
    answer: Answer,
    is_update: bool,
    solve_ms: f64,
    kernels_ms: Option<f64>,
    read_ms: f64,
}

/// A question that the second worker has.
struct Asked {
    begin: Instant,
    cell_count: usize,
    /// The grid is another one now, and the answer is of no use.
    is_stale: bool,
}

/// The field of the grid. Edits gather while one is solved.
#[derive(Default)]
pub(super) struct Solver {
    /// The tab that the second worker's answers go to.
    tab: &'static str,
    asked: Option<Asked>,
    answered: Option<Answer>,
    flow: Option<Flow>,
    /// Away while it is updated.
    field: Option<Field>,
    task: Option<Task<Result<Solved, String>>>,
    preparing: Option<(Kernels, Task<Result<(), String>>)>,
    /// The kernels that are built on the GPU.
    prepared: Option<Kernels>,
    edits: Vec<Edit>,
    is_dirty: bool,
}

impl std::fmt::Debug for Solver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Solver").field("is_dirty", &self.is_dirty).finish_non_exhaustive()
    }
}

impl Solver {
    /// The solver of this tab, to be [restarted](Self::restart).
    pub(super) fn new(tab: &'static str) -> Self {
        Self { tab, ..Self::default() }
    }

    /// Begins anew, for another grid or other moves.
    pub(super) fn restart(&mut self) {
        (self.flow, self.field, self.task, self.answered) = (None, None, None, None);
        if let Some(asked) = &mut self.asked {
            asked.is_stale = true;
        }
        self.edits.clear();
        self.is_dirty = true;
    }

    /// Begins anew on another engine.
    pub(super) fn engine_changed(&mut self) {
        (self.preparing, self.prepared) = (None, None);
        self.restart();
    }

    /// What was painted; also to be called where only goals have changed.
    pub(super) fn paint(&mut self, edits: Vec<Edit>) {
        if self.flow.is_some() {
            self.edits.extend(edits);
        }
        self.is_dirty = true;
    }

    /// Takes a field that is solved, and starts the next one where the grid has changed.
    pub(super) fn advance(&mut self, map: &Map, connectivity: Connectivity, host: &Host) -> Option<Answer> {
        let answer = self.answered.take().or_else(|| self.finished(host));
        if self.task.is_none() && self.asked.is_none() && self.is_dirty {
            self.is_dirty = false;
            if let Err(error) = self.start(map, connectivity, host) {
                (self.flow, self.field) = (None, None);
                host.error(&error.to_string());
            }
        }
        // On the host, and for an answer that was there at once, the task is done already.
        answer.or_else(|| self.finished(host))
    }

    /// Takes an answer of the second worker, for the next frame.
    pub(super) fn take_second(&mut self, message: &Message, host: &Host) {
        let Some(asked) = self.asked.take() else { return };
        if asked.is_stale {
            return;
        }
        match second::solved(message, asked.cell_count) {
            Ok(second::Solved { answer, is_update, ms }) => {
                note_solved(host, is_update, ms);
                host.time("field, sent and received", asked.begin.elapsed().as_secs_f64() * 1e3 - ms);
                self.answered = Some(answer);
            }
            Err(sentence) => host.error(&sentence),
        }
    }

    fn finished(&mut self, host: &Host) -> Option<Answer> {
        let solved = self.task.as_ref()?.take()?;
        self.task = None;
        match solved {
            Ok(solved) => {
                note_solved(host, solved.is_update, solved.solve_ms);
                if let Some(ms) = solved.kernels_ms {
                    host.time("of this, kernels", ms);
                }
                host.time("field, read back", solved.read_ms);
                self.field = Some(solved.field);
                Some(solved.answer)
            }
            Err(sentence) => {
                self.flow = None;
                host.error(&sentence);
                None
            }
        }
    }

    fn start(&mut self, map: &Map, connectivity: Connectivity, host: &Host) -> hullfield::Result<()> {
        let begin = Instant::now();
        let flow = match &mut self.flow {
            Some(flow) => {
                let edits = std::mem::take(&mut self.edits);
                if !edits.is_empty() {
                    host.timed("grid, edited", || flow.edit(&edits))?;
                }
                flow
            }
            None => {
                let kernels = (connectivity, map.has_costs());
                let is_ready = host.uses_gpu() && self.prepared == Some(kernels);
                let engine = if is_ready { host.engine() } else { host.cpu() };
                if host.uses_gpu() && !is_ready {
                    self.prepare(&host.engine(), map, kernels, host)?;
                }
                self.edits.clear();
                if !is_ready && map.blocked.len() >= MANY_CELLS {
                    self.ask(map, connectivity, begin, host);
                    return Ok(());
                }
                self.flow.insert(Flow::new(&engine, map.grid(connectivity)?)?)
            }
        };
        if map.goals.is_empty() {
            self.field = None;
            return Ok(());
        }
        let goals = map.goal_cells();
        let old = self.field.take();
        let begun = match old {
            Some(mut field) => Begun::Update(flow.update_goals(&mut field, &goals)?, field),
            None => Begun::Solve(flow.solve(&goals, &FieldOptions::default())?),
        };
        self.task = Some(host.spawn(solved(begun, begin)));
        Ok(())
    }

    /// Asks the second worker for the field.
    fn ask(&mut self, map: &Map, connectivity: Connectivity, begin: Instant, host: &Host) {
        if !map.goals.is_empty() {
            let (data, bytes) = second::question(self.tab, map, connectivity);
            host.ask(data, &bytes);
            self.asked = Some(Asked { begin, cell_count: map.blocked.len(), is_stale: false });
        }
    }

    /// Builds the kernels in the background; meanwhile the CPU engine solves.
    fn prepare(
        &mut self,
        engine: &Engine,
        map: &Map,
        kernels: Kernels,
        host: &Host,
    ) -> hullfield::Result<()> {
        if self.preparing.as_ref().is_some_and(|(preparing, _)| *preparing == kernels) {
            return Ok(());
        }
        let pending = Flow::new(engine, map.grid(kernels.0)?)?.prepare(&[Query::Solve, Query::Update])?;
        host.progress("Building the kernels of fields", 0, 1);
        let of_task = host.clone();
        let task = host.spawn(async move {
            let built = pending.await;
            of_task.progress("", 1, 1);
            built.map(|_| ()).map_err(|error| error.to_string())
        });
        self.preparing = Some((kernels, task));
        Ok(())
    }

    /// Goes over to the GPU when its kernels are built.
    pub(super) fn take_prepared(&mut self, host: &Host) {
        let Some((kernels, task)) = &self.preparing else { return };
        let kernels = *kernels;
        match task.take() {
            Some(Ok(())) => {
                (self.prepared, self.preparing) = (Some(kernels), None);
                self.restart();
            }
            // The task stays, so that it is not tried again.
            Some(Err(sentence)) => host.error(&sentence),
            None => {}
        }
    }

    /// Whether the field is on the GPU.
    pub(super) fn is_on_gpu(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.engine().backend() == hullfield::Backend::Gpu)
    }
}

fn note_solved(host: &Host, is_update: bool, ms: f64) {
    host.time(if is_update { "field, updated" } else { "field, solved" }, ms);
}

/// A field on its way.
enum Begun {
    Solve(Pending<Field>),
    Update(Pending<()>, Field),
}

async fn solved(begun: Begun, begin: Instant) -> Result<Solved, String> {
    let error = |error: hullfield::Error| error.to_string();
    let is_update = matches!(begun, Begun::Update(..));
    let field = match begun {
        Begun::Solve(pending) => pending.await.map_err(error)?,
        Begun::Update(pending, field) => {
            pending.await.map_err(error)?;
            // A clone of the handle lets the memory of the old field go.
            field.clone()
        }
    };
    let solve_ms = begin.elapsed().as_secs_f64() * 1e3;
    let begin = Instant::now();
    let answer = read(&field).await.map_err(error)?;
    let read_ms = begin.elapsed().as_secs_f64() * 1e3;
    let kernels_ms = field.stats().kernels_ms;
    Ok(Solved { field, answer, is_update, solve_ms, kernels_ms, read_ms })
}

/// The field's arrays in the host's memory.
///
/// # Errors
/// Of the device.
pub(super) async fn read(field: &Field) -> hullfield::Result<Answer> {
    let (distances, next) = (field.distances()?, field.next_codes()?);
    Ok(Answer { distances: distances.await?, next: next.await? })
}
