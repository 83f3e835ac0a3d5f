//! Rays, points and moving shapes against the parts of a scene, and the bodies near to others.

use std::ops::Range;
use std::sync::Arc;

use glam::DVec3;

use crate::collide::compound::body::CompoundBody;
use crate::collide::compound::field_casts::FieldCasts;
use crate::collide::compound::field_nearest::{FieldNear, NearRules, RowRules};
use crate::collide::compound::field_rays::FieldRays;
use crate::collide::compound::field_set::{FieldBody, Fields};
use crate::collide::compound::rows::{PartPair, PartRow};
use crate::collide::handle::body::Body;
use crate::collide::handle::probe::{Point, Ray, ShapeCast};
use crate::collide::handle::rows::Names;
use crate::collide::handle::shapes::LaidOut;
use crate::collide::handle::snapshot::Snapshot;
use crate::collide::narrow_phase::rows::{Batch, Precision, Stats};
use crate::collide::query::gpu;
use crate::collide::ray::query::{self as rays, OwnedPoints, OwnedRays, RayCodes, RayGoal, check_count};
use crate::collide::ray::rows::{Containment, NearestPoint, Occlusion, RayHit, Raycast};
use crate::collide::scene::body::Body as Instance;
use crate::collide::scene::ray::Ray as Line;
use crate::collide::scene::ray_columns::{RayColumns, check_f64};
use crate::collide::scene::shape_cast::{
    PlacedCast, PlacedShape, ShapeCast as InstanceCast, ShapeCastColumns,
};
use crate::collide::scene::world_ranges::WorldRanges;
use crate::collide::shape::cast::CastGoal;
use crate::collide::shape::nearest::{NearGoal, NearPair};
use crate::collide::shape::query::{self as shapes, Asked, Groups, NearTo};
use crate::collide::shape::rows::{NearestBody, ShapeCastAny, ShapeCastFirst, ShapeCastHit};
use crate::error::{Error, Location, Result};
use crate::pending::Pending;

/// A row that names at most one body and its part.
trait Target: Send + 'static {
    /// The body and the part.
    fn target(&mut self) -> Option<[&mut u32; 2]>;
}

macro_rules! targets {
    ($($hit:ty),*; $($first:ty),*) => {
        $(impl Target for $hit {
            fn target(&mut self) -> Option<[&mut u32; 2]> {
                Some([&mut self.body, &mut self.part])
            }
        })*
        $(impl Target for $first {
            fn target(&mut self) -> Option<[&mut u32; 2]> {
                self.hit.as_mut().and_then(Target::target)
            }
        })*
    };
}

targets!(RayHit, Containment, ShapeCastHit, NearestBody, crate::collide::ray::rows::PointHit; Raycast, NearestPoint, ShapeCastFirst);

impl Names {
    /// Names the leaves of rows by bodies and parts.
    fn targets<R: Target>(self, found: Pending<Batch<R>>) -> Pending<Batch<R>> {
        if self.is_plain {
            return found;
        }
        found.map(move |mut found| {
            for [body, part] in found.rows.iter_mut().filter_map(Target::target) {
                [*body, *part] = self.of(*body);
            }
            found
        })
    }
}

/// Rows as the search among height fields has them.
fn with_parts<R: Target>(found: Pending<Batch<R>>) -> Pending<Batch<PartRow<R>>> {
    found.map(|found| {
        let with_part = |mut row: R| PartRow { part: row.target().map_or(0, |[_, part]| *part), row };
        Batch::new(found.rows.into_iter().map(with_part).collect(), found.stats)
    })
}

/// The same rows again.
fn without_parts<R: Target>(found: Pending<Batch<PartRow<R>>>) -> Pending<Batch<R>> {
    found.map(|found| {
        let without = |PartRow { part, mut row }: PartRow<R>| {
            if let Some([_, of]) = row.target() {
                *of = part;
            }
            row
        };
        Batch::new(found.rows.into_iter().map(without).collect(), found.stats)
    })
}

/// Checked rays.
struct Rays {
    owned: Arc<OwnedRays>,
    fields: Option<(Fields, FieldRays)>,
}

