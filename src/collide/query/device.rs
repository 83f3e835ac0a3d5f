//! Queries whose bodies, pairs and answers stay on the device, in the caller's own buffers and command encoder.

use crate::collide::narrow_phase::kernels::{MEASURES, Stages, VERDICTS};
use crate::collide::query::arena::{Arena, check_margin};
use crate::collide::query::device_rows::{IntersectionRow, ManifoldRow, MeasuredRow, SweptRow};
use crate::collide::query::encoded::{Capacity, DeviceBodies, DeviceMotions, DevicePairs, DeviceRows};
use crate::collide::query::gpu::device::{EncodedMotions, EncodedQuery};
use crate::collide::query::options::{ContactOptions, DistanceOptions, ManifoldOptions, SweepOptions};
use crate::collide::scene::body::Body;
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::far::{lay_out_about, origin_of};
use crate::collide::scene::motion::Motion;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::packed_motion::PackedMotion;
use crate::collide::scene::pairs::check;
use crate::collide::scene::ray_columns::check_f64;
use crate::collide::sweep::kernels::ENCODED_SWEEPS;
use crate::collide::sweep::query::{check_duration, check_motions};
#[cfg(doc)]
use crate::engine::Engine;
use crate::error::{Error, Location, Result};

use glam::DVec3;

impl Arena {
    /// Checks bodies and lays them out as kernels read them, for [`DeviceBodies::Buffer`].
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn pack(&self, bodies: &[Body]) -> Result<Vec<PackedBody>> {
        bodies.iter().enumerate().map(|(row, body)| body.pack(row, &self.scene.supports)).collect()
    }

