//! The report of federated trainings with canaries.

use dpscope_core::accounting::{Accountant, Given, Poisson, Query, Training};
use dpscope_core::audit::one_shot::{
    CanaryDesign, CosineNull, NullTails, OneShotQuestion, OneShotResult, ScoreChecks,
    unseen_finding,
};
use dpscope_core::gdp::gdp_epsilon;
use dpscope_engine::Artefact;
use dpscope_recorded::estimates;
use dpscope_report::number::counted;
use dpscope_report::record::{
    ClaimTest, FederatedAccounted, FederatedAccuracy, FederatedAttackRecord, FederatedTrainings,
    OneShotReport, PrivacyUnit, RoundByRound, RunFacts,
};
use dpscope_report::words::{CanaryNull, OneShotAttacker, OneShotDesign};
use dpscope_train::federated::{
    FederatedAttack, FederatedDescription, FederatedPlan, FederatedSettings, FederatedUnit,
    Participation,
};
use dpscope_train::{Network, TrainError};

use crate::args::{ReportArgs, check_drawing};
use crate::commands::audit::canary_report::Shown;
use crate::commands::audit::federated::{check_adjacency, option_of};
use crate::commands::audit::gaussian::adjacency;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::output::{claim_test, print_note};

/// The claim; also rejects options without effect and files that cannot be written.
pub(super) fn check(args: &ReportArgs, plan: &FederatedPlan) -> Result<ClaimTest, Failure> {
    let unused = [("--metrics", args.metrics), ("--curves", args.plot.curves.is_some())];
    reject_unused_options(&unused, "on cosines of canaries")?;
    args.plot.plot.as_deref().map_or(Ok(()), check_drawing)?;
    args.page.check()?;
    let test = claim_test(&args.claim, plan.delta)?;
    check_adjacency(&test, adjacency(plan.design))?;
    Ok(test)
}

/// Trainings with what their report needs.
struct Trained<'a> {
    state: &'a Artefact<FederatedPlan>,
    settings: FederatedSettings,
    parameters: u64,
}

/// Prints the report of trainings, and returns its exit code.
pub(super) fn finish(
    state: &Artefact<FederatedPlan>,
    facts: &RunFacts,
    args: &ReportArgs,
) -> CommandResult {
    let plan = &state.plan;
    if !state.is_complete() {
        print_note(&format!(
            "{} of {} are done; a result needs all of them",
            state.done(),
            counted(plan.models(), "training")
        ));
        return Ok(Exit::Done);
    }
    let test = check(args, plan)?;
    let description = FederatedDescription::from_json(&state.evidence.description)?;
    let parameters =
        Network::new(&description.model).map_err(TrainError::from)?.parameters() as u64;
    let trained = Trained { state, settings: description.settings, parameters };
    trained.check_failed()?;
    let (tails, result) = trained.result(plan.attack)?;
    let null = CosineNull::new(parameters).map_err(option_of)?;
    let audited = || trained.repeats();
    let unseen: Vec<f64> = audited().flat_map(|model| &model.unseen).copied().collect();
    let result = result.with_findings(unseen_finding(&null.tails(&unseen).map_err(option_of)?));
    let cosines: Vec<f64> =
        audited().flat_map(|model| model.cosines(plan.attack)).copied().collect();
    let design = OneShotDesign {
        number: plan.all_canaries(),
        inserted: result.question().inserted,
        null: CanaryNull::Cosines { dimension: parameters },
        attacker: attacker(plan.attack),
        unit: PrivacyUnit::User,
        adjacency: adjacency(plan.design),
        // the program drew them
        is_committed: true,
    };
    let has_exact_null = plan.attack != FederatedAttack::LargestUpdate;
    let mean = ScoreChecks::new(&tails).standardised_mean();
    let report = OneShotReport {
        estimates: if has_exact_null { estimates(&null, &cosines, plan.delta) } else { Vec::new() },
        training: Some(trained.record(facts)?),
        elapsed_ms: facts.elapsed_ms,
        ..OneShotReport::new(result, design, has_exact_null.then_some(mean), &test)?
    };
    let shown =
        Shown { delivery: args.delivery(), plot: args.plot.plot.as_deref(), claim: &args.claim };
    shown.finish(&report, &tails)
}

