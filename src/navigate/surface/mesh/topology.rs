//! The triangle mesh: triangles, half-edges ("sides"), and edges.

use glam::DVec3;

/// No triangle, side or edge.
pub(crate) const NONE: u32 = u32::MAX;

/// Triangles, and the edges between them. The side `3 t + k` is the half-edge of triangle `t` from its corner `k` to the next. A corner has
/// the index of the side that begins there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mesh {
    pub(crate) points: Vec<DVec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// The model and face of each triangle.
    pub(crate) sources: Vec<[u32; 2]>,
    /// The two vertices of each edge, the lower one first; sorted.
    pub(crate) edges: Vec<[u32; 2]>,
    /// The edge of each side.
    pub(crate) edge_of: Vec<u32>,
    /// The lowest side of each edge.
    pub(crate) first_sides: Vec<u32>,
    /// The sides of non-manifold edges, at which three or more meet: sorted by edge, then by side.
    pub(crate) non_manifold_sides: Vec<u32>,
    /// What searches need of each triangle.
    pub(crate) faces: Vec<Face>,
    /// Whether a shortest path may bend at an interior vertex: where the angles sum to more than a full turn, or to one up to rounding.
    /// Rounding may prune a window by a corner's distance, and then paths must go on from that corner.
    pub(crate) may_bend: Vec<bool>,
    /// The mean length of a side.
    pub(crate) mean_edge: f64,
}

/// The lengths, area and neighbours of a triangle, in one place.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Face {
    /// The length of each side.
    pub(crate) lengths: [f64; 3],
    /// For each side the position of the opposite corner along it.
    pub(crate) along: [f64; 3],
    /// Twice the area.
    pub(crate) area: f64,
    /// The twin of each side: [`NONE`] at a boundary, [`NON_MANIFOLD`] where three sides or more meet.
    pub(crate) twins: [u32; 3],
    /// A bit for each side, set where the twin runs in the opposite direction, as it does between triangles of the same orientation.
    pub(crate) opposed: u32,
}

impl Face {
    /// The height of the corner opposite to a side.
    #[inline]
    pub(crate) fn height(&self, k: usize) -> f64 {
        self.area / self.lengths[k]
    }
}

/// The side, or the corner, that comes next in the same triangle.
#[inline]
pub(crate) fn next(side: u32) -> u32 {
    // Without a branch, which would be unpredictable.
    side + 1 - 3 * u32::from(side % 3 == 2)
}

/// The side, or the corner, that comes before in the same triangle.
#[inline]
pub(crate) fn previous(side: u32) -> u32 {
    side + 3 * u32::from(side.is_multiple_of(3)) - 1
}

/// In place of a twin: three sides or more meet at the edge.
pub(crate) const NON_MANIFOLD: u32 = u32::MAX - 1;

/// Angles that differ by no more are equal, in radians.
pub(crate) const ANGLE_ROUNDING: f64 = 1e-9;

