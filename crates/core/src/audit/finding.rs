//! Findings about the code or the protocol behind an audit.

use super::auc::Auc;
use super::trade_off::TradeOff;
use crate::adjacency::World;
use crate::mechanism::{SamplerKind, ThreatModel};
use crate::recorded::independence::{Dependence, FALSE_ALARM, IndependenceChecks};
use crate::recorded::{
    CanarySize, OtherBatchMean, OutputParameter, Placement, SamplerContradiction, StepNoise,
};

/// Standard errors beyond which a residual of trained models is a finding.
const NOTABLE: f64 = 6.0;

/// A finding about the code or the protocol behind the data.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(tag = "code", content = "data", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Finding {
    /// Recorded runs depend on each other.
    Dependence {
        /// The world of these runs; none if the runs of both worlds are involved.
        world: Option<World>,
        /// Chance of a statistic at least as extreme if all runs are independent.
        p_value: f64,
        /// What was found.
        dependence: Dependence,
    },
    /// The noise of recorded outputs is less than stated.
    NoiseBelowStated {
        /// First and last epoch, from 0, whose noise differs most; none for all epochs.
        epochs: Option<[u32; 2]>,
        /// Standard deviation of the noise, clip norms, with 95 % confidence.
        noise: OutputParameter,
        /// The stated noise multiplier.
        stated: f64,
        /// Number of epochs, or groups of epochs, whose noise differs.
        phases: u32,
    },
    /// The noise of recorded outputs is more than stated.
    NoiseAboveStated {
        /// First and last epoch, from 0, whose noise differs most; none for all epochs.
        epochs: Option<[u32; 2]>,
        /// Standard deviation of the noise, clip norms, with 95 % confidence.
        noise: OutputParameter,
        /// The stated noise multiplier.
        stated: f64,
        /// Number of epochs, or groups of epochs, whose noise differs.
        phases: u32,
    },
    /// The noise differs between the steps of an epoch.
    NoiseDiffersByStep {
        /// The step with the least noise, and how many steps differ.
        found: StepNoise,
    },
    /// Recorded outputs of some steps equal their noiseless values.
    NoNoiseAtSteps {
        /// First and last epoch, from 0, with such a step; none if they are the same in every epoch.
        epochs: Option<[u32; 2]>,
        /// The first of these steps, from 0.
        step: u32,
        /// Number of such steps in an epoch.
        steps: u32,
        /// The only world where that is so; none for both.
        world: Option<World>,
    },
    /// Some outputs are exactly 0: no noise is added to empty batches.
    NoNoiseInEmptyBatches {
        /// Number of outputs that are exactly 0.
        zeros: u64,
        /// Number of all outputs.
        outputs: u64,
    },
    /// The noise differs between the worlds.
    NoiseDiffersByWorld {
        /// Standard deviation of the noise in D, clip norms.
        target: f64,
        /// Standard deviation of the noise in D′, clip norms.
        zero_out: f64,
    },
    /// The target takes part in more or fewer batches than stated.
    UsesDiffer {
        /// First and last epoch, from 0; none for all epochs.
        epochs: Option<[u32; 2]>,
        /// Batches per epoch that contain the target, with 95 % confidence.
        uses: OutputParameter,
        /// The stated number of batches per epoch.
        stated: f64,
    },
    /// The scale of all outputs is not the stated one.
    OutputsScaled {
        /// First and last epoch, from 0; none for all epochs.
        epochs: Option<[u32; 2]>,
        /// Scale of the outputs ÷ stated scale, with 95 % confidence.
        factor: OutputParameter,
        /// Standard deviation of the noise, clip norms, if the noise alone explains the outputs about as
        /// well; otherwise none.
        noise: Option<OutputParameter>,
    },
    /// Gradients are not clipped per record.
    RecordsNotClipped {
        /// First and last epoch, from 0; none for all epochs.
        epochs: Option<[u32; 2]>,
        /// What each record contributes, clip norms, with 95 % confidence.
        factor: OutputParameter,
    },
    /// Several parameters of recorded outputs are not as stated.
    OutputsDiffer {
        /// First and last epoch, from 0; none for all epochs.
        epochs: Option<[u32; 2]>,
        /// Standard deviation of the noise, clip norms.
        noise: OutputParameter,
        /// The stated noise multiplier.
        stated: f64,
        /// Batches per epoch that contain the target.
        uses: OutputParameter,
        /// What the target adds to its batch, clip norms.
        size: OutputParameter,
    },
    /// Recorded outputs equal their noiseless values: the code added no noise.
    NoNoise {
        /// The world of these outputs.
        world: World,
    },
    /// Recorded outputs of one world alone equal their noiseless values.
    NoiseInOneWorld {
        /// That world.
        without: World,
    },
    /// Outputs of different steps, or of different epochs of a run, have the same noise.
    NoiseReused {
        /// Share of pairs with nearly equal outputs.
        share: f64,
        /// The largest share to be expected of independent noise.
        expected: f64,
        /// Whether a pair is one step in neighbouring epochs; otherwise it is neighbouring steps.
        is_over_epochs: bool,
    },
    /// The target is at the same step in every run.
    OrderFixed {
        /// The step, from 0.
        step: u64,
        /// Whether the audit includes the attack that knows this step.
        is_audited: bool,
    },
    /// The target record changes nothing in the outputs.
    NoCanary {
        /// The size of the canary; its interval contains 0.
        size: CanarySize,
    },
    /// The target record changes the outputs by more or less than one clip norm.
    CanarySizeDiffers {
        /// First and last epoch, from 0; none for all epochs.
        epochs: Option<[u32; 2]>,
        /// What the target adds to its batch, clip norms; the interval contains neither 0 nor 1.
        size: OutputParameter,
    },
    /// The outputs of D are those of D′, and the reverse.
    WorldsSwapped {
        /// The size of the canary; its upper limit is negative.
        size: CanarySize,
    },
    /// The outputs have the wrong sign.
    OutputsNegated {
        /// The size of the canary.
        size: CanarySize,
    },
    /// The batches without the target have another mean than the threat model assumes.
    OtherBatchesDiffer {
        /// Their mean.
        mean: OtherBatchMean,
        /// The threat model that assumes their mean.
        threat_model: Option<ThreatModel>,
    },
    /// The target's steps are not drawn by the sampler that was passed.
    SamplerRefuted {
        /// The sampler that was passed.
        passed: SamplerKind,
        /// The only placement that is not refuted, if there is exactly one.
        shown: Option<Placement>,
        /// What refutes the sampler.
        by: SamplerContradiction,
    },
    /// Several sizes of the shuffle buffer were tested; they share the significance.
    BufferSearched {
        /// Batches of the prefix that leaks most.
        prefix: u32,
        /// Prefixes that were tested.
        hypotheses: u32,
    },
    /// Runs without a finite score; they count against the attack.
    FailedRuns {
        /// Runs of D.
        target: u64,
        /// Runs of D′.
        zero_out: u64,
    },
    /// Scores of D are lower than those of D′.
    ScoresReversed {
        /// Its upper limit is below 1/2.
        auc: Auc,
    },
    /// The number of counted observations is not the planned one.
    PartialRun {
        /// Counted observations of both worlds.
        counted: u64,
        /// Planned observations of both worlds.
        planned: u64,
    },
    /// Outputs of trained models vary less than the noise.
    NoiseTooSmall {
        /// Variance of the outputs around their batch mean ÷ variance of the noise.
        residual_variance: f64,
        /// Its standard error if only the noise differs.
        standard_error: f64,
    },
    /// Outputs of the canary's batch deviate from the mean that its gradient predicts.
    CanaryShifted {
        /// The deviation, in noise standard deviations.
        shift: f64,
        /// Its standard error if only noise and runs differ.
        standard_error: f64,
    },
}

