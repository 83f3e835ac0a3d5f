//! The kernel of rays on the GPU engine: see `query/gpu/rays.rs`.

use bytemuck::{Pod, Zeroable};
use glam::DVec3;

use crate::collide::broad_phase::kernels::{LEVELS, Levels, NODE, ROTATION, TYPES};
use crate::collide::scene::ray::Ray;
use crate::gpu::DISPATCH_WGSL;
use crate::gpu::kernel::{Kernel, Trust, only, read, read_write, uniform};
use crate::gpu::wgsl::wgsl;

pub(crate) static RAY_SEARCH: Kernel = Kernel {
    label: "hullfield.collide.ray_search",
    sources: only(&[
        DISPATCH_WGSL,
        TYPES,
        ROTATION,
        NODE,
        wgsl!("../../../shaders/collide/ray/record.wgsl"),
        LEVELS,
        wgsl!("../../../shaders/collide/ray/cast.wgsl"),
        wgsl!("../../../shaders/collide/ray/search.wgsl"),
    ]),
    workgroup_size: 64,
    trust: Trust::Loops("a constant number of visits; counters rise by 1 to a number that doesn't change"),
    bindings: only(&[
        uniform("params", "RayParams"),
        read("bodies", "array<PackedBody>"),
        read("ray_hulls", "array<RayHull>"),
        read("planes", "array<vec4f>"),
        read("leaves", "array<Node>"),
        read("nodes", "array<Node>"),
        read("rays", "array<Ray>"),
        read_write("found", "array<u32>"),
    ]),
};

/// The kernels of this file, for the module `inspect`.
#[cfg(any(feature = "inspect", test))]
pub(crate) static KERNELS: &[&Kernel] = &[&RAY_SEARCH];

/// As in `shaders/collide/ray/record.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct RayParams {
    pub(crate) begin: u32,
    pub(crate) end: u32,
    pub(crate) mover_count: u32,
    pub(crate) static_count: u32,
    pub(crate) mover_top: u32,
    pub(crate) static_top: u32,
    pub(crate) is_any: u32,
    pub(crate) skips_start: u32,
    pub(crate) mover_levels: Levels,
    pub(crate) static_levels: Levels,
}

/// `Ray` in `shaders/collide/ray/record.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(crate) struct DeviceRay {
    pub(crate) origin: [f32; 3],
    pub(crate) max_distance: f32,
    pub(crate) direction: [f32; 3],
    pub(crate) group: u32,
    pub(crate) remainder: [f32; 3],
    pub(crate) mask: u32,
}

impl DeviceRay {
    /// A checked ray that starts at a point relative to the query's origin.
    pub(crate) fn new(ray: &Ray, start: DVec3) -> Self {
        let origin = start.as_vec3();
        let direction = DVec3::from(ray.direction.map(f64::from));
        // Its square may be too small for f64, or its length too great for f32.
        let direction = direction / direction.abs().max_element();
        let unit = (direction / direction.length()).to_array();
        let least = f64::from(LEAST_COMPONENT);
        let shown = |x: f64| if x == 0.0 || x.abs() >= least { x as f32 } else { UNKNOWN_COMPONENT };
        Self {
            origin: origin.to_array(),
            max_distance: ray.max_distance.min(BEYOND),
            direction: unit.map(shown),
            group: ray.group,
            remainder: (start - origin.as_dvec3()).as_vec3().to_array(),
            mask: ray.mask,
        }
    }
}

/// As in `shaders/collide/ray/record.wgsl`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
pub(crate) struct RayHull {
    pub(crate) plane_begin: u32,
    pub(crate) plane_count: u32,
    pub(crate) core: u32,
    pub(crate) radius: f32,
    pub(crate) end: [f32; 3],
    pub(crate) padding: u32,
}

/// The constants of the same names in `shaders/collide/ray/record.wgsl`.
pub(crate) const CORE_POINT: u32 = 0;
pub(crate) const CORE_SEGMENT: u32 = 1;
pub(crate) const CORE_SOLID: u32 = 2;
pub(crate) const CORE_POLYGON: u32 = 3;
pub(crate) const CORE_HALF_SPACE: u32 = 4;
/// Farther than any hit: `BEYOND` in `shaders/collide/ray/record.wgsl`.
pub(crate) const BEYOND: f32 = 3e38;
/// Below this a component of a unit direction is not used: `LEAST_COMPONENT` in `shaders/collide/ray/search.wgsl`.
pub(crate) const LEAST_COMPONENT: f32 = 1e-18;
/// What takes the place of such a component, unless it is 0: a number that no device takes for 0.
const UNKNOWN_COMPONENT: f32 = 1e-20;

#[cfg(test)]
mod tests {
    use super::{
        BEYOND, CORE_HALF_SPACE, CORE_POINT, CORE_POLYGON, CORE_SEGMENT, CORE_SOLID, LEAST_COMPONENT,
    };
    use super::{RAY_SEARCH, RayHull, RayParams};
    use crate::collide::narrow_phase::kernels::tests::{constant, same_layout};
    use crate::collide::ray::search::{HIT, NONE, OPEN};

    use crate::collide::ray::kernels::DeviceRay as Ray;

    #[test]
    fn structs_have_the_same_layout_in_both_languages() {
        same_layout!(
            RAY_SEARCH,
            RayParams {
                begin,
                end,
                mover_count,
                static_count,
                mover_top,
                static_top,
                is_any,
                skips_start,
                mover_levels,
                static_levels
            }
        );
        same_layout!(RAY_SEARCH, RayHull { plane_begin, plane_count, core, radius, end, padding });
        same_layout!(RAY_SEARCH, Ray { origin, max_distance, direction, group, remainder, mask });
    }

    #[test]
    fn constants_are_the_same_in_both_languages() {
        let same = [
            ("CORE_POINT", f64::from(CORE_POINT)),
            ("CORE_SEGMENT", f64::from(CORE_SEGMENT)),
            ("CORE_SOLID", f64::from(CORE_SOLID)),
            ("CORE_POLYGON", f64::from(CORE_POLYGON)),
            ("CORE_HALF_SPACE", f64::from(CORE_HALF_SPACE)),
            ("BEYOND", f64::from(BEYOND)),
            ("LEAST_COMPONENT", f64::from(LEAST_COMPONENT)),
            ("NONE", f64::from(NONE)),
            ("OPEN", f64::from(OPEN)),
            ("HIT", f64::from(HIT)),
        ];
        for (name, value) in same {
            assert_eq!(constant(&RAY_SEARCH, name), value, "{name}");
        }
    }
}
