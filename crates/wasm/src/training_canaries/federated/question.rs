//! The federated training that a page describes.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_engine::Artefact;
use dpscope_report::record::input::{ClientAttack, ClientParticipation, FederatedTrainingQuestion};
use dpscope_report::record::page::FederatedOverview;
use dpscope_simulation::TrainingDigest;
use dpscope_train::BuiltInModel;
use dpscope_train::federated::{
    FederatedAttack, FederatedDescription, FederatedModels, FederatedPlan, FederatedSettings,
    FederatedTraining, NoiseMechanism, Participation, UpdateClipping,
};

use super::super::assigned::Assigned;
use crate::data_set::{self, DataFiles, examples, overview_of};
use crate::failure::Failure;
use crate::seed::seed_or_fresh;

/// Fresh directions per training that take no part; their cosines are tested.
const UNSEEN: u32 = 200;

/// A plan with its training.
///
/// # Errors
/// The first field outside its domain; files that are no data set of the model.
pub(super) fn training(
    asked: &FederatedTrainingQuestion,
    files: Option<&DataFiles>,
) -> Result<(FederatedPlan, FederatedTraining), Failure> {
    let model = BuiltInModel::named(&asked.model)
        .ok_or_else(|| Failure::input("model", &["must be mlp, lenet or cnn"]))?;
    let seed = seed_or_fresh(asked.seed.as_deref().unwrap_or_default())?;
    let settings = settings(asked)?;
    let records = u64::from(asked.clients) * u64::from(asked.records_per_client);
    let name = asked.data.as_deref().unwrap_or(model.data.name());
    let data = examples(name, usize::try_from(records).unwrap_or(usize::MAX), files)?;
    let training = FederatedTraining::new(&model.fitted(&data), data, settings, seed)?;
    check_size(&training)?;
    let plan = FederatedPlan {
        design: CanaryDesign::Poisson { mean: asked.canaries },
        repeats: asked.repeats.unwrap_or(1),
        without_canaries: asked.without_canaries.unwrap_or(1),
        unseen: UNSEEN,
        attack: attack(asked),
        delta: asked.delta,
        significance: asked.significance,
        seed,
        training: TrainingDigest::of(training.description()),
    };
    plan.check_fields()?;
    Ok((plan, training))
}

fn attack(asked: &FederatedTrainingQuestion) -> FederatedAttack {
    match asked.attack {
        Some(ClientAttack::FinalModel) | None => FederatedAttack::FinalModel,
        Some(ClientAttack::LargestUpdate) => FederatedAttack::LargestUpdate,
        Some(ClientAttack::SumOfUpdates) => FederatedAttack::SumOfUpdates,
        Some(ClientAttack::KnownRounds) => FederatedAttack::KnownRounds,
    }
}

fn settings(asked: &FederatedTrainingQuestion) -> Result<FederatedSettings, Failure> {
    let epochs = || asked.epochs.ok_or_else(|| Failure::missing("epochs"));
    let participation = match asked.participation {
        ClientParticipation::Epochs => Participation::Shuffled { epochs: epochs()? },
        ClientParticipation::MinSeparation => Participation::MinSeparation { epochs: epochs()? },
        ClientParticipation::Poisson => Participation::Poisson {
            rate: asked.sampling_rate.ok_or_else(|| Failure::missing("sampling_rate"))?,
        },
        ClientParticipation::FixedSize => Participation::FixedSize {
            cohort: asked.cohort.ok_or_else(|| Failure::missing("cohort"))?,
        },
    };
    Ok(FederatedSettings {
        clients: asked.clients,
        records_per_client: asked.records_per_client,
        concentration: asked.concentration,
        rounds: asked.rounds,
        participation,
        presentations: asked.canary_presentations,
        local_epochs: asked.local_epochs.unwrap_or(5),
        local_batch_size: asked.local_batch_size.unwrap_or(10),
        local_learning_rate: asked.local_learning_rate.unwrap_or(0.5),
        clipping: UpdateClipping::Fixed { norm: asked.clip_norm.unwrap_or(1.0) },
        noise_multiplier: asked.noise_multiplier,
        noise_mechanism: NoiseMechanism::Gaussian,
        server_learning_rate: asked.server_learning_rate.unwrap_or(1.0),
        server_momentum: asked.server_momentum.unwrap_or(0.9),
        sees_updates: true,
    })
}

/// Refuses trainings that a page cannot wait for.
fn check_size(training: &FederatedTraining) -> Result<(), Failure> {
    let settings = training.settings();
    let participants = settings.expected_clients() * f64::from(settings.rounds);
    let of_each = u64::from(settings.local_epochs) * u64::from(settings.records_per_client);
    let gradients = (participants.ceil() as u64).saturating_mul(of_each);
    data_set::check_size(training.network(), gradients)
        .map_err(|failure| Failure { field: Some("rounds"), ..failure })
}

