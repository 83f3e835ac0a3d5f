//! WGSL to SPIR-V, with the options that wgpu 30 gives naga on a Vulkan driver with `robustBufferAccess2`, as those of AMD and
//! NVIDIA are (`wgpu-hal` 30.0, `vulkan/adapter.rs` and `vulkan/device.rs`).

use naga::back::{pipeline_constants, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The entry point of every kernel.
pub(crate) const ENTRY: &str = "main";

/// The checks that naga adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checks {
    pub(crate) loops: bool,
    pub(crate) indices: bool,
}

/// The SPIR-V of a kernel.
pub(crate) fn compile(wgsl: &str, checks: Checks, has_subgroups: bool) -> Result<Vec<u32>, String> {
    let mut module = naga::front::wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl))?;
    let capabilities = if has_subgroups { Capabilities::SUBGROUP } else { Capabilities::empty() };
    let mut validator = Validator::new(ValidationFlags::all(), capabilities);
    validator.validate(&module).map_err(|error| error.emit_to_string(wgsl))?;
    // wgpu removes what is not used, then validates again.
    naga::compact::compact(&mut module, naga::compact::KeepUnused::Yes);
    let info = validator.validate(&module).map_err(|error| error.emit_to_string(wgsl))?;
    let constants = naga::back::PipelineConstants::default();
    let stage = (naga::ShaderStage::Compute, ENTRY);
    let (module, info) = pipeline_constants::process_overrides(&module, &info, Some(stage), &constants)
        .map_err(|error| error.to_string())?;
    let options = spv::Options {
        lang_version: (1, 6),
        capabilities: None,
        bounds_check_policies: BoundsCheckPolicies {
            index: if checks.indices { BoundsCheckPolicy::Restrict } else { BoundsCheckPolicy::Unchecked },
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        // hullfield's pipelines ask for this.
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: checks.loops,
        emit_int_div_checks: true,
        ..Default::default()
    };
    let pipeline =
        spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: ENTRY.into() };
    spv::write_vec(&module, &info, &options, Some(&pipeline)).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Checks = Checks { loops: true, indices: true };

    #[test]
    fn every_kernel_compiles() {
        let kernels = hullfield::inspect::kernels();
        assert!(kernels.len() > 50, "{}", kernels.len());
        for kernel in kernels {
            let words = compile(&kernel.wgsl, ALL, kernel.has_subgroups)
                .unwrap_or_else(|error| panic!("{}: {error}", kernel.label));
            // SPIR-V's magic number.
            assert_eq!(words.first(), Some(&0x0723_0203), "{}", kernel.label);
        }
    }

    #[test]
    fn what_is_not_wgsl_is_an_error_with_its_place() {
        let error = compile("fn main( {}", ALL, false).unwrap_err();
        assert!(error.contains("wgsl:1"), "{error}");
    }
}
