//! Canaries whose null distribution is sampled: no coins are needed.

use dpscope_core::audit::claim::ClaimError;
use dpscope_core::audit::one_run::OneRunFinding;
use dpscope_core::audit::one_shot::{
    CanaryDesign, NULL_SHARE, NullScores, OneShotError, OneShotQuestion, OneShotResult,
};
use dpscope_report::record::{ClaimTest, OneShotReport, PrivacyUnit, ScoreDirection};
use dpscope_report::words::{CanaryNull, OneShotAttacker, OneShotDesign};

use crate::one_run::digest;
use crate::{CommittedPlan, File, FileError};

/// Scores of canaries that were not included.
#[derive(Debug, Clone, Copy)]
pub enum NullFile<'a> {
    /// Draws from the distribution of the included ones.
    FreshDraws(File<'a>),
    /// All members of the pool that the included ones were drawn from.
    Pool(File<'a>),
}

/// How scores without coins are audited.
#[derive(Debug, Clone, Copy)]
pub struct PoolSettings {
    /// Which scores indicate an included canary.
    pub direction: ScoreDirection,
    /// How their number was drawn; without it, it was fixed.
    pub design: Option<CanaryDesign>,
    /// δ of the bounds.
    pub delta: f64,
    /// Chance that a bound is wrong.
    pub significance: f64,
}

/// Included canaries, null scores, and what was fixed before the training.
#[derive(Debug, Clone)]
pub struct PoolScores {
    included: Vec<f64>,
    null: NullScores,
    kind: CanaryNull,
    question: OneShotQuestion,
    findings: Vec<OneRunFinding>,
    is_committed: bool,
    digest: String,
}

impl PoolScores {
    /// Reads scores of included canaries, and null scores.
    ///
    /// # Errors
    /// A file that cannot be read, or an included canary that is not in the pool.
    pub fn read(
        scores: &File<'_>,
        null: &NullFile<'_>,
        settings: PoolSettings,
    ) -> Result<Self, FileError> {
        let PoolSettings { direction, delta, significance, .. } = settings;
        let included = scores.finite_scores(direction)?;
        let inserted = included.len() as u64;
        let share = NULL_SHARE * significance;
        let (null, kind, null_significance) = match null {
            NullFile::FreshDraws(file) => {
                let drawn = file.finite_scores(direction)?;
                if drawn == included {
                    return Err(file.refused(format!(
                        "has the scores of {}; pass the scores of canaries that were not included",
                        scores.name
                    )));
                }
                let null = NullScores::of_fresh_draws(drawn, share);
                let null = null.map_err(|error| file.refused(error))?;
                check_varies(&included, &null, file)?;
                let draws = null.len() as u64;
                (null, CanaryNull::FreshDraws { draws }, share)
            }
            NullFile::Pool(file) => {
                let null = pool_of(file, file.finite_scores(direction)?)?;
                check_members(&included, &null, file)?;
                let members = null.len() as u64;
                (null, CanaryNull::Pool { members }, 0.0)
            }
        };
        let design = settings.design.unwrap_or(CanaryDesign::Fixed { canaries: inserted });
        let question = OneShotQuestion {
            design,
            inserted,
            delta,
            significance,
            null_significance,
            server_rounds: 1,
        };
        let (findings, digest) = (Vec::new(), digest(&included));
        Ok(Self { included, null, kind, question, findings, is_committed: false, digest })
    }

    /// Marks these canaries as verified: the caller knows that they follow from what was committed
    /// before the training.
    #[must_use]
    pub fn with_verified_commitment(self) -> Self {
        Self { is_committed: true, ..self }
    }

    /// Reads the scores of a pool from which a committed plan drew a Poisson number of canaries.
    ///
    /// # Errors
    /// A file that cannot be read, or scores of another number of canaries.
    pub fn planned(
        file: &File<'_>,
        committed: &CommittedPlan,
        mean: f64,
    ) -> Result<Self, FileError> {
        let plan = &committed.plan;
        let scores = file.finite_scores(plan.direction)?;
        if scores.len() as u64 != plan.canaries {
            let why =
                format!("has {} scores, and the pool {} canaries", scores.len(), plan.canaries);
            return Err(file.refused(format!("{why}: score the whole pool, in its order")));
        }
        let digest = digest(&scores);
        let copies = committed.copies(mean);
        let draws = scores.iter().zip(&copies);
        let draws = draws.flat_map(|(&score, &copies)| std::iter::repeat_n(score, copies.into()));
        let included: Vec<f64> = draws.collect();
        let null = pool_of(file, scores)?;
        let question = OneShotQuestion {
            design: CanaryDesign::Poisson { mean },
            inserted: included.len() as u64,
            delta: plan.deltas.first().copied().unwrap_or(1e-5),
            significance: plan.significance,
            null_significance: 0.0,
            server_rounds: 1,
        };
        let kind = CanaryNull::Pool { members: plan.canaries };
        let findings = Vec::new();
        Ok(Self { included, null, kind, question, findings, is_committed: true, digest })
    }

    /// The digest of the scores, which a plan is audited with once.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Adds a finding if the plan was audited with other scores before.
    pub fn compare_with_audited(&mut self, before: &[String]) {
        let is_second = before.first().is_some_and(|before| *before != self.digest);
        self.findings.extend(is_second.then_some(OneRunFinding::SecondScores));
    }

    /// δ of the statement.
    #[must_use]
    pub const fn delta(&self) -> f64 {
        self.question.delta
    }

    /// The bounds.
    ///
    /// # Errors
    /// A design or number of canaries without a bound.
    pub fn result(&self) -> Result<OneShotResult, OneShotError> {
        OneShotResult::of_scores(&self.included, &self.null, self.question)
    }

    /// What the bounds rest on.
    #[must_use]
    pub fn design(&self) -> OneShotDesign {
        OneShotDesign {
            number: self.question.design,
            inserted: self.question.inserted,
            null: self.kind,
            attacker: OneShotAttacker::Scores,
            unit: PrivacyUnit::Record,
            adjacency: OneShotDesign::certified(self.question.design),
            is_committed: self.is_committed,
        }
    }

    /// The report of [`Self::result`].
    ///
    /// # Errors
    /// A claim that cannot be compared.
    pub fn report(
        &self,
        result: OneShotResult,
        test: &ClaimTest,
    ) -> Result<OneShotReport, ClaimError> {
        let result = result.with_findings(self.findings.clone());
        OneShotReport::new(result, self.design(), None, test)
    }

    /// What N(0, 1) has the null probability of each included canary, for drawings.
    #[must_use]
    pub fn normal_scores(&self) -> Vec<f64> {
        self.null.normal_scores(&self.included)
    }
}

fn pool_of(file: &File<'_>, scores: Vec<f64>) -> Result<NullScores, FileError> {
    NullScores::of_pool(scores).map_err(|error| file.refused(error))
}

/// Refuses null scores that are all equal beside canaries of many scores; a classifier that answers yes or
/// no has two.
fn check_varies(included: &[f64], null: &NullScores, file: &File<'_>) -> Result<(), FileError> {
    let Some(constant) = null.constant() else { return Ok(()) };
    let mut values: Vec<f64> = included.iter().copied().chain([constant]).collect();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    match values.len() {
        1 => Err(file.refused(format!(
            "has the score {constant} and no other, as the included canaries have: such scores show no \
             leak; pass scores that vary"
        ))),
        0..=2 => Ok(()),
        count => Err(file.refused(format!(
            "has the score {constant} {} times and no other, and the included canaries have {count} \
             different ones: score both by the same model and attack",
            null.len()
        ))),
    }
}

/// Refuses an included canary that is not in the pool.
fn check_members(scores: &[f64], pool: &NullScores, file: &File<'_>) -> Result<(), FileError> {
    match scores.iter().find(|&&score| !pool.contains(score)) {
        None => Ok(()),
        Some(score) => {
            let index = scores.iter().position(|other| other == score).unwrap_or_default();
            Err(file.refused(format!(
                "lacks the score {score} of the included canary {index}: score all members of the \
                 pool by the same model, with the same digits"
            )))
        }
    }
}
