//! `flow` over GeoTIFF and raw rasters of friction: the bytes of the same raster as `.npy`, in one piece and in tiles; and clear errors.

use std::io::Cursor;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tiff::decoder::{Decoder, DecodingResult};
use tiff::encoder::compression::{CompressionAlgorithm, Deflate, Lzw, Packbits, Uncompressed};
use tiff::encoder::{TiffEncoder, TiffKind, TiffKindBig, TiffKindStandard, colortype};
use tiff::tags::Tag;

use super::Folder;
use super::flow::npy;

const SIZE: [usize; 2] = [210, 150];
/// Places of `map.npy` and of what is solved over it.
const GOALS: &str = "--goal 3,0 --goal 200,140";

fn mixed(at: usize) -> u32 {
    (at as u32 ^ 7).wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(40_503)
}

/// Friction of 1 to 120, and 0 for obstacles.
fn friction([width, height]: [usize; 2]) -> Vec<u8> {
    let count = width * height;
    let cost = |at: usize| {
        let is_obstacle = at > 5 && mixed(at) >> 24 < 50;
        if is_obstacle { 0 } else { (mixed(at + count) >> 20) as u8 % 120 + 1 }
    };
    (0..count).map(cost).collect()
}

/// How the cells of a TIFF are stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Columns and rows of its chunks; strips where they are as wide as the raster.
    pub(super) chunk: [usize; 2],
    pub(super) compression: u16,
    pub(super) has_predictor: bool,
}

const PLAIN: Form = Form { chunk: [210, 1], compression: 1, has_predictor: false };

fn packed(compression: u16, bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let written = match compression {
        1 => Uncompressed.write_to(&mut packed, bytes),
        5 => Lzw.write_to(&mut packed, bytes),
        8 => Deflate::default().write_to(&mut packed, bytes),
        _ => Packbits.write_to(&mut packed, bytes),
    };
    written.unwrap();
    packed
}

/// A TIFF of numbers of some bytes each, in this machine's order. `format` is 1 for unsigned numbers, 2 for signed ones, 3 for floats.
pub(super) fn tiff<K: TiffKind>(
    [width, height]: [usize; 2],
    form: Form,
    cells: &[u8],
    bytes_each: usize,
    format: u16,
    tags: &[(Tag, &[f64])],
    no_data: Option<&str>,
) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::<_, K>::new_generic(&mut file).unwrap();
    let mut directory = encoder.image_directory().unwrap();
    let [chunk_width, chunk_height] = form.chunk;
    let is_strip = chunk_width == width;
    let (mut offsets, mut counts) = (Vec::new(), Vec::new());
    for top in (0..height).step_by(chunk_height) {
        for left in (0..width).step_by(chunk_width) {
            let mut chunk = Vec::new();
            let rows = if is_strip { chunk_height.min(height - top) } else { chunk_height };
            for y in top..top + rows {
                let mut row = vec![0; chunk_width * bytes_each];
                if y < height {
                    let columns = chunk_width.min(width - left) * bytes_each;
                    let from = (y * width + left) * bytes_each;
                    row[..columns].copy_from_slice(&cells[from..from + columns]);
                }
                if form.has_predictor {
                    for at in (1..chunk_width).rev() {
                        let number = |at: usize| u16::from_ne_bytes([row[2 * at], row[2 * at + 1]]);
                        let difference = number(at).wrapping_sub(number(at - 1));
                        row[2 * at..2 * at + 2].copy_from_slice(&difference.to_ne_bytes());
                    }
                }
                chunk.extend(row);
            }
            let bytes = packed(form.compression, &chunk);
            counts.push(bytes.len() as u32);
            offsets.push(directory.write_data(bytes.as_slice()).unwrap() as u32);
        }
    }
    directory.write_tag(Tag::ImageWidth, width as u32).unwrap();
    directory.write_tag(Tag::ImageLength, height as u32).unwrap();
    directory.write_tag(Tag::BitsPerSample, 8 * bytes_each as u16).unwrap();
    directory.write_tag(Tag::Compression, form.compression).unwrap();
    directory.write_tag(Tag::PhotometricInterpretation, 1_u16).unwrap();
    directory.write_tag(Tag::SamplesPerPixel, 1_u16).unwrap();
    if form.has_predictor {
        directory.write_tag(Tag::Predictor, 2_u16).unwrap();
    }
    if is_strip {
        directory.write_tag(Tag::RowsPerStrip, chunk_height as u32).unwrap();
        directory.write_tag(Tag::StripOffsets, offsets.as_slice()).unwrap();
        directory.write_tag(Tag::StripByteCounts, counts.as_slice()).unwrap();
    } else {
        directory.write_tag(Tag::TileWidth, chunk_width as u32).unwrap();
        directory.write_tag(Tag::TileLength, chunk_height as u32).unwrap();
        directory.write_tag(Tag::TileOffsets, offsets.as_slice()).unwrap();
        directory.write_tag(Tag::TileByteCounts, counts.as_slice()).unwrap();
    }
    directory.write_tag(Tag::SampleFormat, format).unwrap();
    for (tag, values) in tags {
        directory.write_tag(*tag, *values).unwrap();
    }
    if let Some(no_data) = no_data {
        directory.write_tag(Tag::GdalNodata, no_data).unwrap();
    }
    directory.finish().unwrap();
    file.into_inner()
}

