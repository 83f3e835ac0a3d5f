//! Queries encoded into an encoder of the kit's own: what they say on the device against the settled rows of the CPU engine. A status may
//! be "unsettled", but never another.

use std::collections::HashMap;

use hullfield::Engine;
use hullfield::collide::{
    Arena, Body, Capacity, ContactOptions, DeviceBodies, DeviceMotions, DevicePairs, DeviceRows,
    DistanceOptions, ManifoldOptions, Motion, Pairs, Status, SweepOptions, SweepOutcome,
};

use crate::error::{Trouble, message};
use crate::gpu::kit::Kit;
use crate::report::Table;
use crate::scene::Scene;
use crate::sweeps::{self, motions_of};

/// Candidates for each body that the capacity allows.
const CANDIDATES: usize = 60;

/// The encoded queries, by name.
const QUERIES: [&str; 5] = ["yes or no", "distance", "contact", "manifold", "sweep"];

/// An encoded query's rows, compared.
struct Compared {
    row_count: usize,
    unsettled_count: usize,
    /// Rows whose status is another than the settled one, and settled rows that are missing; the first of them.
    wrong_count: usize,
    first: Option<String>,
}

/// Pairs, their codes on the device, and whether the capacity sufficed.
type Coded = (Vec<([u32; 2], u32)>, bool);

/// The table of this comparison.
pub(crate) fn table() -> Table {
    Table::new(
        "parity_encoded",
        "Parity of encoded queries: statuses that stay on the device against the CPU engine's settled ones",
        &["scene", "scale", "pairs", "query", "rows", "unsettled", "wrong"],
    )
}

/// Compares all encoded queries of a scene.
pub(crate) fn compare_all(
    kit: &mut Kit,
    table: &mut Table,
    (name, scale): (&str, &str),
    scene: &Scene,
    pairs: Pairs<'_>,
) {
    let way = if matches!(pairs, Pairs::Given(_)) { "given" } else { "all bodies" };
    for query in QUERIES {
        let what = format!("encoded {query} of {name}, scale {scale}, {way}");
        let work = match pairs {
            Pairs::Given(pairs) => pairs.len(),
            _ => 10 * scene.bodies.len(),
        };
        let found = kit.job(&format!("encoded {way} {query}"), &what, work as f64, |engine| {
            ask(engine, scene, pairs, query)
        });
        let Some(found) = found else { continue };
        table.row([
            name.into(),
            scale.into(),
            way.into(),
            query.into(),
            found.row_count.into(),
            found.unsettled_count.into(),
            found.wrong_count.into(),
        ]);
        if let Some(first) = found.first {
            kit.fail(format!("{what}: {} rows are wrong, first {first}", found.wrong_count));
        }
    }
}

fn ask(engine: &Engine, scene: &Scene, pairs: Pairs<'_>, query: &str) -> Result<Compared, Trouble> {
    let bodies = scene.library_bodies();
    let motions = motions_of(scene);
    let arena = |engine: &Engine| Arena::new(engine, &scene.hulls, Default::default());
    let settled = settled(&arena(&Engine::cpu())?, &bodies, &motions, pairs, query)?;
    let (rows, fits) = encoded(engine, &arena(engine)?, &bodies, &motions, pairs, query)?;
    let mut compared = compare(&rows, settled);
    if !fits {
        compared.wrong_count += 1;
        compared.first.get_or_insert_with(|| "the capacity is too small".to_owned());
    }
    Ok(compared)
}

/// Compares codes with settled ones. A pair that is settled as no hit may have no row.
fn compare(rows: &[([u32; 2], u32)], mut settled: HashMap<[u32; 2], (u32, bool)>) -> Compared {
    let mut compared = Compared { row_count: rows.len(), unsettled_count: 0, wrong_count: 0, first: None };
    let mut wrong = |text: String| {
        compared.wrong_count += 1;
        compared.first.get_or_insert(text);
    };
    let mut unsettled_count = 0;
    for &(pair, code) in rows {
        let truth = settled.remove(&pair);
        if code == 3 {
            unsettled_count += 1;
        } else if truth.map(|(code, _)| code) != Some(code) {
            wrong(format!("{pair:?} is {code}, settled {truth:?}"));
        }
    }
    for (pair, (code, is_listed)) in settled {
        if is_listed {
            wrong(format!("{pair:?} is missing, settled {code}"));
        }
    }
    compared.unsettled_count = unsettled_count;
    compared
}

