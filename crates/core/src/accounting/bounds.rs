//! The table of what theory knows: which bounds exist, of which samplers, and how each is computed.
//!
//! `compare`, `sweep`, conclusions, privacy statements, the page and the calculators iterate
//! [`BOUNDS`]. A new bound is a variant of [`KnownBound`] and a row.

use super::samplers::with_subset_accountant;
use super::{
    Accountant, Accounted, AccountingError, AccountingResult, BallsInBins, Deterministic,
    FixedSize, Given, Kind, PersistentShuffle, Poisson, Query, Shuffle, ShuffleMethod, Training,
    TruncatedPoisson,
};
use crate::adjacency::Adjacency;
use crate::mechanism::{SamplerKind, Truncation};

/// A bound on ε, or an estimate of it, that a training has by theory alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum KnownBound {
    /// Poisson accounting: the usual claim, and the upper bound of Poisson-sampled batches.
    Poisson,
    /// The lower bound of truncated Poisson batches.
    TruncatedPoissonLower,
    /// The upper bound of truncated Poisson batches.
    TruncatedPoisson,
    /// The lower bound of random allocation.
    RandomAllocationLower,
    /// The upper bound of random allocation.
    RandomAllocation,
    /// The lower bound of batches of fixed size.
    FixedSizeLower,
    /// The upper bound of batches of fixed size.
    FixedSize,
    /// The upper bound of balls-in-bins.
    BallsInBins,
    /// The larger lower bound of shuffled batches.
    ShuffleBest,
    /// The lower bound of shuffled batches from the sum of outputs.
    ShuffleSum,
    /// The lower bound of shuffled batches from the largest output.
    ShuffleMaxSlice,
    /// The lower bound of a persistent shuffle.
    PersistentShuffle,
    /// The lower bound from draws of the worst-case pair of shuffled batches.
    PairLower,
    /// The estimate from draws of the worst-case pair of shuffled batches.
    PairEstimate,
    /// The upper bound of every shuffle.
    Deterministic,
}

/// A training as bounds see it.
///
/// | field | meaning | domain |
/// |---|---|---|
/// | `training` | σ, T, E, q | see the accountant |
/// | `adjacency` | what neighbouring data sets differ in, for batches of limited size | – |
/// | `truncation` | N and B of truncated Poisson batches, which have no bound without | 1 ≤ B ≤ N |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// Noise multiplier, steps, epochs and sampling rate.
    pub training: Training,
    /// Adjacency of bounds for batches of limited size; all others are for [`Adjacency::ZeroOut`].
    pub adjacency: Adjacency,
    /// Number of records, and the most of them in a truncated batch.
    pub truncation: Option<Truncation>,
}

impl Setting {
    /// The lower and the upper value of batches of limited size, in the time of one of them: truncated
    /// batches if their sizes are known, otherwise those of fixed size.
    ///
    /// # Errors
    /// As the accountant.
    pub fn limited_batches(&self, given: Given) -> Result<[Accounted; 2], AccountingError> {
        let Setting { training, adjacency, truncation } = *self;
        let query = Query::upper(training, given);
        match truncation {
            None => FixedSize { adjacency }.both(&query),
            Some(truncation) => TruncatedPoisson { adjacency, truncation }.both(&query),
        }
    }

    /// A training under zero-out adjacency, without truncated batches.
    #[must_use]
    pub const fn zero_out(training: Training) -> Self {
        Setting { training, adjacency: Adjacency::ZeroOut, truncation: None }
    }
}

/// How long a bound takes to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Cost {
    /// A closed formula or a fast accountant: a few milliseconds.
    Fast,
    /// A slow accountant: up to seconds.
    Slow,
    /// As [`Cost::Slow`], by accountants of uniform subsets, which pages load apart from the others.
    Subsets,
    /// Draws.
    Draws,
}

/// What is known of a bound before it is computed: a row of [`BOUNDS`].
#[derive(Debug, Clone, Copy)]
pub struct BoundRow {
    /// Identifies the row.
    pub bound: KnownBound,
    /// On which side of the exact value it lies.
    pub kind: Kind,
    /// The sampler whose ε it bounds.
    pub sampler: SamplerKind,
    /// The other samplers whose ε it bounds.
    also_bounds: fn(SamplerKind) -> bool,
    /// The samplers beside whose own bounds it is shown, for comparison.
    is_beside: fn(SamplerKind) -> bool,
    /// Whether tables show it; [`KnownBound::ShuffleBest`] is the larger of two that they show.
    is_shown: bool,
    /// Whether it holds under add/remove adjacency as well where it was computed under zero-out.
    pub holds_for_add_remove: bool,
    /// How long it takes.
    pub cost: Cost,
}

