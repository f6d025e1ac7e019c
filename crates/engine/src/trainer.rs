//! Observations from training: models are trained and their outputs are scored.

use std::fmt;

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreBins;

use crate::backend::{WaveCounts, Work};
use crate::control::Control;
use crate::tally::TrainingTally;
use crate::{EngineError, ObservationRange};

/// Scores of one wave of trained runs.
#[derive(Debug, Clone)]
pub struct WaveScores {
    /// The runs of each world: those requested, or the first of them.
    pub range: ObservationRange,
    /// Scores of each world in nats; one that is not finite marks a failed run.
    pub scores: [Vec<f64>; 2],
    /// Other statistics of each world.
    pub tallies: [TrainingTally; 2],
    /// Whether the CPU replaced a failed device.
    pub is_fallback: bool,
}

/// Trains models. Runs are independent of each other, and each is a function of plan and index.
pub trait Trainer: fmt::Debug + Send + Sync {
    /// Everything that determines the training except the plan, as JSON of at most 65,536 bytes
    /// without control characters.
    fn description(&self) -> &str;

    /// Name of the device, for reports.
    fn device(&self) -> String;

    /// Minimum number of runs of each world that occupies the whole device.
    fn smallest_wave(&self) -> u64;

    /// Name of the CPU that replaces the device when it fails, for reports.
    fn fallback_device(&self) -> String {
        self.device()
    }

