//! Tests of the program as a whole: files in, files, tables, exit codes and errors out.

mod bad_input;
mod collide;
mod demo;
mod exit;
mod flow;
mod flow_costs;
mod flow_rasters;
mod flow_tiles;
mod foreign;
mod help;
mod hostile;
mod hull;
mod measure;
mod mesh_files;
mod parts;
mod path;
mod raster_files;
mod raster_formats;
mod raster_meaning;
mod ray;
mod room;
mod shape;
mod streams;
mod sweep;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The backend of the tests: the CPU, or the GPU if HULLFIELD_REQUIRE_GPU asks for it.
fn backend() -> &'static str {
    if std::env::var("HULLFIELD_REQUIRE_GPU").is_ok_and(|value| value == "1") { "gpu" } else { "cpu" }
}

/// The backend for tests of input and output, which no engine changes. Each run on a GPU compiles its pipelines anew, so these
/// tests use it only with HULLFIELD_LONG.
fn fast_backend() -> &'static str {
    if is_long() { backend() } else { "cpu" }
}

/// Whether all is to be tested, however long it takes.
fn is_long() -> bool {
    std::env::var("HULLFIELD_LONG").is_ok_and(|value| value == "1")
}

/// A temporary folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name =
            format!("hullfield-program-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), content).unwrap();
        self
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, sorted.
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// Runs the program in the folder; `arguments` are split at spaces.
    fn run(&self, arguments: &str) -> Run {
        let (code, stdout, stderr) = self.pipe(arguments, &[]);
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
        Run { code, stdout: text(stdout), stderr: text(stderr) }
    }

    /// Runs the program in the folder with these bytes on stdin. Returns the exit code, stdout and stderr.
    fn pipe(&self, arguments: &str, stdin: &[u8]) -> (Option<i32>, Vec<u8>, Vec<u8>) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hullfield"))
            .args(arguments.split_whitespace())
            .current_dir(&self.0)
            // Without it some drivers write to stderr.
            .env("XDG_RUNTIME_DIR", &self.0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut writer = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // A program that does not read stdin may end before all is written.
        let thread = std::thread::spawn(move || drop(writer.write_all(&bytes)));
        let output = child.wait_with_output().unwrap();
        thread.join().unwrap();
        (output.status.code(), output.stdout, output.stderr)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The output of a run.
#[derive(Debug)]
struct Run {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Run {
    /// Asserts exit code 0 and returns stdout.
    #[track_caller]
    fn good(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// Asserts exit code 2, an empty stdout and one line on stderr. Returns that line without the program's name.
    #[track_caller]
    fn bad(self) -> String {
        assert_eq!(self.code, Some(2), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        self.stderr.trim_end().strip_prefix("hullfield: ").unwrap().to_owned()
    }
}

/// The corners of a box of half extent 0.5.
fn corners() -> Vec<[f32; 3]> {
    (0..8).map(|i| [i & 1, i >> 1 & 1, i >> 2].map(|bit| bit as f32 - 0.5)).collect()
}

/// The faces of the box as triangles.
const TRIANGLES: [[usize; 3]; 12] = [
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
];

/// The box as an OBJ file, with an object of the name `box`.
fn box_obj() -> String {
    let mut text = "# a box\no box\n".to_owned();
    for [x, y, z] in corners() {
        text.push_str(&format!("v {x} {y} {z}\n"));
    }
    for [a, b, c] in TRIANGLES {
        text.push_str(&format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    }
    text
}

/// Boxes: 0 and 1 overlap, 2 and 3 share a face, 4 touches none.
const BODIES: &str = "hull,x,y,z\nbox,0,0,0\nbox,0.9,0.1,0\nbox,3,0,0\nbox,4,0,0\nbox,10,0,0\n";

/// The hits among [`BODIES`].
const HITS: &str = "a,b,status\n0,1,penetrating\n2,3,touching\n";

/// Asserts that there is neither the file nor an unfinished one.
#[track_caller]
fn assert_no_output(folder: &Folder, path: &Path) {
    assert!(!path.exists(), "{} exists", path.display());
    assert!(!folder.names().iter().any(|name| name.ends_with(".part")), "{:?}", folder.names());
}
