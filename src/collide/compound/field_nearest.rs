//! Height fields among the bodies nearest to others, beside the parts of compounds.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;

use crate::collide::bvh::near_first::{NearBox, NearPlane};
use crate::collide::compound::body::Placement;
use crate::collide::compound::field::{Field, TriangleVisit};
use crate::collide::compound::field_rows::kept;
use crate::collide::compound::field_set::{FieldBody, Fields, SHARE};
use crate::collide::compound::rows::PartPair;
use crate::collide::gjk::pose;
use crate::collide::hull::Hull;
use crate::collide::narrow_phase::exact::measure_placed;
use crate::collide::narrow_phase::measured::Measured;
use crate::collide::narrow_phase::rows::{Batch, Stats};
use crate::collide::scene::body::Body;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::placed::rotation;
use crate::collide::scene::query_input::Scene;
use crate::collide::scene::rules::{OrderedRules, PairRules};
use crate::collide::scene::shape_cast::PlacedShape;
use crate::collide::shape::crowd::placed_pair;
use crate::collide::shape::nearest::NearGoal;
use crate::collide::shape::rows::NearestBody;
use crate::error::{Error, Result};
use crate::pending::Pending;

/// What height fields may be near to: bodies of parts, or shapes.
#[derive(Debug)]
pub(crate) struct FieldNear {
    pub(crate) scene: Arc<Scene>,
    /// About the origin of the fields.
    pub(crate) shapes: Vec<PlacedShape>,
    /// Where the shapes of each body begin, and where the last end. Empty where each is alone, and no body of the query.
    pub(crate) starts: Vec<u32>,
    pub(crate) rules: NearRules,
    pub(crate) goal: NearGoal,
    /// Whether the shapes are parts of bodies of the query.
    pub(crate) is_of_scene: bool,
}

impl FieldNear {
    fn count(&self) -> u32 {
        self.starts.len().checked_sub(1).unwrap_or(self.shapes.len()) as u32
    }

    /// The shapes of a body.
    fn shapes_of(&self, id: u32) -> Range<usize> {
        let at = id as usize;
        match self.starts.get(at..at + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => at..at + 1,
        }
    }
}

/// Which bodies of a query may meet. By default all.
#[derive(Debug, Default)]
pub(crate) struct NearRules {
    rules: OrderedRules,
    /// The place of each body, where worlds put them into another order.
    place_of: Vec<u32>,
    /// The rules of a scene's rows, where these are asked about.
    rows: Option<RowRules>,
}

/// Which rows of a scene may meet those that are asked about.
#[derive(Debug)]
pub(crate) struct RowRules {
    pub(crate) rules: Arc<PairRules>,
    /// The rows that are asked about.
    pub(crate) rows: Vec<u32>,
    /// Whether each row is fixed: such bodies never meet.
    pub(crate) fixed: Vec<bool>,
}

impl NearRules {
    pub(crate) fn new(rules: OrderedRules) -> Self {
        let mut place_of = vec![0; rules.order.len()];
        (0..).zip(&rules.order).for_each(|(place, &row)| place_of[row as usize] = place);
        Self { rules, place_of, rows: None }
    }

    /// Those of a scene.
    pub(crate) fn of_rows(rows: RowRules) -> Self {
        Self { rows: Some(rows), ..Self::default() }
    }

    /// The place of a body or a static.
    pub(crate) fn place(&self, id: u32) -> u32 {
        self.place_of.get(id as usize).copied().unwrap_or(id)
    }

    /// Whether owners and exclusions let two bodies of one world meet.
    pub(crate) fn allow(&self, body: u32, other: u32) -> bool {
        if let Some(RowRules { rules, rows, fixed }) = &self.rows {
            let row = rows[body as usize];
            let is_fixed = |row: u32| fixed[row as usize];
            return !(is_fixed(row) && is_fixed(other)) && (!rules.has_filter() || rules.allows(row, other));
        }
        !self.rules.rules.has_filter() || self.rules.rules.allows(self.place(body), self.place(other))
    }
}

