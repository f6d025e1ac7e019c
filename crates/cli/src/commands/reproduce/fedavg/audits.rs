//! The trainings of a setting, audited one by one or some together.

use dpscope_core::audit::one_shot::{
    CanaryDesign, CosineNull, EpsilonEstimator, NullTails, OneShotQuestion, OneShotResult,
};
use dpscope_engine::{UnitRange, Workload};
use dpscope_simulation::TrainingDigest;
use dpscope_train::federated::{
    FederatedAttack, FederatedEvidence, FederatedModels, FederatedPlan, FederatedTraining,
    FederatedUnit,
};

use super::normality::{AndersonDarling, share_below};
use super::settings::{Experiment, ROUNDS, SIGNIFICANCE, Setting};
use crate::failure::Failure;
use crate::progress::Terminal;

/// The share of normal samples that the paper's test rejects.
const REJECTED: f64 = 0.15;

/// The audits of a setting.
pub(super) struct Audits<'a> {
    pub(super) setting: &'a Setting,
    pub(super) experiment: &'a Experiment,
    evidence: FederatedEvidence,
    plan: FederatedPlan,
    null: CosineNull,
    /// Attacks whose scores were computed, in order, with their audits.
    attacks: Vec<(FederatedAttack, Vec<Audit>)>,
}

/// An attack on the canaries of one audit.
struct Audit {
    bound: f64,
    /// By the mean score.
    estimate: f64,
    tails: NullTails,
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
            without_canaries: if experiment.sees_updates() { 0 } else { trainings },
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
        let evidence = models.compute(&(), all, &control)?;
        if evidence.failed() > 0 {
            let name = &setting.name;
            return Err(Failure::input(format!(
                "a training with {name} diverged on {}; pass other --data",
                experiment.examples.name()
            )));
        }
        let null = CosineNull::new(experiment.network.parameters() as u64);
        let null = null.map_err(Failure::input)?;
        let mut audits = Self { setting, experiment, evidence, plan, null, attacks: Vec::new() };
        for attack in FederatedAttack::ALL {
            if setting.settings.sees_updates || !attack.needs_updates() {
                let with_canaries = &audits.evidence.models[..audits.plan.repeats as usize];
                let groups = with_canaries.chunks(setting.parts as usize);
                let found = groups.map(|models| audits.audit(attack, models));
                let found = found.collect::<Result<_, _>>()?;
                audits.attacks.push((attack, found));
            }
        }
        Ok(audits)
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
        let cosines: Vec<f64> = cosines.collect();
        let delta = self.experiment.delta;
        let estimate = EpsilonEstimator::Mean.epsilon(&self.null, &cosines, delta);
        let estimate = estimate.map_err(Failure::input)?;
        Ok(Audit { bound: result.bounds().epsilon, estimate, tails })
    }

    /// Every audit by an attack, in order.
    fn audits(&self, attack: FederatedAttack) -> impl Iterator<Item = &Audit> {
        self.attacks.iter().filter(move |(one, _)| *one == attack).flat_map(|(_, audits)| audits)
    }

    /// Bounds on ε, audit by audit.
    pub(super) fn bounds(&self, attack: FederatedAttack) -> Vec<f64> {
        self.audits(attack).map(|audit| audit.bound).collect()
    }

    /// Estimates of ε by the mean score, audit by audit.
    pub(super) fn estimates(&self, attack: FederatedAttack) -> Vec<f64> {
        self.audits(attack).map(|audit| audit.estimate).collect()
    }

    /// The accuracy of each model, with canaries or without.
    pub(super) fn accuracies(&self, has_canaries: bool) -> Vec<f64> {
        let models = self.evidence.models.iter();
        let models = models.filter(|model| (model.unit < self.plan.repeats.into()) == has_canaries);
        models.filter_map(FederatedUnit::accuracy).collect()
    }

    /// 90 % of the estimates of an audit without any leak.
    pub(super) fn null_range(&self) -> Result<[f64; 2], Failure> {
        let canaries = (self.setting.canaries * f64::from(self.setting.parts)) as u64;
        let range = EpsilonEstimator::Mean.null_range(canaries, self.experiment.delta, 0.1);
        range.map_err(Failure::input)
    }

    /// Whether the scores of an attack are normal, audit by audit.
    pub(super) fn normality(&self, attack: FederatedAttack) -> Normality {
        let tests = self.audits(attack).map(|audit| {
            let scores: Vec<f64> = audit.tails.normal_scores().collect();
            AndersonDarling::of(&scores)
        });
        let tests: Vec<AndersonDarling> = tests.collect();
        let rejected = tests.iter().filter(|test| test.p_value < REJECTED).count();
        Normality {
            statistic: tests.iter().map(|test| test.statistic).sum::<f64>() / tests.len() as f64,
            audits: tests.len(),
            rejected,
            p_value: share_below(tests.len(), rejected, REJECTED),
        }
    }
}

/// Tests of Anderson and Darling, one per audit.
pub(super) struct Normality {
    /// Mean of A²* = A²(1 + 0.75/n + 2.25/n²), with fitted mean and standard deviation.
    pub(super) statistic: f64,
    pub(super) audits: usize,
    /// Audits with p < 0.15, as in the paper.
    pub(super) rejected: usize,
    /// The chance of as many or more, if scores are normal.
    pub(super) p_value: f64,
}
