//! Runs a test program until it ends, a test fails, or its time is over.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The largest address space of a test program, in KiB: a mutant may ask for all memory.
const MEMORY_KIB: u64 = 12 << 20;

/// How a program ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    Passed,
    /// With the name of the test, or what is known.
    Failed(String),
    TimedOut,
    /// A signal from outside ended it, which says nothing about its tests.
    Interrupted,
}

/// A run of a program.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) end: End,
    /// Processor time, which other work does not lengthen.
    pub(crate) time: Duration,
}

/// The interval at which the time of a program is read.
const TICK: Duration = Duration::from_millis(500);

/// A program that uses no processor time for this long is stuck.
const IDLE_LIMIT: Duration = Duration::from_secs(60);

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

/// Runs a test program. It is ended when a test fails, when it has used `limit` of processor time, or when it is stuck.
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
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break None,
        }
        clock.tick();
        if clock.used > limit || clock.idle > limit.min(IDLE_LIMIT) {
            break Some(End::TimedOut);
        }
    };
    if let Some(end) = early {
        kill(&mut child);
        return Ok(Run { end, time: clock.used });
    }
    clock.finish();
    let status = child.wait().map_err(|error| error.to_string())?;
    let end = if status.success() {
        End::Passed
    } else if is_interrupted(status) {
        End::Interrupted
    } else {
        End::Failed(format!("the program: {status}"))
    };
    Ok(Run { end, time: clock.used })
}

/// Whether a program has ended by a signal that people and tools send, and no program to itself: hangup, interrupt or termination.
#[cfg(unix)]
fn is_interrupted(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    matches!(status.signal(), Some(1 | 2 | 15))
}

#[cfg(not(unix))]
fn is_interrupted(_: ExitStatus) -> bool {
    false
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

/// The time of a program and of what it has started.
#[derive(Debug)]
struct Clock {
    group: u32,
    last: Instant,
    /// Of the processors; where it isn't known, the time that went by.
    used: Duration,
    /// How long all threads have waited.
    idle: Duration,
}

impl Clock {
    fn start(group: u32) -> Self {
        Self { group, last: Instant::now(), used: Duration::ZERO, idle: Duration::ZERO }
    }

    /// Looks at the program, unless it did so just now.
    fn tick(&mut self) {
        let elapsed = self.last.elapsed();
        if elapsed < TICK {
            return;
        }
        self.last = Instant::now();
        match Usage::of(self.group) {
            Some(usage) => {
                let is_idle = usage.is_waiting && usage.time <= self.used;
                self.idle = if is_idle { self.idle + elapsed } else { Duration::ZERO };
                self.used = self.used.max(usage.time);
            }
            None => self.used += elapsed,
        }
    }

    /// Looks at a program that ends, when it has ended and before that is asked for, as its times are gone then.
    fn finish(&mut self) {
        let start = Instant::now();
        while start.elapsed() < TICK {
            let Some(usage) = Usage::of(self.group) else { break };
            self.used = self.used.max(usage.time);
            if usage.has_ended {
                return;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        if !cfg!(target_os = "linux") {
            self.used += self.last.elapsed();
        }
    }
}

/// What Linux knows of the processes of a group.
#[derive(Debug)]
struct Usage {
    time: Duration,
    /// All threads wait.
    is_waiting: bool,
    /// The group's first process has ended.
    has_ended: bool,
}

impl Usage {
    /// None on other systems, and if there is no such group.
    fn of(group: u32) -> Option<Self> {
        /// Linux counts the time in hundredths of a second.
        const UNIT: Duration = Duration::from_millis(10);
        let mut usage = Self { time: Duration::ZERO, is_waiting: true, has_ended: false };
        let mut is_found = false;
        for process in std::fs::read_dir("/proc").ok()?.flatten() {
            let name = process.file_name();
            let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            let Some(fields) = fields(&process.path()) else { continue };
            // From the state, which is the third: see proc_pid_stat(5).
            let field = |number: usize| fields.get(number - 3).map_or("", String::as_str);
            if field(5) != group.to_string() {
                continue;
            }
            is_found = true;
            let counts = (14..=17).filter_map(|number| field(number).parse::<u32>().ok());
            usage.time += UNIT * counts.sum::<u32>();
            usage.has_ended |= id == group && field(3) == "Z";
            usage.is_waiting &= are_all_waiting(&process.path());
        }
        is_found.then_some(usage)
    }
}

/// The fields of `stat` in a folder of `/proc`, from the third on: the second, a name in parentheses, may have any characters.
fn fields(folder: &Path) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(folder.join("stat")).ok()?;
    let (_, fields) = text.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Whether all threads of a process wait. One that is stopped or that has no processor does not.
fn are_all_waiting(folder: &Path) -> bool {
    let Ok(threads) = std::fs::read_dir(folder.join("task")) else { return true };
    threads.flatten().all(|thread| {
        let fields = fields(&thread.path());
        fields.is_none_or(|fields| fields.first().is_some_and(|state| matches!(state.as_str(), "S" | "Z")))
    })
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
        assert_eq!(shell("kill -TERM $$", minute), End::Interrupted);
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
    fn the_time_is_that_of_the_processors() {
        let run = |script: &str, limit: Duration| {
            run(limited(Path::new("/bin/sh")).args(["-c", script]), limit).unwrap()
        };
        let minute = Duration::from_secs(60);
        let idle = run("sleep 1", minute);
        assert_eq!(idle.end, End::Passed);
        assert!(idle.time < Duration::from_millis(500), "{:?}", idle.time);
        let count = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done";
        let busy = run(count, minute);
        assert_eq!(busy.end, End::Passed);
        assert!(busy.time > Duration::from_millis(100), "{:?}", busy.time);
        // What a program has started counts too.
        let child = run(&format!("sh -c '{count}'; true"), minute);
        assert!(child.time > Duration::from_millis(100), "{:?}", child.time);
        let endless = "sh -c 'while :; do :; done'; true";
        assert_eq!(run(endless, Duration::from_millis(300)).end, End::TimedOut);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_stopped_program_does_not_wait_for_ever() {
        let script = "(sleep 2; kill -CONT $$) & kill -STOP $$; wait";
        let run = run(limited(Path::new("/bin/sh")).args(["-c", script]), Duration::from_secs(1)).unwrap();
        assert_eq!(run.end, End::Passed);
    }
}
