//! Files with random faults: every reader of rasters, maps, tables, goals, scenarios and rooms ends in what it reads or in an error of one line, in
//! memory that the bytes of the files bound.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hullfield::flow::{Connectivity, Edit, Grid, RasterWindow};
use hullfield::navigate::room::Options as RoomOptions;
use hullfield_oracle::fuzz::{CountingAllocator, measured, minutes, mutate};
use hullfield_oracle::random::Random;

use super::bodies::{bodies, pairs};
use super::cells::{cell_scenarios, edits};
use super::goals::{GoalPlaces, goals};
use super::map::{costs, map, write_npy};
use super::mesh_files::point_sets;
use super::raster::{Georeference, RasterFile};
use super::rays::{rays, world_points};
use super::{room, surface};
use crate::failure::{Failure, Result};
use crate::tiff_output::{Packing, PutTile, TiffLayout};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

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

fn read_room_scenarios(path: &Path) -> Result<()> {
    room::scenarios(path).map(drop)
}

/// Bodies with all columns, as the program's queries lay them out: in both kinds of numbers, with motions.
fn read_bodies(path: &Path) -> Result<()> {
    for in_f64 in [false, true] {
        let bodies = bodies(path, &["box", "ball"], true, in_f64)?;
        let count = bodies.body_count();
        assert!(count <= bodies.bodies.len() && bodies.motions.len() == bodies.bodies.len());
        assert_eq!(bodies.positions.len(), if in_f64 { bodies.bodies.len() } else { 0 });
        let columns = bodies.columns();
        assert!(columns.worlds.is_empty() || columns.worlds.len() == bodies.bodies.len());
    }
    Ok(())
}

fn read_pairs(path: &Path) -> Result<()> {
    let pairs = pairs(path, 9)?;
    assert!(pairs.iter().all(|&[a, b]| a != b && a < 9 && b < 9));
    Ok(())
}

fn read_rays(path: &Path) -> Result<()> {
    rays(path, false)?;
    let rays = rays(path, true)?;
    assert!(rays.worlds.is_none_or(|worlds| worlds.len() == rays.rays.len()));
    Ok(())
}

fn read_points(path: &Path) -> Result<()> {
    world_points::<f32>(path)?;
    let points = world_points::<f64>(path)?;
    assert!(points.points.iter().flatten().all(|part| part.is_finite()));
    Ok(())
}

/// Hulls of a table of points.
fn read_hulls(path: &Path) -> Result<()> {
    let sets = point_sets(&[path.to_owned()])?;
    assert!(sets.sets.iter().all(|set| !set.points.is_empty()));
    Ok(())
}

fn read_edits(path: &Path) -> Result<()> {
    let grid = Grid::new([5, 4, 3], &[], Connectivity::Six.into())?;
    assert!(edits(path, &grid)?.iter().all(|edit| match *edit {
        Edit::Block(cell) | Edit::Free(cell) | Edit::Cost(cell, _) => grid.contains(cell),
        _ => false,
    }));
    Ok(())
}

fn read_goals(path: &Path) -> Result<()> {
    let place = Georeference::north_up([3.0, 4.0], [1.0, 1.0]);
    match goals(path, [3, 2], &place)? {
        GoalPlaces::Cells(cells) => assert!(!cells.is_empty()),
        GoalPlaces::Points(points) => assert!(points.iter().flatten().all(|part| part.is_finite())),
    }
    Ok(())
}

fn read_room_queries(path: &Path) -> Result<()> {
    room::queries(path).map(drop)
}

fn read_surface_queries(path: &Path) -> Result<()> {
    surface::queries(path).map(drop)
}

fn read_surface_goals(path: &Path) -> Result<()> {
    surface::goals(path, surface::QueryEnd { position: [0.0; 3], face: None }).map(drop)
}

fn read_links(path: &Path) -> Result<()> {
    let links = surface::links(path)?;
    assert!(links.iter().all(|(link, _)| !link.cost.is_nan()));
    Ok(())
}

