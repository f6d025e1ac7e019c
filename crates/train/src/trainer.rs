//! Runs of DP-SGD in both worlds as models of a plan.

use std::borrow::Borrow;
use std::fmt;

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::{ArtefactError, Control, EngineError, Plan as _, UnitRange};
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{
    Layout, Plan, TrainingDigest, TrainingState, TrainingTally, TwoWorlds, ValidPlan,
};

use crate::models::{Models, Protocol, Trainer};
use crate::observed::RunResult;
use crate::run::Runner;
use crate::{TrainError, Training};

/// Scores of some trained runs.
#[derive(Debug, Clone)]
pub struct WaveScores {
    /// The runs of each world: those requested, or the first of them.
    pub range: UnitRange,
    /// Scores of each world in nats; one that is not finite marks a failed run.
    pub scores: [Vec<f64>; 2],
    /// Other statistics of each world.
    pub tallies: [TrainingTally; 2],
}

impl WaveScores {
    /// Counts the scores.
    pub(crate) fn evidence(&self, bins: &ScoreBins) -> TwoWorlds {
        let WaveScores { range, scores, tallies } = self;
        let mut histograms = AuditHistograms::empty(bins);
        for (world, scores) in World::BOTH.into_iter().zip(scores) {
            for (run, &score) in (range.first..range.end).zip(scores) {
                histograms.add(bins, world, run, binned(bins, world, score));
            }
        }
        let mut training = TrainingState::new("");
        training.add(tallies);
        TwoWorlds { histograms, training: Some(training) }
    }
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

/// Receives the outputs of all runs.
pub trait OutputSink: fmt::Debug + Send + Sync {
    /// Saves the outputs of runs `range` of a world: run by run, epoch by epoch, E·T per run;
    /// outputs missing from a failed run are NaN.
    ///
    /// # Errors
    /// Any error of the implementation, for example a full disk; it ends the audit.
    fn save(
        &self,
        world: World,
        range: UnitRange,
        outputs: &[f32],
    ) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;
}

/// Trains models with DP-SGD, the runs of both worlds.
pub type DpSgd = Trainer<Training>;

/// A plan whose observations are runs of a training. Its bins and thresholds are those of the
/// mechanism, simulated.
///
/// # Guarantee
/// A failed run is counted as an error of the attacker at every threshold
/// (`crates/train/src/trainer.rs::failed_runs_are_errors_at_every_threshold`).
pub type TrainedModels = Models<Training>;

/// A plan, and the CPU that runs its pilots.
#[derive(Debug)]
pub struct PilotedPlan {
    plan: ValidPlan,
    pilots: CpuBackend,
}

impl Borrow<Plan> for PilotedPlan {
    fn borrow(&self) -> &Plan {
        self.plan.plan()
    }
}

impl TrainedModels {
    /// A plan with its trainer, and the CPU that runs pilots.
    ///
    /// # Errors
    /// A plan of another training, or of a simulated mechanism.
    pub fn new(plan: ValidPlan, trainer: DpSgd, pilots: CpuBackend) -> Result<Self, EngineError> {
        let what = match plan.plan().training {
            Some(digest) if digest == TrainingDigest::of(trainer.training().description()) => {
                return Ok(Models { planned: PilotedPlan { plan, pilots }, trainer });
            }
            Some(_) => {
                "it was written for a different model, data set or options; pass the ones that the \
                 run was started with"
            }
            None => "it counts a simulated mechanism, not trained models; name another file",
        };
        Err(ArtefactError::WorkloadMismatch { what }.into())
    }
}

impl DpSgd {
    /// Creates a trainer with `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// The operating system provides no threads.
    pub fn new(training: Training, threads: usize) -> Result<Self, TrainError> {
        Trainer::with(training, None, threads)
    }

    /// Sends the outputs of all runs to a sink.
    #[must_use]
    pub fn with_sink(mut self, sink: Box<dyn OutputSink>) -> Self {
        self.context = Some(sink);
        self
    }

    /// Trains and scores the runs `range` of both worlds, on the CPU.
    ///
    /// # Errors
    /// Cancelled by `control`; an error of the sink.
    pub fn train_on_cpu(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        self.scores(range, self.models_on_cpu(range, control)?)
    }

    /// Trains and scores the runs `range` of both worlds, or the first of them.
    ///
    /// # Errors
    /// The device fails; cancelled by `control`; an error of the sink.
    #[cfg(feature = "gpu")]
    pub async fn train(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        let (range, results) = self.models(range, control).await?;
        self.scores(range, results)
    }

