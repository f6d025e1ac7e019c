//! Plans of one-shot audits of federated trainings.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_core::random::{Purpose, Words};
use dpscope_simulation::noisy_sum::canary_number;
use dpscope_simulation::{TrainingDigest, decimal};
use serde::{Deserialize, Serialize};

use super::attack::FederatedAttack;
use super::evidence::FederatedEvidence;
use super::settings::FederatedDescription;
use crate::TrainError;

/// Maximum number of expected canaries of a plan.
const MAX_CANARIES: f64 = 1e6;

/// Maximum number of models of a plan.
const MAX_MODELS: u64 = 100_000;

/// Maximum number of unseen directions of a model.
const MAX_UNSEEN: u32 = 100_000;

/// Everything that determines the result of a one-shot audit of a federated training.
///
/// Units 0 … R − 1 are the repeats, each a training with canaries and noise of its own; units R … R + K
/// − 1 train without canaries. All canaries of the repeats are audited together: each is in one training
/// alone, so that R independent trainings with k̄ canaries each are one mechanism with R·k̄ canaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FederatedPlan {
    /// How the number of canaries of one training is drawn.
    pub design: CanaryDesign,
    /// Number of audited trainings R, at least 1.
    pub repeats: u32,
    /// Number of trainings without canaries, K.
    pub without_canaries: u32,
    /// Fresh directions that take no part, per training.
    pub unseen: u32,
    /// The attack whose bound decides; fixed before the training.
    pub attack: FederatedAttack,
    /// The δ of the statement, in (0, 1).
    pub delta: f64,
    /// Probability that a bound is wrong, in (0, 0.5).
    pub significance: f64,
    /// Seed of every random word, below 2⁵³.
    #[serde(with = "decimal")]
    pub seed: u64,
    /// The training.
    pub training: TrainingDigest,
}

impl FederatedPlan {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field outside its domain.
    pub fn check_fields(&self) -> Result<(), TrainError> {
        let check = |name, value, is_inside, domain| {
            if is_inside { Ok(()) } else { Err(TrainError::Domain { name, value, domain }) }
        };
        self.design.delta_allowance(self.delta, self.significance)?;
        check("repeats", self.repeats.into(), self.repeats >= 1, "at least 1")?;
        let models = self.models();
        check("models", models as f64, models <= MAX_MODELS, "at most 10^5")?;
        let canaries = self.all_canaries().mean();
        let slots = match self.design {
            CanaryDesign::Bernoulli { slots, .. } => slots as f64 * f64::from(self.repeats),
            _ => canaries,
        };
        check("canaries", slots, slots <= MAX_CANARIES, "at most 10^6 in all repeats")?;
        let unseen = u64::from(self.unseen) * models;
        check("unseen", unseen as f64, unseen <= MAX_UNSEEN.into(), "at most 10^5 in all models")?;
        let (delta, significance) = (self.delta, self.significance);
        check("delta", delta, delta > 0.0 && delta < 1.0, "in (0, 1)")?;
        let is_inside = significance > 0.0 && significance < 0.5;
        check("significance", significance, is_inside, "in (0, 0.5)")?;
        check("seed", self.seed as f64, self.seed < 1 << 53, "below 2^53")
    }

    /// Number of models, R + K.
    #[must_use]
    pub fn models(&self) -> u64 {
        u64::from(self.repeats) + u64::from(self.without_canaries)
    }

    /// The design of the canaries of all repeats together.
    #[must_use]
    pub fn all_canaries(&self) -> CanaryDesign {
        self.canaries_of(self.repeats.into())
    }

    /// The design of the canaries of so many repeats together.
    pub(super) fn canaries_of(&self, repeats: u64) -> CanaryDesign {
        match self.design {
            CanaryDesign::Poisson { mean } => CanaryDesign::Poisson { mean: mean * repeats as f64 },
            CanaryDesign::Bernoulli { slots, inclusion } => {
                CanaryDesign::Bernoulli { slots: slots.saturating_mul(repeats), inclusion }
            }
            CanaryDesign::Fixed { canaries } => {
                CanaryDesign::Fixed { canaries: canaries.saturating_mul(repeats) }
            }
        }
    }

    /// Number of canaries of a unit, and of participants beside the clients: the slots of a design with
    /// slots, of which the first ones are filled, otherwise the canaries.
    #[must_use]
    pub fn canaries(&self, unit: u64) -> (u64, u64) {
        if unit >= self.repeats.into() {
            return (0, 0);
        }
        let mut words = Words::new(self.seed, Purpose::CanaryNumber, unit);
        let canaries = canary_number(self.design, &mut words);
        match self.design {
            CanaryDesign::Bernoulli { slots, .. } => (canaries, slots),
            _ => (canaries, canaries),
        }
    }
}

impl dpscope_engine::Plan for FederatedPlan {
    const SCHEMA: &'static str = "dpscope.federated-cosines/2";
    /// 2·10⁶ canaries with four cosines of 26 characters, and the other fields.
    const MAX_BYTES: usize = 256 << 20;
    const RESULTS_PER_UNIT: u64 = 1;
    type Stage = ();
    type Evidence = FederatedEvidence;

    fn units(&self) -> u64 {
        self.models()
    }

    fn named(ranges: &str) -> String {
        format!("models {ranges}")
    }

    fn empty(&self, (): &()) -> FederatedEvidence {
        FederatedEvidence::default()
    }

    fn check(&self, (): &(), evidence: &FederatedEvidence, units: u64) -> Result<(), &'static str> {
        if self.check_fields().is_err() {
            return Err("its plan is invalid");
        }
        let digest = TrainingDigest::of(&evidence.description);
        let Ok(description) = FederatedDescription::from_json(&evidence.description) else {
            return Err("the description of its training is invalid");
        };
        if digest != self.training || !description.is_printable() {
            return Err("its training does not match its plan");
        }
        evidence.check(self.models(), description.settings.sees_updates, units)
    }
}
