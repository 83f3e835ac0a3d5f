//! A path over a surface.

use glam::DVec3;

use crate::navigate::shared::reach::Reach;
use crate::navigate::surface::geodesic::unfold::EdgeCrossing;
use crate::navigate::surface::mesh::topology::Mesh;

/// A point of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Point {
    /// The triangle on which it lies.
    pub triangle: u32,
    /// Where it is, in the surface's frame.
    pub position: [f64; 3],
    /// How far that is from the point of the query, in the surface's units.
    pub distance: f64,
}

/// A path over a surface, or why there is none.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Path {
    /// Whether there is a path.
    pub reach: Reach<Point>,
    /// Its length in the surface's units, including the costs of its links; infinite where there is no path.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub length: f64,
    /// The start, each point where the path crosses an edge, and the goal. The path is straight in between. Empty where there is no path.
    ///
    /// Coinciding points are merged, with two exceptions: a start that is the goal, and crossings of triangles of which two corners nearly
    /// coincide, if they lie between two triangles that share no corner.
    pub points: Vec<[f64; 3]>,
    /// A unit normal for each point: the average of those of the triangles before and after it. The first is the start triangle's normal.
    /// From there the side is kept: the normal of a triangle with the opposite orientation is negated.
    pub normals: Vec<[f64; 3]>,
    /// The triangle of each piece between two points. For a link it is the triangle where the link begins.
    pub triangles: Vec<u32>,
    /// The length of the path from the start to each point. A link is as long as its cost.
    pub arc_lengths: Vec<f64>,
    /// How far the start and the goal were moved to the surface.
    pub snaps: [f64; 2],
    /// Whether the start and the goal may be on any of several surfaces, for example where two floors coincide. That is so for a position
    /// for which [`Surface::locate_all`](crate::navigate::surface::query::surface::Surface::locate_all) finds several points, for a face of
    /// which several unconnected triangles touch the place, and for a vertex in which only corners touch. The path then uses the best of the
    /// surfaces at the point that [`Surface::locate`](crate::navigate::surface::query::surface::Surface::locate) returns. False for an end
    /// off the mesh, and for a named [triangle](crate::navigate::surface::query::place::Place).
    pub ambiguous: [bool; 2],
    /// The pieces that are links (see [`Surface::set_links`](crate::navigate::surface::query::surface::Surface::set_links)), in order.
    pub links: Vec<PathLink>,
}

/// A piece of a path that is a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathLink {
    /// The index of the piece: it leads from the point of this index to the next.
    pub piece: usize,
    /// The index of the link.
    pub link: u32,
    /// Whether it is taken backwards, from `to` to `from`.
    pub reversed: bool,
}

/// The place of an agent on a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PathPlace {
    /// Its position, in the surface's frame.
    pub position: [f64; 3],
    /// The unit vector ahead along the path; zero where the path has no length.
    pub tangent: [f64; 3],
    /// The unit normal, interpolated between the two points of the piece.
    pub normal: [f64; 3],
    /// The triangle on which it is; on a link that where the link begins.
    pub triangle: u32,
    /// The link that it is on, between the two ends; `None` on the mesh. At the end of a link it is on the mesh again, but for a goal.
    #[cfg_attr(feature = "serde", serde(default))]
    pub link: Option<PathLink>,
}

impl Path {
    /// The place of an agent that has followed the path for `arc_length`, in the surface's units. It is the start for less than 0, and the
    /// goal for more than the path's length. `None` where there is no path, or for NaN. On a link it is on the straight line between the two ends, and
    /// [`PathPlace::link`] says so.
    ///
    /// Cost: O(log n) in the number of points.
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
        // The last piece that begins no later. It has a length if any piece has.
        let after = self.arc_lengths.partition_point(|&begin| begin <= arc_length.max(0.0));
        let piece = after.clamp(1, self.triangles.len()) - 1;
        // The lists are public fields. Where a caller has changed their lengths, there is no place.
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
            link: self.links.binary_search_by_key(&piece, |link| link.piece).ok().map(|at| self.links[at]),
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

    /// Appends a path; only its first point if it has no length.
    pub(crate) fn append(&mut self, path: &Self) {
        let count = if path.length > 0.0 { path.points.len() } else { 1 };
        self.points.extend(path.points.iter().take(count));
        self.normals.extend(path.normals.iter().take(count));
        self.triangles.extend(path.triangles.iter().take(count - 1));
        self.arc_lengths.extend(path.arc_lengths.iter().take(count).map(|length| self.length + length));
        self.length += path.length;
    }

    /// Appends a link. The path after it must begin where the link ends.
    pub(crate) fn append_link(&mut self, triangle: u32, cost: f64, link: PathLink) {
        let piece = self.triangles.len();
        self.links.push(PathLink { piece, ..link });
        self.triangles.push(triangle);
        self.length += cost;
    }

    /// Fills the path from a strip: its crossings become points in space.
    pub(crate) fn fold_from_strip(
        &mut self,
        mesh: &Mesh,
        (first, start): (u32, DVec3),
        goal: DVec3,
        sides: &[[u32; 2]],
        crossings: &[EdgeCrossing],
    ) {
        let at = |vertex: u32| mesh.points[vertex as usize];
        let place = |crossing: &EdgeCrossing| {
            let [left, right] = crossing.ends.map(at);
            if crossing.fraction == 1.0 { right } else { left + (right - left) * crossing.fraction }
        };
        let mut sign = 1.0;
        let mut here = start;
        let mut triangle = first;
        // The triangles and signs of the pieces without length since the last piece with a length.
        let mut skipped: Vec<(u32, f64)> = Vec::new();
        // The normal of the previous piece.
        let mut previous: Option<DVec3> = None;
        self.length = 0.0;
        for i in 0..=crossings.len() {
            let next = crossings.get(i).map_or(goal, place);
            let is_last = i == crossings.len();
            if next == here && !(is_last && previous.is_none()) {
                skipped.push((triangle, sign));
            } else {
                // Triangles that the path touches in one point are left out if the triangles before and after share a corner.
                let corners = |triangle: u32| mesh.triangles[triangle as usize];
                let shares_corner =
                    |last: &u32| corners(*last).iter().any(|corner| corners(triangle).contains(corner));
                if self.triangles.last().is_none_or(shares_corner) {
                    skipped.clear();
                }
                for (triangle, sign) in skipped.drain(..).chain([(triangle, sign)]) {
                    let normal = sign * mesh.normal(triangle);
                    self.points.push(here.to_array());
                    self.normals.push(average(previous, normal).to_array());
                    self.triangles.push(triangle);
                    self.arc_lengths.push(self.length);
                    previous = Some(normal);
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
        self.normals.push(previous.unwrap_or_else(|| mesh.normal(first)).to_array());
    }
}

/// The average of two unit normals; the second where they cancel out or there is no first.
fn average(previous: Option<DVec3>, after: DVec3) -> DVec3 {
    previous.and_then(|previous| (previous + after).try_normalize()).unwrap_or(after)
}
