//! Files of an audit of one run.

use std::path::Path;

use dpscope_core::accounting::Training;
use dpscope_core::audit::one_run::{GuessRule, ScoreMethod};
use dpscope_formats::Limits;
use dpscope_recorded::{
    CommittedPlan, File, OneRunFiles, OneRunSettings, ProjectionSettings, RecordedError,
    RecordedRuns,
};
use dpscope_report::record::ScoreDirection;
use serde_json::json;

use super::args::{CanariesArg, OneRunArgs, ScoreArg};
use super::claimed_training::schedule_of;
use crate::canary_plan;
use crate::failure::Failure;
use crate::files::{limits, read};
use crate::output::print_note;

/// Bytes of a file.
pub(super) struct Content {
    name: String,
    bytes: Vec<u8>,
    limits: Limits,
}

impl Content {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let limits = limits();
        Ok(Self { name: path.display().to_string(), bytes: read(path, &limits)?, limits })
    }

    fn present(path: Option<&Path>) -> Result<Option<Self>, Failure> {
        path.map(Self::read).transpose()
    }

    pub(super) fn file(&self) -> File<'_> {
        File { name: &self.name, bytes: &self.bytes, limits: &self.limits }
    }
}

/// Scores, coins and the question, from files and plan.
pub(super) fn read_runs(
    args: &OneRunArgs,
    committed: Option<&CommittedPlan>,
) -> Result<RecordedRuns, Failure> {
    let canaries = match &args.canaries {
        Some(CanariesArg::File(path)) => Some(path.as_path()),
        _ => None,
    };
    if args.base_data.is_some() && canaries.is_none() {
        return Err(Failure::input(
            "--base-data needs the canaries to compare with; pass --canaries FILE",
        ));
    }
    if args.plan.is_none() && args.coins.is_none() {
        return Err(Failure::input(
            "the coins are missing: pass --coins FILE, or --plan DIR if they were committed",
        ));
    }
    let projections = projection_settings(args)?;
    let scores = args.scores.iter().chain(&args.projections).map(|path| Content::read(path));
    let scores = scores.collect::<Result<Vec<_>, _>>()?;
    let coins = Content::present(args.coins.as_deref().filter(|_| committed.is_none()))?;
    let sets = Content::present(args.sets.as_deref())?;
    let baseline = Content::present(args.baseline.as_deref())?;
    let canaries = Content::present(canaries)?;
    let base_data = Content::present(args.base_data.as_deref())?;
    let files = OneRunFiles {
        scores: scores.iter().map(Content::file).collect(),
        projections,
        coins: coins.as_ref().map(Content::file),
        sets: sets.as_ref().map(Content::file),
        baseline: baseline.as_ref().map(Content::file),
        canaries: canaries.as_ref().map(Content::file),
        base_data: base_data.as_ref().map(Content::file),
    };
    let settings = OneRunSettings {
        direction: args.score_direction(),
        set_size: args.set_size(),
        inclusion_probability: args.inclusion_probability,
        independent_coins: args.independent_coins,
        deltas: args.deltas(),
        significance: args.level.significance().unwrap_or(0.05),
        rule: GuessRule::of_counts(args.guesses, args.guesses_in, args.guesses_out),
    };
    let mut found =
        RecordedRuns::read(&files, committed, settings).map_err(|error| failure_of(error, args))?;
    if let (Some(CanariesArg::Number(number)), canaries) = (&args.canaries, found.canaries())
        && *number != canaries as u64
    {
        let problem = format!("has {number} canaries, and there are {canaries} coins");
        let problem = format!("{problem}: pass one for each canary");
        return Err(Failure::input(problem).about(Path::new("--canaries")));
    }
    if let Some(folder) = &args.plan {
        found.compare_with_audited(&canary_plan::audited(folder)?);
    }
    Ok(found)
}

