//! Scores with coins: of one run, or of several that were planned.

use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::one_run::{
    CanaryError, CanaryFeature, CanaryScores, GuessRule, OneRunFinding, OneRunQuestion,
    OneRunResult, ScoreMethod, audit_runs,
};
use dpscope_core::random::content_seed;
use dpscope_formats::CoinSeed;
use dpscope_report::record::{OneRunReport, PlannedRunsRecord, ProjectionsRecord, ScoreDirection};
use dpscope_report::words::{CanaryGameKind, CoinsStatus, GuessRuleKind, OneRunDesign};

use crate::file::finite;
use crate::{CanaryFile, CommittedPlan, File, FileError, RecordedError};

/// The files of an audit with coins.
#[derive(Debug, Clone, Default)]
pub struct OneRunFiles<'a> {
    /// Scores, or projections where [`Self::projections`] says so; one file for each run.
    pub scores: Vec<File<'a>>,
    /// How scores follow from files of projections.
    pub projections: Option<ProjectionSettings>,
    /// Coins of one run without a plan.
    pub coins: Option<File<'a>>,
    /// The number of the set of each canary.
    pub sets: Option<File<'a>>,
    /// Scores of the same canaries by a model without them.
    pub baseline: Option<File<'a>>,
    /// The canaries, which are compared with the plan.
    pub canaries: Option<File<'a>>,
    /// Training records other than the canaries.
    pub base_data: Option<File<'a>>,
}

/// How scores follow from projections of the releases on the canaries' directions, in clip norms: arrays of
/// shape (steps, canaries).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProjectionSettings {
    /// The score.
    pub score: ScoreMethod,
    /// Probability that a step uses a record.
    pub sampling_rate: f64,
    /// The stated noise multiplier, if there is one.
    pub noise_multiplier: Option<f64>,
}

/// How the scores are audited; a plan fixes all of it.
#[derive(Debug, Clone)]
pub struct OneRunSettings {
    /// Which scores indicate an included canary.
    pub direction: ScoreDirection,
    /// Canaries of a set in which one is included; none where each has a coin of its own.
    pub set_size: Option<u32>,
    /// Stated probability that a canary is included; fair coins if none is stated.
    pub inclusion_probability: Option<f64>,
    /// Whether each canary had a coin of its own, whatever number of them is included.
    pub independent_coins: bool,
    /// The δ of the statements.
    pub deltas: Vec<f64>,
    /// Chance that a bound is wrong.
    pub significance: f64,
    /// Which canaries are guessed.
    pub rule: GuessRule,
}

impl From<&CommittedPlan> for OneRunSettings {
    fn from(CommittedPlan { plan, .. }: &CommittedPlan) -> Self {
        Self {
            direction: plan.direction,
            set_size: plan.game.set_size(),
            inclusion_probability: None,
            independent_coins: true,
            deltas: plan.deltas.clone(),
            significance: plan.significance,
            rule: plan.rule.into(),
        }
    }
}

/// Scores and coins of one run.
#[derive(Debug, Clone)]
pub struct RecordedRun {
    /// Larger for an included canary.
    pub scores: Vec<f64>,
    /// Whether each canary is included.
    pub coins: Vec<bool>,
}

/// What an audit with coins uses.
#[derive(Debug, Clone)]
pub struct RecordedRuns {
    /// Recorded runs, at least one.
    pub runs: Vec<RecordedRun>,
    /// Runs that the plan allows.
    pub planned_runs: u64,
    /// How they are audited.
    pub settings: OneRunSettings,
    /// What the plan certifies; none without one.
    pub adjacency: Option<Adjacency>,
    sets: Option<Vec<u64>>,
    features: Vec<(CanaryFeature, Vec<f64>)>,
    findings: Vec<OneRunFinding>,
    projections: Option<ProjectionsRecord>,
    is_committed: bool,
    ties: CoinSeed,
}

