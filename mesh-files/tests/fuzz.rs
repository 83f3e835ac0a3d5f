//! Readers of mesh files on files with faults: no panic, no memory without bound, every error in one line.
//!
//! It is a program of its own, because its allocator counts. `HULLFIELD_FUZZ_MINUTES` says how long it goes on; without it the number of
//! inputs is fixed. `HULLFIELD_SEED` makes other inputs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod samples;

use std::time::{Duration, Instant};

use hullfield_mesh_files::{Error, Format, Result};
use hullfield_oracle::fuzz::{CountingAllocator, measured, minutes, mutate};
use hullfield_oracle::random::Random;
use hullfield_oracle::{extent, seed};
use samples::{BESIDE, Sample};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// The memory of a reader for each byte of its file.
const BYTES_PER_BYTE: i64 = 100;

/// What it may take besides: messages, tables, and the bytes beside the file.
const FIXED_BYTES: i64 = 1 << 14;

/// Nodes of glTF may place meshes that take so much, and as much again while they are placed.
const PLACED_BYTES: i64 = 2 << 29;

/// The bytes beside a file.
fn beside(name: &str, most: u64) -> Result<Vec<u8>> {
    assert!(!name.starts_with('/') && !name.split('/').any(|part| part == ".."), "{name}");
    if name != "a.bin" {
        return Err(Error::new(format!("asked for {}", hullfield_mesh_files::excerpt(name))));
    }
    Ok(BESIDE[..BESIDE.len().min(most as usize)].to_vec())
}

/// Reads a file as point sets and as a model. Returns the peak of memory, and whether it was read.
fn read(format: Format, bytes: &[u8]) -> (i64, bool) {
    let (found, memory) = measured(|| {
        format.read("a", bytes, &beside).map(|mesh| {
            assert!(mesh.notes().iter().all(|note| note.lines().count() == 1));
            let sets = mesh.point_sets();
            assert!(sets.iter().all(|set| !set.points.is_empty()));
            assert!(sets.iter().flat_map(|set| &set.points).flatten().all(|part| part.is_finite()));
        })
    });
    let peak = memory.peak;
    if let Err(error) = found {
        let message = error.to_string();
        assert!(message.starts_with("a: ") || message.starts_with("asked for "), "{message}");
        assert!(message.len() < 1000 && !message.contains(char::is_control), "{message:?}");
        return (peak, false);
    }
    if let Ok(faces) = format.read("a", bytes, &beside).and_then(|mesh| mesh.faces("a")) {
        let count = faces.triangle_count();
        let model = faces.model();
        let points = model.points().len();
        let corners = (0..model.face_count()).map(|face| model.face(face).to_vec());
        let mut triangles = 0;
        for face in corners {
            assert!(face.len() >= 3 && face.iter().all(|&corner| (corner as usize) < points));
            triangles += face.len() - 2;
        }
        assert_eq!(triangles, count);
    }
    (peak, true)
}

/// Words of meshes that readers may stumble over.
const WORDS: [&str; 11] = ["\\\n", "#", "{}", "[]", "\"\"", "o ", "g ", "f 1 2 3\n", "end loop", "list", "/"];

/// What was found for one sample.
#[derive(Default)]
struct Count {
    inputs: u64,
    read: u64,
    /// The largest share of the memory that is allowed.
    share: f64,
    slowest: Duration,
}

