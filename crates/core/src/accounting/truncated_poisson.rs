//! Poisson sampled batches of limited size.

use super::bracket::{Question, Resolution};
use super::calibration::{PrivacyTarget, SearchRange};
use super::error::{argument, check_noise_and_rate};
use super::fixed_size::cells::{Case, DataSets, JoinedPair, Step};
use super::fixed_size::{ERRORS, METHOD, full_batch};
use super::known_draws::{KnownDraws, LITTLE_NOISE};
use super::proven::{Computed, Proven};
use super::search::Search;
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, FixedSize, Given, Kind, Parameter,
    Poisson, Query, Training,
};
use crate::adjacency::Adjacency;
use crate::math;
use crate::mechanism::Truncation;
use crate::mechanism::truncation::Overflow;

/// The accountant of truncated Poisson batches: each of N records is drawn with probability q, and
/// if there are more than B of them, a uniform subset of B is kept; independent of other steps.
///
/// With n ~ Bin(N − 1, q), the other records that are drawn, a batch is *full* if n ≥ B. The
/// supremum over data sets of one step's H_α(P‖Q), P with the target record, is at most
///
/// P(n < B)·H_α(P₀‖Q₀) + P(n ≥ B)·H_α(P₁‖Q₁)
///
/// where W_m = (1 − q) N(0, σ²) + q N(m, σ²), V_m is the same at the rate p = E(qB/(n + 1) | n ≥ B)
/// = (B/N)·P(Bin(N, q) > B)/P(n ≥ B), and
///
/// | adjacency | P₀, Q₀ | P₁, Q₁ for α ≥ 1 | for α < 1 |
/// |---|---|---|---|
/// | zero-out | W₁, W₀ | V₂, V₁ | V₀, V₁ |
/// | replace | W₁, W₋₁ | V₂, V₀ | V₀, V₂ |
/// | add-remove, N and N − 1 records | W₁, W₀ | V₂, V₀ | V₂, V₀ |
///
/// Each row is the privacy profile of a pair, which is composed over all T·E steps.
///
/// **Proof.** H is jointly convex, so P and Q may be conditioned on what has the same distribution in
/// both worlds: whether n ≥ B. If n < B, they may be conditioned on the others drawn, with sum s: the
/// target is added with probability q, which is (1 − q) N(s, σ²I) + q N(s + u, σ²I) and the same with
/// v; u = g and v = 0 or, for replacement, g′. With N(s, σ²I) as the reference measure H_α is
/// E(q e^X − c − αq e^Y)₊, c = (α − 1)(1 − q), where X and Y have variances |u|²/σ² and |v|²/σ² and
/// covariance u·v/σ². As for [`FixedSize`], it rises with both variances and falls with the
/// covariance: the largest norms and opposite directions are the worst, u = −v. If n ≥ B, a batch
/// without the target is, whatever n is, a uniform set A of B others. The target is drawn and kept
/// with probability qB/(n + 1), and then replaces a uniform element j of A, so that A and j are
/// independent of n. Conditioned on A and j, the pair is that of [`FixedSize`] at the mean p of these
/// probabilities, and so are its worst cases. ∎
///
/// **Second upper value.** Conditioned on no full batch in any step, each step is dominated by
/// W₁, W₀ as above, as Poisson batches are; a full batch occurs with probability at most T·E·P(n ≥ B),
/// which is added to δ. It is used
/// where that addition is less than a thousandth of δ, except under replacement.
///
/// **Lower value.** With other gradients of zero, the pair is that of Poisson batches at the chance
/// that the target is in a batch, q·P(n < B) + (B/N)·P(Bin(N, q) > B). Where batches are nearly
/// always full: those of [`FixedSize`] at the rate p, without the runs where one is not. With
/// κ = T·E·P(n < B), these have P ≥ (1 − κ)P₁ and Q ≤ (1 − κ)Q₁ + κ, so that H_α is at least
/// (1 − κ)·H_α(P₁‖Q₁) − ακ. The supremum over data sets itself is not known.
///
/// | field or argument | meaning | domain |
/// |---|---|---|
/// | `dataset_size` | N, the target among them | 1 … 10¹⁰ |
/// | `max_batch_size` | B | 1 … N |
/// | `noise_multiplier` | σ | [0.01, 1e4] |
/// | `sampling_rate` | q, else 1/T | [1e-9, 1] |
/// | `steps_per_epoch`, `epochs` | T, E | T·E in 1 … 10⁹ |
/// | `given` | δ | [1e-200, 1) |
/// | | or ε, nats | [0, ∞) |
///
/// # Guarantee
/// An upper value is not below ε of any data set, a lower value not above that of the worst
/// (`tests/oracles/truncated_poisson.rs::no_data_set_leaks_more_than_the_bound`,
/// `tests/oracles/truncated_poisson.rs::values_hold_those_of_dp_accounting`).
///
/// # Errors
/// [`AccountingError::Argument`] outside the domain; [`AccountingError::Grid`] if the error needs
/// too large a grid; [`AccountingError::NoValue`] for an estimate.
///
/// # Numerics
/// `numeric_error` is that of the pair behind the value, as for [`FixedSize`]; `theory_gap` is the
/// distance between the upper and the lower value. A probability P of full batches is rounded
/// outward by 1e-9·(1 + |ln P|) of its size.
///
/// # Reference
/// A. Ganesh (2025), "Tighter privacy analysis for truncated Poisson sampling", arXiv 2508.15089; L.
/// Chua and others (2024), "Scalable DP-SGD", for the second upper value.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training, TruncatedPoisson};
/// use dpscope_core::mechanism::Truncation;
///
/// // 100 of 10,000 records on average, at most 110 of them
/// let training = Training {
///     noise_multiplier: 1.0, steps_per_epoch: 100, epochs: 1, sampling_rate: Some(0.01),
/// };
/// let query = Query::upper(training, Given::Delta(1e-5));
/// let truncation = Truncation { dataset_size: 10_000, max_batch_size: 110 };
/// let truncated = TruncatedPoisson::zero_out(truncation).account(&query)?;
/// assert_eq!(format!("{:.2}", Poisson.account(&query)?.epsilon), "0.72");
/// assert_eq!(format!("{:.2}", truncated.epsilon), "3.61");
/// # Ok::<(), dpscope_core::accounting::AccountingError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TruncatedPoisson {
    /// What neighbours differ in.
    pub adjacency: Adjacency,
    /// Number of records N and maximum batch size B.
    pub truncation: Truncation,
}

