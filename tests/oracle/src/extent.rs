//! The extent of a long test.

/// `full` if `HULLFIELD_LONG` is 1, which `cargo xtask test --all` sets; else `short`, with fewer samples or cases of the same
/// kind.
pub fn extent<T>(short: T, full: T) -> T {
    if std::env::var("HULLFIELD_LONG").is_ok_and(|value| value == "1") { full } else { short }
}