/// The audit of a training, with nothing counted.
///
/// # Errors
/// As [`training`].
pub(super) fn opened(
    asked: &FederatedTrainingQuestion,
    files: Option<&DataFiles>,
) -> Result<Assigned<FederatedPlan>, Failure> {
    let (plan, training) = training(asked, files)?;
    let description = training.description().to_owned();
    // refuses combinations of plan and training
    let models = FederatedModels::new(plan, training, 1)?;
    Assigned::planned(dpscope_engine::Workload::plan(&models).clone(), &description)
}

/// The training of a state; its data are generated again, or those of the same files.
///
/// # Errors
/// Other files than those of the audit.
pub(super) fn described(
    state: &Artefact<FederatedPlan>,
    files: Option<&DataFiles>,
) -> Result<FederatedTraining, Failure> {
    let description = FederatedDescription::from_json(&state.evidence.description)?;
    let data = &description.data;
    let examples = examples(&data.name, data.records as usize, files)?;
    if examples.digest() != data.digest {
        let provided = examples.name().to_owned();
        let expected = data.name.clone();
        return Err(dpscope_train::TrainError::DataMismatch { provided, expected }.into());
    }
    let seed = state.plan.seed;
    let training =
        FederatedTraining::new(&description.model, examples, description.settings, seed)?;
    check_size(&training)?;
    Ok(training)
}

/// What a training is made of.
pub(super) fn overview(plan: &FederatedPlan, training: &FederatedTraining) -> FederatedOverview {
    let settings = training.settings();
    let records = training.clients().iter().map(|client| client.len() as u64).sum();
    let rate = settings.local_learning_rate;
    FederatedOverview {
        training: overview_of(training.examples(), records, training.network(), rate),
        cohort: settings.expected_clients(),
        accounted: settings.accounted(plan.delta).map(|accounted| accounted.epsilon),
    }
}

#[cfg(test)]
pub(in crate::training_canaries) mod tests {
    use super::*;
    use crate::failure::FailureKind;

    /// 3 audited trainings and one without canaries, of 40 clients in 6 rounds.
    pub(in crate::training_canaries) fn asked() -> FederatedTrainingQuestion {
        FederatedTrainingQuestion {
            model: "mlp".to_owned(),
            data: Some("location-like".to_owned()),
            clients: 40,
            records_per_client: 5,
            concentration: None,
            rounds: 6,
            participation: ClientParticipation::Epochs,
            epochs: Some(2),
            sampling_rate: None,
            cohort: None,
            canary_presentations: None,
            local_epochs: Some(1),
            local_batch_size: Some(5),
            local_learning_rate: None,
            clip_norm: None,
            noise_multiplier: 0.3,
            server_learning_rate: None,
            server_momentum: None,
            canaries: 30.0,
            attack: None,
            repeats: Some(3),
            without_canaries: Some(1),
            delta: 1e-5,
            significance: 0.05,
            seed: Some("7".to_owned()),
        }
    }

    fn refused(
        change: impl FnOnce(&mut FederatedTrainingQuestion),
    ) -> (FailureKind, Option<&'static str>) {
        let mut asked = asked();
        change(&mut asked);
        let refused = opened(&asked, None).unwrap_err();
        (refused.kind, refused.field)
    }

    #[test]
    fn a_field_outside_its_domain_is_named() {
        let input = |field| (FailureKind::Input, Some(field));
        assert_eq!(refused(|asked| asked.model = "gpt".to_owned()), input("model"));
        assert_eq!(refused(|asked| asked.epochs = None), input("epochs"));
        assert_eq!(refused(|asked| asked.epochs = Some(4)), input("epochs"));
        let poisson = ClientParticipation::Poisson;
        assert_eq!(refused(|asked| asked.participation = poisson), input("sampling_rate"));
        let fixed = ClientParticipation::FixedSize;
        assert_eq!(refused(|asked| asked.participation = fixed), input("cohort"));
        assert_eq!(refused(|asked| asked.noise_multiplier = -1.0), input("noise_multiplier"));
        assert_eq!(refused(|asked| asked.repeats = Some(0)), input("repeats"));
        assert_eq!(refused(|asked| asked.delta = 0.0), input("delta"));
        assert_eq!(refused(|asked| asked.canary_presentations = Some(9)), input("presentations"));
        let large = refused(|asked| (asked.rounds, asked.local_epochs) = (50_000, Some(1_000)));
        assert_eq!(large.1, Some("rounds"));
    }

    #[test]
    fn an_overview_has_what_is_proven() {
        let (plan, training) = training(&asked(), None).unwrap();
        let found = overview(&plan, &training);
        assert_eq!((found.training.records, found.training.held_out), (200, 2_000));
        assert!((found.cohort - 40.0 / 3.0).abs() < 1e-9, "{}", found.cohort);
        assert!(found.accounted > Some(1.0));
    }
}
