//! Saved states of audits with two worlds.

use web_time::Instant;

use dpscope_report::figure::curves_of_report;
use dpscope_simulation::{Artefact, Evaluate, Plan};

use super::device::TrainingDevice;
use super::training_files::TrainingFiles;
use super::{train, training};
use crate::commands::merge::MergeArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::saved_run::SavedAudit;
use crate::commands::simulate::{idealised, run_and_report};
use crate::failure::CommandResult;
use crate::job::{Job, report_merged};

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
