//! `dpscope check --import`: the record that another accountant has of a training.

use std::path::Path;

use dpscope_core::accounting::Phase;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::claim::PrivacyClaim;
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{
    CheckTarget, CheckVerdict, NamedLoader, NoiseTarget, TrainingDescription,
};
use dpscope_formats::Limits;
use dpscope_formats::accountants::{
    AccountantRecord, FlowerClipping, FlowerPrivacy, GaussianPhase, MAX_RECORD_BYTES,
    read_accountant_record,
};
use dpscope_report::number::counted;
use dpscope_report::record::{ImportedReport, RecordSource};

use super::args::CheckArgs;
use super::correlated_noise;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::files;

/// What a record asks for.
pub(super) enum Import {
    /// Phases without a loader to compare them with.
    Phases(RecordSource, Vec<Phase>),
    /// A description of a training, with what the record says where the options are silent.
    Training(Box<TrainingDescription>, NamedLoader),
}

pub(super) fn read(path: &Path, args: &CheckArgs) -> Result<Import, Failure> {
    let limits = Limits { max_bytes: MAX_RECORD_BYTES, ..Limits::default() };
    let bytes = files::read(path, &limits)?;
    let about = |message: String| Failure::input(message).about(path);
    let record = read_accountant_record(&bytes).map_err(|error| about(error.to_string()))?;
    let (source, phases) = match record {
        AccountantRecord::Flower(flower) => {
            agree_with_flower(&flower, &args.training).map_err(about)?;
            let training = of_flower(&flower, args.training);
            if training.dataset_size.is_none() {
                return Err(about(
                    "the number of clients is missing; pass it as --dataset-size, since the unit of \
                     this check is a client, or add `num-clients`"
                        .to_owned(),
                ));
            }
            let loader = args.loader.clone().map_or_else(flower_loader, Ok)?;
            return Ok(Import::Training(Box::new(training), loader));
        }
        AccountantRecord::Tree(tree) => {
            return Err(correlated_noise::refused_tree(&tree, args.training.delta).about(path));
        }
        AccountantRecord::DpEvent(phases) => (RecordSource::DpEvent, phases),
        AccountantRecord::Opacus(phases) => {
            check_mechanism(&bytes).map_err(about)?;
            (RecordSource::Opacus, phases)
        }
    };
    let Some(loader) = args.loader.clone() else {
        return Ok(Import::Phases(source, phases.iter().map(phase).collect()));
    };
    let one = one_phase(&phases).ok_or_else(|| {
        about(format!(
            "the record has {} that differ in noise or sampling rate, and a loader can be compared \
             with one phase alone; leave out --loader to account for them together",
            counted(phases.len() as u64, "phase")
        ))
    })?;
    agree_with_phase(&one, &args.training).map_err(about)?;
    let training = of_phase(&one, args.training).map_err(|failure| failure.about(path))?;
    Ok(Import::Training(Box::new(training), loader))
}

/// Accountants of Opacus (1.6).
const MECHANISMS: [&str; 3] = ["rdp", "gdp", "prv"];

/// Refuses the state of an accountant that Opacus does not have.
fn check_mechanism(record: &[u8]) -> Result<(), String> {
    #[derive(serde::Deserialize)]
    struct State {
        mechanism: Option<String>,
    }
    let state = serde_json::from_slice(record).ok();
    match state.and_then(|state: State| state.mechanism) {
        Some(name) if !MECHANISMS.contains(&name.as_str()) => Err(format!(
            "$.mechanism: unknown accountant `{}`; known: {}",
            ForeignText::new(&name),
            MECHANISMS.join(", ")
        )),
        _ => Ok(()),
    }
}

