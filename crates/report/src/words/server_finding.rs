//! Findings about a server, its noise and its canary clients.

use dpscope_core::audit::one_run::{CanaryClass, OneRunFinding};
use dpscope_core::format::{given, rounded};

use crate::number::{counted, grouped};

/// What a finding about a server says; none for other findings.
pub(super) fn server_finding_sentence(finding: &OneRunFinding) -> Option<String> {
    Some(match *finding {
        OneRunFinding::NoiseBelowStated { noise_multiplier, stated, server_round } => format!(
            "the norm of the update of server round {} refutes the stated noise: its noise \
             multiplier is at most {}, not {}; check that noise is added, once per server round, and \
             at the scale of what is released (sum or mean)",
            grouped(server_round),
            rounded(noise_multiplier, 4),
            given(stated)
        ),
        OneRunFinding::NoiseReused { noise_multiplier, stated, server_round } => format!(
            "the update of server round {} repeats noise of earlier ones: its fresh noise has a noise \
             multiplier of at most {}, not {}; draw new noise in every server round",
            grouped(server_round),
            rounded(noise_multiplier, 4),
            given(stated)
        ),
        OneRunFinding::CanaryWeight { weight, standard_error, planned_clients } => {
            let near = |other: f64| (weight - other).abs() <= 5.0 * standard_error;
            let planned = planned_clients as f64;
            let cause = if planned_clients > 1 && near(planned) {
                "the updates are sums, not means"
            } else if planned_clients > 1 && near(planned.recip()) {
                "the updates are divided by the number of clients twice"
            } else {
                "check clipping, weights, the scale of the updates and the rows of --participation"
            };
            format!(
                "canaries arrive with {} ± {} times the stated clipping norm instead of 1: {cause}",
                rounded(weight, 3),
                rounded(standard_error, 3)
            )
        }
        OneRunFinding::FewReplies { replies, planned, server_round, noise_multiplier } => format!(
            "server round {} has {} replies of {} planned: the noise multiplier of its mean is {}; \
             divide by the planned number, or repeat the server round",
            grouped(server_round),
            grouped(replies),
            grouped(planned),
            rounded(noise_multiplier, 4)
        ),
        OneRunFinding::UnequalReplies { noise_multiplier, stated, server_round } => format!(
            "clients have different weights in server round {}: the client with the largest weight \
             has a noise multiplier of {}, not {}; weight all clients equally",
            grouped(server_round),
            rounded(noise_multiplier, 4),
            given(stated)
        ),
        OneRunFinding::ControlNotSeen { p_value } => format!(
            "the control client is known to have taken part, but is not seen (p = {}): its update did \
             not reach what is audited, or flattening, files or plan are wrong",
            rounded(p_value, 3)
        ),
        OneRunFinding::ControlSeen { ln_p } => {
            let chance = match ln_p.is_finite() {
                true => format!("ln p = {}", rounded(ln_p, 1)),
                false => "p = 0".to_owned(),
            };
            format!(
                "the control client did not take part, but is seen ({chance}): the directions are not \
                 independent of the training, so the result is an estimate"
            )
        }
        _ => return canary_finding_sentence(finding),
    })
}

/// What a finding about classes or participation of canaries says.
fn canary_finding_sentence(finding: &OneRunFinding) -> Option<String> {
    Some(match *finding {
        OneRunFinding::ArrivalFollowsClass {
            class,
            slope,
            standard_error,
            p_value,
            least,
            most,
            noise_multiplier,
            stated,
        } => format!(
            "the norm at which canaries arrive follows {}: from {} to {} times the clipping norm \
             (slope {} ± {}, p = {}, reported below {LEVEL}), which leaves a noise multiplier of {}, \
             not {}; {}",
            declared(class),
            rounded(least, 3),
            rounded(most, 3),
            rounded(slope, 3),
            rounded(standard_error, 3),
            p_text(p_value),
            rounded(noise_multiplier, 4),
            given(stated),
            remedy(class)
        ),
        OneRunFinding::ScoresFollowClass { class, slope, standard_error, p_value } => format!(
            "the scores of canaries follow {} (slope {} ± {}, p = {}, reported below {LEVEL}); {}",
            declared(class),
            rounded(slope, 3),
            rounded(standard_error, 3),
            p_text(p_value),
            remedy(class)
        ),
        OneRunFinding::ParticipationAboveClaimed { participations, mean_score, claimed } => {
            format!(
                "canaries stand out more than clients that take part in {}: their mean score is {}, at \
             most {} is expected; count how often clients take part, and check noise and clipping",
                counted(participations, "server round"),
                rounded(mean_score, 3),
                rounded(claimed, 3)
            )
        }
        _ => return None,
    })
}

/// A p-value far below 1 in powers of ten.
fn p_text(p_value: f64) -> String {
    format!("{:.1e}", p_value.max(1e-300))
}

/// Significance of the findings about classes.
const LEVEL: &str = "1e-5";

const fn declared(class: CanaryClass) -> &'static str {
    match class {
        CanaryClass::Weight => "the number of examples that the plan declared",
        CanaryClass::Loudness => "the norm that they send",
    }
}

const fn remedy(class: CanaryClass) -> &'static str {
    match class {
        CanaryClass::Weight => "weight all clients equally",
        CanaryClass::Loudness => "clip the update of every client to the same norm",
    }
}
