//! What rasters mean: where they have no data, what their numbers are scaled by, where they lie; and the formats that say so.

use super::Folder;
use super::raster_files::{Picture, Value, assert_near, distances, tiff, words};

const INF: f64 = f64::INFINITY;
const NO_DATA: u16 = 42113;
const METADATA: u16 = 42112;
const PURPOSE: u16 = 254;
const EXTRA_SAMPLES: u16 = 338;

/// Five cells of 1, 2, 3, 4 and 5; and what reaches the first of them where the fourth is shut, and where none is.
fn line() -> Picture {
    Picture::floats([5, 1], &[1.0, 2.0, 3.0, 4.0, 5.0])
}
const SHUT: [f64; 5] = [0.0, 1.0, 3.0, INF, INF];
const OPEN: [f64; 5] = [0.0, 1.0, 3.0, 6.0, 10.0];

#[test]
fn masks_say_where_data_is() {
    let folder = Folder::new();
    let mask = |bits: u16, cells: &[u8]| {
        Picture::new([5, 1], bits, 1, cells).with_short(PURPOSE, 4).with_short(262, 4)
    };
    let [one_bit, eight_bits] = [mask(1, &[0b1110_1000]), mask(8, &[255, 1, 7, 0, 255])];
    // A smaller copy of a mask is none.
    let smaller = Picture::bytes([2, 1], &[0, 0]).with_short(PURPOSE, 5);
    // A mask comes before a number of no data.
    let second = line().with_text(NO_DATA, "2");
    folder
        .write("one.tif", tiff(&[line(), one_bit.clone()]))
        .write("eight.tif", tiff(&[line(), smaller.clone(), eight_bits.clone()]))
        .write("both.tif", tiff(&[second.clone(), one_bit.clone()]))
        .write("number.tif", tiff(&[line().with_text(NO_DATA, "4")]))
        .write("copy.tif", tiff(&[line(), smaller]))
        .write("beside.tif", tiff(&[line()]))
        .write("beside.tif.msk", tiff(&[eight_bits]))
        .write("wrong.tif", tiff(&[line()]))
        .write("wrong.tif.msk", tiff(&[Picture::bytes([4, 1], &[1; 4])]));
    for name in ["one.tif", "eight.tif", "both.tif", "number.tif", "beside.tif"] {
        for tiles in ["", "--tiles work"] {
            assert_near(&distances(&folder, &format!("{name} {tiles}")), &SHUT);
        }
    }
    assert_near(&distances(&folder, "copy.tif"), &OPEN);
    let error = folder.run("flow wrong.tif --goal 0,0").bad();
    assert_eq!(error, "wrong.tif.msk: its mask is 4 x 1, the raster 5 x 1");
    // Obstacles of a map too.
    folder
        .write("map.tif", tiff(&[Picture::bytes([5, 1], &[0; 5]), one_bit]))
        .write("cost.tif", tiff(&[line()]));
    assert_near(&distances(&folder, "map.tif --cost cost.tif"), &SHUT);
}

/// Opacity is a mask where nothing else says where data is, of two bands and of four.
#[test]
fn a_band_of_opacity_is_a_mask() {
    let folder = Folder::new();
    let cells = [1, 255, 2, 255, 3, 255, 4, 0, 5, 9];
    let alpha = Picture::bytes([5, 1], &cells).with_short(277, 2).with_short(EXTRA_SAMPLES, 2);
    let planes: Vec<u8> = (0..2).flat_map(|band| cells.iter().skip(band).step_by(2).copied()).collect();
    let planar = Picture::bytes([5, 1], &planes).with_short(277, 2).with_short(EXTRA_SAMPLES, 1);
    folder
        .write("alpha.tif", tiff(std::slice::from_ref(&alpha)))
        .write("number.tif", tiff(&[alpha.clone().with_text(NO_DATA, "9")]))
        .write("other.tif", tiff(&[alpha.with_short(EXTRA_SAMPLES, 0)]));
    assert_near(&distances(&folder, "alpha.tif"), &SHUT);
    assert_near(&distances(&folder, "number.tif"), &OPEN);
    let error = folder.run("flow other.tif --goal 0,0").bad();
    assert_eq!(error, "other.tif: it has 2 bands, a raster of one is read: name it by --band");
    assert_near(&distances(&folder, "other.tif --band 1"), &OPEN);
    assert_near(&distances(&folder, "other.tif --band 2 --goal 4,0"), &[INF, INF, INF, INF, 0.0]);
    // Band behind band, in strips of their own.
    let bytes = tiff(&[planar]);
    let folder_planar = split_strips(bytes, 5);
    folder.write("planar.tif", folder_planar);
    assert_near(&distances(&folder, "planar.tif"), &SHUT);
}

