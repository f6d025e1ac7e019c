//! Whether updates follow what the plan declared about canaries, and how often these took part.

use dpscope_core::audit::one_run::{CanaryClass, OneRunFinding};
use dpscope_core::audit::one_shot::{ClaimedParticipation, ScoreChecks};
use dpscope_recorded::{CommittedFederatedPlan, FederatedScores, ReleaseSummary};
use dpscope_report::words::OneShotAttacker;

use crate::commands::audit::federated::server::StatedServer;
use crate::failure::Failure;

/// Canaries that arrive with another norm than stated, or with one that follows a class of the plan.
pub(super) fn arrival_findings(
    server: StatedServer,
    plan: &CommittedFederatedPlan,
    arrived: &[(usize, (f64, f64))],
) -> Vec<OneRunFinding> {
    let dimension = plan.plan.dimension;
    let products: Vec<(f64, f64)> = arrived.iter().map(|&(_, products)| products).collect();
    let mean = server.noise.weight_finding(&products, dimension, server.planned_clients);
    let of_class = |class| {
        let of = |&(canary, _): &(usize, _)| plan.declared(class, canary as u64);
        let declared: Vec<_> = arrived.iter().map(of).collect::<Option<_>>()?;
        server.noise.class_finding(class, &products, &declared, dimension)
    };
    mean.into_iter().chain(CanaryClass::ALL.into_iter().filter_map(of_class)).collect()
}

/// Canaries that took part more often than claimed, from their cosines with the sum of all updates, each
/// scaled to norm 1.
pub(super) fn participation_finding(
    server: StatedServer,
    summaries: &[ReleaseSummary],
    scores: &FederatedScores,
    attacker: OneShotAttacker,
) -> Result<Option<OneRunFinding>, Failure> {
    let Some(participations) = server.participations else { return Ok(None) };
    if attacker == OneShotAttacker::KnownServerRounds {
        return Err(Failure::input(
            "--participations has an effect only with plans for --attacker all-updates or \
             sum-of-updates; --participation states the server rounds of each canary",
        ));
    }
    let weights: Vec<f64> = summaries.iter().map(|summary| summary.unit.recip()).collect();
    let noise_multiplier = server.noise.noise_multiplier;
    let claimed = ClaimedParticipation { noise_multiplier, participations, weights: &weights };
    let tails = scores.exact_tails.as_ref().unwrap_or(&scores.tails);
    Ok(claimed.finding(&ScoreChecks::new(tails), tails.len() as u64))
}
