//! Batches of fixed size: in each step a uniform subset of the records, drawn anew.

pub(super) mod cells;

use super::bracket::Question;
use super::calibration::{PrivacyTarget, SearchRange, error_near};
use super::error::{check_noise_and_rate, is_of_the_grid};
use super::known_draws::{KnownDraws, LITTLE_NOISE};
use super::proven::{Computed, Proven};
use super::search::Search;
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, Deterministic, Kind, Method,
    Parameter, Poisson, Query, Training,
};
use crate::adjacency::{Adjacency, Directions};
use cells::{Case, DataSets, JoinedPair, MergedOpposedPair, OpposedPair, Step};

/// The accountant of batches of fixed size: in each step a uniform subset of B of the N records,
/// independent of the other steps.
///
/// With q = B/N and W_m = (1 − q) N(0, σ²) + q N(m, σ²), the supremum over data sets of one step's
/// H_α(P‖Q), P with the target record:
///
/// | adjacency | α ≥ 1 | α < 1 | reached by other gradients |
/// |---|---|---|---|
/// | zero-out | W₂, W₁ | W₀, W₁ | opposed to the target's; equal to it |
/// | replace | W₂, W₀ | W₀, W₂ | opposed to the target's; to its substitute's |
/// | add-remove, N and N − 1 records | W₂, W₀ | W₂, W₀ | opposed to the target's |
///
/// Each row is the privacy profile of a pair, which is composed over all T·E steps. The sampling
/// rate of Poisson batches does not cover it: with or without the target, other records fill the
/// batch.
///
/// **Proof.** A batch without the target is a uniform set A of B other records; one with it is A
/// without a uniform element j, and the target. H is jointly convex, so P and Q may be conditioned on
/// A and j: with s the sum over A, u = g − g_j and v = −g_j (zero-out), g′ − g_j (replace) or 0
/// (add-remove), they are (1 − q) N(s, σ²I) + q N(s + u, σ²I) and the same with v. For α ≥ 1
///
/// H_α = ∫ (qφ_u − cφ₀ − αqφ_v)₊, c = (α − 1)(1 − q),
///
/// and with φ_v as the reference measure this is E(q e^X − c e^Y − αq)₊, where X and Y are Gaussian
/// with variances |u − v|²/σ² and |v|²/σ² and covariance −(u − v)·v/σ². The derivative of the
/// expectation with respect to the covariance is E ∂²/∂X∂Y ≤ 0 (R. L. Plackett, 1954), with respect
/// to a variance, the mean moving along, E ½∂²/∂(e^X)² e^{2X} ≥ 0. So the largest norms and
/// opposite directions are the worst: u = 2v, |v| = 1 for zero-out. For replacement φ_u is the
/// reference, and both negative terms have positive covariance at best: v = 0, |u| = 2. For α < 1,
/// H_α(P‖Q) = 1 − α + αH_{1/α}(Q‖P), and the same argument with the roles of u and v exchanged
/// yields u = 0, |v| = 1, and u = 0, |v| = 2. ∎
///
/// A run of many steps is between the composed pair and the composed pairs of single data sets,
/// which are the lower value: opposed gradients, and gradients that are zero or equal, whose pair is
/// that of Poisson batches. The supremum over data sets itself is not known for zero-out adjacency.
///
/// | argument | meaning | domain |
/// |---|---|---|
/// | `noise_multiplier` | σ | [0.01, 1e4] |
/// | `sampling_rate` | q = B/N, else 1/T | [1e-9, 1] |
/// | `steps_per_epoch`, `epochs` | T, E | T·E in 1 … 10⁹ |
/// | `given` | δ | [1e-200, 1) |
/// | | or ε, nats | [0, ∞) |
///
/// # Guarantee
/// An upper value is not below ε of any data set, a lower value not above that of the worst
/// (`tests/oracles/fixed_size.rs::no_data_set_leaks_more_than_the_pair`,
/// `tests/oracles/fixed_size.rs::two_steps_bracket_quadrature`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] if the error needs
/// too large a grid; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// Losses are solved for outputs in closed form, and grids are refined until the upper value is
/// about a quarter of the error above that of the pair. `numeric_error` is that of the pair behind
/// the value, `theory_gap` the distance between the upper and the lower value, between which the
/// unknown supremum lies. Below σ = 0.2 an upper value is at most that of known draws, the Gaussian
/// mechanism in each step that draws the target. Where little noise would need too large a grid, a lower
/// value is that of σ = 0.2, or of Poisson batches. The error of a query without one is the first of
/// 1e-3, 1e-2 and 0.1 whose grid is not too large. The grids of such a query have about 2·10⁷ points at
/// most: where the next one would exceed that, it ends with what it has proven, and `numeric_error` is
/// at most the distance of its values.
///
/// # Reference
/// The cases of replacement and of Poisson batches are in B. Balle, G. Barthe and M. Gaboardi
/// (2018), "Privacy amplification by subsampling".
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, FixedSize, Given, Poisson, Query, Training};
/// let training =
///     Training { noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: None };
/// let query = Query::upper(training, Given::Delta(1e-5));
/// assert_eq!(format!("{:.2}", FixedSize::default().account(&query)?.epsilon), "5.08");
/// assert_eq!(format!("{:.2}", Poisson.account(&query)?.epsilon), "0.72");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FixedSize {
    /// What neighbours differ in.
    pub adjacency: Adjacency,
}