/// Says that a file of one strip has two, each of so many bytes, one for each band.
fn split_strips(mut file: Vec<u8>, bytes: u32) -> Vec<u8> {
    let start = u32::from_le_bytes(file[4..8].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_le_bytes([file[start], file[start + 1]]));
    let mut entries: Vec<[u8; 12]> = file[start + 2..start + 2 + 12 * count].as_chunks().0.to_vec();
    for (tag, values) in [(273_u16, [8, 8 + bytes]), (279, [bytes, bytes])] {
        let at = file.len() as u32;
        file.extend(values.into_iter().flat_map(u32::to_le_bytes));
        let entry = entries.iter_mut().find(|entry| entry[..2] == tag.to_le_bytes()).unwrap();
        entry[4..8].copy_from_slice(&2_u32.to_le_bytes());
        entry[8..].copy_from_slice(&at.to_le_bytes());
    }
    let planar = [284_u16.to_le_bytes(), 3_u16.to_le_bytes(), [1, 0], [0, 0], [2, 0], [0, 0]].concat();
    entries.push(planar.try_into().unwrap());
    entries.sort_by_key(|entry| u16::from_le_bytes([entry[0], entry[1]]));
    let start = file.len() as u32;
    file[4..8].copy_from_slice(&start.to_le_bytes());
    file.extend((entries.len() as u16).to_le_bytes());
    file.extend(entries.concat());
    file.extend([0; 4]);
    file
}

/// Numbers of no data in the type of the cells, from the file and from beside it.
#[test]
fn numbers_of_no_data_are_compared_as_gdal_does() {
    let folder = Folder::new();
    let [large, near] = [f32::MAX, f32::from_bits((-9999.1_f32).to_bits() + 1)];
    for (fill, text) in [
        (large, "3.40282346600000016e+38"),
        (large, "3.4028234663852886e+38"),
        (near, "-9999.1"),
        (f32::NAN, "nan"),
    ] {
        let cells = Picture::floats([5, 1], &[1.0, 2.0, 3.0, fill, 5.0]).with_text(NO_DATA, text);
        folder.write("a.tif", tiff(&[cells]));
        assert_near(&distances(&folder, "a.tif"), &SHUT);
    }
    let bytes = |text: &str| tiff(&[Picture::bytes([5, 1], &[1, 2, 3, 4, 5]).with_text(NO_DATA, text)]);
    for (text, wanted) in [("4", SHUT), ("4.0 ", SHUT), ("260", OPEN), ("-252", OPEN), ("nan", OPEN)] {
        folder.write("a.tif", bytes(text));
        assert_near(&distances(&folder, "a.tif"), &wanted);
        assert_eq!(words(&folder, "a.tif"), "");
    }
    for text in ["3.5", "none"] {
        folder.write("a.tif", bytes(text));
        let word = format!(
            "hullfield: warning: a.tif: its number of no data is \"{text}\", which no cell of u8 has\n"
        );
        assert_eq!(words(&folder, "a.tif"), word);
    }
    // What stands beside the file comes first.
    let aux = |band: &str, inner: &str| {
        format!("<PAMDataset><PAMRasterBand band=\"{band}\">{inner}</PAMRasterBand></PAMDataset>")
    };
    folder.write("a.tif", bytes("2")).write("a.tif.aux.xml", aux("1", "<NoDataValue>4</NoDataValue>"));
    assert_near(&distances(&folder, "a.tif"), &SHUT);
    folder.write("a.tif.aux.xml", aux("2", "<NoDataValue>4</NoDataValue>"));
    assert_near(&distances(&folder, "a.tif"), &[0.0, INF, INF, INF, INF]);
    folder.write("a.tif.aux.xml", "<PAMDataset>");
    assert!(folder.run("flow a.tif --goal 0,0").bad().starts_with("a.tif.aux.xml: it is no XML: "));
    folder.write("a.tif.aux.xml", aux("1", "<Scale>two</Scale>"));
    assert_eq!(folder.run("flow a.tif --goal 0,0").bad(), "a.tif.aux.xml: its Scale is \"two\"");
}

