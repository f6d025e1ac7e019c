//! The tables as text.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};
use dpscope_report::number::{confidence, counted, grouped, plain};
use dpscope_report::record::{
    AuditedImplementation, AverageCase, AverageImplementation, ComparedAccountant,
    ImplementationLeak, PateGanTable, UtilityFigure,
};
use dpscope_report::text::{Align, row, table};

/// Columns that the worst and the average case share.
const LEAKS: [(&str, Align); 6] = [
    ("implementation", Align::Left),
    ("published ε", Align::Right),
    ("with E1: ε ≥", Align::Right),
    ("AUC", Align::Right),
    ("without: ε ≥", Align::Right),
    ("AUC", Align::Right),
];

pub(super) fn text(report: &PateGanTable) -> String {
    let accounted = plain(report.accounted_epsilon, Kind::Upper, 4);
    let mut out = format!(
        "pategan: what rows of six implementations show in the worst case, at δ = {}, {} with the \
         target and as many without\n\n",
        given(report.delta),
        counted(report.runs, "run"),
    );
    let columns = [&LEAKS[..], &[("detectors", Align::Left), ("faults", Align::Left)]].concat();
    out += &table(&columns, &report.implementations.iter().map(cells).collect::<Vec<_>>());
    out.push('\n');
    let ceiling = plain(report.ceiling, Kind::Lower, 2);
    let held = confidence(report.significance);
    for (label, about) in [
        (
            "with E1",
            "as many rows are released as the data have: a fault of the published audit itself, which \
             shows the target in every implementation, the faithful one included"
                .to_owned(),
        ),
        (
            "without",
            "as many rows are released in both worlds: what is left is the leakage of the \
             implementation"
                .to_owned(),
        ),
        (
            "ε ≥",
            format!(
                "lower bounds, each with {held} confidence; no attack can show more than {ceiling} with \
                 so many runs; ε ≤ {accounted} is accounted for"
            ),
        ),
        (
            "detectors",
            "those that report a fault: they find faults that the attack does not see; at γ = 0.001 all \
             accountants agree, so that B1, N1, S2 and E7 show in the last table alone"
                .to_owned(),
        ),
    ] {
        out += &row(label, &about);
    }
    let settings = format!(
        "\nreal rows that a teacher reads in one training, of {} (5 teachers, ε = 1):\n\n",
        grouped(report.records)
    );
    out += &settings;
    let columns =
        [("implementation", Align::Left), ("fewest", Align::Right), ("most", Align::Right)];
    let rows = |found: &AuditedImplementation| {
        let [fewest, most] = found.teacher_rows.map(grouped);
        vec![found.name.to_owned(), fewest, most]
    };
    out += &table(&columns, &report.implementations.iter().map(rows).collect::<Vec<_>>());
    if let Some(found) = &report.average {
        out += &average(found, &held);
    }
    out += &accountants(report);
    out + &row("seed", &report.seed)
}

fn cells(found: &AuditedImplementation) -> Vec<String> {
    let or_none = |names: String| if names.is_empty() { "–".to_owned() } else { names };
    let [with, without] = [found.with_harness_fault, found.without_harness_fault].map(shown);
    let start = [found.name.to_owned(), published(found.published)];
    let end = [or_none(found.detectors.join(" ")), or_none(found.faults.join(" "))];
    start.into_iter().chain(with).chain(without).chain(end).collect()
}

/// The average case, and what the released rows are good for.
fn average(found: &AverageCase, held: &str) -> String {
    let source = found.data.as_deref().unwrap_or("rows of a distribution of our own");
    let mut out = format!(
        "\nthe same on {source}: {} of {} columns, with row {} and without it, {} each:\n\n",
        counted(found.rows, "row"),
        grouped(found.columns),
        found.target_row,
        counted(found.runs, "run"),
    );
    let columns = [&LEAKS[..], &[("AUROC", Align::Right), ("AUPRC", Align::Right)]].concat();
    let cells = |row: &AverageImplementation| {
        let [with, without] = [row.with_harness_fault, row.without_harness_fault].map(shown);
        let utility = [row.utility.auroc, row.utility.auprc].map(figure);
        let start = [row.name.to_owned(), published(row.published)];
        start.into_iter().chain(with).chain(without).chain(utility).collect()
    };
    let mut rows: Vec<Vec<String>> = found.implementations.iter().map(cells).collect();
    let real = [found.real.auroc, found.real.auprc].map(figure);
    let blank = std::iter::repeat_n(String::new(), 5);
    rows.push(std::iter::once("(real rows)".to_owned()).chain(blank).chain(real).collect());
    out += &table(&columns, &rows);
    out.push('\n');
    out + &about_average(found, held)
}

