//! Which windows go on: what a search drops of a window as it enters a triangle, and as it sees the corner across.
//!
//! An exact search trims a window by the last windows of its side, and splits it where a nearer window sees
//! the same corner ("one angle, one split": Chen, Han 1990). A coarse search keeps the best few windows of each side.

use crate::navigate::surface::geodesic::propagate::{OVERLAP, Propagation, is_longer};
use crate::navigate::surface::geodesic::window::{
    CORNER_NEAREST, LATEST, SLOTS_PER_SIDE, SearchMode, WINDOW_COUNT, Window, is_no_longer, length,
};
use crate::navigate::surface::mesh::topology::NONE;

/// Relative to an edge's length: if no more than this remains of a window beside a nearer one, it is dropped. A path through the rest is
/// shorter than one through the nearer window only by about the square of that.
const NEGLIGIBLE: f64 = 1e-7;

/// Relative to an edge's length: a search that need not be exact drops windows that are shorter.
const SLIVER: f64 = 0.1;

/// A coarse search with fewer windows uses all slots: on few large triangles each window counts.
const SMALL_SEARCH: u32 = 400;

/// Relative to the mean edge length: longer sides, such as those of floors beside fine detail, use all slots, because many windows cross
/// them.
const LONG_SIDE: f64 = 1.5;

/// How many of a side's last windows an exact search compares with a new one.
const COMPARED: usize = 2;

/// Every so many windows of a side, a new one is compared with more of them. Paths may go around slender triangles again and again, each
/// hardly longer than the last, until that is noticed.
const CROWDED: u32 = 128;

/// How many it is compared with then.
const COMPARED_IF_CROWDED: usize = 64;

impl<const TO_WALL: bool> Propagation<'_, '_, TO_WALL> {
    /// Trims the interval by the last windows of the side where they are no farther away. Returns false where nothing remains.
    #[inline]
    pub(crate) fn trim(&mut self, window: &mut Window, index: u32, width: f64) -> bool {
        let state = &mut self.search.state;
        let side = &mut state.triangles[window.entry as usize / 3].windows[window.entry as usize % 3];
        window.previous_on_side = side[LATEST];
        let mut next = side[LATEST];
        // In a search for distances, windows are recycled, so the chain of a side is soon broken.
        let count = side[WINDOW_COUNT].wrapping_add(1);
        let is_crowded =
            count > 0 && count.is_multiple_of(CROWDED) && !matches!(self.query.mode, SearchMode::Distances);
        let compared_count = if is_crowded { COMPARED_IF_CROWDED } else { COMPARED };
        // The part where no rival is nearer.
        let (mut from, mut to) = (window.from, window.to);
        for _ in 0..compared_count {
            let Some(rival) = state.windows.get(next as usize) else { break };
            if rival.entry != window.entry {
                // A recycled window: its index belongs to another one now.
                break;
            }
            next = rival.previous_on_side;
            let (begin, end) = (from.max(rival.from), to.min(rival.to));
            if !(begin < end && rival.is_nearer(window, [begin, end], width)) {
                continue;
            }
            match (begin <= from + NEGLIGIBLE * width, end >= to - NEGLIGIBLE * width) {
                (true, true) => return false,
                (true, false) => from = end,
                (false, true) => to = begin,
                (false, false) => {}
            }
        }
        // Windows overlap a little, so that rounding leaves no gap between them.
        window.from = window.from.max(from - OVERLAP * width);
        window.to = window.to.min(to + OVERLAP * width);
        if matches!(self.query.mode, SearchMode::Distances) && window.to - window.from <= SLIVER * width {
            return false;
        }
        side[LATEST] = index;
        side[WINDOW_COUNT] = count;
        true
    }

    /// Trims the interval by the kept windows of the side and takes a slot. Returns false where there is no slot for it.
    #[inline]
    pub(crate) fn keep_in_slot(&mut self, window: &mut Window, index: u32, width: f64) -> bool {
        let state = &mut self.search.state;
        let slot = &mut state.triangles[window.entry as usize / 3].windows[window.entry as usize % 3];
        // The slot of the farthest window.
        let mut last = (0.0, 0);
        let is_long = width > LONG_SIDE * self.query.mesh.mean_edge;
        let slot_count = if index < SMALL_SEARCH || is_long { SLOTS_PER_SIDE } else { self.slot_count };
        for (i, &kept) in slot[..slot_count].iter().enumerate() {
            if kept == NONE {
                last = (f64::INFINITY, i);
                break;
            }
            let kept = &state.windows[kept as usize];
            let (from, to) = (window.from.max(kept.from), window.to.min(kept.to));
            let middle = 0.5 * (from + to);
            // On a short side it suffices to compare in the middle.
            let is_nearer = if is_long {
                from < to && kept.is_nearer(window, [from, to], width)
            } else {
                from < to && is_no_longer(kept.distance(middle), window.distance(middle), width)
            };
            if is_nearer {
                // Keep the larger of the two parts that remain.
                if from - window.from >= window.to - to {
                    window.to = from
                } else {
                    window.from = to
                }
                if window.to - window.from <= SLIVER * width {
                    return false;
                }
            }
            let nearest = kept.nearest();
            if nearest > last.0 {
                last = (nearest, i);
            }
        }
        if is_no_longer(last.0, window.nearest(), width) {
            return false;
        }
        slot[last.1] = index;
        true
    }

    /// Compares a window with the nearest one that sees the opposite corner, at `(x, y)`. Returns where the path of a nearer window to that
    /// corner crosses their side; `None` where this window is now the nearest, or as near.
    #[inline]
    pub(crate) fn one_angle_one_split(
        &mut self,
        index: u32,
        distance: f64,
        (x, y): (f64, f64),
    ) -> Option<f64> {
        let state = &mut self.search.state;
        let entry = state.windows[index as usize].entry;
        let nearest = &mut state.triangles[entry as usize / 3].windows[entry as usize % 3][CORNER_NEAREST];
        let rival = state.windows.get(*nearest as usize).filter(|rival| rival.entry == entry);
        if let Some(rival) = rival {
            let at = rival.source_x + (x - rival.source_x) * (rival.source_depth / (rival.source_depth + y));
            // A recycled index may belong to a window that does not see the corner.
            if at > rival.from && at < rival.to {
                let to_rival = rival.base_distance + length(x - rival.source_x, y + rival.source_depth);
                if !(distance < to_rival) {
                    return is_longer(distance, to_rival).then_some(at);
                }
            }
        }
        *nearest = index;
        None
    }
}
