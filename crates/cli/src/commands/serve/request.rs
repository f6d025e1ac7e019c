//! Parses a request, or names the status that rejects it.

/// The status line of an answer without a file.
pub(super) type Status = &'static str;

pub(super) const MOVED: Status = "308 Permanent Redirect";
pub(super) const BAD: Status = "400 Bad Request";
pub(super) const FOREIGN: Status = "403 Forbidden";
pub(super) const MISSING: Status = "404 Not Found";
pub(super) const METHOD: Status = "405 Method Not Allowed";
pub(super) const SLOW: Status = "408 Request Timeout";
pub(super) const LARGE: Status = "431 Request Header Fields Too Large";
const VERSION: Status = "505 HTTP Version Not Supported";

/// A request for a file.
#[derive(Debug, PartialEq)]
pub(super) struct Request {
    /// Relative, with forward slashes, without `..`; a folder means its index.html.
    pub(super) path: String,
    /// Whether only the headers are requested.
    pub(super) head_only: bool,
    /// Whether the answer may be compressed with gzip.
    pub(super) accepts_gzip: bool,
}

/// Parses the bytes before the empty line.
///
/// Host and origin must be loopback: a page of another site could reach this port through its own
/// domain name (DNS rebinding).
pub(super) fn parse(head: &[u8], port: u16) -> Result<Request, Status> {
    let head = std::str::from_utf8(head).map_err(|_| BAD)?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(BAD);
    };
    if !["HTTP/1.1", "HTTP/1.0"].contains(&version) {
        return Err(VERSION);
    }
    let (mut hosts, mut codings) = (0, Vec::new());
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(BAD)?;
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) || value.contains(char::is_control) {
            return Err(BAD);
        }
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "host" if is_loopback(value, port) => hosts += 1,
            "origin"
                if value.strip_prefix("http://").is_some_and(|host| is_loopback(host, port)) => {}
            "host" | "origin" => return Err(FOREIGN),
            "accept-encoding" => codings.push(value),
            "content-length" if value == "0" => {}
            "content-length" | "transfer-encoding" => return Err(BAD),
            _ => {}
        }
    }
    if hosts != 1 {
        return Err(BAD);
    }
    match method {
        "GET" | "HEAD" => Ok(Request {
            path: path(target)?,
            head_only: method == "HEAD",
            accepts_gzip: accepts_gzip(&codings),
        }),
        _ => Err(METHOD),
    }
}

/// Whether these values of Accept-Encoding allow gzip (RFC 9110, section 12.5.3).
fn accepts_gzip(codings: &[&str]) -> bool {
    let weight_of = |name: &str| {
        codings.iter().flat_map(|value| value.split(',')).find_map(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            parts.next().filter(|coding| coding.eq_ignore_ascii_case(name))?;
            let weight = parts.find_map(|part| part.strip_prefix("q=").or(part.strip_prefix("Q=")));
            Some(weight.map_or(1.0, |weight| weight.parse().unwrap_or(0.0)))
        })
    };
    weight_of("gzip").or_else(|| weight_of("*")).is_some_and(|weight: f64| weight > 0.0)
}

fn is_loopback(host: &str, port: u16) -> bool {
    let name = match host.strip_suffix(&format!(":{port}")) {
        Some(name) => name,
        None if port == 80 => host,
        None => return false,
    };
    name.eq_ignore_ascii_case("localhost") || name == "127.0.0.1" || name == "[::1]"
}

/// The file of a target: only plain names, none hidden.
fn path(target: &str) -> Result<String, Status> {
    let target = target.split(['?', '#']).next().unwrap_or_default();
    let decoded = decoded(target.strip_prefix('/').ok_or(BAD)?)?;
    let mut path = decoded.clone();
    if path.is_empty() || path.ends_with('/') {
        path.push_str("index.html");
    }
    let is_plain = |name: &str| {
        let is_odd = |c: char| c.is_control() || "\\:*?\"<>|".contains(c);
        !name.is_empty() && !name.starts_with('.') && !name.contains(is_odd)
    };
    if path.split('/').all(is_plain) { Ok(path) } else { Err(MISSING) }
}

