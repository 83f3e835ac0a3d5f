//! Shape casts against height fields, beside those against the parts of compounds.

use std::sync::Arc;

use glam::DVec3;

use crate::collide::bvh::near_first::SlabBox;
use crate::collide::compound::body::Placement;
use crate::collide::compound::field::{Field, TriangleVisit};
use crate::collide::compound::field_rows::{Goal, fill, kept, with_rows};
use crate::collide::compound::field_set::{FieldBody, Fields, SHARE};
use crate::collide::compound::rows::PartRow;
use crate::collide::hull::Hull;
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::scene::frame::Frame;
use crate::collide::scene::query_input::Scene;
use crate::collide::scene::shape_cast::{PlacedCast, ShapeCastColumns};
use crate::collide::shape::cast::{CastGoal, Met};
use crate::collide::shape::crowd::placed_pair;
use crate::collide::shape::rows::{ShapeCastAny, ShapeCastFirst, ShapeCastHit};
use crate::error::{Error, Result};
use crate::pending::Pending;

/// The shape casts of a query.
#[derive(Debug)]
pub(crate) struct FieldCasts {
    scene: Arc<Scene>,
    casts: Vec<PlacedCast>,
    goal: CastGoal,
}

impl FieldCasts {
    /// Lays out casts that were checked, about the origin of the fields.
    pub(crate) fn new(
        scene: &Arc<Scene>,
        columns: &ShapeCastColumns<'_>,
        goal: CastGoal,
        origin: DVec3,
    ) -> Result<Self> {
        let placed = columns.casts.iter().enumerate().map(|(row, cast)| {
            cast.lay_out(row, columns.positions.get(row).copied(), Some(origin), &scene.supports)
        });
        Ok(Self { casts: placed.collect::<Result<_>>()?, scene: Arc::clone(scene), goal })
    }
}

impl Fields {
    /// Adds the hits of a cast up to a distance: all, or one of them and all that are not farther. `first` is a body and a part that it is known to
    /// meet at that distance.
    fn meet(
        &self,
        casts: &FieldCasts,
        id: u32,
        (limit, first): (f64, Option<[u32; 2]>),
        find: Goal,
        hits: &mut Vec<PartRow<ShapeCastHit>>,
    ) -> Result<u64> {
        let cast = &casts.casts[id as usize];
        let shape = &cast.shape;
        let hull = &casts.scene.hulls[shape.body.hull as usize];
        let frame = Frame::at(hull, &shape.body, shape.position);
        let (center, radius) = (frame.position + frame.offset, frame.radius);
        let velocity = DVec3::from(cast.motion.velocity.map(f64::from));
        let probe = SlabBox::new(&shape.aabb, velocity.to_array(), cast.length);
        let (mut first, mut count, mut failure) = (first, 0, None);
        self.walk(&probe, id, limit, &mut |body, field, limit| {
            let is_over = failure.is_some() || find == Goal::Any && !hits.is_empty();
            let (group, mask) = (shape.body.group, shape.body.mask);
            if is_over || group & body.body.mask == 0 || body.body.group & mask == 0 {
                return limit;
            }
            let Placement { turn, position, scale, .. } = body.placement;
            let back = turn.transpose() * (1.0 / scale);
            let (start, direction) = (back * (center - position), back * velocity);
            // The ball around the shape comes as near as the shape.
            let grow = body.reach_of(field, radius) + 1e-14 * start.length();
            let goal = casts.goal;
            let mut meeting = Meeting {
                body,
                field,
                cast,
                hull,
                goal,
                find,
                id,
                limit,
                first,
                hits,
                count: 0,
                failure: None,
            };
            field.visit_line(start, direction, grow, &mut meeting);
            count += meeting.count;
            (first, failure) = (meeting.first, meeting.failure);
            meeting.limit
        });
        failure.map_or(Ok(count), Err)
    }

    /// Adds the first hits of casts to those of others.
    pub(crate) fn shape_casts(
        self,
        casts: FieldCasts,
        found: Pending<Batch<PartRow<ShapeCastFirst>>>,
    ) -> Pending<Batch<PartRow<ShapeCastFirst>>> {
        with_rows(found, move |rows, awaited| {
            let count = fill(rows, awaited, |row| {
                let id = row.row.cast;
                let most = casts.casts[id as usize].max_distance;
                let limit =
                    row.row.hit.map_or((most, None), |hit| (hit.distance, Some([hit.body, row.part])));
                let mut hits = Vec::new();
                let count = self.meet(&casts, id, limit, Goal::First, &mut hits)?;
                hits.extend(row.row.hit.map(|hit| PartRow { part: row.part, row: hit }));
                if let Some(first) = hits.into_iter().min_by(by_distance) {
                    (row.part, row.row.hit) = (first.part, Some(first.row));
                }
                Ok(count)
            })?;
            Ok((count, rows.iter().filter(|row| row.row.hit.is_some()).count()))
        })
    }

