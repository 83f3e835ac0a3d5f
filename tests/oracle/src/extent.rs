//! How much of a long test runs.

/// `full` where `HULLFIELD_LONG` is 1, as `cargo xtask test --all` sets it; else `short`: fewer draws of the same seed, or
/// fewer cases of the same kind.
pub fn extent<T>(short: T, full: T) -> T {
    if std::env::var("HULLFIELD_LONG").is_ok_and(|value| value == "1") { full } else { short }
}
