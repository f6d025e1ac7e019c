//! What an ideal attack on a split finds: for planning.

use super::{BothSides, NamedRows, SplitError, SplitSets};
use crate::audit::AdjacencyBounds;
use crate::audit::one_run::{ListGuesses, OneRunError};
use crate::special::normal::{normal_cdf, normal_pdf};
use crate::special::quadrature::gauss_legendre_32;

/// Bisections of a cut; each halves it.
const HALVINGS: u32 = 100;
/// Scores beyond this many standard deviations have a chance below 1e-19.
const FAR: f64 = 9.0;

/// The number of rows, or sets, to name of a side with r rows, where no plan fixed another:
/// ⌈√(10 r)⌉, at most r.
#[must_use]
pub fn default_guesses(side: u64) -> u64 {
    ((10.0 * side as f64).sqrt().ceil() as u64).clamp(1, side.max(1))
}

/// An attack whose scores are N(μ, 1) for members and N(0, 1) for non-members, independent.
///
/// If the k rows above a cut c are named, where rΦ(μ − c) + (N − r)Φ(−c) = k, about v = ⌊rΦ(μ − c) + ½⌋ of
/// them are of the side; by symmetry the same holds for non-members, below a cut. A set is guessed if its
/// largest score exceeds the second by at least t.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SplitAttack {
    mu: f64,
}

impl SplitAttack {
    /// The attack with this μ.
    ///
    /// # Errors
    /// [`SplitError::Bound`] for μ outside \[0, 100\].
    pub fn new(mu: f64) -> Result<Self, SplitError> {
        if !(0.0..=100.0).contains(&mu) {
            return Err(OneRunError::Mu { mu }.into());
        }
        Ok(Self { mu })
    }

    /// The expected correct ones of k named rows of a side with r of N rows.
    ///
    /// # Errors
    /// As [`NamedRows::new`].
    pub fn named(&self, rows: u64, side: u64, guesses: u64) -> Result<NamedRows, SplitError> {
        let probe = NamedRows::new(rows, side, guesses, guesses.min(side))?;
        let cut = self.cut(rows, side, guesses);
        let expected = side as f64 * normal_cdf(self.mu - cut);
        let correct = (expected + 0.5).floor() as u64;
        NamedRows::new(
            rows,
            side,
            guesses,
            correct.clamp(probe.least_correct(), probe.most_correct()),
        )
    }

    /// The cut that k rows exceed in the mean.
    #[must_use]
    pub fn cut(&self, rows: u64, side: u64, guesses: u64) -> f64 {
        let (side, others) = (side as f64, (rows - side) as f64);
        let above = |cut: f64| side * normal_cdf(self.mu - cut) + others * normal_cdf(-cut);
        bisected(self.mu + 40.0, |cut| above(cut) > guesses as f64)
    }

    /// The expected bounds of both sides, with these numbers of named members and non-members.
    ///
    /// # Errors
    /// As [`NamedRows::new`]; [`SplitError::Bound`] for δ or a significance outside their domains.
    pub fn bounds(
        &self,
        [included, not_included]: [u64; 2],
        [guesses_in, guesses_out]: [u64; 2],
        delta: f64,
        significance: f64,
    ) -> Result<AdjacencyBounds, SplitError> {
        let rows = included.saturating_add(not_included);
        let sides = BothSides {
            members: Some(self.named(rows, included, guesses_in)?),
            non_members: Some(self.named(rows, not_included, guesses_out)?),
        };
        sides.bounds(delta, significance)
    }

    /// The probability that a guessed set is right, if the k of m sets of S rows with the largest margins are
    /// guessed.
    ///
    /// right = ∫φ(x − μ)Φ(x − t)^{S−1} dx and wrong = (S − 1)∫φ(x)Φ(x − t)^{S−2}Φ(x − t − μ) dx, with t from
    /// right + wrong = k/m.
    #[must_use]
    pub fn accuracy_of_sets(&self, sets: &SplitSets, guesses: u64) -> f64 {
        let share = guesses as f64 / sets.sets() as f64;
        let guessed = |margin: f64| {
            let [right, wrong] = self.right_and_wrong(sets.set_size(), margin);
            (right, right + wrong)
        };
        let margin = bisected(self.mu + 40.0, |margin| guessed(margin).1 > share).max(0.0);
        let (right, all) = guessed(margin);
        right / all
    }

    /// The expected correct ones of k guessed sets.
    ///
    /// # Errors
    /// As [`SplitSets::guesses`].
    pub fn sets(&self, sets: &SplitSets, guesses: u64) -> Result<ListGuesses, SplitError> {
        let expected = guesses as f64 * self.accuracy_of_sets(sets, guesses);
        sets.guesses(guesses, ((expected + 0.5).floor() as u64).min(guesses))
    }

    fn right_and_wrong(&self, set_size: u64, margin: f64) -> [f64; 2] {
        let others = (set_size - 1) as f64;
        let power = |x: f64, exponent: f64| crate::math::powf(normal_cdf(x - margin), exponent);
        let right = over_line(self.mu, |x| normal_pdf(x - self.mu) * power(x, others));
        let wrong = over_line(0.0, |x| {
            normal_pdf(x) * power(x, others - 1.0) * normal_cdf(x - margin - self.mu)
        });
        [right, others * wrong]
    }
}

/// The integral of a density around its mean, times a factor up to 1 that rises over a few units.
fn over_line(mean: f64, density: impl Fn(f64) -> f64) -> f64 {
    let panels = 12;
    let width = 2.0 * FAR / f64::from(panels);
    let panel = |panel: u32| {
        let start = mean - FAR + f64::from(panel) * width;
        gauss_legendre_32(start, start + width, &density)
    };
    (0..panels).map(panel).sum()
}

/// The end of the values in \[−`most`, `most`\] where a falling condition holds.
fn bisected(most: f64, holds: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (-most, most);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}