/// Refuses an option that a record contradicts: options complete a record.
fn agree(
    name: &str,
    recorded: Option<f64>,
    option: &str,
    value: Option<f64>,
) -> Result<(), String> {
    let (Some(recorded), Some(value)) = (recorded, value) else { return Ok(()) };
    if (value - recorded).abs() <= 1e-9 * recorded.abs() {
        return Ok(());
    }
    Err(format!(
        "the record has {name} {}, but {option} is {}; leave the option out",
        given(recorded),
        given(value)
    ))
}

fn agree_with_phase(phase: &GaussianPhase, options: &TrainingDescription) -> Result<(), String> {
    let noise = Some(phase.noise_multiplier);
    agree("noise multiplier", noise, "--noise-multiplier", options.noise_multiplier)?;
    let (rate, accounted) = (phase.sampling_rate, options.accounted_sampling_rate);
    agree("sampling rate", Some(rate), "--accounted-sampling-rate", accounted)?;
    let accounted = options.accounted_steps.map(|steps| steps as f64);
    agree("steps:", Some(phase.steps as f64), "--accounted-steps", accounted)?;
    match options.accountant {
        Some(sampler) if sampler != SamplerKind::Poisson && rate < 1.0 => Err(format!(
            "the record is that of Poisson batches, but --accountant is {sampler}; leave the \
             option out"
        )),
        _ => Ok(()),
    }
}

fn agree_with_flower(flower: &FlowerPrivacy, options: &TrainingDescription) -> Result<(), String> {
    let count = |value: Option<u64>| value.map(|value| value as f64);
    let sampled = count(Some(flower.sampled_clients));
    let rounds = count(flower.rounds);
    let noise = Some(flower.noise_multiplier);
    agree("noise multiplier", noise, "--noise-multiplier", options.noise_multiplier)?;
    agree("clients:", count(flower.clients), "--dataset-size", count(options.dataset_size))?;
    agree("sampled clients:", sampled, "--batch-size", count(options.batch_size))?;
    agree("rounds:", rounds, "--total-steps", count(options.total_steps))?;
    if let Some(clients) = flower.clients.or(options.dataset_size) {
        let epoch = clients.div_ceil(flower.sampled_clients) as f64;
        let in_rounds = options.epochs.map(|epochs| (epochs * epoch).ceil());
        agree("rounds:", rounds, "--epochs in rounds", in_rounds)?;
    }
    let FlowerClipping::Fixed { norm } = flower.clipping else { return Ok(()) };
    agree("clipping norm", Some(norm), "--clip-norm", options.clip_norm)?;
    if options.noise_on == Some(NoiseTarget::Sum) && options.noise_std.is_none() {
        return Err("Flower adds noise to the mean, but --noise-on is sum; leave the option out, \
                    or add --noise-std"
            .to_owned());
    }
    Ok(())
}

fn phase(phase: &GaussianPhase) -> Phase {
    let GaussianPhase { noise_multiplier, sampling_rate, steps } = *phase;
    Phase { noise_multiplier, sampling_rate, steps }
}

/// All steps, if they have the same noise and rate.
fn one_phase(phases: &[GaussianPhase]) -> Option<GaussianPhase> {
    let first = *phases.first()?;
    let is_same = |phase: &GaussianPhase| {
        (phase.noise_multiplier, phase.sampling_rate)
            == (first.noise_multiplier, first.sampling_rate)
    };
    let steps = phases.iter().map(|phase| phase.steps).sum();
    phases.iter().all(is_same).then_some(GaussianPhase { steps, ..first })
}

/// What an accountant assumed; the batch size follows from its rate and the number of records.
fn of_phase(
    phase: &GaussianPhase,
    options: TrainingDescription,
) -> Result<TrainingDescription, Failure> {
    let GaussianPhase { noise_multiplier, sampling_rate, steps } = *phase;
    let batch_size = batch_size(sampling_rate, &options)?;
    // every record in every step is the Gaussian mechanism, whatever the sampler
    let is_whole = sampling_rate == 1.0 && batch_size == options.dataset_size;
    let assumed = if is_whole { SamplerKind::Deterministic } else { SamplerKind::Poisson };
    Ok(TrainingDescription {
        batch_size,
        total_steps: options.total_steps.or(options.epochs.is_none().then_some(steps)),
        noise_multiplier: Some(noise_multiplier),
        accountant: options.accountant.or(Some(assumed)),
        accounted_sampling_rate: Some(sampling_rate),
        accounted_steps: Some(steps),
        ..options
    })
}

