//! A body as the CPU engine's narrow phase reads it.

use glam::{BVec3, DMat3, DVec3, Mat3, Vec3, Vec4};

use crate::collide::hull::record::HullRecord;
use crate::collide::hull::support::Supports;
use crate::collide::scene::body::Body;

/// A body as the CPU's f32 path reads it, made once per query. The fields are in such an order that they are written four at a time.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Placed {
    /// World position of the mean of the hull's vertices.
    pub(crate) center: DVec3,
    pub(crate) hull: u32,
    /// Whether it is neither rounded nor a half-space.
    pub(crate) plain: bool,
    pub(crate) half_space: bool,
    /// Rotation from the body's frame to the world.
    pub(crate) rotation: Mat3,
    /// From the arena's unit vertices to the body's frame: scale times the hull's radius. For a half-space, what rounding took off the
    /// y axis of `rotation`.
    pub(crate) stretch: Vec3,
    /// Bounding radius about `center`.
    pub(crate) radius: f32,
    /// Upper bound of how much the rounding of the hull's mean to f32 enlarges τ, and of what the rounding of `center` takes off a gap.
    pub(crate) excess: f32,
    /// Rounding radius.
    pub(crate) rounding: f32,
    /// Radius of a ball about `center` inside the body, a lower bound to within rounding; at most 0 where there is none.
    pub(crate) inner_radius: f32,
}

const _: () = assert!(size_of::<Placed>() == 96);

/// The rotation and the stretch of a [`Placed`], which are twelve numbers next to one another.
pub(crate) struct Axes {
    pub(crate) rotation: Mat3,
    pub(crate) stretch: Vec3,
}

impl Axes {
    /// From the columns of the rotation and the stretch, one after the other.
    #[inline(always)]
    pub(crate) fn new([p, q, r]: [Vec4; 3]) -> Self {
        let (x, y, z) = (p.truncate(), Vec3::new(p.w, q.x, q.y), Vec3::new(q.z, q.w, r.x));
        Self { rotation: Mat3::from_cols(x, y, z), stretch: Vec3::new(r.y, r.z, r.w) }
    }
}

impl Placed {
    /// The columns of the rotation and the stretch, one after the other.
    #[inline(always)]
    pub(crate) fn axes(&self) -> [Vec4; 3] {
        let Mat3 { x_axis: x, y_axis: y, z_axis: z } = self.rotation;
        let s = self.stretch;
        [Vec4::new(x.x, x.y, x.z, y.x), Vec4::new(y.y, y.z, z.x, z.y), Vec4::new(z.z, s.x, s.y, s.z)]
    }

    /// The bounding radius, the excess, the rounding radius and the inner radius.
    #[inline(always)]
    pub(crate) fn radii(&self) -> Vec4 {
        Vec4::new(self.radius, self.excess, self.rounding, self.inner_radius)
    }

    /// Whether the body is exactly its hull: neither rounded nor a half-space.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether it is a half-space.
    #[inline(always)]
    pub(crate) fn is_half_space(&self) -> bool {
        self.half_space
    }

    /// Bounding radius, in world units.
    pub(crate) fn radius(&self) -> f64 {
        f64::from(self.radius)
    }

    /// Rounding radius, in world units.
    pub(crate) fn rounding(&self) -> f64 {
        f64::from(self.rounding)
    }

    /// World position of the mean of the hull's vertices.
    pub(crate) fn center(&self) -> DVec3 {
        self.center
    }

    /// The vertex furthest along a direction, about the mean; both along the world's axes.
    #[inline(always)]
    pub(crate) fn furthest(&self, supports: &Supports, direction: Vec3) -> Vec3 {
        let direction = self.rotation.transpose() * direction;
        self.rotation * (self.stretch * supports.support(self.hull, self.stretch * direction))
    }

    /// Turns a vector from the body's frame to the world's.
    #[inline(always)]
    pub(crate) fn world_vector(&self, vector: Vec3) -> DVec3 {
        (self.rotation * vector).as_dvec3()
    }

    /// The outward unit normal of a half-space.
    #[inline(always)]
    pub(crate) fn up(&self) -> DVec3 {
        self.rotation.y_axis.as_dvec3() + self.stretch.as_dvec3()
    }

    /// Places a checked body with its bounding radius.
    ///
    /// In f64 from the body as stored: for a hull far from its own origin, a small error of the rotation moves the centre far.
    #[inline(always)]
    pub(crate) fn new(body: &Body, radius: f32, record: &HullRecord) -> Self {
        Self::centered(body, radius, record, center(body, record))
    }

    /// A checked body whose own pose counts not, at another one: a position in f64, which is rounded, and a rotation.
    #[inline(always)]
    pub(crate) fn at(
        position: DVec3,
        rotation: DMat3,
        body: &Body,
        radius: f32,
        record: &HullRecord,
    ) -> Self {
        Self::centered(body, radius, record, center_of(body, position, rotation, false, record))
    }

