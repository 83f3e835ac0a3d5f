//! A path over a surface.

use glam::DVec3;

use crate::navigate::shared::reach::Reach;
use crate::navigate::surface::geodesic::unfold::EdgeCrossing;
use crate::navigate::surface::mesh::topology::Mesh;

/// A point of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Point {
    /// The triangle that it lies on.
    pub triangle: u32,
    /// Where it is, in the surface's frame.
    pub position: [f64; 3],
    /// How far that is from the point that was asked for.
    pub distance: f64,
}

/// A path over a surface, or why there is none. One can be handed to query after query: its memory is kept.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Path {
    /// Whether there is a path.
    pub reach: Reach<Point>,
    /// Its length in the surface's units, and the costs of the links that it takes; infinite where there is none.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub length: f64,
    /// The start, each place where it crosses an edge, and the goal. Points that coincide are one, but for a start that is
    /// the goal, and where triangles of which two corners nearly are one lie between two that share no corner. Empty where there is no path.
    /// Straight in between.
    pub points: Vec<[f64; 3]>,
    /// A unit normal for each point: the average of the triangles' before and after it. It is the start triangle's own at
    /// first, and carried along from there: where a triangle is turned the other way round than the one before, its normal
    /// is turned back.
    pub normals: Vec<[f64; 3]>,
    /// The triangle of each piece between two points; of a link that where it begins.
    pub triangles: Vec<u32>,
    /// How far each point is from the start along the path; a link is as long as it costs.
    pub arc_lengths: Vec<f64>,
    /// How far the start and the goal were from the surface.
    pub snaps: [f64; 2],
    /// Whether the start and the goal leave open which of several surfaces they are on, as where two lie on one another: those that
    /// [`Surface::locate_all`](crate::navigate::surface::query::surface::Surface::locate_all) finds several points for, faces that touch the place with several
    /// unconnected triangles, vertices where only corners touch. A path then begins and ends on the best of those at the place
    /// that [`Surface::locate`](crate::navigate::surface::query::surface::Surface::locate) gives. False for an end off the mesh, and where a [triangle](crate::navigate::surface::query::place::Place)
    /// is named.
    pub ambiguous: [bool; 2],
    /// The pieces that are links (see [`Surface::set_links`](crate::navigate::surface::query::surface::Surface::set_links)), in order.
    pub links: Vec<PathLink>,
}

/// A piece of a path that is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathLink {
    /// Which piece: it leads from the point of this index to the next.
    pub piece: usize,
    /// Which link, from 0.
    pub link: u32,
    /// Whether it is taken from its end to its beginning.
    pub reversed: bool,
}

/// Where an agent is that follows a path over a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathPlace {
    /// Its position.
    pub position: [f64; 3],
    /// The unit vector along the path, ahead; of no length where the path has none.
    pub tangent: [f64; 3],
    /// The unit normal: between those of the two points of the piece, by how far it is from each.
    pub normal: [f64; 3],
    /// The triangle that it is on.
    pub triangle: u32,
}

