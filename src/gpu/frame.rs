//! One submission: uploads, kernels, readbacks, and what is done with the answer.

use std::{borrow::Cow, marker::PhantomData, ops::Range, sync::Arc};

use bytemuck::Pod;
use web_time::Instant;

use crate::error::{Error, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::device::{Faults, MAX_GROUPS};
use crate::gpu::kernel::{Kernel, Pipeline};
use crate::gpu::line::{Launch, Refused, Seat, Tell};
use crate::gpu::pool::{Bound, Loan, Use};
use crate::gpu::timing::{FrameTimes, TIMER_BYTES, Timer};
use crate::observe::Scope;
use crate::pending::{MaySend, Pending, Promise, guard};

/// Bytes between two uniforms: WebGPU's default alignment of a uniform binding's offset.
const UNIFORM_STRIDE: usize = 256;
/// Bytes of one buffer of uniforms.
const UNIFORM_BYTES: usize = 64 * UNIFORM_STRIDE;
/// Bytes of one staging buffer for uploads, where a single upload does not need more.
const UPLOAD_BYTES: u64 = 1 << 20;
/// Larger uploads are rare (an arena of hulls) and go through memory of their own, which is not kept and, like wgpu's own
/// staging, not counted.
const LARGE_UPLOAD_BYTES: u64 = 1 << 24;

/// A submission being put together. See the [module](super) for how it is used.
pub(crate) struct Frame {
    context: Context,
    label: &'static str,
    uploads: wgpu::CommandEncoder,
    work: wgpu::CommandEncoder,
    kept: Vec<Arc<Loan>>,
    uniforms: Option<(Arc<Loan>, Vec<u8>)>,
    staging: Vec<Staging>,
    /// Mapped, each used once.
    large: Vec<wgpu::Buffer>,
    reads: Vec<Copy>,
    read_bytes: u64,
    timer: Option<Timer>,
    is_timing: bool,
    clock: Instant,
    /// What building pipelines took of it.
    compile_ms: f64,
}

/// A mapped upload buffer and how much of it is written.
struct Staging {
    loan: Loan,
    used: u64,
}

/// A range of a buffer that goes to the front of what is free in the readback buffer.
struct Copy {
    loan: Arc<Loan>,
    offset: u64,
    bytes: u64,
    to: u64,
}

/// Names values that a frame reads back; [`Done::get`] exchanges it for them.
#[derive(Debug)]
pub(crate) struct Read<T> {
    offset: u64,
    len: usize,
    of: PhantomData<fn() -> T>,
}

/// What comes after a frame: the answer, or one more frame.
pub(crate) enum Step<T> {
    /// The answer.
    Done(T),
    /// Another frame, and what to do with its results.
    Again(Box<Frame>, Box<dyn Continue<T>>),
}

/// What is done with the results of a frame.
pub(crate) trait Continue<T>: MaySend {
    fn run(self: Box<Self>, done: Done) -> Result<Step<T>>;
}

impl<T, F: FnOnce(Done) -> Result<Step<T>> + MaySend> Continue<T> for F {
    fn run(self: Box<Self>, done: Done) -> Result<Step<T>> {
        self(done)
    }
}

impl<T> Step<T> {
    /// Another frame first; `then` gets its results.
    pub(crate) fn again(frame: Frame, then: impl FnOnce(Done) -> Result<Self> + MaySend + 'static) -> Self {
        Self::Again(Box::new(frame), Box::new(then))
    }
}

impl Frame {
    /// An empty frame. `label` is `hullfield.<domain>.<job>`.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub(crate) fn new(context: &Context, label: &'static str) -> Result<Self> {
        let encoder = || {
            context.device().create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some(label) })
        };
        let (uploads, work) = context.scoped(|| (encoder(), encoder()))?;
        Ok(Self {
            context: context.clone(),
            label,
            uploads,
            work,
            kept: Vec::new(),
            uniforms: None,
            staging: Vec::new(),
            large: Vec::new(),
            reads: Vec::new(),
            read_bytes: 0,
            timer: context.timers().take(context.device()),
            is_timing: false,
            clock: Instant::now(),
            compile_ms: 0.0,
        })
    }

    /// Puts the kernels of a frame into an encoder of the caller's, after what it holds so far.
    ///
    /// The frames that stand in line are submitted now, and after them the uploads of this one, so that both come before
    /// whatever the caller submits. The buffers that the work uses go back to the pool when the device has done it, or when
    /// the encoder is dropped; in a browser when the second part of the answer is dropped, which natively is empty. Nothing
    /// can be read back.
    ///
    /// # Errors
    /// Those of `work`; the encoder then holds what was encoded before.
    pub(crate) fn encode_into<R>(
        context: &Context,
        label: &'static str,
        encoder: &mut wgpu::CommandEncoder,
        work: impl FnOnce(&mut Self) -> Result<R>,
    ) -> Result<(R, Vec<Arc<Loan>>)> {
        let mut frame = Self::new(context, label)?;
        if let Some(timer) = frame.timer.take() {
            context.timers().give(timer);
        }
        std::mem::swap(&mut frame.work, encoder);
        let made = work(&mut frame).and_then(|made| frame.flush_uniforms().map(|()| made));
        std::mem::swap(&mut frame.work, encoder);
        let Self { uploads, kept, staging, large, .. } = frame;
        // Even of work that failed: what was encoded of it reads these buffers.
        #[cfg(not(target_arch = "wasm32"))]
        let kept = {
            encoder.on_submitted_work_done(move || drop(kept));
            Vec::new()
        };
        let made = made?;
        let uploads = context.scoped(|| uploads.finish())?;
        context.line().flush();
        context.scoped(|| {
            unmap(staging, large, &uploads);
            context.queue().submit([uploads])
        })?;
        context.account().submissions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok((made, kept))
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Keeps a buffer out of the pool until the frame has finished. Those that a frame's own calls name are kept.
    pub(crate) fn keep<T: Pod>(&mut self, buffer: &Buffer<T>) {
        self.kept.push(Arc::clone(buffer.loan()));
    }

    /// Writes `values` into `buffer` from its value `start` on.
    ///
    /// All uploads of a frame happen before its first kernel, in the order of the calls.
    ///
    /// # Errors
    /// [`Error::Internal`] past the buffer's end; those of [`Buffer::new`] for the staging memory.
    pub(crate) fn upload<T: Pod>(&mut self, buffer: &Buffer<T>, start: usize, values: &[T]) -> Result<()> {
        if start.checked_add(values.len()).is_none_or(|end| end > buffer.len()) {
            let (count, len) = (values.len(), buffer.len());
            let message = format!("{}: upload of {count} values at {start} into {len}", self.label);
            return Err(Error::internal("gpu::frame::upload", message));
        }
        let loan = Arc::clone(buffer.loan());
        self.upload_bytes(&loan, (start * size_of::<T>()) as u64, bytemuck::cast_slice(values))
    }

    fn upload_bytes(&mut self, to: &Arc<Loan>, offset: u64, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.kept.push(Arc::clone(to));
        let size = (bytes.len() as u64).next_multiple_of(4);
        if size > LARGE_UPLOAD_BYTES {
            let from = self.context.scoped(|| {
                self.context.device().create_buffer(&wgpu::BufferDescriptor {
                    label: Some("hullfield.upload.large"),
                    size,
                    usage: Use::Upload.usages(),
                    mapped_at_creation: true,
                })
            })?;
            write_mapped(&self.context, &from, 0..size, bytes)?;
            self.uploads.copy_buffer_to_buffer(&from, 0, to.raw(), offset, Some(size));
            self.large.push(from);
            return Ok(());
        }
        let has_room = self.staging.last().is_some_and(|staging| staging.used + size <= staging.loan.bytes());
        if !has_room {
            let wanted = size.max(UPLOAD_BYTES);
            let loan = self.context.pool().take(&self.context, "hullfield.upload", Use::Upload, wanted)?;
            self.staging.push(Staging { loan, used: 0 });
        }
        let Some(staging) = self.staging.last_mut() else {
            return Err(Error::internal("gpu::frame::upload_bytes", "no staging buffer was taken"));
        };
        write_mapped(&self.context, staging.loan.raw(), staging.used..staging.used + size, bytes)?;
        self.uploads.copy_buffer_to_buffer(staging.loan.raw(), staging.used, to.raw(), offset, Some(size));
        // Mapped ranges start on multiples of 8.
        staging.used += size.next_multiple_of(8);
        Ok(())
    }

    /// Parameters for one dispatch, as a binding.
    ///
    /// # Errors
    /// Those of [`Buffer::new`].
    pub(crate) fn uniform<T: Pod>(&mut self, value: &T) -> Result<Bound> {
        let bytes = bytemuck::bytes_of(value);
        if self.uniforms.as_ref().is_some_and(|(_, written)| written.len() + bytes.len() > UNIFORM_BYTES) {
            self.flush_uniforms()?;
        }
        let (loan, written) = match &mut self.uniforms {
            Some(uniforms) => uniforms,
            none => {
                let (context, size) = (&self.context, UNIFORM_BYTES as u64);
                let loan = context.pool().take(context, "hullfield.uniforms", Use::Uniform, size)?;
                none.insert((Arc::new(loan), Vec::new()))
            }
        };
        let offset = written.len() as u64;
        written.extend_from_slice(bytes);
        written.resize(written.len().next_multiple_of(UNIFORM_STRIDE), 0);
        Ok(Bound { loan: Arc::clone(loan), offset, bytes: (bytes.len() as u64).next_multiple_of(16) })
    }

    fn flush_uniforms(&mut self) -> Result<()> {
        match self.uniforms.take() {
            Some((loan, written)) => self.upload_bytes(&loan, 0, &written),
            None => Ok(()),
        }
    }

    /// Runs `group_count` groups of a kernel; with none it does nothing. Past 65,535 groups the dispatch becomes
    /// two-dimensional and may hold more groups than asked: kernels take their index from
    /// `shaders/shared/dispatch.wgsl` and compare it with their count.
    ///
    /// # Errors
    /// [`Error::Internal`] for a binding that does not fit; [`Error::TooMany`] past 65,535² groups.
    pub(crate) fn dispatch(
        &mut self,
        kernel: &'static Kernel,
        bound: &[Bound],
        group_count: u64,
    ) -> Result<()> {
        if group_count == 0 {
            return Ok(());
        }
        let (x, y) = group_grid(group_count)?;
        self.pass(kernel, bound, |pass| pass.dispatch_workgroups(x, y, 1))
    }

    fn pass(
        &mut self,
        kernel: &'static Kernel,
        bound: &[Bound],
        dispatch: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) -> Result<()> {
        let pipeline = self.pipeline(kernel)?;
        let group = self.context.scoped(|| pipeline.bind(&self.context, kernel, bound))??;
        self.kept.extend(bound.iter().map(|part| Arc::clone(&part.loan)));
        let mut pass = self.begin_pass(kernel.label);
        pass.set_pipeline(&pipeline.pipeline);
        pass.set_bind_group(0, &group, &[]);
        dispatch(&mut pass);
        Ok(())
    }

    /// The pipeline of a kernel; the time that building it takes, or waiting for whoever builds it, is kept apart.
    pub(crate) fn pipeline(&mut self, kernel: &'static Kernel) -> Result<Arc<Pipeline>> {
        let (pipeline, compile_ms) = self.context.pipeline(kernel)?;
        self.compile_ms += compile_ms;
        Ok(pipeline)
    }

    /// Begins a pass; the first one of a frame begins its time.
    pub(super) fn begin_pass(&mut self, label: &'static str) -> wgpu::ComputePass<'_> {
        let is_first = !std::mem::replace(&mut self.is_timing, true);
        let timestamp_writes =
            self.timer.as_ref().filter(|_| is_first).map(|timer| wgpu::ComputePassTimestampWrites {
                query_set: &timer.queries,
                beginning_of_pass_write_index: Some(0),
                end_of_pass_write_index: None,
            });
        self.work.begin_compute_pass(&wgpu::ComputePassDescriptor { label: Some(label), timestamp_writes })
    }

    /// Keeps loans out of the pool until the frame has finished.
    pub(super) fn keep_loans(&mut self, loans: impl IntoIterator<Item = Arc<Loan>>) {
        self.kept.extend(loans);
    }

    /// Sets all bytes of a buffer to zero, after the kernels so far.
    pub(crate) fn clear<T: Pod>(&mut self, buffer: &Buffer<T>) {
        self.keep(buffer);
        self.work.clear_buffer(buffer.raw(), 0, None);
    }

    /// Copies values between two buffers, after the kernels so far.
    ///
    /// # Errors
    /// [`Error::Internal`] past the end of either.
    pub(crate) fn copy<T: Pod>(
        &mut self,
        from: &Buffer<T>,
        range: Range<usize>,
        to: &Buffer<T>,
        start: usize,
    ) -> Result<()> {
        if range.end > from.len() || start + range.len() > to.len() {
            let (from, to) = (from.len(), to.len());
            let message = format!("{}: copy of {range:?} of {from} to {start} of {to}", self.label);
            return Err(Error::internal("gpu::frame::copy", message));
        }
        self.keep(from);
        self.keep(to);
        let (offset, bytes) = byte_range::<T>(&range);
        let target = (start * size_of::<T>()) as u64;
        self.work.copy_buffer_to_buffer(from.raw(), offset, to.raw(), target, Some(bytes));
        Ok(())
    }

    /// Reads values back once all kernels of the frame have run.
    ///
    /// # Errors
    /// [`Error::Internal`] past the buffer's end.
    pub(crate) fn read<T: Pod>(&mut self, buffer: &Buffer<T>, range: Range<usize>) -> Result<Read<T>> {
        if range.end > buffer.len() {
            let len = buffer.len();
            let message = format!("{}: read of {range:?} of {len}", self.label);
            return Err(Error::internal("gpu::frame::read", message));
        }
        let (offset, bytes) = byte_range::<T>(&range);
        let to = self.read_bytes;
        if bytes > 0 {
            self.reads.push(Copy { loan: Arc::clone(buffer.loan()), offset, bytes, to });
            self.read_bytes += bytes.next_multiple_of(16);
        }
        Ok(Read { offset: to, len: range.len(), of: PhantomData })
    }

    /// Submits the frame and its readbacks, or puts it in [line](crate::gpu::line). `then` runs when they have arrived, on the
    /// engine's thread (in a browser, in its callback): it makes the answer or asks for one more frame. Where nobody waits for
    /// the answer any more neither happens.
    ///
    /// # Errors
    /// What went wrong before the device took the work; everything later comes out of the [`Pending`].
    pub(crate) fn submit<T: MaySend + 'static>(
        self,
        then: impl FnOnce(Done) -> Result<Step<T>> + MaySend + 'static,
    ) -> Result<Pending<T>> {
        let (promise, pending) = Pending::channel();
        self.launch(Box::new(Finish { then: Box::new(then), promise, scope: Scope::here() }))?;
        Ok(pending)
    }

    /// Submits a frame that leaves something on the device, or puts it in line: it is always done, and before all that is
    /// submitted later, so nobody need wait for it. What goes wrong then comes out of a later call.
    ///
    /// # Errors
    /// What went wrong before the device took the work.
    pub(crate) fn send(self) -> Result<()> {
        let faults = Arc::clone(self.context.faults());
        self.launch(Box::new(Sent { faults }))
    }

    fn launch(self, resume: Box<dyn Resume>) -> Result<()> {
        let flight = self.prepare()?;
        let line = Arc::clone(flight.context.line());
        line.send(Box::new(Ready { flight, resume }))
    }

    /// Encodes the readback and ends encoding, so that only submitting is left.
    fn prepare(mut self) -> Result<Flight> {
        self.flush_uniforms()?;
        let mut read_bytes = self.read_bytes;
        if let Some(timer) = self.timer.as_ref().filter(|_| self.is_timing) {
            // An empty pass: which kernel would be the last was not known when it was encoded.
            drop(self.work.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("hullfield.timer"),
                timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                    query_set: &timer.queries,
                    beginning_of_pass_write_index: None,
                    end_of_pass_write_index: Some(1),
                }),
            }));
            self.work.resolve_query_set(&timer.queries, 0..2, &timer.resolved, 0);
            read_bytes += TIMER_BYTES;
        }
        let context = &self.context;
        let staging = context.pool().take(context, "hullfield.readback", Use::Readback, read_bytes)?;
        for Copy { loan, offset, bytes, to } in &self.reads {
            self.work.copy_buffer_to_buffer(loan.raw(), *offset, staging.raw(), *to, Some(*bytes));
            self.kept.push(Arc::clone(loan));
        }
        if let Some(timer) = self.timer.as_ref().filter(|_| self.is_timing) {
            let (from, to) = (&timer.resolved, staging.raw());
            self.work.copy_buffer_to_buffer(from, 0, to, self.read_bytes, Some(TIMER_BYTES));
        }
        let Self {
            context,
            uploads,
            work,
            kept,
            staging: uploaded,
            large,
            timer,
            is_timing,
            read_bytes: at,
            ..
        } = self;
        let commands = context.scoped(|| [uploads.finish(), work.finish()])?;
        let encode_ms = (milliseconds(self.clock) - self.compile_ms).max(0.0);
        Ok(Flight {
            commands,
            kept,
            uploaded,
            large,
            staging,
            mapped_bytes: read_bytes.max(16),
            timer: timer.map(|timer| (timer, is_timing.then_some(at))),
            times: FrameTimes { encode_ms, compile_ms: self.compile_ms, ..FrameTimes::default() },
            context,
        })
    }
}

