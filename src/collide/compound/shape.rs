//! A compound laid out for searches: the boxes of its parts in its own frame, and a tree over them.

use glam::{DQuat, DVec3};

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::{Tree, Visit, WIDTH};
use crate::collide::compound::body::unit;
use crate::collide::compound::boxes::{CenteredBox, SLACK};
use crate::collide::compound::field::Field;
use crate::collide::compound::layout::PartLayout;
use crate::collide::compound::part::{Compound, Part};
use crate::collide::hull::{Dimension, Hull};
use crate::collide::scene::placed::rotation;
use crate::collide::scene::query_input::Scene;
use crate::error::{Error, Location, Result};

/// What a body may be: hulls of the arena, or the triangles of a height field.
#[derive(Debug)]
pub(crate) enum Shape {
    Parts(PartList),
    Field(Field),
}

impl Shape {
    /// Whether the engines can hold each part of a body of this scale and padding.
    pub(crate) fn fits(&self, scale: f64, padding: f64) -> bool {
        match self {
            Self::Parts(list) => list.fits(scale, padding),
            Self::Field(field) => field.fits(scale, padding),
        }
    }

    /// The box around all parts.
    pub(crate) fn bounds(&self) -> &CenteredBox {
        match self {
            Self::Parts(list) => &list.bounds,
            Self::Field(field) => &field.bounds,
        }
    }

    /// What rounding may add to the box of a part, in the shape's units.
    pub(crate) fn slack(&self) -> f64 {
        match self {
            Self::Parts(list) => PartLayout::slack(list),
            Self::Field(field) => field.slack(),
        }
    }

    /// How many parts it has, missing triangles included.
    pub(crate) fn part_count(&self) -> u64 {
        match self {
            Self::Parts(list) => list.parts.len() as u64,
            Self::Field(field) => field.heights.part_count().into(),
        }
    }

    /// The parts that are hulls of the arena: none of a height field.
    pub(crate) fn list(&self) -> Option<&PartList> {
        match self {
            Self::Parts(list) => Some(list),
            Self::Field(_) => None,
        }
    }

    /// The height field, where it is one.
    pub(crate) fn field(&self) -> Option<&Field> {
        match self {
            Self::Parts(_) => None,
            Self::Field(field) => Some(field),
        }
    }
}

/// A checked compound.
#[derive(Debug)]
pub(crate) struct PartList {
    pub(crate) parts: Vec<Part>,
    /// The rotation of each part at length 1.
    pub(crate) turns: Vec<DQuat>,
    /// One for each part, in the compound's frame.
    pub(crate) boxes: Vec<CenteredBox>,
    /// A point of each part, in the compound's frame.
    pub(crate) points: Vec<DVec3>,
    /// How far each part reaches from its point.
    pub(crate) radii: Vec<f64>,
    /// Over the boxes in f32.
    pub(crate) tree: Tree,
    /// Around all parts.
    pub(crate) bounds: CenteredBox,
    range: Range,
}

/// What the scale of a body may make too large or too small for a part.
#[derive(Debug, Clone, Copy)]
struct Range {
    /// Least and greatest of the parts' radii that are not 0, and of their scales.
    least: f64,
    most: f64,
    /// Greatest coordinate of the mean of a hull's vertices about its origin.
    most_mean: f64,
    /// Least scale of a part along an axis.
    least_scale: f64,
}

impl PartList {
    /// Whether the engines can hold each part of a body of this scale and padding.
    pub(crate) fn fits(&self, scale: f64, padding: f64) -> bool {
        let Range { least, most, most_mean, least_scale } = self.range;
        // Rounding must not lead past the limits.
        let (low, high) = (1.000_001e-18, 0.999_999e18);
        scale * most + padding <= high
            && scale * most_mean <= high
            && scale * least + padding >= low
            && scale * least_scale >= 1e-37
    }

    /// Lays out compound `row`.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it has no part, a half-space or a removed hull, [`Error::Missing`] for a hull, [`Error::Value`] for a number.
    pub(crate) fn new(row: usize, compound: &Compound, scene: &Scene) -> Result<Self> {
        let hulls = &scene.hulls;
        let parts = compound.parts.clone();
        if parts.is_empty() {
            let message = format!("compound {row} has no parts, it needs at least one");
            return Err(Error::invalid(Location::Argument, message));
        }
        let mut boxes = Vec::with_capacity(parts.len());
        let mut points = Vec::with_capacity(parts.len());
        let mut radii = Vec::with_capacity(parts.len());
        for (index, part) in parts.iter().enumerate() {
            let at = Location::Part { compound: row, part: index };
            let Some(hull) = hulls.get(part.hull as usize) else {
                let (index, count) = (part.hull.into(), hulls.len() as u64);
                return Err(Error::Missing { at, what: "hull", index, count });
            };
            if scene.removed.contains(&part.hull) {
                let message = format!("hull {} was removed from the arena", part.hull);
                return Err(Error::invalid(at, message));
            }
            if hull.dimension() == Dimension::HalfSpace {
                return Err(Error::invalid(
                    at,
                    "a half-space can't be a part, place it as a body of its own",
                ));
            }
            if let Some(error) = part.pose.fault(at) {
                return Err(error);
            }
            if !(part.padding >= 0.0 && part.padding <= 1e18) {
                let allowed = "it must be from 0 to 1e18";
                return Err(Error::value(at, "padding", format!("{:?}", part.padding), allowed));
            }
            boxes.push(local_box(hull, part));
            points.push(placed(part, DVec3::from(hull.mean())));
            radii.push(reach(hull, part));
        }
        let (mut least, mut most) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for part in &boxes {
            least = least.min(part.middle - part.half);
            most = most.max(part.middle + part.half);
        }
        let bounds = CenteredBox::between(least, most);
        let aabbs: Vec<Aabb> = boxes.iter().map(CenteredBox::nearest).collect();
        let turns = parts.iter().map(|part| unit(part.pose.rotation)).collect();
        let mut tree = Tree::default();
        tree.rebuild(&aabbs);
        let range = Range::new(&parts, &radii, hulls);
        Ok(Self { range, parts, turns, boxes, points, radii, tree, bounds })
    }
}