fn wide(cells: &[u8]) -> Vec<u8> {
    cells.iter().flat_map(|&cell| u16::from(cell).to_ne_bytes()).collect()
}

const NORTH_UP: [(Tag, &[f64]); 2] = [
    (Tag::ModelPixelScaleTag, &[30.0, 30.0, 0.0]),
    (Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, 500_000.0, 4_200_000.0, 0.0]),
];

/// A folder with the friction as a map and costs in `.npy`, and its distances in `wanted.npy`.
fn folder() -> Folder {
    let folder = Folder::new();
    let cells = friction(SIZE);
    let shape = format!("({}, {})", SIZE[1], SIZE[0]);
    let map: Vec<u8> = cells.iter().map(|&cost| u8::from(cost == 0)).collect();
    let costs: Vec<u8> = cells.iter().flat_map(|&cost| u16::from(cost.max(1)).to_le_bytes()).collect();
    folder
        .write("map.npy", npy("|u1", false, &shape, &map))
        .write("cost.npy", npy("<u2", false, &shape, &costs));
    folder.run(&format!("flow map.npy --cost cost.npy {GOALS} --backend cpu --out wanted.npy")).good();
    folder
}

/// Solves a raster in one piece and in tiles, and compares the bytes of the distances.
fn same_bytes(folder: &Folder, arguments: &str) {
    let wanted = std::fs::read(folder.path("wanted.npy")).unwrap();
    for tiles in ["", "--tiles work --memory-limit 700K", "--memory-limit 400K"] {
        let run =
            folder.run(&format!("flow {arguments} {GOALS} --backend cpu --out found.npy {tiles} --json"));
        let report: Value = serde_json::from_str(&run.good()).unwrap();
        assert_eq!(report["counts"]["tiles"].is_null(), tiles.is_empty(), "{arguments} {tiles}");
        assert!(std::fs::read(folder.path("found.npy")).unwrap() == wanted, "{arguments} {tiles}");
    }
}

#[test]
fn rasters_of_every_form_write_the_same_bytes() {
    let folder = folder();
    let cells = friction(SIZE);
    for compression in [1, 5, 8, 32_773] {
        for chunk in [[210, 1], [210, 7], [210, 100], [16, 16], [64, 48], [224, 96], [32, 256]] {
            for has_predictor in [false, true] {
                if has_predictor && !matches!(compression, 5 | 8) {
                    continue;
                }
                let form = Form { chunk, compression, has_predictor };
                let file = if compression == 5 {
                    tiff::<TiffKindBig>(SIZE, form, &wide(&cells), 2, 1, &[], None)
                } else {
                    tiff::<TiffKindStandard>(SIZE, form, &wide(&cells), 2, 1, &[], None)
                };
                folder.write("friction.tif", file);
                same_bytes(&folder, "friction.tif");
            }
        }
    }
}

/// Whole numbers of every width; what stands for no data, and negative numbers, are obstacles like 0.
#[test]
fn numbers_of_every_width() {
    let folder = folder();
    let cells = friction(SIZE);
    for (bytes_each, format, no_data) in [
        (1, 1, Some("255")),
        (1, 2, Some("-7")),
        (2, 1, Some("65535 ")),
        (2, 2, Some("-9999")),
        (4, 1, Some("4294967295")),
        (4, 2, None),
        (8, 1, Some("18446744073709551615")),
        (8, 2, Some("-9.22e18")),
    ] {
        let number = |at: usize| match (cells[at], at % 3) {
            (0, 0) => match (no_data, bytes_each) {
                (Some("-9999"), _) => -9999,
                (Some("-7"), _) => -7,
                (Some(_), _) if format == 1 => -1,
                _ => 0,
            },
            (0, 1) if format == 2 => -3,
            (cost, _) => i64::from(cost),
        };
        let bytes: Vec<u8> =
            (0..cells.len()).flat_map(|at| number(at).to_le_bytes()[..bytes_each].to_vec()).collect();
        folder.write(
            "friction.tif",
            tiff::<TiffKindStandard>(SIZE, PLAIN, &bytes, bytes_each, format, &[], no_data),
        );
        same_bytes(&folder, "friction.tif");
        // Raw, in both orders of bytes.
        let types = ["", "1 0", "12 2", "", "13 3", "", "", "", "15 14"][bytes_each];
        let data_type = types.split(' ').nth(usize::from(format) - 1).unwrap();
        if data_type == "0" {
            continue;
        }
        let ignored = no_data.map_or(String::new(), |text| format!("data ignore value = {text}\n"));
        for order in [0, 1] {
            let header = format!(
                "ENVI\nsamples = {}\nlines = {}\nbands = 1\nheader offset = 3\ndata type = {data_type}\nbyte order = {order}\n{ignored}",
                SIZE[0], SIZE[1]
            );
            let mut raw = b"abc".to_vec();
            for cell in bytes.chunks(bytes_each) {
                raw.extend(cell.iter().copied().rev().filter(|_| order == 1));
                raw.extend(cell.iter().copied().filter(|_| order == 0));
            }
            folder.write("friction.raw", raw).write("friction.hdr", header);
            same_bytes(&folder, "friction.raw");
        }
    }
}

