//! The convex hull of any point cloud: exact, of any dimension.

pub(crate) mod blocks;
pub(crate) mod cells;
pub(crate) mod faces;
mod facets;
mod flat;
pub(crate) mod plane_table;
mod polygons;
mod predicate;
mod quickhull;
pub(crate) mod record;
mod shapes;
mod simplify;
pub(crate) mod support;
#[cfg(feature = "serde")]
mod wire;

use crate::error::{Error, Location, Result};
use crate::order::{sort_ids, sort_pairs};
use polygons::Polygons;
use predicate::{cross, dot, subtract, to_f64};
use quickhull::{HullBuilder, Start};

/// Affine dimension of a hull.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Dimension {
    /// One vertex.
    Point,
    /// Two vertices.
    Segment,
    /// Three or more vertices in one plane.
    Polygon,
    /// A closed solid.
    Solid,
    /// All points on one side of a plane: [`Hull::half_space`].
    HalfSpace,
}

/// The plane of a face: the points `p` with `normal · p = offset`, the hull on the side where it is less.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Plane {
    /// Unit vector out of the hull, in the hull's own frame.
    pub normal: [f64; 3],
    /// Distance of the plane from the origin along the normal, in the hull's own units.
    pub offset: f64,
}

/// The convex hull of a point cloud, of any dimension: a point, a segment, a polygon or a solid.
///
/// It is the exact hull of the f32 points as given: its vertices are exactly the extreme points, each once, none
/// moved, and no input point lies outside by any amount. Coplanar triangles are merged into one face, and points inside a face or an
/// edge are left out, again exactly. Positive and negative zero are the same number here.
///
/// Vertices are in the order in which they first appear in the input. Faces start at their lowest vertex
/// and are in lexicographic order, so that a hull depends on nothing but its vertices and their order.
///
/// ```
/// use hullfield::collide::{Dimension, Hull};
///
/// let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.1, 0.1, 0.1]];
/// let hull = Hull::from_points(&corners)?;
/// assert_eq!(hull.vertices(), &corners[..4]);
/// assert_eq!(hull.dimension(), Dimension::Solid);
/// assert_eq!(hull.faces().len(), 4);
/// assert_eq!(hull.neighbours(0), [1, 2, 3]);
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Hull {
    vertices: Vec<[f32; 3]>,
    dimension: Dimension,
    faces: Polygons,
    neighbours: Polygons,
    mean: [f64; 3],
    radius: f64,
    rounding: f32,
}

impl Hull {
    /// The least radius of a hull that is not a single point: below lie the numbers that f32 holds with fewer digits.
    pub const LEAST_RADIUS: f64 = 1e-36;

    /// The greatest radius of a hull.
    pub const MOST_RADIUS: f64 = 1e38;

    /// The most points that a hull is built from.
    const MOST_POINTS: usize = 1 << 30;

