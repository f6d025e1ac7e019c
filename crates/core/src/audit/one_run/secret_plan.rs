//! Secrets: partial success, and what an ideal attack finds.

use super::{ListGuesses, OneRunError};
use crate::special::normal::{normal_cdf, normal_pdf, normal_survival};
use crate::special::quadrature::gauss_legendre_32;
use crate::special::{BetaDistribution, Tail, UnitPoint};

/// A secret of d tokens with B values each, which is one secret of B^d values.
///
/// A decoded string with at most h wrong tokens is a list of Σ_{i≤h} C(d, i)(B − 1)^i values, and one that is
/// right but for its last h tokens a list of B^h; h is fixed beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretTokens {
    /// Tokens: d.
    pub tokens: u32,
    /// Values of each: B.
    pub values: u64,
}

impl SecretTokens {
    /// All values: B^d; none above 2⁶⁴.
    #[must_use]
    pub fn all_values(&self) -> Option<u64> {
        self.values.checked_pow(self.tokens)
    }

    /// The length of the list of strings with at most h wrong tokens; none above 2⁶⁴.
    #[must_use]
    pub fn strings_with_wrong_tokens(&self, wrong: u32) -> Option<u64> {
        let (mut total, mut choices) = (0_u64, 1_u128);
        for count in 0..=wrong.min(self.tokens) {
            let others = u128::from(self.values.checked_sub(1)?).checked_pow(count)?;
            total = total.checked_add(u64::try_from(choices.checked_mul(others)?).ok()?)?;
            choices = choices * u128::from(self.tokens - count) / u128::from(count + 1);
        }
        Some(total)
    }

    /// The length of the list of strings that agree in all but the last h tokens; none above 2⁶⁴.
    #[must_use]
    pub fn strings_with_prefix(&self, open: u32) -> Option<u64> {
        self.values.checked_pow(open)
    }
}

/// An attack whose scores are N(μ, 1) for the true value of a secret and N(0, 1) for the others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SecretAttack {
    mu: f64,
}

impl SecretAttack {
    /// The attack with this μ.
    ///
    /// # Errors
    /// [`OneRunError::Mu`] outside \[0, 100\].
    pub fn new(mu: f64) -> Result<Self, OneRunError> {
        if (0.0..=100.0).contains(&mu) { Ok(Self { mu }) } else { Err(OneRunError::Mu { mu }) }
    }

    /// The probability that the true value is among the j largest scores of S:
    /// ∫φ(x − μ) P\[Bin(S − 1, 1 − Φ(x)) < j\] dx.
    ///
    /// # Errors
    /// As [`ListGuesses::new`].
    pub fn accuracy(&self, values: u64, list_length: u64) -> Result<f64, OneRunError> {
        ListGuesses::new(1, values, list_length)?;
        let place =
            BetaDistribution::with_shapes(list_length as f64, (values - list_length) as f64);
        let density = |x: f64| {
            let above = match x > 0.0 {
                true => UnitPoint::from_value(normal_survival(x)),
                false => UnitPoint::from_complement(normal_cdf(x)),
            };
            normal_pdf(x - self.mu) * place.tail(Tail::Upper, above)
        };
        let panels = 96; // the tail rises within a fraction of a unit
        let width = 18.0 / f64::from(panels);
        let panel = |panel: u32| {
            let start = self.mu - 9.0 + f64::from(panel) * width;
            gauss_legendre_32(start, start + width, density)
        };
        Ok((0..panels).map(panel).sum())
    }

    /// The expected correct lists of m secrets, all of them guessed, less so many standard deviations of their
    /// number.
    ///
    /// # Errors
    /// As [`ListGuesses::new`].
    pub fn expected(
        &self,
        canaries: u64,
        values: u64,
        list_length: u64,
        deviations: f64,
    ) -> Result<ListGuesses, OneRunError> {
        let accuracy = self.accuracy(values, list_length)?;
        let expected = canaries as f64 * accuracy;
        let fewer = expected - deviations * (expected * (1.0 - accuracy)).max(0.0).sqrt();
        let correct = ((fewer + 0.5).floor() as u64).min(canaries);
        ListGuesses::new(canaries, values, list_length)?.with_counts(canaries, correct)
    }
}
