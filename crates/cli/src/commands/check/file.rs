//! A description of a training run, in TOML.

use std::path::Path;

use clap::ValueEnum;
use dpscope_formats::Limits;
use toml::{Table, Value};

use super::args::TrainingArgs;
use crate::failure::Failure;
use crate::files;

/// Largest file that is read.
const MOST_BYTES: u64 = 64 << 10;

/// The largest whole number that a float holds exactly.
const MOST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// A file to start from: `dpscope check --example`.
pub(crate) const EXAMPLE: &str = include_str!("example.toml");

const KEYS: [&str; 16] = [
    "dataset_size",
    "batch_size",
    "epochs",
    "noise_multiplier",
    "loader",
    "buffer_examples",
    "drop_last",
    "claim",
    "delta",
    "claim_adjacency",
    "accountant",
    "accounted_sampling_rate",
    "accounted_steps",
    "noise_std",
    "clip_norm",
    "noise_on",
];

/// Reads a description; every error names the file and the key.
pub(crate) fn read(path: &Path) -> Result<TrainingArgs, Failure> {
    let limits = Limits { max_bytes: MOST_BYTES, ..Limits::default() };
    let bytes = files::read(path, &limits)?;
    let about = |message: String| Failure::input(message).about(path);
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| about(format!("is not text: {error}; save it as UTF-8")))?;
    parse(text).map_err(about)
}

fn parse(text: &str) -> Result<TrainingArgs, String> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|at| text.get(..at.start)).unwrap_or_default();
        let line = 1 + before.matches('\n').count();
        format!("is not valid TOML: line {line}: {}", error.message())
    })?;
    if let Some(unknown) = table.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!(
            "unknown key `{unknown}`; did you mean `{}`? `dpscope check --example` shows all keys",
            nearest(unknown)
        ));
    }
    let sampler = |key| word(&table, key, |name| name.parse().map_err(|error| format!("{error}")));
    Ok(TrainingArgs {
        dataset_size: whole(&table, "dataset_size")?,
        batch_size: whole(&table, "batch_size")?,
        epochs: whole(&table, "epochs")?,
        noise_multiplier: number(&table, "noise_multiplier")?,
        loader: sampler("loader")?,
        buffer_examples: whole(&table, "buffer_examples")?,
        drop_last: flag(&table, "drop_last")?,
        claim: number(&table, "claim")?,
        delta: number(&table, "delta")?,
        claim_adjacency: word(&table, "claim_adjacency", value_of)?,
        accountant: sampler("accountant")?,
        accounted_sampling_rate: number(&table, "accounted_sampling_rate")?,
        accounted_steps: whole(&table, "accounted_steps")?,
        noise_std: number(&table, "noise_std")?,
        clip_norm: number(&table, "clip_norm")?,
        noise_on: word(&table, "noise_on", value_of)?,
    })
}

fn wrong(key: &str, value: &Value, wanted: &str) -> String {
    let shown: String = value.to_string().chars().take(60).collect();
    format!("{key} is {shown}; write {wanted}")
}

fn whole(table: &Table, key: &str) -> Result<Option<u64>, String> {
    let Some(value) = table.get(key) else { return Ok(None) };
    let found = match value {
        Value::Integer(whole) => u64::try_from(*whole).ok(),
        Value::Float(float) if float.fract() == 0.0 && (0.0..=MOST_WHOLE).contains(float) => {
            Some(*float as u64)
        }
        _ => None,
    };
    found.map(Some).ok_or_else(|| wrong(key, value, "a whole number from 0, such as 60000"))
}

fn number(table: &Table, key: &str) -> Result<Option<f64>, String> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::Float(float)) => Ok(Some(*float)),
        Some(Value::Integer(whole)) => Ok(Some(*whole as f64)),
        Some(value) => Err(wrong(key, value, "a number without quotes, such as 0.5")),
    }
}

fn flag(table: &Table, key: &str) -> Result<Option<bool>, String> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::Boolean(flag)) => Ok(Some(*flag)),
        Some(value) => Err(wrong(key, value, "true or false")),
    }
}

fn word<T>(
    table: &Table,
    key: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    match table.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => {
            read(text).map(Some).map_err(|error| format!("{key}: {error}"))
        }
        Some(value) => Err(wrong(key, value, "a name in quotes")),
    }
}

fn value_of<T: ValueEnum>(name: &str) -> Result<T, String> {
    T::from_str(name, false).map_err(|_| {
        let names = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        let names: Vec<String> = names.map(|value| value.get_name().to_owned()).collect();
        format!("`{name}` is none of {}", names.join(", "))
    })
}

/// The known key that is fewest changes of a letter away.
fn nearest(unknown: &str) -> &'static str {
    let unknown: Vec<char> = unknown.chars().take(100).collect();
    KEYS.into_iter().min_by_key(|key| changes(&unknown, key)).unwrap_or("dataset_size")
}

/// Letters to insert, delete or replace (Levenshtein).
fn changes(from: &[char], to: &str) -> usize {
    let mut row: Vec<usize> = (0..=from.len()).collect();
    for (line, letter) in to.chars().enumerate() {
        let mut corner = row[0];
        row[0] = line + 1;
        for (place, other) in from.iter().enumerate() {
            let replaced = corner + usize::from(*other != letter);
            corner = row[place + 1];
            row[place + 1] = replaced.min(corner + 1).min(row[place] + 1);
        }
    }
    row[from.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_read_and_has_every_key() {
        let found = parse(EXAMPLE).unwrap();
        assert_eq!((found.dataset_size, found.drop_last), (Some(60_000), Some(false)));
        let all = EXAMPLE.replace("\n# ", "\n");
        for key in KEYS {
            assert!(all.contains(&format!("\n{key} = ")), "{key}");
        }
    }

    #[test]
    fn the_nearest_key_is_the_one_meant() {
        for (written, meant) in [
            ("dataset-size", "dataset_size"),
            ("batchsize", "batch_size"),
            ("epoch", "epochs"),
            ("noise_multiplyer", "noise_multiplier"),
            ("droplast", "drop_last"),
        ] {
            assert_eq!(nearest(written), meant);
        }
        assert_eq!(changes(&['k', 'i', 't', 't', 'e', 'n'], "sitting"), 3);
    }

    #[test]
    fn whole_numbers_may_be_written_with_an_exponent() {
        let read = |text: &str| parse(text).map(|found| found.dataset_size);
        assert_eq!(read("dataset_size = 6e4"), Ok(Some(60_000)));
        for bad in ["-1", "1.5", "\"60000\"", "nan", "inf", "1e300", "true"] {
            let error = read(&format!("dataset_size = {bad}")).unwrap_err();
            assert!(error.contains("dataset_size is") && error.contains("whole"), "{error}");
        }
    }
}