    /// Builds the hull of a point cloud, in any units and frame, which become the hull's own.
    ///
    /// Quickhull (Barber, Dobkin, Huhdanpaa 1996) with exact predicates (Shewchuk 1997); a segment's and a polygon's
    /// hull likewise. Expected time is `n log n`; a million points of a ball take about half a second.
    ///
    /// # Errors
    /// [`Error::Count`] without any point, [`Error::Value`] at its [`Location::Point`] for a NaN or an infinity,
    /// [`Error::Value`] where the bounding radius is outside of [`Hull::LEAST_RADIUS`] to [`Hull::MOST_RADIUS`]
    /// (a single point is fine), [`Error::TooMany`] past 2^30 points.
    pub fn from_points(points: &[[f32; 3]]) -> Result<Self> {
        if points.is_empty() {
            let allowed = "a hull needs at least one".to_owned();
            return Err(Error::Count { at: Location::Argument, what: "points", given: 0, allowed });
        }
        if points.len() > Self::MOST_POINTS {
            let (count, limit) = (points.len() as u64, Self::MOST_POINTS as u64);
            return Err(Error::TooMany { what: "points of a hull", count, limit });
        }
        if let Some(index) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(not_finite(index, points[index]));
        }
        let mut faces = Polygons::default();
        match quickhull::start(points) {
            Start::Point(point) => Self::assemble(points, Dimension::Point, vec![point], faces),
            Start::Segment => Self::assemble(points, Dimension::Segment, flat::ends(points).to_vec(), faces),
            Start::Polygon(axes) => {
                let outline = flat::outline(points, axes);
                faces.corners.extend(&outline);
                faces.close();
                faces.corners.extend(outline.iter().rev());
                faces.close();
                Self::assemble(points, Dimension::Polygon, outline, faces)
            }
            Start::Solid(corners) => {
                let mut builder = HullBuilder::new(points, corners);
                builder.grow(usize::MAX);
                let faces = facets::facets(&builder)?;
                Self::assemble(points, Dimension::Solid, faces.corners.clone(), faces)
            }
        }
    }

    /// The box with these half extents about the origin, in the hull's own units.
    ///
    /// An extent of 0 makes it flat: a rectangle, a segment or a point. Otherwise vertex `i` lies on the
    /// positive side of axis `k` where bit `k` of `i` is set.
    ///
    /// # Errors
    /// [`Error::Value`] where a half extent is negative, NaN or infinite, and as in [`Hull::from_points`].
    pub fn cuboid(half: [f32; 3]) -> Result<Self> {
        if !half.iter().all(|&x| x.is_finite() && x >= 0.0) {
            let allowed = "each must be finite and zero or more";
            return Err(Error::value(Location::Argument, "half", format!("{half:?}"), allowed));
        }
        let corner =
            |i: usize| [0, 1, 2].map(|axis| if i >> axis & 1 == 1 { half[axis] } else { -half[axis] });
        Self::from_points(&[0, 1, 2, 3, 4, 5, 6, 7].map(corner))
    }

    /// Numbers the vertices in the order of the input, and derives everything else.
    fn assemble(
        points: &[[f32; 3]],
        dimension: Dimension,
        mut used: Vec<u32>,
        mut faces: Polygons,
    ) -> Result<Self> {
        used.sort_unstable();
        used.dedup();
        // + 0.0 makes a negative zero positive.
        let vertices: Vec<[f32; 3]> = used.iter().map(|&i| points[i as usize].map(|x| x + 0.0)).collect();

        let mut number = vec![0u32; points.len()];
        for (i, &point) in used.iter().enumerate() {
            number[point as usize] = i as u32;
        }
        for corner in &mut faces.corners {
            *corner = number[*corner as usize];
        }
        let mut start = 0;
        for &end in &faces.ends {
            let polygon = &mut faces.corners[start..end as usize];
            let Some(lowest) = (0..polygon.len()).min_by_key(|&i| polygon[i]) else {
                return Err(Error::internal("collide::hull::assemble", "a face without corners"));
            };
            polygon.rotate_left(lowest);
            start = end as usize;
        }
        let mut order: Vec<u32> = (0..faces.len() as u32).collect();
        sort_ids(&mut order, &|a, b| faces.get(a as usize).cmp(faces.get(b as usize)));
        let mut sorted = Polygons::default();
        for face in order {
            sorted.corners.extend(faces.get(face as usize));
            sorted.close();
        }
        let neighbours = neighbours(dimension, vertices.len(), &sorted);
        Self::with_mean(vertices, dimension, sorted, neighbours)
    }

    /// Computes the mean and the radius.
    fn with_mean(
        vertices: Vec<[f32; 3]>,
        dimension: Dimension,
        faces: Polygons,
        neighbours: Polygons,
    ) -> Result<Self> {
        let origin = to_f64(vertices[0]);
        let mut sum = [0.0; 3];
        for &v in &vertices {
            let from_origin = subtract(to_f64(v), origin);
            sum = [0, 1, 2].map(|axis| sum[axis] + from_origin[axis]);
        }
        let mean = [0, 1, 2].map(|axis| origin[axis] + sum[axis] / vertices.len() as f64);
        let distance_squared = |v: &[f32; 3]| dot(subtract(to_f64(*v), mean), subtract(to_f64(*v), mean));
        let radius = vertices.iter().map(distance_squared).fold(0.0, f64::max).sqrt();
        if dimension != Dimension::Point && !(Self::LEAST_RADIUS..=Self::MOST_RADIUS).contains(&radius) {
            let allowed = format!("it must be from {:e} to {:e}", Self::LEAST_RADIUS, Self::MOST_RADIUS);
            return Err(Error::value(Location::Argument, "bounding radius", format!("{radius:e}"), allowed));
        }
        Ok(Self { vertices, dimension, faces, neighbours, mean, radius, rounding: 0.0 })
    }

    /// The origin.
    pub(crate) fn point() -> Self {
        Self {
            vertices: vec![[0.0; 3]],
            dimension: Dimension::Point,
            faces: Polygons::default(),
            neighbours: neighbours(Dimension::Point, 1, &Polygons::default()),
            mean: [0.0; 3],
            radius: 0.0,
            rounding: 0.0,
        }
    }

    /// The extreme points, in the hull's own units and frame, in the order in which they first appear in the input.
    pub fn vertices(&self) -> &[[f32; 3]] {
        &self.vertices
    }

    /// Whether the hull is a point, a segment, a polygon or a solid: decided exactly.
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// The faces, each the indices of its vertices, counter-clockwise seen from outside, starting at the lowest.
    ///
    /// No two are coplanar, no three vertices of one are collinear. A polygon has two faces, one each way; a segment
    /// and a point have none.
    pub fn faces(&self) -> impl ExactSizeIterator<Item = &[u32]> + Clone {
        self.faces.iter()
    }

    /// The vertices of one face, which must exist.
    pub(crate) fn face(&self, face: u32) -> &[u32] {
        self.faces.get(face as usize)
    }

    /// The faces cut into triangles, each a fan from the face's lowest vertex; none has zero area.
    pub fn triangles(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.faces.iter().flat_map(|face| face.windows(2).skip(1).map(|pair| [face[0], pair[0], pair[1]]))
    }

    /// The edges, each once, as two indices of vertices, the lower one first; in lexicographic order.
    pub fn edges(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let of = |(a, list)| neighbours_above(a, list).map(move |b| [a, b]);
        (0u32..).zip(self.neighbours.iter()).flat_map(of)
    }

    /// The vertices that an edge joins to `vertex`, ascending; none where there is no such vertex.
    ///
    /// From any vertex that is not the furthest one in a direction, an edge leads to a further one.
    pub fn neighbours(&self, vertex: u32) -> &[u32] {
        let vertex = vertex as usize;
        if vertex < self.neighbours.len() { self.neighbours.get(vertex) } else { &[] }
    }

    /// The planes of the faces, in the order of the faces, rounded to f64. No vertex of a face is above its plane by more than the rounding
    /// of its height, nor below it by more than a few roundings of the coordinates.
    ///
    /// The second does not hold for coordinates that are so many magnitudes apart (more than about 1e9) that f64 does not hold their
    /// differences.
    pub fn planes(&self) -> impl ExactSizeIterator<Item = Plane> + '_ {
        self.faces.iter().map(|face| {
            // Each component is the area of a projection, exact to its last digits. For a needle that is nearly a line, the difference
            // of two rounded products would lose half of the digits. All triangles of the fan have one sign.
            let mut normal = [0.0; 3];
            for i in 2..face.len() {
                let [a, b, c] = [0, i - 1, i].map(|i| self.vertices[face[i] as usize]);
                normal = [0, 1, 2].map(|k| normal[k] + predicate::area(a, b, c, [(k + 1) % 3, (k + 2) % 3]));
            }
            let length = dot(normal, normal).sqrt();
            let normal = normal.map(|x| x / length);
            let corner = |i: usize| to_f64(self.vertices[face[i] as usize]);
            let offset = (0..face.len()).map(|i| dot(normal, corner(i))).fold(f64::NEG_INFINITY, f64::max);
            Plane { normal, offset }
        })
    }

    /// Mean of the vertices, in the hull's own units and frame.
    pub fn mean(&self) -> [f64; 3] {
        self.mean
    }

    /// Largest distance of a vertex from [`Hull::mean`], in the hull's own units, without the rounding radius.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Volume without the rounding, in the hull's own units cubed, rounded to f64 (relative to the cube of the
    /// radius); 0 for a hull that is not a solid.
    pub fn volume(&self) -> f64 {
        if self.dimension != Dimension::Solid {
            return 0.0;
        }
        let corner = |i: u32| subtract(to_f64(self.vertices[i as usize]), self.mean);
        self.triangles().map(|[a, b, c]| dot(corner(a), cross(corner(b), corner(c)))).sum::<f64>() / 6.0
    }

    /// A hull of at most `max_vertices` of these vertices, and how far the others lie outside of it.
    ///
    /// Starting from a large simplex, the vertex furthest outside is added until there are enough. The
    /// distance is the largest one of any vertex from the new hull, in the hull's own units, rounded up (by no more
    /// than f32 does and 1e-9 of it); 0 where all are kept. The dimension and the rounding radius
    /// stay.
    ///
    /// # Errors
    /// [`Error::Value`] where `max_vertices` is not above the dimension, and as in [`Hull::from_points`].
    pub fn simplify(&self, max_vertices: usize) -> Result<(Self, f32)> {
        let least = match self.dimension {
            Dimension::Point | Dimension::HalfSpace => 1,
            Dimension::Segment => 2,
            Dimension::Polygon => 3,
            Dimension::Solid => 4,
        };
        if max_vertices < least {
            let allowed = format!("a hull of this dimension needs at least {least}");
            return Err(Error::value(Location::Argument, "max_vertices", max_vertices, allowed));
        }
        if max_vertices >= self.vertices.len() {
            return Ok((self.clone(), 0.0));
        }
        let (mut kept, distance) = match quickhull::start(&self.vertices) {
            Start::Solid(start) => simplify::solid(&self.vertices, start, max_vertices),
            _ => {
                let outline = self.faces.get(0);
                let corners: Vec<[f32; 3]> = outline.iter().map(|&i| self.vertices[i as usize]).collect();
                let (kept, distance) = simplify::polygon(&corners, max_vertices);
                (kept.iter().map(|&i| outline[i as usize]).collect(), distance)
            }
        };
        kept.sort_unstable();
        let vertices: Vec<[f32; 3]> = kept.iter().map(|&i| self.vertices[i as usize]).collect();
        // The distance is known to a few roundings of it and of the coordinates' differences.
        let distance = distance * (1.0 + 1e-9) + 1e-14 * self.radius;
        let rounded = distance as f32;
        let rounded = if f64::from(rounded) < distance { rounded.next_up() } else { rounded };
        let kept = Self { rounding: self.rounding, ..Self::from_points(&vertices)? };
        Ok((kept, rounded))
    }
}

