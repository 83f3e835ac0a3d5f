//! Degenerate triangles, which have no area: they are removed, and the triangles across their longest side are cut in two.
//!
//! A degenerate triangle covers nothing, and its third corner lies on its longest side. Each triangle across that side is cut from that
//! corner to its own opposite one. Then its two pieces meet the neighbours across the two short sides, and the surface stays the same.
//! Left in, a degenerate triangle would let paths of equal length through on all sides, and rounding would choose among them.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

use glam::DVec3;

use crate::error::{Error, Result};
use crate::navigate::surface::mesh::check::height_tolerance;
use crate::navigate::surface::mesh::progress::REPORT_STRIDE;
use crate::navigate::surface::mesh::topology::{Mesh, NON_MANIFOLD};

/// Relative to the longest side: where the shorter part of that side is less, two corners nearly coincide.
const MIN_PART: f64 = 1e-7;

/// The degenerate triangles, and the pieces that were left out.
#[derive(Debug, Default)]
pub(crate) struct Dissolved {
    /// The model and face of each degenerate triangle.
    pub(crate) flat: Vec<[u32; 2]>,
    /// The model and face of each piece that would have had the corners of another triangle.
    pub(crate) duplicates: Vec<[u32; 2]>,
}

/// Removes the degenerate triangles. One of which two corners nearly coincide is removed only if it connects nothing that is not connected
/// without it.
///
/// `check_cancel` is called every [`REPORT_STRIDE`] triangles.
pub(crate) fn dissolve(
    mesh: &mut Mesh,
    points: &[DVec3],
    mut check_cancel: impl FnMut() -> Result<()>,
) -> Result<Dissolved> {
    let is_flat = |corners: &[u32; 3]| middle_corner(corners.map(|vertex| points[vertex as usize])).is_some();
    let flat_indices: Vec<usize> =
        (0..mesh.triangle_count()).filter(|&i| is_flat(&mesh.triangles[i])).collect();
    let flat = flat_indices.iter().map(|&triangle| mesh.sources[triangle]).collect();
    if flat_indices.is_empty() {
        return Ok(Dissolved::default());
    }
    let mut dissolver = Dissolver::new(mesh, points, &flat_indices);
    let mut count: usize = 0;
    while let Some(Flat { triangle, .. }) = dissolver.open.pop() {
        dissolver.dissolve(triangle)?;
        count += 1;
        if count.is_multiple_of(REPORT_STRIDE) {
            check_cancel()?;
        }
    }
    dissolver.remove_flaps();
    let duplicates = dissolver.duplicates.iter().map(|&source| mesh.sources[source as usize]).collect();
    let mut kept: Vec<Piece> = dissolver.pieces.into_iter().filter(|piece| !piece.is_removed).collect();
    // The pieces of a triangle take its place in the order.
    kept.sort_by_key(|piece| piece.source);
    mesh.sources = kept.iter().map(|piece| mesh.sources[piece.source as usize]).collect();
    mesh.triangles = kept.iter().map(|piece| piece.corners).collect();
    Ok(Dissolved { flat, duplicates })
}

/// For three corners that are collinear up to rounding: which of them lies between the others, the length of the longest side, and the
/// length of the shorter part into which the corner divides that side.
fn middle_corner(corners: [DVec3; 3]) -> Option<(usize, f64, f64)> {
    let opposite = [0, 1, 2].map(|k| corners[(k + 1) % 3].distance(corners[(k + 2) % 3]));
    let at = (0..3).max_by(|&i, &k| opposite[i].total_cmp(&opposite[k]))?;
    let [apex, from, to] = [at, (at + 1) % 3, (at + 2) % 3].map(|k| corners[k]);
    let max_coordinate = corners.iter().fold(0.0, |most: f64, corner| most.max(corner.abs().max_element()));
    // Relative to the longest side, so that no small square underflows.
    let longest = opposite[at];
    let height = ((from - apex) / longest).cross((to - apex) / longest).length();
    let part = opposite[(at + 1) % 3].min(opposite[(at + 2) % 3]);
    (height <= height_tolerance(max_coordinate, longest)).then_some((at, longest, part))
}

/// A triangle, or a piece of one.
#[derive(Debug, Clone, Copy)]
struct Piece {
    corners: [u32; 3],
    source: u32,
    is_removed: bool,
}

/// A degenerate triangle in the queue.
#[derive(Debug, Clone, Copy)]
struct Flat {
    longest: f64,
    triangle: u32,
}

/// The state of the removal.
struct Dissolver<'a> {
    points: &'a [DVec3],
    pieces: Vec<Piece>,
    /// The triangles at each edge that has a marked end, removed ones included.
    triangles_at: HashMap<[u32; 2], Vec<u32>>,
    /// Whether a vertex belongs to a degenerate triangle.
    is_marked: Vec<bool>,
    /// The queue, longest first, so that no edge that was cut comes back with another degenerate triangle at it.
    open: BinaryHeap<Flat>,
    /// The edges that were cut.
    cut: HashSet<[u32; 2]>,
    /// Degenerate triangles of which two corners nearly coincide.
    kept: Vec<u32>,
    /// The source triangles of pieces that would have had the corners of another triangle.
    duplicates: Vec<u32>,
}