/// A value is a stored number times the scale, plus the offset. The number of no data is a stored one.
#[test]
fn scales_and_offsets_are_applied() {
    let folder = Folder::new();
    let metadata = "<GDALMetadata><Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.5</Item>\
        <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">1</Item></GDALMetadata>";
    // 1, 2, 3 and 5, but for the fourth cell.
    let cells = Picture::bytes([5, 1], &[0, 2, 4, 99, 8]).with_text(METADATA, metadata);
    folder.write("a.tif", tiff(&[cells.clone().with_text(NO_DATA, "99")]));
    assert_near(&distances(&folder, "a.tif"), &SHUT);
    // A pair beside the file replaces both.
    let aux = "<PAMDataset><PAMRasterBand band=\"1\"><Offset>1</Offset></PAMRasterBand></PAMDataset>";
    folder.write("b.tif", tiff(&[cells])).write("b.tif.aux.xml", aux);
    assert_near(&distances(&folder, "b.tif"), &[0.0, 1.0, 4.0, 9.0, 109.0]);
    let error = folder.run("flow a.tif --map-values obstacles --goal 0,0").bad();
    assert_eq!(error, "a.tif: its cells are scaled, bool or whole numbers expected (|b1, |u1, <i8)");
    // Floats are scaled as well.
    let floats = line().with_text(METADATA, &metadata.replace("0.5", "2").replace(">1<", ">0<"));
    folder.write("c.tif", tiff(&[floats]));
    assert_near(&distances(&folder, "c.tif"), &OPEN.map(|distance| 2.0 * distance));
}

/// Places beside files, and transforms of every kind.
#[test]
fn cells_have_the_lengths_of_their_place() {
    let folder = Folder::new();
    let even = || Picture::floats([2, 2], &[1.0; 4]);
    // Turned by 30 degrees; south up; with a negative scale, whose sign GDAL ignores.
    let [cos, sin] = [0.75_f64.sqrt(), 0.5];
    let turned = [10.0 * cos, 20.0 * sin, 5.0, 10.0 * sin, -20.0 * cos, 7.0];
    folder
        .write("turned.tif", tiff(&[Picture::by(turned, even())]))
        .write("south.tif", tiff(&[Picture::by([10.0, 0.0, 5.0, 0.0, 20.0, 7.0], even())]))
        .write("sign.tif", tiff(&[even().at([5.0, 7.0], [10.0, -20.0])]))
        .write("world.tif", tiff(&[even()]))
        .write("world.tfw", "10\n0.0\n0\n-20.\n10\r\n-3\n")
        .write("wide.tif", tiff(&[even()]))
        .write("wide.wld", "10\r0\r0\r-20\r.5e1\r-3\r")
        .write("inner.tif", tiff(&[even().at([0.0, 0.0], [10.0, 20.0])]))
        .write("inner.tfw", "1\n0\n0\n-1\n0\n0\n")
        .write("aux.tif", tiff(&[even().at([0.0, 0.0], [1.0, 1.0])]))
        .write(
            "aux.tif.aux.xml",
            "<PAMDataset><GeoTransform>0, 10, 0, 0, 0, -20</GeoTransform></PAMDataset>",
        );
    for name in ["turned", "south", "sign", "world", "wide", "inner", "aux"] {
        assert_near(&distances(&folder, &format!("{name}.tif")), &[0.0, 10.0, 20.0, 30.0]);
    }
    // A world file says the centre of the first cell; the file of distances says its corner.
    folder.run("flow world.tif --goal-at 6,6 --out d.tif").good();
    assert_near(&distances(&folder, "world.tif --goal-at 6,6"), &[0.0, 10.0, 20.0, 30.0]);
    assert_near(
        &distances(&folder, "d.tif --map-values friction --goal-at 16,6 --units map"),
        &[INF, 0.0, 423.6068, 200.0],
    );
    folder.write("world.tfw", "10\n0\n0\n-20\n10\n");
    let error = folder.run("flow world.tif --goal 0,0").bad();
    assert_eq!(error, "world.tfw: a world file has six lines of a number each");
    // No grid of right angles.
    let points = Value::Doubles(vec![0.0; 24]);
    folder
        .write("sheared.tif", tiff(&[Picture::by([10.0, 4.0, 0.0, 0.0, -10.0, 0.0], even())]))
        .write("points.tif", tiff(&[even().with(33922, points)]))
        .write("slant.tif", tiff(&[even()]))
        .write("slant.tfw", "10\n3\n0\n-20\n10\n-3\n");
    for (name, message) in [
        ("sheared", "its columns and rows form no right angle (gdalwarp)"),
        ("slant", "its columns and rows form no right angle (gdalwarp)"),
        ("points", "its place is said by 4 control points, which lie on no grid (gdalwarp)"),
    ] {
        let error = folder.run(&format!("flow {name}.tif --goal 0,0")).bad();
        assert_eq!(error, format!("{name}.tif: {message}"));
    }
    // Whole numbers count cells, so there is only a warning; in map units there is none.
    let whole = Picture::by([10.0, 4.0, 0.0, 0.0, -10.0, 0.0], Picture::bytes([2, 2], &[1; 4]));
    folder.write("whole.tif", tiff(&[whole]));
    let text = words(&folder, "whole.tif");
    assert!(text.contains("form no right angle (gdalwarp): distances take its cells for squares"), "{text}");
    assert!(folder.run("flow whole.tif --units map --goal 0,0").bad().contains("no right angle"));
}

