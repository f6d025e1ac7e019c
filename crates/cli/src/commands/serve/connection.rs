//! One connection: reads a request within limits of size and time, answers it and closes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use web_time::Instant;

use super::request::{self, LARGE, METHOD, MISSING, MOVED, SLOW, Status};
use super::site::{self, Site};

const LARGEST_HEAD: usize = 16 << 10;
const LONGEST_REQUEST: Duration = Duration::from_secs(10);
const LONGEST_ANSWER: Duration = Duration::from_secs(60);

/// Input that is still read after an answer, so that the client receives it.
const LARGEST_REST: usize = 1 << 20;
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Headers of every answer, shared with the browser tests.
const HEADERS: &str = include_str!("headers.txt");

pub(super) fn answer(mut stream: TcpStream, port: u16, site: &Site) {
    let head = match read_head(&mut stream, Instant::now() + LONGEST_REQUEST) {
        Ok(head) => head,
        Err(None) => return,
        Err(Some(status)) => return finish(stream, &refused(status)),
    };
    let answer = match request::parse(&head, port) {
        Err(status) => refused(status),
        Ok(request) => match site.file(&request.path) {
            None if is_folder(site, &request.path) => moved(&request.path),
            None => refused(MISSING),
            Some(file) => {
                let coding = match &file.compressed {
                    None => "",
                    Some(_) if request.accepts_gzip => {
                        "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\n"
                    }
                    Some(_) => "Vary: Accept-Encoding\r\n",
                };
                let body: &[u8] = match &file.compressed {
                    Some(compressed) if request.accepts_gzip => compressed,
                    _ => &file.bytes,
                };
                let media_type = site::media_type(&request.path);
                let mut answer = start("200 OK", media_type, coding, body.len());
                answer.extend_from_slice(if request.head_only { &[] } else { body });
                answer
            }
        },
    };
    finish(stream, &answer);
}

/// The bytes before the empty line; no status if the client is gone.
fn read_head(stream: &mut TcpStream, deadline: Instant) -> Result<Vec<u8>, Option<Status>> {
    let (mut head, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let count = match read_before(stream, deadline, &mut part) {
            Ok(0) => return Err(None),
            Ok(count) => count,
            Err(error) if is_timeout(&error) => return Err(Some(SLOW)),
            Err(_) => return Err(None),
        };
        // The empty line may span two reads.
        let from = head.len().saturating_sub(3);
        head.extend_from_slice(&part[..count]);
        if let Some(at) = head[from..].windows(4).position(|end| end == b"\r\n\r\n") {
            head.truncate(from + at);
        } else if head.len() <= LARGEST_HEAD {
            continue;
        }
        return if head.len() <= LARGEST_HEAD { Ok(head) } else { Err(Some(LARGE)) };
    }
}

fn read_before(
    stream: &mut TcpStream,
    deadline: Instant,
    part: &mut [u8],
) -> std::io::Result<usize> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ErrorKind::TimedOut.into());
    }
    stream.set_read_timeout(Some(left))?;
    stream.read(part)
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

fn start(status: Status, media_type: &str, more: &str, length: usize) -> Vec<u8> {
    let headers = HEADERS.trim().replace('\n', "\r\n");
    let allow = if status == METHOD { "Allow: GET, HEAD\r\n" } else { "" };
    format!(
        "HTTP/1.1 {status}\r\n{headers}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\
         Cache-Control: no-cache\r\n{more}{allow}Connection: close\r\n\r\n"
    )
    .into_bytes()
}

/// Whether an address lacks the slash of a folder with a page. Only names that need no encoding.
fn is_folder(site: &Site, path: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/-_.".contains(c);
    path.chars().all(is_plain) && site.file(&format!("{path}/index.html")).is_some()
}

/// Sends the client to the address with a slash, which relative links of the page need.
fn moved(path: &str) -> Vec<u8> {
    start(MOVED, "text/plain; charset=utf-8", &format!("Location: /{path}/\r\n"), 0)
}

fn refused(status: Status) -> Vec<u8> {
    let mut answer = start(status, "text/plain; charset=utf-8", "", status.len() + 1);
    answer.extend_from_slice(status.as_bytes());
    answer.push(b'\n');
    answer
}

/// Sends the answer and closes the connection; stops after a timeout.
fn finish(mut stream: TcpStream, answer: &[u8]) {
    let deadline = Instant::now() + LONGEST_ANSWER;
    for part in answer.chunks(64 << 10) {
        let left = deadline.saturating_duration_since(Instant::now());
        let within = !left.is_zero() && stream.set_write_timeout(Some(left)).is_ok();
        if !within || stream.write_all(part).is_err() {
            return;
        }
    }
    let _ = stream.shutdown(Shutdown::Write);
    // Closing with unread input would discard the answer.
    let deadline = Instant::now() + LONGEST_REST;
    let (mut rest, mut part) = (0, [0; 4096]);
    while rest <= LARGEST_REST {
        match read_before(&mut stream, deadline, &mut part) {
            Ok(count) if count > 0 => rest += count,
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn read(sent: &[u8], deadline: Instant) -> Result<Vec<u8>, Option<Status>> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        client.write_all(sent).unwrap();
        read_head(&mut listener.accept().unwrap().0, deadline)
    }

    #[test]
    fn slow_clients_receive_408() {
        let now = Instant::now();
        assert_eq!(read(b"GET / HTTP/1.1\r\n", now), Err(Some(SLOW)));
        assert_eq!(read(b"GET / HTTP/1.1\r\n", now + Duration::from_millis(20)), Err(Some(SLOW)));
    }

    #[test]
    fn request_heads_end_at_the_empty_line_and_are_limited() {
        let later = || Instant::now() + LONGEST_REQUEST;
        assert_eq!(read(b"a\r\nb\r\n\r\nc\r\n\r\n", later()).unwrap(), b"a\r\nb");
        for (size, is_accepted) in [(LARGEST_HEAD, true), (LARGEST_HEAD + 1, false)] {
            let mut sent = vec![b'a'; size];
            sent.extend_from_slice(b"\r\n\r\n");
            assert_eq!(read(&sent, later()).is_ok(), is_accepted, "{size}");
        }
        assert_eq!(read(&vec![b'a'; 3 * LARGEST_HEAD], later()), Err(Some(LARGE)));
    }
}
