//! The report of an audit by something that was drawn.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::audit::drawn::{DrawnFinding, DrawnGuesses};

use super::Reported;
use crate::document::{Document, Hints, Section};
use crate::number::{plain, up};
use crate::recompute::{Checker, OpenValues, RecomputeError, open};
use crate::record::DrawnReport;
use crate::summary::{ListedFinding, ListedValue, Summary, canary_tests, code, severity};
use crate::words::{
    NO_LEAKAGE, coverage_sentence, drawn_adjacencies, drawn_assumption, drawn_ceiling_in_words,
    drawn_guesses_in_words, drawn_subject, drawn_title,
};

impl Reported for DrawnReport {
    const OPEN: OpenValues = OpenValues {
        reasons: &[
            ("/guesses", open::INPUT),
            ("/commitment", open::INPUT),
            ("/delta", open::INPUT),
            ("/significance", open::INPUT),
            ("", open::CANARY_SCORES),
        ],
        findings: Some("/findings"),
    };

    fn summary(&self) -> Summary {
        let audited = |adjacency| {
            ListedValue::audited(
                OutcomeKind::Bound,
                self.bounds.of(adjacency),
                self.delta,
                self.significance,
            )
            .of_audit(adjacency, self.ceilings.of(adjacency))
        };
        let finding = |record: &crate::record::DrawnFindingRecord| ListedFinding {
            code: code(&record.finding),
            severity: severity(matches!(record.finding, DrawnFinding::ScoresReversed { .. })),
            sentence: record.sentence.clone(),
        };
        Summary {
            title: drawn_title(&self.guesses).to_owned(),
            headline: self.headline.clone(),
            tests: canary_tests(self.claim.as_ref(), self.fail_above.as_ref()).collect(),
            findings: self.findings.iter().map(finding).collect(),
            values: drawn_adjacencies(&self.guesses).iter().copied().map(audited).collect(),
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

/// The result, the verdicts and the findings.
fn brief(report: &DrawnReport) -> Document {
    let mut document = Document::new(&report.headline);
    document.tests(&report.summary().tests);
    document.open(Section::Findings);
    report.findings.iter().for_each(|record| document.note(&record.sentence));
    document
}

fn document(report: &DrawnReport) -> Document {
    let mut document = brief(report);
    document.gap();
    document.open(Section::Meaning);
    document.row("meaning", &meaning(report));
    document.detail("value", &coverage_sentence(OutcomeKind::Bound, report.significance));
    document.open(Section::Subject);
    let (label, text) = drawn_subject(&report.guesses);
    document.row(label, &text);
    document.row("assumes", &format!("that {}", drawn_assumption(&report.guesses)));
    if let Some(commitment) = &report.commitment {
        document.row(
            "plan",
            &format!(
                "committed as {commitment}; that says nothing unless it was published before the training"
            ),
        );
    }
    document.open(Section::Evidence);
    for (place, line) in drawn_guesses_in_words(&report.guesses).iter().enumerate() {
        document.row(if place == 0 { "guesses" } else { "" }, line);
    }
    let p_value = match report.p_value_without_leak {
        p if p < 1e-300 => "p < 1e-300".to_owned(),
        p if p >= 1e-3 => format!("p = {}", plain(p, Kind::Upper, 3)),
        p => format!("p = {}", up(p)),
    };
    document.row("by chance", &format!("{p_value} if training did not leak at all"));
    if let Some(factor) = report.odds_factor_without_leak.filter(|factor| *factor > 1.0) {
        let factor = plain(factor, Kind::Lower, 3);
        let text =
            format!("without any leak, the odds would have to be wrong by a factor of {factor}");
        document.row("", &text);
    }
    document.open(Section::Power);
    document.row("ceiling", &drawn_ceiling_in_words(&report.guesses, &report.ceilings));
    document.open(Section::Reproduction);
    document.row("run", &format!("{:.2} s", report.elapsed_ms / 1e3));
    document
}

fn meaning(report: &DrawnReport) -> String {
    if let Some(claim) = &report.claim {
        let refuted = claim.verdict.outcome == Verdict::Refuted;
        let note =
            if refuted { "" } else { " A claim is compared with the bound for its own adjacency." };
        return format!("{} Adjacency: {}.{note}", claim.says, claim.note);
    }
    match report.bounds.replace.max(report.bounds.add_remove) > 0.0 {
        true => "Any claim below the bound for its adjacency is refuted.".to_owned(),
        false => NO_LEAKAGE.to_owned(),
    }
}

/// Everything: the report has the counts.
fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let stated: DrawnReport = report.parsed("", "a report of guesses")?;
    let _: DrawnGuesses = report.parsed("/guesses", "guesses")?;
    let level = (report.number("/delta")?, report.number("/significance")?);
    let found = DrawnReport::new(
        stated.guesses.clone(),
        level,
        stated.findings_of_scores(),
        &stated.test(),
    );
    let found = found.map_err(|error| RecomputeError::Counts {
        pointer: "/guesses",
        problem: error.to_string(),
    })?;
    report.expect("/headline", found.headline);
    report.expect_all("/bounds", found.bounds);
    report.expect_all("/ceilings", found.ceilings);
    report.expect("/p_value_without_leak", found.p_value_without_leak);
    report.expect_all("/odds_factor_without_leak", found.odds_factor_without_leak);
    report.expect_all("/findings", found.findings);
    report.expect_all("/verdict", found.verdict);
    report.expect_tests(found.claim, found.fail_above, level.0);
    Ok(())
}