    /// As [`pack`](Self::pack), with positions in f64 and relative to an origin.
    ///
    /// f32 holds positions near the origin best: far from the world's origin choose one amid the bodies. What a query leaves on the device
    /// does not depend on the origin, but all bodies of a buffer must share it. Where the arena has statics it must be the world's;
    /// [`DeviceBodies::Poses`] meets them about any.
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections); [`Error::Value`] where a coordinate of the origin is not finite or above 1e18.
    pub fn pack_about<'a>(
        &self,
        bodies: impl Into<BodyColumns<'a>>,
        origin: [f64; 3],
    ) -> Result<Vec<PackedBody>> {
        self.pack_about_inner(bodies.into(), origin)
    }

    fn pack_about_inner(&self, columns: BodyColumns<'_>, origin: [f64; 3]) -> Result<Vec<PackedBody>> {
        check_f64(Location::Argument, "origin", &origin)?;
        columns.check()?;
        self.pack_columns(&columns, DVec3::from(origin))
    }

    fn pack_columns(&self, columns: &BodyColumns<'_>, origin: DVec3) -> Result<Vec<PackedBody>> {
        let bodies = columns.unplaced();
        let positions: Vec<DVec3> = (0..bodies.len()).map(|row| columns.position(row)).collect();
        let mut packed: Vec<PackedBody> = vec![bytemuck::Zeroable::zeroed(); bodies.len()];
        lay_out_about(&self.scene.supports, &bodies, &positions, origin, &mut packed, &mut [])?;
        Ok(packed)
    }

    /// [`intersections`](Self::intersections) as a part of the caller's own frame: its kernels go into `encoder`, and the
    /// rows ([`IntersectionRow`]s) stay on the device.
    ///
    /// Nothing runs before the caller submits the encoder, and nothing is settled in f64: pairs that f32 cannot decide are listed with
    /// status 3. Rows and pairs beyond the capacity are counted, but not kept. The encoder must belong to the engine's device: see
    /// [`Engine::from_device`]. The example `your_own_device` shows a whole frame, the example `worlds` whole steps of a simulation.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Capacity, DeviceBodies, DevicePairs, Hull, Options};
    ///
    /// let engine = Engine::auto()?;
    /// let arena = Arena::new(&engine, &[Hull::ball(1.0)?], Options::default())?;
    /// let bodies = [Body::new(0), Body::new(0).at([1.5, 0.0, 0.0])];
    /// if let Some((device, queue)) = engine.device() {
    ///     let mut encoder = device.create_command_encoder(&Default::default());
    ///     let capacity = Capacity { pairs: 1000, rows: 1000 };
    ///     let host = DeviceBodies::Host(&bodies);
    ///     let found = arena.encode_intersections(&mut encoder, host, DevicePairs::BroadPhase, capacity)?;
    ///     // Here come kernels of your own that bind found.rows() and found.counts().
    ///     queue.submit([encoder.finish()]);
    /// }
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::NoGpu`] on the CPU engine; [`Error::MemoryLimit`] where one binding does not hold the bodies or the hulls; for bodies and
    /// pairs from the host the errors of [`intersections`](Self::intersections); [`Error::Invalid`] where a buffer is too small or lacks
    /// the usage `STORAGE` (or `COPY_SRC`, for bodies where the arena has statics), where bodies were laid out by another arena, where all pairs of
    /// bodies with worlds, owners or exclusions are asked for, and where a hull has too many vertices for a software rasteriser
    /// (several hundred); [`Error::Count`] where all pairs are examined and the arena has statics; [`Error::MemoryLimit`],
    /// [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn encode_intersections(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        pairs: DevicePairs<'_>,
        capacity: Capacity,
    ) -> Result<DeviceRows> {
        let kind = Kind { stages: &VERDICTS, margin: 0.0, with_depth: false, moves: None, clips: false };
        self.encode(encoder, bodies, pairs, capacity, kind)
    }

    /// [`distances`](Self::distances) as a part of the caller's own frame, as
    /// [`encode_intersections`](Self::encode_intersections); the rows are [`MeasuredRow`]s, whose gap, normal and point are 0
    /// where bodies penetrate.
    ///
    /// # Errors
    /// As there; [`Error::Value`] where the margin is negative or NaN.
    pub fn encode_distances(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        pairs: DevicePairs<'_>,
        options: &DistanceOptions,
        capacity: Capacity,
    ) -> Result<DeviceRows> {
        check_margin(options.margin)?;
        let kind =
            Kind { stages: &MEASURES, margin: options.margin, with_depth: false, moves: None, clips: false };
        self.encode(encoder, bodies, pairs, capacity, kind)
    }

    /// [`contacts`](Self::contacts) as a part of the caller's own frame, as
    /// [`encode_intersections`](Self::encode_intersections); the rows are [`MeasuredRow`]s.
    ///
    /// # Errors
    /// As [`encode_distances`](Self::encode_distances).
    pub fn encode_contacts(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        pairs: DevicePairs<'_>,
        options: &ContactOptions,
        capacity: Capacity,
    ) -> Result<DeviceRows> {
        check_margin(options.margin)?;
        let kind =
            Kind { stages: &MEASURES, margin: options.margin, with_depth: true, moves: None, clips: false };
        self.encode(encoder, bodies, pairs, capacity, kind)
    }

    /// [`manifolds`](Self::manifolds) as a part of the caller's own frame, as
    /// [`encode_intersections`](Self::encode_intersections); the rows are [`ManifoldRow`]s.
    ///
    /// Statuses, gaps and normals are those of [`encode_contacts`](Self::encode_contacts). The features that meet along the normal are
    /// clipped in f32.
    ///
    /// # Tolerance
    /// As for [`distances`](Self::distances), for each point and its gap. Of more than four corners of the overlap the same kinds are kept as on the
    /// host: the deepest, the one furthest from it, and the two that span the most area with these. Where several are equally deep or far
    /// up to rounding, another may be kept. A feature that is level to within one degree up to rounding may count as level or not.
    ///
    /// # Cost
    /// As contacts, and a kernel over the rows. Its time grows with the corners of both faces, for large ones (up to 32 corners) with
    /// their product. The first call builds tables of the faces of all hulls and uploads them: some 10 words a vertex, and time that
    /// grows with faces times vertices of each hull. A row takes 48 bytes more while it is made.
    ///
    /// # Errors
    /// As [`encode_distances`](Self::encode_distances); [`Error::MemoryLimit`] where one binding does not hold the faces of all hulls.
    pub fn encode_manifolds(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        pairs: DevicePairs<'_>,
        options: &ManifoldOptions,
        capacity: Capacity,
    ) -> Result<DeviceRows> {
        check_margin(options.margin)?;
        let kind =
            Kind { stages: &MEASURES, margin: options.margin, with_depth: true, moves: None, clips: true };
        self.encode(encoder, bodies, pairs, capacity, kind)
    }

    /// [`sweeps`](Self::sweeps) as a part of the caller's own frame, as [`encode_intersections`](Self::encode_intersections); the rows are
    /// [`SweptRow`]s, without points.
    ///
    /// [`DevicePairs::BroadPhase`] pairs bodies whose swept boxes overlap. Only [`DevicePairs::Given`] and [`DevicePairs::Buffer`] have rows
    /// for pairs that miss. Statics do not move.
    ///
    /// # What f32 decides
    /// Misses, touches at the start, and hits of bodies that do not rotate, all as `sweeps` does. Everything else has outcome 3: pairs of
    /// which f32 cannot tell (grazing ones, and half-spaces that are tilted or far away), and **every pair with a body that rotates, unless
    /// it misses or touches at the start**. A ball about its own origin does not rotate. Where bodies rotate a little, their pairs can be swept
    /// without rotation, or in shorter steps, or the host may settle the rows with `sweeps` and [`Pairs::Given`](crate::collide::Pairs::Given).
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, Capacity, DeviceBodies, DeviceMotions, DevicePairs, Hull, Motion, Options, SweepOptions};
    ///
    /// let engine = Engine::auto()?;
    /// let arena = Arena::new(&engine, &[Hull::ball(1.0)?], Options::default())?;
    /// let bodies = [Body::new(0), Body::new(0).at([5.0, 0.0, 0.0])];
    /// let motions = [Motion { velocity: [4.0, 0.0, 0.0], ..Motion::default() }, Motion::default()];
    /// if let Some((device, queue)) = engine.device() {
    ///     let mut encoder = device.create_command_encoder(&Default::default());
    ///     let found = arena.encode_sweeps(
    ///         &mut encoder,
    ///         DeviceBodies::Host(&bodies),
    ///         DeviceMotions::Host(&motions),
    ///         DevicePairs::BroadPhase,
    ///         &SweepOptions { duration: 1.0, ..SweepOptions::default() },
    ///         Capacity { pairs: 100, rows: 100 },
    ///     )?;
    ///     // Here come kernels of your own that bind found.rows() and found.counts(). The two bodies meet after 0.75 seconds.
    ///     queue.submit([encoder.finish()]);
    /// }
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Cost
    /// As [`encode_contacts`](Self::encode_contacts); a pair takes 48 bytes of the device's memory while its window is examined, and a row 32.
    ///
    /// # Errors
    /// As [`encode_intersections`](Self::encode_intersections); [`Error::Value`] where the duration is negative, NaN or infinite, and where
    /// [`SweepOptions::witness`] is set; [`Error::Count`] where the number of motions is not that of the bodies; for motions from the host
    /// the errors of [`sweeps`](Self::sweeps), for a buffer [`Error::Invalid`] where it is too small or lacks the usage `STORAGE`.
    pub fn encode_sweeps(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        motions: DeviceMotions<'_>,
        pairs: DevicePairs<'_>,
        options: &SweepOptions,
        capacity: Capacity,
    ) -> Result<DeviceRows> {
        let &SweepOptions { duration, witness } = options;
        check_duration(duration)?;
        if witness {
            let allowed = "it must be false: the rows of an encoded sweep have no points";
            return Err(Error::value(Location::Argument, "witness", witness, allowed));
        }
        let (host, count): (&[Motion], usize) = match motions {
            DeviceMotions::Host(motions) => (motions, motions.len()),
            DeviceMotions::Buffer { count, .. } => (&[], count as usize),
        };
        let body_count = match bodies {
            DeviceBodies::Host(bodies) | DeviceBodies::HostF64 { bodies, .. } => bodies.len(),
            DeviceBodies::Buffer { count, .. } => count as usize,
            DeviceBodies::Poses { bodies, .. } => bodies.len(),
        };
        check_motions(body_count, count, host, duration)?;
        let packed: Vec<PackedMotion> = host.iter().map(|&motion| motion.into()).collect();
        let moves = Some(EncodedMotions { motions, packed: &packed, duration });
        // Pairs that may touch at the start, but are apart, have rows too.
        let kind = Kind { stages: &ENCODED_SWEEPS, margin: f32::MAX, with_depth: true, moves, clips: false };
        self.encode(encoder, bodies, pairs, capacity, kind)
    }

    fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        pairs: DevicePairs<'_>,
        capacity: Capacity,
        kind: Kind<'_>,
    ) -> Result<DeviceRows> {
        let columns = match bodies {
            DeviceBodies::Host(bodies) => BodyColumns::new(bodies),
            DeviceBodies::HostF64 { bodies, positions } => {
                BodyColumns { positions, ..BodyColumns::new(bodies) }
            }
            // Their positions are the caller's.
            DeviceBodies::Buffer { .. } => {
                let (arena, none) = (self.about_point(DVec3::ZERO)?, BodyColumns::default());
                return arena.encode_about(encoder, bodies, &none, pairs, capacity, kind);
            }
            DeviceBodies::Poses { bodies: laid_out, .. } => {
                if !self.is_same(&laid_out.arena) {
                    let message =
                        "the bodies were laid out by another arena, or before its hulls or options changed";
                    return Err(Error::invalid(Location::Argument, message));
                }
                let none = BodyColumns::default();
                return laid_out.arena.encode_about(encoder, bodies, &none, pairs, capacity, kind);
            }
        };
        let bodies = DeviceBodies::Host(columns.bodies);
        self.about(&columns)?.encode_about(encoder, bodies, &columns, pairs, capacity, kind)
    }

    fn encode_about(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        columns: &BodyColumns<'_>,
        pairs: DevicePairs<'_>,
        capacity: Capacity,
        kind: Kind<'_>,
    ) -> Result<DeviceRows> {
        let Some(gpu) = &self.gpu else {
            return Err(Error::NoGpu {
                message: "the CPU engine can't encode into a command encoder".to_owned(),
            });
        };
        let Kind { stages, margin, with_depth, moves, clips } = kind;
        if !gpu.can_run(stages.rows_have_data) {
            let message = "a hull has too many vertices for a software rasteriser, which ends long loops early: \
                           simplify the hull, or use the queries that are not encoded";
            return Err(Error::invalid(Location::Argument, message));
        }
        // Input from the host is checked as for any other query.
        let host = columns.bodies;
        let count = match bodies {
            DeviceBodies::Buffer { count, .. } => count as usize,
            DeviceBodies::Poses { bodies, .. } => bodies.len(),
            DeviceBodies::Host(_) | DeviceBodies::HostF64 { .. } => host.len(),
        };
        let laid_out = match bodies {
            DeviceBodies::Poses { bodies, .. } => Some(&bodies.layout),
            _ => None,
        };
        let origin = self.statics.as_ref().and_then(|statics| statics.origin);
        let packed = if columns.positions.is_empty() && origin.is_none() {
            self.pack(host)?
        } else {
            let origin = origin.unwrap_or_else(|| origin_of(columns, &self.scene.supports));
            self.pack_columns(columns, origin)?
        };
        if let DevicePairs::Given(pairs) = pairs {
            let half_space = |body: u32| {
                if let Some(layout) = laid_out {
                    return layout.planes.binary_search(&body).is_ok();
                }
                let of_static = || self.statics().get((body as usize).checked_sub(count)?);
                let hull = host.get(body as usize).or_else(of_static).map(|body| body.hull as usize);
                hull.is_some_and(|hull| self.scene.supports.records[hull].half_space != 0)
            };
            check(pairs, count + self.statics().len(), true, half_space)?;
        }
        let statics = gpu.statics();
        let is_exhaustive = matches!(pairs, DevicePairs::Exhaustive);
        if statics.is_some() && is_exhaustive {
            return Err(Error::Count {
                at: Location::Argument,
                what: "statics",
                given: self.statics().len() as u64,
                allowed:
                    "an encoded query that examines all pairs meets none; the broad phase and given pairs do"
                        .to_owned(),
            });
        }
        if is_exhaustive && laid_out.is_some_and(|layout| layout.tables.is_some()) {
            let message = "worlds, owners and exclusions hold for pairs from the broad phase; an encoded query that examines all pairs \
                           has none";
            return Err(Error::invalid(Location::Argument, message));
        }
        let is_plane = |body: &PackedBody| self.scene.supports.records[body.hull as usize].half_space != 0;
        let known = matches!(bodies, DeviceBodies::Host(_)) || !self.scene.has_half_space;
        let movers = (0..).zip(&packed).filter(|(_, body)| is_plane(body)).map(|(id, _)| id);
        let static_planes = self.statics.iter().flat_map(|statics| statics.boxes.planes());
        let planes: Vec<u32> = movers.chain(static_planes.map(|id| packed.len() as u32 + id)).collect();
        let planes = match laid_out {
            Some(layout) => Some(&layout.planes[..]),
            None => known.then_some(&planes[..]),
        };
        let features = if clips { Some(gpu.features(&self.scene)?) } else { None };
        let query = EncodedQuery {
            stages,
            margin,
            with_depth,
            bodies,
            packed: &packed,
            moves,
            features,
            statics,
            planes,
            pairs,
            capacity,
        };
        query.run(gpu, encoder)
    }
}

/// What an encoded query computes.
struct Kind<'a> {
    stages: &'static Stages,
    /// World units.
    margin: f32,
    with_depth: bool,
    moves: Option<EncodedMotions<'a>>,
    /// Whether rows have the points of manifolds.
    clips: bool,
}

const _: () = assert!(size_of::<IntersectionRow>() == 12 && size_of::<MeasuredRow>() == 48);
const _: () = assert!(size_of::<SweptRow>() == 32 && size_of::<ManifoldRow>() == 112);
