//! Finds the paths and the distances: within a frame where that is quick, else in the second worker, which is asked one thing at a time.

use hullfield::navigate::surface::{Method, PathOptions, Point};
use serde_json::{Value, json};
use web_time::Instant;

use crate::playground::host::Host;
use crate::playground::message::Message;
use crate::playground::surface::loaded::Loaded;
use crate::playground::surface::second::{MOST_SOLVED, distances, end, method};

/// The most milliseconds that a solve may hold a frame.
const MOST_MS: f64 = 50.0;
/// Milliseconds that a path and the distances take for a triangle, until one was measured.
const PATH_MS: f64 = 0.003;
const BANDS_MS: f64 = 0.02;

/// What is shown beside the shortest path.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shown {
    pub(super) bands: bool,
    pub(super) funnel: bool,
}

/// A path.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) points: Vec<[f64; 3]>,
    /// None where there is no path.
    pub(super) length: Option<f64>,
}

/// The distances of the vertices from a start.
#[derive(Debug, Clone)]
pub(super) struct Bands {
    /// Counts the bands, from 1.
    pub(super) number: u64,
    /// In the model's units; infinite where there is no way.
    pub(super) values: Vec<f32>,
    /// The greatest one that is finite.
    pub(super) far: f32,
    /// The width of a band.
    pub(super) band: f32,
    /// Whether the second worker has solved them.
    by_second: bool,
}

/// What the second worker was asked.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Path([Point; 2]),
    Bands(Point),
}

/// Paths and distances of a model, as far as they are known.
#[derive(Debug, Default)]
pub(super) struct Solver {
    model: u64,
    /// The model that the second worker has after all that it was asked.
    second_has: Option<u64>,
    asked: Option<Asked>,
    /// Whether the second worker has ended while it solved this model: it is not asked again.
    has_second_failed: bool,
    path_ms: f64,
    bands_ms: f64,
    /// Whether something has changed since the last solve.
    is_dirty: bool,
    bands_count: u64,
    is_guaranteed: bool,
    /// What was found, and for which ends.
    geodesic: Option<([Point; 2], Found)>,
    funnel: Option<([Point; 2], Found)>,
    bands: Option<(Point, Bands)>,
    /// Whether edges connect the goal with the start.
    is_connected: bool,
    is_waiting: bool,
}

impl Solver {
    /// Another model is shown.
    pub(super) fn begin(&mut self, model: u64, triangle_count: usize) {
        let count = triangle_count as f64;
        *self = Self {
            model,
            second_has: self.second_has,
            path_ms: PATH_MS * count,
            bands_ms: BANDS_MS * count,
            bands_count: self.bands_count,
            is_dirty: true,
            ..Self::default()
        };
    }

    /// Ends or settings have changed.
    pub(super) fn change(&mut self) {
        self.is_dirty = true;
    }

    /// The second worker was asked to read a file: what it had is given again where it is needed.
    pub(super) fn reads(&mut self) {
        self.second_has = None;
    }

    /// The second worker has read this model. It has it still if it was given no other since it was asked.
    pub(super) fn has_read(&mut self, model: u64) {
        self.second_has = self.second_has.or(Some(model));
    }

    /// The second worker has ended, and another one has started.
    pub(super) fn lose(&mut self) {
        self.second_has = None;
        if self.asked.take().is_some() {
            self.has_second_failed = true;
        }
        self.is_dirty = true;
    }

    /// The shortest path.
    pub(super) fn geodesic(&self) -> Option<&Found> {
        self.geodesic.as_ref().map(|(_, found)| found)
    }

    /// The funnel's path.
    pub(super) fn funnel(&self) -> Option<&Found> {
        self.funnel.as_ref().map(|(_, found)| found)
    }

    /// The distances.
    pub(super) fn bands(&self) -> Option<&Bands> {
        self.bands.as_ref().map(|(_, bands)| bands)
    }

    /// Finds what is wanted between these ends, or asks the second worker for it. Returns whether there is news for the page.
    pub(super) fn solve(
        &mut self,
        loaded: &Loaded,
        ends: [Point; 2],
        wanted: Shown,
        host: &Host,
    ) -> hullfield::Result<bool> {
        if !std::mem::take(&mut self.is_dirty) {
            return Ok(false);
        }
        let count = loaded.surface.triangles().len();
        let [from, to] = ends.map(|end| loaded.surface.island(end.triangle));
        self.is_connected = from == to;
        let (geodesic, is_guaranteed) = method(count);
        self.is_guaranteed = is_guaranteed;
        let has_path = self.geodesic.as_ref().is_some_and(|(of, _)| *of == ends);
        let has_bands =
            !wanted.bands || count > MOST_SOLVED || self.bands.as_ref().is_some_and(|(of, _)| *of == ends[0]);
        let mut question = None;
        if !has_path {
            // Without the second worker a frame is held as long as it takes.
            if self.path_ms <= MOST_MS || self.has_second_failed {
                let (found, ms) = self.path(loaded, ends, geodesic, "path, geodesic", host)?;
                (self.geodesic, self.path_ms) = (Some((ends, found)), ms);
            } else {
                self.geodesic = None;
                question = Some(Asked::Path(ends));
            }
        }
        if wanted.funnel && self.funnel.as_ref().is_none_or(|(of, _)| *of != ends) {
            let (found, _) = self.path(loaded, ends, Method::Funnel, "path, funnel", host)?;
            self.funnel = Some((ends, found));
        }
        if !has_bands {
            if self.bands_ms <= MOST_MS {
                let begun = Instant::now();
                let values = host.timed("distances", || distances(&loaded.surface, ends[0]))?;
                self.bands_ms = begun.elapsed().as_secs_f64() * 1e3;
                self.keep(ends[0], values, false);
            } else if !self.has_second_failed {
                question = question.or(Some(Asked::Bands(ends[0])));
            }
        }
        self.is_waiting = question.is_some();
        if self.asked.is_none()
            && let Some(question) = question
        {
            self.ask(loaded, question, host);
        }
        Ok(true)
    }