/// Checked points.
struct Points {
    owned: OwnedPoints,
    fields: Option<(Fields, Vec<[f64; 3]>)>,
}

/// Checked casts, one for each part of a shape.
struct Casts {
    asked: Asked<PlacedCast>,
    fields: Option<(Fields, FieldCasts)>,
    /// The cast that each is a part of; empty where each has one part.
    of: Vec<u32>,
}

/// Shapes that are asked about.
struct Near {
    asked: Asked<PlacedShape>,
    starts: Vec<u32>,
}

impl Snapshot {
    /// The bodies that rays, points or shapes of these worlds see.
    fn world_ranges(&self, worlds: impl Iterator<Item = u32> + Clone) -> WorldRanges {
        match self.parts.only_world {
            Some(only) if worlds.clone().all(|world| world == only) => WorldRanges::default(),
            None if self.parts.worlds.is_empty() => WorldRanges::default(),
            Some(only) => {
                let asked: Vec<u32> = worlds.collect();
                WorldRanges::of(&asked, &vec![only; self.input.mover_count])
            }
            None => WorldRanges::of(&worlds.collect::<Vec<u32>>(), &self.parts.worlds),
        }
    }

    /// The height fields that rays, points or shapes of these worlds see; `None` where there are none.
    fn fields(&self, asked: impl Iterator<Item = u32>) -> Option<Fields> {
        if self.parts.field_rows.is_empty() {
            return None;
        }
        let mut list = Vec::new();
        let mut bodies = Vec::new();
        for &row in self.parts.field_rows.iter() {
            let body = &self.bodies[row as usize];
            if let LaidOut::Parts(shape) = &self.table.laid_out[body.shape as usize] {
                let placed = CompoundBody { compound: list.len() as u32, ..body.of_field() };
                list.push(Arc::clone(shape));
                bodies.push((body.world, FieldBody { id: row, body: placed, placement: body.placement() }));
            }
        }
        let asked: Vec<u32> = asked.collect();
        Some(Fields::among(list.into(), bodies, Body::EVERY_WORLD, &asked, self.answer_limit))
    }

    fn rays(&self, given: &[Ray], at_start: bool) -> Result<Rays> {
        check_count("rays", given.len())?;
        let line = |ray: &Ray| {
            let &Ray { direction, max_distance, group, mask, .. } = ray;
            Line { origin: [0.0; 3], direction, max_distance, group, mask }
        };
        let lines: Vec<Line> = given.iter().map(line).collect();
        let origins: Vec<[f64; 3]> = given.iter().map(|ray| ray.origin).collect();
        let columns = RayColumns { origins: &origins, ..RayColumns::new(&lines) };
        columns.check()?;
        let worlds = given.iter().map(|ray| ray.world);
        let fields = self.fields(worlds.clone()).map(|fields| (fields, FieldRays::new(&columns, at_start)));
        let worlds = self.world_ranges(worlds);
        Ok(Rays { owned: Arc::new(OwnedRays::of_scene(lines, origins, worlds)), fields })
    }

    /// What a device finds out about rays.
    fn ray_codes(
        &self,
        rays: &Arc<OwnedRays>,
        goal: RayGoal,
        precision: Precision,
    ) -> Result<Pending<RayCodes>> {
        let found = match &self.gpu {
            Some(gpu) if precision == Precision::Fast => {
                gpu::rays::search(gpu, &self.table.hulls, &self.input, rays, goal)?
            }
            _ => None,
        };
        Ok(found.unwrap_or_else(|| Pending::ready(RayCodes::default())))
    }

    pub(crate) fn raycasts(
        self,
        given: &[Ray],
        at_start: bool,
        precision: Precision,
    ) -> Result<Pending<Batch<Raycast>>> {
        let Rays { owned, fields } = self.rays(given, at_start)?;
        let codes = self.ray_codes(&owned, RayGoal { is_any: false, at_start }, precision)?;
        let (table, input, names) = (self.table, self.input, self.names);
        let found = codes.chain(move |codes| {
            Ok(Pending::spawn(move |awaited| {
                let input = input.awaited_by(awaited);
                rays::raycasts(&table.hulls, input, &table.searches, &owned, at_start, &codes)
            }))
        });
        let found = names.targets(found);
        Ok(match fields {
            None => found,
            Some((fields, rays)) => without_parts(fields.raycasts(rays, with_parts(found))),
        })
    }

