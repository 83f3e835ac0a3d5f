//! Map files of every format.

use std::path::Path;

use super::occupancy::Map;
use super::{movingai, npy, pixels, ros};
use crate::failure::Result;
use crate::read::input::{self, unknown_format};

/// Reads a map, by the file's extension; from stdin, by its first bytes.
pub(crate) fn map(path: &Path) -> Result<Map> {
    let read = || input::bytes(path);
    match input::file_format(path)?.as_str() {
        "map" => movingai::read(path, &read()?),
        "png" | "pgm" => pixels::read(path, &read()?),
        "yaml" | "yml" => ros::read(path, &read()?),
        "npy" => npy::read(path, &read()?),
        _ => Err(unknown_format(path, "map, png, pgm, yaml, yml or npy is read")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Reading any file ends in a map or in an error of one line.
    #[test]
    fn corrupt_files_never_panic() {
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
        for (name, read, sample) in samples {
            assert!(read(Path::new("good"), &sample).is_ok(), "{name}");
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
                match read(Path::new("corrupt"), &bytes) {
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
