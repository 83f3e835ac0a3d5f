//! The Rust side of a bench of the Python wheel: the same pairs as `python/benches/distances.py`, timed here when it asks.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hullfield::Engine;
use hullfield::collide::{Arena, Body, BodyColumns, DistanceOptions, Hull, Options as ArenaOptions, Pairs};
use hullfield_oracle::{Placed, Pose};

use crate::error::message;
use crate::peer::Peer;
use crate::timing::time;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The folder with the scene: points.bin (f32, three a vertex), hulls.bin (u32, a body each), positions.bin, rotations.bin (f32) and pairs.bin (u32).
    folder: PathBuf,
    /// Vertices of each hull.
    #[arg(long, value_name = "N")]
    vertices: usize,
}

/// Answers lines of the standard input: `hullfield THREADS` and `parry` measure the distances of all pairs. Writes a line each: milliseconds and the sum of
/// the distances.
///
/// # Errors
/// A scene that can't be read, and a question that is unknown.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let read = |name: &str| read(&options.folder.join(name));
    let points: Vec<[f32; 3]> = numbers(&read("points.bin")?);
    let sets: Vec<Vec<[f32; 3]>> = points.chunks(options.vertices.max(1)).map(<[_]>::to_vec).collect();
    let hulls: Vec<u32> = numbers(&read("hulls.bin")?);
    let positions: Vec<[f32; 3]> = numbers(&read("positions.bin")?);
    let rotations: Vec<[f32; 4]> = numbers(&read("rotations.bin")?);
    let pairs: Vec<[u32; 2]> = numbers(&read("pairs.bin")?);
    let columns = hulls.iter().zip(positions).zip(rotations);
    let bodies: Vec<Body> =
        columns.map(|((&hull, position), rotation)| Body { position, rotation, ..Body::new(hull) }).collect();
    let shapes: Vec<Hull> =
        sets.iter().map(|set| Hull::from_points(set)).collect::<Result<_, _>>().map_err(message)?;
    let arena = Arena::new(&Engine::cpu(), &shapes, ArenaOptions::default()).map_err(message)?;
    let placed = |body: &Body| {
        let pose = Pose { position: body.position, rotation: body.rotation, ..Pose::default() };
        Placed { hull: body.hull, pose }
    };
    let placed: Vec<Placed> = bodies.iter().map(placed).collect();
    let peer = Peer::new(&sets, &placed);
    let mut theirs = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(message)?;
        let (ms, sum) = match line.split_once(' ') {
            Some(("hullfield", threads)) => {
                hullfield::set_thread_count(threads.parse().map_err(message)?).map_err(message)?;
                let ask = || {
                    let columns = BodyColumns::new(&bodies);
                    arena.distances(columns, Pairs::Given(&pairs), &DistanceOptions::default())?.wait()
                };
                let (ms, answer) = time(ask);
                let rows = answer.map_err(message)?.rows;
                (ms, rows.iter().map(|row| row.separation).sum::<f64>())
            }
            None if line == "parry" => {
                let (ms, answer) = time(|| peer.distances(&pairs, &mut theirs));
                answer?;
                (ms, theirs.iter().map(|&distance| f64::from(distance)).sum())
            }
            _ => {
                return Err(format!(
                    "the question is {line:?}, it must be \"hullfield THREADS\" or \"parry\""
                ));
            }
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{ms} {sum}").and_then(|()| out.flush()).map_err(message)?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The numbers of a file, in this machine's order. What is left over at the end is no number.
fn numbers<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}
