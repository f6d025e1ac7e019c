//! The trainings of a setting, audited one by one or some together.

use std::collections::BTreeMap;

use dpscope_core::audit::one_shot::{CosineNull, EpsilonEstimator};
use dpscope_engine::{Artefact, UnitRange, Workload};
use dpscope_train::ModelSpec;
use dpscope_train::data::Examples;
use dpscope_train::federated::{
    FederatedAttack::{self, FinalModel, KnownRounds, LargestUpdate, SumOfUpdates},
    FederatedEvidence, FederatedModels, FederatedOutcome, FederatedPlan, FederatedTraining,
    FederatedUnit,
};
use serde::Deserialize;

use super::normality::AndersonDarling;
use crate::commands::audit::fedavg::FedAvgArgs;
use crate::failure::Failure;
use crate::progress::Terminal;

/// Attacks in the order of what the attacker knows, most first, with their names in rows and tables.
pub(super) const ATTACKS: [(FederatedAttack, &str, &str); 4] = [
    (KnownRounds, "known_server_rounds", "known rounds"),
    (LargestUpdate, "all_updates", "largest update"),
    (SumOfUpdates, "sum_of_updates", "sum of updates"),
    (FinalModel, "final_model", "final model"),
];

/// A setting of `settings.toml`; `SOURCE.md` beside it explains the fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Setting {
    pub(super) name: String,
    pub(super) options: String,
    #[serde(default = "one")]
    pub(super) trainings: u32,
}

const fn one() -> u32 {
    1
}

/// What all settings train.
pub(super) struct Subject {
    pub(super) examples: Examples,
    pub(super) spec: ModelSpec,
    pub(super) parameters: u64,
    pub(super) threads: usize,
}

/// The audits of a setting.
pub(super) struct Audits<'a> {
    pub(super) setting: &'a Setting,
    pub(super) command: FedAvgArgs,
    /// Bounds and estimates of every audit and accuracies of every training, by their names in rows.
    values: BTreeMap<&'static str, Vec<f64>>,
    /// Whether scores are normal, audit by audit, by the names of attacks.
    pub(super) normality: BTreeMap<&'static str, Vec<AndersonDarling>>,
}

impl<'a> Audits<'a> {
    /// Trains the models of a setting.
    pub(super) fn new(
        subject: &Subject,
        setting: &'a Setting,
        command: FedAvgArgs,
    ) -> Result<Self, Failure> {
        let seed = command.run.seed.unwrap_or_default();
        let (examples, settings) = (subject.examples.clone(), command.settings());
        let training = FederatedTraining::new(&subject.spec, examples, settings, seed)?;
        let plan = FederatedPlan { unseen: 0, ..command.plan(seed, &training) };
        let models = FederatedModels::new(plan.clone(), training, subject.threads)?;
        let all = UnitRange { first: 0, end: plan.models() };
        let evidence = models.compute(&(), all, &Terminal::of_pair(true))?;
        if evidence.failed() > 0 {
            return Err(Failure::input(format!(
                "a training with {} diverged on {}; pass other --data",
                setting.name,
                subject.examples.name()
            )));
        }
        let (with, without) = evidence.models.split_at(plan.repeats as usize);
        let accuracies = |models: &[FederatedUnit]| -> Vec<f64> {
            models.iter().filter_map(FederatedUnit::accuracy).collect()
        };
        let accuracies =
            [("with_canaries", accuracies(with)), ("without_canaries", accuracies(without))];
        let values = accuracies.into();
        let mut audits = Self { setting, command, values, normality: BTreeMap::new() };
        for models in with.chunks(setting.trainings as usize) {
            let plan = FederatedPlan { repeats: setting.trainings, ..plan.clone() };
            let mut audited = Artefact::empty(plan, (), all);
            let models = models.iter().cloned().zip(0..);
            let models = models.map(|(model, unit)| FederatedUnit { unit, ..model }).collect();
            let description = evidence.description.clone();
            audited.evidence = FederatedEvidence { description, models };
            audits.audit(subject.parameters, &audited)?;
        }
        Ok(audits)
    }

    /// Adds the audit of some trainings.
    fn audit(&mut self, parameters: u64, audited: &Artefact<FederatedPlan>) -> Result<(), Failure> {
        let outcome = FederatedOutcome::of(audited)?;
        for (attack, name, _) in ATTACKS {
            if self.command.final_model_only && attack.needs_updates() {
                continue;
            }
            let (tails, result) = outcome.result(attack).map_err(Failure::input)?;
            self.values.entry(name).or_default().push(result.bounds().epsilon);
            // of a largest cosine, only limits of null probabilities are known
            if attack != LargestUpdate {
                let scores: Vec<f64> = tails.normal_scores().collect();
                self.normality.entry(name).or_default().push(AndersonDarling::of(&scores));
            }
        }
        let null = CosineNull::new(parameters).map_err(Failure::input)?;
        let models = audited.evidence.models.iter();
        let cosines: Vec<f64> = models.flat_map(|model| &model.final_model).copied().collect();
        let estimate = EpsilonEstimator::Mean.epsilon(&null, &cosines, audited.plan.delta);
        self.values.entry("estimate").or_default().push(estimate.map_err(Failure::input)?);
        Ok(())
    }

    /// The values of a name: one of each audit, or of each training.
    pub(super) fn values(&self, name: &str) -> &[f64] {
        self.values.get(name).map_or(&[], Vec::as_slice)
    }

    /// Expected canaries of an audit.
    pub(super) fn canaries(&self) -> f64 {
        self.command.design.design(0).mean() * f64::from(self.setting.trainings)
    }
}
