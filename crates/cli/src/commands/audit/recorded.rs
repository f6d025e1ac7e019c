//! Recorded data: shared by `audit outputs` and `audit scores`.

use std::path::Path;

use clap::Args;
use dpscope_core::accounting::Schedule;
use dpscope_core::audit::bound::{Statement, ThresholdRule};
use dpscope_core::audit::metrics::{AttackMetrics, MetricOptions};
use dpscope_core::audit::planner::PlannedAudit;
use dpscope_core::audit::{AuditOptions, AuditResult, Finding, Scores};

use dpscope_core::audit::trade_off::Trials;
use dpscope_core::foreign_text::ForeignText;
use dpscope_core::mechanism::BatchedGaussian;
use dpscope_formats::{Array, Dataset, Format, FormatError, MissingValues};
use dpscope_report::number::counted;
use dpscope_report::record::{
    ClaimTest, IndependenceRecord, Report, ResultRecord, SeedSource, TheoryComparison,
};
use dpscope_report::words::Subject;

use crate::args::{ReportArgs, StatementArgs, seed};
use crate::failure::Failure;
use crate::files::{limits, name_of, read};

/// Options of audits of recorded data.
#[derive(Debug, Args)]
pub(crate) struct RecordedArgs {
    /// Count runs with NaN or infinity as errors of the attack, instead of rejecting the file.
    #[arg(long)]
    pub(crate) count_non_finite: bool,
    #[command(flatten)]
    pub(crate) statement: StatementArgs,
    /// Seed of the random split or pilot, below 2^53 [default: derived from the data].
    #[arg(long, value_parser = seed)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
}

