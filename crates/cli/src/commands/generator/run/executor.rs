//! What executes runs, and why a run failed.

use dpscope_formats::table::Schema;
use dpscope_synth::generator::Manifest;

use super::adopted::StartedCommands;
use super::args::GeneratorRunArgs;
use super::processes::ProcessMark;
use crate::generator_function::GeneratorFunction;

/// What executes the runs of a folder.
pub(super) struct Executor<'a> {
    pub(super) args: &'a GeneratorRunArgs,
    pub(super) manifest: &'a Manifest,
    pub(super) schema: &'a Schema,
    /// Called in place of the command.
    pub(super) function: Option<GeneratorFunction>,
    pub(super) mark: ProcessMark,
    pub(super) commands: StartedCommands,
    /// Random part of file names, another one each time the program is started.
    pub(super) program: String,
}

/// Why a run failed, attempt by attempt.
#[derive(Debug, PartialEq)]
pub(super) struct RunFailure {
    pub(super) seeds: Vec<u64>,
    pub(super) reasons: Vec<String>,
}

impl RunFailure {
    /// One line per attempt.
    pub(super) fn text(&self) -> String {
        let attempts = self.seeds.iter().zip(&self.reasons);
        attempts.map(|(seed, reason)| format!("seed {seed}: {reason}\n")).collect()
    }
}
