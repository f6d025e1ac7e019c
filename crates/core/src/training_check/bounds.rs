//! Proven bounds of the loader: a lower one for a pair of neighbours, an upper one for all pairs.

use super::{AssumedAccounting, LoaderBatches, OtherBatches, TrainingSetup};
use crate::accounting::shuffle::TargetSlots;
use crate::accounting::{
    Accountant, Accounted, BallsInBins, Deterministic, FixedSize, Given, Kind, Poisson, Query,
    RandomAllocation, Training, TruncatedPoisson, error_near,
};
use crate::adjacency::Adjacency;
use crate::audit::claim::PrivacyClaim;
use crate::math;
use crate::mechanism::slots::Reservoir;
use crate::mechanism::{BatchSampler, SamplerKind};

/// Target distance between the upper and lower values of a Poisson accountant, nats.
const ERROR: f64 = 1e-4;

/// The same for balls in bins, whose grids cost more.
const BINS_ERROR: f64 = 1e-3;

/// Minimum noise for lower bounds, by method; less noise leaks more.
const LEAST_NOISE: f64 = 0.01;
const LEAST_COMPOSED_NOISE: f64 = 0.1;
const LEAST_BINS_NOISE: f64 = 0.1;
const LEAST_POISSON_NOISE: f64 = 0.1;
const LEAST_FIXED_SIZE_NOISE: f64 = 0.2;

/// The same for batches of fixed size, relative above 1 nat.
const FIXED_SIZE_ERROR: f64 = 1e-3;

/// Most epochs of [`TargetSlots`].
const MOST_EPOCHS: u64 = 1_000_000;

/// Factor that rounds a presence down past its own rounding error.
const DOWN: f64 = 1.0 - 1e-13;

/// A lower bound on ε of the loader; none outside the domain of the accountants.
pub(super) fn lower(setup: &TrainingSetup, adjacency: Adjacency, delta: f64) -> Option<Accounted> {
    let sampler = match setup.loader {
        LoaderBatches::Sampler(BatchSampler::FixedSize)
        | LoaderBatches::Sampler(BatchSampler::TruncatedPoisson(_)) => {
            let query = Query::lower(steps_drawn_anew(setup, Kind::Lower), Given::Delta(delta));
            return subsets(setup, Query { error: Some(FIXED_SIZE_ERROR), ..query }, adjacency);
        }
        LoaderBatches::Sampler(BatchSampler::RandomAllocation { .. }) => {
            let training = allocated(setup, setup.schedule().rounded_down().ok()?);
            let noise_multiplier = training.noise_multiplier.max(LEAST_FIXED_SIZE_NOISE);
            let training = Training { noise_multiplier, ..training };
            let query = Query::lower(training, Given::Delta(delta));
            return RandomAllocation.account(&query).ok();
        }
        LoaderBatches::Sampler(sampler) => sampler,
        LoaderBatches::Other(other) => return lower_of_other(setup, other, delta),
    };
    match sampler {
        BatchSampler::Poisson | BatchSampler::BallsInBins | BatchSampler::Deterministic => {
            let noise_multiplier = match sampler {
                BatchSampler::Deterministic => setup.least_noise_multiplier(),
                _ => setup.drawn_noise_multiplier(),
            };
            let assumed = AssumedAccounting { sampler: Some(sampler.kind()), ..Default::default() };
            let setup = TrainingSetup { noise_multiplier, ..*setup };
            accountant_lower(&setup, &assumed, delta)
        }
        // less than one epoch has no closed form
        _ if setup.epochs == 0 => None,
        _ => {
            let bound = |slots| with_least_noise(slots).lower(Given::Delta(delta)).ok();
            let bounds = target_slots(setup, sampler).into_iter().filter_map(bound);
            bounds.max_by(|a, b| a.epsilon.total_cmp(&b.epsilon))
        }
    }
}

/// Whole epochs of random allocation, at q = k/T.
fn allocated(setup: &TrainingSetup, whole: Training) -> Training {
    let rate = setup.loader.uses_per_epoch() as f64 / whole.steps_per_epoch as f64;
    let noise_multiplier = setup.drawn_noise_multiplier();
    Training { noise_multiplier, sampling_rate: Some(rate), ..whole }
}

