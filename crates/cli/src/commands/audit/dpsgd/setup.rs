//! Model, data, mechanism and rates of a training, from the command line.

use std::borrow::Cow;
use std::path::Path;

use dpscope_core::accounting::{Calibration, Parameter};
use dpscope_core::format::given;
use dpscope_core::mechanism::{BatchedGaussian, SamplerKind, ThreatModel};
use dpscope_engine::Plan;
use dpscope_train::data::{Examples, LoadOptions, Source, SyntheticData, load};
use dpscope_train::model::ModelSpec;
use dpscope_train::{
    Canary, DataDescription, Training, TrainingDescription, TrainingSettings, search_learning_rate,
};

use super::DpSgdArgs;
use super::args::{CanaryArg, RateArg};
use crate::args::DataArgs;
use crate::failure::{Exit, Failure, refuse_idle};
use crate::files::{limits, name_of, read, read_text};
use crate::output::tell;
use crate::progress::is_interrupted;

/// Held-out records of data that is made up.
const HELD_OUT: usize = 2_000;

/// A model that is built in: its spec, the data of its shape, its learning rate there.
struct BuiltIn {
    name: &'static str,
    spec: fn() -> ModelSpec,
    data: SyntheticData,
    learning_rate: f64,
}

/// Rates found by `--learning-rate search` at B = 100 and a Poisson ε of 4.
const BUILT_IN: [BuiltIn; 3] = [
    BuiltIn {
        name: "mlp",
        spec: ModelSpec::mlp,
        data: SyntheticData::P100Like,
        learning_rate: 3.0,
    },
    BuiltIn {
        name: "lenet",
        spec: ModelSpec::lenet,
        data: SyntheticData::FmnistLike,
        learning_rate: 3.0,
    },
    BuiltIn {
        name: "cnn",
        spec: ModelSpec::cnn,
        data: SyntheticData::CifarLike,
        learning_rate: 1.0,
    },
];

/// Who attacks, where it is not said: one who holds a record of every batch, if that is defined.
fn threat_model(args: &DpSgdArgs) -> ThreatModel {
    let defined = args.sampler.sampler.threat_models();
    let default = if defined.contains(&ThreatModel::PartiallyInformed) {
        ThreatModel::PartiallyInformed
    } else {
        args.sampler.sampler.default_threat_model()
    };
    args.sampler.threat_model.unwrap_or(default)
}

/// Steps of an epoch, and σ as given or calibrated.
pub(super) fn mechanism(args: &DpSgdArgs) -> Result<BatchedGaussian, Failure> {
    let batch_size = args.sampler.batch_size.ok_or_else(|| {
        Failure::input("--batch-size is missing; give the records of a batch, e.g. 100")
    })?;
    let steps = args.records / u64::from(batch_size);
    if steps == 0 {
        return Err(Failure::input(format!(
            "--batch-size {batch_size} is larger than --records {}; give a smaller batch",
            args.records
        )));
    }
    let dropped = args.records % u64::from(batch_size);
    if dropped > 0 {
        tell(&format!(
            "the last {dropped} of {} records fill no batch of {batch_size} and are left out; \
             {steps} steps an epoch remain",
            args.records
        ));
    }
    let noise_multiplier = match (args.noise_multiplier, args.poisson_epsilon) {
        (Some(noise_multiplier), _) => noise_multiplier,
        (None, epsilon) => {
            let epochs = u64::from(args.epochs);
            calibrated(epsilon.unwrap_or(f64::NAN), args.run.statement.delta, steps, epochs)?
        }
    };
    let steps_per_epoch = u32::try_from(steps).unwrap_or(u32::MAX);
    let mechanism = BatchedGaussian {
        noise_multiplier,
        steps_per_epoch,
        epochs: args.epochs,
        sampler: args.sampler.sampler()?,
        threat_model: threat_model(args),
        batch_size: Some(batch_size),
    };
    mechanism.distribution()?;
    Ok(mechanism)
}

/// The noise multiplier at which Poisson sampled batches have this ε.
pub(crate) fn calibrated(
    epsilon: f64,
    delta: f64,
    steps: u64,
    epochs: u64,
) -> Result<f64, Failure> {
    let calibration = Calibration {
        parameter: Parameter::Noise,
        sampler: SamplerKind::Poisson,
        epsilon,
        delta,
        noise_multiplier: None,
        steps: Some(steps),
        epochs: Some(epochs),
        sampling_rate: None,
    };
    let found = calibration.run().map_err(Failure::input)?;
    Ok(found.value)
}

/// In the worst case there are neither models nor data; what names them would have no effect.
pub(super) fn refuse_what_is_not_trained(args: &DpSgdArgs) -> Result<(), Failure> {
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
    refuse_idle(
        &unused,
        "under threat model worst-case, where the attacker gives every gradient and nothing is trained",
    )
}

