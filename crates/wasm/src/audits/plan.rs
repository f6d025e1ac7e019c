//! What a page asks for, as a plan of the engine.

use dpscope_core::bound::ThresholdRule;
use dpscope_core::mechanism::{BatchedGaussian, MechanismError, SamplerKind, ThreatModel};
use dpscope_engine::{Plan, PlanError, ValidPlan};
use serde::Deserialize;
use tsify::Tsify;

use crate::failure::{Failure, FailureKind};
use crate::seed::seed_or_fresh;

/// Most normals of an observation: a browser's core draws them in a twentieth of a second.
const MOST_NORMALS: u64 = 10_000_000;

/// A simulation that is to be audited; what is left out is as on the command line.
#[derive(Debug, Clone, PartialEq, Deserialize, Tsify)]
#[serde(deny_unknown_fields)]
pub struct AuditPlan {
    /// σ.
    pub noise_multiplier: f64,
    /// Batches an epoch.
    pub steps: f64,
    /// Passes over the data.
    pub epochs: f64,
    /// How batches are drawn.
    #[tsify(type = "SamplerName")]
    pub sampler: SamplerKind,
    /// Who attacks; the strongest attacker of the sampler where left out.
    #[tsify(optional, type = "ThreatModelName")]
    pub threat_model: Option<ThreatModel>,
    /// Records a batch, for the samplers that need it.
    #[tsify(optional)]
    pub batch_size: Option<f64>,
    /// Records of the buffer, for the samplers that have one.
    #[tsify(optional)]
    pub buffer_examples: Option<f64>,
    /// Observations of both worlds together; even.
    pub observations: f64,
    /// δ.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// How the threshold is chosen; simultaneous where left out.
    #[tsify(optional, type = "ThresholdRuleName")]
    pub threshold_rule: Option<ThresholdRule>,
    /// Most cuts of the simultaneous rule; 16 where left out.
    #[tsify(optional)]
    pub cuts: Option<f64>,
    /// Decimal; fresh entropy where left out or empty.
    #[tsify(optional)]
    pub seed: Option<String>,
}

/// A whole number of a page, which knows only floats.
fn whole(field: &str, value: f64, most: u64) -> Result<u64, Failure> {
    if value >= 0.0 && value <= most as f64 && value.fract() == 0.0 {
        return Ok(value as u64);
    }
    let message = format!("{field} is {value}; it must be a whole number from 0 to {most}");
    Err(Failure::new(FailureKind::Input, message).of(field))
}

impl AuditPlan {
    /// The plan, checked.
    ///
    /// # Errors
    /// The first field outside its domain; more normals an observation than a page can wait for.
    pub fn checked(&self) -> Result<ValidPlan, Failure> {
        let whole32 =
            |field, value| Ok::<u32, Failure>(whole(field, value, u64::from(u32::MAX))? as u32);
        let optional =
            |field, value: Option<f64>| value.map(|value| whole32(field, value)).transpose();
        let buffer = |value| whole("buffer_examples", value, 1 << 53);
        let buffer_examples = self.buffer_examples.map(buffer).transpose()?;
        let plan = Plan {
            mechanism: BatchedGaussian {
                noise_multiplier: self.noise_multiplier,
                steps_per_epoch: whole32("steps", self.steps)?,
                epochs: whole32("epochs", self.epochs)?,
                sampler: self.sampler.with_buffer(buffer_examples).map_err(PlanError::from)?,
                threat_model: self.threat_model.unwrap_or(self.sampler.default_threat_model()),
                batch_size: optional("batch_size", self.batch_size)?,
            },
            observations: whole("observations", self.observations, 1 << 53)?,
            delta: self.delta,
            significance: self.significance,
            threshold_rule: self.threshold_rule.unwrap_or(ThresholdRule::Simultaneous),
            cuts: optional("cuts", self.cuts)?.unwrap_or(Plan::DEFAULT_CUTS),
            seed: seed_or_fresh(self.seed.as_deref())?,
        };
        checked(plan)
    }
}

/// A plan that a page can run.
///
/// # Errors
/// As [`AuditPlan::checked`].
pub(super) fn checked(plan: Plan) -> Result<ValidPlan, Failure> {
    let valid = plan.validated()?;
    let normals = valid.law().normals_per_observation();
    if normals > MOST_NORMALS {
        let message = format!(
            "an observation has {normals} normals, and a browser draws at most {MOST_NORMALS}; \
             take fewer steps or epochs, or the command line"
        );
        return Err(Failure::new(FailureKind::Limit, message).of("steps"));
    }
    Ok(valid)
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let field = match &error {
            PlanError::Observations { .. } | PlanError::SplitObservations { .. } => "observations",
            PlanError::Delta { .. } => "delta",
            PlanError::Significance { .. } => "significance",
            PlanError::Cuts { .. } => "cuts",
            PlanError::Seed { .. } => "seed",
            PlanError::Rule => "threshold_rule",
            PlanError::Mechanism(error) => field_of(error),
            _ => return Failure::new(FailureKind::Input, error),
        };
        Failure::new(FailureKind::Input, error).of(field)
    }
}

fn field_of(error: &MechanismError) -> &'static str {
    match error {
        MechanismError::NoiseMultiplier { .. } => "noise_multiplier",
        MechanismError::StepsPerEpoch { .. } => "steps",
        MechanismError::Epochs { .. } => "epochs",
        MechanismError::BatchSize { .. }
        | MechanismError::MovingBatchSize { .. }
        | MechanismError::BatchSizeMissing { .. } => "batch_size",
        MechanismError::Buffer { .. }
        | MechanismError::BufferMissing { .. }
        | MechanismError::BufferUnused { .. } => "buffer_examples",
        MechanismError::UndefinedPair { .. } => "threat_model",
        _ => "sampler",
    }
}
