//! A privacy statement to paste.

use clap::{Args, ValueEnum};
use dpscope_report::words::{PrivacyStatement, StatementFormat};

use crate::failure::Failure;
use crate::output::print;
use crate::shell::{arguments, command_line};

#[derive(Debug, Args)]
pub(crate) struct PrivacyStatementArgs {
    /// Print a privacy statement to paste, in this format.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["json", "format"])]
    statement: Option<FormatArg>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatArg {
    Markdown,
    Latex,
    Plain,
}

impl PrivacyStatementArgs {
    /// Whether a statement is to be printed.
    pub(crate) fn is_asked(&self) -> bool {
        self.statement.is_some()
    }

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
        print(&of(command_line(without_statement(arguments()))).text(format)).map(|()| true)
    }
}

/// The arguments without the option that asks for the statement.
fn without_statement(arguments: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    let mut is_format = false;
    arguments.filter(move |argument| {
        let is_statement = argument == "--statement" || argument.starts_with("--statement=");
        let is_other = !is_format && !is_statement;
        is_format = argument == "--statement";
        is_other
    })
}

#[cfg(test)]
mod tests {
    use super::without_statement;
    use crate::shell::command_line;

    #[test]
    fn the_command_is_without_the_statement_and_quoted() {
        let of = |words: &[&str]| {
            command_line(without_statement(words.iter().map(|word| (*word).to_owned())))
        };
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
