//! Agents that follow fields on the device, compared with agents that follow the same field on the host. The tests pass
//! without a check if there is no adapter.

use hullfield::flow::{
    Agents, Cell, Connectivity, Corners, Field, FieldOptions, Flow, Grid, GridFrame, SteerOptions,
};
use hullfield::{Engine, Error, Location};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};

use crate::common::{gpu, gpu_of_bindings, own_gpu};
use crate::scenes::{self, CONNECTIVITIES_2D, CONNECTIVITIES_3D, Scene};

/// Caves with some goals.
fn scene(connectivity: Connectivity, size: [usize; 3], random: &mut Random) -> Scene {
    Scene::new("crowd", size, connectivity, scenes::caves(size, random)).random_goals(3, random)
}

fn all_cells(grid: &Grid) -> Vec<Cell> {
    (0..grid.cell_count()).map(|index| grid.cell(index)).collect()
}

fn size_of(connectivity: Connectivity) -> [usize; 3] {
    if connectivity.dimension() == 2 { [67, 80, 1] } else { [19, 12, 20] }
}

/// Compares all that agents ask of two fields.
fn compare(one: &Field, other: &Field, cells: &[Cell]) -> Result<(), String> {
    let ask = |field: &Field| {
        let step = field.next_cells(cells).unwrap().wait().unwrap().rows;
        let distances = field.distances_at(cells).unwrap().wait().unwrap().rows;
        let mut paths = field.paths(cells).unwrap().wait().unwrap();
        // Times always differ.
        paths.stats = Default::default();
        (step, paths, distances)
    };
    let ((step, paths, distances), (steps, all_paths, all_distances)) = (ask(one), ask(other));
    if let Some(row) = (0..cells.len()).find(|&row| step[row] != steps[row]) {
        return Err(format!("next cells of {}: {} and {}", cells[row], step[row], steps[row]));
    }
    if distances != all_distances {
        return Err("the distances differ".to_owned());
    }
    if let Some(row) = (0..cells.len())
        .find(|&row| paths.path(row) != all_paths.path(row) || paths.lengths[row] != all_paths.lengths[row])
    {
        return Err(format!(
            "paths from {}: {:?} and {:?}",
            cells[row],
            paths.path(row),
            all_paths.path(row)
        ));
    }
    if paths != all_paths { Err("the arrays of the paths differ".to_owned()) } else { Ok(()) }
}

#[test]
fn agents_follow_the_same_paths_on_both_engines() {
    let (Some(whole), Some(strips)) = (gpu(), gpu_of_bindings(32 << 10)) else { return };
    let random = &mut Random::new(seed(71));
    let turn = random.below(4);
    for (number, connectivity) in (turn..).zip(CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D)) {
        let mut scene = scene(connectivity, size_of(connectivity), random);
        if number % 2 == 0 {
            scene = scene.random_costs(9, random);
        }
        let known = scene.solve(&Engine::cpu()).unwrap();
        let cells = all_cells(known.grid());
        // The field in one buffer, or in several strips with paths in several windows.
        let (what, engine) = [("strips", &strips), ("whole", &whole)][number / 2 % 2];
        let field = scene.solve(engine).unwrap();
        assert!(field.host().is_none());
        compare(&known, &field, &cells)
            .unwrap_or_else(|message| panic!("{connectivity:?}, {what}: {message}"));
        compare(&known, &field, &[]).unwrap();
    }
}

/// Fields of a batch share their buffers.
#[test]
fn agents_follow_their_own_field_of_a_batch() {
    let Some(engine) = gpu() else { return };
    let random = &mut Random::new(72);
    for connectivity in [Connectivity::Four, Connectivity::Eight(Corners::BothFree), Connectivity::Six] {
        let scene = scene(connectivity, size_of(connectivity), random);
        let lists: Vec<Vec<Cell>> = (0..5).map(|_| scene.clone().random_goals(2, random).goals).collect();
        let lists: Vec<&[Cell]> = lists.iter().map(|list| &list[..]).collect();
        let solve = |engine: &Engine| {
            let flow = Flow::new(engine, scene.grid()).unwrap();
            flow.fields(&lists, &FieldOptions::default()).unwrap().wait().unwrap()
        };
        let cells = all_cells(&scene.grid());
        for (known, field) in solve(&Engine::cpu()).rows.iter().zip(solve(&engine)) {
            compare(known, &field, &cells).unwrap();
        }
    }
}

