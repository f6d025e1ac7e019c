//! A committed plan of canary clients: `plan.json`, `seed.secret`, `commitment.txt`.

use dpscope_core::audit::one_run::CanaryClass;
use dpscope_core::audit::one_shot::{CosineNull, DeclaredNumber};
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::CoinSeed;
use dpscope_report::record::FederatedPlan;
use dpscope_simulation::noisy_sum::{canary_number, declared_number};

use crate::commitment::secret_of;
use crate::{File, FileError, MOST_PLAN_BYTES, hex};

/// The index of the direction of the control client.
pub const CONTROL: u64 = u64::MAX;

/// Directions follow from the seed, so no file of canaries is committed.
const NO_CANARIES: [u8; 32] = [0; 32];

/// The files of a plan of canary clients.
#[derive(Debug, Clone, Copy)]
pub struct FederatedPlanFiles<'a> {
    /// `plan.json`.
    pub plan: File<'a>,
    /// `seed.secret`, revealed after the training.
    pub seed: File<'a>,
    /// `commitment.txt`, published before it.
    pub commitment: File<'a>,
}

/// A plan with the seed that its commitment was made with.
#[derive(Debug, Clone)]
pub struct CommittedFederatedPlan {
    /// What was fixed before the training.
    pub plan: FederatedPlan,
    /// Seed of directions and of the number of canaries.
    seed: u64,
}

impl CommittedFederatedPlan {
    /// A plan with its seed.
    #[must_use]
    pub fn new(plan: FederatedPlan, seed: &CoinSeed) -> Self {
        Self { plan, seed: stream_seed(seed) }
    }

    /// What is published before the training, hexadecimal, of the bytes of the plan.
    #[must_use]
    pub fn commitment(seed: &CoinSeed, plan: &[u8]) -> String {
        hex(&seed.commitment(&NO_CANARIES, plan))
    }

    /// Reads a plan and checks its commitment.
    ///
    /// # Errors
    /// A file that cannot be read, a plan that no program writes, or one that was changed after the
    /// commitment.
    pub fn open(files: &FederatedPlanFiles<'_>) -> Result<Self, FileError> {
        let plan = read(&files.plan)?;
        let seed = secret_of(&files.seed)?;
        let expected = Self::commitment(&seed, files.plan.bytes);
        if files.commitment.text(MOST_PLAN_BYTES)?.trim() != expected {
            return Err(files.commitment.changed(format!(
                "is not the commitment to this plan and seed ({expected}): one of them was changed \
                 after the commitment, so there is no bound"
            )));
        }
        Ok(Self::new(plan, &seed))
    }

    /// The number of canaries: that of the design, or drawn from the seed.
    #[must_use]
    pub fn inserted(&self) -> u64 {
        canary_number(self.plan.design, &mut Words::new(self.seed, Purpose::CanaryNumber, 0))
    }

    /// What a canary declares of a class; none if the plan has no such class.
    #[must_use]
    pub fn declared(&self, class: CanaryClass, canary: u64) -> Option<DeclaredNumber> {
        let number = |class| {
            let choices = match class {
                CanaryClass::Weight => &self.plan.weights,
                CanaryClass::Loudness => &self.plan.loudness,
            };
            declared_number(choices, class, self.seed, canary)
        };
        Some(DeclaredNumber { value: number(class)?, within: number(class.other()) })
    }

    /// The seed of the directions.
    #[must_use]
    pub const fn direction_seed(&self) -> u64 {
        self.seed
    }
}

/// Refuses numbers that no plan has, so that drawing from it ends.
fn read(file: &File<'_>) -> Result<FederatedPlan, FileError> {
    let text = file.text(MOST_PLAN_BYTES)?;
    let plan: FederatedPlan = serde_json::from_str(text).map_err(|error| {
        let error = ForeignText::of(error);
        file.refused(format!("is not a plan of `dpscope plan federated`: {error}"))
    })?;
    let FederatedPlan { design, delta, significance, dimension, server_rounds, .. } = plan;
    if plan.schema != FederatedPlan::SCHEMA {
        let why = format!("is not a plan of this version: {}", FederatedPlan::SCHEMA);
        return Err(file.refused(why));
    }
    let of_design = design.delta_allowance(delta, significance).map(drop);
    let of_dimension = CosineNull::new(dimension).map(drop);
    of_design.and(of_dimension).map_err(|error| file.refused(error))?;
    let is_number = |number: &f64| *number > 0.0 && *number < 1e15;
    if !plan.weights.iter().chain(&plan.loudness).all(is_number) {
        return Err(file.refused("has weights or loudness that are not positive and finite"));
    }
    if server_rounds == 0 {
        return Err(file.refused("has server_rounds 0; it must be at least 1"));
    }
    Ok(plan)
}

/// Eight bytes that the secret seed determines.
fn stream_seed(seed: &CoinSeed) -> u64 {
    let bytes = seed.tie_breaker(0);
    bytes.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte))
}