/// Records that are trained on: what fills no batch is not.
fn records(mechanism: &BatchedGaussian) -> usize {
    let batch_size = mechanism.batch_size.unwrap_or(0);
    let records = u64::from(mechanism.steps_per_epoch) * u64::from(batch_size);
    usize::try_from(records).unwrap_or(usize::MAX)
}

/// The training that the arguments describe, with its learning rate.
pub(super) fn training(
    args: &DpSgdArgs,
    mechanism: BatchedGaussian,
    seed: u64,
) -> Result<Training, Failure> {
    let built_in = BUILT_IN.iter().find(|model| model.name == args.model);
    let spec = match built_in {
        Some(model) => (model.spec)(),
        None => model_file(Path::new(&args.model))?,
    };
    let examples = examples(&args.data, built_in, records(&mechanism))?;
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
    let training = Training::new(&spec, examples, mechanism, settings, seed)?;
    if rate != RateArg::Search {
        return Ok(training);
    }
    let (training, search) = search_learning_rate(training, &|| !is_interrupted())?;
    tell(&format!("learning rate {} found by a search", given(search.best)));
    Ok(training)
}

/// A model that is built in, on made-up data, as it is trained where nothing else is said.
pub(super) fn built_in(
    name: &str,
    mechanism: BatchedGaussian,
    has_fresh_canary: bool,
    seed: u64,
) -> Result<Training, Failure> {
    let model = BUILT_IN.iter().find(|model| model.name == name);
    let model = model.ok_or_else(|| Failure::with(Exit::Internal, format!("no model {name}")))?;
    let settings = TrainingSettings {
        clip_norm: 1.0,
        learning_rate: model.learning_rate,
        canary: Canary { direction: CanaryArg::Random.into(), is_fresh: has_fresh_canary },
        debias_records: 0,
    };
    let examples = model.data.generate(records(&mechanism), HELD_OUT).map_err(Failure::input)?;
    Ok(Training::new(&(model.spec)(), examples, mechanism, settings, seed)?)
}

fn model_file(path: &Path) -> Result<ModelSpec, Failure> {
    if !path.exists() {
        return Err(Failure::input(format!(
            "--model {} is neither mlp, lenet nor cnn, nor a file",
            path.display()
        )));
    }
    let text = read_text(path, ModelSpec::MAX_BYTES as u64)?;
    ModelSpec::from_toml(&text).map_err(|error| Failure::input(error).about(path))
}

/// The training that a checkpoint describes, with its data, made up anew or given again.
pub(super) fn described(
    description: &str,
    args: &DataArgs,
    plan: &Plan,
) -> Result<Training, Failure> {
    let description = TrainingDescription::from_json(description)?;
    let DataDescription { name, records, held_out, .. } = &description.data;
    let records = *records as usize;
    let examples = match (&args.data, name.parse::<SyntheticData>()) {
        (None, Ok(synthetic)) => synthetic.generate(records, *held_out).map_err(Failure::input)?,
        (None, Err(_)) => {
            return Err(Failure::input(format!(
                "the models are trained on {name}; give that file again with --data, and its --labels \
                 and --classes if they were given"
            )));
        }
        (Some(_), _) => examples(args, None, records)?,
    };
    Ok(description.training(examples, plan.mechanism, plan.seed)?)
}

/// The name of a file of data, which is none of data that is made up.
fn name_of_data(path: &Path) -> Cow<'_, str> {
    match name_of(path) {
        name if name.parse::<SyntheticData>().is_ok() => format!("./{name}").into(),
        name => name,
    }
}

/// Data that is named, or that of the model's shape.
fn examples(
    args: &DataArgs,
    built_in: Option<&BuiltIn>,
    records: usize,
) -> Result<Examples, Failure> {
    let synthetic = match &args.data {
        None => Some(built_in.map(|model| model.data).ok_or_else(|| {
            Failure::input("--data is missing; a model of your own needs data of its shape")
        })?),
        Some(name) => name.parse::<SyntheticData>().ok(),
    };
    if let Some(synthetic) = synthetic {
        let unused = [("--labels", args.labels.is_some()), ("--classes", args.classes.is_some())];
        let name = synthetic.name();
        refuse_idle(&unused, &format!("on {name}, which is made up with its labels"))?;
        if args.data.is_some() && Path::new(name).exists() {
            tell(&format!("{name} is made up here; the file of that name is --data ./{name}"));
        }
        return synthetic.generate(records, HELD_OUT).map_err(Failure::input);
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
    let options = LoadOptions { records: Some(records), classes, limits: limits.clone() };
    let examples = load(data, labels, &options).map_err(Failure::input)?;
    if let Some(summary) = examples.load_summary() {
        tell(&summary.sentences().join("; "));
    }
    Ok(examples)
}
