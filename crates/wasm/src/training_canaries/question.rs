//! The training with canaries that a page describes.

use dpscope_core::audit::one_run::GuessRule;
use dpscope_core::mechanism::{BatchedGaussian, ThreatModel};
use dpscope_engine::Artefact;
use dpscope_report::record::input::{CanaryRecords, CanaryScore, CanaryTrainingQuestion};
use dpscope_report::record::page::TrainingOverview;
use dpscope_simulation::TrainingDigest;
use dpscope_train::data::Examples;
use dpscope_train::one_run::{
    CanaryKind, CanarySlots, OneRunDescription, OneRunPlan, OneRunScore, OneRunSettings,
    OneRunTraining, PreTraining,
};
use dpscope_train::{BuiltInModel, TrainError};

use super::assigned::Assigned;
use crate::data_set::{self, DataFiles, examples, overview_of};
use crate::failure::Failure;
use crate::seed::seed_or_fresh;

/// The file of optimised canaries, as the command line reads it.
pub(super) const FILE: &str = "canaries.npz";

/// A plan with its training.
///
/// # Errors
/// The first field outside its domain; files that are no data set of the model.
pub(super) fn training(
    asked: &CanaryTrainingQuestion,
    files: Option<&DataFiles>,
) -> Result<(OneRunPlan, OneRunTraining), Failure> {
    let mut mechanism = asked.mechanism.clone();
    mechanism.threat_model = mechanism.threat_model.or(Some(ThreatModel::TargetCanary));
    let mechanism: BatchedGaussian = mechanism.try_into()?;
    let model = BuiltInModel::named(&asked.model)
        .ok_or_else(|| Failure::input("model", &["must be mlp, lenet or cnn"]))?;
    let slots = mechanism.records_per_epoch().ok_or_else(|| Failure::missing("batch_size"))?;
    let (slots, count) = (usize::try_from(slots).unwrap_or(usize::MAX), asked.canaries as usize);
    let settings = settings(asked, &mechanism, model)?;
    let needed = slots.max(count).saturating_add(pre_trained(&settings));
    let name = asked.data.as_deref().unwrap_or(model.data.name());
    let base = examples(name, needed, files)?;
    let seed = seed_or_fresh(asked.seed.as_deref().unwrap_or_default())?;
    let records = |kind: CanaryKind| kind.last_records(&base, (needed, count), seed);
    let canaries = match asked.canary_kind {
        Some(CanaryRecords::Random) => records(CanaryKind::Random)?,
        Some(CanaryRecords::Mislabelled) | None => records(CanaryKind::Mislabelled)?,
        Some(CanaryRecords::Optimised) => optimised(&base, Some(count), files)?,
    };
    let spec = model.fitted(&base);
    let training = OneRunTraining::new(&spec, base, canaries, mechanism, settings, seed);
    let training = training.map_err(named_as_asked)?;
    check_size(&training)?;
    let plan = OneRunPlan {
        mechanism,
        canaries: asked.canaries,
        repeats: asked.repeats.unwrap_or(1),
        references: asked.reference_models.unwrap_or(0),
        score: score(asked),
        rule: GuessRule::of_counts(asked.guesses, asked.guesses_in, asked.guesses_out),
        deltas: vec![asked.delta],
        significance: asked.significance,
        seed,
        training: TrainingDigest::of(training.description()),
    };
    plan.check_fields()?;
    Ok((plan, training))
}

/// The canaries that the page has optimised.
///
/// # Errors
/// None, or another number; canaries of other data.
fn optimised(
    base: &Examples,
    count: Option<usize>,
    files: Option<&DataFiles>,
) -> Result<Examples, Failure> {
    let refuse = |message: &str| Failure::input("canaries", &[message]);
    let canaries = files.and_then(|files| files.canaries.as_ref());
    let (values, labels) = canaries.ok_or_else(|| refuse("must be optimised first"))?;
    if count.is_some_and(|count| count != labels.len()) {
        return Err(refuse("must be optimised again: their number has changed"));
    }
    let (shape, classes) = (base.shape(), base.classes());
    Examples::from_values(FILE, shape, classes, labels.clone(), values.clone())
        .ok_or_else(|| refuse("must be optimised again: the data have changed"))
}

/// The refusal of a setting, with the name that the question has for it.
fn named_as_asked(error: TrainError) -> Failure {
    let failure = Failure::from(error);
    let fields = [
        ("pre_training.records", "pretrain_records"),
        ("pre_training.epochs", "pretrain_epochs"),
        ("pre_training.learning_rate", "pretrain_learning_rate"),
    ];
    match fields.iter().find(|(name, _)| failure.field == Some(*name)) {
        Some((name, field)) => {
            Failure { field: Some(field), message: failure.message.replace(name, field), ..failure }
        }
        None => failure,
    }
}

