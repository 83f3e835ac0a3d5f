//! What a real GPU's compiler makes of every kernel, on any machine: registers, scratch memory, waves, code. The compiler is ACO
//! of Mesa's Vulkan driver RADV, which can open a device of AMD hardware that is not there (`RADV_FORCE_FAMILY`).

mod model;
mod radv;
mod spirv;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use hullfield::inspect::{KernelSource, kernels};
use serde_json::{Value, json};

use crate::machine;
use crate::report::{self, Cell, Report, Table, say};
use crate::shaders::model::Loop;
use crate::shaders::spirv::Checks;

/// Hardware and the subgroup size to compile for: RDNA 2 with either size, and GCN 5.
const TARGETS: [&str; 3] = ["navi21:32", "navi21:64", "vega10:64"];

/// The columns, and the names of RADV's statistics. RADV counts the scratch memory of a subgroup, the column that of an invocation.
const COLUMNS: [(&str, &str); 8] = [
    ("vgprs", "VGPRs"),
    ("sgprs", "SGPRs"),
    ("spilled_vgprs", "Spilled VGPRs"),
    ("scratch_bytes", SCRATCH),
    ("workgroup_bytes", "LDS size"),
    ("waves", "Subgroups per SIMD"),
    ("code_bytes", "Code size"),
    ("instructions", "Instructions"),
];

const SCRATCH: &str = "Scratch size";

/// Code above this size does not fit into the instruction cache of RDNA 2.
const INSTRUCTION_CACHE: f64 = 32768.0;

/// Where the loader looks for drivers.
const MANIFESTS: [&str; 2] = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

#[derive(Debug, Clone, Args)]
pub(crate) struct Options {
    /// Writes the table as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Writes the table as one HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// A hardware family as RADV names it, and the subgroup size. May be given several times.
    #[arg(long, value_name = "FAMILY:SIZE", default_values = TARGETS)]
    target: Vec<Target>,
    /// Compiles only the kernels whose names contain NAME, such as `collide.depth`.
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// The manifest of RADV [default: radeon_icd*.json in the folders of the Vulkan loader].
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// The checks that naga adds: `all`, as by default; `untrusted`, as with the feature trusted-shaders; `none`, the most that it could
    /// leave out.
    #[arg(long, value_name = "CHECKS", value_enum, default_value_t = ChecksOf::All)]
    checks: ChecksOf,
    /// Compiles for the one target in this process, and prints the rows as JSON: what the command runs for each target.
    #[arg(long, hide = true)]
    child: bool,
}

/// Which checks each kernel has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ChecksOf {
    All,
    Untrusted,
    None,
}

impl ChecksOf {
    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Untrusted => "untrusted",
            Self::None => "none",
        }
    }

    fn of(self, kernel: &KernelSource) -> Checks {
        match self {
            Self::All => Checks { loops: true, indices: true },
            Self::Untrusted => {
                Checks { loops: !kernel.has_trusted_loops, indices: !kernel.has_trusted_indices }
            }
            Self::None => Checks { loops: false, indices: false },
        }
    }
}

/// A hardware family and a subgroup size.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Target {
    family: String,
    subgroup_size: u32,
}

impl std::str::FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (family, size) = text.split_once(':').ok_or("it must be FAMILY:SIZE, such as navi21:32")?;
        match size.parse() {
            Ok(subgroup_size @ (32 | 64)) => Ok(Self { family: family.into(), subgroup_size }),
            _ => Err(format!("the subgroup size is {size:?}; it must be 32 or 64")),
        }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.family, self.subgroup_size)
    }
}

/// A compiled kernel.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    kernel: String,
    /// By the names of RADV.
    statistics: BTreeMap<String, f64>,
    loops: Vec<Loop>,
}

