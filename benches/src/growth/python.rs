//! Peers in Python: a process that has their wheels, and gets each case through files. Its own clock times a run, so that reading and writing are
//! not in it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::growth::sweep::Contender;

const PROGRAM: &str = include_str!("peers.py");

/// An array for Python.
pub(crate) struct Array {
    bytes: Vec<u8>,
    /// As numpy names it, such as `<f4`.
    kind: &'static str,
    shape: Vec<usize>,
}

impl Array {
    pub(crate) fn f32(values: &[f32], shape: &[usize]) -> Self {
        Self { bytes: bytemuck::cast_slice(values).to_vec(), kind: "<f4", shape: shape.to_vec() }
    }

    pub(crate) fn f64(values: &[f64], shape: &[usize]) -> Self {
        Self { bytes: bytemuck::cast_slice(values).to_vec(), kind: "<f8", shape: shape.to_vec() }
    }

    pub(crate) fn u32(values: &[u32], shape: &[usize]) -> Self {
        Self { bytes: bytemuck::cast_slice(values).to_vec(), kind: "<u4", shape: shape.to_vec() }
    }

    pub(crate) fn bools(values: &[bool], shape: &[usize]) -> Self {
        Self {
            bytes: values.iter().map(|&value| u8::from(value)).collect(),
            kind: "|u1",
            shape: shape.to_vec(),
        }
    }
}

/// The process. It ends with this value.
pub(crate) struct Python {
    process: Child,
    pipes: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    folder: PathBuf,
    /// The wheels that import, with their versions.
    versions: BTreeMap<String, String>,
    /// Which case of which peer is loaded.
    loaded: RefCell<(String, u64)>,
    last_ms: Cell<f64>,
}

impl Python {
    /// Starts a Python program.
    ///
    /// # Errors
    /// A sentence for the user.
    pub(crate) fn start(program: &str) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("--python {program}: it cannot be started: {error}");
        let mut process = Command::new(program)
            .args(["-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let folder = std::env::temp_dir().join(format!("hullfield-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let (Some(stdin), Some(stdout)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(format!("--python {program}: it has no pipes"));
        };
        let mut python = Self {
            process,
            pipes: RefCell::new((stdin, BufReader::new(stdout))),
            folder,
            versions: BTreeMap::new(),
            loaded: RefCell::default(),
            last_ms: Cell::new(f64::NAN),
        };
        let reply =
            python.ask(&json!({"do": "peers"})).map_err(|error| format!("--python {program}: {error}"))?;
        for (name, version) in reply["peers"].as_object().into_iter().flatten() {
            python.versions.insert(name.clone(), version.as_str().unwrap_or("unknown").to_owned());
        }
        Ok(python)
    }

    /// The wheels that were found, for the header.
    pub(crate) fn found(&self) -> String {
        let all = ["skimage", "scipy", "pygeodesic", "potpourri3d", "coal"];
        let (mut there, mut missing) = (Vec::new(), Vec::new());
        for name in all {
            match self.versions.get(name) {
                Some(version) => there.push(format!("{name} {version}")),
                None => missing.push(name),
            }
        }
        let there = if there.is_empty() { "none".into() } else { there.join(", ") };
        if missing.is_empty() { there } else { format!("{there}; absent: {}", missing.join(", ")) }
    }

    fn ask(&self, command: &Value) -> Result<Value, String> {
        let (stdin, stdout) = &mut *self.pipes.borrow_mut();
        let ended = |_| "the Python process has ended".to_owned();
        writeln!(stdin, "{command}").and_then(|()| stdin.flush()).map_err(ended)?;
        let mut line = String::new();
        stdout.read_line(&mut line).map_err(ended)?;
        if line.is_empty() {
            return Err("the Python process has ended".into());
        }
        let reply: Value =
            serde_json::from_str(&line).map_err(|_| format!("Python answers {}", line.trim()))?;
        match reply["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(reply),
        }
    }

    fn load(&self, builder: &str, arrays: &[Array], given: &Value) -> Result<(), String> {
        let mut files = Vec::new();
        for (index, array) in arrays.iter().enumerate() {
            let path = self.folder.join(format!("{index}.bin"));
            std::fs::write(&path, &array.bytes).map_err(|error| format!("{}: {error}", path.display()))?;
            files.push(json!([path, array.kind, array.shape]));
        }
        self.ask(&json!({"do": "load", "peer": builder, "files": files, "given": given})).map(drop)
    }

    fn answer(&self) -> Result<Vec<f64>, String> {
        let path = self.folder.join("answer.bin");
        self.ask(&json!({"do": "answer", "path": path}))?;
        let bytes = read(&path)?;
        Ok(bytes
            .chunks_exact(8)
            .map(|eight| f64::from_le_bytes(eight.try_into().unwrap_or_default()))
            .collect())
    }

    /// A contender, if its wheel is there. `builder` is its function in `peers.py`; `case` gives the case and a number that differs from case to
    /// case. A run that is repeated gives no answer.
    pub(crate) fn contender<'a, C, A: Default>(
        &'a self,
        module: &str,
        builder: &'static str,
        case: impl Fn(&C) -> (u64, Vec<Array>, Value) + 'a,
        key: impl Fn(&C) -> u64 + 'a,
        answer: impl Fn(Vec<f64>) -> A + 'a,
    ) -> Option<Contender<'a, C, A>> {
        let name = format!("{module} {}", self.versions.get(module)?);
        let run = move |given: &C| {
            let is_new = *self.loaded.borrow() != (builder.to_owned(), key(given));
            if is_new {
                let (number, arrays, values) = case(given);
                self.load(builder, &arrays, &values)?;
                *self.loaded.borrow_mut() = (builder.to_owned(), number);
            }
            let reply = self.ask(&json!({"do": "run"}))?;
            self.last_ms.set(reply["ms"].as_f64().unwrap_or(f64::NAN));
            if is_new { Ok(answer(self.answer()?)) } else { Ok(A::default()) }
        };
        let mut contender = Contender::peer(name, run);
        contender.clock = Some(Box::new(move || self.last_ms.get()));
        Some(contender)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_there_is_a_sentence() {
        let error = Python::start("no such python").err().unwrap();
        assert!(error.starts_with("--python no such python: it cannot be started"), "{error}");
    }

    #[test]
    fn a_program_that_is_no_python_is_a_sentence() {
        if let Some(error) = Python::start("true").err() {
            assert!(error.starts_with("--python true: "), "{error}");
        }
    }
}
