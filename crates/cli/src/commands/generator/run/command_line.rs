//! The command of a run: `--command` with its placeholders replaced.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use crate::failure::Failure;
use crate::shell::is_plain_word;

/// What a run passes to its command.
#[derive(Debug, Clone, Copy)]
pub(super) struct RunValues<'a> {
    pub(super) data: &'a Path,
    pub(super) seed: u64,
    pub(super) rows: u64,
    pub(super) out: &'a Path,
}

/// A line for `sh -c`, with the environment variables that it may refer to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    pub(super) line: String,
    pub(super) variables: [(&'static str, OsString); 4],
}

/// Quotation marks around a place in a line, as sh reads them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Single,
    Double,
}

impl Quotes {
    /// The state after the next character or escape of `rest`, and its length in bytes.
    fn next(self, rest: &str) -> (Self, usize) {
        let mut characters = rest.chars();
        let (Some(first), second) = (characters.next(), characters.next()) else {
            return (self, 0);
        };
        match (self, first) {
            (Quotes::None | Quotes::Double, '\\') if matches!(second, Some('\'' | '"' | '\\')) => {
                (self, 2)
            }
            (Quotes::None, '\'') => (Quotes::Single, 1),
            (Quotes::None, '"') => (Quotes::Double, 1),
            (Quotes::Single, '\'') | (Quotes::Double, '"') => (Quotes::None, 1),
            _ => (self, first.len_utf8()),
        }
    }
}

impl CommandLine {
    /// Replaces the placeholders of a template.
    ///
    /// Numbers, and paths without characters that a shell interprets, replace their placeholder. Other
    /// paths are passed in an environment variable to which the line refers, so that no shell reads a
    /// path as code. Such a placeholder in quotation marks is refused: in `sh -c "cat {data}"`, another
    /// program would read the reference.
    pub(super) fn new(template: &str, values: RunValues<'_>) -> Result<Self, Failure> {
        let (data, out) = (no_option(values.data), no_option(values.out));
        let variables = [
            ("DPSCOPE_DATA", data.clone().into_owned()),
            ("DPSCOPE_SEED", values.seed.to_string().into()),
            ("DPSCOPE_OUT", out.clone().into_owned()),
            ("DPSCOPE_ROWS", values.rows.to_string().into()),
        ];
        let placeholders = ["{data}", "{seed}", "{out}", "{rows}"];
        let mut line = String::new();
        let (mut quotes, mut rest) = (Quotes::None, template);
        while !rest.is_empty() {
            let found = placeholders.iter().position(|placeholder| rest.starts_with(placeholder));
            let Some(at) = found else {
                let (next, read) = quotes.next(rest);
                line += &rest[..read];
                (quotes, rest) = (next, &rest[read..]);
                continue;
            };
            let (name, value) = &variables[at];
            match value.to_str().filter(|value| is_plain_word(value)) {
                Some(value) => line += value,
                None if quotes == Quotes::None => line += &format!("\"${{{name}}}\""),
                None => return Err(in_quotes(placeholders[at], name)),
            }
            rest = &rest[placeholders[at].len()..];
        }
        Ok(CommandLine { line, variables })
    }
}

/// The path in a form that no program mistakes for an option.
fn no_option(path: &Path) -> Cow<'_, OsStr> {
    match path.to_string_lossy().starts_with('-') {
        true => Cow::Owned(Path::new(".").join(path).into()),
        false => path.as_os_str().into(),
    }
}

fn in_quotes(placeholder: &str, variable: &str) -> Failure {
    Failure::input(format!(
        "--command has {placeholder} in quotation marks, and the path of the folder has characters that a \
         shell interprets; write {placeholder} without quotation marks, since dpscope adds them, read the \
         environment variable {variable}, or rename the folder"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(template: &str, folder: &str) -> Result<String, Failure> {
        let [data, out] = ["in.csv", "out.csv"].map(|name| Path::new(folder).join(name));
        let values = RunValues { data: &data, seed: 7, rows: 9, out: &out };
        CommandLine::new(template, values).map(|command| command.line)
    }

    #[test]
    fn plain_paths_and_numbers_replace_their_placeholders() {
        for (template, expected) in [
            ("g {data} {seed} {out}", "g a/in.csv 7 a/out.csv"),
            ("sh -c 'g {data}' > \"{out}\"", "sh -c 'g a/in.csv' > \"a/out.csv\""),
            ("awk 'BEGIN { n = {rows} }' \\'{data}", "awk 'BEGIN { n = 9 }' \\'a/in.csv"),
            ("σ {dat} {", "σ {dat} {"),
        ] {
            assert_eq!(line(template, "a").unwrap(), expected);
        }
    }

    #[test]
    fn other_paths_are_variables_and_refused_in_quotation_marks() {
        let folders = ["a b", "$(touch x)", "`touch x`", "a'b", "a\"b", "a;b", "a\nb", "é&"];
        for folder in folders {
            let found = line("g 'it' {data} \"\\\"\" --out={out} '{seed}'", folder).unwrap();
            assert_eq!(found, "g 'it' \"${DPSCOPE_DATA}\" \"\\\"\" --out=\"${DPSCOPE_OUT}\" '7'");
            for template in
                ["g \"{data}\"", "sh -c 'g {data}'", "sh -c \"g '{out}'\"", "g \\\\'{data}'"]
            {
                let refused = line(template, folder).unwrap_err().error.to_string();
                assert!(refused.contains("without quotation marks"), "{refused}");
            }
        }
    }

    #[test]
    fn paths_are_no_options() {
        assert_eq!(line("g {data}", "-x").unwrap(), "g ./-x/in.csv");
    }
}