/// Writes `bytes` to a mapped range of a buffer that is as long or up to three bytes longer, and zeros behind them.
fn write_mapped(context: &Context, buffer: &wgpu::Buffer, range: Range<u64>, bytes: &[u8]) -> Result<()> {
    let padding = (range.end - range.start) as usize - bytes.len();
    let mut view = buffer
        .get_mapped_range_mut(range)
        .map_err(|error| context.diagnose(Error::internal("gpu::frame::write_mapped", error.to_string())))?;
    view.slice(..bytes.len()).copy_from_slice(bytes);
    if padding > 0 {
        view.slice(bytes.len()..).copy_from_slice(&[0; 3][..padding]);
    }
    Ok(())
}

/// Unmaps what was written for uploads; once `commands` are submitted it is mapped again and ready for the next one.
fn unmap(staging: Vec<Staging>, large: Vec<wgpu::Buffer>, commands: &wgpu::CommandBuffer) {
    large.iter().for_each(wgpu::Buffer::unmap);
    for Staging { loan, .. } in staging {
        loan.raw().unmap();
        let buffer = loan.raw().clone();
        // If mapping fails the device is in trouble: away with it.
        commands.map_buffer_on_submit(&buffer, wgpu::MapMode::Write, .., move |mapped| match mapped {
            Ok(()) => drop(loan),
            Err(_) => loan.discard(),
        });
    }
}