#[test]
fn whole_numbers_in_map_units() {
    let folder = Folder::new();
    let cells = Picture::bytes([2, 2], &[2, 3, 5, 0]).at([100.0, 900.0], [25.0, 40.0]).in_system(1, 32632);
    folder
        .write("a.tif", tiff(&[cells]))
        .write("open.tif", tiff(&[Picture::bytes([2, 2], &[0; 4]).at([0.0, 0.0], [3.0, 4.0])]));
    for tiles in ["", "--tiles work"] {
        assert_near(&distances(&folder, &format!("a.tif --units map {tiles}")), &[0.0, 50.0, 80.0, INF]);
        let open = format!("open.tif --map-values obstacles --units map {tiles}");
        assert_near(&distances(&folder, &open), &[0.0, 3.0, 4.0, 7.0]);
    }
    assert_near(&distances(&folder, "a.tif"), &[0.0, 2.0, 2.0, INF]);
    let text = words(&folder, "a.tif");
    assert!(text.contains("25 wide and 40 high"), "{text}");
    folder.run("flow a.tif --goal 0,0 --connectivity 4 --units map --out d.tif").good();
    folder.run("flow a.tif --goal 0,0 --connectivity 4 --units map --check d.tif").good();
}

/// Cells of friction 0 and less are counted, of every type and in tiles too.
#[test]
fn obstacles_of_zero_are_counted() {
    let folder = Folder::new();
    folder
        .write("f.tif", tiff(&[Picture::floats([5, 1], &[1.0, 0.0, 0.0, -2.0, f32::NAN])]))
        .write("u.tif", tiff(&[Picture::bytes([5, 1], &[1, 0, 0, 0, 9]).with_text(NO_DATA, "9")]))
        .write("n.tif", tiff(&[Picture::bytes([5, 1], &[1, 0, 0, 0, 9]).with_text(NO_DATA, "0")]))
        .write("m.map", "type octile\nheight 1\nwidth 5\nmap\n.....\n");
    let word = "hullfield: warning: NAME: cells whose friction is 0 or less are obstacles: COUNT; --units map --zero-friction free makes those of 0 free to travel\n";
    for (arguments, name, count) in [
        ("f.tif", "f.tif", "2 of 0 and 1 below 0"),
        ("u.tif", "u.tif", "3 of 0"),
        ("m.map --cost u.tif", "u.tif", "3 of 0"),
    ] {
        let word = word.replace("NAME", name).replace("COUNT", count);
        assert_eq!(words(&folder, arguments), word, "{arguments}");
        if !arguments.starts_with('m') {
            assert_eq!(words(&folder, &format!("{arguments} --tiles work")), word, "{arguments}");
        }
    }
    // No data is none of them.
    assert_eq!(words(&folder, "n.tif"), "");
}

/// A channel of friction 0 costs nothing, by every rule; what is below 0 stays an obstacle.
#[test]
fn zero_may_be_free_to_travel() {
    let folder = Folder::new();
    folder
        .write(
            "f.tif",
            tiff(&[Picture::floats([6, 1], &[0.0, 0.0, 4.0, 0.0, 0.0, -1.0]).at([0.0, 0.0], [10.0, 10.0])]),
        )
        .write(
            "u.tif",
            tiff(&[Picture::bytes([6, 1], &[0, 0, 4, 0, 0, 9])
                .with_text(NO_DATA, "9")
                .at([0.0, 0.0], [10.0, 10.0])]),
        )
        .write("z.tif", tiff(&[Picture::bytes([6, 1], &[0; 6]).at([0.0, 0.0], [10.0, 10.0])]));
    for name in ["f.tif", "u.tif"] {
        for (rule, wanted) in [
            ("entry", [0.0, 0.0, 0.0, 40.0, 40.0, INF]),
            ("exit", [0.0, 0.0, 40.0, 40.0, 40.0, INF]),
            ("mean", [0.0, 0.0, 20.0, 40.0, 40.0, INF]),
        ] {
            let flags = format!("{name} --units map --zero-friction free --cost-rule {rule}");
            assert_eq!(distances(&folder, &flags), wanted, "{flags}");
        }
        let text = folder
            .run(&format!("flow {name} --units map --zero-friction free --goal 0,0 --trace 4,0"))
            .good();
        assert!(text.contains("(4, 0) to (0, 0): 4 steps, distance 40 map units"), "{text}");
    }
    let word = "hullfield: warning: f.tif: cells whose friction is 0 or less are obstacles: 1 below 0; --units map --zero-friction free makes those of 0 free to travel\n";
    assert_eq!(words(&folder, "f.tif --units map --zero-friction free"), word);
    assert_eq!(words(&folder, "u.tif --units map --zero-friction free"), "");
    // Nothing but 0.
    assert_eq!(distances(&folder, "z.tif --units map --zero-friction free"), [0.0; 6]);
    let error = folder.run("flow u.tif --zero-friction free --goal 0,0").bad();
    assert_eq!(error, "--zero-friction free: only with distances in map units, of a raster (--units map)");
    let error = folder
        .run("flow u.tif --zero-friction free --units map --goal 0,0 --memory-limit 100 --out d.tif")
        .bad();
    assert_eq!(error, "--zero-friction free: --memory-limit is too small for the map in one piece");
}

