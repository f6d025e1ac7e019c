//! The training that a page describes.

use dpscope_core::mechanism::ThreatModel;
use dpscope_report::record::input::{CanaryGradient, TrainingQuestion};
use dpscope_report::record::page::TrainingOverview;
use dpscope_simulation::backend::CpuBackend;
use dpscope_simulation::{Layout, Plan, TrainingDigest, ValidPlan};
use dpscope_train::{BuiltInModel, Canary, CanaryDirection, Training, TrainingSettings};

use crate::data_set::{self, DataFiles, examples, overview_of};
use crate::failure::Failure;
use crate::two_worlds::Counted;
use crate::two_worlds::plan::plan_of;

/// A plan with its training.
///
/// # Errors
/// The first field outside its domain; files that are no data set of the model.
pub(super) fn training(
    asked: &TrainingQuestion,
    files: Option<&DataFiles>,
) -> Result<(ValidPlan, Training), Failure> {
    let mut audit = asked.plan.clone();
    let defined = audit.mechanism.sampler.threat_models();
    let informed = defined.contains(&ThreatModel::PartiallyInformed);
    let default = informed.then_some(ThreatModel::PartiallyInformed);
    audit.mechanism.threat_model = audit.mechanism.threat_model.or(default);
    let plan = *plan_of(audit)?.plan();
    let model = BuiltInModel::named(&asked.model)
        .ok_or_else(|| Failure::input("model", &["must be mlp, lenet or cnn"]))?;
    let records = plan.mechanism.records_per_epoch();
    let records = records.ok_or_else(|| Failure::missing("batch_size"))?;
    let records = usize::try_from(records).unwrap_or(usize::MAX);
    let name = asked.data.as_deref().unwrap_or(model.data.name());
    let examples = examples(name, records, files)?;
    let settings = TrainingSettings {
        clip_norm: asked.clip_norm.unwrap_or(1.0),
        learning_rate: asked.learning_rate.unwrap_or(model.learning_rate),
        canary: Canary {
            direction: match asked.canary.unwrap_or(CanaryGradient::Random) {
                CanaryGradient::Random => CanaryDirection::Random,
                CanaryGradient::Dirac => CanaryDirection::Dirac,
            },
            is_fresh: true,
        },
        debias_records: 0,
    };
    let spec = model.fitted(&examples);
    let training = Training::new(&spec, examples, plan.mechanism, settings, plan.seed);
    let training = training.map_err(Failure::from)?;
    check_size(&training)?;
    let digest = TrainingDigest::of(training.description());
    Ok((Plan { training: Some(digest), ..plan }.validated()?, training))
}

/// Refuses trainings that a page cannot wait for.
pub(super) fn check_size(training: &Training) -> Result<(), Failure> {
    let batch_size = training.mechanism().batch_size.unwrap_or(1);
    let gradients = training.outputs_per_run() as u64 * u64::from(batch_size);
    data_set::check_size(training.network(), gradients)
}

/// The audit of a training, with nothing counted.
///
/// # Errors
/// As [`training`].
pub(super) fn opened(
    asked: &TrainingQuestion,
    files: Option<&DataFiles>,
) -> Result<Counted, Failure> {
    let (plan, training) = training(asked, files)?;
    let layout = Layout::of(&plan, &CpuBackend::new(1)?, &|| true)?;
    Counted::new(&plan, layout, Some(training.description()))
}

/// What a training is made of.
pub(super) fn overview(training: &Training) -> TrainingOverview {
    let mechanism = training.mechanism();
    let records = mechanism.records_per_epoch().unwrap_or(0);
    let learning_rate = training.settings().learning_rate;
    overview_of(training.examples(), records, training.network(), learning_rate)
}

#[cfg(test)]
pub(super) mod tests {
    use dpscope_core::mechanism::{SamplerKind, SamplerParameter};
    use dpscope_report::record::input::AuditPlan;

    use super::*;
    use crate::failure::FailureKind;
    use crate::two_worlds::plan::tests::plan;

    /// The sampler that uses a record several times per epoch.
    fn allocated() -> SamplerKind {
        SamplerParameter::UsesPerEpoch.samplers().next().unwrap()
    }

