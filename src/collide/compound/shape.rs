//! A compound laid out for searches: the boxes of its parts in its own frame, and a tree over them.

use glam::{DQuat, DVec3};

use crate::collide::bvh::aabb::Aabb;
use crate::collide::bvh::tree::Tree;
use crate::collide::compound::body::unit;
use crate::collide::compound::boxes::{CenteredBox, SLACK};
use crate::collide::compound::part::{Compound, Part};
use crate::collide::hull::{Dimension, Hull};
use crate::collide::scene::placed::rotation;
use crate::error::{Error, Location, Result};

/// A checked compound.
#[derive(Debug)]
pub(crate) struct Shape {
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
}

impl Shape {
    /// Lays out compound `row`.
    ///
    /// # Errors
    /// [`Error::Invalid`] where it has no part or a half-space, [`Error::Missing`] for a hull, [`Error::Value`] for a number.
    pub(crate) fn new(row: usize, compound: &Compound, hulls: &[Hull]) -> Result<Self> {
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
        tree.rebuild(&aabbs, &[]);
        Ok(Self { parts, turns, boxes, points, radii, tree, bounds })
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
