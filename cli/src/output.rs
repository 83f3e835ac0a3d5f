//! Output files that appear whole or not at all.
//!
//! An output is written to a temporary file beside its target and renamed at the end. An unfinished file is removed when
//! the command fails (by `Drop`) and on Ctrl-C (by [`stop`]). Output to stdout is not held back.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::failure::{Failure, Result};
use crate::read::is_dash;

/// The temporary files that exist now.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every unfinished file and ends the process with 130, which shells expect after Ctrl-C.
///
/// The list stays locked until the end, so that no file is created or renamed meanwhile.
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
    /// What was asked for, for messages.
    target: PathBuf,
    /// The file and its temporary; none for a device or a pipe.
    paths: Option<OutputPaths>,
    writer: Option<BufWriter<File>>,
}

/// The path of a finished file, and its path until then.
#[derive(Debug)]
struct OutputPaths {
    finished: PathBuf,
    temporary: PathBuf,
}

impl Output {
    /// Starts the file `target`, which appears at that path in [`Output::finish`].
    ///
    /// An existing device or pipe (`/dev/null`, `/dev/stdout`) is written to directly.
    pub(crate) fn create(target: &Path) -> Result<Self> {
        let unwritable = |error: &io::Error| Failure::unwritable(target, error);
        let metadata = fs::metadata(target).ok();
        if metadata.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(Failure::file(target, "cannot be written: it is a folder"));
        }
        if metadata.as_ref().is_some_and(|metadata| !metadata.is_file()) {
            let file = File::options().write(true).open(target).map_err(|error| unwritable(&error))?;
            return Ok(Self::new(target, None, file));
        }
        // A link stays; the file that it leads to is replaced.
        let finished = match metadata {
            Some(_) => fs::canonicalize(target).map_err(|error| unwritable(&error))?,
            None => target.to_owned(),
        };
        let name = finished
            .file_name()
            .ok_or_else(|| Failure::file(target, "cannot be written: it names no file"))?
            .to_string_lossy();
        let temporary = finished.with_file_name(format!(".{name}.{}.part", std::process::id()));
        let mut list = unfinished();
        let file = File::create(&temporary).map_err(|error| unwritable(&error))?;
        list.push(temporary.clone());
        drop(list);
        Ok(Self::new(target, Some(OutputPaths { finished, temporary }), file))
    }

    fn new(target: &Path, paths: Option<OutputPaths>, file: File) -> Self {
        let writer = Some(BufWriter::with_capacity(1 << 18, file));
        Self { target: target.to_owned(), paths, writer }
    }

    /// Writes what is buffered and gives the file its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let failed = |error: &io::Error| Failure::unwritable(&self.target, error);
        if let Some(writer) = self.writer.take() {
            let file = writer.into_inner().map_err(|error| failed(error.error()))?;
            drop(file);
        }
        if let Some(OutputPaths { finished, temporary }) = &self.paths {
            let mut list = unfinished();
            fs::rename(temporary, finished).map_err(|error| failed(&error))?;
            list.retain(|path| path != temporary);
        }
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

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.writer {
            Some(writer) => writer.seek(to),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.writer = None;
        let Some(OutputPaths { temporary, .. }) = &self.paths else { return };
        let mut list = unfinished();
        if list.contains(temporary) {
            let _ = fs::remove_file(temporary);
            list.retain(|path| path != temporary);
        }
    }
}

/// The destination of an answer: a file that appears whole, or stdout.
#[derive(Debug)]
pub(crate) enum Sink {
    File(Output),
    Stdout(BufWriter<io::StdoutLock<'static>>),
}

impl Sink {
    /// The file `target`; stdout for none and for `-`.
    pub(crate) fn new(target: Option<&Path>) -> Result<Self> {
        Ok(match target.filter(|target| !is_dash(target)) {
            Some(target) => Self::File(Output::create(target)?),
            None => Self::Stdout(BufWriter::with_capacity(1 << 18, io::stdout().lock())),
        })
    }