impl Finding {
    /// Whether the finding invalidates the coverage of a bound, which leaves an estimate.
    ///
    /// Limits of an error rate need independent runs of one world, of exactly the planned number.
    /// Noise that both worlds share costs no coverage: a union bound combines the limits of the two
    /// rates.
    #[must_use]
    pub const fn costs_coverage(&self) -> bool {
        match self {
            Finding::Dependence { dependence, .. } => dependence.is_within_a_world(),
            Finding::PartialRun { .. } | Finding::NoiseInOneWorld { .. } => true,
            Finding::NoNoise { .. }
            | Finding::NoiseReused { .. }
            | Finding::OrderFixed { .. }
            | Finding::NoCanary { .. }
            | Finding::CanarySizeDiffers { .. }
            | Finding::WorldsSwapped { .. }
            | Finding::OutputsNegated { .. }
            | Finding::OtherBatchesDiffer { .. }
            | Finding::NoiseBelowStated { .. }
            | Finding::NoiseAboveStated { .. }
            | Finding::NoiseDiffersByStep { .. }
            | Finding::NoNoiseAtSteps { .. }
            | Finding::NoNoiseInEmptyBatches { .. }
            | Finding::NoiseDiffersByWorld { .. }
            | Finding::UsesDiffer { .. }
            | Finding::OutputsScaled { .. }
            | Finding::RecordsNotClipped { .. }
            | Finding::OutputsDiffer { .. }
            | Finding::SamplerRefuted { .. }
            | Finding::BufferSearched { .. }
            | Finding::FailedRuns { .. }
            | Finding::ScoresReversed { .. }
            | Finding::NoiseTooSmall { .. }
            | Finding::CanaryShifted { .. } => false,
        }
    }