fn score(asked: &CanaryTrainingQuestion) -> OneRunScore {
    match asked.score {
        Some(CanaryScore::FinalLoss) | None => OneRunScore::FinalLoss,
        Some(CanaryScore::LossDifference) => OneRunScore::LossDifference,
        Some(CanaryScore::WhiteBox) => OneRunScore::WhiteBox,
    }
}

fn settings(
    asked: &CanaryTrainingQuestion,
    mechanism: &BatchedGaussian,
    model: &BuiltInModel,
) -> Result<OneRunSettings, Failure> {
    let momentum = asked.momentum.unwrap_or(0.0);
    let learning_rate = asked.learning_rate.unwrap_or(model.learning_rate * (1.0 - momentum));
    let pre_training = asked.pretrain_records.map(|records| PreTraining {
        records,
        epochs: asked.pretrain_epochs.unwrap_or(1),
        learning_rate: asked.pretrain_learning_rate.unwrap_or(learning_rate),
    });
    let both = asked.guesses.is_some() && asked.guesses_in.or(asked.guesses_out).is_some();
    if both {
        return Err(Failure::input("guesses", &["excludes guesses of one side; leave one empty"]));
    }
    Ok(OneRunSettings {
        clip_norm: asked.clip_norm.unwrap_or(1.0),
        learning_rate,
        momentum,
        slots: CanarySlots::of(mechanism.sampler),
        is_white_box: score(asked) == OneRunScore::WhiteBox,
        debias_records: 0,
        pre_training,
    })
}

/// Records that are trained on without privacy.
fn pre_trained(settings: &OneRunSettings) -> usize {
    settings.pre_training.map_or(0, |part| part.records as usize)
}

/// Refuses trainings that a page cannot wait for: white-box scores take two gradients of each canary in
/// every step.
fn check_size(training: &OneRunTraining) -> Result<(), Failure> {
    let mechanism = training.mechanism();
    let steps = u64::from(mechanism.steps_per_epoch) * u64::from(mechanism.epochs);
    let scored = if training.settings().is_white_box { 2 * training.canaries().len() } else { 0 };
    let rows = u64::from(mechanism.batch_size.unwrap_or(1)).saturating_add(scored as u64);
    let before = training.settings().pre_training;
    let before = before.map_or(0, |part| u64::from(part.records) * u64::from(part.epochs));
    data_set::check_size(training.network(), steps.saturating_mul(rows).saturating_add(before))
}

/// The audit of a training, with nothing counted.
///
/// # Errors
/// As [`training`].
pub(super) fn opened(
    asked: &CanaryTrainingQuestion,
    files: Option<&DataFiles>,
) -> Result<Assigned<OneRunPlan>, Failure> {
    let (plan, training) = training(asked, files)?;
    Assigned::planned(plan, training.description())
}

/// The training of a state; its data and canaries are generated again, or those of the same files.
///
/// # Errors
/// Other files, or other optimised canaries, than those of the audit.
pub(super) fn described(
    state: &Artefact<OneRunPlan>,
    files: Option<&DataFiles>,
) -> Result<OneRunTraining, Failure> {
    let description = OneRunDescription::from_json(&state.evidence.description)?;
    let count = description.canaries.records as usize;
    let needed = description.data.records as usize + count + pre_trained(&description.settings);
    let base = examples(&description.data.name, needed, files)?;
    let name = &description.canaries.name;
    let seed = state.plan.seed;
    let canaries = match CanaryKind::named(name) {
        Some(kind) => kind.last_records(&base, (needed, count), seed)?,
        None => optimised(&base, None, files)?,
    };
    let training = description.training(base, canaries, state.plan.mechanism, seed)?;
    check_size(&training)?;
    Ok(training)
}

/// What a training is made of.
pub(super) fn overview(training: &OneRunTraining) -> TrainingOverview {
    let records = u64::from(training.base_records());
    let learning_rate = training.settings().learning_rate;
    overview_of(training.base(), records, training.network(), learning_rate)
}

#[cfg(test)]
pub(super) mod tests {
    use dpscope_core::mechanism::SamplerKind;
    use dpscope_report::record::input::Mechanism;

    use super::*;
    use crate::failure::FailureKind;

    /// 3 audited models and a reference model, with 40 canaries beside 160 base records in 10 batches.
    pub(in crate::training_canaries) fn asked() -> CanaryTrainingQuestion {
        CanaryTrainingQuestion {
            mechanism: Mechanism {
                noise_multiplier: 0.5,
                steps: 10,
                epochs: 1,
                sampler: SamplerKind::Shuffle,
                threat_model: None,
                batch_size: Some(20),
                buffer_examples: None,
                uses_per_epoch: None,
                dataset_size: None,
                max_batch_size: None,
            },
            model: "mlp".to_owned(),
            data: Some("location-like".to_owned()),
            canaries: 40,
            canary_kind: None,
            repeats: Some(3),
            reference_models: Some(1),
            score: None,
            guesses: None,
            guesses_in: None,
            guesses_out: None,
            clip_norm: None,
            learning_rate: None,
            momentum: None,
            pretrain_records: None,
            pretrain_epochs: None,
            pretrain_learning_rate: None,
            delta: 1e-5,
            significance: 0.05,
            seed: Some("7".to_owned()),
        }
    }

