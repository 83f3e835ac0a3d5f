//! `hullfield-bench check`: a case that got slower is seen, counts repeat, and what cannot be compared is refused in a sentence.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// A small case.
const CASE: &str = "hulls";

/// A folder of a test. It is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("hullfield-watch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn check(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hullfield-bench"));
    command.arg("check").args(args);
    command
}

fn run(args: &[&str]) -> Output {
    check(args).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn json(path: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The exit code of counts that can't be compared, and of everything else that is refused.
const NOT_COMPARABLE: i32 = 3;
const REFUSED: i32 = 2;

/// The program's own sentence, without its progress.
fn refusal(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}{}", printed(output), said(output));
    let text = said(output);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("hullfield-bench: ")).collect();
    assert_eq!(lines.len(), 1, "{text}");
    lines[0].to_owned()
}

#[test]
fn counts_repeat_and_a_slower_case_is_seen() {
    let folder = Folder::new("slower");
    let (baseline, counts) = (folder.file("baseline.json"), folder.file("counts.json"));
    let args = ["--only", CASE, "--baseline", &baseline, "--json", &counts];
    let renewed = run(&[&args[..], &["--renew"]].concat());
    if renewed.status.code() == Some(NOT_COMPARABLE) && said(&renewed).contains("cannot be counted here") {
        eprintln!("skipped: {}", said(&renewed));
        return;
    }
    assert!(renewed.status.success(), "{}", said(&renewed));
    let before = json(&baseline)["cases"][CASE]["instructions"].as_f64().unwrap();
    assert!(before > 1e6, "{before}");

    let same = run(&args);
    assert!(same.status.success(), "{}{}", printed(&same), said(&same));
    let now = json(&counts)["tables"][0]["rows"][0]["instructions"].as_f64().unwrap();
    assert!((now / before - 1.0).abs() < 1e-3, "{before} and {now} instructions");

    let slower = run(&[&args[..], &["--slow-down", CASE]].concat());
    assert_eq!(slower.status.code(), Some(1), "{}{}", printed(&slower), said(&slower));
    assert!(printed(&slower).contains(&format!("FAILED: {CASE}: ")), "{}", printed(&slower));
    let twice = json(&counts)["tables"][0]["rows"][0]["instructions"].as_f64().unwrap();
    assert!((twice / before - 2.0).abs() < 0.02, "{before} and {twice} instructions");
}

