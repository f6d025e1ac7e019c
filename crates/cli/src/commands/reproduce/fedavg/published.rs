//! Published figures: G. Andrew et al., One-shot empirical privacy estimation for federated learning,
//! ICLR 2024, arXiv 2302.03098.

use dpscope_report::record::PublishedFedAvgRow;

const STACK_OVERFLOW: &str = "Stack Overflow, LSTM";
const EMNIST: &str = "EMNIST, CNN";

/// σ, analytic ε, estimates from all updates and the final model, and their stated lower bounds.
type Row = (f64, Option<f64>, f64, f64, f64, f64);

const OF_STACK_OVERFLOW: [Row; 4] = [
    (0.0, None, 45_800.0, 4.60, 6.24, 2.88),
    (0.0496, Some(300.0), 382.0, 1.97, 6.24, 1.11),
    (0.0986, Some(100.0), 89.4, 1.18, 5.05, 0.69),
    (0.2317, Some(30.0), 2.69, 0.569, 0.41, 0.31),
];

const OF_EMNIST: [Row; 6] = [
    (0.0, None, 48_300.0, 5.72, 6.25, 3.86),
    (0.16, Some(33.8), 17.9, 1.20, 2.87, 1.01),
    (0.18, Some(28.1), 12.0, 1.15, 2.32, 0.788),
    (0.195, Some(24.8), 8.88, 1.08, 2.02, 0.723),
    (0.25, Some(16.9), 3.86, 0.82, 0.896, 0.550),
    (0.315, Some(12.0), 1.50, 0.74, 0.315, 0.216),
];

/// Accuracy on Stack Overflow with and without canaries, in percent, from little noise to much.
pub(super) const ACCURACIES: [[f64; 2]; 5] =
    [[25.3, 25.3], [24.0, 23.9], [23.1, 23.1], [21.5, 21.5], [20.6, 20.5]];

pub(super) fn all() -> Vec<PublishedFedAvgRow> {
    let row = |data, (noise_multiplier, analytic, all, last, lower_all, lower_final): Row| {
        PublishedFedAvgRow {
            data,
            noise_multiplier,
            analytic,
            estimate_all: all,
            estimate_final: last,
            lower_all,
            lower_final,
        }
    };
    let stack_overflow = OF_STACK_OVERFLOW.map(|cells| row(STACK_OVERFLOW, cells));
    stack_overflow.into_iter().chain(OF_EMNIST.map(|cells| row(EMNIST, cells))).collect()
}
