//! M4: noisy labels, and labels of training rows.

use dpscope_core::accounting::AccountingError;
use dpscope_core::accounting::pate::{NoisyVote, VoteNoise};
use dpscope_core::audit::generator::LabelChannel;
use dpscope_core::math;

use super::check::{Check, Observation, fired};
use crate::accountant::accounted_vote;
use crate::fault::{Detector, Fault};
use crate::mechanism::Mechanism;
use crate::settings::Settings;
use crate::trace::Trace;
use crate::trace::VoteCounts;

fn total(runs: &[&Trace], teachers: u32) -> VoteCounts {
    let zeros = vec![0; teachers as usize + 1];
    let mut sum = VoteCounts { votes: zeros.clone(), ones: zeros.clone(), accounted: zeros };
    for votes in runs.iter().map(|run| &run.votes) {
        let pairs = [
            (&mut sum.votes, &votes.votes),
            (&mut sum.ones, &votes.ones),
            (&mut sum.accounted, &votes.accounted),
        ];
        for (sum, counts) in pairs {
            sum.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }
    sum
}

fn more_or_fewer(excess: f64) -> String {
    format!("{:.0} {}", excess.abs(), if excess < 0.0 { "fewer" } else { "more" })
}

/// M4: noisy labels given the votes.
pub(super) fn label_channel(
    mechanism: &Mechanism,
    runs: &[&Trace],
    level: f64,
) -> Result<Check, AccountingError> {
    let Settings { teachers, inverse_scale, .. } = *mechanism.settings();
    let vote = accounted_vote(teachers, inverse_scale)?;
    let counts = total(runs, teachers);
    let channel = LabelChannel::of(&vote, &counts.votes, &counts.ones)?;
    let p_value = channel.p_value();
    let excess = |other: Result<NoisyVote, AccountingError>| {
        let found = LabelChannel::of(&other.ok()?, &counts.votes, &counts.ones).ok()?;
        Some(found.more_majorities.abs() + found.more_ones.abs())
    };
    let observation = match () {
        () if channel.votes == 0 => Observation::Untestable { reason: "there are no votes" },
        () if p_value > level => Observation::Clear,
        () => {
            let candidates = [
                (
                    excess(NoisyVote::new(
                        teachers,
                        (1.0 / inverse_scale).clamp(1e-6, 100.0),
                        VoteNoise::BothCounts,
                    )),
                    Fault::U3,
                ),
                (excess(NoisyVote::new(teachers, inverse_scale, VoteNoise::OneCount)), Fault::E5),
            ];
            let noise_free = runs.iter().any(|run| run.label_noise.labels > 0);
            let nearest = candidates
                .into_iter()
                .filter_map(|(excess, fault)| Some((excess?, fault)))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let faults = match nearest {
                _ if noise_free => label_noise_faults(mechanism, runs),
                _ if counts.votes != counts.accounted => vec![Fault::E4],
                Some((_, fault)) => vec![fault],
                None => Vec::new(),
            };
            let seen = format!(
                "of {} votes, {} than expected have the majority's label, and {} have label 1",
                channel.votes,
                more_or_fewer(channel.more_majorities),
                more_or_fewer(channel.more_ones)
            );
            fired(&faults, seen)
        }
    };
    Ok(Check {
        detector: Detector::LabelChannel,
        name: "labels of votes",
        observation,
        p_value: Some(p_value),
        remedy: "add independent Laplace noise of scale 1/γ to both counts of each vote",
    })
}

fn label_noise_spread(runs: &[&Trace]) -> Option<f64> {
    let labels: u64 = runs.iter().map(|run| run.label_noise.labels).sum();
    let squares: f64 = runs.iter().map(|run| run.label_noise.squares).sum();
    (labels > 0).then(|| (squares / labels as f64).sqrt())
}

/// The formula whose standard deviation is nearest.
fn label_noise_faults(mechanism: &Mechanism, runs: &[&Trace]) -> Vec<Fault> {
    let Some(spread) = label_noise_spread(runs) else { return Vec::new() };
    let distance = |fault: &Fault| {
        let expected = mechanism.label_noise_of(*fault).unwrap_or(f64::INFINITY);
        math::ln(spread / expected).abs()
    };
    let nearest = [Fault::O4, Fault::O5, Fault::T4]
        .into_iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    nearest.into_iter().collect()
}

/// M4: noise of labels that teachers are trained with.
pub(super) fn training_labels(mechanism: &Mechanism, runs: &[&Trace]) -> Check {
    let observation = match label_noise_spread(runs) {
        None => Observation::Clear,
        Some(spread) => {
            let seen = format!("labels 0 and 1 of training rows have noise of spread {spread:.3e}");
            fired(&label_noise_faults(mechanism, runs), seen)
        }
    };
    Check {
        detector: Detector::LabelChannel,
        name: "training labels",
        observation,
        p_value: None,
        remedy: "train teachers with labels 0 and 1, and add noise to their votes",
    }
}