/// How scores follow from projections, if there are any.
fn projection_settings(args: &OneRunArgs) -> Result<Option<ProjectionSettings>, Failure> {
    if args.projections.is_empty() {
        return Ok(None);
    }
    let claimed = schedule_of(&args.training)?.map(|schedule| schedule.whole);
    let of_claimed = claimed.as_ref().map(Training::sampling_rate);
    let Some(sampling_rate) = args.training.sampling_rate.or(of_claimed) else {
        return Err(Failure::input(
            "--projections needs the probability that a record is in a batch: pass --sampling-rate Q",
        ));
    };
    if !(sampling_rate > 0.0 && sampling_rate <= 1.0) {
        return Err(Failure::input(format!(
            "--sampling-rate is {sampling_rate}: must lie in (0, 1]"
        )));
    }
    let noise_multiplier = claimed.map(|training| training.noise_multiplier);
    let score = match (args.score, noise_multiplier) {
        (ScoreArg::Calibrated, _) => ScoreMethod::Calibrated,
        (ScoreArg::Sum, _) => ScoreMethod::Sum,
        (ScoreArg::Stated, Some(noise_multiplier)) if noise_multiplier > 0.0 => {
            ScoreMethod::Stated { noise_multiplier }
        }
        (ScoreArg::Stated, _) => {
            return Err(Failure::input(
                "--score stated needs the noise of the claimed training, above 0: pass \
                 --noise-multiplier and the length, or --score calibrated",
            ));
        }
    };
    Ok(Some(ProjectionSettings { score, sampling_rate, noise_multiplier }))
}

/// Remembers in the folder of the plan that its scores were audited.
pub(super) fn remember(
    args: &OneRunArgs,
    committed: Option<&CommittedPlan>,
    runs: &RecordedRuns,
) -> Result<(), Failure> {
    let Some(folder) = &args.plan else { return Ok(()) };
    canary_plan::remember(folder, &runs.digests())?;
    if let Some(nonce) = committed.and_then(CommittedPlan::nonce) {
        print_note(&format!(
            "the coins follow from the seed and the nonce {nonce}; the bound holds only if somebody else \
             chose the nonce and published it after the commitment"
        ));
    }
    if !matches!(args.canaries, Some(CanariesArg::File(_))) {
        print_note(
            "the canaries were not compared with the plan, and their coins not with what was known \
             before the training; pass --canaries FILE",
        );
    }
    Ok(())
}

fn failure_of(error: RecordedError, args: &OneRunArgs) -> Failure {
    let option = if args.projections.is_empty() { "--scores" } else { "--projections" };
    match error {
        RecordedError::File(error) => error.into(),
        RecordedError::Canaries(error) => error.into(),
        RecordedError::Runs { files, planned } if args.plan.is_some() => Failure::input(format!(
            "{option} has {files} files, but the plan allows {planned}, and their number was fixed \
             before the first run; commit another plan with --runs"
        )),
        RecordedError::Runs { files, .. } => Failure::input(format!(
            "{option} has {files} files: several runs need a plan that fixes their number beforehand; \
             commit one with `dpscope plan one-run --runs {files}`"
        )),
        other => Failure::input(other),
    }
}

/// The names of the files, for the document.
pub(super) fn input(args: &OneRunArgs, committed: Option<&CommittedPlan>) -> serde_json::Value {
    let name = |path: &Option<std::path::PathBuf>| path.as_ref().map(|p| p.display().to_string());
    let direction = committed.map_or(args.score_direction(), |found| found.plan.direction);
    let (kind, paths) = match &args.projections[..] {
        [] => ("scores", &args.scores),
        _ => ("projections", &args.projections),
    };
    json!({
        kind: match &paths[..] {
            [one] => json!(one.display().to_string()),
            several => several.iter().map(|path| path.display().to_string()).collect(),
        },
        "coins": name(&args.coins),
        "plan": name(&args.plan),
        "nonce": committed.and_then(CommittedPlan::nonce),
        "sets": name(&args.sets),
        "baseline": name(&args.baseline),
        "base_data": name(&args.base_data),
        "direction": direction,
    })
}

impl OneRunArgs {
    /// Which scores indicate an included canary, without a plan.
    pub(super) fn score_direction(&self) -> ScoreDirection {
        self.direction.map_or(ScoreDirection::Higher, Into::into)
    }
}
