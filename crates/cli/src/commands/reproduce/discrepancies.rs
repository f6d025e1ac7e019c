//! Numbers of the paper that its own definitions do not yield.

use dpscope_core::audit::one_shot::{EpsilonEstimator, TwoGaussians};
use dpscope_core::format::rounded;
use dpscope_core::gdp::gdp_epsilon;
use dpscope_core::interval::clopper_pearson_upper;
use dpscope_core::math;
use dpscope_core::random::{Purpose, WideNormals};
use rayon::prelude::*;

use crate::failure::Failure;

/// Canaries of the paper's trainings.
const CANARIES: usize = 1_000;

/// Stack Overflow: 341,000 users, δ = m^−1.1.
const STACK_OVERFLOW_DELTA: f64 = 8.2e-7;

/// EMNIST: smallest and largest noise multiplier.
const EMNIST: [f64; 2] = [0.16, 0.315];

/// A place of the paper; what is printed there, what is computed here, and what that means.
pub(super) type Discrepancy = (String, String);

fn discrepancy(place: &str, printed: &str, computed: &str, says: &str) -> Discrepancy {
    (place.to_owned(), format!("printed {printed}; computed: {computed}: {says}"))
}

/// Discrepancies by name, with so many simulated runs.
pub(super) fn named(
    names: &[impl AsRef<str>],
    runs: u64,
    seed: u64,
) -> Result<Vec<Discrepancy>, Failure> {
    let discrepancy = |name: &str| match name {
        "null estimate" => null_estimate(runs, seed),
        "emnist" => emnist(),
        "table 7" => Ok(table_7()),
        _ => canife(),
    };
    names.iter().map(|name| discrepancy(name.as_ref())).collect()
}

/// How often scores without any leak have an estimate as large as the printed one.
fn null_estimate(runs: u64, seed: u64) -> Result<Discrepancy, Failure> {
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
    let [low, high] = EpsilonEstimator::TwoGaussians
        .null_range(CANARIES as u64, STACK_OVERFLOW_DELTA, 0.1)
        .map_err(Failure::input)?;
    Ok(discrepancy(
        "Stack Overflow, final model, noise 0.2317",
        &format!("ε ≈ {PRINTED}"),
        &format!(
            "without any leak, {} % of runs show as much; 90 % show {} to {}",
            rounded(100.0 * above as f64 / runs as f64, 0),
            rounded(low, 2),
            rounded(high, 2)
        ),
        "no leak was shown",
    ))
}

/// The δ at which one participation has the printed ε.
fn emnist() -> Result<Discrepancy, Failure> {
    const STATED: f64 = 1.3e-4;
    const FITTED: f64 = 0.0076;
    let at = |delta: f64| -> Result<String, Failure> {
        let [first, last] = EMNIST.map(|noise| gdp_epsilon(noise.recip(), delta));
        let [first, last] = [first.map_err(Failure::input)?, last.map_err(Failure::input)?];
        Ok(format!("{} … {}", rounded(first, 1), rounded(last, 1)))
    };
    Ok(discrepancy(
        "EMNIST, analytic ε, noise 0.16 … 0.315",
        "33.8 … 12.0",
        &format!(
            "one participation: {} at the stated δ = 1.3e-4, {} at δ = 0.0076",
            at(STATED)?,
            at(FITTED)?
        ),
        "printed for one participation at another δ; each user takes part five times",
    ))
}

/// P[X ≥ 3] and P[X ≥ 2] of 15 draws above the 15 % point.
fn table_7() -> Discrepancy {
    const DRAWS: i32 = 15;
    let share = 0.15_f64;
    let none = math::powi(1.0 - share, DRAWS);
    let one = f64::from(DRAWS) * share * math::powi(1.0 - share, DRAWS - 1);
    let two =
        f64::from(DRAWS * (DRAWS - 1) / 2) * share * share * math::powi(1.0 - share, DRAWS - 2);
    discrepancy(
        "Table 7, 3 or more of 15 statistics above their 15 % point",
        "68 %",
        &format!(
            "{} %; 2 or more: {} %",
            rounded(100.0 * (1.0 - none - one - two), 1),
            rounded(100.0 * (1.0 - none - one), 1)
        ),
        "the printed probability is that of 2 or more",
    )
}

/// The largest ε that the lower limit of 100 scores can show.
fn canife() -> Result<Discrepancy, Failure> {
    let cap = |scores: u64| -> Result<f64, Failure> {
        let upper = clopper_pearson_upper(0, scores, 0.025).map_err(Failure::input)?;
        Ok(math::ln((1.0 - upper) / upper))
    };
    Ok(discrepancy(
        "Comparison with CANIFE, 100 scores per server round",
        "ε ≈ 0.88",
        &format!(
            "a lower limit from these scores is at most {} (50 of each kind) to {} (100 of each)",
            rounded(cap(50)?, 2),
            rounded(cap(100)?, 2)
        ),
        "a low value may be the ceiling of the method",
    ))
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
