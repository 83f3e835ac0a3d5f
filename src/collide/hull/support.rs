//! Support mapping of hulls: the vertex furthest along a direction.
//!
//! Small hulls are scanned. Large ones have a table over the cells of a direction cube: each cell lists every vertex that can be
//! furthest along any direction of the cell, so that nothing is missed. `shaders/collide/hull/support.wgsl` reads the same records;
//! the CPU engine has tables of its own, in [`blocks`](crate::collide::hull::blocks).

use glam::{DVec3, Vec3};

use crate::collide::hull::blocks::{Blocks, HullBlocks};
use crate::collide::hull::cells::for_cells;
use crate::collide::hull::record::HullRecord;
use crate::collide::hull::{Dimension, Hull};
use crate::error::{Error, Result};
use crate::rounding::TINY;

/// Hulls of up to this many vertices are scanned.
pub(crate) const SCAN_LIMIT: usize = 64;

/// A cell whose list would be longer has none: all vertices are scanned for it.
const LIST_LIMIT: usize = 128;

/// Vertices that a kernel reads at once: `VERTEX_GROUP` in `shaders/collide/hull/support.wgsl`.
pub(crate) const VERTEX_GROUP: usize = 4;

/// Most cells along a side of a face of the direction cube.
const SIDE_LIMIT: u32 = 40;

/// All hulls of an arena, as both engines read them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Supports {
    /// One record a hull.
    pub(crate) records: Vec<HullRecord>,
    /// Vertices of all hulls: `(v − mean) / radius`, fourth component 0. A hull with fewer than [`VERTEX_GROUP`] is filled up with its
    /// first one.
    pub(crate) vertices: Vec<[f32; 4]>,
    /// The direction-cell tables: see [`Self::push_table`].
    pub(crate) cells: Vec<u32>,
    /// The same vertices as the CPU engine scans them.
    blocks: Blocks,
}

impl Supports {
    /// Lays out the hulls.
    pub(crate) fn new(hulls: &[Hull]) -> Result<Self> {
        let mut supports = Self::default();
        for hull in hulls {
            supports.push(hull)?;
        }
        Ok(supports)
    }

    /// Keeps the first hulls.
    pub(crate) fn truncate(&mut self, hull_count: usize) {
        if let Some(record) = self.records.get(hull_count) {
            self.vertices.truncate(record.vertex_offset as usize);
            self.cells.truncate(record.cell_offset as usize);
            self.blocks.truncate(hull_count);
            self.records.truncate(hull_count);
        }
    }

    /// Lays out one more hull.
    pub(crate) fn push(&mut self, hull: &Hull) -> Result<()> {
        let points = hull.vertices();
        let mean = hull.mean();
        // Both engines use the record's rounded mean, so the radius is taken about it too.
        let mean = mean.map(|x| x as f32);
        let center = DVec3::from(mean.map(f64::from));
        let offsets: Vec<DVec3> = points.iter().map(|p| DVec3::from(p.map(f64::from)) - center).collect();
        let radius = offsets.iter().map(|v| v.length()).fold(0.0, f64::max);
        let inverse = if radius > 0.0 { 1.0 / radius } else { 0.0 };
        let normalised: Vec<Vec3> = offsets.iter().map(|&v| (v * inverse).as_vec3()).collect();

        let mut low = DVec3::INFINITY;
        let mut high = DVec3::NEG_INFINITY;
        for &v in &offsets {
            low = low.min(v);
            high = high.max(v);
        }
        let middle = ((low + high) * 0.5).as_vec3();
        let half = (high - middle.as_dvec3()).max(middle.as_dvec3() - low);
        let limit = u64::from(u32::MAX);
        let vertex_offset = self.vertices.len();
        if (vertex_offset + points.len()) as u64 > limit {
            return Err(Error::TooMany {
                what: "hull vertices",
                count: (vertex_offset + points.len()) as u64,
                limit,
            });
        }
        self.vertices.extend(normalised.iter().map(|v| [v.x, v.y, v.z, 0.0]));
        if let Some(&first) = self.vertices.get(vertex_offset) {
            self.vertices.resize(self.vertices.len().max(vertex_offset + VERTEX_GROUP), first);
        }
        let has_table = normalised.len() > SCAN_LIMIT;
        self.blocks.push(&normalised, has_table);
        let cell_offset = self.cells.len();
        let cell_side = if has_table { self.push_table(&normalised) } else { 0 };
        if self.cells.len() as u64 > limit {
            return Err(Error::TooMany { what: "direction cells", count: self.cells.len() as u64, limit });
        }
        self.records.push(HullRecord {
            mean,
            radius: radius as f32,
            middle: middle.to_array(),
            vertex_offset: vertex_offset as u32,
            half: half.to_array().map(|x| round_up(x + 4.0 * f64::from(TINY))),
            vertex_count: points.len() as u32,
            cell_offset: cell_offset as u32,
            cell_side,
            rounding: hull.rounding(),
            half_space: u32::from(hull.dimension() == Dimension::HalfSpace),
            inner_radius: round_down(inner_radius(hull, center, radius)),
            padding: [0; 3],
        });
        Ok(())
    }

