//! Words and paths of commands that are printed to be copied.

use std::path::Path;

use dpscope_core::foreign_text::is_plain;

use crate::host;

/// The command of these arguments.
pub(crate) fn command_line(arguments: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let words = arguments.into_iter().map(|argument| format!(" {}", quoted(argument.as_ref())));
    words.fold("dpscope".to_owned(), |command, word| command + &word)
}

/// The arguments of the command that runs.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    let arguments = host::arguments().unwrap_or_else(|| std::env::args_os().skip(1).collect());
    arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned())
}

/// A path, in quotation marks where a shell would change it.
pub(crate) fn quoted_path(path: &Path) -> String {
    quoted(&path.display().to_string())
}

/// A word, in quotation marks where a shell would change it.
pub(crate) fn quoted(text: &str) -> String {
    if is_plain_word(text) {
        return text.to_owned();
    }
    match text.chars().all(is_plain) {
        true => format!("'{}'", text.replace('\'', r"'\''")),
        false => format!("$'{}'", text.chars().map(escaped).collect::<String>()),
    }
}

/// A character inside `$'…'`, where bash and zsh read escapes.
fn escaped(character: char) -> String {
    match character {
        '\'' | '\\' => format!("\\{character}"),
        plain if is_plain(plain) => plain.to_string(),
        ascii if ascii.is_ascii() => format!("\\x{:02x}", u32::from(ascii)),
        other => format!("\\U{:08x}", u32::from(other)),
    }
}

/// Whether a shell takes a text as one word, without changes.
pub(crate) fn is_plain_word(text: &str) -> bool {
    let is_kept = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    !text.is_empty() && text.chars().all(is_kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_quoted_as_escapes() {
        for (word, expected) in [
            ("a.csv", "a.csv"),
            ("it's a", r"'it'\''s a'"),
            ("a\u{1b}[2J\n'\\", r"$'a\x1b[2J\x0a\'\\'"),
            ("\u{202e}b", r"$'\U0000202eb'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