impl FixedSize {
    /// Neighbours of which one has a record with zero gradient.
    pub const ZERO_OUT: FixedSize = FixedSize { adjacency: Adjacency::ZeroOut };

    /// The lower and the upper value, in this order: those of [`Accountant::account`], in the time of
    /// one of them.
    ///
    /// # Errors
    /// As [`Accountant::account`]; the kind of the query is ignored.
    pub fn both(&self, query: &Query) -> Result<[Accounted; 2], AccountingError> {
        let run = SampledSteps { training: query.training, adjacency: self.adjacency };
        run.check()?;
        if self.adjacency == Adjacency::AddRemove {
            let doubled = Query { training: run.training.doubled(), ..*query };
            let side = |kind| Poisson.account(&Query { kind, ..doubled });
            return Ok([side(Kind::Lower)?, side(Kind::Upper)?]);
        }
        run.proven(&Query { kind: Kind::Lower, ..*query })?.both(query, METHOD)
    }
}

impl Default for FixedSize {
    /// [`FixedSize::ZERO_OUT`].
    fn default() -> Self {
        FixedSize::ZERO_OUT
    }
}

/// Method of all values.
pub(super) const METHOD: Method = Method::PrivacyLossDistribution;

/// Errors to try, from the finest.
pub(super) const ERRORS: [f64; 3] = [1e-3, 1e-2, 1e-1];

impl Accountant for FixedSize {
    fn account(&self, query: &Query) -> AccountingResult {
        if query.kind == Kind::Estimate {
            return Err(query.refused());
        }
        let run = SampledSteps { training: query.training, adjacency: self.adjacency };
        run.check()?;
        if self.adjacency == Adjacency::AddRemove {
            return Poisson.account(&Query { training: run.training.doubled(), ..*query });
        }
        run.proven(query)?.accounted(query, METHOD)
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        let error = error_near(target.epsilon);
        // opposed gradients shift outputs as half the noise does
        let range = Poisson.search_range(parameter, target, training)?;
        Ok(range.map(|range| match parameter {
            Parameter::Noise => {
                let (high, start) = (1.0 / LITTLE_NOISE, 0.5 * range.start);
                SearchRange { high, start, error, ..range }
            }
            Parameter::Steps | Parameter::Epochs => SearchRange { error, ..range },
        }))
    }
}

/// All steps of a run.
#[derive(Debug, Clone, Copy)]
struct SampledSteps {
    training: Training,
    adjacency: Adjacency,
}

impl SampledSteps {
    fn check(&self) -> Result<(), AccountingError> {
        check_noise_and_rate(self.training.noise_multiplier, self.training.sampling_rate())
    }

    /// Values of the worst known data set and of the composed pair.
    fn proven(&self, query: &Query) -> Result<Proven, AccountingError> {
        self.proven_by(query, &Search::new(query))
    }

    fn proven_by(&self, query: &Query, search: &Search) -> Result<Proven, AccountingError> {
        let Query { given, directions, .. } = *query;
        if self.training.sampling_rate() == 1.0 {
            return self.in_every_batch(query);
        }
        let compositions = self.training.steps();
        let question = Question { compositions, given, directions, error: 1.0 };
        question.check()?;
        let at = |error: f64| {
            let question = Question { error, ..question };
            question.check()?;
            self.on_grids(query, &question, search)
        };
        let found = match query.error {
            Some(error) => at(error),
            None => super::bracket::finest(&ERRORS, &at),
        };
        let distance = if self.adjacency == Adjacency::ZeroOut { 1.0 } else { 2.0 };
        KnownDraws::new(&self.training, self.training.sampling_rate(), distance).or_tighter_proven(
            query,
            found,
            || self.noisier_lower(query, search),
        )
    }

    /// A lower value: more noise leaks at most as much, and so do zero gradients of all other records.
    fn noisier_lower(&self, query: &Query, search: &Search) -> Computed {
        let training = Training { noise_multiplier: LITTLE_NOISE, ..self.training };
        // its noise is not little: this is not repeated
        let noisier = Query { training, ..*query };
        let noisier =
            SampledSteps { training, ..*self }.proven_by(&noisier, &search.rest_for_lower());
        let noisier = noisier.map_or(Computed::ZERO, |found| found.lower);
        noisier.or_larger(self.single_lower(query))
    }

    /// The lower value of Poisson batches, for zero gradients of all other records.
    fn single_lower(&self, query: &Query) -> Computed {
        let training = match self.adjacency {
            Adjacency::ZeroOut => self.with_rate(),
            Adjacency::Replace | Adjacency::AddRemove => self.training.doubled(),
        };
        let directions = Directions::Both;
        let found = Poisson.account(&Query { training, directions, kind: Kind::Lower, ..*query });
        found.map_or(Computed::ZERO, |row| Computed::of(&row, query.given))
    }