    /// Whether the data contradict what the bound assumes of an attacker, so that a claim that it does
    /// not refute stays open.
    #[must_use]
    pub const fn leaves_claims_open(&self) -> bool {
        matches!(
            self,
            Finding::OrderFixed { is_audited: false, .. }
                | Finding::NoCanary { .. }
                | Finding::CanarySizeDiffers { .. }
                | Finding::WorldsSwapped { .. }
                | Finding::OutputsNegated { .. }
                | Finding::OtherBatchesDiffer { .. }
                | Finding::SamplerRefuted { .. }
                | Finding::NoiseReused { .. }
                | Finding::NoiseBelowStated { .. }
                | Finding::NoiseDiffersByStep { .. }
                | Finding::NoNoiseAtSteps { .. }
                | Finding::NoNoiseInEmptyBatches { .. }
                | Finding::NoiseDiffersByWorld { .. }
                | Finding::UsesDiffer { .. }
                | Finding::OutputsScaled { .. }
                | Finding::RecordsNotClipped { .. }
                | Finding::OutputsDiffer { .. }
                | Finding::ScoresReversed { .. }
        )
    }

    /// Whether the data contradict the training as it was described, so that what theory proves of the
    /// description says nothing about them.
    #[must_use]
    pub const fn contradicts_description(&self) -> bool {
        self.leaves_claims_open() || matches!(self, Finding::NoiseAboveStated { .. })
    }

    /// The findings of checks of independence.
    pub fn of_checks(checks: &IndependenceChecks) -> impl Iterator<Item = Self> {
        checks.dependences().map(|(world, p_value, dependence)| Finding::Dependence {
            world,
            p_value,
            dependence,
        })
    }

    /// Runs without a finite score, if there are any.
    #[must_use]
    pub fn failed_runs(target: u64, zero_out: u64) -> Option<Self> {
        (target > 0 || zero_out > 0).then_some(Finding::FailedRuns { target, zero_out })
    }

    /// Scores whose AUC is below 1/2, with a chance of a false alarm of at most 5·10⁻⁴.
    #[must_use]
    pub fn scores_reversed(trade_off: &TradeOff) -> Option<Self> {
        if trade_off.is_above_in_half() {
            return None; // counting all pairs would slow every audit of scores
        }
        let auc = Auc::of(trade_off, FALSE_ALARM).ok()?;
        auc.is_reversed().then_some(Finding::ScoresReversed { auc })
    }

    /// A residual variance that lies more than 6 standard errors below 1.
    #[must_use]
    pub fn noise_too_small(residual_variance: f64, standard_error: f64) -> Option<Self> {
        let is_small = residual_variance < 1.0 - NOTABLE * standard_error;
        is_small.then_some(Finding::NoiseTooSmall { residual_variance, standard_error })
    }

