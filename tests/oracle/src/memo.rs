//! What is built from points once for all tests of a program.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Values by the points that they are built from.
///
/// Many tests judge the same scenes, and most of their time went into building the same hulls.
#[derive(Debug)]
pub struct Memo<T>(LazyLock<Mutex<HashMap<Vec<[u32; 3]>, T>>>);

impl<T: Clone> Memo<T> {
    /// No values yet.
    #[allow(clippy::new_without_default, reason = "a static needs a const function")]
    pub const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The value of `points`, bit for bit; `build` makes it the first time.
    pub fn get(&self, points: &[[f32; 3]], build: impl FnOnce() -> T) -> T {
        let key: Vec<[u32; 3]> = points.iter().map(|point| point.map(f32::to_bits)).collect();
        let values = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = values().get(&key) {
            return value.clone();
        }
        // Not under the lock: other threads build theirs meanwhile.
        let value = build();
        values().insert(key, value.clone());
        value
    }
}
