//! The hulls as rays read them on the device.

use glam::DVec3;

use crate::collide::hull::Dimension;
use crate::collide::hull::plane_table::LANES;
use crate::collide::ray::kernels::{
    CORE_HALF_SPACE, CORE_POINT, CORE_POLYGON, CORE_SEGMENT, CORE_SOLID, RayHull,
};
use crate::collide::scene::query_input::Scene;
use crate::error::Result;
use crate::gpu::buffer::Buffer;
use crate::gpu::context::Context;
use crate::gpu::frame::Frame;

/// The hulls as rays read them.
#[derive(Debug, Clone)]
pub(crate) struct RayHulls {
    pub(crate) records: Buffer<RayHull>,
    /// Unit normal, and height above the mean in units of the hull's radius.
    pub(crate) planes: Buffer<[f32; 4]>,
}

impl RayHulls {
    /// Uploads the hulls of a scene; `None` where a table is larger than one binding may be.
    pub(crate) fn new(context: &Context, scene: &Scene) -> Result<Option<Self>> {
        let (records, planes) = tables(scene);
        if size_of_val(&planes[..]).max(size_of_val(&records[..])) as u64 > context.binding_limit() {
            return Ok(None);
        }
        let made = Self {
            records: Buffer::new(context, "hullfield.collide.ray_hulls", records.len())?,
            planes: Buffer::new(context, "hullfield.collide.ray_planes", planes.len())?,
        };
        let mut frame = Frame::new(context, "hullfield.collide.ray_hulls")?;
        frame.upload(&made.records, 0, &records)?;
        frame.upload(&made.planes, 0, &planes)?;
        // The queue runs in order, so nothing needs to wait for this.
        frame.send()?;
        Ok(Some(made))
    }
}

/// The hulls as rays read them, and the planes of all.
fn tables(scene: &Scene) -> (Vec<RayHull>, Vec<[f32; 4]>) {
    let (mut records, mut planes) = (Vec::new(), Vec::new());
    for (id, hull) in (0..).zip(&scene.hulls) {
        let table = scene.planes.of(&scene.hulls, id);
        let radius = hull.radius();
        let plane_begin = planes.len() as u32;
        for block in &table.blocks {
            for lane in (0..LANES).filter(|&lane| block.offset[lane].is_finite()) {
                let normal = [0, 1, 2].map(|k| block.normal[k][lane] as f32);
                planes.push([normal[0], normal[1], normal[2], (block.offset[lane] / radius) as f32]);
            }
        }
        let core = match hull.dimension() {
            Dimension::Point => CORE_POINT,
            Dimension::Segment => CORE_SEGMENT,
            Dimension::Polygon => CORE_POLYGON,
            Dimension::Solid => CORE_SOLID,
            Dimension::HalfSpace => CORE_HALF_SPACE,
        };
        let end = match table.vertices[..] {
            [a, b] if core == CORE_SEGMENT => 0.5 * (b - a) / radius,
            _ => DVec3::ZERO,
        };
        records.push(RayHull {
            plane_begin,
            plane_count: planes.len() as u32 - plane_begin,
            core,
            radius: radius as f32,
            end: end.as_vec3().to_array(),
            padding: 0,
        });
    }
    if planes.is_empty() {
        planes.push([0.0; 4]);
    }
    (records, planes)
}
