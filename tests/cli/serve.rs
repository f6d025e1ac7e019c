//! `dpscope serve`: files on loopback, and nothing to anyone else.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use dpscope_tests::cli::dpscope;

use crate::Folder;

/// A running server, ended when it goes out of scope.
struct Server {
    child: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A small site.
fn site() -> Folder {
    let folder = Folder::new();
    folder.write("index.html", "<!doctype html>home");
    folder.write("a.js", "export {}");
    folder.write("m.wasm", b"\0asm");
    folder.write(".hidden", "hidden");
    std::fs::create_dir(folder.at("in")).unwrap();
    folder.write("in/index.html", "inner");
    folder
}

/// A server that starts, and what it prints.
fn spawned(folder: &Path, words: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut command = dpscope(folder);
    command.args(["serve", "--no-open"]).args(words);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    (child, stdout)
}

/// Starts the server; none if it exits before it prints its address.
fn started(folder: &Path, words: &[&str]) -> Option<Server> {
    let (child, mut stdout) = spawned(folder, words);
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let server = |port: &str| Server { child, port: port.parse().unwrap() };
    line.strip_prefix("http://127.0.0.1:")?.strip_suffix("/\n").map(server)
}

fn serve(folder: &Folder) -> Server {
    started(folder.path(), &["--dir", "."]).unwrap()
}

impl Server {
    fn connection(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// What comes back for these bytes, up to the end of the connection.
    fn sends(&self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(&self.sends_bytes(bytes)).into_owned()
    }

    fn sends_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connection();
        // The server may stop reading before all of it is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn asks(&self, line: &str, headers: &str) -> String {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        self.sends(format!("{line} HTTP/1.1\r\n{host}{headers}\r\n").as_bytes())
    }

    /// Head and body of an answer.
    fn parts(&self, line: &str, headers: &str) -> (String, Vec<u8>) {
        let host = format!("Host: 127.0.0.1:{}\r\n", self.port);
        let answer = self.sends_bytes(format!("{line} HTTP/1.1\r\n{host}{headers}\r\n").as_bytes());
        let end = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end + 2].to_vec()).unwrap();
        (head, answer[end + 4..].to_vec())
    }

    /// Asserts that it still answers.
    #[track_caller]
    fn is_well(&self) {
        let answer = self.asks("GET /", "");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("home"), "{answer}");
    }
}

#[test]
fn files_have_their_media_type_and_the_security_policy() {
    let folder = site();
    let server = serve(&folder);
    for (path, media_type, body) in [
        ("/", "text/html; charset=utf-8", "<!doctype html>home"),
        ("/?v=1", "text/html; charset=utf-8", "<!doctype html>home"),
        ("/a.js", "text/javascript; charset=utf-8", "export {}"),
        ("/m.wasm", "application/wasm", "\0asm"),
        ("/in/", "text/html; charset=utf-8", "inner"),
    ] {
        let answer = server.asks(&format!("GET {path}"), "");
        let (head, found) = answer.split_once("\r\n\r\n").unwrap();
        assert_eq!(found, body, "{path}");
        for part in [
            "HTTP/1.1 200 OK\r\n".to_owned(),
            format!("\r\nContent-Type: {media_type}\r\n"),
            format!("\r\nContent-Length: {}\r\n", body.len()),
            "script-src 'self' 'wasm-unsafe-eval'".to_owned(),
            "\r\nCross-Origin-Opener-Policy: same-origin\r\n".to_owned(),
            "\r\nCross-Origin-Embedder-Policy: require-corp\r\n".to_owned(),
            "\r\nX-Content-Type-Options: nosniff\r\n".to_owned(),
        ] {
            assert!(head.contains(&part), "{path}: {part}: {head}");
        }
        assert!(!head.to_lowercase().contains("access-control"), "{head}");
        assert_eq!(server.asks(&format!("HEAD {path}"), ""), format!("{head}\r\n\r\n"));
    }
}