    /// Builds the direction-cell table and returns its side.
    ///
    /// `cells` gets `6 · side² + 1` words, each the index (from the table's first word) where the list of a cell begins, and then the lists of
    /// vertex indices. A cell with an empty list is scanned in full.
    fn push_table(&mut self, vertices: &[Vec3]) -> u32 {
        let wanted = ((vertices.len() as f64) / 12.0).sqrt().ceil() as u32;
        let split = if wanted > 8 { 4 } else { 1 };
        let side = wanted.next_multiple_of(split).clamp(2, SIDE_LIMIT);
        let cell_count = 6 * side * side;
        let base = self.cells.len();
        self.cells.resize(base + cell_count as usize + 1, 0);
        let mut cell = 0;
        for_cells(vertices, side, split, |list| {
            self.cells[base + cell] = (self.cells.len() - base) as u32;
            if list.len() <= LIST_LIMIT && list.len() * 2 <= vertices.len() {
                self.cells.extend(list);
            }
            cell += 1;
        });
        self.cells[base + cell_count as usize] = (self.cells.len() - base) as u32;
        side
    }

    /// The entries of `vertices` that a hull has.
    pub(crate) fn stored_vertices(&self, hull: u32) -> std::ops::Range<usize> {
        let record = &self.records[hull as usize];
        let first = record.vertex_offset as usize;
        first..first + (record.vertex_count as usize).max(VERTEX_GROUP)
    }

    /// Bounding radius about the mean of the vertices of `hull`, scaled unequally.
    pub(crate) fn radius(&self, hull: u32, scale: [f32; 3]) -> f32 {
        let record = &self.records[hull as usize];
        let scale = DVec3::from(scale.map(f64::from)) * f64::from(record.radius);
        let first = record.vertex_offset as usize;
        self.vertices[first..first + record.vertex_count as usize]
            .iter()
            .map(|&[x, y, z, _]| (scale * DVec3::new(f64::from(x), f64::from(y), f64::from(z))).length())
            .fold(0.0, f64::max) as f32
    }

    /// The vertex of `hull` furthest along `direction`, about its mean and in units of its radius.
    #[inline(always)]
    pub(crate) fn support(&self, hull: u32, direction: Vec3) -> Vec3 {
        self.blocks.of(hull).furthest(direction)
    }

    /// The vertices of a hull, as the CPU engine scans them.
    #[inline(always)]
    pub(crate) fn blocks(&self, hull: u32) -> HullBlocks<'_> {
        self.blocks.of(hull)
    }

    /// How many blocks of a hull are scanned for a direction; 0 where the hull has a table.
    #[inline(always)]
    pub(crate) fn scan_len(&self, hull: u32) -> usize {
        self.blocks.scan_len(hull)
    }
}

/// A lower bound of how far every support plane of a hull without its rounding is from `center`, the rounded mean of its vertices: where
/// it is positive, the radius of a ball inside the hull. The rounded mean of a flat hull is outside by its rounding error.
/// `radius` is the bounding radius about `center`.
fn inner_radius(hull: &Hull, center: DVec3, radius: f64) -> f64 {
    if hull.dimension() != Dimension::Solid {
        let off = (DVec3::from(hull.mean()) - center).length();
        return -off - 1e-15 * center.length();
    }
    let point = |v: u32| DVec3::from(hull.vertices()[v as usize].map(f64::from)) - center;
    let below = |[a, b, c]: [u32; 3]| {
        let (a, b, c) = (point(a), point(b), point(c));
        let (ab, ac) = (b - a, c - a);
        let normal = ab.cross(ac);
        // The error of the height of a plane: see `face_error`.
        let error = 16.0 * f64::EPSILON * a.length() * ab.length() * ac.length();
        (normal.dot(a) - error) / normal.length()
    };
    let least = hull.triangles().map(below).fold(f64::INFINITY, |least, height| {
        // A triangle without area in f64 has no height.
        if height > 0.0 { least.min(height) } else { 0.0 }
    });
    // No point of the hull is farther from the mean than the bounding radius.
    if least > 0.0 { least } else { -radius }
}