    /// 12 runs of 200 records in 10 batches.
    pub(in crate::training) fn asked() -> TrainingQuestion {
        let mut plan = AuditPlan { observations: 12, ..plan() };
        plan.mechanism.batch_size = Some(20);
        let model = "mlp".to_owned();
        TrainingQuestion {
            plan,
            model,
            data: None,
            clip_norm: None,
            learning_rate: None,
            canary: None,
        }
    }

    fn question_overview(asked: &TrainingQuestion) -> TrainingOverview {
        overview(&training(asked, None).unwrap().1)
    }

    fn field_of(change: impl FnOnce(&mut TrainingQuestion)) -> (FailureKind, Option<&'static str>) {
        let mut asked = asked();
        change(&mut asked);
        let refused = training(&asked, None).unwrap_err();
        (refused.kind, refused.field)
    }

    #[test]
    fn defaults_are_those_of_the_command_line() {
        let (plan, trained) = training(&asked(), None).unwrap();
        assert_eq!(plan.plan().mechanism.threat_model, ThreatModel::PartiallyInformed);
        assert_eq!((trained.settings().learning_rate, trained.settings().clip_norm), (3.0, 1.0));
        assert_eq!(plan.plan().training, Some(TrainingDigest::of(trained.description())));
        let overview = overview(&trained);
        let shape = (overview.features, overview.classes, overview.parameters);
        assert_eq!(shape, (600, 100, 22_532));
        assert_eq!((overview.records, overview.held_out), (200, 2_000));
        assert_eq!(overview.data, "p100-like");
        let places = TrainingQuestion { data: Some("location-like".to_owned()), ..asked() };
        let places = question_overview(&places);
        assert_eq!((places.features, places.classes), (446, 30));
    }

    #[test]
    fn a_field_outside_its_domain_is_named() {
        let input = |field| (FailureKind::Input, Some(field));
        assert_eq!(field_of(|asked| asked.model = "gpt".to_owned()), input("model"));
        let data = (FailureKind::File, Some("data"));
        assert_eq!(field_of(|asked| asked.data = Some("mine".to_owned())), data);
        assert_eq!(field_of(|asked| asked.clip_norm = Some(0.0)), input("clip_norm"));
        assert_eq!(field_of(|asked| asked.learning_rate = Some(-1.0)), input("learning_rate"));
        assert_eq!(field_of(|asked| asked.plan.mechanism.batch_size = None), input("batch_size"));
        assert_eq!(field_of(|asked| asked.plan.observations = 3), input("observations"));
        assert_eq!(
            field_of(|asked| asked.plan.mechanism.threat_model = Some(ThreatModel::WorstCase)),
            input("threat_model")
        );
        assert_eq!(
            field_of(|asked| {
                asked.plan.mechanism.sampler = allocated();
                asked.plan.mechanism.threat_model = Some(ThreatModel::TargetCanary);
                asked.plan.mechanism.uses_per_epoch = Some(11);
            }),
            input("uses_per_epoch")
        );
    }

    #[test]
    fn records_of_several_uses_fill_batches_of_the_mean_size() {
        let mut asked = asked();
        asked.plan.mechanism.sampler = allocated();
        asked.plan.mechanism.uses_per_epoch = Some(3);
        // 10 batches of 20 of 66 records
        assert_eq!(question_overview(&asked).records, 66);
    }

    #[test]
    fn trainings_that_take_too_long_in_a_page_are_refused() {
        let large = field_of(|asked| {
            asked.plan.mechanism.steps = 1_000;
            asked.plan.mechanism.epochs = 1_000;
        });
        assert_eq!(large, (FailureKind::Limit, Some("steps")));
    }

    #[test]
    fn models_are_sized_for_the_files() {
        let rows: Vec<String> = (0..300).map(|row| format!("{},{row},1,0", row % 3)).collect();
        let bytes = rows.join("\n").into_bytes();
        let files = DataFiles::new("mine.csv".to_owned(), bytes);
        let (_, trained) = training(&asked(), Some(&files)).unwrap();
        let found = overview(&trained);
        assert_eq!((found.features, found.classes, found.held_out), (3, 3, 100));
        assert_eq!(found.parameters, 3 * 32 + 32 + 32 * 3 + 3);
    }
}
