//! The report of a check of a described training.

use dpscope_core::accounting::Accounted;
use dpscope_core::format::given;
use dpscope_core::mechanism::SamplerKind;
use dpscope_core::training_check::{DrawnRate, TrainingSetup};

use super::Reported;
use crate::document::{Align, Document, Hints, Section};
use crate::number::{counted, grouped, plain};
use crate::recompute::{Checker, OpenValues, RecomputeError, open, theory};
use crate::record::{CheckReport, CheckedClaim, PrivacyUnit};
use crate::summary::{ListedFinding, Summary, accounted, code, tested};
use crate::words::{
    adjacency_explained, batches, is_loose, known_epsilon_sentence, library_loader_sentence,
    loader_batches, unit_in_words,
};

impl Reported for CheckReport {
    const OPEN: OpenValues = OpenValues { reasons: &[("", open::INPUT)], findings: None };

    fn summary(&self) -> Summary {
        let CheckedClaim { target, verdict, says, .. } = &self.claim;
        let test = target.claim().zip(*verdict);
        let test = test.map(|(claim, verdict)| tested(&claim, verdict, says.to_owned()));
        let findings = self.findings.iter().map(|record| ListedFinding {
            code: code(&record.finding),
            severity: record.severity,
            sentence: record.says.clone(),
        });
        let values = [
            ("proven lower bound", self.lower),
            ("proven upper bound", self.upper),
            ("Poisson accounting", self.poisson),
        ];
        Summary {
            title: "Check of a described training".to_owned(),
            headline: match &test {
                Some(test) => format!("{}: {}", test.name, test.verdict),
                None => {
                    known_epsilon_sentence(self.lower.as_ref(), self.upper.as_ref(), target.delta)
                }
            },
            tests: test.into_iter().collect(),
            findings: findings.collect(),
            values: values
                .iter()
                .filter_map(|(name, value)| Some(accounted(name, value.as_ref()?)))
                .collect(),
        }
    }

    fn document(&self, _: Hints) -> Document {
        document(self)
    }

    fn recompute(report: &mut Checker<'_>) -> Result<(), RecomputeError> {
        theory::check(report)
    }
}

/// Verdict, findings, values, and what to run next.
fn document(report: &CheckReport) -> Document {
    let CheckedClaim { says, note, .. } = &report.claim;
    let note = note.as_ref().map_or_else(String::new, |note| format!(" Adjacency: {note}."));
    let mut document = Document::new(&report.summary().headline);
    document.gap();
    document.open(Section::Findings);
    for finding in &report.findings {
        document.row(&finding.severity.to_string(), &finding.says);
    }
    if let Some(loader) = &report.library_loader {
        document.row("loader", &library_loader_sentence(loader));
        loader.traps.iter().for_each(|trap| document.row("note", trap));
    }
    document.open(Section::Meaning);
    document.row("meaning", &format!("{says}{note}"));
    add_training(&mut document, report);
    document.gap();
    add_values(&mut document, report);
    if !report.next.is_empty() {
        let is_poisson = report.setup.loader.kind() == SamplerKind::Poisson.into();
        let loaders = match report.next.len() {
            1 if is_poisson => "",
            1 => ", with Poisson batches",
            _ => ", with this loader or with Poisson batches",
        };
        document.open(Section::Findings);
        document.gap();
        document.line(&format!("To find the noise for this claim{loaders}:"));
        report.next.iter().for_each(|command| document.command(command));
    }
    document
}

fn add_training(document: &mut Document, report: &CheckReport) {
    document.open(Section::Subject);
    document.row("training", &training(report));
    document.detail("unit", unit_in_words(PrivacyUnit::Record));
    document.detail("adjacency", adjacency_explained(report.claim.target.adjacency));
    document.detail("sampler", loader_batches(report.setup.loader.kind()));
    if let Some(assumed) = report.accounting.sampler {
        document.detail("accountant", &format!("assumed {}", batches(assumed)));
    }
}

fn training(report: &CheckReport) -> String {
    let TrainingSetup { dataset_size, loader, drop_last, .. } = report.setup;
    let dropped = if drop_last { ", last batch dropped" } else { "" };
    let of_batches = match report.setup.drawn_rate {
        Some(DrawnRate::OneOverBatches) => " (one over the batches per epoch)",
        _ => "",
    };
    let draws = report.setup.draws_per_epoch;
    let draws = draws.map_or_else(String::new, |draws| {
        format!(", of which {} are drawn per epoch", grouped(draws))
    });
    format!(
        "{loader}{dropped}: {} records{draws}, sampling rate {:.6}{of_batches}, {} per epoch, {} in \
         {}, noise multiplier {}",
        grouped(dataset_size),
        report.sampling_rate,
        counted(report.steps_per_epoch, "step"),
        grouped(report.steps),
        length(&report.setup),
        given(report.noise_multiplier)
    )
}

/// E, with the steps of an incomplete epoch.
fn length(setup: &TrainingSetup) -> String {
    let epochs = counted(setup.epochs, "epoch");
    match setup.partial_epoch_steps {
        0 => epochs,
        steps => format!("{epochs} and {}", counted(steps, "step")),
    }
}

fn add_values(document: &mut Document, report: &CheckReport) {
    document.open(Section::Theory);
    let rows = [
        ("this loader, at least", " (proven)", &report.lower),
        ("this loader, at most", " (proven)", &report.upper),
        ("Poisson accounting", "", &report.poisson),
    ];
    let shown = |value: &Accounted| plain(value.epsilon, value.kind, 4);
    let row = |(name, proven, value): (&str, &str, &Option<Accounted>)| match value {
        Some(value) if is_loose(value, value.epsilon) => {
            [format!("{name} (numeric error comparable to it)"), shown(value)]
        }
        Some(value) => [format!("{name}{proven}"), shown(value)],
        None => [name.to_owned(), "unknown".to_owned()],
    };
    let claimed = report.claim.target.epsilon.map(|epsilon| ["claimed".to_owned(), given(epsilon)]);
    let rows: Vec<[String; 2]> = claimed.into_iter().chain(rows.map(row)).collect();
    document.table(&[("", Align::Left), ("ε", Align::Right)], &rows);
}
