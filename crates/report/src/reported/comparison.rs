//! The report of claimed, proven and estimated ε of one training.

use dpscope_core::accounting::{Directions, Kind};
use dpscope_core::adjacency::{Adjacency, Scope};
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;

use super::Reported;
use crate::document::{Align, Document, Hints, Section};
use crate::number::{confidence, grouped, plain};
use crate::recompute::{Checker, OpenValues, RecomputeError, open, theory};
use crate::record::{ComparedValue, Comparison, ComparisonLine, PrivacyUnit};
use crate::summary::{
    ListedValue, Summary, TestKind, TestedClaim, accounted, claim_name, outcome_of,
};
use crate::words::{
    STATEMENT_SCOPE, adjacency_explained, batches, check_verdict_in_words, epochs_in_words,
    rounding_sentence, unit_in_words,
};

impl Reported for Comparison {
    const OPEN: OpenValues =
        OpenValues { reasons: &[("/rows", open::DRAWN), ("", open::INPUT)], findings: None };

    fn summary(&self) -> Summary {
        let claim = self.claim.as_ref().map(|claim| TestedClaim {
            kind: TestKind::Claim,
            name: claim_name(claim.epsilon, self.delta),
            epsilon: Some(claim.epsilon),
            outcome: outcome_of(claim.verdict),
            reason: None,
            verdict: check_verdict_in_words(claim.verdict),
            sentence: claim.sentence.clone(),
        });
        Summary {
            title: "Claimed, proven and estimated ε of a training".to_owned(),
            headline: self.headline.clone(),
            tests: claim.into_iter().collect(),
            findings: Vec::new(),
            values: self.rows.iter().filter_map(line).collect(),
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        theory::comparison(report)
    }
}

/// The conclusion, the table, and what its columns mean.
fn document(report: &Comparison) -> Document {
    let Comparison { setting, .. } = report;
    let mut document = Document::default();
    document.paragraph(&report.headline);
    if let Some(claim) = &report.claim {
        document.paragraph(&claim.sentence);
    }
    document.open(Section::Subject);
    document.gap();
    document.line(&format!(
        "  σ = {}, T = {} steps per epoch, E = {}, δ = {:e}",
        given(setting.whole.noise_multiplier),
        grouped(setting.whole.steps_per_epoch),
        epochs_in_words(setting),
        report.delta
    ));
    document.gap();
    document.open(Section::Meaning);
    document.detail("meaning", STATEMENT_SCOPE);
    document.open(Section::Subject);
    document.detail("unit", unit_in_words(PrivacyUnit::Record));
    document.detail("adjacency", adjacency_explained(Adjacency::ZeroOut));
    document.detail("sampler", batches(SamplerKind::Shuffle));
    document.detail("accountant", batches(SamplerKind::Poisson));
    add_values(&mut document, report);
    document.open(Section::Theory);
    document.gap();
    if let Some(rounding) = rounding_sentence(setting) {
        document.row("epochs", &rounding);
    }
    add_columns(&mut document, report);
    document
}

fn add_values(document: &mut Document, report: &Comparison) {
    document.open(Section::Theory);
    let columns = [
        ("value", Align::Left),
        ("ε", Align::Right),
        ("kind", Align::Left),
        ("scope", Align::Left),
        ("covers", Align::Left),
        ("method", Align::Left),
        ("ratio", Align::Right),
    ];
    let cells: Vec<[String; 7]> = report.rows.iter().map(cells).collect();
    document.table(&columns, &cells);
    let missing: Vec<(&str, &str)> = report
        .rows
        .iter()
        .filter_map(|line| Some((line.quantity.name(), line.reason()?)))
        .collect();
    let open: Vec<(&str, f64)> = report
        .rows
        .iter()
        .filter_map(|line| Some((line.quantity.name(), line.at_least()?)))
        .collect();
    if !(missing.is_empty() && open.is_empty()) {
        document.gap();
    }
    for (title, reason) in &missing {
        document.row("missing", &format!("{title}: {reason}"));
    }
    for (title, at_least) in &open {
        let at_least = plain(*at_least, Kind::Lower, 4);
        document.row("loose", &format!("{title}: the exact value may be as low as {at_least}"));
    }
}

/// What the columns of the table mean.
fn add_columns(document: &mut Document, report: &Comparison) {
    let confidence = confidence(report.significance);
    for (label, text) in [
        (
            "kind",
            format!(
                "upper and lower values are proven, except those by sampling, which have \
                 {confidence} confidence"
            ),
        ),
        ("scope", "lower values of the pair bound the mechanism; upper values do not".to_owned()),
        ("covers", "remove: with the record against without it; add: the reverse".to_owned()),
        ("method", "PLD: privacy loss distribution; formula: Gaussian mechanism".to_owned()),
        ("ratio", "relative to the epsilon that Poisson accounting claims".to_owned()),
    ] {
        document.row(label, &text);
    }
    document.open(Section::Reproduction);
    document.row("draws", &format!("seed {}; {}", report.seed, report.device));
}

fn cells(line: &ComparisonLine) -> [String; 7] {
    let title = line.quantity.name().to_owned();
    let Some(shown) = line.shown() else {
        return [title, "-".into(), "".into(), "".into(), "".into(), "".into(), "".into()];
    };
    let scope = match shown.scope {
        Scope::Pair => "pair",
        Scope::Mechanism => "mechanism",
    };
    let covers = match shown.direction {
        Directions::Remove => "remove",
        Directions::Add => "add",
        Directions::Both => "both",
    };
    let ratio = |ratio: f64| plain(ratio, shown.kind, 2);
    [
        title,
        plain(shown.epsilon, shown.kind, 4),
        shown.kind.name().to_owned(),
        scope.to_owned(),
        covers.to_owned(),
        shown.method.to_owned(),
        line.ratio_to_poisson.map_or(String::new(), ratio),
    ]
}

/// A row of the table.
fn line(line: &ComparisonLine) -> Option<ListedValue> {
    let name = line.quantity.name();
    match &line.value {
        ComparedValue::Theory(cell) => cell.value().map(|value| accounted(name, value)),
        ComparedValue::Audit(audit) => {
            let significance = (audit.kind == Kind::Lower).then_some(audit.significance);
            Some(ListedValue::new(name, audit.kind, (audit.epsilon, audit.delta), significance))
        }
    }
}
