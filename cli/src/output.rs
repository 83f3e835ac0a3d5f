//! Output files that appear whole or not at all.
//!
//! An output is written to a temporary file beside its target and renamed at the end. An unfinished file is removed when
//! the command fails (by `Drop`) and on Ctrl-C (by [`stop`]). Output to stdout is not held back. A file that is replaced keeps its mode. A
//! symbolic link stays, and the file that it leads to is written; a file of several names (hard links) is refused.

use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Where an output goes.
#[derive(Debug)]
enum Place {
    /// A device or a pipe, which is written to directly.
    Stream,
    /// A file, behind all links; the one that it replaces, if there is one.
    File(PathBuf, Option<Box<fs::Metadata>>),
}

/// The most links that lead from one to the next.
const MAX_LINKS: usize = 40;

/// Where an output of this name goes. Errors: a folder, a folder that does not exist, a name that is too long, links in a circle, a file of
/// several names, a file that may not be written.
fn place(target: &Path) -> Result<Place> {
    let unwritable = |error: &io::Error| Failure::unwritable(target, error);
    let refused = |message: &str| Failure::file(target, format!("cannot be written: {message}"));
    match fs::metadata(target) {
        Ok(metadata) if metadata.is_dir() => return Err(refused("it is a folder")),
        Ok(metadata) if !metadata.is_file() => return Ok(Place::Stream),
        _ => {}
    }
    let file = behind_links(target)?;
    if file.file_name().is_none() {
        return Err(refused("it names no file"));
    }
    let metadata = match fs::symlink_metadata(&file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // The folder is there, or this is the error.
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder =
                fs::metadata(folder.unwrap_or(Path::new("."))).map_err(|error| unwritable(&error))?;
            return if folder.is_dir() { Ok(Place::File(file, None)) } else { Err(unwritable(&error)) };
        }
        Err(error) => return Err(unwritable(&error)),
    };
    if name_count(&metadata) > 1 {
        return Err(refused("it is a file of several names (hard links), of which one would be replaced"));
    }
    // It is replaced, not written, so the system would not say so.
    File::options().write(true).open(&file).map_err(|error| unwritable(&error))?;
    Ok(Place::File(file, Some(Box::new(metadata))))
}

/// Follows the symbolic links from `target`. The path at the end need not exist.
fn behind_links(target: &Path) -> Result<PathBuf> {
    let mut path = target.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            // A relative path starts from the folder of the link.
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(Failure::file(target, "cannot be written: its links lead in a circle"))
}

/// How many names a file has.
fn name_count(metadata: &fs::Metadata) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    {
        let _ = metadata;
        1
    }
}

/// Gives a file the mode of the one that it replaces, and its owner where the system lets us.
fn keep_rights(file: &File, replaced: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        // Only the administrator may give a file to another user.
        let _ = std::os::unix::fs::fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    file.set_permissions(replaced.permissions())
}

/// A new file beside `finished`. Its name is short, as that of the output may be as long as names can be.
fn temporary(finished: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = finished.with_file_name(format!(".hullfield-{}-{number}.part", std::process::id()));
        // A file of this name, or a link, is of somebody else.
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (path, file)),
        }
    }
}

impl Output {
    /// Starts the file `target`, which appears at that path in [`Output::finish`].
    ///
    /// An existing device or pipe (`/dev/null`, `/dev/stdout`) is written to directly.
    pub(crate) fn create(target: &Path) -> Result<Self> {
        let unwritable = |error: &io::Error| Failure::unwritable(target, error);
        let (finished, replaced) = match place(target)? {
            Place::Stream => {
                let file = File::options().write(true).open(target).map_err(|error| unwritable(&error))?;
                return Ok(Self::new(target, None, file));
            }
            Place::File(finished, replaced) => (finished, replaced),
        };
        let mut list = unfinished();
        let (temporary, file) = temporary(&finished).map_err(|error| unwritable(&error))?;
        list.push(temporary.clone());
        drop(list);
        // Before anything is in it that others must not read.
        let kept = replaced.map_or(Ok(()), |replaced| keep_rights(&file, &replaced));
        let output = Self::new(target, Some(OutputPaths { finished, temporary }), file);
        kept.map_err(|error| unwritable(&error))?;
        Ok(output)
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

/// The file that a path leads to, by a path that all its names share.
fn identity(path: &Path) -> PathBuf {
    let there = || fs::canonicalize(path).ok();
    let not_there = || {
        let file = behind_links(path).ok()?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(file.file_name()?))
    };
    there().or_else(not_there).or_else(|| std::path::absolute(path).ok()).unwrap_or_else(|| path.to_owned())
}

/// Checks inputs and outputs before any work. Errors: two inputs from stdin, an extension that does not fit, two outputs to
/// one file, an output over an input, binary output to a terminal, a file that cannot be written. `inputs` are flags and their files.
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
        let target = identity(path);
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
        place(path)?;
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
        for good in ["d.npy", "d.NPY", "d", ".npy", "src/../d", "/dev/null"] {
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

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("mode");
        let target = folder.join("table.csv");
        for mode in [0o600, 0o640, 0o755] {
            fs::write(&target, "old").unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(mode)).unwrap();
            to_file(&target, |writer| writer.write_all(b"new")).unwrap();
            assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o7777, mode);
            assert_eq!(fs::read_to_string(&target).unwrap(), "new");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_followed_or_an_error() {
        use std::os::unix::fs::symlink;
        let folder = folder("dangling");
        let link = |to: &str, name: &str| {
            symlink(to, folder.join(name)).unwrap();
            folder.join(name)
        };
        let there = link("next.csv", "there.csv");
        let _ = link("new.csv", "next.csv");
        to_file(&there, |writer| writer.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(folder.join("new.csv")).unwrap(), "new");
        assert!(fs::symlink_metadata(&there).unwrap().is_symlink());
        let nowhere = link("none/x.csv", "nowhere.csv");
        let circle = link("circle.csv", "circle.csv");
        let hard = folder.join("hard.csv");
        fs::hard_link(folder.join("new.csv"), &hard).unwrap();
        for (path, message) in [
            (&nowhere, "No such file or directory"),
            (&circle, "its links lead in a circle"),
            (&hard, "it is a file of several names (hard links)"),
        ] {
            let found = to_file(path, |writer| writer.write_all(b"newer")).unwrap_err().to_string();
            assert!(found.contains(message), "{found}");
            // The same is said before any work.
            let path = Some(path.clone());
            let early = check_outputs(&[OutputFlag::text("--out", &path, &["csv"])], &[], false).unwrap_err();
            assert_eq!(early.to_string(), found);
        }
        assert!(fs::symlink_metadata(&nowhere).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&hard).unwrap(), "new");
        fs::remove_dir_all(&folder).unwrap();
    }

    /// The temporary file had a longer name than the file.
    #[test]
    fn a_name_may_be_as_long_as_the_system_allows() {
        let folder = folder("long");
        let name = |length: usize| folder.join("x".repeat(length - 4) + ".csv");
        to_file(&name(255), |writer| writer.write_all(b"new")).unwrap();
        let path = Some(name(256));
        let early = check_outputs(&[OutputFlag::text("--out", &path, &["csv"])], &[], false).unwrap_err();
        assert!(early.to_string().contains("cannot be written: ") && early.code() == 2, "{early}");
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