impl Range {
    fn new(parts: &[Part], radii: &[f64], hulls: &[Hull]) -> Self {
        let mut range = Self { least: f64::INFINITY, most: 0.0, most_mean: 0.0, least_scale: f64::INFINITY };
        for (part, &radius) in parts.iter().zip(radii) {
            if radius > 0.0 {
                range.least = range.least.min(radius);
            }
            let scales = part.pose.scale.map(f64::from);
            range.most = scales.into_iter().chain([radius]).fold(range.most, f64::max);
            range.least_scale = scales.into_iter().fold(range.least_scale, f64::min);
            let mean = hulls[part.hull as usize].mean();
            range.most_mean = (0..3).map(|k| (mean[k] * scales[k]).abs()).fold(range.most_mean, f64::max);
        }
        range
    }
}

/// Up to so many leaves of a tree are tested one after the other.
const FEW_LEAVES: usize = 8;

impl PartLayout for PartList {
    fn bounds(&self) -> &CenteredBox {
        &self.bounds
    }

    fn slack(&self) -> f64 {
        SLACK * self.bounds.size()
    }

    #[inline(always)]
    fn part_box(&self, part: u32) -> CenteredBox {
        self.boxes[part as usize]
    }

    #[inline(always)]
    fn ball(&self, part: u32) -> (DVec3, f64) {
        (self.points[part as usize], self.radii[part as usize])
    }

    #[inline(always)]
    fn for_each_part(&self, query: &Aabb, found: impl FnMut(u32)) {
        let tree = &self.tree;
        let mut visitor = Overlapping { tree, query, found };
        let leaf_count = tree.levels.first().map_or(0, Vec::len);
        if leaf_count <= FEW_LEAVES {
            (0..leaf_count).for_each(|leaf| visitor.leaf(leaf));
        } else {
            tree.visit(query, 0, &mut visitor);
        }
    }

    fn all_parts(&self, found: impl FnMut(u32)) {
        (0..self.parts.len() as u32).for_each(found);
    }

    fn nearest_part(&self, point: DVec3) -> u32 {
        let (mut nearest, mut least) = (0, f64::INFINITY);
        for (part, other) in (0..).zip(&self.points) {
            let away = other.distance_squared(point);
            if away < least {
                (nearest, least) = (part, away);
            }
        }
        nearest
    }
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

/// A point of a hull's frame in the compound's.
fn placed(part: &Part, point: DVec3) -> DVec3 {
    let scale = DVec3::from(part.pose.scale.map(f64::from));
    DVec3::from(part.pose.position.map(f64::from)) + rotation(part.pose.rotation) * (scale * point)
}

/// How far a part reaches from the mean of its vertices, in the compound's units.
fn reach(hull: &Hull, part: &Part) -> f64 {
    let scale = DVec3::from(part.pose.scale.map(f64::from));
    let mean = DVec3::from(hull.mean());
    let length = |v: &[f32; 3]| (scale * (DVec3::from(v.map(f64::from)) - mean)).length();
    let core = hull.vertices().iter().map(length).fold(0.0, f64::max);
    core + f64::from(hull.rounding()) * scale.min_element() + f64::from(part.padding)
}

/// The box of a part in the compound's frame.
fn local_box(hull: &Hull, part: &Part) -> CenteredBox {
    let (mut least, mut most) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for vertex in hull.vertices() {
        let point = placed(part, DVec3::from(vertex.map(f64::from)));
        least = least.min(point);
        most = most.max(point);
    }
    let [x, y, z] = part.pose.scale;
    let rounding = f64::from(hull.rounding()) * f64::from(x.min(y).min(z)) + f64::from(part.padding);
    let core = CenteredBox::between(least, most).grown(rounding);
    // Numbers that cancel are rounded by a share of themselves.
    let away = part.pose.position.iter().map(|x| f64::from(x.abs())).sum::<f64>();
    let longest = hull.vertices().iter().map(|v| DVec3::from(v.map(f64::from)).length()).fold(0.0, f64::max);
    let reach = away + longest * f64::from(x.max(y).max(z));
    core.grown(SLACK * core.size() + 1e-6 * reach)
}
