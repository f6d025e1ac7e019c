//! The report as text.

use dpscope_core::accounting::Kind;
use dpscope_core::format::{given, rounded};
use dpscope_report::number::{confidence, counted, delta, grouped, plain};
use dpscope_report::record::{
    FedAvgAttackMean, FedAvgComparisonReport, FedAvgExperiment, FedAvgRow, FederatedAccuracy,
    MeanEstimate, PublishedFedAvgRow,
};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::OneShotAttacker;

/// Attacks in the order of what the attacker knows, most first.
const ATTACKERS: [(OneShotAttacker, &str); 4] = [
    (OneShotAttacker::KnownServerRounds, "known rounds"),
    (OneShotAttacker::AllUpdates, "largest update"),
    (OneShotAttacker::SumOfUpdates, "sum of updates"),
    (OneShotAttacker::FinalModel, "final model"),
];

pub(super) fn text(report: &FedAvgComparisonReport) -> String {
    let head = format!(
        "{}: a perceptron of {} parameters on {}, {} with {} records each, each in one of {} server rounds; \
         {} per setting; means with standard errors.",
        report.what.name(),
        grouped(report.parameters),
        report.data,
        counted(report.clients.into(), "client"),
        report.records_per_client,
        report.rounds,
        counted(report.runs.into(), "audit"),
    );
    let mut out = textwrap::fill(&head, 96) + "\n\n";
    for found in &report.differences {
        let sentence = format!("{}: {}", found.setting, found.sentence());
        let lines = textwrap::Options::new(96).initial_indent("  ").subsequent_indent("    ");
        out.push_str(&format!("{}\n", textwrap::fill(&sentence, lines)));
    }
    if !report.differences.is_empty() {
        out.push('\n');
    }
    out.push_str(&match report.what {
        FedAvgExperiment::Utility => accuracies(report),
        FedAvgExperiment::Gaussianity => normality(report),
        _ => attacks(report),
    });
    if !report.published.is_empty() {
        out.push('\n');
        out.push_str(&published(&report.published));
    }
    out.push('\n');
    for (label, words) in notes(report) {
        out.push_str(&row(label, &words));
    }
    if !report.discrepancies.is_empty() {
        out.push_str("\nnumbers of the paper that its definitions do not yield:\n");
    }
    for found in &report.discrepancies {
        let about =
            format!("printed {}; computed: {}: {}", found.printed, found.computed, found.says);
        out.push_str(&format!("  {}\n", found.place));
        out.push_str(&row("", &about));
    }
    out.push_str(&format!("\nseed {}\n", report.seed));
    out
}

fn mean(of: MeanEstimate, digits: usize) -> String {
    format!("{} ± {}", rounded(of.value, digits), rounded(of.standard_error, digits))
}

/// Fewer digits of larger numbers.
fn epsilon(of: MeanEstimate) -> String {
    mean(of, if of.value < 10.0 { 2 } else { 1 })
}

fn attack(row: &FedAvgRow, attacker: OneShotAttacker) -> Option<&FedAvgAttackMean> {
    row.attacks.iter().find(|attack| attack.attacker == attacker)
}

fn accounted(row: &FedAvgRow) -> String {
    match row.accounted {
        Some(accounted) => plain(accounted.epsilon, Kind::Upper, 2),
        None => "∞".to_owned(),
    }
}

/// Bounds by attack, and the estimate from the final model.
fn attacks(report: &FedAvgComparisonReport) -> String {
    let mut columns = vec![
        ("lower bound on ε", Align::Left),
        ("canaries", Align::Right),
        ("accounted", Align::Right),
    ];
    columns.extend(ATTACKERS.map(|(_, name)| (name, Align::Right)));
    columns.extend([("estimate", Align::Right), ("no leak", Align::Right)]);
    let rows = report.rows.iter().map(|row| {
        let mut cells = vec![row.setting.clone(), rounded(row.canaries, 0), accounted(row)];
        let bound =
            |attacker| attack(row, attacker).map_or_else(none, |found| epsilon(found.bound));
        cells.extend(ATTACKERS.map(|(attacker, _)| bound(attacker)));
        let last = attack(row, OneShotAttacker::FinalModel);
        cells.push(last.and_then(|found| found.estimate).map_or_else(none, epsilon));
        let range = last.and_then(|found| found.null_range);
        cells.push(range.map_or_else(none, |[low, high]| {
            format!("{} to {}", rounded(low, 2), rounded(high, 2))
        }));
        cells
    });
    table(&columns, &rows.collect::<Vec<_>>())
}

fn none() -> String {
    "-".to_owned()
}

