//! The check of drawn batches.

use super::loader_test::LoaderTests;
use super::{DrawnBatches, DrawnEvidence, DrawnSampler, LoaderFacts, LoaderTestKind};
use super::{draws, order};
use crate::math;
use crate::special::normal_survival;
use crate::training_check::{LoaderBatches, OtherBatches, Severity};

/// Facts, tests and sampler of drawn batches.
#[derive(Debug, Clone, PartialEq)]
pub struct LoaderCheck {
    /// What holds for all epochs.
    pub facts: LoaderFacts,
    /// Tests against the samplers that the facts permit.
    pub tests: LoaderTests,
    /// The sampler that the batches fit.
    pub sampler: DrawnSampler,
    /// What contradicts assumptions of accountants, the most severe first.
    pub findings: Vec<LoaderFinding>,
}

/// Something in drawn batches that an accountant does not assume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LoaderFinding {
    /// The sampler is none of shuffle, balls in bins, fixed size and Poisson.
    Sampler(DrawnSampler),
    /// Two loaders of one function drew the same batches, not always in one order.
    FixedSeed,
    /// Records are in no batch, too many for chance.
    NeverDrawn {
        /// Their number.
        records: u64,
    },
    /// The sampling rate is not the stated one.
    RateDiffers {
        /// The stated rate.
        stated: f64,
        /// Records of all batches over records and batches.
        estimate: f64,
    },
    /// Each epoch leaves out some records.
    RecordsDropped {
        /// Most records that an epoch leaves out.
        records: u64,
    },
}

impl LoaderFinding {
    /// The stable name in documents.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            LoaderFinding::Sampler(sampler) => sampler.name(),
            LoaderFinding::FixedSeed => "fixed-seed",
            LoaderFinding::NeverDrawn { .. } => "never-drawn",
            LoaderFinding::RateDiffers { .. } => "rate-differs",
            LoaderFinding::RecordsDropped { .. } => "records-dropped",
        }
    }

    /// Its severity.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        match self {
            LoaderFinding::RecordsDropped { .. } => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

impl LoaderCheck {
    /// The check; `repeated` says whether a second loader of the same function drew the same batches,
    /// if there was one.
    ///
    /// # Guarantee
    /// Batches of a correct shuffle, of Poisson, fixed-size or balls-in-bins batches get another sampler
    /// with a probability of about [`LoaderTests::SIGNIFICANCE`]: normal and χ² limits of exact means and
    /// variances (`unit::correct_samplers_keep_their_names`).
    #[must_use]
    pub fn of(drawn: &DrawnBatches<'_>, repeated: Option<bool>) -> Self {
        let facts = LoaderFacts::of(drawn);
        if facts.never_drawn > 0 && facts.never_drawn_chance < LoaderTests::SIGNIFICANCE {
            return Self::of_subset(drawn, repeated, facts.never_drawn);
        }
        let is_order = is_order(drawn, &facts);
        let made = if is_order { order::tests } else { draws::tests };
        let tests = LoaderTests(made(drawn, &facts));
        let sampler = match repeated {
            _ if !facts.same_order => {
                if is_order {
                    of_order(&facts, &tests)
                } else {
                    of_draws(drawn, &facts, &tests)
                }
            }
            Some(false) => DrawnSampler::PersistentShuffle,
            _ => DrawnSampler::Deterministic,
        };
        let findings = findings(drawn, &facts, &tests, sampler, repeated);
        LoaderCheck { facts, tests, sampler, findings }
    }

    /// The check of batches that leave out records in every epoch, which are no part of the training.
    fn of_subset(drawn: &DrawnBatches<'_>, repeated: Option<bool>, never_drawn: u64) -> Self {
        let records = drawn.numbered_anew();
        let mut check = Self::of(&drawn.with_records(&records), repeated);
        check.facts.never_drawn = never_drawn;
        check.findings.push(LoaderFinding::NeverDrawn { records: never_drawn });
        check.findings.sort_by_key(LoaderFinding::severity);
        check
    }

    /// What a check of a described training knows of the batches; none if nothing. Epochs of an order
    /// that leave out a batch or more are no passes over the data, so that only their facts count.
    #[must_use]
    pub fn loader(&self) -> Option<LoaderBatches> {
        let loader = self.sampler.loader()?;
        let is_part = self.facts.most_dropped() >= self.facts.batch_size;
        let is_known = !(is_part && loader.kind().cuts_an_order());
        Some(if is_known { loader } else { LoaderBatches::Other(OtherBatches::OncePerEpoch) })
    }
}

/// Whether records are at most once in an epoch by design: all of them are, or batches drawn
/// independently of each other would repeat none with a chance of 1e-3 at most, e^{−Σbb′/n} over pairs
/// of batches of an epoch.
fn is_order(drawn: &DrawnBatches<'_>, facts: &LoaderFacts) -> bool {
    let square = |size: usize| size as f64 * size as f64;
    let pairs = drawn.epochs().map(|epoch| {
        let of_batches: f64 = epoch.sizes.iter().map(|size| square(*size as usize)).sum();
        0.5 * (square(epoch.records.len()) - of_batches)
    });
    let repeats = pairs.sum::<f64>() / drawn.dataset_size() as f64;
    facts.once || (facts.at_most_once && repeats > -math::ln(LoaderTests::SIGNIFICANCE))
}

