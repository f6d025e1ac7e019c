//! Proven bounds of the loader: a lower one for a pair of neighbours, an upper one for all pairs.

use super::{AssumedAccounting, CheckTarget, LoaderBatches, OtherBatches, TrainingSetup};
use crate::accounting::shuffle::TargetSlots;
use crate::accounting::{
    Accountant, Accounted, BallsInBins, Deterministic, FixedSize, Given, Kind, Poisson, Query,
    RandomAllocation, Training, TruncatedPoisson, account, error_near,
};
use crate::adjacency::Adjacency;
use crate::math;
use crate::mechanism::slots::Reservoir;
use crate::mechanism::{BatchSampler, SamplerKind};

/// Minimum noise for lower bounds, by method; less noise leaks more.
const LEAST_NOISE: f64 = 0.01;
const LEAST_COMPOSED_NOISE: f64 = 0.1;

/// Most epochs of [`TargetSlots`].
const MOST_EPOCHS: u64 = 1_000_000;

/// Factor that rounds a presence down past its own rounding error.
const DOWN: f64 = 1.0 - 1e-13;

/// A lower bound on ε of the loader; none outside the domain of the accountants.
pub(super) fn lower(setup: &TrainingSetup, adjacency: Adjacency, delta: f64) -> Option<Accounted> {
    let sampler = match setup.loader {
        LoaderBatches::Sampler(sampler) => sampler,
        LoaderBatches::Other(other) => return lower_of_other(setup, other, delta),
    };
    let kind = sampler.kind();
    if kind == SamplerKind::Deterministic || !kind.cuts_an_order() {
        let training = noisy(described(setup, sampler, Kind::Lower)?);
        return account(sampler, adjacency, &Query::lower(training, Given::Delta(delta)))?.ok();
    }
    if setup.epochs == 0 {
        // less than one epoch has no closed form
        return None;
    }
    let is_replaced = adjacency == Adjacency::Replace;
    let pair = |slots: TargetSlots| if is_replaced { slots.replaced() } else { slots };
    let bound = |slots| with_least_noise(pair(slots)).lower(Given::Delta(delta)).ok();
    let bounds = target_slots(setup, sampler).into_iter().filter_map(bound);
    bounds.max_by(|a, b| a.epsilon.total_cmp(&b.epsilon))
}

/// The training whose ε bounds that of the described one on this side: the sampling rate in the code may
/// be B/N or one over the batches per epoch.
fn described(setup: &TrainingSetup, sampler: BatchSampler, kind: Kind) -> Option<Training> {
    let run = setup.schedule().training(sampler.kind(), kind).ok()?;
    let noise_multiplier = setup.drawn_noise_multiplier();
    let [least, most] = setup.sampling_rates();
    let outward = if kind == Kind::Upper { most } else { least };
    let sampling_rate = match sampler {
        BatchSampler::Poisson => {
            let certain = Training { steps_per_epoch: setup.least_steps(), epochs: 1, ..run };
            let run = if kind == Kind::Lower { certain } else { run };
            return Some(Training { noise_multiplier, sampling_rate: Some(outward), ..run });
        }
        BatchSampler::TruncatedPoisson(_) => outward,
        BatchSampler::FixedSize => setup.sampling_rate(),
        BatchSampler::RandomAllocation { .. } => {
            setup.loader.uses_per_epoch() as f64 / run.steps_per_epoch as f64
        }
        _ => {
            let noise_multiplier = setup.least_noise_multiplier();
            return Some(Training { noise_multiplier, ..run });
        }
    };
    Some(Training { noise_multiplier, sampling_rate: Some(sampling_rate), ..run })
}

/// The training with at least the noise that every accountant accepts, for a lower value.
fn noisy(training: Training) -> Training {
    Training { noise_multiplier: training.noise_multiplier.max(LEAST_NOISE), ..training }
}

/// The Poisson pair in the steps with full batches, see [`OtherBatches`].
fn lower_of_other(setup: &TrainingSetup, other: OtherBatches, delta: f64) -> Option<Accounted> {
    let (records, batch) = (setup.dataset_size as f64, setup.batch_size as f64);
    let is_cut = !setup.epoch_records().is_multiple_of(setup.batch_size);
    let cut_steps = setup.epochs * u64::from(is_cut);
    let (rate, steps) = match other {
        OtherBatches::WithReplacement => {
            let missed = batch * math::ln_1p(-1.0 / records);
            let cut_steps = if setup.drop_last { 0 } else { cut_steps };
            (-math::exp_m1(missed), setup.steps() - cut_steps)
        }
        OtherBatches::OncePerEpoch | OtherBatches::Unknown => return None,
    };
    let assumed = AssumedAccounting {
        sampler: Some(SamplerKind::Poisson),
        sampling_rate: Some((rate * DOWN).max(1e-9)),
        steps: Some(steps),
    };
    let is_possible = steps > 0 && rate >= 1e-9;
    let noise_multiplier = setup.drawn_noise_multiplier();
    let setup = TrainingSetup { noise_multiplier, ..*setup };
    is_possible.then(|| accountant_lower(&setup, &assumed, delta)).flatten()
}