impl BoundRow {
    const fn new(bound: KnownBound, kind: Kind, sampler: SamplerKind, cost: Cost) -> Self {
        BoundRow {
            bound,
            kind,
            sampler,
            also_bounds: |_| false,
            is_beside: |_| false,
            is_shown: true,
            holds_for_add_remove: matches!(kind, Kind::Lower),
            cost,
        }
    }

    /// Whether it bounds the ε of a sampler.
    #[must_use]
    pub fn bounds(&self, sampler: SamplerKind) -> bool {
        self.sampler == sampler || (self.also_bounds)(sampler)
    }

    /// Whether tables of this sampler show it.
    #[must_use]
    pub fn is_shown_for(&self, sampler: SamplerKind) -> bool {
        self.is_shown && (self.bounds(sampler) || (self.is_beside)(sampler))
    }
}

/// Every bound, in the order of tables.
pub static BOUNDS: [BoundRow; 15] = {
    use Cost::{Draws, Fast, Slow, Subsets};
    use Kind::{Estimate, Lower, Upper};
    use KnownBound as B;
    use SamplerKind as S;
    const fn of_shuffles(bound: B) -> BoundRow {
        BoundRow {
            also_bounds: |sampler| sampler == S::BatchThenShuffle,
            ..BoundRow::new(bound, Lower, S::Shuffle, Fast)
        }
    }
    [
        BoundRow {
            is_beside: |_| true,
            holds_for_add_remove: true,
            ..BoundRow::new(B::Poisson, Upper, S::Poisson, Fast)
        },
        BoundRow::new(B::TruncatedPoissonLower, Lower, S::TruncatedPoisson, Subsets),
        BoundRow::new(B::TruncatedPoisson, Upper, S::TruncatedPoisson, Subsets),
        BoundRow::new(B::RandomAllocationLower, Lower, S::RandomAllocation, Subsets),
        BoundRow {
            holds_for_add_remove: true,
            ..BoundRow::new(B::RandomAllocation, Upper, S::RandomAllocation, Subsets)
        },
        BoundRow::new(B::FixedSizeLower, Lower, S::FixedSize, Subsets),
        BoundRow::new(B::FixedSize, Upper, S::FixedSize, Subsets),
        BoundRow {
            is_beside: |sampler| sampler == S::Poisson || sampler.cuts_an_order(),
            holds_for_add_remove: true,
            ..BoundRow::new(B::BallsInBins, Upper, S::BallsInBins, Slow)
        },
        BoundRow { is_shown: false, ..of_shuffles(B::ShuffleBest) },
        of_shuffles(B::ShuffleSum),
        of_shuffles(B::ShuffleMaxSlice),
        BoundRow::new(B::PersistentShuffle, Lower, S::PersistentShuffle, Fast),
        BoundRow::new(B::PairLower, Lower, S::Shuffle, Draws),
        BoundRow::new(B::PairEstimate, Estimate, S::Shuffle, Draws),
        BoundRow {
            also_bounds: S::cuts_an_order,
            ..BoundRow::new(B::Deterministic, Upper, S::Deterministic, Fast)
        },
    ]
};

/// The lower and the upper bound of a sampler that decide without draws: the first of each kind in
/// [`BOUNDS`]. None where theory has none; the claim of Poisson accounting is no bound beside itself.
///
/// # Example
/// ```
/// use dpscope_core::accounting::{KnownBound, deciding_bounds};
/// use dpscope_core::mechanism::SamplerKind;
///
/// let [lower, upper] = deciding_bounds(SamplerKind::Shuffle);
/// assert_eq!((lower, upper), (Some(KnownBound::ShuffleBest), Some(KnownBound::Deterministic)));
/// assert_eq!(deciding_bounds(SamplerKind::Poisson), [None, None]);
/// ```
#[must_use]
pub fn deciding_bounds(sampler: SamplerKind) -> [Option<KnownBound>; 2] {
    [Kind::Lower, Kind::Upper].map(|kind| {
        let decides = |row: &&BoundRow| {
            row.kind == kind
                && row.bounds(sampler)
                && row.bound != KnownBound::Poisson
                && row.cost != Cost::Draws
        };
        BOUNDS.iter().find(decides).map(|row| row.bound)
    })
}

