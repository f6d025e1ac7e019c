//! The report of a random hold-out.

use dpscope_core::accounting::Kind;
use dpscope_core::adjacency::Adjacency;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::claim::Verdict;
use dpscope_core::audit::split::{SplitFinding, SplitGuesses};

use super::Reported;
use crate::document::{Document, Hints, Section};
use crate::number::{counted, grouped, plain, up};
use crate::recompute::{Checker, OpenValues, RecomputeError, open};
use crate::record::SplitReport;
use crate::summary::{ListedFinding, ListedValue, Summary, canary_tests, code, severity};
use crate::words::{NO_LEAKAGE, UNIFORM_SPLIT, coverage_sentence, split_guesses_in_words};

impl Reported for SplitReport {
    const OPEN: OpenValues = OpenValues {
        reasons: &[
            ("/guesses", open::INPUT),
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
        let finding = |record: &crate::record::SplitFindingRecord| ListedFinding {
            code: code(&record.finding),
            severity: severity(matches!(record.finding, SplitFinding::ScoresReversed { .. })),
            sentence: record.sentence.clone(),
        };
        Summary {
            title: "Privacy audit of a random hold-out".to_owned(),
            headline: self.headline.clone(),
            tests: canary_tests(self.claim.as_ref(), self.fail_above.as_ref()).collect(),
            findings: self.findings.iter().map(finding).collect(),
            values: [Adjacency::AddRemove, Adjacency::Replace].map(audited).to_vec(),
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
fn brief(report: &SplitReport) -> Document {
    let mut document = Document::new(&report.headline);
    document.tests(&report.summary().tests);
    document.open(Section::Findings);
    report.findings.iter().for_each(|record| document.note(&record.sentence));
    document
}

fn document(report: &SplitReport) -> Document {
    let mut document = brief(report);
    document.gap();
    document.open(Section::Meaning);
    document.row("meaning", &meaning(report));
    document.detail("value", &coverage_sentence(OutcomeKind::Bound, report.significance));
    document.open(Section::Subject);
    let (members, non_members) = (report.guesses.members(), report.guesses.non_members());
    let rows = format!(
        "{} that were trained on, {} held out",
        counted(members, "row"),
        grouped(non_members)
    );
    document.row("split", &rows);
    document.row("assumes", &format!("that {UNIFORM_SPLIT}"));
    document.open(Section::Evidence);
    for (place, line) in split_guesses_in_words(&report.guesses).iter().enumerate() {
        document.row(if place == 0 { "guesses" } else { "" }, line);
    }
    if matches!(&report.guesses, SplitGuesses::Cut { strata } if two_sided(strata)) {
        document.row("", "each side is tested at half the significance; the larger bound holds");
    }
    let p_value = up(report.p_value_without_leak);
    document.row("by chance", &format!("p = {p_value} if training did not leak at all"));
    document.open(Section::Power);
    let [add_remove, replace] =
        [report.ceilings.add_remove, report.ceilings.replace].map(|it| plain(it, Kind::Lower, 4));
    let text = format!(
        "ε {add_remove} (add or remove) and {replace} (replace) are the most that these guesses can show"
    );
    document.row("ceiling", &text);
    document.open(Section::Reproduction);
    document.row("run", &format!("{:.2} s", report.elapsed_ms / 1e3));
    document
}

fn two_sided(strata: &[dpscope_core::audit::split::SplitCounts]) -> bool {
    strata.iter().any(|it| it.guesses_in > 0) && strata.iter().any(|it| it.guesses_out > 0)
}

fn meaning(report: &SplitReport) -> String {
    if let Some(claim) = &report.claim {
        let refuted = claim.verdict.outcome == Verdict::Refuted;
        let note =
            if refuted { "" } else { " A claim is compared with the bound for its own adjacency." };
        return format!("{} Adjacency: {}.{note}", claim.says, claim.note);
    }
    match report.bounds.replace > 0.0 {
        true => "Any claim below the bound for its adjacency is refuted.".to_owned(),
        false => NO_LEAKAGE.to_owned(),
    }
}

/// Everything: the report has the counts.
fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
    let stated: SplitReport = report.parsed("", "a report of a split")?;
    let _: SplitGuesses = report.parsed("/guesses", "guesses")?;
    let level = (report.number("/delta")?, report.number("/significance")?);
    let found = SplitReport::new(
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
    report.expect_all("/findings", found.findings);
    report.expect_all("/verdict", found.verdict);
    if let Some(claim) = found.claim {
        report.expect_all("/claim/verdict", claim.verdict);
        report.expect("/claim/says", claim.says);
        report.expect("/claim/note", claim.note);
        report.expect("/claim/delta", level.0);
    }
    if let Some(limit) = found.fail_above {
        report.expect_all("/fail_above/verdict", limit.verdict);
    }
    Ok(())
}
