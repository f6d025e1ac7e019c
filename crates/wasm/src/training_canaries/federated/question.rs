//! The federated training that a page describes.

use dpscope_core::audit::one_shot::CanaryDesign;
use dpscope_engine::Artefact;
use dpscope_report::record::input::{
    ClientAttack, ClientParticipation, FederatedTrainingQuestion, ServerNoise,
};
use dpscope_report::record::page::FederatedOverview;
use dpscope_simulation::TrainingDigest;
use dpscope_train::BuiltInModel;
use dpscope_train::data::Examples;
use dpscope_train::federated::{
    FederatedAttack, FederatedDescription, FederatedModels, FederatedPlan, FederatedSettings,
    FederatedTraining, NoiseMechanism, Participation, UpdateClipping,
};

use super::super::assigned::Assigned;
use crate::data_set::{self, DataFiles, Selection, overview_of, read_examples};
use crate::failure::{Failure, FailureKind};
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
    let records = u64::from(settings.clients) * u64::from(settings.records_per_client);
    let records = usize::try_from(records).unwrap_or(usize::MAX);
    let name = asked.data.as_deref().unwrap_or(model.data.name());
    let data = examples(name, records, asked.client_column.as_deref(), files)?;
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

/// Data with so many records to divide, or with the clients of a column.
fn examples(
    name: &str,
    records: usize,
    client_column: Option<&str>,
    files: Option<&DataFiles>,
) -> Result<Examples, Failure> {
    if client_column.is_some() && !files.is_some_and(DataFiles::has_data) {
        let message = "a column of clients needs your own data set: a csv file with a header line, or \
                       an npz file";
        return Err(Failure {
            field: Some("client_column"),
            ..Failure::of(FailureKind::Input, message)
        });
    }
    let selection = Selection { records: Some(records), client_column };
    read_examples(name, (records, BuiltInModel::HELD_OUT), selection, files)
}

fn attack(asked: &FederatedTrainingQuestion) -> FederatedAttack {
    match asked.attack {
        Some(ClientAttack::FinalModel) | None => FederatedAttack::FinalModel,
        Some(ClientAttack::LargestUpdate) => FederatedAttack::LargestUpdate,
        Some(ClientAttack::SumOfUpdates) => FederatedAttack::SumOfUpdates,
        Some(ClientAttack::KnownRounds) => FederatedAttack::KnownRounds,
    }
}

fn noise(asked: &FederatedTrainingQuestion) -> Result<NoiseMechanism, Failure> {
    let is_banded = matches!(asked.noise_mechanism, Some(ServerNoise::Banded));
    if asked.bands.is_some() && !is_banded {
        let why = "is for banded noise; leave it out, or set noise_mechanism to banded";
        return Err(Failure::input("bands", &[why]));
    }
    Ok(match asked.noise_mechanism {
        Some(ServerNoise::Gaussian) | None => NoiseMechanism::Gaussian,
        Some(ServerNoise::Tree) => NoiseMechanism::Tree,
        Some(ServerNoise::Banded) => {
            let bands = asked.bands.ok_or_else(|| Failure::missing("bands"))?;
            NoiseMechanism::Banded { bands }
        }
    })
}

fn settings(asked: &FederatedTrainingQuestion) -> Result<FederatedSettings, Failure> {
    let divided = [
        asked.clients.is_some(),
        asked.records_per_client.is_some(),
        asked.concentration.is_some(),
    ];
    if asked.client_column.is_some() && divided.contains(&true) {
        let why = "excludes clients, records_per_client and concentration; leave them out";
        return Err(Failure::input("client_column", &[why]));
    }
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
        clients: asked.clients.unwrap_or(900),
        records_per_client: asked.records_per_client.unwrap_or(10),
        concentration: asked.concentration,
        rounds: asked.rounds,
        participation,
        presentations: asked.canary_presentations,
        local_epochs: asked.local_epochs.unwrap_or(5),
        local_batch_size: asked.local_batch_size.unwrap_or(10),
        local_learning_rate: asked.local_learning_rate.unwrap_or(0.5),
        clipping: UpdateClipping::Fixed { norm: asked.clip_norm.unwrap_or(1.0) },
        noise_multiplier: asked.noise_multiplier,
        noise_mechanism: noise(asked)?,
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
    let column = description.client_column.as_deref();
    let examples = examples(&data.name, data.records as usize, column, files)?;
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
        clients: settings.clients,
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
            client_column: None,
            clients: Some(40),
            records_per_client: Some(5),
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
            noise_mechanism: None,
            bands: None,
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
        let banded = Some(ServerNoise::Banded);
        assert_eq!(refused(|asked| asked.noise_mechanism = banded), input("bands"));
        let wide = |asked: &mut FederatedTrainingQuestion| {
            (asked.noise_mechanism, asked.bands) = (banded, Some(7));
        };
        assert_eq!(refused(wide), input("bands"));
        for other in [None, Some(ServerNoise::Gaussian), Some(ServerNoise::Tree)] {
            let unused = |asked: &mut FederatedTrainingQuestion| {
                (asked.noise_mechanism, asked.bands) = (other, Some(3));
            };
            assert_eq!(refused(unused), input("bands"));
        }
        let column = Some("user".to_owned());
        assert_eq!(refused(|asked| asked.client_column = column), input("client_column"));
        assert_eq!(refused(|asked| asked.canary_presentations = Some(9)), input("presentations"));
        let large = refused(|asked| (asked.rounds, asked.local_epochs) = (50_000, Some(1_000)));
        assert_eq!(large.1, Some("rounds"));
    }

    /// Records of three clients, in a csv file with a header line.
    fn of_clients() -> DataFiles {
        let rows = (0..90).map(|row| format!("{},{},{row},1", row % 2, row % 3));
        let text = std::iter::once("label,user,x,y".to_owned()).chain(rows).collect::<Vec<_>>();
        DataFiles::new("mine.csv".to_owned(), text.join("\n").into_bytes())
    }

    #[test]
    fn clients_are_those_of_a_column() {
        let column = || FederatedTrainingQuestion {
            client_column: Some("user".to_owned()),
            clients: None,
            records_per_client: None,
            ..asked()
        };
        let files = of_clients();
        let audit = opened(&column(), Some(&files)).unwrap();
        let training = described(audit.state(), Some(&files)).unwrap();
        let sizes: Vec<usize> = training.clients().iter().map(Vec::len).collect();
        assert_eq!(sizes, [27, 27, 27]);
        let overview = overview(&audit.state().plan, &training);
        assert_eq!((overview.clients, overview.training.held_out), (3, 9));
        let unknown =
            FederatedTrainingQuestion { client_column: Some("who".to_owned()), ..column() };
        let refused = opened(&unknown, Some(&files)).unwrap_err();
        assert_eq!(refused.field, Some("data"), "{}", refused.message);
        let without_file = opened(&column(), None).unwrap_err();
        assert_eq!(without_file.field, Some("client_column"), "{}", without_file.message);
    }

    #[test]
    fn correlated_noise_proves_more_or_less_than_independent_noise() {
        let accounted = |noise_mechanism, bands| {
            let asked = FederatedTrainingQuestion { noise_mechanism, bands, ..asked() };
            let (plan, training) = training(&asked, None).unwrap();
            overview(&plan, &training).accounted.unwrap()
        };
        let independent = accounted(None, None);
        let tree = accounted(Some(ServerNoise::Tree), None);
        let banded = accounted(Some(ServerNoise::Banded), Some(3));
        assert!(independent < banded && banded < tree, "{independent} {banded} {tree}");
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