/// Largest part of δ that may be lost to full batches.
const LOST: f64 = 1e-3;

/// Largest κ of lower values from full batches.
const RARE: f64 = 0.01;

impl TruncatedPoisson {
    /// Neighbours of which one has a record with zero gradient.
    #[must_use]
    pub const fn zero_out(truncation: Truncation) -> Self {
        TruncatedPoisson { adjacency: Adjacency::ZeroOut, truncation }
    }

    /// The lower and the upper value, which take the time of one.
    ///
    /// # Errors
    /// As for one of them.
    pub fn both(&self, query: &Query) -> Result<[Accounted; 2], AccountingError> {
        self.proven(&Query { kind: Kind::Lower, ..*query })?.both(query, METHOD)
    }

    fn proven(&self, query: &Query) -> Result<Proven, AccountingError> {
        let rate = query.training.sampling_rate();
        check_noise_and_rate(query.training.noise_multiplier, rate)?;
        let Truncation { dataset_size, max_batch_size } = self.truncation;
        let overflow = Overflow::new(self.truncation, rate).map_err(|error| {
            if error.parameter() == Some("dataset_size") {
                return argument("dataset_size", dataset_size as f64, "in 1 to 10^10");
            }
            let allowed = format!("from 1 to the number of records, {dataset_size}");
            argument("max_batch_size", max_batch_size as f64, allowed)
        })?;
        Run { query: *query, adjacency: self.adjacency, overflow }.proven(&Search::new(query))
    }
}

impl Accountant for TruncatedPoisson {
    fn account(&self, query: &Query) -> AccountingResult {
        if query.kind == Kind::Estimate {
            return Err(query.refused());
        }
        self.proven(query)?.accounted(query, METHOD)
    }

