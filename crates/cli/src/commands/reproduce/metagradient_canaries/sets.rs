//! The kinds of canaries.

use dpscope_core::random::{Purpose, Words};
use dpscope_train::Network;
use dpscope_train::data::{Examples, Packed};
use dpscope_train::metagradient::{
    CanaryEvaluation, CanaryOptimization, CanaryStart, Checkpointing, FeatureRanges, GradientPart,
    Interruption, OptimizationSettings,
};
use serde::Serialize;

use crate::failure::Failure;
use crate::progress::{RowProgress, is_interrupted};

/// Number of the comparison, which no other evaluation has.
const COMPARISON: u32 = 0;

/// A kind of canaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CanarySetKind {
    /// Records with their own labels.
    Random,
    /// The records of `random` with other labels.
    Mislabelled,
    /// Optimised along the direct part of the metagradient alone.
    DirectOnly,
    /// Optimised along metagradients.
    Optimised,
    /// Optimised along metagradients, then rounded to binary features.
    OptimisedRounded,
}

impl CanarySetKind {
    /// Its name in tables.
    pub(super) const fn name(self) -> &'static str {
        match self {
            CanarySetKind::Random => "random",
            CanarySetKind::Mislabelled => "mislabelled",
            CanarySetKind::DirectOnly => "direct part only",
            CanarySetKind::Optimised => "optimised",
            CanarySetKind::OptimisedRounded => "optimised, rounded",
        }
    }
}

/// Canaries of a kind.
pub(super) struct CanarySet<'a> {
    pub(super) kind: CanarySetKind,
    pub(super) values: Vec<f32>,
    /// Their labels and the base records.
    pub(super) start: &'a CanaryStart<'a>,
    pub(super) best_metasteps: Option<u64>,
    pub(super) skipped: u64,
}

/// The SGD trainings, in which canaries are optimised and compared.
pub(super) struct SgdTrainings<'a> {
    pub(super) network: &'a Network,
    pub(super) ranges: &'a FeatureRanges,
    pub(super) settings: &'a OptimizationSettings,
    pub(super) checkpointing: Checkpointing,
}

impl SgdTrainings<'_> {
    fn with<T>(
        &self,
        start: &CanaryStart<'_>,
        part: GradientPart,
        work: impl FnOnce(&CanaryOptimization<'_>) -> T,
    ) -> T {
        let settings = OptimizationSettings { part, ..self.settings.clone() };
        work(&CanaryOptimization {
            network: self.network,
            base: start,
            records: start.base_records(),
            labels: &start.labels,
            ranges: self.ranges,
            settings: &settings,
            checkpointing: self.checkpointing,
            device: None,
            keep_going: &|| !is_interrupted(),
        })
    }

    /// Optimises canaries, along all of the gradient or a part.
    pub(super) fn optimised<'a>(
        &self,
        start: &'a CanaryStart<'a>,
        part: GradientPart,
        progress: &RowProgress,
    ) -> Result<CanarySet<'a>, Failure> {
        let kind = match part {
            GradientPart::Whole => CanarySetKind::Optimised,
            GradientPart::Direct => CanarySetKind::DirectOnly,
        };
        self.with(start, part, |optimization| {
            let mut state = optimization.start(start.canaries.clone()).map_err(Failure::input)?;
            while !optimization.is_finished(&state) {
                progress.next(kind.name());
                optimization.step(&mut state).map_err(stopped)?;
            }
            if state.skipped() == state.metasteps() {
                return Err(stopped(Interruption::Diverged));
            }
            Ok(CanarySet {
                kind,
                values: state.best_canaries().to_vec(),
                start,
                best_metasteps: Some(state.best.as_ref().map_or(0, |best| best.metasteps.into())),
                skipped: state.skipped().into(),
            })
        })
    }

    /// Scores of the canaries after `splits` pairs of trainings.
    pub(super) fn evaluated(
        &self,
        set: &CanarySet<'_>,
        splits: u32,
    ) -> Result<CanaryEvaluation, Failure> {
        self.with(set.start, GradientPart::Whole, |optimization| {
            optimization.evaluate(COMPARISON, splits, &set.values).map_err(stopped)
        })
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

/// Records of the data as canaries.
pub(super) fn records_of<'a>(kind: CanarySetKind, start: &'a CanaryStart<'a>) -> CanarySet<'a> {
    let values = start.canaries.clone();
    CanarySet { kind, values, start, best_metasteps: None, skipped: 0 }
}

/// Optimised canaries with features of 0 and 1, where those of the data are.
pub(super) fn rounded<'a>(examples: &Examples, set: &CanarySet<'a>) -> Option<CanarySet<'a>> {
    matches!(examples.packed(), Packed::Bits { .. }).then(|| CanarySet {
        kind: CanarySetKind::OptimisedRounded,
        values: set.values.iter().map(|&value| if value >= 0.5 { 1.0 } else { 0.0 }).collect(),
        ..*set
    })
}

/// An evaluation of these scores with halves that are drawn after the trainings.
pub(super) fn with_redrawn_halves(
    scores: Vec<Vec<f64>>,
    evaluation: &CanaryEvaluation,
    seed: u64,
) -> CanaryEvaluation {
    let redrawn = |(training, halves): (u64, &Vec<bool>)| {
        let mut halves = halves.clone();
        Words::new(seed, Purpose::OneRunAudit, 1 << 40 | training).shuffle(&mut halves);
        halves
    };
    let is_included = (0..).zip(&evaluation.is_included).map(redrawn).collect();
    CanaryEvaluation { is_included, scores }
}