/// A map beside costs as GeoTIFF, a map as GeoTIFF beside costs, and friction as `.npy`.
#[test]
fn maps_and_costs_in_different_files() {
    let folder = folder();
    let cells = friction(SIZE);
    let map: Vec<u8> = cells.iter().map(|&cost| u8::from(cost == 0)).collect();
    let form = Form { chunk: [32, 32], compression: 8, has_predictor: false };
    let costs: Vec<u8> = cells.iter().map(|&cost| cost.max(1)).collect();
    let shape = format!("({}, {})", SIZE[1], SIZE[0]);
    folder
        .write("cost.tif", tiff::<TiffKindStandard>(SIZE, form, &costs, 1, 1, &[], None))
        .write("map.tif", tiff::<TiffKindStandard>(SIZE, form, &map, 1, 1, &[], None))
        .write("friction.tif", tiff::<TiffKindStandard>(SIZE, form, &cells, 1, 1, &[], None))
        .write("open.npy", npy("|u1", false, &shape, &vec![0; cells.len()]))
        .write("friction.npy", npy("|u1", false, &shape, &cells));
    same_bytes(&folder, "map.npy --cost cost.tif");
    same_bytes(&folder, "map.tif --cost cost.tif");
    same_bytes(&folder, "map.tif --map-values obstacles --cost cost.npy");
    // Obstacles of the costs.
    same_bytes(&folder, "open.npy --cost friction.tif");
    same_bytes(&folder, "friction.npy --map-values friction");
}

fn read_tiff(folder: &Folder, name: &str) -> (DecodingResult, Decoder<Cursor<Vec<u8>>>) {
    let mut decoder = Decoder::new(Cursor::new(std::fs::read(folder.path(name)).unwrap())).unwrap();
    (decoder.read_image().unwrap(), decoder)
}

/// GeoTIFF out: the numbers of `.npy`, and the place of the map.
#[test]
fn distances_are_written_as_geotiff() {
    let folder = folder();
    let cells = wide(&friction(SIZE));
    folder.write("friction.tif", tiff::<TiffKindStandard>(SIZE, PLAIN, &cells, 2, 1, &NORTH_UP, Some("0")));
    let (_, wanted) = super::flow::read_npy(&folder, "wanted.npy");
    let wanted: Vec<u32> =
        wanted.chunks_exact(4).map(|cell| u32::from_le_bytes(cell.try_into().unwrap())).collect();
    for tiles in ["", "--tiles work --memory-limit 700K"] {
        for packing in ["none", "lzw", "deflate"] {
            let flags = format!("--backend cpu {tiles} --out d.tif --compression {packing}");
            // The same goals by their place.
            folder
                .run(&format!("flow friction.tif --goal-at 500100,4199999 --goal-at 506001,4195799 {flags}"))
                .good();
            let (image, mut decoder) = read_tiff(&folder, "d.tif");
            let DecodingResult::U32(found) = image else { panic!("{flags}") };
            assert!(found == wanted, "{flags}");
            assert_eq!(decoder.get_tag_f64_vec(Tag::ModelPixelScaleTag).unwrap(), [30.0, 30.0, 0.0]);
            assert_eq!(
                decoder.get_tag_f64_vec(Tag::ModelTiepointTag).unwrap()[3..5],
                [500_000.0, 4_200_000.0]
            );
            assert_eq!(decoder.get_tag_ascii_string(Tag::GdalNodata).unwrap(), "4294967295");
            let checked =
                folder.run("flow friction.tif --goal 3,0 --goal 200,140 --check d.tif --json").good();
            let checked: Value = serde_json::from_str(&checked).unwrap();
            assert_eq!(checked["counts"]["checked"], 10_002);
            assert_eq!(checked["counts"]["wrong"], 0);
        }
        folder
            .run(&format!("flow friction.tif {GOALS} --backend cpu {tiles} --out d.tif --units cells"))
            .good();
        let (image, mut decoder) = read_tiff(&folder, "d.tif");
        let DecodingResult::F32(found) = image else { panic!("{tiles}") };
        let cells =
            |&steps: &u32| if steps == u32::MAX { f32::INFINITY } else { (f64::from(steps) / 408.0) as f32 };
        assert!(found.iter().eq(wanted.iter().map(cells).collect::<Vec<_>>().iter()), "{tiles}");
        assert_eq!(decoder.get_tag_ascii_string(Tag::GdalNodata).unwrap(), "inf");
    }
    assert_eq!(
        folder.run(&format!("flow friction.tif {GOALS} --out d.npy --compression lzw")).bad(),
        "--compression: only a GeoTIFF is packed, name a .tif by --out"
    );
}

