//! Strips comments and indentation from WGSL files at compile time, which reduces the size of web
//! bundles.

/// The fields of a uniform, each of 4 bytes, by name and in order.
pub(crate) type Fields = Vec<(&'static str, u32)>;

/// A WGSL file without comments, indentation and empty lines.
macro_rules! wgsl {
    ($path:literal) => {{
        const TEXT: &str = include_str!($path);
        const BYTES: [u8; $crate::wgsl::length(TEXT)] = $crate::wgsl::stripped(TEXT);
        const STRIPPED: &str = match std::str::from_utf8(&BYTES) {
            Ok(text) => text,
            Err(_) => TEXT,
        };
        STRIPPED
    }};
}
pub(crate) use wgsl;

/// Bytes of [`stripped`].
pub(crate) const fn length(text: &str) -> usize {
    let (bytes, mut at, mut length) = (text.as_bytes(), 0, 0);
    while at < bytes.len() {
        let next = skip(bytes, at);
        if next == at {
            length += 1;
            at += 1;
        } else {
            at = next;
        }
    }
    length
}

/// The text without comments, indentation and empty lines.
pub(crate) const fn stripped<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let (bytes, mut at, mut length) = (text.as_bytes(), 0, 0);
    let mut stripped = [0; LENGTH];
    while at < bytes.len() {
        let next = skip(bytes, at);
        if next == at {
            stripped[length] = bytes[at];
            length += 1;
            at += 1;
        } else {
            at = next;
        }
    }
    stripped
}

/// Skips a comment or indentation that starts at `at`; returns `at` if there is none.
const fn skip(bytes: &[u8], at: usize) -> usize {
    let starts_line = at == 0 || bytes[at - 1] == b'\n';
    let mut next = at;
    if starts_line {
        while next < bytes.len() && (bytes[next] == b' ' || bytes[next] == b'\n') {
            next += 1;
        }
    }
    if next + 1 < bytes.len() && bytes[next] == b'/' && bytes[next + 1] == b'/' {
        while next < bytes.len() && bytes[next] != b'\n' {
            next += 1;
        }
        // End of a line that contains nothing else.
        if starts_line && next < bytes.len() {
            next += 1;
        }
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_comments_and_white_space_are_removed() {
        const TEXT: &str =
            "// A µ.\n\n// B.\nfn f() { // C\n    let x = 1.0 / 2.0;\n\n    // D\n}\n// E";
        const BYTES: [u8; length(TEXT)] = stripped(TEXT);
        assert_eq!(str::from_utf8(&BYTES), Ok("fn f() { \nlet x = 1.0 / 2.0;\n}\n"));
        let file = include_str!("bgm/scores.wgsl");
        let lines = file.lines().filter_map(|line| line.split("//").next());
        let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
        let found: Vec<&str> = wgsl!("bgm/scores.wgsl").split_whitespace().collect();
        assert_eq!(found, words);
        assert!(wgsl!("bgm/scores.wgsl").len() < file.len() * 4 / 5);
    }
}
