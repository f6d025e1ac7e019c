//! How well models reveal which canaries they were trained on.

use dpscope_core::audit::Auc;
use dpscope_core::audit::trade_off::TradeOff;

use super::split::{Half, Stream};
use super::state::MeanAuc;
use super::{CanaryOptimization, Interruption};

/// Scores of all canaries after several trainings with fresh splits.
///
/// A score is minus the loss of the final model at the canary. Trainings come in pairs: a split and
/// its complement.
#[derive(Debug, Clone, PartialEq)]
pub struct CanaryEvaluation {
    /// Whether each canary was IN, training by training.
    pub is_included: Vec<Vec<bool>>,
    /// Its scores.
    pub scores: Vec<Vec<f64>>,
}

impl CanaryOptimization<'_> {
    /// Trains models on fresh splits, number `comparison` of its kind; canaries compared under the
    /// same number have the same splits, initial parameters and orders.
    ///
    /// # Errors
    /// Diverged or cancelled.
    pub fn evaluate(
        &self,
        comparison: u32,
        splits: u32,
        canaries: &[f32],
    ) -> Result<CanaryEvaluation, Interruption> {
        self.evaluate_in(Stream::Comparison(comparison), splits, canaries)
    }

    pub(super) fn evaluate_in(
        &self,
        stream: Stream,
        splits: u32,
        canaries: &[f32],
    ) -> Result<CanaryEvaluation, Interruption> {
        let inputs = self.network.inputs();
        let trained = self.on_halves(stream, splits, |derivatives, training, _| {
            let theta = training.train(derivatives, canaries)?;
            let rows = canaries.chunks_exact(inputs).zip(self.labels);
            let score = |(row, &label): (&[f32], &u32)| {
                -f64::from(self.network.loss(&theta, row, label as usize))
            };
            let scores: Vec<f64> = rows.map(score).collect();
            match scores.iter().all(|score| score.is_finite()) {
                true => Ok(scores),
                false => Err(Interruption::Diverged),
            }
        })?;
        let scores: Result<Vec<Vec<f64>>, Interruption> = trained.into_iter().collect();
        let halves = |split: u32| {
            let split = self.split(stream, split);
            [Half::First, Half::Second].map(|half| split.is_included(half))
        };
        let is_included = (0..splits).flat_map(halves).collect();
        Ok(CanaryEvaluation { is_included, scores: scores? })
    }
}

impl CanaryEvaluation {
    /// AUC of all canaries by score; mean over trainings.
    #[must_use]
    pub fn raw(&self) -> MeanAuc {
        self.over_trainings(&self.scores)
    }

    /// As [`Self::raw`], of scores less the canary's mean score in the other trainings without it:
    /// an attacker who trains reference models knows that mean. Trainings of the same split are
    /// left out of it.
    #[must_use]
    pub fn calibrated(&self) -> MeanAuc {
        self.over_trainings(&self.calibrated_scores())
    }

    /// Scores less the mean score of the other splits' trainings without the canary.
    #[must_use]
    pub fn calibrated_scores(&self) -> Vec<Vec<f64>> {
        let reference = |own: usize, canary: usize| {
            let others = (0..self.scores.len())
                .filter(|other| other / 2 != own / 2 && !self.is_included[*other][canary]);
            mean(others.map(|other| self.scores[other][canary]))
        };
        let calibrated = |(own, scores): (usize, &Vec<f64>)| {
            let scores = scores.iter().enumerate();
            scores.map(|(canary, score)| score - reference(own, canary)).collect()
        };
        self.scores.iter().enumerate().map(calibrated).collect()
    }

    /// AUC of a canary by its scores in trainings with and without it; mean over canaries.
    #[must_use]
    pub fn per_canary(&self) -> MeanAuc {
        let all: Vec<usize> = (0..self.scores.len()).collect();
        let value = self.per_canary_of(&all);
        // jackknife over splits
        let splits = self.scores.len() / 2;
        let without = |split: usize| -> f64 {
            let rest: Vec<usize> = all.iter().copied().filter(|run| run / 2 != split).collect();
            self.per_canary_of(&rest)
        };
        let values: Vec<f64> = (0..splits).map(without).collect();
        let centre = mean(values.iter().copied());
        let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
        let standard_error = (squares * (splits as f64 - 1.0) / splits as f64).sqrt();
        MeanAuc { value, standard_error }
    }

    fn per_canary_of(&self, trainings: &[usize]) -> f64 {
        let canaries = self.scores.first().map_or(0, Vec::len);
        let auc = |canary: usize| {
            let scores = |is_in: bool| -> Vec<f64> {
                let own = trainings.iter().filter(|run| self.is_included[**run][canary] == is_in);
                own.map(|&run| self.scores[run][canary]).collect()
            };
            area(&scores(true), &scores(false))
        };
        mean((0..canaries).filter_map(auc))
    }

    fn over_trainings(&self, scores: &[Vec<f64>]) -> MeanAuc {
        let auc = |(is_included, scores): (&Vec<bool>, &Vec<f64>)| {
            let of = |is_in: bool| -> Vec<f64> {
                let own = is_included.iter().zip(scores).filter(|(own, _)| **own == is_in);
                own.map(|(_, score)| *score).collect()
            };
            area(&of(true), &of(false)).unwrap_or(0.5)
        };
        let areas: Vec<f64> = self.is_included.iter().zip(scores).map(auc).collect();
        let splits: Vec<f64> = areas.chunks(2).map(|pair| mean(pair.iter().copied())).collect();
        let value = mean(splits.iter().copied());
        let squares: f64 = splits.iter().map(|one| (one - value) * (one - value)).sum();
        let degrees = (splits.len() as f64 - 1.0).max(1.0);
        MeanAuc { value, standard_error: (squares / degrees / splits.len() as f64).sqrt() }
    }
}

/// Area under the ROC; none without scores on both sides.
fn area(included: &[f64], excluded: &[f64]) -> Option<f64> {
    let trade_off = TradeOff::from_scores(included, excluded).ok()?;
    Auc::of(&trade_off, 0.05).ok().map(|auc| auc.value)
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}
