//! The trainings of a setting, audited one by one or some together.

use dpscope_core::audit::one_shot::{
    CanaryDesign, CosineNull, EpsilonEstimator, NullTails, OneShotQuestion, OneShotResult,
};
use dpscope_engine::{EngineError, UnitRange, Workload};
use dpscope_report::record::{
    FedAvgAttackMean, FedAvgRow, FederatedAccuracy, MeanEstimate, NormalityRecord,
};
use dpscope_simulation::TrainingDigest;
use dpscope_train::federated::{
    FederatedAttack, FederatedEvidence, FederatedModels, FederatedPlan, FederatedTraining,
    FederatedUnit,
};

use super::experiment::{Experiment, SIGNIFICANCE};
use super::normality::{AndersonDarling, share_below};
use super::settings::{ROUNDS, Setting};
use crate::failure::Failure;
use crate::progress::Terminal;

/// The share of normal samples that the paper's test rejects.
const REJECTED: f64 = 0.15;

/// The evidence of a setting.
pub(super) struct Audits<'a> {
    pub(super) setting: &'a Setting,
    experiment: &'a Experiment,
    evidence: FederatedEvidence,
    plan: FederatedPlan,
    null: CosineNull,
}

/// An attack on the canaries of one audit.
struct Audit {
    result: OneShotResult,
    tails: NullTails,
    cosines: Vec<f64>,
}

impl<'a> Audits<'a> {
    /// Trains the models of a setting, whose draws are those of no other.
    pub(super) fn new(
        experiment: &'a Experiment,
        setting: &'a Setting,
        index: u64,
    ) -> Result<Self, Failure> {
        let seed = (experiment.seed + (index << 40)) % (1 << 53);
        let training = FederatedTraining::new(
            &experiment.spec,
            experiment.examples.clone(),
            setting.settings,
            seed,
        )?;
        let trainings = experiment.runs * setting.parts;
        let plan = FederatedPlan {
            design: CanaryDesign::Poisson { mean: setting.canaries },
            repeats: trainings,
            without_canaries: if setting.is_compared { trainings } else { 0 },
            unseen: 0,
            attack: FederatedAttack::FinalModel,
            delta: experiment.delta,
            significance: SIGNIFICANCE,
            seed,
            training: TrainingDigest::of(training.description()),
        };
        let models = FederatedModels::new(plan.clone(), training, experiment.threads)?;
        let all = UnitRange { first: 0, end: plan.models() };
        let control = Terminal::of_pair(true);
        let evidence = models.compute(&(), all, &control).map_err(|error| match error {
            EngineError::Stopped => Failure::interrupted(),
            other => other.into(),
        })?;
        if evidence.failed() > 0 {
            let name = &setting.name;
            return Err(Failure::input(format!(
                "a training with {name} diverged on {}; pass other --data",
                experiment.examples.name()
            )));
        }
        let null = CosineNull::new(experiment.network.parameters() as u64);
        Ok(Self { setting, experiment, evidence, plan, null: null.map_err(Failure::input)? })
    }

    /// Every audit by an attack, in order.
    fn audits(&self, attack: FederatedAttack) -> Result<Vec<Audit>, Failure> {
        let with_canaries = &self.evidence.models[..self.plan.repeats as usize];
        let groups = with_canaries.chunks(self.setting.parts as usize);
        groups.map(|models| self.audit(attack, models)).collect()
    }

    fn audit(&self, attack: FederatedAttack, models: &[FederatedUnit]) -> Result<Audit, Failure> {
        let models = FederatedEvidence {
            description: self.evidence.description.clone(),
            models: models.to_vec(),
        };
        let sizes = (self.null.dimension(), ROUNDS);
        let (tails, inserted) = models.tails(attack, u64::MAX, sizes).map_err(Failure::input)?;
        let server_rounds = match attack {
            FederatedAttack::LargestUpdate => ROUNDS.into(),
            _ => 1,
        };
        let question = OneShotQuestion {
            design: CanaryDesign::Poisson {
                mean: self.setting.canaries * f64::from(self.setting.parts),
            },
            inserted,
            delta: self.experiment.delta,
            significance: SIGNIFICANCE,
            null_significance: 0.0,
            server_rounds,
        };
        let result = OneShotResult::new(&tails, question).map_err(Failure::input)?;
        let cosines = models.models.iter().flat_map(|model| model.cosines(attack)).copied();
        Ok(Audit { result, tails, cosines: cosines.collect() })
    }