impl Path {
    /// Where an agent is that has followed the path for that length: at the start for less than 0, at the goal for more than
    /// there is. `None` where there is no path, or the length is NaN.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, PathOptions, Surface};
    ///
    /// let points = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    /// let surface = Surface::new(&[Model::triangles(points, &[[0, 1, 2]])], Options::default())?;
    /// let path = surface.path([0.0, 0.0, 0.0], [2.0, 0.0, 0.0], &PathOptions::default())?;
    /// let place = path.at(0.5).ok_or(hullfield::Error::Cancelled)?;
    /// assert_eq!((place.position, place.tangent), ([0.5, 0.0, 0.0], [1.0, 0.0, 0.0]));
    /// assert_eq!((place.normal, place.triangle), ([0.0, 0.0, 1.0], 0));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn at(&self, arc_length: f64) -> Option<PathPlace> {
        if arc_length.is_nan() || self.triangles.is_empty() {
            return None;
        }
        // The last piece that begins no later, of which there is always one that has some length, if any has.
        let after = self.arc_lengths.partition_point(|&begin| begin <= arc_length.max(0.0));
        let piece = after.clamp(1, self.triangles.len()) - 1;
        // Fields are anyone's to change: where lists do not match there is no such place.
        let ends =
            |list: &[[f64; 3]]| Some([DVec3::from(*list.get(piece)?), DVec3::from(*list.get(piece + 1)?)]);
        let (begin, end) = (*self.arc_lengths.get(piece)?, *self.arc_lengths.get(piece + 1)?);
        let part = if end > begin { ((arc_length - begin) / (end - begin)).clamp(0.0, 1.0) } else { 0.0 };
        let [from, to] = ends(&self.points)?;
        let [normal, next] = ends(&self.normals)?;
        let position = if part == 1.0 { to } else { from + (to - from) * part };
        Some(PathPlace {
            position: position.to_array(),
            tangent: (to - from).normalize_or_zero().to_array(),
            normal: (normal + (next - normal) * part).try_normalize().unwrap_or(normal).to_array(),
            triangle: self.triangles[piece],
        })
    }

    /// True where there is a path.
    pub fn is_reached(&self) -> bool {
        self.reach.is_reached()
    }

    pub(crate) fn clear(&mut self) {
        self.reach = Reach::Reached;
        self.length = f64::INFINITY;
        self.points.clear();
        self.normals.clear();
        self.triangles.clear();
        self.arc_lengths.clear();
        self.snaps = [0.0; 2];
        self.ambiguous = [false; 2];
        self.links.clear();
    }

    /// Goes on with a walk; of one of no length with its point.
    pub(crate) fn append(&mut self, walk: &Self) {
        let count = if walk.length > 0.0 { walk.points.len() } else { 1 };
        self.points.extend(walk.points.iter().take(count));
        self.normals.extend(walk.normals.iter().take(count));
        self.triangles.extend(walk.triangles.iter().take(count - 1));
        self.arc_lengths.extend(walk.arc_lengths.iter().take(count).map(|length| self.length + length));
        self.length += walk.length;
    }

    /// Goes on with a link; the walk after it begins where it ends.
    pub(crate) fn leap(&mut self, triangle: u32, cost: f64, link: PathLink) {
        let piece = self.triangles.len();
        self.links.push(PathLink { piece, ..link });
        self.triangles.push(triangle);
        self.length += cost;
    }

    /// Folds a path over a strip back into space.
    pub(crate) fn fold(
        &mut self,
        mesh: &Mesh,
        (first, start): (u32, DVec3),
        goal: DVec3,
        sides: &[[u32; 2]],
        crossings: &[EdgeCrossing],
    ) {
        let at = |vertex: u32| mesh.points[vertex as usize];
        let place = |across: &EdgeCrossing| {
            let [left, right] = across.ends.map(at);
            if across.part == 1.0 { right } else { left + (right - left) * across.part }
        };
        let mut sign = 1.0;
        let mut here = start;
        let mut triangle = first;
        // Pieces of no length since the last one that has some: their triangles and signs.
        let mut skipped: Vec<(u32, f64)> = Vec::new();
        // The normal of the last piece.
        let mut before: Option<DVec3> = None;
        self.length = 0.0;
        for i in 0..=crossings.len() {
            let next = crossings.get(i).map_or(goal, place);
            let is_last = i == crossings.len();
            if next == here && !(is_last && before.is_none()) {
                skipped.push((triangle, sign));
            } else {
                // Triangles that the path touches in one point are left out, where those before and after share a corner.
                let corners = |triangle: u32| mesh.triangles[triangle as usize];
                let meets =
                    |last: &u32| corners(*last).iter().any(|corner| corners(triangle).contains(corner));
                if self.triangles.last().is_none_or(meets) {
                    skipped.clear();
                }
                for (triangle, sign) in skipped.drain(..).chain([(triangle, sign)]) {
                    let normal = sign * mesh.normal(triangle);
                    self.points.push(here.to_array());
                    self.normals.push(average(before, normal).to_array());
                    self.triangles.push(triangle);
                    self.arc_lengths.push(self.length);
                    before = Some(normal);
                }
                self.length += here.distance(next);
                here = next;
            }
            if is_last {
                break;
            }
            let [exit, entry] = sides[i];
            if !mesh.is_opposed(exit, entry) {
                sign = -sign;
            }
            triangle = entry / 3;
        }
        self.points.push(goal.to_array());
        self.arc_lengths.push(self.length);
        self.normals.push(before.unwrap_or_else(|| mesh.normal(first)).to_array());
    }
}

/// The unit normal between two; the second where they cancel out or there is no first.
fn average(before: Option<DVec3>, after: DVec3) -> DVec3 {
    before.and_then(|before| (before + after).try_normalize()).unwrap_or(after)
}
