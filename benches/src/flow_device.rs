//! Flow fields and agents on the GPU: the time of the kernels by the device's clock, and of the whole solve, whose field stays
//! on the device. Every cell is compared with the CPU engine's before times are printed.
//!
//! A software adapter is called `software gpu` and gets small grids only: its times say nothing about a GPU.

use hullfield::flow::{Cell as At, Connectivity, Corners, Edit, Field, FieldOptions, Flow};
use hullfield::{Engine, Pending};
use hullfield_oracle::random::Random;

use crate::engines::{NamedEngine, engines};
use crate::error::{Trouble, message};
use crate::flow_scenes::{Scene, noise};
use crate::options::Options;
use crate::report::{Cell, Report, Table};
use crate::timing::{Samples, time};

/// A row of the table: a scene, the number of fields, and the target in milliseconds on an H200-class GPU.
struct Job {
    scene: Scene,
    field_count: usize,
    aim_ms: Option<f64>,
}

fn jobs(is_small: bool) -> Vec<Job> {
    let flat = |name: &str, side: usize, share: f64, connectivity, field_count: usize, aim_ms| {
        let mut scene = Scene::flat(&format!("{name} {side}²"), side, side, noise(side * side, share, 5));
        scene.connectivity = connectivity;
        Job { scene, field_count, aim_ms }
    };
    let eight = Connectivity::Eight(Corners::BothFree);
    let four = Connectivity::Four;
    if is_small {
        return vec![
            flat("20 %", 512, 0.2, four, 1, None),
            flat("20 %, octile", 192, 0.2, eight, 1, None),
            flat("20 %", 320, 0.2, four, 4, None),
            flat("20 %", 256, 0.2, four, 16, None),
            flat("20 %", 96, 0.2, four, 64, None),
        ];
    }
    // The target in Gcells/s as milliseconds.
    let aim = |side: usize, field_count: usize, gcells: f64| {
        Some((side * side * field_count) as f64 / gcells * 1e-6)
    };
    vec![
        flat("open", 4096, 0.0, four, 1, Some(2.0)),
        flat("20 %", 4096, 0.2, four, 1, Some(2.0)),
        flat("20 %", 1024, 0.2, four, 1, None),
        flat("20 %, octile", 1024, 0.2, eight, 1, Some(2.0)),
        flat("20 %", 512, 0.2, four, 256, aim(512, 256, 20.0)),
        flat("20 %", 256, 0.2, four, 1024, aim(256, 1024, 80.0)),
    ]
}

/// Adds the tables of the GPU.
///
/// # Errors
/// A field that cannot be solved.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<(), String> {
    let Some(NamedEngine { name, engine }) = engines(report).into_iter().find(|named| named.name != "cpu")
    else {
        return Ok(());
    };
    let mut table = Table::new(
        "flow_device",
        "Fields on the GPU: distances, next cells and exits, which stay there",
        &["engine", "grid", "fields", "rounds", "kernels ms", "solve ms", "Gcells/s", "aim ms"],
    );
    let is_small = options.quick || name == "software gpu";
    for job in jobs(is_small) {
        row(&mut table, report, name, &engine, &job, is_small)?;
    }
    table.note(
        "kernels: by the device's clock, from the first kernel to the last; Gcells/s by it, or by the solve where there is none; aim: \
         what is aimed at on an H200-class GPU",
    );
    report.table(table);
    edits(options, report, name, &engine, is_small)?;
    agents(options, report, name, &engine, is_small)
}

