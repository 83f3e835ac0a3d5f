//! The machine and the build that the times are measured on.

/// Seed of every scene.
pub(crate) const SEED: u64 = 20_260;

/// The names and values of the report's header, in order. `job` is the subcommand.
pub(crate) fn header(job: &'static str, quick: bool) -> Vec<(&'static str, String)> {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let profile = if cfg!(debug_assertions) { "debug: these times mean nothing" } else { "release" };
    let mut header = vec![
        ("program", format!("hullfield-bench {}", env!("CARGO_PKG_VERSION"))),
        ("job", job.into()),
        ("command", command(&arguments(), std::env::var_os("HULLFIELD_CORPUS").is_some())),
        ("date", date()),
        ("commit", commit()),
        ("cpu", cpu()),
        ("cores", cores.to_string()),
        ("instructions", instructions()),
        ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
        ("compiler", env!("HULLFIELD_RUSTC").into()),
        ("profile", format!("{profile}, opt-level {}", env!("HULLFIELD_OPT_LEVEL"))),
        ("threads", rayon::current_num_threads().to_string()),
        ("seed", SEED.to_string()),
        ("peer", crate::peer::PARRY.into()),
    ];
    if quick {
        header.push(("quick", "small scenes, few repetitions: these times mean little".into()));
    }
    header
}

/// A word of a command line, with quotes if a shell needs them.
pub(crate) fn shell_word(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_=./%:,".contains(c));
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

/// The arguments of this process.
fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Options that only say where the report goes.
const OUTPUTS: [&str; 2] = ["--json", "--html"];

/// The command line, without what does not change the figures. The corpus is at another place on each machine.
fn command(arguments: &[String], has_corpus: bool) -> String {
    let mut words =
        vec![if has_corpus { "HULLFIELD_CORPUS=… hullfield-bench" } else { "hullfield-bench" }.to_owned()];
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if OUTPUTS.contains(&argument.as_str()) {
            arguments.next();
        } else if !OUTPUTS.iter().any(|output| argument.starts_with(&format!("{output}="))) {
            words.push(shell_word(argument));
        }
    }
    words.join(" ")
}

fn cpu() -> String {
    let linux = || {
        let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
        let value = |name: &str| {
            text.lines()
                .filter_map(|line| line.split_once(':'))
                .find(|(key, _)| key.trim() == name)
                .map(|(_, value)| value.trim())
        };
        let name = value("model name")?;
        // Virtual machines often leave the number out of the name.
        Some(match (value("cpu family"), value("model")) {
            (Some(family), Some(model)) => format!("{name} (family {family}, model {model})"),
            _ => name.to_owned(),
        })
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

/// The commit that the program was built from: what `cargo xtask gpu` wrote beside it, or that of the checkout it runs in.
pub(crate) fn commit() -> String {
    let beside = || {
        let program = std::env::current_exe().ok()?;
        std::fs::read_to_string(program.parent()?.join("commit")).ok()
    };
    let of_checkout = || {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut git = std::process::Command::new("git");
        let output =
            git.arg("-C").arg(root).args(["describe", "--always", "--dirty", "--abbrev=12"]).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let found = beside().or_else(of_checkout).map(|text| text.trim().to_owned());
    found.filter(|text| !text.is_empty()).unwrap_or_else(|| "unknown".into())
}

/// A cache of the processor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cache {
    /// Such as `L2`.
    pub(crate) name: String,
    pub(crate) bytes: u64,
}

/// The caches that hold data, the smallest first, where the system tells them.
pub(crate) fn caches() -> Vec<Cache> {
    let read = |index: usize, file: &str| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{file}");
        Some(std::fs::read_to_string(path).ok()?.trim().to_owned())
    };
    let cache = |index: usize| {
        let (kind, level, size) = (read(index, "type")?, read(index, "level")?, read(index, "size")?);
        (kind != "Instruction").then_some(())?;
        Some(Cache { name: format!("L{level}"), bytes: bytes_of(&size)? })
    };
    let mut caches: Vec<Cache> = (0..8).filter_map(cache).collect();
    caches.sort_by_key(|cache| cache.bytes);
    caches
}

/// A size such as `32K` or `8M`.
fn bytes_of(text: &str) -> Option<u64> {
    let (number, factor) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1024),
        b'M' => (&text[..text.len() - 1], 1024 * 1024),
        _ => (text, 1),
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Bytes of memory that programs can have now, if the system reports it.
pub(crate) fn free_memory_bytes() -> Option<u64> {
    memory_line("MemAvailable:")
}

/// Bytes of memory of the machine, if the system reports it.
pub(crate) fn memory_bytes() -> Option<u64> {
    memory_line("MemTotal:")
}

fn memory_line(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_caches() {
        assert_eq!(
            ["48K", "2M", "512", "", "K", "12G"].map(bytes_of),
            [Some(49_152), Some(2_097_152), Some(512), None, None, None]
        );
        assert!(caches().windows(2).all(|two| two[0].bytes <= two[1].bytes));
    }

    #[test]
    fn a_command_line_is_kept_without_its_outputs() {
        let shown = |arguments: &[&str], has_corpus| {
            command(&arguments.iter().map(ToString::to_string).collect::<Vec<_>>(), has_corpus)
        };
        assert_eq!(
            shown(&["gpu", "--json", "a.json", "--software", "--html=b.html", "--reduced"], false),
            "hullfield-bench gpu --software --reduced"
        );
        assert_eq!(shown(&["all", "--only", ""], false), "hullfield-bench all --only ''");
        assert_eq!(shown(&["tables", "--json"], true), "HULLFIELD_CORPUS=… hullfield-bench tables");
        assert_eq!(
            shown(&["collide", "--regime", "16 hulls,it's", "--tolerance=3%"], false),
            r"hullfield-bench collide --regime '16 hulls,it'\''s' --tolerance=3%"
        );
    }

    #[test]
    fn dates() {
        assert_eq!(of_seconds(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(of_seconds(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(of_seconds(1_709_251_199), "2024-02-29 23:59:59 UTC");
        assert_eq!(of_seconds(4_102_444_800), "2100-01-01 00:00:00 UTC");
    }
}
