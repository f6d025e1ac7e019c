//! Guesses of memberships or labels that were drawn with known odds.

use crate::adjacency::Adjacency;
use crate::audit::AdjacencyBounds;
use crate::audit::one_run::{KnownOdds, OddsClass, OneRunError};

/// What was drawn for each canary, 1 or 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DrawnValue {
    /// Whether the record was trained on: guesses bound ε for adding or removing a record.
    Membership,
    /// The label that its record had: guesses bound ε for replacing a record, and by group privacy for adding
    /// or removing one.
    Label,
}

/// Guesses of values that were drawn independently, with known probabilities of their own.
///
/// See [`KnownOdds`] for the bound.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddsGuesses {
    /// What was drawn.
    pub value: DrawnValue,
    /// Canaries and guesses by the probability of the value 1.
    pub classes: Vec<OddsClass>,
    /// Correct guesses: v.
    pub correct: u64,
    /// Whether all guesses were bound to say the same value before anything was seen; else each could have
    /// said either.
    pub one_sided: bool,
    /// Γ: the stated odds are right up to this factor, both ways; 1 if they are known.
    pub odds_factor: f64,
}

/// ln(2·10⁹): sums of draws are as far from their mean as [`OddsGuesses::mismatch`] allows but for a chance of
/// 1e-9, by Bernstein's inequality.
const LN_2E9: f64 = 21.42;

impl OddsGuesses {
    /// The guesses of records, each with the probability of a 1, what was drawn, and what was said: 1, 0, or
    /// anything else to abstain.
    ///
    /// # Errors
    /// [`OneRunError::Lengths`] if these are not as many.
    pub fn of_records(
        value: DrawnValue,
        priors: &[f64],
        drawn: &[f64],
        said: &[f64],
        odds_factor: f64,
    ) -> Result<Self, OneRunError> {
        if let Some(counts) = [drawn.len(), said.len()].into_iter().find(|&len| len != priors.len())
        {
            return Err(OneRunError::Lengths { sizes: priors.len(), counts });
        }
        let mut order: Vec<usize> = (0..priors.len()).collect();
        order.sort_unstable_by(|&a, &b| priors[a].total_cmp(&priors[b]));
        let mut classes: Vec<OddsClass> = Vec::new();
        let mut correct = 0;
        for place in order {
            let inclusion = priors[place];
            if classes.last().is_none_or(|class| class.inclusion != inclusion) {
                classes.push(OddsClass { inclusion, canaries: 0, guesses_in: 0, guesses_out: 0 });
            }
            let Some(class) = classes.last_mut() else { continue };
            class.canaries += 1;
            class.guesses_in += u64::from(said[place] == 1.0);
            class.guesses_out += u64::from(said[place] == 0.0);
            let is_said = said[place] == 1.0 || said[place] == 0.0;
            correct += u64::from(is_said && said[place] == drawn[place]);
        }
        Ok(Self { value, classes, correct, one_sided: false, odds_factor })
    }

    /// By how many standard deviations the drawn ones are off, if chance does not explain it: in number, or
    /// weighted by how far their probabilities are from ½.
    #[must_use]
    pub fn mismatch(priors: &[f64], drawn: &[f64]) -> Option<f64> {
        let deviation = |weight: fn(f64) -> f64| {
            let of = |(value, &prior): (&f64, &f64)| {
                let weight = weight(prior);
                (weight * (value - prior), weight * weight * prior * (1.0 - prior))
            };
            let each = drawn.iter().zip(priors).map(of);
            let (excess, variance) =
                each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let is_far = excess * excess > 2.0 * LN_2E9 * (variance + excess.abs() / 3.0);
            is_far.then(|| excess / variance.sqrt())
        };
        deviation(|_| 1.0).or_else(|| deviation(|prior| prior - 0.5))
    }