/// A map and costs that lie elsewhere, have other cells, another order of rows or another reference system.
#[test]
fn rasters_of_different_places_are_refused() {
    let folder = Folder::new();
    let here = |picture: Picture| picture.at([400.0, 800.0], [10.0, 10.0]).in_system(1, 32631);
    let cost = || Picture::floats([2, 2], &[1.0; 4]);
    folder
        .write("map.tif", tiff(&[here(Picture::bytes([2, 2], &[0; 4]))]))
        .write("same.tif", tiff(&[here(cost())]))
        .write("moved.tif", tiff(&[cost().at([410.0, 800.0], [10.0, 10.0]).in_system(1, 32631)]))
        .write("finer.tif", tiff(&[cost().at([400.0, 800.0], [5.0, 5.0]).in_system(1, 32631)]))
        .write("south.tif", tiff(&[Picture::by([10.0, 0.0, 400.0, 0.0, 10.0, 780.0], cost()).in_system(1, 32631)]))
        .write("zone.tif", tiff(&[cost().at([400.0, 800.0], [10.0, 10.0]).in_system(1, 32632)]))
        .write("degrees.tif", tiff(&[cost().at([400.0, 800.0], [10.0, 10.0]).in_system(2, 4326)]))
        .write("nowhere.tif", tiff(&[cost()]))
        .write("named.tif", tiff(&[cost().at([400.0, 800.0], [10.0, 10.0])]))
        .write("named.prj", "PROJCS[\"A_grid_of_its_own\",GEOGCS[\"x\"]]")
        .write("m.yaml", "image: m.pgm\nresolution: 10\norigin: [400, 780, 0]\nnegate: 0\noccupied_thresh: .65\nfree_thresh: 0.2\n")
        .write("m.pgm", "P2 2 2 255\n255 255 255 255\n")
        .write("whole.tif", tiff(&[Picture::bytes([2, 2], &[1; 4]).at([400.0, 800.0], [10.0, 10.0])]))
        .write("away.tif", tiff(&[Picture::bytes([2, 2], &[1; 4]).at([0.0, 800.0], [10.0, 10.0])]));
    assert_eq!(words(&folder, "map.tif --cost same.tif"), "");
    let end = ": both must have the same cells (gdalwarp)";
    let map = "the map's at 400, 800 with cells of 10 x 10";
    for (name, message) in [
        ("moved", format!("its first corner lies at 410, 800 with cells of 10 x 10, {map}")),
        ("finer", format!("its first corner lies at 400, 800 with cells of 5 x 5, {map}")),
        ("south", format!("its first corner lies at 400, 780 with cells of 10 x 10, rows northward, {map}")),
        ("zone", "its reference system is EPSG:32632, the map's is EPSG:32631".to_owned()),
        ("degrees", "its reference system is EPSG:4326, the map's is EPSG:32631".to_owned()),
    ] {
        for tiles in ["", "--tiles work"] {
            let error = folder.run(&format!("flow map.tif --cost {name}.tif --goal 0,0 {tiles}")).bad();
            assert_eq!(error, format!("{name}.tif: {message}{end}"));
        }
    }
    let text = words(&folder, "map.tif --cost nowhere.tif");
    assert!(
        text.contains("nowhere.tif says no place on a map: its cells are taken for those of map.tif"),
        "{text}"
    );
    let text = words(&folder, "map.tif --cost named.tif");
    assert!(text.contains("named.tif is in A_grid_of_its_own, map.tif in EPSG:32631"), "{text}");
    // A map of ROS has a place too.
    assert_eq!(words(&folder, "m.yaml --cost whole.tif"), "");
    let error = folder.run("flow m.yaml --cost away.tif --goal 0,0").bad();
    assert!(error.starts_with("away.tif: its first corner lies at 0, 800"), "{error}");
}