pub(super) fn floats(cells: impl IntoIterator<Item = f32>) -> Vec<u8> {
    cells.into_iter().flat_map(f32::to_ne_bytes).collect()
}

/// Friction in floats: distances in map units times friction, the same in memory and in tiles.
#[test]
fn friction_in_floats() {
    let folder = Folder::new();
    let [width, height] = SIZE;
    // Everywhere 1.5, in cells of 30 by 25.
    let even = floats(vec![1.5; width * height]);
    let tags: [(Tag, &[f64]); 2] = [(Tag::ModelPixelScaleTag, &[30.0, 25.0, 0.0]), NORTH_UP[1]];
    folder.write("even.tif", tiff::<TiffKindStandard>(SIZE, PLAIN, &even, 4, 3, &tags, None));
    for rule in ["entry", "exit", "mean"] {
        folder
            .run(&format!("flow even.tif --goal 7,9 --connectivity 4 --cost-rule {rule} --out d.tif"))
            .good();
        let (image, _) = read_tiff(&folder, "d.tif");
        let DecodingResult::F32(found) = image else { panic!("{image:?}") };
        for (at, &distance) in found.iter().enumerate() {
            let [x, y] = [(at % width).abs_diff(7), (at / width).abs_diff(9)];
            assert_eq!(distance, 1.5 * (30 * x + 25 * y) as f32, "{rule} {at}");
        }
    }
    // Friction that differs, with four kinds of obstacles; twice the same but for the form.
    let costs = friction(SIZE);
    let value = |at: usize| match (costs[at], at % 4) {
        (0, 0) => f32::NAN,
        (0, 1) => -1.0,
        (0, 2) => -9999.0,
        (cost, _) => f32::from(cost) * 0.37,
    };
    let cells = floats((0..costs.len()).map(value));
    let doubles: Vec<u8> = (0..costs.len()).flat_map(|at| f64::from(value(at)).to_ne_bytes()).collect();
    let form = Form { chunk: [64, 48], compression: 8, has_predictor: false };
    folder
        .write("f32.tif", tiff::<TiffKindStandard>(SIZE, form, &cells, 4, 3, &NORTH_UP, Some("-9999")))
        .write("f64.tif", tiff::<TiffKindBig>(SIZE, PLAIN, &doubles, 8, 3, &NORTH_UP, Some("-9999")));
    let distances = |name: &str| -> Vec<f32> {
        let (_, bytes) = super::flow::read_npy(&folder, name);
        bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    };
    for rule in ["entry", "exit", "mean"] {
        let flags = format!("{GOALS} --cost-rule {rule} --json");
        let report = |file: &str, out: &str| -> Value {
            serde_json::from_str(&folder.run(&format!("flow {file} {flags} --out {out}")).good()).unwrap()
        };
        let bound = report("f32.tif", "wanted.npy")["error_bound"].as_f64().unwrap();
        assert!(bound > 0.0 && bound < 1e-12, "{bound}");
        report("f64.tif", "found.npy");
        let (wanted, found) = (distances("wanted.npy"), distances("found.npy"));
        assert!(wanted == found, "{rule}");
        // In tiles the same, bit for bit.
        let tiled = report("f32.tif --tiles work --memory-limit 900K", "tiles.npy");
        let bound = tiled["error_bound"].as_f64().unwrap();
        assert!(bound > 0.0 && bound < 1e-11 && tiled["counts"]["tiles"].as_u64().unwrap() > 4, "{tiled}");
        assert!(distances("tiles.npy") == wanted, "{rule}");
        report("f64.tif --memory-limit 900K", "found.npy");
        assert!(distances("found.npy") == wanted, "{rule}");
        for file in ["wanted.npy", "tiles.npy"] {
            let check = |more: &str| {
                folder.run(&format!(
                    "flow f32.tif {GOALS} --cost-rule {rule} --check {file} --check-cells 30000 {more}"
                ))
            };
            check("").good();
            assert_eq!(check("--corners any").code, Some(1));
        }
    }
    for units in ["cells", "steps"] {
        for tiles in ["", "--tiles work"] {
            let error =
                folder.run(&format!("flow f32.tif --units {units} --goal 3,0 --out d.npy {tiles}")).bad();
            assert_eq!(error, format!("--units {units}: with friction in floats distances are in map units"));
        }
    }
    for flags in ["--clearance 2", "--edits even.tif"] {
        let error = folder.run(&format!("flow f32.tif {flags} --goal 3,0 --out d.npy")).bad();
        assert!(error.contains(": not with friction in floats or in map units"), "{error}");
    }
    folder.write("whole.tif", tiff::<TiffKindStandard>(SIZE, PLAIN, &wide(&costs), 2, 1, &[], None));
    for tiles in ["", "--tiles work"] {
        let error = folder.run(&format!("flow whole.tif --goal 3,0 --units map {tiles}")).bad();
        assert_eq!(error, "--units map: whole.tif says no place on a map, so its cells have no size");
    }
    let none = floats(vec![f32::NAN; width * height]);
    folder.write("none.tif", tiff::<TiffKindStandard>(SIZE, PLAIN, &none, 4, 3, &[], None));
    let error = folder.run("flow none.tif --goal 3,0").bad();
    assert!(error.contains("no goal is left: of 1 given, 1 are on obstacles"), "{error}");
}

