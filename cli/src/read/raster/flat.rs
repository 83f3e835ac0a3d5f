//! Rasters whose cells lie in a file row by row, as they are: `.npy` and raw files.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use hullfield::Error;
use hullfield::flow::RasterWindow;

/// Takes some cells of a row of a window: the place of the first of them in the window, and their bytes in this machine's order.
pub(super) type Segment<'a> = dyn FnMut(usize, &[u8]) -> Result<(), Error> + 'a;

/// The place of the cells in a file.
#[derive(Debug)]
pub(super) struct FlatCells {
    pub(super) file: Mutex<File>,
    /// Columns.
    pub(super) width: u32,
    /// The byte at which the cells begin, and the bytes of each.
    pub(super) start: u64,
    pub(super) bytes_each: usize,
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
        let mut row = vec![0; window.width as usize * self.bytes_each];
        for y in 0..window.height {
            let first = u64::from(window.y + y) * u64::from(self.width) + u64::from(window.x);
            {
                let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
                let to = SeekFrom::Start(self.start + first * self.bytes_each as u64);
                file.seek(to).and_then(|_| file.read_exact(&mut row)).map_err(&failed)?;
            }
            if self.is_swapped {
                swap(&mut row, self.bytes_each);
            }
            segment(y as usize * window.width as usize, &row)?;
        }
        Ok(())
    }
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
