//! The GPU engine's verdicts, which stay on the device: bodies are uploaded once a frame, judged, marked and drawn there. What the page's
//! tables show comes back some frames later.

use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use hullfield::collide::{
    Arena, Capacity, DEVICE_WGSL, DeviceBodies, DeviceCounts, DevicePairs, DeviceRows, IntersectionRow,
    PackedBody,
};
use hullfield::wgpu;
use hullfield::{Error, Location};
use web_time::Instant;

use crate::playground::collide::verdicts::{Counts, Row};

const VERDICTS_WGSL: &str = include_str!("../../../shaders/verdicts.wgsl");

/// The most frames whose numbers have not come back; while there are as many, no other is begun, so that a slow device is not far behind.
const MOST_LATE: usize = 3;
/// The most groups of a dispatch; a thread takes several rows where that is not enough.
const MOST_GROUPS: u32 = 1024;
/// Timestamps: before the query, after the marks, after the picture.
const STAMPS: u32 = 4;
/// What every readback has: `DeviceCounts`, the tally, the timestamps.
const HEAD_BYTES: u64 = 32 + 32 + 8 * STAMPS as u64;

/// The buffers for a number of bodies.
#[derive(Debug)]
struct Crowd {
    count: u32,
    bodies: wgpu::Buffer,
    met: wgpu::Buffer,
    marks: wgpu::Buffer,
}

/// What the GPU's clock measures.
#[derive(Debug)]
struct Stamps {
    set: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Milliseconds of a tick.
    period: f64,
}

/// A readback that is under way.
#[derive(Debug)]
struct Late {
    staging: wgpu::Buffer,
    mapped: Mapped,
    submitted: Instant,
    row_room: u32,
    ticket: Option<u32>,
}

/// Where the callback of a mapping leaves its result: it must be `Send` on some targets.
#[derive(Debug, Clone, Default)]
struct Mapped(Arc<Mutex<Mapping>>);

/// Whether it went well, and when, once it is there; who waits for it.
type Mapping = (Option<(bool, Instant)>, Option<Waker>);

impl Mapped {
    fn start(staging: &wgpu::Buffer) -> Self {
        let mapped = Self::default();
        let result = mapped.clone();
        staging.map_async(wgpu::MapMode::Read, .., move |outcome| {
            let mut shared = result.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            shared.0 = Some((outcome.is_ok(), Instant::now()));
            if let Some(waker) = shared.1.take() {
                waker.wake();
            }
        });
        mapped
    }

