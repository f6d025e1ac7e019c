//! How well scores rank one class above the rest.

/// Areas under the curves of a classifier's scores.
///
/// AUROC = P(S > S′) + P(S = S′)/2 for scores S of the class and S′ of the rest. AUPRC is the average
/// precision Σ (Rₙ − Rₙ₋₁) Pₙ over the distinct scores from the largest on, with precision Pₙ and recall Rₙ
/// of all scores at least as large. Constant scores have ½ and the share of the class.
///
/// # Guarantee
/// Equal to scikit-learn's `roc_auc_score` and `average_precision_score` within 1e-12, ties included
/// (`tests/oracles/ranking.rs::areas_are_those_of_scikit_learn`).
///
/// # Example
/// ```
/// use dpscope_core::ranking::RankingQuality;
/// let found = RankingQuality::of(&[0.9, 0.4, 0.4, 0.1], &[true, true, false, false])?;
/// assert_eq!(found.auroc, 0.875);
/// assert!((found.auprc - (0.5 + 0.5 * 2.0 / 3.0)).abs() < 1e-15);
/// # Ok::<(), dpscope_core::ranking::RankingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankingQuality {
    /// Area under the receiver operating characteristic.
    pub auroc: f64,
    /// Average precision.
    pub auprc: f64,
}

/// Why scores have no such areas.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RankingError {
    /// Scores and classes differ in number.
    #[error("{scores} scores for {classes} examples")]
    Length {
        /// Number of scores.
        scores: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A score is NaN.
    #[error("score {index} is not a number")]
    NotANumber {
        /// Its position, from 0.
        index: usize,
    },
    /// All examples are of one class.
    #[error("{positives} of {examples} examples are of the class; both kinds are needed")]
    OneClass {
        /// Examples of the class.
        positives: usize,
        /// All examples.
        examples: usize,
    },
}

impl RankingQuality {
    /// The areas of scores.
    ///
    /// | argument | meaning | shape |
    /// |---|---|---|
    /// | `scores` | higher for the class; infinite ones are allowed | n |
    /// | `is_positive` | whether an example is of the class | n |
    ///
    /// # Errors
    /// [`RankingError`].
    pub fn of(scores: &[f64], is_positive: &[bool]) -> Result<Self, RankingError> {
        if scores.len() != is_positive.len() {
            let (scores, classes) = (scores.len(), is_positive.len());
            return Err(RankingError::Length { scores, classes });
        }
        if let Some(index) = scores.iter().position(|score| score.is_nan()) {
            return Err(RankingError::NotANumber { index });
        }
        let positives = is_positive.iter().filter(|positive| **positive).count();
        let negatives = scores.len() - positives;
        if positives == 0 || negatives == 0 {
            return Err(RankingError::OneClass { positives, examples: scores.len() });
        }
        let mut ranked: Vec<(f64, bool)> =
            scores.iter().copied().zip(is_positive.iter().copied()).collect();
        ranked.sort_unstable_by(|one, other| other.0.total_cmp(&one.0));
        // twice the pairs in order, ties counted half
        let (mut pairs, mut auprc) = (0_u128, 0.0);
        let (mut above, mut seen) = (0_usize, 0_usize);
        // −0 and 0 are equal
        for group in ranked.chunk_by(|one, other| one.0 == other.0) {
            let own = group.iter().filter(|(_, positive)| *positive).count();
            pairs += (group.len() - own) as u128 * (2 * above + own) as u128;
            above += own;
            seen += group.len();
            auprc += own as f64 / positives as f64 * (above as f64 / seen as f64);
        }
        let all = 2.0 * positives as f64 * negatives as f64;
        Ok(RankingQuality { auroc: pairs as f64 / all, auprc })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_scores_have_one_half_and_the_share_of_the_class() {
        let classes: Vec<bool> = (0..10).map(|at| at < 3).collect();
        let found = RankingQuality::of(&[0.25; 10], &classes).unwrap();
        assert_eq!((found.auroc, found.auprc), (0.5, 0.3));
        let zeros: Vec<f64> = (0..10).map(|at| if at % 2 == 0 { 0.0 } else { -0.0 }).collect();
        assert_eq!(RankingQuality::of(&zeros, &classes), Ok(found));
        let ordered: Vec<f64> = (0..10).map(|at| -f64::from(at)).collect();
        let best = RankingQuality::of(&ordered, &classes).unwrap();
        assert_eq!((best.auroc, best.auprc), (1.0, 1.0));
    }

    #[test]
    fn scores_without_areas_are_refused() {
        let of = |scores: &[f64], classes: &[bool]| RankingQuality::of(scores, classes);
        assert_eq!(of(&[1.0], &[]), Err(RankingError::Length { scores: 1, classes: 0 }));
        let not_a_number = of(&[1.0, f64::NAN], &[true, false]);
        assert_eq!(not_a_number, Err(RankingError::NotANumber { index: 1 }));
        let one = of(&[1.0, 2.0], &[true, true]);
        assert_eq!(one, Err(RankingError::OneClass { positives: 2, examples: 2 }));
        assert!(of(&[f64::INFINITY, f64::NEG_INFINITY], &[true, false]).is_ok());
    }
}
