//! Rings that a caller gives: checked, and repaired where no guess is needed.

use std::collections::BTreeSet;

use glam::DVec2;

use crate::error::{Error, Location, Result, shown_point};
use crate::navigate::room::build::arrangement::{
    Arrangement, FIRST_DOOR_LAYER, Intersection, IntersectionKind,
};
use crate::navigate::room::build::triangulate::Place;
use crate::navigate::shared::predicate::{MAX_COORDINATE, MIN_COORDINATE, orient};

/// A repair of a room's rings.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Repair {
    /// Which ring: 0 is the outer one, then the holes in the order given. The rings of a further polygon follow in the same order.
    pub ring: usize,
    /// What was wrong, and what was done.
    pub kind: RepairKind,
    /// Where, in the room's frame.
    pub place: [f64; 2],
}

/// What was wrong with a ring, and what was done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum RepairKind {
    /// The same point several times in a row: taken once.
    RepeatedPoint,
    /// The ring crosses itself or another ring: cut there. The even-odd rule says what is inside the ring.
    Crossing,
    /// A corner of the ring lies on an edge of this or another ring: the edge is cut there.
    Touch,
    /// A hole without area, or a polygon without area beside others: left out.
    NoArea,
    /// A hole, or a part of one, lies outside the outer ring of its polygon: it changes nothing there.
    HoleOutside,
}

impl RepairKind {
    /// A description for messages, such as "a repeated point was taken once".
    pub fn name(self) -> &'static str {
        match self {
            Self::RepeatedPoint => "a repeated point was taken once",
            Self::Crossing => "edges that cross were cut",
            Self::Touch => "an edge was cut at a corner that lies on it",
            Self::NoArea => "a ring without area was left out",
            Self::HoleOutside => "a hole lies outside of the outer ring",
        }
    }
}

/// Checks a point of the input.
pub(crate) fn check_point(at: Location, point: [f64; 2]) -> Result<DVec2> {
    let refuse = |allowed| Err(Error::value(at, "position", shown_point(&point), allowed));
    for x in point {
        if !x.is_finite() || x.abs() > MAX_COORDINATE {
            return refuse("its coordinates must be finite and at most 1e60");
        }
        if x != 0.0 && x.abs() < MIN_COORDINATE {
            return refuse("each coordinate must be 0 or at least 1e-42");
        }
    }
    Ok(point.into())
}

/// The layer of a ring among the segments.
pub(crate) fn layer(ring: usize) -> u32 {
    ring as u32
}

/// Adds the rings of a room to an arrangement. Those are outer rings of which `is_outer` is true.
///
/// # Errors
/// A coordinate that is not finite or out of range; an outer ring of fewer than three different points.
pub(crate) fn add_rings<'a>(
    arrangement: &mut Arrangement,
    rings: impl Iterator<Item = &'a [[f64; 2]]>,
    is_outer: impl Fn(usize) -> bool,
    repairs: &mut Vec<Repair>,
) -> Result<()> {
    for (ring, points) in rings.enumerate() {
        let mut corners: Vec<u32> = Vec::with_capacity(points.len());
        let is_closed = points.len() > 1 && points.first() == points.last();
        for (index, &point) in points.iter().enumerate() {
            let vertex = arrangement.point(check_point(Location::RingPoint { ring, point: index }, point)?);
            if is_closed && index + 1 == points.len() {
                break;
            }
            if corners.last() == Some(&vertex) {
                repairs.push(Repair { ring, kind: RepairKind::RepeatedPoint, place: point });
            } else {
                corners.push(vertex);
            }
        }
        while corners.len() > 1 && corners.first() == corners.last() {
            corners.pop();
        }
        let mut distinct = corners.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() < 3 {
            let place = points.first().copied().unwrap_or_default();
            if is_outer(ring) {
                return Err(Error::invalid(
                    Location::Ring(ring),
                    format!("the ring has {} different points, it needs three", distinct.len()),
                ));
            }
            repairs.push(Repair { ring, kind: RepairKind::NoArea, place });
            continue;
        }
        let [a, b] = [distinct[0], distinct[1]].map(|v| arrangement.points[v as usize]);
        if distinct.iter().all(|&v| orient(a, b, arrangement.points[v as usize]) == 0.0) {
            repairs.push(Repair { ring, kind: RepairKind::NoArea, place: points[0] });
            continue;
        }
        for i in 0..corners.len() {
            arrangement.add(corners[i], corners[(i + 1) % corners.len()], layer(ring));
        }
    }
    Ok(())
}