    fn refused(
        change: impl FnOnce(&mut CanaryTrainingQuestion),
    ) -> (FailureKind, Option<&'static str>) {
        let mut asked = asked();
        change(&mut asked);
        let refused = training(&asked, None).unwrap_err();
        (refused.kind, refused.field)
    }

    #[test]
    fn defaults_are_those_of_the_command_line() {
        let (plan, trained) = training(&asked(), None).unwrap();
        assert_eq!(plan.mechanism.threat_model, ThreatModel::TargetCanary);
        assert_eq!((plan.score, plan.rule), (OneRunScore::FinalLoss, GuessRule::Walk));
        assert_eq!(trained.settings().learning_rate, 3.0);
        assert_eq!(trained.canaries().name(), "mislabelled");
        let overview = overview(&trained);
        assert_eq!((overview.records, overview.held_out), (160, 2_000));
        let with_momentum = CanaryTrainingQuestion { momentum: Some(0.5), ..asked() };
        assert_eq!(training(&with_momentum, None).unwrap().1.settings().learning_rate, 1.5);
    }

    #[test]
    fn a_field_outside_its_domain_is_named() {
        let input = |field| (FailureKind::Input, Some(field));
        assert_eq!(refused(|asked| asked.canaries = 4), input("canaries"));
        assert_eq!(refused(|asked| asked.canaries = 200), input("canaries"));
        assert_eq!(refused(|asked| asked.canaries = 300), input("canaries"));
        assert_eq!(refused(|asked| asked.model = "gpt".to_owned()), input("model"));
        assert_eq!(refused(|asked| asked.repeats = Some(0)), input("repeats"));
        assert_eq!(refused(|asked| asked.repeats = Some(1 << 20)), input("repeats"));
        assert_eq!(refused(|asked| asked.guesses = Some(121)), input("guesses"));
        assert_eq!(refused(|asked| asked.guesses_in = Some(121)), input("guesses"));
        let both = refused(|asked| (asked.guesses, asked.guesses_out) = (Some(4), Some(4)));
        assert_eq!(both, input("guesses"));
        assert_eq!(refused(|asked| asked.momentum = Some(1.0)), input("momentum"));
        let few = refused(|asked| asked.pretrain_records = Some(1));
        assert_eq!(few, input("pretrain_records"));
        let epochs = |asked: &mut CanaryTrainingQuestion| {
            (asked.pretrain_records, asked.pretrain_epochs) = (Some(100), Some(2_000));
        };
        assert_eq!(refused(epochs), input("pretrain_epochs"));
        assert_eq!(refused(|asked| asked.delta = 0.0), input("deltas"));
        assert_eq!(refused(|asked| asked.mechanism.batch_size = None), input("batch_size"));
        let worst = Some(ThreatModel::WorstCase);
        let threat_model = input("threat_model");
        assert_eq!(refused(|asked| asked.mechanism.threat_model = worst), threat_model);
        let data = (FailureKind::File, Some("data"));
        assert_eq!(refused(|asked| asked.data = Some("mine".to_owned())), data);
        let large = refused(|asked| {
            (asked.mechanism.steps, asked.mechanism.epochs) = (1_000, 1_000);
        });
        assert_eq!(large, (FailureKind::Limit, Some("steps")));
    }

    #[test]
    fn pre_training_and_guesses_of_one_side_are_those_of_the_command_line() {
        let sides = CanaryTrainingQuestion {
            guesses_in: Some(6),
            pretrain_records: Some(100),
            pretrain_epochs: Some(3),
            ..asked()
        };
        let (plan, trained) = training(&sides, None).unwrap();
        assert_eq!(plan.rule, GuessRule::Sides { included: 6, excluded: 0 });
        let expected = PreTraining { records: 100, epochs: 3, learning_rate: 3.0 };
        assert_eq!(trained.settings().pre_training, Some(expected));
        assert_eq!(trained.base_records(), 160);
    }

    #[test]
    fn files_with_too_few_records_are_refused() {
        let rows = |count: u32| {
            let rows: Vec<String> =
                (0..count).map(|row| format!("{},{row},1,0", row % 3)).collect();
            DataFiles::new("mine.csv".to_owned(), rows.join("\n").into_bytes())
        };
        let refused = training(&asked(), Some(&rows(150))).unwrap_err();
        assert_eq!(refused.field, Some("data"), "{}", refused.message);
        let (_, trained) = training(&asked(), Some(&rows(300))).unwrap();
        assert_eq!(overview(&trained).held_out, 100);
    }
}
