//! Which parts of two compounds may meet.

use glam::DVec3;

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::{Tree, Visit, WIDTH};
use crate::collide::compound::body::Placement;
use crate::collide::compound::boxes::{CenteredBox, SLACK, Transform};
use crate::collide::compound::shape::Shape;

/// A compound and where it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed<'a> {
    pub(crate) shape: &'a Shape,
    pub(crate) placement: &'a Placement,
    /// Of the body, relative to the query's origin.
    pub(crate) position: DVec3,
}

/// Up to so many leaves of a tree are tested one after the other.
const FEW_LEAVES: usize = 8;

impl Placed<'_> {
    /// The box around the body, relative to the query's origin.
    pub(crate) fn bounds(&self) -> CenteredBox {
        self.local_to_world().around(&self.shape.bounds).grown(self.placement.padding + self.slack())
    }

    /// What rounding may add to the size of a part's box, in world units.
    fn slack(&self) -> f64 {
        let Placement { scale, padding, .. } = *self.placement;
        SLACK * (scale * self.shape.bounds.size() + padding)
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

    /// Calls `found` for each part whose box meets one in this body's frame, in no order.
    #[inline(always)]
    fn for_each_part(&self, query: &Aabb, found: impl FnMut(u32)) {
        let tree = &self.shape.tree;
        let mut visitor = Overlapping { tree, query, found };
        let leaf_count = tree.levels.first().map_or(0, Vec::len);
        if leaf_count <= FEW_LEAVES {
            (0..leaf_count).for_each(|leaf| visitor.leaf(leaf));
        } else {
            tree.visit(query, 0, &mut visitor);
        }
    }

    /// The part with the point nearest to one of this body's frame.
    fn nearest_part(&self, point: DVec3) -> usize {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (part, other) in self.shape.points.iter().enumerate() {
            let away = other.distance_squared(point);
            if away < least {
                (nearest, least) = (part, away);
            }
        }
        nearest
    }
}

/// Parts of two bodies that are near one another: none need be nearer than the bodies are, but they mostly are.
pub(crate) fn near_parts(a: &Placed<'_>, b: &Placed<'_>) -> [u32; 2] {
    let of_b = b.nearest_part(b.from(a).point(a.shape.bounds.middle));
    let of_a = a.nearest_part(a.from(b).point(b.shape.points[of_b]));
    [of_a as u32, of_b as u32]
}

/// Appends the pairs `[part of a, part of b]` that may touch or be at most `within` world units apart, sorted.
pub(crate) fn part_pairs(a: &Placed<'_>, b: &Placed<'_>, within: f64, pairs: &mut Vec<[u32; 2]>) {
    if within == f64::INFINITY {
        let of_b = 0..b.shape.parts.len() as u32;
        pairs.extend((0..a.shape.parts.len() as u32).flat_map(|p| of_b.clone().map(move |q| [p, q])));
        return;
    }
    let first = pairs.len();
    let paddings = a.placement.padding + b.placement.padding;
    let grow = within * (1.0 + SLACK) + paddings + a.slack() + b.slack();
    let (to_a, to_b) = (a.from(b), b.from(a));
    let around_a = to_b.around(&a.shape.bounds).grown(grow / b.placement.scale).nearest();
    let (grow, ratio) = (grow / a.placement.scale, b.placement.scale / a.placement.scale);
    b.for_each_part(&around_a, |q| {
        let query = to_a.around(&b.shape.boxes[q as usize]).grown(grow).nearest();
        let (middle, radius) =
            (to_a.point(b.shape.points[q as usize]), ratio * b.shape.radii[q as usize] + grow);
        a.for_each_part(&query, |p| {
            let reach = radius + a.shape.radii[p as usize];
            if a.shape.points[p as usize].distance_squared(middle) <= reach * reach {
                pairs.push([p, q]);
            }
        });
    });
    pairs[first..].sort_unstable_by_key(|&[p, q]| u64::from(p) << 32 | u64::from(q));
}

/// Appends the parts of a body that may touch a static or be at most `within` world units from it, sorted.
pub(crate) fn parts_near_static(a: &Placed<'_>, fixed: &Aabb, within: f64, parts: &mut Vec<u32>) {
    if within == f64::INFINITY {
        parts.extend(0..a.shape.parts.len() as u32);
        return;
    }
    let first = parts.len();
    let Placement { scale, padding, .. } = *a.placement;
    let grow = within * (1.0 + SLACK) + padding + a.slack();
    if fixed.is_plane() {
        let to_world = a.local_to_world();
        let reaches = |part: &u32| {
            to_world.around(&a.shape.boxes[*part as usize]).grown(grow).rounded().reaches(fixed, 0.0)
        };
        parts.extend((0..a.shape.parts.len() as u32).filter(reaches));
        return;
    }
    let corner = |corner: [f32; 3]| DVec3::from(corner.map(f64::from));
    let around = a.world_to_local().around(&CenteredBox::between(corner(fixed.min), corner(fixed.max)));
    a.for_each_part(&around.grown(grow / scale).nearest(), |part| parts.push(part));
    parts[first..].sort_unstable();
}

/// Calls `found` for each box of a tree that overlaps another.
struct Overlapping<'a, F> {
    tree: &'a Tree,
    query: &'a Aabb,
    found: F,
}

impl<F: FnMut(u32)> Visit for Overlapping<'_, F> {
    #[inline(always)]
    fn leaf(&mut self, leaf: usize) {
        let mut lanes = self.tree.levels[0][leaf].overlaps(self.query);
        while lanes != 0 {
            (self.found)(self.tree.order[leaf * WIDTH + lanes.trailing_zeros() as usize]);
            lanes &= lanes - 1;
        }
    }
}