/// Milliseconds since `start`.
fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// Groups along x and y that hold at least `group_count`, neither above 65,535.
pub(crate) fn group_grid(group_count: u64) -> Result<(u32, u32)> {
    let limit = u64::from(MAX_GROUPS);
    let y = group_count.div_ceil(limit);
    if y > limit {
        return Err(Error::TooMany {
            what: "groups of one dispatch",
            count: group_count,
            limit: limit * limit,
        });
    }
    Ok((group_count.div_ceil(y.max(1)) as u32, y as u32))
}

/// Offset and size of a range of values, in bytes; the size is a multiple of 4 as copies want it.
fn byte_range<T>(range: &Range<usize>) -> (u64, u64) {
    let size = size_of::<T>() as u64;
    (range.start as u64 * size, (range.len() as u64 * size).next_multiple_of(4))
}

impl std::fmt::Debug for Frame {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Frame").field("label", &self.label).finish_non_exhaustive()
    }
}

/// A frame that is fully encoded. Nothing of it has happened yet: dropped, it gives all buffers back as they are.
struct Flight {
    context: Context,
    /// Uploads, then work.
    commands: [wgpu::CommandBuffer; 2],
    kept: Vec<Arc<Loan>>,
    uploaded: Vec<Staging>,
    large: Vec<wgpu::Buffer>,
    staging: Loan,
    mapped_bytes: u64,
    /// The timer, and where in the readback its timestamps are, if it was used.
    timer: Option<(Timer, Option<u64>)>,
    times: FrameTimes,
}

