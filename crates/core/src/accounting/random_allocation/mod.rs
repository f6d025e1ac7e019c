//! Random allocation: each record is in k of the T batches of each epoch, a uniform set of k.

mod statistic;

use super::answer::Basis;
use super::balls_in_bins::account_with_larger_epochs;
use super::calibration::{PrivacyTarget, SearchRange};
use super::error::argument;
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, BallsInBins, Deterministic, Given,
    Kind, Method, Parameter, Query, Training,
};
use crate::adjacency::Scope;
use statistic::Epoch;

/// The accountant of random allocation: each record is in k of the T batches of each epoch, a
/// uniform set of k, independently of other records and epochs.
///
/// P = mean over the sets S of k steps of N(1_S, σ²I), Q = N(0, σ²I), composed over the epochs;
/// k = q T is a whole number, and k = 1 is [`BallsInBins`].
///
/// The pair dominates every pair of neighbours under zero-out adjacency. Proof: the outputs of a
/// training follow from those x of the pair. In step t the others contribute f_t and the target
/// g_t, |g_t| ≤ 1, both functions of earlier outputs: f_t + g_t x_t and noise of covariance
/// σ²(I − g_t g_tᵀ) is the output, in both worlds. ∎ All other gradients zero is a data set that
/// reaches it.
///
/// **Upper value.** With r the remainder of T/k, divide the steps into r blocks of ⌈T/k⌉ and k − r
/// blocks of ⌊T/k⌋, at random, and choose one step of each block: by symmetry that is a uniform set
/// of k. So P is a mean over divisions of products of k pairs of balls in bins. Since H_α(P‖Q) and
/// H_α(Q‖P) are convex in P, they are at most those of the worst division, and all divisions have the
/// same blocks up to the order of the steps. Hence E epochs leak at most what r·E epochs of balls in
/// ⌈T/k⌉ bins and (k − r)·E epochs of balls in ⌊T/k⌋ bins leak together. Where δ is
/// below 1e-9 or σ below 0.2, or that composition has no value, they are all counted as epochs of ⌊T/k⌋ bins: a block of more bins is a mean of blocks of fewer, with
/// one left out.
///
/// **Lower value.** What the sum Σ_t f(x_t), f(x) = ln(1 − q + q e^{(x − ½)/σ²}), leaks: under Q a
/// T-fold convolution, under P one of T − k and of k factors, whatever the set is. It is nearly
/// sufficient where T is large. For k = 1 and k = T both values are those of the pair.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 100]; [0.2, 100] for a lower value with k > 1 |
/// | `sampling_rate` | k/T, else 1/T | k whole, in 1 … T |
/// | `steps_per_epoch` | T | 1 … 10⁶ |
/// | `epochs` | E | k·E in 1 … 10⁵ |
/// | `given` | δ | [1e-50, 1) |
/// | | or ε, nats | [0, ∞) |
/// | `error` | of an upper value, as in [`Query`] | [1e-6, 1] |
///
/// # Guarantee
/// The values of the pair lie between the lower and the upper value
/// (`tests/oracles/random_allocation.rs::sets_of_two_steps_bracket_quadrature`,
/// `tests/oracles/random_allocation.rs::unequal_blocks_are_composed`,
/// `tests/oracles/random_allocation.rs::one_use_and_all_uses_have_closed_answers`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] where a grid would be
/// too large; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// Masses of the statistic are rounded down under one distribution and up under the other.
/// `numeric_error` is that of the balls in bins for an upper value; it is not computed, and 0, for a
/// lower one, which bounds the pair from below without being close to it where bins are few.
///
/// # Reference
/// The partition into blocks is that of V. Feldman and M. Shenfeld (2025), "Privacy amplification
/// by random allocation", who bound the pair by other means.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, Given, Query, RandomAllocation, Training};
/// // each record in 5 of 50 steps
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 50, epochs: 1, sampling_rate: Some(0.1) };
/// let at_most = RandomAllocation.account(&Query::upper(training, Given::Delta(1e-5)))?;
/// let at_least = RandomAllocation.account(&Query::lower(training, Given::Delta(1e-5)))?;
/// assert!(at_least.epsilon < at_most.epsilon && at_most.epsilon < 1.1 * at_least.epsilon);
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RandomAllocation;

/// Least noise of the grid of the statistic.
const LEAST_NOISE: f64 = 0.2;

