//! Training on the CPU threads of this machine.

use std::fmt;

use dpscope_core::adjacency::World;
use dpscope_core::audit::AuditHistograms;
use dpscope_core::audit::histogram::ScoreBins;
use dpscope_engine::{Control, Device, EngineError, UnitRange};
use dpscope_simulation::{TrainingState, TrainingTally, TwoWorlds};
use rayon::prelude::*;

use crate::observed::RunResult;
use crate::run::Runner;
use crate::threads::Threads;
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

/// Trains models with DP-SGD on the CPU, one run per thread.
#[derive(Debug)]
pub struct DpSgd {
    training: Training,
    threads: Threads,
    sink: Option<Box<dyn OutputSink>>,
}

impl DpSgd {
    /// Creates a trainer with `threads` threads; 0 means one per core.
    ///
    /// # Errors
    /// The operating system provides no threads.
    pub fn new(training: Training, threads: usize) -> Result<Self, TrainError> {
        let threads = Threads::new(threads)?;
        Ok(DpSgd { training, threads, sink: None })
    }

    /// Sends the outputs of all runs to a sink.
    #[must_use]
    pub fn with_sink(self, sink: Box<dyn OutputSink>) -> Self {
        DpSgd { sink: Some(sink), ..self }
    }

    /// The training.
    #[must_use]
    pub fn training(&self) -> &Training {
        &self.training
    }

    /// The threads.
    #[cfg(feature = "gpu")]
    pub(crate) fn threads(&self) -> &Threads {
        &self.threads
    }

    /// World and number of each run in a range, those of D first.
    pub(crate) fn runs(range: UnitRange) -> Vec<(World, u64)> {
        let of_world = |&world| (range.first..range.end).map(move |run| (world, run));
        World::BOTH.iter().flat_map(of_world).collect()
    }

    /// Saves the results of [`runs`](Self::runs), in that order, and adds up their tallies.
    pub(crate) fn collect_runs(
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
        let Some(sink) = &self.sink else { return Ok(()) };
        let length = self.training.outputs_per_run();
        let mut outputs = Vec::with_capacity(results.len() * length);
        for (run, result) in results.iter().enumerate() {
            outputs.extend_from_slice(&result.outputs);
            outputs.resize((run + 1) * length, f32::NAN);
        }
        sink.save(world, range, &outputs).map_err(EngineError::Control)
    }

    /// Name and float mode: the order of sums depends on the machine.
    pub(crate) fn device(&self) -> Device {
        self.threads.device()
    }

    /// Minimum number of runs of each world that occupies all threads.
    #[must_use]
    pub fn smallest_wave(&self) -> u64 {
        self.threads.count().div_ceil(2) as u64
    }

    /// Trains and scores the runs `range` of both worlds.
    ///
    /// # Errors
    /// Cancelled by `control`; an error of the sink.
    pub fn train(
        &self,
        range: UnitRange,
        control: &dyn Control,
    ) -> Result<WaveScores, EngineError> {
        let keep_going = || control.keep_going();
        let train = |runner: &mut Runner<'_>, (world, run): (World, u64)| {
            let mut tally = TrainingTally::default();
            let result = runner.run(world, run, &mut tally, &keep_going)?;
            Some((result, tally))
        };
        let runner = || Runner::new(&self.training);
        let trained: Option<Vec<(RunResult, TrainingTally)>> = self
            .threads
            .install(|| Self::runs(range).into_par_iter().map_init(runner, train).collect());
        self.collect_runs(range, trained.ok_or(EngineError::Stopped)?)
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
