//! Published figures: G. Andrew et al., One-shot empirical privacy estimation for federated learning,
//! ICLR 2024, arXiv 2302.03098.

use dpscope_report::record::PublishedFedAvgRow;

const STACK_OVERFLOW: &str = "Stack Overflow, LSTM";
const EMNIST: &str = "EMNIST, CNN";

/// σ, analytic ε, estimates from all updates and the final model, and their stated lower bounds.
type StackOverflow = (f64, Option<f64>, f64, f64, f64, f64);

const OF_STACK_OVERFLOW: [StackOverflow; 4] = [
    (0.0, None, 45_800.0, 4.60, 6.24, 2.88),
    (0.0496, Some(300.0), 382.0, 1.97, 6.24, 1.11),
    (0.0986, Some(100.0), 89.4, 1.18, 5.05, 0.69),
    (0.2317, Some(30.0), 2.69, 0.569, 0.41, 0.31),
];

/// σ, analytic ε, estimates from all updates and the final model.
const OF_EMNIST: [(f64, Option<f64>, f64, f64); 6] = [
    (0.0, None, 48_300.0, 5.72),
    (0.16, Some(33.8), 17.9, 1.20),
    (0.18, None, 12.0, 1.15),
    (0.195, None, 8.88, 1.08),
    (0.25, None, 3.86, 0.82),
    (0.315, Some(12.0), 1.50, 0.74),
];

/// Accuracy on Stack Overflow with and without canaries, in percent, from little noise to much.
pub(super) const ACCURACIES: [[f64; 2]; 5] =
    [[25.3, 25.3], [24.0, 23.9], [23.1, 23.1], [21.5, 21.5], [20.6, 20.5]];

pub(super) fn all() -> Vec<PublishedFedAvgRow> {
    let emnist = OF_EMNIST.map(|(noise_multiplier, analytic, all, last)| PublishedFedAvgRow {
        data: EMNIST,
        noise_multiplier,
        analytic,
        estimate_all: all,
        estimate_final: last,
        lower_all: None,
        lower_final: None,
    });
    stack_overflow().into_iter().chain(emnist).collect()
}

fn stack_overflow() -> Vec<PublishedFedAvgRow> {
    let row =
        |(noise_multiplier, analytic, all, last, lower_all, lower_final)| PublishedFedAvgRow {
            data: STACK_OVERFLOW,
            noise_multiplier,
            analytic,
            estimate_all: all,
            estimate_final: last,
            lower_all: Some(lower_all),
            lower_final: Some(lower_final),
        };
    OF_STACK_OVERFLOW.into_iter().map(row).collect()
}
