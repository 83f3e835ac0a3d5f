//! Files from spreadsheets, other systems and hostile users.

use super::{BODIES, Folder, HITS, box_obj, fast_backend};

fn line(extra: &str) -> String {
    format!("collide --backend {} --hulls box.obj --bodies bodies.csv {extra}", fast_backend())
}

fn folder(bodies: impl AsRef<[u8]>) -> Folder {
    let folder = Folder::new();
    folder.write("box.obj", box_obj()).write("bodies.csv", bodies);
    folder
}

/// Line ends, a byte order mark, quotes, spaces, empty lines and a missing last line end change nothing.
#[test]
fn variants_of_a_table_give_the_same_answer() {
    let quoted: String = BODIES
        .lines()
        .map(|line| line.split(',').map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",") + "\n")
        .collect();
    let variants = [
        BODIES.replace('\n', "\r\n"),
        format!("\u{feff}{BODIES}"),
        format!("\u{feff}{}", BODIES.replace('\n', "\r\n")),
        quoted,
        BODIES.replace(',', " ,\t"),
        BODIES.replace('\n', "\n\n"),
        BODIES.trim_end().to_owned(),
        BODIES.replace("box,", "\"box\","),
        BODIES.replace("3,0,0", "+3.0e0,-0,.0"),
    ];
    for bodies in variants {
        assert_eq!(folder(&bodies).run(&line("")).good(), HITS, "{bodies}");
    }
}

/// Names may contain commas, quotes and letters of any alphabet.
#[test]
fn names_may_contain_any_character() {
    let folder = Folder::new();
    let corners: String = (0..8)
        .map(|i| format!("\"a \"\"big\"\", b\u{f6}x\",{},{},{}\n", i & 1, i >> 1 & 1, i >> 2))
        .collect();
    folder.write("hulls.csv", format!("hull,x,y,z\n{corners}"));
    folder.write(
        "bodies.csv",
        "hull,x,y,z\n\"a \"\"big\"\", b\u{f6}x\",0,0,0\n\"a \"\"big\"\", b\u{f6}x\",0.5,0,0\n",
    );
    let line = format!("collide --backend {} --hulls hulls.csv --bodies bodies.csv", fast_backend());
    assert_eq!(folder.run(&line).good(), "a,b,status\n0,1,penetrating\n");
}

#[test]
fn files_that_are_not_tables_are_refused() {
    let cases: [(&[u8], &str); 8] = [
        (b"", "bodies.csv: the file is empty"),
        (b"\xef\xbb\xbf", "bodies.csv: the file is empty"),
        (b"\0\0\0\0", "bodies.csv: line 1: unknown column \"????\", known are "),
        (b"\xff\xfeh\0u\0l\0l\0", "bodies.csv: it is text in UTF-16: save it as UTF-8"),
        (b"\x89PNG\r\n\x1a\n\0\0", "bodies.csv: it is a PNG picture"),
        (b"hull;x;y;z\nbox;0;0;0\n", "bodies.csv: line 1: unknown column \"hull;x;y;z\", known are "),
        (b"hull,x,y,z\nbox,\"0,0,0\n", "bodies.csv: line 2: field 2 has no closing quote"),
        (b"Hull,x,y,z\nbox,0,0,0\n", "bodies.csv: line 1: unknown column \"Hull\", known are "),
    ];
    for (bodies, expected) in cases {
        let message = folder(bodies).run(&line("")).bad();
        assert!(message.starts_with(expected), "{message}");
    }
    let folder = folder("");
    std::fs::remove_file(folder.path("bodies.csv")).unwrap();
    std::fs::create_dir(folder.path("bodies.csv")).unwrap();
    assert!(folder.run(&line("")).bad().starts_with("bodies.csv: cannot be read: "));
}

/// The message quotes only the beginning of a field of a megabyte.
#[test]
fn a_field_of_a_megabyte_is_quoted_in_part() {
    let message = folder(format!("hull,x,y,z\nbox,0,{},0\n", "9".repeat(1 << 20))).run(&line("")).bad();
    assert!(message.starts_with("bodies.csv: line 2, column y: 9999"), "{message}");
    assert!(message.len() < 200, "{} bytes", message.len());
}

#[test]
fn body_numbers_out_of_range_are_refused() {
    let folder = folder(BODIES);
    let cases = [
        ("4294967295,0", "pairs.csv: line 2, column a: body 4294967295 does not exist, there are 5"),
        (
            "99999999999999999999,0",
            "pairs.csv: line 2, column a: \"99999999999999999999\" is not a row number",
        ),
        ("0.0,1", "pairs.csv: line 2, column a: \"0.0\" is not a row number"),
        ("0,", "pairs.csv: line 2, column b: \"\" is not a row number"),
    ];
    for (pair, expected) in cases {
        folder.write("pairs.csv", format!("a,b\n{pair}\n"));
        assert_eq!(folder.run(&line("--pairs pairs.csv")).bad(), expected);
    }
    // An empty list of pairs gives no rows, but the bodies are still checked.
    folder.write("pairs.csv", "a,b\n");
    assert_eq!(folder.run(&line("--pairs pairs.csv")).good(), "a,b,status\n");
    folder.write("bodies.csv", "hull,x,y,z\nbox,1e30,0,0\n");
    assert!(
        folder.run(&line("--pairs pairs.csv")).bad().starts_with("bodies.csv: line 2: body 0: position is ")
    );
}

/// Only the last of half a million rows is invalid. The error names its line, and there is no output.
#[test]
fn an_error_on_the_last_of_many_lines_names_the_line() {
    let mut bodies = "hull,x,y,z\n".to_owned();
    for i in 0..500_000 {
        bodies.push_str(&format!("box,{i},0,0\n"));
    }
    bodies.push_str("box,0,x,0\n");
    let folder = folder(&bodies);
    let message = folder.run(&line("--out out.csv")).bad();
    assert_eq!(message, "bodies.csv: line 500002, column y: \"x\" is not a number");
    assert_eq!(folder.names(), ["bodies.csv", "box.obj"]);
}

/// A reader that closes the pipe early is not an error: exit code 0 and no message.
#[cfg(unix)]
#[test]
fn a_reader_may_close_the_pipe_early() {
    use std::io::{BufRead, BufReader, Read};
    use std::process::{Command, Stdio};
    let mut bodies = "hull,x,y,z\n".to_owned();
    for i in 0..2000 {
        bodies.push_str(&format!("box,{i},0,0\n"));
    }
    let folder = folder(&bodies);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hullfield"))
        .args("collide --backend cpu --hulls box.obj --bodies bodies.csv --query distance".split(' '))
        .current_dir(folder.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).unwrap();
    assert!(first.starts_with("a,b,status,distance"));
    drop(reader);
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(0), ""));
}

#[test]
fn one_body_has_no_pairs() {
    let folder = folder("hull,x,y,z\nbox,0,0,0\n");
    for query in ["intersects", "distance", "contact", "manifold", "sweep --duration 1"] {
        for extra in ["", "--all-pairs"] {
            let text = folder.run(&line(&format!("--query {query} {extra}"))).good();
            assert_eq!(text.lines().count(), 1, "{text}");
        }
    }
    assert!(folder.run(&line("--trace 0,1")).bad().starts_with("--trace: body 1 does not exist"));
}
