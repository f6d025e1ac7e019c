//! Kinds of canaries as text.

use dpscope_core::accounting::Kind;
use dpscope_core::format::rounded;
use dpscope_report::number::{confidence, counted, delta, grouped, plain};
use dpscope_report::record::{
    AuditedCanaries, CanarySetResult, DpSgdSettings, MeanEstimate, MetagradientCanariesReport,
    NullCanaries, PublishedCanaryFigure,
};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::canary_comparisons;

const AUCS: [(&str, Align); 5] = [
    ("AUC", Align::Left),
    ("SGD", Align::Right),
    ("calibrated", Align::Right),
    ("DP-SGD", Align::Right),
    ("calibrated", Align::Right),
];

const EPSILONS: [(&str, Align); 7] = [
    ("ε of DP-SGD", Align::Left),
    ("estimate", Align::Right),
    ("median bound", Align::Right),
    ("joint bound", Align::Right),
    ("cal. estimate", Align::Right),
    ("median bound", Align::Right),
    ("joint bound", Align::Right),
];

const PUBLISHED: [(&str, Align); 5] = [
    ("published ε", Align::Left),
    ("scratch, coins", Align::Right),
    ("scratch, pairs", Align::Right),
    ("fine-tuned, coins", Align::Right),
    ("fine-tuned, pairs", Align::Right),
];

pub(super) fn text(report: &MetagradientCanariesReport) -> String {
    let head = format!(
        "metagradient-canaries: {} canaries of each kind, {} on {} records of {}; {} repeats; means \
         with standard errors.",
        grouped(report.canaries),
        report.model,
        grouped(report.records),
        report.data,
        report.runs,
    );
    let mut out = textwrap::fill(&head, 96) + "\n\n";
    for (label, words) in canary_comparisons(report.runs, &report.comparisons) {
        out.push_str(&row(label, &words));
    }
    out.push_str(&row("null", &null(report)));
    out.push('\n');
    let mut rows: Vec<_> = report.sets.iter().map(areas).collect();
    rows.push(null_areas(&report.null));
    out.push_str(&table(&AUCS, &rows));
    out.push('\n');
    let mut rows: Vec<_> = report.sets.iter().map(epsilons).collect();
    rows.push(null_epsilons(&report.null));
    out.push_str(&table(&EPSILONS, &rows));
    out.push('\n');
    let rows: Vec<_> = report.published.iter().map(published).collect();
    out.push_str(&table(&PUBLISHED, &rows));
    out.push('\n');
    for (label, words) in notes(report) {
        out.push_str(&row(label, &words));
    }
    out.push_str(&format!("\nseed {}\n", report.seed));
    out
}

fn estimate(of: MeanEstimate, digits: usize) -> String {
    format!("{} ± {}", rounded(of.value, digits), rounded(of.standard_error, digits))
}

fn areas(one: &CanarySetResult) -> [String; 5] {
    let auc = |of: MeanEstimate| estimate(of, 3);
    [
        one.set.name().to_owned(),
        auc(one.sgd_raw),
        auc(one.sgd_calibrated),
        auc(one.dpsgd_raw.auc),
        auc(one.dpsgd_calibrated.auc),
    ]
}

fn null_areas(null: &NullCanaries) -> [String; 5] {
    let auc = |of: MeanEstimate| estimate(of, 3);
    [
        "coins redrawn".to_owned(),
        auc(null.sgd_raw),
        auc(null.sgd_calibrated),
        auc(null.dpsgd_raw),
        auc(null.dpsgd_calibrated),
    ]
}

fn epsilons(one: &CanarySetResult) -> [String; 7] {
    let bound = |value: f64| plain(value, Kind::Lower, 2);
    let of = |audited: &AuditedCanaries| {
        let AuditedCanaries { median_bound, joint_bound, .. } = *audited;
        [estimate(audited.estimate, 2), bound(median_bound), bound(joint_bound)]
    };
    let [[a, b, c], [d, e, f]] = [of(&one.dpsgd_raw), of(&one.dpsgd_calibrated)];
    [one.set.name().to_owned(), a, b, c, d, e, f]
}

fn null_epsilons(null: &NullCanaries) -> [String; 7] {
    let none = || "-".to_owned();
    ["coins redrawn".to_owned(), none(), none(), none(), estimate(null.estimate, 2), none(), none()]
}

