//! Text of files, paths and arguments, as messages and reports show it.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;

/// Text from a file, a path or an argument, which may be hostile, as a message shows it.
///
/// Characters that are not [plain](is_plain) are escaped as in Rust, and so is the start of a command
/// that a CI system reads from its log: `::` at the start or after white space, and `[` after `##` and a
/// word. Text longer than [`MAX_CHARACTERS`](Self::MAX_CHARACTERS) is shortened in the middle, since
/// paths and parser messages end with what matters most.
///
/// # Guarantee
/// The text is one line of plain characters that starts no command of a CI system
/// (`tests/cli/hostile.rs::hostile_text_never_reaches_the_terminal`).
///
/// # Example
/// ```
/// use dpscope_core::foreign_text::ForeignText;
/// let shown = |text| ForeignText::new(text).to_string();
/// assert_eq!([shown("it's σ"), shown("a\u{1b}b"), shown("::x")], ["it's σ", "a\\u{1b}b", ":\\u{3a}x"]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ForeignText(Box<str>);

impl ForeignText {
    /// Characters that are shown before they are escaped.
    pub const MAX_CHARACTERS: usize = 200;

    /// Characters at the end of shortened text.
    const TAIL: usize = 79;

    /// A name, a path or other text.
    #[must_use]
    pub fn new(text: impl AsRef<OsStr>) -> Self {
        Self::shortened(&text.as_ref().to_string_lossy())
    }

    /// A value, or an error of a parser, which may repeat text of its input.
    #[must_use]
    pub fn of(value: impl fmt::Display) -> Self {
        Self::shortened(&value.to_string())
    }

    fn shortened(text: &str) -> Self {
        let at = |count: usize| text.char_indices().nth(count).map(|(at, _)| at);
        let tail = text.char_indices().nth_back(Self::TAIL - 1).map(|(at, _)| at);
        let shown =
            match (at(Self::MAX_CHARACTERS), at(Self::MAX_CHARACTERS - 1 - Self::TAIL), tail) {
                (Some(_), Some(head), Some(tail)) => {
                    escaped(&format!("{}…{}", &text[..head], &text[tail..]))
                }
                _ => escaped(text),
            };
        ForeignText(shown.into())
    }

    /// The text as it is shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ForeignText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// Whether a character is safe to print: neither a control character nor one that ends a line or changes
/// the direction of text.
///
/// # Example
/// ```
/// use dpscope_core::foreign_text::is_plain;
/// assert_eq!(['a', 'ש', '\u{1b}', '\u{202e}'].map(is_plain), [true, true, false, false]);
/// ```
#[must_use]
pub fn is_plain(character: char) -> bool {
    let moves = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    !moves && !character.is_control()
}

/// Most characters of a quoted line.
const MOST_OF_LINE: usize = 60;

/// A parser's problem with the number and the text of the line at a byte position.
///
/// # Example
/// ```
/// use dpscope_core::foreign_text::problem_at;
/// let shown = problem_at("a = 1\n\u{1b} = 2", Some(6..7), "no \u{1b}");
/// assert_eq!(shown, r"line 2 (`\u{1b} = 2`): no \u{1b}");
/// ```
#[must_use]
pub fn problem_at(text: &str, place: Option<Range<usize>>, message: &str) -> String {
    let before = place.and_then(|place| text.get(..place.start)).unwrap_or_default();
    let line = before.matches('\n').count();
    let content = text.lines().nth(line).unwrap_or_default().trim();
    let content = ForeignText::new(content.chars().take(MOST_OF_LINE).collect::<String>());
    format!("line {} (`{content}`): {}", 1 + line, ForeignText::new(message))
}

/// Text of several lines for a terminal or a log, each escaped as in a [`ForeignText`]. Called last
/// before printing, for foreign text that was not escaped before.
///
/// # Example
/// ```
/// use dpscope_core::foreign_text::printable;
/// assert_eq!(printable("a\u{1b}\n ::b\n"), "a\\u{1b}\n :\\u{3a}b\n");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_safe =
        |line: &str| line.chars().all(is_plain) && !["::", "##"].iter().any(|it| line.contains(it));
    if text.split('\n').all(is_safe) {
        return text.into();
    }
    text.split('\n').map(escaped).collect::<Vec<_>>().join("\n").into()
}

/// One line with escapes.
fn escaped(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        let starts_command = match character {
            // GitHub, at the start of a line
            ':' => line
                .strip_suffix(':')
                .is_some_and(|before| before.chars().next_back().is_none_or(char::is_whitespace)),
            // GitHub's `##[`, Azure's `##vso[` and TeamCity's `##teamcity[`, some of them anywhere
            '[' => line.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).ends_with("##"),
            _ => false,
        };
        if starts_command {
            line.extend(character.escape_unicode());
        } else if is_plain(character) {
            line.push(character);
        } else {
            line.extend(character.escape_default());
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn shown(text: &str) -> String {
        ForeignText::new(text).to_string()
    }

    #[test]
    fn characters_that_move_the_cursor_are_escaped() {
        let moving = "\0\t\n\r\u{7f}\u{85}\u{9b}\u{1b}\u{61c}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\
                      \u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        for character in moving.chars() {
            assert!(!is_plain(character) && !shown(&format!("a{character}b")).contains(character));
        }
        assert_eq!(shown("\u{1b}[31m\r\n"), "\\u{1b}[31m\\r\\n");
        for plain in
            ["σ é – שלום", "C:\\Users\\it's", "say \"a\"", "a::b", "http://[::1]:80", "#[x]"]
        {
            assert_eq!((shown(plain), &*printable(plain)), (plain.to_owned(), plain));
        }
    }

    #[test]
    fn commands_of_ci_systems_are_escaped() {
        for (text, expected) in [
            ("::add-mask::x", ":\\u{3a}add-mask::x"),
            (" \u{a0}::error::", " \u{a0}:\\u{3a}error::"),
            ("a\n::add-mask::x", "a\\n::add-mask::x"),
            ("a ::group::", "a :\\u{3a}group::"),
            (":::", ":\\u{3a}:"),
            ("a ##[add-mask]x", "a ##\\u{5b}add-mask]x"),
            ("##vso[task.setvariable]", "##vso\\u{5b}task.setvariable]"),
        ] {
            assert_eq!(shown(text), expected);
        }
        assert_eq!(printable("a\r\n::x\n\n b::c\n"), "a\\r\n:\\u{3a}x\n\n b::c\n");
    }

    #[test]
    fn long_text_keeps_its_ends() {
        let most = ForeignText::MAX_CHARACTERS;
        assert_eq!(shown(&"é".repeat(most)), "é".repeat(most));
        let long = format!("start {} end.csv", "é".repeat(1 << 20));
        let short = shown(&long);
        assert_eq!(short.chars().count(), most);
        assert!(short.starts_with("start é") && short.ends_with("é end.csv"), "{short}");
        assert!(shown(&"\u{1b}".repeat(1 << 20)).len() < 10 * most);
    }

    #[test]
    fn paths_and_errors_are_foreign_text() {
        assert_eq!(ForeignText::new(Path::new("a\nb")).as_str(), "a\\nb");
        let error = serde_error();
        assert_eq!(ForeignText::of(&error).to_string(), error.replace('\u{1b}', "\\u{1b}"));
        assert_eq!(
            format!("{:>4}|{:<4}|", ForeignText::new("ab"), ForeignText::new("c")),
            "  ab|c   |"
        );
    }

    fn serde_error() -> String {
        "unknown field `\u{1b}[2J`".to_owned()
    }
}