/// A frame that may be submitted, and what comes after it.
struct Ready {
    flight: Flight,
    resume: Box<dyn Resume>,
}

impl Launch for Ready {
    fn is_awaited(&self) -> bool {
        self.resume.is_awaited()
    }

    fn submit(self: Box<Self>, seat: Seat) -> Result<(), Refused> {
        let Self { flight, resume } = *self;
        let Flight { context, commands, kept, uploaded, large, staging, mapped_bytes, timer, times } = flight;
        // Some drivers do the work inside of the submission.
        let clock = Instant::now();
        let arrival = Arrival::default();
        let submitted = context.scoped(|| {
            let [uploads, work] = commands;
            unmap(uploaded, large, &work);
            work.map_buffer_on_submit(staging.raw(), wgpu::MapMode::Read, ..mapped_bytes, arrival.callback());
            context.queue().submit([uploads, work])
        });
        let index = match submitted {
            Ok(index) => index,
            Err(error) => {
                // Nobody knows whether it is mapped, or about to be.
                staging.discard();
                return Err(Refused { error, tell: Box::new(Failed(resume)) });
            }
        };
        context.account().submissions.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let landing = Landing { seat, context, staging, mapped_bytes, kept, timer, clock, times, resume };
        arrival.expect(index, landing);
        Ok(())
    }
}