#[test]
fn degrees_are_said_to_be_degrees() {
    let folder = Folder::new();
    let floats = || Picture::floats([2, 1], &[1.0; 2]).at([20.0, 70.0], [0.5, 0.5]);
    let raw: Vec<u8> = [1.0_f32; 2].iter().flat_map(|cell| cell.to_le_bytes()).collect();
    folder
        .write("keys.tif", tiff(&[floats().in_system(2, 4258)]))
        .write("text.tif", tiff(&[floats()]))
        .write("text.prj", "GEOGCS[\"GCS_WGS_1984\",DATUM[\"D_WGS_1984\"],UNIT[\"Degree\",0.0174532925199433]]")
        .write("envi.raw", &raw)
        .write("envi.hdr", "ENVI\nsamples = 2\nlines = 1\ndata type = 4\nmap info = {Geographic Lat/Lon, 1, 1, 20, 70, .5, .5, WGS-84, units=Degrees}\n")
        .write("aux.tif", tiff(&[floats().in_system(1, 32633)]))
        .write("aux.tif.aux.xml", "<PAMDataset><SRS>GEOGCRS[\"x\",ID[\"EPSG\",4326]]</SRS></PAMDataset>")
        .write("metres.tif", tiff(&[floats().in_system(1, 32633)]))
        .write("cells.tif", tiff(&[Picture::bytes([2, 1], &[1; 2]).at([20.0, 70.0], [0.5, 0.5]).in_system(2, 4326)]));
    for name in ["keys.tif", "text.tif", "envi.raw", "aux.tif"] {
        let text = words(&folder, name);
        assert!(
            text.contains(&format!(
                "{name}: its coordinates are degrees, so distances are degrees times friction"
            )),
            "{text}"
        );
    }
    assert_eq!(words(&folder, "metres.tif"), "");
    // A number alone says what its system is; a type that is said comes first.
    folder.write("away.tif", tiff(&[floats()]));
    for (code, is_degrees) in
        [("4326", true), ("4979", true), ("7844", true), ("4978", false), ("4087", false), ("5773", false)]
    {
        folder.write("away.tif.aux.xml", format!("<PAMDataset><SRS>EPSG:{code}</SRS></PAMDataset>"));
        assert_eq!(words(&folder, "away.tif").contains("are degrees"), is_degrees, "{code}");
    }
    for (model, code, is_degrees) in [(1, 4087, false), (2, 4258, true), (3, 4978, false)] {
        folder.write("kind.tif", tiff(&[floats().in_system(model, code)]));
        assert_eq!(words(&folder, "kind.tif").contains("are degrees"), is_degrees, "{model} {code}");
    }
    assert!(
        words(&folder, "cells.tif")
            .contains("its coordinates are degrees: distances take its cells for squares")
    );
}

