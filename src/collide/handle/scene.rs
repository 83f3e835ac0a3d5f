//! The scene: bodies that live from query to query.

use std::sync::{Arc, Mutex};

use crate::collide::handle::body::{Body, Pose};
use crate::collide::handle::events::{Asked, PairEvent, Touching};
use crate::collide::handle::id::BodyId;
use crate::collide::handle::kept::{Changes, Kept, Kind, Moved};
use crate::collide::handle::options::SceneOptions;
use crate::collide::handle::pairs::{Known, Reuse};
use crate::collide::handle::parts::Parts;
use crate::collide::handle::rows::PairRow;
use crate::collide::handle::rules::Excluded;
use crate::collide::handle::shapes::{ShapeTable, Shapes};
use crate::collide::handle::slots::Slots;
use crate::collide::handle::snapshot::Snapshot;
use crate::collide::handle::state::{SceneState, StoredRow};
use crate::collide::narrow_phase::rows::Batch;
use crate::collide::scene::query_input::{QueryInput, Shared};
use crate::error::{Error, Location, Result};
use crate::lock::lock;
use crate::pending::Pending;

/// Bodies that live from query to query, and all queries over them.
///
/// Bodies are laid out and put into trees when a query first needs it. What does not move stays laid out.
///
/// ```
/// use hullfield::Engine;
/// use hullfield::collide::next::{Body, Hull, Pose, Scene, SceneOptions, Shapes};
/// use hullfield::collide::{Pairs, Status};
///
/// let shapes = Shapes::new(&Engine::auto()?, [Hull::cuboid([0.5; 3])?.into()])?;
/// let bodies = [Body::new(0), Body::new(0).at([0.9, 0.0, 0.0]), Body::new(0).at([3.0, 0.0, 0.0])];
/// let mut scene = Scene::new(&shapes, &bodies, SceneOptions::default())?;
/// let found = scene.intersections(Pairs::BroadPhase)?.wait()?;
/// assert_eq!((found.rows.len(), found.rows[0].a, found.rows[0].b), (1, 0, 1));
/// assert_eq!(found.rows[0].status, Status::Penetrating);
/// // The first moves to the third.
/// let id = scene.id(0).ok_or("row 0 holds no body")?;
/// scene.set_poses(&[id], &[Pose { position: [2.2, 0.0, 0.0], ..Pose::IDENTITY }])?;
/// let found = scene.intersections(Pairs::BroadPhase)?.wait()?;
/// assert_eq!((found.rows.len(), found.rows[0].a, found.rows[0].b), (1, 0, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Rows and ids
/// A body has a row, from 0, by which rows of queries and errors name it, and a [`BodyId`], by which it is changed. A removed body's row is used
/// again. Its id is not.
///
/// # What a query sees
/// A query is about the bodies at the time of the call. Any number of queries may be in flight while the scene changes.
///
/// # Copies
/// A copy of a scene shares its memory until one of the two changes, and both know the ids of all bodies: a state to roll back to.
///
/// # Which pairs meet
/// Two bodies meet where groups and masks accept them, not both are fixed, they are in one world, they have different owners, and no exclusion
/// names them. A pair that does not meet is not tested, has no row and is not counted. Given pairs are all tested.
///
/// # Order
/// Rows of pairs have `a < b`, and are grouped by world, in the order of the worlds' numbers, and sorted by `(a, b, part_a, part_b)` in each.
#[derive(Debug)]
pub struct Scene {
    shapes: Shapes,
    options: SceneOptions,
    slots: Slots,
    /// Of each row; where it holds none, the last one.
    bodies: Shared<Body>,
    exclusions: Arc<Exclusions>,
    changes: Changes,
    kept: Arc<Kept>,
    asked: Asked,
    touching: Touching,
    laid_out: Mutex<LaidOut>,
}

/// What is excluded: pairs of bodies, and pairs of owners.
#[derive(Debug, Clone, Default)]
struct Exclusions {
    bodies: Vec<[BodyId; 2]>,
    owners: Vec<[u32; 2]>,
}