impl std::fmt::Debug for Ready {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Ready").field("is_awaited", &self.is_awaited()).finish_non_exhaustive()
    }
}

/// What comes after a frame that was refused.
struct Failed(Box<dyn Resume>);

impl Tell for Failed {
    fn tell(self: Box<Self>, error: Error) {
        self.0.resume(Err(error));
    }
}

/// What waits for a submitted frame.
struct Landing {
    seat: Seat,
    context: Context,
    staging: Loan,
    mapped_bytes: u64,
    kept: Vec<Arc<Loan>>,
    timer: Option<(Timer, Option<u64>)>,
    clock: Instant,
    times: FrameTimes,
    resume: Box<dyn Resume>,
}

impl std::fmt::Debug for Landing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Landing").field("times", &self.times).finish_non_exhaustive()
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl crate::gpu::waiter::Landing for Landing {
    fn device(&self) -> &crate::gpu::device::Device {
        &self.context
    }

    fn land(self: Box<Self>, arrived: bool) {
        Self::land(*self, arrived);
    }
}

impl Landing {
    /// Takes the results (`arrived`: they are mapped) and goes on with them.
    fn land(self, arrived: bool) {
        let Self { seat, context, staging, mapped_bytes, kept, timer, clock, mut times, resume } = self;
        // First of all the device gets its next frame.
        drop(seat);
        if !resume.is_awaited() {
            drop((kept, resume));
            if let Some((timer, _)) = timer {
                context.timers().give(timer);
            }
            return match context.guarded(|| staging.raw().unmap()) {
                Ok(()) if arrived => drop(staging),
                _ => staging.discard(),
            };
        }
        let view = if arrived { staging.raw().get_mapped_range(..mapped_bytes).ok() } else { None };
        let done = match (context.check(), view) {
            (Err(error), view) => {
                drop((view, kept, timer));
                staging.discard();
                Err(error)
            }
            (Ok(()), None) => {
                drop((kept, timer));
                staging.discard();
                Err(context.diagnose(Error::internal("gpu::frame::land", "the results could not be mapped")))
            }
            (Ok(()), Some(view)) => {
                times.flight_ms = milliseconds(clock);
                if let Some((timer, at)) = timer {
                    times.kernels_ms = at.and_then(|at| {
                        let stamp = |at: u64| {
                            let bytes = view.get(at as usize..at as usize + 8)?;
                            Some(u64::from_le_bytes(bytes.try_into().ok()?))
                        };
                        context.timers().milliseconds(stamp(at)?, stamp(at + 8)?)
                    });
                    context.timers().give(timer);
                }
                Ok(Done { view: Some(view), staging: Some(staging), kept, times, context: context.clone() })
            }
        };
        // The last handle of a context may be this one: it goes before anybody hears of the answer, so that an
        // engine dropped by its user is taken down on the user's thread, not on this one.
        drop(context);
        resume.resume(done);
    }
}

