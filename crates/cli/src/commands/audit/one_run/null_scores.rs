//! Canaries whose null distribution is sampled: no coins are needed.

use std::path::Path;
use std::time::Instant;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{
    CanaryDesign, NULL_SHARE, NullScores, OneShotError, OneShotQuestion, OneShotResult,
};
use dpscope_core::random::content_seed;
use dpscope_report::record::{OneShotFiles, OneShotReport, PrivacyUnit, ScoreDirection};
use dpscope_report::words::{CanaryNull, OneShotAttacker, OneShotDesign};

use super::args::{CanariesArg, OneRunArgs, test_of};
use super::load::averaged_scores;
use crate::canary_plan::CommittedPlan;
use crate::commands::audit::canary_report::Shown;
use crate::commands::audit::federated::{DesignArg, option_of};
use crate::failure::{CommandResult, Failure};

/// Included canaries, null scores, and what was fixed before the training.
struct Evidence<'a> {
    included: Vec<f64>,
    null: Null<'a>,
    number: CanaryDesign,
    delta: f64,
    significance: f64,
    findings: Vec<OneRunFinding>,
    is_committed: bool,
    input: OneShotFiles,
}

/// The bound of included canaries and null scores.
pub(super) fn audit(args: &OneRunArgs, started: Instant) -> CommandResult {
    let path = only_file(args)?;
    let deltas = args.deltas();
    let &[delta] = &deltas[..] else {
        return Err(Failure::input("--delta has several values: null scores are for one delta"));
    };
    let direction = args.direction.map_or(ScoreDirection::Higher, Into::into);
    let included = finite_scores(path, direction)?;
    let significance = args.level.significance().unwrap_or(0.05);
    let null = Null::read(args, direction, significance)?;
    if let Null { members: Some(path), scores: pool, .. } = &null {
        check_members(&included, pool, path)?;
    }
    let unseen = args.null_scores.as_deref().or(args.pool_scores.as_deref());
    let design = args.design.unwrap_or(DesignArg::Fixed(None));
    let evidence = Evidence {
        number: design.design(included.len() as u64),
        included,
        null,
        delta,
        significance,
        findings: Vec::new(),
        is_committed: false,
        input: OneShotFiles { unseen: unseen.map(name), ..files(path) },
    };
    evidence.report(args, started)
}

/// The bound of a committed plan that drew canaries of a pool.
pub(super) fn audit_plan(
    args: &OneRunArgs,
    (folder, committed): (&Path, &CommittedPlan),
    mean: f64,
    started: Instant,
) -> CommandResult {
    let path = only_file(args)?;
    Failure::first_of(&[
        (args.baseline.is_some(), "--baseline is of plans with coins; leave it out"),
        (args.base_data.is_some(), "--base-data is of plans with coins; leave it out"),
        (args.self_test, "--self-test is of plans with coins; leave it out"),
    ])?;
    let plan = &committed.plan;
    if let Some(CanariesArg::File(canaries)) = &args.canaries {
        committed.check_canaries(canaries)?;
    }
    let scores = finite_scores(path, plan.direction)?;
    if scores.len() as u64 != plan.canaries {
        let problem =
            format!("has {} scores, and the pool {} canaries", scores.len(), plan.canaries);
        let problem = format!("{problem}: score the whole pool, in its order");
        return Err(Failure::input(problem).about(path));
    }
    let digest = format!("{:014x}", content_seed([&scores, &[]]));
    let digests = [digest];
    let second = CommittedPlan::is_second(folder, &digests)?;
    let copies = committed.copies(mean);
    let draws = scores.iter().zip(&copies);
    let draws = draws.flat_map(|(&score, &copies)| std::iter::repeat_n(score, copies.into()));
    let included = draws.collect();
    let scores = NullScores::of_pool(scores);
    let scores = scores.map_err(|error| Failure::input(error).about(path))?;
    let evidence = Evidence {
        included,
        null: Null { scores, significance: 0.0, members: Some(path) },
        number: CanaryDesign::Poisson { mean },
        delta: plan.deltas.first().copied().unwrap_or(1e-5),
        significance: plan.significance,
        findings: second.then_some(OneRunFinding::SecondScores).into_iter().collect(),
        is_committed: true,
        input: OneShotFiles { plan: Some(name(folder)), ..files(path) },
    };
    let exit = evidence.report(args, started)?;
    CommittedPlan::remember(folder, &digests)?;
    Ok(exit)
}

