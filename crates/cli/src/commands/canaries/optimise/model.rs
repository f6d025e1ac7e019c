//! Model and data of the trainings.

use std::path::Path;

use dpscope_train::data::{Examples, LoadOptions, Source, SyntheticData, load};
use dpscope_train::metagradient::SmoothModel;
use dpscope_train::{ModelSpec, Network};

use super::args::OptimiseArgs;
use crate::args::DataArgs;
use crate::disk::HAS_DISK;
use crate::failure::{Failure, reject_unused_options};
use crate::files::{limits, name_of, read, read_text};
use crate::output::print_note;

/// The network of `--model` for some data.
pub(crate) fn network(model: &str, examples: &Examples) -> Result<(ModelSpec, Network), Failure> {
    let path = Path::new(model);
    let spec = match SmoothModel::named(model) {
        Some(built_in) => built_in.spec(examples.shape(), examples.classes()),
        // no code of a page reads model files, which were refused before
        None if !HAS_DISK => return Err(Failure::input(format!("--model is {model}, a file"))),
        None => {
            let text = read_text(path, ModelSpec::MAX_BYTES as u64)?;
            ModelSpec::from_toml(&text).map_err(|error| Failure::input(error).about(path))?
        }
    };
    let network = Network::new(&spec).map_err(|error| {
        Failure::input(format!("--model {model} on data of shape {}: {error}", examples.shape()))
    })?;
    if network.input() != examples.shape() || network.classes() < examples.classes() {
        return Err(Failure::input(format!(
            "--model {model} takes examples of shape {} in {} classes, but {} has shape {} and {} \
             classes; change the model's input or outputs",
            network.input(),
            network.classes(),
            examples.name(),
            examples.shape(),
            examples.classes()
        )));
    }
    Ok((spec, network))
}

/// The data of `--data`, or synthetic data of the model's kind, with records for canaries.
pub(super) fn examples(args: &OptimiseArgs) -> Result<Examples, Failure> {
    let own = SmoothModel::named(&args.model).map(|model| model.data);
    if own.is_none() && !(HAS_DISK && Path::new(&args.model).exists()) {
        let problem = format!("--model {} is not mlp, lenet, cnn or an existing file", args.model);
        return Err(Failure::input(problem));
    }
    load_data(&args.data, own, args.count, args.records)
}

/// Data with `count` records for canaries and `records` others.
pub(crate) fn load_data(
    args: &DataArgs,
    own: Option<SyntheticData>,
    count: u64,
    records: Option<u64>,
) -> Result<Examples, Failure> {
    let synthetic = match &args.data {
        None => Some(own.ok_or_else(|| {
            Failure::input("--data is missing; a model file needs data of its shape")
        })?),
        Some(name) => name.parse::<SyntheticData>().ok(),
    };
    let needed = |others: u64| usize::try_from(count.saturating_add(others)).unwrap_or(usize::MAX);
    if let Some(synthetic) = synthetic {
        let unused = [("--labels", args.labels.is_some()), ("--classes", args.classes.is_some())];
        let why = format!("with {}, which is synthetic and has its own labels", synthetic.name());
        reject_unused_options(&unused, &why)?;
        let records = needed(records.unwrap_or(SmoothModel::SYNTHETIC_RECORDS as u64));
        return synthetic.generate(records, 0).map_err(Failure::input);
    }
    let path = Path::new(args.data.as_deref().unwrap_or_default());
    let limits = limits();
    let bytes = read(path, &limits)?;
    let labels = match args.labels.as_deref() {
        Some(path) => Some((read(path, &limits)?, name_of(path))),
        None => None,
    };
    let data = Source { name: &name_of(path), bytes: &bytes };
    let labels = labels.as_ref().map(|(bytes, name)| Source { name, bytes });
    let records = records.map(needed);
    let options = LoadOptions {
        records,
        classes: args.classes.as_deref(),
        client_column: None,
        limits: limits.clone(),
    };
    let examples =
        load(data, labels, &options).map_err(|error| Failure::from(error).about(path))?;
    if let Some(summary) = examples.load_summary() {
        print_note(&summary.sentences().join("; "));
    }
    Ok(examples)
}
