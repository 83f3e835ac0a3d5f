//! What the host has.

/// Bytes of memory that the host has left, where it says so; else more than there can be.
pub(crate) fn available_bytes() -> u64 {
    #[cfg(target_os = "linux")]
    {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let number = |path: &str| read(path)?.trim().parse::<u64>().ok();
        let field = |line: &str| line.split_whitespace().nth(1)?.parse::<u64>().ok();
        let of_host = read("/proc/meminfo")
            .and_then(|text| text.lines().find(|line| line.starts_with("MemAvailable:")).and_then(field))
            .map_or(u64::MAX, |kilobytes| kilobytes.saturating_mul(1024));
        let group = "/sys/fs/cgroup/memory";
        let of_group = match (number(&format!("{group}.max")), number(&format!("{group}.current"))) {
            (Some(most), Some(held)) => most.saturating_sub(held),
            _ => u64::MAX,
        };
        of_host.min(of_group)
    }
    #[cfg(not(target_os = "linux"))]
    {
        u64::MAX
    }
}
