//! Canaries whose null distribution is sampled: no coins are needed.

use std::path::Path;
use web_time::Instant;

use dpscope_recorded::{CommittedPlan, NullFile, PoolScores, PoolSettings};
use dpscope_report::record::{OneShotFiles, OneShotReport};

use super::args::{CanariesArg, OneRunArgs, test_of};
use super::load::Content;
use crate::canary_plan;
use crate::commands::audit::canary_report::Shown;
use crate::commands::audit::federated::{DesignArg, option_of_design};
use crate::failure::{CommandResult, Failure};

/// The bound of included canaries and null scores.
///
/// `manifest` was written before the training, and the canaries follow from it; its folder remembers the
/// scores.
pub(super) fn audit(args: &OneRunArgs, manifest: Option<&Path>, started: Instant) -> CommandResult {
    let path = only_file(args)?;
    let deltas = args.deltas();
    let &[delta] = &deltas[..] else {
        return Err(Failure::input("--delta has several values: null scores are for one delta"));
    };
    let Some(unseen) = args.pool_scores.as_deref().or(args.null_scores.as_deref()) else {
        return Err(Failure::input("--null-scores is missing"));
    };
    let (scores, null) = (Content::read(path)?, Content::read(unseen)?);
    let null = match args.pool_scores {
        Some(_) => NullFile::Pool(null.file()),
        None => NullFile::FreshDraws(null.file()),
    };
    let settings = PoolSettings {
        direction: args.score_direction(),
        design: match args.design {
            None | Some(DesignArg::Fixed(None)) => None,
            Some(design) => Some(design.design(0)),
        },
        delta,
        significance: args.level.significance().unwrap_or(0.05),
    };
    let pool = PoolScores::read(&scores.file(), &null, settings)?;
    let input = OneShotFiles { unseen: Some(name(unseen)), ..files(path) };
    let Some(manifest) = manifest else { return report(&pool, args, input, started) };
    let folder = manifest.parent().unwrap_or(manifest);
    let mut pool = pool.with_verified_commitment();
    pool.compare_with_audited(&canary_plan::audited(folder)?);
    let input = OneShotFiles { plan: Some(name(manifest)), ..input };
    let exit = report(&pool, args, input, started)?;
    canary_plan::remember(folder, &[pool.digest().to_owned()])?;
    Ok(exit)
}

/// The bound of a committed plan that drew canaries of a pool.
pub(super) fn audit_plan(
    args: &OneRunArgs,
    (folder, committed): (&Path, &CommittedPlan),
    mean: f64,
    started: Instant,
) -> CommandResult {
    Failure::first_of(&[
        (!args.projections.is_empty(), "--projections is of plans with coins; pass --scores"),
        (args.baseline.is_some(), "--baseline is of plans with coins; leave it out"),
        (args.base_data.is_some(), "--base-data is of plans with coins; leave it out"),
        (args.self_test, "--self-test is of plans with coins; leave it out"),
    ])?;
    let path = only_file(args)?;
    if let Some(CanariesArg::File(canaries)) = &args.canaries {
        canary_plan::check_canaries(&committed.plan, canaries)?;
    }
    let mut pool = PoolScores::planned(&Content::read(path)?.file(), committed, mean)?;
    pool.compare_with_audited(&canary_plan::audited(folder)?);
    let input = OneShotFiles { plan: Some(name(folder)), ..files(path) };
    let exit = report(&pool, args, input, started)?;
    canary_plan::remember(folder, &[pool.digest().to_owned()])?;
    Ok(exit)
}

fn report(
    pool: &PoolScores,
    args: &OneRunArgs,
    input: OneShotFiles,
    started: Instant,
) -> CommandResult {
    if args.training.accounted.schedule()?.is_some() {
        return Err(Failure::input(
            "--noise-multiplier is tested with coins and --guesses: leave it out without coins, and \
             pass the epsilon of that training as --claim",
        ));
    }
    let result = pool.result().map_err(option_of_design)?;
    let test = test_of(args, pool.delta(), &[pool.delta()], pool.design().adjacency)?;
    let report = pool.report(result, &test)?;
    let elapsed_ms = started.elapsed().as_secs_f64() * 1e3;
    let report = OneShotReport { input, elapsed_ms, ..report };
    let shown = Shown { delivery: args.delivery(), plot: args.plot.as_deref(), claim: &args.claim };
    shown.finish_with(&report, || pool.normal_scores())
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
