//! `dpscope canaries optimise`: canaries moved along metagradients.

mod args;
mod checkpoint;
mod device;
mod memory;
pub(crate) mod model;
mod result;

pub(crate) use args::OptimiseArgs;
pub(crate) use result::rounded;

use std::path::{Path, PathBuf};
use std::time::Duration;

use dpscope_core::foreign_text::ForeignText;
use dpscope_train::data::Examples;
use dpscope_train::metagradient::{
    CanaryOptimization, CanaryStart, FeatureRanges, GradientPart, Interruption,
    OptimizationSettings, OptimizationState, Optimizer, SmoothModel, StartLabels, rough_layer,
};

use super::file::check_keeps_canaries;
use crate::args::check_drawing;
use crate::failure::{CommandResult, Exit, Failure};
use crate::files::{check_writable, part_of};
use crate::host;
use crate::output::print_note;
use crate::progress::{StepProgress, keep_going};
use crate::seed::seed_or_fresh;
use crate::shell::{arguments, command_line};
use args::StartArg;
use checkpoint::{OptimizationPlan, SavedState};
use device::SelectedDevice;
use web_time::Instant;

/// Longest time between two writes of a state.
const SAVE_EVERY: Duration = Duration::from_secs(2);

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
    let (spec, network) = model::network(&args.model, &examples)?;
    let rough = rough_layer(&network);
    if let Some(rough) = rough.as_ref().filter(|_| !args.allow_rough) {
        let problem = format!("--model {}: {rough}, or pass --allow-rough", args.model);
        return Err(Failure::input(problem));
    }
    let labels = match args.start {
        StartArg::Random => StartLabels::Own,
        StartArg::Mislabelled => StartLabels::Other,
    };
    let count = usize::try_from(args.count).unwrap_or(usize::MAX);
    let records = args.records.map(|records| usize::try_from(records).unwrap_or(usize::MAX));
    let start =
        CanaryStart::draw(&examples, count, records, labels, seed).map_err(Failure::input)?;
    let plan = OptimizationPlan {
        schema: OptimizationPlan::SCHEMA.to_owned(),
        model: spec,
        data_digest: examples.digest().to_owned(),
        count: args.count,
        records: start.base_records().into(),
        start: labels,
        settings: settings.clone(),
    };
    if let Some(saved) = &saved {
        saved.check(&plan, &checkpoint)?;
    }
    let pool = host::pool(args.threads.map_or(0, usize::from))?;
    let device = SelectedDevice::open(&args.device, &network, settings.batch_size)?;
    let optimization = CanaryOptimization {
        network: &network,
        base: &start,
        records: start.base_records(),
        labels: &start.labels,
        ranges: &FeatureRanges::of(&examples),
        settings: &settings,
        checkpointing: args.memory.schedule(&network, &settings, pool.current_num_threads())?,
        device: device.derivatives(),
        keep_going: &keep_going(),
    };
    let (examples, start) = (&examples, &start);
    let command = Command { args, optimization, device: &device, examples, start, checkpoint };
    pool.install(|| command.run(plan, saved, rough.map(|layer| layer.to_string())))
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

/// What a training that failed means for the user.
fn interrupted(error: Interruption) -> Failure {
    match error {
        Interruption::Cancelled => Failure::interrupted(),
        _ => Failure::input("the first training diverged: reduce --learning-rate or --momentum"),
    }
}

/// An optimisation and its files.
struct Command<'a> {
    args: &'a OptimiseArgs,
    optimization: CanaryOptimization<'a>,
    device: &'a SelectedDevice,
    examples: &'a Examples,
    start: &'a CanaryStart<'a>,
    checkpoint: PathBuf,
}

impl Command<'_> {
    fn run(
        &self,
        plan: OptimizationPlan,
        saved: Option<SavedState>,
        rough: Option<String>,
    ) -> CommandResult {
        let canaries = &self.start.canaries;
        let fresh = self.optimization.start(canaries.clone()).map_err(with_option_of_data)?;
        let saved = match saved {
            Some(saved) => {
                self.check_out(&saved.state)?;
                self.device.warn_of_change(&saved.devices);
                saved
            }
            None => {
                let smooth = self.optimization.metasmoothness(canaries).map_err(interrupted)?;
                SavedState { plan, state: fresh, metasmoothness: smooth, devices: Vec::new() }
            }
        };
        let saved = match self.optimise(saved)? {
            Ok(saved) => saved,
            Err(saved) => return self.stop(&saved),
        };
        let (state, metasmoothness) = (&saved.state, saved.metasmoothness);
        if state.skipped() == state.metasteps() {
            return Err(Failure::input(
                "every metastep was skipped because its training diverged; reduce --learning-rate",
            ));
        }
        let compared = match self.compared(state) {
            Err(Interruption::Cancelled) => return self.stop(&saved),
            other => other.map_err(interrupted)?,
        };
        let mut devices = saved.devices.clone();
        self.device.record(&mut devices);
        self.finish(state, (metasmoothness, devices), compared, rough)?;
        if self.args.checkpoint.is_none() {
            let _ = std::fs::remove_file(&self.checkpoint); // best effort: the result is written
        }
        Ok(Exit::Done)
    }

    /// Executes the metasteps that are left; the error is the state at an interruption.
    fn optimise(&self, mut saved: SavedState) -> Result<Result<SavedState, SavedState>, Failure> {
        let total = self.optimization.settings.metasteps.into();
        let resumed = saved.state.metasteps().into();
        let mut progress = StepProgress::new(self.args.show.quiet, total, resumed);
        saved.write(&self.checkpoint)?;
        let mut written = Instant::now();
        while !self.optimization.is_finished(&saved.state) {
            if self.optimization.step(&mut saved.state).is_err() {
                saved.write(&self.checkpoint)?;
                return Ok(Err(saved));
            }
            self.device.record(&mut saved.devices);
            progress.show(saved.state.metasteps().into(), "metasteps", &course(&saved.state));
            if written.elapsed() >= SAVE_EVERY {
                saved.write(&self.checkpoint)?;
                written = Instant::now();
            }
        }
        saved.write(&self.checkpoint)?;
        Ok(Ok(saved))
    }

    /// After Ctrl-C.
    fn stop(&self, saved: &SavedState) -> CommandResult {
        print_note(&format!(
            "interrupted after {} of {} metasteps; the state is in {}; resume with\n  {}",
            saved.state.metasteps(),
            self.optimization.settings.metasteps,
            ForeignText::new(&self.checkpoint),
            command_line(arguments())
        ));
        Ok(Exit::Interrupted)
    }
}

fn with_option_of_data(error: impl std::fmt::Display) -> Failure {
    Failure::input(error)
}

/// Objective and AUC so far.
fn course(state: &OptimizationState) -> String {
    let objective = state.objectives.last().copied().flatten();
    let objective = objective.map_or(String::new(), |value| format!("objective {value:.3}"));
    let auc = state.validations.last();
    let auc = auc.map_or(String::new(), |last| format!("  AUC {:.3}", last.per_canary.value));
    objective + &auc
}

/// A file name without its folder, for a report.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