/// What its columns mean.
fn about_average(found: &AverageCase, held: &str) -> String {
    let mut out = String::new();
    for (label, about) in [
        ("published", about_published(found.data.is_some()).to_owned()),
        (
            "target",
            "the row with the largest mean distance to its 5 nearest; the published one was chosen \
             among 64 by an attack on each"
                .to_owned(),
        ),
        (
            "ε ≥",
            format!(
                "lower bounds, each with {held} confidence; no attack can show more than {} with so \
                 many runs; ε ≤ {} is accounted for",
                plain(found.ceiling, Kind::Lower, 2),
                plain(found.accounted_epsilon, Kind::Upper, 4)
            ),
        ),
        (
            "with E1",
            "the attack describes columns of so many cells without counting rows: it misses where E1 \
             alone shows the target, which is in the number of rows for everyone to see"
                .to_owned(),
        ),
        (
            "AUROC",
            format!(
                "mean ± standard error over {} classifiers and {}, trained on released rows, tested on \
                 {} real rows that no generator saw; 0.5 by guessing",
                found.real.classifiers.len(),
                counted(found.utility_runs, "generator"),
                grouped(found.tested_rows)
            ),
        ),
        (
            "AUPRC",
            format!(
                "the same; {} by guessing, the share of {} = {}",
                rounded(found.positive_share, 3),
                found.label,
                found.positive
            ),
        ),
    ] {
        out += &row(label, &about);
    }
    out
}

/// Why published figures and ours differ.
const fn about_published(has_data: bool) -> &'static str {
    match has_data {
        true => {
            "on third-party data, which are not yours, so that ε and utility may differ from the \
             published ones"
        }
        false => {
            "on third-party data, which are not part of this program: ours have their size, not their \
             values, so that ε and utility may differ; pass your own table as --data"
        }
    }
}

fn shown(leak: ImplementationLeak) -> [String; 2] {
    [plain(leak.epsilon, Kind::Lower, 2), rounded(leak.auc.value, 3)]
}

fn published(epsilon: Option<f64>) -> String {
    epsilon.map_or("–".to_owned(), |epsilon| rounded(epsilon, 2))
}

fn figure(figure: UtilityFigure) -> String {
    let error =
        figure.standard_error.map_or(String::new(), |error| format!(" ± {}", rounded(error, 3)));
    rounded(figure.mean, 3) + &error
}

fn accountants(report: &PateGanTable) -> String {
    let votes = grouped(report.accounted_votes);
    let mut out = format!(
        "\nε of {votes} votes of 5 teachers at γ = {}, by accountant:\n\n",
        given(report.accounted_gamma)
    );
    let columns = [
        ("accountant", Align::Left),
        ("5 to 0", Align::Right),
        ("3 to 2", Align::Right),
        ("faults", Align::Left),
    ];
    let epsilon = |epsilon: Option<f64>| epsilon.map_or("no number".to_owned(), |x| rounded(x, 2));
    let cells = |found: &ComparedAccountant| {
        let [unanimous, narrow] = [found.unanimous, found.narrow].map(epsilon);
        vec![found.name.to_owned(), unanimous, narrow, found.faults.join(" ")]
    };
    out += &table(&columns, &report.accountants.iter().map(cells).collect::<Vec<_>>());
    out.push('\n');
    out += &row(
        "these votes",
        "depends on the data: not for publication. The exact moments are the larger of both directions; \
         the published data-dependent moment bounds one direction alone",
    );
    out
}
