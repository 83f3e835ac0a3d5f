//! What a sweep is of, and how its series grow.

use crate::growth::fit::Growth;
use crate::growth::sweep::{Point, Series};

/// What a sweep is of.
pub(crate) struct Topic {
    /// Its name on the command line and in JSON.
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    /// What the sizes count, such as `bodies`.
    pub(crate) axis: &'static str,
    /// How the work is cut for more than one machine.
    pub(crate) cut: &'static str,
}

/// A series whose growth is known.
pub(crate) struct Scaling {
    pub(crate) topic: &'static str,
    pub(crate) axis: &'static str,
    pub(crate) cut: &'static str,
    pub(crate) series: Series,
    /// Of the time.
    pub(crate) time: Option<Growth>,
    /// Of the peak memory of a run.
    pub(crate) memory: Option<Growth>,
}

impl Scaling {
    /// Fits the laws of a series.
    pub(crate) fn new(topic: &Topic, series: Series) -> Self {
        let of = |value: &dyn Fn(&Point) -> f64| {
            let points: Vec<[f64; 2]> =
                series.points.iter().map(|point| [point.size as f64, value(point)]).collect();
            Growth::of(&points)
        };
        let (time, memory) =
            (of(&|point| point.samples.median()), of(&|point| point.peak_bytes.max(1) as f64));
        let Topic { name, axis, cut, .. } = *topic;
        Self { topic: name, axis, cut, time, memory, series }
    }

    /// Bytes of a run at its largest size, for each item.
    pub(crate) fn bytes_each(&self) -> Option<f64> {
        let last = self.series.points.last()?;
        Some(last.peak_bytes as f64 / last.size as f64)
    }
}