/// What is composed of batches of limited size: all steps, at q = B/N; truncated ones, as Poisson
/// batches, may also have one over the batches per epoch.
fn steps_drawn_anew(setup: &TrainingSetup, kind: Kind) -> Training {
    let noise_multiplier = setup.drawn_noise_multiplier();
    let [least, most] = setup.sampling_rates();
    let rate = match (setup.loader.truncation(), kind) {
        (None, _) => setup.sampling_rate(),
        (Some(_), Kind::Upper) => most,
        (Some(_), _) => least,
    };
    Training { noise_multiplier, sampling_rate: Some(rate), ..setup.schedule().poisson() }
}

/// ε of batches of limited size; a lower value of little noise is that of more noise.
fn subsets(setup: &TrainingSetup, query: Query, adjacency: Adjacency) -> Option<Accounted> {
    let is_lower = query.kind == Kind::Lower;
    let noise = query.training.noise_multiplier;
    let noise_multiplier = if is_lower { noise.max(LEAST_FIXED_SIZE_NOISE) } else { noise };
    let training = Training { noise_multiplier, ..query.training };
    let query = Query { training, ..query };
    match setup.loader.truncation() {
        None => FixedSize { adjacency }.account(&query).ok(),
        Some(truncation) => TruncatedPoisson { adjacency, truncation }.account(&query).ok(),
    }
}

