//! Landmarks: vertices whose distances to all vertices make a better heuristic than the straight line through space.
//!
//! By the triangle inequality, a vertex and the goal are at least as far apart as their distances from any landmark differ (Goldberg,
//! Harrelson 2005, "Computing the shortest path: A* search meets graph theory"). Some of the distances are a little too long, so only
//! coarse searches use them. They are distances over all triangles, walkable or not; paths over walkable ones can only be longer.

use glam::DVec3;

use crate::error::Result;
use crate::navigate::surface::geodesic::landmark_heuristic::{LANDMARK_COUNT, LandmarkHeuristic};
use crate::navigate::surface::geodesic::nodes::Nodes;
use crate::navigate::surface::geodesic::window::{SearchMode, WindowQuery, WindowSearch};
use crate::navigate::surface::mesh::topology::Mesh;
use crate::navigate::surface::mesh::walkable::Walkable;
use crate::parallel::map_init;

/// How many landmarks are chosen at a time. A batch is measured on all cores.
const BATCH: usize = 4;

/// The distances of all vertices from each landmark.
#[derive(Debug)]
pub(crate) struct Landmarks {
    /// In units of the mean edge length, because the surface's units may exceed the range of f32.
    distances: Vec<[f32; LANDMARK_COUNT]>,
}

impl Landmarks {
    /// Each landmark is the vertex farthest from all earlier ones; the first is the one farthest from vertex 0. Within a batch, distances
    /// are straight lines.
    ///
    /// `report` gets the number of landmarks measured so far. It cancels by an error.
    pub(crate) fn new(mesh: &Mesh, mut report: impl FnMut(usize) -> Result<()>) -> Result<Self> {
        let all = vec![true; mesh.triangle_count()];
        let nodes = Nodes::new(mesh, Walkable(&all));
        let mut distances = vec![[0.0; LANDMARK_COUNT]; mesh.points.len()];
        let mut nearest = vec![f64::INFINITY; mesh.points.len()];
        for first in (0..LANDMARK_COUNT).step_by(BATCH) {
            report(first)?;
            let mut in_space = nearest.clone();
            let mut farthest_in_space = |vertex: usize| {
                let from = mesh.points[vertex];
                for (nearest, point) in in_space.iter_mut().zip(&mesh.points) {
                    *nearest = nearest.min(point.distance(from));
                }
                farthest(&in_space)
            };
            let mut next = if first == 0 { farthest_in_space(0) } else { farthest(&nearest) };
            let mut batch = [next; BATCH];
            for vertex in &mut batch[1..] {
                next = farthest_in_space(next);
                *vertex = next;
            }
            for (k, distances_from) in distances_from_each(mesh, &nodes, &batch)?.into_iter().enumerate() {
                for (vertex, &distance) in distances_from.iter().enumerate() {
                    distances[vertex][first + k] = (distance / mesh.mean_edge) as f32;
                    nearest[vertex] = nearest[vertex].min(distance);
                }
            }
        }
        report(LANDMARK_COUNT)?;
        // A vertex in which parts touch has a distance in each of them. No bound is known for such a vertex.
        for (triangle, nodes) in mesh.triangles.iter().zip(nodes.of(mesh)) {
            for (&vertex, _) in triangle.iter().zip(nodes).filter(|(vertex, node)| vertex != node) {
                distances[vertex as usize] = [f32::NAN; LANDMARK_COUNT];
            }
        }
        Ok(Self { distances })
    }

    /// The heuristic for a goal on a triangle.
    pub(crate) fn heuristic<'a>(&'a self, mesh: &Mesh, triangle: u32, goal: DVec3) -> LandmarkHeuristic<'a> {
        // The triangle inequality with each corner bounds the goal's own distances.
        let mut goal_bounds = [[0.0, f32::INFINITY]; LANDMARK_COUNT];
        for vertex in mesh.triangles[triangle as usize] {
            let off = (mesh.points[vertex as usize].distance(goal) / mesh.mean_edge) as f32;
            for (goal, &distance) in goal_bounds.iter_mut().zip(&self.distances[vertex as usize]) {
                *goal = [goal[0].max(distance - off), goal[1].min(distance + off)];
            }
        }
        LandmarkHeuristic { distances: &self.distances, goal_bounds, unit: mesh.mean_edge }
    }
}

/// The distances of all vertices from each of the given ones.
fn distances_from_each(mesh: &Mesh, nodes: &Nodes, vertices: &[usize]) -> Result<Vec<Vec<f64>>> {
    let distances_from =
        |windows: &mut WindowSearch, &vertex: &usize| distances_from(mesh, nodes, windows, vertex);
    map_init(vertices, WindowSearch::default, distances_from).into_iter().collect()
}

/// The distances of all vertices from one vertex, over all triangles.
fn distances_from(mesh: &Mesh, nodes: &Nodes, windows: &mut WindowSearch, vertex: usize) -> Result<Vec<f64>> {
    let has = |triangle: &u32| mesh.triangles[*triangle as usize].contains(&(vertex as u32));
    let start_triangles: Vec<u32> = (0..mesh.triangle_count() as u32).filter(has).collect();
    let all = vec![true; mesh.triangle_count()];
    let query = WindowQuery {
        mesh,
        nodes,
        walkable: Walkable(&all),
        start_triangles: &start_triangles,
        start: mesh.points[vertex],
        goal_triangles: &[],
        goal: DVec3::ZERO,
        bound: f64::INFINITY,
        mode: SearchMode::Distances,
        heuristic: None,
    };
    windows.search(&query)?;
    Ok(windows.state.at_vertices(mesh, nodes))
}

/// The first vertex with the largest distance.
fn farthest(distances: &[f64]) -> usize {
    let further =
        |best: usize, vertex: usize| if distances[vertex] > distances[best] { vertex } else { best };
    (1..distances.len()).fold(0, further)
}
