//! Utility beside privacy.

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;

use super::{Align, Document};
use crate::number::{confidence, counted, plain};
use crate::record::{GeneratorUtility, Utility, UtilityFigure, UtilityFigures};

const HEADINGS: [(&str, Align); 7] = [
    ("generator", Align::Left),
    ("ε ≤", Align::Right),
    ("ε ≥", Align::Right),
    ("AUROC", Align::Right),
    ("max", Align::Right),
    ("AUPRC", Align::Right),
    ("max", Align::Right),
];

/// A table of generators, and one of the classifiers of each.
#[must_use]
pub fn utility_document(utility: &Utility) -> Document {
    let mut document = Document::default();
    add_utility(&mut document, utility);
    document
}

pub(crate) fn add_utility(document: &mut Document, utility: &Utility) {
    document.line(&format!(
        "utility: {} of {} predicted by classifiers trained on synthetic rows, on {}",
        utility.positive,
        utility.label,
        counted(utility.tested_rows, "other real row"),
    ));
    document.gap();
    let epsilon = |epsilon: Option<f64>, kind: Kind| {
        epsilon.map_or("–".to_owned(), |epsilon| plain(epsilon, kind, 2))
    };
    let line = |name: &str, epsilons: [String; 2], figures: &UtilityFigures| {
        [vec![name.to_owned()], epsilons.to_vec(), areas(figures.auroc), areas(figures.auprc)]
            .concat()
    };
    let generator = |generator: &GeneratorUtility| {
        let epsilons = [
            epsilon(generator.claimed_epsilon, Kind::Upper),
            epsilon(generator.measured_epsilon, Kind::Lower),
        ];
        line(&generator.name, epsilons, &generator.figures)
    };
    let mut rows: Vec<Vec<String>> = utility.generators.iter().map(generator).collect();
    rows.extend(
        utility.real.iter().map(|real| line("real rows", ["–", "–"].map(str::to_owned), real)),
    );
    document.table(&HEADINGS, &rows);
    document.gap();
    add_classifiers(document, utility);
    document.gap();
    let runs = utility.generators.iter().map(|generator| generator.runs).max().unwrap_or(0);
    let share = rounded(utility.positive_share, 3);
    for (label, about) in [
        (
            "mean",
            format!(
                "over classifiers and {}, ± its standard error between runs",
                counted(runs, "run")
            ),
        ),
        (
            "max",
            "of them, as published tables report: the best of many is biased upward".to_owned(),
        ),
        ("nothing", format!("constant scores have AUROC 0.5 and AUPRC {share}")),
        (
            "ε",
            format!(
                "≤ claimed or accounted for; ≥ shown by an attack, each with {} confidence: what an \
                 attack does not show is not proven to be private",
                confidence(utility.significance)
            ),
        ),
    ] {
        document.row(label, &about);
    }
}

/// Mean with standard error, and maximum.
fn areas(figure: UtilityFigure) -> Vec<String> {
    vec![mean(figure), rounded(figure.largest, 3)]
}

fn mean(figure: UtilityFigure) -> String {
    let error = figure.standard_error.map(|error| format!(" ± {}", rounded(error, 3)));
    rounded(figure.mean, 3) + &error.unwrap_or_default()
}

/// AUROC of each classifier.
fn add_classifiers(document: &mut Document, utility: &Utility) {
    let all: Vec<(&str, &UtilityFigures)> = utility
        .generators
        .iter()
        .map(|generator| (generator.name.as_str(), &generator.figures))
        .chain(utility.real.iter().map(|real| ("real rows", real)))
        .collect();
    let names = all.first().map_or(Vec::new(), |(_, figures)| {
        figures.classifiers.iter().map(|classifier| &*classifier.name).collect()
    });
    let mut headings = vec![("AUROC", Align::Left)];
    headings.extend(names.iter().map(|name| (*name, Align::Right)));
    let rows = all.iter().map(|(name, figures)| {
        let cells = figures.classifiers.iter().map(|classifier| mean(classifier.auroc));
        [(*name).to_owned()].into_iter().chain(cells).collect::<Vec<String>>()
    });
    document.table(&headings, &rows.collect::<Vec<_>>());
}
