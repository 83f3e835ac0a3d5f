//! `hullfield devices`.

use std::time::Instant;

use hullfield::Engine;
use serde_json::json;

use super::{common_json, extend, print_json};
use crate::failure::Result;
use crate::output::to_stdout;
use crate::table::Table;

/// The arguments of `devices`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = concat!(
    "The list is sorted, best first; an arrow marks what auto takes, and the last column says why, or why not. auto takes a real \
    GPU, never a driver that runs on the CPU; --backend gpu takes those too. WGPU_BACKEND=vulkan looks at Vulkan adapters only (likewise metal, dx12). VK_DRIVER_FILES chooses among Vulkan drivers.\n\n\
    \"error: XDG_RUNTIME_DIR is invalid or not set in the environment.\" on stderr, once or more, is harmless. It comes from Mesa's \
    Vulkan layer for choosing devices, which looks for a Wayland display whenever adapters are opened, though nothing is drawn on \
    one; on servers and in containers there is none. NODEVICE_SELECT=1 in the environment turns the layer off, any folder as \
    XDG_RUNTIME_DIR keeps it quiet.",
    answer_help!()
))]
pub(crate) struct Arguments {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let started = Instant::now();
    let found = adapter_rows();
    let auto = Engine::auto()?;
    if arguments.json {
        let adapters: Vec<_> = found.into_iter().map(|adapter| adapter.json).collect();
        let mut value = common_json(Some(&auto), started, [], [("adapters", adapters.len() as u64)]);
        extend(&mut value, json!({ "adapters": adapters }));
        return print_json(&value);
    }
    let headings = [
        "auto",
        "name",
        "kind",
        "backend",
        "driver",
        "buffer MiB",
        "binding MiB",
        "storage buffers",
        "workgroup KiB",
        "invocations",
        "subgroups",
        "timestamps",
        "why",
    ];
    let mut table = Table::new(&headings);
    let is_empty = found.is_empty();
    for adapter in found {
        table.row(adapter.cells);
    }
    to_stdout(|writer| {
        if is_empty {
            writeln!(writer, "No GPU adapter was found; everything runs on the CPU.")?;
        } else {
            table.write(writer)?;
        }
        writeln!(writer, "\nauto takes {}", auto.reason())
    })
}

/// An adapter as JSON and as a row of the table.
struct AdapterRow {
    json: serde_json::Value,
    cells: Vec<String>,
}

/// A build without the GPU engine lists no adapters.
#[cfg(not(feature = "gpu"))]
fn adapter_rows() -> Vec<AdapterRow> {
    Vec::new()
}

#[cfg(feature = "gpu")]
fn adapter_rows() -> Vec<AdapterRow> {
    let row =
        |adapter: &hullfield::AdapterReport| AdapterRow { json: json_of(adapter), cells: cells_of(adapter) };
    hullfield::adapters().iter().map(row).collect()
}

#[cfg(feature = "gpu")]
fn json_of(adapter: &hullfield::AdapterReport) -> serde_json::Value {
    json!({
        "name": adapter.name,
        "kind": adapter.kind,
        "backend": adapter.backend,
        "driver": adapter.driver,
        "limits": {
            "buffer_bytes": adapter.max_buffer_bytes,
            "binding_bytes": adapter.max_binding_bytes,
            "storage_buffers": adapter.max_storage_buffers,
            "workgroup_bytes": adapter.max_workgroup_bytes,
            "invocations": adapter.max_invocations,
        },
        "subgroups": adapter.subgroups,
        "timestamps": adapter.timestamps,
        "auto": adapter.is_auto,
        "why": adapter.why,
    })
}

#[cfg(feature = "gpu")]
fn cells_of(adapter: &hullfield::AdapterReport) -> Vec<String> {
    let yes_or_no = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    vec![
        if adapter.is_auto { "→" } else { "" }.to_owned(),
        adapter.name.clone(),
        adapter.kind.to_owned(),
        adapter.backend.clone(),
        adapter.driver.clone(),
        (adapter.max_buffer_bytes >> 20).to_string(),
        (adapter.max_binding_bytes >> 20).to_string(),
        adapter.max_storage_buffers.to_string(),
        (adapter.max_workgroup_bytes >> 10).to_string(),
        adapter.max_invocations.to_string(),
        yes_or_no(adapter.subgroups),
        yes_or_no(adapter.timestamps),
        adapter.why.clone(),
    ]
}
