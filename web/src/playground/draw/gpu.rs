//! The renderer through wgpu: the same three things as `software`, with four samples a pixel.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use hullfield::collide::DEVICE_WGSL;
use hullfield::wgpu;
use hullfield::wgpu::util::DeviceExt;

use crate::playground::draw::light::View;
use crate::playground::draw::line::Line;
use crate::playground::draw::mesh::Mesh;
use crate::playground::draw::palette::{Color, Palette};
use crate::playground::draw::scale::Scale;

const VIEW_WGSL: &str = include_str!("../../../shaders/view.wgsl");
const BODIES_WGSL: &str = include_str!("../../../shaders/bodies.wgsl");
const BANDS_WGSL: &str = include_str!("../../../shaders/bands.wgsl");
const LINES_WGSL: &str = include_str!("../../../shaders/lines.wgsl");

const SAMPLES: u32 = 4;
const DEPTH: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;

/// `View` in the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct ViewData {
    matrix: [[f32; 4]; 4],
    eye: [f32; 4],
    light: [f32; 4],
    palette: [[f32; 4]; 8],
    density: f32,
    padding: [f32; 3],
}

/// `Scale` in the shaders.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct ScaleData {
    colors: [[f32; 4]; 4],
    none: [f32; 4],
    range: f32,
    band: f32,
    padding: [f32; 2],
}

/// What is drawn behind everything, and the colours of marks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Behind everything.
    pub background: Color,
    /// The colours of marks.
    pub palette: Palette,
    /// Pixels of the canvas in one of the page: widths of lines are in the page's.
    pub density: f32,
}

/// A mesh on the device.
#[derive(Debug)]
pub struct GpuMesh {
    vertices: wgpu::Buffer,
    indices: wgpu::Buffer,
    index_count: u32,
}

/// The bodies of a scene: three buffers that the shader reads.
#[derive(Debug)]
pub struct GpuBodies {
    group: wgpu::BindGroup,
}

/// A number for each vertex of a mesh, and their colours.
#[derive(Debug)]
pub struct GpuValues {
    values: wgpu::Buffer,
    group: wgpu::BindGroup,
}

/// Lines on the device.
#[derive(Debug)]
pub struct GpuLines {
    lines: wgpu::Buffer,
    count: u32,
}

/// What a picture shows.
#[derive(Debug)]
pub enum Item<'a> {
    /// The bodies of one kind of hull: `range` of the list of bodies that [`GpuRenderer::bodies`] was given.
    Bodies {
        /// The mesh of the hull.
        mesh: &'a GpuMesh,
        /// The bodies.
        bodies: &'a GpuBodies,
        /// A part of the list.
        range: Range<u32>,
    },
    /// A mesh with a number at each vertex.
    Bands {
        /// The mesh.
        mesh: &'a GpuMesh,
        /// The numbers.
        values: &'a GpuValues,
    },
    /// Lines.
    Lines(&'a GpuLines),
}

#[derive(Debug)]
struct Targets {
    size: [u32; 2],
    color: wgpu::TextureView,
    depth: wgpu::TextureView,
}

/// Draws on a device of wgpu.
#[derive(Debug)]
pub struct GpuRenderer {
    device: wgpu::Device,
    queue: wgpu::Queue,
    format: wgpu::TextureFormat,
    view: wgpu::Buffer,
    view_group: wgpu::BindGroup,
    bodies_layout: wgpu::BindGroupLayout,
    scale_layout: wgpu::BindGroupLayout,
    bodies: wgpu::RenderPipeline,
    bands: wgpu::RenderPipeline,
    lines: wgpu::RenderPipeline,
    targets: Option<Targets>,
}

fn channels(color: Color) -> [f32; 4] {
    color.map(|channel| f32::from(channel) / 255.0)
}

fn entry(
    binding: u32,
    stages: wgpu::ShaderStages,
    ty: wgpu::BufferBindingType,
) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding,
        visibility: stages,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    }
}

const VERTEX: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: 24,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32x3],
};
const VALUE: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: 4,
    step_mode: wgpu::VertexStepMode::Vertex,
    attributes: &wgpu::vertex_attr_array![2 => Float32],
};
const LINE: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
    array_stride: size_of::<Line>() as u64,
    step_mode: wgpu::VertexStepMode::Instance,
    attributes: &wgpu::vertex_attr_array![0 => Float32x3, 1 => Float32, 2 => Float32x3, 3 => Unorm8x4],
};