fn run(random: &mut Random, sample: &Sample, others: &[Sample], inputs: usize, count: &mut Count) {
    for _ in 0..inputs {
        let mut bytes = sample.bytes.clone();
        for _ in 0..1 + random.below(3) * random.below(2) {
            let other = &others[random.below(others.len())];
            mutate(random, &mut bytes, &other.bytes, &WORDS);
        }
        let started = Instant::now();
        let (peak, is_read) = read(sample.format, &bytes);
        count.slowest = count.slowest.max(started.elapsed());
        count.inputs += 1;
        count.read += u64::from(is_read);
        let placed = if sample.format == Format::Gltf { PLACED_BYTES } else { 0 };
        let allowed = BYTES_PER_BYTE * (bytes.len() + BESIDE.len()) as i64 + FIXED_BYTES;
        count.share = count.share.max(peak as f64 / allowed as f64);
        assert!(
            peak <= allowed + placed,
            "{}: {peak} bytes for a file of {}: {:?}",
            sample.name,
            bytes.len(),
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn files_with_faults_neither_panic_nor_take_memory_without_bound() {
    let samples = samples::all();
    for Sample { name, format, bytes } in &samples {
        let (peak, is_read) = read(*format, bytes);
        assert!(is_read, "{name}: {:?}", format.read("a", bytes, &beside).err());
        assert!(peak <= BYTES_PER_BYTE * (bytes.len() + BESIDE.len()) as i64 + FIXED_BYTES, "{name}: {peak}");
    }
    let minutes = minutes();
    let started = Instant::now();
    let seed = seed(23);
    let mut random = Random::new(seed);
    let mut counts: Vec<Count> = samples.iter().map(|_| Count::default()).collect();
    loop {
        for (sample, count) in samples.iter().zip(&mut counts) {
            let same: Vec<Sample> =
                samples.iter().filter(|other| other.format == sample.format).cloned().collect();
            run(&mut random, sample, &same, extent(20_000, 40_000), count);
        }
        if minutes.is_none_or(|minutes| started.elapsed().as_secs_f64() > 60.0 * minutes) {
            break;
        }
    }
    for (Sample { name, .. }, Count { inputs, read, share, slowest }) in samples.iter().zip(&counts) {
        println!(
            "{name}: {inputs} inputs, {read} read, {share:.2} of the memory allowed, slowest {slowest:?}"
        );
        // Most faults are small: what is read no more says nothing.
        assert!(*read > 0 && read < inputs, "{name}");
    }
    println!("{} inputs, seed {seed}", counts.iter().map(|count| count.inputs).sum::<u64>());
}

/// Files whose claims cost most: their parts are as short as they can be. Twice the file takes twice the memory.
#[test]
fn the_shortest_parts_take_memory_by_the_bytes_of_the_file() {
    for (name, format, make) in samples::dense() {
        for count in [2000, 20_000] {
            let bytes = make(count);
            let (peak, _) = read(format, &bytes);
            let allowed = BYTES_PER_BYTE * bytes.len() as i64 + FIXED_BYTES;
            assert!(peak <= allowed, "{name} {count}: {peak} bytes for a file of {}", bytes.len());
        }
    }
}

/// The time grew with the square of a line's length: these would take hours.
#[test]
fn long_lines_are_read_in_time() {
    let count = 1_000_000;
    let corners = " 1 2 3 4".repeat(count / 4);
    let points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
    let off = "0 0 0\n1 0 0\n0 1 0\n0 0 1\n";
    let ply = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 1\n\
        property list uint int vertex_indices\nend_header\n";
    let zero_based = " 0 1 2 3".repeat(count / 4);
    let files = [
        (Format::Obj, format!("{points}p{corners}\n")),
        (Format::Obj, format!("{points}f{}\n", corners.replace(' ', " \\\n"))),
        (Format::Obj, format!("o {}\n{points}", "# \\".repeat(count))),
        (Format::Obj, format!("{points}#{corners}\n")),
        (Format::Ply, format!("{ply}{off}{count}{zero_based}\n")),
        (Format::Off, format!("OFF\n4 1 0\n{off}{count}{zero_based}\n")),
        (
            Format::Stl,
            format!(
                "solid{corners}\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n"
            ),
        ),
    ];
    for (format, text) in files {
        format.read("a", text.as_bytes(), &beside).unwrap();
        // An error at the end of the line names its place.
        let cut = text.trim_end().rsplit_once(' ').map_or(String::new(), |(begin, _)| format!("{begin} x\n"));
        assert!(
            format.read("a", cut.as_bytes(), &beside).err().is_none_or(|error| error.to_string().len() < 300)
        );
    }
}
