//! The report of an audit that may be looked at after every run.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::anytime::AnytimeTest;
use dpscope_core::audit::{Finding, OutcomeKind};

use super::Reported;
use crate::document::{Document, Hints, Section};
use crate::number::{counted, grouped, plain};
use crate::recompute::{Checker, OpenValues, RecomputeError, open};
use crate::record::{AnytimeReport, FindingRecord};
use crate::summary::{ListedFinding, ListedValue, Summary, canary_tests, code, severity};
use crate::words::{NO_LEAKAGE, coverage_sentence};

impl Reported for AnytimeReport {
    const OPEN: OpenValues = OpenValues {
        reasons: &[("/delta", open::INPUT), ("", open::ORDERED_RUNS)],
        findings: Some("/findings"),
    };

    fn summary(&self) -> Summary {
        let value =
            ListedValue::audited(OutcomeKind::Bound, self.epsilon, self.delta, self.significance);
        let finding = |record: &FindingRecord| ListedFinding {
            code: code(&record.finding),
            severity: severity(record.costs_coverage),
            sentence: record.sentence.clone(),
        };
        Summary {
            title: "Privacy audit that may be looked at after every run".to_owned(),
            headline: self.headline.clone(),
            tests: canary_tests(self.claim.as_ref(), self.fail_above.as_ref()).collect(),
            findings: self.findings.iter().map(finding).collect(),
            values: vec![value.of_audit(None, self.ceiling)],
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn brief_document(&self, _: Hints) -> Document {
        brief(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        recompute(report)
    }
}

/// The result and the verdicts.
fn brief(report: &AnytimeReport) -> Document {
    let mut document = Document::new(&report.headline);
    document.tests(&report.summary().tests);
    document.open(Section::Findings);
    report.findings.iter().for_each(|record| document.note(&record.sentence));
    document
}

fn document(report: &AnytimeReport) -> Document {
    let mut document = brief(report);
    document.gap();
    document.open(Section::Meaning);
    let meaning = match &report.claim {
        Some(claim) => format!("{} Adjacency: {}.", claim.says, claim.note),
        None if report.epsilon > 0.0 => "Any claim below this ε is refuted.".to_owned(),
        None => NO_LEAKAGE.to_owned(),
    };
    document.row("meaning", &meaning);
    document.detail("value", &coverage_sentence(OutcomeKind::Bound, report.significance));
    document.open(Section::Evidence);
    let reached = match report.reached_after {
        Some(pairs) => format!(", reached after {}", grouped(pairs)),
        None => String::new(),
    };
    let text = format!(
        "{} of runs, one of each world, in the order of the files{reached}; {} before them chose the thresholds",
        counted(report.pairs, "pair"),
        grouped(report.pilot_pairs)
    );
    document.row("bets", &text);
    let fixed = plain(report.fixed_epsilon, Kind::Lower, 4);
    let text = format!(
        "ε ≥ {fixed} by the test of a fixed number of runs: valid only if this number was fixed beforehand, and \
         for one look"
    );
    document.row("one look", &text);
    document.open(Section::Power);
    let ceiling = plain(report.ceiling, Kind::Lower, 4);
    document.row("ceiling", &format!("ε {ceiling} is the most that so many runs can show"));
    document.open(Section::Reproduction);
    document.row("run", &format!("{:.2} s", report.elapsed_ms / 1e3));
    document
}

/// Headline and verdicts: the order of the runs, on which the bound rests, is not in the report.
fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let stated: AnytimeReport = report.parsed("", "a report of bets")?;
    let (found, test) = stated.evidence();
    let refused = |problem: String| RecomputeError::Counts { pointer: "/reached_after", problem };
    let is_shown = found.reached_after.is_some_and(|pairs| pairs <= found.pairs);
    if is_shown != (found.epsilon > 0.0) || found.pilot_pairs > AnytimeTest::PILOT as u64 {
        return Err(refused("is not where these bets can have reached the bound".to_owned()));
    }
    let findings: Vec<Finding> = stated.findings.iter().map(|record| record.finding).collect();
    let expected = AnytimeReport::new(&found, &findings, &test);
    let expected = expected.map_err(|error| refused(error.to_string()))?;
    let ceiling = AnytimeTest::ceiling(found.pairs, found.delta, found.significance);
    report.expect("/ceiling", ceiling.map_err(|error| refused(error.to_string()))?);
    report.expect_all("/findings", expected.findings);
    report.expect("/headline", expected.headline);
    report.expect_all("/verdict", expected.verdict);
    report.expect_tests(expected.claim, expected.fail_above, found.delta);
    Ok(())
}
