//! A device with everything that outlives a frame: pools, pipelines, the submission queue, the thread that waits.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use web_time::Instant;

use crate::account::Account;
use crate::error::Result;
use crate::gpu::device::{Device, Origin};
use crate::gpu::form::Form;
use crate::gpu::kernel::{Kernel, Pipeline, Trust};
use crate::gpu::pool::Pool;
use crate::gpu::profile::Profiler;
use crate::gpu::submission_queue::SubmissionQueue;
use crate::gpu::timing::TimerPool;
use crate::lock::lock;

/// The pipeline of a kernel; none before it is built. Locked while it is being built.
type Built = Arc<Mutex<Option<Arc<Pipeline>>>>;

/// A handle of a device and of everything that goes with it.
#[derive(Clone)]
pub(crate) struct Context {
    shared: Arc<Shared>,
}

struct Shared {
    device: Device,
    pool: Arc<Pool>,
    pipelines: Mutex<HashMap<&'static str, Built>>,
    timers: TimerPool,
    profiler: Arc<Profiler>,
    submission_queue: Arc<SubmissionQueue>,
    /// Whether the caller submits work of its own to the queue.
    is_shared: AtomicBool,
    is_checked: AtomicBool,
    /// Whether kernels use subgroup operations.
    has_subgroups: AtomicBool,
    #[cfg(not(target_arch = "wasm32"))]
    waiter: crate::gpu::waiter::Waiter,
    /// The self-test of a device of the caller, which runs beside the first queries.
    #[cfg(target_arch = "wasm32")]
    self_test: Mutex<Option<crate::pending::Pending<()>>>,
}

/// A context has all methods of its device.
impl Deref for Context {
    type Target = Device;

    fn deref(&self) -> &Device {
        &self.shared.device
    }
}

impl Context {
    pub(crate) fn new(
        device: wgpu::Device,
        queue: wgpu::Queue,
        account: Arc<Account>,
        origin: Origin,
    ) -> Result<Self> {
        let device = Device::new(device, queue, Arc::clone(&account), origin)?;
        let shared = Shared {
            #[cfg(not(target_arch = "wasm32"))]
            waiter: crate::gpu::waiter::Waiter::new()?,
            timers: TimerPool::new(device.device(), device.queue()),
            profiler: Arc::new(Profiler::new(device.device(), device.queue())),
            submission_queue: SubmissionQueue::new(device.is_software()),
            is_shared: AtomicBool::new(origin == Origin::Given),
            is_checked: AtomicBool::new(!cfg!(feature = "trusted-shaders")),
            has_subgroups: AtomicBool::new(false),
            pool: Arc::new(Pool::new(account)),
            pipelines: Mutex::default(),
            #[cfg(target_arch = "wasm32")]
            self_test: Mutex::default(),
            device,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether both are handles of one device.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    pub(crate) fn adapter_name(&self) -> &str {
        &self.info().name
    }

    pub(crate) fn pool(&self) -> &Arc<Pool> {
        &self.shared.pool
    }

    pub(crate) fn timers(&self) -> &TimerPool {
        &self.shared.timers
    }

    pub(crate) fn profiler(&self) -> &Arc<Profiler> {
        &self.shared.profiler
    }

    pub(crate) fn submission_queue(&self) -> &Arc<SubmissionQueue> {
        &self.shared.submission_queue
    }

    /// Tells the context that the caller may submit work of its own from now on.
    pub(crate) fn share(&self) {
        self.shared.is_shared.store(true, Ordering::Relaxed);
    }

    /// Submits all queued frames where the caller submits work of its own, which may read what a frame
    /// [leaves](crate::gpu::frame::Frame::send) on the device. So the order of the device's queue is the order of the calls.
    pub(crate) fn flush_for_caller(&self) {
        if self.shared.is_shared.load(Ordering::Relaxed) {
            self.shared.submission_queue.flush();
        }
    }

    /// Waits for the frames in flight when the last engine is dropped. So the thread that drops the last handle takes the device
    /// down, not the thread that waits for frames. In a browser nothing may wait, and nothing has to.
    pub(crate) fn close(&self) {
        #[cfg(not(target_arch = "wasm32"))]
        self.shared.waiter.drain();
    }

    /// Whether the last engine is gone.
    #[cfg(test)]
    pub(crate) fn is_closing(&self) -> bool {
        self.shared.waiter.is_closing()
    }

    /// Keeps the self-test going.
    #[cfg(target_arch = "wasm32")]
    pub(crate) fn hold(&self, self_test: Option<crate::pending::Pending<()>>) {
        *lock(&self.shared.self_test) = self_test;
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn waiter(&self) -> &crate::gpu::waiter::Waiter {
        &self.shared.waiter
    }

    /// Which form of its kernels the device runs.
    pub(crate) fn form(&self) -> Form {
        if self.shared.has_subgroups.load(Ordering::Relaxed) { Form::Subgroups } else { Form::Plain }
    }

    /// For tests: chooses by hand, where the device has subgroup operations.
    pub(crate) fn set_subgroups(&self, are_used: bool) {
        let has = self.device().features().contains(wgpu::Features::SUBGROUP);
        self.set_form(if has && are_used { Form::Subgroups } else { Form::Plain });
    }

    /// Chooses the form of the pipelines that are built from now on.
    pub(crate) fn set_form(&self, form: Form) {
        self.shared.has_subgroups.store(form == Form::Subgroups, Ordering::Relaxed);
    }

    /// What pipelines rely on: nothing, or a kernel's own trust with the feature `trusted-shaders`, or where a test asks for it.
    fn trust(&self, kernel: &Kernel) -> Trust {
        if self.shared.is_checked.load(Ordering::Relaxed) { Trust::Checked } else { kernel.trust }
    }

    /// For tests: whether pipelines that are built from now on have all checks.
    pub(crate) fn set_checked(&self, are_kept: bool) {
        self.shared.is_checked.store(are_kept, Ordering::Relaxed);
    }

    /// The pipeline of a kernel, built at its first use, and the milliseconds that building it took, or waiting for another
    /// thread that was building it.
    pub(crate) fn pipeline(&self, kernel: &'static Kernel) -> Result<(Arc<Pipeline>, f64)> {
        let place = Arc::clone(lock(&self.shared.pipelines).entry(kernel.label).or_default());
        if let Ok(built) = place.try_lock()
            && let Some(pipeline) = &*built
        {
            return Ok((Arc::clone(pipeline), 0.0));
        }
        let begin = Instant::now();
        let mut built = lock(&place);
        let pipeline = match &*built {
            Some(pipeline) => Arc::clone(pipeline),
            None => {
                let (form, trust) = (self.form(), self.trust(kernel));
                let pipeline = self.scoped(|| Pipeline::build(self.device(), kernel, form, trust))?;
                let pipeline = Arc::new(pipeline);
                self.account().pipelines_built.fetch_add(1, Ordering::Relaxed);
                *built = Some(Arc::clone(&pipeline));
                pipeline
            }
        };
        Ok((pipeline, begin.elapsed().as_secs_f64() * 1e3))
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Context").field("device", &self.shared.device).finish_non_exhaustive()
    }
}