impl RecordedRuns {
    /// Reads the files of runs with coins.
    ///
    /// # Errors
    /// A file that cannot be read, or files that do not fit together.
    pub fn read(
        files: &OneRunFiles<'_>,
        committed: Option<&CommittedPlan>,
        stated: OneRunSettings,
    ) -> Result<Self, RecordedError> {
        let settings = committed.map_or(stated, OneRunSettings::from);
        let coins = match (committed, &files.coins) {
            (Some(plan), _) => plan.coins(),
            (None, Some(file)) => vec![file.coins()?],
            (None, None) => return Err(RecordedError::CoinsMissing),
        };
        let (made, planned) = (files.scores.len(), coins.len());
        if made > planned {
            return Err(RecordedError::Runs { files: made, planned });
        }
        if files.projections.is_some() && settings.direction == ScoreDirection::Lower {
            return Err(RecordedError::LowerProjections);
        }
        let mut projected = Vec::new();
        let runs = files.scores.iter().zip(coins).map(|(file, coins)| {
            if let Some(ProjectionSettings { score, sampling_rate, .. }) = files.projections {
                let found = file.projected(coins.len(), score, sampling_rate)?;
                projected.push((&found).into());
                return Ok(RecordedRun { scores: found.scores, coins });
            }
            let scores = file.scores(settings.direction)?;
            check_enough_scores(file, scores.len())?;
            file.check_count("scores", scores.len(), coins.len())?;
            Ok(RecordedRun { scores, coins })
        });
        let runs = runs.collect::<Result<Vec<_>, FileError>>()?;
        check_different(&runs, &files.scores)?;
        let projections = files.projections.map(|stated| ProjectionsRecord {
            score: stated.score,
            sampling_rate: stated.sampling_rate,
            noise_multiplier: stated.noise_multiplier,
            runs: projected,
        });
        let canaries = runs.first().map_or(0, |run| run.coins.len());
        let sets = match (settings.set_size, &files.sets) {
            (Some(size), _) => Some(consecutive(canaries, size)),
            (None, Some(_)) if committed.is_some() => None, // the plan has no sets
            (None, Some(file)) => Some(file.sets(canaries)?),
            (None, None) => None,
        };
        let mut found = Self {
            runs,
            planned_runs: planned as u64,
            settings,
            adjacency: committed.map(|found| found.plan.adjacency),
            sets,
            features: Vec::new(),
            findings: projections
                .as_ref()
                .and_then(ProjectionsRecord::finding)
                .into_iter()
                .collect(),
            projections,
            is_committed: committed.is_some(),
            // a fixed order of ties where no seed was committed
            ties: committed.map_or(CoinSeed::new([0; 32]), |found| found.seed.clone()),
        };
        found.read_canaries(files, committed)?;
        if let Some(file) = &files.baseline {
            found.features.push((CanaryFeature::Baseline, baseline(file, canaries)?));
        }
        Ok(found)
    }

    fn read_canaries(
        &mut self,
        files: &OneRunFiles<'_>,
        committed: Option<&CommittedPlan>,
    ) -> Result<(), RecordedError> {
        let Some(file) = &files.canaries else {
            return match files.base_data {
                Some(_) => Err(RecordedError::CanariesMissing),
                None => Ok(()),
            };
        };
        if let Some(committed) = committed {
            CommittedPlan::check_canaries(&committed.plan, file)?;
        }
        let found = CanaryFile::read(file)?;
        file.check_count("canaries", found.len(), self.canaries())?;
        self.features.extend(found.features());
        let canaries = found.len() as u64;
        let copies = found.copies();
        let equal = OneRunFinding::EqualCanaries { copies, canaries };
        self.findings.extend((copies > 0).then_some(equal));
        if let Some(base) = &files.base_data {
            let copies = found.found_in(&CanaryFile::read(base)?);
            let copies = copies.map_err(|why| base.refused(why))?;
            let copied = OneRunFinding::CanariesInBaseData { copies, canaries };
            self.findings.extend((copies > 0).then_some(copied));
        }
        Ok(())
    }