pub(in crate::commands) const fn attacker(attack: FederatedAttack) -> OneShotAttacker {
    match attack {
        FederatedAttack::FinalModel => OneShotAttacker::FinalModel,
        FederatedAttack::LargestUpdate => OneShotAttacker::AllUpdates,
        FederatedAttack::SumOfUpdates => OneShotAttacker::SumOfUpdates,
        FederatedAttack::KnownRounds => OneShotAttacker::KnownServerRounds,
    }
}

impl<'a> Trained<'a> {
    /// The trainings with canaries.
    fn repeats(&self) -> impl Iterator<Item = &'a FederatedUnit> + use<'a> {
        let repeats = u64::from(self.state.plan.repeats);
        self.state.evidence.models.iter().filter(move |model| model.unit < repeats)
    }

    /// Refuses trainings of which more than 1 % diverged: their canaries count as unseen.
    fn check_failed(&self) -> Result<(), Failure> {
        let failed = self.repeats().filter(|model| model.has_failed).count() as u64;
        let repeats = u64::from(self.state.plan.repeats);
        if 100 * failed <= repeats {
            return Ok(());
        }
        Err(Failure::input(format!(
            "{failed} of {} diverged, and their canaries have no scores; pass a lower \
             --local-learning-rate or --server-learning-rate",
            counted(repeats, "training")
        )))
    }

    fn result(&self, attack: FederatedAttack) -> Result<(NullTails, OneShotResult), Failure> {
        let plan = &self.state.plan;
        let rounds = self.settings.rounds;
        let evidence = &self.state.evidence;
        let (tails, inserted) = evidence
            .tails(attack, plan.repeats.into(), (self.parameters, rounds))
            .map_err(option_of)?;
        let design = match plan.all_canaries() {
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
        let result = OneShotResult::new(&tails, question).map_err(option_of)?;
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
            if mu == 0.0 { Some(0.0) } else { Some(accounted(&shown, plan.delta)?.epsilon) }
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

    fn record(&self, facts: &RunFacts) -> Result<FederatedTrainings, Failure> {
        let (state, plan) = (self.state, &self.state.plan);
        let is_seen =
            |attack: &FederatedAttack| self.settings.sees_updates || !attack.needs_updates();
        let attack = |attack: FederatedAttack| -> Result<FederatedAttackRecord, Failure> {
            let (tails, result) = self.result(attack)?;
            let scores: Vec<f64> = tails.normal_scores().collect();
            let mean = scores.iter().sum::<f64>() / scores.len() as f64;
            let has_mean = attack != FederatedAttack::LargestUpdate && mean.is_finite();
            Ok(FederatedAttackRecord {
                attacker: attacker(attack),
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
            accounted: accounted(&self.settings, plan.delta),
            round_by_round: self.round_by_round(),
            seed: plan.seed.to_string(),
            seed_source: facts.seed_source,
            device: state.devices.join(", "),
            resumed_from: facts.resumed_from,
        })
    }
}

/// What is proven about the training, for an attacker who sees every update.
///
/// All releases are one Gaussian mechanism, μ = sensitivity/σ. Poisson sampling amplifies independent
/// noise, unless canaries take part in rounds of their own. Of cohorts of a fixed size, where an added
/// client displaces others, nothing is proven here.
pub(in crate::commands) fn accounted(
    settings: &FederatedSettings,
    delta: f64,
) -> Option<FederatedAccounted> {
    let (sigma, most_rounds) = (settings.noise_multiplier, settings.most_rounds());
    if sigma == 0.0 {
        return None;
    }
    let is_independent = settings.noise_mechanism.is_independent();
    match settings.participation {
        Participation::FixedSize { .. } => None,
        Participation::Poisson { rate } if settings.presentations.is_none() && is_independent => {
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
