//! The feature `tracing`: a query is a span; settling in f64 and the creation of a buffer are events in it.
//!
//! A program of its own with one test: `tracing` may leave a span off for good where another thread uses it for the first time
//! while the recorder is being installed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../src/testing.rs"]
mod common;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use hullfield::Engine;
use hullfield::flow::{Connectivity, FieldOptions, Flow, Grid};
use hullfield::navigate::room::{Options, PathOptions, Room};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Records the names of spans, and the field names of events.
#[derive(Debug, Default, Clone)]
struct Recorder {
    last: Arc<AtomicU64>,
    names: Arc<Mutex<Vec<String>>>,
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "hullfield"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.names.lock().unwrap().push(span.metadata().name().to_owned());
        Id::from_u64(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let names = event.metadata().fields().iter().map(|field| field.name().to_owned());
        self.names.lock().unwrap().push(names.collect::<Vec<_>>().join(" "));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[test]
fn queries_are_spans_and_buffers_are_events() {
    let queries = || {
        let engine = common::own_gpu().unwrap_or_else(Engine::cpu);
        let flow = Flow::new(&engine, Grid::new([4, 4, 1], &[], Connectivity::Four.into()).unwrap()).unwrap();
        drop(flow.solve(&[[0, 0].into()], &FieldOptions::default()).unwrap().wait().unwrap());
        let square = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]];
        let room = Room::new(&square, &[] as &[[[f64; 2]; 0]], Options::default()).unwrap();
        room.path([1.0, 1.0], [3.0, 3.0], &PathOptions::default()).unwrap();
    };
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), queries);
    let names = recorder.names.lock().unwrap();
    for span in ["hullfield.flow.solve", "hullfield.room.path"] {
        assert_eq!(names.iter().filter(|name| *name == span).count(), 1, "{span}: {names:?}");
    }
    let buffers = names.iter().filter(|name| name.contains("label") && name.contains("bytes")).count();
    assert_eq!(buffers > 0, common::own_gpu().is_some(), "{names:?}");
}
