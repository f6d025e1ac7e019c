//! Files of an audit of one run.

use std::path::Path;

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{
    CanaryError, CanaryFeature, CanaryScores, GuessRule, OneRunFinding,
};
use dpscope_core::random::content_seed;
use dpscope_formats::{Array, CoinSeed};
use dpscope_report::record::ScoreDirection;
use dpscope_report::words::GuessRuleKind;
use serde_json::json;

use super::args::{CanariesArg, OneRunArgs};
use super::canary_file::CanaryFile;
use crate::canary_plan::CommittedPlan;
use crate::commands::audit::recorded::array_of;
use crate::failure::Failure;
use crate::output::print_note;

/// Scores and coins of one run.
pub(super) struct Run {
    pub(super) scores: Vec<f64>,
    pub(super) coins: Vec<bool>,
}

/// Scores, coins and the question, from files and plan.
pub(super) struct Loaded {
    pub(super) runs: Vec<Run>,
    /// Runs that the plan allows.
    pub(super) planned_runs: u64,
    /// Of coins that are not fair.
    pub(super) inclusion: Option<f64>,
    pub(super) sets: Option<Vec<u64>>,
    pub(super) features: Vec<(CanaryFeature, Vec<f64>)>,
    pub(super) findings: Vec<OneRunFinding>,
    pub(super) deltas: Vec<f64>,
    pub(super) significance: f64,
    pub(super) rule: GuessRule,
    /// Of the plan; none without one.
    pub(super) adjacency: Option<Adjacency>,
    pub(super) is_committed: bool,
    /// Whether the options state that the coins are fair and independent.
    are_stated: bool,
    nonce: Option<String>,
    /// Of the scores of each run, if there is a plan.
    digests: Vec<String>,
    pub(super) input: serde_json::Value,
    ties: CoinSeed,
}

impl Loaded {
    pub(super) fn read(args: &OneRunArgs) -> Result<Self, Failure> {
        let committed = match &args.plan {
            Some(folder) => Some(CommittedPlan::open(folder, args.seed.as_deref())?),
            None => None,
        };
        let planned = committed.as_ref().map(|found| &found.plan);
        let direction = match (planned, args.direction) {
            (Some(plan), _) => plan.direction,
            (None, direction) => direction.map_or(ScoreDirection::Higher, Into::into),
        };
        let coins = match (&committed, &args.coins) {
            (Some(found), _) => found.coins(),
            (None, Some(path)) => vec![read_coins(path)?],
            (None, None) => {
                return Err(Failure::input(
                    "the coins are missing: pass --coins FILE, or --plan DIR if they were committed",
                ));
            }
        };
        let planned_runs = check_runs(args, coins.len())?;
        let runs = args.scores.iter().zip(coins).map(|(path, coins)| {
            let scores = read_scores(path, direction)?;
            check_count(path, "scores", scores.len(), coins.len())?;
            Ok(Run { scores, coins })
        });
        let runs = runs.collect::<Result<Vec<_>, Failure>>()?;
        let canaries = runs[0].coins.len();
        let set_size = planned.map_or(args.set_size(), |plan| plan.game.set_size());
        let sets = match (set_size, &args.sets) {
            (Some(size), _) => Some(consecutive(canaries, size)),
            (None, Some(path)) => Some(read_sets(path, canaries)?),
            (None, None) => None,
        };
        let mut found = Loaded {
            features: Vec::new(),
            findings: Vec::new(),
            deltas: planned.map_or_else(|| args.deltas(), |plan| plan.deltas.clone()),
            significance: planned.map_or_else(
                || args.level.significance().unwrap_or(0.05),
                |plan| plan.significance,
            ),
            rule: planned.map_or_else(|| rule_of(args), |plan| plan.rule.into()),
            adjacency: planned.map(|plan| plan.adjacency),
            is_committed: committed.is_some(),
            are_stated: args.inclusion_probability.is_some(),
            nonce: committed.as_ref().and_then(CommittedPlan::nonce),
            digests: Vec::new(),
            input: input(args, direction, committed.as_ref()),
            // a fixed order of ties where no seed was committed
            ties: committed.as_ref().map_or(CoinSeed::new([0; 32]), |found| found.seed.clone()),
            runs,
            planned_runs,
            inclusion: args.inclusion_probability.filter(|&inclusion| inclusion != 0.5),
            sets,
        };
        found.read_features(args, committed.as_ref())?;
        if let Some(folder) = &args.plan {
            let digest = |run: &Run| format!("{:014x}", content_seed([&run.scores, &[]]));
            found.digests = found.runs.iter().map(digest).collect();
            if CommittedPlan::is_second(folder, &found.digests)? {
                found.findings.push(OneRunFinding::SecondScores);
            }
        }
        Ok(found)
    }

