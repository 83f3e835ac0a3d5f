//! The engines that are measured.

use hullfield::Engine;

use crate::report::Report;

/// An engine and its name in the tables.
pub(crate) struct NamedEngine {
    pub(crate) name: &'static str,
    pub(crate) engine: Engine,
}

/// The engines of this machine, the CPU first. Each is described in the report's header.
pub(crate) fn engines(report: &mut Report) -> Vec<NamedEngine> {
    let cpu = Engine::cpu();
    report.fact("cpu engine", cpu.reason().into());
    let mut engines = vec![NamedEngine { name: "cpu", engine: cpu }];
    match Engine::gpu() {
        Ok(gpu) => {
            let name = gpu.adapter_info().map(|info| info.name.clone()).unwrap_or_default();
            let adapter = hullfield::adapters().into_iter().find(|adapter| adapter.name == name);
            let (kind, driver) =
                adapter.map_or(("unknown", String::new()), |found| (found.kind, found.driver));
            report.fact("gpu engine", gpu.reason().into());
            report.fact("gpu driver", format!("{driver} ({kind})"));
            // A software adapter runs on the CPU: its times must not pass for a GPU's.
            engines.push(NamedEngine {
                name: if kind == "software" { "software gpu" } else { "gpu" },
                engine: gpu,
            });
        }
        Err(error) => report.fact("gpu engine", error.to_string()),
    }
    engines
}