fn read_faces(path: &Path) -> Result<()> {
    let faces = surface::faces(path, &[3, 9])?;
    assert!(faces.iter().all(|&[model, face]| face < [3, 9][model as usize]));
    Ok(())
}

/// A room, with a radius and without.
fn read_room(path: &Path) -> Result<()> {
    for radius in [0.0, 0.25] {
        room::room(path, RoomOptions { radius, ..RoomOptions::default() })?;
    }
    Ok(())
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
    all.extend(tables());
    all
}

/// Tables, goals, scenarios and rooms.
fn tables() -> Vec<Sample> {
    let geojson = r#"{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"MultiPoint",
        "coordinates":[[3.5,3.5],[4.5,2.5,9]]}},{"type":"Feature","geometry":null}]}"#;
    let asc = "ncols 3\nnrows 2\nxllcorner 3\nyllcorner 2\ncellsize 1\n0 1 0\n0 0 7\n";
    let mesh = "mesh\n2\n4 1\n0 0 1 -1\n4 0 1 -1\n4 4 1 -1\n0 4 1 -1\n4 0 1 2 3 -1 -1 -1 -1\n";
    vec![
        Sample::new(
            "bodies.csv",
            "hull,x,y,z,qx,qy,qz,qw,scale,radius,vx,vy,vz,wx,wy,wz,group,mask,world\n\
                box,1,2.5,-3e0,0,0,0,1,1,0,1,0,0,0,0,0.5,1,4294967295,0\n\"ball\",0,0,0,0,0.6,0,0.8,2,.5,0,0,0,0,0,0,1,1,7\n",
            read_bodies,
        ),
        Sample::new(
            "parts.csv",
            "hull,x,y,z,sx,sy,sz,body,part\nbox,0,0,0,1,2,3,0,0\nball,1,0,0,1,1,1,0,1\nbox,5,0,0,1,1,1,1,0\n",
            read_bodies,
        ),
        Sample::new("pairs.csv", "a,b\n0,1\n8,3\n\n2,7\n", read_pairs),
        Sample::new(
            "rays.csv",
            "ox,oy,oz,dx,dy,dz,max,world\n0,0,0,1,0,0,inf,0\n1e3,2,3,0,-1,.5,9,1\n",
            read_rays,
        ),
        Sample::new("points.csv", "x,y,z,world\n0,0,0,1\n1e9,2.5,-3,0\n", read_points),
        Sample::new("hulls.csv", "hull,x,y,z\na,0,0,0\na,1,0,0\na,0,1,0\n\"b, c\",0,0,1\n", read_hulls),
        Sample::new("edits.csv", "x,y,z,what,cost\n0,0,0,block,\n4,3,2,cost,12\n1,1,1,free,\n", read_edits),
        Sample::new("goals.csv", "x,y,z\n0,1,0\n2147483647,-1,5\n", read_goals),
        Sample::new("goals.geojson", geojson, read_goals),
        Sample::new("goals.asc", asc, read_goals),
        Sample::new("queries.csv", "x0,y0,x1,y1\n0,0,1,1\n-1e9,2.5,3,4\n", read_room_queries),
        Sample::new(
            "paths.csv",
            "x0,y0,z0,x1,y1,z1,model0,face0,model1,face1\n0,0,0,1,1,1,0,1,,\n1,2,3,4,5,6,,,,7\n",
            read_surface_queries,
        ),
        Sample::new("to.csv", "x1,y1,z1,model1,face1\n1,1,1,0,1\n4,5,6,,\n", read_surface_goals),
        Sample::new(
            "links.csv",
            "x0,y0,z0,x1,y1,z1,cost,two_way\n0,0,0,1,1,1,2.5,1\n1,2,3,4,5,6,0,0\n",
            read_links,
        ),
        Sample::new("faces.csv", "model,face\n0,1\n1,8\n", read_faces),
        Sample::new(
            "rooms.scen",
            "version 1\n0 a.mesh 0 0 0.5 1 2 3 3.25\n1 a.mesh 0 0 1 1 0 0 1.4\n",
            read_room_scenarios,
        ),
        Sample::new("a.mesh", mesh, read_room),
        Sample::new(
            "a.geojson",
            r#"{"type":"Polygon","coordinates":[[[0,0],[8,0],[8,6],[0,6],[0,0]],[[2,2],[4,2],[4,4],[2,2]]]}"#,
            read_room,
        ),
    ]
}