/// The Poisson pair in the steps with full batches, see [`OtherBatches`].
fn lower_of_other(setup: &TrainingSetup, other: OtherBatches, delta: f64) -> Option<Accounted> {
    let (records, batch) = (setup.dataset_size as f64, setup.batch_size as f64);
    let cut_steps = setup.epochs * u64::from(!setup.dataset_size.is_multiple_of(setup.batch_size));
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

/// Whether the upper bound of a loader holds under zero-out adjacency, but not under this one.
pub(super) fn is_for_zero_out_alone(loader: LoaderBatches, adjacency: Adjacency) -> bool {
    match (adjacency, loader) {
        (Adjacency::ZeroOut, _)
        | (
            Adjacency::Replace,
            LoaderBatches::Sampler(BatchSampler::FixedSize | BatchSampler::TruncatedPoisson(_)),
        ) => false,
        (Adjacency::Replace, _) => true,
        (Adjacency::AddRemove, _) => loader.kind().cuts_an_order(),
    }
}

/// An upper bound on ε of the loader.
///
/// Deterministic batches dominate every order that does not depend on the records and uses each at
/// most once per epoch, with the record in the batch of the least noise. That is so under zero-out
/// adjacency: if a record is removed, those after it move to other batches, and a replaced one moves
/// a sum by up to twice the clip norm. Batches of fixed size have adjacencies of their own.
pub(super) fn upper(setup: &TrainingSetup, claim: &PrivacyClaim) -> Option<Accounted> {
    let PrivacyClaim { adjacency, delta, .. } = *claim;
    if setup.has_noise_of_random_size() {
        return None;
    }
    let noise_multiplier = setup.drawn_noise_multiplier();
    let run = setup.schedule();
    let given = Given::Delta(delta);
    let sampler = match setup.loader {
        LoaderBatches::Sampler(BatchSampler::FixedSize)
        | LoaderBatches::Sampler(BatchSampler::TruncatedPoisson(_)) => {
            let query = Query::upper(steps_drawn_anew(setup, Kind::Upper), given);
            return decided(claim, FIXED_SIZE_ERROR, |error| {
                subsets(setup, Query { error: Some(error), ..query }, adjacency)
            });
        }
        loader if is_for_zero_out_alone(loader, adjacency) => return None,
        LoaderBatches::Sampler(BatchSampler::RandomAllocation { .. }) => {
            let query = Query::upper(allocated(setup, run.rounded_up()), given);
            return decided(claim, BINS_ERROR, |error| {
                RandomAllocation.account(&Query { error: Some(error), ..query }).ok()
            });
        }
        LoaderBatches::Sampler(sampler) => sampler,
        LoaderBatches::Other(OtherBatches::OncePerEpoch) => BatchSampler::Deterministic,
        LoaderBatches::Other(_) => return None,
    };
    if sampler == BatchSampler::Poisson {
        let [_, sampling_rate] = setup.sampling_rates();
        let sampling_rate = Some(sampling_rate);
        let training = Training { noise_multiplier, sampling_rate, ..run.poisson() };
        return decided(claim, ERROR, |error| poisson_within(&training, delta, error));
    }
    let noise_multiplier = setup.least_noise_multiplier();
    let training = Training { noise_multiplier, ..run.rounded_up() };
    let all = Deterministic.account(&Query::upper(training, given)).ok()?;
    if sampler == BatchSampler::BallsInBins {
        let query = Query::upper(training, given);
        let bins = decided(claim, BINS_ERROR, |error| {
            BallsInBins.account(&Query { error: Some(error), ..query }).ok()
        });
        return bins.filter(|bins| bins.epsilon < all.epsilon).or(Some(all));
    }
    Some(all)
}

/// A value on a grid with this error, or with a smaller one if only the grid leaves the claim open.
fn decided(
    claim: &PrivacyClaim,
    error: f64,
    account: impl Fn(f64) -> Option<Accounted>,
) -> Option<Accounted> {
    let coarse = account(error)?;
    let least = coarse.epsilon - coarse.numeric_error;
    let finer = error_near(claim.epsilon);
    if !(least..coarse.epsilon).contains(&claim.epsilon) || !(finer < error) {
        return Some(coarse);
    }
    account(finer).filter(|fine| fine.epsilon < coarse.epsilon).or(Some(coarse))
}

/// ε of Poisson accounting; none if its grid is too large, or if little noise would make it slow.
pub(super) fn poisson_upper(training: &Training, delta: f64) -> Option<Accounted> {
    poisson_within(training, delta, ERROR)
}

fn poisson_within(training: &Training, delta: f64, error: f64) -> Option<Accounted> {
    if !(training.noise_multiplier >= LEAST_POISSON_NOISE) {
        return None;
    }
    let query = Query::upper(*training, Given::Delta(delta));
    Poisson.account(&Query { error: Some(error), ..query }).ok()
}

/// The smallest ε that the assumed accountant yields at its σ; none for a sampler without an
/// accountant.
pub(super) fn accountant_lower(
    setup: &TrainingSetup,
    assumed: &AssumedAccounting,
    delta: f64,
) -> Option<Accounted> {
    let run = setup.schedule();
    let lower = |accountant: &dyn Accountant, least_noise: f64, error: f64, training: Training| {
        let noise_multiplier = training.noise_multiplier.max(least_noise);
        let training = Training { noise_multiplier, ..training };
        let query = Query::lower(training, Given::Delta(delta));
        accountant.account(&Query { error: Some(error), ..query }).ok()
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
                SamplerKind::FixedSize => {
                    let (noise, error) = (LEAST_FIXED_SIZE_NOISE, FIXED_SIZE_ERROR);
                    lower(&FixedSize::ZERO_OUT, noise, error, all_steps)
                }
                SamplerKind::TruncatedPoisson => {
                    // the accountant's maximum is that of the loader
                    let truncated = TruncatedPoisson::zero_out(setup.loader.truncation()?);
                    lower(&truncated, LEAST_FIXED_SIZE_NOISE, FIXED_SIZE_ERROR, all_steps)
                }
                _ => lower(&Poisson, LEAST_POISSON_NOISE, ERROR, all_steps),
            }
        }
        SamplerKind::BallsInBins => {
            lower(&BallsInBins, LEAST_BINS_NOISE, BINS_ERROR, run.rounded_down().ok()?)
        }
        SamplerKind::RandomAllocation => {
            let training = allocated(setup, run.rounded_down().ok()?);
            lower(&RandomAllocation, LEAST_FIXED_SIZE_NOISE, BINS_ERROR, training)
        }
        SamplerKind::Deterministic => lower(&Deterministic, 0.0, ERROR, run.rounded_down().ok()?),
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

/// The same run at no less than the minimum noise of the method.
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
