//! The joint-beta posterior against tight quadrature by other code.

use std::path::Path;

use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_tests::Table;
use dpscope_tests::golden::{Answer, Counts, Finding, Library, Real, Tally, evaluate};

const ESTIMATORS: &str = include_str!("data/estimators.json");
const INDEPENDENT: &str = include_str!("data/bayesian_independent.csv");

fn posterior(counts: ConfusionCounts, delta: f64) -> JointBetaPosterior {
    JointBetaPosterior::new(counts, delta).expect("arguments are in the domain")
}

/// Values of a kind in the golden file, as the library computes them.
fn findings(kind: &str, library: &dyn Library) -> Vec<Finding> {
    let found = evaluate(ESTIMATORS, "estimators.json", Path::new("oracles/data"), library);
    let mut found = found.expect("the file is well-formed");
    found.retain(|found| {
        found.case.starts_with("f_bayesian_joint_beta") && found.value.starts_with(kind)
    });
    assert!(found.len() >= 10, "{kind}");
    found
}

/// Largest absolute change of the entries of ε, and of probabilities, that are labelled accurate.
fn worst(library: &dyn Library) -> (f64, f64) {
    let largest = |kind: &str| {
        let found = findings(kind, library);
        found.iter().map(|found| found.distance).fold(0.0, f64::max)
    };
    (largest("accurate eps_lo"), largest("accurate P_post"))
}

#[test]
fn accurate_values_agree() {
    let (epsilon, probability) = worst(&Real);
    println!("largest change: epsilon {epsilon:.1e}, probability {probability:.1e}");
    assert!(epsilon < 1e-8, "{epsilon:e}");
    assert!(probability < 1e-9, "{probability:e}");
}

/// Another δ, and more false positives.
struct ModifiedLibrary {
    delta: f64,
    more: u64,
}

impl ModifiedLibrary {
    fn counts(&self, counts: Counts) -> Counts {
        Counts { false_positives: counts.false_positives + self.more, ..counts }
    }

    fn delta(&self, delta: f64) -> f64 {
        self.delta * delta
    }
}

impl Library for ModifiedLibrary {
    fn credible_lower(&self, counts: Counts, delta: f64, significance: f64) -> Answer {
        Real.credible_lower(self.counts(counts), self.delta(delta), significance)
    }

    fn credible_interval(&self, counts: Counts, delta: f64, significance: f64) -> Answer<[f64; 2]> {
        Real.credible_interval(self.counts(counts), self.delta(delta), significance)
    }

    fn probability_within(&self, counts: Counts, delta: f64, epsilon: f64) -> Answer {
        Real.probability_within(self.counts(counts), self.delta(delta), epsilon)
    }
}

#[test]
fn broken_twins_are_rejected() {
    let (epsilon, _) = worst(&ModifiedLibrary { delta: 0.0, more: 0 });
    assert!(epsilon > 1e-6, "delta left out: {epsilon:e}");
    let (epsilon, probability) = worst(&ModifiedLibrary { delta: 1.0, more: 1 });
    assert!(epsilon > 1e-3 && probability > 1e-3, "one count more: {epsilon:e}");
}

/// Loose on purpose: the peer integrates to 5e-3 and stops the root at 1e-2.
#[test]
fn peer_agrees_within_its_tolerance() {
    let found = findings("privacy-estimates 0.1.0.post1 joint-beta compute_eps_lo (", &Real);
    assert_eq!(Tally::of(&found).failed, 0, "{found:#?}");
    assert!(Tally::of(&found).passed >= 9, "{found:#?}");
}

#[test]
fn independent_quadrature_agrees() {
    let table = Table::parse(INDEPENDENT);
    for row in table.rows() {
        let counts = ConfusionCounts {
            true_positives: row.count("true_positives"),
            false_negatives: row.count("false_negatives"),
            false_positives: row.count("false_positives"),
            true_negatives: row.count("true_negatives"),
        };
        let posterior = posterior(counts, row.float("delta"));
        let seen = posterior.probability_within(row.float("epsilon")).expect("valid");
        let value = row.float("probability");
        assert!((seen - value).abs() < 1e-9, "{counts:?}: {seen} {value}");
    }
}

/// Credible is not confident: an attack that guesses still gets a positive lower end.
#[test]
fn guessing_has_a_positive_credible_limit() {
    let guess = ConfusionCounts {
        true_positives: 50,
        false_negatives: 50,
        false_positives: 50,
        true_negatives: 50,
    };
    assert!(posterior(guess, 1e-5).credible_lower(0.05).expect("valid").lower > 0.009);
}