#[test]
fn what_cannot_be_done_is_one_clear_sentence() {
    let folder = Folder::new("refused");
    let missing = folder.file("none.json");
    let (no_json, other) = (folder.file("no.json"), folder.file("other.json"));
    std::fs::write(&no_json, "no JSON").unwrap();
    std::fs::write(&other, r#"{"version": 99}"#).unwrap();
    for (args, part) in [
        (&["--baseline", &missing][..], "check --renew --baseline"),
        (&["--baseline", &no_json], "is not JSON"),
        (&["--baseline", &other], "version 99, and this program reads version 1"),
        (&["--only", "no such"], "--only no such: there are the cases hulls, "),
        (&["--slow-down", "no such"], "--slow-down no such: there are the cases"),
        (&["--case", "no such"], "there is no such case"),
        (&["--json", "/no such folder/counts.json"], "there is no folder /no such folder"),
        (&["--renew", "--baseline", "/no such folder/b.json"], "there is no folder /no such folder"),
        (&["--renew", "--only", CASE, "--baseline", &no_json], "is not JSON"),
    ] {
        let text = refusal(&run(args), REFUSED);
        assert!(text.contains(part), "{args:?}: {text}");
    }
    let output = run(&["--tolerance", "three"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("such as 10%"), "{}", said(&output));
    assert_eq!(std::fs::read_to_string(&no_json).unwrap(), "no JSON");
}

#[test]
fn without_a_counter_nothing_is_counted() {
    let folder = Folder::new("none");
    let baseline = folder.file("baseline.json");
    let mut command = check(&["--renew", "--baseline", &baseline]);
    let text = refusal(&command.env("PATH", &folder.0).output().unwrap(), NOT_COMPARABLE);
    assert!(text.contains("there is no valgrind"), "{text}");
    assert!(!Path::new(&baseline).exists());
}

/// A valgrind that runs the program, and then does `after`. The last argument is the number of rounds.
#[cfg(unix)]
fn imitate_valgrind(folder: &Folder, after: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.0.join("valgrind");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo valgrind-0 && exit\n\
         while [ \"${{1#--}}\" != \"$1\" ]; do shift; done\n\
         \"$@\" || exit\nfor rounds; do :; done\n{after}\n"
    );
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(unix)]
#[test]
fn the_files_and_exit_codes_follow_the_counts() {
    let folder = Folder::new("imitated");
    let baseline = folder.file("baseline.json");
    let run = |args: &[&str]| {
        let mut command = check(args);
        command.args(["--baseline", &baseline]).env("PATH", &folder.0).output().unwrap()
    };
    let counting = |each: u32| {
        imitate_valgrind(&folder, &format!("echo \"==1== I   refs:      $((900 + {each} * rounds))\" >&2"));
    };
    counting(1000);
    assert!(run(&["--only", "hulls", "--renew"]).status.success());
    assert!(run(&["--only", "room", "--renew"]).status.success());
    let names: Vec<String> = json(&baseline)["cases"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["hulls", "room"]);
    assert_eq!(json(&baseline)["cases"]["room"]["instructions"], 1000);
    assert_eq!(run(&["--only", "hulls"]).status.code(), Some(0));

    counting(1031);
    let more = run(&["--only", "room"]);
    assert_eq!(more.status.code(), Some(1));
    assert!(printed(&more).contains("FAILED: room: 3.10 % more instructions"), "{}", printed(&more));
    assert_eq!(run(&["--only", "room", "--tolerance", "4%"]).status.code(), Some(0));

    counting(900);
    let fewer = run(&["--only", "room"]);
    assert_eq!(fewer.status.code(), Some(0));
    assert!(printed(&fewer).contains("10.00 % fewer") && printed(&fewer).contains("keeps the gain"));

    // Other answers, cases that come and go, and other setups.
    let text = std::fs::read_to_string(&baseline).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        std::fs::write(&baseline, text.replace(from, to)).unwrap();
    };
    counting(1000);
    let checksum = json(&baseline)["cases"]["room"]["checksum"].as_str().unwrap().to_owned();
    changed(&checksum, "0123456789abcdef");
    let other = run(&["--only", "room"]);
    assert_eq!(other.status.code(), Some(1));
    assert!(printed(&other).contains("FAILED: room: the answer changed"), "{}", printed(&other));
    changed("\"room\"", "\"rooms\"");
    let renamed = run(&["--only", "room"]);
    assert_eq!(renamed.status.code(), Some(1));
    for part in ["FAILED: room: the baseline does not have", "FAILED: rooms: the baseline has this case"] {
        assert!(printed(&renamed).contains(part), "{}", printed(&renamed));
    }
    for (from, to) in [("\"valgrind\"", "\"perf\""), ("rustc ", "rustc 0."), ("linux", "plan9")] {
        if text.contains(from) {
            changed(from, to);
            let refused = refusal(&run(&["--only", "room"]), NOT_COMPARABLE);
            assert!(refused.contains("another setup") && refused.contains("renews it"), "{refused}");
        }
    }
}

/// Valgrind 3.19 cannot run one of the encodings of `vmovq` that LLVM uses.
#[cfg(unix)]
#[test]
fn a_case_that_cannot_be_counted_leaves_the_others() {
    let folder = Folder::new("unknown");
    let baseline = folder.file("baseline.json");
    let unknown =
        "case \"$*\" in *-128*) echo 'vex: unhandled instruction bytes: 0xC5 0x79' >&2; kill -ILL $$;; esac";
    imitate_valgrind(
        &folder,
        &format!("{unknown}\necho \"==1== I   refs:      $((900 + 1000 * rounds))\" >&2"),
    );
    let run = |args: &[&str]| {
        let mut command = check(args);
        command.args(["--baseline", &baseline]).env("PATH", &folder.0).output().unwrap()
    };
    let text = refusal(&run(&["--only", "intersections-128", "--renew"]), NOT_COMPARABLE);
    assert!(text.contains(
        "the case intersections-128 uses an instruction that this valgrind does not know (0xC5 0x79)"
    ));
    assert!(!Path::new(&baseline).exists());
    for (args, verdict) in [(&["--renew"][..], "renewed"), (&[], "same")] {
        let output = run(&[&["--only", "intersections"], args].concat());
        let text = refusal(&output, NOT_COMPARABLE);
        assert!(text.contains("intersections-128 uses"), "{text}");
        assert!(printed(&output).contains(verdict), "{}", printed(&output));
    }
    let names: Vec<String> = json(&baseline)["cases"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["intersections-8"]);
}

#[cfg(unix)]
#[test]
fn a_counter_that_fails_is_told() {
    let folder = Folder::new("garbage");
    let baseline = folder.file("baseline.json");
    for (after, part) in [
        ("echo 'cannot imitate this' >&2; exit 3", "ended with code 3 under valgrind: cannot imitate this"),
        ("kill -SEGV $$", "ended by a signal under valgrind"),
        ("echo something", "gave no answer under valgrind"),
        ("echo 'nothing was counted' >&2", "printed no number of instructions, but: nothing was counted"),
        ("echo '==1== I refs: 5' >&2", "counts less with more rounds"),
    ] {
        imitate_valgrind(&folder, after);
        let mut command = check(&["--renew", "--only", "room", "--baseline", &baseline]);
        let text = refusal(&command.env("PATH", &folder.0).output().unwrap(), REFUSED);
        assert!(text.contains(part), "{after}: {text}");
        assert!(!Path::new(&baseline).exists());
    }
}
