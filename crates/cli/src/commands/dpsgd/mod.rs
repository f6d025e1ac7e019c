//! `dpscope audit dpsgd`: train models by DP-SGD with a canary, and audit what the attacker sees.

mod outputs_file;
mod setup;

use dpscope_engine::{Backend, Plan, PlanError, TrainingDigest};
use dpscope_train::{DpSgd, Training};

use super::simulate::{Job, begun, check, check_asked, run_and_report, run_on};
use crate::args::{DeviceArgs, DpSgdArgs};
use crate::device::{Choice, cpu};
use crate::failure::{Done, Exit, Failure};
use outputs_file::OutputsFile;

pub(crate) fn run(args: &DpSgdArgs) -> Done {
    let run = &args.run;
    let begun = begun(run.checkpoint.as_deref(), run.seed)?;
    let mechanism = setup::mechanism(args)?;
    let plan = run.plan(mechanism, args.runs, begun.seed);
    plan.validated().map_err(of_runs)?;
    if !Training::is_needed(&mechanism) {
        setup::refuse_what_is_not_trained(args)?;
        let job = Job::of(plan, begun, run)?;
        return run_and_report(&job, &run.device, &run.claim, &run.plot, &run.show);
    }
    if !matches!(run.device.device, Choice::Auto | Choice::Cpu) {
        let reason =
            "models are trained on the CPU so far; leave --device out, or say --device cpu";
        return Err(Failure::with(Exit::Device, reason));
    }
    // a search for the learning rate is work
    check_asked(&run.claim, &run.plot, run.statement.delta)?;
    let training = setup::training(args, mechanism, begun.seed)?;
    let digest = TrainingDigest::of(training.description());
    let plan = Plan { training: Some(digest), ..plan };
    let job = Job::of(plan, begun, run)?;
    check(&job)?;
    let outputs = args.outputs_to.as_deref().map(|path| OutputsFile::open(path, &job, &training));
    let outputs = outputs.transpose()?;
    let backend = trainer(training, outputs.as_ref(), &run.device)?;
    let ended = run_on(&backend, &job, &run.device, &run.claim, &run.plot, &run.show);
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
    device: &DeviceArgs,
) -> Result<Backend, Failure> {
    let threads = device.threads.map_or(0, usize::from);
    let mut trainer = DpSgd::new(training, threads)?;
    if let Some(outputs) = outputs {
        trainer = trainer.with_sink(Box::new(outputs.clone()));
    }
    Ok(Backend::Trainer(Box::new(trainer), cpu(device)?))
}
