//! Findings in words.

use dpscope_core::adjacency::World;
use dpscope_core::audit::Finding;
use dpscope_core::format::rounded;
use dpscope_core::recorded::independence::{Dependence, RunIndex};

use super::contradiction::contradiction_sentence;
use super::output_finding::output_sentence;
use crate::number::{grouped, signed};

/// What dependent runs mean for the result.
pub const DEPENDENT_RUNS: &str = "the runs are not independent, so the result is an estimate: a bound \
    needs independent runs";

/// What a finding says.
#[must_use]
pub fn finding_sentence(finding: &Finding) -> String {
    match *finding {
        Finding::Dependence { world, p_value, dependence } => {
            let world = world.map_or(String::new(), |world| format!(" ({} world)", world.name()));
            let sentence = dependence_sentence(&dependence);
            let topic = match dependence {
                Dependence::RepeatedPositionsOverEpochs { .. }
                | Dependence::RepeatedPositionsOverRuns { .. } => "order of the data",
                _ => "independence",
            };
            format!("{topic}{world}: {sentence} (p = {p_value:.1e})")
        }
        Finding::NoiseReused { share, expected, is_over_epochs } => {
            let [pairs, reused] = match is_over_epochs {
                false => ["neighbouring steps", "in several steps"],
                true => ["a step in neighbouring epochs", "in several epochs"],
            };
            format!(
                "in {:.0} % of the pairs of {pairs} the outputs are nearly equal, where the stated \
                 noise allows {:.0} %: the same noise is added {reused}",
                100.0 * share,
                100.0 * expected
            )
        }
        Finding::NoiseInOneWorld { without } => format!(
            "the outputs of the {} world equal their noiseless values, but those of the other contain \
             noise: the same code should record both, so this world was not recorded, or was \
             recorded differently; the result is an estimate",
            without.name()
        ),
        Finding::NoNoise { world } => format!(
            "the outputs of the {} world equal their values without noise: no noise was added",
            world.name()
        ),
        Finding::BufferSearched { prefix, hypotheses } => format!(
            "the buffer size is unknown: of {hypotheses} prefixes tested, the first {prefix} batches \
             of an epoch leak most; a bound shares its significance among all of them"
        ),
        Finding::FailedRuns { target, zero_out } => format!(
            "{target} runs with the target record and {zero_out} without have no finite score and \
             count against the attack"
        ),
        Finding::ScoresReversed { auc } => format!(
            "the scores are lower with the target record than without it (AUC {}, at most {} with \
             99.9 % confidence): reverse scores or decisions, or swap the two worlds",
            rounded(auc.value, 3),
            rounded(auc.upper, 3)
        ),
        Finding::PartialRun { counted, planned } => format!(
            "{counted} of {planned} planned observations are counted, so this is an estimate: a \
             bound needs exactly the planned number"
        ),
        Finding::NoiseTooSmall { residual_variance, .. } => format!(
            "the outputs vary by {} of the noise variance, less than the noise alone would: the \
             noise is too small",
            rounded(residual_variance, 4)
        ),
        Finding::CanaryShifted { shift, .. } => format!(
            "the outputs of the canary's batch deviate by {} σ from the mean its gradient predicts: \
             it is not clipped to the clip norm, or the other records' gradients along it differ \
             between its batch and the others",
            signed(shift)
        ),
        _ => output_sentence(finding)
            .or_else(|| contradiction_sentence(finding))
            .unwrap_or_else(|| "an unknown finding".to_owned()),
    }
}

/// How often something occurs.
pub(super) fn times_in_words(times: u64) -> String {
    if times == 1 { "once".to_owned() } else { format!("{} times", grouped(times)) }
}

/// In which way runs depend on each other.
#[must_use]
pub fn dependence_sentence(dependence: &Dependence) -> String {
    match *dependence {
        Dependence::DuplicatedRuns { copies, runs, first } => {
            let place = |place: RunIndex| format!("{} run {}", place.world.name(), place.run);
            let shown = first.map_or(String::new(), |[first, other]| {
                format!(" (the first: {} and {})", place(first), place(other))
            });
            format!(
                "{copies} of {runs} runs repeat another one bit for bit{shown}: a seed is reused, or \
                 a file was added twice; the bound needs independent runs"
            )
        }
        Dependence::IdenticalRuns { runs } => format!(
            "all {runs} runs of a world are identical: no noise was added, or all runs used one seed"
        ),
        Dependence::RepeatedScores { values, times, runs } => format!(
            "{} of {} runs are {} different scores, each exactly {}, bit for bit: a file was added \
             several times, or runs repeat others; the bound needs independent runs",
            grouped(values * times),
            grouped(runs),
            grouped(values),
            times_in_words(times)
        ),
        Dependence::SharedScores { of, values, times } => format!(
            "{} scores of the {} world are in the other world, too, each exactly {}, bit for bit: a file \
             was added to both worlds, or both were run from the same seeds; the bound needs \
             independent runs",
            grouped(values),
            of.name(),
            times_in_words(times)
        ),
        Dependence::RepeatedPositionsOverEpochs { hits, guesses, steps } => format!(
            "the largest output of an epoch is at the same step as in the run's earlier epochs \
             in {hits} of {guesses} epochs, where chance gives 1 in {steps}: the loader may repeat \
             one permutation: audit it as persistent-shuffle"
        ),
        Dependence::RepeatedPositionsOverRuns { hits, guesses, steps, step } => format!(
            "the largest output of a run is at the same step as in earlier runs in {hits} of \
             {guesses} runs, where chance gives 1 in {steps}, most often at step {}: the loader \
             may not shuffle, or all runs may share the seed of their loader",
            step.saturating_add(1)
        ),
        Dependence::LagOneCorrelation { correlation } => format!(
            "scores of neighbouring runs are correlated in file order (rank correlation \
             {correlation:.3}): runs may start from one another or share their seeds"
        ),
        Dependence::SharedNoise { correlation } => format!(
            "run i of the {} world and run i of the {} world are correlated (correlation \
             {correlation:.3}): both worlds may have been run from the same seeds; use another \
             seed for every run",
            World::Target.name(),
            World::ZeroOut.name()
        ),
    }
}