/// Adds the rows of updates after edits.
fn edits(
    options: &Options,
    report: &mut Report,
    name: &str,
    engine: &Engine,
    is_small: bool,
) -> Result<(), String> {
    let mut table = Table::new(
        "flow_device_edits",
        "A field on the GPU after an edit: updated, or solved afresh",
        &["engine", "grid", "edit", "share", "rounds", "afresh rounds", "ms", "afresh ms", "ratio"],
    );
    let side: usize = if is_small { 768 } else { 4096 };
    let repetitions = if options.quick { 1 } else { 7 };
    let eight = Connectivity::Eight(Corners::BothFree);
    for (kind, share, connectivity) in
        [("open", 0.0, Connectivity::Four), ("20 %", 0.2, Connectivity::Four), ("20 %, octile", 0.2, eight)]
    {
        let mut scene = Scene::flat(&format!("{kind} {side}²"), side, side, noise(side * side, share, 6));
        scene.connectivity = connectivity;
        let mut flow = Flow::new(engine, scene.grid()?).map_err(message)?;
        let mut on_host = Flow::new(&Engine::cpu(), scene.grid()?).map_err(message)?;
        let goals = [flow.grid().cell(scene.goal)];
        let solve = |flow: &Flow| flow.solve(&goals, &FieldOptions::default())?.wait();
        let mut field = solve(&flow).map_err(message)?;
        for (part, length) in [(75, side / 80), (92, side / 16)] {
            let cells: Vec<At> = (0..length)
                .map(|at| At::from([(side * part / 100) as i32, (side / 2 - length / 2 + at) as i32]))
                .collect();
            let mut samples = [[Samples::default(), Samples::default()], Default::default()];
            let mut reports = [(0, 0, 0); 2];
            for _ in 0..repetitions {
                for (is_open, [again, afresh]) in samples.iter_mut().enumerate() {
                    let edit = |&cell| if is_open == 1 { Edit::Free(cell) } else { Edit::Block(cell) };
                    let edits: Vec<Edit> = cells.iter().map(edit).collect();
                    flow.edit(&edits).map_err(message)?;
                    on_host.edit(&edits).map_err(message)?;
                    let (ms, fresh) = time(|| solve(&flow).map_err(message));
                    afresh.push(ms);
                    let fresh_rounds = fresh?.stats().rounds;
                    let before = field.distances().map_err(message)?.wait().map_err(message)?;
                    let (ms, updated) =
                        time(|| flow.update(&mut field).and_then(Pending::wait).map_err(message));
                    again.push(ms);
                    updated?;
                    let expected = solve(&on_host).map_err(message)?;
                    if !are_equal(&field, &expected).map_err(|trouble| trouble.to_string())? {
                        report.fail(format!("{}: an update differs on {name}", scene.name));
                    }
                    let after = expected.distances().map_err(message)?.wait().map_err(message)?;
                    let changed = before.iter().zip(&after).filter(|(one, other)| one != other).count();
                    reports[is_open] = (changed, field.stats().rounds, fresh_rounds);
                }
            }
            for (([again, afresh], (changed, rounds, fresh_rounds)), kind) in
                samples.iter().zip(reports).zip(["blocked", "freed"])
            {
                table.row([
                    name.into(),
                    scene.name.as_str().into(),
                    format!("{length} cells {kind}").into(),
                    Cell::Share(changed as f64 / (side * side) as f64, 3),
                    (rounds as usize).into(),
                    (fresh_rounds as usize).into(),
                    Cell::Number(again.median(), 2),
                    Cell::Number(afresh.median(), 2),
                    Cell::Number(afresh.ratio(again), 2),
                ]);
            }
        }
    }
    table.note("share: of the distances that change; rounds: that lower distances, besides those that invalidate; ratio: how many times as long as the update a fresh solve takes");
    report.table(table);
    Ok(())
}

/// Adds the rows of agents.
fn agents(
    options: &Options,
    report: &mut Report,
    name: &str,
    engine: &Engine,
    is_small: bool,
) -> Result<(), String> {
    let mut table = Table::new(
        "flow_device_agents",
        "Agents that stay on the GPU: a step of the whole crowd, encoded; paths, which come to the host",
        &["engine", "grid", "agents", "what", "device ms", "ms", "agents a second", "aim ms"],
    );
    let (side, count) = if options.quick { (128, 10_000) } else { (1024, 1_000_000) };
    let repetitions = if is_small { [4, 3] } else { [32, 15] };
    let AgentTimes { grid, step_device, step, paths, difference } =
        measure_agents(engine, side, count, repetitions)?;
    if let Some(difference) = difference {
        report.fail(format!("{grid}: {difference} on {name}"));
        return Ok(());
    }
    let mut row = |what: &str, count: usize, device: Option<f64>, ms: f64, aim: Option<f64>| {
        table.row([
            name.into(),
            grid.as_str().into(),
            count.into(),
            what.into(),
            device.map_or(Cell::Empty, |ms| Cell::Number(ms, 4)),
            Cell::Number(ms, 4),
            Cell::Number(count as f64 / device.unwrap_or(ms) * 1e3, 0),
            aim.map_or(Cell::Empty, |ms| Cell::Number(ms, 2)),
        ]);
    };
    let aim = (!is_small && count == 1_000_000).then_some(0.05);
    let stamped = Some(step_device.median()).filter(|ms| !ms.is_nan());
    row("a step", count, stamped, step.median(), aim);
    row("whole paths", count / 10, None, paths.median(), None);
    table.note("device: by its clock, a step in a row of steps; ms: of a step with its share of encoding and waiting");
    report.table(table);
    Ok(())
}