    /// Trains and scores the runs `range` of both worlds, or the first of them.
    ///
    /// # Errors
    /// Cancelled by `control`, or the device fails.
    fn train(
        &self,
        range: ObservationRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError>;
}

/// Trains a wave and counts its scores.
pub(crate) fn count_wave(
    trainer: &dyn Trainer,
    work: Work<'_>,
    range: ObservationRange,
) -> Result<WaveCounts, EngineError> {
    let started = work.control.now_ms();
    let WaveScores { range, scores, tallies, is_fallback } = trainer.train(range, work.control)?;
    let mut histograms = AuditHistograms::empty(work.bins);
    for (world, scores) in World::BOTH.into_iter().zip(&scores) {
        for (run, &score) in (range.first..range.end).zip(scores) {
            histograms.add(work.bins, world, run, binned(work.bins, world, score));
        }
    }
    Ok(WaveCounts {
        range,
        histograms,
        sampling_ms: work.control.now_ms() - started,
        is_fallback,
        tallies: Some(tallies),
    })
}

/// A score in the unit of the bins; that of a failed run is an error at every threshold.
fn binned(bins: &ScoreBins, world: World, score: f64) -> i64 {
    if score.is_finite() {
        return (score / bins.unit()).round_ties_even() as i64;
    }
    match world {
        World::Target => i64::MIN,
        World::ZeroOut => i64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::CpuBackend;
    use crate::plan::tests::plan;
    use crate::{
        Artefact, ArtefactError, Backend, Layout, MergeOptions, Plan, Shard, TrainingDigest,
        Unattended, merge, run,
    };

    /// Scores with a shift between the worlds, a function of the run's index; every tenth run fails.
    #[derive(Debug)]
    struct Scripted {
        description: &'static str,
        failing: bool,
        /// From this run on, the fallback device trains 500 runs at a time.
        lost_at: u64,
    }

    impl Trainer for Scripted {
        fn description(&self) -> &str {
            self.description
        }

        fn device(&self) -> String {
            "scripted".to_owned()
        }

        fn fallback_device(&self) -> String {
            "fallback".to_owned()
        }

        fn smallest_wave(&self) -> u64 {
            3
        }

        fn train(
            &self,
            range: ObservationRange,
            _: &dyn Control,
        ) -> Result<WaveScores, EngineError> {
            let is_fallback = range.first >= self.lost_at;
            let max = if is_fallback { 500 } else { u64::MAX };
            let end = range.end.min(range.first.saturating_add(max));
            let range = ObservationRange { end, ..range };
            let mut tallies = [TrainingTally::default(); 2];
            let worlds = [(0, 0.5), (1, -0.5)];
            let scores = worlds.map(|(world, shift)| {
                let tally: &mut TrainingTally = &mut tallies[world];
                let mut score = |run: u64| {
                    tally.runs += 1;
                    let spread = (run as f64 * 0.618_033_988_749_894_9).fract() - 0.5;
                    tally.add_residual(spread, run.is_multiple_of(7));
                    let fails = self.failing && run.is_multiple_of(10);
                    tally.failed += u64::from(fails);
                    if fails { f64::NAN } else { shift + 2.0 * spread }
                };
                (range.first..range.end).map(&mut score).collect()
            });
            Ok(WaveScores { range, scores, tallies, is_fallback })
        }
    }

    const SCRIPTED: Scripted = Scripted { description: "{}", failing: false, lost_at: u64::MAX };

    fn of(trainer: &Scripted) -> Plan {
        Plan { training: Some(TrainingDigest::of(trainer.description)), ..plan() }
    }

    fn counted(trainer: Scripted, shard: Shard) -> Artefact {
        let plan = of(&trainer);
        let (valid, cpu) = (plan.validated().unwrap(), CpuBackend::new(1).unwrap());
        let layout = Layout::of(&valid, &cpu, &|| true).unwrap();
        let start = Artefact::empty(&valid, layout, shard.range(&plan).unwrap())
            .with_training(trainer.description);
        let backend = Backend::Trainer(Box::new(trainer), cpu);
        pollster::block_on(run(&valid, start, &backend, &Unattended)).unwrap()
    }

    #[test]
    fn runs_are_counted_saved_and_merged() {
        let whole = counted(SCRIPTED, Shard::WHOLE);
        assert!(whole.is_complete());
        let tally = whole.training.as_ref().unwrap().whole();
        assert_eq!((tally.runs, tally.outputs, tally.failed), (20_000, 20_000, 0));
        assert!((tally.residual_variance().unwrap() - 1.0 / 12.0).abs() < 1e-3);
        assert!(tally.bias().unwrap().abs() < 1e-3);
        assert!(tally.canary_shift().unwrap().abs() < 1e-2);
        let back = Artefact::from_bytes(&whole.to_bytes()).unwrap();
        assert_eq!((&back.training, back.plan), (&whole.training, whole.plan));
        let parts = (1..=3).map(|index| counted(SCRIPTED, Shard { index, count: 3 })).collect();
        let merged = merge(parts, MergeOptions::default()).unwrap();
        assert_eq!(merged.training, whole.training);
        assert_eq!(merged.histogram_digest(), whole.histogram_digest());
    }

    #[test]
    fn the_fallback_of_a_lost_device_is_named_and_loses_no_run() {
        let whole = counted(SCRIPTED, Shard::WHOLE);
        assert_eq!((whole.fallback_shards, &whole.devices[..]), (0, &["scripted".to_owned()][..]));
        let lost = counted(Scripted { lost_at: 1_700, ..SCRIPTED }, Shard::WHOLE);
        assert_eq!(lost.devices, ["scripted", "fallback"]);
        assert!((1..=40).contains(&lost.fallback_shards), "{}", lost.fallback_shards);
        assert_eq!(lost.float_modes, whole.float_modes);
        assert_eq!(lost.histogram_digest(), whole.histogram_digest());
        assert_eq!(lost.training, whole.training);
    }

    #[test]
    fn failed_runs_are_errors_at_every_threshold() {
        let failing = Scripted { failing: true, ..SCRIPTED };
        let state = counted(failing, Shard::WHOLE);
        let (right, fallen) = (counted(SCRIPTED, Shard::WHOLE), state.outcome().unwrap());
        assert_eq!(state.training.as_ref().unwrap().tally(World::Target).failed, 1_000);
        let errors = fallen.evidence().errors;
        assert!(errors.false_positives >= 1_000 && errors.false_negatives >= 1_000, "{errors:?}");
        assert!(fallen.value() < right.outcome().unwrap().value());
    }

    #[test]
    fn a_training_that_differs_from_the_plan_is_refused() {
        let state = counted(SCRIPTED, Shard { index: 1, count: 2 });
        let valid = state.plan.validated().unwrap();
        let refused = |backend: Backend, state: Artefact| {
            let ran = pollster::block_on(run(&valid, state, &backend, &Unattended));
            matches!(ran, Err(EngineError::Artefact(ArtefactError::TrainingMismatch { .. })))
        };
        let other = Scripted { description: "[]", ..SCRIPTED };
        assert!(refused(
            Backend::Trainer(Box::new(other), CpuBackend::new(1).unwrap()),
            state.clone()
        ));
        assert!(refused(Backend::Cpu(CpuBackend::new(1).unwrap()), state.clone()));
        let mut without = state.clone();
        without.training = None;
        let bytes = without.to_bytes();
        assert!(matches!(Artefact::from_bytes(&bytes), Err(ArtefactError::Inconsistent { .. })));
        let mut without_tallies = state.clone();
        without_tallies.training = None;
        let ran = pollster::block_on(run(
            &valid,
            without_tallies,
            &Backend::Trainer(Box::new(SCRIPTED), CpuBackend::new(1).unwrap()),
            &Unattended,
        ));
        let inconsistent =
            |error| matches!(error, EngineError::Artefact(ArtefactError::Inconsistent { .. }));
        assert!(ran.is_err_and(inconsistent));
        let mut few = state;
        few.training.as_mut().unwrap().target.runs -= 1;
        let bytes = few.to_bytes();
        assert!(matches!(Artefact::from_bytes(&bytes), Err(ArtefactError::Inconsistent { .. })));
    }
}