/// The batch size of the options, or that of the sampling rate; none without the number of records.
fn batch_size(sampling_rate: f64, options: &TrainingDescription) -> Result<Option<u64>, Failure> {
    let (None, Some(records)) = (options.batch_size, options.dataset_size) else {
        return Ok(options.batch_size);
    };
    let missing =
        |reason: &str| Failure::input(format!("--batch-size is missing; {reason}; add it"));
    if options.noise_on == Some(NoiseTarget::Mean) {
        return Err(missing(
            "the noise of a mean depends on it, and the record has a sampling rate only",
        ));
    }
    options.batch_size_of_rate(sampling_rate).map(Some).ok_or_else(|| {
        let records = counted(records, "record");
        missing(&format!(
            "no size gives the sampling rate of the record, {sampling_rate}, with {records}"
        ))
    })
}

/// Clients as records, rounds as steps; noise is added to the mean of the clients.
fn of_flower(flower: &FlowerPrivacy, options: TrainingDescription) -> TrainingDescription {
    let clients = flower.sampled_clients;
    let mut training = TrainingDescription {
        dataset_size: options.dataset_size.or(flower.clients),
        batch_size: Some(clients),
        total_steps: options.total_steps.or(flower.rounds.filter(|_| options.epochs.is_none())),
        noise_multiplier: Some(flower.noise_multiplier),
        ..options
    };
    if let (FlowerClipping::Fixed { norm }, None) = (flower.clipping, training.noise_std) {
        training.noise_std = Some(flower.noise_multiplier * norm / clients as f64);
        training.clip_norm = training.clip_norm.or(Some(norm));
        training.noise_on = training.noise_on.or(Some(NoiseTarget::Mean));
    }
    training
}

fn flower_loader() -> Result<NamedLoader, Failure> {
    "flwr.serverapp.strategy.FedAvg".parse().map_err(Failure::input)
}

/// Prints ε of the phases.
pub(super) fn report(source: RecordSource, phases: Vec<Phase>, args: &CheckArgs) -> CommandResult {
    let TrainingDescription { claim, delta, claim_adjacency, .. } = args.training;
    let rest =
        TrainingDescription { claim: None, delta: None, claim_adjacency: None, ..args.training };
    if rest != TrainingDescription::default() {
        return Err(Failure::input(
            "a record without --loader is accounted for as it is, so that options of the training \
             have no effect; pass --loader, or only --claim, --delta and --claim-adjacency",
        ));
    }
    reject_unused_options(
        &[("--statement", args.privacy_statement.is_asked())],
        "on a record without --loader",
    )?;
    let missing = || Failure::input("--delta is missing; add it");
    let delta = CheckTarget::delta_of(claim, delta).ok_or_else(missing)?;
    let adjacency = claim_adjacency.unwrap_or(Adjacency::AddRemove);
    let claim = claim.map(|epsilon| PrivacyClaim { epsilon, delta, adjacency });
    if let Some(claim) = claim {
        claim.check()?;
    }
    let report = ImportedReport::new(source, phases, delta, claim)?;
    args.delivery().deliver(&report, || Err("phases of a record have no curve here".to_owned()))?;
    Ok(match report.claim.map(|claim| claim.verdict) {
        Some(CheckVerdict::Refuted) => Exit::Refuted,
        Some(CheckVerdict::Inconclusive) => Exit::Inconclusive,
        Some(CheckVerdict::HoldsAsDescribed) | None => Exit::Done,
    })
}
