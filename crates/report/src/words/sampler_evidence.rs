//! What recorded outputs show of the sampler, in words.

use dpscope_core::format::rounded;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::recorded::{Placement, RecordedUses, SamplerContradiction, SamplerEvidence};

use super::sampler::batches;
use crate::number::counted;

/// Which samplers the outputs do not refute.
#[must_use]
pub fn sampler_evidence_sentence(evidence: &SamplerEvidence) -> String {
    let significance = SamplerEvidence::SIGNIFICANCE;
    let left: Vec<Placement> = evidence.placements(false, significance).collect();
    let found = match left[..] {
        [only] => format!(
            "the outputs show {}: every other sampler that was compared is refuted, with a \
             probability of at most {significance} if it were correct",
            placement_in_words(only)
        ),
        _ => format!("these runs cannot distinguish {}", undecided(&left)),
    };
    let sums = evidence.epoch_sums.map_or(String::new(), |sums| {
        format!(
            "; sums over an epoch vary {} times as much with the target as without it (1 if it is used once \
             per epoch)",
            rounded(sums.ratio, 2)
        )
    });
    let fitted = match evidence.is_fitted {
        true => format!(
            "; the noise {} and the other parameters were fitted to the outputs, so that the \
             probability is no bound",
            rounded(evidence.model.noise_multiplier, 2)
        ),
        false => String::new(),
    };
    format!("{found}{sums}{fitted}")
}

/// How often the target was used.
#[must_use]
pub fn recorded_uses_sentence(uses: &RecordedUses) -> String {
    let counts = &uses.counts;
    let what = match counts.is_once {
        true => "each epoch used the target once".to_owned(),
        false => format!("an epoch used the target {} times on average", rounded(counts.mean, 2)),
    };
    let shown = uses.shown(SamplerEvidence::SIGNIFICANCE).map_or_else(
        || "no sampler that was compared explains that".to_owned(),
        |placement| format!("this is consistent with {}", placement_in_words(placement)),
    );
    format!("{what} ({}): {shown}", counted(counts.epochs, "recorded epoch"))
}

/// Two samplers that are not refuted, a shuffle and Poisson batches first, and the number of others.
fn undecided(left: &[Placement]) -> String {
    let [first, second, others @ ..] = left else { return "any two samplers".to_owned() };
    let name = |placement: &Placement| match placement {
        Placement::Shuffle => "shuffle".to_owned(),
        Placement::Poisson => "Poisson".to_owned(),
        other => placement_in_words(*other),
    };
    let more = match others.len() {
        0 => String::new(),
        count => format!(", nor from {}", counted(count as u64, "other sampler")),
    };
    format!("{} from {}{more}", name(first), name(second))
}

/// A placement as a noun phrase.
fn placement_in_words(placement: Placement) -> String {
    let sampler = match placement {
        Placement::Poisson => SamplerKind::Poisson,
        Placement::Shuffle => SamplerKind::Shuffle,
        Placement::PersistentShuffle => SamplerKind::PersistentShuffle,
        Placement::FixedStep => SamplerKind::Deterministic,
        Placement::FirstBatches { batches } => {
            return format!("shuffles of the first {}", number_of_batches(batches));
        }
        Placement::Buffer => SamplerKind::SlidingBuffer,
    };
    batches(sampler).to_owned()
}

/// What refutes the sampler that was passed, and what to do.
pub(super) fn sampler_refuted_sentence(
    passed: SamplerKind,
    shown: Option<Placement>,
    by: &SamplerContradiction,
) -> String {
    let how = match (shown, by) {
        (Some(Placement::Shuffle), _) => "the target was used once per epoch".to_owned(),
        (Some(Placement::Poisson), _) => {
            "the number of uses of the target differs between epochs".to_owned()
        }
        (Some(Placement::PersistentShuffle), _) => {
            "the target is at the same step in every epoch of a run".to_owned()
        }
        (Some(Placement::FixedStep), _) => "the target is at one step in every run".to_owned(),
        (Some(Placement::FirstBatches { batches }), _) => {
            format!("the target is within the first {}", number_of_batches(batches))
        }
        (Some(Placement::Buffer) | None, SamplerContradiction::Uses { mean, .. }) => {
            format!("the target was used {} times per epoch on average", rounded(*mean, 2))
        }
        (Some(Placement::Buffer) | None, SamplerContradiction::Outputs { .. }) => {
            "other samplers fit much better, but the outputs do not single one out".to_owned()
        }
    };
    let numbers = match by {
        SamplerContradiction::Outputs { ln_ratio, epoch_sums_z, .. } => {
            let ratio = format!("likelihood ratio e^{ln_ratio:.1}");
            match (shown, epoch_sums_z) {
                (Some(Placement::Shuffle | Placement::Poisson), Some(z)) => {
                    format!("variance of epoch sums: z {z:+.1}, {ratio}")
                }
                _ => ratio,
            }
        }
        SamplerContradiction::Uses { p_value, .. } => format!("p = {p_value:.1e}"),
    };
    let source = match by {
        SamplerContradiction::Outputs { .. } => "outputs",
        SamplerContradiction::Uses { .. } => "recorded uses",
    };
    let advice = advice(shown);
    format!("the {source} contradict {}: {how} ({numbers}); {advice}", batches(passed))
}

fn advice(shown: Option<Placement>) -> String {
    let sampler = match shown {
        Some(Placement::Poisson) => SamplerKind::Poisson,
        Some(Placement::Shuffle) => SamplerKind::Shuffle,
        Some(Placement::PersistentShuffle) => SamplerKind::PersistentShuffle,
        Some(Placement::FixedStep) => SamplerKind::Deterministic,
        Some(Placement::FirstBatches { .. }) => SamplerKind::PartialShuffle,
        Some(Placement::Buffer) => SamplerKind::SlidingBuffer,
        None => return "check how the loader draws its batches".to_owned(),
    };
    let buffer = match shown {
        Some(Placement::FirstBatches { batches }) => {
            format!(" whose buffer is the first {}", number_of_batches(batches))
        }
        _ => String::new(),
    };
    format!("audit them as {}{buffer}", sampler.name())
}

/// To be read after "the first" or "of".
fn number_of_batches(batches: u32) -> String {
    if batches == 1 { "batch".to_owned() } else { format!("{batches} batches") }
}
