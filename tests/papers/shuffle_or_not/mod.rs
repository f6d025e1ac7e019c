//! Annamalai, Balle, Hayes, De Cristofaro: "To Shuffle or not to Shuffle".

mod figure_3;
mod table_1;

use std::path::Path;

use dpscope_core::adjacency::Direction;
use dpscope_core::audit::bound::{EpsilonEstimate, max_uncorrected};
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_simulation::Artefact;
use dpscope_tests::simulate::{Spread, counted, planned};

/// Half a unit of the last printed digit.
const HALF_A_UNIT: f64 = 0.005;

/// Standard errors that two runs may differ by.
const ERRORS: f64 = 3.0;

/// Why a run of fewer observations than the paper's does not give its value.
const FEWER: Expect = Expect::Mismatch("the estimate is held down by the number of observations");

/// Whether our value is to equal a printed one.
#[derive(Debug, Clone, Copy)]
enum Expect {
    Match,
    /// With the reason.
    Mismatch(&'static str),
}

/// The text of a table of printed cells.
fn printed(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let path = root.join("crates/cli/papers/shuffle_or_not").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The paper's estimate of a run.
fn estimate(artefact: &Artefact, significance: f64) -> EpsilonEstimate {
    let trade_off = artefact.evidence.histograms.trade_off(&artefact.stage.bins).unwrap();
    max_uncorrected(&trade_off, artefact.plan.delta, significance).unwrap()
}

fn estimated(mechanism: BatchedGaussian, observations: u64, seed: u64) -> EpsilonEstimate {
    estimate(&counted(&planned(mechanism, observations, seed)), 0.05)
}

/// Standard error of the value at its cut: of ln((successes − δR)/errors), from both counts.
fn standard_error(estimate: &EpsilonEstimate) -> f64 {
    let found = estimate.evidence();
    let (errors, other, trials) = match found.direction {
        Direction::Remove => {
            let errors = found.errors.false_positives;
            (errors, found.errors.false_negatives, found.trials.target)
        }
        Direction::Add => {
            let errors = found.errors.false_negatives;
            (errors, found.errors.false_positives, found.trials.zero_out)
        }
    };
    let successes = (trials - other) as f64;
    let counted = successes - found.delta * trials as f64;
    (1.0 / errors.max(1) as f64 + successes / (counted * counted)).sqrt()
}

/// Our value, and the standard error of its difference from a printed one.
#[derive(Debug, Clone, Copy)]
struct Ours {
    value: f64,
    error: f64,
}

impl Ours {
    /// One run of the printed size: the printed value has as large an error.
    fn of_run(run: &EpsilonEstimate) -> Self {
        Ours { value: run.value(), error: std::f64::consts::SQRT_2 * standard_error(run) }
    }

    /// The mean of runs of another size.
    fn of_runs(Spread { values, mean, standard_deviation }: Spread) -> Self {
        Ours { value: mean, error: standard_deviation / (values as f64).sqrt() }
    }

    /// What is wrong with it beside a printed value, if anything.
    fn problem(self, printed: f64, expect: Expect) -> Option<String> {
        let tolerance = HALF_A_UNIT + ERRORS * self.error;
        let off = (self.value - printed).abs();
        let beside = format!("{:.3} ± {tolerance:.3} beside {printed}", self.value);
        match expect {
            Expect::Match if !(off <= tolerance) => Some(format!("does not match: {beside}")),
            Expect::Mismatch(reason) if !(off > tolerance) => {
                Some(format!("matches, though it should not ({reason}): {beside}"))
            }
            _ => None,
        }
    }
}

#[test]
fn a_wrong_expectation_fails() {
    let run = estimated(dpscope_tests::simulate::shuffled(1.0, 10, 1), 100_000, 1);
    let spread = Spread { values: 4, mean: run.value(), standard_deviation: 0.1 };
    for ours in [Ours::of_run(&run), Ours::of_runs(spread)] {
        let (near, far) = (ours.value + 0.01, ours.value + 9.0);
        assert_eq!(ours.problem(near, Expect::Match), None);
        assert_eq!(ours.problem(far, Expect::Mismatch("far")), None);
        assert!(ours.problem(far, Expect::Match).is_some());
        assert!(ours.problem(near, Expect::Mismatch("near")).is_some());
        assert!(ours.problem(f64::NAN, Expect::Match).is_some());
    }
}
