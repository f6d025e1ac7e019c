//! Published trainings as text.

use dpscope_core::accounting::{Cell, Kind};
use dpscope_core::format::given;
use dpscope_report::number::{confidence, grouped, plain};
use dpscope_report::record::{ClaimReproduction, PublishedReport, PublishedRow, PublishedSource};
use dpscope_report::text::{Align, row, table};
use dpscope_report::words::epochs_in_words;

pub(super) fn text(report: &PublishedReport) -> String {
    let sources = sources(report);
    let number = |row: &PublishedRow| {
        sources.iter().position(|source| *source == &row.source).map_or(0, |at| at + 1)
    };
    let mut out = summary(report) + "\n\n";
    let columns = [
        ("training", Align::Left),
        ("", Align::Right),
        ("σ", Align::Right),
        ("T", Align::Right),
        ("E", Align::Left),
        ("claimed", Align::Right),
        ("", Align::Left),
        ("Poisson", Align::Right),
        ("shuffle ≥", Align::Right),
        ("pair ≈", Align::Right),
        ("shuffle ≤", Align::Right),
        ("times", Align::Right),
        ("ran", Align::Left),
    ];
    let rows: Vec<_> = report.rows.iter().map(|row| cells(row, number(row))).collect();
    out.push_str(&table(&columns, &rows));
    out.push('\n');
    for (label, about) in legend(report.significance) {
        out.push_str(&row(label, &about));
    }
    let mut remarks: Vec<String> = report
        .rows
        .iter()
        .filter_map(|row| Some(format!("[{}] {}", number(row), row.remark.as_ref()?)))
        .collect();
    remarks.dedup();
    for remark in &remarks {
        out.push_str(&row("remark", remark));
    }
    out.push('\n');
    for (at, source) in sources.iter().enumerate() {
        let PublishedSource { title, url, place } = source;
        out.push_str(&row(&format!("[{}]", at + 1), &format!("{title}, {place}: {url}")));
    }
    out
}

/// How many claims are what, in one paragraph.
fn summary(report: &PublishedReport) -> String {
    let all = report.rows.len();
    let count = |kind| report.rows.iter().filter(|row| row.claim == kind).count();
    let exceeded = report.rows.iter().filter(|row| row.shuffle_over_claim > Some(1.0)).count();
    let [equal, larger, smaller] =
        [ClaimReproduction::Equal, ClaimReproduction::Larger, ClaimReproduction::Smaller]
            .map(count);
    let text = format!(
        "Of {all} published claims, {equal} are those of tight Poisson accounting, {larger} are \
         larger and {smaller} are smaller. With shuffled batches, {exceeded} of {all} would be \
         exceeded (proven, or drawn with {} confidence).",
        confidence(report.significance)
    );
    textwrap::fill(&text, 80)
}

/// Each source once, in order.
fn sources(report: &PublishedReport) -> Vec<&PublishedSource> {
    let mut sources: Vec<&PublishedSource> = Vec::new();
    for row in &report.rows {
        if !sources.contains(&&row.source) {
            sources.push(&row.source);
        }
    }
    sources
}

fn cells(row: &PublishedRow, source: usize) -> [String; 13] {
    let value =
        |cell: &Cell| cell.value().map_or("-".to_owned(), |row| plain(row.epsilon, row.kind, 2));
    [
        row.name.clone(),
        format!("[{source}]"),
        given((row.setting.whole.noise_multiplier * 1e4).round() / 1e4),
        grouped(row.setting.whole.steps_per_epoch),
        epochs_in_words(&row.setting),
        row.claimed.clone(),
        row.claim.sign().to_owned(),
        value(&row.poisson),
        value(&row.shuffle_lower),
        row.pair.as_ref().map_or("-".to_owned(), |pair| value(&pair.estimate)),
        value(&row.shuffle_upper),
        row.shuffle_over_claim.map_or("-".to_owned(), |times| plain(times, Kind::Lower, 1)),
        row.ran.map_or("unstated".to_owned(), |ran| ran.name().to_owned()),
    ]
}

fn legend(significance: f64) -> [(&'static str, String); 6] {
    [
        ("claimed", "as printed".to_owned()),
        ("Poisson", "upper bound of Poisson accounting with the same numbers, proven".to_owned()),
        (
            "= > <",
            "the claim is equal as printed, larger (a looser accountant, or another run), or smaller \
             than can be proven for Poisson batches"
                .to_owned(),
        ),
        (
            "shuffle",
            format!(
                "if batches were shuffled in every epoch: lower bound, estimate for the worst-case \
                 pair, upper bound for every data set; T = N/B rounded up; an incomplete epoch is left \
                 out of lower values and completed in upper ones; the lower bound is proven, or has {} \
                 confidence in `times`",
                confidence(significance)
            ),
        ),
        ("times", "the largest lower bound of shuffled batches, over the claim".to_owned()),
        ("ran", "how batches were drawn, as far as the source states".to_owned()),
    ]
}
