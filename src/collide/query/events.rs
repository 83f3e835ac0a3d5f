//! Events of the pairs of encoded queries: which begin, stay and end from step to step, on the device.

use std::sync::Arc;

use crate::collide::query::arena::Arena;
use crate::collide::query::device_events::{EventCounts, EventRow};
use crate::collide::query::encoded::DeviceRows;
use crate::collide::query::gpu::events::{EventSource, TouchingList};
use crate::error::{Error, Location, Result};
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::pool::PooledBuffer;
use crate::gpu::submit::Next;
use crate::pending::Pending;

/// The pairs that touched in the last step, on the device, for events of the next: a step of a simulation then needs nothing of the host.
///
/// A pair touches where its row's status is touching or penetrating. A pair that is not settled (status 3) keeps what it was: if it touched
/// before it stays, else it does not begin. A pair without a row does not touch. Bodies are named by their rows, so one value serves
/// one set of bodies whose rows don't change.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::{
///     Arena, Body, Capacity, DeviceBodies, DevicePairs, EventRow, Hull, Options, DeviceTouchingPairs,
/// };
///
/// let engine = Engine::auto()?;
/// let arena = Arena::new(&engine, &[Hull::ball(1.0)?], Options::default())?;
/// if let Some((device, queue)) = engine.device() {
///     let touching = DeviceTouchingPairs::new(&arena, 100)?;
///     let mut phases = Vec::new();
///     for x in [1.5, 1.6, 3.0] {
///         let bodies = [Body::new(0), Body::new(0).at([x, 0.0, 0.0])];
///         let mut encoder = device.create_command_encoder(&Default::default());
///         let capacity = Capacity { pairs: 100, rows: 100 };
///         let host = DeviceBodies::Host(&bodies);
///         let found = arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity)?;
///         let events = touching.encode_events(&mut encoder, &found)?;
///         // Here come kernels of your own that bind events.rows() and events.counts().
///         queue.submit([encoder.finish()]);
///         phases.extend(events.read()?.wait()?.1.iter().map(|event| event.phase));
///     }
///     assert_eq!(phases, [0, 1, 2]);
/// }
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug)]
pub struct DeviceTouchingPairs {
    list: TouchingList,
}

/// The events that a step leaves on the device once its encoder has run.
///
/// The buffers come from a pool: keep this value until your own kernels that read them are submitted.
#[derive(Debug)]
pub struct DeviceEvents {
    events: Buffer<EventRow>,
    counts: Buffer<EventCounts>,
    context: Context,
    /// In a browser the other buffers of the step, which must live until the encoder is submitted.
    _kept: Vec<Arc<PooledBuffer>>,
}

impl DeviceTouchingPairs {
    /// No pairs yet, with room for so many. It takes 8 bytes a pair, and a step 36 more while it runs.
    ///
    /// # Errors
    /// [`Error::NoGpu`] on the CPU engine; [`Error::MemoryLimit`] where one binding does not hold 24 bytes a pair (5.5 million pairs by
    /// WebGPU's default); [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn new(arena: &Arena, pair_room: u32) -> Result<Self> {
        let Some(gpu) = &arena.gpu else {
            return Err(Error::NoGpu { message: "the CPU engine has no events on a device".to_owned() });
        };
        Ok(Self { list: TouchingList::new(&gpu.context, pair_room)? })
    }

    /// Forgets all pairs, without events: those that touch in the next step begin.
    ///
    /// It is submitted by this call, before encoders that are submitted later.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn clear(&self) -> Result<()> {
        self.list.clear()
    }

    /// Encodes the events of a step behind the query that found its rows: [`EventRow`]s, sorted by pair.
    ///
    /// `found` are the rows of [`encode_intersections`](Arena::encode_intersections), [`encode_distances`](Arena::encode_distances),
    /// [`encode_contacts`](Arena::encode_contacts) or [`encode_manifolds`](Arena::encode_manifolds) with pairs from the broad phase, in the
    /// same encoder or one that is submitted before. A step counts once its encoder runs; one that is never submitted changes
    /// nothing.
    ///
    /// # Cost
    /// Two scans and four kernels, of the capacity for rows and of the room for pairs: some binary searches a row. Nothing crosses to the
    /// host.
    ///
    /// # Errors
    /// [`Error::Invalid`] where the rows are of another engine, of a sweep, not sorted (other pairs than those of the broad phase), or in several
    /// [parts](DeviceRows::parts); [`Error::MemoryLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn encode_events(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        found: &DeviceRows,
    ) -> Result<DeviceEvents> {
        let context = self.list.context();
        let fault = if !found.context.is_same(context) {
            Some("the rows are of another engine")
        } else if !found.is_sorted {
            Some(
                "events need rows of statuses, sorted by pair: those of a query but a sweep, with pairs from the broad phase",
            )
        } else if found.parts.len() > 1 {
            Some("the capacity for rows is more than one binding holds, and events need all rows in one")
        } else {
            None
        };
        if let Some(message) = fault {
            return Err(Error::invalid(Location::Argument, message));
        }
        let part = &found.parts[0];
        let row_room = part.unsettled.len();
        let source = EventSource {
            rows: &part.rows,
            counts: &part.counts,
            row_words: part.rows.len().checked_div(row_room).unwrap_or(0),
            row_room,
        };
        let label = "hullfield.collide.events";
        let ((events, counts), kept) =
            Frame::encode_into(context, label, encoder, |frame| self.list.encode(frame, &source))?;
        Ok(DeviceEvents { events, counts, context: context.clone(), _kept: kept })
    }
}

impl DeviceEvents {
    /// The events: [`EventRow`]s, sorted by `(a, b)`, as many as [`EventCounts::event_count`]; those past it are undefined.
    pub fn rows(&self) -> wgpu::BufferBinding<'_> {
        self.events.binding()
    }

    /// One [`EventCounts`].
    pub fn counts(&self) -> wgpu::BufferBinding<'_> {
        self.counts.binding()
    }

    /// The counts alone, for the host. Call it once the encoder is submitted.
    ///
    /// # Cost
    /// A readback of 32 bytes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn read_counts(&self) -> Result<Pending<EventCounts>> {
        let mut frame = Frame::new(&self.context, "hullfield.collide.events")?;
        let counts = frame.read(&self.counts, 0..1)?;
        frame.submit(move |results| Ok(Next::Answer(results.first(&counts)?)))
    }

    /// The counts and the events for the host. Call it once the encoder is submitted.
    ///
    /// # Cost
    /// Two readbacks, of 32 bytes and of 12 bytes an event.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn read(&self) -> Result<Pending<(EventCounts, Vec<EventRow>)>> {
        let label = "hullfield.collide.events";
        let mut frame = Frame::new(&self.context, label)?;
        let counts = frame.read(&self.counts, 0..1)?;
        let events = self.events.clone();
        frame.submit(move |results| {
            let counts: EventCounts = results.first(&counts)?;
            let len = (counts.event_count as usize).min(events.len());
            if len == 0 {
                return Ok(Next::Answer((counts, Vec::new())));
            }
            let mut frame = Frame::new(results.context(), label)?;
            let rows = frame.read(&events, 0..len)?;
            Ok(Next::frame(frame, move |results| {
                Ok(Next::Answer((counts, results.get(&rows)?.into_owned())))
            }))
        })
    }
}
