//! `dpscope audit dpsgd`: train models by DP-SGD with a canary, and audit what the attacker sees.

mod device;
mod outputs_file;
mod setup;

use dpscope_engine::backend::gpu::Adapter;
use dpscope_engine::{Backend, Plan, PlanError, TrainingDigest};
use dpscope_train::{DpSgd, Training};

use super::simulate::{Job, begun, check, run_and_report, run_on};
use crate::args::DpSgdArgs;
use crate::device::cpu;
use crate::failure::{Done, Exit, Failure};
use crate::files::check_writable;
use outputs_file::OutputsFile;

pub(crate) fn run(args: &DpSgdArgs) -> Done {
    let checkpoint = args.checkpoint.as_ref();
    checkpoint.map_or(Ok(()), |path| check_writable(path))?;
    crate::report::check_claim(&args.claim, args.statement.delta)?;
    args.plot.check()?;
    let begun = begun(args.checkpoint.as_deref(), args.seed)?;
    let mechanism = setup::mechanism(args)?;
    let plan = Plan {
        mechanism,
        observations: args.runs,
        delta: args.statement.delta,
        significance: args.statement.significance,
        threshold_rule: args.threshold_rule.into(),
        cuts: Plan::DEFAULT_CUTS,
        seed: begun.seed,
        training: None,
    };
    plan.validated().map_err(of_runs)?;
    if !setup::is_trained(&mechanism) {
        setup::refuse_what_is_not_trained(args)?;
        let job =
            Job::of(plan, begun, args.shard, args.checkpoint.as_deref(), args.out.as_deref())?;
        return run_and_report(&job, &args.device, &args.claim, &args.plot, &args.show);
    }
    let adapter = device::adapter(args)?;
    let training = setup::training(args, mechanism, begun.seed)?;
    let digest = TrainingDigest::of(training.description());
    let plan = Plan { training: Some(digest), ..plan };
    let job = Job::of(plan, begun, args.shard, args.checkpoint.as_deref(), args.out.as_deref())?;
    check(&job, &args.claim, &args.plot)?;
    let outputs = args.outputs_to.as_deref().map(|path| OutputsFile::open(path, &job, &training));
    let outputs = outputs.transpose()?;
    let backend = trainer(training, outputs.as_ref(), adapter.as_ref(), args)?;
    let ended = run_on(&backend, &job, &args.device, &args.claim, &args.plot, &args.show);
    let is_interrupted = matches!(ended, Ok(Exit::Interrupted));
    let kept = match outputs {
        // also where the report could not be written: its runs are trained
        Some(outputs) if !is_interrupted => outputs.finish(&mechanism),
        // without the counts beside them they are of no use
        Some(outputs) if job.checkpoint.is_none() => {
            outputs.discard();
            Ok(())
        }
        _ => Ok(()),
    };
    let exit = ended?;
    kept.map(|()| exit)
}

/// Here observations are runs, as the option is called.
fn of_runs(error: PlanError) -> Failure {
    match error {
        PlanError::Observations { .. } | PlanError::SplitObservations { .. } => {
            Failure::input(error.to_string().replacen("observations", "--runs", 1))
        }
        error => error.into(),
    }
}

fn trainer(
    training: Training,
    outputs: Option<&OutputsFile>,
    adapter: Option<&Adapter>,
    args: &DpSgdArgs,
) -> Result<Backend, Failure> {
    let threads = args.device.threads.map_or(0, usize::from);
    let mut trainer = DpSgd::new(training, threads)?;
    if let Some(outputs) = outputs {
        trainer = trainer.with_sink(Box::new(outputs.clone()));
    }
    let trainer = device::trainer(trainer, adapter, args)?;
    Ok(Backend::Trainer(trainer, cpu(&args.device)?))
}