    pub(crate) fn raycasts_all(self, given: &[Ray], at_start: bool) -> Result<Pending<Batch<RayHit>>> {
        let Rays { owned, fields } = self.rays(given, at_start)?;
        let (table, input, names) = (self.table, self.input, self.names);
        let found = names.targets(Pending::spawn(move |awaited| {
            let input = input.awaited_by(awaited);
            rays::raycasts_all(&table.hulls, input, &table.searches, &owned, at_start)
        }));
        Ok(match fields {
            None => found,
            Some((fields, rays)) => without_parts(fields.raycasts_all(rays, with_parts(found))),
        })
    }

    pub(crate) fn raycasts_any(
        self,
        given: &[Ray],
        at_start: bool,
        precision: Precision,
    ) -> Result<Pending<Batch<Occlusion>>> {
        let Rays { owned, fields } = self.rays(given, at_start)?;
        let codes = self.ray_codes(&owned, RayGoal { is_any: true, at_start }, precision)?;
        let (table, input) = (self.table, self.input);
        let found = codes.chain(move |codes| {
            Ok(Pending::spawn(move |awaited| {
                let input = input.awaited_by(awaited);
                rays::occluded(&table.hulls, input, &table.searches, &owned, at_start, &codes)
            }))
        });
        Ok(match fields {
            None => found,
            Some((fields, rays)) => fields.occlusions(rays, found),
        })
    }

    fn points(&self, given: &[Point]) -> Result<Points> {
        check_count("points", given.len())?;
        for (row, point) in given.iter().enumerate() {
            check_f64(Location::Point(row), "point", &point.position)?;
        }
        let worlds = given.iter().map(|point| point.world);
        let positions: Vec<[f64; 3]> = given.iter().map(|point| point.position).collect();
        let fields = self.fields(worlds.clone()).map(|fields| (fields, positions.clone()));
        Ok(Points { owned: OwnedPoints::of_scene(positions, self.world_ranges(worlds)), fields })
    }

    pub(crate) fn nearest_points(
        self,
        given: &[Point],
        max_distance: f64,
    ) -> Result<Pending<Batch<NearestPoint>>> {
        let Points { owned: points, fields } = self.points(given)?;
        let (table, input, names) = (self.table, self.input, self.names);
        let found = names.targets(Pending::spawn(move |awaited| {
            let input = input.awaited_by(awaited);
            rays::nearest(&table.hulls, input, &table.searches, &points, max_distance)
        }));
        Ok(match fields {
            None => found,
            Some((fields, points)) => {
                without_parts(fields.nearest_points(points, max_distance, with_parts(found)))
            }
        })
    }

    pub(crate) fn containments(self, given: &[Point]) -> Result<Pending<Batch<Containment>>> {
        let Points { owned: points, fields } = self.points(given)?;
        let (table, input, names) = (self.table, self.input, self.names);
        let found = names.targets(Pending::spawn(move |awaited| {
            rays::containing(&table.hulls, input.awaited_by(awaited), &table.searches, &points)
        }));
        Ok(match fields {
            None => found,
            Some((fields, points)) => without_parts(fields.containments(points, with_parts(found))),
        })
    }

    /// The parts of a body that is none of the scene's.
    pub(crate) fn parts_of(
        &self,
        body: &Body,
        at: Location,
        found: &mut Vec<(Instance, DVec3)>,
    ) -> Result<()> {
        self.table.check(&Body { fixed: true, ..*body }, at)?;
        match &self.table.laid_out[body.shape as usize] {
            LaidOut::Hull(hull) => found.push(body.instance(*hull)),
            LaidOut::Parts(parts) => {
                let Some(list) = parts.list() else {
                    let message = format!(
                        "shape {} is a height field, which can't be cast or measured itself",
                        body.shape
                    );
                    return Err(Error::invalid(at, message));
                };
                let placement = body.placement();
                found.extend(
                    list.parts.iter().zip(&list.turns).map(|(part, turn)| body.part(&placement, part, turn)),
                );
            }
            LaidOut::Removed => (),
        }
        Ok(())
    }