/// One cell of another size changes nothing elsewhere, as where a fill value is not said to be no data: in one piece and in tiles.
#[test]
fn friction_over_a_wide_range() {
    let folder = Folder::new();
    let form = Form { chunk: [20, 1], compression: 1, has_predictor: false };
    let line = |fill: f32| {
        let cells = floats((0..20).map(|at| if at == 15 { fill } else { 1.0 + (at % 3) as f32 }));
        tiff::<TiffKindStandard>([20, 1], form, &cells, 4, 3, &[], None)
    };
    let check = || folder.run("flow line.tif --goal 0,0 --check d.npy");
    for (fill, tiles) in [1e2, 1e5, 1e9, f32::MAX, 1e-30]
        .into_iter()
        .flat_map(|fill| ["", "--tiles work"].map(|tiles| (fill, tiles)))
    {
        folder.write("line.tif", line(fill));
        let run = folder.run(&format!("flow line.tif --goal 0,0 --out d.npy {tiles}"));
        assert!(run.code == Some(0) && !run.stderr.contains("warning"), "{}", run.stderr);
        assert_eq!(check().code, Some(0), "{fill:e}");
        let (_, found) = super::flow::read_npy(&folder, "d.npy");
        let mut wanted = 0.0;
        for (at, bytes) in found.as_chunks().0.iter().enumerate() {
            assert_eq!(f32::from_le_bytes(*bytes), wanted as f32, "{fill:e}: {at}");
            wanted += if at == 15 { f64::from(fill) } else { 1.0 + (at % 3) as f64 };
        }
        // The distances of other friction are wrong, by little too.
        folder.write("line.tif", line(fill * 1.001));
        let wrong = check();
        // But where its cost is as good as nothing in the sum, and where f32 has the same number for all cells behind it.
        let is_seen = ![1e-30, 1e9].contains(&fill);
        assert_eq!(wrong.code, Some(i32::from(is_seen)), "{fill:e}: {}", wrong.stderr);
    }
    // What f32 can't hold is said.
    let cells: Vec<u8> = [1.0_f64, 1.0, 1e300, 1.0].iter().flat_map(|cell| cell.to_ne_bytes()).collect();
    let form = Form { chunk: [4, 1], ..form };
    folder.write("line.tif", tiff::<TiffKindStandard>([4, 1], form, &cells, 8, 3, &[], None));
    for tiles in ["", "--tiles work"] {
        let run = folder.run(&format!("flow line.tif --goal 3,0 --out d.npy {tiles}"));
        assert!(run.stderr.contains("distances up to 1e300 are reached"), "{}", run.stderr);
    }
}

/// Whole costs by the mean of both cells: whole steps count halves.
#[test]
fn the_mean_of_whole_costs() {
    let folder = Folder::new();
    let cells: Vec<u8> = [1_u16, 3, 8, 0].iter().flat_map(|cost| cost.to_ne_bytes()).collect();
    let form = Form { chunk: [4, 1], compression: 1, has_predictor: false };
    folder.write("line.tif", tiff::<TiffKindStandard>([4, 1], form, &cells, 2, 1, &[], None));
    folder.run("flow line.tif --goal 0,0 --connectivity 4 --cost-rule mean --out d.tif").good();
    let (image, _) = read_tiff(&folder, "d.tif");
    let DecodingResult::U32(found) = image else { panic!("{image:?}") };
    assert_eq!(found, [0, 4, 15, u32::MAX]);
    folder.run("flow line.tif --goal 0,0 --connectivity 4 --cost-rule mean --units cells --out d.tif").good();
    let (image, _) = read_tiff(&folder, "d.tif");
    let DecodingResult::F32(found) = image else { panic!("{image:?}") };
    assert_eq!(found, [0.0, 2.0, 7.5, f32::INFINITY]);
    folder.run("flow line.tif --goal 0,0 --connectivity 4 --cost-rule mean --check d.tif").good();
}