    fn search_range(
        &self,
        parameter: Parameter,
        target: &PrivacyTarget,
        training: &Training,
    ) -> Result<Option<SearchRange>, AccountingError> {
        FixedSize { adjacency: self.adjacency }.search_range(parameter, target, training)
    }
}

/// All steps of a run.
struct Run {
    query: Query,
    adjacency: Adjacency,
    overflow: Overflow,
}

impl Run {
    /// Values of the worst known data set and of the composed pair.
    fn proven(&self, search: &Search) -> Result<Proven, AccountingError> {
        if let Some(found) = self.rarely_full()? {
            return Ok(found);
        }
        let Query { training, given, directions, .. } = self.query;
        let question = Question { compositions: training.steps(), given, directions, error: 1.0 };
        question.check()?;
        let at = |error: f64| {
            let question = Question { error, ..question };
            question.check()?;
            self.on_grids(&question, search)
        };
        let found = match self.query.error {
            Some(error) => at(error),
            None => super::bracket::finest(&ERRORS, &at),
        };
        let Overflow { full, not_full, full_rate, .. } = self.overflow;
        let rate = training.sampling_rate() * not_full + full_rate[0].max(full_rate[1]) * full;
        let rate = (rate * (1.0 + 1e-12)).min(1.0);
        let is_one = match self.adjacency {
            Adjacency::ZeroOut => true,
            Adjacency::AddRemove => full == 0.0,
            Adjacency::Replace => false,
        };
        KnownDraws::new(&training, rate, if is_one { 1.0 } else { 2.0 }).or_tighter_proven(
            &self.query,
            found,
            || self.noisier_lower(search),
        )
    }

    /// A lower value: more noise leaks at most as much, and so do zero gradients of all other records.
    fn noisier_lower(&self, search: &Search) -> Computed {
        let training = Training { noise_multiplier: LITTLE_NOISE, ..self.query.training };
        let query = Query { training, ..self.query };
        let noisier = Run { query, ..*self }.proven(&search.rest_for_lower());
        let noisier = noisier.map_or(Computed::ZERO, |found| found.lower);
        let presence = self.overflow.presence;
        if presence < 1e-9 {
            return noisier;
        }
        let of_zero = self.poisson(Kind::Lower, self.query.given, presence);
        noisier.or_larger(of_zero.unwrap_or(Computed::ZERO))
    }

    /// The value of Poisson batches at another rate.
    fn poisson(&self, kind: Kind, given: Given, rate: f64) -> Result<Computed, AccountingError> {
        let training = Training { sampling_rate: Some(rate), ..self.query.training };
        let row = Poisson.account(&Query { training, kind, given, ..self.query })?;
        Ok(Computed::of(&row, given))
    }

    /// Poisson batches, if δ hardly changes where some batch is full.
    fn rarely_full(&self) -> Result<Option<Proven>, AccountingError> {
        let lost = self.query.training.steps() as f64 * self.overflow.full * (1.0 + 1e-12);
        if self.adjacency == Adjacency::Replace || !(lost < LOST) {
            return Ok(None);
        }
        let rate = self.query.training.sampling_rate();
        let given = self.query.given;
        let upper = match given {
            Given::Delta(delta) if lost <= LOST * delta => {
                let left = Given::Delta((delta - lost) * (1.0 - f64::EPSILON));
                self.poisson(Kind::Upper, left, rate)?
            }
            Given::Delta(_) => return Ok(None),
            Given::Epsilon(_) => {
                let poisson = self.poisson(Kind::Upper, given, rate)?;
                if lost > LOST * poisson.value {
                    return Ok(None);
                }
                let value = ((poisson.value + lost) * (1.0 + f64::EPSILON)).min(1.0);
                Computed { value, ..poisson }
            }
        };
        let presence = self.overflow.presence;
        let lower = match presence < 1e-9 {
            true => Computed::ZERO,
            false => self.poisson(Kind::Lower, given, presence)?,
        };
        Ok(Some(Proven { lower, upper }))
    }

