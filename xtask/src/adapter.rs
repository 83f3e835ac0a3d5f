//! Searches for a GPU adapter that the tests can open.
//!
//! It looks where the Vulkan loader looks (its manual, "Driver Discovery on Linux") instead of loading it, so that this
//! program needs neither wgpu nor unsafe code and builds in a second. The tests then run with `HULLFIELD_REQUIRE_GPU=1`, and
//! fail without an adapter.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The result of the search.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Search {
    /// The API is part of the system (Metal, Direct3D 12).
    System(&'static str),
    /// A Vulkan driver whose library, and device if it needs one, exist.
    Driver {
        /// Its manifest.
        manifest: PathBuf,
        /// Whether the driver runs on the CPU.
        software: bool,
    },
    /// No driver, or none for a device of this machine.
    NoDriver {
        /// The manifests that were found.
        seen: Vec<PathBuf>,
    },
    /// The loader's library, `libvulkan.so.1`, is missing.
    NoLoader,
    /// An environment variable names drivers that cannot be used. Installing one would not help.
    Overridden {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: String,
    },
}

impl Search {
    /// Whether tests that need an adapter should find one.
    pub(crate) fn is_adapter(&self) -> bool {
        matches!(self, Self::System(_) | Self::Driver { .. })
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System(api) => write!(f, "{api}, part of the system"),
            Self::Driver { manifest, software } => {
                let kind = if *software { "software Vulkan" } else { "Vulkan" };
                write!(f, "{kind}, {}", manifest.display())
            }
            Self::NoDriver { seen } if seen.is_empty() => write!(f, "none: no Vulkan driver is installed"),
            Self::NoDriver { seen } => {
                write!(
                    f,
                    "none: {} Vulkan drivers are installed, none for a device of this machine",
                    seen.len()
                )
            }
            Self::NoLoader => write!(f, "none: the Vulkan loader, libvulkan.so.1, is not installed"),
            Self::Overridden { variable, value } => {
                write!(f, "none: {variable} is `{value}`, which names no driver")
            }
        }
    }
}

/// Searches this machine.
pub(crate) fn search() -> Search {
    if cfg!(any(target_os = "macos", target_os = "ios")) {
        return Search::System("Metal");
    }
    if cfg!(windows) {
        return Search::System("Direct3D 12");
    }
    search_in(&Machine::this())
}

/// The manifests in the loader's folders and in some others.
pub(crate) fn installed_manifests(more: Vec<PathBuf>) -> Vec<PathBuf> {
    let machine = Machine::this();
    more.iter().chain(&machine.manifest_folders).flat_map(|folder| manifests_at(folder)).collect()
}

/// Checks that the loader can open a manifest's driver, whether or not there is a device.
///
/// # Errors
/// What is missing.
pub(crate) fn check_manifest(manifest: &Path) -> Result<(), String> {
    let machine = Machine::this();
    if !machine.has_library("libvulkan.so.1") {
        return Err(Search::NoLoader.to_string());
    }
    let text = std::fs::read_to_string(manifest).map_err(|error| error.to_string())?;
    let library = library_path(&text).ok_or("it is not a driver's manifest: it has no \"library_path\"")?;
    if has_library(&machine, manifest, library) {
        Ok(())
    } else {
        Err(format!("its library `{library}` does not exist"))
    }
}

/// The paths and variables that the search depends on.
#[derive(Debug, Clone, Default)]
struct Machine {
    /// `VK_DRIVER_FILES`, or its older name `VK_ICD_FILENAMES`.
    override_variable: Option<(&'static str, String)>,
    /// Folders of driver manifests.
    manifest_folders: Vec<PathBuf>,
    /// Folders of shared libraries.
    library_folders: Vec<PathBuf>,
    /// The folder of device nodes.
    device_folder: PathBuf,
}

impl Machine {
    fn this() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let home = |rest: &str| text("HOME").map(|home| format!("{home}/{rest}"));
        let override_variable = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"]
            .into_iter()
            .find_map(|name| text(name).map(|value| (name, value)));
        let mut roots: Vec<String> = Vec::new();
        roots.extend(text("XDG_CONFIG_HOME").or_else(|| home(".config")));
        roots.extend(
            text("XDG_CONFIG_DIRS").unwrap_or_else(|| "/etc/xdg".into()).split(':').map(String::from),
        );
        roots.extend(["/usr/local/etc".into(), "/etc".into()]);
        roots.extend(text("XDG_DATA_HOME").or_else(|| home(".local/share")));
        let data = text("XDG_DATA_DIRS").unwrap_or_default();
        roots.extend(data.split(':').filter(|root| !root.is_empty()).map(String::from));
        roots.extend(["/usr/local/share", "/usr/share", "/run/opengl-driver/share"].map(String::from));
        let mut manifest_folders: Vec<PathBuf> =
            roots.iter().map(|root| Path::new(root).join("vulkan/icd.d")).collect();
        // It adds to the drivers found, and may name files or folders.
        if let Some(more) = text("VK_ADD_DRIVER_FILES") {
            manifest_folders.extend(more.split(':').map(PathBuf::from));
        }
        let mut library_folders: Vec<PathBuf> =
            text("LD_LIBRARY_PATH").unwrap_or_default().split(':').map(PathBuf::from).collect();
        library_folders.retain(|folder| !folder.as_os_str().is_empty());
        library_folders.extend(linker_cache());
        let arch = std::env::consts::ARCH;
        for root in ["/lib", "/usr/lib", "/usr/local/lib"] {
            library_folders.extend([root.into(), format!("{root}64").into()]);
            library_folders.push(format!("{root}/{arch}-linux-gnu").into());
        }
        library_folders.push("/run/opengl-driver/lib".into());
        Self { override_variable, manifest_folders, library_folders, device_folder: "/dev".into() }
    }

