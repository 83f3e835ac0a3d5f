//! Formats of rasters: types of cells, packing, bands, grids in text, virtual rasters; and files that claim what they do not have.

use super::Folder;
use super::raster_files::{Picture, Value, assert_near, distances, tiff};

const INF: f64 = f64::INFINITY;

/// Halves, numbers of a few bits, and Zstandard.
#[test]
fn types_of_cells_and_packing() {
    let folder = Folder::new();
    // 1, 1.5, 2 and 0.
    let halves: Vec<u8> =
        [0x3c00_u16, 0x3e00, 0x4000, 0].iter().flat_map(|half| half.to_le_bytes()).collect();
    let floats: Vec<u8> = [1.0_f32, 1.5, 2.0, 0.0].iter().flat_map(|cell| cell.to_le_bytes()).collect();
    let zstandard =
        |bytes: &[u8]| ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
    // Predictor 3: the bytes by their weight, the highest first, and the differences of neighbours.
    let mut sorted: Vec<u8> = (0..4)
        .rev()
        .flat_map(|weight| (0..4).map(move |cell| (cell, weight)))
        .map(|(cell, weight)| floats[4 * cell + weight])
        .collect();
    (1..16).rev().for_each(|at| sorted[at] = sorted[at].wrapping_sub(sorted[at - 1]));
    let packed = |bytes: &[u8], predictor: u16| {
        Picture::new([4, 1], 32, 3, &zstandard(bytes)).with_short(259, 50_000).with_short(317, predictor)
    };
    folder
        .write("half.tif", tiff(&[Picture::new([4, 1], 16, 3, &halves)]))
        .write("zstandard.tif", tiff(&[packed(&floats, 1)]))
        .write("differences.tif", tiff(&[packed(&sorted, 3)]));
    for name in ["half", "zstandard", "differences"] {
        assert_near(&distances(&folder, &format!("{name}.tif")), &[0.0, 1.0, 2.5, INF]);
    }
    folder
        .write("bit.tif", tiff(&[Picture::new([4, 1], 1, 1, &[0b1110_0000])]))
        .write("white.tif", tiff(&[Picture::new([4, 1], 1, 1, &[0b1110_0000]).with_short(262, 0)]))
        .write("twelve.tif", tiff(&[Picture::new([4, 1], 12, 1, &[0x00, 0x10, 0x01, 0x00, 0x10, 0x00])]))
        .write("nibble.tif", tiff(&[Picture::new([4, 1], 4, 1, &[0x11, 0x10])]));
    for name in ["bit", "white", "twelve", "nibble"] {
        assert_near(&distances(&folder, &format!("{name}.tif")), &[0.0, 1.0, 2.0, INF]);
    }
    for (tag, value, message) in [
        (258, 24, "its cells have 24 bits of sample format 3"),
        (266, 2, "its bits are stored in reverse (FillOrder 2), which is not read"),
        (259, 7, "its compression is JPEG (7); none, LZW, Deflate, PackBits and Zstandard are read"),
        (284, 3, "its planar configuration is 3, 1 and 2 are read"),
        (262, 4, "its first picture is a mask, not a raster"),
    ] {
        folder.write("a.tif", tiff(&[Picture::floats([4, 1], &[1.0; 4]).with_short(tag, value)]));
        let error = folder.run("flow a.tif --goal 0,0").bad();
        assert!(error.starts_with(&format!("a.tif: {message}")), "{error}");
    }
    for (bytes, message) in [
        (&b"version https://git-lfs.github.com/spec/v1\n"[..], "it is no TIFF, but a Git LFS pointer"),
        (&[0x1f, 0x8b, 8, 0], "it is no TIFF, but compressed with gzip"),
    ] {
        folder.write("a.tif", bytes);
        assert!(folder.run("flow a.tif --goal 0,0").bad().starts_with(&format!("a.tif: {message}")));
    }
}

