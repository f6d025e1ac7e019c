//! A report of canaries of a known null distribution, for a person at a terminal.

use dpscope_core::accounting::Kind;
use dpscope_core::audit::OutcomeKind;
use dpscope_core::audit::one_shot::EpsilonEstimator;
use dpscope_core::format::rounded;

use super::federated_training::federated_training_text;
use super::one_run::{claim_lines, finding_lines};
use super::row;
use crate::number::{confidence, counted, grouped, plain};
use crate::record::{OneShotEstimate, OneShotReport, OneShotSimulation, OneShotSummary};
use crate::words::{
    LOOK_FOR_A_LEAK, NO_ARRIVAL, NO_LEAKAGE, canary_null_sentence, canary_number_sentence,
    holds_for_sentence, noisy_sum_sentence, one_shot_quantity, sees_sentence,
};

/// Verdict, meaning, evidence and comparisons.
#[must_use]
pub fn one_shot_text(report: &OneShotReport) -> String {
    let mut out = one_shot_brief_text(report);
    out.push('\n');
    out.push_str(&meaning(report));
    let design = &report.design;
    out.push_str(&row("holds for", holds_for_sentence(design.number)));
    out.push_str(&row("against", sees_sentence(design.attacker)));
    out.push_str(&row("canaries", &canary_number_sentence(design)));
    out.push_str(&row("null", &canary_null_sentence(design.null)));
    if let Some(ceiling) = report.ceiling {
        let text = format!(
            "ε {} is the most that these null scores can show",
            plain(ceiling, Kind::Lower, 2)
        );
        out.push_str(&row("ceiling", &text));
    }
    if let Some(mean) = report.standardised_mean {
        let text = format!("√K z̄ = {}, which is N(0, 1) if no canary took part", rounded(mean, 2));
        out.push_str(&row("mean score", &text));
    }
    if report.canaries_lost_to_delta > 0 {
        let which = match report.canaries_lost_to_delta {
            all if all >= design.inserted => "all p-values".to_owned(),
            some => format!("the {} smallest p-values", grouped(some)),
        };
        let text = format!("{which} are ignored at this δ; plan fewer canaries");
        out.push_str(&row("δ", &text));
    }
    out.push_str(&others(report));
    for (place, estimate) in report.estimates.iter().enumerate() {
        let label = if place == 0 { "estimates" } else { "" };
        out.push_str(&row(label, &estimate_in_words(estimate)));
    }
    out.push_str(&report.simulation.as_ref().map_or(String::new(), simulation));
    out.push_str(&report.training.as_ref().map_or(String::new(), federated_training_text));
    out.push_str(&row("run", &format!("{:.2} s", report.elapsed_ms / 1e3)));
    out
}

/// The mechanism, and what all runs showed.
fn simulation(simulation: &OneShotSimulation) -> String {
    let mut out = row("mechanism", &noisy_sum_sentence(simulation));
    if !simulation.summaries.is_empty() {
        let text = format!(
            "{}; above is the first; medians with 90 % of the runs:",
            counted(simulation.repeats, "independent run")
        );
        out.push_str(&row("repeats", &text));
    }
    for summary in &simulation.summaries {
        out.push_str(&row("", &summary_in_words(summary)));
    }
    out.push_str(&row("seed", &simulation.seed));
    out.push_str(&row("device", &simulation.device));
    out
}

fn summary_in_words(summary: &OneShotSummary) -> String {
    let OneShotSummary { median, low, high, runs, runs_above, .. } = *summary;
    let [median, low, high] = [median, low, high].map(|value| rounded(value, 2));
    let (symbol, of) = one_shot_quantity(summary.quantity);
    let mut text = format!("{symbol} {median} ({low} to {high}) {of}");
    if summary.truth.is_some() {
        let share = rounded(100.0 * runs_above as f64 / runs as f64, 1);
        text.push_str(&format!("; {share} % above the truth"));
    }
    text
}

