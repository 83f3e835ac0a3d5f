//! What draws a search towards its goal better than the straight line through space: distances from a few landmarks.
//!
//! By the triangle inequality a vertex and the goal are at least as far from one another as their distances from any landmark
//! differ (Goldberg, Harrelson 2005, "Computing the shortest path: A* search meets graph theory"). The distances are a little too
//! long here and there, so they guide coarse searches only. They are those over all triangles: where some are not walkable, paths
//! are only longer.

use glam::DVec3;

use crate::error::Result;
use crate::navigate::surface::geodesic::guide::{COUNT, Guide};
use crate::navigate::surface::geodesic::nodes::Nodes;
use crate::navigate::surface::geodesic::window::{Aim, Quest, Windows};
use crate::navigate::surface::mesh::topology::Mesh;
use crate::parallel::map_init;

/// How many are chosen at a time, and measured on all cores.
const BATCH: usize = 4;

/// The distances of all vertices from each landmark.
#[derive(Debug)]
pub(crate) struct Landmarks {
    /// In means of the sides' lengths, for those of f64 may be past what f32 holds.
    distances: Vec<[f32; COUNT]>,
}

impl Landmarks {
    /// Each landmark is the vertex that is furthest from those before, the first that which is furthest from vertex 0; from
    /// those of its own batch in a straight line.
    ///
    /// `tell` hears how many are measured, and may break off by an error.
    pub(crate) fn new(mesh: &Mesh, mut tell: impl FnMut(usize) -> Result<()>) -> Result<Self> {
        let nodes = Nodes::new(mesh, |_| true);
        let mut distances = vec![[0.0; COUNT]; mesh.points.len()];
        let mut nearest = vec![f64::INFINITY; mesh.points.len()];
        for first in (0..COUNT).step_by(BATCH) {
            tell(first)?;
            let mut straight = nearest.clone();
            let mut near = |vertex: usize| {
                let from = mesh.points[vertex];
                for (nearest, point) in straight.iter_mut().zip(&mesh.points) {
                    *nearest = nearest.min(point.distance(from));
                }
                furthest(&straight)
            };
            let mut next = if first == 0 { near(0) } else { furthest(&nearest) };
            let mut batch = [next; BATCH];
            for vertex in &mut batch[1..] {
                next = near(next);
                *vertex = next;
            }
            for (mark, field) in fields(mesh, &nodes, &batch)?.into_iter().enumerate() {
                for (vertex, &distance) in field.iter().enumerate() {
                    distances[vertex][first + mark] = (distance / mesh.mean_edge) as f32;
                    nearest[vertex] = nearest[vertex].min(distance);
                }
            }
        }
        tell(COUNT)?;
        // Where parts touch in a vertex alone it has a distance in each of them, and nothing is said of it.
        for (triangle, nodes) in mesh.triangles.iter().zip(nodes.of(mesh)) {
            for (&vertex, _) in triangle.iter().zip(nodes).filter(|(vertex, node)| vertex != node) {
                distances[vertex as usize] = [f32::NAN; COUNT];
            }
        }
        Ok(Self { distances })
    }

    /// What draws a search towards a point of a triangle.
    pub(crate) fn guide<'a>(&'a self, mesh: &Mesh, triangle: u32, goal: DVec3) -> Guide<'a> {
        // The goal's own distances are known but for its distances from the corners.
        let mut goals = [[0.0, f32::INFINITY]; COUNT];
        for vertex in mesh.triangles[triangle as usize] {
            let off = (mesh.points[vertex as usize].distance(goal) / mesh.mean_edge) as f32;
            for (goal, &distance) in goals.iter_mut().zip(&self.distances[vertex as usize]) {
                *goal = [goal[0].max(distance - off), goal[1].min(distance + off)];
            }
        }
        Guide { landmarks: &self.distances, goals, unit: mesh.mean_edge }
    }
}

/// The distances of all vertices from each of some.
fn fields(mesh: &Mesh, nodes: &Nodes, vertices: &[usize]) -> Result<Vec<Vec<f64>>> {
    let field = |windows: &mut Windows, &vertex: &usize| field(mesh, nodes, windows, vertex);
    map_init(vertices, Windows::default, field).into_iter().collect()
}

/// The distances of all vertices from one, over all triangles.
fn field(mesh: &Mesh, nodes: &Nodes, windows: &mut Windows, vertex: usize) -> Result<Vec<f64>> {
    let has = |triangle: &u32| mesh.triangles[*triangle as usize].contains(&(vertex as u32));
    let firsts: Vec<u32> = (0..mesh.triangle_count() as u32).filter(has).collect();
    let quest = Quest {
        mesh,
        nodes,
        is_open: |_| true,
        firsts: &firsts,
        start: mesh.points[vertex],
        lasts: &[],
        goal: DVec3::ZERO,
        bound: f64::INFINITY,
        aim: Aim::Distances,
        guide: None,
    };
    windows.search(&quest)?;
    Ok(windows.found.at_vertices(mesh, nodes))
}

/// The first of the vertices with the largest distance.
fn furthest(distances: &[f64]) -> usize {
    let further =
        |best: usize, vertex: usize| if distances[vertex] > distances[best] { vertex } else { best };
    (1..distances.len()).fold(0, further)
}
