//! `dpscope audit fedavg`: federated trainings with canary clients.

mod args;
mod report;
#[cfg(feature = "native")]
mod saved;

pub(crate) use args::FedAvgArgs;

use dpscope_engine::Artefact;
use dpscope_simulation::TrainingDigest;
use dpscope_train::TrainError;
use dpscope_train::federated::{FederatedModels, FederatedPlan, FederatedTraining};

use super::dpsgd::device::TrainingDevice;
use super::dpsgd::training::{Model, Selection, examples};
use super::dpsgd::training_files::TrainingFiles;
use super::federated::{DesignArg, option_of_design};
use crate::args::{DeviceArgs, DeviceChoice, MemoryArgs, ReportArgs, RuleArg};
use crate::disk::HAS_DISK;
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::host;
use crate::job::{Job, ResumePoint, RunPlan};
use report::{check, finish};

/// Fresh directions per training that take no part; their cosines are tested.
const UNSEEN: u32 = 200;

impl RunPlan for FederatedPlan {
    const PREPARATION: &'static str = "preparing the trainings";

    fn seed(&self) -> u64 {
        self.seed
    }

    fn progress(_: &Artefact<Self>, rate: &str) -> String {
        format!("{rate} trainings/s")
    }
}

pub(crate) fn run(args: &FedAvgArgs) -> CommandResult {
    let run = &args.run;
    let is_other_rule = run.threshold_rule != RuleArg::Simultaneous;
    reject_unused_options(&[("--threshold-rule", is_other_rule)], "on cosines of canaries")?;
    let device = device(&run.device, args.memory)?;
    if let DesignArg::Fixed(None) = args.design {
        return Err(Failure::input(
            "--design is fixed without a number; pass fixed:NUMBER, for example fixed:200",
        ));
    }
    let start = ResumePoint::<FederatedPlan>::read(run.checkpoint.as_deref(), run.seed)?;
    let training = training(args, start.seed)?;
    let checkpoint = run.checkpoint.as_deref();
    let saved = |state: &Artefact<FederatedPlan>| Some(state.evidence.description.clone());
    start.check_training(checkpoint, training.description(), saved)?;
    let plan = args.plan(start.seed, &training);
    plan.check_fields().map_err(named)?;
    let job = Job::new(plan, start, &run.destination())?;
    let files = TrainingFiles { data: &args.data, outputs_to: None };
    train(training, job, &files, &device, &run.report)
}

impl FedAvgArgs {
    /// The plan of a training.
    pub(crate) fn plan(&self, seed: u64, training: &FederatedTraining) -> FederatedPlan {
        let statement = &self.run.statement;
        FederatedPlan {
            design: self.design.design(0),
            repeats: u32::try_from(self.repeats).unwrap_or(u32::MAX),
            without_canaries: self.without_canaries,
            unseen: UNSEEN,
            attack: self.attack.into(),
            delta: statement.delta,
            significance: statement.significance(),
            seed,
            training: TrainingDigest::of(training.description()),
        }
    }
}

/// The training described by the options.
fn training(args: &FedAvgArgs, seed: u64) -> Result<FederatedTraining, Failure> {
    let model = Model::named(&args.model)?;
    let selection = Selection {
        records: args.clients as usize * args.records_per_client as usize,
        client_column: args.client_column.as_deref(),
    };
    let examples = examples(&args.data, model.built_in(), selection)?;
    FederatedTraining::new(&model.fitted(&examples), examples, args.settings(), seed).map_err(named)
}

fn train(
    training: FederatedTraining,
    job: Job<'_, FederatedPlan>,
    files: &TrainingFiles<'_>,
    device: &TrainingDevice<'_>,
    args: &ReportArgs,
) -> CommandResult {
    check(args, &job.plan)?;
    job.check_with_result(args)?;
    let resume_options = files.resume_options(training.examples());
    let job = Job { resume_options, ..job };
    let threads = device.args.threads();
    let on_cpu = FederatedModels::new(job.plan.clone(), training, threads).map_err(named)?;
    let models = device.opened(on_cpu)?;
    let Some(models) = host::hand_over(models) else { return Ok(Exit::Done) };
    let written = args.files();
    job.run(&models, device.args, (args.show.quiet, &written), |outcome| {
        finish(&outcome.state, &job.facts(outcome), args)
    })
}

/// The device that trains clients.
fn device(args: &DeviceArgs, memory: MemoryArgs) -> Result<TrainingDevice<'_>, Failure> {
    let what = "on federated trainings";
    reject_unused_options(&[("--float-mode", args.float_mode.is_some())], what)?;
    let is_on_cpu = matches!(args.device, DeviceChoice::Auto | DeviceChoice::Cpu);
    if is_on_cpu && memory.device_memory.is_some() {
        return Err(Failure::input(
            "--device-memory is for a GPU; pass --device gpu, or leave it out",
        ));
    }
    TrainingDevice::asked(args, memory)
}

/// Names the option of a number outside its domain.
fn named(error: TrainError) -> Failure {
    match error {
        TrainError::OneShot(error) => option_of_design(error),
        TrainError::Domain { name: "unseen", .. } => Failure::input(
            "--repeats and --without-canaries are too large together; at most 500 trainings",
        ),
        TrainError::Domain { name: "epochs" | "sampling_rate" | "cohort", .. } => {
            Failure::input(format!("--participation: {error}"))
        }
        TrainError::Domain { name: "bands", .. } => {
            Failure::input(format!("--noise-mechanism: {error}"))
        }
        TrainError::Domain { name: "presentations", .. } => {
            Failure::input(format!("--canary-{error}"))
        }
        TrainError::Domain { name: "canaries", .. } => Failure::input(format!("--design: {error}")),
        TrainError::Domain { .. } => {
            Failure::input(format!("--{}", error.to_string().replace('_', "-")))
        }
        TrainError::TooManyUpdates { .. } if HAS_DISK => {
            Failure::input(format!("{error}; or pass --final-model-only"))
        }
        error => error.into(),
    }
}
