//! Sets of canaries, and the SGD trainings in which they are optimised and compared.

use dpscope_core::random::{Purpose, Words};
use dpscope_train::metagradient::{
    CanaryEvaluation, CanaryOptimization, CanaryStart, GradientPart, Interruption,
    OptimizationSettings,
};

use super::trainings::Comparison;
use crate::failure::Failure;
use crate::progress::{RowProgress, is_interrupted};

/// Number of the comparison, which no other evaluation has.
const COMPARISON: u32 = 0;

/// Canaries of one kind.
pub(super) struct CanarySet<'a> {
    /// Its name in documents.
    pub(super) id: &'static str,
    /// Its name in tables.
    pub(super) name: &'static str,
    pub(super) values: Vec<f32>,
    /// Their labels and the base records.
    pub(super) start: &'a CanaryStart<'a>,
    /// Metasteps before these canaries; none where nothing was optimised.
    pub(super) best_metasteps: Option<u64>,
    /// Metasteps without effect, because a training diverged.
    pub(super) skipped: u64,
}

impl<'a> CanarySet<'a> {
    /// Records of the data as canaries.
    pub(super) fn records(name: &'static str, start: &'a CanaryStart<'a>) -> Self {
        let values = start.canaries.clone();
        Self { id: name, name, values, start, best_metasteps: None, skipped: 0 }
    }
}

impl Comparison {
    fn sgd<'a>(
        &'a self,
        start: &'a CanaryStart<'a>,
        settings: &'a OptimizationSettings,
    ) -> CanaryOptimization<'a> {
        CanaryOptimization {
            network: &self.network,
            base: start,
            records: start.base_records(),
            labels: &start.labels,
            ranges: &self.ranges,
            settings,
            checkpointing: self.checkpointing,
            device: None,
            keep_going: &|| !is_interrupted(),
        }
    }

    /// Optimises canaries along all of the gradient, or a part.
    pub(super) fn optimised<'a>(
        &self,
        (id, name): (&'static str, &'static str),
        start: &'a CanaryStart<'a>,
        part: GradientPart,
        progress: &RowProgress,
    ) -> Result<CanarySet<'a>, Failure> {
        let settings = OptimizationSettings { part, ..self.settings.clone() };
        let optimization = self.sgd(start, &settings);
        let mut state = optimization.start(start.canaries.clone()).map_err(Failure::input)?;
        while !optimization.is_finished(&state) {
            progress.next(name);
            optimization.step(&mut state).map_err(stopped)?;
        }
        if state.skipped() == state.metasteps() {
            return Err(stopped(Interruption::Diverged));
        }
        Ok(CanarySet {
            id,
            values: state.best_canaries().to_vec(),
            best_metasteps: Some(state.best.as_ref().map_or(0, |best| best.metasteps.into())),
            skipped: state.skipped().into(),
            ..CanarySet::records(name, start)
        })
    }

    /// Scores of the canaries after a pair of trainings for each repeat.
    pub(super) fn evaluated(&self, set: &CanarySet<'_>) -> Result<CanaryEvaluation, Failure> {
        let optimization = self.sgd(set.start, &self.settings);
        optimization.evaluate(COMPARISON, self.runs, &set.values).map_err(stopped)
    }
}

fn stopped(error: Interruption) -> Failure {
    match error {
        Interruption::Cancelled => Failure::interrupted(),
        _ => Failure::input(
            "the SGD trainings diverged on these data; scale the features to about 1",
        ),
    }
}

/// An evaluation with halves that are drawn after the trainings.
pub(super) fn with_redrawn_halves(evaluation: &CanaryEvaluation, seed: u64) -> CanaryEvaluation {
    let redrawn = |(training, halves): (u64, &Vec<bool>)| {
        let mut halves = halves.clone();
        Words::new(seed, Purpose::OneRunAudit, 1 << 40 | training).shuffle(&mut halves);
        halves
    };
    let is_included = (0..).zip(&evaluation.is_included).map(redrawn).collect();
    CanaryEvaluation { is_included, scores: evaluation.scores.clone() }
}