/// A point that is not finite.
#[cold]
pub(crate) fn not_finite(index: usize, point: [f32; 3]) -> Error {
    Error::value(Location::Point(index), "position", format!("{point:?}"), "each coordinate must be finite")
}

/// The neighbours of `a` above it.
fn neighbours_above(a: u32, list: &[u32]) -> impl Iterator<Item = u32> {
    list.iter().copied().filter(move |&b| b > a)
}

/// For each vertex the ones that an edge joins to it, ascending.
fn neighbours(dimension: Dimension, vertex_count: usize, faces: &Polygons) -> Polygons {
    let mut directed: Vec<[u32; 2]> = match dimension {
        Dimension::Point | Dimension::HalfSpace => Vec::new(),
        Dimension::Segment => vec![[0, 1], [1, 0]],
        // Each edge is in two faces, once in either direction.
        Dimension::Polygon | Dimension::Solid => faces
            .iter()
            .flat_map(|face| (0..face.len()).map(move |i| [face[i], face[(i + 1) % face.len()]]))
            .collect(),
    };
    sort_pairs(&mut directed);
    let mut lists = Polygons::default();
    let mut edges = directed.iter().peekable();
    for vertex in 0..vertex_count as u32 {
        while let Some(edge) = edges.next_if(|edge| edge[0] == vertex) {
            lists.corners.push(edge[1]);
        }
        lists.close();
    }
    lists
}
