//! Guesses of canaries whose prior odds are known, and differ.

use super::root::last_below;
use super::tails::rounded_down;
use super::walk::{largest_of_grid, ln_reached};
use super::{MOST_CANARIES, OneRunError, check_delta, check_epsilon, check_significance};
use crate::audit::group_privacy::of_two_steps;
use crate::math;
use crate::special::UnitPoint;

/// Canaries with the same known probability of inclusion, and the guesses of them.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OddsClass {
    /// Known probability that such a canary is included.
    pub inclusion: f64,
    /// All canaries of the class, guessed or not.
    pub canaries: u64,
    /// Guesses that say "included".
    pub guesses_in: u64,
    /// Guesses that say "not included".
    pub guesses_out: u64,
}

/// Guesses of canaries that were included independently, with known probabilities of their own.
///
/// Weighted Poisson sampling, or labels whose law given the features is known. A guess of a value with prior π
/// is correct with probability at most q = e^ε π/(e^ε π + 1 − π), and with the tail PB of the sum of independent
/// hits,
///
/// P\[v or more\] ≤ PB(v) + δ Σ w, w = π(1 − q) over all canaries for guesses of one side, and the sum over both
/// values for guesses of both.
///
/// Which canaries are guessed may depend on what training released, and so may the value that is said, if both
/// values count ([`KnownOdds::with_both_sides`]). A draw of a fixed size with weights is not independent, and not
/// covered.
///
/// **Unknown odds** within a factor Γ of the stated ones, given all rows and other memberships: Γe^ε in place
/// of e^ε, and w = ½, or ¼ for one side. Γ is an assumption, as in Rosenbaum's sensitivity analysis, never an
/// estimate.
///
/// # Proof
/// As for [`Guesses::adaptive_p_value`](super::Guesses::adaptive_p_value), with
/// (1 − q)(P\[hit\] − odds · P\[miss\]) ≤ (1 − q)πδ for each canary.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownOdds {
    classes: Vec<OddsClass>,
    correct: u64,
    may_say_both: bool,
}

impl KnownOdds {
    /// v of all guesses are correct.
    ///
    /// # Errors
    /// [`OneRunError::Inclusion`], [`OneRunError::Guesses`] for more guesses than canaries of a class, or none
    /// at all, [`OneRunError::Correct`].
    pub fn new(classes: Vec<OddsClass>, correct: u64) -> Result<Self, OneRunError> {
        let (mut guesses, mut all) = (0_u64, 0_u64);
        for class in &classes {
            let OddsClass { inclusion, canaries, guesses_in, guesses_out } = *class;
            if !(inclusion > 0.0 && inclusion < 1.0) {
                return Err(OneRunError::Inclusion { inclusion });
            }
            let guessed = guesses_in.saturating_add(guesses_out);
            if guessed > canaries {
                return Err(OneRunError::Guesses { guesses: guessed, canaries });
            }
            guesses += guessed;
            all = all.saturating_add(canaries);
            if all > MOST_CANARIES {
                return Err(OneRunError::Canaries { canaries: all });
            }
        }
        if guesses == 0 {
            return Err(OneRunError::Guesses { guesses, canaries: 0 });
        }
        if correct > guesses {
            return Err(OneRunError::Correct { correct, guesses });
        }
        let odds = Self { classes, correct, may_say_both: false };
        // hits of different probabilities are added one by one
        if odds.common_prior().is_none() && guesses.saturating_mul(correct) > MOST_WORK {
            return Err(OneRunError::Work { guesses });
        }
        Ok(odds)
    }

    /// Guesses that could have said either value, whatever they said. Without this, guesses that all say the
    /// same were bound to do so beforehand.
    #[must_use]
    pub fn with_both_sides(self) -> Self {
        Self { may_say_both: true, ..self }
    }

    /// The largest probability of v or more correct guesses under (ε, δ)-DP, if the odds are known up to a
    /// factor; 1 for known odds.
    ///
    /// # Errors
    /// [`OneRunError::Epsilon`], [`OneRunError::Delta`], [`OneRunError::OddsFactor`].
    pub fn p_value(&self, epsilon: f64, delta: f64, factor: f64) -> Result<f64, OneRunError> {
        check_epsilon(epsilon)?;
        check_delta(delta)?;
        check_factor(factor)?;
        Ok((self.reached(epsilon + math::ln(factor)) + self.spent(epsilon, delta, factor)).min(1.0))
    }

    /// Lower bound on ε: the largest of 0, 0.005, 0.010, … that is rejected together with all smaller ones.
    ///
    /// # Errors
    /// [`OneRunError::Delta`], [`OneRunError::Significance`], [`OneRunError::OddsFactor`].
    pub fn epsilon_lower(
        &self,
        delta: f64,
        significance: f64,
        factor: f64,
    ) -> Result<f64, OneRunError> {
        self.lower(delta, significance, factor, |epsilon| (epsilon, delta))
    }

    /// The bound where turning a value takes two steps between neighbours: the limit is taken at
    /// (2ε, (1 + e^ε)δ).
    pub(in crate::audit) fn epsilon_lower_of_two_steps(
        &self,
        delta: f64,
        significance: f64,
        factor: f64,
    ) -> Result<f64, OneRunError> {
        self.lower(delta, significance, factor, |epsilon| of_two_steps(epsilon, delta))
    }