/// The result, the verdicts and the findings.
#[must_use]
pub fn one_shot_brief_text(report: &OneShotReport) -> String {
    let mut out = format!("{}\n", report.headline);
    out.push_str(&claim_lines(report.claim.as_ref(), report.fail_above.as_ref()));
    if !report.has_arrived && report.claim.is_some() {
        out.push_str(&format!("note: {NO_ARRIVAL}\n"));
    }
    out.push_str(&finding_lines(&report.findings));
    out
}

fn meaning(report: &OneShotReport) -> String {
    if let Some(claim) = &report.claim {
        let could = if report.bounds.epsilon > 0.0 { String::new() } else { detectable(report) };
        return row("meaning", &format!("{} {could} Adjacency: {}.", claim.says, claim.note));
    }
    let mut says = match report.kind {
        OutcomeKind::Estimate => "An estimate refutes nothing; it shows what to expect.".to_owned(),
        OutcomeKind::Bound if report.bounds.epsilon > 0.0 => {
            "Any claim below this ε, for this adjacency, is refuted.".to_owned()
        }
        OutcomeKind::Bound => {
            let none = if report.has_arrived { NO_LEAKAGE } else { NO_ARRIVAL };
            format!("{none} {}", detectable(report))
        }
    };
    if report.findings.iter().any(|record| record.finding.suggests_a_leak()) {
        says = format!("{says} {LOOK_FOR_A_LEAK}");
    }
    row("meaning", &says)
}

/// What could have been seen.
fn detectable(report: &OneShotReport) -> String {
    match report.detectable_epsilon {
        Some(epsilon) => format!(
            "A Gaussian leak of ε = {} would have shown ε > 0 with probability 80 %.",
            rounded(epsilon, 2)
        ),
        None if report.delta == 0.0 => {
            "At δ = 0 no Gaussian leak has a finite ε: audit at a δ above \
            0 for the leak that could have been seen."
                .to_owned()
        }
        None if report.findings.iter().any(|record| record.finding.means_no_scores()) => {
            "No leak could have been seen.".to_owned()
        }
        None => "At this δ no leak could have been seen: plan with fewer canaries or a smaller δ."
            .to_owned(),
    }
}

/// The bounds under other assumptions.
fn others(report: &OneShotReport) -> String {
    let (bounds, sign) =
        (&report.bounds, if report.kind == OutcomeKind::Bound { '≥' } else { '≈' });
    let lower = |value: f64| plain(value, Kind::Lower, 4);
    let text = format!(
        "ε {sign} {} if canaries do not influence each other",
        lower(bounds.independent_epsilon)
    );
    let mut out = row("independent", &text);
    let text = format!(
        "μ {sign} {} if the training is claimed to be μ-GDP, for any training algorithm",
        lower(bounds.gdp_mu)
    );
    out.push_str(&row("as GDP", &text));
    if let Some(mu) = bounds.independent_gdp_mu {
        let epsilon = report.epsilon_by_gaussian_curve.filter(|_| mu > 0.0).map_or(
            String::new(),
            |epsilon| {
                let epsilon = lower(epsilon);
                format!(", by the Gaussian curve ε = {epsilon}, which refutes no (ε, δ) claim")
            },
        );
        let text = format!(
            "μ {sign} {} if, in addition, canaries do not influence each other{epsilon}",
            lower(mu)
        );
        out.push_str(&row("", &text));
    }
    let text = format!(
        "each bound has {} confidence by itself; the verdict uses the first bound; to use another, \
         choose it before the training",
        confidence(report.significance)
    );
    out.push_str(&row("", &text));
    out
}

fn estimate_in_words(estimate: &OneShotEstimate) -> String {
    let method = match estimate.method {
        EpsilonEstimator::Mean => "by the mean score",
        EpsilonEstimator::TwoGaussians => "by two fitted Gaussians, as published",
    };
    let [low, high] = estimate.null_range.map(|end| rounded(end, 2));
    format!(
        "ε ≈ {} {method}; without any leak, 90 % of runs show {low} to {high}",
        rounded(estimate.epsilon, 4)
    )
}