impl Evidence<'_> {
    fn report(self, args: &OneRunArgs, started: Instant) -> CommandResult {
        let Evidence { included, null, number, delta, significance, .. } = self;
        if args.training.accounted.schedule()?.is_some() {
            return Err(Failure::input(
                "--noise-multiplier is tested with coins and --guesses: leave it out without coins, and \
                 pass the epsilon of that training as --claim",
            ));
        }
        let inserted = included.len() as u64;
        let question = OneShotQuestion {
            design: number,
            inserted,
            delta,
            significance,
            null_significance: null.significance,
            server_rounds: 1,
        };
        let result = OneShotResult::of_scores(&included, &null.scores, question);
        let result = result.map_err(|error| match error {
            OneShotError::Canaries { .. } => Failure::input(format!("--design: {error}")),
            other => option_of(other),
        })?;
        let design = OneShotDesign {
            number,
            inserted,
            null: null.kind(),
            attacker: OneShotAttacker::Scores,
            unit: PrivacyUnit::Record,
            adjacency: match number {
                CanaryDesign::Bernoulli { .. } => Adjacency::ZeroOut,
                CanaryDesign::Poisson { .. } | CanaryDesign::Fixed { .. } => Adjacency::AddRemove,
            },
            is_committed: self.is_committed,
        };
        let test = test_of(args, delta, &[delta], design.adjacency)?;
        let result = result.with_findings(self.findings);
        let report = OneShotReport::new(result, design, None, &test)?;
        let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
        let report = OneShotReport { input: self.input, elapsed_ms, ..report };
        let shown = Shown {
            show: &args.show,
            is_brief: args.brief,
            plot: args.plot.as_deref(),
            claim: &args.claim,
        };
        shown.finish_with(&report, || null.scores.normal_scores(&included))
    }
}

fn only_file(args: &OneRunArgs) -> Result<&Path, Failure> {
    match &args.scores[..] {
        [path] => Ok(path),
        _ => Err(Failure::input("--scores has several files: without coins, there is one run")),
    }
}

fn name(path: &Path) -> String {
    path.display().to_string()
}

fn files(scores: &Path) -> OneShotFiles {
    OneShotFiles { scores: Some(name(scores)), ..OneShotFiles::default() }
}

/// Scores of canaries that were not included.
struct Null<'a> {
    scores: NullScores,
    /// What their limits use.
    significance: f64,
    /// The file, where they are those of a whole pool.
    members: Option<&'a Path>,
}

impl<'a> Null<'a> {
    fn read(
        args: &'a OneRunArgs,
        direction: ScoreDirection,
        significance: f64,
    ) -> Result<Self, Failure> {
        if let Some(path) = &args.pool_scores {
            let scores = NullScores::of_pool(finite_scores(path, direction)?);
            let scores = scores.map_err(|error| Failure::input(error).about(path))?;
            return Ok(Null { scores, significance: 0.0, members: Some(path) });
        }
        let Some(path) = &args.null_scores else {
            return Err(Failure::input("--null-scores is missing"));
        };
        let share = NULL_SHARE * significance;
        let scores = NullScores::of_fresh_draws(finite_scores(path, direction)?, share);
        let scores = scores.map_err(|error| Failure::input(error).about(path))?;
        Ok(Null { scores, significance: share, members: None })
    }

    fn kind(&self) -> CanaryNull {
        let number = self.scores.len() as u64;
        match self.members {
            Some(_) => CanaryNull::Pool { members: number },
            None => CanaryNull::FreshDraws { draws: number },
        }
    }
}

/// Refuses an included canary that is not in the pool.
fn check_members(scores: &[f64], pool: &NullScores, path: &Path) -> Result<(), Failure> {
    match scores.iter().position(|&score| !pool.contains(score)) {
        None => Ok(()),
        Some(index) => {
            let problem = format!(
                "lacks the score {} of the included canary {index}: score all members of the pool by the \
                 same model, with the same digits",
                scores[index]
            );
            Err(Failure::input(problem).about(path))
        }
    }
}

/// Scores of which none is NaN or infinite.
fn finite_scores(path: &Path, direction: ScoreDirection) -> Result<Vec<f64>, Failure> {
    let scores = averaged_scores(path, direction)?;
    match scores.iter().position(|score| !score.is_finite()) {
        None => Ok(scores),
        Some(index) => {
            let problem = format!(
                "has the score {} at index {index}: without coins every canary must have a finite score",
                scores[index]
            );
            Err(Failure::input(problem).about(path))
        }
    }
}
