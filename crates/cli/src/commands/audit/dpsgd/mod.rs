//! `dpscope audit dpsgd`: train models by DP-SGD with a canary, and audit their outputs.

mod args;
pub(in crate::commands::audit) mod device;
mod mechanism;
pub(crate) mod one_run;
mod outputs_file;
pub(in crate::commands) mod training;
pub(super) mod training_files;

use std::path::Path;
use web_time::Instant;

use dpscope_engine::Workload;
use dpscope_report::figure::curves_of_report;
use dpscope_simulation::{Artefact, Evaluate, Plan, PlanError, TrainingDigest};
use dpscope_train::Training;

pub(crate) use args::DpSgdArgs;
pub(crate) use mechanism::mechanism;

use crate::args::{DeviceArgs, ReportArgs};
use crate::commands::merge::MergeArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::saved_run::SavedAudit;
use crate::commands::simulate::{
    count_whole, count_whole_of, idealised, plan, run_and_report, run_on,
};
use crate::device::backend;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::job::{Job, ResumePoint, RunOutcome, float_mode, report_merged};
use device::TrainingDevice;
use one_run::ProtocolArg;
use outputs_file::OutputsFile;
use training_files::TrainingFiles;

pub(crate) fn run(args: &DpSgdArgs) -> CommandResult {
    if args.protocol == Some(ProtocolArg::OneRun) {
        return one_run::run(args);
    }
    reject_unused_options(&args.one_run.present(), "without --protocol one-run")?;
    let run = &args.run;
    let start = ResumePoint::read(run.checkpoint.as_deref(), run.seed)?;
    let seed = start.seed;
    let plan = planned(args, seed)?;
    if !Training::is_needed(&plan.mechanism) {
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

impl SavedAudit for Plan {
    fn resume(args: &ResumeArgs, state: Artefact) -> CommandResult {
        let job = Job::of_checkpoint(state, &args.checkpoint, args.out.as_deref());
        if job.plan.training.is_none() {
            args.check_taken(&[], "a simulated mechanism")?;
            return run_and_report(&job, &args.device, &args.report);
        }
        args.check_taken(
            &["--data", "--outputs-to", "--device-memory"],
            "`audit dpsgd` with two worlds",
        )?;
        args.report.check(job.plan.delta)?;
        let state = job.resumed.as_ref().and_then(|state| state.evidence.training.as_ref());
        let description = state.map_or("", |state| &state.description);
        let training = training::from_description(description, &args.data, &job.plan)
            .map_err(|failure| failure.about(&args.checkpoint))?;
        let is_debiased = training.settings().debias_records > 0;
        let device = TrainingDevice::select(&args.device, args.memory, is_debiased)?;
        let files = TrainingFiles { data: &args.data, outputs_to: args.outputs_to.as_deref() };
        train(training, job, files, &device, &args.report)
    }

    fn merge(args: &MergeArgs, merged: &Artefact, started: Instant) -> CommandResult {
        args.check_taken(&["--allow-gaps"], "an audit with two worlds")?;
        let test = args.report.check(merged.plan.delta)?;
        report_merged(merged, args.out.as_deref(), started, |facts| {
            let idealised = idealised(merged, None, args.report.show.quiet);
            let report = dpscope_simulation::report(
                merged,
                facts,
                idealised,
                &test,
                args.report.shows_metrics(),
            )?;
            args.report.finish(&report, || Ok(curves_of_report(&report, &merged.curve()?)?))
        })
    }
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
    let outputs = files.outputs_to.map(|path| OutputsFile::open(path, &job, &training));
    let outputs = outputs.transpose()?.flatten();
    let models = device.models(job.plan.validated()?, training, outputs.as_ref());
    let result = models.and_then(|models| run_on(&models, &job, device.args, report));
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