/// What queries keep.
#[derive(Debug, Clone, Default)]
struct LaidOut {
    /// `None` where all must be laid out.
    parts: Option<Arc<Parts>>,
    /// Rows whose pose changed since.
    moved: Vec<u32>,
}

/// What a query needs beside the bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// Nothing, as it searches on the device or tests given pairs.
    Bodies,
    /// A tree, which it may build itself.
    Walk,
    /// A tree.
    Tree,
    /// Bodies as rays read them, and a tree, which it may build itself.
    Frames,
}

impl Clone for Scene {
    fn clone(&self) -> Self {
        Self {
            shapes: self.shapes.clone(),
            options: self.options,
            slots: self.slots.clone(),
            bodies: Arc::clone(&self.bodies),
            exclusions: Arc::clone(&self.exclusions),
            changes: self.changes.clone(),
            kept: Arc::new(self.kept.copied()),
            asked: Asked::default(),
            touching: self.touching.clone(),
            laid_out: Mutex::new(lock(&self.laid_out).clone()),
        }
    }
}

impl Scene {
    /// A scene of these bodies, whose rows are in their order.
    ///
    /// # Errors
    /// At the [`Location::Body`] of the first bad one: [`Error::Missing`] for a shape that does not exist, [`Error::Invalid`] for one that was
    /// removed, and [`Error::Value`] for a number. [`Error::TooMany`].
    pub fn new(shapes: &Shapes, bodies: &[Body], options: SceneOptions) -> Result<Self> {
        for (row, body) in bodies.iter().enumerate() {
            shapes.table.check(body, Location::Body(row))?;
        }
        let mut slots = Slots::default();
        for _ in bodies {
            slots.insert()?;
        }
        Ok(Self {
            shapes: shapes.clone(),
            options,
            slots,
            bodies: Arc::new(bodies.to_vec()),
            exclusions: Arc::default(),
            changes: Changes::default(),
            kept: Arc::default(),
            asked: Asked::default(),
            touching: Touching::default(),
            laid_out: Mutex::default(),
        })
    }

    /// The scene as it can be stored: bodies with their ids, exclusions and touching pairs.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::next::{Body, Hull, Scene, SceneOptions, Shapes};
    ///
    /// let shapes = Shapes::new(&Engine::cpu(), [Hull::ball(1.0)?.into()])?;
    /// let mut scene = Scene::new(&shapes, &[Body::new(0); 3], SceneOptions::default())?;
    /// let ids: Vec<_> = scene.ids().collect();
    /// scene.remove(ids[1]);
    /// let restored = Scene::restore(&shapes, &scene.state())?;
    /// assert!(restored.get(ids[1]).is_none() && restored.get(ids[2]) == scene.get(ids[2]));
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn state(&self) -> SceneState {
        let row = |(id, is_held): (BodyId, bool)| {
            let body = is_held.then(|| self.bodies[id.row as usize]);
            StoredRow { id, body }
        };
        SceneState {
            options: self.options,
            rows: self.slots.last_ids().map(row).collect(),
            excluded_bodies: self.exclusions.bodies.clone(),
            excluded_owners: self.exclusions.owners.clone(),
            touching: self.touching.pairs().to_vec(),
        }
    }

    /// A stored scene, of the shapes that it was of. Bodies have the ids that they had.
    ///
    /// # Errors
    /// As [`Scene::new`]; [`Error::Invalid`] at its [`Location::Body`] where the id in a row is of another one.
    pub fn restore(shapes: &Shapes, state: &SceneState) -> Result<Self> {
        for (row, stored) in state.rows.iter().enumerate() {
            if let Some(body) = &stored.body {
                shapes.table.check(body, Location::Body(row))?;
            }
        }
        let rows: Vec<(BodyId, bool)> = state.rows.iter().map(|row| (row.id, row.body.is_some())).collect();
        let exclusions =
            Exclusions { bodies: state.excluded_bodies.clone(), owners: state.excluded_owners.clone() };
        Ok(Self {
            slots: Slots::restored(&rows)?,
            bodies: Arc::new(state.rows.iter().map(|row| row.body.unwrap_or_default()).collect()),
            exclusions: Arc::new(exclusions),
            touching: Touching::restored(state.touching.clone()),
            ..Self::new(shapes, &[], state.options)?
        })
    }