/// Paths longer than one dispatch, or one frame, follows.
#[test]
fn long_paths_are_followed_to_their_end() {
    let Some(engine) = gpu() else { return };
    let scene =
        Scene::new("", [270, 171, 1], Connectivity::Four, scenes::serpentine(270, 171)).goals(&[[0, 0, 0]]);
    let known = scene.solve(&Engine::cpu()).unwrap();
    let field = scene.solve(&engine).unwrap();
    let cells: Vec<Cell> = (0..171).map(|y| Cell::from([150, y])).collect();
    compare(&known, &field, &cells).unwrap();
    assert!(known.stats().levels > 23_000, "{:?}", known.stats());
    let flow = Flow::new(&engine, scene.grid()).unwrap();
    let mut agents = flow.agents(&cells).unwrap();
    agents.step(&field, 10_000).unwrap();
    agents.step(&field, u32::MAX).unwrap();
    let free = |cell: &Cell| known.grid().is_free(*cell);
    for (cell, end) in cells.iter().zip(agents.cells().unwrap().wait().unwrap()) {
        assert!(!free(cell) || end == Cell::from([0, 0]), "from {cell} to {end}");
    }
}

/// The cell of each agent after so many steps.
fn cells_after(field: &Field, cells: &[Cell], step_count: usize) -> Vec<Cell> {
    let paths = field.paths(cells).unwrap().wait().unwrap();
    let end = |row: usize| {
        let path = paths.path(row);
        field.grid().cell(path[step_count.min(path.len() - 1)] as usize)
    };
    (0..cells.len()).map(end).collect()
}

#[test]
fn a_crowd_is_stepped_on_its_engine() {
    let (Some(whole), Some(strips)) = (gpu(), gpu_of_bindings(32 << 10)) else { return };
    let random = &mut Random::new(73);
    for connectivity in
        [Connectivity::Four, Connectivity::Eight(Corners::BothFree), Connectivity::TwentySix(Corners::Any)]
    {
        let scene = scene(connectivity, size_of(connectivity), random);
        let cells = all_cells(&scene.grid());
        let known = scene.solve(&Engine::cpu()).unwrap();
        let other = scene.clone().random_goals(1, random);
        let other_known = other.solve(&Engine::cpu()).unwrap();
        let expected = cells_after(&other_known, &cells_after(&known, &cells, 17), 3);
        for engine in [&Engine::cpu(), &whole, &strips] {
            let flow = Flow::new(engine, scene.grid()).unwrap();
            let [field, next] = [&scene, &other]
                .map(|scene| flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap());
            let mut agents = flow.agents(&cells).unwrap();
            assert_eq!(agents.count(), cells.len());
            agents.step(&field, 0).unwrap();
            agents.step(&field, 16).unwrap();
            agents.step(&field, 1).unwrap();
            agents.step(&next, 3).unwrap();
            assert!(agents.cells().unwrap().wait().unwrap() == expected, "{connectivity:?}");
            let mut nobody = flow.agents(&[]).unwrap();
            nobody.step(&field, 4).unwrap();
            assert_eq!(nobody.cells().unwrap().wait(), Ok(vec![]));
        }
    }
}

/// Agents in a buffer of the caller's, stepped by the caller's own encoder between other work.
#[test]
fn a_crowd_of_the_callers_is_stepped_by_the_callers_encoder() {
    let (Some(whole), Some(strips)) = (gpu(), gpu_of_bindings(32 << 10)) else { return };
    let random = &mut Random::new(74);
    for engine in [whole, strips] {
        let (device, queue) = engine.device().unwrap();
        let scene = scene(Connectivity::Eight(Corners::OneFree), [70, 90, 1], random);
        let flow = Flow::new(&engine, scene.grid()).unwrap();
        let field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
        let cells = all_cells(&scene.grid());
        // One agent outside the grid, and one more word in the buffer that is not an agent.
        let count = cells.len() as u32 + 1;
        let mut words: Vec<u32> = (0..count).collect();
        words.push(7);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 4 * words.len() as u64,
            usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        queue.write_buffer(&buffer, 0, bytemuck::cast_slice(&words));
        let mut agents = flow.agents_in(&buffer, count).unwrap();
        let mut encoder = device.create_command_encoder(&Default::default());
        agents.encode_steps(&mut encoder, &field, 2).unwrap();
        agents.encode_steps(&mut encoder, &field, 3).unwrap();
        let before = agents.cells().unwrap().wait().unwrap();
        assert!(before[..cells.len()] == cells, "nothing runs before the encoder is submitted");
        queue.submit([encoder.finish()]);
        let after = agents.cells().unwrap().wait().unwrap();
        assert!(after[..cells.len()] == cells_after(&field, &cells, 5));
        assert_eq!(after.len(), count as usize);
        assert_eq!(field.grid().index(after[cells.len()]), None);
        let whole = flow.agents_in(&buffer, count + 1).unwrap();
        assert_eq!(whole.cells().unwrap().wait().unwrap().last(), Some(&scene.cell(7)));
        assert_eq!(whole.binding().unwrap().size.unwrap().get(), 4 * u64::from(count + 1));

        let small = flow.agents_in(&buffer, count + 2).unwrap_err();
        assert!(matches!(small, Error::Invalid { .. }), "{small}");
        let plain = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 64,
            usage: wgpu::BufferUsages::STORAGE,
            mapped_at_creation: false,
        });
        let unread = flow.agents_in(&plain, 1).unwrap_err();
        assert!(matches!(unread, Error::Invalid { .. }), "{unread}");
    }
}

