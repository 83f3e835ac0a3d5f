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
    pub(crate) many: Vec<u32>,
    /// The triangles as searches see them.
    pub(crate) faces: Vec<Face>,
    /// Whether a shortest path may bend at a vertex with triangles all around: where they make more than a full turn, or one up
    /// to rounding. Windows may die of what is known of a corner by rounding alone, and then have to go on from there.
    pub(crate) bends: Vec<bool>,
    /// The mean of the sides' lengths.
    pub(crate) mean_edge: f64,
}

/// A triangle's measures and neighbours, side by side.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Face {
    /// How long each side is.
    pub(crate) widths: [f64; 3],
    /// How far along each side the corner across from it is.
    pub(crate) along: [f64; 3],
    /// Twice the area.
    pub(crate) area: f64,
    /// The side across each side: [`NONE`] at a boundary, [`MANY`] where three sides or more meet.
    pub(crate) across: [u32; 3],
    /// For each side a bit, set where the side across runs the other way, as sides do of neighbours that are turned the same
    /// way round.
    pub(crate) agrees: u32,
}

impl Face {
    /// How high above a side the corner across from it is.
    #[inline]
    pub(crate) fn height(&self, k: usize) -> f64 {
        self.area / self.widths[k]
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
pub(crate) const MANY: u32 = u32::MAX - 1;

/// Angles are equal up to that, in radians.
pub(crate) const ROUND: f64 = 1e-9;

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
        let mut places = starts.clone();
        let mut listed = vec![[0u32; 2]; side_count];
        for side in 0..side_count {
            let [low, high] = ends(side);
            let place = &mut places[low as usize];
            listed[*place as usize] = [high, side as u32];
            *place += 1;
        }
        // A closed surface has no more edges than that.
        self.edges = Vec::with_capacity(side_count / 2);
        self.first_sides = Vec::with_capacity(side_count / 2);
        self.edge_of = vec![NONE; side_count];
        let mut across = vec![[NONE; 3]; self.triangles.len()];
        self.many = Vec::new();
        for vertex in 0..vertex_count {
            let bucket = &mut listed[starts[vertex] as usize..starts[vertex + 1] as usize];
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
                        across[one as usize / 3][one as usize % 3] = other;
                        across[other as usize / 3][other as usize % 3] = one;
                    }
                    _ => {
                        for &[_, side] in group {
                            across[side as usize / 3][side as usize % 3] = MANY;
                            self.many.push(side);
                        }
                    }
                }
            }
        }
        // The faces are large: room is made for them first.
        drop((starts, places, listed));
        self.faces = across.into_iter().map(|across| Face { across, ..Face::default() }).collect();
        self.edges.shrink_to_fit();
        self.first_sides.shrink_to_fit();
        self.many.shrink_to_fit();
    }

    /// Measures the triangles; the edges are known.
    pub(crate) fn measure(&mut self) {
        let mut turns = vec![0.0; self.points.len()];
        for triangle in 0..self.triangle_count() {
            let corners = self.corners(triangle as u32);
            let sides = [0, 1, 2].map(|k| corners[(k + 1) % 3] - corners[k]);
            let widths = sides.map(DVec3::length);
            // The least rounding is that of the two shortest sides.
            let longest = (0..3).max_by(|&a, &b| widths[a].total_cmp(&widths[b])).unwrap_or(0);
            let area = sides[(longest + 1) % 3].cross(sides[(longest + 2) % 3]).length();
            let along = [0, 1, 2].map(|k| -sides[k].dot(sides[(k + 2) % 3]) / widths[k]);
            let mut agrees = 0;
            for k in 0..3 {
                let side = 3 * triangle as u32 + k as u32;
                let across = self.across(side);
                agrees |= u32::from(across < MANY && self.agree(side, across)) << k;
                turns[self.triangles[triangle][k] as usize] += (area / widths[k]).atan2(along[k]);
            }
            let across = self.faces[triangle].across;
            self.faces[triangle] = Face { widths, along, area, across, agrees };
        }
        let widths = || self.faces.iter().flat_map(|face| face.widths);
        let count = (3 * self.triangle_count()) as f64;
        self.mean_edge = widths().map(|width| width / count).sum();
        self.bends = turns.iter().map(|&turn| turn > std::f64::consts::TAU - ROUND).collect();
    }

    pub(crate) fn triangle_count(&self) -> usize {
        self.triangles.len()
    }

    /// The corners of a triangle in space.
    pub(crate) fn corners(&self, triangle: u32) -> [DVec3; 3] {
        self.triangles[triangle as usize].map(|vertex| self.points[vertex as usize])
    }

    /// The side across a side: [`NONE`] at a boundary, [`MANY`] where three sides or more meet.
    #[inline]
    pub(crate) fn across(&self, side: u32) -> u32 {
        self.faces[side as usize / 3].across[side as usize % 3]
    }

    /// How long a side is, and where the triangle's third corner is: along the side and above it.
    #[inline]
    pub(crate) fn frame(&self, side: u32) -> [f64; 3] {
        let (face, k) = (&self.faces[side as usize / 3], side as usize % 3);
        [face.widths[k], face.along[k], face.height(k)]
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
        let (two, many): ([u32; 2], &[u32]) = match self.across(first) {
            MANY => ([NONE; 2], self.many_of(edge)),
            other => ([first, other], &[]),
        };
        two.into_iter().filter(|&side| side != NONE).chain(many.iter().copied())
    }

    /// The sides of an edge where three or more meet, ascending; none of another.
    fn many_of(&self, edge: u32) -> &[u32] {
        let edge_of = |side: u32| self.edge_of[side as usize];
        let from = self.many.partition_point(|&side| edge_of(side) < edge);
        let rest = &self.many[from..];
        &rest[..rest.partition_point(|&side| edge_of(side) == edge)]
    }

    /// The other sides of a side's edge.
    pub(crate) fn beyond(&self, side: u32) -> impl Iterator<Item = u32> + '_ {
        let (one, many): (Option<u32>, &[u32]) = match self.across(side) {
            NONE => (None, &[]),
            MANY => (None, self.many_of(self.edge_of[side as usize])),
            other => (Some(other), &[]),
        };
        one.into_iter().chain(many.iter().copied().filter(move |&other| other != side))
    }

    /// The angle of a triangle at a corner, in radians, as it was measured.
    pub(crate) fn turn(&self, corner: u32) -> f64 {
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
            (3 * triangle..3 * triangle + 3).flat_map(|side| self.beyond(side)).find_map(|side| own(side / 3))
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
                for side in (3 * triangle..3 * triangle + 3).flat_map(|side| self.beyond(side)) {
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
    pub(crate) fn agree(&self, side: u32, other: u32) -> bool {
        let first = |side: u32| self.triangles[side as usize / 3][side as usize % 3];
        first(side) != first(other)
    }
}
