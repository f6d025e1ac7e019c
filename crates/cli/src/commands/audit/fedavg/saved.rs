//! Saved states of federated trainings.

use web_time::Instant;

use dpscope_engine::Artefact;
use dpscope_train::federated::{FederatedDescription, FederatedPlan, FederatedTraining};

use super::report::{check, finish};
use super::{device, train};
use crate::commands::audit::dpsgd::training::{Selection, data_of_description};
use crate::commands::audit::dpsgd::training_files::TrainingFiles;
use crate::commands::merge::MergeArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::saved_run::SavedAudit;
use crate::failure::CommandResult;
use crate::job::{Job, report_merged};

impl SavedAudit for FederatedPlan {
    fn resume(args: &ResumeArgs, state: Artefact<Self>) -> CommandResult {
        args.check_taken(&["--data", "--device-memory"], "`audit fedavg`")?;
        let device = device(&args.device, args.memory)?;
        let description = FederatedDescription::from_json(&state.evidence.description)?;
        let selection = Selection {
            records: description.data.records as usize,
            client_column: description.client_column.as_deref(),
        };
        let examples = data_of_description(&description.data, &args.data, selection)?;
        let training = FederatedTraining::new(
            &description.model,
            examples,
            description.settings,
            state.plan.seed,
        )?;
        let job = Job::of_checkpoint(state, &args.checkpoint, args.out.as_deref());
        let files = TrainingFiles { data: &args.data, outputs_to: None };
        train(training, job, &files, &device, &args.report)
    }

    fn merge(args: &MergeArgs, merged: &Artefact<Self>, started: Instant) -> CommandResult {
        args.check_taken(&[], "`audit fedavg`")?;
        check(&args.report, &merged.plan)?;
        report_merged(merged, args.out.as_deref(), started, |facts| {
            finish(merged, facts, &args.report)
        })
    }
}