fn published(one: &PublishedCanaryFigure) -> [String; 5] {
    let versions = |[arxiv, submission]: [f64; 2]| {
        format!("{} / {}", rounded(arxiv, 3), rounded(submission, 3))
    };
    [
        one.set.name().to_owned(),
        versions(one.scratch_coins),
        versions(one.scratch_pairs),
        versions(one.finetuned_coins),
        versions(one.finetuned_pairs),
    ]
}

/// What the procedures show where nothing leaks.
fn null(report: &MetagradientCanariesReport) -> String {
    let NullCanaries { games, estimates_above_zero, bounds_above_zero, .. } = report.null;
    let percent = |count: u64| rounded(100.0 * count as f64 / games as f64, 0);
    format!(
        "with coins redrawn after training, the estimate is above 0 in {} % of {} and its 95 % \
         quantile is {}; the bound is above 0 in {} %, where at most {} % are expected",
        percent(estimates_above_zero),
        counted(games, "game"),
        rounded(report.null.estimate_quantile_95, 2),
        percent(bounds_above_zero),
        rounded(100.0 * report.dpsgd.significance, 0),
    )
}

fn notes(report: &MetagradientCanariesReport) -> Vec<(&'static str, String)> {
    let DpSgdSettings { delta: at, significance, guesses, references, .. } = report.dpsgd;
    let mut notes = vec![
        (
            "estimate",
            "largest bound over k = 10, 20, …, m, uncorrected: the rule of the published figures, \
             without coverage"
                .to_owned(),
        ),
        (
            "bound",
            format!(
                "exact, {} confidence, δ = {}, k = {guesses} of each repeat fixed before the coins \
                 are drawn; joint: the canaries of all repeats as one game",
                confidence(significance),
                delta(at)
            ),
        ),
        (
            "calibrated",
            format!(
                "loss less the canary's mean loss in trainings without it: after SGD the other \
                 repeats, after DP-SGD {references} reference models"
            ),
        ),
        ("difference", DIFFERENCE.to_owned()),
        ("SGD", sgd(report)),
        ("DP-SGD", dpsgd(&report.dpsgd)),
        ("optimised", optimised(report)),
        ("published", SOURCE.to_owned()),
    ];
    let skipped: u64 = report.sets.iter().map(|one| one.skipped).max().unwrap_or(0);
    if skipped > 0 {
        let words = format!("{} skipped, since a training diverged", counted(skipped, "metastep"));
        notes.push(("warning", words));
    }
    notes
}

const DIFFERENCE: &str = "stated where the ranges of three standard errors on each side do not overlap; errors are those of \
     repeated trainings with one choice of records and one optimisation, and not of other data";

const SOURCE: &str = "WRN-16-4 on CIFAR-10, m = 1000, n = 49,500, claimed ε = 8, means of 5 runs: arXiv:2507.15836, \
     table 2 / its submission to a conference, table 1. These are uncorrected maxima and no bounds, \
     and the versions differ by up to 2.5 times in one cell; our model, data and sizes are others, so \
     that only the order of kinds can be set beside them";

fn sgd(report: &MetagradientCanariesReport) -> String {
    let sgd = report.sgd;
    format!(
        "{} parameters, {} of {} records, learning rate {}, momentum {}; each split of the canaries \
         is trained with both halves",
        grouped(report.parameters),
        counted(sgd.steps, "step"),
        sgd.batch_size,
        sgd.learning_rate,
        sgd.momentum
    )
}

fn dpsgd(of: &DpSgdSettings) -> String {
    format!(
        "σ = {}, q = {}, {}, clipping norm {}, learning rate {}: ε ≤ {} at δ = {} for Poisson batches",
        of.noise_multiplier,
        of.sampling_rate,
        counted(of.steps, "step"),
        of.clip_norm,
        of.learning_rate,
        plain(of.claimed_epsilon, Kind::Upper, 2),
        delta(of.delta)
    )
}

fn optimised(report: &MetagradientCanariesReport) -> String {
    let best = report.sets.iter().filter_map(|one| {
        let metasteps = one.best_metasteps?;
        (!one.set.name().contains(',')).then(|| format!("{} {metasteps}", one.set.name()))
    });
    format!(
        "from the random canaries in {}; metasteps before the best validation: {}",
        counted(report.metasteps, "metastep"),
        best.collect::<Vec<_>>().join(", ")
    )
}