/// The settled codes, and whether each pair must have a row.
fn settled(
    arena: &Arena,
    bodies: &[Body],
    motions: &[Motion],
    pairs: Pairs<'_>,
    query: &str,
) -> Result<HashMap<[u32; 2], (u32, bool)>, Trouble> {
    let of = |status: Status| match status {
        Status::Separated => 0,
        Status::Touching => 1,
        Status::Penetrating => 2,
    };
    macro_rules! codes {
        ($rows:expr) => {
            $rows.iter().map(|row| ([row.a, row.b], (of(row.status), true))).collect()
        };
    }
    Ok(match query {
        "yes or no" => codes!(arena.intersections(bodies, pairs)?.wait()?.rows),
        "distance" => codes!(arena.distances(bodies, pairs, &DistanceOptions { margin: 0.0 })?.wait()?.rows),
        "contact" => codes!(arena.contacts(bodies, pairs, &ContactOptions { margin: 0.0 })?.wait()?.rows),
        "manifold" => codes!(arena.manifolds(bodies, pairs, &ManifoldOptions { margin: 0.0 })?.wait()?.rows),
        _ => {
            let options = SweepOptions { duration: sweeps::DURATION, ..Default::default() };
            let rows = arena.sweeps(bodies, motions, pairs, &options)?.wait()?.rows;
            let code = |outcome: SweepOutcome| match outcome {
                SweepOutcome::Miss => (0, false),
                SweepOutcome::Touching => (1, true),
                SweepOutcome::Hit => (2, true),
            };
            rows.iter().map(|row| ([row.a, row.b], code(row.outcome))).collect()
        }
    })
}

/// The codes of an encoded query.
fn encoded(
    engine: &Engine,
    arena: &Arena,
    bodies: &[Body],
    motions: &[Motion],
    pairs: Pairs<'_>,
    query: &str,
) -> Result<Coded, Trouble> {
    let (device, queue) = engine.device().ok_or("the engine has no device")?;
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let host = DeviceBodies::Host(bodies);
    let pairs = match pairs {
        Pairs::Given(pairs) => DevicePairs::Given(pairs),
        _ => DevicePairs::BroadPhase,
    };
    let count = (CANDIDATES * bodies.len()) as u32;
    let capacity = Capacity { pairs: count, rows: count };
    let (found, row_words) = match query {
        "yes or no" => (arena.encode_intersections(&mut encoder, host, pairs, capacity)?, 3),
        "distance" => {
            let options = DistanceOptions { margin: 0.0 };
            (arena.encode_distances(&mut encoder, host, pairs, &options, capacity)?, 12)
        }
        "contact" => {
            let options = ContactOptions { margin: 0.0 };
            (arena.encode_contacts(&mut encoder, host, pairs, &options, capacity)?, 12)
        }
        "manifold" => {
            let options = ManifoldOptions { margin: 0.0 };
            (arena.encode_manifolds(&mut encoder, host, pairs, &options, capacity)?, 28)
        }
        _ => {
            let options = SweepOptions { duration: sweeps::DURATION, ..Default::default() };
            let moves = DeviceMotions::Host(motions);
            (arena.encode_sweeps(&mut encoder, host, moves, pairs, &options, capacity)?, 8)
        }
    };
    queue.submit([encoder.finish()]);
    codes(device, queue, &found, row_words)
}

/// Reads the codes of all parts.
fn codes(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    found: &DeviceRows,
    row_words: usize,
) -> Result<Coded, Trouble> {
    let (mut all, mut fits) = (Vec::new(), true);
    for part in found.parts() {
        let counts = read(device, queue, &part.counts())?;
        let words = read(device, queue, &part.rows())?;
        // `DeviceCounts`.
        let [row_count, row_room, _, _, overflow, ..] = counts[..] else { return Err("no counts".into()) };
        fits &= overflow == 0;
        let kept = row_count.min(row_room) as usize;
        all.extend(words.chunks_exact(row_words).take(kept).map(|row| ([row[0], row[1]], row[2])));
    }
    Ok((all, fits))
}

/// Brings a part of a buffer to the host, as words.
fn read(
    device: &wgpu::Device,
    queue: &wgpu::Queue,
    part: &wgpu::BufferBinding<'_>,
) -> Result<Vec<u32>, Trouble> {
    let size = part.size.map_or(part.buffer.size() - part.offset, |size| size.get());
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let staging =
        device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.copy_buffer_to_buffer(part.buffer, part.offset, &staging, 0, Some(size));
    encoder.map_buffer_on_submit(&staging, wgpu::MapMode::Read, .., |_| ());
    queue.submit([encoder.finish()]);
    device.poll(wgpu::PollType::wait_indefinitely()).map_err(message)?;
    let view = staging.get_mapped_range(..).map_err(message)?;
    let word = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    Ok(view.chunks_exact(4).map(word).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_and_missing_rows_are_counted() {
        let settled = || HashMap::from([([0, 1], (2, true)), ([0, 2], (1, true)), ([1, 2], (0, false))]);
        let right = [([0, 1], 2), ([0, 2], 3)];
        let compared = compare(&right, settled());
        assert_eq!((compared.wrong_count, compared.unsettled_count, compared.row_count), (0, 1, 2));
        for rows in
            [&[([0, 1], 1), ([0, 2], 1)][..], &[([0, 1], 2)], &[([0, 1], 2), ([0, 2], 1), ([5, 6], 1)]]
        {
            let compared = compare(rows, settled());
            assert!(compared.wrong_count == 1 && compared.first.is_some(), "{rows:?}");
        }
    }
}
