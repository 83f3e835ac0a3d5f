//! Files with random faults: every reader of rasters and maps ends in what it reads or in an error of one line, in memory that the bytes of the files bound.

#![allow(unsafe_code, reason = "an allocator is unsafe to write")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::{Path, PathBuf};

use hullfield::flow::RasterWindow;

use super::cells::cell_scenarios;
use super::map::{costs, map, write_npy};
use super::raster::{Georeference, RasterFile};
use crate::failure::{Failure, Result};
use crate::random::Random;
use crate::tiff_output::{Packing, PutTile, TiffLayout};

/// The system's allocator, which counts what a thread holds.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

thread_local! {
    static CURRENT_BYTES: Cell<i64> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<i64> = const { Cell::new(0) };
}

fn count(bytes: i64) {
    let _ = CURRENT_BYTES.try_with(|current| {
        current.set(current.get() + bytes);
        let _ = PEAK_BYTES.try_with(|peak| peak.set(peak.get().max(current.get())));
    });
}

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as i64);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as i64));
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as i64 - layout.size() as i64);
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What a reader may take for each byte of its files, and beside that.
const MOST_TIMES: i64 = 100;
const MORE_BYTES: i64 = 1 << 24;
/// The side of the window that is read of a raster.
const SIDE: u32 = 50;

/// A file that gets faults, others beside it that do not, and what reads it: all by their names in a folder.
struct Sample {
    name: &'static str,
    bytes: Vec<u8>,
    others: Vec<(&'static str, Vec<u8>)>,
    /// The file that is read.
    read_name: &'static str,
    read: fn(&Path) -> Result<()>,
}

impl Sample {
    fn new(name: &'static str, bytes: impl Into<Vec<u8>>, read: fn(&Path) -> Result<()>) -> Self {
        Self { name, bytes: bytes.into(), others: Vec::new(), read_name: name, read }
    }

    fn beside(mut self, name: &'static str, bytes: impl Into<Vec<u8>>) -> Self {
        self.others.push((name, bytes.into()));
        self.read_name = name;
        self
    }
}

/// Opens a raster, and reads a window of it in all ways.
fn read_raster(path: &Path) -> Result<()> {
    for band in [None, Some(2)] {
        let file = match (RasterFile::open(path, band, 1 << 20), band) {
            (Err(_), Some(_)) => continue,
            (file, _) => file?,
        };
        let [width, height] = file.size.map(|length| length.min(SIDE));
        let window = RasterWindow { x: file.size[0] - width, y: file.size[1] - height, width, height };
        let [mut cells, mut values] = [0, 0];
        file.read(window, &mut |_, bytes| {
            cells += bytes.len() / file.kind.bytes;
            Ok(())
        })?;
        file.read_floats(window, &mut |_, floats| {
            values += floats.len();
            Ok(())
        })?;
        assert_eq!([cells, values], [window.cell_count(); 2]);
        if let Some(place) = &file.georeference {
            let _ = (place.cell_at([1.0, 2.0]), place.difference(place, file.size), place.is_sheared());
        }
    }
    Ok(())
}

fn read_map(path: &Path) -> Result<()> {
    let map = map(path)?;
    let count: usize = map.size.iter().map(|&length| length as usize).product();
    assert_eq!(count, map.obstacles.len());
    Ok(())
}

fn read_costs(path: &Path) -> Result<()> {
    let map = map(&path.with_file_name("beside.map"))?;
    let costs = costs(path, &map)?;
    assert_eq!(costs.len(), map.obstacles.len());
    Ok(())
}

fn read_scenarios(path: &Path) -> Result<()> {
    cell_scenarios(path, [3, 2, 1]).map(drop)
}

/// Tiled TIFFs of each packing, with a mask of few bits behind the first.
fn tiffs() -> Vec<Vec<u8>> {
    let place = Georeference::north_up([3.0, 4.0], [1.0, 1.0]);
    let packings = [Packing::None, Packing::Lzw, Packing::Deflate];
    let tiff = |packing| {
        let layout = TiffLayout {
            size: [20, 18],
            tile_edge: 16,
            bytes_each: 4,
            is_float: false,
            no_data: "7".into(),
            packing,
            georeference: Some(&place),
        };
        let mut file = std::io::Cursor::new(Vec::new());
        let tiles = |put: &mut PutTile<'_>| {
            [[0, 0], [1, 0], [0, 1], [1, 1]].into_iter().try_for_each(|tile| {
                let cells = (0..256_u32).flat_map(|at| (at / 5).to_ne_bytes()).collect();
                put(tile, &layout.pack(cells).unwrap())
            })
        };
        layout.write(&mut file, |error| Failure::input(error.to_string()), tiles).unwrap();
        file.into_inner()
    };
    packings.map(tiff).to_vec()
}