    /// Places a checked body with its bounding radius and centre.
    #[inline(always)]
    pub(crate) fn centered(body: &Body, radius: f32, record: &HullRecord, center: Center) -> Self {
        let Center { position, rotation, excess } = center;
        let scale = DVec3::from(body.scale.map(f64::from));
        let rounding_radius = body.rounding(record) as f32;
        let half_space = record.half_space != 0;
        let turn = rotation.as_mat3();
        let remainder = (rotation.y_axis - turn.y_axis.as_dvec3()).as_vec3();
        let stretch = (scale * f64::from(record.radius)).as_vec3();
        Self {
            center: position,
            rotation: turn,
            stretch: Vec3::select(BVec3::splat(half_space), remainder, stretch),
            radius,
            excess,
            rounding: rounding_radius,
            inner_radius: body.inner_radius(record),
            hull: body.hull,
            plain: (rounding_radius == 0.0) & !half_space,
            half_space,
        }
    }
}

/// The world position of the mean of a body's vertices.
pub(crate) struct Center {
    /// World position, in f64 from the body as stored.
    pub(crate) position: DVec3,
    /// Rotation from the body's frame to the world.
    rotation: DMat3,
    /// Upper bound of how much the rounding of the mean to f32 enlarges τ, and of what the rounding of the centre takes off a gap, in
    /// world units.
    pub(crate) excess: f32,
}

/// Bound of what rounding takes off a centre, against its coordinates: u² for the second of two f32, as much for the difference of two of
/// these, together 7.11e-15; and the roundings of f64, of the centre and, with positions in f64, of the position less the query's origin, 1.2e-16
/// each.
pub(crate) const CENTER_ROUNDING: f64 = 8e-15;

/// Share of a hull's mean by which its rounding to f32 enlarges τ at most.
pub(crate) const MEAN_ROUNDING: f64 = 1e-5 * 0.5 * (f32::EPSILON as f64);

/// The world position of the mean of a checked body's vertices.
#[inline(always)]
pub(crate) fn center(body: &Body, record: &HullRecord) -> Center {
    // A position of three f32 is not rounded.
    center_at(body, DVec3::from(body.position.map(f64::from)), true, record)
}

/// The position of the mean of a checked body's vertices where that of its hull's origin is not the stored one. `is_f32` says that this is
/// a position of three f32.
#[inline(always)]
pub(crate) fn center_at(body: &Body, position: DVec3, is_f32: bool, record: &HullRecord) -> Center {
    center_of(body, position, rotation(body.rotation), is_f32, record)
}

/// The same where the rotation is not the stored one either.
#[inline(always)]
fn center_of(body: &Body, position: DVec3, rotation: DMat3, is_f32: bool, record: &HullRecord) -> Center {
    let mean = DVec3::from(body.scale.map(f64::from)) * DVec3::from(record.mean.map(f64::from));
    let position = position + rotation * mean;
    let is_exact = is_f32 && mean == DVec3::ZERO;
    let rounded = if is_exact { 0.0 } else { CENTER_ROUNDING * position.abs().element_sum() };
    let excess = mean.abs().element_sum() * MEAN_ROUNDING + rounded;
    Center { position, rotation, excess: excess as f32 }
}

/// The rotation of a stored quaternion, divided by its length.
#[inline(always)]
pub(crate) fn rotation(xyzw: [f32; 4]) -> DMat3 {
    let [x, y, z, w] = xyzw.map(f64::from);
    let twice = 2.0 / (x * x + y * y + z * z + w * w);
    let (tx, ty, tz) = (x * twice, y * twice, z * twice);
    DMat3::from_cols(
        DVec3::new(1.0 - (y * ty + z * tz), x * ty + w * tz, x * tz - w * ty),
        DVec3::new(x * ty - w * tz, 1.0 - (x * tx + z * tz), y * tz + w * tx),
        DVec3::new(x * tz + w * ty, y * tz - w * tx, 1.0 - (x * tx + y * ty)),
    )
}

/// The rotation by an angle in radians about a unit axis (Rodrigues), with the sine and cosine of the crate `libm`: those of the platform
/// differ from one to the next.
pub(crate) fn turn(axis: DVec3, angle: f64) -> DMat3 {
    let (sin, cos) = libm::sincos(angle);
    let DVec3 { x, y, z } = axis;
    let rest = axis * (1.0 - cos);
    let side = axis * sin;
    DMat3::from_cols(
        DVec3::new(x * rest.x + cos, x * rest.y + side.z, x * rest.z - side.y),
        DVec3::new(y * rest.x - side.z, y * rest.y + cos, y * rest.z + side.x),
        DVec3::new(z * rest.x + side.y, z * rest.y - side.x, z * rest.z + cos),
    )
}