/// A step of a steady crowd allocates nothing, reads nothing back, and is one submission.
#[test]
fn a_steady_crowd_allocates_nothing() {
    let Some(engine) = own_gpu() else { return };
    let scene = scene(Connectivity::Four, [200, 150, 1], &mut Random::new(75));
    let flow = Flow::new(&engine, scene.grid()).unwrap();
    let field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
    let mut agents = flow.agents(&all_cells(&scene.grid())).unwrap();
    agents.step(&field, 1).unwrap();
    field.distances_at(&[]).unwrap().wait().unwrap();
    let before = engine.counters();
    for _ in 0..20 {
        agents.step(&field, 1).unwrap();
        // Waits, so that no two steps are in flight at once.
        field.distances_at(&[]).unwrap().wait().unwrap();
    }
    let after = engine.counters();
    assert_eq!(
        (after.buffers_created, after.pipelines_built),
        (before.buffers_created, before.pipelines_built)
    );
}

#[test]
fn a_crowd_and_a_field_must_belong_together() {
    let Some(engine) = gpu() else { return };
    let grid = |width| Grid::new([width, 3, 1], &[], Connectivity::Four.into()).unwrap();
    let field = |engine: &Engine, width| {
        let flow = Flow::new(engine, grid(width)).unwrap();
        flow.solve(&[[0, 0].into()], &FieldOptions::default()).unwrap().wait().unwrap()
    };
    let agents =
        |engine: &Engine| -> Agents { Flow::new(engine, grid(4)).unwrap().agents(&[[1, 1].into()]).unwrap() };
    let cpu = Engine::cpu();
    let other = own_gpu().unwrap();
    let is_refused = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::Value { field: "field", .. })), "{result:?}");
    };
    is_refused(agents(&cpu).step(&field(&cpu, 5), 1));
    is_refused(agents(&engine).step(&field(&engine, 5), 1));
    is_refused(agents(&cpu).step(&field(&engine, 4), 1));
    is_refused(agents(&engine).step(&field(&cpu, 4), 1));
    is_refused(agents(&engine).step(&field(&other, 4), 1));
    let mut encoder = engine.device().unwrap().0.create_command_encoder(&Default::default());
    is_refused(agents(&engine).encode_steps(&mut encoder, &field(&cpu, 4), 1));
    let refused = agents(&cpu).encode_steps(&mut encoder, &field(&cpu, 4), 1);
    assert!(matches!(refused, Err(Error::NoGpu { .. })), "{refused:?}");
    let outside = Flow::new(&engine, grid(4)).unwrap().agents(&[[4, 1].into()]);
    assert!(
        matches!(outside, Err(Error::Value { at: Location::Query(0), field: "cell", .. })),
        "{outside:?}"
    );
    let outside = field(&engine, 4).distances_at(&[[0, -1].into()]);
    assert!(
        matches!(outside, Err(Error::Value { at: Location::Query(0), field: "cell", .. })),
        "{outside:?}"
    );
}

/// Control: the comparison finds a field whose agents go elsewhere.
#[test]
fn the_comparison_finds_agents_that_go_elsewhere() {
    let Some(engine) = gpu() else { return };
    let random = &mut Random::new(76);
    let scene = scene(Connectivity::Four, [40, 30, 1], random);
    let known = scene.solve(&Engine::cpu()).unwrap();
    let cells = all_cells(known.grid());
    let (distances, _) = known.host().unwrap();
    for at in [0, 300, 700] {
        let mut other = scene.clone();
        let cell = (at..).find(|&index| ![0, u32::MAX].contains(&distances[index])).unwrap();
        other.blocked[cell] = true;
        assert!(compare(&known, &other.solve(&engine).unwrap(), &cells).is_err());
    }
}