impl Mesh {
    /// Finds the edges of `triangles`.
    pub(crate) fn connect(&mut self) {
        let vertex_count = self.points.len();
        let ends = |side: usize| {
            let triangle = &self.triangles[side / 3];
            let (a, b) = (triangle[side % 3], triangle[(side + 1) % 3]);
            // This branch avoids a second remainder.
            let b = if side % 3 == 2 { triangle[0] } else { b };
            if a < b { [a, b] } else { [b, a] }
        };
        let side_count = 3 * self.triangles.len();
        // A counting sort by the lower vertex, then each vertex's few sides by the other: linear time, and a deterministic order.
        let mut starts = vec![0u32; vertex_count + 1];
        for side in 0..side_count {
            starts[ends(side)[0] as usize + 1] += 1;
        }
        for vertex in 0..vertex_count {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next_free = starts.clone();
        let mut by_low = vec![[0u32; 2]; side_count];
        for side in 0..side_count {
            let [low, high] = ends(side);
            let place = &mut next_free[low as usize];
            by_low[*place as usize] = [high, side as u32];
            *place += 1;
        }
        // A closed surface has that many edges.
        self.edges = Vec::with_capacity(side_count / 2);
        self.first_sides = Vec::with_capacity(side_count / 2);
        self.edge_of = vec![NONE; side_count];
        let mut twins = vec![[NONE; 3]; self.triangles.len()];
        self.non_manifold_sides = Vec::new();
        for vertex in 0..vertex_count {
            let bucket = &mut by_low[starts[vertex] as usize..starts[vertex + 1] as usize];
            bucket.sort_unstable();
            for group in bucket.chunk_by(|a, b| a[0] == b[0]) {
                let edge = self.edges.len() as u32;
                self.edges.push([vertex as u32, group[0][0]]);
                self.first_sides.push(group[0][1]);
                for &[_, side] in group {
                    self.edge_of[side as usize] = edge;
                }
                match *group {
                    [_] => {}
                    [[_, one], [_, other]] => {
                        twins[one as usize / 3][one as usize % 3] = other;
                        twins[other as usize / 3][other as usize % 3] = one;
                    }
                    _ => {
                        for &[_, side] in group {
                            twins[side as usize / 3][side as usize % 3] = NON_MANIFOLD;
                            self.non_manifold_sides.push(side);
                        }
                    }
                }
            }
        }
        // The faces are large, so free this memory first.
        drop((starts, next_free, by_low));
        self.faces = twins.into_iter().map(|twins| Face { twins, ..Face::default() }).collect();
        self.edges.shrink_to_fit();
        self.first_sides.shrink_to_fit();
        self.non_manifold_sides.shrink_to_fit();
    }

    /// Computes the faces, and where paths may bend. The edges must be known.
    pub(crate) fn measure(&mut self) {
        let mut angle_sums = vec![0.0; self.points.len()];
        for triangle in 0..self.triangle_count() {
            let corners = self.corners(triangle as u32);
            let sides = [0, 1, 2].map(|k| corners[(k + 1) % 3] - corners[k]);
            let lengths = sides.map(DVec3::length);
            // The cross product of the two shorter sides rounds least.
            let longest = (0..3).max_by(|&a, &b| lengths[a].total_cmp(&lengths[b])).unwrap_or(0);
            let area = sides[(longest + 1) % 3].cross(sides[(longest + 2) % 3]).length();
            let along = [0, 1, 2].map(|k| -sides[k].dot(sides[(k + 2) % 3]) / lengths[k]);
            let mut opposed = 0;
            for k in 0..3 {
                let side = 3 * triangle as u32 + k as u32;
                let twin = self.twin(side);
                opposed |= u32::from(twin < NON_MANIFOLD && self.is_opposed(side, twin)) << k;
                angle_sums[self.triangles[triangle][k] as usize] += (area / lengths[k]).atan2(along[k]);
            }
            let twins = self.faces[triangle].twins;
            self.faces[triangle] = Face { lengths, along, area, twins, opposed };
        }
        let lengths = || self.faces.iter().flat_map(|face| face.lengths);
        let count = (3 * self.triangle_count()) as f64;
        self.mean_edge = lengths().map(|width| width / count).sum();
        self.may_bend =
            angle_sums.iter().map(|&angle_sum| angle_sum > std::f64::consts::TAU - ANGLE_ROUNDING).collect();
    }

    pub(crate) fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The positions of a triangle's corners.
    #[inline]
    pub(crate) fn corners(&self, triangle: u32) -> [DVec3; 3] {
        let [a, b, c] = self.triangles[triangle as usize];
        [self.points[a as usize], self.points[b as usize], self.points[c as usize]]
    }

    /// The twin of a side: [`NONE`] at a boundary, [`NON_MANIFOLD`] where three sides or more meet.
    #[inline]
    pub(crate) fn twin(&self, side: u32) -> u32 {
        self.faces[side as usize / 3].twins[side as usize % 3]
    }

    /// The length of a side, and the coordinates of the opposite corner: along the side and above it.
    #[inline]
    pub(crate) fn frame(&self, side: u32) -> [f64; 3] {
        let (face, k) = (&self.faces[side as usize / 3], side as usize % 3);
        [face.lengths[k], face.along[k], face.height(k)]
    }

    /// The vertices from and to which a side leads.
    pub(crate) fn ends(&self, side: u32) -> [u32; 2] {
        let triangle = &self.triangles[side as usize / 3];
        [triangle[side as usize % 3], triangle[(side as usize % 3 + 1) % 3]]
    }

    /// The vertex opposite to a side.
    pub(crate) fn opposite(&self, side: u32) -> u32 {
        self.triangles[side as usize / 3][(side as usize % 3 + 2) % 3]
    }

    /// The sides of an edge, ascending.
    pub(crate) fn sides_of(&self, edge: u32) -> impl Iterator<Item = u32> + '_ {
        let first = self.first_sides[edge as usize];
        let (two, many): ([u32; 2], &[u32]) = match self.twin(first) {
            NON_MANIFOLD => ([NONE; 2], self.non_manifold_sides_of(edge)),
            other => ([first, other], &[]),
        };
        two.into_iter().filter(|&side| side != NONE).chain(many.iter().copied())
    }