#[test]
fn a_folder_without_its_slash_is_moved() {
    let folder = site();
    let server = serve(&folder);
    let answer = server.asks("GET /in?a=1", "");
    assert!(answer.starts_with("HTTP/1.1 308 Permanent Redirect\r\n"), "{answer}");
    assert!(answer.contains("\r\nLocation: /in/\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
    std::fs::create_dir(folder.at("empty")).unwrap();
    std::fs::create_dir(folder.at("a b")).unwrap();
    folder.write("a b/index.html", "spaced");
    for path in ["/empty", "/other", "/in/in", "/a%20b", "/in%0d%0aX:y", "//in"] {
        let answer = server.asks(&format!("GET {path}"), "");
        assert!(answer.starts_with("HTTP/1.1 404 Not Found\r\n"), "{path}: {answer}");
    }
    assert!(server.asks("GET /a%20b/", "").ends_with("spaced"));
}

/// The bytes of a gzip file.
fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    flate2::read::GzDecoder::new(bytes).read_to_end(&mut whole).unwrap();
    whole
}

#[test]
fn large_files_are_compressed_for_clients_that_accept_gzip() {
    let folder = site();
    let text: Vec<u8> = (0..5000u32).flat_map(|i| i.to_string().into_bytes()).collect();
    let files = [
        ("large.js", "text/javascript; charset=utf-8"),
        ("large.wasm", "application/wasm"),
        ("large.json", "application/json"),
        ("large.svg", "image/svg+xml"),
    ];
    for (name, _) in files {
        folder.write(name, &text);
    }
    let server = serve(&folder);
    for (name, media_type) in files {
        let (whole, body) = server.parts(&format!("GET /{name}"), "");
        assert_eq!(body, text, "{name}");
        assert!(!whole.contains("Content-Encoding"), "{whole}");
        let accepts = "Accept-Encoding: br, gzip\r\n";
        // The first request compresses, the second repeats it.
        for _ in 0..2 {
            let (head, body) = server.parts(&format!("GET /{name}"), accepts);
            assert!(body.len() < text.len() / 2, "{name}: {}", body.len());
            assert_eq!(decompressed(&body), text, "{name}");
            assert!(head.contains("\r\nContent-Encoding: gzip\r\n"), "{head}");
            assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
            assert_eq!(server.parts(&format!("HEAD /{name}"), accepts), (head.clone(), vec![]));
            for head in [&whole, &head] {
                assert!(head.contains(&format!("\r\nContent-Type: {media_type}\r\n")), "{head}");
                assert!(head.contains("\r\nVary: Accept-Encoding\r\n"), "{head}");
            }
        }
        let (head, body) = server.parts(&format!("GET /{name}"), "Accept-Encoding: gzip;q=0\r\n");
        assert_eq!((head, body), (whole, text.clone()), "{name}");
    }
}

#[test]
fn a_changed_file_is_compressed_again() {
    let folder = site();
    let server = serve(&folder);
    for letter in ["a", "b"] {
        folder.write("large.js", letter.repeat(5000));
        let (_, body) = server.parts("GET /large.js", "Accept-Encoding: gzip\r\n");
        assert_eq!(decompressed(&body), letter.repeat(5000).into_bytes());
    }
}

#[test]
fn small_and_compressed_files_are_served_as_they_are() {
    let folder = site();
    for name in ["large.png", "large.woff2", "large.gz"] {
        folder.write(name, vec![0; 5000]);
    }
    let server = serve(&folder);
    for name in ["a.js", "m.wasm", "large.png", "large.woff2", "large.gz"] {
        let (head, body) = server.parts(&format!("GET /{name}"), "Accept-Encoding: gzip\r\n");
        assert!(!head.contains("Content-Encoding") && !head.contains("Vary"), "{name}: {head}");
        assert_eq!(body, folder.read(name), "{name}");
    }
}

#[test]
fn the_json_document_contains_the_address() {
    let folder = site();
    let (child, stdout) = spawned(folder.path(), &["--dir", ".", "--json"]);
    let document = serde_json::Deserializer::from_reader(stdout).into_iter().next();
    let document: serde_json::Value = document.unwrap().unwrap();
    let port = document["port"].as_u64().unwrap();
    let server = Server { child, port: port.try_into().unwrap() };
    assert_eq!(crate::schemas::problems("serve", &document), Vec::<String>::new());
    assert_eq!(document["url"], format!("http://127.0.0.1:{port}/"));
    server.is_well();
    let in_use = folder.run(&format!("serve --no-open --dir . --port {port} --json"));
    assert_eq!((in_use.code, &in_use.json()["code"]), (Some(2), &serde_json::json!("input")));
}

#[test]
fn requests_from_other_sites_are_rejected() {
    let folder = site();
    let server = serve(&folder);
    let port = server.port;
    let own = format!("Origin: http://localhost:{port}\r\n");
    assert!(server.asks("GET /", &own).starts_with("HTTP/1.1 200 "));
    for origin in ["null", "http://example.org", "http://127.0.0.1", "https://127.0.0.1:{port}"] {
        let origin = origin.replace("{port}", &port.to_string());
        let answer = server.asks("GET /", &format!("Origin: {origin}\r\n"));
        assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("home"), "{answer}");
    }
    for host in [format!("example.org:{port}"), "localhost".into(), format!("127.0.0.2:{port}")] {
        let answer = server.sends(format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes());
        assert!(answer.starts_with("HTTP/1.1 403 ") && !answer.contains("home"), "{answer}");
    }
    for request in ["GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"] {
        assert!(server.sends(request.as_bytes()).starts_with("HTTP/1.1 400 "), "{request}");
    }
    // Bound to loopback's own address, not to every address of this machine.
    if cfg!(target_os = "linux") {
        assert!(TcpStream::connect(("127.0.0.2", port)).is_err());
    }
}