impl KnownBound {
    /// Its row of [`BOUNDS`].
    #[must_use]
    pub fn row(self) -> &'static BoundRow {
        // the rows have the order of the variants (`unit::rows_have_the_order_of_the_variants`)
        &BOUNDS[self as usize]
    }

    /// Computes it; none where it is drawn, or where truncated batches lack their sizes.
    ///
    /// # Errors
    /// As the accountant.
    #[must_use]
    pub fn account(self, setting: &Setting, given: Given) -> Option<AccountingResult> {
        self.account_first(setting.training, given).or_else(|| self.account_subsets(setting, given))
    }

    /// As [`KnownBound::account`], for bounds with [`Cost::Fast`] or [`Cost::Slow`] alone: a program that
    /// calls nothing else links no other accountant.
    ///
    /// # Errors
    /// As the accountant.
    #[must_use]
    pub fn account_first(self, training: Training, given: Given) -> Option<AccountingResult> {
        let query = self.query(training, given);
        Some(match self {
            KnownBound::Poisson => Poisson.account(&query),
            KnownBound::BallsInBins => BallsInBins.account(&query),
            KnownBound::ShuffleBest => Shuffle(ShuffleMethod::Best).account(&query),
            KnownBound::ShuffleSum => Shuffle(ShuffleMethod::Sum).account(&query),
            KnownBound::ShuffleMaxSlice => Shuffle(ShuffleMethod::MaxSlice).account(&query),
            KnownBound::PersistentShuffle => PersistentShuffle(ShuffleMethod::Best).account(&query),
            KnownBound::Deterministic => Deterministic.account(&query),
            _ => return None,
        })
    }

    /// As [`KnownBound::account`], for bounds with [`Cost::Subsets`] alone.
    ///
    /// # Errors
    /// As the accountant.
    #[must_use]
    pub fn account_subsets(self, setting: &Setting, given: Given) -> Option<AccountingResult> {
        let Setting { training, adjacency, truncation } = *setting;
        let query = self.query(training, given);
        let known = (self.row().sampler, truncation);
        with_subset_accountant(known, adjacency, |accountant| accountant.account(&query))
    }

    fn query(self, training: Training, given: Given) -> Query {
        Query { kind: self.row().kind, ..Query::upper(training, given) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_order_of_the_variants() {
        for (index, row) in BOUNDS.iter().enumerate() {
            assert_eq!(row.bound as usize, index, "{:?}", row.bound);
            assert_eq!(row.bound.row().bound, row.bound);
        }
    }

    /// Whoever adds a sampler adds what theory knows of it, or states here that it knows nothing.
    #[test]
    fn every_sampler_has_an_upper_bound_and_shows_the_claim() {
        for sampler in SamplerKind::ALL {
            let [_, upper] = deciding_bounds(sampler);
            assert_eq!(upper.is_some(), sampler != SamplerKind::Poisson, "{sampler}");
            assert!(KnownBound::Poisson.row().is_shown_for(sampler));
        }
        let lower = SamplerKind::ALL.map(|sampler| deciding_bounds(sampler)[0]);
        assert_eq!(lower.iter().flatten().count(), 6);
    }

    #[test]
    fn bounds_enclose() {
        let training = Training {
            noise_multiplier: 1.0,
            steps_per_epoch: 50,
            epochs: 1,
            sampling_rate: Some(0.02),
        };
        let truncation = Some(Truncation { dataset_size: 1_000, max_batch_size: 24 });
        let setting = Setting { truncation, ..Setting::zero_out(training) };
        let at = |bound: KnownBound| {
            bound.account(&setting, Given::Delta(1e-5)).unwrap().unwrap().epsilon
        };
        for sampler in SamplerKind::ALL {
            if let [Some(lower), Some(upper)] = deciding_bounds(sampler) {
                assert!(at(lower) <= at(upper), "{sampler}");
            }
        }
        assert!(at(KnownBound::Poisson) < at(KnownBound::FixedSizeLower));
        let replaced = Setting { adjacency: Adjacency::Replace, ..setting };
        let replaced = KnownBound::FixedSize.account(&replaced, Given::Delta(1e-5));
        assert!(replaced.unwrap().unwrap().epsilon >= at(KnownBound::FixedSize));
        assert!(KnownBound::PairLower.account(&setting, Given::Delta(1e-5)).is_none());
        let without = Setting::zero_out(training);
        assert!(KnownBound::TruncatedPoisson.account(&without, Given::Delta(1e-5)).is_none());
    }
}
