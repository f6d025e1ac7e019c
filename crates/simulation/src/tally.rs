//! Statistics of trained runs beside their scores.

use dpscope_core::adjacency::World;
use dpscope_core::foreign_text;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::digest::TrainingDigest;

/// Maximum length of the description of a training, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 1 << 16;

/// Unit of summed residuals, in noise standard deviations.
const RESIDUAL_UNIT: f64 = 1.0 / 1_048_576.0;

/// Residuals are clipped to this, so that a diverging run does not hide the others.
const MAX_RESIDUAL: f64 = 1024.0;

/// Statistics of the runs of one world beside their scores; integers, so that sums do not depend on
/// their order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingTally {
    /// Number of runs.
    pub runs: u64,
    /// Number of runs whose outputs are not finite. They count against the attacker.
    pub failed: u64,
    /// Number of outputs of the other runs.
    pub outputs: u64,
    /// Σ of their residuals: output minus mean of its batch, in 2⁻²⁰ noise standard deviations.
    residual_sum: i64,
    /// Σ of the residuals' squares, in 2⁻²⁰.
    residual_squares: u64,
    /// Number of outputs of the batch that contains the target (D) or ⊥ (D′).
    pub canaries: u64,
    /// Σ of their residuals, in 2⁻²⁰.
    canary_sum: i64,
    /// Number of held-out examples that trained models classified.
    #[serde(rename = "asked")] // as artefacts have named it from the start
    pub evaluated: u64,
    /// Number of these classified correctly.
    pub correct: u64,
}

impl TrainingTally {
    /// Adds a residual, in noise standard deviations; `is_canary` if its batch contains the canary.
    pub fn add_residual(&mut self, residual: f64, is_canary: bool) {
        let residual = dpscope_core::math::clamp(residual, -MAX_RESIDUAL, MAX_RESIDUAL);
        self.outputs += 1;
        let change = (residual / RESIDUAL_UNIT).round_ties_even() as i64;
        let square = (residual * residual / RESIDUAL_UNIT).round_ties_even() as u64;
        if is_canary {
            self.canaries += 1;
            self.canary_sum = self.canary_sum.saturating_add(change);
        }
        self.residual_sum = self.residual_sum.saturating_add(change);
        self.residual_squares = self.residual_squares.saturating_add(square);
    }

    /// Adds the statistics of other runs.
    pub fn add(&mut self, other: &TrainingTally) {
        self.runs = self.runs.saturating_add(other.runs);
        self.failed = self.failed.saturating_add(other.failed);
        self.outputs = self.outputs.saturating_add(other.outputs);
        self.residual_sum = self.residual_sum.saturating_add(other.residual_sum);
        self.residual_squares = self.residual_squares.saturating_add(other.residual_squares);
        self.canaries = self.canaries.saturating_add(other.canaries);
        self.canary_sum = self.canary_sum.saturating_add(other.canary_sum);
        self.evaluated = self.evaluated.saturating_add(other.evaluated);
        self.correct = self.correct.saturating_add(other.correct);
    }

    /// Mean residual, in noise standard deviations: the contribution of the other records.
    #[must_use]
    pub fn bias(&self) -> Option<f64> {
        let mean = self.residual_sum as f64 * RESIDUAL_UNIT / self.outputs as f64;
        (self.outputs > 0).then_some(mean)
    }

    /// Mean residual of the canaries minus that of the other outputs, in noise standard deviations: 0
    /// if the norm of the canary's gradient is the clip norm.
    #[must_use]
    pub fn canary_shift(&self) -> Option<f64> {
        let others = self.outputs.checked_sub(self.canaries).filter(|&others| others > 0)?;
        let rest = self.residual_sum.saturating_sub(self.canary_sum);
        let mean = self.canary_sum as f64 / self.canaries as f64 - rest as f64 / others as f64;
        (self.canaries > 0).then_some(mean * RESIDUAL_UNIT)
    }

    /// Variance of the residuals, in noise variances: 1 if only the noise varies.
    #[must_use]
    pub fn residual_variance(&self) -> Option<f64> {
        let bias = self.bias()?;
        let square = self.residual_squares as f64 * RESIDUAL_UNIT / self.outputs as f64;
        Some(square - bias * bias)
    }

    /// Share of held-out examples classified correctly.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        (self.evaluated > 0).then(|| self.correct as f64 / self.evaluated as f64)
    }
}

/// The training of a run, with its statistics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingState {
    /// Everything that determines the training except the plan, as JSON: model, data, rates.
    pub description: String,
    pub(crate) target: TrainingTally,
    pub(crate) zero_out: TrainingTally,
}

impl TrainingState {
    /// The state before the first run.
    #[must_use]
    pub fn new(description: &str) -> Self {
        TrainingState { description: description.to_owned(), ..TrainingState::none() }
    }

    fn none() -> Self {
        let tally = TrainingTally::default();
        TrainingState { description: String::new(), target: tally, zero_out: tally }
    }

    /// The statistics of one world.
    #[must_use]
    pub fn tally(&self, world: World) -> &TrainingTally {
        match world {
            World::Target => &self.target,
            World::ZeroOut => &self.zero_out,
        }
    }

    /// The statistics of both worlds.
    #[must_use]
    pub fn whole(&self) -> TrainingTally {
        let mut whole = self.target;
        whole.add(&self.zero_out);
        whole
    }

    /// Adds the statistics of further runs.
    pub fn add(&mut self, [target, zero_out]: &[TrainingTally; 2]) {
        self.target.add(target);
        self.zero_out.add(zero_out);
    }

    pub(crate) fn absorb(&mut self, other: &TrainingState) {
        self.add(&[other.target, other.zero_out]);
    }

    /// Whether there are statistics of `runs` runs of each world.
    pub(crate) fn has_runs(&self, runs: u64) -> bool {
        [&self.target, &self.zero_out].iter().all(|tally| tally.runs == runs)
    }

    /// Whether the training has this digest and its tallies are consistent.
    pub(crate) fn fits(&self, digest: TrainingDigest) -> bool {
        let is_consistent = |tally: &TrainingTally| {
            tally.failed <= tally.runs
                && tally.canaries <= tally.outputs
                && tally.correct <= tally.evaluated
        };
        self.description.len() <= MAX_DESCRIPTION_BYTES
            && is_plain(&self.description)
            && serde_json::from_str::<IgnoredAny>(&self.description).is_ok()
            && TrainingDigest::of(&self.description) == digest
            && [&self.target, &self.zero_out].into_iter().all(is_consistent)
    }
}

/// Whether all text is safe to print: no character that is not, and no escape of one.
fn is_plain(json: &str) -> bool {
    let mut characters = json.chars();
    while let Some(character) = characters.next() {
        let is_escape = character == '\\';
        if is_escape && !matches!(characters.next(), Some('"' | '\\' | '/'))
            || !foreign_text::is_plain(character)
        {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_with_control_characters_are_refused() {
        let fits = |description: &str| {
            let digest = TrainingDigest::of(description);
            TrainingState::new(description).fits(digest)
        };
        assert!(fits(r#"{"data":{"name":"é\\\"x"},"sizes":[1,null,true]}"#));
        for bad in [
            r#"{"data":{"name":"\u001b[2J"}}"#,
            r#"["\u009b2J"]"#,
            r#"{"a\rb":1}"#,
            r#"["\u2066"]"#,
            "{",
        ] {
            assert!(!fits(bad), "{bad}");
        }
    }
}
