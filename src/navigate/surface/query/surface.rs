//! A surface as it stands: its triangles, what is worked out from them, where agents may walk, and its links.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, OnceLock};

use glam::DVec3;

use crate::error::{Error, Location, Result, shown, shown_point};
use crate::navigate::surface::geodesic::landmark::Landmarks;
use crate::navigate::surface::geodesic::landmark_heuristic::LANDMARK_COUNT;
use crate::navigate::surface::geodesic::nodes::Nodes;
use crate::navigate::surface::mesh::build;
use crate::navigate::surface::mesh::build::{ModelFace, Options, Report, check_max_snap};
use crate::navigate::surface::mesh::model::Model;
use crate::navigate::surface::mesh::progress::{BuildProgress, BuildStage, ProgressReporter};
use crate::navigate::surface::mesh::topology::{Mesh, NONE};
use crate::navigate::surface::mesh::tree::Tree;
use crate::navigate::surface::query::path::Point;
use crate::navigate::surface::query::scratch::Scratch;

/// Of the largest coordinate: a point that is computed to lie on an edge is on both its triangles.
pub(crate) const ON_EDGE: f64 = 1e-13;

/// A way off the mesh from one point of a surface to another, as a jump or a ladder.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Link {
    /// Where it begins, in the surface's frame.
    pub from: [f64; 3],
    /// Where it ends.
    pub to: [f64; 3],
    /// What it costs, as much as a walk of that length; 0 or more.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub cost: f64,
    /// Whether it leads back too, at the same cost.
    pub two_way: bool,
}

/// The surface of one or several models, over which paths are asked for.
///
/// Coordinates are f64 in the caller's units. Triangles are connected by edges, never by vertices alone; where three
/// triangles or more share an edge a path may go from any to any other.
///
/// ```
/// use hullfield::navigate::surface::{Model, Options, PathOptions, Surface};
///
/// // A floor, and a wall at right angles to it.
/// let points = vec![
///     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0],
///     [4.0, 0.0, 4.0], [4.0, 4.0, 4.0],
/// ];
/// let model = Model::polygons(points, [[0, 1, 2, 3], [1, 4, 5, 2]]);
/// let surface = Surface::new(&[model], Options::default())?;
/// let path = surface.path([1.0, 2.0, 0.0], [4.0, 2.0, 3.0], &PathOptions::default())?;
/// assert!(path.is_reached());
/// assert!((path.length - 6.0).abs() < 1e-12); // three to the wall, three up
/// # Ok::<(), hullfield::Error>(())
/// ```
///
/// It can be shared between threads, and a clone is cheap: it shares the triangles and all that was worked out of them, and has
/// walkable triangles of its own, a byte each, and links of its own. So several kinds of agents walk over one surface:
///
/// ```
/// # use hullfield::navigate::surface::{Model, Options, Surface};
/// # let points = vec![
/// #     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0],
/// #     [4.0, 0.0, 4.0], [4.0, 4.0, 4.0],
/// # ];
/// # let model = Model::polygons(points, [[0, 1, 2, 3], [1, 4, 5, 2]]);
/// let climbers = Surface::new(&[model], Options::default())?;
/// let mut walkers = climbers.clone();
/// walkers.set_walkable_slope([0.0, 0.0, 1.0], 45.0)?;
/// assert!(climbers.is_walkable(2) && !walkers.is_walkable(2)); // the wall
/// # Ok::<(), hullfield::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Surface {
    pub(crate) mesh: Arc<Mesh>,
    pub(crate) tree: Arc<Tree>,
    pub(crate) islands: Arc<Vec<u32>>,
    pub(crate) report: Arc<Report>,
    pub(crate) scratches: Arc<Mutex<Vec<Scratch>>>,
    pub(crate) landmarks: Option<Arc<Landmarks>>,
    pub(crate) walkable: Vec<bool>,
    /// The walkable area up to each triangle, once it was asked for.
    pub(crate) areas: OnceLock<Vec<f64>>,
    /// The nodes of the walkable triangles, once a search needed them.
    pub(crate) nodes: OnceLock<Nodes>,
    /// Vertices, and triangles that they lie on but are no corners of, once they were asked for.
    pub(crate) touching: OnceLock<Vec<[u32; 2]>>,
    /// The triangles by model and face, once a face was named.
    pub(crate) by_face: Arc<OnceLock<Vec<u32>>>,
    pub(crate) max_snap: f64,
    pub(crate) links: Vec<Link>,
}

