//! Mesa's RADV as a compiler: a Vulkan device of AMD hardware that is not there. It builds pipelines and reports statistics of
//! them (`VK_KHR_pipeline_executable_properties`); it runs nothing.
//!
//! The driver reads the environment variable `RADV_FORCE_FAMILY` once, so each hardware family needs a process of its own.
#![allow(unsafe_code, reason = "Vulkan's functions are unsafe")]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char};

use ash::{ext, khr, vk};
use hullfield::inspect::{BindingKind, KernelSource};

use super::spirv::ENTRY;

/// A device that only compiles. Its Vulkan objects live as long as the process.
pub(crate) struct Compiler {
    device: ash::Device,
    executables: khr::pipeline_executable_properties::Device,
    subgroup_size: u32,
    _instance: ash::Instance,
    _entry: ash::Entry,
}

/// What the driver says of a compiled kernel.
pub(crate) struct Compiled {
    /// The statistics by their names.
    pub(crate) statistics: BTreeMap<String, f64>,
    /// The text of its code.
    pub(crate) assembly: String,
}

/// Says what failed.
fn failed(what: &str) -> impl Fn(vk::Result) -> String + '_ {
    move |error| format!("{what}: {error}")
}

fn text(chars: &[c_char]) -> String {
    let bytes: Vec<u8> = chars.iter().map(|&c| c as u8).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

impl Compiler {
    /// Opens the driver that the environment selects. Kernels are compiled for subgroups of `subgroup_size`.
    pub(crate) fn open(subgroup_size: u32) -> Result<Self, String> {
        // SAFETY: the entry stays loaded in `_entry`.
        let entry = unsafe { ash::Entry::load() }.map_err(|error| format!("the Vulkan loader: {error}"))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let description = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the description is valid for the call.
        let instance =
            unsafe { entry.create_instance(&description, None) }.map_err(failed("vkCreateInstance"))?;
        // SAFETY: the instance lives.
        let devices =
            unsafe { instance.enumerate_physical_devices() }.map_err(failed("vkEnumeratePhysicalDevices"))?;
        let physical = *devices.first().ok_or("RADV has no device of this family")?;
        // SAFETY: the physical device is of this instance.
        let name = text(&unsafe { instance.get_physical_device_properties(physical) }.device_name);
        if !name.contains("RADV") {
            return Err(format!("the Vulkan driver's device is {name}, not RADV's"));
        }
        // As wgpu does.
        let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
        let mut executable = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
            .pipeline_executable_info(true);
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default()
            .subgroup_size_control(true)
            .compute_full_subgroups(true)
            .maintenance4(true);
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default().vulkan_memory_model(true);
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .features(vk::PhysicalDeviceFeatures::default().robust_buffer_access(true));
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let extensions =
            [khr::pipeline_executable_properties::NAME, ext::robustness2::NAME].map(CStr::as_ptr);
        let description = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features)
            .push_next(&mut robustness)
            .push_next(&mut executable)
            .push_next(&mut features13)
            .push_next(&mut features12);
        // SAFETY: everything that the description points to lives to the end of this function.
        let device = unsafe { instance.create_device(physical, &description, None) }
            .map_err(failed("vkCreateDevice"))?;
        let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
        Ok(Self { device, executables, subgroup_size, _instance: instance, _entry: entry })
    }

    /// Compiles a kernel.
    pub(crate) fn compile(&self, kernel: &KernelSource, spirv: &[u32]) -> Result<Compiled, String> {
        let bindings: Vec<_> = (0..)
            .zip(&kernel.bindings)
            .map(|(number, kind)| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(number)
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
                    .descriptor_type(match kind {
                        BindingKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
                        BindingKind::DynamicUniform => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
                        _ => vk::DescriptorType::STORAGE_BUFFER,
                    })
            })
            .collect();
        let entry = CString::new(ENTRY).map_err(|error| error.to_string())?;
        let set = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: each description lives to the end of its call; each object is of this device.
        let pipeline = unsafe {
            let sets =
                [self.device.create_descriptor_set_layout(&set, None).map_err(failed("the bindings"))?];
            let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
            let layout = self.device.create_pipeline_layout(&layout, None).map_err(failed("the layout"))?;
            let module = vk::ShaderModuleCreateInfo::default().code(spirv);
            let module = self.device.create_shader_module(&module, None).map_err(failed("the module"))?;
            let mut subgroup = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default()
                .required_subgroup_size(self.subgroup_size);
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(&entry)
                .push_next(&mut subgroup);
            let description = vk::ComputePipelineCreateInfo::default()
                .flags(
                    vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR
                        | vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR,
                )
                .stage(stage)
                .layout(layout);
            let built = self.device.create_compute_pipelines(vk::PipelineCache::null(), &[description], None);
            let pipelines = built.map_err(|(_, error)| format!("the pipeline: {error}"))?;
            *pipelines.first().ok_or("the driver built no pipeline")?
        };
        let description = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
        // SAFETY: the pipeline was created with the flag for statistics, and a compute pipeline has one executable.
        let found = unsafe { self.executables.get_pipeline_executable_statistics(&description) };
        let number = |found: &vk::PipelineExecutableStatisticKHR<'_>| {
            // SAFETY: the format says which field of the union is set.
            unsafe {
                match found.format {
                    vk::PipelineExecutableStatisticFormatKHR::UINT64 => found.value.u64 as f64,
                    vk::PipelineExecutableStatisticFormatKHR::INT64 => found.value.i64 as f64,
                    vk::PipelineExecutableStatisticFormatKHR::FLOAT64 => found.value.f64,
                    _ => f64::from(found.value.b32),
                }
            }
        };
        let found = found.map_err(failed("the statistics"))?;
        let statistics = found.iter().map(|found| (text(&found.name), number(found))).collect();
        Ok(Compiled { statistics, assembly: self.assembly(&description)? })
    }

    /// The assembly of a pipeline that was created with the flag for representations; empty where the driver has no disassembler.
    fn assembly(&self, description: &vk::PipelineExecutableInfoKHR<'_>) -> Result<String, String> {
        let ask = self.executables.fp().get_pipeline_executable_internal_representations_khr;
        let device = self.device.handle();
        let mut count = 0;
        // SAFETY: a null pointer asks for their number.
        let counted = unsafe { ask(device, description, &mut count, std::ptr::null_mut()) };
        counted.result().map_err(failed("the number of representations"))?;
        let mut parts = vec![vk::PipelineExecutableInternalRepresentationKHR::default(); count as usize];
        // SAFETY: there is room for as many; null data asks for their sizes.
        let sized = unsafe { ask(device, description, &mut count, parts.as_mut_ptr()) };
        sized.result().map_err(failed("the sizes of representations"))?;
        let mut texts: Vec<Vec<u8>> = parts.iter().map(|part| vec![0; part.data_size]).collect();
        for (part, bytes) in parts.iter_mut().zip(&mut texts) {
            part.p_data = bytes.as_mut_ptr().cast();
        }
        // SAFETY: each has the room that it asked for.
        let filled = unsafe { ask(device, description, &mut count, parts.as_mut_ptr()) };
        filled.result().map_err(failed("the representations"))?;
        let found = parts.iter().zip(&texts).find(|(part, _)| text(&part.name) == "Assembly");
        Ok(found.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default())
    }
}
