//! The flags that choose an engine.

use std::ops::RangeInclusive;

use clap::ValueEnum;
use hullfield::{BackendChoice, Engine, EngineOptions};

use crate::failure::Result;

/// The choice of `--backend`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Choice {
    /// A real GPU where there is one, else the CPU
    Auto,
    /// The best adapter of any kind, software ones too
    Gpu,
    /// The CPU's threads
    Cpu,
}

/// The engine, and its limit of memory.
#[derive(Debug, clap::Args)]
pub(crate) struct EngineArguments {
    /// Where the work runs
    #[arg(long, value_enum, default_value = "auto")]
    backend: Choice,
    /// Take no more memory of the device than this, staging included: bytes, or with K, M, G or T, powers of 1024. A
    /// job that needs more is an error. The CPU engine ignores it, but for flow over a .npy, GeoTIFF or raw map: where that needs more in one piece,
    /// it is solved in tiles, on either engine, and the tiles take no more of the host's memory than this too
    #[arg(long, value_name = "BYTES", allow_hyphen_values = true, value_parser = byte_count)]
    memory_limit: Option<u64>,
}

impl EngineArguments {
    /// The most bytes that the work may take.
    pub(crate) fn memory_limit(&self) -> Option<u64> {
        self.memory_limit
    }

    /// Opens the engine.
    pub(crate) fn open(&self) -> Result<Engine> {
        let backend = match self.backend {
            Choice::Auto => BackendChoice::Auto,
            Choice::Gpu => BackendChoice::Gpu,
            Choice::Cpu => BackendChoice::Cpu,
        };
        let options = EngineOptions { backend, memory_limit: self.memory_limit, ..Default::default() };
        Ok(Engine::new(&options)?)
    }
}

/// Reads a whole number within bounds.
pub(crate) fn whole(text: &str, bounds: RangeInclusive<u64>) -> Result<u64, String> {
    let (low, high) = (bounds.start(), bounds.end());
    text.parse()
        .ok()
        .filter(|number| bounds.contains(number))
        .ok_or_else(|| format!("\"{text}\" is not a whole number from {low} to {high}"))
}

/// [`whole`] in 32 bits.
pub(crate) fn whole_u32(text: &str, bounds: RangeInclusive<u32>) -> Result<u32, String> {
    let bounds = u64::from(*bounds.start())..=u64::from(*bounds.end());
    whole(text, bounds).map(|number| number as u32)
}

/// Reads `512M` as a number of bytes.
fn byte_count(text: &str) -> Result<u64, String> {
    let invalid = || {
        format!(
            "\"{text}\" is no number of bytes: a whole number, alone or with K, M, G or T (powers of 1024)"
        )
    };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let power = match unit.to_ascii_lowercase().as_str() {
        "" => 0,
        "k" | "ki" | "kib" => 1,
        "m" | "mi" | "mib" => 2,
        "g" | "gi" | "gib" => 3,
        "t" | "ti" | "tib" => 4,
        _ => return Err(invalid()),
    };
    if number.is_empty() {
        return Err(invalid());
    }
    let too_large = || format!("{text} is more than {} bytes", u64::MAX);
    let number: u64 = number.parse().map_err(|_| too_large())?;
    number.checked_mul(1 << (10 * power)).ok_or_else(too_large)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_counts_have_units() {
        let cases = [
            ("0", 0),
            ("4096", 4096),
            ("1K", 1024),
            ("512M", 512 << 20),
            ("2g", 2 << 30),
            ("3TiB", 3 << 40),
            ("16Mi", 16 << 20),
        ];
        for (text, bytes) in cases {
            assert_eq!(byte_count(text), Ok(bytes));
        }
        for bad in ["", "M", "-1", "1.5G", "12X", "1 M", "512MM", "0x10", "+1"] {
            let message = byte_count(bad).unwrap_err();
            assert!(
                message.contains("is no number of bytes: a whole number, alone or with K, M, G or T"),
                "{message}"
            );
        }
        for large in ["99999999999999999999", "17179869184G"] {
            assert_eq!(
                byte_count(large).unwrap_err(),
                format!("{large} is more than 18446744073709551615 bytes")
            );
        }
    }
}
