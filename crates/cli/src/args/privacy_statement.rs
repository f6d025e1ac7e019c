//! A privacy statement to paste.

use clap::{Args, ValueEnum};
use dpscope_report::words::{PrivacyStatement, StatementFormat};

use crate::failure::Failure;
use crate::output::print;

#[derive(Debug, Args)]
pub(crate) struct PrivacyStatementArgs {
    /// Print a privacy statement to paste, in this format.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    statement: Option<FormatArg>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    Markdown,
    Latex,
    Plain,
}

impl PrivacyStatementArgs {
    /// Prints the statement that `of` makes with the command that reproduces it; whether it was asked for.
    pub(crate) fn print(
        &self,
        of: impl FnOnce(String) -> PrivacyStatement,
    ) -> Result<bool, Failure> {
        let Some(format) = self.statement else { return Ok(false) };
        let format = match format {
            FormatArg::Markdown => StatementFormat::Markdown,
            FormatArg::Latex => StatementFormat::Latex,
            FormatArg::Plain => StatementFormat::Plain,
        };
        let arguments = std::env::args_os().skip(1);
        let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
        print(&of(command_of(arguments)).text(format)).map(|()| true)
    }
}

/// The command without the option that asks for the statement.
fn command_of(arguments: impl Iterator<Item = String>) -> String {
    let mut command = "dpscope".to_owned();
    let mut is_format = false;
    for argument in arguments {
        if !is_format && argument != "--statement" && !argument.starts_with("--statement=") {
            command.push(' ');
            command.push_str(&quoted(&argument));
        }
        is_format = argument == "--statement";
    }
    command
}

/// A word for a shell.
fn quoted(argument: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:,+%@".contains(&byte);
    if !argument.is_empty() && argument.bytes().all(is_plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::command_of;

    #[test]
    fn the_command_is_without_the_statement_and_quoted() {
        let of = |words: &[&str]| command_of(words.iter().map(|word| (*word).to_owned()));
        assert_eq!(
            of(&["compare", "--statement", "latex", "--steps", "100"]),
            "dpscope compare --steps 100"
        );
        assert_eq!(
            of(&["check", "--statement=plain", "a b's.toml"]),
            "dpscope check 'a b'\\''s.toml'"
        );
    }
}