/// A comparator that can't fail proves nothing.
#[test]
fn one_wrong_distance_is_found() {
    let folder = folder();
    let check = |goals: &str, more: &str| {
        folder.run(&format!(
            "flow map.npy --cost cost.npy {goals} --check wanted.npy --check-cells 60000 {more}"
        ))
    };
    let table = check(GOALS, "").good();
    assert!(table.contains("60002"), "{table}");
    let run = check("--goal 4,0", "");
    assert_eq!(run.code, Some(1));
    assert!(
        run.stderr.contains("wanted.npy: ") && run.stderr.contains("cells are wrong, the first: (4, 0) has"),
        "{}",
        run.stderr
    );
    assert_eq!(check(GOALS, "--corners any").code, Some(1));
    assert_eq!(check(GOALS, "--max-distance 9000").code, Some(1));
    folder.run(&format!("flow map.npy --cost cost.npy {GOALS} --max-distance 9000 --out wanted.npy")).good();
    check(GOALS, "--max-distance 9000").good();
    let good = std::fs::read(folder.path("wanted.npy")).unwrap();
    for (at, bit) in [(1234, 0), (20_000, 1), (31_499, 31)] {
        let mut bad = good.clone();
        let byte = bad.len() - 4 * (SIZE[0] * SIZE[1] - at) + bit / 8;
        bad[byte] ^= 1 << (bit % 8);
        folder.write("wanted.npy", bad);
        let run = check(GOALS, "--max-distance 9000");
        let cell = format!("({}, {})", at % SIZE[0], at / SIZE[0]);
        assert!(run.code == Some(1) && run.stderr.contains("wrong"), "{cell}: {}", run.stderr);
    }
    folder.write("wanted.npy", good).write("small.npy", npy("<u4", false, "(1, 1)", &[0; 4]));
    let run = folder.run(&format!("flow map.npy {GOALS} --check small.npy"));
    assert_eq!(run.bad(), "small.npy: it has 1 x 1 cells, the map 210 x 150");
    let run = folder.run(&format!("flow map.npy {GOALS} --check cost.npy"));
    assert_eq!(run.bad(), "cost.npy: its cells are u16; distances are u32, u64 or floats");
}