/// Runs the command.
///
/// # Errors
/// If no kernel's name contains that of `--only`, if RADV is not installed, or if it does not know a target's family.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let selected = selected(options.only.as_deref())?;
    if options.child {
        let target = options.target.first().ok_or("--child needs a target")?;
        return compile(target, &selected, options.checks);
    }
    let manifest = match &options.manifest {
        Some(manifest) if !manifest.is_file() => {
            return Err(format!("--manifest {}: there is no such file", manifest.display()));
        }
        Some(manifest) => manifest.clone(),
        None => find_manifest().ok_or_else(missing)?,
    };
    // The rest of the header is about times.
    let mut header = machine::header("shaders", false);
    header.retain(|(name, _)| ["program", "job", "command", "system"].contains(name));
    let mut report = Report::new(header);
    report.print_header();
    report.fact("driver", manifest.display().to_string());
    report.fact("checks", options.checks.name().to_owned());
    for target in &options.target {
        let rows = ask(target, &manifest, options)?;
        report.table(table(target, &rows));
        if target.subgroup_size == model::SUBGROUP {
            let loops: Vec<_> = rows.iter().map(|row| (row.kernel.as_str(), &row.loops[..])).collect();
            if let Some(modelled) = model::table(&target.to_string(), &loops) {
                report.table(modelled);
            }
        }
    }
    for (path, text) in [(&options.json, report.to_json()), (&options.html, report.to_html())] {
        if let Some(path) = path {
            report::write(path, &text)?;
        }
    }
    Ok(())
}

fn selected(only: Option<&str>) -> Result<Vec<KernelSource>, String> {
    let mut all = kernels();
    all.retain(|kernel| only.is_none_or(|part| kernel.label.contains(part)));
    if all.is_empty() {
        let names: Vec<&str> = kernels().iter().map(|kernel| kernel.label).collect();
        return Err(format!(
            "--only {}: no kernel has it in its name. There are {}",
            only.unwrap_or(""),
            names.join(", ")
        ));
    }
    Ok(all)
}

fn missing() -> String {
    "no RADV: there is no radeon_icd*.json in /usr/share/vulkan/icd.d or /etc/vulkan/icd.d. Install Mesa's Vulkan drivers \
     (Debian, Ubuntu: mesa-vulkan-drivers), or name the manifest with --manifest"
        .into()
}

fn find_manifest() -> Option<PathBuf> {
    let files = MANIFESTS.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let mut paths: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.sort();
    paths.into_iter().find(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("radeon_icd") && name.ends_with(".json")
    })
}

/// Asks a child process for the rows of a target: the driver reads its environment only once.
fn ask(target: &Target, manifest: &Path, options: &Options) -> Result<Vec<Row>, String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let mut command = Command::new(program);
    command
        .env("RADV_FORCE_FAMILY", &target.family)
        .env("VK_DRIVER_FILES", manifest)
        .env("VK_ICD_FILENAMES", manifest)
        // The cache would leave statistics out.
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        .args(["shaders", "--child", "--target", &target.to_string(), "--checks", options.checks.name()]);
    if let Some(only) = &options.only {
        command.args(["--only", only]);
    }
    let output = command.output().map_err(|error| format!("{target}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let last = said.lines().rev().find(|line| !line.is_empty()).unwrap_or("no message");
        return Err(format!("RADV compiled nothing for {target} ({}): {last}", output.status));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| row(line).ok_or_else(|| format!("{target}: {line}")))
        .collect()
}

/// Reads a row that a child has printed.
fn row(line: &str) -> Option<Row> {
    let value: Value = serde_json::from_str(line).ok()?;
    let statistics = value["statistics"].as_object()?;
    let statistics = statistics.iter().map(|(name, value)| Some((name.clone(), value.as_f64()?)));
    let loops = value["loops"]
        .as_array()?
        .iter()
        .map(|found| Some(Loop { depth: found[0].as_u64()? as usize, slots: found[1].as_u64()? }));
    Some(Row {
        kernel: value["kernel"].as_str()?.to_owned(),
        statistics: statistics.collect::<Option<_>>()?,
        loops: loops.collect::<Option<_>>()?,
    })
}