    fn has_library(&self, name: &str) -> bool {
        self.library_folders.iter().any(|folder| folder.join(name).exists())
    }
}

/// The folders of the dynamic linker's cache; empty if it cannot be read.
fn linker_cache() -> Vec<PathBuf> {
    let output = ["/sbin/ldconfig", "ldconfig"].into_iter().find_map(|program| {
        Command::new(program).arg("-p").output().ok().filter(|output| output.status.success())
    });
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let mut folders: Vec<PathBuf> = text
        .lines()
        .filter_map(|line| Path::new(line.split_once(" => ")?.1.trim()).parent().map(PathBuf::from))
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

fn search_in(machine: &Machine) -> Search {
    if !machine.has_library("libvulkan.so.1") {
        return Search::NoLoader;
    }
    let manifests: Vec<PathBuf> = match &machine.override_variable {
        Some((_, value)) => value.split(':').flat_map(|entry| manifests_at(Path::new(entry))).collect(),
        None => machine.manifest_folders.iter().flat_map(|folder| manifests_at(folder)).collect(),
    };
    let usable: Vec<&PathBuf> = manifests.iter().filter(|manifest| is_usable(machine, manifest)).collect();
    // A driver with a device is preferred to a software driver.
    let best = usable.iter().find(|manifest| !is_software(manifest)).or(usable.first());
    match (best, &machine.override_variable) {
        (Some(manifest), _) => {
            Search::Driver { manifest: manifest.to_path_buf(), software: is_software(manifest) }
        }
        (None, Some((variable, value))) => Search::Overridden { variable, value: value.clone() },
        (None, None) => Search::NoDriver { seen: manifests },
    }
}

/// The manifests at a path: the file itself, or those of a folder, sorted by name.
fn manifests_at(path: &Path) -> Vec<PathBuf> {
    let is_manifest = |path: &Path| path.extension().is_some_and(|extension| extension == "json");
    let Ok(entries) = std::fs::read_dir(path) else {
        return if path.is_file() && is_manifest(path) { vec![path.into()] } else { Vec::new() };
    };
    let mut found: Vec<PathBuf> =
        entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| is_manifest(path)).collect();
    found.sort();
    found
}

/// Whether the manifest's library exists, and for a hardware driver the device too: a package of drivers has the manifests of
/// every vendor.
fn is_usable(machine: &Machine, manifest: &Path) -> bool {
    let name = file_name(manifest);
    if name.contains(".i686.") && cfg!(target_pointer_width = "64") {
        return false;
    }
    let Ok(text) = std::fs::read_to_string(manifest) else { return false };
    let Some(library) = library_path(&text) else { return false };
    has_library(machine, manifest, library)
        && (is_software(manifest) || has_device(&machine.device_folder, &name))
}

/// Whether the library that a manifest names exists.
fn has_library(machine: &Machine, manifest: &Path, library: &str) -> bool {
    if library.contains('/') {
        manifest.parent().is_some_and(|folder| folder.join(library).exists())
    } else {
        machine.has_library(library)
    }
}

fn has_device(device_folder: &Path, name: &str) -> bool {
    if name.contains("nvidia") {
        return device_folder.join("nvidiactl").exists();
    }
    if name.contains("dzn") {
        return device_folder.join("dxg").exists();
    }
    let nodes = std::fs::read_dir(device_folder.join("dri"));
    nodes.is_ok_and(|nodes| nodes.flatten().any(|node| file_name(&node.path()).starts_with("renderD")))
}

/// Whether the driver is Mesa's llvmpipe or SwiftShader.
fn is_software(manifest: &Path) -> bool {
    let name = file_name(manifest);
    name.starts_with("lvp_icd") || name.contains("swiftshader")
}

pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The value of `"library_path"`. Nothing else of a manifest is read, so no JSON parser is needed.
fn library_path(manifest: &str) -> Option<&str> {
    let (_, after) = manifest.split_once("\"library_path\"")?;
    let (_, after) = after.trim_start().strip_prefix(':')?.split_once('"')?;
    Some(after.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A simulated machine in a temporary folder, removed on drop.
    struct TestMachine {
        root: PathBuf,
        paths: Machine,
    }

    impl TestMachine {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("hullfield-xtask-{}-{name}", std::process::id()));
            for folder in ["icd.d", "lib", "dev/dri"] {
                std::fs::create_dir_all(root.join(folder)).unwrap();
            }
            let paths = Machine {
                override_variable: None,
                manifest_folders: vec![root.join("absent"), root.join("icd.d")],
                library_folders: vec![root.join("lib")],
                device_folder: root.join("dev"),
            };
            Self { root, paths }
        }

        fn file(&self, path: &str, text: &str) -> PathBuf {
            std::fs::write(self.root.join(path), text).unwrap();
            self.root.join(path)
        }

        fn driver(&self, name: &str, library: &str) -> PathBuf {
            let text =
                format!("{{ \"ICD\": {{ \"api_version\": \"1.4\",\n \"library_path\" : \"{library}\" }} }}");
            self.file(&format!("icd.d/{name}"), &text)
        }
    }

    impl Drop for TestMachine {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.root);
        }
    }

    #[test]
    fn without_the_loader_no_driver_is_usable() {
        let machine = TestMachine::new("loader");
        machine.file("lib/libvulkan_lvp.so", "");
        machine.driver("lvp_icd.json", "libvulkan_lvp.so");
        assert_eq!(search_in(&machine.paths), Search::NoLoader);
    }

    #[test]
    fn a_software_driver_needs_its_library_only() {
        let machine = TestMachine::new("software");
        machine.file("lib/libvulkan.so.1", "");
        let manifest = machine.driver("lvp_icd.x86_64.json", "libvulkan_lvp.so");
        assert_eq!(search_in(&machine.paths), Search::NoDriver { seen: vec![manifest.clone()] });
        machine.file("lib/libvulkan_lvp.so", "");
        assert_eq!(search_in(&machine.paths), Search::Driver { manifest, software: true });
    }

    #[test]
    fn a_path_in_a_manifest_is_relative_to_it() {
        let machine = TestMachine::new("relative");
        machine.file("lib/libvulkan.so.1", "");
        machine.file("lib/libvulkan_lvp.so", "");
        let manifest = machine.driver("lvp_icd.json", "../lib/libvulkan_lvp.so");
        assert_eq!(search_in(&machine.paths), Search::Driver { manifest, software: true });
    }

    #[test]
    fn a_hardware_driver_needs_its_device() {
        let machine = TestMachine::new("vendor");
        for library in ["libvulkan.so.1", "libvulkan_lvp.so", "libvulkan_radeon.so", "libGLX_nvidia.so.0"] {
            machine.file(&format!("lib/{library}"), "");
        }
        let radeon = machine.driver("radeon_icd.json", "libvulkan_radeon.so");
        let nvidia = machine.driver("nvidia_icd.json", "libGLX_nvidia.so.0");
        assert!(!search_in(&machine.paths).is_adapter());
        let software = machine.driver("lvp_icd.json", "libvulkan_lvp.so");
        assert_eq!(search_in(&machine.paths), Search::Driver { manifest: software, software: true });
        machine.file("dev/dri/renderD128", "");
        assert_eq!(search_in(&machine.paths), Search::Driver { manifest: radeon, software: false });
        machine.file("dev/nvidiactl", "");
        assert_eq!(search_in(&machine.paths), Search::Driver { manifest: nvidia, software: false });
    }

    #[test]
    fn an_override_hides_installed_drivers() {
        let mut machine = TestMachine::new("override");
        machine.file("lib/libvulkan.so.1", "");
        machine.file("lib/libvulkan_lvp.so", "");
        let manifest = machine.driver("lvp_icd.json", "libvulkan_lvp.so");
        machine.paths.override_variable = Some(("VK_DRIVER_FILES", "/nonexistent".into()));
        let hidden = Search::Overridden { variable: "VK_DRIVER_FILES", value: "/nonexistent".into() };
        assert_eq!(search_in(&machine.paths), hidden);
        let value = format!("/nonexistent:{}", manifest.display());
        machine.paths.override_variable = Some(("VK_DRIVER_FILES", value));
        assert_eq!(search_in(&machine.paths), Search::Driver { manifest, software: true });
    }
}
