//! What a query is about: the hulls, shared by all frames, and the bodies and pairs of one job.

use super::layout::PackedBody;
use super::query::Pairs;
use super::support::Supports;
use super::{Body, Hull};
use crate::{Error, Result};

/// The hulls of an arena and their layout.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) hulls: Vec<Hull>,
    pub(crate) supports: Supports,
}

impl Scene {
    /// Lays out the hulls.
    pub(crate) fn new(hulls: &[Hull]) -> Result<Self> {
        Ok(Self { supports: Supports::new(hulls)?, hulls: hulls.to_vec() })
    }
}

/// [`Pairs`] that outlive the call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum OwnedPairs {
    Near,
    Every,
    Given(Vec<[u32; 2]>),
}

/// The checked input of one query.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) bodies: Vec<Body>,
    pub(crate) packed: Vec<PackedBody>,
    pub(crate) pairs: OwnedPairs,
    /// Milliseconds that checking and packing took.
    pub(crate) upload_ms: f64,
}

impl Job {
    /// Checks bodies and pairs and lays the bodies out.
    pub(crate) fn new(scene: &Scene, bodies: &[Body], pairs: Pairs<'_>) -> Result<Self> {
        let begin = web_time::Instant::now();
        if bodies.len() as u64 > u64::from(u32::MAX) {
            return Err(Error::TooMany {
                what: "bodies",
                count: bodies.len() as u64,
                limit: u64::from(u32::MAX),
            });
        }
        let pack = |(row, body): (usize, &Body)| body.pack(row, &scene.supports);
        #[cfg(feature = "threads")]
        let packed: Vec<PackedBody> = {
            use rayon::prelude::*;
            // Collected in full first, so that the error named is always the first one.
            let packed: Vec<Result<PackedBody>> =
                bodies.par_iter().with_min_len(1024).enumerate().map(pack).collect();
            packed.into_iter().collect::<Result<_>>()?
        };
        #[cfg(not(feature = "threads"))]
        let packed = bodies.iter().enumerate().map(pack).collect::<Result<Vec<_>>>()?;
        let pairs = match pairs {
            Pairs::Near => OwnedPairs::Near,
            Pairs::Every => OwnedPairs::Every,
            Pairs::Given(pairs) => {
                check(pairs, bodies.len())?;
                OwnedPairs::Given(pairs.to_vec())
            }
        };
        Ok(Self { bodies: bodies.to_vec(), packed, pairs, upload_ms: begin.elapsed().as_secs_f64() * 1e3 })
    }
}

fn check(pairs: &[[u32; 2]], body_count: usize) -> Result<()> {
    for (pair, &[a, b]) in pairs.iter().enumerate() {
        for body in [a, b] {
            if body as usize >= body_count {
                return Err(Error::PairOutOfRange { pair, body, body_count });
            }
        }
        if a == b {
            return Err(Error::PairWithItself { pair, body: a });
        }
    }
    Ok(())
}