/// Lengths in metres over degrees are those of geodesics; the wanted ones are GeographicLib's.
#[test]
fn degrees_have_lengths_in_metres() {
    let folder = Folder::new();
    let cells = [1.0_f32, 1.0, 1.0, 1.0, f32::NAN, 2.0];
    let floats = |cells: &[f32]| Picture::floats([2, 3], cells).at([20.0, 61.5], [1.0, 1.0]);
    folder.write("f.tif", tiff(&[floats(&cells).in_system(2, 4326)])).write(
        "whole.tif",
        tiff(&[Picture::bytes([2, 3], &[1, 1, 1, 1, 0, 2]).at([20.0, 61.5], [1.0, 1.0]).in_system(2, 4326)]),
    );
    // Centres at 61, 60 and 59 degrees north. By the mean of both cells' friction.
    let wanted = [0.0, 54_106.953, 111_420.728, 165_527.681, INF, 332_633.281];
    for name in ["f.tif", "whole.tif"] {
        for tiles in ["", "--tiles work"] {
            let flags = format!("{name} --units metres --cost-rule mean {tiles}");
            assert_near(&distances(&folder, &flags), &wanted);
            let run = folder.run(&format!("flow {flags} --goal 0,0 --out d.tif --json"));
            assert!(run.code == Some(0) && !run.stderr.contains("degrees"), "{}", run.stderr);
            let farthest =
                serde_json::from_str::<serde_json::Value>(&run.stdout).unwrap()["farthest"].as_f64();
            assert!((farthest.unwrap() - 291_338.732_9).abs() < 1e-3, "{farthest:?}");
            let check = |more: &str| {
                folder.run(&format!("flow {name} --cost-rule mean --goal 0,0 --check d.tif {more}"))
            };
            check("--units metres").good();
            assert_eq!(check("--units map").code, Some(1));
        }
    }
    let json: serde_json::Value = serde_json::from_str(
        &folder.run("flow f.tif --units metres --goal 0,0 --max-distance 60000 --trace 1,0 --json").good(),
    )
    .unwrap();
    assert_eq!((json["units"].as_str(), json["counts"]["reached"].as_u64()), (Some("metres"), Some(2)));
    assert!(json["error_bound"].as_f64().unwrap() < 1e-8);
    let text = folder.run("flow f.tif --units metres --goal 0,0 --trace 1,0").good();
    assert!(text.contains(" metres\n") && text.contains("distances in metres times friction"), "{text}");
    // Free travel, rows to the north, and grads on another globe.
    let grads = "GEOGCS[\"m\",DATUM[\"m\",SPHEROID[\"m\",3396190,0]],PRIMEM[\"p\",0],UNIT[\"grad\",0.01570796326794897]]";
    folder
        .write("mars.asc", "ncols 1\nnrows 3\nxllcorner 0\nyllcorner -1\ncellsize 1\n1\n0\n1\n")
        .write("mars.prj", grads);
    let step = 3_396_190.0 * 0.9_f64.to_radians();
    assert_near(&distances(&folder, "mars.asc --units metres"), &[0.0, INF, INF]);
    let free = distances(&folder, "mars.asc --units metres --zero-friction free");
    // Each step pays for the cell that it enters.
    assert_near(&free, &[0.0, step, step]);
    // What has no lengths in metres.
    folder
        .write("utm.tif", tiff(&[floats(&cells).in_system(1, 32633)]))
        .write("plain.tif", tiff(&[floats(&cells)]))
        .write("none.tif", tiff(&[Picture::floats([2, 3], &cells)]))
        .write(
            "wide.tif",
            tiff(&[Picture::floats([2, 1], &[1.0; 2]).at([0.0, 80.0], [120.0, 10.0]).in_system(2, 4326)]),
        )
        .write(
            "pole.tif",
            tiff(&[Picture::floats([1, 3], &[1.0; 3]).at([0.0, 92.0], [1.0, 1.0]).in_system(2, 4326)]),
        );
    for (name, what) in [
        (
            "utm.tif",
            "utm.tif: its coordinates are those of EPSG:32633, and no degrees: --units map counts them (--units metres)",
        ),
        (
            "plain.tif",
            "plain.tif: nothing says that its coordinates are degrees (a .prj beside it would) (--units metres)",
        ),
        ("none.tif", "none.tif: it says no place on a map, so its cells have no size (--units metres)"),
        ("wide.tif", "cell_width is 120, it must be more than 0 and up to 90 degrees"),
        ("pole.tif", "latitudes is [92, 89], the centres of rows must lie from -90 to 90 degrees"),
    ] {
        for tiles in ["", "--tiles work"] {
            let error =
                folder.run(&format!("flow {name} --units metres --goal 0,0 --out d.npy {tiles}")).bad();
            assert!(error.contains(what), "{error}");
        }
    }
}

/// Maps of ROS: fields for other programs, modes, opacity, and places in metres.
/// Bands and headers without end were sums that overflowed.
#[test]
fn headers_that_claim_too_much_are_refused() {
    let folder = Folder::new();
    let bands = u64::MAX;
    folder
        .write("many.bil", [0; 4])
        .write("many.hdr", format!("nrows 2\nncols 2\nnbits 8\nlayout bip\nnbands {bands}\n"))
        .write("far.bil", [0; 4])
        .write("far.hdr", format!("nrows 2\nncols 2\nnbits 8\nlayout bsq\nnbands 2\nskipbytes {bands}\n"))
        .write("place.bil", [1; 4])
        .write("place.hdr", "nrows 2\nncols 2\nnbits 8\nxllcorner nan\nyllcorner 0\ncellsize 1\n");
    for name in ["many.bil --band 1", "far.bil --band 2", "place.bil"] {
        let error = folder.run(&format!("flow {name} --goal 0,0")).bad();
        assert!(!error.contains("fault"), "{error}");
    }
}