/// What agents on a field took.
pub(crate) struct AgentTimes {
    /// The name of the grid.
    pub(crate) grid: String,
    /// A step of all agents by the device's clock, and with its share of encoding and waiting.
    pub(crate) step_device: Samples,
    pub(crate) step: Samples,
    /// The paths of a tenth of the agents, which come to the host.
    pub(crate) paths: Samples,
    /// What differs from the CPU engine, before anything is timed.
    pub(crate) difference: Option<&'static str>,
}

/// Times agents on a field on the device, by the device's clock if it has one: so many steps in a row, so many times.
///
/// # Errors
/// An error of the library.
pub(crate) fn measure_agents(
    engine: &Engine,
    side: usize,
    count: usize,
    [step_count, repetitions]: [u32; 2],
) -> Result<AgentTimes, Trouble> {
    let scene = Scene::flat(&format!("20 % {side}²"), side, side, noise(side * side, 0.2, 5));
    let grid = scene.grid()?;
    let goals = [grid.cell(scene.goal)];
    let solve = |engine: &Engine| -> Result<(Flow, Field), Trouble> {
        let flow = Flow::new(engine, grid.clone())?;
        let field = flow.solve(&goals, &FieldOptions::default())?.wait()?;
        Ok((flow, field))
    };
    let ((flow, field), (_, known)) = (solve(engine)?, solve(&Engine::cpu())?);
    let random = &mut Random::new(12);
    let starts: Vec<At> = (0..count).map(|_| grid.cell(random.below(side * side))).collect();
    let mut expected = starts.clone();
    for _ in 0..3 {
        expected = known.next_cells(&expected)?.wait()?.rows;
    }
    let mut crowd = flow.agents(&starts)?;
    crowd.step(&field, 3)?;
    let is_same = crowd.cells()?.wait()? == expected;
    let some = &starts[..count / 10];
    let paths = known.paths(some)?.wait()?;
    let found = field.paths(some)?.wait()?;
    let difference = match (is_same, found.cells == paths.cells && found.lengths == paths.lengths) {
        (true, true) => None,
        (false, _) => Some("agents are not where the CPU engine has them"),
        (true, false) => Some("paths are not the CPU engine's"),
    };
    let [mut step_device, mut step, mut all] = [const { Samples::new() }; 3];
    for _ in 0..repetitions {
        // Agents start anew each time: at their goals they would have nothing to do.
        let mut crowd = flow.agents(&starts)?;
        let (ms, stamped) = time(|| {
            device_ms(engine, |encoder| {
                (0..step_count)
                    .try_for_each(|_| crowd.encode_steps(encoder, &field, 1))
                    .map_err(Trouble::from)
            })
        });
        step.push(ms / f64::from(step_count));
        if let Some(ms) = stamped? {
            step_device.push(ms / f64::from(step_count));
        }
    }
    for _ in 0..repetitions.min(3) {
        let (ms, found) = time(|| field.paths(some)?.wait());
        found?;
        all.push(ms);
    }
    Ok(AgentTimes { grid: scene.name, step_device, step, paths: all, difference })
}

