//! What draws a search towards its goal better than the straight line through space: distances from a few landmarks.
//!
//! By the triangle inequality a vertex and the goal are at least as far from one another as their distances from any landmark
//! differ (Goldberg, Harrelson 2005, "Computing the shortest path: A* search meets graph theory"). The distances are those of a
//! coarse search: up to a percent too long, so they guide coarse searches only.

use glam::DVec3;

use super::mesh::Mesh;
use super::window::{Aim, Quest, Windows};
use crate::error::Result;

/// How many landmarks there are: 48 bytes a vertex.
pub(super) const COUNT: usize = 12;

/// Of a difference of distances: the rest allows for their errors.
const TRUSTED: f32 = 0.98;

/// The distances of all vertices from each landmark.
#[derive(Debug)]
pub(super) struct Landmarks {
    distances: Vec<[f32; COUNT]>,
}

impl Landmarks {
    /// Each landmark is the vertex that is furthest from those before, the first that which is furthest from vertex 0.
    pub(super) fn new(mesh: &Mesh) -> Result<Self> {
        let mut windows = Windows::default();
        let count = mesh.points.len();
        let mut distances = vec![[0.0; COUNT]; count];
        let mut nearest = vec![f64::INFINITY; count];
        let first = furthest(&field(mesh, &mut windows, 0)?);
        let mut at = first;
        for mark in 0..COUNT {
            let field = field(mesh, &mut windows, at)?;
            for (vertex, &distance) in field.iter().enumerate() {
                distances[vertex][mark] = distance as f32;
                nearest[vertex] = nearest[vertex].min(distance);
            }
            at = furthest(&nearest);
        }
        Ok(Self { distances })
    }

    /// What draws a search towards a point of a triangle.
    pub(super) fn guide<'a>(&'a self, mesh: &Mesh, triangle: u32, goal: DVec3) -> Guide<'a> {
        let [a, b, c] = mesh.corners(triangle);
        let normal = (b - a).cross(c - a);
        let parts = [(c - b).cross(goal - b), (a - c).cross(goal - c), (b - a).cross(goal - a)]
            .map(|part| part.dot(normal) / normal.length_squared());
        let mut distances = [0.0; COUNT];
        for (part, vertex) in parts.into_iter().zip(mesh.triangles[triangle as usize]) {
            for (sum, &distance) in distances.iter_mut().zip(&self.distances[vertex as usize]) {
                *sum += part as f32 * distance;
            }
        }
        Guide { landmarks: &self.distances, goal: distances }
    }
}

/// What draws a search towards one goal.
#[derive(Debug)]
pub(super) struct Guide<'a> {
    landmarks: &'a [[f32; COUNT]],
    /// NaN in a triangle without area, and where a landmark is on another island.
    goal: [f32; COUNT],
}

impl Guide<'_> {
    /// How far the goal is from a vertex, at least and roughly.
    #[inline]
    pub(super) fn ahead(&self, vertex: u32) -> f64 {
        let differences = self.landmarks[vertex as usize].iter().zip(&self.goal).map(|(a, b)| (a - b).abs());
        // The greater of a number and a NaN is the number; an infinite one says that there is no path at all.
        f64::from(TRUSTED * differences.fold(0.0, f32::max))
    }
}

/// The distances of all vertices from one, over all triangles.
fn field(mesh: &Mesh, windows: &mut Windows, vertex: u32) -> Result<Vec<f64>> {
    let has = |triangle: &u32| mesh.triangles[*triangle as usize].contains(&vertex);
    let firsts: Vec<u32> = (0..mesh.triangle_count() as u32).filter(has).collect();
    let quest = Quest {
        mesh,
        is_open: |_| true,
        firsts: &firsts,
        start: mesh.points[vertex as usize],
        lasts: &[],
        goal: DVec3::ZERO,
        bound: f64::INFINITY,
        aim: Aim::Everywhere { is_exact: false },
    };
    windows.search(&quest)?;
    Ok(windows.found.at_vertices(mesh))
}

fn furthest(field: &[f64]) -> u32 {
    let mut best = 0;
    for vertex in 1..field.len() {
        if field[vertex] > field[best] {
            best = vertex;
        }
    }
    best as u32
}