impl<'a> Dissolver<'a> {
    fn new(mesh: &Mesh, points: &'a [DVec3], flat_indices: &[usize]) -> Self {
        let mut is_marked = vec![false; points.len()];
        for vertex in flat_indices.iter().flat_map(|&triangle| mesh.triangles[triangle]) {
            is_marked[vertex as usize] = true;
        }
        let whole = |(&corners, source): (&[u32; 3], u32)| Piece { corners, source, is_removed: false };
        let pieces: Vec<Piece> = mesh.triangles.iter().zip(0..).map(whole).collect();
        let (triangles_at, open, cut) = (HashMap::new(), BinaryHeap::new(), HashSet::new());
        let (kept, duplicates) = (Vec::new(), Vec::new());
        let mut all = Self { points, pieces, triangles_at, is_marked, open, cut, kept, duplicates };
        for triangle in 0..all.pieces.len() as u32 {
            if all.pieces[triangle as usize].corners.iter().any(|&vertex| all.is_marked[vertex as usize]) {
                all.index_triangle(triangle);
            }
        }
        all
    }

    /// Adds a triangle to its edges, and to the queue if it is degenerate.
    fn index_triangle(&mut self, triangle: u32) {
        let corners = self.pieces[triangle as usize].corners;
        for k in 0..3 {
            self.triangles_at.entry(edge(corners[k], corners[(k + 1) % 3])).or_default().push(triangle);
        }
        if let Some((_, longest, part)) = middle_corner(corners.map(|vertex| self.points[vertex as usize])) {
            if part > MIN_PART * longest {
                self.open.push(Flat { longest, triangle });
            } else {
                self.kept.push(triangle);
            }
        }
    }

    /// Removes a triangle, and cuts those across its longest side.
    fn dissolve(&mut self, triangle: u32) -> Result<()> {
        let Piece { corners, is_removed, .. } = self.pieces[triangle as usize];
        let places = corners.map(|vertex| self.points[vertex as usize]);
        let Some((at, ..)) = middle_corner(places).filter(|_| !is_removed) else { return Ok(()) };
        let [apex, from, to] = [at, (at + 1) % 3, (at + 2) % 3].map(|k| corners[k]);
        // Degenerate pieces of nearly degenerate triangles may have an edge whose triangles are not all listed, or that was cut before.
        let is_listed = self.is_marked[from as usize] || self.is_marked[to as usize];
        if !is_listed || !self.cut.insert(edge(from, to)) {
            return Ok(());
        }
        for other in self.triangles_at.remove(&edge(from, to)).unwrap_or_default() {
            let Piece { corners, source, is_removed } = self.pieces[other as usize];
            self.pieces[other as usize].is_removed = true;
            if is_removed || corners.contains(&apex) {
                continue;
            }
            // First the piece that keeps the first of the two ends.
            let ends = if corners.iter().find(|&&vertex| vertex == from || vertex == to) == Some(&from) {
                [to, from]
            } else {
                [from, to]
            };
            for end in ends {
                let far = corners.iter().find(|&&vertex| vertex != from && vertex != to);
                let corners = corners.map(|vertex| if vertex == end { apex } else { vertex });
                let is_same = |&other: &u32| {
                    let other = self.pieces[other as usize];
                    !other.is_removed && corners.iter().all(|corner| other.corners.contains(corner))
                };
                let there = far.and_then(|&far| self.triangles_at.get(&edge(apex, far)));
                if there.is_some_and(|there| there.iter().any(is_same)) {
                    self.duplicates.push(source);
                    continue;
                }
                let (piece, limit) = (self.pieces.len() as u32, NON_MANIFOLD / 3 - 1);
                if piece >= limit {
                    let (count, limit) = (u64::from(piece) + 1, u64::from(limit));
                    return Err(Error::TooMany { what: "triangles", count, limit });
                }
                self.pieces.push(Piece { corners, source, is_removed: false });
                self.index_triangle(piece);
            }
        }
        Ok(())
    }

    /// Removes kept triangles with neighbours on only one side, or without a neighbour on a long side. Their free side would be a wall, and
    /// they connect nothing except across the short side, which is hardly more than a vertex.
    fn remove_flaps(&mut self) {
        let mut kept = std::mem::take(&mut self.kept);
        loop {
            let before = kept.len();
            kept.retain(|&triangle| {
                let Piece { corners, is_removed, .. } = self.pieces[triangle as usize];
                let ends = |k: usize| [corners[k], corners[(k + 1) % 3]];
                let lengths = [0, 1, 2].map(|k| {
                    let [a, b] = ends(k).map(|vertex| self.points[vertex as usize]);
                    a.distance(b)
                });
                let short = MIN_PART * lengths.into_iter().fold(0.0, f64::max);
                let across_counts = [0, 1, 2].map(|k| self.count_across(triangle, ends(k)));
                let free_count = across_counts.iter().filter(|&&count| count == Some(0)).count();
                let is_long_free = (0..3).any(|k| across_counts[k] == Some(0) && lengths[k] > short);
                let is_flap = !across_counts.contains(&None) && (free_count > 1 || is_long_free);
                self.pieces[triangle as usize].is_removed |= is_flap;
                !is_removed && !is_flap
            });
            if kept.len() == before {
                return;
            }
        }
    }

    /// The number of other triangles at an edge of a triangle; `None` where not all are listed.
    fn count_across(&self, triangle: u32, [a, b]: [u32; 2]) -> Option<usize> {
        let is_listed = self.is_marked[a as usize] || self.is_marked[b as usize];
        let others =
            self.triangles_at.get(&edge(a, b)).into_iter().flatten().filter(|&&other| other != triangle);
        is_listed.then(|| others.filter(|&&other| !self.pieces[other as usize].is_removed).count())
    }
}

fn edge(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

impl Ord for Flat {
    fn cmp(&self, other: &Self) -> Ordering {
        self.longest.total_cmp(&other.longest).then(other.triangle.cmp(&self.triangle))
    }
}

impl PartialOrd for Flat {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Flat {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Flat {}
