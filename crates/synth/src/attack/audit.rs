//! From features of runs of two worlds to a bound on ε.

use dpscope_core::audit::Auc;
use dpscope_core::audit::bound::{BoundError, EpsilonLowerBound, ceiling, split_at_midpoint};
use dpscope_core::audit::trade_off::{TradeOff, TradeOffError, Trials};

use super::{Forest, ForestOptions};

/// Options of an attack.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttackOptions {
    /// δ of the bound, in [0, 1).
    pub delta: f64,
    /// Chance that the bound is wrong, and that the interval of the AUC misses it, in (0, 1).
    pub significance: f64,
    /// How the forest is grown.
    pub forest: ForestOptions,
}

/// What an attack found.
#[derive(Debug, Clone)]
pub struct AttackResult {
    /// Area under the curve of the evaluated runs.
    pub auc: Auc,
    /// Lower bound on ε by the evaluated runs.
    pub bound: EpsilonLowerBound,
    /// The bound if the attack had made no error.
    pub ceiling: f64,
    /// Evaluated runs of each world.
    pub trials: Trials,
    /// Scores of the evaluated runs, with the target and without.
    pub scores: [Vec<f64>; 2],
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AttackError {
    /// Too few runs to divide.
    #[error("{runs} runs per world are too few; there must be at least {least}")]
    TooFew {
        /// Runs of the smaller world.
        runs: usize,
        /// What is needed.
        least: usize,
    },
    /// A significance or δ outside its domain.
    #[error(transparent)]
    Bound(#[from] BoundError),
    /// No run to evaluate.
    #[error(transparent)]
    TradeOff(#[from] TradeOffError),
}

/// Fewest runs of each world of an attack.
pub const LEAST_RUNS: usize = 20;

/// Learns from the first 40 % of the runs of each world which world a run is from, chooses direction and
/// threshold by the next 20 %, and evaluates the rest.
///
/// | argument | meaning | shape |
/// |---|---|---|
/// | `features` | of the runs with the target and of those without | 2 × n × d |
///
/// # Guarantee
/// The bound exceeds ε with probability at most the significance if runs are independent: the evaluated
/// ones choose nothing (`unit::evaluated_runs_choose_nothing`).
///
/// # Errors
/// Fewer than 20 runs of a world; an argument outside its domain.
pub fn attack(
    features: [&[Vec<f64>]; 2],
    options: &AttackOptions,
) -> Result<AttackResult, AttackError> {
    let runs = features[0].len().min(features[1].len());
    if runs < LEAST_RUNS {
        return Err(AttackError::TooFew { runs, least: LEAST_RUNS });
    }
    let parts = features.map(|world| {
        let [trained, validated, _] = division(world.len() as u64).map(|runs| runs as usize);
        let (train, rest) = world.split_at(trained);
        let (validation, test) = rest.split_at(validated);
        [train, validation, test]
    });
    let train = [parts[0][0], parts[1][0]].concat();
    let classes: Vec<bool> = (0..train.len()).map(|at| at < parts[0][0].len()).collect();
    let forest = Forest::grow(&train, &classes, &options.forest);
    let scores = |part: usize, sign: f64| {
        parts.map(|world| {
            world[part].iter().map(|run| sign * forest.score(run)).collect::<Vec<f64>>()
        })
    };
    let trade_off = |[target, zero_out]: [Vec<f64>; 2]| TradeOff::from_scores(target, zero_out);
    let validated = Auc::of(&trade_off(scores(1, 1.0))?, options.significance)?;
    let sign = if validated.value < 0.5 { -1.0 } else { 1.0 };
    let [validation, test] = [trade_off(scores(1, sign))?, trade_off(scores(2, sign))?];
    Ok(AttackResult {
        auc: Auc::of(&test, options.significance)?,
        bound: split_at_midpoint(&validation, &test, options.delta, options.significance)?,
        ceiling: ceiling(test.trials(), options.delta, options.significance / 2.0)?,
        trials: test.trials(),
        scores: scores(2, sign),
    })
}

/// Numbers of runs of a world that train the attack, choose its threshold, and are evaluated.
#[must_use]
pub const fn division(runs: u64) -> [u64; 3] {
    let (trained, validated) = ((runs as u128 * 2 / 5) as u64, runs / 5);
    [trained, validated, runs - trained - validated]
}

#[cfg(test)]
mod tests {
    use super::*;
    use dpscope_core::random::{Purpose, Words};

    fn world(stream: u64, runs: usize, shift: f64) -> Vec<Vec<f64>> {
        let mut words = Words::new(4, Purpose::Test, stream);
        (0..runs).map(|_| vec![words.normal() + shift, words.normal()]).collect()
    }

    const OPTIONS: AttackOptions = AttackOptions {
        delta: 1e-5,
        significance: 0.05,
        forest: ForestOptions { trees: 20, seed: 1 },
    };

    #[test]
    fn evaluated_runs_choose_nothing() {
        let (with, without) = (world(0, 500, 2.0), world(1, 500, 0.0));
        let result = attack([&with, &without], &OPTIONS).unwrap();
        assert_eq!(result.trials, Trials { target: 200, zero_out: 200 });
        assert!(result.auc.lower > 0.7 && result.bound.value() > 0.5, "{result:?}");
        // other evaluated runs, the same threshold
        let other = world(2, 500, 2.0);
        let mixed = [&with[..300], &other[300..]].concat();
        let changed = attack([&mixed, &without], &OPTIONS).unwrap();
        let threshold = |result: &AttackResult| result.bound.evidence().threshold;
        assert_eq!(threshold(&changed), threshold(&result));
        assert_ne!(changed.scores[0], result.scores[0]);
    }

    #[test]
    fn few_separated_runs_show_all_that_they_can() {
        for runs in [LEAST_RUNS, 50, 60] {
            let result = attack([&world(0, runs, 40.0), &world(1, runs, 0.0)], &OPTIONS).unwrap();
            assert_eq!(result.auc.value, 1.0, "{runs}");
            assert_eq!(result.bound.value(), result.ceiling, "{runs}");
            assert!(result.ceiling > 0.5, "{runs}");
        }
    }

    #[test]
    fn equal_worlds_have_no_epsilon() {
        let result = attack([&world(5, 400, 0.0), &world(6, 400, 0.0)], &OPTIONS).unwrap();
        assert!(result.auc.lower < 0.5 && result.auc.upper > 0.5, "{:?}", result.auc);
        assert!(result.bound.value() < 0.5);
        // ln((1 - u)/u) with u = 1 - 0.025^(1/160)
        assert!((result.ceiling - 3.758).abs() < 1e-3, "{}", result.ceiling);
        let few = attack([&world(5, 19, 0.0), &world(6, 400, 0.0)], &OPTIONS).unwrap_err();
        assert_eq!(few, AttackError::TooFew { runs: 19, least: 20 });
    }
}