    /// The shapes of the bodies.
    pub fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    /// Uses other shapes from now on: with more of them, with some removed, or on another engine. Bodies and ids stay.
    ///
    /// # Errors
    /// As [`Scene::new`], where a body is of a shape that is not among them. The scene is then unchanged.
    pub fn set_shapes(&mut self, shapes: &Shapes) -> Result<()> {
        for id in self.slots.ids() {
            shapes.table.check(&self.bodies[id.row as usize], Location::Body(id.row as usize))?;
        }
        self.shapes = shapes.clone();
        self.forget();
        Ok(())
    }

    /// The options.
    pub fn options(&self) -> &SceneOptions {
        &self.options
    }

    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.slots.count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many rows there are, held or not.
    pub fn row_count(&self) -> usize {
        self.slots.len()
    }

    /// Adds a body and returns its id.
    ///
    /// # Errors
    /// As [`Scene::new`], at [`Location::Argument`].
    pub fn insert(&mut self, body: Body) -> Result<BodyId> {
        self.shapes.table.check(&body, Location::Argument)?;
        let id = self.slots.insert()?;
        let bodies = Arc::make_mut(&mut self.bodies);
        match bodies.get_mut(id.row as usize) {
            Some(held) => *held = body,
            None => bodies.push(body),
        }
        self.forget();
        Ok(id)
    }

    /// Removes a body, and returns it; `None` where it is not there any longer.
    pub fn remove(&mut self, id: BodyId) -> Option<Body> {
        let body = self.get(id)?;
        self.slots.remove(id);
        self.forget();
        Some(body)
    }

    /// A body; `None` where it is not there any longer, or of another scene.
    pub fn get(&self, id: BodyId) -> Option<Body> {
        self.slots.holds(id).then(|| self.bodies[id.row as usize])
    }

    /// The id of the body in a row; `None` where it holds none.
    pub fn id(&self, row: u32) -> Option<BodyId> {
        self.slots.id_at(row)
    }

    /// The ids of all bodies, by rows.
    pub fn ids(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.slots.ids()
    }

