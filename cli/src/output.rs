//! Files that appear whole or not at all.
//!
//! An output is written to a temporary file beside its target and renamed at the end. What is still unfinished is
//! removed when the command fails (by `Drop`) and when the process is told to stop (by [`stop`]).

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::{Failure, Result};

/// The temporary files that exist at this moment.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every unfinished file and ends the process with 130, as a shell expects of Ctrl-C.
///
/// The list stays locked until the end, so no file can be begun or renamed meanwhile.
pub(crate) fn stop() -> ! {
    let list = unfinished();
    for path in list.iter() {
        let _ = fs::remove_file(path);
    }
    let _ = writeln!(io::stderr(), "hullfield: stopped");
    std::process::exit(130)
}

/// A file being written.
#[derive(Debug)]
pub(crate) struct Output {
    target: PathBuf,
    temporary: PathBuf,
    writer: Option<BufWriter<File>>,
}

impl Output {
    /// Begins the file `target`; nothing is at that path before [`Output::finish`].
    pub(crate) fn create(target: &Path) -> Result<Self> {
        if target.is_dir() {
            return Err(Failure::file(target, "cannot be written: it is a folder"));
        }
        let name = target
            .file_name()
            .ok_or_else(|| Failure::file(target, "cannot be written: it names no file"))?
            .to_string_lossy();
        let temporary = target.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let mut list = unfinished();
        let file = File::create(&temporary).map_err(|error| Failure::unwritable(target, &error))?;
        list.push(temporary.clone());
        drop(list);
        Ok(Self {
            target: target.to_owned(),
            temporary,
            writer: Some(BufWriter::with_capacity(1 << 18, file)),
        })
    }

    /// Writes what is buffered and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let failed = |error: &io::Error| Failure::unwritable(&self.target, error);
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner().map_err(|error| failed(error.error()))?;
            drop(file);
        }
        let mut list = unfinished();
        fs::rename(&self.temporary, &self.target).map_err(|error| failed(&error))?;
        list.retain(|path| *path != self.temporary);
        Ok(())
    }

    /// A write error as a failure that names the target.
    pub(crate) fn failed(&self, error: &io::Error) -> Failure {
        Failure::unwritable(&self.target, error)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.writer {
            Some(writer) => writer.write(bytes),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.writer = None;
        let mut list = unfinished();
        if list.contains(&self.temporary) {
            let _ = fs::remove_file(&self.temporary);
            list.retain(|path| *path != self.temporary);
        }
    }
}

/// Writes to stdout through one buffer; a reader that has gone is no error.
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut stdout = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    write(&mut stdout)
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::unwritable(Path::new("stdout"), &error))
}

/// Writes the whole file `target`, or nothing.
pub(crate) fn to_file(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut output = Output::create(target)?;
    write(&mut output).map_err(|error| output.failed(&error))?;
    output.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("hullfield-output-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = folder("failed");
        let target = folder.join("table.csv");
        fs::write(&target, "old").unwrap();
        let result = to_file(&target, |writer| {
            writer.write_all(&[b'x'; 1 << 20])?;
            Err(io::Error::other("broken"))
        });
        assert!(result.is_err());
        assert_eq!(fs::read_to_string(&target).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_finished_file_replaces_the_old_one() {
        let folder = folder("finished");
        let target = folder.join("table.csv");
        fs::write(&target, "old").unwrap();
        to_file(&target, |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
