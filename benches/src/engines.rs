//! The engines that are measured.

use hullfield::Engine;

use crate::report::Report;

/// An engine and what its rows are called.
pub(crate) struct Named {
    pub(crate) name: &'static str,
    pub(crate) engine: Engine,
}

/// The engines that are there, the CPU first; each is described in the report's header.
pub(crate) fn engines(report: &mut Report) -> Vec<Named> {
    let cpu = Engine::cpu();
    report.fact("cpu engine", cpu.reason().into());
    let mut engines = vec![Named { name: "cpu", engine: cpu }];
    match Engine::gpu() {
        Ok(gpu) => {
            let name = gpu.adapter_info().map(|info| info.name.clone()).unwrap_or_default();
            let adapter = hullfield::adapters().into_iter().find(|adapter| adapter.name == name);
            let (kind, driver) =
                adapter.map_or(("unknown", String::new()), |found| (found.kind, found.driver));
            report.fact("gpu engine", gpu.reason().into());
            report.fact("gpu driver", format!("{driver} ({kind})"));
            // A rasteriser on the CPU is no GPU, and its times must not pass for one's.
            engines
                .push(Named { name: if kind == "software" { "software gpu" } else { "gpu" }, engine: gpu });
        }
        Err(error) => report.fact("gpu engine", error.to_string()),
    }
    engines
}