impl Surface {
    /// Builds a surface of one or several models.
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn new(models: &[Model], options: Options) -> Result<Self> {
        Self::build(models, options, |_| ControlFlow::Continue(()))
    }

    /// Builds a surface, tells now and then how far it is, and asks whether to go on.
    ///
    /// `tell` is called at the beginning and the end of each stage and within it at least once in 65,536 elements, but for
    /// the stages [`Weld`](BuildStage::Weld), [`Edges`](BuildStage::Edges) and [`Index`](BuildStage::Index), which are quick, and
    /// [`Landmarks`](BuildStage::Landmarks), whose elements are landmarks, four at a time.
    ///
    /// # Errors
    /// [`Error::Value`] for an option, and for a coordinate that is not finite or past 1e75, [`Error::Count`] for a face of fewer
    /// than three corners, [`Error::Missing`] for one of points that do not exist, [`Error::Invalid`] where no triangle is left,
    /// [`Error::TooMany`] past what 32 bits count, [`Error::MemoryLimit`] where a refinement would not fit into the host's
    /// memory, and [`Error::Cancelled`] where `tell` breaks off.
    ///
    /// ```
    /// use std::ops::ControlFlow;
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// let square = vec![[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0]];
    /// let model = Model::polygons(square, [[0, 1, 2, 3]]);
    /// let options = Options { interval: Some(1.0), ..Options::default() };
    /// let surface = Surface::build(&[model], options, |progress| {
    ///     println!("{:?}: {} of {}", progress.stage, progress.done, progress.total);
    ///     ControlFlow::Continue(())
    /// })?;
    /// assert!(surface.triangles().len() >= 32 && (surface.area() - 16.0).abs() < 1e-12);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn build(
        models: &[Model],
        options: Options,
        mut tell: impl FnMut(BuildProgress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let max_snap = check_max_snap(options.max_snap)?;
        let mut watch = ProgressReporter { tell: &mut tell };
        let (mesh, report) = build::build(models, &options, &mut watch)?;
        let count = mesh.triangle_count();
        watch.at(BuildStage::Index, 0, count)?;
        let mut surface = Self { max_snap, ..Self::of(mesh, report) };
        watch.at(BuildStage::Index, count, count)?;
        if options.landmarks {
            surface.measure_landmarks(&mut watch)?;
        }
        Ok(surface)
    }

    /// Measures the landmarks.
    pub(crate) fn measure_landmarks(&mut self, watch: &mut ProgressReporter<'_>) -> Result<()> {
        let tell = |done: usize| watch.tell(BuildStage::Landmarks, done, LANDMARK_COUNT);
        self.landmarks = Some(Arc::new(Landmarks::new(&self.mesh, tell)?));
        Ok(())
    }

    /// Works out the rest of a mesh that is connected, and of a report that lacks nothing but the islands.
    pub(crate) fn of(mesh: Mesh, mut report: Report) -> Self {
        let (islands, island_count) = mesh.islands();
        report.island_count = island_count as usize;
        Self {
            tree: Arc::new(Tree::new(&mesh)),
            walkable: vec![true; mesh.triangle_count()],
            mesh: Arc::new(mesh),
            islands: Arc::new(islands),
            report: Arc::new(report),
            scratches: Arc::default(),
            landmarks: None,
            areas: OnceLock::new(),
            nodes: OnceLock::new(),
            touching: OnceLock::new(),
            by_face: Arc::default(),
            max_snap: f64::INFINITY,
            links: Vec::new(),
        }
    }