/// Opens a file of arrays and applies `read_dataset` to it.
pub(crate) fn with_dataset<T>(
    path: &Path,
    read_dataset: impl FnOnce(Dataset<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    with_runs(path, false, read_dataset)
}

/// Opens a file of runs and applies `read_dataset` to it; with `counts_failed_runs`, missing values in
/// text files are NaN.
pub(crate) fn with_runs<T>(
    path: &Path,
    counts_failed_runs: bool,
    read_dataset: impl FnOnce(Dataset<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let limits = limits();
    let bytes = read(path, &limits)?;
    let missing = if counts_failed_runs { MissingValues::Nan } else { MissingValues::Refused };
    let dataset = Dataset::open_as(&bytes, &name_of(path), &limits, missing)
        .map_err(|error| Failure::from(error).about(path))?;
    read_dataset(dataset)
}

/// The array `world` of a file, or its only array.
pub(crate) fn array_of(
    path: &Path,
    world: &str,
    counts_failed_runs: bool,
) -> Result<Array, Failure> {
    with_runs(path, counts_failed_runs, |dataset| array_in(dataset, path, world))
}

pub(crate) fn array_in(dataset: Dataset<'_>, path: &Path, world: &str) -> Result<Array, Failure> {
    let about = |error| Failure::from(error).about(path);
    match dataset.array(world) {
        Err(FormatError::NotFound { .. }) => {}
        array => return array.map_err(about),
    }
    dataset.into_only().map_err(|error| match error {
        FormatError::SeveralArrays { .. } => {
            Failure::input(format!("{error}: name the one to read `{world}`")).about(path)
        }
        other => about(other),
    })
}

/// The column names of a csv file with a header, and its numbers; other formats have no names.
pub(crate) fn table_of(path: &Path, name: &str) -> Result<(Option<Vec<String>>, Array), Failure> {
    with_dataset(path, |dataset| {
        let names: Vec<String> = match dataset.format() {
            Format::Csv => dataset.names().into_iter().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let is_index = |name: &String| name.is_empty() || name == "Unnamed: 0";
        if names.first().is_some_and(is_index) {
            return Err(Failure::input(
                "has a first column without a name, which pandas writes for the index: save the table with \
                 to_csv(file, index=False)",
            )
            .about(path));
        }
        if let Some(name) = (1..names.len()).find(|&place| names[..place].contains(&names[place])) {
            return Err(Failure::input(format!(
                "has two columns `{}`; rename one",
                ForeignText::new(&names[name])
            ))
            .about(path));
        }
        let array = match dataset.array(name) {
            // a column of this name is one of the table
            Ok(array) if names.is_empty() => array,
            _ => dataset.into_only().map_err(|error| Failure::from(error).about(path))?,
        };
        Ok(((!names.is_empty()).then_some(names), array))
    })
}

/// Rejects NaN and infinity in runs, unless failed runs are counted.
pub(crate) fn check_runs(array: &Array, path: &Path, count: bool) -> Result<(), Failure> {
    let remedy = "repair or remove those runs, or pass --count-non-finite to count them as errors of the \
                  attack";
    if count { Ok(()) } else { check_finite(array, path, remedy) }
}

/// Rejects NaN and infinity, and says what to do about them.
pub(crate) fn check_finite(array: &Array, path: &Path, remedy: &str) -> Result<(), Failure> {
    match array.non_finite() {
        Some(found) => Err(Failure::input(format!(
            "contains {} that {} not finite, the first ({}) at index {:?}; {remedy}",
            counted(found.count as u64, "value"),
            if found.count == 1 { "is" } else { "are" },
            found.value,
            found.index
        ))
        .about(path)),
        None => Ok(()),
    }
}

/// One number each: every axis but one has length 1.
pub(crate) fn flat(array: Array, expected: &str) -> Result<Vec<f64>, Failure> {
    let (shape, data) = array.into_parts();
    if shape.iter().filter(|&&length| length > 1).count() > 1 {
        return Err(Failure::input(format!("has shape {shape:?}; expected {expected}")));
    }
    Ok(data)
}

/// What is known of the training behind the runs.
pub(crate) enum TrainingInfo {
    Mechanism(BatchedGaussian),
    Setting(Schedule),
}

impl TrainingInfo {
    fn beside(&self, result: &ResultRecord) -> TheoryComparison {
        match self {
            TrainingInfo::Mechanism(mechanism) => TheoryComparison::of_mechanism(mechanism, result),
            TrainingInfo::Setting(setting) => TheoryComparison::of_training(*setting, result),
        }
    }
}

/// Scores of both worlds, their audit and findings.
pub(crate) struct RecordedEvidence<'a> {
    pub(crate) subject: Subject,
    pub(crate) target: &'a [f64],
    pub(crate) zero_out: &'a [f64],
    pub(crate) result: AuditResult,
    /// Share of the significance that the deciding attack has: that of the limits of its metrics.
    pub(crate) significance: f64,
    pub(crate) independence: Option<IndependenceRecord>,
    pub(crate) training: Option<TrainingInfo>,
    /// The mechanism assumed.
    pub(crate) mechanism: Option<BatchedGaussian>,
    pub(crate) input: serde_json::Value,
}

/// The audit that the options describe.
pub(crate) fn recorded_audit(
    rule: ThresholdRule,
    statement: &StatementArgs,
    seed: u64,
) -> AuditOptions {
    AuditOptions {
        threshold_rule: rule,
        delta: statement.delta,
        significance: statement.significance(),
        cuts: PlannedAudit::DEFAULT_CUTS,
        seed,
    }
}

impl RecordedEvidence<'_> {
    fn metrics(&self, audit: &AuditOptions) -> Result<AttackMetrics, Failure> {
        let options = MetricOptions {
            statement: Statement { delta: audit.delta, significance: self.significance },
            seed: audit.seed,
            has_coverage: !self.result.findings().iter().any(Finding::costs_coverage),
        };
        Ok(AttackMetrics::of_scores(&Scores::new(self.target, self.zero_out), &options)?)
    }

    pub(crate) fn report(
        self,
        audit: &AuditOptions,
        seed_source: SeedSource,
        started: web_time::Instant,
        test: &ClaimTest,
        shown: &ReportArgs,
    ) -> Result<Report, Failure> {
        let trials =
            Trials { target: self.target.len() as u64, zero_out: self.zero_out.len() as u64 };
        let failed = |scores: &[f64]| scores.iter().filter(|s| !s.is_finite()).count() as u64;
        let report = Report::new(self.subject, &self.result, trials, test)?;
        let theory = self.training.as_ref().map(|training| training.beside(&report.result));
        let report = report.with_theory(theory);
        Ok(Report {
            metrics: shown.shows_metrics().then(|| self.metrics(audit)).transpose()?,
            non_finite: Trials { target: failed(self.target), zero_out: failed(self.zero_out) },
            seed: Some(audit.seed.to_string()),
            seed_source: Some(seed_source),
            elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
            mechanism: self.mechanism,
            input: Some(self.input),
            independence: self.independence,
            ..report
        })
    }
}
