//! Engines: which one, why, and what they cost. GPU tests skip where there is no adapter (see `common`).

mod common;

use hullfield::{Backend, Engine, Error, adapters};

#[test]
fn cpu_engine_says_what_it_is() {
    let engine = Engine::cpu();
    assert_eq!(engine.backend(), Backend::Cpu);
    assert!(engine.adapter_info().is_none() && engine.device().is_none());
    assert!(engine.reason().contains("CPU"), "{}", engine.reason());
    assert_eq!(engine.memory_limit(), None);
    assert_eq!(engine.clone().with_memory_limit(1 << 20).memory_limit(), Some(1 << 20));
}

#[test]
fn auto_never_takes_a_software_rasteriser() {
    let engine = Engine::auto().unwrap();
    assert!(!engine.reason().is_empty());
    let reports = adapters();
    match engine.backend() {
        Backend::Gpu => {
            let info = engine.adapter_info().unwrap();
            assert_ne!(info.device_type, wgpu::DeviceType::Cpu, "{}", engine.reason());
            let taken: Vec<_> = reports.iter().filter(|report| report.is_auto).collect();
            assert_eq!(taken.len(), 1);
            assert_eq!(taken[0].name, info.name);
            assert!(engine.reason().contains(&info.name));
        }
        _ => assert!(reports.iter().all(|report| !report.is_auto), "{reports:?}"),
    }
}

#[test]
fn reports_are_complete_and_best_first() {
    let reports = adapters();
    for report in &reports {
        assert!(!report.name.is_empty() && !report.why.is_empty(), "{report:?}");
        assert!(report.max_binding_bytes > 0 && report.max_buffer_bytes > 0, "{report:?}");
        assert!(!(report.is_auto && report.kind == "software"), "{report:?}");
    }
    let kinds = ["discrete", "integrated", "virtual", "other", "software"];
    let places: Vec<_> =
        reports.iter().map(|report| kinds.iter().position(|&kind| kind == report.kind).unwrap()).collect();
    assert!(places.is_sorted(), "{reports:?}");
}

#[test]
fn gpu_takes_the_first_adapter() {
    let Some(engine) = common::gpu() else { return };
    assert_eq!(engine.backend(), Backend::Gpu);
    let info = engine.adapter_info().unwrap();
    assert_eq!(adapters()[0].name, info.name);
    assert!(engine.reason().contains(&info.name), "{}", engine.reason());
    assert_eq!(engine.counters().pipelines_built, 0, "a pipeline is built when it is first used");
}

#[test]
fn a_given_device_is_joined_and_left_alone() {
    let Some(own) = common::gpu() else { return };
    let (device, queue) = own.device().unwrap();
    let engine = Engine::from_device(device.clone(), queue.clone()).unwrap();
    assert_eq!(engine.backend(), Backend::Gpu);
    assert!(engine.reason().contains("gave"), "{}", engine.reason());
    drop(engine);
    // The caller's device outlives the engine.
    let engine = Engine::from_device(device.clone(), queue.clone()).unwrap();
    assert_eq!(engine.counters().buffer_bytes, 0);
}

#[test]
fn a_device_below_the_limits_is_refused() {
    let limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..wgpu::Limits::default() };
    let (device, queue) =
        wgpu::Device::noop(&wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() });
    let refused = Engine::from_device(device, queue).unwrap_err();
    assert_eq!(
        refused,
        Error::DeviceLimit { limit: "maxStorageBuffersPerShaderStage", actual: 4, required: 8 }
    );
}