impl Training {
    /// k = q T, for random allocation: how often each record is used per epoch.
    ///
    /// # Errors
    /// [`AccountingError::Argument`] if it is not a whole number from 1 to T.
    pub fn uses_per_epoch(&self) -> Result<u64, AccountingError> {
        let uses = self.sampling_rate() * self.steps_per_epoch as f64;
        let whole = uses.round();
        let is_whole = (uses - whole).abs() <= 1e-9 * uses;
        if !(is_whole && (1.0..=self.steps_per_epoch as f64).contains(&whole)) {
            let allowed = "a whole number from 1 to the steps of an epoch";
            return Err(argument("uses_per_epoch", uses, allowed));
        }
        Ok(whole as u64)
    }
}

impl Accountant for RandomAllocation {
    fn account(&self, query: &Query) -> AccountingResult {
        let training = query.training;
        let uses = training.uses_per_epoch()?;
        if uses == training.steps_per_epoch {
            let epochs = training.steps();
            let training = Training { steps_per_epoch: 1, epochs, sampling_rate: None, ..training };
            return Deterministic.account(&Query { training, ..*query });
        }
        if query.kind == Kind::Upper
            && let Some(found) = of_unequal_blocks(query, uses)
        {
            return Ok(found);
        }
        if query.kind == Kind::Upper || uses == 1 {
            let of_blocks = Query { training: blocks(&training, uses), ..*query };
            return BallsInBins.account(&of_blocks).map_err(|error| of_run(error, &training, uses));
        }
        if query.kind == Kind::Estimate {
            return Err(query.refused());
        }
        let noise_multiplier = training.noise_multiplier;
        if !(LEAST_NOISE..=100.0).contains(&noise_multiplier) {
            let allowed = "in [0.2, 100] for a lower value";
            return Err(argument("noise_multiplier", noise_multiplier, allowed));
        }
        let epoch = Epoch { noise_multiplier, steps: training.steps_per_epoch, uses };
        let value = epoch.lower(training.epochs, query.given, query.directions)?;
        let basis = Basis {
            scope: Scope::Mechanism,
            directions: query.directions,
            method: Method::PrivacyLossDistribution,
            numeric_error: 0.0,
        };
        Accounted::new(Kind::Lower, query.given, value, basis).checked(query)
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let uses = training.uses_per_epoch()?;
        let blocks = blocks(training, uses);
        let range = BallsInBins.search_range(parameter, target, &blocks)?;
        Ok(range.map(|range| match parameter {
            Parameter::Epochs => SearchRange { high: (range.high / uses as f64).floor(), ..range },
            Parameter::Noise | Parameter::Steps => range,
        }))
    }
}

/// δ below which blocks count as equal.
const LEAST_DELTA: f64 = 1e-9;

/// The upper value of blocks whose sizes differ by one; none if they are equal, or if rounding of the
/// composition could exceed the gain.
fn of_unequal_blocks(query: &Query, uses: u64) -> Option<Accounted> {
    if matches!(query.given, Given::Delta(delta) if delta < LEAST_DELTA) {
        return None;
    }
    let Training { steps_per_epoch, epochs, noise_multiplier, .. } = query.training;
    let larger = steps_per_epoch % uses;
    if larger == 0 || noise_multiplier < LEAST_NOISE {
        return None;
    }
    let larger_epochs = larger.checked_mul(epochs)?;
    let training = Training {
        steps_per_epoch: steps_per_epoch / uses,
        epochs: (uses - larger).checked_mul(epochs)?,
        sampling_rate: None,
        ..query.training
    };
    let found = account_with_larger_epochs(&Query { training, ..*query }, larger_epochs).ok()?;
    (found.delta >= LEAST_DELTA).then_some(found)
}

/// An error about the blocks, in terms of the run.
fn of_run(error: AccountingError, training: &Training, uses: u64) -> AccountingError {
    match error {
        AccountingError::Argument { name: name @ "steps_per_epoch", allowed, .. } if uses > 1 => {
            let allowed = format!("{allowed} when divided by {uses} uses per epoch");
            argument(name, training.steps_per_epoch as f64, allowed)
        }
        AccountingError::Argument { name: name @ "epochs", allowed, .. } if uses > 1 => {
            let allowed = format!("{allowed} when multiplied by {uses} uses per epoch");
            argument(name, training.epochs as f64, allowed)
        }
        error => error,
    }
}

/// k·E epochs of ⌊T/k⌋ bins.
fn blocks(training: &Training, uses: u64) -> Training {
    Training {
        steps_per_epoch: training.steps_per_epoch / uses,
        epochs: training.epochs.saturating_mul(uses),
        sampling_rate: None,
        ..*training
    }
}
