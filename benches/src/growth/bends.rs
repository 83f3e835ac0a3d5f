//! Why the curve of a sweep bends: costs that do not grow, or a cache that is outgrown.

use crate::growth::fit::PowerLaw;
use crate::growth::scaling::Scaling;
use crate::growth::sweep::bytes_text;
use crate::machine::{self, Cache};

/// A bend is a cache's where the memory of a run there is within this factor of the cache.
const NEAR_CACHE: f64 = 3.0;

/// A law whose exponent is this far below that of the larger sizes is one of fixed costs.
const FIXED: f64 = 0.6;

/// Why a curve bends.
#[derive(Debug, Clone, PartialEq)]
enum Cause {
    /// Costs of a run that do not depend on its size.
    Fixed,
    /// A cache is outgrown.
    Cache(Cache),
    Unknown,
}

/// The sentences about bends, for the curves of hullfield.
pub(crate) fn of(all: &[Scaling]) -> Vec<String> {
    let caches = machine::caches();
    all.iter()
        .filter(|scaling| !scaling.series.is_peer)
        .filter_map(|scaling| bend(scaling, &caches))
        .collect()
}

fn bend(scaling: &Scaling, caches: &[Cache]) -> Option<String> {
    let growth = scaling.time?;
    let (before, at) = (growth.before?, growth.bend()?);
    let bytes = scaling.series.points.iter().find(|point| point.size as f64 == at)?.peak_bytes;
    let why = match cause(&before, &growth.law, bytes, caches) {
        Cause::Fixed => {
            format!(
                "below it, costs that do not grow with the size count: about {} of a run",
                ms_text(fixed_ms(scaling))
            )
        }
        Cause::Cache(cache) => format!(
            "a run there has {} in memory, and the {} cache {}",
            bytes_text(bytes),
            cache.name,
            bytes_text(cache.bytes)
        ),
        Cause::Unknown => format!(
            "the cause is unknown: a run there has {} in memory, near no cache's size",
            bytes_text(bytes)
        ),
    };
    Some(format!(
        "{}: the exponent is {:.2} up to {at} and {:.2} from there; {why}.",
        scaling.series.name, before.exponent, growth.law.exponent
    ))
}

fn cause(before: &PowerLaw, after: &PowerLaw, bytes: u64, caches: &[Cache]) -> Cause {
    if before.exponent < FIXED * after.exponent {
        return Cause::Fixed;
    }
    let ratio = |cache: &Cache| (bytes.max(1) as f64 / cache.bytes as f64).ln().abs();
    let nearest = caches.iter().min_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    match nearest {
        Some(cache) if after.exponent > before.exponent && ratio(cache) < NEAR_CACHE.ln() => {
            Cause::Cache(cache.clone())
        }
        _ => Cause::Unknown,
    }
}

/// The time of the smallest size: what a run costs at least.
fn fixed_ms(scaling: &Scaling) -> f64 {
    scaling.series.points.first().map_or(f64::NAN, |point| point.samples.median())
}

fn ms_text(ms: f64) -> String {
    if ms < 0.1 { format!("{:.1} µs", 1e3 * ms) } else { format!("{ms:.1} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(exponent: f64) -> PowerLaw {
        let points: Vec<[f64; 2]> =
            (1..6).map(|k| f64::from(k) * 100.0).map(|n| [n, n.powf(exponent)]).collect();
        PowerLaw::through(&points).unwrap()
    }

    #[test]
    fn causes_of_bends() {
        let caches =
            [Cache { name: "L2".into(), bytes: 1 << 20 }, Cache { name: "L3".into(), bytes: 1 << 25 }];
        assert_eq!(cause(&law(0.2), &law(1.0), 1 << 20, &caches), Cause::Fixed);
        assert_eq!(cause(&law(1.0), &law(1.3), 2 << 20, &caches), Cause::Cache(caches[0].clone()));
        assert_eq!(cause(&law(1.0), &law(1.3), 1 << 40, &caches), Cause::Unknown);
        // A curve that gets flatter has not outgrown a cache.
        assert_eq!(cause(&law(1.3), &law(1.0), 1 << 20, &caches), Cause::Unknown);
        assert_eq!(cause(&law(1.0), &law(1.3), 1 << 20, &[]), Cause::Unknown);
    }
}
