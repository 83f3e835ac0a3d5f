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

/// The peak memory of this process in bytes, if the system reports it.
pub(crate) fn peak_memory_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