/// Esri's grids in text: any case, line ends, `dx` and `dy`, corners and centres.
#[test]
fn grids_in_text() {
    let folder = Folder::new();
    let text = "ncols 3\nnrows 2\nxllcorner 100\nyllcorner 200\ndx 10\ndy 20\nNODATA_value -9999\n1 1.5 1\n2 -9999 .5\n";
    let wanted = [0.0, 10.0, 25.0, 20.0, INF, 45.0];
    let centre = text.replace("xllcorner 100", "XLLCENTER 105.").replace("yllcorner 200", "YllCenter 2.1e2");
    for text in [
        text.to_owned(),
        text.to_uppercase(),
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        format!("\u{feff}{}", text.replace(' ', "\t")),
        centre,
    ] {
        folder.write("g.asc", text);
        assert_near(&distances(&folder, "g.asc"), &wanted);
        assert_near(&distances(&folder, "g.asc --goal-at 101,239"), &wanted);
    }
    // Whole numbers count cells.
    let whole = "ncols 3\nnrows 1\ncellsize 5\nxllcorner 0\nyllcorner 0\n2 3 0\n";
    folder.write("w.asc", whole);
    assert_near(&distances(&folder, "w.asc"), &[0.0, 2.0, INF]);
    assert_near(&distances(&folder, "w.asc --units map"), &[0.0, 10.0, INF]);
    for (from, to, message) in [
        ("1 1.5 1", "1 1,5 1", "cell (1, 0) is \"1,5\", a number expected"),
        ("-9999 .5\n", "-9999\n", "it is cut short: it has 5 numbers for 6 cells"),
        (".5\n", ".5 7\n", "it has more numbers than its 6 cells: \"7\""),
        ("ncols 3", "ncols 3000000", "it is cut short: its header says 3000000 x 2 cells"),
        ("ncols 3", "ncols 4294967295", "the map is 4294967295 cells long"),
        ("ncols 3", "ncols -3", "its ncols is \"-3\""),
        ("dx 10", "dx 0", "its dx is \"0\""),
        ("dx 10", "north: 10", "it is a grid of GRASS"),
        ("dx 10", "byteorder I", "its header has \"byteorder\""),
        ("nrows 2\n", "", "its header has no ncols or no nrows"),
        ("value -9999", "value none", "its NODATA_value is \"none\""),
    ] {
        folder.write("g.asc", text.replace(from, to));
        let error = folder.run("flow g.asc --goal 0,0").bad();
        assert!(error.starts_with(&format!("g.asc: {message}")), "{error}");
    }
}

/// Bands by their number, in every order, of GeoTIFF and raw files.
#[test]
fn bands_are_named_by_their_number() {
    let folder = Folder::new();
    let bands = [[1_u8, 2, 0], [9, 9, 9], [4, 0, 1]];
    let cells: Vec<u8> = (0..3).flat_map(|cell| bands.map(|band| band[cell])).collect();
    let picture = Picture::bytes([3, 1], &cells)
        .with_short(277, 3)
        .with(258, Value::Shorts(vec![8; 3]))
        .with(339, Value::Shorts(vec![1; 3]))
        .with_short(262, 2);
    let mut packed = vec![8];
    packed.extend(&cells);
    let packed = Picture::bytes([3, 1], &packed).with_short(277, 3).with_short(259, 32_773);
    folder
        .write("a.tif", tiff(&[picture]))
        .write("packed.tif", tiff(&[packed]))
        .write("bip.raw", &cells)
        .write("bsq.raw", bands.concat());
    for name in ["bip", "bsq"] {
        folder.write(
            &format!("{name}.hdr"),
            format!("ENVI\nsamples = 3\nlines = 1\nbands = 3\ndata type = 1\ninterleave = {name}\n"),
        );
    }
    for name in ["a.tif", "packed.tif", "bip.raw", "bsq.raw"] {
        let error = folder.run(&format!("flow {name} --goal 0,0")).bad();
        assert!(error.ends_with("it has 3 bands, a raster of one is read: name it by --band"), "{error}");
        assert_near(&distances(&folder, &format!("{name} --band 1")), &[0.0, 1.0, INF]);
        assert_near(&distances(&folder, &format!("{name} --band 2")), &[0.0, 9.0, 18.0]);
        assert_near(&distances(&folder, &format!("{name} --band 3 --tiles work")), &[0.0, INF, INF]);
        let error = folder.run(&format!("flow {name} --band 4 --goal 0,0")).bad();
        assert!(error.ends_with("there is no band 4: it has 3 bands"), "{error}");
    }
    assert_eq!(folder.run("flow a.tif --band 0 --goal 0,0").code, Some(2));
}