/// The results of a frame in host memory. Dropping it gives back the frame's buffers.
pub(crate) struct Done {
    view: Option<wgpu::BufferView>,
    staging: Option<Loan>,
    kept: Vec<Arc<Loan>>,
    times: FrameTimes,
    context: Context,
}

impl Done {
    /// The values that were read back.
    ///
    /// # Errors
    /// [`Error::Internal`] for a read of another frame that is past the end of this one's.
    pub(crate) fn get<T: Pod>(&self, read: &Read<T>) -> Result<Cow<'_, [T]>> {
        let (start, bytes) = (read.offset as usize, read.len * size_of::<T>());
        let view = self.view.as_deref().unwrap_or_default();
        let Some(bytes) = view.get(start..start + bytes) else {
            let len = view.len();
            let message = format!("{bytes} bytes at {start} were not read back, of {len} that were");
            return Err(Error::internal("gpu::frame::Done::get", message));
        };
        Ok(match bytemuck::try_cast_slice(bytes) {
            Ok(values) => Cow::Borrowed(values),
            Err(_) => Cow::Owned(bytemuck::pod_collect_to_vec(bytes)),
        })
    }

    /// The first of the values that were read back.
    ///
    /// # Errors
    /// As of [`get`](Self::get); [`Error::Internal`] for a read of none.
    pub(crate) fn first<T: Pod>(&self, read: &Read<T>) -> Result<T> {
        let none = || Error::internal("gpu::frame::Done::first", "the read is of no values");
        self.get(read)?.first().copied().ok_or_else(none)
    }

    pub(crate) fn times(&self) -> FrameTimes {
        self.times
    }

    /// The context of the frame, for one more frame.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }
}

