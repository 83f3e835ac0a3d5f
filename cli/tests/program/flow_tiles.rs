//! `flow` over maps solved in tiles: the same bytes as in one piece, and clear errors.

use serde_json::Value;

use super::flow::npy;
use super::{Folder, backend};

const SIZE: [usize; 2] = [210, 150];

/// A map with obstacles and costs that differ from cell to cell.
fn folder() -> Folder {
    let folder = Folder::new();
    let mixed = |at: usize| (at as u32 ^ 7).wrapping_mul(2_654_435_761).rotate_left(13).wrapping_mul(40_503);
    let count = SIZE[0] * SIZE[1];
    let cells: Vec<u8> = (0..count).map(|at| u8::from(at > 5 && mixed(at) >> 24 < 50)).collect();
    let costs: Vec<u8> =
        (0..count).flat_map(|at| ((mixed(at + count) >> 20) as u16 % 300 + 1).to_le_bytes()).collect();
    let shape = format!("({}, {})", SIZE[1], SIZE[0]);
    folder
        .write("map.npy", npy("|u1", false, &shape, &cells))
        .write("cost.npy", npy("<u2", false, &shape, &costs));
    folder
}

#[test]
fn tiles_write_the_bytes_of_one_piece() {
    let folder = folder();
    for flags in [
        "",
        "--cost cost.npy",
        "--connectivity 4",
        "--corners any --cost cost.npy",
        "--units cells",
        "--max-distance 9000",
    ] {
        let common =
            format!("flow map.npy --goal 3,0 --goal 200,140 --goal -4,2 --backend cpu {flags} --json");
        let whole = folder.run(&format!("{common} --out whole.npy"));
        // Tiles of 64 cells, chosen by hand and by the memory limit.
        let in_folder = folder.run(&format!("{common} --out folder.npy --tiles work --memory-limit 700K"));
        let limited = folder.run(&format!("{common} --out limited.npy --memory-limit 400K"));
        let [whole_json, tiles_json]: [Value; 2] = [&whole, &in_folder]
            .map(|run| serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr)));
        assert_eq!(limited.code, Some(0), "{}", limited.stderr);
        let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
        assert!(
            bytes("folder.npy") == bytes("whole.npy") && bytes("limited.npy") == bytes("whole.npy"),
            "{flags}"
        );
        assert_eq!(whole_json["farthest"], tiles_json["farthest"]);
        assert_eq!(whole_json["counts"]["reached"], tiles_json["counts"]["reached"]);
        assert_eq!(tiles_json["counts"]["tiles"], 12, "{tiles_json}");
        assert_eq!(tiles_json["goals"]["outside"], serde_json::json!([[-4, 2]]));
        assert!(in_folder.stderr.contains("1 of 3 goals outside the map"), "{}", in_folder.stderr);
        assert!(!folder.path("work").exists() && !folder.path("limited.npy.tiles").exists());
    }
    let table = folder.run("flow map.npy --goal 3,0 --tiles work").stdout;
    assert!(table.contains("210 x 150"), "{table}");
}

/// On a GPU too, and where the device may hold less than the map takes in one piece.
#[test]
fn an_engine_solves_tiles() {
    let (folder, backend) = (folder(), backend());
    let size = [900, 820];
    let cells: Vec<u8> = (0..size[0] * size[1])
        .map(|at| u8::from((at as u32).wrapping_mul(2_654_435_761) >> 24 < 60 && at > 5))
        .collect();
    folder.write("large.npy", npy("|u1", false, "(820, 900)", &cells));
    let bytes = |name: &str| std::fs::read(folder.path(name)).unwrap();
    for (flags, tiles) in [
        ("map.npy --cost cost.npy --goal 3,0 --goal 200,140", "--tiles work"),
        ("large.npy --goal 3,0", "--memory-limit 10M"),
    ] {
        folder.run(&format!("flow {flags} --backend cpu --out whole.npy")).good();
        let run = folder.run(&format!("flow {flags} --backend {backend} {tiles} --out tiles.npy --json"));
        let report: Value = serde_json::from_str(&run.good()).unwrap();
        assert_eq!(report["engine"]["backend"], backend);
        assert!(report["counts"]["tiles"].as_u64().unwrap() >= 1, "{report}");
        assert!(bytes("tiles.npy") == bytes("whole.npy"), "{flags}");
    }
    // Other rules of costs are the CPU's.
    let flags = format!("flow map.npy --goal 3,0 --cost-rule mean --backend {backend} --tiles work --json");
    let report: Value = serde_json::from_str(&folder.run(&flags).good()).unwrap();
    assert_eq!(report["engine"]["backend"], "cpu");
}

/// Distances of 2³² and more are errors in one piece.
#[test]
fn large_distances_are_written_in_64_bits() {
    let folder = Folder::new();
    let costs: Vec<u8> =
        [1, 1 << 31, 1 << 31, 5, u32::MAX].iter().flat_map(|cost: &u32| cost.to_le_bytes()).collect();
    folder
        .write("map.npy", npy("|b1", false, "(1, 5)", &[0; 5]))
        .write("cost.npy", npy("<u4", false, "(1, 5)", &costs));
    let run = folder
        .run("flow map.npy --cost cost.npy --goal 0,0 --connectivity 4 --tiles work --out d.npy --json");
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["type"], "<u8");
    let (header, cells) = super::flow::read_npy(&folder, "d.npy");
    assert!(header.contains("'descr': '<u8'"), "{header}");
    let found: Vec<u64> =
        cells.chunks_exact(8).map(|cell| u64::from_le_bytes(cell.try_into().unwrap())).collect();
    assert_eq!(found, [0, 1, (1 << 31) + 1, (1 << 32) + 1, (1 << 32) + 6]);
}