/// The f32 not above an f64.
fn round_down(x: f64) -> f32 {
    -round_up(-x)
}

/// The f32 not below an f64.
fn round_up(x: f64) -> f32 {
    let rounded = x as f32;
    if f64::from(rounded) < x { rounded.next_up() } else { rounded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random_hull(count: usize, seed: u64, squash: [f32; 3]) -> Vec<Vec3> {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / 8_388_608.0) - 1.0
        };
        (0..count)
            .map(|_| {
                loop {
                    let v = Vec3::new(next(), next(), next());
                    let squared = v.length_squared();
                    if squared > 1e-3 && squared <= 1.0 {
                        return v.normalize() * Vec3::from(squash);
                    }
                }
            })
            .collect()
    }

    #[test]
    fn tables_find_what_a_scan_finds() {
        for (count, squash) in [
            (65, [1.0; 3]),
            (128, [1.0; 3]),
            (512, [1.0; 3]),
            (4096, [1.0; 3]),
            (512, [1.0, 1.0, 1e-5]),
            (512, [1.0, 1e-5, 1e-5]),
            (300, [1.0, 0.3, 0.01]),
        ] {
            let vertices = random_hull(count, 7, squash);
            let hull = Hull::from_points(&vertices.iter().map(|v| v.to_array()).collect::<Vec<_>>()).unwrap();
            let supports = Supports::new(std::slice::from_ref(&hull)).unwrap();
            assert!(supports.records[0].cell_side > 0);
            let mut directions = random_hull(2000, 11, [1.0; 3]);
            directions.extend(random_hull(500, 12, [1.0, 1.0, 1e-4]));
            directions.extend([Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z]);
            for d in directions {
                let found = supports.support(0, d).dot(d);
                let best = supports
                    .vertices
                    .iter()
                    .map(|v| Vec3::new(v[0], v[1], v[2]).dot(d))
                    .fold(f32::MIN, f32::max);
                assert!(found >= best - 3e-7, "{count} {squash:?}: {found} < {best}");
            }
        }
    }

    /// Every support plane is at least the inner radius away from the rounded mean, for slender hulls and for hulls far from their
    /// own origin too; and the radius is that of the nearest face.
    #[test]
    fn the_inner_ball_is_inside() {
        let radius = |hull: &Hull| Supports::new(std::slice::from_ref(hull)).unwrap().records[0].inner_radius;
        let half = [0.5, 2.0, 3.0];
        assert_eq!(radius(&Hull::cuboid(half).unwrap()), 0.5_f32.next_down());
        for flat in [[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]] {
            assert!(radius(&Hull::cuboid(flat).unwrap()) <= 0.0, "{flat:?}");
        }
        assert!(radius(&Hull::half_space()) <= 0.0);
        let mut solid_count = 0;
        for (seed, squash, far) in [
            (1, [1.0; 3], 0.0),
            (2, [1.0, 1.0, 1e-3], 0.0),
            (3, [1.0, 1e-5, 1e-5], 0.0),
            (4, [1.0; 3], 1e3),
            (5, [1.0, 0.1, 0.01], 1e5),
        ] {
            for count in [4, 8, 60, 300] {
                let points = random_hull(count, seed + count as u64, squash);
                let far_points: Vec<[f32; 3]> =
                    points.iter().map(|v| (*v + Vec3::splat(far)).to_array()).collect();
                let hull = Hull::from_points(&far_points).unwrap();
                let inner = f64::from(radius(&hull));
                let mean = DVec3::from(hull.mean().map(|x| f64::from(x as f32)));
                let offsets: Vec<DVec3> =
                    hull.vertices().iter().map(|v| DVec3::from(v.map(f64::from)) - mean).collect();
                let normals = hull.planes().map(|plane| DVec3::from(plane.normal));
                let directions = random_hull(500, seed, [1.0; 3]).into_iter().map(Vec3::as_dvec3);
                let mut least = f64::INFINITY;
                for direction in normals.chain(directions) {
                    let height = offsets.iter().map(|v| v.dot(direction)).fold(f64::NEG_INFINITY, f64::max);
                    let height = height / direction.length();
                    assert!(height >= inner - 1e-12, "{count} {squash:?} {far}: {height} below {inner}");
                    least = least.min(height);
                }
                if inner > 0.0 {
                    solid_count += 1;
                    assert!(
                        least <= inner * (1.0 + 1e-3),
                        "{count} {squash:?} {far}: {inner}, {least} is possible"
                    );
                }
            }
        }
        assert!(solid_count > 10, "{solid_count}");
    }
}