    /// Canaries, guessed or not.
    #[must_use]
    pub fn canaries(&self) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum.saturating_add(class.canaries))
    }

    /// Number of guesses.
    #[must_use]
    pub fn guesses(&self) -> u64 {
        let of_class = |class: &OddsClass| class.guesses_in.saturating_add(class.guesses_out);
        self.classes.iter().fold(0, |sum, class| sum.saturating_add(of_class(class)))
    }

    /// Lower bounds on ε.
    ///
    /// # Errors
    /// As [`KnownOdds::new`] and [`KnownOdds::epsilon_lower`].
    pub fn bounds(&self, delta: f64, significance: f64) -> Result<AdjacencyBounds, OneRunError> {
        let odds = self.odds()?;
        let of_draw = odds.epsilon_lower(delta, significance, self.odds_factor)?;
        Ok(match self.value {
            DrawnValue::Membership => AdjacencyBounds { replace: 0.0, add_remove: of_draw },
            DrawnValue::Label => AdjacencyBounds {
                replace: of_draw,
                add_remove: odds.epsilon_lower_of_two_steps(
                    delta,
                    significance,
                    self.odds_factor,
                )?,
            },
        })
    }

    /// The adjacency of the draw itself.
    #[must_use]
    pub const fn adjacency(&self) -> Adjacency {
        match self.value {
            DrawnValue::Membership => Adjacency::AddRemove,
            DrawnValue::Label => Adjacency::Replace,
        }
    }

    /// The p-value without any leak, if the odds are as stated up to the factor.
    ///
    /// # Errors
    /// As [`Self::bounds`].
    pub fn p_value_without_leak(&self) -> Result<f64, OneRunError> {
        self.odds()?.p_value(0.0, 0.0, self.odds_factor)
    }

    /// The factor of the stated odds that explains the guesses without any leak.
    ///
    /// # Errors
    /// As [`Self::bounds`].
    pub fn factor_without_leak(&self, significance: f64) -> Result<f64, OneRunError> {
        self.odds()?.odds_that_explain(significance)
    }

    /// Makes all guesses correct, which no result can exceed.
    pub(super) fn all_correct(&self) -> Self {
        Self { correct: self.guesses(), ..self.clone() }
    }

    /// Guesses, correct ones, and how many there could be.
    pub(super) fn totals(&self) -> [u64; 3] {
        [self.guesses(), self.correct, self.canaries()]
    }

    fn odds(&self) -> Result<KnownOdds, OneRunError> {
        let odds = KnownOdds::new(self.classes.clone(), self.correct)?;
        Ok(if self.one_sided { odds } else { odds.with_both_sides() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guesses(value: DrawnValue, odds_factor: f64) -> OddsGuesses {
        let class = |inclusion, guesses_in, guesses_out| OddsClass {
            inclusion,
            canaries: 200,
            guesses_in,
            guesses_out,
        };
        let classes = vec![class(0.1, 40, 0), class(0.5, 30, 30)];
        OddsGuesses { value, classes, correct: 80, one_sided: false, odds_factor }
    }

    #[test]
    fn labels_bound_replacement_and_memberships_addition() {
        let member = guesses(DrawnValue::Membership, 1.0).bounds(0.0, 0.05).unwrap();
        let label = guesses(DrawnValue::Label, 1.0).bounds(0.0, 0.05).unwrap();
        assert!(member.add_remove > 1.0, "{member:?}");
        assert_eq!((member.replace, label.replace), (0.0, member.add_remove));
        assert!((2.0 * label.add_remove - label.replace).abs() < 0.011, "{label:?}");
    }

    #[test]
    fn records_with_equal_odds_are_one_class() {
        let (priors, drawn) = ([0.5, 0.1, 0.5, 0.1], [1.0, 0.0, 0.0, 1.0]);
        let said = [1.0, -1.0, 1.0, 1.0];
        let guesses =
            OddsGuesses::of_records(DrawnValue::Label, &priors, &drawn, &said, 1.0).unwrap();
        assert_eq!((guesses.classes.len(), guesses.correct, guesses.guesses()), (2, 2, 3));
        assert_eq!(OddsGuesses::mismatch(&priors, &drawn), None);
        assert!(OddsGuesses::mismatch(&[0.1; 100], &[0.5; 100]).unwrap() > 10.0);
        // rare, and no mistake
        let drawn = [vec![1.0], vec![0.0; 999]].concat();
        assert_eq!(OddsGuesses::mismatch(&[1e-5; 1_000], &drawn), None);
        // as many ones as stated, but on the wrong records
        let (priors, drawn) = ([[0.9; 50], [0.1; 50]].concat(), [[0.1; 50], [0.9; 50]].concat());
        assert!(OddsGuesses::mismatch(&priors, &drawn).is_some());
    }

    #[test]
    fn unknown_odds_take_the_logarithm_of_their_factor() {
        let known = guesses(DrawnValue::Membership, 1.0);
        let [exact, loose] = [known.clone(), guesses(DrawnValue::Membership, 2.0)]
            .map(|guesses| guesses.bounds(0.0, 0.05).unwrap().add_remove);
        assert!((exact - loose - crate::math::ln(2.0)).abs() < 0.0051, "{exact} {loose}");
        let factor = known.factor_without_leak(0.05).unwrap();
        assert!((crate::math::ln(factor) - exact).abs() < 0.0051, "{factor} {exact}");
    }
}