    /// The same for whether casts meet anything.
    pub(crate) fn shape_casts_any(
        self,
        casts: FieldCasts,
        found: Pending<Batch<ShapeCastAny>>,
    ) -> Pending<Batch<ShapeCastAny>> {
        with_rows(found, move |rows, awaited| {
            let count = fill(rows, awaited, |row| {
                if row.is_hit {
                    return Ok(0);
                }
                let most = casts.casts[row.cast as usize].max_distance;
                let mut hits = Vec::new();
                let count = self.meet(&casts, row.cast, (most, None), Goal::Any, &mut hits)?;
                row.is_hit = !hits.is_empty();
                Ok(count)
            })?;
            Ok((count, rows.iter().filter(|row| row.is_hit).count()))
        })
    }

    /// The same for all hits of casts.
    pub(crate) fn shape_casts_all(
        self,
        casts: FieldCasts,
        found: Pending<Batch<PartRow<ShapeCastHit>>>,
    ) -> Pending<Batch<PartRow<ShapeCastHit>>> {
        with_rows(found, move |rows, awaited| {
            let ids: Vec<u32> = (0..).zip(&casts.casts).map(|(id, _)| id).collect();
            let count = self.list(rows, &ids, awaited, |id, hits| {
                let most = casts.casts[id as usize].max_distance;
                self.meet(&casts, id, (most, None), Goal::All, hits)
            })?;
            rows.sort_by(|a, b| a.row.cast.cmp(&b.row.cast).then_with(|| by_distance(a, b)));
            Ok((count, rows.len()))
        })
    }
}

impl FieldBody {
    /// How near to the centre of a ball a triangle must be for what is in the ball to touch it, in the field's units.
    pub(crate) fn reach_of(&self, field: &Field, radius: f64) -> f64 {
        let Placement { scale, padding, .. } = self.placement;
        let around = (radius + padding) / scale;
        around + SHARE * (around + field.reach()) + field.rounding() + self.placement.rounding() / scale
    }
}

/// Nearer first, then the lower body and part.
fn by_distance(a: &PartRow<ShapeCastHit>, b: &PartRow<ShapeCastHit>) -> std::cmp::Ordering {
    let ids = |row: &PartRow<ShapeCastHit>| (row.row.body, row.part);
    a.row.distance.total_cmp(&b.row.distance).then(ids(a).cmp(&ids(b)))
}

/// Casts a shape against triangles.
struct Meeting<'a> {
    body: &'a FieldBody,
    field: &'a Field,
    cast: &'a PlacedCast,
    /// Of the shape.
    hull: &'a Hull,
    goal: CastGoal,
    find: Goal,
    id: u32,
    /// Distance beyond which nothing is looked for.
    limit: f64,
    /// A body and a part that are met at the limit.
    first: Option<[u32; 2]>,
    hits: &'a mut Vec<PartRow<ShapeCastHit>>,
    count: u64,
    failure: Option<Error>,
}

impl TriangleVisit for Meeting<'_> {
    fn limit(&self) -> f64 {
        self.limit / self.cast.length
    }

    fn triangle(&mut self, part: u32) {
        let ids = [self.body.id, part];
        // Nothing is met before the start.
        let is_late =
            self.find == Goal::First && self.limit == 0.0 && self.first.is_some_and(|first| first < ids);
        if self.failure.is_some() || is_late {
            return;
        }
        self.count += 1;
        let made = self.field.part(&self.body.body, &self.body.placement, part, 0);
        let Some((hull, placed, position)) = kept(made, &mut self.failure) else { return };
        let shape = &self.cast.shape;
        let place = || placed_pair(shape, [self.hull, &hull], &placed, DVec3::from(position), true);
        let Some(met) = Met::find(self.cast, self.goal, &place().0, &placed) else { return };
        if met.distance > self.limit {
            return;
        }
        let row = met.row(self.cast, self.goal, [self.id, self.body.id], place);
        match self.find {
            Goal::First => {
                let is_first = met.distance < self.limit || self.first.is_none_or(|first| ids < first);
                if is_first {
                    self.first = Some(ids);
                }
                self.limit = met.distance;
            }
            Goal::Any => self.limit = -1.0,
            Goal::All => (),
        }
        self.hits.push(PartRow { part, row });
    }
}