/// A TIFF of strips by its numbers: width, height, bits, compression, samples and the bytes of its strip; with a mask behind it.
fn strip_tiff([width, height]: [u16; 2], bits: u16, compression: u16, samples: u16, strip: &[u8]) -> Vec<u8> {
    let mut file = b"II\x2a\0\0\0\0\0".to_vec();
    let mut link = 4;
    let mask = vec![0b1011_0111; usize::from(width.div_ceil(8) * height)];
    for (purpose, bits, compression, samples, strip) in
        [(0, bits, compression, samples, strip), (4, 1, 1, 1, mask.as_slice())]
    {
        let start = file.len() as u32;
        file.extend(strip);
        let (length, at) = (strip.len() as u32, file.len() as u32);
        file[link..link + 4].copy_from_slice(&at.to_le_bytes());
        let (width, height) = (u32::from(width), u32::from(height));
        let short = |number: u16| (3_u16, u32::from(number));
        let tags = [
            (254, short(purpose)),
            (256, (4, width)),
            (257, (4, height)),
            (258, short(bits)),
            (259, short(compression)),
            (262, short(1)),
            (273, (4, start)),
            (277, short(samples)),
            (278, (4, height)),
            (279, (4, length)),
            (338, short(2)),
            (339, short(1)),
        ];
        file.extend((tags.len() as u16).to_le_bytes());
        for (tag, (kind, value)) in tags {
            file.extend([tag, kind].into_iter().flat_map(u16::to_le_bytes));
            file.extend([1, value].into_iter().flat_map(u32::to_le_bytes));
        }
        link = file.len();
        file.extend([0; 4]);
    }
    file
}

fn npy(descr: &str, shape: &[usize], cells: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    write_npy(&mut file, descr, shape, cells).unwrap();
    file
}

fn png() -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 7, 5);
    encoder.set_color(png::ColorType::GrayscaleAlpha);
    encoder.write_header().unwrap().write_image_data(&[200; 70]).unwrap();
    bytes
}

const ENVI: &str = "ENVI\nsamples = 3\nlines = 2\nbands = 1\ndata type = 12\nbyte order = 1\ninterleave = bil\ndata ignore value = 7\n\
    map info = {UTM, 1, 1, 5, 6, 30, 30, 33, North, WGS-84}\ndata gain values = {2}\n";
const ESRI: &str =
    "ncols 3\nnrows 2\nnbits 16\nnodata 5\nulxmap 3\nulymap 4\nxdim 1\nydim 2\ntotalrowbytes 6\n";
const GRID: &str =
    "ncols 3\nnrows 2\nxllcorner 1\nyllcenter 2\ncellsize 3\nNODATA_value -9\n1 2 3\n-9 .5 1e1\n";
const AUX: &str = "<PAMDataset><SRS>GEOGCS[\"x\",AUTHORITY[\"EPSG\",\"4326\"]]</SRS><GeoTransform>1, 2, 0, 3, 0, -4</GeoTransform>\
    <PAMRasterBand band=\"1\"><NoDataValue>3</NoDataValue><Scale>2</Scale></PAMRasterBand></PAMDataset>";
