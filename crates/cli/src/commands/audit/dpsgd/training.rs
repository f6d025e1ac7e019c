//! Model, data and settings of a training, from options or from a checkpoint.

use std::borrow::Cow;
use std::path::Path;

use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_simulation::Plan;
use dpscope_train::data::{Examples, LoadOptions, Source, SyntheticData, load};
use dpscope_train::model::ModelSpec;
use dpscope_train::{
    BuiltInModel, Canary, DataDescription, TrainError, Training, TrainingDescription,
    TrainingSettings, search_learning_rate,
};

use super::DpSgdArgs;
use super::args::{CanaryArg, RateArg};
use crate::args::DataArgs;
use crate::disk::HAS_DISK;
use crate::failure::{Failure, reject_unused_options};
use crate::files::{limits, name_of, read, read_text};
use crate::output::print_note;
use crate::progress::keep_going;

/// Rejects options of models and data in the worst case, which trains no model.
pub(super) fn reject_training_options(args: &DpSgdArgs) -> Result<(), Failure> {
    let unused = [
        ("--data", args.data.data.is_some()),
        ("--learning-rate", args.learning_rate.is_some()),
        ("--outputs-to", args.outputs_to.is_some()),
        ("--debias-records", args.debias_records > 0),
        ("--model", args.model != DpSgdArgs::MODEL),
        ("--clip-norm", args.clip_norm != 1.0),
        ("--canary", args.canary != CanaryArg::Random),
        ("--fixed-canary", args.fixed_canary),
    ];
    reject_unused_options(
        &unused,
        "under threat model worst-case, in which the attacker chooses every gradient and no model is trained",
    )
}

/// Records of an epoch: all, or those in whole batches where these are cut from an order.
pub(super) fn records(mechanism: &BatchedGaussian) -> usize {
    usize::try_from(mechanism.records_per_epoch().unwrap_or(0)).unwrap_or(usize::MAX)
}

/// The training described by the options; may search for a learning rate.
pub(super) fn from_args(
    args: &DpSgdArgs,
    mechanism: BatchedGaussian,
    seed: u64,
) -> Result<Training, Failure> {
    let model = Model::named(&args.model)?;
    let built_in = model.built_in();
    let examples = examples(&args.data, built_in, Selection::of(records(&mechanism)))?;
    let own_rate = built_in.map(|model| model.learning_rate);
    let rate = args.learning_rate.or(own_rate.map(RateArg::Given)).unwrap_or(RateArg::Search);
    let settings = TrainingSettings {
        clip_norm: args.clip_norm,
        learning_rate: match rate {
            RateArg::Given(rate) => rate,
            RateArg::Search => 1.0,
        },
        canary: Canary { direction: args.canary.into(), is_fresh: !args.fixed_canary },
        debias_records: args.debias_records,
    };
    let training = Training::new(&model.fitted(&examples), examples, mechanism, settings, seed)
        .map_err(option_of)?;
    if rate != RateArg::Search {
        return Ok(training);
    }
    if !HAS_DISK {
        return Err(Failure::input("--learning-rate is search, which takes too long for a page"));
    }
    let (training, search) = search_learning_rate(training, &keep_going())?;
    print_note(&format!("found learning rate {} by search", given(search.best)));
    Ok(training)
}

/// A model by its name, or of a file.
pub(in crate::commands) enum Model {
    BuiltIn(&'static BuiltInModel),
    File(ModelSpec),
}

impl Model {
    pub(in crate::commands) fn named(name: &str) -> Result<Self, Failure> {
        match BuiltInModel::named(name) {
            Some(model) => Ok(Model::BuiltIn(model)),
            None => model_file(Path::new(name)).map(Model::File),
        }
    }

    pub(in crate::commands) fn built_in(&self) -> Option<&'static BuiltInModel> {
        match self {
            Model::BuiltIn(model) => Some(model),
            Model::File(_) => None,
        }
    }

    /// Its layers for these data.
    pub(in crate::commands) fn fitted(&self, examples: &Examples) -> Cow<'_, ModelSpec> {
        match self {
            Model::BuiltIn(model) => Cow::Owned(model.fitted(examples)),
            Model::File(spec) => Cow::Borrowed(spec),
        }
    }
}

fn model_file(path: &Path) -> Result<ModelSpec, Failure> {
    // a page has no model files, and no code that reads them
    if !HAS_DISK || !path.exists() {
        return Err(Failure::input(format!(
            "--model {} is not mlp, lenet, cnn or an existing file",
            ForeignText::new(path)
        )));
    }
    let text = read_text(path, ModelSpec::MAX_BYTES as u64)?;
    ModelSpec::from_toml(&text).map_err(|error| Failure::input(error).about(path))
}

