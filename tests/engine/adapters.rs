//! The choice of an engine, its reason, its limits and its memory. GPU tests are skipped without an adapter (see `common`).

#[cfg(feature = "gpu")]
use hullfield::adapters;
use hullfield::collide::{Arena, Body, Hull, Options, Pairs};
use hullfield::{Backend, BackendChoice, Engine, EngineOptions, Error};

#[cfg(not(feature = "gpu"))]
#[test]
fn without_the_feature_gpu_auto_is_the_cpu_and_gpu_is_an_error_that_names_it() {
    let engine = Engine::auto().unwrap();
    assert_eq!(engine.backend(), Backend::Cpu);
    assert!(engine.reason().contains("the feature gpu"), "{}", engine.reason());
    let Err(Error::NoGpu { message }) = Engine::gpu() else { panic!("a GPU engine") };
    assert!(message.contains("the feature gpu"), "{message}");
}

#[cfg(all(
    feature = "gpu",
    not(any(feature = "vulkan", feature = "metal", feature = "dx12", feature = "webgpu"))
))]
#[test]
fn the_feature_gpu_without_a_back_end_is_an_error_that_names_the_back_ends() {
    let Err(Error::NoGpu { message }) = Engine::gpu() else { panic!("a GPU engine") };
    assert!(message.contains("without a back end") && message.contains("vulkan"), "{message}");
    let engine = Engine::auto().unwrap();
    assert!(engine.backend() == Backend::Cpu && engine.reason().contains("back end"), "{}", engine.reason());
    assert_eq!(adapters(), []);
}

#[test]
fn an_engine_has_its_options_and_their_backend() {
    let options =
        EngineOptions { backend: BackendChoice::Cpu, memory_limit: Some(1 << 20), answer_limit: Some(7) };
    let engine = Engine::new(&options).unwrap();
    assert_eq!((engine.options(), engine.backend()), (&options, Backend::Cpu));
    assert_eq!(Engine::cpu().options(), &EngineOptions { backend: BackendChoice::Cpu, ..Default::default() });
    assert_eq!(Engine::auto().unwrap().options(), &EngineOptions::default());
}

use crate::common;

#[test]
fn the_cpu_engine_gives_its_backend_and_reason() {
    let engine = Engine::cpu();
    assert_eq!(engine.backend(), Backend::Cpu);
    assert!(engine.reason().contains("CPU"), "{}", engine.reason());
    assert_eq!(engine.options().memory_limit, None);
}

#[cfg(feature = "gpu")]
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

#[cfg(feature = "gpu")]
#[test]
fn adapter_reports_are_complete_and_sorted_best_first() {
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

#[cfg(feature = "gpu")]
#[test]
fn gpu_takes_the_first_adapter() {
    let Some(engine) = common::own_gpu() else { return };
    assert_eq!(engine.backend(), Backend::Gpu);
    let info = engine.adapter_info().unwrap();
    assert_eq!(adapters()[0].name, info.name);
    assert!(engine.reason().contains(&info.name), "{}", engine.reason());
    assert_eq!(engine.counters().pipelines_built, 0, "a pipeline is built when it is first used");
}

#[cfg(feature = "gpu")]
#[test]
fn a_given_device_outlives_the_engine() {
    let Some(own) = common::own_gpu() else { return };
    let (device, queue) = own.device().unwrap();
    let engine = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default()).unwrap();
    assert_eq!(engine.backend(), Backend::Gpu);
    assert!(engine.reason().contains("gave"), "{}", engine.reason());
    drop(engine);
    // The caller's device still works.
    let engine = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default()).unwrap();
    assert_eq!(engine.counters().buffer_bytes, 0);
}

#[cfg(feature = "gpu")]
#[test]
fn a_device_for_an_engine_on_the_cpu_is_refused() {
    let (device, queue) = wgpu::Device::noop(&wgpu::DeviceDescriptor::default());
    let options = EngineOptions { backend: BackendChoice::Cpu, ..Default::default() };
    let refused = Engine::from_device(device, queue, &options).unwrap_err();
    assert!(matches!(refused, Error::Value { field: "backend", .. }), "{refused}");
}

