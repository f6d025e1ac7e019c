//! Canary rows from the public domain.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::table::{Rows, Schema};
use dpscope_simulation::noisy_sum::canary_number;
use dpscope_synth::generator::{FreshCanaries, uniform_row};

/// Streams of [`Purpose::GeneratorCanaries`]; 0 and 1 are those of `canaries rows` with a number of rows.
const NUMBER: u64 = 2;
const INCLUDED: u64 = 3;
const NULL: u64 = 4;

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