    /// The sides of a non-manifold edge, ascending; empty for another edge.
    fn non_manifold_sides_of(&self, edge: u32) -> &[u32] {
        let edge_of = |side: u32| self.edge_of[side as usize];
        let from = self.non_manifold_sides.partition_point(|&side| edge_of(side) < edge);
        let rest = &self.non_manifold_sides[from..];
        &rest[..rest.partition_point(|&side| edge_of(side) == edge)]
    }

    /// The other sides of a side's edge: its twin, or several at a non-manifold edge.
    pub(crate) fn twins(&self, side: u32) -> impl Iterator<Item = u32> + '_ {
        let (one, many): (Option<u32>, &[u32]) = match self.twin(side) {
            NONE => (None, &[]),
            NON_MANIFOLD => (None, self.non_manifold_sides_of(self.edge_of[side as usize])),
            other => (Some(other), &[]),
        };
        one.into_iter().chain(many.iter().copied().filter(move |&other| other != side))
    }

    /// The angle of a triangle at a corner, in radians, from the measures in [`Face`].
    pub(crate) fn measured_angle(&self, corner: u32) -> f64 {
        let [_, along, height] = self.frame(corner);
        height.atan2(along)
    }

    /// The angle of a triangle at a corner, in radians, from the positions of its corners.
    pub(crate) fn angle(&self, corner: u32) -> f64 {
        let [a, b, c] = self.corners(corner / 3);
        let (at, one, other) = match corner % 3 {
            0 => (a, b, c),
            1 => (b, c, a),
            _ => (c, a, b),
        };
        let (one, other) = (one - at, other - at);
        one.cross(other).length().atan2(one.dot(other))
    }

    /// The vector along a triangle's normal whose length is twice the area.
    pub(crate) fn area_vector(&self, triangle: u32) -> DVec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a)
    }

    /// The unit normal of a triangle. For one without area it is that of a neighbour with an area, or else some unit vector perpendicular
    /// to it.
    pub(crate) fn normal(&self, triangle: u32) -> DVec3 {
        let own = |triangle| self.area_vector(triangle).try_normalize();
        let beside = || {
            (3 * triangle..3 * triangle + 3).flat_map(|side| self.twins(side)).find_map(|side| own(side / 3))
        };
        own(triangle).or_else(beside).unwrap_or_else(|| {
            let [a, b, c] = self.corners(triangle);
            let along = (b - a).try_normalize().or_else(|| (c - a).try_normalize());
            along.map_or(DVec3::Z, |along| along.any_orthonormal_vector())
        })
    }

    /// The island of each triangle, and the number of islands. Islands are numbered in the order of their first triangles.
    pub(crate) fn islands(&self) -> (Vec<u32>, u32) {
        let mut islands = vec![NONE; self.triangle_count()];
        let (mut count, mut stack) = (0, Vec::new());
        for first in 0..islands.len() as u32 {
            if islands[first as usize] != NONE {
                continue;
            }
            islands[first as usize] = count;
            stack.push(first);
            while let Some(triangle) = stack.pop() {
                for side in (3 * triangle..3 * triangle + 3).flat_map(|side| self.twins(side)) {
                    let island = &mut islands[side as usize / 3];
                    if *island == NONE {
                        *island = count;
                        stack.push(side / 3);
                    }
                }
            }
            count += 1;
        }
        (islands, count)
    }

    /// Whether two sides of one edge run in opposite directions, as they do between triangles of the same orientation.
    #[inline]
    pub(crate) fn is_opposed(&self, side: u32, other: u32) -> bool {
        let first = |side: u32| self.triangles[side as usize / 3][side as usize % 3];
        first(side) != first(other)
    }
}
