//! Words and paths of commands that are printed to be copied.

use std::path::Path;

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
    let plain = |c: char| c.is_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
