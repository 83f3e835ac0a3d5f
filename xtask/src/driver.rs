//! Finds a Vulkan driver by name and makes the tests use it alone.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::adapter;
use crate::install;

/// An entry of [`DRIVERS`].
#[derive(Debug, Clone, Copy, PartialEq)]
struct KnownDriver {
    name: &'static str,
    /// The beginning of its manifest's file name.
    manifest: &'static str,
    /// A part of its adapter's name or driver, in lower case.
    adapter: &'static str,
    /// Folders of the manifest besides the loader's own.
    folders: &'static [&'static str],
    advice: &'static str,
}

const DRIVERS: [KnownDriver; 2] = [
    KnownDriver {
        name: "lavapipe",
        manifest: "lvp_icd",
        adapter: "llvmpipe",
        folders: &[],
        advice: "Debian, Ubuntu: sudo apt-get install mesa-vulkan-drivers libvulkan1; Fedora: sudo dnf install \
            mesa-vulkan-drivers vulkan-loader",
    },
    KnownDriver {
        name: "swiftshader",
        manifest: "vk_swiftshader_icd",
        adapter: "swiftshader",
        // Browsers include it, and programs based on them.
        folders: &[
            "/usr/lib/chromium",
            "/usr/lib64/chromium",
            "/usr/lib/chromium-browser",
            "/usr/lib64/chromium-browser",
            "/snap/chromium/current/usr/lib/chromium-browser",
            "/opt/google/chrome",
            "/opt/google/chrome-beta",
            "/opt/google/chrome-unstable",
            "/opt/microsoft/msedge",
            "/opt/brave.com/brave",
            "/usr/share/code",
            "/usr/lib/electron",
        ],
        advice: "Debian: sudo apt-get install chromium-common (32 MB, no browser); elsewhere Chromium, Chrome or Edge includes \
            vk_swiftshader_icd.json: name it by --driver PATH if it is not found",
    },
];

/// An installed driver.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Driver {
    pub(crate) manifest: PathBuf,
    /// A part of its adapter's name or driver, if known.
    adapter: Option<&'static str>,
}

impl Driver {
    /// Makes this the only driver of a command. Tests that find another adapter fail.
    pub(crate) fn bind(&self, command: &mut Command) {
        for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
            command.env(variable, &self.manifest);
        }
        command.env_remove("VK_ADD_DRIVER_FILES");
        // wgpu reads these: another backend would open another adapter.
        command.env("WGPU_BACKEND", "vulkan").env_remove("WGPU_ADAPTER_NAME");
        match self.adapter {
            Some(adapter) => command.env("HULLFIELD_EXPECT_ADAPTER", adapter),
            None => command.env_remove("HULLFIELD_EXPECT_ADAPTER"),
        };
    }
}

/// Finds a driver by its name or by its manifest's path. Fetches a missing one if that is permitted.
///
/// # Errors
/// A wrong name or file, or a driver that is not installed, with advice.
pub(crate) fn find(name: &str) -> Result<Driver, String> {
    if !cfg!(target_os = "linux") {
        return Err("--driver is for Linux, where the Vulkan loader takes drivers by their manifests".into());
    }
    if let Some(known) = DRIVERS.iter().find(|known| known.name == name) {
        let installed = || search(known);
        let found = installed().or_else(|| if install::fetch(known.name) { installed() } else { None });
        let missing = || format!("{} is not installed here. {}", known.name, known.advice);
        return found.map(driver).ok_or_else(missing);
    }
    let path = Path::new(name);
    if path.extension().is_none_or(|extension| extension != "json") {
        let names = DRIVERS.map(|known| known.name).join(", ");
        return Err(format!("--driver `{name}`: expected {names}, or the path of a manifest, a .json file"));
    }
    // The tests run in other folders, so the path must be absolute.
    let path = std::fs::canonicalize(path).map_err(|error| format!("--driver `{name}`: {error}"))?;
    adapter::check_manifest(&path).map_err(|error| format!("--driver `{name}`: {error}"))?;
    Ok(driver(path))
}

fn driver(manifest: PathBuf) -> Driver {
    let name = adapter::file_name(&manifest);
    let known = DRIVERS.iter().find(|known| name.starts_with(known.manifest));
    Driver { manifest, adapter: known.map(|known| known.adapter) }
}

fn search(known: &KnownDriver) -> Option<PathBuf> {
    let own = install::fetched_folder().join("usr/lib/chromium");
    let folders = known.folders.iter().map(PathBuf::from).chain([own]);
    let is_driver = |manifest: &PathBuf| adapter::file_name(manifest).starts_with(known.manifest);
    let mut manifests = adapter::installed_manifests(folders.collect());
    manifests.retain(is_driver);
    manifests.into_iter().find(|manifest| adapter::check_manifest(manifest).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_an_error_that_lists_the_known_ones() {
        let message = find("swift").unwrap_err();
        assert!(message.contains("`swift`") && message.contains("lavapipe, swiftshader"), "{message}");
        let message = find("/nonexistent/vk_icd.json").unwrap_err();
        assert!(
            message.contains("/nonexistent/vk_icd.json") && message.contains("No such file"),
            "{message}"
        );
    }

    #[test]
    fn a_file_that_is_not_a_manifest_is_refused() {
        let file = std::env::temp_dir().join(format!("hullfield-xtask-{}-none.json", std::process::id()));
        std::fs::write(&file, "{}").unwrap();
        let message = find(&file.to_string_lossy()).unwrap_err();
        std::fs::remove_file(&file).unwrap();
        assert!(message.contains("library_path"), "{message}");
    }

    #[test]
    fn the_adapter_follows_from_the_manifest() {
        let adapter = |path: &str| driver(PathBuf::from(path)).adapter;
        assert_eq!(adapter("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"), Some("llvmpipe"));
        assert_eq!(adapter("vk_swiftshader_icd.json"), Some("swiftshader"));
        assert_eq!(adapter("radeon_icd.json"), None);
    }

    #[test]
    fn a_command_has_no_other_driver() {
        let mut command = Command::new("true");
        driver(PathBuf::from("/a/lvp_icd.json")).bind(&mut command);
        let set = |name: &str| {
            let found = command.get_envs().find(|(key, _)| *key == name);
            found.and_then(|(_, value)| value).map(|value| value.to_string_lossy().into_owned())
        };
        assert_eq!(set("VK_DRIVER_FILES").as_deref(), Some("/a/lvp_icd.json"));
        assert_eq!(set("VK_ICD_FILENAMES").as_deref(), Some("/a/lvp_icd.json"));
        assert_eq!(set("HULLFIELD_EXPECT_ADAPTER").as_deref(), Some("llvmpipe"));
        assert_eq!(set("VK_ADD_DRIVER_FILES"), None);
    }
}
