//! Settings of an optimisation.

use super::error::OptimizationError;
use super::{CanaryStart, StartLabels};
use crate::data::Examples;
use crate::metagradient::Optimizer;
use crate::{ModelSpec, Network};

/// What an optimisation trains and moves, before its canaries are drawn.
#[derive(Debug)]
pub struct OptimizationSetup {
    /// Layers of the model.
    pub model: ModelSpec,
    /// The model for these data.
    pub network: Network,
    /// Records, of which some are canaries.
    pub examples: Examples,
    /// Trainings and metasteps.
    pub settings: OptimizationSettings,
    /// Number of canaries.
    pub canaries: usize,
    /// Number of other records, or all.
    pub records: Option<usize>,
    /// Labels that the canaries start with.
    pub labels: StartLabels,
}

impl OptimizationSetup {
    /// The canaries before the first step.
    ///
    /// # Errors
    /// As [`CanaryStart::draw`].
    pub fn start(&self) -> Result<CanaryStart<'_>, OptimizationError> {
        let OptimizationSetup { examples, canaries, records, labels, settings, .. } = self;
        CanaryStart::draw(examples, *canaries, *records, *labels, settings.seed)
    }
}

/// Trainings and metasteps.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimizationSettings {
    /// Steps of a training: T.
    pub steps: usize,
    /// Records per batch: B.
    pub batch_size: usize,
    /// Learning rate of the trainings.
    pub learning_rate: f64,
    /// Optimiser of the trainings.
    pub rule: Optimizer,
    /// Number of metasteps.
    pub metasteps: u32,
    /// Splits whose gradients are averaged, each with its complement: R.
    pub splits: u32,
    /// How canaries follow the gradient.
    pub update: MetaUpdate,
    /// Step of a feature, as a share of its range; a tenth of it in the last fifth of the
    /// metasteps.
    pub step_size: f64,
    /// Which part of the gradient is used.
    pub part: GradientPart,
    /// Splits of a validation, each with its complement.
    pub validation_splits: u32,
    /// Seed of splits, initial parameters and orders.
    pub seed: u64,
}

/// How canaries follow the gradient G of the objective; α is the step size, r the range of a
/// feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetaUpdate {
    /// c ← c − α·r·sgn G.
    #[default]
    Sign,
    /// c ← c − α·r·(r·G)/max |r·G|, with the maximum over the features of a canary.
    Gradient,
    /// v ← 0.9·v + G; c ← c − α·r·sgn v.
    Momentum,
}

/// Which part of the gradient is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GradientPart {
    /// All of it.
    #[default]
    Whole,
    /// The part at fixed parameters, for comparison: it ignores that canaries change the model.
    Direct,
}

impl OptimizationSettings {
    /// Metasteps between two validations.
    pub const VALIDATED_EVERY: u32 = 10;

    /// T = B = 150, one split per metastep, signs, 2 % of the range.
    #[must_use]
    pub fn new(metasteps: u32, seed: u64) -> Self {
        OptimizationSettings {
            steps: 150,
            batch_size: 150,
            learning_rate: 0.1,
            rule: Optimizer::Momentum { momentum: 0.9, weight_decay: 0.0 },
            metasteps,
            splits: 1,
            update: MetaUpdate::Sign,
            step_size: 0.02,
            part: GradientPart::Whole,
            validation_splits: 4,
            seed,
        }
    }

    /// Rejects values outside their domains.
    ///
    /// # Errors
    /// The first such value, by name.
    pub fn check(&self) -> Result<(), OptimizationError> {
        let counts = [
            (
                "steps",
                self.steps as f64,
                1.0,
                "at least 1: without a training only the direct part of the gradient exists",
            ),
            ("batch_size", self.batch_size as f64, 1.0, "at least 1"),
            ("metasteps", f64::from(self.metasteps), 1.0, "at least 1"),
            ("splits", f64::from(self.splits), 1.0, "at least 1"),
            ("validation_splits", f64::from(self.validation_splits), 2.0, "at least 2"),
        ];
        if let Some(&(name, value, _, domain)) =
            counts.iter().find(|(_, value, least, _)| value < least)
        {
            return Err(OptimizationError::Domain { name, value, domain });
        }
        let shares =
            [("learning_rate", self.learning_rate, 1e6), ("step_size", self.step_size, 1.0)];
        for (name, value, most) in shares {
            if !(value > 0.0 && value <= most) {
                let domain = if most == 1.0 { "in (0, 1]" } else { "above 0 and finite" };
                return Err(OptimizationError::Domain { name, value, domain });
            }
        }
        match self.rule.first_invalid() {
            Some((name, value, domain)) => Err(OptimizationError::Domain { name, value, domain }),
            None => Ok(()),
        }
    }
}