fn accuracies(report: &FedAvgComparisonReport) -> String {
    let columns = [
        ("accuracy, %", Align::Left),
        ("canaries", Align::Right),
        ("accounted ε", Align::Right),
        ("with canaries", Align::Right),
        ("without", Align::Right),
    ];
    let percent = |accuracy: Option<FederatedAccuracy>| {
        accuracy.map_or_else(none, |accuracy| {
            let error = accuracy.standard_error.unwrap_or(0.0);
            mean(MeanEstimate { value: 100.0 * accuracy.mean, standard_error: 100.0 * error }, 2)
        })
    };
    let cells = |row: &FedAvgRow| {
        let accuracies = [row.accuracy, row.accuracy_without_canaries].map(percent);
        let [with, without] = accuracies;
        [row.setting.clone(), rounded(row.canaries, 0), accounted(row), with, without]
    };
    table(&columns, &report.rows.iter().map(cells).collect::<Vec<_>>())
}

fn normality(report: &FedAvgComparisonReport) -> String {
    let columns = [
        ("Anderson-Darling", Align::Left),
        ("scores", Align::Left),
        ("mean A²*", Align::Right),
        ("rejected at 15 %", Align::Right),
        ("probability", Align::Right),
    ];
    let mut rows = Vec::new();
    for of in &report.rows {
        for (attacker, name) in ATTACKERS {
            let Some(test) = attack(of, attacker).and_then(|found| found.normality) else {
                continue;
            };
            rows.push([
                of.setting.clone(),
                name.to_owned(),
                rounded(test.statistic, 3),
                format!("{} of {}", test.rejected, test.audits),
                if test.p_value < 0.001 { "< 0.001".to_owned() } else { rounded(test.p_value, 3) },
            ]);
        }
    }
    table(&columns, &rows)
}

fn published(rows: &[PublishedFedAvgRow]) -> String {
    let columns = [
        ("published", Align::Left),
        ("σ", Align::Right),
        ("analytic", Align::Right),
        ("estimate, all", Align::Right),
        ("final", Align::Right),
        ("lower, all", Align::Right),
        ("final", Align::Right),
    ];
    let optional = |value: Option<f64>| value.map_or_else(none, given);
    let cells = |row: &PublishedFedAvgRow| {
        let analytic = match (row.noise_multiplier == 0.0, row.analytic) {
            (true, _) => "∞".to_owned(),
            (false, analytic) => optional(analytic),
        };
        [
            row.data.to_owned(),
            given(row.noise_multiplier),
            analytic,
            given(row.estimate_all),
            given(row.estimate_final),
            given(row.lower_all),
            given(row.lower_final),
        ]
    };
    table(&columns, &rows.iter().map(cells).collect::<Vec<_>>())
}

fn notes(report: &FedAvgComparisonReport) -> Vec<(&'static str, String)> {
    let FedAvgComparisonReport { what, significance, .. } = *report;
    let mut notes = Vec::new();
    let has_bounds = !matches!(what, FedAvgExperiment::Utility | FedAvgExperiment::Gaussianity);
    if has_bounds {
        let bound = format!(
            "for any training algorithm, {} confidence each, δ = {}; the mean of bounds of several \
             audits has no confidence of its own",
            confidence(significance),
            delta(report.delta)
        );
        notes.push(("bound", bound));
        notes.push((
            "estimate",
            "from the final model by the mean score, without coverage; no leak: 90 % of audits \
             without any leak show so much"
                .to_owned(),
        ));
    }
    if what == FedAvgExperiment::Gaussianity {
        notes.push((
            "probability",
            "of as many rejections or more, if scores are normal".to_owned(),
        ));
        notes.push((
            "mixture",
            "canaries of different rounds have different means (momentum weights early rounds more), so \
             that with little noise their scores are no sample of one normal distribution"
                .to_owned(),
        ));
    }
    if what == FedAvgExperiment::OneOrTenRuns {
        notes.push((
            "canaries",
            "those of ten trainings are audited together, as one number of canaries".to_owned(),
        ));
    }
    if !report.published_accuracies.is_empty() {
        let pairs = report.published_accuracies.iter();
        let pairs: Vec<String> =
            pairs.map(|pair| pair.map(|share| rounded(share, 1)).join(" and ")).collect();
        let words = format!(
            "Stack Overflow, accuracy in % with and without canaries, by noise: {}",
            pairs.join(", ")
        );
        notes.push(("published", words));
    }
    if !report.differences.is_empty() {
        notes.push((
            "accounted",
            "upper bound on ε for an attacker who sees every update and knows every round"
                .to_owned(),
        ));
        notes.push((
            "difference",
            "stated where it exceeds three standard errors of at least five audits".to_owned(),
        ));
    }
    notes.push((
        "source",
        "G. Andrew et al., ICLR 2024, arXiv:2302.03098: larger models and data, so that only the order \
         of attacks and settings can be compared"
            .to_owned(),
    ));
    notes
}
