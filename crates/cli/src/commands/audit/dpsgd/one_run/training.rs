//! The training with canaries, from options or from a checkpoint.

use std::path::Path;

use dpscope_core::mechanism::BatchedGaussian;
use dpscope_train::BuiltInModel;
use dpscope_train::data::Examples;
use dpscope_train::one_run::{
    CanaryKind, CanarySlots, OneRunDescription, OneRunPlan, OneRunScore, OneRunSettings,
    OneRunTraining, PreTraining,
};

use crate::args::DataArgs;
use crate::commands::audit::dpsgd::DpSgdArgs;
use crate::commands::audit::dpsgd::args::RateArg;
use crate::commands::audit::dpsgd::training::{
    Model, Selection, data_of_description, examples, option_of, records,
};
use crate::commands::audit::one_run::read_canaries;
use crate::failure::Failure;
use crate::files::name_of;

/// The training described by the options.
pub(super) fn from_args(
    args: &DpSgdArgs,
    mechanism: BatchedGaussian,
    seed: u64,
) -> Result<OneRunTraining, Failure> {
    let model = Model::named(&args.model)?;
    let built_in = model.built_in();
    let settings = settings(args, &mechanism, built_in)?;
    let pre_training = settings.pre_training.map_or(0, |part| part.records as usize);
    let slots = records(&mechanism);
    let (base, canaries) = match &args.one_run.canary_file {
        Some(path) => {
            let base = examples(&args.data, built_in, Selection::of(slots + pre_training))?;
            let canaries = canaries_of_file(path, &base)?;
            let found = canaries.len();
            match args.one_run.canaries {
                Some(expected) if expected as usize != found => {
                    let problem = format!(
                        "has {found} canaries, but --canaries is {expected}; leave that option out"
                    );
                    return Err(Failure::input(problem).about(path));
                }
                _ => (base, canaries),
            }
        }
        None => {
            let count = args.one_run.canaries.ok_or_else(|| {
                Failure::input(
                    "--canaries is missing; pass their number, for example 500, or --canary-file",
                )
            })? as usize;
            let needed = slots.max(count) + pre_training;
            let base = examples(&args.data, built_in, Selection::of(needed))?;
            let kind = args.one_run.kind();
            let canaries = kind.last_records(&base, (needed, count), seed).map_err(option_of)?;
            (base, canaries)
        }
    };
    OneRunTraining::new(&model.fitted(&base), base, canaries, mechanism, settings, seed)
        .map_err(option_of)
}

/// The settings described by the options.
pub(crate) fn settings(
    args: &DpSgdArgs,
    mechanism: &BatchedGaussian,
    built_in: Option<&BuiltInModel>,
) -> Result<OneRunSettings, Failure> {
    let options = &args.one_run;
    let momentum = options.momentum.unwrap_or(0.0);
    let learning_rate = match (args.learning_rate, built_in) {
        (Some(RateArg::Given(rate)), _) => rate,
        (None, Some(model)) => model.learning_rate * (1.0 - momentum),
        (Some(RateArg::Search), _) => {
            return Err(Failure::input(
                "--learning-rate search is not available with --protocol one-run; pass a number",
            ));
        }
        (None, None) => {
            return Err(Failure::input(
                "--learning-rate is missing; a model file has no default with --protocol one-run",
            ));
        }
    };
    let pre_training = options.pretrain_records.map(|records| PreTraining {
        records,
        epochs: options.pretrain_epochs.unwrap_or(1),
        learning_rate: options.pretrain_learning_rate.unwrap_or(learning_rate),
    });
    Ok(OneRunSettings {
        clip_norm: args.clip_norm,
        learning_rate,
        momentum,
        slots: CanarySlots::of(mechanism.sampler),
        is_white_box: options.score() == OneRunScore::WhiteBox,
        debias_records: args.debias_records,
        pre_training,
    })
}

/// The training described by a checkpoint; its data and canaries are generated again or read.
pub(super) fn from_description(
    description: &OneRunDescription,
    (data, canary_file): (&DataArgs, Option<&Path>),
    plan: &OneRunPlan,
) -> Result<OneRunTraining, Failure> {
    let pre_training = description.settings.pre_training.map_or(0, |part| part.records as usize);
    let count = description.canaries.records as usize;
    let needed = description.data.records as usize + count + pre_training;
    let name = &description.canaries.name;
    let kind = CanaryKind::named(name);
    let base = data_of_description(&description.data, data, Selection::of(needed))?;
    let canaries = match (kind, canary_file) {
        (Some(kind), None) => {
            kind.last_records(&base, (needed, count), plan.seed).map_err(option_of)?
        }
        (None, Some(path)) => canaries_of_file(path, &base)?,
        (Some(_), Some(path)) => {
            let problem =
                format!("is not needed: the canaries are {name} records; leave --canary-file out");
            return Err(Failure::input(problem).about(path));
        }
        (None, None) => {
            return Err(Failure::input(format!(
                "the canaries are those of {name}; pass that file with --canary-file"
            )));
        }
    };
    Ok(description.training(base, canaries, plan.mechanism, plan.seed)?)
}

/// The canaries of a file, in the shape of the data.
fn canaries_of_file(path: &Path, base: &Examples) -> Result<Examples, Failure> {
    let refuse = |problem: String| Failure::input(problem).about(path);
    let file = read_canaries(path)?;
    let (count, width, classes) = (file.len(), base.shape().len(), base.classes());
    if count == 0 || file.inputs.data().len() != count * width {
        let found = file.inputs.shape();
        return Err(refuse(format!(
            "has inputs of shape {found:?}; they must have {width} values for each canary, as {}",
            base.name()
        )));
    }
    let labels = file
        .labels
        .as_ref()
        .ok_or_else(|| refuse("has no array `labels` with the class of each canary".to_owned()))?;
    // labels are those of the data file, as `dpscope canaries` writes them
    let selected: Vec<f64> = match base.load_summary() {
        Some(summary) => summary.classes.iter().map(|&(label, _)| label.into()).collect(),
        None => (0..classes as u32).map(f64::from).collect(),
    };
    let class = |(canary, label): (usize, &f64)| {
        let class = selected.iter().position(|selected| selected == label);
        class.map(|class| class as u32).ok_or_else(|| {
            let [first, last] = [selected.first(), selected.last()].map(|label| label.unwrap_or(&0.0));
            refuse(format!(
                "has label {label} at index {canary}, which is none of the {classes} classes of {}, \
                 {first} to {last}",
                base.name()
            ))
        })
    };
    let labels = labels.iter().enumerate().map(class).collect::<Result<Vec<u32>, _>>()?;
    let values = file.inputs.data().iter().map(|&value| value as f32).collect();
    let name = match &*name_of(path) {
        name @ ("random" | "mislabelled") => format!("./{name}"),
        name => name.to_owned(),
    };
    let found = Examples::from_values(&name, base.shape(), classes, labels, values);
    found.ok_or_else(|| refuse("has inputs that are not finite as f32".to_owned()))
}