impl Drop for Done {
    fn drop(&mut self) {
        self.view = None;
        self.kept.clear();
        if let Some(staging) = self.staging.take() {
            match self.context.guarded(|| staging.raw().unmap()) {
                Ok(()) => drop(staging),
                Err(_) => staging.discard(),
            }
        }
    }
}

impl std::fmt::Debug for Done {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Done").field("times", &self.times).finish_non_exhaustive()
    }
}

/// Goes on when a frame has landed.
trait Resume: MaySend {
    /// Whether anybody wants it to.
    fn is_awaited(&self) -> bool;
    fn resume(self: Box<Self>, done: Result<Done>);
}

struct Finish<T: 'static> {
    then: Box<dyn Continue<T>>,
    promise: Promise<T>,
    scope: Scope,
}

impl<T: MaySend + 'static> Resume for Finish<T> {
    fn is_awaited(&self) -> bool {
        self.promise.is_awaited()
    }

    fn resume(self: Box<Self>, done: Result<Done>) {
        let Self { then, promise, scope } = *self;
        match guard(|| scope.run(|| then.run(done?))) {
            Ok(Step::Done(answer)) => promise.keep(Ok(answer)),
            Ok(Step::Again(frame, then)) => match frame.prepare() {
                Ok(flight) => {
                    let line = Arc::clone(flight.context.line());
                    line.queue(Box::new(Ready { flight, resume: Box::new(Self { then, promise, scope }) }));
                }
                Err(error) => promise.keep(Err(error)),
            },
            Err(error) => promise.keep(Err(error)),
        }
    }
}

