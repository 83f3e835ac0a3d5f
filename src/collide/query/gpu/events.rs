//! Events on the device: the rows of a query against the sorted list of the pairs that touched before.
//!
//! Rows of touching pairs are marked, scanned and listed; pairs of before that are not in the new list are marked and scanned. Both lists
//! are sorted, so the place of an event is the number of pairs before it in either list, by binary search. The new list then replaces the
//! old one, by a copy: an encoder that is never submitted changes nothing.

use bytemuck::{Pod, Zeroable};

use crate::collide::narrow_phase::kernels::DEVICE_ROWS;
use crate::collide::query::device_events::{EventCounts, EventRow};
use crate::collide::query::device_rows::DeviceCounts;
use crate::error::{Error, Result};
use crate::gpu::DISPATCH_WGSL;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;
use crate::gpu::kernel::{Kernel, Trust, only, read, read_write, uniform};
use crate::gpu::pool::BoundRange;
use crate::gpu::scan::{self, scan};
use crate::gpu::wgsl::wgsl;

const DEVICE_EVENTS: &str = wgsl!("../../../../shaders/collide/query/device_events.wgsl");
const BEFORE: &str = wgsl!("../../../../shaders/collide/query/event_before.wgsl");
const NOW: &str = wgsl!("../../../../shaders/collide/query/event_now.wgsl");

/// The kernels of events, without those of the scan.
pub(crate) static KERNELS: &[&Kernel] = &[&EVENT_FLAGS, &EVENT_LIST, &EVENT_ENDS, &EVENT_WRITE];

static EVENT_FLAGS: Kernel = Kernel {
    label: "hullfield.collide.event_flags",
    sources: only(&[
        DISPATCH_WGSL,
        DEVICE_ROWS,
        BEFORE,
        wgsl!("../../../../shaders/collide/query/event_flags.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "EventParams"),
        read("rows", "array<u32>"),
        read("row_counts", "DeviceCounts"),
        read("before", "array<vec2u>"),
        read_write("flags", "array<u32>"),
    ]),
};

static EVENT_LIST: Kernel = Kernel {
    label: "hullfield.collide.event_list",
    sources: only(&[
        DISPATCH_WGSL,
        DEVICE_ROWS,
        DEVICE_EVENTS,
        BEFORE,
        wgsl!("../../../../shaders/collide/query/event_list.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "EventParams"),
        read("rows", "array<u32>"),
        read("row_counts", "DeviceCounts"),
        read("before", "array<vec2u>"),
        read("places", "array<u32>"),
        read("total", "array<u32>"),
        read_write("now", "array<vec2u>"),
        read_write("event_counts", "EventCounts"),
    ]),
};

static EVENT_ENDS: Kernel = Kernel {
    label: "hullfield.collide.event_ends",
    sources: only(&[DISPATCH_WGSL, BEFORE, NOW, wgsl!("../../../../shaders/collide/query/event_ends.wgsl")]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "EventParams"),
        read("before", "array<vec2u>"),
        read("now", "array<vec2u>"),
        read_write("flags", "array<u32>"),
    ]),
};

