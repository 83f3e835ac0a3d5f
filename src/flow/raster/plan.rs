//! The size of tiles, from the memory that may be used.

use crate::account::available_bytes;
use crate::error::{Error, Location, Result};
use crate::flow::raster::borders::border_bytes;
use crate::flow::raster::device::{MAX_ON_DEVICE, device_bytes};
use crate::flow::raster::tiling::Tiling;

/// The largest edge that is chosen. Larger tiles gain nothing: a tile of 16 million cells takes far longer to solve than to read.
const MAX_EDGE: u32 = 4096;
/// A halo is as wide as a tile's edge over this. Shortest paths cross a border here and there; within the halo a tile follows them, so that it
/// and its neighbour need not be solved in turns. Over terrain of 8192² with random obstacles, in tiles of about 2,700 cells, a tile was solved 5.0 times with
/// a halo of one cell, and 1.2 times with one of an edge over 32, in 0.45 of the CPU time.
const HALO_SHARE: u32 = 32;
/// The smallest edge that is chosen: halos of smaller tiles cost as much as the tiles.
const MIN_EDGE: u32 = 64;

/// The tiles of a raster, with a halo.
fn tiling(size: [u32; 2], edge: u32) -> Tiling {
    Tiling { size, edge, halo: (edge / HALO_SHARE).max(1) }
}

/// The bytes that a field takes while it is solved: tiles of all threads, and the borders of all tiles.
fn needed_bytes(tiling: Tiling, at_once: usize, bytes_a_cell: u64) -> u64 {
    let window = tiling.edge + 2 * tiling.halo;
    let [width, height] = tiling.size.map(|length| u64::from(length.min(window)));
    let tile_count = tiling.counts().into_iter().map(u64::from).fold(1, u64::saturating_mul);
    let at_once = tile_count.min(at_once as u64);
    (at_once * width * height * bytes_a_cell).saturating_add(border_bytes(tiling))
}

/// The bytes of device memory that some tiles take while they are solved.
fn needed_device_bytes(tiling: Tiling, on_device: u64) -> u64 {
    let window = tiling.edge + 2 * tiling.halo;
    device_bytes(tiling.size.map(|length| length.min(window).into())).saturating_mul(on_device)
}

/// How many of these tiles go to a device at once: as many as fit into the limit of its memory.
///
/// # Errors
/// [`Error::MemoryLimit`] where not even one fits.
pub(crate) fn on_device(tiling: Tiling, limit_bytes: u64) -> Result<u64> {
    let fits = |&count: &u64| needed_device_bytes(tiling, count) <= limit_bytes;
    (1..=MAX_ON_DEVICE).rev().find(fits).ok_or_else(|| Error::MemoryLimit {
        what: "a tile of a raster on the device",
        needed_bytes: needed_device_bytes(tiling, 1),
        limit_bytes,
    })
}

