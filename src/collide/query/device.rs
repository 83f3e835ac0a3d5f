//! Queries whose bodies, pairs and answers stay on the device, in the caller's own buffers and command encoder.

use crate::collide::narrow_phase::kernels::{MEASURES, Stages, VERDICTS};
use crate::collide::query::arena::{Arena, check_margin};
use crate::collide::query::device_rows::{IntersectionRow, MeasuredRow};
use crate::collide::query::encoded::{Capacity, DeviceBodies, DevicePairs, DeviceRows};
use crate::collide::query::gpu::device::EncodedQuery;
use crate::collide::query::options::{ContactOptions, DistanceOptions};
use crate::collide::scene::body::Body;
use crate::collide::scene::packed_body::PackedBody;
use crate::collide::scene::pairs::check;
#[cfg(doc)]
use crate::engine::Engine;
use crate::error::{Error, Location, Result};

impl Arena {
    /// Checks bodies and lays them out as kernels read them, for [`DeviceBodies::Buffer`].
    ///
    /// # Errors
    /// As [`intersections`](Self::intersections).
    pub fn pack(&self, bodies: &[Body]) -> Result<Vec<PackedBody>> {
        bodies.iter().enumerate().map(|(row, body)| body.pack(row, &self.scene.supports)).collect()
    }

    /// [`intersections`](Self::intersections) as a part of the caller's own frame: its kernels go into `encoder`, and the
    /// rows ([`IntersectionRow`]s) stay on the device.
    ///
    /// Nothing runs before the caller submits the encoder, and nothing is settled in f64: pairs that f32 cannot decide are listed with
    /// status 3. Rows and pairs beyond the capacity are counted, but not kept. The encoder must belong to the engine's device: see
    /// [`Engine::from_device`]. [`DevicePairs::BroadPhase`] pairs half-spaces only where the bodies come from the host. The example
    /// `your_own_device` shows a whole frame.
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
    /// [`Error::NoGpu`] on the CPU engine; [`Error::TooMany`] where one binding does not hold the pairs, [`Error::MemoryLimit`] where one
    /// does not hold the bodies or the hulls; for bodies and pairs from the host the errors of [`intersections`](Self::intersections);
    /// [`Error::Invalid`] where a buffer is too small or lacks the usage `STORAGE`; [`Error::Count`] where the arena has statics and bodies
    /// or pairs come from a buffer, or all pairs are examined; [`Error::MemoryLimit`], [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn encode_intersections(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        pairs: DevicePairs<'_>,
        capacity: Capacity,
    ) -> Result<DeviceRows> {
        self.encode(encoder, bodies, pairs, capacity, (&VERDICTS, 0.0, false))
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
        self.encode(encoder, bodies, pairs, capacity, (&MEASURES, options.margin, false))
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
        self.encode(encoder, bodies, pairs, capacity, (&MEASURES, options.margin, true))
    }

    fn encode(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        bodies: DeviceBodies<'_>,
        pairs: DevicePairs<'_>,
        capacity: Capacity,
        (stages, margin, with_depth): (&'static Stages, f32, bool),
    ) -> Result<DeviceRows> {
        let Some(gpu) = &self.gpu else {
            return Err(Error::NoGpu {
                message: "the CPU engine can't encode into a command encoder".to_owned(),
            });
        };
        // Input from the host is checked as for any other query.
        let (host, count): (&[Body], usize) = match bodies {
            DeviceBodies::Host(bodies) => (bodies, bodies.len()),
            DeviceBodies::Buffer { count, .. } => (&[], count as usize),
        };
        let packed = self.pack(host)?;
        if let DevicePairs::Given(pairs) = pairs {
            let half_space = |body: u32| {
                let of_static = || self.statics().get((body as usize).checked_sub(count)?);
                let hull = host.get(body as usize).or_else(of_static).map(|body| body.hull as usize);
                hull.is_some_and(|hull| self.scene.supports.records[hull].half_space != 0)
            };
            check(pairs, count + self.statics().len(), true, half_space)?;
        }
        let statics = gpu.statics();
        let is_near_or_given = matches!(pairs, DevicePairs::BroadPhase | DevicePairs::Given(_));
        if statics.is_some() && !(is_near_or_given && matches!(bodies, DeviceBodies::Host(_))) {
            return Err(Error::Count {
                at: Location::Argument,
                what: "statics",
                given: self.statics().len() as u64,
                allowed: "an encoded query meets them only with bodies from the host and with pairs from the broad \
                          phase or given by the host"
                    .to_owned(),
            });
        }
        let is_plane = |body: &PackedBody| self.scene.supports.records[body.hull as usize].half_space != 0;
        let known = matches!(bodies, DeviceBodies::Host(_)) || !self.scene.has_half_space;
        let movers = (0..).zip(&packed).filter(|(_, body)| is_plane(body)).map(|(id, _)| id);
        let static_planes = self.statics.iter().flat_map(|statics| statics.boxes.planes());
        let planes: Vec<u32> = movers.chain(static_planes.map(|id| packed.len() as u32 + id)).collect();
        let planes = known.then_some(&planes[..]);
        EncodedQuery { stages, margin, with_depth, bodies, packed: &packed, statics, planes, pairs, capacity }
            .run(gpu, encoder)
    }
}

const _: () = assert!(size_of::<IntersectionRow>() == 12 && size_of::<MeasuredRow>() == 48);