    /// Writes all of `bytes`.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let written = match self {
            Self::File(output) => output.write_all(bytes),
            Self::Stdout(writer) => writer.write_all(bytes),
        };
        written.map_err(|error| self.failed(&error))
    }

    /// Writes what is buffered; a file gets its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        if let Self::Stdout(writer) = &mut self {
            let flushed = writer.flush();
            return flushed.map_err(|error| self.failed(&error));
        }
        match self {
            Self::File(output) => output.finish(),
            Self::Stdout(_) => Ok(()),
        }
    }

    fn failed(&self, error: &io::Error) -> Failure {
        match self {
            Self::File(output) => output.failed(error),
            Self::Stdout(_) => Failure::unwritable(Path::new("stdout"), error),
        }
    }
}

/// Writes a warning of one line to stderr.
pub(crate) fn warn(text: impl std::fmt::Display) {
    // A closed stderr is no reason to stop.
    let _ = writeln!(io::stderr(), "hullfield: warning: {text}");
}

/// Writes to stdout through one buffer. A reader that closes it is [`Failure::ReaderGone`].
pub(crate) fn to_stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut stdout = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    write(&mut stdout)
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::unwritable(Path::new("stdout"), &error))
}

/// Writes the file `target` as a whole or not at all; `-` is stdout.
pub(crate) fn to_file(target: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    if is_dash(target) {
        return to_stdout(write);
    }
    let mut output = Output::create(target)?;
    write(&mut output).map_err(|error| output.failed(&error))?;
    output.finish()
}

/// A flag that names an output, and the file that it was given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OutputFlag<'a> {
    flag: &'static str,
    path: Option<&'a Path>,
    /// The extensions that fit the format, without dots.
    extensions: &'static [&'static str],
    is_binary: bool,
}

impl<'a> OutputFlag<'a> {
    /// An output in text.
    pub(crate) fn text(
        flag: &'static str,
        path: &'a Option<PathBuf>,
        extensions: &'static [&'static str],
    ) -> Self {
        Self { flag, path: path.as_deref(), extensions, is_binary: false }
    }

    /// An output in bytes that no terminal shows.
    pub(crate) fn binary(
        flag: &'static str,
        path: &'a Option<PathBuf>,
        extensions: &'static [&'static str],
    ) -> Self {
        Self { is_binary: true, ..Self::text(flag, path, extensions) }
    }
}

/// The stream of the report for people: stdout, or stderr if an output goes to stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReportStream {
    to_stderr: bool,
}

impl ReportStream {
    /// Writes a report.
    pub(crate) fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        if self.to_stderr {
            // A closed stderr is no reason to stop.
            let _ = write(&mut BufWriter::new(io::stderr().lock()));
            return Ok(());
        }
        to_stdout(write)
    }
}