fn of_order(facts: &LoaderFacts, tests: &LoaderTests) -> DrawnSampler {
    let is_rejected = |kind| tests.rejected(kind).is_some();
    let buffer = tests.rejected(LoaderTestKind::OrderWithinBuffer);
    let is_correlated = is_rejected(LoaderTestKind::PositionAgainstRecord);
    // chunks of c records need the buffer of a shuffle of chunks, whose chance is about the c-th root
    let chunks = tests.rejected(LoaderTestKind::NeighboursTogether).filter(|neighbours| {
        !is_correlated && buffer.is_none_or(|buffer| neighbours.p_value <= buffer.p_value)
    });
    let by = [LoaderTestKind::PositionAgainstLastEpoch, LoaderTestKind::SamePlaceOverlap]
        .into_iter()
        .find(|kind| is_rejected(*kind));
    if facts.same_batches {
        DrawnSampler::BatchThenShuffle
    } else if let Some(test) = chunks {
        DrawnSampler::Chunks { is_together: test.is_above }
    } else if buffer.is_some() || is_correlated {
        let least_buffer = facts.least_buffer.unwrap_or(facts.dataset_size);
        DrawnSampler::PartialShuffle { least_buffer, is_buffer: buffer.is_some() }
    } else if let Some(by) = by {
        DrawnSampler::RepeatsEarlierEpochs { by }
    } else if facts.equal_sizes {
        DrawnSampler::Shuffle
    } else if is_rejected(LoaderTestKind::SizesAsBallsInBins) {
        DrawnSampler::UnevenBatches
    } else {
        DrawnSampler::BallsInBins
    }
}

fn of_draws(drawn: &DrawnBatches<'_>, facts: &LoaderFacts, tests: &LoaderTests) -> DrawnSampler {
    let uses = tests.rejected(LoaderTestKind::UsesOfRecords);
    if facts.repeats_in_batch {
        return match is_uneven_with_replacement(drawn, tests) {
            true => DrawnSampler::UnequalRates,
            false => DrawnSampler::WithReplacement,
        };
    }
    if facts.padded {
        return DrawnSampler::PaddedShuffle;
    }
    if let Some(uses) = uses {
        return if uses.is_above { DrawnSampler::UnequalRates } else { DrawnSampler::Balanced };
    }
    let overlaps = [LoaderTestKind::ConsecutiveOverlap, LoaderTestKind::SamePlaceOverlap];
    let overlap = overlaps.into_iter().find(|kind| tests.rejected(*kind).is_some());
    // sizes may reject the stated rate alone
    let sizes = tests.rejected(LoaderTestKind::SizesAsPoisson).filter(|_| {
        let estimated = draws::sizes(drawn, None);
        estimated.is_some_and(|test| test.p_value < tests.significance())
    });
    match overlap.or(sizes.map(|test| test.kind)) {
        Some(by) => DrawnSampler::Other { by },
        None if facts.equal_sizes => DrawnSampler::FixedSize,
        None => DrawnSampler::Poisson,
    }
}

/// Whether uses are too uneven for draws with replacement, whose uses K vary by K̄(1 − 1/n).
fn is_uneven_with_replacement(drawn: &DrawnBatches<'_>, tests: &LoaderTests) -> bool {
    let uses = draws::uses(drawn, 1.0 / drawn.dataset_size() as f64);
    uses.is_some_and(|test| test.is_above && test.p_value < tests.significance())
}

fn findings(
    drawn: &DrawnBatches<'_>,
    facts: &LoaderFacts,
    tests: &LoaderTests,
    sampler: DrawnSampler,
    repeated: Option<bool>,
) -> Vec<LoaderFinding> {
    let mut found = Vec::new();
    if sampler.evidence() != DrawnEvidence::NotRejected {
        found.push(LoaderFinding::Sampler(sampler));
    }
    if repeated == Some(true) && !facts.same_order {
        found.push(LoaderFinding::FixedSeed);
    }
    let is_other = |rate: &f64| !facts.at_most_once && is_other_rate(drawn, *rate, tests);
    if let Some(stated) = drawn.rate().filter(is_other) {
        found.push(LoaderFinding::RateDiffers { stated, estimate: draws::mean_rate(drawn) });
    }
    let is_drawn = matches!(sampler, DrawnSampler::Poisson | DrawnSampler::FixedSize);
    if facts.most_dropped() > 0 && !is_drawn {
        found.push(LoaderFinding::RecordsDropped { records: facts.most_dropped() });
    }
    found
}

/// Whether all batches together have too many or too few records for the stated rate.
fn is_other_rate(drawn: &DrawnBatches<'_>, rate: f64, tests: &LoaderTests) -> bool {
    let trials = drawn.dataset_size() as f64 * drawn.sizes().len() as f64;
    let excess = trials * (draws::mean_rate(drawn) - rate);
    let score = excess.abs() / (trials * rate * (1.0 - rate)).sqrt();
    2.0 * normal_survival(score) < tests.significance()
}