    /// The bodies, by rows.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.slots.ids().map(|id| &self.bodies[id.row as usize])
    }

    /// Replaces a body. Its id stays.
    ///
    /// # Errors
    /// As [`Scene::insert`]; [`Error::Invalid`] where there is no such body. The scene is then unchanged.
    pub fn set(&mut self, id: BodyId, body: Body) -> Result<()> {
        self.check_id(id, Location::Argument)?;
        self.shapes.table.check(&body, Location::Argument)?;
        let held = &mut Arc::make_mut(&mut self.bodies)[id.row as usize];
        let is_moved = held.posed(body.pose()) == body;
        *held = body;
        if is_moved {
            self.note_moved(id.row);
        } else {
            self.forget();
        }
        Ok(())
    }

    /// Moves bodies.
    ///
    /// # Cost
    /// That of the bodies that move. Fixed bodies are laid out anew, all of them, where one moves.
    ///
    /// # Errors
    /// [`Error::Count`] where there is not a pose for each id. At the [`Location::Body`] of the first bad one, its place among these:
    /// [`Error::Invalid`] where there is no such body, [`Error::Value`] for a number. No body is moved then.
    pub fn set_poses(&mut self, ids: &[BodyId], poses: &[Pose]) -> Result<()> {
        if ids.len() != poses.len() {
            return Err(Error::Count {
                at: Location::Argument,
                what: "poses",
                given: poses.len() as u64,
                allowed: format!("there must be one for each of the {} ids", ids.len()),
            });
        }
        for (at, (&id, pose)) in ids.iter().zip(poses).enumerate() {
            self.check_id(id, Location::Body(at))?;
            pose.check(Location::Body(at))?;
        }
        let bodies = Arc::make_mut(&mut self.bodies);
        for (id, &pose) in ids.iter().zip(poses) {
            let body = &mut bodies[id.row as usize];
            *body = body.posed(pose);
        }
        ids.iter().for_each(|id| self.note_moved(id.row));
        Ok(())
    }

    /// Excludes pairs of bodies, and pairs of owners with all their bodies in one world, in place of earlier ones. No query finds them but
    /// for given pairs. A pair excludes both orders, and ends with its bodies.
    ///
    /// # Errors
    /// [`Error::Invalid`] at its [`Location::Pair`] where there is no such body, and where a body or an owner is excluded from itself.
    pub fn set_exclusions(&mut self, bodies: &[[BodyId; 2]], owners: &[[u32; 2]]) -> Result<()> {
        for (at, &[a, b]) in bodies.iter().enumerate() {
            let at = Location::Pair(at);
            self.check_id(a, at)?;
            self.check_id(b, at)?;
            if a == b {
                return Err(Error::invalid(at, format!("{a} is excluded from itself")));
            }
        }
        if let Some(at) = owners.iter().position(|[a, b]| a == b) {
            let message = format!("owner {} is excluded from itself, its bodies never meet", owners[at][0]);
            return Err(Error::invalid(Location::Pair(at), message));
        }
        self.exclusions = Arc::new(Exclusions { bodies: bodies.to_vec(), owners: owners.to_vec() });
        self.forget();
        Ok(())
    }

    /// What became of the touching pairs since the last answer that was handed in, sorted by ids.
    ///
    /// A pair that touches or overlaps, of bodies that are in the scene now, begins if it did not touch then, else it stays. All other pairs that
    /// touched then end, those of removed bodies too: an `End` is the only event that names a stale id, and it comes once. It does not matter
    /// which query of pairs it is, nor which margin and rows it has. Answers are handed in in the order of their queries; some may be left out.
    /// Of a copy of the scene, events go on from those of the original.
    ///
    /// # Cost
    /// Linear in the touching pairs, now and then, and a sort of those now.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an answer of another scene or of a copy, for one that was handed in before, for one that is earlier than another that
    /// was handed in, and for one of more than 64 queries ago. Nothing is changed then.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::next::{Body, Hull, PairOptions, Scene, SceneOptions, Shapes};
    /// use hullfield::collide::{Pairs, Phase};
    ///
    /// let shapes = Shapes::new(&Engine::cpu(), [Hull::ball(1.0)?.into()])?;
    /// let mut scene = Scene::new(&shapes, &[], SceneOptions::default())?;
    /// let ids = [0.0, 1.5].map(|x| scene.insert(Body::new(0).at([x, 0.0, 0.0])));
    /// let found = scene.contacts(Pairs::BroadPhase, &PairOptions::default())?.wait()?;
    /// let events = scene.events(&found)?;
    /// assert_eq!((events[0].a, events[0].phase), (ids[0].clone()?, Phase::Begin));
    /// scene.remove(ids[0].clone()?);
    /// let found = scene.intersections(Pairs::BroadPhase)?.wait()?;
    /// assert_eq!(scene.events(&found)?[0].phase, Phase::End);
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    pub fn events<R: PairRow>(&mut self, found: &Batch<R>) -> Result<Vec<PairEvent>> {
        self.touching.advance(&found.rows, found.query, &self.asked, &self.slots)
    }

    /// The pairs that touched in the answer whose events were taken last, sorted by ids. Those of bodies that were removed since have not ended
    /// yet.
    pub fn touching(&self) -> &[[BodyId; 2]] {
        self.touching.pairs()
    }

    /// The same answer with its number among the queries of the scene.
    pub(crate) fn numbered<R: Send + 'static>(&self, found: Pending<Batch<R>>) -> Pending<Batch<R>> {
        let query = self.asked.add(&self.slots);
        found.map(move |batch| Batch { query, ..batch })
    }

    pub(crate) fn check_id(&self, id: BodyId, at: Location) -> Result<()> {
        if self.slots.holds(id) {
            return Ok(());
        }
        let held = self.slots.id_at(id.row);
        let message = match held {
            Some(other) => format!("there is no {id}: its row holds {other}"),
            None => format!("there is no {id}: it was removed, or is of another scene"),
        };
        Err(Error::invalid(at, message))
    }

    fn forget(&mut self) {
        let laid_out = self.laid_out.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        (laid_out.parts, laid_out.moved) = (None, Vec::new());
        self.changes.all();
    }

    fn note_moved(&mut self, row: u32) {
        let laid_out = self.laid_out.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        if laid_out.parts.is_some() {
            laid_out.moved.push(row);
        }
        self.changes.moved(row, self.slots.count());
    }

    /// The bodies as they are now, with what a query needs.
    pub(crate) fn snapshot(&self, need: Need) -> Result<Snapshot> {
        let table = &self.shapes.table;
        let mut laid_out = lock(&self.laid_out);
        self.refresh(table, &mut laid_out)?;
        let Some(parts) = &mut laid_out.parts else {
            return Err(Error::internal("collide::handle::scene", "bodies that are not laid out"));
        };
        let input = match need {
            Need::Bodies => parts.input(),
            Need::Walk => Arc::make_mut(parts).input_to_walk(table),
            Need::Tree => Arc::make_mut(parts).input_with_tree(table),
            Need::Frames => Arc::make_mut(parts).input_with_frames(table),
        };
        let answer_limit = self.shapes.engine().answer_limit();
        Ok(Snapshot {
            table: Arc::clone(table),
            bodies: Arc::clone(&self.bodies),
            input: QueryInput { answer_limit, ..input },
            names: parts.names_of_places(),
            gpu: parts.gpu.clone(),
            parts: Arc::clone(parts),
            answer_limit,
        })
    }

    /// What a query of pairs can reuse.
    pub(crate) fn reuse<R: Send + Sync + 'static>(&self, snapshot: &Snapshot, margin: f64) -> Reuse<R> {
        let kind = Kind::of::<R>(margin, self.options.precision);
        let (found, keep) = self.kept.get::<R>(kind, self.changes.count());
        let known = found.and_then(|(changes, answer)| {
            let rows = self.changes.since(changes)?;
            let moved = Moved::new(rows, |row| snapshot.places_of(row), snapshot.input.bodies.len());
            Some(Known { answer, moved })
        });
        Reuse { known, keep }
    }

    /// Lays out what changed.
    fn refresh(&self, table: &ShapeTable, laid_out: &mut LaidOut) -> Result<()> {
        if let Some(mut parts) = laid_out.parts.take() {
            if laid_out.moved.is_empty() {
                laid_out.parts = Some(parts);
                return Ok(());
            }
            let moved = std::mem::take(&mut laid_out.moved);
            if Arc::make_mut(&mut parts).move_bodies(table, &self.bodies, &moved)? {
                laid_out.parts = Some(parts);
                return Ok(());
            }
        }
        // The origin may be another one.
        self.kept.clear();
        let rows: Vec<u32> = self.slots.ids().map(|id| id.row).collect();
        let is_held = |[a, b]: &[BodyId; 2]| self.slots.holds(*a) && self.slots.holds(*b);
        let excluded: Vec<[u32; 2]> = self
            .exclusions
            .bodies
            .iter()
            .filter(|pair| is_held(pair))
            .map(|&[a, b]| [a.row, b.row])
            .collect();
        let excluded = Excluded { rows: &excluded, owners: &self.exclusions.owners };
        laid_out.parts = Some(Arc::new(Parts::new(table, &self.bodies, &rows, &excluded)?));
        Ok(())
    }
}