    /// Canaries of each run.
    #[must_use]
    pub fn canaries(&self) -> usize {
        self.runs.first().map_or(0, |run| run.coins.len())
    }

    /// Digests of the scores of each run, which a plan is audited with once.
    #[must_use]
    pub fn digests(&self) -> Vec<String> {
        self.runs.iter().map(|run| digest(&run.scores)).collect()
    }

    /// Adds a finding if the plan was audited with other scores before.
    pub fn compare_with_audited(&mut self, before: &[String]) {
        let is_second = before.iter().zip(self.digests()).any(|(before, digest)| *before != digest);
        self.findings.extend(is_second.then_some(OneRunFinding::SecondScores));
    }

    /// Each run as canaries with coins, sets or matched pairs.
    ///
    /// The plan decides, or else the settings. Only where neither states that coins were independent does
    /// the number of included canaries count: exactly half of them may have been drawn without
    /// replacement, and so may another number that is as close to its mean
    /// ([`CanaryScores::with_unknown_draw`]).
    ///
    /// # Errors
    /// Scores or coins without a bound.
    pub fn scored(&self) -> Result<Vec<CanaryScores<'_>>, CanaryError> {
        let of_run = |run| self.scored_run(run);
        self.runs.iter().map(of_run).collect()
    }

    fn scored_run<'a>(&self, run: &'a RecordedRun) -> Result<CanaryScores<'a>, CanaryError> {
        let RecordedRun { scores, coins } = run;
        if let Some(sets) = &self.sets {
            return CanaryScores::sets(scores, coins, sets);
        }
        let is_independent = self.settings.independent_coins;
        let included = coins.iter().filter(|&&coin| coin).count();
        if !is_independent && self.unfair().is_none() && 2 * included == coins.len() {
            return CanaryScores::matched(scores, coins, matching_seed(scores));
        }
        let found = CanaryScores::coins(scores, coins)?;
        let found = found.with_inclusion_probability(self.unfair().unwrap_or(0.5))?;
        Ok(if is_independent { found } else { found.with_unknown_draw() })
    }

    fn unfair(&self) -> Option<f64> {
        self.settings.inclusion_probability.filter(|&inclusion| inclusion != 0.5)
    }

    /// The place of a canary or set among others with the same score.
    #[must_use]
    pub fn tie(&self, run: u64, index: u64) -> u64 {
        let first = self.ties.tie_breaker(run * self.canaries() as u64 + index);
        first.iter().take(8).fold(0, |value, &byte| value << 8 | u64::from(byte))
    }

    /// What is asked of the scores.
    #[must_use]
    pub fn question(&self) -> OneRunQuestion<'_> {
        OneRunQuestion {
            deltas: &self.settings.deltas,
            significance: self.settings.significance,
            rule: self.settings.rule,
            is_committed: self.is_committed,
        }
    }

    /// The bounds of [`Self::scored`], with all findings.
    ///
    /// # Errors
    /// Scores or settings without a bound.
    pub fn result(&self, runs: &[CanaryScores<'_>]) -> Result<OneRunResult, CanaryError> {
        let features: Vec<_> =
            self.features.iter().map(|(feature, values)| (*feature, &values[..])).collect();
        let tie = |run: u64, index: u64| self.tie(run, index);
        let result = audit_runs(runs, self.planned_runs, &self.question(), &features, tie)?;
        Ok(result.with_findings(self.findings.clone()))
    }

    /// What a coin decides.
    #[must_use]
    pub fn kind(&self, run: &CanaryScores<'_>) -> CanaryGameKind {
        match () {
            () if run.is_matching() => CanaryGameKind::MatchedPairs,
            () if run.is_sets() => CanaryGameKind::Sets,
            () if run.fixed_size().is_some() => CanaryGameKind::FixedSize,
            () if self.unfair().is_some() => CanaryGameKind::UnfairCoins,
            () => CanaryGameKind::Coins,
        }
    }

    /// What a result rests on.
    #[must_use]
    pub fn design(
        &self,
        game: CanaryGameKind,
        result: &OneRunResult,
        adjacency: Adjacency,
    ) -> OneRunDesign {
        OneRunDesign {
            game,
            canaries: result.game().canaries(),
            set_size: result.game().set_size(),
            adjacency,
            rule: match self.settings.rule {
                GuessRule::Walk => GuessRuleKind::Walk,
                GuessRule::Sides { included: 0, .. } | GuessRule::Sides { excluded: 0, .. } => {
                    GuessRuleKind::OneSide
                }
                GuessRule::Most(_) | GuessRule::Sides { .. } => GuessRuleKind::Fixed,
            },
            coins: match () {
                () if self.is_committed => CoinsStatus::Committed,
                () if self.settings.independent_coins => CoinsStatus::StatedIndependent,
                () => CoinsStatus::NotCommitted,
            },
        }
    }

    /// A report with the runs, and the area under the curve of a single one.
    #[must_use]
    pub fn completed(&self, report: OneRunReport, runs: &[CanaryScores<'_>]) -> OneRunReport {
        let (made, planned) = (runs.len() as u64, self.planned_runs);
        OneRunReport {
            auc: runs.first().and_then(CanaryScores::auc).filter(|_| made == 1),
            runs: (planned > 1).then_some(PlannedRunsRecord { made, planned }),
            inclusion_probability: self.unfair(),
            projections: self.projections.clone(),
            ..report
        }
    }
}

pub(crate) fn digest(scores: &[f64]) -> String {
    format!("{:014x}", content_seed([scores, &[]]))
}

/// The seed of a matching, derived from the scores without their order, so that it knows no coin.
fn matching_seed(scores: &[f64]) -> u64 {
    let mut scores = scores.to_vec();
    scores.sort_unstable_by(f64::total_cmp);
    content_seed([&scores, &[]])
}

fn baseline(file: &File<'_>, canaries: usize) -> Result<Vec<f64>, FileError> {
    let baseline = file.averaged("baseline")?;
    file.check_count("baseline scores", baseline.len(), canaries)?;
    finite(&baseline).map_err(|(index, _)| {
        file.refused(format!("the baseline score at index {index} is not finite"))
    })?;
    Ok(baseline)
}

/// Refuses the scores of one run as those of two.
fn check_different(runs: &[RecordedRun], files: &[File<'_>]) -> Result<(), FileError> {
    let digests: Vec<String> = runs.iter().map(|run| digest(&run.scores)).collect();
    for (run, found) in digests.iter().enumerate() {
        if let Some(first) = digests[..run].iter().position(|other| other == found) {
            return Err(files[run].refused(format!(
                "has the scores of run {} ({}); pass the scores of each run once, in the order of \
                 the runs",
                first + 1,
                files[first].name
            )));
        }
    }
    Ok(())
}

/// Refuses scores of fewer than five canaries, with the shape that was read.
fn check_enough_scores(file: &File<'_>, canaries: usize) -> Result<(), FileError> {
    if canaries >= 5 {
        return Ok(());
    }
    let shape = file.array("scores")?.shape().to_vec();
    Err(file.refused(match shape[..] {
        [rows, columns] if columns < rows => format!(
            "has {rows} rows and {columns} columns, read as {rows} queries of {columns} canaries, and at \
             least 5 canaries are needed; pass one score per canary: a single column, or a column named \
             scores"
        ),
        _ => format!("has {canaries} scores, and at least 5 canaries are needed"),
    }))
}

/// Refuses fewer than five canaries.
///
/// # Errors
/// Why.
pub fn check_enough(canaries: u64) -> Result<(), String> {
    match canaries {
        5.. => Ok(()),
        _ => Err(format!("--canaries is {canaries}: at least 5 are needed")),
    }
}

fn consecutive(canaries: usize, set_size: u32) -> Vec<u64> {
    (0..canaries as u64).map(|canary| canary / u64::from(set_size.max(1))).collect()
}