#[test]
fn bad_input_is_one_clear_line() {
    let folder = folder();
    let volume = npy("|u1", false, "(2, 2, 2)", &[0; 8]);
    folder
        .write("volume.npy", &volume)
        .write("column.npy", npy("|u1", true, "(2, 3)", &[0; 6]))
        .write("short.npy", npy("|u1", false, "(2, 3)", &[0; 5]))
        .write("two.npy", npy("<i2", false, "(1, 3)", &[0, 0, 2, 0, 0, 0]))
        .write("float.npy", npy("<f4", false, "(1, 3)", &[0; 12]))
        .write("free.npy", npy("<u2", false, "(1, 3)", &[1, 0, 0, 0, 1, 0]))
        .write("line.npy", npy("|u1", false, "(1, 3)", &[0; 3]))
        .write("map.map", "type octile\nheight 1\nwidth 2\nmap\n..\n");
    for (arguments, message) in [
        (
            "volume.npy --goal 0,0",
            "volume.npy: its shape is [2, 2, 2]; in tiles a map of [height, width] is solved",
        ),
        (
            "column.npy --goal 0,0",
            "column.npy: its first axis varies fastest (fortran_order); in tiles the last must",
        ),
        ("short.npy --goal 0,0", "short.npy: it has 5 bytes of cells, which do not fit its shape [2, 3]"),
        ("two.npy --goal 0,0", "cell (1, 0): cell is 2, it must be 0 (road) or 1 (obstacle) (two.npy)"),
        ("float.npy --goal 0,0", "float.npy: its cells are f32, bool or whole numbers expected"),
        ("line.npy --goal 0,0 --cost free.npy", "cell (1, 0): cost is 0, it must be 1 or more (free.npy)"),
        ("line.npy --goal 0,0 --cost cost.npy", "cost.npy: its shape is [150, 210], the map's is [1, 3]"),
        ("line.npy --goal 0,0 --cost line.npy", "line.npy: u16 or u32 expected"),
        ("line.npy --goal 7,0", "no goal is left: of 1 given, 0 are on obstacles, 1 off the grid"),
        ("map.map --goal 0,0", "map.map: it is not a .npy file"),
        ("none.npy --goal 0,0", "none.npy: cannot be read"),
        ("line.npy --goal 0,0 --out -", "--out -: tiles are written to a file"),
        ("line.npy --goal 0,0 --memory-limit 9", "the limit is 9"),
        (
            "line.npy --goal 0,0 --connectivity 6",
            "connectivity is 6 neighbours, a raster has two dimensions: 4 or 8 of them",
        ),
        ("line.npy --goal 0,0 --trace 1,0", "'--trace <x,y>' cannot be used with '--tiles <FOLDER>'"),
        ("line.npy --goal 0,0 --next n.npy", "'--next <next.npy>' cannot be used with '--tiles <FOLDER>'"),
    ] {
        let run = folder.run(&format!("flow {arguments} --tiles work"));
        assert_eq!(run.code, Some(2), "{arguments}: {}", run.stderr);
        assert!(run.stderr.contains(message), "{arguments}: {}", run.stderr);
        let _ = std::fs::remove_dir_all(folder.path("work"));
    }
    // Without a folder and without a file there is no place for tiles.
    for (flags, message) in [
        ("", "name a file by --out, or a folder by --tiles"),
        ("--out -", "name a file by --out, or a folder by --tiles"),
        ("--out d.npy --png p.png", "--png: --memory-limit is too small for the map in one piece"),
        ("--out d.npy --trace 1,1", "--trace: --memory-limit is too small for the map in one piece"),
    ] {
        let run = folder.run(&format!("flow map.npy --goal 3,0 --backend cpu --memory-limit 400K {flags}"));
        assert_eq!(run.code, Some(2), "{}", run.stderr);
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
    assert!(!folder.path("d.npy").exists());
}

/// A folder keeps its tiles when the work fails, and refuses those of another job.
#[test]
fn a_folder_of_tiles_belongs_to_one_job() {
    let folder = folder();
    let bad = npy("|u1", false, "(1, 200)", &[vec![0; 150], vec![7; 50]].concat());
    folder.write("bad.npy", bad);
    let run =
        folder.run("flow bad.npy --goal 0,0 --backend cpu --tiles work --memory-limit 700K --out d.npy");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(folder.path("work").exists() && !folder.path("d.npy").exists());
    let run = folder.run("flow map.npy --goal 3,0 --tiles work --out d.npy");
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("work: the folder holds tiles of another job"), "{}", run.stderr);
    folder.write("notes.txt", "mine");
    let run = folder.run("flow map.npy --goal 3,0 --tiles . --out d.npy");
    assert!(
        run.stderr.contains("the folder is not empty, and holds no tiles of hullfield"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.read("notes.txt"), "mine");
}
