//! Random allocation: each record is in k of the T batches of each epoch, a uniform set of k.

mod statistic;

use super::answer::Basis;
use super::balls_in_bins::account_with_larger_epochs;
use super::calibration::{PrivacyTarget, SearchRange};
use super::error::argument;
use super::proven::tightest;
use super::shuffle::sum;
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
/// The pair dominates every pair of neighbours under zero-out adjacency. Proof: the outputs of a training
/// follow from the outputs x of the pair. In step t the other records contribute f_t and the target g_t,
/// |g_t| ≤ 1, both functions of earlier outputs: in both worlds, the output is f_t + g_t x_t plus noise
/// of covariance σ²(I − g_t g_tᵀ). ∎ Data sets with zero gradients of all other records reach it.
///
/// **Upper value.** With r the remainder of T/k, divide the steps into r blocks of ⌈T/k⌉ and k − r
/// blocks of ⌊T/k⌋, at random, and choose one step of each block: by symmetry that is a uniform set
/// of k. So P is a mean over divisions of products of k pairs of balls in bins. Since H_α(P‖Q) and
/// H_α(Q‖P) are convex in P, they are at most those of the worst division, and all divisions have the
/// same blocks up to the order of the steps. Hence E epochs leak at most what r·E epochs of balls in
/// ⌈T/k⌉ bins and (k − r)·E epochs of balls in ⌊T/k⌋ bins leak together. If δ is below 1e-9, σ is below
/// 0.2 or that composition has no value, all count as epochs of ⌊T/k⌋ bins: a block with one more bin is
/// a mean of blocks that leave one out.
///
/// **Lower value.** The larger ε of two statistics. The sum Σ_t f(x_t), f(x) = ln(1 − q + q e^{(x −
/// ½)/σ²}), is a T-fold convolution under Q and one of T − k and of k factors under P, whatever the set
/// is. It is nearly sufficient if T is large, but its grids show nothing where P and Q hardly overlap.
/// There the sum of each epoch's outputs shows more: N(k, Tσ²) against N(0, Tσ²), whatever the set is, so
/// that E epochs are μ-GDP with μ = k√E/(σ√T). For k = 1 and k = T both values are those of the pair.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 100] |
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
/// `tests/oracles/random_allocation.rs::lower_values_are_at_least_those_of_sums`,
/// `tests/oracles/random_allocation.rs::one_use_and_all_uses_have_closed_answers`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] where a grid would be
/// too large; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// Masses of the statistic are rounded down under one distribution and up under the other; below σ = 0.2
/// the statistic is that of σ = 0.2. `numeric_error` of an upper value is that of balls in bins. For a
/// lower value from the statistic it is not computed and 0; with few bins, such a value may be far below
/// that of the pair.
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

/// Least noise multiplier of the grids.
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
        if !(0.01..=100.0).contains(&training.noise_multiplier) {
            return Err(argument("noise_multiplier", training.noise_multiplier, "in [0.01, 100]"));
        }
        let of_sums = sum::lower_of_mechanism(query, uses as f64);
        tightest(query, [of_statistic(query, uses), of_sums])
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

/// The lower value from the statistic. A run with little noise leaks at least as much as one with more.
fn of_statistic(query: &Query, uses: u64) -> AccountingResult {
    let Training { noise_multiplier, steps_per_epoch, epochs, .. } = query.training;
    let noise_multiplier = noise_multiplier.max(LEAST_NOISE);
    let epoch = Epoch { noise_multiplier, steps: steps_per_epoch, uses };
    let value = epoch.lower(epochs, query.given, query.directions)?;
    let basis = Basis {
        scope: Scope::Mechanism,
        directions: query.directions,
        method: Method::PrivacyLossDistribution,
        numeric_error: 0.0,
    };
    Accounted::new(Kind::Lower, query.given, value, basis).checked(query)
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
