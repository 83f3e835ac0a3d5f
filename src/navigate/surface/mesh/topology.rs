//! The triangles of a surface and how they hang together.

use glam::DVec3;

/// No triangle, side or edge.
pub(crate) const NONE: u32 = u32::MAX;

/// Triangles, and the edges between them. The side `3 t + k` is that of triangle `t` from its corner `k` to the next.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mesh {
    pub(crate) points: Vec<DVec3>,
    pub(crate) triangles: Vec<[u32; 3]>,
    /// Model and face of each triangle.
    pub(crate) sources: Vec<[u32; 2]>,
    /// The two vertices of each edge, the lower one first; sorted.
    pub(crate) edges: Vec<[u32; 2]>,
    /// The edge of each side.
    pub(crate) edge_of: Vec<u32>,
    /// The lowest side of each edge.
    pub(crate) first_sides: Vec<u32>,
    /// The sides of edges where three or more meet, by edge, those of each ascending. Elsewhere [`across`](Self::across) leads to the
    /// other.
    pub(crate) non_manifold_sides: Vec<u32>,
    /// The triangles as searches see them.
    pub(crate) faces: Vec<Face>,
    /// Whether a shortest path may bend at a vertex with triangles all around: where they make more than a full turn, or one up
    /// to rounding. Windows may die of what is known of a corner by rounding alone, and then have to go on from there.
    pub(crate) may_bend: Vec<bool>,
    /// The mean of the sides' lengths.
    pub(crate) mean_edge: f64,
}

/// A triangle's measures and neighbours, side by side.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Face {
    /// How long each side is.
    pub(crate) lengths: [f64; 3],
    /// How far along each side the corner across from it is.
    pub(crate) along: [f64; 3],
    /// Twice the area.
    pub(crate) area: f64,
    /// The side across each side: [`NONE`] at a boundary, [`NON_MANIFOLD`] where three sides or more meet.
    pub(crate) twins: [u32; 3],
    /// For each side a bit, set where the side across runs the other way, as sides do of neighbours that are turned the same
    /// way round.
    pub(crate) opposed: u32,
}

impl Face {
    /// How high above a side the corner across from it is.
    #[inline]
    pub(crate) fn height(&self, k: usize) -> f64 {
        self.area / self.lengths[k]
    }
}

/// The side, or the corner, that comes next in the same triangle.
#[inline]
pub(crate) fn next(side: u32) -> u32 {
    // Without a branch, for none foresees it.
    side + 1 - 3 * u32::from(side % 3 == 2)
}

/// The side, or the corner, that comes before in the same triangle.
#[inline]
pub(crate) fn previous(side: u32) -> u32 {
    side + 3 * u32::from(side.is_multiple_of(3)) - 1
}

/// Three sides or more meet across a side.
pub(crate) const NON_MANIFOLD: u32 = u32::MAX - 1;

/// Angles are equal up to that, in radians.
pub(crate) const ANGLE_ROUNDING: f64 = 1e-9;

impl Mesh {
    /// Finds the edges of `triangles`.
    pub(crate) fn connect(&mut self) {
        let vertex_count = self.points.len();
        let ends = |side: usize| {
            let triangle = &self.triangles[side / 3];
            let (a, b) = (triangle[side % 3], triangle[(side + 1) % 3]);
            // A side's three corners are told by remainders of 3 alone.
            let b = if side % 3 == 2 { triangle[0] } else { b };
            if a < b { [a, b] } else { [b, a] }
        };
        let side_count = 3 * self.triangles.len();
        // By the lower vertex first, then each vertex's few sides by the other: linear, and always the same order.
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
        // A closed surface has no more edges than that.
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
        // The faces are large: room is made for them first.
        drop((starts, next_free, by_low));
        self.faces = twins.into_iter().map(|twins| Face { twins, ..Face::default() }).collect();
        self.edges.shrink_to_fit();
        self.first_sides.shrink_to_fit();
        self.non_manifold_sides.shrink_to_fit();
    }

    /// Measures the triangles; the edges are known.
    pub(crate) fn measure(&mut self) {
        let mut angle_sums = vec![0.0; self.points.len()];
        for triangle in 0..self.triangle_count() {
            let corners = self.corners(triangle as u32);
            let sides = [0, 1, 2].map(|k| corners[(k + 1) % 3] - corners[k]);
            let lengths = sides.map(DVec3::length);
            // The least rounding is that of the two shortest sides.
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

    /// The corners of a triangle in space.
    pub(crate) fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|vertex| self.points[vertex as usize])
    }

    /// The side across a side: [`NONE`] at a boundary, [`NON_MANIFOLD`] where three sides or more meet.
    #[inline]
    pub(crate) fn twin(&self, side: u32) -> u32 {
        self.faces[side as usize / 3].twins[side as usize % 3]
    }

    /// How long a side is, and where the triangle's third corner is: along the side and above it.
    #[inline]
    pub(crate) fn frame(&self, side: u32) -> [f64; 3] {
        let (face, k) = (&self.faces[side as usize / 3], side as usize % 3);
        [face.lengths[k], face.along[k], face.height(k)]
    }

    /// The vertices that a side leads from and to.
    pub(crate) fn ends(&self, side: u32) -> [u32; 2] {
        let triangle = &self.triangles[side as usize / 3];
        [triangle[side as usize % 3], triangle[(side as usize % 3 + 1) % 3]]
    }

    /// The vertex of a side's triangle that the side does not touch.
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

    /// The sides of an edge where three or more meet, ascending; none of another.
    fn non_manifold_sides_of(&self, edge: u32) -> &[u32] {
        let edge_of = |side: u32| self.edge_of[side as usize];
        let from = self.non_manifold_sides.partition_point(|&side| edge_of(side) < edge);
        let rest = &self.non_manifold_sides[from..];
        &rest[..rest.partition_point(|&side| edge_of(side) == edge)]
    }

    /// The other sides of a side's edge.
    pub(crate) fn twins(&self, side: u32) -> impl Iterator<Item = u32> + '_ {
        let (one, many): (Option<u32>, &[u32]) = match self.twin(side) {
            NONE => (None, &[]),
            NON_MANIFOLD => (None, self.non_manifold_sides_of(self.edge_of[side as usize])),
            other => (Some(other), &[]),
        };
        one.into_iter().chain(many.iter().copied().filter(move |&other| other != side))
    }

    /// The angle of a triangle at a corner, in radians, as it was measured.
    pub(crate) fn measured_angle(&self, corner: u32) -> f64 {
        let [_, along, height] = self.frame(corner);
        height.atan2(along)
    }

    /// The angle of a triangle at a corner, in radians.
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

    /// Twice the area of a triangle, along its normal.
    pub(crate) fn area_vector(&self, triangle: u32) -> DVec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(c - a)
    }

    /// The unit normal of a triangle; for one without area that of a neighbour that has some, or else some unit vector
    /// across it.
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

    /// The island of each triangle, numbered by their first triangles, and how many islands there are.
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

    /// Whether the triangles on both sides of two sides of one edge run along it opposite ways, as neighbours do that are
    /// turned the same way round.
    #[inline]
    pub(crate) fn is_opposed(&self, side: u32, other: u32) -> bool {
        let first = |side: u32| self.triangles[side as usize / 3][side as usize % 3];
        first(side) != first(other)
    }
}