#[test]
fn bad_rasters_are_one_clear_line() {
    let folder = Folder::new();
    let cells = wide(&friction(SIZE));
    let file = |form, cells: &[u8], bytes, format, tags: &[(Tag, &[f64])], no_data| {
        tiff::<TiffKindStandard>(SIZE, form, cells, bytes, format, tags, no_data)
    };
    let good = file(PLAIN, &cells, 2, 1, &NORTH_UP, None);
    let strip = Form { chunk: [210, 150], compression: 8, has_predictor: false };
    let packed = file(strip, &cells, 2, 1, &[], None);
    let damaged: Vec<u8> = packed
        .iter()
        .enumerate()
        .map(|(at, &byte)| if (40..60).contains(&at) { 0xee } else { byte })
        .collect();
    let replaced = |tag: Tag, value: u16| {
        let mut file = good.clone();
        let entry: Vec<u8> = [tag.to_u16().to_ne_bytes(), 3_u16.to_ne_bytes()].concat();
        let at = (file.len() - 300..file.len()).find(|&at| file[at..].starts_with(&entry)).unwrap();
        file[at + 8..at + 10].copy_from_slice(&value.to_ne_bytes());
        file
    };
    let mut colours = Cursor::new(Vec::new());
    let mut encoder = TiffEncoder::new(&mut colours).unwrap();
    encoder.write_image::<colortype::RGB8>(2, 2, &[7; 12]).unwrap();
    let large: Vec<u8> =
        (0..SIZE[0] * SIZE[1]).flat_map(|at| ((at as u64 + 1) * 1_000_000).to_ne_bytes()).collect();
    let flat: &[f64] = &[0.0; 16];
    folder
        .write("good.tif", &good)
        .write("short.tif", [&good[..200], &[0; 9]].concat())
        .write("empty.tif", "")
        .write("text.tif", "II, a text")
        .write("packed.tif", &packed)
        .write("damaged.tif", damaged)
        .write("nodata.tif", file(PLAIN, &vec![7; cells.len()], 2, 1, &[], Some("1799")))
        .write("flat.tif", file(PLAIN, &cells, 2, 1, &[(Tag::ModelTransformationTag, flat)], None))
        .write("nowhere.tif", file(PLAIN, &cells, 2, 1, &[], None))
        .write("large.tif", file(PLAIN, &large, 8, 1, &[], None))
        .write("palette.tif", replaced(Tag::PhotometricInterpretation, 3))
        .write("ycbcr.tif", replaced(Tag::PhotometricInterpretation, 6))
        .write("lerc.tif", replaced(Tag::Compression, 34_887))
        .write("complex.tif", replaced(Tag::SampleFormat, 6))
        .write("colours.tif", colours.into_inner())
        .write("alone.raw", [0; 10])
        .write("short.raw", [0; 10])
        .write("short.hdr", "ENVI\nsamples = 3\nlines = 2\ndata type = 12\n")
        .write("bands.raw", [0; 12])
        .write("bands.hdr", "ENVI\nsamples = 3\nlines = 2\nbands = 2\ndata type = 1\n");
    for (arguments, message) in [
        ("short.tif", "short.tif: it is cut short: its tags lie behind its end"),
        ("empty.tif", "empty.tif: it is no TIFF"),
        ("text.tif", "text.tif: it is no TIFF"),
        ("damaged.tif", "damaged.tif: strip 0 can't be read: "),
        ("nodata.tif", "no goal is left: of 1 given, 1 are on obstacles"),
        ("flat.tif --goal-at 1,2", "--goal-at 1,2: flat.tif: its map coordinates give cells no area"),
        ("nowhere.tif --goal-at 1,2", "--goal-at 1,2: nowhere.tif: it has no map coordinates"),
        ("good.tif --goal-at 1", "--goal-at: \"1\" is no X,Y"),
        ("good.tif --goal-at 1,nan", "--goal-at: \"1,nan\" is no X,Y"),
        ("large.tif", "cell (94, 20): cost is 4295000000, it must be 4294967295 at most (large.tif)"),
        ("palette.tif", "palette.tif: its cells are colours of a palette"),
        ("ycbcr.tif", "ycbcr.tif: its photometric interpretation is 6, which is for photographs"),
        (
            "lerc.tif",
            "lerc.tif: its compression is LERC (34887); none, LZW, Deflate, PackBits and Zstandard are",
        ),
        ("complex.tif", "complex.tif: its cells have 16 bits of sample format 6 (complex numbers)"),
        ("colours.tif", "colours.tif: it has 3 bands, a raster of one is read: name it by --band"),
        ("colours.tif --band 4", "colours.tif: there is no band 4: it has 3 bands"),
        ("good.tif --band 2", "good.tif: there is no band 2: it has 1 band"),
        ("none.tif", "none.tif: cannot be read"),
        (
            "alone.raw",
            "alone.raw: a raw raster has a header of ENVI or Esri beside it, alone.hdr: there is none",
        ),
        ("short.raw", "short.raw: it has 10 bytes of cells, which do not fit its shape [2, 3]"),
        ("bands.raw", "bands.hdr: it has 2 bands, a raster of one is read"),
        ("good.tif --map-values friction --cost good.tif", "--cost: the map's own numbers are friction"),
        ("good.tif --map-values obstacles", "it must be 0 (road) or 1 (obstacle) (good.tif)"),
    ] {
        for tiles in ["", "--tiles work"] {
            let goal = if arguments.contains("--goal-at") { "" } else { "--goal 0,0" };
            let error =
                folder.run(&format!("flow {arguments} {goal} --backend cpu --out d.tif {tiles}")).bad();
            assert!(error.contains(message), "{arguments}: {error}");
            let _ = std::fs::remove_dir_all(folder.path("work"));
        }
        super::assert_no_output(&folder, &folder.path("d.tif"));
    }
    // A strip of 63,000 bytes where 20,000 are left for all.
    let error = folder.run("flow packed.tif --goal 0,0 --tiles work --memory-limit 80K").bad();
    assert!(error.contains("packed.tif: its strips of 210 x 150 cells take 63000 bytes each"), "{error}");
    // One that is not a square is said so.
    let tags: [(Tag, &[f64]); 2] = [(Tag::ModelPixelScaleTag, &[30.0, 25.0, 0.0]), NORTH_UP[1]];
    folder.write("oblong.tif", file(PLAIN, &cells, 2, 1, &tags, None));
    let run = folder.run("flow oblong.tif --goal 0,0 --backend cpu");
    assert!(run.stderr.contains("30 wide and 25 high"), "{}", run.stderr);
}

