//! Rasters whose cells lie in a file row by row, as they are: `.npy` and raw files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use hullfield::Error;
use hullfield::flow::RasterWindow;

/// Takes some cells of a row of a window: the place of the first of them in the window, and their bytes in this machine's order.
pub(super) type Segment<'a> = dyn FnMut(usize, &[u8]) -> Result<(), Error> + 'a;

/// The place of the cells of a band in a file.
#[derive(Debug)]
pub(super) struct FlatCells {
    pub(super) file: Mutex<File>,
    /// The byte at which the cells begin, and the bytes of each.
    pub(super) start: u64,
    pub(super) bytes_each: usize,
    /// The bytes from a cell to the next one of its row, and from a row to the next: more where bands lie between.
    pub(super) cell_step: usize,
    pub(super) row_step: u64,
    /// Whether the bytes are in the other order than this machine's.
    pub(super) is_swapped: bool,
}

impl FlatCells {
    /// Reads a window row by row.
    pub(super) fn read(
        &self,
        window: RasterWindow,
        failed: impl Fn(io::Error) -> Error,
        segment: &mut Segment<'_>,
    ) -> Result<(), Error> {
        let width = window.width as usize;
        let mut row = vec![0; (width - 1) * self.cell_step + self.bytes_each];
        for y in 0..window.height {
            let x = u64::from(window.x) * self.cell_step as u64;
            let from = self.start + u64::from(window.y + y) * self.row_step + x;
            {
                let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(from)).and_then(|_| file.read_exact(&mut row)).map_err(&failed)?;
            }
            let cells = gather(&mut row, self.cell_step, self.bytes_each);
            if self.is_swapped {
                swap(cells, self.bytes_each);
            }
            segment(y as usize * width, cells)?;
        }
        Ok(())
    }
}

/// Moves the first bytes of each step to the front, and gives them.
pub(super) fn gather(bytes: &mut [u8], step: usize, bytes_each: usize) -> &mut [u8] {
    if step == bytes_each {
        return bytes;
    }
    let count = bytes.len().div_ceil(step);
    for cell in 1..count {
        bytes.copy_within(cell * step..cell * step + bytes_each, cell * bytes_each);
    }
    &mut bytes[..count * bytes_each]
}

/// Turns the bytes of each number around.
pub(super) fn swap(numbers: &mut [u8], bytes_each: usize) {
    match bytes_each {
        2 => numbers.as_chunks_mut::<2>().0.iter_mut().for_each(|number| number.reverse()),
        4 => numbers.as_chunks_mut::<4>().0.iter_mut().for_each(|number| number.reverse()),
        8 => numbers.as_chunks_mut::<8>().0.iter_mut().for_each(|number| number.reverse()),
        _ => {}
    }
}