    /// Bounds on ε, audit by audit.
    pub(super) fn bounds(&self, attack: FederatedAttack) -> Result<Vec<f64>, Failure> {
        Ok(self.audits(attack)?.iter().map(|audit| audit.result.bounds().epsilon).collect())
    }

    /// Estimates of ε by the mean score, audit by audit.
    pub(super) fn estimates(&self, attack: FederatedAttack) -> Result<Vec<f64>, Failure> {
        self.audits(attack)?.iter().map(|audit| self.estimate(audit)).collect()
    }

    fn estimate(&self, audit: &Audit) -> Result<f64, Failure> {
        let estimator = EpsilonEstimator::Mean;
        let found = estimator.epsilon(&self.null, &audit.cosines, self.experiment.delta);
        found.map_err(Failure::input)
    }

    /// The accuracy of each model, with canaries or without.
    pub(super) fn accuracies(&self, has_canaries: bool) -> Vec<f64> {
        let models = self.evidence.models.iter();
        let models = models.filter(|model| (model.unit < self.plan.repeats.into()) == has_canaries);
        models.filter_map(FederatedUnit::accuracy).collect()
    }

    /// Number of audits.
    pub(super) const fn runs(&self) -> u32 {
        self.experiment.runs
    }

    /// Attacks whose scores were computed.
    pub(super) fn attacks(&self) -> impl Iterator<Item = FederatedAttack> + use<'_> {
        let sees_updates = self.setting.settings.sees_updates;
        let is_seen = move |attack: &FederatedAttack| sees_updates || !attack.needs_updates();
        FederatedAttack::ALL.into_iter().filter(is_seen)
    }

    pub(super) fn row(&self) -> Result<FedAvgRow, Failure> {
        let setting = self.setting;
        let attacks = self.attacks().map(|attack| self.attack(attack));
        Ok(FedAvgRow {
            setting: setting.name.clone(),
            noise_multiplier: setting.settings.noise_multiplier,
            trainings_per_audit: setting.parts,
            canaries: setting.canaries * f64::from(setting.parts),
            accounted: setting.settings.accounted(self.experiment.delta),
            attacks: attacks.collect::<Result<_, _>>()?,
            accuracy: FederatedAccuracy::of(&self.accuracies(true)),
            accuracy_without_canaries: FederatedAccuracy::of(&self.accuracies(false)),
        })
    }

    fn attack(&self, attack: FederatedAttack) -> Result<FedAvgAttackMean, Failure> {
        let audits = self.audits(attack)?;
        let bounds: Vec<f64> = audits.iter().map(|audit| audit.result.bounds().epsilon).collect();
        // of a largest cosine, only limits of null probabilities are known
        let is_exact = attack != FederatedAttack::LargestUpdate;
        let estimates = audits.iter().map(|audit| self.estimate(audit));
        let estimates = estimates.collect::<Result<Vec<f64>, _>>()?;
        let canaries = (self.setting.canaries * f64::from(self.setting.parts)) as u64;
        let estimator = EpsilonEstimator::Mean;
        let null_range = estimator.null_range(canaries, self.experiment.delta, 0.1);
        Ok(FedAvgAttackMean {
            attacker: attack.into(),
            bound: MeanEstimate::of(&bounds),
            estimate: is_exact.then(|| MeanEstimate::of(&estimates)),
            null_range: is_exact.then_some(null_range.map_err(Failure::input)?),
            normality: is_exact.then(|| normality(&audits)),
        })
    }
}

fn normality(audits: &[Audit]) -> NormalityRecord {
    let tests = audits.iter().map(|audit| {
        let scores: Vec<f64> = audit.tails.normal_scores().collect();
        AndersonDarling::of(&scores)
    });
    let tests: Vec<AndersonDarling> = tests.collect();
    let rejected = tests.iter().filter(|test| test.p_value < REJECTED).count();
    NormalityRecord {
        statistic: tests.iter().map(|test| test.statistic).sum::<f64>() / tests.len() as f64,
        audits: tests.len() as u32,
        rejected: rejected as u32,
        p_value: share_below(tests.len(), rejected, REJECTED),
    }
}
