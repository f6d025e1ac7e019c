//! The tables as text.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};
use dpscope_report::number::{confidence, counted, grouped, plain};
use dpscope_report::record::{
    AuditedImplementation, ComparedAccountant, ImplementationLeak, PateGanTable,
};
use dpscope_report::text::{Align, row, table};

pub(super) fn text(report: &PateGanTable) -> String {
    let accounted = plain(report.accounted_epsilon, Kind::Upper, 4);
    let mut out = format!(
        "pategan: what rows of six implementations show in the worst case, at δ = {}, {} with the \
         target and as many without\n\n",
        given(report.delta),
        counted(report.runs, "run"),
    );
    let columns = [
        ("implementation", Align::Left),
        ("published ε", Align::Right),
        ("with E1: ε ≥", Align::Right),
        ("AUC", Align::Right),
        ("without: ε ≥", Align::Right),
        ("AUC", Align::Right),
        ("detectors", Align::Left),
        ("faults", Align::Left),
    ];
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
    out += &accountants(report);
    out + &row("seed", &report.seed)
}

fn cells(found: &AuditedImplementation) -> Vec<String> {
    let bound = |leak: ImplementationLeak| plain(leak.epsilon, Kind::Lower, 2);
    let auc = |leak: ImplementationLeak| rounded(leak.auc.value, 3);
    let or_none = |names: String| if names.is_empty() { "–".to_owned() } else { names };
    let [with, without] = [found.with_harness_fault, found.without_harness_fault];
    vec![
        found.name.to_owned(),
        found.published.map_or("–".to_owned(), |epsilon| rounded(epsilon, 2)),
        bound(with),
        auc(with),
        bound(without),
        auc(without),
        or_none(found.detectors.join(" ")),
        or_none(found.faults.join(" ")),
    ]
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