/// Reads a part of a buffer back to the host.
fn read<T: bytemuck::Pod>(engine: &Engine, part: &wgpu::BufferBinding<'_>) -> Vec<T> {
    let (device, queue) = engine.device().unwrap();
    let size = part.size.unwrap().get();
    let staging = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size,
        usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(part.buffer, part.offset, &staging, 0, Some(size));
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap())
}

/// The directions that the device computes.
fn directions(
    engine: &Engine,
    field: &Field,
    positions: &[[f32; 4]],
    options: &SteerOptions,
) -> Vec<[f32; 4]> {
    let (device, queue) = engine.device().unwrap();
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16 * positions.len().max(1) as u64,
        usage: wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST,
        mapped_at_creation: false,
    });
    queue.write_buffer(&buffer, 0, bytemuck::cast_slice(positions));
    let mut encoder = device.create_command_encoder(&Default::default());
    let found = field.encode_directions(&mut encoder, &buffer, positions.len() as u32, options).unwrap();
    queue.submit([encoder.finish()]);
    let mut all: Vec<[f32; 4]> = read(engine, &found.directions());
    all.truncate(positions.len());
    all
}

/// Directions in f32 on the device, compared with those in f64 on the host at the same positions. They are equal up to
/// rounding. In the few places where they are not, they equal the host's at a position within rounding.
#[test]
fn directions_are_those_of_the_host() {
    let Some(engine) = gpu() else { return };
    let random = &mut Random::new(77);
    let (sin, cos) = 0.7_f64.sin_cos();
    let angled = GridFrame {
        origin: [-3.0, 50.0, 7.0],
        cell_size: 0.25,
        axes: [[cos, sin, 0.0], [sin, -cos, 0.0], [0.0, 0.0, 1.0]],
    };
    let (mut count, mut nearby_count, mut worst) = (0, 0, 0.0_f64);
    for connectivity in CONNECTIVITIES_2D.into_iter().chain(CONNECTIVITIES_3D) {
        for (round, frame) in
            [GridFrame::default(), angled, GridFrame::default(), angled].into_iter().enumerate()
        {
            // Small, because llvmpipe keeps the memory of a solve until the process ends.
            let size = if connectivity.dimension() == 2 { [40, 50, 1] } else { [12, 10, 11] };
            let mut scene = scene(connectivity, size, random);
            if round == 2 {
                scene = scene.random_costs(5, random);
            }
            // The grid on the host keeps the default frame, so that exact positions in it can be asked for.
            let known = scene.solve(&Engine::cpu()).unwrap();
            let flow = Flow::new(&engine, scene.grid_in(frame)).unwrap();
            let field = flow.solve(&scene.goals, &scene.options).unwrap().wait().unwrap();
            let positions: Vec<[f32; 4]> = (0..extent(250, 3000))
                .map(|row| {
                    let mut place = scene.size.map(|length| random.between(0.0, length as f64));
                    // Some positions are at centres of cells, and some on faces.
                    if row % 7 == 0 {
                        place = place.map(|part| part.floor() + 0.5);
                    } else if row % 7 == 1 {
                        place[row % 2] = place[row % 2].floor().max(1.0);
                    }
                    let [x, y, z] = frame.point_at(place).map(|part| part as f32);
                    [x, y, z, f32::NAN]
                })
                .collect();
            let e = if frame == angled { 3e-5 } else { 1e-6 };
            let tolerance = 1e-5 + 4.0 * e;
            let options = SteerOptions { sight: [0, 40, 40, 2048][round] };
            let ask = |place: [f64; 3]| {
                let pending = known.directions(&[place], &options).ok()?;
                let [x, y, z] = pending.wait().unwrap().rows[0];
                let axes = frame.axes;
                Some([0, 1, 2].map(|k| axes[0][k] * x + axes[1][k] * y + axes[2][k] * z))
            };
            for (row, (position, found)) in
                positions.iter().zip(directions(&engine, &field, &positions, &options)).enumerate()
            {
                let at = [position[0], position[1], position[2]].map(f64::from);
                let off = |direction: [f64; 3]| {
                    (0..3).map(|k| (direction[k] - f64::from(found[k])).abs()).fold(0.0, f64::max)
                };
                count += 1;
                let place = frame.place_of(at);
                let direct = ask(place).map_or(f64::INFINITY, off);
                if direct <= tolerance {
                    assert_eq!(found[3], 1.0);
                    worst = worst.max(direct);
                    continue;
                }
                // Positions put at centres and on faces are expected to differ.
                nearby_count += usize::from(row % 7 > 1);
                let near = (0..64_usize).any(|side| {
                    let moved = std::array::from_fn(|k| match side >> (2 * k) & 3 {
                        0 => place[k],
                        1 => place[k] - e,
                        2 => place[k] + e,
                        // Exactly at the centre of a cell, or on its face.
                        _ => place[k] + ((2.0 * place[k]).round() / 2.0 - place[k]).clamp(-e, e),
                    });
                    match ask(moved) {
                        Some(direction) => off(direction) <= tolerance,
                        None => found == [0.0; 4],
                    }
                });
                assert!(
                    near,
                    "{connectivity:?}, round {round}: at {place:?} {found:?}, f64 {:?}",
                    ask(place)
                );
            }
        }
    }
    println!(
        "{count} directions, {nearby_count} random ones equal only to those nearby, worst error of the others {worst:e}"
    );
    assert!(count == 32 * extent(250, 3000) && nearby_count < count / 1000, "{nearby_count} of {count}");
    // Control: directions in other cells differ.
    let scene = scene(Connectivity::Four, [40, 40, 1], random);
    let field = scene.solve(&engine).unwrap();
    let at = |x: f32, y: f32| directions(&engine, &field, &[[x, y, 0.0, 0.0]], &SteerOptions::default())[0];
    let middles: Vec<[f32; 4]> =
        (0..1600).map(|i| at((i % 40) as f32 + 0.5, (i / 40) as f32 + 0.5)).collect();
    assert!(
        middles.iter().any(|direction| direction[0] == 1.0)
            && middles.iter().any(|direction| direction[1] == -1.0)
    );
    // Positions outside the grid, or not finite.
    for (x, y) in [(-0.1, 1.0), (40.0, 1.0), (3.0, 1e30), (f32::NAN, 1.0), (f32::NEG_INFINITY, 1.0)] {
        assert_eq!(at(x, y), [0.0; 4]);
    }
}

