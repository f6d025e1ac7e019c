//! Correlation of neighbouring runs.

use super::{Dependence, IndependenceCheck, tail::normal_two_sided};

/// Minimum number of scores.
const LEAST_SCORES: usize = 20;

/// Tests whether a run's score depends on that of the run before it, in file order.
///
/// With r the centred ranks (ties share their mean rank), in a circle:
///
/// statistic = Σ r_i·r_{i+1} ÷ Σ r_i²
///
/// | argument | meaning | unit |
/// |---|---|---|
/// | `scores` | scores of one world, in file order; those not finite are ignored | nats |
///
/// # Guarantee
/// Mean and variance are those of a random order of the same ranks, exact for any distribution of
/// the scores and any ties; the two-sided p-value is normal. Test
/// `tests/agreement/independence.rs::lag_one_correlation_is_detected`.
///
/// # Reference
/// Wald and Wolfowitz, "An exact test for randomness in the non-parametric case based on serial
/// correlation", 1943, section 4.
///
/// # Example
/// ```
/// use dpscope_core::recorded::independence::lag_one_correlation;
///
/// let rising: Vec<f64> = (0..100).map(f64::from).collect();
/// let check = lag_one_correlation(&rising);
/// assert_eq!(format!("{:.2}", check.statistic), "0.94");
/// assert!(check.finding.is_some());
/// ```
#[must_use]
pub fn lag_one_correlation(scores: &[f64]) -> IndependenceCheck {
    let finite: Vec<f64> = scores.iter().copied().filter(|score| score.is_finite()).collect();
    if finite.len() < LEAST_SCORES {
        return IndependenceCheck::too_little_data();
    }
    let ranks = centred_ranks(&finite);
    let n = ranks.len() as f64;
    let squares: f64 = ranks.iter().map(|r| r * r).sum();
    let fourths: f64 = ranks.iter().map(|r| r * r * r * r).sum();
    if squares <= 0.0 {
        return IndependenceCheck::too_little_data();
    }
    let next = ranks.iter().cycle().skip(1);
    let serial: f64 = ranks.iter().zip(next).map(|(left, right)| left * right).sum();

    let mean = -squares / (n - 1.0);
    let variance = (squares * squares - fourths) / (n - 1.0)
        + (squares * squares - 2.0 * fourths) / ((n - 1.0) * (n - 2.0))
        - mean * mean;
    let z = (serial - mean) / variance.max(0.0).sqrt();
    let correlation = serial / squares;
    let finding = Dependence::LagOneCorrelation { correlation };
    IndependenceCheck::new(correlation, normal_two_sided(z), finding)
}

/// Ranks less their mean; equal values share the mean of their ranks.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
    order.sort_by(|left, right| left.0.total_cmp(&right.0));
    let middle = (values.len() as f64 - 1.0) / 2.0;
    let mut ranks = vec![0.0; values.len()];
    let mut start = 0;
    for ties in order.chunk_by(|left, right| left.0 >= right.0) {
        let rank = start as f64 + (ties.len() as f64 - 1.0) / 2.0 - middle;
        for (_, index) in ties {
            if let Some(slot) = ranks.get_mut(*index) {
                *slot = rank;
            }
        }
        start += ties.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_centred_and_ties_share() {
        assert_eq!(centred_ranks(&[30.0, 10.0, 20.0]), [1.0, -1.0, 0.0]);
        assert_eq!(centred_ranks(&[5.0, 1.0, 5.0, 9.0]), [0.0, -1.5, 0.0, 1.5]);
        assert_eq!(centred_ranks(&[2.0, 2.0]), [0.0, 0.0]);
    }

    #[test]
    fn alternating_scores_are_detected() {
        let scores: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
        let check = lag_one_correlation(&scores);
        assert_eq!(check.statistic, -1.0);
        assert!(check.p_value < 1e-20);
    }

    #[test]
    fn few_equal_or_broken_scores_have_no_finding() {
        for scores in [vec![1.0; 19], vec![1.0; 1_000], vec![f64::NAN; 1_000], Vec::new()] {
            assert_eq!(lag_one_correlation(&scores), IndependenceCheck::too_little_data());
        }
    }

    #[test]
    fn moments_are_those_of_all_orders_of_five_values() {
        // Brute force over 120 orders: mean and variance of Σ r_i·r_{i+1} in a circle.
        let values = [-2.0, -0.5, -0.5, 1.0, 2.0];
        let (mut sum, mut sum_of_squares, mut orders) = (0.0, 0.0, 0.0);
        for code in 0..5_usize.pow(5) {
            let place = [0, 1, 2, 3, 4].map(|i| code / 5_usize.pow(i) % 5);
            if (0..5).all(|v| place.contains(&v)) {
                let r = place.map(|p| values[p]);
                let serial: f64 = (0..5).map(|i| r[i] * r[(i + 1) % 5]).sum();
                (sum, sum_of_squares, orders) =
                    (sum + serial, sum_of_squares + serial * serial, orders + 1.0);
            }
        }
        let n = 5.0;
        let squares: f64 = values.iter().map(|r| r * r).sum();
        let fourths: f64 = values.iter().map(|r| r * r * r * r).sum();
        let mean = -squares / (n - 1.0);
        let variance = (squares * squares - fourths) / (n - 1.0)
            + (squares * squares - 2.0 * fourths) / ((n - 1.0) * (n - 2.0))
            - mean * mean;
        assert_eq!(orders, 120.0);
        assert!((sum / orders - mean).abs() < 1e-12);
        assert!((sum_of_squares / orders - mean * mean - variance).abs() < 1e-11);
    }
}