impl GpuRenderer {
    /// Builds the pipelines; in a browser they are compiled in the background, and the first picture waits for them. `format` is that of the
    /// canvas; it must not be an sRGB one, as colours are written as they are.
    pub fn new(device: &wgpu::Device, queue: &wgpu::Queue, format: wgpu::TextureFormat) -> Self {
        use wgpu::{BufferBindingType, ShaderStages};
        let both = ShaderStages::VERTEX_FRAGMENT;
        let layout = |entries: &[wgpu::BindGroupLayoutEntry]| {
            device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries })
        };
        let view_layout = layout(&[entry(0, both, BufferBindingType::Uniform)]);
        let read = BufferBindingType::Storage { read_only: true };
        let bodies_layout = layout(&[0, 1, 2].map(|binding| entry(binding, ShaderStages::VERTEX, read)));
        let scale_layout = layout(&[entry(0, ShaderStages::FRAGMENT, BufferBindingType::Uniform)]);
        let view = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("view"),
            size: size_of::<ViewData>() as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let view_group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &view_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: view.as_entire_binding() }],
        });
        let pipeline = |label, parts: &[&str], own: Option<&wgpu::BindGroupLayout>, buffers: &[_], cull| {
            let source = wgpu::ShaderSource::Wgsl(parts.concat().into());
            let module =
                device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(label), source });
            let layouts: Vec<_> = std::iter::once(Some(&view_layout)).chain(own.map(Some)).collect();
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &layouts,
                immediate_size: 0,
            });
            device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
                label: Some(label),
                layout: Some(&layout),
                vertex: wgpu::VertexState {
                    module: &module,
                    entry_point: Some("vertex"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    buffers,
                },
                primitive: wgpu::PrimitiveState { cull_mode: cull, ..Default::default() },
                depth_stencil: Some(wgpu::DepthStencilState {
                    format: DEPTH,
                    depth_write_enabled: Some(true),
                    depth_compare: Some(wgpu::CompareFunction::LessEqual),
                    stencil: wgpu::StencilState::default(),
                    bias: wgpu::DepthBiasState::default(),
                }),
                multisample: wgpu::MultisampleState { count: SAMPLES, ..Default::default() },
                fragment: Some(wgpu::FragmentState {
                    module: &module,
                    entry_point: Some("fragment"),
                    compilation_options: wgpu::PipelineCompilationOptions::default(),
                    targets: &[Some(format.into())],
                }),
                multiview_mask: None,
                cache: None,
            })
        };
        let back = Some(wgpu::Face::Back);
        let bodies_parts = [DEVICE_WGSL, VIEW_WGSL, BODIES_WGSL];
        let bodies = pipeline("bodies", &bodies_parts, Some(&bodies_layout), &[Some(VERTEX)], back);
        let vertex = [Some(VERTEX), Some(VALUE)];
        let bands = pipeline("bands", &[VIEW_WGSL, BANDS_WGSL], Some(&scale_layout), &vertex, None);
        let lines = pipeline("lines", &[VIEW_WGSL, LINES_WGSL], None, &[Some(LINE)], None);
        Self {
            device: device.clone(),
            queue: queue.clone(),
            format,
            view,
            view_group,
            bodies_layout,
            scale_layout,
            bodies,
            bands,
            lines,
            targets: None,
        }
    }

    /// The device that it draws on.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// The device's queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    fn buffer(&self, contents: &[u8], usage: wgpu::BufferUsages) -> wgpu::Buffer {
        // A buffer may not be empty where it is bound.
        let contents = if contents.is_empty() { &[0; 16] } else { contents };
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage })
    }

    /// A mesh.
    pub fn mesh(&self, mesh: &Mesh) -> GpuMesh {
        let vertices: Vec<[[f32; 3]; 2]> =
            mesh.positions.iter().zip(&mesh.normals).map(|(&position, &normal)| [position, normal]).collect();
        GpuMesh {
            vertices: self.buffer(bytemuck::cast_slice(&vertices), wgpu::BufferUsages::VERTEX),
            indices: self.buffer(bytemuck::cast_slice(&mesh.triangles), wgpu::BufferUsages::INDEX),
            index_count: 3 * mesh.triangles.len() as u32,
        }
    }

    /// Makes the storage buffer of marks that [`bodies`](Self::bodies) takes.
    pub fn marks(&self, marks: &[u32]) -> wgpu::Buffer {
        self.buffer(bytemuck::cast_slice(marks), wgpu::BufferUsages::STORAGE)
    }

    /// The bodies of a scene. `bodies` is a storage buffer of `PackedBody`, `marks` one of a u32 for each body. `order` lists the
    /// bodies, those of one hull together, as [`Item::Bodies`] draws parts of it.
    pub fn bodies(
        &self,
        bodies: wgpu::BufferBinding<'_>,
        marks: wgpu::BufferBinding<'_>,
        order: &[u32],
    ) -> GpuBodies {
        let order = self.buffer(bytemuck::cast_slice(order), wgpu::BufferUsages::STORAGE);
        let parts = [bodies, marks, order.as_entire_buffer_binding()];
        let entries: Vec<_> = (0..)
            .zip(parts)
            .map(|(binding, part)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(part),
            })
            .collect();
        let layout = &self.bodies_layout;
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout, entries: &entries };
        GpuBodies { group: self.device.create_bind_group(&descriptor) }
    }

    /// Numbers for the vertices of a mesh, one each.
    pub fn values(&self, values: &[f32], scale: &Scale) -> GpuValues {
        let values: Vec<f32> = values.iter().map(|&value| finite_or_negative(value)).collect();
        let values = self.buffer(bytemuck::cast_slice(&values), wgpu::BufferUsages::VERTEX);
        let data = ScaleData {
            colors: scale.colors.map(channels),
            none: channels(scale.none),
            range: scale.range,
            band: scale.band,
            padding: [0.0; 2],
        };
        let data = self.buffer(bytemuck::bytes_of(&data), wgpu::BufferUsages::UNIFORM);
        let group = self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.scale_layout,
            entries: &[wgpu::BindGroupEntry { binding: 0, resource: data.as_entire_binding() }],
        });
        GpuValues { values, group }
    }

    /// Lines.
    pub fn lines(&self, lines: &[Line]) -> GpuLines {
        let buffer = self.buffer(bytemuck::cast_slice(lines), wgpu::BufferUsages::VERTEX);
        GpuLines { lines: buffer, count: lines.len() as u32 }
    }

    /// Encodes a picture of these items, in their order, after what `encoder` has already. A view that is drawn twice in one submission would
    /// have the second one's camera: submit between two pictures.
    pub fn draw(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        target: &wgpu::TextureView,
        size: [u32; 2],
        view: &View,
        look: &Look,
        items: &[Item<'_>],
    ) {
        let data = ViewData {
            matrix: view.matrix.to_cols_array_2d(),
            eye: view.eye.extend(size[0] as f32).to_array(),
            light: view.light.extend(size[1] as f32).to_array(),
            palette: look.palette.map(channels),
            density: look.density,
            padding: [0.0; 3],
        };
        self.queue.write_buffer(&self.view, 0, bytemuck::bytes_of(&data));
        if self.targets.as_ref().is_none_or(|targets| targets.size != size) {
            self.targets = Some(self.make_targets(size));
        }
        let Some(targets) = &self.targets else { return };
        let [r, g, b, _] = channels(look.background).map(f64::from);
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("picture"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &targets.color,
                depth_slice: None,
                resolve_target: Some(target),
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a: 1.0 }),
                    store: wgpu::StoreOp::Discard,
                },
            })],
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &targets.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_bind_group(0, &self.view_group, &[]);
        for item in items {
            match item {
                Item::Bodies { mesh, bodies, range } if !range.is_empty() && mesh.index_count > 0 => {
                    pass.set_pipeline(&self.bodies);
                    pass.set_bind_group(1, &bodies.group, &[]);
                    pass.set_vertex_buffer(0, mesh.vertices.slice(..));
                    pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
                    pass.draw_indexed(0..mesh.index_count, 0, range.clone());
                }
                Item::Bands { mesh, values } if mesh.index_count > 0 => {
                    pass.set_pipeline(&self.bands);
                    pass.set_bind_group(1, &values.group, &[]);
                    pass.set_vertex_buffer(0, mesh.vertices.slice(..));
                    pass.set_vertex_buffer(1, values.values.slice(..));
                    pass.set_index_buffer(mesh.indices.slice(..), wgpu::IndexFormat::Uint32);
                    pass.draw_indexed(0..mesh.index_count, 0, 0..1);
                }
                Item::Lines(lines) if lines.count > 0 => {
                    pass.set_pipeline(&self.lines);
                    pass.set_vertex_buffer(0, lines.lines.slice(..));
                    pass.draw(0..6, 0..lines.count);
                }
                _ => {}
            }
        }
    }

    fn make_targets(&self, size: [u32; 2]) -> Targets {
        let texture = |format| {
            let texture = self.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d { width: size[0], height: size[1], depth_or_array_layers: 1 },
                mip_level_count: 1,
                sample_count: SAMPLES,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
                view_formats: &[],
            });
            texture.create_view(&wgpu::TextureViewDescriptor::default())
        };
        Targets { size, color: texture(self.format), depth: texture(DEPTH) }
    }
}

