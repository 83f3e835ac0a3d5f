//! A server of static files, for this machine only.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The longest request that is read.
const MOST_BYTES: u64 = 16 * 1024;

/// Listens on this machine's own address. Port 0 is a free one. Returns the server's address.
///
/// # Errors
/// Where the port is taken, or the folder is not there.
pub(crate) fn listen(folder: &Path, port: u16) -> Result<(TcpListener, SocketAddr, Arc<PathBuf>), String> {
    let folder = folder.canonicalize().map_err(|error| format!("{}: {error}", folder.display()))?;
    let listener =
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| format!("port {port}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok((listener, address, Arc::new(folder)))
}

/// Answers requests, each connection on a thread of its own; does not return.
pub(crate) fn serve(listener: &TcpListener, folder: &Arc<PathBuf>) {
    for stream in listener.incoming().flatten() {
        let folder = Arc::clone(folder);
        // A connection that breaks is the browser's affair.
        std::thread::spawn(move || answer(stream, &folder));
    }
}

fn answer(mut stream: TcpStream, folder: &Path) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut reader = BufReader::new(stream.try_clone()?.take(MOST_BYTES));
    let mut first = String::new();
    reader.read_line(&mut first)?;
    // The rest of the head is read, so that closing does not reset the connection.
    let mut line = String::new();
    while reader.read_line(&mut line)? > 2 {
        line.clear();
    }
    let reply = reply(&first, folder);
    let head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n",
        reply.status,
        reply.kind,
        reply.body.len(),
        if reply.status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" }
    );
    stream.write_all(head.as_bytes())?;
    if !reply.is_head {
        stream.write_all(&reply.body)?;
    }
    stream.flush()
}

#[derive(Debug)]
struct Reply {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
    is_head: bool,
}

/// The reply to the first line of a request.
fn reply(line: &str, folder: &Path) -> Reply {
    let mut words = line.split_whitespace();
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_head = method == "HEAD";
    let plain = |status: &'static str| Reply {
        status,
        kind: "text/plain; charset=utf-8",
        body: format!("{status}\n").into_bytes(),
        is_head,
    };
    if !matches!(method, "GET" | "HEAD") {
        return plain("405 Method Not Allowed");
    }
    let Some(file) = locate(target, folder) else { return plain("404 Not Found") };
    match std::fs::read(&file) {
        Ok(body) => Reply { status: "200 OK", kind: kind(&file), body, is_head },
        Err(_) => plain("404 Not Found"),
    }
}

/// The file that a request names; none where it is not below the folder.
fn locate(target: &str, folder: &Path) -> Option<PathBuf> {
    let path = target.split(['?', '#']).next()?.strip_prefix('/')?;
    let path = decode(path)?;
    let is_bad = |part: &str| part == ".." || part.contains(['\\', '\0', ':']);
    if path.split('/').any(is_bad) {
        return None;
    }
    let mut file = folder.join(path.trim_start_matches('/'));
    if file.is_dir() {
        file.push("index.html");
    }
    // A link may lead out of the folder.
    let file = file.canonicalize().ok()?;
    (file.starts_with(folder) && file.is_file()).then_some(file)
}

/// A text with its `%41` decoded.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first == b'%' {
            let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &rest[2..];
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

fn kind(file: &Path) -> &'static str {
    match file.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "wasm" => "application/wasm",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "txt" | "md" | "ts" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a page, and a secret beside it.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("hullfield-serve-{}-{name}", std::process::id()));
            std::fs::create_dir_all(root.join("page/sub")).unwrap();
            for (file, text) in
                [("secret", "s"), ("page/index.html", "p"), ("page/a b.wasm", "w"), ("page/sub/x.js", "x")]
            {
                std::fs::write(root.join(file), text).unwrap();
            }
            Self(root.canonicalize().unwrap())
        }

        fn page(&self) -> PathBuf {
            self.0.join("page")
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn files_have_their_types() {
        let folder = Folder::new("types");
        for (target, kind, body) in [
            ("/", "text/html; charset=utf-8", "p"),
            ("/a%20b.wasm?x=1", "application/wasm", "w"),
            ("/sub/x.js", "text/javascript; charset=utf-8", "x"),
        ] {
            let reply = reply(&format!("GET {target} HTTP/1.1\r\n"), &folder.page());
            assert_eq!((reply.status, reply.kind, reply.body.as_slice()), ("200 OK", kind, body.as_bytes()));
        }
    }

    #[test]
    fn nothing_outside_of_the_folder_is_served() {
        let folder = Folder::new("outside");
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.0.join("secret"), folder.page().join("link")).unwrap();
        for target in [
            "/../secret",
            "/%2e%2e/secret",
            "/sub/../../secret",
            "//../secret",
            "/..\\secret",
            "secret",
            "/link",
            "/%",
            "/sub",
        ] {
            let reply = reply(&format!("GET {target} HTTP/1.1"), &folder.page());
            assert_eq!(reply.status, "404 Not Found", "{target}");
        }
    }

    #[test]
    fn only_get_and_head_are_answered() {
        let folder = Folder::new("methods");
        assert_eq!(reply("POST / HTTP/1.1", &folder.page()).status, "405 Method Not Allowed");
        assert_eq!(reply("", &folder.page()).status, "405 Method Not Allowed");
        let head = reply("HEAD / HTTP/1.1", &folder.page());
        assert!(head.is_head && head.status == "200 OK" && head.body == b"p");
    }

    #[test]
    fn a_browser_gets_its_file_over_the_wire() {
        let folder = Folder::new("wire");
        let (listener, address, root) = listen(&folder.page(), 0).unwrap();
        assert!(address.ip().is_loopback());
        std::thread::spawn(move || serve(&listener, &root));
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"HEAD /index.html HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains("Content-Length: 1\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }
}
