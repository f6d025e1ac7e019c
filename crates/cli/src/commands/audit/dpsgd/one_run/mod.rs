//! `dpscope audit dpsgd --protocol one-run`: trainings with many canaries, each included by a coin.

mod args;
mod report;
#[cfg(feature = "native")]
mod saved;
mod training;

pub(crate) use args::{CanaryArgs, ProtocolArg};
pub(crate) use training::settings;

use std::path::Path;

use dpscope_engine::Artefact;
use dpscope_simulation::TrainingDigest;
use dpscope_train::one_run::{OneRunModels, OneRunPlan, OneRunTraining};

use super::args::CanaryArg;
use super::device::TrainingDevice;
use super::training_files::TrainingFiles;
use super::{DpSgdArgs, mechanism};
use crate::args::{ReportArgs, RuleArg};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::host;
use crate::job::{Job, ResumePoint, RunPlan};
use crate::shell::quoted_path;
use report::{check, finish};

impl RunPlan for OneRunPlan {
    const PREPARATION: &'static str = "preparing the training";

    fn seed(&self) -> u64 {
        self.seed
    }

    fn progress(_: &Artefact<Self>, rate: &str) -> String {
        format!("{rate} models/s")
    }
}

pub(super) fn run(args: &DpSgdArgs) -> CommandResult {
    reject_options(args)?;
    let run = &args.run;
    let device = TrainingDevice::select(&run.device, args.memory, args.debias_records > 0)?;
    let start = ResumePoint::<OneRunPlan>::read(run.checkpoint.as_deref(), run.seed)?;
    let training = training::from_args(args, mechanism(args)?, start.seed)?;
    let saved = |state: &Artefact<OneRunPlan>| Some(state.evidence.description.clone());
    start.check_training(run.checkpoint.as_deref(), training.description(), saved)?;
    let plan = planned(args, start.seed, &training);
    plan.check_fields().map_err(super::training::option_of)?;
    let files = Files { data: args.files(), canary_file: args.one_run.canary_file.as_deref() };
    train(training, Job::new(plan, start, &run.destination())?, &files, &device, &run.report)
}

/// The plan of a training.
pub(crate) fn planned(args: &DpSgdArgs, seed: u64, training: &OneRunTraining) -> OneRunPlan {
    let (options, statement) = (&args.one_run, &args.run.statement);
    OneRunPlan {
        mechanism: *training.mechanism(),
        canaries: training.canaries().len() as u32,
        repeats: options.repeats.unwrap_or(1),
        references: options.reference_models.unwrap_or(0),
        score: options.score(),
        rule: options.rule(),
        deltas: vec![statement.delta],
        significance: statement.significance(),
        seed,
        training: TrainingDigest::of(training.description()),
    }
}

/// Files that the trainings read.
struct Files<'a> {
    data: TrainingFiles<'a>,
    canary_file: Option<&'a Path>,
}

fn train(
    training: OneRunTraining,
    job: Job<'_, OneRunPlan>,
    files: &Files<'_>,
    device: &TrainingDevice<'_>,
    args: &ReportArgs,
) -> CommandResult {
    check(args, &job.plan, training.adjacency())?;
    job.check_with_result(args)?;
    let mut resume_options = files.data.resume_options(training.base());
    let canary_file = files.canary_file.map(quoted_path);
    resume_options.extend(canary_file.map(|path| format!(" --canary-file {path}")));
    let job = Job { resume_options, ..job };
    let threads = device.args.threads();
    let models = device.opened(OneRunModels::new(job.plan.clone(), training, threads)?)?;
    let Some(models) = host::hand_over(models) else { return Ok(Exit::Done) };
    let written = args.files();
    job.run(&models, device.args, (args.show.quiet, &written), |outcome| {
        finish(&outcome.state, &job.facts(outcome), args)
    })
}

/// Rejects options of the protocol with two worlds.
fn reject_options(args: &DpSgdArgs) -> Result<(), Failure> {
    let has_white_box = args.one_run.score() == dpscope_train::one_run::OneRunScore::WhiteBox;
    let unused = [
        ("--runs", args.runs.is_some()),
        ("--canary", args.canary != CanaryArg::Random),
        ("--fixed-canary", args.fixed_canary),
        ("--outputs-to", args.outputs_to.is_some()),
        ("--threshold-rule", args.run.threshold_rule != RuleArg::Simultaneous),
    ];
    reject_unused_options(&unused, "with --protocol one-run")?;
    let is_debiased = args.debias_records > 0 && !has_white_box;
    reject_unused_options(
        &[("--debias-records", is_debiased)],
        "with --protocol one-run, unless --score is white-box",
    )?;
    if args.run.statement.delta == 0.0 {
        return Err(Failure::input(
            "--delta is 0, and Gaussian noise has no finite epsilon there; pass a delta above 0",
        ));
    }
    Ok(())
}
