//! Values as they come back from JSON, which people read, and from postcard, which holds bits.

use std::fmt::Debug;

use ::serde::Serialize;
use ::serde::de::DeserializeOwned;
use hullfield_oracle::random::Random;

/// A value as it comes back from either format.
pub(crate) fn there_and_back<T: Serialize + DeserializeOwned>(value: &T) -> [T; 2] {
    let text = serde_json::to_string(value).unwrap();
    let bytes = postcard::to_stdvec(value).unwrap();
    [serde_json::from_str(&text).unwrap(), postcard::from_bytes(&bytes).unwrap()]
}

/// Asserts that a value comes back as it was.
#[track_caller]
pub(crate) fn comes_back<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    for back in there_and_back(value) {
        assert_eq!(back, *value);
    }
}

/// The error of a text that must be refused.
#[track_caller]
pub(crate) fn refused<T: DeserializeOwned>(text: &str) -> String {
    match serde_json::from_str::<T>(text) {
        Ok(_) => panic!("taken: {text}"),
        Err(error) => error.to_string(),
    }
}

/// Asserts of each text that it is refused, and that the error says this.
#[track_caller]
pub(crate) fn all_refused<T: DeserializeOwned>(cases: &[(&str, &str)]) {
    for (text, part) in cases {
        let error = refused::<T>(text);
        assert!(error.contains(part), "{text}: {error}");
    }
}

/// Asserts that what is read of damaged bytes is an error, or a value that can be written and read again: never a panic.
pub(crate) fn damage_is_survived<T: Serialize + DeserializeOwned>(value: &T, seed: u64) {
    let bytes = postcard::to_stdvec(value).unwrap();
    let mut random = Random::new(seed);
    for end in (0..bytes.len()).step_by(1 + bytes.len() / 200) {
        assert!(postcard::from_bytes::<T>(&bytes[..end]).is_err(), "{end} of {} bytes", bytes.len());
    }
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] = random.bits() as u8;
        }
        if let Ok(other) = postcard::from_bytes::<T>(&damaged) {
            let again = postcard::to_stdvec(&other).unwrap();
            assert!(postcard::from_bytes::<T>(&again).is_ok(), "{damaged:?}");
        }
    }
}