    fn casts(&self, given: &[ShapeCast], goal: CastGoal) -> Result<Casts> {
        check_count("shape casts", given.len())?;
        let (mut casts, mut positions, mut of) = (Vec::new(), Vec::new(), Vec::new());
        let mut parts = Vec::new();
        for (row, cast) in given.iter().enumerate() {
            parts.clear();
            self.parts_of(&cast.body, Location::Cast(row), &mut parts)?;
            for (instance, position) in parts.drain(..) {
                let &ShapeCast { direction, max_distance, .. } = cast;
                casts.push(InstanceCast { body: instance, direction, max_distance });
                positions.push(position.to_array());
                of.push(row as u32);
            }
        }
        check_count("shape casts", casts.len())?;
        let (origin, supports) = (Some(self.input.origin), &self.table.hulls.supports);
        let place = |((cast, position), &row): ((&InstanceCast, &[f64; 3]), &u32)| {
            cast.lay_out(row as usize, Some(*position), origin, supports)
        };
        let placed: Result<Vec<PlacedCast>> = casts.iter().zip(&positions).zip(&of).map(place).collect();
        let worlds = of.iter().map(|&cast| given[cast as usize].body.world);
        let fields = match self.fields(worlds.clone()) {
            None => None,
            Some(fields) => {
                let columns = ShapeCastColumns { positions: &positions, ..ShapeCastColumns::new(&casts) };
                let casts = FieldCasts::new(&self.table.hulls, &columns, goal, fields.origin)?;
                Some((fields, casts))
            }
        };
        let asked = Asked::new(placed?, self.world_ranges(worlds));
        if of.len() == given.len() {
            of.clear();
        }
        Ok(Casts { asked, fields, of })
    }

    pub(crate) fn shape_casts(
        self,
        given: &[ShapeCast],
        goal: CastGoal,
    ) -> Result<Pending<Batch<ShapeCastFirst>>> {
        let Casts { asked, fields, of } = self.casts(given, goal)?;
        let (table, input, names) = (self.table, self.input, self.names);
        let found = names.targets(Pending::spawn(move |awaited| {
            shapes::shape_casts(&table.hulls, input.awaited_by(awaited), &table.searches, &asked, goal)
        }));
        let found = match fields {
            None => found,
            Some((fields, casts)) => without_parts(fields.shape_casts(casts, with_parts(found))),
        };
        if of.is_empty() {
            return Ok(found);
        }
        Ok(found.map(move |found| {
            let mut rows: Vec<ShapeCastFirst> = Vec::new();
            for (row, &cast) in found.rows.into_iter().zip(&of) {
                let hit = row.hit.map(|hit| ShapeCastHit { cast, ..hit });
                match rows.last_mut().filter(|last| last.cast == cast) {
                    Some(last) if is_earlier(&hit, &last.hit) => last.hit = hit,
                    Some(_) => (),
                    None => rows.push(ShapeCastFirst { cast, hit }),
                }
            }
            let hit_count = rows.iter().filter(|row| row.hit.is_some()).count() as u64;
            Batch::new(rows, Stats { hit_count, ..found.stats })
        }))
    }

    pub(crate) fn shape_casts_all(
        self,
        given: &[ShapeCast],
        goal: CastGoal,
    ) -> Result<Pending<Batch<ShapeCastHit>>> {
        let Casts { asked, fields, of } = self.casts(given, goal)?;
        let (table, input, names) = (self.table, self.input, self.names);
        let found = names.targets(Pending::spawn(move |awaited| {
            shapes::shape_casts_all(&table.hulls, input.awaited_by(awaited), &table.searches, &asked, goal)
        }));
        let found = match fields {
            None => found,
            Some((fields, casts)) => without_parts(fields.shape_casts_all(casts, with_parts(found))),
        };
        if of.is_empty() {
            return Ok(found);
        }
        Ok(found.map(move |found| {
            let named = |row: ShapeCastHit| ShapeCastHit { cast: of[row.cast as usize], ..row };
            let mut rows: Vec<ShapeCastHit> = found.rows.into_iter().map(named).collect();
            // One row a part that is hit: the earliest of the parts of the shape.
            let ids = |row: &ShapeCastHit| (row.cast, row.body, row.part);
            rows.sort_by(|a, b| ids(a).cmp(&ids(b)).then(a.distance.total_cmp(&b.distance)));
            rows.dedup_by_key(|row| ids(row));
            rows.sort_by(|a, b| {
                a.cast.cmp(&b.cast).then(a.distance.total_cmp(&b.distance)).then(ids(a).cmp(&ids(b)))
            });
            let hit_count = rows.len() as u64;
            Batch::new(rows, Stats { hit_count, ..found.stats })
        }))
    }