/// Checks inputs and outputs before any work. Errors: two inputs from stdin, an extension that does not fit, two outputs to
/// one file, an output over an input, binary output to a terminal. `inputs` are flags and their files.
pub(crate) fn check_outputs(
    outputs: &[OutputFlag<'_>],
    inputs: &[(&str, &Path)],
    as_json: bool,
) -> Result<ReportStream> {
    crate::read::one_stdin(inputs.iter().copied())?;
    let mut stdout = as_json.then_some("--json");
    let mut targets: Vec<(&str, PathBuf)> = Vec::new();
    for &OutputFlag { flag, path, extensions, is_binary } in outputs {
        let Some(path) = path else { continue };
        if is_dash(path) {
            if let Some(other) = stdout.replace(flag) {
                return Err(Failure::input(format!("{other} and {flag}: stdout (-) can take one of them")));
            }
            if is_binary && io::IsTerminal::is_terminal(&io::stdout()) {
                return Err(Failure::input(format!(
                    "{flag}: stdout is a terminal, which shows no .{}",
                    extensions[0]
                )));
            }
            continue;
        }
        // A device, for example a terminal, can be input and output, and take several outputs.
        let is_device = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let target = fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        let target = target.unwrap_or_else(|_| path.to_owned());
        let is_target = |input: &Path| fs::canonicalize(input).is_ok_and(|input| input == target);
        if !is_device && inputs.iter().any(|(_, input)| is_target(input)) {
            return Err(Failure::file(path, "cannot be written: it is one of the inputs"));
        }
        if let Some(found) = path.extension()
            && !extensions.iter().any(|extension| found.eq_ignore_ascii_case(extension))
        {
            let fit: Vec<String> = extensions.iter().map(|extension| format!(".{extension}")).collect();
            let fit = fit.join(" or ");
            let (path, found) = (path.display(), found.to_string_lossy());
            return Err(Failure::input(format!(
                "{flag}: {path} ends in .{found}, what is written is {fit}: give that, no extension, or - for stdout"
            )));
        }
        if is_device {
            continue;
        }
        if let Some((other, _)) = targets.iter().find(|(_, taken)| *taken == target) {
            return Err(Failure::input(format!(
                "{other} and {flag}: both would be written to {}",
                path.display()
            )));
        }
        targets.push((flag, target));
    }
    Ok(ReportStream { to_stderr: !as_json && stdout.is_some() })
}

/// Refuses `-` as a folder.
pub(crate) fn check_folder(flag: &str, path: Option<&Path>) -> Result<()> {
    match path {
        Some(path) if is_dash(path) => {
            Err(Failure::input(format!("{flag}: a folder is written, stdout (-) can't take it")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_that_does_not_fit_is_refused() {
        let check = |path: &str| {
            let path = Some(PathBuf::from(path));
            check_outputs(&[OutputFlag::binary("--out", &path, &["npy"])], &[], false)
                .map_err(|error| error.to_string())
        };
        for good in ["d.npy", "d.NPY", "d", ".npy", "a.b/d", "/dev/null"] {
            assert_eq!(check(good), Ok(ReportStream { to_stderr: false }), "{good}");
        }
        assert_eq!(
            check("d.txt").unwrap_err(),
            "--out: d.txt ends in .txt, what is written is .npy: give that, no extension, or - for stdout"
        );
        assert!(check("d.").is_err() && check("d.npy.gz").is_err());
    }

    #[test]
    fn stdout_takes_one_output() {
        let [dash, file] = ["-", "a.csv"].map(|path| Some(PathBuf::from(path)));
        let text = |flag, path| OutputFlag::text(flag, path, &["csv"]);
        let check = |flags: &[OutputFlag<'_>], json| {
            check_outputs(flags, &[], json).map_err(|error| error.to_string())
        };
        assert_eq!(
            check(&[text("--out", &dash), text("--points", &file)], false),
            Ok(ReportStream { to_stderr: true })
        );
        assert_eq!(check(&[text("--out", &file)], true), Ok(ReportStream { to_stderr: false }));
        let both = check(&[text("--out", &dash), text("--points", &dash)], false).unwrap_err();
        assert_eq!(both, "--out and --points: stdout (-) can take one of them");
        let both = check(&[text("--out", &dash)], true).unwrap_err();
        assert_eq!(both, "--json and --out: stdout (-) can take one of them");
        let both = check(&[text("--out", &file), text("--points", &file)], false).unwrap_err();
        assert_eq!(both, "--out and --points: both would be written to a.csv");
    }

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

    /// Renaming a file to `/dev/null` would take the device from the whole system.
    #[cfg(unix)]
    #[test]
    fn devices_and_links_stay_and_the_linked_file_is_replaced() {
        use std::os::unix::fs::FileTypeExt;
        to_file(Path::new("/dev/null"), |writer| writer.write_all(b"new")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
        let folder = folder("links");
        let (target, link) = (folder.join("table.csv"), folder.join("link.csv"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink("table.csv", &link).unwrap();
        to_file(&link, |writer| writer.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
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
