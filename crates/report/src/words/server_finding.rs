//! Findings about a server, its noise and its canary clients.

use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::format::{given, rounded};

use crate::number::grouped;

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
            "the control client surely took part, but is not seen (p = {}): its update did not \
             reach what is audited, or flattening, files or plan are wrong",
            rounded(p_value, 3)
        ),
        OneRunFinding::ControlSeen { ln_p } => format!(
            "the control client did not take part, but is seen (ln p = {}): the directions are not \
             independent of the training, so the result is an estimate",
            rounded(ln_p, 1)
        ),
        _ => return None,
    })
}