/// Adds the repairs that the intersections of segments stand for.
pub(crate) fn add_repairs(intersections: &[Intersection], repairs: &mut Vec<Repair>) {
    let mut found: Vec<Repair> = intersections
        .iter()
        // Doors may meet walls.
        .filter(|intersection| intersection.layers.iter().all(|&layer| layer < FIRST_DOOR_LAYER))
        .map(|intersection| Repair {
            ring: intersection.layers[0].max(intersection.layers[1]) as usize,
            kind: match intersection.kind {
                IntersectionKind::Crossing => RepairKind::Crossing,
                IntersectionKind::Touch => RepairKind::Touch,
            },
            place: intersection.place.to_array(),
        })
        .collect();
    let key = |r: &Repair| (r.ring, r.place[0], r.place[1]);
    found.sort_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.total_cmp(&b.2))
    });
    found.dedup();
    repairs.extend(found);
}

/// A place among the rings of polygons: free where it is in a polygon, that is inside its outer ring and in none of its holes, by the
/// even-odd rule for each ring.
#[derive(Debug)]
pub(crate) struct PolygonPlace {
    /// The polygon of each ring, and whether the ring is its outer one.
    rings: Vec<(u32, bool)>,
    /// The winding number of each ring.
    windings: Vec<i32>,
    polygons: Vec<PolygonState>,
    /// How many polygons hold the place.
    held_count: u32,
    /// The polygons that changed since the last question.
    changed: Vec<u32>,
    /// A triangle of each ring that is a hole and holds a place outside of its outer ring.
    pub(crate) outside: Vec<Option<[DVec2; 3]>>,
}

#[derive(Debug, Clone, Default)]
struct PolygonState {
    is_inside: bool,
    hole_count: u32,
    /// The holes that hold the place and are not known to hold a place outside.
    holes: BTreeSet<u32>,
}

impl PolygonPlace {
    /// Polygons of so many rings each, the outer one first.
    pub(crate) fn new(ring_counts: impl Iterator<Item = usize>) -> Self {
        let (mut rings, mut polygons) = (Vec::new(), Vec::new());
        for count in ring_counts {
            rings.extend((0..count).map(|ring| (polygons.len() as u32, ring == 0)));
            polygons.push(PolygonState::default());
        }
        let (windings, outside) = (vec![0; rings.len()], vec![None; rings.len()]);
        Self { rings, windings, polygons, held_count: 0, changed: Vec::new(), outside }
    }

    /// Whether a ring is the outer one of its polygon.
    pub(crate) fn is_outer(&self, ring: usize) -> bool {
        self.rings[ring].1
    }
}

impl Place for PolygonPlace {
    fn turn(&mut self, layer: u32, turns: i32) {
        let ring = layer as usize;
        let before = self.windings[ring] % 2 != 0;
        self.windings[ring] += turns;
        let after = self.windings[ring] % 2 != 0;
        if before == after {
            return;
        }
        let (polygon, is_outer) = self.rings[ring];
        let state = &mut self.polygons[polygon as usize];
        let was_held = state.is_inside && state.hole_count == 0;
        if is_outer {
            state.is_inside = after;
        } else if after {
            state.hole_count += 1;
            if self.outside[ring].is_none() {
                state.holes.insert(layer);
            }
        } else {
            state.hole_count -= 1;
            state.holes.remove(&layer);
        }
        let is_held = state.is_inside && state.hole_count == 0;
        self.held_count = self.held_count + u32::from(is_held) - u32::from(was_held);
        self.changed.push(polygon);
    }

    fn is_free(&mut self, triangle: [DVec2; 3]) -> bool {
        for polygon in self.changed.drain(..) {
            let state = &mut self.polygons[polygon as usize];
            if !state.is_inside {
                for hole in std::mem::take(&mut state.holes) {
                    self.outside[hole as usize] = Some(triangle);
                }
            }
        }
        self.held_count > 0
    }
}

/// A place of a hole that is outside the outer ring, of a triangle of the hole there: a corner of both, else the triangle's middle.
pub(crate) fn place_outside(hole: &[[f64; 2]], triangle: [DVec2; 3]) -> [f64; 2] {
    let is_corner = |point: &&[f64; 2]| triangle.contains(&DVec2::from(**point));
    let middle = || triangle.iter().map(|corner| *corner / 3.0).sum::<DVec2>().to_array();
    hole.iter().find(is_corner).copied().unwrap_or_else(middle)
}