static EVENT_WRITE: Kernel = Kernel {
    label: "hullfield.collide.event_write",
    sources: only(&[
        DISPATCH_WGSL,
        DEVICE_EVENTS,
        BEFORE,
        NOW,
        wgsl!("../../../../shaders/collide/query/event_write.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Checked,
    bindings: only(&[
        uniform("params", "EventParams"),
        read("before", "array<vec2u>"),
        read("now", "array<vec2u>"),
        read("places", "array<u32>"),
        read_write("events", "array<EventRow>"),
        read_write("event_counts", "EventCountsOut"),
    ]),
};

/// Steps of an item, by which long dispatches are cut: a binary search.
const ITEM_STEPS: u64 = 32;

/// As in `shaders/collide/query/event_before.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct EventParams {
    row_words: u32,
    row_room: u32,
    pair_room: u32,
    first: u32,
    end: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

/// The pairs that touched in the last step, on the device.
#[derive(Debug)]
pub(crate) struct TouchingList {
    context: Context,
    /// The number of pairs, then the pairs, sorted.
    before: Buffer<[u32; 2]>,
}

/// The rows of a query.
#[derive(Debug)]
pub(crate) struct EventSource<'a> {
    pub(crate) rows: &'a Buffer<u32>,
    pub(crate) counts: &'a Buffer<DeviceCounts>,
    pub(crate) row_words: usize,
    pub(crate) row_room: usize,
}

impl TouchingList {
    /// No pairs, with room for so many.
    pub(crate) fn new(context: &Context, room: u32) -> Result<Self> {
        let needed_bytes = 2 * u64::from(room) * size_of::<EventRow>() as u64;
        let limit_bytes = context.binding_limit();
        if needed_bytes > limit_bytes {
            return Err(Error::MemoryLimit { what: "one binding of all events", needed_bytes, limit_bytes });
        }
        // Built now, they cost the first step no time.
        for kernel in KERNELS.iter().chain(scan::KERNELS) {
            context.pipeline(kernel)?;
        }
        let before = Buffer::new(context, "hullfield.collide.touching", 1 + room as usize)?;
        let made = Self { context: context.clone(), before };
        made.clear()?;
        Ok(made)
    }

    /// Forgets all pairs, in the order of the calls.
    pub(crate) fn clear(&self) -> Result<()> {
        let mut frame = Frame::new(&self.context, "hullfield.collide.touching")?;
        frame.upload(&self.before, 0, &[[0; 2]])?;
        frame.send()
    }

    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// How many pairs there is room for.
    pub(crate) fn room(&self) -> usize {
        self.before.len() - 1
    }

    /// Encodes the events of these rows, and their counts.
    pub(crate) fn encode(
        &self,
        frame: &mut Frame,
        source: &EventSource<'_>,
    ) -> Result<(Buffer<EventRow>, Buffer<EventCounts>)> {
        let context = &self.context;
        let (room, row_room) = (self.room(), source.row_room);
        let before = &self.before;
        let flags: Buffer<u32> = Buffer::new(context, "hullfield.collide.event_flags", row_room + 1)?;
        let now: Buffer<[u32; 2]> = Buffer::new(context, "hullfield.collide.touching_now", room + 1)?;
        let ended: Buffer<u32> = Buffer::new(context, "hullfield.collide.event_ends", room + 1)?;
        let events = Buffer::new(context, "hullfield.collide.events", 2 * room)?;
        let counts = Buffer::new(context, "hullfield.collide.event_counts", 1)?;
        let params = EventParams {
            row_words: source.row_words as u32,
            row_room: row_room as u32,
            pair_room: room as u32,
            ..EventParams::zeroed()
        };
        dispatch(frame, &EVENT_FLAGS, params, row_room + 1, |params| {
            vec![params, source.rows.bind(), source.counts.bind(), before.bind(), flags.bind()]
        })?;
        let total = scan(frame, &flags)?;
        dispatch(frame, &EVENT_LIST, params, row_room.max(room).max(1), |params| {
            let (rows, row_counts) = (source.rows.bind(), source.counts.bind());
            let (flags, total) = (flags.bind(), total.bind());
            vec![params, rows, row_counts, before.bind(), flags, total, now.bind(), counts.bind()]
        })?;
        dispatch(frame, &EVENT_ENDS, params, room + 1, |params| {
            vec![params, before.bind(), now.bind(), ended.bind()]
        })?;
        scan(frame, &ended)?;
        dispatch(frame, &EVENT_WRITE, params, room, |params| {
            vec![params, before.bind(), now.bind(), ended.bind(), events.bind(), counts.bind()]
        })?;
        frame.copy(&now, 0..room + 1, before, 0)?;
        Ok((events, counts))
    }
}

/// Runs a kernel over so many items.
fn dispatch(
    frame: &mut Frame,
    kernel: &'static Kernel,
    params: EventParams,
    len: usize,
    bound: impl Fn(BoundRange) -> Vec<BoundRange>,
) -> Result<()> {
    let context = frame.context().clone();
    for piece in context.pieces(len as u64, ITEM_STEPS, kernel.workgroup_size.into()) {
        let of_piece =
            frame.uniform(&EventParams { first: piece.start as u32, end: piece.end as u32, ..params })?;
        frame.dispatch(kernel, &bound(of_piece), kernel.groups(piece.end - piece.start))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collide::narrow_phase::kernels::tests::same_layout;

    #[test]
    fn structs_have_the_same_layout_in_both_languages() {
        for kernel in KERNELS {
            same_layout!(
                kernel,
                EventParams { row_words, row_room, pair_room, first, end, padding_0, padding_1, padding_2 }
            );
        }
        same_layout!(EVENT_WRITE, EventRow { a, b, phase });
        same_layout!(
            EVENT_LIST,
            EventCounts {
                event_count,
                begin_count,
                stay_count,
                end_count,
                touching_count,
                overflow,
                padding
            }
        );
    }
}
