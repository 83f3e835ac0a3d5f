//! Opens the device of WebGPU that computes and draws.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use hullfield::wgpu;
use hullfield::{Engine, EngineOptions};
use serde_json::Value;
use web_sys::OffscreenCanvas;

use crate::playground::draw::gpu::GpuRenderer;
use crate::playground::host::Gpu;
use crate::playground::stage::GpuCanvas;

/// What a device reports by itself.
#[derive(Debug)]
pub(crate) enum Event {
    /// It is lost, with the browser's reason.
    Lost(String),
    /// An error that no scope caught.
    Fault(String),
}

/// The events of a device. Its callbacks must be `Send`, which nothing of the page is: they leave events here, and a task of the page takes them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Events {
    shared: Arc<Mutex<(VecDeque<Event>, Option<Waker>)>>,
}

impl Events {
    fn push(&self, event: Event) {
        let Ok(mut shared) = self.shared.lock() else { return };
        shared.0.push_back(event);
        if let Some(waker) = shared.1.take() {
            waker.wake();
        }
    }

    /// The next event.
    pub(crate) async fn next(&self) -> Event {
        std::future::poll_fn(|context| {
            let Ok(mut shared) = self.shared.lock() else { return Poll::Pending };
            match shared.0.pop_front() {
                Some(event) => Poll::Ready(event),
                None => {
                    shared.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// Opens the best adapter of the browser: an engine, a renderer on the canvas, and what the device reports. `info` is what the browser says of the
/// adapter.
///
/// # Errors
/// A sentence that says why there is none.
pub(crate) async fn open(canvas: OffscreenCanvas, info: &Value) -> Result<(Gpu, GpuCanvas, Events), String> {
    let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
    descriptor.backends = wgpu::Backends::BROWSER_WEBGPU;
    let instance = wgpu::Instance::new(descriptor);
    let surface = instance.create_surface(wgpu::SurfaceTarget::OffscreenCanvas(canvas));
    let surface = surface.map_err(|error| format!("The canvas has no WebGPU context: {error}."))?;
    let options = wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        compatible_surface: Some(&surface),
        ..Default::default()
    };
    let adapter = instance.request_adapter(&options).await;
    let adapter = adapter.map_err(|_| "The browser has WebGPU, but gives no adapter.".to_owned())?;
    let available = adapter.limits();
    let descriptor = wgpu::DeviceDescriptor {
        label: Some("hullfield"),
        required_features: adapter.features() & wgpu::Features::TIMESTAMP_QUERY,
        required_limits: wgpu::Limits {
            max_buffer_size: available.max_buffer_size,
            max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
            ..wgpu::Limits::default().or_worse_values_from(&available)
        },
        ..Default::default()
    };
    let opened = adapter.request_device(&descriptor).await;
    let (device, queue) = opened.map_err(|error| format!("The adapter gives no device: {error}."))?;
    let events = Events::default();
    let (of_lost, of_fault) = (events.clone(), events.clone());
    device.set_device_lost_callback(move |_, message| of_lost.push(Event::Lost(message)));
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        of_fault.push(Event::Fault(error.to_string()));
    }));
    let engine = Engine::from_device(device.clone(), queue.clone(), &EngineOptions::default());
    let engine = engine.map_err(|error| error.to_string())?;
    let capabilities = surface.get_capabilities(&adapter);
    let format = capabilities.formats.iter().copied().find(|format| !format.is_srgb());
    let format = format.unwrap_or(wgpu::TextureFormat::Bgra8Unorm);
    let renderer = GpuRenderer::new(&device, &queue, format);
    let (name, is_software) = describe(info, &adapter.get_info());
    Ok((Gpu { engine, name, is_software }, GpuCanvas { surface, format, renderer, size: [0; 2] }, events))
}

/// The adapter's name, and whether it is a software rasteriser. Most browsers give a vendor and an architecture only, some nothing.
fn describe(info: &Value, adapter: &wgpu::AdapterInfo) -> (String, bool) {
    let text = |name: &str| info.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    let full = [text("description"), text("device"), adapter.name.trim()];
    let short = [text("vendor"), text("architecture")].join(" ");
    let name = full.into_iter().find(|name| !name.is_empty()).unwrap_or(short.trim());
    let lower = [&full.join(" "), &short].map(|part| part.to_lowercase()).join(" ");
    let software = ["swiftshader", "llvmpipe", "lavapipe", "basic render", "warp"];
    let is_software = adapter.device_type == wgpu::DeviceType::Cpu
        || info.get("fallback").and_then(Value::as_bool).unwrap_or_default()
        || software.iter().any(|name| lower.contains(name));
    let name = if name.is_empty() { "A GPU that the browser does not name" } else { name };
    (name.to_owned(), is_software)
}
