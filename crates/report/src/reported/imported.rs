//! The report of phases that another accountant recorded.

use dpscope_core::accounting::Accounted;
use dpscope_core::format::given;

use super::Reported;
use crate::document::{Align, Document, Hints, Section};
use crate::number::{counted, plain};
use crate::recompute::{Checker, OpenValues, RecomputeError, theory};
use crate::record::{ImportedReport, PrivacyUnit, RecordSource};
use crate::summary::{Summary, accounted, tested};
use crate::words::{known_epsilon_sentence, unit_in_words};

/// Phases that are printed.
const MOST_SHOWN: usize = 20;

impl Reported for ImportedReport {
    const OPEN: OpenValues = OpenValues { reasons: &[], findings: None };

    fn summary(&self) -> Summary {
        let claim =
            self.claim.map(|found| tested(&found.claim, found.verdict, self.says.to_string()));
        let headline = claim.as_ref().map(|claim| format!("{}: {}", claim.name, claim.verdict));
        Summary {
            title: "Check of the record of an accountant".to_owned(),
            headline: headline.unwrap_or_else(|| {
                known_epsilon_sentence(Some(&self.lower), Some(&self.upper), self.upper.delta)
            }),
            tests: claim.into_iter().collect(),
            findings: Vec::new(),
            values: vec![
                accounted("proven lower bound", &self.lower),
                accounted("proven upper bound", &self.upper),
            ],
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        theory::imported(report)
    }
}

/// Verdict, meaning, phases and values.
fn document(report: &ImportedReport) -> Document {
    let mut document = Document::new(&report.summary().headline);
    let delta = report.upper.delta;
    document.gap();
    let source = match report.source {
        RecordSource::DpEvent => "events of dp_accounting",
        RecordSource::Opacus => "history of an accountant of Opacus",
    };
    let steps = counted(report.steps, "step");
    document.open(Section::Subject);
    document.row("record", &format!("{source}: {steps}, δ = {delta:e}"));
    document.detail("unit", unit_in_words(PrivacyUnit::Record));
    document.open(Section::Meaning);
    document.row("meaning", &report.says);
    document.open(Section::Subject);
    document.gap();
    let shown = report.phases.iter().take(MOST_SHOWN);
    let rows: Vec<[String; 3]> = shown
        .map(|phase| {
            let [noise, rate] = [phase.noise_multiplier, phase.sampling_rate].map(given);
            [phase.steps.to_string(), rate, noise]
        })
        .collect();
    let right = Align::Right;
    document.table(&[("steps", right), ("sampling rate", right), ("noise", right)], &rows);
    if report.phases.len() > MOST_SHOWN {
        let more = (report.phases.len() - MOST_SHOWN) as u64;
        document.line(&format!("  and {} more", counted(more, "phase")));
    }
    document.open(Section::Theory);
    document.gap();
    let shown = |value: &Accounted| plain(value.epsilon, value.kind, 4);
    let values = [("at least", &report.lower), ("at most", &report.upper)]
        .map(|(name, value)| [format!("these phases, {name} (proven)"), shown(value)]);
    document.table(&[("", Align::Left), ("ε", right)], &values);
    document
}
