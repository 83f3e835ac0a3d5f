//! The handle: its triangles, what follows from them, the walkable triangles, and the links.

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
use crate::navigate::surface::mesh::t_junctions::{TJunction, t_junctions};
use crate::navigate::surface::mesh::topology::{Mesh, NONE};
use crate::navigate::surface::mesh::tree::Tree;
use crate::navigate::surface::mesh::walkable::Walkable;
use crate::navigate::surface::query::path::Point;
use crate::navigate::surface::query::scratch::Scratch;

/// Relative to the largest coordinate: a point counts as on a triangle if it is no further from it. So a point that is computed to lie on an
/// edge is on both its triangles.
pub(crate) const ON_EDGE: f64 = 1e-13;

/// A connection off the mesh from one point of a surface to another, such as a jump or a ladder.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(deny_unknown_fields))]
pub struct Link {
    /// Where it begins, in the surface's frame.
    pub from: [f64; 3],
    /// Where it ends, in the surface's frame.
    pub to: [f64; 3],
    /// Its cost, as the length of a walk that costs as much; from 0 to 1e150.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire::number"))]
    pub cost: f64,
    /// Whether it can be taken backwards too, at the same cost.
    pub two_way: bool,
}

/// The surface of one or several models, over which paths are found.
///
/// Coordinates are f64 in the caller's units; any axis may be up. Triangles are connected by edges, never by vertices alone. Where three
/// triangles or more share an edge, a path may go from any of them to any other.
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
/// A surface can be shared between threads. A clone is cheap: it shares the triangles and all that follows from them, and has its own
/// walkable triangles, a byte each, and its own links. So several kinds of agents can use one surface:
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
    /// Prefix sums of the walkable area, once needed.
    pub(crate) areas: OnceLock<Vec<f64>>,
    /// The nodes of the walkable triangles, once needed.
    pub(crate) nodes: OnceLock<Nodes>,
    /// The triangles sorted by model and face, once needed.
    pub(crate) by_face: Arc<OnceLock<Vec<u32>>>,
    pub(crate) max_snap: f64,
    pub(crate) links: Vec<Link>,
}

impl Surface {
    /// Builds a surface of one or several models.
    ///
    /// Cost: about linear in the number of triangles.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// // Two squares side by side, of two models: welding joins the points of their common edge.
    /// let square = |x: f64| vec![[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x + 1.0, 1.0, 0.0], [x, 1.0, 0.0]];
    /// let models = [0.0, 1.0].map(|x| Model::polygons(square(x), [[0, 1, 2, 3]]));
    /// let surface = Surface::new(&models, Options { weld: 1e-6, ..Options::default() })?;
    /// assert_eq!((surface.triangles().len(), surface.report().welded_count), (4, 2));
    /// assert_eq!(surface.report().island_count, 1);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`build`](Self::build).
    pub fn new(models: &[Model], options: Options) -> Result<Self> {
        Self::build(models, options, |_| ControlFlow::Continue(()))
    }

