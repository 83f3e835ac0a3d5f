//! Bodies that are laid out on the device once, for queries whose poses come from a buffer of the caller's.

use glam::DVec3;

use crate::collide::query::arena::Arena;
use crate::collide::query::gpu::poses::GpuLayout;
use crate::collide::query::gpu::rules::{DeviceIds, RuleTables};
use crate::collide::scene::columns::BodyColumns;
use crate::collide::scene::ray_columns::check_f64;
use crate::collide::scene::rules::OrderedRules;
use crate::error::{Error, Location, Result};

/// Bodies on the device without their poses: [`Arena::lay_out`] makes it, [`DeviceBodies::Poses`](crate::collide::DeviceBodies::Poses) takes it.
///
/// It holds all that a pose does not change: hulls, scales, paddings, groups and masks, and which pairs may meet.
#[derive(Debug)]
pub struct LaidOutBodies {
    /// The arena, with its statics about the origin of the poses.
    pub(crate) arena: Arena,
    pub(crate) layout: GpuLayout,
}

impl LaidOutBodies {
    /// How many bodies there are.
    pub fn len(&self) -> usize {
        self.layout.bodies.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Arena {
    /// Lays bodies out on the device once, for encoded queries that take only their poses: see
    /// [`DeviceBodies::Poses`](crate::collide::DeviceBodies::Poses).
    ///
    /// The poses of `bodies` themselves are checked and not used. `origin`, in world units, is the point about which the poses of queries will
    /// be; the arena's statics are laid out about it. Without statics it has no effect. Far from the world's origin choose one amid the bodies,
    /// as f32 holds small positions best; else choose `[0.0; 3]`.
    ///
    /// Worlds, owners and exclusions hold for pairs from the broad phase
    /// ([`DevicePairs::BroadPhase`](crate::collide::DevicePairs::BroadPhase)). Given pairs ignore them. The result is for this arena and its
    /// clones as they are now: hulls that are added later, or other options, need another one.
    ///
    /// ```
    /// use hullfield::Engine;
    /// use hullfield::collide::{Arena, Body, BodyColumns, BodyPose, Capacity, DeviceBodies, DevicePairs, Hull, Options};
    ///
    /// let engine = Engine::auto()?;
    /// let arena = Arena::new(&engine, &[Hull::ball(1.0)?], Options::default())?;
    /// let bodies = [Body::new(0), Body::new(0).at([1.5, 0.0, 0.0]), Body::new(0)];
    /// if let Some((device, queue)) = engine.device() {
    ///     let columns = BodyColumns { worlds: &[0, 0, 1], ..BodyColumns::new(&bodies) };
    ///     let laid_out = arena.lay_out(columns, [0.0; 3])?;
    ///     // A kernel of your own writes the poses from now on.
    ///     let poses = device.create_buffer(&wgpu::BufferDescriptor {
    ///         label: None,
    ///         size: (bodies.len() * size_of::<BodyPose>()) as u64,
    ///         usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
    ///         mapped_at_creation: false,
    ///     });
    ///     let first: Vec<BodyPose> = bodies.iter().map(BodyPose::from).collect();
    ///     queue.write_buffer(&poses, 0, bytemuck::cast_slice(&first));
    ///     let mut encoder = device.create_command_encoder(&Default::default());
    ///     let capacity = Capacity { pairs: 1000, rows: 1000 };
    ///     let posed = DeviceBodies::Poses { bodies: &laid_out, poses: &poses };
    ///     let found = arena.encode_intersections(&mut encoder, posed, DevicePairs::BroadPhase, capacity)?;
    ///     queue.submit([encoder.finish()]);
    ///     // No pose was refused.
    ///     assert!(found.read_invalid_poses()?.wait()?.is_empty());
    /// }
    /// # Ok::<(), hullfield::Error>(())
    /// ```
    ///
    /// # Cost
    /// As packing and uploading the bodies once. It keeps 80 bytes a body on the device, and 4 to 12 more where there are worlds, owners or
    /// exclusions.
    ///
    /// # Errors
    /// [`Error::NoGpu`] on the CPU engine; the errors of [`intersections`](Self::intersections) for bodies and of [`BodyColumns`];
    /// [`Error::Invalid`] at its [`Location::Body`] where the worlds of the bodies do not ascend, and where there is a column of positions;
    /// [`Error::Value`] where a coordinate of the origin is not finite or above 1e18; [`Error::MemoryLimit`] where one binding does not hold
    /// the bodies and the statics; [`Error::OutOfMemory`], [`Error::DeviceLost`].
    pub fn lay_out<'a>(&self, bodies: impl Into<BodyColumns<'a>>, origin: [f64; 3]) -> Result<LaidOutBodies> {
        self.lay_out_inner(bodies.into(), origin)
    }

    fn lay_out_inner(&self, columns: BodyColumns<'_>, origin: [f64; 3]) -> Result<LaidOutBodies> {
        check_f64(Location::Argument, "origin", &origin)?;
        columns.check()?;
        if !columns.positions.is_empty() {
            let message = "positions in f64 have no use here: the poses of a query say where its bodies are";
            return Err(Error::invalid(Location::Argument, message));
        }
        let arena = self.about_point(DVec3::from(origin))?.into_owned();
        let Some(gpu) = &arena.gpu else {
            return Err(Error::NoGpu { message: "the CPU engine has no buffers of poses".to_owned() });
        };
        if let Some(row) = columns.worlds.windows(2).position(|worlds| worlds[1] < worlds[0]) {
            let (world, before) = (columns.worlds[row + 1], columns.worlds[row]);
            let message = format!(
                "it is in world {world}, the body before it in world {before}; bodies on the device come in the order of their worlds"
            );
            return Err(Error::invalid(Location::Body(row + 1), message));
        }
        let packed = self.pack(columns.bodies)?;
        let (count, static_count) = (packed.len(), arena.statics().len());
        let records = &arena.scene.supports.records;
        let hulls = columns.bodies.iter().chain(arena.statics()).map(|body| body.hull as usize);
        let planes: Vec<u32> =
            (0..).zip(hulls).filter(|&(_, hull)| records[hull].half_space != 0).map(|(id, _)| id).collect();
        let rules = match columns.has_rules() {
            true => OrderedRules::new(&columns, static_count)?.rules,
            false => Default::default(),
        };
        let ids = DeviceIds { rows: 0..count, columns: count..count + static_count };
        let tables = (!rules.allow_all()).then(|| RuleTables::new(&rules, &planes, &ids));
        let layout = GpuLayout::new(gpu, &packed, planes, tables)?;
        Ok(LaidOutBodies { layout, arena })
    }
}