#[test]
fn files_outside_the_folder_are_not_served() {
    let outer = Folder::new();
    outer.write("secret", "secret");
    std::fs::create_dir(outer.at("app")).unwrap();
    outer.write("app/index.html", "home");
    outer.write("app/.hidden", "secret");
    #[cfg(unix)]
    for (link, to) in [("app/link", "../secret"), ("app/up", "..")] {
        std::os::unix::fs::symlink(to, outer.at(link)).unwrap();
    }
    let server = started(outer.path(), &["--dir", "app"]).unwrap();
    for path in [
        "/../secret",
        "/%2e%2e/secret",
        "/%2E%2E%2fsecret",
        "/..%5csecret",
        "/./../secret",
        "//secret",
        "/link",
        "/up/secret",
        "/.hidden",
        "/app/../../secret",
        "/in",
        "/%00",
    ] {
        let answer = server.asks(&format!("GET {path}"), "");
        assert!(
            answer.starts_with("HTTP/1.1 404 ") && !answer.contains("secret"),
            "{path}: {answer}"
        );
    }
    let absolute = outer.at("secret").display().to_string();
    for path in [format!("/{absolute}"), format!("http://127.0.0.1:{}/", server.port), absolute] {
        let answer = server.asks(&format!("GET {path}"), "");
        assert!(
            answer.starts_with("HTTP/1.1 4") && !answer.contains("\nsecret"),
            "{path}: {answer}"
        );
    }
    server.is_well();
}

#[test]
fn malformed_requests_are_rejected_and_closed() {
    let folder = site();
    let server = serve(&folder);
    let refused = |line: &str, headers: &str| {
        let answer = server.asks(line, headers);
        answer.strip_prefix("HTTP/1.1 ").unwrap_or_default().chars().take(3).collect::<String>()
    };
    assert_eq!(refused("POST /", ""), "405");
    assert!(server.asks("DELETE /", "").contains("\r\nAllow: GET, HEAD\r\n"));
    assert_eq!(refused("GET /", "Content-Length: 3\r\n"), "400");
    assert_eq!(refused("GET /", "Transfer-Encoding: chunked\r\n"), "400");
    assert_eq!(refused("GET /", "Host: 127.0.0.1:1\r\n"), "403");
    assert_eq!(refused("GET /", "a b: c\r\n"), "400");
    assert_eq!(refused("GET / /", ""), "400");
    assert_eq!(refused("GET /%zz", ""), "400");
    assert_eq!(refused("GET /<script>alert(1)</script>", ""), "404");
    assert_eq!(refused("GET /", &format!("a: {}\r\n", "b".repeat(20_000))), "431");
    assert_eq!(refused(&format!("GET /{}", "a/".repeat(500_000)), ""), "431");
    assert_eq!(refused("GET /", &"a: b\r\n".repeat(200_000)), "431");
    for bytes in [&b"\r\n\r\n"[..], b"\0\xff\xfe\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\r\n\r\n"] {
        assert!(server.sends(bytes).starts_with("HTTP/1.1 400 "), "{bytes:?}");
    }
    server.is_well();
}

#[test]
fn incomplete_requests_do_not_block_others() {
    let folder = site();
    let server = serve(&folder);
    let half = |bytes: &[u8]| {
        let mut stream = server.connection();
        stream.write_all(bytes).unwrap();
        stream
    };
    let few: Vec<TcpStream> = (0..20).map(|_| half(b"GET / HTTP/1.1\r\nHost: 12")).collect();
    server.is_well();
    // More than are taken at a time: the rest is closed at once, and places become free again.
    let many: Vec<TcpStream> = (0..100).map(|_| half(b"G")).collect();
    drop((few, many));
    let mut answer = String::new();
    while !answer.ends_with("home") {
        answer = server.asks("GET /", "");
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
}

#[test]
fn ports_in_use_are_reported() {
    let folder = site();
    let first = serve(&folder);
    let words = format!("serve --no-open --dir . --port {}", first.port);
    folder.run(&words).refuses(2, &[&format!("--port {}: ", first.port), "choose another port"]);
    // Without a port any that is free will do.
    assert_ne!(serve(&folder).port, first.port);
}

#[test]
fn folders_without_the_app_are_rejected() {
    let folder = Folder::new();
    folder.run("serve --no-open --dir missing").refuses(2, &["--dir missing: "]);
    folder.run("serve --no-open --dir .").refuses(2, &["--dir .: no index.html in this folder"]);
    folder.run("serve --no-open --port 0").exits(2);
}

#[test]
fn the_app_is_embedded_or_its_absence_is_reported() {
    let folder = Folder::new();
    match started(folder.path(), &[]) {
        Some(server) => {
            let answer = server.asks("GET /", "");
            assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
            assert!(answer.to_lowercase().contains("<!doctype html>"), "{answer}");
            assert!(server.asks("GET /../Cargo.toml", "").starts_with("HTTP/1.1 404 "));
        }
        None => {
            let parts = ["`cargo xtask web`", "--dir"];
            folder.run("serve --no-open").refuses(2, &parts);
        }
    }
}

#[test]
#[cfg(unix)]
fn ctrl_c_exits_with_code_0() {
    let folder = site();
    let mut server = serve(&folder);
    server.is_well();
    let id = server.child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}
