//! Metasteps.

use super::settings::{GradientPart, MetaUpdate, OptimizationSettings};
use super::split::{Half, Stream};
use super::state::{BestCanaries, OptimizationState, Validation};
use super::{CanaryOptimization, Interruption};
use crate::metagradient::{BatchRows, Derivatives, InnerTraining, metasmoothness};

/// Share of the velocity that is retained.
const MOMENTUM: f32 = 0.9;

/// Skipped metasteps after which steps are halved.
const SKIPPED_BEFORE_HALVING: u32 = 3;

/// An objective and its gradient with respect to the canaries.
struct Found {
    objective: f64,
    gradient: Vec<f32>,
}

impl CanaryOptimization<'_> {
    /// Whether the last metastep is done.
    #[must_use]
    pub fn is_finished(&self, state: &OptimizationState) -> bool {
        state.metasteps() >= self.settings.metasteps
    }

    /// Executes the next metastep, and validates after every tenth and the last.
    ///
    /// # Errors
    /// Cancelled; the state is unchanged.
    pub fn step(&self, state: &mut OptimizationState) -> Result<(), Interruption> {
        let metastep = state.metasteps();
        let stream = Stream::Metastep(metastep);
        let found = match self.metagradient(stream, self.settings.splits, &state.canaries) {
            Err(Interruption::Diverged) => None,
            other => Some(other?),
        };
        let mut next = state.clone();
        if let Some(found) = &found {
            self.move_canaries(&mut next, &found.gradient);
        }
        next.objectives.push(found.map(|found| found.objective));
        let done = next.metasteps();
        if done.is_multiple_of(OptimizationSettings::VALIDATED_EVERY) || self.is_finished(&next) {
            self.validate(&mut next)?;
        }
        *state = next;
        Ok(())
    }

    fn validate(&self, state: &mut OptimizationState) -> Result<(), Interruption> {
        let metasteps = state.metasteps();
        let splits = self.settings.validation_splits;
        let evaluation =
            match self.evaluate_in(Stream::Validation(metasteps), splits, &state.canaries) {
                Err(Interruption::Diverged) => return Ok(()),
                other => other?,
            };
        let (raw, per_canary) = (evaluation.raw(), evaluation.per_canary());
        let highest = state.validations.iter().map(|one| one.per_canary.value).fold(0.0, f64::max);
        if state.best.is_none() || per_canary.value > highest {
            let canaries = state.canaries.clone();
            state.best = Some(BestCanaries { metasteps, canaries });
        }
        state.validations.push(Validation { metasteps, raw, per_canary });
        Ok(())
    }

    /// The mean objective per canary and the sum of gradients over splits and their complements.
    fn metagradient(
        &self,
        stream: Stream,
        splits: u32,
        canaries: &[f32],
    ) -> Result<Found, Interruption> {
        let mut sum = Found { objective: 0.0, gradient: vec![0.0; canaries.len()] };
        let found = self.on_halves(stream, splits, |derivatives, training, _| {
            self.gradient_of(derivatives, training, canaries)
        })?;
        let scale = 1.0 / (found.len() * self.labels.len()) as f64;
        for found in found {
            let found = found?;
            sum.objective += scale * found.objective;
            sum.gradient.iter_mut().zip(found.gradient).for_each(|(sum, value)| *sum += value);
        }
        Ok(sum)
    }

    /// The gradient of one training, or its direct part, which needs no adjoint.
    fn gradient_of(
        &self,
        derivatives: &mut dyn Derivatives<Number = f32>,
        training: &InnerTraining<'_, f32>,
        canaries: &[f32],
    ) -> Result<Found, Interruption> {
        if self.settings.part == GradientPart::Whole {
            let found = training.metagradient(derivatives, canaries, self.checkpointing)?;
            return Ok(Found { objective: found.objective.into(), gradient: found.gradient });
        }
        let theta = training.train(derivatives, canaries)?;
        let rows = BatchRows {
            examples: canaries,
            sparse: &[],
            labels: self.labels,
            canaries: self.labels.len(),
        };
        let (mut slopes, mut gradient) = (vec![0.0; theta.len()], vec![0.0; canaries.len()]);
        let objective =
            derivatives.objective(&theta, rows, training.weights, &mut slopes, &mut gradient);
        Ok(Found { objective: objective.into(), gradient })
    }

    /// The step of features in the next metastep, as a share of their ranges.
    fn step_size(&self, state: &OptimizationState) -> f64 {
        let halvings = (state.skipped() / SKIPPED_BEFORE_HALVING).min(60);
        let is_last_fifth =
            5 * u64::from(state.metasteps()) >= 4 * u64::from(self.settings.metasteps);
        let settling = if is_last_fifth { 0.1 } else { 1.0 };
        self.settings.step_size * settling / (1_u64 << halvings) as f64
    }

    fn move_canaries(&self, state: &mut OptimizationState, gradient: &[f32]) {
        let size = self.step_size(state) as f32;
        let features = self.ranges.features();
        if self.settings.update == MetaUpdate::Momentum {
            state.velocity.resize(gradient.len(), 0.0);
            let values = state.velocity.iter_mut().zip(gradient);
            values.for_each(|(velocity, value)| *velocity = MOMENTUM * *velocity + value);
        }
        for (at, canary) in state.canaries.chunks_exact_mut(features).enumerate() {
            let own = at * features..(at + 1) * features;
            let along = match self.settings.update {
                MetaUpdate::Momentum => &state.velocity[own],
                MetaUpdate::Sign | MetaUpdate::Gradient => &gradient[own],
            };
            let scaled = |feature: usize| self.ranges.width(feature) * along[feature];
            let largest = (0..features).map(|feature| scaled(feature).abs()).fold(0.0, f32::max);
            for (feature, value) in canary.iter_mut().enumerate() {
                let share = match self.settings.update {
                    MetaUpdate::Gradient if largest > 0.0 => scaled(feature) / largest,
                    _ => sign(along[feature]),
                };
                let moved = *value - size * self.ranges.width(feature) * share;
                *value = self.ranges.clamp(feature, moved);
            }
        }
    }

    /// Metasmoothness of the training in the direction of the first sign step.
    ///
    /// # Errors
    /// Diverged or cancelled.
    pub fn metasmoothness(&self, canaries: &[f32]) -> Result<f64, Interruption> {
        let gradient = self.metagradient(Stream::Smoothness, 1, canaries)?.gradient;
        let features = self.ranges.features();
        let moved = |times: f32| -> Vec<f32> {
            let step = |at: usize| {
                let width = self.ranges.width(at % features);
                times * self.settings.step_size as f32 * width * sign(gradient[at])
            };
            canaries.iter().enumerate().map(|(at, value)| value - step(at)).collect()
        };
        let mut parameters = Vec::with_capacity(3);
        for times in [0.0, 1.0, 2.0] {
            let canaries = moved(times);
            let trained =
                self.on_halves(Stream::Smoothness, 1, |derivatives, training, half| match half {
                    Half::First => training.train(derivatives, &canaries),
                    Half::Second => Ok(Vec::new()),
                })?;
            parameters.push(trained.into_iter().next().ok_or(Interruption::Diverged)??);
        }
        let [at_0, at_h, at_2h] = [0, 1, 2].map(|index| &parameters[index][..]);
        Ok(metasmoothness([at_0, at_h, at_2h]))
    }
}

/// Sign of a number: −1, 0 or 1.
fn sign(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { value.signum() }
}
