//! Saved states of audits with many canaries.

use web_time::Instant;

use dpscope_engine::Artefact;
use dpscope_train::one_run::{OneRunDescription, OneRunPlan};

use super::report::{check, finish};
use super::{Files, train, training};
use crate::commands::audit::dpsgd::device::TrainingDevice;
use crate::commands::audit::dpsgd::training_files::TrainingFiles;
use crate::commands::merge::MergeArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::saved_run::SavedAudit;
use crate::failure::CommandResult;
use crate::job::{Job, report_merged};

impl SavedAudit for OneRunPlan {
    fn resume(args: &ResumeArgs, state: Artefact<Self>) -> CommandResult {
        args.check_taken(&["--data", "--canary-file", "--device-memory"], "protocol one-run")?;
        let canary_file = args.canary_file.as_deref();
        let description = OneRunDescription::from_json(&state.evidence.description)?;
        let training =
            training::from_description(&description, (&args.data, canary_file), &state.plan)
                .map_err(|failure| failure.about(&args.checkpoint))?;
        let settings = &description.settings;
        let is_debiased = settings.is_white_box && settings.debias_records > 0;
        let device = TrainingDevice::select(&args.device, args.memory, is_debiased)?;
        let files = TrainingFiles { data: &args.data, outputs_to: None };
        let files = Files { data: files, canary_file };
        let job = Job::of_checkpoint(state, &args.checkpoint, args.out.as_deref());
        train(training, job, &files, &device, &args.report)
    }

    fn merge(args: &MergeArgs, merged: &Artefact<Self>, started: Instant) -> CommandResult {
        args.check_taken(&[], "protocol one-run")?;
        let description = OneRunDescription::from_json(&merged.evidence.description)?;
        check(&args.report, &merged.plan, description.settings.slots.adjacency())?;
        report_merged(merged, args.out.as_deref(), started, |facts| {
            finish(merged, facts, &args.report)
        })
    }
}