    pub(crate) fn shape_casts_any(
        self,
        given: &[ShapeCast],
        goal: CastGoal,
    ) -> Result<Pending<Batch<ShapeCastAny>>> {
        let Casts { asked, fields, of } = self.casts(given, goal)?;
        let (table, input) = (self.table, self.input);
        let found = Pending::spawn(move |awaited| {
            shapes::shape_casts_any(&table.hulls, input.awaited_by(awaited), &table.searches, &asked, goal)
        });
        let found = match fields {
            None => found,
            Some((fields, casts)) => fields.shape_casts_any(casts, found),
        };
        if of.is_empty() {
            return Ok(found);
        }
        Ok(found.map(move |found| {
            let mut rows: Vec<ShapeCastAny> = Vec::new();
            for (row, &cast) in found.rows.iter().zip(&of) {
                match rows.last_mut().filter(|last| last.cast == cast) {
                    Some(last) => last.is_hit |= row.is_hit,
                    None => rows.push(ShapeCastAny { cast, is_hit: row.is_hit }),
                }
            }
            let hit_count = rows.iter().filter(|row| row.is_hit).count() as u64;
            Batch::new(rows, Stats { hit_count, ..found.stats })
        }))
    }

    fn near_shapes(&self, given: &[Body], origin: DVec3) -> Result<Near> {
        check_count("shapes", given.len())?;
        let (mut parts, mut placed, mut starts) = (Vec::new(), Vec::new(), vec![0]);
        let mut worlds = Vec::new();
        for (row, body) in given.iter().enumerate() {
            let at = Location::Query(row);
            self.parts_of(body, at, &mut parts)?;
            for (instance, position) in parts.drain(..) {
                let (origin, position) = (Some(origin), Some(position.to_array()));
                placed.push(PlacedShape::new(&instance, position, origin, at, &self.table.hulls.supports)?);
                worlds.push(body.world);
            }
            starts.push(placed.len() as u32);
        }
        Ok(Near { asked: Asked::new(placed, self.world_ranges(worlds.into_iter())), starts })
    }

    /// The bodies nearest to shapes that are none of the scene's.
    pub(crate) fn nearest_to(self, given: &[Body], goal: NearGoal) -> Result<Pending<Batch<NearestBody>>> {
        let Near { asked, starts } = self.near_shapes(given, self.input.origin)?;
        let worlds = given.iter().map(|body| body.world);
        let fields = match self.fields(worlds) {
            None => None,
            Some(fields) => {
                let near = FieldNear {
                    scene: Arc::clone(&self.table.hulls),
                    shapes: self.near_shapes(given, fields.origin)?.asked.into_placed(),
                    starts: starts.clone(),
                    rules: NearRules::default(),
                    goal,
                    is_of_scene: false,
                };
                Some((fields, near))
            }
        };
        self.nearest(NearTo::Groups(asked, starts), goal, fields)
    }

