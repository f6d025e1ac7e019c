//! The folder of a committed plan of canary clients: `plan.json`, `seed.secret`, `commitment.txt`.

use std::path::Path;

use dpscope_core::audit::one_run::CanaryClass;
use dpscope_core::audit::one_shot::CosineNull;
use dpscope_core::random::{Purpose, Words};
use dpscope_formats::CoinSeed;
use dpscope_report::record::FederatedPlan;
use dpscope_simulation::noisy_sum::{canary_number, declared_number};

use crate::canary_plan::{
    COMMITMENT, MOST_BYTES, PLAN, SCORED, SEED, hex, new_seed, secret, text_of, write_commitment,
};
use crate::failure::{Exit, Failure};
use crate::files::{read_text, write_text};

/// A plan with the seed that its commitment was made with.
pub(crate) struct CommittedFederatedPlan {
    pub(crate) plan: FederatedPlan,
    /// Of directions and of the number of canaries.
    seed: u64,
}

/// The index of the direction of the control client.
pub(crate) const CONTROL: u64 = u64::MAX;

/// Directions follow from the seed, so no file of canaries is committed.
const NO_CANARIES: [u8; 32] = [0; 32];

impl CommittedFederatedPlan {
    /// Draws a seed, writes the files of a plan, and returns it with the commitment.
    pub(crate) fn commit(folder: &Path, plan: FederatedPlan) -> Result<(Self, String), Failure> {
        let bytes = new_seed(folder, &[PLAN, SEED, COMMITMENT])?;
        let text = text_of(&plan)?;
        let seed = CoinSeed::new(bytes);
        let commitment = hex(&seed.commitment(&NO_CANARIES, text.as_bytes()));
        write_commitment(folder, &text, &bytes, &commitment)?;
        Ok((Self { plan, seed: stream_seed(&seed) }, commitment))
    }

    /// Reads a plan and checks its commitment.
    pub(crate) fn open(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(PLAN);
        let text = read_text(&path, MOST_BYTES)?;
        let plan: FederatedPlan = serde_json::from_str(&text).map_err(|error| {
            Failure::input(format!("is not a plan of `dpscope plan federated`: {error}"))
                .about(&path)
        })?;
        if plan.schema != FederatedPlan::SCHEMA {
            let problem = format!("is not a plan of this version: {}", FederatedPlan::SCHEMA);
            return Err(Failure::input(problem).about(&path));
        }
        check(&plan).map_err(|failure| failure.about(&path))?;
        let seed = CoinSeed::new(secret(&folder.join(SEED))?);
        let commitment_path = folder.join(COMMITMENT);
        let expected = hex(&seed.commitment(&NO_CANARIES, text.as_bytes()));
        if read_text(&commitment_path, MOST_BYTES)?.trim() != expected {
            let problem = format!(
                "is not the commitment to this plan and seed ({expected}): one of them was changed \
                 after the commitment, so there is no bound"
            );
            return Err(Failure::with(Exit::Artefact, problem).about(&commitment_path));
        }
        Ok(Self { plan, seed: stream_seed(&seed) })
    }

    /// The number of canaries: that of the design, or drawn from the seed.
    pub(crate) fn inserted(&self) -> u64 {
        canary_number(self.plan.design, &mut Words::new(self.seed, Purpose::CanaryNumber, 0))
    }

    /// What a canary declares of a class; none if the plan has no such class.
    pub(crate) fn declared(&self, class: CanaryClass, canary: u64) -> Option<f64> {
        let choices = match class {
            CanaryClass::Weight => &self.plan.weights,
            CanaryClass::Loudness => &self.plan.loudness,
        };
        declared_number(choices, class, self.seed, canary)
    }

    /// The seed of the directions.
    pub(crate) const fn direction_seed(&self) -> u64 {
        self.seed
    }

    /// Whether another object was audited with this plan before; remembers this one.
    pub(crate) fn is_second(folder: &Path, digest: &str) -> Result<bool, Failure> {
        let path = folder.join(SCORED);
        if path.exists() {
            return Ok(read_text(&path, MOST_BYTES)?.trim() != digest);
        }
        write_text(&path, &format!("{digest}\n"))?;
        Ok(false)
    }
}

/// Refuses numbers that no plan has, so that drawing from it ends.
fn check(plan: &FederatedPlan) -> Result<(), Failure> {
    let FederatedPlan { design, delta, significance, dimension, server_rounds, .. } = *plan;
    let of_design = design.delta_allowance(delta, significance).map(drop);
    let of_dimension = CosineNull::new(dimension).map(drop);
    of_design.and(of_dimension).map_err(Failure::input)?;
    let is_number = |number: &f64| *number > 0.0 && *number < 1e15;
    if !plan.weights.iter().chain(&plan.loudness).all(is_number) {
        return Err(Failure::input("has weights or loudness that are not positive and finite"));
    }
    if server_rounds == 0 {
        return Err(Failure::input("has server_rounds 0; it must be at least 1"));
    }
    Ok(())
}

/// Eight bytes that the secret seed determines.
fn stream_seed(seed: &CoinSeed) -> u64 {
    let bytes = seed.tie_breaker(0);
    bytes.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte))
}
