//! A training set-up in a TOML file.

use std::path::Path;

use clap::{Args, Command};
use dpscope_core::foreign_text::{ForeignText, problem_at};
use dpscope_core::training_check::{NamedLoader, TrainingDescription};
use dpscope_formats::Limits;
use toml::{Table, Value};

use super::loader;
use crate::failure::Failure;
use crate::files;

/// Largest file that is read.
const MAX_BYTES: u64 = 64 << 10;

/// The file of `dpscope check --example`.
pub(crate) const EXAMPLE: &str = include_str!("example.toml");

/// Expectations of serde, and what a reader of an error understands.
const EXPECTED: [(&str, &str); 3] = [
    ("expected f64", "expected a number without quotes"),
    ("expected u64", "expected a non-negative integer such as 60000"),
    ("unit variant, expected string only", "expected a name in quotes"),
];

/// Reads a description, which `flags` override; every error names the file and the key.
pub(crate) fn read(
    path: &Path,
    flags: TrainingDescription,
    loader: Option<NamedLoader>,
) -> Result<(TrainingDescription, Option<NamedLoader>), Failure> {
    let limits = Limits { max_bytes: MAX_BYTES, ..Limits::default() };
    let bytes = files::read(path, &limits)?;
    let about = |message: String| Failure::input(message).about(path);
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| about(format!("is not text: {error}; save it as UTF-8")))?;
    let (training, named) = parse(text).map_err(about)?;
    Ok((overridden(training, flags)?, loader.or(named)))
}

fn parse(text: &str) -> Result<(TrainingDescription, Option<NamedLoader>), String> {
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| {
        format!("is not valid TOML: {}", problem_at(text, error.span(), error.message()))
    })?;
    let options = TrainingDescription::augment_args(Command::new("check"));
    let keys = || options.get_arguments().map(|option| option.get_id().as_str()).chain(["loader"]);
    if let Some(unknown) = table.keys().find(|key| !keys().any(|known| known == key.as_str())) {
        let nearest = keys().min_by_key(|known| strsim::levenshtein(unknown, known));
        return Err(format!(
            "unknown key `{}`; did you mean `{}`? `dpscope check --example` shows all keys",
            ForeignText::new(unknown),
            nearest.unwrap_or_default()
        ));
    }
    let loader = match table.remove("loader") {
        None => None,
        Some(Value::String(name)) => {
            Some(loader::named(&name).map_err(|error| format!("loader: {error}"))?)
        }
        Some(other) => {
            return Err(format!("loader: expected a name in quotes, got {}", other.type_str()));
        }
    };
    let table = table.into_iter().map(|(key, value)| (key, whole(value))).collect();
    let training = serde_path_to_error::deserialize(Value::Table(table)).map_err(|error| {
        let message = error.inner().message().to_owned();
        let clear = |text: String, (serde, ours)| text.replace(serde, ours);
        let message = EXPECTED.into_iter().fold(message, clear);
        format!("{}: {}", ForeignText::of(error.path()), ForeignText::new(message))
    })?;
    Ok((training, loader))
}

/// 6e4 as an integer: TOML reads it as a float.
fn whole(value: Value) -> Value {
    const LARGEST: f64 = 9_007_199_254_740_992.0; // 2^53
    match value {
        Value::Float(float) if float.fract() == 0.0 && float.abs() <= LARGEST => {
            Value::Integer(float as i64)
        }
        value => value,
    }
}

/// The fields of a file, overridden by those that `flags` has.
fn overridden(
    file: TrainingDescription,
    flags: TrainingDescription,
) -> Result<TrainingDescription, Failure> {
    let mut fields = Table::try_from(file).map_err(Failure::input)?;
    fields.extend(Table::try_from(flags).map_err(Failure::input)?);
    fields.try_into().map_err(Failure::input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_parses_and_has_every_key() {
        let (found, loader) = parse(EXAMPLE).unwrap();
        assert_eq!(loader.unwrap().batches.name(), "shuffle");
        assert_eq!((found.dataset_size, found.drop_last), (Some(60_000), Some(false)));
        let all = EXAMPLE.replace("\n# ", "\n");
        let options = TrainingDescription::augment_args(Command::new("check"));
        for key in options.get_arguments().map(clap::Arg::get_id) {
            assert!(all.contains(&format!("\n{key} = ")), "{key}");
        }
    }

    #[test]
    fn unknown_keys_suggest_the_nearest_key() {
        for (written, meant) in [
            ("dataset-size", "dataset_size"),
            ("batchsize", "batch_size"),
            ("epoch", "epochs"),
            ("noise_multiplyer", "noise_multiplier"),
            ("droplast", "drop_last"),
        ] {
            let error = parse(&format!("{written} = 1")).unwrap_err();
            assert!(error.contains(&format!("did you mean `{meant}`")), "{error}");
        }
    }

    #[test]
    fn integers_may_have_an_exponent() {
        let read = |text: &str| parse(text).map(|(found, _)| found.dataset_size);
        assert_eq!(read("dataset_size = 6e4"), Ok(Some(60_000)));
        for bad in ["-1", "1.5", "\"60000\"", "nan", "inf", "1e300", "true"] {
            let error = read(&format!("dataset_size = {bad}")).unwrap_err();
            assert!(error.contains("dataset_size: ") && error.contains("integer"), "{error}");
        }
    }
}
