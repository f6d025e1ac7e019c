//! `dpscope audit dpsgd`: train models by DP-SGD with a canary, and audit their outputs.

mod args;
pub(in crate::commands::audit) mod device;
mod mechanism;
pub(crate) mod one_run;
mod outputs_file;
#[cfg(feature = "native")]
mod saved;
pub(in crate::commands) mod training;
pub(super) mod training_files;

use std::path::Path;

use dpscope_engine::Workload;
use dpscope_simulation::{Artefact, Plan, PlanError, TrainingDigest};
use dpscope_train::Training;

pub(crate) use args::DpSgdArgs;
pub(crate) use mechanism::mechanism;

use crate::args::{DeviceArgs, ReportArgs};
use crate::commands::simulate::{count_whole, count_whole_of, plan, run_and_report, run_on};
use crate::device::backend;
use crate::disk::HAS_DISK;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::host;
use crate::job::{Job, ResumePoint, RunOutcome, float_mode};
use device::TrainingDevice;
use one_run::ProtocolArg;
use outputs_file::OutputsFile;
use training_files::TrainingFiles;

pub(crate) fn run(args: &DpSgdArgs) -> CommandResult {
    match args.protocol.unwrap_or(ProtocolArg::TwoWorlds) {
        #[cfg(feature = "two-worlds")]
        ProtocolArg::TwoWorlds => two_worlds(args),
        #[cfg(feature = "many-canaries")]
        ProtocolArg::OneRun => one_run::run(args),
        #[cfg(not(all(feature = "two-worlds", feature = "many-canaries")))]
        _ => Err(Failure::input("--protocol is that of another bundle of the page")),
    }
}

#[cfg(feature = "two-worlds")]
fn two_worlds(args: &DpSgdArgs) -> CommandResult {
    reject_unused_options(&args.one_run.present(), "without --protocol one-run")?;
    let run = &args.run;
    let start = ResumePoint::read(run.checkpoint.as_deref(), run.seed)?;
    let seed = start.seed;
    let plan = planned(args, seed)?;
    if !Training::is_needed(&plan.mechanism) {
        if !HAS_DISK {
            return Err(Failure::input(
                "--threat-model is worst-case, which trains no model; choose another attacker",
            ));
        }
        training::reject_training_options(args)?;
        return run_and_report(
            &Job::new(plan, start, &run.destination())?,
            &run.device,
            &run.report,
        );
    }
    let device = TrainingDevice::select(&run.device, args.memory, args.debias_records > 0)?;
    // before the search for a learning rate, which takes time
    run.report.check(plan.delta)?;
    let training = training::from_args(args, plan.mechanism, seed)?;
    let saved = |state: &Artefact| Some(state.evidence.training.as_ref()?.description.clone());
    start.check_training(run.checkpoint.as_deref(), training.description(), saved)?;
    let digest = TrainingDigest::of(training.description());
    let plan = Plan { training: Some(digest), ..plan };
    let files = args.files();
    train(training, Job::new(plan, start, &run.destination())?, files, &device, &run.report)
}

fn train(
    training: Training,
    job: Job<'_, Plan>,
    files: TrainingFiles<'_>,
    device: &TrainingDevice<'_>,
    report: &ReportArgs,
) -> CommandResult {
    job.check()?;
    let job = Job { resume_options: files.resume_options(training.examples()), ..job };
    // a page passes none, and has no code that writes them
    let outputs = files.outputs_to.filter(|_| HAS_DISK);
    let outputs = outputs.map(|path| OutputsFile::open(path, &job, &training));
    let outputs = outputs.transpose()?.flatten();
    let models = device.models(job.plan.validated()?, training, outputs.as_ref());
    let result = models.and_then(|models| match host::hand_over(models) {
        Some(models) => run_on(&models, &job, device.args, report),
        None => Ok(Exit::Done),
    });
    let is_interrupted = matches!(result, Ok(Exit::Interrupted));
    let saved = match &outputs {
        // also if the report could not be written: its runs are trained
        Some(outputs) if !is_interrupted => outputs.finish(),
        _ => Ok(()),
    };
    let is_incomplete = is_interrupted || (result.is_err() && saved.is_err());
    let has_counts = [job.checkpoint, job.out].into_iter().flatten().any(Path::exists);
    if is_incomplete && !has_counts {
        // outputs without their counts cannot be resumed
        outputs.iter().for_each(OutputsFile::discard);
    }
    let exit = result?;
    saved.map(|()| exit)
}

/// The plan of the options.
pub(crate) fn planned(args: &DpSgdArgs, seed: u64) -> Result<Plan, Failure> {
    let plan = plan(&args.run, mechanism(args)?, args.runs.unwrap_or(0), seed);
    plan.validated().map_err(name_runs)?;
    Ok(plan)
}

/// The counts of the options with their seed, not saved, and the name of the device that counted them.
pub(crate) fn counted(
    args: &DpSgdArgs,
    device: &DeviceArgs,
    quiet: bool,
) -> Result<(RunOutcome<Plan>, String), Failure> {
    let plan = planned(args, args.run.seed.unwrap_or_default())?;
    if !Training::is_needed(&plan.mechanism) {
        let backend = backend(device, float_mode(device, &[]))?;
        return Ok((count_whole(&plan, &backend, quiet)?, backend.device().name));
    }
    let device = TrainingDevice::select(device, args.memory, false)?;
    let training = training::from_args(args, plan.mechanism, plan.seed)?;
    let digest = TrainingDigest::of(training.description());
    let plan = Plan { training: Some(digest), ..plan };
    let models = device.models(plan.validated()?, training, None)?;
    Ok((count_whole_of(&models, quiet)?, models.device().name))
}

/// Names `--runs` in errors about the number of observations.
fn name_runs(error: PlanError) -> Failure {
    match error {
        PlanError::Observations { .. } | PlanError::SplitObservations { .. } => {
            Failure::input(error.to_string().replacen("observations", "--runs", 1))
        }
        error => error.into(),
    }
}
