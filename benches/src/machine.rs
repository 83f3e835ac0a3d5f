//! The machine and the build that the times are measured on.

/// Seed of every scene.
pub(crate) const SEED: u64 = 20_260;

/// The names and values of the report's header, in order.
pub(crate) fn header(quick: bool) -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let profile = if cfg!(debug_assertions) { "debug: these times mean nothing" } else { "release" };
    let mut header = vec![
        ("program", format!("hullfield-bench {}", env!("CARGO_PKG_VERSION"))),
        ("cpu", cpu()),
        ("cores", cores.to_string()),
        ("instructions", instructions()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("compiler", env!("HULLFIELD_RUSTC").into()),
        ("profile", format!("{profile}, opt-level {}", env!("HULLFIELD_OPT_LEVEL"))),
        ("threads", rayon::current_num_threads().to_string()),
        ("seed", SEED.to_string()),
        ("peer", "parry3d 0.31.1".into()),
    ];
    if quick {
        header.push(("quick", "small scenes, few repetitions: these times mean little".into()));
    }
    header
}

fn cpu() -> String {
    let linux = || {
        let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let macos = || {
        let output =
            std::process::Command::new("sysctl").args(["-n", "machdep.cpu.brand_string"]).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string()).filter(|name| !name.is_empty())
    };
    linux()
        .or_else(macos)
        .or_else(|| std::env::var("PROCESSOR_IDENTIFIER").ok())
        .unwrap_or_else(|| "unknown".into())
}

/// The vector instructions of the CPU, used or not.
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn instructions() -> String {
    let mut found = Vec::new();
    for (name, is_there) in [
        ("sse4.2", is_x86_feature_detected!("sse4.2")),
        ("avx2", is_x86_feature_detected!("avx2")),
        ("fma", is_x86_feature_detected!("fma")),
        ("avx512f", is_x86_feature_detected!("avx512f")),
    ] {
        if is_there {
            found.push(name);
        }
    }
    found.join(" ")
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64")))]
fn instructions() -> String {
    std::env::consts::ARCH.into()
}

/// The date and the time, UTC.
pub(crate) fn date() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    of_seconds(now.map_or(0, |since| since.as_secs()))
}

/// The date and the time so many seconds after the beginning of 1970. By Howard Hinnant's `civil_from_days`: years begin in
/// March, so that the day that leap years add is their last.
fn of_seconds(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let [hour, minute, second] = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60];
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}

/// The peak memory of this process in bytes, if the system reports it.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(of_seconds(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(of_seconds(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(of_seconds(1_709_251_199), "2024-02-29 23:59:59 UTC");
        assert_eq!(of_seconds(4_102_444_800), "2100-01-01 00:00:00 UTC");
    }
}
