//! Which parts of two compounds may meet.

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::compound::body::Placement;
use crate::collide::compound::boxes::{CenteredBox, SLACK, Transform};
use crate::collide::compound::layout::PartLayout;
use crate::collide::compound::shape::Shape;
use crate::order::sort_pairs;

/// A compound and where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) placement: &'a Placement,
    /// Of the body, relative to the query's origin.
    pub(crate) position: DVec3,
}

impl Placed<'_> {
    /// The box around the body, relative to the query's origin.
    pub(crate) fn bounds(&self) -> CenteredBox {
        self.local_to_world().around(self.shape.bounds()).grown(self.placement.padding + self.slack())
    }

    /// What rounding may add to the size of a part's box, and what it may move the part by, in world units.
    fn slack(&self) -> f64 {
        let Placement { scale, padding, .. } = *self.placement;
        scale * self.shape.slack() + SLACK * padding + self.placement.rounding()
    }

    /// The way from the frame of `other` to that of this body.
    #[inline(always)]
    fn from(&self, other: &Placed<'_>) -> Transform {
        let back = self.placement.turn.transpose();
        let by = back * ((other.position - self.position) / self.placement.scale);
        Transform::new(&(back * other.placement.turn), other.placement.scale / self.placement.scale, by)
    }

    /// The way from the frame of this body to the world, relative to the query's origin.
    fn local_to_world(self) -> Transform {
        let Placement { ref turn, scale, .. } = *self.placement;
        Transform::new(turn, scale, self.position)
    }

    /// The way back.
    fn world_to_local(self) -> Transform {
        let back = self.placement.turn.transpose();
        let scale = 1.0 / self.placement.scale;
        Transform::new(&back, scale, back * (-self.position * scale))
    }
}

/// Calls a function with the layout of a shape.
macro_rules! of_layout {
    ($shape:expr, $layout:ident => $work:expr) => {
        match $shape {
            Shape::Parts($layout) => $work,
            Shape::Field($layout) => $work,
        }
    };
}

/// Parts of two bodies that are near one another: none need be nearer than the bodies are, but they mostly are.
pub(crate) fn near_parts(a: &Placed<'_>, b: &Placed<'_>) -> [u32; 2] {
    // A height field has parts everywhere: the other's middle says where to begin.
    if a.shape.field().is_some() && b.shape.field().is_none() {
        let [q, p] = near_parts(b, a);
        return [p, q];
    }
    let middle = b.from(a).point(a.shape.bounds().middle);
    let (of_b, point) = of_layout!(b.shape, layout => {
        let part = layout.nearest_part(middle);
        (part, layout.ball(part).0)
    });
    let of_a = of_layout!(a.shape, layout => layout.nearest_part(a.from(b).point(point)));
    [of_a, of_b]
}

/// A part of a body: any, but none that is missing.
pub(crate) fn any_part(a: &Placed<'_>) -> u32 {
    match a.shape {
        Shape::Parts(_) => 0,
        Shape::Field(field) => field.first_part(),
    }
}

/// Appends the pairs `[part of a, part of b]` that may touch or be at most `within` world units apart, sorted.
pub(crate) fn part_pairs(a: &Placed<'_>, b: &Placed<'_>, within: f64, pairs: &mut Vec<[u32; 2]>) {
    let first = pairs.len();
    match (a.shape, b.shape) {
        (Shape::Parts(p), Shape::Parts(q)) => {
            for_each_pair((a, p), (b, q), within, |p, q| pairs.push([p, q]));
        }
        // What is searched for each part of the other is the height field.
        (Shape::Field(p), Shape::Parts(q)) => {
            for_each_pair((a, p), (b, q), within, |p, q| pairs.push([p, q]));
        }
        (Shape::Parts(p), Shape::Field(q)) => {
            for_each_pair((b, q), (a, p), within, |q, p| pairs.push([p, q]));
        }
        (Shape::Field(p), Shape::Field(q)) => {
            for_each_pair((a, p), (b, q), within, |p, q| pairs.push([p, q]));
        }
    }
    sort_pairs(&mut pairs[first..]);
}

/// Calls `found` with the pairs of parts of `a` and `b` that may touch or be within a distance, in no order.
#[inline(always)]
fn for_each_pair<A: PartLayout, B: PartLayout>(
    (a, of_a): (&Placed<'_>, &A),
    (b, of_b): (&Placed<'_>, &B),
    within: f64,
    mut found: impl FnMut(u32, u32),
) {
    if within == f64::INFINITY {
        of_a.all_parts(|p| of_b.all_parts(|q| found(p, q)));
        return;
    }
    let paddings = a.placement.padding + b.placement.padding;
    let grow = within * (1.0 + SLACK) + paddings + a.slack() + b.slack();
    let (to_a, to_b) = (a.from(b), b.from(a));
    let around_a = to_b.around(of_a.bounds()).grown(grow / b.placement.scale).nearest();
    let (grow, ratio) = (grow / a.placement.scale, b.placement.scale / a.placement.scale);
    of_b.for_each_part(&around_a, |q| {
        let query = to_a.around(&of_b.part_box(q)).grown(grow).nearest();
        let (point, radius) = of_b.ball(q);
        let (middle, radius) = (to_a.point(point), ratio * radius + grow);
        of_a.for_each_part(&query, |p| {
            let (point, reach) = of_a.ball(p);
            let reach = radius + reach;
            if point.distance_squared(middle) <= reach * reach && !of_a.is_clear(p, middle, radius) {
                found(p, q);
            }
        });
    });
}

/// Appends the parts of a body that may touch a static or be at most `within` world units from it, sorted.
pub(crate) fn parts_near_static(a: &Placed<'_>, fixed: &Aabb, within: f64, parts: &mut Vec<u32>) {
    of_layout!(a.shape, layout => parts_of_near_static(a, layout, fixed, within, parts));
}

fn parts_of_near_static(
    a: &Placed<'_>,
    layout: &impl PartLayout,
    fixed: &Aabb,
    within: f64,
    parts: &mut Vec<u32>,
) {
    if within == f64::INFINITY {
        layout.all_parts(|part| parts.push(part));
        return;
    }
    let first = parts.len();
    let Placement { scale, padding, .. } = *a.placement;
    let grow = within * (1.0 + SLACK) + padding + a.slack();
    if fixed.is_plane() {
        let to_world = a.local_to_world();
        layout.all_parts(|part| {
            let around = to_world.around(&layout.part_box(part)).grown(grow);
            if around.rounded().reaches(fixed, 0.0) {
                parts.push(part);
            }
        });
        return;
    }
    let corner = |corner: [f32; 3]| DVec3::from(corner.map(f64::from));
    let around = a.world_to_local().around(&CenteredBox::between(corner(fixed.min), corner(fixed.max)));
    layout.for_each_part(&around.grown(grow / scale).nearest(), |part| parts.push(part));
    parts[first..].sort_unstable();
}