/// Nobody waits, but it is to be done.
struct Sent {
    faults: Arc<Faults>,
}

impl Resume for Sent {
    fn is_awaited(&self) -> bool {
        true
    }

    fn resume(self: Box<Self>, done: Result<Done>) {
        if let Err(error) = done {
            self.faults.note(error);
        }
    }
}

/// Where the news arrives that a frame's results are mapped: natively a channel that the engine's thread reads.
#[cfg(not(target_arch = "wasm32"))]
struct Arrival {
    sender: std::sync::mpsc::Sender<bool>,
    receiver: std::sync::mpsc::Receiver<bool>,
}

#[cfg(not(target_arch = "wasm32"))]
impl Default for Arrival {
    fn default() -> Self {
        let (sender, receiver) = std::sync::mpsc::channel();
        Self { sender, receiver }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Arrival {
    fn callback(&self) -> impl FnOnce(Result<(), wgpu::BufferAsyncError>) + MaySend + use<> {
        let sender = self.sender.clone();
        move |mapped| {
            // Nobody waits any more where this fails.
            let _ = sender.send(mapped.is_ok());
        }
    }

    fn expect(self, index: wgpu::SubmissionIndex, landing: Landing) {
        // Only the callback's sender is left: dropped uncalled it ends the wait.
        drop(self.sender);
        let context = landing.context.clone();
        context.waiter().push(crate::gpu::waiter::Job {
            index,
            arrival: self.receiver,
            landing: Box::new(landing),
        });
    }
}

/// In a browser the callback itself goes on, whichever of the two comes last: the news or the landing.
#[cfg(target_arch = "wasm32")]
#[derive(Default)]
struct Arrival {
    slot: std::rc::Rc<std::cell::RefCell<Slot>>,
}

#[cfg(target_arch = "wasm32")]
#[derive(Default)]
struct Slot {
    mapped: Option<bool>,
    landing: Option<Landing>,
}

#[cfg(target_arch = "wasm32")]
impl Arrival {
    fn callback(&self) -> impl FnOnce(Result<(), wgpu::BufferAsyncError>) + MaySend + use<> {
        let slot = std::rc::Rc::clone(&self.slot);
        move |mapped| {
            let mut guard = slot.borrow_mut();
            guard.mapped = Some(mapped.is_ok());
            let landing = guard.landing.take();
            drop(guard);
            if let Some(landing) = landing {
                landing.land(mapped.is_ok());
            }
        }
    }

    fn expect(self, _: wgpu::SubmissionIndex, landing: Landing) {
        let mapped = self.slot.borrow().mapped;
        match mapped {
            Some(mapped) => landing.land(mapped),
            None => self.slot.borrow_mut().landing = Some(landing),
        }
    }
}
