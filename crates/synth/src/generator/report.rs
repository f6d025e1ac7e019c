//! The document of `dpscope audit generator`.

use dpscope_report::number::counted;
use dpscope_report::record::{
    GeneratorAttack, GeneratorFinding, GeneratorReport, IndicativeFigures,
};
use dpscope_report::words::{CONSTANT_ROWS, GeneratorResult};

use super::manifest::{BoundsSource, Manifest};
use super::outcomes::WorldsAttack;

/// What was fixed beforehand, as far as the report says so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneratorPlan {
    /// The claimed ε.
    pub epsilon: Option<f64>,
    /// δ of the bound.
    pub delta: f64,
    /// Chance that the bound is wrong.
    pub significance: f64,
    /// Runs of each world.
    pub runs: u64,
    /// Rows of a run.
    pub rows: u64,
    /// Columns of a row.
    pub columns: u64,
}

impl From<&Manifest> for GeneratorPlan {
    fn from(manifest: &Manifest) -> Self {
        GeneratorPlan {
            epsilon: manifest.epsilon,
            delta: manifest.delta,
            significance: manifest.significance,
            runs: manifest.runs,
            rows: manifest.rows,
            columns: manifest.columns.len() as u64,
        }
    }
}

fn empty(plan: &GeneratorPlan, elapsed_ms: f64) -> GeneratorReport {
    GeneratorReport {
        schema: GeneratorReport::SCHEMA.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        headline: String::new(),
        says: String::new(),
        verdict: None,
        claimed_epsilon: plan.epsilon,
        attack: None,
        indicative: None,
        delta: plan.delta,
        significance: plan.significance,
        runs: plan.runs,
        failed: [0; 2],
        rows: plan.rows,
        columns: plan.columns,
        checked_data: false,
        findings: Vec::new(),
        elapsed_ms,
    }
}

/// The report of many runs.
#[must_use]
pub fn worlds_report(
    plan: &GeneratorPlan,
    found: &WorldsAttack,
    elapsed_ms: f64,
) -> GeneratorReport {
    let attack = GeneratorAttack {
        auc: found.attack.auc,
        epsilon: found.attack.bound.value(),
        ceiling: found.attack.ceiling,
        evaluated: found.attack.trials.target.min(found.attack.trials.zero_out),
        counts: found.attack.bound.evidence().into(),
    };
    let result = GeneratorResult {
        claimed: plan.epsilon,
        epsilon: attack.epsilon,
        ceiling: attack.ceiling,
        significance: plan.significance,
        runs: plan.runs,
        failed: found.failed.iter().map(|(failed, _)| *failed).max().unwrap_or(0),
        is_constant: found.is_constant,
    };
    let mut findings: Vec<GeneratorFinding> = failures(found).into_iter().collect();
    let [with, without] = found.retried;
    if with + without > 0 {
        findings.push(GeneratorFinding {
            name: "retried-runs".into(),
            says: format!("{with} with the target row and {without} without it succeeded after a failure"),
            remedy: "the bound is one on the generator with these retries, not on a single execution; plan \
                     without --retries to audit that"
                .to_owned(),
        });
    }
    if let Some(seen) = &found.other_rows {
        findings.push(GeneratorFinding {
            name: "seed-ignored".into(),
            says: seen.trim().to_owned(),
            remedy: "draw all randomness from {seed}, so that a run can be repeated".to_owned(),
        });
    }
    if found.is_constant {
        findings.push(GeneratorFinding {
            name: CONSTANT_ROWS.into(),
            says: "every run of both worlds released the same rows".to_owned(),
            remedy: "check that the command writes what it generates, and draws it from {seed}"
                .to_owned(),
        });
    }
    GeneratorReport {
        headline: result.headline(),
        says: result.meaning(),
        verdict: result.verdict(),
        attack: Some(attack),
        failed: [found.failed[0].0, found.failed[1].0],
        checked_data: found.checked_data,
        findings,
        ..empty(plan, elapsed_ms)
    }
}

fn failures(found: &WorldsAttack) -> Option<GeneratorFinding> {
    let [(with, first), (without, second)] = &found.failed;
    let first = first.as_ref().or(second.as_ref())?;
    Some(GeneratorFinding {
        name: "failed-runs".into(),
        says: format!(
            "{} with the target row and {without} without it failed; {first}",
            counted(*with, "run")
        ),
        remedy: "read the .stderr file beside it; whether a run fails is an output too, so that failures \
                 stay in the audit"
            .to_owned(),
    })
}

/// The report of what certifies nothing: no game, or bounds from the data.
#[must_use]
pub fn report_without_bound(
    plan: &GeneratorPlan,
    bounds: BoundsSource,
    figures: IndicativeFigures,
    elapsed_ms: f64,
) -> GeneratorReport {
    let (why, finding) = match bounds {
        BoundsSource::Data => (
            "the bounds of the columns were taken from the data",
            Some(GeneratorFinding {
                name: "bounds-from-data".into(),
                says:
                    "bounds that follow the data tell about single rows, whatever noise comes later"
                        .to_owned(),
                remedy: "state bounds that are known without the data, and plan anew".to_owned(),
            }),
        ),
        BoundsSource::Public => {
            ("a table without canaries and a second world is no experiment", None)
        }
    };
    GeneratorReport {
        headline: format!("No ε: {why}"),
        says: "the figures are indicative only; neither small nor large distances certify an ε. For a \
               bound, plan many runs in two worlds (`dpscope plan generator`) or one run with canaries \
               (`dpscope canaries rows`)"
            .to_owned(),
        indicative: Some(figures),
        findings: finding.into_iter().collect(),
        ..empty(plan, elapsed_ms)
    }
}
