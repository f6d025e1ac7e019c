//! Scores relative to those of reference models.

/// Subtracts from each score the mean score of the same canary in the reference models that did not
/// include it.
///
/// score'ᶜ = scoreᶜ − mean over references with coinᶜ = OUT of their scoreᶜ
///
/// A canary that every reference model included has the mean over all canaries in its place. Reference
/// models are trained with coins, batches and noise of their own; their coins are spent: they must not
/// be guessed in the same audit.
///
/// | argument | meaning | shape |
/// |---|---|---|
/// | `scores` | scores of the audited model | m |
/// | `references` | coins and scores of each reference model | m each |
///
/// # Example
/// ```
/// use dpscope_train::one_run::calibrated;
///
/// let coins = [vec![true, false], vec![false, false]];
/// let references = [(&coins[0][..], &[0.5, -2.0][..]), (&coins[1][..], &[-1.0, -4.0][..])];
/// assert_eq!(calibrated(&[0.0, -1.0], &references), [1.0, 2.0]);
/// ```
#[must_use]
pub fn calibrated(scores: &[f32], references: &[(&[bool], &[f32])]) -> Vec<f64> {
    let mut sums = vec![(0.0_f64, 0_u32); scores.len()];
    for (coins, reference) in references {
        for ((sum, count), (is_included, score)) in
            sums.iter_mut().zip(coins.iter().zip(*reference))
        {
            if !is_included {
                *sum += f64::from(*score);
                *count += 1;
            }
        }
    }
    let whole = sums.iter().fold((0.0, 0), |whole, sum| (whole.0 + sum.0, whole.1 + sum.1));
    let mean = |(sum, count)| if count == 0 { 0.0 } else { sum / f64::from(count) };
    let of = |sum: (f64, u32)| mean(if sum.1 == 0 { whole } else { sum });
    scores.iter().zip(sums).map(|(score, sum)| f64::from(*score) - of(sum)).collect()
}
