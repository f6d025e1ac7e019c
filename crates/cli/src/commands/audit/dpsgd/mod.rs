//! `dpscope audit dpsgd`: train models by DP-SGD with a canary, and audit what the attacker sees.

mod args;
mod device;
mod outputs_file;
mod setup;

pub(crate) use args::DpSgdArgs;

use std::path::Path;

use dpscope_engine::{Backend, Plan, PlanError, TrainingDigest};
use dpscope_train::Training;

use crate::args::{Asked, DataArgs, DeviceArgs, MemoryArgs};
use crate::commands::resume::ResumeArgs;
use crate::commands::simulate::{
    Job, begun, check, check_asked, quoted, quoted_path, run_and_report, run_on,
};
use crate::failure::{Done, Exit, Failure};
use device::TrainingDevice;
use outputs_file::OutputsFile;
pub(crate) use setup::calibrated;

pub(crate) fn run(args: &DpSgdArgs) -> Done {
    let run = &args.run;
    let begun = begun(run.checkpoint.as_deref(), run.seed)?;
    let mechanism = setup::mechanism(args)?;
    let plan = run.plan(mechanism, args.runs, begun.seed);
    plan.validated().map_err(of_runs)?;
    if !Training::is_needed(&mechanism) {
        setup::refuse_what_is_not_trained(args)?;
        return run_and_report(&Job::of(plan, begun, run)?, run.asked());
    }
    let device = TrainingDevice::of(&run.device, args.memory, args.debias_records > 0)?;
    // a search for the learning rate is work
    check_asked(run.asked(), plan.delta)?;
    let training = setup::training(args, mechanism, begun.seed)?;
    let digest = TrainingDigest::of(training.description());
    let plan = Plan { training: Some(digest), ..plan };
    let files = Files { data: &args.data, outputs_to: args.outputs_to.as_deref() };
    train(training, Job::of(plan, begun, run)?, files, (&device, run.asked()))
}

/// Goes on with a checkpoint of trained models.
pub(crate) fn resume(args: &ResumeArgs, job: Job<'_>) -> Done {
    let plan = *job.plan.plan();
    check_asked(args.asked(), plan.delta)?;
    let state = job.resumed.as_ref().and_then(|state| state.training.as_ref());
    let description = state.map_or("", |state| &state.description);
    let training = setup::described(description, &args.data, &plan)
        .map_err(|failure| failure.about(&args.checkpoint))?;
    let is_debiased = training.settings().debias_records > 0;
    let device = TrainingDevice::of(&args.device, args.memory, is_debiased)?;
    let files = Files { data: &args.data, outputs_to: args.outputs_to.as_deref() };
    train(training, job, files, (&device, args.asked()))
}

/// What goes into a training and what is kept of it.
#[derive(Clone, Copy)]
struct Files<'a> {
    data: &'a DataArgs,
    outputs_to: Option<&'a Path>,
}

impl Files<'_> {
    /// The options that a command which goes on repeats.
    fn repeat(&self, training: &Training) -> String {
        let mut out = String::new();
        if training.examples().load_summary().is_some() {
            let DataArgs { data, labels, classes } = self.data;
            let classes = classes
                .as_ref()
                .map(|classes| classes.iter().map(u32::to_string).collect::<Vec<_>>().join(","));
            let labels = labels.as_deref().map(quoted_path);
            let given =
                [("data", data.as_deref().map(quoted)), ("labels", labels), ("classes", classes)];
            for (name, value) in given {
                out.extend(value.map(|value| format!(" --{name} {value}")));
            }
        }
        let outputs_to = self.outputs_to.map(quoted_path);
        out.extend(outputs_to.map(|path| format!(" --outputs-to {path}")));
        out
    }
}

fn train(
    training: Training,
    job: Job<'_>,
    files: Files<'_>,
    (device, asked): (&TrainingDevice<'_>, Asked<'_>),
) -> Done {
    check(&job)?;
    let job = Job { repeat: files.repeat(&training), ..job };
    let outputs = files.outputs_to.map(|path| OutputsFile::open(path, &job, &training));
    let outputs = outputs.transpose()?.flatten();
    let backend = device.backend(training, outputs.as_ref());
    let ended = backend.and_then(|backend| run_on(&backend, &job, asked));
    let is_interrupted = matches!(ended, Ok(Exit::Interrupted));
    let kept = match &outputs {
        // also where the report could not be written: its runs are trained
        Some(outputs) if !is_interrupted => outputs.finish(),
        _ => Ok(()),
    };
    let is_part = is_interrupted || (ended.is_err() && kept.is_err());
    let is_counted = [job.checkpoint, job.out].into_iter().flatten().any(Path::exists);
    if is_part && !is_counted {
        // without the counts beside them they are of no use
        outputs.iter().for_each(OutputsFile::discard);
    }
    let exit = ended?;
    kept.map(|()| exit)
}

/// What trains a model that is built in, and names it in a plan.
pub(crate) fn built_in(
    name: &str,
    plan: &Plan,
    has_fresh_canary: bool,
    device: &DeviceArgs,
) -> Result<(Backend, TrainingDigest), Failure> {
    let device = TrainingDevice::of(device, MemoryArgs { device_memory: None }, false)?;
    let training = setup::built_in(name, plan.mechanism, has_fresh_canary, plan.seed)?;
    let digest = TrainingDigest::of(training.description());
    Ok((device.backend(training, None)?, digest))
}

/// Here observations are runs, as the option is called.
pub(crate) fn of_runs(error: PlanError) -> Failure {
    match error {
        PlanError::Observations { .. } | PlanError::SplitObservations { .. } => {
            Failure::input(error.to_string().replacen("observations", "--runs", 1))
        }
        error => error.into(),
    }
}