/// A shader may assume that no number is infinite or NaN. So −1 marks a vertex without a value.
fn finite_or_negative(value: f32) -> f32 {
    if (0.0..=f32::MAX).contains(&value) { value } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;

    fn composed() -> [(&'static str, String); 3] {
        [
            ("bodies", [DEVICE_WGSL, VIEW_WGSL, BODIES_WGSL].concat()),
            ("bands", [VIEW_WGSL, BANDS_WGSL].concat()),
            ("lines", [VIEW_WGSL, LINES_WGSL].concat()),
        ]
    }

    #[test]
    fn naga_accepts_each_shader() {
        for (name, source) in composed() {
            let module = naga::front::wgsl::parse_str(&source)
                .unwrap_or_else(|error| panic!("{name}: {}", error.emit_to_string(&source)));
            Validator::new(ValidationFlags::all(), Capabilities::default())
                .validate(&module)
                .unwrap_or_else(|error| panic!("{name}: {error:?}"));
        }
    }

    /// tint is the compiler of Chromium; it refuses names and expressions that naga takes.
    #[test]
    fn tint_accepts_each_shader_where_it_is_installed() {
        let folder = std::env::temp_dir();
        for (name, source) in composed() {
            let file = folder.join(format!("hullfield-web-{}-{name}.wgsl", std::process::id()));
            std::fs::write(&file, source).unwrap();
            let run = std::process::Command::new("tint").args(["--format", "wgsl"]).arg(&file).output();
            std::fs::remove_file(&file).unwrap();
            let Ok(run) = run else {
                eprintln!("tint is not installed: skipped");
                return;
            };
            assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
        }
    }

    #[test]
    fn structs_have_the_layout_of_the_shaders() {
        let wanted = [
            (
                "View",
                "lines",
                size_of::<ViewData>(),
                vec![
                    std::mem::offset_of!(ViewData, matrix),
                    std::mem::offset_of!(ViewData, eye),
                    std::mem::offset_of!(ViewData, light),
                    std::mem::offset_of!(ViewData, palette),
                    std::mem::offset_of!(ViewData, density),
                ],
            ),
            (
                "Scale",
                "bands",
                size_of::<ScaleData>(),
                vec![
                    std::mem::offset_of!(ScaleData, colors),
                    std::mem::offset_of!(ScaleData, none),
                    std::mem::offset_of!(ScaleData, range),
                    std::mem::offset_of!(ScaleData, band),
                ],
            ),
        ];
        for (name, shader, size, offsets) in wanted {
            let source = composed().into_iter().find(|composed| composed.0 == shader).unwrap().1;
            let module = naga::front::wgsl::parse_str(&source).unwrap();
            let found = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).unwrap().1;
            let naga::TypeInner::Struct { members, span } = &found.inner else { panic!("{name}") };
            assert_eq!(*span as usize, size, "{name}");
            assert_eq!(
                members.iter().map(|member| member.offset as usize).collect::<Vec<_>>(),
                offsets,
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_no_distance_is_negative_on_the_device() {
        assert_eq!([0.0, 2.0].map(finite_or_negative), [0.0, 2.0]);
        for value in [f32::NAN, f32::INFINITY, -3.0] {
            assert_eq!(finite_or_negative(value), -1.0);
        }
    }
}
