//! `dpscope canaries optimise`: canaries moved along metagradients.

mod args;
mod checkpoint;
#[cfg(feature = "native")]
mod device;
mod memory;
pub(crate) mod model;
#[cfg(feature = "native")]
mod result;
#[cfg(feature = "native")]
mod steps;

pub(crate) use args::OptimiseArgs;
#[cfg(feature = "native")]
pub(crate) use result::rounded;

use std::path::PathBuf;

use dpscope_train::metagradient::{
    GradientPart, OptimizationSettings, OptimizationSetup, Optimizer, SmoothModel, StartLabels,
    rough_layer,
};

use super::file::check_keeps_canaries;
use crate::args::check_drawing;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{check_writable, part_of};
use crate::host;
use crate::seed::seed_or_fresh;
use args::StartArg;
use checkpoint::SavedState;

pub(crate) fn run(args: &OptimiseArgs) -> CommandResult {
    let checkpoint = check_files(args)?;
    let saved = checkpoint.exists().then(|| SavedState::read(&checkpoint)).transpose()?;
    let seed = match (&saved, args.seed) {
        (Some(saved), None) => saved.plan.settings.seed,
        (_, seed) => seed_or_fresh(seed)?.0,
    };
    let settings = settings(args, seed);
    settings.check().map_err(with_option)?;
    let examples = model::examples(args)?;
    let (model, network) = model::network(&args.model, &examples)?;
    if let Some(rough) = rough_layer(&network).filter(|_| !args.allow_rough) {
        let problem = format!("--model {}: {rough}, or pass --allow-rough", args.model);
        return Err(Failure::input(problem));
    }
    let canaries = usize::try_from(args.count).unwrap_or(usize::MAX);
    let labels = match args.start {
        StartArg::Random => StartLabels::Own,
        StartArg::Mislabelled => StartLabels::Other,
    };
    let records = args.records.map(|records| usize::try_from(records).unwrap_or(usize::MAX));
    let setup = OptimizationSetup { model, examples, network, settings, canaries, records, labels };
    match host::hand_over(setup) {
        #[cfg(feature = "native")]
        Some(setup) => steps::optimise(args, &setup, (checkpoint, saved)),
        _ => Ok(Exit::Done),
    }
}

/// Rejects files that cannot be written, and returns the file of the state.
fn check_files(args: &OptimiseArgs) -> Result<PathBuf, Failure> {
    if args.out.extension().is_none_or(|ending| ending != "npz") {
        return Err(Failure::input("must end in .npz").about(&args.out));
    }
    args.plot.as_deref().map_or(Ok(()), check_drawing)?;
    let checkpoint = args.checkpoint.clone().unwrap_or_else(|| part_of(&args.out));
    if checkpoint == args.out {
        return Err(Failure::input("--checkpoint and --out name the same file").about(&args.out));
    }
    if !checkpoint.exists() {
        check_keeps_canaries(&args.out, None)?;
    }
    check_writable(&args.out)?;
    check_writable(&checkpoint)?;
    Ok(checkpoint)
}

fn settings(args: &OptimiseArgs, seed: u64) -> OptimizationSettings {
    let own = SmoothModel::named(&args.model);
    let defaults = OptimizationSettings::new(args.metasteps, seed);
    let training = &args.training;
    let given = |value: Option<u32>| value.map(|value| value as usize);
    OptimizationSettings {
        steps: given(training.steps).or(own.map(|own| own.steps)).unwrap_or(defaults.steps),
        batch_size: given(training.batch_size)
            .or(own.map(|own| own.batch_size))
            .unwrap_or(defaults.batch_size),
        learning_rate: training
            .learning_rate
            .or(own.map(|own| own.learning_rate))
            .unwrap_or(defaults.learning_rate),
        rule: Optimizer::Momentum { momentum: training.momentum, weight_decay: 0.0 },
        splits: args.splits,
        update: args.update.into(),
        step_size: args.step_size,
        part: GradientPart::Whole,
        validation_splits: args.validation_splits,
        ..defaults
    }
}

/// Names the option of a setting.
fn with_option(error: impl std::fmt::Display) -> Failure {
    let text = error.to_string();
    match text.split_once(' ') {
        Some((name, rest)) => Failure::input(format!("--{} {rest}", name.replace('_', "-"))),
        None => Failure::input(text),
    }
}