/// Compiles the kernels and prints a line of JSON for each.
fn compile(target: &Target, selected: &[KernelSource], checks: ChecksOf) -> Result<(), String> {
    let compiler = radv::Compiler::open(target.subgroup_size)?;
    for kernel in selected {
        // RADV has no device without subgroup operations, so both forms compile.
        let name =
            if kernel.has_subgroups { format!("{} (subgroups)", kernel.label) } else { kernel.label.into() };
        let named = |error| format!("{name}: {error}");
        let words = spirv::compile(&kernel.wgsl, checks.of(kernel), kernel.has_subgroups).map_err(named)?;
        let compiled = compiler.compile(kernel, &words).map_err(named)?;
        let loops = model::loops(&compiled.assembly);
        let loops: Vec<_> = loops.iter().map(|found| json!([found.depth, found.slots])).collect();
        let row = json!({ "kernel": name, "statistics": compiled.statistics, "loops": loops });
        say(format_args!("{row}\n"));
    }
    Ok(())
}

fn table(target: &Target, rows: &[Row]) -> Table {
    let columns: Vec<&str> =
        ["kernel", "target"].into_iter().chain(COLUMNS.map(|(column, _)| column)).collect();
    let title =
        format!("Kernels compiled by RADV for {}, subgroups of {}", target.family, target.subgroup_size);
    let mut table = Table::new("shaders", title, &columns);
    let value = |statistics: &BTreeMap<String, f64>, name: &str| {
        let value = statistics.get(name).copied()?;
        Some(if name == SCRATCH { value / f64::from(target.subgroup_size) } else { value })
    };
    for Row { kernel, statistics, .. } in rows {
        let cells = COLUMNS
            .map(|(_, name)| value(statistics, name).map_or(Cell::Empty, |value| Cell::Count(value as u64)));
        table.row([Cell::from(kernel.as_str()), Cell::from(target.to_string())].into_iter().chain(cells));
    }
    let names = |is: &dyn Fn(&BTreeMap<String, f64>) -> bool| -> Vec<&str> {
        rows.iter().filter(|row| is(&row.statistics)).map(|row| row.kernel.as_str()).collect()
    };
    table.note("scratch_bytes is of an invocation; waves are subgroups that run at once on a SIMD");
    for (what, found) in [
        (
            "with scratch memory",
            names(&|statistics| statistics.get(SCRATCH).is_some_and(|&bytes| bytes > 0.0)),
        ),
        (
            "of more than 32 KiB of code",
            names(&|statistics| statistics.get("Code size").is_some_and(|&bytes| bytes > INSTRUCTION_CACHE)),
        ),
    ] {
        table.note(format!(
            "{} {what}: {}",
            found.len(),
            if found.is_empty() { "none".into() } else { found.join(", ") }
        ));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_family_and_a_size() {
        let found: Target = "navi21:32".parse().unwrap();
        assert_eq!(found, Target { family: "navi21".into(), subgroup_size: 32 });
        assert_eq!(found.to_string(), "navi21:32");
        for (text, part) in [("navi21", "FAMILY:SIZE"), ("navi21:16", "32 or 64"), ("navi21:", "32 or 64")] {
            assert!(text.parse::<Target>().unwrap_err().contains(part), "{text}");
        }
    }

    #[test]
    fn kernels_are_selected_by_a_part_of_their_names() {
        let found = selected(Some("collide.")).unwrap();
        assert!(found.iter().all(|kernel| kernel.label.contains("collide.")) && found.len() > 10);
        let error = selected(Some("no such")).unwrap_err();
        assert!(error.contains("--only no such") && error.contains("hullfield."), "{error}");
    }

    #[test]
    fn scratch_memory_is_of_an_invocation() {
        let line = r#"{"kernel":"hullfield.a","statistics":{"Scratch size":6400.0,"Code size":40000.0},"loops":[[0,7]]}"#;
        let rows = [row(line).unwrap()];
        let json = {
            let mut report = Report::new(Vec::new());
            report.table(table(&"vega10:64".parse().unwrap(), &rows));
            serde_json::from_str::<Value>(&report.to_json()).unwrap()
        };
        let found = &json["tables"][0]["rows"][0];
        assert_eq!((&found["kernel"], &found["scratch_bytes"]), (&json!("hullfield.a"), &json!(100)));
        assert_eq!(found["vgprs"], Value::Null);
        let notes = json["tables"][0]["notes"].to_string();
        assert!(
            notes.contains("1 with scratch memory: hullfield.a") && notes.contains("1 of more than 32 KiB"),
            "{notes}"
        );
        assert_eq!(row("not a row"), None);
    }
}