/// The tiles of a raster, and how many are solved at once: as many as there are threads, or fewer where memory is short. Tiles are of the edge given,
/// or the largest whose work, `bytes_a_cell`, fits into `memory_limit`, or into what the host has free, and into `device_limit`.
///
/// # Errors
/// [`Error::Value`] for an edge of 0 or one too long; [`Error::MemoryLimit`] where not even one tile, or one of the smallest, fits.
pub(crate) fn plan(
    size: [u32; 2],
    tile_edge: Option<u32>,
    memory_limit: Option<u64>,
    thread_count: usize,
    bytes_a_cell: u64,
    device_limit: u64,
) -> Result<(Tiling, usize)> {
    let limit_bytes = memory_limit.unwrap_or_else(available_bytes);
    let fits =
        |edge: u32, at_once: usize| needed_bytes(tiling(size, edge), at_once, bytes_a_cell) <= limit_bytes;
    let fits_device = |edge: u32| needed_device_bytes(tiling(size, edge), MAX_ON_DEVICE) <= device_limit;
    let longest = size[0].max(size[1]);
    let edge = match tile_edge {
        Some(edge) if !(1..=1 << 15).contains(&edge) => {
            return Err(Error::value(
                Location::Argument,
                "tile_edge",
                edge,
                "it must be from 1 to 32,768 cells",
            ));
        }
        Some(edge) => edge,
        None => (MIN_EDGE..=MAX_EDGE)
            .rev()
            .step_by(MIN_EDGE as usize)
            .find(|&edge| fits(edge, thread_count) && fits_device(edge))
            .unwrap_or(MIN_EDGE)
            .min(longest.next_multiple_of(MIN_EDGE)),
    };
    let tiling = tiling(size, edge);
    match (1..=thread_count).rev().find(|&at_once| fits(edge, at_once)) {
        Some(at_once) => Ok((tiling, at_once)),
        None => Err(Error::MemoryLimit {
            what: "a field over a raster, in tiles,",
            needed_bytes: needed_bytes(tiling, 1, bytes_a_cell),
            limit_bytes,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::raster::tile::BYTES_A_CELL;

    #[test]
    fn tiles_fit_into_the_memory_limit() {
        for limit in [1 << 20, 1 << 24, 1 << 28, 1 << 31, u64::MAX] {
            for size in [[1, 1], [100, 3], [5000, 5000], [30_000, 30_000], [1_000_000, 20]] {
                match plan(size, None, Some(limit), 2, BYTES_A_CELL, u64::MAX) {
                    Ok((tiling, at_once)) => {
                        assert!(needed_bytes(tiling, at_once, BYTES_A_CELL) <= limit, "{size:?} {limit}")
                    }
                    Err(error) => {
                        assert!(matches!(error, Error::MemoryLimit { .. }), "{error}");
                        assert!(limit <= 1 << 24, "{size:?} {limit}: {error}");
                    }
                }
            }
        }
        let edge = |size, edge, limit, threads| {
            plan(size, edge, limit, threads, BYTES_A_CELL, u64::MAX)
                .map(|(tiling, at_once)| (tiling.edge, at_once))
        };
        assert_eq!(edge([30_000, 30_000], None, Some(2 << 30), 2), Ok((4096, 2)));
        // Fewer at once rather than none.
        assert_eq!(edge([900, 900], None, Some(1 << 20), 64), Ok((64, 5)));
        assert_eq!(edge([9, 9], None, None, 2), Ok((64, 2)));
        assert_eq!(edge([9, 9], Some(2), None, 2), Ok((2, 2)));
        assert!(matches!(plan([9, 9], Some(0), None, 2, BYTES_A_CELL, u64::MAX), Err(Error::Value { .. })));
        // More tiles than there is memory for.
        let most = i32::MAX as u32;
        for edge in [None, Some(1), Some(1 << 15)] {
            assert!(matches!(
                plan([most, most], edge, Some(1 << 40), 2, BYTES_A_CELL, u64::MAX),
                Err(Error::MemoryLimit { .. })
            ));
        }
        assert!(matches!(
            plan([900, 900], Some(800), Some(1 << 20), 2, BYTES_A_CELL, u64::MAX),
            Err(Error::MemoryLimit { .. })
        ));
    }
    #[test]
    fn tiles_fit_into_device_memory() {
        for limit in [10 << 20, 16 << 20, 1 << 26, 1 << 28, 1 << 30, 1 << 33, u64::MAX] {
            for size in [[1, 1], [100, 3], [5000, 5000], [30_000, 30_000], [1_000_000, 20], [20, 1_000_000]] {
                let (tiling, _) = plan(size, None, Some(1 << 40), 2, BYTES_A_CELL, limit).unwrap();
                assert_eq!(on_device(tiling, limit), Ok(2), "{size:?} {limit}");
                // The next larger tiles do not fit, or gain nothing.
                let larger = super::tiling(size, tiling.edge + MIN_EDGE);
                let is_largest = tiling.edge >= MAX_EDGE.min(size[0].max(size[1]));
                assert!(is_largest || on_device(larger, limit) != Ok(2), "{size:?} {limit}: {tiling:?}");
            }
        }
        // One at a time rather than none; then an error.
        let (tiling, _) = plan([900, 900], None, Some(1 << 40), 2, BYTES_A_CELL, 5 << 20).unwrap();
        assert_eq!((tiling.edge, on_device(tiling, 5 << 20)), (64, Ok(1)));
        assert!(matches!(on_device(tiling, 4 << 20), Err(Error::MemoryLimit { .. })));
        let (tiling, _) = plan([9000, 9000], Some(4096), Some(1 << 40), 2, BYTES_A_CELL, 1 << 28).unwrap();
        let error = on_device(tiling, 1 << 28).unwrap_err().to_string();
        assert!(error.contains("a tile of a raster on the device"), "{error}");
    }
}
