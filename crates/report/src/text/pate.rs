//! ε of noisy votes as text.

use dpscope_core::accounting::Kind;
use dpscope_core::accounting::pate::{CountedVotesEpsilon, VoteNoise};
use dpscope_core::format::{given, rounded};

use super::row;
use crate::number::{counted, delta, plain};
use crate::record::{PateReport, VoteLabels, VotesTarget};

/// The bound, what the published accountant shows, and what the labels are worth.
#[must_use]
pub fn pate_text(report: &PateReport) -> String {
    let upper = |epsilon| plain(epsilon, Kind::Upper, 4);
    let PateReport { value, target, .. } = report;
    let votes = counted(value.votes, "noisy vote");
    let bound = format!("ε ≤ {} at δ = {}", upper(value.composed.upper), delta(report.delta));
    let mut out = match target {
        Some(VotesTarget { iterations, .. }) => {
            format!("{}: {bound}, proven for any votes\n\n", counted(*iterations, "iteration"))
        }
        None => format!("{bound}, proven for any votes\n\n"),
    };
    let place = match report.noise {
        VoteNoise::BothCounts => "both counts",
        VoteNoise::OneCount => "one count",
    };
    let of = format!(
        "{votes} of {}; Laplace noise of scale {} on {place}; each vote is {}-DP",
        counted(report.teachers.into(), "teacher"),
        given(1.0 / report.gamma),
        given(report.vote_epsilon)
    );
    out += &row("of", &of);
    if let Some(target) = target {
        let text = format!(
            "ε = {}, {} per iteration",
            given(target.epsilon),
            counted(target.votes_per_iteration, "vote")
        );
        out += &row("target", &text);
    }
    out += &row("accountant", "composition of the pair that dominates every vote");
    let lower = plain(value.composed.lower, Kind::Lower, 4);
    out += &row(
        "at least",
        &format!(
            "some votes have ε ≥ {lower} (proven): the smallest ε that holds for any votes lies between \
             this value and the bound"
        ),
    );
    let mut moments = format!(
        "ε ≤ {} by the published moments (order {} of {})",
        upper(value.moments.epsilon),
        value.moments.order,
        report.orders
    );
    if let Some(target) = target {
        let iterations = counted(target.iterations_by_moments, "iteration");
        moments += &format!("; they allow {iterations}");
    }
    out += &row("moments", &moments);
    out += &report.counted.as_ref().map_or(String::new(), counted_votes);
    if let Some(labels) = &report.labels {
        out += &row("recorded", &recorded_labels(labels));
    }
    let mut labels = format!(
        "a unanimous vote keeps its label with probability {}",
        rounded(report.unanimous, 4)
    );
    if report.unanimous < 0.6 {
        labels += " (0.5 is a coin): a student learns almost nothing from single labels";
    }
    out += &row("labels", &labels);
    out += &row("unit", "one record added or removed, held by one teacher");
    out
}

/// What must not be published.
fn counted_votes(counted: &CountedVotesEpsilon) -> String {
    let upper = |epsilon| plain(epsilon, Kind::Upper, 4);
    let text = format!(
        "ε ≤ {} by the published moments; by exact ones ≤ {} if a record is removed, ≤ {} if one is added. \
         These values depend on private data: do not publish them, and do not let them decide when to stop",
        upper(counted.moments.epsilon),
        upper(counted.exact.epsilon),
        upper(counted.exact_reverse.epsilon)
    );
    row("these votes", &text)
}

fn recorded_labels(labels: &VoteLabels) -> String {
    let excess = |number: f64| {
        let kind = if number < 0.0 { "fewer" } else { "more" };
        format!("{} {kind}", rounded(number.abs(), 0))
    };
    let seen = format!(
        "{} labels than expected are the majority's, {} are 1 (p ≤ {})",
        excess(labels.more_majorities),
        excess(labels.more_ones),
        crate::number::up(labels.p_value)
    );
    if labels.is_fault {
        format!(
            "FAULT: {seen}. The noise is not as stated, and no ε above holds for it. Remedy: add \
             independent Laplace noise of scale 1/γ to the counts of each vote"
        )
    } else {
        format!("{seen}: consistent with the stated noise, which proves nothing")
    }
}