const VRT: &str = "<VRTDataset rasterXSize=\"2\" rasterYSize=\"1\"><VRTRasterBand dataType=\"UInt16\" band=\"1\"><SimpleSource>\
    <SourceFilename relativeToVRT=\"1\">b.bil</SourceFilename><SrcRect xOff=\"1\" yOff=\"1\" xSize=\"2\" ySize=\"1\"/>\
    <DstRect xOff=\"0\" yOff=\"0\" xSize=\"2\" ySize=\"1\"/></SimpleSource></VRTRasterBand></VRTDataset>";
const YAML: &str = "image: b.pgm\nresolution: 0.05\norigin: [-1.0, 2, 0.1]\nnegate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.196\nmode: scale\n";

fn samples() -> Vec<Sample> {
    let zstandard =
        ruzstd::encoding::compress_to_vec([5_u8; 60].as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    let map_text = "type octile\nheight 2\nwidth 3\nmap\n.@.\nTGS\n";
    let mut all: Vec<Sample> =
        tiffs().into_iter().map(|bytes| Sample::new("a.tif", bytes, read_raster)).collect();
    all.extend([
        Sample::new("a.tif", strip_tiff([10, 6], 8, 1, 1, &[3; 60]), read_raster),
        Sample::new("a.tif", strip_tiff([10, 3], 8, 1, 2, &[3; 60]), read_raster),
        Sample::new("a.tif", strip_tiff([10, 6], 8, 50_000, 1, &zstandard), read_raster),
        Sample::new("a.tif", strip_tiff([40, 3], 4, 1, 1, &[0x31; 60]), read_raster),
        Sample::new("a.tif", strip_tiff([60, 1], 8, 32_773, 1, &[0xc5, 7]), read_raster),
        Sample::new("b.tif.aux.xml", AUX, read_raster).beside("b.tif", strip_tiff([4, 2], 8, 1, 1, &[1; 8])),
        Sample::new("c.tfw", "1\n0.5\n0.\n-1\n7\n8\n", read_raster)
            .beside("c.tif", strip_tiff([4, 2], 8, 1, 1, &[1; 8])),
        Sample::new("d.prj", "PROJCS[\"x\",GEOGCS[\"y\",AUTHORITY[\"EPSG\",\"4326\"]]]", read_raster)
            .beside("d.tif", strip_tiff([4, 2], 8, 1, 1, &[1; 8])),
        Sample::new("a.hdr", ENVI, read_raster).beside("a.raw", [1; 12]),
        Sample::new("b.hdr", ESRI, read_raster).beside("b.bil", [1; 12]),
        Sample::new("a.asc", GRID, read_raster),
        Sample {
            others: vec![("b.hdr", ESRI.into()), ("b.bil", vec![1; 12])],
            ..Sample::new("a.vrt", VRT, read_raster)
        },
        Sample::new("a.npy", npy("<f4", &[2, 3], &[0; 24]), read_raster),
        Sample::new("a.npy", npy("|u1", &[1, 2, 3], &[0, 1, 0, 0, 1, 0]), read_map),
        Sample {
            others: vec![("beside.map", map_text.into())],
            ..Sample::new("cost.npy", npy("<u2", &[2, 3], &[1; 12]), read_costs)
        },
        Sample::new("a.map", map_text, read_map),
        Sample::new("a.pgm", "P2\n# c\n3 2\n255\n0 255 7\n1 2 3\n", read_map),
        Sample::new("a.pgm", [b"P5 3 2 65535\n".as_slice(), &[0; 12]].concat(), read_map),
        Sample::new("a.png", png(), read_map),
        Sample {
            others: vec![("b.pgm", b"P2 3 1 9\n0 4 9\n".to_vec())],
            ..Sample::new("a.yaml", YAML, read_map)
        },
        Sample::new(
            "a.scen",
            "version 1\n0 a.map 3 2 0 0 2 1 2.41421356\n1 a.map 3 2 1 1 0 0 1.4\n",
            read_scenarios,
        ),
    ]);
    all
}

/// Numbers at the ends of what fields hold.
const NUMBERS: [u64; 10] =
    [0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, 0x7fff_ffff_ffff_ffff, u64::MAX];
/// What texts are made of.
const TEXTS: [&str; 20] = [
    "0",
    "-1",
    "9",
    "1e9",
    "999999999",
    "2147483647",
    "4294967296",
    "18446744073709551616",
    "nan",
    "inf",
    ".5",
    "1.",
    " ",
    "\n",
    "\r",
    "\"",
    "<",
    "[",
    "{",
    "\u{feff}",
];

/// Puts faults into some bytes.
fn spoil(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.below(5) {
        let at = random.below(bytes.len().max(1)).min(bytes.len());
        let end = (at + 1 + random.below(12)).min(bytes.len());
        match random.below(9) {
            0 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte = random.bits() as u8),
            1 => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            2 | 3 => {
                let width = [1, 2, 4, 8][random.below(4)];
                let number = NUMBERS[random.below(NUMBERS.len())].to_le_bytes();
                let places = bytes.iter_mut().skip(at).take(width);
                places.zip(number).for_each(|(byte, new)| *byte = new);
            }
            4 => drop(bytes.drain(at..end)),
            5 => drop(bytes.splice(at..at, bytes[at..end].to_vec())),
            6 => {
                let text = TEXTS[random.below(TEXTS.len())].bytes();
                drop(bytes.splice(at..(at + random.below(4)).min(bytes.len()), text));
            }
            7 if random.below(4) == 0 => bytes.truncate(at),
            _ => {}
        }
    }
}

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_with_faults_are_read_or_refused_in_bounded_memory() {
    let folder = std::env::temp_dir().join(format!("hullfield-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let folder = Folder(folder);
    let rounds = hullfield_oracle::extent(200, 600);
    let seed = hullfield_oracle::seed(31);
    let mut random = Random::new(seed);
    let (mut good_count, mut bad_count, mut largest) = (0_u64, 0_u64, 0);
    for (number, sample) in samples().iter().enumerate() {
        for entry in std::fs::read_dir(&folder.0).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.0.join(name), bytes).unwrap();
        sample.others.iter().for_each(|(name, bytes)| write(name, bytes));
        let other_bytes: usize = sample.others.iter().map(|(_, bytes)| bytes.len()).sum();
        let path = folder.0.join(sample.read_name);
        write(sample.name, &sample.bytes);
        let found = (sample.read)(&path);
        assert!(found.is_ok(), "sample {number}: {found:?}");
        for round in 0..rounds {
            let mut bytes = sample.bytes.clone();
            spoil(&mut bytes, &mut random);
            write(sample.name, &bytes);
            PEAK_BYTES.with(|peak| peak.set(CURRENT_BYTES.get()));
            let before = CURRENT_BYTES.get();
            let found = (sample.read)(&path);
            let taken = PEAK_BYTES.get() - before;
            match found {
                Ok(()) => good_count += 1,
                Err(failure) => {
                    let text = failure.one_line();
                    assert!(
                        failure.code() == 2 && text.len() < 2000,
                        "sample {number}, round {round}: {text}"
                    );
                    bad_count += 1;
                }
            }
            let most = MOST_TIMES * (bytes.len() + other_bytes) as i64 + MORE_BYTES;
            assert!(
                taken <= most,
                "sample {number}, round {round}, seed {seed}: {taken} bytes for {}",
                bytes.len()
            );
            largest = largest.max(taken);
        }
    }
    println!(
        "{good_count} files with faults were read, {bad_count} refused, in at most {largest} bytes each"
    );
    assert!(good_count > 1000 && bad_count > 1000, "{good_count} {bad_count}");
}