/// Words of these formats that readers may stumble over.
const WORDS: [&str; 14] = [
    "<",
    "[",
    "{",
    "[[[[[",
    "\"type\"",
    "\"Point\"",
    "x",
    "hull",
    "block",
    "cost",
    "ball",
    "version",
    "map",
    "1,2,3\n",
];

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What was found for one sample.
#[derive(Default)]
struct Count {
    read: u64,
    refused: u64,
    /// The most memory that a file took.
    largest: i64,
}

/// Reads one file with faults. Its memory is bounded by its bytes and those beside it.
fn check(sample: &Sample, folder: &Path, random: &mut Random, what: &str, count: &mut Count) {
    let mut bytes = sample.bytes.clone();
    for _ in 0..1 + random.below(3) * random.below(2) {
        mutate(random, &mut bytes, &sample.bytes, &WORDS);
    }
    std::fs::write(folder.join(sample.name), &bytes).unwrap();
    let (found, memory) = measured(|| (sample.read)(&folder.join(sample.read_name)));
    match found {
        Ok(()) => count.read += 1,
        Err(failure) => {
            let text = failure.one_line();
            let is_clear = failure.code() == 2 && text.len() < 2000 && !text.contains("fault of hullfield");
            assert!(is_clear, "{what}: {text}");
            count.refused += 1;
        }
    }
    let other_bytes: usize = sample.others.iter().map(|(_, bytes)| bytes.len()).sum();
    let most = MOST_TIMES * (bytes.len() + other_bytes) as i64 + MORE_BYTES;
    assert!(memory.peak <= most, "{what}: {} bytes for {}", memory.peak, bytes.len());
    count.largest = count.largest.max(memory.peak);
}

#[test]
fn files_with_faults_are_read_or_refused_in_bounded_memory() {
    let folder = std::env::temp_dir().join(format!("hullfield-fuzz-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let folder = Folder(folder);
    let rounds = hullfield_oracle::extent(200, 600);
    let seed = hullfield_oracle::seed(31);
    let (mut random, minutes, started) = (Random::new(seed), minutes(), Instant::now());
    let samples = samples();
    let mut counts: Vec<Count> = samples.iter().map(|_| Count::default()).collect();
    loop {
        for (number, (sample, count)) in samples.iter().zip(&mut counts).enumerate() {
            for entry in std::fs::read_dir(&folder.0).unwrap() {
                std::fs::remove_file(entry.unwrap().path()).unwrap();
            }
            let write = |name: &str, bytes: &[u8]| std::fs::write(folder.0.join(name), bytes).unwrap();
            sample.others.iter().for_each(|(name, bytes)| write(name, bytes));
            write(sample.name, &sample.bytes);
            let found = (sample.read)(&folder.0.join(sample.read_name));
            assert!(found.is_ok(), "sample {number}: {found:?}");
            for round in 0..rounds {
                let what = format!("sample {number} ({}), round {round}, seed {seed}", sample.name);
                check(sample, &folder.0, &mut random, &what, count);
            }
        }
        if minutes.is_none_or(|minutes| started.elapsed().as_secs_f64() > 60.0 * minutes) {
            break;
        }
    }
    for (number, (sample, Count { read, refused, largest })) in samples.iter().zip(&counts).enumerate() {
        println!("sample {number}, {}: {read} read, {refused} refused, at most {largest} bytes", sample.name);
        // Most faults are small, and most files show them. Any text may be the name of a reference system.
        assert!((*refused > 0 || sample.name == "d.prj") && read + refused > 100, "sample {number}");
    }
    let [read, refused] = [|count: &Count| count.read, |count: &Count| count.refused]
        .map(|of| counts.iter().map(of).sum::<u64>());
    println!("{} files with faults, seed {seed}: {read} were read, {refused} refused", read + refused);
    assert!(read > 1000 && refused > 1000, "{read} {refused}");
}