/// The triangle of a field that is nearest so far, and the part that it is near to.
#[derive(Debug, Clone, Copy)]
struct Best {
    part: u32,
    triangle: u32,
    measured: Measured,
    /// What the points are about.
    base: DVec3,
}

impl Best {
    /// Its order among those of a field.
    fn is_before(&self, other: &Self) -> bool {
        let parts = |best: &Self| (best.part, best.triangle);
        let by_gap = self.measured.gap.total_cmp(&other.measured.gap);
        by_gap.then(parts(self).cmp(&parts(other))).is_lt()
    }

    fn row(&self, query: u32, body: u32) -> PartPair<NearestBody> {
        let Measured { status, gap, normal, on_a, .. } = self.measured;
        let points = [on_a, self.measured.on_b()].map(|point| (point + self.base).to_array());
        let row = NearestBody {
            query,
            query_part: 0,
            body,
            part: 0,
            status,
            separation: gap,
            normal: normal.to_array(),
            points,
        };
        PartPair { part_a: self.part, part_b: self.triangle, row }
    }
}

impl Fields {
    /// Adds the nearest fields to the nearest bodies of others, and keeps the nearest of both.
    pub(crate) fn nearest(
        self,
        near: FieldNear,
        found: Pending<Batch<PartPair<NearestBody>>>,
    ) -> Pending<Batch<PartPair<NearestBody>>> {
        found.chain(move |found| {
            Ok(Pending::spawn(move |awaited| {
                let Batch { rows: others, stats, .. } = found;
                let ids: Vec<u32> = (0..near.count()).collect();
                let mut rows = Vec::new();
                let count = self.list(&mut rows, &ids, awaited, |id, rows| {
                    let first = others.partition_point(|row| row.row.query < id);
                    let len = others[first..].partition_point(|row| row.row.query == id);
                    self.nearest_of(&near, id, &others[first..first + len], rows)
                })?;
                let hit_count = rows.iter().filter(|row| row.row.status.is_hit()).count() as u64;
                let candidate_count = stats.candidate_count + count;
                let settled_count = stats.settled_count + count;
                let stats = Stats { candidate_count, settled_count, hit_count, ..stats };
                Ok(Batch::new(rows, stats))
            }))
        })
    }

    /// Adds the nearest of some bodies and of all fields, sorted, and returns the number of triangles measured.
    fn nearest_of(
        &self,
        near: &FieldNear,
        id: u32,
        others: &[PartPair<NearestBody>],
        rows: &mut Vec<PartPair<NearestBody>>,
    ) -> Result<u64> {
        let NearGoal { count: wanted, max_distance } = near.goal;
        let last = others.last().filter(|_| others.len() == wanted);
        let mut limit = last.map_or(max_distance, |row| row.row.separation);
        let mut best: BTreeMap<u32, Best> = BTreeMap::new();
        let (mut count, mut failure) = (0, None);
        for (part, shape) in (0..).zip(&near.shapes[near.shapes_of(id)]) {
            let hull = &near.scene.hulls[shape.body.hull as usize];
            let frame = Frame::at(hull, &shape.body, shape.position);
            let is_flat = shape.placed.is_half_space();
            let is_body = near.is_of_scene;
            let mut work = |body: &FieldBody, field: &Field, limit: f64| {
                let (group, mask) = (shape.body.group, shape.body.mask);
                let accepts = group & body.body.mask != 0 && body.body.group & mask != 0;
                if failure.is_some() || !accepts || is_body && !near.rules.allow(id, body.id) {
                    return limit;
                }
                let before = best.get(&body.id).copied();
                let most = before.map_or(limit, |best| limit.min(best.measured.gap));
                let mut nearing = Nearing {
                    body,
                    field,
                    shape,
                    hull,
                    is_body,
                    part,
                    most,
                    max_distance,
                    best: before,
                    count: 0,
                    failure: None,
                };
                if is_flat {
                    nearing.above_plane();
                } else {
                    let Placement { turn, position, scale, .. } = body.placement;
                    let local = turn.transpose() * ((frame.position + frame.offset - position) / scale);
                    let grow = body.reach_of(field, frame.radius) + 1e-14 * local.length();
                    field.visit_point(local, grow, &mut nearing);
                }
                count += nearing.count;
                failure = nearing.failure;
                best.extend(nearing.best.map(|found| (body.id, found)));
                if best.len() < wanted {
                    return limit;
                }
                let mut gaps: Vec<f64> = best.values().map(|best| best.measured.gap).collect();
                let (_, most, _) = gaps.select_nth_unstable_by(wanted - 1, f64::total_cmp);
                limit.min(*most)
            };
            limit = if is_flat {
                self.walk(&NearPlane(shape.aabb), id, limit, &mut work)
            } else {
                self.walk(&NearBox(shape.aabb), id, limit, &mut work)
            };
        }
        if let Some(error) = failure {
            return Err(error);
        }
        let first = rows.len();
        rows.extend_from_slice(others);
        rows.extend(best.iter().map(|(&body, best)| best.row(id, body)));
        rows[first..].sort_by(|a, b| {
            let ids = |row: &PartPair<NearestBody>| (row.row.body, row.part_a, row.part_b);
            a.row.separation.total_cmp(&b.row.separation).then(ids(a).cmp(&ids(b)))
        });
        rows.truncate(first.saturating_add(wanted));
        Ok(count)
    }
}

