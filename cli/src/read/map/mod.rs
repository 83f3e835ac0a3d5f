//! Maps of cells: MovingAI, PNG, PGM, ROS, and NumPy volumes.

mod movingai;
mod npy;
mod pixels;
mod ros;

use std::path::Path;

use hullfield::{Connectivity, Grid, GridFrame};

pub(crate) use npy::{costs, write as write_npy};

use super::{input, unknown_kind};
use crate::failure::{Failure, Result};

/// A map as it was read: row-major cells, the upper row first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Map {
    /// Columns, rows and layers.
    pub(crate) size: [u32; 3],
    /// Whether the file says that it has layers, be it one: its arrays then have three axes.
    pub(crate) is_volume: bool,
    /// Which cells are obstacles.
    pub(crate) obstacles: Vec<bool>,
    /// Cells that the file calls neither free nor occupied, which are obstacles here.
    pub(crate) unknown_count: usize,
    /// Where it lies in the world.
    pub(crate) frame: GridFrame,
}

impl Map {
    /// A flat map in a world whose units are cells.
    fn flat(width: usize, height: usize, obstacles: Vec<bool>) -> Self {
        let size = [width as u32, height as u32, 1];
        Self { size, is_volume: false, obstacles, unknown_count: 0, frame: GridFrame::default() }
    }

    /// The grid, where no agent of that radius comes too near to an obstacle.
    pub(crate) fn grid(&self, connectivity: Connectivity) -> Result<Grid, hullfield::Error> {
        Grid::new(self.size, connectivity, &self.obstacles)?.with_frame(self.frame)
    }

    /// The shape of its arrays: `[height, width]` or `[depth, height, width]`.
    pub(crate) fn shape(&self) -> Vec<usize> {
        let [width, height, depth] = self.size.map(|length| length as usize);
        if self.is_volume { vec![depth, height, width] } else { vec![height, width] }
    }
}

/// Reads a map, by the file's extension; from stdin, by its first bytes.
pub(crate) fn map(path: &Path) -> Result<Map> {
    let read = || input::bytes(path);
    match input::kind(path)?.as_str() {
        "map" => movingai::read(path, &read()?),
        "png" | "pgm" => pixels::read(path, &read()?),
        "yaml" | "yml" => ros::read(path, &read()?),
        "npy" => npy::read(path, &read()?),
        _ => Err(unknown_kind(path, "map, png, pgm, yaml, yml or npy is read")),
    }
}

/// A grid without cells is no grid, whatever it is read from.
fn check_size(path: &Path, size: [usize; 3]) -> Result<()> {
    let [width, height, depth] = size;
    if size.contains(&0) {
        let layers = if depth == 1 { String::new() } else { format!(" x {depth}") };
        return Err(Failure::file(path, format!("the map is {width} x {height}{layers}, it has no cells")));
    }
    if let Some(length) = size.iter().find(|&&length| length > i32::MAX as usize) {
        return Err(Failure::file(
            path,
            format!("the map is {length} cells long, {} are the most", i32::MAX),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Whatever a file holds, reading it ends in a map or in a failure of one line.
    #[test]
    fn spoiled_files_never_panic() {
        let mut random = Random::new(29);
        let map = "type octile\nheight 2\nwidth 3\nmap\n.@.\nTGS\n";
        let pgm = "P2\n# c\n3 2\n255\n0 255 7\n1 2 3\n";
        let mut binary = b"P5 3 2 65535\n".to_vec();
        binary.extend([0; 12]);
        let volume = npy::tests::file("|u1", false, &[1, 2, 3], &[0, 1, 0, 0, 1, 0]);
        type Read = fn(&Path, &[u8]) -> Result<Map>;
        let samples: [(&str, Read, Vec<u8>); 4] = [
            ("map", movingai::read, map.into()),
            ("pgm", pixels::read, pgm.into()),
            ("pgm", pixels::read, binary),
            ("npy", npy::read, volume),
        ];
        for (kind, read, sample) in samples {
            assert!(read(Path::new("good"), &sample).is_ok(), "{kind}");
            for _ in 0..5000 {
                let mut bytes = sample.clone();
                for _ in 0..1 + random.below(3) {
                    if bytes.is_empty() {
                        break;
                    }
                    let at = random.below(bytes.len());
                    match random.below(4) {
                        0 => bytes[at] = random.bits() as u8,
                        1 => bytes[at] = b"0123456789(),.'@ \n"[random.below(18)],
                        2 => drop(bytes.remove(at)),
                        _ => bytes.truncate(at),
                    }
                }
                match read(Path::new("spoiled"), &bytes) {
                    Ok(map) => {
                        let count: usize = map.size.iter().map(|&length| length as usize).product();
                        assert_eq!(count, map.obstacles.len());
                    }
                    Err(failure) => assert_eq!(failure.code(), 2),
                }
            }
        }
    }
}