    /// Builds a surface with progress reports, each of which can cancel the build.
    ///
    /// `on_progress` is called at the beginning and the end of each stage, and within it at least once in 65,536 elements. The stages
    /// [`Weld`](BuildStage::Weld), [`Edges`](BuildStage::Edges) and [`Index`](BuildStage::Index) are quick and have no reports within. The
    /// elements of [`Landmarks`](BuildStage::Landmarks) are landmarks, measured four at a time.
    ///
    /// # Errors
    /// [`Error::Value`] for an option out of range, for a coordinate that is not finite or larger than 1e75, and where all coordinates are
    /// smaller than 1e-70; [`Error::Count`] for a face of fewer than three corners; [`Error::Missing`] for a point that does not exist;
    /// [`Error::Invalid`] where no triangle is left; [`Error::TooMany`] where indices would exceed 32 bits; [`Error::MemoryLimit`] where a
    /// refinement would exceed the host's memory; [`Error::Cancelled`] where `on_progress` returns `Break`.
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
        mut on_progress: impl FnMut(BuildProgress) -> ControlFlow<()>,
    ) -> Result<Self> {
        Self::build_inner(models, options, &mut on_progress)
    }

    fn build_inner(
        models: &[Model],
        options: Options,
        on_progress: &mut dyn FnMut(BuildProgress) -> ControlFlow<()>,
    ) -> Result<Self> {
        let max_snap = check_max_snap(options.max_snap)?;
        let mut progress = ProgressReporter { on_progress };
        let (mesh, report) = build::build(models, &options, &mut progress)?;
        let count = mesh.triangle_count();
        progress.report(BuildStage::Index, 0, count)?;
        let mut surface = Self { max_snap, ..Self::from_mesh(mesh, report) };
        progress.report(BuildStage::Index, count, count)?;
        if options.landmarks {
            surface.measure_landmarks(&mut progress)?;
        }
        Ok(surface)
    }

    /// Measures the landmarks.
    pub(crate) fn measure_landmarks(&mut self, progress: &mut ProgressReporter<'_>) -> Result<()> {
        let report = |done: usize| progress.report_now(BuildStage::Landmarks, done, LANDMARK_COUNT);
        self.landmarks = Some(Arc::new(Landmarks::new(&self.mesh, report)?));
        Ok(())
    }

    /// Makes a surface of a mesh whose edges are known, and completes the report by the islands.
    pub(crate) fn from_mesh(mesh: Mesh, mut report: Report) -> Self {
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
            by_face: Arc::default(),
            max_snap: f64::INFINITY,
            links: Vec::new(),
        }
    }

    /// What the build found and changed; of a loaded surface, the saved report.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The vertices: the points that triangles use, in the order of the models, then those of a refinement.
    pub fn vertices(&self) -> impl ExactSizeIterator<Item = [f64; 3]> + '_ {
        self.mesh.points.iter().map(DVec3::to_array)
    }

    /// The triangles, each three indices of vertices, in the order of the faces. A refined triangle is replaced by its pieces.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.mesh.triangles
    }

    /// The edges, each two indices of vertices, the lower one first; sorted.
    pub fn edges(&self) -> &[[u32; 2]] {
        &self.mesh.edges
    }

    /// The edges of a triangle: from its first corner to the second, to the third, and back to the first. `None` for a triangle that does not
    /// exist.
    pub fn edges_of(&self, triangle: u32) -> Option<[u32; 3]> {
        let first = (triangle as usize).checked_mul(3)?;
        self.mesh.edge_of.get(first..first + 3)?.try_into().ok()
    }

    /// The triangles at an edge, ascending; empty for an edge that does not exist.
    pub fn triangles_at(&self, edge: u32) -> impl Iterator<Item = u32> + '_ {
        let is_known = (edge as usize) < self.mesh.edges.len();
        is_known.then(|| self.mesh.sides_of(edge)).into_iter().flatten().map(|side| side / 3)
    }

    /// The triangles that share an edge with a triangle, in the order of its edges; empty for a triangle that does not exist.
    pub fn neighbours(&self, triangle: u32) -> impl Iterator<Item = u32> + '_ {
        let sides = if self.is_known(triangle) { 3 * triangle..3 * triangle + 3 } else { 0..0 };
        sides.flat_map(|side| self.mesh.twins(side)).map(|side| side / 3)
    }

    /// The edge that two triangles share; `None` where they share none or are the same.
    pub fn common_edge(&self, a: u32, b: u32) -> Option<u32> {
        let (of_a, of_b) = (self.edges_of(a)?, self.edges_of(b)?);
        if a == b { None } else { of_a.into_iter().find(|edge| of_b.contains(edge)) }
    }

    /// The corner of a triangle opposite to one of its edges; `None` where it does not have that edge.
    pub fn opposite_vertex(&self, triangle: u32, edge: u32) -> Option<u32> {
        let corner = self.edges_of(triangle)?.iter().position(|&own| own == edge)?;
        Some(self.mesh.opposite(3 * triangle + corner as u32))
    }

    /// The unit normal of a triangle, by the right-hand rule. A triangle without area has the normal of a neighbour. `None` for a triangle
    /// that does not exist.
    pub fn normal(&self, triangle: u32) -> Option<[f64; 3]> {
        self.is_known(triangle).then(|| self.mesh.normal(triangle).to_array())
    }

    /// The model and face from which a triangle was cut; `None` for a triangle that does not exist.
    pub fn source(&self, triangle: u32) -> Option<ModelFace> {
        let &[model, face] = self.mesh.sources.get(triangle as usize)?;
        Some(ModelFace { model, face })
    }

    /// The island of a triangle, from 0. Islands are parts that no edge connects; it does not matter what is walkable. `None` for a triangle
    /// that does not exist.
    pub fn island(&self, triangle: u32) -> Option<u32> {
        self.islands.get(triangle as usize).copied().filter(|&island| island != NONE)
    }

    /// The vertices that lie on an edge they are not joined to, within `tolerance` of it in the surface's units, by vertex. No path goes across
    /// there, which is what to look for where a path is longer than it should be, or missing.
    ///
    /// Each is listed with one of the edges that it lies on. A vertex within the tolerance of an end of an edge does not lie on that edge: joining
    /// points is the work of [`Options::weld`]. Nor does one within the tolerance of the third corner of a triangle at the edge. A tolerance of
    /// 1e-6 of the surface's size finds what modelling programs write as f32; with 0 only those are found that f64 computes to lie on an edge.
    ///
    /// Cost: O(n log n) for n triangles, a few microseconds a vertex on one core.
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// // A square beside two smaller ones: the point between those is on the square's edge.
    /// let points = [[0, 0], [2, 0], [2, 2], [0, 2], [2, 1], [3, 0], [3, 1], [3, 2]];
    /// let points = points.map(|[x, y]| [f64::from(x), f64::from(y), 0.0]).to_vec();
    /// let model = Model::polygons(points, [[0, 1, 2, 3], [1, 5, 6, 4], [4, 6, 7, 2]]);
    /// let surface = Surface::new(&[model], Options::default())?;
    /// let found = surface.t_junctions(1e-6)?;
    /// assert_eq!((found.len(), found[0].vertex), (1, 4));
    /// assert_eq!(surface.edges()[found[0].edge as usize], [1, 2]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] where the tolerance is negative or not finite, or so large that over 256 triangles are within it of each vertex, on average and a
    /// million besides.
    pub fn t_junctions(&self, tolerance: f64) -> Result<Vec<TJunction>> {
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            let allowed = "it must be 0 or more and finite";
            return Err(Error::value(Location::Argument, "tolerance", shown(tolerance), allowed));
        }
        t_junctions(&self.mesh, &self.tree, tolerance).ok_or_else(|| {
            let allowed = "it must be smaller: too many triangles are within it of each vertex";
            Error::value(Location::Argument, "tolerance", shown(tolerance), allowed)
        })
    }

    /// The area of all triangles, in the surface's units squared.
    pub fn area(&self) -> f64 {
        (0..self.mesh.triangle_count() as u32).map(|t| 0.5 * self.mesh.area_vector(t).length()).sum()
    }

    pub(crate) fn nodes(&self) -> &Nodes {
        self.nodes.get_or_init(|| Nodes::new(&self.mesh, Walkable(&self.walkable)))
    }

    /// Whether a triangle is walkable; false for a triangle that does not exist.
    pub fn is_walkable(&self, triangle: u32) -> bool {
        self.walkable.get(triangle as usize).copied().unwrap_or(false)
    }

    /// Makes a triangle walkable or not. All triangles are walkable at first. Cost: O(1), mostly; nothing is rebuilt.
    ///
    /// # Errors
    /// [`Error::Missing`] for a triangle that does not exist.
    pub fn set_walkable(&mut self, triangle: u32, walkable: bool) -> Result<()> {
        match self.walkable.get_mut(triangle as usize) {
            Some(flag) if *flag == walkable => {}
            Some(flag) => {
                *flag = walkable;
                self.areas.take();
                let walkable = Walkable(&self.walkable);
                if self.nodes.get_mut().is_some_and(|nodes| !nodes.update(&self.mesh, walkable, triangle)) {
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

    /// Makes exactly those triangles walkable that `allows` accepts, by index and unit normal. Cost: O(n).
    pub fn set_walkable_where(&mut self, mut allows: impl FnMut(u32, [f64; 3]) -> bool) {
        self.areas.take();
        self.nodes.take();
        for triangle in 0..self.mesh.triangle_count() as u32 {
            self.walkable[triangle as usize] = allows(triangle, self.mesh.normal(triangle).to_array());
        }
    }

    /// Makes exactly those triangles walkable whose normal is within `degrees` of `up`: 90 allows floors and vertical walls, 180 everything.
    /// Cost: O(n).
    ///
    /// ```
    /// use hullfield::navigate::surface::{Model, Options, Surface};
    ///
    /// // A floor, and a wall at right angles to it, of two triangles each.
    /// let points = vec![
    ///     [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [4.0, 4.0, 0.0], [0.0, 4.0, 0.0],
    ///     [4.0, 0.0, 4.0], [4.0, 4.0, 4.0],
    /// ];
    /// let mut surface = Surface::new(&[Model::polygons(points, [[0, 1, 2, 3], [1, 4, 5, 2]])], Options::default())?;
    /// surface.set_walkable_slope([0.0, 0.0, 1.0], 45.0)?;
    /// assert_eq!([0, 1, 2, 3].map(|triangle| surface.is_walkable(triangle)), [true, true, false, false]);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Value`] for an `up` without a direction, and for `degrees` that are not from 0 to 180.
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
        // Compare angles, not cosines, which are inexact for small angles.
        let allows = |_, normal: [f64; 3]| up.angle_between(normal.into()).to_degrees() <= degrees;
        self.set_walkable_where(allows);
        Ok(())
    }

    pub(crate) fn nearest(&self, point: [f64; 3], wanted: &dyn Fn(u32) -> bool) -> Option<Point> {
        let found = self.tree.nearest(&self.mesh, point.into(), f64::INFINITY, wanted)?;
        Some(Point {
            triangle: found.triangle,
            position: found.point.to_array(),
            distance: found.distance_squared.sqrt(),
        })
    }

    /// The corners of the bounding box: the least and the greatest coordinates.
    pub fn bounds(&self) -> [[f64; 3]; 2] {
        self.tree.bounds().map(|corner| corner.to_array())
    }

    /// The rounding of a point that is computed to lie on the surface, in the surface's units.
    pub(crate) fn rounding(&self) -> f64 {
        ON_EDGE * self.bounds().as_flattened().iter().fold(0.0, |most: f64, at| most.max(at.abs()))
    }

    pub(crate) fn is_known(&self, triangle: u32) -> bool {
        (triangle as usize) < self.mesh.triangle_count()
    }
}
