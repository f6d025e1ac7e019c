//! Shares of bounds above the truth, as text.

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;
use dpscope_report::number::{confidence, delta, grouped, plain};
use dpscope_report::record::{
    CoverageFinding, OneRunValidityReport, ProcedureRecord, ValidityResult, ValiditySetting,
};
use dpscope_report::text::{Align, row, table};

const COLUMNS: [(&str, Align); 7] = [
    ("procedure", Align::Left),
    ("of", Align::Left),
    ("truth", Align::Right),
    ("median", Align::Right),
    ("above truth", Align::Right),
    ("95 % interval", Align::Left),
    ("", Align::Left),
];

pub(super) fn text(report: &OneRunValidityReport) -> String {
    let nominal = percent(report.significance);
    let head = format!(
        "one-run-validity: {} audits of {} canaries per simulated training; a bound with {} confidence \
         exceeds the truth in at most {nominal} of runs.",
        grouped(report.runs),
        grouped(report.canaries),
        confidence(report.significance),
    );
    let mut out = textwrap::fill(&head, 96) + "\n\n";
    for procedure in &report.procedures {
        let (label, words) = finding(report, procedure);
        out.push_str(&row(label, &words));
    }
    out.push_str(&row("reading", &reading(report)));
    for setting in &report.settings {
        out.push_str(&block(report, setting));
    }
    out.push('\n');
    for ProcedureRecord { name, description, source, .. } in &report.procedures {
        out.push_str(&row("procedure", &format!("{name}: {description}; {source}")));
    }
    out.push_str(&format!("\nseed {}\n", report.seed));
    out
}

/// The results of one procedure, with the settings they belong to.
fn results<'a>(
    report: &'a OneRunValidityReport,
    procedure: &'a ProcedureRecord,
) -> impl Iterator<Item = (&'a ValiditySetting, &'a ValidityResult)> {
    report.settings.iter().flat_map(move |setting| {
        let of_it = move |result: &&ValidityResult| result.procedure == procedure.procedure;
        setting.results.iter().filter(of_it).map(move |result| (setting, result))
    })
}

/// What the runs show of a procedure, in a label and a sentence.
fn finding(report: &OneRunValidityReport, procedure: &ProcedureRecord) -> (&'static str, String) {
    let ProcedureRecord { name, proven_for, assumes_independence, .. } = procedure;
    let with = |finding: CoverageFinding| {
        results(report, procedure).filter(move |(_, result)| result.coverage == finding)
    };
    let named = |(setting, result): (&ValiditySetting, &ValidityResult)| {
        format!("{} ({})", setting.name, percent(result.share))
    };
    let exceeded: Vec<String> = with(CoverageFinding::Exceeded).map(named).collect();
    if !exceeded.is_empty() {
        let scope = proven_for.map_or(String::new(), |trainings| {
            format!("; coverage is proven only for {trainings}")
        });
        return (
            "no coverage",
            format!("{name}: above the truth in {}{scope}", exceeded.join(", ")),
        );
    }
    let (all, held) = (results(report, procedure).count(), with(CoverageFinding::Held).count());
    let largest = results(report, procedure)
        .max_by_key(|(_, result)| result.runs_above)
        .filter(|(_, result)| result.runs_above > 0)
        .map_or("no bound above the truth".to_owned(), |found| {
            format!("largest share: {}", named(found))
        });
    let shown = format!(
        "at most {} in {held} of {all} trainings, undecided in {}; {largest}",
        percent(report.significance),
        all - held
    );
    match proven_for {
        Some(trainings) if *assumes_independence => {
            ("undecided", format!("{name}: coverage is proven only for {trainings}; {shown}"))
        }
        Some(trainings) => ("coverage", format!("{name}: proven for {trainings}; {shown}")),
        None => ("undecided", format!("{name}: not proven; {shown}")),
    }
}

fn reading(report: &OneRunValidityReport) -> String {
    format!(
        "all shares are exact counts of simulated runs, and what is stated of them holds together with {} \
         confidence. A bound far below the truth rarely exceeds it: \
         a small share in these trainings is no proof of coverage in others",
        confidence(report.findings_significance)
    )
}

fn block(report: &OneRunValidityReport, setting: &ValiditySetting) -> String {
    let gdp = match setting.gdp_mu {
        Some(mu) => format!("μ = {}", plain(mu, Kind::Estimate, 2)),
        None => "no μ".to_owned(),
    };
    let mut out = format!(
        "\n{}: {}\nε = {} at δ = {}, {gdp}; k = {}\n",
        setting.name,
        setting.description,
        plain(setting.epsilon, Kind::Estimate, 2),
        delta(setting.delta),
        grouped(setting.guesses),
    );
    let rows: Vec<_> = setting.results.iter().map(|result| cells(report, result)).collect();
    out.push_str(&table(&COLUMNS, &rows));
    out
}

fn cells(report: &OneRunValidityReport, result: &ValidityResult) -> [String; 7] {
    let record = result.procedure.record();
    let nominal = percent(report.significance);
    [
        record.name.to_owned(),
        record.quantity.symbol().to_owned(),
        plain(result.truth, Kind::Estimate, 2),
        format!("{:.2}", result.median),
        percent(result.share),
        format!(
            "[{}, {}]",
            rounded((1e3 * result.share_lower).floor() / 10.0, 1),
            rounded((1e3 * result.share_upper).ceil() / 10.0, 1)
        ),
        match result.coverage {
            CoverageFinding::Exceeded => format!("above {nominal}"),
            CoverageFinding::Undecided => "undecided".to_owned(),
            CoverageFinding::Held => format!("at most {nominal}"),
        },
    ]
}

/// 0.25 as 25 %.
fn percent(share: f64) -> String {
    let text = rounded(100.0 * share, 1);
    format!("{} %", text.strip_suffix(".0").unwrap_or(&text))
}
