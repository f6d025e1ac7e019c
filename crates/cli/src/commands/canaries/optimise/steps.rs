//! The steps of an optimisation, its checkpoint and its result.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dpscope_core::foreign_text::ForeignText;
use dpscope_train::data::Examples;
use dpscope_train::metagradient::{
    CanaryOptimization, CanaryStart, FeatureRanges, Interruption, OptimizationSetup,
    OptimizationState, rough_layer,
};
use web_time::Instant;

use super::args::OptimiseArgs;
use super::checkpoint::{OptimizationPlan, SavedState};
use super::device::SelectedDevice;
use crate::failure::{CommandResult, Exit, Failure};
use crate::host;
use crate::output::print_note;
use crate::progress::{StepProgress, keep_going};
use crate::shell::{arguments, command_line};

/// Longest time between two writes of a state.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// Optimises the canaries, from a saved state if there is one, and reports them.
pub(super) fn optimise(
    args: &OptimiseArgs,
    setup: &OptimizationSetup,
    (checkpoint, saved): (PathBuf, Option<SavedState>),
) -> CommandResult {
    let OptimizationSetup { model, examples, network, settings, .. } = setup;
    let start = setup.start().map_err(Failure::input)?;
    let plan = OptimizationPlan {
        schema: OptimizationPlan::SCHEMA.to_owned(),
        model: model.clone(),
        data_digest: examples.digest().to_owned(),
        count: args.count,
        records: start.base_records().into(),
        start: setup.labels,
        settings: settings.clone(),
    };
    if let Some(saved) = &saved {
        saved.check(&plan, &checkpoint)?;
    }
    let pool = host::pool(args.threads.map_or(0, usize::from))?;
    let device = SelectedDevice::open(&args.device, network, settings.batch_size)?;
    let optimization = CanaryOptimization {
        network,
        base: &start,
        records: start.base_records(),
        labels: &start.labels,
        ranges: &FeatureRanges::of(examples),
        settings,
        checkpointing: args.memory.schedule(network, settings, pool.current_num_threads())?,
        device: device.derivatives(),
        keep_going: &keep_going(),
    };
    let command =
        Command { args, optimization, device: &device, examples, start: &start, checkpoint };
    let rough = rough_layer(network).map(|layer| layer.to_string());
    pool.install(|| command.run(plan, saved, rough))
}

/// What a training that failed means for the user.
fn interrupted(error: Interruption) -> Failure {
    match error {
        Interruption::Cancelled => Failure::interrupted(),
        _ => Failure::input("the first training diverged: reduce --learning-rate or --momentum"),
    }
}

/// An optimisation and its files.
pub(super) struct Command<'a> {
    pub(super) args: &'a OptimiseArgs,
    pub(super) optimization: CanaryOptimization<'a>,
    pub(super) device: &'a SelectedDevice,
    pub(super) examples: &'a Examples,
    pub(super) start: &'a CanaryStart<'a>,
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
pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