    /// What was found while it was built.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The vertices: the points that triangles use, in the order of the models; then those of a refinement.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = [f64; 3]> + '_ {
        self.mesh.points.iter().map(DVec3::to_array)
    }

    /// The triangles: three indices of vertices each, in the order of the faces; where they were refined, the pieces of each.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.mesh.triangles
    }

    /// The edges: two indices of vertices each, the lower one first; sorted.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.mesh.edges
    }

    /// The edges of a triangle: from its first corner to the second, on to the third, and back; `None` where there is no such
    /// triangle.
    pub fn edges_of(&self, triangle: u32) -> Option<[u32; 3]> {
        let first = (triangle as usize).checked_mul(3)?;
        self.mesh.edge_of.get(first..first + 3)?.try_into().ok()
    }

    /// The triangles at an edge, ascending; none where there is no such edge.
    pub fn triangles_at(&self, edge: u32) -> impl Iterator<Item = u32> + '_ {
        let is_known = (edge as usize) < self.mesh.edges.len();
        is_known.then(|| self.mesh.sides_of(edge)).into_iter().flatten().map(|side| side / 3)
    }

    /// The triangles that share an edge with a triangle, by its edges' order; none where there is no such triangle.
    pub fn neighbours(&self, triangle: u32) -> impl Iterator<Item = u32> + '_ {
        let sides = if self.is_known(triangle) { 3 * triangle..3 * triangle + 3 } else { 0..0 };
        sides.flat_map(|side| self.mesh.twins(side)).map(|side| side / 3)
    }

    /// The edge that two triangles share; `None` where they share none or are the same.
    pub fn common_edge(&self, a: u32, b: u32) -> Option<u32> {
        let (of_a, of_b) = (self.edges_of(a)?, self.edges_of(b)?);
        if a == b { None } else { of_a.into_iter().find(|edge| of_b.contains(edge)) }
    }

    /// The corner of a triangle that is not on one of its edges; `None` where the edge is none of its.
    pub fn opposite_vertex(&self, triangle: u32, edge: u32) -> Option<u32> {
        let corner = self.edges_of(triangle)?.iter().position(|&own| own == edge)?;
        Some(self.mesh.opposite(3 * triangle + corner as u32))
    }

    /// The unit normal of a triangle, counter-clockwise seen from where it points to; that of a neighbour where it has no
    /// area. `None` where there is no such triangle.
    pub fn normal(&self, triangle: u32) -> Option<[f64; 3]> {
        self.is_known(triangle).then(|| self.mesh.normal(triangle).to_array())
    }

    /// The model and the face that a triangle was cut from.
    pub fn source(&self, triangle: u32) -> Option<ModelFace> {
        let &[model, face] = self.mesh.sources.get(triangle as usize)?;
        Some(ModelFace { model, face })
    }

    /// The island of a triangle, from 0, be it walkable or not: parts that no edge connects.
    pub fn island(&self, triangle: u32) -> Option<u32> {
        self.islands.get(triangle as usize).copied().filter(|&island| island != NONE)
    }

    /// The area, in the surface's units squared.
    pub fn area(&self) -> f64 {
        (0..self.mesh.triangle_count() as u32).map(|t| 0.5 * self.mesh.area_vector(t).length()).sum()
    }

    pub(crate) fn nodes(&self) -> &Nodes {
        self.nodes.get_or_init(|| Nodes::new(&self.mesh, |triangle| self.walkable[triangle as usize]))
    }

    /// Vertices, and triangles that they lie on but are no corners of, be they walkable or not.
    pub(crate) fn touching(&self) -> &[[u32; 2]] {
        self.touching.get_or_init(|| {
            let (mesh, reach) = (&self.mesh, self.rounding());
            let (mut touching, mut on) = (Vec::new(), Vec::new());
            for (vertex, &point) in (0..).zip(&mesh.points) {
                let is_other = |triangle: u32| !mesh.triangles[triangle as usize].contains(&vertex);
                self.tree.within(mesh, point, reach, is_other, &mut on);
                touching.extend(on.iter().map(|&triangle| [vertex, triangle]));
            }
            touching
        })
    }

    /// Whether agents may walk on a triangle; false where there is no such triangle.
    pub fn is_walkable(&self, triangle: u32) -> bool {
        self.walkable.get(triangle as usize).copied().unwrap_or(false)
    }

    /// Lets agents walk on a triangle, or not any more. Nothing is built again.
    ///
    /// # Errors
    /// [`Error::Missing`] where there is no such triangle.
    pub fn set_walkable(&mut self, triangle: u32, walkable: bool) -> Result<()> {
        match self.walkable.get_mut(triangle as usize) {
            Some(flag) if *flag == walkable => {}
            Some(flag) => {
                *flag = walkable;
                self.areas.take();
                let is_walkable = |triangle: u32| self.walkable[triangle as usize];
                if self.nodes.get_mut().is_some_and(|nodes| !nodes.update(&self.mesh, is_walkable, triangle))
                {
                    self.nodes.take();
                }
            }
            None => {
                let (index, count) = (u64::from(triangle), self.walkable.len() as u64);
                return Err(Error::Missing { at: Location::Argument, what: "triangle", index, count });
            }
        }
        Ok(())
    }

    /// Asks of each triangle, by its index and unit normal, whether agents may walk on it.
    pub fn set_walkable_where(&mut self, mut allows: impl FnMut(u32, [f64; 3]) -> bool) {
        self.areas.take();
        self.nodes.take();
        for triangle in 0..self.mesh.triangle_count() as u32 {
            self.walkable[triangle as usize] = allows(triangle, self.mesh.normal(triangle).to_array());
        }
    }

    /// Lets agents walk where the normal is within `degrees` of `up`, and nowhere else: 90 allows floors and vertical walls,
    /// 180 everything.
    ///
    /// # Errors
    /// [`Error::Value`] where `up` has no direction or `degrees` is not from 0 to 180.
    pub fn set_walkable_slope(&mut self, up: [f64; 3], degrees: f64) -> Result<()> {
        let refuse =
            |field, value, allowed: &str| Err(Error::value(Location::Argument, field, value, allowed));
        let given = up;
        let Some(up) = DVec3::from(up).try_normalize() else {
            return refuse("up", shown_point(&given), "it must have a direction");
        };
        if !(0.0..=180.0).contains(&degrees) {
            return refuse("degrees", shown(degrees), "it must be from 0 to 180");
        }
        // The angle itself, not its cosine: that is flat where angles are small.
        let allows = |_, normal: [f64; 3]| up.angle_between(normal.into()).to_degrees() <= degrees;
        self.set_walkable_where(allows);
        Ok(())
    }

    pub(crate) fn nearest(&self, point: [f64; 3], wanted: impl Fn(u32) -> bool) -> Option<Point> {
        let found = self.tree.nearest(&self.mesh, point.into(), f64::INFINITY, wanted)?;
        Some(Point {
            triangle: found.triangle,
            position: found.point.to_array(),
            distance: found.distance_squared.sqrt(),
        })
    }

    /// The least and the greatest coordinates.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        self.tree.bounds().map(|corner| corner.to_array())
    }

    /// How far a point that is computed to be on the surface may be off it.
    pub(crate) fn rounding(&self) -> f64 {
        ON_EDGE * self.bounds().as_flattened().iter().fold(0.0, |most: f64, at| most.max(at.abs()))
    }

    pub(crate) fn is_known(&self, triangle: u32) -> bool {
        (triangle as usize) < self.mesh.triangle_count()
    }
}