/// The training described by a checkpoint; its data are generated again or read from `--data`.
pub(super) fn from_description(
    description: &str,
    args: &DataArgs,
    plan: &Plan,
) -> Result<Training, Failure> {
    let description = TrainingDescription::from_json(description)?;
    let records = description.data.records as usize;
    let examples = data_of_description(&description.data, args, Selection::of(records))?;
    Ok(description.training(examples, plan.mechanism, plan.seed)?)
}

/// The data of a checkpoint, generated again or read from `--data`.
pub(in crate::commands::audit) fn data_of_description(
    DataDescription { name, held_out, .. }: &DataDescription,
    args: &DataArgs,
    selection: Selection<'_>,
) -> Result<Examples, Failure> {
    match (&args.data, name.parse::<SyntheticData>()) {
        (None, Ok(synthetic)) => {
            synthetic.generate(selection.records, *held_out).map_err(Failure::input)
        }
        (None, Err(_)) => Err(Failure::input(format!(
            "the models are trained on {name}; pass that file with --data, and the same --labels and \
             --classes as before"
        ))),
        (Some(_), _) => examples(args, None, selection),
    }
}

/// The name of a data file, distinguished from names of synthetic data.
fn name_of_data(path: &Path) -> Cow<'_, str> {
    match name_of(path) {
        name if name.parse::<SyntheticData>().is_ok() => format!("./{name}").into(),
        name => name,
    }
}

/// Which records of a data set are used for training.
#[derive(Clone, Copy)]
pub(in crate::commands) struct Selection<'a> {
    /// Their number, unless clients are read.
    pub(in crate::commands) records: usize,
    /// The column of clients.
    pub(in crate::commands) client_column: Option<&'a str>,
}

impl Selection<'_> {
    pub(in crate::commands) const fn of(records: usize) -> Self {
        Selection { records, client_column: None }
    }
}

/// The data named by `--data`, or synthetic data of the model's shape.
pub(in crate::commands) fn examples(
    args: &DataArgs,
    built_in: Option<&BuiltInModel>,
    Selection { records, client_column }: Selection<'_>,
) -> Result<Examples, Failure> {
    let synthetic = match &args.data {
        None => Some(built_in.map(|model| model.data).ok_or_else(|| {
            Failure::input("--data is missing; a model file needs data of its shape")
        })?),
        Some(name) => name.parse::<SyntheticData>().ok(),
    };
    if let Some(synthetic) = synthetic {
        let unused = [
            ("--labels", args.labels.is_some()),
            ("--classes", args.classes.is_some()),
            ("--client-column", client_column.is_some()),
        ];
        let name = synthetic.name();
        reject_unused_options(
            &unused,
            &format!("with {name}, which is synthetic and has its own labels"),
        )?;
        if args.data.is_some() && Path::new(name).exists() {
            print_note(&format!(
                "using built-in synthetic data {name}; pass --data ./{name} to use the file of that name"
            ));
        }
        return synthetic.generate(records, BuiltInModel::HELD_OUT).map_err(Failure::input);
    }
    let path = Path::new(args.data.as_deref().unwrap_or_default());
    let limits = limits();
    let bytes = read(path, &limits)?;
    let labels = match args.labels.as_deref() {
        Some(path) => Some((read(path, &limits)?, name_of(path))),
        None => None,
    };
    let data = Source { name: &name_of_data(path), bytes: &bytes };
    let labels = labels.as_ref().map(|(bytes, name)| Source { name, bytes });
    let classes = args.classes.as_deref();
    let limits = limits.clone();
    let options = LoadOptions { records: Some(records), classes, client_column, limits };
    let examples = load(data, labels, &options)?;
    if let Some(summary) = examples.load_summary() {
        print_note(&summary.sentences().join("; "));
    }
    Ok(examples)
}

/// Names the option of a number outside its domain.
pub(super) fn option_of(error: TrainError) -> Failure {
    match error {
        TrainError::Domain { .. } => {
            let text = error.to_string().replace("pre_training.", "pretrain-");
            Failure::input(format!("--{}", text.replace('_', "-")))
        }
        TrainError::TooFewCanaryRecords { data, found, needed } => Failure::input(format!(
            "{data} has {found} records, but the batches and --pretrain-records need {needed}; \
             use smaller batches or more data"
        )),
        TrainError::OneClass { data } => {
            Failure::input(format!("{data} has one class; pass --canary-kind random"))
        }
        error => error.into(),
    }
}