    fn on_grids(
        &self,
        query: &Query,
        question: &Question,
        search: &Search,
    ) -> Result<Proven, AccountingError> {
        let Training { noise_multiplier, .. } = self.training;
        let sampling_rate = self.training.sampling_rate();
        // the noise of a target that shifts outputs by 1
        let relative_noise = match self.adjacency {
            Adjacency::ZeroOut => noise_multiplier,
            Adjacency::Replace | Adjacency::AddRemove => 0.5 * noise_multiplier,
        };
        let (cut, start) = question.start(relative_noise, sampling_rate);
        let step = Step { noise_multiplier, sampling_rate, cut };
        let (upper, resolution) = question.upper(&self.joined(step), start, search)?;
        let lower = self.single_lower(query);
        if self.adjacency != Adjacency::ZeroOut {
            return Ok(Proven { lower, upper });
        }
        let opposed = search.coarsened(resolution, |resolution| {
            question.lower_at(&MergedOpposedPair(step), resolution, f64::INFINITY, search)
        });
        let opposed = match opposed {
            Err(reason) if is_of_the_grid(&reason) && search.proven_upper().is_some() => 0.0,
            found => found?,
        };
        if !(opposed > lower.value) {
            return Ok(Proven { lower, upper });
        }
        let mut lower = Computed::without_error(opposed);
        // the upper value of all data sets may be near enough
        let is_far = upper.value - opposed > 2.0 * question.required(upper.value);
        if query.kind == Kind::Lower && is_far {
            let bracket = search.coarsened(resolution, |resolution| {
                question.bracket_at(&OpposedPair(step), resolution, search)
            });
            match bracket {
                Err(reason) if is_of_the_grid(&reason) && search.proven_upper().is_some() => {}
                found => lower = lower.or_nearer(found?.as_lower()),
            }
        }
        Ok(Proven { lower, upper })
    }

    fn with_rate(&self) -> Training {
        Training { sampling_rate: Some(self.training.sampling_rate()), ..self.training }
    }

    fn joined(&self, step: Step) -> JoinedPair {
        let [above, below] = full_batch(self.adjacency, 1.0, step);
        JoinedPair { above: vec![above], below: vec![below] }
    }

    /// The values for q = 1, where every batch contains the target.
    fn in_every_batch(&self, query: &Query) -> Result<Proven, AccountingError> {
        let all = |kind| {
            let training = match self.adjacency {
                Adjacency::ZeroOut => self.training,
                Adjacency::Replace | Adjacency::AddRemove => self.training.doubled(),
            };
            let epochs = self.training.steps();
            let training = Training { steps_per_epoch: 1, epochs, sampling_rate: None, ..training };
            let found = Deterministic.account(&Query { training, kind, ..*query })?;
            Ok(Computed::of(&found, query.given))
        };
        Ok(Proven { lower: all(Kind::Lower)?, upper: all(Kind::Upper)? })
    }
}

/// A step with a full batch: its losses above 0, and the pair whose reverse has those below 0.
pub(super) fn full_batch(adjacency: Adjacency, weight: f64, step: Step) -> [Case; 2] {
    let case = |step: Step, data: DataSets| Case { weight, step, data };
    let halved = Step { noise_multiplier: 0.5 * step.noise_multiplier, ..step };
    match adjacency {
        Adjacency::ZeroOut => [case(step, DataSets::Opposed), case(step, DataSets::Zero)],
        Adjacency::Replace => [case(halved, DataSets::Zero), case(halved, DataSets::Zero)],
        Adjacency::AddRemove => [case(halved, DataSets::Zero), case(halved, DataSets::Absent)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::Given;

    /// The first of these needs too large a grid also at the noise of its lower value.
    #[test]
    fn little_noise_in_many_steps_takes_limited_work() {
        for (noise_multiplier, steps_per_epoch, lowest) in
            [(0.15, 100_000, 592.0), (0.05, 10_000, 5234.0)]
        {
            let training =
                Training { noise_multiplier, steps_per_epoch, epochs: 10, sampling_rate: None };
            let query = Query { kind: Kind::Lower, ..Query::upper(training, Given::Delta(1e-5)) };
            let search = Search::new(&query);
            let run = SampledSteps { training, adjacency: Adjacency::ZeroOut };
            let found = run.proven_by(&query, &search).unwrap();
            assert!(search.spent() <= Search::MOST_SPENT, "{training:?}: {:e}", search.spent());
            let (lower, upper) = (found.lower.value, found.upper.value);
            assert!(lower > lowest && lower < upper && upper < 1.02 * lowest, "{lower} {upper}");
            // more noise leaks less
            let known = KnownDraws::new(&training, training.sampling_rate(), 1.0);
            assert!(upper <= known.upper(query.given).unwrap(), "{upper}");
        }
    }
}