#[test]
fn maps_of_ros() {
    let folder = Folder::new();
    let yaml = "image: m.pgm\nresolution: 0.5\norigin: [10.0, 20.0, 0.0]\nnegate: 0\noccupied_thresh: 0.8\nfree_thresh: 0.2\n";
    // 51 of 255 is a fifth: both thresholds themselves count.
    folder
        .write("m.pgm", "P2 # a comment\r3 2 255\n255 204 203\n52 51 255\n")
        .write("m.yaml", format!("\u{feff}{yaml}map_type: occupancy\nextra: {{ deep: [1, .5] }}\n"))
        .write("scale.yaml", format!("{yaml}mode: scale\n"))
        .write("raw.yaml", format!("{yaml}mode: raw\n"))
        .write("turned.yaml", yaml.replace("20.0, 0.0", "20.0, 1.5707963267948966"))
        .write("device.yaml", yaml.replace("m.pgm", "/dev/zero"))
        .write("dash.yaml", yaml.replace("m.pgm", "\"-\""))
        .write("other.yaml", format!("{yaml}mode: dual\n"))
        .write("bomb.yaml", format!("{yaml}a: &a [0, 0]\nb: &b [*a, *a]\nc: [*b, *b]\n"));
    let report = |name: &str| -> serde_json::Value {
        serde_json::from_str(&folder.run(&format!("flow {name} --goal 0,0 --backend cpu --json")).good())
            .unwrap()
    };
    let counts = |name: &str| {
        let counts = report(name)["counts"].clone();
        [counts["obstacles"].as_u64().unwrap(), counts["unknown"].as_u64().unwrap()]
    };
    // Free, free, unknown; unknown, occupied, free.
    assert_eq!(counts("m.yaml"), [3, 2]);
    assert_eq!(counts("scale.yaml"), [3, 0]);
    // Metres: the first row lies from 20.5 to 21.
    for (name, place) in [("m.yaml", "10.6,20.9"), ("turned.yaml", "9.1,20.6")] {
        let found = distances(&folder, &format!("{name} --goal-at={place} --units map"));
        assert_eq!(found, [0.5, 0.0, INF, INF, INF, INF], "{name}");
    }
    let text = folder.run("flow m.yaml --goal-at 10.1,20.6 --units map --trace 1,0").good();
    assert!(text.contains("0.50000 map units"), "{text}");
    // A limit in metres.
    for (limit, count) in [("0.49", 1), ("0.5", 2), ("100", 2)] {
        let flags = format!("flow m.yaml --goal-at 10.6,20.9 --units map --max-distance {limit} --json");
        let report: serde_json::Value = serde_json::from_str(&folder.run(&flags).good()).unwrap();
        assert_eq!(report["counts"]["reached"], count, "{limit}");
    }
    // Free in the mode raw is 0 alone; from 101 on nothing is known.
    folder.write("m.pgm", "P2 3 2 255\n0 1 100\n101 0 255\n");
    assert_eq!(counts("raw.yaml"), [4, 2]);
    // What shines through is unknown in the mode scale, and a fourth colour in trinary.
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 2, 1);
    encoder.set_color(png::ColorType::GrayscaleAlpha);
    encoder.write_header().unwrap().write_image_data(&[255, 255, 255, 100]).unwrap();
    folder.write("m.png", png);
    for (name, mode, wanted) in [("s.yaml", "scale", [1, 1]), ("t.yaml", "trinary", [0, 0])] {
        folder.write(name, format!("{}mode: {mode}\n", yaml.replace("m.pgm", "m.png")));
        assert_eq!(counts(name), wanted, "{mode}");
    }
    for (name, message) in [
        ("device.yaml", "/dev/zero: it is no regular file"),
        ("dash.yaml", "-: cannot be read: "),
        ("bomb.yaml", "bomb.yaml: line 8: aliases (*name) are not read"),
        ("m.yaml --band 2", "--band: m.yaml has no bands"),
        ("m.yaml --cost-rule exit", "--cost-rule: the map must be a raster"),
        ("m.yaml --allocation a.npy", "--allocation: the map must be a raster"),
        ("other.yaml", "other.yaml: field mode: \"dual\" is none of trinary, scale and raw"),
    ] {
        let error = folder.run(&format!("flow {name} --goal 0,0")).bad();
        assert!(error.contains(message.trim_start_matches("-: ")), "{error}");
    }
    // Other pictures have no place.
    let error = folder.run("flow m.png --goal 0,0 --units map").bad();
    assert_eq!(error, "--units map: m.png says no place on a map, so its cells have no size");
    assert!(folder.run("flow m.png --goal-at 1,2").bad().contains("m.png: it has no map coordinates"));
}