    /// Remembers in the folder of the plan that its scores were audited.
    pub(super) fn remember(&self, args: &OneRunArgs) -> Result<(), Failure> {
        let Some(folder) = &args.plan else { return Ok(()) };
        CommittedPlan::remember(folder, &self.digests)?;
        if let Some(nonce) = &self.nonce {
            print_note(&format!(
                "the coins follow from the nonce {nonce}; the bound holds only if others chose it and \
                 published it after the commitment"
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

    fn read_features(
        &mut self,
        args: &OneRunArgs,
        committed: Option<&CommittedPlan>,
    ) -> Result<(), Failure> {
        let canaries = self.runs[0].coins.len();
        match &args.canaries {
            Some(CanariesArg::Number(number)) => {
                check_count(Path::new("--canaries"), "canaries", *number as usize, canaries)?;
            }
            Some(CanariesArg::File(path)) => {
                committed.map_or(Ok(()), |plan| plan.check_canaries(path))?;
                let file = CanaryFile::read(path)?;
                check_count(path, "canaries", file.len(), canaries)?;
                self.features.extend(file.features());
                let (copies, canaries) = (file.copies(), canaries as u64);
                let equal = OneRunFinding::EqualCanaries { copies, canaries };
                self.findings.extend((copies > 0).then_some(equal));
                if let Some(base) = &args.base_data {
                    let copies = file.found_in(&CanaryFile::read(base)?);
                    let copies = copies.map_err(|failure| failure.about(base))?;
                    let found = OneRunFinding::CanariesInBaseData { copies, canaries };
                    self.findings.extend((copies > 0).then_some(found));
                }
            }
            None => {}
        }
        if args.base_data.is_some() && !matches!(args.canaries, Some(CanariesArg::File(_))) {
            return Err(Failure::input(
                "--base-data needs the canaries to compare with; pass --canaries FILE",
            ));
        }
        if let Some(path) = &args.baseline {
            let baseline = averaged(array_of(path, "baseline")?);
            let baseline = baseline.map_err(|failure| failure.about(path))?;
            check_count(path, "baseline scores", baseline.len(), canaries)?;
            if let Some(index) = baseline.iter().position(|score| !score.is_finite()) {
                let problem = format!("the baseline score at index {index} is not finite");
                return Err(Failure::input(problem).about(path));
            }
            self.features.push((CanaryFeature::Baseline, baseline));
        }
        Ok(())
    }

    /// A run as canaries with coins, sets or matched pairs.
    pub(super) fn canaries<'a>(&self, run: &'a Run) -> Result<CanaryScores<'a>, CanaryError> {
        let Run { scores, coins } = run;
        match (&self.sets, self.inclusion) {
            (Some(sets), _) => CanaryScores::sets(scores, coins, sets),
            (None, Some(inclusion)) => {
                CanaryScores::coins(scores, coins)?.with_inclusion_probability(inclusion)
            }
            (None, None) if self.is_exactly_half(run) => {
                CanaryScores::matched(scores, coins, matching_seed(run))
            }
            (None, None) => CanaryScores::coins(scores, coins),
        }
    }

    /// Whether coins were drawn without replacement, as it seems.
    fn is_exactly_half(&self, run: &Run) -> bool {
        let included = run.coins.iter().filter(|&&coin| coin).count();
        !self.is_committed && !self.are_stated && 2 * included == run.coins.len()
    }

    /// The place of a canary or set among others with the same score.
    pub(super) fn tie(&self, run: u64, index: u64) -> u64 {
        let canaries = self.runs[0].coins.len() as u64;
        let first = self.ties.tie_breaker(run * canaries + index);
        first.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    pub(super) fn rule_kind(&self) -> GuessRuleKind {
        match self.rule {
            GuessRule::Walk => GuessRuleKind::Walk,
            GuessRule::Sides { included: 0, .. } | GuessRule::Sides { excluded: 0, .. } => {
                GuessRuleKind::OneSide
            }
            GuessRule::Most(_) | GuessRule::Sides { .. } => GuessRuleKind::Fixed,
        }
    }
}

/// The seed of a matching, derived from the scores without their order, so that it knows no coin.
fn matching_seed(run: &Run) -> u64 {
    let mut scores = run.scores.clone();
    scores.sort_unstable_by(f64::total_cmp);
    content_seed([&scores, &[]])
}

/// Runs that the plan allows; refuses more files of scores.
fn check_runs(args: &OneRunArgs, planned: usize) -> Result<u64, Failure> {
    let files = args.scores.len();
    if files <= planned {
        return Ok(planned as u64);
    }
    Err(Failure::input(match args.plan {
        Some(_) => format!(
            "--scores has {files} files, but the plan allows {planned}, and their number was fixed \
             before the first run; commit another plan with --runs"
        ),
        None => format!(
            "--scores has {files} files: several runs need a plan that fixes their number beforehand; \
             commit one with `dpscope plan one-run --runs {files}`"
        ),
    }))
}

fn read_scores(path: &Path, direction: ScoreDirection) -> Result<Vec<f64>, Failure> {
    let scores = averaged_scores(path, direction)?;
    check_enough(scores.len() as u64).map_err(|failure| failure.about(path))?;
    Ok(scores)
}

/// One score per canary, larger for an included one.
pub(super) fn averaged_scores(path: &Path, direction: ScoreDirection) -> Result<Vec<f64>, Failure> {
    let scores = averaged(array_of(path, "scores")?).map_err(|failure| failure.about(path))?;
    Ok(match direction {
        ScoreDirection::Higher => scores,
        ScoreDirection::Lower => scores.into_iter().map(|score| -score).collect(),
    })
}

fn rule_of(args: &OneRunArgs) -> GuessRule {
    match (args.guesses, args.guesses_in, args.guesses_out) {
        (Some(guesses), ..) => GuessRule::Most(guesses),
        (None, None, None) => GuessRule::Walk,
        (None, included, excluded) => {
            GuessRule::Sides { included: included.unwrap_or(0), excluded: excluded.unwrap_or(0) }
        }
    }
}

fn input(
    args: &OneRunArgs,
    direction: ScoreDirection,
    committed: Option<&CommittedPlan>,
) -> serde_json::Value {
    let name = |path: &Option<std::path::PathBuf>| path.as_ref().map(|p| p.display().to_string());
    json!({
        "scores": match &args.scores[..] {
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

/// One score per canary; several queries of each are averaged.
fn averaged(array: Array) -> Result<Vec<f64>, Failure> {
    let (shape, data) = array.into_parts();
    let axes: Vec<usize> = shape.iter().copied().filter(|&length| length > 1).collect();
    match axes[..] {
        [] | [_] => Ok(data),
        [queries, canaries] if shape.len() == 2 => {
            let mean = |canary: usize| {
                let sum: f64 = data.iter().skip(canary).step_by(canaries).sum();
                sum / queries as f64
            };
            Ok((0..canaries).map(mean).collect())
        }
        _ => Err(Failure::input(format!(
            "has shape {shape:?}; expected one score per canary, or (queries, canaries)"
        ))),
    }
}

/// Refuses fewer than five canaries.
pub(super) fn check_enough(canaries: u64) -> Result<(), Failure> {
    match canaries {
        5.. => Ok(()),
        _ => Err(Failure::input(format!("--canaries is {canaries}: at least 5 are needed"))),
    }
}

fn check_count(path: &Path, what: &str, found: usize, expected: usize) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let problem = format!("has {found} {what}, and there are {expected} coins");
    Err(Failure::input(format!("{problem}: pass one for each canary")).about(path))
}

fn read_coins(path: &Path) -> Result<Vec<bool>, Failure> {
    let coins = array_of(path, "coins")?.into_data();
    if let Some((index, value)) = coins.iter().enumerate().find(|(_, v)| ![0.0, 1.0].contains(*v)) {
        let problem = format!("has {value} at index {index}; coins are 0 or 1");
        return Err(Failure::input(problem).about(path));
    }
    Ok(coins.into_iter().map(|coin| coin != 0.0).collect())
}

fn read_sets(path: &Path, canaries: usize) -> Result<Vec<u64>, Failure> {
    let sets = array_of(path, "sets")?.into_data();
    check_count(path, "set numbers", sets.len(), canaries)?;
    let is_number = |value: &f64| value.fract() == 0.0 && (0.0..9e15).contains(value);
    if let Some((index, value)) = sets.iter().enumerate().find(|(_, value)| !is_number(value)) {
        let problem = format!("has {value} at index {index}; set numbers are integers from 0 on");
        return Err(Failure::input(problem).about(path));
    }
    Ok(sets.into_iter().map(|set| set as u64).collect())
}

fn consecutive(canaries: usize, set_size: u32) -> Vec<u64> {
    (0..canaries as u64).map(|canary| canary / u64::from(set_size)).collect()
}
