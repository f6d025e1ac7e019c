//! The joint-beta posterior against tight quadrature by other code.

use dpscope_core::audit::bayesian::{ConfusionCounts, JointBetaPosterior};
use dpscope_tests::{Case, Table, cases};

const ESTIMATORS: &str = include_str!("data/estimators.json");
const CORRECTION: &str = include_str!("data/bayesian_correction.csv");
const INDEPENDENT: &str = include_str!("data/bayesian_independent.csv");

fn counts(case: &Case) -> ConfusionCounts {
    ConfusionCounts {
        true_positives: case.count("TP"),
        false_negatives: case.count("FN"),
        false_positives: case.count("FP"),
        true_negatives: case.count("TN"),
    }
}

fn posterior(counts: ConfusionCounts, delta: f64) -> JointBetaPosterior {
    JointBetaPosterior::new(counts, delta).expect("arguments are in the domain")
}

/// Largest absolute change of all entries that are labelled accurate, over all cases.
fn worst(law: impl Fn(&Case) -> JointBetaPosterior) -> (f64, f64) {
    let correction = Table::parse(CORRECTION);
    let (mut epsilon_change, mut probability_change) = (0.0_f64, 0.0_f64);
    for case in cases(ESTIMATORS, "f_bayesian_joint_beta") {
        let (posterior, significance) = (law(&case), case.input("alpha"));
        let one_sided = posterior.credible_lower(significance).expect("valid").lower;
        let both = posterior.credible_interval(significance).expect("valid");
        let value = case.expected_float("accurate eps_lo:").expect("our value");
        let mut ends = case.expected_floats("accurate eps_lo_hi").expect("our values");
        if let Some(row) = correction.rows().find(|row| row.text("case") == case.id()) {
            ends[1] = row.float("upper");
        }
        for (seen, value) in [(one_sided, value), (both.lower, ends[0]), (both.upper, ends[1])] {
            epsilon_change = epsilon_change.max((seen - value).abs());
        }
        let values = case.expected_floats("accurate P_post").expect("our values");
        for (epsilon, value) in [0.5, 1.0, 2.0].into_iter().zip(values) {
            let seen = posterior.probability_within(epsilon).expect("valid");
            probability_change = probability_change.max((seen - value).abs());
        }
    }
    (epsilon_change, probability_change)
}

#[test]
fn golden() {
    let (epsilon, probability) = worst(|case| posterior(counts(case), case.input("delta")));
    println!("largest change: epsilon {epsilon:.1e}, probability {probability:.1e}");
    assert!(epsilon < 1e-8, "{epsilon:e}");
    assert!(probability < 1e-9, "{probability:e}");
}

#[test]
fn broken_twins_are_rejected() {
    let (epsilon, _) = worst(|case| posterior(counts(case), 0.0));
    assert!(epsilon > 1e-6, "delta left out: {epsilon:e}");
    let (epsilon, probability) = worst(|case| {
        let mut counts = counts(case);
        counts.false_positives += 1;
        posterior(counts, case.input("delta"))
    });
    assert!(epsilon > 1e-3 && probability > 1e-3, "one count more: {epsilon:e}");
}

/// Loose on purpose: the peer integrates to 5e-3 and stops the root at 1e-2.
#[test]
fn peer() {
    for case in cases(ESTIMATORS, "f_bayesian_joint_beta") {
        let posterior = posterior(counts(&case), case.input("delta"));
        let seen = posterior.credible_lower(case.input("alpha")).expect("valid").lower;
        if let Some(value) =
            case.expected_float("privacy-estimates 0.1.0.post1 joint-beta compute_eps_lo (")
        {
            assert!((seen - value).abs() < case.tolerance("peer_abs"), "{}: {seen}", case.id());
        }
    }
}

#[test]
fn independent() {
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
