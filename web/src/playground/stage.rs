//! The page's two canvases, one over the other: one for pixels and the context `2d`, one for WebGPU. One of them is shown.

use hullfield::wgpu;
use serde_json::json;
use wasm_bindgen::{Clamped, JsCast};
use web_sys::{ImageData, OffscreenCanvas, OffscreenCanvasRenderingContext2d};

use crate::playground::draw::gpu::{GpuRenderer, Item, Look};
use crate::playground::draw::light::View;
use crate::playground::draw::palette::{Color, Palette, rgb};
use crate::playground::draw::software::Software;
use crate::playground::host::Host;

/// The most pixels that the software renderer draws; a larger canvas is drawn coarser.
const MOST_SOFTWARE_PIXELS: f32 = 1.0e6;

/// Which canvas is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layer {
    Flat,
    Gpu,
}

/// The canvas of WebGPU, and what draws on it.
#[derive(Debug)]
pub(crate) struct GpuCanvas {
    pub(crate) surface: wgpu::Surface<'static>,
    pub(crate) format: wgpu::TextureFormat,
    pub(crate) renderer: GpuRenderer,
    pub(crate) size: [u32; 2],
}

/// The page's canvases.
#[derive(Debug, Default)]
pub(crate) struct Stage {
    /// None in tests on the host.
    flat: Option<(OffscreenCanvas, OffscreenCanvasRenderingContext2d)>,
    pub(crate) gpu: Option<GpuCanvas>,
    software: Software,
    shown: Option<Layer>,
    /// In pixels of the page.
    pub(crate) size: [f32; 2],
    /// Pixels of the screen in one of the page.
    pub(crate) density: f32,
    pub(crate) is_dark: bool,
}

/// A frame that a scene draws.
#[derive(Debug)]
pub struct Frame<'a> {
    /// Milliseconds since the page was opened.
    pub now: f64,
    /// Seconds since the frame before, at most 0.1.
    pub step: f32,
    pub(crate) stage: &'a mut Stage,
    pub(crate) host: &'a Host,
}

impl Stage {
    /// A stage that draws on this canvas without WebGPU.
    pub(crate) fn new(canvas: OffscreenCanvas) -> Option<Self> {
        let context = canvas.get_context("2d").ok()??.dyn_into::<OffscreenCanvasRenderingContext2d>().ok()?;
        Some(Self { flat: Some((canvas, context)), size: [1.0; 2], density: 1.0, ..Self::default() })
    }

    /// Takes the canvases again after another module has drawn on them.
    pub(crate) fn reopen(&mut self) {
        self.shown = None;
        if let Some(gpu) = &mut self.gpu {
            gpu.size = [0; 2];
        }
    }

    fn show(&mut self, layer: Layer, host: &Host) {
        if self.shown != Some(layer) {
            self.shown = Some(layer);
            let name = if layer == Layer::Gpu { "gpu" } else { "flat" };
            let engine = host.engine().backend().to_string();
            host.post(json!({"type": "picture", "layer": name, "engine": engine}));
        }
    }

    fn resize_flat(&self, size: [u32; 2]) {
        if let Some((canvas, _)) = &self.flat
            && [canvas.width(), canvas.height()] != size
        {
            canvas.set_width(size[0]);
            canvas.set_height(size[1]);
        }
    }
}

/// The colours of a theme. The marks of bodies: 0 separated, faint, 1 touching, 2 penetrating, 3 not decided in f32, 4 an outline. 5 to 7 are a
/// scene's own.
pub fn look(is_dark: bool, density: f32) -> Look {
    let palette: Palette = if is_dark {
        [0x33414f, 0xf2b134, 0xe4572e, 0xa06cd5, 0xffffff, 0x3fb68b, 0x4aa3df, 0x8a94a3].map(rgb)
    } else {
        [0xc9d4de, 0xe0a100, 0xd13f1b, 0x8446c5, 0x111418, 0x1f9d70, 0x1e7fc2, 0x6b7480].map(rgb)
    };
    Look { background: background(is_dark), palette, density }
}

fn background(is_dark: bool) -> Color {
    rgb(if is_dark { 0x101418 } else { 0xf4f6f8 })
}