    /// Saves the results of runs, those of D first, and adds up their tallies.
    fn scores(
        &self,
        range: UnitRange,
        mut results: Vec<(RunResult, TrainingTally)>,
    ) -> Result<WaveScores, EngineError> {
        let zero_out = results.split_off(range.len() as usize);
        let (target, first) = of_world(results);
        let (zero_out, second) = of_world(zero_out);
        self.save(World::Target, range, &target)?;
        self.save(World::ZeroOut, range, &zero_out)?;
        let scores =
            [&target, &zero_out].map(|results| results.iter().map(|result| result.score).collect());
        Ok(WaveScores { range, scores, tallies: [first, second] })
    }

    fn save(
        &self,
        world: World,
        range: UnitRange,
        results: &[RunResult],
    ) -> Result<(), EngineError> {
        let Some(sink) = &self.context else { return Ok(()) };
        let length = self.training().outputs_per_run();
        let mut outputs = Vec::with_capacity(results.len() * length);
        for (run, result) in results.iter().enumerate() {
            outputs.extend_from_slice(&result.outputs);
            outputs.resize((run + 1) * length, f32::NAN);
        }
        sink.save(world, range, &outputs).map_err(EngineError::Control)
    }
}

impl Protocol for Training {
    type Plan = Plan;
    type Planned = PilotedPlan;
    /// Where outputs go.
    type Context = Option<Box<dyn OutputSink>>;
    type Model = (RunResult, TrainingTally);
    type Scratch<'a> = Runner<'a>;

    const MODELS_PER_UNIT: u64 = 2;

    fn description(&self) -> &str {
        self.description()
    }

    fn scratch(&self) -> Runner<'_> {
        Runner::new(self)
    }

    fn train<'a>(
        &'a self,
        _: &Self::Context,
        stream: u64,
        runner: &mut Runner<'a>,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Self::Model> {
        runner.run(stream, keep_going)
    }

    fn first_stage(
        &self,
        PilotedPlan { plan, pilots }: &PilotedPlan,
        keep_going: &(dyn Fn() -> bool + Sync),
    ) -> Result<Layout, EngineError> {
        Layout::of(plan, pilots, keep_going)
    }

    fn empty(&self, planned: &PilotedPlan, layout: &Layout) -> TwoWorlds {
        let training = Some(TrainingState::new(self.description()));
        TwoWorlds { training, ..planned.plan.plan().empty(layout) }
    }

    fn described(evidence: &TwoWorlds) -> Option<&str> {
        evidence.training.as_ref().map(|training| &training.description[..])
    }

    fn evidence(
        trainer: &DpSgd,
        layout: &Layout,
        range: UnitRange,
        models: Vec<Self::Model>,
    ) -> Result<TwoWorlds, EngineError> {
        Ok(trainer.scores(range, models)?.evidence(&layout.bins))
    }
}

fn of_world(trained: Vec<(RunResult, TrainingTally)>) -> (Vec<RunResult>, TrainingTally) {
    let mut sum = TrainingTally::default();
    let results = trained.into_iter().map(|(result, tally)| {
        sum.add(&tally);
        result
    });
    (results.collect(), sum)
}

#[cfg(test)]
mod tests {
    use dpscope_core::audit::bound::{Statement, ThresholdRule};
    use dpscope_core::audit::trade_off::ErrorCounts;

    use super::*;

    /// Errors of the attacker at a threshold between the worlds, on a hundred runs of each; every tenth
    /// may fail.
    fn errors(fails: bool) -> ErrorCounts {
        let bins = ScoreBins::new(1.0, -8, 0, 16).unwrap();
        let mut tally = TrainingTally::default();
        tally.runs = 100;
        let scores = [4.0, -4.0].map(|score| {
            (0..100).map(|run| if fails && run % 10 == 0 { f64::NAN } else { score }).collect()
        });
        let wave =
            WaveScores { range: UnitRange { first: 0, end: 100 }, scores, tallies: [tally; 2] };
        let histograms = wave.evidence(&bins).histograms;
        let at = Statement { delta: 1e-5, significance: 0.05 };
        let rule = ThresholdRule::Simultaneous;
        histograms.evaluate(&bins, rule, &[0.0], at, true).unwrap().evidence().errors
    }

    #[test]
    fn failed_runs_are_errors_at_every_threshold() {
        let right = errors(false);
        assert_eq!((right.false_positives, right.false_negatives), (0, 0));
        let failing = errors(true);
        assert_eq!((failing.false_positives, failing.false_negatives), (10, 10));
    }
}