#[cfg(feature = "gpu")]
#[test]
fn a_device_below_the_limits_is_refused() {
    let limits = wgpu::Limits { max_storage_buffers_per_shader_stage: 4, ..wgpu::Limits::default() };
    let (device, queue) =
        wgpu::Device::noop(&wgpu::DeviceDescriptor { required_limits: limits, ..Default::default() });
    let refused = Engine::from_device(device, queue, &EngineOptions::default()).unwrap_err();
    let Error::Value { field, value, allowed, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!((*field, &value[..]), ("maxStorageBuffersPerShaderStage", "4"));
    assert!(allowed.contains("8 or more"), "{allowed}");
}

/// A row of boxes; each overlaps the next.
#[allow(clippy::unwrap_used)]
fn row(count: usize) -> (Vec<Hull>, Vec<Body>) {
    let bodies = (0..count).map(|i| Body::new(0).at([i as f32 * 0.9, 0.0, 0.0])).collect();
    (vec![Hull::cuboid([0.5; 3]).unwrap()], bodies)
}

#[test]
fn answers_come_after_the_arena_and_the_engine_are_dropped() {
    let Some(engine) = common::own_gpu() else { return };
    let (hulls, bodies) = row(500);
    let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
    let mut pendings: Vec<_> =
        (0..6).map(|_| arena.intersections(&bodies, Pairs::BroadPhase).unwrap()).collect();
    drop(pendings.remove(2));
    // The pending answers keep what they need.
    drop((arena, engine));
    for pending in pendings {
        assert_eq!(pending.wait().unwrap().rows.len(), 499);
    }
}

#[cfg(feature = "gpu")]
#[test]
fn a_lost_device_is_an_error_of_every_call() {
    let Some(engine) = common::own_gpu() else { return };
    let (hulls, bodies) = row(500);
    let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
    let in_flight: Vec<_> =
        (0..3).map(|_| arena.intersections(&bodies, Pairs::BroadPhase).unwrap()).collect();
    engine.device().unwrap().0.destroy();
    for pending in in_flight {
        // A frame in flight may have finished; any other result must be the error.
        match pending.wait() {
            Ok(found) => assert_eq!(found.rows.len(), 499),
            Err(error) => assert!(matches!(error, Error::DeviceLost { .. }), "{error}"),
        }
    }
    let later = arena.intersections(&bodies, Pairs::BroadPhase).map(drop);
    assert!(matches!(later, Err(Error::DeviceLost { .. })), "{later:?}");
    let other = Arena::new(&engine, &hulls, Options::default()).map(drop);
    assert!(matches!(other, Err(Error::DeviceLost { .. })), "{other:?}");
}

#[test]
fn a_query_over_the_memory_limit_is_refused_and_the_next_one_runs() {
    let limits = EngineOptions { memory_limit: Some(4 << 20), ..Default::default() };
    let Some(engine) = common::gpu_with(limits) else { return };
    let (hulls, bodies) = row(100_000);
    let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
    let refused =
        arena.intersections(&bodies, Pairs::BroadPhase).and_then(|pending| pending.wait()).map(drop);
    assert!(matches!(refused, Err(Error::MemoryLimit { .. })), "{refused:?}");
    let found = arena.intersections(&bodies[..100], Pairs::BroadPhase).unwrap().wait().unwrap();
    assert_eq!(found.rows.len(), 99);
    assert!(engine.counters().buffer_bytes <= 4 << 20);
}

#[test]
fn frames_below_the_high_water_mark_allocate_nothing() {
    let Some(engine) = common::own_gpu() else { return };
    let (hulls, bodies) = row(3000);
    let arena = Arena::new(&engine, &hulls, Options::default()).unwrap();
    let frame = |count: usize| {
        let found = arena.intersections(&bodies[..count], Pairs::BroadPhase).unwrap().wait().unwrap();
        assert_eq!(found.rows.len(), count - 1);
    };
    // The first frame finds the numbers of pairs and hits; the second has buffers for them.
    frame(3000);
    frame(3000);
    let before = engine.counters();
    for count in [3000, 100, 2500, 3000] {
        frame(count);
    }
    let after = engine.counters();
    assert!(after.submissions > before.submissions);
    assert_eq!(
        (after.buffers_created, after.staging_created, after.pipelines_built, after.buffer_bytes),
        (before.buffers_created, before.staging_created, before.pipelines_built, before.buffer_bytes)
    );
}