/// Whether the upper bound of a loader holds under zero-out adjacency, but not under this one; batches of
/// limited size have bounds under every adjacency.
pub(super) fn is_for_zero_out_alone(loader: LoaderBatches, adjacency: Adjacency) -> bool {
    match (adjacency, loader) {
        (Adjacency::ZeroOut | Adjacency::Replace, _) => false,
        (Adjacency::AddRemove, _) => loader.kind().cuts_an_order(),
    }
}

/// An upper bound on ε of the loader.
///
/// Deterministic batches dominate every order that does not depend on the records and uses each at
/// most once per epoch, with the record in the batch of the least noise. That holds under zero-out
/// adjacency and, at half the noise, under replacement; if a record is removed, those after it move to
/// other batches. Batches of fixed size and Poisson batches have pairs of their own.
pub(super) fn upper(setup: &TrainingSetup, target: &CheckTarget) -> Option<Accounted> {
    let CheckTarget { adjacency, delta, .. } = *target;
    if setup.has_noise_of_random_size() || is_for_zero_out_alone(setup.loader, adjacency) {
        return None;
    }
    let sampler = match setup.loader {
        LoaderBatches::Sampler(sampler) => sampler,
        LoaderBatches::Other(OtherBatches::OncePerEpoch) => BatchSampler::Deterministic,
        LoaderBatches::Other(_) => return None,
    };
    let query = Query::upper(described(setup, sampler, Kind::Upper)?, Given::Delta(delta));
    let found = decided(target.epsilon, |error| {
        account(sampler, adjacency, &Query { error, ..query })?.ok()
    });
    match sampler {
        // if the grids of balls in bins are too large
        BatchSampler::BallsInBins => found.or_else(|| Deterministic.account(&query).ok()),
        _ => found,
    }
}

/// The value at the accountant's default error, or at a smaller one if only the grid leaves the claim
/// open.
fn decided(
    claimed: Option<f64>,
    account: impl Fn(Option<f64>) -> Option<Accounted>,
) -> Option<Accounted> {
    let coarse = account(None)?;
    let least = coarse.epsilon - coarse.numeric_error;
    let Some(claimed) = claimed.filter(|claimed| (least..coarse.epsilon).contains(claimed)) else {
        return Some(coarse);
    };
    let fine = account(Some(error_near(claimed)));
    fine.filter(|fine| fine.epsilon < coarse.epsilon).or(Some(coarse))
}

/// ε of Poisson accounting; none if its grid is too large.
pub(super) fn poisson_upper(training: &Training, delta: f64) -> Option<Accounted> {
    Poisson.account(&Query::upper(*training, Given::Delta(delta))).ok()
}

/// The smallest ε that the assumed accountant yields at its σ; none for a sampler without an
/// accountant.
pub(super) fn accountant_lower(
    setup: &TrainingSetup,
    assumed: &AssumedAccounting,
    delta: f64,
) -> Option<Accounted> {
    let run = setup.schedule();
    let lower = |accountant: &dyn Accountant, training: Training| {
        accountant.account(&Query::lower(noisy(training), Given::Delta(delta))).ok()
    };
    match assumed.sampler? {
        sampler @ (SamplerKind::Poisson
        | SamplerKind::TruncatedPoisson
        | SamplerKind::FixedSize) => {
            let rate = assumed.sampling_rate.unwrap_or(setup.sampling_rates()[0]);
            let all_steps = Training {
                steps_per_epoch: assumed.steps.unwrap_or(setup.steps()),
                epochs: 1,
                sampling_rate: Some(rate),
                ..run.whole
            };
            match sampler {
                SamplerKind::FixedSize => lower(&FixedSize::ZERO_OUT, all_steps),
                SamplerKind::TruncatedPoisson => {
                    // the accountant's maximum is that of the loader
                    let truncated = TruncatedPoisson::zero_out(setup.loader.truncation()?);
                    lower(&truncated, all_steps)
                }
                _ => lower(&Poisson, all_steps),
            }
        }
        SamplerKind::BallsInBins => lower(&BallsInBins, run.rounded_down().ok()?),
        SamplerKind::RandomAllocation => {
            let uses_per_epoch = setup.loader.uses_per_epoch().try_into().ok()?;
            let sampler = BatchSampler::RandomAllocation { uses_per_epoch };
            lower(&RandomAllocation, described(setup, sampler, Kind::Lower)?)
        }
        SamplerKind::Deterministic => lower(&Deterministic, run.rounded_down().ok()?),
        _ => None,
    }
}

