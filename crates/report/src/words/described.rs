//! What a check of a described training means, and what to run next.

use dpscope_core::accounting::Accounted;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{
    CheckTarget, CheckVerdict, Diagnosis, LoaderKind, OtherBatches, Severity, TrainingSetup,
};

use super::one_run::adjacency_in_words;
use crate::number::plain;

/// A verdict on a described training in a few words.
#[must_use]
pub const fn check_verdict_in_words(verdict: CheckVerdict) -> &'static str {
    match verdict {
        CheckVerdict::Refuted => "REFUTED",
        CheckVerdict::HoldsAsDescribed => "holds for the training as described",
        CheckVerdict::Inconclusive => "inconclusive",
    }
}

/// Whether the bounds of a loader have the adjacency of the claim, as where batches have a limited size;
/// those of others are for zero-out.
pub(super) fn has_claimed_adjacency(loader: LoaderKind) -> bool {
    loader.sampler().is_some_and(SamplerKind::limits_batch_size)
}

/// What a verdict on a described training means, or its bounds where nothing is claimed, and what not.
#[must_use]
pub fn described_sentence(
    verdict: Option<CheckVerdict>,
    loader: LoaderKind,
    adjacency: Adjacency,
) -> String {
    let sentence = match verdict {
        None => {
            "These values are of a training run as described, releasing every noisy sum. Whether the              code does what is described was not examined; an audit examines that."
        }
        Some(CheckVerdict::Refuted) => {
            let adjacency = match adjacency {
                Adjacency::Replace if !has_claimed_adjacency(loader) => Adjacency::ZeroOut,
                claimed => claimed,
            };
            let adjacency = adjacency_in_words(adjacency);
            return format!(
                "A training run as described, releasing every noisy sum, does not satisfy the claimed \
                 epsilon and delta under {adjacency} adjacency: proven. This is about the \
                 description: the trained model and the code were not examined."
            );
        }
        Some(CheckVerdict::HoldsAsDescribed) => {
            "A training run as described, releasing every noisy sum, satisfies the claim: proven. \
             This is about the description: whether the code does what is described was not \
             examined; an audit examines that."
        }
        Some(CheckVerdict::Inconclusive) => {
            "What is proven about the description neither refutes the claim nor confirms it. The code \
             was not examined."
        }
    };
    sentence.to_owned()
}

/// Both bounds in one sentence.
#[must_use]
pub fn known_epsilon_sentence(
    lower: Option<&Accounted>,
    upper: Option<&Accounted>,
    delta: f64,
) -> String {
    let shown =
        |sign: char, bound: &Accounted| format!("ε {sign} {}", plain(bound.epsilon, bound.kind, 4));
    let bounds = [lower.map(|bound| shown('≥', bound)), upper.map(|bound| shown('≤', bound))];
    let bounds: Vec<String> = bounds.into_iter().flatten().collect();
    match bounds.is_empty() {
        true => format!("nothing is proven of ε at δ = {delta:e}"),
        false => format!("{} at δ = {delta:e}, proven", bounds.join(" and ")),
    }
}

/// Commands for the noise under which the claim holds, with this loader and with Poisson batches.
#[must_use]
pub fn calibrations(setup: &TrainingSetup, target: &CheckTarget, found: &Diagnosis) -> Vec<String> {
    let Some(claim) = target.claim() else { return Vec::new() };
    let is_sound = found.findings.iter().all(|finding| finding.severity() == Severity::Note);
    // `calibrate` knows no replaced records
    let is_replace = claim.adjacency == Adjacency::Replace;
    if is_sound || is_replace || !(claim.epsilon > 0.0) {
        return Vec::new();
    }
    // every shuffle is calibrated by the bound of deterministic batches
    let loader = match setup.loader.kind() {
        // a claim about another number of records is not what `calibrate` computes
        kind if claim.adjacency != Adjacency::ZeroOut
            && (has_claimed_adjacency(kind) || kind.cuts_an_order()) =>
        {
            None
        }
        LoaderKind::Sampler(SamplerKind::SlidingBuffer)
        | LoaderKind::Other(OtherBatches::OncePerEpoch) => Some(SamplerKind::Deterministic),
        kind => kind.sampler(),
    };
    let mut samplers = Vec::from_iter(loader);
    samplers.push(SamplerKind::Poisson);
    samplers.dedup();
    let length = match setup.partial_epoch_steps {
        0 => format!("--epochs {}", setup.epochs),
        _ => format!("--total-steps {}", found.steps),
    };
    let command = |sampler: SamplerKind| {
        let rate = match sampler {
            _ if sampler.truncates() => {
                return format!(
                    "dpscope calibrate noise --sampler {sampler} --epsilon {} --delta {:e} \
                     --dataset-size {} --batch-size {} --max-batch-size {} {length}",
                    claim.epsilon,
                    claim.delta,
                    setup.dataset_size,
                    setup.batch_size,
                    (setup.loader.truncation())
                        .map_or(setup.dataset_size, |cut| cut.max_batch_size)
                );
            }
            SamplerKind::FixedSize => format!(" --sampling-rate {}", found.sampling_rate),
            // the larger of the possible rates, so that the claim then holds
            _ if sampler.draws_each_step_anew() => {
                let [_, most] = setup.sampling_rates();
                format!(" --sampling-rate {most}")
            }
            _ if sampler.has_uses() => {
                format!(" --uses-per-epoch {}", setup.loader.uses_per_epoch())
            }
            _ => String::new(),
        };
        format!(
            "dpscope calibrate noise --sampler {sampler} --epsilon {} --delta {:e} --steps {}{rate} \
             {length}",
            claim.epsilon, claim.delta, found.steps_per_epoch
        )
    };
    samplers.into_iter().map(command).collect()
}

/// Which neighbours the bounds of a loader are about.
#[must_use]
pub fn claim_note(loader: LoaderKind, adjacency: Adjacency) -> &'static str {
    let is_described = loader.sampler().is_some();
    if !has_claimed_adjacency(loader) {
        return match adjacency {
            Adjacency::AddRemove if loader.cuts_an_order() || !is_described => {
                "for this loader, removing a record is not the same as zeroing its gradient: a lower \
                 bound holds for both, an upper bound only for zero-out adjacency"
            }
            Adjacency::AddRemove if loader == SamplerKind::Poisson.into() => {
                "an add/remove claim is compared with zero-out adjacency; for this loader the two are \
                 the same if sampling rate and number of steps do not depend on the record"
            }
            Adjacency::AddRemove => {
                "an add/remove claim is compared with zero-out adjacency; for this loader the two are \
                 the same if the number of steps does not depend on the record"
            }
            Adjacency::Replace if is_described => {
                "claim and bounds both replace a record by any other"
            }
            _ => PrivacyClaim::adjacency_note(adjacency),
        };
    }
    let is_truncated = loader.sampler().is_some_and(SamplerKind::truncates);
    match adjacency {
        Adjacency::AddRemove if is_truncated => {
            "claim and bounds are for removing a record. In a full batch another record takes its \
             place, unlike in zero-out adjacency"
        }
        Adjacency::ZeroOut => "claim and bounds both use zero-out adjacency",
        Adjacency::AddRemove => {
            "claim and bounds both add or remove a record at the same batch size, so that another \
             record takes its place: that is not zero-out adjacency"
        }
        Adjacency::Replace => "claim and bounds both replace a record by any other",
    }
}