    fn on_grids(&self, question: &Question, search: &Search) -> Result<Proven, AccountingError> {
        let Training { noise_multiplier, .. } = self.query.training;
        let sampling_rate = self.query.training.sampling_rate();
        let step = |cut: f64| Step { noise_multiplier, sampling_rate, cut };
        let pair = |cut: f64| self.dominating_pair(step(cut));
        // the noise of a target that shifts outputs by 1
        let relative_noise = match self.adjacency {
            Adjacency::ZeroOut | Adjacency::AddRemove => noise_multiplier,
            Adjacency::Replace => 0.5 * noise_multiplier,
        };
        let (cut, start) = question.start(relative_noise, sampling_rate);
        let (upper, resolution) = question.upper(&pair(cut), start, search)?;
        let of_zero = self.lower_of_zero_gradients(question, step(cut), resolution)?;
        let of_full = self.lower_of_full_batches();
        let lower = of_full.map_or(of_zero, |of_full| of_zero.or_larger(of_full));
        Ok(Proven { lower, upper })
    }

    /// The pair of one step that dominates every data set.
    fn dominating_pair(&self, step: Step) -> JoinedPair {
        let Overflow { full, not_full, full_rate, .. } = self.overflow;
        let data = match self.adjacency {
            Adjacency::Replace => [DataSets::Replaced; 2],
            Adjacency::ZeroOut | Adjacency::AddRemove => [DataSets::Zero, DataSets::Absent],
        };
        let open = data.map(|data| Case { weight: not_full, step, data });
        let at_full_rate = Step { sampling_rate: full_rate[1], ..step };
        let filled = full_batch(self.adjacency, full, at_full_rate);
        let [above, below] = [0, 1].map(|side: usize| {
            let cases = [open[side], filled[side]];
            cases.into_iter().filter(|case| case.weight > 0.0).collect()
        });
        JoinedPair { above, below }
    }

    /// The lower value of other gradients that are all zero.
    fn lower_of_zero_gradients(
        &self,
        question: &Question,
        step: Step,
        resolution: Resolution,
    ) -> Result<Computed, AccountingError> {
        let presence = self.overflow.presence;
        if presence < 1e-9 {
            return Ok(Computed::ZERO);
        }
        if self.adjacency == Adjacency::Replace {
            let step = Step { sampling_rate: presence, ..step };
            let case = Case { weight: 1.0, step, data: DataSets::Replaced };
            let pair = JoinedPair { above: vec![case], below: vec![case] };
            // values rounded down need finer grids for the same error
            return Ok(question.answer(&pair, resolution)?.as_lower());
        }
        Ok(self.poisson(Kind::Lower, self.query.given, presence).unwrap_or(Computed::ZERO))
    }

    /// Other gradients as in batches of fixed size, if nearly all batches are full.
    fn lower_of_full_batches(&self) -> Option<Computed> {
        let rare = self.query.training.steps() as f64 * self.overflow.not_full * (1.0 + 1e-12);
        if !(rare < RARE) || self.overflow.full_rate[0] < 1e-9 {
            return None;
        }
        let training =
            Training { sampling_rate: Some(self.overflow.full_rate[0]), ..self.query.training };
        let computed = |kind, given| {
            let query = Query { training, kind, given, ..self.query };
            let found = FixedSize { adjacency: self.adjacency }.account(&query);
            found.ok().map(|found| Computed::of(&found, given))
        };
        let left = (1.0 - rare) * (1.0 - f64::EPSILON);
        let lost = |epsilon: f64| math::exp(epsilon) * rare * (1.0 + 1e-12);
        match self.query.given {
            Given::Delta(delta) => {
                // α where the result is sought is at most this one
                let highest = computed(Kind::Upper, self.query.given)?.value;
                let needed = (delta + lost(highest)) / left * (1.0 + 1e-12);
                let found =
                    (needed < 1.0).then(|| computed(Kind::Lower, Given::Delta(needed)))??;
                Some(Computed { value: found.value.min(highest), ..found })
            }
            given @ Given::Epsilon(epsilon) => {
                let found = computed(Kind::Lower, given)?;
                Some(Computed { value: left * found.value - lost(epsilon), ..found })
            }
        }
    }
}
