//! What `audit outputs` and `audit scores` share: arrays in, report out.

use std::path::Path;

use clap::Args;
use dpscope_core::accounting::Training;
use dpscope_core::audit::AuditResult;
use dpscope_core::audit::Outcome;
use dpscope_core::audit::bound::{EpsilonEstimate, ThresholdRule};
use dpscope_core::recorded::ShuffleWindow;

use dpscope_core::audit::trade_off::Trials;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_engine::{Plan, RecordedAudit};
use dpscope_formats::{Array, Dataset, FormatError};
use dpscope_report::record::{
    ClaimTest, IndependenceRecord, Report, SeedSource, ShuffleWindowRecord, TheoryComparison,
};
use dpscope_report::words::Subject;

use crate::args::{ClaimArgs, PlotArgs, ShowArgs, StatementArgs, seed};
use crate::failure::Failure;
use crate::files::{limits, name_of, read};

/// What the audits of recorded runs share.
#[derive(Debug, Args)]
pub(crate) struct RecordedArgs {
    /// Count runs with NaN or infinity against the attacker, instead of refusing the file.
    #[arg(long)]
    pub(crate) count_non_finite: bool,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// Seed of the random half or pilot, below 2^53; fresh entropy if not given.
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) plot: PlotArgs,
    #[command(flatten)]
    pub(crate) claim: ClaimArgs,
    #[command(flatten)]
    pub(crate) show: ShowArgs,
}

/// What is taken from a file of arrays.
pub(crate) fn taken<T>(
    path: &Path,
    take: impl FnOnce(Dataset<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let limits = limits();
    let bytes = read(path, &limits)?;
    let dataset = Dataset::open(&bytes, &name_of(path), &limits)
        .map_err(|error| Failure::from(error).about(path))?;
    take(dataset)
}

/// The array `world` of a file, or its only one.
pub(crate) fn array_of(path: &Path, world: &str) -> Result<Array, Failure> {
    taken(path, |dataset| array_in(dataset, path, world))
}

pub(crate) fn array_in(dataset: Dataset<'_>, path: &Path, world: &str) -> Result<Array, Failure> {
    let about = |error| Failure::from(error).about(path);
    match dataset.array(world) {
        Err(FormatError::NotFound { .. }) => {}
        array => return array.map_err(about),
    }
    dataset.into_only().map_err(|error| match error {
        FormatError::SeveralArrays { .. } => {
            Failure::input(format!("{error}: save the one to read as `{world}`")).about(path)
        }
        other => about(other),
    })
}

/// Refuses NaN and infinity, unless failed runs are to be counted.
pub(crate) fn check_finite(array: &Array, path: &Path, count: bool) -> Result<(), Failure> {
    match array.non_finite() {
        Some(found) if !count => Err(Failure::input(format!(
            "holds {} values that are not finite, the first ({}) at index {:?}; repair or remove \
             those runs, or pass --count-non-finite to count them against the attack",
            found.count, found.value, found.index
        ))
        .about(path)),
        _ => Ok(()),
    }
}

/// The training behind the runs, as far as it is known.
pub(crate) enum KnownTraining {
    Mechanism(BatchedGaussian),
    Setting(Training),
}

impl KnownTraining {
    fn beside(&self, result: &AuditResult) -> TheoryComparison {
        match self {
            KnownTraining::Mechanism(mechanism) => {
                TheoryComparison::of_mechanism(mechanism, result)
            }
            KnownTraining::Setting(setting) => TheoryComparison::of_training(*setting, result),
        }
    }
}

/// Scores of both worlds with what was found on the way.
pub(crate) struct Recorded<'a> {
    pub(crate) subject: Subject,
    pub(crate) target: &'a [f64],
    pub(crate) zero_out: &'a [f64],
    pub(crate) outcome: Outcome,
    pub(crate) uncorrected: EpsilonEstimate,
    pub(crate) findings: Vec<String>,
    pub(crate) independence: Option<IndependenceRecord>,
    /// How far into an epoch the shuffle reaches, where that was asked.
    pub(crate) reach: Option<ShuffleWindow>,
    /// What an accountant is asked about.
    pub(crate) training: Option<KnownTraining>,
    /// What was assumed of the runs.
    pub(crate) mechanism: Option<BatchedGaussian>,
    pub(crate) input: serde_json::Value,
}

/// The rule and its numbers, from the command line.
pub(crate) fn audit_of(rule: ThresholdRule, statement: &StatementArgs, seed: u64) -> RecordedAudit {
    RecordedAudit {
        threshold_rule: rule,
        delta: statement.delta,
        significance: statement.significance,
        cuts: Plan::DEFAULT_CUTS,
        seed,
    }
}

impl Recorded<'_> {
    pub(crate) fn report(
        self,
        audit: &RecordedAudit,
        seed_source: SeedSource,
        started: std::time::Instant,
        test: &ClaimTest,
    ) -> Result<Report, Failure> {
        let trials =
            Trials { target: self.target.len() as u64, zero_out: self.zero_out.len() as u64 };
        let failed = |scores: &[f64]| scores.iter().filter(|s| !s.is_finite()).count() as u64;
        let report = Report::new(self.subject, &self.outcome, audit.significance, trials, test)?;
        Ok(Report {
            theory: self.training.map(|training| training.beside(&report.result)),
            uncorrected_maximum: Some(self.uncorrected.into()),
            non_finite: Trials { target: failed(self.target), zero_out: failed(self.zero_out) },
            seed: Some(audit.seed.to_string()),
            seed_source: Some(seed_source),
            elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
            mechanism: self.mechanism,
            input: Some(self.input),
            findings: self.findings,
            independence: self.independence,
            shuffle_reach: self.reach.map(ShuffleWindowRecord::from),
            ..report
        })
    }
}
