//! Findings that contradict what an attack on recorded outputs assumes, in words.

use dpscope_core::audit::Finding;
use dpscope_core::format::rounded;
use dpscope_core::mechanism::ThreatModel;
use dpscope_core::recorded::{CanarySize, OtherBatchMean};

use super::output_phase::with_limits;
use super::sampler_evidence::sampler_refuted_sentence;

/// What such a finding says; none for another one.
pub(super) fn contradiction_sentence(finding: &Finding) -> Option<String> {
    Some(match *finding {
        Finding::OrderFixed { step, is_audited } => {
            let number = step.saturating_add(1);
            let advice = if is_audited {
                "the audit includes the attack that knows this step".to_owned()
            } else {
                format!(
                    "an attacker who knows the order sees more: audit the outputs as deterministic \
                     batches with the target at step {number} (target step {step}, counted from 0)"
                )
            };
            format!(
                "the target is at step {number} in every run: the loader does not shuffle, or all runs \
                 share its seed; {advice}"
            )
        }
        Finding::NoCanary { size } => format!(
            "these outputs show no canary: the worlds differ by {}, where a canary has a size of 1; \
             check that the target record is inserted, and at the steps that the sampler implies",
            interval(&size)
        ),
        Finding::CanarySizeDiffers { size, .. } => {
            let advice = if size.value > 1.0 {
                "it is not clipped, or it is inserted more than once, or the outputs are not \
                 divided by the clip norm"
            } else {
                "it is scaled, or some batches lack it, or the target is at other steps than the \
                 sampler implies"
            };
            format!("the canary is about {} clip norms: {advice}", with_limits(&size, 2))
        }
        Finding::WorldsSwapped { size } => format!(
            "the worlds are swapped: the outputs without the target record are larger by {} than \
             those with it; swap the two worlds",
            interval(&negated(&size))
        ),
        Finding::OutputsNegated { size } => format!(
            "the outputs are negated: with the target record they are lower by {}, and all of them have \
             the other sign; record sums of gradients, not updates",
            interval(&negated(&size))
        ),
        Finding::OtherBatchesDiffer { mean, threat_model } => other_batches(&mean, threat_model),
        Finding::SamplerRefuted { passed, shown, by } => {
            sampler_refuted_sentence(passed, shown, &by)
        }
        _ => return None,
    })
}

fn other_batches(mean: &OtherBatchMean, threat_model: Option<ThreatModel>) -> String {
    let found = format!(
        "batches without the target have a mean of {} ({} to {}) clip norms, where the threat model \
         assumes {}",
        rounded(mean.value, 2),
        rounded(mean.lower, 2),
        rounded(mean.upper, 2),
        rounded(mean.expected, 2)
    );
    match threat_model {
        Some(threat_model) => {
            format!("{found}: the outputs are those of the threat model {}", threat_model.name())
        }
        None => format!(
            "{found}: the outputs have another scale, or other records contribute to them; subtract \
             their contribution"
        ),
    }
}

/// A size with its interval, in clip norms.
fn interval(size: &CanarySize) -> String {
    let [value, lower, upper] = [size.value, size.lower, size.upper].map(|size| rounded(size, 2));
    format!("{value} clip norms ({lower} to {upper})")
}

fn negated(size: &CanarySize) -> CanarySize {
    let CanarySize { value, lower, upper, significance } = *size;
    CanarySize { value: -value, lower: -upper, upper: -lower, significance }
}
