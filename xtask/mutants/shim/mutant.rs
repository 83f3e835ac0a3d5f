//! The mutants of this copy of the library: which of them is active, and which are reached. `cargo xtask mutants` adds this file.

#![allow(dead_code, deprecated, missing_docs)]

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The environment has not been read.
const UNREAD: u32 = u32::MAX;

/// No mutant is active, and those that are reached are written down.
const TRACING: u32 = u32::MAX - 1;

/// No mutant has this number.
const NONE: u32 = u32::MAX - 2;

/// The number of the active mutant, or one of the above.
static ACTIVE: AtomicU32 = AtomicU32::new(UNREAD);

/// Whether each mutant has been written down.
static REACHED: [AtomicBool; COUNT] = [const { AtomicBool::new(false) }; COUNT];

/// Whether `HULLFIELD_MUTANT` names this mutant. Every place where a mutant is compiled is a warning of the compiler.
#[deprecated]
#[inline(always)]
pub(crate) fn is_active(mutant: u32) -> bool {
    let active = ACTIVE.load(Ordering::Relaxed);
    active == mutant || (active >= TRACING && is_active_slow(mutant))
}

#[cold]
#[inline(never)]
fn is_active_slow(mutant: u32) -> bool {
    if ACTIVE.load(Ordering::Relaxed) == UNREAD {
        ACTIVE.store(read(), Ordering::Relaxed);
    }
    let active = ACTIVE.load(Ordering::Relaxed);
    if active == TRACING
        && REACHED.get(mutant as usize).is_some_and(|reached| !reached.swap(true, Ordering::Relaxed))
    {
        write(&format!("rust {mutant}\n"));
    }
    active == mutant
}

/// The number of the active mutant.
fn read() -> u32 {
    if std::env::var_os("HULLFIELD_MUTANT_TRACE").is_some() {
        return TRACING;
    }
    std::env::var("HULLFIELD_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(NONE)
}

/// Appends a line to the trace, which other programs may write to at the same time.
fn write(line: &str) {
    let Some(path) = std::env::var_os("HULLFIELD_MUTANT_TRACE") else { return };
    if let Ok(mut file) = std::fs::OpenOptions::new().append(true).create(true).open(path) {
        let _ = file.write_all(line.as_bytes());
    }
}

/// A kernel's WGSL, with the text of one file replaced where `HULLFIELD_MUTANT_SHADER` is `FILE=PATH OF THE NEW TEXT`.
pub(crate) fn wgsl(mut composed: String) -> String {
    if std::env::var_os("HULLFIELD_MUTANT_TRACE").is_some() {
        for (file, text) in FILES {
            if composed.contains(text) {
                write(&format!("wgsl {file}\n"));
            }
        }
    }
    if let Ok(replaced) = std::env::var("HULLFIELD_MUTANT_SHADER")
        && let Some((file, path)) = replaced.split_once('=')
        && let Some((_, text)) = FILES.iter().find(|(name, _)| *name == file)
        && let Ok(mutated) = std::fs::read_to_string(path)
    {
        composed = composed.replace(text, &mutated);
    }
    composed
}
