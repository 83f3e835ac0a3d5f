//! Runs a test program until it ends, a test fails, or its time is over.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How much address space a test program may have, in KiB: a mutant may ask for all memory.
const MEMORY_KIB: u64 = 12 << 20;

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    Passed,
    /// With the name of the test, or what is known.
    Failed(String),
    TimedOut,
}

/// A run of a program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) end: End,
    /// Without the time in which it was stopped by a signal.
    pub(crate) time: Duration,
}

/// How often it is looked whether a program is stopped.
const TICK: Duration = Duration::from_millis(200);

/// A command that starts a program with limited memory.
pub(crate) fn limited(program: &Path) -> Command {
    if cfg!(unix) {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {MEMORY_KIB}; exec \"$0\" \"$@\"")).arg(program);
        command
    } else {
        Command::new(program)
    }
}

/// Runs a test program. It is ended at its first test that fails.
///
/// # Errors
/// It cannot be started or waited for.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<Run, String> {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = child.map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    let lines = lines(&mut child);
    let mut clock = Clock::start(child.id());
    let early = loop {
        match lines.recv_timeout(TICK) {
            Ok(line) => {
                if let Some(name) = failed_test(&line) {
                    break Some(End::Failed(name.to_owned()));
                }
            }
            Err(RecvTimeoutError::Timeout) if clock.tick() > limit => break Some(End::TimedOut),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break None,
        }
    };
    if let Some(end) = early {
        kill(&mut child);
        return Ok(Run { end, time: clock.tick() });
    }
    let status = child.wait().map_err(|error| error.to_string())?;
    let end = if status.success() { End::Passed } else { End::Failed(format!("the program: {status}")) };
    Ok(Run { end, time: clock.tick() })
}

/// The lines of a program's output, as they come.
fn lines(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    if let Some(output) = child.stdout.take() {
        std::thread::spawn(move || {
            let lines = BufReader::new(output).split(b'\n').map_while(Result::ok);
            for line in lines {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    break;
                }
            }
        });
    }
    lines
}

/// The time of a program, without that in which it is stopped.
#[derive(Debug)]
struct Clock {
    process: u32,
    last: Instant,
    time: Duration,
}

impl Clock {
    fn start(process: u32) -> Self {
        Self { process, last: Instant::now(), time: Duration::ZERO }
    }

    /// Counts the time since the last call, unless the program is stopped.
    fn tick(&mut self) -> Duration {
        let now = Instant::now();
        if !is_stopped(self.process) {
            self.time += now - self.last;
        }
        self.last = now;
        self.time
    }
}

/// Whether a process is stopped by a signal; known on Linux alone.
fn is_stopped(process: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    // The name, in parentheses, may have any characters.
    text.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with(['T', 't']))
}

/// Ends a program and what it has started.
fn kill(child: &mut Child) {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// The test that a line of the test harness says to have failed.
fn failed_test(line: &str) -> Option<&str> {
    let (name, _) = line.strip_prefix("test ")?.split_once(" ... ")?;
    line.trim_end().ends_with("FAILED").then(|| name.strip_suffix(" - should panic").unwrap_or(name))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> End {
        let mut command = limited(Path::new("/bin/sh"));
        run(command.args(["-c", script]), limit).unwrap().end
    }

    #[test]
    fn a_program_passes_or_fails() {
        let minute = Duration::from_secs(60);
        assert_eq!(shell("echo 'test a ... ok'", minute), End::Passed);
        assert!(matches!(shell("exit 3", minute), End::Failed(_)));
        assert!(matches!(shell("kill -ABRT $$", minute), End::Failed(_)));
    }

    #[test]
    fn a_program_is_ended_at_its_first_failure_or_at_the_limit() {
        let start = Instant::now();
        let script = "echo 'test a ... ok'; echo 'test b - should panic ... FAILED'; sleep 50";
        assert_eq!(shell(script, Duration::from_secs(60)), End::Failed("b".into()));
        assert_eq!(shell("sleep 50 & sleep 50", Duration::from_millis(100)), End::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(40));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_time_of_a_stopped_program_does_not_count() {
        let script = "(sleep 2; kill -CONT $$) & kill -STOP $$; wait";
        let run = run(limited(Path::new("/bin/sh")).args(["-c", script]), Duration::from_secs(60)).unwrap();
        assert_eq!(run.end, End::Passed);
        assert!(run.time < Duration::from_millis(1900), "{:?}", run.time);
    }
}
