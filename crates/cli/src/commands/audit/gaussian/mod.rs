//! `dpscope audit gaussian`: the one-shot audit of the Gaussian mechanism.

mod args;
mod report;

pub(crate) use args::GaussianArgs;

use web_time::Instant;

use dpscope_engine::{Artefact, FloatMode};
use dpscope_simulation::noisy_sum::{CosineMethod, NoisySumError, NoisySumPlan, NoisySumRuns};
use dpscope_simulation::{Backend, PlanError};

use super::federated::{DesignArg, option_of_design};
use crate::args::{DeviceArgs, DeviceChoice, ReportArgs, RuleArg};
use crate::commands::merge::MergeArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::saved_run::SavedAudit;
use crate::device::{backend, cpu};
use crate::failure::{CommandResult, Exit, Failure, reject_unused_options};
use crate::job::{Job, ResumePoint, RunPlan, report_merged};
use report::{check, finish};

impl RunPlan for NoisySumPlan {
    const PREPARATION: &'static str = "preparing the runs";

    fn seed(&self) -> u64 {
        self.seed
    }

    fn progress(_: &Artefact<Self>, rate: &str) -> String {
        format!("{rate} runs/s")
    }
}

pub(crate) fn run(args: &GaussianArgs) -> CommandResult {
    let run = &args.run;
    let is_other_rule = run.threshold_rule != RuleArg::Simultaneous;
    reject_unused_options(&[("--threshold-rule", is_other_rule)], "on cosines of canaries")?;
    let start = ResumePoint::<NoisySumPlan>::read(run.checkpoint.as_deref(), run.seed)?;
    let DesignArg::Fixed(None) = args.design else {
        let plan = NoisySumPlan {
            dimension: args.dimension,
            noise_multiplier: args.noise_multiplier,
            design: args.design.design(0),
            method: if args.full {
                CosineMethod::FullDimension
            } else {
                CosineMethod::Distribution
            },
            repeats: args.repeats,
            delta: run.statement.delta,
            significance: run.statement.significance(),
            seed: start.seed,
        };
        plan.check_fields().map_err(named)?;
        return execute(&Job::new(plan, start, &run.destination())?, &run.device, &run.report);
    };
    Err(Failure::input(
        "--design is fixed without a number; pass fixed:NUMBER, for example fixed:1000",
    ))
}

impl SavedAudit for NoisySumPlan {
    fn resume(args: &ResumeArgs, state: Artefact<Self>) -> CommandResult {
        args.check_taken(&[], "`audit gaussian`")?;
        let job = Job::of_checkpoint(state, &args.checkpoint, args.out.as_deref());
        execute(&job, &args.device, &args.report)
    }

    fn merge(args: &MergeArgs, merged: &Artefact<Self>, started: Instant) -> CommandResult {
        args.check_taken(&["--allow-gaps"], "`audit gaussian`")?;
        check(&args.report, &merged.plan)?;
        if merged.evidence.first().is_none() {
            args.report.check_for_part()?;
        }
        report_merged(merged, args.out.as_deref(), started, |facts| {
            finish(merged, facts, &args.report)
        })
    }
}

fn execute(job: &Job<'_, NoisySumPlan>, device: &DeviceArgs, args: &ReportArgs) -> CommandResult {
    check(args, &job.plan)?;
    let backend = backend_of(job.plan.method, device)?;
    if job.range.first > 0 {
        // the first run is reported
        args.check_for_part()?;
    }
    job.check()?;
    let runs = NoisySumRuns::on(job.plan, backend).map_err(|error| match error {
        NoisySumError::Plan(error) => named(error),
        NoisySumError::Engine(error) => error.into(),
        other => Failure::with(Exit::Internal, other),
    })?;
    let written = args.files();
    job.run(&runs, device, (args.show.quiet, &written), |outcome| {
        finish(&outcome.state, &job.facts(outcome), args)
    })
}

/// A GPU multiplies directions; their joint distribution is drawn on the CPU.
fn backend_of(method: CosineMethod, device: &DeviceArgs) -> Result<Backend, Failure> {
    reject_unused_options(
        &[("--float-mode", device.float_mode.is_some())],
        "on canaries of the Gaussian mechanism, which are the same on every device",
    )?;
    match (method, &device.device) {
        (CosineMethod::FullDimension, _) => backend(device, FloatMode::Exact),
        (CosineMethod::Distribution, DeviceChoice::Auto | DeviceChoice::Cpu) => {
            Ok(Backend::Cpu(cpu(device)?))
        }
        (CosineMethod::Distribution, DeviceChoice::Gpu | DeviceChoice::Named(_)) => {
            Err(Failure::with(
                Exit::Device,
                "without --full, canaries of `audit gaussian` are drawn on the CPU only; leave --device \
                 out, pass --device cpu, or add --full",
            ))
        }
    }
}

/// The name of the option in front of a message.
fn named(error: PlanError) -> Failure {
    match error {
        PlanError::OneShot(error) => option_of_design(error),
        PlanError::SmallSum { noise_multiplier } => Failure::input(format!(
            "--noise-multiplier is {noise_multiplier}: with so little noise and so few canaries, pass \
             --full"
        )),
        PlanError::Dimension { .. }
        | PlanError::Repeats { .. }
        | PlanError::ManyCanaries { .. } => Failure::input(format!("--{error}")),
        PlanError::NoiseMultiplier { noise_multiplier } => Failure::input(format!(
            "--noise-multiplier is {noise_multiplier}; it must be from 0 to 1e6"
        )),
        other => other.into(),
    }
}
