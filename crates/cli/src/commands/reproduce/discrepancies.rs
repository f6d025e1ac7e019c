//! Numbers of the paper that its own definitions do not yield.

use dpscope_core::audit::one_shot::{EpsilonEstimator, TwoGaussians};
use dpscope_core::gdp::gdp_epsilon;
use dpscope_core::interval::clopper_pearson_upper;
use dpscope_core::math;
use dpscope_core::random::{Purpose, WideNormals};
use dpscope_report::record::OneShotEstimate;
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};

use super::data;
use super::names::Names;
use crate::failure::Failure;

/// Canaries of the paper's trainings.
const CANARIES: usize = 1_000;

/// Stack Overflow: 341,000 users, δ = m^−1.1.
const STACK_OVERFLOW_DELTA: f64 = 8.2e-7;

/// EMNIST: smallest and largest noise multiplier.
const EMNIST: [f64; 2] = [0.16, 0.315];

/// What is printed at a place of the paper, what is computed here, and what that means; `SOURCE.md` explains
/// the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Discrepancy {
    id: String,
    place: String,
    printed: String,
    computed: String,
    says: String,
}

/// The place and the sentence of discrepancies, with so many simulated runs.
pub(super) fn named(
    ids: &[impl AsRef<str>],
    runs: u64,
    seed: u64,
) -> Result<Vec<(String, String)>, Failure> {
    let all: Vec<Discrepancy> =
        data::list(include_str!("../../../papers/one_shot/discrepancies.toml"))?;
    let named = all.into_iter().filter(|one| ids.iter().any(|id| id.as_ref() == one.id));
    let sentence = |Discrepancy { id, place, printed, computed, says }: Discrepancy| {
        let values = match id.as_str() {
            "null estimate" => null_estimate(runs, seed)?,
            "emnist" => emnist()?,
            "table 7" => table_7(),
            _ => canife()?,
        };
        let names = Names { what: &id, seed, of_table: &values, facts: &values };
        let computed = names.filled(&computed);
        Ok((place, format!("printed {printed}; computed: {computed}: {says}")))
    };
    named.map(sentence).collect()
}

/// How often scores without any leak have an estimate as large as the printed one.
fn null_estimate(runs: u64, seed: u64) -> Result<Value, Failure> {
    const PRINTED: f64 = 0.569;
    let estimates: Result<Vec<f64>, Failure> = (0..runs)
        .into_par_iter()
        .map(|run| {
            let mut scores = vec![0.0; CANARIES];
            WideNormals::new(seed, Purpose::NoisySumNoise, run).fill(&mut scores);
            let mean = scores.iter().sum::<f64>() / CANARIES as f64;
            let square = scores.iter().map(|z| (z - mean) * (z - mean)).sum::<f64>();
            let pair = TwoGaussians { mean, sd: (square / CANARIES as f64).sqrt() };
            pair.epsilon_at(STACK_OVERFLOW_DELTA).map_err(Failure::input)
        })
        .collect();
    let above = estimates?.iter().filter(|&&estimate| estimate >= PRINTED).count();
    let range = EpsilonEstimator::TwoGaussians
        .null_range(CANARIES as u64, STACK_OVERFLOW_DELTA, OneShotEstimate::OUTSIDE)
        .map_err(Failure::input)?;
    Ok(json!({ "percent": 100.0 * above as f64 / runs as f64, "range": range }))
}

/// The δ at which one participation has the printed ε.
fn emnist() -> Result<Value, Failure> {
    let at = |delta: f64| -> Result<[f64; 2], Failure> {
        let [first, last] = EMNIST.map(|noise| gdp_epsilon(noise.recip(), delta));
        Ok([first.map_err(Failure::input)?, last.map_err(Failure::input)?])
    };
    Ok(json!({ "stated": at(1.3e-4)?, "fitted": at(0.0076)? }))
}

/// P[X ≥ 3] and P[X ≥ 2] of 15 draws above the 15 % point.
fn table_7() -> Value {
    const DRAWS: i32 = 15;
    let share = 0.15_f64;
    let none = math::powi(1.0 - share, DRAWS);
    let one = f64::from(DRAWS) * share * math::powi(1.0 - share, DRAWS - 1);
    let two =
        f64::from(DRAWS * (DRAWS - 1) / 2) * share * share * math::powi(1.0 - share, DRAWS - 2);
    json!({ "three": 100.0 * (1.0 - none - one - two), "two": 100.0 * (1.0 - none - one) })
}

/// The largest ε that the lower limit of 100 scores can show.
fn canife() -> Result<Value, Failure> {
    let cap = |scores: u64| -> Result<f64, Failure> {
        let upper = clopper_pearson_upper(0, scores, 0.025).map_err(Failure::input)?;
        Ok(math::ln((1.0 - upper) / upper))
    };
    Ok(json!({ "of_50": cap(50)?, "of_100": cap(100)? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_numbers_are_those_of_the_definitions() {
        let all = named(&["null estimate", "emnist", "table 7", "canife"], 400, 1).unwrap();
        assert!(all[2].1.contains("computed: 39.6 %; 2 or more: 68.1 %: the"), "{all:?}");
        assert!(all[3].1.contains("2.57") && all[3].1.contains("3.28"), "{all:?}");
        assert!(all[1].1.contains("41.6 … 16.0 at the stated"), "{all:?}");
        assert!(all[1].1.contains("33.9 … 12.0 at δ = 0.0076"), "{all:?}");
    }
}
