//! Findings about scores of a known null distribution.

use dpscope_core::audit::one_run::{OneRunFinding, RepeatedScores};
use dpscope_core::format::rounded;

use super::finding::times_in_words;
use super::server_finding::server_finding_sentence;
use crate::number::{bound, grouped};

/// What a finding about scores of a known null distribution says.
pub(super) fn null_finding_sentence(finding: &OneRunFinding) -> String {
    match *finding {
        OneRunFinding::NoScores { canaries: 0 } => {
            "no canary took part in the training, so no leak \
             could have been seen; audit a training with canaries"
                .to_owned()
        }
        OneRunFinding::NoScores { canaries } => format!(
            "none of the {} canaries has a finite score, so no leak could have been seen; compute \
             their scores again",
            grouped(canaries)
        ),
        OneRunFinding::MissingCosines { count, canaries } => format!(
            "{} of {} canaries have no finite score, or are missing in the file; they count as canaries \
             that were not seen, so check that the file is complete",
            grouped(count),
            grouped(canaries)
        ),
        OneRunFinding::CosinesReversed { z } => format!(
            "the cosines are negative on average (√K z̄ = {}): sign, dimension or flattening is wrong, \
             so the result is an estimate; fix it before drawing a new plan, since a sign chosen after \
             seeing the cosines has no bound",
            rounded(z, 1)
        ),
        OneRunFinding::FarBelowNull { score } => format!(
            "the least cosine lies {} standard deviations below 0, where no direction points by \
             chance: the dimension is smaller than stated, or sign or flattening is wrong, so the \
             result is an estimate",
            rounded(-score, 1)
        ),
        OneRunFinding::NarrowScores { dispersion } => format!(
            "the scores of the included canaries are much closer together than the null scores, and not \
             above them (their normal scores have variance {dispersion:.1e} instead of 1): score both by \
             the same model and attack, in the same unit"
        ),
        OneRunFinding::UnequalWeights { dispersion } => format!(
            "the normal scores have variance {} instead of 1, so canaries had different \
             weights, clipping or server rounds",
            rounded(dispersion, 2)
        ),
        OneRunFinding::SpreadTooSmall { dispersion } => format!(
            "the normal scores have variance {} instead of 1, less than those of different \
             directions: the dimension is larger than stated, or canaries share their cosines; check \
             dimension, flattening and the file",
            if dispersion < 0.01 { format!("{dispersion:.1e}") } else { rounded(dispersion, 2) }
        ),
        OneRunFinding::NumberOutsideDesign { canaries, expected } => format!(
            "{} took part, and the design has {} on average: it yields such a number with a \
             probability below 1e-5, so number or design is wrong, and the result is an estimate",
            canaries_in_words(canaries),
            rounded(expected, 1)
        ),
        OneRunFinding::RepeatedScores { scores, values, times, p_value } => {
            repeated_scores_sentence(scores, values, times, p_value)
        }
        OneRunFinding::LittleNoise { gdp_mu } => format!(
            "the canaries stand out by at least {} standard deviations, which suggests almost no \
             noise; check that noise is added, and its scale",
            bound(gdp_mu, false, 1)
        ),
        OneRunFinding::UnseenNotUniform { distance, unseen } => format!(
            "the p-values of {} directions that no client sent are not uniform (distance {}): \
             dimension, flattening or directions are wrong, so the result is an estimate",
            grouped(unseen),
            rounded(distance, 3)
        ),
        ref other => {
            server_finding_sentence(other).unwrap_or_else(|| "an unknown finding".to_owned())
        }
    }
}

/// Which scores are copies.
fn canaries_in_words(canaries: u64) -> String {
    if canaries == 1 { "1 canary".to_owned() } else { format!("{} canaries", grouped(canaries)) }
}

fn repeated_scores_sentence(
    scores: RepeatedScores,
    values: u64,
    times: u64,
    p_value: f64,
) -> String {
    let (count, times) = (grouped(values), times_in_words(times));
    let (says, remedy) = match scores {
        RepeatedScores::Cosines => {
            return format!(
                "{count} cosines occur several times, bit for bit, up to {times} each: different \
                 directions have different cosines, so canaries or files were added several times, and \
                 the result is an estimate"
            );
        }
        RepeatedScores::Canaries => (
            format!("{count} different scores of canaries occur exactly {times} each, bit for bit"),
            "canaries or files were added several times",
        ),
        RepeatedScores::Null => (
            format!("{count} different null scores occur exactly {times} each, bit for bit"),
            "draws were copied; score fresh ones",
        ),
        RepeatedScores::CanariesInNull => (
            format!(
                "{count} different scores of canaries are among the null scores, exactly {times} \
                 each, bit for bit"
            ),
            "take the canaries out of the null scores",
        ),
    };
    format!(
        "{says}, as ties of independent scores do not (p = {p_value:.1e}): {remedy}; the result is an \
         estimate"
    )
}