    /// The end of the grid that is rejected by the limit at the (ε, δ) of each point.
    fn lower(
        &self,
        delta: f64,
        significance: f64,
        factor: f64,
        at: impl Fn(f64) -> (f64, f64),
    ) -> Result<f64, OneRunError> {
        check_delta(delta)?;
        check_significance(significance)?;
        check_factor(factor)?;
        let shift = math::ln(factor);
        // the share of δ is largest at ε = 0
        let p = |epsilon: f64, is_sure: bool| {
            let (epsilon, delta) = at(epsilon);
            let of_delta = if is_sure { 0.0 } else { epsilon };
            self.reached(epsilon + shift) + self.spent(of_delta, delta, factor)
        };
        Ok(largest_of_grid(
            |epsilon| p(epsilon, true) < significance,
            |epsilon| p(epsilon, false) < significance,
        ))
    }

    /// The factor of the odds that explains the guesses without any leak: e^ε of the bound at δ = 0.
    ///
    /// # Errors
    /// [`OneRunError::Significance`].
    pub fn odds_that_explain(&self, significance: f64) -> Result<f64, OneRunError> {
        check_significance(significance)?;
        let bound = last_below(significance, |epsilon| self.reached(epsilon));
        Ok(math::exp(rounded_down(bound).min(LARGEST_EXPONENT)))
    }

    /// The tail of the sum of independent hits.
    fn reached(&self, epsilon: f64) -> f64 {
        let hits = self.priors().map(|(prior, count)| (hit(epsilon, prior), count));
        match self.common_prior() {
            Some((prior, guesses)) => {
                let q = UnitPoint::from_value(hit(epsilon, prior));
                (math::exp(ln_reached(guesses, self.correct, q)) * (1.0 + 1e-12)).min(1.0)
            }
            None => poisson_binomial_tail(hits, self.correct),
        }
    }

    /// Priors of what guesses say, and how many have it.
    fn priors(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let of_class = |class: &OddsClass| {
            [(class.inclusion, class.guesses_in), (1.0 - class.inclusion, class.guesses_out)]
        };
        self.classes.iter().flat_map(of_class).filter(|prior| prior.1 > 0)
    }

    /// The prior of all guesses and their number, if it is one: their hits are binomial then, whatever their
    /// number.
    #[must_use]
    pub fn common_prior(&self) -> Option<(f64, u64)> {
        let first = self.priors().next()?.0;
        let is_one = self.priors().all(|prior| prior.0 == first);
        is_one.then(|| (first, self.priors().map(|prior| prior.1).sum()))
    }

    /// δ Σ w over all canaries.
    fn spent(&self, epsilon: f64, delta: f64, factor: f64) -> f64 {
        let says = |guesses: fn(&OddsClass) -> u64| {
            self.may_say_both || self.classes.iter().any(|it| guesses(it) > 0)
        };
        let [says_in, says_out] = [says(|it| it.guesses_in), says(|it| it.guesses_out)];
        let weight = |class: &OddsClass| {
            if factor > 1.0 {
                return if says_in && says_out { 0.5 } else { 0.25 };
            }
            let of = |prior: f64| prior * (1.0 - hit(epsilon, prior));
            let sides = [(says_in, class.inclusion), (says_out, 1.0 - class.inclusion)];
            sides.iter().filter(|side| side.0).map(|side| of(side.1)).sum()
        };
        self.classes.iter().map(|class| class.canaries as f64 * weight(class)).sum::<f64>() * delta
    }
}

/// e to a larger power is infinite.
const LARGEST_EXPONENT: f64 = 700.0;
/// Most products of guesses and correct guesses with different probabilities: some seconds.
const MOST_WORK: u64 = 200_000_000;

/// e^ε π/(e^ε π + 1 − π).
fn hit(epsilon: f64, prior: f64) -> f64 {
    UnitPoint::from_logit(epsilon + math::ln(prior) - math::ln_1p(-prior)).value()
}

fn check_factor(factor: f64) -> Result<(), OneRunError> {
    if (1.0..f64::INFINITY).contains(&factor) {
        Ok(())
    } else {
        Err(OneRunError::OddsFactor { factor })
    }
}

/// P\[v or more\] of independent hits, given as probabilities and how often each occurs.
///
/// All terms are positive, so small tails keep their digits.
pub(super) fn poisson_binomial_tail(hits: impl Iterator<Item = (f64, u64)>, correct: u64) -> f64 {
    if correct == 0 {
        return 1.0;
    }
    let correct = correct as usize;
    // of fewer than v hits; those that reach v stay
    let mut fewer = vec![0.0; correct];
    fewer[0] = 1.0;
    let mut reached = 0.0;
    let mut most = 0;
    for (probability, count) in hits {
        for _ in 0..count {
            most = (most + 1).min(correct - 1);
            reached += fewer[correct - 1] * probability;
            for hits in (1..=most).rev() {
                fewer[hits] = fewer[hits] * (1.0 - probability) + fewer[hits - 1] * probability;
            }
            fewer[0] *= 1.0 - probability;
        }
    }
    (reached * (1.0 + 1e-12)).min(1.0)
}