    fn path(
        &mut self,
        loaded: &Loaded,
        [start, goal]: [Point; 2],
        method: Method,
        stage: &'static str,
        host: &Host,
    ) -> hullfield::Result<(Found, f64)> {
        let begun = Instant::now();
        let options = PathOptions { method, to_nearest: true };
        let path = host.timed(stage, || loaded.surface.path(start, goal, &options))?;
        let length = path.length.is_finite().then_some(path.length);
        Ok((Found { points: path.points, length }, begun.elapsed().as_secs_f64() * 1e3))
    }

    /// Gives the second worker the surface where it has another one.
    pub(super) fn give(&mut self, loaded: &Loaded, host: &Host) {
        if self.second_has != Some(self.model) {
            let bytes = host.timed("surface, given", || loaded.surface.to_bytes());
            host.ask(json!({"tab": "surface", "ask": "take", "model": self.model}), &bytes);
            // It answers in the order of the questions.
            self.second_has = Some(self.model);
        }
    }

    fn ask(&mut self, loaded: &Loaded, question: Asked, host: &Host) {
        self.give(loaded, host);
        let [start, goal] = match question {
            Asked::Path([start, goal]) => [end(&start), end(&goal)],
            Asked::Bands(start) => [end(&start), Value::Null],
        };
        let (tab, model) = ("surface", self.model);
        host.ask(json!({"tab": tab, "ask": "solve", "model": model, "start": start, "goal": goal}), &[]);
        self.asked = Some(question);
    }

    /// Takes an answer of the second worker. Returns a sentence where it is an error.
    pub(super) fn answered(&mut self, message: &Message, model: u64) -> Option<String> {
        let error = message.text("error").map(str::to_owned);
        let is_solve = message.text("ask") == Some("solve");
        if model != self.model || !is_solve {
            return error.filter(|_| model == self.model);
        }
        let asked = self.asked.take();
        self.is_dirty = true;
        if error.is_some() {
            self.has_second_failed = true;
            return error;
        }
        let ms = message.number("ms").unwrap_or_default();
        match asked {
            Some(Asked::Path(ends)) => {
                let point = |value: &Value| {
                    let part = |axis: usize| value.get(axis).and_then(Value::as_f64);
                    Some([part(0)?, part(1)?, part(2)?])
                };
                let points = message.data().get("points").and_then(Value::as_array);
                let points = points.map(|points| points.iter().filter_map(point).collect());
                let found = Found { points: points.unwrap_or_default(), length: message.number("length") };
                (self.geodesic, self.path_ms) = (Some((ends, found)), ms);
            }
            Some(Asked::Bands(start)) => {
                let values = message.bytes().chunks_exact(4).map(bytemuck::pod_read_unaligned).collect();
                self.bands_ms = ms;
                self.keep(start, values, true);
            }
            None => {}
        }
        None
    }

    fn keep(&mut self, start: Point, values: Vec<f32>, by_second: bool) {
        let far = values.iter().copied().filter(|value| value.is_finite()).fold(0.0, f32::max);
        self.bands_count += 1;
        let band = round_width(far);
        self.bands = Some((start, Bands { number: self.bands_count, values, far, band, by_second }));
    }

    /// What the page is told.
    pub(super) fn note(&self) -> Value {
        let length = |found: Option<&Found>| found.and_then(|found| found.length);
        let bands = self.bands();
        let text = if !self.is_connected {
            "No edges connect the goal with the start: the path leads to the nearest point that can be reached."
        } else {
            ""
        };
        json!({
            "geodesic": length(self.geodesic()),
            "funnel": length(self.funnel()),
            "guaranteed": self.is_guaranteed,
            "far": bands.map(|bands| bands.far),
            "band": bands.map(|bands| bands.band),
            "path_ms": self.geodesic.as_ref().map(|_| self.path_ms),
            "bands_ms": bands.map(|_| self.bands_ms),
            "bands_by": bands.map(|bands| if bands.by_second { "second" } else { "first" }),
            "waiting": self.is_waiting,
            "text": text,
            "connected": self.is_connected,
        })
    }
}

/// A round number, some sixteenth of this length: 1, 2 or 5 times a power of ten.
fn round_width(far: f32) -> f32 {
    let exact = f64::from(far) / 16.0;
    if exact <= 0.0 {
        return 0.0;
    }
    let unit = 10.0_f64.powf(exact.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * unit >= exact).unwrap_or(10.0);
    (step * unit) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_have_round_widths() {
        let widths = [16.0, 17.0, 40.0, 100.0, 1.6e-5, 0.0].map(round_width);
        assert_eq!(widths, [1.0, 2.0, 5.0, 10.0, 1e-6, 0.0]);
    }
}
