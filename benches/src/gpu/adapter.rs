//! Which adapter the kit runs on, and what the report says about it.

use hullfield::AdapterReport;

use crate::report::Report;

/// What the choice depends on.
#[derive(Debug, Clone, PartialEq)]
struct Candidate<'a> {
    name: &'a str,
    is_software: bool,
}

/// Chooses among the adapters of this machine, best first: the first of hardware, or the first whose name contains `wanted`. A
/// software driver is taken only where `may_be_software`.
///
/// # Errors
/// Why there is none, and what to do: one sentence.
pub(crate) fn choose<'a>(
    adapters: &'a [AdapterReport],
    wanted: Option<&str>,
    may_be_software: bool,
) -> Result<&'a AdapterReport, String> {
    let candidates: Vec<Candidate<'_>> = adapters
        .iter()
        .map(|adapter| Candidate { name: &adapter.name, is_software: adapter.kind == "software" })
        .collect();
    let at = choose_from(&candidates, wanted, may_be_software)?;
    adapters.get(at).ok_or_else(|| "the adapters changed".into())
}

fn choose_from(
    candidates: &[Candidate<'_>],
    wanted: Option<&str>,
    may_be_software: bool,
) -> Result<usize, String> {
    let names = candidates.iter().map(|candidate| candidate.name).collect::<Vec<_>>().join(", ");
    if candidates.is_empty() {
        return Err("no GPU adapter was found: install the GPU's driver and, on Linux, the Vulkan loader (libvulkan.so.1), or name the \
             driver's manifest in VK_DRIVER_FILES"
            .into());
    }
    let is_named = |candidate: &&(usize, &Candidate<'_>)| {
        wanted.is_none_or(|wanted| candidate.1.name.to_lowercase().contains(&wanted.to_lowercase()))
    };
    let all: Vec<(usize, &Candidate<'_>)> = candidates.iter().enumerate().collect();
    let named: Vec<&(usize, &Candidate<'_>)> = all.iter().filter(is_named).collect();
    let Some(first) = named.first() else {
        return Err(format!(
            "--adapter {}: no adapter has this in its name, there are: {names}",
            wanted.unwrap_or("")
        ));
    };
    let hardware = named.iter().find(|(_, candidate)| !candidate.is_software);
    match hardware {
        Some((at, _)) => Ok(*at),
        None if may_be_software => Ok(first.0),
        None => Err(format!(
            "only a software driver was found ({}), whose times say nothing about a GPU: --software runs on it all the same",
            named.iter().map(|(_, candidate)| candidate.name).collect::<Vec<_>>().join(", ")
        )),
    }
}

/// Adds what is known about an adapter to the report's header.
pub(crate) fn describe(report: &mut Report, adapter: &AdapterReport) {
    report.fact("adapter", adapter.name.clone());
    report.fact("adapter kind", format!("{}, {}", adapter.kind, adapter.backend));
    report.fact("driver", adapter.driver.clone());
    report.fact(
        "limits",
        format!(
            "buffer {} bytes, binding {} bytes, {} storage buffers a kernel, {} bytes of workgroup memory, {} invocations a workgroup",
            adapter.max_buffer_bytes,
            adapter.max_binding_bytes,
            adapter.max_storage_buffers,
            adapter.max_workgroup_bytes,
            adapter.max_invocations
        ),
    );
    let has = |is_there: bool| if is_there { "yes" } else { "no" };
    report.fact(
        "features",
        format!("subgroups {}, timestamps {}", has(adapter.subgroups), has(adapter.timestamps)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    const LLVMPIPE: Candidate<'_> = Candidate { name: "llvmpipe (LLVM 15)", is_software: true };
    const CARD: Candidate<'_> = Candidate { name: "NVIDIA H200", is_software: false };
    const CHIP: Candidate<'_> = Candidate { name: "Intel Iris", is_software: false };

    #[test]
    fn hardware_comes_first() {
        assert_eq!(choose_from(&[LLVMPIPE, CARD], None, false), Ok(1));
        assert_eq!(choose_from(&[CARD, CHIP, LLVMPIPE], None, true), Ok(0));
        assert_eq!(choose_from(&[CARD, CHIP, LLVMPIPE], Some("iris"), false), Ok(1));
        assert_eq!(choose_from(&[CARD, LLVMPIPE], Some("LLVMPIPE"), true), Ok(1));
        assert_eq!(choose_from(&[LLVMPIPE], None, true), Ok(0));
    }

    #[test]
    fn what_is_missing_is_one_sentence() {
        let none = choose_from(&[], None, true).unwrap_err();
        assert!(none.contains("no GPU adapter") && none.contains("libvulkan.so.1"), "{none}");
        let software = choose_from(&[LLVMPIPE], None, false).unwrap_err();
        assert!(software.contains("--software") && software.contains("llvmpipe"), "{software}");
        let unknown = choose_from(&[CARD, LLVMPIPE], Some("radeon"), true).unwrap_err();
        assert!(unknown.contains("radeon") && unknown.contains("NVIDIA H200, llvmpipe"), "{unknown}");
        assert!([none, software, unknown].iter().all(|text| !text.contains('\n')));
    }
}