    fn get(&self) -> Option<(bool, Instant)> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    async fn wait(&self) -> bool {
        std::future::poll_fn(|context| {
            let mut shared = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            match shared.0 {
                Some((is_good, _)) => Poll::Ready(is_good),
                None => {
                    shared.1 = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// What came back of a frame.
#[derive(Debug, Clone, Default)]
pub(super) struct Report {
    pub(super) counts: Counts,
    /// Whether all pairs and rows had room. Where not, the next frames have more.
    pub(super) is_whole: bool,
    /// Milliseconds of the query and the marks, and of the picture, by the GPU's clock.
    pub(super) judge_ms: Option<f64>,
    pub(super) draw_ms: Option<f64>,
    /// Milliseconds from the submission until the numbers were there.
    pub(super) read_ms: f64,
    /// The rows, sorted by their bodies, where the frame was asked for them by this ticket.
    pub(super) rows: Option<(u32, Vec<Row>)>,
}

/// The GPU engine's judge.
#[derive(Debug)]
pub(super) struct Judge {
    arena: Arena,
    device: wgpu::Device,
    queue: wgpu::Queue,
    layout: wgpu::BindGroupLayout,
    kernels: [wgpu::ComputePipeline; 2],
    tally: wgpu::Buffer,
    stamps: Option<Stamps>,
    crowd: Option<Crowd>,
    capacity: Capacity,
    /// The rows of the frame that is being encoded.
    found: Option<DeviceRows>,
    late: Vec<Late>,
}

fn buffer(device: &wgpu::Device, size: u64, usage: wgpu::BufferUsages) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

impl Judge {
    /// A judge on the device of an arena of a GPU engine.
    ///
    /// # Errors
    /// [`Error::NoGpu`] where its engine has no device.
    pub(super) fn new(arena: Arena) -> hullfield::Result<Self> {
        use wgpu::BufferUsages as Usage;
        let Some((device, queue)) = arena.engine().device() else {
            return Err(Error::NoGpu { message: "the CPU engine has no device to judge on".to_owned() });
        };
        let (device, queue) = (device.clone(), queue.clone());
        let entry = |binding| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: binding < 2 },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let entries = [0, 1, 2, 3, 4].map(entry);
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("verdicts"),
            entries: &entries,
        });
        let pipeline_layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some("verdicts"),
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        });
        let source = wgpu::ShaderSource::Wgsl([DEVICE_WGSL, VERDICTS_WGSL].concat().into());
        let module =
            device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("verdicts"), source });
        let kernels = ["rows_main", "bodies_main"].map(|entry_point| {
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(entry_point),
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        });
        let has_clock = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let stamps = has_clock.then(|| Stamps {
            set: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stages"),
                ty: wgpu::QueryType::Timestamp,
                count: STAMPS,
            }),
            resolved: buffer(&device, 8 * u64::from(STAMPS), Usage::QUERY_RESOLVE | Usage::COPY_SRC),
            period: f64::from(queue.get_timestamp_period()) * 1e-6,
        });
        let tally = buffer(&device, 32, Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC);
        let (crowd, found, late) = (None, None, Vec::new());
        let capacity = Capacity { pairs: 0, rows: 0 };
        Ok(Self { arena, device, queue, layout, kernels, tally, stamps, crowd, capacity, found, late })
    }

    /// Makes room for this many bodies. Returns whether the buffers are new ones.
    pub(super) fn resize(&mut self, count: u32) -> bool {
        use wgpu::BufferUsages as Usage;
        if self.crowd.as_ref().is_some_and(|crowd| crowd.count == count) {
            return false;
        }
        // A binding can't be empty.
        let room = u64::from(count.max(1));
        let usage = Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC;
        self.crowd = Some(Crowd {
            count,
            bodies: buffer(&self.device, 80 * room, usage),
            met: buffer(&self.device, 4 * room, usage),
            marks: buffer(&self.device, 4 * room, usage),
        });
        // Time grows with the capacity. The tab's crowds have less than a pair a body; where one has more, the capacity grows.
        self.capacity = Capacity { pairs: (2 * count).max(1024), rows: count.max(1024) };
        true
    }

    /// The buffers of bodies and of marks, for drawing.
    pub(super) fn buffers(&self) -> Option<[&wgpu::Buffer; 2]> {
        self.crowd.as_ref().map(|crowd| [&crowd.bodies, &crowd.marks])
    }

    /// Hands the bodies of a frame to the device: its only copy from the host.
    pub(super) fn upload(&self, bodies: &[PackedBody]) {
        if let Some(crowd) = &self.crowd {
            self.queue.write_buffer(&crowd.bodies, 0, bytemuck::cast_slice(bodies));
        }
    }

    /// Encodes the query over the bodies and the kernels that mark them. The picture can be encoded after it.
    ///
    /// # Errors
    /// Those of [`Arena::encode_intersections`].
    pub(super) fn encode(&mut self) -> hullfield::Result<wgpu::CommandEncoder> {
        let Some(crowd) = &self.crowd else {
            return Err(Error::Invalid { at: Location::Argument, message: "there are no bodies".to_owned() });
        };
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.stamp(&mut encoder, [Some(0), None]);
        let bodies = DeviceBodies::Buffer { buffer: &crowd.bodies, count: crowd.count };
        let found =
            self.arena.encode_intersections(&mut encoder, bodies, DevicePairs::BroadPhase, self.capacity)?;
        encoder.clear_buffer(&crowd.met, 0, None);
        encoder.clear_buffer(&self.tally, 0, None);
        let group = |[rows, counts]: [wgpu::BufferBinding<'_>; 2]| {
            let own = [&crowd.met, &crowd.marks, &self.tally].map(wgpu::Buffer::as_entire_buffer_binding);
            let entries: Vec<_> = (0..)
                .zip([rows, counts].into_iter().chain(own))
                .map(|(binding, part)| wgpu::BindGroupEntry {
                    binding,
                    resource: wgpu::BindingResource::Buffer(part),
                })
                .collect();
            let layout = &self.layout;
            self.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: None,
                layout,
                entries: &entries,
            })
        };
        let writes = self.stamps.as_ref().map(|stamps| wgpu::ComputePassTimestampWrites {
            query_set: &stamps.set,
            beginning_of_pass_write_index: None,
            end_of_pass_write_index: Some(1),
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("verdicts"),
            timestamp_writes: writes,
        });
        let groups = |threads: u32| threads.div_ceil(64).clamp(1, MOST_GROUPS);
        for part in found.parts() {
            pass.set_pipeline(&self.kernels[0]);
            pass.set_bind_group(0, &group([part.rows(), part.counts()]), &[]);
            pass.dispatch_workgroups(groups(self.capacity.rows), 1, 1);
        }
        pass.set_pipeline(&self.kernels[1]);
        pass.dispatch_workgroups(groups(crowd.count), 1, 1);
        drop(pass);
        self.found = Some(found);
        Ok(encoder)
    }

    /// A pass that does nothing but note the time.
    fn stamp(&self, encoder: &mut wgpu::CommandEncoder, [begin, end]: [Option<u32>; 2]) {
        if let Some(stamps) = &self.stamps {
            drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: None,
                timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                    query_set: &stamps.set,
                    beginning_of_pass_write_index: begin,
                    end_of_pass_write_index: end,
                }),
            }));
        }
    }

    /// Starts the readback of a frame whose encoder is submitted: the numbers, and with a ticket the rows. Returns whether it did.
    pub(super) fn read(&mut self, ticket: Option<u32>) -> bool {
        let Some(found) = self.found.take() else { return false };
        if !self.can_read() {
            return false;
        }
        // As many rows as the capacity has, as their number is not known here.
        let row_room = if ticket.is_some() { self.capacity.rows } else { 0 };
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = buffer(&self.device, HEAD_BYTES + 12 * u64::from(row_room), usage);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        self.stamp(&mut encoder, [Some(2), Some(3)]);
        let counts = found.counts();
        encoder.copy_buffer_to_buffer(counts.buffer, counts.offset, &staging, 0, Some(32));
        encoder.copy_buffer_to_buffer(&self.tally, 0, &staging, 32, Some(32));
        if let Some(stamps) = &self.stamps {
            encoder.resolve_query_set(&stamps.set, 0..STAMPS, &stamps.resolved, 0);
            encoder.copy_buffer_to_buffer(&stamps.resolved, 0, &staging, 64, Some(8 * u64::from(STAMPS)));
        }
        let mut begin = HEAD_BYTES;
        for part in found.parts().iter().take(if row_room > 0 { usize::MAX } else { 0 }) {
            let rows = part.rows();
            let size = rows.size.map_or(rows.buffer.size() - rows.offset, |size| size.get());
            let size = size.min(HEAD_BYTES + 12 * u64::from(row_room) - begin);
            encoder.copy_buffer_to_buffer(rows.buffer, rows.offset, &staging, begin, Some(size));
            begin += size;
        }
        self.queue.submit([encoder.finish()]);
        let mapped = Mapped::start(&staging);
        self.late.push(Late { staging, mapped, submitted: Instant::now(), row_room, ticket });
        true
    }

    /// Submits a frame without a picture.
    pub(super) fn submit(&self, encoder: wgpu::CommandEncoder) {
        self.queue.submit([encoder.finish()]);
    }

    /// Whether the next frame can be read.
    pub(super) fn can_read(&self) -> bool {
        self.late.len() < MOST_LATE
    }

    /// Whether readbacks are under way.
    pub(super) fn is_reading(&self) -> bool {
        !self.late.is_empty()
    }

    /// The first report that has come back, if one has.
    pub(super) fn take(&mut self) -> Option<Report> {
        let (is_good, when) = self.late.first()?.mapped.get()?;
        let late = self.late.remove(0);
        if is_good { self.decode(&late, when) } else { None }
    }

    /// Waits for the report of the last frame that was read.
    pub(super) async fn wait(&mut self) -> Option<Report> {
        let late = self.late.pop()?;
        #[cfg(not(target_arch = "wasm32"))]
        self.device.poll(wgpu::PollType::wait_indefinitely()).ok()?;
        if !late.mapped.wait().await {
            return None;
        }
        self.decode(&late, Instant::now())
    }

    fn decode(&mut self, late: &Late, when: Instant) -> Option<Report> {
        let bytes = late.staging.get_mapped_range(..).ok()?.to_vec();
        late.staging.unmap();
        let counts: DeviceCounts = bytemuck::pod_read_unaligned(bytes.get(..32)?);
        let tally: [u32; 8] = bytemuck::pod_read_unaligned(bytes.get(32..64)?);
        let stamps: [u64; STAMPS as usize] =
            bytemuck::pod_read_unaligned(bytes.get(64..HEAD_BYTES as usize)?);
        if counts.overflow & 1 != 0 {
            self.capacity.rows = self.capacity.rows.max(grown(counts.row_count));
        }
        if counts.overflow & 2 != 0 {
            self.capacity.pairs = self.capacity.pairs.max(grown(counts.pair_count));
            // There may be as many more rows.
            self.capacity.rows = self.capacity.rows.max(self.capacity.pairs / 4);
        }
        let between = |begin: usize, end: usize| {
            let period = self.stamps.as_ref()?.period;
            // Some drivers give no times for a pass without kernels.
            let ticks = stamps[end].checked_sub(stamps[begin]).filter(|_| stamps[begin] > 0)?;
            Some(ticks as f64 * period)
        };
        let is_whole = counts.overflow == 0;
        let rows = late.ticket.filter(|_| is_whole).map(|ticket| {
            let all = bytes[HEAD_BYTES as usize..].chunks_exact(size_of::<IntersectionRow>());
            let rows: Vec<Row> = all
                .take(counts.row_count.min(late.row_room) as usize)
                .map(|row| {
                    let row: IntersectionRow = bytemuck::pod_read_unaligned(row);
                    [row.a, row.b, row.status]
                })
                .collect();
            (ticket, rows)
        });
        let [b0, b1, b2, b3, p0, p1, p2, p3] = tally;
        Some(Report {
            counts: Counts {
                bodies: [b0, b1, b2, b3],
                pairs: [p0, p1, p2, p3],
                candidates: counts.pair_count.into(),
            },
            is_whole,
            judge_ms: between(0, 1),
            draw_ms: between(1, 2),
            read_ms: when.duration_since(late.submitted).as_secs_f64() * 1e3,
            rows,
        })
    }
}

