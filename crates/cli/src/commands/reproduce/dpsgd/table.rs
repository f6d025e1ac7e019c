//! A reproduced experiment with DP-SGD, as text.

use std::collections::BTreeSet;

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::record::{TrainingReproductionReport, TrainingReproductionRow};
use dpscope_report::text::{Align, row, table};
use dpscope_simulation::Plan;

use crate::commands::reproduce::table::REASONS;

pub(super) fn text(report: &TrainingReproductionReport) -> String {
    let mut out = format!(
        "{}: DP-SGD, one epoch of 10,000 records in batches of {}, δ = {:e}\n",
        report.what,
        batch_sizes(&report.rows),
        report.delta
    );
    out.push('\n');
    let is_trained = report.rows.iter().any(|row| row.model.is_some());
    let columns = [
        (true, "setting", Align::Left),
        (true, "runs", Align::Right),
        (true, "σ", Align::Right),
        (true, "claimed", Align::Right),
        (true, "published", Align::Right),
        (true, "ours", Align::Right),
        (true, "±", Align::Left),
        (true, "diff", Align::Right),
        (true, "why", Align::Left),
        (true, "bound", Align::Right),
        (is_trained, "idealised", Align::Right),
        (true, "ceiling", Align::Right),
        (is_trained, "residual", Align::Right),
    ];
    let shown = |row: &TrainingReproductionRow| -> Vec<String> {
        let cells = cells(row).into_iter().zip(&columns);
        cells.filter(|(_, (applies, ..))| *applies).map(|(cell, _)| cell).collect()
    };
    let rows: Vec<Vec<String>> = report.rows.iter().map(shown).collect();
    let columns: Vec<(&str, Align)> = columns
        .into_iter()
        .filter(|(applies, ..)| *applies)
        .map(|(_, heading, align)| (heading, align))
        .collect();
    out.push_str(&table(&columns, &rows));
    out.push('\n');
    out.push_str(&legend(report, is_trained));
    for reason in REASONS {
        if report.rows.iter().any(|row| row.why_they_differ.contains(&reason)) {
            out.push_str(&row(&format!("why: {}", reason.mark()), reason.text()));
        }
    }
    out.push_str(&format!("\nseed {}; {}\n", report.seed, report.device));
    out
}

fn legend(report: &TrainingReproductionReport, is_trained: bool) -> String {
    let (confidence, cuts) = (confidence(report.significance), Plan::DEFAULT_CUTS);
    let has_times = report.rows.iter().any(|row| row.published_times.is_some());
    let legend = [
        (true, "claimed", "ε that Poisson accounting claims for this noise".to_owned()),
        (has_times, "published", "×: ratio to the full shuffle, as printed; ours alike".to_owned()),
        (
            true,
            "ours",
            "by the published rule: the largest value over all cuts, uncorrected; an estimate, ± the \
             standard error of its count"
                .to_owned(),
        ),
        (true, "bound", format!("{confidence} confidence, {cuts} cuts fixed by a pilot")),
        (
            is_trained,
            "idealised",
            "the same estimate for the batched Gaussian mechanism, from as many observations".to_owned(),
        ),
        (true, "ceiling", "the largest possible estimate at this number of runs".to_owned()),
        (
            is_trained,
            "residual",
            "variance of the outputs about the idealised mean, in noise variances".to_owned(),
        ),
        (
            is_trained,
            "data",
            "built-in synthetic data with the shapes of the paper's data".to_owned(),
        ),
        (true, "can show", report.can_show.clone()),
        (true, "cannot show", report.cannot_show.clone()),
    ];
    let applying = legend.iter().filter(|(applies, ..)| *applies);
    applying.map(|(_, label, about)| row(label, about)).collect()
}

fn cells(row: &TrainingReproductionRow) -> [String; 13] {
    let of = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let below = row.published_below_claim.then(|| format!("< {}", row.claimed_epsilon));
    let published = row.published_times.map(|times| format!("{times}×")).or(below);
    let ours = match row.our_times.filter(|_| row.published_times.is_some()) {
        Some(times) => format!("{:.2} = {times:.2}×", row.ours.our_estimate),
        None => format!("{:.2}", row.ours.our_estimate),
    };
    [
        row.name.clone(),
        grouped(row.runs),
        format!("{:.4}", row.noise_multiplier),
        row.claimed_epsilon.to_string(),
        published.unwrap_or_else(|| of(row.published_estimate)),
        ours,
        of(row.ours.standard_error),
        row.ours.difference.map_or("-".to_owned(), |change| format!("{change:+.2}")),
        row.why_they_differ.iter().map(|reason| reason.mark()).collect(),
        plain(row.ours.our_bound, Kind::Lower, 2),
        of(row.idealised_estimate),
        format!("{:.2}", row.ceiling),
        row.residual_variance.map_or("-".to_owned(), |variance| rounded(variance, 3)),
    ]
}

/// The distinct sizes, ascending.
fn batch_sizes(rows: &[TrainingReproductionRow]) -> String {
    let sizes: BTreeSet<u32> = rows.iter().map(|row| row.batch_size).collect();
    let shown: Vec<String> = sizes.into_iter().map(|size| grouped(size.into())).collect();
    shown.join(" or ")
}

/// What this number of runs can show.
pub(super) fn can_show(rows: &[TrainingReproductionRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    if first.model.is_none() {
        return format!(
            "the leakage of this distribution at this number of observations, up to the ceiling of {:.2}",
            first.ceiling
        );
    }
    "whether training matches the mechanism: the residual variance is near 1 (or above, if other \
     records add to it), and our estimate is near the idealised one"
        .to_owned()
}

/// What this number of runs cannot show.
pub(super) fn cannot_show(rows: &[TrainingReproductionRow]) -> String {
    let published: Vec<&TrainingReproductionRow> =
        rows.iter().filter(|row| row.published_estimate.is_some()).collect();
    let is_above = |row: &&&TrainingReproductionRow| {
        row.published_estimate.is_some_and(|value| value > row.ceiling)
    };
    let above = published.iter().filter(is_above).count();
    let differences = "a difference of less than three standard errors (±)";
    match above {
        0 => differences.to_owned(),
        above if above == published.len() => {
            format!("any published value, since all are above the ceiling; nor {differences}")
        }
        above => format!(
            "{above} of the {} published values, which are above the ceiling; nor {differences}",
            published.len()
        ),
    }
}
