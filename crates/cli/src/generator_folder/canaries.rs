//! Canary rows from the public domain.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::table::{ColumnKind, Rows, Schema};
use dpscope_simulation::noisy_sum::canary_number;
use dpscope_synth::generator::FreshCanaries;

/// Streams of [`Purpose::GeneratorCanaries`]; 0 and 1 are those of `canaries rows` with a number of rows.
const NUMBER: u64 = 2;
const INCLUDED: u64 = 3;
const NULL: u64 = 4;

/// A row, uniform in each column.
pub(crate) fn uniform_row(schema: &Schema, words: &mut Words) -> Vec<f64> {
    schema.columns().iter().map(|column| uniform(&column.kind, words)).collect()
}

fn uniform(kind: &ColumnKind, words: &mut Words) -> f64 {
    match kind {
        ColumnKind::Number { low, high } => {
            let share = words.uniform();
            (low * (1.0 - share) + high * share).clamp(*low, *high)
        }
        ColumnKind::Integer { low, high } => {
            let values = i64::from(*high) - i64::from(*low) + 1;
            let drawn = match u32::try_from(values) {
                Ok(values) => words.below(values),
                Err(_) => words.next_word(), // all of 2³²
            };
            (i64::from(*low) + i64::from(drawn)) as f64
        }
        ColumnKind::Category { names } => f64::from(words.below(names.len() as u32)),
    }
}

/// A Poisson number of independent rows, by the seed of a manifest.
pub(crate) fn fresh_canaries(schema: &Schema, fresh: FreshCanaries, seed: u64) -> Rows {
    let design = CanaryDesign::Poisson { mean: fresh.mean };
    let number = canary_number(design, &mut Words::new(seed, Purpose::GeneratorCanaries, NUMBER));
    independent_rows(schema, number, seed, INCLUDED)
}

/// Independent rows of the same distribution that were in no data.
pub(crate) fn null_rows(schema: &Schema, fresh: FreshCanaries, seed: u64) -> Rows {
    independent_rows(schema, fresh.null_draws, seed, NULL)
}

fn independent_rows(schema: &Schema, count: u64, seed: u64, stream: u64) -> Rows {
    let mut words = Words::new(seed, Purpose::GeneratorCanaries, stream);
    let values = (0..count).flat_map(|_| uniform_row(schema, &mut words)).collect();
    Rows { columns: schema.columns().len(), values }
}
