//! Point sets for hulls: real ones if the corpus is there, else seeded replacements of the same kind.

use std::path::{Path, PathBuf};
use std::sync::Once;
use std::{env, fs};

use crate::random::Random;
use crate::scenes::{Kind, convex_set};

/// The source of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The file in the folder of `HULLFIELD_CORPUS`.
    File(PathBuf),
    /// Seeded replacements, because `HULLFIELD_CORPUS` is not set.
    StandIns,
}

/// Point sets, each in its own frame and units.
#[derive(Debug, Clone)]
pub struct Corpus {
    /// The point sets; none is empty, every coordinate is finite.
    pub sets: Vec<Vec<[f32; 3]>>,
    /// Their source.
    pub source: Source,
}

/// The number of replacements, which is that of the corpus's point sets.
pub const STAND_IN_COUNT: usize = 3378;

/// The point sets of `hulls/point_sets.bin` in the folder of the environment variable `HULLFIELD_CORPUS` (a relative path is
/// tried from the current folder, then from the workspace's root). If it is not set, [`STAND_IN_COUNT`] seeded replacements, with
/// a notice on stderr.
///
/// # Errors
/// A message that names the file, if `HULLFIELD_CORPUS` is set and the file cannot be read or is malformed.
pub fn hulls() -> Result<Corpus, String> {
    static NOTICE: Once = Once::new();
    let Some(folder) = env::var_os("HULLFIELD_CORPUS").filter(|v| !v.is_empty()) else {
        NOTICE.call_once(|| eprintln!("HULLFIELD_CORPUS is not set: seeded point sets replace the corpus"));
        return Ok(Corpus { sets: stand_ins(STAND_IN_COUNT, 2026), source: Source::StandIns });
    };
    let mut path = PathBuf::from(folder).join("hulls/point_sets.bin");
    if !path.exists() {
        path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    }
    let bytes = fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let sets = parse(&bytes).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(Corpus { sets, source: Source::File(path) })
}

/// Reads point sets: little-endian `u32 n`, then `n × 3 f32`, repeated to the end.
///
/// # Errors
/// A message with the byte at which a set is cut off, empty, or has a coordinate that is not finite.
pub fn parse(bytes: &[u8]) -> Result<Vec<Vec<[f32; 3]>>, String> {
    let mut sets = Vec::new();
    let mut at = 0;
    let word = |at: usize| bytes.get(at..at + 4).and_then(|b| <[u8; 4]>::try_from(b).ok());
    while at < bytes.len() {
        let start = at;
        let cut = || format!("the point set at byte {start} is cut off");
        let count = u32::from_le_bytes(word(at).ok_or_else(cut)?) as usize;
        at += 4;
        if count == 0 {
            return Err(format!("the point set at byte {start} is empty"));
        }
        if bytes.len() - at < count.saturating_mul(12) {
            return Err(cut());
        }
        let mut points = Vec::with_capacity(count);
        for _ in 0..count {
            let mut point = [0.0; 3];
            for x in &mut point {
                *x = f32::from_le_bytes(word(at).ok_or_else(cut)?);
                if !x.is_finite() {
                    return Err(format!("the coordinate at byte {at} is not finite"));
                }
                at += 4;
            }
            points.push(point);
        }
        sets.push(points);
    }
    Ok(sets)
}

/// `count` seeded point sets as in physics engines: 4 to 100 points, 20 on average, sizes over two decades. Most are solids with
/// some points inside; one in twenty is flat, collinear or has repeated points.
pub fn stand_ins(count: usize, seed: u64) -> Vec<Vec<[f32; 3]>> {
    let mut random = Random::new(seed);
    (0..count)
        .map(|k| {
            // An exponential distribution with mean 20, cut at 100.
            let count = (4.0 - 16.3 * (1.0 - random.unit()).ln()).min(100.0) as usize;
            let kind = Kind::ALL[random.below(Kind::ALL.len())];
            let size = random.log_between(0.1, 10.0) as f32;
            let mut points = convex_set(&mut random, kind, count);
            if k % 20 == 0 {
                match random.below(3) {
                    0 => points.iter_mut().for_each(|p| p[2] = 0.0),
                    1 => points.iter_mut().for_each(|p| *p = [p[0], p[0], p[0]]),
                    _ => points.extend(points.clone().into_iter().take(4)),
                }
            }
            // Kinds with fewer points are filled up with points inside.
            while points.len() < count {
                let (i, j) = (random.below(points.len()), random.below(points.len()));
                let (p, q) = (points[i], points[j]);
                points.push([0, 1, 2].map(|k| 0.5 * (p[k] + q[k])));
            }
            let centre = random.direction() * f64::from(size) * random.unit();
            let centre = centre.as_vec3().to_array();
            points.truncate(100);
            points.into_iter().map(|p| [0, 1, 2].map(|k| p[k] * size + centre[k])).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    #[test]
    fn errors_of_malformed_files_give_the_byte() {
        let mut good = 1u32.to_le_bytes().to_vec();
        for x in [1f32, 2.0, 3.0] {
            good.extend(x.to_le_bytes());
        }
        assert_eq!(parse(&good), Ok(vec![vec![[1.0, 2.0, 3.0]]]));
        assert_eq!(parse(&good[..15]), Err("the point set at byte 0 is cut off".into()));
        assert_eq!(parse(&[0; 4]), Err("the point set at byte 0 is empty".into()));
        let mut twice = [good.clone(), good.clone()].concat();
        twice.truncate(18);
        assert_eq!(parse(&twice), Err("the point set at byte 16 is cut off".into()));
        good[8..12].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(parse(&good), Err("the coordinate at byte 8 is not finite".into()));
    }

    #[test]
    fn stand_ins_are_of_the_same_kind() {
        let sets = stand_ins(STAND_IN_COUNT, 1);
        let mean = sets.iter().map(Vec::len).sum::<usize>() as f64 / sets.len() as f64;
        assert!((17.0..23.0).contains(&mean), "mean {mean}");
        assert!(sets.iter().all(|s| (4..=100).contains(&s.len())));
        let degenerate = sets.iter().filter(|s| Shape::new(s).dimension() < 3).count();
        assert!((30..400).contains(&degenerate), "{degenerate}");
    }

    #[test]
    fn every_set_makes_a_shape_that_contains_its_points() {
        let corpus = hulls().expect("the corpus is readable");
        if let Source::File(_) = corpus.source {
            assert_eq!(corpus.sets.len(), 3378);
        }
        let mut solid_count = 0;
        for (k, set) in corpus.sets.iter().enumerate() {
            let shape = Shape::of_cloud(set);
            if shape.dimension() == 3 {
                solid_count += 1;
                let size = shape.radius([1.0; 3]);
                for &p in set {
                    assert!(shape.outside(p) <= 1e-9 * size, "set {k}: {:e} of {size:e}", shape.outside(p));
                }
            }
        }
        assert!(solid_count * 10 > corpus.sets.len() * 8, "{solid_count}");
    }
}