/// Percent-decodes a target.
fn decoded(text: &str) -> Result<String, Status> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
        bytes.push(digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).ok_or(BAD)?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(|_| BAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_of(target: &str) -> Result<String, Status> {
        let head = format!("GET {target} HTTP/1.1\r\nHost: localhost:8417");
        parse(head.as_bytes(), 8417).map(|request| request.path)
    }

    #[test]
    fn targets_map_to_files() {
        for (target, path) in [
            ("/", "index.html"),
            ("/?a=../b#c", "index.html"),
            ("/assets/a-1.js?v", "assets/a-1.js"),
            ("/calculators/", "calculators/index.html"),
            ("/%61%2Ejs", "a.js"),
            ("/%CE%B5.svg", "ε.svg"),
        ] {
            assert_eq!(path_of(target), Ok(path.to_owned()), "{target}");
        }
    }

    #[test]
    fn no_target_leaves_the_folder() {
        for target in ["/../a", "/a/../../b", "/%2e%2e/a", "/%2E%2E%2Fa", "/a/./b", "//a", "/a//b"]
        {
            assert_eq!(path_of(target), Err(MISSING), "{target}");
        }
        for target in ["/..%5ca", "/C:/a", "/c%3A/a", "/.git/config", "/a%00b", "/a%0d%0ab", "/a|b"]
        {
            assert_eq!(path_of(target), Err(MISSING), "{target}");
        }
        for target in
            ["a", "http://localhost:8417/", "*", "", "/%", "/%4", "/%zz", "/%+1", "/%ff", "/a b"]
        {
            assert_eq!(path_of(target), Err(BAD), "{target}");
        }
    }

    #[test]
    fn gzip_is_accepted_where_the_client_names_it() {
        for (codings, is_accepted) in [
            (&["gzip"][..], true),
            (&["deflate, GZIP ;q=0.5, br"], true),
            (&["br", "gzip;q=0.001"], true),
            (&["*"], true),
            (&["gzip;q=0"], false),
            (&["*, gzip;q=0.0"], false),
            (&["gzip;q=x"], false),
            (&["br, deflate, gzipped"], false),
            (&["identity"], false),
            (&[""], false),
            (&[], false),
        ] {
            assert_eq!(accepts_gzip(codings), is_accepted, "{codings:?}");
        }
    }

    fn with(headers: &str) -> Result<bool, Status> {
        let head = format!("HEAD / HTTP/1.1\r\n{headers}");
        parse(head.as_bytes(), 8417).map(|request| request.head_only)
    }

    #[test]
    fn foreign_hosts_and_origins_are_rejected() {
        for host in ["localhost:8417", "LOCALHOST:8417", "127.0.0.1:8417", "[::1]:8417"] {
            assert_eq!(with(&format!("Host: {host}")), Ok(true), "{host}");
            assert_eq!(with(&format!("hOST:{host}\r\nOrigin: http://{host}")), Ok(true), "{host}");
        }
        for host in [
            "localhost",
            "localhost:80",
            "localhost:84170",
            "example.org:8417",
            "127.0.0.2:8417",
            "localhost.example.org:8417",
            "127.0.0.1:8417@example.org",
            ":8417",
            "",
            "a:localhost:8417",
        ] {
            assert_eq!(with(&format!("Host: {host}")), Err(FOREIGN), "{host}");
        }
        for origin in ["null", "https://localhost:8417", "http://example.org", "http://localhost:1"]
        {
            let headers = format!("Host: localhost:8417\r\nOrigin: {origin}");
            assert_eq!(with(&headers), Err(FOREIGN), "{origin}");
        }
        assert!(is_loopback("localhost", 80) && is_loopback("localhost:80", 80));
    }

    #[test]
    fn malformed_requests_are_rejected() {
        for headers in [
            "Accept: a",
            "Host: localhost:8417\r\nHost: localhost:8417",
            "Host: localhost:8417\r\n x: y",
            "Host: localhost:8417\r\nx",
            "Host: localhost:8417\r\n: y",
            "Host : localhost:8417",
            "Host: localhost:8417\r\nContent-Length: 5",
            "Host: localhost:8417\r\nx: a\nb",
            "Host: localhost:8417\r\nTransfer-Encoding: chunked",
        ] {
            assert_eq!(with(headers), Err(BAD), "{headers}");
        }
        let parsed = |head: &[u8]| parse(head, 8417).map(|_| ());
        assert_eq!(parsed(b"POST / HTTP/1.1\r\nHost: localhost:8417"), Err(METHOD));
        assert_eq!(parsed(b"GET / HTTP/2\r\nHost: localhost:8417"), Err(VERSION));
        for head in [&b""[..], b"GET /", b"GET  / HTTP/1.1", b"\xff", b"GET / HTTP/1.1 x"] {
            assert_eq!(parsed(head), Err(BAD), "{head:?}");
        }
    }
}