    /// A shift of the canary's outputs by more than 6 standard errors.
    #[must_use]
    pub fn canary_shifted(shift: f64, standard_error: f64) -> Option<Self> {
        let is_far = shift.abs() > NOTABLE * standard_error;
        is_far.then_some(Finding::CanaryShifted { shift, standard_error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: CanarySize =
        CanarySize { value: -1.0, lower: -1.2, upper: -0.8, significance: 1e-3 };

    fn noise_below_stated() -> Finding {
        let noise = OutputParameter { value: 0.5, lower: 0.4, upper: 0.6 };
        Finding::NoiseBelowStated { epochs: None, noise, stated: 1.0, phases: 1 }
    }

    fn dependence(dependence: Dependence) -> Finding {
        Finding::Dependence { world: None, p_value: 1e-9, dependence }
    }

    #[test]
    fn only_dependence_within_a_world_and_partial_runs_cost_coverage() {
        let positions = (30, 40, 10);
        let (hits, guesses, steps) = positions;
        for (finding, expected) in [
            (dependence(Dependence::DuplicatedRuns { copies: 1, runs: 9, first: None }), true),
            (
                dependence(Dependence::RepeatedPositionsOverRuns { hits, guesses, steps, step: 3 }),
                false,
            ),
            (dependence(Dependence::IdenticalRuns { runs: 9 }), true),
            (dependence(Dependence::RepeatedScores { values: 40, times: 2, runs: 80 }), true),
            (dependence(Dependence::SharedScores { of: World::Target, values: 9, times: 1 }), true),
            (dependence(Dependence::LagOneCorrelation { correlation: 0.5 }), true),
            (dependence(Dependence::RepeatedPositionsOverEpochs { hits, guesses, steps }), false),
            (dependence(Dependence::SharedNoise { correlation: 0.5 }), false),
            (Finding::PartialRun { counted: 1, planned: 2 }, true),
            (Finding::NoNoise { world: World::Target }, false),
            (Finding::NoiseInOneWorld { without: World::ZeroOut }, true),
            (Finding::OrderFixed { step: 3, is_audited: false }, false),
            (Finding::NoCanary { size: SIZE }, false),
            (Finding::NoNoiseAtSteps { epochs: None, step: 7, steps: 1, world: None }, false),
            (Finding::WorldsSwapped { size: SIZE }, false),
            (Finding::OutputsNegated { size: SIZE }, false),
            (Finding::NoiseReused { share: 0.5, expected: 0.08, is_over_epochs: false }, false),
            (noise_below_stated(), false),
            (
                Finding::SamplerRefuted {
                    passed: SamplerKind::Poisson,
                    shown: Some(Placement::Shuffle),
                    by: SamplerContradiction::Uses { p_value: 0.0, mean: 1.0 },
                },
                false,
            ),
            (Finding::BufferSearched { prefix: 3, hypotheses: 9 }, false),
            (Finding::FailedRuns { target: 1, zero_out: 0 }, false),
            (Finding::ScoresReversed { auc: Auc { value: 0.4, lower: 0.3, upper: 0.49 } }, false),
            (Finding::NoiseTooSmall { residual_variance: 0.5, standard_error: 0.01 }, false),
            (Finding::CanaryShifted { shift: 0.5, standard_error: 0.01 }, false),
        ] {
            assert_eq!(finding.costs_coverage(), expected, "{finding:?}");
        }
    }

    #[test]
    fn residuals_are_findings_from_six_standard_errors_on() {
        assert!(Finding::noise_too_small(0.9, 0.01).is_some());
        assert_eq!(Finding::noise_too_small(0.95, 0.01), None);
        assert_eq!(Finding::noise_too_small(1.5, 0.01), None);
        assert!(Finding::canary_shifted(-0.07, 0.01).is_some());
        assert_eq!(Finding::canary_shifted(0.05, 0.01), None);
        assert_eq!(Finding::failed_runs(0, 0), None);
    }
}