/// Virtual rasters of one source: as it is, or a part of it.
#[test]
fn virtual_rasters() {
    let folder = Folder::new();
    let cells = Picture::bytes([4, 2], &[9, 9, 9, 9, 9, 1, 2, 3]).at([0.0, 0.0], [10.0, 10.0]);
    folder.write("source.tif", tiff(&[cells]));
    let text = "<VRTDataset rasterXSize=\"3\" rasterYSize=\"1\"><GeoTransform>0, 5, 0, 0, 0, -7</GeoTransform>\
        <VRTRasterBand dataType=\"Byte\" band=\"1\"><NoDataValue>3</NoDataValue><SimpleSource><SourceFilename relativeToVRT=\"1\">source.tif</SourceFilename>\
        <SourceBand>1</SourceBand><SrcRect xOff=\"1\" yOff=\"1\" xSize=\"3\" ySize=\"1\"/><DstRect xOff=\"0\" yOff=\"0\" xSize=\"3\" ySize=\"1\"/></SimpleSource>\
        </VRTRasterBand></VRTDataset>";
    folder.write("v.vrt", text);
    assert_near(&distances(&folder, "v.vrt"), &[0.0, 1.0, INF]);
    assert_near(&distances(&folder, "v.vrt --units map"), &[0.0, 5.0, INF]);
    let scaled = text.replace("<SimpleSource>", "<Scale>.5</Scale><SimpleSource>");
    folder.write("scaled.vrt", scaled);
    assert_near(&distances(&folder, "scaled.vrt"), &[0.0, 2.5, INF]);
    let two = text.replace("</SimpleSource>", "</SimpleSource><SimpleSource/>");
    for (text, message) in [
        (two, "its band has 2 sources, one is read"),
        (
            text.replace("<VRTDataset ", "<VRTDataset subClass=\"VRTWarpedDataset\" "),
            "it is a VRTWarpedDataset",
        ),
        (text.replace("source.tif", "none.tif"), "its source none.tif is no regular file"),
        (text.replace("source.tif", "/dev/zero"), "its source /dev/zero is of a format that is not read"),
        (text.replace("source.tif", "v.vrt"), "its source is a virtual raster too"),
        (text.replace("xOff=\"1\"", "xOff=\"2\""), "it shows more than its source has, which is 4 x 2"),
        (
            text.replace("xOff=\"1\"", "xOff=\"0.5\""),
            "it shows its source larger, smaller or between its cells",
        ),
        (text.replace("dataType=\"Byte\"", "dataType=\"Float32\""), "it turns its source's u8 into Float32"),
        (text.replace("</VRTDataset>", "<MaskBand/></VRTDataset>"), "it has a mask of its own"),
        (
            text.replace("<SourceBand>", "<LUT>0:1</LUT><SourceBand>"),
            "its source has a LUT, which is not read",
        ),
        (text.replace("rasterXSize=\"3\"", "rasterXSize=\"x\""), "its rasterXSize is \"x\""),
        ("<a/>".to_owned(), "it is no virtual raster"),
        ("<a".to_owned(), "it is no XML"),
    ] {
        folder.write("v.vrt", text);
        let error = folder.run("flow v.vrt --goal 0,0").bad();
        assert!(error.starts_with(&format!("v.vrt: {message}")), "{error}");
    }
}

/// What a header claims is bounded by the bytes of the file.
#[test]
fn claims_are_bounded_by_bytes() {
    let folder = Folder::new();
    let small = || Picture::bytes([4, 1], &[1; 4]);
    let most = i32::MAX as u32;
    // A strip of nothing, as GDAL leaves out what has no data.
    let claim = |width: u32, height: u32| {
        Picture::bytes([width, height], &[]).with_short(259, 8).with(278, Value::Longs(vec![height]))
    };
    let mut ring = tiff(&[small(), small().with_short(254, 1)]);
    let first = ring[4..8].to_vec();
    let end = ring.len() - 4;
    ring[end..].copy_from_slice(&first);
    folder
        .write("ring.tif", ring)
        .write("wide.tif", tiff(&[claim(most, most)]))
        .write("large.tif", tiff(&[claim(70_000, 50_000)]))
        .write("full.tif", tiff(&[claim(60_000, 60_000).with(279, Value::Longs(vec![10]))]))
        .write("tiles.tif", tiff(&[claim(most, most).with_short(322, 16).with_short(323, 16)]))
        .write("longer.tif", tiff(&[small().with(256, Value::Longs(vec![u32::MAX]))]))
        .write("none.tif", tiff(&[small().with(256, Value::Longs(vec![0]))]))
        .write("tag.tif", tiff(&[small().with(258, Value::Doubles(vec![8.0]))]))
        .write("raw.raw", [0; 12])
        .write("raw.hdr", "ENVI\nsamples = 2000000000\nlines = 2000000000\ndata type = 1\n");
    for (name, message) in [
        ("ring.tif", "ring.tif: its directories form a ring"),
        ("wide.tif", "are too many for one piece: --tiles solves it in tiles"),
        ("large.tif", "its 3500000000 cells are too many for one piece"),
        (
            "longer.tif",
            "longer.tif: it is 4294967295 x 1 cells, at most 2147483647 are allowed along each side",
        ),
        ("none.tif", "none.tif: the map is 0 x 1, it has no cells"),
        ("tag.tif", "tag.tif: its tag 258 has no whole numbers"),
        ("raw.raw", "raw.raw: it has 12 bytes of cells, which do not fit its shape [2000000000, 2000000000]"),
    ] {
        let error = folder.run(&format!("flow {name} --goal 0,0 --backend cpu")).bad();
        assert!(error.contains(message), "{name}: {error}");
    }
    for name in ["full.tif", "tiles.tif"] {
        folder.run(&format!("flow {name} --goal 0,0 --backend cpu")).bad();
    }
}