/// A turned raster: goals are found by its matrix, which goes on to the distances.
#[test]
fn a_turned_raster_keeps_its_place() {
    let folder = Folder::new();
    // Columns run to the north east, rows to the south east.
    let matrix: [f64; 16] =
        [10.0, 10.0, 0.0, 1000.0, 10.0, -10.0, 0.0, 2000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    let tags: [(Tag, &[f64]); 1] = [(Tag::ModelTransformationTag, &matrix)];
    let cells = wide(&vec![1; SIZE[0] * SIZE[1]]);
    folder.write("turned.tif", tiff::<TiffKindStandard>(SIZE, PLAIN, &cells, 2, 1, &tags, None));
    // The centre of the cell (20, 5).
    let goal =
        [1000.0 + 10.0 * 20.5 + 10.0 * 5.5, 2000.0 + 10.0 * 20.5 - 10.0 * 5.5].map(|at| at.to_string());
    let run = folder.run(&format!("flow turned.tif --goal-at {} --tiles work --out d.tif", goal.join(",")));
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let (image, mut decoder) = read_tiff(&folder, "d.tif");
    let DecodingResult::U32(found) = image else { panic!("{image:?}") };
    assert_eq!(found.iter().position(|&distance| distance == 0), Some(5 * SIZE[0] + 20));
    assert_eq!(decoder.get_tag_f64_vec(Tag::ModelTransformationTag).unwrap(), matrix);
}

/// Starts the program over a raster of many tiles, and waits until some are solved.
fn start(folder: &Folder, arguments: &str) -> std::process::Child {
    let child = Command::new(env!("CARGO_BIN_EXE_hullfield"))
        .args(arguments.split_whitespace())
        .current_dir(&folder.0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    let tile_count = || {
        let entries = std::fs::read_dir(folder.path("work")).into_iter().flatten();
        entries
            .filter(|entry| {
                entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".bin"))
            })
            .count()
    };
    while tile_count() < 5 {
        assert!(Instant::now() < end, "no tile was solved");
        std::thread::sleep(Duration::from_millis(1));
    }
    child
}

/// A folder with a raster of friction.
fn large_folder(size: [usize; 2]) -> Folder {
    let folder = Folder::new();
    let form = Form { chunk: [size[0], 1], compression: 1, has_predictor: false };
    folder.write("large.tif", tiff::<TiffKindStandard>(size, form, &wide(&friction(size)), 2, 1, &[], None));
    folder
}

/// A process that is killed in the middle, and one that goes on where it was.
#[test]
fn a_killed_process_is_taken_up() {
    let folder = large_folder([1500, 1200]);
    let common = "flow large.tif --goal 3,0 --backend cpu --memory-limit 1100K";
    folder.run(&format!("{common} --out whole.tif --tiles other")).good();
    let mut child = start(&folder, &format!("{common} --out killed.tif --tiles work"));
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success(), "the process ended before it was killed");
    assert!(!folder.path("killed.tif").exists());
    let report: Value =
        serde_json::from_str(&folder.run(&format!("{common} --out killed.tif --tiles work --json")).good())
            .unwrap();
    assert!(report["counts"]["resumed"].as_u64().unwrap() >= 4, "{report}");
    assert!(report["counts"]["tiles"].as_u64().unwrap() > 50, "{report}");
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    assert!(bytes("killed.tif") == bytes("whole.tif"));
    assert!(!folder.path("work").exists());
}

#[test]
fn a_raster_that_shrinks_while_it_is_read_is_an_error() {
    let folder = large_folder([1500, 1200]);
    let child = start(
        &folder,
        "flow large.tif --goal 3,0 --backend cpu --memory-limit 1100K --tiles work --out d.tif",
    );
    let file = std::fs::File::options().write(true).open(folder.path("large.tif")).unwrap();
    file.set_len(1 << 20).unwrap();
    let output = child.wait_with_output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert_eq!(error, "hullfield: large.tif: it became shorter while it was read\n");
    super::assert_no_output(&folder, &folder.path("d.tif"));
    // Opened again it is cut short, and another raster than the tiles'.
    let error = folder.run("flow large.tif --goal 3,0 --tiles work").bad();
    assert!(error.starts_with("large.tif: it is ") && error.contains("cut short"), "{error}");
}

/// A disk that is full: an error of the machine, with nothing half written, and tiles that serve the next run.
#[cfg(unix)]
#[test]
fn a_full_disk_is_an_error() {
    // The output takes 2,520,000 bytes.
    let folder = large_folder([900, 700]);
    let program = env!("CARGO_BIN_EXE_hullfield");
    let common = "flow large.tif --goal 3,0 --backend cpu --memory-limit 1100K --tiles work --out d.tif";
    // Blocks of 512 or 1,024 bytes: enough for tiles, not for the output; and not for a tile.
    for (blocks, file) in [(2_000, "d.tif"), (20, "work/tile-")] {
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec {program} {common}");
        let output = Command::new("sh").args(["-c", &limited]).current_dir(&folder.0).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.starts_with(&format!("hullfield: {file}")) && error.lines().count() == 1, "{error}");
        super::assert_no_output(&folder, &folder.path("d.tif"));
        if blocks == 2_000 {
            std::fs::remove_dir_all(folder.path("work")).unwrap();
        }
    }
    folder.run(common).good();
}