    /// The bodies nearest to some bodies of the scene.
    pub(crate) fn nearest_of(self, rows: &[u32], goal: NearGoal) -> Result<Pending<Batch<NearestBody>>> {
        let count = self.bodies.len() as u64;
        for (at, &row) in rows.iter().enumerate() {
            if !self.parts.holds(row) {
                return Err(Error::Missing {
                    at: Location::Query(at),
                    what: "body",
                    index: row.into(),
                    count,
                });
            }
            if self.table.field(self.bodies[row as usize].shape).is_some() {
                let message =
                    format!("body {row} is a height field, whose nearest bodies can't be asked for");
                return Err(Error::invalid(Location::Query(at), message));
            }
        }
        let part_count = |row: u32| self.table.part_count(self.bodies[row as usize].shape);
        let places: Vec<Range<u32>> =
            rows.iter().map(|&row| self.parts.places_of(row, part_count(row))).collect();
        let fields = match self.fields(rows.iter().map(|&row| self.bodies[row as usize].world)) {
            None => None,
            Some(fields) => {
                let near = self.field_near(rows, &places, &fields, goal)?;
                Some((fields, near))
            }
        };
        let rows = rows.to_vec();
        Ok(self.nearest(NearTo::Places(places), goal, fields)?.map(move |found| {
            let named = |row: NearestBody| NearestBody { query: rows[row.query as usize], ..row };
            Batch::new(found.rows.into_iter().map(named).collect(), found.stats)
        }))
    }

    fn field_near(
        &self,
        rows: &[u32],
        places: &[Range<u32>],
        fields: &Fields,
        goal: NearGoal,
    ) -> Result<FieldNear> {
        let (mut shapes, mut starts) = (Vec::new(), vec![0]);
        for (&row, places) in rows.iter().zip(places) {
            for place in places.clone().map(|place| place as usize) {
                let (instance, position) = (&self.input.bodies[place], self.input.positions[place]);
                let at = Location::Body(row as usize);
                let (origin, position) = (Some(fields.origin), Some(position.to_array()));
                shapes.push(PlacedShape::new(instance, position, origin, at, &self.table.hulls.supports)?);
            }
            starts.push(shapes.len() as u32);
        }
        let fixed = self.bodies.iter().map(|body| body.fixed).collect();
        let rules = RowRules { rules: Arc::clone(&self.parts.row_rules), rows: rows.to_vec(), fixed };
        let (scene, rules) = (Arc::clone(&self.table.hulls), NearRules::of_rows(rules));
        Ok(FieldNear { scene, shapes, starts, rules, goal, is_of_scene: true })
    }

    fn nearest(
        self,
        asked: NearTo,
        goal: NearGoal,
        fields: Option<(Fields, FieldNear)>,
    ) -> Result<Pending<Batch<NearestBody>>> {
        let (table, input, names) = (self.table, self.input, self.names);
        let owner_of: Vec<u32> = match names.is_plain {
            true => Vec::new(),
            false => names.leaves.iter().map(|&[row, _]| row).collect(),
        };
        let found = Pending::spawn(move |awaited| {
            let groups = Groups { starts: &[], owner_of: &owner_of };
            shapes::nearest_pairs(
                &table.hulls,
                input.awaited_by(awaited),
                &table.searches,
                &asked,
                groups,
                goal,
            )
        });
        let found = found.map(move |found| {
            let named = |NearPair { asker, row }: NearPair| {
                let [body, part] = names.of(row.body);
                PartPair { part_a: asker, part_b: part, row: NearestBody { body, ..row } }
            };
            Batch::new(found.rows.into_iter().map(named).collect(), found.stats)
        });
        let found = match fields {
            None => found,
            Some((fields, near)) => fields.nearest(near, found),
        };
        Ok(found.map(|found| {
            let named = |PartPair { part_a, part_b, row }: PartPair<NearestBody>| NearestBody {
                query_part: part_a,
                part: part_b,
                ..row
            };
            Batch::new(found.rows.into_iter().map(named).collect(), found.stats)
        }))
    }
}

/// Whether a hit is earlier than another, or of the lower body or part at the same distance.
fn is_earlier(hit: &Option<ShapeCastHit>, other: &Option<ShapeCastHit>) -> bool {
    let key = |hit: &ShapeCastHit| (hit.body, hit.part);
    match (hit, other) {
        (Some(hit), Some(other)) => {
            hit.distance.total_cmp(&other.distance).then(key(hit).cmp(&key(other))).is_lt()
        }
        (hit, other) => hit.is_some() && other.is_none(),
    }
}