/// Pairs of neighbours of a shuffling loader: the position of the target in the file, and the
/// outputs of an epoch that the attack uses. Each yields a lower bound on ε.
///
/// All records but the target have the gradient −1, so the sum of a batch of b records without the
/// target is −b; adding b to each output yields the means of [`TargetSlots`], for every position of
/// the smaller last batch. If the target is left out of an epoch, all outputs have mean 0.
///
/// The bounds also hold under add/remove adjacency. Without the target's record, the others move up,
/// and as all have the gradient −1, all outputs have mean 0, but the last one has 1 if its sum lacks
/// a record. (In place of an output that is missing, the attack draws one of mean 0.) The largest
/// output is then distributed as if a random one had mean 1, or stochastically smaller; so is the
/// sum. The bounds test thresholds of both, whose false positives do not increase. Where batches keep
/// their records, as in batch then shuffle, the target is the last record of a batch, and one without
/// gradient takes its place, if any does; if all b records of the last batch have gradients, that is
/// one of them: means (g − 2, 1) in place of (g − 1, 0), of which the largest output is stochastically
/// smaller, since lnΦ is concave.
///
/// - shuffle: the target is in one of T slots, with probability (records used)/N
/// - persistent shuffle: one epoch of it at σ/√E, since the averages over the epochs are sufficient
/// - batch then shuffle: see [`moving_batches`]
/// - partial shuffle: a record of the first block is among its records used, in ⌈·/B⌉ slots
/// - sliding buffer: see [`sliding_buffer`]
fn target_slots(setup: &TrainingSetup, sampler: BatchSampler) -> Vec<TargetSlots> {
    let (examples, used) = (setup.dataset_size, setup.used());
    let whole = first_block(setup, examples);
    match sampler {
        BatchSampler::PersistentShuffle => {
            let noise_multiplier =
                whole.noise_multiplier / (setup.epochs as f64).sqrt() * (1.0 + 2.0 * f64::EPSILON);
            vec![TargetSlots { noise_multiplier, epochs: 1, ..whole }]
        }
        BatchSampler::BatchThenShuffle => vec![moving_batches(setup, whole)],
        BatchSampler::PartialShuffle { buffer_examples } => {
            vec![first_block(setup, buffer_examples.min(examples))]
        }
        BatchSampler::SlidingBuffer { buffer_examples } if buffer_examples < examples => {
            sliding_buffer(setup, whole, buffer_examples, used)
        }
        _ => vec![whole],
    }
}

/// `slots` with at least the minimum noise of the method.
fn with_least_noise(slots: TargetSlots) -> TargetSlots {
    let is_composed = slots.epochs > 1;
    let least = if is_composed { LEAST_COMPOSED_NOISE } else { LEAST_NOISE };
    TargetSlots { noise_multiplier: slots.noise_multiplier.max(least), ..slots }
}

/// The target is one of the first K records, which are shuffled among themselves.
fn first_block(setup: &TrainingSetup, buffer_examples: u64) -> TargetSlots {
    let seen = setup.used().min(buffer_examples);
    TargetSlots {
        noise_multiplier: setup.drawn_noise_multiplier(),
        slots: seen.div_ceil(setup.batch_size),
        presence: share(seen, buffer_examples),
        gap: 2.0,
        // more epochs leak at least as much
        epochs: setup.epochs.min(MOST_EPOCHS),
    }
}

/// Whole batches are permuted, so the same records are always in the target's batch, and can
/// separate it from all others. With b records in the smallest batch the others have sum −a, a ≤ b,
/// and the target's has g − a ≤ B: any g from 2 to B + b is possible. At a distance of 18σ the slot
/// is as good as known.
fn moving_batches(setup: &TrainingSetup, whole: TargetSlots) -> TargetSlots {
    let rest = setup.dataset_size % setup.batch_size;
    let smallest = if rest == 0 || setup.drop_last { setup.batch_size } else { rest };
    let most = (setup.batch_size + smallest) as f64;
    let gap = (2.0 + 18.0 * whole.noise_multiplier).min(most).max(2.0);
    TargetSlots { presence: 1.0, gap, ..whole }
}

/// The target is the first record or the last.
///
/// The first record leaves within n draws with the probability of [`Reservoir::first_leaves`]: the
/// attack uses the first m outputs, for a few m. The last record enters when the reservoir begins
/// to drain, and leaves with equal probability in each of the last K draws: the attack uses the
/// outputs from that of draw N − K.
fn sliding_buffer(
    setup: &TrainingSetup,
    whole: TargetSlots,
    buffer_examples: u64,
    used: u64,
) -> Vec<TargetSlots> {
    let (batch, steps) = (setup.batch_size, setup.steps_per_epoch());
    let reservoir = Reservoir::new(setup.dataset_size, buffer_examples);
    let mut found = Vec::new();
    let mut last_slots = 0;
    for quarters in [1, 2, 4, 6, 8, 12, 20, 32] {
        let records = buffer_examples.saturating_mul(quarters).div_ceil(4);
        let slots = records.div_ceil(batch).clamp(1, steps);
        if slots > last_slots {
            let draws = slots.saturating_mul(batch).min(used);
            let presence = (reservoir.first_leaves(0, draws) * DOWN).min(1.0);
            found.push(TargetSlots { slots, presence, ..whole });
            last_slots = slots;
        }
    }
    let before = setup.dataset_size - buffer_examples;
    if used > before {
        let slots = steps - before / batch;
        let presence = share(used - before, buffer_examples);
        found.push(TargetSlots { slots, presence, ..whole });
    }
    found
}

/// `part`/`of`, rounded down unless they are equal.
fn share(part: u64, of: u64) -> f64 {
    if part == of { 1.0 } else { part as f64 / of as f64 * DOWN }
}