#[test]
fn encoded_directions_refuse_bad_arguments() {
    let (Some(engine), Some(strips)) = (gpu(), gpu_of_bindings(64 << 10)) else { return };
    let (device, _) = engine.device().unwrap();
    let buffer = |usage| {
        device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 64,
            usage,
            mapped_at_creation: false,
        })
    };
    let flow = |engine: &Engine| {
        Flow::new(engine, Grid::new([130, 200, 1], &[], Connectivity::Four.into()).unwrap()).unwrap()
    };
    let solve = |engine: &Engine| {
        flow(engine).solve(&[[0, 0].into()], &FieldOptions::default()).unwrap().wait().unwrap()
    };
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut ask = |field: &Field, usage, count, sight| {
        field.encode_directions(&mut encoder, &buffer(usage), count, &SteerOptions { sight }).map(drop)
    };
    let storage = wgpu::BufferUsages::STORAGE;
    let field = solve(&engine);
    assert_eq!(ask(&field, storage, 4, 2048), Ok(()));
    assert_eq!(ask(&field, storage, 0, 0), Ok(()));
    assert!(matches!(ask(&field, storage, 5, 0), Err(Error::Invalid { .. })));
    assert!(matches!(ask(&field, wgpu::BufferUsages::COPY_SRC, 4, 0), Err(Error::Invalid { .. })));
    assert!(matches!(ask(&field, storage, 4, 2049), Err(Error::Value { field: "sight", .. })));
    assert!(matches!(ask(&solve(&Engine::cpu()), storage, 4, 0), Err(Error::NoGpu { .. })));
    assert!(matches!(ask(&solve(&strips), storage, 4, 0), Err(Error::MemoryLimit { .. })));
}

/// The parts of a field on the device hold what is read back.
#[test]
fn parts_hold_the_field() {
    let (Some(whole), Some(strips)) = (gpu(), gpu_of_bindings(64 << 10)) else { return };
    for (engine, part_count) in [(whole, 1), (strips, 4)] {
        let scene = scene(Connectivity::Four, [130, 200, 1], &mut Random::new(78));
        let field = scene.solve(&engine).unwrap();
        let distances = field.distances().unwrap().wait().unwrap();
        let next = field.next_codes().unwrap().wait().unwrap();
        let parts = field.device_parts();
        assert_eq!(parts.len(), part_count);
        let (mut all, mut codes) = (Vec::new(), Vec::new());
        for part in parts {
            assert_eq!(part.cells.start, all.len());
            let words: Vec<u32> = read(&engine, &part.distances);
            all.extend_from_slice(&words[part.first_distance..part.first_distance + part.cells.len()]);
            let words: Vec<u8> = read(&engine, &part.codes);
            codes.extend_from_slice(&words[4 * part.first_word..4 * part.first_word + part.cells.len()]);
        }
        assert!(all == distances && codes == next);
        assert!(scene.solve(&Engine::cpu()).unwrap().device_parts().is_empty());
    }
}
