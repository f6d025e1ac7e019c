//! The report of federated trainings with canary clients.

use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
use dpscope_core::audit::claim::ClaimError;
use dpscope_core::audit::one_shot::{
    CanaryDesign, CosineNull, NullTails, OneShotError, OneShotQuestion, OneShotResult, ScoreChecks,
    unseen_finding,
};
use dpscope_core::gdp::gdp_epsilon;
use dpscope_engine::Artefact;
use dpscope_report::record::{
    ClaimTest, FederatedAccounted, FederatedAccuracy, FederatedAttackRecord, FederatedTrainings,
    OneShotEstimate, OneShotReport, PrivacyUnit, RoundByRound, RunFacts,
};
use dpscope_report::words::{CanaryNull, OneShotAttacker, OneShotDesign};

use super::attack::FederatedAttack;
use super::evidence::FederatedUnit;
use super::plan::FederatedPlan;
use super::rounds::Participation;
use super::settings::{FederatedDescription, FederatedSettings};
use crate::{Network, TrainError};

/// Why federated trainings have no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FederatedOutcomeError {
    /// Trainings are missing.
    #[error("trainings are missing: there is no bound before all of them are done")]
    Incomplete,
    /// More than 1 % of the trainings diverged: their canaries would count as unseen.
    #[error("{failed} of {trainings} trainings diverged, and their canaries have no scores")]
    Diverged {
        /// Audited trainings that diverged.
        failed: u64,
        /// Audited trainings.
        trainings: u64,
    },
    /// Invalid description.
    #[error(transparent)]
    Training(#[from] TrainError),
    /// The canaries have no bound.
    #[error(transparent)]
    Canaries(#[from] OneShotError),
    /// The claim cannot be tested.
    #[error(transparent)]
    Claim(#[from] ClaimError),
}

/// The canaries of trainings, with what their report needs.
#[derive(Debug)]
pub struct FederatedOutcome<'a> {
    state: &'a Artefact<FederatedPlan>,
    settings: FederatedSettings,
    parameters: u64,
}

impl<'a> FederatedOutcome<'a> {
    /// The trainings so far, of which none may be missing in a [`report`](Self::report).
    ///
    /// # Errors
    /// A checkpoint without a valid description.
    pub fn of(state: &'a Artefact<FederatedPlan>) -> Result<Self, FederatedOutcomeError> {
        let description = FederatedDescription::from_json(&state.evidence.description)?;
        let network = Network::new(&description.model).map_err(TrainError::from)?;
        let parameters = network.parameters() as u64;
        Ok(Self { state, settings: description.settings, parameters })
    }

    /// The report, and the null probabilities of the canaries for a drawing.
    ///
    /// # Errors
    /// Trainings are missing; more than 1 % diverged; a claim that these canaries cannot test.
    pub fn report(
        &self,
        facts: &RunFacts,
        test: &ClaimTest,
    ) -> Result<(OneShotReport, NullTails), FederatedOutcomeError> {
        if !self.state.is_complete() {
            return Err(FederatedOutcomeError::Incomplete);
        }
        self.check_failed()?;
        let plan = &self.state.plan;
        let (tails, result) = self.result(plan.attack)?;
        let null = CosineNull::new(self.parameters)?;
        let unseen: Vec<f64> = self.repeats().flat_map(|model| &model.unseen).copied().collect();
        let result = result.with_findings(unseen_finding(&null.tails(&unseen)?));
        let cosines: Vec<f64> =
            self.repeats().flat_map(|model| model.cosines(plan.attack)).copied().collect();
        let design = OneShotDesign {
            number: plan.all_canaries(),
            inserted: result.question().inserted,
            null: CanaryNull::Cosines { dimension: self.parameters },
            attacker: plan.attack.into(),
            unit: PrivacyUnit::User,
            adjacency: OneShotDesign::certified(plan.design),
            // the program drew them
            is_committed: true,
        };
        let has_exact_null = plan.attack != FederatedAttack::LargestUpdate;
        let mean = ScoreChecks::new(&tails).standardised_mean();
        let estimates = match has_exact_null {
            true => OneShotEstimate::all(&null, &cosines, plan.delta),
            false => Vec::new(),
        };
        let report = OneShotReport {
            estimates,
            training: Some(self.record(facts)?),
            elapsed_ms: facts.elapsed_ms,
            ..OneShotReport::new(result, design, has_exact_null.then_some(mean), test)?
        };
        Ok((report, tails))
    }

    /// The trainings with canaries.
    fn repeats(&self) -> impl Iterator<Item = &'a FederatedUnit> + use<'a> {
        let repeats = u64::from(self.state.plan.repeats);
        self.state.evidence.models.iter().filter(move |model| model.unit < repeats)
    }

    /// Refuses trainings of which more than 1 % diverged.
    fn check_failed(&self) -> Result<(), FederatedOutcomeError> {
        let failed = self.repeats().filter(|model| model.has_failed).count() as u64;
        let trainings = u64::from(self.state.plan.repeats);
        if 100 * failed <= trainings {
            return Ok(());
        }
        Err(FederatedOutcomeError::Diverged { failed, trainings })
    }

    /// The null probabilities and the bounds of the canaries of the trainings that are done.
    ///
    /// # Errors
    /// No canaries.
    pub fn result(
        &self,
        attack: FederatedAttack,
    ) -> Result<(NullTails, OneShotResult), OneShotError> {
        let plan = &self.state.plan;
        let rounds = self.settings.rounds;
        let evidence = &self.state.evidence;
        let sizes = (self.parameters, rounds);
        let (tails, inserted) = evidence.tails(attack, plan.repeats.into(), sizes)?;
        let design = match plan.canaries_of(self.repeats().count() as u64) {
            CanaryDesign::Fixed { .. } => CanaryDesign::Fixed { canaries: inserted },
            design => design,
        };
        let question = OneShotQuestion {
            design,
            inserted,
            delta: plan.delta,
            significance: plan.significance,
            null_significance: 0.0,
            server_rounds: match attack {
                FederatedAttack::LargestUpdate => rounds.into(),
                _ => 1,
            },
        };
        let result = OneShotResult::new(&tails, question)?;
        Ok((tails, result))
    }

    /// The noise of a round that its canaries show, composed as the stated one is; the rounds of
    /// mechanisms whose noises depend on each other do not compose.
    fn round_by_round(&self) -> Option<RoundByRound> {
        let (plan, settings) = (&self.state.plan, self.settings);
        if !settings.noise_mechanism.is_independent() {
            return None;
        }
        let noise = self.state.evidence.round_noise(plan.repeats.into(), self.parameters)?;
        let epsilon = |mu: f64| {
            let shown = FederatedSettings { noise_multiplier: 1.0 / mu, ..settings };
            if mu == 0.0 { Some(0.0) } else { Some(shown.accounted(plan.delta)?.epsilon) }
        };
        let [low, high] = noise.gdp_mu_range();
        Some(RoundByRound {
            gdp_mu: noise.gdp_mu(),
            epsilon: epsilon(noise.gdp_mu())?,
            range: [epsilon(low)?, epsilon(high)?],
            ceiling: epsilon(noise.most_gdp_mu()),
            server_rounds: noise.server_rounds(),
        })
    }

    fn record(&self, facts: &RunFacts) -> Result<FederatedTrainings, OneShotError> {
        let (state, plan) = (self.state, &self.state.plan);
        let is_seen =
            |attack: &FederatedAttack| self.settings.sees_updates || !attack.needs_updates();
        let attack = |attack: FederatedAttack| -> Result<FederatedAttackRecord, OneShotError> {
            let (tails, result) = self.result(attack)?;
            let scores: Vec<f64> = tails.normal_scores().collect();
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let has_mean = attack != FederatedAttack::LargestUpdate && mean.is_finite();
            Ok(FederatedAttackRecord {
                attacker: attack.into(),
                is_chosen: attack == plan.attack,
                bounds: *result.bounds(),
                mean_score: has_mean.then_some(mean),
            })
        };
        let attacks = FederatedAttack::ALL.into_iter().filter(is_seen).map(attack);
        let accuracies = |has_canaries: bool| {
            let models = state.evidence.models.iter();
            let models = models.filter(|model| (model.unit < plan.repeats.into()) == has_canaries);
            FederatedAccuracy::of(&models.filter_map(FederatedUnit::accuracy).collect::<Vec<_>>())
        };
        Ok(FederatedTrainings {
            description: serde_json::from_str(&state.evidence.description).unwrap_or_default(),
            parameters: self.parameters,
            repeats: plan.repeats.into(),
            without_canaries: plan.without_canaries.into(),
            failed: state.evidence.failed(),
            attacks: attacks.collect::<Result<_, _>>()?,
            accuracy: accuracies(true),
            accuracy_without_canaries: accuracies(false),
            accounted: self.settings.accounted(plan.delta),
            round_by_round: self.round_by_round(),
            seed: plan.seed.to_string(),
            seed_source: facts.seed_source,
            device: state.devices.join(", "),
            resumed_from: facts.resumed_from,
        })
    }
}

impl From<FederatedAttack> for OneShotAttacker {
    fn from(attack: FederatedAttack) -> Self {
        match attack {
            FederatedAttack::FinalModel => OneShotAttacker::FinalModel,
            FederatedAttack::LargestUpdate => OneShotAttacker::AllUpdates,
            FederatedAttack::SumOfUpdates => OneShotAttacker::SumOfUpdates,
            FederatedAttack::KnownRounds => OneShotAttacker::KnownServerRounds,
        }
    }
}

impl FederatedSettings {
    /// What is proven about the training, for an attacker who sees every update.
    ///
    /// All releases are one Gaussian mechanism, μ = sensitivity/σ. Poisson sampling amplifies independent
    /// noise, unless canaries take part in rounds of their own. Of cohorts of a fixed size, where an added
    /// client displaces others, nothing is proven here.
    #[must_use]
    pub fn accounted(&self, delta: f64) -> Option<FederatedAccounted> {
        let settings = self;
        let (sigma, most_rounds) = (settings.noise_multiplier, settings.most_rounds());
        if sigma == 0.0 {
            return None;
        }
        let is_independent = settings.noise_mechanism.is_independent();
        match settings.participation {
            Participation::FixedSize { .. } => None,
            Participation::Poisson { rate }
                if settings.presentations.is_none() && is_independent =>
            {
                let training = Training {
                    noise_multiplier: sigma,
                    steps_per_epoch: settings.rounds.into(),
                    epochs: 1,
                    sampling_rate: Some(rate),
                };
                let query = Query::upper(training, Given::Delta(delta));
                let epsilon = Poisson.account(&query).ok()?.epsilon;
                let accounted =
                    FederatedAccounted { epsilon, gdp_mu: None, l2_sensitivity: None, most_rounds };
                epsilon.is_finite().then_some(accounted)
            }
            Participation::Shuffled { .. }
            | Participation::MinSeparation { .. }
            | Participation::Poisson { .. } => {
                let l2_sensitivity = settings.l2_sensitivity();
                let mu = l2_sensitivity / sigma;
                let epsilon = gdp_epsilon(mu, delta).ok()?;
                let l2_sensitivity = (!is_independent).then_some(l2_sensitivity);
                let accounted =
                    FederatedAccounted { epsilon, gdp_mu: Some(mu), l2_sensitivity, most_rounds };
                epsilon.is_finite().then_some(accounted)
            }
        }
    }
}