/// A capacity that leaves room for the next frames.
fn grown(count: u32) -> u32 {
    count.saturating_add(count / 2).saturating_add(1024).min(1 << 26)
}

#[cfg(test)]
mod tests {
    use hullfield::Engine;
    use hullfield::collide::Options;
    use naga::valid::{Capabilities, ValidationFlags, Validator};

    use super::*;
    use crate::playground::collide::settings::Settings;
    use crate::playground::collide::shapes::Shapes;
    use crate::playground::collide::verdicts::Verdicts;
    use crate::playground::collide::world::World;

    #[test]
    fn naga_and_tint_accept_the_kernels() {
        let source = [DEVICE_WGSL, VERDICTS_WGSL].concat();
        let module = naga::front::wgsl::parse_str(&source)
            .unwrap_or_else(|error| panic!("{}", error.emit_to_string(&source)));
        Validator::new(ValidationFlags::all(), Capabilities::default()).validate(&module).unwrap();
        let file = std::env::temp_dir().join(format!("hullfield-web-{}-verdicts.wgsl", std::process::id()));
        std::fs::write(&file, &source).unwrap();
        let run = std::process::Command::new("tint").args(["--format", "wgsl"]).arg(&file).output();
        std::fs::remove_file(&file).unwrap();
        match run {
            Ok(run) => assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr)),
            Err(_) => eprintln!("tint is not installed: skipped"),
        }
    }

    /// The engine of an adapter of this machine.
    fn engine() -> Option<Engine> {
        let engine = Engine::gpu().ok();
        assert!(
            engine.is_some() || std::env::var_os("HULLFIELD_REQUIRE_GPU").is_none(),
            "there is no adapter, but HULLFIELD_REQUIRE_GPU is set"
        );
        if engine.is_none() {
            eprintln!("there is no adapter: skipped");
        }
        engine
    }

    #[test]
    fn the_device_marks_and_counts_as_the_cpu_does() {
        let Some(engine) = engine() else { return };
        let shapes = Shapes::new().unwrap();
        let cpu = Arena::new(&Engine::cpu(), &shapes.hulls, Options::default()).unwrap();
        let arena = Arena::new(&engine, &shapes.hulls, Options::default()).unwrap();
        let mut judge = Judge::new(arena.clone()).unwrap();
        for count in [1, 64, 700] {
            let world = World::new(&Settings { count, ..Settings::default() }, &shapes);
            assert!(judge.resize(count));
            if count == 700 {
                // Too little: the next frame has more.
                judge.capacity = Capacity { pairs: 40, rows: 3 };
            }
            judge.upload(&arena.pack(&world.bodies).unwrap());
            let mut frames = 0;
            let report = loop {
                frames += 1;
                let encoder = judge.encode().unwrap();
                judge.submit(encoder);
                assert!(judge.read(Some(7)));
                let report = pollster::block_on(judge.wait()).unwrap();
                if report.is_whole || frames == 9 {
                    break report;
                }
                assert!(report.rows.is_none());
            };
            assert_eq!(frames > 1, count == 700, "{frames}");
            let expected = Verdicts::of_cpu(&cpu, &world.bodies).unwrap();
            let (ticket, rows) = report.rows.unwrap();
            assert_eq!((ticket, rows.iter().filter(|row| row[2] == 3).count()), (7, 0));
            assert_eq!(report.counts, expected.counts);
            assert_eq!(
                Verdicts::of_rows(count as usize, &rows, report.counts.candidates).marks,
                expected.marks
            );
            let marks = judge.crowd.as_ref().unwrap().marks.clone();
            assert_eq!(read_back(&judge, &marks), expected.marks);
        }
    }

    fn read_back(judge: &Judge, buffer: &wgpu::Buffer) -> Vec<u32> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = super::buffer(&judge.device, buffer.size(), usage);
        let mut encoder = judge.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, None);
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
        judge.queue.submit([encoder.finish()]);
        judge.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
        bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap())
    }
}