/// The device time of encoded commands in milliseconds; none without timestamps.
///
/// # Errors
/// Those of `encode`, and of the device.
pub(crate) fn device_ms(
    engine: &Engine,
    encode: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<(), Trouble>,
) -> Result<Option<f64>, Trouble> {
    let (device, queue) = engine.device().ok_or("the engine has no device")?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let is_timed = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let queries = is_timed.then(|| {
        device.create_query_set(&wgpu::QuerySetDescriptor {
            label: None,
            ty: wgpu::QueryType::Timestamp,
            count: 2,
        })
    });
    let stamp = |encoder: &mut wgpu::CommandEncoder, index: u32| {
        let Some(queries) = &queries else { return };
        drop(encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: None,
            timestamp_writes: Some(wgpu::ComputePassTimestampWrites {
                query_set: queries,
                beginning_of_pass_write_index: (index == 0).then_some(0),
                end_of_pass_write_index: (index == 1).then_some(1),
            }),
        }));
    };
    stamp(&mut encoder, 0);
    encode(&mut encoder)?;
    stamp(&mut encoder, 1);
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage,
            mapped_at_creation: false,
        })
    };
    let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
    let staging = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
    if let Some(queries) = &queries {
        encoder.resolve_query_set(queries, 0..2, &resolved, 0);
        encoder.copy_buffer_to_buffer(&resolved, 0, &staging, 0, Some(16));
        encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
    }
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).map_err(message)?;
    if queries.is_none() {
        return Ok(None);
    }
    let view = staging.get_mapped_range(..).map_err(message)?;
    let word = |at: usize| {
        let bytes: [u8; 8] = view.get(at..at + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let ticks = word(0).zip(word(8)).and_then(|(begin, end)| end.checked_sub(begin));
    Ok(ticks.map(|ticks| ticks as f64 * f64::from(queue.get_timestamp_period()) * 1e-6))
}

fn row(
    table: &mut Table,
    report: &mut Report,
    name: &str,
    engine: &Engine,
    job: &Job,
    is_small: bool,
) -> Result<(), String> {
    let Job { scene, field_count, aim_ms } = job;
    let repetitions = if is_small { 3 } else { 15 };
    let found = measure_fields(engine, scene, *field_count, repetitions, true)?;
    if found.is_equal != Some(true) {
        report.fail(format!("{}: {name} gives another field than the CPU engine", scene.name));
        return Ok(());
    }
    let ms = found.kernels_ms().unwrap_or(found.whole.median());
    let cells = scene.blocked.len() * field_count;
    table.row([
        name.into(),
        scene.name.as_str().into(),
        (*field_count).into(),
        (found.rounds as usize).into(),
        found.kernels_ms().map_or(Cell::Empty, |ms| Cell::Number(ms, 3)),
        Cell::Number(found.whole.median(), 3),
        Cell::Number(cells as f64 / ms * 1e-6, 3),
        aim_ms.map_or(Cell::Empty, |ms| Cell::Number(ms, 2)),
    ]);
    Ok(())
}

/// What solving fields took.
pub(crate) struct FieldTimes {
    /// Of the first field.
    pub(crate) rounds: u32,
    /// By the device's clock; no samples without timestamps.
    pub(crate) kernels: Samples,
    /// From the call to the fields on the device.
    pub(crate) whole: Samples,
    /// Whether every cell is the CPU engine's; none where it was not compared.
    pub(crate) is_equal: Option<bool>,
    /// A solve by the CPU engine, if it was compared.
    pub(crate) cpu_ms: Option<f64>,
}

impl FieldTimes {
    /// The median by the device's clock, if it has one.
    pub(crate) fn kernels_ms(&self) -> Option<f64> {
        Some(self.kernels.median()).filter(|ms| !ms.is_nan())
    }
}

/// Solves fields over a scene on an engine, compares them with the CPU engine's if so asked, and times them. One field has the
/// scene's goal, many have a random goal each.
///
/// # Errors
/// An error of the library.
pub(crate) fn measure_fields(
    engine: &Engine,
    scene: &Scene,
    field_count: usize,
    repetitions: usize,
    is_compared: bool,
) -> Result<FieldTimes, Trouble> {
    let grid = scene.grid()?;
    let flow = Flow::new(engine, grid.clone())?;
    let random = &mut Random::new(8);
    let goals: Vec<[At; 1]> = match field_count {
        1 => vec![[grid.cell(scene.goal)]],
        count => {
            let free: Vec<usize> = (0..scene.blocked.len()).filter(|&at| !scene.blocked[at]).collect();
            (0..count).map(|_| [grid.cell(free[random.below(free.len())])]).collect()
        }
    };
    let lists: Vec<&[At]> = goals.iter().map(|goals| &goals[..]).collect();
    let solve = || flow.fields(&lists, &FieldOptions::default())?.wait();
    // The first solve builds the pipelines.
    let fields = solve()?;
    let (mut is_equal, mut cpu_ms) = (None, None);
    if is_compared {
        let on_cpu = Flow::new(&Engine::cpu(), grid)?;
        let (ms, known) = time(|| on_cpu.fields(&lists, &FieldOptions::default())?.wait());
        let known = known?;
        cpu_ms = Some(ms);
        let mut is_same = true;
        for (field, known) in fields.rows.iter().zip(&known.rows) {
            is_same &= are_equal(field, known)?;
        }
        is_equal = Some(is_same);
    }
    drop(fields);
    let mut found =
        FieldTimes { rounds: 0, kernels: Samples::new(), whole: Samples::new(), is_equal, cpu_ms };
    for _ in 0..repetitions {
        let (ms, fields) = time(solve);
        let fields = fields?;
        found.whole.push(ms);
        if let Some(field) = fields.rows.first() {
            found.rounds = field.stats().rounds;
            if let Some(ms) = field.stats().kernels_ms {
                found.kernels.push(ms);
            }
        }
    }
    Ok(found)
}

/// Whether two fields agree in every cell.
fn are_equal(field: &Field, known: &Field) -> Result<bool, Trouble> {
    let Some((distances, next)) = known.host() else { return Ok(false) };
    let ours = field.distances()?.wait()?;
    let codes = field.next_codes()?.wait()?;
    Ok(ours == distances && codes == next)
}