/// Measures a shape against triangles.
struct Nearing<'a> {
    body: &'a FieldBody,
    field: &'a Field,
    shape: &'a PlacedShape,
    /// Of the shape.
    hull: &'a Hull,
    /// Whether the shape is a part of a body of the query.
    is_body: bool,
    part: u32,
    /// Distance beyond which nothing is looked for.
    most: f64,
    /// Distance beyond which nothing is listed.
    max_distance: f64,
    best: Option<Best>,
    count: u64,
    failure: Option<Error>,
}

impl Nearing<'_> {
    /// The placements of the shape and of a triangle, and the point that they are about, as a query over the triangle's hull has them.
    fn place<'a>(
        &'a self,
        hull: &'a Hull,
        placed: &Body,
        position: DVec3,
    ) -> ([pose::Placement<'a>; 2], DVec3) {
        if !self.is_body {
            return placed_pair(self.shape, [self.hull, hull], placed, position, true);
        }
        let (base, shape) = (self.shape.position, self.shape);
        let own = pose::Placement::at(self.hull, &shape.body, DVec3::ZERO);
        ([own, pose::Placement::at(hull, placed, position - base)], base)
    }

    /// Measures the triangles that may be the nearest to a half-space.
    fn above_plane(&mut self) {
        let Placement { turn, position, scale, padding, .. } = self.body.placement;
        let up = rotation(self.shape.body.rotation) * DVec3::Y;
        let off = position - self.shape.position;
        let paddings = padding + f64::from(self.shape.body.padding);
        let slack = SHARE * (scale * self.field.reach() + paddings)
            + self.body.placement.rounding()
            + scale * self.field.rounding()
            + 1e-14 * off.length();
        for part in 0..self.field.heights.part_count() {
            let Some(corners) = self.field.corners(part) else { continue };
            let height = |corner: DVec3| up.dot(off + turn * (scale * corner));
            let least = corners.map(height).into_iter().fold(f64::INFINITY, f64::min);
            if least - paddings <= self.most + slack {
                self.triangle(part);
            }
        }
    }
}

impl TriangleVisit for Nearing<'_> {
    fn limit(&self) -> f64 {
        self.most / self.body.placement.scale
    }

    fn triangle(&mut self, triangle: u32) {
        if self.failure.is_some() {
            return;
        }
        self.count += 1;
        let made = self.field.part(&self.body.body, &self.body.placement, triangle, 0);
        let Some((hull, placed, position)) = kept(made, &mut self.failure) else { return };
        let (placements, base) = self.place(&hull, &placed, DVec3::from(position));
        let measured = measure_placed(&placements);
        let found = Best { part: self.part, triangle, measured, base };
        if measured.is_within(self.max_distance) && self.best.is_none_or(|best| found.is_before(&best)) {
            self.most = self.most.min(measured.gap);
            self.best = Some(found);
        }
    }
}
