//! Scores of canary clients, and the quality of trained models.

use dpscope_core::audit::one_shot::{CosineNull, NullTails, OneShotError, RoundNoise, RoundScores};
use serde::{Deserialize, Serialize};

use super::attack::FederatedAttack;
use crate::model_evidence::{MOST_RECORDS, ModelEvidence, ModelResult};

/// Cosines and quality of one trained model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FederatedUnit {
    /// Its index in the plan.
    pub unit: u64,
    /// Whether the training diverged; a failed model has no cosines.
    pub has_failed: bool,
    /// Number of canaries that took part.
    pub canaries: u64,
    /// Cosine of each canary with the change of the model.
    pub final_model: Vec<f64>,
    /// Largest cosine of each canary with an update; empty if updates are not seen.
    pub largest_update: Vec<f64>,
    /// Cosine of each canary with the sum of all updates scaled to norm 1.
    pub sum_of_updates: Vec<f64>,
    /// Cosine of each canary that took part in a round with the sum of the updates of its rounds.
    pub known_rounds: Vec<f64>,
    /// Scores of the canaries of each round with its update; empty if updates are not seen.
    pub rounds: Vec<RoundScores>,
    /// Cosines of fresh directions, which took no part, with the change of the model.
    pub unseen: Vec<f64>,
    /// Clipping norm of the last round.
    pub clip_norm: f64,
    /// Number of held-out examples that the model classified.
    pub evaluated: u64,
    /// Number of these classified correctly.
    pub correct: u64,
}

impl FederatedUnit {
    /// A model whose training diverged.
    pub(super) fn failed(unit: u64, canaries: u64) -> Self {
        Self {
            unit,
            has_failed: true,
            canaries,
            final_model: Vec::new(),
            largest_update: Vec::new(),
            sum_of_updates: Vec::new(),
            known_rounds: Vec::new(),
            rounds: Vec::new(),
            unseen: Vec::new(),
            clip_norm: 0.0,
            evaluated: 0,
            correct: 0,
        }
    }

    /// The cosines of an attack, canary by canary, without those that the attack has no score for.
    #[must_use]
    pub fn cosines(&self, attack: FederatedAttack) -> &[f64] {
        match attack {
            FederatedAttack::FinalModel => &self.final_model,
            FederatedAttack::LargestUpdate => &self.largest_update,
            FederatedAttack::SumOfUpdates => &self.sum_of_updates,
            FederatedAttack::KnownRounds => &self.known_rounds,
        }
    }

    /// Share of held-out examples classified correctly.
    #[must_use]
    pub fn accuracy(&self) -> Option<f64> {
        (self.evaluated > 0).then(|| self.correct as f64 / self.evaluated as f64)
    }

    fn is_whole(&self, sees_updates: bool) -> bool {
        let is_cosine = |cosine: &f64| (-1.0..=1.0).contains(cosine);
        let has = |attack: FederatedAttack| {
            let is_scored = !self.has_failed && (sees_updates || !attack.needs_updates());
            let length = if is_scored { self.canaries } else { 0 };
            let cosines = self.cosines(attack);
            let count = cosines.len() as u64;
            let is_complete = match attack {
                FederatedAttack::KnownRounds => count <= length,
                _ => count == length,
            };
            is_complete && cosines.iter().all(is_cosine)
        };
        FederatedAttack::ALL.into_iter().all(has)
            && self.rounds.iter().all(|round| round.canaries <= self.canaries)
            && self.unseen.iter().all(is_cosine)
            && self.clip_norm.is_finite()
            && self.correct <= self.evaluated
            && self.evaluated.max(self.canaries) <= MOST_RECORDS
    }
}

impl ModelResult for FederatedUnit {
    fn unit(&self) -> u64 {
        self.unit
    }

    fn has_failed(&self) -> bool {
        self.has_failed
    }
}

/// Cosines of some models of a plan, in the order of their indices.
pub type FederatedEvidence = ModelEvidence<FederatedUnit>;

impl FederatedEvidence {
    /// Null probabilities of all canaries of the models below `repeats`, and the number of canaries in
    /// them; those of a failed model, and those without a round where rounds are known, have no null
    /// probability.
    ///
    /// Exact, except for [`FederatedAttack::LargestUpdate`], where they are upper limits.
    ///
    /// # Errors
    /// The errors of [`CosineNull`].
    pub fn tails(
        &self,
        attack: FederatedAttack,
        repeats: u64,
        (parameters, rounds): (u64, u32),
    ) -> Result<(NullTails, u64), OneShotError> {
        let null = CosineNull::new(parameters)?;
        let audited = || self.models.iter().filter(|model| model.unit < repeats);
        let cosines: Vec<f64> =
            audited().flat_map(|model| model.cosines(attack)).copied().collect();
        let tails = match attack {
            FederatedAttack::LargestUpdate => {
                let tail = |&cosine: &f64| null.ln_tail_of_maximum(cosine, rounds.into());
                NullTails::new(cosines.iter().map(tail).collect::<Result<_, _>>()?)?
            }
            _ => null.tails(&cosines)?,
        };
        Ok((tails, audited().map(|model| model.canaries).sum()))
    }

    /// The noise of a round, estimated from the canaries in each round of the models below `repeats`.
    #[must_use]
    pub fn round_noise(&self, repeats: u64, parameters: u64) -> Option<RoundNoise> {
        let audited = self.models.iter().filter(|model| model.unit < repeats);
        let rounds: Vec<RoundScores> = audited.flat_map(|model| &model.rounds).copied().collect();
        RoundNoise::new(&rounds, parameters)
    }

    /// Checks what was read from a file.
    pub(super) fn check(
        &self,
        models: u64,
        sees_updates: bool,
        units: u64,
    ) -> Result<(), &'static str> {
        self.check_indices(models, units)?;
        if !self.models.iter().all(|model| model.is_whole(sees_updates)) {
            return Err("its cosines are missing or outside [-1, 1], or its counts impossible");
        }
        Ok(())
    }
}