impl Frame<'_> {
    /// The canvas's size in pixels of the page.
    pub fn size(&self) -> [f32; 2] {
        self.stage.size
    }

    /// Whether the page is dark.
    pub fn is_dark(&self) -> bool {
        self.stage.is_dark
    }

    /// The page's colours.
    pub fn look(&self) -> Look {
        look(self.stage.is_dark, self.stage.density)
    }

    /// The size of the canvas in pixels of the screen.
    pub fn pixels(&self) -> [u32; 2] {
        self.stage.size.map(|side| ((side * self.stage.density).round() as u32).clamp(1, 8192))
    }

    /// The size of a picture for the canvas: its pixels of the screen, or fewer where these are more than a million; and how many of the picture's
    /// pixels are one of the page.
    pub fn picture_size(&self) -> ([u32; 2], f32) {
        let pixels = self.pixels();
        let [width, height] = pixels.map(|side| side as f32);
        let scale = (MOST_SOFTWARE_PIXELS / (width * height)).sqrt().min(1.0);
        let size = pixels.map(|side| ((side as f32 * scale).round() as u32).max(1));
        (size, size[0] as f32 / self.stage.size[0].max(1.0))
    }

    /// Draws by the software renderer, on the page's background, and shows the result. `work` gets a cleared picture; it has at most a
    /// million pixels, and no more than the page.
    pub fn draw_software(&mut self, work: impl FnOnce(&mut Software)) {
        let [width, height] = self.stage.size;
        let scale = (MOST_SOFTWARE_PIXELS / (width * height).max(1.0)).sqrt().min(1.0);
        let size = [width, height].map(|side| ((side * scale).round() as u32).max(1));
        let back = background(self.stage.is_dark);
        let mut software = std::mem::take(&mut self.stage.software);
        software.clear(size, back);
        work(&mut software);
        self.put(software.pixels(), size);
        self.stage.software = software;
    }

    /// Shows a picture of four bytes a pixel, stretched over the canvas.
    pub fn put(&mut self, pixels: &[u8], size: [u32; 2]) {
        self.stage.resize_flat(size);
        if let Some((_, context)) = &self.stage.flat
            && let Ok(image) = ImageData::new_with_u8_clamped_array_and_sh(Clamped(pixels), size[0], size[1])
        {
            // It fails only where the picture has no pixels.
            let _ = context.put_image_data(&image, 0.0, 0.0);
        }
        self.stage.show(Layer::Flat, self.host);
    }

    /// The context `2d` of a canvas that has [`pixels`](Self::pixels) pixels, which is then shown. None in tests on the host.
    pub fn context(&mut self) -> Option<OffscreenCanvasRenderingContext2d> {
        let size = self.pixels();
        self.stage.resize_flat(size);
        self.stage.show(Layer::Flat, self.host);
        self.stage.flat.as_ref().map(|(_, context)| context.clone())
    }

    /// The renderer on the GPU's device; none where there is no GPU engine.
    pub fn renderer(&self) -> Option<&GpuRenderer> {
        self.stage.gpu.as_ref().map(|gpu| &gpu.renderer)
    }

    /// Draws these items by the GPU and shows them. `encoder` may have work of the scene already; it is submitted with the picture.
    /// Returns false where there is no GPU engine, or no canvas just now; then `encoder` is submitted alone where it can be.
    pub fn draw_gpu(&mut self, encoder: wgpu::CommandEncoder, view: &View, items: &[Item<'_>]) -> bool {
        let (size, look) = (self.pixels(), self.look());
        let Some(gpu) = &mut self.stage.gpu else { return false };
        let is_drawn = gpu.draw(encoder, size, view, &look, items);
        if is_drawn {
            self.stage.show(Layer::Gpu, self.host);
        }
        is_drawn
    }
}

impl GpuCanvas {
    fn configure(&mut self, size: [u32; 2]) {
        self.size = size;
        let configuration = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format: self.format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: size[0],
            height: size[1],
            present_mode: wgpu::PresentMode::Fifo,
            desired_maximum_frame_latency: 2,
            alpha_mode: wgpu::CompositeAlphaMode::Auto,
            view_formats: Vec::new(),
        };
        self.surface.configure(self.renderer.device(), &configuration);
    }

    fn draw(
        &mut self,
        mut encoder: wgpu::CommandEncoder,
        size: [u32; 2],
        view: &View,
        look: &Look,
        items: &[Item<'_>],
    ) -> bool {
        if self.size != size {
            self.configure(size);
        }
        let texture = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(texture)
            | wgpu::CurrentSurfaceTexture::Suboptimal(texture) => Some(texture),
            _ => None,
        };
        let Some(texture) = texture else {
            self.size = [0; 2];
            self.renderer.queue().submit([encoder.finish()]);
            return false;
        };
        let target = texture.texture.create_view(&wgpu::TextureViewDescriptor::default());
        self.renderer.draw(&mut encoder, &target, size, view, look, items);
        self.renderer.queue().submit([encoder.finish()]);
        self.renderer.queue().present(texture);
        true
    }
}
